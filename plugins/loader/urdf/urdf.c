// SPDX-License-Identifier: Apache-2.0
// Loader of URDF robot files: text -> XML tree -> checked robot -> model builder.
#include <stiction/plugin.h>

#include "urdf.h"

static const stn_param params[] = {
    STN_PARAM_BOOL(urdf_config, bullet_limits, 0.0, "a lower limit above the upper one means unlimited, not an error"),
};

static const robot_format format = {.name = "URDF", .reader_size = sizeof(urdf_reader), .parse = urdf_parse};

static bool recognises(const char *text, size_t length) {
    return robot_has_tag(text, length, "robot");
}

static stn_status load(void *self, const stn_load_request *request, stn_model_builder *builder, int32_t *robot,
                       stn_diagnostics *diagnostics, stn_error *err) {
    return robot_load(&format, self, request, builder, robot, diagnostics, err);
}

static const char *const extensions[] = {"urdf", "xacro", "xml", NULL};

static const stn_loader_ops ops = {
    .size = sizeof ops,
    .extensions = extensions,
    .recognises = recognises,
    .load = load,
    .save = urdf_save,
};

static const stn_plugin_desc urdf = {
    .size = sizeof urdf,
    .kind = STN_KIND_LOADER,
    .id = "urdf",
    .version = STN_VERSION,
    .summary = "Robots in the Unified Robot Description Format, with Drake's extensions",
    .config_size = sizeof(urdf_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.loader = &ops,
};
STN_PLUGIN_LIBRARY(&urdf);
