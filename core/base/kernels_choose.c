// SPDX-License-Identifier: Apache-2.0
// Which compilation of kernels.c suits this processor.
#include "base/kernels.h"

extern const dense_kernels dense_kernels_plain;

#ifdef STN_KERNELS_X86
extern const dense_kernels dense_kernels_avx2, dense_kernels_avx512;

const dense_kernels *dense_kernels_choose(void) {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
        return &dense_kernels_avx512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return &dense_kernels_avx2;
    }
    return &dense_kernels_plain;
}
#else
const dense_kernels *dense_kernels_choose(void) {
    return &dense_kernels_plain;
}
#endif
