// SPDX-License-Identifier: Apache-2.0
// What contacts and patches did in a step, and how hard its problem was. Contacts: stick or slip, slip speed, glide
// gap, normal and friction force, and sums of forces over the contacts between two sides. Computed when somebody asks,
// from the solution alone:
//
//     force on B = E gamma / dt,   E = (t1, t2, n),   slip speed = |(v_1, v_2)|,   v_c = J v + bias - anchor/dt
//
// Of patches: the wrench of their faces about the center of pressure, areas, pressures, from what is said of each face:
//
//     f_i = normal force,   center = sum f_i x_i / sum f_i,   torque = sum (x_i - center) x F_i,   p_i = f_i / A_i
#include <math.h>

#include <stiction/query.h>
#include <stiction/recorder.h>

#include "world/slip.h"
#include "world/world.h"

static const double NOT_USED_UP = 1.0 - 1e-3; // of the cone
static const double STILL = 1e-3;             // of the speed that friction can take within a step

const char *stn_contact_state_name(stn_contact_state state) {
    static const char *const names[] = {"open", "stick", "slip"};
    return (int)state >= 0 && (int)state < STN_COUNT(names) ? names[state] : NULL;
}

static double size(double x, double y) {
    return sqrt(x * x + y * y);
}

/// Where the law tells no speed: friction may be used up without slip, as what each of several contacts carries is not
/// unique.
static bool sticks(const stn_constraint *c, const double *gamma, double slip_speed, double transition_speed) {
    if (transition_speed > 0.0) {
        return slip_speed < transition_speed;
    }
    double used = size(gamma[0] / c->mu1, gamma[1] / c->mu2), n = fabs(gamma[2]); // NaN without friction: slips
    return used < NOT_USED_UP * n || slip_speed < STILL * c->w * fmin(c->mu1, c->mu2) * n;
}

void stn_observation_contact(const stn_observation *o, int32_t contact, stn_contact_report *out) {
    // The constraint follows the contact index for index; the step may not have it.
    const stn_problem *problem = o->problem;
    bool known = problem != NULL && contact >= 0 && contact < problem->constraint_count;
    const stn_constraint *c = known ? &problem->constraints[contact] : NULL;
    if (c == NULL || c->kind != STN_CONSTRAINT_CONTACT || c->contact != contact) {
        *out = (stn_contact_report){.state = STN_CONTACT_OPEN};
        return;
    }
    const double *gamma = o->gamma + c->row, *bias = problem->bias + c->row, per_dt = 1.0 / problem->dt;
    double v[3];
    stn_constraint_velocity(problem, c, o->solution_v, v);
    for (int32_t i = 0; i < 3; i++) {
        v[i] += bias[i];
    }
    double n = gamma[2] * per_dt, t1 = gamma[0] * per_dt, t2 = gamma[1] * per_dt;
    const double(*m)[3] = c->frame.m;
    out->normal_part = stn_vec3_make(n * m[0][2], n * m[1][2], n * m[2][2]);
    out->friction_part =
        stn_vec3_make(t1 * m[0][0] + t2 * m[0][1], t1 * m[1][0] + t2 * m[1][1], t1 * m[2][0] + t2 * m[2][1]);
    double slip = size(v[0], v[1]); // the law's: with the rate that an anchor adds
    out->slip_speed = size(v[0] - c->anchor[0] * per_dt, v[1] - c->anchor[1] * per_dt);
    out->separation_speed = v[2];
    out->state = STN_CONTACT_OPEN;
    out->glide_gap = 0.0;
    if (gamma[2] > 0.0 || (gamma[2] < 0.0 && o->law != NULL && o->law->adhesive)) {
        stn_law_slip told = stn_ask_slip(o->law, problem, contact, v, gamma);
        bool stick = sticks(c, gamma, slip, told.transition_speed);
        out->state = stick ? STN_CONTACT_STICK : STN_CONTACT_SLIP;
        out->glide_gap = stick ? 0.0 : told.glide_gap;
    }
}

