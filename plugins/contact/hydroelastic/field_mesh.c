// SPDX-License-Identifier: Apache-2.0
// The field of tetrahedra as they were given: e as the mesh has it, else the distance from the surface over the
// largest.
//
// Edges, faces and tetrahedra inside with all corners on the surface would have no pressure: field_split.c gives them a
// vertex in their middle.
#include <stiction/mesh_query.h>

#include "field_build.h"

// --------------------------------------------------------------------------------------------------------- skirt
// The skirt of a margin around given tetrahedra: a prism on every triangle of the surface, in three tetrahedra.
//
// A vertex moves by the shortest o with n . o >= delta for the normals n of all triangles around it: a quadratic
// program whose dual, o = sum of lambda n with lambda >= 0, is solved one lambda after the other [hildreth-1957]. Where
// the triangles face so differently that there is none, or only one longer than 4 delta, and where prisms would turn
// over, as in dents narrower than the margin, vertices move less.

enum { DUAL_SWEEPS = 200, SHRINK_ROUNDS = 12 };
static const double longest_displacement = 4.0; // [margins]

typedef struct skirt {
    const stn_mesh *mesh;
    double margin;
    stn_arena *arena;
    int32_t *start, *around; // triangles of vertex v: around[start[v]] .. around[start[v + 1] - 1]
    double *dual;            // of each of those [m]
    stn_vec3 *normal;        // of each triangle, unit
    stn_vec3 *displacement;  // of each vertex at full length [m]
    double *share;           // of that which it moves [1]
    int32_t *rim;            // the vertex that it becomes; itself where it does not move
} skirt;

static stn_vec3 moved(const skirt *k, int32_t vertex) {
    return stn_vec3_mul_add(stn_vec3_at(k->mesh->vertices, vertex), k->share[vertex], k->displacement[vertex]);
}

/// A triangle's corners by their number, which makes the diagonals of neighbouring prisms the same; +1 when they are in
/// the triangle's order, else -1.
static double sorted_corners(const skirt *k, int32_t triangle, int32_t v[3]) {
    const int32_t *t = k->mesh->triangles + 3 * (size_t)triangle;
    int32_t low = t[0] < t[1] ? (t[0] < t[2] ? 0 : 2) : (t[1] < t[2] ? 1 : 2);
    int32_t p = t[(low + 1) % 3], q = t[(low + 2) % 3];
    v[0] = t[low];
    v[1] = p < q ? p : q;
    v[2] = p < q ? q : p;
    return p < q ? 1.0 : -1.0;
}

/// Are all three tetrahedra of a prism the right way round, and not flat?
static bool stands(const skirt *k, int32_t triangle) {
    int32_t v[3];
    double sign = sorted_corners(k, triangle, v), twice = 0.0;
    stn_vec3 below[3], above[3];
    for (int32_t c = 0; c < 3; c++) {
        below[c] = stn_vec3_at(k->mesh->vertices, v[c]);
        above[c] = moved(k, v[c]);
    }
    twice = stn_vec3_norm(stn_vec3_cross(stn_vec3_sub(below[1], below[0]), stn_vec3_sub(below[2], below[0])));
    double det[3] = {sign * surface_det(below[0], below[1], below[2], above[2]),
                     -sign * surface_det(below[0], below[1], above[1], above[2]),
                     sign * surface_det(below[0], above[0], above[1], above[2])};
    for (int32_t c = 0; c < 3; c++) { // the edge from v[2 - c] up is in tetrahedron c
        double share = k->share[v[2 - c]];
        if (share > 0.0 && !(det[c] > 0.01 * share * k->margin * twice)) {
            return false;
        }
    }
    return true;
}

/// The way of a vertex; shorter than it should be, and share below 1, where planes cannot all move.
static void find_displacement(skirt *k, int32_t vertex) {
    stn_vec3 displacement = stn_vec3_zero();
    int32_t first = k->start[vertex], end = k->start[vertex + 1];
    for (int32_t sweep = 0; sweep < DUAL_SWEEPS; sweep++) {
        double change = 0.0;
        for (int32_t i = first; i < end; i++) {
            stn_vec3 n = k->normal[k->around[i]];
            double dual = fmax(0.0, k->dual[i] + k->margin - stn_vec3_dot(n, displacement)), step = dual - k->dual[i];
            k->dual[i] = dual;
            displacement = stn_vec3_mul_add(displacement, step, n);
            change = fmax(change, fabs(step));
        }
        if (change < 1e-6 * k->margin) {
            break;
        }
    }
    double length = stn_vec3_norm(displacement), least = (double)INFINITY;
    for (int32_t i = first; i < end; i++) {
        least = fmin(least, stn_vec3_dot(k->normal[k->around[i]], displacement));
    }
    bool possible = least > 0.99 * k->margin && length < longest_displacement * k->margin;
    k->displacement[vertex] = possible ? stn_vec3_scale(k->margin / least, displacement)
                                       : stn_vec3_scale(length > k->margin ? k->margin / length : 1.0, displacement);
    k->share[vertex] = possible || first == end ? 1.0 : 0.5;
}

