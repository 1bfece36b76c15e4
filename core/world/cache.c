// SPDX-License-Identifier: Apache-2.0
// The contact cache: impulses, private bytes of laws and solvers, and anchors, found again by constraint id.
#include <math.h>
#include <string.h>

#include "world/world.h"

static uint32_t slot_of(const cache_index *index, uint64_t id) {
    return (uint32_t)(id ^ (id >> 32)) & (index->capacity - 1);
}

/// Position of an id in the cache, -1 when it is new.
static int32_t find(const state_view *state, const step_services *services, uint64_t id) {
    const cache_index *index = &services->cache_index;
    if (state->cache_count == 0) {
        return -1;
    }
    for (uint32_t s = slot_of(index, id);; s = (s + 1) & (index->capacity - 1)) {
        int32_t position = index->slot[s] - 1;
        if (position < 0 || state->cache[position].id == id) {
            return position;
        }
    }
}

const stn_cache_entry *stn_cache_find(const state_view *state, const step_services *services, uint64_t id) {
    int32_t position = find(state, services, id);
    return position >= 0 ? &state->cache[position] : NULL;
}

/// The index in force when it has room for `count`, else a larger one, which is the caller's. Nothing changes yet.
static stn_status find_index(const step_services *services, int32_t count, cache_index *next, stn_error *err) {
    *next = services->cache_index;
    uint32_t capacity = next->capacity > 0 ? next->capacity : 256;
    while (capacity < 2 * (uint32_t)count) {
        capacity *= 2;
    }
    if (capacity != next->capacity) {
        *next = (cache_index){.capacity = capacity, .slot = stn_allocate(services->context, capacity, sizeof(int32_t))};
    }
    return next->slot != NULL ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "contact cache: out of memory");
}

/// Fills `index` with the ids of a cache.
static stn_status fill_index(const stn_state *state, cache_index *index, stn_error *err) {
    memset(index->slot, 0, index->capacity * sizeof *index->slot);
    for (int32_t i = 0; i < state->cache_count; i++) {
        uint64_t id = state->cache[i].id;
        uint32_t s = slot_of(index, id);
        while (index->slot[s] != 0) {
            if (state->cache[index->slot[s] - 1].id == id) {
                return stn_fail(err, STN_ERR_ARGUMENT, "contact memory: two entries share the id %llu",
                                (unsigned long long)id);
            }
            s = (s + 1) & (index->capacity - 1);
        }
        index->slot[s] = i + 1;
    }
    return STN_OK;
}

/// Puts `next` in force.
static void take_index(step_services *services, const cache_index *next) {
    if (next->slot != services->cache_index.slot) {
        stn_release(services->context, services->cache_index.slot);
    }
    services->cache_index = *next;
}

stn_status stn_cache_replace_state(stn_state *state, const stn_state *from, size_t memory_bytes,
                                   step_services *services, stn_error *err) {
    cache_index next;
    stn_status status = find_index(services, from->cache_count, &next, err);
    if (status != STN_OK) {
        return status;
    }
    status = fill_index(from, &next, err);
    if (status == STN_OK) {
        status = stn_state_copy(services->context, from, memory_bytes, state, err);
    }
    if (status == STN_OK) {
        take_index(services, &next);
    } else if (next.slot != services->cache_index.slot) {
        stn_release(services->context, next.slot);
    } else {
        (void)fill_index(state, &next, NULL); // as it was
    }
    return status;
}

stn_status stn_cache_exchange_state(stn_state *state, stn_state *other, step_services *services, stn_error *err) {
    cache_index next;
    stn_status status = find_index(services, other->cache_count, &next, err);
    if (status != STN_OK) {
        return status;
    }
    take_index(services, &next);
    status = fill_index(other, &next, err);
    if (status != STN_OK) {
        (void)fill_index(state, &next, NULL); // as it was
        return status;
    }
    const stn_state own = *state;
    *state = *other;
    *other = own;
    return STN_OK;
}

