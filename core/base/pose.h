// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_POSE_H
#define STICTION_CORE_BASE_POSE_H

#include <stiction/math.h>

static inline bool pose_finite(const stn_pose *pose) {
    bool finite = stn_vec3_finite(pose->position);
    for (int32_t i = 0; i < 9; i++) {
        finite = finite && isfinite(pose->rotation.m[i / 3][i % 3]);
    }
    return finite;
}

#endif
