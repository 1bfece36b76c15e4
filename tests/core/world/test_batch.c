// SPDX-License-Identifier: Apache-2.0
// Worlds of a batch beside the same worlds alone: bits, resets, branches, failures, what a call refuses, memory.
#include "scenes.h"

#include <stdlib.h>
#include <string.h>

#include <stiction/random.h>

/// A cube and a ball that fall on the ground, a slider under PD: contacts, joints and controllers.
static stn_world *busy_world(stn_context *context, const stn_world_options *given) {
    const stn_world_options standard = stn_world_options_default();
    stn_world *world = scene_world(context, given != NULL ? given : &standard);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.12));
    scene_ball(world, "ball", 1.0, 0.1, stn_vec3_make(0.05, 0.02, 0.35));
    int32_t robot = scene_slider(world, "slider", NULL);
    scene_controller(world, robot, "joint_pd", "kp", 50.0, "kd", 1.0, NULL);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    return world;
}

static stn_batch *batch_of(const stn_world *world, int32_t count, int32_t threads, uint32_t outputs) {
    stn_batch_options options = stn_batch_options_default();
    options.count = count;
    options.threads = threads;
    options.outputs = outputs;
    stn_batch *batch = NULL;
    stn_error err;
    assert_ok(stn_batch_create(world, &options, &batch, &err), err);
    assert_int_equal(stn_batch_count(batch), count);
    return batch;
}

enum { WORLDS = 24, MOST_COLUMNS = 256 };

/// Velocities of world i, the same for every batch and clone.
static void push(int32_t i, double *v, int32_t nv) {
    uint64_t seed = 77u + (uint64_t)i;
    for (int32_t k = 0; k < nv; k++) {
        v[k] = 2.0 * stn_random_unit(stn_random_bits(&seed)) - 1.0;
    }
}

static void worlds_step_as_if_alone(void **state) {
    const struct {
        const char *solver, *integrator;
        bool stiction, sleeps;
        int32_t threads;
    } kinds[] = {{NULL, NULL, false, false, 1},      {NULL, NULL, false, false, 3},   {"apgd", NULL, false, false, 2},
                 {NULL, "midpoint", true, false, 2}, {"nsgs", NULL, false, false, 4}, {NULL, NULL, true, true, 2}};
    for (int32_t k = 0; k < STN_COUNT(kinds); k++) {
        stn_world_options options = stn_world_options_default();
        options.solver.id = kinds[k].solver;
        options.integrator.id = kinds[k].integrator;
        options.stiction = kinds[k].stiction;
        options.sleep_velocity = kinds[k].sleeps ? 0.05 : 0.0;
        options.sleep_time = kinds[k].sleeps ? 0.05 : 0.0;
        options.threads = 2; // of the world alone: the batch has its own
        stn_world *world = busy_world(*state, &options), *alone[WORLDS];
        stn_batch *batch = batch_of(world, WORLDS, kinds[k].threads, 0);
        const stn_model *model = stn_world_model(world);
        double v[MOST_COLUMNS];
        stn_error err;
        for (int32_t i = 0; i < WORLDS; i++) {
            assert_ok(stn_world_clone(world, &alone[i], &err), err);
            push(i, v, model->nv);
            assert_ok(stn_world_set_v(alone[i], v, &err), err);
            assert_ok(stn_batch_set(batch, STN_BATCH_V, &i, 1, v, &err), err);
        }
        stn_world_destroy(world); // the batch keeps what it needs
        for (int32_t call = 0; call < 12; call++) {
            const int32_t steps = 1 + 5 * (call % 3);
            assert_true(stn_batch_step(batch, steps, &err) >= 0);
            for (int32_t i = 0; i < WORLDS; i++) {
                for (int32_t s = 0; s < steps; s++) {
                    assert_true(stn_world_step(alone[i], &err) >= 0);
                }
                assert_true(stn_batch_hash(batch, i) == stn_world_hash(alone[i]));
            }
            const double effort = 0.1 * call; // references and efforts change between calls
            const int32_t some[] = {call, (5 * call) % WORLDS};
            double efforts[MOST_COLUMNS];
            for (int32_t c = 0; c < 2 * model->nv; c++) {
                efforts[c] = effort + 1e-3 * c;
            }
            assert_ok(stn_batch_set(batch, STN_BATCH_EFFORT, some, 2, efforts, &err), err);
            for (int32_t c = 0; c < 2 * model->nv; c++) {
                assert_ok(stn_world_set_effort(alone[some[c / model->nv]], c % model->nv, efforts[c], &err), err);
            }
        }
        for (int32_t i = 0; i < WORLDS; i++) {
            stn_world_destroy(alone[i]);
        }
        stn_batch_destroy(batch);
    }
}

