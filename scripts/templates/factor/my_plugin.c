// my_plugin.c: the matrix written out in full, A = L D L^T with L unit lower triangular:
//   d_j = a_jj - sum_k l_jk^2 d_k,   l_ij = (a_ij - sum_k l_ik l_jk d_k)/d_j,   k < j < i
// n^3/6 multiplications whatever the pattern: right, and good for small matrices.
// What to change first: loops that skip blocks which are zero, symbolic being the place to find and order them.
#include <string.h>

#include <stiction/plugin.h>

/// The pattern is copied: the caller's is gone when the next matrix of the same pattern comes.
typedef struct ldl {
    stn_context *context;
    int32_t block_count, n;
    int32_t *start; // (block_count + 1) first scalar row of each block
    int32_t *column_start, *row;
    double *a; // (n x n, row-major) L below the diagonal, D on it
} ldl;

static void release(void *factor) {
    ldl *f = factor;
    if (f != NULL) {
        stn_release(f->context, f->start);
        stn_release(f->context, f->column_start);
        stn_release(f->context, f->row);
        stn_release(f->context, f->a);
        stn_release(f->context, f);
    }
}

static stn_status symbolic(void *self, stn_context *context, const stn_block_pattern *pattern, void **factor,
                           stn_error *err) {
    (void)self;
    size_t blocks = (size_t)pattern->block_count, entries = (size_t)pattern->column_start[blocks], n = 0;
    for (size_t b = 0; b < blocks; b++) {
        n += (size_t)pattern->block_size[b];
    }
    ldl *f = stn_allocate(context, 1, sizeof *f);
    if (f != NULL) {
        *f = (ldl){.context = context, .block_count = (int32_t)blocks, .n = (int32_t)n};
        f->start = stn_allocate(context, blocks + 1, sizeof *f->start);
        f->column_start = stn_allocate(context, blocks + 1, sizeof *f->column_start);
        f->row = stn_allocate(context, entries + 1, sizeof *f->row);
        f->a = stn_allocate(context, n * n + 1, sizeof *f->a);
    }
    if (f == NULL || f->start == NULL || f->column_start == NULL || f->row == NULL || f->a == NULL) {
        release(f);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a full matrix of %zu rows", n);
    }
    memcpy(f->column_start, pattern->column_start, (blocks + 1) * sizeof *f->column_start);
    memcpy(f->row, pattern->row, entries * sizeof *f->row);
    f->start[0] = 0;
    for (size_t b = 0; b < blocks; b++) {
        f->start[b + 1] = f->start[b] + pattern->block_size[b];
    }
    *factor = f;
    return STN_OK;
}

/// The stored blocks, those of the lower triangle, into the full matrix.
static void scatter(ldl *f, const stn_block_matrix *matrix) {
    size_t n = (size_t)f->n;
    memset(f->a, 0, n * n * sizeof *f->a);
    for (int32_t j = 0; j < f->block_count; j++) {
        for (int32_t e = f->column_start[j]; e < f->column_start[j + 1]; e++) {
            int32_t i = f->row[e], rows = f->start[i + 1] - f->start[i], columns = f->start[j + 1] - f->start[j];
            for (int32_t k = 0; k < rows * columns; k++) {
                size_t r = (size_t)(f->start[i] + k / columns), c = (size_t)(f->start[j] + k % columns);
                f->a[r * n + c] = matrix->values[matrix->offset[e] + k];
            }
        }
    }
}

static stn_status numeric(void *factor, const stn_block_matrix *matrix, stn_error *err) {
    ldl *f = factor;
    size_t n = (size_t)f->n;
    scatter(f, matrix);
    for (size_t j = 0; j < n; j++) {
        double *row = f->a + j * n, d = row[j];
        for (size_t k = 0; k < j; k++) { // row j holds l_jk d_k until here
            double l = row[k] / f->a[k * n + k];
            d -= l * row[k];
            row[k] = l;
        }
        if (!(d > 0.0) || !isfinite(d)) { // NaN too
            int32_t block = 0;
            while ((size_t)f->start[block + 1] <= j) {
                block++;
            }
            return stn_fail(err, STN_ERR_NUMERIC, "pivot %g of block %d is not > 0 and finite", d, block);
        }
        row[j] = d;
        for (size_t i = j + 1; i < n; i++) { // l_ij d_j
            double sum = f->a[i * n + j];
            for (size_t k = 0; k < j; k++) {
                sum -= f->a[i * n + k] * row[k];
            }
            f->a[i * n + j] = sum;
        }
    }
    return STN_OK;
}

static void solve(void *factor, int32_t columns, double *x) {
    const ldl *f = factor;
    size_t n = (size_t)f->n;
    for (int32_t c = 0; c < columns; c++, x += n) {
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < i; k++) {
                x[i] -= f->a[i * n + k] * x[k];
            }
        }
        for (size_t i = n; i-- > 0;) {
            x[i] /= f->a[i * n + i];
            for (size_t k = i + 1; k < n; k++) {
                x[i] -= f->a[k * n + i] * x[k];
            }
        }
    }
}

static const stn_factor_ops ops = {
    .size = sizeof ops, .symbolic = symbolic, .release = release, .numeric = numeric, .solve = solve};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_FACTOR,
    .id = "my_plugin",
    .version = "0.1.0",
    .summary = "L D L^T of the matrix written out",
    .ops.factor = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor); // the one exported symbol
