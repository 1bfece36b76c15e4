// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "common/link.h"

stn_status link_find(const stn_control_target *target, const char *frame, int32_t *link, int32_t *tree,
                     stn_error *err) {
    const stn_model *model = target->model;
    const stn_group *robot = &model->groups[target->group];
    bool named = frame != NULL && frame[0] != '\0'; // else that of the last joint
    int32_t end = robot->link_start + robot->link_count;
    for (*link = robot->link_start; *link < end; ++*link) {
        const stn_link *l = &model->links[*link];
        if (named ? strcmp(l->name, frame) == 0 : l->joint == target->joint[target->joint_count - 1]) {
            break;
        }
    }
    if (*link == end) {
        return stn_fail(err, STN_ERR_ARGUMENT, "frame = \"%s\" is no link of the robot", frame != NULL ? frame : "");
    }
    *tree = model->bodies[model->links[*link].body].tree;
    if (*tree < 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "link %s cannot move", model->links[*link].name);
    }
    for (int32_t i = 0; i < target->dof_count; i++) {
        if (model->dof_tree[target->dof[i]] != *tree) {
            return stn_fail(err, STN_ERR_ARGUMENT, "joint %s does not move link %s, nor its tree",
                            model->joints[model->dof_joint[target->dof[i]]].name, model->links[*link].name);
        }
    }
    return STN_OK;
}

stn_pose link_pose(const stn_kinematics *kinematics, int32_t link) {
    const stn_link *l = &kinematics->model->links[link];
    return stn_pose_mul(&kinematics->body_pose[l->body], &l->pose);
}

void link_place(const stn_control_target *target, int32_t link, const double *q, stn_vec3 *position,
                stn_vec3 *rotation) {
    *position = *rotation = stn_vec3_zero();
    stn_kinematics *kinematics = NULL;
    double *v = stn_allocate(target->model->context, (size_t)target->model->nv, sizeof *v);
    if (v != NULL && stn_kinematics_create(target->model, &kinematics, NULL) == STN_OK) {
        stn_kinematics_update(kinematics, q, v);
        stn_pose pose = link_pose(kinematics, link);
        *position = pose.position;
        *rotation = stn_quat_log(stn_quat_from_matrix(&pose.rotation));
    }
    stn_kinematics_destroy(kinematics);
    stn_release(target->model->context, v);
}
