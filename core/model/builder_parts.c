// SPDX-License-Identifier: Apache-2.0
// What groups consist of, and how their shapes meet: links, joints, shapes, exclusions, overrides.
#include <string.h>

#include <stiction/plugin.h>

#include "model/built.h"

// ---------------------------------------------------------------------------------------------- links and joints

static stn_status need_group(const stn_model_builder *builder, const char *what, const char *name, stn_error *err) {
    if (builder->groups.count == 0) {
        return stn_fail(err, STN_ERR_SEQUENCE, "%s '%s': begin a group first", what, name != NULL ? name : "");
    }
    return STN_OK;
}

/// Puts "group 'r', link 'l' (file:line)" in front of the message.
static stn_status name_object(const stn_model_builder *builder, const char *what, const char *name, const char *where,
                              stn_status status, stn_error *err) {
    bool placed = where != NULL;
    stn_error_prefix(err, "group '%s', %s '%s'%s%s%s", group_at(builder, builder->groups.count - 1)->name, what,
                     name != NULL ? name : "", placed ? " (" : "", placed ? where : "", placed ? ")" : "");
    return status;
}

stn_status stn_builder_add_link(stn_model_builder *builder, const stn_link_spec *spec, int32_t *link, stn_error *err) {
    stn_status status = need_group(builder, "link", spec->name, err);
    if (status != STN_OK) {
        return status;
    }
    status = check_link(spec, err);
    if (status != STN_OK) {
        return name_object(builder, "link", spec->name, spec->where, status, err);
    }
    built_link *item = list_reserve(builder->context, &builder->links, sizeof *item);
    const char *name = builder_copy_text(builder, spec->name), *where = builder_copy_text(builder, spec->where);
    if (item == NULL || name == NULL || where == NULL) {
        return model_out_of_memory(err);
    }
    item->spec = *spec;
    item->spec.name = name;
    item->spec.where = spec->where != NULL ? where : NULL;
    item->group = builder->groups.count - 1;
    *link = builder->links.count++;
    return STN_OK;
}

static stn_status check_ends(const stn_model_builder *builder, const stn_joint_spec *spec, stn_error *err) {
    int32_t count = builder->links.count, first = group_at(builder, builder->groups.count - 1)->start.links;
    if (spec->parent != STN_WORLD && (spec->parent < 0 || spec->parent >= count)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "there is no parent link %d (%d links, or STN_WORLD)", spec->parent,
                        count);
    }
    if (spec->child < first || spec->child >= count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "child link %d must be one of this group (%d to %d)", spec->child, first,
                        count - 1);
    }
    if (spec->parent == spec->child) {
        return stn_fail(err, STN_ERR_ARGUMENT, "joins link '%s' to itself", link_at(builder, spec->child)->spec.name);
    }
    return STN_OK;
}

stn_status stn_builder_add_joint(stn_model_builder *builder, const stn_joint_spec *spec, int32_t *joint,
                                 stn_error *err) {
    stn_status status = need_group(builder, "joint", spec->name, err);
    if (status != STN_OK) {
        return status;
    }
    status = check_joint(spec, err);
    if (status == STN_OK) {
        status = check_ends(builder, spec, err);
    }
    if (status != STN_OK) {
        return name_object(builder, "joint", spec->name, spec->where, status, err);
    }
    built_joint *item = list_reserve(builder->context, &builder->joints, sizeof *item);
    const char *name = builder_copy_text(builder, spec->name), *where = builder_copy_text(builder, spec->where);
    const char *actuator = builder_copy_text(builder, spec->actuator);
    if (item == NULL || name == NULL || where == NULL || actuator == NULL) {
        return model_out_of_memory(err);
    }
    item->spec = *spec;
    item->spec.name = name;
    item->spec.actuator = actuator;
    item->spec.where = spec->where != NULL ? where : NULL;
    item->group = builder->groups.count - 1;
    *joint = builder->joints.count++;
    return STN_OK;
}

stn_status stn_builder_set_mimic(stn_model_builder *builder, int32_t joint, int32_t master, double multiplier,
                                 double offset, stn_error *err) {
    int32_t count = builder->joints.count;
    if (joint < 0 || joint >= count || master < 0 || master >= count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "set mimic: there is no joint %d (%d joints)",
                        joint < 0 || joint >= count ? joint : master, count);
    }
    built_joint *item = joint_at(builder, joint);
    stn_joint_spec spec = item->spec;
    spec.mimic = master;
    spec.mimic_multiplier = multiplier;
    spec.mimic_offset = offset;
    stn_status status = check_joint(&spec, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "group '%s', joint '%s'", group_at(builder, item->group)->name, spec.name);
        return status;
    }
    item->spec = spec;
    return STN_OK;
}

