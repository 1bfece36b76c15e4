// SPDX-License-Identifier: Apache-2.0
// See packed.h.
#include <float.h>
#include <math.h>

#include "common/packed.h"

/// The larger one, or NaN when either is: fmax would drop it.
static double larger(double a, double b) {
    return isnan(a) || a > b ? a : b;
}

/// S of every row of a constraint: 1 but for the tangents of an ellipse.
static void scales_of(const packed_row *row, double S[STN_MAX_ROWS]) {
    for (int32_t r = 0; r < STN_MAX_ROWS; r++) {
        S[r] = row->cone && r < 2 ? row->scale[r] : 1.0;
    }
}

/// Describes the rows and allocates vectors. False: out of memory.
static bool describe(const stn_problem *problem, stn_arena *arena, packed *p) {
    *p = (packed){.n = problem->constraint_count, .rows = STN_ARENA(arena, problem->constraint_count + 1, packed_row)};
    if (p->rows == NULL) {
        return false;
    }
    for (int32_t i = 0; i < p->n; i++) {
        const stn_constraint *c = &problem->constraints[i];
        packed_row *row = &p->rows[i];
        *row = (packed_row){.mu = c->set == STN_SET_CONE ? c->mu1 : fmax(c->mu1, c->mu2),
                            .scale = {1.0, 1.0},
                            .place = p->size,
                            .row = c->row,
                            .rows = c->rows,
                            .width = (c->rows + 3) / 4 * 4,
                            .cone = stn_constraint_has_cone(c)};
        if (row->cone && c->set != STN_SET_CONE && c->mu1 != c->mu2) {
            row->scale[0] = c->mu1 / row->mu;
            row->scale[1] = c->mu2 / row->mu;
        }
        p->size += row->width;
    }
    const int32_t room = p->size + 8; // of each, as packed_vector has it
    p->q = STN_ARENA_ZEROED(arena, 3 * (int64_t)room, double);
    if (p->q == NULL) {
        return false;
    }
    p->lo = p->q + room;
    p->hi = p->lo + room;
    return true;
}

/// q and bounds of a constraint, and what it says of the problem's speeds. Of its rows: b, and the sum of |J| |v_star|,
/// beside which b is rounded.
static void fill_row(const stn_problem *problem, int32_t i, const double *b, const double *sizes, packed *p) {
    const packed_row *row = &p->rows[i];
    double S[STN_MAX_ROWS];
    scales_of(row, S);
    for (int32_t r = 0; r < row->rows; r++) {
        const double v_hat = problem->v_hat[row->row + r];
        const double lo = problem->lo[row->row + r], hi = problem->hi[row->row + r];
        p->q[row->place + r] = S[r] * (b[r] - v_hat);
        p->lo[row->place + r] = row->cone ? 0.0 : lo;
        p->hi[row->place + r] = row->cone ? 0.0 : hi;
        // beyond what impulses within bounds change a target asks for nothing: the natural map is never as large
        const double asked = row->cone ? fabs(v_hat) : fmin(fabs(v_hat), row->omega * (hi - lo));
        p->speed = larger(larger(p->speed, fabs(b[r])), isnan(v_hat) ? v_hat : asked);
        if (problem->form == STN_FORM_GLOBAL) {
            p->rounding = larger(p->rounding, 16.0 * DBL_EPSILON * (fabs(problem->bias[row->row + r]) + sizes[r]));
        }
    }
}

