// SPDX-License-Identifier: Apache-2.0
// The journal holds effects, not calls: "these numbers of q became these". Whatever a script calls, and however it
// computed, playing it again is an assignment.
//
//     record of a step: u bytes of inputs, inputs; u step, u contacts, u iterations, u status, hash of q, hash of v,
//                       kinetic energy, potential energy, 16-bit hash of each tree
//     input: letter, then  field, u start, u count, numbers | dt | gravity | state | controller | name, value
#include <xxhash.h>

#include "world/run.h"
#include "world/snapshot.h"

enum { OP_ASSIGN = 'a', OP_DT = 'd', OP_GRAVITY = 'g', OP_STATE = 's', OP_CONTROLLER = 'c', OP_SIGNAL = 'p' };

typedef struct field_view {
    double *values;
    size_t count;
} field_view;

static field_view view_of(stn_world *world, journal_field field) {
    stn_state *s = &world->state;
    const field_view views[JOURNAL_FIELD_COUNT] = {
        [JOURNAL_Q] = {s->q, s->sizes.nq},
        [JOURNAL_V] = {s->v, s->sizes.nv},
        [JOURNAL_REFERENCE] = {s->reference, s->sizes.reference_count},
        [JOURNAL_EFFORT] = {s->effort, s->sizes.nv},
        [JOURNAL_WRENCH] = {s->wrench, s->sizes.wrench_count},
        [JOURNAL_PRESCRIBED] = {s->prescribed, s->sizes.prescribed_count},
        [JOURNAL_SURFACE] = {s->surface_velocity, s->sizes.surface_count},
        [JOURNAL_ACTIVATION] = {s->activation, s->sizes.activation_count},
    };
    return views[field];
}

// ---------------------------------------------------------------------------------------------------------- inputs

/// Where the next input goes, NULL when nobody wants it.
static byte_stream *begin(stn_world *world, unsigned char op) {
    if (world->journal.readers == 0) {
        return NULL;
    }
    byte_stream *b = &world->journal.pending;
    b->context = world->context;
    BYTES_PASS(b, &op);
    return b;
}

void stn_journal_assign(stn_world *world, journal_field field, size_t start, size_t count) {
    byte_stream *b = begin(world, OP_ASSIGN);
    if (b != NULL) {
        unsigned char number = (unsigned char)field;
        BYTES_PASS(b, &number);
        bytes_put_varint(b, start);
        bytes_put_varint(b, count);
        bytes_pass(b, view_of(world, field).values + start, count * sizeof(double));
    }
}

void stn_journal_dt(stn_world *world) {
    byte_stream *b = begin(world, OP_DT);
    if (b != NULL) {
        BYTES_PASS(b, &world->options.dt);
    }
}

void stn_journal_gravity(stn_world *world) {
    byte_stream *b = begin(world, OP_GRAVITY);
    if (b != NULL) {
        BYTES_PASS(b, &world->state.gravity);
    }
}

void stn_journal_state(stn_world *world) {
    byte_stream *b = begin(world, OP_STATE), state;
    if (b == NULL) {
        return;
    }
    const stn_snapshot view = stn_snapshot_view(world);
    if (stn_snapshot_encode(&view, &state, NULL) == STN_OK) {
        bytes_put_block(b, state.data, state.size);
        bytes_clear(&state);
    } else {
        bytes_out_of_memory(b);
    }
}

void stn_journal_controller(stn_world *world, const controller *added) {
    byte_stream *b = begin(world, OP_CONTROLLER);
    if (b != NULL) {
        stn_run_write_controller(b, added);
    }
}

void stn_journal_signal(stn_world *world, int32_t signal) {
    byte_stream *b = begin(world, OP_SIGNAL);
    if (b != NULL) {
        bytes_pass_text(b, &world->signals[signal].name);
        BYTES_PASS(b, &world->signals[signal].value);
    }
}

void stn_journal_clear(stn_world *world) {
    bytes_clear(&world->journal.pending);
    bytes_clear(&world->journal.step);
    world->journal = (step_journal){0};
    world->observation.journal = NULL;
    world->observation.journal_size = 0;
}

// ---------------------------------------------------------------------------------------------------------- results

step_result stn_journal_result(const stn_world *world, uint16_t *trees) {
    const stn_model *model = world->model;
    uint64_t q = 0, v = 0;
    for (int32_t t = 0; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        uint64_t tree_q = XXH3_64bits(world->state.q + tree->q_start, (size_t)tree->nq * sizeof(double));
        uint64_t tree_v = XXH3_64bits(world->state.v + tree->v_start, (size_t)tree->nv * sizeof(double));
        trees[t] = (uint16_t)((tree_q ^ tree_v * 3) >> 32);
        q = q * 31 + tree_q;
        v = v * 31 + tree_v;
    }
    const stn_step_report *r = &world->report;
    return (step_result){.step = world->state.step,
                         .contacts = r->contact_count,
                         .iterations = r->iterations,
                         .status = r->status,
                         .q = (uint32_t)(q >> 32),
                         .v = (uint32_t)(v >> 32),
                         .kinetic_J = r->kinetic_J,
                         .potential_J = r->potential_J};
}

