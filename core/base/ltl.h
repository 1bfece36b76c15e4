// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_LTL_H
#define STICTION_CORE_BASE_LTL_H

#include <stiction/factor.h>

/// The kernel of that name.
int32_t ltl_half(const stn_ltl *factor, const double *J, double *X, int32_t *dofs);

#endif