/// Finds how far each vertex of the mesh moves. False: out of memory.
static bool find_skirt(skirt *k) {
    const stn_mesh *m = k->mesh;
    size_t vertices = (size_t)m->vertex_count, triangles = (size_t)m->triangle_count;
    k->start = STN_ARENA_ZEROED(k->arena, vertices + 2, int32_t);
    k->around = STN_ARENA(k->arena, 3 * triangles, int32_t);
    k->dual = STN_ARENA_ZEROED(k->arena, 3 * triangles, double);
    k->normal = STN_ARENA(k->arena, triangles, stn_vec3);
    k->displacement = STN_ARENA(k->arena, vertices, stn_vec3);
    k->share = STN_ARENA(k->arena, vertices, double);
    k->rim = STN_ARENA(k->arena, vertices, int32_t);
    if (k->start == NULL || k->around == NULL || k->dual == NULL || k->normal == NULL || k->displacement == NULL ||
        k->share == NULL || k->rim == NULL) {
        return false;
    }
    for (int32_t i = 0; i < 3 * m->triangle_count; i++) {
        k->start[m->triangles[i] + 2]++;
    }
    for (int32_t v = 0; v < m->vertex_count; v++) {
        k->start[v + 2] += k->start[v + 1];
    }
    for (int32_t i = 0; i < 3 * m->triangle_count; i++) {
        k->around[k->start[m->triangles[i] + 1]++] = i / 3;
    }
    for (int32_t t = 0; t < m->triangle_count; t++) {
        k->normal[t] = stn_mesh_triangle_normal(m, t);
    }
    for (int32_t v = 0; v < m->vertex_count; v++) {
        find_displacement(k, v);
    }
    // the ways around prisms that turn over are halved until none does, at last to nothing
    bool again = true;
    for (int32_t round = 0; round < 2 * SHRINK_ROUNDS && again; round++) {
        again = false;
        for (int32_t t = 0; t < m->triangle_count; t++) {
            if (!stands(k, t)) {
                for (int32_t c = 0; c < 3; c++) {
                    k->share[m->triangles[3 * t + c]] *= round < SHRINK_ROUNDS ? 0.5 : 0.0;
                }
                again = true;
            }
        }
    }
    return true;
}

/// Adds the tetrahedra between the surface of a mesh, whose vertices `surface` begins with, and the margin around it.
static void field_skirt(const stn_mesh *mesh, double margin, double depth, surface_build *s,
                        tetrahedra_build *tetrahedra) {
    skirt k = {.mesh = mesh, .margin = margin, .arena = stn_arena_create(s->context)};
    if (k.arena == NULL || !find_skirt(&k)) {
        s->failed = true;
        stn_arena_destroy(k.arena);
        return;
    }
    int32_t shorter = 0;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        bool moves = k.start[v] < k.start[v + 1] && k.share[v] > 0.0;
        k.rim[v] = moves ? surface_build_vertex(s, moved(&k, v), -k.share[v] * margin / depth) : v;
        shorter += k.share[v] < 1.0;
    }
    if (shorter > 0) {
        stn_log(s->context, STN_LOG_WARNING,
                "margin of %g m: %d of %d vertices of the volume mesh cannot move that far without turning tetrahedra "
                "over; faces there begin nearer",
                margin, shorter, mesh->vertex_count);
    }
    for (int32_t t = 0; t < mesh->triangle_count && !s->failed; t++) {
        int32_t v[3];
        sorted_corners(&k, t, v);
        const int32_t up[3] = {k.rim[v[0]], k.rim[v[1]], k.rim[v[2]]};
        const int32_t prism[3][4] = {
            {v[0], v[1], v[2], up[2]}, {v[0], v[1], up[1], up[2]}, {v[0], up[0], up[1], up[2]}};
        for (int32_t c = 0; c < 3; c++) {
            if (up[2 - c] != v[2 - c]) {
                tetrahedra_add(tetrahedra, s->vertices, prism[c][0], prism[c][1], prism[c][2], prism[c][3]);
            }
        }
    }
    stn_arena_destroy(k.arena);
}

// ---------------------------------------------------------------------------------------------------------- mesh

static stn_status check_count(double count, int32_t max, stn_error *err) {
    if (count > max) {
        return stn_fail(
            err, STN_ERR_ARGUMENT,
            "%.0f tetrahedra of the volume mesh, with those that its field and margin need (about %.0f MB), "
            "are more than the %d that are allowed: give a coarser mesh",
            count, count * surface_plan_bytes * 1e-6, max);
    }
    return STN_OK;
}

stn_status field_of_mesh(stn_context *context, const stn_mesh *mesh, double margin, int32_t max_tetrahedra, field **out,
                         stn_error *err) {
    *out = NULL;
    surface_build s = surface_build_empty(context);
    tetrahedra_build tetrahedra = {.context = context};
    double prisms = margin > 0.0 ? 3.0 * mesh->triangle_count : 0.0;
    stn_status status = check_count(mesh->tetrahedron_count + prisms, max_tetrahedra, err);
    if (status == STN_OK) {
        status = field_split(mesh, &s, &tetrahedra, err);
    }
    if (status == STN_OK) {
        status = check_count(tetrahedra.count + prisms, max_tetrahedra, err);
    }
    if (status != STN_OK) {
        surface_build_clear(&s);
        stn_release(context, tetrahedra.corners);
        return status;
    }
    int32_t deepest = 0;
    for (int32_t i = 0; i < s.vertex_count; i++) {
        deepest = s.extents[i] > s.extents[deepest] ? i : deepest;
    }
    stn_mesh_point nearest = {0};
    stn_mesh_nearest(mesh, stn_vec3_at(s.vertices, deepest), (double)INFINITY, &nearest);
    if (margin > 0.0) {
        field_skirt(mesh, margin, nearest.distance, &s, &tetrahedra);
    }
    return field_take(&s, &tetrahedra, nearest.distance, out, err);
}
