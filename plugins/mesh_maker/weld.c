// SPDX-License-Identifier: Apache-2.0
// From corners as a file repeats them to vertices: equal positions are joined, what has no area or no use is dropped;
// and what is known of the edges that triangles share.
//
// Positions are found again by a hash table with chains. The hash of the six 32-bit halves x_i of a position,
//   h = (m_0 + sum_i m_i x_i mod 2^64) / 2^32,
// is strongly universal for random 64-bit multipliers [lemire-2014]: whatever the positions are, chains have constant
// expected length, so that no file can be made slow. The multipliers differ from call to call; the result does not, as
// vertices are numbered in the order in which they first appear.
#include <string.h>
#include <time.h>

#include <stiction/mesh_query.h>
#include <stiction/random.h>
#include <stiction/tuples.h>
#include <stiction/union_find.h>

#include "raw_mesh.h"

enum { HALVES = 6 };

typedef struct table {
    const raw_mesh *source;
    stn_vec3 factor;
    uint64_t multiplier[1 + HALVES];
    uint32_t mask;
    int32_t *bucket; // (mask + 1) first vertex of the chain, counted from 1; 0: empty
    int32_t *next;   // [vertex] the following one, counted from 1
    int32_t *given;  // [vertex] as which it was first given
    int32_t count;   // vertices
} table;

/// A given position, scaled; adding 0 turns -0 into 0.
static void position(const table *t, int32_t given, double p[3]) {
    const double *v = t->source->vertices + 3 * (size_t)given;
    p[0] = v[0] * t->factor.x + 0.0;
    p[1] = v[1] * t->factor.y + 0.0;
    p[2] = v[2] * t->factor.z + 0.0;
}

/// The vertex at a given position; a new one where there is none yet.
static int32_t join(table *t, int32_t given) {
    double p[3], q[3];
    uint32_t half[HALVES];
    uint64_t sum = t->multiplier[HALVES];
    position(t, given, p);
    memcpy(half, p, sizeof half);
    for (int32_t i = 0; i < HALVES; i++) {
        sum += t->multiplier[i] * half[i];
    }
    int32_t *bucket = &t->bucket[(uint32_t)(sum >> 32) & t->mask];
    for (int32_t link = *bucket; link != 0; link = t->next[link - 1]) {
        position(t, t->given[link - 1], q);
        if (memcmp(p, q, sizeof p) == 0) { // finite and without -0: equal bits are equal numbers
            return link - 1;
        }
    }
    int32_t vertex = t->count++;
    t->given[vertex] = given;
    t->next[vertex] = *bucket;
    *bucket = vertex + 1;
    return vertex;
}

static int32_t *renumber(stn_context *context, const int32_t *ids, size_t count, const int32_t *vertex_of) {
    int32_t *renumbered = stn_allocate(context, count, sizeof *renumbered);
    for (size_t i = 0; i < count && renumbered != NULL; i++) {
        renumbered[i] = vertex_of[ids[i]];
    }
    return renumbered;
}

/// Fills `out` from the table and the vertex of each given one. Vertices at one place must have one extent; the first
/// that has any gives it.
static stn_status copy_joined(const table *t, const int32_t *vertex_of, raw_mesh *out, stn_error *err) {
    const raw_mesh *source = t->source;
    out->vertex_count = t->count;
    out->triangle_count = source->triangle_count;
    out->tetrahedron_count = source->tetrahedron_count;
    out->vertices = stn_allocate(out->context, 3 * (size_t)t->count, sizeof *out->vertices);
    out->triangles = renumber(out->context, source->triangles, 3 * (size_t)source->triangle_count, vertex_of);
    out->tetrahedra = renumber(out->context, source->tetrahedra, 4 * (size_t)source->tetrahedron_count, vertex_of);
    if (source->extents != NULL) {
        out->extents = stn_allocate(out->context, (size_t)t->count, sizeof *out->extents);
    }
    if (out->vertices == NULL || out->triangles == NULL || out->tetrahedra == NULL ||
        (out->extents == NULL && source->extents != NULL)) {
        return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for %d vertices", source->vertex_count);
    }
    for (int32_t i = 0; i < t->count; i++) {
        position(t, t->given[i], out->vertices + 3 * (size_t)i);
        if (source->extents != NULL) {
            out->extents[i] = source->extents[t->given[i]];
        }
    }
    for (int32_t i = 0; i < source->vertex_count && source->extents != NULL; i++) {
        double given = source->extents[i], *kept = &out->extents[vertex_of[i]];
        if (!mesh_extents_agree(given, *kept)) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "mesh: vertices %d and %d (counted from 0) lie at one place, but have the extents %g and "
                            "%g",
                            t->given[vertex_of[i]], i, *kept, given);
        }
        *kept = isnan(*kept) ? given : *kept;
    }
    return STN_OK;
}

