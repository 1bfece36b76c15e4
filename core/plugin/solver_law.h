// SPDX-License-Identifier: Apache-2.0
// Which solvers have to do with a contact law.
#ifndef STICTION_CORE_PLUGIN_SOLVER_LAW_H
#define STICTION_CORE_PLUGIN_SOLVER_LAW_H

#include <stiction/solver.h>

/// It evaluates a law, or the core does to find the impulses that belong to its velocities.
static inline bool solver_needs_law(const stn_solver_ops *ops) {
    return (ops->needs & STN_NEEDS_LAW) != 0 || ops->yields == STN_YIELDS_VELOCITY;
}

/// It can do without, but when there is one takes R and v_hat from it.
static inline bool solver_may_have_law(const stn_solver_ops *ops) {
    return !solver_needs_law(ops) && (ops->needs & STN_REGULARIZED_BY_LAW) != 0;
}

static inline bool solver_takes_law(const stn_solver_ops *ops) {
    return solver_needs_law(ops) || solver_may_have_law(ops);
}

#endif
