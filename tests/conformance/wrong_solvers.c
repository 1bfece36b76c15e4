// SPDX-License-Identifier: Apache-2.0
// One right solver, and one for each thing that a solver can do wrong: the right one with one fault.
//   gamma_i <- P(gamma_i - rho (v_i + mu |v_t| e_n)),   v = W gamma + b - v_hat + R gamma,   rho = 1/trace(W_ii + R_i);
//   row by row with rho = 1.7/(W_rr + R_r) where there is no cone
#include "misconduct.h" // first: it asks for more of the system's headers

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/plugin.h>

typedef enum fault {
    NONE,
    FRICTION_THE_WRONG_WAY,
    IGNORES_MU,
    GIVES_NAN,
    WRITES_INPUT,
    DRIFTS_FROM_CALL_TO_CALL,
    CLAIMS_CONVERGENCE,
    CRASHES,
    HANGS,
    EXITS,
    IGNORES_THE_LIMIT,
    WRITES_WHEN_IT_FAILS,
    GIVES_NO_REASON,
    FIXED_TOLERANCE,
    CALLS_ELLIPSES_CONES,
    ALLOCATES,
    REMEMBERS,
    SQUARE_CONE,
    SWEEPS_BEFORE_IT_LOOKS,
    FORGETS_TARGET_VELOCITIES,
    PRINTS,
    SHARES_ITS_SCRATCH,
    FEW_SWEEPS, // ten sweeps, never "converged": what the word approximate is for
} fault;

/// Of each descriptor's own table; `self` is its configuration.
typedef struct config {
    int32_t fault;
} config;

static void project(fault f, const stn_constraint *c, double *g) {
    double mu = f == IGNORES_MU ? 0.5 : c->mu1;
    if (f == SQUARE_CONE) {
        g[2] = fmax(g[2], 0.0);
        for (int32_t a = 0; a < 2; a++) {
            g[a] = fmin(fmax(g[a], -mu * g[2]), mu * g[2]);
        }
        return;
    }
    stn_cone_project(mu, g);
}

/// Box and equality rows one after the other, each step 1.7 times as long: random equalities that nearly say the same
/// need more than 100,000 sweeps without.
static void update_rows(const stn_constraint *c, const double *W, const double *R, const double *lo, const double *hi,
                        double *v, double *g) {
    for (int32_t r = 0; r < c->rows; r++) {
        double before = g[r];
        g[r] = fmin(fmax(g[r] - 1.7 * v[r] / (W[r * c->rows + r] + R[r]), lo[r]), hi[r]);
        for (int32_t k = 0; k < c->rows; k++) {
            v[k] += W[k * c->rows + r] * (g[r] - before);
        }
    }
}

static void update(fault f, const stn_delassus *d, int32_t i, double *gamma) {
    const stn_problem *p = d->problem;
    const stn_constraint *c = &p->constraints[i];
    const double *R = p->R + c->row, *v_hat = p->v_hat + c->row;
    double v[STN_MAX_ROWS], trace = c->w_trace, *g = gamma + c->row;
    for (int32_t r = 0; r < c->rows; r++) {
        v[r] = d->b[c->row + r] - v_hat[r] + R[r] * g[r];
        trace += R[r];
    }
    stn_delassus_row_mul_add(d, i, gamma, v);
    if (c->set != STN_SET_CONE && c->set != STN_SET_ELLIPSE) {
        update_rows(c, stn_delassus_diagonal(d, i), R, p->lo + c->row, p->hi + c->row, v, g);
        return;
    }
    v[2] += c->mu1 * hypot(v[0], v[1]);
    for (int32_t r = 0; r < c->rows; r++) {
        g[r] -= v[r] / trace;
    }
    project(f, c, g);
}

/// What goes wrong before anything is computed.
static void begin_badly(fault f, const stn_problem *p, const stn_solve_control *control) {
    if (f == WRITES_INPUT && p->row_count > 0) {
        p->R[p->row_count - 1] *= 1.0 + 1e-15;
    }
    for (int32_t i = 0; i < p->constraint_count && f == CRASHES; i++) {
        if (p->constraints[i].set == STN_SET_BOX) {
            abort();
        }
    }
    while (f == HANGS && control->max_iterations == 3) {
        __asm__ volatile("");
    }
    if (f == EXITS && control->max_iterations == 3) {
        _Exit(0);
    }
    if (f == EXITS && control->max_iterations == 4) {
        exit(0);
    }
    if (f == SHARES_ITS_SCRATCH) {
        static volatile int32_t scratch; // harmless as long as one worker has it
        scratch = p->row_count;
        (void)scratch;
    }
    if (f == PRINTS) {
        printf("%d rows\n", (int)p->row_count);
    }
    if (f == ALLOCATES) {
        stn_release(control->context, stn_allocate(control->context, 1, 64));
    }
}

