// SPDX-License-Identifier: Apache-2.0
// A = L^T L of a row-major matrix, from the last row up [featherstone-2005]: once row k is final, with v_ki = l_ki
// l_kk,
//     v_ij -= v_ki v_kj / v_kk   for all i, j that carry k
// With rows numbered as the dofs of a tree, depth first, v_ki is zero unless i carries k: nothing fills in between
// branches. Those i come in runs of neighbours, from run(k) to k and on from the parent of run(k), and a row is changed
// run by run, four columns at a time. In a row's nearest run vectors may reach past the diagonal: what they write there
// is never read. Compiled once for every width, with fused multiply-add.
#include <math.h>
#include <string.h>

#include "base/vector.h"

typedef uint64_t bits __attribute__((may_alias));
typedef int64_t bits4 __attribute__((vector_size(32)));

ALWAYS part4 at4(const double *x) {
    return *(const part4 *)x;
}

/// The first of four numbers, 1 to 4, and zeros.
ALWAYS part4 some4(const double *x, int32_t count) {
    return count == 1   ? (part4){x[0]}
           : count == 2 ? (part4){x[0], x[1]}
           : count == 3 ? (part4){x[0], x[1], x[2]}
                        : at4(x);
}

/// y -= t x from column `from` to `last` and up to three more.
ALWAYS void subtract_nearest(int32_t from, int32_t last, double t, const double *x, double *y) {
    for (; from <= last; from += 4) {
        *(part4 *)(y + from) = at4(y + from) - at4(x + from) * t;
    }
}

/// The same without those: a nearer run may begin there.
ALWAYS void subtract_below(int32_t from, int32_t last, double t, const double *x, double *y) {
    static const bits4 masks[4] = {{-1, 0, 0, 0}, {-1, -1, 0, 0}, {-1, -1, -1, 0}, {-1, -1, -1, -1}};
    for (; from + 4 <= last; from += 4) {
        *(part4 *)(y + from) = at4(y + from) - at4(x + from) * t;
    }
    part4 rest = (part4)((bits4)at4(x + from) & masks[last - from]);
    *(part4 *)(y + from) = at4(y + from) - rest * t;
}

/// What row k takes from the rows of the dofs that carry it.
ALWAYS void reduce_rows(const ltl_parts *f, int32_t k, double inverse) {
    const int32_t *parent = f->parent, *run = f->run;
    double *v = f->v;
    size_t s = (size_t)f->stride;
    const double *row = v + (size_t)k * s;
    for (int32_t last = k; last >= 0;) {
        int32_t first = run[last], next = parent[first], end = last < k ? last : k - 1;
        double *other = v + (size_t)first * s;
        for (int32_t i = first; i <= end; i++, other += s) {
            double t = row[i] * inverse;
            subtract_nearest(first, i, t, row, other);
            for (int32_t below = next; below >= 0;) {
                int32_t from = run[below];
                subtract_below(from, below, t, row, other);
                below = parent[from];
            }
        }
        last = next;
    }
}

ALWAYS bool pivot_is_good(double pivot, double least) {
    return pivot > 0.0 && pivot > least && pivot < (double)INFINITY;
}

/// What solves expect: roots, and zeros from each pivot on. Not while rows are changed: vectors that were written in
/// two parts are slow to read.
static void finish_all(const ltl_parts *f) {
    const double *restrict inverse = f->inverse;
    double *restrict root = f->root, *row = f->v;
    const int32_t n = f->n;
    for (int32_t k = 0; k < n; k++) {
        root[k] = sqrt(inverse[k]);
    }
    for (int32_t k = 0; k < n; k++, row += f->stride + 1) {
        *(part4 *)row = (part4){0.0};
    }
}

