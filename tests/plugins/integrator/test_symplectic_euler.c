// SPDX-License-Identifier: Apache-2.0
// Order, energy and invariants of the integrator on motions without contact.
#include "scenes.h"

#include <stdlib.h>

static stn_world *make(double dt, stn_vec3 gravity, stn_context **context) {
    stn_error err;
    assert_ok(stn_context_create(NULL, context, &err), err);
    stn_world_options options = stn_world_options_default();
    options.dt = dt;
    options.gravity = gravity;
    return scene_world(*context, &options);
}

static void add_top(stn_world *world) {
    stn_model_builder *builder = stn_world_builder(world);
    stn_link_spec link = {.name = "top", .mass = {.mass = 1.0, .inertia = stn_mat3_diagonal(0.1, 0.2, 0.3)}};
    int32_t robot = 0, id = 0;
    stn_error err;
    assert_ok(stn_builder_begin_group(builder, "top", &robot, &err), err);
    assert_ok(stn_builder_add_link(builder, &link, &id, &err), err);
}

/// Angle between the top's attitude after 1 s and the reference quaternion [rad].
static double top_error(double dt, const double reference[4], double *energy, double *momentum) {
    stn_context *context = NULL;
    stn_world *world = make(dt, stn_vec3_zero(), &context);
    add_top(world);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    const double v[6] = {0.0, 0.0, 0.0, 0.01, 5.0, 0.02};
    assert_ok(stn_world_set_v(world, v, &err), err);
    scene_steps(world, (int32_t)lround(1.0 / dt));
    const double *q = stn_world_state(world)->q + 3;
    assert_near(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1.0, 1e-14);
    double dot = fabs(q[0] * reference[0] + q[1] * reference[1] + q[2] * reference[2] + q[3] * reference[3]);
    *energy = stn_world_observation(world)->report->kinetic_J;
    *momentum = stn_momentum(stn_world_kinematics(world)).angular.y;
    stn_world_destroy(world);
    stn_context_destroy(context);
    return 2.0 * acos(fmin(dot, 1.0));
}

/// The unstable middle axis, before its first flip, against the reference of the shared data.
static void the_free_top_is_followed_with_order_one(void **state) {
    (void)state;
    const char *path = STN_SHARED_DIR "/reference/g_dynamics/free_top.csv";
    skip_without(path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[1024];
    double row[12] = {0.0};
    assert_non_null(fgets(line, sizeof line, file));
    while (row[0] < 1.0 - 1e-9 && fgets(line, sizeof line, file) != NULL) {
        char *p = line;
        for (int32_t i = 0; i < 12; i++) {
            row[i] = strtod(p, &p);
            p++;
        }
    }
    fclose(file);
    assert_near(row[0], 1.0, 1e-9);
    double energy = 0.0, momentum = 0.0;
    double coarse = top_error(1e-3, row + 1, &energy, &momentum);
    assert_near(energy, 2.500065, 5e-3 * 2.5);
    double fine = top_error(2.5e-4, row + 1, &energy, &momentum);
    assert_near(energy, 2.500065, 1.25e-3 * 2.5);
    assert_near(momentum, 1.0, 1.25e-3);
    double order = log2(coarse / fine) / 2.0;
    print_message("free top at 1 s: error %.3g rad at 1 ms, %.3g rad at 0.25 ms, order %.2f\n", coarse, fine, order);
    assert_true(order > 0.9 && order < 1.3);
}

/// A pendulum of 1 kg at 1 m: the energy error of the symplectic scheme oscillates but does not drift.
static void the_energy_of_a_pendulum_stays_bounded(void **state) {
    (void)state;
    stn_context *context = NULL;
    stn_world *world = make(2e-3, stn_vec3_make(0.0, 0.0, -9.81), &context);
    stn_model_builder *builder = stn_world_builder(world);
    stn_link_spec base = {.name = "base"};
    stn_link_spec rod = {.name = "rod", .mass = {1.0, {0.0, 0.0, -1.0}, stn_mat3_diagonal(1e-3, 1e-3, 1e-3)}};
    stn_joint_spec joint = stn_joint_spec_default("pivot", STN_JOINT_CONTINUOUS);
    int32_t robot = 0, id = 0;
    stn_pose pose = stn_pose_identity();
    stn_error err;
    assert_ok(stn_builder_begin_group(builder, "pendulum", &robot, &err), err);
    assert_ok(stn_builder_add_link(builder, &base, &joint.parent, &err), err);
    assert_ok(stn_builder_add_link(builder, &rod, &joint.child, &err), err);
    joint.axis = stn_vec3_make(0.0, 1.0, 0.0);
    assert_ok(stn_builder_add_joint(builder, &joint, &id, &err), err);
    assert_ok(stn_builder_set_base(builder, robot, &pose, true, &err), err);
    assert_ok(stn_world_compile(world, &err), err);
    double q = 1.0;
    assert_ok(stn_world_set_q(world, &q, &err), err);
    double start = stn_gravitational_energy(stn_world_kinematics(world), stn_world_state(world)->gravity);
    double largest[2] = {0.0, 0.0};
    for (int32_t half = 0; half < 2; half++) {
        for (int32_t i = 0; i < 10000; i++) {
            scene_steps(world, 1);
            const stn_step_report *r = stn_world_observation(world)->report;
            largest[half] = worse(largest[half], fabs(r->kinetic_J + r->potential_J - start));
        }
    }
    assert_true(largest[0] < 0.05);                         // order dt of the 4.5 J that swing
    assert_near(largest[1], largest[0], 0.02 * largest[0]); // and no larger after 20 s more
    stn_world_destroy(world);
    stn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_free_top_is_followed_with_order_one),
        cmocka_unit_test(the_energy_of_a_pendulum_stays_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
