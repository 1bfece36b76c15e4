// SPDX-License-Identifier: Apache-2.0
// What a kinematics object holds beyond its public face: frames and inertias in the layout of the kernels, which keep a
// vector of space in the first three of four doubles; what the fourth holds does not matter unless stated.
#ifndef STICTION_CORE_DYNAMICS_KINEMATICS_H
#define STICTION_CORE_DYNAMICS_KINEMATICS_H

#include <stiction/dynamics.h>

#include "base/kernels.h"
#include "model/compiled.h"

/// Spatial inertia about a point, world axes: I = [I_o, h x; -h x, m 1] on (angular, linear).
typedef struct inertia {
    double turning[3][4]; // columns of I_o
    double moment[4];     // h = mass times centre of mass, then the mass
} inertia;

/// X_WB: columns of the rotation, then the position. Velocity and bias are those of the public face.
typedef struct body_frame {
    double column[3][4];
    double position[4];
    double velocity[2][4], bias[2][4]; // angular, linear
} body_frame;

/// What does not depend on the coordinates, of a body.
typedef struct body_constants {
    double com[4];      // in body axes, then the mass
    double inertia[6];  // xx, yy, zz, xy, xz, yz about the centre of mass, body axes
    bool axial;         // one column of S that is constant in the parent
    bool turns, slides; // its angular and linear part
    int32_t turn;       // place of its angle
} body_constants;

/// The joint frame of a body whose joint is axial: with (c, s) = (cos q, sin q),
///     X_PB = [R_PJ R(q), p + q d] = constant + (c, c, c, q) cosine + (s, s, s, 0) sine,   entry by entry, row by row
typedef struct axial_constants {
    double constant[3][4]; // rotation that does not depend on q, then p
    double cosine[3][4];   // what cos q multiplies, then d
    double sine[3][4];     // what sin q multiplies, then the axis of rotation in the parent's axes (or 0)
} axial_constants;

/// Rows of a tree's mass matrix that are worked on together: dofs [row, row + count) of the tree move all dofs between
/// them and `end`, and none from `end` on. A dof moves those behind it up to the last that it carries, because bodies
/// are numbered depth first.
typedef struct mass_block {
    int32_t row, count, end;
} mass_block;
enum { MASS_BLOCK = 4 };

struct dynamics_kernels;

typedef struct kinematics_object {
    stn_kinematics face; // first: a stn_kinematics is the address of its object
    stn_arena *memory;   // holds all arrays, the public ones too, and this; not those that another object lends
    bool begun;          // before the first update only what that one writes once is not there yet
    const struct dynamics_kernels *kernels;
    const angle_kernels *angles;
    const body_plan *plan;           // of the model
    const body_constants *constants; // (body_count)
    const axial_constants *axial;    // (body_count) set for axial ones
    const double *rotor;             // (nv) inertia that a motor adds to the dof
    body_frame *frame;               // (body_count)
    int32_t turn_count;              // axial joints that turn
    const int32_t *turn_q;           // (turn_count) their coordinates
    double *angle, *cosine, *sine;   // (turn_count + 1, up to the next multiple of 4) by place
    inertia *inertia;                // (body_count) at the tree's reference point
    stn_vec3 *node;                  // (node_count) copied from q; NULL where all nodes are points
    stn_pose *node_pose;
    const mass_block *blocks;   // of all articulated trees
    const int32_t *block_start; // (tree_count + 1)
    // work of the mass matrix, not of trees that are a body alone
    inertia *composite; // (body_count) a body with all that it carries
    double *force_rows; // I^c S by rows, 6 x (n_t + MASS_BLOCK) per tree
} kinematics_object;

/// Another object for the model of `lender`, which lends it what never changes and must outlive it. Until its first
/// update it touches none of the rest. STN_ERR_MEMORY is the only failure. [setup]
stn_status stn_kinematics_create_beside(const stn_kinematics *lender, stn_kinematics **out, stn_error *err);

/// The model's masses have changed: takes them, for this object and those that it lends to. The next update has them.
void kinematics_take_masses(stn_kinematics *kinematics);

static inline const kinematics_object *kinematics_object_of(const stn_kinematics *kinematics) {
    return (const kinematics_object *)(const void *)kinematics;
}

/// Where the force rows of a tree begin, and their distance; whole vectors are read, a few entries past their end.
static inline double *force_rows_of(const kinematics_object *k, int32_t tree, size_t *stride) {
    const stn_tree *t = &k->face.model->trees[tree];
    *stride = (size_t)t->nv + MASS_BLOCK;
    return k->force_rows + 6 * ((size_t)t->v_start + (size_t)tree * MASS_BLOCK);
}

/// S (n x 8) of a tree, as stn_articulated has it.
void stn_tree_motion(const stn_kinematics *kinematics, int32_t tree, double *motion);

static inline stn_vec3 inertia_moment(const inertia *i) { // h
    return stn_vec3_make(i->moment[0], i->moment[1], i->moment[2]);
}

static inline double inertia_mass(const inertia *i) {
    return i->moment[3];
}

static inline stn_vec3 inertia_turn(const inertia *i, stn_vec3 w) { // I_o w
    const double(*I)[4] = i->turning;
    return stn_vec3_make(I[0][0] * w.x + I[1][0] * w.y + I[2][0] * w.z, I[0][1] * w.x + I[1][1] * w.y + I[2][1] * w.z,
                         I[0][2] * w.x + I[1][2] * w.y + I[2][2] * w.z);
}

/// Momentum of a velocity, or force of an acceleration.
static inline stn_spatial inertia_apply(const inertia *i, const stn_spatial *v) {
    stn_vec3 h = inertia_moment(i);
    stn_spatial r;
    r.angular = stn_vec3_add(inertia_turn(i, v->angular), stn_vec3_cross(h, v->linear));
    r.linear = stn_vec3_sub(stn_vec3_scale(inertia_mass(i), v->linear), stn_vec3_cross(h, v->angular));
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
