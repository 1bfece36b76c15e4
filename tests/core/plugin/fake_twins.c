// SPDX-License-Identifier: Apache-2.0
// One shared object with two elements.
#include <stiction/plugin.h>

#ifndef FAKE_SECOND_ID
#define FAKE_SECOND_ID "right"
#endif

static stn_status evaluate(const void *self, stn_element_batch *batch, stn_error *err) {
    (void)self, (void)batch, (void)err;
    return STN_OK;
}

static const stn_element_ops ops = {.size = sizeof ops, .nodes_per_element = 2, .evaluate = evaluate};

static const stn_plugin_desc left = {
    .size = sizeof left,
    .kind = STN_KIND_ELEMENT,
    .id = "left",
    .version = "1",
    .summary = "one",
    .ops.element = &ops,
};

static const stn_plugin_desc right = {
    .size = sizeof right,
    .kind = STN_KIND_ELEMENT,
    .id = FAKE_SECOND_ID,
    .version = "1",
    .summary = "the other",
    .ops.element = &ops,
};

STN_PLUGIN_LIBRARY(&left, &right);
