// SPDX-License-Identifier: Apache-2.0
// Joints that press with a limited force, carry their own weight beside it, and take the joints that mimic them along.
#ifndef STICTION_CONTROLLER_COMMON_PRESS_H
#define STICTION_CONTROLLER_COMMON_PRESS_H

#include "common/joints.h"

/// What one joint of the target is to do.
typedef struct press_law {
    double kp, kd;             // > 0
    double position, velocity; // references
    double effort;             // >= 0: with which it presses, besides what carries the weight [N m] or [N]
    double weight;             // what carries it
} press_law;

/// How fast a joint turns or slides for each unit of joint `driver`: 1 for the driver, its multiplier for a joint that
/// mimics it, 0 for others.
double press_ratio(const stn_model *model, int32_t driver, int32_t joint);
/// How far off its position a servo of that gain pulls with one and a half times the effort.
static inline double press_lead(double effort, double kp) {
    return 1.5 * effort / kp;
}

/// A joint that a joint of the target moves: itself, or one that mimics it.
typedef struct press_joint {
    int32_t driver; // index in the target
    int32_t joint;  // of the model
    double ratio;   // press_ratio
} press_joint;

/// Refuses a reference of a channel of one number, all before it being of one number too, that is negative.
stn_status press_check(const stn_channel *channels, const double *reference, int32_t channel, stn_error *err);
/// All of them, by joint; `out` holds the model's joint_count. Returns how many. [setup]
int32_t press_joints(const stn_control_target *target, press_joint *out);
/// Efforts on the target's dofs, one a joint, that hold all `joints` against gravity, (dof_count), from the arena.
stn_status press_weights(const stn_control_view *view, const press_joint *joints, int32_t count, double **weight,
                         stn_error *err);
/// A servo row on dof `index` of the target. The effort is cut to what the joint's limit leaves beside the weight, the
/// reference to press_lead: what is let go moves no faster than 1.5 effort/kd.
stn_status press_add(const stn_control_view *view, int32_t index, const press_law *law, stn_forces *forces,
                     stn_error *err);

#endif
