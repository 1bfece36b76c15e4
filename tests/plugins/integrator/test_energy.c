// SPDX-License-Identifier: Apache-2.0
// What symplectic Euler keeps, and with which order: the energy of our iiwa 14 swinging freely under a ceiling, and the
// momentum of the same arm floating in empty space. The arm's dampers are taken out of its file first.
#include "scenes.h"

#include <stdlib.h>
#include <string.h>

#include <stiction/loader.h>

/// The arm's file with every <dynamics .../> blanked out, as a file in `folder`; returns how many there were.
static int32_t write_undamped_arm(const char *path) {
    static char text[1 << 16];
    FILE *file = fopen(STN_SOURCE_DIR "/models/iiwa14/iiwa14.urdf", "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    int32_t count = 0;
    for (char *at = text; (at = strstr(at, "<dynamics")) != NULL; count++) {
        memset(at, ' ', (size_t)(strstr(at, "/>") + 2 - at));
    }
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
    return count;
}

static void load_arm(stn_world *world, const stn_pose *base, bool fixed) {
    char folder[] = "/tmp/stn_energy_XXXXXX", path[64];
    stn_diagnostics list;
    stn_error err;
    int32_t robot = 0;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/arm.urdf", folder);
    assert_int_equal(write_undamped_arm(path), 7);
    stn_load_request request = {.path = path};
    stn_diagnostics_init(&list, stn_world_context(world));
    assert_ok(stn_load_robot(stn_world_context(world), &request, stn_world_builder(world), &robot, &list, &err), err);
    stn_diagnostics_clear(&list);
    unlink(path);
    rmdir(folder);
    assert_ok(stn_builder_set_base(stn_world_builder(world), robot, base, fixed, &err), err);
    assert_ok(stn_world_compile(world, &err), err);
}

static double total_energy(stn_world *world) {
    const stn_kinematics *k = stn_world_kinematics(world);
    return stn_kinetic_energy(k) + stn_gravitational_energy(k, stn_world_state(world)->gravity);
}

/// The arm hangs from a ceiling, is let go from a bent pose and swings for 10 s without reaching a stop. Returns how
/// far its energy strays [J]; `swinging` receives its largest kinetic energy.
static double swing(double dt, double *swinging) {
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_world_options options = stn_world_options_default();
    options.dt = dt;
    stn_world *world = scene_world(context, &options);
    stn_pose ceiling = {stn_mat3_from_rpy(STN_PI, 0.0, 0.0), {0.0, 0.0, 2.0}};
    load_arm(world, &ceiling, true);
    const double q[7] = {0.3, 0.8, -0.4, 1.0, 0.2, -0.7, 0.1};
    assert_ok(stn_world_set_q(world, q, &err), err);
    double start = total_energy(world), most = 0.0;
    *swinging = 0.0;
    for (int32_t i = 0; i < (int32_t)lround(10.0 / dt); i++) {
        scene_steps(world, 1);
        assert_int_equal(stn_world_observation(world)->problem->row_count, 0);
        most = worse(most, fabs(total_energy(world) - start));
        *swinging = worse(*swinging, stn_kinetic_energy(stn_world_kinematics(world)));
    }
    stn_world_destroy(world);
    stn_context_destroy(context);
    return most;
}

static void energy_of_a_swinging_arm_strays_in_proportion_to_the_step(void **state) {
    (void)state;
    double swinging = 0.0, coarse = swing(1e-3, &swinging), fine = swing(5e-4, &swinging), order = log2(coarse / fine);
    print_message("  %.3g J at 1 ms, %.3g J at 0.5 ms, of %.3g J that swing: order %.3f\n", coarse, fine, swinging,
                  order);
    assert_near(order, 1.0, 0.05);
}

/// The arm floats for 2 s with all joints turning. Returns by how much its momenta stray, relative to what they are.
static stn_vec3 drift_in_space(double dt) {
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_world_options options = stn_world_options_default();
    options.dt = dt;
    options.gravity = stn_vec3_zero();
    stn_world *world = scene_world(context, &options);
    stn_pose base = stn_pose_identity();
    load_arm(world, &base, false);
    const double v[13] = {0.1, -0.2, 0.3, 0.5, -0.4, 0.3, 0.8, -0.6, 0.5, 0.7, -0.4, 0.6, 0.9};
    assert_ok(stn_world_set_v(world, v, &err), err);
    stn_spatial start = stn_momentum(stn_world_kinematics(world));
    double linear = 0.0, angular = 0.0;
    for (int32_t i = 0; i < (int32_t)lround(2.0 / dt); i++) {
        scene_steps(world, 1);
        assert_int_equal(stn_world_observation(world)->problem->row_count, 0);
        stn_spatial now = stn_momentum(stn_world_kinematics(world));
        linear = worse(linear, stn_vec3_norm(stn_vec3_sub(now.linear, start.linear)));
        angular = worse(angular, stn_vec3_norm(stn_vec3_sub(now.angular, start.angular)));
    }
    stn_world_destroy(world);
    stn_context_destroy(context);
    return stn_vec3_make(linear / stn_vec3_norm(start.linear), angular / stn_vec3_norm(start.angular), 0.0);
}

static void momentum_of_a_floating_arm_strays_in_proportion_to_the_step(void **state) {
    (void)state;
    stn_vec3 coarse = drift_in_space(1e-3), fine = drift_in_space(5e-4);
    double linear = log2(coarse.x / fine.x), angular = log2(coarse.y / fine.y);
    print_message("  linear %.2g at 1 ms, order %.3f; angular %.2g, order %.3f\n", coarse.x, linear, coarse.y, angular);
    assert_near(linear, 1.0, 0.05);
    assert_near(angular, 1.0, 0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_of_a_swinging_arm_strays_in_proportion_to_the_step),
        cmocka_unit_test(momentum_of_a_floating_arm_strays_in_proportion_to_the_step),
    };
    return cmocka_run_group_tests_name("conservation by symplectic Euler", tests, NULL, NULL);
}
