// SPDX-License-Identifier: Apache-2.0
#include "common/press.h"

double press_ratio(const stn_model *model, int32_t driver, int32_t joint) {
    double ratio = 1.0;
    while (joint != driver && model->joints[joint].mimic >= 0) {
        ratio *= model->joints[joint].mimic_multiplier;
        joint = model->joints[joint].mimic;
    }
    return joint == driver ? ratio : 0.0;
}

stn_status press_check(const stn_channel *channels, const double *reference, int32_t channel, stn_error *err) {
    return reference[channel] >= 0.0 ? STN_OK
                                     : stn_fail(err, STN_ERR_ARGUMENT, "%s = %g %s, must be >= 0",
                                                channels[channel].name, reference[channel], channels[channel].unit);
}

int32_t press_joints(const stn_control_target *target, press_joint *out) {
    int32_t count = 0;
    for (int32_t j = 0; j < target->model->joint_count; j++) {
        for (int32_t i = 0; i < target->joint_count; i++) {
            double ratio = press_ratio(target->model, target->joint[i], j);
            if (ratio != 0.0) {
                out[count++] = (press_joint){i, j, ratio};
            }
        }
    }
    return count;
}

stn_status press_weights(const stn_control_view *view, const press_joint *joints, int32_t count, double **weight,
                         stn_error *err) {
    const stn_model *model = view->target->model;
    double *efforts = NULL;
    *weight = STN_ARENA_ZEROED(view->arena, view->target->dof_count, double);
    if (*weight == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t k = 0, last = -1; k < count; k++) {
        int32_t dof = model->joints[joints[k].joint].v_start, t = model->dof_tree[dof];
        if (t != last) { // joints of a tree follow each other
            stn_spatial *scratch = STN_ARENA(view->arena, model->trees[t].body_count + 1, stn_spatial);
            efforts = STN_ARENA(view->arena, model->trees[t].nv, double);
            if (scratch == NULL || efforts == NULL) {
                return stn_fail(err, STN_ERR_MEMORY, "out of memory");
            }
            stn_gravity_efforts(view->kinematics, t, view->gravity, scratch, efforts);
            last = t;
        }
        (*weight)[joints[k].driver] += joints[k].ratio * efforts[dof - model->trees[t].v_start];
    }
    return STN_OK;
}

stn_status press_add(const stn_control_view *view, int32_t index, const press_law *law, stn_forces *forces,
                     stn_error *err) {
    const stn_model *model = view->target->model;
    int32_t dof = view->target->dof[index];
    double limit = model->joints[model->dof_joint[dof]].effort, carried = fmin(fmax(law->weight, -limit), limit);
    double effort = fmin(law->effort, limit - fabs(carried)), lead = press_lead(effort, law->kp);
    double error = view->q[joint_coordinate(model, dof)] - law->position;
    stn_forces_add_effort(forces, dof, carried);
    if (!(effort > 0.0)) {
        return STN_OK;
    }
    const stn_servo servo = {.dof = dof,
                             .kp = law->kp,
                             .kd = law->kd,
                             .error = fmin(fmax(error, -lead), lead),
                             .velocity = law->velocity,
                             .effort = effort};
    return stn_forces_add_servo(forces, &servo, err);
}
