// SPDX-License-Identifier: Apache-2.0
// Queries: rays, boxes and nearest points against a torus of 100 000 triangles, rays over a height field of a million
// heights, and rays, distances and overlaps in a world of 10 000 bodies. Microseconds of one query.
#include <stdlib.h>

#include <stiction/mesh_query.h>
#include <stiction/query.h>

#include "bench_time.h"
#include "stn_random_pose.h"

enum { ROUND = 250, TUBE = 200, VERTICES = ROUND * TUBE, TRIANGLES = 2 * VERTICES, GRID = 1000, BODIES = 10000 };

static void need(stn_status status, const stn_error *err) {
    if (status < 0) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

typedef struct bench {
    stn_context *context;
    const stn_mesh *mesh;
    stn_world *world;
    stn_random random;
    int64_t asked, met;
} bench;

static stn_mesh *make_torus(stn_context *context) {
    stn_vec3 *p = malloc(VERTICES * sizeof *p);
    int32_t *ids = malloc(3 * TRIANGLES * sizeof *ids), at = 0;
    for (int32_t i = 0; i < ROUND; i++) {
        for (int32_t k = 0; k < TUBE; k++) {
            double u = 2.0 * STN_PI * i / ROUND, v = 2.0 * STN_PI * k / TUBE, out = 3.0 + cos(v);
            int32_t next_i = (i + 1) % ROUND, next_k = (k + 1) % TUBE;
            p[i * TUBE + k] = stn_vec3_make(out * cos(u), out * sin(u), sin(v));
            const int32_t quad[6] = {i * TUBE + k, next_i * TUBE + k,      next_i * TUBE + next_k,
                                     i * TUBE + k, next_i * TUBE + next_k, i * TUBE + next_k};
            memcpy(ids + at, quad, sizeof quad);
            at += 6;
        }
    }
    stn_mesh_data data = {VERTICES, TRIANGLES, 0, (const double *)p, ids, NULL, NULL};
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    need(stn_mesh_create(context, &data, &mesh, &err), &err);
    free(p);
    free(ids);
    return mesh;
}

static stn_mesh *make_hills(stn_context *context) {
    double *z = malloc((size_t)GRID * GRID * sizeof *z);
    for (int32_t i = 0; i < GRID * GRID; i++) {
        z[i] = 0.5 * sin(0.02 * (i % GRID)) * cos(0.03 * (i / GRID));
    }
    stn_height_field_spec spec = {GRID, GRID, 100.0, 100.0, z};
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    need(stn_mesh_create_height_field(context, &spec, &mesh, &err), &err);
    free(z);
    return mesh;
}

// -------------------------------------------------------------------------------------------------------- meshes

static void ray_at_torus(void *subject) {
    bench *b = subject;
    stn_vec3 o = random_vec3(&b->random, 6.0), at = random_vec3(&b->random, 3.0);
    stn_mesh_point found;
    stn_vec3 d = stn_vec3_normalize_or(stn_vec3_sub(at, o), stn_vec3_make(1.0, 0.0, 0.0));
    b->met += stn_mesh_raycast(b->mesh, o, d, INFINITY, &found);
    b->asked++;
}

static void nearest_on_torus(void *subject) {
    bench *b = subject;
    stn_mesh_point found;
    b->met += stn_mesh_nearest(b->mesh, random_vec3(&b->random, 5.0), INFINITY, &found);
    b->asked++;
}

static bool count(void *user, int32_t triangle) {
    (void)triangle;
    ++*(int64_t *)user;
    return true;
}

/// A box of a fifth of the tube's radius, at the surface.
static void box_at_torus(void *subject) {
    bench *b = subject;
    const double *p = b->mesh->vertices + 3 * random_below(&b->random, VERTICES);
    stn_aabb box = {{p[0] - 0.1, p[1] - 0.1, p[2] - 0.1}, {p[0] + 0.1, p[1] + 0.1, p[2] + 0.1}};
    stn_mesh_visit(b->mesh, &box, count, &b->met);
    b->asked++;
}

static void ray_over_hills(void *subject) {
    bench *b = subject;
    stn_vec3 o = random_vec3(&b->random, 50.0), at = random_vec3(&b->random, 50.0);
    o.z = 2.0;
    at.z = 0.0;
    stn_mesh_point found;
    stn_vec3 d = stn_vec3_normalize_or(stn_vec3_sub(at, o), stn_vec3_make(1.0, 0.0, 0.0));
    b->met += stn_mesh_raycast(b->mesh, o, d, INFINITY, &found);
    b->asked++;
}

// --------------------------------------------------------------------------------------------------------- world

static stn_world *make_world(bench *b) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = NULL;
    stn_error err = {STN_OK, ""};
    need(stn_world_create(b->context, &options, &world, &err), &err);
    stn_model_builder *builder = stn_world_builder(world);
    for (int32_t i = 0; i < BODIES; i++) {
        char name[16];
        int32_t robot, link, geometry;
        snprintf(name, sizeof name, "b%d", (int)i);
        stn_shape shapes[] = {stn_shape_sphere(0.1), stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)),
                              stn_shape_capsule(0.05, 0.1), stn_shape_cylinder(0.1, 0.1)};
        stn_geometry_spec spec = stn_geometry_spec_default(shapes[i % 4]);
        stn_link_spec body = {.name = name};
        need(stn_shape_mass(&spec.shape, 1.0, &body.mass, &err), &err);
        stn_pose pose = random_pose(&b->random, 5.0);
        need(stn_builder_begin_group(builder, name, &robot, &err), &err);
        need(stn_builder_add_link(builder, &body, &link, &err), &err);
        need(stn_builder_add_geometry(builder, link, &spec, &geometry, &err), &err);
        need(stn_builder_set_base(builder, robot, &pose, false, &err), &err);
    }
    need(stn_world_compile(world, &err), &err);
    return world;
}

