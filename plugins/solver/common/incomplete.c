// SPDX-License-Identifier: Apache-2.0
// See incomplete.h.
#include "common/incomplete.h"

#include <stdatomic.h>
#include <string.h>

#include "common/vectors.h"

// Measured on H of heaps of 10,000 bodies: level 3 keeps 4.7 blocks a body where a whole factor has 11, and a direction
// to 1e-2 takes 3 to 4 iterations; with level 2 it takes 4 to 5, with level 4 it takes 3 and the factor takes an eighth
// longer. Without the shift up to 4 pivot blocks are replaced, and a direction to 1e-5 then takes 53 iterations in
// place of 10; ten times the shift doubles the iterations.
enum { LEVEL = 3 };
#define SHIFT 1e-3F

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
    int32_t first; // room at first: a list that grows leaves its old room in the arena
} fill_list;

static bool add_fill(fill_list *l, fill entry) {
    if (l->count == l->capacity) {
        const int32_t capacity = 2 * l->capacity + l->first;
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

/// The entry of row k in column i, which is there.
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
    return low;
}

/// Where eliminations go.
static bool find_targets(stn_arena *arena, incomplete *f) {
    size_t count = 0;
    for (int32_t k = 0; k < f->n; k++) {
        const size_t beside = (size_t)(f->row_start[k + 1] - f->row_start[k] - 1);
        count += beside * (beside + 1) / 2;
    }
    f->target = STN_ARENA(arena, count + 1, int32_t);
    f->target_start = STN_ARENA(arena, f->row_start[f->n] + 1, int32_t);
    if (f->target == NULL || f->target_start == NULL) {
        return false;
    }
    int32_t next = 0;
    for (int32_t k = 0; k < f->n; k++) {
        const int32_t end = f->row_start[k + 1];
        for (int32_t x = f->row_start[k] + 1; x < end; x++) {
            const int32_t row = f->column[x], row_end = f->row_start[row + 1];
            f->target_start[x] = next;
            for (int32_t y = x, at = f->row_start[row]; y < end; y++) {
                while (at < row_end && f->column[at] < f->column[y]) {
                    at++;
                }
                f->target[next++] = at < row_end && f->column[at] == f->column[y] ? at : -1;
            }
        }
    }
    return true;
}

/// Where the entries of the pattern are.
static bool find_sources(const stn_block_pattern *p, stn_arena *arena, const int32_t *place, incomplete *f) {
    const int32_t entries = f->row_start[f->n];
    f->source = STN_ARENA(arena, entries + 1, int32_t);
    f->flipped = STN_ARENA(arena, entries + 1, bool);
    if (f->source == NULL || f->flipped == NULL) {
        return false;
    }
    for (int32_t e = 0; e < entries; e++) {
        f->source[e] = -1;
        f->flipped[e] = false;
    }
    for (int32_t j = 0; j < p->block_count; j++) {
        for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
            const int32_t a = place[j], b = place[p->row[e]]; // the block is (row, j)
            const int32_t at = a < b ? find_entry(f, a, b) : find_entry(f, b, a);
            f->source[at] = e;
            f->flipped[at] = a < b;
        }
    }
    return true;
}

/// Entries of U by columns, and of the pattern by rows.
static bool list_columns(const stn_block_pattern *p, stn_arena *arena, incomplete *f) {
    const int32_t n = f->n, entries = f->row_start[n], given = p->column_start[n];
    f->above_start = STN_ARENA_ZEROED(arena, n + 2, int32_t);
    f->above = STN_ARENA(arena, entries + 1, int32_t);
    f->row = STN_ARENA(arena, entries + 1, int32_t);
    f->cross_start = STN_ARENA_ZEROED(arena, n + 2, int32_t);
    f->cross = STN_ARENA(arena, given + 1, int32_t);
    f->cross_column = STN_ARENA(arena, given + 1, int32_t);
    if (f->above_start == NULL || f->above == NULL || f->row == NULL || f->cross_start == NULL || f->cross == NULL ||
        f->cross_column == NULL) {
        return false;
    }
    for (int32_t k = 0; k < n; k++) {
        for (int32_t e = f->row_start[k] + 1; e < f->row_start[k + 1]; e++) {
            f->above_start[f->column[e] + 2]++;
        }
        for (int32_t e = p->column_start[k]; e < p->column_start[k + 1]; e++) {
            f->cross_start[p->row[e] + 2] += p->row[e] != k;
        }
    }
    for (int32_t k = 0; k < n; k++) {
        f->above_start[k + 2] += f->above_start[k + 1];
        f->cross_start[k + 2] += f->cross_start[k + 1];
    }
    for (int32_t i = 0; i < n; i++) { // start[k + 1] runs ahead while column k fills, up to where the next one begins
        const int32_t k = f->parts.place[i];
        f->row[f->row_start[k]] = k;
        for (int32_t e = f->row_start[k] + 1; e < f->row_start[k + 1]; e++) {
            f->row[e] = k;
            f->above[f->above_start[f->column[e] + 1]++] = e;
        }
    }
    for (int32_t k = 0; k < n; k++) {
        for (int32_t e = p->column_start[k]; e < p->column_start[k + 1]; e++) {
            if (p->row[e] != k) {
                const int32_t at = f->cross_start[p->row[e] + 1]++;
                f->cross[at] = e;
                f->cross_column[at] = k;
            }
        }
    }
    return true;
}

