// SPDX-License-Identifier: Apache-2.0
// Tetrahedra made ready for a pressure field. Where all corners of an edge, a face or a tetrahedron lie on the surface
// although it lies inside, a linear field would be 0 all over it; each such one gets a vertex in its middle: edges
// first, then the faces that are left, then the tetrahedra.
//
// Which edges and faces these are is known beforehand, as the new ones all have a vertex inside. Every tetrahedron
// splits along its own in the order of their vertices, so that neighbours cut their common face alike.
#include <stdlib.h>
#include <string.h>

#include <stiction/mesh_query.h>

#include "geometry/mesh_build.h"

/// Vertices of an edge (the last is 0) or a face, rising.
typedef struct simplex {
    int32_t id[3];
} simplex;

typedef struct simplices {
    simplex *items; // sorted, each once
    int32_t count;
} simplices;

typedef struct splitting {
    const stn_mesh *mesh;
    stn_context *context;
    bool *outer; // (vertex_count) on the surface
    simplices edges, faces;
    raw_mesh out;          // while `tetrahedra` is NULL they are only counted
    int64_t count;         // tetrahedra
    int32_t vertex_count;  // with those put into tetrahedra so far
    const int32_t *across; // of the mesh
} splitting;

static int compare_simplex(const void *a, const void *b) {
    const simplex *x = a, *y = b;
    for (int32_t k = 0; k < 3; k++) {
        if (x->id[k] != y->id[k]) {
            return x->id[k] < y->id[k] ? -1 : 1;
        }
    }
    return 0;
}

static simplex edge_between(int32_t a, int32_t b) {
    return (simplex){{a < b ? a : b, a < b ? b : a, 0}};
}

static simplex face_between(int32_t a, int32_t b, int32_t c) {
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    int32_t least = c < low ? c : low, most = c > high ? c : high;
    return (simplex){{least, c < low ? low : (c > high ? high : c), most}};
}

/// Its place, -1 when it is not there.
static int32_t find(const simplices *s, simplex wanted) {
    const simplex *found =
        s->count > 0 ? bsearch(&wanted, s->items, (size_t)s->count, sizeof *s->items, compare_simplex) : NULL;
    return found != NULL ? (int32_t)(found - s->items) : -1;
}

static void sort_each_once(simplices *s) {
    int32_t kept = 0;
    if (s->count > 0) {
        qsort(s->items, (size_t)s->count, sizeof *s->items, compare_simplex);
    }
    for (int32_t i = 0; i < s->count; i++) {
        if (kept == 0 || compare_simplex(&s->items[kept - 1], &s->items[i]) != 0) {
            s->items[kept++] = s->items[i];
        }
    }
    s->count = kept;
}

/// A corner inside, or a new vertex, which is inside too.
static bool is_inner(const splitting *s, int32_t vertex) {
    return vertex >= s->mesh->vertex_count || !s->outer[vertex];
}

static const int32_t edge_ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
static const int32_t face_corners[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};

// ---------------------------------------------------------------------------------------------- what is to be split

/// Edges of tetrahedra between vertices of the surface; those of the surface itself are taken out.
static bool find_edges(splitting *s) {
    const stn_mesh *mesh = s->mesh;
    simplices surface = {stn_allocate(s->context, 3 * (size_t)mesh->triangle_count, sizeof(simplex)), 0};
    int64_t most = 0;
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < 6 * (int64_t)mesh->tetrahedron_count; i++) {
            const int32_t *v = mesh->tetrahedra + 4 * (i / 6), *end = edge_ends[i % 6];
            if (is_inner(s, v[end[0]]) || is_inner(s, v[end[1]])) {
                continue;
            }
            if (pass == 1) {
                s->edges.items[s->edges.count++] = edge_between(v[end[0]], v[end[1]]);
            }
            most++;
        }
        if (pass == 0) {
            s->edges.items = most <= INT32_MAX ? stn_allocate(s->context, (size_t)most, sizeof(simplex)) : NULL;
        }
        if (surface.items == NULL || s->edges.items == NULL) {
            stn_release(s->context, surface.items);
            return false;
        }
    }
    for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) {
        const int32_t *v = mesh->triangles + 3 * (size_t)(i / 3);
        surface.items[surface.count++] = edge_between(v[i % 3], v[(i + 1) % 3]);
    }
    sort_each_once(&surface);
    sort_each_once(&s->edges);
    int32_t kept = 0;
    for (int32_t i = 0; i < s->edges.count; i++) {
        if (find(&surface, s->edges.items[i]) < 0) {
            s->edges.items[kept++] = s->edges.items[i];
        }
    }
    s->edges.count = kept;
    stn_release(s->context, surface.items);
    return true;
}

