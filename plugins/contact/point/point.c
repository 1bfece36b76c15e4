// SPDX-License-Identifier: Apache-2.0
// Contact points for every pair of sphere, box, capsule, cylinder, ellipsoid, convex hull and half space: one function
// a pair of types, each in a file of its own kind; and of all of these but half spaces with meshes and height fields.
// Here they are chosen and their points put into the contact set.
#include "skin.h"
#include "surface.h"

typedef struct point_config {
    int32_t max_points;
} point_config;

static const stn_param params[] = {
    STN_PARAM_INT(point_config, max_points, "1", 8.0, 1.0, 32.0, "most contact points of one pair"),
};

static collide_pair *const collide_table[STN_SHAPE_COUNT][STN_SHAPE_COUNT] = {
    [STN_SHAPE_SPHERE] = {[STN_SHAPE_SPHERE] = sphere_sphere,
                          [STN_SHAPE_BOX] = sphere_box,
                          [STN_SHAPE_CAPSULE] = sphere_capsule,
                          [STN_SHAPE_CYLINDER] = sphere_cylinder,
                          [STN_SHAPE_HALF_SPACE] = sphere_half_space,
                          [STN_SHAPE_ELLIPSOID] = sphere_ellipsoid,
                          [STN_SHAPE_CONVEX] = sphere_hull},
    [STN_SHAPE_BOX] = {[STN_SHAPE_BOX] = box_box,
                       [STN_SHAPE_CAPSULE] = box_capsule,
                       [STN_SHAPE_CYLINDER] = box_cylinder,
                       [STN_SHAPE_HALF_SPACE] = box_half_space,
                       [STN_SHAPE_ELLIPSOID] = convex_ellipsoid,
                       [STN_SHAPE_CONVEX] = convex_hull},
    [STN_SHAPE_CAPSULE] = {[STN_SHAPE_CAPSULE] = capsule_capsule,
                           [STN_SHAPE_CYLINDER] = capsule_cylinder,
                           [STN_SHAPE_HALF_SPACE] = capsule_half_space,
                           [STN_SHAPE_ELLIPSOID] = convex_ellipsoid,
                           [STN_SHAPE_CONVEX] = convex_hull},
    [STN_SHAPE_CYLINDER] = {[STN_SHAPE_CYLINDER] = cylinder_cylinder,
                            [STN_SHAPE_HALF_SPACE] = cylinder_half_space,
                            [STN_SHAPE_ELLIPSOID] = convex_ellipsoid,
                            [STN_SHAPE_CONVEX] = convex_hull},
    [STN_SHAPE_ELLIPSOID] = {[STN_SHAPE_HALF_SPACE] = ellipsoid_half_space, [STN_SHAPE_ELLIPSOID] = convex_ellipsoid},
    [STN_SHAPE_CONVEX] = {[STN_SHAPE_HALF_SPACE] = hull_half_space,
                          [STN_SHAPE_ELLIPSOID] = convex_ellipsoid,
                          [STN_SHAPE_CONVEX] = convex_hull},
};

static bool is_surface(const stn_shape *s) {
    return (s->type == STN_SHAPE_MESH || s->type == STN_SHAPE_HEIGHT_FIELD) && s->mesh != NULL;
}

/// A surface over nodes of a deformable.
static bool is_skin(const stn_shape *s) {
    return s->type == STN_SHAPE_SURFACE;
}

static bool handles(const void *self, const stn_geometry *geometry_a, const stn_geometry *geometry_b) {
    const stn_shape *a = &geometry_a->shape, *b = &geometry_b->shape;
    (void)self;
    if (is_skin(a) || is_skin(b)) {
        const stn_shape *other = is_skin(a) ? b : a;
        return other->type != STN_SHAPE_MESH || other->mesh != NULL;
    }
    if (is_surface(a) || is_surface(b)) {
        const stn_shape *other = is_surface(a) ? b : a;
        return !is_surface(other) && other->type != STN_SHAPE_HALF_SPACE && other->type != STN_SHAPE_MESH;
    }
    return (unsigned)a->type < STN_SHAPE_COUNT && (unsigned)b->type < STN_SHAPE_COUNT &&
           (collide_table[a->type][b->type] != NULL || collide_table[b->type][a->type] != NULL);
}