static int32_t factor_whole(const ltl_parts *f, const double *a, size_t s_a, double singular) {
    double *v = f->v, *inverse = f->inverse;
    const int32_t n = f->n;
    const size_t s = (size_t)f->stride;
    for (int32_t k = 0; k < n; k++) {
        const double *from = a + (size_t)k * s_a;
        double *to = v + (size_t)k * s;
        for (int32_t c = 0; c <= k; c += 4) { // nothing behind the last row of A may be read
            *(part4 *)(to + c) = k < n - 1 ? at4(from + c) : some4(from + c, n - c);
        }
    }
    for (int32_t k = n - 1; k >= 0; k -= 2) { // two rows at a time
        const double *row = v + (size_t)k * s, *diagonal = a + (size_t)k * (s_a + 1);
        const double inverse0 = inverse[k] = 1.0 / row[k];
        if (!pivot_is_good(row[k], singular * diagonal[0])) {
            return k;
        }
        if (k == 0) {
            break;
        }
        double *next = v + (size_t)(k - 1) * s;
        const double t = row[k - 1] * inverse0;
        for (int32_t c = 0; c < k && t != 0.0; c += 4) {
            *(part4 *)(next + c) = at4(next + c) - at4(row + c) * t;
        }
        const double inverse1 = inverse[k - 1] = 1.0 / next[k - 1];
        if (!pivot_is_good(next[k - 1], singular * *(diagonal - s_a - 1))) {
            return k - 1;
        }
        const bits *row_bits = (const bits *)row, *next_bits = (const bits *)next;
        double *other = next;
        for (int32_t i = k - 2; i >= 0; i--) { // first the row that the next step waits for
            other -= s;
            if ((row_bits[i] | next_bits[i]) << 1 == 0) { // zeros of any sign: a branch beside this one
                continue;
            }
            const double t0 = row[i] * inverse0, t1 = next[i] * inverse1;
            for (int32_t c = 0; c <= i; c += 4) {
                *(part4 *)(other + c) = at4(other + c) - at4(row + c) * t0 - at4(next + c) * t1;
            }
        }
    }
    finish_all(f);
    return -1;
}

static int32_t factor(const ltl_parts *f, const double *a, int32_t stride_a, double singular) {
    if (f->n <= STN_LTL_WHOLE) {
        return factor_whole(f, a, (size_t)stride_a, singular);
    }
    double *v = f->v, *inverse = f->inverse;
    const int32_t n = f->n, *parent = f->parent, *run = f->run;
    size_t s = (size_t)f->stride, s_a = (size_t)stride_a;
    // The runs of each row from A; nothing behind the last row of A may be read.
    for (int32_t k = 0; k < n - 1; k++) {
        const double *from = a + (size_t)k * s_a;
        double *to = v + (size_t)k * s;
        for (int32_t last = k; last >= 0; last = parent[run[last]]) {
            for (int32_t i = run[last]; i <= last; i += 4) {
                *(part4 *)(to + i) = at4(from + i);
            }
        }
    }
    memcpy(v + (size_t)(n - 1) * s, a + (size_t)(n - 1) * s_a, (size_t)n * sizeof *v);
    for (int32_t k = n - 1; k >= 0; k--) {
        double pivot = v[(size_t)k * (s + 1)], least = singular * a[(size_t)k * (s_a + 1)];
        if (!pivot_is_good(pivot, least)) {
            return k;
        }
        inverse[k] = 1.0 / pivot;
        reduce_rows(f, k, inverse[k]);
    }
    for (int32_t k = 0; k < n; k++) {
        f->root[k] = sqrt(inverse[k]);
    }
    return -1;
}

/// x_c -= t_c row from column `from` to `last`, for some x at distance d.
ALWAYS void subtract(int32_t columns, int32_t from, int32_t last, const double t[4], const double *row, double *x,
                     size_t d) {
    for (; from + 3 <= last; from += 4) {
        part4 r = at4(row + from);
        UNROLL
        for (int32_t c = 0; c < columns; c++) {
            double *y = x + (size_t)c * d + (size_t)from;
            *(part4 *)y = at4(y) - r * t[c];
        }
    }
    for (; from <= last; from++) {
        UNROLL
        for (int32_t c = 0; c < columns; c++) {
            x[(size_t)c * d + (size_t)from] -= row[from] * t[c];
        }
    }
}

/// x -= t row + u next up to column `end`.
ALWAYS void subtract_two(int32_t end, int32_t n, double t, const double *row, double u, const double *next, double *x) {
    int32_t i = 0;
    for (; i < end && i + 4 <= n; i += 4) {
        *(part4 *)(x + i) = at4(x + i) - at4(row + i) * t - at4(next + i) * u;
    }
    for (; i < end; i++) {
        x[i] = x[i] - row[i] * t - next[i] * u;
    }
}

