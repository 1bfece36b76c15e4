// SPDX-License-Identifier: Apache-2.0
// solver/soft_step in worlds: momentum to rounding in every step, closed forms where one sweep is enough, overlaps that
// are undone without a speed that stays, and words that claim no more than that.
#include "scenes.h"

#include <string.h>

static const double g = 9.81;

static stn_world *soft_world(void **state, double dt, stn_vec3 gravity) {
    stn_world_options options = stn_world_options_default();
    options.solver.id = "soft_step";
    options.dt = dt;
    options.gravity = gravity;
    return scene_world(*state, &options);
}

/// A step with what every step promises: it is made, momentum and cones hold to rounding, nothing claims convergence.
static const stn_observation *soft_step(stn_world *world) {
    stn_error err = {0};
    stn_status status = stn_world_step(world, &err);
    const stn_observation *o = stn_world_observation(world);
    if (status < 0) {
        print_message("%s\n", err.text);
    }
    assert_int_equal(status, o->problem->constraint_count > 0 ? STN_NOT_CONVERGED : STN_OK);
    assert_int_equal(o->report->not_converged, 0);
    assert_true(o->certificate->finite);
    assert_true(o->certificate->momentum <= 1e-12);
    assert_true(o->certificate->cone <= 1e-12);
    return o;
}

static const stn_observation *soft_steps(stn_world *world, int32_t count) {
    const stn_observation *o = NULL;
    for (int32_t i = 0; i < count; i++) {
        o = soft_step(world);
    }
    return o;
}

static void fling(stn_world *world, int32_t body, stn_vec3 linear, stn_vec3 angular) {
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    assert_ok(stn_world_set_body_velocity(world, body, linear, angular, &err), err);
}

// The weight of all is on the ground, nobody moves, and the stack is a soft spring: g/omega^2 for each load.
static void a_stack_of_boxes_stands(void **state) {
    enum { BOXES = 8 };
    static const char *const names[BOXES] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    stn_world *world = soft_world(state, 2e-3, stn_vec3_make(0.0, 0.0, -g));
    scene_ground(world);
    for (int32_t i = 0; i < BOXES; i++) {
        scene_cube(world, names[i], 1.0, stn_vec3_make(0.0, 0.0, 0.1 + 0.2 * i));
    }
    const stn_observation *o = soft_steps(world, 5000);
    double ground = 0.0, omega = 2.0 * STN_PI * 120.0;
    for (int32_t i = 0; i < o->problem->constraint_count; i++) {
        const stn_constraint *c = &o->problem->constraints[i];
        ground += c->J[1].tree < 0 ? o->gamma[c->row + 2] : 0.0;
    }
    assert_near(ground, BOXES * g * 2e-3, 1e-9);
    for (int32_t d = 0; d < 6 * BOXES; d++) {
        assert_near(stn_world_state(world)->v[d], 0.0, 1e-9);
    }
    double height = stn_world_state(world)->q[7 * (BOXES - 1) + 2], sunk = 0.1 + 0.2 * (BOXES - 1) - height;
    // 8 + 7 + ... + 1 loads, each on four contacts; W_nn of a corner is between 1/m and 4/m
    assert_true(sunk > 0.0 && sunk < 36.0 * g / (omega * omega) * 4.0);
    stn_world_destroy(world);
}

// tan below mu: it stays where it is; above: it slides with g (sin - mu cos).
static void friction_holds_on_a_slope_up_to_its_angle(void **state) {
    const double angles[] = {0.2, 0.4, 0.46, 0.47, 0.6}; // atan 0.5 = 0.4636
    for (int32_t i = 0; i < STN_COUNT(angles); i++) {
        double s = sin(angles[i]), c = cos(angles[i]), dt = 2e-3;
        stn_world *world = soft_world(state, dt, stn_vec3_make(g * s, 0.0, -g * c));
        scene_ground(world);
        scene_cube(world, "box", 3.0, stn_vec3_make(0.0, 0.0, 0.1));
        soft_steps(world, 250);
        double x = stn_world_state(world)->q[0], v = stn_world_state(world)->v[0];
        soft_steps(world, 250);
        double a = (stn_world_state(world)->v[0] - v) / (250.0 * dt), slides = fmax(0.0, g * (s - 0.5 * c));
        assert_near(a, slides, 1e-3 * g);
        assert_true(slides > 0.0 || fabs(stn_world_state(world)->q[0] - x) < 1e-9);
        stn_world_destroy(world);
    }
}

