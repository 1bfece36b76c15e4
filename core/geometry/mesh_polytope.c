// SPDX-License-Identifier: Apache-2.0
// The polytope of a convex hull: its faces with their planes and outlines, its edges, and which vertices
// are neighbours. Kept in two blocks of memory, integers and reals.
// Faces are triangles that lie in one plane, from the largest triangle on, whose plane is the most exact.
#include <stdlib.h>
#include <string.h>

#include <stiction/kernel.h>
#include <stiction/mesh_query.h>

#include "geometry/mesh_object.h"

/// A polytope in the making. Edge i runs from corner i % 3 of triangle i / 3 to the next one.
typedef struct faces {
    stn_context *context;
    const stn_mesh *mesh;
    int32_t *other;    // [edge] the same edge of the other triangle
    int32_t *members;  // triangles in the order of their faces
    int32_t *face;     // [triangle] its face; while they are gathered: its group
    int32_t *follower; // [vertex] the edge behind it, of the outline that is walked
    int32_t face_count, corner_count, edge_count;
    int32_t *start;   // [face_count + 1] first corner
    int32_t *corners; // edges of triangles that are sides of faces, in order round each
    int32_t *edge;    // [edge] number of the polytope's edge that it is a half of
} faces;

static inline int32_t faces_vertex(const faces *f, int32_t edge) {
    return f->mesh->triangles[edge];
}

typedef struct face_plane {
    stn_vec3 n;
    double d;
} face_plane;

static stn_vec3 corner(const faces *f, int32_t triangle, int32_t k) {
    return stn_vec3_at(f->mesh->vertices, f->mesh->triangles[3 * (size_t)triangle + (size_t)k]);
}

/// Twice the area times the normal.
static stn_vec3 area_vector(const faces *f, int32_t triangle) {
    stn_vec3 a = corner(f, triangle, 0);
    return stn_vec3_cross(stn_vec3_sub(corner(f, triangle, 1), a), stn_vec3_sub(corner(f, triangle, 2), a));
}

static face_plane plane_of(const faces *f, int32_t triangle) {
    stn_vec3 n = stn_vec3_normalize_or(area_vector(f, triangle), stn_vec3_zero());
    return (face_plane){n, stn_vec3_dot(n, corner(f, triangle, 0))};
}

static bool lies_in(const faces *f, int32_t triangle, const face_plane *p, double tolerance) {
    for (int32_t k = 0; k < 3; k++) {
        if (!(fabs(stn_vec3_dot(p->n, corner(f, triangle, k)) - p->d) <= tolerance)) {
            return false;
        }
    }
    stn_vec3 n = area_vector(f, triangle);
    return stn_vec3_dot(n, p->n) > 0.1 * stn_vec3_norm(n); // rounding turns slivers far, but not over
}

/// All triangles connected with the seed in its plane; returns the position behind them in `members`.
static int32_t gather_group(faces *f, int32_t seed, int32_t first, double tolerance) {
    face_plane p = plane_of(f, seed);
    int32_t end = first;
    f->members[end++] = seed;
    f->face[seed] = first;
    for (int32_t i = first; i < end; i++) {
        for (int32_t k = 0; k < 3; k++) {
            int32_t t = f->other[3 * f->members[i] + k] / 3;
            if (f->face[t] < 0 && lies_in(f, t, &p, tolerance)) {
                f->face[t] = first;
                f->members[end++] = t;
            }
        }
    }
    return end;
}

static stn_vec3 side(const faces *f, int32_t edge) {
    int32_t triangle = edge / 3, k = edge % 3;
    return stn_vec3_sub(corner(f, triangle, (k + 1) % 3), corner(f, triangle, k));
}

