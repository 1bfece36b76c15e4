// SPDX-License-Identifier: Apache-2.0
// Tetrahedra between a labelled surface and the corners of its core: field_build.h.
#include "field_build.h"

#include <string.h>

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
