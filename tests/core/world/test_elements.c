// SPDX-License-Identifier: Apache-2.0
// What a group of elements keeps and is told: states, channels, parameters of its own, mass, outputs, a status; through
// the real step, from snapshots, in clones, with any number of threads.
#include "scenes.h"

#include <stiction/record.h>

#include <stdlib.h>

/// A spring between two nodes whose rest length follows its length with a time constant (creep), beside a motor that
/// pulls both ends together. Its mass is consistent, M = m/6 [2 1; 1 2].
typedef struct creep {
    double k, time_constant, mass;
} creep;
static const stn_param params[] = {
    STN_PARAM_REAL(creep, k, "N/m", 100.0, 0.0, INFINITY, "stiffness"),
    STN_PARAM_REAL(creep, time_constant, "s", 0.1, 1e-9, INFINITY, "of the rest length"),
    STN_PARAM_REAL(creep, mass, "kg", 0.2, 0.0, INFINITY, "of an element"),
};
static const stn_element_parameter own_params[] = {{"k", "N/m", "stiffness"}};
static const stn_channel channels[] = {{"bias", "m", "not read", 2}, {"pull", "N", "of the motor", 1}};
static const stn_constraint_output outputs[] = {{"rest_length", "m", "now", 1, NULL},
                                                {"end", "m", "to the first", 3, NULL}};

static double direction(const double *x, double n[3]) {
    double square = 0.0;
    for (int32_t i = 0; i < 3; i++) {
        n[i] = x[3 + i] - x[i];
        square += n[i] * n[i];
    }
    for (int32_t i = 0; i < 3; i++) {
        n[i] /= sqrt(square);
    }
    return sqrt(square);
}

static stn_status prepare(const void *self, const double *rest, const double *own, double *constants, stn_error *err) {
    (void)err;
    double n[3];
    constants[0] = direction(rest, n);
    constants[1] = isnan(own[0]) ? ((const creep *)self)->k : own[0];
    constants[2] = ((const creep *)self)->mass;
    return STN_OK;
}

static void initial_state(const void *self, const double *constants, double *state) {
    (void)self;
    state[0] = constants[0];
    state[1] = 7.0;
}

static stn_status evaluate(const void *self, stn_element_batch *b, stn_error *err) {
    const creep *c = self;
    for (int32_t e = 0; e < b->count; e++) {
        double n[3];
        const double *x = b->x + 6 * e, *state = b->state + 2 * e, k = b->constants[3 * e + 1];
        const double length = direction(x, n), stretch = length - state[0], pull = k * stretch + b->channels[2];
        b->energy[e] = 0.5 * k * stretch * stretch;
        b->wrong = e;
        if (length > 5.0) {
            return stn_fail(err, STN_ERR_DIVERGED, "length = %g m: torn", length);
        }
        for (int32_t i = 0; i < 6; i++) {
            b->force[6 * e + i] = (i < 3 ? 1.0 : -1.0) * pull * n[i % 3];
            for (int32_t j = 0; j < 6 && b->K != NULL; j++) {
                b->K[36 * e + 6 * i + j] = (i / 3 == j / 3 ? 1.0 : -1.0) * k * n[i % 3] * n[j % 3];
                b->D[36 * e + 6 * i + j] = 0.0;
            }
        }
        if (b->next_state != NULL) {
            b->next_state[2 * e] = state[0] + b->dt / c->time_constant * stretch;
            b->next_state[2 * e + 1] = state[1] + 1.0;
        }
    }
    return STN_OK;
}

static void mass(const void *self, const double *constants, double *M) {
    (void)self;
    M[0] = M[3] = constants[2] / 3.0;
    M[1] = M[2] = constants[2] / 6.0;
}

static void measure(const void *self, const stn_element_batch *b, double *values) {
    (void)self;
    for (int32_t e = 0; e < b->count; e++) {
        values[4 * e] = b->state[2 * e];
        for (int32_t i = 0; i < 3; i++) {
            values[4 * e + 1 + i] = b->x[6 * e + 3 + i] - b->x[6 * e + i];
        }
    }
}

static const stn_element_ops ops = {.size = sizeof ops,
                                    .nodes_per_element = 2,
                                    .constant_count = 3,
                                    .prepare = prepare,
                                    .evaluate = evaluate,
                                    .parameter_count = STN_COUNT(own_params),
                                    .parameters = own_params,
                                    .channel_count = STN_COUNT(channels),
                                    .channels = channels,
                                    .state_count = 2,
                                    .initial_state = initial_state,
                                    .mass = mass,
                                    .output_count = STN_COUNT(outputs),
                                    .outputs = outputs,
                                    .measure = measure};
static const stn_plugin_desc plugin = {.size = sizeof plugin,
                                       .kind = STN_KIND_ELEMENT,
                                       .id = "creep",
                                       .version = "1",
                                       .summary = "for tests",
                                       .config_size = sizeof(creep),
                                       .params = params,
                                       .param_count = STN_COUNT(params),
                                       .ops.element = &ops};

