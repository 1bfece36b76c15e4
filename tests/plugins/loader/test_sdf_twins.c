// SPDX-License-Identifier: Apache-2.0
// The same robot as URDF and as SDFormat is the same mechanism: mass matrix, bias and gravity forces and the places of
// all links agree at the same coordinates. 100 random robots; and the public gripper WSG 50 of Drake.
#include "stn_test.h"

#include "random_sdf.h"
#include "sdf_fixture.h"

enum { ROBOTS = 100 };

#define GRIPPER STN_SHARED_DIR "/models/wsg_50_drake_sdf/drake_models/wsg_50_description/sdf/schunk_wsg_50_with_tip.sdf"

/// Everything that one file says of the mechanism, by the links of the written robot.
typedef struct mechanics {
    int32_t nq, nv, q[WRITTEN_LINKS], v[WRITTEN_LINKS], counts[WRITTEN_LINKS], coordinates[WRITTEN_LINKS];
    double offset[WRITTEN_LINKS];
    double *M, bias[WRITTEN_DOFS];
    stn_pose pose[WRITTEN_LINKS];
} mechanics;

static void find_joints(const fixture *f, const written_robot *robot, mechanics *m) {
    m->nq = f->model->nq;
    m->nv = f->model->nv;
    for (int32_t i = 0; i < robot->count; i++) {
        const written_link *link = &robot->links[i];
        bool free_root = i == 0 && robot->root == WRITTEN_FREE;
        m->counts[i] = m->coordinates[i] = 0;
        if (link->type != STN_JOINT_FIXED) {
            const stn_joint *joint =
                free_root ? &f->model->joints[f->model->groups[0].joint_start] : joint_of(f, link->joint);
            assert_int_equal(joint->type, link->type);
            m->q[i] = joint->q_start;
            m->v[i] = joint->v_start;
            m->counts[i] = joint->nv;
            m->coordinates[i] = joint->nq;
            m->offset[i] = joint->mimic >= 0 ? joint->mimic_offset : 0.0;
            assert_int_equal(joint->mimic >= 0, link->mimic >= 0);
        }
    }
}

static void compute(const fixture *f, const written_robot *robot, const double *q, const double *v, mechanics *m) {
    stn_kinematics *k = NULL;
    stn_error err;
    size_t n = (size_t)m->nv;
    stn_spatial *scratch = calloc((size_t)f->model->body_count, sizeof *scratch);
    double *block = calloc(n * n + 1, sizeof *block);
    m->M = calloc(n * n + 1, sizeof *m->M);
    assert_ok(stn_kinematics_create(f->model, &k, &err), err);
    stn_kinematics_update(k, q, v);
    for (int32_t t = 0; t < f->model->tree_count; t++) {
        const stn_tree *tree = &f->model->trees[t];
        stn_matrix M = {.n = tree->nv, .form = STN_MATRIX_DENSE, .values = block};
        stn_mass_matrix(k, t, &M);
        stn_inverse_dynamics(k, t, stn_vec3_make(0.7, -1.1, -9.81), NULL, scratch, m->bias + tree->v_start);
        for (int32_t i = 0; i < tree->nv * tree->nv; i++) {
            m->M[((size_t)(tree->v_start + i / tree->nv)) * n + (size_t)(tree->v_start + i % tree->nv)] = block[i];
        }
    }
    for (int32_t i = 0; i < robot->count; i++) {
        const stn_link *link = link_of(f, robot->links[i].name);
        m->pose[i] = stn_pose_mul(&k->body_pose[link->body], &link->pose);
    }
    stn_kinematics_destroy(k);
    free(scratch);
    free(block);
}

/// Coordinates of the one order in that of the other.
static void carry_over(const written_robot *robot, const mechanics *from, const mechanics *to, bool velocities,
                       const double *x, double *y) {
    for (int32_t i = 0; i < robot->count; i++) {
        int32_t start = velocities ? from->v[i] : from->q[i], target = velocities ? to->v[i] : to->q[i];
        int32_t count = velocities ? from->counts[i] : from->coordinates[i];
        for (int32_t k = 0; k < count; k++) {
            y[target + k] = x[start + k];
        }
    }
}

