// SPDX-License-Identifier: Apache-2.0
// An element plugin of two nodes without forces, "test_bar": for files of models that hold elements.
#ifndef STN_BAR_ELEMENT_H
#define STN_BAR_ELEMENT_H

#include <math.h>
#include <string.h>

#include <stiction/plugin.h>

typedef struct bar {
    double k;
    const char *label;
} bar;
static const stn_param bar_params[] = {
    STN_PARAM_REAL(bar, k, "N/m", 10.0, 0.0, INFINITY, "stiffness"),
    STN_PARAM_TEXT(bar, label, NULL, "a text"),
};

static stn_status prepare_bar(const void *self, const double *x, const double *parameters, double *constants,
                              stn_error *err) {
    (void)self, (void)err, (void)parameters;
    constants[0] = x[3] - x[0];
    return STN_OK;
}

static stn_status evaluate_bar(const void *self, stn_element_batch *batch, stn_error *err) {
    (void)self, (void)err;
    const size_t count = (size_t)batch->count;
    memset(batch->force, 0, count * 6 * sizeof(double));
    memset(batch->energy, 0, count * sizeof(double));
    if (batch->K != NULL) {
        memset(batch->K, 0, count * 36 * sizeof(double));
        memset(batch->D, 0, count * 36 * sizeof(double));
    }
    return STN_OK;
}

static const stn_element_ops bar_ops = {.size = sizeof bar_ops,
                                        .nodes_per_element = 2,
                                        .constant_count = 1,
                                        .prepare = prepare_bar,
                                        .evaluate = evaluate_bar};
static const stn_plugin_desc bar_plugin = {.size = sizeof bar_plugin,
                                           .kind = STN_KIND_ELEMENT,
                                           .id = "test_bar",
                                           .version = "1",
                                           .summary = "a bar",
                                           .config_size = sizeof(bar),
                                           .params = bar_params,
                                           .param_count = STN_COUNT(bar_params),
                                           .ops.element = &bar_ops};

#endif
