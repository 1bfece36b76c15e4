// SPDX-License-Identifier: Apache-2.0
// Joints of a target by coordinate: those without a quaternion have one for each velocity.
#ifndef STICTION_CONTROLLER_COMMON_JOINTS_H
#define STICTION_CONTROLLER_COMMON_JOINTS_H

#include <stiction/plugin.h>

/// The coordinate whose rate velocity `dof` of the model is.
static inline int32_t joint_coordinate(const stn_model *model, int32_t dof) {
    const stn_joint *joint = &model->joints[model->dof_joint[dof]];
    return joint->q_start + dof - joint->v_start;
}

/// Refuses ball and floating joints: controller `id` follows no quaternions.
stn_status joints_check_types(const stn_control_target *target, const char *id, stn_error *err);
/// Refuses joints whose effort limit is zero: they have no motor.
stn_status joints_check_motors(const stn_control_target *target, stn_error *err);
/// The target's coordinates, (dof_count).
void joints_positions(const stn_control_target *target, const double *q, double *position);

#endif
