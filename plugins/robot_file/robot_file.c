// SPDX-License-Identifier: Apache-2.0
// Which loader reads a group's file and which writes it. Reading: those that list its extension, and among several the
// first that recognises its first bytes; without any, whoever recognises them.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include <stiction/output.h>
#include <stiction/plugin.h>

enum { HEAD_SIZE = 4096 };
enum { LONGEST_EXTENSION = 16 }; // with the zero at its end

typedef struct file_head {
    char text[HEAD_SIZE];
    size_t length;
    char extension[LONGEST_EXTENSION]; // lower case, without the dot, "" when there is none
} file_head;

/// What stands behind the last dot of a file's name, in lower case; "" for nothing, and for what is longer.
static void file_extension(const char *path, char extension[LONGEST_EXTENSION]) {
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash != NULL ? slash : path, '.');
    extension[0] = '\0';
    if (dot == NULL || strlen(dot + 1) >= LONGEST_EXTENSION) {
        return;
    }
    memcpy(extension, dot + 1, strlen(dot + 1) + 1);
    for (char *c = extension; *c != '\0'; c++) {
        if (*c >= 'A' && *c <= 'Z') {
            *c ^= 'A' ^ 'a';
        }
    }
}

static stn_status read_head(const char *path, file_head *head, stn_error *err) {
    file_extension(path, head->extension);
    head->length = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); // a pipe without a writer would keep us
    if (file < 0) {
        return stn_fail(err, STN_ERR_FILE, "%s: %s", path, strerror(errno));
    }
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        close(file);
        return stn_fail(err, STN_ERR_FILE, "%s: not a file; give a robot file such as robot.urdf", path);
    }
    ssize_t got = 0;
    while (head->length < HEAD_SIZE && (got = read(file, head->text + head->length, HEAD_SIZE - head->length)) > 0) {
        head->length += (size_t)got;
    }
    stn_status status = got < 0 ? stn_fail(err, STN_ERR_FILE, "%s: %s", path, strerror(errno)) : STN_OK;
    close(file);
    return status;
}

/// The name of a format that robot files come in, by a word of the first bytes; NULL: none is recognised.
static const char *known_format(const file_head *head) {
    static const char *const formats[][2] = {{"<COLLADA", "COLLADA"}, {"#usda", "USD"}, {"PXR-USDC", "USD"}};
    for (int32_t i = 0; i < STN_COUNT(formats); i++) {
        size_t length = strlen(formats[i][0]);
        for (size_t at = 0; at + length <= head->length; at++) {
            if (memcmp(head->text + at, formats[i][0], length) == 0) {
                return formats[i][1];
            }
        }
    }
    return NULL;
}

/// What the loader says, and that a group has something to simulate: one without links could not be compiled.
static stn_status load(const stn_instance *loader, const stn_load_request *request, stn_model_builder *builder,
                       int32_t *group, stn_diagnostics *diagnostics, stn_error *err) {
    stn_builder_number_names(builder, request->robot_name == NULL);
    stn_status status = loader->desc->ops.loader->load(loader->self, request, builder, group, diagnostics, err);
    stn_builder_number_names(builder, false);
    int32_t start = 0, count = 0;
    if (status >= 0) {
        stn_builder_group_links(builder, *group, &start, &count);
    }
    if (status >= 0 && count == 0) {
        stn_diagnostics_add(diagnostics, STN_SEVERITY_ERROR, "no_links", request->path, 0,
                            stn_builder_group_name(builder, *group), "the robot has no links; it needs at least one");
        stn_builder_discard(builder, *group);
        status = stn_diagnostics_status(diagnostics, err);
    }
    return status;
}

