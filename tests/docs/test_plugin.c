// SPDX-License-Identifier: Apache-2.0
// The example solver of docs/plugins.md solves what it says it solves.
#include "scenes.h"

static void the_documented_solver_holds_a_stack(void **state) {
    (void)state;
    stn_context_options context_options = {.plugin_path = DOCS_PLUGINS};
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(&context_options, &context, &err), err);
    stn_setting settings[] = {{.name = "tolerance", .form = STN_SETTING_NUMBER, .number = 1e-8},
                              {.name = "max_iterations", .form = STN_SETTING_NUMBER, .number = 20000}};
    stn_world_options options = stn_world_options_default();
    options.solver = (stn_plugin_choice){"nsgs_example", settings, 2};
    stn_world *world = scene_world(context, &options);
    scene_ground(world);
    scene_cube(world, "lower", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    scene_cube(world, "upper", 1.0, stn_vec3_make(0.01, 0.0, 0.3));
    scene_steps(world, 100);
    const stn_observation *o = stn_world_observation(world);
    assert_int_equal(o->report->contact_count, 8);
    assert_near(scene_normal_impulse(o), (2.0 + 1.0) * 9.81 * 0.002,
                1e-8); // ground carries two, the joint between them one
    assert_true(o->certificate->natural_ncp <= 1e-9);
    assert_true(o->certificate->momentum <= 1e-12);
    stn_world_destroy(world);
    stn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_documented_solver_holds_a_stack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
