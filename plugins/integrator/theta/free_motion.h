// SPDX-License-Identifier: Apache-2.0
// Stage 1 of the two-stage theta scheme: the velocity v* that a tree would reach without constraints.
#ifndef STN_THETA_FREE_MOTION_H
#define STN_THETA_FREE_MOTION_H

#include <stiction/integrator.h>

/// Where in the step forces are taken (theta), and by what mean of the velocities positions move (theta_vq); both in
/// [0, 1].
typedef struct theta_scheme {
    double theta, theta_vq;
} theta_scheme;

/// Fills A, v_star and free_impulse of every tree. STN_ERR_DIVERGED names robot and tree when Newton's iteration does
/// not end, STN_ERR_NUMERIC when A is not positive definite. Everything is taken from the view's arena.
stn_status theta_free_motion(const theta_scheme *scheme, const stn_integrator_view *view, stn_formed *formed,
                             stn_error *err);

#endif