/// Before anything is changed: ids of a problem are unique.
static stn_status check_ids(const step_setup *setup, step_frame *frame, stn_error *err) {
    const stn_problem *problem = &frame->problem;
    cache_index seen = {.capacity = 16};
    while (seen.capacity < 2 * (uint32_t)problem->constraint_count) {
        seen.capacity *= 2;
    }
    seen.slot = STN_ARENA_ZEROED(frame->arena, seen.capacity, int32_t);
    if (seen.slot == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "contact cache: out of memory");
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        uint32_t s = slot_of(&seen, c->id);
        for (; seen.slot[s] != 0; s = (s + 1) & (seen.capacity - 1)) {
            if (problem->constraints[seen.slot[s] - 1].id == c->id) {
                if (i >= frame->constraint_first) {
                    int32_t owner = 0;
                    while (frame->constraint_block[owner + 1] <= i) {
                        owner++;
                    }
                    frame->place.plugin = setup->model->constraints[owner].instance;
                    stn_fail(err, STN_ERR_PLUGIN, "it emitted two blocks with the same part; parts must differ");
                    stn_describe_constraint_error(setup->model, owner, err);
                    return STN_ERR_PLUGIN;
                }
                return stn_fail(err, STN_ERR_PLUGIN,
                                "contact model %s: two constraints share the id %llu (bodies %d and "
                                "%d): ids must differ within a step",
                                setup->plugin[STN_KIND_CONTACT]->desc->id, (unsigned long long)c->id, c->body[0],
                                c->body[1]);
            }
        }
        seen.slot[s] = i + 1;
    }
    return STN_OK;
}

/// Private bytes of one constraint: the law's, then the solver's, then its anchor.
typedef struct memory_sizes {
    size_t law, solver, anchor, all;
} memory_sizes;

static memory_sizes sizes_of(const step_setup *setup) {
    memory_sizes n = {.law = stn_setup_memory_bytes(setup, STN_KIND_LAW),
                      .solver = stn_setup_memory_bytes(setup, STN_KIND_SOLVER),
                      .anchor = setup->options.stiction ? sizeof(anchor) : 0};
    n.all = n.law + n.solver + n.anchor;
    return n;
}

size_t stn_setup_cache_bytes(const step_setup *setup) {
    return sizes_of(setup).all;
}

static void copy(void *to, const void *from, size_t bytes) {
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
}

static unsigned char *bytes_at(void *block, size_t item, int32_t i) {
    return item > 0 ? (unsigned char *)block + item * (size_t)i : NULL;
}

/// Impulses of the step before along the tangents of this one. The normal may have turned, and t1 with it by any angle
/// about it: of a normal along an axis the least component, which chooses t1, is rounding (stn_contact_frame).
static void turn_tangents(const stn_constraint *c, const stn_cache_entry *entry, double *gamma) {
    const stn_vec3 before = {entry->gamma[3], entry->gamma[4], entry->gamma[5]};
    const stn_vec3 t1 = stn_mat3_column(&c->frame, 0), t2 = stn_mat3_column(&c->frame, 1);
    if (before.x == t1.x && before.y == t1.y && before.z == t1.z) {
        return;
    }
    const double along = stn_vec3_dot(before, t1), across = stn_vec3_dot(before, t2),
                 size = sqrt(along * along + across * across);
    if (size > 0.0) {
        const double g1 = entry->gamma[0] / size, g2 = entry->gamma[1] / size;
        gamma[0] = along * g1 - across * g2;
        gamma[1] = across * g1 + along * g2;
    }
}

static void read_entry(const state_view *state, const memory_sizes *n, int32_t position, step_frame *frame, int32_t i) {
    const stn_constraint *c = &frame->problem.constraints[i];
    const unsigned char *memory = state->cache_memory + (size_t)position * n->all;
    memcpy(frame->problem.gamma_guess + c->row, state->cache[position].gamma, (size_t)c->rows * sizeof(double));
    if (c->kind == STN_CONSTRAINT_CONTACT) {
        turn_tangents(c, &state->cache[position], frame->problem.gamma_guess + c->row);
    }
    copy(bytes_at(frame->law_memory, n->law, i), memory, n->law);
    copy(bytes_at(frame->solver_memory, n->solver, i), memory + n->law, n->solver);
    copy(bytes_at(frame->anchors, n->anchor, i), memory + n->law + n->solver, n->anchor);
}

void stn_cache_read(const step_setup *setup, const state_view *state, int32_t position, step_frame *frame,
                    int32_t constraint) {
    const memory_sizes n = sizes_of(setup);
    read_entry(state, &n, position, frame, constraint);
}

