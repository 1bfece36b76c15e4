// SPDX-License-Identifier: Apache-2.0
// A recorder that writes nothing: the smallest plugin that every check lets through. Built several times with one
// mistake each (FAKE_...).
#include <stiction/plugin.h>

#ifndef FAKE_ID
#define FAKE_ID "quiet"
#endif
#ifndef FAKE_MAJOR
#define FAKE_MAJOR STN_ABI_MAJOR
#endif
#ifndef FAKE_MINOR
#define FAKE_MINOR STN_ABI_MINOR
#endif
#ifndef FAKE_DEFAULT
#define FAKE_DEFAULT 0.5
#endif
#ifndef FAKE_VERSION
#define FAKE_VERSION "1.2.3"
#endif
#ifndef FAKE_COUNT
#define FAKE_COUNT 1
#endif
#ifndef FAKE_OPEN
#define FAKE_OPEN open_nothing
#endif

typedef struct quiet_config {
    double gain;
    int32_t every;
    bool flush;
    int32_t shape;
    const char *title;
} quiet_config;

static const char *const shapes[] = {"round", "square", NULL};

static const stn_param params[] = {
    STN_PARAM_REAL(quiet_config, gain, "m", FAKE_DEFAULT, 0.0, 2.0, "a length"),
    STN_PARAM_INT(quiet_config, every, "1", 1.0, 1.0, 100.0, "steps between rows"),
    STN_PARAM_BOOL(quiet_config, flush, 1.0, "write at once"),
    STN_PARAM_CHOICE(quiet_config, shape, shapes, 1.0, "of the marker"),
    STN_PARAM_TEXT(quiet_config, title, "none", "first line"),
};

__attribute__((unused)) static stn_status open_nothing(void *self, const stn_record_header *header, void **recording,
                                                       stn_error *err) {
    (void)header;
    (void)err;
    *recording = self;
    return STN_OK;
}

static stn_status observe(void *recording, const stn_observation *observation, stn_error *err) {
    (void)recording;
    (void)observation;
    (void)err;
    return STN_OK;
}

#ifdef FAKE_MISSING // in no library: such a plugin must be refused before it could end the process in a run
void defined_nowhere(void);
#endif

static stn_status close_nothing(void *recording, stn_error *err) {
#ifdef FAKE_MISSING
    defined_nowhere();
#endif
    (void)recording;
    (void)err;
    return STN_OK;
}

static const stn_recorder_ops ops = {
    .size = sizeof ops,
    .extension = "none",
    .open = FAKE_OPEN,
    .observe = observe,
    .close = close_nothing,
};

static const stn_plugin_desc quiet = {
    .size = sizeof quiet,
    .kind = STN_KIND_RECORDER,
    .id = FAKE_ID,
    .version = FAKE_VERSION,
    .summary = "writes nothing",
    .config_size = sizeof(quiet_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.recorder = &ops,
};

static const stn_plugin_desc *const list[] = {&quiet};
extern STN_API const stn_plugin_entry stn_plugin;
const stn_plugin_entry stn_plugin = {FAKE_MAJOR, FAKE_MINOR, FAKE_COUNT, list};
