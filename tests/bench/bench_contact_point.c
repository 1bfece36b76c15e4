// SPDX-License-Identifier: Apache-2.0
// Narrow phase: time of one pair, for every pair of shapes in random touching poses, and for shapes at rest on each
// other.
#include <stiction/mesh.h>
#include <stiction/plugin.h>

#include "../support/stn_random_pose.h"
#include "../support/stn_random_shape.h"
#include "bench_row.h"
#include "bench_time.h"

enum { PAIRS = 100, MOST_ROUNDS = 1000, FEWEST_ROUNDS = 10, BUDGET_US = 100000, HULL_POINTS = 1000 };

typedef struct bench {
    stn_context *context;
    stn_instance *instance;
    stn_arena *arena;
    stn_geometry geometries[2 * PAIRS];
    stn_contact_pair pairs[PAIRS];
    stn_model model;
    int32_t contacts;
} bench;

/// Median time of one pair [ns], of the thread alone; negative on failure.
static double run(bench *b) {
    double times[MOST_ROUNDS], begin = thread_us();
    int32_t k = 0;
    for (; k < MOST_ROUNDS && (k < FEWEST_ROUNDS || thread_us() - begin < BUDGET_US); k++) {
        stn_arena_reset(b->arena);
        stn_contact_set set = {.arena = b->arena};
        double start = thread_us();
        const stn_contact_scene scene = {.model = &b->model, .arena = b->arena};
        stn_status status =
            b->instance->desc->ops.contact->collide(b->instance->self, &scene, b->pairs, PAIRS, &set, NULL);
        times[k] = 1e3 * (thread_us() - start) / PAIRS;
        b->contacts = set.count;
        if (status != STN_OK) {
            return -1.0;
        }
    }
    return median(times, k);
}

static void place(bench *b, int32_t i, stn_shape first, stn_pose x, stn_shape second, stn_pose y) {
    b->geometries[2 * i] = (stn_geometry){.name = "", .body = 1, .node = -1, .shape = first};
    b->geometries[2 * i + 1] = (stn_geometry){.name = "", .body = 2, .node = -1, .shape = second};
    b->pairs[i] = (stn_contact_pair){.geometry_a = 2 * i,
                                     .geometry_b = 2 * i + 1,
                                     .pose_a = x,
                                     .pose_b = y,
                                     .material = {{.mu = 0.5}, 0.5},
                                     .margin = 1e-4};
}

/// A hull of points on an ellipsoid, or of a prism that stands; kept until the context goes.
static stn_shape hull(bench *b, const stn_vec3 *points, int32_t count) {
    static int32_t ids[3 * HULL_POINTS];
    stn_mesh *mesh = NULL, *convex = NULL;
    for (int32_t i = 0; i < 3 * count; i++) {
        ids[i] = (i / 3 + i % 3) % count;
    }
    const stn_mesh_data data = {count, count, 0, (const double *)points, ids, NULL, NULL};
    if (stn_mesh_create(b->context, &data, &mesh, NULL) != STN_OK ||
        stn_mesh_create_hull(mesh, &convex, NULL) != STN_OK) {
        printf("no hull\n");
        exit(1);
    }
    stn_mesh_release(mesh);
    return stn_shape_mesh(convex);
}

static stn_shape blob(bench *b, stn_random *r, int32_t count, stn_vec3 h) {
    static stn_vec3 points[HULL_POINTS];
    for (int32_t i = 0; i < count; i++) {
        stn_vec3 p = random_unit(r);
        points[i] = stn_vec3_make(h.x * p.x, h.y * p.y, h.z * p.z);
    }
    return hull(b, points, count);
}

static stn_shape prism(bench *b, int32_t sides, double radius, double half_height) {
    static stn_vec3 points[HULL_POINTS];
    for (int32_t i = 0; i < 2 * sides; i++) {
        double angle = 2.0 * STN_PI * (i / 2) / sides;
        points[i] = stn_vec3_make(radius * cos(angle), radius * sin(angle), i % 2 == 0 ? half_height : -half_height);
    }
    return hull(b, points, 2 * sides);
}

static stn_shape random_shape(bench *b, stn_random *r, stn_shape_type type) {
    double s = random_between(r, 0.03, 0.06), t = random_between(r, 0.03, 0.06), u = random_between(r, 0.03, 0.06);
    return type == STN_SHAPE_CONVEX ? blob(b, r, 50, stn_vec3_make(s, t, u)) : shape_of_sizes(type, s, t, u);
}

/// Moves B along the normal until it overlaps by a little.
static void settle(bench *b, int32_t i) {
    stn_contact_set set = {.arena = b->arena};
    stn_contact_pair *pair = &b->pairs[i];
    stn_arena_reset(b->arena);
    pair->margin = 1e3;
    const stn_contact_scene scene = {.model = &b->model, .arena = b->arena};
    if (b->instance->desc->ops.contact->collide(b->instance->self, &scene, pair, 1, &set, NULL) == STN_OK &&
        set.count > 0) {
        const stn_contact *deepest = &set.contacts[0];
        for (int32_t k = 1; k < set.count; k++) {
            deepest = set.contacts[k].phi0 < deepest->phi0 ? &set.contacts[k] : deepest;
        }
        pair->pose_b.position = stn_vec3_mul_add(pair->pose_b.position, -1e-5 - deepest->phi0, deepest->normal);
    }
    pair->margin = 1e-4;
}

