// SPDX-License-Identifier: Apache-2.0
// The polytope of a convex hull: its faces with their planes and outlines, its edges, and which vertices
// are neighbours. Kept in two blocks of memory, integers and reals.
// Faces are triangles that lie in one plane, from the largest triangle on, whose plane is the most exact.
#include <stdlib.h>
#include <string.h>

#include "geometry/mesh_build.h"

/// A polytope in the making. Edge i runs from corner i % 3 of triangle i / 3 to the next one.
typedef struct faces {
    const raw_mesh *mesh;
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
    return mesh_vertex(f->mesh->vertices, f->mesh->triangles[3 * (size_t)triangle + (size_t)k]);
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

/// Edges of a group towards other ones, as `follower` of their vertices; `start`: the vertex of the last one.
static int32_t link_outline(faces *f, int32_t first, int32_t end, int32_t *start) {
    int32_t count = 0;
    for (int32_t i = first; i < end; i++) {
        for (int32_t k = 0; k < 3; k++) {
            int32_t edge = 3 * f->members[i] + k;
            if (f->face[f->other[edge] / 3] != first) {
                *start = faces_vertex(f, edge);
                f->follower[*start] = edge;
                count++;
            }
        }
    }
    return count;
}

static stn_vec3 side(const faces *f, int32_t edge) {
    int32_t triangle = edge / 3, k = edge % 3;
    return stn_vec3_sub(corner(f, triangle, (k + 1) % 3), corner(f, triangle, k));
}

/// Curved surfaces of small triangles can leave groups with dents.
static bool has_dent(const faces *f, const int32_t *corners, int32_t count, stn_vec3 n, double tolerance) {
    for (int32_t k = 0; k < count; k++) {
        stn_vec3 a = side(f, corners[k]), b = side(f, corners[k + 1 < count ? k + 1 : 0]);
        double longer = fmax(stn_vec3_norm(a), stn_vec3_norm(b));
        if (stn_vec3_dot(n, stn_vec3_cross(a, b)) < -4.0 * tolerance * longer) {
            return true;
        }
    }
    return false;
}

/// Writes the outline as the corners of the next face; false when it is not one round.
static bool walk_outline(faces *f, int32_t start, int32_t count) {
    int32_t vertex = start, *corners = f->corners + f->corner_count;
    for (int32_t k = 0; k < count; k++) {
        int32_t edge = f->follower[vertex];
        if (k > 0 && vertex == start) {
            return false;
        }
        corners[k] = edge;
        vertex = faces_vertex(f, 3 * (edge / 3) + (edge + 1) % 3);
    }
    return vertex == start;
}

static void end_face(faces *f, int32_t corner_count) {
    f->corner_count += corner_count;
    f->start[++f->face_count] = f->corner_count;
}

static void name_faces(faces *f, int32_t group_count, const int32_t *groups, double tolerance) {
    for (int32_t g = 0; g < group_count; g++) {
        int32_t first = groups[g], end = g + 1 < group_count ? groups[g + 1] : f->mesh->triangle_count, start = 0;
        int32_t count = link_outline(f, first, end, &start);
        stn_vec3 n = plane_of(f, f->members[first]).n;
        if (count >= 3 && walk_outline(f, start, count) &&
            !has_dent(f, f->corners + f->corner_count, count, n, tolerance)) {
            end_face(f, count);
            continue;
        }
        for (int32_t i = first; i < end; i++) {
            for (int32_t k = 0; k < 3; k++) {
                f->corners[f->corner_count + k] = 3 * f->members[i] + k;
            }
            f->face[f->members[i]] = -1 - i; // a group of its own
            end_face(f, 3);
        }
    }
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
    ranked *order = stn_allocate(f->mesh->context, (size_t)count, sizeof *order);
    int32_t *groups = stn_allocate(f->mesh->context, (size_t)count, sizeof *groups);
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
        name_faces(f, group_count, groups, tolerance);
    }
    stn_release(f->mesh->context, order);
    stn_release(f->mesh->context, groups);
    return done;
}

// ------------------------------------------------------------------------------------------------------ polytope

typedef struct polytope_object {
    stn_polytope face;
    int32_t *integers;
    double *planes;
    size_t bytes; // of the object and both blocks
} polytope_object;

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for the faces of its hull");
}

static void faces_clear(faces *f) {
    stn_context *context = f->mesh->context;
    int32_t *const arrays[] = {f->other, f->members, f->face, f->follower, f->start, f->corners, f->edge};
    for (int32_t i = 0; i < STN_COUNT(arrays); i++) {
        stn_release(context, arrays[i]);
    }
}

