// SPDX-License-Identifier: Apache-2.0
// The linearly implicit Euler step, which symplectic_euler makes once and xpbd in every sub-step.
#ifndef STN_INTEGRATOR_SEMI_IMPLICIT_H
#define STN_INTEGRATOR_SEMI_IMPLICIT_H

#include <stiction/integrator.h>

/// Of tree t: A_t = M + dt^2 K + dt D, in place of what A_t of `formed` holds, and the free impulse
///
///     dt (tau - c(q0, v0, v*)) - dt^2 K v0      [N s],  A_t (v* - v0) = free impulse
///
/// where c holds gravity, Coriolis and gyroscopic forces (turning_tree.h, spinning_body.h). STN_NOT_CONVERGED: as
/// `form` of stn_integrator_ops. `room`: of semi_implicit_room.
stn_status semi_implicit_form_tree(const stn_integrator_view *view, int32_t t, const stn_formed *formed, double *room,
                                   stn_error *err);
/// Room for any tree of the model, in the view's arena; NULL: out of memory.
double *semi_implicit_room(const stn_integrator_view *view);
/// The same of all trees, with v_star = v0: what `form` of an integrator has to fill.
stn_status semi_implicit_form(const stn_integrator_view *view, const stn_formed *formed, stn_error *err);
/// q = q0 + dt N(q0) v, of v_position where there is one; v_next = v. What `advance` has to fill.
void semi_implicit_advance(const stn_integrator_view *view, const double *v, double *q_next, double *v_next);

#endif
