// SPDX-License-Identifier: Apache-2.0
// A compliant contact whose period is shorter than the step is said once, with figures worked out by hand.
#include "scenes.h"

#include <string.h>

#include "stn_heard.h"

/// A ball of 1 kg at rest on the ground for 5 steps. In it w = |diag(7/2, 7/2, 1)| / 3 = 1.6833 1/kg.
static heard ball_of(double stiffness, double dt, double beta) {
    heard h = {.part = "stiffness"};
    stn_context *context = NULL;
    stn_error err;
    stn_context_options options = {.log = heard_listen, .log_user = &h};
    assert_ok(stn_context_create(&options, &context, &err), err);
    stn_world_options world_options = stn_world_options_default();
    const stn_setting setting = {.name = "beta", .form = STN_SETTING_NUMBER, .number = beta, .where = "test"};
    world_options.dt = dt;
    world_options.law = (stn_plugin_choice){.id = "sap", .settings = &setting, .setting_count = 1};
    stn_world *world = scene_world(context, &world_options);
    scene_ground(world);
    stn_geometry_spec ball = stn_geometry_spec_default(stn_shape_sphere(0.1));
    ball.material.stiffness = stiffness;
    scene_body(world, "ball", 1.0, &ball, stn_vec3_make(0.0, 0.0, 0.1));
    scene_steps(world, 5);
    stn_world_destroy(world);
    stn_context_destroy(context);
    return h;
}

static void a_period_shorter_than_the_step_is_said_once(void **state) {
    (void)state;
    heard h = ball_of(1e6, 0.01, 1.0); // T = 2 pi / sqrt(1e6 w) = 4.843 ms; R = w / (4 pi^2) leaves 1.17e5 N/m
    assert_int_equal(h.count, 1);
    assert_string_equal(h.text, "the contact of the world and ball with stiffness 1e+06 N/m has a period of 0.0048 s, "
                                "shorter than the step of 0.01 s: the law makes it as soft as 1.2e+05 N/m; dt = 0.0005 "
                                "s would resolve it, and without a stiffness contact is rigid");
    h = ball_of(1e6, 0.01, 0.0);
    assert_int_equal(h.count, 1);
    assert_non_null(strstr(h.text, "its bounce and damping are those of the step"));
}

static void what_a_step_resolves_is_not_said(void **state) {
    (void)state;
    assert_int_equal(ball_of(1e6, 0.0048, 1.0).count, 0);
    assert_int_equal(ball_of(1e6, 0.0049, 1.0).count, 1);
    assert_int_equal(ball_of((double)INFINITY, 0.01, 1.0).count, 0);
    assert_int_equal(ball_of((double)NAN, 0.01, 1.0).count, 0); // not given: rigid
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_period_shorter_than_the_step_is_said_once),
                                       cmocka_unit_test(what_a_step_resolves_is_not_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