static stn_status faces_create(const raw_mesh *mesh, faces *f, stn_error *err) {
    size_t t = (size_t)mesh->triangle_count, v = (size_t)mesh->vertex_count;
    *f = (faces){.mesh = mesh};
    int32_t **const arrays[] = {&f->other, &f->members, &f->face, &f->follower, &f->start, &f->corners, &f->edge};
    const size_t counts[] = {3 * t, t, t, v, t + 1, 3 * t, 3 * t};
    for (int32_t i = 0; i < STN_COUNT(arrays); i++) {
        *arrays[i] = stn_allocate(mesh->context, counts[i], sizeof(int32_t));
        if (*arrays[i] == NULL) {
            return out_of_memory(err);
        }
    }
    stn_status status = mesh_pair_edges(mesh, f->other, err);
    for (size_t i = 0; i < 3 * t && status == STN_OK; i++) {
        if (f->other[i] < 0) {
            status = stn_fail(err, STN_ERR_ARGUMENT, "mesh: a convex hull whose triangle %zu has an open side", i / 3);
        }
    }
    return status;
}

/// Numbers the sides of faces, each shared by two of them.
static void number_edges(faces *f) {
    for (int32_t i = 0; i < 3 * f->mesh->triangle_count; i++) {
        int32_t across = f->other[i];
        bool side = f->face[i / 3] != f->face[across / 3];
        if (side && i < across) {
            f->edge[i] = f->edge[across] = f->edge_count++;
        }
    }
}

static double largest_coordinate(const raw_mesh *mesh) {
    double largest = 0.0;
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++) {
        largest = fmax(largest, fabs(mesh->vertices[i]));
    }
    return largest;
}

/// What a file in single precision leaves of a plane; a ten-thousandth of a thin body's thickness at most (that of a
/// plate is about 2 V / A).
static double plane_tolerance(const raw_mesh *mesh, double volume, double largest) {
    double area = 0.0;
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        const int32_t *ids = mesh->triangles + 3 * (size_t)i;
        stn_vec3 a = mesh_vertex(mesh->vertices, ids[0]);
        area += 0.5 * stn_vec3_norm(stn_vec3_cross(stn_vec3_sub(mesh_vertex(mesh->vertices, ids[1]), a),
                                                   stn_vec3_sub(mesh_vertex(mesh->vertices, ids[2]), a)));
    }
    return fmax(fmin(0x1p-21 * largest, 2e-4 * volume / area), 0x1p-50 * largest);
}

static stn_vec3 face_vertex(const faces *f, int32_t corner) {
    return mesh_vertex(f->mesh->vertices, faces_vertex(f, f->corners[corner]));
}

/// The area vector of the outline is the normal; the plane supports the corner furthest out.
static void set_plane(const faces *f, int32_t face, double *plane) {
    stn_vec3 sum = stn_vec3_zero(), origin = face_vertex(f, f->start[face]);
    for (int32_t i = f->start[face] + 1; i + 1 < f->start[face + 1]; i++) {
        sum = stn_vec3_add(
            sum, stn_vec3_cross(stn_vec3_sub(face_vertex(f, i), origin), stn_vec3_sub(face_vertex(f, i + 1), origin)));
    }
    stn_vec3 n = stn_vec3_normalize_or(sum, stn_vec3_make(0.0, 0.0, 1.0));
    double d = -INFINITY;
    for (int32_t i = f->start[face]; i < f->start[face + 1]; i++) {
        d = fmax(d, stn_vec3_dot(n, face_vertex(f, i)));
    }
    memcpy(plane, (const double[4]){n.x, n.y, n.z, d}, 4 * sizeof *plane);
}

