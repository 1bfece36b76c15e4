// SPDX-License-Identifier: Apache-2.0
// What bodies at rest on each other stand on: how many points, where, how deep, and that they stay the same points.
#include "stn_test.h"

#include <string.h>

#include "point_scene.h"
#include "stn_random_pose.h"

static void a_box_on_a_table_stands_on_its_four_corners(void **state) {
    const stn_contact_set *set = touch(state, table(), box_at(0.3, 0.2, 0.1, 0.5, -0.2, 0.1 - depth), 0.0);
    assert_flat(set, 4);
    assert_true(has_point(set, 0.8, 0.0) && has_point(set, 0.2, 0.0) && has_point(set, 0.8, -0.4) &&
                has_point(set, 0.2, -0.4));
    set = touch(state, at(stn_shape_half_space(), 0.0, 0.0, 0.0), box_at(0.3, 0.2, 0.1, 0.5, -0.2, 0.1 - depth), 0.0);
    assert_flat(set, 4);
}

static void a_box_over_the_edge_stands_on_the_overlap(void **state) {
    const stn_contact_set *set = touch(state, table(), box_at(0.3, 0.2, 0.1, 1.9, 2.1, 0.1 - depth), 0.0);
    assert_flat(set, 4);
    assert_true(has_point(set, 1.6, 1.9) && has_point(set, 2.0, 1.9) && has_point(set, 1.6, 2.0) &&
                has_point(set, 2.0, 2.0));
}

static void equal_boxes_on_each_other_touch_in_four_points(void **state) {
    placed below = box_at(0.5, 0.5, 0.5, 0.0, 0.0, -0.5), above = box_at(0.5, 0.5, 0.5, 0.0, 0.0, 0.5 - depth);
    assert_flat(touch(state, below, above, 0.0), 4);
    assert_flat(touch(state, below, turned(above, 0.0, 0.0, 0.25 * STN_PI), 0.0), 8);
}

static void a_smaller_box_below_carries_the_larger_on_its_corners(void **state) {
    placed below = box_at(0.1, 0.1, 0.5, 0.0, 0.0, -0.5), above = box_at(1.0, 1.0, 0.5, 0.3, 0.0, 0.5 - depth);
    const stn_contact_set *set = touch(state, below, turned(above, 0.0, 0.0, 0.3), 0.0);
    assert_flat(set, 4);
    assert_true(has_point(set, 0.1, 0.1) && has_point(set, -0.1, 0.1));
}

static void a_tilting_box_keeps_its_points_while_they_are_near(void **state) {
    for (double angle = 1e-9; angle < 1e-2; angle *= 3.0) {
        placed box = turned(box_at(0.3, 0.2, 0.1, 0.0, 0.0, 0.0), angle, 0.0, 0.1);
        box.pose.position.z = 0.1 * cos(angle) + 0.2 * sin(angle) - depth;
        const stn_contact_set *set = touch(state, table(), box, 1.0);
        int32_t deep = 0;
        assert_true(set->count >= 4);
        for (int32_t i = 0; i < set->count; i++) {
            deep += fabs(set->contacts[i].phi0 + depth) < 1e-9;
        }
        assert_true(deep == 2 || (deep == 4 && angle < 1e-8));
        set = touch(state, table(), box, 1e-3); // the far edge hangs 0.4 sin(angle) higher
        assert_int_equal(set->count, 0.4 * sin(angle) - depth <= 1e-3 ? 4 : 2);
    }
}

static void crossing_edges_touch_in_one_point(void **state) {
    placed below = turned(box_at(0.5, 0.5, 0.5, 0.0, 0.0, 0.0), 0.25 * STN_PI, 0.0, 0.0);
    placed above = turned(box_at(0.5, 0.5, 0.5, 0.0, 0.0, sqrt(2.0) - depth), 0.0, 0.25 * STN_PI, 0.0);
    const stn_contact_set *set = touch(state, below, above, 0.0);
    assert_int_equal(set->count, 1);
    assert_near(set->contacts[0].phi0, -depth, 1e-12);
    assert_near(set->contacts[0].normal.z, 1.0, 1e-12);
    assert_near(hypot(set->contacts[0].point.x, set->contacts[0].point.y), 0.0, 1e-12);
}

