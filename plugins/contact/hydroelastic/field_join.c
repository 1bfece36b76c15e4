// SPDX-License-Identifier: Apache-2.0
// Tetrahedra between a labelled surface and the corners of its core: field_build.h.
#include <string.h>

#include "field_build.h"

// --------------------------------------------------------------------------------------------------------- cores
// Cores of shapes: where they are deepest.

/// Sizes that differ by less than 1e-8 of the smaller one, or 1e-11 of the largest there is, count as equal, for their
/// tetrahedra would be flat.
static bool is_longer(double size, double than, double largest) {
    return size - than > fmax(1e-8 * than, 1e-11 * largest);
}

/// What is left of the box when its smallest half size is taken off every side: a point, a segment or a rectangle.
static void box_core(stn_vec3 half, double corners[12], field_core *core) {
    core->depth = fmin(half.x, fmin(half.y, half.z));
    const double size[3] = {half.x, half.y, half.z};
    double reach[3], largest = fmax(half.x, fmax(half.y, half.z));
    for (int32_t k = 0; k < 3; k++) {
        bool longer = is_longer(size[k], core->depth, largest);
        reach[k] = longer ? size[k] - core->depth : 0.0;
        core->bit[k] = longer ? core->count : 0;
        core->count *= longer ? 2 : 1;
    }
    for (int32_t i = 0; i < core->count; i++) {
        for (int32_t k = 0; k < 3; k++) {
            corners[3 * i + k] = (i & core->bit[k]) != 0 ? reach[k] : -reach[k];
        }
    }
}

static void segment_core(double reach, double corners[12], field_core *core) {
    core->count = 2;
    corners[2] = -reach;
    corners[5] = reach;
}

/// The side of a cylinder is that of a prism: a polygon lies below all of its faces at the same depth when its corners
/// lie behind their middles.
static stn_status disc_core(stn_context *context, double reach, int32_t around, field_core *core, stn_error *err) {
    core->count = around;
    core->regions = CYLINDER_SECTORS;
    core->vertices = stn_allocate(context, (size_t)around, 3 * sizeof(double));
    if (core->vertices == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a pressure field");
    }
    for (int32_t i = 0; i < around; i++) {
        double angle = 2.0 * STN_PI * (i + 0.5) / around;
        surface_put(core->vertices, i, stn_vec3_make(reach * cos(angle), reach * sin(angle), 0.0));
    }
    return STN_OK;
}

static stn_status cylinder_core(stn_context *context, const stn_shape *shape, int32_t around, double corners[12],
                                field_core *core, stn_error *err) {
    double half_length = shape->half_length;
    double apothem = shape->radius * surface_prism_factor(around) * cos(STN_PI / around);
    core->depth = fmin(shape->radius, half_length);
    core->side = apothem;
    core->end = core->depth;
    if (is_longer(half_length, shape->radius, half_length)) {
        core->regions = CYLINDER_HALVES;
        segment_core(half_length - shape->radius, corners, core);
    } else if (is_longer(apothem, half_length, apothem)) {
        core->side = half_length;
        return disc_core(context, apothem - half_length, around, core, err);
    }
    return STN_OK;
}

/// The centroid; its depth is that of the nearest face.
static void hull_core(const stn_mesh *mesh, double corners[12], field_core *core) {
    const stn_polytope *p = mesh->polytope;
    stn_vec3 centroid = mesh->solid.com;
    surface_put(corners, 0, centroid);
    core->depth = INFINITY;
    for (int32_t f = 0; f < p->face_count; f++) {
        stn_vec3 normal = {p->planes[4 * f], p->planes[4 * f + 1], p->planes[4 * f + 2]};
        core->depth = fmin(core->depth, p->planes[4 * f + 3] - stn_vec3_dot(normal, centroid));
    }
}

stn_status field_core_make(stn_context *context, const stn_shape *shape, const surface_plan *plan, field_core *core,
                           stn_error *err) {
    double corners[12] = {0};
    stn_vec3 half = shape->half_extents;
    stn_status status = STN_OK;
    *core = (field_core){.count = 1, .depth = shape->radius};
    switch (shape->type) {
    case STN_SHAPE_ELLIPSOID:
        core->depth = fmin(half.x, fmin(half.y, half.z));
        break;
    case STN_SHAPE_BOX:
        box_core(half, corners, core);
        break;
    case STN_SHAPE_CAPSULE:
        if (shape->half_length > 0.0) {
            segment_core(shape->half_length, corners, core);
        }
        break;
    case STN_SHAPE_CYLINDER:
        status = cylinder_core(context, shape, plan->around, corners, core, err);
        break;
    case STN_SHAPE_CONVEX:
        hull_core(shape->mesh, corners, core);
        break;
    default: // a sphere: its centre
        break;
    }
    if (status != STN_OK || core->vertices != NULL) {
        return status;
    }
    core->vertices = stn_allocate(context, (size_t)core->count, 3 * sizeof(double));
    if (core->vertices == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a pressure field");
    }
    memcpy(core->vertices, corners, (size_t)core->count * 3 * sizeof(double));
    return STN_OK;
}

// ---------------------------------------------------------------------------------------------------- tetrahedra

