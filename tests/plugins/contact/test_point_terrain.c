// SPDX-License-Identifier: Apache-2.0
// Convex bodies against meshes and height fields.
#include <stdlib.h>
#include <string.h>

#include <stiction/mesh_query.h>

#include "point_terrain.h"

static stn_context *context_of(void **state) {
    return ((probe *)*state)->context;
}

enum { MOVERS = 6 };

/// One of each convex shape, of about half a metre times `size`.
static void movers(stn_random *r, stn_context *context, double size, stn_shape *shapes) {
    stn_vec3 h = {size * random_between(r, 0.2, 0.6), size * random_between(r, 0.2, 0.6),
                  size * random_between(r, 0.2, 0.6)};
    shapes[0] = stn_shape_sphere(h.x);
    shapes[1] = stn_shape_box(h);
    shapes[2] = stn_shape_capsule(0.5 * h.x, h.y);
    shapes[3] = stn_shape_cylinder(h.x, h.y);
    shapes[4] = stn_shape_ellipsoid(h);
    shapes[5] = stn_shape_mesh(hull_blob(r, context, 30, h, stn_vec3_make(0.1 * size, 0.0, 0.2 * size)));
}

static bool has_same(const stn_contact_set *set, const stn_contact *c, double tolerance) {
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *o = &set->contacts[i];
        if (stn_vec3_norm(stn_vec3_sub(o->point, c->point)) < tolerance && fabs(o->phi0 - c->phi0) < tolerance &&
            stn_vec3_norm(stn_vec3_sub(o->normal, c->normal)) < 1e-9) {
            return true;
        }
    }
    return false;
}

/// Any triangles in a plane are that plane: the same points, distances and normals, edges or not.
static void a_plane_of_triangles_answers_like_a_half_space(void **state) {
    stn_random r = {3};
    static const double sizes[] = {1e-4, 1.0, 1e4};
    for (int32_t i = 0; i < 240; i++) {
        stn_shape shapes[MOVERS];
        double size = sizes[i % 3];
        movers(&r, context_of(state), size, shapes);
        stn_pose tilt = random_pose(&r, size), world = random_pose(&r, size);
        stn_mesh *mesh = i % 8 == 7
                             ? terrain_field(context_of(state), 30, 8.0 * size, level)
                             : terrain_mesh(&r, context_of(state), 4 + i % 40, 8.0 * size, i % 4 == 1, level, &tilt);
        tilt = i % 8 == 7 ? stn_pose_identity() : tilt;
        placed ground = {stn_shape_mesh(mesh), world}, plane = {stn_shape_half_space(), stn_pose_mul(&world, &tilt)};
        placed body = {shapes[i / 3 % MOVERS], random_pose(&r, size)};
        body.pose.rotation = i % 5 == 0 ? plane.pose.rotation : body.pose.rotation;
        stn_vec3 up = stn_mat3_column(&plane.pose.rotation, 2);
        body.pose.position = stn_vec3_mul_add(plane.pose.position, 3.0 * size, up);
        double gap = smallest_phi(touch(state, body, plane, 1e9));
        double target = random_between(&r, -0.1, 0.1) * size;
        body.pose.position = stn_vec3_mul_add(body.pose.position, target - gap, up);
        const stn_contact_set *set = touch(state, body, plane, 0.2 * size);
        int32_t count = set->count;
        stn_contact expected[16];
        memcpy(expected, set->contacts, (size_t)count * sizeof *expected);
        set = touch(state, body, ground, 0.2 * size);
        assert_int_equal(set->count, count);
        for (int32_t k = 0; k < count; k++) {
            assert_true(has_same(set, &expected[k], 1e-9 * size));
        }
        stn_mesh_release(mesh);
        stn_mesh_release(shapes[5].mesh);
    }
}