/// Two rows at a time. What the vectors write into their own two places is replaced.
static void forward_whole(const ltl_parts *f, double *x) {
    const double *v = f->v, *inverse = f->inverse, *root = f->root;
    const size_t s = (size_t)f->stride;
    const int32_t n = f->n;
    int32_t k = n - 1;
    for (; k > 0; k -= 2) {
        const double *row = v + (size_t)k * s, *next = row - s;
        const double last = x[k], t = last * inverse[k], left = x[k - 1] - row[k - 1] * t;
        if (t != 0.0 || left != 0.0) { // else: a branch that x does not reach
            subtract_two(k - 1, n, t, row, left * inverse[k - 1], next, x);
            x[k] = last * root[k];
            x[k - 1] = left * root[k - 1];
        }
    }
    x[0] *= k == 0 ? root[0] : 1.0;
}

ALWAYS void forward_some(const ltl_parts *f, int32_t columns, double *x, size_t d) {
    const double *v = f->v, *inverse = f->inverse, *root = f->root;
    const int32_t n = f->n, *parent = f->parent, *run = f->run;
    size_t s = (size_t)f->stride;
    for (int32_t k = n - 1; k >= 0; k--) {
        const double *row = v + (size_t)k * s;
        double t[4];
        bool reached = false;
        UNROLL
        for (int32_t c = 0; c < columns; c++) {
            double *y = x + (size_t)c * d + (size_t)k;
            reached = reached || *y != 0.0;
            t[c] = *y * inverse[k];
            *y *= root[k];
        }
        for (int32_t last = k; reached && last >= 0;) { // else: a branch that these vectors do not reach
            int32_t first = run[last];
            subtract(columns, first, last < k ? last : k - 1, t, row, x, d);
            last = parent[first];
        }
    }
}

/// sum_c and rest_c, together, += x_c . row from column `from` to `last`.
ALWAYS void add_dots(int32_t columns, int32_t from, int32_t last, const double *row, const double *x, size_t d,
                     part4 sum[4], double rest[4]) {
    for (; from + 3 <= last; from += 4) {
        part4 r = at4(row + from);
        UNROLL
        for (int32_t c = 0; c < columns; c++) {
            sum[c] += r * at4(x + (size_t)c * d + (size_t)from);
        }
    }
    for (; from <= last; from++) {
        UNROLL
        for (int32_t c = 0; c < columns; c++) {
            rest[c] += row[from] * x[(size_t)c * d + (size_t)from];
        }
    }
}

/// Two rows at a time, the first of which is 0 in x while the vectors read it.
static void backward_whole(const ltl_parts *f, double *x) {
    const double *v = f->v, *inverse = f->inverse, *root = f->root;
    const size_t s = (size_t)f->stride;
    const int32_t n = f->n;
    x[0] *= n % 2 == 1 ? root[0] : 1.0;
    for (int32_t k = n % 2; k < n; k += 2) {
        const double *row = v + (size_t)k * s, *next = row + s, own = x[k];
        part4 sum = {0.0}, more = {0.0};
        double rest = 0.0, over = 0.0;
        int32_t i = 0;
        x[k] = 0.0;
        for (; i < k && i + 4 <= n; i += 4) {
            const part4 y = at4(x + i);
            sum += at4(row + i) * y;
            more += at4(next + i) * y;
        }
        for (; i < k; i++) {
            rest += row[i] * x[i];
            over += next[i] * x[i];
        }
        rest += (sum[0] + sum[1]) + (sum[2] + sum[3]);
        over += (more[0] + more[1]) + (more[2] + more[3]);
        x[k] = own * root[k] - rest * inverse[k];
        over += next[k] * x[k];
        x[k + 1] = x[k + 1] * root[k + 1] - over * inverse[k + 1];
    }
}

ALWAYS void backward_some(const ltl_parts *f, int32_t columns, double *x, size_t d) {
    const double *v = f->v, *inverse = f->inverse, *root = f->root;
    const int32_t n = f->n, *parent = f->parent, *run = f->run;
    size_t s = (size_t)f->stride;
    for (int32_t k = 0; k < n; k++) {
        const double *row = v + (size_t)k * s;
        part4 sum[4] = {{0.0}, {0.0}, {0.0}, {0.0}};
        double rest[4] = {0.0, 0.0, 0.0, 0.0};
        for (int32_t last = k; last >= 0;) {
            int32_t first = run[last];
            add_dots(columns, first, last < k ? last : k - 1, row, x, d, sum, rest);
            last = parent[first];
        }
        UNROLL
        for (int32_t c = 0; c < columns; c++) {
            double *y = x + (size_t)c * d + (size_t)k;
            rest[c] += (sum[c][0] + sum[c][1]) + (sum[c][2] + sum[c][3]);
            *y = *y * root[k] - rest[c] * inverse[k];
        }
    }
}

