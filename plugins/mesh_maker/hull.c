// SPDX-License-Identifier: Apache-2.0
// Convex hulls of meshes: points for qhull, and whether what it found is convex.
//
// The points are moved to the centre of their box and each axis is scaled by a power of two, so that far and thin
// bodies are as exact as others: the hull is affine invariant. Vertices are taken for as exact as their own rounding.
// Points that leave a plane by little more than that give facets of any shape; what is then found is not convex, and
// qhull is asked again with a coarser accuracy.
//
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
#include <dlfcn.h>
#include <libqhull_r/qhull_ra.h>
#include <stdio.h>
#include <string.h>

#include <stiction/mesh_query.h>

#include "raw_mesh.h"

typedef struct hull {
    stn_context *context;
    int32_t point_count;
    int32_t *vertex;        // [point] of the mesh
    double *points;         // (point_count x 3) each axis within [-1, 1]
    double accuracy;        // of the distance between a point and a plane
    int32_t triangle_count; // the result, (triangle_count x 3) points
    int32_t *triangles;
    int32_t *follower; // [point] in the polygon that is walked: the next corner
    int32_t *used;     // [point] 1 for those that count
    int32_t *polygon;  // corners of the polygon that is walked
    int32_t *edge;     // (point_count + 1) x 2 edges of it behind which triangles are missing
} hull;

/// The error of points in one plane.
static stn_status hull_flat(stn_error *err) {
    return stn_fail(err, STN_ERR_ARGUMENT, "mesh: its vertices lie in one plane: it has no convex hull");
}

static stn_status hull_out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "mesh: out of memory for its convex hull");
}

/// The functions of qhull that are called.
typedef struct qhull {
    void (*zero)(qhT *qh, FILE *errfile);
    int (*new_qhull)(qhT *qh, int dim, int numpoints, coordT *points, boolT ismalloc, char *qhull_cmd, FILE *outfile,
                     FILE *errfile);
    void (*freeqhull)(qhT *qh, boolT allmem);
    void (*memfreeshort)(qhT *qh, int *curlong, int *totlong);
} qhull;

/// Loads the library at the first hull, and not with ours: it looks up each of its own 450 functions when it is loaded,
/// a third of a start of the command, which few runs need. It stays loaded. A static one is a part of ours.
static stn_status load_qhull(qhull *out, stn_error *err) {
#ifdef QHULL_LIBRARY
    void *handle = dlopen(QHULL_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "mesh: no convex hulls without the library qhull: %s", dlerror());
    }
    // as POSIX has it: a pointer of an object for one to a function
    *(void **)&out->zero = dlsym(handle, "qh_zero");
    *(void **)&out->new_qhull = dlsym(handle, "qh_new_qhull");
    *(void **)&out->freeqhull = dlsym(handle, "qh_freeqhull");
    *(void **)&out->memfreeshort = dlsym(handle, "qh_memfreeshort");
    return out->zero != NULL && out->new_qhull != NULL && out->freeqhull != NULL && out->memfreeshort != NULL
               ? STN_OK
               : stn_fail(err, STN_ERR_UNSUPPORTED, "mesh: %s is no qhull that makes convex hulls", QHULL_LIBRARY);
#else
    (void)err;
    *out = (qhull){qh_zero, qh_new_qhull, qh_freeqhull, qh_memfreeshort};
    return STN_OK;
#endif
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

static int32_t point_id(const qhT *qh, const vertexT *vertex) {
    return (int32_t)((vertex->point - qh->first_point) / 3);
}

/// Corners of a facet in `polygon`, counter-clockwise from outside; 0 when its sides are not one round.
static int32_t walk(hull *h, const qhT *qh, const facetT *facet) {
    int32_t count = 0, first = 0;
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
        first = ids[0];
    } else {
        ridgeT *ridge, **ridgep;
        FOREACHridge_(facet->ridges) {
            int32_t a = point_id(qh, SETfirstt_(ridge->vertices, vertexT));
            int32_t b = point_id(qh, SETsecondt_(ridge->vertices, vertexT));
            bool as_stored = ((ridge->top == facet ? 1 : 0) ^ qh_ORIENTclock) == 0;
            h->follower[as_stored ? a : b] = as_stored ? b : a;
            first = a;
            count++;
        }
    }
    if (count > h->point_count) {
        return 0;
    }
    int32_t corner = first;
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
    stn_vec3 p = stn_vec3_at(h->points, h->polygon[k]);
    stn_vec3 u = stn_vec3_sub(stn_vec3_at(h->points, h->polygon[i]), p);
    stn_vec3 v = stn_vec3_sub(stn_vec3_at(h->points, h->polygon[j]), p);
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

