// SPDX-License-Identifier: Apache-2.0
// MuJoCo: mj_step with Newton's method, elliptic cones and its default tolerance, 1e-8. Settings: iterations,
// tolerance; cg=1: its conjugate gradients, for many dofs; pyramids=1: pyramidal cones, its default.
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mujoco/mujoco.h>

#include "scene.h"

enum { MOST_DOFS = 2600 }; // Newton's Hessian is dense: beyond, a step takes minutes and gigabytes

typedef struct peer {
    mjModel *model;
    mjData *data;
    mjtNum *work;  // (nv)
    bool borrowed; // the model is another's
} peer;

// Its failures end the process unless a handler leaves; the handler gets no argument of ours.
static jmp_buf failed;

static void leave(const char *text) {
    fprintf(stderr, "MuJoCo: %s\n", text);
    longjmp(failed, 1);
}

static void be_quiet(const char *text) {
    (void)text;
}

static void destroy(void *self) {
    peer *p = self;
    mj_deleteData(p->data);
    if (!p->borrowed) {
        mj_deleteModel(p->model);
    }
    free(p->work);
    free(p);
}

static bool load(peer *p, const peer_scene *scene, bool pyramids) {
    char path[] = "/tmp/stn_bench_XXXXXX.xml", error[500] = "the model file could not be written";
    int descriptor = mkstemps(path, 4);
    FILE *own = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (own == NULL) {
        return false;
    }
    fclose(own);
    if (setjmp(failed) == 0 && peer_scene_write_mjcf(scene, path, pyramids)) {
        p->model = mj_loadXML(path, NULL, error, sizeof error);
        p->data = p->model != NULL ? mj_makeData(p->model) : NULL;
        p->work = p->model != NULL ? calloc((size_t)p->model->nv, sizeof *p->work) : NULL;
        if (p->model == NULL) {
            fprintf(stderr, "MuJoCo: %s\n", error);
        }
    }
    remove(path);
    return p->data != NULL && p->work != NULL && p->model->nq == scene->model->nq;
}

static void *create(const peer_scene *scene, const char *setting) {
    mju_user_error = leave;
    mju_user_warning = be_quiet;
    if (scene->model->nv > MOST_DOFS) {
        fprintf(stderr, "MuJoCo: not measured with more than %d dofs, the scene has %d\n", MOST_DOFS,
                (int)scene->model->nv);
        return NULL;
    }
    peer *p = calloc(1, sizeof *p);
    if (p == NULL || !load(p, scene, peer_setting(setting, "pyramids", 0.0) > 0.0)) {
        if (p != NULL) {
            destroy(p);
        }
        return NULL;
    }
    p->model->opt.iterations = (int)peer_setting(setting, "iterations", p->model->opt.iterations);
    p->model->opt.tolerance = peer_setting(setting, "tolerance", p->model->opt.tolerance);
    p->model->opt.solver = peer_setting(setting, "cg", 0.0) > 0.0 ? mjSOL_CG : mjSOL_NEWTON;
    for (int32_t i = 0; i < scene->model->nq; i++) {
        p->data->qpos[i] = scene->q[i];
    }
    for (int32_t i = 0; i < scene->model->nv; i++) {
        p->data->qfrc_applied[i] = scene->effort[i];
    }
    mujoco_peer_command(p, p->data->qpos); // servos hold the start
    return p;
}

void mujoco_peer_command(void *self, const double *q) {
    peer *p = self;
    for (int u = 0; u < p->model->nu; u++) {
        p->data->ctrl[u] = q[p->model->jnt_qposadr[p->model->actuator_trnid[2 * u]]];
    }
}

void *mujoco_peer_beside(void *self) {
    const peer *other = self;
    peer *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    *p = (peer){other->model, mj_makeData(other->model), calloc((size_t)other->model->nv, sizeof *p->work), true};
    if (p->data == NULL || p->work == NULL) {
        destroy(p);
        return NULL;
    }
    mj_copyData(p->data, p->model, other->data);
    return p;
}

