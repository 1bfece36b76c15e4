// SPDX-License-Identifier: Apache-2.0
// Symmetric positive definite block matrices on given graphs, for the factor back ends.
#ifndef STN_BLOCKS_H
#define STN_BLOCKS_H

#include <string.h>

#include <stiction/factor.h>

#include "stn_random.h"

typedef struct blocks {
    stn_block_matrix matrix; // its arrays are owned here
    int32_t n;
    int32_t *size, *start, *column_start, *row;
    int64_t *offset;
} blocks;

// Pattern from a full boolean adjacency (count x count); the diagonal is always in.
static inline blocks blocks_create(int32_t count, const int32_t *size, const bool *adjacent) {
    blocks b = {0};
    size_t n = (size_t)count;
    b.size = calloc(n + 1, sizeof *b.size);
    b.start = calloc(n + 1, sizeof *b.start);
    b.column_start = calloc(n + 1, sizeof *b.column_start);
    b.row = calloc(n * (n + 1) / 2 + 1, sizeof *b.row);
    b.offset = calloc(n * (n + 1) / 2 + 2, sizeof *b.offset);
    int32_t e = 0;
    for (size_t j = 0; j < n; j++) {
        b.size[j] = size[j];
        b.start[j + 1] = b.start[j] + size[j];
        for (size_t i = j; i < n; i++) {
            if (i == j || adjacent[i * n + j] || adjacent[j * n + i]) {
                b.row[e] = (int32_t)i;
                b.offset[e + 1] = b.offset[e] + (int64_t)size[i] * size[j];
                e++;
            }
        }
        b.column_start[j + 1] = e;
    }
    b.n = b.start[n];
    b.matrix.pattern = (stn_block_pattern){count, b.size, b.column_start, b.row, NULL};
    b.matrix.offset = b.offset;
    b.matrix.values = calloc((size_t)b.offset[e] + 1, sizeof(double));
    return b;
}

static inline void blocks_clear(blocks *b) {
    free(b->size);
    free(b->start);
    free(b->column_start);
    free(b->row);
    free(b->offset);
    free(b->matrix.values);
}

// Values like those of a contact problem: a positive definite block per body, G = sum of J^T J over the edges.
static inline void blocks_fill(blocks *b, stn_random *r) {
    const stn_block_pattern *p = &b->matrix.pattern;
    double *values = b->matrix.values;
    memset(values, 0, (size_t)b->offset[p->column_start[p->block_count]] * sizeof *values);
    for (int32_t j = 0; j < p->block_count; j++) {
        for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
            int32_t i = p->row[e];
            double Ji[3 * 64], Jj[3 * 64];
            for (int32_t k = 0; k < 3 * 64; k++) {
                Ji[k] = random_real(r);
                Jj[k] = random_real(r);
            }
            double *target[3] = {values + b->offset[p->column_start[i]], values + b->offset[e],
                                 values + b->offset[p->column_start[j]]};
            const double *left[3] = {Ji, Ji, Jj}, *right[3] = {Ji, Jj, Jj};
            int32_t rows[3] = {b->size[i], b->size[i], b->size[j]}, columns[3] = {b->size[i], b->size[j], b->size[j]};
            for (int32_t k = 0; k < 3 && i != j; k++) {
                for (int32_t x = 0; x < rows[k] * columns[k]; x++) {
                    for (int32_t q = 0; q < 3; q++) {
                        target[k][x] += left[k][3 * (x / columns[k]) + q] * right[k][3 * (x % columns[k]) + q];
                    }
                }
            }
            for (int32_t x = 0; x < rows[0] && i == j; x++) {
                target[1][x * (rows[0] + 1)] += 0.5;
            }
        }
    }
}

// The matrix in full (n x n); caller frees.
static inline double *blocks_dense(const blocks *b) {
    const stn_block_pattern *p = &b->matrix.pattern;
    size_t n = (size_t)b->n;
    double *a = calloc(n * n + 1, sizeof *a);
    for (int32_t j = 0; j < p->block_count; j++) {
        for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
            int32_t i = p->row[e];
            for (int32_t x = 0; x < b->size[i] * b->size[j]; x++) {
                size_t row = (size_t)(b->start[i] + x / b->size[j]), column = (size_t)(b->start[j] + x % b->size[j]);
                a[row * n + column] = a[column * n + row] = b->matrix.values[b->offset[e] + x];
            }
        }
    }
    return a;
}

/// The largest entry of A x - rhs over all columns.
static inline double blocks_residual(const blocks *b, const double *x, const double *rhs, int32_t columns) {
    double *a = blocks_dense(b), worst = 0.0;
    size_t n = (size_t)b->n;
    for (int32_t c = 0; c < columns; c++, x += n, rhs += n) {
        for (size_t i = 0; i < n; i++) {
            double sum = -rhs[i];
            for (size_t j = 0; j < n; j++) {
                sum += a[i * n + j] * x[j];
            }
            worst = fabs(sum) > worst || isnan(sum) ? fabs(sum) : worst;
        }
    }
    free(a);
    return worst;
}

// Bodies in a heap: a grid of nx x ny x nz places, filled in a random order, each touching some of its neighbours.
static inline void blocks_heap(int32_t nx, int32_t ny, int32_t nz, double touching, stn_random *r, bool *adjacent) {
    int32_t n = nx * ny * nz;
    int32_t *label = malloc((size_t)n * sizeof *label);
    for (int32_t i = 0; i < n; i++) {
        label[i] = i;
    }
    for (int32_t i = n - 1; i > 0; i--) {
        int32_t j = random_below(r, i + 1), t = label[i];
        label[i] = label[j];
        label[j] = t;
    }
    memset(adjacent, 0, (size_t)n * (size_t)n * sizeof *adjacent);
    for (int32_t a = 0; a < n; a++) {
        for (int32_t b = 0; b < a; b++) {
            int32_t dx = abs(a % nx - b % nx), dy = abs(a / nx % ny - b / nx % ny),
                    dz = abs(a / (nx * ny) - b / (nx * ny));
            double chance = dx + dy + dz == 1 ? touching : dx <= 1 && dy <= 1 && dz <= 1 ? 0.15 * touching : 0.0;
            adjacent[label[a] * n + label[b]] = 0.5 * (1.0 + random_real(r)) < chance;
        }
    }
    free(label);
}

#endif
