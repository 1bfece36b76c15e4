// SPDX-License-Identifier: Apache-2.0
// Factor back end "dense": the block matrix written out in full, A = L L^T. For small systems, and as the plain
// counterpart that the sparse back ends are tested against.
#include <string.h>

#include <stiction/factor.h>

typedef struct dense_factor {
    stn_context *context;
    int32_t n, block_count;
    int32_t *start;        // (block_count + 1) first row of every block
    int32_t *column_start; // (block_count + 1) pattern, copied
    int32_t *row;
    double *l;      // n x n, row-major, lower triangle
    int32_t failed; // row that had no pivot, -1
} dense_factor;

static void release(void *factor) {
    dense_factor *f = factor;
    if (f != NULL) {
        stn_release(f->context, f->start);
        stn_release(f->context, f->column_start);
        stn_release(f->context, f->row);
        stn_release(f->context, f->l);
        stn_release(f->context, f);
    }
}

static stn_status symbolic(void *self, stn_context *context, const stn_block_pattern *pattern, void **factor,
                           stn_error *err) {
    (void)self;
    *factor = NULL;
    size_t blocks = (size_t)pattern->block_count;
    size_t entries = (size_t)pattern->column_start[blocks];
    dense_factor *f = stn_allocate(context, 1, sizeof *f);
    if (f == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "factor dense: out of memory");
    }
    f->context = context;
    f->block_count = pattern->block_count;
    f->start = stn_allocate(context, blocks + 1, sizeof *f->start);
    f->column_start = stn_allocate(context, blocks + 1, sizeof *f->column_start);
    f->row = stn_allocate(context, entries + 1, sizeof *f->row);
    if (f->start != NULL && f->column_start != NULL && f->row != NULL) {
        for (size_t b = 0; b < blocks; b++) {
            f->start[b + 1] = f->start[b] + pattern->block_size[b];
        }
        memcpy(f->column_start, pattern->column_start, (blocks + 1) * sizeof *f->column_start);
        memcpy(f->row, pattern->row, entries * sizeof *f->row);
        f->n = f->start[blocks];
        f->l = stn_allocate(context, (size_t)f->n * (size_t)f->n + 1, sizeof *f->l);
    }
    if (f->l == NULL) {
        int32_t n = f->n;
        release(f);
        return stn_fail(err, STN_ERR_MEMORY, "factor dense: out of memory for a %d x %d matrix", n, n);
    }
    *factor = f;
    return STN_OK;
}

static stn_status numeric(void *factor, const stn_block_matrix *matrix, stn_error *err) {
    dense_factor *f = factor;
    memset(f->l, 0, (size_t)f->n * (size_t)f->n * sizeof *f->l);
    for (int32_t j = 0; j < f->block_count; j++) {
        for (int32_t e = f->column_start[j]; e < f->column_start[j + 1]; e++) {
            int32_t i = f->row[e];
            const double *values = matrix->values + matrix->offset[e];
            size_t columns = (size_t)(f->start[j + 1] - f->start[j]);
            for (int32_t r = f->start[i]; r < f->start[i + 1]; r++) {
                memcpy(f->l + (size_t)r * (size_t)f->n + f->start[j], values, columns * sizeof *values);
                values += columns;
            }
        }
    }
    int32_t pivot = f->failed = stn_cholesky(f->n, f->l, f->n);
    if (pivot < 0) {
        return STN_OK;
    }
    int32_t block = 0;
    while (f->start[block + 1] <= pivot) {
        block++;
    }
    return stn_fail(err, STN_ERR_NUMERIC,
                    "factor dense: pivot %d of block %d is not > 0: the matrix is not positive definite",
                    pivot - f->start[block], block);
}

static void solve(void *factor, int32_t columns, double *x) {
    const dense_factor *f = factor;
    stn_cholesky_forward(f->n, f->l, f->n, columns, x, f->n);
    stn_cholesky_backward(f->n, f->l, f->n, columns, x, f->n);
}

static int32_t weak_pivot(void *factor, const double *least) {
    const dense_factor *f = factor;
    for (int32_t i = 0; i < f->n; i++) {
        const double l = f->l[(size_t)i * (size_t)(f->n + 1)];
        if (i == f->failed || !(l * l > least[i])) {
            return i;
        }
    }
    return -1;
}

const stn_factor_ops *stn_factor_dense(void) {
    static const stn_factor_ops ops = {.size = sizeof ops,
                                       .symbolic = symbolic,
                                       .release = release,
                                       .numeric = numeric,
                                       .solve = solve,
                                       .weak_pivot = weak_pivot};
    return &ops;
}
