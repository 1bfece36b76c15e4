// SPDX-License-Identifier: Apache-2.0
// Implicit differentiation of a solution over the unknowns that are strictly inside their bounds, F:
//
//     A dv = J^T dgamma + impulse
//     r_u.(J dv + R dgamma + velocity) = 0  for u in F
//     dgamma = sum of dbeta_u r_u           over F
//
// F of a contact is read from where its impulse lies: all rays inside of the pyramid, two at a face, one at an edge.
// Where unknowns of F depend on others, the velocities obey a basis of them, and dbeta is the least that does.
//
// Where A is singular and leaves v open on F, v is where proximal steps from v = 0 end: what pressed in one of them and
// rests at v joins F. What is open even then stays: dv is the least in delta D.
#ifndef QP_DIFFERENTIATE_H
#define QP_DIFFERENTIATE_H

#include "rays.h"

/// stn_solver_ops.differentiate of a problem whose rays are built. STN_ERR_NUMERIC: v is one of many, and not by steps
/// that can be followed; nothing resists an impulse; members of F that depend on others would part.
stn_status differentiate_rays(rays *r, active_set *set, const stn_solution *solution,
                              const stn_sensitivity *sensitivity, stn_error *err);

#endif
