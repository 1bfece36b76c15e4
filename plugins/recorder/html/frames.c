// SPDX-License-Identifier: Apache-2.0
// A frames block: poses as columns, one per number of a body, so that what rests is a run of zeros.
#include "html.h"

enum { BODY_COLUMNS = 13, NODE_COLUMNS = 3, TURN_COLUMNS = 4 };

/// Nodes with an orientation; false: out of memory.
static bool find_turning(frame_writer *w, const stn_model *model) {
    w->turning = stn_allocate(w->context, (size_t)model->node_count + 1, sizeof *w->turning);
    for (int32_t n = 0; w->turning != NULL && n < model->node_count; n++) {
        if (model->trees[model->node_tree[n]].node_type == STN_NODE_FRAME) {
            w->turning[w->turning_count++] = n;
        }
    }
    return w->turning != NULL;
}

stn_status frames_open(frame_writer *w, const stn_model *model, const scene_units *units, const node_values *values,
                       stn_error *err) {
    *w = (frame_writer){.context = model->context, .body_count = model->body_count, .node_count = model->node_count};
    w->per_unit =
        (scene_units){1.0 / units->length, 1.0 / units->rotation, 1.0 / units->velocity, 1.0 / units->angular_velocity,
                      1.0 / units->force,  1.0 / units->normal,   1.0 / units->pressure};
    contacts_open(&w->contacts, model->context, &w->per_unit);
    lines_open(&w->lines, model, &w->per_unit);
    bool whole = find_turning(w, model);
    int64_t columns = (int64_t)BODY_COLUMNS * (model->body_count - 1) + (int64_t)NODE_COLUMNS * model->node_count +
                      (int64_t)TURN_COLUMNS * w->turning_count;
    if (whole && columns <= INT32_MAX) {
        w->column_count = (int32_t)columns;
        // the first frame of a block is told whole, so that few of them cost
        int64_t frames = columns > 0 ? NUMBERS_IN_BLOCK / columns : FRAMES_IN_BLOCK;
        w->capacity = frames < 4 ? 4 : frames < FRAMES_IN_BLOCK ? (int32_t)frames : FRAMES_IN_BLOCK;
        w->columns = stn_allocate(w->context, (size_t)columns * (size_t)w->capacity + 1, sizeof *w->columns);
        w->last = stn_allocate(w->context, (size_t)columns + 1, sizeof *w->last);
    }
    if (w->columns == NULL || w->last == NULL) {
        frames_close(w);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for frames of %d bodies", (int)model->body_count);
    }
    stn_status status = colors_open(&w->colors, model, values, w->capacity, err);
    if (status != STN_OK) {
        frames_close(w);
    }
    return status;
}

void frames_close(frame_writer *w) {
    if (w->context == NULL) {
        return;
    }
    contacts_close(&w->contacts);
    lines_close(&w->lines);
    if (w->colors.context != NULL) {
        colors_close(&w->colors);
    }
    stn_release(w->context, w->turning);
    stn_release(w->context, w->columns);
    stn_release(w->context, w->last);
    *w = (frame_writer){0};
}

static void put(frame_writer *w, int32_t column, double value, double per_unit) {
    w->last[column] = quantise(value, per_unit, w->last[column]);
    w->columns[(size_t)column * (size_t)w->capacity + (size_t)w->count] = w->last[column];
}

static void put_vector(frame_writer *w, int32_t column, stn_vec3 value, double per_unit) {
    put(w, column, value.x, per_unit);
    put(w, column + 1, value.y, per_unit);
    put(w, column + 2, value.z, per_unit);
}

/// Of the two quaternions of a rotation the one nearer to the last frame's.
static void put_rotation(frame_writer *w, int32_t column, const stn_mat3 *rotation) {
    stn_quat q = stn_quat_from_matrix(rotation);
    const int64_t *last = w->last + column;
    double along = (double)last[0] * q.w + (double)last[1] * q.x + (double)last[2] * q.y + (double)last[3] * q.z;
    double sign = along < 0.0 ? -1.0 : 1.0;
    put(w, column, sign * q.w, w->per_unit.rotation);
    put_vector(w, column + 1, stn_vec3_make(sign * q.x, sign * q.y, sign * q.z), w->per_unit.rotation);
}

stn_status frames_add(frame_writer *w, const moment *m, stn_error *err) {
    stn_status status = contacts_add(&w->contacts, m, err);
    if (status < 0) {
        return status;
    }
    lines_add(&w->lines, m);
    for (int32_t b = 1; b < w->body_count; b++) {
        int32_t column = BODY_COLUMNS * (b - 1);
        put_vector(w, column, m->body_pose[b].position, w->per_unit.length);
        put_rotation(w, column + 3, &m->body_pose[b].rotation);
        put_vector(w, column + 7, m->body_velocity[b].linear, w->per_unit.velocity);
        put_vector(w, column + 10, m->body_velocity[b].angular, w->per_unit.angular_velocity);
    }
    for (int32_t n = 0; n < w->node_count; n++) {
        put_vector(w, BODY_COLUMNS * (w->body_count - 1) + NODE_COLUMNS * n, m->node[n], w->per_unit.length);
    }
    for (int32_t i = 0; i < w->turning_count; i++) {
        int32_t column = BODY_COLUMNS * (w->body_count - 1) + NODE_COLUMNS * w->node_count + TURN_COLUMNS * i;
        put_rotation(w, column, &m->node_pose[w->turning[i]].rotation);
    }
    if (m->value != NULL) {
        colors_add(&w->colors, m->value, w->count);
    }
    w->step[w->count] = m->step;
    w->time[w->count] = m->time;
    w->count++;
    return STN_OK;
}

void frames_write(frame_writer *w, bytes *out) {
    bytes_clear(out);
    bytes_put_u(out, (uint64_t)w->count);
    int64_t last = 0;
    for (int32_t f = 0; f < w->count; f++) {
        bytes_put_u(out, (uint64_t)(w->step[f] - last));
        last = w->step[f];
    }
    for (int32_t f = 0; f < w->count; f++) {
        bytes_put_f64(out, w->time[f]);
    }
    for (int32_t c = 0; c < w->column_count; c++) {
        const int64_t *column = w->columns + (size_t)c * (size_t)w->capacity;
        uint8_t *at = bytes_reserve(out, FRAMES_IN_BLOCK * NUMBER_MAX), *begin = at;
        last = 0;
        for (int32_t f = 0; f < w->count && at != NULL; f++) {
            at = write_s(at, column[f] - last);
            last = column[f];
        }
        out->count += (size_t)(at - begin);
    }
    contacts_write(&w->contacts, out);
    if (w->lines.count > 0) {
        streams_write(w->lines.stream, LINE_STREAMS, out);
    }
    colors_write(&w->colors, w->count, out);
    w->count = 0;
}
