// SPDX-License-Identifier: Apache-2.0
// The solvers of a portfolio in their order, from a text: "bisection:300, newton_ncp:500".
#ifndef AUTO_CHAIN_H
#define AUTO_CHAIN_H

#include <stiction/solve.h>

enum { MOST_STAGES = 8 };

typedef struct stage {
    stn_instance *solver;
    const stn_solver_ops *ops;
    int32_t iterations; // that it gets in the first round
    bool dense;         // it says so by the capability "dense": a full matrix over all rows
} stage;

typedef struct chain {
    stn_context *context;
    int32_t count;
    stage stages[MOST_STAGES];
} chain;

/// Makes the solvers that `text` names. STN_ERR_PARAMETER: what is no "ID:ITERATIONS", or a solver that does not solve
/// Coulomb's law from impulses alone; the text names it.
stn_status chain_create(stn_context *context, const char *text, chain *out, stn_error *err);
/// Of what was made, wherever creation ended.
void chain_clear(chain *c);

#endif