/// Columns of about the same number of entries for every thread; one: all.
static bool cut_slices(const stn_block_pattern *p, stn_arena *arena, incomplete *f) {
    enum { SLICES = 2 }; // of a thread
    const int32_t threads = stn_threads_count(f->threads), count = threads == 1 ? 1 : SLICES * threads;
    f->slice_start = STN_ARENA(arena, count + 1, int32_t);
    if (f->slice_start == NULL) {
        return false;
    }
    f->slice_start[0] = 0;
    for (int32_t j = 0, k = 1; k <= count; k++) {
        while (j < f->n && (k == count || (int64_t)count * p->column_start[j] < (int64_t)k * p->column_start[f->n])) {
            j++;
        }
        f->slice_start[k] = j;
    }
    f->slice_count = count;
    return true;
}

/// Parts of about the same number of products.
static bool cut_parts(const stn_block_tree *tree, stn_arena *arena, incomplete *f) {
    double *work = STN_ARENA(arena, f->n + 1, double);
    for (int32_t k = 0; k < f->n && work != NULL; k++) {
        const double own = f->row_start[k + 1] - f->row_start[k];
        work[k] = own * (2.0 + 0.5 * own);
    }
    return work != NULL && tree_parts_cut(f->n, tree->parent, work, f->threads, arena, &f->parts);
}

bool incomplete_analyse(const stn_block_pattern *p, stn_threads *threads, stn_arena *arena, const stn_block_tree *tree,
                        incomplete *f) {
    const int32_t n = f->n;
    const size_t blocks = (size_t)n + 1;
    const int32_t entries = p->column_start[n]; // a heap has twice as many waiting, and 1.7 times as many done
    fill_list waiting = {.arena = arena, .first = 5 * (entries / 2) + 16};
    fill_list done = {.arena = arena, .first = 2 * entries + 16};
    int32_t *head = STN_ARENA(arena, blocks, int32_t), *at = STN_ARENA(arena, blocks, int32_t);
    f->row_start = STN_ARENA(arena, blocks, int32_t);
    f->length = STN_ARENA(arena, blocks, int32_t);
    f->start = STN_ARENA(arena, blocks, int32_t);
    f->original = STN_ARENA(arena, blocks, int32_t);
    if (head == NULL || at == NULL || f->row_start == NULL || f->length == NULL || f->start == NULL ||
        f->original == NULL || !find_rows(p, tree->place, &waiting, &done, head, at, f->row_start)) {
        return false;
    }
    f->column = STN_ARENA(arena, done.count + 1, int32_t);
    f->offset = STN_ARENA(arena, done.count + 1, int64_t);
    if (f->column == NULL || f->offset == NULL) {
        return false;
    }
    int64_t size = 0;
    f->start[0] = f->original[0] = 0;
    for (int32_t k = 0; k < n; k++) {
        f->length[k] = (f->size[k] + 3) / 4 * 4;
        f->start[k + 1] = f->start[k] + f->length[k];
        f->original[k + 1] = f->original[k] + p->block_size[k];
        f->largest = f->length[k] > f->largest ? f->length[k] : f->largest;
        f->sixes = (k == 0 || f->sixes) && f->size[k] == 6;
    }
    for (int32_t k = 0; k < n; k++) {
        for (int32_t e = f->row_start[k]; e < f->row_start[k + 1]; e++) {
            f->column[e] = done.entry[e].place;
            f->offset[e] = size;
            size += (int64_t)f->size[k] * f->length[f->column[e]];
        }
    }
    f->offset[done.count] = size;
    f->values = STN_ARENA(arena, size + 8, float);
    f->vector = STN_ARENA(arena, f->start[n] + 8, float);
    f->work_size = (f->largest * f->largest + 8 + 31) / 16 * 16; // no two workers write into one cache line
    f->work = STN_ARENA(arena, (size_t)stn_threads_count(threads) * (size_t)f->work_size, float);
    f->threads = threads;
    return f->values != NULL && f->vector != NULL && f->work != NULL && find_targets(arena, f) &&
           find_sources(p, arena, tree->place, f) && cut_parts(tree, arena, f) && list_columns(p, arena, f) &&
           cut_slices(p, arena, f);
}