// ------------------------------------------------------------------------------------------------------------- sums

static bool has(const stn_contact_side *side, int32_t geometry) {
    return side->has(side->user, geometry);
}

/// +1 when B is on the side that the forces are asked for, -1 when A is, 0 when neither or both are; `by` may be NULL.
static double sign_of(int32_t geometry_a, int32_t geometry_b, const stn_contact_side *on, const stn_contact_side *by) {
    bool a = has(on, geometry_a), b = has(on, geometry_b);
    if (a == b || (by != NULL && !has(by, b ? geometry_a : geometry_b))) {
        return 0.0;
    }
    return b ? 1.0 : -1.0;
}

void stn_observation_contact_force(const stn_observation *o, const stn_contact_side *on, const stn_contact_side *by,
                                   stn_vec3 point, stn_contact_force *out) {
    *out = (stn_contact_force){0};
    int32_t count = o->problem != NULL && o->contacts != NULL ? o->contacts->count : 0;
    for (int32_t i = 0; i < count; i++) {
        const stn_contact *c = &o->contacts->contacts[i];
        double sign = sign_of(c->geometry_a, c->geometry_b, on, by);
        if (sign != 0.0) {
            stn_contact_report report, *r = &report;
            stn_observation_contact(o, i, r);
            stn_vec3 arm = stn_vec3_sub(c->point, point), force = stn_vec3_add(r->normal_part, r->friction_part);
            out->normal_part = stn_vec3_mul_add(out->normal_part, sign, r->normal_part);
            out->friction_part = stn_vec3_mul_add(out->friction_part, sign, r->friction_part);
            out->torque = stn_vec3_mul_add(out->torque, sign, stn_vec3_cross(arm, force));
            if (r->state != STN_CONTACT_OPEN) {
                out->sticking += r->state == STN_CONTACT_STICK;
                out->slipping += r->state == STN_CONTACT_SLIP;
                out->slip_speed = fmax(out->slip_speed, r->slip_speed);
                out->glide_gap = fmax(out->glide_gap, r->glide_gap);
            }
        }
    }
}

// ----------------------------------------------------------------------------------------------------------- patches

/// Sums over the faces, about the point of the first one: far from the world's origin nothing is lost.
typedef struct face_sum {
    stn_patch_report *out;
    stn_vec3 origin;
    double force, area; // of all faces
    stn_vec3 force_moment, area_moment, force_normal, area_normal;
    stn_vec3 torque; // about `origin`
} face_sum;

/// `sign` -1: A and B are exchanged.
static void add_face(const stn_observation *o, int32_t i, double sign, face_sum *sum) {
    const stn_contact *c = &o->contacts->contacts[i];
    stn_patch_report *out = sum->out;
    stn_contact_report r;
    stn_observation_contact(o, i, &r);
    if (out->faces == 0) {
        sum->origin = c->point;
    }
    // what the field says
    out->field_force += fmax(c->pressure, 0.0) * c->area;
    for (int32_t k = 0; k < c->vertex_count; k++) {
        out->field_max_pressure = fmax(out->field_max_pressure, o->contacts->vertex_pressure[c->vertex_start + k]);
    }
    if (c->phi0 < 0.0 && isfinite(c->material.stiffness)) {
        out->elastic_J += 0.5 * c->material.stiffness * c->phi0 * c->phi0;
    }
    // what acts
    double force = stn_vec3_norm(r.normal_part);
    stn_vec3 whole = stn_vec3_add(r.normal_part, r.friction_part), arm = stn_vec3_sub(c->point, sum->origin);
    out->normal_part = stn_vec3_mul_add(out->normal_part, sign, r.normal_part);
    out->friction_part = stn_vec3_mul_add(out->friction_part, sign, r.friction_part);
    sum->torque = stn_vec3_mul_add(sum->torque, sign, stn_vec3_cross(arm, whole));
    sum->force += force;
    sum->area += c->area;
    sum->force_moment = stn_vec3_mul_add(sum->force_moment, force, arm);
    sum->area_moment = stn_vec3_mul_add(sum->area_moment, c->area, arm);
    sum->force_normal = stn_vec3_mul_add(sum->force_normal, sign * force, c->normal);
    sum->area_normal = stn_vec3_mul_add(sum->area_normal, sign * c->area, c->normal);
    out->faces++;
    if (r.state == STN_CONTACT_OPEN) {
        return;
    }
    out->sticking += r.state == STN_CONTACT_STICK;
    out->slipping += r.state == STN_CONTACT_SLIP;
    out->area += c->area;
    out->max_pressure = fmax(out->max_pressure, c->area > 0.0 ? force / c->area : 0.0);
    out->slip_speed = fmax(out->slip_speed, r.slip_speed);
    out->glide_gap = fmax(out->glide_gap, r.glide_gap);
}

