// SPDX-License-Identifier: Apache-2.0
// See sweep.h. A visit finds the constraint's velocity g from the impulses as they are, and leaves the constraint alone
// where its residual [m/s] is a twentieth of what is allowed: what has settled costs a row of W and no more, and a
// sweep that leaves all of them alone has measured exactly these impulses. Where all were allowed and some were moved,
// a sweep that moves nothing measures once more.
#include "sweep.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double FAR = 1e8;             // of what is allowed, squares: more is not round-off
static const double GROWTH = 4.0;          // of a residual's square, that ends an acceleration
static const double SETTLED = 0.05 * 0.05; // of the square of the tolerance

/// Of every constraint, beside its packed row.
typedef struct visited {
    double allowed;   // square of the residual that ends the solve
    double rho;       // of projected steps: 1/|W_ii|_F, R within
    double precision; // of the local solver [N s]
    double sigma;     // warm start of the local Coulomb solver
    local_block block;
    const double *factor; // of equality rows: the Cholesky factor of W_ii, `width` apart; NULL: row by row
} visited;

typedef struct sweeper {
    packed problem;
    const sweep_rule *rule;
    visited *visited;
    double *gamma;
    size_t bytes;          // of gamma
    double *start, *plain; // of a sweep: impulses before and after, before they are extrapolated
    double *best;          // kept whenever the residual has halved
    int32_t last_gain;     // sweep of best
    double least, before;  // squares of the largest residual: of best, of the sweep before
    anderson anderson;
    bool extrapolated;
    double alpha;
    // of a sweep
    bool moves;        // else it only measures
    double worst;      // square of the largest residual; NaN when one is
    int32_t beyond;    // constraints whose residual is not allowed
    int32_t far;       // those of them that round-off does not explain
    int32_t unsettled; // constraints that are not left alone
    bool changed;      // some impulse, by more than round-off
} sweeper;

// ------------------------------------------------------------------------------------------------------------ set-up

static bool prepare(sweeper *s, const stn_solve_control *control, const double *start) {
    if (!packed_build(control->delassus, control->arena, &s->problem)) {
        return false;
    }
    s->visited = STN_ARENA(control->arena, s->problem.n + 1, visited);
    s->bytes = (size_t)s->problem.size * sizeof *s->gamma;
    double *weight, **vectors[] = {&s->gamma, &s->start, &s->plain, &s->best, &weight};
    for (int32_t k = 0; k < STN_COUNT(vectors); k++) {
        *vectors[k] = packed_vector(&s->problem, control->arena);
        if (*vectors[k] == NULL) {
            return false;
        }
    }
    if (s->visited == NULL || !anderson_create(&s->anderson, s->problem.size, s->rule->depth, weight, control->arena)) {
        return false;
    }
    for (int32_t i = 0; i < s->problem.n; i++) {
        const packed_row *row = &s->problem.rows[i];
        double allowed =
            packed_allowed(&s->problem, control->tolerance) + control->absolute_tolerance * sqrt(row->omega);
        visited *v = &s->visited[i];
        *v = (visited){.allowed = allowed * allowed};
        if (row->cone && s->rule->kind == VISIT_EXACT) {
            local_prepare(row->mu, row->own, 4, &v->block);
        }
        if (row->cone) {
            double square = 0.0;
            for (int32_t k = 0; k < 12; k++) {
                square += row->own[k] * row->own[k];
            }
            v->rho = square > 0.0 ? 1.0 / sqrt(square) : 0.0;
            v->precision = 0.1 * allowed * fmin(v->rho, 1.0 / row->omega);
        }
        bool equality = !row->cone && row->rows > 1;
        for (int32_t r = row->place; r < row->place + row->rows; r++) {
            weight[r] = row->omega;
            equality = equality && !(s->problem.lo[r] > -(double)INFINITY || s->problem.hi[r] < (double)INFINITY);
        }
        if (equality) {
            double *factor = STN_ARENA(control->arena, row->rows * row->width, double);
            if (factor == NULL) {
                return false;
            }
            memcpy(factor, row->own, (size_t)(row->rows * row->width) * sizeof *factor);
            v->factor = stn_cholesky(row->rows, factor, row->width) < 0 ? factor : NULL;
        }
    }
    packed_impulses(&s->problem, start, s->gamma);
    memcpy(s->best, s->gamma, s->bytes);
    return true;
}

