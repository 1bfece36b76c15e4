// SPDX-License-Identifier: Apache-2.0
// m(v) = M(q_th) (v - v0) - dt k(q_th, v_th) = 0 for v*, tree by tree [castro-2022, II-D]. The affine forces are
// k1 = tau - K (q_th - q0) - D (v_th - v0), where q_th - q0 = theta dt v_vq exactly: the exponential map goes there
// along v_vq. What is left, Coriolis and gravity, comes with M (v - v0) from one pass of inverse dynamics at (q_th,
// v_th).
//
// Newton's iteration takes A for dm/dv, from which it differs by O(dt), and learns what A lacks (the gyroscopic terms,
// how M changes) from its own steps by Broyden's rank-one updates [broyden-1965, kelley-1995]. Where M is constant and
// forces are linear the first step is exact. Point nodes have such an M, and at theta = 0 nothing is unknown on the
// right: there that step is left to the core, which factors A anyhow.
#include "free_motion.h"

#include <math.h>
#include <string.h>

#include <stiction/factor.h>

#include "common/broyden.h"
#include "envelope.h"

enum { MAX_ITERATIONS = 40 };          // a chain that whips through radians in a step takes more than 20
static const double TOLERANCE = 1e-10; // of the largest term of m

/// Newton's iteration on one articulated tree, or on one cloud of frames.
typedef struct tree_motion {
    int32_t tree;
    broyden newton;
    envelope nodes; // of A, of a cloud
    double size;    // norm of the largest of momentum at the start, dt tau, and gravity's impulse, held or not
    bool done;
} tree_motion;

typedef struct free_motion {
    const theta_scheme *scheme;
    const stn_integrator_view *view;
    stn_formed *formed;
    double *v_vq, *q_th, *v_th; // (nv), (nq), (nv)
    double *dv, *m, *work;      // (nv)
    stn_spatial *scratch;       // (body_count)
    tree_motion *trees;
    int32_t tree_count;
} free_motion;

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "out of memory");
}

// ----------------------------------------------------------------------------------------------------- the matrix A

/// A = M + dt^2 theta theta_vq K + dt theta D, where A holds M.
static stn_status add_gains(const free_motion *f, int32_t t, stn_error *err) {
    const stn_integrator_view *view = f->view;
    double theta_dt = f->scheme->theta * view->dt;
    stn_matrix *A = &f->formed->A[t];
    stn_status status = stn_matrix_add_scaled(A, theta_dt * f->scheme->theta_vq * view->dt, &view->forces->K[t]);
    if (status == STN_OK) {
        status = stn_matrix_add_scaled(A, theta_dt, &view->forces->D[t]);
    }
    return status == STN_OK ? status : stn_fail(err, status, "stiffness and damping do not fit the tree's matrix");
}

/// A with the mass matrix at the step's start.
static stn_status form_at_start(const free_motion *f, int32_t t, stn_error *err) {
    stn_status status = stn_matrix_add_scaled(&f->formed->A[t], 1.0, &f->view->M[t]);
    return status == STN_OK ? add_gains(f, t, err) : stn_fail(err, status, "the mass matrix does not fit A");
}

static stn_status describe(const free_motion *f, int32_t t, stn_status status, const char *what, double value,
                           stn_error *err) {
    const stn_model *model = f->view->model;
    if (model->trees[t].kind == STN_TREE_NODAL) {
        return stn_fail(err, status, "tree %d, nodes of a deformable: %s %g", t, what, value);
    }
    const stn_body *body = &model->bodies[model->trees[t].body_start];
    return stn_fail(err, status, "group %s, tree of link %s: %s %g", model->groups[body->group].name, body->name, what,
                    value);
}

static stn_status factor(const free_motion *f, tree_motion *motion, stn_error *err) {
    const stn_matrix *A = &f->formed->A[motion->tree];
    int32_t pivot;
    if (A->form == STN_MATRIX_NODAL) {
        pivot = envelope_factor(&motion->nodes, A);
    } else {
        memcpy(motion->newton.factor, A->values, (size_t)A->n * (size_t)A->n * sizeof(double));
        pivot = stn_cholesky(A->n, motion->newton.factor, A->n);
    }
    if (pivot < 0) {
        return STN_OK;
    }
    return describe(f, motion->tree, STN_ERR_NUMERIC,
                    "M + dt^2 theta theta_vq K + dt theta D is not positive definite at dof", (double)pivot, err);
}