/// What goes wrong after it.
static void end_badly(fault f, const stn_problem *p, const stn_solve_control *control, double *gamma) {
    static double calls;
    for (int32_t i = 0; i < p->constraint_count && f == FRICTION_THE_WRONG_WAY; i++) {
        double *g = gamma + p->constraints[i].row;
        bool cone = p->constraints[i].set == STN_SET_CONE;
        g[0] *= cone ? -1.0 : 1.0;
        g[1] *= cone ? -1.0 : 1.0;
    }
    if (f == GIVES_NAN && p->constraint_count > 5) {
        gamma[0] = NAN;
    }
    if (f == DRIFTS_FROM_CALL_TO_CALL) {
        gamma[p->row_count - 1] *= 1.0 + 1e-13 * ++calls;
    }
    if (f == REMEMBERS && control->workspace != NULL) { // of the problem before
        double *before = control->workspace;
        gamma[p->row_count - 1] *= 1.0 + 1e-13 * *before;
        *before += p->nv;
    }
}

static double speed_of(fault f, const stn_problem *p, const stn_delassus *d) {
    double speed = 0.0;
    for (int32_t r = 0; r < p->row_count; r++) {
        speed = fmax(speed, fmax(fabs(d->b[r]), f == FORGETS_TARGET_VELOCITIES ? 0.0 : fabs(p->v_hat[r])));
    }
    return speed;
}

static stn_status solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    fault f = (fault)((const config *)self)->fault;
    const stn_delassus *d = control->delassus;
    double bound = f == FIXED_TOLERANCE ? 1e-8 : control->tolerance * speed_of(f, problem, d);
    int32_t most = f == IGNORES_THE_LIMIT && control->max_iterations < 5 ? 5 : control->max_iterations;
    most = f == FEW_SWEEPS && most > 10 ? 10 : most;
    bool looked = f != SWEEPS_BEFORE_IT_LOOKS && f != FEW_SWEEPS &&
                  stn_delassus_residual(d, false, solution->gamma) <= bound,
         done = looked;
    begin_badly(f, problem, control);
    misbehave((int32_t)f, solution->gamma, problem->row_count, control->arena);
    if (f == WRITES_WHEN_IT_FAILS && problem->constraint_count > 5) {
        solution->gamma[0] = 1.0;
        return stn_fail(err, STN_ERR_NUMERIC, "too many constraints");
    }
    while (!done && info->iterations < most) {
        for (int32_t i = 0; i < problem->constraint_count; i++) {
            update(f, d, i, solution->gamma);
        }
        info->iterations++;
        done = stn_delassus_residual(d, false, solution->gamma) <= bound && f != FEW_SWEEPS &&
               (f != SWEEPS_BEFORE_IT_LOOKS || info->iterations > 2);
        done = done || (f == CLAIMS_CONVERGENCE && info->iterations == 3);
    }
    end_badly(f, problem, control, solution->gamma);
    info->reason = f == GIVES_NO_REASON ? "" : done ? "residual" : "iterations";
    return done ? STN_OK : STN_NOT_CONVERGED;
}

static stn_status workspace_create(void *self, stn_context *context, void **workspace, stn_error *err) {
    (void)self;
    double *number = stn_allocate(context, 2, sizeof *number);
    if (number == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "workspace: out of memory");
    }
    *workspace = number;
    return STN_OK;
}

static void workspace_destroy(void *workspace) {
    (void)workspace; // the context's, and gone with it
}

enum { ROUND = 1u << STN_SET_CONE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY };

static const stn_solver_ops ops = {.size = sizeof ops,
                                   .formulation = STN_NCP,
                                   .yields = STN_YIELDS_IMPULSE,
                                   .needs = STN_NEEDS_DELASSUS,
                                   .sets = ROUND,
                                   .solve = solve};
static const stn_solver_ops ellipse_ops = {.size = sizeof ellipse_ops,
                                           .formulation = STN_NCP,
                                           .yields = STN_YIELDS_IMPULSE,
                                           .needs = STN_NEEDS_DELASSUS,
                                           .sets = ROUND | 1u << STN_SET_ELLIPSE,
                                           .solve = solve};
