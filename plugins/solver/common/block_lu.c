// SPDX-License-Identifier: Apache-2.0
// Factoring and solving; see block_lu.h.
#include "common/block_lu.h"

#include <math.h>
#include <string.h>

#include "common/vectors.h"

// ------------------------------------------------------------------------------------------------------- dense fronts

/// What is subtracted from rows of a front: products with `depth` rows b, `columns` of each, a multiple of 4.
typedef struct strip {
    int64_t stride;
    int32_t depth, columns;
    const double *b;
} strip;

/// c (4 rows) -= a (4 x depth) b.
STN_KERNEL_INLINE void subtract_rows(const strip *s, const double *a, double *c) {
    const int64_t stride = s->stride;
    int32_t j = 0;
    for (; j + 8 <= s->columns; j += 8) {
        v4u sum[4][2] = {{{0.0}}};
        for (int32_t p = 0; p < s->depth; p++) {
            v4u left = *(const v4u *)(s->b + p * stride + j), right = *(const v4u *)(s->b + p * stride + j + 4);
            for (int32_t r = 0; r < 4; r++) {
                sum[r][0] += a[r * stride + p] * left;
                sum[r][1] += a[r * stride + p] * right;
            }
        }
        for (int32_t r = 0; r < 4; r++) {
            *(v4u *)(c + r * stride + j) -= sum[r][0];
            *(v4u *)(c + r * stride + j + 4) -= sum[r][1];
        }
    }
    for (; j < s->columns; j += 4) {
        v4u sum[4] = {{0.0}};
        for (int32_t p = 0; p < s->depth; p++) {
            v4u left = *(const v4u *)(s->b + p * stride + j);
            for (int32_t r = 0; r < 4; r++) {
                sum[r] += a[r * stride + p] * left;
            }
        }
        for (int32_t r = 0; r < 4; r++) {
            *(v4u *)(c + r * stride + j) -= sum[r];
        }
    }
}

/// c (one row) -= a (depth) b.
STN_KERNEL_INLINE void subtract_row(const strip *s, const double *a, double *c) {
    for (int32_t p = 0; p < s->depth; p++) {
        double factor = a[p];
        for (int32_t j = 0; j < s->columns; j += 4) {
            *(v4u *)(c + j) -= factor * *(const v4u *)(s->b + p * s->stride + j);
        }
    }
}

/// A front while it is factored: m x m, rows `stride` apart, of which the first k are eliminated.
typedef struct dense_front {
    double *F;
    int64_t stride;
    int32_t m, k;
    int32_t *exchange; // (k)
} dense_front;

/// Columns [from, to) of the front, all rows below; rows are exchanged among the first k.
STN_KERNEL_INLINE bool factor_panel(const dense_front *f, int32_t from, int32_t to) {
    double *const F = f->F;
    const int64_t stride = f->stride;
    for (int32_t p = from; p < to; p++) {
        int32_t largest = p;
        for (int32_t i = p + 1; i < f->k; i++) {
            largest = fabs(F[i * stride + p]) > fabs(F[largest * stride + p]) ? i : largest;
        }
        f->exchange[p] = largest;
        double *pivot = F + p * stride, *other = F + largest * stride;
        for (int32_t j = 0; j < f->m && largest != p; j++) {
            double t = pivot[j];
            pivot[j] = other[j];
            other[j] = t;
        }
        if (!(fabs(pivot[p]) > 0.0 && fabs(pivot[p]) < (double)INFINITY)) {
            return false;
        }
        double inverse = 1.0 / pivot[p];
        for (int32_t i = p + 1; i < f->m; i++) {
            double *row = F + i * stride, factor = row[p] * inverse;
            row[p] = factor;
            if (factor != 0.0) {
                for (int32_t j = p + 1; j < to; j++) {
                    row[j] -= factor * pivot[j];
                }
            }
        }
    }
    return true;
}

