// SPDX-License-Identifier: Apache-2.0
// The robots of bench_dynamics.c in MuJoCo: what its stages take for the same results. Its mass matrix is sparse and
// its factor is that of Featherstone's L^T D L.
#include <mujoco/mujoco.h>

#include "bench_row.h"
#include "bench_time.h"

typedef struct subject {
    mjModel *model;
    mjData *data;
} subject;

static void kinematics(void *p) {
    subject *s = p;
    s->data->qpos[s->model->nq - 1] += 1e-9;
    mj_kinematics(s->model, s->data);
    mj_comPos(s->model, s->data); // inertias and motion axes
    mj_comVel(s->model, s->data);
}

static void inverse_dynamics(void *p) {
    subject *s = p;
    mj_rne(s->model, s->data, 0, s->data->qfrc_bias);
}

static void mass_matrix(void *p) {
    subject *s = p;
    mj_crb(s->model, s->data);
}

static void factor(void *p) {
    subject *s = p;
    mj_factorM(s->model, s->data);
}

#define SOLID "<inertial mass='1' pos='0.02 0.01 0.1' diaginertia='0.01 0.012 0.008'/>"

static void write_robot(FILE *file, int fixed, int legs, int length) {
    fprintf(file, "<mujoco><compiler angle='radian' eulerseq='xyz'/><worldbody><body>%s" SOLID,
            fixed ? "" : "<freejoint/>");
    for (int leg = 0; leg < legs; leg++) {
        for (int i = 0; i < length; i++) {
            fprintf(file, "<body pos='%g 0.02 0.2' euler='0.3 %g 0.1'><joint type='hinge' axis='%s'/>" SOLID, 0.1 * leg,
                    -0.2 * leg, i % 3 == 0 ? "1 0 0" : "0 1 0");
        }
        for (int i = 0; i < length; i++) {
            fprintf(file, "</body>");
        }
    }
    fprintf(file, "</body></worldbody></mujoco>\n");
}

static void row(const char *name, int nv, const char *stage, double us) {
    char what[64];
    snprintf(what, sizeof what, "%s, %d dof: %s", name, nv, stage);
    bench_row("dynamics", what, "MuJoCo", "", "us", us);
}

static void measure(const char *name, int fixed, int legs, int length) {
    char path[] = "/tmp/stn_bench_XXXXXX.xml", error[500] = "";
    int descriptor = mkstemps(path, 4);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file == NULL) {
        return;
    }
    write_robot(file, fixed, legs, length);
    fclose(file);
    subject s = {.model = mj_loadXML(path, NULL, error, sizeof error)};
    remove(path);
    if (s.model == NULL) {
        fprintf(stderr, "%s\n", error);
        return;
    }
    s.data = mj_makeData(s.model);
    for (int i = 0; i < s.model->nv; i++) {
        s.data->qvel[i] = 0.1 * (i % 7) - 0.3;
    }
    for (int i = fixed ? 0 : 7; i < s.model->nq; i++) {
        s.data->qpos[i] = 0.01 * (i + 1);
    }
    mj_forward(s.model, s.data);
    double fk = best_time(kinematics, &s), rnea = best_time(inverse_dynamics, &s), crba = best_time(mass_matrix, &s);
    double ltl = best_time(factor, &s);
    printf("%-12s %4d %10.3f %10.3f %10.3f %10.3f %10.3f\n", name, (int)s.model->nv, fk, rnea, crba, ltl,
           fk + rnea + crba + ltl);
    row(name, (int)s.model->nv, "FK", fk);
    row(name, (int)s.model->nv, "RNEA", rnea);
    row(name, (int)s.model->nv, "CRBA", crba);
    row(name, (int)s.model->nv, "factor", ltl);
    mj_deleteData(s.data);
    mj_deleteModel(s.model);
}

int main(void) {
    print_processor();
    printf("MuJoCo %s\n%-12s %4s %10s %10s %10s %10s %10s   [us]\n", mj_versionString(), "tree", "dof", "kinematics",
           "rnea", "crba", "tree LTL", "sum");
    measure("free body", 0, 0, 0);
    measure("arm", 1, 1, 7);
    measure("quadruped", 0, 4, 3);
    measure("humanoid", 0, 4, 6);
    measure("six arms", 0, 6, 9);
    return 0;
}