static bool step(void *self) {
    peer *p = self;
    if (setjmp(failed) != 0) {
        return false;
    }
    mj_step(p->model, p->data);
    const mjWarningStat *warning = p->data->warning;
    if (warning[mjWARN_CONTACTFULL].number + warning[mjWARN_CNSTRFULL].number > 0) {
        fprintf(stderr, "MuJoCo: more contacts than there is room for\n");
        return false;
    }
    return true;
}

/// |D x|, D = diag(M)^-1/2.
static double scaled_norm(const peer *p, const mjtNum *x) {
    double sum = 0.0;
    for (int i = 0; i < p->model->nv; i++) {
        sum += x[i] * x[i] / p->data->qM[p->model->dof_Madr[i]];
    }
    return sqrt(sum);
}

/// What its solver left of M a - smooth forces - constraint forces, as impulses of the step.
static double momentum_error(peer *p) {
    const mjData *d = p->data;
    double dt = p->model->opt.timestep;
    mj_mulM(p->model, d, p->work, d->qvel);
    double size = fmax(scaled_norm(p, p->work), dt * scaled_norm(p, d->qfrc_constraint));
    mj_mulM(p->model, d, p->work, d->qacc);
    for (int i = 0; i < p->model->nv; i++) {
        p->work[i] -= d->qfrc_smooth[i] + d->qfrc_constraint[i];
    }
    return size > 0.0 ? dt * scaled_norm(p, p->work) / size : 0.0;
}

static void report(void *self, peer_report *out) {
    peer *p = self;
    *out = (peer_report){p->data->solver_iter, p->data->ncon, momentum_error(p)};
}

static void watch(void *self) { // all is kept
    (void)self;
}

/// Of sum omega^2 dt^2 (f - f0)^2 the root: how far forces are from each other, as velocities.
static double distance(const peer *p, const mjtNum *f, const mjtNum *f0) {
    double sum = 0.0;
    for (int i = 0; i < p->data->nefc; i++) {
        const double d = p->data->efc_diagApprox[i] * p->model->opt.timestep * (f[i] - f0[i]);
        sum += d * d;
    }
    return sqrt(sum);
}

/// Its forces are a function of the accelerations. The natural map of its law is how far they are from those of the
/// accelerations that they make; of no forces, from those of the accelerations without constraints.
static double error(void *self) {
    peer *p = self;
    mjData *d = p->data;
    const int nv = p->model->nv, rows = d->nefc;
    mjtNum *memory = rows > 0 ? calloc((size_t)(3 * rows + nv), sizeof *memory) : NULL;
    if (memory == NULL) {
        return (double)NAN;
    }
    mjtNum *force = memory, *zero = force + rows, *jar = zero + rows, *a = jar + rows;
    mju_copy(force, d->efc_force, rows);
    mju_add(a, d->qfrc_smooth, d->qfrc_constraint, nv);
    mj_solveM(p->model, d, a, a, 1);
    mj_mulJacVec(p->model, d, jar, a);
    mju_subFrom(jar, d->efc_aref, rows);
    mj_constraintUpdate(p->model, d, jar, NULL,
                        0); // writes efc_force and qfrc_constraint, which the next step makes anew
    const double own = distance(p, force, d->efc_force);
    mj_mulJacVec(p->model, d, jar, d->qacc_smooth);
    mju_subFrom(jar, d->efc_aref, rows);
    mj_constraintUpdate(p->model, d, jar, NULL, 0);
    const double idle = distance(p, zero, d->efc_force);
    mju_copy(d->efc_force, force, rows);
    free(memory);
    return idle > 0.0 ? own / idle : (double)NAN;
}

static void read_q(void *self, double *q) {
    const peer *p = self;
    memcpy(q, p->data->qpos, (size_t)p->model->nq * sizeof *q);
}

const peer_engine mujoco_peer = {"MuJoCo", create, step, report, read_q, destroy, watch, error};
