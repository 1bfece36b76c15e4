// SPDX-License-Identifier: Apache-2.0
// Line search along dv. With c = dv.A dv,
//
//     l(a)   = l + a dv.(p - force) + a^2 c/2 + potentials(v_c + a dv_c)
//     l'(a)  = dv.(p - force) + a c - dv_c.gamma(a),    l''(a) = c + dv_c.G(a) dv_c
//
// so that a trial costs one pass over the constraints. The last trial is the step taken: its gamma and G are those of
// the new point and are not computed again.
#include <float.h>
#include <math.h>

#include "system.h"

typedef struct ray {
    double linear, quadratic; // dv.(p - force), dv.A dv
    double smooth;            // l without potentials, at a = 0
    double limit;             // largest step
} ray;

typedef struct sample {
    double cost, slope, curvature;
} sample;

enum { MAX_EXACT = 100, MAX_ARMIJO = 40 };

/// A step to try, or to take.
typedef struct move {
    const sap_system *s;
    double a;
} move;

/// A part of the lanes: the potentials, -dv_c.gamma and dv_c.G dv_c.
STN_KERNEL static void try_lanes(void *user, int32_t part, int32_t worker) {
    (void)worker;
    const move *m = user;
    const sap_system *s = m->s;
    const int64_t stride = s->batch.stride;
    const int32_t begin = SAP_LANES * part, end = sap_part_end(part, SAP_LANES, s->batch.stride);
    for (int64_t k = 0; k < 3 * stride; k += stride) {
        for (int64_t i = k + begin; i < k + end; i++) {
            s->trial.v[i] = s->now.v[i] + m->a * s->dv_c[i];
        }
    }
    double *sums = s->sums + 8 * (size_t)part;
    sums[0] = sap_evaluate_part(s, &s->trial, part);
    v4 first = {0.0}, second = {0.0};
    for (int64_t i = begin; i < end; i += 4) {
        const double *v = s->dv_c + i, *gamma = s->trial.gamma + i, *G = s->trial.G + i;
        v4 x = v4_load(v), y = v4_load(v + stride), n = v4_load(v + 2 * stride);
        v4 Gx = v4_load(G) * x + v4_load(G + stride) * y + v4_load(G + 3 * stride) * n;
        v4 Gy = v4_load(G + stride) * x + v4_load(G + 2 * stride) * y + v4_load(G + 4 * stride) * n;
        v4 Gn = v4_load(G + 3 * stride) * x + v4_load(G + 4 * stride) * y + v4_load(G + 5 * stride) * n;
        first -= x * v4_load(gamma) + y * v4_load(gamma + stride) + n * v4_load(gamma + 2 * stride);
        second += x * Gx + y * Gy + n * Gn;
    }
    sums[1] = sum4(first);
    sums[2] = sum4(second);
}

static sample try_step(sap_system *s, const ray *line, double a) {
    move m = {s, a};
    double sums[3];
    sap_by_lanes(s, try_lanes, &m, 3, sums);
    s->trial.cost = sums[0];
    for (int32_t i = 0; i < s->H.line_count; i++) {
        s->trial.line_v[i] = s->now.line_v[i] + a * s->line_dv[i];
    }
    sap_evaluate_lines(s, &s->trial);
    s->evaluations++;
    sample t = {.cost = line->smooth + a * line->linear + 0.5 * a * a * line->quadratic + s->trial.cost,
                .slope = sums[1],
                .curvature = sums[2]};
    t.slope += line->linear + a * line->quadratic;
    t.curvature += line->quadratic;
    for (int32_t i = 0; i < s->H.line_count; i++) {
        t.slope -= s->line_dv[i] * s->trial.line_gamma[i];
        t.curvature += s->line_dv[i] * s->trial.line_G[i] * s->line_dv[i];
    }
    return t;
}

