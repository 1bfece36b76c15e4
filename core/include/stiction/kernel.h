// SPDX-License-Identifier: Apache-2.0
// Loops over numbers that plugins want compiled for wider vectors too.
#ifndef STICTION_KERNEL_H
#define STICTION_KERNEL_H

#include <stiction/base.h>

/// Before a function definition: compiled for AVX2 as well, chosen when the plugin is loaded. Compile without
/// contraction (-ffp-contract=off): nothing is fused or reassociated then, so the result does not depend on the choice.
/// Where there is no such choice it is empty; clang 14 calls a name that its clones do not have, and the sanitizers of
/// memory and threads begin after the choice.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define STN_KERNEL __attribute__((target_clones("default", "avx2")))
#else
#define STN_KERNEL
#endif

/// For what such a function calls: it must become part of each of its compilations.
#define STN_KERNEL_INLINE static inline __attribute__((always_inline))

#endif
