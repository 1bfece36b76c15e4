// SPDX-License-Identifier: Apache-2.0
// Loader of URDF robot files: text -> XML tree -> checked robot -> model builder.
#include <string.h>

#include <stiction/plugin.h>

#include "urdf.h"

static const stn_param params[] = {
    STN_PARAM_BOOL(urdf_config, bullet_limits, 0.0, "a lower limit above the upper one means unlimited, not an error"),
};

static bool recognises(const char *text, size_t length) {
    static const char tag[] = "<robot";
    for (size_t i = 0; i + sizeof tag <= length; i++) {
        if (memcmp(text + i, tag, sizeof tag - 1) == 0 && strchr(" \t\r\n>/", text[i + sizeof tag - 1]) != NULL) {
            return true;
        }
    }
    return false;
}

static stn_status out_of_memory(const urdf_reader *reader, stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", reader->request->path);
}

/// Parses the XML text and reads it into `reader`. STN_OK with errors in the diagnostics when it is bad.
static stn_status read_robot(urdf_reader *reader, const char *text, size_t length, stn_model_builder *builder,
                             int32_t *robot, stn_error *err) {
    xml_problem problem;
    xml_document *document = xml_parse(text, length, &problem);
    if (document == NULL && problem.out_of_memory) {
        return out_of_memory(reader, err);
    }
    if (document == NULL) {
        urdf_say(reader, STN_SEVERITY_ERROR, "xml", problem.line, "%s", problem.text);
        return STN_OK;
    }
    stn_status status = urdf_parse(reader, xml_root(document)) ? STN_OK : out_of_memory(reader, err);
    if (status == STN_OK && reader->diagnostics->error_count == reader->errors_before) {
        status = urdf_build(reader, builder, robot, err);
    }
    xml_free(document);
    return status;
}

static stn_status load(void *self, const stn_load_request *request, stn_model_builder *builder, int32_t *robot,
                       stn_diagnostics *diagnostics, stn_error *err) {
    stn_context *context = diagnostics->context;
    stn_arena *arena = stn_arena_create(context);
    urdf_reader *reader = arena != NULL ? STN_ARENA_ZEROED(arena, 1, urdf_reader) : NULL;
    if (reader == NULL) {
        stn_arena_destroy(arena);
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", request->path);
    }
    *reader = (urdf_reader){.arena = arena, .diagnostics = diagnostics, .request = request, .config = self};
    reader->label = "";
    reader->errors_before = diagnostics->error_count;
    size_t length = 0;
    stn_status status = STN_OK;
    char *text = urdf_read_source(reader, &length, &status, err);
    if (text != NULL && !urdf_locate_file(reader)) {
        status = stn_fail(err, STN_ERR_FILE, "%s: its folder cannot be found, or its path is too long", request->path);
    } else if (text != NULL) {
        status = read_robot(reader, text, length, builder, robot, err);
    }
    if (status == STN_OK && diagnostics->error_count > reader->errors_before) {
        status = stn_diagnostics_status(diagnostics, err);
    }
    urdf_release_meshes(reader);
    stn_arena_destroy(arena);
    return status;
}

static const char *const extensions[] = {"urdf", "xacro", "xml", NULL};

static const stn_loader_ops ops = {
    .size = sizeof ops,
    .extensions = extensions,
    .recognises = recognises,
    .load = load,
};

static const char *const capabilities[] = {"urdf", NULL};

static const stn_plugin_desc urdf = {
    .size = sizeof urdf,
    .kind = STN_KIND_LOADER,
    .id = "urdf",
    .version = STN_VERSION,
    .summary = "Robots in the Unified Robot Description Format, with Drake's extensions",
    .capabilities = capabilities,
    .config_size = sizeof(urdf_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.loader = &ops,
};
STN_PLUGIN_LIBRARY(&urdf);
