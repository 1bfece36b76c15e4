// SPDX-License-Identifier: Apache-2.0
// Keeps the origins of frame P of body A and frame Q of body B at a distance:
//
//     phi = |p_Q - p_P| - length,    phi' = u . (v_B(p_Q) - v_A(p_P)), u from P to Q
#include "common/joined.h"

#include <math.h>

typedef struct distance_config {
    double stiffness, relaxation_time; // k [N/m], tau_d [s]
    double length;                     // [m] > 0
} distance_config;

static const stn_param params[] = {
    JOINED_PARAMS(distance_config, "N/m"),
    STN_PARAM_REAL(distance_config, length, "m", (double)INFINITY, 0.0, (double)INFINITY,
                   "of the line between the two points, > 0; must be given"),
};

static stn_status check(const void *self, const stn_model *model, const stn_model_constraint *described,
                        stn_error *err) {
    const distance_config *d = self;
    stn_status status = joined_check_stiffness("stiffness", d->stiffness, "N/m", err);
    if (status != STN_OK) {
        return status;
    }
    if (isinf(d->length)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "length is missing");
    }
    if (!(d->length > 0.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "length = %g m must be > 0; a ball holds two points together at length 0", d->length);
    }
    return joined_check_links(model, described, err);
}

static int32_t row_count(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return 1;
}

static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    (void)state;
    const distance_config *d = self;
    const stn_constraint_end *ends = view->described->ends;
    const joined_origins at = joined_place(view->kinematics, view->described);
    const double length = stn_vec3_norm(at.apart);
    // where the points coincide the way in which Q leaves P, or some fixed direction when it does not
    stn_vec3 way = at.apart;
    if (length < 1e-10) {
        way = stn_vec3_sub(stn_point_velocity(view->kinematics, ends[1].body, at.Q),
                           stn_point_velocity(view->kinematics, ends[0].body, at.P));
    }
    const stn_vec3 u = stn_vec3_normalize_or(way, stn_vec3_make(0.0, 0.0, 1.0));
    stn_row_block block = stn_row_block_default(0, 1);
    block.kind = STN_CONSTRAINT_DISTANCE;
    block.stiffness = d->stiffness;
    block.relaxation_time = d->relaxation_time;
    block.phi[0] = length - d->length;
    block.point = at.Q;
    stn_status status = stn_rows_begin(rows, &block, err);
    if (status == STN_OK) {
        stn_rows_add_point(rows, 0, ends[0].body, at.P, stn_vec3_neg(u));
        stn_rows_add_point(rows, 0, ends[1].body, at.Q, u);
    }
    return status;
}

static double energy(const void *self, const stn_constraint_view *view, const void *state) {
    (void)state;
    const distance_config *d = self;
    if (isinf(d->stiffness)) {
        return 0.0;
    }
    const joined_origins at = joined_place(view->kinematics, view->described);
    const double error = stn_vec3_norm(at.apart) - d->length;
    return joined_energy(d->stiffness, error * error);
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
    .id = "distance",
    .version = "1.0.0",
    .summary = "Keeps two points of two bodies at a distance",
    .config_size = sizeof(distance_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.constraint = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
