// SPDX-License-Identifier: Apache-2.0
// Constraints of one body of a large tree, by how its bodies move: J = E S on the way from dof `tip` to the root, where
// E (rows x 6) is the wrench of the rows and S (6 x n) the motion of the tree (stn_problem_tree). Nothing of the size
// rows x n is made:
//
//     J x        = E V(tip),                  V(j) = V(parent) + S_j x_j
//     J^T gamma  = S_j . F(j),                F(j) = sum of E^T gamma with a tip at j or beyond
//     J^T G J    = S_i . K(j) S_j, i above j, K(j) = sum of E^T G E with a tip at j or beyond, a composite stiffness
//                                             as the composite inertia is of the mass matrix [featherstone-2005]
#ifndef SOLVER_COMMON_AUGMENTED_MOTION_H
#define SOLVER_COMMON_AUGMENTED_MOTION_H

#include <stiction/plugin.h>

/// A tree in that form.
typedef struct augmented_motion {
    int32_t n, ld;         // dofs, and that rounded up to 4
    const int32_t *parent; // (n) of the problem
    int32_t *run;          // (n) first of the dofs j, j - 1, ... each of which carries the next
    const double *columns; // (n x 8) S_j, of the problem
    double *rows;          // (6 x ld) the same by component
    double *sums;          // (n x 8) work: V or F
    double *stiffness;     // (n x 48) work: K, 6 x 8
} augmented_motion;

/// Its contacts: their wrenches (3 rows x 8 each) and tips.
typedef struct augmented_wrenches {
    int32_t count;
    const double *E;
    const int32_t *tip;
} augmented_wrenches;

/// Everything in the arena; false: out of memory.
bool augmented_motion_build(const stn_problem_tree *tree, stn_arena *arena, augmented_motion *out);
/// rows (3 x count) = J x, x (n).
void augmented_motion_times(const augmented_motion *m, const augmented_wrenches *w, const double *x, double *rows);
/// y (n) += J^T gamma, gamma (3 x count).
void augmented_motion_transposed(const augmented_motion *m, const augmented_wrenches *w, const double *gamma,
                                 double *y);
/// inertia (n x 6 x 8) of each tip += E^T G E; G as below.
void augmented_motion_stiffen(const augmented_wrenches *w, size_t stride, const double *G, double *inertia);
/// C (n x ld, lower triangle) = J^T G J; entries between dofs of which none carries the other stay what they are. G:
/// 11, 12, 22, 13, 23, 33 at distance `stride`.
void augmented_motion_product(const augmented_motion *m, const augmented_wrenches *w, size_t stride, const double *G,
                              double *C);

#endif