/// Compares two rows of numbers by the first that differs: < 0, 0 or > 0.
static int32_t compare_numbers(const double *a, const double *b, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return 0;
}

static int32_t compare_shapes(const stn_shape *a, const stn_shape *b) {
    const double sizes_a[] = {a->radius, a->half_length, a->half_extents.x, a->half_extents.y, a->half_extents.z};
    const double sizes_b[] = {b->radius, b->half_length, b->half_extents.x, b->half_extents.y, b->half_extents.z};
    int32_t order = compare_numbers(sizes_a, sizes_b, STN_COUNT(sizes_a));
    const stn_mesh *m = a->mesh, *n = b->mesh;
    if (order != 0 || m == n || m == NULL || n == NULL) {
        return order;
    }
    const double mesh_a[] = {m->vertex_count,   m->solid.mass,  m->bounds.lower.x, m->bounds.lower.y,
                             m->bounds.lower.z, m->solid.com.x, m->solid.com.y,    m->solid.com.z};
    const double mesh_b[] = {n->vertex_count,   n->solid.mass,  n->bounds.lower.x, n->bounds.lower.y,
                             n->bounds.lower.z, n->solid.com.x, n->solid.com.y,    n->solid.com.z};
    return compare_numbers(mesh_a, mesh_b, STN_COUNT(mesh_a));
}

/// An order of two shapes of one type that does not depend on which is called A: by size, then by place.
static bool stands_before(const posed *a, const posed *b) {
    int32_t order = a->shape == b->shape ? 0 : compare_shapes(a->shape, b->shape);
    order = order != 0 ? order : compare_numbers(&a->pose->position.x, &b->pose->position.x, 3);
    return (order != 0 ? order : compare_numbers(&a->pose->rotation.m[0][0], &b->pose->rotation.m[0][0], 9)) < 0;
}

/// Exchanging A and B exchanges the answer, to the last bit: each pair is computed in one order alone.
void collide_convex(posed a, posed b, double margin, manifold *out) {
    bool swap =
        a.shape->type == b.shape->type ? stands_before(&b, &a) : collide_table[a.shape->type][b.shape->type] == NULL;
    posed first = swap ? b : a, second = swap ? a : b;
    out->count = 0;
    out->limit = MANIFOLD_CAPACITY;
    collide_table[first.shape->type][second.shape->type](first, second, margin, out);
    for (int32_t i = 0; swap && i < out->count; i++) {
        witness *w = &out->points[i], old = *w;
        *w = (witness){old.b, old.a, stn_vec3_neg(old.normal), old.phi, old.feature_b, old.feature_a};
    }
}

static stn_status add_points(const stn_contact_scene *scene, const stn_contact_pair *pair, bool swap, const manifold *m,
                             stn_contact_set *set, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t k = 0; k < m->count && status == STN_OK; k++) {
        const witness *w = &m->points[k];
        uint64_t of_a = swap ? w->feature_b : w->feature_a, of_b = swap ? w->feature_a : w->feature_b;
        status = stn_contact_set_add_point(scene->model, set, pair, swap ? w->b : w->a, swap ? w->a : w->b,
                                           swap ? stn_vec3_neg(w->normal) : w->normal, of_a << 32 | of_b, err);
    }
    return status;
}

/// A pair with a surface of nodes.
static stn_status collide_skin(const stn_contact_scene *scene, const stn_contact_pair *pair, stn_contact_set *set,
                               stn_error *err) {
    const stn_geometry *a = &scene->model->geometries[pair->geometry_a],
                       *b = &scene->model->geometries[pair->geometry_b];
    skins *all = scene->prepared;
    skin_sink sink = {.scene = scene,
                      .pair = pair,
                      .swap = !is_skin(&a->shape),
                      .margin = pair->margin,
                      .deepest = INFINITY,
                      .set = set,
                      .status = STN_OK,
                      .err = err};
    if (is_skin(&a->shape) && is_skin(&b->shape)) {
        skin *first = skin_at(all, scene, pair->geometry_a), *second = skin_at(all, scene, pair->geometry_b);
        skin_against_skin(first, second, &sink);
        return sink.status;
    }
    skin *of = skin_at(all, scene, sink.swap ? pair->geometry_b : pair->geometry_a);
    posed body = {sink.swap ? &a->shape : &b->shape, sink.swap ? &pair->pose_a : &pair->pose_b};
    if (is_surface(body.shape)) {
        skin_against_mesh(of, body, &sink);
    } else {
        skin_against_convex(of, body, &sink);
    }
    return sink.status;
}

