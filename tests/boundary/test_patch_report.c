// SPDX-License-Identifier: Apache-2.0
// What the core says of patches, with a contact model whose patches are known in closed form: the bottom of a cube of
// side L on an elastic foundation, p = kappa depth, two halves of 16 faces. Pressed down with N and turned by a torque
// T about y it has its center of pressure at x = T/N, and p = N/L^2 (1 + 12 x T/(N L^2 (1 - 1/64))) at the faces (64:
// of the 8 centroids along x).
#include "fake_scenes.h"

#include <stdlib.h>
#include <string.h>

#include "patch_image.h"

enum { GROUND = 0, CUBE = 1, FACES = 16 };
static const double L = 0.2, kappa = 1e7, N = 9.81, pull = 1.5, turn = 0.1, twist = 0.05;

static const int32_t ground_geometry = GROUND, cube_geometry = CUBE;
static const stn_contact_side ground = {is_geometry, &ground_geometry}, cube = {is_geometry, &cube_geometry};

/// A cube of 1 kg that is pulled along x, turned about y and twisted about z, for 0.2 s.
static stn_world *turned_cube(stn_context *context) {
    stn_world_options options = stn_world_options_default();
    options.contact.id = "fake_two_patches";
    options.dt = 0.002;
    stn_world *world = scene_world(context, &options);
    stn_error err;
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.5 * L));
    assert_ok(stn_world_compile(world, &err), err);
    assert_ok(stn_world_set_wrench(world, 1, stn_vec3_make(pull, 0.0, 0.0), stn_vec3_make(0.0, turn, twist),
                                   stn_vec3_make(0.0, 0.0, 0.0), &err),
              err);
    scene_steps(world, 100);
    return world;
}

static void assert_vectors(stn_vec3 a, stn_vec3 b, double tolerance) {
    assert_near(a.x, b.x, tolerance);
    assert_near(a.y, b.y, tolerance);
    assert_near(a.z, b.z, tolerance);
}

static void the_whole_patch_balances_what_acts_on_the_cube(void **state) {
    stn_world *world = turned_cube(*state);
    const stn_observation *o = stn_world_observation(world);
    stn_patch_report r;
    assert_true(stn_observation_patch_between(o, &ground, &cube, &r));
    assert_int_equal(r.faces, 2 * FACES);
    assert_int_equal(r.sticking, 2 * FACES);
    assert_int_equal(r.slipping, 0);
    assert_vectors(r.normal_part, stn_vec3_make(0.0, 0.0, N), 1e-5);
    assert_vectors(r.friction_part, stn_vec3_make(-pull, 0.0, 0.0), 1e-5);
    assert_vectors(r.center, stn_vec3_make(turn / N, 0.0, 0.0), 2e-5); // it sinks and creeps by as much
    assert_vectors(r.normal, stn_vec3_make(0.0, 0.0, 1.0), 1e-12);
    assert_vectors(r.torque, stn_vec3_make(0.0, 0.0, -twist), 1e-6);
    assert_near(r.area, L * L, 1e-12);
    assert_near(r.mean_pressure, N / (L * L), 1e-3);
    double slope = 12.0 * turn / (L * L * L * L * (1.0 - 1.0 / 64.0));
    assert_near(r.max_pressure, N / (L * L) + slope * 7.0 / 16.0 * L, 0.1); // of the outermost faces
    assert_near(r.field_force, N, 1e-4);
    assert_near(r.field_max_pressure, N / (L * L) + slope * 0.5 * L, 0.1); // at their outer corners
    double sunk = N / (kappa * L * L), tilt = slope / kappa; // sum of kappa dA depth^2 / 2 at the centroids
    assert_near(r.elastic_J, 0.5 * kappa * L * L * (sunk * sunk + tilt * tilt * L * L / 12.0 * (1.0 - 1.0 / 64.0)),
                1e-8);
    stn_world_destroy(world);
}