// ------------------------------------------------------------------------------------------------------------- factor
// A block of n x m is n rows of `ld` floats, zeros beyond m; six: 6 x 6, known where it is called.

typedef float v8 __attribute__((vector_size(32), aligned(4), may_alias));

/// C (n x ld) += sign A^T B, A (l x ld_A), B (l x ld).
STN_KERNEL_INLINE void add_product(bool six, float sign, int32_t l, int32_t n, int32_t ld_A, int32_t ld,
                                   const float *restrict A, const float *restrict B, float *restrict C) {
    if (six) {
        v8 b[6];
        UNROLL
        for (int32_t k = 0; k < 6; k++) {
            b[k] = *(const v8 *)(B + 8 * k);
        }
        UNROLL
        for (int32_t i = 0; i < 6; i++) {
            v8 sum = *(const v8 *)(C + 8 * i);
            UNROLL
            for (int32_t k = 0; k < 6; k++) {
                sum += sign * A[8 * k + i] * b[k];
            }
            *(v8 *)(C + 8 * i) = sum;
        }
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < l; k++) {
            const float a = sign * A[k * ld_A + i];
            for (int32_t j = 0; j < ld; j++) {
                C[i * ld + j] += a * B[k * ld + j];
            }
        }
    }
}

/// S (n x n, symmetric) becomes its inverse, by Gauss and Jordan; `diagonal` (n) is work space. False: a pivot is not
/// beyond what the rounding of its diagonal entry leaves.
STN_KERNEL_INLINE bool invert(bool six, int32_t n, int32_t ld, float *restrict S, float *restrict diagonal) {
    if (six) {
        v8 row[6];
        UNROLL
        for (int32_t i = 0; i < 6; i++) {
            row[i] = *(const v8 *)(S + 8 * i);
            diagonal[i] = row[i][i];
        }
        UNROLL
        for (int32_t k = 0; k < 6; k++) {
            if (!(row[k][k] > 1e-6F * diagonal[k]) || !(diagonal[k] > 0.0F)) {
                return false;
            }
            const float inverse = 1.0F / row[k][k];
            row[k][k] = 1.0F;
            row[k] *= inverse;
            UNROLL
            for (int32_t i = 0; i < 6; i++) {
                if (i != k) {
                    const float f = row[i][k];
                    row[i][k] = 0.0F;
                    row[i] -= f * row[k];
                }
            }
        }
        UNROLL
        for (int32_t i = 0; i < 6; i++) {
            *(v8 *)(S + 8 * i) = row[i];
        }
        return true;
    }
    for (int32_t i = 0; i < n; i++) {
        diagonal[i] = S[i * ld + i];
    }
    for (int32_t k = 0; k < n; k++) {
        float *pivot = S + k * ld;
        if (!(pivot[k] > 1e-6F * diagonal[k]) || !(diagonal[k] > 0.0F)) {
            return false;
        }
        const float inverse = 1.0F / pivot[k];
        pivot[k] = 1.0F;
        for (int32_t j = 0; j < ld; j++) {
            pivot[j] *= inverse;
        }
        for (int32_t i = 0; i < n; i++) {
            if (i != k) {
                float *row = S + i * ld;
                const float f = row[k];
                row[k] = 0.0F;
                for (int32_t j = 0; j < ld; j++) {
                    row[j] -= f * pivot[j];
                }
            }
        }
    }
    return true;
}

