// SPDX-License-Identifier: Apache-2.0
// What convex hulls and ellipsoids at rest stand on.
#include <string.h>

#include "point_hulls.h"
#include "point_scene.h"

static stn_context *context_of(void **state) {
    return ((probe *)*state)->context;
}

static placed hull_at(const stn_mesh *mesh, double x, double y, double z) {
    return at(stn_shape_mesh(mesh), x, y, z);
}

/// A hull that is a table top at z = 0.
static placed hull_table(void **state) {
    return hull_at(hull_box(context_of(state), stn_vec3_make(2.0, 2.0, 0.5)), 0.0, 0.0, -0.5);
}

static void drop(placed *bodies, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        stn_mesh_release(bodies[i].shape.mesh);
    }
}

static void a_hull_stands_on_all_corners_of_its_face(void **state) {
    placed grounds[] = {table(), at(stn_shape_half_space(), 0.0, 0.0, 0.0), hull_table(state)};
    for (int32_t sides = 3; sides <= 8; sides++) {
        placed prism =
            hull_at(hull_prism(context_of(state), sides, stn_vec3_make(0.3, 0.3, 0.2)), 0.5, 0.1, 0.2 - depth);
        prism = turned(prism, 0.0, 0.0, 0.3);
        for (int32_t k = 0; k < STN_COUNT(grounds); k++) {
            const stn_contact_set *set = touch(state, grounds[k], prism, 0.0);
            assert_flat(set, sides);
            for (int32_t i = 0; i < sides; i++) {
                double angle = 0.3 + 2.0 * STN_PI * i / sides;
                assert_true(has_point(set, 0.5 + 0.3 * cos(angle), 0.1 + 0.3 * sin(angle)));
            }
        }
        drop(&prism, 1);
    }
    drop(grounds, STN_COUNT(grounds));
}

/// A face of a thousand corners: as many points as there may be, almost all of the area, and the exact depth.
static void a_face_of_many_corners_keeps_its_support_and_its_depth(void **state) {
    placed prism = hull_at(hull_prism(context_of(state), 1000, stn_vec3_make(0.3, 0.3, 0.2)), 0.0, 0.0, 0.0);
    placed grounds[] = {table(), at(stn_shape_half_space(), 0.0, 0.0, 0.0), hull_table(state)};
    for (int32_t k = 0; k < STN_COUNT(grounds); k++) {
        prism.pose.position.z = 0.2 - depth;
        const stn_contact_set *set = touch(state, grounds[k], prism, 0.0);
        assert_flat(set, 8);
        assert_true(support_radius(set, 0.0, 0.0) > 0.9 * 0.3);
        for (int32_t i = 0; i < 20; i++) {
            double roll = 1e-3 * i, low = INFINITY;
            placed tilted = turned(prism, roll, 0.0, 0.0);
            for (int32_t c = 0; c < 1000; c++) {
                low = fmin(low, 0.3 * sin(2.0 * STN_PI * c / 1000) * sin(roll) - 0.2 * cos(roll));
            }
            tilted.pose.position.z = -low - depth;
            set = touch(state, grounds[k], tilted, 0.01);
            double deepest = INFINITY;
            for (int32_t c = 0; c < set->count; c++) {
                deepest = fmin(deepest, set->contacts[c].phi0);
            }
            assert_near(deepest, -depth, 1e-12);
        }
    }
    drop(grounds, STN_COUNT(grounds));
    drop(&prism, 1);
}

static void a_hull_on_its_edge_rests_on_two_points(void **state) {
    placed grounds[] = {table(), at(stn_shape_half_space(), 0.0, 0.0, 0.0), hull_table(state)};
    placed box = hull_at(hull_box(context_of(state), stn_vec3_make(0.3, 0.2, 0.2)), 0.1, 0.0, 0.2 * sqrt(2.0) - depth);
    box = turned(box, 0.25 * STN_PI, 0.0, 0.0);
    for (int32_t k = 0; k < STN_COUNT(grounds); k++) {
        const stn_contact_set *set = touch(state, grounds[k], box, 0.0);
        assert_flat(set, 2);
        assert_true(has_point(set, 0.4, 0.0) && has_point(set, -0.2, 0.0));
    }
    drop(grounds, STN_COUNT(grounds));
    drop(&box, 1);
}

