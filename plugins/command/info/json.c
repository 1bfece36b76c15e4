// SPDX-License-Identifier: Apache-2.0
// The machine-readable face of `stiction info`: names and meaning are a promise.
#include "common/print.h"
#include "info.h"

static void add_index(cJSON *json, const char *name, const stn_joint *joint, int32_t index) {
    cJSON_AddItemToObject(json, name, joint != NULL ? cJSON_CreateNumber(index) : cJSON_CreateNull());
}

/// "line", null when it is not known.
static void add_line(cJSON *json, const char *where) {
    int32_t line = cli_line_of(where);
    cJSON_AddItemToObject(json, "line", line > 0 ? cJSON_CreateNumber(line) : cJSON_CreateNull());
}

// -------------------------------------------------------------------------------------------------------- joints

/// null when the robot gives the joint no gains of its own.
static void add_servo(cJSON *json, const stn_joint *joint) {
    bool given = info_has_servo(joint);
    cli_json_add_real(json, "servo_kp", given ? joint->servo_kp : (double)NAN);
    cli_json_add_real(json, "servo_kd", given ? joint->servo_kd : (double)NAN);
}

/// The joint above a link; `joint` is NULL for a fixed one. What is infinite is null.
static cJSON *joint_json(const info_report *r, const stn_link *child, const stn_joint *joint) {
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "name", child->joint_name);
    cli_json_add_text(json, "type", stn_joint_type_name(joint != NULL ? joint->type : STN_JOINT_FIXED));
    cli_json_add_text(json, "parent", r->robot.model->links[child->parent].name);
    cli_json_add_text(json, "child", child->name);
    add_index(json, "q_index", joint, joint != NULL ? joint->q_start : -1);
    add_index(json, "v_index", joint, joint != NULL ? joint->v_start : -1);
    cJSON_AddNumberToObject(json, "nq", joint != NULL ? joint->nq : 0);
    cJSON_AddNumberToObject(json, "nv", joint != NULL ? joint->nv : 0);
    // null when there is no limit at all; an infinite one of two is null in its place.
    const double limits[2] = {joint != NULL ? joint->lower : (double)NAN, joint != NULL ? joint->upper : (double)NAN};
    if (isfinite(limits[0]) || isfinite(limits[1])) {
        cli_json_add_reals(json, "limits", limits, 2);
    } else {
        cJSON_AddNullToObject(json, "limits");
    }
    cli_json_add_real(json, "lower", limits[0]);
    cli_json_add_real(json, "upper", limits[1]);
    cli_json_add_real(json, "effort", joint != NULL ? joint->effort : (double)NAN);
    cli_json_add_real(json, "velocity", joint != NULL ? joint->velocity : (double)NAN);
    cli_json_add_real(json, "acceleration", joint != NULL ? joint->acceleration : (double)NAN);
    if (joint != NULL && joint->mimic >= 0) {
        cJSON *mimic = cJSON_AddObjectToObject(json, "mimic");
        cli_json_add_text(mimic, "joint", r->robot.model->joints[joint->mimic].name);
        cli_json_add_real(mimic, "multiplier", joint->mimic_multiplier);
        cli_json_add_real(mimic, "offset", joint->mimic_offset);
    } else {
        cJSON_AddNullToObject(json, "mimic");
    }
    if (joint != NULL) {
        bool has_axis = stn_joint_type_has_axis(joint->type), screw = joint->type == STN_JOINT_SCREW;
        if (has_axis) {
            cli_json_add_vector(json, "axis", joint->axis);
        } else {
            cJSON_AddNullToObject(json, "axis");
        }
        cli_json_add_real(json, "screw_pitch_m", screw ? joint->screw_pitch : (double)NAN);
        cli_json_add_real(json, "damping", joint->damping);
        cli_json_add_real(json, "friction", joint->friction);
        cli_json_add_real(json, "reflected_inertia", joint->reflected_inertia);
        cli_json_add_real(json, "stiffness", joint->stiffness);
        cli_json_add_real(json, "rest", joint->stiffness > 0.0 ? joint->rest : (double)NAN);
        add_servo(json, joint);
        cli_json_add_text(json, "actuator", joint->actuator[0] != '\0' ? joint->actuator : NULL);
    }
    add_line(json, child->joint_where);
    return json;
}