/// Sum of what stn_observation_contact says, about the origin.
static void add_contacts(const stn_observation *o, int32_t patch, stn_vec3 *force, stn_vec3 *torque) {
    const stn_patch *p = &o->contacts->patches[patch];
    for (int32_t i = p->contact_start; i < p->contact_start + p->contact_count; i++) {
        stn_contact_report c;
        stn_observation_contact(o, i, &c);
        stn_vec3 f = stn_vec3_add(c.normal_part, c.friction_part);
        *force = stn_vec3_add(*force, f);
        *torque = stn_vec3_add(*torque, stn_vec3_cross(o->contacts->contacts[i].point, f));
    }
}

static stn_vec3 whole(const stn_patch_report *r) {
    return stn_vec3_add(r->normal_part, r->friction_part);
}

static stn_vec3 about_origin(const stn_patch_report *r) {
    return stn_vec3_add(r->torque, stn_vec3_cross(r->center, whole(r)));
}

static void the_wrench_is_that_of_the_faces_and_opposite_on_the_other_side(void **state) {
    stn_world *world = turned_cube(*state);
    const stn_observation *o = stn_world_observation(world);
    stn_vec3 all_force = stn_vec3_zero(), all_torque = stn_vec3_zero();
    assert_int_equal(o->contacts->patch_count, 2);
    for (int32_t k = 0; k < 2; k++) {
        stn_vec3 force = stn_vec3_zero(), torque = stn_vec3_zero();
        stn_patch_report r;
        stn_observation_patch(o, k, &r);
        add_contacts(o, k, &force, &torque);
        assert_int_equal(r.faces, FACES);
        assert_vectors(whole(&r), force, 1e-12);
        assert_vectors(about_origin(&r), torque, 1e-12);
        all_force = stn_vec3_add(all_force, force);
        all_torque = stn_vec3_add(all_torque, torque);
    }
    stn_patch_report on_cube, on_ground;
    assert_true(stn_observation_patch_between(o, &ground, &cube, &on_cube));
    assert_true(stn_observation_patch_between(o, &cube, &ground, &on_ground));
    assert_vectors(whole(&on_cube), all_force, 1e-12);
    assert_vectors(about_origin(&on_cube), all_torque, 1e-12);
    assert_vectors(whole(&on_ground), stn_vec3_neg(all_force), 1e-12);
    assert_vectors(about_origin(&on_ground), stn_vec3_neg(all_torque), 1e-12);
    assert_vectors(on_ground.center, on_cube.center, 1e-15);
    assert_vectors(on_ground.normal, stn_vec3_neg(on_cube.normal), 0.0);
    stn_world_destroy(world);
}

static void what_is_not_there_is_zero(void **state) {
    stn_world *world = turned_cube(*state);
    stn_patch_report r, none;
    memset(&none, 0, sizeof none);
    const int32_t numbers[] = {-1, 2, INT32_MAX, 0};
    for (int32_t i = 0; i < STN_COUNT(numbers); i++) {
        if (numbers[i] == 0) {
            stn_world_reset(world); // no step, no patch 0
        }
        stn_observation_patch(stn_world_observation(world), numbers[i], &r);
        assert_int_equal(r.faces, 0);
        assert_near(stn_vec3_norm(whole(&r)) + stn_vec3_norm(r.center) + r.area + r.max_pressure + r.elastic_J, 0.0,
                    0.0);
    }
    assert_false(stn_observation_patch_between(stn_world_observation(world), &ground, &cube, &r));
    assert_false(stn_observation_patch_between(stn_world_observation(world), &cube, &cube, &r));
    stn_world_destroy(world);
}

// ----------------------------------------------------------------------------------------------------------- images

enum { MOST = 64 };

/// Both patches in one image; returns the sum of pressure x pixel area [N].
static double paint(const stn_observation *o, const patch_image *image, double *pressure) {
    stn_error err;
    memset(pressure, 0, sizeof(double) * MOST * MOST);
    assert_ok(patch_image_add(o, 0, image, pressure, &err), err);
    assert_ok(patch_image_add(o, 1, image, pressure, &err), err);
    double sum = 0.0;
    for (int32_t i = 0; i < image->width * image->height; i++) {
        sum += pressure[i];
    }
    return sum * (image->extent_x / image->width) * (image->extent_y / image->height);
}

