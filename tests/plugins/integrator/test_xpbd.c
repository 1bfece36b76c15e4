// SPDX-License-Identifier: Apache-2.0
// XPBD on one element against the published formula, what elements get, and what users are told.
#include "scenes.h"
#include "stn_heard.h"

// ------------------------------------------------------------------------------------------------------- an element
// A spring between the middle of two nodes, which are one here, and a third; its rest length is a channel, and it
// counts the steps in its state.

typedef struct spring {
    double k, c;
    double fails; // from this time on [s]
    bool wind;    // a second group, of test_push
} spring;

static const stn_param spring_params[] = {
    STN_PARAM_REAL(spring, k, "N/m", 1000.0, 0.0, INFINITY, "stiffness"),
    STN_PARAM_REAL(spring, c, "N s/m", 0.0, 0.0, INFINITY, "damping"),
    STN_PARAM_REAL(spring, fails, "s", 1e9, 0.0, INFINITY, "from this time on"),
};
static const stn_channel spring_channels[] = {{.name = "length", .unit = "m", .size = 1, .summary = "at rest"}};

static double seen_state, seen_length; // by the last evaluation

static void spring_begin(const void *self, const double *constants, double *state) {
    (void)self, (void)constants;
    state[0] = 7.0;
}

static stn_status spring_evaluate(const void *self, stn_element_batch *batch, stn_error *err) {
    const spring *s = self;
    if (batch->time >= s->fails) {
        return stn_fail(err, STN_ERR_NUMERIC, "too late");
    }
    static const double part[3] = {-0.5, -0.5, 1.0}; // of each node's place in the vector from end to end
    for (int32_t e = 0; e < batch->count; e++) {
        const double *x = batch->x + 9 * e, *v = batch->v + 9 * e;
        double n[3] = {0.0}, length = 0.0, rate = 0.0;
        seen_state = batch->state[e];
        seen_length = batch->channels[0];
        for (int32_t i = 0; i < 9; i++) {
            n[i % 3] += part[i / 3] * x[i];
        }
        length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int32_t i = 0; i < 9; i++) {
            rate += part[i / 3] * n[i % 3] / length * v[i];
        }
        const double stretch = length - batch->channels[0];
        batch->energy[e] = 0.5 * s->k * stretch * stretch;
        for (int32_t r = 0; r < 9; r++) {
            const double direction = part[r / 3] * n[r % 3] / length;
            batch->force[9 * e + r] = -direction * (s->k * stretch + s->c * rate);
            for (int32_t c = 0; c < 9 && batch->K != NULL; c++) {
                const double square = direction * part[c / 3] * n[c % 3] / length;
                batch->K[81 * e + 9 * r + c] = s->k * square;
                batch->D[81 * e + 9 * r + c] = s->c * square;
            }
        }
        if (batch->next_state != NULL) {
            batch->next_state[e] = batch->state[e] + 1.0;
        }
    }
    return STN_OK;
}

static const stn_element_ops spring_ops = {.size = sizeof spring_ops,
                                           .nodes_per_element = 3,
                                           .evaluate = spring_evaluate,
                                           .node_type = STN_NODE_POINT,
                                           .channel_count = 1,
                                           .channels = spring_channels,
                                           .state_count = 1,
                                           .initial_state = spring_begin};
static const char *const spring_words[] = {"repeats", NULL};
static const stn_plugin_desc spring_plugin = {.size = sizeof spring_plugin,
                                              .kind = STN_KIND_ELEMENT,
                                              .id = "test_spring",
                                              .version = "1",
                                              .summary = "a spring",
                                              .capabilities = spring_words,
                                              .config_size = sizeof(spring),
                                              .params = spring_params,
                                              .param_count = STN_COUNT(spring_params),
                                              .ops.element = &spring_ops};

