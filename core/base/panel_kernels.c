// SPDX-License-Identifier: Apache-2.0
// Panel kernels (see kernels.h) for vectors of KERNEL_WIDTH doubles; this file is compiled once for every width.
//
// A chunk is up to 6 columns. A tile is two vectors of rows by one chunk: its twelve sums stay in registers while
// all columns to the left are subtracted, and then go through the triangular solve before they are stored. Fused
// multiply-add is wanted here (-ffp-contract=fast): the last bits depend on the width, never on anything else.
#include <math.h>

#include "base/vector.h"

#ifndef KERNEL_WIDTH
#define KERNEL_WIDTH 2
#endif
#define W      KERNEL_WIDTH
#define ALWAYS static inline __attribute__((always_inline))
// Loops over the columns of a chunk and the vectors of a tile must disappear: their bounds are constants after
// inlining.
#define UNROLL _Pragma("GCC unroll 8")

// Calls f(count, ...) with the count as a constant.
#define BY_COUNT(count, f, ...) \
    do {                        \
        switch (count) {        \
        case 1:                 \
            f(1, __VA_ARGS__);  \
            break;              \
        case 2:                 \
            f(2, __VA_ARGS__);  \
            break;              \
        case 3:                 \
            f(3, __VA_ARGS__);  \
            break;              \
        case 4:                 \
            f(4, __VA_ARGS__);  \
            break;              \
        case 5:                 \
            f(5, __VA_ARGS__);  \
            break;              \
        default:                \
            f(6, __VA_ARGS__);  \
            break;              \
        }                       \
    } while (0)

// acc (vectors x count) -= sum over k columns of rows * pivots.
ALWAYS void subtract_columns(int32_t vectors, int32_t count, int32_t k, size_t ld, const double *restrict rows,
                             const double *restrict pivots, vec acc[3][6]) {
    for (int32_t c = 0; c < k; c++) {
        vec a[3];
        UNROLL
        for (int32_t i = 0; i < vectors; i++) {
            a[i] = load(rows + W * i);
        }
        UNROLL
        for (int32_t j = 0; j < count; j++) {
            UNROLL
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
    double unit[6][6], scale[8];
} triangle;

typedef int64_t mask4 __attribute__((vector_size(32)));

ALWAYS part4 root4(part4 x) {
#ifdef __AVX__
    return (part4)__builtin_ia32_sqrtpd256(x);
#else
    part4 r = {sqrt(x[0]), sqrt(x[1]), sqrt(x[2]), sqrt(x[3])};
    return r;
#endif
}

// acc = acc L^-T with L = L' diag(1/scale).
ALWAYS void solve_tile(int32_t vectors, int32_t count, const triangle *t, vec acc[3][6]) {
    UNROLL
    for (int32_t j = 1; j < count; j++) {
        UNROLL
        for (int32_t k = 0; k < j; k++) {
            UNROLL
            for (int32_t i = 0; i < vectors; i++) {
                acc[i][j] -= acc[i][k] * t->unit[j][k];
            }
        }
    }
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        UNROLL
        for (int32_t i = 0; i < vectors; i++) {
            acc[i][j] *= t->scale[j];
        }
    }
}

static int32_t first_bad(int32_t count, const double *scale) {
    int32_t j = 0;
    while (j < count && scale[j] > 0.0 && scale[j] < (double)INFINITY) {
        j++;
    }
    return j;
}

// scale = 1/sqrt(pivot), two vectors at once instead of six roots and six divisions one by one. Returns -1 or the first
// that is no positive number: a negative pivot gives NaN, an infinite one 0, 0 gives infinity.
ALWAYS int32_t invert_roots(int32_t count, const double pivot[6], double scale[8]) {
    part4 low = {pivot[0], count > 1 ? pivot[1] : 1.0, count > 2 ? pivot[2] : 1.0, count > 3 ? pivot[3] : 1.0};
    part4 one = {1.0, 1.0, 1.0, 1.0}, none = {0.0}, huge = one * (double)INFINITY;
    low = one / root4(low);
    *(part4 *)scale = low;
    mask4 good = (low > none) & (low < huge);
    if (count > 4) {
        part4 high = {pivot[4], count > 5 ? pivot[5] : 1.0, 1.0, 1.0};
        high = one / root4(high);
        *(part4 *)(scale + 4) = high;
        good &= (high > none) & (high < huge);
    }
    return (good[0] & good[1] & good[2] & good[3]) != 0 ? -1 : first_bad(count, scale);
}

// L' and the scales of a square (column j at a + stride j): one division a column on the critical path, the square
// roots at the end all at once. Returns -1 or the column that fails.
ALWAYS int32_t factor_square(int32_t count, size_t stride, const double *a, triangle *t) {
    double s[6][6], pivot[6];
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        UNROLL
        for (int32_t i = j; i < count; i++) {
            s[i][j] = a[(size_t)j * stride + (size_t)i];
        }
    }
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        pivot[j] = s[j][j];
        double inverse = 1.0 / pivot[j];
        UNROLL
        for (int32_t i = j + 1; i < count; i++) {
            t->unit[i][j] = s[i][j] * inverse;
            UNROLL
            for (int32_t k = j + 1; k <= i; k++) {
                s[i][k] -= t->unit[i][j] * s[k][j];
            }
        }
    }
    return invert_roots(count, pivot, t->scale);
}