/// The surface of a box is the box: apart, and sunk in by a little.
static void a_closed_mesh_of_a_box_answers_like_the_box(void **state) {
    stn_random r = {5};
    int32_t failures = 0, others = 0;
    double worst = 0.0;
    for (int32_t i = 0; i < 1200; i++) {
        stn_shape shapes[MOVERS];
        movers(&r, context_of(state), 1.0, shapes);
        stn_vec3 h = {random_between(&r, 0.3, 1.0), random_between(&r, 0.3, 1.0), random_between(&r, 0.3, 1.0)};
        stn_mesh *mesh = terrain_box(context_of(state), h, 1 + i % 4);
        placed ground = {stn_shape_mesh(mesh), random_pose(&r, 1.0)}, box = {stn_shape_box(h), ground.pose};
        placed body = {shapes[i % MOVERS], random_pose(&r, 1.0)};
        body.pose.rotation = i % 5 == 0 ? box.pose.rotation : body.pose.rotation;
        body.pose.position = stn_vec3_mul_add(ground.pose.position, 3.0, random_unit(&r));
        double gap = i % 2 == 0 ? random_between(&r, 1e-6, 0.5) : -random_between(&r, 0.0, 2e-3);
        for (int32_t k = 0; k < 3; k++) {
            const stn_contact_set *set = touch(state, body, box, 1e9);
            const stn_contact *deepest = &set->contacts[0];
            for (int32_t c = 1; c < set->count; c++) {
                deepest = set->contacts[c].phi0 < deepest->phi0 ? &set->contacts[c] : deepest;
            }
            body.pose.position = stn_vec3_mul_add(body.pose.position, deepest->phi0 - gap, deepest->normal);
        }
        double expected = smallest_phi(touch(state, body, box, 1.0)),
               found = smallest_phi(touch(state, body, ground, 1.0));
        double error = fabs(found - expected);
        worst = worse(worst, gap > 0.0 ? error : 0.0);
        bool another = gap < 0.0 && found < expected && found > 1.25 * expected; // two ways out of nearly one depth
        others += another && error > 1e-9;
        if (!(error <= 1e-9 || another)) {
            failures++;
            print_message("case %d, %s: %.12g instead of %.12g\n", i, stn_shape_name(body.shape.type), found, expected);
        }
        stn_mesh_release(mesh);
        stn_mesh_release(shapes[5].mesh);
    }
    print_message("apart: worst error %.2g m; in overlap: %d of 600 report a deeper way out beside\n", worst, others);
    assert_int_equal(failures, 0);
    assert_true(others < 90);
}

// ------------------------------------------------------------------------------------------------- brute force

static double hills(double x, double y) {
    return 0.5 * sin(1.3 * x + 0.4) * cos(0.9 * y) + 0.2 * sin(4.0 * x - 3.0 * y);
}

/// Distance of a point from a convex body that it lies outside of; 0 inside.
static double outside(const placed *body, stn_vec3 world) {
    stn_vec3 q = stn_pose_apply_inverse(&body->pose, world), h = body->shape.half_extents;
    double r = body->shape.radius, l = body->shape.half_length, rho = hypot(q.x, q.y), z = fmax(fabs(q.z) - l, 0.0);
    switch (body->shape.type) {
    case STN_SHAPE_SPHERE:
        return fmax(stn_vec3_norm(q) - r, 0.0);
    case STN_SHAPE_BOX:
    case STN_SHAPE_CONVEX: // these are boxes too
        h = body->shape.mesh != NULL ? body->shape.mesh->bounds.upper : h;
        return hypot(hypot(fmax(fabs(q.x) - h.x, 0.0), fmax(fabs(q.y) - h.y, 0.0)), fmax(fabs(q.z) - h.z, 0.0));
    case STN_SHAPE_CAPSULE:
        return fmax(hypot(rho, z) - r, 0.0);
    default:
        return hypot(fmax(rho - r, 0.0), z);
    }
}

/// The least of a convex function over [low, high] by golden sections.
typedef struct section {
    const placed *body;
    stn_vec3 from, to, apex;
} section;

static double along_chord(const section *c, double t) { // over the chord at share t from the base to the apex
    stn_vec3 a = stn_vec3_mul_add(stn_vec3_scale(1.0 - t, c->from), t, c->apex);
    stn_vec3 b = stn_vec3_mul_add(stn_vec3_scale(1.0 - t, c->to), t, c->apex), d = stn_vec3_sub(b, a);
    const double golden = 0.6180339887498949;
    double low = 0.0, high = 1.0, x = 1.0 - golden, y = golden;
    double f = outside(c->body, stn_vec3_mul_add(a, x, d)), g = outside(c->body, stn_vec3_mul_add(a, y, d));
    while (high - low > 1e-9) {
        if (f < g) {
            high = y;
            y = x;
            g = f;
            x = high - golden * (high - low);
            f = outside(c->body, stn_vec3_mul_add(a, x, d));
        } else {
            low = x;
            x = y;
            f = g;
            y = low + golden * (high - low);
            g = outside(c->body, stn_vec3_mul_add(a, y, d));
        }
    }
    return fmin(fmin(f, g), fmin(outside(c->body, a), outside(c->body, b)));
}

static double over_triangle(const section *c) {
    const double golden = 0.6180339887498949;
    double low = 0.0, high = 1.0, x = 1.0 - golden, y = golden, f = along_chord(c, x), g = along_chord(c, y);
    while (high - low > 1e-9) {
        bool left = f < g;
        *(left ? &high : &low) = left ? y : x;
        double next = left ? high - golden * (high - low) : low + golden * (high - low);
        double value = along_chord(c, next);
        *(left ? &y : &x) = left ? x : y;
        *(left ? &g : &f) = left ? f : g;
        *(left ? &x : &y) = next;
        *(left ? &f : &g) = value;
    }
    return fmin(fmin(f, g), fmin(along_chord(c, 0.0), along_chord(c, 1.0)));
}

