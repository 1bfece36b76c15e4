// SPDX-License-Identifier: Apache-2.0
#include "stn_test.h"

#include <string.h>

#include <stiction/geometry.h>

#include "stn_random_pose.h"

/// Radius of the cross-section of a solid of revolution at height z.
static double profile(const stn_shape *s, double z) {
    double beyond = fabs(z) - s->half_length;
    if (s->type == STN_SHAPE_CYLINDER || beyond <= 0.0) {
        return s->type == STN_SHAPE_SPHERE ? sqrt(fmax(0.0, s->radius * s->radius - z * z)) : s->radius;
    }
    return sqrt(fmax(0.0, s->radius * s->radius - beyond * beyond));
}

/// Volume and inertia of a solid of revolution by slices: disks pi R^2 dz, moments R^2/2 and R^2/4 + z^2.
static void integrate_slices(const stn_shape *s, double low, double high, double sums[3]) {
    enum { SLICES = 200000 };
    double dz = (high - low) / SLICES;
    for (int32_t i = 0; i < SLICES; i++) {
        double z = low + (i + 0.5) * dz, radius = profile(s, z), disk = STN_PI * radius * radius * dz;
        sums[0] += disk;
        sums[1] += disk * (0.25 * radius * radius + z * z);
        sums[2] += disk * 0.5 * radius * radius;
    }
}

static void round_solids_agree_with_integration_over_slices(void **state) {
    (void)state;
    const stn_shape shapes[] = {stn_shape_sphere(0.3), stn_shape_capsule(0.2, 0.7), stn_shape_capsule(0.5, 0.01),
                                stn_shape_capsule(0.4, 0.0), stn_shape_cylinder(0.25, 1.5)};
    for (int32_t i = 0; i < STN_COUNT(shapes); i++) {
        const stn_shape *s = &shapes[i];
        double top = s->half_length + (s->type == STN_SHAPE_CYLINDER ? 0.0 : s->radius), sums[3] = {0.0, 0.0, 0.0};
        integrate_slices(s, -top, -s->half_length, sums);
        integrate_slices(s, -s->half_length, s->half_length, sums);
        integrate_slices(s, s->half_length, top, sums);
        stn_mass mass;
        stn_error err;
        assert_ok(stn_shape_mass(s, 2.5, &mass, &err), err);
        assert_near(stn_shape_volume(s), sums[0], 1e-8 * sums[0]);
        assert_near(mass.inertia.m[0][0], 2.5 * sums[1] / sums[0], 1e-8);
        assert_near(mass.inertia.m[1][1], mass.inertia.m[0][0], 0.0);
        assert_near(mass.inertia.m[2][2], 2.5 * sums[2] / sums[0], 1e-8);
        assert_near(stn_vec3_norm(mass.com), 0.0, 0.0);
    }
}

static void box_is_twelve_times_simpler(void **state) {
    (void)state;
    stn_shape box = stn_shape_box(stn_vec3_make(0.5, 1.0, 1.5)); // sides 1, 2, 3
    stn_mass mass;
    stn_error err;
    assert_ok(stn_shape_mass(&box, 12.0, &mass, &err), err);
    assert_near(mass.inertia.m[0][0], 13.0, 1e-14); // m/12 (b^2 + c^2)
    assert_near(mass.inertia.m[1][1], 10.0, 1e-14);
    assert_near(mass.inertia.m[2][2], 5.0, 1e-14);
    assert_near(stn_shape_volume(&box), 6.0, 1e-14);
}

/// Slices of an ellipsoid across z are ellipses, whose moments are those of circles stretched by the semi-axes.
static void an_ellipsoid_is_a_stretched_ball(void **state) {
    (void)state;
    enum { SLICES = 200000 };
    stn_vec3 h = {0.3, 0.5, 1.1};
    double volume = 0.0, xx = 0.0, yy = 0.0, zz = 0.0, dz = 2.0 * h.z / SLICES;
    for (int32_t i = 0; i < SLICES; i++) {
        double z = -h.z + (i + 0.5) * dz, share = 1.0 - z * z / (h.z * h.z), slice = STN_PI * h.x * h.y * share * dz;
        volume += slice;
        xx += slice * 0.25 * h.x * h.x * share;
        yy += slice * 0.25 * h.y * h.y * share;
        zz += slice * z * z;
    }
    stn_shape ellipsoid = stn_shape_ellipsoid(h);
    stn_mass mass;
    stn_error err;
    assert_ok(stn_shape_mass(&ellipsoid, 2.5, &mass, &err), err);
    assert_near(stn_shape_volume(&ellipsoid), volume, 1e-9);
    assert_near(mass.inertia.m[0][0], 2.5 * (yy + zz) / volume, 1e-9);
    assert_near(mass.inertia.m[1][1], 2.5 * (xx + zz) / volume, 1e-9);
    assert_near(mass.inertia.m[2][2], 2.5 * (xx + yy) / volume, 1e-9);
    assert_near(stn_vec3_norm(mass.com) + fabs(mass.inertia.m[0][1]), 0.0, 0.0);
}

