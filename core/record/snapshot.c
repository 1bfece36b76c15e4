// SPDX-License-Identifier: Apache-2.0
// Snapshots: a state by value, as bytes and as files, which have a head, every array of the state and a checksum.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/input.h>

#include "base/bytes.h"
#include "base/file.h"
#include "plugin/settings.h"
#include "record/snapshot.h"

static const size_t shared_sizes =
    offsetof(stn_state_sizes, integrator_bytes); // in bytes: the last are not the model's

/// What must agree before a state may be restored: names and shapes of everything that has coordinates, and what
/// constraints of plugins act on.
static uint64_t model_signature(const stn_world *world) {
    const stn_model *model = world->setup->model;
    uint64_t h = 0;
    for (int32_t r = 0; r < model->group_count; r++) {
        h = stn_hash(h, model->groups[r].name, strlen(model->groups[r].name) + 1);
    }
    for (int32_t j = 0; j < model->joint_count; j++) {
        h = stn_hash(h, model->joints[j].name, strlen(model->joints[j].name) + 1);
        int32_t type = model->joints[j].type;
        h = stn_hash(h, &type, sizeof type);
    }
    for (int32_t i = 0; i < model->constraint_count; i++) { // their memory is in terms of their ends
        const stn_model_constraint *c = &model->constraints[i];
        h = stn_hash(h, c->instance->desc->id, strlen(c->instance->desc->id) + 1);
        for (int32_t k = 0; k < c->end_count; k++) {
            const int32_t on[2] = {c->ends[k].link, c->ends[k].joint};
            h = stn_hash(h, on, sizeof on);
        }
    }
    for (int32_t t = 0; t < model->tree_count; t++) { // which nodes are joined, whatever it is that joins them
        const stn_tree *tree = &model->trees[t];
        if (tree->kind == STN_TREE_NODAL) {
            const int32_t is[2] = {tree->node_type, tree->node_count};
            h = stn_hash(h, is, sizeof is);
            h = stn_hash(h, tree->row_start, ((size_t)tree->node_count + 1) * sizeof *tree->row_start);
            h = stn_hash(h, tree->column, (size_t)tree->row_start[tree->node_count] * sizeof *tree->column);
        }
    }
    for (int32_t i = 0; i < model->element_group_count; i++) { // whose states and channels these are
        const stn_element_group *g = &model->element_groups[i];
        const int32_t is[2] = {g->tree, g->element_count};
        h = stn_hash(h, g->instance->desc->id, strlen(g->instance->desc->id) + 1);
        h = stn_hash(h, is, sizeof is);
        h = stn_hash(h, g->index, (size_t)g->element_count * (size_t)g->nodes_per_element * sizeof *g->index);
    }
    for (int32_t i = 0; i < model->attachment_count; i++) {
        const int32_t is[2] = {model->attachments[i].node, model->attachments[i].link};
        h = stn_hash(h, is, sizeof is);
    }
    h = stn_hash(h, &world->state.sizes, shared_sizes);
    uint64_t memory[3] = {stn_setup_memory_bytes(world->setup, STN_KIND_LAW),
                          stn_setup_memory_bytes(world->setup, STN_KIND_SOLVER), stn_setup_cache_bytes(world->setup)};
    return stn_hash(h, memory, sizeof memory);
}

stn_snapshot snapshot_view(const stn_world *world) {
    stn_snapshot view = {.context = world->services.context,
                         .signature = model_signature(world),
                         .memory_bytes = stn_setup_cache_bytes(world->setup),
                         .state = world->state,
                         .integrator = world->setup->plugin[STN_KIND_INTEGRATOR]};
    snprintf(view.integrator_id, sizeof view.integrator_id, "%s", view.integrator->desc->id);
    return view;
}

stn_status stn_world_snapshot(const stn_world *world, stn_snapshot **out, stn_error *err) {
    *out = NULL;
    if (world->setup->model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "snapshot: compile the world first");
    }
    stn_snapshot *snapshot = stn_allocate(world->services.context, 1, sizeof *snapshot);
    if (snapshot == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "snapshot: out of memory");
    }
    *snapshot = snapshot_view(world);
    snapshot->state = (stn_state){0};
    instance_keep(snapshot->integrator);
    stn_status status =
        stn_state_copy(world->services.context, &world->state, snapshot->memory_bytes, &snapshot->state, err);
    if (status != STN_OK) {
        stn_snapshot_destroy(snapshot);
        return status;
    }
    *out = snapshot;
    return STN_OK;
}

