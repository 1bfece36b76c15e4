// SPDX-License-Identifier: Apache-2.0
// A body that a convex law throws off what it slides over is said once a run; what is thrown by nothing but physics is
// not.
#include "scenes.h"

#include <string.h>

#include "stn_heard.h"

typedef struct trial {
    const char *law;
    double dt, mu, stiffness, height; // of the start
    double v[6];                      // it is given after ten steps at rest
    double gravity;                   // 0: that of the earth
} trial;

static stn_world *start(stn_context *context, const trial *t) {
    stn_world_options options = stn_world_options_default();
    options.dt = t->dt;
    options.law.id = t->law;
    stn_world *world = scene_world(context, &options);
    scene_ground(world);
    stn_geometry_spec box = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.05, 0.05, 0.05)));
    box.material.mu = t->mu;
    box.material.stiffness = t->stiffness;
    scene_body(world, "box", 1.0, &box, stn_vec3_make(0.0, 0.0, 0.05 + t->height));
    return world;
}

/// Highest place of the box above its rest [m].
static double throw(stn_context * context, const trial *t, double seconds) {
    stn_error err;
    stn_world *world = start(context, t);
    scene_steps(world, 10);
    double rest = stn_world_state(world)->q[2], highest = rest;
    assert_ok(stn_world_set_v(world, t->v, &err), err);
    for (double time = 0.0; time < seconds; time += t->dt) {
        scene_steps(world, 1);
        highest = fmax(highest, stn_world_state(world)->q[2]);
    }
    stn_world_destroy(world);
    return highest - rest;
}

static heard hear(trial t, double *highest) {
    heard h = {.part = "threw"};
    stn_context *context = NULL;
    stn_error err;
    stn_context_options options = {.log = heard_listen, .log_user = &h};
    assert_ok(stn_context_create(&options, &context, &err), err);
    double one = throw(context, &t, 0.3), two = throw(context, &t, 0.1); // a second world says nothing new
    assert_true(two <= one);
    *highest = one;
    stn_context_destroy(context);
    return h;
}

static void a_box_that_is_set_sliding_flies_and_that_is_said_once_with_its_height(void **state) {
    (void)state;
    static const char *const laws[] = {"sap", "similar"};
    for (int32_t i = 0; i < STN_COUNT(laws); i++) {
        for (double dt = 0.01; dt > 1e-4; dt /= 5.0) {
            double highest, told = 0.0;
            trial t = {.law = laws[i], .dt = dt, .mu = 0.5, .stiffness = (double)NAN, .v = {2.0}};
            heard h = hear(t, &highest);
            assert_int_equal(h.count, 1);
            assert_true(highest > 0.03);
            const char *figure = strstr(h.text, "about ");
            assert_non_null(figure);
            assert_int_equal(sscanf(figure, "about %lg cm", &told), 1);
            assert_near(0.01 * told, highest, 0.1 * highest); // by its flight
            assert_non_null(strstr(h.text, laws[i]));
            assert_non_null(strstr(h.text, "solver auto does not, nor does law lagged"));
        }
    }
}

static void what_slides_without_hopping_and_what_flies_for_other_reasons_is_not_said(void **state) {
    (void)state;
    const double rigid = (double)NAN;
    const trial trials[] = {
        {.law = "lagged", .dt = 2e-3, .mu = 0.5, .stiffness = rigid, .v = {2.0}},
        {.law = "hertz", .dt = 2e-3, .mu = 0.5, .stiffness = rigid, .v = {2.0}},
        {.law = "sap", .dt = 2e-3, .mu = 0.0, .stiffness = rigid, .v = {2.0}},           // no friction
        {.law = "sap", .dt = 2e-3, .mu = 0.5, .stiffness = rigid, .v = {0.1}},           // lower than it glides
        {.law = "sap", .dt = 2e-3, .mu = 0.5, .stiffness = rigid, .v = {2.0, 0.0, 2.0}}, // jumps by itself
        {.law = "sap", .dt = 2e-3, .mu = 0.5, .stiffness = 2e4, .height = 0.2},          // bounces
        {.law = "sap", .dt = 2e-3, .mu = 0.5, .stiffness = rigid, .height = 0.2, .v = {0.0, 0.0, -3.0}},
    };
    for (int32_t i = 0; i < STN_COUNT(trials); i++) {
        double highest;
        assert_int_equal(hear(trials[i], &highest).count, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_that_is_set_sliding_flies_and_that_is_said_once_with_its_height),
        cmocka_unit_test(what_slides_without_hopping_and_what_flies_for_other_reasons_is_not_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
