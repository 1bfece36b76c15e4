// SPDX-License-Identifier: Apache-2.0
// Which edges of triangles are shared.
#include <stiction/union_find.h>

#include "geometry/mesh_build.h"
#include "geometry/mesh_tuples.h"

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
