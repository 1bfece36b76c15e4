// SPDX-License-Identifier: Apache-2.0
// Our own robots, read from URDF and written as MJCF, in MuJoCo: what it computes from our file is what we compute from
// the URDF. The angular velocity of a free body is in its own axes there: v_mujoco = T v, so
//     M = T^T M_mujoco T,   bias = T^T bias_mujoco.
#include <mujoco/mujoco.h>

#include "save_fixture.h"

enum { MOST = 64 };

typedef struct subject {
    const stn_model *ours;
    mjModel *theirs;
    mjData *data;
    stn_kinematics *kinematics;
    double q[MOST], v[MOST], T[MOST][MOST], M[MOST * MOST], pulled[MOST][MOST];
    save_deviation worst;
} subject;

/// Fills T and MuJoCo's state from ours, joint by joint by its name.
static void set_state(subject *s) {
    memset(s->T, 0, sizeof s->T);
    for (int32_t i = 0; i < s->ours->joint_count; i++) {
        const stn_joint *j = &s->ours->joints[i];
        int joint = mj_name2id(s->theirs, mjOBJ_JOINT, j->name);
        assert_true(joint >= 0);
        int to = s->theirs->jnt_qposadr[joint], dof = s->theirs->jnt_dofadr[joint];
        memcpy(s->data->qpos + to, s->q + j->q_start, (size_t)j->nq * sizeof(double));
        for (int32_t k = 0; k < j->nv; k++) {
            s->T[dof + k][j->v_start + k] = 1.0;
        }
        if (j->type == STN_JOINT_FLOATING) {
            const double *e = s->q + j->q_start + 3;
            stn_mat3 r = stn_quat_matrix((stn_quat){e[0], e[1], e[2], e[3]});
            for (int32_t k = 0; k < 9; k++) {
                s->T[dof + 3 + k / 3][j->v_start + 3 + k % 3] = r.m[k % 3][k / 3];
            }
        }
    }
    for (int32_t i = 0; i < s->ours->nv; i++) {
        s->data->qvel[i] = 0.0;
        for (int32_t k = 0; k < s->ours->nv; k++) {
            s->data->qvel[i] += s->T[i][k] * s->v[k];
        }
    }
}

/// T^T A T.
static void pull_back(subject *s, const double *A) {
    int32_t n = s->ours->nv;
    static double half[MOST][MOST];
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            half[i][j] = 0.0;
            for (int32_t k = 0; k < n; k++) {
                half[i][j] += A[i * n + k] * s->T[k][j];
            }
        }
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            s->pulled[i][j] = 0.0;
            for (int32_t k = 0; k < n; k++) {
                s->pulled[i][j] += s->T[k][i] * half[k][j];
            }
        }
    }
}

static void compare_tree(subject *s, const stn_tree *tree, int32_t t, const double *bias) {
    static stn_spatial scratch[MOST];
    const stn_vec3 gravity = {s->theirs->opt.gravity[0], s->theirs->opt.gravity[1], s->theirs->opt.gravity[2]};
    double tau[MOST], largest = 0.0;
    int32_t n = tree->nv, at = tree->v_start;
    stn_matrix M = {.n = n, .form = STN_MATRIX_DENSE, .values = s->M};
    stn_mass_matrix(s->kinematics, t, &M);
    stn_inverse_dynamics(s->kinematics, t, gravity, NULL, scratch, tau);
    for (int32_t i = 0; i < n; i++) {
        largest = worse(largest, fabs(tau[i]) / sqrt(M.values[i * (n + 1)]));
    }
    for (int32_t i = 0; i < n; i++) {
        double own = sqrt(M.values[i * (n + 1)]);
        save_worsen(&s->worst.bias, fabs(tau[i] - bias[at + i]) / (own * largest));
        for (int32_t j = 0; j < n; j++) {
            double scale = own * sqrt(M.values[j * (n + 1)]);
            save_worsen(&s->worst.mass, fabs(M.values[i * n + j] - s->pulled[at + i][at + j]) / scale);
        }
    }
}

