// SPDX-License-Identifier: Apache-2.0
// Closed forms: free bodies, merged links, point masses, energies and momenta.
#include "stn_test.h"

#include <string.h>

#include "simulate.h"
#include "stn_heap.h"
#include "stn_model_test.h"
#include "stn_random_pose.h"

static const stn_vec3 GRAVITY = {0.0, 0.0, -9.81}, Z = {0.0, 0.0, 1.0};

static stn_heap heap;
static stn_context *context;
static stn_model_builder *builder;

static int set_up(void **state) {
    (void)state;
    memset(&heap, 0, sizeof heap);
    context = stn_heap_context(&heap);
    builder = new_builder(context);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    stn_builder_destroy(builder);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
    return 0;
}

static stn_mass lopsided(void) {
    stn_mat3 turn = stn_quat_matrix(stn_quat_exp(stn_vec3_make(0.3, -0.5, 0.7))), i = stn_mat3_diagonal(0.1, 0.2, 0.25);
    stn_mass m = {2.0, {0.1, -0.2, 0.3}, stn_mat3_rotate_tensor(&turn, &i)};
    return m;
}

static void random_state(stn_random *r, const stn_model *model, double *q, double *v) {
    for (int32_t j = 0; j < model->joint_count; j++) {
        stn_vec3 x = random_vec3(r, 1.0);
        stn_quat e = random_rotation(r);
        const double start[7] = {x.x, x.y, x.z, e.w, e.x, e.y, e.z};
        memcpy(q + model->joints[j].q_start, start, (size_t)model->joints[j].nq * sizeof *q);
    }
    for (int32_t i = 0; i < model->nv; i++) {
        v[i] = random_between(r, -2.0, 2.0);
    }
}

static void free_body_obeys_newton_and_euler(void **state) {
    (void)state;
    stn_random r = {11};
    begin_robot(builder, "body");
    stn_mass mass = lopsided();
    add_link(builder, "body", mass);
    stn_model *model = compile_model(builder);
    simulator s = simulator_create(model, GRAVITY);
    double q[7], v[6], a[6], tau[6];
    for (int32_t round = 0; round < 20; round++) {
        random_state(&r, model, q, v);
        for (int32_t i = 0; i < 6; i++) {
            a[i] = random_between(&r, -3.0, 3.0);
        }
        stn_kinematics_update(s.kinematics, q, v);
        stn_inverse_dynamics(s.kinematics, 0, GRAVITY, a, s.scratch, tau);
        const stn_mat3 *R = &s.kinematics->body_pose[1].rotation;
        stn_mat3 I = stn_mat3_rotate_tensor(R, &mass.inertia);
        stn_vec3 c = stn_mat3_apply(R, mass.com), w = stn_vec3_make(v[3], v[4], v[5]);
        stn_vec3 alpha = stn_vec3_make(a[3], a[4], a[5]), at_com = stn_vec3_make(a[0], a[1], a[2]);
        at_com = stn_vec3_add(at_com, stn_vec3_cross(alpha, c));
        at_com = stn_vec3_add(at_com, stn_vec3_cross(w, stn_vec3_cross(w, c)));
        stn_vec3 f = stn_vec3_scale(mass.mass, stn_vec3_sub(at_com, GRAVITY));
        stn_vec3 t = stn_vec3_add(stn_mat3_apply(&I, alpha), stn_vec3_cross(w, stn_mat3_apply(&I, w)));
        t = stn_vec3_add(t, stn_vec3_cross(c, f));
        const double expected[6] = {f.x, f.y, f.z, t.x, t.y, t.z};
        for (int32_t i = 0; i < 6; i++) {
            assert_near(tau[i], expected[i], 1e-13 * 50.0);
        }
    }
    simulator_destroy(&s);
    stn_model_destroy(model);
}

