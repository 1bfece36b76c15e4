// SPDX-License-Identifier: Apache-2.0
// See interior.h.
#include "interior.h"

#include <float.h>
#include <math.h>
#include <string.h>

stn_status interior_create(rays *r, active_set *set, const stn_solve_control *control, interior *out, stn_error *err) {
    const rays_workspace *workspace = control->workspace;
    *out = (interior){.r = r, .set = set};
    double **const vectors[] = {&out->x,       &out->low,      &out->high,     &out->dx,    &out->dlow, &out->dhigh,
                                &out->aim_low, &out->aim_high, &out->residual, &out->right, &out->best};
    stn_solve_control *own = STN_ARENA(r->arena, 1, stn_solve_control);
    out->chosen = STN_ARENA_ZEROED(r->arena, set->n + 1, bool);
    bool good = own != NULL && out->chosen != NULL && crossover_create(r, set, &out->system, &out->cross);
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        *vectors[i] = STN_ARENA_ZEROED(r->arena, set->n + 1, double);
        good = good && *vectors[i] != NULL;
    }
    for (int32_t k = 0; k < 3; k++) {
        out->kept[k] = STN_ARENA_ZEROED(r->arena, set->n + 1, double);
        good = good && out->kept[k] != NULL;
    }
    if (!good) {
        return stn_fail(err, STN_ERR_MEMORY, "%d unknowns: out of memory", set->n);
    }
    *own = *control;
    own->workspace = workspace->system;
    return ray_system_create(r, set->n, own, &out->system, err);
}

static bool is_fixed(const active_set *set, int32_t u) {
    return !(set->lo[u] < set->hi[u]) || !(set->size[u] > 0.0);
}

static bool has_low(const interior *s, int32_t u) {
    return !is_fixed(s->set, u) && s->set->lo[u] > -(double)INFINITY;
}

static bool has_high(const interior *s, int32_t u) {
    return !is_fixed(s->set, u) && s->set->hi[u] < (double)INFINITY;
}

// ----------------------------------------------------------------------------------------------------------- direction

/// x well inside of the bounds, near no impulse, all products unit^2. Returns the number of products.
static int32_t begin(interior *s) {
    const active_set *set = s->set;
    int32_t degree = 0;
    s->unit = 0.0;
    for (int32_t u = 0; u < set->n; u++) {
        s->unit = is_fixed(set, u) ? s->unit : fmax(s->unit, fabs(set->q[u]) / set->size[u]);
    }
    s->unit = s->unit > 0.0 ? s->unit : 1.0;
    for (int32_t u = 0; u < set->n; u++) {
        const double lo = set->lo[u], hi = set->hi[u];
        const double inside = is_fixed(set, u) ? 0.0 : fmin(s->unit / set->size[u], 0.5 * (hi - lo));
        s->x[u] = is_fixed(set, u) ? set->x[u] : fmin(fmax(0.0, lo + inside), hi - inside);
        s->low[u] = has_low(s, u) ? s->unit * s->unit / (s->x[u] - lo) : 0.0;
        s->high[u] = has_high(s, u) ? s->unit * s->unit / (hi - s->x[u]) : 0.0;
        degree += has_low(s, u) + has_high(s, u);
    }
    return degree;
}

static double find_gap(const interior *s, double step) {
    double sum = 0.0;
    for (int32_t u = 0; u < s->set->n; u++) {
        const double x = s->x[u] + step * s->dx[u];
        sum += has_low(s, u) ? (s->low[u] + step * s->dlow[u]) * (x - s->set->lo[u]) : 0.0;
        sum += has_high(s, u) ? (s->high[u] + step * s->dhigh[u]) * (s->set->hi[u] - x) : 0.0;
    }
    return sum;
}

/// residual = H x + q - low + high; the largest beside size [sqrt(J)].
static double find_residual(interior *s) {
    const active_set *set = s->set;
    double largest = 0.0;
    ray_system_product(&s->system, s->x, s->residual);
    for (int32_t u = 0; u < set->n; u++) {
        s->residual[u] += set->q[u] - s->low[u] + s->high[u];
        largest = is_fixed(set, u) ? largest : fmax(largest, fabs(s->residual[u]) / set->size[u]);
    }
    return largest;
}

