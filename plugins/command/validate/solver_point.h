// SPDX-License-Identifier: Apache-2.0
// A point on a floor, the problem whose answer is known under every law.
#ifndef STICTION_COMMAND_VALIDATE_SOLVER_POINT_H
#define STICTION_COMMAND_VALIDATE_SOLVER_POINT_H

#include "solver_subject.h"

/// A point of 2 kg that touches a floor with mu = 0.5 at rest; NULL: the trial is decided.
stn_problem *point_on_floor(solver_subject *s, const double v_star[3]);

/// Decides the trial: points that hardly slip, slide and lift off under the law at hand, against the roots that
/// bisection finds with the law's own impulses.
void solver_point_by_bisection(solver_subject *s);

#endif