// ------------------------------------------------------------------------------------------------ one step is exact

/// v_star stays v0; the impulse dt k(q0, v0) - dt^2 theta K v0 is left to the core.
static stn_status leave_impulse(const free_motion *f, int32_t t, stn_error *err) {
    const stn_integrator_view *view = f->view;
    const stn_tree *tree = &view->model->trees[t];
    double *impulse = f->formed->free_impulse + tree->v_start;
    stn_inverse_dynamics(view->kinematics, t, view->gravity, NULL, f->scratch, f->work);
    for (int32_t i = 0; i < tree->nv; i++) {
        impulse[i] = view->dt * (view->forces->tau[tree->v_start + i] - f->work[i]);
    }
    stn_matrix_mul_add(&view->forces->K[t], -f->scheme->theta * view->dt * view->dt, view->v + tree->v_start, impulse);
    return form_at_start(f, t, err);
}

// ---------------------------------------------------------------------------------------------------------- Newton

/// m += s B x; returns the term's norm.
static double add_gain(const free_motion *f, const tree_motion *motion, const stn_matrix *B, double s,
                       const double *x) {
    if (B->form == STN_MATRIX_ZERO) {
        return 0.0;
    }
    memset(f->work, 0, (size_t)B->n * sizeof *f->work);
    stn_matrix_mul_add(B, s, x, f->work);
    for (int32_t i = 0; i < B->n; i++) {
        f->m[i] += f->work[i];
    }
    return broyden_norm(&motion->newton, f->work);
}

/// One step of v_star by m, its residual; the last one, which needs no more kinematics, when m is small enough beside
/// its largest term: momenta, or impulses of forces that may balance.
static stn_status improve(const free_motion *f, tree_motion *motion, int32_t iteration, stn_error *err) {
    const stn_integrator_view *view = f->view;
    const stn_forces *forces = view->forces;
    int32_t t = motion->tree, start = view->model->trees[t].v_start, n = view->model->trees[t].nv;
    double dt = view->dt, theta = f->scheme->theta;
    double *acceleration = f->work;
    for (int32_t i = 0; i < n; i++) {
        acceleration[i] = f->dv[start + i] / dt;
    }
    stn_inverse_dynamics(view->scratch_kinematics, t, view->gravity, acceleration, f->scratch, f->m);
    for (int32_t i = 0; i < n; i++) {
        f->m[i] = dt * (f->m[i] - forces->tau[start + i]);
    }
    double stiff = add_gain(f, motion, &forces->K[t], dt * theta * dt, f->v_vq + start);
    double damped = add_gain(f, motion, &forces->D[t], dt * theta, f->dv + start);
    double largest = fmax(fmax(motion->size, stiff), damped);
    double residual = broyden_norm(&motion->newton, f->m);
    motion->done = residual <= TOLERANCE * largest;
    if (!motion->done && (iteration == MAX_ITERATIONS || !isfinite(residual))) {
        return describe(
            f, t, STN_ERR_DIVERGED,
            "its free motion does not converge in 40 iterations: it moves too far in a step, use a smaller dt; "
            "relative residual",
            residual / largest, err);
    }
    const double *step;
    if (motion->newton.factor != NULL) {
        step = broyden_step(&motion->newton, iteration, f->m);
    } else {
        double *direct = motion->newton.steps + (size_t)iteration * (size_t)n;
        for (int32_t i = 0; i < n; i++) {
            direct[i] = -f->m[i];
        }
        envelope_solve(&motion->nodes, direct);
        step = broyden_update(&motion->newton, iteration);
    }
    for (int32_t i = 0; i < n; i++) {
        f->formed->v_star[start + i] += step[i];
    }
    if (!motion->done) {
        return STN_OK;
    }
    stn_mass_matrix(view->scratch_kinematics, t, &f->formed->A[t]); // that at q_th
    return add_gains(f, t, err);
}

