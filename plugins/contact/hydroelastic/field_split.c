// SPDX-License-Identifier: Apache-2.0
// Given tetrahedra made ready for a pressure field. Where all corners of an edge, a face or a tetrahedron lie on the
// surface although it lies inside, a linear field would be 0 all over it; each such one gets a vertex in its middle:
// edges first, then the faces that are left, then the tetrahedra.
//
// Which edges and faces these are is known beforehand, as the new ones all have a vertex inside. Every tetrahedron
// splits along its own in the order of their vertices, so that neighbours cut their common face alike.
#include <stdlib.h>
#include <string.h>

#include <stiction/mesh_query.h>

#include "field_build.h"

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
    const int32_t *across; // of the mesh
    stn_context *context;
    bool *outer; // (vertex_count) on the surface
    simplices edges, faces;
    surface_build *vertices;      // those of the mesh, then the middles of edges, of faces, of tetrahedra
    tetrahedra_build *tetrahedra; // what becomes of those of the mesh
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

/// A new vertex in the middle of some of the mesh.
static int32_t add_middle(splitting *s, const int32_t *of, int32_t count) {
    stn_vec3 sum = stn_vec3_zero();
    for (int32_t k = 0; k < count; k++) {
        sum = stn_vec3_add(sum, stn_vec3_at(s->mesh->vertices, of[k]));
    }
    return surface_build_vertex(s->vertices, stn_vec3_make(sum.x / count, sum.y / count, sum.z / count), 0.0);
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
    int32_t edge = first_edge(s, v, ends), shut = edge < 0 ? first_face(s, v, &face) : -1;
    if (edge >= 0) {
        split_at(s, v, ends, 2, vertices + edge);
    } else if (shut >= 0) {
        split_at(s, v, face_corners[face], 3, vertices + s->edges.count + shut);
    } else if (is_inner(s, v[0]) || is_inner(s, v[1]) || is_inner(s, v[2]) || is_inner(s, v[3])) {
        tetrahedra_add(s->tetrahedra, s->vertices->vertices, v[0], v[1], v[2], v[3]);
    } else if (!s->vertices->failed) {
        split_at(s, v, all, 4, add_middle(s, v, 4));
    }
}

/// Writes all vertices and tetrahedra.
static void split_all(splitting *s) {
    const stn_mesh *mesh = s->mesh;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        surface_build_vertex(s->vertices, stn_vec3_at(mesh->vertices, i), 0.0);
    }
    for (int32_t i = 0; i < s->edges.count; i++) {
        add_middle(s, s->edges.items[i].id, 2);
    }
    for (int32_t i = 0; i < s->faces.count; i++) {
        add_middle(s, s->faces.items[i].id, 3);
    }
    for (int32_t t = 0; t < mesh->tetrahedron_count && !s->vertices->failed; t++) {
        split(s, mesh->tetrahedra + 4 * (size_t)t);
    }
}

// ---------------------------------------------------------------------------------------------------------- extents

/// Distances from the surface over the largest one, which is returned; 0 where no vertex is inside.
static double fill_distances(const splitting *s) {
    const double *vertices = s->vertices->vertices;
    double *extents = s->vertices->extents, largest = 0.0, reach = (double)INFINITY;
    for (int32_t i = 0; i < s->vertices->vertex_count; i++) {
        stn_vec3 p = stn_vec3_at(vertices, i);
        stn_mesh_point nearest = {0};
        if (i > 0) { // no point of the surface is further than the way over the vertex before
            reach = (extents[i - 1] + stn_vec3_norm(stn_vec3_sub(p, stn_vec3_at(vertices, i - 1)))) * (1.0 + 1e-9);
        }
        if (is_inner(s, i) && !stn_mesh_nearest(s->mesh, p, reach, &nearest)) {
            stn_mesh_nearest(s->mesh, p, (double)INFINITY, &nearest);
        }
        extents[i] = nearest.distance;
        largest = fmax(largest, nearest.distance);
    }
    for (int32_t i = 0; i < s->vertices->vertex_count && largest > 0.0; i++) {
        extents[i] /= largest;
    }
    return largest;
}

/// Given extents stay; others are distances from the surface over that of the deepest vertex.
static stn_status fill_extents(const splitting *s, stn_error *err) {
    const double *given = s->mesh->extents;
    double *extents = s->vertices->extents;
    if (!(fill_distances(s) > 0.0)) {
        return stn_fail(
            err, STN_ERR_ARGUMENT,
            "mesh: all vertices of its tetrahedra lie on the surface but for rounding: mesh the solid anew");
    }
    if (given != NULL) {
        int32_t deepest = 0;
        for (int32_t i = 0; i < s->mesh->vertex_count; i++) {
            deepest = given[i] > given[deepest] ? i : deepest;
        }
        double share = extents[deepest];
        for (int32_t i = s->mesh->vertex_count; i < s->vertices->vertex_count; i++) {
            extents[i] = fmin(1.0, extents[i] / share);
        }
        memcpy(extents, given, (size_t)s->mesh->vertex_count * sizeof *extents);
    }
    return STN_OK;
}

stn_status field_split(const stn_mesh *mesh, surface_build *vertices, tetrahedra_build *tetrahedra, stn_error *err) {
    stn_context *context = vertices->context;
    splitting s = {.mesh = mesh, .context = context, .vertices = vertices, .tetrahedra = tetrahedra};
    if (mesh->tetrahedron_count == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "mesh: no tetrahedra: a surface has no pressure field");
    }
    stn_status status = stn_mesh_prepare(mesh, err);
    s.across = stn_mesh_across_faces(mesh);
    s.outer = stn_allocate(context, (size_t)mesh->vertex_count, sizeof *s.outer);
    for (int32_t i = 0; s.outer != NULL && i < 3 * mesh->triangle_count; i++) {
        s.outer[mesh->triangles[i]] = true;
    }
    if (status == STN_OK && s.across != NULL && s.outer != NULL && find_edges(&s) && find_faces(&s)) {
        split_all(&s);
    } else {
        vertices->failed = true;
    }
    if (status == STN_OK && (vertices->failed || tetrahedra->failed)) {
        status = stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for a field");
    }
    if (status == STN_OK) {
        status = fill_extents(&s, err);
    }
    stn_release(context, s.outer);
    stn_release(context, s.edges.items);
    stn_release(context, s.faces.items);
    return status;
}