/// A wind that pushes on the second of its nodes with 5 N along x.
static stn_status push_evaluate(const void *self, stn_element_batch *batch, stn_error *err) {
    (void)self, (void)err;
    memset(batch->force, 0, 6 * (size_t)batch->count * sizeof(double));
    memset(batch->energy, 0, (size_t)batch->count * sizeof(double));
    for (int32_t e = 0; e < batch->count; e++) {
        batch->force[6 * e + 3] = 5.0;
    }
    if (batch->K != NULL) {
        memset(batch->K, 0, 36 * (size_t)batch->count * sizeof(double));
        memset(batch->D, 0, 36 * (size_t)batch->count * sizeof(double));
    }
    return STN_OK;
}

static const stn_element_ops push_ops = {
    .size = sizeof push_ops, .nodes_per_element = 2, .evaluate = push_evaluate, .node_type = STN_NODE_POINT};
static const char *const push_words[] = {"load", NULL};
static const stn_plugin_desc push_plugin = {.size = sizeof push_plugin,
                                            .kind = STN_KIND_ELEMENT,
                                            .id = "test_push",
                                            .version = "1",
                                            .summary = "a wind",
                                            .capabilities = push_words,
                                            .ops.element = &push_ops};

static stn_setting number(const char *name, double value) {
    return (stn_setting){.name = name, .form = STN_SETTING_NUMBER, .number = value, .where = "test"};
}

static const double position[6] = {0.0, 0.0, 1.0, 1.1, 0.0, 1.0}, velocity[6] = {0.3, 0.0, 0.0, -0.5, 0.0, 0.0};
static const double mass[2] = {1.0, 2.0};

/// Two nodes 1.1 m apart that a spring of 1 m joins, without gravity; `held`: the first is pinned.
static stn_world *two_nodes(stn_context *context, double dt, int32_t substeps, const spring *s, bool held) {
    const stn_setting own = number("substeps", substeps);
    stn_world_options options = stn_world_options_default();
    stn_error err;
    options.dt = dt;
    options.gravity = stn_vec3_zero();
    options.integrator = (stn_plugin_choice){"xpbd", &own, 1};
    stn_world *world = scene_world(context, &options);
    stn_model_builder *builder = stn_world_builder(world);
    const stn_nodes_spec nodes = {
        .name = "pair", .node_count = 2, .position = position, .mass = mass, .material = stn_material_unset()};
    const int32_t index[3] = {0, 0, 1};
    int32_t cloud = 0, group = 0;
    assert_ok(stn_builder_add_nodes(builder, &nodes, &cloud, &err), err);
    stn_setting settings[] = {number("k", s->k), number("c", s->c), number("fails", s->fails)};
    stn_instance *instance = NULL;
    assert_ok(stn_instance_create(context, STN_KIND_ELEMENT, "test_spring", settings, 3, &instance, &err), err);
    const stn_elements_spec elements = {.name = "tie", .nodes = cloud, .element_count = 1, .index = index};
    assert_ok(stn_builder_add_elements(builder, instance, &elements, &group, &err), err);
    if (s->wind) {
        const stn_elements_spec wind = {.name = "wind", .nodes = cloud, .element_count = 1, .index = index + 1};
        assert_ok(stn_instance_create(context, STN_KIND_ELEMENT, "test_push", NULL, 0, &instance, &err), err);
        assert_ok(stn_builder_add_elements(builder, instance, &wind, &group, &err), err);
    }
    if (held) {
        assert_ok(stn_builder_attach_nodes(builder, cloud, 1, index, STN_WORLD, &err), err);
    }
    assert_ok(stn_world_compile(world, &err), err);
    const double length = 1.0;
    assert_ok(stn_world_set_element_channel(world, 0, "length", &length, 1, &err), err);
    assert_ok(stn_world_set_v(world, velocity, &err), err);
    return world;
}

