// SPDX-License-Identifier: Apache-2.0
#include "envelope.h"

#include <math.h>
#include <string.h>

bool envelope_create(const stn_matrix *a, stn_arena *arena, envelope *out) {
    const int32_t m = a->node_size;
    int64_t size = 0;
    *out = (envelope){
        .n = a->n, .first = STN_ARENA(arena, a->n + 1, int32_t), .start = STN_ARENA(arena, a->n + 1, int64_t)};
    if (out->first == NULL || out->start == NULL) {
        return false;
    }
    for (int32_t i = 0; i < a->n; i++) {
        out->first[i] = m * a->column[a->row_start[i / m]]; // columns ascend, and the diagonal is among them
        out->start[i] = size - out->first[i];
        size += i + 1 - out->first[i];
    }
    out->values = STN_ARENA(arena, size + 1, double);
    return out->values != NULL;
}

int32_t envelope_factor(envelope *e, const stn_matrix *a) {
    const int32_t m = a->node_size;
    for (int32_t i = 0; i < e->n; i++) {
        double *row = e->values + e->start[i];
        const int32_t first = e->first[i], node = i / m;
        memset(row + first, 0, (size_t)(i + 1 - first) * sizeof *row);
        for (int32_t k = a->row_start[node]; k < a->row_start[node + 1] && a->column[k] <= node; k++) {
            const double *from = a->values + (int64_t)m * (m * k + i % m);
            for (int32_t c = 0, j = m * a->column[k]; c < m && j + c <= i; c++) {
                row[j + c] = from[c];
            }
        }
        for (int32_t j = first; j <= i; j++) {
            const double *other = e->values + e->start[j];
            double sum = row[j];
            for (int32_t k = first > e->first[j] ? first : e->first[j]; k < j; k++) {
                sum -= row[k] * other[k];
            }
            if (j == i && !(sum > 0.0)) {
                return i;
            }
            row[j] = j == i ? sqrt(sum) : sum / other[j];
        }
    }
    return -1;
}

void envelope_solve(const envelope *e, double *x) {
    for (int32_t i = 0; i < e->n; i++) {
        const double *row = e->values + e->start[i];
        for (int32_t k = e->first[i]; k < i; k++) {
            x[i] -= row[k] * x[k];
        }
        x[i] /= row[i];
    }
    for (int32_t i = e->n - 1; i >= 0; i--) {
        const double *row = e->values + e->start[i];
        x[i] /= row[i];
        for (int32_t k = e->first[i]; k < i; k++) {
            x[k] -= row[k] * x[i];
        }
    }
}
