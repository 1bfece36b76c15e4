// SPDX-License-Identifier: Apache-2.0
// Counts the steps that it sees. OUTSIDE_ID lets the same source be built twice.
#include <stiction/plugin.h>

#ifndef OUTSIDE_ID
#define OUTSIDE_ID "outside"
#endif

typedef struct counter {
    stn_context *context;
    int64_t steps;
} counter;

static stn_status create(stn_context *context, const void *config, void **self, stn_error *err) {
    (void)config;
    counter *c = stn_allocate(context, 1, sizeof *c); // a call into the library
    if (c == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    c->context = context;
    *self = c;
    return STN_OK;
}

static void destroy(void *self) {
    counter *c = self;
    if (c != NULL) {
        stn_release(c->context, c);
    }
}

static stn_status open_nothing(void *self, const stn_record_header *header, void **recording, stn_error *err) {
    (void)header;
    (void)err;
    *recording = self;
    return STN_OK;
}

static stn_status observe(void *recording, const stn_observation *observation, stn_error *err) {
    (void)observation;
    (void)err;
    ((counter *)recording)->steps++;
    return STN_OK;
}

static stn_status close_nothing(void *recording, stn_error *err) {
    (void)recording;
    (void)err;
    return STN_OK;
}

static const stn_recorder_ops ops = {
    .size = sizeof ops,
    .extension = "count",
    .open = open_nothing,
    .observe = observe,
    .close = close_nothing,
};

static const stn_plugin_desc outside = {
    .size = sizeof outside,
    .kind = STN_KIND_RECORDER,
    .id = OUTSIDE_ID,
    .version = "0.1",
    .summary = "counts steps, built outside of the project",
    .create = create,
    .destroy = destroy,
    .ops.recorder = &ops,
};

STN_PLUGIN_LIBRARY(&outside);
