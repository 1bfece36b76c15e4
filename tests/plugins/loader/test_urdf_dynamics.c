// SPDX-License-Identifier: Apache-2.0
// 200 random robots written as URDF, loaded, and compared with their mechanics computed from what was written.
// Deviations count relative to the size of the quantity: positions to 1 m or their own length; M_ij to
// sqrt(M_ii M_jj); a force f_i to sqrt(M_ii) times the largest |f_j| / sqrt(M_jj), which for weight alone is at most
// sqrt(mass) |g| and counts as no less.
#include "stn_test.h"

#include <stiction/dynamics.h>
#include <stiction/factor.h>

#include "slow_dynamics.h"
#include "urdf_fixture.h"

enum { ROBOTS = 200 };

static const double GRAVITY[3] = {0.7, -1.1, -9.81};
static const stn_vec3 GRAVITY_VECTOR = {0.7, -1.1, -9.81};

/// The largest deviation of one quantity, and of which robot.
typedef struct deviation {
    double most;
    int32_t robot;
} deviation;

/// What all robots came to; filled before the tests.
static struct survey {
    deviation pose, velocity, mass, bias, inverse, gravity, gravity_held, asymmetry;
    double least_eigenvalue; // of M scaled to a unit diagonal
    int32_t indefinite;      // robots whose M has no Cholesky factor
    int32_t most_dofs, mimics, links, joints[STN_JOINT_COUNT];
    long long requests; // for memory, by the functions under test
} survey;

static void worsen(deviation *d, int32_t robot, double value) {
    if (!(value <= d->most) && !isnan(d->most)) { // a NaN stays
        *d = (deviation){value, robot};
    }
}

typedef struct subject {
    int32_t number; // of the robot
    written_robot robot;
    const stn_model *model;
    stn_kinematics *kinematics;
    double q[WRITTEN_COORDINATES], v[WRITTEN_DOFS], a[WRITTEN_DOFS];
    double *M, *slow_M, bias[WRITTEN_DOFS], slow_bias[WRITTEN_DOFS];
    stn_spatial scratch[WRITTEN_LINKS + 1];
} subject;

// ---------------------------------------------------------------------------------------------------------- loading

/// Loads the text with the root as the robot wants it, and finds where the model put the joints.
static void load(fixture *f, subject *s) {
    written_robot *robot = &s->robot;
    const double *x = robot->base.xyz, *rpy = robot->base.rpy;
    f->base = (stn_pose){stn_mat3_from_rpy(rpy[0], rpy[1], rpy[2]), {x[0], x[1], x[2]}};
    f->free = robot->root == WRITTEN_FREE;
    s->model = good_model(f, robot->text);
    for (int32_t i = 0; i < robot->count; i++) {
        written_link *link = &robot->links[i];
        const stn_joint *joint = NULL;
        link->q = link->v = link->nv = 0;
        if (i == 0 && robot->root == WRITTEN_FREE) {
            joint = &s->model->joints[s->model->groups[0].joint_start];
        } else if (link->type != STN_JOINT_FIXED) {
            joint = joint_of(f, link->joint);
        }
        if (joint != NULL) {
            assert_int_equal(joint->type, link->type);
            link->q = joint->q_start;
            link->v = joint->v_start;
            link->nv = joint->nv;
        }
        survey.joints[link->type]++;
    }
    survey.links += robot->count;
}

static void put_rotation(stn_random *r, double *q) {
    stn_quat e = random_rotation(r);
    const double values[4] = {e.w, e.x, e.y, e.z};
    memcpy(q, values, sizeof values);
}

/// Any configuration, whatever the limits; mimic joints where and as fast as their masters say.
static void choose_state(stn_random *r, subject *s) {
    for (int32_t i = 0; i < s->model->nv; i++) {
        s->v[i] = random_between(r, -2.0, 2.0);
        s->a[i] = random_between(r, -5.0, 5.0);
    }
    for (int32_t i = 0; i < s->robot.count; i++) {
        const written_link *link = &s->robot.links[i];
        double *q = s->q + link->q;
        int32_t turns = link->type == STN_JOINT_BALL ? 0 : link->type == STN_JOINT_FLOATING ? 3 : link->nv;
        for (int32_t k = 0; k < turns; k++) {
            q[k] = random_between(r, -STN_PI, STN_PI);
        }
        if (turns < link->nv) {
            put_rotation(r, q + turns);
        }
        if (link->mimic >= 0) {
            const written_link *master = &s->robot.links[link->mimic];
            q[0] = link->multiplier * s->q[master->q] + link->offset;
            s->v[link->v] = link->multiplier * s->v[master->v];
        }
    }
}