#define SOLVE(name)                                                                      \
    static void name(const ltl_parts *f, int32_t columns, double *x, int32_t stride_x) { \
        size_t d = (size_t)stride_x;                                                     \
        for (; columns > 0 && f->n <= STN_LTL_WHOLE; columns--, x += d) {                \
            name##_whole(f, x);                                                          \
        }                                                                                \
        for (; columns >= 4; columns -= 4, x += 4 * d) {                                 \
            name##_some(f, 4, x, d);                                                     \
        }                                                                                \
        if (columns == 3) {                                                              \
            name##_some(f, 3, x, d);                                                     \
        } else if (columns == 2) {                                                       \
            name##_some(f, 2, x, d);                                                     \
        } else if (columns == 1) {                                                       \
            name##_some(f, 1, x, d);                                                     \
        }                                                                                \
    }
SOLVE(forward)
SOLVE(backward)

/// Zeros of any sign in the lanes of a dof: a branch that does not move the contact.
ALWAYS bool is_unmoved(const double *x) {
    const bits *b = (const bits *)x;
    return (b[0] | b[1] | b[2]) << 1 == 0;
}

ALWAYS int32_t half_whole(const ltl_parts *f, part4 *lanes, int32_t *dofs) {
    const double *v = f->v, *inverse = f->inverse, *root = f->root;
    const size_t s = (size_t)f->stride;
    int32_t count = 0, k = f->n - 1;
    for (; k > 0; k -= 2) { // two rows at a time
        const double *row = v + (size_t)k * s, *next = row - s;
        const part4 t = lanes[k] * inverse[k], left = lanes[k - 1] - t * row[k - 1];
        lanes[k - 1] = left;
        const bool moved = !is_unmoved((const double *)&lanes[k]), before = !is_unmoved((const double *)&lanes[k - 1]);
        if (!moved && !before) {
            continue;
        }
        const part4 u = left * inverse[k - 1];
        for (int32_t i = 0; i < k - 1; i++) {
            lanes[i] = lanes[i] - t * row[i] - u * next[i];
        }
        lanes[k] *= root[k];
        lanes[k - 1] = left * root[k - 1];
        dofs[count] = k;
        count += moved;
        dofs[count] = k - 1;
        count += before;
    }
    if (k == 0 && !is_unmoved((const double *)lanes)) {
        lanes[0] *= root[0];
        dofs[count++] = 0;
    }
    return count;
}

/// Forward of the three rows of J side by side.
static int32_t half(const ltl_parts *f, const double *J, double *X, int32_t *dofs) {
    const double *v = f->v, *inverse = f->inverse, *root = f->root;
    const int32_t n = f->n, *parent = f->parent, *run = f->run;
    size_t s = (size_t)f->stride;
    part4 *lanes = (part4 *)X;
    int32_t count = 0;
    for (int32_t k = 0; k < n; k++) {
        lanes[k] = (part4){J[k], J[n + k], J[2 * n + k], 0.0};
    }
    if (n <= STN_LTL_WHOLE) {
        return half_whole(f, lanes, dofs);
    }
    for (int32_t k = n - 1; k >= 0; k--) {
        if (is_unmoved(X + 4 * (size_t)k)) {
            continue;
        }
        part4 y = lanes[k], t = y * inverse[k];
        const double *row = v + (size_t)k * s;
        dofs[count++] = k;
        lanes[k] = y * root[k];
        for (int32_t last = k; last >= 0; last = parent[run[last]]) {
            int32_t end = last < k ? last : k - 1;
            for (int32_t i = run[last]; i <= end; i++) {
                lanes[i] -= t * row[i];
            }
        }
    }
    return count;
}