static bool same_ids(const stn_contact_set *set, const uint64_t *ids, int32_t count) {
    int32_t found = 0;
    for (int32_t i = 0; i < set->count; i++) {
        for (int32_t k = 0; k < count; k++) {
            found += (uint64_t)set->contacts[i].id == ids[k];
        }
    }
    return set->count == count && found == count;
}

/// Two faces that meet at an angle of 0.02: whichever is lower, both carry.
static void a_hull_that_rocks_on_a_ridge_keeps_its_points(void **state) {
    const stn_vec3 keel[] = {{0.5, 0.3, 0.005}, {0.5, -0.3, 0.005}, {-0.5, 0.3, 0.005}, {-0.5, -0.3, 0.005},
                             {0.0, 0.3, 0.0},   {0.0, -0.3, 0.0},   {0.5, 0.3, 0.5},    {0.5, -0.3, 0.5},
                             {-0.5, 0.3, 0.5},  {-0.5, -0.3, 0.5}};
    const double tilts[] = {-1e-3, -1e-6, 1e-6, 1e-3};
    placed grounds[] = {table(), at(stn_shape_half_space(), 0.0, 0.0, 0.0), hull_table(state)};
    placed body = hull_at(hull_of_points(context_of(state), keel, STN_COUNT(keel)), 0.0, 0.0, -depth);
    for (int32_t k = 0; k < STN_COUNT(grounds); k++) {
        uint64_t ids[6];
        for (int32_t t = 0; t < STN_COUNT(tilts); t++) {
            const stn_contact_set *set = touch(state, grounds[k], turned(body, 0.0, tilts[t], 0.0), 0.01);
            assert_int_equal(set->count, 6);
            for (int32_t i = 0; i < 6 && t == 0; i++) {
                ids[i] = (uint64_t)set->contacts[i].id;
            }
            assert_true(same_ids(set, ids, 6));
        }
    }
    drop(grounds, STN_COUNT(grounds));
    drop(&body, 1);
}

/// Each ridge lies on one side of the other here, on the other side there.
static void ridges_that_cross_at_a_small_angle_touch_on_both_sides(void **state) {
    const stn_vec3 roof[] = {{0.5, 0.0, 0.0},    {-0.5, 0.0, 0.0},   {0.5, 0.5, -0.15},
                             {0.5, -0.5, -0.15}, {-0.5, 0.5, -0.15}, {-0.5, -0.5, -0.15}};
    stn_vec3 upside_down[6];
    for (int32_t i = 0; i < 6; i++) {
        upside_down[i] = stn_vec3_neg(roof[i]);
    }
    placed below = hull_at(hull_of_points(context_of(state), roof, 6), 0.0, 0.0, 0.0);
    placed above = hull_at(hull_of_points(context_of(state), upside_down, 6), 0.0, 0.0, -5e-3);
    for (int32_t way = -1; way <= 1; way += 2) {
        const stn_contact_set *set = touch(state, below, turned(above, 0.0, 0.0, 4e-3 * way), 0.0);
        double low = INFINITY, high = -INFINITY;
        for (int32_t i = 0; i < set->count; i++) {
            low = fmin(low, set->contacts[i].point.x);
            high = fmax(high, set->contacts[i].point.x);
            assert_true(set->contacts[i].normal.z > 0.99);
        }
        assert_true(low < -0.49 && high > 0.49);
    }
    drop(&below, 1);
    drop(&above, 1);
}

/// A small foot within a wide ring that hangs 5 mm above the ground: twelve points, and the foot keeps its four.
static void points_that_hang_higher_do_not_drive_out_those_that_carry(void **state) {
    stn_vec3 points[20];
    for (int32_t i = 0; i < 8; i++) {
        double angle = 0.25 * STN_PI * i, c = 0.5 * cos(angle), s = 0.5 * sin(angle);
        points[i] = stn_vec3_make(c, s, 0.006);
        points[8 + i] = stn_vec3_make(c, s, 0.3);
    }
    for (int32_t i = 0; i < 4; i++) {
        points[16 + i] = stn_vec3_make((i & 1) != 0 ? 0.12 : -0.12, (i & 2) != 0 ? 0.12 : -0.12, 0.0);
    }
    placed grounds[] = {table(), at(stn_shape_half_space(), 0.0, 0.0, 0.0), hull_table(state)};
    placed body = hull_at(hull_of_points(context_of(state), points, STN_COUNT(points)), 0.0, 0.0, -depth);
    for (int32_t k = 0; k < STN_COUNT(grounds); k++) {
        const stn_contact_set *set = touch(state, grounds[k], body, 0.1);
        int32_t carry = 0;
        for (int32_t i = 0; i < set->count; i++) {
            carry += fabs(set->contacts[i].phi0 + depth) < 1e-12;
        }
        assert_int_equal(set->count, 8);
        assert_int_equal(carry, 4);
    }
    drop(grounds, STN_COUNT(grounds));
    drop(&body, 1);
}