// A compliant contact is its spring, not the solver's: the ball rests at mg/k.
static void a_compliant_contact_sinks_by_its_stiffness(void **state) {
    stn_geometry_spec ball = stn_geometry_spec_default(stn_shape_sphere(0.1));
    ball.material.stiffness = 2e4;
    ball.material.relaxation_time = 0.01;
    stn_world *world = soft_world(state, 1e-3, stn_vec3_make(0.0, 0.0, -g));
    scene_ground(world);
    scene_body(world, "ball", 2.0, &ball, stn_vec3_make(0.0, 0.0, 0.1));
    soft_steps(world, 3000);
    assert_near(0.1 - stn_world_state(world)->q[2], 2.0 * g / 2e4, 1e-8);
    stn_world_destroy(world);
}

/// The largest speed at which a box leaves the ground that it overlaps by 1 cm.
static double leaving_speed(void **state, const char *integrator, double relax_iterations) {
    const stn_setting settings[] = {
        {.name = "relax_iterations", .form = STN_SETTING_NUMBER, .number = relax_iterations, .where = "test"}};
    stn_world_options options = stn_world_options_default();
    options.solver = (stn_plugin_choice){"soft_step", settings, 1};
    options.integrator.id = integrator;
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    scene_cube(world, "box", 1.0, stn_vec3_make(0.0, 0.0, 0.09));
    double fastest = 0.0;
    for (int32_t k = 0; k < 1000; k++) {
        soft_step(world);
        fastest = worse(fastest, stn_world_state(world)->v[2]);
    }
    assert_near(stn_world_state(world)->q[2], 0.1, 1e-4);
    stn_world_destroy(world);
    return fastest;
}

// What moves the box out of the ground, at 0.3 m/s at first, is v_position; v stays that of a box at rest.
static void an_overlap_is_undone_without_a_speed_that_stays(void **state) {
    static const char *const integrators[] = {"symplectic_euler", "midpoint", "implicit_euler"};
    for (int32_t i = 0; i < STN_COUNT(integrators); i++) {
        assert_true(leaving_speed(state, integrators[i], 0.0) > 0.2);
        assert_true(leaving_speed(state, integrators[i], 1.0) < 0.06);
        assert_true(leaving_speed(state, integrators[i], 4.0) < 0.003);
    }
}

static void a_ball_bounces_by_its_restitution(void **state) {
    stn_geometry_spec ball = stn_geometry_spec_default(stn_shape_sphere(0.1)), ground;
    ground = stn_geometry_spec_default(stn_shape_half_space());
    ball.material.restitution = ground.material.restitution = 0.5;
    int32_t id = 0;
    stn_error err;
    stn_world *world = soft_world(state, 1e-3, stn_vec3_make(0.0, 0.0, -g));
    assert_ok(stn_builder_add_geometry(stn_world_builder(world), STN_WORLD, &ground, &id, &err), err);
    scene_body(world, "ball", 2.0, &ball, stn_vec3_make(0.0, 0.0, 1.1));
    double before = 0.0, after = 0.0;
    for (int32_t k = 0; k < 600 && after <= 0.0; k++) {
        before = after;
        soft_step(world);
        after = stn_world_state(world)->v[2];
    }
    assert_near(after, -0.5 * before, 0.01 * fabs(before));
    assert_near(before, -sqrt(2.0 * g), 0.02);
    stn_world_destroy(world);
}

// Impulses between bodies are equal and opposite whatever the sweeps leave.
static void bodies_that_meet_keep_their_momentum(void **state) {
    stn_world *world = soft_world(state, 2e-3, stn_vec3_make(0.0, 0.0, 0.0));
    scene_cube(world, "a", 1.0, stn_vec3_make(0.0, 0.0, 0.0));
    scene_cube(world, "b", 5.0, stn_vec3_make(0.35, 0.05, 0.03));
    scene_ball(world, "c", 0.5, 0.1, stn_vec3_make(0.62, 0.05, 0.0));
    fling(world, 1, stn_vec3_make(2.0, 0.3, 0.1), stn_vec3_make(1.0, 2.0, 3.0));
    int32_t touched = 0;
    double energy = 1e9;
    for (int32_t k = 0; k < 500; k++) {
        const stn_observation *o = soft_step(world);
        const double *v = stn_world_state(world)->v;
        touched += o->report->contact_count > 0;
        for (int32_t a = 0; a < 3; a++) {
            const double start[3] = {2.0, 0.3, 0.1};
            assert_near(v[a] + 5.0 * v[6 + a] + 0.5 * v[12 + a], start[a], 1e-12);
        }
        assert_true(o->report->kinetic_J <= energy * (1.0 + 1e-9)); // inelastic: it falls, or stays
        energy = o->report->kinetic_J;
    }
    assert_true(touched > 0);
    stn_world_destroy(world);
}

