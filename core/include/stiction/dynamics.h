// SPDX-License-Identifier: Apache-2.0
// Kinematics and dynamics of trees, callable at any (q, v): what integrators, controllers and contact assembly need.
#ifndef STICTION_DYNAMICS_H
#define STICTION_DYNAMICS_H

#include <stiction/matrix.h>
#include <stiction/model.h>

STN_BEGIN_C

/// Everything that follows from (q, v) alone, in world axes. Spatial quantities of a tree are taken at the tree's
/// reference point, which is the origin of its first body at q and is at rest in the world (the root joint's
/// v = (linear, angular) is then the spatial velocity itself, and no accuracy is lost far from the world's origin).
typedef struct stn_kinematics {
    const stn_model *model;     // that it is sized for
    const double *q, *v;        // borrowed from the caller of update
    stn_pose *body_pose;        // (body_count) X_WB; [0] is the identity
    stn_vec3 *reference;        // (tree_count)
    stn_spatial *body_velocity; // (body_count) at the tree's reference point
    stn_spatial *motion;        // (nv) columns of the motion subspace S at the reference point
    stn_spatial *bias;          // (body_count) S-dot v summed down to the body: its acceleration for qdd = 0
    const stn_vec3 *node;       // (node_count) positions; a view of q where all nodes are points
    const stn_pose *node_pose;  // (node_count) X_WN, points along the world's axes; NULL where all nodes are points
} stn_kinematics;

/// Sized for a model, which must outlive it; empty until the first update. STN_ERR_MEMORY is the only failure. [setup]
STN_API stn_status stn_kinematics_create(const stn_model *model, stn_kinematics **out, stn_error *err);
STN_API void stn_kinematics_destroy(stn_kinematics *kinematics); ///< accepts NULL
/// Fills everything from q (nq) and v (nv), both borrowed until the next update. Quaternions count as normalised.
/// Thread: [any] on distinct objects; the functions below on distinct trees of one object.
STN_API void stn_kinematics_update(stn_kinematics *kinematics, const double *q, const double *v);
/// Inertia of a node that is a frame, about its centre of mass, world axes: R diag(I) R^T [kg m^2]. Thread: [any].
static inline stn_mat3 stn_node_inertia(const stn_kinematics *kinematics, int32_t node) {
    const double *I = kinematics->model->node_inertia + 3 * (size_t)node;
    const stn_mat3 own = {{{I[0], 0.0, 0.0}, {0.0, I[1], 0.0}, {0.0, 0.0, I[2]}}};
    return stn_mat3_rotate_tensor(&kinematics->node_pose[node].rotation, &own);
}

/// Velocity of the point of `body` that is at `point` (world) now [m/s].
STN_API stn_vec3 stn_point_velocity(const stn_kinematics *kinematics, int32_t body, stn_vec3 point);

/// J (3 x n_t, row-major) of the point of `body` at `point` (world), in the axes that are the columns of `axes`
/// (rows of J: axes^T J_world), added with factor `sign`: J += sign axes^T J_point. n_t is the dof of the body's tree;
/// nothing is done for the world. J must be initialised.
STN_API void stn_point_jacobian_add(const stn_kinematics *kinematics, int32_t body, stn_vec3 point,
                                    const stn_mat3 *axes, double sign, double *J);
/// Angular rows, the same way: J += sign axes^T J_angular (3 x n_t).
STN_API void stn_angular_jacobian_add(const stn_kinematics *kinematics, int32_t body, const stn_mat3 *axes, double sign,
                                      double *J);

/// Joint-space mass matrix of a tree, reflected rotor inertia included (CRBA). `M` has the tree's n; articulated:
/// dense, or of the articulated form, whose `bodies` hold the motion at the same positions; nodal: diagonal (points) or
/// nodal. Of a frame m 1 and R diag(I) R^T, world axes.
STN_API void stn_mass_matrix(const stn_kinematics *kinematics, int32_t tree, stn_matrix *M);

/// Inverse dynamics of a tree (RNEA): tau = M(q) a + C(q, v) v - gravity terms, rotor inertia included; joint damping,
/// friction and springs not. `acceleration` (n_t) may be NULL for zero. `scratch` holds body_count spatials of the tree
/// (may be NULL for nodal trees).
STN_API void stn_inverse_dynamics(const stn_kinematics *kinematics, int32_t tree, stn_vec3 gravity,
                                  const double *acceleration, stn_spatial *scratch, double *tau);

/// stn_inverse_dynamics with C(v, w) in place of C(v, v): the Coriolis and centrifugal forces at given positions are a
/// quadratic form of the velocities, and C is its symmetric bilinear form; v are the velocities of the kinematics, w
/// (n_t) others. Kinematic bodies move as they do. `scratch` holds 3 (body_count + 1) spatials of the model (may be
/// NULL for nodal trees).
STN_API void stn_inverse_dynamics_polar(const stn_kinematics *kinematics, int32_t tree, stn_vec3 gravity,
                                        const double *w, const double *acceleration, stn_spatial *scratch, double *tau);

/// Generalised forces that hold a tree still against gravity (n_t): stn_inverse_dynamics at v = 0, a = 0.
/// Zero joint and body velocities are assumed, whatever v is. `scratch` as above.
STN_API void stn_gravity_efforts(const stn_kinematics *kinematics, int32_t tree, stn_vec3 gravity, stn_spatial *scratch,
                                 double *tau);

/// q_next = q moved by v for time s on every joint and node: exponential map for rotations (world axes), result
/// normalised. q_next may be q.
STN_API void stn_integrate_q(const stn_model *model, const double *q, const double *v, double s, double *q_next);
/// The v that moves q_a to q_b in unit time: the inverse of stn_integrate_q (rotations below pi).
STN_API void stn_difference_q(const stn_model *model, const double *q_a, const double *q_b, double *v);

STN_API double stn_kinetic_energy(const stn_kinematics *kinematics); ///< [J], rotors included
/// [J] of what moves, zero at the origin.
STN_API double stn_gravitational_energy(const stn_kinematics *kinematics, stn_vec3 gravity);
/// [J] stored in the springs of the joints, zero at rest: sum of stiffness (q - rest)^2 / 2.
STN_API double stn_spring_energy(const stn_kinematics *kinematics);
/// Linear [kg m/s] and angular [kg m^2/s] momentum about the world's origin, rotors not included.
STN_API stn_spatial stn_momentum(const stn_kinematics *kinematics);
STN_API double stn_total_mass(const stn_model *model); ///< [kg], links that are welded to the world included

STN_END_C
#endif
