// SPDX-License-Identifier: Apache-2.0
// What constraints between two frames or two joints share: which ends are refused, and where they are.
#ifndef STICTION_PLUGINS_CONSTRAINT_COMMON_JOINED_H
#define STICTION_PLUGINS_CONSTRAINT_COMMON_JOINED_H

#include <stiction/plugin.h>

/// Parameters of member `stiffness` (k) and `relaxation_time` (tau_d) of struct `config`.
#define JOINED_PARAMS(config, unit)                                                                             \
    STN_PARAM_REAL(config, stiffness, unit, (double)INFINITY, 0.0, (double)INFINITY, "k > 0; infinite: rigid"), \
        STN_PARAM_REAL(config, relaxation_time, "s", 0.0, 0.0, (double)INFINITY,                                \
                       "tau_d of what is not rigid: damping is k tau_d")

/// That of member `angular_stiffness` (kappa).
#define JOINED_ANGULAR_PARAM(config)                                                              \
    STN_PARAM_REAL(config, angular_stiffness, "N m/rad", (double)INFINITY, 0.0, (double)INFINITY, \
                   "kappa > 0 of the rotation; infinite: rigid")

/// STN_ERR_ARGUMENT unless value > 0.
stn_status joined_check_stiffness(const char *name, double value, const char *unit, stn_error *err);
/// STN_ERR_ARGUMENT unless the ends are frames on two bodies.
stn_status joined_check_links(const stn_model *model, const stn_model_constraint *described, stn_error *err);
/// STN_ERR_ARGUMENT unless the ends are two joints.
stn_status joined_check_joints(const stn_model *model, const stn_model_constraint *described, stn_error *err);

/// The origins of the frames P and Q of both ends in the world.
typedef struct joined_origins {
    stn_vec3 P, Q, apart; // apart: from P to Q
} joined_origins;

joined_origins joined_place(const stn_kinematics *kinematics, const stn_model_constraint *described);
/// Three rows that hold the origins of P and Q together, acting halfway between them: both bodies feel the impulse at
/// one point, so that angular momentum is kept also while P and Q are apart. Of `block` the kind, stiffness and
/// relaxation time are set; the rest is filled in.
stn_status joined_emit_origins(const stn_constraint_view *view, const joined_origins *at, stn_row_block *block,
                               stn_rows *rows, stn_error *err);
/// [J] of a spring with this stiffness; 0 where it is rigid.
double joined_energy(double stiffness, double error_squared);

#endif