static void parallel_edges_apart_show_both_ends(void **state) {
    placed a = box_at(0.5, 0.5, 0.5, 0.0, 0.0, 0.0), b = box_at(0.5, 0.5, 0.5, 1.001, 0.25, 1.001);
    const stn_contact_set *set = touch(state, a, b, 0.01);
    assert_true(set->count >= 2);
    double low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < set->count; i++) {
        assert_near(set->contacts[i].phi0, sqrt(2.0) * 1e-3, 1e-12);
        low = fmin(low, set->contacts[i].point.y);
        high = fmax(high, set->contacts[i].point.y);
    }
    assert_near(low, -0.25, 1e-9);
    assert_near(high, 0.5, 1e-9);
}

static void a_cylinder_stands_on_its_rim(void **state) {
    placed can = turned(at(stn_shape_cylinder(0.3, 0.5), 0.2, 0.1, 0.5 - depth), 0.0, 0.0, 0.4);
    const placed grounds[] = {table(), at(stn_shape_half_space(), 0.0, 0.0, 0.0),
                              at(stn_shape_cylinder(1.0, 0.5), 0.0, 0.0, -0.5)};
    for (int32_t i = 0; i < STN_COUNT(grounds); i++) {
        const stn_contact_set *set = touch(state, grounds[i], can, 0.0);
        assert_flat(set, 4);
        assert_near(support_radius(set, 0.2, 0.1), 0.3 / sqrt(2.0), 1e-3); // seen in steps of a degree
    }
}

/// The lowest rim point, r sin(tilt) below the cap's centre, is exact whatever the direction of the tilt.
static void a_tilted_cylinder_has_its_exact_lowest_rim_point(void **state) {
    stn_random r = {3};
    for (int32_t i = 0; i < 200; i++) {
        double tilt = random_size(&r, 1e-7, 1.4), yaw = random_between(&r, -STN_PI, STN_PI);
        placed can = turned(at(stn_shape_cylinder(0.3, 0.5), 0.0, 0.0, 0.0), 0.0, tilt, yaw);
        stn_mat3 spin = stn_mat3_from_rpy(0.0, 0.0, random_between(&r, -STN_PI, STN_PI));
        can.pose.rotation = stn_mat3_mul(&can.pose.rotation, &spin);
        can.pose.position.z = 0.5 * cos(tilt) + 0.3 * sin(tilt) - depth;
        const placed grounds[] = {table(), at(stn_shape_half_space(), 0.0, 0.0, 0.0)};
        for (int32_t k = 0; k < 2; k++) {
            const stn_contact_set *set = touch(state, grounds[k], can, 0.0);
            double deepest = 0.0;
            for (int32_t j = 0; j < set->count; j++) {
                deepest = fmin(deepest, set->contacts[j].phi0);
            }
            assert_near(deepest, -depth, 1e-9);
        }
    }
}

/// At a small tilt all points are about as deep and carry alike, at their middle. If that went round with the direction
/// of the tilt, a body at rest would be kicked to and fro for ever.
static void the_middle_of_a_caps_points_stays_while_a_tilt_goes_round(void **state) {
    const placed grounds[] = {
        table(), at(stn_shape_half_space(), 0.0, 0.0, 0.0), box_at(0.25, 0.25, 0.5, 0.02, 0.0, -0.5),
        at(stn_shape_cylinder(0.4, 0.5), 0.05, 0.02, -0.5), at(stn_shape_cylinder(0.3, 0.5), 0.1, 0.05, -0.5)};
    for (int32_t g = 0; g < STN_COUNT(grounds); g++) {
        stn_vec3 first = {0.0, 0.0, 0.0};
        for (int32_t i = 0; i < 64; i++) {
            double angle = 0.1 + 2.0 * STN_PI * i / 64.0;
            placed can = at(stn_shape_cylinder(0.3, 0.5), 0.0, 0.0, 0.5 - depth);
            can.pose.rotation = stn_mat3_from_rpy(1e-7 * cos(angle), 1e-7 * sin(angle), 0.0);
            const stn_contact_set *set = touch(state, grounds[g], can, 0.0);
            stn_vec3 middle = {0.0, 0.0, 0.0};
            for (int32_t k = 0; k < set->count; k++) {
                middle = stn_vec3_mul_add(middle, 1.0 / set->count, set->contacts[k].point);
            }
            first = i == 0 ? middle : first;
            assert_near(middle.x, first.x, 0.05 * 0.3); // what an outline that is not symmetric leaves
            assert_near(middle.y, first.y, 0.05 * 0.3);
        }
    }
}

