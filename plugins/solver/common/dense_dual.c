// SPDX-License-Identifier: Apache-2.0
// See dense_dual.h.
#include "common/dense_dual.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 9000 }; // two matrices of 0.65 GB

/// A block of W in the rows of a constraint; T NULL: 1.
static void put_block(dense_dual *d, const packed_row *row, const packed_block *b, const double *T) {
    const packed_row *other = &d->p->rows[packed_at(d->p, b->place)];
    for (int32_t c = 0; c < other->rows; c++) {
        for (int32_t r = 0; r < row->rows; r++) {
            double scale = T != NULL ? T[row->place + r] * T[other->place + c] : 1.0;
            d->matrix[(size_t)(row->row + r) * (size_t)d->stride + (size_t)(other->row + c)] =
                scale * b->W[c * row->width + r];
        }
    }
}

stn_status dense_dual_build(const packed *p, const double *T, stn_arena *arena, dense_dual *out, stn_error *err) {
    int32_t n = p->n > 0 ? p->rows[p->n - 1].row + p->rows[p->n - 1].rows : 0;
    *out = (dense_dual){.p = p, .n = n, .stride = (n + 7) / 8 * 8};
    if (n > MOST_ROWS) {
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "%d rows as a full matrix, at most %d: solvers apgd and admm_split need none", n, MOST_ROWS);
    }
    size_t size = (size_t)n * (size_t)out->stride + 8;
    out->matrix = STN_ARENA_ZEROED(arena, size, double);
    out->lower = STN_ARENA(arena, size, double);
    out->work = STN_ARENA(arena, out->stride + 8, double);
    if (out->matrix == NULL || out->lower == NULL || out->work == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "Delassus operator of %d rows as a full matrix: out of memory", n);
    }
    for (int32_t i = 0; i < p->n; i++) {
        const packed_row *row = &p->rows[i];
        put_block(out, row, &(packed_block){row->own, row->place, row->rows}, T);
        for (const packed_block *e = p->blocks + row->start; e < p->blocks + row->end; e++) {
            put_block(out, row, e, T);
        }
    }
    double largest = 0.0, apart = 0.0;
    for (int32_t r = 0; r < out->n; r++) {
        for (int32_t c = 0; c <= r; c++) {
            double a = out->matrix[(size_t)r * (size_t)out->stride + (size_t)c];
            double b = out->matrix[(size_t)c * (size_t)out->stride + (size_t)r];
            largest = fmax(largest, fabs(a));
            apart = fmax(apart, fabs(a - b));
        }
    }
    out->symmetric = apart <= 1e-12 * largest;
    return STN_OK;
}

void dense_dual_reset(dense_dual *d) {
    memcpy(d->lower, d->matrix, (size_t)d->n * (size_t)d->stride * sizeof *d->lower);
}

int32_t dense_dual_factor(dense_dual *d) {
    return stn_cholesky(d->n, d->lower, d->stride);
}

void dense_dual_solve(const dense_dual *d, const double *right, double *x) {
    for (int32_t i = 0; i < d->p->n; i++) {
        const packed_row *row = &d->p->rows[i];
        memcpy(d->work + row->row, right + row->place, (size_t)row->rows * sizeof *x);
    }
    stn_cholesky_forward(d->n, d->lower, d->stride, 1, d->work, d->n);
    stn_cholesky_backward(d->n, d->lower, d->stride, 1, d->work, d->n);
    for (int32_t i = 0; i < d->p->n; i++) {
        const packed_row *row = &d->p->rows[i];
        memcpy(x + row->place, d->work + row->row, (size_t)row->rows * sizeof *x);
    }
}