// The tile that holds the square of a chunk: brought up to date and factored. Only its last vector can reach below the
// square; that one is solved. Rows from `row` on.
ALWAYS int32_t first_tile(int32_t vectors, int32_t count, int32_t c, int32_t row, size_t ld, double *panel,
                          triangle *t) {
    _Alignas(32) double square[6][3 * W];
    double *column = panel + (size_t)c * ld;
    vec acc[3][6], last[3][6];
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        UNROLL
        for (int32_t i = 0; i < vectors; i++) {
            acc[i][j] = load(column + (size_t)j * ld + row + W * i);
        }
    }
    subtract_columns(vectors, count, c, ld, panel + row, panel + c, acc);
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        UNROLL
        for (int32_t i = 0; i < vectors; i++) {
            store(&square[j][W * i], acc[i][j]);
        }
        last[0][j] = acc[vectors - 1][j];
    }
    int32_t bad = factor_square(count, 3 * W, &square[0][c - row], t);
    if ((c + count) % W != 0) {
        solve_tile(1, count, t, last);
        UNROLL
        for (int32_t j = 0; j < count; j++) {
            store(column + (size_t)j * ld + row + W * (vectors - 1), last[0][j]);
        }
    }
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        UNROLL
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
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        UNROLL
        for (int32_t i = 0; i < vectors; i++) {
            acc[i][j] = load(column + (size_t)j * ld + W * i);
        }
    }
    subtract_columns(vectors, count, c, ld, panel + row, panel + c, acc);
    solve_tile(vectors, count, t, acc);
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        UNROLL
        for (int32_t i = 0; i < vectors; i++) {
            store(column + (size_t)j * ld + W * i, acc[i][j]);
        }
    }
}

// Columns [c, c + count) of the panel, all columns to the left being done. c is a multiple of 6.
ALWAYS void factor_chunk(int32_t count, int32_t c, int32_t m, size_t ld, double *panel, double *scale,
                         int32_t *failed) {
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
        *failed = c + bad;
        return;
    }
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        scale[c + j] = t.scale[j];
    }
    for (row += W * vectors; row + W < m; row += 2 * W) {
        next_tile(2, count, c, row, ld, panel, &t);
    }
    if (row < m) {
        next_tile(1, count, c, row, ld, panel, &t);
    }
}

static int32_t panel_factor(int32_t begin, int32_t n, int32_t m, int32_t ld, double *panel, double *scale) {
    int32_t failed = -1;
    for (int32_t c = 0; failed < 0 && c < n; c += 6) { // from 0, or compilers doubt that tiles begin in the panel
        if (c >= begin) {
            BY_COUNT(n - c, factor_chunk, c, m, (size_t)ld, panel, scale, &failed);
        }
    }
    return failed;
}

ALWAYS void rows_chunk(int32_t count, int32_t c, int32_t first, int32_t m, size_t ld, double *panel,
                       const double *scale) {
    const double *square = panel + (size_t)c * ld + (size_t)c;
    triangle t;
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        t.scale[j] = scale[c + j];
        UNROLL
        for (int32_t i = j + 1; i < count; i++) {
            t.unit[i][j] = square[(size_t)j * ld + (size_t)i];
        }
    }
    int32_t row = first;
    for (; row + W < m; row += 2 * W) {
        next_tile(2, count, c, row, ld, panel, &t);
    }
    if (row < m) {
        next_tile(1, count, c, row, ld, panel, &t);
    }
}

static void panel_rows(int32_t begin, int32_t n, int32_t first, int32_t m, int32_t ld, double *panel,
                       const double *scale) {
    for (int32_t c = begin; c < n; c += 6) {
        BY_COUNT(n - c, rows_chunk, c, first, m, (size_t)ld, panel, scale);
    }
}

