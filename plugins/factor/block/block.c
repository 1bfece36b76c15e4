// SPDX-License-Identifier: Apache-2.0
// The core's sparse block Cholesky as a factor that can be chosen by name. Constant data cannot hold the address of a
// table that another library makes, hence the thin calls.
#include <stiction/plugin.h>

static stn_status symbolic(void *self, stn_context *context, const stn_block_pattern *pattern, void **factor,
                           stn_error *err) {
    return stn_factor_block()->symbolic(self, context, pattern, factor, err);
}

static void release(void *factor) {
    stn_factor_block()->release(factor);
}

static stn_status numeric(void *factor, const stn_block_matrix *matrix, stn_error *err) {
    return stn_factor_block()->numeric(factor, matrix, err);
}

static int32_t weak_pivot(void *factor, const double *least) {
    return stn_factor_block()->weak_pivot(factor, least);
}

static void solve(void *factor, int32_t columns, double *x) {
    stn_factor_block()->solve(factor, columns, x);
}

static stn_status refactor(void *factor, const stn_block_matrix *matrix, const bool *changing, bool again,
                           stn_error *err) {
    return stn_factor_block()->refactor(factor, matrix, changing, again, err);
}

static stn_status order_pattern(void *self, stn_context *context, const stn_block_pattern *pattern, int32_t *order,
                                stn_error *err) {
    return stn_factor_block()->order(self, context, pattern, order, err);
}

static size_t memory(const void *factor) {
    return stn_factor_block()->memory(factor);
}

static const stn_factor_ops ops = {.size = sizeof ops,
                                   .symbolic = symbolic,
                                   .release = release,
                                   .numeric = numeric,
                                   .solve = solve,
                                   .refactor = refactor,
                                   .weak_pivot = weak_pivot,
                                   .order = order_pattern,
                                   .memory = memory};

static const stn_plugin_desc plugin = {
    .size = sizeof plugin,
    .kind = STN_KIND_FACTOR,
    .id = "block",
    .version = "1.0",
    .summary = "Supernodal block Cholesky; the default, as it is the fastest measured",
    .reference = "amestoy-1996, george-1973, liu-1990",
    .ops.factor = &ops,
};
STN_PLUGIN_LIBRARY(&plugin);
