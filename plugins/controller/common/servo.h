// SPDX-License-Identifier: Apache-2.0
// A joint that follows a reference by implicit gains, within its effort limit or without one.
#ifndef STICTION_CONTROLLER_COMMON_SERVO_H
#define STICTION_CONTROLLER_COMMON_SERVO_H

#include "common/joints.h"

/// u = clamp(-kp (q - position) - kd (v - velocity) + feedforward, -effort, effort),    q, v at the step's end
typedef struct servo_law {
    double kp, kd;             // >= 0
    double position, velocity; // references
    double feedforward;        // [N m] or [N]
    bool limited;              // to the joint's effort limit
} servo_law;

/// With a finite effort limit of the joint, where it counts, a servo row; without gains, or where the limit is zero (no
/// motor), the clamped feed-forward; else gains in K and D.
stn_status servo_add(const stn_control_view *view, int32_t dof, const servo_law *law, stn_forces *forces,
                     stn_error *err);
/// Efforts that hold the whole tree of every controlled joint still against gravity, (dof_count).
stn_status servo_gravity(const stn_control_view *view, double *hold, stn_error *err);
/// Efforts (n_t) that make up for a tree's weight and Coriolis forces, C v - g; in quasistatic steps, which know no C
/// v, -g.
stn_status servo_bias(const stn_control_view *view, int32_t tree, double *effort, stn_error *err);
/// Efforts (n_t) that a tree needs to move with the accelerations (n_t) over a step of the default integrator, whose
/// Coriolis forces are the bilinear form C(v0, v0 + dt acceleration) (STN_BIAS_POLAR); no damping, no springs. In
/// quasistatic steps -g alone.
stn_status servo_tree_dynamics(const stn_control_view *view, int32_t tree, const double *acceleration, double *effort,
                               stn_error *err);
/// Efforts that the trees of the controlled joints need to move with these accelerations, (dof_count) both: inertia,
/// Coriolis, centrifugal and gravitational ones, and against damping and springs of the joints, which act at the step's
/// end. Joints of others count as not accelerated.
stn_status servo_dynamics(const stn_control_view *view, const double *acceleration, double *effort, stn_error *err);

#endif
