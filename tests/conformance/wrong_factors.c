// SPDX-License-Identifier: Apache-2.0
// The core's dense factorisation, right and with one fault each.
#include "misconduct.h" // first: it asks for more of the system's headers

#include <string.h>

#include <stiction/plugin.h>

typedef enum fault {
    NONE,
    TRANSPOSES,
    PASSES_BAD_PIVOTS,
    ALLOCATES,
    STALE,
    BORROWS,
    ONE_COLUMN,
    LOSES_DIGITS,
    WRITES,
    KEEPS_CHANGES,
    FORGETS_BLOCKS,
    COUNTS_FROM_ONE
} fault;

typedef struct config {
    int32_t fault;
} config;

typedef struct factor {
    fault fault;
    stn_context *context;
    void *inner;
    const int32_t *borrowed; // block_size of the pattern that symbolic was given
    int32_t n, blocks;
    bool done;
} factor;

static stn_status symbolic(void *self, stn_context *context, const stn_block_pattern *pattern, void **out,
                           stn_error *err) {
    factor *f = stn_allocate(context, 1, sizeof *f);
    if (f == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    *f = (factor){.fault = (fault)((const config *)self)->fault,
                  .context = context,
                  .borrowed = pattern->block_size,
                  .blocks = pattern->block_count};
    for (int32_t b = 0; b < pattern->block_count; b++) {
        f->n += pattern->block_size[b];
    }
    *out = f;
    return stn_factor_dense()->symbolic(NULL, context, pattern, &f->inner, err);
}

static void release(void *self) {
    factor *f = self;
    if (f != NULL) {
        stn_factor_dense()->release(f->inner);
        stn_release(f->context, f);
    }
}

/// Off-diagonal blocks as if they were column-major.
static void transpose(const stn_block_matrix *m) {
    const stn_block_pattern *p = &m->pattern;
    for (int32_t j = 0; j < p->block_count; j++) {
        for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
            int32_t rows = p->block_size[p->row[e]], columns = p->block_size[j];
            double copy[1024], *values = m->values + m->offset[e];
            memcpy(copy, values, (size_t)(rows * columns) * sizeof *copy);
            for (int32_t k = 0; k < rows * columns; k++) {
                values[k] = copy[k % columns * rows + k / columns];
            }
        }
    }
}

static stn_status numeric(void *self, const stn_block_matrix *matrix, stn_error *err) {
    factor *f = self;
    if (f->fault == ALLOCATES) {
        stn_release(f->context, stn_allocate(f->context, 1, 8));
    }
    if (f->fault == STALE && f->done) {
        return STN_OK;
    }
    if (f->fault == WRITES) {
        matrix->values[0] *= 1.0 + 1e-15;
    }
    if (f->fault == TRANSPOSES) {
        transpose(matrix);
    }
    if (f->fault == BORROWS && f->blocks > 0 && f->borrowed[0] > 100) {
        return stn_fail(err, STN_ERR_ARGUMENT, "a block of %d rows", f->borrowed[0]);
    }
    f->done = true;
    stn_status status = stn_factor_dense()->numeric(f->inner, matrix, err);
    return f->fault == PASSES_BAD_PIVOTS ? STN_OK : status;
}

static void solve(void *self, int32_t columns, double *x) {
    const factor *f = self;
    misbehave((int32_t)f->fault, x, f->n * columns, NULL);
    stn_factor_dense()->solve(f->inner, f->fault == ONE_COLUMN && columns > 1 ? 1 : columns, x);
    if (f->fault == LOSES_DIGITS && columns > 0) {
        x[0] *= 1.0 + 1e-9;
    }
}

static stn_status refactor(void *self, const stn_block_matrix *matrix, const bool *changing, bool again,
                           stn_error *err) {
    (void)changing;
    return ((factor *)self)->fault == KEEPS_CHANGES && again ? STN_OK : numeric(self, matrix, err);
}

static int32_t weak_pivot(void *self, const double *least) {
    factor *f = self;
    const int32_t row = stn_factor_dense()->weak_pivot(f->inner, least);
    return f->fault == COUNTS_FROM_ONE ? row + 1 : row;
}

static stn_status order(void *self, stn_context *context, const stn_block_pattern *pattern, int32_t *out,
                        stn_error *err) {
    (void)context, (void)err;
    for (int32_t k = 0; k < pattern->block_count; k++) {
        out[k] = ((const config *)self)->fault == FORGETS_BLOCKS ? k / 2 : k;
    }
    return STN_OK;
}

static const stn_factor_ops ops = {.size = sizeof ops,
                                   .symbolic = symbolic,
                                   .release = release,
                                   .numeric = numeric,
                                   .solve = solve,
                                   .refactor = refactor,
                                   .weak_pivot = weak_pivot,
                                   .order = order};

#define FACTOR(word, number)                                                         \
    static const stn_param word##_params[] = {                                       \
        STN_PARAM_INT(config, fault, "1", number, number, number, "what is wrong")}; \
    static const stn_plugin_desc word##_factor = {.size = sizeof word##_factor,      \
                                                  .kind = STN_KIND_FACTOR,           \
                                                  .id = "wrong_" #word,              \
                                                  .version = "1",                    \
                                                  .summary = "dense with a fault",   \
                                                  .config_size = sizeof(config),     \
                                                  .params = word##_params,           \
                                                  .param_count = 1,                  \
                                                  .ops.factor = &ops};

FACTOR(none, NONE)
FACTOR(transpose_all, TRANSPOSES)
FACTOR(pivot, PASSES_BAD_PIVOTS)
FACTOR(allocation, ALLOCATES)
FACTOR(stale, STALE)
FACTOR(pattern, BORROWS)
FACTOR(columns, ONE_COLUMN)
FACTOR(digits, LOSES_DIGITS)
FACTOR(values, WRITES)
FACTOR(refactor, KEEPS_CHANGES)
FACTOR(order, FORGETS_BLOCKS)
FACTOR(weak_pivot, COUNTS_FROM_ONE)

#define WITH_MISCONDUCT(word) FACTOR(word, MISCONDUCT_##word)
#define ITS_DESCRIPTOR(word)  , &word##_factor
STN_MISCONDUCTS(WITH_MISCONDUCT)

STN_PLUGIN_LIBRARY(&none_factor, &transpose_all_factor, &pivot_factor, &allocation_factor, &stale_factor,
                   &pattern_factor, &columns_factor, &digits_factor, &values_factor, &refactor_factor, &order_factor,
                   &weak_pivot_factor STN_MISCONDUCTS(ITS_DESCRIPTOR));
