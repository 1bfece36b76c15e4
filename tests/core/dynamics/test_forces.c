// SPDX-License-Identifier: Apache-2.0
// Gathering forces: tau, K, D and servos of an arm and a free body.
#include "stn_test.h"

#include <stdlib.h>
#include <string.h>

#include <stiction/forces.h>

#include "stn_model_test.h"
#include "stn_random_pose.h"

enum { ARM = 4, NV = ARM + 6 };

typedef struct fixture {
    stn_context *context;
    stn_model *model;
    stn_kinematics *kinematics;
    double q[ARM + 7], v[NV], tau[NV], K_storage[ARM * ARM + 36], D_storage[ARM * ARM + 36];
    stn_matrix K[2], D[2];
    stn_servo servos[NV];
    stn_forces forces;
} fixture;

static int set_up(void **state) {
    static fixture f;
    stn_error err;
    stn_random r = {21};
    memset(&f, 0, sizeof f);
    assert_ok(stn_context_create(NULL, &f.context, &err), err);
    stn_model_builder *b = new_builder(f.context);
    stn_mass mass = mass_of(1.0, stn_vec3_make(0.1, 0.0, 0.2), 0.1, 0.1, 0.1);
    int32_t robot = begin_robot(b, "arm"), previous = add_link(b, "base", mass);
    set_base(b, robot, random_pose(&r, 1.0), true);
    for (int32_t i = 0; i < ARM; i++) {
        char name[16];
        snprintf(name, sizeof name, "l%d", i);
        int32_t link = add_link(b, name, mass);
        add_joint(b, name, i == 2 ? STN_JOINT_PRISMATIC : STN_JOINT_REVOLUTE, previous, link, random_pose(&r, 0.3),
                  random_unit(&r));
        previous = link;
    }
    begin_robot(b, "ball");
    add_link(b, "ball", mass);
    f.model = compile_model(b);
    stn_builder_destroy(b);
    for (int32_t i = 0; i < f.model->nq; i++) {
        f.q[i] = random_between(&r, -1.0, 1.0);
    }
    for (int32_t i = 0; i < NV; i++) {
        f.v[i] = random_between(&r, -1.0, 1.0);
    }
    assert_ok(stn_kinematics_create(f.model, &f.kinematics, &err), err);
    stn_kinematics_update(f.kinematics, f.q, f.v);
    for (int32_t i = 0; i < ARM * ARM + 36; i++) {
        f.K_storage[i] = f.D_storage[i] = (double)NAN; // promotion must clear what it uses
    }
    for (int32_t t = 0; t < 2; t++) {
        f.K[t] = f.D[t] = (stn_matrix){.n = f.model->trees[t].nv};
    }
    f.forces = (stn_forces){.model = f.model,
                            .tau = f.tau,
                            .K = f.K,
                            .D = f.D,
                            .servo_storage = f.servos,
                            .servos = f.servos,
                            .K_storage = f.K_storage,
                            .D_storage = f.D_storage};
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    stn_kinematics_destroy(f->kinematics);
    stn_model_destroy(f->model);
    stn_context_destroy(f->context);
    return 0;
}

static void gains_make_a_diagonal_only_where_they_act(void **state) {
    fixture *f = *state;
    stn_forces_add_effort(&f->forces, 1, 2.0);
    stn_forces_add_gain(&f->forces, 1, 100.0, 0.0, -3.0);
    stn_forces_add_gain(&f->forces, 1, 50.0, 0.0, 0.5);
    assert_near(f->tau[1], -0.5, 0.0);
    assert_int_equal(f->K[0].form, STN_MATRIX_DIAGONAL);
    assert_int_equal(f->D[0].form, STN_MATRIX_ZERO);
    assert_int_equal(f->K[1].form, STN_MATRIX_ZERO);
    const double expected[ARM] = {0.0, 150.0, 0.0, 0.0};
    for (int32_t i = 0; i < ARM; i++) {
        assert_near(f->K[0].values[i], expected[i], 0.0);
    }
    stn_forces_add_gain(&f->forces, ARM + 3, 0.0, 7.0, 0.0); // the ball's tree has its own storage
    assert_int_equal(f->D[1].form, STN_MATRIX_DIAGONAL);
    assert_near(f->D[1].values[3], 7.0, 0.0);
    assert_ptr_equal(f->D[1].values, f->D_storage + ARM * ARM);
}

