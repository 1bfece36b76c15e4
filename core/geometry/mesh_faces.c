// SPDX-License-Identifier: Apache-2.0
// Faces of a convex surface: triangles that lie in one plane, from the largest triangle on, whose plane is the most
// exact.
#include <stdlib.h>

#include "geometry/mesh_polytope.h"

typedef struct plane {
    stn_vec3 n;
    double d;
} plane;

static stn_vec3 corner(const faces *f, int32_t triangle, int32_t k) {
    return mesh_vertex(f->mesh->vertices, f->mesh->triangles[3 * (size_t)triangle + (size_t)k]);
}

/// Twice the area times the normal.
static stn_vec3 area_vector(const faces *f, int32_t triangle) {
    stn_vec3 a = corner(f, triangle, 0);
    return stn_vec3_cross(stn_vec3_sub(corner(f, triangle, 1), a), stn_vec3_sub(corner(f, triangle, 2), a));
}

static plane plane_of(const faces *f, int32_t triangle) {
    stn_vec3 n = stn_vec3_normalize_or(area_vector(f, triangle), stn_vec3_zero());
    return (plane){n, stn_vec3_dot(n, corner(f, triangle, 0))};
}

static bool lies_in(const faces *f, int32_t triangle, const plane *p, double tolerance) {
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
    plane p = plane_of(f, seed);
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

bool faces_gather(faces *f, double tolerance) {
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
