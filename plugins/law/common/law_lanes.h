// SPDX-License-Identifier: Apache-2.0
// How the loop over contacts becomes vector code.
#ifndef STICTION_LAW_COMMON_LAW_LANES_H
#define STICTION_LAW_COMMON_LAW_LANES_H

#include <stiction/kernel.h>
#include <stiction/plugin.h>

// lanes do not depend on each other, and outputs never share an array with inputs
#ifdef __clang__
#define LANE_LOOP
#else
#define LANE_LOOP _Pragma("GCC ivdep")
#endif

/// One contact of a law whose parameters are all in its coefficients; entry k of an array at [k stride], G may be NULL.
typedef void law_lane(const double *c, size_t stride, const double *v_c, double *cost, double *gamma, double *G);

/// The evaluate of such a law. `lane` is a constant where it is called, so that it becomes part of the loop.
STN_KERNEL_INLINE void lanes_evaluate(const stn_law_batch *batch, const double *v_c, double *cost, double *gamma,
                                      double *G, law_lane *lane) {
    const size_t stride = (size_t)batch->stride, lanes = (size_t)stn_law_lanes(batch);
    const double *c = batch->coefficients;
    if (G == NULL) {
        LANE_LOOP
        for (size_t i = 0; i < lanes; i++) {
            lane(c + i, stride, v_c + i, cost + i, gamma + i, NULL);
        }
        return;
    }
    LANE_LOOP
    for (size_t i = 0; i < lanes; i++) {
        lane(c + i, stride, v_c + i, cost + i, gamma + i, G + i);
    }
}

#endif
