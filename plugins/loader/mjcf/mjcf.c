// SPDX-License-Identifier: Apache-2.0
// Loader of MuJoCo's robot files: text -> XML tree, included files in their places -> checked robot -> model builder.
#include <string.h>

#include <stiction/plugin.h>

#include "mjcf.h"

static const robot_format format = {.name = "MJCF", .reader_size = sizeof(mjcf_reader), .parse = mjcf_parse};

/// Where the first tag begins, behind comments and declarations; `end` without one.
static const char *find_tag(const char *at, const char *end) {
    while (at < end) {
        if (*at != '<') {
            at++;
        } else if (end - at > 4 && memcmp(at, "<!--", 4) == 0) {
            for (at += 4; at + 3 <= end && memcmp(at, "-->", 3) != 0; at++) {
            }
        } else if (end - at > 1 && (at[1] == '?' || at[1] == '!')) {
            at++;
        } else {
            return at;
        }
    }
    return end;
}

/// By the root alone: robot files of other formats hold settings for MuJoCo in <mujoco> further inside.
static bool recognises(const char *text, size_t length) {
    const char *end = text + length, *tag = find_tag(text, end), *stop = memchr(tag, '>', (size_t)(end - tag));
    size_t size = (size_t)((stop != NULL ? stop + 1 : end) - tag);
    return robot_has_tag(tag, size, "mujoco") || robot_has_tag(tag, size, "mujocoinclude");
}

static stn_status load(void *self, const stn_load_request *request, stn_model_builder *builder, int32_t *robot,
                       stn_diagnostics *diagnostics, stn_error *err) {
    return robot_load(&format, self, request, builder, robot, diagnostics, err);
}

static const char *const extensions[] = {"xml", "mjcf", NULL};

static const stn_loader_ops ops = {
    .size = sizeof ops,
    .extensions = extensions,
    .recognises = recognises,
    .load = load,
    .save = mjcf_save,
};

static const stn_plugin_desc mjcf = {
    .size = sizeof mjcf,
    .kind = STN_KIND_LOADER,
    .id = "mjcf",
    .version = STN_VERSION,
    .summary = "Robots in MuJoCo's XML format",
    .ops.loader = &ops,
};
STN_PLUGIN_LIBRARY(&mjcf);
