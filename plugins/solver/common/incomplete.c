// SPDX-License-Identifier: Apache-2.0
// See incomplete.h.
#include "common/incomplete.h"

#include <math.h>
#include <string.h>

#include "common/vectors.h"

// Heaps of 1,000 to 10,000 bodies: level 3 keeps 4.7 blocks a body where a whole factor has 11, and a direction to 1e-2
// takes 3 to 4 iterations; with level 2 that are 4 to 6, with 4 one less for a factor that takes a fifth longer. Without
// the shift a block in 2,000 loses its definiteness, and directions to 1e-5 take 50 iterations where they take 10.
enum { LEVEL = 3 };
#define SHIFT 1e-3

// ------------------------------------------------------------------------------------------------------------ pattern

bool incomplete_order(const stn_block_pattern *pattern, stn_arena *arena, stn_block_tree *tree, incomplete *out) {
    if (!stn_block_tree_build(pattern, arena, tree)) {
        return false;
    }
    *out = (incomplete){.n = tree->n, .order = tree->order, .size = tree->size};
    for (int32_t k = 0; k < tree->n; k++) {
        double rows = 0.5 * tree->size[k];
        for (int32_t e = tree->column_start[k]; e < tree->column_start[k + 1]; e++) {
            rows += tree->size[tree->row[e]];
        }
        out->complete_work += 0.5 * tree->size[k] * rows * rows;
    }
    return true;
}

/// An entry of a row of U while the rows are being found.
typedef struct fill {
    int32_t place, level, next; // next: of the same row, -1
} fill;

typedef struct fill_list {
    stn_arena *arena;
    fill *entry;
    int32_t count, capacity;
} fill_list;

static bool add_fill(fill_list *l, fill entry) {
    if (l->count == l->capacity) {
        const int32_t capacity = 2 * l->capacity + 1024;
        fill *more = STN_ARENA(l->arena, capacity, fill);
        if (more == NULL) {
            return false;
        }
        if (l->count > 0) {
            memcpy(more, l->entry, (size_t)l->count * sizeof *more);
        }
        l->entry = more;
        l->capacity = capacity;
    }
    l->entry[l->count++] = entry;
    return true;
}

/// Row k of `waiting`, each place once with its least level, ascending, onto the end of `done`. `at` (n) is -1 and is
/// again afterwards.
static bool finish_row(const fill_list *waiting, int32_t head, int32_t *at, fill_list *done) {
    const int32_t first = done->count;
    for (int32_t e = head; e >= 0; e = waiting->entry[e].next) {
        const fill *f = &waiting->entry[e];
        int32_t *slot = &at[f->place];
        if (*slot < 0) {
            *slot = done->count;
            if (!add_fill(done, *f)) {
                return false;
            }
        } else if (f->level < done->entry[*slot].level) {
            done->entry[*slot].level = f->level;
        }
    }
    for (int32_t e = first; e < done->count; e++) {
        const fill f = done->entry[e];
        int32_t to = e;
        at[f.place] = -1;
        for (; to > first && done->entry[to - 1].place > f.place; to--) {
            done->entry[to] = done->entry[to - 1];
        }
        done->entry[to] = f;
    }
    return true;
}

/// Finds all rows of U; head (n) and at (n) are work space.
static bool find_rows(const stn_block_pattern *p, const int32_t *place, fill_list *waiting, fill_list *done,
                      int32_t *head, int32_t *at, int32_t *row_start) {
    const int32_t n = p->block_count;
    for (int32_t k = 0; k < n; k++) {
        head[k] = at[k] = -1;
    }
    for (int32_t j = 0; j < n; j++) {
        for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
            const int32_t a = place[j], b = place[p->row[e]], row = a < b ? a : b;
            if (!add_fill(waiting, (fill){a < b ? b : a, 0, head[row]})) {
                return false;
            }
            head[row] = waiting->count - 1;
        }
    }
    for (int32_t k = 0; k < n; k++) {
        const int32_t first = done->count + 1; // behind the diagonal
        row_start[k] = done->count;
        if (!finish_row(waiting, head[k], at, done)) {
            return false;
        }
        for (int32_t x = first; x < done->count; x++) {
            const fill a = done->entry[x];
            for (int32_t y = x + 1; y < done->count; y++) {
                const int32_t level = a.level + done->entry[y].level + 1;
                if (level <= LEVEL) {
                    if (!add_fill(waiting, (fill){done->entry[y].place, level, head[a.place]})) {
                        return false;
                    }
                    head[a.place] = waiting->count - 1;
                }
            }
        }
    }
    row_start[n] = done->count;
    return true;
}

/// The entry of row k in column i, -1: left out.
static int32_t find_entry(const incomplete *f, int32_t k, int32_t i) {
    int32_t low = f->row_start[k], high = f->row_start[k + 1];
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (f->column[middle] < i) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < f->row_start[k + 1] && f->column[low] == i ? low : -1;
}

