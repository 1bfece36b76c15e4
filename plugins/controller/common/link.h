// SPDX-License-Identifier: Apache-2.0
// The link that a controller in task space leads.
#ifndef STICTION_CONTROLLER_COMMON_LINK_H
#define STICTION_CONTROLLER_COMMON_LINK_H

#include "common/joints.h"

/// The link named `frame` of the target's robot; NULL or "": that of the last joint. All joints of the target must be
/// of its tree. STN_ERR_ARGUMENT otherwise.
stn_status link_find(const stn_control_target *target, const char *frame, int32_t *link, int32_t *tree, stn_error *err);
/// X_WL.
stn_pose link_pose(const stn_kinematics *kinematics, int32_t link);
/// Its place and rotation vector at coordinates q; where these cannot be told for want of memory, zeros. [setup]
void link_place(const stn_control_target *target, int32_t link, const double *q, stn_vec3 *position,
                stn_vec3 *rotation);

#endif
