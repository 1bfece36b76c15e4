// SPDX-License-Identifier: Apache-2.0
// Lemke's complementary pivoting on the contact problem with friction on a pyramid (pyramid.h):
//
//     w = q + M z + d z0 >= 0,  z >= 0,  z.w = 0      d > 0, of equations 0; z0 large at first, one pivot after the
//     other until it is 0
//
// Whatever leaves the basis, its partner enters next. M is copositive: where it ends in a ray instead, nothing was
// found [cottle-2009, 4.4; stewart-2000].
#include <math.h>
#include <string.h>

#include "common/proximal_dual.h"
#include "common/symbolic_cache.h"
#include "pyramid.h"

enum { PIVOTS_BETWEEN_CHECKS = 50, PIVOTS_PER_UNKNOWN = 50, PATHS = 4 };
static const double DRIFT = 1e-10;    // of the basic variables from what the basis gives, over the largest
static const double SINGULAR = 1e-13; // pivot of an equation, of a basis; entries of M are of the order of 1

typedef struct lemke_config {
    int32_t directions, friction;
} lemke_config;

enum { FRICTION_COULOMB, FRICTION_ANITESCU };
static const char *const frictions[] = {"coulomb", "anitescu", NULL};

static const stn_param params[] = {
    STN_PARAM_INT(lemke_config, directions, "1", 4.0, 4.0, 256.0, "corners of the friction pyramid, an even number"),
    STN_PARAM_CHOICE(lemke_config, friction, frictions, FRICTION_COULOMB,
                     "coulomb: what slides stays on the ground; anitescu: the convex program of solver qp"),
};

typedef struct lemke {
    pyramid problem;
    tableau t;
    double *d;     // (n) covering vector
    bool *wanted;  // (2 n + 1) variables of the basis that is to be made
    double *z, *w; // (n) of the last look at the basis
    double *x, *g; // padded: impulses, their gradient
    double *best;  // padded
    double least;  // residual of best [m/s]
} lemke;

// ------------------------------------------------------------------------------------------------------------ set-up

/// The tableau at z = 0.
static void begin(lemke *s) {
    tableau *t = &s->t;
    memset(t->T, 0, (size_t)t->n * (size_t)t->stride * sizeof *t->T);
    pyramid_matrix(&s->problem, t, s->g);
    for (int32_t i = 0; i < t->n; i++) {
        t->T[(size_t)i * (size_t)t->stride + (size_t)t->n] = s->d[i];
    }
    tableau_begin(t);
}

// ------------------------------------------------------------------------------------------------------------- basis

/// The tableau of the same basis from the problem's own numbers. False: the basis is singular.
static bool refactorise(lemke *s) {
    tableau *t = &s->t;
    for (int32_t v = 0; v <= 2 * t->n; v++) {
        s->wanted[v] = t->where[v] >= 0;
    }
    begin(s);
    for (int32_t column = 0; column <= t->n; column++) {
        if (!s->wanted[t->n + column]) {
            continue;
        }
        int32_t best = -1;
        double largest = SINGULAR;
        for (int32_t i = 0; i < t->n; i++) {
            double T = fabs(t->T[(size_t)i * (size_t)t->stride + (size_t)column]);
            if (!s->wanted[t->basic[i]] && T > largest) {
                largest = T;
                best = i;
            }
        }
        if (best < 0) {
            return false;
        }
        tableau_pivot(t, best, column);
    }
    return true;
}

static double value_of(const tableau *t, int32_t variable) {
    return t->where[variable] >= 0 ? t->q[t->where[variable]] : 0.0;
}

/// Have pivots left the basic variables where the problem's own numbers have them?
static bool has_drifted(lemke *s) {
    const tableau *t = &s->t;
    double drift = 0.0, size = 0.0, z0 = value_of(t, 2 * t->n);
    for (int32_t i = 0; i < t->n; i++) {
        s->z[i] = value_of(t, t->n + i);
        size = fmax(size, fmax(fabs(s->z[i]), fabs(value_of(t, i))));
    }
    pyramid_impulses(&s->problem, s->z, s->x);
    scaled_dual_gradient(&s->problem.dual, s->x, s->g);
    pyramid_slacks(&s->problem, s->z, s->g, s->w);
    for (int32_t i = 0; i < t->n; i++) {
        drift = fmax(drift, fabs(s->w[i] + s->d[i] * z0 - value_of(t, i)));
    }
    return !(drift <= DRIFT * fmax(size, z0));
}

