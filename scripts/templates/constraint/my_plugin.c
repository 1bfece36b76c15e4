// my_plugin.c: a rope of a given length between a point of one body and a point of another one. Its one row measures
//   phi = |PQ| - length,   phi' = u . (v_Q - v_P),   u from P to Q
// and the force along it is at most 0: it pulls when the step would end with phi > 0, and does nothing before. The core
// makes Jacobian, impulse and warm start of that; every solver treats the row as it treats contacts. What to change
// first: phi and its rate in `emit`; stiffness and relaxation_time, for what gives way (stn_row_block_set_spring, after
// phi, for a spring with a damper or either alone); lo and hi, for what force it may have; more rows in a block, or
// more blocks.
#include <stiction/plugin.h>

typedef struct settings {
    double length;
} settings;

static const stn_param params[] = {
    STN_PARAM_REAL(settings, length, "m", 1.0, 0.0, INFINITY, "of the rope"),
};

/// Two frames on two bodies, or on a body and the world.
static stn_status check(const void *self, const stn_model *model, const stn_model_constraint *described,
                        stn_error *err) {
    (void)self;
    (void)model;
    const stn_constraint_end *ends = described->ends;
    bool fits = described->end_count == 2 && ends[0].joint < 0 && ends[1].joint < 0 && ends[0].body != ends[1].body;
    return fits ? STN_OK : stn_fail(err, STN_ERR_ARGUMENT, "it has two ends, a and b, on two bodies");
}

static int32_t row_count(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return 1;
}

static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    (void)state;
    const settings *config = self; // without a create function, self is the configuration
    const stn_constraint_end *a = &view->described->ends[0], *b = &view->described->ends[1];
    stn_vec3 p = stn_pose_apply(&view->kinematics->body_pose[a->body], a->frame.position);
    stn_vec3 q = stn_pose_apply(&view->kinematics->body_pose[b->body], b->frame.position);
    stn_vec3 apart = stn_vec3_sub(q, p), u = stn_vec3_normalize_or(apart, stn_vec3_make(0.0, 0.0, 1.0));
    stn_row_block block = stn_row_block_default(0, 1); // rigid
    block.phi[0] = stn_vec3_norm(apart) - config->length;
    block.hi[0] = 0.0; // pulls alone
    block.point = p;
    stn_status status = stn_rows_begin(rows, &block, err);
    if (status == STN_OK) {
        stn_rows_add_point(rows, 0, a->body, p, stn_vec3_neg(u));
        stn_rows_add_point(rows, 0, b->body, q, u);
    }
    return status;
}

static const stn_constraint_ops ops = {
    .size = sizeof ops,
    .check = check,
    .row_count = row_count,
    .emit = emit,
};

static const char *const capabilities[] = {"slack", NULL}; // one-sided: leave it out if your rows push and pull

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONSTRAINT,
    .id = "my_plugin",
    .version = "0.1.0",
    .summary = "Rope of a given length between points of two bodies",
    .capabilities = capabilities,
    .config_size = sizeof(settings),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.constraint = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor); // the one exported symbol