static void a_cylinder_on_its_side_rests_on_the_two_ends_of_a_line(void **state) {
    placed can = turned(at(stn_shape_cylinder(0.3, 0.5), 0.2, 0.1, 0.3 - depth), 0.0, 0.5 * STN_PI, 0.0);
    const placed grounds[] = {table(), at(stn_shape_half_space(), 0.0, 0.0, 0.0),
                              at(stn_shape_cylinder(1.0, 0.5), 0.0, 0.0, -0.5)};
    for (int32_t i = 0; i < STN_COUNT(grounds); i++) {
        const stn_contact_set *set = touch(state, grounds[i], can, 0.0);
        assert_flat(set, 2);
        assert_true(has_point(set, 0.7, 0.1) && has_point(set, -0.3, 0.1));
    }
}

static void a_rolling_cylinder_keeps_two_points_with_the_same_ids(void **state) {
    uint64_t ids[2] = {0, 0};
    for (int32_t i = 0; i < 100; i++) {
        placed can = at(stn_shape_cylinder(0.3, 0.5), 0.0, 0.0, 0.3 - depth);
        stn_mat3 lie = stn_mat3_from_rpy(0.0, 0.5 * STN_PI, 0.0), spin = stn_mat3_from_rpy(0.0, 0.0, 0.1 * i);
        can.pose.rotation = stn_mat3_mul(&lie, &spin);
        const stn_contact_set *set = touch(state, at(stn_shape_half_space(), 0.0, 0.0, 0.0), can, 1e-6);
        assert_int_equal(set->count, 2);
        for (int32_t k = 0; k < 2; k++) {
            uint64_t id = set->contacts[set->contacts[0].point.x < 0.0 ? k : 1 - k].id; // by end
            assert_true(i == 0 || id == ids[k]);
            ids[k] = id;
        }
    }
}

static void a_capsule_lies_on_two_points(void **state) {
    placed pill = turned(at(stn_shape_capsule(0.1, 0.4), 0.2, 0.1, 0.1 - depth), 0.0, 0.5 * STN_PI, 0.0);
    const placed grounds[] = {table(), at(stn_shape_half_space(), 0.0, 0.0, 0.0),
                              at(stn_shape_cylinder(1.0, 0.5), 0.0, 0.0, -0.5),
                              turned(at(stn_shape_capsule(0.3, 2.0), 0.0, 0.1, -0.3), 0.0, 0.5 * STN_PI, 0.0),
                              turned(at(stn_shape_cylinder(0.3, 2.0), 0.0, 0.1, -0.3), 0.0, -0.5 * STN_PI, 0.0)};
    for (int32_t i = 0; i < STN_COUNT(grounds); i++) {
        const stn_contact_set *set = touch(state, grounds[i], pill, 0.0);
        assert_int_equal(set->count, 2);
        for (int32_t k = 0; k < 2; k++) {
            assert_near(set->contacts[k].phi0, -depth, 1e-12);
            assert_near(fabs(set->contacts[k].normal.z), 1.0, 1e-12);
        }
        assert_true(has_point(set, 0.6, 0.1) && has_point(set, -0.2, 0.1));
    }
}

