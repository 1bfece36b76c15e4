// SPDX-License-Identifier: Apache-2.0
// CHOLMOD as a factor: P A P^T = L L^T of the block matrix written out as scalar compressed columns, lower triangle.
//
// CHOLMOD takes its memory from malloc: its hooks are process-wide, and we change nothing process-wide. Its supernodal
// part starts OpenMP threads whatever OMP_NUM_THREADS says; no active level allowed stops it (single_thread.h).
#include <math.h>
#include <string.h>

#include <cholmod.h>
#include <stiction/plugin.h>

#include "single_thread.h"

typedef struct cholmod_config {
    int32_t method, ordering;
} cholmod_config;

static const char *const methods[] = {"auto", "simplicial", "supernodal", NULL};
static const int cholmod_methods[] = {CHOLMOD_AUTO, CHOLMOD_SIMPLICIAL, CHOLMOD_SUPERNODAL};

enum { ORDERING_AUTO, ORDERING_AMD, ORDERING_METIS };
static const char *const orderings[] = {"auto", "amd", "metis", NULL};

static const stn_param params[] = {
    STN_PARAM_CHOICE(
        cholmod_config, method, methods, 0.0,
        "supernodal: dense panels by BLAS, for much fill; simplicial: column by column; auto: by the work per entry"),
    STN_PARAM_CHOICE(cholmod_config, ordering, orderings, 0.0,
                     "amd: approximate minimum degree; metis: nested dissection, where CHOLMOD was built with METIS; "
                     "auto: the better of both for patterns that stay, amd for others"),
};

typedef struct factor {
    stn_context *context;
    cholmod_common common;
    cholmod_sparse *A;
    cholmod_factor *L;
    cholmod_dense *x, *y, *e; // results and work space of solve
    int32_t block_count;
    int32_t *start;        // (block_count + 1) first row of every block
    int32_t *column_start; // (block_count + 1) pattern, copied
    int32_t *row;
    int32_t refused; // row of a value that is not finite, -1: CHOLMOD saw the matrix
} factor;

static void release(void *self) {
    factor *f = self;
    if (f == NULL) {
        return;
    }
    cholmod_free_dense(&f->x, &f->common);
    cholmod_free_dense(&f->y, &f->common);
    cholmod_free_dense(&f->e, &f->common);
    cholmod_free_factor(&f->L, &f->common);
    cholmod_free_sparse(&f->A, &f->common);
    cholmod_finish(&f->common);
    stn_release(f->context, f->start);
    stn_release(f->context, f->column_start);
    stn_release(f->context, f->row);
    stn_release(f->context, f);
}

// Status of the last call as one of ours.
static stn_status status_of(const factor *f, stn_error *err) {
    if (f->common.status >= CHOLMOD_OK) {
        return STN_OK;
    }
    bool memory = f->common.status == CHOLMOD_OUT_OF_MEMORY || f->common.status == CHOLMOD_TOO_LARGE;
    return stn_fail(err, memory ? STN_ERR_MEMORY : STN_ERR_NUMERIC, "factor cholmod: %s (CHOLMOD status %d)",
                    memory ? "out of memory" : "internal failure", f->common.status);
}

/// The order of scalar rows that an order of blocks stands for; NULL: out of memory.
static int32_t *expand_order(const factor *f, const int32_t *order) {
    int32_t *rows = stn_allocate(f->context, (size_t)f->start[f->block_count] + 1, sizeof *rows), n = 0;
    for (int32_t k = 0; k < f->block_count && rows != NULL; k++) {
        for (int32_t r = f->start[order[k]]; r < f->start[order[k] + 1]; r++) {
            rows[n++] = r;
        }
    }
    return rows;
}