static double pose_deviation(const stn_pose *a, const stn_pose *b) {
    double worst = stn_vec3_norm(stn_vec3_sub(a->position, b->position)) / fmax(1.0, stn_vec3_norm(b->position));
    for (int32_t i = 0; i < 9; i++) {
        worst = worse(worst, fabs(a->rotation.m[i / 3][i % 3] - b->rotation.m[i / 3][i % 3]));
    }
    return worst;
}

/// The largest relative deviations: of M_ij to sqrt(M_ii M_jj), of a force f_i to sqrt(M_ii) times the largest
/// |f_j| / sqrt(M_jj), of poses to 1 m or their length.
static void compare(const written_robot *robot, const sdf_robot *s, const mechanics *urdf, const mechanics *sdf,
                    double worst[3]) {
    int32_t map[WRITTEN_DOFS], n = urdf->nv;
    double scale[WRITTEN_DOFS], largest = 1e-12;
    for (int32_t i = 0; i < robot->count; i++) {
        for (int32_t k = 0; k < urdf->counts[i]; k++) {
            map[urdf->v[i] + k] = sdf->v[i] + k;
        }
        stn_pose back = stn_pose_inverse(&s->links[i].at_joint), link = stn_pose_mul(&sdf->pose[i], &back);
        worst[0] = worse(worst[0], pose_deviation(&link, &urdf->pose[i]));
    }
    for (int32_t i = 0; i < n; i++) {
        scale[i] = sqrt(urdf->M[i * (n + 1)]);
        largest = worse(largest, fabs(urdf->bias[i]) / scale[i]);
    }
    for (int32_t i = 0; i < n; i++) {
        worst[2] = worse(worst[2], fabs(sdf->bias[map[i]] - urdf->bias[i]) / scale[i] / largest);
        for (int32_t j = 0; j < n; j++) {
            worst[1] = worse(worst[1], fabs(sdf->M[map[i] * n + map[j]] - urdf->M[i * n + j]) / scale[i] / scale[j]);
        }
    }
}

static void choose_state(stn_random *r, const written_robot *robot, const mechanics *m, double *q, double *v) {
    for (int32_t i = 0; i < m->nq; i++) {
        q[i] = random_between(r, -1.5, 1.5);
    }
    for (int32_t i = 0; i < m->nv; i++) {
        v[i] = random_between(r, -2.0, 2.0);
    }
    for (int32_t i = 0; i < robot->count; i++) {
        int32_t first = stn_joint_type_quaternion(robot->links[i].type);
        if (m->counts[i] > 0 && first >= 0) {
            stn_quat e = random_rotation(r);
            const double values[4] = {e.w, e.x, e.y, e.z};
            memcpy(q + m->q[i] + first, values, sizeof values);
        }
    }
}