void stn_snapshot_destroy(stn_snapshot *snapshot) {
    if (snapshot != NULL) {
        stn_state_clear(snapshot->context, &snapshot->state);
        stn_instance_destroy(snapshot->integrator);
        stn_release(snapshot->context, snapshot);
    }
}

stn_status stn_world_restore(stn_world *world, const stn_snapshot *snapshot, stn_error *err) {
    if (world->setup->model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "restore: compile the world first");
    }
    // a file may forge the signature: the sizes are what keeps reads within bounds
    if (snapshot->signature != model_signature(world) ||
        snapshot->memory_bytes != stn_setup_cache_bytes(world->setup) ||
        memcmp(&snapshot->state.sizes, &world->state.sizes, shared_sizes) != 0) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "restore: the state belongs to another model (%zu coordinates, here %zu; or other "
                        "groups, joints, constraints, controllers or laws, or only one of them holds by stiction, or "
                        "lets bodies sleep)",
                        snapshot->state.sizes.nq, world->state.sizes.nq);
    }
    const stn_status held = stn_world_check_held(world, snapshot->state.q, err);
    if (held != STN_OK) {
        stn_error_prefix(err, "restore: the state belongs to another model");
        return held;
    }
    const stn_instance *integrator = world->setup->plugin[STN_KIND_INTEGRATOR];
    const bool at_hand = snapshot->integrator != NULL && snapshot->context == world->services.context;
    if (at_hand && snapshot->integrator != integrator) {
        const world_input other = {.kind = INPUT_INTEGRATOR, .integrator = snapshot->integrator};
        stn_status status = stn_world_apply(world, &other, err);
        if (status != STN_OK) {
            return status;
        }
    } else if (strcmp(snapshot->integrator_id, integrator->desc->id) != 0 ||
               snapshot->state.sizes.integrator_bytes != world->state.sizes.integrator_bytes) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "restore: the state is one of integrator %s (%zu bytes of its own), the world has %s (%zu); "
                        "choose that integrator first",
                        snapshot->integrator_id, snapshot->state.sizes.integrator_bytes, integrator->desc->id,
                        world->state.sizes.integrator_bytes);
    }
    const world_input input = {.kind = INPUT_STATE, .state = &snapshot->state};
    return stn_world_apply(world, &input, err);
}

// ------------------------------------------------------------------------------------------------------------ as bytes

static const char magic[8] = {'S', 'T', 'N', 'S', 'T', 'A', 'T', 'E'};
enum { FILE_VERSION = 5 };
static const size_t largest_file = (size_t)1 << 33; // bytes

/// What says how long everything else is.
typedef struct sizes_part {
    uint64_t signature, memory_bytes, cache_count;
    double time;
    int64_t step;
    uint64_t rng[4];
    stn_vec3 gravity;
    stn_state_sizes sizes;
    char integrator_id[64];
} sizes_part;
_Static_assert(sizeof(sizes_part) == 32 * 8, "no padding");

/// Arrays of a state that has its sizes.
static void pass_arrays(byte_stream *b, stn_snapshot *snapshot) {
    stn_state *state = &snapshot->state;
#define PASS_MEMBER(name, type, count, unit, text) bytes_pass(b, state->name, state->sizes.count * sizeof(type));
    STN_STATE_FIELDS(PASS_MEMBER)
#undef PASS_MEMBER
    bytes_pass(b, state->cache, (size_t)state->cache_count * sizeof *state->cache);
    bytes_pass(b, state->cache_memory, (size_t)state->cache_count * snapshot->memory_bytes);
}

stn_status snapshot_encode(const stn_snapshot *snapshot, byte_stream *out, stn_error *err) {
    const stn_state *state = &snapshot->state;
    sizes_part part = {.signature = snapshot->signature,
                       .memory_bytes = snapshot->memory_bytes,
                       .cache_count = (uint64_t)state->cache_count,
                       .time = state->time,
                       .step = state->step,
                       .gravity = state->gravity,
                       .sizes = state->sizes};
    memcpy(part.rng, state->rng, sizeof part.rng);
    memcpy(part.integrator_id, snapshot->integrator_id, sizeof part.integrator_id);
    stn_snapshot view = *snapshot; // whose arrays are only read
    *out = bytes_begin(snapshot->context, magic, FILE_VERSION);
    BYTES_PASS(out, &part);
    pass_arrays(out, &view);
    bytes_seal(out);
    stn_status status = bytes_status(out, err);
    if (status != STN_OK) {
        bytes_clear(out);
    }
    return status;
}

