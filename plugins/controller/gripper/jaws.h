// SPDX-License-Identifier: Apache-2.0
// Two jaws that slide along one line, and how far apart their shapes are.
#ifndef STICTION_GRIPPER_JAWS_H
#define STICTION_GRIPPER_JAWS_H

#include "common/press.h"

/// Jaw 0 lies lower along the line than jaw 1. Its inner face is at face + slope q of its joint.
typedef struct jaws {
    int32_t joint[2];         // of the model
    double face[2], slope[2]; // [m]; +1 or -1
    double closed, open;      // widths that the joints' limits allow [m]
    double middle;            // where the faces meet when both jaws go alike [m]
    int32_t driver_count;     // 2: each has a motor; 1: one mimics the other
    press_joint moved[2];     // both, by joint
} jaws;

/// Finds them among the target's joints and those that mimic these. STN_ERR_ARGUMENT says what is none.
stn_status jaws_find(const stn_control_target *target, jaws *out, stn_error *err);
/// Opening at coordinates q of the model [m].
double jaws_width(const jaws *pair, const stn_model *model, const double *q);
/// Where the joint of target dof `index` must be for a width, and `*ratio`, how fast it moves as the width grows.
double jaws_position(const jaws *pair, const stn_control_target *target, int32_t index, double width, double *ratio);

#endif
