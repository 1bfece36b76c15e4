// SPDX-License-Identifier: Apache-2.0
// Loader of SDFormat files: text -> XML trees -> frames -> one robot -> model builder.
#include <stiction/plugin.h>

#include "sdf.h"

static const robot_format format = {.name = "SDFormat", .reader_size = sizeof(sdf_reader), .parse = sdf_parse};

static bool recognises(const char *text, size_t length) {
    return robot_has_tag(text, length, "sdf");
}

static stn_status load(void *self, const stn_load_request *request, stn_model_builder *builder, int32_t *robot,
                       stn_diagnostics *diagnostics, stn_error *err) {
    return robot_load(&format, self, request, builder, robot, diagnostics, err);
}

static const char *const extensions[] = {"sdf", "world", NULL};

static const stn_loader_ops ops = {
    .size = sizeof ops,
    .extensions = extensions,
    .recognises = recognises,
    .load = load,
    .save = sdf_save,
};

static const stn_plugin_desc sdf = {
    .size = sizeof sdf,
    .kind = STN_KIND_LOADER,
    .id = "sdf",
    .version = STN_VERSION,
    .summary = "Robots and worlds in SDFormat 1.4 to 1.12, with Drake's extensions",
    .ops.loader = &ops,
};
STN_PLUGIN_LIBRARY(&sdf);
