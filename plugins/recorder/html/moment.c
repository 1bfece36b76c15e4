// SPDX-License-Identifier: Apache-2.0
// What a step showed: poses and velocities after it, contacts at its start with what the core reports of them
// (stn_observation_contact).
#include <math.h>
#include <string.h>

#include "html.h"

stn_status moment_open(moment *m, const stn_model *model, stn_error *err) {
    stn_context *context = model->context;
    *m = (moment){.model = model};
    m->body_pose = stn_allocate(context, (size_t)model->body_count, sizeof *m->body_pose);
    m->body_velocity = stn_allocate(context, (size_t)model->body_count, sizeof *m->body_velocity);
    m->node = stn_allocate(context, (size_t)model->node_count + 1, sizeof *m->node);
    m->lines = stn_allocate(context, (size_t)model->constraint_count + 1, sizeof *m->lines);
    bool turns = false;
    for (int32_t t = 0; t < model->tree_count; t++) {
        turns = turns || model->trees[t].node_type == STN_NODE_FRAME;
    }
    if (turns) {
        m->node_pose = stn_allocate(context, (size_t)model->node_count, sizeof *m->node_pose);
    }
    if (m->body_pose == NULL || m->body_velocity == NULL || m->node == NULL || m->lines == NULL ||
        (turns && m->node_pose == NULL)) {
        moment_close(m);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for %d bodies", (int)model->body_count);
    }
    return STN_OK;
}

void moment_close(moment *m) {
    if (m->model == NULL) {
        return;
    }
    stn_context *context = m->model->context;
    void *memory[] = {m->body_pose, m->body_velocity, m->node,  m->touches,     m->patches,
                      m->vertices,  m->pressure,      m->lines, m->line_points, m->node_pose};
    for (int32_t i = 0; i < STN_COUNT(memory); i++) {
        stn_release(context, memory[i]);
    }
    *m = (moment){0};
}

/// Makes room for `count` items of old content; `*array` stays as it is when there is none to be had.
static bool grow(const moment *m, void **array, int32_t capacity, int32_t count, size_t size) {
    if (count <= capacity) {
        return true;
    }
    void *grown = stn_reallocate(m->model->context, *array, (size_t)capacity, (size_t)count + (size_t)count / 2, size);
    *array = grown != NULL ? grown : *array;
    return grown != NULL;
}

static int32_t grown_capacity(int32_t capacity, int32_t count) {
    return count <= capacity ? capacity : count + count / 2;
}

static bool make_room(moment *m, const stn_contact_set *set) {
    bool whole = grow(m, (void **)&m->touches, m->touch_capacity, set->count, sizeof *m->touches) &&
                 grow(m, (void **)&m->patches, m->patch_capacity, set->patch_count, sizeof *m->patches) &&
                 grow(m, (void **)&m->vertices, m->vertex_capacity, set->vertex_count, sizeof *m->vertices) &&
                 grow(m, (void **)&m->pressure, m->vertex_capacity, set->vertex_count, sizeof *m->pressure);
    if (whole) {
        m->touch_capacity = grown_capacity(m->touch_capacity, set->count);
        m->patch_capacity = grown_capacity(m->patch_capacity, set->patch_count);
        m->vertex_capacity = grown_capacity(m->vertex_capacity, set->vertex_count);
    }
    return whole;
}

/// Along its first row, which is all of a rope; of several rows the size.
static void note_force(const stn_observation *o, int32_t constraint, line *l) {
    stn_constraint_report block;
    l->force = 0.0;
    l->slack = stn_observation_constraint_slack(o, constraint);
    for (int32_t b = 0; stn_observation_constraint(o, constraint, b, &block); b++) {
        double squares = 0.0;
        for (int32_t k = 0; k < block.rows; k++) {
            squares += block.force[k] * block.force[k];
        }
        l->force = b > 0 ? l->force : block.rows == 1 ? block.force[0] : sqrt(squares);
    }
}

static stn_status take_lines(moment *m, const stn_observation *o, stn_error *err) {
    m->line_point_count = 0;
    for (int32_t i = 0; i < m->model->constraint_count; i++) {
        line *l = &m->lines[i];
        note_force(o, i, l);
        stn_constraint_path path = {.room = 0};
        do {
            int32_t needed = m->line_point_count + path.count;
            if (!grow(m, (void **)&m->line_points, m->line_point_capacity, needed, sizeof *m->line_points)) {
                return stn_fail(err, STN_ERR_MEMORY, "out of memory for the lines of %d constraints",
                                (int)m->model->constraint_count);
            }
            m->line_point_capacity = grown_capacity(m->line_point_capacity, needed);
            path.room = m->line_point_capacity - m->line_point_count;
            path.points = m->line_points != NULL ? m->line_points + m->line_point_count : NULL;
            stn_observation_constraint_path(o, i, &path);
        } while (path.count > path.room);
        l->point_start = m->line_point_count;
        l->point_count = path.count;
        m->line_point_count += path.count;
    }
    return STN_OK;
}

stn_status moment_take(moment *m, const stn_observation *o, stn_error *err) {
    m->step = o->step;
    m->time = o->time;
    m->filled = true;
    m->written = false;
    m->touch_count = m->patch_count = m->vertex_count = 0;
    const stn_kinematics *k = o->kinematics;
    const stn_model *model = m->model;
    memcpy(m->body_pose, k->body_pose, (size_t)model->body_count * sizeof *m->body_pose);
    for (int32_t b = 1; b < model->body_count; b++) {
        m->body_velocity[b].angular = k->body_velocity[b].angular;
        m->body_velocity[b].linear = stn_point_velocity(k, b, k->body_pose[b].position);
    }
    if (model->node_count > 0) {
        memcpy(m->node, k->node, (size_t)model->node_count * sizeof *m->node);
    }
    if (m->node_pose != NULL) {
        memcpy(m->node_pose, k->node_pose, (size_t)model->node_count * sizeof *m->node_pose);
    }
    stn_status status = take_lines(m, o, err);
    if (status < 0 || o->contacts == NULL || o->problem == NULL) {
        return status;
    }
    if (!make_room(m, o->contacts)) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for %d contacts", (int)o->contacts->count);
    }
    const stn_contact_set *set = o->contacts;
    m->touch_count = set->count;
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        stn_contact_report r;
        stn_observation_contact(o, i, &r);
        m->touches[i] = (touch){
            .id = c->id,
            .geometry_a = c->geometry_a,
            .geometry_b = c->geometry_b,
            .point = c->point,
            .normal = c->normal,
            .force = stn_vec3_add(r.normal_part, r.friction_part),
            .gap = c->phi0,
            .slip_speed = r.slip_speed,
            .glide_gap = r.glide_gap,
            .state = (int32_t)r.state | (c->patch >= 0 ? TOUCH_IN_PATCH : 0),
            .vertex_start = c->vertex_start,
            .vertex_count = c->vertex_count,
        };
    }
    m->patch_count = set->patch_count;
    m->vertex_count = set->vertex_count;
    if (set->patch_count > 0) {
        memcpy(m->patches, set->patches, (size_t)set->patch_count * sizeof *m->patches);
    }
    if (set->vertex_count > 0) {
        memcpy(m->vertices, set->vertices, (size_t)set->vertex_count * sizeof *m->vertices);
        memcpy(m->pressure, set->vertex_pressure, (size_t)set->vertex_count * sizeof *m->pressure);
    }
    return STN_OK;
}