static cJSON *actuator_list(const info_report *r) {
    cJSON *list = cJSON_CreateArray();
    for (int32_t j = 0; j < r->robot.model->joint_count; j++) {
        const stn_joint *joint = &r->robot.model->joints[j];
        if (info_is_driven(joint)) {
            cJSON *json = cJSON_CreateObject();
            cli_json_add_text(json, "name", joint->actuator[0] != '\0' ? joint->actuator : NULL);
            cli_json_add_text(json, "joint", joint->name);
            cli_json_add_real(json, "effort", joint->effort);
            cli_json_add_real(json, "reflected_inertia", joint->reflected_inertia);
            add_servo(json, joint);
            cJSON_AddItemToArray(list, json);
        }
    }
    return list;
}

int32_t info_attached(const stn_model *model, const stn_tree *cloud, int32_t link) {
    int32_t count = 0;
    for (int32_t i = 0; i < model->attachment_count; i++) {
        const stn_node_attachment *held = &model->attachments[i];
        const int32_t node = held->node - cloud->node_start;
        count += held->link == link && node >= 0 && node < cloud->node_count;
    }
    return count;
}

double info_cloud_mass(const stn_model *model, const stn_tree *cloud) {
    double sum = 0.0;
    for (int32_t i = 0; i < cloud->node_count; i++) {
        sum += model->node_mass[cloud->node_start + i];
    }
    return sum;
}

static cJSON *clouds_json(const stn_model *m) {
    cJSON *clouds = cJSON_CreateArray();
    for (int32_t t = 0; t < m->tree_count; t++) {
        if (m->trees[t].kind != STN_TREE_NODAL) {
            continue;
        }
        cJSON *cloud = cJSON_CreateObject();
        cJSON_AddStringToObject(cloud, "type", m->trees[t].node_type == STN_NODE_FRAME ? "frame" : "point");
        cli_json_add_text(cloud, "name", m->trees[t].name);
        cJSON_AddNumberToObject(cloud, "nodes", m->trees[t].node_count);
        cli_json_add_real(cloud, "mass_kg", info_cloud_mass(m, &m->trees[t]));
        cJSON *list = cJSON_AddArrayToObject(cloud, "attached");
        for (int32_t link = STN_WORLD; link < m->link_count; link++) {
            const int32_t nodes = info_attached(m, &m->trees[t], link);
            if (nodes > 0) {
                cJSON *item = cJSON_CreateObject();
                cli_json_add_text(item, "link", link == STN_WORLD ? "world" : m->links[link].name);
                cJSON_AddNumberToObject(item, "nodes", nodes);
                cJSON_AddItemToArray(list, item);
            }
        }
        list = cJSON_AddArrayToObject(cloud, "surfaces");
        for (int32_t i = 0; i < m->surface_count; i++) {
            const stn_surface *face = &m->surfaces[i];
            if (face->tree != t) {
                continue;
            }
            cJSON *item = cJSON_CreateObject();
            cli_json_add_text(item, "name", m->geometries[face->geometry].name);
            cJSON_AddNumberToObject(item, "triangles", face->triangle_count);
            cJSON_AddNumberToObject(item, "thickness_m", face->thickness);
            cJSON_AddBoolToObject(item, "solid", face->solid);
            cJSON_AddBoolToObject(item, "self_collision", face->self_collision);
            cJSON_AddItemToArray(list, item);
        }
        cJSON_AddItemToArray(clouds, cloud);
    }
    return clouds;
}

const char *info_constraint_end(const stn_model *model, const stn_constraint_end *end) {
    if (end->joint >= 0) {
        return model->joints[end->joint].name;
    }
    return end->link >= 0 ? model->links[end->link].name : "world";
}

// --------------------------------------------------------------------------------------------------------- links

static cJSON *link_list(const info_report *r) {
    cJSON *list = cJSON_CreateArray();
    for (int32_t i = 0; i < r->robot.model->link_count; i++) {
        const stn_link *link = &r->robot.model->links[i];
        double moments[3];
        cli_inertia inertia = cli_judge_inertia(&link->mass, moments);
        cJSON *json = cJSON_CreateObject();
        cli_json_add_text(json, "name", link->name);
        cli_json_add_text(json, "parent", link->parent >= 0 ? r->robot.model->links[link->parent].name : NULL);
        cli_json_add_text(json, "joint", link->joint_name);
        cli_json_add_real(json, "mass_kg", link->mass.mass);
        cli_json_add_text(json, "inertia", cli_inertia_name(inertia));
        if (inertia != CLI_INERTIA_NONE) {
            cli_json_add_vector(json, "com", link->mass.com);
            cli_json_add_reals(json, "principal_moments", moments, 3);
        }
        add_line(json, link->where);
        cJSON_AddItemToArray(list, json);
    }
    return list;
}

