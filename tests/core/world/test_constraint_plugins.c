// SPDX-License-Identifier: Apache-2.0
// What the core promises plugins of kind constraint about their state and energy, and what it says of their mistakes.
#include "scenes.h"

#include <math.h>
#include <string.h>

#include "stn_heard.h"

typedef enum conduct { HOLDS, COUNTS, NO_UNIT, NO_NUMBER, NAN_ENERGY, FAILS_LATER, DRIVES } conduct;
enum { OUTPUTS = 64, PART = 7 };

typedef struct config {
    int32_t conduct;
    double stiffness, relaxation_time; // of what it drives
} config;

static const stn_param params[] = {STN_PARAM_INT(config, conduct, "1", 0.0, 0.0, 20.0, "what it does"),
                                   STN_PARAM_REAL(config, stiffness, "N/m", 1.0, 0.0, INFINITY, "k, 0: rigid"),
                                   STN_PARAM_REAL(config, relaxation_time, "s", 0.0, 0.0, INFINITY, "tau_d")};
static const double errors[] = {0.01, -0.02, 0.0}, inputs[] = {20.0, 0.0, -5.0}; // of its rows along x, y and z

static int32_t row_count(const void *self, const stn_model_constraint *described) {
    (void)self, (void)described;
    return 3;
}

static conduct of(const void *self) {
    return (conduct)((const config *)self)->conduct;
}

/// Pulls the body along all axes with its errors and inputs.
static stn_status drive(const config *self, const stn_constraint_view *view, stn_rows *rows, stn_error *err) {
    stn_row_block block = stn_row_block_default(PART, 3);
    const int32_t body = view->described->ends[0].body;
    const stn_mat3 axes = stn_mat3_identity();
    block.stiffness = self->stiffness > 0.0 ? self->stiffness : (double)INFINITY;
    block.relaxation_time = self->relaxation_time;
    memcpy(block.phi, errors, sizeof errors);
    memcpy(block.input, inputs, sizeof inputs);
    stn_status status = stn_rows_begin(rows, &block, err);
    if (status == STN_OK) {
        stn_rows_add_point_axes(rows, 0, body, view->kinematics->body_pose[body].position, &axes);
    }
    return status;
}

/// Holds the body where it is, as to its height. Its outputs count the steps; the last one is phi where it counts.
static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    double *told = state;
    stn_row_block block = stn_row_block_default(PART, 1);
    if (of(self) == DRIVES) {
        return drive(self, view, rows, err);
    }
    if (of(self) == NO_NUMBER) {
        return stn_fail(err, STN_ERR_NUMERIC, "a cable has no length");
    }
    if (of(self) == FAILS_LATER && told[0] > 0.0) {
        return stn_fail(err, STN_ERR_PLUGIN, "told to");
    }
    if (of(self) == NO_UNIT) {
        block.unit = NULL;
    }
    if (of(self) == COUNTS) {
        block.phi[0] = told[OUTPUTS - 1];
        block.stiffness = 1.0;
    }
    for (int32_t i = 0; i < OUTPUTS; i++) {
        told[i] += 1.0;
    }
    stn_status status = stn_rows_begin(rows, &block, err);
    if (status == STN_OK) {
        const int32_t body = view->described->ends[0].body;
        stn_vec3 middle = view->kinematics->body_pose[body].position;
        stn_rows_add_point(rows, 0, body, middle, stn_vec3_make(0.0, 0.0, 1.0));
    }
    return status;
}

static double energy(const void *self, const stn_constraint_view *view, const void *state) {
    if (of(self) == NAN_ENERGY) {
        return (double)NAN;
    }
    return of(self) == COUNTS ? 1000.0 * ((const double *)state)[0] + view->time : 0.0;
}

static const stn_constraint_output outputs[] = {{"count", "1", "steps that it saw", OUTPUTS, NULL}};
static const stn_constraint_ops ops = {.size = sizeof ops,
                                       .row_count = row_count,
                                       .emit = emit,
                                       .energy = energy,
                                       .output_count = STN_COUNT(outputs),
                                       .outputs = outputs};
static const stn_plugin_desc probe = {.size = sizeof probe,
                                      .kind = STN_KIND_CONSTRAINT,
                                      .id = "probe",
                                      .version = "1",
                                      .summary = "for tests",
                                      .config_size = sizeof(config),
                                      .params = params,
                                      .param_count = STN_COUNT(params),
                                      .ops.constraint = &ops};

static int32_t contact_rows(const void *self, const stn_model_constraint *described) {
    (void)self, (void)described;
    return 1;
}

static const stn_constraint_ops ops_beside = {.size = sizeof ops, // contacts
                                              .row_count = row_count,
                                              .emit = emit,
                                              .energy = energy,
                                              .output_count = STN_COUNT(outputs),
                                              .outputs = outputs,
                                              .contact_rows = contact_rows};
static const stn_plugin_desc beside = {.size = sizeof probe,
                                       .kind = STN_KIND_CONSTRAINT,
                                       .id = "beside",
                                       .version = "1",
                                       .summary = "for tests",
                                       .config_size = sizeof(config),
                                       .params = params,
                                       .param_count = STN_COUNT(params),
                                       .ops.constraint = &ops_beside};