static void reset_and_branch(void **state) {
    stn_world *world = busy_world(*state, NULL);
    const int32_t nv = stn_world_model(world)->nv, nq = stn_world_model(world)->nq;
    scene_steps(world, 20); // the batch begins here, a reset goes further back
    stn_batch *batch = batch_of(world, 4, 2, 1u << STN_BATCH_CONTACT_FORCE | 1u << STN_BATCH_BODY_POSE);
    const uint64_t here = stn_world_hash(world);
    stn_error err;
    stn_world_reset(world);
    const uint64_t start = stn_world_hash(world);
    assert_true(stn_batch_hash(batch, 3) == here && here != start);
    double v[MOST_COLUMNS], q[2 * MOST_COLUMNS], poses[2 * MOST_COLUMNS];
    push(1, v, nv);
    const int32_t one = 1, two = 2, three = 3;
    assert_ok(stn_batch_set(batch, STN_BATCH_V, &one, 1, v, &err), err);
    assert_true(stn_batch_step(batch, 50, &err) >= 0);
    assert_true(stn_batch_hash(batch, 0) == stn_batch_hash(batch, 3));
    assert_true(stn_batch_hash(batch, 0) != stn_batch_hash(batch, 1));
    assert_ok(stn_batch_copy(batch, &one, &two, 1, &err), err);
    assert_ok(stn_batch_copy(batch, &two, &two, 1, &err), err);
    assert_true(stn_batch_hash(batch, 1) == stn_batch_hash(batch, 2));
    const int32_t both[] = {1, 2};
    assert_ok(stn_batch_get(batch, STN_BATCH_BODY_POSE, both, 2, poses, &err), err);
    const int32_t columns = stn_batch_columns(batch, STN_BATCH_BODY_POSE);
    assert_int_equal(columns, 7 * stn_world_model(world)->body_count);
    assert_memory_equal(poses, poses + columns, (size_t)columns * sizeof *poses);
    assert_true(stn_batch_step(batch, 50, &err) >= 0); // and they go on alike
    assert_true(stn_batch_hash(batch, 1) == stn_batch_hash(batch, 2));
    assert_ok(stn_batch_reset(batch, &three, 1, &err), err);
    assert_true(stn_batch_hash(batch, 3) == start);
    assert_ok(stn_batch_get(batch, STN_BATCH_Q, &three, 1, q, &err), err);
    assert_memory_equal(q, stn_world_state(world)->q, (size_t)nq * sizeof *q);
    assert_ok(stn_batch_get(batch, STN_BATCH_BODY_POSE, &three, 1, poses, &err), err);
    assert_near(poses[7 + 2], 0.12, 0.0); // of the cube, at the start
    assert_ok(stn_batch_get(batch, STN_BATCH_CONTACT_FORCE, &three, 1, poses, &err), err);
    for (int32_t c = 0; c < stn_batch_columns(batch, STN_BATCH_CONTACT_FORCE); c++) {
        assert_near(poses[c], 0.0, 0.0);
    }
    stn_batch_destroy(batch);
    stn_world_destroy(world);
}

