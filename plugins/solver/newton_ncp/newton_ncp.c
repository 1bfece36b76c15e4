// SPDX-License-Identifier: Apache-2.0
// Semi-smooth Newton's method for Coulomb's law itself, inside a proximal-point method [acary-2018], PROX-NSN.
//
//     g = H x + q                       impulses scaled, common/scaled_dual.h: diagonal blocks of H have the mean 1
//     outer: x_k+1 solves the law for g + alpha (x - x_k); alpha falls where that succeeds, rises where it does not
//     inner: F(x) = x - S(x - rho (g + alpha (x - x_k))) = 0, map.h, by Newton's method with a line search on |F|^2
//            (D (H + alpha) + (1 - D)/rho) dx = -F/rho,   D = dS       sparse, unsymmetric: common/block_lu.h
//
// alpha makes systems with redundant contacts regular, and its fixed points are those of the law. Open contacts (D = 0)
// leave the system.
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/block_lu.h"
#include "common/proximal_dual.h"
#include "common/scaled_dual.h"
#include "common/symbolic_cache.h"
#include "common/vectors.h"
#include "map.h"

typedef struct newton {
    const stn_solve_control *control;
    const stn_delassus *delassus;
    stn_solve_info *info;
    scaled_dual dual;
    block_lu lu;
    int32_t *size;  // (n) rows of a constraint
    double *D;      // (n, STN_MAX_ROWS^2)
    bool *open;     // (n)
    double *x, *g;  // iterate, H x + q
    double *center; // x_k
    double *F, *dx, *dg, *trial, *trial_g, *best;
    double *right; // (rows of the problem)
    double alpha, rho;
    double merit;  // |F|^2
    double least;  // largest natural map of `best`, as a speed
    int32_t since; // steps that have not halved it
    double halved; // what was to be halved
} newton;

// ------------------------------------------------------------------------------------------------------------- set-up

static double clock_of(const newton *m) {
    return m->control->phase_us != NULL ? stn_clock_us() : 0.0;
}

static void count_phase(const newton *m, stn_phase phase, double since) {
    if (m->control->phase_us != NULL) {
        m->control->phase_us[phase] += stn_clock_us() - since;
    }
}

static double *slope_of(const newton *m, int32_t i) {
    return m->D + (size_t)i * STN_MAX_ROWS * STN_MAX_ROWS;
}

// ----------------------------------------------------------------------------------------------------------- equation

/// Constraint i at x, with g + alpha (x - x_k).
static map_point point_at(const newton *m, int32_t i, const double *x, const double *g) {
    const packed *H = &m->dual.H;
    const packed_row *row = &H->rows[i];
    map_point at = {row, m->rho, H->lo + row->place, H->hi + row->place, x + row->place, {0.0}};
    for (int32_t r = 0; r < row->rows; r++) {
        int32_t k = row->place + r;
        at.g[r] = g[k] + m->alpha * (x[k] - m->center[k]);
    }
    return at;
}

/// F at x. Returns |F|^2.
static double evaluate(const newton *m, const double *x, const double *g) {
    double sum = 0.0;
    for (int32_t i = 0; i < m->dual.H.n; i++) {
        map_point at = point_at(m, i, x, g);
        sum += map_value(&at, m->F + at.row->place);
    }
    return sum;
}

// ------------------------------------------------------------------------------------------------------- linear system

/// out (rows x columns, row-major) = D W, W by columns. Nearly all blocks are of two contacts.
static void multiply(const packed_row *row, const packed_block *b, const double *D, double *out) {
    if (row->rows == 3 && b->columns == 3) {
        multiply_rows(3, 3, 3, D, b->W, 4, out);
    } else {
        multiply_rows(row->rows, row->rows, b->columns, D, b->W, row->width, out);
    }
}

/// Row i of D (H + alpha) + (1 - D)/rho.
static void fill_row(newton *m, int32_t i) {
    const packed *H = &m->dual.H;
    const packed_row *row = &H->rows[i];
    const double *D = slope_of(m, i);
    int32_t block = row->start, n = row->rows;
    for (int32_t e = m->delassus->row_start[i]; e < m->delassus->row_start[i + 1]; e++) {
        double *to = m->lu.values + m->lu.offset[e];
        if (m->delassus->column[e] != i) {
            const packed_block *b = &H->blocks[block++];
            if (!m->open[m->delassus->column[e]]) {
                multiply(row, b, D, to);
            }
            continue;
        }
        multiply(row, &(packed_block){row->own, row->place, n}, D, to);
        for (int32_t k = 0; k < n * n; k++) {
            to[k] += m->alpha * D[k] + ((k % (n + 1) == 0) - D[k]) / m->rho;
        }
    }
}