// dlambda = (-C - at lambda - gamma grad C.(x - x_prev))/((1 + gamma) w + at), at = alpha/h^2, gamma = at bt/h,
// bt = h^2 beta, with beta such that the damping is c; v = (x - x_prev)/h. Loads belong to the prediction.
static void one_element_follows_the_published_formula(void **state) {
    const double h = 0.01;
    for (int32_t kind = 0; kind < 8; kind++) {
        const bool held = kind % 2 == 1;
        const spring s = {.k = 3e4, .c = kind % 4 < 2 ? 0.0 : 40.0, .fails = 1e9, .wind = kind >= 4};
        stn_world *world = two_nodes(*state, h, 1, &s, held);
        stn_error err;
        assert_int_equal(stn_world_step(world, &err), STN_NOT_CONVERGED);
        const double w1 = held ? 0.0 : 1.0 / mass[0], w2 = 1.0 / mass[1];
        const double v1 = held ? 0.0 : velocity[0], x1 = position[0] + h * v1,
                     v2 = velocity[3] + (s.wind ? h * 5.0 * w2 : 0.0);
        const double x2 = position[3] + h * v2;
        const double at = 1.0 / (s.k * h * h), gamma = s.c / (s.k * h), C = x2 - x1 - 1.0;
        const double moved = h * (v2 - v1);
        const double dlambda = (-C - gamma * moved) / ((1.0 + gamma) * (w1 + w2) + at);
        const double end1 = x1 - w1 * dlambda, end2 = x2 + w2 * dlambda;
        const stn_state *now = stn_world_state(world);
        assert_near(now->q[0], end1, 1e-14);
        assert_near(now->q[3], end2, 1e-14);
        assert_near(now->v[0], (end1 - position[0]) / h, 1e-12);
        assert_near(now->v[3], (end2 - position[3]) / h, 1e-12);
        double force[6] = {0.0};
        if (held) { // by the fixture: minus that of the element, lambda/h^2, and what stops the node
            assert_int_equal(stn_world_attachment_force(world, 0, force), 3);
            assert_near(force[0], dlambda / (h * h) - mass[0] * velocity[0] / h, 1e-9);
        }
        stn_world_destroy(world);
    }
}

static void sub_steps_are_steps_of_their_length(void **state) {
    const spring s = {.k = 3e3, .c = 5.0, .fails = 1e9};
    double q[2][6], v[2][6];
    for (int32_t run = 0; run < 2; run++) {
        stn_world *world = two_nodes(*state, run == 0 ? 0.02 : 0.002, run == 0 ? 10 : 1, &s, false);
        stn_error err;
        for (int32_t i = 0; i < (run == 0 ? 5 : 50); i++) {
            assert_true(stn_world_step(world, &err) >= 0);
        }
        memcpy(q[run], stn_world_state(world)->q, sizeof q[run]);
        memcpy(v[run], stn_world_state(world)->v, sizeof v[run]);
        stn_world_destroy(world);
    }
    for (int32_t i = 0; i < 6; i++) {
        assert_near(q[0][i], q[1][i], 1e-13);
        assert_near(v[0][i], v[1][i], 1e-11);
    }
}

static void elements_get_channels_and_state_and_keep_one_state_a_step(void **state) {
    const spring s = {.k = 100.0, .fails = 1e9};
    stn_world *world = two_nodes(*state, 0.01, 7, &s, false);
    stn_error err;
    const double length = 0.9;
    assert_ok(stn_world_set_element_channel(world, 0, "length", &length, 1, &err), err);
    for (int32_t i = 0; i < 3; i++) {
        assert_true(stn_world_step(world, &err) >= 0);
    }
    (void)stn_world_element_forces(world, 0, true, (double[6]){0.0}, &err); // after three steps
    assert_near(seen_state, 10.0, 0.0);
    assert_near(seen_length, 0.9, 0.0);
    stn_world_destroy(world);
}

