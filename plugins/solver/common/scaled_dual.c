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
    out->bodies = NULL;
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
    body_lanes *bodies = STN_ARENA(arena, 1, body_lanes);
    if (bodies == NULL || !body_lanes_build(problem, inverse, arena, bodies)) {
        return stn_fail(err, STN_ERR_MEMORY, "%d constraints: out of memory", problem->constraint_count);
    }
    *out = (scaled_dual){.bodies = bodies,
                         .H = {.n = bodies->n,
                               .size = bodies->size,
                               .q = bodies->q,
                               .speed = bodies->speed,
                               .rounding = bodies->rounding}};
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
    if (dual->bodies != NULL) {
        body_lanes_enter(dual->bodies, gamma, x);
        return;
    }
    packed_impulses(&dual->H, gamma, x);
    for (int32_t r = 0; r < dual->H.size; r++) {
        x[r] /= dual->s[r];
    }
}

void scaled_dual_leave(const scaled_dual *dual, const double *x, double *gamma) {
    if (dual->bodies != NULL) {
        body_lanes_leave(dual->bodies, x, gamma);
        return;
    }
    packed_unpack(&dual->H, x, gamma);
    for (int32_t i = 0; i < dual->H.n; i++) {
        const packed_row *row = &dual->H.rows[i];
        for (int32_t r = 0; r < row->rows; r++) {
            gamma[row->row + r] *= dual->s[row->place];
        }
    }
}

void scaled_dual_gradient(const scaled_dual *dual, const double *x, double *g) {
    if (dual->bodies != NULL) {
        body_lanes_gradient(dual->bodies, x, g);
        return;
    }
    packed_product(&dual->H, x, g);
}

/// Between the bounds; NaN stays.
static inline double bounded(double x, double lo, double hi) {
    return x < lo ? lo : (x > hi ? hi : x);
}

/// Four constraints of which some are no cones.
static void project_mixed(const body_lanes *p, int32_t k, double *x) {
    const body_four *own = &p->fours[k];
    for (int32_t lane = 0; lane < 4; lane++) {
        const int32_t at = body_place(4 * k + lane, 0);
        if (own->cone[lane]) {
            double g[3] = {x[at], x[at + 4], x[at + 8]};
            stn_cone_project(own->mu[lane], g);
            x[at] = g[0];
            x[at + 4] = g[1];
            x[at + 8] = g[2];
        }
        for (int32_t r = at; r < at + 4 * own->rows[lane] && !own->cone[lane]; r += 4) {
            x[r] = bounded(x[r], p->lo[r], p->hi[r]);
        }
    }
}

STN_KERNEL static void project_bodies(const body_lanes *p, double *x) {
    for (int32_t k = 0; k < p->size / BODY_FOUR; k++) {
        double *own = x + BODY_FOUR * k;
        if (p->fours[k].cones) {
            body_write(lanes_project(p->fours[k].mu, body_read(own)), own);
        } else {
            project_mixed(p, k, x);
        }
    }
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
    for (int32_t r = 0; r < row->rows; r++) {
        own[r] = bounded(own[r], lo[r], hi[r]);
    }
}