static void momentum_and_energy_of_free_bodies_add_up(void **state) {
    (void)state;
    stn_random r = {12};
    enum { BODIES = 5 };
    const char *names[BODIES] = {"a", "b", "c", "d", "e"};
    for (int32_t i = 0; i < BODIES; i++) {
        begin_robot(builder, names[i]);
        add_link(builder, "body", lopsided());
    }
    stn_model *model = compile_model(builder);
    simulator s = simulator_create(model, GRAVITY);
    double q[7 * BODIES], v[6 * BODIES], kinetic = 0.0, potential = 0.0;
    random_state(&r, model, q, v);
    stn_kinematics_update(s.kinematics, q, v);
    stn_mass mass = lopsided();
    stn_vec3 p = stn_vec3_zero(), L = p;
    for (int32_t i = 0; i < BODIES; i++) {
        const stn_pose *pose = &s.kinematics->body_pose[i + 1];
        stn_vec3 c = stn_pose_apply(pose, mass.com), w = stn_vec3_make(v[6 * i + 3], v[6 * i + 4], v[6 * i + 5]);
        stn_vec3 u = stn_vec3_add(stn_vec3_make(v[6 * i], v[6 * i + 1], v[6 * i + 2]),
                                  stn_vec3_cross(w, stn_vec3_sub(c, pose->position)));
        stn_mat3 I = stn_mat3_rotate_tensor(&pose->rotation, &mass.inertia);
        stn_vec3 spin = stn_mat3_apply(&I, w), pi = stn_vec3_scale(mass.mass, u);
        p = stn_vec3_add(p, pi);
        L = stn_vec3_add(L, stn_vec3_add(spin, stn_vec3_cross(c, pi)));
        kinetic += 0.5 * (stn_vec3_dot(pi, u) + stn_vec3_dot(spin, w));
        potential += mass.mass * 9.81 * c.z;
    }
    stn_spatial momentum = stn_momentum(s.kinematics);
    assert_near(stn_vec3_norm(stn_vec3_sub(momentum.linear, p)), 0.0, 1e-13);
    assert_near(stn_vec3_norm(stn_vec3_sub(momentum.angular, L)), 0.0, 1e-13);
    assert_near(stn_kinetic_energy(s.kinematics), kinetic, 1e-12);
    assert_near(stn_gravitational_energy(s.kinematics, GRAVITY), potential, 1e-12);
    assert_near(stn_total_mass(model), 10.0, 0.0);
    simulator_destroy(&s);
    stn_model_destroy(model);
}

static void merged_links_behave_like_one_body(void **state) {
    (void)state;
    stn_random r = {13};
    stn_pose x1 = random_pose(&r, 0.5), x2 = random_pose(&r, 0.5), x12 = stn_pose_mul(&x1, &x2);
    stn_pose hinge = random_pose(&r, 0.5), on_tip = stn_pose_mul(&x12, &hinge);
    stn_mass m = lopsided(), m1 = stn_mass_transform(&x1, &m), m12 = stn_mass_transform(&x12, &m);
    stn_mass sum = stn_mass_add(&m, &m1);
    sum = stn_mass_add(&sum, &m12);
    begin_robot(builder, "welded");
    int32_t a = add_link(builder, "a", m), b = add_link(builder, "b", m), c = add_link(builder, "c", m);
    int32_t arm = add_link(builder, "arm", m);
    add_joint(builder, "ab", STN_JOINT_FIXED, a, b, x1, Z);
    add_joint(builder, "bc", STN_JOINT_FIXED, b, c, x2, Z);
    add_joint(builder, "j", STN_JOINT_REVOLUTE, c, arm, hinge, Z);
    begin_robot(builder, "whole");
    int32_t body = add_link(builder, "body", sum);
    arm = add_link(builder, "arm", m);
    add_joint(builder, "j", STN_JOINT_REVOLUTE, body, arm, on_tip, Z);
    stn_model *model = compile_model(builder);
    simulator s = simulator_create(model, GRAVITY);
    double q[16], v[14], out[14];
    random_state(&r, model, q, v);
    memcpy(q + 8, q, 8 * sizeof *q);
    memcpy(v + 7, v, 7 * sizeof *v);
    accelerations(&s, q, v, out);
    for (int32_t i = 0; i < 7; i++) {
        assert_near(out[i], out[7 + i], 1e-11);
    }
    simulator_destroy(&s);
    stn_model_destroy(model);
}

