// SPDX-License-Identifier: Apache-2.0
// See anderson.h.
#include "common/anderson.h"

#include <math.h>
#include <string.h>

#include "common/packed.h"

bool anderson_create(anderson *a, int32_t size, int32_t depth, const double *weight, stn_arena *arena) {
    *a = (anderson){
        .size = size, .depth = depth < ANDERSON_DEPTH ? depth : ANDERSON_DEPTH, .reach = 30.0, .weight = weight};
    double *memory = STN_ARENA(arena, (2 * (int64_t)a->depth + 3) * size, double);
    if (memory == NULL) {
        return false;
    }
    a->f = memory;
    a->g = a->f + size;
    a->combined = a->g + size;
    for (int32_t k = 0; k < a->depth; k++) {
        a->df[k] = a->combined + (2 * (int64_t)k + 1) * size;
        a->dg[k] = a->df[k] + size;
    }
    return true;
}

void anderson_forget(anderson *a) {
    a->count = a->next = 0;
    a->begun = false;
}

void anderson_retreat(anderson *a) {
    anderson_forget(a);
    a->reach = fmax(2.0, 0.3 * a->reach);
}

PACKED_KERNEL static double dot(const anderson *a, const double *x, const double *y) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0}; // sizes are multiples of 4
    for (int32_t i = 0; i < a->size; i += 4) {
        for (int32_t k = 0; k < 4; k++) {
            sums[k] += a->weight[i + k] * x[i + k] * y[i + k];
        }
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Solves the normal equations of `n` unknowns in place, each scaled to a diagonal of 1, by elimination without pivots;
/// a little is added to the diagonal, for differences become parallel near the end.
static void solve_normal(int32_t n, double M[ANDERSON_DEPTH][ANDERSON_DEPTH], double *x) {
    double scale[ANDERSON_DEPTH];
    for (int32_t i = 0; i < n; i++) {
        scale[i] = M[i][i] > 0.0 ? 1.0 / sqrt(M[i][i]) : 0.0;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            M[i][j] *= scale[i] * scale[j];
        }
        M[i][i] = 1.0 + 1e-12;
        x[i] *= scale[i];
    }
    for (int32_t k = 0; k < n; k++) {
        for (int32_t i = k + 1; i < n; i++) {
            double factor = M[i][k] / M[k][k];
            for (int32_t j = k; j < n; j++) {
                M[i][j] -= factor * M[k][j];
            }
            x[i] -= factor * x[k];
        }
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t j = i + 1; j < n; j++) {
            x[i] -= M[i][j] * x[j];
        }
        x[i] /= M[i][i];
    }
    for (int32_t i = 0; i < n; i++) {
        x[i] *= scale[i];
    }
}

/// The iterate becomes the one before; its difference to that takes the place of the oldest.
static void remember(anderson *a, const double *x, const double *g) {
    double *df = a->df[a->next], *dg = a->dg[a->next];
    for (int32_t i = 0; i < a->size; i++) {
        double f = g[i] - x[i];
        df[i] = f - a->f[i];
        dg[i] = g[i] - a->g[i];
        a->f[i] = f;
        a->g[i] = g[i];
    }
    if (!a->begun) {
        a->begun = true;
        return;
    }
    int32_t newest = a->next;
    a->next = (newest + 1) % a->depth;
    a->count += a->count < a->depth;
    for (int32_t k = 0; k < a->count; k++) {
        a->products[k][newest] = a->products[newest][k] = dot(a, a->df[k], a->df[newest]);
    }
}

PACKED_KERNEL static void subtract(int32_t n, double s, const double *restrict x, double *restrict y) {
    for (int32_t i = 0; i < n; i++) {
        y[i] -= s * x[i];
    }
}

void anderson_next(anderson *a, const double *x, double *g) {
    remember(a, x, g);
    double M[ANDERSON_DEPTH][ANDERSON_DEPTH], theta[ANDERSON_DEPTH];
    memcpy(M, a->products, sizeof M);
    for (int32_t i = 0; i < a->count; i++) {
        theta[i] = dot(a, a->df[i], a->f);
    }
    solve_normal(a->count, M, theta);
    memset(a->combined, 0, (size_t)a->size * sizeof *g);
    for (int32_t k = 0; k < a->count; k++) {
        subtract(a->size, theta[k], a->dg[k], a->combined);
    }
    double length = sqrt(dot(a, a->combined, a->combined)), most = a->reach * sqrt(dot(a, a->f, a->f));
    subtract(a->size, length > most ? -most / length : -1.0, a->combined, g);
    a->reach = fmin(1e4, 1.5 * a->reach);
}
