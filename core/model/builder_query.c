// SPDX-License-Identifier: Apache-2.0
// What a script may ask of a group, and change on it, before the model is compiled.
#include <math.h>

#include "model/built.h"

static void take(double *into, double value) {
    if (!isnan(value)) {
        *into = value;
    }
}

/// A group, or a cloud of nodes; the other one is -1.
typedef struct whole {
    int32_t group, cloud;
} whole;

static bool is_part(const stn_model_builder *builder, int32_t geometry, whole of) {
    const built_geometry *g = geometry_at(builder, geometry);
    if (g->link >= 0) {
        return link_at(builder, g->link)->group == of.group;
    }
    const bool on_surface = g->link <= STN_SURFACE_LINK(0);
    return of.cloud >= 0 && (g->link == NODE_LINK || on_surface) &&
           of.cloud == (on_surface ? surface_at(builder, STN_SURFACE_LINK(g->link))->cloud : g->cloud);
}

/// A mu_static that is stated alone goes with the mu that a surface has.
static stn_status check_changed(const stn_model_builder *builder, whole of, const stn_material *stated,
                                stn_error *err) {
    for (int32_t i = 0; i < builder->geometries.count; i++) {
        const built_geometry *g = geometry_at(builder, i);
        if (!is_part(builder, i, of) || !g->spec.collision) {
            continue;
        }
        const stn_material m = material_over(&g->spec.material, stated);
        stn_status status = check_surface(&m, err);
        if (status == STN_OK) {
            status = check_friction_direction(&m, g->spec.friction_direction, err);
        }
        if (status != STN_OK) {
            if (g->link >= 0) {
                stn_error_prefix(err, "link '%s'", link_at(builder, g->link)->spec.name);
            }
            return status;
        }
    }
    return STN_OK;
}

static stn_status set_material(stn_model_builder *builder, whole of, const stn_material *material, stn_error *err) {
    const stn_material stated = material_stated(material);
    stn_status status = check_material(material, err);
    if (status == STN_OK) {
        status = check_changed(builder, of, &stated, err);
    }
    for (int32_t i = 0; i < builder->geometries.count && status == STN_OK; i++) {
        if (is_part(builder, i, of)) {
            stn_material *m = &geometry_at(builder, i)->spec.material;
            *m = material_over(m, &stated);
        }
    }
    return status;
}

stn_status stn_builder_set_material(stn_model_builder *builder, int32_t group, const stn_material *material,
                                    stn_error *err) {
    if (group < 0 || group >= builder->groups.count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "set_material: there is no group %d", group);
    }
    stn_status status = set_material(builder, (whole){group, -1}, material, err);
    if (status < 0) {
        stn_error_prefix(err, "group '%s'", group_at(builder, group)->name);
    }
    return status;
}

stn_status stn_builder_set_nodes_material(stn_model_builder *builder, int32_t cloud, const stn_material *material,
                                          stn_error *err) {
    if (cloud < 0 || cloud >= builder->clouds.count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "set_nodes_material: there is no cloud of nodes %d (%d clouds)", cloud,
                        builder->clouds.count);
    }
    stn_status status = set_material(builder, (whole){-1, cloud}, material, err);
    if (status < 0) {
        stn_error_prefix(err, "nodes '%s'", cloud_at(builder, cloud)->name);
        return status;
    }
    stn_material *m = &cloud_at(builder, cloud)->material;
    const stn_material stated = material_stated(material);
    *m = material_over(m, &stated);
    return STN_OK;
}

stn_status stn_builder_set_field(stn_model_builder *builder, int32_t group, const stn_field_spec *field,
                                 stn_error *err) {
    if (group < 0 || group >= builder->groups.count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "set_field: there is no group %d", group);
    }
    stn_status status = check_field(field, err);
    if (status == STN_OK && field->volume_mesh != -1) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "set_field: volume mesh %d: a mesh is of one geometry, give -1",
                          field->volume_mesh);
    }
    if (status != STN_OK) {
        stn_error_prefix(err, "group '%s'", group_at(builder, group)->name);
        return status;
    }
    for (int32_t i = 0; i < builder->geometries.count; i++) {
        if (is_part(builder, i, (whole){group, -1})) {
            stn_field_spec *own = &geometry_at(builder, i)->spec.field;
            take(&own->resolution, field->resolution);
            take(&own->margin, field->margin);
            take(&own->thickness, field->thickness);
        }
    }
    return STN_OK;
}

void stn_builder_get_base(const stn_model_builder *builder, int32_t group, stn_pose *base, bool *fixed) {
    bool exists = group >= 0 && group < builder->groups.count;
    bool stands = exists && group_at(builder, group)->attached_to < 0;
    *base = stands ? group_at(builder, group)->base : stn_pose_identity();
    *fixed = stands && group_at(builder, group)->fixed;
}

void stn_builder_group_links(const stn_model_builder *builder, int32_t group, int32_t *start, int32_t *count) {
    bool exists = group >= 0 && group < builder->groups.count;
    *start = exists ? group_at(builder, group)->start.links : 0;
    *count = exists ? group_link_end(builder, group) - *start : 0;
}

int32_t stn_builder_group_count(const stn_model_builder *builder) {
    return builder->groups.count;
}

const char *stn_builder_group_name(const stn_model_builder *builder, int32_t group) {
    return group >= 0 && group < builder->groups.count ? group_at(builder, group)->name : "";
}

const char *stn_builder_link_name(const stn_model_builder *builder, int32_t link) {
    return link >= 0 && link < builder->links.count ? link_at(builder, link)->spec.name : "";
}

void stn_builder_group_joints(const stn_model_builder *builder, int32_t group, int32_t *start, int32_t *count) {
    bool exists = group >= 0 && group < builder->groups.count;
    *start = exists ? group_at(builder, group)->start.joints : 0;
    *count = exists ? group_joint_end(builder, group) - *start : 0;
}

const char *stn_builder_joint_name(const stn_model_builder *builder, int32_t joint) {
    return joint >= 0 && joint < builder->joints.count ? joint_at(builder, joint)->spec.name : "";
}
