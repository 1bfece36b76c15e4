// SPDX-License-Identifier: Apache-2.0
// Sweeps over the constraints of a packed problem, one after the other, each with the impulses of the others as they
// are by then.
#ifndef GAUSS_SEIDEL_SWEEP_H
#define GAUSS_SEIDEL_SWEEP_H

#include "common/anderson.h"
#include "common/packed.h"
#include "local.h"

/// What a visit does to a contact.
typedef enum visit_kind {
    VISIT_EXACT,     // solves it, local.h
    VISIT_PROJECTED, // gamma <- P(gamma - rho (g + mu |g_t| e_n)), P the Euclidean projection on the cone
    VISIT_COMPONENT, // gamma_n <- max(0, gamma_n - alpha g_n/W_nn), then gamma_t on the disc mu gamma_n
    VISIT_PYRAMID,   // the same, each tangent by itself on [-mu gamma_n, mu gamma_n]
} visit_kind;

/// How contacts are treated; rows with bounds are always solved one by one, equality rows of one constraint together.
typedef struct sweep_rule {
    visit_kind kind;
    local_method local; // of VISIT_EXACT
    int32_t steps;      // of VISIT_PROJECTED: at a visit
    double alpha, alpha_min,
        alpha_decay; // relaxation: alpha at first, then alpha_min + alpha_decay^k (alpha - alpha_min)
    int32_t depth;   // of the acceleration, 0: none
} sweep_rule;

/// Solves: sweeps until one finds every constraint within its tolerance. `gamma` (row_count) in: start, out: the best
/// iterate. Needs control->arena, delassus, tolerances and max_iterations.
stn_status sweep_solve(const sweep_rule *rule, const stn_solve_control *control, double *gamma, stn_solve_info *info,
                       stn_error *err);

#endif
