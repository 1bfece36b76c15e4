// SPDX-License-Identifier: Apache-2.0
// Motion of each joint kind: derivatives of poses by differences, energy and momentum, single formulas.
#include "gap_robot.h"

// --------------------------------------------------------------------------------------------------- differences

static const stn_joint_type NEW_TYPES[] = {STN_JOINT_PLANAR, STN_JOINT_BALL, STN_JOINT_SCREW, STN_JOINT_UNIVERSAL,
                                           STN_JOINT_FLOATING};

static robot random_robot(stn_random *r, stn_joint_type type) {
    const part p = {type, random_pose(r, 0.5), random_unit(r), 0.4};
    robot out = robot_create(random_bits(r), &p, 1);
    random_gap(r, &out);
    random_coordinates(r, type, out.q + 8);
    return out;
}

/// Pose of a link at time h of the motion with constant v.
static stn_pose pose_at(const robot *r, const char *link, const double *v, double h) {
    double q[sizeof r->q / sizeof *r->q];
    stn_integrate_q(r->model, r->q, v, h, q);
    stn_kinematics_update(r->s.kinematics, q, v);
    return link_pose(r, link);
}

/// Velocity of a link by central differences: error of order h^2.
static stn_spatial difference_velocity(const robot *r, const char *link, const double *v, double h) {
    stn_pose a = pose_at(r, link, v, -h), b = pose_at(r, link, v, h);
    stn_mat3 back = stn_mat3_transpose(&a.rotation), d = stn_mat3_mul(&b.rotation, &back);
    stn_vec3 turn = stn_vec3_make(d.m[2][1] - d.m[1][2], d.m[0][2] - d.m[2][0], d.m[1][0] - d.m[0][1]);
    stn_spatial out = {stn_vec3_scale(0.25 / h, turn), stn_vec3_scale(0.5 / h, stn_vec3_sub(b.position, a.position))};
    return out;
}

static double distance(const stn_spatial *a, const stn_spatial *b) {
    return stn_vec3_norm(stn_vec3_sub(a->angular, b->angular)) + stn_vec3_norm(stn_vec3_sub(a->linear, b->linear));
}

/// A spatial velocity at the reference point, as the velocity of the point p with the same turning.
static stn_spatial at_point(const stn_spatial *v, stn_vec3 reference, stn_vec3 p) {
    stn_spatial out = {v->angular, stn_vec3_add(v->linear, stn_vec3_cross(v->angular, stn_vec3_sub(p, reference)))};
    return out;
}

static void motion_subspace_is_the_derivative_of_the_pose(void **state) {
    (void)state;
    stn_random r = {36};
    for (int32_t k = 0; k < 4 * STN_COUNT(NEW_TYPES); k++) {
        robot A = random_robot(&r, NEW_TYPES[k % STN_COUNT(NEW_TYPES)]);
        for (int32_t i = 0; i < A.gap_nv; i++) {
            double unit[MOST_NV] = {0.0};
            unit[ROOT + i] = 1.0;
            stn_spatial coarse = difference_velocity(&A, "tip", unit, 1e-2);
            stn_spatial fine = difference_velocity(&A, "tip", unit, 5e-3), best;
            stn_kinematics_update(A.s.kinematics, A.q, A.v);
            stn_spatial S = at_point(&A.s.kinematics->motion[ROOT + i], A.s.kinematics->reference[0],
                                     link_pose(&A, "tip").position);
            double e1 = distance(&coarse, &S), e2 = distance(&fine, &S);
            best.angular = stn_vec3_mul_add(stn_vec3_scale(-1.0 / 3.0, coarse.angular), 4.0 / 3.0, fine.angular);
            best.linear = stn_vec3_mul_add(stn_vec3_scale(-1.0 / 3.0, coarse.linear), 4.0 / 3.0, fine.linear);
            assert_near(distance(&best, &S), 0.0, 1e-9);                 // of order h^4
            assert_true(e1 < 1e-12 || fabs(log2(e1 / e2) - 2.0) < 0.01); // slides are exact, turns of order h^2
        }
        robot_destroy(&A);
    }
}

