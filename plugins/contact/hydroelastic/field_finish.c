// SPDX-License-Identifier: Apache-2.0
// What follows from vertices, extents and tetrahedra: gradients, neighbours, box and edge length.
#include "field_build.h"

#include <stdlib.h>

/// A tetrahedron is flat when its volume is below this share of what its edges could span.
static const double flat = 1e-13;

/// grad e of a tetrahedron with corners p and extents e: sum over k of (e_k - e_0) grad N_k, where grad N_1 is the
/// cross product of the edges to corners 2 and 3 over the determinant.
static bool set_gradient(field *f, int32_t tetrahedron) {
    const int32_t *v = f->tetrahedra + 4 * (size_t)tetrahedron;
    stn_vec3 p = surface_point(f->vertices, v[0]), edge[3], gradient = stn_vec3_zero();
    for (int32_t k = 0; k < 3; k++) {
        edge[k] = stn_vec3_sub(surface_point(f->vertices, v[k + 1]), p);
    }
    double det = stn_vec3_dot(stn_vec3_cross(edge[0], edge[1]), edge[2]);
    double span = stn_vec3_norm(edge[0]) * stn_vec3_norm(edge[1]) * stn_vec3_norm(edge[2]);
    if (!(det > flat * span)) { // NaN is flat too
        return false;
    }
    for (int32_t k = 0; k < 3; k++) {
        double rise = f->extents[v[k + 1]] - f->extents[v[0]];
        gradient = stn_vec3_mul_add(gradient, rise / det, stn_vec3_cross(edge[(k + 1) % 3], edge[(k + 2) % 3]));
    }
    f->gradients[tetrahedron] = gradient;
    f->offsets[tetrahedron] = f->extents[v[0]] - stn_vec3_dot(gradient, p);
    return stn_vec3_finite(gradient);
}

typedef struct face {
    int32_t vertex[3], place; // ascending; 4 t + k
} face;

static int compare_faces(const void *a, const void *b) {
    const face *p = a, *q = b;
    for (int32_t k = 0; k < 3; k++) {
        if (p->vertex[k] != q->vertex[k]) {
            return p->vertex[k] < q->vertex[k] ? -1 : 1;
        }
    }
    return (p->place > q->place) - (p->place < q->place);
}

static void swap_if_less(int32_t *a, int32_t *b) {
    if (*b < *a) {
        int32_t kept = *a;
        *a = *b;
        *b = kept;
    }
}

static face face_of(const field *f, int32_t place) {
    const int32_t *v = f->tetrahedra + 4 * (size_t)(place / 4);
    int32_t k = place % 4;
    face made = {{v[(k + 1) % 4], v[(k + 2) % 4], v[(k + 3) % 4]}, place};
    swap_if_less(&made.vertex[0], &made.vertex[1]);
    swap_if_less(&made.vertex[1], &made.vertex[2]);
    swap_if_less(&made.vertex[0], &made.vertex[1]);
    return made;
}

static bool same_face(const face *p, const face *q) {
    return p->vertex[0] == q->vertex[0] && p->vertex[1] == q->vertex[1] && p->vertex[2] == q->vertex[2];
}

/// Lengths of the sides of a face, for the mean edge of the surface (each inner one counts twice, like all).
static void add_sides(const field *f, const face *outer, double *sum, int64_t *count) {
    for (int32_t k = 0; k < 3; k++) {
        *sum += stn_vec3_norm(stn_vec3_sub(surface_point(f->vertices, outer->vertex[k]),
                                           surface_point(f->vertices, outer->vertex[(k + 1) % 3])));
        ++*count;
    }
}

static stn_status set_neighbours(field *f, face *faces, stn_error *err) {
    double sum = 0.0;
    int64_t sides = 0;
    int32_t count = 4 * f->tetrahedron_count;
    for (int32_t i = 0; i < count; i++) {
        faces[i] = face_of(f, i);
    }
    qsort(faces, (size_t)count, sizeof *faces, compare_faces);
    for (int32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && same_face(faces + i, faces + end); end++) {
        }
        if (end - i > 2) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "pressure field: %d tetrahedra share the face of vertices %d, %d, %d", end - i,
                            faces[i].vertex[0], faces[i].vertex[1], faces[i].vertex[2]);
        }
        f->neighbours[faces[i].place] = end - i == 2 ? faces[i + 1].place / 4 : -1;
        if (end - i == 2) {
            f->neighbours[faces[i + 1].place] = faces[i].place / 4;
        } else {
            add_sides(f, faces + i, &sum, &sides);
        }
    }
    f->edge = sum / (double)sides;
    return STN_OK;
}

/// At most 1 everywhere, and nothing left of it outside.
static stn_status check_extents(const field *f, stn_error *err) {
    for (int32_t i = 0; i < f->vertex_count; i++) {
        if (!(f->extents[i] <= 1.0)) {
            return stn_fail(err, STN_ERR_NUMERIC, "pressure field: extent %g of vertex %d must be at most 1",
                            f->extents[i], i);
        }
    }
    for (int32_t i = 0; i < 4 * f->tetrahedron_count; i++) {
        for (int32_t c = 1; f->neighbours[i] < 0 && c < 4; c++) {
            int32_t vertex = f->tetrahedra[i / 4 * 4 + (i % 4 + c) % 4];
            if (f->extents[vertex] > 0.0) {
                return stn_fail(err, STN_ERR_ARGUMENT,
                                "pressure field: extent %g of vertex %d on the surface must be 0", f->extents[vertex],
                                vertex);
            }
        }
    }
    return STN_OK;
}

stn_status field_finish(stn_context *context, field *f, stn_error *err) {
    size_t count = (size_t)f->tetrahedron_count;
    f->neighbours = stn_allocate(context, count, 4 * sizeof(int32_t));
    f->gradients = stn_allocate(context, count, sizeof(stn_vec3));
    f->offsets = stn_allocate(context, count, sizeof(double));
    face *faces = stn_allocate(context, count, 4 * sizeof(face));
    stn_status status = STN_OK;
    if (f->neighbours == NULL || f->gradients == NULL || f->offsets == NULL || faces == NULL) {
        status =
            stn_fail(err, STN_ERR_MEMORY, "out of memory for a pressure field of %d tetrahedra", f->tetrahedron_count);
    }
    for (int32_t t = 0; status == STN_OK && t < f->tetrahedron_count; t++) {
        if (!set_gradient(f, t)) {
            status = stn_fail(err, STN_ERR_ARGUMENT,
                              "pressure field: tetrahedron %d has no volume: make the solid less thin, or its mesh "
                              "coarser",
                              t);
        }
    }
    if (status == STN_OK) {
        status = set_neighbours(f, faces, err);
    }
    status = status == STN_OK ? check_extents(f, err) : status;
    stn_release(context, faces);
    f->bounds = surface_bounds(f->vertices, f->vertex_count);
    return status;
}
