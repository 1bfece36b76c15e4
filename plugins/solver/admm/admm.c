// SPDX-License-Identifier: Apache-2.0
// ADMM: a linear solve and a projection in turn, on the impulses of a contact problem [boyd-2011].
//
//     x = (H + sigma)^-1 (sigma (z - u) - q)           (scaled_dual.h)
//     z = P(x + u),  u += x - z
//     sigma by balance of |x - z| and sigma |z - z before|
//
//     admm        P projects on the cone: the convex relaxation
//     admm_ncp    P cuts the normal part first, then the tangents: its fixed points obey Coulomb's law itself
//     admm_split, admm_split_ncp  as these two, the linear solve over velocities: contact constraint splitting, no
//                 Delassus operator
#include <math.h>
#include <string.h>

#include "admm.h"
#include "common/anderson.h"
#include "common/cone.h"
#include "common/proximal_dual.h"

/// What tells the four solvers apart.
typedef struct admm_kind {
    bool convex, split;
} admm_kind;

typedef struct admm {
    admm_kind kind;
    const stn_solve_control *control;
    scaled_dual dual;
    dense_dual impulses;
    velocity_form velocities;
    double sigma;
    double *x, *z, *u, *w; // linear solve, impulses in their sets, scaled multipliers, what is projected or solved for
    double *before;        // z of the iteration before
    double *g;             // gradient at z
    double *best, *best_v; // z and velocity of the least error so far
    double least;
    double speed;      // dual.H.speed as it was built
    anderson anderson; // of the map from z + u to x + u
    double *from;      // z + u at the begin of an iteration
    double *plain;     // x + u before it was extrapolated
    double step;       // square of its distance from `from`
    bool extrapolated;
} admm;

// --------------------------------------------------------------------------------------------------------- iteration

static void project(const admm *s, double *z) {
    if (s->kind.convex) {
        scaled_dual_project(&s->dual, z);
        return;
    }
    for (int32_t i = 0; i < s->dual.H.n; i++) {
        const packed_row *row = &s->dual.H.rows[i];
        if (row->cone) {
            cone_project_strict(row->mu, z + row->place);
        }
    }
    scaled_dual_project(&s->dual, z); // rows with bounds; cones hold already what the strict operator gave
}

static stn_status factor(admm *s, stn_solve_info *info, stn_error *err) {
    info->factorizations++;
    if (s->kind.split) {
        return velocity_form_factor(&s->velocities, s->sigma, err);
    }
    dense_dual_reset(&s->impulses);
    for (int32_t i = 0; i < s->dual.H.n; i++) {
        const packed_row *row = &s->dual.H.rows[i];
        for (int32_t r = 0; r < row->rows; r++) {
            dense_dual_add(&s->impulses, row, r, r, s->sigma);
        }
    }
    int32_t pivot = dense_dual_factor(&s->impulses);
    return pivot < 0
               ? STN_OK
               : stn_fail(err, STN_ERR_NUMERIC, "W + R + %g: pivot of row %d is not > 0 and finite", s->sigma, pivot);
}

/// Is z (with the velocity, where that is ours) within the tolerances? Keeps the best; `error` is relative, NaN for
/// NaN.
static bool is_done(admm *s, double *error) {
    if (s->kind.split) {
        velocity_form_gradient(&s->velocities, s->z, s->g);
        // v_star is zero in quasistatic steps, and A^-1 of the free impulse is not there: speeds are those at hand
        double speed = s->speed;
        for (int32_t r = 0; r < s->velocities.problem->row_count && s->velocities.H.proximal != NULL; r++) {
            speed = fmax(speed, fabs(s->velocities.v_c[r]));
        }
        s->dual.H.speed = speed;
    } else {
        scaled_dual_gradient(&s->dual, s->z, s->g);
    }
    dual_residual natural = scaled_dual_residual(&s->dual, s->kind.convex, s->z, s->g);
    bool rounded = s->kind.split && natural.speed <= s->dual.H.rounding; // as J v is, which g is made of
    bool done = rounded || scaled_dual_done(&s->dual, natural, s->control);
    *error = natural.speed / fmax(s->dual.H.speed, 1e-300);
    if (s->kind.split) {
        momentum_residual momentum = velocity_form_momentum(&s->velocities, s->z);
        done = done && momentum.value <= s->control->tolerance * momentum.size + s->control->absolute_tolerance;
        if (done && s->velocities.H.proximal != NULL) { // every tree is in balance by itself, too
            const velocity_form *form = &s->velocities;
            done = momentum.value <= s->control->absolute_tolerance ||
                   stn_problem_imbalance(form->problem, s->control->singular, form->v, form->gamma, form->balance) <=
                       s->control->tolerance;
        }
        *error += momentum.value / fmax(momentum.size, 1e-300);
    }
    if (done || *error <= s->least) {
        s->least = *error;
        memcpy(s->best, s->z, (size_t)s->dual.H.size * sizeof *s->best);
        if (s->kind.split) {
            memcpy(s->best_v, s->velocities.v, (size_t)s->velocities.problem->nv * sizeof *s->best_v);
        }
    }
    return done;
}