/// Finds `triangles` at the given accuracy; they are released and allocated anew. STN_ERR_ARGUMENT: flat;
/// STN_ERR_UNSUPPORTED: too much work; STN_ERR_NUMERIC: nothing that holds together, a larger accuracy may help.
static stn_status hull_run(hull *h, stn_error *err) {
    // Pp: no warnings about narrow hulls; TF100: a report whenever 100 facets were made; E: accuracy of the distances
    char command[80];
    qhull library = {0};
    stn_status status = load_qhull(&library, err);
    if (status != STN_OK) {
        return status;
    }
    snprintf(command, sizeof command, "qhull Pp TF100 E%.3g", h->accuracy);
    qhT qh;
    listener l = {.qh = &qh, .most_distances = 40000000 + 200 * h->point_count};
    FILE *stream = fopencookie(&l, "w", (cookie_io_functions_t){.write = hear});
    if (stream == NULL) {
        return hull_out_of_memory(err);
    }
    setvbuf(stream, NULL, _IONBF, 0);
    library.zero(&qh, stream);
    int exit_status = library.new_qhull(&qh, 3, h->point_count, h->points, False, command, NULL, stream);
    if (l.stopped) {
        status =
            stn_fail(err, STN_ERR_UNSUPPORTED,
                     "mesh: its convex hull takes too long (thousands of corners in one plane?): use fewer vertices");
    } else if (exit_status == qh_ERRsingular) {
        status = hull_flat(err);
    } else if (exit_status == qh_ERRmem) {
        status = hull_out_of_memory(err);
    } else if (exit_status != qh_ERRnone) {
        status = stn_fail(err, STN_ERR_NUMERIC, "mesh: no convex hull found: %s", l.error);
    } else {
        status = triangulate(h, &qh, err);
    }
    int long_left = 0, short_left = 0;
    library.freeqhull(&qh, !qh_ALL);
    library.memfreeshort(&qh, &long_left, &short_left);
    fclose(stream);
    return status;
}

// ------------------------------------------------------------------------------------------------ hull of a mesh

enum { POINTS_MAX = 4000000 }; // qhull's counters of work are ints

/// Lists the vertices that triangles have, as others may lie anywhere, with each axis brought to [-1, 1], and how exact
/// they then are.
static stn_status list_points(hull *h, const stn_mesh *mesh, stn_error *err) {
    size_t n = (size_t)mesh->vertex_count;
    h->vertex = stn_allocate(h->context, n, sizeof *h->vertex);
    h->points = stn_allocate(h->context, 3 * n, sizeof *h->points);
    h->follower = stn_allocate(h->context, n, sizeof *h->follower);
    h->used = stn_allocate(h->context, n, sizeof *h->used);
    h->polygon = stn_allocate(h->context, n, sizeof *h->polygon);
    h->edge = stn_allocate(h->context, 2 * (n + 1), sizeof *h->edge);
    if (h->vertex == NULL || h->points == NULL || h->follower == NULL || h->used == NULL || h->polygon == NULL ||
        h->edge == NULL) {
        return hull_out_of_memory(err);
    }
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++) {
        h->used[mesh->triangles[i]] = 1;
    }
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        h->vertex[h->point_count] = i;
        h->point_count += h->used[i];
    }
    if (h->point_count > POINTS_MAX) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "mesh: convex hulls of %d vertices at most, not %d", POINTS_MAX,
                        h->point_count);
    }
    if (h->point_count < 4) {
        return hull_flat(err);
    }
    const double lower[3] = {mesh->bounds.lower.x, mesh->bounds.lower.y, mesh->bounds.lower.z};
    const double upper[3] = {mesh->bounds.upper.x, mesh->bounds.upper.y, mesh->bounds.upper.z};
    for (int32_t axis = 0; axis < 3; axis++) {
        int exponent;
        double centre = 0.5 * (lower[axis] + upper[axis]), size = upper[axis] - lower[axis];
        if (!(size > 0.0)) {
            return hull_flat(err);
        }
        frexp(size, &exponent);
        double scale = ldexp(1.0, 1 - exponent),
               rounding = 0x1p-52 * fmax(fabs(lower[axis]), fabs(upper[axis])) * scale;
        h->accuracy = fmax(h->accuracy, 1.4e-15 + rounding); // the first: what qhull allows for exact points
        for (int32_t i = 0; i < h->point_count; i++) {
            h->points[3 * (size_t)i + (size_t)axis] =
                (mesh->vertices[3 * (size_t)h->vertex[i] + (size_t)axis] - centre) * scale;
        }
    }
    return STN_OK;
}

