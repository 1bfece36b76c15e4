// SPDX-License-Identifier: Apache-2.0
// Implicit differentiation of a solution over the unknowns that are strictly inside their bounds, F:
//
//     A dv = J^T dgamma + impulse
//     r_u.(J dv + R dgamma + velocity) = 0  for u in F
//     dgamma = sum of dbeta_u r_u           over F
//
// F is what presses (pressing.h). Where unknowns of F depend on others, the velocities obey a basis of them, and dbeta
// is the least that does.
//
// Where A is singular and leaves v open on F, v is the solution nearest to v_guess (nearest.h): what bounds it on the
// way there rests with F, and gets no impulse. What is open even then stays: dv is the least in delta D.
#ifndef QP_DIFFERENTIATE_H
#define QP_DIFFERENTIATE_H

#include "rays.h"

/// stn_solver_ops.differentiate of a problem whose rays are built. STN_ERR_NUMERIC: v is not the
/// nearest to v_guess; nothing that presses resists an impulse; members of F that depend on others would part; what
/// bounds a motion that costs nothing would open on one side and close on the other.
stn_status differentiate_rays(rays *r, active_set *set, const stn_solution *solution,
                              const stn_sensitivity *sensitivity, stn_error *err);

#endif