/// z and u of their sum w.
static void split_sum(admm *s) {
    memcpy(s->z, s->w, (size_t)s->dual.H.size * sizeof *s->z);
    project(s, s->z);
    for (int32_t r = 0; r < s->dual.H.size; r++) {
        s->u[r] = s->w[r] - s->z[r];
    }
}

/// Follows the balance after 5, 10, 20, ... iterations: seldom enough in the end for convergence, and for factors to
/// pay. sigma grows by the root of the primal over the dual residual, both relative.
static stn_status balance(admm *s, int32_t *next, stn_solve_info *info, stn_error *err) {
    if (info->iterations < *next) {
        return STN_OK;
    }
    *next *= 2;
    double primal = 0.0, dual = 0.0, impulse = 0.0, speed = 0.0;
    for (int32_t r = 0; r < s->dual.H.size; r++) {
        double p = s->x[r] - s->z[r], d = s->sigma * (s->z[r] - s->before[r]), q = s->dual.H.q[r], Hz = s->g[r] - q;
        primal += p * p;
        dual += d * d;
        impulse += s->x[r] * s->x[r];
        speed += fmax(q * q, Hz * Hz);
    }
    double ratio = sqrt(sqrt((primal * speed) / fmax(dual * impulse, 1e-300)));
    ratio = fmin(fmax(ratio, 0.1), 10.0);
    ratio = fmin(fmax(ratio, 1e-4 / s->sigma), 1e2 / s->sigma); // the diagonal of H is 1
    if (!(ratio > 1.5 || ratio < 1.0 / 1.5)) {
        return STN_OK;
    }
    s->sigma *= ratio;
    for (int32_t r = 0; r < s->dual.H.size; r++) {
        s->u[r] /= ratio;
    }
    anderson_forget(&s->anderson);
    s->extrapolated = false;
    return factor(s, info, err);
}

/// Every tenth iteration the next iterate combines those of the last tenths; where its own step turns out longer than
/// the one before, the plain iterate is taken up again [odonoghue-2021].
static void accelerate(admm *s, int32_t iterations) {
    enum { INTERVAL = 10 };
    size_t bytes = (size_t)s->dual.H.size * sizeof *s->w;
    double step = 0.0;
    for (int32_t r = 0; r < s->dual.H.size; r++) {
        step += (s->w[r] - s->from[r]) * (s->w[r] - s->from[r]);
    }
    if (s->extrapolated && !(step <= s->step)) {
        s->extrapolated = false;
        anderson_retreat(&s->anderson);
        memcpy(s->w, s->plain, bytes);
    } else if (iterations % INTERVAL == 0) {
        s->extrapolated = true;
        s->step = step;
        memcpy(s->plain, s->w, bytes);
        anderson_next(&s->anderson, s->from, s->w);
    } else {
        s->extrapolated = false;
        return;
    }
    split_sum(s);
}