/// Convex: closed with the Euler characteristic of a ball (triangles = 2 corners - 4), the middle inside every plane,
/// and no neighbour's far corner outside it by more than slivers, whose normals are inexact, may have it: 1e-7 of the
/// box.
static stn_status check_convex(hull *h, bool *convex, stn_error *err) {
    int32_t corners = 0, *other = stn_allocate(h->context, 3 * (size_t)h->triangle_count, sizeof *other);
    if (other == NULL) {
        return hull_out_of_memory(err);
    }
    stn_vec3 sum = stn_vec3_zero();
    memset(h->used, 0, (size_t)h->point_count * sizeof *h->used);
    for (size_t i = 0; i < 3 * (size_t)h->triangle_count; i++) {
        int32_t id = h->triangles[i];
        if (h->used[id] == 0) {
            h->used[id] = 1;
            corners++;
            sum = stn_vec3_add(sum, stn_vec3_at(h->points, id));
        }
    }
    stn_vec3 middle = stn_vec3_scale(1.0 / corners, sum);
    stn_status status = stn_triangles_across(h->context, h->triangles, h->triangle_count, h->point_count, other, err);
    *convex = status == STN_OK && h->triangle_count == 2 * corners - 4;
    for (int32_t i = 0; i < h->triangle_count && *convex; i++) {
        const int32_t *ids = h->triangles + 3 * (size_t)i;
        stn_vec3 corner = stn_vec3_at(h->points, ids[0]), u = stn_vec3_sub(stn_vec3_at(h->points, ids[1]), corner),
                 v = stn_vec3_sub(stn_vec3_at(h->points, ids[2]), corner);
        stn_vec3 normal = stn_vec3_normalize_or(stn_vec3_cross(u, v), stn_vec3_zero());
        *convex = stn_vec3_dot(normal, stn_vec3_sub(middle, corner)) < 0.0;
        for (int32_t k = 0; k < 3 && *convex; k++) {
            int32_t across = other[3 * (size_t)i + (size_t)k];
            if (across < 0) {
                *convex = false;
                break;
            }
            int32_t far_corner = h->triangles[3 * (size_t)(across / 3) + (size_t)((across + 2) % 3)];
            double outside = stn_vec3_dot(normal, stn_vec3_sub(stn_vec3_at(h->points, far_corner), corner));
            *convex = outside <= fmax(1e-7, 32.0 * h->accuracy);
        }
    }
    stn_release(h->context, other);
    return status;
}

/// The hull's triangles on the vertices of the mesh.
static stn_status name_vertices(hull *h, const stn_mesh *mesh, raw_mesh *out, stn_error *err) {
    out->vertex_count = mesh->vertex_count;
    out->vertices = stn_allocate(h->context, 3 * (size_t)mesh->vertex_count, sizeof *out->vertices);
    if (out->vertices == NULL) {
        return hull_out_of_memory(err);
    }
    memcpy(out->vertices, mesh->vertices, 3 * (size_t)mesh->vertex_count * sizeof *out->vertices);
    for (size_t i = 0; i < 3 * (size_t)h->triangle_count; i++) {
        h->triangles[i] = h->vertex[h->triangles[i]];
    }
    out->triangles = h->triangles;
    out->triangle_count = h->triangle_count;
    h->triangles = NULL;
    return mesh_compact(out, err);
}

stn_status stn_mesh_create_hull(const stn_mesh *mesh, stn_mesh **out, stn_error *err) {
    enum { ATTEMPTS = 6 }; // up to a millionth of the first accuracy
    *out = NULL;
    raw_mesh result = {.context = stn_mesh_context(mesh)};
    hull h = {.context = result.context};
    bool convex = false;
    stn_status status = list_points(&h, mesh, err);
    for (int32_t attempt = 0; attempt < ATTEMPTS && status == STN_OK && !convex; attempt++) {
        h.accuracy *= attempt > 0 ? 16.0 : 1.0;
        status = hull_run(&h, err);
        if (status == STN_OK) {
            status = check_convex(&h, &convex, err);
        } else if (status == STN_ERR_NUMERIC && attempt + 1 < ATTEMPTS) {
            status = STN_OK;
        }
    }
    if (status == STN_OK && !convex) {
        status = stn_fail(err, STN_ERR_NUMERIC, "mesh: no convex hull found: rounding makes its faces bend inwards");
    }
    if (status == STN_OK) {
        status = name_vertices(&h, mesh, &result, err);
    }
    if (status == STN_OK) {
        const stn_mesh_data data = raw_mesh_data(&result);
        const stn_mesh_integrals integrals = stn_mesh_integrate(&data, true);
        status = integrals.solid.mass > 0.0 ? mesh_finish(&result, &mesh->facts, &integrals.solid, true, out, err)
                                            : hull_flat(err);
    }
    stn_release(h.context, h.vertex);
    stn_release(h.context, h.points);
    stn_release(h.context, h.triangles);
    stn_release(h.context, h.follower);
    stn_release(h.context, h.used);
    stn_release(h.context, h.polygon);
    stn_release(h.context, h.edge);
    raw_mesh_clear(&result);
    return status;
}
