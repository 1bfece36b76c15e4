// SPDX-License-Identifier: Apache-2.0
// Which compilation of the kernels suits this processor. There is none for AVX-512: it measured within 5 % of AVX2 on
// heaps of bodies, and without it all processors of the last decade give the same bits.
#include "base/kernels.h"

#ifdef STN_KERNELS_X86
bool kernels_have_avx2(void) { // the compiler's library has looked at the processor before anything of ours runs
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const panel_kernels *panel_kernels_choose(void) {
    return kernels_have_avx2() ? &panel_kernels_avx2 : &panel_kernels_plain;
}

const row_kernels *row_kernels_choose(void) {
    return kernels_have_avx2() ? &row_kernels_avx2 : &row_kernels_plain;
}

const body_kernels *body_kernels_choose(void) {
    return kernels_have_avx2() ? &body_kernels_avx2 : &body_kernels_plain;
}

const angle_kernels *angle_kernels_choose(void) {
    return kernels_have_avx2() ? &angle_kernels_avx2 : &angle_kernels_plain;
}

const ltl_kernels *ltl_kernels_choose(void) {
    return kernels_have_avx2() ? &ltl_kernels_avx2 : &ltl_kernels_plain;
}

const articulated_kernels *articulated_kernels_choose(void) {
    return kernels_have_avx2() ? &articulated_kernels_avx2 : &articulated_kernels_plain;
}
#else
const panel_kernels *panel_kernels_choose(void) {
    return &panel_kernels_plain;
}

const row_kernels *row_kernels_choose(void) {
    return &row_kernels_plain;
}

const body_kernels *body_kernels_choose(void) {
    return &body_kernels_plain;
}

const angle_kernels *angle_kernels_choose(void) {
    return &angle_kernels_plain;
}

const ltl_kernels *ltl_kernels_choose(void) {
    return &ltl_kernels_plain;
}

const articulated_kernels *articulated_kernels_choose(void) {
    return &articulated_kernels_plain;
}
#endif
