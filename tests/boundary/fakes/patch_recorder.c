// SPDX-License-Identifier: Apache-2.0
// Writes one line a step: patches, faces, polygon corners, and the pressure force of all patches, sum of area x
// pressure.
#include <stdio.h>

#include <stiction/plugin.h>

static stn_status open_file(void *self, const stn_record_header *header, void **recording, stn_error *err) {
    (void)self;
    *recording = fopen(header->path, "w");
    return *recording != NULL ? STN_OK : stn_fail(err, STN_ERR_FILE, "%s: cannot be written", header->path);
}

static stn_status observe(void *recording, const stn_observation *o, stn_error *err) {
    if (o->contacts == NULL) {
        return STN_OK;
    }
    double force = 0.0;
    for (int32_t i = 0; i < o->contacts->count; i++) {
        force += o->contacts->contacts[i].area * o->contacts->contacts[i].pressure;
    }
    int written = fprintf(recording, "%lld %d %d %d %.17g\n", (long long)o->step, o->contacts->patch_count,
                          o->contacts->count, o->contacts->vertex_count, force);
    return written > 0 ? STN_OK : stn_fail(err, STN_ERR_FILE, "cannot be written");
}

static stn_status close_file(void *recording, stn_error *err) {
    return recording == NULL || fclose(recording) == 0 ? STN_OK : stn_fail(err, STN_ERR_FILE, "cannot be written");
}

static const stn_recorder_ops ops = {
    .size = sizeof ops, .extension = "patches", .open = open_file, .observe = observe, .close = close_file};
static const stn_plugin_desc fake = {.size = sizeof fake,
                                     .kind = STN_KIND_RECORDER,
                                     .id = "fake_patches",
                                     .version = "0",
                                     .summary = "patches as text",
                                     .ops.recorder = &ops};
STN_PLUGIN_LIBRARY(&fake);
