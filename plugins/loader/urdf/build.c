// SPDX-License-Identifier: Apache-2.0
// What was read, handed to the model builder: all of it or nothing.
#include "urdf.h"

/// "file:line", for messages and for tools that point into the file.
static const char *place(urdf_reader *reader, int32_t line) {
    return urdf_format(reader, "%s:%d", reader->request->path, (int)line);
}

static stn_status build_links(urdf_reader *reader, stn_model_builder *builder, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < reader->link_count && status == STN_OK; i++) {
        urdf_link *link = &reader->links[i];
        stn_link_spec spec = {.name = link->name, .mass = link->mass, .where = place(reader, link->line)};
        status = stn_builder_add_link(builder, &spec, &link->out_index, err);
    }
    return status;
}

/// `first` is the builder's number of the first joint, for those that mimic.
static stn_status build_joint(urdf_reader *reader, int32_t index, int32_t first, stn_model_builder *builder,
                              int32_t *out, stn_error *err) {
    const urdf_joint *joint = &reader->joints[index];
    stn_joint_spec spec = joint->spec;
    spec.parent = reader->links[spec.parent].out_index;
    spec.child = reader->links[spec.child].out_index;
    spec.mimic += spec.mimic >= 0 ? first : 0;
    spec.where = place(reader, joint->line);
    return stn_builder_add_joint(builder, &spec, out, err);
}

static stn_status build_joints(urdf_reader *reader, int32_t first, stn_model_builder *builder, stn_error *err) {
    stn_status status = STN_OK;
    int32_t index = 0;
    for (int32_t i = 0; i < reader->joint_count && status == STN_OK; i++) {
        status = build_joint(reader, i, first, builder, &index, err);
    }
    return status;
}

/// A builder numbers joints in a row, but tells a number only when the joint is added, and a mimic joint may come
/// before its master. So one joint is added to learn the first number, and the robot is begun anew.
static stn_status find_first_joint(urdf_reader *reader, const char *name, stn_model_builder *builder, int32_t *first,
                                   stn_error *err) {
    int32_t robot = 0;
    stn_status status = stn_builder_begin_robot(builder, name, &robot, err);
    if (status != STN_OK) {
        return status;
    }
    status = build_links(reader, builder, err);
    if (status == STN_OK && reader->joint_count > 0) {
        status = build_joint(reader, 0, 0, builder, first, err);
    }
    stn_builder_discard(builder, robot);
    return status;
}

static stn_status build_geometries(urdf_reader *reader, stn_model_builder *builder, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < reader->geometry_count && status == STN_OK; i++) {
        urdf_geometry *g = &reader->geometries[i];
        int32_t index = 0;
        g->spec.where = place(reader, g->line);
        if (g->mesh != NULL) {
            status = stn_builder_add_mesh(builder, g->mesh, g->scale, NULL, &g->spec.mesh, err);
        }
        if (status == STN_OK) {
            status = stn_builder_add_geometry(builder, reader->links[g->link].out_index, &g->spec, &index, err);
        }
    }
    return status;
}

static stn_status build_exclusions(urdf_reader *reader, stn_model_builder *builder, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < reader->exclusion_count && status == STN_OK; i++) {
        const urdf_exclusion *e = &reader->exclusions[i];
        status = stn_builder_exclude(builder, reader->links[e->a].out_index, reader->links[e->b].out_index, err);
    }
    return status;
}

stn_status urdf_build(urdf_reader *reader, stn_model_builder *builder, int32_t *robot, stn_error *err) {
    const char *name = reader->request->robot_name != NULL ? reader->request->robot_name : reader->name;
    int32_t index = 0, first_joint = 0;
    stn_status status = find_first_joint(reader, name, builder, &first_joint, err);
    if (status == STN_OK) {
        status = stn_builder_begin_robot(builder, name, &index, err);
    }
    if (status != STN_OK) {
        return status;
    }
    status = build_links(reader, builder, err);
    if (status == STN_OK) {
        status = build_joints(reader, first_joint, builder, err);
    }
    if (status == STN_OK) {
        status = build_geometries(reader, builder, err);
    }
    if (status == STN_OK) {
        status = build_exclusions(reader, builder, err);
    }
    if (status == STN_OK && reader->out_of_memory) {
        status = stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", reader->request->path);
    }
    if (status != STN_OK) {
        stn_builder_discard(builder, index);
        return status;
    }
    *robot = index;
    return STN_OK;
}
