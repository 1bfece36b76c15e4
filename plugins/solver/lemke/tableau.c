// SPDX-License-Identifier: Apache-2.0
// See tableau.h.
#include "tableau.h"

#include <math.h>
#include <stddef.h>

#include "common/packed.h"

static const double PIVOT = 1e-9;      // the smallest one, over the largest entry of its column
static const double ROUND_OFF = 1e-13; // of basic variables, over the largest: ratios this near are equal [harris-1973]

void tableau_begin(tableau *t) {
    for (int32_t i = 0; i < t->n; i++) {
        t->basic[i] = i;
        t->nonbasic[i] = t->n + i;
        t->where[i] = i;
        t->where[t->n + i] = -1 - i;
    }
    t->nonbasic[t->n] = 2 * t->n;
    t->where[2 * t->n] = -1 - t->n;
}

STN_KERNEL void tableau_pivot(tableau *t, int32_t r, int32_t s) {
    double *own = t->T + (size_t)r * (size_t)t->stride, pivot = own[s];
    for (int32_t j = 0; j <= t->n; j++) {
        own[j] /= -pivot;
    }
    own[s] = 1.0 / pivot;
    t->q[r] /= -pivot;
    for (int32_t i = 0; i < t->n; i++) {
        double *row = t->T + (size_t)i * (size_t)t->stride, factor = row[s];
        if (i == r || factor == 0.0) {
            continue;
        }
        row[s] = 0.0;
        for (int32_t j = 0; j <= t->n; j++) {
            row[j] += factor * own[j];
        }
        t->q[i] += factor * t->q[r];
    }
    int32_t in = t->nonbasic[s], out = t->basic[r];
    t->basic[r] = in;
    t->nonbasic[s] = out;
    t->where[in] = r;
    t->where[out] = -1 - s;
}

/// Entry k of row i of B^-1: what basic variable i gets for a unit of q_k.
static double inverse_entry(const tableau *t, int32_t i, int32_t k) {
    int32_t at = t->where[k];
    return at >= 0 ? (at == i ? 1.0 : 0.0) : -t->T[(size_t)i * (size_t)t->stride + (size_t)(-1 - at)];
}

/// Is row a of (B^-1)/-T_s before row b? Differences within round-off are none.
static bool comes_before(const tableau *t, int32_t a, int32_t b, int32_t s) {
    double over_a = -1.0 / t->T[(size_t)a * (size_t)t->stride + (size_t)s];
    double over_b = -1.0 / t->T[(size_t)b * (size_t)t->stride + (size_t)s];
    for (int32_t k = 0; k < t->n; k++) {
        if (t->free[k]) {
            continue;
        }
        double x = inverse_entry(t, a, k) * over_a, y = inverse_entry(t, b, k) * over_b;
        if (fabs(x - y) > 1e-10 * (fabs(x) + fabs(y)) + 1e-14 * (over_a + over_b)) {
            return x < y;
        }
    }
    return a < b;
}

/// How fast basic variable i falls while column s grows; 0: it bounds nothing.
static double fall(const tableau *t, int32_t i, int32_t s, double smallest) {
    double T = t->T[(size_t)i * (size_t)t->stride + (size_t)s];
    bool unbounded = t->basic[i] < 2 * t->n && t->free[t->basic[i] % t->n];
    return -T > smallest && !unbounded ? -T : 0.0;
}

int32_t tableau_ratio_test(const tableau *t, int32_t s) {
    double largest = 0.0, least = (double)INFINITY, size = 0.0;
    for (int32_t i = 0; i < t->n; i++) {
        largest = fmax(largest, fabs(t->T[(size_t)i * (size_t)t->stride + (size_t)s]));
        size = fmax(size, fabs(t->q[i]));
    }
    const double smallest = PIVOT * largest;
    for (int32_t i = 0; i < t->n; i++) {
        double T = fall(t, i, s, smallest);
        if (T > 0.0) {
            least = fmin(least, (fmax(t->q[i], 0.0) + ROUND_OFF * size) / T);
        }
    }
    int32_t best = -1;
    for (int32_t i = 0; i < t->n; i++) {
        double T = fall(t, i, s, smallest);
        if (T == 0.0 || fmax(t->q[i], 0.0) / T > least) {
            continue;
        }
        if (t->basic[i] == 2 * t->n) {
            return i;
        }
        if (best < 0 || comes_before(t, i, best, s)) {
            best = i;
        }
    }
    return best;
}