static stn_status collide(void *self, const stn_contact_scene *scene, const stn_contact_pair *pairs, int32_t pair_count,
                          stn_contact_set *set, stn_error *err) {
    const point_config *config = self;
    manifold points;
    surface_points *grouped = NULL;
    stn_status status = STN_OK;
    for (int32_t i = 0; i < pair_count && status == STN_OK; i++) {
        const stn_contact_pair *pair = &pairs[i];
        posed a = {&scene->model->geometries[pair->geometry_a].shape, &pair->pose_a};
        posed b = {&scene->model->geometries[pair->geometry_b].shape, &pair->pose_b};
        bool swap = is_surface(a.shape); // B is the first, and its points stand where A's should
        if (is_skin(a.shape) || is_skin(b.shape)) {
            status = collide_skin(scene, pair, set, err);
        } else if (swap || is_surface(b.shape)) {
            grouped = grouped != NULL ? grouped : STN_ARENA(scene->arena, 1, surface_points);
            if (grouped == NULL) {
                return stn_fail(err, STN_ERR_MEMORY, "out of memory for the points of a surface");
            }
            grouped->limit = config->max_points;
            grouped->wide = scene->dt > 0.0 ? (double)INFINITY : 0.0; // a step needs all that is on the way
            collide_surface(swap ? b : a, swap ? a : b, pair->margin, grouped);
            for (int32_t g = 0; g < grouped->group_count && status == STN_OK; g++) {
                status = add_points(scene, pair, swap, &grouped->group[g], set, err);
            }
        } else {
            swap = a.shape->type == b.shape->type ? stands_before(&b, &a)
                                                  : collide_table[a.shape->type][b.shape->type] == NULL;
            posed first = swap ? b : a, second = swap ? a : b;
            points.count = 0;
            points.limit = config->max_points;
            collide_table[first.shape->type][second.shape->type](first, second, pair->margin, &points);
            manifold_reduce(&points, config->max_points);
            status = add_points(scene, pair, swap, &points, set, err);
        }
    }
    return status;
}

/// What meshes keep for contacts and what surfaces of nodes need is made now, so that steps allocate nothing.
static stn_status prepare(void *self, const stn_model *model, void **prepared, stn_error *err) {
    skins *all = NULL;
    (void)self;
    *prepared = NULL;
    for (int32_t i = 0; i < model->geometry_count; i++) {
        const stn_geometry *g = &model->geometries[i];
        if (!g->collision || !is_surface(&g->shape)) {
            continue;
        }
        stn_status status = stn_mesh_prepare(g->shape.mesh, err);
        if (status == STN_OK && stn_mesh_bends(g->shape.mesh) == NULL) { // and with it stn_mesh_across
            status = stn_fail(err, STN_ERR_MEMORY, "out of memory for the edges of a mesh");
        }
        if (status != STN_OK) {
            return status;
        }
    }
    stn_status status = model->surface_count > 0 ? skins_create(model, &all, err) : STN_OK;
    *prepared = all;
    return status;
}

static void release(void *prepared) {
    skins_destroy(prepared); // what meshes need they keep themselves
}

static const stn_contact_ops ops = {.size = sizeof ops,
                                    .handles = handles,
                                    .prepare = prepare,
                                    .release = release,
                                    .collide = collide,
                                    .by_threads = true};

static const stn_plugin_desc point = {
    .size = sizeof point,
    .kind = STN_KIND_CONTACT,
    .id = "point",
    .version = STN_VERSION,
    .summary = "Contact points with distance and normal for sphere, box, capsule, cylinder, ellipsoid, convex hull, "
               "half space; "
               "for meshes and height fields that stand still; and for surfaces of deformables with all of these",
    .config_size = sizeof(point_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.contact = &ops,
};
STN_PLUGIN_LIBRARY(&point);
