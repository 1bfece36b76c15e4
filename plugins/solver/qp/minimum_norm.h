// SPDX-License-Identifier: Apache-2.0
// Of the impulses along rays that all give the same velocities those with the least sum of squares:
//
//     min |beta|^2/2   s.t.  H_DD beta = H_DD beta_0,  beta >= 0      D the rays with g = 0
//
// With a basis B of D, H_BD = H_BB E, E = [1 Z], the equality is E beta = E beta_0, and the dual in (y, s), s >= 0,
//
//     min |E^T y + s|^2/2 - y.E beta_0,    beta = E^T y + s,
//
// is solved by the same active set. Impulses of rows with bounds stay.
#ifndef QP_MINIMUM_NORM_H
#define QP_MINIMUM_NORM_H

#include "rays.h"

/// Unknowns of which some depend on others.
typedef struct face {
    int32_t count, basis; // members; how many of them are in B
    int32_t *member;      // (count) unknowns
    bool *in_basis;       // (count)
    int32_t *order;       // (basis) members in the order of the factor
    double *row;          // (count x stride) of B: rows of L, H_BB = L L^T; of others L^-1 H_Bj
    int32_t stride;
} face;

/// B of the members: those that depend on none before them; the first `certain` are independent whatever digits say.
/// Memory is that of `arena`; false: out of memory.
bool face_find_basis(const active_set *set, int32_t certain, stn_arena *arena, face *f);
/// out (basis) = H_BB^-1 H_Bj of member m, column m of E.
void face_column(const face *f, int32_t m, double *out);

/// Replaces x of the rays at a solution, with g as computed from its velocities; what is left where they are unique, or
/// where digits do not allow it, is x itself. False: out of memory.
bool minimum_norm(const rays *r, active_set *set);

#endif
