// SPDX-License-Identifier: Apache-2.0
// The step size matrix W: what a step v - W (A v - b) is taken with.
#ifndef SOLVER_COND_STEP_SIZE_H
#define SOLVER_COND_STEP_SIZE_H

#include "layout.h"

/// w (layout->size): of nodal and diagonal trees what makes |I - W A|_F least, with one number for three dofs of a node
/// that belong together, in units in which the diagonal of A is 1 [lee-2023, IV-C].
void cond_frobenius(const cond_layout *layout, double *w, double *work);
/// Scales w, tree by tree, so that the largest eigenvalue of W A is `limit`, as `iterations` of the power method find
/// it; without `raise` only where it is larger. `work`: two padded vectors.
void cond_scale(const cond_layout *layout, double limit, bool raise, int32_t iterations, double *w,
                double *const work[2]);

#endif