/// Entry e of the matrix, a block (i, j) or its transpose, as floats.
STN_KERNEL_INLINE void load_block(int32_t rows, int32_t columns, bool flipped, int32_t ld, const double *restrict from,
                                  float *restrict to) {
    const int32_t n = flipped ? columns : rows, m = flipped ? rows : columns;
    const int32_t row_step = flipped ? 1 : columns, column_step = flipped ? columns : 1;
    for (int32_t r = 0; r < n; r++, to += ld) {
        for (int32_t c = 0; c < m; c++) {
            to[c] = (float)from[r * row_step + c * column_step];
        }
        for (int32_t c = m; c < ld; c++) {
            to[c] = 0.0F;
        }
    }
}

/// Entry `at` of U as H has it, zero where it has none.
STN_KERNEL_INLINE void load_entry(const incomplete *f, const stn_block_matrix *matrix, int32_t at, int32_t n,
                                  int32_t ld) {
    const int32_t e = f->source[at];
    float *to = f->values + f->offset[at];
    if (e < 0) {
        memset(to, 0, (size_t)n * (size_t)ld * sizeof *to);
        return;
    }
    const double *from = matrix->values + matrix->offset[e];
    const int32_t m = f->size[f->column[at]];
    if (n == 6 && m == 6 && f->flipped[at]) {
        load_block(6, 6, true, 8, from, to);
    } else if (n == 6 && m == 6) {
        load_block(6, 6, false, 8, from, to);
    } else if (f->flipped[at]) {
        load_block(m, n, true, ld, from, to);
    } else {
        load_block(n, m, false, ld, from, to);
    }
}

/// The diagonal block of place k as H has it, its diagonal larger by SHIFT.
STN_KERNEL_INLINE void load_pivot(const incomplete *f, const stn_block_matrix *matrix, int32_t k) {
    const int32_t n = f->size[k], ld = f->length[k];
    load_entry(f, matrix, f->row_start[k], n, ld);
    for (int32_t i = 0; i < n; i++) {
        f->values[f->offset[f->row_start[k]] + i * (ld + 1)] *= 1.0F + SHIFT;
    }
}

/// Row j as H has it.
STN_KERNEL_INLINE void load_row(const incomplete *f, const stn_block_matrix *matrix, int32_t j) {
    load_pivot(f, matrix, j);
    for (int32_t e = f->row_start[j] + 1; e < f->row_start[j + 1]; e++) {
        load_entry(f, matrix, e, f->size[j], f->length[f->column[e]]);
    }
}

/// What row k, whose entry x is in column j, subtracts from row j; product (largest^2) is work space.
STN_KERNEL_INLINE void subtract_row(const incomplete *f, int32_t x, float *product) {
    const int32_t k = f->row[x], l = f->size[k], ld = f->length[k], first = f->row_start[k];
    const int32_t n = f->size[f->column[x]], ld_x = f->length[f->column[x]];
    const float *S = f->values + f->offset[first], *U = f->values + f->offset[x];
    const int32_t *target = f->target + f->target_start[x];
    memset(product, 0, (size_t)l * (size_t)ld_x * sizeof *product);
    if (l == 6 && n == 6) {
        add_product(true, 1.0F, 6, 6, 8, 8, S, U, product);
    } else {
        add_product(false, 1.0F, l, l, ld, ld_x, S, U, product);
    }
    for (int32_t y = x; y < f->row_start[k + 1]; y++, target++) {
        if (*target < 0) {
            continue;
        }
        const float *V = f->values + f->offset[y];
        float *C = f->values + f->offset[*target];
        if (l == 6 && n == 6 && f->size[f->column[y]] == 6) {
            add_product(true, -1.0F, 6, 6, 8, 8, product, V, C);
        } else {
            add_product(false, -1.0F, l, n, ld_x, f->length[f->column[y]], product, V, C);
        }
    }
}

/// A factorisation at hand.
typedef struct factoring {
    const incomplete *f;
    const stn_block_matrix *matrix;
    atomic_bool failed;
} factoring;

/// Inverts the pivot of row k. False: that of H is not positive definite.
STN_KERNEL_INLINE bool invert_pivot(const incomplete *f, const stn_block_matrix *matrix, int32_t k, float *diagonal) {
    const int32_t n = f->size[k], ld = f->length[k];
    float *S = f->values + f->offset[f->row_start[k]];
    if (n == 6 ? invert(true, 6, 8, S, diagonal) : invert(false, n, ld, S, diagonal)) {
        return true;
    }
    load_pivot(f, matrix, k);
    return invert(false, n, ld, S, diagonal);
}

