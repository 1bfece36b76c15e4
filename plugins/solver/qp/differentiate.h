// SPDX-License-Identifier: Apache-2.0
// Implicit differentiation of a solution over the unknowns that are strictly inside their bounds, F:
//
//     A dv = J^T dgamma + impulse,    r_u.(J dv + R dgamma + velocity) = 0 for u in F,    dgamma = sum over F of
//     dbeta_u r_u
//
// F of a contact is read from where its impulse lies: all rays inside of the pyramid, two at a face, one at an edge.
// Where unknowns of F depend on others, the velocities obey a basis of them, and dbeta is the least that does.
#ifndef QP_DIFFERENTIATE_H
#define QP_DIFFERENTIATE_H

#include "rays.h"

/// stn_solver_ops.differentiate of a problem whose rays are built.
stn_status differentiate_rays(rays *r, active_set *set, const stn_solution *solution,
                              const stn_sensitivity *sensitivity, stn_error *err);

#endif
