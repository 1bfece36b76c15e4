// SPDX-License-Identifier: Apache-2.0
// See body_product.h.
#include "common/body_product.h"

#include <math.h>
#include <string.h>

#include "common/cone_lanes.h"

enum { DOFS = 6, SIDES = 2, ROWS = 3 };

// Six numbers of a body, or of a row of J, which need not be aligned.
typedef double loose_v4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef double loose_v2 __attribute__((vector_size(16), aligned(8), may_alias));
typedef double packed_v2 __attribute__((vector_size(16), may_alias));
typedef struct six {
    packed_v4 low;
    packed_v2 high;
} six;

typedef struct body {
    double inverse[DOFS * DOFS]; // A^-1; 0 beyond A's rows
    double u[DOFS];
} body;

typedef struct body_row {
    packed_v4 S, d;         // of x_i: s S, and s S R S s
    const double *J[SIDES]; // (3 x 6); zeros where there is no tree
    int32_t body[SIDES];    // the first body where there is none
} body_row;

struct body_product {
    int32_t count;
    body *bodies;   // (count)
    body_row *rows; // (n)
};

bool body_product_fits(const stn_problem *problem) {
    bool fits = problem->form == STN_FORM_GLOBAL;
    for (int32_t t = 0; t < problem->tree_count && fits; t++) {
        const stn_matrix *A = &problem->trees[t].A;
        fits = A->n <= DOFS && (A->form == STN_MATRIX_DENSE || A->form == STN_MATRIX_DIAGONAL);
    }
    for (int32_t i = 0; i < problem->constraint_count && fits; i++) {
        const stn_constraint *c = &problem->constraints[i];
        fits = c->rows <= ROWS && c->more_count == 0 && c->J[0].tree >= 0 && c->J[0].node_count == 0 &&
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

/// A^-1 of four trees, one a lane: A = L L^T, C = L^-1, A^-1 = C^T C.
STN_KERNEL_INLINE void invert(const stn_matrix *const A[4], body *const out[4]) {
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
#pragma GCC unroll 6
    for (int32_t i = 0; i < DOFS; i++) {
#pragma GCC unroll 6
        for (int32_t j = 0; j <= i; j++) {
            packed_v4 sum = {0.0};
#pragma GCC unroll 6
            for (int32_t k = i; k < DOFS; k++) {
                sum += C[i][k] * C[j][k];
            }
            for (int32_t k = 0; k < 4; k++) {
                const double value = i < A[k]->n ? sum[k] : 0.0; // unit beyond A's rows: off its diagonal 0 as it is
                out[k]->inverse[i * DOFS + j] = out[k]->inverse[j * DOFS + i] = value;
            }
        }
    }
}

/// n <= 6 numbers, then zeros.
STN_KERNEL_INLINE six read_six(int32_t n, const double *x) {
    double padded[DOFS] = {0.0};
    if (n < DOFS) {
        memcpy(padded, x, (size_t)n * sizeof *x);
        x = padded;
    }
    return (six){*(const loose_v4 *)x, *(const loose_v2 *)(x + 4)};
}

STN_KERNEL_INLINE packed_v2 halved(packed_v4 x) {
    return (packed_v2){x[0], x[1]} + (packed_v2){x[2], x[3]};
}

/// (sum of a, sum of b, sum of c, 0) of the numbers of three sixes.
STN_KERNEL_INLINE packed_v4 sums(const six x[ROWS]) {
    const packed_v2 a = halved(x[0].low) + x[0].high, b = halved(x[1].low) + x[1].high,
                    c = halved(x[2].low) + x[2].high;
    return (packed_v4){a[0], b[0], c[0], 0.0} + (packed_v4){a[1], b[1], c[1], 0.0};
}

/// J as three rows of six: where it lies, or a copy. NULL: out of memory.
static const double *rows_of_six(const stn_constraint *c, int32_t side, int32_t n, stn_arena *arena) {
    const double *J = c->J[side].values;
    double *copy = c->rows == ROWS && n == DOFS ? NULL : STN_ARENA_ZEROED(arena, ROWS * DOFS, double);
    for (int32_t r = 0; r < c->rows && copy != NULL; r++) {
        memcpy(copy + r * DOFS, J + r * n, (size_t)n * sizeof *copy);
    }
    return c->rows == ROWS && n == DOFS ? J : copy;
}

/// A^-1 of all, and how many constraints share each.
STN_KERNEL static void prepare_bodies(const stn_problem *problem, body *bodies, double *shared) {
    const int32_t count = problem->tree_count;
    for (int32_t t = 0; t < count; t += 4) {
        const stn_matrix *A[4];
        body *out[4], none; // lanes beyond the last tree
        for (int32_t k = 0; k < 4; k++) {
            A[k] = &problem->trees[t + k < count ? t + k : t].A;
            out[k] = t + k < count ? &bodies[t + k] : &none;
        }
        invert(A, out);
    }
    memset(shared, 0, (size_t)count * sizeof *shared);
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        for (int32_t k = 0; k < SIDES; k++) {
            const int32_t t = problem->constraints[i].J[k].tree;
            shared[t < 0 ? 0 : t] += t < 0 ? 0.0 : 1.0;
        }
    }
}

/// b and sizes of a constraint without bias.
STN_KERNEL_INLINE void add_speeds(const stn_problem *problem, const body_row *own, const stn_constraint *c,
                                  const double *v, six b[ROWS], six sizes[ROWS]) {
    for (int32_t k = 0; k < SIDES; k++) {
        if (c->J[k].tree < 0) {
            continue;
        }
        const stn_problem_tree *tree = &problem->trees[c->J[k].tree];
        const six at = read_six(tree->A.n, v + tree->dof_start);
        const six star = read_six(tree->A.n, problem->v_star + tree->dof_start);
        for (int32_t r = 0; r < ROWS; r++) {
            const six J = read_six(DOFS, own->J[k] + r * DOFS);
            b[r].low += J.low * at.low;
            b[r].high += J.high * at.high;
            sizes[r].low += lanes_absolute(J.low * star.low);
            const packed_v2 product = J.high * star.high;
            sizes[r].high += (packed_v2){fabs(product[0]), fabs(product[1])};
        }
    }
}

/// trace(J A^-1 J^T) where the problem does not know it.
static double trace_of(const body *bodies, const body_row *own, const stn_constraint *c) {
    double trace = 0.0;
    for (int32_t k = 0; k < SIDES; k++) {
        for (int32_t e = 0; e < ROWS * DOFS * DOFS && c->J[k].tree >= 0; e++) {
            const int32_t i = e / DOFS % DOFS, j = e % DOFS;
            const double *J = own->J[k] + e / (DOFS * DOFS) * DOFS;
            trace += J[i] * bodies[c->J[k].tree].inverse[i * DOFS + j] * J[j];
        }
    }
    return trace;
}

/// Of constraint i: b, sizes, omega, diagonal, s, and of its row what is not there yet.
STN_KERNEL_INLINE void fill(const stn_problem *problem, const body *bodies, const double *shared, const double *v,
                            int32_t i, packed_row *row, body_row *own, const body_start *start) {
    const stn_constraint *c = &problem->constraints[i];
    const int32_t at = row->place, last = c->J[1].tree < 0 ? c->J[0].tree : c->J[1].tree;
    six b[ROWS] = {{{0.0}, {0.0}}}, sizes[ROWS] = {{{0.0}, {0.0}}};
    add_speeds(problem, own, c, v, b, sizes);
    const six bias = read_six(c->rows, problem->bias + c->row), R = read_six(c->rows, problem->R + c->row);
    *(packed_v4 *)(start->b + at) = sums(b) + bias.low;
    *(packed_v4 *)(start->sizes + at) = sums(sizes);
    const double trace = isnan(c->w_trace) ? trace_of(bodies, own, c) : c->w_trace;
    row->omega = trace == 0.0 ? 1.0 : trace / row->rows;
    own->S = (packed_v4){1.0, 1.0, 1.0, 0.0};
    own->d = R.low;
    if (row->scale[0] != 1.0 || row->scale[1] != 1.0) {
        own->S = (packed_v4){row->scale[0], row->scale[1], 1.0, 0.0};
        own->d *= own->S * own->S;
        for (int32_t r = 0; r < 2; r++) {
            own->d[r] = own->S[r] == 0.0 ? row->omega : own->d[r];
        }
    }
    row->diagonal = sqrt(0.5 * (shared[c->J[0].tree] + shared[last])) * trace + (own->d[0] + own->d[1]) + own->d[2];
    const double s = row->diagonal > 0.0 ? sqrt(row->rows / row->diagonal) : 1.0;
    own->S *= s;
    own->d *= s * s;
    *(packed_v4 *)(start->s + at) = (packed_v4){s, s, s, s};
}

STN_KERNEL static void fill_rows(const stn_problem *problem, const body *bodies, const double *shared, const double *v,
                                 packed *p, body_row *rows, const body_start *start) {
    for (int32_t i = 0; i < p->n; i++) {
        fill(problem, bodies, shared, v, i, &p->rows[i], &rows[i], start);
    }
}

bool body_product_build(const stn_problem *problem, const stn_inverse *inverse, stn_arena *arena, packed *p,
                        body_start *start) {
    static const double no_rows[ROWS * DOFS] = {0.0};
    body_product *product = STN_ARENA(arena, 1, body_product);
    body_row *rows = STN_ARENA(arena, p->n + 1, body_row);
    body *bodies = STN_ARENA(arena, problem->tree_count + 1, body);
    double *shared = STN_ARENA(arena, problem->tree_count + 1, double);
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
    if (product == NULL || rows == NULL || bodies == NULL || shared == NULL || start->b == NULL) {
        return false;
    }
    start->sizes = start->b + p->size;
    start->s = start->sizes + p->size;
    for (int32_t i = 0; i < p->n; i++) {
        const stn_constraint *c = &problem->constraints[i];
        for (int32_t k = 0; k < SIDES; k++) {
            const int32_t t = c->J[k].tree;
            rows[i].body[k] = t < 0 ? 0 : t;
            rows[i].J[k] = t < 0 ? no_rows : rows_of_six(c, k, problem->trees[t].A.n, arena);
            if (rows[i].J[k] == NULL) {
                return false;
            }
        }
    }
    *product = (body_product){problem->tree_count, bodies, rows};
    p->bodies = product;
    prepare_bodies(problem, bodies, shared);
    fill_rows(problem, bodies, shared, v, p, rows, start);
    return true;
}

STN_KERNEL void body_product_apply(const body_product *product, const packed *p, const double *x, double *g) {
    for (int32_t t = 0; t < product->count; t++) {
        memset(product->bodies[t].u, 0, sizeof product->bodies[t].u);
    }
    for (int32_t i = 0; i < p->n; i++) { // u = J^T S x
        const body_row *row = &product->rows[i];
        const double *own = x + p->rows[i].place, x0 = row->S[0] * own[0], x1 = row->S[1] * own[1],
                     x2 = row->S[2] * own[2];
        for (int32_t k = 0; k < SIDES; k++) {
            const double *J = row->J[k];
            double *u = product->bodies[row->body[k]].u;
            *(loose_v4 *)u += (*(const loose_v4 *)J * x0 + *(const loose_v4 *)(J + DOFS) * x1) +
                              *(const loose_v4 *)(J + 2 * DOFS) * x2;
            *(loose_v2 *)(u + 4) += (*(const loose_v2 *)(J + 4) * x0 + *(const loose_v2 *)(J + DOFS + 4) * x1) +
                                    *(const loose_v2 *)(J + 2 * DOFS + 4) * x2;
        }
    }
    for (int32_t t = 0; t < product->count; t++) { // u = A^-1 u
        body *own = &product->bodies[t];
        six sum = {{0.0}, {0.0}};
        for (int32_t d = 0; d < DOFS; d++) {
            sum.low += *(const loose_v4 *)(own->inverse + d * DOFS) * own->u[d];
            sum.high += *(const loose_v2 *)(own->inverse + d * DOFS + 4) * own->u[d];
        }
        *(loose_v4 *)own->u = sum.low;
        *(loose_v2 *)(own->u + 4) = sum.high;
    }
    for (int32_t i = 0; i < p->n; i++) { // S J u
        const body_row *row = &product->rows[i];
        const int32_t at = p->rows[i].place;
        const six a = read_six(DOFS, product->bodies[row->body[0]].u);
        const six b = read_six(DOFS, product->bodies[row->body[1]].u);
        six part[ROWS];
        for (int32_t r = 0; r < ROWS; r++) {
            const six A = read_six(DOFS, row->J[0] + r * DOFS), B = read_six(DOFS, row->J[1] + r * DOFS);
            part[r] = (six){A.low * a.low + B.low * b.low, A.high * a.high + B.high * b.high};
        }
        *(packed_v4 *)(g + at) =
            *(const packed_v4 *)(p->q + at) + row->d * *(const packed_v4 *)(x + at) + row->S * sums(part);
    }
}
