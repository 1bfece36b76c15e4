// SPDX-License-Identifier: Apache-2.0
// Convex hulls by qhull's quickhull [barber-1996], reentrant, without joggle.
//
// qhull merges facets that are coplanar within the accuracy that it is told. Each of its facets is then a polygon,
// whose sides are the facet's ridges, and the polygon is divided into triangles.
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

#include "geometry/mesh_hull.h"

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
        return hull_flat(err);
    case qh_ERRmem:
        return hull_out_of_memory(err);
    default:
        return stn_fail(err, STN_ERR_NUMERIC, "mesh: no convex hull found: %s", l->error);
    }
}

static int32_t point_id(const qhT *qh, const vertexT *vertex) {
    return (int32_t)((vertex->point - qh->first_point) / 3);
}

/// Follows the sides of a facet round, counter-clockwise from outside: `follower` of each corner. Returns the number of
/// corners, one of which is `*first`.
static int32_t link_corners(hull *h, const qhT *qh, const facetT *facet, int32_t *first) {
    int32_t count = 0;
    if (facet->simplicial) {
        int32_t ids[3] = {0};
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

/// Corners of a facet in `polygon`; 0 when its sides are not one round.
static int32_t walk(hull *h, const qhT *qh, const facetT *facet) {
    int32_t first, count = link_corners(h, qh, facet, &first), corner = first;
    if (count > h->point_count) {
        return 0;
    }
    for (int32_t k = 0; k < count; k++) {
        if (corner == first && k > 0) {
            return 0;
        }
        h->polygon[k] = corner;
        corner = h->follower[corner];
    }
    return corner == first ? count : 0;
}

/// Cotangent of the angle at p_k between p_i and p_j.
static double cotangent(const hull *h, int32_t i, int32_t k, int32_t j) {
    stn_vec3 p = mesh_vertex(h->points, h->polygon[k]);
    stn_vec3 u = stn_vec3_sub(mesh_vertex(h->points, h->polygon[i]), p);
    stn_vec3 v = stn_vec3_sub(mesh_vertex(h->points, h->polygon[j]), p);
    double dot = stn_vec3_dot(u, v), cross = stn_vec3_norm(stn_vec3_cross(u, v));
    return cross > 0.0 ? dot / cross : copysign(INFINITY, dot);
}

/// Delaunay triangles of the polygon, which is convex: behind each edge stands the corner that sees it under the
/// largest angle. A fan would have triangles as thin as the polygon's flattest corner, whose normals rounding turns
/// anywhere. False when a triangle has no area.
static bool divide_polygon(hull *h, int32_t corners) {
    int32_t depth = 1;
    h->edge[0] = 0;
    h->edge[1] = corners - 1;
    while (depth > 0) {
        depth--;
        int32_t i = h->edge[2 * depth], j = h->edge[2 * depth + 1], best = i + 1;
        if (j - i < 2) {
            continue;
        }
        double least = cotangent(h, i, best, j);
        for (int32_t k = i + 2; k < j; k++) {
            double cot = cotangent(h, i, k, j);
            best = cot < least ? k : best;
            least = cot < least ? cot : least;
        }
        int32_t *triangle = h->triangles + 3 * (size_t)h->triangle_count++;
        triangle[0] = h->polygon[i];
        triangle[1] = h->polygon[best];
        triangle[2] = h->polygon[j];
        if (mesh_triangle_degenerate(h->points, triangle)) {
            return false;
        }
        const int32_t next[4] = {i, best, best, j};
        memcpy(h->edge + 2 * (size_t)depth, next, sizeof next);
        depth += 2;
    }
    return true;
}

static stn_status triangulate(hull *h, const qhT *qh, stn_error *err) {
    facetT *facet;
    ridgeT *ridge, **ridgep;
    size_t corners = 0;
    FORALLfacets {
        corners += 3;
        FOREACHridge_(facet->ridges) {
            corners++;
        }
    }
    stn_release(h->context, h->triangles);
    h->triangle_count = 0;
    h->triangles = stn_allocate(h->context, 3 * corners, sizeof *h->triangles);
    if (h->triangles == NULL) {
        return hull_out_of_memory(err);
    }
    FORALLfacets {
        int32_t count = walk(h, qh, facet);
        if (count < 3 || !divide_polygon(h, count)) {
            return stn_fail(err, STN_ERR_NUMERIC, "mesh: no convex hull found: a facet of %d corners is no polygon",
                            count);
        }
    }
    return STN_OK;
}

stn_status hull_run(hull *h, stn_error *err) {
    // Pp: no warnings about narrow hulls; TF100: a report whenever 100 facets were made; E: accuracy of the distances
    char command[80];
    snprintf(command, sizeof command, "qhull Pp TF100 E%.3g", h->accuracy);
    qhT qh;
    listener l = {.qh = &qh, .most_distances = 40000000 + 200 * h->point_count};
    FILE *stream = fopencookie(&l, "w", (cookie_io_functions_t){.write = hear});
    if (stream == NULL) {
        return hull_out_of_memory(err);
    }
    setvbuf(stream, NULL, _IONBF, 0);
    qh_zero(&qh, stream);
    int exit_status = qh_new_qhull(&qh, 3, h->point_count, h->points, False, command, NULL, stream);
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