static void matrices_couple_the_dofs_of_a_tree(void **state) {
    fixture *f = *state;
    double K[ARM * ARM], tau0[ARM] = {1.0, -2.0, 3.0, -4.0};
    for (int32_t i = 0; i < ARM * ARM; i++) {
        K[i] = 1.0 / (1.0 + i / ARM + i % ARM);
    }
    stn_forces_add_gain(&f->forces, 2, 10.0, 0.0, 0.25);
    stn_forces_add_matrix(&f->forces, 0, K, NULL, tau0);
    assert_int_equal(f->K[0].form, STN_MATRIX_DENSE);
    assert_int_equal(f->D[0].form, STN_MATRIX_ZERO);
    for (int32_t i = 0; i < ARM * ARM; i++) {
        assert_near(f->K[0].values[i], K[i] + (i == 2 * (ARM + 1) ? 10.0 : 0.0), 0.0);
        assert_near(f->tau[i % ARM], tau0[i % ARM] + (i % ARM == 2 ? 0.25 : 0.0), 0.0);
    }
}

static void wrench_does_the_power_of_force_and_torque(void **state) {
    fixture *f = *state;
    stn_random r = {5};
    for (int32_t body = 0; body < f->model->body_count; body++) {
        memset(f->tau, 0, sizeof f->tau);
        stn_vec3 point = random_vec3(&r, 1.0);
        stn_spatial wrench = {random_vec3(&r, 3.0), random_vec3(&r, 3.0)};
        stn_forces_add_wrench(&f->forces, f->kinematics, body, point, wrench);
        double power = 0.0;
        for (int32_t i = 0; i < NV; i++) {
            power += f->tau[i] * f->v[i];
        }
        double expected = stn_vec3_dot(wrench.linear, stn_point_velocity(f->kinematics, body, point)) +
                          stn_vec3_dot(wrench.angular, f->kinematics->body_velocity[body].angular);
        assert_near(power, expected, 1e-13);
    }
}

static stn_servo good_servo(int32_t dof) {
    stn_servo servo = {.dof = dof, .kp = 100.0, .kd = 1.0, .error = 0.1, .velocity = 0.0, .effort = 20.0};
    return servo;
}

static void servos_of_a_dof_add_up_and_are_sorted(void **state) {
    fixture *f = *state;
    stn_error err;
    static const int32_t order[] = {2, 0, 3, 1};
    for (int32_t i = 0; i < STN_COUNT(order); i++) {
        stn_servo servo = good_servo(order[i]);
        assert_ok(stn_forces_add_servo(&f->forces, &servo, &err), err);
    }
    for (int32_t i = 0; i < STN_COUNT(order); i++) {
        const stn_servo *sum = &f->forces.servos[i], first = good_servo(i);
        stn_servo second = {.dof = i, .kp = 50.0, .kd = 3.0, .error = -0.2, .velocity = 0.4, .effort = 5.0};
        second.feedforward = 1.5;
        assert_int_equal(sum->dof, i);
        assert_ok(stn_forces_add_servo(&f->forces, &second, &err), err);
        for (int32_t k = 0; k < 5; k++) { // the sum of both laws, wherever the joint goes
            double dq = 0.3 * k - 0.7, v = 0.9 - 0.5 * k;
            double u = -first.kp * (first.error + dq) - first.kd * (v - first.velocity);
            u += -second.kp * (second.error + dq) - second.kd * (v - second.velocity) + second.feedforward;
            assert_near(-sum->kp * (sum->error + dq) - sum->kd * (v - sum->velocity) + sum->feedforward, u, 1e-12);
        }
        assert_near(sum->effort, fmin(25.0, f->model->joints[i].effort), 0.0);
    }
    assert_int_equal(f->forces.servo_count, STN_COUNT(order));
}

static void bad_servos_are_refused_by_name(void **state) {
    fixture *f = *state;
    enum { CASES = 7 };
    stn_servo servos[CASES];
    const char *words[CASES] = {"dof -1", "dof 10", "kp = -1", "kd = nan", "effort = 0", "effort = inf", "error nan"};
    for (int32_t i = 0; i < CASES; i++) {
        servos[i] = good_servo(2);
    }
    servos[0].dof = -1;
    servos[1].dof = NV;
    servos[2].kp = -1.0;
    servos[3].kd = (double)NAN;
    servos[4].effort = 0.0;
    servos[5].effort = (double)INFINITY;
    servos[6].error = (double)NAN;
    for (int32_t i = 0; i < CASES; i++) {
        stn_error err;
        assert_int_equal(stn_forces_add_servo(&f->forces, &servos[i], &err),
                         i == 6 ? STN_ERR_NUMERIC : STN_ERR_ARGUMENT);
        if (strstr(err.text, words[i]) == NULL || (i > 1 && strstr(err.text, "'l2'") == NULL)) {
            fail_msg("'%s' is not in: %s", words[i], err.text);
        }
    }
    assert_int_equal(f->forces.servo_count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(gains_make_a_diagonal_only_where_they_act),
        TEST(wrench_does_the_power_of_force_and_torque),
        TEST(matrices_couple_the_dofs_of_a_tree),
        TEST(servos_of_a_dof_add_up_and_are_sorted),
        TEST(bad_servos_are_refused_by_name),
    };
    return cmocka_run_group_tests_name("forces", tests, NULL, NULL);
}
