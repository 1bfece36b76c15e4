// SPDX-License-Identifier: Apache-2.0
#include "stn_test.h"

#include <string.h>

#include <stiction/geometry.h>

#include "stn_random_pose.h"

enum { POSES = 200, SAMPLES = 2000 };

static const stn_shape_type bounded[] = {STN_SHAPE_SPHERE, STN_SHAPE_BOX, STN_SHAPE_CAPSULE, STN_SHAPE_CYLINDER,
                                         STN_SHAPE_ELLIPSOID};

static stn_shape random_shape(stn_random *r, stn_shape_type type) {
    double a = random_size(r, 1e-2, 10.0), b = random_size(r, 1e-2, 10.0), c = random_size(r, 1e-2, 10.0);
    switch (type) {
    case STN_SHAPE_SPHERE:
        return stn_shape_sphere(a);
    case STN_SHAPE_BOX:
        return stn_shape_box(stn_vec3_make(a, b, c));
    case STN_SHAPE_CAPSULE:
        return stn_shape_capsule(a, b);
    case STN_SHAPE_ELLIPSOID:
        return stn_shape_ellipsoid(stn_vec3_make(a, b, c));
    default:
        return stn_shape_cylinder(a, b);
    }
}

/// A point of the surface, from its own parametrisation.
static stn_vec3 surface_point(stn_random *r, const stn_shape *s) {
    stn_vec3 u = random_unit(r);
    double side = random_between(r, -1.0, 1.0), angle = random_between(r, -STN_PI, STN_PI);
    switch (s->type) {
    case STN_SHAPE_SPHERE:
        return stn_vec3_scale(s->radius, u);
    case STN_SHAPE_BOX: {
        stn_vec3 p = random_vec3(r, 1.0);
        double largest = fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z)));
        return stn_vec3_make(s->half_extents.x * p.x / largest, s->half_extents.y * p.y / largest,
                             s->half_extents.z * p.z / largest);
    }
    case STN_SHAPE_CAPSULE: {
        stn_vec3 p = stn_vec3_scale(s->radius, u);
        p.z += copysign(s->half_length, u.z);
        return p;
    }
    case STN_SHAPE_ELLIPSOID:
        return stn_vec3_make(s->half_extents.x * u.x, s->half_extents.y * u.y, s->half_extents.z * u.z);
    default: {
        double rho = random_between(r, 0.0, 1.0) < 0.5 ? s->radius : s->radius * fabs(side);
        double z = rho < s->radius ? copysign(s->half_length, side) : s->half_length * side;
        return stn_vec3_make(rho * cos(angle), rho * sin(angle), z);
    }
    }
}

