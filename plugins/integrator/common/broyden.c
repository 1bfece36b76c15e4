// SPDX-License-Identifier: Apache-2.0
#include "common/broyden.h"

#include <math.h>

#include <stiction/factor.h>

double broyden_norm(const broyden *b, const double *x) {
    double sum = 0.0;
    for (int32_t i = 0; i < b->n; i++) {
        double s = b->scale[i] * x[i];
        sum += s * s;
    }
    return sqrt(sum);
}

double *broyden_step(const broyden *b, int32_t count, const double *m) {
    int32_t n = b->n;
    double *step = b->steps + (size_t)count * (size_t)n;
    for (int32_t i = 0; i < n; i++) {
        step[i] = -m[i];
    }
    stn_cholesky_forward(n, b->factor, n, 1, step, n);
    stn_cholesky_backward(n, b->factor, n, 1, step, n);
    return broyden_update(b, count);
}

double *broyden_update(const broyden *b, int32_t count) {
    int32_t n = b->n;
    double *step = b->steps + (size_t)count * (size_t)n;
    for (int32_t j = 0; j < count; j++) {
        const double *made = b->steps + (size_t)j * (size_t)n, *next = made + n;
        double xy = 0.0, yy = 0.0; // share of the step made in this one, in the metric of the masses
        for (int32_t i = 0; i < n; i++) {
            double weighted = made[i] / (b->scale[i] * b->scale[i]);
            xy += step[i] * weighted;
            yy += made[i] * weighted;
        }
        double s = yy > 0.0 ? xy / yy : 0.0;
        double factor = next == step ? s / (1.0 - s) : s; // the last update holds the step itself
        for (int32_t i = 0; i < n; i++) {
            step[i] += factor * next[i];
        }
    }
    return step;
}