/// L U of the first k rows and columns, and what is left of the others.
STN_KERNEL static bool factor_front(const dense_front *f) {
    enum { PANEL = 24 };
    double *const F = f->F;
    const int64_t stride = f->stride;
    const int32_t m = f->m, k = f->k;
    for (int32_t from = 0; from < k; from += PANEL) {
        int32_t to = from + PANEL < k ? from + PANEL : k, columns = m - to;
        if (!factor_panel(f, from, to)) {
            return false;
        }
        if (columns == 0) {
            break;
        }
        columns = (int32_t)stride - to; // to the end of the padding, which is zero
        int32_t whole = columns / 4 * 4, ragged = columns - whole;
        for (int32_t r = 0; r < ragged; r++) { // so that the others are whole vectors
            for (int32_t p = from; p < to; p++) {
                for (int32_t q = from; q < p; q++) {
                    F[p * stride + to + r] -= F[p * stride + q] * F[q * stride + to + r];
                }
            }
            for (int32_t i = to; i < m; i++) {
                double sum = 0.0;
                for (int32_t p = from; p < to; p++) {
                    sum += F[i * stride + p] * F[p * stride + to + r];
                }
                F[i * stride + to + r] -= sum;
            }
        }
        strip U = {stride, 0, whole, F + from * stride + to + ragged};
        for (int32_t p = from + 1; p < to; p++) {
            U.depth = p - from;
            subtract_row(&U, F + p * stride + from, F + p * stride + to + ragged);
        }
        U.depth = to - from;
        int32_t i = to;
        for (; i + 4 <= m; i += 4) {
            double *row = F + i * stride;
            subtract_rows(&U, row + from, row + to + ragged);
        }
        for (; i < m; i++) {
            double *row = F + i * stride;
            subtract_row(&U, row + from, row + to + ragged);
        }
    }
    return true;
}

// -------------------------------------------------------------------------------------------------------- numeric part

STN_KERNEL_INLINE void add_block(int32_t rows, int32_t columns, int64_t stride, const double *restrict from,
                                 double *restrict to) {
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t c = 0; c < columns; c++) {
            to[r * stride + c] += from[r * columns + c];
        }
    }
}

static void add_entry(const block_lu *lu, int32_t i, int32_t e, int64_t stride) {
    int32_t j = lu->column[e], rows = lu->size[i], columns = lu->size[j];
    const double *from = lu->values + lu->offset[e];
    double *to = lu->front + lu->local[i] * stride + lu->local[j];
    if (rows == 3 && columns == 3) { // nearly all
        add_block(3, 3, stride, from, to);
    } else {
        add_block(rows, columns, stride, from, to);
    }
}

/// What a child left, the last thing on the stack, into the front of its parent. Returns the stack's new end.
static double *add_child(const block_lu *lu, const block_front *child, double *top, int64_t stride) {
    int32_t rows = 0;
    for (int32_t k = child->pivots; k < child->pivots + child->rest; k++) {
        int32_t block = child->blocks[k];
        for (int32_t r = 0; r < lu->rows_of[block]; r++) {
            lu->relative[rows++] = lu->local[block] + r;
        }
    }
    top -= (size_t)rows * (size_t)rows;
    for (int32_t r = 0; r < rows; r++) {
        double *to = lu->front + lu->relative[r] * stride;
        for (int32_t c = 0; c < rows; c++) {
            to[lu->relative[c]] += top[(int64_t)r * rows + c];
        }
    }
    return top;
}

bool block_lu_factor(block_lu *lu, const bool *left_out) {
    int32_t waiting = 0;
    double *top = lu->stack;
    for (int32_t i = 0; i < lu->n; i++) {
        lu->rows_of[i] = left_out != NULL && left_out[i] ? 0 : lu->size[i];
    }
    for (int32_t i = 0; i < lu->front_count; i++) {
        const block_front *f = &lu->fronts[i];
        dense_front dense = {.F = lu->front, .exchange = lu->exchanges + f->pivot};
        for (int32_t b = 0; b < f->pivots + f->rest; b++) { // where the blocks begin in it
            lu->local[f->blocks[b]] = dense.m;
            dense.m += lu->rows_of[f->blocks[b]];
            dense.k = b < f->pivots ? dense.m : dense.k;
        }
        const int32_t m = dense.m, k = dense.k;
        const int64_t stride = dense.stride = block_lu_stride(m);
        memset(lu->front, 0, (size_t)(m * stride) * sizeof *lu->front);
        for (int32_t b = 0; b < f->pivots; b++) {
            int32_t block = f->blocks[b];
            for (int32_t e = lu->row_start[block]; lu->rows_of[block] > 0 && e < lu->row_start[block + 1]; e++) {
                int32_t j = lu->column[e];
                if (lu->rows_of[j] == 0 || lu->position[j] < lu->position[block]) {
                    continue;
                }
                add_entry(lu, block, e, stride);
                if (j != block) {
                    add_entry(lu, j, lu->mirror[e], stride);
                }
            }
        }
        for (int32_t c = 0; c < f->children; c++) {
            top = add_child(lu, &lu->fronts[lu->waiting[--waiting]], top, stride);
        }
        if (!factor_front(&dense)) {
            return false;
        }
        double *to = lu->factors + f->place;
        for (int32_t r = 0; r < m; r++) {
            int32_t columns = r < k ? m : k;
            memcpy(to, lu->front + r * stride, (size_t)columns * sizeof *to);
            to += columns;
        }
        if (f->rest > 0) {
            lu->waiting[waiting++] = i;
            for (int32_t r = k; r < m; r++, top += m - k) {
                memcpy(top, lu->front + r * stride + k, (size_t)(m - k) * sizeof *top);
            }
        }
    }
    return true;
}