/// Where eliminations go and where the entries of the pattern are.
static bool find_targets(const stn_block_pattern *p, stn_arena *arena, const int32_t *place, incomplete *f) {
    size_t count = 0;
    for (int32_t k = 0; k < f->n; k++) {
        const size_t beside = (size_t)(f->row_start[k + 1] - f->row_start[k] - 1);
        count += beside * (beside + 1) / 2;
    }
    const size_t entries = (size_t)p->column_start[p->block_count];
    f->target = STN_ARENA(arena, count + 1, int32_t);
    f->source = STN_ARENA(arena, entries + 1, int32_t);
    f->flipped = STN_ARENA(arena, entries + 1, bool);
    if (f->target == NULL || f->source == NULL || f->flipped == NULL) {
        return false;
    }
    int32_t *target = f->target;
    for (int32_t k = 0; k < f->n; k++) {
        const int32_t end = f->row_start[k + 1];
        for (int32_t x = f->row_start[k] + 1; x < end; x++) {
            const int32_t row = f->column[x], row_end = f->row_start[row + 1];
            for (int32_t y = x, at = f->row_start[row]; y < end; y++) {
                while (at < row_end && f->column[at] < f->column[y]) {
                    at++;
                }
                *target++ = at < row_end && f->column[at] == f->column[y] ? at : -1;
            }
        }
    }
    for (int32_t j = 0; j < p->block_count; j++) {
        for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
            const int32_t a = place[j], b = place[p->row[e]]; // the block is (row, j)
            f->flipped[e] = a < b;
            f->source[e] = a < b ? find_entry(f, a, b) : find_entry(f, b, a);
        }
    }
    return true;
}

bool incomplete_analyse(const stn_block_pattern *p, stn_arena *arena, const stn_block_tree *tree, incomplete *f) {
    const int32_t n = f->n;
    const size_t blocks = (size_t)n + 1;
    fill_list waiting = {.arena = arena}, done = {.arena = arena};
    int32_t *head = STN_ARENA(arena, blocks, int32_t), *at = STN_ARENA(arena, blocks, int32_t);
    f->row_start = STN_ARENA(arena, blocks, int32_t);
    f->start = STN_ARENA(arena, blocks, int32_t);
    f->original = STN_ARENA(arena, blocks, int32_t);
    if (head == NULL || at == NULL || f->row_start == NULL || f->start == NULL || f->original == NULL ||
        !find_rows(p, tree->place, &waiting, &done, head, at, f->row_start)) {
        return false;
    }
    f->column = STN_ARENA(arena, done.count + 1, int32_t);
    f->offset = STN_ARENA(arena, done.count + 1, int64_t);
    if (f->column == NULL || f->offset == NULL) {
        return false;
    }
    int32_t largest = 0;
    int64_t size = 0;
    f->start[0] = f->original[0] = 0;
    for (int32_t k = 0; k < n; k++) {
        f->start[k + 1] = f->start[k] + f->size[k];
        f->original[k + 1] = f->original[k] + p->block_size[k];
        largest = f->size[k] > largest ? f->size[k] : largest;
        for (int32_t e = f->row_start[k]; e < f->row_start[k + 1]; e++) {
            f->column[e] = done.entry[e].place;
            f->offset[e] = size;
            size += (int64_t)f->size[k] * f->size[f->column[e]];
        }
    }
    f->offset[done.count] = size;
    f->values = STN_ARENA(arena, size + 8, double);
    f->work = STN_ARENA(arena, (int64_t)f->start[n] + 2 * (int64_t)largest * largest + 8, double);
    return f->values != NULL && f->work != NULL && find_targets(p, arena, tree->place, f);
}

// ------------------------------------------------------------------------------------------------------------- factor

/// C (n x m) += sign A^T B, A (l x n), B (l x m); `six`: all blocks are 6 x 6. Constants where it is called.
STN_KERNEL_INLINE void add_product(bool six, double sign, int32_t l, int32_t n, int32_t m, const double *restrict A,
                                   const double *restrict B, double *restrict C) {
    if (six) {
        v4 low[6];
        v2u high[6];
        UNROLL
        for (int32_t k = 0; k < 6; k++) {
            low[k] = (v4) * (const v4u *)(B + 6 * k);
            high[k] = *(const v2u *)(B + 6 * k + 4);
        }
        for (int32_t i = 0; i < 6; i++) {
            v4 a = (v4) * (const v4u *)(C + 6 * i);
            v2u b = *(const v2u *)(C + 6 * i + 4);
            UNROLL
            for (int32_t k = 0; k < 6; k++) {
                a += sign * A[6 * k + i] * low[k];
                b += sign * A[6 * k + i] * high[k];
            }
            *(v4u *)(C + 6 * i) = a;
            *(v2u *)(C + 6 * i + 4) = b;
        }
        return;
    }
    for (int32_t k = 0; k < l; k++) {
        for (int32_t i = 0; i < n; i++) {
            for (int32_t j = 0; j < m; j++) {
                C[i * m + j] += sign * A[k * n + i] * B[k * m + j];
            }
        }
    }
}

