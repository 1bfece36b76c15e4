// SPDX-License-Identifier: Apache-2.0
// A tendon: one cable whose tension acts along all of its path, which may run through points of any number of bodies
// and over joints. Its length is
//
//     l = sum over neighbouring points |P_i P_i+1| + sum over joints r_j q_j
//
// (a fixed tendon has joints alone, with constant moment arms r_j), and its force along l is, at the step's end,
//
//     f = clamp(-k (l - length) - d l' - tension, -limit, 0)
//
// where `tension` is what a motor adds. A cable pulls and never pushes; two_sided lets a push rod or a coupling push.
#include <math.h>
#include <stiction/plugin.h>

typedef struct tendon {
    double stiffness, damping, limit, length;
    bool two_sided;
} tendon;

static const stn_param params[] = {
    STN_PARAM_REAL(tendon, stiffness, "N/m", 0.0, 0.0, INFINITY, "force per length; 0: only `tension` pulls"),
    STN_PARAM_REAL(tendon, damping, "N s/m", 0.0, 0.0, INFINITY, "force per speed of the length"),
    STN_PARAM_REAL(tendon, limit, "N", 0.0, 0.0, INFINITY, "most tension that it bears; 0: any"),
    STN_PARAM_REAL(tendon, length, "m", -1.0, -1.0, INFINITY, "at rest; below 0: that of the start"),
    STN_PARAM_BOOL(tendon, two_sided, false, "pushes too, as a rod does"),
};

enum { LENGTH, TENSION };
static const stn_channel channels[] = {
    [LENGTH] = {"length", "m", "at which the tendon is at rest", 1},
    [TENSION] = {"tension", "N", "that a motor adds, >= 0 pulls", 1},
};

static stn_status check(const void *self, const stn_model *model, const stn_model_constraint *described,
                        stn_error *err) {
    const tendon *t = self;
    (void)model;
    int32_t points = 0;
    for (int32_t i = 0; i < described->end_count; i++) {
        points += described->ends[i].joint < 0;
        if (described->ends[i].joint >= 0 && described->ends[i].factor == 0.0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "the moment arm on joint '%s' is 0, so that nothing pulls it",
                            model->joints[described->ends[i].joint].name);
        }
    }
    if (points == 1) {
        return stn_fail(err, STN_ERR_ARGUMENT, "its path has one point; it needs two, or none and joints");
    }
    if (isinf(t->stiffness) || isinf(t->damping)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "stiffness and damping must be finite");
    }
    return STN_OK;
}

static int32_t row_count(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return 1;
}

static stn_vec3 point_of(const stn_kinematics *kinematics, const stn_constraint_end *end) {
    return stn_pose_apply(&kinematics->body_pose[end->body], end->frame.position);
}

static double length_of(const stn_kinematics *kinematics, const stn_model_constraint *described) {
    const stn_constraint_end *before = NULL;
    double length = 0.0;
    for (int32_t i = 0; i < described->end_count; i++) {
        const stn_constraint_end *end = &described->ends[i];
        if (end->joint >= 0) {
            length += end->factor * kinematics->q[kinematics->model->joints[end->joint].q_start];
            continue;
        }
        if (before != NULL) {
            length += stn_vec3_norm(stn_vec3_sub(point_of(kinematics, end), point_of(kinematics, before)));
        }
        before = end;
    }
    return length;
}

/// At rest at the start, unless told.
static void initial_reference(const void *self, const stn_kinematics *kinematics, const stn_model_constraint *described,
                              double *reference) {
    const tendon *t = self;
    reference[LENGTH] = t->length < 0.0 ? length_of(kinematics, described) : t->length;
}

/// l' as a sum of what points and joints do.
static void add_path(const stn_constraint_view *view, stn_rows *rows) {
    const stn_kinematics *kinematics = view->kinematics;
    const stn_constraint_end *before = NULL;
    for (int32_t i = 0; i < view->described->end_count; i++) {
        const stn_constraint_end *end = &view->described->ends[i];
        if (end->joint >= 0) {
            stn_rows_add_dof(rows, 0, view->model->joints[end->joint].v_start, end->factor);
            continue;
        }
        if (before != NULL) {
            stn_vec3 a = point_of(kinematics, before), b = point_of(kinematics, end);
            stn_vec3 along = stn_vec3_normalize_or(stn_vec3_sub(b, a), stn_vec3_zero());
            stn_rows_add_point(rows, 0, before->body, a, stn_vec3_scale(-1.0, along));
            stn_rows_add_point(rows, 0, end->body, b, along);
        }
        before = end;
    }
}

static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    (void)state;
    const tendon *t = self;
    double longer = length_of(view->kinematics, view->described) - view->reference[LENGTH];
    double tension = view->reference[TENSION], limit = t->limit > 0.0 ? t->limit : (double)INFINITY;
    stn_row_block block = stn_row_block_default(0, 1);
    block.point = point_of(view->kinematics, &view->described->ends[0]);
    if (t->stiffness > 0.0) { // -k (l - length) - tension = -k (l - length + tension/k)
        block.phi[0] = longer + tension / t->stiffness;
        block.stiffness = t->stiffness;
        block.relaxation_time = t->damping / t->stiffness;
    } else if (t->damping > 0.0) { // no spring: k (dt + tau_d) = d, k phi = tension
        block.stiffness = t->damping / (2.0 * view->dt);
        block.relaxation_time = view->dt;
        block.phi[0] = tension / block.stiffness;
    } else { // the motor alone: the bounds leave one force
        block.lo[0] = block.hi[0] = -fmax(t->two_sided ? -limit : 0.0, fmin(tension, limit));
    }
    if (t->stiffness > 0.0 || t->damping > 0.0) {
        block.lo[0] = -limit;
        block.hi[0] = t->two_sided ? limit : 0.0;
    }
    stn_status status = stn_rows_begin(rows, &block, err);
    if (status == STN_OK) {
        add_path(view, rows);
    }
    return status;
}

static double energy(const void *self, const stn_constraint_view *view, const void *state) {
    (void)state;
    const tendon *t = self;
    double longer = length_of(view->kinematics, view->described) - view->reference[LENGTH];
    return !t->two_sided && longer < 0.0 ? 0.0 : 0.5 * t->stiffness * longer * longer;
}

static const stn_constraint_ops ops = {
    .size = sizeof ops,
    .channel_count = STN_COUNT(channels),
    .channels = channels,
    .check = check,
    .row_count = row_count,
    .initial_reference = initial_reference,
    .emit = emit,
    .energy = energy,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONSTRAINT,
    .id = "tendon",
    .version = "1.0.0",
    .summary = "Cable through points of any bodies and over joints, slack or elastic, with a motor's tension",
    .config_size = sizeof(tendon),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.constraint = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
