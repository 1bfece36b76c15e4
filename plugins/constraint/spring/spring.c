// SPDX-License-Identifier: Apache-2.0
// A spring and damper between points P and Q of any two bodies, along the line PQ:
//
//     f = -k (|PQ| - length) - d |PQ|'        pushes P and Q apart where it is > 0
//
// at the step's end; one that only pulls (a rope, a rubber band) has f <= 0, which also cuts the damper's push.
#include <math.h>
#include <stiction/plugin.h>

#include "common/joined.h"

typedef struct spring {
    double stiffness, damping, length;
    bool tension_only;
} spring;

static const stn_param params[] = {
    STN_PARAM_REAL(spring, stiffness, "N/m", 0.0, 0.0, INFINITY, "force per length"),
    STN_PARAM_REAL(spring, damping, "N s/m", 0.0, 0.0, INFINITY, "force per speed along the line"),
    STN_PARAM_REAL(spring, length, "m", -1.0, -1.0, INFINITY, "at rest; below 0: that of the start"),
    STN_PARAM_BOOL(spring, tension_only, false, "pulls, but never pushes"),
};

static const stn_channel channels[] = {{"length", "m", "at which the spring is at rest", 1}};

static stn_status check(const void *self, const stn_model *model, const stn_model_constraint *described,
                        stn_error *err) {
    const spring *s = self;
    if (s->stiffness == 0.0 && s->damping == 0.0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "stiffness and damping are both 0; give one of them");
    }
    if (isinf(s->stiffness) || isinf(s->damping)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "stiffness and damping must be finite; a \"distance\" holds two points rigidly");
    }
    return joined_check_links(model, described, err);
}

static int32_t row_count(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return 1;
}

typedef struct line {
    joined_origins at;
    stn_vec3 along; // unit from P to Q
    double length;
} line;

static line line_of(const stn_kinematics *kinematics, const stn_model_constraint *described) {
    line l = {.at = joined_place(kinematics, described)};
    l.length = stn_vec3_norm(l.at.apart);
    // where the ends coincide no direction is better than another
    l.along = stn_vec3_normalize_or(l.at.apart, stn_vec3_make(0.0, 0.0, 1.0));
    return l;
}

/// At rest where the ends are at the start, unless told.
static void initial_reference(const void *self, const stn_kinematics *kinematics, const stn_model_constraint *described,
                              double *reference) {
    const spring *s = self;
    reference[0] = s->length < 0.0 ? line_of(kinematics, described).length : s->length;
}

/// [J] stored when it is `longer` than at rest.
static double stored(const spring *s, double longer) {
    return s->tension_only && longer < 0.0 ? 0.0 : 0.5 * s->stiffness * longer * longer;
}

/// What it keeps: who moves the channel does work between the steps.
typedef struct memory {
    int64_t stepped;
    double length; // the channel, in the last step
} memory;

static size_t state_size(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return sizeof(memory);
}

static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    const spring *s = self;
    memory *before = state;
    line l = line_of(view->kinematics, view->described);
    if (view->reference[0] < 0.0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "its channel length was set to %g m: give a length >= 0",
                        view->reference[0]);
    }
    stn_row_block block = stn_row_block_default(0, 1);
    block.point = stn_vec3_scale(0.5, stn_vec3_add(l.at.P, l.at.Q));
    if (before->stepped) {
        block.input_work = stored(s, l.length - view->reference[0]) - stored(s, l.length - before->length);
    }
    *before = (memory){1, view->reference[0]};
    block.phi[0] = l.length - view->reference[0];
    stn_row_block_set_spring(&block, s->stiffness, s->damping, view->dt);
    block.hi[0] = s->tension_only ? 0.0 : block.hi[0];
    stn_status status = stn_rows_begin(rows, &block, err);
    if (status != STN_OK) {
        return status;
    }
    stn_rows_add_point(rows, 0, view->described->ends[0].body, l.at.P, stn_vec3_scale(-1.0, l.along));
    stn_rows_add_point(rows, 0, view->described->ends[1].body, l.at.Q, l.along);
    return STN_OK;
}

static double energy(const void *self, const stn_constraint_view *view, const void *state) {
    (void)state;
    return stored(self, line_of(view->kinematics, view->described).length - view->reference[0]);
}

static const stn_constraint_ops ops = {
    .size = sizeof ops,
    .channel_count = STN_COUNT(channels),
    .channels = channels,
    .check = check,
    .row_count = row_count,
    .state_size = state_size,
    .initial_reference = initial_reference,
    .emit = emit,
    .energy = energy,
};

static const char *const capabilities[] = {"slack", NULL};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONSTRAINT,
    .id = "spring",
    .version = "1.0.0",
    .summary = "Spring and damper between points of two bodies, also one that only pulls",
    .capabilities = capabilities,
    .config_size = sizeof(spring),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.constraint = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