/// sizes (rows): the sum of |J| |v_star| of the rows of a constraint.
static void add_sizes(const stn_problem *problem, const stn_constraint *c, double sizes[STN_MAX_ROWS]) {
    for (int32_t k = 0; k < stn_constraint_block_count(c); k++) {
        const stn_jacobian *J = stn_constraint_block(c, k);
        const stn_problem_tree *tree = &problem->trees[J->tree];
        const double *v = problem->v_star + tree->dof_start;
        for (int32_t d = J->values == NULL ? J->tip : -1; d >= 0; d = tree->parent[d]) { // a wrench alone
            for (int32_t r = 0; r < c->rows; r++) {
                double value = 0.0;
                for (int32_t e = 0; e < 6; e++) {
                    value += J->wrench[8 * r + e] * tree->motion[8 * d + e];
                }
                sizes[r] += fabs(value * v[d]);
            }
        }
        for (int32_t r = 0; r < c->rows && J->values != NULL; r++) {
            for (int32_t d = 0; d < tree->A.n && J->node_count == 0; d++) {
                sizes[r] += fabs(J->values[r * tree->A.n + d] * v[d]);
            }
            for (int32_t m = J->node_size, d = 0; d < m * J->node_count; d++) {
                sizes[r] += fabs(J->values[m * c->rows * (d / m) + m * r + d % m] * v[m * J->node[d / m] + d % m]);
            }
        }
    }
}

/// Columns one after the other, S W S, zeros at the end of each.
static void copy_block(const packed_row *row, const packed_row *other, const double *W, double *out) {
    double S[STN_MAX_ROWS], T[STN_MAX_ROWS];
    if (row->rows == 3 && other->rows == 3 && row->scale[0] == 1.0 && row->scale[1] == 1.0 && other->scale[0] == 1.0 &&
        other->scale[1] == 1.0) { // the commonest one: 3 x 3 and no scales
        for (int32_t c = 0; c < 3; c++, out += 4) {
            out[0] = W[c];
            out[1] = W[3 + c];
            out[2] = W[6 + c];
            out[3] = 0.0;
        }
        return;
    }
    scales_of(row, S);
    scales_of(other, T);
    for (int32_t c = 0; c < other->rows; c++, out += row->width) {
        for (int32_t r = 0; r < row->width; r++) {
            out[r] = r < row->rows ? S[r] * W[r * other->rows + c] * T[c] : 0.0;
        }
    }
}

/// `speed` holds what bounds that leave no row at rest force on the others: |W gamma| with the smallest gamma within
/// them. A motor may act where nothing moves yet. False: out of memory.
static bool add_forced_speed(stn_arena *arena, packed *p) {
    double *gamma = NULL;
    for (int32_t r = 0; r < p->size; r++) {
        double least = p->lo[r] > 0.0 ? p->lo[r] : (p->hi[r] < 0.0 ? p->hi[r] : 0.0);
        if (least == 0.0) {
            continue;
        }
        gamma = gamma != NULL ? gamma : packed_vector(p, arena);
        if (gamma == NULL) {
            return false;
        }
        gamma[r] = least;
    }
    double *g = gamma != NULL ? packed_vector(p, arena) : NULL;
    if (g == NULL) {
        return gamma == NULL;
    }
    packed_product(p, gamma, g);
    for (int32_t r = 0; r < p->size; r++) {
        p->speed = larger(p->speed, fabs(g[r] - p->q[r]));
    }
    return true;
}

bool packed_build(const stn_delassus *d, stn_arena *arena, packed *out) {
    const stn_problem *problem = d->problem;
    if (!describe(problem, arena, out)) {
        return false;
    }
    int64_t doubles = 0;
    for (int32_t i = 0; i < d->n; i++) {
        for (int32_t e = d->row_start[i]; e < d->row_start[i + 1]; e++) {
            doubles += out->rows[i].width * problem->constraints[d->column[e]].rows;
        }
    }
    double *values = STN_ARENA(arena, doubles + 4, double);
    packed_block *blocks = STN_ARENA(arena, d->row_start[d->n] + 1, packed_block);
    if (values == NULL || blocks == NULL) {
        return false;
    }
    out->blocks = blocks;
    int32_t count = 0;
    for (int32_t i = 0; i < d->n; i++) {
        packed_row *row = &out->rows[i];
        double S[STN_MAX_ROWS];
        scales_of(row, S);
        row->start = count;
        for (int32_t e = d->row_start[i]; e < d->row_start[i + 1]; e++) {
            const packed_row *other = &out->rows[d->column[e]];
            const double *W = d->values + d->offset[e];
            copy_block(row, other, W, values);
            if (d->column[e] != i) {
                blocks[count++] = (packed_block){values, other->place, other->rows};
            } else { // R, and what stands for directions without friction
                double trace = 0.0;
                for (int32_t r = 0; r < row->rows; r++) {
                    values[r * (row->width + 1)] += S[r] * problem->R[row->row + r] * S[r];
                    trace += W[r * (row->rows + 1)];
                }
                for (int32_t r = 0; r < 2 && row->cone; r++) {
                    if (S[r] == 0.0) {
                        values[r * (row->width + 1)] = W[8];
                    }
                }
                for (int32_t r = 0; r < row->rows; r++) {
                    row->diagonal += values[r * (row->width + 1)];
                }
                row->omega = trace == 0.0 ? 1.0 : trace / row->rows;
                row->own = values;
            }
            values += row->width * other->rows;
        }
        row->end = count;
        double sizes[STN_MAX_ROWS] = {0.0};
        if (problem->form == STN_FORM_GLOBAL) {
            add_sizes(problem, &problem->constraints[i], sizes);
        }
        fill_row(problem, i, d->b + row->row, sizes, out);
    }
    return add_forced_speed(arena, out);
}