static bool factor(interior *s) {
    const active_set *set = s->set;
    for (int32_t u = 0; u < set->n; u++) {
        const double square = set->size[u] * set->size[u];
        double E = has_low(s, u) ? s->low[u] / (s->x[u] - set->lo[u]) : 0.0;
        E += has_high(s, u) ? s->high[u] / (set->hi[u] - s->x[u]) : 0.0;
        E += (has_low(s, u) || has_high(s, u) ? 1e-13 : 1e-10) * square; // keeps a factor where H has none
        s->right[u] = is_fixed(set, u) ? (double)INFINITY : E;
    }
    return ray_system_factor(&s->system, s->right, NULL) == STN_OK;
}

/// Sets the targets c of the complementarity products: centre - low (x - lo), and for the corrector the product of the
/// predictor's steps is taken away. Likewise at the upper bounds.
static void aim(interior *s, bool corrected, double centre) {
    for (int32_t u = 0; u < s->set->n; u++) {
        const double by = corrected ? s->dx[u] : 0.0;
        s->aim_low[u] = has_low(s, u) ? centre - s->low[u] * (s->x[u] - s->set->lo[u]) - by * s->dlow[u] : 0.0;
        s->aim_high[u] = has_high(s, u) ? centre - s->high[u] * (s->set->hi[u] - s->x[u]) + by * s->dhigh[u] : 0.0;
    }
}

static void find_steps(interior *s) {
    const active_set *set = s->set;
    for (int32_t u = 0; u < set->n; u++) {
        const double low = has_low(s, u) ? s->aim_low[u] / (s->x[u] - set->lo[u]) : 0.0;
        const double high = has_high(s, u) ? s->aim_high[u] / (set->hi[u] - s->x[u]) : 0.0;
        s->right[u] = is_fixed(set, u) ? 0.0 : s->residual[u] - low + high;
    }
    ray_system_refine(&s->system, s->right, set->size, s->dx);
    for (int32_t u = 0; u < set->n; u++) {
        s->dx[u] = is_fixed(set, u) ? 0.0 : s->dx[u];
        s->dlow[u] = has_low(s, u) ? (s->aim_low[u] - s->low[u] * s->dx[u]) / (s->x[u] - set->lo[u]) : 0.0;
        s->dhigh[u] = has_high(s, u) ? (s->aim_high[u] + s->high[u] * s->dx[u]) / (set->hi[u] - s->x[u]) : 0.0;
    }
}

/// How far x > 0 can go along d.
static double reach(double x, double d) {
    return d < 0.0 ? -x / d : (double)INFINITY;
}

/// The step at which the first slack is 0. NaN where one is.
static double longest_step(const interior *s) {
    double step = INFINITY;
    for (int32_t u = 0; u < s->set->n; u++) {
        if (isnan(s->dx[u])) {
            return (double)NAN;
        }
        if (has_low(s, u)) {
            step = fmin(step, fmin(reach(s->x[u] - s->set->lo[u], s->dx[u]), reach(s->low[u], s->dlow[u])));
        }
        if (has_high(s, u)) {
            step = fmin(step, fmin(reach(s->set->hi[u] - s->x[u], -s->dx[u]), reach(s->high[u], s->dhigh[u])));
        }
    }
    return step;
}

/// Products that `step` would leave far from the centre are to come nearer [gondzio-1996].
static void aim_nearer(interior *s, double step, double centre) {
    const double low = 0.1 * centre, high = 10.0 * centre;
    for (int32_t u = 0; u < s->set->n; u++) {
        const double x = s->x[u] + step * s->dx[u];
        if (has_low(s, u)) {
            const double product = (s->low[u] + step * s->dlow[u]) * (x - s->set->lo[u]);
            s->aim_low[u] += fmax(fmin(fmax(product, low), high) - product, -high);
        }
        if (has_high(s, u)) {
            const double product = (s->high[u] + step * s->dhigh[u]) * (s->set->hi[u] - x);
            s->aim_high[u] += fmax(fmin(fmax(product, low), high) - product, -high);
        }
    }
}

