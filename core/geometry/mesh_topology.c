// SPDX-License-Identifier: Apache-2.0
// Which edges and faces are shared: edges of triangles as pairs of vertices, faces of tetrahedra as triples, each with
// its vertices in rising order, sorted so that equal ones stand together. Counting sort, one pass for each place: time
// and memory are linear whatever the numbers are.
#include <string.h>

#include "geometry/mesh_build.h"

typedef struct tuples {
    stn_context *context;
    int32_t width;  // 2: edges, 3: faces
    int32_t count;  // at most INT32_MAX by MESH_COUNT_MAX
    int32_t *ids;   // (count x width) rising
    int32_t *order; // once sorted: the tuples from the smallest to the largest
} tuples;

static stn_status tuples_create(stn_context *context, int32_t width, int32_t count, tuples *out, stn_error *err) {
    *out = (tuples){.context = context, .width = width, .count = count};
    out->ids = stn_allocate(context, (size_t)count * (size_t)width, sizeof *out->ids);
    out->order = stn_allocate(context, (size_t)count, sizeof *out->order);
    return out->ids != NULL && out->order != NULL ? STN_OK
                                                  : stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its edges");
}

static void tuples_clear(tuples *t) {
    stn_release(t->context, t->ids);
    stn_release(t->context, t->order);
}

/// Least place first, so each pass must keep the order of equals.
static stn_status tuples_sort(tuples *t, int32_t vertex_count, stn_error *err) {
    size_t width = (size_t)t->width;
    int32_t *start = stn_allocate(t->context, (size_t)vertex_count + 1, sizeof *start);
    int32_t *sorted = stn_allocate(t->context, (size_t)t->count, sizeof *sorted);
    bool done = start != NULL && sorted != NULL;
    for (int32_t i = 0; i < t->count; i++) {
        t->order[i] = i;
    }
    for (size_t place = width; place-- > 0 && done;) {
        memset(start, 0, ((size_t)vertex_count + 1) * sizeof *start);
        for (int32_t i = 0; i < t->count; i++) {
            start[t->ids[(size_t)i * width + place] + 1]++;
        }
        for (int32_t v = 0; v < vertex_count; v++) {
            start[v + 1] += start[v];
        }
        for (int32_t i = 0; i < t->count; i++) {
            int32_t tuple = t->order[i];
            sorted[start[t->ids[(size_t)tuple * width + place]]++] = tuple;
        }
        int32_t *swap = t->order;
        t->order = sorted;
        sorted = swap;
    }
    stn_release(t->context, start);
    stn_release(t->context, sorted);
    return done ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its edges");
}

/// First position in `order` behind the tuples equal to the one at `from`.
static int32_t tuples_end(const tuples *t, int32_t from) {
    size_t width = (size_t)t->width;
    const int32_t *first = t->ids + (size_t)t->order[from] * width;
    int32_t end = from + 1;
    while (end < t->count && memcmp(first, t->ids + (size_t)t->order[end] * width, width * sizeof *first) == 0) {
        end++;
    }
    return end;
}

/// Edge i runs from corner i % 3 of triangle i / 3 to the next one.
static bool edge_rises(const raw_mesh *mesh, int32_t edge, int32_t *low, int32_t *high) {
    const int32_t *corners = mesh->triangles + 3 * (size_t)(edge / 3);
    int32_t from = corners[edge % 3], to = corners[(edge + 1) % 3];
    *low = from < to ? from : to;
    *high = from < to ? to : from;
    return from < to;
}

/// The edges of all triangles, sorted.
static stn_status edges_create(const raw_mesh *mesh, tuples *edges, stn_error *err) {
    stn_status status = tuples_create(mesh->context, 2, 3 * mesh->triangle_count, edges, err);
    if (status == STN_OK) {
        for (int32_t i = 0; i < edges->count; i++) {
            edge_rises(mesh, i, &edges->ids[2 * (size_t)i], &edges->ids[2 * (size_t)i + 1]);
        }
        status = tuples_sort(edges, mesh->vertex_count, err);
    }
    return status;
}

stn_status mesh_count_edges(const raw_mesh *mesh, int32_t *open, bool *closed, stn_error *err) {
    int32_t low, high;
    tuples edges;
    *open = 0;
    *closed = true;
    stn_status status = edges_create(mesh, &edges, err);
    for (int32_t i = 0, end; i < edges.count && status == STN_OK; i = end) {
        end = tuples_end(&edges, i);
        int32_t balance = 0;
        for (int32_t k = i; k < end; k++) {
            balance += edge_rises(mesh, edges.order[k], &low, &high) ? 1 : -1;
        }
        edge_rises(mesh, edges.order[i], &low, &high);
        if (low != high) {
            *open += end - i != 2;
            *closed = *closed && balance == 0;
        }
    }
    tuples_clear(&edges);
    return status;
}

