// SPDX-License-Identifier: Apache-2.0
// APGD: accelerated projected gradient descent with adaptive restart on the impulses of the convex relaxation
// [mazhar-2015], [odonoghue-2015].
//
//     min over x in K of  f(x) = x^T H x/2 + q^T x,   g = H x + q,   P the projection on K        (scaled_dual.h)
//     x' = P(y - g(y)/L),   L such that f(x') <= its quadratic bound at y
//     y  = x' + beta (x' - x),   beta by Nesterov's theta;  y = x', theta = 1 when the step turns back
//
// g(y) follows from g(x') and g(x): one product a trial of L.
#include <math.h>
#include <string.h>

#include "common/body_lanes.h"
#include "common/cone_lanes.h"
#include "common/scaled_dual.h"

/// A point with the gradient there.
typedef struct point {
    double *x, *g; // (size)
} point;

typedef struct apgd {
    scaled_dual dual;
    int32_t size;
    point points[3];
    point *at, *next, *best; // iterate, trial, the iterate of the least residual so far, which may be `at`
    point ahead;             // extrapolated
    double theta, L;
} apgd;

// Vectors are read four numbers at a time; they end in zeros.
STN_KERNEL_INLINE packed_v4 at(const double *x, int32_t r) {
    return *(const packed_v4 *)(x + r);
}

STN_KERNEL_INLINE double sum(packed_v4 parts) {
    return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

/// x' before its projection.
STN_KERNEL static void take_step(apgd *s) {
    const double *x = s->ahead.x, *g = s->ahead.g, step = 1.0 / s->L;
    for (int32_t r = 0; r < s->size; r += 4) {
        *(packed_v4 *)(s->next->x + r) = at(x, r) - step * at(g, r);
    }
}

/// 0 where d^T H d <= L |d|^2, d = x' - y, to the rounding of H d, or with NaN, which ends the search; else d^T H d
/// over |d|^2, which L must be at least.
STN_KERNEL static double beyond_bound(const apgd *s) {
    const double *x = s->ahead.x, *g = s->ahead.g, *next = s->next->x, *slope = s->next->g;
    packed_v4 curvature = {0.0}, square = {0.0}, rounding = {0.0};
    for (int32_t r = 0; r < s->size; r += 4) {
        const packed_v4 d = at(next, r) - at(x, r);
        const packed_v4 sizes =
            lanes_absolute(at(slope, r)) + lanes_absolute(at(g, r)) + s->L * lanes_absolute(at(next, r));
        curvature += d * (at(slope, r) - at(g, r));
        rounding += lanes_absolute(d) * sizes;
        square += d * d;
    }
    const double above = sum(curvature), all = sum(square);
    return above > s->L * all + 1e-15 * sum(rounding) ? above / all : 0.0;
}

/// (y - x').(x' - x).
STN_KERNEL static double turn(const apgd *s) {
    const double *x = s->at->x, *ahead = s->ahead.x, *next = s->next->x;
    packed_v4 along = {0.0};
    for (int32_t r = 0; r < s->size; r += 4) {
        along += (at(ahead, r) - at(next, r)) * (at(next, r) - at(x, r));
    }
    return sum(along);
}

/// y = x' + beta (x' - x), and its gradient.
STN_KERNEL static void extrapolate(apgd *s, double beta) {
    const point *now = s->next, *before = s->at;
    for (int32_t r = 0; r < s->size; r += 4) {
        const packed_v4 x = at(now->x, r), g = at(now->g, r);
        *(packed_v4 *)(s->ahead.x + r) = x + beta * (x - at(before->x, r));
        *(packed_v4 *)(s->ahead.g + r) = g + beta * (g - at(before->g, r));
    }
}

static stn_status iterate(apgd *s, const stn_solve_control *control, stn_solve_info *info, stn_error *err) {
    dual_residual residual = scaled_dual_residual(&s->dual, true, s->at->x, s->at->g), least = residual;
    while (!scaled_dual_done(&s->dual, residual, control)) {
        if (!isfinite(residual.speed)) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "iteration %d: the residual is %g m/s: numbers of the problem are too large",
                            info->iterations, residual.speed);
        }
        if (info->iterations >= control->max_iterations) {
            info->reason = "iterations";
            return STN_NOT_CONVERGED;
        }
        // x' of the largest step that the bound allows: d^T H d <= L |d|^2 for d = x' - y, to the rounding of H d. For
        // a quadratic f that is the test of f(x') against its bound, without the digits that a difference of costs
        // loses.
        for (double above = INFINITY; above > 0.0;) {
            take_step(s);
            scaled_dual_project(&s->dual, s->next->x);
            scaled_dual_gradient(&s->dual, s->next->x, s->next->g);
            info->line_search_evaluations++;
            above = beyond_bound(s);
            s->L = above > 0.0 ? fmax(above, 2.0 * s->L) : s->L;
        }
        // The next y from x and x', and x' becomes x. Momentum has carried it too far where the step from x to x' goes
        // against the one that the projection made from y. The gradient in place of y - x' would see a slope also where
        // the cone holds against it, and restart too seldom.
        double along = turn(s);
        double theta2 = s->theta * s->theta, theta = 0.5 * (s->theta * sqrt(theta2 + 4.0) - theta2);
        double beta = s->theta * (1.0 - s->theta) / (theta2 + theta);
        if (along > 0.0) {
            theta = 1.0;
            beta = 0.0;
        }
        extrapolate(s, beta);
        s->at = s->next;
        s->theta = theta;
        s->L *= 0.9; // the bound may be lower elsewhere
        info->iterations++;
        residual = scaled_dual_residual(&s->dual, true, s->at->x, s->at->g);
        if (residual.speed <= least.speed) {
            least = residual;
            s->best = s->at;
        }
        for (int32_t k = 0; k < STN_COUNT(s->points); k++) {
            s->next = &s->points[k] != s->at && &s->points[k] != s->best ? &s->points[k] : s->next;
        }
    }
    s->best = s->at;
    info->reason = "residual";
    return STN_OK;
}

