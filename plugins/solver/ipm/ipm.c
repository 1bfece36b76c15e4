// SPDX-License-Identifier: Apache-2.0
// IPM: a primal-dual interior-point method over impulses and slacks of the convex relaxation, a second-order-cone
// problem [mehrotra-1992], [nesterov-todd-1997].
//
//     z >= 0, s = M z + q >= 0, s o z = 0,    M = T H T, q = T q    (scaled_dual.h, jordan.h)    impulses T z
//     T = diag(mu, mu, 1) makes every friction cone the self-dual one; boxes keep x itself, with a slack for each bound
//
//     (M + Q(w)^-1) dz = Q(w^-1/2) (l \ r) - (M z + q - s),    l = Q(w^1/2) s = Q(w^-1/2) z    w of Nesterov and Todd
//     solved over impulses or velocities: newton_system.h
//     first with r = -l o l, then with r = -l o l - (..ds) o (..dz) + sigma (s.z/degree) e, sigma = (1 - a)^3
//
// s and z follow the same step a. A slack of a box is s_lo (x - lo) = s_hi (hi - x) = 0, M x + q = s_lo - s_hi.
#include <math.h>
#include <string.h>

#include "common/proximal_dual.h"
#include "newton_system.h"

typedef struct ipm {
    const stn_solve_control *control;
    scaled_dual dual;
    newton_system newton;
    int32_t size, degree;    // of vectors; of the barrier
    double *T;               // scale of z, x = T z
    double *z, *s, *dz, *ds; // of cones; of boxes x, the slack of the lower bound, and their steps
    double *high, *dhigh;    // slack of the upper bound
    double *c, *chigh;       // what complementarity is to gain, (l \ r) of cones
    double *residual;        // M z + q - s
    double *right, *x, *g, *best;
    jordan_scaling *scaling; // (n)
    double least;            // error of `best`
    int32_t since;           // iterations that have not lowered it
} ipm;

static bool bounded(double bound) {
    return fabs(bound) < (double)INFINITY;
}

/// A row whose bounds leave nothing between them: x stays there.
static bool is_fixed(double lo, double hi) {
    return !(hi - lo > 0.0);
}

// ----------------------------------------------------------------------------------------------------------- direction

/// What complementarity is to gain: -l o l, and with `corrected` the products of the steps at hand and the centre `mu`.
static void aim(ipm *m, bool corrected, double mu) {
    for (int32_t i = 0; i < m->dual.H.n; i++) {
        const packed_row *row = &m->dual.H.rows[i];
        int32_t k = row->place;
        if (row->cone) {
            double l[3], r[3], ds[3] = {0.0}, dz[3] = {0.0}, product[3];
            jordan_scale_forth(&m->scaling[i], m->s + k, l);
            jordan_multiply(l, l, r);
            if (corrected) {
                jordan_scale_forth(&m->scaling[i], m->ds + k, ds);
                jordan_scale_back(&m->scaling[i], m->dz + k, dz);
            }
            jordan_multiply(ds, dz, product);
            for (int32_t a = 0; a < 3; a++) {
                r[a] = -r[a] - product[a] + (corrected && a == 2 ? mu : 0.0);
            }
            jordan_divide(l, r, m->c + k);
            continue;
        }
        for (; k < row->place + row->rows; k++) {
            double low = m->z[k] - m->dual.H.lo[k], up = m->dual.H.hi[k] - m->z[k];
            double more = corrected ? mu : 0.0;
            m->c[k] = m->s[k] > 0.0 ? -m->s[k] * low + more - (corrected ? m->ds[k] * m->dz[k] : 0.0) : 0.0;
            m->chigh[k] = m->high[k] > 0.0 ? -m->high[k] * up + more + (corrected ? m->dhigh[k] * m->dz[k] : 0.0) : 0.0;
        }
    }
}

