// SPDX-License-Identifier: Apache-2.0
// Convex hulls by qhull's quickhull [barber-1996], reentrant, without joggle.
//
// qhull merges facets that are coplanar within its rounding error. Each of its facets is then a polygon, whose sides
// are the facet's ridges; a polygon becomes a fan of triangles. Points inside a side, where only two facets meet, are
// left out. The points are moved to the centre of their box and each axis is scaled by a power of two, so that far and
// thin bodies are as exact as others: the hull is affine invariant.
//
// qhull takes its memory from malloc and leaves errors by longjmp, but only inside qh_new_qhull, where none of our
// memory is at stake. What it prints goes to a stream of our own, never to the terminal. Its reports of progress are
// the place where the work is counted and stopped: a facet of k corners costs k^2, which a hostile file could make
// hours.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // fopencookie
#endif
#include <stdio.h>
#include <string.h>

#include <libqhull_r/qhull_ra.h>

#include "geometry/mesh_build.h"

enum { POINTS_MAX = 4000000 }; // qhull's counters of work are ints

typedef struct hull {
    stn_context *context;
    int32_t point_count;
    double *points;    // (point_count x 3) vertices of the surface
    int32_t *follower; // [point] in the polygon that is walked: the next corner
    int32_t *degree;   // [point] polygons that meet there
    int32_t *polygon;  // corners of the polygon that is walked
    raw_mesh *out;     // its triangles are allocated for all fans
} hull;

static stn_status flat(stn_error *err) {
    return stn_fail(err, STN_ERR_ARGUMENT, "mesh: its vertices lie in one plane: it has no convex hull");
}

/// Copies the vertices that triangles have.
static stn_status gather_points(hull *h, const stn_mesh *mesh, stn_error *err) {
    size_t n = (size_t)mesh->vertex_count;
    h->points = stn_allocate(h->context, 3 * n, sizeof *h->points);
    h->follower = stn_allocate(h->context, n, sizeof *h->follower);
    h->degree = stn_allocate(h->context, n, sizeof *h->degree);
    h->polygon = stn_allocate(h->context, n, sizeof *h->polygon);
    if (h->points == NULL || h->follower == NULL || h->degree == NULL || h->polygon == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its convex hull");
    }
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++) {
        h->follower[mesh->triangles[i]] = 1;
    }
    for (size_t i = 0; i < n; i++) {
        if (h->follower[i] != 0) {
            memcpy(h->points + 3 * (size_t)h->point_count++, mesh->vertices + 3 * i, 3 * sizeof *h->points);
        }
    }
    return STN_OK;
}

/// The points for qhull: each axis within [-1, 1]. NULL: out of memory.
static double *normalized(const hull *h, const stn_aabb *bounds) {
    const double lower[3] = {bounds->lower.x, bounds->lower.y, bounds->lower.z};
    const double upper[3] = {bounds->upper.x, bounds->upper.y, bounds->upper.z};
    double *points = stn_allocate(h->context, 3 * (size_t)h->point_count, sizeof *points);
    for (size_t axis = 0; axis < 3 && points != NULL; axis++) {
        int exponent;
        double centre = 0.5 * (lower[axis] + upper[axis]);
        frexp(upper[axis] - lower[axis], &exponent);
        double scale = ldexp(1.0, 1 - exponent);
        for (size_t i = axis; i < 3 * (size_t)h->point_count; i += 3) {
            points[i] = (h->points[i] - centre) * scale;
        }
    }
    return points;
}

/// What qhull says, and what it may do.
typedef struct listener {
    qhT *qh;
    int32_t most_distances; // of a point to a plane that may be computed
    bool stopped;
    char error[160]; // first line of the first message that is an error
} listener;

static ssize_t hear(void *user, const char *text, size_t size) {
    listener *l = user;
    qhT *qh = l->qh; // the macro takes this name
    if (!l->stopped && zzval_(Zdistplane) > l->most_distances) {
        l->stopped = true;
        qh->STOPadd = 1; // the next point is the last
    }
    if (l->error[0] == '\0' && size > 3 && memcmp(text, "QH6", 3) == 0) {
        const char *end = memchr(text, '\n', size);
        size_t length = end != NULL ? (size_t)(end - text) : size;
        length = length < sizeof l->error ? length : sizeof l->error - 1;
        memcpy(l->error, text, length);
        l->error[length] = '\0';
    }
    return (ssize_t)size;
}