/// Twice the area of the triangle of three corners.
static double triangle_area(const faces *f, int32_t i, int32_t j, int32_t k) {
    stn_vec3 a = face_vertex(f, i);
    return stn_vec3_norm(stn_vec3_cross(stn_vec3_sub(face_vertex(f, j), a), stn_vec3_sub(face_vertex(f, k), a)));
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
            int32_t end = to < first + corners ? to : first;
            for (int32_t i = from + 1; i < to; i++) {
                double gain = count > 1 ? triangle_area(f, from, i, end)
                                        : stn_vec3_norm(stn_vec3_sub(face_vertex(f, i), face_vertex(f, from)));
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
        set_plane(f, face, planes + 4 * (size_t)face);
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

static void fill_neighbours(const faces *f, stn_polytope *p, int32_t **block) {
    const raw_mesh *mesh = f->mesh;
    int32_t *start = take(block, mesh->vertex_count + 1), *neighbours = take(block, 3 * mesh->triangle_count);
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
}

/// Goes over the faces' vertices, those inside included, and counts or writes each pair once.
static void visit_vertices(const faces *f, int32_t *last, int32_t *count, int32_t *next, int32_t *list) {
    int32_t face = -1, before = 0;
    memset(last, 0xff, (size_t)f->mesh->vertex_count * sizeof *last); // -1
    for (int32_t i = 0; i < f->mesh->triangle_count; i++) {
        int32_t triangle = f->members[i];
        bool fresh = i == 0 || f->face[triangle] != before;
        face += fresh;
        before = f->face[triangle];
        for (int32_t k = 0; k < 3; k++) {
            int32_t v = f->mesh->triangles[3 * (size_t)triangle + (size_t)k];
            if (last[v] != face) {
                last[v] = face;
                if (list != NULL) {
                    list[next[v]++] = face;
                } else {
                    count[v + 1]++;
                }
            }
        }
    }
}

static void fill_vertex_faces(const faces *f, stn_polytope *p, int32_t **block) {
    int32_t vertex_count = f->mesh->vertex_count, *start = take(block, vertex_count + 1);
    int32_t *list = take(block, 3 * f->mesh->triangle_count);
    visit_vertices(f, f->follower, start, NULL, NULL);
    accumulate(start, vertex_count);
    int32_t *next = f->edge; // no longer needed, and long enough
    memcpy(next, start, (size_t)vertex_count * sizeof *start);
    visit_vertices(f, f->follower, NULL, next, list);
    p->vertex_face_start = start;
    p->vertex_faces = list;
}

/// How far a neighbour of a face's corner lies outside its plane.
static double inward_bend(const raw_mesh *mesh, const stn_polytope *p) {
    double worst = 0.0;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        for (int32_t i = p->vertex_face_start[v]; i < p->vertex_face_start[v + 1]; i++) {
            const double *plane = p->planes + 4 * (size_t)p->vertex_faces[i];
            stn_vec3 n = {plane[0], plane[1], plane[2]};
            for (int32_t k = p->neighbour_start[v]; k < p->neighbour_start[v + 1]; k++) {
                worst = fmax(worst, stn_vec3_dot(n, mesh_vertex(mesh->vertices, p->neighbours[k])) - plane[3]);
            }
        }
    }
    return worst;
}

static int32_t start_side(int32_t vertex_count) {
    enum { SCANNED = 24, SIDE_MAX = 16 }; // looking at fewer vertices is as quick as climbing
    if (vertex_count <= SCANNED) {
        return 0;
    }
    int32_t side = (int32_t)sqrt(vertex_count / 6.0);
    return side < 2 ? 2 : side < SIDE_MAX ? side : SIDE_MAX;
}

static stn_status assemble(faces *f, double largest, stn_polytope **out, stn_error *err) {
    const raw_mesh *mesh = f->mesh;
    int32_t side = start_side(mesh->vertex_count);
    size_t length = 2 * ((size_t)f->face_count + 1) + 3 * (size_t)f->corner_count + 4 * (size_t)f->edge_count +
                    2 * ((size_t)mesh->vertex_count + 1) + 6 * (size_t)mesh->triangle_count + 6 * (size_t)(side * side);
    polytope_object *object = stn_allocate(mesh->context, 1, sizeof *object);
    if (object == NULL) {
        return out_of_memory(err);
    }
    object->integers = stn_allocate(mesh->context, length, sizeof *object->integers);
    object->planes = stn_allocate(mesh->context, 4 * (size_t)f->face_count, sizeof *object->planes);
    if (object->integers == NULL || object->planes == NULL) {
        mesh_polytope_release(mesh->context, &object->face);
        return out_of_memory(err);
    }
    object->bytes =
        sizeof *object + length * sizeof *object->integers + 4 * (size_t)f->face_count * sizeof *object->planes;
    int32_t *block = object->integers;
    stn_polytope *p = &object->face;
    fill_faces(f, p, &block, object->planes);
    fill_neighbours(f, p, &block);
    fill_vertex_faces(f, p, &block);
    p->slack = 2.0 * inward_bend(mesh, p) + 0x1p-49 * largest;
    p->start_side = side;
    stn_mesh view = {.vertex_count = mesh->vertex_count, .vertices = mesh->vertices, .polytope = p};
    int32_t *starts = take(&block, 6 * side * side);
    mesh_fill_starts(&view, starts);
    p->starts = starts;
    *out = p;
    return STN_OK;
}

stn_status mesh_polytope_create(const raw_mesh *mesh, double volume, stn_polytope **out, stn_error *err) {
    faces f;
    *out = NULL;
    double largest = largest_coordinate(mesh);
    stn_status status = faces_create(mesh, &f, err);
    if (status == STN_OK && !faces_gather(&f, plane_tolerance(mesh, volume, largest))) {
        status = out_of_memory(err);
    }
    if (status == STN_OK) {
        number_edges(&f);
        status = assemble(&f, largest, out, err);
    }
    faces_clear(&f);
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
        stn_release(context, object);
    }
}