static void free_body_on_a_turned_frame_moves_like_one_without(void **state) {
    (void)state;
    stn_random r = {14};
    stn_pose origin = random_pose(&r, 1.0);
    begin_robot(builder, "plain");
    add_link(builder, "body", lopsided());
    begin_robot(builder, "turned");
    int32_t link = add_link(builder, "body", lopsided());
    add_joint(builder, "free", STN_JOINT_FLOATING, STN_WORLD, link, origin, Z);
    stn_model *model = compile_model(builder);
    simulator s = simulator_create(model, GRAVITY);
    double q[14], v[12], a[12];
    random_state(&r, model, q, v);
    stn_pose local = stn_pose_make((stn_quat){q[10], q[11], q[12], q[13]}, stn_vec3_make(q[7], q[8], q[9]));
    stn_pose pose = stn_pose_mul(&origin, &local);
    stn_quat e = stn_quat_from_matrix(&pose.rotation);
    const double same[7] = {pose.position.x, pose.position.y, pose.position.z, e.w, e.x, e.y, e.z};
    memcpy(q, same, sizeof same);
    for (int32_t part = 0; part < 2; part++) { // v in world axes is R v in the joint frame's axes
        const double *u = v + 6 + 3 * part;
        stn_vec3 world = stn_mat3_apply(&origin.rotation, stn_vec3_make(u[0], u[1], u[2]));
        v[3 * part] = world.x, v[3 * part + 1] = world.y, v[3 * part + 2] = world.z;
    }
    accelerations(&s, q, v, a);
    for (int32_t part = 0; part < 2; part++) {
        const double *u = a + 6 + 3 * part;
        stn_vec3 world = stn_mat3_apply(&origin.rotation, stn_vec3_make(u[0], u[1], u[2]));
        assert_near(a[3 * part], world.x, 1e-12);
        assert_near(a[3 * part + 1], world.y, 1e-12);
        assert_near(a[3 * part + 2], world.z, 1e-12);
    }
    simulator_destroy(&s);
    stn_model_destroy(model);
}

static void quaternions_need_no_unit_length_to_be_read(void **state) {
    (void)state;
    stn_random r = {15};
    begin_robot(builder, "body");
    add_link(builder, "body", lopsided());
    stn_model *model = compile_model(builder);
    simulator s = simulator_create(model, GRAVITY);
    double q[7], v[6];
    random_state(&r, model, q, v);
    stn_kinematics_update(s.kinematics, q, v);
    stn_mat3 R = s.kinematics->body_pose[1].rotation;
    for (int32_t i = 3; i < 7; i++) {
        q[i] *= 3.0;
    }
    stn_kinematics_update(s.kinematics, q, v);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(s.kinematics->body_pose[1].rotation.m[i / 3][i % 3], R.m[i / 3][i % 3], 1e-15);
    }
    stn_integrate_q(model, q, v, 0.1, q);
    assert_near(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6], 1.0, 1e-15);
    simulator_destroy(&s);
    stn_model_destroy(model);
}

static void turns_by_more_than_pi_come_back_the_short_way(void **state) {
    (void)state;
    begin_robot(builder, "body");
    add_link(builder, "body", lopsided());
    stn_model *model = compile_model(builder);
    double q[7], v[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 4.0}, back[6];
    stn_integrate_q(model, model->q0, v, 1.0, q);
    stn_difference_q(model, model->q0, q, back);
    assert_near(back[5], 4.0 - 2.0 * STN_PI, 1e-14);
    for (int32_t i = 3; i < 7; i++) {
        q[i] = -q[i]; // the same attitude
    }
    stn_difference_q(model, model->q0, q, back);
    assert_near(back[5], 4.0 - 2.0 * STN_PI, 1e-14);
    stn_model_destroy(model);
}