enum { NODES = 2001, SPRINGS = NODES - 1 }; // several waves of batches, and a part of one

/// A chain in space without gravity, stretched by a fifth; two groups of elements, of which the first is empty.
static stn_world *chain(stn_context *context, int32_t count, int32_t threads, const double *stiffness) {
    stn_world_options options = stn_world_options_default();
    options.gravity = stn_vec3_zero();
    options.threads = threads;
    stn_world *world = scene_world(context, &options);
    stn_model_builder *builder = stn_world_builder(world);
    double *x = calloc(3 * (size_t)count, sizeof *x), *rest = calloc(3 * (size_t)count, sizeof *rest);
    int32_t *index = calloc(2 * (size_t)count, sizeof *index), cloud = 0, group = 0;
    assert_true(x != NULL && rest != NULL && index != NULL);
    for (int32_t i = 0; i < count; i++) {
        rest[3 * i] = 0.1 * i;
        x[3 * i] = 0.12 * i;
        x[3 * i + 1] = 0.01 * (i % 7);
        index[2 * i] = i;
        index[2 * i + 1] = i + 1;
    }
    const stn_nodes_spec nodes = {
        .name = "chain", .node_count = count, .position = x, .rest = rest, .material = stn_material_unset()};
    stn_error err;
    assert_ok(stn_builder_add_nodes(builder, &nodes, &cloud, &err), err);
    for (int32_t g = 0; g < 2; g++) {
        const stn_elements_spec spec = {.name = g == 0 ? "none" : "springs",
                                        .nodes = cloud,
                                        .element_count = g == 0 ? 0 : count - 1,
                                        .index = index,
                                        .parameters = g == 0 ? NULL : stiffness};
        stn_instance *instance = NULL;
        assert_ok(stn_instance_create(context, STN_KIND_ELEMENT, "creep", NULL, 0, &instance, &err), err);
        assert_ok(stn_builder_add_elements(builder, instance, &spec, &group, &err), err);
        assert_int_equal(group, g);
    }
    free(x);
    free(rest);
    free(index);
    assert_ok(stn_world_compile(world, &err), err);
    return world;
}

static void output(const stn_world *world, double *values) {
    stn_error err;
    assert_ok(stn_world_element_outputs(world, 1, values, &err), err);
}

static void states_go_from_step_to_step(void **state) {
    stn_world *world = chain(*state, 2, 1, NULL);
    double told[4], rest = 0.1;
    output(world, told);
    assert_near(told[0], rest, 0.0);
    for (int32_t i = 0; i < 50; i++) { // by hand, from what is told of positions
        output(world, told);
        assert_near(told[0], rest, 1e-15);
        const double length = sqrt(told[1] * told[1] + told[2] * told[2] + told[3] * told[3]);
        assert_near(stn_world_elastic_energy(world), 50.0 * (length - rest) * (length - rest), 1e-12);
        rest += 2e-3 / 0.1 * (length - rest);
        scene_steps(world, 1);
    }
    assert_true(fabs(rest - 0.1) > 1e-4); // it crept
    stn_world_destroy(world);
}

/// Reset, snapshot, clone and threads: the same bits.
static void states_belong_to_the_state(void **state) {
    stn_world *world = chain(*state, NODES, 1, NULL), *threaded = chain(*state, NODES, 3, NULL), *clone = NULL;
    const double pull = 0.3;
    stn_snapshot *snapshot = NULL;
    stn_error err;
    scene_steps(world, 10);
    assert_ok(stn_world_set_element_channel(world, 1, "pull", &pull, 1, &err), err);
    assert_ok(stn_world_snapshot(world, &snapshot, &err), err);
    assert_ok(stn_world_clone(world, &clone, &err), err);
    scene_steps(world, 10);
    const uint64_t end = stn_world_hash(world);
    scene_steps(clone, 10);
    assert_true(stn_world_hash(clone) == end);
    assert_ok(stn_world_restore(world, snapshot, &err), err);
    scene_steps(world, 10);
    assert_true(stn_world_hash(world) == end);
    stn_world_reset(world);
    scene_steps(threaded, 10);
    scene_steps(world, 10);
    assert_true(stn_world_hash(world) == stn_world_hash(threaded));
    assert_ok(stn_world_set_element_channel(threaded, 1, "pull", &pull, 1, &err), err);
    scene_steps(threaded, 10);
    assert_true(stn_world_hash(threaded) == end);
    stn_snapshot_destroy(snapshot);
    stn_world_destroy(clone);
    stn_world_destroy(threaded);
    stn_world_destroy(world);
}