static void same_robot_in_both_formats_is_the_same_mechanism(void **state) {
    static mechanics urdf, sdf;
    static written_robot robot;
    static sdf_robot s;
    fixture *f = *state;
    stn_random r = {99};
    double worst[3] = {0.0}, q[WRITTEN_COORDINATES], v[WRITTEN_DOFS], other_q[WRITTEN_COORDINATES],
           other_v[WRITTEN_DOFS];
    int32_t joints[STN_JOINT_COUNT] = {0}, mimics = 0;
    for (int32_t i = 0; i < ROBOTS; i++) {
        random_twins(&robot, &s, (uint64_t)i + 1, 1 + i % 24);
        const double *x = robot.base.xyz, *rpy = robot.base.rpy;
        f->free = robot.root == WRITTEN_FREE;
        f->base =
            f->free ? (stn_pose){stn_mat3_from_rpy(rpy[0], rpy[1], rpy[2]), {x[0], x[1], x[2]}} : stn_pose_identity();
        f->as_proposed = false;
        f->file = "robot.urdf";
        good_model(f, robot.text);
        find_joints(f, &robot, &urdf);
        choose_state(&r, &robot, &urdf, q, v);
        compute(f, &robot, q, v, &urdf);
        f->as_proposed = true;
        f->file = "robot.sdf";
        good_model(f, s.text);
        find_joints(f, &robot, &sdf);
        assert_int_equal(sdf.nv, urdf.nv);
        carry_over(&robot, &urdf, &sdf, false, q, other_q);
        carry_over(&robot, &urdf, &sdf, true, v, other_v);
        compute(f, &robot, other_q, other_v, &sdf);
        compare(&robot, &s, &urdf, &sdf, worst);
        for (int32_t k = 0; k < robot.count; k++) {
            joints[robot.links[k].type]++;
            mimics += robot.links[k].mimic >= 0;
            assert_near(sdf.coordinates[k] > 0 ? sdf.offset[k] - urdf.offset[k] : 0.0, 0.0, 1e-14);
        }
        free(urdf.M);
        free(sdf.M);
        free(robot.text);
        free(s.text);
    }
    print_message("worst relative deviation: poses %.2g, M %.2g, bias %.2g; %d mimic joints\n", worst[0], worst[1],
                  worst[2], (int)mimics);
    assert_true(mimics > 10);
    for (int32_t i = 0; i < STN_JOINT_COUNT; i++) {
        assert_true(joints[i] > 10 || i == STN_JOINT_PLANAR);
    }
    assert_true(worst[0] < 1e-12 && worst[1] < 1e-12 && worst[2] < 1e-12);
}

static void public_gripper_is_as_its_file_says(void **state) {
    fixture *f = *state;
    skip_without(GRIPPER);
    f->request.path = GRIPPER;
    load_request(f);
    assert_ok(f->status, f->err);
    const stn_joint *left = joint_of(f, "left_finger_sliding_joint"),
                    *right = joint_of(f, "right_finger_sliding_joint");
    assert_string_equal(f->model->groups[0].name, "Schunk_Gripper");
    assert_int_equal(f->model->link_count, 4);
    assert_near(link_of(f, "body")->mass.mass, 0.988882, 0.0);
    assert_near(link_of(f, "body")->mass.inertia.m[2][2], 0.164814, 0.0);
    assert_near(link_of(f, "left_finger")->mass.mass, 0.05, 0.0);
    assert_near(link_of(f, "right_finger")->mass.mass, 0.05, 0.0);
    assert_int_equal(left->type, STN_JOINT_PRISMATIC);
    assert_near(left->axis.x, -1.0, 0.0);
    assert_near(left->lower, -0.055, 0.0);
    assert_near(left->upper, 0.0, 0.0);
    assert_near(left->effort, 80.0, 0.0);
    assert_true(left->velocity == (double)INFINITY);
    assert_near(right->upper, 0.055, 0.0);
    assert_near(right->effort, 80.0, 0.0);
    double q[9] = {0.0};
    memcpy(q, f->model->q0, sizeof q);
    q[left->q_start] = -0.02;
    q[right->q_start] = 0.03;
    expect_pose(f, "body", q, 0.0, -0.049133, 0.0, 0.0, 0.0, 0.0);
    expect_pose(f, "body_frame", q, 0.0, -0.049133, 0.0, 0.0, 0.0, 0.0);
    // the left finger is turned by 3.141592 about y, and slides along -x of its own frame
    expect_pose(f, "left_finger", q, -0.0115 + 0.02 * cos(3.141592), 0.028, -0.02 * sin(3.141592), 0.0, 3.141592, 0.0);
    expect_pose(f, "right_finger", q, 0.0115 + 0.03, 0.028, 0.0, 0.0, 0.0, 0.0);
    assert_int_equal(f->list.warning_count, 1); // the stops that give
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 311, "joint left_finger_sliding_joint", "<stiffness>");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_robot_in_both_formats_is_the_same_mechanism, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(public_gripper_is_as_its_file_says, set_up_sdf, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
