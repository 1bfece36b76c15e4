// SPDX-License-Identifier: Apache-2.0
// A constraint that holds nothing, with a number and a text for parameters: for tests that keep models.
#ifndef STN_TEST_TIE_CONSTRAINT_H
#define STN_TEST_TIE_CONSTRAINT_H

#include <stiction/plugin.h>

typedef struct tie_config {
    double stiffness;
    const char *note;
} tie_config;

static const stn_param tie_params[] = {
    STN_PARAM_REAL(tie_config, stiffness, "N/m", (double)INFINITY, 0.0, (double)INFINITY, "of a tie"),
    STN_PARAM_TEXT(tie_config, note, "", "about it"),
};

static int32_t tie_row_count(const void *self, const stn_model_constraint *described) {
    (void)self, (void)described;
    return 0;
}

static stn_status tie_emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows,
                           stn_error *err) {
    (void)self, (void)view, (void)state, (void)rows, (void)err;
    return STN_OK;
}

static const stn_constraint_ops tie_ops = {.size = sizeof tie_ops, .row_count = tie_row_count, .emit = tie_emit};

static const stn_plugin_desc tie_plugin = {
    .size = sizeof tie_plugin,
    .kind = STN_KIND_CONSTRAINT,
    .id = "test_tie",
    .version = "1.0.0",
    .summary = "holds nothing",
    .config_size = sizeof(tie_config),
    .params = tie_params,
    .param_count = STN_COUNT(tie_params),
    .ops.constraint = &tie_ops,
};

#endif
