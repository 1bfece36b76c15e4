// SPDX-License-Identifier: Apache-2.0
// One shared object with two elements.
#include <stiction/plugin.h>

#ifndef FAKE_SECOND_ID
#define FAKE_SECOND_ID "right"
#endif

static void evaluate(const void *self, int32_t count, const double *x, const double *v, const double *constants,
                     double *force, double *K, double *D, double *energy) {
    (void)self, (void)count, (void)x, (void)v, (void)constants, (void)force, (void)K, (void)D;
    *energy = 0.0;
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
