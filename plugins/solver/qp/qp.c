// SPDX-License-Identifier: Apache-2.0
// QP: Anitescu's convex quadratic program with friction on polyhedral cones (rays.h), solved over impulses by a dual
// active set (active_set.h) or by an interior point (interior.h). Both begin with the set of the step before.
//
// Where an A is singular the program is solved again and again with delta D (v - x) on the left of the balance, x the
// velocity before: a proximal point method, which ends when A alone balances the impulses.
#include <float.h>
#include <math.h>
#include <string.h>

#include "differentiate.h"
#include "interior.h"
#include "minimum_norm.h"
#include "nearest.h"
#include "pressing.h"
#include "sparse_norm.h"

enum {
    MOST_UNKNOWNS = 4000, // of the active set: H and L of 128 MB each; minimum_norm takes more
    FEW_UNKNOWNS = 400,   // up to which it takes the fewer instructions
    MOST_DIRECTIONS = 256
};

typedef struct qp_config {
    int32_t method, directions, impulses;
} qp_config;

enum { METHOD_AUTO, METHOD_ACTIVE_SET, METHOD_INTERIOR_POINT };
static const char *const methods[] = {"auto", "active_set", "interior_point", NULL};
enum { IMPULSES_MINIMUM_NORM, IMPULSES_VERTEX };
static const char *const impulses[] = {"minimum_norm", "vertex", NULL};

static const stn_param params[] = {
    STN_PARAM_CHOICE(qp_config, method, methods, METHOD_AUTO,
                     "active_set: dense, up to 4000 rays; interior_point: sparse, global problems; auto: active_set "
                     "up to 400 rays and in the local form"),
    STN_PARAM_INT(qp_config, directions, "1", 4.0, 4.0, 256.0, "rays of a friction cone, an even number"),
    STN_PARAM_CHOICE(qp_config, impulses, impulses, IMPULSES_MINIMUM_NORM,
                     "which impulses to report where many give the same motion: minimum_norm has the least sum of "
                     "squares along the rays, vertex presses along as few rays as possible"),
};

/// What a constraint's unknowns were in the step before.
typedef struct qp_memory {
    uint64_t free[MOST_DIRECTIONS / 64]; // bits
    uint32_t high;                       // bits of rows at their upper bounds
    bool used;
} qp_memory;

typedef struct qp {
    const stn_problem *problem;
    const stn_solve_control *control;
    rays rays;
    active_set set;
    bool sparse;    // by `interior`, without a matrix over the rays
    interior inner; // of a sparse one
    stn_solution *solution;
    stn_solve_info *info;
    double *speeds;  // (row_count) v_c - v_hat + R gamma
    proximal points; // where an A is singular
    bool *pressed;   // (n) unknowns that were above their lower bound in some proximal step
} qp;

// ------------------------------------------------------------------------------------------------------------- memory

static qp_memory *memory_of(const qp *s, const stn_constraint *c) {
    return s->control->memory != NULL && c->memory >= 0 ? (qp_memory *)s->control->memory + c->memory : NULL;
}

/// Impulses of constraint i as its unknowns: of a cone along the two rays about the direction of friction, and what is
/// left of the normal one along the first and the ray opposite to it.
static void split_impulses(qp *s, int32_t i) {
    active_set *set = &s->set;
    const stn_constraint *c = &s->problem->constraints[i];
    const double *gamma = s->solution->gamma + c->row;
    const int32_t first = s->rays.start[i], count = s->rays.start[i + 1] - first;
    for (int32_t k = 0; k < count && !stn_constraint_has_cone(c); k++) {
        set->x[first + k] = fmin(fmax(gamma[k], set->lo[first + k]), set->hi[first + k]);
    }
    if (!stn_constraint_has_cone(c) || !(gamma[2] > 0.0)) {
        return;
    }
    if (count == 1) {
        set->x[first] = gamma[2];
        return;
    }
    const rays_sector sector = rays_find_sector(&s->rays, i, gamma);
    const double rest = gamma[2] - sector.along[0] - sector.along[1];
    const double least = 1e-12 * gamma[2]; // less is rounding of an impulse at an edge
    for (int32_t k = 0; k < 2; k++) {
        set->x[first + sector.ray[k]] += sector.along[k] > least ? sector.along[k] : 0.0;
    }
    set->x[first + sector.ray[0]] += rest > least ? 0.5 * rest : 0.0;
    set->x[first + (sector.ray[0] + count / 2) % count] += rest > least ? 0.5 * rest : 0.0;
}

