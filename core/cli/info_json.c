// SPDX-License-Identifier: Apache-2.0
// The machine-readable face of `stiction info`: names and meaning are a promise.
#include <string.h>

#include "cli/info.h"
#include "cli/print.h"

static cJSON *joint_counts(const info_counts *counts) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "total", counts->joints);
    for (int32_t i = 0; i < STN_JOINT_COUNT; i++) {
        cJSON_AddNumberToObject(json, stn_joint_type_name((stn_joint_type)i), counts->of_type[i]);
    }
    cJSON_AddNumberToObject(json, "mimic", counts->mimic);
    return json;
}

static cJSON *mimic_json(const info *robot, const stn_joint *joint) {
    if (joint == NULL || joint->mimic < 0) {
        return cJSON_CreateNull();
    }
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "joint", robot->model->joints[joint->mimic].name);
    cli_json_add_real(json, "multiplier", joint->mimic_multiplier);
    cli_json_add_real(json, "offset", joint->mimic_offset);
    return json;
}

/// The joint above a link; `joint` is NULL for a fixed one. Infinite limits are null.
static cJSON *joint_json(const info *robot, const stn_link *child, const stn_joint *joint) {
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "name", child->joint_name);
    cli_json_add_text(json, "type", stn_joint_type_name(joint != NULL ? joint->type : STN_JOINT_FIXED));
    cli_json_add_text(json, "parent", robot->model->links[child->parent].name);
    cli_json_add_text(json, "child", child->name);
    cJSON_AddItemToObject(json, "q_index", joint != NULL ? cJSON_CreateNumber(joint->q_start) : cJSON_CreateNull());
    cJSON_AddItemToObject(json, "v_index", joint != NULL ? cJSON_CreateNumber(joint->v_start) : cJSON_CreateNull());
    bool limited = joint != NULL && (isfinite(joint->lower) || isfinite(joint->upper));
    if (limited) {
        const double limits[2] = {joint->lower, joint->upper};
        cli_json_add_reals(json, "limits", limits, 2);
    } else {
        cJSON_AddNullToObject(json, "limits");
    }
    cli_json_add_real(json, "effort", joint != NULL ? joint->effort : (double)NAN);
    cli_json_add_real(json, "velocity", joint != NULL ? joint->velocity : (double)NAN);
    cJSON_AddItemToObject(json, "mimic", mimic_json(robot, joint));
    return json;
}

/// Moving joints in the file's order, then the fixed ones.
static cJSON *joint_list(const info *robot) {
    const stn_model *m = robot->model;
    cJSON *list = cJSON_CreateArray();
    for (int32_t j = 0; j < m->joint_count; j++) {
        cJSON_AddItemToArray(list, joint_json(robot, &m->links[robot->child_of[j]], &m->joints[j]));
    }
    for (int32_t i = 0; i < m->link_count; i++) {
        if (m->links[i].joint_name != NULL && m->links[i].joint < 0) {
            cJSON_AddItemToArray(list, joint_json(robot, &m->links[i], NULL));
        }
    }
    return list;
}

static cJSON *warnings_json(const info *robot) {
    cJSON *list = cJSON_CreateArray();
    for (int32_t i = 0; i < robot->diagnostics.count; i++) {
        char text[2048];
        if (robot->diagnostics.items[i].severity == STN_SEVERITY_WARNING) {
            info_finding_line(&robot->diagnostics.items[i], text, sizeof text);
            cJSON_AddItemToArray(list, cJSON_CreateString(text));
        }
    }
    return list;
}

static void add_vector(cJSON *json, const char *name, stn_vec3 v) {
    const double values[3] = {v.x, v.y, v.z};
    cli_json_add_reals(json, name, values, 3);
}

static cJSON *frames_json(const info *robot) {
    cJSON *list = cJSON_CreateObject();
    for (int32_t i = 0; i < robot->frame_count; i++) {
        const info_frame *frame = &robot->frames[i];
        stn_pose pose = info_link_pose(robot, frame->link);
        stn_quat r = stn_quat_from_matrix(&pose.rotation);
        const double quat[4] = {r.w, r.x, r.y, r.z};
        cJSON *json = cJSON_AddObjectToObject(list, frame->key);
        add_vector(json, "xyz", pose.position);
        cli_json_add_reals(json, "quat_wxyz", quat, 4);
        add_vector(json, "point_xyz", stn_pose_apply(&pose, frame->point));
    }
    return list;
}

static cJSON *at_q_json(const info *robot) {
    cJSON *json = cJSON_CreateObject();
    cli_json_add_reals(json, "q", robot->q, robot->model->nq);
    cJSON_AddItemToObject(json, "fk", frames_json(robot));
    cli_json_add_real(json, "mass_matrix_trace_full", robot->dynamics.mass_trace_full);
    cli_json_add_real(json, "gravity_norm_full", robot->dynamics.gravity_norm_full);
    cli_json_add_real(json, "mass_matrix_trace_reduced", robot->dynamics.mass_trace_reduced);
    cli_json_add_real(json, "gravity_norm_reduced", robot->dynamics.gravity_norm_reduced);
    return json;
}

bool info_print_json(const info *robot) {
    const stn_model *m = robot->model;
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "name", m->robots[0].name);
    cJSON_AddNumberToObject(json, "links", m->link_count);
    cJSON_AddItemToObject(json, "joints", joint_counts(&robot->counts));
    cJSON_AddNumberToObject(json, "nq", m->nq);
    cJSON_AddNumberToObject(json, "nv", m->nv);
    cJSON_AddNumberToObject(json, "dof_reduced", robot->counts.dof_reduced);
    cli_json_add_real(json, "mass_kg", robot->counts.mass);
    cli_json_add_text(json, "root_link", m->links[m->robots[0].root_link].name);
    cJSON_AddItemToObject(json, "joint_list", joint_list(robot));
    cJSON *geometries = cJSON_AddObjectToObject(json, "geometries");
    cJSON_AddNumberToObject(geometries, "collision", robot->counts.collision);
    cJSON_AddNumberToObject(geometries, "visual", robot->counts.visual);
    cJSON_AddItemToObject(json, "warnings", warnings_json(robot));
    cJSON_AddItemToObject(json, "at_q", at_q_json(robot));
    return cli_json_print(json, true);
}
