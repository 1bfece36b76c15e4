// SPDX-License-Identifier: Apache-2.0
// The contact cache: impulses, private bytes of laws and solvers, and anchors, found again by constraint id.
#include <string.h>

#include "world/world.h"

static uint32_t slot_of(const cache_index *index, uint64_t id) {
    return (uint32_t)(id ^ (id >> 32)) & (index->capacity - 1);
}

/// Position of an id in the cache, -1 when it is new.
static int32_t find(const stn_world *world, uint64_t id) {
    const cache_index *index = &world->services.cache_index;
    if (world->state.cache_count == 0) {
        return -1;
    }
    for (uint32_t s = slot_of(index, id);; s = (s + 1) & (index->capacity - 1)) {
        int32_t position = index->slot[s] - 1;
        if (position < 0 || world->state.cache[position].id == id) {
            return position;
        }
    }
}

const stn_cache_entry *stn_cache_find(const stn_world *world, uint64_t id) {
    int32_t position = find(world, id);
    return position >= 0 ? &world->state.cache[position] : NULL;
}

/// The index in force when it has room for `count`, else a larger one. Nothing changes yet.
static stn_status find_index(const stn_world *world, int32_t count, cache_index *next, stn_error *err) {
    *next = world->services.cache_index;
    uint32_t capacity = next->capacity > 0 ? next->capacity : 256;
    while (capacity < 2 * (uint32_t)count) {
        capacity *= 2;
    }
    if (capacity != next->capacity) {
        *next = (cache_index){.capacity = capacity,
                              .slot = stn_allocate(world->services.context, capacity, sizeof(int32_t))};
    }
    return next->slot != NULL ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "contact cache: out of memory");
}

/// Puts `next` in force, filled with the ids of the cache.
static stn_status fill_index(stn_world *world, const cache_index *next, stn_error *err) {
    cache_index *index = &world->services.cache_index;
    if (next->slot != index->slot) {
        stn_release(world->services.context, index->slot);
    }
    *index = *next;
    memset(index->slot, 0, index->capacity * sizeof *index->slot);
    for (int32_t i = 0; i < world->state.cache_count; i++) {
        uint64_t id = world->state.cache[i].id;
        uint32_t s = slot_of(index, id);
        while (index->slot[s] != 0) {
            if (world->state.cache[index->slot[s] - 1].id == id) {
                return stn_fail(err, STN_ERR_ARGUMENT, "contact memory: two entries share the id %llu",
                                (unsigned long long)id);
            }
            s = (s + 1) & (index->capacity - 1);
        }
        index->slot[s] = i + 1;
    }
    return STN_OK;
}

stn_status stn_cache_index_rebuild(stn_world *world, stn_error *err) {
    cache_index next;
    stn_status status = find_index(world, world->state.cache_count, &next, err);
    return status == STN_OK ? fill_index(world, &next, err) : status;
}