/// Every row subtracts from those behind it that are in its part.
STN_KERNEL_INLINE bool factor_rows(const incomplete *f, const stn_block_matrix *matrix, int32_t part, float *product) {
    for (int32_t i = f->parts.start[part]; i < f->parts.start[part + 1] && tree_part_is_lowest(&f->parts, part); i++) {
        load_row(f, matrix, f->parts.place[i]);
    }
    for (int32_t i = f->parts.start[part]; i < f->parts.start[part + 1]; i++) {
        const int32_t k = f->parts.place[i];
        if (!invert_pivot(f, matrix, k, product)) {
            return false;
        }
        for (int32_t x = f->row_start[k] + 1; x < f->row_start[k + 1]; x++) {
            if (f->parts.part[f->column[x]] == part) {
                subtract_row(f, x, product);
            }
        }
    }
    return true;
}

/// A row above the lowest level is loaded, and subtracted from by those of lower levels in the order of elimination.
STN_KERNEL static void factor_gather(void *user, int32_t k, int32_t worker) {
    const factoring *job = user;
    const incomplete *f = job->f;
    const int32_t begin = tree_part_level_begin(&f->parts, f->parts.part[k]);
    float *work = f->work + (size_t)worker * (size_t)f->work_size;
    load_row(f, job->matrix, k);
    for (int32_t a = f->above_start[k]; a < f->above_start[k + 1]; a++) {
        if (f->parts.part[f->row[f->above[a]]] >= begin) {
            break;
        }
        subtract_row(f, f->above[a], work);
    }
}

STN_KERNEL static void factor_part(void *user, int32_t part, int32_t worker) {
    factoring *job = user;
    const incomplete *f = job->f;
    float *work = f->work + (size_t)worker * (size_t)f->work_size;
    if (!factor_rows(f, job->matrix, part, work)) {
        atomic_store(&job->failed, true);
    }
}

bool incomplete_factor(const incomplete *f, const stn_block_matrix *matrix) {
    factoring job = {f, matrix, false};
    tree_parts_up(&f->parts, f->threads, factor_gather, factor_part, &job);
    return !atomic_load(&job.failed);
}

// ----------------------------------------------------------------------------------------------------------- products

/// y (ld) += sign A^T x, A (n x ld).
STN_KERNEL_INLINE void float_transposed_add(bool six, float sign, int32_t n, int32_t ld, const float *restrict A,
                                            const float *restrict x, float *restrict y) {
    if (six) {
        v8 sum = *(const v8 *)y;
        UNROLL
        for (int32_t k = 0; k < 6; k++) {
            sum += sign * x[k] * *(const v8 *)(A + 8 * k);
        }
        *(v8 *)y = sum;
        return;
    }
    for (int32_t k = 0; k < n; k++) {
        const float a = sign * x[k];
        for (int32_t j = 0; j < ld; j++) {
            y[j] += a * A[k * ld + j];
        }
    }
}

/// y (n) = the sum of A_e x_e over the entries [first, end) of a row of U, whose columns are all 6 long.
STN_KERNEL_INLINE void row_times_6(const incomplete *f, int32_t first, int32_t end, const float *t, float *y) {
    v8 sum[6] = {{0.0F}};
    for (int32_t e = first; e < end; e++) {
        const float *A = f->values + f->offset[e];
        const v8 x = *(const v8 *)(t + f->start[f->column[e]]);
        UNROLL
        for (int32_t i = 0; i < 6; i++) {
            sum[i] += *(const v8 *)(A + 8 * i) * x;
        }
    }
    UNROLL
    for (int32_t i = 0; i < 6; i++) {
        const v8 s = sum[i];
        y[i] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
    }
}

/// The same of any sizes.
STN_KERNEL_INLINE void row_times(const incomplete *f, int32_t n, int32_t first, int32_t end, const float *t, float *y) {
    for (int32_t i = 0; i < n; i++) {
        y[i] = 0.0F;
    }
    for (int32_t e = first; e < end; e++) {
        const int32_t m = f->length[f->column[e]];
        const float *A = f->values + f->offset[e], *x = t + f->start[f->column[e]];
        for (int32_t i = 0; i < n; i++, A += m) {
            for (int32_t j = 0; j < m; j++) {
                y[i] += A[j] * x[j];
            }
        }
    }
}

