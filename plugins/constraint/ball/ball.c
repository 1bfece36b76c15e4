// SPDX-License-Identifier: Apache-2.0
// Holds the origins of frame P of body A and frame Q of body B together, in world axes:
//
//     phi = p_Q - p_P,    phi' = v_B(m) - v_A(m), m halfway between them
#include "common/joined.h"

#include <math.h>

typedef struct ball_config {
    double stiffness, relaxation_time; // k [N/m], tau_d [s]
} ball_config;

static const stn_param params[] = {
    JOINED_PARAMS(ball_config, "N/m"),
};

static stn_status check(const void *self, const stn_model *model, const stn_model_constraint *described,
                        stn_error *err) {
    const ball_config *b = self;
    stn_status status = joined_check_stiffness("stiffness", b->stiffness, "N/m", err);
    return status == STN_OK ? joined_check_links(model, described, err) : status;
}

static int32_t row_count(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return 3;
}

static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    (void)state;
    const ball_config *b = self;
    const joined_origins at = joined_place(view->kinematics, view->described);
    stn_row_block block = stn_row_block_default(0, 3);
    block.kind = STN_CONSTRAINT_BALL;
    block.stiffness = b->stiffness;
    block.relaxation_time = b->relaxation_time;
    return joined_emit_origins(view, &at, &block, rows, err);
}

static double energy(const void *self, const stn_constraint_view *view, const void *state) {
    (void)state;
    const ball_config *b = self;
    if (isinf(b->stiffness)) {
        return 0.0;
    }
    const joined_origins at = joined_place(view->kinematics, view->described);
    return joined_energy(b->stiffness, stn_vec3_dot(at.apart, at.apart));
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
    .id = "ball",
    .version = "1.0.0",
    .summary = "Holds a point of one body on a point of another",
    .config_size = sizeof(ball_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.constraint = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
