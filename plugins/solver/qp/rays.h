// SPDX-License-Identifier: Apache-2.0
// A contact problem as the quadratic program of Anitescu's friction over impulses along rays [anitescu-2006]:
//
//     cone            gamma = sum_j beta_j r_j,  beta_j >= 0
//                     r_j = (mu1 cos(phi_j), mu2 sin(phi_j), 1),  phi_j = 2 pi j/directions
//                     one ray (0, 0, 1) without friction
//     box             beta = gamma,  lo <= gamma <= hi
//     equality        beta = gamma,  free
//
// Each beta_j is complementary, within its bounds, to the speed r_j.(W gamma + R gamma + b - v_hat), where
//
//     W = J P^-1 J^T
//     b = J c + bias
//     P = A + delta D
//     c = x + P^-1 (A (v_star - x) + f)
//
// delta D is not 0 where A is singular alone: there the solution is that of the problem when the centre x is its own v
// (a proximal point).
#ifndef QP_RAYS_H
#define QP_RAYS_H

#include "active_set.h"
#include "common/augmented.h"
#include "common/proximal.h"

/// delta: as large as few steps allow, for digits of W are lost to it.
#define RAYS_SHARE 1e-4

typedef struct rays {
    const stn_problem *problem;
    stn_arena *arena;
    int32_t directions;
    int32_t n;              // unknowns
    int32_t *start;         // (constraint_count + 1) unknowns of a constraint
    double *ray;            // (3 n) of unknowns of cones
    stn_delassus delassus;  // of a local problem
    double *proximal;       // (nv) delta D; NULL: every A is regular
    double **factor;        // (tree_count) Cholesky factor of P, n_t x n_t; NULL in the sparse form
    augmented mass;         // P and its factor, in the sparse form
    double *centre, *c;     // (nv)
    double *gamma, *speed;  // (row_count) work
    double *impulse, *work; // (nv), (2 nv) work
    double *scale;          // (nv) of proximal_scale
} rays;

/// How many unknowns it has with so many directions.
int64_t rays_count(const stn_problem *problem, int32_t directions);
/// DENSE: `set` gets H. SPARSE, of global problems: it has vectors alone, with estimates of the roots of H's diagonal.
typedef enum rays_form { RAYS_DENSE, RAYS_SPARSE } rays_form;
/// What the solver keeps from call to call.
typedef struct rays_workspace {
    stn_context *context;
    symbolic_cache *mass, *system; // factors of P, and of what the ray system adds to it
} rays_workspace;
/// Everything lives in the arena of `control`, whose workspace is a rays_workspace; fills the bounds of `set`.
/// STN_ERR_NUMERIC: a P has no factor. STN_ERR_UNSUPPORTED: more unknowns than an index counts.
stn_status rays_build(const stn_problem *problem, const stn_solve_control *control, int32_t directions, rays_form form,
                      rays *out, active_set *set, stn_error *err);
/// Puts the centre at v (nv), and q of it into `set`.
void rays_centre(rays *r, const double *v, active_set *set);
/// The same of another program: c = x + P^-1 (A (target - x) + impulse), q of c with R gamma. impulse may be NULL.
void rays_aim(rays *r, const double *x, const double *target, const double *impulse, const double *gamma,
              active_set *set);
/// The two rays of a cone that a tangential impulse lies between, and how much of it is along each of them.
typedef struct rays_sector {
    int32_t ray[2]; // of the constraint's own, the second follows the first
    double along[2];
} rays_sector;
/// Finds the sector of an impulse (3) of constraint i, which is a cone with friction.
rays_sector rays_find_sector(const rays *r, int32_t i, const double *impulse);
/// gamma (row_count) of beta (n).
void rays_impulses(const rays *r, const double *beta, double *gamma);
/// v (nv) of gamma: c + P^-1 J^T gamma. A local problem has none.
void rays_velocity(rays *r, const double *gamma, double *v);
/// v_c - v_hat + R gamma (row_count), from v where there is one, else from W.
void rays_speeds(const rays *r, const double *v, const double *gamma, double *speeds);
/// g (n) = H x (n), by P^-1. Not of a local problem.
void rays_product(rays *r, const double *x, double *g);
/// x (nv) = P^-1 x.
void rays_divide(const rays *r, double *x);
/// g (n) of J dv + R dgamma + velocity.
void rays_rates(rays *r, const double *dv, const double *dgamma, const double *velocity, double *g);
/// The largest |J| |v| of a row, or along a ray where there are rays [m/s]: rounding of speeds is relative to it. The
/// problem is of global form.
double rays_terms(const rays *r, const double *v, bool along_rays);
/// g (n) of speeds.
void rays_gradient(const rays *r, const double *speeds, double *g);

/// proximal_measure of v and gamma.
proximal_balance rays_balance(rays *r, const double *v, const double *gamma);

#endif