/// Up to the first slack that is 0, nearly.
static double safe_step(const interior *s) {
    return fmin(1.0, 0.995 * longest_step(s));
}

/// Steps at hand, which go as far as `step`, made longer as often as that helps. Returns how far they go.
static double lengthen(interior *s, double step, double centre) {
    enum { TIMES = 3 };
    const size_t bytes = (size_t)s->set->n * sizeof *s->dx;
    for (int32_t k = 0; k < TIMES && step < 0.9; k++) {
        memcpy(s->kept[0], s->dx, bytes);
        memcpy(s->kept[1], s->dlow, bytes);
        memcpy(s->kept[2], s->dhigh, bytes);
        aim_nearer(s, fmin(1.0, step + 0.3), centre);
        find_steps(s);
        const double longer = safe_step(s);
        if (!(longer >= step + 0.03)) {
            memcpy(s->dx, s->kept[0], bytes);
            memcpy(s->dlow, s->kept[1], bytes);
            memcpy(s->dhigh, s->kept[2], bytes);
            return step;
        }
        step = longer;
    }
    return step;
}

/// A predictor and a corrector. Returns the step; 0: no digits are left.
static double advance(interior *s, double mu, int32_t degree) {
    enum { CENTRE_AT = 10 }; // a step of less than 1/10 is one that the products are too unequal for
    if (!factor(s)) {
        return 0.0;
    }
    aim(s, false, 0.0);
    find_steps(s);
    const double a = fmin(1.0, longest_step(s));
    const double ratio = mu > 0.0 ? find_gap(s, a) / (degree * mu) : 0.0, centre = ratio * ratio * ratio * mu;
    aim(s, true, centre);
    find_steps(s);
    double step = lengthen(s, safe_step(s), centre);
    if (!(CENTRE_AT * step >= 1.0)) {
        aim(s, false, 0.5 * mu);
        find_steps(s);
        step = safe_step(s);
    }
    if (!(step > 1e-8)) { // NaN too
        return 0.0;
    }
    for (int32_t u = 0; u < s->set->n; u++) {
        s->x[u] += step * s->dx[u];
        s->low[u] += step * s->dlow[u];
        s->high[u] += step * s->dhigh[u];
    }
    return step;
}

// ------------------------------------------------------------------------------------------------------- contradiction

/// Can the unbounded part of x grow without end, at no cost but -q.x? Then no velocity satisfies all constraints, and
/// the set is told whose.
static bool contradicts(interior *s) {
    active_set *set = s->set;
    double gain = 0.0, size = 0.0, all = 0.0, energy = 0.0, most = 0.0;
    for (int32_t u = 0; u < set->n; u++) {
        const bool endless = !is_fixed(set, u) && (s->x[u] > 0.0 ? !has_high(s, u) : !has_low(s, u));
        s->dx[u] = endless ? s->x[u] : 0.0;
        gain -= set->q[u] * s->dx[u];
        all += fabs(set->q[u] * s->dx[u]);
        size = fmax(size, set->size[u] * fabs(s->dx[u]));
    }
    if (!(size > 1e5 * s->unit) || !(gain > 1e-6 * all)) {
        return false;
    }
    ray_system_product(&s->system, s->dx, s->right);
    for (int32_t u = 0; u < set->n; u++) {
        energy += s->dx[u] * s->right[u];
    }
    if (!(energy <= 1e-14 * size * size)) {
        return false;
    }
    set->count = 0;
    for (int32_t u = 0; u < set->n; u++) {
        const double own = set->size[u] * fabs(s->dx[u]);
        set->entering = own > most ? u : set->entering;
        most = fmax(most, own);
    }
    int32_t i = 0;
    while (s->r->start[i + 1] <= set->entering) {
        i++;
    }
    for (int32_t own = 0; own < 2 && set->count == 0; own++) { // those of another constraint, if there are any
        for (int32_t u = 0; u < set->n; u++) {
            const bool inside = u >= s->r->start[i] && u < s->r->start[i + 1];
            if (s->dx[u] != 0.0 && u != set->entering && inside == (own == 1)) {
                set->follow[set->count] = s->dx[u];
                set->free[set->count++] = u;
            }
        }
    }
    return true;
}