/// Writes the outline of a group, its edges towards other ones, as the corners of the next face. Returns how many they
/// are; 0 when they are not one round, or when it has a dent, which curved surfaces of small triangles can leave.
static int32_t outline_of(faces *f, int32_t first, int32_t end, double tolerance) {
    int32_t count = 0, start = 0, *corners = f->corners + f->corner_count;
    for (int32_t i = first; i < end; i++) {
        for (int32_t k = 0; k < 3; k++) {
            int32_t edge = 3 * f->members[i] + k;
            if (f->face[f->other[edge] / 3] != first) {
                start = faces_vertex(f, edge);
                f->follower[start] = edge;
                count++;
            }
        }
    }
    int32_t vertex = start;
    for (int32_t k = 0; k < count && count >= 3; k++) {
        int32_t edge = f->follower[vertex];
        if (k > 0 && vertex == start) {
            return 0;
        }
        corners[k] = edge;
        vertex = faces_vertex(f, 3 * (edge / 3) + (edge + 1) % 3);
    }
    if (count < 3 || vertex != start) {
        return 0;
    }
    stn_vec3 n = plane_of(f, f->members[first]).n;
    for (int32_t k = 0; k < count; k++) {
        stn_vec3 a = side(f, corners[k]), b = side(f, corners[k + 1 < count ? k + 1 : 0]);
        double longer = fmax(stn_vec3_norm(a), stn_vec3_norm(b));
        if (stn_vec3_dot(n, stn_vec3_cross(a, b)) < -4.0 * tolerance * longer) {
            return 0;
        }
    }
    return count;
}

static void end_face(faces *f, int32_t corner_count) {
    f->corner_count += corner_count;
    f->start[++f->face_count] = f->corner_count;
}

typedef struct ranked {
    double area;
    int32_t triangle;
} ranked;

static int compare_rank(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    return x->area != y->area ? (x->area > y->area ? -1 : 1)
                              : (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

/// Gathers triangles that lie within `tolerance` of one plane and look the same way; each group with a convex outline
/// becomes a face, the triangles of others one each. Fills `members`, `start` and `corners`; of `face` only whether two
/// triangles have the same is left to use. False: out of memory.
static bool faces_gather(faces *f, double tolerance) {
    int32_t count = f->mesh->triangle_count, group_count = 0;
    ranked *order = stn_allocate(f->context, (size_t)count, sizeof *order);
    int32_t *groups = stn_allocate(f->context, (size_t)count, sizeof *groups);
    bool done = order != NULL && groups != NULL;
    for (int32_t i = 0; i < count && done; i++) {
        order[i] = (ranked){stn_vec3_norm(area_vector(f, i)), i};
        f->face[i] = -1;
    }
    if (done) {
        qsort(order, (size_t)count, sizeof *order, compare_rank);
        for (int32_t i = 0, end = 0; i < count; i++) {
            if (f->face[order[i].triangle] < 0) {
                groups[group_count++] = end;
                end = gather_group(f, order[i].triangle, end, tolerance);
            }
        }
        for (int32_t g = 0; g < group_count; g++) {
            int32_t first = groups[g], end = g + 1 < group_count ? groups[g + 1] : count;
            int32_t corner_count = outline_of(f, first, end, tolerance);
            if (corner_count > 0) {
                end_face(f, corner_count);
                continue;
            }
            for (int32_t i = first; i < end; i++) { // a face of each triangle
                for (int32_t k = 0; k < 3; k++) {
                    f->corners[f->corner_count + k] = 3 * f->members[i] + k;
                }
                f->face[f->members[i]] = -1 - i; // a group of its own
                end_face(f, 3);
            }
        }
    }
    stn_release(f->context, order);
    stn_release(f->context, groups);
    return done;
}

// ----------------------------------------------------------------------------------------------------- support points
// The vertex of a mesh furthest along a direction.
//
// On a convex hull a vertex that no neighbour surpasses is a furthest one, so it is found by climbing: from a vertex
// that a table over the cube of directions names, always on to the best neighbour. Rounding makes false summits where
// several vertices are equally far but for it (a face across the direction). So whatever is connected with the summit
// within that height is looked at too, up to a bound; beyond that all vertices are.

enum { PLATEAU_MAX = 64 };

static int32_t scan(const stn_mesh *mesh, stn_vec3 d) {
    int32_t best = 0;
    double reach = -INFINITY;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        double along = stn_vec3_dot(stn_vec3_at(mesh->vertices, i), d);
        if (along > reach) {
            reach = along;
            best = i;
        }
    }
    return best;
}

typedef double four_reals __attribute__((vector_size(32), aligned(16), may_alias));
typedef int64_t four_ids __attribute__((vector_size(32)));

/// Vertices, one in each lane, and how far they reach.
typedef struct four_best {
    four_reals reach;
    four_ids id;
} four_best;

STN_KERNEL_INLINE void take_better(four_best *best, four_reals reach, four_ids id, four_ids better) {
    best->reach = (four_reals)(((four_ids)reach & better) | ((four_ids)best->reach & ~better));
    best->id = (id & better) | (best->id & ~better);
}

/// Of two that reach as far the first.
STN_KERNEL_INLINE void take_further(four_best *best, four_reals reach, four_ids id) {
    take_better(best, reach, id, (reach > best->reach) | ((reach == best->reach) & (id < best->id)));
}

/// The same of the vertices of a small hull, four at a time, in two chains that do not wait for each other.
STN_KERNEL static int32_t scan_columns(const four_reals *columns, int32_t fours, stn_vec3 d) {
    const four_reals none = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    four_best best[2] = {{none, {0, 1, 2, 3}}, {none, {0, 1, 2, 3}}};
    four_ids here = {0, 1, 2, 3};
    for (int32_t i = 0; i + 1 < fours; i += 2) {
        four_reals along = columns[i] * d.x + columns[fours + i] * d.y + columns[2 * fours + i] * d.z;
        four_reals next = columns[i + 1] * d.x + columns[fours + i + 1] * d.y + columns[2 * fours + i + 1] * d.z;
        take_better(&best[0], along, here, along > best[0].reach);
        take_better(&best[1], next, here + 4, next > best[1].reach);
        here += 8;
    }
    if (fours % 2 != 0) {
        four_reals along = columns[fours - 1] * d.x + columns[2 * fours - 1] * d.y + columns[3 * fours - 1] * d.z;
        take_better(&best[0], along, here, along > best[0].reach);
    }
    take_further(&best[0], best[1].reach, best[1].id);
    four_best other = best[0];
    take_further(&best[0], __builtin_shuffle(other.reach, (four_ids){2, 3, 0, 1}),
                 __builtin_shuffle(other.id, (four_ids){2, 3, 0, 1}));
    other = best[0];
    take_further(&best[0], __builtin_shuffle(other.reach, (four_ids){1, 0, 3, 2}),
                 __builtin_shuffle(other.id, (four_ids){1, 0, 3, 2}));
    return (int32_t)best[0].id[0];
}

static int32_t cell_along(double ratio, int32_t side) {
    int32_t cell = (int32_t)(0.5 * (ratio + 1.0) * side);
    return cell < 0 ? 0 : cell < side ? cell : side - 1;
}

/// The cell of the cube of directions; d is finite and not 0.
static int32_t cell_of(stn_vec3 d, int32_t side) {
    double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z);
    int32_t face;
    double first, second;
    if (x >= y && x >= z) {
        face = d.x > 0.0 ? 0 : 1;
        first = d.y / x;
        second = d.z / x;
    } else if (y >= z) {
        face = d.y > 0.0 ? 2 : 3;
        first = d.z / y;
        second = d.x / y;
    } else {
        face = d.z > 0.0 ? 4 : 5;
        first = d.x / z;
        second = d.y / z;
    }
    return (face * side + cell_along(first, side)) * side + cell_along(second, side);
}