/// Makes u free; false: it depends on those that are, or moves nothing.
static bool release(qp *s, int32_t u) {
    active_set *set = &s->set;
    if (!s->sparse) {
        return active_set_release(set, u);
    }
    if (!(set->size[u] > 0.0)) {
        return false;
    }
    set->place[u] = set->count;
    set->free[set->count++] = u;
    return true;
}

/// The free set of the step before; of new constraints that of the impulses given.
static void recall(qp *s) {
    active_set *set = &s->set;
    for (int32_t i = 0; i < s->problem->constraint_count; i++) {
        const stn_constraint *c = &s->problem->constraints[i];
        const qp_memory *memory = memory_of(s, c);
        const bool known = memory != NULL && memory->used, cone = stn_constraint_has_cone(c);
        const double least = cone ? 1e-9 * s->solution->gamma[c->row + 2] : 0.0;
        for (int32_t u = s->rays.start[i]; u < s->rays.start[i + 1]; u++) {
            const int32_t k = u - s->rays.start[i];
            const bool inside = set->x[u] > set->lo[u] + least && set->x[u] < set->hi[u];
            const bool free = known ? (memory->free[k / 64] >> k % 64 & 1u) != 0 : inside;
            double fixed = set->lo[u] > 0.0 ? set->lo[u] : fmin(set->hi[u], 0.0);
            if (known && !cone) {
                double bound = (memory->high >> k & 1u) != 0 ? set->hi[u] : set->lo[u];
                fixed = isfinite(bound) ? bound : fixed;
            } else if (!cone && !inside) {
                fixed = set->x[u];
            }
            if (set->lo[u] == set->hi[u] || !free || !release(s, u)) {
                set->x[u] = fixed;
            }
        }
    }
}

static void remember(const qp *s) {
    const active_set *set = &s->set;
    for (int32_t i = 0; i < s->problem->constraint_count; i++) {
        qp_memory *memory = memory_of(s, &s->problem->constraints[i]);
        if (memory == NULL) {
            continue;
        }
        *memory = (qp_memory){.used = true};
        for (int32_t u = s->rays.start[i]; u < s->rays.start[i + 1]; u++) {
            const int32_t k = u - s->rays.start[i];
            memory->free[k / 64] |= (uint64_t)(set->place[u] >= 0) << k % 64;
            memory->high |= k < STN_MAX_ROWS && set->x[u] == set->hi[u] ? 1u << k : 0u;
        }
    }
}

// --------------------------------------------------------------------------------------------------------------- end

/// Speeds that tolerances are relative to, and what is rounding beside them.
typedef struct speed_scale {
    double largest, rounding;
} speed_scale;

static void note_speeds(const qp *s, const double *v, speed_scale *out) {
    const stn_problem *p = s->problem;
    stn_problem_contact_velocity(p, v, true, s->speeds);
    for (int32_t r = 0; r < p->row_count; r++) {
        out->largest = fmax(out->largest, fabs(s->speeds[r]));
    }
    out->rounding = fmax(out->rounding, 64.0 * DBL_EPSILON * rays_terms(&s->rays, v, false));
}

/// What a speed along the ray of unknown u is divided by to be one of its row: mu may be large.
static double length_of(const qp *s, int32_t u) {
    const double *ray = s->rays.ray + 3 * (size_t)u; // 0 of rows with bounds
    const double square = ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2];
    return square > 0.0 ? sqrt(square) : 1.0;
}