/// Two bodies at rest on the ground weigh what they weigh; the world gets the opposite.
static void outputs_are_those_of_the_step(void **state) {
    stn_world *world = busy_world(*state, NULL);
    const uint32_t all = (1u << STN_BATCH_FIELD_COUNT) - 1u;
    stn_batch *batch = batch_of(world, 3, 1, all);
    stn_error err;
    assert_true(stn_batch_step(batch, 2000, &err) >= 0);
    for (int32_t i = 0; i < 2000; i++) {
        assert_true(stn_world_step(world, &err) >= 0);
    }
    const stn_observation *seen = stn_world_observation(world);
    double row[3 * MOST_COLUMNS];
    assert_ok(stn_batch_get(batch, STN_BATCH_CONTACT_FORCE, NULL, 3, row, &err), err);
    const int32_t columns = stn_batch_columns(batch, STN_BATCH_CONTACT_FORCE);
    const double *middle = row + columns;
    assert_near(middle[5], -2.0 * 9.81, 1e-3);
    assert_near(middle[6 + 5] + middle[12 + 5], 2.0 * 9.81, 1e-3);
    assert_near(middle[6 + 3] + middle[12 + 3], 0.0, 1e-3);
    assert_ok(stn_batch_get(batch, STN_BATCH_CERTIFICATE, NULL, 1, row, &err), err);
    assert_near(row[0], seen->certificate->momentum, 0.0);
    assert_near(row[4], seen->certificate->penetration_m, 0.0);
    assert_near(row[stn_batch_columns(batch, STN_BATCH_CERTIFICATE) - 1], seen->certificate->box, 0.0);
    assert_ok(stn_batch_get(batch, STN_BATCH_REPORT, NULL, 1, row, &err), err);
    assert_near(row[0], seen->report->status, 0.0);
    assert_near(row[2], seen->report->contact_count, 0.0);
    assert_near(row[3], seen->report->overlap_m, 0.0);
    assert_ok(stn_batch_get(batch, STN_BATCH_ENERGY, NULL, 1, row, &err), err);
    assert_near(row[1], seen->report->potential_J, 0.0);
    assert_ok(stn_batch_get(batch, STN_BATCH_TIME, NULL, 3, row, &err), err);
    assert_near(row[2], seen->time, 0.0);
    for (int32_t f = 0; f < STN_BATCH_FIELD_COUNT; f++) {
        assert_non_null(stn_batch_field_name(f));
        assert_int_equal(stn_batch_columns(batch, f) > 0, f != STN_BATCH_MASS_FACTOR && f != STN_BATCH_FRICTION_FACTOR);
    }
    stn_batch_destroy(batch);
    stn_world_destroy(world);
}

static void a_world_that_fails_stands_still_alone(void **state) {
    stn_world *world = busy_world(*state, NULL);
    const int32_t nv = stn_world_model(world)->nv;
    stn_batch *batch = batch_of(world, 5, 2, 1u << STN_BATCH_REPORT);
    stn_error err;
    double effort[MOST_COLUMNS] = {0.0}, report[5 * 4];
    for (int32_t i = 0; i < nv; i++) {
        effort[i] = 1e308; // the step overflows
    }
    const int32_t bad[] = {3, 1};
    assert_ok(stn_batch_set(batch, STN_BATCH_EFFORT, &bad[0], 1, effort, &err), err);
    const uint64_t before = stn_batch_hash(batch, 3);
    const stn_status status = stn_batch_step(batch, 10, &err);
    assert_true(status < 0);
    assert_non_null(strstr(err.text, "world 3 of 5: "));
    assert_true(stn_batch_error(batch, 3)->status == status);
    assert_null(stn_batch_error(batch, 2));
    assert_int_equal(stn_batch_count_steps(batch).failed, 1);
    assert_true(stn_batch_hash(batch, 3) == before);
    assert_ok(stn_batch_get(batch, STN_BATCH_REPORT, NULL, 5, report, &err), err);
    assert_near(report[3 * 4], status, 0.0);
    for (int32_t i = 0; i < 10; i++) {
        assert_true(stn_world_step(world, &err) >= 0);
    }
    assert_true(stn_batch_hash(batch, 4) == stn_world_hash(world));   // the others are not touched
    assert_ok(stn_batch_copy(batch, &bad[0], &bad[1], 1, &err), err); // with its failure
    assert_int_equal(stn_batch_count_steps(batch).failed, 2);
    assert_true(stn_batch_step(batch, 1, &err) < 0);
    assert_non_null(strstr(err.text, "world 1 of 5 (2 worlds stand still)"));
    assert_true(stn_world_step(world, &err) >= 0);
    assert_true(stn_batch_hash(batch, 0) == stn_world_hash(world));
    memset(effort, 0, sizeof effort);
    assert_ok(stn_batch_set(batch, STN_BATCH_EFFORT, &bad[0], 1, effort, &err), err);
    assert_ok(stn_batch_reset(batch, &bad[1], 1, &err), err);
    assert_int_equal(stn_batch_count_steps(batch).failed, 0);
    assert_true(stn_batch_step(batch, 1, &err) >= 0);
    stn_batch_destroy(batch);
    stn_world_destroy(world);
}