/// To a vertex that no neighbour surpasses; `second`: the furthest of its neighbours.
static int32_t climb(const stn_mesh *mesh, int32_t from, stn_vec3 d, double *reach, double *second) {
    const stn_polytope *p = mesh->polytope;
    int32_t here = -1;
    *reach = stn_vec3_dot(stn_vec3_at(mesh->vertices, from), d);
    while (from != here) {
        here = from;
        *second = -INFINITY;
        for (int32_t k = p->neighbour_start[here]; k < p->neighbour_start[here + 1]; k++) {
            double along = stn_vec3_dot(stn_vec3_at(mesh->vertices, p->neighbours[k]), d);
            *second = along > *second ? along : *second;
            if (along > *reach) {
                *reach = along;
                from = p->neighbours[k];
            }
        }
    }
    return here;
}

/// The first of the furthest among what is connected with the summit and not below `level`; -1: too many.
static int32_t search_plateau(const stn_mesh *mesh, int32_t summit, stn_vec3 d, double level) {
    const stn_polytope *p = mesh->polytope;
    int32_t seen[PLATEAU_MAX], count = 1, best = summit;
    double reach = stn_vec3_dot(stn_vec3_at(mesh->vertices, summit), d);
    seen[0] = summit;
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = p->neighbour_start[seen[i]]; k < p->neighbour_start[seen[i] + 1]; k++) {
            int32_t id = p->neighbours[k], known = 0;
            double along = stn_vec3_dot(stn_vec3_at(mesh->vertices, id), d);
            if (!(along >= level)) {
                continue;
            }
            while (known < count && seen[known] != id) {
                known++;
            }
            if (known == count) {
                if (count == PLATEAU_MAX) {
                    return -1;
                }
                seen[count++] = id;
                bool first = along > reach || (along == reach && id < best);
                best = first ? id : best;
                reach = first ? along : reach;
            }
        }
    }
    return best;
}

