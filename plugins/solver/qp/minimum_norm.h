// SPDX-License-Identifier: Apache-2.0
// Many impulses along rays may give the same velocities. This finds those with the least sum of squares:
//
//     min |beta|^2/2   s.t.  H_DD beta = H_DD beta_0,  beta >= 0      D: the rays with g = 0
//
// With a basis B of D, H_BD = H_BB E, the equality is E beta = E beta_0. Pi projects on the kernel of E:
//
//     Pi = 1 - E^T (E E^T)^-1 E
//     beta = beta_0 + Pi (s - beta_0),    s >= 0,    s^T beta = 0
//
// which is min s^T Pi s/2 + (beta_0 - Pi beta_0)^T s over s >= 0, a program for the same active set whose gradient is
// beta. Impulses of rows with bounds stay.
//
// It falls into parts. Rays at the same trees depend on each other first: E_P of each pair P with a basis of its own.
// The bases of all pairs form one set, and a ray of it that depends on others joins the pairs of those. Every column of
// E then lies within one part, Pi is block diagonal, and the parts together are the minimum of the whole.
#ifndef QP_MINIMUM_NORM_H
#define QP_MINIMUM_NORM_H

#include "rays.h"

/// Unknowns of which some depend on others.
typedef struct face {
    int32_t count;   // members
    int32_t basis;   // how many are in B, the first ones
    int32_t *member; // (count) unknowns
    double *row;     // (count x stride) of B: rows of L, H_BB = L L^T; of others L^-1 H_Bj
    int32_t stride;
} face;

/// B of the members: those that depend on none before them; the first `certain` are independent whatever digits say.
/// Puts the members of B first, in their order. Memory is that of `arena`; false: out of memory.
bool face_find_basis(const active_set *set, int32_t certain, stn_arena *arena, face *f);
/// out (basis) = H_BB^-1 H_Bj of member m, column m of E.
void face_column(const face *f, int32_t m, double *out);

/// Rays that trade impulses among themselves, and their program over s.
typedef struct norm_part {
    int32_t count, basis;
    int32_t *member; // (count) unknowns
    int32_t *row;    // (basis) places in the basis of `joint`
    double *E;       // (count x stride) orthonormal columns that span those of E^T
    int32_t stride;
    double *along; // (basis) work
    active_set dual;
} norm_part;

/// How the rays with g = 0 at a solution depend on each other.
typedef struct minimum_norm {
    const rays *r;
    active_set *set;
    int32_t pair_count, part_count;
    int32_t *pair;    // (n) of an unknown: those of constraints with the same trees are one; -1: no cone
    face *own;        // (pair_count) rays of a pair in D
    face joint;       // the bases of all of them
    double *depends;  // (joint.count - joint.basis, joint.basis) columns of E of those of `joint` outside its basis
    int32_t *place;   // (n) in `joint`, of unknowns in it
    int32_t *part;    // (pair_count) its first pair
    norm_part *parts; // (part_count) in which some ray depends on others
    double *column;   // (2 n) work
    double *change;   // (n) work
} minimum_norm;

/// At a solution x with g as computed from its velocities. Memory is that of the arena of `r`; false: out of memory.
bool minimum_norm_prepare(const rays *r, active_set *set, minimum_norm *out);
/// Replaces x of the rays by the least that moves the same.
void minimum_norm_choose(minimum_norm *s);
/// Takes back what rounding made of the velocities: x that minimum_norm_choose gave changes by the least that makes g
/// of the basis 0, where g is that of x.
void minimum_norm_correct(minimum_norm *s);

#endif