static speed_scale find_scale(qp *s) {
    const stn_problem *p = s->problem;
    speed_scale out = {0.0, 0.0};
    // Without impulses; where an A is singular P resists with a share of what holds there. Impulses within bounds do
    // not reach a target beyond what they change.
    for (int32_t u = 0; u < s->set.n; u++) {
        const double change = s->set.size[u] * s->set.size[u] * (s->set.hi[u] - s->set.lo[u]);
        out.largest = fmax(out.largest, fmin(fabs(s->set.q[u]), change) / length_of(s, u));
    }
    out.largest *= s->rays.proximal != NULL ? RAYS_SHARE : 1.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t r = c->row; r < c->row + c->rows; r++) {
            const double change = stn_constraint_has_cone(c) ? (double)INFINITY : c->w * (p->hi[r] - p->lo[r]);
            out.largest = fmax(out.largest, fmax(fmin(fabs(p->v_hat[r]), change), fabs(p->bias[r])));
            out.largest = fmax(out.largest, p->form == STN_FORM_LOCAL ? fabs(s->rays.delassus.b[r]) : 0.0);
        }
    }
    if (p->form == STN_FORM_GLOBAL) {
        note_speeds(s, p->v_star, &out);
        note_speeds(s, s->solution->v, &out);
    }
    return out;
}

/// What v and gamma ask of the rays, by the problem's own numbers: g of every free unknown is 0, of one at a bound it
/// has the sign that keeps it there. The largest that is wrong [m/s].
static double find_error(qp *s) {
    const active_set *set = &s->set;
    double error = 0.0;
    rays_speeds(&s->rays, s->solution->v, s->solution->gamma, s->speeds);
    rays_gradient(&s->rays, s->speeds, set->g);
    for (int32_t u = 0; u < set->n; u++) {
        double g = set->g[u], low = set->x[u] < set->hi[u] ? -g : 0.0, high = set->x[u] > set->lo[u] ? g : 0.0;
        double own = fmax(low, high);
        error = own > error || isnan(g) ? (isnan(g) ? (double)NAN : own) : error;
    }
    return error;
}

/// v, gamma and g of x.
static void find_solution(qp *s) {
    rays_impulses(&s->rays, s->set.x, s->solution->gamma);
    rays_velocity(&s->rays, s->solution->gamma, s->solution->v);
    rays_speeds(&s->rays, s->solution->v, s->solution->gamma, s->speeds);
    rays_gradient(&s->rays, s->speeds, s->set.g);
}

static void name_contradiction(const qp *s) {
    const active_set *set = &s->set;
    const stn_problem *p = s->problem;
    int32_t other = -1, first = 0, second = 0;
    double most = 0.0;
    for (int32_t k = 0; k < set->count; k++) {
        double own = fabs(set->follow[k]) * set->size[set->free[k]];
        if (own > most) {
            most = own;
            other = set->free[k];
        }
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        first = set->entering >= s->rays.start[i] ? i : first;
        second = other >= s->rays.start[i] ? i : second;
    }
    const stn_constraint *a = &p->constraints[first], *b = &p->constraints[second];
    if (other < 0) {
        stn_log(s->control->context, STN_LOG_NOTE,
                "solver qp: nothing can satisfy constraint %d (%s, id %llu): no dof moves it", first,
                stn_constraint_kind_name(a->kind), (unsigned long long)a->id);
        return;
    }
    stn_log(s->control->context, STN_LOG_NOTE,
            "solver qp: constraints contradict each other, among them %d (%s, id %llu) and %d (%s, id %llu)", first,
            stn_constraint_kind_name(a->kind), (unsigned long long)a->id, second, stn_constraint_kind_name(b->kind),
            (unsigned long long)b->id);
}

// --------------------------------------------------------------------------------------------------------------- solve

/// The program with the centre v. STN_OK, or STN_NOT_CONVERGED with a reason.
static stn_status solve_program(void *self, const double *v, stn_error *err) {
    enum { REFINEMENTS = 2 };
    (void)err;
    qp *s = self;
    rays_centre(&s->rays, v, &s->set);
    const int32_t most = s->control->max_iterations;
    int32_t *moves = &s->info->iterations;
    active_set_end end = s->sparse ? interior_solve(&s->inner, most, moves) : active_set_solve(&s->set, most, moves);
    for (int32_t k = 0; k < REFINEMENTS && end == ACTIVE_SET_SOLVED && !s->sparse; k++) {
        find_solution(s);
        active_set_correct(&s->set);
    }
    find_solution(s);
    for (int32_t u = 0; u < s->set.n; u++) {
        s->pressed[u] = s->pressed[u] || s->set.x[u] > s->set.lo[u];
    }
    const bool best = s->sparse && end == ACTIVE_SET_SOLVED && !s->inner.exact; // the best that was found
    s->points.vague = s->points.vague || best || end == ACTIVE_SET_LIMIT;
    if (end == ACTIVE_SET_SOLVED) {
        return STN_OK;
    }
    s->info->reason = end == ACTIVE_SET_LIMIT ? "iterations" : "contradiction";
    if (end == ACTIVE_SET_CONTRADICTION) {
        name_contradiction(s);
    }
    return STN_NOT_CONVERGED;
}