int32_t stn_mesh_support(const stn_mesh *mesh, stn_vec3 d) {
    const stn_polytope *p = mesh->polytope;
    if (p != NULL && p->columns != NULL) {
        return scan_columns((const four_reals *)p->columns, (mesh->vertex_count + 3) / 4, d);
    }
    double size = fabs(d.x) + fabs(d.y) + fabs(d.z), reach, second;
    if (p == NULL || p->start_side == 0 || !(size > 0.0) || !isfinite(size)) {
        return scan(mesh, d);
    }
    int32_t summit = climb(mesh, p->starts[cell_of(d, p->start_side)], d, &reach, &second);
    double level = reach - p->slack * size;
    if (second < level) {
        return summit;
    }
    summit = search_plateau(mesh, summit, d, level);
    return summit >= 0 ? summit : scan(mesh, d);
}

typedef struct four_range {
    four_reals least, most;
} four_range;

/// How far the vertices of a small hull reach along three directions, all in one pass.
STN_KERNEL static void range_of_columns(const four_reals *columns, int32_t fours, const stn_mat3 *rows,
                                        four_range range[3]) {
    for (int32_t i = 0; i < fours; i++) {
        const four_reals x = columns[i], y = columns[fours + i], z = columns[2 * fours + i];
        for (int32_t k = 0; k < 3; k++) {
            const four_reals along = x * rows->m[k][0] + y * rows->m[k][1] + z * rows->m[k][2];
            if (i == 0) {
                range[k].least = range[k].most = along;
            } else {
                const four_ids less = along<range[k].least, more = along> range[k].most;
                range[k].least = (four_reals)(((four_ids)along & less) | ((four_ids)range[k].least & ~less));
                range[k].most = (four_reals)(((four_ids)along & more) | ((four_ids)range[k].most & ~more));
            }
        }
    }
}

static double hull_reach(const stn_mesh *mesh, stn_vec3 d) {
    return stn_vec3_dot(d, stn_vec3_at(mesh->vertices, stn_mesh_support(mesh, d)));
}

void mesh_range(const stn_mesh *mesh, const stn_mat3 *rows, double least[3], double most[3]) {
    if (mesh->polytope == NULL || mesh->polytope->columns == NULL) {
        for (int32_t k = 0; k < 3; k++) {
            const stn_vec3 d = {rows->m[k][0], rows->m[k][1], rows->m[k][2]};
            most[k] = hull_reach(mesh, d);
            least[k] = -hull_reach(mesh, stn_vec3_neg(d));
        }
        return;
    }
    four_range range[3];
    range_of_columns((const four_reals *)mesh->polytope->columns, (mesh->vertex_count + 3) / 4, rows, range);
    for (int32_t k = 0; k < 3; k++) {
        least[k] = range[k].least[0];
        most[k] = range[k].most[0];
        for (int32_t lane = 1; lane < 4; lane++) {
            least[k] = range[k].least[lane] < least[k] ? range[k].least[lane] : least[k];
            most[k] = range[k].most[lane] > most[k] ? range[k].most[lane] : most[k];
        }
    }
}

/// The furthest along the middle of each cell, each climb starting where the last one ended.
static void fill_starts(const stn_mesh *mesh, int32_t *starts) {
    int32_t side = mesh->polytope->start_side, last = 0;
    for (int32_t cell = 0; cell < 6 * side * side; cell++) {
        int32_t face = cell / (side * side), row = cell / side % side, column = cell % side;
        double sign = face % 2 == 0 ? 1.0 : -1.0, first = (2 * row + 1) / (double)side - 1.0, reach, second;
        double last_axis = (2 * column + 1) / (double)side - 1.0;
        stn_vec3 d = face < 2   ? stn_vec3_make(sign, first, last_axis)
                     : face < 4 ? stn_vec3_make(last_axis, sign, first)
                                : stn_vec3_make(first, last_axis, sign);
        last = climb(mesh, last, d, &reach, &second);
        starts[cell] = last;
    }
}

// ------------------------------------------------------------------------------------------------------ polytope

