// SPDX-License-Identifier: Apache-2.0
#include "common/servo.h"

stn_status servo_gravity(const stn_control_view *view, double *hold, stn_error *err) {
    const stn_model *model = view->target->model;
    int32_t last = -1;
    for (int32_t i = 0; i < view->target->dof_count; i++) {
        int32_t t = model->dof_tree[view->target->dof[i]];
        if (t == last) {
            continue;
        }
        last = t;
        const stn_tree *tree = &model->trees[t];
        stn_spatial *scratch = STN_ARENA(view->arena, tree->body_count + 1, stn_spatial);
        double *efforts = STN_ARENA(view->arena, tree->nv, double);
        if (scratch == NULL || efforts == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
        stn_gravity_efforts(view->kinematics, t, view->gravity, scratch, efforts);
        for (int32_t k = i; k < view->target->dof_count; k++) {
            if (model->dof_tree[view->target->dof[k]] == t) {
                hold[k] = efforts[view->target->dof[k] - tree->v_start];
            }
        }
    }
    return STN_OK;
}

stn_status servo_bias(const stn_control_view *view, int32_t tree, double *effort, stn_error *err) {
    stn_spatial *scratch = STN_ARENA(view->arena, view->target->model->trees[tree].body_count + 1, stn_spatial);
    if (scratch == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    if (view->quasistatic) {
        stn_gravity_efforts(view->kinematics, tree, view->gravity, scratch, effort);
    } else {
        stn_inverse_dynamics(view->kinematics, tree, view->gravity, NULL, scratch, effort);
    }
    return STN_OK;
}

stn_status servo_tree_dynamics(const stn_control_view *view, int32_t tree, const double *acceleration, double *effort,
                               stn_error *err) {
    if (view->quasistatic) {
        return servo_bias(view, tree, effort, err);
    }
    const stn_model *model = view->target->model;
    const stn_tree *t = &model->trees[tree];
    double *v = STN_ARENA(view->arena, t->nv, double); // at the step's end
    stn_spatial *scratch = STN_ARENA(view->arena, 3 * (model->body_count + 1), stn_spatial);
    if (v == NULL || scratch == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t r = 0; r < t->nv; r++) {
        v[r] = view->v[t->v_start + r] + view->dt * acceleration[r];
    }
    stn_inverse_dynamics_polar(view->kinematics, tree, view->gravity, v, acceleration, scratch, effort);
    return STN_OK;
}

stn_status servo_dynamics(const stn_control_view *view, const double *acceleration, double *effort, stn_error *err) {
    const stn_control_target *target = view->target;
    int32_t last = -1;
    for (int32_t i = 0; i < target->dof_count; i++) {
        int32_t t = target->model->dof_tree[target->dof[i]]; // dofs of a tree follow each other
        if (t == last) {
            continue;
        }
        last = t;
        const stn_tree *tree = &target->model->trees[t];
        double *a = STN_ARENA_ZEROED(view->arena, tree->nv, double), *tau = STN_ARENA(view->arena, tree->nv, double);
        if (a == NULL || tau == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
        for (int32_t k = i; k < target->dof_count; k++) {
            if (target->model->dof_tree[target->dof[k]] == t) {
                a[target->dof[k] - tree->v_start] = acceleration[k];
            }
        }
        stn_status status = servo_tree_dynamics(view, t, a, tau, err);
        if (status != STN_OK) {
            return status;
        }
        for (int32_t k = i; k < target->dof_count; k++) {
            if (target->model->dof_tree[target->dof[k]] == t) {
                effort[k] = tau[target->dof[k] - tree->v_start];
            }
        }
    }
    for (int32_t i = 0; i < target->dof_count; i++) {
        const stn_joint *joint = &target->model->joints[target->model->dof_joint[target->dof[i]]];
        double v = view->v[target->dof[i]] + view->dt * acceleration[i];
        double q = view->q[joint_coordinate(target->model, target->dof[i])] + view->dt * v;
        effort[i] += joint->damping * v + (joint->stiffness > 0.0 ? joint->stiffness * (q - joint->rest) : 0.0);
    }
    return STN_OK;
}

stn_status servo_add(const stn_control_view *view, int32_t dof, const servo_law *law, stn_forces *forces,
                     stn_error *err) {
    const stn_model *model = view->target->model;
    const double effort = law->limited ? model->joints[model->dof_joint[dof]].effort : (double)INFINITY;
    double error = view->q[joint_coordinate(model, dof)] - law->position;
    if (isinf(effort)) {
        double tau = -law->kp * error - law->kd * (view->v[dof] - law->velocity) + law->feedforward;
        stn_forces_add_gain(forces, dof, law->kp, law->kd, tau);
        return STN_OK;
    }
    if (effort > 0.0 && law->kp + law->kd > 0.0) {
        const stn_servo servo = {.dof = dof,
                                 .kp = law->kp,
                                 .kd = law->kd,
                                 .error = error,
                                 .velocity = law->velocity,
                                 .feedforward = law->feedforward,
                                 .effort = effort};
        return stn_forces_add_servo(forces, &servo, err);
    }
    stn_forces_add_effort(forces, dof, fmin(fmax(law->feedforward, -effort), effort)); // the clamp is known now
    return STN_OK;
}
