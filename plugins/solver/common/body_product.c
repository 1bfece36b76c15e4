// SPDX-License-Identifier: Apache-2.0
// See body_product.h.
#include "common/body_product.h"

#include <math.h>
#include <string.h>

#include "common/cone_lanes.h"

enum { DOFS = 6, WIDE = 8, SIDES = 2, ROWS = 3 };

/// A vector of a body: 6 numbers and 2 zeros.
typedef struct wide {
    packed_v4 low, high;
} wide;

typedef struct body_row {
    wide X[SIDES][ROWS];
    packed_v4 d;         // of x_i
    int32_t body[SIDES]; // the first body where there is none: X is 0 then
} body_row;

/// Row d holds row d of L^-T, A = L L^T; zeros beyond A's.
typedef struct half {
    double C[DOFS][WIDE];
} half;

struct body_product {
    int32_t bodies;
    body_row *rows; // (n)
    wide *u;        // (bodies)
};

bool body_product_fits(const stn_problem *problem) {
    bool fits = problem->form == STN_FORM_GLOBAL;
    for (int32_t t = 0; t < problem->tree_count && fits; t++) {
        const stn_matrix *A = &problem->trees[t].A;
        fits = A->n <= DOFS && (A->form == STN_MATRIX_DENSE || A->form == STN_MATRIX_DIAGONAL);
    }
    for (int32_t i = 0; i < problem->constraint_count && fits; i++) {
        const stn_constraint *c = &problem->constraints[i];
        fits = c->rows <= ROWS && c->more_count == 0 && c->J[0].node_count == 0 &&
               (c->J[1].tree < 0 || c->J[1].node_count == 0);
    }
    return fits;
}

/// A (i, j) of a tree, unit beyond its rows.
STN_KERNEL_INLINE double entry(const stn_matrix *A, int32_t i, int32_t j) {
    if (i < A->n && A->form == STN_MATRIX_DENSE) {
        return A->values[i * A->n + j];
    }
    return i != j ? 0.0 : i < A->n ? A->values[i] : 1.0;
}

/// Of four trees, one a lane.
STN_KERNEL_INLINE void half_inverses(const stn_matrix *const A[4], half *const out[4]) {
    packed_v4 L[DOFS][DOFS], C[DOFS][DOFS], inverse[DOFS]; // inverse: of L's diagonal
    bool free_bodies = true;
    for (int32_t k = 0; k < 4; k++) {
        free_bodies = free_bodies && A[k]->n == DOFS && A[k]->form == STN_MATRIX_DENSE;
    }
    for (int32_t i = 0; i < DOFS; i++) {
        for (int32_t j = 0; j <= i; j++) {
            const int32_t e = i * DOFS + j;
            L[i][j] = free_bodies
                          ? (packed_v4){A[0]->values[e], A[1]->values[e], A[2]->values[e], A[3]->values[e]}
                          : (packed_v4){entry(A[0], i, j), entry(A[1], i, j), entry(A[2], i, j), entry(A[3], i, j)};
        }
    }
#pragma GCC unroll 6
    for (int32_t j = 0; j < DOFS; j++) {
#pragma GCC unroll 6
        for (int32_t i = j; i < DOFS; i++) {
            packed_v4 sum = L[i][j];
#pragma GCC unroll 6
            for (int32_t k = 0; k < j; k++) {
                sum -= L[i][k] * L[j][k];
            }
            if (i == j) {
                inverse[j] = 1.0 / lanes_root(sum);
            }
            L[i][j] = sum * inverse[j];
        }
    }
#pragma GCC unroll 6
    for (int32_t d = 0; d < DOFS; d++) { // L^-1 e_d
        C[d][d] = inverse[d];
#pragma GCC unroll 6
        for (int32_t i = d + 1; i < DOFS; i++) {
            packed_v4 sum = {0.0};
#pragma GCC unroll 6
            for (int32_t k = d; k < i; k++) {
                sum += L[i][k] * C[d][k];
            }
            C[d][i] = -sum * inverse[i];
        }
    }
    for (int32_t k = 0; k < 4; k++) {
        *out[k] = (half){0};
        for (int32_t d = 0; d < DOFS; d++) {
            for (int32_t i = d; i < DOFS; i++) {
                out[k]->C[d][i] = C[d][i][k];
            }
        }
    }
}

/// n <= 6 numbers.
STN_KERNEL_INLINE wide read_wide(int32_t n, const double *x) {
    wide out = {{0.0}, {0.0}};
    if (n == ROWS) {
        out.low = (packed_v4){x[0], x[1], x[2], 0.0};
    } else if (n == DOFS) {
        memcpy(&out.low, x, 4 * sizeof(double));
        memcpy(&out.high, x + 4, 2 * sizeof(double));
    } else {
        for (int32_t d = 0; d < n; d++) {
            (d < 4 ? &out.low : &out.high)[0][d % 4] = x[d];
        }
    }
    return out;
}