/// Are there as many bytes as the sizes say?
static bool plausible(const sizes_part *part, size_t left) {
    size_t item = sizeof(stn_cache_entry) + part->memory_bytes;
    bool fits = part->memory_bytes <= left && part->cache_count <= INT32_MAX && part->cache_count <= left / item;
    left -= fits ? part->cache_count * item : 0;
#define FITS_MEMBER(name, type, count, unit, text)           \
    fits = fits && part->sizes.count <= left / sizeof(type); \
    left -= fits ? part->sizes.count * sizeof(type) : 0;
    STN_STATE_FIELDS(FITS_MEMBER)
#undef FITS_MEMBER
    return fits;
}

stn_status snapshot_decode(stn_context *context, const void *data, size_t size, stn_snapshot **out, stn_error *err) {
    *out = NULL;
    byte_stream b;
    sizes_part part;
    stn_status status = bytes_open(context, data, size, "a saved state", magic, FILE_VERSION, &b, err);
    if (status != STN_OK) {
        return status;
    }
    BYTES_PASS(&b, &part);
    if (b.failed || !plausible(&part, bytes_left(&b))) {
        return stn_fail(err, STN_ERR_PARSE, "a saved state: damaged (impossible sizes)");
    }
    if (!stn_vec3_finite(part.gravity) || !isfinite(part.time)) {
        return stn_fail(err, STN_ERR_PARSE, "a saved state: damaged (time or gravity is not finite)");
    }
    stn_snapshot *snapshot = stn_allocate(context, 1, sizeof *snapshot);
    if (snapshot == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "a saved state: out of memory");
    }
    stn_state *state = &snapshot->state;
    snapshot->context = context;
    snapshot->signature = part.signature;
    snapshot->memory_bytes = part.memory_bytes;
    snprintf(snapshot->integrator_id, sizeof part.integrator_id, "%.63s", part.integrator_id);
    status = stn_state_resize(context, state, &part.sizes, err);
    if (status == STN_OK) {
        state->cache = stn_allocate(context, part.cache_count, sizeof *state->cache);
        state->cache_memory = stn_allocate(context, part.cache_count, part.memory_bytes);
        if (state->cache == NULL || state->cache_memory == NULL) {
            status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
    }
    if (status == STN_OK) {
        state->cache_count = state->cache_capacity = (int32_t)part.cache_count;
        state->time = part.time;
        state->step = part.step;
        state->gravity = part.gravity;
        memcpy(state->rng, part.rng, sizeof state->rng);
        pass_arrays(&b, snapshot);
        status = bytes_left(&b) == 0 ? STN_OK : stn_fail(err, STN_ERR_PARSE, "a saved state: damaged (too long)");
        const bool possible =
            stn_check_factors(INPUT_MASS, state->mass_factor, state->sizes.mass_count, NULL) == STN_OK &&
            stn_check_factors(INPUT_FRICTION, state->friction_factor, state->sizes.friction_count, NULL) == STN_OK;
        status = status != STN_OK || possible
                     ? status
                     : stn_fail(err, STN_ERR_PARSE, "a saved state: damaged (factors of mass or friction)");
    }
    if (status != STN_OK) {
        stn_snapshot_destroy(snapshot);
        return status;
    }
    *out = snapshot;
    return STN_OK;
}

stn_status stn_snapshot_save(const stn_snapshot *snapshot, const char *path, stn_error *err) {
    byte_stream b;
    stn_status status = snapshot_encode(snapshot, &b, err);
    if (status == STN_OK) {
        status = stn_output_write(path, b.data, b.size, err);
        bytes_clear(&b);
    }
    return status;
}

stn_status stn_snapshot_load(stn_context *context, const char *path, stn_snapshot **out, stn_error *err) {
    *out = NULL;
    char *data = NULL;
    size_t size = 0;
    stn_status status = stn_read_regular(context, path, 0, largest_file, &data, &size, err);
    if (status != STN_OK) {
        return status;
    }
    status = snapshot_decode(context, data, size, out, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "%s", path);
    }
    stn_release(context, data);
    return status;
}
