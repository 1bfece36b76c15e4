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

stn_status field_core_make(stn_context *context, const stn_shape *shape, const surface_plan *plan, field_core *core,
                           stn_error *err) {
    double corners[12] = {0}, half_length = shape->half_length, polygon = 0.0; // polygon: distance of its corners
    stn_vec3 half = shape->half_extents;
    *core = (field_core){.count = 1, .depth = shape->radius};
    switch (shape->type) {
    case STN_SHAPE_ELLIPSOID:
        core->depth = fmin(half.x, fmin(half.y, half.z));
        break;
    case STN_SHAPE_BOX:
        box_core(half, corners, core);
        break;
    case STN_SHAPE_CAPSULE:
        if (half_length > 0.0) {
            segment_core(half_length, corners, core);
        }
        break;
    case STN_SHAPE_CYLINDER: {
        double apothem = shape->radius * surface_prism_factor(plan->around) * cos(STN_PI / plan->around);
        core->depth = fmin(shape->radius, half_length);
        core->side = apothem;
        core->end = core->depth;
        if (is_longer(half_length, shape->radius, half_length)) {
            core->regions = CYLINDER_HALVES;
            segment_core(half_length - shape->radius, corners, core);
        } else if (is_longer(apothem, half_length, apothem)) {
            // the side is that of a prism: a polygon lies below all of its faces at the same depth when its corners lie
            // behind their middles
            core->side = half_length;
            core->count = plan->around;
            core->regions = CYLINDER_SECTORS;
            polygon = apothem - half_length;
        }
        break;
    }
    case STN_SHAPE_CONVEX: { // the centroid; its depth is that of the nearest face
        const stn_polytope *p = shape->mesh->polytope;
        stn_vec3 centroid = shape->mesh->solid.com;
        surface_put(corners, 0, centroid);
        core->depth = INFINITY;
        for (int32_t f = 0; f < p->face_count; f++) {
            stn_vec3 normal = {p->planes[4 * f], p->planes[4 * f + 1], p->planes[4 * f + 2]};
            core->depth = fmin(core->depth, p->planes[4 * f + 3] - stn_vec3_dot(normal, centroid));
        }
        break;
    }
    default: // a sphere: its centre
        break;
    }
    core->vertices = stn_allocate(context, (size_t)core->count, 3 * sizeof(double));
    if (core->vertices == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a pressure field");
    }
    if (core->regions != CYLINDER_SECTORS) {
        memcpy(core->vertices, corners, (size_t)core->count * 3 * sizeof(double));
        return STN_OK;
    }
    for (int32_t i = 0; i < core->count; i++) {
        double angle = 2.0 * STN_PI * (i + 0.5) / core->count;
        surface_put(core->vertices, i, stn_vec3_make(polygon * cos(angle), polygon * sin(angle), 0.0));
    }
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
    double det = surface_det(stn_vec3_at(vertices, a), stn_vec3_at(vertices, b), stn_vec3_at(vertices, c),
                             stn_vec3_at(vertices, d));
    int32_t corners[4] = {a, b, det < 0.0 ? d : c, det < 0.0 ? c : d};
    memcpy(build->corners + 4 * (size_t)build->count++, corners, sizeof corners);
}

static int32_t next_corner(int32_t place) {
    return place % 3 == 2 ? place - 2 : place + 1;
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

stn_status field_join(surface_build *s, const field_core *core, field **out, stn_error *err) {
    stn_context *context = s->context;
    tetrahedra_build tetrahedra = {.context = context};
    if (s->failed) {
        return field_take(s, &tetrahedra, core->depth, out, err);
    }
    int32_t *across = surface_sides(context, s->triangle_count, s->triangles);
    int32_t *regions = stn_allocate(context, (size_t)core->count + 1, sizeof *regions);
    int32_t first = s->vertex_count, centre = first + core->count, max = core->count + 1;
    for (int32_t i = 0; i < core->count; i++) {
        surface_build_vertex(s, stn_vec3_at(core->vertices, i), 1.0);
    }
    if (core->count > 3) {
        surface_build_vertex(s, core->centre, 1.0);
    }
    bool *seen = stn_allocate(context, (size_t)s->vertex_count + 1, sizeof *seen);
    s->failed = s->failed || across == NULL || regions == NULL || seen == NULL;
    for (int32_t t = 0; t < s->triangle_count && !s->failed; t++) {
        const int32_t *v = s->triangles + 3 * (size_t)t;
        tetrahedra_add(&tetrahedra, s->vertices, v[0], v[1], v[2], first + s->labels[t]);
    }
    for (int32_t i = 0; i < 3 * s->triangle_count && core->count > 1 && !s->failed; i++) {
        int32_t here = s->labels[i / 3], there = s->labels[across[i] / 3];
        if (i < across[i] && here != there) {
            tetrahedra_add(&tetrahedra, s->vertices, s->triangles[i], s->triangles[next_corner(i)], first + here,
                           first + there);
        }
    }
    for (int32_t i = 0; i < 3 * s->triangle_count && core->count > 2 && !s->failed; i++) {
        int32_t vertex = s->triangles[i], count = 0, place = i;
        if (seen[vertex]) {
            continue;
        }
        seen[vertex] = true;
        do { // regions around the vertex, in turn
            int32_t label = s->labels[place / 3];
            if (count < max && (count == 0 || regions[count - 1] != label)) {
                regions[count++] = label;
            }
            place = across[next_corner(next_corner(place))]; // the side that ends here begins here in the neighbour
        } while (place != i);
        count -= count > 1 && regions[count - 1] == regions[0];
        if (count == 3) {
            tetrahedra_add(&tetrahedra, s->vertices, vertex, first + regions[0], first + regions[1],
                           first + regions[2]);
        }
        for (int32_t k = 0; count > 3 && k < count; k++) {
            tetrahedra_add(&tetrahedra, s->vertices, vertex, first + regions[k], first + regions[(k + 1) % count],
                           centre);
        }
    }
    stn_release(context, across);
    stn_release(context, regions);
    stn_release(context, seen);
    return field_take(s, &tetrahedra, core->depth, out, err);
}
