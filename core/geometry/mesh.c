// SPDX-License-Identifier: Apache-2.0
// Meshes as values: their numbers checked, shared by counted references. How files and any numbers become sound ones:
// plugins/mesh_maker.
#include <string.h>

#include "geometry/mesh_object.h"

/// Fifth powers of lengths stay finite below it, and so do all mass properties.
static const double largest_coordinate = 1e50; // [m]

static stn_status check_extents(const stn_mesh_data *data, stn_error *err) {
    if (data->tetrahedron_count == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mesh: extents of a surface: only tetrahedra have a pressure field");
    }
    for (size_t i = 0; i < 4 * (size_t)data->tetrahedron_count; i++) {
        double extent = data->extents[data->tetrahedra[i]];
        if (!stn_mesh_extent_in_range(extent)) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "mesh: extent %g at vertex %d (counted from 0) of tetrahedron %zu: must be from 0 (on the "
                            "surface) to 1 (deepest)",
                            extent, data->tetrahedra[i], i / 4);
        }
    }
    return STN_OK;
}

stn_status stn_mesh_data_check(const stn_mesh_data *data, stn_vec3 scale, stn_error *err) {
    const struct {
        const char *one, *many;
        int32_t count;
        const void *array;
        const int32_t *ids;
        size_t width;
    } lists[3] = {{"vertex", "vertices", data->vertex_count, data->vertices, NULL, 0},
                  {"triangle", "triangles", data->triangle_count, data->triangles, data->triangles, 3},
                  {"tetrahedron", "tetrahedra", data->tetrahedron_count, data->tetrahedra, data->tetrahedra, 4}};
    for (int32_t k = 0; k < 3; k++) {
        if (lists[k].count < 0 || lists[k].count > STN_MESH_COUNT_MAX) {
            return stn_fail(err, STN_ERR_ARGUMENT, "mesh: %d %s, must be 0 to %d", lists[k].count, lists[k].many,
                            STN_MESH_COUNT_MAX);
        }
        if (lists[k].count > 0 && lists[k].array == NULL) {
            return stn_fail(err, STN_ERR_ARGUMENT, "mesh: %d %s, but no array of them", lists[k].count, lists[k].many);
        }
    }
    if (data->triangle_count == 0 && data->tetrahedron_count == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mesh: no triangles and no tetrahedra");
    }
    for (int32_t i = 0; i < data->vertex_count; i++) {
        stn_vec3 p = stn_vec3_at(data->vertices, i);
        double x = fabs(p.x * scale.x), y = fabs(p.y * scale.y), z = fabs(p.z * scale.z);
        if (!(x <= largest_coordinate && y <= largest_coordinate && z <= largest_coordinate)) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "mesh: vertex %d (counted from 0) at (%g, %g, %g): must be finite and within %g m", i, p.x,
                            p.y, p.z, largest_coordinate);
        }
    }
    for (int32_t k = 1; k < 3; k++) {
        const int32_t *ids = lists[k].ids;
        for (size_t i = 0; i < (size_t)lists[k].count * lists[k].width; i++) {
            if (ids[i] < 0 || ids[i] >= data->vertex_count) {
                return stn_fail(err, STN_ERR_ARGUMENT, "mesh: %s %zu (counted from 0) names vertex %d of %d",
                                lists[k].one, i / lists[k].width, ids[i], data->vertex_count);
            }
        }
    }
    return data->extents != NULL ? check_extents(data, err) : STN_OK;
}

stn_aabb stn_points_box(const double *points, int32_t count) {
    stn_aabb box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t i = 0; i < count; i++) {
        stn_vec3 p = stn_vec3_at(points, i);
        box.lower = stn_vec3_make(fmin(box.lower.x, p.x), fmin(box.lower.y, p.y), fmin(box.lower.z, p.z));
        box.upper = stn_vec3_make(fmax(box.upper.x, p.x), fmax(box.upper.y, p.y), fmax(box.upper.z, p.z));
    }
    return box;
}

stn_status mesh_wrap(stn_context *context, const stn_mesh *parts, stn_mesh **out, stn_error *err) {
    mesh_object *object = stn_allocate(context, 1, sizeof *object);
    if (object == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory");
    }
    stn_polytope *polytope = NULL;
    stn_status status = parts->convex ? mesh_polytope_create(context, parts, &polytope, err) : STN_OK;
    if (status != STN_OK) {
        stn_release(context, object);
        return status;
    }
    object->context = context;
    atomic_init(&object->references, 1);
    atomic_init(&object->tree, NULL);
    atomic_init(&object->across, NULL);
    atomic_init(&object->across_faces, NULL);
    atomic_init(&object->bend, NULL);
    object->face = *parts;
    object->face.polytope = polytope;
    object->face.bounds = stn_points_box(parts->vertices, parts->vertex_count);
    *out = &object->face;
    return STN_OK;
}

static bool facts_are_sound(const stn_mesh *parts) {
    const stn_mesh_facts *f = &parts->facts;
    bool sound = f->vertex_count >= 0 && f->triangle_count >= 0 && f->tetrahedron_count >= 0 &&
                 f->degenerate_count >= 0 && f->open_edge_count >= 0 && f->instance_count >= 1 &&
                 (f->up_axis == 'x' || f->up_axis == 'y' || f->up_axis == 'z');
    const stn_solid_facts *s = &f->solid;
    sound = sound && s->inverted_count >= 0 && s->flat_count >= 0 && s->duplicate_count >= 0 && s->curved_count >= 0 &&
            s->unused_count >= 0 && s->part_count >= 0 && s->touching_count >= 0 && s->raised_count >= 0 &&
            s->least_quality >= 0.0 && s->least_quality <= 1.0 + 1e-9;
    sound = sound && f->area >= 0.0 && isfinite(f->area) && isfinite(f->volume) && f->unit > 0.0 && isfinite(f->unit);
    sound = sound && parts->solid.mass >= 0.0 && isfinite(parts->solid.mass) && stn_vec3_finite(parts->solid.com);
    for (int32_t i = 0; i < 3; i++) {
        sound = sound && stn_vec3_finite(stn_mat3_column(&parts->solid.inertia, i));
    }
    return sound;
}