static stn_status begin_tree(free_motion *f, int32_t t, stn_error *err) {
    const stn_integrator_view *view = f->view;
    const stn_tree *tree = &view->model->trees[t];
    const bool nodal = tree->kind == STN_TREE_NODAL;
    int32_t n = tree->nv;
    tree_motion *motion = &f->trees[f->tree_count++];
    *motion = (tree_motion){
        .tree = t,
        .newton = {.n = n,
                   .factor = nodal ? NULL : STN_ARENA(view->arena, (int64_t)n * n, double),
                   .scale = STN_ARENA(view->arena, n, double),
                   .steps = STN_ARENA(view->arena, (int64_t)(MAX_ITERATIONS + 1) * n, double)},
    };
    broyden *newton = &motion->newton;
    const bool whole = nodal ? envelope_create(&f->formed->A[t], view->arena, &motion->nodes) : newton->factor != NULL;
    if (!whole || newton->scale == NULL || newton->steps == NULL) {
        return out_of_memory(err);
    }
    stn_matrix_diagonal(&view->M[t], newton->scale);
    for (int32_t i = 0; i < n; i++) {
        newton->scale[i] = 1.0 / sqrt(newton->scale[i]);
    }
    // the part of the largest term that is known before the first iteration
    double mass = 0.0, dt = view->dt, *x = f->work;
    for (int32_t b = tree->body_start; b < tree->body_start + tree->body_count; b++) {
        mass += view->model->bodies[b].mass.mass;
    }
    for (int32_t i = tree->node_start; i < tree->node_start + tree->node_count; i++) {
        mass += view->model->node_mass[i];
    }
    for (int32_t i = 0; i < n; i++) {
        x[i] = dt * view->forces->tau[tree->v_start + i];
    }
    motion->size = fmax(dt * stn_vec3_norm(view->gravity) * sqrt(mass), broyden_norm(newton, x));
    memset(x, 0, (size_t)n * sizeof *x);
    stn_matrix_mul_add(&view->M[t], 1.0, view->v + tree->v_start, x);
    motion->size = fmax(motion->size, broyden_norm(newton, x));
    stn_status status = form_at_start(f, t, err);
    return status == STN_OK ? factor(f, motion, err) : status;
}

stn_status theta_free_motion(const theta_scheme *scheme, const stn_integrator_view *view, stn_formed *formed,
                             stn_error *err) {
    const stn_model *model = view->model;
    free_motion f = {.scheme = scheme, .view = view, .formed = formed};
    double **const vectors[] = {&f.v_vq, &f.v_th, &f.dv, &f.m, &f.work};
    f.q_th = STN_ARENA(view->arena, model->nq + 1, double);
    f.scratch = STN_ARENA(view->arena, model->body_count + 1, stn_spatial);
    f.trees = STN_ARENA(view->arena, model->tree_count + 1, tree_motion);
    bool whole = f.q_th != NULL && f.scratch != NULL && f.trees != NULL;
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        *vectors[i] = STN_ARENA(view->arena, model->nv + 1, double);
        whole = whole && *vectors[i] != NULL;
    }
    if (!whole) {
        return out_of_memory(err);
    }
    memcpy(formed->v_star, view->v, (size_t)model->nv * sizeof *view->v);
    for (int32_t t = 0; t < model->tree_count; t++) {
        if (view->asleep != NULL && view->asleep[t]) {
            continue;
        }
        const bool points = model->trees[t].kind == STN_TREE_NODAL && model->trees[t].node_type == STN_NODE_POINT;
        bool exact = scheme->theta == 0.0 || points;
        stn_status status = exact ? leave_impulse(&f, t, err) : begin_tree(&f, t, err);
        if (status != STN_OK) {
            return status;
        }
    }
    // all trees at once, as kinematics are updated for all of them; those that are done keep their v_star
    int32_t left = f.tree_count;
    for (int32_t iteration = 0; left > 0; iteration++) {
        for (int32_t d = 0; d < model->nv; d++) { // (q_th, v_th), and the kinematics there
            f.dv[d] = formed->v_star[d] - view->v[d];
            f.v_vq[d] = view->v[d] + scheme->theta_vq * f.dv[d];
            f.v_th[d] = view->v[d] + scheme->theta * f.dv[d];
        }
        stn_integrate_q(model, view->q, f.v_vq, scheme->theta * view->dt, f.q_th);
        stn_kinematics_update(view->scratch_kinematics, f.q_th, f.v_th);
        left = 0;
        for (int32_t i = 0; i < f.tree_count; i++) {
            if (f.trees[i].done) {
                continue;
            }
            stn_status status = improve(&f, &f.trees[i], iteration, err);
            if (status != STN_OK) {
                return status;
            }
            left += !f.trees[i].done;
        }
    }
    return STN_OK;
}
