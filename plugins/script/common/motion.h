// SPDX-License-Identifier: Apache-2.0
// A motion given by samples: what stn_world_set_kinematic is told from, step by step.
#ifndef STICTION_PLUGINS_SCRIPT_MOTION_H
#define STICTION_PLUGINS_SCRIPT_MOTION_H

#include <stiction/math.h>

/// Poses at times, with Hermite curves between them: pose and velocity are continuous and go through the samples.
/// Before the first and after the last the body stands there, unless the motion is periodic. All arrays are borrowed.
typedef struct stn_motion {
    int32_t count;               // >= 1
    const double *time;          // (count) [s], rising
    const stn_pose *pose;        // (count) in the world; less than half a turn from one to the next
    const stn_spatial *velocity; // (count) of the frame's origin, world axes; NULL: those of a parabola through a
                                 // sample and its neighbours, zero beside one at the same place (of orientations: the
                                 // same), and rest at the ends of a motion that is not periodic
    bool periodic;               // time[count - 1] is time[0] again: the last pose must be the first
} stn_motion;

/// STN_ERR_ARGUMENT names the first sample that is wrong, counted from 1: times that do not rise, numbers that are not
/// finite, half a turn or more between two samples, ends of a periodic motion that are not one.
stn_status stn_motion_check(const stn_motion *motion, stn_error *err);

/// Pose and velocity (of the frame's origin, world axes) at a time. Thread: [any]. Source: Kim, Kim and Shin 1995 for
/// orientations.
void stn_motion_at(const stn_motion *motion, double time, stn_pose *pose, stn_spatial *velocity);

#endif
