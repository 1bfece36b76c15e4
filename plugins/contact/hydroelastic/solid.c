// SPDX-License-Identifier: Apache-2.0
// See solid.h.
#include "solid.h"

#include <stiction/union_find.h>

#include "surface_build.h"

static stn_aabb box_of(const stn_vec3 *corner, int32_t count) {
    stn_aabb box = {corner[0], corner[0]};
    for (int32_t i = 1; i < count; i++) {
        surface_grow(&box, corner[i]);
    }
    return box;
}

/// Elements of a solid by their corners.
typedef struct elements {
    const double *vertices; // (vertex_count x 3) [m]
    const int32_t *corners; // (count x per_element)
    int32_t vertex_count, per_element, count;
} elements;

/// Notes two points of everything that hangs together by common vertices.
static stn_status find_parts(stn_context *context, const elements *e, solid *out, stn_error *err) {
    int32_t *parent = stn_allocate(context, (size_t)e->vertex_count, sizeof *parent);
    if (parent == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for %d vertices", (int)e->vertex_count);
    }
    int32_t places = e->per_element * e->count;
    stn_union_begin(parent, e->vertex_count);
    for (int32_t i = 0; i < places; i++) {
        stn_union_join(parent, e->corners[i], e->corners[i - i % e->per_element]);
    }
    int32_t root[SOLID_PARTS + 1] = {0};
    out->part_count = 0;
    for (int32_t i = 0; i < places && out->part_count <= SOLID_PARTS; i++) {
        int32_t r = stn_union_root(parent, e->corners[i]), k = 0;
        stn_vec3 v = stn_vec3_at(e->vertices, e->corners[i]);
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

stn_status solid_of_field(stn_context *context, const field *f, solid *out, stn_error *err) {
    out->kind = SOLID_FIELD;
    out->depth = f->depth;
    out->bounds = f->bounds;
    out->core = f->bounds; // around what is deepest; of a field that need not be concave, around all of it
    bool any = out->given;
    double lowest = 0.0;
    for (int32_t v = 0; v < f->vertex_count; v++) {
        stn_vec3 x = stn_vec3_at(f->vertices, v);
        lowest = fmin(lowest, f->extents[v]);
        if (!out->given && f->extents[v] > 1.0 - 1e-9) {
            out->core = any ? out->core : (stn_aabb){x, x};
            surface_grow(&out->core, x);
            any = true;
        }
    }
    tree_box *boxes = stn_allocate(context, (size_t)f->tetrahedron_count, sizeof *boxes);
    if (boxes == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for %d tetrahedra", (int)f->tetrahedron_count);
    }
    cell_joining join = out->shape.type == STN_SHAPE_CONVEX ? CELL_ALL_FLAT : CELL_FLAT_SIDES;
    join = out->given ? CELL_EACH : join; // tetrahedra of a file stay what they are
    stn_status status = cells_of_field(context, f, join, &out->of_field, boxes, err);
    out->cells = out->of_field.cells;
    out->count = out->of_field.count;
    out->bytes = (size_t)f->tetrahedron_count * (sizeof(cell) + sizeof(four_points) + sizeof(four_planes)) +
                 (size_t)f->tetrahedron_count * (CELL_EDGES / 2 * sizeof(cell_edge) + sizeof(tree_node));
    if (status == STN_OK) {
        status = tree_create(context, boxes, out->count, lowest, &out->tree, err);
    }
    if (status == STN_OK) {
        const elements e = {f->vertices, f->tetrahedra, f->vertex_count, 4, f->tetrahedron_count};
        status = find_parts(context, &e, out, err);
    }
    stn_release(context, boxes);
    return status;
}

stn_status solid_of_surface(stn_context *context, const rigid_surface *s, solid *out, stn_error *err) {
    out->kind = SOLID_SURFACE;
    out->count = s->triangle_count;
    out->bytes = (size_t)out->count * (sizeof(facet) + sizeof(tree_node));
    out->bounds = s->bounds;
    stn_shape_type type = out->shape.type; // triangles of something round are no sides of the shape itself
    out->flat = type == STN_SHAPE_BOX || type == STN_SHAPE_CONVEX || type == STN_SHAPE_MESH;
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
            f->corner[k] = stn_vec3_at(s->vertices, s->triangles[3 * t + k]);
        }
        f->normal = s->normals[t];
        for (int32_t k = 0; k < 3; k++) {
            f->size = fmax(f->size, stn_vec3_norm(stn_vec3_sub(f->corner[k], f->corner[(k + 1) % 3])));
        }
        boxes[t] = (tree_box){.low = box_of(f->corner, 3), .full = box_of(f->corner, 3), .lowest = -(double)INFINITY};
    }
    if (status == STN_OK) {
        status = tree_create(context, boxes, out->count, -(double)INFINITY, &out->tree, err);
    }
    if (status == STN_OK) {
        const elements e = {s->vertices, s->triangles, s->vertex_count, 3, out->count};
        status = find_parts(context, &e, out, err);
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
