// SPDX-License-Identifier: Apache-2.0
// See body_product.h.
#include "common/body_product.h"

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

STN_KERNEL static void half_inverse(const stn_matrix *A, half *out) {
    const int32_t n = A->n;
    double L[DOFS][DOFS], inverse[DOFS]; // L is unit beyond A's rows; of its diagonal
    for (int32_t i = 0; i < DOFS; i++) {
        for (int32_t j = 0; j < DOFS; j++) {
            L[i][j] = i == j ? 1.0 : 0.0;
            if (i < n && j < n && A->form == STN_MATRIX_DENSE) {
                L[i][j] = A->values[i * n + j];
            } else if (i < n && i == j) {
                L[i][i] = A->values[i];
            }
        }
    }
    double(*C)[WIDE] = out->C;
    *out = (half){0};
#pragma GCC unroll 6
    for (int32_t j = 0; j < DOFS; j++) {
#pragma GCC unroll 6
        for (int32_t i = 0; i < DOFS; i++) {
            double sum = L[i][j];
#pragma GCC unroll 6
            for (int32_t k = 0; k < j; k++) {
                sum -= L[i][k] * L[j][k];
            }
            inverse[j] = i == j ? 1.0 / sqrt(sum) : inverse[j];
            L[i][j] = i >= j ? sum * inverse[j] : 0.0;
        }
    }
#pragma GCC unroll 6
    for (int32_t d = 0; d < DOFS; d++) { // L^-1 e_d
        C[d][d] = inverse[d];
#pragma GCC unroll 6
        for (int32_t i = d + 1; i < DOFS; i++) {
            double sum = 0.0;
#pragma GCC unroll 6
            for (int32_t k = d; k < i; k++) {
                sum += L[i][k] * C[d][k];
            }
            C[d][i] = -sum * inverse[i];
        }
    }
}

/// n <= 6 numbers.
STN_KERNEL_INLINE wide read_wide(int32_t n, const double *x) {
    wide out = {{0.0}, {0.0}};
    if (n == DOFS) {
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
    int32_t n;
} body;

/// X without S of a constraint, with the diagonal of X X^T, b without bias, and sizes.
STN_KERNEL static void fill(const stn_constraint *c, const body *bodies, body_row *own, packed_v4 *diagonal,
                            packed_v4 *b, packed_v4 *sizes) {
    packed_v4 square[ROWS] = {{0.0}}, speed[ROWS] = {{0.0}}, size[ROWS] = {{0.0}};
    memset(own, 0, sizeof *own);
    for (int32_t k = 0; k < SIDES; k++) {
        if (c->J[k].tree < 0) {
            continue;
        }
        const body *at = &bodies[c->J[k].tree];
        own->body[k] = c->J[k].tree;
        for (int32_t r = 0; r < c->rows; r++) {
            const wide J = read_wide(at->n, c->J[k].values + r * at->n);
            wide x = {{0.0}, {0.0}};
            for (int32_t d = 0; d < 4; d++) {
                x.low += J.low[d] * *(const packed_v4 *)at->inverse.C[d];
                x.high += J.low[d] * *(const packed_v4 *)(at->inverse.C[d] + 4);
            }
            x.high += J.high[0] * *(const packed_v4 *)(at->inverse.C[4] + 4) +
                      J.high[1] * *(const packed_v4 *)(at->inverse.C[5] + 4); // L^-T has no rows below its diagonal
            own->X[k][r] = x;
            square[r] += x.low * x.low + x.high * x.high;
            speed[r] += J.low * at->v.low + J.high * at->v.high;
            size[r] += lanes_absolute(J.low * at->v_star.low) + lanes_absolute(J.high * at->v_star.high);
        }
    }
    *diagonal = sums(square[0], square[1], square[2]);
    *b = sums(speed[0], speed[1], speed[2]);
    *sizes = sums(size[0], size[1], size[2]);
}

bool body_product_build(const stn_problem *problem, const stn_inverse *inverse, stn_arena *arena, packed *p,
                        body_start *start) {
    body_product *product = STN_ARENA(arena, 1, body_product);
    body_row *rows = STN_ARENA(arena, p->n + 1, body_row);
    wide *u = STN_ARENA(arena, problem->tree_count + 1, wide);
    body *bodies = STN_ARENA(arena, problem->tree_count + 1, body);
    start->b = packed_vector(p, arena);
    start->sizes = packed_vector(p, arena);
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
    if (product == NULL || rows == NULL || u == NULL || bodies == NULL || start->b == NULL || start->sizes == NULL) {
        return false;
    }
    *product = (body_product){problem->tree_count, rows, u};
    p->bodies = product;
    for (int32_t t = 0; t < problem->tree_count; t++) {
        const stn_problem_tree *tree = &problem->trees[t];
        half_inverse(&tree->A, &bodies[t].inverse);
        bodies[t].n = tree->A.n;
        bodies[t].v = read_wide(tree->A.n, v + tree->dof_start);
        bodies[t].v_star = read_wide(tree->A.n, problem->v_star + tree->dof_start);
    }
    for (int32_t i = 0; i < p->n; i++) {
        const stn_constraint *c = &problem->constraints[i];
        packed_row *row = &p->rows[i];
        body_row *own = &rows[i];
        double *b = start->b + row->place;
        packed_v4 W;
        fill(c, bodies, own, &W, (packed_v4 *)b, (packed_v4 *)(start->sizes + row->place));
        const double trace = (W[0] + W[1]) + W[2];
        row->omega = trace == 0.0 ? 1.0 : trace / row->rows;
        for (int32_t r = 0; r < c->rows; r++) {
            const double S = row->cone && r < 2 ? row->scale[r] : 1.0;
            b[r] += problem->bias[c->row + r];
            own->d[r] = S == 0.0 ? W[2] : S * problem->R[c->row + r] * S;
            row->diagonal += own->d[r] + S * W[r] * S;
            for (int32_t k = 0; k < SIDES && S != 1.0; k++) {
                own->X[k][r].low *= S;
                own->X[k][r].high *= S;
            }
        }
    }
    return true;
}

void body_product_scale(body_product *product, int32_t i, double s) {
    body_row *own = &product->rows[i];
    for (int32_t k = 0; k < SIDES * ROWS; k++) {
        own->X[k / ROWS][k % ROWS].low *= s;
        own->X[k / ROWS][k % ROWS].high *= s;
    }
    own->d *= s * s;
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
