// SPDX-License-Identifier: Apache-2.0
// The journal holds effects, not calls: "these numbers of q became these". Whatever a script calls, and however it
// computed, playing it again is an assignment.
//
//     record of a step: u bytes of inputs, inputs; u step, u contacts, u iterations, u status, hash of q, hash of v,
//                       kinetic energy, potential energy, 16-bit hashes of trees (journal_hash_count)
//     input: letter, then  field, u start, u count, numbers | dt | gravity | state | controller | name, value |
//                          integrator | camera | caption
#include <string.h>

#include <xxhash.h>

#include "plugin/settings.h"
#include "record/journal.h"
#include "record/run.h"
#include "record/snapshot.h"

enum { OP_ASSIGN = 'a', OP_DT = 'd', OP_GRAVITY = 'g', OP_STATE = 's', OP_CONTROLLER = 'c', OP_SIGNAL = 'p' };
enum { OP_INTEGRATOR = 'i', OP_CAMERA = 'v', OP_CAPTION = 't' };

// ---------------------------------------------------------------------------------------------------------- inputs

static void write_op(byte_stream *b, unsigned char op) {
    BYTES_PASS(b, &op);
}

/// The numbers of a camera, then what it follows.
static void pass_camera(byte_stream *b, stn_camera *c) {
    unsigned char aimed = c->aimed;
    BYTES_PASS(b, &aimed);
    c->aimed = aimed != 0;
    double *numbers[] = {&c->target.x, &c->target.y,      &c->target.z, &c->azimuth,  &c->elevation,
                         &c->distance, &c->field_of_view, &c->seconds,  &c->smoothing};
    for (int32_t i = 0; i < STN_COUNT(numbers); i++) {
        BYTES_PASS(b, numbers[i]);
    }
}

static void write_camera(byte_stream *b, const stn_camera *camera) {
    stn_camera copy = *camera;
    pass_camera(b, &copy);
    bytes_put_block(b, camera->follow, (size_t)camera->follow_count * sizeof *camera->follow);
}

/// What was given, after it was: written as it stands in the world.
static void write_input(void *user, const world_input *input) {
    step_journal *journal = user;
    const stn_world *world = journal->world;
    byte_stream *b = &journal->pending, state;
    stn_snapshot view;
    world_input copy = *input; // bytes_pass serves both directions, so that it takes what it could change
    switch (input->kind) {
    case INPUT_VALUES:
        write_op(b, OP_ASSIGN);
        write_op(b, (unsigned char)input->part.field);
        bytes_put_varint(b, input->part.start);
        bytes_put_varint(b, input->part.count);
        bytes_pass(b, (void *)(uintptr_t)input->part.values, input->part.count * sizeof(double));
        break;
    case INPUT_DT:
        write_op(b, OP_DT);
        BYTES_PASS(b, &copy.dt);
        break;
    case INPUT_GRAVITY:
        write_op(b, OP_GRAVITY);
        BYTES_PASS(b, &copy.gravity);
        break;
    case INPUT_STATE:
        write_op(b, OP_STATE);
        view = snapshot_view(world);
        if (snapshot_encode(&view, &state, NULL) == STN_OK) {
            bytes_put_block(b, state.data, state.size);
            bytes_clear(&state);
        } else {
            bytes_out_of_memory(b);
        }
        break;
    case INPUT_CONTROLLER:
        write_op(b, OP_CONTROLLER);
        run_write_controller(b, &world->setup->controllers[world->setup->controller_count - 1]);
        break;
    case INPUT_SIGNAL:
        write_op(b, OP_SIGNAL);
        bytes_pass_text(b, &copy.signal.name);
        BYTES_PASS(b, &copy.signal.value);
        break;
    case INPUT_INTEGRATOR:
        write_op(b, OP_INTEGRATOR);
        if (instance_write(b, input->integrator, NULL) != STN_OK) {
            bytes_out_of_memory(b);
        }
        break;
    case INPUT_CAMERA:
        write_op(b, OP_CAMERA);
        write_camera(b, &world->camera);
        break;
    case INPUT_CAPTION:
        write_op(b, OP_CAPTION);
        copy.caption = world->caption; // the world's own, as the given one may have been the one before
        bytes_pass_text(b, &copy.caption);
        break;
    }
}

void journal_begin(step_journal *journal) {
    stn_world *world = journal->world;
    if (journal->readers++ == 0) {
        journal->pending.context = journal->step.context = world->services.context;
        bytes_empty(&journal->pending);
        world->input_hook = (input_hook){write_input, journal};
        if (world->camera_count > 0) { // placed before
            write_input(journal, &(world_input){.kind = INPUT_CAMERA, .camera = &world->camera});
        }
        if (world->caption != NULL) {
            write_input(journal, &(world_input){.kind = INPUT_CAPTION, .caption = world->caption});
        }
    }
}

