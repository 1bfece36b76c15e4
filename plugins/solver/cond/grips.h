// SPDX-License-Identifier: Apache-2.0
// Bodies that soft bodies touch at many nodes: hundreds of contacts that hear of each other only through one light
// body, which sweeps from contact to contact settle slowly. With the velocities of the body as the unknown delta every
// contact is solved in one shot, its nodes being its own,
//
//     A_b delta/alpha = sum of J_b^T (gamma_i(delta) - gamma_i),  gamma_i(delta) = P(gamma_i - (u_i + J_b delta)/(g_i +
//     R))
//
// a few equations, monotone for convex operators, which Newton's method solves. g_i is J W J^T of the nodes of contact
// i alone, times the number of contacts on them, which bounds what they do to each other.
#ifndef SOLVER_COND_GRIPS_H
#define SOLVER_COND_GRIPS_H

#include "common/block_lu.h"
#include "contacts.h"

/// A contact of nodes with a body.
typedef struct cond_grip_contact {
    int32_t constraint;
    double *J;                           // (3 x body->size), row-major
    double u[3], shift, before[3], g[2]; // at delta = 0; impulses before; of this solve
} cond_grip_contact;

/// A body with two such contacts or more.
typedef struct cond_grip {
    const cond_body *body;
    int32_t first, end;               // of contacts
    block_lu lu;                      // of the Hessian
    double *F, *delta, *step, *trial; // (body->size) each
} cond_grip;

/// All of a problem.
typedef struct cond_grips {
    const cond_contacts *contacts;
    int32_t count;
    cond_grip *grips;
    cond_grip_contact *of; // by grip
} cond_grips;

/// Finds them. Everything lives in `arena`. STN_ERR_MEMORY is the only failure.
stn_status cond_grips_find(const cond_contacts *contacts, stn_arena *arena, cond_grips *out, stn_error *err);
/// Solves each for impulses, `gamma` (row_count) in and out, at velocities p (in and out, alpha W J^T of all impulses
/// in them); v: velocities before the step. Other constraints keep their impulses.
void cond_grips_solve(cond_grips *grips, cond_operator how, double alpha, const double *w, const double *v, double *p,
                      double *gamma);

#endif
