// SPDX-License-Identifier: Apache-2.0
// Holds frame P of body A and frame Q of body B together, in world axes:
//
//     part 0   translation  phi = p_Q - p_P,                          phi' = v_B(m) - v_A(m), m halfway between them
//     part 1   rotation     phi = the vector that turns P into Q,     phi' = omega_B - omega_A
//
// A block each, because their inverse masses have different units.
#include "common/joined.h"

#include <math.h>

typedef struct weld_config {
    double stiffness;         // k of the translation [N/m]
    double relaxation_time;   // tau_d [s]
    double angular_stiffness; // kappa of the rotation [N m/rad]
} weld_config;

static const stn_param params[] = {
    JOINED_PARAMS(weld_config, "N/m"),
    JOINED_ANGULAR_PARAM(weld_config),
};

static stn_status check(const void *self, const stn_model *model, const stn_model_constraint *described,
                        stn_error *err) {
    const weld_config *w = self;
    stn_status status = joined_check_stiffness("stiffness", w->stiffness, "N/m", err);
    if (status == STN_OK) {
        status = joined_check_stiffness("angular_stiffness", w->angular_stiffness, "N m/rad", err);
    }
    return status == STN_OK ? joined_check_links(model, described, err) : status;
}

static int32_t row_count(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return 6;
}

/// The rotation vector that turns P into Q, world.
static stn_vec3 turn_of(const stn_kinematics *kinematics, const stn_constraint_end *ends) {
    stn_mat3 P = stn_mat3_mul(&kinematics->body_pose[ends[0].body].rotation, &ends[0].frame.rotation);
    stn_mat3 Q = stn_mat3_mul(&kinematics->body_pose[ends[1].body].rotation, &ends[1].frame.rotation);
    stn_mat3 back = stn_mat3_transpose(&P), turn = stn_mat3_mul(&Q, &back);
    return stn_quat_log(stn_quat_from_matrix(&turn));
}

static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    (void)state;
    const weld_config *w = self;
    const stn_constraint_end *ends = view->described->ends;
    const joined_origins at = joined_place(view->kinematics, view->described);
    stn_row_block block = stn_row_block_default(0, 3);
    block.kind = STN_CONSTRAINT_WELD;
    block.stiffness = w->stiffness;
    block.relaxation_time = w->relaxation_time;
    stn_status status = joined_emit_origins(view, &at, &block, rows, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_mat3 along = stn_mat3_identity(), against = stn_mat3_diagonal(-1.0, -1.0, -1.0);
    const stn_vec3 turn = turn_of(view->kinematics, ends);
    block.part = 1; // at the same point
    block.unit = "rad";
    block.stiffness = w->angular_stiffness;
    block.phi[0] = turn.x;
    block.phi[1] = turn.y;
    block.phi[2] = turn.z;
    status = stn_rows_begin(rows, &block, err);
    if (status == STN_OK) {
        stn_rows_add_rotation_axes(rows, 0, ends[0].body, &against);
        stn_rows_add_rotation_axes(rows, 0, ends[1].body, &along);
    }
    return status;
}

static double energy(const void *self, const stn_constraint_view *view, const void *state) {
    (void)state;
    const weld_config *w = self;
    if (isinf(w->stiffness) && isinf(w->angular_stiffness)) {
        return 0.0;
    }
    const joined_origins at = joined_place(view->kinematics, view->described);
    const stn_vec3 turn = turn_of(view->kinematics, view->described->ends);
    return joined_energy(w->stiffness, stn_vec3_dot(at.apart, at.apart)) +
           joined_energy(w->angular_stiffness, stn_vec3_dot(turn, turn));
}

static const stn_constraint_ops ops = {
    .size = sizeof ops,
    .check = check,
    .row_count = row_count,
    .emit = emit,
    .energy = energy,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONSTRAINT,
    .id = "weld",
    .version = "1.0.0",
    .summary = "Holds a frame of one body on a frame of another",
    .config_size = sizeof(weld_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.constraint = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