void journal_clear(step_journal *journal) {
    stn_world *world = journal->world;
    bytes_clear(&journal->pending);
    bytes_clear(&journal->step);
    *journal = (step_journal){.world = world};
    world->input_hook = (input_hook){NULL, NULL};
    world->observation.journal = NULL;
    world->observation.journal_size = 0;
}

// ---------------------------------------------------------------------------------------------------------- results

enum { MOST_SINGLE_TREES = 64 };

/// Of the square that many trees stand in; 0: each has a hash of its own.
static int32_t square_side(int32_t tree_count) {
    int32_t side = 0;
    while (tree_count > MOST_SINGLE_TREES && (int64_t)side * side < tree_count) {
        side++;
    }
    return side;
}

int32_t journal_hash_count(int32_t tree_count) {
    const int32_t side = square_side(tree_count);
    return side > 0 ? 3 * side : tree_count;
}

step_result journal_result(const stn_world *world, uint16_t *hashes) {
    const stn_model *model = world->setup->model;
    const int32_t side = square_side(model->tree_count);
    uint64_t q = 0, v = 0;
    memset(hashes, 0, (size_t)journal_hash_count(model->tree_count) * sizeof *hashes);
    for (int32_t t = 0; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        uint64_t tree_q = XXH3_64bits(world->state.q + tree->q_start, (size_t)tree->nq * sizeof(double));
        uint64_t tree_v = XXH3_64bits(world->state.v + tree->v_start, (size_t)tree->nv * sizeof(double));
        const uint16_t hash = (uint16_t)((tree_q ^ tree_v * 3) >> 32);
        if (side == 0) {
            hashes[t] = hash;
        } else {
            const int32_t row = t / side, column = t % side;
            const int32_t lines[3] = {row, side + column, 2 * side + (row + column) % side};
            for (int32_t k = 0; k < 3; k++) {
                hashes[lines[k]] = (uint16_t)(hashes[lines[k]] + hash);
            }
        }
        q = q * 31 + tree_q;
        v = v * 31 + tree_v;
    }
    const stn_step_report *r = &world->frame.report;
    return (step_result){.step = world->state.step,
                         .contacts = r->contact_count,
                         .iterations = r->iterations,
                         .status = r->status,
                         .q = (uint32_t)(q >> 32),
                         .v = (uint32_t)(v >> 32),
                         .kinetic_J = r->kinetic_J,
                         .potential_J = r->potential_J};
}

int32_t journal_differing_tree(int32_t tree_count, const unsigned char *recorded, const uint16_t *made) {
    const int32_t side = square_side(tree_count);
    for (int32_t t = 0; t < tree_count; t++) {
        const int32_t row = side > 0 ? t / side : t, column = side > 0 ? t % side : 0;
        const int32_t lines[3] = {row, side + column, side > 0 ? 2 * side + (row + column) % side : 0};
        bool differs = true;
        for (int32_t k = 0; k < (side > 0 ? 3 : 1) && differs; k++) {
            differs = memcmp(recorded + sizeof *made * (size_t)lines[k], &made[lines[k]], sizeof *made) != 0;
        }
        if (differs) {
            return t;
        }
    }
    return -1;
}

stn_status journal_step(step_journal *journal, stn_error *err) {
    if (journal->readers == 0) {
        return STN_OK;
    }
    stn_world *world = journal->world;
    byte_stream *b = &journal->step, *pending = &journal->pending;
    bytes_empty(b);
    bytes_put_block(b, pending->data, pending->size);
    const size_t count = (size_t)journal_hash_count(world->setup->model->tree_count);
    uint16_t *hashes = STN_ARENA(world->frame.arena, count, uint16_t);
    if (hashes == NULL || pending->failed || b->failed) {
        world->input_hook = (input_hook){NULL, NULL};
        journal->readers = 0; // what was lost cannot come back
        return stn_fail(err, STN_ERR_MEMORY, "recording: out of memory, so this run cannot be replayed");
    }
    step_result r = journal_result(world, hashes);
    bytes_put_varint(b, (uint64_t)r.step);
    bytes_put_varint(b, (uint64_t)r.contacts);
    bytes_put_varint(b, (uint64_t)r.iterations);
    bytes_put_varint(b, (uint64_t)r.status);
    BYTES_PASS(b, &r.q);
    BYTES_PASS(b, &r.v);
    BYTES_PASS(b, &r.kinetic_J);
    BYTES_PASS(b, &r.potential_J);
    bytes_pass(b, hashes, count * sizeof *hashes);
    bytes_empty(pending);
    world->observation.journal = b->data;
    world->observation.journal_size = b->size;
    return bytes_status(b, err);
}

// ---------------------------------------------------------------------------------------------------------- reading

bool journal_read(byte_stream *b, int32_t tree_count, byte_stream *inputs, step_result *result,
                  const unsigned char **hashes) {
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
    *hashes = bytes_get_view(b, (size_t)journal_hash_count(tree_count) * sizeof(uint16_t));
    return !b->failed;
}

static bool is_rotation(const double *r) {
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3] > 0.5;
}

