// SPDX-License-Identifier: Apache-2.0
// What a step showed: poses and velocities after it, contacts at its start with the forces that it found.
//
// With gamma the impulses on B in the contact frame, columns t1, t2, n, the force on B is f = frame gamma / dt. A
// contact sticks while its friction is not used up, |(gamma_1/mu_1, gamma_2/mu_2)| < (1 - 1e-3) gamma_n; where the
// problem states the slip speed that its law rounds the cone over, below that speed instead.
#include <math.h>
#include <string.h>

#include "html.h"

static const double NOT_USED_UP = 1.0 - 1e-3;

stn_status moment_open(moment *m, const stn_model *model, stn_error *err) {
    stn_context *context = model->context;
    *m = (moment){.model = model};
    m->body_pose = stn_allocate(context, (size_t)model->body_count, sizeof *m->body_pose);
    m->body_velocity = stn_allocate(context, (size_t)model->body_count, sizeof *m->body_velocity);
    m->node = stn_allocate(context, (size_t)model->node_count + 1, sizeof *m->node);
    if (m->body_pose == NULL || m->body_velocity == NULL || m->node == NULL) {
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
    void *memory[] = {m->body_pose, m->body_velocity, m->node,     m->touches,
                      m->patches,   m->vertices,      m->pressure, m->contact_velocity};
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

static bool make_room(moment *m, const stn_contact_set *set, int32_t row_count) {
    bool whole = grow(m, (void **)&m->touches, m->touch_capacity, set->count, sizeof *m->touches) &&
                 grow(m, (void **)&m->patches, m->patch_capacity, set->patch_count, sizeof *m->patches) &&
                 grow(m, (void **)&m->vertices, m->vertex_capacity, set->vertex_count, sizeof *m->vertices) &&
                 grow(m, (void **)&m->pressure, m->vertex_capacity, set->vertex_count, sizeof *m->pressure) &&
                 grow(m, (void **)&m->contact_velocity, m->row_capacity, row_count, sizeof *m->contact_velocity);
    if (whole) {
        m->touch_capacity = grown_capacity(m->touch_capacity, set->count);
        m->patch_capacity = grown_capacity(m->patch_capacity, set->patch_count);
        m->vertex_capacity = grown_capacity(m->vertex_capacity, set->vertex_count);
        m->row_capacity = grown_capacity(m->row_capacity, row_count);
    }
    return whole;
}

static void take_bodies(moment *m, const stn_kinematics *k) {
    const stn_model *model = m->model;
    memcpy(m->body_pose, k->body_pose, (size_t)model->body_count * sizeof *m->body_pose);
    for (int32_t b = 1; b < model->body_count; b++) {
        m->body_velocity[b].angular = k->body_velocity[b].angular;
        m->body_velocity[b].linear = stn_point_velocity(k, b, k->body_pose[b].position);
    }
    if (model->node_count > 0) {
        memcpy(m->node, k->node, (size_t)model->node_count * sizeof *m->node);
    }
}

static touch_state judge(const stn_problem *problem, const stn_constraint *c, const double *gamma, double slip_speed) {
    if (!(gamma[2] > 0.0)) {
        return TOUCH_OPEN;
    }
    if (isfinite(problem->stiction_tolerance)) {
        return slip_speed < problem->stiction_tolerance ? TOUCH_STICKS : TOUCH_SLIPS;
    }
    double x = gamma[0] / c->mu1, y = gamma[1] / c->mu2; // NaN without friction: slips
    return sqrt(x * x + y * y) < NOT_USED_UP * gamma[2] ? TOUCH_STICKS : TOUCH_SLIPS;
}

static void take_force(touch *t, const stn_problem *problem, const stn_constraint *c, const double *gamma,
                       const double *velocity) {
    t->force =
        stn_vec3_scale(1.0 / problem->dt, stn_mat3_apply(&c->frame, stn_vec3_make(gamma[0], gamma[1], gamma[2])));
    t->slip_speed = sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1]);
    t->state |= (int32_t)judge(problem, c, gamma, t->slip_speed);
}

static void take_contacts(moment *m, const stn_observation *o) {
    const stn_contact_set *set = o->contacts;
    m->touch_count = set->count;
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        m->touches[i] = (touch){
            .id = c->id,
            .geometry_a = c->geometry_a,
            .geometry_b = c->geometry_b,
            .point = c->point,
            .normal = c->normal,
            .gap = c->phi0,
            .state = c->patch >= 0 ? TOUCH_IN_PATCH : 0,
            .vertex_start = c->vertex_start,
            .vertex_count = c->vertex_count,
        };
    }
    const stn_problem *problem = o->problem;
    stn_problem_contact_velocity(problem, o->solution_v, true, m->contact_velocity);
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        if (c->kind == STN_CONSTRAINT_CONTACT && c->contact >= 0 && c->contact < set->count && c->rows == 3) {
            take_force(&m->touches[c->contact], problem, c, o->gamma + c->row, m->contact_velocity + c->row);
        }
    }
}

static void take_patches(moment *m, const stn_contact_set *set) {
    m->patch_count = set->patch_count;
    m->vertex_count = set->vertex_count;
    if (set->patch_count > 0) {
        memcpy(m->patches, set->patches, (size_t)set->patch_count * sizeof *m->patches);
    }
    if (set->vertex_count > 0) {
        memcpy(m->vertices, set->vertices, (size_t)set->vertex_count * sizeof *m->vertices);
        memcpy(m->pressure, set->vertex_pressure, (size_t)set->vertex_count * sizeof *m->pressure);
    }
}

stn_status moment_take(moment *m, const stn_observation *o, stn_error *err) {
    m->step = o->step;
    m->time = o->time;
    m->filled = true;
    m->written = false;
    m->touch_count = m->patch_count = m->vertex_count = 0;
    take_bodies(m, o->kinematics);
    if (o->contacts == NULL || o->problem == NULL) {
        return STN_OK;
    }
    if (!make_room(m, o->contacts, o->problem->row_count)) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for %d contacts", (int)o->contacts->count);
    }
    take_contacts(m, o);
    take_patches(m, o->contacts);
    return STN_OK;
}