static stn_status analyse(factor *f, const cholmod_config *config, const int32_t *order, stn_error *err) {
    int64_t values = 0;
    for (int32_t j = 0; j < f->block_count; j++) {
        int64_t columns = f->start[j + 1] - f->start[j];
        values += columns * (columns + 1) / 2;
        for (int32_t k = f->column_start[j] + 1; k < f->column_start[j + 1]; k++) {
            values += columns * (f->start[f->row[k] + 1] - f->start[f->row[k]]);
        }
    }
    if (values > INT32_MAX) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "factor cholmod: %lld values are more than its indices can count",
                        (long long)values);
    }
    size_t n = (size_t)f->start[f->block_count];
    f->common.print = 0;
    f->common.supernodal = cholmod_methods[config->method];
    f->common.final_ll = 1; // so that simplicial factors refuse a negative pivot, too
    f->common.nmethods = 1;
    f->common.method[0].ordering = order != NULL                        ? CHOLMOD_GIVEN
                                   : config->ordering == ORDERING_METIS ? CHOLMOD_METIS
                                                                        : CHOLMOD_AMD;
    f->A = cholmod_allocate_sparse(n, n, (size_t)values, 1, 1, -1, CHOLMOD_REAL, &f->common);
    if (f->A != NULL) {
        int32_t *starts = f->A->p, *rows = f->A->i, place = 0;
        for (int32_t j = 0; j < f->block_count; j++) {
            for (int32_t c = 0; c < f->start[j + 1] - f->start[j]; c++) {
                starts[f->start[j] + c] = place;
                // rows from c on in the diagonal block, then those below
                for (int32_t k = f->column_start[j]; k < f->column_start[j + 1]; k++) {
                    int32_t i = f->row[k];
                    for (int32_t r = i == j ? f->start[j] + c : f->start[i]; r < f->start[i + 1]; r++) {
                        rows[place++] = r;
                    }
                }
            }
        }
        starts[f->start[f->block_count]] = place;
        int32_t *given = order != NULL ? expand_order(f, order) : NULL;
        if (order != NULL && given == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "factor cholmod: out of memory");
        }
        f->L = cholmod_analyze_p(f->A, given, NULL, 0, &f->common);
        stn_release(f->context, given);
    }
    return f->L == NULL && f->common.status >= CHOLMOD_OK
               ? stn_fail(err, STN_ERR_MEMORY, "factor cholmod: out of memory")
               : status_of(f, err);
}

static stn_status symbolic(void *self, stn_context *context, const stn_block_pattern *pattern, void **out,
                           stn_error *err) {
    const cholmod_config *config = self;
    *out = NULL;
    factor *f = stn_allocate(context, 1, sizeof *f);
    if (f == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "factor cholmod: out of memory");
    }
    f->context = context;
    cholmod_start(&f->common);
    size_t blocks = (size_t)pattern->block_count, entries = (size_t)pattern->column_start[blocks];
    f->block_count = pattern->block_count;
    f->start = stn_allocate(context, blocks + 1, sizeof *f->start);
    f->column_start = stn_allocate(context, blocks + 1, sizeof *f->column_start);
    f->row = stn_allocate(context, entries + 1, sizeof *f->row);
    stn_status status = STN_OK;
    if (f->start == NULL || f->column_start == NULL || f->row == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "factor cholmod: out of memory");
    } else {
        for (size_t b = 0; b < blocks; b++) {
            f->start[b + 1] = f->start[b] + pattern->block_size[b];
        }
        memcpy(f->column_start, pattern->column_start, (blocks + 1) * sizeof *f->column_start);
        memcpy(f->row, pattern->row, entries * sizeof *f->row);
        status = analyse(f, config, pattern->order, err);
    }
    if (status != STN_OK) {
        release(f);
        return status;
    }
    *out = f;
    return STN_OK;
}

