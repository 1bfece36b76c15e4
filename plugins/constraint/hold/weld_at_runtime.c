// SPDX-License-Identifier: Apache-2.0
// A weld that a script makes and breaks while the world runs: rigid or stiff, with limits to its force and torque.
#include "hold.h"

typedef struct weld {
    double force_limit, torque_limit, stiffness, angular_stiffness, relaxation_time;
    bool attached;
} weld;

static const stn_param params[] = {
    STN_PARAM_REAL(weld, force_limit, "N", 0.0, 0.0, INFINITY, "a larger force ends it; 0: holds any"),
    STN_PARAM_REAL(weld, torque_limit, "N m", 0.0, 0.0, INFINITY, "a larger torque ends it; 0: holds any"),
    JOINED_PARAMS(weld, "N/m"),
    JOINED_ANGULAR_PARAM(weld),
    STN_PARAM_BOOL(weld, attached, false, "from the start"),
};

static hold_stiffness stiffness_of(const weld *w) {
    return (hold_stiffness){w->stiffness, w->angular_stiffness, w->relaxation_time};
}

static stn_status check(const void *self, const stn_model *model, const stn_model_constraint *described,
                        stn_error *err) {
    if (described->end_count != 2) {
        return stn_fail(err, STN_ERR_ARGUMENT, "a weld has two ends, a and b, on links or the world");
    }
    const hold_stiffness stiffness = stiffness_of(self);
    return hold_check("a weld", &stiffness, model, described, err);
}

static void initial_reference(const void *self, const stn_kinematics *kinematics, const stn_model_constraint *described,
                              double *reference) {
    (void)kinematics;
    (void)described;
    reference[0] = ((const weld *)self)->attached ? 1.0 : 0.0;
}

static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    const weld *w = self;
    hold_state *h = state;
    if (hold_obey(h, view->reference[0])) {
        hold_attach(h, view, 1);
    }
    if (!(h->holding > 0.0)) {
        return STN_OK;
    }
    hold_bounds bounds;
    for (int32_t r = 0; r < HOLD_ROWS; r++) {
        bounds.hi[r] = (1.0 + HOLD_BOUND) * hold_or_infinite(r < 3 ? w->force_limit : w->torque_limit);
        bounds.lo[r] = -bounds.hi[r];
    }
    const hold_stiffness stiffness = stiffness_of(w);
    return hold_emit(h, view, &stiffness, &bounds, rows, err);
}

static double length(const double x[3]) {
    return stn_vec3_norm(stn_vec3_make(x[0], x[1], x[2]));
}

static stn_status finish(const void *self, const stn_constraint_view *view, const stn_row_forces *forces, void *state,
                         stn_error *err) {
    (void)view;
    (void)err;
    const weld *w = self;
    hold_state *h = state;
    if (!hold_read_forces(h, forces)) {
        return STN_OK;
    }
    if (length(h->force) > (1.0 + HOLD_MARGIN) * hold_or_infinite(w->force_limit)) {
        hold_let_go(h, HOLD_FORCE);
    } else if (length(h->torque) > (1.0 + HOLD_MARGIN) * hold_or_infinite(w->torque_limit)) {
        hold_let_go(h, HOLD_TORQUE);
    }
    return STN_OK;
}

static double energy(const void *self, const stn_constraint_view *view, const void *state) {
    const hold_stiffness stiffness = stiffness_of(self);
    return hold_energy(state, view, &stiffness);
}

static const stn_constraint_ops ops = {
    .size = sizeof ops,
    HOLD_OPS,
    .check = check,
    .initial_reference = initial_reference,
    .emit = emit,
    .energy = energy,
    .finish = finish,
};

static const char *const capabilities[] = {"slack", NULL};

const stn_plugin_desc hold_weld_at_runtime = {
    .size = sizeof hold_weld_at_runtime,
    .kind = STN_KIND_CONSTRAINT,
    .id = "weld_at_runtime",
    .version = "1.0.0",
    .summary = "Two bodies held at the pose that they have when told to, up to a force and a torque",
    .capabilities = capabilities,
    .config_size = sizeof(weld),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.constraint = &ops,
};
