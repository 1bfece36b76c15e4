// SPDX-License-Identifier: Apache-2.0
#include "common/joints.h"

stn_status joints_check_types(const stn_control_target *target, const char *id, stn_error *err) {
    for (int32_t i = 0; i < target->joint_count; i++) {
        const stn_joint *joint = &target->model->joints[target->joint[i]];
        if (joint->nq != joint->nv) {
            return stn_fail(err, STN_ERR_UNSUPPORTED,
                            "joint %s is %s: its attitude is a quaternion, which %s does not "
                            "follow; name the other joints with joints = {...}",
                            joint->name, stn_joint_type_name(joint->type), id);
        }
    }
    return STN_OK;
}

stn_status joints_check_motors(const stn_control_target *target, stn_error *err) {
    for (int32_t i = 0; i < target->joint_count; i++) {
        const stn_joint *joint = &target->model->joints[target->joint[i]];
        if (joint->effort == 0.0) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "joint %s has an effort limit of 0, no motor: name the other joints with joints = {...}, "
                            "or set effort_limits = false",
                            joint->name);
        }
    }
    return STN_OK;
}

void joints_positions(const stn_control_target *target, const double *q, double *position) {
    for (int32_t i = 0; i < target->dof_count; i++) {
        position[i] = q[joint_coordinate(target->model, target->dof[i])];
    }
}