// Rows of a tile of L2 L2^T: `vectors` whole ones, then two more rows or one more. What the columns of `rows` and
// `pivots` give is subtracted from `to`.
ALWAYS void subtract_tile(int32_t vectors, bool two, bool one, int32_t count, int32_t n, size_t ld, const double *rows,
                          const double *pivots, double *to, size_t to_ld) {
    vec acc[2][6];
    part2 pair[6];
    double single[6];
    const size_t behind = (size_t)(W * vectors); // rows before the pair
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        acc[0][j] = acc[1][j] = (vec){0.0};
        pair[j] = (part2){0.0};
        single[j] = 0.0;
    }
    for (int32_t k = 0; k < n; k++, rows += ld, pivots += ld) {
        vec a[2];
        UNROLL
        for (int32_t i = 0; i < vectors; i++) {
            a[i] = load_loose(rows + W * i);
        }
        const part2 b = two ? *(const part2 *)(rows + behind) : (part2){0.0};
        const double c = one ? rows[behind] : 0.0;
        UNROLL
        for (int32_t j = 0; j < count; j++) {
            UNROLL
            for (int32_t i = 0; i < vectors; i++) {
                acc[i][j] -= a[i] * pivots[j];
            }
            if (two) {
                pair[j] -= b * pivots[j];
            }
            if (one) {
                single[j] -= c * pivots[j];
            }
        }
    }
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        double *column = to + (size_t)j * to_ld;
        UNROLL
        for (int32_t i = 0; i < vectors; i++) {
            store_loose(column + W * i, load_loose(column + W * i) + acc[i][j]);
        }
        if (two) {
            *(part2 *)(column + behind) += pair[j];
        }
        if (one) {
            column[behind] += single[j];
        }
    }
}

// `rows` consecutive rows that stay consecutive.
ALWAYS void subtract_run(int32_t rows, int32_t count, int32_t n, size_t ld, const double *from, const double *pivots,
                         double *to, size_t to_ld) {
    for (; rows >= 2 * W; rows -= 2 * W, from += 2 * W, to += 2 * W) {
        subtract_tile(2, false, false, count, n, ld, from, pivots, to, to_ld);
    }
    if (W > 2 && rows >= W + 2) {
        subtract_tile(1, true, false, count, n, ld, from, pivots, to, to_ld);
        rows -= W + 2;
        from += W + 2;
        to += W + 2;
    } else if (rows >= W) {
        subtract_tile(1, false, false, count, n, ld, from, pivots, to, to_ld);
        rows -= W;
        from += W;
        to += W;
    }
    if (W > 2 && rows >= 2) {
        subtract_tile(0, true, false, count, n, ld, from, pivots, to, to_ld);
        rows -= 2;
        from += 2;
        to += 2;
    }
    if (rows > 0) {
        subtract_tile(0, false, true, count, n, ld, from, pivots, to, to_ld);
    }
}

ALWAYS void subtract_chunk(int32_t count, int32_t n, size_t ld, const double *panel, int32_t q, const row_run *runs,
                           int32_t run_count, int32_t skipped, double *to, size_t to_ld) {
    for (const row_run *run = runs; run < runs + run_count; run++, skipped = 0) {
        subtract_run(run->count - skipped, count, n, ld, panel + run->from + skipped, panel + q, to + run->to + skipped,
                     to_ld);
    }
}

static void panel_subtract(int32_t n, int32_t ld, const double *panel, const row_run *runs, int32_t run_count,
                           int32_t skipped, int32_t columns, double *to, int32_t to_ld) {
    const int32_t first = runs->from;
    for (; columns > 0; columns -= 6, skipped += 6, to += 6 * (size_t)to_ld) {
        BY_COUNT(columns, subtract_chunk, n, (size_t)ld, panel, first + skipped, runs, run_count, skipped, to,
                 (size_t)to_ld);
    }
}

// x (count) = L^-1 t_c of one chunk, then t -= (columns of L) x in the rows below.
ALWAYS void forward_chunk(int32_t count, int32_t c, int32_t m, size_t ld, const double *panel, const double *scale,
                          double *t) {
    const double *column = panel + (size_t)c * ld;
    double x[6];
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        x[j] = t[c + j];
    }
    UNROLL
    for (int32_t k = 0; k < count; k++) {
        UNROLL
        for (int32_t j = k + 1; j < count; j++) {
            x[j] -= column[(size_t)k * ld + (size_t)(c + j)] * x[k];
        }
    }
    UNROLL
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
        UNROLL
        for (int32_t j = 0; j < count; j++) {
            sum -= load(column + (size_t)j * ld + row) * x[j];
        }
        store(t + row, sum);
    }
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        t[c + j] = x[j];
    }
    for (int32_t r = first; r < c; r++) {
        t[r] = kept[r - first];
    }
}