static void finish(const face_sum *sum) {
    stn_patch_report *out = sum->out;
    bool pressed = sum->force > 0.0;
    double weight = pressed ? sum->force : sum->area;
    stn_vec3 moment = pressed ? sum->force_moment : sum->area_moment;
    stn_vec3 normal = pressed ? sum->force_normal : sum->area_normal;
    stn_vec3 arm = weight > 0.0 ? stn_vec3_scale(1.0 / weight, moment) : stn_vec3_zero();
    double length = stn_vec3_norm(normal);
    out->center = stn_vec3_add(sum->origin, arm);
    out->normal = length > 0.0 ? stn_vec3_scale(1.0 / length, normal) : stn_vec3_zero();
    out->torque = stn_vec3_sub(sum->torque, stn_vec3_cross(arm, stn_vec3_add(out->normal_part, out->friction_part)));
    out->mean_pressure = out->area > 0.0 ? sum->force / out->area : 0.0;
}

void stn_observation_patch(const stn_observation *o, int32_t patch, stn_patch_report *out) {
    face_sum sum = {.out = out};
    *out = (stn_patch_report){0};
    if (o->problem == NULL || o->contacts == NULL || patch < 0 || patch >= o->contacts->patch_count) {
        return;
    }
    const stn_patch *p = &o->contacts->patches[patch];
    for (int32_t i = 0; i < p->contact_count; i++) {
        add_face(o, p->contact_start + i, 1.0, &sum);
    }
    finish(&sum);
}

bool stn_observation_patch_between(const stn_observation *o, const stn_contact_side *a, const stn_contact_side *b,
                                   stn_patch_report *out) {
    face_sum sum = {.out = out};
    *out = (stn_patch_report){0};
    int32_t count = o->problem != NULL && o->contacts != NULL ? o->contacts->patch_count : 0;
    for (int32_t k = 0; k < count; k++) {
        const stn_patch *p = &o->contacts->patches[k];
        double sign = sign_of(p->geometry_a, p->geometry_b, b, a);
        for (int32_t i = 0; i < p->contact_count && sign != 0.0; i++) {
            add_face(o, p->contact_start + i, sign, &sum);
        }
    }
    finish(&sum);
    return out->faces > 0;
}

// ------------------------------------------------------------------------------------------------- how hard it was

stn_status stn_world_condition_number(stn_world *world, double *out, stn_error *err) {
    stn_law law = stn_setup_law(world->setup);
    *out = (double)NAN;
    if (world->observation.problem == NULL || law.ops == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "condition number: needs a step made, with a contact law");
    }
    stn_arena *scratch = stn_arena_create(world->services.context);
    if (scratch == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "condition number: out of memory");
    }
    stn_status status = stn_condition_number(&world->frame.problem, world->frame.solution.v, &law,
                                             world->frame.law_memory, scratch, out, err);
    stn_arena_destroy(scratch);
    return status;
}
