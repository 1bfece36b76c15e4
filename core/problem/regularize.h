// SPDX-License-Identifier: Apache-2.0
// What the regularisation of contacts shares with the certificate and with worlds.
#ifndef STICTION_CORE_PROBLEM_REGULARIZE_H
#define STICTION_CORE_PROBLEM_REGULARIZE_H

#include <stiction/problem.h>

/// Newton's law of impact for a rigid contact with a coefficient of restitution e, in a problem of the global form. It
/// is an impact when the contact closes faster than by what the forces of two steps make, v_n0 < -2 |n.J (v_star -
/// v0)|; what is slower rests. `*speed` is then what v_n must reach at least [m/s]: -e v_n0, or what leads out of an
/// overlap when that is more, in the step that closes it, phi0 + dt n.J v_star <= 0; before that -phi0/dt, so that no
/// relaxation time brakes it. With velocities of kind `mid` the mean of before and after. False: no impact, `*speed` is
/// left alone.
bool problem_impact(const stn_problem *problem, const stn_constraint *contact, double *speed);

#endif