static void check_mimics(const fixture *f, const subject *s) {
    for (int32_t i = 0; i < s->robot.count; i++) {
        const written_link *link = &s->robot.links[i];
        if (link->mimic >= 0) {
            const stn_joint *joint = joint_of(f, link->joint);
            assert_true(joint->mimic >= 0);
            assert_string_equal(s->model->joints[joint->mimic].name, s->robot.links[link->mimic].joint);
            assert_near(joint->mimic_multiplier, link->multiplier, 0.0);
            assert_near(joint->mimic_offset, link->offset, 0.0);
            survey.mimics++;
        }
    }
}

// ------------------------------------------------------------------------------------------------------- comparison

static void compare_links(const fixture *f, const subject *s) {
    static moving at[WRITTEN_LINKS];
    slow_transforms(&s->robot, s->q, s->v, at);
    for (int32_t i = 0; i < s->robot.count; i++) {
        const stn_link *link = link_of(f, s->robot.links[i].name);
        stn_pose pose = stn_pose_mul(&s->kinematics->body_pose[link->body], &link->pose);
        stn_vec3 u = stn_point_velocity(s->kinematics, link->body, pose.position);
        const double position[3] = {pose.position.x, pose.position.y, pose.position.z}, velocity[3] = {u.x, u.y, u.z};
        double scale = fmax(1.0, stn_vec3_norm(pose.position)), speed = fmax(1.0, stn_vec3_norm(u));
        for (int32_t k = 0; k < 9; k++) {
            worsen(&survey.pose, s->number, fabs(pose.rotation.m[k / 3][k % 3] - at[i].at[0].m[k / 3][k % 3]));
        }
        for (int32_t k = 0; k < 3; k++) {
            worsen(&survey.pose, s->number, fabs(position[k] - at[i].at[0].m[k][3]) / scale);
            worsen(&survey.velocity, s->number, fabs(velocity[k] - at[i].at[1].m[k][3]) / speed);
        }
    }
}

/// Every tree's M on the diagonal of the whole.
static void fill_mass_matrix(subject *s) {
    size_t n = (size_t)s->model->nv;
    double *block = malloc((n * n + 1) * sizeof *block);
    memset(s->M, 0, n * n * sizeof *s->M);
    for (int32_t t = 0; t < s->model->tree_count; t++) {
        const stn_tree *tree = &s->model->trees[t];
        size_t start = (size_t)tree->v_start, size = (size_t)tree->nv;
        stn_matrix M = {.n = tree->nv, .form = STN_MATRIX_DENSE, .values = block};
        memset(block, 0xff, size * size * sizeof *block); // NaN where nothing is written
        stn_mass_matrix(s->kinematics, t, &M);
        for (size_t i = 0; i < size; i++) {
            memcpy(s->M + (start + i) * n + start, block + i * size, size * sizeof *block);
        }
    }
    free(block);
}

static void inverse_dynamics(subject *s, const double *a, double *tau) {
    for (int32_t t = 0; t < s->model->tree_count; t++) {
        int32_t start = s->model->trees[t].v_start;
        stn_inverse_dynamics(s->kinematics, t, GRAVITY_VECTOR, a != NULL ? a + start : NULL, s->scratch, tau + start);
    }
}

static void compare_forces(const subject *s, deviation *d, const double *f, const double *expected) {
    int32_t n = s->model->nv;
    double largest = sqrt(stn_total_mass(s->model)) * stn_vec3_norm(GRAVITY_VECTOR);
    for (int32_t i = 0; i < n; i++) {
        largest = worse(largest, fabs(expected[i]) / sqrt(s->slow_M[i * (n + 1)]));
    }
    for (int32_t i = 0; i < n; i++) {
        worsen(d, s->number, fabs(f[i] - expected[i]) / sqrt(s->slow_M[i * (n + 1)]) / largest);
    }
}

