// SPDX-License-Identifier: Apache-2.0
// Kinematics and dynamics of single trees: forward kinematics with velocities and inertias, inverse dynamics, mass
// matrix, its Cholesky factor. The state changes from round to round, so that nothing is computed once and kept.
// A second line says how many multiplications and additions that is.
#include <stiction/dynamics.h>
#include <stiction/factor.h>

#include "base/ltl.h"
#include "bench_row.h"
#include "bench_time.h"

enum { MOST_NV = 64 };

static void check(stn_status status, const stn_error *err) {
    if (status != STN_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

static int32_t add_link(stn_model_builder *b, int32_t number) {
    char name[16];
    stn_error err;
    snprintf(name, sizeof name, "l%d", number);
    stn_link_spec spec = {name, {1.0, {0.02, 0.01, 0.1}, stn_mat3_diagonal(0.01, 0.012, 0.008)}, NULL};
    int32_t link = -1;
    check(stn_builder_add_link(b, &spec, &link, &err), &err);
    return link;
}

/// `legs` chains of `length` hinges on one base, floating or fixed.
static stn_model *build(stn_context *context, bool fixed, int32_t legs, int32_t length) {
    stn_error err;
    stn_model_builder *b = NULL;
    stn_model *model = NULL;
    int32_t robot = -1, count = 0, joint = -1;
    check(stn_builder_create(context, &b, &err), &err);
    check(stn_builder_begin_group(b, "robot", &robot, &err), &err);
    stn_pose base = stn_pose_identity();
    check(stn_builder_set_base(b, robot, &base, fixed, &err), &err);
    int32_t root = add_link(b, count++);
    for (int32_t leg = 0; leg < legs; leg++) {
        for (int32_t i = 0, parent = root; i < length; i++) {
            char name[16];
            snprintf(name, sizeof name, "j%d", count);
            stn_joint_spec spec = stn_joint_spec_default(name, STN_JOINT_REVOLUTE);
            spec.parent = parent;
            spec.child = parent = add_link(b, count++);
            spec.origin.position = stn_vec3_make(0.1 * leg, 0.02, 0.2);
            spec.origin.rotation = stn_mat3_from_rpy(0.3, -0.2 * leg, 0.1);
            spec.axis = i % 3 == 0 ? stn_vec3_make(1.0, 0.0, 0.0) : stn_vec3_make(0.0, 1.0, 0.0);
            check(stn_builder_add_joint(b, &spec, &joint, &err), &err);
        }
    }
    check(stn_model_compile(b, &model, &err), &err);
    stn_builder_destroy(b);
    return model;
}

typedef struct subject {
    const stn_model *model;
    stn_kinematics *kinematics;
    double q[MOST_NV + 1], v[MOST_NV], tau[MOST_NV], M[MOST_NV * MOST_NV], L[MOST_NV * MOST_NV];
    double ltl[STN_LTL_VALUES(MOST_NV)];
    int32_t shape[2 * MOST_NV];
    stn_spatial scratch[MOST_NV];
    double sum; // of results, so that none is optimised away
} subject;

static void forward_kinematics(void *p) {
    subject *s = p;
    s->q[s->model->nq - 1] += 1e-9;
    stn_kinematics_update(s->kinematics, s->q, s->v);
    s->sum += s->kinematics->body_pose[s->model->body_count - 1].position.x;
}

static void inverse_dynamics(void *p) {
    subject *s = p;
    stn_inverse_dynamics(s->kinematics, 0, stn_vec3_make(0.0, 0.0, -9.81), NULL, s->scratch, s->tau);
    s->sum += s->tau[0];
}

static void mass_matrix(void *p) {
    subject *s = p;
    stn_matrix M = {.n = s->model->nv, .form = STN_MATRIX_DENSE, .values = s->M};
    stn_mass_matrix(s->kinematics, 0, &M);
    s->sum += s->M[0];
}

static void factor(void *p) {
    subject *s = p;
    int32_t n = s->model->nv;
    memcpy(s->L, s->M, (size_t)n * (size_t)n * sizeof *s->L);
    s->sum += stn_cholesky(n, s->L, n);
}

static void factor_tree(void *p) {
    subject *s = p;
    stn_ltl f = {.n = s->model->nv, .values = s->ltl, .shape = s->shape};
    s->sum += stn_ltl_analyse(&f, s->M, f.n);
    s->sum += stn_ltl_factor(&f, s->M, f.n, 0.0);
}

/// Multiplications and additions as the kernels count them; the free root's quaternion and velocity come to about 60.
static void print_work(const stn_model *model, bool fixed) {
    int32_t bodies = model->body_count - 1, hinges = bodies - !fixed, n = model->nv;
    double entries = 0.0, updates = 0.0;
    for (int32_t d = 0; d < n; d++) {
        int32_t carriers = d - model->joints[model->dof_joint[d]].v_start;
        for (int32_t b = model->joints[model->dof_joint[d]].parent; b > 0; b = model->bodies[b].parent) {
            carriers += model->joints[model->bodies[b].joint].nv;
        }
        entries += carriers + 1;
        updates += 0.5 * carriers * (carriers + 1) + carriers;
    }
    double kinematics = 315.0 * hinges + (fixed ? 0.0 : 190.0), rnea = 105.0 * bodies + 17.0 * hinges;
    double crba = 13.0 * bodies + 42.0 * n + 11.0 * entries, dense = n * (double)n * n / 3.0, ltl = 2.0 * updates;
    printf("%-12s %4s %10.0f %10.0f %10.0f %10.0f %10.0f %10.0f   flop\n", "", "", kinematics, rnea, crba, dense, ltl,
           kinematics + rnea + crba + ltl);
}

static void row(const char *name, int32_t nv, const char *stage, double us) {
    char what[64];
    snprintf(what, sizeof what, "%s, %d dof: %s", name, (int)nv, stage);
    bench_row("dynamics", what, "Stiction", "", "us", us);
}

static double measure(stn_context *context, const char *name, bool fixed, int32_t legs, int32_t length) {
    static subject s;
    stn_error err;
    stn_model *model = build(context, fixed, legs, length);
    s = (subject){.model = model};
    check(stn_kinematics_create(model, &s.kinematics, &err), &err);
    for (int32_t i = 0; i < model->nq; i++) {
        s.q[i] = model->q0[i] + 0.01 * (i + 1);
    }
    for (int32_t i = 0; i < model->nv; i++) {
        s.v[i] = 0.1 * (i % 7) - 0.3;
    }
    double kinematics = best_time(forward_kinematics, &s), rnea = best_time(inverse_dynamics, &s);
    double crba = best_time(mass_matrix, &s), cholesky = best_time(factor, &s), ltl = best_time(factor_tree, &s);
    printf("%-12s %4d %10.3f %10.3f %10.3f %10.3f %10.3f %10.3f\n", name, model->nv, kinematics, rnea, crba, cholesky,
           ltl, kinematics + rnea + crba + ltl);
    row(name, model->nv, "FK", kinematics);
    row(name, model->nv, "RNEA", rnea);
    row(name, model->nv, "CRBA", crba);
    row(name, model->nv, "factor", ltl);
    print_work(model, fixed);
    stn_kinematics_destroy(s.kinematics);
    stn_model_destroy(model);
    return s.sum;
}

int main(void) {
    stn_error err;
    stn_context *context = NULL;
    check(stn_context_create(NULL, &context, &err), &err);
    print_processor();
    printf("%-12s %4s %10s %10s %10s %10s %10s %10s   [us]\n", "tree", "dof", "kinematics", "rnea", "crba", "dense LLT",
           "tree LTL", "sum");
    double sum = measure(context, "free body", false, 0, 0);
    sum += measure(context, "arm", true, 1, 7);
    sum += measure(context, "quadruped", false, 4, 3);
    sum += measure(context, "humanoid", false, 4, 6);
    sum += measure(context, "six arms", false, 6, 9);
    stn_context_destroy(context);
    return sum != sum; // NaN: something is wrong
}
