// SPDX-License-Identifier: Apache-2.0
// Queries of a world against closed forms of balls, cubes and the ground, and against a look at every geometry.
#include "scenes.h"

#include <string.h>

#include "stn_heap.h"
#include "stn_random_pose.h"

enum { BALLS = 40, CUBES = 20, BODIES = BALLS + CUBES };

static double radius_of(int32_t i) {
    return 0.05 + 0.01 * (i % 7);
}

/// Balls and cubes (0.2 m) about the origin and the ground far below. Geometry i + 1 is that of body i + 1.
static stn_world *make_world(stn_context *context) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(context, &options);
    stn_random r = {21};
    scene_ground(world);
    for (int32_t i = 0; i < BODIES; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        stn_vec3 at = stn_vec3_add(random_vec3(&r, 1.0), stn_vec3_make(0.0, 0.0, 3.0));
        if (i < BALLS) {
            scene_ball(world, name, 1.0, radius_of(i), at);
        } else {
            scene_cube(world, name, 1.0, at);
        }
    }
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    assert_int_equal(stn_world_model(world)->geometry_count, BODIES + 1);
    return world;
}

static stn_pose pose_of(stn_world *world, int32_t geometry) {
    const stn_geometry *g = &stn_world_model(world)->geometries[geometry];
    return stn_pose_mul(&stn_world_kinematics(world)->body_pose[g->body], &g->pose);
}

/// Accepts [first, last].
typedef struct range {
    int32_t first, last;
} range;

static bool in_range(const void *user, int32_t geometry) {
    const range *r = user;
    return geometry >= r->first && geometry <= r->last;
}

static stn_query only(const range *r) {
    stn_query query = {.accepts = in_range, .user = r};
    return query;
}

/// Signed distance of a point from a cube of half side 0.1 in its frame.
static double cube_distance(stn_vec3 p) {
    stn_vec3 d = {fabs(p.x) - 0.1, fabs(p.y) - 0.1, fabs(p.z) - 0.1};
    stn_vec3 out = {fmax(d.x, 0.0), fmax(d.y, 0.0), fmax(d.z, 0.0)};
    return stn_vec3_norm(out) + fmin(fmax(d.x, fmax(d.y, d.z)), 0.0);
}

/// Signed distance of a point from a geometry.
static double point_distance(stn_world *world, int32_t geometry, stn_vec3 p) {
    stn_pose pose = pose_of(world, geometry);
    stn_vec3 local = stn_pose_apply_inverse(&pose, p);
    if (geometry == 0) {
        return local.z;
    }
    return geometry <= BALLS ? stn_vec3_norm(local) - radius_of(geometry - 1) : cube_distance(local);
}

static void shuffle(stn_world *world, stn_random *r, double spread) {
    stn_error err;
    for (int32_t i = 0; i < BODIES; i++) {
        stn_pose pose = random_pose(r, spread);
        pose.position.z += 3.0;
        assert_ok(stn_world_set_body_pose(world, i + 1, &pose, &err), err);
    }
}

// --------------------------------------------------------------------------------------------------------- rays