/// S (n x n, symmetric) becomes its inverse; L (n x n) is work space. False, and S as it was: a pivot falls below
/// 1e-13 of its diagonal entry.
STN_KERNEL_INLINE bool invert(int32_t n, double *restrict S, double *restrict L) {
    for (int32_t j = 0; j < n; j++) { // L, its diagonal inverted
        for (int32_t i = j; i < n; i++) {
            double sum = S[i * n + j];
            for (int32_t k = 0; k < j; k++) {
                sum -= L[i * n + k] * L[j * n + k];
            }
            if (i == j) {
                if (!(sum > 1e-13 * S[i * n + i])) {
                    return false;
                }
                L[i * n + i] = 1.0 / sqrt(sum);
            } else {
                L[i * n + j] = sum * L[j * n + j];
            }
        }
    }
    for (int32_t j = 0; j < n; j++) { // L^-1 in its place
        for (int32_t i = j + 1; i < n; i++) {
            double sum = 0.0;
            for (int32_t k = j; k < i; k++) {
                sum += L[i * n + k] * L[k * n + j];
            }
            L[i * n + j] = -sum * L[i * n + i];
        }
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int32_t k = i; k < n; k++) {
                sum += L[k * n + i] * L[k * n + j];
            }
            S[i * n + j] = S[j * n + i] = sum;
        }
    }
    return true;
}

static void load(incomplete *f, const stn_block_matrix *matrix) {
    const stn_block_pattern *p = &matrix->pattern;
    memset(f->values, 0, (size_t)f->offset[f->row_start[f->n]] * sizeof *f->values);
    for (int32_t j = 0; j < p->block_count; j++) {
        for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
            const int32_t rows = p->block_size[p->row[e]], columns = p->block_size[j];
            const double *from = matrix->values + matrix->offset[e];
            double *to = f->values + f->offset[f->source[e]];
            for (int32_t r = 0; r < rows; r++) {
                for (int32_t c = 0; c < columns; c++) {
                    to[f->flipped[e] ? c * rows + r : r * columns + c] = from[r * columns + c];
                }
            }
            for (int32_t r = 0; r < rows && p->row[e] == j; r++) {
                to[r * (rows + 1)] *= 1.0 + SHIFT;
            }
        }
    }
}

STN_KERNEL bool incomplete_factor(incomplete *f, const stn_block_matrix *matrix) {
    const stn_block_pattern *p = &matrix->pattern;
    double *product = f->work + f->start[f->n]; // S^-1 U_x; before that what invert works in
    const int32_t *target = f->target;
    f->replaced = 0;
    load(f, matrix);
    for (int32_t k = 0; k < f->n; k++) {
        const int32_t l = f->size[k], first = f->row_start[k], end = f->row_start[k + 1];
        double *S = f->values + f->offset[first];
        if (l == 6 ? !invert(6, S, product) : !invert(l, S, product)) {
            const int64_t entry = p->column_start[f->order[k]];
            memcpy(S, matrix->values + matrix->offset[entry], (size_t)l * (size_t)l * sizeof *S);
            f->replaced++;
            if (!invert(l, S, product)) {
                return false;
            }
        }
        for (int32_t x = first + 1; x < end; x++) {
            const int32_t n = f->size[f->column[x]];
            const double *U = f->values + f->offset[x];
            memset(product, 0, (size_t)l * (size_t)n * sizeof *product);
            if (l == 6 && n == 6) {
                add_product(true, 1.0, 6, 6, 6, S, U, product);
            } else {
                add_product(false, 1.0, l, l, n, S, U, product);
            }
            for (int32_t y = x; y < end; y++, target++) {
                if (*target < 0) {
                    continue;
                }
                const int32_t m = f->size[f->column[y]];
                const double *V = f->values + f->offset[y];
                double *C = f->values + f->offset[*target];
                if (l == 6 && n == 6 && m == 6) {
                    add_product(true, -1.0, 6, 6, 6, product, V, C);
                } else {
                    add_product(false, -1.0, l, n, m, product, V, C);
                }
            }
        }
    }
    return true;
}

// ----------------------------------------------------------------------------------------------------------- products

