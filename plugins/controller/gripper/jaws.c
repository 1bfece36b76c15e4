// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "jaws.h"

static stn_status refuse(const stn_control_target *target, const char *why, stn_error *err) {
    return stn_fail(err, STN_ERR_ARGUMENT,
                    "group %s is no gripper: %s (name the two sliding joints with joints = {...}, the one that mimics "
                    "left out; for others there is controller hand)",
                    target->model->groups[target->group].name, why);
}

/// Direction in which a joint moves its body, in the body that carries both.
static stn_vec3 direction(const stn_joint *joint) {
    return stn_mat3_apply(&joint->origin.rotation, joint->axis);
}

static double limits_middle(const stn_joint *joint) {
    return 0.5 * (joint->lower + joint->upper);
}

/// Which one is lower along the line, and where their faces are.
static stn_status find_faces(const stn_control_target *target, jaws *out, stn_error *err) {
    const stn_model *model = target->model;
    const stn_joint *joint[2] = {&model->joints[out->joint[0]], &model->joints[out->joint[1]]};
    stn_vec3 line = direction(joint[0]);
    stn_mat3 axes = stn_contact_frame(line);
    stn_pose turn = {.rotation = stn_mat3_transpose(&axes)};
    double extent[2][2], centre[2], slope[2];
    for (int32_t i = 0; i < 2; i++) {
        slope[i] = stn_vec3_dot(line, direction(joint[i]));
        if (joint[i]->parent != joint[0]->parent || fabs(fabs(slope[i]) - 1.0) > 1e-6) {
            return refuse(target, "its jaws do not slide along one line", err);
        }
        if (!isfinite(joint[i]->lower) || !isfinite(joint[i]->upper)) {
            return refuse(target, "a jaw has no limits", err);
        }
        double *lower = &extent[i][0], *upper = &extent[i][1]; // of its shapes along the line, with its joint at 0
        *lower = INFINITY;
        *upper = -INFINITY;
        for (int32_t g = 0; g < model->geometry_count; g++) {
            const stn_geometry *geometry = &model->geometries[g];
            if (geometry->body == joint[i]->child && geometry->collision) {
                stn_pose in_parent = stn_pose_mul(&joint[i]->origin, &geometry->pose);
                stn_pose pose = stn_pose_mul(&turn, &in_parent);
                stn_aabb box = stn_shape_aabb(&geometry->shape, &pose, 0.0);
                *lower = fmin(*lower, box.lower.z);
                *upper = fmax(*upper, box.upper.z);
            }
        }
        if (!(*lower <= *upper)) {
            return refuse(target, "a jaw has no shape that collides", err);
        }
        slope[i] = copysign(1.0, slope[i]);
        centre[i] = 0.5 * (extent[i][0] + extent[i][1]) + slope[i] * limits_middle(joint[i]);
    }
    int32_t first = centre[0] <= centre[1] ? 0 : 1;
    int32_t lower = out->joint[first], upper = out->joint[1 - first];
    *out = (jaws){.joint = {lower, upper},
                  .face = {extent[first][1], extent[1 - first][0]},
                  .slope = {slope[first], slope[1 - first]},
                  .driver_count = out->driver_count,
                  .moved = {out->moved[0], out->moved[1]}};
    return STN_OK;
}

double jaws_width(const jaws *pair, const stn_model *model, const double *q) {
    double face[2];
    for (int32_t i = 0; i < 2; i++) {
        face[i] = pair->face[i] + pair->slope[i] * q[model->joints[pair->joint[i]].q_start];
    }
    return face[1] - face[0];
}

/// How fast the width grows with a driver, and the width where the driver is at 0.
static double width_rate(const jaws *pair, const stn_model *model, int32_t driver, double *at_zero) {
    double rate = 0.0;
    *at_zero = pair->face[1] - pair->face[0];
    for (int32_t i = 0; i < 2; i++) {
        double side = i == 0 ? -pair->slope[0] : pair->slope[1];
        const stn_joint *joint = &model->joints[pair->joint[i]];
        rate += side * press_ratio(model, driver, pair->joint[i]);
        *at_zero += pair->joint[i] != driver && joint->mimic >= 0 ? side * joint->mimic_offset : 0.0;
    }
    return rate;
}

static void add_range(double rate, const stn_joint *joint, double *low, double *high) {
    double a = rate * joint->lower, b = rate * joint->upper;
    *low += fmin(a, b);
    *high += fmax(a, b);
}

stn_status jaws_find(const stn_control_target *target, jaws *out, stn_error *err) {
    *out = (jaws){.driver_count = 0};
    const stn_model *model = target->model;
    int32_t count = 0;
    for (int32_t j = 0; j < model->joint_count; j++) { // that the target moves: its own and those that mimic them
        for (int32_t i = 0; i < target->joint_count; i++) {
            double ratio = press_ratio(model, target->joint[i], j);
            if (ratio == 0.0) {
                continue;
            }
            if (count == 2 || model->joints[j].type != STN_JOINT_PRISMATIC) {
                return refuse(target, count == 2 ? "it has more than two jaws" : "a joint of it does not slide", err);
            }
            out->moved[count] = (press_joint){i, j, ratio};
            out->joint[count++] = j;
        }
    }
    out->driver_count = target->joint_count;
    if (count < 2) {
        return refuse(target, "it has one jaw that moves", err);
    }
    stn_status status = find_faces(target, out, err);
    if (status != STN_OK) {
        return status;
    }
    double at_zero = out->face[1] - out->face[0], rate = 0.0;
    out->closed = out->open = at_zero;
    for (int32_t i = 0; i < 2; i++) {
        out->middle += 0.5 * (out->face[i] + out->slope[i] * limits_middle(&model->joints[out->joint[i]]));
    }
    if (out->driver_count == 1) {
        rate = width_rate(out, model, target->joint[0], &at_zero);
        out->closed = out->open = at_zero;
        add_range(rate, &model->joints[target->joint[0]], &out->closed, &out->open);
        return rate != 0.0 ? STN_OK : refuse(target, "its jaws move together, not apart", err);
    }
    add_range(-out->slope[0], &model->joints[out->joint[0]], &out->closed, &out->open);
    add_range(out->slope[1], &model->joints[out->joint[1]], &out->closed, &out->open);
    return STN_OK;
}

double jaws_position(const jaws *pair, const stn_control_target *target, int32_t index, double width, double *ratio) {
    int32_t driver = target->joint[index];
    if (pair->driver_count == 1) {
        double at_zero, rate = width_rate(pair, target->model, driver, &at_zero);
        *ratio = 1.0 / rate;
        return (width - at_zero) / rate;
    }
    int32_t i = pair->joint[0] == driver ? 0 : 1;
    double side = i == 0 ? -0.5 : 0.5;
    *ratio = side * pair->slope[i];
    return pair->slope[i] * (pair->middle + side * width - pair->face[i]);
}
