// SPDX-License-Identifier: Apache-2.0
// Four friction cones at a time: projection and natural map of four neighbouring constraints of packed.h, one a lane.
// The results are those of stn_cone_project and stn_natural_map_cone, bit by bit.
#ifndef SOLVER_COMMON_CONE_LANES_H
#define SOLVER_COMMON_CONE_LANES_H

#include <math.h>

#include "common/packed.h"

typedef long long lane_mask __attribute__((vector_size(32), aligned(16), may_alias));

/// t1, t2, n of four cones.
typedef struct cone_lanes {
    packed_v4 t1, t2, n;
} cone_lanes;

/// a where the mask is set, b elsewhere.
STN_KERNEL_INLINE packed_v4 lanes_choose(lane_mask mask, packed_v4 a, packed_v4 b) {
    return (packed_v4)((mask & (lane_mask)a) | (~mask & (lane_mask)b));
}

STN_KERNEL_INLINE packed_v4 lanes_root(packed_v4 a) {
    packed_v4 root;
    for (int32_t k = 0; k < 4; k++) {
        root[k] = sqrt(a[k]);
    }
    return root;
}

STN_KERNEL_INLINE packed_v4 lanes_absolute(packed_v4 a) {
    const lane_mask digits = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    return (packed_v4)((lane_mask)a & digits);
}

/// The larger of each lane, NaN when either is.
STN_KERNEL_INLINE packed_v4 lanes_larger(packed_v4 a, packed_v4 b) {
    const lane_mask larger = (lane_mask)(a > b) | (lane_mask)(a != a);
    return lanes_choose(larger, a, b);
}

/// Of four constraints whose padded vectors begin at x.
STN_KERNEL_INLINE cone_lanes lanes_read(const double *x) {
    const packed_v4 a = *(const packed_v4 *)x, b = *(const packed_v4 *)(x + 4), c = *(const packed_v4 *)(x + 8),
                    d = *(const packed_v4 *)(x + 12);
    const packed_v4 ab = __builtin_shuffle(a, b, (lane_mask){0, 4, 2, 6}),
                    cd = __builtin_shuffle(c, d, (lane_mask){0, 4, 2, 6}),
                    AB = __builtin_shuffle(a, b, (lane_mask){1, 5, 3, 7}),
                    CD = __builtin_shuffle(c, d, (lane_mask){1, 5, 3, 7});
    return (cone_lanes){__builtin_shuffle(ab, cd, (lane_mask){0, 1, 4, 5}),
                        __builtin_shuffle(AB, CD, (lane_mask){0, 1, 4, 5}),
                        __builtin_shuffle(ab, cd, (lane_mask){2, 3, 6, 7})};
}

/// Back, with zeros at the end of each.
STN_KERNEL_INLINE void lanes_write(cone_lanes x, double *out) {
    const packed_v4 zero = {0.0};
    const packed_v4 ab = __builtin_shuffle(x.t1, x.t2, (lane_mask){0, 4, 2, 6}),
                    AB = __builtin_shuffle(x.t1, x.t2, (lane_mask){1, 5, 3, 7}),
                    cd = __builtin_shuffle(x.n, zero, (lane_mask){0, 4, 2, 6}),
                    CD = __builtin_shuffle(x.n, zero, (lane_mask){1, 5, 3, 7});
    *(packed_v4 *)out = __builtin_shuffle(ab, cd, (lane_mask){0, 1, 4, 5});
    *(packed_v4 *)(out + 4) = __builtin_shuffle(AB, CD, (lane_mask){0, 1, 4, 5});
    *(packed_v4 *)(out + 8) = __builtin_shuffle(ab, cd, (lane_mask){2, 3, 6, 7});
    *(packed_v4 *)(out + 12) = __builtin_shuffle(AB, CD, (lane_mask){2, 3, 6, 7});
}

/// stn_cone_project.
STN_KERNEL_INLINE cone_lanes lanes_project(packed_v4 mu, cone_lanes x) {
    const packed_v4 zero = {0.0};
    const packed_v4 t = lanes_root(x.t1 * x.t1 + x.t2 * x.t2);
    const lane_mask inside = (lane_mask)(x.n >= zero) & (lane_mask)(t <= mu * x.n);
    const lane_mask polar = (lane_mask)(mu * t <= -x.n);
    const packed_v4 n = (x.n + mu * t) / (1.0 + mu * mu);
    const packed_v4 s = lanes_choose((lane_mask)(t > zero), mu * n / t, zero);
    return (cone_lanes){lanes_choose(inside, x.t1, lanes_choose(polar, zero, x.t1 * s)),
                        lanes_choose(inside, x.t2, lanes_choose(polar, zero, x.t2 * s)),
                        lanes_choose(inside, x.n, lanes_choose(polar, zero, n))};
}

/// stn_natural_map_cone; `shifted` takes the place of g.n.
STN_KERNEL_INLINE packed_v4 lanes_natural_map(packed_v4 mu, packed_v4 omega, packed_v4 shifted, cone_lanes gamma,
                                              cone_lanes g) {
    const packed_v4 zero = {0.0};
    const cone_lanes impulse = {omega * gamma.t1, omega * gamma.t2, omega * gamma.n};
    const cone_lanes x = {impulse.t1 - g.t1, impulse.t2 - g.t2, impulse.n - shifted};
    const packed_v4 square = x.t1 * x.t1 + x.t2 * x.t2;
    const lane_mask inside = (lane_mask)(x.n >= zero) & (lane_mask)(square <= mu * mu * x.n * x.n);
    const lane_mask polar = (lane_mask)(x.n <= zero) & (lane_mask)(mu * mu * square <= x.n * x.n);
    const packed_v4 t = lanes_root(square), n = (x.n + mu * t) / (1.0 + mu * mu), s = mu * n / t;
    const cone_lanes d = {impulse.t1 - s * x.t1, impulse.t2 - s * x.t2, impulse.n - n};
    const packed_v4 within = g.t1 * g.t1 + g.t2 * g.t2 + shifted * shifted,
                    apart = impulse.t1 * impulse.t1 + impulse.t2 * impulse.t2 + impulse.n * impulse.n,
                    between = d.t1 * d.t1 + d.t2 * d.t2 + d.n * d.n;
    return lanes_choose(inside, within, lanes_choose(polar, apart, between));
}

#endif