/// Unknowns that move nothing are put where their speed wants them; false: nothing bounds one there.
static bool place_immovable(interior *s) {
    active_set *set = s->set;
    for (int32_t u = 0; u < set->n; u++) {
        if (set->size[u] > 0.0 || !(set->lo[u] < set->hi[u]) || fabs(set->q[u]) <= 64.0 * DBL_EPSILON * set->speed) {
            continue;
        }
        const double bound = set->q[u] < 0.0 ? set->hi[u] : set->lo[u];
        if (!isfinite(bound)) {
            set->entering = u;
            set->count = 0;
            return false;
        }
        set->x[u] = bound;
    }
    return true;
}

// --------------------------------------------------------------------------------------------------------------- solve

/// The set that the interior point shows, into `set`: x of what is not free at its bound.
static void show(interior *s) {
    active_set *set = s->set;
    for (int32_t u = 0; u < set->n; u++) {
        const double square = set->size[u] * set->size[u];
        const bool low = has_low(s, u) && square * (s->x[u] - set->lo[u]) <= s->low[u];
        const bool high = has_high(s, u) && square * (set->hi[u] - s->x[u]) <= s->high[u];
        s->chosen[u] = !is_fixed(set, u) && !low && !high;
        set->x[u] = low ? set->lo[u] : (high ? set->hi[u] : s->x[u]);
    }
    crossover_mark(set, s->chosen);
}

/// Keeps the x of the set if none before was better.
static void keep_best(interior *s, double *least) {
    active_set *set = s->set;
    for (int32_t u = 0; u < set->n; u++) {
        set->x[u] = fmin(fmax(set->x[u], set->lo[u]), set->hi[u]);
    }
    double error = crossover_error(&s->cross);
    if (error < *least) {
        *least = error;
        memcpy(s->best, set->x, (size_t)set->n * sizeof *s->best);
    }
}

/// The crossover from the set at hand.
static bool cross_over(interior *s, int32_t most, int32_t *moves) {
    enum { ROUNDS = 10 };
    s->exact = crossover_solve(&s->cross, ROUNDS, most, moves);
    return s->exact;
}

active_set_end interior_solve(interior *s, int32_t most, int32_t *moves) {
    enum { PATIENCE = 30 }; // iterations that do not halve the gap
    active_set *set = s->set;
    s->exact = false;
    if (!place_immovable(s)) {
        return ACTIVE_SET_CONTRADICTION;
    }
    if (set->count > 0 && cross_over(s, most, moves)) {
        return ACTIVE_SET_SOLVED;
    }
    const int32_t degree = begin(s);
    double attempt = 1e-8, least = INFINITY, least_mu = INFINITY;
    for (int32_t since = 0; since < PATIENCE; since++) {
        const double residual = find_residual(s), mu = degree > 0 ? find_gap(s, 0.0) / degree : 0.0;
        if (residual <= 1e-3 * s->unit && mu <= attempt * s->unit * s->unit) {
            show(s);
            if (cross_over(s, most, moves)) {
                return ACTIVE_SET_SOLVED;
            }
            keep_best(s, &least);
            show(s);
            keep_best(s, &least);
            attempt = fmin(1e-3 * attempt, 1e-2 * mu / (s->unit * s->unit));
        }
        if (*moves >= most || (degree > 0 && mu <= 1e-24 * s->unit * s->unit)) {
            break;
        }
        ++*moves;
        if (contradicts(s)) {
            memcpy(set->x, s->x, (size_t)set->n * sizeof *s->x);
            return ACTIVE_SET_CONTRADICTION;
        }
        if (advance(s, mu, degree) == 0.0) {
            break;
        }
        if (mu < 0.5 * least_mu) {
            least_mu = mu;
            since = 0;
        }
    }
    show(s);
    keep_best(s, &least);
    memcpy(set->x, s->best, (size_t)set->n * sizeof *s->best);
    return *moves >= most ? ACTIVE_SET_LIMIT : ACTIVE_SET_SOLVED;
}