static void everything_rests_on_a_hull_as_on_a_box(void **state) {
    placed hull = hull_table(state);
    placed can = turned(at(stn_shape_cylinder(0.3, 0.5), 1.9, 0.1, 0.5 - depth), 0.0, 0.0, 0.4);
    placed movers[] = {box_at(0.3, 0.2, 0.1, 1.9, 2.1, 0.1 - depth),
                       can,
                       turned(at(stn_shape_cylinder(0.3, 0.5), 1.8, 0.1, 0.3 - depth), 0.0, 0.5 * STN_PI, 0.0),
                       turned(at(stn_shape_capsule(0.1, 0.4), 1.8, 0.1, 0.1 - depth), 0.0, 0.5 * STN_PI, 0.0),
                       at(stn_shape_sphere(0.2), 0.3, 0.1, 0.2 - depth),
                       at(stn_shape_ellipsoid(stn_vec3_make(0.3, 0.2, 0.1)), 0.3, 0.1, 0.1 - depth)};
    for (int32_t i = 0; i < STN_COUNT(movers); i++) {
        stn_vec3 expected[8];
        const stn_contact_set *set = touch(state, table(), movers[i], 0.0);
        int32_t count = set->count;
        for (int32_t k = 0; k < count; k++) {
            expected[k] = set->contacts[k].point;
        }
        set = touch(state, hull, movers[i], 0.0);
        assert_flat(set, count);
        for (int32_t k = 0; k < count; k++) {
            assert_true(has_point(set, expected[k].x, expected[k].y));
        }
    }
    drop(&hull, 1);
}

static void an_ellipsoid_is_met_where_its_closed_form_says(void **state) {
    placed ground = at(stn_shape_half_space(), 0.0, 0.0, 0.0), top = table();
    stn_random r = {31};
    for (int32_t i = 0; i < 200; i++) {
        stn_vec3 e = {random_size(&r, 1e-2, 1.0), random_size(&r, 1e-2, 1.0), random_size(&r, 1e-2, 1.0)};
        placed egg = {stn_shape_ellipsoid(e), random_pose(&r, 0.5)};
        const double *z = egg.pose.rotation.m[2];
        double reach = sqrt(pow(e.x * z[0], 2.0) + pow(e.y * z[1], 2.0) + pow(e.z * z[2], 2.0));
        egg.pose.position.z = reach - depth;
        assert_flat(touch(state, ground, egg, 0.0), 1);
        assert_flat(touch(state, top, egg, 0.0), 1);
        placed ball = {stn_shape_ellipsoid(stn_vec3_make(e.x, e.x, e.x)), random_pose(&r, 1.0)};
        placed sphere = at(stn_shape_sphere(e.y), 0.0, 0.0, 0.0);
        double apart = stn_vec3_norm(ball.pose.position) - e.x - e.y;
        assert_near(touch(state, sphere, ball, 10.0)->contacts[0].phi0, apart, 1e-14);
    }
}

