// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_PROBLEM_LOCAL_ISLANDS_H
#define STICTION_CORE_PROBLEM_LOCAL_ISLANDS_H

#include <stiction/problem.h>

/// stn_problem_islands of a local problem: no trees, islands by their smallest constraint.
stn_status local_islands(const stn_problem *problem, stn_arena *arena, stn_islands *out, stn_error *err);
/// W, q, and where bilateral rows act on it V, of an island whose constraints and rows are counted already.
stn_status local_island_operator(const stn_problem *problem, const int32_t *constraint, stn_arena *arena,
                                 stn_problem *island, stn_error *err);
#endif
