// SPDX-License-Identifier: Apache-2.0
// Random contact problems from a seed: bodies, arms, points and clouds of nodes with contacts and every other kind of
// constraint between them.
#ifndef STICTION_COMMAND_VALIDATE_PROBLEM_MAKE_H
#define STICTION_COMMAND_VALIDATE_PROBLEM_MAKE_H

#include <stiction/problem.h>

#include "random_stream.h"

/// What a problem is like. Zero: nothing of it.
typedef struct problem_spec {
    int32_t bodies;  // free rigid bodies: 6 dofs, dense
    int32_t arms;    // 1 to 9 dofs, dense, of the given condition
    int32_t points;  // 3 dofs, diagonal
    int32_t clouds;  // 3 to 6 nodes, nodal
    int32_t islands; // groups of trees that share no constraint; 0 counts as 1
    int32_t contacts;
    int32_t others;  // constraints of the other kinds, in turn, as far as `sets` allows
    int32_t cables;  // constraints of plugins over up to eight trees, of 1 to 3 rows
    uint32_t sets;   // bit set of stn_constraint_set that may occur
    bool one_a_pair; // at most one contact for each tree, with the one before it or the world: no redundancy
    double repeated; // share of the contacts that repeat the one before, exactly or beside it on the same plane
    double mu_low, mu_high;
    double condition;                     // of an arm's A
    double mass_decades;                  // masses are 10^(+-this) kg
    double stiffness_low, stiffness_high; // log10 of k [N/m]
    double rigid;                         // share of contacts with k infinite
    bool gap;                             // no contact overlaps: phi0 > 0
    double relaxation_time;               // tau_d is up to this [s]
    double speed;                         // of v0 [m/s]
    double bias;                          // share of rows with a bias
    double dt;
} problem_spec;

/// A few bodies of each form, contacts that are neither rigid nor redundant beyond doubt: what every solver must solve.
problem_spec problem_spec_plain(uint32_t sets);

/// What no solver needs to like: 1 to 200 contacts, many of them redundant and parallel, arms of condition up to 1e12,
/// masses over four decades, stiffness over ten, rigid contacts, mu up to 5.
problem_spec problem_spec_ill_posed(uint32_t sets, random_stream *random);

/// A problem in `arena`; NULL when out of memory. w, R and v_hat are not filled in; memory slots number the
/// constraints.
stn_problem *problem_make(stn_arena *arena, const problem_spec *spec, random_stream *random);

#endif