/// Acceleration of a link's origin and of its turning, for constant v, by differences of order h^2.
static stn_spatial difference_acceleration(const robot *r, const char *link, double h) {
    stn_pose a = pose_at(r, link, r->v, -h), b = pose_at(r, link, r->v, 0.0), c = pose_at(r, link, r->v, h);
    stn_spatial out;
    out.linear = stn_vec3_mul_add(stn_vec3_add(a.position, c.position), -2.0, b.position);
    out.linear = stn_vec3_scale(1.0 / (h * h), out.linear);
    stn_mat3 to_a = stn_mat3_transpose(&b.rotation);
    stn_mat3 ab = stn_mat3_mul(&a.rotation, &to_a), cb = stn_mat3_mul(&c.rotation, &to_a);
    // R(h) R(0)^T = 1 + h W + h^2 / 2 (W W + alpha) + ...: the even part's skew half is alpha
    double w[3][3];
    for (int32_t i = 0; i < 9; i++) {
        w[i / 3][i % 3] = (ab.m[i / 3][i % 3] + cb.m[i / 3][i % 3]) / (h * h);
    }
    out.angular = stn_vec3_scale(0.5, stn_vec3_make(w[2][1] - w[1][2], w[0][2] - w[2][0], w[1][0] - w[0][1]));
    return out;
}

static void bias_is_the_acceleration_of_a_motion_at_constant_velocity(void **state) {
    (void)state;
    stn_random r = {37};
    for (int32_t k = 0; k < 4 * STN_COUNT(NEW_TYPES); k++) {
        robot A = random_robot(&r, NEW_TYPES[k % STN_COUNT(NEW_TYPES)]);
        stn_spatial coarse = difference_acceleration(&A, "tip", 4e-3), fine = difference_acceleration(&A, "tip", 2e-3);
        stn_kinematics_update(A.s.kinematics, A.q, A.v);
        int32_t body = A.model->links[stn_model_find_link(A.model, 0, "tip")].body;
        stn_vec3 O = A.s.kinematics->reference[0], p = link_pose(&A, "tip").position;
        const stn_spatial *bias = &A.s.kinematics->bias[body];
        stn_spatial expected = at_point(bias, O, p); // of the point now at p, and its centripetal share
        stn_vec3 omega = A.s.kinematics->body_velocity[body].angular, u = stn_point_velocity(A.s.kinematics, body, p);
        expected.linear = stn_vec3_add(expected.linear, stn_vec3_cross(omega, u));
        stn_spatial best;
        best.angular = stn_vec3_mul_add(stn_vec3_scale(-1.0 / 3.0, coarse.angular), 4.0 / 3.0, fine.angular);
        best.linear = stn_vec3_mul_add(stn_vec3_scale(-1.0 / 3.0, coarse.linear), 4.0 / 3.0, fine.linear);
        double scale = fmax(1.0, stn_vec3_norm(expected.linear) + stn_vec3_norm(expected.angular));
        assert_near(distance(&best, &expected) / scale, 0.0, 1e-7);
        assert_true(distance(&fine, &expected) < 0.3 * distance(&coarse, &expected)); // order h^2
        robot_destroy(&A);
    }
}

// ------------------------------------------------------------------------------------------------- conservation

typedef struct drift {
    double energy, linear, angular;
} drift;

/// Largest change of energy and momentum over one second of RK4 steps.
static drift drift_over_a_second(const robot *start, stn_vec3 gravity, int32_t steps) {
    double q[sizeof start->q / sizeof *start->q], v[MOST_NV], energy = 0.0;
    simulator s = start->s;
    stn_spatial p = {stn_vec3_zero(), stn_vec3_zero()};
    drift worst = {0.0, 0.0, 0.0};
    memcpy(q, start->q, sizeof q);
    memcpy(v, start->v, sizeof v);
    s.gravity = gravity;
    for (int32_t k = 0; k <= steps; k++) {
        stn_kinematics_update(s.kinematics, q, v);
        double now = stn_kinetic_energy(s.kinematics) + stn_gravitational_energy(s.kinematics, gravity);
        stn_spatial momentum = stn_momentum(s.kinematics);
        energy = k == 0 ? now : energy;
        p = k == 0 ? momentum : p;
        worst.energy = worse(worst.energy, fabs(now - energy));
        worst.linear = worse(worst.linear, stn_vec3_norm(stn_vec3_sub(momentum.linear, p.linear)));
        worst.angular = worse(worst.angular, stn_vec3_norm(stn_vec3_sub(momentum.angular, p.angular)));
        rk4_step(&s, 1.0 / steps, q, v);
    }
    return worst;
}

