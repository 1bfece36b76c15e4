// SPDX-License-Identifier: Apache-2.0
// Contact points for every pair of sphere, box, capsule, cylinder and half space: one function a pair of types, each in
// a file of its own kind; here they are chosen and their points put into the contact set.
#include "point.h"

typedef struct point_config {
    int32_t max_points;
} point_config;

static const stn_param params[] = {
    STN_PARAM_INT(point_config, max_points, "1", 8.0, 1.0, MANIFOLD_CAPACITY, "most contact points of one pair"),
};

enum { TYPES = STN_SHAPE_HALF_SPACE + 1 };

static collide_pair *const collide_table[TYPES][TYPES] = {
    [STN_SHAPE_SPHERE] = {sphere_sphere, sphere_box, sphere_capsule, sphere_cylinder, sphere_half_space},
    [STN_SHAPE_BOX] = {NULL, box_box, box_capsule, box_cylinder, box_half_space},
    [STN_SHAPE_CAPSULE] = {NULL, NULL, capsule_capsule, capsule_cylinder, capsule_half_space},
    [STN_SHAPE_CYLINDER] = {NULL, NULL, NULL, cylinder_cylinder, cylinder_half_space},
};

static bool handles(const void *self, const stn_shape *a, const stn_shape *b) {
    (void)self;
    return (unsigned)a->type < TYPES && (unsigned)b->type < TYPES &&
           (collide_table[a->type][b->type] != NULL || collide_table[b->type][a->type] != NULL);
}

/// An order of two shapes of one type that does not depend on which is called A: by size, then by place.
static bool stands_before(const posed *a, const posed *b) {
    const stn_shape *s = a->shape, *t = b->shape;
    const double left[] = {s->radius,         s->half_length,      s->half_extents.x,   s->half_extents.y,
                           s->half_extents.z, a->pose->position.x, a->pose->position.y, a->pose->position.z};
    const double right[] = {t->radius,         t->half_length,      t->half_extents.x,   t->half_extents.y,
                            t->half_extents.z, b->pose->position.x, b->pose->position.y, b->pose->position.z};
    for (int32_t i = 0; i < STN_COUNT(left); i++) {
        if (left[i] != right[i]) {
            return left[i] < right[i];
        }
    }
    return false;
}

/// Exchanging A and B exchanges the answer, to the last bit: each pair is computed in one order alone.
static void collide_shapes(posed a, posed b, double margin, int32_t max_points, manifold *out) {
    bool swap = a.shape->type == b.shape->type ? stands_before(&b, &a) : a.shape->type > b.shape->type;
    out->count = 0;
    if (swap) {
        collide_table[b.shape->type][a.shape->type](b, a, margin, out);
    } else {
        collide_table[a.shape->type][b.shape->type](a, b, margin, out);
    }
    manifold_reduce(out, max_points);
    if (swap) {
        manifold_flip(out);
    }
}

static stn_status collide(void *self, const stn_model *model, void *prepared, const stn_contact_pair *pairs,
                          int32_t pair_count, stn_arena *arena, stn_contact_set *set, stn_error *err) {
    (void)prepared;
    (void)arena;
    const point_config *config = self;
    manifold points;
    for (int32_t i = 0; i < pair_count; i++) {
        const stn_contact_pair *pair = &pairs[i];
        posed a = {&model->geometries[pair->geometry_a].shape, &pair->pose_a};
        posed b = {&model->geometries[pair->geometry_b].shape, &pair->pose_b};
        collide_shapes(a, b, pair->margin, config->max_points, &points);
        for (int32_t k = 0; k < points.count; k++) {
            const witness *w = &points.points[k];
            uint64_t feature = (uint64_t)w->feature_a << 32 | w->feature_b;
            stn_status status = stn_contact_set_add_point(model, set, pair, w->a, w->b, w->normal, feature, err);
            if (status != STN_OK) {
                return status;
            }
        }
    }
    return STN_OK;
}

static const stn_contact_ops ops = {.size = sizeof ops, .handles = handles, .collide = collide};

static const stn_plugin_desc point = {
    .size = sizeof point,
    .kind = STN_KIND_CONTACT,
    .id = "point",
    .version = STN_VERSION,
    .summary = "Contact points with distance and normal for sphere, box, capsule, cylinder and half space",
    .config_size = sizeof(point_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.contact = &ops,
};
STN_PLUGIN_LIBRARY(&point);