/// Faces of tetrahedra that lie inside, though their corners and edges are of the surface.
static bool find_faces(splitting *s) {
    for (int32_t pass = 0; pass < 2; pass++) {
        int32_t count = 0;
        for (int32_t i = 0; i < 4 * s->mesh->tetrahedron_count; i++) {
            const int32_t *v = s->mesh->tetrahedra + 4 * (size_t)(i / 4), *c = face_corners[i % 4];
            bool shut = i / 4 < s->across[i];
            for (int32_t k = 0; k < 3 && shut; k++) {
                int32_t a = v[c[k]], b = v[c[(k + 1) % 3]];
                shut = !is_inner(s, a) && find(&s->edges, edge_between(a, b)) < 0;
            }
            if (shut && pass == 1) {
                s->faces.items[count] = face_between(v[c[0]], v[c[1]], v[c[2]]);
            }
            count += shut;
        }
        if (pass == 0) {
            s->faces = (simplices){stn_allocate(s->context, (size_t)count, sizeof(simplex)), count};
        }
        if (s->faces.items == NULL) {
            return false;
        }
    }
    sort_each_once(&s->faces);
    return true;
}

// -------------------------------------------------------------------------------------------------------- splitting

/// Writes the middle of vertices to a new one.
static void put_middle(splitting *s, int32_t vertex, const int32_t *of, int32_t count) {
    for (int32_t axis = 0; axis < 3 && s->out.vertices != NULL; axis++) {
        double sum = 0.0;
        for (int32_t k = 0; k < count; k++) {
            sum += s->mesh->vertices[3 * (size_t)of[k] + (size_t)axis];
        }
        s->out.vertices[3 * (size_t)vertex + (size_t)axis] = sum / count;
    }
}

/// The first edge of a tetrahedron that is to be split; -1: none.
static int32_t first_edge(const splitting *s, const int32_t v[4], int32_t ends[2]) {
    int32_t first = -1;
    for (int32_t i = 0; i < 6; i++) {
        const int32_t *end = edge_ends[i];
        if (!is_inner(s, v[end[0]]) && !is_inner(s, v[end[1]])) {
            int32_t at = find(&s->edges, edge_between(v[end[0]], v[end[1]]));
            if (at >= 0 && (first < 0 || at < first)) {
                first = at;
                ends[0] = end[0];
                ends[1] = end[1];
            }
        }
    }
    return first;
}

/// The first face of a tetrahedron that is to be split; -1: none.
static int32_t first_face(const splitting *s, const int32_t v[4], int32_t *face) {
    int32_t first = -1;
    for (int32_t i = 0; i < 4; i++) {
        const int32_t *c = face_corners[i];
        if (!is_inner(s, v[c[0]]) && !is_inner(s, v[c[1]]) && !is_inner(s, v[c[2]])) {
            int32_t at = find(&s->faces, face_between(v[c[0]], v[c[1]], v[c[2]]));
            first = at >= 0 && (first < 0 || at < first) ? at : first;
            *face = at >= 0 && first == at ? i : *face;
        }
    }
    return first;
}

static void split(splitting *s, const int32_t v[4]);

/// A copy for each of the places, with `middle` there.
static void split_at(splitting *s, const int32_t v[4], const int32_t *places, int32_t count, int32_t middle) {
    for (int32_t k = 0; k < count; k++) {
        int32_t part[4] = {v[0], v[1], v[2], v[3]};
        part[places[k]] = middle;
        split(s, part);
    }
}

/// Down to tetrahedra that need no more: at most six edges, four faces and one middle deep.
static void split(splitting *s, const int32_t v[4]) {
    static const int32_t all[4] = {0, 1, 2, 3};
    int32_t ends[2] = {0, 0}, face = 0, vertices = s->mesh->vertex_count;
    int32_t edge = first_edge(s, v, ends);
    if (edge >= 0) {
        put_middle(s, vertices + edge, s->edges.items[edge].id, 2);
        split_at(s, v, ends, 2, vertices + edge);
        return;
    }
    int32_t shut = first_face(s, v, &face);
    if (shut >= 0) {
        put_middle(s, vertices + s->edges.count + shut, s->faces.items[shut].id, 3);
        split_at(s, v, face_corners[face], 3, vertices + s->edges.count + shut);
        return;
    }
    if (is_inner(s, v[0]) || is_inner(s, v[1]) || is_inner(s, v[2]) || is_inner(s, v[3])) {
        if (s->out.tetrahedra != NULL) {
            memcpy(s->out.tetrahedra + 4 * s->count, v, 4 * sizeof *v);
        }
        s->count++;
        return;
    }
    int32_t middle = s->vertex_count++;
    put_middle(s, middle, v, 4);
    split_at(s, v, all, 4, middle);
}