/// Falls with the fourth power of the step, until round-off is all that is left.
static void assert_fourth_order(double coarse, double fine) {
    double order = log2(coarse / fine);
    if (!(coarse < 1e-11 || (order > 3.6 && fine < 1e-4))) {
        print_message("%g at the step, %g at half of it: order %g\n", coarse, fine, order);
        fail();
    }
}

static void free_robot_keeps_energy_and_momentum_to_the_order_of_the_integrator(void **state) {
    (void)state;
    stn_random r = {38};
    for (int32_t k = 0; k < STN_COUNT(NEW_TYPES); k++) {
        robot A = random_robot(&r, NEW_TYPES[k]);
        drift coarse = drift_over_a_second(&A, stn_vec3_zero(), 400),
              fine = drift_over_a_second(&A, stn_vec3_zero(), 800);
        print_message("  %-9s energy %.1e J (order %.2f), momentum %.1e kg m/s (%.2f), %.1e kg m^2/s (%.2f)\n",
                      stn_joint_type_name(NEW_TYPES[k]), fine.energy, log2(coarse.energy / fine.energy), fine.linear,
                      log2(coarse.linear / fine.linear), fine.angular, log2(coarse.angular / fine.angular));
        assert_fourth_order(coarse.energy, fine.energy);
        assert_fourth_order(coarse.linear, fine.linear);
        assert_fourth_order(coarse.angular, fine.angular);
        robot_destroy(&A);
    }
}

/// One heavy link and a second one on it, on the world by a joint of any type.
static void joint_on_the_world_keeps_the_energy_in_gravity(void **state) {
    (void)state;
    stn_random r = {39};
    for (int32_t k = 0; k < STN_COUNT(NEW_TYPES); k++) {
        stn_joint_type type = NEW_TYPES[k];
        robot A = {.gap_nq = stn_joint_type_nq(type), .gap_nv = stn_joint_type_nv(type)};
        const part root = {type, random_pose(&r, 0.5), random_unit(&r), 0.4}, arm = hinge(&r);
        stn_model_builder *b = new_builder(context);
        begin_robot(b, "robot");
        int32_t at = add_part(b, &root, "body", STN_WORLD, random_mass(&r));
        add_part(b, &arm, "arm", at, random_mass(&r));
        A.model = compile_model(b);
        stn_builder_destroy(b);
        A.s = simulator_create(A.model, GRAVITY);
        random_coordinates(&r, type, A.q);
        for (int32_t i = 0; i < A.model->nv; i++) {
            A.v[i] = random_between(&r, -1.5, 1.5);
        }
        drift coarse = drift_over_a_second(&A, GRAVITY, 500), fine = drift_over_a_second(&A, GRAVITY, 1000);
        assert_fourth_order(coarse.energy, fine.energy);
        robot_destroy(&A);
    }
}

// ------------------------------------------------------------------------------------------------ single formulas

static stn_model *one_joint(const part *p) {
    stn_model_builder *b = new_builder(context);
    begin_robot(b, "robot");
    add_part(b, p, "body", STN_WORLD, mass_of(1.0, stn_vec3_zero(), 0.1, 0.1, 0.1));
    stn_model *model = compile_model(b);
    stn_builder_destroy(b);
    return model;
}

static void ball_joint_turns_by_the_exponential_map(void **state) {
    (void)state;
    stn_random r = {40};
    const part p = {STN_JOINT_BALL, random_pose(&r, 1.0), EX, 0.0};
    stn_model *model = one_joint(&p);
    simulator s = simulator_create(model, GRAVITY);
    for (int32_t k = 0; k < 50; k++) {
        double q[4], half[4], next[4], v[3], back[3];
        random_coordinates(&r, STN_JOINT_BALL, q);
        stn_vec3 axis = random_unit(&r);
        double angle =
            k < 5 ? (const double[]){1e-9, 3.1415, 0.01, 0.1999999, 0.2000001}[k] : random_between(&r, 0.0, STN_PI);
        v[0] = angle * axis.x, v[1] = angle * axis.y, v[2] = angle * axis.z;
        stn_integrate_q(model, q, v, 1.0, next);
        // R(next) = R(origin) exp(angle axis) R(q): the axis is one of the joint frame, fixed while it turns
        stn_kinematics_update(s.kinematics, q, v);
        mat4 turn = mat4_turn(axis, angle), frame = mat4_of(&p.origin), there = mat4_mul(&frame, &turn), now;
        stn_pose local = stn_pose_make((stn_quat){q[0], q[1], q[2], q[3]}, stn_vec3_zero());
        now = mat4_of(&local);
        now = mat4_mul(&there, &now);
        stn_kinematics_update(s.kinematics, next, v);
        for (int32_t i = 0; i < 9; i++) {
            assert_near(s.kinematics->body_pose[1].rotation.m[i / 3][i % 3], now.m[i / 3][i % 3], 1e-14);
        }
        stn_integrate_q(model, q, v, 0.5, half); // two halves are the whole
        stn_integrate_q(model, half, v, 0.5, half);
        stn_difference_q(model, q, next, back);
        for (int32_t i = 0; i < 4; i++) {
            assert_near(half[i], next[i], 1e-15);
        }
        for (int32_t i = 0; i < 3; i++) {
            assert_near(back[i], v[i], 1e-14);
        }
        for (int32_t i = 0; i < 4; i++) {
            next[i] *= -2.0; // the same attitude
        }
        stn_difference_q(model, q, next, back);
        assert_near(back[0], v[0], 1e-14);
    }
    simulator_destroy(&s);
    stn_model_destroy(model);
}