/// Before anything is changed: ids of a problem are unique.
static stn_status check_ids(stn_world *world, stn_error *err) {
    const stn_problem *problem = &world->frame.problem;
    cache_index seen = {.capacity = 16};
    while (seen.capacity < 2 * (uint32_t)problem->constraint_count) {
        seen.capacity *= 2;
    }
    seen.slot = STN_ARENA_ZEROED(world->frame.arena, seen.capacity, int32_t);
    if (seen.slot == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "contact cache: out of memory");
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        uint32_t s = slot_of(&seen, c->id);
        for (; seen.slot[s] != 0; s = (s + 1) & (seen.capacity - 1)) {
            if (problem->constraints[seen.slot[s] - 1].id == c->id) {
                return stn_fail(err, STN_ERR_PLUGIN,
                                "contact model %s: two constraints share the id %llu (bodies %d and "
                                "%d): ids must differ within a step",
                                world->setup->plugin[STN_KIND_CONTACT]->desc->id, (unsigned long long)c->id, c->body[0],
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

static memory_sizes sizes_of(const stn_world *world) {
    memory_sizes n = {.law = stn_world_memory_bytes(world, STN_KIND_LAW),
                      .solver = stn_world_memory_bytes(world, STN_KIND_SOLVER),
                      .anchor = world->setup->options.stiction ? sizeof(anchor) : 0};
    n.all = n.law + n.solver + n.anchor;
    return n;
}

size_t stn_world_cache_bytes(const stn_world *world) {
    return sizes_of(world).all;
}

static void copy(void *to, const void *from, size_t bytes) {
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
}

static unsigned char *bytes_at(void *block, size_t item, int32_t i) {
    return item > 0 ? (unsigned char *)block + item * (size_t)i : NULL;
}

static stn_status allocate_memories(stn_world *world, const memory_sizes *n, stn_error *err) {
    size_t count = (size_t)world->frame.problem.constraint_count;
    world->frame.law_memory = n->law > 0 ? stn_arena_zeroed(world->frame.arena, count, n->law) : NULL;
    world->frame.solver_memory = n->solver > 0 ? stn_arena_zeroed(world->frame.arena, count, n->solver) : NULL;
    world->frame.anchors = n->anchor > 0 ? STN_ARENA_ZEROED(world->frame.arena, count, anchor) : NULL;
    bool complete = (n->law == 0 || world->frame.law_memory != NULL) &&
                    (n->solver == 0 || world->frame.solver_memory != NULL) &&
                    (n->anchor == 0 || world->frame.anchors != NULL);
    return complete ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "contact cache: out of memory");
}

stn_status stn_cache_recall(stn_world *world, stn_error *err) {
    stn_problem *problem = &world->frame.problem;
    const memory_sizes n = sizes_of(world);
    stn_status status = check_ids(world, err);
    status = status == STN_OK ? allocate_memories(world, &n, err) : status;
    for (int32_t i = 0; i < problem->constraint_count && status == STN_OK; i++) {
        stn_constraint *c = &problem->constraints[i];
        c->memory = i;
        int32_t position = find(world, c->id);
        if (position < 0) {
            continue;
        }
        memcpy(problem->gamma_guess + c->row, world->state.cache[position].gamma, (size_t)c->rows * sizeof(double));
        const unsigned char *memory = world->state.cache_memory + (size_t)position * n.all;
        copy(bytes_at(world->frame.law_memory, n.law, i), memory, n.law);
        copy(bytes_at(world->frame.solver_memory, n.solver, i), memory + n.law, n.solver);
        copy(bytes_at(world->frame.anchors, n.anchor, i), memory + n.law + n.solver, n.anchor);
    }
    return status;
}

void stn_cache_rescale(stn_world *world, double factor) {
    for (int32_t i = 0; i < world->state.cache_count; i++) {
        for (int32_t r = 0; r < STN_COUNT(world->state.cache[i].gamma); r++) {
            double *gamma = &world->state.cache[i].gamma[r], scaled = *gamma * factor;
            *gamma = isfinite(scaled) ? scaled : 0.0;
        }
    }
}

static unsigned char *anchor_at(const stn_world *world, int32_t position) {
    const memory_sizes n = sizes_of(world);
    return world->state.cache_memory + (size_t)position * n.all + n.law + n.solver;
}

anchor stn_cache_anchor(const stn_world *world, int32_t position) {
    anchor a;
    memcpy(&a, anchor_at(world, position), sizeof a);
    return a;
}

void stn_cache_set_anchor(stn_world *world, int32_t position, const anchor *a) {
    memcpy(anchor_at(world, position), a, sizeof *a);
}

static stn_status reserve_cache(stn_world *world, int32_t count, size_t memory_bytes, stn_error *err) {
    if (count <= world->state.cache_capacity) {
        return STN_OK;
    }
    int32_t capacity = 2 * count;
    stn_cache_entry *cache = stn_allocate(world->services.context, (size_t)capacity, sizeof *cache);
    unsigned char *memory = stn_allocate(world->services.context, (size_t)capacity, memory_bytes);
    if (cache == NULL || memory == NULL) {
        stn_release(world->services.context, cache);
        stn_release(world->services.context, memory);
        return stn_fail(err, STN_ERR_MEMORY, "contact cache: out of memory for %d constraints", count);
    }
    stn_release(world->services.context, world->state.cache);
    stn_release(world->services.context, world->state.cache_memory);
    world->state.cache = cache;
    world->state.cache_memory = memory;
    world->state.cache_count = 0;
    world->state.cache_capacity = capacity;
    return STN_OK;
}

stn_status stn_cache_commit(stn_world *world, stn_error *err) {
    const stn_problem *problem = &world->frame.problem;
    const memory_sizes n = sizes_of(world);
    cache_index next; // all memory is found before anything changes: a step that fails leaves the cache as it was
    stn_status status = find_index(world, problem->constraint_count, &next, err);
    if (status != STN_OK) {
        return status;
    }
    status = stn_step_note_touching(world, err);
    status = status != STN_OK ? status : reserve_cache(world, problem->constraint_count, n.all, err);
    if (status != STN_OK) {
        if (next.slot != world->services.cache_index.slot) {
            stn_release(world->services.context, next.slot);
        }
        return status;
    }
    world->state.cache_count = problem->constraint_count;
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        stn_cache_entry *entry = &world->state.cache[i];
        *entry = (stn_cache_entry){.id = c->id, .touching = stn_step_touching(world, c)};
        memcpy(entry->gamma, world->frame.solution.gamma + c->row, (size_t)c->rows * sizeof(double));
        unsigned char *memory = world->state.cache_memory + (size_t)i * n.all;
        copy(memory, bytes_at(world->frame.law_memory, n.law, i), n.law);
        copy(memory + n.law, bytes_at(world->frame.solver_memory, n.solver, i), n.solver);
        copy(memory + n.law + n.solver, bytes_at(world->frame.anchors, n.anchor, i), n.anchor);
    }
    return fill_index(world, &next, err);
}