static void a_capsule_over_the_edge_rests_where_the_table_ends(void **state) {
    placed pill = turned(at(stn_shape_capsule(0.1, 0.4), 1.8, 0.1, 0.1 - depth), 0.0, 0.5 * STN_PI, 0.0);
    const stn_contact_set *set = touch(state, table(), pill, 0.0);
    assert_flat(set, 2);
    assert_true(has_point(set, 1.4, 0.1) && has_point(set, 2.0, 0.1));
}

static void a_log_on_a_log_touches_in_two_points(void **state) {
    placed below = turned(at(stn_shape_cylinder(0.3, 2.0), 0.0, 0.0, -0.3), 0.0, 0.5 * STN_PI, 0.0);
    for (double yaw = 0.0; yaw < 1e-5; yaw = yaw == 0.0 ? 1e-9 : 10.0 * yaw) {
        placed above = turned(at(stn_shape_cylinder(0.2, 0.7), 0.5, 0.0, 0.2 - depth), 0.0, 0.5 * STN_PI, yaw);
        const stn_contact_set *set = touch(state, below, above, 0.0);
        assert_true(set->count >= 2 && set->count <= 3);
        assert_true(support_radius(set, 0.5, 0.0) > -1e-6);
        for (int32_t i = 0; i < set->count; i++) {
            assert_near(set->contacts[i].phi0, -depth, 1e-9);
        }
    }
}

static void a_box_on_a_cylinder_is_carried_all_round(void **state) {
    placed drum = at(stn_shape_cylinder(0.5, 0.5), 0.0, 0.0, -0.5);
    const stn_contact_set *set = touch(state, drum, box_at(1.0, 1.0, 0.1, 0.0, 0.0, 0.1 - depth), 0.0);
    assert_flat(set, 4);
    assert_near(support_radius(set, 0.0, 0.0), 0.5 / sqrt(2.0), 1e-4);
    set =
        touch(state, drum, box_at(0.1, 1.0, 0.1, 0.0, 0.0, 0.1 - depth), 0.0); // a beam: four crossings, two rim points
    assert_true(set->count >= 4 && support_radius(set, 0.0, 0.0) > 0.0999);
    set = touch(state, drum, box_at(0.1, 0.2, 0.1, 0.0, 0.0, 0.1 - depth), 0.0); // within: its own corners
    assert_flat(set, 4);
}

static void a_cylinder_over_the_edge_stands_on_what_is_left(void **state) {
    const stn_contact_set *set = touch(state, table(), at(stn_shape_cylinder(0.3, 0.5), 1.9, 0.0, 0.5 - depth), 0.0);
    assert_true(set->count >= 3);
    assert_true(support_radius(set, 1.9, 0.0) > 0.09); // the edge is 0.1 beyond its centre
    for (int32_t i = 0; i < set->count; i++) {
        assert_true(set->contacts[i].point.x <= 2.0 + 1e-9);
        assert_near(set->contacts[i].phi0, -depth, 1e-9);
    }
}

static void coins_that_overlap_touch_in_a_lens(void **state) {
    placed below = at(stn_shape_cylinder(0.5, 0.1), 0.0, 0.0, -0.1);
    const stn_contact_set *set = touch(state, below, at(stn_shape_cylinder(0.5, 0.1), 0.6, 0.0, 0.1 - depth), 0.0);
    assert_true(set->count >= 3);
    assert_true(has_point(set, 0.3, 0.4) && has_point(set, 0.3, -0.4)); // where the rims cross
    assert_true(support_radius(set, 0.3, 0.0) > 0.1);
}

