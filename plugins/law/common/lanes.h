// SPDX-License-Identifier: Apache-2.0
// How the loop over contacts becomes vector code.
#ifndef STICTION_LAW_COMMON_LANES_H
#define STICTION_LAW_COMMON_LANES_H

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

#endif