typedef struct polytope_object {
    stn_polytope face;
    int32_t *integers;
    double *planes, *columns;
    size_t bytes; // of the object and its blocks
} polytope_object;

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for the faces of its hull");
}

static stn_status faces_create(stn_context *context, const stn_mesh *mesh, faces *f, stn_error *err) {
    size_t t = (size_t)mesh->triangle_count, v = (size_t)mesh->vertex_count;
    *f = (faces){.context = context, .mesh = mesh};
    int32_t **const arrays[] = {&f->other, &f->members, &f->face, &f->follower, &f->start, &f->corners, &f->edge};
    const size_t counts[] = {3 * t, t, t, v, t + 1, 3 * t, 3 * t};
    for (int32_t i = 0; i < STN_COUNT(arrays); i++) {
        *arrays[i] = stn_allocate(context, counts[i], sizeof(int32_t));
        if (*arrays[i] == NULL) {
            return out_of_memory(err);
        }
    }
    stn_status status =
        stn_triangles_across(context, mesh->triangles, mesh->triangle_count, mesh->vertex_count, f->other, err);
    for (size_t i = 0; i < 3 * t && status == STN_OK; i++) {
        if (f->other[i] < 0) {
            status = stn_fail(err, STN_ERR_ARGUMENT, "mesh: a convex hull whose triangle %zu has an open side", i / 3);
        }
    }
    return status;
}

static stn_vec3 face_vertex(const faces *f, int32_t corner) {
    return stn_vec3_at(f->mesh->vertices, faces_vertex(f, f->corners[corner]));
}

/// From the first corner the furthest, then again and again the corner that adds most area; positions into `outline`.
static int32_t choose_outline(const faces *f, int32_t face, int32_t *outline) {
    int32_t first = f->start[face], corners = f->start[face + 1] - first, count = 1;
    outline[0] = first;
    for (int32_t wanted = corners < STN_OUTLINE_MAX ? corners : STN_OUTLINE_MAX; count < wanted; count++) {
        int32_t best = -1, behind = 0;
        double most = -1.0;
        for (int32_t k = 0; k < count; k++) {
            int32_t from = outline[k], to = k + 1 < count ? outline[k + 1] : first + corners;
            stn_vec3 a = face_vertex(f, from), b = face_vertex(f, to < first + corners ? to : first);
            for (int32_t i = from + 1; i < to; i++) {
                stn_vec3 p = stn_vec3_sub(face_vertex(f, i), a);
                double gain = stn_vec3_norm(count > 1 ? stn_vec3_cross(p, stn_vec3_sub(b, a)) : p);
                if (gain > most * (1.0 + 1e-9)) {
                    most = gain;
                    best = i;
                    behind = k;
                }
            }
        }
        memmove(outline + behind + 2, outline + behind + 1, (size_t)(count - behind - 1) * sizeof *outline);
        outline[behind + 1] = best;
    }
    return count;
}

/// The next array of the block.
static int32_t *take(int32_t **block, int32_t count) {
    int32_t *array = *block;
    *block += count;
    return array;
}

static void fill_faces(const faces *f, stn_polytope *p, int32_t **block, double *planes) {
    int32_t count = f->face_count, *start = take(block, count + 1), *vertices = take(block, f->corner_count);
    int32_t *edges_of = take(block, f->corner_count), *edges = take(block, 4 * f->edge_count);
    int32_t *outline_start = take(block, count + 1);
    memcpy(start, f->start, ((size_t)count + 1) * sizeof *start);
    for (int32_t face = 0; face < count; face++) {
        // the area vector of the outline is the normal; the plane supports the corner furthest out
        stn_vec3 sum = stn_vec3_zero(), origin = face_vertex(f, start[face]);
        for (int32_t i = start[face] + 1; i + 1 < start[face + 1]; i++) {
            stn_vec3 a = stn_vec3_sub(face_vertex(f, i), origin), b = stn_vec3_sub(face_vertex(f, i + 1), origin);
            sum = stn_vec3_add(sum, stn_vec3_cross(a, b));
        }
        stn_vec3 n = stn_vec3_normalize_or(sum, stn_vec3_make(0.0, 0.0, 1.0));
        double d = -INFINITY;
        for (int32_t i = start[face]; i < start[face + 1]; i++) {
            d = fmax(d, stn_vec3_dot(n, face_vertex(f, i)));
        }
        memcpy(planes + 4 * (size_t)face, (const double[4]){n.x, n.y, n.z, d}, 4 * sizeof *planes);
        for (int32_t i = start[face]; i < start[face + 1]; i++) {
            int32_t half = f->corners[i], *edge = edges + 4 * (size_t)f->edge[half];
            vertices[i] = faces_vertex(f, half);
            edges_of[i] = f->edge[half];
            bool rises = half < f->other[half];
            edge[rises ? 0 : 1] = vertices[i];
            edge[rises ? 2 : 3] = face;
        }
    }
    int32_t *outline = *block, length = 0; // its length is known once it is written; there is room for all corners
    for (int32_t face = 0; face < count; face++) {
        length += choose_outline(f, face, outline + length);
        outline_start[face + 1] = length;
    }
    *block += f->corner_count;
    p->face_count = count;
    p->edge_count = f->edge_count;
    p->face_start = start;
    p->face_vertices = vertices;
    p->face_edges = edges_of;
    p->edges = edges;
    p->outline_start = outline_start;
    p->outline = outline;
    p->planes = planes;
}