static const stn_solver_ops dissipation_ops = {.size = sizeof dissipation_ops, // solves Coulomb's law
                                               .formulation = STN_MDP,
                                               .yields = STN_YIELDS_IMPULSE,
                                               .needs = STN_NEEDS_DELASSUS,
                                               .sets = ROUND,
                                               .solve = solve};
static const stn_solver_ops polyhedron_ops = {.size = sizeof polyhedron_ops,
                                              .formulation = STN_LCP,
                                              .yields = STN_YIELDS_IMPULSE,
                                              .needs = STN_NEEDS_DELASSUS,
                                              .sets = ROUND,
                                              .solve = solve};
static const stn_solver_ops remembering_ops = {.size = sizeof remembering_ops,
                                               .formulation = STN_NCP,
                                               .yields = STN_YIELDS_IMPULSE,
                                               .needs = STN_NEEDS_DELASSUS,
                                               .sets = ROUND,
                                               .create_workspace = workspace_create,
                                               .destroy_workspace = workspace_destroy,
                                               .solve = solve};

#define SOLVER_THAT_SAYS(word, number, table, words)                                 \
    static const stn_param word##_params[] = {                                       \
        STN_PARAM_INT(config, fault, "1", number, number, number, "what is wrong")}; \
    static const stn_plugin_desc word = {.size = sizeof word,                        \
                                         .kind = STN_KIND_SOLVER,                    \
                                         .id = "wrong_" #word,                       \
                                         .version = "1",                             \
                                         .summary = "Gauss-Seidel with a fault",     \
                                         .capabilities = words,                      \
                                         .config_size = sizeof(config),              \
                                         .params = word##_params,                    \
                                         .param_count = 1,                           \
                                         .ops.solver = &(table)};
#define SOLVER(word, number, table) SOLVER_THAT_SAYS(word, number, table, NULL)

static const char *const approximate[] = {"approximate", NULL};

SOLVER(none, NONE, ops)
SOLVER(dissipation, NONE, dissipation_ops)
SOLVER(polyhedron, FRICTION_THE_WRONG_WAY, polyhedron_ops)
SOLVER(friction, FRICTION_THE_WRONG_WAY, ops)
SOLVER(mu, IGNORES_MU, ops)
SOLVER(not_finite, GIVES_NAN, ops)
SOLVER(input, WRITES_INPUT, ops)
SOLVER(drift, DRIFTS_FROM_CALL_TO_CALL, ops)
SOLVER(claim, CLAIMS_CONVERGENCE, ops)
SOLVER(crash, CRASHES, ops)
SOLVER(hang, HANGS, ops)
SOLVER(leave, EXITS, ops)
SOLVER(limit, IGNORES_THE_LIMIT, ops)
SOLVER(failure, WRITES_WHEN_IT_FAILS, ops)
SOLVER(reason, GIVES_NO_REASON, ops)
SOLVER(tolerance, FIXED_TOLERANCE, ops)
SOLVER(ellipse, CALLS_ELLIPSES_CONES, ellipse_ops)
SOLVER(allocation, ALLOCATES, ops)
SOLVER(memory, REMEMBERS, remembering_ops)
SOLVER(square, SQUARE_CONE, ops)
SOLVER(start, SWEEPS_BEFORE_IT_LOOKS, ops)
SOLVER(scale, FORGETS_TARGET_VELOCITIES, ops)
SOLVER(print, PRINTS, ops)
SOLVER(scratch, SHARES_ITS_SCRATCH, ops)
SOLVER(few, FEW_SWEEPS, ops)
SOLVER_THAT_SAYS(approximate_few, FEW_SWEEPS, ops, approximate)
SOLVER_THAT_SAYS(approximate_none, NONE, ops, approximate)
SOLVER_THAT_SAYS(approximate_square, SQUARE_CONE, ops, approximate)
SOLVER_THAT_SAYS(approximate_friction, FRICTION_THE_WRONG_WAY, ops, approximate)

#define WITH_MISCONDUCT(word) SOLVER(word, MISCONDUCT_##word, ops)
#define ITS_DESCRIPTOR(word)  , &(word)
STN_MISCONDUCTS(WITH_MISCONDUCT)

STN_PLUGIN_LIBRARY(&none, &dissipation, &polyhedron, &friction, &mu, &not_finite, &input, &drift, &claim, &crash, &hang,
                   &leave, &limit, &failure, &reason, &tolerance, &ellipse, &allocation, &memory, &square, &start,
                   &scale, &print, &scratch, &few, &approximate_few, &approximate_none, &approximate_square,
                   &approximate_friction STN_MISCONDUCTS(ITS_DESCRIPTOR));
