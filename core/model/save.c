// SPDX-License-Identifier: Apache-2.0
// Which loader writes a file, and writing it: the one asked for, else the one whose files have the path's extension.
#include <string.h>

#include <stiction/plugin.h>

#include "base/file.h"
#include "base/text.h"
#include "model/load.h"

static bool saves(const stn_plugin_desc *desc) {
    return desc->kind == STN_KIND_LOADER && STN_PLUGIN_HAS(desc->ops.loader, save);
}

static const char *extension_of(const stn_plugin_desc *desc) {
    const char *const *extensions = desc->ops.loader->extensions;
    return extensions != NULL && extensions[0] != NULL ? extensions[0] : "";
}

/// "urdf (.urdf), sdf (.sdf)": loaders that save, or of those the ones whose files have this extension.
static int32_t list_formats(const stn_plugin_info *plugins, int32_t count, const char *extension, char *text,
                            size_t size) {
    int32_t listed = 0;
    text[0] = '\0';
    for (int32_t i = 0; i < count; i++) {
        const stn_plugin_desc *desc = plugins[i].desc;
        if (saves(desc) && (extension == NULL || strcmp(extension_of(desc), extension) == 0)) {
            stn_text_append(text, size, "%s%s (.%s)", listed++ > 0 ? ", " : "", desc->id, extension_of(desc));
        }
    }
    return listed;
}

static stn_status choose_by_extension(const char *path, const stn_plugin_info *plugins, int32_t count,
                                      const char **format, stn_error *err) {
    char extension[LONGEST_EXTENSION], known[400];
    loader_extension(path, extension);
    int32_t fitting = list_formats(plugins, count, extension, known, sizeof known);
    if (fitting > 1) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: several formats have files .%s; give one of %s", path, extension,
                        known);
    }
    for (int32_t i = 0; i < count && fitting == 1; i++) {
        if (saves(plugins[i].desc) && strcmp(extension_of(plugins[i].desc), extension) == 0) {
            *format = plugins[i].desc->id;
            return STN_OK;
        }
    }
    list_formats(plugins, count, NULL, known, sizeof known);
    return stn_fail(err, STN_ERR_UNSUPPORTED, "%s: no format is known by the extension '%s'; formats: %s", path,
                    extension, known[0] != '\0' ? known : "none installed");
}

/// The loader's id, checked.
static stn_status choose_format(stn_context *context, const stn_save_request *request, const char **format,
                                stn_error *err) {
    const stn_plugin_info *plugins = NULL, *chosen = NULL;
    int32_t count = 0;
    stn_status status = stn_plugins_of_kind(context, STN_KIND_LOADER, &plugins, &count, err);
    if (status == STN_OK && *format == NULL) {
        status = choose_by_extension(request->path, plugins, count, format, err);
    }
    if (status == STN_OK) {
        status = stn_plugin_find(context, STN_KIND_LOADER, *format, &chosen, err);
    }
    if (status == STN_OK && !saves(chosen->desc)) {
        char known[400];
        list_formats(plugins, count, NULL, known, sizeof known);
        return stn_fail(err, STN_ERR_UNSUPPORTED, "%s: loader %s reads files but writes none; formats: %s",
                        request->path, *format, known[0] != '\0' ? known : "none installed");
    }
    return status;
}

static stn_status check(const stn_save_request *request, stn_error *err) {
    if (request == NULL || request->path == NULL || request->path[0] == '\0') {
        return stn_fail(err, STN_ERR_ARGUMENT, "save: give the path of the robot file to write");
    }
    const stn_model *model = request->model;
    int32_t count = model != NULL ? model->robot_count : 0;
    if (request->robot < 0 || request->robot >= count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: robot %d does not exist (%d robots)", request->path,
                        (int)request->robot, (int)count);
    }
    if (request->name != NULL && request->name[0] == '\0') {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: the name of a robot must not be empty", request->path);
    }
    return STN_OK;
}

stn_status stn_save_robot(stn_context *context, const stn_save_request *request, const char *format,
                          stn_diagnostics *diagnostics, stn_error *err) {
    stn_instance *instance = NULL;
    char *text = NULL;
    size_t length = 0;
    stn_status status = check(request, err);
    if (status == STN_OK) {
        status = choose_format(context, request, &format, err);
    }
    if (status == STN_OK) {
        status = stn_instance_create(context, STN_KIND_LOADER, format, NULL, 0, &instance, err);
    }
    if (status == STN_OK) {
        const stn_loader_ops *ops = instance->desc->ops.loader;
        status = ops->save(instance->self, request, &text, &length, diagnostics, err);
    }
    if (status == STN_OK) {
        status = stn_output_write(request->path, text, length, err);
    }
    stn_release(context, text);
    stn_instance_destroy(instance);
    return status;
}
