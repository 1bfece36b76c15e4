// SPDX-License-Identifier: Apache-2.0
// Joint kinds against each other: a planar joint is two slides and a turn, a universal joint two turns, a screw a turn
// and a slide that are geared, a ball joint a floating one that is held, or three turns.
//
// When v_B = G v_A moves robot B as v_A moves robot A, then M_A = G^T M_B G and, for a_B = G a_A + G-dot v_A,
// tau_A = G^T tau_B.
#include "gap_robot.h"

enum { ROUNDS = 25 };

/// v or a of robot B from that of robot A through the gap's E (nB x nA); `extra` (nB) is added there.
static void carry(const robot *A, const double *x, const double *E, const double *extra, robot *B, double *y) {
    memcpy(y, x, ROOT * sizeof *y);
    for (int32_t i = 0; i < B->gap_nv; i++) {
        y[ROOT + i] = extra != NULL ? extra[i] : 0.0;
        for (int32_t j = 0; j < A->gap_nv; j++) {
            y[ROOT + i] += E[i * A->gap_nv + j] * x[ROOT + j];
        }
    }
    memcpy(y + ROOT + B->gap_nv, x + ROOT + A->gap_nv, 2 * sizeof *y);
}

/// x_A = G^T x_B.
static void carry_back(const robot *A, const double *E, const robot *B, const double *y, double *x) {
    memcpy(x, y, ROOT * sizeof *x);
    for (int32_t j = 0; j < A->gap_nv; j++) {
        x[ROOT + j] = 0.0;
        for (int32_t i = 0; i < B->gap_nv; i++) {
            x[ROOT + j] += E[i * A->gap_nv + j] * y[ROOT + i];
        }
    }
    memcpy(x + ROOT + A->gap_nv, y + ROOT + B->gap_nv, 2 * sizeof *x);
}

static void mass_matrix(const robot *r, double *M) {
    stn_matrix matrix = dense_matrix(r->model->nv, M);
    stn_mass_matrix(r->s.kinematics, 0, &matrix);
}

static void assert_same_poses(const robot *A, const robot *B) {
    static const char *const names[] = {"root", "lower", "upper", "tip", "branch"};
    for (int32_t i = 0; i < STN_COUNT(names); i++) {
        stn_pose a = link_pose(A, names[i]), b = link_pose(B, names[i]);
        assert_near(stn_vec3_norm(stn_vec3_sub(a.position, b.position)), 0.0, 1e-14);
        for (int32_t k = 0; k < 9; k++) {
            assert_near(a.rotation.m[k / 3][k % 3], b.rotation.m[k / 3][k % 3], 1e-14);
        }
    }
}

/// A and B move alike when the gap's velocities are v_B = E v_A, with E-dot v_A = drift: so do their masses and forces.
static void assert_equivalent(robot *A, robot *B, const double *E, const double *drift) {
    int32_t nA = A->model->nv, nB = B->model->nv;
    double MA[MOST_NV * MOST_NV], MB[MOST_NV * MOST_NV], tau_A[MOST_NV], tau_B[MOST_NV], expected[MOST_NV];
    carry(A, A->v, E, NULL, B, B->v);
    carry(A, A->a, E, drift, B, B->a);
    stn_kinematics_update(A->s.kinematics, A->q, A->v);
    stn_kinematics_update(B->s.kinematics, B->q, B->v);
    assert_same_poses(A, B);
    assert_near(stn_kinetic_energy(A->s.kinematics), stn_kinetic_energy(B->s.kinematics), 1e-12);
    mass_matrix(A, MA);
    mass_matrix(B, MB);
    for (int32_t j = 0; j < nA; j++) { // column j: G^T M_B G e_j
        double unit[MOST_NV] = {0.0}, moved[MOST_NV], product[MOST_NV] = {0.0};
        unit[j] = 1.0;
        carry(A, unit, E, NULL, B, moved);
        for (int32_t i = 0; i < nB; i++) {
            for (int32_t k = 0; k < nB; k++) {
                product[i] += MB[i * nB + k] * moved[k];
            }
        }
        carry_back(A, E, B, product, expected);
        for (int32_t i = 0; i < nA; i++) {
            assert_near(MA[i * nA + j], expected[i], 1e-12);
        }
    }
    stn_inverse_dynamics(A->s.kinematics, 0, GRAVITY, A->a, A->s.scratch, tau_A);
    stn_inverse_dynamics(B->s.kinematics, 0, GRAVITY, B->a, B->s.scratch, tau_B);
    carry_back(A, E, B, tau_B, expected);
    for (int32_t i = 0; i < nA; i++) {
        assert_near(tau_A[i], expected[i], 1e-11);
    }
}
// --------------------------------------------------------------------------------------------------- equivalents

