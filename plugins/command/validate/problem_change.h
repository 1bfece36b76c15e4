// SPDX-License-Identifier: Apache-2.0
// The same physics said differently: what must not change the solution, or change it in a known way. All functions give
// a new problem in `arena`, NULL when out of memory, and leave the old one alone.
#ifndef STICTION_COMMAND_VALIDATE_PROBLEM_CHANGE_H
#define STICTION_COMMAND_VALIDATE_PROBLEM_CHANGE_H

#include "problem_make.h"

stn_problem *problem_copy(stn_arena *arena, const stn_problem *p);

/// Constraint i of the new problem is constraint_order[i] of the old one, tree t is tree_order[t].
typedef struct problem_order {
    int32_t *constraint, *tree;
} problem_order;
stn_problem *problem_shuffled(stn_arena *arena, const stn_problem *p, random_stream *random, problem_order *order);
/// Solution of the shuffled problem in the old order.
void problem_unshuffle(const stn_problem *old, const stn_problem *shuffled, const problem_order *order, const double *v,
                       const double *gamma, double *v_old, double *gamma_old);

/// The world turned by `turn`, tangents of circular cones turned by `spin` about their normals. Only for trees whose
/// dofs are vectors in the world's axes: no arms.
stn_problem *problem_turned(stn_arena *arena, const stn_problem *p, const stn_mat3 *turn, double spin);
void problem_turn_back(const stn_problem *old, const stn_mat3 *turn, double spin, double *v, double *gamma);

/// Other units: numbers of mass, length and time are multiplied by these; each dof gets a unit of its own.
typedef struct problem_units {
    double mass, length, time;
} problem_units;
stn_problem *problem_in_units(stn_arena *arena, const stn_problem *p, const problem_units *units, double *dof_scale);

/// Every nodal tree and diagonal tree as a dense one.
stn_problem *problem_dense(stn_arena *arena, const stn_problem *p);

/// Every contact `times` over, each with `times` its R and a part of its stiffness: together they are the contact that
/// was. Explicit R is set; R and v_hat of `p` must be filled in.
stn_problem *problem_repeated(stn_arena *arena, const stn_problem *p, int32_t times);

/// |v - w|_A and |v|_A (w NULL).
double problem_distance(stn_arena *arena, const stn_problem *p, const double *v, const double *w);

#endif
