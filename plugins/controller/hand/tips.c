// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "tips.h"

/// The far end of the link: of its origin and the middles of the sides of its shapes' boxes what lies furthest from the
/// joint that moves it; body frame. A link without shapes is a frame that stands at the end.
static stn_vec3 far_end(const stn_model *model, int32_t link) {
    const stn_pose *pose = &model->links[link].pose;
    stn_vec3 end = pose->position;
    for (int32_t g = 0; g < model->geometry_count; g++) {
        const stn_geometry *geometry = &model->geometries[g];
        if (geometry->link != link || !geometry->collision) {
            continue;
        }
        stn_aabb box = stn_shape_aabb(&geometry->shape, &geometry->in_link, 0.0);
        stn_vec3 middle = stn_vec3_scale(0.5, stn_vec3_add(box.lower, box.upper));
        const stn_vec3 sides[6] = {{box.lower.x, middle.y, middle.z}, {box.upper.x, middle.y, middle.z},
                                   {middle.x, box.lower.y, middle.z}, {middle.x, box.upper.y, middle.z},
                                   {middle.x, middle.y, box.lower.z}, {middle.x, middle.y, box.upper.z}};
        for (int32_t i = 0; i < 6; i++) {
            stn_vec3 side = stn_pose_apply(pose, sides[i]);
            end = stn_vec3_norm(side) > stn_vec3_norm(end) ? side : end;
        }
    }
    return end;
}

int32_t tip_find(const stn_model *model, int32_t joint, stn_vec3 *point) {
    int32_t robot = model->joints[joint].group;
    int32_t start = model->groups[robot].link_start, end = start + model->groups[robot].link_count;
    for (int32_t l = start; l < end; l++) {
        int32_t body = model->links[l].body;
        while (body > 0 && model->bodies[body].joint != joint) {
            body = model->bodies[body].parent;
        }
        bool last = body > 0; // on the body of the joint or beyond it, and carries no other
        for (int32_t k = start; k < end && last; k++) {
            last = model->links[k].parent != l;
        }
        if (last) {
            *point = far_end(model, l);
            return model->links[l].body;
        }
    }
    *point = stn_vec3_zero();
    return model->joints[joint].child;
}

double tip_lever(const stn_kinematics *kinematics, int32_t dof, int32_t body, stn_vec3 point) {
    stn_vec3 at = stn_pose_apply(&kinematics->body_pose[body], point);
    stn_vec3 reference = kinematics->reference[kinematics->model->dof_tree[dof]];
    const stn_spatial *s = &kinematics->motion[dof];
    return stn_vec3_norm(stn_vec3_add(s->linear, stn_vec3_cross(s->angular, stn_vec3_sub(at, reference))));
}