static void planar_joint_is_two_slides_and_a_turn(void **state) {
    (void)state;
    static const stn_vec3 special[] = {{0.0, 0.0, 1.0}, {0.0, 0.0, -1.0}, {1.0, 0.0, 0.0}, {0.0, -2.0, 0.0}};
    stn_random r = {31};
    for (int32_t k = 0; k < ROUNDS; k++) {
        stn_pose origin = random_pose(&r, 0.5);
        stn_vec3 axis = k < STN_COUNT(special) ? special[k] : stn_vec3_scale(3.0, random_unit(&r));
        stn_vec3 unit = stn_vec3_normalize_or(axis, EZ);
        const part planar = {STN_JOINT_PLANAR, origin, axis, 0.0};
        const part simple[3] = {{STN_JOINT_PRISMATIC, origin, in_plane(unit, 1.0, 0.0), 0.0},
                                {STN_JOINT_PRISMATIC, stn_pose_identity(), in_plane(unit, 0.0, 1.0), 0.0},
                                {STN_JOINT_REVOLUTE, stn_pose_identity(), axis, 0.0}};
        robot A = robot_create((uint64_t)k, &planar, 1), B = robot_create((uint64_t)k, simple, 3);
        random_gap(&r, &A);
        for (int32_t i = 0; i < 3; i++) {
            A.q[8 + i] = B.q[8 + i] = random_between(&r, -2.0, 2.0);
        }
        assert_equivalent(&A, &B, ONE, NULL);
        robot_destroy(&A);
        robot_destroy(&B);
    }
}

static void universal_joint_is_two_turns(void **state) {
    (void)state;
    stn_random r = {32};
    for (int32_t k = 0; k < ROUNDS; k++) {
        stn_pose origin = random_pose(&r, 0.5);
        const part universal = {STN_JOINT_UNIVERSAL, origin, random_unit(&r), 0.0}; // its axis means nothing
        const part simple[2] = {{STN_JOINT_REVOLUTE, origin, EX, 0.0},
                                {STN_JOINT_REVOLUTE, stn_pose_identity(), EY, 0.0}};
        robot A = robot_create((uint64_t)k, &universal, 1), B = robot_create((uint64_t)k, simple, 2);
        random_gap(&r, &A);
        for (int32_t i = 0; i < 2; i++) {
            A.q[8 + i] = B.q[8 + i] = random_between(&r, -3.0, 3.0);
        }
        const double identity[4] = {1.0, 0.0, 0.0, 1.0};
        assert_equivalent(&A, &B, identity, NULL);
        robot_destroy(&A);
        robot_destroy(&B);
    }
}

static void screw_is_a_turn_and_a_slide_geared_by_its_pitch(void **state) {
    (void)state;
    stn_random r = {33};
    for (int32_t k = 0; k < ROUNDS; k++) {
        stn_pose origin = random_pose(&r, 0.5);
        stn_vec3 axis = stn_vec3_scale(0.3, random_unit(&r));
        double pitch = k == 0 ? 0.0 : random_between(&r, -0.5, 0.5);
        const part screw = {STN_JOINT_SCREW, origin, axis, pitch};
        const part simple[2] = {{STN_JOINT_PRISMATIC, origin, axis, 0.0},
                                {STN_JOINT_REVOLUTE, stn_pose_identity(), axis, 0.0}};
        robot A = robot_create((uint64_t)k, &screw, 1), B = robot_create((uint64_t)k, simple, 2);
        random_gap(&r, &A);
        double turn = random_between(&r, -9.0, 9.0);
        A.q[8] = B.q[9] = turn;
        B.q[8] = pitch * turn / (2.0 * STN_PI);
        const double E[2] = {pitch / (2.0 * STN_PI), 1.0};
        assert_equivalent(&A, &B, E, NULL);
        robot_destroy(&A);
        robot_destroy(&B);
    }
}