static stn_status run(admm *s, stn_solve_info *info, stn_error *err) {
    double error;
    int32_t next = 5;
    bool done = is_done(s, &error);
    for (int32_t r = 0; r < s->dual.H.size; r++) {
        s->u[r] = -s->g[r] / s->sigma;
    }
    stn_status status = STN_OK;
    if (!done) {
        status = factor(s, info, err);
    }
    while (status == STN_OK && !done) {
        if (!isfinite(error)) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "iteration %d: the residual is %g: numbers of the problem are too large", info->iterations,
                            error);
        }
        if (info->iterations >= s->control->max_iterations) {
            info->reason = "iterations";
            return STN_NOT_CONVERGED;
        }
        int32_t size = s->dual.H.size;
        double *before = s->before;
        s->before = s->z;
        s->z = before;
        for (int32_t r = 0; r < size; r++) {
            s->from[r] = s->before[r] + s->u[r];
            s->w[r] = s->before[r] - s->u[r];
        }
        if (s->kind.split) {
            velocity_form_solve(&s->velocities, s->sigma, s->w, s->x);
        } else {
            // x = (H + sigma)^-1 (sigma w - q). Operators of the literature may be symmetric to some digits only, of
            // which the factor takes one half: there as a correction of the x before, which ends at H itself.
            if (s->impulses.symmetric) {
                memset(s->x, 0, (size_t)s->dual.H.size * sizeof *s->x);
            }
            scaled_dual_gradient(&s->dual, s->x, s->g);
            for (int32_t r = 0; r < s->dual.H.size; r++) {
                s->w[r] = s->sigma * (s->w[r] - s->x[r]) - s->g[r];
            }
            dense_dual_solve(&s->impulses, s->w, s->w);
            for (int32_t r = 0; r < s->dual.H.size; r++) {
                s->x[r] += s->w[r];
            }
        }
        for (int32_t r = 0; r < size; r++) {
            s->w[r] = s->x[r] + s->u[r];
        }
        split_sum(s);
        info->iterations++;
        done = is_done(s, &error);
        if (!done) {
            accelerate(s, info->iterations);
            status = balance(s, &next, info, err);
        }
    }
    info->reason = "residual";
    return status;
}

static stn_status solve(admm_kind kind, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    admm s = {.kind = kind, .control = control, .sigma = 0.1, .least = INFINITY};
    stn_status status;
    if (s.kind.split) {
        status = velocity_form_build(problem, s.control, solution->v, &s.dual, &s.velocities, err);
    } else {
        status = scaled_dual_build(s.control->delassus, s.control->arena, &s.dual, err);
        if (status == STN_OK) {
            status = dense_dual_build(&s.dual.H, NULL, s.control->arena, &s.impulses, err);
        }
    }
    double *weight = NULL,
           **const vectors[] = {&s.x, &s.z, &s.u, &s.w, &s.before, &s.g, &s.best, &s.from, &s.plain, &weight};
    for (int32_t i = 0; i < STN_COUNT(vectors) && status == STN_OK; i++) {
        *vectors[i] = packed_vector(&s.dual.H, s.control->arena);
        status = *vectors[i] != NULL ? STN_OK : STN_ERR_MEMORY;
    }
    if (status == STN_OK) {
        for (int32_t r = 0; r < s.dual.H.size; r++) {
            weight[r] = 1.0;
        }
        status = anderson_create(&s.anderson, s.dual.H.size, ANDERSON_DEPTH, weight, s.control->arena) ? STN_OK
                                                                                                       : STN_ERR_MEMORY;
    }
    s.best_v = STN_ARENA(s.control->arena, problem->nv + 1, double);
    if (status == STN_ERR_MEMORY || s.best_v == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d rows: out of memory", problem->row_count);
    }
    if (status != STN_OK) {
        return status;
    }
    s.speed = s.dual.H.speed;
    scaled_dual_enter(&s.dual, solution->gamma, s.z);
    project(&s, s.z);
    memcpy(s.x, s.z, (size_t)s.dual.H.size * sizeof *s.x);
    status = run(&s, info, err);
    if (status < STN_OK) {
        return status;
    }
    scaled_dual_leave(&s.dual, s.best, solution->gamma);
    if (kind.split) {
        memcpy(solution->v, s.best_v, (size_t)problem->nv * sizeof *solution->v);
    } else if (kind.convex) {
        scaled_dual_gradient(&s.dual, s.best, s.g);
        info->cost = scaled_dual_cost(&s.dual, s.best, s.g);
    }
    return status;
}