/// Impulses of a constraint all of whose trees hold no more than rounding of the proximal term are none.
static void drop_rounding(qp *s) {
    const stn_problem *p = s->problem;
    active_set *set = &s->set;
    double *impulse = s->rays.work;
    stn_problem_impulse_sizes(p, s->solution->gamma, impulse);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        bool rounding = true;
        for (int32_t b = 0; b < stn_constraint_block_count(c); b++) {
            const stn_problem_tree *tree = &p->trees[stn_constraint_block(c, b)->tree];
            rounding = rounding && proximal_is_rounding(tree, s->rays.scale, s->rays.proximal, s->solution->v, impulse);
        }
        for (int32_t u = s->rays.start[i]; u < s->rays.start[i + 1] && rounding; u++) {
            set->x[u] = fmin(fmax(0.0, set->lo[u]), set->hi[u]);
        }
    }
    rays_impulses(&s->rays, set->x, s->solution->gamma);
}

/// Until A alone balances, where one is singular; once elsewhere.
static stn_status solve_programs(qp *s, stn_error *err) {
    s->points = (proximal){.problem = s->problem,
                           .control = s->control,
                           .weight = s->rays.proximal,
                           .scale = s->rays.scale,
                           .solution = s->solution,
                           .program = solve_program,
                           .self = s,
                           .exact = true};
    if (s->points.weight == NULL) {
        return solve_program(s, s->solution->v, err);
    }
    const stn_status status = proximal_solve(&s->points, err);
    s->info->reason = s->points.reason != NULL ? s->points.reason : s->info->reason;
    return status;
}

/// Are the impulses given a solution, to round-off?
static bool start_solves(qp *s) {
    active_set_begin(&s->set);
    for (int32_t i = 0; i < s->problem->constraint_count; i++) {
        split_impulses(s, i);
    }
    double *v = STN_ARENA(s->control->arena, s->problem->nv + 1, double);
    double *gamma = STN_ARENA(s->control->arena, s->problem->row_count + 1, double);
    if (v == NULL || gamma == NULL) {
        return false;
    }
    memcpy(v, s->solution->v, (size_t)s->problem->nv * sizeof *v);
    memcpy(gamma, s->solution->gamma, (size_t)s->problem->row_count * sizeof *gamma);
    rays_impulses(&s->rays, s->set.x, s->solution->gamma);
    bool balanced = true;
    if (s->rays.proximal != NULL) {
        proximal_balance m = rays_balance(&s->rays, v, s->solution->gamma);
        balanced = m.value <= 1e-13 * m.size;
    }
    rays_centre(&s->rays, v, &s->set);
    rays_velocity(&s->rays, s->solution->gamma, s->solution->v);
    const speed_scale speed = find_scale(s);
    if (balanced && find_error(s) <= 1e-12 * speed.largest + speed.rounding) {
        return true;
    }
    memcpy(s->solution->v, v, (size_t)s->problem->nv * sizeof *v);
    memcpy(s->solution->gamma, gamma, (size_t)s->problem->row_count * sizeof *gamma);
    return false;
}