static void an_image_holds_the_force_and_its_pixels_the_pressure(void **state) {
    stn_world *world = turned_cube(*state);
    const stn_observation *o = stn_world_observation(world);
    static double pressure[MOST * MOST];
    patch_image image = {{stn_mat3_identity(), {0.0, 0.0, 0.0}}, L, L, 10, 5}; // pixels across faces
    stn_patch_report r;
    assert_true(stn_observation_patch_between(o, &ground, &cube, &r));
    double normal = stn_vec3_norm(r.normal_part), slope = 12.0 * turn / (L * L * L * L * (1.0 - 1.0 / 64.0));
    double shift = r.center.x - turn / N; // by creep
    assert_near(shift, 0.0, 1e-5);
    image.pose.position.x = shift;
    assert_near(paint(o, &image, pressure), normal, 1e-4 * normal); // what the twist turned over the rim is missing
    for (int32_t y = 1; y < 4; y++) {
        for (int32_t x = 1; x < 9; x++) {
            double at = L * ((x + 0.5) / 10.0 - 0.5);
            assert_near(pressure[10 * y + x], N / (L * L) + slope * at, 0.1); // the pull acts 2e-5 m higher
        }
    }
    image.extent_x = image.extent_y = 0.4; // turned, too large, few pixels: all of it, to round-off
    image.pose.rotation = stn_mat3_from_rpy(0.0, 0.0, 0.7);
    image.width = 7, image.height = MOST;
    assert_near(paint(o, &image, pressure), normal, 1e-13 * 64.0 * normal);
    image.pose.rotation = stn_mat3_from_rpy(0.5, 0.0, 0.7); // from aside: the part along z
    assert_near(paint(o, &image, pressure), normal * cos(0.5), 1e-13 * 64.0 * normal);
    image.pose.rotation = stn_mat3_from_rpy(3.14159265358979323846, 0.0, 0.0); // from below
    assert_near(paint(o, &image, pressure), normal, 1e-13 * 64.0 * normal);
    image.pose.position = stn_vec3_make(1.0, 1.0, 1.0); // beside it
    assert_near(paint(o, &image, pressure), 0.0, 0.0);
    stn_world_destroy(world);
}

static void rows_go_down_and_columns_to_the_right(void **state) {
    stn_world *world = turned_cube(*state);
    const stn_observation *o = stn_world_observation(world);
    static double pressure[MOST * MOST];
    // 2 x 2 pixels around the cube's left and far corner, (-L/2, L/2): the cube is in the one to the right and below
    patch_image image = {{stn_mat3_identity(), {-0.5 * L, 0.5 * L, 0.0}}, 0.02, 0.02, 2, 2};
    paint(o, &image, pressure);
    assert_true(pressure[3] > 100.0);
    for (int32_t i = 0; i < 3; i++) {
        assert_true(pressure[i] < 0.02 * pressure[3]); // creep and twist moved it by less than 0.1 mm
    }
    stn_world_destroy(world);
}

static void images_that_are_none_are_refused(void **state) {
    stn_world *world = turned_cube(*state);
    const patch_image good = {{stn_mat3_identity(), {0.0, 0.0, 0.0}}, L, L, 2, 2};
    patch_image images[] = {good, good, good, good, good};
    images[0].width = 0;
    images[1].height = 1000000;
    images[2].extent_x = (double)NAN;
    images[3].extent_y = 0.0;
    images[4].extent_x = (double)INFINITY;
    static const char *const says[] = {"0 x 2 pixels", "2 x 1000000 pixels", "extent nan x 0.2", "0.2 x 0 m", "inf"};
    for (int32_t i = 0; i < STN_COUNT(images); i++) {
        stn_error err = {0};
        assert_int_equal(patch_image_add(stn_world_observation(world), 0, &images[i], NULL, &err), STN_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, says[i]));
    }
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_patch_balances_what_acts_on_the_cube),
        cmocka_unit_test(the_wrench_is_that_of_the_faces_and_opposite_on_the_other_side),
        cmocka_unit_test(what_is_not_there_is_zero),
        cmocka_unit_test(an_image_holds_the_force_and_its_pixels_the_pressure),
        cmocka_unit_test(rows_go_down_and_columns_to_the_right),
        cmocka_unit_test(images_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, fakes_setup, scene_teardown);
}
