// my_plugin.c: every joint as a spring and damper about its reference, no stronger than the joint's motor:
//   u = clamp(-kp (q - q_ref) - kd v, -effort, effort),   q, v at the step's end
// The gains are handed over with the force, so that the step treats them implicitly and stiff gains stay stable. A
// joint with an effort limit becomes a servo: limit and gains are then solved together with the contacts. What to
// change first: the line that makes `error`; channels, for other references; stn_forces_add_effort for a force without
// gains.
#include <stiction/plugin.h>

typedef struct settings {
    double kp, kd;
} settings;

static const stn_param params[] = {
    STN_PARAM_REAL(settings, kp, "N m/rad, N/m", 100.0, 0.0, INFINITY, "position gain"),
    STN_PARAM_REAL(settings, kd, "N m s/rad, N s/m", 10.0, 0.0, INFINITY, "velocity gain"),
};

static const stn_channel channels[] = {
    {"position", "rad, m", "where the joints should be", 0}, // 0: one value for each velocity
};

/// The coordinate whose rate velocity `dof` is; there is one but for joints whose attitude is a quaternion.
static int32_t coordinate_of(const stn_model *model, int32_t dof) {
    const stn_joint *joint = &model->joints[model->dof_joint[dof]];
    return joint->q_start + dof - joint->v_start;
}

static stn_status bind(void *self, const stn_control_target *target, stn_error *err) {
    (void)self;
    for (int32_t i = 0; i < target->joint_count; i++) {
        const stn_joint *joint = &target->model->joints[target->joint[i]];
        if (joint->nq != joint->nv) {
            return stn_fail(err, STN_ERR_UNSUPPORTED,
                            "joint %s is %s, whose attitude is a quaternion; name the other joints with joints = {...}",
                            joint->name, stn_joint_type_name(joint->type));
        }
    }
    return STN_OK;
}

/// Until a script sets any: stay where you are.
static void initial_reference(const void *self, const stn_control_target *target, const double *q, double *reference) {
    (void)self;
    for (int32_t i = 0; i < target->dof_count; i++) {
        reference[i] = q[coordinate_of(target->model, target->dof[i])];
    }
}

static stn_status evaluate(void *self, const stn_control_view *view, const double *reference, void *state,
                           stn_forces *forces, stn_error *err) {
    (void)state;
    const settings *config = self; // without a create function, self is the configuration
    const stn_model *model = view->target->model;
    stn_status status = STN_OK;
    for (int32_t i = 0; i < view->target->dof_count && status == STN_OK; i++) {
        int32_t dof = view->target->dof[i];
        double effort = model->joints[model->dof_joint[dof]].effort;
        double error = view->q[coordinate_of(model, dof)] - reference[i];
        if (!isfinite(effort)) {
            stn_forces_add_gain(forces, dof, config->kp, config->kd, -config->kp * error - config->kd * view->v[dof]);
        } else if (effort > 0.0 && config->kp + config->kd > 0.0) { // else there is no motor, or it does nothing
            stn_servo servo = {.dof = dof, .kp = config->kp, .kd = config->kd, .error = error, .effort = effort};
            status = stn_forces_add_servo(forces, &servo, err);
        }
    }
    return status;
}

static const stn_controller_ops ops = {
    .size = sizeof ops,
    .channel_count = STN_COUNT(channels),
    .channels = channels,
    .bind = bind,
    .initial_reference = initial_reference,
    .evaluate = evaluate,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONTROLLER,
    .id = "my_plugin",
    .version = "0.1.0",
    .summary = "Joints as springs and dampers about their references, within their effort limits",
    .config_size = sizeof(settings),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.controller = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor); // the one exported symbol