/// Least impulses into x, v and gamma of them, and the error that is left. Those of a full matrix are corrected until
/// they err no more than twice as much as `before`, or no less for another correction. False: out of memory.
static bool find_least(qp *s, double before, double *error) {
    enum { MOST = 20 };
    minimum_norm least;
    bool enough = s->sparse ? sparse_norm(&s->inner, s->control->max_iterations)
                            : minimum_norm_prepare(&s->rays, &s->set, &least);
    if (!enough) {
        return false;
    }
    if (!s->sparse) {
        minimum_norm_choose(&least);
    }
    find_solution(s);
    *error = find_error(s);
    double last = INFINITY;
    for (int32_t k = 0; k < MOST && !s->sparse && *error > 2.0 * before && *error < 0.9 * last; k++) {
        last = *error;
        minimum_norm_correct(&least);
        find_solution(s);
        *error = find_error(s);
    }
    return true;
}

/// Is the solution, off by `found`, as near as one that is off by `error` and `balance`, but for rounding?
static bool is_as_near(qp *s, double found, double error, proximal_balance balance) {
    int32_t largest = 0;
    for (int32_t u = 1; u < s->set.n; u++) {
        largest = s->set.size[u] > s->set.size[largest] ? u : largest;
    }
    const double allowed = 2.0 * error + 4.0 * active_set_rounding(&s->set, largest, active_set_energy(&s->set));
    const proximal_balance now = rays_balance(&s->rays, s->solution->v, s->solution->gamma);
    return found <= allowed && now.value <= 2.0 * balance.value + 1e-13 * balance.size;
}

/// Other impulses for the same velocities, where digits allow it.
static bool choose_impulses(qp *s) {
    const size_t nv = (size_t)s->problem->nv, n = (size_t)s->set.n;
    double *v = STN_ARENA(s->control->arena, nv + 1, double), *x = STN_ARENA(s->control->arena, n + 1, double);
    if (v == NULL || x == NULL) {
        return false;
    }
    memcpy(v, s->solution->v, nv * sizeof *v);
    memcpy(x, s->set.x, n * sizeof *x);
    const double error = find_error(s);
    const proximal_balance balance = rays_balance(&s->rays, v, s->solution->gamma);
    double found;
    if (!find_least(s, error, &found)) {
        return false;
    }
    if (!is_as_near(s, found, error, balance)) {
        stn_log(s->control->context, STN_LOG_NOTE,
                "solver qp: the impulses are not those of the least sum of squares: digits do not allow it");
        memcpy(s->set.x, x, n * sizeof *x);
        memcpy(s->solution->v, v, nv * sizeof *v);
        rays_impulses(&s->rays, x, s->solution->gamma);
    }
    return true;
}

/// Do all rest that pressed in some step? Then v is the nearest to the start already: what proximal steps, also those
/// that go ahead, have moved it by is a sum of their impulses.
static bool all_rest(qp *s) {
    find_error(s); // for g
    const double energy = active_set_energy(&s->set);
    for (int32_t u = 0; u < s->set.n; u++) {
        if (s->pressed[u] && fabs(s->set.g[u]) > 8.0 * active_set_rounding(&s->set, u, energy)) {
            return false;
        }
    }
    return true;
}

/// The larger one, and no number where one is none.
static double worse_of(double a, double b) {
    return isnan(a) || isnan(b) ? (double)NAN : fmax(a, b);
}

static stn_status judge(qp *s) {
    const speed_scale speed = find_scale(s);
    const double error = find_error(s);
    double absolute = 0.0;
    for (int32_t i = 0; i < s->problem->constraint_count; i++) {
        absolute = fmax(absolute, s->control->absolute_tolerance * sqrt(fmax(s->problem->constraints[i].w, 0.0)));
    }
    const double allowed = fmax(s->control->tolerance * speed.largest, fmax(speed.rounding, absolute));
    double worst = !isfinite(allowed) ? (double)NAN : error <= allowed ? 0.0 : error / allowed;
    if (s->problem->form == STN_FORM_GLOBAL) {
        const proximal_balance m = rays_balance(&s->rays, s->solution->v, s->solution->gamma);
        const double bound = s->control->absolute_tolerance + s->control->tolerance * m.size;
        const double off = !isfinite(m.size) ? (double)NAN : m.value <= bound ? 0.0 : m.value / bound;
        worst = worse_of(worst, off);
    }
    if (s->rays.proximal != NULL) {
        double *work = STN_ARENA(s->control->arena, 3 * (size_t)s->problem->nv + 1, double);
        const double off = work == NULL ? (double)INFINITY
                                        : stn_problem_imbalance(s->problem, s->control->singular, s->solution->v,
                                                                s->solution->gamma, work);
        worst = worse_of(worst, off <= s->control->tolerance ? 0.0 : off / s->control->tolerance);
    }
    s->info->reason = worst == 0.0 ? "residual" : "stagnation";
    return worst == 0.0 ? STN_OK : (worst <= 1e3 ? STN_STALLED : STN_NOT_CONVERGED);
}