STN_KERNEL static void project_packed(const scaled_dual *dual, double *x) {
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

void scaled_dual_project(const scaled_dual *dual, double *x) {
    if (dual->bodies != NULL) {
        project_bodies(dual->bodies, x);
    } else {
        project_packed(dual, x);
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

/// Of one constraint: the square of its map of s_i g_i, its rows of x, and 1/s.
static void add_map(double square, int32_t rows, const double *x, double one, parts *out) {
    const double e = square * one * one;
    double own = 0.0;
    out->largest = e <= out->largest ? out->largest : e; // NaN wins
    out->sum += square;
    for (int32_t r = 0; r < rows; r++) {
        own = fabs(x[r]) > own ? fabs(x[r]) : own;
    }
    out->size = own > out->size ? own : out->size;
    out->speed = own * one > out->speed ? own * one : out->speed;
}

static void add_row(const scaled_dual *dual, int32_t i, bool convex, const double *x, const double *g, parts *out) {
    const packed_row *row = &dual->H.rows[i];
    const int32_t at = row->place;
    add_map(packed_map(row, convex, dual->H.lo + at, dual->H.hi + at, x + at, g + at), row->rows, x + at,
            1.0 / dual->s[at], out);
}

/// Four constraints of which some are no cones.
static void add_mixed(const body_lanes *p, int32_t k, bool convex, const double *x, const double *g, parts *out) {
    const body_four *four = &p->fours[k];
    for (int32_t lane = 0; lane < 4; lane++) {
        const packed_row row = {
            .mu = four->mu[lane], .omega = four->omega[lane], .rows = four->rows[lane], .cone = four->cone[lane]};
        double own[BODY_ROWS] = {0.0}, slope[BODY_ROWS] = {0.0}, lo[BODY_ROWS] = {0.0}, hi[BODY_ROWS] = {0.0};
        for (int32_t r = 0; r < row.rows; r++) {
            const int32_t at = body_place(4 * k + lane, r);
            own[r] = x[at];
            slope[r] = g[at];
            lo[r] = p->lo[at];
            hi[r] = p->hi[at];
        }
        if (row.rows > 0) {
            add_map(packed_map(&row, convex, lo, hi, own, slope), row.rows, own, four->unit[lane], out);
        }
    }
}

/// parts, one a lane.
typedef struct lane_parts {
    packed_v4 largest, sum, speed, size;
} lane_parts;

/// Of four cones; unit: 1/s.
STN_KERNEL_INLINE void add_four(packed_v4 mu, packed_v4 omega, packed_v4 unit, bool convex, cone_lanes own,
                                cone_lanes slope, lane_parts *out) {
    packed_v4 shifted = slope.n;
    if (!convex) {
        shifted += mu * lanes_root(slope.t1 * slope.t1 + slope.t2 * slope.t2);
    }
    const packed_v4 square = lanes_natural_map(mu, omega, shifted, own, slope);
    const packed_v4 most =
        lanes_larger(lanes_absolute(own.t1), lanes_larger(lanes_absolute(own.t2), lanes_absolute(own.n)));
    out->largest = lanes_larger(square * unit * unit, out->largest);
    out->sum += square;
    out->size = lanes_larger(most, out->size);
    out->speed = lanes_larger(most * unit, out->speed);
}

static dual_residual residual_of(parts all, const lane_parts *lanes) {
    for (int32_t k = 0; k < 4; k++) {
        all.largest = lanes->largest[k] <= all.largest ? all.largest : lanes->largest[k];
        all.sum += lanes->sum[k];
        all.size = lanes->size[k] > all.size ? lanes->size[k] : all.size;
        all.speed = lanes->speed[k] > all.speed ? lanes->speed[k] : all.speed;
    }
    return (dual_residual){sqrt(all.largest) + DBL_EPSILON * all.speed, sqrt(all.sum) + DBL_EPSILON * all.size};
}

STN_KERNEL static dual_residual residual_bodies(const body_lanes *p, bool convex, const double *x, const double *g) {
    lane_parts lanes = {{0.0}, {0.0}, {0.0}, {0.0}};
    parts all = {0.0, 0.0, 0.0, 0.0};
    for (int32_t k = 0; k < p->size / BODY_FOUR; k++) {
        const body_four *own = &p->fours[k];
        if (own->cones) {
            add_four(own->mu, own->omega, own->unit, convex, body_read(x + BODY_FOUR * k), body_read(g + BODY_FOUR * k),
                     &lanes);
        } else {
            add_mixed(p, k, convex, x, g, &all);
        }
    }
    return residual_of(all, &lanes);
}

STN_KERNEL static dual_residual residual_packed(const scaled_dual *dual, bool convex, const double *x,
                                                const double *g) {
    lane_parts lanes = {{0.0}, {0.0}, {0.0}, {0.0}};
    parts all = {0.0, 0.0, 0.0, 0.0};
    for (int32_t k = 0; k < dual->fours; k++) {
        if (!dual->cones[k]) {
            for (int32_t i = 4 * k; i < 4 * k + 4; i++) {
                add_row(dual, i, convex, x, g, &all);
            }
            continue;
        }
        const int32_t at = dual->H.rows[4 * k].place;
        add_four(*(const packed_v4 *)(dual->mu + 4 * k), *(const packed_v4 *)(dual->omega + 4 * k),
                 *(const packed_v4 *)(dual->unit + 4 * k), convex, lanes_read(x + at), lanes_read(g + at), &lanes);
    }
    for (int32_t i = 4 * dual->fours; i < dual->H.n; i++) {
        add_row(dual, i, convex, x, g, &all);
    }
    return residual_of(all, &lanes);
}

dual_residual scaled_dual_residual(const scaled_dual *dual, bool convex, const double *x, const double *g) {
    return dual->bodies != NULL ? residual_bodies(dual->bodies, convex, x, g) : residual_packed(dual, convex, x, g);
}

bool scaled_dual_done(const scaled_dual *dual, dual_residual residual, const stn_solve_control *control) {
    return residual.speed <= packed_allowed(&dual->H, control->tolerance) ||
           residual.size <= control->absolute_tolerance;
}
