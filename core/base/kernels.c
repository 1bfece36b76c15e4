// SPDX-License-Identifier: Apache-2.0
// Panel kernels (see kernels.h) for vectors of KERNEL_WIDTH doubles; this file is compiled once for every width.
//
// A chunk is up to 6 columns. A tile is two vectors of rows by one chunk: its twelve sums stay in registers while
// all columns to the left are subtracted, and then go through the triangular solve before they are stored. Fused
// multiply-add is wanted here (-ffp-contract=fast): the last bits depend on the width, never on anything else.
#include "base/kernels.h"

#include <math.h>

#ifndef KERNEL_WIDTH
#define KERNEL_WIDTH 2
#define KERNEL_TABLE dense_kernels_plain
#endif
#define W      KERNEL_WIDTH
#define ALWAYS static inline __attribute__((always_inline))

typedef double vec __attribute__((vector_size(8 * W), may_alias));

extern const dense_kernels KERNEL_TABLE;

ALWAYS vec load(const double *x) {
    return *(const vec *)x;
}
ALWAYS void store(double *x, vec v) {
    *(vec *)x = v;
}
ALWAYS double sum_of(vec v) {
    double s = 0.0;
    for (int32_t i = 0; i < W; i++) {
        s += v[i];
    }
    return s;
}

// acc (vectors x count) -= sum over k columns of rows * pivots.
ALWAYS void subtract_columns(int32_t vectors, int32_t count, int32_t k, size_t ld, const double *restrict rows,
                             const double *restrict pivots, vec acc[3][6]) {
    for (int32_t c = 0; c < k; c++) {
        vec a[3];
        for (int32_t i = 0; i < vectors; i++) {
            a[i] = load(rows + W * i);
        }
        for (int32_t j = 0; j < count; j++) {
            for (int32_t i = 0; i < vectors; i++) {
                acc[i][j] -= a[i] * pivots[j];
            }
        }
        rows += ld;
        pivots += ld;
    }
}

// Chunk of L': unit lower triangle by rows, and 1/l_jj.
typedef struct triangle {
    double unit[6][6], scale[6];
} triangle;

// acc = acc L^-T with L = L' diag(1/scale).
ALWAYS void solve_tile(int32_t vectors, int32_t count, const triangle *t, vec acc[3][6]) {
    for (int32_t j = 1; j < count; j++) {
        for (int32_t k = 0; k < j; k++) {
            for (int32_t i = 0; i < vectors; i++) {
                acc[i][j] -= acc[i][k] * t->unit[j][k];
            }
        }
    }
    for (int32_t j = 0; j < count; j++) {
        for (int32_t i = 0; i < vectors; i++) {
            acc[i][j] *= t->scale[j];
        }
    }
}

// L' and the scales of a square (column j at a + stride j): one division a column on the critical path, the square
// roots at the end all at once. Returns -1 or the column that fails.
ALWAYS int32_t factor_square(int32_t count, size_t stride, const double *a, triangle *t) {
    double s[6][6], pivot[6];
    for (int32_t j = 0; j < count; j++) {
        for (int32_t i = j; i < count; i++) {
            s[i][j] = a[(size_t)j * stride + (size_t)i];
        }
    }
    int32_t bad = -1;
    for (int32_t j = 0; j < count; j++) {
        pivot[j] = s[j][j];
        bad = bad < 0 && !(pivot[j] > 0.0 && pivot[j] < (double)INFINITY) ? j : bad;
        double inverse = 1.0 / pivot[j];
        for (int32_t i = j + 1; i < count; i++) {
            t->unit[i][j] = s[i][j] * inverse;
            for (int32_t k = j + 1; k <= i; k++) {
                s[i][k] -= t->unit[i][j] * s[k][j];
            }
        }
    }
    for (int32_t j = 0; j < count; j++) {
        t->scale[j] = 1.0 / sqrt(pivot[j]);
    }
    return bad;
}