static void add_shape_counts(cJSON *json, const char *name, const int32_t counts[STN_SHAPE_COUNT]) {
    cJSON *object = cJSON_AddObjectToObject(json, name);
    for (int32_t i = 0; i < STN_SHAPE_COUNT; i++) {
        if (counts[i] > 0) {
            cJSON_AddNumberToObject(object, stn_shape_name((stn_shape_type)i), counts[i]);
        }
    }
}

static cJSON *geometry_counts(const info_report *r) {
    const info_counts *c = &r->counts;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "collision", c->collision);
    cJSON_AddNumberToObject(json, "visual", c->visual);
    cJSON_AddNumberToObject(json, "compliant", c->compliant);
    cJSON_AddNumberToObject(json, "tetrahedra", c->tetrahedra);
    cJSON_AddNumberToObject(json, "friction_directions", c->friction_directions);
    add_shape_counts(json, "collision_shapes", c->collision_shapes);
    add_shape_counts(json, "visual_shapes", c->visual_shapes);
    cJSON *errors =
        cJSON_AddArrayToObject(json, "surface_errors"); // of round shapes, where contact acts on flat pieces
    for (int32_t i = 0; i < r->surface_count; i++) {
        const info_surface *s = &r->surfaces[i];
        const stn_geometry *g = &r->robot.model->geometries[s->geometry];
        cJSON *object = cJSON_CreateObject();
        cli_json_add_text(object, "link", r->robot.model->links[g->link].name);
        cli_json_add_text(object, "name", g->name);
        cli_json_add_text(object, "shape", stn_shape_name(g->shape.type));
        cli_json_add_real(object, "outward_m", s->error.outward);
        cli_json_add_real(object, "inward_m", s->error.inward);
        cli_json_add_real(object, "resolution_m", s->error.resolution);
        cJSON_AddItemToArray(errors, object);
    }
    return json;
}

// ---------------------------------------------------------------------------------------------------------- at q

/// By the names of the joints, nv numbers each; without masses null.
static void add_gravity(cJSON *json, const char *name, const info_report *r, const double *gravity, bool reduced) {
    if (r->counts.mass == 0.0) {
        cJSON_AddNullToObject(json, name);
        return;
    }
    cJSON *object = cJSON_AddObjectToObject(json, name);
    for (int32_t j = 0; j < r->robot.model->joint_count; j++) {
        const stn_joint *joint = &r->robot.model->joints[j];
        if (!reduced || joint->mimic < 0) {
            cli_json_add_reals(object, joint->name, gravity + joint->v_start, joint->nv);
        }
    }
}

static cJSON *at_q_json(const info_report *r) {
    const info_dynamics *d = &r->dynamics;
    cJSON *json = cJSON_CreateObject();
    cli_json_add_reals(json, "q", r->q, r->robot.model->nq);
    cJSON *frames = cJSON_AddObjectToObject(json, "fk");
    for (int32_t i = 0; i < r->frame_count; i++) {
        const info_frame *frame = &r->frames[i];
        stn_pose pose = info_link_pose(r, frame->link);
        stn_quat turn = stn_quat_from_matrix(&pose.rotation);
        const double quat[4] = {turn.w, turn.x, turn.y, turn.z};
        cJSON *item = cJSON_AddObjectToObject(frames, frame->key);
        cli_json_add_vector(item, "xyz", pose.position);
        cli_json_add_reals(item, "quat_wxyz", quat, 4);
        cli_json_add_vector(item, "point_xyz", stn_pose_apply(&pose, frame->point));
    }
    cli_json_add_real(json, "mass_matrix_trace_full", d->full.mass_trace);
    cli_json_add_real(json, "gravity_norm_full", d->full.gravity_norm);
    cli_json_add_real(json, "mass_matrix_trace_reduced", d->reduced.mass_trace);
    cli_json_add_real(json, "gravity_norm_reduced", d->reduced.gravity_norm);
    cli_json_add_real(json, "mass_matrix_condition_full", d->full.condition);
    cli_json_add_real(json, "mass_matrix_condition_reduced", d->reduced.condition);
    add_gravity(json, "gravity_full", r, d->full.gravity, false);
    add_gravity(json, "gravity_reduced", r, d->reduced.gravity, true);
    cli_json_add_text(json, "note", d->note);
    return json;
}

