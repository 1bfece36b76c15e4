// SPDX-License-Identifier: Apache-2.0
// Coriolis and centrifugal forces of a tree, implicit in the velocities at the positions of the step's start:
//
//     A (v* - v0) = dt (tau - g - C(v0, v*)) - dt^2 K v0
//
// The forces c(v) at given positions are a quadratic form in v; C is its symmetric bilinear form, C(v, v) = c(v), by
// polarisation C(v0, v*) = 2 c(v_m) - (c(v0) + c(v*))/2 with v_m = (v0 + v*)/2 [kahan-1993], made in one pass
// (stn_inverse_dynamics_polar). Seen from the step's
// start, v0 and v* are velocities half a step before and behind it; going back from v* to v0 is the same equation, and
// so is going back from q to q0, so that the step with the motion that follows is reversible: energy errs by O(dt) and
// comes back, it does not drift. The explicit c(v0) makes an error of one sign in every step, by which undamped chains
// lost or gained what they had within seconds. c(v_m) would be reversible, too, but is not 0 for what is held at rest:
// v* knows nothing of contacts and servos and falls, C(0, v*) = 0 all the same. The equation is linear in v*; it is
// solved by Newton's iteration with A for the derivative and Broyden's updates.
#include "common/turning_tree.h"

#include <math.h>
#include <string.h>

#include "common/broyden.h"

enum { MAX_ITERATIONS = 20 };
static const double TOLERANCE = 1e-10; // of the largest momentum or impulse, before the last division
static const double REST = 1e-12;      // the same of what that is expected to leave

typedef struct turning {
    const stn_integrator_view *view;
    int32_t tree, start, n;
    const stn_formed *formed;
    broyden newton;
    double *bias, *dv, *v_star, *m, *known; // (n)
    stn_spatial *scratch;
} turning;

bool turning_tree_is(const stn_model *model, const stn_tree *tree) {
    bool turns = false;
    if (tree->kind != STN_TREE_ARTICULATED || tree->nv < 2) {
        return false;
    }
    for (int32_t b = tree->body_start; b < tree->body_start + tree->body_count; b++) {
        stn_joint_type type = model->joints[model->bodies[b].joint].type;
        bool alone = tree->body_count == 1 && (type == STN_JOINT_FLOATING || type == STN_JOINT_BALL);
        turns = turns || (type != STN_JOINT_PRISMATIC && !alone);
    }
    return turns;
}

enum { VECTORS = 6, SPATIALS = 3 }; // spatials: of each body, and one more

size_t turning_tree_room(const stn_model *model, const stn_tree *tree) {
    const size_t n = (size_t)tree->nv, spatials = SPATIALS * ((size_t)model->body_count + 1);
    return 6 * spatials + n * (VECTORS + MAX_ITERATIONS + 1);
}

static void take_room(turning *w, double *room) {
    double **const vectors[VECTORS] = {&w->bias, &w->dv, &w->v_star, &w->m, &w->known, &w->newton.scale};
    w->scratch = (stn_spatial *)(void *)room;
    room = (double *)(w->scratch + SPATIALS * (w->view->model->body_count + 1));
    for (int32_t i = 0; i < VECTORS; i++, room += w->n) {
        *vectors[i] = room;
    }
    w->newton.steps = room;
}

/// Newton's step for the residual m. NULL: A has no inverse.
static const double *take_step(turning *w, int32_t iteration) {
    double *step = w->newton.steps + (size_t)iteration * (size_t)w->n;
    const double *restrict m = w->m;
    double *restrict s = step;
    for (int32_t i = 0; i < w->n; i++) {
        s[i] = -m[i];
    }
    return w->formed->solve(w->formed->core, w->tree, step) ? broyden_update(&w->newton, iteration) : NULL;
}

/// m = A dv - known + dt bias. After the first step A dv is what that step came from: -m as it was.
static void find_residual(turning *w, bool first) {
    const double dt = w->view->dt, *bias = w->bias, *known = w->known;
    double *restrict m = w->m;
    for (int32_t i = 0; i < w->n; i++) {
        m[i] = dt * bias[i] - known[i] - (first ? m[i] : 0.0);
    }
    if (!first) {
        stn_matrix_mul_add(&w->formed->A[w->tree], 1.0, w->dv, w->m);
    }
}

/// The largest of the impulses that must balance: those of the forces, and gravity's on the whole, held or not.
static double find_size(const turning *w) {
    const stn_integrator_view *view = w->view;
    const stn_tree *tree = &view->model->trees[w->tree];
    double mass = 0.0;
    for (int32_t b = tree->body_start; b < tree->body_start + tree->body_count; b++) {
        mass += view->model->bodies[b].mass.mass;
    }
    return fmax(broyden_norm(&w->newton, w->known), view->dt * stn_vec3_norm(view->gravity) * sqrt(mass));
}