static void compare_links(subject *s) {
    for (int32_t i = 0; i < s->ours->link_count; i++) {
        const stn_link *link = &s->ours->links[i];
        int body = mj_name2id(s->theirs, mjOBJ_BODY, link->name);
        assert_true(body > 0);
        stn_pose pose = stn_pose_mul(&s->kinematics->body_pose[link->body], &link->pose);
        const mjtNum *x = s->data->xpos + 3 * body;
        save_worsen(&s->worst.pose, stn_vec3_norm(stn_vec3_sub(pose.position, stn_vec3_make(x[0], x[1], x[2]))));
        for (int32_t k = 0; k < 9; k++) {
            save_worsen(&s->worst.pose, fabs(pose.rotation.m[k / 3][k % 3] - s->data->xmat[9 * body + k]));
        }
    }
}

static void compare_state(subject *s) {
    static double full[MOST * MOST], bias[MOST];
    set_state(s);
    mj_kinematics(s->theirs, s->data);
    mj_comPos(s->theirs, s->data);
    mj_comVel(s->theirs, s->data);
    mj_crb(s->theirs, s->data);
    mj_rne(s->theirs, s->data, 0, s->data->qfrc_bias);
    stn_kinematics_update(s->kinematics, s->q, s->v);
    mj_fullM(s->theirs, full, s->data->qM);
    pull_back(s, full);
    for (int32_t i = 0; i < s->ours->nv; i++) {
        bias[i] = 0.0;
        for (int32_t k = 0; k < s->ours->nv; k++) {
            bias[i] += s->T[k][i] * s->data->qfrc_bias[k];
        }
    }
    for (int32_t t = 0; t < s->ours->tree_count; t++) {
        compare_tree(s, &s->ours->trees[t], t, bias);
    }
    compare_links(s);
}

static void compare_robot(fixture *f, const char *path, bool fixed) {
    char copy[128], error[500] = "";
    static subject s;
    stn_random r = {23};
    memset(&s, 0, sizeof s);
    stn_model *model = save_load(f, path, fixed ? SAVE_WELDED : SAVE_FREE);
    snprintf(copy, sizeof copy, "%s/copy.xml", f->folder);
    stn_save_request request = {.model = model, .path = copy};
    assert_ok(stn_save_robot(f->context, &request, "mjcf", &f->list, &f->err), f->err);
    s.ours = model;
    s.theirs = mj_loadXML(copy, NULL, error, sizeof error);
    if (s.theirs == NULL) {
        fail_msg("%s: MuJoCo says: %s", path, error);
    }
    assert_int_equal(s.theirs->nv, model->nv);
    assert_int_equal(s.theirs->nq, model->nq);
    assert_true(model->nv <= MOST && model->nq <= MOST && model->body_count <= MOST);
    s.data = mj_makeData(s.theirs);
    assert_ok(stn_kinematics_create(model, &s.kinematics, &f->err), f->err);
    for (int32_t round = 0; round < 20; round++) {
        save_choose_state(&r, model, s.q, s.v);
        compare_state(&s);
    }
    print_message("  %-20s %-6s FK %.1e  M %.1e  bias %.1e\n", strrchr(path, '/') + 1, fixed ? "welded" : "free",
                  s.worst.pose, s.worst.mass, s.worst.bias);
    stn_kinematics_destroy(s.kinematics);
    mj_deleteData(s.data);
    mj_deleteModel(s.theirs);
    stn_model_destroy(model);
    assert_true(s.worst.pose <= 1e-9 && s.worst.mass <= 1e-9 && s.worst.bias <= 1e-9);
}

static void compare_own(fixture *f, const char *path, void *unused) {
    (void)unused;
    compare_robot(f, path, true);
    compare_robot(f, path, false);
}

static void mujoco_computes_from_our_files_what_we_compute(void **state) {
    assert_true(save_each_own(*state, compare_own, NULL) >= 11);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(mujoco_computes_from_our_files_what_we_compute, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
