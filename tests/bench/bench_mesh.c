// SPDX-License-Identifier: Apache-2.0
// Making meshes: joining and measuring 400 000 loose triangles, convex hulls of 200 000 points; support points of
// hulls. Processor time, the least of the repetitions.
#include <stiction/mesh.h>

#include "bench_time.h"
#include "stn_random_pose.h"

enum { ROUND = 500, TUBE = 400, TRIANGLES = 2 * ROUND * TUBE, POINTS = 200000, REPEATS = 5 };

static void need(stn_status status, const stn_error *err) {
    if (status != STN_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

static stn_vec3 torus(int32_t i, int32_t k) {
    double u = 2.0 * STN_PI * (i % ROUND) / ROUND, v = 2.0 * STN_PI * (k % TUBE) / TUBE, out = 3.0 + cos(v);
    return stn_vec3_make(out * cos(u), out * sin(u), sin(v));
}

/// Corners as an STL file has them, three for each triangle.
static void fill_torus(stn_vec3 *corner) {
    for (int32_t i = 0; i < ROUND; i++) {
        for (int32_t k = 0; k < TUBE; k++, corner += 6) {
            corner[0] = corner[3] = torus(i, k);
            corner[1] = torus(i + 1, k);
            corner[2] = corner[4] = torus(i + 1, k + 1);
            corner[5] = torus(i, k + 1);
        }
    }
}

static void measure_create(stn_context *context, const stn_mesh_data *data, stn_mesh **mesh) {
    double least = INFINITY;
    stn_error err = {STN_OK, ""};
    for (int32_t i = 0; i < REPEATS; i++) {
        stn_mesh_release(*mesh);
        double start = clock_us(CLOCK_PROCESS_CPUTIME_ID);
        need(stn_mesh_create(context, data, mesh, &err), &err);
        least = fmin(least, 1e-3 * (clock_us(CLOCK_PROCESS_CPUTIME_ID) - start));
    }
    printf("create %d triangles of %d corners: %.1f ms, %d vertices, volume %.12g of %.12g m^3\n", data->triangle_count,
           data->vertex_count, least, (*mesh)->vertex_count, (*mesh)->solid.mass, 6.0 * STN_PI * STN_PI);
}

static void measure_hull(const char *name, const stn_mesh *mesh) {
    double least = INFINITY;
    stn_error err = {STN_OK, ""};
    stn_mesh *hull = NULL;
    for (int32_t i = 0; i < REPEATS; i++) {
        stn_mesh_release(hull);
        double start = clock_us(CLOCK_PROCESS_CPUTIME_ID);
        need(stn_mesh_create_hull(mesh, &hull, &err), &err);
        least = fmin(least, 1e-3 * (clock_us(CLOCK_PROCESS_CPUTIME_ID) - start));
    }
    printf("hull of %d points %s: %.1f ms, %d corners\n", mesh->vertex_count, name, least, hull->vertex_count);
    stn_mesh_release(hull);
}

static stn_mesh *mesh_of(stn_context *context, const stn_vec3 *points, int32_t count, int32_t *ids) {
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    for (int32_t i = 0; i < 3 * count; i++) {
        ids[i] = (i / 3 + i % 3) % count;
    }
    stn_mesh_data data = {count, count, 0, (const double *)points, ids, NULL, NULL};
    need(stn_mesh_create(context, &data, &mesh, &err), &err);
    return mesh;
}

/// Support points of a hull along random directions by climbing, beside a look at all vertices.
static void measure_support(stn_context *context, int32_t count, stn_random *r, stn_vec3 *points, int32_t *ids) {
    enum { DIRECTIONS = 1000 };
    static stn_vec3 d[DIRECTIONS];
    double least[2] = {INFINITY, INFINITY};
    int64_t sum[2] = {0, 0};
    stn_error err = {STN_OK, ""};
    stn_mesh *hull = NULL;
    for (int32_t i = 0; i < count; i++) {
        points[i] = random_unit(r);
    }
    stn_mesh *mesh = mesh_of(context, points, count, ids);
    need(stn_mesh_create_hull(mesh, &hull, &err), &err);
    for (int32_t i = 0; i < DIRECTIONS; i++) {
        d[i] = random_unit(r);
    }
    for (int32_t repeat = 0; repeat < 10 * REPEATS; repeat++) {
        for (int32_t way = 0; way < 2 && (way == 0 || repeat < 5); way++) { // a surface of triangles is scanned
            double start = clock_us(CLOCK_PROCESS_CPUTIME_ID);
            for (int32_t i = 0; i < DIRECTIONS; i++) {
                sum[way] += stn_mesh_support(way == 0 ? hull : mesh, d[i]);
            }
            least[way] = fmin(least[way], 1e-3 * (clock_us(CLOCK_PROCESS_CPUTIME_ID) - start));
        }
    }
    printf("support point of %6d vertices: %6.1f ns by climbing, %8.1f ns by a look at all%s\n", count,
           1e6 * least[0] / DIRECTIONS, 1e6 * least[1] / DIRECTIONS, sum[0] == 0 || sum[1] == 0 ? " (!)" : "");
    stn_mesh_release(hull);
    stn_mesh_release(mesh);
}

int main(void) {
    stn_context *context;
    stn_error err = {STN_OK, ""};
    need(stn_context_create(NULL, &context, &err), &err);
    stn_random r = {1};
    stn_vec3 *corner = malloc(3 * (size_t)TRIANGLES * sizeof *corner);
    int32_t *ids = malloc(3 * (size_t)TRIANGLES * sizeof *ids);
    if (corner == NULL || ids == NULL) {
        return 1;
    }
    fill_torus(corner);
    for (int32_t i = 0; i < 3 * TRIANGLES; i++) {
        ids[i] = i;
    }
    stn_mesh_data data = {3 * TRIANGLES, TRIANGLES, 0, (const double *)corner, ids, NULL, NULL};
    stn_mesh *mesh = NULL;
    measure_create(context, &data, &mesh);
    measure_hull("of a torus", mesh);
    stn_mesh_release(mesh);
    for (int32_t kind = 0; kind < 2; kind++) {
        for (int32_t i = 0; i < POINTS; i++) {
            corner[i] = stn_vec3_scale(kind == 0 ? cbrt(random_between(&r, 0.0, 1.0)) : 1.0, random_unit(&r));
        }
        mesh = mesh_of(context, corner, POINTS, ids);
        measure_hull(kind == 0 ? "in a ball" : "on a sphere", mesh);
        stn_mesh_release(mesh);
    }
    for (int32_t count = 8; count < 70000; count *= count < 64 ? 2 : 4) {
        measure_support(context, count, &r, corner, ids);
    }
    free(corner);
    free(ids);
    stn_context_destroy(context);
    return 0;
}
