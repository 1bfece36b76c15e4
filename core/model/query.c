// SPDX-License-Identifier: Apache-2.0
// What a script may ask of a robot, and change on it, before the model is compiled.
#include <math.h>
#include <string.h>

#include "model/builder.h"

static void take(double *into, double value) {
    if (!isnan(value)) {
        *into = value;
    }
}

stn_status stn_builder_set_material(stn_model_builder *builder, int32_t robot, const stn_material *material,
                                    stn_error *err) {
    if (robot < 0 || robot >= builder->robots.count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "set_material: there is no robot %d", robot);
    }
    stn_status status = check_material(material, err);
    if (status < 0) {
        stn_error_prefix(err, "robot '%s'", robot_at(builder, robot)->name);
        return status;
    }
    const stn_material stated = material_stated(material);
    for (int32_t i = 0; i < builder->geometries.count; i++) {
        int32_t link = geometry_at(builder, i)->link;
        if (link == STN_WORLD || link_at(builder, link)->robot != robot) {
            continue;
        }
        stn_material *m = &geometry_at(builder, i)->spec.material;
        take(&m->mu, stated.mu);
        take(&m->stiffness, stated.stiffness);
        take(&m->relaxation_time, stated.relaxation_time);
        take(&m->dissipation, stated.dissipation);
        take(&m->restitution, stated.restitution);
        take(&m->modulus, stated.modulus);
        take(&m->mu_static, stated.mu_static);
    }
    return STN_OK;
}

void stn_builder_get_base(const stn_model_builder *builder, int32_t robot, stn_pose *base, bool *fixed) {
    bool exists = robot >= 0 && robot < builder->robots.count;
    bool stands = exists && robot_at(builder, robot)->attached_to < 0;
    *base = stands ? robot_at(builder, robot)->base : stn_pose_identity();
    *fixed = stands && robot_at(builder, robot)->fixed;
}

void stn_builder_robot_links(const stn_model_builder *builder, int32_t robot, int32_t *start, int32_t *count) {
    bool exists = robot >= 0 && robot < builder->robots.count;
    *start = exists ? robot_at(builder, robot)->start.links : 0;
    *count = exists ? robot_link_end(builder, robot) - *start : 0;
}

int32_t stn_builder_robot_count(const stn_model_builder *builder) {
    return builder->robots.count;
}

const char *stn_builder_robot_name(const stn_model_builder *builder, int32_t robot) {
    return robot >= 0 && robot < builder->robots.count ? robot_at(builder, robot)->name : "";
}

const char *stn_builder_link_name(const stn_model_builder *builder, int32_t link) {
    return link >= 0 && link < builder->links.count ? link_at(builder, link)->spec.name : "";
}

void stn_builder_robot_joints(const stn_model_builder *builder, int32_t robot, int32_t *start, int32_t *count) {
    bool exists = robot >= 0 && robot < builder->robots.count;
    *start = exists ? robot_at(builder, robot)->start.joints : 0;
    *count = exists ? robot_joint_end(builder, robot) - *start : 0;
}

const char *stn_builder_joint_name(const stn_model_builder *builder, int32_t joint) {
    return joint >= 0 && joint < builder->joints.count ? joint_at(builder, joint)->spec.name : "";
}