static void points_keep_their_ids_while_bodies_slide(void **state) {
    const placed movers[] = {box_at(0.3, 0.2, 0.1, 0.0, 0.0, 0.1), at(stn_shape_cylinder(0.3, 0.1), 0.0, 0.0, 0.1)};
    for (int32_t m = 0; m < STN_COUNT(movers); m++) {
        uint64_t ids[4] = {0};
        for (int32_t step = 0; step < 200; step++) {
            placed b = turned(movers[m], 1e-8 * (step % 7), 1e-8 * (step % 5), 0.02 * step);
            b.pose.position = stn_vec3_make(0.003 * step, -0.002 * step, 0.1 - depth);
            const stn_contact_set *set = touch(state, table(), b, 0.0);
            assert_true(set->count >= 4);
            for (int32_t k = 0; k < 4; k++) {
                bool found = step == 0;
                for (int32_t i = 0; i < set->count; i++) {
                    found = found || set->contacts[i].id == ids[k];
                }
                assert_true(found);
                ids[k] = step == 0 ? set->contacts[k].id : ids[k];
            }
        }
    }
}

static void the_reference_face_does_not_show_in_the_ids(void **state) {
    placed below = box_at(0.5, 0.5, 0.5, 0.0, 0.0, -0.5);
    for (int32_t side = 0; side < 2; side++) { // the upper box leans to either side of level
        placed above = turned(box_at(0.5, 0.5, 0.5, 0.1, 0.2, 0.5 - depth), side == 0 ? 1e-9 : -1e-9, 0.0, 0.0);
        const stn_contact_set *set = touch(state, below, above, 0.0);
        static uint64_t ids[4];
        assert_int_equal(set->count, 4);
        for (int32_t i = 0; i < 4; i++) {
            bool found = side == 0;
            for (int32_t k = 0; k < 4; k++) {
                found = found || ids[k] == set->contacts[i].id;
            }
            assert_true(found);
        }
        for (int32_t i = 0; i < 4 && side == 0; i++) {
            ids[i] = set->contacts[i].id;
        }
    }
}

static void touching_exactly_counts_and_no_margin_means_none_beyond(void **state) {
    assert_flat(touch(state, table(), box_at(0.25, 0.25, 0.25, 0.0, 0.0, 0.25 - depth), 0.0), 4);
    assert_int_equal(touch(state, table(), box_at(0.25, 0.25, 0.25, 0.0, 0.0, 0.25), 0.0)->count, 4);
    assert_int_equal(touch(state, table(), box_at(0.25, 0.25, 0.25, 0.0, 0.0, 0.2500001), 0.0)->count, 0);
    placed ball = at(stn_shape_sphere(0.25), 0.0, 0.0, 0.5);
    assert_int_equal(touch(state, table(), ball, 0.2499)->count, 0);
    assert_int_equal(touch(state, table(), ball, 0.2501)->count, 1);
}

static void fewer_points_keep_the_deepest_and_the_spread(void **state) {
    probe p;
    stn_error err;
    const stn_setting setting = {.name = "max_points", .form = STN_SETTING_NUMBER, .number = 4.0, .where = "test"};
    assert_ok(probe_create(&p, &setting, 1, &err), err);
    placed below = box_at(0.5, 0.5, 0.5, 0.0, 0.0, -0.5);
    placed above = turned(box_at(0.5, 0.5, 0.5, 0.0, 0.0, 0.5 - depth), 0.0, 1e-5, 0.25 * STN_PI);
    assert_ok(probe_collide(&p, &below, &above, 1.0, 0.5, &err), err);
    assert_int_equal(p.set.count, 4);
    double deepest = 0.0;
    for (int32_t i = 0; i < 4; i++) {
        deepest = fmin(deepest, p.set.contacts[i].phi0);
    }
    const stn_contact_set *all = touch(state, below, above, 1.0);
    assert_int_equal(all->count, 8);
    for (int32_t i = 0; i < 8; i++) {
        assert_true(all->contacts[i].phi0 >= deepest);
    }
    assert_true(support_radius(&p.set, 0.0, 0.0) > 0.75 * support_radius(all, 0.0, 0.0));
    probe_destroy(&p);
}

