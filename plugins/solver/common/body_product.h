// SPDX-License-Identifier: Apache-2.0
// The product with W = S (J A^-1 J^T + R) S of constraints between single bodies, without W:
//
//     u_t = A_t^-1 sum over the constraints of body t of J_it^T S_i x_i,    y_i = S_i sum_t J_it u_t + d_i x_i
//
// In a pile a contact has ten to twenty blocks of W, and two of J, which are read where they lie. d holds S R S, and a
// positive number in directions without friction, whose S is 0.
#ifndef SOLVER_COMMON_BODY_PRODUCT_H
#define SOLVER_COMMON_BODY_PRODUCT_H

#include "common/packed.h"

/// Is it for this problem: in the global form, every tree has at most 6 dofs and is not nodal, every constraint has at
/// most 3 rows and 2 trees?
bool body_product_fits(const stn_problem *problem);
/// What comes with the product, in padded vectors.
typedef struct body_start {
    double *b;     // (size) contact velocities without impulses, J (v_star + A^-1 free_impulse) + bias [m/s]
    double *sizes; // (size) sum of |J| |v_star| [m/s]
    double *s;     // (size) s_i of a constraint
} body_start;

/// Every A is regular. `p` has its rows, whose omega and diagonal this fills
/// in, and gets the product of s W s with
///
///     s_i^2 = rows / diagonal,    diagonal = sqrt(n_i) trace(J A^-1 J^T) + trace(d_i)
///
/// n_i the mean number of constraints on its bodies, the trace w_trace where the problem knows it. With the number in
/// place of its root s W s has no large eigenvalue whatever the pile (mass splitting, [tonge-2012]); with 1 all blocks
/// have the mean diagonal 1. The root takes the fewest iterations. Everything lives in `arena`, J in the problem;
/// false: out of memory.
bool body_product_build(const stn_problem *problem, const stn_inverse *inverse, stn_arena *arena, packed *p,
                        body_start *start);
/// g (size) = s W s x + q.
void body_product_apply(const body_product *product, const packed *p, const double *x, double *g);

#endif