/// The rows of a front's blocks, in `relative`.
static int32_t list_rows(const block_lu *lu, const block_front *f, int32_t *pivot_rows) {
    int32_t at = 0;
    for (int32_t k = 0; k < f->pivots + f->rest; k++) {
        if (k == f->pivots) {
            *pivot_rows = at;
        }
        for (int32_t r = 0; r < lu->rows_of[f->blocks[k]]; r++) {
            lu->relative[at++] = lu->start[f->blocks[k]] + r;
        }
    }
    if (f->rest == 0) {
        *pivot_rows = at;
    }
    return at;
}

void block_lu_solve(const block_lu *lu, double *x) {
    double *y = lu->work;
    const int32_t *rows = lu->relative;
    for (int32_t i = 0; i < lu->front_count; i++) {
        const block_front *f = &lu->fronts[i];
        int32_t k = 0, m = list_rows(lu, f, &k);
        const double *L = lu->factors + f->place;
        for (int32_t r = 0; r < k; r++) {
            y[r] = x[rows[r]];
        }
        for (int32_t r = 0; r < k; r++) { // y (k) = L11^-1 P y
            int32_t other = lu->exchanges[f->pivot + r];
            double t = y[r];
            y[r] = y[other];
            y[other] = t;
        }
        for (int32_t r = 0; r < k; r++) {
            double sum = 0.0;
            for (int32_t c = 0; c < r; c++) {
                sum += L[(size_t)r * (size_t)m + (size_t)c] * y[c];
            }
            y[r] -= sum;
        }
        for (int32_t r = 0; r < k; r++) {
            x[rows[r]] = y[r];
        }
        // x[rows] -= L21 y; four at a time, because each sum waits for its own additions
        int32_t r = k;
        for (L += (size_t)k * (size_t)m; r + 4 <= m; r += 4, L += 4 * (int64_t)k) {
            const double *L1 = L + k, *L2 = L1 + k, *L3 = L2 + k;
            double sum0 = 0.0, sum1 = 0.0, sum2 = 0.0, sum3 = 0.0;
            for (int32_t c = 0; c < k; c++) {
                sum0 += L[c] * y[c];
                sum1 += L1[c] * y[c];
                sum2 += L2[c] * y[c];
                sum3 += L3[c] * y[c];
            }
            x[rows[r]] -= sum0;
            x[rows[r + 1]] -= sum1;
            x[rows[r + 2]] -= sum2;
            x[rows[r + 3]] -= sum3;
        }
        for (; r < m; r++, L += k) {
            double sum = 0.0;
            for (int32_t c = 0; c < k; c++) {
                sum += L[c] * y[c];
            }
            x[rows[r]] -= sum;
        }
    }
    for (int32_t i = lu->front_count; i-- > 0;) {
        const block_front *f = &lu->fronts[i];
        int32_t k = 0, m = list_rows(lu, f, &k);
        for (int32_t r = 0; r < m; r++) {
            y[r] = x[rows[r]];
        }
        for (int32_t r = k; r-- > 0;) { // y_1 (k) = U11^-1 (y_1 - U12 y_2)
            const double *row = lu->factors + f->place + (size_t)r * (size_t)m;
            double sum = y[r];
            for (int32_t c = r + 1; c < m; c++) {
                sum -= row[c] * y[c];
            }
            y[r] = sum / row[r];
        }
        for (int32_t r = 0; r < k; r++) {
            x[rows[r]] = y[r];
        }
    }
}