static void screw_advances_by_its_pitch_a_turn(void **state) {
    (void)state;
    const part p = {STN_JOINT_SCREW, stn_pose_identity(), {0.0, 0.0, 2.0}, 0.25};
    stn_model *model = one_joint(&p);
    simulator s = simulator_create(model, GRAVITY);
    const double q = 6.0 * STN_PI, v = 1.0;
    stn_kinematics_update(s.kinematics, &q, &v);
    assert_near(s.kinematics->body_pose[1].position.z, 0.75, 1e-15);
    assert_near(s.kinematics->body_pose[1].rotation.m[0][0], 1.0, 1e-14);
    assert_near(s.kinematics->body_velocity[1].linear.z, 0.25 / (2.0 * STN_PI), 1e-16);
    simulator_destroy(&s);
    stn_model_destroy(model);
}

/// Directions of x, y and the axis of a planar joint in the world.
static void planar_axes(stn_vec3 axis, stn_vec3 out[3]) {
    const part p = {STN_JOINT_PLANAR, stn_pose_identity(), axis, 0.0};
    stn_model *model = one_joint(&p);
    simulator s = simulator_create(model, GRAVITY);
    const double q[3] = {0.0, 0.0, 0.0}, v[3] = {0.0, 0.0, 0.0};
    stn_kinematics_update(s.kinematics, q, v);
    out[0] = s.kinematics->motion[0].linear;
    out[1] = s.kinematics->motion[1].linear;
    out[2] = s.kinematics->motion[2].angular;
    simulator_destroy(&s);
    stn_model_destroy(model);
}

static void planar_axes_are_orthonormal_however_near_the_axis_is_to_minus_z(void **state) {
    (void)state;
    stn_vec3 a[3];
    for (double tilt = 1.0; tilt > 1e-18; tilt *= 0.3) {
        for (int32_t side = 0; side < 5; side++) {
            planar_axes(stn_vec3_make(tilt * cos(side), tilt * sin(side), -1.0), a);
            for (int32_t i = 0; i < 3; i++) {
                for (int32_t j = 0; j < 3; j++) {
                    assert_near(stn_vec3_dot(a[i], a[j]), i == j ? 1.0 : 0.0, 1e-15);
                }
            }
            assert_near(stn_vec3_dot(stn_vec3_cross(a[0], a[1]), a[2]), 1.0, 1e-15);
        }
    }
    planar_axes(stn_vec3_make(0.0, 0.0, -1.0), a); // half a turn about x, and no round-off changes that
    assert_near(a[0].x, 1.0, 0.0);
    assert_near(a[1].y, -1.0, 0.0);
    planar_axes(stn_vec3_make(-1.2e-16, 3e-17, -1.0), a);
    assert_near(a[0].x, 1.0, 1e-15);
    assert_near(a[1].y, -1.0, 1e-15);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(motion_subspace_is_the_derivative_of_the_pose),
        TEST(bias_is_the_acceleration_of_a_motion_at_constant_velocity),
        TEST(free_robot_keeps_energy_and_momentum_to_the_order_of_the_integrator),
        TEST(joint_on_the_world_keeps_the_energy_in_gravity),
        TEST(ball_joint_turns_by_the_exponential_map),
        TEST(screw_advances_by_its_pitch_a_turn),
        TEST(planar_axes_are_orthonormal_however_near_the_axis_is_to_minus_z),
    };
    return cmocka_run_group_tests_name("motion of joints", tests, NULL, NULL);
}