/// `advice`: what to do where the matrix would be too large.
static stn_status check_size(const qp_config *config, const stn_problem *problem, const char *advice, stn_error *err) {
    const int64_t unknowns = rays_count(problem, config->directions);
    return unknowns <= MOST_UNKNOWNS
               ? STN_OK
               : stn_fail(err, STN_ERR_UNSUPPORTED,
                          "%lld unknowns (%d constraints, %d directions) as a full matrix, at most %d: %s",
                          (long long)unknowns, problem->constraint_count, config->directions, MOST_UNKNOWNS, advice);
}

/// Of all velocities with these impulses the nearest to `start`, by the full matrix whatever the method; with more rays
/// than that takes v stays the one that proximal steps came to.
static stn_status choose_velocity(qp *s, const qp_config *config, const double *start, stn_error *err) {
    const size_t nv = (size_t)s->problem->nv, n = (size_t)s->set.n;
    rays own = s->rays;
    active_set set = s->set;
    double *v = STN_ARENA(s->control->arena, nv + 1, double);
    bool *marks = STN_ARENA_ZEROED(s->control->arena, n + 1, bool);
    if (v == NULL || marks == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d unknowns: out of memory", s->set.n);
    }
    if (n > MOST_UNKNOWNS || all_rest(s)) {
        return STN_OK;
    }
    stn_status status = STN_OK;
    if (s->sparse) {
        status = rays_build(s->problem, s->control, config->directions, RAYS_DENSE, &own, &set, err);
    }
    if (status != STN_OK) {
        return status;
    }
    memcpy(v, s->solution->v, nv * sizeof *v);
    const double error = find_error(s);
    const proximal_balance balance = rays_balance(&s->rays, v, s->solution->gamma);
    pressing_mark(&own, &set, s->solution->gamma, marks);
    status = nearest_solution(&own, &set, start, s->solution->gamma, s->solution->v, marks);
    if (status == STN_OK && !is_as_near(s, find_error(s), error, balance)) {
        memcpy(s->solution->v, v, nv * sizeof *v); // digits do not allow it
    }
    return status != STN_ERR_MEMORY ? STN_OK : stn_fail(err, status, "%d unknowns: out of memory", s->set.n);
}

static stn_status build(const qp_config *config, qp *s, stn_error *err) {
    const stn_problem *problem = s->problem;
    const bool global = problem->form == STN_FORM_GLOBAL;
    const bool many = rays_count(problem, config->directions) > FEW_UNKNOWNS;
    s->sparse = config->method == METHOD_INTERIOR_POINT || (config->method == METHOD_AUTO && many && global);
    if (!s->sparse) {
        const char *advice = global ? "method = interior_point needs none"
                                    : "the local form has no other method; take fewer directions or smaller islands";
        stn_status status = check_size(config, problem, advice, err);
        return status == STN_OK
                   ? rays_build(problem, s->control, config->directions, RAYS_DENSE, &s->rays, &s->set, err)
                   : status;
    }
    if (!global) {
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "method interior_point: the problem has no velocities (local form): active_set");
    }
    stn_status status = rays_build(problem, s->control, config->directions, RAYS_SPARSE, &s->rays, &s->set, err);
    return status == STN_OK ? interior_create(&s->rays, &s->set, s->control, &s->inner, err) : status;
}