bool info_print_json(const info_report *r) {
    const stn_model *m = r->robot.model;
    const info_counts *c = &r->counts;
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "name", m->groups[0].name);
    cli_json_add_text(json, "file", r->robot.path);
    cJSON_AddNumberToObject(json, "links", m->link_count);
    cJSON *joints = cJSON_AddObjectToObject(json, "joints");
    cJSON_AddNumberToObject(joints, "total", c->joints);
    for (int32_t i = 0; i < STN_JOINT_COUNT; i++) {
        cJSON_AddNumberToObject(joints, stn_joint_type_name((stn_joint_type)i), c->of_type[i]);
    }
    cJSON_AddNumberToObject(joints, "mimic", c->mimic);
    cJSON_AddNumberToObject(json, "nq", m->nq);
    cJSON_AddNumberToObject(json, "nv", m->nv);
    cJSON_AddNumberToObject(json, "dof_reduced", c->dof_reduced);
    cli_json_add_real(json, "mass_kg", c->mass);
    cli_json_add_text(json, "root_link", m->links[m->groups[0].root_link].name);
    cJSON *joint_list = cJSON_AddArrayToObject(json, "joint_list"); // moving joints in the order of q, then fixed ones
    for (int32_t j = 0; j < m->joint_count; j++) {
        cJSON_AddItemToArray(joint_list, joint_json(r, &m->links[r->robot.child_of[j]], &m->joints[j]));
    }
    for (int32_t i = 0; i < m->link_count; i++) {
        if (m->links[i].joint_name != NULL && m->links[i].joint < 0) {
            cJSON_AddItemToArray(joint_list, joint_json(r, &m->links[i], NULL));
        }
    }
    cJSON_AddItemToObject(json, "link_list", link_list(r));
    cJSON *inertia = cJSON_AddObjectToObject(json, "inertia");
    bool sound = c->inertias[CLI_INERTIA_NEGATIVE] == 0 && c->inertias[CLI_INERTIA_TRIANGLE] == 0;
    cJSON_AddBoolToObject(inertia, "physical", sound);
    for (int32_t i = 0; i < CLI_INERTIA_COUNT; i++) {
        cJSON_AddNumberToObject(inertia, cli_inertia_name((cli_inertia)i), c->inertias[i]);
    }
    cJSON_AddItemToObject(json, "actuators", actuator_list(r));
    cJSON *keyframes = cJSON_AddArrayToObject(json, "keyframes");
    for (int32_t i = 0; i < m->keyframe_count; i++) {
        cJSON_AddItemToArray(keyframes, cJSON_CreateString(m->keyframes[i].name));
    }
    cJSON *constraints = cJSON_AddArrayToObject(json, "constraints");
    for (int32_t i = 0; i < m->constraint_count; i++) {
        const stn_model_constraint *held = &m->constraints[i];
        cJSON *item = cJSON_CreateObject();
        cli_json_add_text(item, "name", held->name);
        cli_json_add_text(item, "type", held->instance->desc->id);
        cli_json_add_text(item, "a", info_constraint_end(m, &held->ends[0]));
        cli_json_add_text(item, "b", info_constraint_end(m, &held->ends[held->end_count - 1]));
        cJSON_AddItemToArray(constraints, item);
    }
    cJSON_AddItemToObject(json, "clouds", clouds_json(m));
    cJSON_AddItemToObject(json, "geometries", geometry_counts(r));
    if (cli_box_is_empty(&r->size.box)) {
        cJSON_AddNullToObject(json, "size");
    } else {
        cJSON *size = cJSON_AddObjectToObject(json, "size");
        cli_json_add_text(size, "of", r->size.collision ? "collision" : "visual");
        cli_json_add_box(size, &r->size.box);
        cJSON_AddNumberToObject(size, "meshes_left_out", r->size.missing);
    }
    cJSON *warnings = cJSON_AddArrayToObject(json, "warnings");
    for (int32_t i = 0; i < r->robot.diagnostics.count; i++) {
        char text[2048];
        if (r->robot.diagnostics.items[i].severity == STN_SEVERITY_WARNING) {
            cli_finding_line(&r->robot.diagnostics.items[i], text, sizeof text);
            cJSON_AddItemToArray(warnings, cJSON_CreateString(text));
        }
    }
    cJSON_AddItemToObject(json, "at_q", at_q_json(r));
    cli_json_add_real(json, "load_ms", r->robot.load_ms);
    return cli_json_print(json, true);
}
