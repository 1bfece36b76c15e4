// SPDX-License-Identifier: Apache-2.0
// The affine force model of a step, sampled once at (q0, v0):
//     tau(q, v) = tau - K (q - q0) - D (v - v0)       (q - q0 in velocity coordinates)
// and the servos, which become constraint rows because their effort is limited.
#ifndef STICTION_FORCES_H
#define STICTION_FORCES_H

#include <stiction/dynamics.h>

STN_BEGIN_C

/// u = clamp(-kp (q - q_ref) - kd (v - v_ref) + u_ff, -effort, effort) on one dof, q = q0 + dt v.
typedef struct stn_servo {
    int32_t dof;        // of the model, of an articulated tree
    double kp, kd;      // [N m/rad], [N m s/rad] or [N/m], [N s/m]
    double error;       // q0 - q_ref [rad] or [m]
    double velocity;    // v_ref
    double feedforward; // u_ff [N m] or [N]
    double effort;      // > 0, finite
} stn_servo;

/// The sum of all inputs, and the servos. Made and owned by the step; controllers and elements add to it by the
/// functions below.
typedef struct stn_forces {
    const stn_model *model;   // borrowed
    double *tau;              // (nv): everything but gravity, Coriolis and inertia forces [N m] or [N]
    stn_matrix *K;            // (tree_count) symmetric >= 0; articulated: zero, diagonal or dense; nodal: zero or nodal
    stn_matrix *D;            // the same
    int32_t servo_count;      // <= nv
    const stn_servo *servos;  // (servo_count), by dof
    stn_servo *servo_storage; // capacity nv
    // where a promoted matrix finds its values: sum of n_t^2 over the articulated trees, in their order
    double *K_storage, *D_storage;
} stn_forces;

/// tau[dof] += effort; here and below dof is one of the model's, as in the target's list. NaN is kept and caught by the
/// step, which names the dof.
STN_API void stn_forces_add_effort(stn_forces *forces, int32_t dof, double effort);
/// A spring-damper on one dof of an articulated tree, without effort limit: tau += tau0, which is
/// -kp error - kd (v0 - velocity) + feedforward, K += kp, D += kd.
STN_API void stn_forces_add_gain(stn_forces *forces, int32_t dof, double kp, double kd, double tau0);
/// With an effort limit: a servo row. Several on one dof act as one: gains and feed-forwards add up, references are the
/// means that the gains weight, and limits add up to at most the joint's own, since there is one motor. `servos` is
/// kept sorted by dof. STN_ERR_ARGUMENT and STN_ERR_NUMERIC name the joint.
STN_API stn_status stn_forces_add_servo(stn_forces *forces, const stn_servo *servo, stn_error *err);
/// Stiffness and damping that couple all dofs of an articulated tree: K += K_t, D += D_t, each n_t x n_t, row-major,
/// symmetric, >= 0; NULL: none. tau0 (n_t) as in stn_forces_add_gain; NULL: none.
STN_API void stn_forces_add_matrix(stn_forces *forces, int32_t tree, const double *K_t, const double *D_t,
                                   const double *tau0);
/// Wrench (torque about `point`, force) on a body, world axes.
STN_API void stn_forces_add_wrench(stn_forces *forces, const stn_kinematics *kinematics, int32_t body, stn_vec3 point,
                                   stn_spatial wrench);

STN_END_C
#endif