static stn_status solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    (void)self;
    apgd s;
    stn_status status;
    if (body_lanes_fit(problem)) {
        status = scaled_dual_build_bodies(problem, control->inverse, control->arena, &s.dual, err);
    } else {
        stn_delassus delassus;
        status = stn_delassus_build(control->inverse, problem, control->arena, &delassus, err);
        if (status == STN_OK) {
            status = scaled_dual_build(&delassus, control->arena, &s.dual, err);
        }
    }
    if (status != STN_OK) {
        return status;
    }
    s.at = s.best = &s.points[0];
    s.next = &s.points[1];
    s.size = s.dual.H.size;
    point *const points[] = {&s.points[0], &s.points[1], &s.points[2], &s.ahead};
    const int64_t room = s.size + 8;
    double *vectors = STN_ARENA(control->arena, 2 * room * STN_COUNT(points), double);
    if (vectors == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d rows: out of memory", problem->row_count);
    }
    for (int32_t i = 0; i < STN_COUNT(points); i++) {
        *points[i] = (point){vectors + 2 * i * room, vectors + (2 * i + 1) * room};
    }
    memset(s.at->x, 0, (size_t)room * sizeof(double)); // the first; the others are written whole
    // At the impulses given, or at the least ones where those cost more. What is left of impulses of the step before is
    // slow to go: momentum begins as large as it would be after 18 iterations.
    static const double given_theta = 0.1;
    s.theta = given_theta;
    scaled_dual_enter(&s.dual, solution->gamma, s.at->x);
    for (int32_t again = 0; again < 2; again++) {
        scaled_dual_project(&s.dual, s.at->x);
        scaled_dual_gradient(&s.dual, s.at->x, s.at->g);
        if (!(scaled_dual_cost(&s.dual, s.at->x, s.at->g) > 0.0)) {
            break;
        }
        memset(s.at->x, 0, (size_t)s.size * sizeof(double));
        s.theta = 1.0;
    }
    memcpy(s.ahead.x, s.at->x, (size_t)s.size * sizeof(double));
    memcpy(s.ahead.g, s.at->g, (size_t)s.size * sizeof(double));
    s.L = 1.0; // the mean of the diagonal of H, or less
    status = iterate(&s, control, info, err);
    if (status >= STN_OK) {
        info->cost = scaled_dual_cost(&s.dual, s.best->x, s.best->g);
        scaled_dual_leave(&s.dual, s.best->x, solution->gamma);
    }
    return status;
}

static const stn_solver_ops ops = {
    .size = sizeof ops,
    .formulation = STN_CCP,
    .yields = STN_YIELDS_IMPULSE,
    .needs = STN_NEEDS_INVERSE | STN_REGULARIZED_BY_LAW,
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY,
    .solve = solve,
    .max_iterations = 5000,
    .supports = STN_SUPPORTS_LOCAL_FORM,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_SOLVER,
    .id = "apgd",
    .version = "0.1.0",
    .summary = "Accelerated projected gradient descent over impulses, convex relaxation",
    .reference = "mazhar-2015 (APGD), odonoghue-2015 (restart)",
    .ops.solver = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