/// No quaternion may be zero; their lengths are otherwise as they were.
static bool has_rotations(const stn_world *world) {
    for (int32_t i = 0; i < world->setup->kinematic_count; i++) {
        const double *told = world->state.kinematic_target + KINEMATIC_NUMBERS * (size_t)i;
        if (told[0] != 0.0 && !is_rotation(told + 4)) {
            return false;
        }
    }
    for (int32_t j = 0; j < world->setup->model->joint_count; j++) {
        const stn_joint *joint = &world->setup->model->joints[j];
        int32_t first = stn_joint_type_quaternion(joint->type);
        const double *r = world->state.q + joint->q_start + first;
        if (first >= 0 && !is_rotation(r)) {
            return false;
        }
    }
    return true;
}

static void apply_values(stn_world *world, byte_stream *b) {
    unsigned char field = 0;
    BYTES_PASS(b, &field);
    size_t start = (size_t)bytes_get_varint(b), count = (size_t)bytes_get_varint(b);
    const unsigned char *values =
        count <= bytes_left(b) / sizeof(double) ? bytes_get_view(b, count * sizeof(double)) : NULL;
    for (size_t i = 0; i < count && values != NULL; i++) {
        double x;
        memcpy(&x, values + i * sizeof x, sizeof x);
        b->failed = b->failed || !isfinite(x) ||
                    ((field == INPUT_MASS || field == INPUT_FRICTION) &&
                     stn_check_factors((input_field)field, &x, 1, NULL) != STN_OK);
    }
    const world_input input = {.kind = INPUT_VALUES, .part = {(input_field)field, start, count, values}};
    b->failed = b->failed || values == NULL || stn_world_apply(world, &input, NULL) != STN_OK ||
                ((field == INPUT_Q || field == INPUT_KINEMATIC) && !has_rotations(world));
}

static stn_status read_camera(byte_stream *b, stn_world *world, stn_error *err) {
    stn_camera camera = {0};
    pass_camera(b, &camera);
    size_t size = 0;
    const void *follow = bytes_get_block(b, &size);
    b->failed = b->failed || size % sizeof *camera.follow != 0 || size > INT32_MAX;
    int32_t *copy = stn_allocate(b->context, size + 1, 1); // aligned, as the block need not be
    if (copy == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "camera: out of memory");
    }
    stn_status status = STN_OK;
    if (!b->failed) {
        if (size > 0) {
            memcpy(copy, follow, size);
        }
        camera.follow = copy;
        camera.follow_count = (int32_t)(size / sizeof *copy);
        const world_input input = {.kind = INPUT_CAMERA, .camera = &camera};
        status = stn_world_apply(world, &input, err);
    }
    stn_release(b->context, copy);
    return status;
}

stn_status journal_apply(stn_world *world, byte_stream *b, bool adapt, stn_error *err) {
    stn_status status = STN_OK;
    while (bytes_left(b) > 0 && !b->failed && status == STN_OK) {
        unsigned char op = 0;
        size_t size = 0;
        const unsigned char *state = NULL;
        world_input input = {.kind = INPUT_SIGNAL};
        BYTES_PASS(b, &op);
        switch (op) {
        case OP_ASSIGN:
            apply_values(world, b);
            break;
        case OP_DT:
            input = (world_input){.kind = INPUT_DT};
            BYTES_PASS(b, &input.dt);
            status = stn_world_apply(world, &input, err);
            break;
        case OP_GRAVITY:
            input = (world_input){.kind = INPUT_GRAVITY};
            BYTES_PASS(b, &input.gravity);
            b->failed = b->failed || !stn_vec3_finite(input.gravity);
            status = b->failed ? STN_OK : stn_world_apply(world, &input, err);
            break;
        case OP_STATE:
            state = bytes_get_block(b, &size);
            status = run_take_state(world, state, size, adapt, err);
            break;
        case OP_CONTROLLER:
            status = run_read_controller(b, world, err);
            break;
        case OP_SIGNAL:
            bytes_pass_text(b, &input.signal.name);
            BYTES_PASS(b, &input.signal.value);
            b->failed = b->failed || input.signal.name == NULL;
            status = b->failed ? STN_OK : stn_world_apply(world, &input, err);
            break;
        case OP_INTEGRATOR:
            input = (world_input){.kind = INPUT_INTEGRATOR};
            status = instance_read(b, STN_KIND_INTEGRATOR, &input.integrator, err);
            status = status == STN_OK ? stn_world_apply(world, &input, err) : status;
            stn_instance_destroy(input.integrator);
            break;
        case OP_CAMERA:
            status = read_camera(b, world, err);
            break;
        case OP_CAPTION:
            input = (world_input){.kind = INPUT_CAPTION};
            bytes_pass_text(b, &input.caption);
            b->failed = b->failed || input.caption == NULL;
            status = b->failed ? STN_OK : stn_world_apply(world, &input, err);
            break;
        default:
            b->failed = true;
        }
    }
    return status == STN_OK ? bytes_status(b, err) : status;
}