/// dx. False: the system is singular.
static bool find_step(newton *m) {
    const packed *H = &m->dual.H;
    double mark = clock_of(m);
    for (int32_t i = 0; i < H->n; i++) {
        map_point at = point_at(m, i, m->x, m->g);
        m->open[i] = !map_slope(&at, slope_of(m, i));
    }
    for (int32_t i = 0; i < H->n; i++) {
        if (!m->open[i]) {
            fill_row(m, i);
        }
    }
    count_phase(m, STN_PHASE_HESSIAN, mark);
    mark = clock_of(m);
    m->info->factorizations++;
    bool regular = block_lu_factor(&m->lu, m->open);
    count_phase(m, STN_PHASE_FACTOR, mark);
    if (!regular) {
        return false;
    }
    bool any = false; // the step of open constraints is known; dg = H dx of it
    for (int32_t i = 0; i < H->n; i++) {
        const packed_row *row = &H->rows[i];
        for (int32_t k = row->place; k < row->place + row->rows; k++) {
            m->dx[k] = m->open[i] ? -m->F[k] : 0.0;
            any = any || m->dx[k] != 0.0;
        }
    }
    memset(m->dg, 0, (size_t)H->size * sizeof *m->dg);
    if (any) {
        scaled_dual_gradient(&m->dual, m->dx, m->dg);
        for (int32_t k = 0; k < H->size; k++) {
            m->dg[k] -= H->q[k];
        }
    }
    for (int32_t i = 0; i < H->n; i++) {
        const packed_row *row = &H->rows[i];
        const double *D = slope_of(m, i);
        for (int32_t r = 0; r < row->rows && !m->open[i]; r++) {
            double sum = -m->F[row->place + r] / m->rho;
            for (int32_t k = 0; k < row->rows; k++) {
                sum -= D[r * row->rows + k] * m->dg[row->place + k];
            }
            m->right[row->row + r] = sum;
        }
    }
    block_lu_solve(&m->lu, m->right);
    for (int32_t i = 0; i < H->n; i++) {
        const packed_row *row = &H->rows[i];
        for (int32_t r = 0; r < row->rows && !m->open[i]; r++) {
            m->dx[row->place + r] = m->right[row->row + r];
        }
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------- iterations

/// Is `x` within the tolerance? Keeps the best.
static bool is_done(newton *m, const double *x, const double *g) {
    dual_residual residual = scaled_dual_residual(&m->dual, false, x, g);
    bool done = scaled_dual_done(&m->dual, residual, m->control);
    if (done || residual.speed < m->least) {
        m->least = residual.speed;
        memcpy(m->best, x, (size_t)m->dual.H.size * sizeof *x);
    }
    if (m->least < 0.5 * m->halved) {
        m->halved = m->least;
        m->since = 0;
    }
    return done;
}

/// x += tau dx with the first tau = 1, 1/2, ... that lowers |F|^2. False: none of them does.
static bool search(newton *m) {
    enum { TRIALS = 5 };
    double tau = 1.0;
    for (int32_t trial = 0; trial < TRIALS; trial++, tau *= 0.5) {
        for (int32_t k = 0; k < m->dual.H.size; k++) {
            m->trial[k] = m->x[k] + tau * m->dx[k];
        }
        scaled_dual_gradient(&m->dual, m->trial, m->trial_g);
        m->info->line_search_evaluations++;
        double merit = evaluate(m, m->trial, m->trial_g);
        if (merit <= (1.0 - 2e-4 * tau) * m->merit) {
            double *x = m->x, *g = m->g;
            m->x = m->trial;
            m->g = m->trial_g;
            m->trial = x;
            m->trial_g = g;
            m->merit = merit;
            return true;
        }
    }
    return false;
}

typedef enum inner_end { INNER_SOLVED, INNER_FAILED, INNER_DONE, INNER_LIMIT } inner_end;

/// Solves the proximal problem about x to a tenth of what F is there.
static inner_end solve_proximal(newton *m) {
    enum { STEPS = 20 };
    memcpy(m->center, m->x, (size_t)m->dual.H.size * sizeof *m->center);
    m->merit = evaluate(m, m->x, m->g);
    double enough = 0.01 * m->merit;
    for (int32_t step = 0; step < STEPS; step++) {
        if (m->info->iterations >= m->control->max_iterations) {
            return INNER_LIMIT;
        }
        m->info->iterations++;
        m->since++;
        if (!find_step(m)) {
            return INNER_FAILED;
        }
        double mark = clock_of(m);
        bool lower = search(m);
        count_phase(m, STN_PHASE_LINE_SEARCH, mark);
        if (!lower) {
            return INNER_FAILED;
        }
        if (is_done(m, m->x, m->g)) { // and as well when put into the cones?
            memcpy(m->trial, m->x, (size_t)m->dual.H.size * sizeof *m->trial);
            scaled_dual_project(&m->dual, m->trial);
            scaled_dual_gradient(&m->dual, m->trial, m->trial_g);
            if (is_done(m, m->trial, m->trial_g)) {
                return INNER_DONE;
            }
        }
        if (m->merit <= enough) {
            return INNER_SOLVED;
        }
        evaluate(m, m->x, m->g);
    }
    return INNER_FAILED;
}

/// Is the best iterate as good as the digits of impulses and velocities allow? Not where impulses grow without end.
static bool is_at_floor(const newton *m) {
    double size = m->dual.H.speed;
    for (int32_t k = 0; k < m->dual.H.size; k++) {
        size = fmax(size, fabs(m->best[k]) / m->dual.s[k]);
    }
    return m->least <= fmin(1e3 * DBL_EPSILON * size, 1e-7 * m->dual.H.speed);
}

/// Ends without having met the tolerance.
static stn_status give_up(newton *m, const char *reason) {
    scaled_dual_project(&m->dual, m->best);
    m->info->reason = is_at_floor(m) ? "round-off" : reason;
    return is_at_floor(m) ? STN_STALLED : STN_NOT_CONVERGED;
}

static stn_status run(newton *m, stn_error *err) {
    enum { FLOOR_PATIENCE = 20 };
    const int32_t patience = m->dual.H.n < 350 ? 150 + m->dual.H.n : 500; // steps that do not halve the residual
    static const double lengths[] = {1.0, 10.0, 0.3};                     // the next one after a failure
    int32_t length = 0;
    scaled_dual_project(&m->dual, m->x);
    scaled_dual_gradient(&m->dual, m->x, m->g);
    if (is_done(m, m->x, m->g)) {
        return STN_OK;
    }
    if (!isfinite(m->least)) {
        return stn_fail(err, STN_ERR_NUMERIC, "a residual is not finite: numbers of the problem are too large");
    }
    m->alpha = fmin(1.0, fmax(1e-6, sqrt(m->least / m->dual.H.speed))); // a start that is nearly right stays near
    m->since = 0;
    while (m->since <= (is_at_floor(m) ? FLOOR_PATIENCE : patience)) {
        m->rho = fmin(1e5, lengths[length] / sqrt(m->alpha)); // between the slopes of the proximal term and of H
        inner_end end = solve_proximal(m);
        if (end == INNER_DONE) {
            return STN_OK;
        }
        if (end == INNER_LIMIT) {
            return give_up(m, "iterations");
        }
        m->alpha = end == INNER_SOLVED ? fmax(1e-13, 0.3 * m->alpha) : fmin(1e3, 4.0 * m->alpha);
        if (end == INNER_FAILED) {
            length = (length + 1) % STN_COUNT(lengths);
        }
    }
    return give_up(m, "no progress");
}

static stn_status solve_regular(void *self, const stn_problem *problem, const stn_solve_control *control,
                                stn_solution *solution, stn_solve_info *info, stn_error *err) {
    (void)self;
    newton m = {.control = control, .delassus = control->delassus, .info = info, .least = INFINITY, .halved = INFINITY};
    *info = (stn_solve_info){.cost = NAN, .reason = "residual"};
    double mark = clock_of(&m);
    stn_status status = scaled_dual_build(control->delassus, control->arena, &m.dual, err);
    if (status != STN_OK) {
        return status;
    }
    stn_arena *arena = control->arena;
    const packed *H = &m.dual.H;
    double **const vectors[] = {&m.x, &m.g, &m.center, &m.F, &m.dx, &m.dg, &m.trial, &m.trial_g, &m.best};
    m.size = STN_ARENA(arena, H->n + 1, int32_t);
    m.D = STN_ARENA(arena, (size_t)(H->n + 1) * STN_MAX_ROWS * STN_MAX_ROWS, double);
    m.open = STN_ARENA(arena, H->n + 1, bool);
    m.right = STN_ARENA(arena, m.delassus->rows + 1, double);
    bool good = m.size != NULL && m.D != NULL && m.open != NULL && m.right != NULL;
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        *vectors[i] = packed_vector(H, arena);
        good = good && *vectors[i] != NULL;
    }
    for (int32_t i = 0; i < H->n && good; i++) {
        m.size[i] = H->rows[i].rows;
    }
    if (!good || !block_lu_build(H->n, m.size, m.delassus->row_start, m.delassus->column, arena, &m.lu)) {
        return stn_fail(err, STN_ERR_MEMORY, "%d rows: out of memory", problem->row_count);
    }
    count_phase(&m, STN_PHASE_SET_UP, mark);
    scaled_dual_enter(&m.dual, solution->gamma, m.x);
    status = run(&m, err);
    if (status >= STN_OK) {
        scaled_dual_leave(&m.dual, m.best, solution->gamma);
    }
    return status;
}

static stn_status solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    return control->singular != NULL ? proximal_dual_solve(solve_regular, self, problem, control, solution, info, err)
                                     : solve_regular(self, problem, control, solution, info, err);
}

static const stn_solver_ops ops = {
    .size = sizeof ops,
    .formulation = STN_NCP,
    .yields = STN_YIELDS_IMPULSE,
    .needs = STN_NEEDS_DELASSUS,
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY,
    .create_workspace = symbolic_cache_create,
    .destroy_workspace = symbolic_cache_destroy,
    .solve = solve,
    .supports = STN_SUPPORTS_SINGULAR_A,
    .max_iterations = 1500,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_SOLVER,
    .id = "newton_ncp",
    .version = "0.1.0",
    .summary = "Semi-smooth Newton's method within a proximal-point method, exact Coulomb friction",
    .reference = "alart-curnier-1991, acary-2018",
    .ops.solver = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
