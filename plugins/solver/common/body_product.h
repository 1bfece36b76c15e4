// SPDX-License-Identifier: Apache-2.0
// The product with W = S (J A^-1 J^T + R) S of constraints between single bodies, without W:
//
//     u_t = sum over the constraints of body t of X_it^T x_i,    y_i = sum_t X_it u_t + d_i x_i,    X_it = S_i J_it
//     L_t^-T
//
// A_t = L_t L_t^T. In a pile a contact has ten to twenty blocks of W, and two of X. d holds S R S, and a positive
// number in directions without friction, whose S is 0.
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

/// Every A is regular. `p` has its rows, whose omega and diagonal this fills in, and gets the product of s W s with
///
///     s_i^2 = rows / trace(sum_t sqrt(n_t) X_it X_it^T + d_i),    n_t constraints on body t
///
/// With n_t in place of its root s W s would have no eigenvalue above the rows of a constraint, whatever the piles
/// (mass splitting, [tonge-2012]); with 1 blocks of mean diagonal 1. The root of both takes the fewest iterations.
/// Everything lives in `arena`; false: out of memory.
bool body_product_build(const stn_problem *problem, const stn_inverse *inverse, stn_arena *arena, packed *p,
                        body_start *start);
/// g (size) = s W s x + q.
void body_product_apply(const body_product *product, const packed *p, const double *x, double *g);

#endif
