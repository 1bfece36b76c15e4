// SPDX-License-Identifier: Apache-2.0
// Couples two joints a and b with one velocity each:
//
//     phi = q_a - ratio q_b - offset,    phi' = v_a - ratio v_b
#include "common/joined.h"

#include <math.h>

typedef struct gear_config {
    double stiffness, relaxation_time; // of joint a: k [N/m or N m/rad], tau_d [s]
    double ratio, offset;              // [1, m/rad or rad/m], [rad] or [m]
} gear_config;

static const stn_param params[] = {
    JOINED_PARAMS(gear_config, "N/m or N m/rad"),
    STN_PARAM_REAL(gear_config, ratio, "1", 1.0, -STN_ROW_LARGEST, STN_ROW_LARGEST,
                   "motion of joint a over that of joint b, not 0; m/rad or rad/m where one slides"),
    STN_PARAM_REAL(gear_config, offset, "rad or m", 0.0, -(double)INFINITY, (double)INFINITY,
                   "of joint a where joint b is at 0"),
};

static stn_status check(const void *self, const stn_model *model, const stn_model_constraint *described,
                        stn_error *err) {
    const gear_config *g = self;
    stn_status status = joined_check_stiffness("stiffness", g->stiffness, "N/m or N m/rad", err);
    if (status == STN_OK && g->ratio == 0.0) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "ratio = 0 couples nothing; it must not be 0");
    }
    return status == STN_OK ? joined_check_joints(model, described, err) : status;
}

static int32_t row_count(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return 1;
}

static double error_of(const gear_config *g, const stn_constraint_view *view) {
    const stn_constraint_end *ends = view->described->ends;
    const stn_joint *joints = view->model->joints;
    const double q_a = view->q[joints[ends[0].joint].q_start], q_b = view->q[joints[ends[1].joint].q_start];
    return q_a - g->ratio * q_b - g->offset;
}

static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    (void)state;
    const gear_config *g = self;
    const stn_constraint_end *ends = view->described->ends;
    const stn_joint *joints = view->model->joints;
    stn_row_block block = stn_row_block_default(0, 1);
    block.kind = STN_CONSTRAINT_COUPLER;
    block.unit = ""; // rad or m
    block.stiffness = g->stiffness;
    block.relaxation_time = g->relaxation_time;
    block.phi[0] = error_of(g, view);
    stn_status status = stn_rows_begin(rows, &block, err);
    if (status == STN_OK) {
        stn_rows_add_dof(rows, 0, joints[ends[0].joint].v_start, 1.0);
        stn_rows_add_dof(rows, 0, joints[ends[1].joint].v_start, -g->ratio);
    }
    return status;
}

static double energy(const void *self, const stn_constraint_view *view, const void *state) {
    (void)state;
    const gear_config *g = self;
    if (isinf(g->stiffness)) {
        return 0.0;
    }
    const double error = error_of(g, view);
    return joined_energy(g->stiffness, error * error);
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
    .id = "gear",
    .version = "1.0.0",
    .summary = "Couples the motions of two joints by a ratio",
    .config_size = sizeof(gear_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.constraint = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