/// AMD and METIS order the graph of blocks, CHOLMOD takes what leaves less fill.
static stn_status order_blocks(void *self, stn_context *context, const stn_block_pattern *pattern, int32_t *order,
                               stn_error *err) {
    const cholmod_config *config = self;
    const size_t n = (size_t)pattern->block_count;
    cholmod_sparse graph = {.nrow = n,
                            .ncol = n,
                            .nzmax = (size_t)pattern->column_start[n],
                            .p = (void *)(uintptr_t)pattern->column_start,
                            .i = (void *)(uintptr_t)pattern->row,
                            .stype = -1,
                            .itype = CHOLMOD_INT,
                            .xtype = CHOLMOD_PATTERN,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
    factor f = {.context = context};
    cholmod_start(&f.common);
    f.common.print = 0;
    f.common.supernodal = CHOLMOD_SIMPLICIAL;
    f.common.nmethods = config->ordering == ORDERING_AUTO ? 2 : 1;
    f.common.method[0].ordering = config->ordering == ORDERING_METIS ? CHOLMOD_METIS : CHOLMOD_AMD;
    f.common.method[1].ordering = CHOLMOD_METIS;
    f.L = cholmod_analyze(&graph, &f.common);
    stn_status status = f.L == NULL && f.common.status >= CHOLMOD_OK
                            ? stn_fail(err, STN_ERR_MEMORY, "factor cholmod: out of memory")
                            : status_of(&f, err);
    if (status == STN_OK) {
        memcpy(order, f.L->Perm, n * sizeof *order);
    }
    cholmod_free_factor(&f.L, &f.common);
    cholmod_finish(&f.common);
    return status;
}

static stn_status refuse(const factor *f, int32_t row, stn_error *err) {
    int32_t block = 0;
    while (f->start[block + 1] <= row) {
        block++;
    }
    return stn_fail(err, STN_ERR_NUMERIC,
                    "factor cholmod: pivot %d of block %d is not > 0: the matrix is not positive definite",
                    row - f->start[block], block);
}

static stn_status numeric(void *self, const stn_block_matrix *matrix, stn_error *err) {
    factor *f = self;
    double *to = f->A->x;
    f->refused = -1;
    for (int32_t j = 0; j < f->block_count; j++) {
        int32_t columns = f->start[j + 1] - f->start[j];
        for (int32_t c = 0; c < columns; c++) {
            double sum = 0.0; // CHOLMOD carries a NaN along in silence: not finite as soon as one value is not
            for (int32_t k = f->column_start[j]; k < f->column_start[j + 1]; k++) {
                int32_t i = f->row[k], rows = f->start[i + 1] - f->start[i];
                const double *block = matrix->values + matrix->offset[k];
                for (int32_t r = i == j ? c : 0; r < rows; r++) {
                    *to = block[r * columns + c];
                    sum += *to++ * 0.0;
                }
            }
            if (sum != 0.0) {
                f->refused = f->start[j] + c;
                return refuse(f, f->refused, err);
            }
        }
    }
    int levels = single_thread_begin();
    cholmod_factorize(f->A, f->L, &f->common);
    single_thread_end(levels);
    if (f->common.status == CHOLMOD_NOT_POSDEF) {
        const int32_t *order = f->L->Perm;
        return refuse(f, order[f->L->minor], err);
    }
    return status_of(f, err);
}

static int32_t weak_pivot(void *self, const double *least) {
    const factor *f = self;
    const cholmod_factor *L = f->L;
    const int32_t *order = L->Perm, *super = L->super, *start = L->is_super ? L->px : L->p, *rows = L->pi;
    const double *x = L->x;
    if (f->refused >= 0) {
        return f->refused;
    }
    for (int32_t j = 0, s = 0; j < (int32_t)L->n; j++) {
        if (j == (int32_t)L->minor) {
            return order[j];
        }
        size_t at;
        if (L->is_super) { // a supernode is a panel of columns
            s += super[s + 1] == j;
            at = (size_t)start[s] + (size_t)(j - super[s]) * (size_t)(rows[s + 1] - rows[s] + 1);
        } else {
            at = (size_t)start[j];
        }
        if (!(x[at] * x[at] > least[order[j]])) {
            return order[j];
        }
    }
    return -1;
}

static void solve(void *self, int32_t columns, double *x) {
    factor *f = self;
    size_t n = f->A->nrow, count = n * (size_t)columns;
    if (count == 0) {
        return;
    }
    cholmod_dense b = {.nrow = n,
                       .ncol = (size_t)columns,
                       .nzmax = count,
                       .d = n,
                       .x = x,
                       .xtype = CHOLMOD_REAL,
                       .dtype = CHOLMOD_DOUBLE};
    int levels = single_thread_begin();
    bool done = cholmod_solve2(CHOLMOD_A, f->L, &b, NULL, &f->x, NULL, &f->y, &f->e, &f->common) != 0;
    single_thread_end(levels);
    if (done) {
        memcpy(x, f->x->x, count * sizeof *x);
    } else { // out of memory: what cannot be told otherwise is told by NaN
        for (size_t i = 0; i < count; i++) {
            x[i] = (double)NAN;
        }
    }
}

static const stn_factor_ops ops = {.size = sizeof ops,
                                   .symbolic = symbolic,
                                   .release = release,
                                   .numeric = numeric,
                                   .solve = solve,
                                   .weak_pivot = weak_pivot,
                                   .order = order_blocks};

static const stn_plugin_desc plugin = {
    .size = sizeof plugin,
    .kind = STN_KIND_FACTOR,
    .id = "cholmod",
    .version = "1.0",
    .summary = "Sparse Cholesky of SuiteSparse (GPL supernodal part)",
    .reference = "chen-2008",
    .config_size = sizeof(cholmod_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.factor = &ops,
};
STN_PLUGIN_LIBRARY(&plugin);