static void random_pairs(bench *b) {
    static const stn_shape_type types[] = {STN_SHAPE_SPHERE,    STN_SHAPE_BOX,       STN_SHAPE_CAPSULE,
                                           STN_SHAPE_CYLINDER,  STN_SHAPE_ELLIPSOID, STN_SHAPE_CONVEX,
                                           STN_SHAPE_HALF_SPACE};
    for (int32_t i_first = 0; i_first + 1 < STN_COUNT(types); i_first++) {
        for (int32_t i_second = i_first; i_second < STN_COUNT(types); i_second++) {
            stn_shape_type first = types[i_first], second = types[i_second];
            stn_random r = {7};
            for (int32_t i = 0; i < PAIRS; i++) {
                stn_shape s = random_shape(b, &r, first), t = random_shape(b, &r, second);
                place(b, i, s, random_pose(&r, 0.05), t, random_pose(&r, 0.05));
                settle(b, i);
            }
            double touching = run(b);
            int32_t contacts = b->contacts;
            for (int32_t i = 0; i < PAIRS; i++) { // neighbours that the broad phase passes on
                stn_contact_pair *pair = &b->pairs[i];
                stn_vec3 d =
                    second == STN_SHAPE_HALF_SPACE ? stn_mat3_column(&pair->pose_b.rotation, 2) : random_unit(&r);
                pair->pose_b.position =
                    stn_vec3_mul_add(pair->pose_a.position, second == STN_SHAPE_HALF_SPACE ? -0.2 : 0.14, d);
            }
            double near = run(b);
            char what[64];
            snprintf(what, sizeof what, "%s with %s", stn_shape_name(first), stn_shape_name(second));
            bench_row("pair", what, "Stiction", "", "ns", touching);
            bench_row("pair", what, "Stiction", "near", "ns", near);
            printf("%-10s %-10s  touching %6.0f ns (%.2f points)   near %6.0f ns (%.2f points)\n",
                   stn_shape_name(first), stn_shape_name(second), touching, (double)contacts / PAIRS, near,
                   (double)b->contacts / PAIRS);
        }
    }
}

static stn_pose at_height(stn_random *r, double roll, double z) {
    stn_pose x = {stn_mat3_from_rpy(roll, random_between(r, -1e-7, 1e-7), 0.0), {0.0, 0.0, z}};
    stn_mat3 yaw = stn_mat3_from_rpy(0.0, 0.0, random_between(r, -3.0, 3.0));
    x.rotation = stn_mat3_mul(&yaw, &x.rotation);
    x.position.x = random_between(r, -0.04, 0.04);
    x.position.y = random_between(r, -0.04, 0.04);
    return x;
}

static void at_rest(bench *b) {
    const stn_shape table = stn_shape_box(stn_vec3_make(0.2, 0.2, 0.1)),
                    cube = stn_shape_box(stn_vec3_make(0.05, 0.05, 0.05));
    const stn_shape can = stn_shape_cylinder(0.04, 0.06), pill = stn_shape_capsule(0.03, 0.05);
    const stn_shape log = stn_shape_cylinder(0.04, 0.3), egg = stn_shape_ellipsoid(stn_vec3_make(0.05, 0.04, 0.03));
    const stn_shape nut = prism(b, 6, 0.05, 0.05), ring = prism(b, 60, 0.05, 0.05), plate = prism(b, 4, 0.3, 0.1);
    const struct {
        const char *text;
        stn_shape below, above;
        double roll, height; // of the one above; the one below lies down too when it is a log
    } cases[] = {
        {"box flat on box", table, cube, 0.0, 0.15},
        {"box flat on equal box", cube, cube, 0.0, 0.1},
        {"cylinder on its cap on box", table, can, 0.0, 0.16},
        {"cylinder on its side on box", table, can, 0.5 * STN_PI, 0.14},
        {"capsule lying on box", table, pill, 0.5 * STN_PI, 0.13},
        {"cylinder on cylinder", can, can, 0.0, 0.12},
        {"box on cylinder", can, cube, 0.0, 0.11},
        {"box on half space", stn_shape_half_space(), cube, 0.0, 0.05},
        {"hexagonal hull on half space", stn_shape_half_space(), nut, 0.0, 0.05},
        {"hexagonal hull on box", table, nut, 0.0, 0.15},
        {"hexagonal hull on hull", plate, nut, 0.0, 0.15},
        {"60-sided hull on hull", plate, ring, 0.0, 0.15},
        {"box on hull", plate, cube, 0.0, 0.15},
        {"cylinder on its cap on hull", plate, can, 0.0, 0.16},
        {"capsule lying on hull", plate, pill, 0.5 * STN_PI, 0.13},
        {"ellipsoid on box", table, egg, 0.0, 0.13},
        {"log along log", log, log, 0.5 * STN_PI, 0.08},
        {"log across log", log, log, 0.5 * STN_PI, 0.08},
    };
    for (int32_t c = 0; c < STN_COUNT(cases); c++) {
        stn_random r = {9};
        for (int32_t i = 0; i < PAIRS; i++) {
            stn_pose below = stn_pose_identity(), above = at_height(&r, cases[c].roll, cases[c].height - 1e-6);
            if (cases[c].below.type == STN_SHAPE_CYLINDER && cases[c].roll != 0.0) {
                below.rotation = above.rotation =
                    stn_mat3_from_rpy(cases[c].roll, random_between(&r, -1e-6, 1e-6), 0.0);
                stn_mat3 yaw = stn_mat3_from_rpy(0.0, 0.0, c % 2 == 0 ? random_between(&r, -1e-6, 1e-6) : 1.0);
                above.rotation = stn_mat3_mul(&yaw, &above.rotation);
                above.position.x = random_between(&r, -1e-6, 1e-6);
                above.position.y *= c % 2 == 0 ? 1.0 : 0.1;
            }
            place(b, i, cases[c].below, below, cases[c].above, above);
        }
        double time = run(b);
        bench_row("pair", cases[c].text, "Stiction", "", "ns", time);
        printf("%-28s %6.0f ns (%.2f points)\n", cases[c].text, time, (double)b->contacts / PAIRS);
    }
}

