// SPDX-License-Identifier: Apache-2.0
// Constraints as COND sees them: pieces of Jacobians on nodes, one number gamma a constraint in place of its block of
// the surrogate's Delassus operator, and the law of each solved in one shot.
#ifndef SOLVER_COND_CONTACTS_H
#define SOLVER_COND_CONTACTS_H

#include "common/cone.h"
#include "layout.h"
#include "one_shot.h"
#include "ties.h"

/// A constraint.
typedef struct cond_contact {
    int32_t first, end; // pieces
    int32_t row, rows;
    bool cone;
    bool on_nodes;              // of nodal trees
    double mu[2];               // along t1, t2
    double omega;               // of the natural map, as the certificate has it
    double fuzz;                // what rounding of a slip makes of mu |v_t| [m/s]
    double bound[STN_MAX_ROWS]; // [1/kg] no less than its own block of J W J^T; of a cone one number
    double node_bound;          // [1/kg] of a cone: that of its nodes alone, times the contacts on each
} cond_contact;

/// A node, a body, or a tree that is neither nodal nor one, which some constraint acts on.
typedef struct cond_unit {
    int32_t tree;          // -1 of a body
    const cond_body *body; // NULL: it is none
    int32_t place, width;  // width: of its velocities with padding
    bool ahead;            // some constraint on it is one of bodies alone, whose impulse is carried ahead
    bool nodal;            // that of a nodal contact
    int32_t first, end;    // of `incident`
} cond_unit;

/// A contact that is nodal as the paper has it: on one node of three dofs, which nothing else acts on, round friction.
typedef struct cond_nodal {
    int32_t constraint, row, place;
    double J[9];      // beta times an orthonormal matrix
    double beta2;     // its square
    double R[2], mu;  // R of the tangents, of the normal
    double target[3]; // bias - v_hat
} cond_nodal;

/// A node of a shared contact, its Jacobian padded to vectors.
typedef struct cond_shared_node {
    double column[3][4]; // of J, a column for each dof: t1, t2, n, 0
    double row[3][4];    // of J W, a row for each of t1, t2, n
    int32_t place;
} cond_shared_node;

/// A contact on nodes of three dofs that other constraints act on, too, with round friction.
typedef struct cond_shared {
    int32_t constraint, row;
    int32_t first, end;     // of its nodes
    double target[4], R[4]; // t1, t2, n, 0
    double bound, mu;       // that of the contact
} cond_shared;

/// All constraints of a problem. Those that are nodal and all others have lists of their own, and so do the units of
/// the others. The shared ones are among the others.
typedef struct cond_contacts {
    const cond_layout *layout;
    int32_t count, piece_count, unit_count;
    cond_contact *contacts;
    cond_piece *pieces;
    cond_unit *units;
    int32_t *incident; // (piece_count) pieces by unit
    int32_t nodal_count, other_count, other_unit_count;
    cond_nodal *nodal;
    int32_t *others, *other_units;
    int32_t shared_count; // the first ones of the others
    cond_shared *shared;
    cond_shared_node *shared_nodes;
    double *target;  // (row_count) bias - v_hat
    double *R;       // (row_count) with what virtual nodes add
    double speed;    // the largest |J v_star + bias|, |v_hat|, and what impulses that bounds ask for make [m/s]
    double rounding; // of J v_star + bias [m/s]
} cond_contacts;

/// `virtual_node` [1/kg]: 1/(k_v dt), what a virtual node between a contact and a body adds to R; 0: nothing.
/// Everything lives in `arena`. STN_ERR_MEMORY is the only failure.
stn_status cond_contacts_build(const cond_layout *layout, const cond_ties *ties, double virtual_node, stn_arena *arena,
                               cond_contacts *out, stn_error *err);
/// Sets the bounds of all constraints, and how bodies respond to those that are not nodal, from W. STN_ERR_MEMORY is
/// the only failure.
stn_status cond_contacts_weigh(cond_contacts *contacts, const double *w, stn_arena *arena, stn_error *err);
/// Solves the surrogate's contacts that are not nodal: one after the other, forwards and backwards in turns, each at
/// velocities p (in and out, alpha W J^T of all impulses in them) that have the change of those before. `gamma`
/// (row_count) in and out; v: velocities before the step.
void cond_contacts_sweep(const cond_contacts *contacts, int32_t sweeps, cond_operator how, double alpha,
                         const double *w, const double *v, double *p, double *gamma);
/// u (rows) = J v + bias - v_hat of constraint i.
void cond_contact_velocity(const cond_contacts *contacts, int32_t i, const double *v, double *u);
/// p += alpha W J^T x of constraint i, x (rows) being a change of its impulse.
void cond_contact_respond(const cond_contacts *contacts, int32_t i, double alpha, const double *w, const double *x,
                          double *p);
/// What COND_SHIFTED raises v_n of contact i by, at velocities v and impulses gamma (row_count).
double cond_contact_shift(const cond_contacts *contacts, int32_t i, const double *v, const double *gamma);
/// Impulses of constraint i, into `out` (row_count), from those before, `gamma` (row_count), with step sizes alpha W
/// and at velocities p that have alpha W J^T gamma in them. Where no other constraint acts on its nodes, and these are
/// free nodes, `gamma` cancels, and the law holds exactly after the step. `v`: velocities before the step. `out` may be
/// `gamma`.
void cond_contact_solve(const cond_contacts *contacts, int32_t i, cond_operator how, double alpha, const double *p,
                        const double *v, const double *gamma, double *out);
/// x of a round contact by the strict or the proximal operator, in place; gt, gn: of the tangents, of the normal.
STN_KERNEL_INLINE void cond_project_round(bool strict, double mu, double gt, double gn, double *x) {
    if (strict) {
        cone_project_strict(mu, x);
        return;
    }
    const double root = sqrt(gt / gn); // the nearest point in the metric of g
    x[0] *= root;
    x[1] *= root;
    stn_cone_project(mu * root, x);
    x[0] /= root;
    x[1] /= root;
}
/// The impulse of a nodal contact, at velocities p (3) of its node without impulses, alpha w being its step size:
/// exactly its law after the step. Not of COND_SHIFTED.
STN_KERNEL_INLINE void cond_nodal_solve(const cond_nodal *n, bool strict, double step, const double *p, double *x) {
    const double gt = step * n->beta2 + n->R[0], gn = step * n->beta2 + n->R[1];
    const double *J = n->J;
    for (int32_t r = 0; r < 3; r++) {
        x[r] = -(J[3 * r] * p[0] + J[3 * r + 1] * p[1] + J[3 * r + 2] * p[2] + n->target[r]) / (r < 2 ? gt : gn);
    }
    cond_project_round(strict, n->mu, gt, gn, x);
}
/// Square of the natural map of constraint i [m^2/s^2], of Coulomb's law or of its relaxation, no smaller than what
/// rounding hides of it; *speed becomes the largest speed of its rows, if that is larger.
double cond_contact_residual(const cond_contacts *contacts, int32_t i, bool coulomb, const double *v,
                             const double *gamma, double *speed);
/// q = J^T gamma in the places of unit k.
void cond_unit_gather(const cond_contacts *contacts, int32_t k, const double *gamma, double *q);

#endif