void tetrahedra_add(tetrahedra_build *build, const double *vertices, int32_t a, int32_t b, int32_t c, int32_t d) {
    if (build->count == build->capacity && !build->failed) {
        int32_t capacity = build->capacity == 0 ? 64 : 2 * build->capacity;
        void *grown = capacity > INT32_MAX / 4 ? NULL
                                               : stn_reallocate(build->context, build->corners, (size_t)build->capacity,
                                                                (size_t)capacity, 4 * sizeof(int32_t));
        build->failed = grown == NULL;
        build->corners = grown == NULL ? build->corners : grown;
        build->capacity = grown == NULL ? build->capacity : capacity;
    }
    if (build->failed) {
        return;
    }
    double det = surface_det(surface_point(vertices, a), surface_point(vertices, b), surface_point(vertices, c),
                             surface_point(vertices, d));
    int32_t corners[4] = {a, b, det < 0.0 ? d : c, det < 0.0 ? c : d};
    memcpy(build->corners + 4 * (size_t)build->count++, corners, sizeof corners);
}

typedef struct join {
    const surface_build *surface;
    const int32_t *across;
    int32_t core_start, centre; // vertices
    tetrahedra_build tetrahedra;
} join;

static int32_t next_corner(int32_t place) {
    return place % 3 == 2 ? place - 2 : place + 1;
}

static void join_triangles(join *j) {
    const surface_build *s = j->surface;
    for (int32_t t = 0; t < s->triangle_count; t++) {
        const int32_t *v = s->triangles + 3 * (size_t)t;
        tetrahedra_add(&j->tetrahedra, s->vertices, v[0], v[1], v[2], j->core_start + s->labels[t]);
    }
}

static void join_edges(join *j) {
    const surface_build *s = j->surface;
    for (int32_t i = 0; i < 3 * s->triangle_count; i++) {
        int32_t here = s->labels[i / 3], there = s->labels[j->across[i] / 3];
        if (i < j->across[i] && here != there) {
            tetrahedra_add(&j->tetrahedra, s->vertices, s->triangles[i], s->triangles[next_corner(i)],
                           j->core_start + here, j->core_start + there);
        }
    }
}

/// Regions around the corner `start` (a place in `triangles`), in turn, as far as `max` of them fit; returns how many.
static int32_t regions_around(const join *j, int32_t start, int32_t max, int32_t *regions) {
    const surface_build *s = j->surface;
    int32_t count = 0, place = start;
    do {
        int32_t label = s->labels[place / 3];
        if (count < max && (count == 0 || regions[count - 1] != label)) {
            regions[count++] = label;
        }
        place = j->across[next_corner(next_corner(place))]; // the side that ends here begins here in the neighbour
    } while (place != start);
    return count > 1 && regions[count - 1] == regions[0] ? count - 1 : count;
}

static void join_vertices(join *j, int32_t max, int32_t *regions, bool *seen) {
    const surface_build *s = j->surface;
    for (int32_t i = 0; i < 3 * s->triangle_count; i++) {
        int32_t vertex = s->triangles[i];
        if (seen[vertex]) {
            continue;
        }
        seen[vertex] = true;
        int32_t count = regions_around(j, i, max, regions);
        if (count == 3) {
            tetrahedra_add(&j->tetrahedra, s->vertices, vertex, j->core_start + regions[0], j->core_start + regions[1],
                           j->core_start + regions[2]);
        }
        for (int32_t k = 0; count > 3 && k < count; k++) {
            tetrahedra_add(&j->tetrahedra, s->vertices, vertex, j->core_start + regions[k],
                           j->core_start + regions[(k + 1) % count], j->centre);
        }
    }
}

/// Appends the core to the surface's vertices and makes all tetrahedra.
static void join_all(surface_build *surface, const field_core *core, tetrahedra_build *tetrahedra) {
    stn_context *context = surface->context;
    int32_t *across = surface_sides(context, surface->triangle_count, surface->triangles);
    int32_t *regions = stn_allocate(context, (size_t)core->count + 1, sizeof *regions);
    join j = {surface, across, surface->vertex_count, surface->vertex_count + core->count, {.context = context}};
    for (int32_t i = 0; i < core->count; i++) {
        surface_build_vertex(surface, surface_point(core->vertices, i), 1.0);
    }
    if (core->count > 3) {
        surface_build_vertex(surface, core->centre, 1.0);
    }
    bool *seen = stn_allocate(context, (size_t)surface->vertex_count + 1, sizeof *seen);
    if (across == NULL || regions == NULL || seen == NULL || surface->failed) {
        surface->failed = true;
    } else {
        join_triangles(&j);
        if (core->count > 1) {
            join_edges(&j);
        }
        if (core->count > 2) {
            join_vertices(&j, core->count + 1, regions, seen);
        }
    }
    *tetrahedra = j.tetrahedra;
    stn_release(context, across);
    stn_release(context, regions);
    stn_release(context, seen);
}

stn_status field_take(surface_build *surface, tetrahedra_build *tetrahedra, double depth, field **out, stn_error *err) {
    stn_context *context = surface->context;
    *out = NULL;
    field *made = stn_allocate(context, 1, sizeof *made);
    if (surface->failed || tetrahedra->failed || made == NULL) {
        surface_build_clear(surface);
        stn_release(context, tetrahedra->corners);
        stn_release(context, made);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a pressure field");
    }
    made->vertex_count = surface->vertex_count;
    made->tetrahedron_count = tetrahedra->count;
    made->vertices = surface->vertices;
    made->extents = surface->extents;
    made->tetrahedra = tetrahedra->corners;
    made->depth = depth;
    surface->vertices = surface->extents = NULL;
    surface_build_clear(surface);
    stn_status status = field_finish(context, made, err);
    if (status != STN_OK) {
        field_destroy(context, made);
        return status;
    }
    *out = made;
    return STN_OK;
}

stn_status field_join(surface_build *surface, const field_core *core, field **out, stn_error *err) {
    tetrahedra_build tetrahedra = {.context = surface->context};
    if (!surface->failed) {
        join_all(surface, core, &tetrahedra);
    }
    return field_take(surface, &tetrahedra, core->depth, out, err);
}
