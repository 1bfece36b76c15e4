// SPDX-License-Identifier: Apache-2.0
// A contact model of one patch: the lower of the two z sides of a box on a half space, cut into side x side squares on
// an elastic foundation of `gradient` N/m^3. Ids of the faces change with the last bits of the box's pose: none is the
// same in the next step while the box moves at all.
#include <string.h>

#include <stiction/plugin.h>

typedef struct box_patch {
    int32_t side;
    double gradient;
} box_patch;

static const stn_param params[] = {
    STN_PARAM_INT(box_patch, side, "1", 10, 1, 1000, "faces along each edge of a box"),
    STN_PARAM_REAL(box_patch, gradient, "N/m^3", 1e8, 1e-300, 1e300, "of the pressure with depth"),
};

static bool handles(const void *self, const stn_geometry *a, const stn_geometry *b) {
    (void)self;
    return (a->shape.type == STN_SHAPE_HALF_SPACE && b->shape.type == STN_SHAPE_BOX) ||
           (b->shape.type == STN_SHAPE_HALF_SPACE && a->shape.type == STN_SHAPE_BOX);
}

static stn_status add_face(const box_patch *self, const stn_model *model, const stn_contact_pair *pair, bool swapped,
                           int32_t i, stn_contact_set *set, stn_error *err) {
    const stn_pose *box = swapped ? &pair->pose_a : &pair->pose_b, *ground = swapped ? &pair->pose_b : &pair->pose_a;
    stn_vec3 half = model->geometries[swapped ? pair->geometry_a : pair->geometry_b].shape.half_extents;
    double dx = 2.0 * half.x / self->side, dy = 2.0 * half.y / self->side;
    double x = -half.x + dx * (i % self->side), y = -half.y + dy * (int32_t)(i / self->side);
    stn_vec3 normal = stn_mat3_column(&ground->rotation, 2), polygon[4];
    bool upside_down = stn_vec3_dot(stn_mat3_column(&box->rotation, 2), normal) < 0.0;
    double pressure[4], low = upside_down ? half.z : -half.z;
    for (int32_t k = 0; k < 4; k++) {
        double right = k == 1 || k == 2 ? dx : 0.0, up = k >= 2 ? dy : 0.0;
        polygon[k] = stn_pose_apply(box, stn_vec3_make(x + right, y + up, low));
        pressure[k] = -self->gradient * stn_pose_apply_inverse(ground, polygon[k]).z;
    }
    stn_vec3 center = stn_vec3_scale(0.5, stn_vec3_add(polygon[0], polygon[2]));
    double height = stn_pose_apply_inverse(ground, center).z;
    stn_vec3 foot = stn_vec3_mul_add(center, -height, normal);
    uint64_t feature = stn_hash((uint64_t)i, box, sizeof *box);
    stn_contact c = swapped ? stn_contact_make(model, pair, center, foot, stn_vec3_neg(normal), feature)
                            : stn_contact_make(model, pair, foot, center, normal, feature);
    c.area = dx * dy;
    c.pressure = -self->gradient * height;
    c.material.stiffness = self->gradient * c.area;
    return stn_contact_set_add_face(model, set, &c, polygon, pressure, 4, err);
}

static stn_status collide(void *self, const stn_contact_scene *scene, const stn_contact_pair *pairs, int32_t count,
                          stn_contact_set *set, stn_error *err) {
    const stn_model *model = scene->model;
    const box_patch *config = self;
    stn_status status = STN_OK;
    for (int32_t p = 0; p < count && status == STN_OK; p++) {
        bool swapped = model->geometries[pairs[p].geometry_a].shape.type == STN_SHAPE_BOX;
        status = stn_contact_set_begin_patch(set, &pairs[p], err);
        for (int32_t i = 0; i < config->side * config->side && status == STN_OK; i++) {
            status = add_face(config, model, &pairs[p], swapped, i, set, err);
        }
    }
    return status;
}

static const stn_contact_ops ops = {.size = sizeof ops, .handles = handles, .collide = collide};
static const stn_plugin_desc fake = {.size = sizeof fake,
                                     .kind = STN_KIND_CONTACT,
                                     .id = "fake_box_patch",
                                     .version = "0",
                                     .summary = "one patch of many faces under a box",
                                     .config_size = sizeof(box_patch),
                                     .params = params,
                                     .param_count = STN_COUNT(params),
                                     .ops.contact = &ops};
STN_PLUGIN_LIBRARY(&fake);