static int set_up(void **state) {
    stn_error err;
    if (scene_setup(state) != 0) {
        return -1;
    }
    assert_ok(stn_plugin_register(*state, &probe, &err), err);
    return 0;
}

static void add_instance(stn_world *world, stn_instance *instance, const char *name, int32_t link) {
    stn_error err;
    int32_t number = -1;
    const stn_constraint_end_spec end = {.link = link, .pose = stn_pose_identity(), .joint = -1, .factor = 1.0};
    const stn_constraint_spec spec = {.name = name, .end_count = 1, .ends = &end};
    assert_ok(stn_builder_add_constraint(stn_world_builder(world), instance, &spec, &number, &err), err);
}

static void add_probe(stn_world *world, stn_context *context, const char *name, conduct does, int32_t link) {
    stn_instance *instance = NULL;
    stn_error err;
    const stn_setting setting = {.name = "conduct", .form = STN_SETTING_NUMBER, .number = does};
    assert_ok(stn_instance_create(context, STN_KIND_CONSTRAINT, "probe", &setting, 1, &instance, &err), err);
    add_instance(world, instance, name, link);
}

/// Two cubes of 1 kg and 2 kg in the air, each with a constraint.
static stn_world *make_world(stn_context *context, conduct first, conduct second) {
    stn_world *world = scene_tight_world(context, 2e-3, 1e-10);
    scene_cube(world, "light", 1.0, stn_vec3_make(0.0, 0.0, 5.0));
    scene_cube(world, "heavy", 2.0, stn_vec3_make(3.0, 0.0, 5.0));
    add_probe(world, context, "first", first, 0);
    add_probe(world, context, "second", second, 1);
    return world;
}

static void outputs_alone_are_a_state(void **state) {
    stn_world *world = make_world(*state, COUNTS, COUNTS);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    for (int32_t step = 0; step < 3; step++) {
        for (int32_t i = 0; i < 2; i++) {
            stn_row_block blocks[2];
            stn_constraint_value value;
            assert_int_equal(stn_world_constraint_blocks(world, i, blocks, 2, &err), 1);
            assert_int_equal(blocks[0].part, PART);
            assert_near(blocks[0].phi[0], step, 0.0);
            assert_ok(stn_world_get_constraint(world, i, "count", &value, &err), err);
            assert_int_equal(value.count, OUTPUTS);
            assert_near(value.values[OUTPUTS - 1], step, 0.0); // looking changed nothing
        }
        scene_steps(world, 1);
    }
    stn_world_destroy(world);
}

static void the_energy_after_a_step_is_that_of_the_state_after_it(void **state) {
    stn_world *world = make_world(*state, COUNTS, HOLDS);
    for (int32_t step = 1; step < 4; step++) {
        scene_steps(world, 1);
        double reported = stn_world_observation(world)->report->elastic_J;
        assert_near(reported, 1000.0 * step + 2e-3 * step, 1e-9);
        assert_near(reported, stn_world_elastic_energy(world), 0.0);
    }
    stn_world_destroy(world);
}

static void forces_are_those_of_the_constraint(void **state) {
    stn_world *world = make_world(*state, HOLDS, HOLDS);
    double force[STN_MAX_ROWS];
    scene_steps(world, 2);
    assert_int_equal(stn_world_constraint_force(world, 0, PART, force), 1);
    assert_near(force[0], 9.81, 1e-5);
    assert_int_equal(stn_world_constraint_force(world, 1, PART, force), 1);
    assert_near(force[0], 2.0 * 9.81, 1e-5);
    assert_int_equal(stn_world_constraint_force(world, 1, PART + 1, force), 0);
    assert_int_equal(stn_world_constraint_force(world, 2, PART, force), 0);
    assert_int_equal(stn_world_constraint_force(world, -1, PART, force), 0);
    stn_world_destroy(world);
}

static void a_failed_step_has_no_reports(void **state) {
    stn_world *world = make_world(*state, HOLDS, FAILS_LATER);
    stn_constraint_report report;
    stn_error err = {STN_OK, ""};
    scene_steps(world, 1);
    assert_true(stn_observation_constraint(stn_world_observation(world), 0, 0, &report));
    assert_int_equal(report.rows, 1);
    assert_int_equal(stn_world_step(world, &err), STN_ERR_PLUGIN);
    assert_non_null(strstr(err.text, "constraint probe 'second': told to"));
    assert_false(stn_observation_constraint(stn_world_observation(world), 0, 0, &report));
    assert_int_equal(report.rows, 0);
    stn_world_destroy(world);
}

/// The step fails with `text`, and nothing guesses at bodies that are too fast or too far.
static void refuses(stn_context *context, conduct does, const char *text) {
    stn_world *world = make_world(context, HOLDS, does);
    stn_error err = {STN_OK, ""};
    assert_true(stn_world_step(world, &err) < 0);
    if (strstr(err.text, text) == NULL || strstr(err.text, "fastest") != NULL || strstr(err.text, "too f") != NULL) {
        fail_msg("%s", err.text);
    }
    stn_world_destroy(world);
}

