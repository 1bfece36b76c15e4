// SPDX-License-Identifier: Apache-2.0
// Problems at the edge of what a solver is asked: rigid constraints that no velocity satisfies, and small problems that
// have a solution and something awkward about them.
#ifndef STICTION_COMMAND_VALIDATE_PROBLEM_HARD_H
#define STICTION_COMMAND_VALIDATE_PROBLEM_HARD_H

#include "problem_make.h"

typedef struct hard_problem {
    const char *name;   // "a body between walls that close"
    uint32_t sets;      // of stn_constraint_set that it is made of
    bool contradiction; // rigid, no velocity satisfies it: only what is compliant has a solution
    /// In `arena`, which `random` is drawn for; NULL when out of memory. As problem_make leaves it.
    stn_problem *(*make)(stn_arena *arena, random_stream *random);
} hard_problem;

extern const hard_problem hard_problems[];
extern const int32_t hard_problem_count;

#endif