stn_status mesh_pair_edges(const raw_mesh *mesh, int32_t *other, stn_error *err) {
    tuples edges;
    stn_status status = edges_create(mesh, &edges, err);
    for (int32_t i = 0, end; i < edges.count && status == STN_OK; i = end) {
        end = tuples_end(&edges, i);
        for (int32_t k = i; k < end; k++) {
            other[edges.order[k]] = -1;
        }
        int32_t low, high, a = edges.order[i], b = edges.order[end - 1];
        if (end - i == 2 && edge_rises(mesh, a, &low, &high) != edge_rises(mesh, b, &low, &high)) {
            other[a] = b;
            other[b] = a;
        }
    }
    tuples_clear(&edges);
    return status;
}

static stn_status turn_positive(raw_mesh *mesh, stn_error *err) {
    for (int32_t i = 0; i < mesh->tetrahedron_count; i++) {
        int32_t *corner = mesh->tetrahedra + 4 * (size_t)i;
        stn_vec3 origin = mesh_vertex(mesh->vertices, corner[0]), edge[3];
        double size = 1.0;
        for (int32_t k = 0; k < 3; k++) {
            edge[k] = stn_vec3_sub(mesh_vertex(mesh->vertices, corner[k + 1]), origin);
            size *= stn_vec3_norm(edge[k]);
        }
        double determinant = stn_vec3_dot(edge[0], stn_vec3_cross(edge[1], edge[2]));
        if (!(fabs(determinant) > 1e-14 * size)) { // what rounding leaves of a flat one
            return stn_fail(err, STN_ERR_ARGUMENT, "mesh: tetrahedron %d (counted from 0) has no volume", i);
        }
        if (determinant < 0.0) {
            int32_t swap = corner[2];
            corner[2] = corner[3];
            corner[3] = swap;
        }
    }
    return STN_OK;
}

/// Corners of the four faces of a positive tetrahedron, counter-clockwise seen from outside.
static const int32_t face_corner[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

static void face_of(const raw_mesh *mesh, int32_t face, int32_t corners[3]) {
    for (int32_t k = 0; k < 3; k++) {
        corners[k] = mesh->tetrahedra[4 * (size_t)(face / 4) + (size_t)face_corner[face % 4][k]];
    }
}

static bool swap_if_falling(int32_t *a, int32_t *b) {
    int32_t first = *a;
    bool falling = first > *b;
    *a = falling ? *b : first;
    *b = falling ? first : *b;
    return falling;
}

/// Brings the corners into rising order; true when that turned them round.
static bool rise(int32_t corners[3]) {
    bool odd = swap_if_falling(&corners[0], &corners[1]);
    odd ^= swap_if_falling(&corners[1], &corners[2]);
    return odd ^ swap_if_falling(&corners[0], &corners[1]);
}

/// Both sides of an inner face belong to one tetrahedron each, which see it turned round.
static stn_status check_shared(const raw_mesh *mesh, const tuples *faces, int32_t from, int32_t end, stn_error *err) {
    int32_t a = faces->order[from], b = faces->order[from + 1], of_a[3], of_b[3];
    face_of(mesh, a, of_a);
    face_of(mesh, b, of_b);
    if (end - from > 2 || rise(of_a) == rise(of_b)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "mesh: tetrahedra %d and %d (counted from 0) lie on the same side of a face that they share",
                        a / 4, b / 4);
    }
    return STN_OK;
}

/// Singles among the sorted faces; writes them when `triangles` is given.
static stn_status collect_boundary(const raw_mesh *mesh, const tuples *faces, int32_t *triangles, int32_t *count,
                                   stn_error *err) {
    stn_status status = STN_OK;
    *count = 0;
    for (int32_t i = 0, end; i < faces->count && status == STN_OK; i = end) {
        end = tuples_end(faces, i);
        if (end - i > 1) {
            status = check_shared(mesh, faces, i, end, err);
        } else {
            if (triangles != NULL) {
                face_of(mesh, faces->order[i], triangles + 3 * (size_t)*count);
            }
            ++*count;
        }
    }
    return status;
}

stn_status mesh_find_boundary(raw_mesh *mesh, stn_error *err) {
    tuples faces = {0};
    int32_t *triangles = NULL, count = 0;
    stn_status status = turn_positive(mesh, err);
    if (status != STN_OK) {
        return status;
    }
    status = tuples_create(mesh->context, 3, 4 * mesh->tetrahedron_count, &faces, err);
    if (status == STN_OK) {
        for (int32_t i = 0; i < faces.count; i++) {
            face_of(mesh, i, faces.ids + 3 * (size_t)i);
            rise(faces.ids + 3 * (size_t)i);
        }
        status = tuples_sort(&faces, mesh->vertex_count, err);
    }
    if (status == STN_OK) {
        status = collect_boundary(mesh, &faces, NULL, &count, err);
    }
    if (status == STN_OK) {
        triangles = stn_allocate(mesh->context, 3 * (size_t)count, sizeof *triangles);
        status = triangles != NULL ? collect_boundary(mesh, &faces, triangles, &count, err)
                                   : stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its boundary");
    }
    if (status == STN_OK) {
        stn_release(mesh->context, mesh->triangles);
        mesh->triangles = triangles;
        mesh->triangle_count = count;
    }
    tuples_clear(&faces);
    return status;
}

void mesh_flip(raw_mesh *mesh) {
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        int32_t *corners = mesh->triangles + 3 * (size_t)i, second = corners[1];
        corners[1] = corners[2];
        corners[2] = second;
    }
}