/// Residual of the basis as a solution; the best one is kept. z0 is left out.
static dual_residual look(lemke *s) {
    for (int32_t i = 0; i < s->t.n; i++) {
        double z = value_of(&s->t, s->t.n + i);
        s->z[i] = s->t.free[i] ? z : fmax(z, 0.0);
    }
    pyramid_impulses(&s->problem, s->z, s->x);
    scaled_dual_gradient(&s->problem.dual, s->x, s->g);
    dual_residual residual = pyramid_residual(&s->problem, s->x, s->g);
    if (residual.speed < s->least) {
        s->least = residual.speed;
        memcpy(s->best, s->x, (size_t)s->problem.dual.H.size * sizeof *s->best);
    }
    return residual;
}

// ---------------------------------------------------------------------------------------------------------- pivoting

typedef enum pivoting { SOLVED, RAY, LIMIT, BROKEN } pivoting;

static pivoting pivot_on(lemke *s, int64_t limit, stn_solve_info *info) {
    tableau *t = &s->t;
    int32_t row = -1, column = t->n;
    double least = 0.0;
    for (int32_t i = 0; i < t->n; i++) { // the first pivot: z0 as large as the most negative q/d asks for
        if (s->d[i] > 0.0 && t->q[i] < 0.0 && t->q[i] / s->d[i] <= least) { // of equal ones the last: lexicographic
            least = t->q[i] / s->d[i];
            row = i;
        }
    }
    if (row < 0) {
        return SOLVED;
    }
    for (;;) {
        int32_t leaving = t->basic[row];
        tableau_pivot(t, row, column);
        info->iterations++;
        if (leaving == 2 * t->n) {
            return SOLVED;
        }
        if (info->iterations >= limit) {
            return LIMIT;
        }
        bool checks = info->iterations % PIVOTS_BETWEEN_CHECKS == 0;
        if (checks && has_drifted(s)) {
            info->factorizations++;
            if (!refactorise(s)) {
                return BROKEN;
            }
        }
        // Column of the partner of `leaving`.
        column = -1 - t->where[leaving < t->n ? leaving + t->n : leaving - t->n];
        row = tableau_ratio_test(t, column);
        if (row < 0) {
            return RAY;
        }
    }
}

static stn_status solve_problem(lemke *s, const stn_solve_control *control, stn_solve_info *info) {
    int64_t limit = (int64_t)PIVOTS_PER_UNKNOWN * s->problem.n + 1;
    limit = limit < control->max_iterations ? limit : control->max_iterations;
    if (limit < 1) {
        info->reason = "iterations";
        return STN_NOT_CONVERGED;
    }
    pivoting end = RAY;
    for (int32_t k = 0; k < PATHS && end != SOLVED && end != LIMIT; k++) {
        // whichever path rounding closed, another covering vector takes another one
        for (int32_t i = 0; i < s->t.n; i++) {
            double spread = 0.6180339887498949 * k * (i + 1); // between 1 and 2, no two alike
            s->d[i] = s->t.free[i] ? 0.0 : 1.0 + spread - floor(spread);
        }
        begin(s);
        // equations are solved for their impulses before anything else, the largest pivot first; what depends on others
        // stays
        for (int32_t best = 0; best >= 0;) {
            const tableau *t = &s->t;
            double largest = SINGULAR;
            best = -1;
            for (int32_t i = 0; i < t->n; i++) {
                double T = t->free[i] && t->where[i] >= 0 ? fabs(t->T[(size_t)i * (size_t)t->stride + (size_t)i]) : 0.0;
                best = T > largest ? i : best;
                largest = T > largest ? T : largest;
            }
            if (best >= 0) {
                tableau_pivot(&s->t, best, best); // w_i stays in row i and z_i in column i until then
            }
        }
        end = pivot_on(s, limit, info);
    }
    dual_residual residual = look(s);
    if (end == SOLVED && !scaled_dual_done(&s->problem.dual, residual, control)) {
        info->factorizations++;
        residual = refactorise(s) ? look(s) : residual;
    }
    if (scaled_dual_done(&s->problem.dual, residual, control)) {
        info->reason = "residual";
        memcpy(s->best, s->x, (size_t)s->problem.dual.H.size * sizeof *s->best);
        return STN_OK;
    }
    static const char *const reasons[] = {
        [SOLVED] = "stagnation", [RAY] = "ray", [LIMIT] = "iterations", [BROKEN] = "singular basis"};
    info->reason = reasons[end];
    return end == SOLVED && residual.speed <= 1e3 * control->tolerance * s->problem.dual.H.speed ? STN_STALLED
                                                                                                 : STN_NOT_CONVERGED;
}