static void hull_points_keep_their_ids_while_they_slide_and_turn(void **state) {
    placed ground = hull_table(state);
    placed movers[] = {hull_at(hull_prism(context_of(state), 6, stn_vec3_make(0.3, 0.3, 0.1)), 0.0, 0.0, 0.0),
                       hull_at(hull_prism(context_of(state), 60, stn_vec3_make(0.3, 0.2, 0.1)), 0.0, 0.0, 0.0),
                       at(stn_shape_cylinder(0.3, 0.1), 0.0, 0.0, 0.0)};
    for (int32_t m = 0; m < STN_COUNT(movers); m++) {
        uint64_t ids[8] = {0};
        int32_t count = 0;
        for (int32_t step = 0; step < 200; step++) {
            placed b = turned(movers[m], 1e-12 * (step % 7), 1e-12 * (step % 5), 0.02 * step);
            b.pose.position = stn_vec3_make(0.003 * step, -0.002 * step, 0.1 - depth);
            const stn_contact_set *set = touch(state, ground, b, 0.0);
            assert_true(set->count >= 4);
            count = step == 0 ? set->count : count;
            assert_int_equal(set->count, count);
            for (int32_t k = 0; k < count; k++) {
                bool found = step == 0;
                for (int32_t i = 0; i < set->count; i++) {
                    found = found || set->contacts[i].id == ids[k];
                }
                assert_true(found);
            }
            for (int32_t k = 0; k < count && step == 0; k++) {
                ids[k] = set->contacts[k].id;
            }
        }
    }
    drop(movers, STN_COUNT(movers));
    drop(&ground, 1);
}

/// Area of the polygon that the points span, which stand round (x, y).
static double area_of(const stn_contact_set *set) {
    double area = 0.0, steps = 3600.0, before = 0.0;
    for (int32_t k = 0; k <= 3600; k++) { // by the support function h: 1/2 integral of h^2 - h'^2
        double angle = 2.0 * STN_PI * k / steps, h = -INFINITY;
        for (int32_t i = 0; i < set->count; i++) {
            stn_vec3 p = set->contacts[i].point;
            h = fmax(h, cos(angle) * p.x + sin(angle) * p.y);
        }
        double slope = (h - before) * steps / (2.0 * STN_PI);
        area += k > 0 ? 0.5 * (h * h - slope * slope) * 2.0 * STN_PI / steps : 0.0;
        before = h;
    }
    return area;
}

/// The area of the best `few` corners of a regular polygon, whose gaps are as equal as can be; stretching keeps shares.
static double best_share(int32_t corners, int32_t few) {
    int32_t gap = corners / few, wider = corners % few;
    double step = 2.0 * STN_PI / corners, area = (few - wider) * sin(gap * step) + wider * sin((gap + 1) * step);
    return area / (corners * sin(step));
}

/// Round faces, also long ones: what is left of the area in 8 points, and in 4, beside the best choice.
static void fewer_points_keep_the_area_of_the_support(void **state) {
    probe few[2];
    stn_error err;
    for (int32_t k = 0; k < 2; k++) {
        const stn_setting s = {
            .name = "max_points", .form = STN_SETTING_NUMBER, .number = k == 0 ? 4.0 : 32.0, .where = "t"};
        assert_ok(probe_create(&few[k], &s, 1, &err), err);
    }
    stn_random r = {5};
    placed ground = at(stn_shape_half_space(), 0.0, 0.0, 0.0);
    for (int32_t i = 0; i < 60; i++) {
        stn_vec3 h = {1.0, random_size(&r, 1e-2, 1.0), 0.1};
        placed prism = hull_at(hull_prism(context_of(state), 9 + i % 8, h), 0.0, 0.0, 0.1 - depth);
        assert_ok(probe_collide(&few[0], &prism, &ground, 0.0, 0.5, &err), err);
        assert_ok(probe_collide(&few[1], &prism, &ground, 0.0, 0.5, &err), err);
        const stn_contact_set *set = touch(state, prism, ground, 0.0);
        assert_int_equal(few[0].set.count, 4);
        assert_int_equal(few[1].set.count, 9 + i % 8);
        assert_int_equal(set->count, 8);
        double all = area_of(&few[1].set);
        assert_true(area_of(set) > 0.95 * best_share(9 + i % 8, 8) * all);
        assert_true(area_of(&few[0].set) > 0.88 * best_share(9 + i % 8, 4) * all);
        drop(&prism, 1);
    }
    probe_destroy(&few[0]);
    probe_destroy(&few[1]);
}

