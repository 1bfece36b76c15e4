// SPDX-License-Identifier: Apache-2.0
// What the core promises plugins of kind constraint about their state and energy, and what it says of their mistakes.
#include "scenes.h"

#include <math.h>
#include <string.h>

typedef enum conduct { HOLDS, COUNTS, NO_UNIT, NO_NUMBER, NAN_ENERGY, FAILS_LATER } conduct;
enum { OUTPUTS = 64, PART = 7 };

typedef struct config {
    int32_t conduct;
} config;

static const stn_param params[] = {STN_PARAM_INT(config, conduct, "1", 0.0, 0.0, 20.0, "what it does")};

static int32_t row_count(const void *self, const stn_model_constraint *described) {
    (void)self, (void)described;
    return 2;
}

static conduct of(const void *self) {
    return (conduct)((const config *)self)->conduct;
}

/// Holds the body where it is, as to its height. Its outputs count the steps; the last one is phi where it counts.
static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    double *told = state;
    stn_row_block block = stn_row_block_default(PART, 1);
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

static int set_up(void **state) {
    stn_error err;
    if (scene_setup(state) != 0) {
        return -1;
    }
    assert_ok(stn_plugin_register(*state, &probe, &err), err);
    return 0;
}

static void add_probe(stn_world *world, stn_context *context, const char *name, conduct does, int32_t link) {
    stn_instance *instance = NULL;
    stn_error err;
    int32_t number = -1;
    const stn_setting setting = {.name = "conduct", .form = STN_SETTING_NUMBER, .number = does};
    assert_ok(stn_instance_create(context, STN_KIND_CONSTRAINT, "probe", &setting, 1, &instance, &err), err);
    const stn_constraint_end_spec end = {.link = link, .pose = stn_pose_identity(), .joint = -1, .factor = 1.0};
    const stn_constraint_spec spec = {.name = name, .end_count = 1, .ends = &end};
    assert_ok(stn_builder_add_constraint(stn_world_builder(world), instance, &spec, &number, &err), err);
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
    assert_near(force[0], 9.81, 1e-2);
    assert_int_equal(stn_world_constraint_force(world, 1, PART, force), 1);
    assert_near(force[0], 2.0 * 9.81, 1e-2);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_alone_are_a_state),
        cmocka_unit_test(the_energy_after_a_step_is_that_of_the_state_after_it),
        cmocka_unit_test(forces_are_those_of_the_constraint),
        cmocka_unit_test(a_failed_step_has_no_reports),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, scene_teardown);
}
