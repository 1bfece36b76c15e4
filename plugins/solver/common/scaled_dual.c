// SPDX-License-Identifier: Apache-2.0
// See scaled_dual.h.
#include "common/scaled_dual.h"

#include <float.h>
#include <math.h>

#include "common/proximal.h"

stn_status scaled_dual_build(const stn_delassus *delassus, stn_arena *arena, scaled_dual *out, stn_error *err) {
    bool built = packed_build(delassus, arena, &out->H);
    out->s = built ? packed_vector(&out->H, arena) : NULL;
    if (out->s == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "packed Delassus operator of %d constraints: out of memory", delassus->n);
    }
    for (int32_t i = 0; i < out->H.n; i++) {
        const packed_row *row = &out->H.rows[i];
        double trace = 0.0; // of the diagonal block, R in it
        for (int32_t r = 0; r < row->rows; r++) {
            trace += row->own[r * (row->width + 1)];
        }
        for (int32_t r = row->place; r < row->place + row->width; r++) {
            out->s[r] = trace > 0.0 ? sqrt(row->rows / trace) : 1.0;
        }
    }
    packed_scale(&out->H, out->s);
    return STN_OK;
}

stn_status scaled_dual_build_traces(const stn_problem *problem, const stn_solve_control *control, scaled_dual *out,
                                    stn_error *err) {
    enum { BLOCK = STN_MAX_ROWS * STN_MAX_ROWS };
    stn_arena *arena = control->arena;
    const int32_t n = problem->constraint_count;
    int32_t *start = STN_ARENA(arena, n + 1, int32_t), *column = STN_ARENA(arena, n + 1, int32_t);
    int64_t *offset = STN_ARENA(arena, n + 1, int64_t);
    double *values = STN_ARENA_ZEROED(arena, BLOCK * (size_t)n + 1, double);
    double *b = STN_ARENA(arena, problem->row_count + 1, double), *v = STN_ARENA(arena, problem->nv + 1, double);
    if (start == NULL || column == NULL || offset == NULL || values == NULL || b == NULL || v == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs, %d rows: out of memory", problem->nv, problem->row_count);
    }
    for (int32_t i = 0; i < n; i++) {
        const stn_constraint *c = &problem->constraints[i];
        start[i] = column[i] = i;
        offset[i] = (int64_t)BLOCK * i;
        for (int32_t r = 0; r < c->rows; r++) {
            values[offset[i] + r * (c->rows + 1)] = c->w_trace / c->rows;
        }
    }
    start[n] = n;
    offset[n] = (int64_t)BLOCK * n;
    stn_problem seen = *problem; // for the size of speeds
    seen.v_star = v;
    proximal_free_speeds(problem, control->singular, v);
    stn_problem_contact_velocity(&seen, v, true, b);
    const stn_delassus traces = {&seen, n, problem->row_count, start, column, offset, values, b};
    return scaled_dual_build(&traces, arena, out, err);
}

void scaled_dual_enter(const scaled_dual *dual, const double *gamma, double *x) {
    packed_impulses(&dual->H, gamma, x);
    for (int32_t r = 0; r < dual->H.size; r++) {
        x[r] /= dual->s[r];
    }
}

void scaled_dual_leave(const scaled_dual *dual, const double *x, double *gamma) {
    packed_unpack(&dual->H, x, gamma);
    for (int32_t i = 0; i < dual->H.n; i++) {
        const packed_row *row = &dual->H.rows[i];
        for (int32_t r = 0; r < row->rows; r++) {
            gamma[row->row + r] *= dual->s[row->place];
        }
    }
}

void scaled_dual_gradient(const scaled_dual *dual, const double *x, double *g) {
    packed_product(&dual->H, x, g);
}

void scaled_dual_project(const scaled_dual *dual, double *x) {
    for (int32_t i = 0; i < dual->H.n; i++) {
        const packed_row *row = &dual->H.rows[i];
        if (row->cone) {
            stn_cone_project(row->mu, x + row->place);
            continue;
        }
        const double *lo = dual->H.lo + row->place, *hi = dual->H.hi + row->place;
        double *own = x + row->place;
        for (int32_t r = 0; r < row->rows; r++) { // NaN stays
            own[r] = own[r] < lo[r] ? lo[r] : (own[r] > hi[r] ? hi[r] : own[r]);
        }
    }
}

double scaled_dual_cost(const scaled_dual *dual, const double *x, const double *g) {
    double sum = 0.0;
    for (int32_t r = 0; r < dual->H.size; r++) {
        sum += 0.5 * x[r] * (g[r] + dual->H.q[r]);
    }
    return sum;
}

dual_residual scaled_dual_residual(const scaled_dual *dual, bool convex, const double *x, const double *g) {
    double largest = 0.0, sum = 0.0, size = 0.0, speed = 0.0;
    for (int32_t i = 0; i < dual->H.n; i++) {
        const packed_row *row = &dual->H.rows[i];
        const int32_t at = row->place;
        const double one = 1.0 / dual->s[at];
        double square = packed_map(row, convex, dual->H.lo + at, dual->H.hi + at, x + at, g + at); // of s_i g_i
        double e = square * one * one, own = 0.0;
        largest = e <= largest ? largest : e; // NaN wins
        sum += square;
        for (int32_t r = at; r < at + row->rows; r++) {
            own = fabs(x[r]) > own ? fabs(x[r]) : own;
        }
        size = own > size ? own : size;
        speed = own * one > speed ? own * one : speed;
    }
    return (dual_residual){sqrt(largest) + DBL_EPSILON * speed, sqrt(sum) + DBL_EPSILON * size};
}

bool scaled_dual_done(const scaled_dual *dual, dual_residual residual, const stn_solve_control *control) {
    return residual.speed <= packed_allowed(&dual->H, control->tolerance) ||
           residual.size <= control->absolute_tolerance;
}