/// A solve at hand.
typedef struct solving {
    const incomplete *f;
    const double *r;
    double *z;
} solving;

STN_KERNEL_INLINE void load_place(const incomplete *f, int32_t k, const double *r) {
    const double *from = r + f->original[f->order[k]];
    float *own = f->vector + f->start[k];
    for (int32_t i = 0; i < f->length[k]; i++) {
        own[i] = i < f->size[k] ? (float)from[i] : 0.0F;
    }
}

/// What entry e of U makes of its row is subtracted from its column.
STN_KERNEL_INLINE void forward_entry(const incomplete *f, int32_t n, int32_t e, const float *own) {
    const int32_t column = f->column[e], m = f->length[column];
    if (n == 6 && m == 8) {
        float_transposed_add(true, -1.0F, 6, 8, f->values + f->offset[e], own, f->vector + f->start[column]);
    } else {
        float_transposed_add(false, -1.0F, n, m, f->values + f->offset[e], own, f->vector + f->start[column]);
    }
}

/// Place k times S_k^-1, which is symmetric.
STN_KERNEL_INLINE void forward_pivot(const incomplete *f, int32_t k, float *sum) {
    const int32_t n = f->size[k], ld = f->length[k];
    float *own = f->vector + f->start[k];
    memcpy(sum, own, (size_t)ld * sizeof *sum);
    memset(own, 0, (size_t)ld * sizeof *own);
    if (n == 6) {
        float_transposed_add(true, 1.0F, 6, 8, f->values + f->offset[f->row_start[k]], sum, own);
    } else {
        float_transposed_add(false, 1.0F, n, ld, f->values + f->offset[f->row_start[k]], sum, own);
    }
}

/// What lower levels leave of a place above the lowest.
STN_KERNEL static void forward_gather(void *user, int32_t k, int32_t worker) {
    (void)worker;
    const solving *job = user;
    const incomplete *f = job->f;
    const int32_t begin = tree_part_level_begin(&f->parts, f->parts.part[k]);
    load_place(f, k, job->r);
    for (int32_t a = f->above_start[k]; a < f->above_start[k + 1]; a++) {
        const int32_t e = f->above[a], row = f->row[e];
        if (f->parts.part[row] >= begin) {
            break;
        }
        forward_entry(f, f->size[row], e, f->vector + f->start[row]);
    }
}

STN_KERNEL static void forward_part(void *user, int32_t part, int32_t worker) {
    const solving *job = user;
    const incomplete *f = job->f;
    const tree_parts *parts = &f->parts;
    float *sum = f->work + (size_t)worker * (size_t)f->work_size;
    for (int32_t i = parts->start[part]; i < parts->start[part + 1] && tree_part_is_lowest(parts, part); i++) {
        load_place(f, parts->place[i], job->r);
    }
    for (int32_t i = parts->start[part]; i < parts->start[part + 1]; i++) {
        const int32_t k = parts->place[i];
        forward_pivot(f, k, sum);
        for (int32_t e = f->row_start[k] + 1; e < f->row_start[k + 1]; e++) {
            if (parts->part[f->column[e]] == part) {
                forward_entry(f, f->size[k], e, f->vector + f->start[k]);
            }
        }
    }
}

STN_KERNEL static void backward_part(void *user, int32_t part, int32_t worker) {
    const solving *job = user;
    const incomplete *f = job->f;
    float *t = f->vector, *sum = f->work + (size_t)worker * (size_t)f->work_size;
    for (int32_t i = f->parts.start[part + 1] - 1; i >= f->parts.start[part]; i--) {
        const int32_t k = f->parts.place[i], n = f->size[k], ld = f->length[k], first = f->row_start[k];
        float *own = t + f->start[k];
        if (f->sixes) {
            row_times_6(f, first + 1, f->row_start[k + 1], t, sum);
        } else {
            row_times(f, n, first + 1, f->row_start[k + 1], t, sum);
        }
        if (n == 6) {
            float_transposed_add(true, -1.0F, 6, 8, f->values + f->offset[first], sum, own);
        } else {
            float_transposed_add(false, -1.0F, n, ld, f->values + f->offset[first], sum, own);
        }
        double *to = job->z + f->original[f->order[k]];
        for (int32_t d = 0; d < n; d++) {
            to[d] = (double)own[d];
        }
    }
}