static void point_masses_fall_and_carry_momentum(void **state) {
    (void)state;
    stn_error err;
    const double x[6] = {0.0, 0.0, 1.0, 2.0, 0.0, 3.0}, m[2] = {1.0, 4.0};
    stn_nodes_spec spec = {.name = "cloud",
                           .node_count = 2,
                           .position = x,
                           .mass = m,
                           .contact_radius = 0.0,
                           .material = stn_material_unset()};
    int32_t nodes = -1;
    begin_robot(builder, "body");
    add_link(builder, "body", mass_of(1.0, stn_vec3_zero(), 1.0, 1.0, 1.0));
    assert_ok(stn_builder_add_nodes(builder, &spec, &nodes, &err), err);
    stn_model *model = compile_model(builder);
    simulator s = simulator_create(model, GRAVITY);
    double q[13], v[12] = {0.0}, tau[6], a[6] = {0.0, 0.0, -9.81, 1.0, 2.0, 3.0}, values[6], blocks[18];
    memcpy(q, model->q0, sizeof q);
    v[6] = 1.0;
    v[10] = 2.0;
    stn_kinematics_update(s.kinematics, q, v);
    assert_near(s.kinematics->node[1].z, 3.0, 0.0);
    assert_near(stn_kinetic_energy(s.kinematics), 0.5 * 1.0 + 0.5 * 4.0 * 4.0, 0.0);
    assert_near(stn_gravitational_energy(s.kinematics, GRAVITY), 9.81 * (1.0 + 12.0), 1e-13);
    stn_spatial momentum = stn_momentum(s.kinematics);
    assert_near(momentum.linear.x, 1.0, 0.0);
    assert_near(momentum.linear.y, 8.0, 0.0);
    assert_near(momentum.angular.y, 1.0, 0.0);        // z p_x of the first
    assert_near(momentum.angular.x, -3.0 * 8.0, 0.0); // -z p_y of the second
    assert_near(momentum.angular.z, 2.0 * 8.0, 0.0);  // x p_y
    stn_inverse_dynamics(s.kinematics, 1, GRAVITY, a, NULL, tau);
    const double expected[6] = {0.0, 0.0, 0.0, 4.0, 8.0, 4.0 * (3.0 + 9.81)};
    for (int32_t i = 0; i < 6; i++) {
        assert_near(tau[i], expected[i], 1e-14);
    }
    stn_matrix M = {.n = 6, .form = STN_MATRIX_DIAGONAL, .values = values};
    stn_mass_matrix(s.kinematics, 1, &M);
    stn_matrix nodal = {.n = 6,
                        .form = STN_MATRIX_NODAL,
                        .values = blocks,
                        .node_count = 2,
                        .node_size = 3,
                        .row_start = model->trees[1].row_start,
                        .column = model->trees[1].column};
    memset(blocks, 0xff, sizeof blocks);
    stn_mass_matrix(s.kinematics, 1, &nodal);
    for (int32_t i = 0; i < 6; i++) {
        assert_near(values[i], m[i / 3], 0.0);
        for (int32_t j = 0; j < 3; j++) {
            assert_near(blocks[9 * (i / 3) + 3 * (i % 3) + j], i % 3 == j ? m[i / 3] : 0.0, 0.0);
        }
    }
    stn_integrate_q(model, q, v, 0.5, q);
    assert_near(q[7], 0.5, 0.0);
    assert_near(q[11], 1.0, 0.0);
    stn_difference_q(model, model->q0, q, v);
    assert_near(v[10], 1.0, 0.0);
    simulator_destroy(&s);
    stn_model_destroy(model);
}

static void kinematics_without_memory_leaks_nothing(void **state) {
    (void)state;
    stn_error err;
    begin_robot(builder, "body");
    add_link(builder, "body", lopsided());
    stn_model *model = compile_model(builder);
    stn_kinematics *kinematics = NULL;
    long long before = heap.live;
    int32_t failures = 0;
    for (long long n = 1; kinematics == NULL; n++) {
        stn_heap_arm(&heap, n);
        stn_status status = stn_kinematics_create(model, &kinematics, &err);
        stn_heap_arm(&heap, 0);
        if (status != STN_OK) {
            assert_int_equal(status, STN_ERR_MEMORY);
            assert_null(kinematics);
            assert_int_equal(heap.live, before);
            failures++;
        }
    }
    assert_true(failures > 0);
    stn_heap_arm(&heap, 0);
    double v[6] = {0.0};
    stn_kinematics_update(kinematics, model->q0, v);
    assert_int_equal(heap.requests, 0); // a step allocates nothing
    stn_kinematics_destroy(kinematics);
    stn_kinematics_destroy(NULL);
    stn_model_destroy(model);
    stn_model_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(free_body_obeys_newton_and_euler),           TEST(momentum_and_energy_of_free_bodies_add_up),
        TEST(merged_links_behave_like_one_body),          TEST(free_body_on_a_turned_frame_moves_like_one_without),
        TEST(quaternions_need_no_unit_length_to_be_read), TEST(turns_by_more_than_pi_come_back_the_short_way),
        TEST(point_masses_fall_and_carry_momentum),       TEST(kinematics_without_memory_leaks_nothing),
    };
    return cmocka_run_group_tests_name("bodies", tests, NULL, NULL);
}