/// (sum of a, sum of b, sum of c, 0).
STN_KERNEL_INLINE packed_v4 sums(packed_v4 a, packed_v4 b, packed_v4 c) {
    const packed_v4 zero = {0.0};
    const packed_v4 ab =
        __builtin_shuffle(a, b, (lane_mask){0, 4, 2, 6}) + __builtin_shuffle(a, b, (lane_mask){1, 5, 3, 7});
    const packed_v4 cz =
        __builtin_shuffle(c, zero, (lane_mask){0, 4, 2, 6}) + __builtin_shuffle(c, zero, (lane_mask){1, 5, 3, 7});
    return __builtin_shuffle(ab, cz, (lane_mask){0, 1, 4, 5}) + __builtin_shuffle(ab, cz, (lane_mask){2, 3, 6, 7});
}

/// A tree at the start.
typedef struct body {
    half inverse;
    wide v, v_star; // velocities without impulses
    double share;   // root of the number of constraints that it has
    int32_t n;
} body;

STN_KERNEL static void prepare_bodies(const stn_problem *problem, const double *v, body *bodies) {
    const int32_t count = problem->tree_count;
    for (int32_t t = 0; t < count; t += 4) {
        const stn_matrix *A[4];
        half *out[4], none; // lanes beyond the last tree
        for (int32_t k = 0; k < 4; k++) {
            A[k] = &problem->trees[t + k < count ? t + k : t].A;
            out[k] = t + k < count ? &bodies[t + k].inverse : &none;
        }
        half_inverses(A, out);
    }
    for (int32_t t = 0; t < count; t++) {
        const stn_problem_tree *tree = &problem->trees[t];
        bodies[t].n = tree->A.n;
        bodies[t].v = read_wide(tree->A.n, v + tree->dof_start);
        bodies[t].v_star = read_wide(tree->A.n, problem->v_star + tree->dof_start);
        bodies[t].share = 0.0;
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        for (int32_t k = 0; k < SIDES; k++) {
            const int32_t t = problem->constraints[i].J[k].tree;
            if (t >= 0) {
                bodies[t].share += 1.0;
            }
        }
    }
    for (int32_t t = 0; t < count; t++) {
        bodies[t].share = sqrt(bodies[t].share);
    }
}

/// X without S of three rows on one side, and what they add to b without bias and to its sizes. Returns the squares of
/// the rows of X. J: rows of 6.
STN_KERNEL_INLINE packed_v4 fill_side(const body *at, const double *J, wide X[ROWS], packed_v4 speed[ROWS],
                                      packed_v4 size[ROWS]) {
    const double(*C)[WIDE] = at->inverse.C;
    packed_v4 square[ROWS];
    for (int32_t r = 0; r < ROWS; r++, J += DOFS) {
        const wide own = read_wide(DOFS, J);
        wide x = {{0.0}, {0.0}};
        for (int32_t d = 0; d < 4; d++) {
            x.low += J[d] * *(const packed_v4 *)C[d];
            x.high += J[d] * *(const packed_v4 *)(C[d] + 4);
        }
        x.high += J[4] * *(const packed_v4 *)(C[4] + 4) + J[5] * *(const packed_v4 *)(C[5] + 4); // L^-T has no rows
                                                                                                  // below its diagonal
        X[r] = x;
        square[r] = x.low * x.low + x.high * x.high;
        speed[r] += own.low * at->v.low + own.high * at->v.high;
        size[r] += lanes_absolute(own.low * at->v_star.low) + lanes_absolute(own.high * at->v_star.high);
    }
    return sums(square[0], square[1], square[2]);
}