/// From counts to the first position of each.
static void accumulate(int32_t *start, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        start[i + 1] += start[i];
    }
}

/// Faces at each vertex, those of vertices inside a face included: counted first, then written, each pair once.
static void fill_vertex_faces(const faces *f, stn_polytope *p, int32_t **block) {
    int32_t vertex_count = f->mesh->vertex_count, triangle_count = f->mesh->triangle_count;
    int32_t *start = take(block, vertex_count + 1), *list = take(block, 3 * triangle_count);
    int32_t *last = f->follower, *next = f->edge; // no longer needed, and long enough
    for (int32_t pass = 0; pass < 2; pass++) {
        int32_t face = -1, before = 0;
        memset(last, 0xff, (size_t)vertex_count * sizeof *last); // -1
        for (int32_t i = 0; i < triangle_count; i++) {
            int32_t triangle = f->members[i];
            bool fresh = i == 0 || f->face[triangle] != before;
            face += fresh;
            before = f->face[triangle];
            for (int32_t k = 0; k < 3; k++) {
                int32_t v = f->mesh->triangles[3 * (size_t)triangle + (size_t)k];
                if (last[v] == face) {
                    continue;
                }
                last[v] = face;
                if (pass == 0) {
                    start[v + 1]++;
                } else {
                    list[next[v]++] = face;
                }
            }
        }
        if (pass == 0) {
            accumulate(start, vertex_count);
            memcpy(next, start, (size_t)vertex_count * sizeof *start);
        }
    }
    p->vertex_face_start = start;
    p->vertex_faces = list;
}

/// How far a neighbour of a face's corner lies outside its plane.
static double inward_bend(const stn_mesh *mesh, const stn_polytope *p) {
    double worst = 0.0;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        for (int32_t i = p->vertex_face_start[v]; i < p->vertex_face_start[v + 1]; i++) {
            const double *plane = p->planes + 4 * (size_t)p->vertex_faces[i];
            stn_vec3 n = {plane[0], plane[1], plane[2]};
            for (int32_t k = p->neighbour_start[v]; k < p->neighbour_start[v + 1]; k++) {
                worst = fmax(worst, stn_vec3_dot(n, stn_vec3_at(mesh->vertices, p->neighbours[k])) - plane[3]);
            }
        }
    }
    return worst;
}

static int32_t start_side(int32_t vertex_count) {
    enum { SCANNED = 64, SIDE_MAX = 16 }; // looking at fewer vertices, four at a time, is as quick as climbing
    if (vertex_count <= SCANNED) {
        return 0;
    }
    int32_t side = (int32_t)sqrt(vertex_count / 6.0);
    return side < 2 ? 2 : side < SIDE_MAX ? side : SIDE_MAX;
}

static void fill_columns(const stn_mesh *mesh, size_t padded, double *columns) {
    for (size_t i = 0; i < 3 * padded; i++) {
        const size_t vertex = i % padded < (size_t)mesh->vertex_count ? i % padded : 0;
        columns[i] = mesh->vertices[3 * vertex + i / padded];
    }
}