/// v and p of a part, (v - v_star).p and force.v.
STN_KERNEL static void move_velocities(void *user, int32_t part, int32_t worker) {
    (void)worker;
    const move *m = user;
    const sap_system *s = m->s;
    const int32_t end = sap_part_end(part, SAP_VELOCITIES, s->H.nx);
    v4 kinetic[2] = {{0.0}}, work[2] = {{0.0}};
    for (int32_t i = SAP_VELOCITIES * part; i < end; i += 8) {
        UNROLL
        for (int32_t k = 0; k < 2; k++) {
            const int32_t at = i + 4 * k;
            const v4 v = v4_load(s->v + at) + m->a * v4_load(s->dv + at);
            const v4 p = v4_load(s->p + at) + m->a * v4_load(s->dp + at);
            v4_store(s->v + at, v);
            v4_store(s->p + at, p);
            kinetic[k] += (v - v4_load(s->v_star + at)) * p;
            work[k] += v4_load(s->force + at) * v;
        }
    }
    s->sums[8 * part] = sum4(kinetic[0] + kinetic[1]);
    s->sums[8 * part + 1] = sum4(work[0] + work[1]);
}

/// The trial becomes the present point.
static double accept(sap_system *s, double a) {
    move m = {s, a};
    double sums[2];
    sap_by_velocities(s, move_velocities, &m, 2, sums);
    sap_point before = s->now;
    s->now = s->trial;
    s->trial = before;
    s->cost = 0.5 * sums[0] - sums[1] + s->now.cost;
    return a;
}

/// Newton on l'(a) = 0, from a = 1 because that is the answer near the solution. l' rises, so a bracket [low, high] is
/// kept and bisected when Newton leaves it or converges slowly.
static double search_exact(sap_system *s, const ray *line, double slope) {
    double low = 0.0, high = line->limit, a = fmin(1.0, line->limit), step_before = line->limit;
    bool bounded = false; // l' > 0 at high
    for (int32_t i = 0;; i++) {
        sample t = try_step(s, line, a);
        if (fabs(t.slope) <= s->config->line_search_tolerance * -slope || i == MAX_EXACT || !isfinite(t.slope) ||
            (t.slope < 0.0 && a == line->limit)) {
            return accept(s, a);
        }
        if (t.slope > 0.0) {
            high = a;
            bounded = true;
        } else {
            low = a;
        }
        double next = a - t.slope / t.curvature;
        bool slow = bounded && 2.0 * fabs(t.slope) > fabs(step_before * t.curvature);
        if (!bounded && !(next < high)) {
            next = high;
        } else if (slow || !(next > low && next < high)) {
            next = 0.5 * (low + high);
        }
        step_before = next - a;
        if (!(fabs(step_before) > 1e-8 * a)) {
            return accept(s, a);
        }
        a = next;
    }
}

/// Backtracking by 0.8 from 1.25 as long as the cost falls; the step before it rises again, if it descends enough. A
/// descent that is lost in the rounding of the cost cannot be compared: Newton's own step is taken then.
static double search_armijo(sap_system *s, const ray *line, double slope) {
    const double c = 1e-4, rho = 0.8, cost = s->cost;
    bool lost = -slope <= 1000.0 * DBL_EPSILON * fabs(cost);
    double a = fmin(lost ? 1.0 : 1.0 / rho, line->limit);
    sample t = try_step(s, line, a);
    if (lost || t.slope <= 0.0) {
        return accept(s, a);
    }
    for (int32_t i = 0; i < MAX_ARMIJO; i++) {
        double before = t.cost;
        a *= rho;
        t = try_step(s, line, a);
        if (t.cost > before && t.cost < cost + c * a * slope) {
            if (before < cost + c * a / rho * slope) {
                a /= rho;
                try_step(s, line, a);
            }
            break;
        }
    }
    return accept(s, a);
}

double sap_line_search(sap_system *s) {
    const stn_law *law = s->control->law;
    const double slope = s->slope;
    ray line = {s->p_dv - s->force_dv, s->dp_dv, s->cost - s->now.cost, 1.5};
    if (s->batch.count > 0 && law->ops->max_step != NULL) {
        line.limit = fmin(line.limit, 0.99 * law->ops->max_step(law->self, &s->batch, s->now.v, s->dv_c));
    }
    // a slope that is lost in the rounding of its terms says nothing: the full step is as good as any
    double rounding = 64.0 * DBL_EPSILON * (fabs(s->p_dv) + fabs(s->force_dv));
    if (line.limit > 1.0 && -slope <= rounding) {
        try_step(s, &line, 1.0);
        return accept(s, 1.0);
    }
    return s->config->line_search == SAP_ARMIJO ? search_armijo(s, &line, slope) : search_exact(s, &line, slope);
}