// --------------------------------------------------------------------------------------------------------- in order

/// Splits all; counts only, as long as there are no arrays.
static void split_all(splitting *s) {
    s->count = 0;
    s->vertex_count = s->mesh->vertex_count + s->edges.count + s->faces.count;
    for (int32_t t = 0; t < s->mesh->tetrahedron_count; t++) {
        split(s, s->mesh->tetrahedra + 4 * (size_t)t);
    }
}

/// The arrays of the split mesh, with the surface as it was.
static stn_status fill(splitting *s, stn_error *err) {
    const stn_mesh *mesh = s->mesh;
    size_t corners = 3 * (size_t)mesh->triangle_count;
    int64_t fixed = (int64_t)mesh->vertex_count + s->edges.count + s->faces.count;
    if (fixed + mesh->tetrahedron_count > STN_MESH_COUNT_MAX || mesh->tetrahedron_count > STN_MESH_COUNT_MAX / 16) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "mesh: %d tetrahedra are too many to be split where they have no vertex inside: give a coarser "
                        "mesh",
                        mesh->tetrahedron_count);
    }
    split_all(s);
    s->out = (raw_mesh){.context = s->context,
                        .vertex_count = s->vertex_count,
                        .triangle_count = mesh->triangle_count,
                        .tetrahedron_count = (int32_t)s->count};
    s->out.vertices = stn_allocate(s->context, 3 * (size_t)s->vertex_count, sizeof *s->out.vertices);
    s->out.triangles = stn_allocate(s->context, corners, sizeof *s->out.triangles);
    s->out.tetrahedra = stn_allocate(s->context, 4 * (size_t)s->count, sizeof *s->out.tetrahedra);
    s->out.extents = stn_allocate(s->context, (size_t)s->vertex_count, sizeof *s->out.extents);
    if (s->out.vertices == NULL || s->out.triangles == NULL || s->out.tetrahedra == NULL || s->out.extents == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for %lld tetrahedra", (long long)s->count);
    }
    memcpy(s->out.vertices, mesh->vertices, 3 * (size_t)mesh->vertex_count * sizeof *mesh->vertices);
    memcpy(s->out.triangles, mesh->triangles, corners * sizeof *mesh->triangles);
    split_all(s);
    return STN_OK;
}

/// Extents of the new mesh. Given ones stay; others are distances to the surface over that of the deepest vertex.
static stn_status fill_extents(const stn_mesh *source, stn_mesh *made, stn_error *err) {
    double *extents = (double *)made->extents;
    stn_status status = stn_mesh_distance_extents(made, extents, err);
    if (status == STN_OK && source->extents != NULL) {
        int32_t deepest = 0;
        for (int32_t i = 0; i < source->vertex_count; i++) {
            deepest = source->extents[i] > source->extents[deepest] ? i : deepest;
        }
        double depth = extents[deepest];
        for (int32_t i = source->vertex_count; i < made->vertex_count; i++) {
            extents[i] = fmin(1.0, extents[i] / depth);
        }
        memcpy(extents, source->extents, (size_t)source->vertex_count * sizeof *extents);
    }
    return status;
}

stn_status stn_mesh_create_field_ready(const stn_mesh *mesh, stn_mesh **out, stn_error *err) {
    splitting s = {.mesh = mesh, .context = ((mesh_object *)mesh)->context};
    stn_mesh *made = NULL;
    *out = NULL;
    if (mesh->tetrahedron_count == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mesh: no tetrahedra: a surface has no pressure field");
    }
    s.across = stn_mesh_across_faces(mesh);
    s.outer = stn_allocate(s.context, (size_t)mesh->vertex_count, sizeof *s.outer);
    for (int32_t i = 0; s.outer != NULL && i < 3 * mesh->triangle_count; i++) {
        s.outer[mesh->triangles[i]] = true;
    }
    bool found = s.across != NULL && s.outer != NULL && find_edges(&s) && find_faces(&s);
    stn_status status = found ? fill(&s, err) : stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for a field");
    if (status == STN_OK) {
        status = mesh_wrap(&s.out, &mesh->facts, &mesh->solid, false, &made, err);
    }
    if (status == STN_OK) {
        status = fill_extents(mesh, made, err);
    }
    if (status == STN_OK) {
        *out = made;
    } else {
        stn_mesh_release(made);
    }
    raw_mesh_clear(&s.out);
    stn_release(s.context, s.outer);
    stn_release(s.context, s.edges.items);
    stn_release(s.context, s.faces.items);
    return status;
}
