// SPDX-License-Identifier: Apache-2.0
// What was read, handed to the model builder: all of it or nothing.
#include <stiction/plugin.h>

#include "robot.h"

/// "file:line", for messages and for tools that point into the file.
static const char *where(robot_reader *reader, robot_place place) {
    return robot_text(reader, "%s:%d", place.file, (int)place.line);
}

static stn_status build_links(robot_reader *reader, stn_model_builder *builder, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < reader->link_count && status == STN_OK; i++) {
        robot_link *link = &reader->links[i];
        stn_link_spec spec = {.name = link->name, .mass = link->mass, .where = where(reader, link->place)};
        status = stn_builder_add_link(builder, &spec, &link->out_index, err);
    }
    return status;
}

static stn_status build_joints(robot_reader *reader, stn_model_builder *builder, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < reader->joint_count && status == STN_OK; i++) {
        robot_joint *joint = &reader->joints[i];
        stn_joint_spec spec = joint->spec;
        spec.parent = reader->links[spec.parent].out_index;
        spec.child = reader->links[spec.child].out_index;
        spec.mimic = -1; // its master may come later
        spec.where = where(reader, joint->place);
        status = stn_builder_add_joint(builder, &spec, &joint->out_index, err);
    }
    for (int32_t i = 0; i < reader->joint_count && status == STN_OK; i++) {
        const robot_joint *joint = &reader->joints[i];
        if (joint->spec.mimic >= 0) {
            status = stn_builder_set_mimic(builder, joint->out_index, reader->joints[joint->spec.mimic].out_index,
                                           joint->spec.mimic_multiplier, joint->spec.mimic_offset, err);
        }
    }
    return status;
}

static stn_status build_geometries(robot_reader *reader, stn_model_builder *builder, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < reader->geometry_count && status == STN_OK; i++) {
        robot_geometry *g = &reader->geometries[i];
        int32_t index = 0;
        g->spec.where = where(reader, g->place);
        const char *path = g->file != NULL ? g->file->path : "";
        if (g->file != NULL || g->data != NULL) {
            status = stn_builder_add_mesh(builder, path, g->scale, g->data, &g->spec.mesh, err);
        }
        if (g->volume != NULL && status == STN_OK) {
            status = stn_builder_add_mesh(builder, path, g->scale, g->volume, &g->spec.field.volume_mesh, err);
        }
        if (status == STN_OK) {
            status = stn_builder_add_geometry(builder, reader->links[g->link].out_index, &g->spec, &index, err);
        }
    }
    return status;
}

static stn_status build_exclusions(robot_reader *reader, stn_model_builder *builder, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < reader->exclusion_count && status == STN_OK; i++) {
        const robot_exclusion *e = &reader->exclusions[i];
        status =
            stn_builder_disable_collisions(builder, reader->links[e->a].out_index, reader->links[e->b].out_index, err);
    }
    return status;
}

static stn_status build_constraints(robot_reader *reader, stn_model_builder *builder, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < reader->constraint_count && status == STN_OK; i++) {
        const robot_constraint *c = &reader->constraints[i];
        stn_constraint_end_spec ends[2] = {c->ends[0], c->ends[1]};
        for (int32_t k = 0; k < 2; k++) {
            ends[k].joint = ends[k].joint >= 0 ? reader->joints[ends[k].joint].out_index : -1;
            ends[k].link = ends[k].link >= 0 ? reader->links[ends[k].link].out_index : STN_WORLD;
        }
        const stn_constraint_spec spec = {c->name, 2, ends, where(reader, c->place)};
        stn_instance *instance = NULL;
        int32_t index = 0;
        status = stn_instance_create(reader->diagnostics->context, STN_KIND_CONSTRAINT, c->type, c->settings,
                                     c->setting_count, &instance, err);
        if (status == STN_OK) {
            status = stn_builder_add_constraint(builder, instance, &spec, &index, err);
        }
    }
    return status;
}

stn_status robot_build(robot_reader *reader, stn_model_builder *builder, int32_t *robot, stn_error *err) {
    static stn_status (*const stages[])(robot_reader *, stn_model_builder *, stn_error *) = {
        build_links, build_joints, build_geometries, build_exclusions, build_constraints};
    const char *name = reader->request->robot_name != NULL ? reader->request->robot_name : reader->name;
    int32_t index = 0;
    stn_error own = {STN_OK, ""};
    stn_status status = stn_builder_begin_group(builder, name, &index, err);
    if (status != STN_OK) {
        return status; // two robots of one name: no fault of the file
    }
    for (int32_t i = 0; i < STN_COUNT(stages) && status == STN_OK; i++) {
        status = stages[i](reader, builder, &own);
    }
    if (status == STN_OK) {
        status = robot_build_softs(reader, builder, stn_builder_group_name(builder, index), &own);
    }
    // What the file says of the robot as a whole: where it stands, and in what poses.
    if (status == STN_OK && reader->has_pose) {
        status = stn_builder_propose_base(builder, index, &reader->pose, reader->stands_fixed, &own);
    }
    for (int32_t i = 0; i < reader->keyframe_count && status == STN_OK; i++) {
        robot_keyframe *key = &reader->keyframes[i];
        key->spec.where = where(reader, key->place);
        status = stn_builder_add_keyframe(builder, index, &key->spec, &own);
    }
    if (status == STN_OK && reader->out_of_memory) {
        status = stn_fail(&own, STN_ERR_MEMORY, "%s: out of memory", reader->request->path);
    }
    if (status == STN_OK) {
        *robot = index;
        return STN_OK;
    }
    stn_builder_discard(builder, index);
    if (status == STN_ERR_ARGUMENT) { // a number on the edge of what the checks above let through
        reader->label = "robot";
        if (!reader->fault_said) {
            robot_say(reader, STN_SEVERITY_ERROR, "model", (robot_place){reader->request->path, 0}, "%s", own.text);
        }
        return STN_OK;
    }
    return stn_fail(err, status, "%s", own.text);
}
