// SPDX-License-Identifier: Apache-2.0
// Whose gains joint_pd takes. Without effort limit a carriage of mass m goes by
//     v' = (m v - dt kp (x - x_ref))/(m + dt kd + dt^2 kp),    x' = x + dt v'
#include "scenes.h"

enum { CARRIAGES = 3 };
static const double own_kp[CARRIAGES] = {200.0, 0.0, 0.0}, own_kd[CARRIAGES] = {5.0, 9.0, 0.0};

/// Carriages of 2 kg, each on a rail of its own: with both gains, with a damper alone, with none.
static stn_world *new_world(stn_context *context, double effort) {
    stn_world *world = scene_tight_world(context, 0.01, 1e-12);
    for (int32_t i = 0; i < CARRIAGES; i++) {
        static const char *const names[CARRIAGES] = {"both", "damper", "none"};
        stn_joint_spec spec = stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
        spec.servo_kp = own_kp[i];
        spec.servo_kd = own_kd[i];
        spec.effort = effort;
        scene_slider(world, names[i], &spec);
    }
    return world;
}

static void drive(stn_world *world, int32_t robot, const char *gains) {
    const stn_setting settings[] = {{"kp", STN_SETTING_NUMBER, 50.0, NULL, "test"},
                                    {"kd", STN_SETTING_NUMBER, 1.0, NULL, "test"},
                                    {"gains", STN_SETTING_TEXT, 0.0, gains, "test"}};
    stn_instance *instance = NULL;
    int32_t index = 0, count = gains != NULL ? 3 : 2;
    double target = 0.5;
    stn_error err;
    assert_ok(stn_instance_create(stn_world_context(world), STN_KIND_CONTROLLER, "joint_pd", settings, count, &instance,
                                  &err),
              err);
    assert_ok(stn_world_add_controller(world, instance, robot, NULL, 0, &index, &err), err);
    assert_ok(stn_world_set_reference(world, index, "position", &target, 1, &err), err);
}

static void gains_are_the_robots_where_it_has_any_and_else_the_controllers(void **state) {
    static const char *const choices[] = {NULL, "controller", "robot"};
    const double efforts[] = {INFINITY, 1e6}; // gains in K and D, and servo rows far from their limit
    for (int32_t c = 0; c < 6; c++) {
        bool own = c % 3 == 2;
        stn_world *world = new_world(*state, efforts[c / 3]);
        for (int32_t i = 0; i < CARRIAGES; i++) {
            drive(world, i, choices[c % 3]);
        }
        double x[CARRIAGES] = {0.0}, v[CARRIAGES] = {0.0}, dt = 0.01, m = 2.0;
        for (int32_t step = 0; step < 100; step++) {
            scene_steps(world, 1);
            for (int32_t i = 0; i < CARRIAGES; i++) {
                double kp = own && i < 2 ? own_kp[i] : 50.0, kd = own && i < 2 ? own_kd[i] : 1.0;
                v[i] = (m * v[i] - dt * kp * (x[i] - 0.5)) / (m + dt * kd + dt * dt * kp);
                x[i] += dt * v[i];
                assert_near(stn_world_state(world)->v[i], v[i], 1e-9);
                assert_near(stn_world_state(world)->q[i], x[i], 1e-9);
            }
        }
        assert_true(x[0] > 0.1);
        stn_world_destroy(world);
    }
}

static void keep_warning(void *user, stn_log_level level, const char *text) {
    if (level >= STN_LOG_WARNING) {
        snprintf(user, 512, "%s", text);
    }
}

static void joints_without_gains_of_their_own_are_named(void **state) {
    (void)state;
    char warning[512] = "";
    stn_context_options options = {.log = keep_warning, .log_user = warning};
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(&options, &context, &err), err);
    const stn_setting settings[] = {{"gains", STN_SETTING_TEXT, 0.0, "robot", "test"},
                                    {"kp", STN_SETTING_NUMBER, 50.0, NULL, "test"}};
    for (int32_t k = 0; k < 2 * CARRIAGES; k++) { // with the default gains, and with others
        stn_world *world = new_world(context, INFINITY);
        stn_instance *instance = NULL;
        int32_t index = 0;
        warning[0] = '\0';
        assert_ok(
            stn_instance_create(context, STN_KIND_CONTROLLER, "joint_pd", settings, 1 + k / CARRIAGES, &instance, &err),
            err);
        assert_ok(stn_world_add_controller(world, instance, k % CARRIAGES, NULL, 0, &index, &err), err);
        assert_string_equal(warning, k != 2
                                         ? ""
                                         : "joint_pd: gains = \"robot\", but 1 of 1 joints of none have none and get "
                                           "kp = 100, kd = 10: slide; give kp and kd for them");
        stn_world_destroy(world);
    }
    stn_context_destroy(context);
}

static void joints_without_a_motor_are_named(void **state) {
    (void)state;
    char warning[512];
    stn_context_options options = {.log = keep_warning, .log_user = warning};
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(&options, &context, &err), err);
    for (int32_t k = 0; k < 4; k++) { // with an effort limit of 0 or another, which the controller keeps or not
        const stn_setting settings[] = {
            {"effort_limits", STN_SETTING_TEXT, 0.0, k % 2 == 0 ? "true" : "false", "test"}};
        stn_world *world = new_world(context, k < 2 ? 0.0 : 5.0);
        stn_instance *instance = NULL;
        int32_t index = 0;
        warning[0] = '\0';
        assert_ok(stn_instance_create(context, STN_KIND_CONTROLLER, "joint_pd", settings, 1, &instance, &err), err);
        assert_ok(stn_world_add_controller(world, instance, 0, NULL, 0, &index, &err), err);
        assert_string_equal(warning,
                            k > 0 ? ""
                                  : "joint_pd: 1 of 1 joints of both have an effort limit of 0, no motor, and are "
                                    "not driven: slide; name the others with joints = {...}, or set "
                                    "effort_limits = false");
        stn_world_destroy(world);
    }
    stn_context_destroy(context);
}

static void servo_gains_do_nothing_by_themselves(void **state) {
    stn_world *world = new_world(*state, INFINITY);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    const double v[CARRIAGES] = {1.0, 1.0, 1.0};
    assert_ok(stn_world_set_v(world, v, &err), err);
    scene_steps(world, 50);
    for (int32_t i = 0; i < CARRIAGES; i++) {
        assert_near(stn_world_state(world)->v[i], 1.0, 1e-13);
    }
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gains_are_the_robots_where_it_has_any_and_else_the_controllers),
        cmocka_unit_test(joints_without_gains_of_their_own_are_named),
        cmocka_unit_test(joints_without_a_motor_are_named),
        cmocka_unit_test(servo_gains_do_nothing_by_themselves),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