static stn_status assemble(faces *f, double largest, stn_polytope **out, stn_error *err) {
    const stn_mesh *mesh = f->mesh;
    int32_t side = start_side(mesh->vertex_count);
    const size_t padded = ((size_t)mesh->vertex_count + 3) / 4 * 4;
    size_t length = 2 * ((size_t)f->face_count + 1) + 3 * (size_t)f->corner_count + 4 * (size_t)f->edge_count +
                    2 * ((size_t)mesh->vertex_count + 1) + 6 * (size_t)mesh->triangle_count + 6 * (size_t)(side * side);
    polytope_object *object = stn_allocate(f->context, 1, sizeof *object);
    if (object == NULL) {
        return out_of_memory(err);
    }
    object->integers = stn_allocate(f->context, length, sizeof *object->integers);
    object->planes = stn_allocate(f->context, 4 * (size_t)f->face_count, sizeof *object->planes);
    object->columns = side == 0 ? stn_allocate(f->context, 3 * padded, sizeof *object->columns) : NULL;
    if (object->integers == NULL || object->planes == NULL || (side == 0 && object->columns == NULL)) {
        mesh_polytope_release(f->context, &object->face);
        return out_of_memory(err);
    }
    object->bytes = sizeof *object + length * sizeof *object->integers +
                    4 * (size_t)f->face_count * sizeof *object->planes +
                    (side == 0 ? 3 * padded : 0) * sizeof *object->columns;
    int32_t *block = object->integers;
    stn_polytope *p = &object->face;
    fill_faces(f, p, &block, object->planes);
    int32_t *start = take(&block, mesh->vertex_count + 1), *neighbours = take(&block, 3 * mesh->triangle_count);
    for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) {
        start[mesh->triangles[i] + 1]++;
    }
    accumulate(start, mesh->vertex_count);
    memcpy(f->follower, start, (size_t)mesh->vertex_count * sizeof *start);
    for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) {
        neighbours[f->follower[mesh->triangles[i]]++] = mesh->triangles[3 * (i / 3) + (i + 1) % 3];
    }
    p->neighbour_start = start;
    p->neighbours = neighbours;
    fill_vertex_faces(f, p, &block);
    if (side == 0) {
        fill_columns(mesh, padded, object->columns);
        p->columns = object->columns;
    }
    p->slack = 2.0 * inward_bend(mesh, p) + 0x1p-49 * largest;
    p->start_side = side;
    stn_mesh view = {.vertex_count = mesh->vertex_count, .vertices = mesh->vertices, .polytope = p};
    int32_t *starts = take(&block, 6 * side * side);
    fill_starts(&view, starts);
    p->starts = starts;
    *out = p;
    return STN_OK;
}

stn_status mesh_polytope_create(stn_context *context, const stn_mesh *mesh, stn_polytope **out, stn_error *err) {
    faces f;
    *out = NULL;
    stn_status status = faces_create(context, mesh, &f, err);
    double largest = 0.0, area = 0.0;
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++) {
        largest = fmax(largest, fabs(mesh->vertices[i]));
    }
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        area += 0.5 * stn_vec3_norm(area_vector(&f, i));
    }
    // what a file in single precision leaves of a plane; a ten-thousandth of a thin body's thickness at most (that of a
    // plate is about 2 V / A)
    double tolerance = fmax(fmin(0x1p-21 * largest, 2e-4 * mesh->solid.mass / area), 0x1p-50 * largest);
    if (status == STN_OK && !faces_gather(&f, tolerance)) {
        status = out_of_memory(err);
    }
    if (status == STN_OK) {
        for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) { // numbers the sides of faces, each of two of them
            int32_t across = f.other[i];
            if (i < across && f.face[i / 3] != f.face[across / 3]) {
                f.edge[i] = f.edge[across] = f.edge_count++;
            }
        }
        status = assemble(&f, largest, out, err);
    }
    int32_t *const arrays[] = {f.other, f.members, f.face, f.follower, f.start, f.corners, f.edge};
    for (int32_t i = 0; i < STN_COUNT(arrays); i++) {
        stn_release(context, arrays[i]);
    }
    return status;
}

size_t mesh_polytope_bytes(const stn_polytope *polytope) {
    return polytope != NULL ? ((const polytope_object *)(const void *)polytope)->bytes : 0;
}

void mesh_polytope_release(stn_context *context, const stn_polytope *polytope) {
    polytope_object *object = (polytope_object *)polytope;
    if (object != NULL) {
        stn_release(context, object->integers);
        stn_release(context, object->planes);
        stn_release(context, object->columns);
        stn_release(context, object);
    }
}