// ------------------------------------------------------------------------------------------- shapes and contact

stn_status builder_check_link(const stn_model_builder *builder, const char *what, int32_t link, bool any,
                              stn_error *err) {
    if (link == STN_WORLD || (any && link == STN_ANY) || (link >= 0 && link < builder->links.count)) {
        return STN_OK;
    }
    return stn_fail(err, STN_ERR_ARGUMENT, "%s: there is no link %d (%d links, or STN_WORLD%s)", what, link,
                    builder->links.count, any ? ", STN_ANY" : "");
}

static bool meshed(const stn_shape *shape) {
    return shape->type == STN_SHAPE_MESH || shape->type == STN_SHAPE_CONVEX || shape->type == STN_SHAPE_HEIGHT_FIELD;
}

/// Meshes are named by their number too, which keeps their data alive.
static stn_status check_meshes(const stn_model_builder *builder, const stn_geometry_spec *spec, stn_error *err) {
    int32_t count = builder->meshes.count, volume = spec->field.volume_mesh;
    if (meshed(&spec->shape) && (spec->mesh < 0 || spec->mesh >= count)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "there is no mesh %d (%d meshes)", spec->mesh, count);
    }
    const stn_mesh_reference *mesh = meshed(&spec->shape) ? mesh_at(builder, spec->mesh) : NULL;
    if (mesh != NULL && spec->shape.mesh != mesh->data) {
        return stn_fail(err, STN_ERR_ARGUMENT, "the shape's mesh must be the data of mesh %d '%s'", spec->mesh,
                        mesh->path);
    }
    if (mesh != NULL && spec->collision && mesh->data == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "collides, so it needs the data of mesh %d '%s', which is only named",
                        spec->mesh, mesh->path);
    }
    if (volume == -1) {
        return STN_OK;
    }
    if (volume < 0 || volume >= count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "field: there is no volume mesh %d (%d meshes)", volume, count);
    }
    const stn_mesh_reference *reference = mesh_at(builder, volume);
    if (reference->data == NULL || reference->data->tetrahedron_count == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "field: volume mesh %d '%s' has no tetrahedra", volume, reference->path);
    }
    return STN_OK;
}

/// A checked geometry at the end of the list.
static stn_status put_geometry(stn_model_builder *builder, const stn_geometry_spec *spec, const built_geometry *place,
                               stn_error *err) {
    built_geometry *item = list_reserve(builder->context, &builder->geometries, sizeof *item);
    const char *name = builder_copy_text(builder, spec->name), *where = builder_copy_text(builder, spec->where);
    if (item == NULL || name == NULL || where == NULL) {
        return model_out_of_memory(err);
    }
    *item = *place;
    item->spec = *spec;
    item->spec.name = name;
    item->spec.where = where;
    item->spec.mesh = meshed(&spec->shape) ? spec->mesh : -1;
    builder->geometries.count++;
    return STN_OK;
}

static stn_status check_whole_geometry(const stn_model_builder *builder, const stn_geometry_spec *spec,
                                       stn_error *err) {
    stn_status status = check_geometry(spec, err);
    return status == STN_OK ? check_meshes(builder, spec, err) : status;
}

stn_status stn_builder_add_geometry(stn_model_builder *builder, int32_t link, const stn_geometry_spec *spec,
                                    int32_t *geometry, stn_error *err) {
    stn_status status = builder_check_link(builder, "geometry", link, false, err);
    if (status != STN_OK) {
        return status;
    }
    status = check_whole_geometry(builder, spec, err);
    if (status != STN_OK) {
        const char *name = spec->name != NULL ? spec->name : "";
        const char *owner = link == STN_WORLD ? "world" : link_at(builder, link)->spec.name;
        stn_error_prefix(err, "link '%s', geometry '%s'%s%s%s", owner, name, spec->where != NULL ? " (" : "",
                         spec->where != NULL ? spec->where : "", spec->where != NULL ? ")" : "");
        return status;
    }
    status = put_geometry(builder, spec, &(built_geometry){.link = link}, err);
    *geometry = builder->geometries.count - 1;
    return status;
}