/// y (m) += sign A^T x, A (n x m).
STN_KERNEL_INLINE void transposed_add(bool six, double sign, int32_t n, int32_t m, const double *restrict A,
                                      const double *restrict x, double *restrict y) {
    if (six) {
        v4 low = (v4) * (const v4u *)y;
        v2u high = *(const v2u *)(y + 4);
        UNROLL
        for (int32_t k = 0; k < 6; k++) {
            low += sign * x[k] * (v4) * (const v4u *)(A + 6 * k);
            high += sign * x[k] * *(const v2u *)(A + 6 * k + 4);
        }
        *(v4u *)y = low;
        *(v2u *)(y + 4) = high;
        return;
    }
    for (int32_t k = 0; k < n; k++) {
        for (int32_t j = 0; j < m; j++) {
            y[j] += sign * x[k] * A[k * m + j];
        }
    }
}

/// y (n) += sign A x, A (n x m).
STN_KERNEL_INLINE void times_add(bool six, double sign, int32_t n, int32_t m, const double *restrict A,
                                 const double *restrict x, double *restrict y) {
    if (six) {
        const v4 low = (v4) * (const v4u *)x;
        const v2u high = *(const v2u *)(x + 4);
        UNROLL
        for (int32_t i = 0; i < 6; i++) {
            const v4 a = low * (v4) * (const v4u *)(A + 6 * i);
            const v2u b = high * *(const v2u *)(A + 6 * i + 4);
            y[i] += sign * (((a[0] + a[2]) + (a[1] + a[3])) + (b[0] + b[1]));
        }
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int32_t j = 0; j < m; j++) {
            sum += A[i * m + j] * x[j];
        }
        y[i] += sign * sum;
    }
}

STN_KERNEL void incomplete_solve(const incomplete *f, const double *r, double *z) {
    double *t = f->work, *sum = f->work + f->start[f->n];
    for (int32_t k = 0; k < f->n; k++) {
        memcpy(t + f->start[k], r + f->original[f->order[k]], (size_t)f->size[k] * sizeof *t);
    }
    for (int32_t k = 0; k < f->n; k++) {
        const int32_t n = f->size[k], first = f->row_start[k];
        double *own = t + f->start[k];
        memcpy(sum, own, (size_t)n * sizeof *sum);
        memset(own, 0, (size_t)n * sizeof *own);
        if (n == 6) { // S^-1 is symmetric
            transposed_add(true, 1.0, 6, 6, f->values + f->offset[first], sum, own);
        } else {
            transposed_add(false, 1.0, n, n, f->values + f->offset[first], sum, own);
        }
        for (int32_t e = first + 1; e < f->row_start[k + 1]; e++) {
            const int32_t m = f->size[f->column[e]];
            if (n == 6 && m == 6) {
                transposed_add(true, -1.0, 6, 6, f->values + f->offset[e], own, t + f->start[f->column[e]]);
            } else {
                transposed_add(false, -1.0, n, m, f->values + f->offset[e], own, t + f->start[f->column[e]]);
            }
        }
    }
    for (int32_t k = f->n - 1; k >= 0; k--) {
        const int32_t n = f->size[k], first = f->row_start[k];
        double *own = t + f->start[k];
        memset(sum, 0, (size_t)n * sizeof *sum);
        for (int32_t e = first + 1; e < f->row_start[k + 1]; e++) {
            const int32_t m = f->size[f->column[e]];
            if (n == 6 && m == 6) {
                times_add(true, 1.0, 6, 6, f->values + f->offset[e], t + f->start[f->column[e]], sum);
            } else {
                times_add(false, 1.0, n, m, f->values + f->offset[e], t + f->start[f->column[e]], sum);
            }
        }
        if (n == 6) {
            transposed_add(true, -1.0, 6, 6, f->values + f->offset[first], sum, own);
        } else {
            transposed_add(false, -1.0, n, n, f->values + f->offset[first], sum, own);
        }
        memcpy(z + f->original[f->order[k]], own, (size_t)n * sizeof *z);
    }
}

STN_KERNEL void incomplete_times(const incomplete *f, const stn_block_matrix *matrix, const double *x, double *y) {
    const stn_block_pattern *p = &matrix->pattern;
    memset(y, 0, (size_t)f->original[f->n] * sizeof *y);
    for (int32_t j = 0; j < f->n; j++) {
        const int32_t m = p->block_size[j], at = f->original[j];
        for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
            const int32_t n = p->block_size[p->row[e]], row = f->original[p->row[e]];
            const double *A = matrix->values + matrix->offset[e];
            const bool six = n == 6 && m == 6;
            if (six) {
                transposed_add(true, 1.0, 6, 6, A, x + row, y + at);
            } else {
                transposed_add(false, 1.0, n, m, A, x + row, y + at);
            }
            if (p->row[e] != j && six) {
                times_add(true, 1.0, 6, 6, A, x + at, y + row);
            } else if (p->row[e] != j) {
                times_add(false, 1.0, n, m, A, x + at, y + row);
            }
        }
    }
}