static void compare_mass_matrices(const subject *s) {
    int32_t n = s->model->nv;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            double scale = sqrt(s->slow_M[i * (n + 1)] * s->slow_M[j * (n + 1)]);
            worsen(&survey.mass, s->number, fabs(s->M[i * n + j] - s->slow_M[i * n + j]) / scale);
            worsen(&survey.asymmetry, s->number, fabs(s->M[i * n + j] - s->M[j * n + i]) / scale);
        }
    }
}

/// The smallest eigenvalue of M scaled to a unit diagonal, by inverse iteration. Destroys M.
static void find_least_eigenvalue(subject *s) {
    int32_t n = s->model->nv;
    double scale[WRITTEN_DOFS], x[WRITTEN_DOFS], norm = 1.0;
    for (int32_t i = 0; i < n; i++) {
        scale[i] = 1.0 / sqrt(s->M[i * (n + 1)]);
        x[i] = 1.0 + 0.1 * (i % 7);
    }
    for (int32_t i = 0; i < n * n; i++) {
        s->M[i] *= scale[i / n] * scale[i % n];
    }
    if (stn_cholesky(n, s->M, n) >= 0) {
        survey.indefinite++;
        return;
    }
    for (int32_t round = 0; round < 30; round++) {
        stn_cholesky_forward(n, s->M, n, 1, x, n);
        stn_cholesky_backward(n, s->M, n, 1, x, n);
        norm = 0.0;
        for (int32_t i = 0; i < n; i++) {
            norm += x[i] * x[i];
        }
        norm = sqrt(norm); // tends to one over the smallest eigenvalue
        for (int32_t i = 0; i < n; i++) {
            x[i] /= norm;
        }
    }
    survey.least_eigenvalue = fmin(survey.least_eigenvalue, 1.0 / norm);
}

/// RNEA(q, v, a) against M a + bias, both of the core.
static void compare_inverse_dynamics(subject *s) {
    int32_t n = s->model->nv;
    double tau[WRITTEN_DOFS], sum[WRITTEN_DOFS];
    inverse_dynamics(s, s->a, tau);
    memcpy(sum, s->bias, sizeof sum);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            sum[i] += s->M[i * n + j] * s->a[j];
        }
    }
    compare_forces(s, &survey.inverse, tau, sum);
}

/// RNEA(q, 0, 0) against Lagrange's equations at rest, and the gravity efforts, found at any v, against both.
static void compare_gravity(subject *s) {
    static const double none[WRITTEN_DOFS] = {0.0};
    double tau[WRITTEN_DOFS], held[WRITTEN_DOFS];
    stn_kinematics_update(s->kinematics, s->q, none);
    inverse_dynamics(s, none, tau);
    stn_kinematics_update(s->kinematics, s->q, s->v);
    for (int32_t t = 0; t < s->model->tree_count; t++) {
        stn_gravity_efforts(s->kinematics, t, GRAVITY_VECTOR, s->scratch, held + s->model->trees[t].v_start);
    }
    slow_dynamics(&s->robot, s->model->nv, s->q, none, GRAVITY, s->slow_M, s->slow_bias);
    compare_forces(s, &survey.gravity, tau, s->slow_bias);
    compare_forces(s, &survey.gravity_held, held, tau);
}

static void study(fixture *f, subject *s, stn_random *r) {
    stn_error err;
    load(f, s);
    check_mimics(f, s);
    choose_state(r, s);
    size_t n = (size_t)s->model->nv;
    s->M = malloc((n * n + 1) * sizeof *s->M);
    s->slow_M = malloc((n * n + 1) * sizeof *s->slow_M);
    survey.most_dofs = s->model->nv > survey.most_dofs ? s->model->nv : survey.most_dofs;
    assert_ok(stn_kinematics_create(s->model, &s->kinematics, &err), err);
    slow_dynamics(&s->robot, s->model->nv, s->q, s->v, GRAVITY, s->slow_M, s->slow_bias);
    long long before = f->heap.requests;
    stn_kinematics_update(s->kinematics, s->q, s->v);
    fill_mass_matrix(s);
    inverse_dynamics(s, NULL, s->bias);
    compare_links(f, s);
    compare_mass_matrices(s);
    compare_forces(s, &survey.bias, s->bias, s->slow_bias);
    compare_inverse_dynamics(s);
    compare_gravity(s);
    survey.requests += f->heap.requests - before;
    find_least_eigenvalue(s);
    stn_kinematics_destroy(s->kinematics);
    free(s->M);
    free(s->slow_M);
}