static void panel_forward(int32_t n, int32_t m, int32_t ld, const double *panel, const double *scale, double *t) {
    for (int32_t c = 0; c < n; c += 6) {
        BY_COUNT(n - c, forward_chunk, c, m, (size_t)ld, panel, scale, t);
    }
}

// t_c = L^-T (t_c - (rows of L below)^T t).
ALWAYS void backward_chunk(int32_t count, int32_t c, int32_t m, size_t ld, const double *panel, const double *scale,
                           double *t) {
    const double *column = panel + (size_t)c * ld;
    vec acc[6];
    double x[6];
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        acc[j] = (vec){0.0};
        x[j] = t[c + j];
    }
    int32_t below = c + count;
    for (; below < m && below % W != 0; below++) { // up to the first whole vector
        UNROLL
        for (int32_t j = 0; j < count; j++) {
            x[j] -= column[(size_t)j * ld + (size_t)below] * t[below];
        }
    }
    for (int32_t row = below; row < m; row += W) {
        vec here = load(t + row);
        UNROLL
        for (int32_t j = 0; j < count; j++) {
            acc[j] += load(column + (size_t)j * ld + row) * here;
        }
    }
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        x[j] = (x[j] - sum_of(acc[j])) * scale[c + j];
    }
    UNROLL
    for (int32_t j = count - 1; j >= 0; j--) {
        UNROLL
        for (int32_t k = 0; k < j; k++) {
            x[k] -= column[(size_t)k * ld + (size_t)(c + j)] * x[j];
        }
    }
    UNROLL
    for (int32_t j = 0; j < count; j++) {
        t[c + j] = x[j];
    }
}

static void panel_backward(int32_t n, int32_t m, int32_t ld, const double *panel, const double *scale, double *t) {
    for (int32_t c = (n - 1) - (n - 1) % 6; c >= 0; c -= 6) {
        BY_COUNT(n - c, backward_chunk, c, m, (size_t)ld, panel, scale, t);
    }
}

ALWAYS void add_run(int32_t count, const double *restrict from, double *restrict to) {
    int32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        *(part4 *)(to + i) += *(const part4 *)(from + i);
    }
    if (i + 2 <= count) {
        *(part2 *)(to + i) += *(const part2 *)(from + i);
        i += 2;
    }
    if (i < count) {
        to[i] += from[i];
    }
}

static void add_runs(const row_run *runs, int32_t count, const double *from, double *to) {
    for (int32_t k = 0; k < count; k++) {
        add_run(runs[k].count, from + runs[k].from, to + runs[k].to);
    }
}

ALWAYS void write_3(const double *restrict from, size_t row_step, size_t column_step, double *restrict to) {
    UNROLL
    for (size_t r = 0; r < 3; r++) {
        UNROLL
        for (size_t c = 0; c < 3; c++) {
            to[r * row_step + c * column_step] = from[3 * r + c];
        }
    }
}

static void copy_6(const double *restrict from, double *restrict to, size_t ld) {
    UNROLL
    for (size_t r = 0; r < 6; r++) {
        *(part4 *)(to + r * ld) = *(const part4 *)(from + 6 * r);
        *(part2 *)(to + r * ld + 4) = *(const part2 *)(from + 6 * r + 4);
    }
}

static void transpose_6(const double *restrict from, double *restrict to, size_t ld) {
    UNROLL
    for (size_t r = 0; r < 6; r += 2) {
        UNROLL
        for (size_t c = 0; c < 6; c += 2) {
            const part2 a = *(const part2 *)(from + 6 * r + c), b = *(const part2 *)(from + 6 * (r + 1) + c);
            *(part2 *)(to + c * ld + r) = __builtin_shufflevector(a, b, 0, 2);
            *(part2 *)(to + (c + 1) * ld + r) = __builtin_shufflevector(a, b, 1, 3);
        }
    }
}

static void write_block(int32_t rows, int32_t columns, bool flipped, const double *from, double *to, int32_t ld) {
    const size_t row_step = flipped ? (size_t)ld : 1, column_step = flipped ? 1 : (size_t)ld;
    if (rows == 6 && columns == 6) {
        if (flipped) {
            copy_6(from, to, (size_t)ld);
        } else {
            transpose_6(from, to, (size_t)ld);
        }
    } else if (rows == 3 && columns == 3) {
        write_3(from, row_step, column_step, to);
    } else {
        for (int32_t r = 0; r < rows; r++, to += row_step) {
            for (int32_t c = 0; c < columns; c++) {
                to[(size_t)c * column_step] = *from++;
            }
        }
    }
}

const panel_kernels KERNEL_NAME(panel_kernels) = {panel_factor,   panel_rows, panel_subtract, panel_forward,
                                                  panel_backward, add_runs,   write_block};