static stn_mass box_part(stn_vec3 half, double density, const stn_pose *pose) {
    stn_shape box = stn_shape_box(half);
    stn_mass mass;
    stn_error err;
    assert_ok(stn_shape_mass(&box, density * stn_shape_volume(&box), &mass, &err), err);
    return stn_mass_transform(pose, &mass);
}

static void assert_same_mass(const stn_mass *a, const stn_mass *b, double tolerance) {
    assert_near(a->mass, b->mass, tolerance);
    assert_near(stn_vec3_norm(stn_vec3_sub(a->com, b->com)), 0.0, tolerance);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(a->inertia.m[i / 3][i % 3], b->inertia.m[i / 3][i % 3], tolerance);
    }
}

static void a_box_cut_in_two_unequal_parts_adds_up_to_itself(void **state) {
    (void)state;
    stn_random r = {5};
    for (int32_t i = 0; i < 100; i++) {
        stn_pose pose = random_pose(&r, 2.0), left = stn_pose_identity(), right = stn_pose_identity();
        double cut = random_between(&r, 0.1, 1.9); // of a side of 2
        left.position.x = -1.0 + 0.5 * cut;
        right.position.x = 0.5 * cut;
        left = stn_pose_mul(&pose, &left);
        right = stn_pose_mul(&pose, &right);
        stn_mass whole = box_part(stn_vec3_make(1.0, 0.3, 0.7), 3.0, &pose);
        stn_mass a = box_part(stn_vec3_make(0.5 * cut, 0.3, 0.7), 3.0, &left);
        stn_mass b = box_part(stn_vec3_make(1.0 - 0.5 * cut, 0.3, 0.7), 3.0, &right);
        stn_mass sum = stn_mass_add(&a, &b);
        assert_same_mass(&sum, &whole, 1e-13);
    }
}

static void transforming_there_and_back_changes_nothing(void **state) {
    (void)state;
    stn_random r = {6};
    stn_pose pose = random_pose(&r, 2.0), back = stn_pose_inverse(&pose), identity = stn_pose_identity();
    stn_mass mass = box_part(stn_vec3_make(0.1, 0.2, 0.3), 1000.0, &identity);
    stn_mass moved = stn_mass_transform(&pose, &mass), returned = stn_mass_transform(&back, &moved);
    assert_same_mass(&returned, &mass, 1e-13);
}

static void two_zero_masses_give_zero(void **state) {
    (void)state;
    stn_mass zero = {0}, sum = stn_mass_add(&zero, &zero);
    assert_same_mass(&sum, &zero, 0.0);
    stn_mass one = {.mass = 1.0, .com = {1.0, 2.0, 3.0}};
    sum = stn_mass_add(&zero, &one);
    assert_same_mass(&sum, &one, 0.0);
    sum = stn_mass_add(&one, &zero);
    assert_same_mass(&sum, &one, 0.0);
}

static void bad_masses_and_shapes_without_volume_are_refused(void **state) {
    (void)state;
    stn_shape ball = stn_shape_sphere(1.0), floor = stn_shape_half_space(), mesh = {.type = STN_SHAPE_MESH};
    stn_mass mass = {.mass = 7.0};
    stn_error err;
    assert_int_equal(stn_shape_mass(&ball, NAN, &mass, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "kg"));
    assert_int_equal(stn_shape_mass(&ball, -1.0, &mass, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_shape_mass(&floor, 1.0, &mass, &err), STN_ERR_UNSUPPORTED);
    assert_int_equal(stn_shape_mass(&mesh, 1.0, &mass, NULL), STN_ERR_UNSUPPORTED);
    assert_near(mass.mass, 7.0, 0.0);
    assert_true(isinf(stn_shape_volume(&floor)) && stn_shape_volume(&mesh) == 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_solids_agree_with_integration_over_slices),
        cmocka_unit_test(box_is_twelve_times_simpler),
        cmocka_unit_test(an_ellipsoid_is_a_stretched_ball),
        cmocka_unit_test(a_box_cut_in_two_unequal_parts_adds_up_to_itself),
        cmocka_unit_test(transforming_there_and_back_changes_nothing),
        cmocka_unit_test(two_zero_masses_give_zero),
        cmocka_unit_test(bad_masses_and_shapes_without_volume_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