/// q, bounds and what the row itself says.
static void scale_row(packed *p, packed_row *row, double s) {
    for (int32_t r = row->place; r < row->place + row->rows; r++) {
        p->q[r] *= s;
    }
    for (int32_t r = row->place; r < row->place + row->rows && !row->cone; r++) {
        p->lo[r] /= s;
        p->hi[r] /= s;
    }
    row->omega *= s * s;
    row->diagonal *= s * s;
}

/// A block of `values` doubles; the arena that it lives in is ours.
static void scale_block(const double *W, int32_t values, double s) {
    double *own = (double *)(uintptr_t)W;
    for (int32_t k = 0; k < values; k++) {
        own[k] *= s;
    }
}

void packed_scale(packed *p, const double *s) {
    for (int32_t i = 0; i < p->n; i++) {
        packed_row *row = &p->rows[i];
        double own = s[row->place];
        scale_block(row->own, row->rows * row->width, own * own);
        for (const packed_block *e = p->blocks + row->start; e < p->blocks + row->end; e++) {
            scale_block(e->W, row->width * e->columns, own * s[e->place]);
        }
        scale_row(p, row, own);
    }
}

int32_t packed_at(const packed *p, int32_t place) {
    int32_t low = 0, high = p->n; // places ascend
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (p->rows[middle].place <= place) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

void packed_impulses(const packed *p, const double *gamma, double *out) {
    for (int32_t i = 0; i < p->n; i++) {
        const packed_row *row = &p->rows[i];
        double S[STN_MAX_ROWS];
        scales_of(row, S);
        for (int32_t r = 0; r < row->rows; r++) {
            out[row->place + r] = S[r] > 0.0 ? gamma[row->row + r] / S[r] : 0.0;
        }
    }
}

void packed_unpack(const packed *p, const double *gamma, double *out) {
    for (int32_t i = 0; i < p->n; i++) {
        const packed_row *row = &p->rows[i];
        double S[STN_MAX_ROWS];
        scales_of(row, S);
        for (int32_t r = 0; r < row->rows; r++) {
            out[row->row + r] = S[r] * gamma[row->place + r];
        }
    }
}

STN_KERNEL void packed_product(const packed *p, const double *gamma, double *g) {
    for (int32_t i = 0; i < p->n; i++) {
        const packed_row *row = &p->rows[i];
        packed_others_any(p, row, gamma, g + row->place);
        packed_own_add(row, gamma + row->place, g + row->place, g + row->place);
    }
}

double packed_residual(const packed *p, bool convex, const double *gamma, const double *g) {
    double largest = 0.0;
    for (int32_t i = 0; i < p->n; i++) {
        const packed_row *row = &p->rows[i];
        int32_t at = row->place;
        double square = packed_map(row, convex, p->lo + at, p->hi + at, gamma + at, g + at);
        largest = larger(largest, square);
    }
    return sqrt(largest);
}
