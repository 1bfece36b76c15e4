// SPDX-License-Identifier: Apache-2.0
// Reproducible random numbers and matrices for tests.
#ifndef STN_RANDOM_H
#define STN_RANDOM_H

#include <stdint.h>
#include <stdlib.h>

#include <stiction/random.h>

typedef struct stn_random {
    uint64_t state;
} stn_random;

static inline uint64_t random_bits(stn_random *r) {
    return stn_random_bits(&r->state);
}

// Uniform in [-1, 1).
static inline double random_real(stn_random *r) {
    return (double)(random_bits(r) >> 11) * 0x1p-52 - 1.0;
}

static inline int32_t random_below(stn_random *r, int32_t n) {
    return (int32_t)(random_bits(r) % (uint64_t)n);
}

// a (n x n, row-major) = B B^T + shift I, symmetric positive definite.
static inline void random_spd(stn_random *r, int32_t n, double shift, double *a) {
    size_t m = (size_t)n;
    double *b = malloc(m * m * sizeof *b + 1);
    for (size_t i = 0; i < m * m; i++) {
        b[i] = random_real(r);
    }
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < m; j++) {
            double sum = i == j ? shift : 0.0;
            for (size_t k = 0; k < m; k++) {
                sum += b[i * m + k] * b[j * m + k];
            }
            a[i * m + j] = sum;
        }
    }
    free(b);
}

// x = A^-1 x (n x n, row-major) by Gaussian elimination with partial pivoting: the plain counterpart.
static inline void plain_solve(int32_t n, const double *a, double *x) {
    size_t m = (size_t)n;
    double *u = malloc(m * m * sizeof *u + 1);
    for (size_t i = 0; i < m * m; i++) {
        u[i] = a[i];
    }
    for (size_t k = 0; k < m; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < m; i++) {
            double here = u[i * m + k] < 0.0 ? -u[i * m + k] : u[i * m + k];
            double best = u[pivot * m + k] < 0.0 ? -u[pivot * m + k] : u[pivot * m + k];
            pivot = here > best ? i : pivot;
        }
        for (size_t j = 0; j < m; j++) {
            double t = u[k * m + j];
            u[k * m + j] = u[pivot * m + j];
            u[pivot * m + j] = t;
        }
        double t = x[k];
        x[k] = x[pivot];
        x[pivot] = t;
        for (size_t i = k + 1; i < m; i++) {
            double factor = u[i * m + k] / u[k * m + k];
            for (size_t j = k; j < m; j++) {
                u[i * m + j] -= factor * u[k * m + j];
            }
            x[i] -= factor * x[k];
        }
    }
    for (size_t k = m; k-- > 0;) {
        for (size_t j = k + 1; j < m; j++) {
            x[k] -= u[k * m + j] * x[j];
        }
        x[k] /= u[k * m + k];
    }
    free(u);
}

#endif
