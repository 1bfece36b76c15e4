// SPDX-License-Identifier: Apache-2.0
// Bilateral rows eliminated from the local form:
//     u = W r + V l + q,  0 = V^T r + R l + s   gives   u = (W - V R^-1 V^T) r + q - V R^-1 s
#include "problem/local_form.h"

#include <math.h>
#include <string.h>

stn_status local_form_reduce(const stn_problem *problem, stn_arena *arena, local_form *out, stn_error *err) {
    int32_t rows = problem->row_count, n = problem->bilateral_count, columns = rows + 1;
    *out = (local_form){problem->W, problem->q};
    if (n == 0 || rows == 0) {
        return STN_OK;
    }
    double *R = STN_ARENA(arena, (size_t)n * (size_t)n, double);
    double *X = STN_ARENA(arena, (size_t)n * (size_t)columns, double); // R^-1 [V^T s]
    double *W = STN_ARENA(arena, (size_t)rows * (size_t)rows, double);
    double *q = STN_ARENA(arena, rows, double);
    if (R == NULL || X == NULL || W == NULL || q == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "local problem with %d bilateral rows: out of memory", n);
    }
    memcpy(R, problem->R_bilateral, (size_t)n * (size_t)n * sizeof *R);
    for (int32_t k = 0; k < n; k++) {
        for (int32_t i = 0; i < rows; i++) {
            X[k * columns + i] = problem->V[i * n + k];
        }
        X[k * columns + rows] = problem->s[k];
    }
    if (!stn_matrix_eliminate(n, columns, R, X)) {
        return stn_fail(err, STN_ERR_NUMERIC, "R_bilateral (%d x %d) is singular: drop redundant bilateral rows", n, n);
    }
    memcpy(W, problem->W, (size_t)rows * (size_t)rows * sizeof *W);
    memcpy(q, problem->q, (size_t)rows * sizeof *q);
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t k = 0; k < n; k++) {
            double v = problem->V[i * n + k];
            for (int32_t j = 0; j < rows; j++) {
                W[i * rows + j] -= v * X[k * columns + j];
            }
            q[i] -= v * X[k * columns + rows];
        }
    }
    *out = (local_form){W, q};
    return STN_OK;
}

double local_form_asymmetry(const stn_problem *problem) {
    size_t rows = (size_t)problem->row_count;
    double largest = 0.0, difference = 0.0;
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < rows; j++) {
            double one = problem->W[i * rows + j];
            largest = fmax(largest, fabs(one));
            difference = fmax(difference, fabs(one - problem->W[j * rows + i]));
        }
    }
    return largest > 0.0 ? difference / largest : 0.0;
}

/// Four rows at a time: each sum alone would wait for its own additions.
void local_form_velocity(const local_form *form, int32_t rows, const double *gamma, double *v_c) {
    int32_t i = 0;
    for (; i + 4 <= rows; i += 4) {
        const double *row = form->W + (size_t)i * (size_t)rows;
        const double *row1 = row + rows, *row2 = row1 + rows, *row3 = row2 + rows;
        double sum = form->q[i], sum1 = form->q[i + 1], sum2 = form->q[i + 2], sum3 = form->q[i + 3];
        for (int32_t j = 0; j < rows; j++) {
            sum += row[j] * gamma[j];
            sum1 += row1[j] * gamma[j];
            sum2 += row2[j] * gamma[j];
            sum3 += row3[j] * gamma[j];
        }
        v_c[i] = sum;
        v_c[i + 1] = sum1;
        v_c[i + 2] = sum2;
        v_c[i + 3] = sum3;
    }
    for (; i < rows; i++) {
        const double *row = form->W + (size_t)i * (size_t)rows;
        double sum = form->q[i];
        for (int32_t j = 0; j < rows; j++) {
            sum += row[j] * gamma[j];
        }
        v_c[i] = sum;
    }
}

/// Is any number of a block (rows x columns, rows `stride` apart) not 0? Whole blocks at a time: that costs less than
/// to ask each.
static inline __attribute__((always_inline)) bool any(const double *block, size_t stride, int32_t rows,
                                                      int32_t columns) {
    uint64_t all = 0;
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t c = 0; c < columns; c++) {
            uint64_t bits;
            memcpy(&bits, &block[(size_t)r * stride + (size_t)c], sizeof bits);
            all |= bits;
        }
    }
    return all << 1 != 0; // without the sign
}

void local_form_block_row(const stn_problem *problem, const double *W, int32_t i, bool *present) {
    const stn_constraint *row = &problem->constraints[i];
    size_t stride = (size_t)problem->row_count;
    const double *block = W + (size_t)row->row * stride;
    for (int32_t j = 0; j < problem->constraint_count; j++) { // constraints have their rows one after the other
        int32_t columns = problem->constraints[j].rows;
        present[j] = row->rows == 3 && columns == 3 ? any(block, stride, 3, 3) : any(block, stride, row->rows, columns);
        block += columns;
    }
}

const bool *local_form_blocks(const stn_problem *problem, const double *W, stn_arena *arena) {
    size_t n = (size_t)problem->constraint_count;
    bool *blocks = STN_ARENA(arena, n * n, bool);
    if (blocks == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        local_form_block_row(problem, W, (int32_t)i, blocks + i * n);
    }
    for (size_t i = 0; i < n; i++) {
        blocks[i * n + i] = true;
        for (size_t j = 0; j < i; j++) {
            blocks[i * n + j] = blocks[j * n + i] = blocks[i * n + j] || blocks[j * n + i];
        }
    }
    return blocks;
}