static void ball_joint_is_a_floating_one_that_stays_in_place(void **state) {
    (void)state;
    stn_random r = {34};
    for (int32_t k = 0; k < ROUNDS; k++) {
        stn_pose origin = random_pose(&r, 0.5);
        const part ball = {STN_JOINT_BALL, origin, EX, 0.0}, floating = {STN_JOINT_FLOATING, origin, EX, 0.0};
        robot A = robot_create((uint64_t)k, &ball, 1), B = robot_create((uint64_t)k, &floating, 1);
        random_gap(&r, &A);
        random_coordinates(&r, STN_JOINT_BALL, A.q + 8);
        memset(B.q + 8, 0, 3 * sizeof *B.q);
        memcpy(B.q + 11, A.q + 8, 4 * sizeof *B.q);
        double E[18] = {0.0};
        for (int32_t i = 0; i < 3; i++) {
            E[3 * (3 + i) + i] = 1.0;
        }
        assert_equivalent(&A, &B, E, NULL);
        robot_destroy(&A);
        robot_destroy(&B);
    }
}

/// omega = E q-dot of turns about z, then y, then x (each axis turned by those before), and E-dot q-dot.
static void three_turns(const double *q, const double *rate, double *E, double *drift, stn_quat *attitude) {
    stn_quat a = stn_quat_exp(stn_vec3_scale(q[0], EZ)), b = stn_quat_exp(stn_vec3_scale(q[1], EY));
    stn_quat c = stn_quat_exp(stn_vec3_scale(q[2], EX)), ab = stn_quat_mul(a, b);
    stn_mat3 A = stn_quat_matrix(a), AB = stn_quat_matrix(ab);
    stn_vec3 axes[3] = {EZ, stn_mat3_apply(&A, EY), stn_mat3_apply(&AB, EX)}, turning = stn_vec3_zero();
    stn_vec3 sum = stn_vec3_zero();
    for (int32_t j = 0; j < 3; j++) { // an axis turns with the rates before it
        sum = stn_vec3_mul_add(sum, rate[j], stn_vec3_cross(turning, axes[j]));
        turning = stn_vec3_mul_add(turning, rate[j], axes[j]);
        E[j] = axes[j].x, E[3 + j] = axes[j].y, E[6 + j] = axes[j].z;
    }
    drift[0] = sum.x, drift[1] = sum.y, drift[2] = sum.z;
    *attitude = stn_quat_mul(ab, c);
}

static void ball_joint_is_three_turns_away_from_their_singularity(void **state) {
    (void)state;
    stn_random r = {35};
    for (int32_t k = 0; k < ROUNDS; k++) {
        stn_pose origin = random_pose(&r, 0.5);
        const part ball = {STN_JOINT_BALL, origin, EX, 0.0};
        const part simple[3] = {{STN_JOINT_REVOLUTE, origin, EZ, 0.0},
                                {STN_JOINT_REVOLUTE, stn_pose_identity(), EY, 0.0},
                                {STN_JOINT_REVOLUTE, stn_pose_identity(), EX, 0.0}};
        robot A = robot_create((uint64_t)k, simple, 3), B = robot_create((uint64_t)k, &ball, 1);
        random_gap(&r, &A);
        for (int32_t i = 0; i < 3; i++) {
            A.q[8 + i] = random_between(&r, i == 1 ? -1.2 : -3.0, i == 1 ? 1.2 : 3.0);
        }
        double E[9], drift[3];
        stn_quat attitude;
        three_turns(A.q + 8, A.v + ROOT, E, drift, &attitude);
        const double quat[4] = {attitude.w, attitude.x, attitude.y, attitude.z};
        memcpy(B.q + 8, quat, sizeof quat);
        assert_equivalent(&A, &B, E, drift);
        robot_destroy(&A);
        robot_destroy(&B);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(planar_joint_is_two_slides_and_a_turn),
        TEST(universal_joint_is_two_turns),
        TEST(screw_is_a_turn_and_a_slide_geared_by_its_pitch),
        TEST(ball_joint_is_a_floating_one_that_stays_in_place),
        TEST(ball_joint_is_three_turns_away_from_their_singularity),
    };
    return cmocka_run_group_tests_name("joints against each other", tests, NULL, NULL);
}
