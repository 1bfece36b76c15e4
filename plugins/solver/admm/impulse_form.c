// SPDX-License-Identifier: Apache-2.0
// See admm.h.
#include <math.h>
#include <string.h>

#include "admm.h"

/// Rows and columns of a block into the matrix; `place` is the first padded place of its columns.
static void put_block(impulse_form *form, const packed_row *row, const double *W, int32_t column, int32_t columns) {
    for (int32_t c = 0; c < columns; c++) {
        for (int32_t r = 0; r < row->rows; r++) {
            form->matrix[(size_t)(row->row + r) * (size_t)form->stride + (size_t)(column + c)] = W[c * row->width + r];
        }
    }
}

/// The constraint whose padded vectors begin at `place`; they ascend.
static const packed_row *row_at(const packed *H, int32_t place) {
    int32_t low = 0, high = H->n;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (H->rows[middle].place <= place) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &H->rows[low];
}

stn_status impulse_form_build(const stn_problem *problem, const stn_solve_control *control, const scaled_dual *dual,
                              impulse_form *out, stn_error *err) {
    *out = (impulse_form){.H = &dual->H, .n = problem->row_count, .stride = (problem->row_count + 7) / 8 * 8};
    size_t size = (size_t)out->n * (size_t)out->stride + 8;
    out->matrix = STN_ARENA_ZEROED(control->arena, size, double);
    out->lower = STN_ARENA(control->arena, size, double);
    out->rows = STN_ARENA(control->arena, out->stride + 8, double);
    if (out->matrix == NULL || out->lower == NULL || out->rows == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "Delassus operator of %d rows as a full matrix: out of memory", out->n);
    }
    for (int32_t i = 0; i < out->H->n; i++) {
        const packed_row *row = &out->H->rows[i];
        put_block(out, row, row->own, row->row, row->rows);
        for (const packed_block *e = out->H->blocks + row->start; e < out->H->blocks + row->end; e++) {
            put_block(out, row, e->W, row_at(out->H, e->place)->row, e->columns);
        }
    }
    return STN_OK;
}

stn_status impulse_form_factor(impulse_form *form, double sigma, stn_error *err) {
    memcpy(form->lower, form->matrix, (size_t)form->n * (size_t)form->stride * sizeof(double));
    for (int32_t r = 0; r < form->n; r++) {
        form->lower[(size_t)r * (size_t)(form->stride + 1)] += sigma;
    }
    int32_t pivot = stn_cholesky(form->n, form->lower, form->stride);
    return pivot < 0
               ? STN_OK
               : stn_fail(err, STN_ERR_NUMERIC, "W + R + %g: pivot of row %d is not > 0 and finite", sigma, pivot);
}

void impulse_form_solve(const impulse_form *form, double sigma, const double *w, double *x) {
    for (int32_t i = 0; i < form->H->n; i++) {
        const packed_row *row = &form->H->rows[i];
        for (int32_t r = 0; r < row->rows; r++) {
            form->rows[row->row + r] = sigma * w[row->place + r] - form->H->q[row->place + r];
        }
    }
    stn_cholesky_forward(form->n, form->lower, form->stride, 1, form->rows, form->n);
    stn_cholesky_backward(form->n, form->lower, form->stride, 1, form->rows, form->n);
    for (int32_t i = 0; i < form->H->n; i++) {
        const packed_row *row = &form->H->rows[i];
        memcpy(x + row->place, form->rows + row->row, (size_t)row->rows * sizeof *x);
    }
}