// ------------------------------------------------------------------------------------------------------------ visits

/// Changes of an impulse that are not the rounding of it.
STN_KERNEL_INLINE bool differs(int32_t n, const double *before, const double *after) {
    double change = 0.0, size = 0.0;
    for (int32_t r = 0; r < n; r++) {
        change = fmax(change, fabs(after[r] - before[r]));
        size = fmax(size, fabs(after[r]));
    }
    return change > 4.0 * DBL_EPSILON * size;
}

/// A constraint at a visit: c are the velocities that the others give it, g with its own impulse.
typedef struct visit {
    const packed_row *row;
    visited *own;
    double *gamma, *c, *g;
} visit;

/// Equality rows all at once, others one after the other.
STN_KERNEL_INLINE void visit_rows(const sweeper *s, const visit *at) {
    const packed_row *row = at->row;
    const double *lo = s->problem.lo + row->place, *hi = s->problem.hi + row->place;
    double *gamma = at->gamma, *g = at->g;
    if (at->own->factor != NULL) {
        stn_cholesky_forward(row->rows, at->own->factor, row->width, 1, g, row->width);
        stn_cholesky_backward(row->rows, at->own->factor, row->width, 1, g, row->width);
        for (int32_t r = 0; r < row->rows; r++) {
            gamma[r] -= g[r];
        }
        return;
    }
    for (int32_t r = 0; r < row->rows; r++) {
        const double *column = row->own + r * row->width;
        double before = gamma[r], next = column[r] > 0.0 ? before - g[r] / column[r] : before;
        gamma[r] = next < lo[r] ? lo[r] : (next > hi[r] ? hi[r] : next);
        for (int32_t k = 0; k < row->rows; k++) {
            g[k] += column[k] * (gamma[r] - before);
        }
    }
}

STN_KERNEL_INLINE void project_contact(const sweeper *s, const visit *at) {
    const packed_row *row = at->row;
    const double alpha = s->alpha, rho = at->own->rho;
    double *gamma = at->gamma, *g = at->g;
    for (int32_t k = 0; k < s->rule->steps; k++) {
        double before[3] = {gamma[0], gamma[1], gamma[2]};
        gamma[0] -= alpha * rho * g[0];
        gamma[1] -= alpha * rho * g[1];
        gamma[2] -= alpha * rho * (g[2] + row->mu * sqrt(g[0] * g[0] + g[1] * g[1]));
        stn_cone_project(row->mu, gamma);
        double step[3] = {gamma[0] - before[0], gamma[1] - before[1], gamma[2] - before[2]};
        if (k + 1 < s->rule->steps) {
            packed_own_add(row, step, g, g);
        }
    }
}

STN_KERNEL_INLINE void clamp_contact(const sweeper *s, const visit *at) {
    const double *W = at->row->own, alpha = s->alpha;
    const bool pyramid = s->rule->kind == VISIT_PYRAMID;
    double *gamma = at->gamma, *g = at->g;
    double step[3] = {0.0, 0.0, W[10] > 0.0 ? fmax(-gamma[2], -alpha * g[2] / W[10]) : 0.0};
    gamma[2] += step[2];
    packed_own_add(at->row, step, g, g);
    double limit = at->row->mu * gamma[2], largest = fmax(W[0], W[5]), t[2];
    for (int32_t r = 0; r < 2; r++) {
        double stiffness = pyramid ? W[5 * r] : largest;
        t[r] = gamma[r] - (stiffness > 0.0 ? alpha * g[r] / stiffness : 0.0);
    }
    if (pyramid) {
        gamma[0] = fmax(-limit, fmin(limit, t[0]));
        gamma[1] = fmax(-limit, fmin(limit, t[1]));
        return;
    }
    double square = t[0] * t[0] + t[1] * t[1], scale = square > limit * limit ? limit / sqrt(square) : 1.0;
    gamma[0] = scale * t[0];
    gamma[1] = scale * t[1];
}