static void channels_are_named_and_checked(void **state) {
    stn_world *world = chain(*state, 3, 1, NULL);
    const double good = -2.0, bad = (double)NAN;
    stn_constraint_value value;
    stn_error err;
    assert_ok(stn_world_set_element_channel(world, 1, "pull", &good, 1, &err), err);
    assert_ok(stn_world_get_element_channel(world, 1, "pull", &value, &err), err);
    assert_int_equal(value.count, 1);
    assert_near(value.values[0], good, 0.0);
    assert_ok(stn_world_get_element_channel(world, 0, "pull", &value, &err), err); // that of the other group
    assert_near(value.values[0], 0.0, 0.0);
    assert_int_equal(stn_world_set_element_channel(world, 1, "push", &good, 1, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "elements creep 'springs': there is no channel 'push'; known: bias, pull"));
    assert_int_equal(stn_world_set_element_channel(world, 1, "bias", &good, 1, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "bias takes 2 values, got 1"));
    assert_int_equal(stn_world_set_element_channel(world, 1, "pull", &bad, 1, &err), STN_ERR_NUMERIC);
    assert_int_equal(stn_world_set_element_channel(world, 2, "pull", &good, 1, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "there is no group 2 (2 groups)"));
    stn_world_destroy(world);
}

/// k of one element in place of the instance's, and the consistent mass: two nodes under equal and opposite forces f
/// accelerate by f/(m/3 - m/6) each, along the other's line of mass.
static void an_element_has_parameters_and_mass(void **state) {
    const double own[2] = {(double)NAN, 25.0};
    stn_world *world = chain(*state, 3, 1, own);
    assert_near(stn_world_elastic_energy(world), 0.5 * (100.0 + 25.0) * pow(sqrt(0.12 * 0.12 + 0.01 * 0.01) - 0.1, 2.0),
                1e-12);
    assert_near(stn_total_mass(stn_world_model(world)), 0.4, 1e-15);
    const double *node = stn_world_model(world)->node_mass;
    assert_near(node[1], 0.2, 1e-15);
    stn_error err;
    double v[9] = {1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 4.0, 0.0, 0.0}; // 1/2 v^T M v = m/6 (1 + 2 + 4 + 4 + 8 + 16)
    assert_ok(stn_world_set_v(world, v, &err), err);
    const stn_kinematics *k = stn_world_kinematics(world);
    assert_near(stn_kinetic_energy(k), 0.2 / 6.0 * 35.0, 1e-15);
    assert_near(stn_momentum(k).linear.x, 0.1 * 1.0 + 0.2 * 2.0 + 0.1 * 4.0, 1e-15);
    stn_world_destroy(world);
    world = chain(*state, 2, 1, NULL);
    const double pull = 1.0, dt = 2e-3;
    assert_ok(stn_world_set_element_channel(world, 1, "pull", &pull, 1, &err), err);
    double told[4];
    output(world, told);
    const double length = sqrt(told[1] * told[1] + told[2] * told[2]), m = 0.2 / 6.0;
    const double force = 100.0 * (length - 0.1) + pull;
    scene_steps(world, 1);
    const double *u = stn_world_state(world)->v; // (M + dt^2 K) u = dt f along the line, u_2 = -u_1: M u = m/6 u
    assert_near(sqrt(u[0] * u[0] + u[1] * u[1]), dt * force / (m + 2.0 * dt * dt * 100.0), 1e-12);
    stn_world_destroy(world);
}

static void a_torn_element_is_named_and_the_step_is_not_made(void **state) {
    stn_world *world = chain(*state, NODES, 2, NULL);
    double *q = calloc(3 * (size_t)NODES, sizeof *q);
    stn_error err;
    assert_non_null(q);
    memcpy(q, stn_world_state(world)->q, 3 * (size_t)NODES * sizeof *q);
    for (int32_t i = 1201; i < NODES; i++) { // between nodes 1200 and 1201, and further on
        q[3 * i] += 10.0;
    }
    for (int32_t i = 1901; i < NODES; i++) {
        q[3 * i] += 10.0;
    }
    assert_ok(stn_world_set_q(world, q, &err), err);
    const uint64_t before = stn_world_hash(world);
    assert_int_equal(stn_world_step(world, &err), STN_ERR_DIVERGED);
    assert_non_null(
        strstr(err.text, "element creep: element 1200 (counted from 0) of 'chain/springs', nodes 1200, 1201: length"));
    assert_true(stn_world_hash(world) == before);
    free(q);
    stn_world_destroy(world);
}

static int set_up(void **state) {
    stn_error err;
    int failed = scene_setup(state);
    return failed != 0 || stn_plugin_register(*state, &plugin, &err) != STN_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_go_from_step_to_step),
        cmocka_unit_test(states_belong_to_the_state),
        cmocka_unit_test(channels_are_named_and_checked),
        cmocka_unit_test(an_element_has_parameters_and_mass),
        cmocka_unit_test(a_torn_element_is_named_and_the_step_is_not_made),
    };
    return cmocka_run_group_tests(tests, set_up, scene_teardown);
}
