// SPDX-License-Identifier: Apache-2.0
// What neighbours what in a mesh: edges of triangles and faces of tetrahedra as sorted tuples of vertices, which of
// them are shared, and the tables of that kept with the mesh.
#include <stiction/mesh_query.h>
#include <stiction/union_find.h>
#include <string.h>

#include "geometry/mesh_build.h"

stn_status tuples_create(stn_context *context, int32_t width, int32_t count, tuples *out, stn_error *err) {
    *out = (tuples){.context = context, .width = width, .count = count};
    out->ids = stn_allocate(context, (size_t)count * (size_t)width, sizeof *out->ids);
    out->order = stn_allocate(context, (size_t)count, sizeof *out->order);
    return out->ids != NULL && out->order != NULL ? STN_OK
                                                  : stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its edges");
}

void tuples_clear(tuples *t) {
    if (t->context == NULL) {
        return;
    }
    stn_release(t->context, t->ids);
    stn_release(t->context, t->order);
}

/// Least place first, so each pass must keep the order of equals.
stn_status tuples_sort(tuples *t, int32_t vertex_count, stn_error *err) {
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

int32_t tuples_end(const tuples *t, int32_t from) {
    size_t width = (size_t)t->width;
    const int32_t *first = t->ids + (size_t)t->order[from] * width;
    int32_t end = from + 1;
    while (end < t->count && memcmp(first, t->ids + (size_t)t->order[end] * width, width * sizeof *first) == 0) {
        end++;
    }
    return end;
}

// -------------------------------------------------------------------------------------------------- shared edges
// Which edges of triangles are shared.

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

stn_status mesh_count_touching(const raw_mesh *mesh, int32_t *count, stn_error *err) {
    stn_context *context = mesh->context;
    int32_t corners = 3 * mesh->triangle_count;
    stn_status status = STN_OK;
    int32_t *fan = stn_allocate(context, (size_t)corners, sizeof *fan);
    int32_t *other = stn_allocate(context, (size_t)corners, sizeof *other);
    int32_t *seen = stn_allocate(context, (size_t)mesh->vertex_count, sizeof *seen); // fans at a vertex
    *count = 0;
    if (fan == NULL || other == NULL || seen == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its surface");
    }
    if (status == STN_OK) {
        stn_union_begin(fan, corners);
        status = mesh_pair_edges(mesh, other, err);
    }
    for (int32_t i = 0; i < corners && status == STN_OK; i++) {
        if (other[i] >= 0) { // where this edge begins the other one ends
            stn_union_join(fan, i, 3 * (other[i] / 3) + (other[i] + 1) % 3);
        }
    }
    for (int32_t i = 0; i < corners && status == STN_OK; i++) {
        if (stn_union_root(fan, i) == i) {
            *count += ++seen[mesh->triangles[i]] == 2;
        }
    }
    stn_release(context, other);
    stn_release(context, seen);
    stn_release(context, fan);
    return status;
}

void mesh_flip(raw_mesh *mesh) {
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        int32_t *corners = mesh->triangles + 3 * (size_t)i, second = corners[1];
        corners[1] = corners[2];
        corners[2] = second;
    }
}

// ---------------------------------------------------------------------------------------------- kept with a mesh
// Which triangles share an edge and which tetrahedra a face, kept with the mesh.

static int32_t *make_across(const stn_mesh *mesh, stn_context *context) {
    const raw_mesh view = {.context = context,
                           .vertex_count = mesh->vertex_count,
                           .triangle_count = mesh->triangle_count,
                           .triangles = (int32_t *)mesh->triangles};
    int32_t *across = stn_allocate(context, 3 * (size_t)mesh->triangle_count, sizeof *across);
    if (across != NULL && mesh_pair_edges(&view, across, NULL) != STN_OK) {
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