/// dz, ds of the aim.
static void find_steps(ipm *m) {
    const packed *H = &m->dual.H;
    for (int32_t i = 0; i < H->n; i++) {
        const packed_row *row = &H->rows[i];
        double t[3];
        if (row->cone) {
            jordan_scale_back(&m->scaling[i], m->c + row->place, t);
        }
        for (int32_t r = 0; r < row->rows; r++) {
            int32_t k = row->place + r;
            double pull = row->cone ? t[r]
                                    : (m->s[k] > 0.0 ? m->c[k] / (m->z[k] - H->lo[k]) : 0.0) -
                                          (m->high[k] > 0.0 ? m->chigh[k] / (H->hi[k] - m->z[k]) : 0.0);
            m->right[k] = pull - m->residual[k];
        }
    }
    newton_system_solve(&m->newton, m->right, m->dz);
    for (int32_t i = 0; i < H->n; i++) {
        const packed_row *row = &H->rows[i];
        int32_t k = row->place;
        if (row->cone) { // Q(w^1/2) ds = c - Q(w^-1/2) dz
            double back[3];
            jordan_scale_back(&m->scaling[i], m->dz + k, back);
            for (int32_t a = 0; a < 3; a++) {
                back[a] = m->c[k + a] - back[a];
            }
            jordan_scale_back(&m->scaling[i], back, m->ds + k);
            continue;
        }
        for (; k < row->place + row->rows; k++) {
            m->dz[k] = is_fixed(H->lo[k], H->hi[k]) ? 0.0 : m->dz[k];
            m->ds[k] = m->s[k] > 0.0 ? (m->c[k] - m->s[k] * m->dz[k]) / (m->z[k] - H->lo[k]) : 0.0;
            m->dhigh[k] = m->high[k] > 0.0 ? (m->chigh[k] + m->high[k] * m->dz[k]) / (H->hi[k] - m->z[k]) : 0.0;
        }
    }
}

/// How far x > 0 can go along d.
static double reach(double x, double d) {
    return d < 0.0 ? -x / d : (double)INFINITY;
}

/// The step at which the first pair leaves its cone.
static double longest_step(const ipm *m) {
    double step = INFINITY;
    for (int32_t i = 0; i < m->dual.H.n; i++) {
        const packed_row *row = &m->dual.H.rows[i];
        int32_t k = row->place;
        if (row->cone) {
            step = fmin(step, fmin(jordan_reach(m->z + k, m->dz + k), jordan_reach(m->s + k, m->ds + k)));
            continue;
        }
        for (; k < row->place + row->rows; k++) {
            if (m->s[k] > 0.0) {
                step = fmin(step, fmin(reach(m->z[k] - m->dual.H.lo[k], m->dz[k]), reach(m->s[k], m->ds[k])));
            }
            if (m->high[k] > 0.0) {
                step = fmin(step, fmin(reach(m->dual.H.hi[k] - m->z[k], -m->dz[k]), reach(m->high[k], m->dhigh[k])));
            }
        }
    }
    return step;
}