stn_status stn_journal_step(stn_world *world, stn_error *err) {
    if (world->journal.readers == 0) {
        return STN_OK;
    }
    byte_stream *b = &world->journal.step;
    b->context = world->context;
    bytes_empty(b);
    bytes_put_block(b, world->journal.pending.data, world->journal.pending.size);
    size_t tree_count = (size_t)world->model->tree_count;
    uint16_t *trees = STN_ARENA(world->arena, tree_count, uint16_t);
    if (trees == NULL || world->journal.pending.failed || b->failed) {
        world->journal.readers = 0; // what was lost cannot come back
        return stn_fail(err, STN_ERR_MEMORY, "recording: out of memory, so this run cannot be replayed");
    }
    step_result r = stn_journal_result(world, trees);
    bytes_put_varint(b, (uint64_t)r.step);
    bytes_put_varint(b, (uint64_t)r.contacts);
    bytes_put_varint(b, (uint64_t)r.iterations);
    bytes_put_varint(b, (uint64_t)r.status);
    BYTES_PASS(b, &r.q);
    BYTES_PASS(b, &r.v);
    BYTES_PASS(b, &r.kinetic_J);
    BYTES_PASS(b, &r.potential_J);
    bytes_pass(b, trees, tree_count * sizeof *trees);
    bytes_empty(&world->journal.pending);
    world->observation.journal = b->data;
    world->observation.journal_size = b->size;
    return bytes_status(b, err);
}

// ---------------------------------------------------------------------------------------------------------- reading

bool stn_journal_read(byte_stream *b, int32_t tree_count, byte_stream *inputs, step_result *result,
                      const unsigned char **trees) {
    size_t size = 0;
    const unsigned char *data = bytes_get_block(b, &size);
    *inputs = bytes_reader(b->context, data, size);
    result->step = (int64_t)bytes_get_varint(b);
    uint64_t contacts = bytes_get_varint(b), iterations = bytes_get_varint(b), status = bytes_get_varint(b);
    b->failed = b->failed || contacts > INT32_MAX || iterations > INT32_MAX || status > INT32_MAX;
    result->contacts = (int32_t)contacts;
    result->iterations = (int32_t)iterations;
    result->status = (int32_t)status;
    BYTES_PASS(b, &result->q);
    BYTES_PASS(b, &result->v);
    BYTES_PASS(b, &result->kinetic_J);
    BYTES_PASS(b, &result->potential_J);
    *trees = bytes_get_view(b, (size_t)tree_count * sizeof(uint16_t));
    return !b->failed;
}

static bool all_finite(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

static bool is_rotation(const double *r) {
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3] > 0.5;
}

/// No quaternion may be zero; their lengths are otherwise as they were.
static bool has_rotations(const stn_world *world) {
    for (int32_t i = 0; i < world->prescribed_count; i++) {
        const double *told = world->state.prescribed + PRESCRIBED_NUMBERS * (size_t)i;
        if (told[0] != 0.0 && !is_rotation(told + 4)) {
            return false;
        }
    }
    for (int32_t j = 0; j < world->model->joint_count; j++) {
        const stn_joint *joint = &world->model->joints[j];
        int32_t first = stn_joint_type_quaternion(joint->type);
        const double *r = world->state.q + joint->q_start + first;
        if (first >= 0 && !is_rotation(r)) {
            return false;
        }
    }
    return true;
}

static void apply_assign(stn_world *world, byte_stream *b) {
    unsigned char field = 0;
    BYTES_PASS(b, &field);
    size_t start = (size_t)bytes_get_varint(b), count = (size_t)bytes_get_varint(b);
    if (b->failed || field >= JOURNAL_FIELD_COUNT) {
        b->failed = true;
        return;
    }
    field_view view = view_of(world, (journal_field)field);
    if (start > view.count || count > view.count - start || count > bytes_left(b) / sizeof(double)) {
        b->failed = true;
        return;
    }
    bytes_pass(b, view.values + start, count * sizeof(double));
    world->kinematics_stale = true;
    if (field == JOURNAL_Q) {
        stn_world_forget_anchors(world, start, count);
    }
    b->failed = b->failed || !all_finite(view.values + start, count) ||
                ((field == JOURNAL_Q || field == JOURNAL_PRESCRIBED) && !has_rotations(world));
    stn_journal_assign(world, (journal_field)field, start, count);
}

static stn_status apply_dt(stn_world *world, byte_stream *b, stn_error *err) {
    double dt = 0.0;
    BYTES_PASS(b, &dt);
    return stn_world_set_dt(world, dt, err);
}

static void apply_gravity(stn_world *world, byte_stream *b) {
    stn_vec3 gravity = {0.0, 0.0, 0.0};
    BYTES_PASS(b, &gravity);
    b->failed = b->failed || !stn_vec3_finite(gravity);
    stn_world_set_gravity(world, gravity);
}

static stn_status apply_state(stn_world *world, byte_stream *b, bool adapt, stn_error *err) {
    size_t size = 0;
    const unsigned char *data = bytes_get_block(b, &size);
    return stn_run_take_state(world, data, size, adapt, err);
}

static stn_status apply_signal(stn_world *world, byte_stream *b, stn_error *err) {
    const char *name = NULL;
    double value = 0.0;
    bytes_pass_text(b, &name);
    BYTES_PASS(b, &value);
    b->failed = b->failed || name == NULL;
    return b->failed ? STN_OK : stn_world_plot(world, name, value, err);
}

stn_status stn_journal_apply(stn_world *world, byte_stream *b, bool adapt, stn_error *err) {
    stn_status status = STN_OK;
    while (bytes_left(b) > 0 && !b->failed && status == STN_OK) {
        unsigned char op = 0;
        BYTES_PASS(b, &op);
        switch (op) {
        case OP_ASSIGN:
            apply_assign(world, b);
            break;
        case OP_DT:
            status = apply_dt(world, b, err);
            break;
        case OP_GRAVITY:
            apply_gravity(world, b);
            break;
        case OP_STATE:
            status = apply_state(world, b, adapt, err);
            break;
        case OP_CONTROLLER:
            status = stn_run_read_controller(b, world, err);
            break;
        case OP_SIGNAL:
            status = apply_signal(world, b, err);
            break;
        default:
            b->failed = true;
        }
    }
    return status == STN_OK ? bytes_status(b, err) : status;
}