static void ray_in_world(void *subject) {
    bench *b = subject;
    stn_world_hit hit;
    stn_error err = {STN_OK, ""};
    need(stn_world_raycast(b->world, NULL, random_vec3(&b->random, 8.0), random_unit(&b->random), INFINITY, &hit, &err),
         &err);
    b->met += hit.geometry >= 0;
    b->asked++;
}

static void nearest_in_world(void *subject) {
    bench *b = subject;
    stn_world_distance_result found;
    stn_error err = {STN_OK, ""};
    need(stn_world_nearest(b->world, NULL, random_vec3(&b->random, 5.0), INFINITY, &found, &err), &err);
    b->met += found.geometry_a >= 0;
    b->asked++;
}

static void overlap_in_world(void *subject) {
    bench *b = subject;
    const stn_world_overlap_result *found = NULL;
    int32_t many = 0;
    stn_pose pose = random_pose(&b->random, 5.0);
    stn_shape box = stn_shape_box(stn_vec3_make(0.3, 0.3, 0.3));
    stn_error err = {STN_OK, ""};
    need(stn_world_overlap(b->world, NULL, &box, &pose, 0.0, &found, &many, &err), &err);
    b->met += many;
    b->asked++;
}

static bool is_one(const void *user, int32_t geometry) {
    return geometry == *(const int32_t *)user;
}

static void distance_in_world(void *subject) {
    bench *b = subject;
    int32_t one = random_below(&b->random, BODIES), other = (one + 1 + random_below(&b->random, BODIES - 1)) % BODIES;
    stn_query first = {.accepts = is_one, .user = &one}, second = {.accepts = is_one, .user = &other};
    stn_world_distance_result found;
    stn_error err = {STN_OK, ""};
    need(stn_world_distance(b->world, &first, &second, INFINITY, &found, &err), &err);
    b->met += found.geometry_a >= 0;
    b->asked++;
}

static void measure(bench *b, const char *name, void (*run)(void *)) {
    b->asked = b->met = 0;
    double us = best_time(run, b);
    printf("%-42s %9.2f us, %.2f found a query\n", name, us, (double)b->met / (double)b->asked);
}

int main(void) {
    bench b = {.random = {1}};
    stn_error err = {STN_OK, ""};
    need(stn_context_create(NULL, &b.context, &err), &err);
    print_processor();
    stn_mesh *torus = make_torus(b.context), *hills = make_hills(b.context);
    double start = now_us();
    need(stn_mesh_prepare(torus, &err), &err);
    printf("tree over %d triangles: %.1f ms\n", TRIANGLES, 1e-3 * (now_us() - start));
    b.mesh = torus;
    measure(&b, "ray, mesh of 100 000 triangles", ray_at_torus);
    measure(&b, "nearest point, the same", nearest_on_torus);
    measure(&b, "box, the same", box_at_torus);
    b.mesh = hills;
    measure(&b, "ray, height field of 1000 x 1000", ray_over_hills);
    b.world = make_world(&b);
    measure(&b, "ray, world of 10 000 bodies", ray_in_world);
    measure(&b, "nearest body to a point, the same", nearest_in_world);
    measure(&b, "bodies in a box, the same", overlap_in_world);
    measure(&b, "distance of two bodies, the same", distance_in_world);
    stn_world_destroy(b.world);
    stn_mesh_release(torus);
    stn_mesh_release(hills);
    stn_context_destroy(b.context);
    return 0;
}