/// A predictor and a corrector with one factor. False: no digits are left.
static bool advance(ipm *m) {
    double gap = 0.0;                           // s.z over all pairs
    for (int32_t i = 0; i < m->dual.H.n; i++) { // M + Q(w)^-1 and the slopes of bounds
        const packed_row *row = &m->dual.H.rows[i];
        double *value = m->newton.value + row->place;
        if (row->cone) {
            m->scaling[i] = jordan_scale(m->z + row->place, m->s + row->place);
            m->newton.frame[i] = jordan_inverse_frame(&m->scaling[i]);
            memcpy(value, m->newton.frame[i].value, 3 * sizeof *value);
        }
        for (int32_t r = 0; r < row->rows; r++) {
            int32_t k = row->place + r;
            if (row->cone) {
                gap += m->s[k] * m->z[k];
                continue;
            }
            double lo = m->dual.H.lo[k], hi = m->dual.H.hi[k];
            value[r] = is_fixed(lo, hi) ? 1e100
                                        : (m->s[k] > 0.0 ? m->s[k] / (m->z[k] - lo) : 0.0) +
                                              (m->high[k] > 0.0 ? m->high[k] / (hi - m->z[k]) : 0.0);
            gap += (m->s[k] > 0.0 ? m->s[k] * (m->z[k] - lo) : 0.0) +
                   (m->high[k] > 0.0 ? m->high[k] * (hi - m->z[k]) : 0.0);
        }
    }
    if (!newton_system_factor(&m->newton)) {
        return false;
    }
    aim(m, false, 0.0);
    find_steps(m);
    double a = fmin(1.0, longest_step(m)), sigma = (1.0 - a) * (1.0 - a) * (1.0 - a);
    double mu = gap / (m->degree > 0 ? m->degree : 1);
    // Is every product l o l within mu/2 of the centre mu e? Impulse and slack of a contact that slides point along one
    // line only there; away from it the natural map falls as the root of the gap, and digits end before it is small.
    bool central = true;
    for (int32_t i = 0; i < m->dual.H.n && central; i++) {
        const packed_row *row = &m->dual.H.rows[i];
        double l[3], product[3];
        if (row->cone) {
            jordan_scale_forth(&m->scaling[i], m->s + row->place, l);
            jordan_multiply(l, l, product);
            central = !(hypot(jordan_norm(product), product[2] - mu) > 0.5 * mu);
        }
    }
    aim(m, true, fmax(sigma, central ? 0.0 : 0.3) * mu);
    find_steps(m);
    double step = fmin(1.0, 0.99 * longest_step(m));
    if (!(step > 1e-8)) { // NaN too
        return false;
    }
    for (int32_t k = 0; k < m->size; k++) {
        m->z[k] += step * m->dz[k];
        m->s[k] += step * m->ds[k];
        m->high[k] += step * m->dhigh[k];
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------- loop

/// The natural map at x; keeps the best.
static bool is_done(ipm *m, const double *x, double *speed) {
    dual_residual error = scaled_dual_residual(&m->dual, true, x, m->g);
    bool done = scaled_dual_done(&m->dual, error, m->control);
    *speed = error.speed;
    m->since++;
    if (done || error.speed < m->least) {
        m->since = error.speed < 0.5 * m->least ? 0 : m->since;
        m->least = error.speed;
        memcpy(m->best, x, (size_t)m->size * sizeof *x);
    }
    return done;
}

static stn_status run(ipm *m, const stn_problem *problem, stn_solve_info *info, stn_error *err) {
    enum { PATIENCE = 30 }; // iterations that do not halve the error
    double speed;
    scaled_dual_project(&m->dual, m->x);
    scaled_dual_gradient(&m->dual, m->x, m->g);
    bool done = is_done(m, m->x, &speed); // the impulses given; the method itself begins elsewhere
    const packed *H = &m->dual.H;
    for (int32_t i = 0; i < H->n; i++) {
        const packed_row *row = &H->rows[i];
        for (int32_t r = 0; r < row->rows; r++) {
            m->T[row->place + r] = row->cone && r < 2 ? row->mu : 1.0;
        }
        m->degree += row->cone ? 1 : 0;
    }
    // all products s z of the size that the problem suggests: |q|^2, for the diagonal of H is 1
    double size = 0.0;
    for (int32_t k = 0; k < m->size; k++) {
        size = fmax(size, fabs(H->q[k]));
    }
    size = size > 0.0 ? size : 1.0;
    for (int32_t i = 0; i < H->n; i++) {
        const packed_row *row = &H->rows[i];
        for (int32_t k = row->place; k < row->place + row->rows; k++) {
            if (row->cone) {
                m->z[k] = m->s[k] = k == row->place + 2 ? size : 0.0;
                continue;
            }
            double lo = H->lo[k], hi = H->hi[k], width = hi - lo;
            bool low = bounded(lo) && !is_fixed(lo, hi), high = bounded(hi) && !is_fixed(lo, hi);
            double inside = fmin(size, 0.5 * width);
            m->z[k] = is_fixed(lo, hi) ? lo : fmin(fmax(0.0, lo + inside), hi - inside); // near no impulse
            m->s[k] = low ? size * size / (m->z[k] - lo) : 0.0;
            m->high[k] = high ? size * size / (hi - m->z[k]) : 0.0;
            m->degree += low + high;
        }
    }
    if (!done) {
        stn_status status = newton_system_build(problem, m->control, &m->dual, m->T, &m->newton, err);
        if (status != STN_OK) {
            return status;
        }
        if (!isfinite(speed)) {
            return stn_fail(err, STN_ERR_NUMERIC, "the residual is %g m/s: numbers of the problem are too large",
                            speed);
        }
    }
    m->since = 0;
    for (; !done; info->iterations++) {
        // residual = M z + q - s, by the exact operator
        for (int32_t k = 0; k < m->size; k++) {
            m->x[k] = m->T[k] * m->z[k];
        }
        scaled_dual_gradient(&m->dual, m->x, m->g);
        for (int32_t k = 0; k < m->size; k++) {
            m->residual[k] = m->T[k] * m->g[k] - m->s[k] + m->high[k];
        }
        if (info->iterations > 0) {
            scaled_dual_project(&m->dual, m->x); // to the rounding of T z
            done = is_done(m, m->x, &speed);
        }
        if (done) {
            break;
        }
        if (info->iterations >= m->control->max_iterations) {
            info->reason = "iterations";
            return STN_NOT_CONVERGED;
        }
        info->factorizations++;
        if (m->since > PATIENCE || !advance(m)) { // digits end at some 1e-8 of the speeds; short of that it failed
            info->reason = "stagnation";
            return m->least <= 1e4 * m->control->tolerance * m->dual.H.speed ? STN_STALLED : STN_NOT_CONVERGED;
        }
    }
    info->reason = "residual";
    return STN_OK;
}

static stn_status solve_regular(void *self, const stn_problem *problem, const stn_solve_control *control,
                                stn_solution *solution, stn_solve_info *info, stn_error *err) {
    (void)self;
    ipm m = {.control = control, .least = INFINITY};
    stn_status status = scaled_dual_build(control->delassus, control->arena, &m.dual, err);
    if (status != STN_OK) {
        return status;
    }
    double **const vectors[] = {&m.T, &m.z,     &m.s, &m.dz,    &m.ds,       &m.high, &m.dhigh,
                                &m.c, &m.chigh, &m.g, &m.right, &m.residual, &m.x,    &m.best};
    m.size = m.dual.H.size;
    m.scaling = STN_ARENA(control->arena, m.dual.H.n + 1, jordan_scaling);
    bool good = m.scaling != NULL;
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        *vectors[i] = packed_vector(&m.dual.H, control->arena);
        good = good && *vectors[i] != NULL;
    }
    if (!good) {
        return stn_fail(err, STN_ERR_MEMORY, "%d rows: out of memory", problem->row_count);
    }
    scaled_dual_enter(&m.dual, solution->gamma, m.x);
    status = run(&m, problem, info, err);
    if (status >= STN_OK) {
        scaled_dual_gradient(&m.dual, m.best, m.g);
        info->cost = scaled_dual_cost(&m.dual, m.best, m.g);
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
    .formulation = STN_CCP,
    .yields = STN_YIELDS_IMPULSE,
    .needs = STN_NEEDS_DELASSUS | STN_REGULARIZED_BY_LAW,
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY,
    .create_workspace = symbolic_cache_create,
    .destroy_workspace = symbolic_cache_destroy,
    .solve = solve,
    .supports = STN_SUPPORTS_SINGULAR_A,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_SOLVER,
    .id = "ipm",
    .version = "0.1.0",
    .summary = "Primal-dual interior-point method over second-order cones, convex relaxation",
    .reference = "mehrotra-1992, nesterov-todd-1997, alizadeh-2003",
    .ops.solver = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