static int study_all(void **state) {
    static subject s;
    void *fixture_state = NULL;
    (void)state;
    set_up(&fixture_state);
    survey = (struct survey){.least_eigenvalue = INFINITY};
    for (int32_t k = 0; k < ROBOTS; k++) {
        stn_random r = {1000 + (uint64_t)k};
        s = (subject){.number = k};
        written_robot_init(&s.robot, (uint64_t)k + 1, 1 + k % WRITTEN_LINKS);
        study(fixture_state, &s, &r);
        free(s.robot.text);
    }
    tear_down(&fixture_state);
    return 0;
}

// ------------------------------------------------------------------------------------------------------------ tests

static void report(const char *what, deviation d) {
    print_message("  %s: %.2g relative (group %d)\n", what, d.most, d.robot);
}

static void robots_of_all_kinds_were_read(void **state) {
    (void)state;
    print_message("  %d robots, %d links, up to %d dofs, %d mimic joints; of each type:", ROBOTS, survey.links,
                  survey.most_dofs, survey.mimics);
    for (int32_t i = 0; i < STN_JOINT_COUNT; i++) {
        print_message(" %s %d", stn_joint_type_name((stn_joint_type)i), survey.joints[i]);
        assert_true(survey.joints[i] > 50);
    }
    print_message("\n");
    assert_true(survey.mimics > 50);
}

static void links_are_where_the_transforms_of_urdf_put_them_and_move_as_they_do(void **state) {
    (void)state;
    report("poses", survey.pose);
    report("velocities", survey.velocity);
    assert_near(survey.pose.most, 0.0, 1e-12);
    assert_near(survey.velocity.most, 0.0, 1e-12);
}

static void mass_matrix_and_bias_are_those_of_lagranges_equations(void **state) {
    (void)state;
    report("mass matrix", survey.mass);
    report("bias", survey.bias);
    // inertia is summed about the root: a body of size s at distance d loses (d / s)^2 of the 1e-16
    assert_near(survey.mass.most, 0.0, 1e-10);
    assert_near(survey.bias.most, 0.0, 1e-11);
}

static void inverse_dynamics_is_mass_times_acceleration_plus_bias(void **state) {
    (void)state;
    report("inverse dynamics", survey.inverse);
    assert_near(survey.inverse.most, 0.0, 1e-11);
}

static void mass_matrix_is_symmetric_and_positive_definite(void **state) {
    (void)state;
    print_message("  least eigenvalue of M scaled to a unit diagonal: %.2g\n", survey.least_eigenvalue);
    assert_near(survey.asymmetry.most, 0.0, 0.0);
    assert_int_equal(survey.indefinite, 0);
    assert_true(survey.least_eigenvalue > 1e-12); // round-off is 1e-16 n
}

static void gravity_efforts_are_inverse_dynamics_at_rest(void **state) {
    (void)state;
    report("at rest", survey.gravity);
    report("gravity efforts", survey.gravity_held);
    assert_near(survey.gravity.most, 0.0, 1e-11);
    assert_near(survey.gravity_held.most, 0.0, 1e-12);
}

static void no_memory_is_asked_for(void **state) {
    (void)state;
    assert_int_equal(survey.requests, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robots_of_all_kinds_were_read),
        cmocka_unit_test(links_are_where_the_transforms_of_urdf_put_them_and_move_as_they_do),
        cmocka_unit_test(mass_matrix_and_bias_are_those_of_lagranges_equations),
        cmocka_unit_test(inverse_dynamics_is_mass_times_acceleration_plus_bias),
        cmocka_unit_test(mass_matrix_is_symmetric_and_positive_definite),
        cmocka_unit_test(gravity_efforts_are_inverse_dynamics_at_rest),
        cmocka_unit_test(no_memory_is_asked_for),
    };
    return cmocka_run_group_tests_name("dynamics of robots written as URDF", tests, study_all, NULL);
}