/// Of constraint i: X, d, b, sizes, omega and diagonal; X and d by s_i, which it returns.
STN_KERNEL_INLINE double fill(const stn_problem *problem, const body *bodies, int32_t i, packed_row *row, body_row *own,
                              double *b, double *sizes) {
    const stn_constraint *c = &problem->constraints[i];
    packed_v4 speed[ROWS] = {{0.0}}, size[ROWS] = {{0.0}}, W = {0.0}, shared = {0.0}, S = {1.0, 1.0, 1.0, 0.0};
    for (int32_t k = 0; k < SIDES; k++) {
        const int32_t t = c->J[k].tree;
        own->body[k] = t < 0 ? 0 : t;
        if (t < 0) {
            memset(own->X[k], 0, sizeof own->X[k]);
            continue;
        }
        const double *J = c->J[k].values;
        double padded[ROWS * DOFS];
        if (c->rows != ROWS || bodies[t].n != DOFS) { // fewer rows or dofs
            memset(padded, 0, sizeof padded);
            for (int32_t e = 0, n = bodies[t].n; e < c->rows * n; e++) {
                padded[e / n * DOFS + e % n] = J[e];
            }
            J = padded;
        }
        const packed_v4 square = fill_side(&bodies[t], J, own->X[k], speed, size);
        W += square;
        shared += bodies[t].share * square;
    }
    const double trace = (W[0] + W[1]) + W[2];
    const wide bias = read_wide(c->rows, problem->bias + c->row), R = read_wide(c->rows, problem->R + c->row);
    row->omega = trace == 0.0 ? 1.0 : trace / row->rows;
    *(packed_v4 *)b = sums(speed[0], speed[1], speed[2]) + bias.low;
    *(packed_v4 *)sizes = sums(size[0], size[1], size[2]);
    own->d = R.low;
    if (row->scale[0] != 1.0 || row->scale[1] != 1.0) {
        S = (packed_v4){row->scale[0], row->scale[1], 1.0, 0.0};
        shared *= S * S;
        own->d = lanes_choose((lane_mask)(S == 0.0), (packed_v4){W[2], W[2], 0.0, 0.0}, S * R.low * S);
    }
    const packed_v4 diagonal = own->d + shared;
    row->diagonal = (diagonal[0] + diagonal[1]) + diagonal[2];
    const double s = row->diagonal > 0.0 ? sqrt(row->rows / row->diagonal) : 1.0;
    S *= s;
    own->d *= s * s;
    for (int32_t k = 0; k < SIDES; k++) {
        for (int32_t r = 0; r < ROWS && c->J[k].tree >= 0; r++) {
            own->X[k][r].low *= S[r];
            own->X[k][r].high *= S[r];
        }
    }
    return s;
}

STN_KERNEL static void fill_rows(const stn_problem *problem, const body *bodies, packed *p, body_row *rows,
                                 body_start *start) {
    for (int32_t i = 0; i < p->n; i++) {
        const int32_t at = p->rows[i].place;
        const double s = fill(problem, bodies, i, &p->rows[i], &rows[i], start->b + at, start->sizes + at);
        *(packed_v4 *)(start->s + at) = (packed_v4){s, s, s, s};
    }
}

bool body_product_build(const stn_problem *problem, const stn_inverse *inverse, stn_arena *arena, packed *p,
                        body_start *start) {
    body_product *product = STN_ARENA(arena, 1, body_product);
    body_row *rows = STN_ARENA(arena, p->n + 1, body_row);
    wide *u = STN_ARENA(arena, problem->tree_count + 1, wide);
    body *bodies = STN_ARENA(arena, problem->tree_count + 1, body);
    start->b = STN_ARENA(arena, 3 * (int64_t)p->size + 4, double); // all of it is written
    const double *v = problem->v_star;
    if (problem->free_impulse != NULL) {
        double *free = STN_ARENA(arena, problem->nv + 1, double);
        double *none = STN_ARENA_ZEROED(arena, problem->row_count + 1, double);
        if (free == NULL || none == NULL) {
            return false;
        }
        stn_inverse_velocity(inverse, problem, none, free);
        v = free;
    }
    if (product == NULL || rows == NULL || u == NULL || bodies == NULL || start->b == NULL) {
        return false;
    }
    start->sizes = start->b + p->size;
    start->s = start->sizes + p->size;
    *product = (body_product){problem->tree_count, rows, u};
    p->bodies = product;
    prepare_bodies(problem, v, bodies);
    fill_rows(problem, bodies, p, rows, start);
    return true;
}

STN_KERNEL void body_product_apply(const body_product *product, const packed *p, const double *x, double *g) {
    wide *u = product->u;
    memset(u, 0, (size_t)product->bodies * sizeof *u);
    for (int32_t i = 0; i < p->n; i++) {
        const body_row *row = &product->rows[i];
        const double *own = x + p->rows[i].place, x0 = own[0], x1 = own[1], x2 = own[2];
        for (int32_t k = 0; k < SIDES; k++) {
            const wide *X = row->X[k];
            wide *sum = &u[row->body[k]];
            sum->low += (X[0].low * x0 + X[1].low * x1) + X[2].low * x2;
            sum->high += (X[0].high * x0 + X[1].high * x1) + X[2].high * x2;
        }
    }
    for (int32_t i = 0; i < p->n; i++) {
        const body_row *row = &product->rows[i];
        const int32_t at = p->rows[i].place;
        const wide *a = &u[row->body[0]], *b = &u[row->body[1]];
        packed_v4 part[ROWS];
        for (int32_t r = 0; r < ROWS; r++) {
            const wide *A = &row->X[0][r], *B = &row->X[1][r];
            part[r] = (A->low * a->low + B->low * b->low) + (A->high * a->high + B->high * b->high);
        }
        *(packed_v4 *)(g + at) =
            *(const packed_v4 *)(p->q + at) + row->d * *(const packed_v4 *)(x + at) + sums(part[0], part[1], part[2]);
    }
}