/// The smallest distance over all triangles; those whose corners are all far off are passed over.
static double brute_distance(const placed *ground, const placed *body, double reach) {
    const stn_mesh *mesh = ground->shape.mesh;
    double least = INFINITY;
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        stn_vec3 p[3];
        double near = INFINITY, longest = 0.0;
        for (int32_t k = 0; k < 3; k++) {
            const double *x = mesh->vertices + 3 * (size_t)mesh->triangles[3 * i + k];
            p[k] = stn_pose_apply(&ground->pose, stn_vec3_make(x[0], x[1], x[2]));
            near = fmin(near, stn_vec3_norm(stn_vec3_sub(p[k], body->pose.position)));
        }
        for (int32_t k = 0; k < 3; k++) {
            longest = fmax(longest, stn_vec3_norm(stn_vec3_sub(p[k], p[(k + 1) % 3])));
        }
        if (near - longest - reach < least) {
            const section c = {body, p[0], p[1], p[2]};
            least = fmin(least, over_triangle(&c));
        }
    }
    return least;
}

static int32_t cases_of_brute_force = 240;

/// Apart, the distance over random hills is that of the nearest of all triangles.
static void the_distance_is_that_of_the_nearest_triangle(void **state) {
    stn_random r = {7};
    double worst[2] = {0.0, 0.0};
    int32_t failures = 0, apart = 0;
    for (int32_t i = 0; i < cases_of_brute_force; i++) {
        const stn_pose turned_by = random_pose(&r, 1.0), own = i % 2 == 0 ? random_pose(&r, 1.0) : stn_pose_identity();
        stn_mesh *mesh = i % 2 == 0 ? terrain_mesh(&r, context_of(state), 4 + i % 12, 3.0, i % 8 == 2, hills, &own)
                                    : terrain_field(context_of(state), 4 + i % 12, 3.0, hills);
        placed ground = {stn_shape_mesh(mesh), turned_by}, body = {.pose = random_pose(&r, 0.0)};
        double s = random_size(&r, 0.02, 1.0);
        stn_vec3 h = stn_vec3_scale(s, stn_vec3_make(1.0, random_between(&r, 0.2, 1.0), random_between(&r, 0.2, 1.0)));
        int32_t kind = i / 2 % 5;
        body.shape = kind == 0   ? stn_shape_sphere(s)
                     : kind == 1 ? stn_shape_box(h)
                     : kind == 2 ? stn_shape_capsule(h.x, h.y)
                     : kind == 3 ? stn_shape_cylinder(h.y, h.z)
                                 : stn_shape_mesh(hull_box(context_of(state), h));
        stn_pose at = stn_pose_mul(&ground.pose, &own);
        double x = random_between(&r, -3.0, 3.0), y = random_between(&r, -3.0, 3.0);
        double z = hills(x, y) + s + random_size(&r, 1e-3, 2.0);
        body.pose.position = stn_pose_apply(&at, stn_vec3_make(x, y, z));
        double expected = brute_distance(&ground, &body, 2.0 * s);
        stn_vec3 up = stn_mat3_column(&at.rotation, 2);
        stn_ray_hit over;
        bool above = !stn_shape_raycast(&ground.shape, &ground.pose, body.pose.position, up, 100.0, &over);
        if (expected > 1e-6 && above) {
            double found = smallest_phi(touch(state, body, ground, i % 3 == 0 ? 1e9 : 2.0 * expected));
            double error = fabs(found - expected);
            apart++;
            worst[kind > 0] = worse(worst[kind > 0], i % 8 == 2 ? 0.0 : error);
            if (!(error <= (i % 8 == 2 ? 1e-5 : 1e-8))) { // needles are 1e-6 of a cell wide
                failures++;
                print_message("case %d, %s: %.12g instead of %.12g\n", i, stn_shape_name(body.shape.type), found,
                              expected);
            }
        }
        stn_mesh_release(mesh);
        stn_mesh_release(body.shape.mesh);
    }
    print_message("%d apart, worst error %.2g m of spheres, %.2g m of others\n", apart, worst[0], worst[1]);
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--full") == 0) {
        cases_of_brute_force = argc > 2 ? (int32_t)strtol(argv[2], NULL, 10) : 10000;
    }
    const struct CMUnitTest tests[] = {
        REST(a_plane_of_triangles_answers_like_a_half_space),
        REST(a_closed_mesh_of_a_box_answers_like_the_box),
        REST(the_distance_is_that_of_the_nearest_triangle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
