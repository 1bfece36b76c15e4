// SPDX-License-Identifier: Apache-2.0
// Which triangles share an edge and which tetrahedra a face, by sorted tuples of vertices; and the tables of that which
// a mesh keeps.
#include <string.h>

#include <stiction/mesh_query.h>
#include <stiction/tuples.h>

#include "geometry/mesh_object.h"

// ------------------------------------------------------------------------------------------------------------- tuples

stn_status stn_tuples_create(stn_context *context, int32_t width, int32_t count, stn_tuples *out, stn_error *err) {
    *out = (stn_tuples){.context = context, .width = width, .count = count};
    out->ids = stn_allocate(context, (size_t)count * (size_t)width, sizeof *out->ids);
    out->order = stn_allocate(context, (size_t)count, sizeof *out->order);
    return out->ids != NULL && out->order != NULL ? STN_OK
                                                  : stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its edges");
}

void stn_tuples_clear(stn_tuples *t) {
    if (t->context == NULL) {
        return;
    }
    stn_release(t->context, t->ids);
    stn_release(t->context, t->order);
}

/// Least place first, so each pass must keep the order of equals.
stn_status stn_tuples_sort(stn_tuples *t, int32_t vertex_count, stn_error *err) {
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

int32_t stn_tuples_end(const stn_tuples *t, int32_t from) {
    size_t width = (size_t)t->width;
    const int32_t *first = t->ids + (size_t)t->order[from] * width;
    int32_t end = from + 1;
    while (end < t->count && memcmp(first, t->ids + (size_t)t->order[end] * width, width * sizeof *first) == 0) {
        end++;
    }
    return end;
}

static void swap_if_falling(int32_t *a, int32_t *b) {
    int32_t low = *a < *b ? *a : *b;
    *b = *a < *b ? *b : *a;
    *a = low;
}

stn_status stn_tuples_of_edges(stn_context *context, const int32_t *triangles, int32_t count, int32_t vertex_count,
                               stn_tuples *out, stn_error *err) {
    stn_status status = stn_tuples_create(context, 2, 3 * count, out, err);
    for (int32_t i = 0; i < out->count && status == STN_OK; i++) {
        const int32_t *corners = triangles + 3 * (size_t)(i / 3);
        int32_t *id = out->ids + 2 * (size_t)i;
        id[0] = corners[i % 3];
        id[1] = corners[(i + 1) % 3];
        swap_if_falling(&id[0], &id[1]);
    }
    return status == STN_OK ? stn_tuples_sort(out, vertex_count, err) : status;
}

stn_status stn_tuples_of_faces(stn_context *context, const int32_t *tetrahedra, int32_t count, int32_t vertex_count,
                               stn_tuples *out, stn_error *err) {
    stn_status status = stn_tuples_create(context, 3, 4 * count, out, err);
    for (int32_t i = 0; i < out->count && status == STN_OK; i++) {
        const int32_t *corners = tetrahedra + 4 * (size_t)(i / 4);
        int32_t *id = out->ids + 3 * (size_t)i;
        for (int32_t k = 0; k < 3; k++) {
            id[k] = corners[k < i % 4 ? k : k + 1];
        }
        swap_if_falling(&id[0], &id[1]);
        swap_if_falling(&id[1], &id[2]);
        swap_if_falling(&id[0], &id[1]);
    }
    return status == STN_OK ? stn_tuples_sort(out, vertex_count, err) : status;
}

// ------------------------------------------------------------------------------------------------------------- across

/// Does the edge run from its lower vertex to its higher one?
static bool rises(const int32_t *triangles, int32_t edge) {
    const int32_t *corners = triangles + 3 * (size_t)(edge / 3);
    return corners[edge % 3] < corners[(edge + 1) % 3];
}

stn_status stn_triangles_across(stn_context *context, const int32_t *triangles, int32_t count, int32_t vertex_count,
                                int32_t *across, stn_error *err) {
    stn_tuples edges;
    stn_status status = stn_tuples_of_edges(context, triangles, count, vertex_count, &edges, err);
    for (int32_t i = 0, end; i < edges.count && status == STN_OK; i = end) {
        end = stn_tuples_end(&edges, i);
        for (int32_t k = i; k < end; k++) {
            across[edges.order[k]] = -1;
        }
        int32_t a = edges.order[i], b = edges.order[end - 1];
        if (end - i == 2 && rises(triangles, a) != rises(triangles, b)) {
            across[a] = b;
            across[b] = a;
        }
    }
    stn_tuples_clear(&edges);
    return status;
}

stn_status stn_tetrahedra_across(stn_context *context, const int32_t *tetrahedra, int32_t count, int32_t vertex_count,
                                 int32_t *across, stn_error *err) {
    stn_tuples faces;
    stn_status status = stn_tuples_of_faces(context, tetrahedra, count, vertex_count, &faces, err);
    for (int32_t i = 0, end; i < faces.count && status == STN_OK; i = end) {
        end = stn_tuples_end(&faces, i);
        int32_t a = faces.order[i], b = faces.order[end - 1];
        across[a] = end - i == 2 ? b / 4 : -1;
        across[b] = end - i == 2 ? a / 4 : -1;
        if (end - i > 2) {
            const int32_t *v = faces.ids + 3 * (size_t)a;
            status = stn_fail(err, STN_ERR_ARGUMENT, "%d tetrahedra share the face of vertices %d, %d, %d", end - i,
                              v[0], v[1], v[2]);
        }
    }
    stn_tuples_clear(&faces);
    return status;
}

// ----------------------------------------------------------------------------------------------------- kept with a
// mesh

static int32_t *make_across(const stn_mesh *mesh, stn_context *context) {
    int32_t *across = stn_allocate(context, 3 * (size_t)mesh->triangle_count, sizeof *across);
    if (across != NULL && stn_triangles_across(context, mesh->triangles, mesh->triangle_count, mesh->vertex_count,
                                               across, NULL) != STN_OK) {
        stn_release(context, across);
        return NULL;
    }
    return across;
}

static int32_t *make_across_faces(const stn_mesh *mesh, stn_context *context) {
    int32_t *across = stn_allocate(context, 4 * (size_t)mesh->tetrahedron_count, sizeof *across);
    if (across != NULL && stn_tetrahedra_across(context, mesh->tetrahedra, mesh->tetrahedron_count, mesh->vertex_count,
                                                across, NULL) != STN_OK) {
        stn_release(context, across);
        return NULL;
    }
    return across;
}

/// What the mesh keeps at `place`, made at the first call.
static const int32_t *kept(const stn_mesh *mesh, int32_t *_Atomic *place,
                           int32_t *(*make)(const stn_mesh *mesh, stn_context *context)) {
    stn_context *context = ((mesh_object *)mesh)->context;
    int32_t *across = atomic_load_explicit(place, memory_order_acquire);
    if (across != NULL) {
        return across;
    }
    int32_t *made = make(mesh, context);
    if (made != NULL &&
        !atomic_compare_exchange_strong_explicit(place, &across, made, memory_order_acq_rel, memory_order_acquire)) {
        stn_release(context, made); // another thread was first
        return across;
    }
    return made;
}

const int32_t *stn_mesh_across(const stn_mesh *mesh) {
    return kept(mesh, &((mesh_object *)mesh)->across, make_across);
}

const int32_t *stn_mesh_across_faces(const stn_mesh *mesh) {
    return mesh->tetrahedron_count > 0 ? kept(mesh, &((mesh_object *)mesh)->across_faces, make_across_faces) : NULL;
}
