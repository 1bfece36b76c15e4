// SPDX-License-Identifier: Apache-2.0
// The tips of a hand's fingers, and how far from the joints they are.
#ifndef STICTION_HAND_TIPS_H
#define STICTION_HAND_TIPS_H

#include "common/press.h"

/// The end of the finger that a joint moves: the outer end of the last link beyond it. Returns the body, and the point
/// in its frame; of several ends the first.
int32_t tip_find(const stn_model *model, int32_t joint, stn_vec3 *point);
/// How fast that point moves when dof `dof` of its tree moves at 1: the lever arm [m] of a hinge, 1 of a slide.
double tip_lever(const stn_kinematics *kinematics, int32_t dof, int32_t body, stn_vec3 point);

#endif
