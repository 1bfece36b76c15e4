// SPDX-License-Identifier: Apache-2.0
// Random vectors and poses for property tests.
#ifndef STN_RANDOM_POSE_H
#define STN_RANDOM_POSE_H

#include <stiction/math.h>

#include "stn_random.h"

/// Uniform in [low, high).
static inline double random_between(stn_random *r, double low, double high) {
    return low + (high - low) * 0.5 * (random_real(r) + 1.0);
}
/// Uniform in its logarithm.
static inline double random_size(stn_random *r, double low, double high) {
    return exp(random_between(r, log(low), log(high)));
}
static inline stn_vec3 random_vec3(stn_random *r, double half) {
    double x = random_between(r, -half, half), y = random_between(r, -half, half);
    return stn_vec3_make(x, y, random_between(r, -half, half));
}
/// Uniform on the unit sphere.
static inline stn_vec3 random_unit(stn_random *r) {
    double z = random_between(r, -1.0, 1.0), angle = random_between(r, -STN_PI, STN_PI), s = sqrt(1.0 - z * z);
    return stn_vec3_make(s * cos(angle), s * sin(angle), z);
}
/// Uniform over all rotations (Shoemake).
static inline stn_quat random_rotation(stn_random *r) {
    double u = random_between(r, 0.0, 1.0), a = random_between(r, -STN_PI, STN_PI),
           b = random_between(r, -STN_PI, STN_PI);
    stn_quat q = {sqrt(u) * cos(b), sqrt(1.0 - u) * sin(a), sqrt(1.0 - u) * cos(a), sqrt(u) * sin(b)};
    return stn_quat_normalize(q);
}
static inline stn_pose random_pose(stn_random *r, double half) {
    stn_quat q = random_rotation(r);
    return stn_pose_make(q, random_vec3(r, half));
}

#endif
