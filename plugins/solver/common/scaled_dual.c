// SPDX-License-Identifier: Apache-2.0
// See scaled_dual.h.
#include "common/scaled_dual.h"

#include <float.h>
#include <math.h>

#include "common/cone_lanes.h"
#include "common/proximal.h"

/// Lanes of neighbours, where `built` and scaled by out->s; else memory is out.
static stn_status pair_up(bool built, int32_t constraints, stn_arena *arena, scaled_dual *out, stn_error *err) {
    out->fours = built ? out->H.n / 4 : 0;
    out->cones = STN_ARENA(arena, out->fours + 1, bool);
    out->mu = STN_ARENA(arena, 12 * out->fours + 12, double);
    if (!built || out->cones == NULL || out->mu == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "packed Delassus operator of %d constraints: out of memory", constraints);
    }
    out->omega = out->mu + 4 * (size_t)out->fours;
    out->unit = out->omega + 4 * (size_t)out->fours;
    for (int32_t k = 0; k < out->fours; k++) {
        const packed_row *row = &out->H.rows[4 * k];
        out->cones[k] = row[0].cone && row[1].cone && row[2].cone && row[3].cone;
        for (int32_t i = 0; i < 4; i++) {
            out->mu[4 * k + i] = row[i].mu;
            out->omega[4 * k + i] = row[i].omega;
            out->unit[4 * k + i] = 1.0 / out->s[row[i].place];
        }
    }
    return STN_OK;
}

stn_status scaled_dual_build(const stn_delassus *delassus, stn_arena *arena, scaled_dual *out, stn_error *err) {
    const bool built = packed_build(delassus, arena, &out->H);
    out->s = built ? packed_vector(&out->H, arena) : NULL;
    for (int32_t i = 0; out->s != NULL && i < out->H.n; i++) {
        const packed_row *row = &out->H.rows[i];
        for (int32_t r = row->place; r < row->place + row->width; r++) {
            out->s[r] = row->diagonal > 0.0 ? sqrt(row->rows / row->diagonal) : 1.0;
        }
    }
    if (out->s != NULL) {
        packed_scale(&out->H, out->s);
    }
    return pair_up(out->s != NULL, delassus->n, arena, out, err);
}

stn_status scaled_dual_build_bodies(const stn_problem *problem, const stn_inverse *inverse, stn_arena *arena,
                                    scaled_dual *out, stn_error *err) {
    const bool built = packed_build_bodies(problem, inverse, arena, &out->H, &out->s);
    return pair_up(built, problem->constraint_count, arena, out, err);
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

/// Onto the cone, or between the bounds.
static void project(const scaled_dual *dual, int32_t i, double *x) {
    const packed_row *row = &dual->H.rows[i];
    if (row->cone) {
        stn_cone_project(row->mu, x + row->place);
        return;
    }
    const double *lo = dual->H.lo + row->place, *hi = dual->H.hi + row->place;
    double *own = x + row->place;
    for (int32_t r = 0; r < row->rows; r++) { // NaN stays
        own[r] = own[r] < lo[r] ? lo[r] : (own[r] > hi[r] ? hi[r] : own[r]);
    }
}

STN_KERNEL void scaled_dual_project(const scaled_dual *dual, double *x) {
    for (int32_t k = 0; k < dual->fours; k++) {
        if (dual->cones[k]) {
            double *at = x + dual->H.rows[4 * k].place;
            lanes_write(lanes_project(*(const packed_v4 *)(dual->mu + 4 * k), lanes_read(at)), at);
            continue;
        }
        for (int32_t i = 4 * k; i < 4 * k + 4; i++) {
            project(dual, i, x);
        }
    }
    for (int32_t i = 4 * dual->fours; i < dual->H.n; i++) {
        project(dual, i, x);
    }
}

double scaled_dual_cost(const scaled_dual *dual, const double *x, const double *g) {
    double sum = 0.0;
    for (int32_t r = 0; r < dual->H.size; r++) {
        sum += 0.5 * x[r] * (g[r] + dual->H.q[r]);
    }
    return sum;
}

/// What a residual is made of.
typedef struct parts {
    double largest, sum; // of the squares of natural maps [m^2/s^2, J]
    double speed, size;  // of the largest |x| [m/s, sqrt(J)]
} parts;

static void add_row(const scaled_dual *dual, int32_t i, bool convex, const double *x, const double *g, parts *out) {
    const packed_row *row = &dual->H.rows[i];
    const int32_t at = row->place;
    const double one = 1.0 / dual->s[at];
    const double square = packed_map(row, convex, dual->H.lo + at, dual->H.hi + at, x + at, g + at); // of s_i g_i
    const double e = square * one * one;
    double own = 0.0;
    out->largest = e <= out->largest ? out->largest : e; // NaN wins
    out->sum += square;
    for (int32_t r = at; r < at + row->rows; r++) {
        own = fabs(x[r]) > own ? fabs(x[r]) : own;
    }
    out->size = own > out->size ? own : out->size;
    out->speed = own * one > out->speed ? own * one : out->speed;
}

STN_KERNEL dual_residual scaled_dual_residual(const scaled_dual *dual, bool convex, const double *x, const double *g) {
    packed_v4 largest = {0.0}, sum = {0.0}, size = {0.0}, speed = {0.0};
    parts all = {0.0, 0.0, 0.0, 0.0};
    for (int32_t k = 0; k < dual->fours; k++) {
        if (!dual->cones[k]) {
            for (int32_t i = 4 * k; i < 4 * k + 4; i++) {
                add_row(dual, i, convex, x, g, &all);
            }
            continue;
        }
        const int32_t at = dual->H.rows[4 * k].place;
        const packed_v4 mu = *(const packed_v4 *)(dual->mu + 4 * k), omega = *(const packed_v4 *)(dual->omega + 4 * k),
                        unit = *(const packed_v4 *)(dual->unit + 4 * k);
        const cone_lanes own = lanes_read(x + at), slope = lanes_read(g + at);
        packed_v4 shifted = slope.n;
        if (!convex) {
            shifted += mu * lanes_root(slope.t1 * slope.t1 + slope.t2 * slope.t2);
        }
        const packed_v4 square = lanes_natural_map(mu, omega, shifted, own, slope);
        const packed_v4 most =
            lanes_larger(lanes_absolute(own.t1), lanes_larger(lanes_absolute(own.t2), lanes_absolute(own.n)));
        largest = lanes_larger(square * unit * unit, largest);
        sum += square;
        size = lanes_larger(most, size);
        speed = lanes_larger(most * unit, speed);
    }
    for (int32_t i = 4 * dual->fours; i < dual->H.n; i++) {
        add_row(dual, i, convex, x, g, &all);
    }
    for (int32_t k = 0; k < 4; k++) {
        all.largest = largest[k] <= all.largest ? all.largest : largest[k];
        all.sum += sum[k];
        all.size = size[k] > all.size ? size[k] : all.size;
        all.speed = speed[k] > all.speed ? speed[k] : all.speed;
    }
    return (dual_residual){sqrt(all.largest) + DBL_EPSILON * all.speed, sqrt(all.sum) + DBL_EPSILON * all.size};
}

bool scaled_dual_done(const scaled_dual *dual, dual_residual residual, const stn_solve_control *control) {
    return residual.speed <= packed_allowed(&dual->H, control->tolerance) ||
           residual.size <= control->absolute_tolerance;
}