/// A ground of cells of one size, level or wavy, over 2 m: as a height field, or as a mesh of the same triangles.
static stn_shape ground(bench *b, int32_t cells, bool wavy, bool field) {
    int32_t side = cells + 1;
    double *heights = malloc((size_t)(side * side) * sizeof *heights);
    for (int32_t i = 0; heights != NULL && i < side * side; i++) {
        double x = 2.0 * (i % side) / cells, y = 2.0 * (i / side) / cells;
        heights[i] = wavy ? 0.01 * sin(23.0 * x) * cos(19.0 * y) : 0.0;
    }
    const stn_height_field_spec spec = {side, side, 2.0, 2.0, heights};
    stn_mesh *grid = NULL, *mesh = NULL;
    if (heights == NULL || stn_mesh_create_height_field(b->context, &spec, &grid, NULL) != STN_OK) {
        printf("no height field\n");
        exit(1);
    }
    free(heights);
    const stn_mesh_data data = {
        grid->vertex_count, grid->triangle_count, 0, grid->vertices, grid->triangles, NULL, NULL};
    if (field || stn_mesh_create(b->context, &data, &mesh, NULL) != STN_OK) {
        return stn_shape_mesh(grid);
    }
    return stn_shape_mesh(mesh);
}

/// Bodies of 10 cm that touch a ground of 10 cm or 1 cm cells.
static void on_ground(bench *b) {
    static const int32_t cells[] = {20, 200};
    stn_random r = {11};
    const stn_shape bodies[] = {stn_shape_sphere(0.05), stn_shape_box(stn_vec3_make(0.05, 0.05, 0.05)),
                                stn_shape_cylinder(0.05, 0.05), blob(b, &r, 50, stn_vec3_make(0.05, 0.05, 0.05))};
    for (int32_t i = 0; i < 8; i++) {
        bool wavy = i / 4 != 0, field = i / 2 % 2 != 0;
        stn_shape below = ground(b, cells[i % 2], wavy, field);
        for (int32_t k = 0; k < STN_COUNT(bodies); k++) {
            for (int32_t p = 0; p < PAIRS; p++) {
                stn_pose above = random_pose(&r, 0.0);
                above.rotation = wavy ? above.rotation : stn_mat3_identity();
                above.position = stn_vec3_make(random_between(&r, -0.8, 0.8), random_between(&r, -0.8, 0.8), 0.2);
                place(b, p, below, stn_pose_identity(), bodies[k], above);
                settle(b, p);
            }
            double time = run(b);
            printf("%-8s on %-5s %s of %2d cm cells  %6.0f ns (%.2f points)\n", stn_shape_name(bodies[k].type),
                   wavy ? "wavy" : "level", field ? "height field" : "mesh", 200 / cells[i % 2], time,
                   (double)b->contacts / PAIRS);
        }
    }
}

int main(void) {
    static bench b;
    stn_error err = {0};
    if (stn_context_create(NULL, &b.context, &err) != STN_OK ||
        stn_instance_create(b.context, STN_KIND_CONTACT, "point", NULL, 0, &b.instance, &err) != STN_OK) {
        printf("%s\n", err.text);
        return 1;
    }
    b.arena = stn_arena_create(b.context);
    b.model = (stn_model){.geometry_count = 2 * PAIRS, .body_count = 3, .geometries = b.geometries};
    random_pairs(&b);
    at_rest(&b);
    on_ground(&b);
    stn_arena_destroy(b.arena);
    stn_instance_destroy(b.instance);
    stn_context_destroy(b.context);
    return 0;
}
