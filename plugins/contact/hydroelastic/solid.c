// SPDX-License-Identifier: Apache-2.0
// See solid.h.
#include "solid.h"

#include <stiction/union_find.h>

#include "surface_build.h"

static double longest_edge(const stn_vec3 *corner, int32_t count) {
    double longest = 0.0;
    for (int32_t i = 1; i < count; i++) {
        for (int32_t j = 0; j < i; j++) {
            longest = fmax(longest, stn_vec3_norm(stn_vec3_sub(corner[i], corner[j])));
        }
    }
    return longest;
}

static stn_aabb box_of(const stn_vec3 *corner, int32_t count) {
    stn_aabb box = {corner[0], corner[0]};
    for (int32_t i = 1; i < count; i++) {
        surface_grow(&box, corner[i]);
    }
    return box;
}

/// Notes two points of everything that hangs together by common vertices.
static stn_status find_parts(stn_context *context, int32_t vertex_count, const double *vertices, const int32_t *corners,
                             int32_t per_element, int32_t count, solid *out, stn_error *err) {
    int32_t *parent = stn_allocate(context, (size_t)vertex_count, sizeof *parent);
    if (parent == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for %d vertices", (int)vertex_count);
    }
    stn_union_begin(parent, vertex_count);
    for (int32_t i = 0; i < per_element * count; i++) {
        stn_union_join(parent, corners[i], corners[i - i % per_element]);
    }
    int32_t root[SOLID_PARTS + 1] = {0};
    out->part_count = 0;
    for (int32_t i = 0; i < per_element * count && out->part_count <= SOLID_PARTS; i++) {
        int32_t r = stn_union_root(parent, corners[i]), k = 0;
        stn_vec3 v = surface_point(vertices, corners[i]);
        while (k < out->part_count && root[k] != r) {
            k++;
        }
        root[k] = r;
        if (k == SOLID_PARTS) {
            out->part_count = k + 1;
            break;
        }
        stn_vec3 *end = out->part_end[k];
        end[0] = k == out->part_count || v.x < end[0].x ? v : end[0];
        end[1] = k == out->part_count || v.x > end[1].x ? v : end[1];
        out->part_count += k == out->part_count;
    }
    stn_release(context, parent);
    return STN_OK;
}

/// Around what is deepest; of a field that need not be concave, around all of it.
static stn_aabb core_of(const field *f, bool given) {
    stn_aabb core = f->bounds;
    bool any = given;
    for (int32_t v = 0; v < f->vertex_count && !given; v++) {
        stn_vec3 x = surface_point(f->vertices, v);
        if (f->extents[v] > 1.0 - 1e-9) {
            core = any ? core : (stn_aabb){x, x};
            surface_grow(&core, x);
            any = true;
        }
    }
    return core;
}

stn_status solid_of_field(stn_context *context, const field *f, solid *out, stn_error *err) {
    out->kind = SOLID_FIELD;
    out->depth = f->depth;
    out->bounds = f->bounds;
    out->core = core_of(f, out->given);
    tree_box *boxes = stn_allocate(context, (size_t)f->tetrahedron_count, sizeof *boxes);
    stn_status status = STN_OK;
    if (boxes == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory for %d tetrahedra", (int)f->tetrahedron_count);
    }
    cell_joining join = out->shape.type == STN_SHAPE_CONVEX ? CELL_ALL_FLAT : CELL_FLAT_SIDES;
    join = out->given ? CELL_EACH : join; // tetrahedra of a file stay what they are
    if (status == STN_OK) {
        status = cells_of_field(context, f, join, &out->of_field, boxes, err);
    }
    out->cells = out->of_field.cells;
    out->count = out->of_field.count;
    out->bytes = (size_t)f->tetrahedron_count * (sizeof(cell) + sizeof(four_points) + sizeof(four_planes)) +
                 (size_t)f->tetrahedron_count * (CELL_EDGES / 2 * sizeof(cell_edge) + sizeof(tree_node));
    double lowest = 0.0;
    for (int32_t v = 0; v < f->vertex_count; v++) {
        lowest = fmin(lowest, f->extents[v]);
    }
    if (status == STN_OK) {
        status = tree_create(context, boxes, out->count, lowest, &out->tree, err);
    }
    if (status == STN_OK) {
        status = find_parts(context, f->vertex_count, f->vertices, f->tetrahedra, 4, f->tetrahedron_count, out, err);
    }
    stn_release(context, boxes);
    return status;
}

/// Are its triangles sides of the shape itself, not of something round?
static bool is_flat(const stn_shape *shape) {
    return shape->type == STN_SHAPE_BOX || shape->type == STN_SHAPE_CONVEX || shape->type == STN_SHAPE_MESH;
}

stn_status solid_of_surface(stn_context *context, const rigid_surface *s, solid *out, stn_error *err) {
    out->kind = SOLID_SURFACE;
    out->count = s->triangle_count;
    out->bytes = (size_t)out->count * (sizeof(facet) + sizeof(tree_node));
    out->bounds = s->bounds;
    out->flat = is_flat(&out->shape);
    out->error = s->error;
    out->facets = stn_allocate(context, (size_t)out->count, sizeof *out->facets);
    tree_box *boxes = stn_allocate(context, (size_t)out->count, sizeof *boxes);
    stn_status status = STN_OK;
    if (out->facets == NULL || boxes == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory for %d triangles", (int)out->count);
    }
    for (int32_t t = 0; t < out->count && status == STN_OK; t++) {
        facet *f = &out->facets[t];
        for (int32_t k = 0; k < 3; k++) {
            f->corner[k] = surface_point(s->vertices, s->triangles[3 * t + k]);
        }
        f->normal = s->normals[t];
        f->size = longest_edge(f->corner, 3);
        boxes[t] = (tree_box){.low = box_of(f->corner, 3), .full = box_of(f->corner, 3), .lowest = -(double)INFINITY};
    }
    if (status == STN_OK) {
        status = tree_create(context, boxes, out->count, -(double)INFINITY, &out->tree, err);
    }
    if (status == STN_OK) {
        status = find_parts(context, s->vertex_count, s->vertices, s->triangles, 3, out->count, out, err);
    }
    stn_release(context, boxes);
    return status;
}

void solid_clear(stn_context *context, solid *s) {
    tree_clear(context, &s->tree);
    cells_clear(context, &s->of_field);
    stn_release(context, s->facets);
    *s = (solid){0};
}