stn_status mesh_weld(stn_context *context, const raw_mesh *source, stn_vec3 factor, raw_mesh *out, stn_error *err) {
    *out = (raw_mesh){.context = context};
    size_t n = (size_t)source->vertex_count, buckets = 1;
    while (buckets < n) {
        buckets *= 2;
    }
    table t = {.source = source, .factor = factor, .mask = (uint32_t)(buckets - 1)};
    t.bucket = stn_allocate(context, buckets, sizeof *t.bucket);
    t.next = stn_allocate(context, n, sizeof *t.next);
    t.given = stn_allocate(context, n, sizeof *t.given);
    int32_t *vertex_of = stn_allocate(context, n, sizeof *vertex_of);
    stn_status status = STN_OK;
    if (t.bucket != NULL && t.next != NULL && t.given != NULL && vertex_of != NULL) {
        // multipliers from the time and an address that the system chose: nobody who writes a file knows them
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        uint64_t state = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + (uint64_t)(uintptr_t)t.bucket;
        for (int32_t i = 0; i <= HALVES; i++) {
            t.multiplier[i] = stn_random_bits(&state);
        }
        for (int32_t i = 0; i < source->vertex_count; i++) {
            vertex_of[i] = join(&t, i);
        }
        status = copy_joined(&t, vertex_of, out, err);
    } else {
        status = stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for %zu vertices", n);
    }
    stn_release(context, t.bucket);
    stn_release(context, t.next);
    stn_release(context, t.given);
    stn_release(context, vertex_of);
    if (status != STN_OK) {
        raw_mesh_clear(out);
    }
    return status;
}

bool mesh_triangle_degenerate(const double *vertices, const int32_t corners[3]) {
    stn_vec3 p[3], edge[3];
    double squared[3];
    for (int32_t i = 0; i < 3; i++) {
        p[i] = stn_vec3_at(vertices, corners[i]);
    }
    int32_t longest = 0;
    for (int32_t i = 0; i < 3; i++) {
        edge[i] = stn_vec3_sub(p[(i + 1) % 3], p[i]);
        squared[i] = stn_vec3_dot(edge[i], edge[i]);
        longest = squared[i] > squared[longest] ? i : longest;
    }
    int32_t a = (longest + 1) % 3, b = (longest + 2) % 3;
    stn_vec3 normal = stn_vec3_cross(edge[a], edge[b]);
    return !(stn_vec3_dot(normal, normal) > 1e-30 * squared[a] * squared[b]);
}

int32_t mesh_drop_degenerate(raw_mesh *mesh) {
    int32_t kept = 0, given = mesh->triangle_count;
    for (int32_t i = 0; i < given; i++) {
        const int32_t *corners = mesh->triangles + 3 * (size_t)i;
        if (!mesh_triangle_degenerate(mesh->vertices, corners)) {
            memmove(mesh->triangles + 3 * (size_t)kept, corners, 3 * sizeof *corners);
            kept++;
        }
    }
    mesh->triangle_count = kept;
    return given - kept;
}

stn_status mesh_compact(raw_mesh *mesh, stn_error *err) {
    stn_context *context = mesh->context;
    size_t corners = 3 * (size_t)mesh->triangle_count, tetrahedron_corners = 4 * (size_t)mesh->tetrahedron_count;
    int32_t *number = stn_allocate(context, (size_t)mesh->vertex_count, sizeof *number), used = 0;
    if (number == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory");
    }
    for (size_t i = 0; i < corners; i++) {
        number[mesh->triangles[i]] = 1;
    }
    for (size_t i = 0; i < tetrahedron_corners; i++) {
        number[mesh->tetrahedra[i]] = 1;
    }
    for (int32_t i = 0; i < mesh->vertex_count; i++) { // the used ones in their order, from 1
        number[i] = number[i] != 0 ? ++used : 0;
    }
    double *vertices = stn_allocate(context, 3 * (size_t)used, sizeof *vertices);
    int32_t *triangles = stn_allocate(context, corners, sizeof *triangles);
    if (vertices == NULL || triangles == NULL) {
        stn_release(context, number);
        stn_release(context, vertices);
        stn_release(context, triangles);
        return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory");
    }
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        if (number[i] != 0) {
            memcpy(vertices + 3 * (size_t)(number[i] - 1), mesh->vertices + 3 * (size_t)i, 3 * sizeof *vertices);
        }
        if (number[i] != 0 && mesh->extents != NULL) {
            mesh->extents[number[i] - 1] = mesh->extents[i]; // never behind what is still to be read
        }
    }
    for (size_t i = 0; i < corners; i++) {
        triangles[i] = number[mesh->triangles[i]] - 1;
    }
    for (size_t i = 0; i < tetrahedron_corners; i++) {
        mesh->tetrahedra[i] = number[mesh->tetrahedra[i]] - 1;
    }
    stn_release(context, number);
    stn_release(context, mesh->vertices);
    stn_release(context, mesh->triangles);
    mesh->vertices = vertices;
    mesh->triangles = triangles;
    mesh->vertex_count = used;
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------- shared edges

stn_status mesh_count_edges(const raw_mesh *mesh, int32_t *open, bool *closed, stn_error *err) {
    stn_tuples edges;
    *open = 0;
    *closed = true;
    stn_status status =
        stn_tuples_of_edges(mesh->context, mesh->triangles, mesh->triangle_count, mesh->vertex_count, &edges, err);
    for (int32_t i = 0, end; i < edges.count && status == STN_OK; i = end) {
        end = stn_tuples_end(&edges, i);
        int32_t balance = 0;
        const int32_t *ends = edges.ids + 2 * (size_t)edges.order[i];
        for (int32_t k = i; k < end; k++) {
            bool rises = mesh->triangles[edges.order[k]] == ends[0]; // it runs from its lower vertex to its higher one
            balance += rises ? 1 : -1;
        }
        if (ends[0] != ends[1]) {
            *open += end - i != 2;
            *closed = *closed && balance == 0;
        }
    }
    stn_tuples_clear(&edges);
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
        status = stn_triangles_across(context, mesh->triangles, mesh->triangle_count, mesh->vertex_count, other, err);
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
