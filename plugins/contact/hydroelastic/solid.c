// SPDX-License-Identifier: Apache-2.0
// See solid.h.
#include "solid.h"

static stn_vec3 vertex(const double *vertices, int32_t i) {
    const double *v = vertices + 3 * (size_t)i;
    return stn_vec3_make(v[0], v[1], v[2]);
}

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
        stn_vec3 c = corner[i];
        box.lower = stn_vec3_make(fmin(box.lower.x, c.x), fmin(box.lower.y, c.y), fmin(box.lower.z, c.z));
        box.upper = stn_vec3_make(fmax(box.upper.x, c.x), fmax(box.upper.y, c.y), fmax(box.upper.z, c.z));
    }
    return box;
}

static void fill_cell(const field *f, int32_t t, cell *out, stn_aabb *box) {
    stn_vec3 corner[4];
    for (int32_t k = 0; k < 4; k++) {
        corner[k] = vertex(f->vertices, f->tetrahedra[4 * t + k]);
        out->x[k] = corner[k].x;
        out->y[k] = corner[k].y;
        out->z[k] = corner[k].z;
    }
    for (int32_t k = 0; k < 4; k++) {
        stn_vec3 a = corner[(k + 1) % 4], b = corner[(k + 2) % 4], c = corner[(k + 3) % 4];
        stn_vec3 n = stn_vec3_cross(stn_vec3_sub(b, a), stn_vec3_sub(c, a));
        n = stn_vec3_normalize_or(n, stn_vec3_zero());
        double inside = stn_vec3_dot(n, stn_vec3_sub(corner[k], a));
        n = inside < 0.0 ? stn_vec3_neg(n) : n;
        out->face_x[k] = n.x;
        out->face_y[k] = n.y;
        out->face_z[k] = n.z;
        out->face_at[k] = -stn_vec3_dot(n, a);
    }
    out->gradient = f->gradients[t];
    out->offset = f->offsets[t];
    out->size = longest_edge(corner, 4);
    *box = box_of(corner, 4);
}

stn_status solid_of_field(stn_context *context, const field *f, solid *out, stn_error *err) {
    out->kind = SOLID_FIELD;
    out->count = f->tetrahedron_count;
    out->depth = f->depth;
    out->edge = f->edge;
    out->bounds = f->bounds;
    out->cells = stn_allocate(context, (size_t)out->count, sizeof *out->cells);
    stn_aabb *boxes = stn_allocate(context, (size_t)out->count, sizeof *boxes);
    stn_status status = STN_OK;
    if (out->cells == NULL || boxes == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory for %d tetrahedra", (int)out->count);
    }
    for (int32_t t = 0; t < out->count && status == STN_OK; t++) {
        fill_cell(f, t, &out->cells[t], &boxes[t]);
    }
    status = status == STN_OK ? tree_create(context, boxes, out->count, &out->tree, err) : status;
    stn_release(context, boxes);
    return status;
}

stn_status solid_of_surface(stn_context *context, const rigid_surface *s, solid *out, stn_error *err) {
    out->kind = SOLID_SURFACE;
    out->count = s->triangle_count;
    out->bounds = s->bounds;
    out->facets = stn_allocate(context, (size_t)out->count, sizeof *out->facets);
    stn_aabb *boxes = stn_allocate(context, (size_t)out->count, sizeof *boxes);
    stn_status status = STN_OK;
    if (out->facets == NULL || boxes == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory for %d triangles", (int)out->count);
    }
    for (int32_t t = 0; t < out->count && status == STN_OK; t++) {
        facet *f = &out->facets[t];
        for (int32_t k = 0; k < 3; k++) {
            f->corner[k] = vertex(s->vertices, s->triangles[3 * t + k]);
        }
        f->normal = s->normals[t];
        f->size = longest_edge(f->corner, 3);
        boxes[t] = box_of(f->corner, 3);
    }
    status = status == STN_OK ? tree_create(context, boxes, out->count, &out->tree, err) : status;
    stn_release(context, boxes);
    return status;
}

void solid_clear(stn_context *context, solid *s) {
    tree_clear(context, &s->tree);
    stn_release(context, s->cells);
    stn_release(context, s->facets);
    *s = (solid){0};
}