stn_status stn_builder_add_node_geometry(stn_model_builder *builder, int32_t cloud, int32_t node,
                                         const stn_geometry_spec *spec, stn_error *err) {
    if (cloud < 0 || cloud >= builder->clouds.count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "geometry: there is no cloud of nodes %d (%d clouds)", cloud,
                        builder->clouds.count);
    }
    const built_cloud *nodes = cloud_at(builder, cloud);
    stn_status status = STN_OK;
    if (node < 0 || node >= nodes->node_count) {
        status =
            stn_fail(err, STN_ERR_ARGUMENT, "there is no node %d (%d nodes, counted from 0)", node, nodes->node_count);
    } else if (nodes->type != STN_NODE_FRAME) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "its nodes are points, which carry spheres alone (contact_radius)");
    } else {
        status = check_whole_geometry(builder, spec, err);
    }
    const bool endless = spec->shape.type == STN_SHAPE_HALF_SPACE || spec->shape.type == STN_SHAPE_HEIGHT_FIELD;
    if (status == STN_OK && endless) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "a %s cannot move", stn_shape_name(spec->shape.type));
    }
    if (status != STN_OK) {
        stn_error_prefix(err, "nodes '%s', node %d, geometry '%s'", nodes->name, node,
                         spec->name != NULL ? spec->name : "");
        return status;
    }
    return put_geometry(builder, spec, &(built_geometry){.link = NODE_LINK, .cloud = cloud, .node = node}, err);
}

stn_status stn_builder_add_mesh(stn_model_builder *builder, const char *path, stn_vec3 scale, const stn_mesh *data,
                                int32_t *mesh, stn_error *err) {
    if (data == NULL && (path == NULL || path[0] == '\0')) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mesh: the path must not be empty");
    }
    path = path != NULL ? path : "";
    if (!stn_vec3_finite(scale) || scale.x == 0.0 || scale.y == 0.0 || scale.z == 0.0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mesh '%s': scale (%g, %g, %g) must be finite and not zero", path,
                        scale.x, scale.y, scale.z);
    }
    for (int32_t i = 0; i < builder->meshes.count; i++) {
        const stn_mesh_reference *known = mesh_at(builder, i);
        bool same = known->scale.x == scale.x && known->scale.y == scale.y && known->scale.z == scale.z;
        if (same && known->data == data && strcmp(known->path, path) == 0) {
            *mesh = i;
            return STN_OK;
        }
    }
    stn_mesh_reference *item = list_reserve(builder->context, &builder->meshes, sizeof *item);
    const char *copy = builder_copy_text(builder, path);
    if (item == NULL || copy == NULL) {
        return model_out_of_memory(err);
    }
    item->path = copy;
    item->scale = scale;
    item->data = data != NULL ? stn_mesh_keep(data) : NULL;
    *mesh = builder->meshes.count++;
    return STN_OK;
}

stn_status stn_builder_disable_collisions(stn_model_builder *builder, int32_t link_a, int32_t link_b, stn_error *err) {
    stn_status status = builder_check_link(builder, "exclude", link_a, false, err);
    if (status == STN_OK) {
        status = builder_check_link(builder, "exclude", link_b, false, err);
    }
    if (status != STN_OK) {
        return status;
    }
    built_exclude *item = list_reserve(builder->context, &builder->excludes, sizeof *item);
    if (item == NULL) {
        return model_out_of_memory(err);
    }
    *item = (built_exclude){link_a, link_b};
    builder->excludes.count++;
    return STN_OK;
}

/// A side of an override as messages name it.
static const char *side_name(const stn_model_builder *builder, int32_t link) {
    if (link <= STN_SURFACE_LINK(0)) {
        return geometry_at(builder, surface_at(builder, STN_SURFACE_LINK(link))->face.geometry)->spec.name;
    }
    return link == STN_ANY ? "any" : link == STN_WORLD ? "world" : link_at(builder, link)->spec.name;
}

/// A link, or a surface in the place of one.
static stn_status check_side(const stn_model_builder *builder, int32_t link, stn_error *err) {
    if (link > STN_SURFACE_LINK(0)) {
        return builder_check_link(builder, "override", link, true, err);
    }
    if (STN_SURFACE_LINK(link) >= builder->surfaces.count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "override: there is no surface %d (%d surfaces)", STN_SURFACE_LINK(link),
                        builder->surfaces.count);
    }
    return STN_OK;
}

stn_status stn_builder_set_contact_material(stn_model_builder *builder, int32_t link_a, int32_t link_b,
                                            const stn_material *material, stn_error *err) {
    stn_status status = check_side(builder, link_a, err);
    if (status == STN_OK) {
        status = check_side(builder, link_b, err);
    }
    if (status == STN_OK) {
        status = check_material(material, err);
        if (status == STN_OK) {
            status = check_no_direction(material,
                                        "a pair has no direction: give mu2 and friction_direction to the "
                                        "surface of one of the two",
                                        err);
        }
        if (status != STN_OK) {
            stn_error_prefix(err, "contact material of links '%s' and '%s'", side_name(builder, link_a),
                             side_name(builder, link_b));
        }
    }
    if (status != STN_OK) {
        return status;
    }
    built_override *item = list_reserve(builder->context, &builder->overrides, sizeof *item);
    if (item == NULL) {
        return model_out_of_memory(err);
    }
    *item = (built_override){link_a, link_b, *material};
    builder->overrides.count++;
    return STN_OK;
}
