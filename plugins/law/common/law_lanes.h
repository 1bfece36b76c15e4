// SPDX-License-Identifier: Apache-2.0
// How the loop over contacts becomes vector code.
#ifndef STICTION_LAW_COMMON_LAW_LANES_H
#define STICTION_LAW_COMMON_LAW_LANES_H

#include <stiction/plugin.h>

// One pass over structure-of-arrays data is compiled for AVX2 as well and chosen at load. No fused operations in
// either, so results do not depend on the choice. clang 14 calls a name that its clones do not have.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define LANE_KERNEL __attribute__((target_clones("default", "avx2")))
#else
#define LANE_KERNEL
#endif

// lanes do not depend on each other, and outputs never share an array with inputs
#ifdef __clang__
#define LANE_LOOP
#else
#define LANE_LOOP _Pragma("GCC ivdep")
#endif

#define LANE_INLINE static inline __attribute__((always_inline))

/// One contact of a law whose parameters are all in its coefficients; entry k of an array at [k stride], G may be NULL.
typedef void law_lane(const double *c, size_t stride, const double *v_c, double *cost, double *gamma, double *G);

/// The evaluate of such a law. `lane` is a constant where it is called, so that it becomes part of the loop.
LANE_INLINE void lanes_evaluate(const stn_law_batch *batch, const double *v_c, double *cost, double *gamma, double *G,
                                law_lane *lane) {
    const size_t stride = (size_t)batch->stride;
    const double *c = batch->coefficients;
    if (G == NULL) {
        LANE_LOOP
        for (size_t i = 0; i < stride; i++) {
            lane(c + i, stride, v_c + i, cost + i, gamma + i, NULL);
        }
        return;
    }
    LANE_LOOP
    for (size_t i = 0; i < stride; i++) {
        lane(c + i, stride, v_c + i, cost + i, gamma + i, G + i);
    }
}

#endif