/// The solution of the contact by itself. Where the block is not exactly W_ii, what the difference makes of gamma
/// counts as the others', so that nothing is lost at the end.
STN_KERNEL_INLINE void solve_alone(const sweeper *s, const visit *at, double *out) {
    const local_block *block = &at->own->block;
    const double *W = block->W, *gamma = at->gamma, *g = at->g;
    double rest[3] = {at->c[0], at->c[1], at->c[2]};
    if (!block->exact) {
        rest[0] = g[0] - (W[0] * gamma[0] + W[1] * gamma[1] + W[3] * gamma[2]);
        rest[1] = g[1] - (W[1] * gamma[0] + W[2] * gamma[1] + W[4] * gamma[2]);
        rest[2] = g[2] - (W[3] * gamma[0] + W[4] * gamma[1] + W[5] * gamma[2]);
    }
    local_solve(s->rule->local, block, rest, at->own->precision, out, &at->own->sigma);
}

/// Square of the residual of the pyramid: normal complementarity, and each tangent on its own interval.
STN_KERNEL_INLINE double pyramid_map(const packed_row *row, const double *gamma, const double *g) {
    double o = row->omega, n = o * gamma[2] - fmax(0.0, o * gamma[2] - g[2]), square = n * n;
    for (int32_t r = 0; r < 2; r++) {
        double limit = row->mu * o * fmax(0.0, gamma[2]), x = o * gamma[r] - g[r];
        double d = o * gamma[r] - fmax(-limit, fmin(limit, x));
        square += d * d;
    }
    return square;
}

/// For models that have no natural map: the way to the solution of the contact by itself, as a velocity, W_ii times it
/// and omega times it. A block that is not solved as it is may stand still beside the solution: its normal counts, too.
STN_KERNEL_INLINE double way_map(const sweeper *s, const visit *at) {
    const packed_row *row = at->row;
    double next[3], step[3], square = 0.0;
    double velocity[4] __attribute__((aligned(32))) = {0.0};
    solve_alone(s, at, next);
    for (int32_t r = 0; r < 3; r++) {
        step[r] = next[r] - at->gamma[r];
    }
    packed_own_add(row, step, velocity, velocity);
    for (int32_t r = 0; r < 3; r++) {
        square += velocity[r] * velocity[r] + row->omega * row->omega * step[r] * step[r];
    }
    double normal = row->omega * at->gamma[2] - fmax(0.0, row->omega * at->gamma[2] - at->g[2]);
    return at->own->block.exact ? square : square + normal * normal;
}

STN_KERNEL_INLINE double residual_of(const sweeper *s, const visit *at) {
    const packed_row *row = at->row;
    const sweep_rule *rule = s->rule;
    if (row->cone && rule->kind == VISIT_PYRAMID) {
        return pyramid_map(row, at->gamma, at->g);
    }
    if (row->cone && rule->kind == VISIT_EXACT && rule->local >= LOCAL_BISECTION) {
        return way_map(s, at);
    }
    bool convex = rule->kind == VISIT_EXACT && rule->local == LOCAL_CCP;
    return packed_map(row, convex, s->problem.lo + row->place, s->problem.hi + row->place, at->gamma, at->g);
}

STN_KERNEL_INLINE void visit_constraint(sweeper *s, int32_t i) {
    const packed_row *row = &s->problem.rows[i];
    double c[8] __attribute__((aligned(32))), g[8] __attribute__((aligned(32))), *gamma = s->gamma + row->place;
    const visit at = {row, &s->visited[i], gamma, c, g};
    packed_others_any(&s->problem, row, s->gamma, c);
    packed_own_add(row, gamma, c, g);
    const double residual = residual_of(s, &at), allowed = at.own->allowed;
    s->worst = isnan(residual) || residual > s->worst ? residual : s->worst;
    if (!(residual <= allowed)) {
        s->beyond++;
        s->far += !(residual <= FAR * allowed);
    }
    bool settled = residual <= SETTLED * allowed;
    s->unsettled += !settled;
    if (settled || !s->moves) {
        return;
    }
    double before[STN_MAX_ROWS], next[3];
    memcpy(before, gamma, (size_t)row->rows * sizeof *before);
    if (!row->cone) {
        visit_rows(s, &at);
    } else if (s->rule->kind == VISIT_EXACT) {
        solve_alone(s, &at, next);
        for (int32_t r = 0; r < 3; r++) {
            gamma[r] += s->alpha * (next[r] - gamma[r]);
        }
    } else if (s->rule->kind == VISIT_PROJECTED) {
        project_contact(s, &at);
    } else {
        clamp_contact(s, &at);
    }
    s->changed = s->changed || differs(row->rows, before, gamma);
}

// -------------------------------------------------------------------------------------------------------------- loop

