// SPDX-License-Identifier: Apache-2.0
// What a kinematics object holds beyond its public face: body inertias at the reference points, world axes.
#ifndef STICTION_DYNAMICS_KINEMATICS_H
#define STICTION_DYNAMICS_KINEMATICS_H

#include <stiction/dynamics.h>

#include "model/compiled.h"

/// Spatial inertia about a point: I = [I_o, h x; -h x, m 1] on (angular, linear); h = mass times centre of mass.
typedef struct inertia {
    double mass;
    stn_vec3 h;
    double xx, yy, zz, xy, xz, yz; // about the point
} inertia;

typedef struct kinematics_object {
    stn_kinematics face;   // first: a stn_kinematics is the address of its object
    inertia *inertia;      // (body_count) at the tree's reference point
    inertia *composite;    // (body_count) work of the mass matrix: a body with all that it carries
    const body_plan *plan; // of the model
} kinematics_object;

static inline const kinematics_object *kinematics_object_of(const stn_kinematics *kinematics) {
    return (const kinematics_object *)(const void *)kinematics;
}

static inline stn_vec3 inertia_turn(const inertia *i, stn_vec3 w) { // I_o w
    return stn_vec3_make(i->xx * w.x + i->xy * w.y + i->xz * w.z, i->xy * w.x + i->yy * w.y + i->yz * w.z,
                         i->xz * w.x + i->yz * w.y + i->zz * w.z);
}

/// Momentum of a velocity, or force of an acceleration.
static inline stn_spatial inertia_apply(const inertia *i, const stn_spatial *v) {
    stn_spatial r;
    r.angular = stn_vec3_add(inertia_turn(i, v->angular), stn_vec3_cross(i->h, v->linear));
    r.linear = stn_vec3_sub(stn_vec3_scale(i->mass, v->linear), stn_vec3_cross(i->h, v->angular));
    return r;
}

static inline double spatial_dot(const stn_spatial *a, const stn_spatial *b) {
    return stn_vec3_dot(a->angular, b->angular) + stn_vec3_dot(a->linear, b->linear);
}

static inline void spatial_add_to(stn_spatial *sum, double s, const stn_spatial *a) {
    sum->angular = stn_vec3_mul_add(sum->angular, s, a->angular);
    sum->linear = stn_vec3_mul_add(sum->linear, s, a->linear);
}

#endif