stn_status stn_cache_recall(const step_setup *setup, const state_view *state, step_frame *frame,
                            const step_services *services, stn_error *err) {
    stn_problem *problem = &frame->problem;
    const memory_sizes n = sizes_of(setup);
    stn_status status = check_ids(setup, frame, err);
    if (status != STN_OK) {
        return status;
    }
    size_t count = (size_t)problem->constraint_count;
    frame->law_memory = n.law > 0 ? stn_arena_zeroed(frame->arena, count, n.law) : NULL;
    frame->solver_memory = n.solver > 0 ? stn_arena_zeroed(frame->arena, count, n.solver) : NULL;
    frame->anchors = n.anchor > 0 ? STN_ARENA_ZEROED(frame->arena, count, anchor) : NULL;
    if ((n.law > 0 && frame->law_memory == NULL) || (n.solver > 0 && frame->solver_memory == NULL) ||
        (n.anchor > 0 && frame->anchors == NULL)) {
        return stn_fail(err, STN_ERR_MEMORY, "contact cache: out of memory");
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        stn_constraint *c = &problem->constraints[i];
        c->memory = i;
        int32_t position = find(state, services, c->id);
        if (position < 0) {
            continue;
        }
        read_entry(state, &n, position, frame, i);
    }
    return STN_OK;
}

void stn_cache_rescale(stn_state *state, double factor) {
    for (int32_t i = 0; i < state->cache_count; i++) {
        for (int32_t r = 0; r < STN_COUNT(state->cache[i].gamma); r++) {
            double *gamma = &state->cache[i].gamma[r], scaled = *gamma * factor;
            *gamma = isfinite(scaled) ? scaled : 0.0;
        }
    }
}

/// Where the anchor of an entry lies in the memory of a cache.
static size_t anchor_offset(const step_setup *setup, int32_t position) {
    const memory_sizes n = sizes_of(setup);
    return (size_t)position * n.all + n.law + n.solver;
}

anchor stn_cache_anchor(const step_setup *setup, const state_view *state, int32_t position) {
    anchor a;
    memcpy(&a, state->cache_memory + anchor_offset(setup, position), sizeof a);
    return a;
}

void stn_cache_set_anchor(const step_setup *setup, stn_state *state, int32_t position, const anchor *a) {
    memcpy(state->cache_memory + anchor_offset(setup, position), a, sizeof *a);
}

stn_status stn_cache_commit(const step_setup *setup, stn_state *state, step_frame *frame, step_services *services,
                            stn_error *err) {
    const stn_problem *problem = &frame->problem;
    const memory_sizes n = sizes_of(setup);
    const int32_t count = problem->constraint_count;
    cache_index next; // all memory is found before anything changes: a step that fails leaves the cache as it was
    stn_status status = find_index(services, count, &next, err);
    if (status != STN_OK) {
        return status;
    }
    status = stn_step_note_touching(state, frame, err);
    if (status == STN_OK && count > state->cache_capacity &&
        !stn_state_reserve_cache(services->context, state, 2 * count, n.all)) {
        status = stn_fail(err, STN_ERR_MEMORY, "contact cache: out of memory for %d constraints", count);
    }
    if (status != STN_OK) {
        if (next.slot != services->cache_index.slot) {
            stn_release(services->context, next.slot);
        }
        return status;
    }
    // those of sleeping trees, which come first, are there
    const int32_t there = frame->sleepers.cached && state->cache_count > 0 ? frame->sleepers.count : 0;
    frame->sleepers.cached = frame->asleep_count > 0;
    state->cache_count = problem->constraint_count;
    for (int32_t i = there; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        stn_cache_entry *entry = &state->cache[i];
        *entry = (stn_cache_entry){.id = c->id, .touching = stn_step_touching(setup, frame, c)};
        memcpy(entry->gamma, frame->solution.gamma + c->row, (size_t)c->rows * sizeof(double));
        for (int32_t k = 0; k < 3 && c->kind == STN_CONSTRAINT_CONTACT; k++) {
            entry->gamma[3 + k] = c->frame.m[k][0];
        }
        unsigned char *memory = state->cache_memory + (size_t)i * n.all;
        copy(memory, bytes_at(frame->law_memory, n.law, i), n.law);
        copy(memory + n.law, bytes_at(frame->solver_memory, n.solver, i), n.solver);
        copy(memory + n.law + n.solver, bytes_at(frame->anchors, n.anchor, i), n.anchor);
    }
    take_index(services, &next);
    return fill_index(state, &services->cache_index, err);
}