static void an_element_that_fails_within_the_step_is_named_and_nothing_moves(void **state) {
    const spring s = {.k = 1e3, .fails = 5e-3};
    stn_world *world = two_nodes(*state, 0.01, 5, &s, false);
    stn_error err;
    assert_int_equal(stn_world_step(world, &err), STN_ERR_NUMERIC);
    assert_non_null(strstr(err.text, "integrator xpbd"));
    assert_non_null(
        strstr(err.text, "t = 0.006 s: element test_spring: element 0 (counted from 0) of 'tie': too late"));
    assert_memory_equal(stn_world_state(world)->q, position, sizeof position);
    assert_memory_equal(stn_world_state(world)->v, velocity, sizeof velocity);
    stn_world_destroy(world);
}

static void efforts_on_nodes_push(void **state) {
    const spring s = {.k = 0.0, .fails = 1e9};
    stn_world *world = two_nodes(*state, 0.01, 8, &s, false);
    stn_error err;
    assert_ok(stn_world_set_effort(world, 5, 3.0, &err), err); // z of the second
    for (int32_t i = 0; i < 10; i++) {
        assert_true(stn_world_step(world, &err) >= 0);
    }
    assert_near(stn_world_state(world)->v[5], 3.0 * 0.1 / mass[1], 1e-13);
    assert_near(stn_world_state(world)->v[2], 0.0, 1e-13);
    stn_world_destroy(world);
}

static void steps_allocate_nothing(void **state) {
    const spring s = {.k = 1e3, .c = 1.0, .fails = 1e9};
    stn_world *world = two_nodes(*state, 0.01, 20, &s, true);
    stn_error err;
    for (int32_t i = 0; i < 3; i++) {
        assert_true(stn_world_step(world, &err) >= 0);
    }
    const int64_t before = stn_context_allocations(*state);
    for (int32_t i = 0; i < 20; i++) {
        assert_true(stn_world_step(world, &err) >= 0);
    }
    assert_int_equal(stn_context_allocations(*state), before);
    stn_world_destroy(world);
}

static stn_world *slider(stn_context *context, const stn_joint_spec *spec, double dt, int32_t substeps) {
    const stn_setting own = number("substeps", substeps);
    stn_world_options options = stn_world_options_default();
    options.dt = dt;
    options.gravity = stn_vec3_make(3.0, 0.0, 0.0);
    options.integrator = (stn_plugin_choice){"xpbd", &own, 1};
    stn_world *world = scene_world(context, &options);
    scene_slider(world, "slider", spec);
    return world;
}

// Springs and dampers of joints follow the motion within the step.
static void sub_steps_of_a_spring_on_a_joint_are_steps_of_their_length(void **state) {
    stn_joint_spec spec = stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
    spec.stiffness = 3e3;
    spec.damping = 40.0;
    double q[2], v[2];
    for (int32_t run = 0; run < 2; run++) {
        stn_error err;
        stn_world *world = slider(*state, &spec, run == 0 ? 0.02 : 0.001, run == 0 ? 20 : 1);
        assert_ok(stn_world_compile(world, &err), err);
        for (int32_t i = 0; i < (run == 0 ? 3 : 60); i++) {
            assert_true(stn_world_step(world, &err) >= 0);
        }
        q[run] = stn_world_state(world)->q[0];
        v[run] = stn_world_state(world)->v[0];
        stn_world_destroy(world);
    }
    assert_true(fabs(v[0]) > 1e-3);
    assert_near(q[0], q[1], 1e-13);
    assert_near(v[0], v[1], 1e-11);
}

// 2 kg under 3 m/s^2 along the rail, a motor of at most 4 N against it: 1 m/s^2.
static void a_motor_gives_no_more_than_its_limit(void **state) {
    stn_joint_spec spec = stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
    spec.effort = 4.0;
    stn_error err;
    stn_world *world = slider(*state, &spec, 0.01, 20);
    scene_controller(world, 0, "joint_pd", "kp", 1e6, "kd", 1e3, NULL);
    assert_ok(stn_world_compile(world, &err), err);
    for (int32_t i = 0; i < 50; i++) {
        assert_true(stn_world_step(world, &err) >= 0);
    }
    assert_near(stn_world_state(world)->v[0], 0.5, 1e-2); // it takes some millimetres to reach the limit
    const stn_problem *p = stn_world_observation(world)->problem;
    assert_int_equal(p->row_count, 1);
    assert_near(stn_world_observation(world)->gamma[0], -4.0 * 0.01, 1e-12);
    stn_world_destroy(world);
}

