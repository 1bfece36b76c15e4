// SPDX-License-Identifier: Apache-2.0
// The core's dense Cholesky as a factor that can be chosen by name. Constant data cannot hold the address of a table
// that another library makes, hence the thin calls.
#include <stiction/plugin.h>

static stn_status symbolic(void *self, stn_context *context, const stn_block_pattern *pattern, void **factor,
                           stn_error *err) {
    return stn_factor_dense()->symbolic(self, context, pattern, factor, err);
}

static void release(void *factor) {
    stn_factor_dense()->release(factor);
}

static stn_status numeric(void *factor, const stn_block_matrix *matrix, stn_error *err) {
    return stn_factor_dense()->numeric(factor, matrix, err);
}

static int32_t weak_pivot(void *factor, const double *least) {
    return stn_factor_dense()->weak_pivot(factor, least);
}

static void solve(void *factor, int32_t columns, double *x) {
    stn_factor_dense()->solve(factor, columns, x);
}

static const stn_factor_ops ops = {.size = sizeof ops,
                                   .symbolic = symbolic,
                                   .release = release,
                                   .numeric = numeric,
                                   .solve = solve,
                                   .weak_pivot = weak_pivot};

static const stn_plugin_desc plugin = {
    .size = sizeof plugin,
    .kind = STN_KIND_FACTOR,
    .id = "dense",
    .version = "1.0",
    .summary = "Full Cholesky of the matrix written out",
    .reference = NULL,
    .ops.factor = &ops,
};
STN_PLUGIN_LIBRARY(&plugin);
