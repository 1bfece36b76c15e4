// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_LTL_H
#define STICTION_CORE_BASE_LTL_H

#include <stiction/factor.h>

/// The kernel of that name.
int32_t ltl_half(const stn_ltl *factor, const double *J, double *X, int32_t *dofs);

/// The kernel of that name; and of any three rows J (3 x n), whose dofs are all.
int32_t articulated_half(const stn_articulated *factor, const double *E, int32_t tip, double *X, int32_t *dofs);
/// J (3 x n, row-major) = E S on the way from `tip` to the root; other entries stay.
void articulated_rows(int32_t n, const int32_t *parent, const double *motion, const double *E, int32_t tip, double *J);
int32_t articulated_half_of_rows(const stn_articulated *factor, const double *J, double *X, int32_t *dofs);

#endif