/// The loader for a file: the one asked for, else by its name and first bytes.
static stn_status find_loader(stn_context *context, const stn_load_request *request, const char **id, stn_error *err) {
    file_head head;
    stn_status status = read_head(request->path, &head, err);
    if (status != STN_OK) {
        return status;
    }
    if (request->loader.id != NULL) {
        *id = request->loader.id;
        return STN_OK;
    }
    const stn_plugin_info *plugins = NULL;
    int32_t count = 0;
    status = stn_plugins_of_kind(context, STN_KIND_LOADER, &plugins, &count, err);
    if (status != STN_OK) {
        return status;
    }
    // The loader whose files have the extension and that recognises the first bytes, else one of which one of both is
    // so.
    const stn_plugin_desc *by_both = NULL, *by_extension = NULL, *by_content = NULL;
    for (int32_t i = 0; i < count && by_both == NULL; i++) {
        const stn_plugin_desc *desc = plugins[i].desc;
        const char *const *e = desc->ops.loader->extensions;
        while (e != NULL && *e != NULL && strcmp(*e, head.extension) != 0) {
            e++;
        }
        bool listed = e != NULL && *e != NULL;
        bool recognised = desc->ops.loader->recognises(head.text, head.length);
        by_both = listed && recognised ? desc : NULL;
        by_extension = listed && by_extension == NULL ? desc : by_extension;
        by_content = recognised && by_content == NULL ? desc : by_content;
    }
    const stn_plugin_desc *loader = by_both != NULL ? by_both : by_extension != NULL ? by_extension : by_content;
    if (loader == NULL) {
        char known[400] = ""; // "mjcf (.xml), urdf (.urdf .xacro)"
        for (int32_t i = 0; i < count; i++) {
            stn_text_append(known, sizeof known, "%s%s (", i > 0 ? ", " : "", plugins[i].desc->id);
            const char *const *e = plugins[i].desc->ops.loader->extensions;
            for (const char *space = ""; e != NULL && *e != NULL; e++, space = " ") {
                stn_text_append(known, sizeof known, "%s.%s", space, *e);
            }
            stn_text_append(known, sizeof known, ")");
        }
        const char *format = known_format(&head);
        return stn_fail(err, STN_ERR_UNSUPPORTED, "%s: no loader reads %s%s; loaders: %s", request->path,
                        format != NULL ? "this kind of file: this is " : "this kind of file",
                        format != NULL ? format : "", known[0] != '\0' ? known : "none installed");
    }
    *id = loader->id;
    return STN_OK;
}

stn_status stn_load_robot(stn_context *context, const stn_load_request *request, stn_model_builder *builder,
                          int32_t *group, stn_diagnostics *diagnostics, stn_error *err) {
    if (request == NULL || request->path == NULL || request->path[0] == '\0') {
        return stn_fail(err, STN_ERR_ARGUMENT, "load: give the path of a robot file");
    }
    const char *id = NULL;
    stn_instance *instance = NULL;
    stn_status status = find_loader(context, request, &id, err);
    if (status == STN_OK) {
        status = stn_instance_create(context, STN_KIND_LOADER, id, request->loader.settings,
                                     request->loader.setting_count, &instance, err);
    }
    if (status == STN_OK) {
        status = load(instance, request, builder, group, diagnostics, err);
    }
    stn_instance_destroy(instance);
    return status;
}

// -------------------------------------------------------------------------------------------------------- saving
// Which loader writes a file, and writing it: the one asked for, else the one whose files have the path's extension.

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

/// The loader's id, checked; NULL: that of the only format whose files have the path's extension.
static stn_status choose_format(stn_context *context, const stn_save_request *request, const char **format,
                                stn_error *err) {
    const stn_plugin_info *plugins = NULL, *chosen = NULL;
    int32_t count = 0, fitting = 0;
    char extension[LONGEST_EXTENSION], known[400];
    stn_status status = stn_plugins_of_kind(context, STN_KIND_LOADER, &plugins, &count, err);
    if (status != STN_OK) {
        return status;
    }
    if (*format == NULL) {
        file_extension(request->path, extension);
        fitting = list_formats(plugins, count, extension, known, sizeof known);
        if (fitting > 1) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: several formats have files .%s; give one of %s", request->path,
                            extension, known);
        }
        for (int32_t i = 0; i < count && fitting == 1 && *format == NULL; i++) {
            const stn_plugin_desc *desc = plugins[i].desc;
            *format = saves(desc) && strcmp(extension_of(desc), extension) == 0 ? desc->id : NULL;
        }
    }
    list_formats(plugins, count, NULL, known, sizeof known);
    if (*format == NULL) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "%s: no format is known by the extension '%s'; formats: %s",
                        request->path, extension, known[0] != '\0' ? known : "none installed");
    }
    status = stn_plugin_find(context, STN_KIND_LOADER, *format, &chosen, err);
    if (status == STN_OK && !saves(chosen->desc)) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "%s: loader %s reads files but writes none; formats: %s",
                        request->path, *format, known[0] != '\0' ? known : "none installed");
    }
    return status;
}

stn_status stn_save_robot(stn_context *context, const stn_save_request *request, const char *format,
                          stn_diagnostics *diagnostics, stn_error *err) {
    stn_instance *instance = NULL;
    char *text = NULL;
    size_t length = 0;
    if (request == NULL || request->path == NULL || request->path[0] == '\0') {
        return stn_fail(err, STN_ERR_ARGUMENT, "save: give the path of the robot file to write");
    }
    int32_t count = request->model != NULL ? request->model->group_count : 0;
    if (request->group < 0 || request->group >= count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: group %d does not exist (%d groups)", request->path,
                        (int)request->group, (int)count);
    }
    if (request->name != NULL && request->name[0] == '\0') {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: the name of a robot must not be empty", request->path);
    }
    stn_status status = choose_format(context, request, &format, err);
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