static void a_joint_stops_at_its_limit(void **state) {
    stn_joint_spec spec = stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
    spec.lower = -1.0;
    spec.upper = 0.1;
    stn_error err;
    stn_world *world = slider(*state, &spec, 0.01, 20);
    assert_ok(stn_world_compile(world, &err), err);
    for (int32_t i = 0; i < 100; i++) {
        assert_true(stn_world_step(world, &err) >= 0);
    }
    assert_near(stn_world_state(world)->q[0], 0.1, 1e-5);
    assert_near(stn_world_state(world)->v[0], 0.0, 1e-4);
    assert_near(stn_world_observation(world)->gamma[0], 2.0 * 3.0 * 0.01, 1e-4);
    stn_world_destroy(world);
}

// A joint that starts beyond its limit is brought back at push_speed, not within a sub-step.
static void a_joint_beyond_its_limit_comes_back_slowly(void **state) {
    stn_joint_spec spec = stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
    spec.lower = -1.0;
    spec.upper = 0.1;
    stn_error err;
    stn_world *world = slider(*state, &spec, 0.01, 20);
    assert_ok(stn_world_compile(world, &err), err);
    const double q = 0.5, v = 0.0;
    assert_ok(stn_world_set_q(world, &q, &err), err);
    assert_ok(stn_world_set_v(world, &v, &err), err);
    assert_true(stn_world_step(world, &err) >= 0);
    assert_near(stn_world_state(world)->v[0], -0.1, 1e-5);
    for (int32_t i = 0; i < 450; i++) {
        assert_true(stn_world_step(world, &err) >= 0);
    }
    assert_near(stn_world_state(world)->q[0], 0.1, 1e-5);
    stn_world_destroy(world);
}

// A carriage on a rail, 2 cm inside the ground: no impulse changes that, and friction has nothing to act by.
static void an_overlap_that_nothing_can_undo_is_left(void **state) {
    stn_error err;
    int32_t geometry = 0;
    stn_world *world = slider(*state, NULL, 0.01, 20);
    stn_model_builder *builder = stn_world_builder(world);
    const stn_geometry_spec ball = stn_geometry_spec_default(stn_shape_sphere(0.02));
    const int32_t carriage = stn_builder_find_link(builder, -1, "carriage");
    assert_ok(stn_builder_add_geometry(builder, carriage, &ball, &geometry, &err), err);
    scene_ground(world);
    assert_ok(stn_world_compile(world, &err), err);
    for (int32_t i = 0; i < 10; i++) {
        assert_true(stn_world_step(world, &err) >= 0);
        assert_int_equal(stn_world_observation(world)->report->contact_count, 1);
    }
    assert_near(stn_world_state(world)->v[0], 0.3, 1e-12);
    stn_world_destroy(world);
}

