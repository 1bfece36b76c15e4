// SPDX-License-Identifier: Apache-2.0
// A problem that owns its memory: one arena for all of it.
#ifndef STICTION_CORE_PROBLEM_OWNER_H
#define STICTION_CORE_PROBLEM_OWNER_H

#include <stiction/problem.h>

struct stn_problem_owner {
    stn_context *context;
    stn_arena *arena;
    stn_problem problem;
};

/// An empty problem to be filled from `arena`.
stn_status stn_problem_owner_create(stn_context *context, stn_problem_owner **out, stn_error *err);

#endif