// The tile that holds the square of a chunk: factors it, then solves its remaining rows. Rows from `row` on.
ALWAYS int32_t first_tile(int32_t vectors, int32_t count, int32_t c, int32_t row, size_t ld, double *panel,
                          triangle *t) {
    _Alignas(64) double square[6][3 * W];
    double *column = panel + (size_t)c * ld;
    vec acc[3][6];
    for (int32_t j = 0; j < count; j++) {
        for (int32_t i = 0; i < vectors; i++) {
            acc[i][j] = load(column + (size_t)j * ld + row + W * i);
        }
    }
    subtract_columns(vectors, count, c, ld, panel + row, panel + c, acc);
    for (int32_t j = 0; j < count; j++) {
        for (int32_t i = 0; i < vectors; i++) {
            store(&square[j][W * i], acc[i][j]);
        }
    }
    int32_t bad = factor_square(count, 3 * W, &square[0][c - row], t);
    solve_tile(vectors, count, t, acc);
    for (int32_t j = 0; j < count; j++) {
        for (int32_t i = 0; i < vectors; i++) {
            store(column + (size_t)j * ld + row + W * i, acc[i][j]);
        }
    }
    for (int32_t j = 0; j < count; j++) {
        for (int32_t i = j + 1; i < count; i++) {
            column[(size_t)j * ld + (size_t)(c + i)] = t->unit[i][j];
        }
    }
    return bad;
}

ALWAYS void next_tile(int32_t vectors, int32_t count, int32_t c, int32_t row, size_t ld, double *panel,
                      const triangle *t) {
    double *column = panel + (size_t)c * ld + row;
    vec acc[3][6];
    for (int32_t j = 0; j < count; j++) {
        for (int32_t i = 0; i < vectors; i++) {
            acc[i][j] = load(column + (size_t)j * ld + W * i);
        }
    }
    subtract_columns(vectors, count, c, ld, panel + row, panel + c, acc);
    solve_tile(vectors, count, t, acc);
    for (int32_t j = 0; j < count; j++) {
        for (int32_t i = 0; i < vectors; i++) {
            store(column + (size_t)j * ld + W * i, acc[i][j]);
        }
    }
}

// Columns [c, c + count) of the panel, all columns to the left being done. c is a multiple of 6.
ALWAYS int32_t factor_chunk(int32_t count, int32_t c, int32_t m, size_t ld, double *panel, double *scale) {
    triangle t;
    int32_t row = c - c % W, bad;
    int32_t vectors = (c - row + count + W - 1) / W;
    if (vectors == 1) {
        bad = first_tile(1, count, c, row, ld, panel, &t);
    } else if (vectors == 2) {
        bad = first_tile(2, count, c, row, ld, panel, &t);
    } else {
        bad = first_tile(3, count, c, row, ld, panel, &t);
    }
    if (bad >= 0) {
        return c + bad;
    }
    for (int32_t j = 0; j < count; j++) {
        scale[c + j] = t.scale[j];
    }
    for (row += W * vectors; row + W < m; row += 2 * W) {
        next_tile(2, count, c, row, ld, panel, &t);
    }
    if (row < m) {
        next_tile(1, count, c, row, ld, panel, &t);
    }
    return -1;
}

static int32_t panel_factor(int32_t n, int32_t m, int32_t ld, double *panel, double *scale) {
    size_t stride = (size_t)ld;
    int32_t bad = -1, c = 0;
    for (; bad < 0 && c + 6 <= n; c += 6) {
        bad = factor_chunk(6, c, m, stride, panel, scale);
    }
    if (bad >= 0) {
        return bad;
    }
    switch (n - c) {
    case 1:
        return factor_chunk(1, c, m, stride, panel, scale);
    case 2:
        return factor_chunk(2, c, m, stride, panel, scale);
    case 3:
        return factor_chunk(3, c, m, stride, panel, scale);
    case 4:
        return factor_chunk(4, c, m, stride, panel, scale);
    case 5:
        return factor_chunk(5, c, m, stride, panel, scale);
    default:
        return -1;
    }
}

ALWAYS void update_tile(int32_t vectors, int32_t count, int32_t n, size_t ld, const double *rows, const double *pivots,
                        double *update) {
    vec acc[3][6];
    for (int32_t j = 0; j < count; j++) {
        for (int32_t i = 0; i < vectors; i++) {
            acc[i][j] = (vec){0.0};
        }
    }
    subtract_columns(vectors, count, n, ld, rows, pivots, acc);
    for (int32_t j = 0; j < count; j++) {
        for (int32_t i = 0; i < vectors; i++) {
            store(update + (size_t)j * ld + W * i, acc[i][j]);
        }
    }
}

ALWAYS void update_chunk(int32_t count, int32_t n, int32_t m, size_t ld, const double *panel, int32_t q,
                         double *update) {
    int32_t row = q - q % W;
    for (; row + W < m; row += 2 * W) {
        update_tile(2, count, n, ld, panel + row, panel + q, update + row);
    }
    if (row < m) {
        update_tile(1, count, n, ld, panel + row, panel + q, update + row);
    }
}