static void what_has_no_use_is_told(void **state) {
    (void)state;
    heard h = {.part = "not used"};
    const stn_context_options listening = {.log = heard_listen, .log_user = &h};
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(&listening, &context, &err), err);
    stn_world_options options = stn_world_options_default();
    options.integrator.id = "xpbd";
    stn_world_destroy(scene_world(context, &options));
    assert_int_equal(h.count, 0);
    options.solver.id = "nsgs";
    stn_world_destroy(scene_world(context, &options));
    assert_int_equal(h.count, 1);
    assert_non_null(strstr(h.text, "solver nsgs is not used: integrator xpbd"));
    // nor are contacts held
    h = (heard){.part = "stiction"};
    options = stn_world_options_default();
    options.stiction = true;
    stn_world_destroy(scene_world(context, &options));
    assert_int_equal(h.count, 0);
    options.integrator.id = "xpbd";
    stn_world_destroy(scene_world(context, &options));
    assert_int_equal(h.count, 1);
    assert_non_null(strstr(h.text, "integrator xpbd makes the step itself and holds no contact"));
    // nor where the integrator comes later, and nothing that was not asked for is named
    h = (heard){.part = "integrator xpbd makes the step itself"};
    options = stn_world_options_default();
    options.solver.id = "nsgs";
    options.law.id = "sap"; // which nsgs does not take either: told of it
    options.stiction = true;
    stn_world *later = scene_world(context, &options);
    assert_ok(stn_world_compile(later, &err), err);
    assert_int_equal(h.count, 0);
    const stn_plugin_choice xpbd = {.id = "xpbd"};
    assert_ok(stn_world_set_integrator(later, &xpbd, &err), err);
    assert_int_equal(h.count, 2); // solver, stiction
    stn_world_destroy(later);
    // periods and overlaps are those of the sub-steps
    const char *const parts[] = {"shorter than the step", "inside each other"};
    for (int32_t i = 0; i < 2 * STN_COUNT(parts); i++) {
        h = (heard){.part = parts[i % 2]};
        options = stn_world_options_default();
        options.integrator.id = i < 2 ? "xpbd" : "symplectic_euler";
        stn_world *touching = scene_world(context, &options);
        stn_geometry_spec round = stn_geometry_spec_default(stn_shape_sphere(0.1));
        round.material.stiffness = i % 2 ? (double)INFINITY : 1e9;
        scene_body(touching, "ball", 1.0, &round, stn_vec3_make(0.0, 0.0, 0.09));
        scene_ground(touching);
        assert_ok(stn_world_compile(touching, &err), err);
        assert_true(stn_world_step(touching, &err) >= 0);
        assert_int_equal(h.count, i < 2 ? 0 : 1);
        stn_world_destroy(touching);
    }
    // restitution, which the solver would use
    options = stn_world_options_default();
    options.integrator.id = "xpbd";
    options.solver.id = "nsgs";
    h = (heard){.part = "restitution"};
    stn_world *world = scene_world(context, &options);
    stn_geometry_spec shape = stn_geometry_spec_default(stn_shape_sphere(0.1));
    shape.material.restitution = 0.5;
    scene_body(world, "ball", 1.0, &shape, stn_vec3_make(0.0, 0.0, 1.0));
    assert_ok(stn_world_compile(world, &err), err);
    assert_int_equal(h.count, 1);
    assert_non_null(strstr(h.text, "integrator xpbd"));
    stn_world_destroy(world);
    stn_context_destroy(context);
}

static int setup(void **state) {
    stn_error err;
    if (scene_setup(state) != 0) {
        return -1;
    }
    const bool both = stn_plugin_register(*state, &spring_plugin, &err) == STN_OK &&
                      stn_plugin_register(*state, &push_plugin, &err) == STN_OK;
    return both ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_element_follows_the_published_formula),
        cmocka_unit_test(sub_steps_are_steps_of_their_length),
        cmocka_unit_test(elements_get_channels_and_state_and_keep_one_state_a_step),
        cmocka_unit_test(an_element_that_fails_within_the_step_is_named_and_nothing_moves),
        cmocka_unit_test(efforts_on_nodes_push),
        cmocka_unit_test(steps_allocate_nothing),
        cmocka_unit_test(sub_steps_of_a_spring_on_a_joint_are_steps_of_their_length),
        cmocka_unit_test(a_motor_gives_no_more_than_its_limit),
        cmocka_unit_test(a_joint_stops_at_its_limit),
        cmocka_unit_test(a_joint_beyond_its_limit_comes_back_slowly),
        cmocka_unit_test(an_overlap_that_nothing_can_undo_is_left),
        cmocka_unit_test(what_has_no_use_is_told),
    };
    return cmocka_run_group_tests(tests, setup, scene_teardown);
}