/// NULL without an array; `*done` becomes false when out of memory.
static void *copy(stn_context *context, const void *array, size_t count, size_t size, bool *done) {
    void *memory = array != NULL ? stn_allocate(context, count, size) : NULL;
    *done = *done && (memory != NULL || array == NULL);
    return memory != NULL ? memcpy(memory, array, count * size) : NULL;
}

stn_status stn_mesh_create_finished(stn_context *context, const stn_mesh *parts, stn_mesh **out, stn_error *err) {
    *out = NULL;
    const bool solid = parts->tetrahedron_count > 0;
    const stn_mesh_data data = {.vertex_count = parts->vertex_count,
                                .triangle_count = parts->triangle_count,
                                .tetrahedron_count = parts->tetrahedron_count,
                                .vertices = parts->vertices,
                                .triangles = parts->triangles,
                                .tetrahedra = parts->tetrahedra,
                                .extents = parts->extents};
    stn_status status = stn_mesh_data_check(&data, stn_vec3_make(1.0, 1.0, 1.0), err);
    if (status == STN_OK && (parts->triangle_count == 0 || !facts_are_sound(parts))) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "mesh: stored facts are out of range");
    }
    if (status != STN_OK) {
        return status;
    }
    size_t vertices = (size_t)parts->vertex_count;
    bool done = true;
    stn_mesh mesh = {.vertex_count = parts->vertex_count,
                     .triangle_count = parts->triangle_count,
                     .tetrahedron_count = parts->tetrahedron_count,
                     .convex = parts->convex,
                     .solid = parts->solid,
                     .facts = parts->facts};
    mesh.vertices = copy(context, parts->vertices, 3 * vertices, sizeof *mesh.vertices, &done);
    mesh.triangles = copy(context, parts->triangles, 3 * (size_t)parts->triangle_count, sizeof *mesh.triangles, &done);
    mesh.tetrahedra = copy(context, solid ? parts->tetrahedra : NULL, 4 * (size_t)parts->tetrahedron_count,
                           sizeof *mesh.tetrahedra, &done);
    mesh.extents = copy(context, solid ? parts->extents : NULL, vertices, sizeof *mesh.extents, &done);
    status = done ? mesh_wrap(context, &mesh, out, err) : stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory");
    if (status != STN_OK) {
        stn_release(context, (void *)mesh.vertices);
        stn_release(context, (void *)mesh.triangles);
        stn_release(context, (void *)mesh.tetrahedra);
        stn_release(context, (void *)mesh.extents);
    }
    return status;
}

const stn_mesh *stn_mesh_keep(const stn_mesh *mesh) {
    atomic_fetch_add_explicit(&((mesh_object *)mesh)->references, 1, memory_order_relaxed);
    return mesh;
}

stn_context *stn_mesh_context(const stn_mesh *mesh) {
    return ((const mesh_object *)(const void *)mesh)->context;
}

stn_mesh_use stn_mesh_use_of(const stn_mesh *mesh) {
    const mesh_object *object = (const mesh_object *)(const void *)mesh;
    size_t bytes = sizeof *object + 3 * sizeof(double) * (size_t)mesh->vertex_count +
                   3 * sizeof(int32_t) * (size_t)mesh->triangle_count +
                   4 * sizeof(int32_t) * (size_t)mesh->tetrahedron_count +
                   (mesh->extents != NULL ? sizeof(double) * (size_t)mesh->vertex_count : 0) +
                   mesh_polytope_bytes(mesh->polytope) +
                   mesh_tree_bytes(atomic_load_explicit(&object->tree, memory_order_acquire)) +
                   mesh_bend_bytes(atomic_load_explicit(&object->bend, memory_order_acquire), mesh);
    if (atomic_load_explicit(&object->across, memory_order_acquire) != NULL) {
        bytes += 3 * sizeof(int32_t) * (size_t)mesh->triangle_count;
    }
    if (atomic_load_explicit(&object->across_faces, memory_order_acquire) != NULL) {
        bytes += 4 * sizeof(int32_t) * (size_t)mesh->tetrahedron_count;
    }
    return (stn_mesh_use){.references = atomic_load(&object->references), .bytes = bytes};
}

void stn_mesh_release(const stn_mesh *mesh) {
    mesh_object *object = (mesh_object *)mesh;
    if (object != NULL && atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1) {
        mesh_tree_destroy(atomic_load_explicit(&object->tree, memory_order_relaxed));
        stn_release(object->context, atomic_load_explicit(&object->across, memory_order_relaxed));
        stn_release(object->context, atomic_load_explicit(&object->across_faces, memory_order_relaxed));
        mesh_bend_destroy(atomic_load_explicit(&object->bend, memory_order_relaxed));
        stn_release(object->context, (void *)mesh->vertices);
        stn_release(object->context, (void *)mesh->triangles);
        stn_release(object->context, (void *)mesh->tetrahedra);
        stn_release(object->context, (void *)mesh->extents);
        mesh_polytope_release(object->context, mesh->polytope);
        stn_release(object->context, object);
    }
}