/// lanes (3 n): row r of the four J at 3 k + r, dof k; J[c] (3 x n).
ALWAYS void load_four(int32_t n, const double *const J[4], part4 *lanes) {
    for (int32_t r = 0; r < 3; r++) {
        const double *a = J[0] + r * n, *b = J[1] + r * n, *c = J[2] + r * n, *d = J[3] + r * n;
        int32_t k = 0;
        for (; k + 4 <= n; k += 4) {
            const part4 x = at4(a + k), y = at4(b + k), z = at4(c + k), w = at4(d + k);
            const part4 xy0 = __builtin_shufflevector(x, y, 0, 4, 2, 6),
                        xy1 = __builtin_shufflevector(x, y, 1, 5, 3, 7);
            const part4 zw0 = __builtin_shufflevector(z, w, 0, 4, 2, 6),
                        zw1 = __builtin_shufflevector(z, w, 1, 5, 3, 7);
            lanes[3 * k + r] = __builtin_shufflevector(xy0, zw0, 0, 1, 4, 5);
            lanes[3 * k + 3 + r] = __builtin_shufflevector(xy1, zw1, 0, 1, 4, 5);
            lanes[3 * k + 6 + r] = __builtin_shufflevector(xy0, zw0, 2, 3, 6, 7);
            lanes[3 * k + 9 + r] = __builtin_shufflevector(xy1, zw1, 2, 3, 6, 7);
        }
        for (; k < n; k++) {
            lanes[3 * k + r] = (part4){a[k], b[k], c[k], d[k]};
        }
    }
}

/// half_whole and pair_add of the half with itself, of four side by side and bit by bit the same.
static void four_squares(const ltl_parts *f, const double *const J[4], double *X, double *squares) {
    const int32_t n = f->n;
    part4 *lanes = (part4 *)X;
    load_four(n, J, lanes);
    int32_t k = n - 1;
    for (; k > 0; k -= 2) { // two rows at a time
        const double *row = f->v + (size_t)k * (size_t)f->stride, *next = row - f->stride;
        // numbers that stores of lanes might overlap are read first
        const double inverse = f->inverse[k], before = f->inverse[k - 1], root = f->root[k],
                     root_before = f->root[k - 1];
        const double coupling = row[k - 1];
        part4 t[3], u[3], *own = lanes + 3 * (size_t)k;
        UNROLL
        for (int32_t r = 0; r < 3; r++) {
            t[r] = own[r] * inverse;
            const part4 left = own[r - 3] - t[r] * coupling;
            u[r] = left * before;
            own[r] *= root;
            own[r - 3] = left * root_before;
        }
        part4 *x = lanes;
        for (int32_t i = 0; i < k - 1; i++, x += 3) {
            const double a = row[i], b = next[i];
            UNROLL
            for (int32_t r = 0; r < 3; r++) {
                x[r] = x[r] - t[r] * a - u[r] * b;
            }
        }
    }
    UNROLL
    for (int32_t r = 0; r < 3 && k == 0; r++) {
        lanes[r] *= f->root[0];
    }
    part4 w11 = {0.0}, w12 = {0.0}, w22 = {0.0}, w13 = {0.0}, w23 = {0.0}, w33 = {0.0};
    for (const part4 *x = lanes + 3 * (size_t)n - 3; x >= lanes; x -= 3) {
        w11 += x[0] * x[0];
        w12 += x[1] * x[0];
        w22 += x[1] * x[1];
        w13 += x[2] * x[0];
        w23 += x[2] * x[1];
        w33 += x[2] * x[2];
    }
    const part4 w[9] = {w11, w12, w13, w12, w22, w23, w13, w23, w33};
    for (int32_t e = 0; e < 9; e++) {
        *(part4 *)(squares + 4 * (size_t)e) = w[e];
    }
}

static void pair_add(int32_t count, const int32_t *dofs, const double *X, const double *Y, double *w) {
    part4 sum0 = {0.0}, sum1 = {0.0}, sum2 = {0.0}; // an array would live in memory
    for (int32_t i = 0; i < count; i++) {
        const double *x = X + 4 * (size_t)dofs[i];
        part4 y = at4(Y + 4 * (size_t)dofs[i]);
        sum0 += y * x[0];
        sum1 += y * x[1];
        sum2 += y * x[2];
    }
    UNROLL
    for (int32_t a = 0; a < 3; a++) {
        w[a] += sum0[a];
        w[3 + a] += sum1[a];
        w[6 + a] += sum2[a];
    }
}

const ltl_kernels KERNEL_NAME(ltl_kernels) = {factor, forward, backward, half, pair_add, four_squares};