// A box that tumbles and slides to rest: no step has more energy than the one before, but for the sub-steps' share of a
// fall, g h v.
static void energy_does_not_grow(void **state) {
    stn_world *world = soft_world(state, 1e-3, stn_vec3_make(0.0, 0.0, -g));
    scene_ground(world);
    scene_cube(world, "box", 1.0, stn_vec3_make(0.0, 0.0, 0.4));
    fling(world, 1, stn_vec3_make(2.0, 1.0, 0.0), stn_vec3_make(3.0, -5.0, 2.0));
    double least = 1e9, rise = 0.0, first = 0.0;
    for (int32_t k = 0; k < 3000; k++) {
        const stn_observation *o = soft_step(world);
        double energy = o->report->kinetic_J + o->report->potential_J;
        first = k == 0 ? energy : first;
        least = fmin(least, energy);
        rise = worse(rise, energy - least);
    }
    assert_true(rise < 2e-3 * first);
    assert_true(least < 0.3 * first);
    stn_world_destroy(world);
}

static void a_joint_holds_its_limit(void **state) {
    stn_joint_spec slide = stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
    slide.lower = -1.0;
    slide.upper = 0.2;
    stn_world *world = soft_world(state, 2e-3, stn_vec3_make(g, 0.0, 0.0));
    scene_slider(world, "rail", &slide);
    soft_steps(world, 2000);
    assert_near(stn_world_state(world)->q[0], 0.2, 1e-4);
    assert_near(stn_world_state(world)->v[0], 0.0, 1e-9);
    stn_world_destroy(world);
}

static void steps_repeat_on_any_number_of_threads_and_allocate_nothing(void **state) {
    double end[2][7 * 12];
    for (int32_t run = 0; run < 2; run++) {
        stn_world_options options = stn_world_options_default();
        options.solver.id = "soft_step";
        options.threads = 1 + 2 * run;
        stn_world *world = scene_world(*state, &options);
        scene_ground(world);
        for (int32_t i = 0; i < 12; i++) {
            char name[16];
            snprintf(name, sizeof name, "b%d", (int)i);
            scene_cube(world, name, 1.0 + i, stn_vec3_make(0.15 * (i % 3), 0.5 * (i % 2), 0.15 + 0.21 * (i / 2)));
        }
        soft_steps(world, 1500);
        int64_t before = stn_context_allocations(*state);
        soft_steps(world, 100);
        assert_int_equal(stn_context_allocations(*state), before);
        memcpy(end[run], stn_world_state(world)->q, sizeof end[run]);
        stn_world_destroy(world);
    }
    assert_memory_equal(end[0], end[1], sizeof end[0]);
}

// An integrator that moves q by v alone would never undo an overlap.
static stn_status form(void *self, const stn_integrator_view *view, void *memory, stn_formed *formed, stn_error *err) {
    (void)self, (void)view, (void)memory, (void)formed, (void)err;
    return STN_OK;
}

static stn_status advance(void *self, const stn_integrator_view *view, void *memory, const stn_problem *problem,
                          const double *v, const double *gamma, double *q_next, double *v_next, stn_error *err) {
    (void)self, (void)view, (void)memory, (void)problem, (void)v, (void)gamma, (void)q_next, (void)v_next, (void)err;
    return STN_OK;
}

static const stn_integrator_ops plain_ops = {.size = sizeof plain_ops, .form = form, .advance = advance};
static const stn_plugin_desc plain = {.size = sizeof plain,
                                      .kind = STN_KIND_INTEGRATOR,
                                      .id = "plain",
                                      .version = "1",
                                      .summary = "moves q by v",
                                      .ops.integrator = &plain_ops};

static void an_integrator_without_v_position_is_refused_by_name(void **state) {
    stn_error err;
    assert_ok(stn_plugin_register(*state, &plain, &err), err);
    stn_world_options options = stn_world_options_default();
    options.solver.id = "soft_step";
    options.integrator.id = "plain";
    stn_world *world = NULL;
    assert_int_equal(stn_world_create(*state, &options, &world, &err), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "soft_step"));
    assert_non_null(strstr(err.text, "integrator plain"));
    assert_non_null(strstr(err.text, "symplectic_euler"));
    assert_null(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_of_boxes_stands),
        cmocka_unit_test(friction_holds_on_a_slope_up_to_its_angle),
        cmocka_unit_test(a_compliant_contact_sinks_by_its_stiffness),
        cmocka_unit_test(an_overlap_is_undone_without_a_speed_that_stays),
        cmocka_unit_test(a_ball_bounces_by_its_restitution),
        cmocka_unit_test(bodies_that_meet_keep_their_momentum),
        cmocka_unit_test(energy_does_not_grow),
        cmocka_unit_test(a_joint_holds_its_limit),
        cmocka_unit_test(steps_repeat_on_any_number_of_threads_and_allocate_nothing),
        cmocka_unit_test(an_integrator_without_v_position_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