/// qhull's exit status in our terms.
static stn_status translate(int exit_status, const listener *l, stn_error *err) {
    if (l->stopped) {
        return stn_fail(
            err, STN_ERR_UNSUPPORTED,
            "mesh: its convex hull takes too long (thousands of corners in one plane?): use fewer vertices");
    }
    switch (exit_status) {
    case qh_ERRnone:
        return STN_OK;
    case qh_ERRsingular:
        return flat(err);
    case qh_ERRmem:
        return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its convex hull");
    default:
        return stn_fail(err, STN_ERR_NUMERIC, "mesh: no convex hull found: %s", l->error);
    }
}

static int32_t point_id(const qhT *qh, const vertexT *vertex) {
    return (int32_t)((vertex->point - qh->first_point) / 3);
}

/// Follows the sides of a facet round, counter-clockwise from outside: `follower` of each corner. Returns the number of
/// corners, one of which is `*first`.
static int32_t link_corners(hull *h, qhT *qh, const facetT *facet, int32_t *first) {
    int32_t count = 0;
    if (facet->simplicial) {
        int32_t ids[3];
        vertexT *vertex, **vertexp;
        FOREACHvertex_(facet->vertices) {
            if (count < 3) {
                ids[count++] = point_id(qh, vertex);
            }
        }
        bool as_stored = ((facet->toporient ? 1 : 0) ^ qh_ORIENTclock) == 0;
        for (int32_t k = 0; k < 3; k++) {
            h->follower[ids[k]] = ids[(k + (as_stored ? 1 : 2)) % 3];
        }
        *first = ids[0];
        return count;
    }
    ridgeT *ridge, **ridgep;
    FOREACHridge_(facet->ridges) {
        int32_t a = point_id(qh, SETfirstt_(ridge->vertices, vertexT));
        int32_t b = point_id(qh, SETsecondt_(ridge->vertices, vertexT));
        bool as_stored = ((ridge->top == facet ? 1 : 0) ^ qh_ORIENTclock) == 0;
        h->follower[as_stored ? a : b] = as_stored ? b : a;
        *first = a;
        count++;
    }
    return count;
}

/// Corners of a facet where at least three facets meet, in `polygon`; 0 when its sides are not one round.
static int32_t walk(hull *h, qhT *qh, const facetT *facet) {
    int32_t first, kept = 0, count = link_corners(h, qh, facet, &first), corner = first;
    for (int32_t k = 0; k < count; k++) {
        if (h->degree[corner] > 2) {
            h->polygon[kept++] = corner;
        }
        corner = h->follower[corner];
        if (corner == first && k != count - 1) {
            return 0;
        }
    }
    return corner == first ? kept : 0;
}

/// Triangles from the corner `apex` of the polygon; false when one has no area.
static bool fan(hull *h, int32_t corners, int32_t apex) {
    int32_t *triangle = h->out->triangles + 3 * (size_t)h->out->triangle_count;
    for (int32_t k = 1; k < corners - 1; k++, triangle += 3) {
        triangle[0] = h->polygon[apex];
        triangle[1] = h->polygon[(apex + k) % corners];
        triangle[2] = h->polygon[(apex + k + 1) % corners];
        if (mesh_triangle_degenerate(h->points, triangle)) {
            return false;
        }
    }
    h->out->triangle_count += corners - 2;
    return true;
}