STN_KERNEL static void sweep(sweeper *s, bool moves) {
    s->moves = moves;
    s->worst = 0.0;
    s->beyond = s->far = s->unsettled = 0;
    s->changed = false;
    for (int32_t i = 0; i < s->problem.n; i++) {
        visit_constraint(s, i);
    }
}

/// Measures without moving anything: is every constraint within its tolerance?
static bool is_solved(sweeper *s) {
    sweep(s, false);
    return s->beyond == 0;
}

/// The better one of the last impulses and the best ones kept, measured; returns whether it is within the tolerances.
static bool take_better(sweeper *s) {
    bool within = is_solved(s);
    double worst = s->worst, *last = s->gamma;
    int32_t far = s->far;
    s->gamma = s->best;
    bool best_within = is_solved(s);
    if (within || !(s->worst < worst)) {
        s->gamma = last;
        s->far = far;
        return within;
    }
    return best_within;
}

static stn_status iterate(sweeper *s, int32_t limit, stn_solve_info *info, stn_error *err) {
    enum { PATIENCE = 8 };
    const int32_t wait = 100 + limit / 4; // sweeps in which the residual must have halved
    if (is_solved(s)) {
        // a start within the tolerance is polished by one sweep where it has not settled, so that what is left over in
        // every step of a world does not stay for ever; polish that does harm is taken back
        if (s->unsettled > 0) {
            memcpy(s->start, s->gamma, s->bytes);
            sweep(s, true);
            info->iterations = 1;
            if (!is_solved(s)) {
                memcpy(s->gamma, s->start, s->bytes);
            }
        }
        return STN_OK;
    }
    if (isnan(s->worst)) {
        return stn_fail(err, STN_ERR_NUMERIC, "a residual is not a number: numbers of the problem are too large");
    }
    for (info->iterations = 1; info->iterations <= limit; info->iterations++) {
        memcpy(s->start, s->gamma, s->bytes);
        sweep(s, true);
        if (isnan(s->worst)) {
            info->reason = "divergence";
            s->gamma = s->best;
            return STN_NOT_CONVERGED;
        }
        if (s->unsettled == 0) {
            return STN_OK;
        }
        bool moves_on = s->changed;
        if (s->beyond == 0 && is_solved(s)) {
            return STN_OK;
        }
        if (!moves_on) {
            info->reason = "stagnation";
            return take_better(s) ? STN_OK : s->far == 0 ? STN_STALLED : STN_NOT_CONVERGED;
        }
        if (info->iterations - s->last_gain > wait) {
            info->reason = "no progress";
            return take_better(s) ? STN_OK : STN_NOT_CONVERGED;
        }
        // The next start: these impulses, or after PATIENCE sweeps a combination with earlier ones. Where that made the
        // residual grow, the sweep before is taken up again.
        if (s->extrapolated && s->worst > GROWTH * s->before) {
            memcpy(s->gamma, s->plain, s->bytes);
            anderson_retreat(&s->anderson);
            s->extrapolated = false;
            continue;
        }
        s->before = s->worst;
        if (s->worst < 0.25 * s->least) {
            s->least = s->worst;
            memcpy(s->best, s->gamma, s->bytes);
            s->last_gain = info->iterations;
        }
        s->alpha = s->rule->alpha_min + s->rule->alpha_decay * (s->alpha - s->rule->alpha_min);
        if (s->rule->depth > 0 && info->iterations > PATIENCE) {
            memcpy(s->plain, s->gamma, s->bytes);
            anderson_next(&s->anderson, s->start, s->gamma);
            s->extrapolated = true;
        }
    }
    info->iterations = limit;
    info->reason = "iterations";
    return take_better(s) ? STN_OK : STN_NOT_CONVERGED;
}

stn_status sweep_solve(const sweep_rule *rule, const stn_solve_control *control, double *gamma, stn_solve_info *info,
                       stn_error *err) {
    sweeper s = {.rule = rule, .alpha = rule->alpha, .before = (double)INFINITY, .least = (double)INFINITY};
    *info = (stn_solve_info){.cost = NAN, .reason = "residual"};
    if (!prepare(&s, control, gamma)) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    stn_status status = iterate(&s, control->max_iterations, info, err);
    if (status >= STN_OK) {
        packed_unpack(&s.problem, s.gamma, gamma);
    }
    return status;
}