static stn_status count_steps(void *user, int32_t world, stn_world *stepped, stn_error *err) {
    int32_t *steps = user;
    steps[world]++;
    return stn_world_state(stepped)->step == 3 && world == 2 ? stn_fail(err, STN_ERR_ARGUMENT, "seen enough") : STN_OK;
}

static void an_observer_sees_every_step(void **state) {
    stn_world *world = busy_world(*state, NULL);
    stn_batch *batch = batch_of(world, 4, 2, 0);
    int32_t steps[4] = {0};
    stn_error err;
    stn_batch_observe(batch, count_steps, steps);
    assert_int_equal(stn_batch_step(batch, 5, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "world 2 of 4: seen enough"));
    const int32_t expected[4] = {5, 5, 3, 5};
    assert_int_equal(stn_batch_count_steps(batch).steps, 18);
    assert_int_equal(stn_batch_count_steps(batch).not_converged, 0);
    assert_memory_equal(steps, expected, sizeof expected);
    stn_batch_destroy(batch);
    stn_world_destroy(world);
}

static stn_status change_what_is_shared(void *user, stn_world *world, stn_error *err) {
    (void)user;
    const stn_plugin_choice midpoint = {.id = "midpoint"};
    stn_instance *instance = NULL;
    int32_t controller = 0;
    assert_int_equal(stn_world_set_dt(world, 1e-3, err), STN_ERR_SEQUENCE);
    assert_int_equal(stn_world_set_integrator(world, &midpoint, err), STN_ERR_SEQUENCE);
    assert_ok(stn_instance_create(stn_world_context(world), STN_KIND_CONTROLLER, "joint_pd", NULL, 0, &instance, err),
              *err);
    assert_int_equal(stn_world_add_controller(world, instance, 3, NULL, 0, &controller, err), STN_ERR_SEQUENCE);
    assert_int_equal(stn_world_observe(world, NULL, NULL, err), STN_ERR_SEQUENCE);
    assert_ok(stn_world_set_gravity(world, stn_vec3_make(0.0, 0.0, -1.62), err), *err);
    const stn_pose up = {.rotation = stn_mat3_identity(), .position = stn_vec3_make(0.0, 0.0, 3.0)};
    return stn_world_set_body_pose(world, 1, &up, err);
}

static void a_visit_does_what_a_world_can(void **state) {
    stn_world *world = busy_world(*state, NULL);
    stn_batch *batch = batch_of(world, 3, 1, 1u << STN_BATCH_BODY_POSE);
    stn_error err;
    assert_ok(stn_batch_visit(batch, 1, change_what_is_shared, NULL, &err), err);
    double poses[MOST_COLUMNS];
    const int32_t one = 1;
    assert_ok(stn_batch_get(batch, STN_BATCH_BODY_POSE, &one, 1, poses, &err), err);
    assert_near(poses[7 + 2], 3.0, 0.0);
    assert_true(stn_batch_step(batch, 20, &err) >= 0);
    stn_error gravity;
    assert_ok(stn_world_set_gravity(world, stn_vec3_make(0.0, 0.0, -1.62), &gravity), gravity);
    const stn_pose up = {.rotation = stn_mat3_identity(), .position = stn_vec3_make(0.0, 0.0, 3.0)};
    assert_ok(stn_world_set_body_pose(world, 1, &up, &err), err);
    scene_steps(world, 20);
    assert_true(stn_batch_hash(batch, 1) == stn_world_hash(world));
    stn_batch_destroy(batch);
    stn_world_destroy(world);
}

