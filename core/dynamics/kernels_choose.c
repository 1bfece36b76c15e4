// SPDX-License-Identifier: Apache-2.0
// Which compilation of the loops over bodies suits this processor.
#include "base/kernels.h"
#include "dynamics/kernels.h"

#define TABLE(suffix) \
    { kinematics_##suffix, inverse_dynamics_##suffix, mass_matrix_##suffix }

const dynamics_kernels *dynamics_kernels_choose(void) {
    static const dynamics_kernels plain = TABLE(plain);
#ifdef STN_KERNELS_X86
    static const dynamics_kernels avx2 = TABLE(avx2);
    if (kernels_have_avx2()) {
        return &avx2;
    }
#endif
    return &plain;
}