static void mistakes_are_named(void **state) {
    refuses(*state, NO_UNIT, "constraint probe 'second': unit is missing; \"\" for none");
    refuses(*state, NO_NUMBER, "constraint probe 'second': a cable has no length");
    refuses(*state, NAN_ENERGY, "constraint probe 'second': the elastic energy became nan J");
}

/// A cube of 2 kg, driven without weight for two steps of 10 ms. w = |1/2 in three rows| / 3 = sqrt(3)/6 1/kg, and a
/// row gives gamma = -(phi + (dt + tau) v)/((dt + tau) R) + dt T with v = gamma/m in the first step.
static heard driven_by(const stn_plugin_desc *plugin, double stiffness, double relaxation_time) {
    const double dt = 0.01, m = 2.0, floor_R = 0.01 / (4.0 * STN_PI * STN_PI) * sqrt(3.0) / 6.0;
    heard h = {.part = "too stiff or too damped"};
    stn_context *context = NULL;
    stn_error err;
    stn_context_options options = {.log = heard_listen, .log_user = &h};
    assert_ok(stn_context_create(&options, &context, &err), err);
    assert_ok(stn_plugin_register(context, plugin, &err), err);
    stn_world *world = scene_tight_world(context, dt, 1e-12);
    assert_ok(stn_world_set_gravity(world, stn_vec3_zero(), &err), err);
    scene_cube(world, "cube", m, stn_vec3_make(0.0, 0.0, 5.0));
    const stn_setting settings[] = {
        {.name = "conduct", .form = STN_SETTING_NUMBER, .number = DRIVES},
        {.name = "stiffness", .form = STN_SETTING_NUMBER, .number = stiffness},
        {.name = "relaxation_time", .form = STN_SETTING_NUMBER, .number = relaxation_time},
    };
    stn_instance *motor = NULL;
    assert_ok(stn_instance_create(context, STN_KIND_CONSTRAINT, plugin->id, settings, 3, &motor, &err), err);
    add_instance(world, motor, "motor", 0);
    scene_steps(world, 1);
    double c = stiffness == 0.0 ? 0.0 : 1.0 / (dt * stiffness * (dt + relaxation_time)), R = fmax(c, floor_R);
    double tau = R == c ? relaxation_time : stiffness == 0.0 ? dt : fmax(dt, relaxation_time);
    stn_constraint_report report;
    assert_true(stn_observation_constraint(stn_world_observation(world), 0, 0, &report));
    for (int32_t r = 0; r < 3; r++) {
        double force = (inputs[r] - errors[r] / ((dt + tau) * R * dt)) / (1.0 + 1.0 / (m * R));
        assert_near(report.force[r], force, 1e-9 * fabs(force) + 1e-12);
        assert_near(report.phi[r], errors[r], 1e-9);
    }
    scene_steps(world, 1);
    stn_world_destroy(world);
    stn_context_destroy(context);
    return h;
}

static heard driven(double stiffness, double relaxation_time) {
    return driven_by(&probe, stiffness, relaxation_time);
}

static void inputs_are_whole_whatever_the_stiffness(void **state) {
    (void)state;
    static const double stiffness[] = {1.0, 1e4, 1e9, 0.0}, times[] = {0.0, 0.001, 0.5};
    for (int32_t i = 0; i < STN_COUNT(stiffness); i++) {
        for (int32_t k = 0; k < STN_COUNT(times); k++) {
            (void)driven(stiffness[i], times[k]);
        }
    }
}

/// The floor is 7.3122e-5 1/kg: that of k = 1.36758e8 N/m without damping, k = 2.6815e6 N/m with tau_d = 0.5 s.
static void what_the_step_softens_is_said_once(void **state) {
    (void)state;
    assert_int_equal(driven(1.36e8, 0.0).count, 0);
    assert_int_equal(driven(1.37e8, 0.0).count, 1);
    assert_int_equal(driven(2.68e6, 0.5).count, 0);
    assert_int_equal(driven(2.69e6, 0.5).count, 1);
    assert_int_equal(driven(0.0, 0.0).count, 0);
    heard h = driven(1e10, 0.0); // 73.122 times softer, and tau_d = dt halves it; sqrt(73.122) times less dt holds it
    assert_string_equal(h.text, "constraint probe 'motor': too stiff or too damped for what it moves and steps of 0.01 "
                                "s: its force is 0.0068 of what was asked for; dt = 0.0011 s would hold it, and welds "
                                "and the like are rigid without a stiffness");
    assert_int_equal(driven(1e10, 0.0011).count, 1);
    assert_int_equal(driven_by(&beside, 1e10, 0.0).count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_alone_are_a_state),
        cmocka_unit_test(the_energy_after_a_step_is_that_of_the_state_after_it),
        cmocka_unit_test(forces_are_those_of_the_constraint),
        cmocka_unit_test(a_failed_step_has_no_reports),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(inputs_are_whole_whatever_the_stiffness),
        cmocka_unit_test(what_the_step_softens_is_said_once),
    };
    return cmocka_run_group_tests(tests, set_up, scene_teardown);
}
