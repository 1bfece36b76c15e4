// SPDX-License-Identifier: Apache-2.0
// Constraints as COND sees them: pieces of Jacobians on nodes, one number gamma a constraint in place of its block of
// the surrogate's Delassus operator, and the law of each solved in one shot.
#ifndef SOLVER_COND_CONTACTS_H
#define SOLVER_COND_CONTACTS_H

#include "layout.h"

/// The part of a Jacobian that acts on one node, or on a tree that is not nodal.
typedef struct cond_piece {
    const double *J; // (rows x columns), a row every `pitch`
    int32_t pitch, columns;
    int32_t place; // of its velocities
    int32_t constraint, row, rows;
    int32_t unit; // index into units
} cond_piece;

/// A constraint.
typedef struct cond_contact {
    int32_t first, end; // pieces
    int32_t row, rows;
    bool cone;
    bool on_bodies;             // it acts on a tree that is not nodal
    double mu[2];               // along t1, t2
    double omega;               // of the natural map, as the certificate has it
    double fuzz;                // what rounding of a slip makes of mu |v_t| [m/s]
    double bound[STN_MAX_ROWS]; // [1/kg] no less than J W J^T is; of a cone one number
} cond_contact;

/// A node, or a tree that is not nodal, which some constraint acts on.
typedef struct cond_unit {
    int32_t tree, place, width; // width: of its velocities with padding
    bool on_bodies;             // some constraint on it is
    int32_t first, end;         // of `incident`
} cond_unit;

/// How a contact's law is solved in one shot.
typedef enum cond_operator {
    COND_STRICT,   // Coulomb's law: the normal part, then the tangents [lee-2023, (26)]
    COND_PROXIMAL, // its convex relaxation: the nearest point of the cone
    COND_SHIFTED,  // Coulomb's law as the relaxation with v_n raised by mu |v_t| of the velocity before [desaxce-1998]
} cond_operator;

/// All constraints of a problem.
typedef struct cond_contacts {
    const cond_layout *layout;
    int32_t count, piece_count, unit_count;
    cond_contact *contacts;
    cond_piece *pieces;
    cond_unit *units;
    int32_t *incident; // (piece_count) pieces by unit
    double *target;    // (row_count) bias - v_hat
    double *R;         // (row_count) with what virtual nodes add
    double speed;      // the largest |J v_star + bias|, |v_hat|, and what impulses that bounds ask for make [m/s]
    double rounding;   // of J v_star + bias [m/s]
} cond_contacts;

/// `virtual_node` [1/kg]: 1/(k_v dt), what a virtual node between a contact and a body adds to R; 0: nothing.
/// Everything lives in `arena`. STN_ERR_MEMORY is the only failure.
stn_status cond_contacts_build(const cond_layout *layout, double virtual_node, stn_arena *arena, cond_contacts *out,
                               stn_error *err);
/// Sets the bounds of all constraints, from W. STN_ERR_MEMORY is the only failure.
stn_status cond_contacts_weigh(cond_contacts *contacts, const double *w, stn_arena *arena, stn_error *err);
/// Impulses of constraint i, into `out` (row_count), from those before, `gamma` (row_count), with step sizes alpha W
/// and at velocities p that have alpha W J^T gamma in them. Where no other constraint acts on its nodes, and these are
/// free nodes, `gamma` cancels, and the law holds exactly after the step. `v`: velocities before the step.
void cond_contact_solve(const cond_contacts *contacts, int32_t i, cond_operator how, double alpha, const double *p,
                        const double *v, const double *gamma, double *out);
/// Square of the natural map of constraint i [m^2/s^2], of Coulomb's law or of its relaxation, no smaller than what
/// rounding hides of it; *speed becomes the largest speed of its rows, if that is larger.
double cond_contact_residual(const cond_contacts *contacts, int32_t i, bool coulomb, const double *v,
                             const double *gamma, double *speed);
/// q = J^T gamma in the places of unit k.
void cond_unit_gather(const cond_contacts *contacts, int32_t k, const double *gamma, double *q);

#endif