void incomplete_solve(const incomplete *f, const double *r, double *z) {
    solving job = {f, r, z};
    tree_parts_up(&f->parts, f->threads, forward_gather, forward_part, &job);
    tree_parts_down(&f->parts, f->threads, backward_part, &job);
}

/// y (m) += A^T x, A (n x m); `six`: both are 6.
STN_KERNEL_INLINE void transposed_add(bool six, int32_t n, int32_t m, const double *restrict A,
                                      const double *restrict x, double *restrict y) {
    if (six) {
        v4 low = (v4) * (const v4u *)y;
        v2u high = *(const v2u *)(y + 4);
        UNROLL
        for (int32_t k = 0; k < 6; k++) {
            low += x[k] * (v4) * (const v4u *)(A + 6 * k);
            high += x[k] * *(const v2u *)(A + 6 * k + 4);
        }
        *(v4u *)y = low;
        *(v2u *)(y + 4) = high;
        return;
    }
    for (int32_t k = 0; k < n; k++) {
        for (int32_t j = 0; j < m; j++) {
            y[j] += x[k] * A[k * m + j];
        }
    }
}

/// y (n) += A x, A (n x m).
STN_KERNEL_INLINE void times_add(bool six, int32_t n, int32_t m, const double *restrict A, const double *restrict x,
                                 double *restrict y) {
    if (six) {
        const v4 low = (v4) * (const v4u *)x;
        const v2u high = *(const v2u *)(x + 4);
        UNROLL
        for (int32_t i = 0; i < 6; i++) {
            const v4 a = low * (v4) * (const v4u *)(A + 6 * i);
            const v2u b = high * *(const v2u *)(A + 6 * i + 4);
            y[i] += ((a[0] + a[2]) + (a[1] + a[3])) + (b[0] + b[1]);
        }
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int32_t j = 0; j < m; j++) {
            sum += A[i * m + j] * x[j];
        }
        y[i] += sum;
    }
}

/// A product at hand.
typedef struct multiplying {
    const incomplete *f;
    const stn_block_matrix *matrix;
    const double *x;
    double *y;
} multiplying;

/// A x of the entries (row, column) of the matrix beside its diagonal is added to y.
STN_KERNEL_INLINE void multiply_entry(const multiplying *job, int32_t e, int32_t row, int32_t column) {
    const incomplete *f = job->f;
    const int32_t n = job->matrix->pattern.block_size[row], m = job->matrix->pattern.block_size[column];
    const double *A = job->matrix->values + job->matrix->offset[e], *x = job->x + f->original[column];
    if (n == 6 && m == 6) {
        times_add(true, 6, 6, A, x, job->y + f->original[row]);
    } else {
        times_add(false, n, m, A, x, job->y + f->original[row]);
    }
}

/// y of the blocks of a slice: what columns before it add to them, then its own columns, each of which adds to those
/// behind it. So every y has the order of the columns, wherever slices begin.
STN_KERNEL static void multiply_slice(void *user, int32_t slice, int32_t worker) {
    (void)worker;
    const multiplying *job = user;
    const incomplete *f = job->f;
    const stn_block_pattern *p = &job->matrix->pattern;
    const int32_t begin = f->slice_start[slice], end = f->slice_start[slice + 1];
    memset(job->y + f->original[begin], 0, (size_t)(f->original[end] - f->original[begin]) * sizeof *job->y);
    for (int32_t j = begin; j < end; j++) {
        for (int32_t i = f->cross_start[j]; i < f->cross_start[j + 1] && f->cross_column[i] < begin; i++) {
            multiply_entry(job, f->cross[i], j, f->cross_column[i]);
        }
    }
    for (int32_t j = begin; j < end; j++) {
        const int32_t m = p->block_size[j];
        for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
            const int32_t row = p->row[e], n = p->block_size[row];
            const double *A = job->matrix->values + job->matrix->offset[e], *x = job->x + f->original[row];
            if (n == 6 && m == 6) {
                transposed_add(true, 6, 6, A, x, job->y + f->original[j]);
            } else {
                transposed_add(false, n, m, A, x, job->y + f->original[j]);
            }
            if (row != j && row < end) {
                multiply_entry(job, e, row, j);
            }
        }
    }
}

void incomplete_times(const incomplete *f, const stn_block_matrix *matrix, const double *x, double *y) {
    multiplying job = {f, matrix, x, y};
    stn_parallel_for(f->threads, f->slice_count, multiply_slice, &job);
}
