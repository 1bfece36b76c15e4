// SPDX-License-Identifier: Apache-2.0
// What patches did in a step: the wrench of their faces about the center of pressure, areas, pressures. Computed when
// somebody asks, from what stn_observation_contact says of each face:
//
//     f_i = normal force,   center = sum f_i x_i / sum f_i,   torque = sum (x_i - center) x F_i,   p_i = f_i / A_i
#include <math.h>

#include "world/world.h"

/// Sums over the faces, about the point of the first one: far from the world's origin nothing is lost.
typedef struct face_sum {
    stn_vec3 origin;
    double force, area; // of all faces
    stn_vec3 force_moment, area_moment, force_normal, area_normal;
    stn_vec3 torque; // about `origin`
} face_sum;

static void add_field(const stn_contact_set *set, const stn_contact *c, stn_patch_report *out) {
    out->field_force += fmax(c->pressure, 0.0) * c->area;
    for (int32_t i = 0; i < c->vertex_count; i++) {
        out->field_max_pressure = fmax(out->field_max_pressure, set->vertex_pressure[c->vertex_start + i]);
    }
    if (c->phi0 < 0.0 && isfinite(c->material.stiffness)) {
        out->elastic_J += 0.5 * c->material.stiffness * c->phi0 * c->phi0;
    }
}

/// What acts; `sign` -1: A and B are exchanged.
static void add_forces(const stn_contact *c, const stn_contact_report *r, double sign, face_sum *sum,
                       stn_patch_report *out) {
    double force = stn_vec3_norm(r->normal_part);
    stn_vec3 whole = stn_vec3_add(r->normal_part, r->friction_part), arm = stn_vec3_sub(c->point, sum->origin);
    out->normal_part = stn_vec3_mul_add(out->normal_part, sign, r->normal_part);
    out->friction_part = stn_vec3_mul_add(out->friction_part, sign, r->friction_part);
    sum->torque = stn_vec3_mul_add(sum->torque, sign, stn_vec3_cross(arm, whole));
    sum->force += force;
    sum->area += c->area;
    sum->force_moment = stn_vec3_mul_add(sum->force_moment, force, arm);
    sum->area_moment = stn_vec3_mul_add(sum->area_moment, c->area, arm);
    sum->force_normal = stn_vec3_mul_add(sum->force_normal, sign * force, c->normal);
    sum->area_normal = stn_vec3_mul_add(sum->area_normal, sign * c->area, c->normal);
    out->faces++;
    if (r->state == STN_CONTACT_OPEN) {
        return;
    }
    out->sticking += r->state == STN_CONTACT_STICK;
    out->slipping += r->state == STN_CONTACT_SLIP;
    out->area += c->area;
    out->max_pressure = fmax(out->max_pressure, c->area > 0.0 ? force / c->area : 0.0);
    out->slip_speed = fmax(out->slip_speed, r->slip_speed);
    out->glide_gap = fmax(out->glide_gap, r->glide_gap);
}

static void add_face(const stn_observation *o, int32_t i, double sign, face_sum *sum, stn_patch_report *out) {
    const stn_contact *c = &o->contacts->contacts[i];
    stn_contact_report r;
    stn_observation_contact(o, i, &r);
    if (out->faces == 0) {
        sum->origin = c->point;
    }
    add_field(o->contacts, c, out);
    add_forces(c, &r, sign, sum, out);
}

static void finish(const face_sum *sum, stn_patch_report *out) {
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
    face_sum sum = {.force = 0.0};
    *out = (stn_patch_report){0};
    if (o->problem == NULL || o->contacts == NULL || patch < 0 || patch >= o->contacts->patch_count) {
        return;
    }
    const stn_patch *p = &o->contacts->patches[patch];
    for (int32_t i = 0; i < p->contact_count; i++) {
        add_face(o, p->contact_start + i, 1.0, &sum, out);
    }
    finish(&sum, out);
}

bool stn_observation_patch_between(const stn_observation *o, const stn_contact_side *a, const stn_contact_side *b,
                                   stn_patch_report *out) {
    face_sum sum = {.force = 0.0};
    *out = (stn_patch_report){0};
    int32_t count = o->problem != NULL && o->contacts != NULL ? o->contacts->patch_count : 0;
    for (int32_t k = 0; k < count; k++) {
        const stn_patch *p = &o->contacts->patches[k];
        double sign = stn_contact_sign(p->geometry_a, p->geometry_b, b, a);
        for (int32_t i = 0; i < p->contact_count && sign != 0.0; i++) {
            add_face(o, p->contact_start + i, sign, &sum, out);
        }
    }
    finish(&sum, out);
    return out->faces > 0;
}