static stn_status triangulate(hull *h, qhT *qh, stn_error *err) {
    enum { TRIALS = 16 };
    facetT *facet;
    vertexT *vertex, **vertexp;
    size_t corners = 0;
    FORALLfacets {
        FOREACHvertex_(facet->vertices) {
            h->degree[point_id(qh, vertex)]++;
            corners++;
        }
    }
    h->out->triangles = stn_allocate(h->context, 3 * corners, sizeof *h->out->triangles);
    if (h->out->triangles == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its convex hull");
    }
    FORALLfacets {
        int32_t count = walk(h, qh, facet), apex = 0;
        bool made = false;
        for (; apex < count && apex < TRIALS && count > 2 && !made; apex++) {
            made = fan(h, count, apex);
        }
        if (!made) {
            return stn_fail(err, STN_ERR_NUMERIC, "mesh: no convex hull found: a facet of %d corners is no polygon",
                            count);
        }
    }
    return STN_OK;
}

static stn_status run_qhull(hull *h, double *points, stn_error *err) {
    // Pp: no warnings about narrow hulls; TF100: a report whenever 100 facets were made
    char command[] = "qhull Pp TF100";
    qhT qh;
    listener l = {.qh = &qh, .most_distances = 40000000 + 200 * h->point_count};
    FILE *stream = fopencookie(&l, "w", (cookie_io_functions_t){.write = hear});
    if (stream == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its convex hull");
    }
    setvbuf(stream, NULL, _IONBF, 0);
    qh_zero(&qh, stream);
    int exit_status = qh_new_qhull(&qh, 3, h->point_count, points, False, command, NULL, stream);
    stn_status status = translate(exit_status, &l, err);
    if (status == STN_OK) {
        status = triangulate(h, &qh, err);
    }
    int long_left = 0, short_left = 0;
    qh_freeqhull(&qh, !qh_ALL);
    qh_memfreeshort(&qh, &long_left, &short_left);
    fclose(stream);
    return status;
}

/// Closed, and of the Euler characteristic of a ball: triangles = 2 vertices - 4.
static stn_status check_hull(const raw_mesh *mesh, stn_error *err) {
    int32_t open = 0;
    bool closed = false;
    stn_status status = mesh_count_edges(mesh, &open, &closed, err);
    if (status == STN_OK && (open > 0 || !closed || mesh->triangle_count != 2 * mesh->vertex_count - 4)) {
        status = stn_fail(err, STN_ERR_NUMERIC, "mesh: no convex hull found: %d corners, %d triangles, %d open edges",
                          mesh->vertex_count, mesh->triangle_count, open);
    }
    return status;
}

static stn_status find_hull(hull *h, const stn_mesh *mesh, stn_error *err) {
    stn_status status = gather_points(h, mesh, err);
    if (status != STN_OK) {
        return status;
    }
    if (h->point_count > POINTS_MAX) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "mesh: convex hulls of %d vertices at most, not %d", POINTS_MAX,
                        h->point_count);
    }
    stn_vec3 size = stn_vec3_sub(mesh->bounds.upper, mesh->bounds.lower);
    if (h->point_count < 4 || size.x == 0.0 || size.y == 0.0 || size.z == 0.0) {
        return flat(err);
    }
    double *points = normalized(h, &mesh->bounds);
    status = points != NULL ? run_qhull(h, points, err)
                            : stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its convex hull");
    stn_release(h->context, points);
    return status;
}

stn_status stn_mesh_create_hull(const stn_mesh *mesh, stn_mesh **out, stn_error *err) {
    *out = NULL;
    raw_mesh result = {.context = ((const mesh_object *)mesh)->context};
    hull h = {.context = result.context, .out = &result};
    stn_status status = find_hull(&h, mesh, err);
    if (status == STN_OK) {
        result.vertices = h.points;
        result.vertex_count = h.point_count;
        h.points = NULL;
        status = mesh_compact(&result, err);
    }
    if (status == STN_OK) {
        status = check_hull(&result, err);
    }
    if (status == STN_OK) {
        stn_aabb bounds = mesh_bounds(&result);
        mesh_integrals integrals = mesh_integrate(&result, &bounds, true);
        status = integrals.volume > 0.0 && integrals.solid.mass > 0.0
                     ? mesh_wrap(&result, &mesh->facts, &integrals.solid, true, out, err)
                     : flat(err);
    }
    stn_release(h.context, h.points);
    stn_release(h.context, h.follower);
    stn_release(h.context, h.degree);
    stn_release(h.context, h.polygon);
    raw_mesh_clear(&result);
    return status;
}
