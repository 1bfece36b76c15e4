// SPDX-License-Identifier: Apache-2.0
// Kernels for free bodies, six dofs, and their contacts, three rows. The rows t1, t2, n of a contact (and a zero) are
// the lanes of one vector, so that X = (L^-1 J^T) is six vectors. Compiled once for every width, with fused
// multiply-add.
#include <math.h>

#include "base/vector.h"

typedef double lanes __attribute__((vector_size(32), may_alias)); // 32-byte aligned

// Right-looking, one division a column on the critical path, the roots at the end all at once.
static int32_t factor(const double *restrict a, double singular, double *restrict l) {
    double s[6][6], pivot[6];
    int32_t bad = 6;
    UNROLL
    for (int32_t i = 0; i < 6; i++) {
        UNROLL
        for (int32_t j = 0; j <= i; j++) {
            s[i][j] = a[6 * i + j];
        }
    }
    UNROLL
    for (int32_t j = 0; j < 6; j++) {
        pivot[j] = s[j][j];
        double inverse = 1.0 / pivot[j];
        UNROLL
        for (int32_t i = j + 1; i < 6; i++) {
            double unit = s[i][j] * inverse;
            UNROLL
            for (int32_t k = j + 1; k <= i; k++) {
                s[i][k] -= unit * s[k][j];
            }
        }
    }
    UNROLL
    for (int32_t j = 5; j >= 0; j--) {
        double root = sqrt(pivot[j]), inverse = 1.0 / root;
        UNROLL
        for (int32_t i = j + 1; i < 6; i++) {
            l[6 * i + j] = s[i][j] * inverse;
        }
        l[6 * j + j] = root;
        l[36 + j] = inverse;
        // infinity fails here or, as a NaN, further on
        bad = pivot[j] > singular * a[7 * j] && pivot[j] > 0.0 && pivot[j] < (double)INFINITY ? bad : j;
    }
    return bad == 6 ? -1 : bad;
}

ALWAYS void find_half(const double *restrict l, const double *restrict J, lanes x[6]) {
    UNROLL
    for (int32_t k = 0; k < 6; k++) {
        x[k] = (lanes){J[k], J[6 + k], J[12 + k], 0.0};
    }
    UNROLL
    for (int32_t k = 0; k < 6; k++) {
        x[k] *= l[36 + k];
        UNROLL
        for (int32_t i = k + 1; i < 6; i++) {
            x[i] -= x[k] * l[6 * i + k];
        }
    }
}

static void half(const double *restrict l, const double *restrict J, double *restrict X) {
    lanes x[6];
    find_half(l, J, x);
    UNROLL
    for (int32_t k = 0; k < 6; k++) {
        *(lanes *)(X + 4 * k) = x[k];
    }
}

static double norm(int32_t count, const double *const *l, const double *const *J, double *trace) {
    lanes own = {0.0}, mixed = {0.0}; // t1 t1, t2 t2, n n; t1 t2, t2 n, n t1
    for (int32_t b = 0; b < count; b++) {
        lanes x[6];
        find_half(l[b], J[b], x);
        UNROLL
        for (int32_t k = 0; k < 6; k++) {
            own += x[k] * x[k];
            mixed += x[k] * __builtin_shufflevector(x[k], x[k], 1, 2, 0, 3);
        }
    }
    const lanes squares = own * own + mixed * mixed * 2.0;
    *trace = own[0] + own[1] + own[2];
    return sqrt(squares[0] + squares[1] + squares[2]);
}

static void pair_add(const double *restrict X, const double *restrict Y, double *restrict out) {
    lanes w[3] = {{0.0}, {0.0}, {0.0}};
    UNROLL
    for (int32_t k = 0; k < 6; k++) {
        lanes y = *(const lanes *)(Y + 4 * k);
        w[0] += y * X[4 * k];
        w[1] += y * X[4 * k + 1];
        w[2] += y * X[4 * k + 2];
    }
    // the fourth lane adds zero to the row that follows; all rows are read before one is written
    w[0] += *(const part4 *)out;
    w[1] += *(const part4 *)(out + 3);
    double last[3] = {out[6] + w[2][0], out[7] + w[2][1], out[8] + w[2][2]};
    *(part4 *)out = w[0];
    *(part4 *)(out + 3) = w[1];
    out[6] = last[0];
    out[7] = last[1];
    out[8] = last[2];
}

static void solve(const double *restrict l, int32_t columns, double *restrict x) {
    for (; columns > 0; columns--, x += 6) {
        double y[6];
        UNROLL
        for (int32_t i = 0; i < 6; i++) {
            y[i] = x[i];
            UNROLL
            for (int32_t k = 0; k < i; k++) {
                y[i] -= l[6 * i + k] * y[k];
            }
            y[i] *= l[36 + i];
        }
        UNROLL
        for (int32_t i = 5; i >= 0; i--) {
            UNROLL
            for (int32_t k = i + 1; k < 6; k++) {
                y[i] -= l[6 * k + i] * y[k];
            }
            y[i] *= l[36 + i];
            x[i] = y[i];
        }
    }
}

const body_kernels KERNEL_NAME(body_kernels) = {factor, half, pair_add, norm, solve};