static void what_it_cannot_do_is_said_when_asked(void **state) {
    probe *p = *state;
    const stn_contact_ops *ops = p->instance->desc->ops.contact;
    stn_geometry mesh = {.shape = {.type = STN_SHAPE_MESH}}, floor = {.shape = stn_shape_half_space()},
                 ball = {.shape = stn_shape_sphere(1.0)};
    assert_false(ops->handles(p->instance->self, &floor, &floor));
    assert_false(ops->handles(p->instance->self, &mesh, &ball));
    assert_false(ops->handles(p->instance->self, &ball, &mesh));
    assert_true(ops->handles(p->instance->self, &floor, &ball));
    assert_true(ops->handles(p->instance->self, &ball, &floor));
}

static void a_pose_that_is_no_number_is_an_error_for_every_pair(void **state) {
    probe *p = *state;
    const stn_shape shapes[] = {stn_shape_sphere(1.0), stn_shape_box(stn_vec3_make(1.0, 1.0, 1.0)),
                                stn_shape_capsule(1.0, 1.0), stn_shape_cylinder(1.0, 1.0), stn_shape_half_space()};
    for (int32_t i = 0; i < 4; i++) {
        for (int32_t j = 0; j < 5; j++) {
            for (int32_t k = 0; k < 2; k++) {
                placed a = at(shapes[i], 0.0, 0.0, 0.0), b = at(shapes[j], 0.3, 0.2, 0.1);
                *(k == 0 ? &a.pose.position.y : &b.pose.rotation.m[2][2]) = (double)NAN;
                stn_error err = {0};
                assert_int_equal(probe_collide(p, &a, &b, 0.1, 0.5, &err), STN_ERR_NUMERIC);
                assert_non_null(strstr(err.text, "'A'"));
            }
        }
    }
}

static void after_warm_up_nothing_is_allocated(void **state) {
    probe *p = *state;
    stn_random r = {21};
    int64_t before = 0;
    for (int32_t i = 0; i < 2000; i++) {
        before = i == 10 ? stn_context_allocations(p->context) : before;
        stn_shape can = stn_shape_cylinder(0.5, 0.5), box = stn_shape_box(stn_vec3_make(0.5, 0.4, 0.3));
        placed a = {i % 2 == 0 ? can : box, random_pose(&r, 0.3)}, b = {can, random_pose(&r, 0.3)};
        touch(state, a, b, 1.0);
    }
    assert_int_equal(stn_context_allocations(p->context), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        REST(a_box_on_a_table_stands_on_its_four_corners),
        REST(a_box_over_the_edge_stands_on_the_overlap),
        REST(equal_boxes_on_each_other_touch_in_four_points),
        REST(a_smaller_box_below_carries_the_larger_on_its_corners),
        REST(a_tilting_box_keeps_its_points_while_they_are_near),
        REST(crossing_edges_touch_in_one_point),
        REST(parallel_edges_apart_show_both_ends),
        REST(a_cylinder_stands_on_its_rim),
        REST(a_tilted_cylinder_has_its_exact_lowest_rim_point),
        REST(the_middle_of_a_caps_points_stays_while_a_tilt_goes_round),
        REST(a_cylinder_on_its_side_rests_on_the_two_ends_of_a_line),
        REST(a_rolling_cylinder_keeps_two_points_with_the_same_ids),
        REST(a_capsule_lies_on_two_points),
        REST(a_capsule_over_the_edge_rests_where_the_table_ends),
        REST(a_log_on_a_log_touches_in_two_points),
        REST(a_box_on_a_cylinder_is_carried_all_round),
        REST(a_cylinder_over_the_edge_stands_on_what_is_left),
        REST(coins_that_overlap_touch_in_a_lens),
        REST(points_keep_their_ids_while_bodies_slide),
        REST(the_reference_face_does_not_show_in_the_ids),
        REST(touching_exactly_counts_and_no_margin_means_none_beyond),
        REST(fewer_points_keep_the_deepest_and_the_spread),
        REST(what_it_cannot_do_is_said_when_asked),
        REST(a_pose_that_is_no_number_is_an_error_for_every_pair),
        REST(after_warm_up_nothing_is_allocated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