static double axis_of(stn_vec3 v, int32_t k) {
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

static void boxes_contain_every_surface_point_and_touch_the_support_points(void **state) {
    (void)state;
    stn_random r = {1};
    for (int32_t i = 0; i < POSES; i++) {
        stn_shape shape = random_shape(&r, bounded[i % STN_COUNT(bounded)]);
        stn_pose pose = random_pose(&r, 5.0);
        double margin = 0.01 * (i % 3);
        stn_aabb box = stn_shape_aabb(&shape, &pose, margin);
        for (int32_t k = 0; k < SAMPLES; k++) {
            stn_vec3 p = stn_pose_apply(&pose, surface_point(&r, &shape));
            for (int32_t a = 0; a < 3; a++) {
                assert_true(axis_of(p, a) >= axis_of(box.lower, a) + margin - 1e-13);
                assert_true(axis_of(p, a) <= axis_of(box.upper, a) - margin + 1e-13);
            }
        }
        for (int32_t a = 0; a < 3; a++) {
            stn_vec3 e = {a == 0, a == 1, a == 2};
            stn_vec3 local = stn_mat3_apply_transposed(&pose.rotation, e);
            stn_vec3 high = stn_pose_apply(&pose, stn_shape_support(&shape, local));
            stn_vec3 low = stn_pose_apply(&pose, stn_shape_support(&shape, stn_vec3_neg(local)));
            assert_near(axis_of(high, a), axis_of(box.upper, a) - margin, 1e-13);
            assert_near(axis_of(low, a), axis_of(box.lower, a) + margin, 1e-13);
        }
    }
}

static void support_points_are_on_the_surface_and_furthest(void **state) {
    (void)state;
    stn_random r = {2};
    for (int32_t i = 0; i < POSES; i++) {
        stn_shape shape = random_shape(&r, bounded[i % STN_COUNT(bounded)]);
        stn_vec3 d = stn_vec3_scale(random_size(&r, 1e-6, 1e6), random_unit(&r));
        double reach = stn_vec3_dot(d, stn_shape_support(&shape, d));
        for (int32_t k = 0; k < SAMPLES; k++) {
            assert_true(stn_vec3_dot(d, surface_point(&r, &shape)) <= reach * (1.0 + 1e-13));
        }
    }
}

static void support_of_a_zero_direction_is_finite(void **state) {
    (void)state;
    stn_random r = {3};
    for (int32_t t = 0; t < STN_COUNT(bounded); t++) {
        stn_shape shape = random_shape(&r, bounded[t]);
        assert_true(stn_vec3_finite(stn_shape_support(&shape, stn_vec3_zero())));
    }
}

static void half_space_is_infinite_except_on_the_side_of_an_aligned_normal(void **state) {
    (void)state;
    stn_shape floor = stn_shape_half_space();
    stn_pose pose = stn_pose_identity();
    pose.position = stn_vec3_make(1.0, 2.0, 3.0);
    stn_aabb box = stn_shape_aabb(&floor, &pose, 0.5);
    assert_true(box.upper.z == 3.5 && isinf(box.lower.z) && isinf(box.lower.x) && isinf(box.upper.y));
    pose.rotation = stn_mat3_from_rpy(0.1, 0.0, 0.0);
    box = stn_shape_aabb(&floor, &pose, 0.5);
    assert_true(isinf(box.upper.z) && isinf(box.lower.z));
}

static void sizes_are_checked_by_name(void **state) {
    (void)state;
    const struct {
        stn_shape shape;
        const char *word;
    } bad[] = {
        {stn_shape_sphere(0.0), "radius"},
        {stn_shape_sphere(NAN), "radius"},
        {stn_shape_box(stn_vec3_make(1.0, -1.0, 1.0)), "half_extents.y"},
        {stn_shape_box(stn_vec3_make(1.0, 1.0, INFINITY)), "half_extents.z"},
        {stn_shape_cylinder(1.0, 0.0), "half_length"},
        {stn_shape_capsule(1.0, -1e-9), "half_length"},
        {stn_shape_ellipsoid(stn_vec3_make(1.0, 0.0, 1.0)), "half_extents.y"},
        {{.type = STN_SHAPE_CONVEX}, "convex"},
        {{.type = STN_SHAPE_COUNT}, "type"},
    };
    for (int32_t i = 0; i < STN_COUNT(bad); i++) {
        stn_error err = {0};
        assert_int_equal(stn_shape_check(&bad[i].shape, &err), STN_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, bad[i].word));
    }
    stn_error err = {0};
    stn_shape ball = stn_shape_capsule(1.0, 0.0), floor = stn_shape_half_space();
    assert_ok(stn_shape_check(&ball, &err), err);
    assert_ok(stn_shape_check(&floor, &err), err);
    assert_string_equal(stn_shape_name(STN_SHAPE_HALF_SPACE), "half_space");
    assert_null(stn_shape_name(STN_SHAPE_COUNT));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_contain_every_surface_point_and_touch_the_support_points),
        cmocka_unit_test(support_points_are_on_the_surface_and_furthest),
        cmocka_unit_test(support_of_a_zero_direction_is_finite),
        cmocka_unit_test(half_space_is_infinite_except_on_the_side_of_an_aligned_normal),
        cmocka_unit_test(sizes_are_checked_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
