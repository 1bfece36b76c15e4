// SPDX-License-Identifier: Apache-2.0
// The laws over all constraints, and what Newton's method derives from its present point.
#include <math.h>

#include "system.h"

static void by_parts(const sap_system *s, int32_t parts, void (*run)(void *user, int32_t part, int32_t worker),
                     void *user, int32_t count, double *totals) {
    if (parts == 1) {
        run(user, 0, 0);
    } else {
        stn_parallel_for(s->control->threads, parts, run, user);
    }
    for (int32_t i = 0; i < count; i++) {
        totals[i] = parts > 0 ? s->sums[i] : 0.0;
        for (int32_t k = 1; k < parts; k++) {
            totals[i] += s->sums[8 * k + i];
        }
    }
}

void sap_by_lanes(const sap_system *s, void (*run)(void *user, int32_t part, int32_t worker), void *user, int32_t count,
                  double *totals) {
    by_parts(s, (s->batch.stride + SAP_LANES - 1) / SAP_LANES, run, user, count, totals);
}

void sap_by_velocities(const sap_system *s, void (*run)(void *user, int32_t part, int32_t worker), void *user,
                       int32_t count, double *totals) {
    by_parts(s, (s->H.nx + SAP_VELOCITIES - 1) / SAP_VELOCITIES, run, user, count, totals);
}

void sap_by_compact(const sap_system *s, void (*run)(void *user, int32_t part, int32_t worker), void *user,
                    int32_t count, double *totals) {
    by_parts(s, (s->H.nv + SAP_VELOCITIES - 1) / SAP_VELOCITIES, run, user, count, totals);
}

double sap_evaluate_part(const sap_system *s, const sap_point *at, int32_t k) {
    const stn_law *law = s->control->law;
    const int32_t begin = SAP_LANES * k, end = sap_part_end(k, SAP_LANES, s->batch.count);
    const stn_law_batch part = {.count = end - begin,
                                .stride = s->batch.stride,
                                .constraint = s->batch.constraint + begin,
                                .coefficients = s->batch.coefficients + begin};
    double cost = 0.0;
    law->ops->evaluate(law->self, &part, at->v + begin, s->lane_cost + begin, at->gamma + begin, at->G + begin);
    for (int32_t i = begin; i < end; i++) {
        cost += s->lane_cost[i];
    }
    return cost;
}

/// A point to evaluate.
typedef struct evaluation {
    const sap_system *s;
    const sap_point *at;
} evaluation;

static void evaluate_lanes(void *user, int32_t part, int32_t worker) {
    (void)worker;
    const evaluation *e = user;
    e->s->sums[8 * part] = sap_evaluate_part(e->s, e->at, part);
}

void sap_evaluate_lines(const sap_system *s, sap_point *at) {
    for (int32_t i = 0; i < s->H.line_count; i++) {
        at->cost += stn_box_law(at->line_v[i], s->line_R[i], s->line_v_hat[i], s->line_lo[i], s->line_hi[i],
                                &at->line_gamma[i], &at->line_G[i]);
    }
}

void sap_evaluate(sap_system *s, sap_point *at) {
    evaluation e = {s, at};
    sap_by_lanes(s, evaluate_lanes, &e, 1, &at->cost);
    sap_evaluate_lines(s, at);
}

STN_KERNEL static void add(int32_t n, const double *x, double *y) {
    for (int32_t i = 0; i < n; i++) {
        y[i] += x[i];
    }
}

void sap_refresh(sap_system *s) {
    for (int32_t i = 0; i < s->H.nx; i++) {
        s->dv[i] = s->v[i] - s->v_star[i];
    }
    augmented_mass_times(&s->H, s->dv, s->p);
    augmented_jacobian_times(&s->H, s->v, s->now.v, s->now.line_v);
    add(3 * s->batch.stride, s->bias, s->now.v);
    add(s->H.line_stride, s->line_bias, s->now.line_v);
    sap_evaluate(s, &s->now);
    s->cost = 0.5 * padded_dot(s->H.nx, s->dv, s->p) - padded_dot(s->H.nx, s->force, s->v) + s->now.cost;
}

STN_KERNEL static void find_gradient(void *user, int32_t part, int32_t worker) {
    (void)worker;
    const sap_system *s = user;
    const int32_t end = sap_part_end(part, SAP_VELOCITIES, s->H.nx);
    v4 Av[2] = {{0.0}}, j[2] = {{0.0}}, g[2] = {{0.0}};
    for (int32_t i = SAP_VELOCITIES * part; i < end; i += 8) {
        UNROLL
        for (int32_t k = 0; k < 2; k++) {
            const int32_t at = i + 4 * k;
            const v4 p = v4_load(s->p + at), D = v4_load(s->D + at), j_here = v4_load(s->j + at);
            const v4 gradient = p - j_here - v4_load(s->force + at), Av_here = p + v4_load(s->A_v_star + at);
            v4_store(s->gradient + at, gradient);
            v4_store(s->Av + at, Av_here);
            Av[k] += (D * Av_here) * (D * Av_here);
            j[k] += (D * j_here) * (D * j_here);
            g[k] += (D * gradient) * (D * gradient);
        }
    }
    double *sums = s->sums + 8 * (size_t)part;
    sums[0] = sum4(Av[0] + Av[1]);
    sums[1] = sum4(j[0] + j[1]);
    sums[2] = sum4(g[0] + g[1]);
}

void sap_gradient(sap_system *s) {
    double squares[3];
    augmented_jacobian_transposed(&s->H, s->now.gamma, s->now.line_gamma, s->j);
    sap_by_velocities(s, find_gradient, s, 3, squares);
    s->Av_norm = sqrt(squares[0]);
    s->j_norm = sqrt(squares[1]);
    s->gradient_norm = sqrt(squares[2]);
}