/// The size of the momentum; v_star is overwritten.
static double momentum_size(turning *w) {
    memset(w->v_star, 0, (size_t)w->n * sizeof(double));
    stn_matrix_mul_add(&w->formed->A[w->tree], 1.0, w->view->v + w->start, w->v_star);
    return broyden_norm(&w->newton, w->v_star);
}

/// Does the next division leave little of the residual? `share`: of it, as expected.
static bool is_small(double residual, double share, double size) {
    return residual <= TOLERANCE * size || share * residual <= REST * size;
}

/// The bias. STN_NOT_CONVERGED: it does not end, as in turns of radians in a step; `relative` is then what is left.
/// STN_ERR_NUMERIC: A has no inverse.
static stn_status solve(turning *w, double *relative) {
    const stn_integrator_view *view = w->view;
    double size = find_size(w), residual = INFINITY, share = 1.0;
    bool moving = false;                 // the momentum is in `size`: it is looked at only where the rest is too small
    for (int32_t i = 0; i < w->n; i++) { // the residual without a change
        w->dv[i] = 0.0;
        w->m[i] = view->dt * w->bias[i] - w->known[i];
    }
    const double start = broyden_norm(&w->newton, w->m);
    for (int32_t iteration = 0; iteration < MAX_ITERATIONS && !is_small(residual, share, size); iteration++) {
        const double *step = take_step(w, iteration);
        if (step == NULL) {
            return STN_ERR_NUMERIC;
        }
        const double *v0 = view->v + w->start;
        double *restrict dv = w->dv, *restrict v_star = w->v_star;
        for (int32_t i = 0; i < w->n; i++) { // neither overlaps the other vectors
            dv[i] += step[i];
            v_star[i] = v0[i] + dv[i];
        }
        stn_inverse_dynamics_polar(view->kinematics, w->tree, view->gravity, w->v_star, NULL, w->scratch, w->bias);
        find_residual(w, iteration == 0);
        residual = broyden_norm(&w->newton, w->m);
        // The impulse that is returned is that of the bias at v*, divided by A once more, which leaves a share of the
        // residual of v*: about as much as the first step left, and a hundred times that is allowed for.
        share = iteration == 0 && 100.0 * residual < start ? 100.0 * residual / start : share;
        if (!moving && !is_small(residual, share, size)) {
            size = fmax(size, momentum_size(w));
            moving = true;
        }
    }
    *relative = residual / size;
    return is_small(residual, share, size) ? STN_OK : STN_NOT_CONVERGED;
}

static void set_impulse(const turning *w, double *restrict impulse) {
    const double dt = w->view->dt, *bias = w->bias;
    for (int32_t i = 0; i < w->n; i++) {
        impulse[i] = -dt * bias[i];
    }
}

stn_status turning_tree_impulse(const stn_integrator_view *view, int32_t t, const stn_formed *formed, double *room,
                                double *impulse, stn_error *err) {
    const stn_tree *tree = &view->model->trees[t];
    turning w = {.view = view, .tree = t, .start = tree->v_start, .n = tree->nv, .formed = formed};
    w.newton.n = w.n;
    take_room(&w, room);
    stn_inverse_dynamics(view->kinematics, t, view->gravity, NULL, w.scratch, w.bias);
    set_impulse(&w, impulse);
    // dt tau - dt^2 K v0, and the metric
    stn_matrix_diagonal(&view->M[t], w.newton.scale);
    const double dt = view->dt, *restrict tau = view->forces->tau + w.start;
    double *restrict scale = w.newton.scale, *restrict known = w.known;
    for (int32_t i = 0; i < w.n; i++) {
        scale[i] = 1.0 / sqrt(scale[i]);
        known[i] = dt * tau[i];
    }
    stn_matrix_mul_add(&view->forces->K[t], -view->dt * view->dt, view->v + w.start, w.known);
    double residual = 0.0;
    const stn_status status = solve(&w, &residual);
    if (status == STN_ERR_NUMERIC) { // the core will say so
        return STN_OK;
    }
    if (status != STN_OK) {
        const stn_body *body = &view->model->bodies[tree->body_start];
        return stn_fail(err, STN_NOT_CONVERGED,
                        "group %s, tree of link %s turns too far in a step: its Coriolis forces do not converge in %d "
                        "iterations (relative residual %.2g) and are those of the step's start; use a smaller dt",
                        view->model->groups[body->group].name, body->name, MAX_ITERATIONS, residual);
    }
    set_impulse(&w, impulse);
    return STN_OK;
}