static void what_is_wrong_is_refused(void **state) {
    stn_world *world = busy_world(*state, NULL);
    stn_world_options options = stn_world_options_default();
    stn_world *raw = scene_world(*state, &options);
    stn_batch *batch = NULL;
    stn_error err;
    stn_batch_options o = stn_batch_options_default();
    assert_int_equal(stn_batch_create(raw, &o, &batch, &err), STN_ERR_SEQUENCE);
    const int32_t counts[] = {0, -1, INT32_MAX};
    for (int32_t i = 0; i < STN_COUNT(counts); i++) {
        o.count = counts[i];
        assert_int_equal(stn_batch_create(world, &o, &batch, &err), STN_ERR_ARGUMENT);
        assert_null(batch);
        o.count = 1;
        o.threads = counts[i];
        assert_int_equal(stn_batch_create(world, &o, &batch, &err), STN_ERR_ARGUMENT);
        o.threads = 1;
    }
    o.size = 0;
    assert_int_equal(stn_batch_create(world, &o, &batch, &err), STN_ERR_ARGUMENT);
    batch = batch_of(world, 3, 1, 0);
    double values[3 * MOST_COLUMNS] = {0.0};
    const int32_t bad[] = {0, 3}, less[] = {-1};
    assert_int_equal(stn_batch_get(batch, STN_BATCH_Q, bad, 2, values, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "world 3 is not one of 0 to 2"));
    assert_int_equal(stn_batch_set(batch, STN_BATCH_Q, less, 1, values, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_batch_get(batch, STN_BATCH_Q, NULL, 4, values, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_batch_get(batch, STN_BATCH_Q, NULL, -1, values, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_batch_reset(batch, bad, 2, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_batch_copy(batch, bad, bad, 2, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_batch_get(batch, STN_BATCH_CERTIFICATE, NULL, 1, values, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "certificate is not kept"));
    assert_int_equal(stn_batch_set(batch, STN_BATCH_TIME, NULL, 1, values, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_batch_set(batch, STN_BATCH_FIELD_COUNT, NULL, 1, values, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_batch_get(batch, (stn_batch_field)-1, NULL, 1, values, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_batch_step(batch, -1, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_batch_step(batch, 0, &err), STN_OK);
    const int32_t columns = stn_batch_columns(batch, STN_BATCH_V);
    values[columns + 2] = (double)NAN;
    const uint64_t before = stn_batch_hash(batch, 1);
    assert_int_equal(stn_batch_set(batch, STN_BATCH_V, NULL, 3, values, &err), STN_ERR_NUMERIC);
    assert_non_null(strstr(err.text, "world 1, v: "));
    assert_int_equal(stn_batch_set(batch, STN_BATCH_WRENCH, NULL, 2, values, &err), STN_ERR_NUMERIC);
    assert_true(stn_batch_hash(batch, 1) == before);
    assert_int_equal(stn_batch_visit(batch, 3, change_what_is_shared, NULL, &err), STN_ERR_ARGUMENT);
    assert_null(stn_batch_error(batch, 7));
    assert_true(stn_batch_hash(batch, -1) == 0);
    stn_batch_destroy(batch);
    stn_batch_destroy(NULL);
    stn_world_destroy(raw);
    stn_world_destroy(world);
}

static void a_steady_step_allocates_nothing(void **state) {
    stn_world *world = busy_world(*state, NULL);
    stn_batch *batch = batch_of(world, 16, 2, (1u << STN_BATCH_FIELD_COUNT) - 1u);
    stn_error err;
    assert_true(stn_batch_step(batch, 300, &err) >= 0);
    double q[16 * MOST_COLUMNS];
    const int64_t before = stn_context_allocations(*state);
    assert_true(stn_batch_step(batch, 100, &err) >= 0);
    assert_ok(stn_batch_get(batch, STN_BATCH_Q, NULL, 16, q, &err), err);
    assert_ok(stn_batch_set(batch, STN_BATCH_Q, NULL, 16, q, &err), err);
    assert_ok(stn_batch_reset(batch, NULL, 16, &err), err);
    assert_int_equal(stn_context_allocations(*state) - before, 0);
    stn_batch_destroy(batch);
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worlds_step_as_if_alone),       cmocka_unit_test(reset_and_branch),
        cmocka_unit_test(outputs_are_those_of_the_step), cmocka_unit_test(a_world_that_fails_stands_still_alone),
        cmocka_unit_test(an_observer_sees_every_step),   cmocka_unit_test(a_visit_does_what_a_world_can),
        cmocka_unit_test(what_is_wrong_is_refused),      cmocka_unit_test(a_steady_step_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
