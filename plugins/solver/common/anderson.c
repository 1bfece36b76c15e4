// SPDX-License-Identifier: Apache-2.0
// See anderson.h.
#include "common/anderson.h"

#include <math.h>

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

static double sum4(packed_v4 a) {
    return (a[0] + a[1]) + (a[2] + a[3]);
}

/// out (count) = x_k^T D y, D the weights; sizes are multiples of 4. Four at a time: each sum alone would wait for its
/// own additions.
STN_KERNEL static void dots(const anderson *a, int32_t count, double *const *x, const double *y, double *out) {
    for (int32_t k = 0; k < count; k += 4) {
        const int32_t last = count - 1;
        const double *x0 = x[k], *x1 = x[k + 1 < last ? k + 1 : last], *x2 = x[k + 2 < last ? k + 2 : last],
                     *x3 = x[k + 3 < last ? k + 3 : last];
        packed_v4 s0 = {0.0}, s1 = {0.0}, s2 = {0.0}, s3 = {0.0};
        for (int32_t i = 0; i < a->size; i += 4) {
            packed_v4 weight = *(const packed_v4 *)(a->weight + i), yi = *(const packed_v4 *)(y + i);
            s0 += weight * *(const packed_v4 *)(x0 + i) * yi;
            s1 += weight * *(const packed_v4 *)(x1 + i) * yi;
            s2 += weight * *(const packed_v4 *)(x2 + i) * yi;
            s3 += weight * *(const packed_v4 *)(x3 + i) * yi;
        }
        const double sums[4] = {sum4(s0), sum4(s1), sum4(s2), sum4(s3)};
        for (int32_t j = 0; j < 4 && k + j < count; j++) {
            out[k + j] = sums[j];
        }
    }
}

static double norm(const anderson *a, double *x) {
    double square;
    dots(a, 1, &x, x, &square);
    return sqrt(square);
}

/// f = g - x. The iterate becomes the one before; its difference to that takes the place of the oldest.
STN_KERNEL static void remember(anderson *a, const double *restrict x, const double *restrict g) {
    const int32_t newest = a->next;
    double *restrict last_f = a->f, *restrict last_g = a->g, *restrict df = a->df[newest], *restrict dg = a->dg[newest];
    for (int32_t i = 0; i < a->size; i++) {
        double f = g[i] - x[i];
        df[i] = f - last_f[i];
        dg[i] = g[i] - last_g[i];
        last_f[i] = f;
        last_g[i] = g[i];
    }
    if (!a->begun) {
        a->begun = true;
        return;
    }
    a->next = (newest + 1) % a->depth;
    a->count += a->count < a->depth;
    dots(a, a->count, a->df, a->df[newest], a->products[newest]);
    for (int32_t k = 0; k < a->count; k++) {
        a->products[k][newest] = a->products[newest][k];
    }
}

STN_KERNEL void anderson_next(anderson *a, const double *x, double *g) {
    double theta[ANDERSON_DEPTH];
    remember(a, x, g);
    dots(a, a->count, a->df, a->f, theta);
    // theta from the normal equations, scaled to a diagonal of 1, by elimination without pivots; a little is added to
    // the diagonal, for differences become parallel near the end
    const int32_t n = a->count;
    double(*products)[ANDERSON_DEPTH] = a->products;
    double M[ANDERSON_DEPTH][ANDERSON_DEPTH], scale[ANDERSON_DEPTH];
    for (int32_t i = 0; i < n; i++) {
        scale[i] = products[i][i] > 0.0 ? 1.0 / sqrt(products[i][i]) : 0.0;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            M[i][j] = products[i][j] * (scale[i] * scale[j]);
        }
        M[i][i] = 1.0 + 1e-12;
        theta[i] *= scale[i];
    }
    for (int32_t k = 0; k < n; k++) {
        for (int32_t i = k + 1; i < n; i++) {
            double factor = M[i][k] / M[k][k];
            for (int32_t j = k; j < n; j++) {
                M[i][j] -= factor * M[k][j];
            }
            theta[i] -= factor * theta[k];
        }
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t j = i + 1; j < n; j++) {
            theta[i] -= M[i][j] * theta[j];
        }
        theta[i] /= M[i][i];
    }
    for (int32_t i = 0; i < n; i++) {
        theta[i] *= scale[i];
    }
    for (int32_t i = 0; i < a->size; i += 4) { // combined = -sum of theta_k dg_k
        packed_v4 sum = {0.0};
        for (int32_t k = 0; k < a->count; k++) {
            sum -= theta[k] * *(const packed_v4 *)(a->dg[k] + i);
        }
        *(packed_v4 *)(a->combined + i) = sum;
    }
    double length = norm(a, a->combined), most = a->reach * norm(a, a->f), step = length > most ? most / length : 1.0;
    for (int32_t i = 0; i < a->size; i++) {
        g[i] += step * a->combined[i];
    }
    a->reach = fmin(1e4, 1.5 * a->reach);
}