static stn_status solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    const qp_config *config = self;
    *info = (stn_solve_info){.cost = NAN, .reason = ""};
    qp s = {.problem = problem, .control = control, .solution = solution, .info = info};
    const int64_t unknowns = rays_count(problem, config->directions);
    double *start = STN_ARENA(control->arena, problem->nv + 1, double);
    s.speeds = STN_ARENA(control->arena, problem->row_count + 1, double);
    s.pressed = STN_ARENA_ZEROED(control->arena, unknowns + 1, bool);
    if (s.speeds == NULL || s.pressed == NULL || start == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d rows: out of memory", problem->row_count);
    }
    memcpy(start, solution->v, (size_t)problem->nv * sizeof *start);
    stn_status status = build(config, &s, err);
    if (status != STN_OK) {
        return status;
    }
    if (!start_solves(&s)) {
        recall(&s);
        status = solve_programs(&s, err);
        if (status < STN_OK) {
            return status;
        }
        remember(&s);
    }
    if (s.rays.proximal == NULL) {
        info->cost = active_set_cost(&s.set);
    }
    if (status != STN_OK) {
        return status;
    }
    if (config->impulses == IMPULSES_MINIMUM_NORM && !choose_impulses(&s)) {
        return stn_fail(err, STN_ERR_MEMORY, "%d unknowns: out of memory", s.set.n);
    }
    if (s.rays.proximal != NULL) {
        drop_rounding(&s);
        status = choose_velocity(&s, config, start, err);
    }
    return status == STN_OK ? judge(&s) : status;
}

static stn_status differentiate(void *self, const stn_problem *problem, const stn_solve_control *control,
                                const stn_solution *solution, const stn_sensitivity *sensitivity, stn_error *err) {
    const qp_config *config = self;
    rays r;
    active_set set;
    if (problem->form != STN_FORM_GLOBAL) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "the problem has no velocities (local form)");
    }
    stn_status status = check_size(
        config, problem, "derivatives need it whatever the method; take fewer directions or smaller islands", err);
    status = status == STN_OK ? rays_build(problem, control, config->directions, RAYS_DENSE, &r, &set, err) : status;
    return status == STN_OK ? differentiate_rays(&r, &set, solution, sensitivity, err) : status;
}

static stn_status create(stn_context *context, const void *config, void **self, stn_error *err) {
    const qp_config *given = config;
    (void)context;
    if (given->directions % 2 != 0) {
        return stn_fail(err, STN_ERR_PARAMETER, "directions = %d, must be even", given->directions);
    }
    *self = (void *)(uintptr_t)config;
    return STN_OK;
}

static void destroy(void *self) {
    (void)self; // the configuration, which is the core's
}

static void destroy_workspace(void *memory) {
    rays_workspace *workspace = memory;
    if (workspace != NULL) {
        symbolic_cache_destroy(workspace->mass);
        symbolic_cache_destroy(workspace->system);
        stn_release(workspace->context, workspace);
    }
}

static stn_status create_workspace(void *self, stn_context *context, void **out, stn_error *err) {
    rays_workspace *workspace = stn_allocate(context, 1, sizeof *workspace);
    if (workspace == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    *workspace = (rays_workspace){.context = context};
    void *mass = NULL, *system = NULL;
    stn_status status = symbolic_cache_create(self, context, &mass, err);
    status = status == STN_OK ? symbolic_cache_create(self, context, &system, err) : status;
    workspace->mass = mass;
    workspace->system = system;
    if (status != STN_OK) {
        destroy_workspace(workspace);
        return status;
    }
    *out = workspace;
    return STN_OK;
}

static const stn_solver_ops ops = {
    .size = sizeof ops,
    .formulation = STN_QP,
    .yields = STN_YIELDS_BOTH,
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY,
    .create_workspace = create_workspace,
    .destroy_workspace = destroy_workspace,
    .solve = solve,
    .max_iterations = 10000,
    .supports = STN_SUPPORTS_SINGULAR_A | STN_SUPPORTS_LOCAL_FORM,
    .differentiate = differentiate,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_SOLVER,
    .id = "qp",
    .version = "0.1.0",
    .summary = "Anitescu's quadratic program of friction on polyhedral cones, dual active set or interior point",
    .reference = "anitescu-2006, pang-2021 equation 10, goldfarb-1983, mehrotra-1992",
    .config_size = sizeof(qp_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .memory_per_constraint = sizeof(qp_memory),
    .create = create,
    .destroy = destroy,
    .ops.solver = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