/// A box as a hull and as a box: one answer.
static void a_hull_that_is_a_box_answers_like_one(void **state) {
    stn_random r = {29};
    for (int32_t i = 0; i < 300; i++) {
        stn_vec3 h = {random_size(&r, 0.1, 1.0), random_size(&r, 0.1, 1.0), random_size(&r, 0.1, 1.0)};
        placed box = {stn_shape_box(h), random_pose(&r, 0.5)},
               hull = {stn_shape_mesh(hull_box(context_of(state), h)), box.pose};
        const stn_shape others[] = {stn_shape_sphere(0.3),
                                    stn_shape_box(stn_vec3_make(0.4, 0.3, 0.2)),
                                    stn_shape_capsule(0.1, 0.4),
                                    stn_shape_cylinder(0.3, 0.4),
                                    stn_shape_ellipsoid(stn_vec3_make(0.4, 0.3, 0.2)),
                                    stn_shape_half_space()};
        placed other = {others[i % 6], random_pose(&r, 1.0)};
        double distance[2];
        for (int32_t k = 0; k < 2; k++) {
            const stn_contact_set *set = touch(state, k == 0 ? box : hull, other, 10.0);
            distance[k] = INFINITY;
            for (int32_t c = 0; c < set->count; c++) {
                distance[k] = fmin(distance[k], set->contacts[c].phi0);
            }
        }
        assert_near(distance[1], distance[0], 1e-10);
        drop(&hull, 1);
    }
}

static void a_pose_that_is_no_number_is_an_error(void **state) {
    stn_mesh *mesh = hull_prism(context_of(state), 40, stn_vec3_make(1.0, 1.0, 1.0));
    const stn_shape shapes[] = {stn_shape_ellipsoid(stn_vec3_make(1.0, 0.5, 0.2)),
                                stn_shape_mesh(mesh),
                                stn_shape_sphere(1.0),
                                stn_shape_box(stn_vec3_make(1.0, 1.0, 1.0)),
                                stn_shape_capsule(1.0, 1.0),
                                stn_shape_cylinder(1.0, 1.0),
                                stn_shape_half_space()};
    for (int32_t i = 0; i < 2; i++) {
        for (int32_t j = 0; j < STN_COUNT(shapes); j++) {
            for (int32_t k = 0; k < 2; k++) {
                placed a = at(shapes[i], 0.0, 0.0, 0.0), b = at(shapes[j], 0.3, 0.2, 0.1);
                *(k == 0 ? &a.pose.position.y : &b.pose.rotation.m[2][2]) = (double)NAN;
                stn_error err = {0};
                assert_int_equal(probe_collide(*state, &a, &b, 0.1, 0.5, &err), STN_ERR_NUMERIC);
                assert_non_null(strstr(err.text, "'A'"));
            }
        }
    }
    stn_mesh_release(mesh);
}

static void a_steady_step_allocates_nothing(void **state) {
    stn_mesh *mesh = hull_prism(context_of(state), 40, stn_vec3_make(0.5, 0.5, 0.5));
    const stn_shape shapes[] = {stn_shape_mesh(mesh), stn_shape_ellipsoid(stn_vec3_make(0.5, 0.3, 0.2)),
                                stn_shape_box(stn_vec3_make(0.5, 0.4, 0.3)), stn_shape_cylinder(0.5, 0.5)};
    stn_random r = {21};
    int64_t before = 0;
    for (int32_t i = 0; i < 2000; i++) {
        before = i == 20 ? stn_context_allocations(context_of(state)) : before;
        placed a = {shapes[i % 2], random_pose(&r, 0.3)}, b = {shapes[i / 2 % 4], random_pose(&r, 0.3)};
        touch(state, a, b, 1.0);
    }
    assert_int_equal(stn_context_allocations(context_of(state)), before);
    stn_mesh_release(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        REST(a_hull_stands_on_all_corners_of_its_face),
        REST(a_face_of_many_corners_keeps_its_support_and_its_depth),
        REST(a_hull_on_its_edge_rests_on_two_points),
        REST(a_hull_that_rocks_on_a_ridge_keeps_its_points),
        REST(ridges_that_cross_at_a_small_angle_touch_on_both_sides),
        REST(points_that_hang_higher_do_not_drive_out_those_that_carry),
        REST(everything_rests_on_a_hull_as_on_a_box),
        REST(an_ellipsoid_is_met_where_its_closed_form_says),
        REST(hull_points_keep_their_ids_while_they_slide_and_turn),
        REST(fewer_points_keep_the_area_of_the_support),
        REST(a_hull_that_is_a_box_answers_like_one),
        REST(a_pose_that_is_no_number_is_an_error),
        REST(a_steady_step_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
