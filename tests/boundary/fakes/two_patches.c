// SPDX-License-Identifier: Apache-2.0
// A contact model that returns two patches of many faces: the bottom of an upright box on a half space, left and right
// half, each cut into squares that carry an elastic foundation of g = 1e7 N/m^3.
#include <stiction/plugin.h>

enum { SIDE = 4 };

static bool handles(const void *self, const stn_geometry *a, const stn_geometry *b) {
    (void)self;
    return (a->shape.type == STN_SHAPE_HALF_SPACE && b->shape.type == STN_SHAPE_BOX) ||
           (b->shape.type == STN_SHAPE_HALF_SPACE && a->shape.type == STN_SHAPE_BOX);
}

static stn_status add_face(const stn_model *model, const stn_contact_pair *pair, stn_contact_set *set, bool swapped,
                           int32_t half, int32_t i, stn_error *err) {
    const stn_pose *box = swapped ? &pair->pose_a : &pair->pose_b, *ground = swapped ? &pair->pose_b : &pair->pose_a;
    const stn_shape *shape = &model->geometries[swapped ? pair->geometry_a : pair->geometry_b].shape;
    double dx = shape->half_extents.x / SIDE, dy = 2.0 * shape->half_extents.y / SIDE;
    double x = (half == 0 ? -shape->half_extents.x : 0.0) + dx * (i % SIDE),
           y = -shape->half_extents.y + dy * (i / SIDE);
    stn_vec3 polygon[4];
    double pressure[4];
    for (int32_t k = 0; k < 4; k++) {
        polygon[k] = stn_pose_apply(
            box, stn_vec3_make(x + (k == 1 || k == 2 ? dx : 0.0), y + (k >= 2 ? dy : 0.0), -shape->half_extents.z));
        pressure[k] = -1e7 * stn_pose_apply_inverse(ground, polygon[k]).z;
    }
    stn_vec3 centre = stn_vec3_scale(0.5, stn_vec3_add(polygon[0], polygon[2]));
    stn_vec3 normal = stn_mat3_column(&ground->rotation, 2);
    double height = stn_pose_apply_inverse(ground, centre).z;
    stn_vec3 foot = stn_vec3_mul_add(centre, -height, normal);
    stn_contact c =
        swapped ? stn_contact_make(model, pair, centre, foot, stn_vec3_neg(normal), (uint64_t)(SIDE * SIDE * half + i))
                : stn_contact_make(model, pair, foot, centre, normal, (uint64_t)(SIDE * SIDE * half + i));
    c.area = dx * dy;
    c.pressure = -1e7 * height;
    c.material.stiffness = 1e7 * c.area;
    return stn_contact_set_add_face(model, set, &c, polygon, pressure, 4, err);
}

static stn_status collide(void *self, const stn_contact_scene *scene, const stn_contact_pair *pairs, int32_t count,
                          stn_contact_set *set, stn_error *err) {
    (void)self;
    const stn_model *model = scene->model;
    stn_status status = STN_OK;
    for (int32_t p = 0; p < count; p++) {
        bool swapped = model->geometries[pairs[p].geometry_a].shape.type == STN_SHAPE_BOX;
        for (int32_t i = 0; i < 2 * SIDE * SIDE && status == STN_OK; i++) {
            if (i % (SIDE * SIDE) == 0) {
                status = stn_contact_set_begin_patch(set, &pairs[p], err);
            }
            status = status == STN_OK
                         ? add_face(model, &pairs[p], set, swapped, i / (SIDE * SIDE), i % (SIDE * SIDE), err)
                         : status;
        }
    }
    return status;
}

static const stn_contact_ops ops = {.size = sizeof ops, .handles = handles, .collide = collide};
static const stn_plugin_desc fake = {.size = sizeof fake,
                                     .kind = STN_KIND_CONTACT,
                                     .id = "fake_two_patches",
                                     .version = "0",
                                     .summary = "two patches under a box",
                                     .ops.contact = &ops};
STN_PLUGIN_LIBRARY(&fake);