// ------------------------------------------------------------------------------------------------------- descriptors

#define SOLVE(name, is_convex, is_split)                                                             \
    static stn_status name(void *self, const stn_problem *problem, const stn_solve_control *control, \
                           stn_solution *solution, stn_solve_info *info, stn_error *err) {           \
        (void)self;                                                                                  \
        return solve((admm_kind){is_convex, is_split}, problem, control, solution, info, err);       \
    }
SOLVE(solve_convex_regular, true, false)
SOLVE(solve_coulomb_regular, false, false)
SOLVE(solve_split, true, true)
SOLVE(solve_split_coulomb, false, true)

#define SOLVE_DUAL(name, regular)                                                                                    \
    static stn_status name(void *self, const stn_problem *problem, const stn_solve_control *control,                 \
                           stn_solution *solution, stn_solve_info *info, stn_error *err) {                           \
        return control->singular != NULL ? proximal_dual_solve(regular, self, problem, control, solution, info, err) \
                                         : regular(self, problem, control, solution, info, err);                     \
    }
SOLVE_DUAL(solve_convex, solve_convex_regular)
SOLVE_DUAL(solve_coulomb, solve_coulomb_regular)

#define COMMON                                                                                       \
    .size = sizeof(stn_solver_ops), .max_iterations = 5000,                                          \
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY, \
    .create_workspace = symbolic_cache_create, .destroy_workspace = symbolic_cache_destroy,          \
    .supports = STN_SUPPORTS_SINGULAR_A
#define SPLIT COMMON, .yields = STN_YIELDS_BOTH

static const stn_solver_ops convex_ops = {COMMON, .yields = STN_YIELDS_IMPULSE, .formulation = STN_CCP,
                                          .needs = STN_NEEDS_DELASSUS | STN_REGULARIZED_BY_LAW, .solve = solve_convex};
static const stn_solver_ops coulomb_ops = {COMMON, .yields = STN_YIELDS_IMPULSE, .formulation = STN_NCP,
                                           .needs = STN_NEEDS_DELASSUS, .solve = solve_coulomb};
static const stn_solver_ops split_ops = {SPLIT, .formulation = STN_CCP, .needs = STN_REGULARIZED_BY_LAW,
                                         .solve = solve_split};
static const stn_solver_ops split_coulomb_ops = {SPLIT, .formulation = STN_NCP, .solve = solve_split_coulomb};

static const char *const dense[] = {"dense", NULL}; // a full matrix over all rows

static const stn_plugin_desc admm_plugin = {
    .size = sizeof admm_plugin,
    .kind = STN_KIND_SOLVER,
    .id = "admm",
    .version = "0.1.0",
    .capabilities = dense,
    .summary = "ADMM over impulses with an adaptive penalty, convex relaxation",
    .reference = "boyd-2011, section 3",
    .ops.solver = &convex_ops,
};
static const stn_plugin_desc coulomb_plugin = {
    .size = sizeof coulomb_plugin,
    .kind = STN_KIND_SOLVER,
    .id = "admm_ncp",
    .version = "0.1.0",
    .capabilities = dense,
    .summary = "ADMM over impulses with an adaptive penalty, Coulomb friction",
    .reference = "boyd-2011, section 3",
    .ops.solver = &coulomb_ops,
};
static const stn_plugin_desc split_plugin = {
    .size = sizeof split_plugin,
    .kind = STN_KIND_SOLVER,
    .id = "admm_split",
    .version = "0.1.0",
    .summary = "ADMM by contact constraint splitting: no Delassus operator, convex relaxation",
    .reference = "boyd-2011, section 3",
    .ops.solver = &split_ops,
};
static const stn_plugin_desc split_coulomb_plugin = {
    .size = sizeof split_coulomb_plugin,
    .kind = STN_KIND_SOLVER,
    .id = "admm_split_ncp",
    .version = "0.1.0",
    .summary = "ADMM by contact constraint splitting: no Delassus operator, Coulomb friction",
    .reference = "boyd-2011, section 3",
    .ops.solver = &split_coulomb_ops,
};
STN_PLUGIN_LIBRARY(&admm_plugin, &coulomb_plugin, &split_plugin, &split_coulomb_plugin);
