// SPDX-License-Identifier: Apache-2.0
// A point on a floor under any law. Friction of an isotropic law is along the slip: two unknowns remain, the speed s
// along v_star's tangent and n along the normal,
//
//     m (n - n*) = gamma_n(s, n),   m (s - s*) = gamma_t(s, n)
//
// and because the potential is convex each is monotone, the second also with n(s) from the first.
#include "solver_point.h"

#include <string.h>

static const double mass = 2.0;

stn_problem *point_on_floor(solver_subject *s, const double v_star[3]) {
    static const double rows[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    problem_spec spec = {.points = 1, .contacts = 1, .sets = 1u << STN_SET_CONE, .one_a_pair = true, .dt = 0.01};
    stn_problem *p = subject_problem(s, &spec);
    if (p == NULL) {
        return NULL;
    }
    stn_constraint *c = &p->constraints[0];
    c->J[0].values = rows;
    c->frame = stn_mat3_identity();
    c->mu1 = c->mu2 = 0.5;
    for (int32_t a = 0; a < 3; a++) {
        p->trees[0].A.values[a] = mass;
        p->v_star[a] = v_star[a];
        p->v0[a] = p->v_guess[a] = p->bias[a] = 0.0;
    }
    return p;
}

/// The law of the one contact, ready to be asked.
typedef struct point_law {
    const stn_law_ops *ops;
    const void *self;
    stn_law_batch batch;
    double *v_c, *cost, *gamma;
} point_law;

static bool prepare(solver_subject *s, const stn_problem *p, point_law *law) {
    static const int32_t first = 0;
    const stn_law_ops *ops = s->law->desc->ops.law;
    double *reals = STN_ARENA_ZEROED(s->arena, (ops->coefficient_count + 7) * STN_LANES, double);
    if (!subject_has(s, reals)) {
        return false;
    }
    *law = (point_law){.ops = ops, .self = s->law->self, .batch = {1, STN_LANES, &first, reals}};
    law->v_c = reals + ops->coefficient_count * STN_LANES;
    law->gamma = law->v_c + 3 * STN_LANES;
    law->cost = law->gamma + 3 * STN_LANES;
    stn_status status = ops->prepare(law->self, p, &law->batch, subject_memory(s, s->law, p), &s->error);
    if (status != STN_OK) {
        trial_fail(s->trial, "prepare of law %s: %s", s->law->desc->id, s->error.text);
    }
    return status == STN_OK;
}

/// Impulses along slip and normal at (slip, n).
static void impulse_at(const point_law *law, double slip, double n, double *tangent, double *normal) {
    law->v_c[0] = slip;
    law->v_c[2 * STN_LANES] = n;
    law->ops->evaluate(law->self, &law->batch, law->v_c, law->cost, law->gamma, NULL);
    *tangent = law->gamma[0];
    *normal = law->gamma[2 * STN_LANES];
}

/// The root n of the first equation, and the rest of the second there.
static double tangent_rest(const point_law *law, double slip, double slip_star, double n_star, double *n) {
    double low = n_star, high = n_star + 1.0, tangent, normal;
    for (impulse_at(law, slip, high, &tangent, &normal); normal > mass * (high - n_star) && high < 1e6;
         impulse_at(law, slip, high, &tangent, &normal)) {
        high += 2.0 * (high - n_star);
    }
    for (int32_t i = 0; i < 100; i++) {
        *n = 0.5 * (low + high);
        impulse_at(law, slip, *n, &tangent, &normal);
        *(normal > mass * (*n - n_star) ? &low : &high) = *n;
    }
    return mass * (slip - slip_star) - tangent;
}

static void find_root(const point_law *law, const double v_star[3], double v[3]) {
    double slip_star = hypot(v_star[0], v_star[1]), low = 0.0, high = slip_star, slip = 0.0;
    for (int32_t i = 0; i < 100; i++) {
        slip = 0.5 * (low + high);
        *(tangent_rest(law, slip, slip_star, v_star[2], &v[2]) < 0.0 ? &low : &high) = slip;
    }
    v[0] = slip * v_star[0] / slip_star;
    v[1] = slip * v_star[1] / slip_star;
}

static double check_point(solver_subject *s, const char *what, const double v_star[3], double limit) {
    subject_reset(s);
    stn_problem *p = point_on_floor(s, v_star);
    if (p == NULL) {
        return 0.0;
    }
    stn_constraint *c = &p->constraints[0];
    c->phi0 = stn_plugin_says(s->law, "gap") ? 5e-4 : -1e-3;
    c->stiffness = 1e4;
    c->relaxation_time = 0.005;
    c->dissipation = 5.0;
    solver_answer a = subject_solve(s, p); // w, which laws read, is in p from here on
    point_law law;
    double v[3], worst = 0.0;
    if (!subject_expect_solved(s, p, &a, what) || !prepare(s, p, &law)) {
        return 0.0;
    }
    find_root(&law, v_star, v);
    for (int32_t k = 0; k < 3; k++) {
        double error = fabs(a.v[k] - v[k]);
        worst = error > worst || isnan(error) ? error : worst;
    }
    if (!(worst <= limit)) {
        trial_fail(s->trial, "%s: v = (%.9g, %.9g, %.9g) m/s, by bisection (%.9g, %.9g, %.9g)", what, a.v[0], a.v[1],
                   a.v[2], v[0], v[1], v[2]);
    }
    return worst;
}

void solver_point_by_bisection(solver_subject *s) {
    static const double holds[3] = {0.003, -0.002, -1.0}, slides[3] = {3.0, -4.0, -1.0}, leaves[3] = {0.1, 0.1, 2.2};
    const double limit = 1e-7; // far above the tolerance of the solver
    double worst = check_point(s, "a point that hardly slips", holds, limit);
    worst = fmax(worst, check_point(s, "a point that slides", slides, limit));
    worst = fmax(worst, check_point(s, "a point that lifts off", leaves, limit));
    trial_ok(s->trial,
             "a point hardly slips, slides and lifts off under law %s as by bisection, to %.1e m/s (limit %.1e)",
             s->law->desc->id, worst, limit);
}