static stn_status solve_regular(void *self, const stn_problem *problem, const stn_solve_control *control,
                                stn_solution *solution, stn_solve_info *info, stn_error *err) {
    (void)problem;
    const lemke_config *config = self;
    stn_arena *arena = control->arena;
    lemke s = {0};
    stn_status status =
        pyramid_build(control->delassus, (pyramid_friction){config->directions, config->friction == FRICTION_ANITESCU},
                      arena, &s.problem, err);
    if (status != STN_OK) {
        return status;
    }
    const int32_t n = s.problem.n, size = n + 1;
    bool *free = STN_ARENA(arena, size, bool);
    s.t = (tableau){.n = n, .stride = (n + 8) / 8 * 8, .free = free};
    s.t.T = STN_ARENA(arena, (size_t)size * (size_t)s.t.stride, double);
    s.t.q = STN_ARENA(arena, size, double);
    s.t.basic = STN_ARENA(arena, size, int32_t);
    s.t.nonbasic = STN_ARENA(arena, size, int32_t);
    s.t.where = STN_ARENA(arena, 2 * size, int32_t);
    s.d = STN_ARENA(arena, size, double);
    s.wanted = STN_ARENA(arena, 2 * size, bool);
    s.z = STN_ARENA(arena, size, double);
    s.w = STN_ARENA(arena, size, double);
    s.x = packed_vector(&s.problem.dual.H, arena);
    s.g = packed_vector(&s.problem.dual.H, arena);
    s.best = packed_vector(&s.problem.dual.H, arena);
    if (free == NULL || s.t.T == NULL || s.t.q == NULL || s.t.basic == NULL || s.t.nonbasic == NULL ||
        s.t.where == NULL || s.d == NULL || s.wanted == NULL || s.z == NULL || s.w == NULL || s.x == NULL ||
        s.g == NULL || s.best == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "a tableau of %d rows: out of memory", n);
    }
    for (int32_t i = 0; i < n; i++) {
        free[i] = s.problem.unknowns[i].kind == UNKNOWN_FREE;
    }
    scaled_dual_enter(&s.problem.dual, solution->gamma, s.x);
    memcpy(s.best, s.x, (size_t)s.problem.dual.H.size * sizeof *s.best);
    scaled_dual_gradient(&s.problem.dual, s.x, s.g);
    dual_residual start = pyramid_residual(&s.problem, s.x, s.g);
    s.least = start.speed;
    info->reason = "residual";
    if (!isfinite(start.speed)) {
        return stn_fail(err, STN_ERR_NUMERIC,
                        "the residual is %g m/s at the start: numbers of the problem are too large", start.speed);
    }
    if (!scaled_dual_done(&s.problem.dual, start, control)) {
        status = solve_problem(&s, control, info);
    }
    scaled_dual_leave(&s.problem.dual, s.best, solution->gamma);
    return status;
}

static stn_status solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    return control->singular != NULL ? proximal_dual_solve(solve_regular, self, problem, control, solution, info, err)
                                     : solve_regular(self, problem, control, solution, info, err);
}

static stn_status create(stn_context *context, const void *config, void **self, stn_error *err) {
    const lemke_config *given = config;
    (void)context;
    if (given->directions % 2 != 0) {
        return stn_fail(err, STN_ERR_PARAMETER, "directions = %d, must be even", given->directions);
    }
    *self = (void *)(uintptr_t)config;
    return STN_OK;
}

static stn_formulation configured(const void *self) {
    const lemke_config *config = self;
    return config->friction == FRICTION_ANITESCU ? STN_QP : STN_LCP;
}

static void destroy(void *self) {
    (void)self; // the configuration, which is the core's
}

static const stn_solver_ops ops = {
    .size = sizeof ops,
    .formulation = STN_LCP,
    .yields = STN_YIELDS_IMPULSE,
    .needs = STN_NEEDS_DELASSUS,
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY,
    .create_workspace = symbolic_cache_create,
    .destroy_workspace = symbolic_cache_destroy,
    .solve = solve,
    .supports = STN_SUPPORTS_SINGULAR_A,
    .max_iterations = 100000,
    .configured = configured,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_SOLVER,
    .id = "lemke",
    .version = "0.1.0",
    .summary = "Lemke's complementary pivoting, friction on a pyramid",
    .reference = "cottle-2009 (algorithm), stewart-2000 (contact problem)",
    .config_size = sizeof(lemke_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .create = create,
    .destroy = destroy,
    .ops.solver = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