static void a_ray_meets_the_nearest_of_all_shapes(void **state) {
    stn_world *world = make_world(*state);
    const stn_model *model = stn_world_model(world);
    stn_random r = {22};
    const range half = {10, 45};
    const stn_query some = only(&half);
    stn_error err;
    int32_t hits = 0;
    for (int32_t i = 0; i < 2000; i++) {
        if (i % 50 == 0) {
            shuffle(world, &r, 0.6); // what was computed for the last state must not be used
        }
        stn_vec3 o = random_vec3(&r, 3.0), d = stn_vec3_scale(random_size(&r, 0.1, 10.0), random_unit(&r));
        d = i % 9 == 0 ? stn_vec3_make(0.0, i % 2 == 0 ? 0.0 : 2.0, i % 2 == 0 ? -1.0 : 0.0) : d;
        o.z += 3.0;
        if (i % 3 == 1) { // towards the bodies
            d = stn_vec3_sub(stn_vec3_add(random_vec3(&r, 0.6), stn_vec3_make(0.0, 0.0, 3.0)), o);
        }
        double max = i % 3 == 0 ? 1.5 : (double)INFINITY, best = max;
        const stn_query *query = i % 2 == 0 ? NULL : &some;
        int32_t expected = -1;
        for (int32_t g = 0; g < model->geometry_count; g++) {
            stn_pose pose = pose_of(world, g);
            stn_ray_hit hit;
            bool asked = query == NULL || in_range(&half, g);
            if (asked && stn_shape_raycast(&model->geometries[g].shape, &pose, o, d, max, &hit) &&
                (expected < 0 || hit.distance < best)) {
                best = hit.distance;
                expected = g;
            }
        }
        stn_world_hit found;
        assert_ok(stn_world_raycast(world, query, o, d, max, &found, &err), err);
        assert_int_equal(found.geometry, expected);
        if (expected >= 0) {
            hits++;
            assert_near(found.ray.distance, best, 1e-10); // a grazing ray multiplies the rounding of its direction
            assert_near(point_distance(world, expected, found.ray.point) * (found.ray.inside ? 0.0 : 1.0), 0.0, 1e-12);
        }
    }
    print_message("rays in a world: %d hits of 2000\n", hits);
    assert_true(hits > 500 && hits < 1900);
    const stn_query drawn = {.visual = true};
    stn_world_hit found;
    assert_ok(stn_world_raycast(world, &drawn, stn_vec3_make(9.0, 9.0, 2.0), stn_vec3_make(0.0, 0.0, -1.0), INFINITY,
                                &found, &err),
              err);
    assert_int_equal(found.geometry, model->geometries[0].visual ? 0 : -1);
    stn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------------- distances

static void assert_witnesses(stn_world *world, const stn_world_distance_result *d, double tolerance) {
    stn_vec3 apart = stn_vec3_sub(d->point_b, d->point_a);
    assert_near(stn_vec3_norm(d->normal), 1.0, 1e-12);
    assert_near(stn_vec3_norm(stn_vec3_mul_add(apart, -d->distance, d->normal)), 0.0, tolerance);
    assert_near(point_distance(world, d->geometry_a, d->point_a), 0.0, tolerance);
    assert_near(point_distance(world, d->geometry_b, d->point_b), 0.0, tolerance);
}

static void the_distance_of_two_balls_is_that_of_their_centres_less_the_radii(void **state) {
    stn_world *world = make_world(*state);
    stn_random r = {23};
    stn_error err;
    int32_t overlaps = 0;
    for (int32_t i = 0; i < 2000; i++) {
        if (i % 100 == 0) {
            shuffle(world, &r, 0.2);
        }
        int32_t a = 1 + random_below(&r, BALLS), b = 1 + random_below(&r, BALLS - 1);
        b += b >= a;
        const range one = {a, a}, other = {b, b};
        const stn_query qa = only(&one), qb = only(&other);
        stn_vec3 centre = pose_of(world, b).position;
        double expected = point_distance(world, a, centre) - radius_of(b - 1);
        stn_world_distance_result d, swapped;
        assert_ok(stn_world_distance(world, &qa, &qb, INFINITY, &d, &err), err);
        assert_true(d.geometry_a == a && d.geometry_b == b);
        assert_near(d.distance, expected, 1e-14);
        assert_witnesses(world, &d, 1e-13);
        overlaps += expected < 0.0;
        assert_ok(stn_world_distance(world, &qb, &qa, INFINITY, &swapped, &err), err);
        assert_near(swapped.distance, d.distance, 0.0);
        assert_near(stn_vec3_norm(stn_vec3_add(swapped.normal, d.normal)), 0.0, 0.0);
        assert_near(stn_vec3_norm(stn_vec3_sub(swapped.point_a, d.point_b)), 0.0, 1e-15);
        assert_ok(stn_world_distance(world, &qa, &qb, expected + 1e-9, &d, &err), err);
        assert_int_equal(d.geometry_a, a);
        assert_ok(stn_world_distance(world, &qa, &qb, expected - 1e-9, &d, &err), err);
        assert_true(d.geometry_a == -1 && d.geometry_b == -1 && isinf(d.distance));
    }
    assert_true(overlaps > 5);
    stn_world_destroy(world);
}

static void the_distance_of_two_groups_is_the_smallest_of_all_their_pairs(void **state) {
    stn_world *world = make_world(*state);
    stn_random r = {24};
    stn_error err;
    for (int32_t i = 0; i < 200; i++) {
        shuffle(world, &r, 1.2);
        const range balls = {1 + random_below(&r, 20), 20 + random_below(&r, 20)},
                    solids = {BALLS + 1 + random_below(&r, 10), BALLS + 10 + random_below(&r, 10)};
        const range some = i % 3 == 0 ? (range){0, 0} : solids; // the ground has no end
        const stn_query qa = only(&some), qb = only(&balls);
        double expected = INFINITY;
        for (int32_t a = some.first; a <= some.last; a++) {
            for (int32_t b = balls.first; b <= balls.last; b++) {
                expected = fmin(expected, point_distance(world, a, pose_of(world, b).position) - radius_of(b - 1));
            }
        }
        stn_world_distance_result d;
        assert_ok(stn_world_distance(world, &qa, &qb, INFINITY, &d, &err), err);
        assert_near(d.distance, expected, 1e-13);
        assert_true(in_range(&some, d.geometry_a) && in_range(&balls, d.geometry_b));
        assert_witnesses(world, &d, 1e-12);
    }
    stn_world_destroy(world);
}

/// Free bodies of every convex type with a solid, twice each.
static stn_world *make_zoo(stn_context *context, const stn_mesh *hull) {
    const stn_shape shapes[] = {
        stn_shape_sphere(0.1),         stn_shape_box(stn_vec3_make(0.1, 0.05, 0.2)),       stn_shape_capsule(0.05, 0.1),
        stn_shape_cylinder(0.1, 0.05), stn_shape_ellipsoid(stn_vec3_make(0.2, 0.1, 0.05)), stn_shape_mesh(hull)};
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(context, &options);
    stn_model_builder *builder = stn_world_builder(world);
    stn_error err;
    for (int32_t i = 0; i < 2 * STN_COUNT(shapes); i++) {
        char name[16];
        int32_t robot, link, geometry;
        snprintf(name, sizeof name, "b%d", i);
        stn_geometry_spec spec = stn_geometry_spec_default(shapes[i / 2]);
        stn_link_spec body = {.name = name};
        assert_ok(stn_shape_mass(&spec.shape, 1.0, &body.mass, &err), err);
        assert_ok(stn_builder_begin_group(builder, name, &robot, &err), err);
        assert_ok(stn_builder_add_link(builder, &body, &link, &err), err);
        if (spec.shape.mesh != NULL) {
            assert_ok(stn_builder_add_mesh(builder, NULL, stn_vec3_make(1.0, 1.0, 1.0), hull, &spec.mesh, &err), err);
        }
        assert_ok(stn_builder_add_geometry(builder, link, &spec, &geometry, &err), err);
    }
    assert_ok(stn_world_compile(world, &err), err);
    return world;
}

static stn_mesh *make_hull(stn_context *context) {
    stn_random r = {27};
    double points[3 * 40];
    int32_t ids[3 * 40];
    for (int32_t i = 0; i < 40; i++) {
        stn_vec3 p = stn_vec3_scale(0.15, random_unit(&r));
        memcpy(points + 3 * i, &p, sizeof p);
        for (int32_t k = 0; k < 3; k++) {
            ids[3 * i + k] = (i + k) % 40;
        }
    }
    const stn_mesh_data data = {40, 40, 0, points, ids, NULL, NULL};
    stn_mesh *cloud = NULL, *hull = NULL;
    stn_error err;
    assert_ok(stn_mesh_create(context, &data, &cloud, &err), err);
    assert_ok(stn_mesh_create_hull(cloud, &hull, &err), err);
    stn_mesh_release(cloud);
    return hull;
}

/// How far the geometry reaches along a direction.
static double reach_along(stn_world *world, int32_t g, stn_vec3 direction) {
    stn_pose pose = pose_of(world, g);
    stn_vec3 local = stn_mat3_apply_transposed(&pose.rotation, direction);
    stn_vec3 p = stn_shape_support(&stn_world_model(world)->geometries[g].shape, local);
    return stn_vec3_dot(stn_pose_apply(&pose, p), direction);
}

/// Two bodies apart: no pair of points is nearer than the gap between their supports along any direction, and the
/// witness points are no nearer than the distance. Where both agree, it is the distance.
static void distances_of_all_convex_types_are_proved_by_supports_and_witnesses(void **state) {
    stn_mesh *hull = make_hull(*state);
    stn_world *world = make_zoo(*state, hull);
    stn_random r = {28};
    stn_error err;
    double worst = 0.0;
    int32_t cases = 0;
    const int32_t count = stn_world_model(world)->geometry_count;
    for (int32_t i = 0; i < 200; i++) {
        double spread = i % 4 == 0 ? 100.0 : 0.5;
        for (int32_t b = 0; b < count; b++) {
            stn_pose pose = random_pose(&r, spread);
            assert_ok(stn_world_set_body_pose(world, b + 1, &pose, &err), err);
        }
        for (int32_t a = 0; a < count; a++) {
            for (int32_t b = a + 1; b < count; b++) {
                const range one = {a, a}, other = {b, b};
                const stn_query qa = only(&one), qb = only(&other);
                stn_world_distance_result d;
                assert_ok(stn_world_distance(world, &qa, &qb, INFINITY, &d, &err), err);
                assert_int_equal(d.geometry_a, a);
                if (d.distance > 0.0) {
                    double below = -reach_along(world, b, stn_vec3_neg(d.normal)) - reach_along(world, a, d.normal);
                    double above = stn_vec3_norm(stn_vec3_sub(d.point_b, d.point_a));
                    assert_near(stn_vec3_dot(d.normal, stn_vec3_sub(d.point_b, d.point_a)), d.distance, 1e-9 * above);
                    double gap = fmax(fabs(d.distance - below), fabs(d.distance - above));
                    worst = worse(worst, gap / (1.0 + d.distance));
                    cases++;
                }
            }
        }
    }
    print_message("distances proved: %d, worst gap %.2g\n", cases, worst);
    assert_true(cases > 10000);
    assert_near(worst, 0.0, 1e-9);
    stn_world_destroy(world);
    stn_mesh_release(hull);
}

/// Two rods across the z axis, 0.3 m apart and at a small angle: the distance is that of their axes less the radii, and
/// the points lie at the crossing.
static void sides_that_are_nearly_parallel_meet_at_the_crossing(void **state) {
    stn_error err;
    stn_random r = {31};
    for (int32_t type = 0; type < 4; type++) {
        stn_world_options options = stn_world_options_default();
        stn_world *world = scene_world(*state, &options);
        for (int32_t k = 0; k < 2; k++) {
            stn_shape shape = (type >> k) & 1 ? stn_shape_capsule(0.05, 0.4) : stn_shape_cylinder(0.05, 0.4);
            stn_geometry_spec spec = stn_geometry_spec_default(shape);
            scene_body(world, k == 0 ? "first" : "second", 1.0, &spec, stn_vec3_zero());
        }
        assert_ok(stn_world_compile(world, &err), err);
        for (int32_t i = 0; i < 300; i++) {
            stn_pose frame = random_pose(&r, 1.0);
            double angle = random_size(&r, 1e-6, 0.5), along = random_between(&r, -0.2, 0.2);
            for (int32_t k = 0; k < 2; k++) {
                double turned = k == 0 ? 0.5 * angle : -0.5 * angle; // about z, from the x axis
                stn_vec3 axis = {cos(turned), sin(turned), 0.0}, z = {0.0, 0.0, 1.0};
                stn_pose pose = {stn_mat3_columns(stn_vec3_cross(axis, z), stn_vec3_neg(z), axis),
                                 stn_vec3_mul_add(stn_vec3_make(0.0, 0.0, 0.3 * k), k == 0 ? along : -along, axis)};
                pose = stn_pose_mul(&frame, &pose);
                assert_ok(stn_world_set_body_pose(world, k + 1, &pose, &err), err);
            }
            const range one = {0, 0}, other = {1, 1};
            const stn_query a = only(&one), b = only(&other);
            stn_world_distance_result d;
            assert_ok(stn_world_distance(world, &a, &b, INFINITY, &d, &err), err);
            assert_near(d.distance, 0.2, 1e-12);
            assert_near(stn_vec3_norm(stn_vec3_sub(d.point_b, d.point_a)), 0.2, 1e-11);
            if (angle > 1e-3) { // flatter ones leave the place open
                stn_vec3 middle = stn_vec3_scale(0.5, stn_vec3_add(d.point_a, d.point_b));
                stn_vec3 expected = stn_pose_apply(&frame, stn_vec3_make(0.0, 0.0, 0.15));
                assert_near(stn_vec3_norm(stn_vec3_sub(middle, expected)), 0.0, 1e-8);
            }
        }
        stn_world_destroy(world);
    }
}

static void bodies_far_apart_keep_their_accuracy(void **state) {
    stn_world *world = make_world(*state);
    stn_error err;
    const range one = {1, 1}, other = {2, 2}, ground = {0, 0};
    const stn_query a = only(&one), b = only(&other), floor = only(&ground);
    for (double far_away = 1.0; far_away < 1e8; far_away *= 10.0) {
        stn_pose pose = {stn_mat3_identity(), {0.0, far_away, far_away}};
        assert_ok(stn_world_set_body_pose(world, 1, &pose, &err), err);
        pose.position = stn_vec3_make(far_away, far_away, far_away);
        assert_ok(stn_world_set_body_pose(world, 2, &pose, &err), err);
        stn_world_distance_result d;
        assert_ok(stn_world_distance(world, &a, &b, INFINITY, &d, &err), err);
        assert_near(d.distance, far_away - radius_of(0) - radius_of(1), 1e-15 * far_away);
        assert_ok(stn_world_distance(world, &floor, &b, INFINITY, &d, &err), err);
        assert_near(d.distance, far_away - radius_of(1), 1e-15 * far_away);
    }
    stn_world_destroy(world);
}

static void the_nearest_shape_to_a_point_is_found_and_inside_is_negative(void **state) {
    stn_world *world = make_world(*state);
    stn_random r = {25};
    stn_error err;
    int32_t inside = 0;
    for (int32_t i = 0; i < 2000; i++) {
        if (i % 100 == 0) {
            shuffle(world, &r, 1.2);
        }
        stn_vec3 p = random_vec3(&r, i % 3 == 0 ? 30.0 : 1.2);
        p.z += 3.0;
        double expected = INFINITY;
        for (int32_t g = 0; g <= BODIES; g++) {
            expected = fmin(expected, point_distance(world, g, p));
        }
        stn_world_distance_result d;
        assert_ok(stn_world_nearest(world, NULL, p, INFINITY, &d, &err), err);
        assert_true(d.geometry_a >= 0 && d.geometry_b == -1);
        assert_near(d.distance, expected, 1e-13 * (1.0 + fabs(expected)));
        assert_near(point_distance(world, d.geometry_a, p), expected, 1e-13 * (1.0 + fabs(expected)));
        assert_near(point_distance(world, d.geometry_a, d.point_a), 0.0, 1e-12);
        assert_near(stn_vec3_norm(stn_vec3_sub(stn_vec3_mul_add(d.point_a, d.distance, d.normal), p)), 0.0, 2e-12);
        inside += expected < 0.0;
        assert_ok(stn_world_nearest(world, NULL, p, fmax(expected, 0.0) + 1e-8, &d, &err), err);
        assert_true(d.geometry_a >= 0);
        assert_ok(stn_world_nearest(world, NULL, p, expected - 1e-8, &d, &err), err);
        assert_int_equal(d.geometry_a, -1);
    }
    assert_true(inside > 100);
    stn_world_destroy(world);
}

static void a_shape_overlaps_what_is_within_its_margin(void **state) {
    stn_world *world = make_world(*state);
    stn_random r = {26};
    stn_error err;
    int32_t total = 0;
    for (int32_t i = 0; i < 1000; i++) {
        if (i % 100 == 0) {
            shuffle(world, &r, 1.2);
        }
        stn_pose pose = random_pose(&r, 1.2);
        pose.position.z += 3.0;
        double size = random_size(&r, 0.01, 1.0), margin = i % 2 == 0 ? 0.0 : 0.1;
        stn_shape ball = stn_shape_sphere(size);
        const stn_world_overlap_result *found = NULL;
        int32_t count = 0, k = 0;
        assert_ok(stn_world_overlap(world, NULL, &ball, &pose, margin, &found, &count, &err), err);
        for (int32_t g = 0; g <= BODIES; g++) {
            double distance = point_distance(world, g, pose.position) - size;
            if (distance <= margin) {
                assert_true(k < count);
                assert_int_equal(found[k].geometry, g);
                assert_near(found[k].distance, distance, 1e-13);
                k++;
            }
        }
        assert_int_equal(k, count);
        total += count;
        const range none = {1000, 1000};
        const stn_query query = only(&none);
        assert_ok(stn_world_overlap(world, &query, &ball, &pose, margin, &found, &count, &err), err);
        assert_int_equal(count, 0);
    }
    assert_true(total > 1000);
    stn_world_destroy(world);
}

// --------------------------------------------------------------------------------------- what queries leave alone

static void queries_change_no_step(void **state) {
    stn_world *worlds[2] = {make_world(*state), make_world(*state)};
    stn_error err;
    for (int32_t i = 0; i < 100; i++) {
        for (int32_t k = 0; k < 2; k++) {
            assert_ok(stn_world_step(worlds[k], &err), err);
        }
        const stn_contact_set *contacts = stn_world_observation(worlds[1])->contacts;
        stn_contact first = contacts->count > 0 ? contacts->contacts[0] : (stn_contact){0};
        const range one = {1, 30}, other = {31, BODIES};
        const stn_query a = only(&one), b = only(&other);
        stn_world_distance_result d;
        stn_world_hit hit;
        const stn_world_overlap_result *found = NULL;
        int32_t count = 0;
        stn_shape box = stn_shape_box(stn_vec3_make(1.0, 1.0, 1.0));
        stn_pose pose = {stn_mat3_identity(), {0.0, 0.0, 3.0}};
        assert_ok(stn_world_distance(worlds[1], &a, &b, INFINITY, &d, &err), err);
        assert_ok(stn_world_nearest(worlds[1], NULL, pose.position, INFINITY, &d, &err), err);
        assert_ok(stn_world_raycast(worlds[1], NULL, pose.position, pose.position, INFINITY, &hit, &err), err);
        assert_ok(stn_world_overlap(worlds[1], NULL, &box, &pose, 0.0, &found, &count, &err), err);
        assert_true(contacts->count == 0 || memcmp(&first, &contacts->contacts[0], sizeof first) == 0);
        assert_true(stn_world_hash(worlds[0]) == stn_world_hash(worlds[1]));
    }
    stn_world_destroy(worlds[0]);
    stn_world_destroy(worlds[1]);
}

static void a_query_that_makes_no_sense_says_so(void **state) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    scene_ball(world, "ball", 1.0, 0.1, stn_vec3_make(0.0, 0.0, 1.0));
    stn_vec3 o = {0.0, 0.0, 2.0}, d = {0.0, 0.0, -1.0}, nan = {0.0, NAN, 0.0};
    stn_world_hit hit;
    stn_world_distance_result result;
    const stn_world_overlap_result *found;
    int32_t count;
    double number, torque[6];
    stn_spatial wrench;
    stn_shape bad = stn_shape_sphere(-1.0), plane = stn_shape_half_space();
    stn_pose here = stn_pose_identity();
    stn_error err;
    assert_int_equal(stn_world_raycast(world, NULL, o, d, 1.0, &hit, &err), STN_ERR_SEQUENCE);
    assert_int_equal(stn_world_distance(world, NULL, NULL, 1.0, &result, &err), STN_ERR_SEQUENCE);
    assert_int_equal(stn_world_nearest(world, NULL, o, 1.0, &result, &err), STN_ERR_SEQUENCE);
    assert_int_equal(stn_world_overlap(world, NULL, &plane, &here, 0.0, &found, &count, &err), STN_ERR_SEQUENCE);
    const stn_near_pair *near;
    assert_int_equal(stn_world_near_pairs(world, NULL, NULL, 1.0, &near, &count, &err), STN_ERR_SEQUENCE);
    assert_int_equal(stn_world_condition_number(world, &number, &err), STN_ERR_SEQUENCE);
    assert_int_equal(stn_world_check_sensor(world, 0, true, &err), STN_ERR_SEQUENCE);
    assert_int_equal(stn_world_joint_torque(world, 0, torque, &err), STN_ERR_SEQUENCE);
    assert_int_equal(stn_world_link_wrench(world, 0, &wrench, &err), STN_ERR_SEQUENCE);
    assert_int_equal(stn_world_link_inertial(world, 0, &o, &d, &err), STN_ERR_SEQUENCE);
    assert_ok(stn_world_compile(world, &err), err);
    assert_int_equal(stn_world_raycast(world, NULL, nan, d, 1.0, &hit, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_world_raycast(world, NULL, o, stn_vec3_zero(), 1.0, &hit, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_world_raycast(world, NULL, o, d, NAN, &hit, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_world_near_pairs(world, NULL, NULL, NAN, &near, &count, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_world_raycast(world, NULL, o, d, -1.0, &hit, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_world_nearest(world, NULL, nan, 1.0, &result, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_world_nearest(world, NULL, o, NAN, &result, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_world_overlap(world, NULL, &bad, &here, 0.0, &found, &count, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_world_overlap(world, NULL, &plane, &here, INFINITY, &found, &count, &err), STN_ERR_ARGUMENT);
    const stn_pose nowhere = {stn_mat3_identity(), nan};
    assert_int_equal(stn_world_overlap(world, NULL, &plane, &nowhere, 0.0, &found, &count, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_world_joint_torque(world, -1, torque, &err), STN_ERR_ARGUMENT); // a link on no joint has that
    assert_int_equal(stn_world_joint_torque(world, 1, torque, &err), STN_ERR_ARGUMENT);
    const range none = {7, 7}, ground = {0, 0};
    const stn_query nobody = only(&none), floor = only(&ground);
    assert_int_equal(stn_world_distance(world, NULL, &nobody, 1.0, &result, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "second side"));
    assert_int_equal(stn_world_distance(world, &floor, &floor, 1.0, &result, &err), STN_ERR_UNSUPPORTED);
    assert_int_equal(stn_world_overlap(world, &floor, &plane, &here, 0.0, &found, &count, &err), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "half_space"));
    stn_world_destroy(world);
}

static void without_memory_a_query_fails_and_the_next_one_works(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    stn_error err;
    const range one = {1, 30}, other = {31, BODIES};
    const stn_query a = only(&one), b = only(&other);
    int32_t failures = 0;
    for (long long n = 1; n < 60; n++) {
        stn_world *world = make_world(context);
        stn_world_distance_result d, nearest;
        stn_status statuses[2];
        stn_heap_arm(&heap, n);
        statuses[0] = stn_world_distance(world, &a, &b, INFINITY, &d, &err);
        statuses[1] = stn_world_nearest(world, NULL, stn_vec3_make(0.0, 0.0, 2.0), INFINITY, &nearest, &err);
        stn_heap_arm(&heap, 0);
        for (int32_t i = 0; i < 2; i++) {
            assert_true(statuses[i] == STN_OK || statuses[i] == STN_ERR_MEMORY);
            failures += statuses[i] != STN_OK;
        }
        assert_ok(stn_world_nearest(world, NULL, stn_vec3_make(0.0, 0.0, 2.0), INFINITY, &nearest, &err), err);
        assert_true(nearest.geometry_a >= 0);
        stn_world_destroy(world);
    }
    assert_true(failures >= 8);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ray_meets_the_nearest_of_all_shapes),
        cmocka_unit_test(the_distance_of_two_balls_is_that_of_their_centres_less_the_radii),
        cmocka_unit_test(the_distance_of_two_groups_is_the_smallest_of_all_their_pairs),
        cmocka_unit_test(distances_of_all_convex_types_are_proved_by_supports_and_witnesses),
        cmocka_unit_test(sides_that_are_nearly_parallel_meet_at_the_crossing),
        cmocka_unit_test(bodies_far_apart_keep_their_accuracy),
        cmocka_unit_test(the_nearest_shape_to_a_point_is_found_and_inside_is_negative),
        cmocka_unit_test(a_shape_overlaps_what_is_within_its_margin),
        cmocka_unit_test(queries_change_no_step),
        cmocka_unit_test(a_query_that_makes_no_sense_says_so),
        cmocka_unit_test(without_memory_a_query_fails_and_the_next_one_works),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