static void panel_update(int32_t n, int32_t m, int32_t ld, const double *panel, int32_t q, int32_t count,
                         double *update) {
    size_t stride = (size_t)ld;
    switch (count) {
    case 1:
        update_chunk(1, n, m, stride, panel, q, update);
        break;
    case 2:
        update_chunk(2, n, m, stride, panel, q, update);
        break;
    case 3:
        update_chunk(3, n, m, stride, panel, q, update);
        break;
    case 4:
        update_chunk(4, n, m, stride, panel, q, update);
        break;
    case 5:
        update_chunk(5, n, m, stride, panel, q, update);
        break;
    default:
        update_chunk(6, n, m, stride, panel, q, update);
        break;
    }
}

// x (count) = L^-1 t_c of one chunk, then t -= (columns of L) x in the rows below.
ALWAYS void forward_chunk(int32_t count, int32_t c, int32_t m, size_t ld, const double *panel, const double *scale,
                          double *t) {
    const double *column = panel + (size_t)c * ld;
    double x[6];
    for (int32_t j = 0; j < count; j++) {
        x[j] = t[c + j];
    }
    for (int32_t k = 0; k < count; k++) {
        for (int32_t j = k + 1; j < count; j++) {
            x[j] -= column[(size_t)k * ld + (size_t)(c + j)] * x[k];
        }
    }
    for (int32_t j = 0; j < count; j++) {
        x[j] *= scale[c + j];
    }
    int32_t first = (c + count) - (c + count) % W;
    double kept[W]; // rows above the chunk that share its vector
    for (int32_t r = first; r < c; r++) {
        kept[r - first] = t[r];
    }
    for (int32_t row = first; row < m; row += W) {
        vec sum = load(t + row);
        for (int32_t j = 0; j < count; j++) {
            sum -= load(column + (size_t)j * ld + row) * x[j];
        }
        store(t + row, sum);
    }
    for (int32_t j = 0; j < count; j++) {
        t[c + j] = x[j];
    }
    for (int32_t r = first; r < c; r++) {
        t[r] = kept[r - first];
    }
}

static void panel_forward(int32_t n, int32_t m, int32_t ld, const double *panel, const double *scale, double *t) {
    size_t stride = (size_t)ld;
    int32_t c = 0;
    for (; c + 6 <= n; c += 6) {
        forward_chunk(6, c, m, stride, panel, scale, t);
    }
    if (n - c == 3) {
        forward_chunk(3, c, m, stride, panel, scale, t);
    } else if (c < n) {
        forward_chunk(n - c, c, m, stride, panel, scale, t);
    }
}

// t_c = L^-T (t_c - (rows of L below)^T t).
ALWAYS void backward_chunk(int32_t count, int32_t c, int32_t m, size_t ld, const double *panel, const double *scale,
                           double *t) {
    const double *column = panel + (size_t)c * ld;
    vec acc[6];
    double x[6];
    for (int32_t j = 0; j < count; j++) {
        acc[j] = (vec){0.0};
        x[j] = t[c + j];
    }
    int32_t below = c + count;
    for (; below < m && below % W != 0; below++) { // up to the first whole vector
        for (int32_t j = 0; j < count; j++) {
            x[j] -= column[(size_t)j * ld + (size_t)below] * t[below];
        }
    }
    for (int32_t row = below; row < m; row += W) {
        vec here = load(t + row);
        for (int32_t j = 0; j < count; j++) {
            acc[j] += load(column + (size_t)j * ld + row) * here;
        }
    }
    for (int32_t j = 0; j < count; j++) {
        x[j] = (x[j] - sum_of(acc[j])) * scale[c + j];
    }
    for (int32_t j = count - 1; j >= 0; j--) {
        for (int32_t k = 0; k < j; k++) {
            x[k] -= column[(size_t)k * ld + (size_t)(c + j)] * x[j];
        }
    }
    for (int32_t j = 0; j < count; j++) {
        t[c + j] = x[j];
    }
}

static void panel_backward(int32_t n, int32_t m, int32_t ld, const double *panel, const double *scale, double *t) {
    size_t stride = (size_t)ld;
    int32_t c = n - n % 6;
    if (n - c == 3) {
        backward_chunk(3, c, m, stride, panel, scale, t);
    } else if (c < n) {
        backward_chunk(n - c, c, m, stride, panel, scale, t);
    }
    for (c -= 6; c >= 0; c -= 6) {
        backward_chunk(6, c, m, stride, panel, scale, t);
    }
}

const dense_kernels KERNEL_TABLE = {panel_factor, panel_update, panel_forward, panel_backward};
