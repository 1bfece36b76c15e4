// SPDX-License-Identifier: Apache-2.0
// Plugins by the endings of files.
#include <stdio.h>
#include <string.h>

#include <stiction/plugin.h>

/// Ending `index` of a plugin's files, without the dot; NULL: there are no more.
static const char *ending_at(const stn_plugin_desc *desc, int32_t index) {
    if (desc->kind == STN_KIND_SCRIPT) {
        return desc->ops.script->extensions[index];
    }
    return desc->kind == STN_KIND_RECORDER && index == 0 ? desc->ops.recorder->extension : NULL;
}

static bool has_ending(const stn_plugin_desc *desc, const char *ending) {
    for (int32_t i = 0; ending_at(desc, i) != NULL; i++) {
        if (strcmp(ending_at(desc, i), ending) == 0) {
            return true;
        }
    }
    return false;
}

stn_status stn_plugin_for_file(stn_context *context, stn_kind kind, const char *path, const char **id, stn_error *err) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path, *dot = strrchr(name, '.');
    const char *ending = dot != NULL ? dot + 1 : "";
    const stn_plugin_info *found = NULL, *plugins = NULL;
    stn_error unused = {0};
    // most plugins have the name of their ending: then no other file is opened
    if (ending[0] != '\0' && stn_plugin_find(context, kind, ending, &found, &unused) == STN_OK &&
        has_ending(found->desc, ending)) {
        *id = found->desc->id;
        return STN_OK;
    }
    int32_t count = 0;
    stn_status status = stn_plugins_of_kind(context, kind, &plugins, &count, err);
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        if (has_ending(plugins[i].desc, ending)) {
            *id = plugins[i].desc->id;
            return STN_OK;
        }
    }
    if (status != STN_OK) {
        return status;
    }
    // Nothing has it: which endings are known, and a file <kind>_*.so that was refused, which may be the one.
    const char *refused = NULL, *const *problems = NULL;
    int32_t all = 0, problem_count = 0;
    char file[32], known[256] = "";
    for (int32_t p = 0; p < count; p++) {
        for (int32_t i = 0; ending_at(plugins[p].desc, i) != NULL; i++) {
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, "%s.%s", used > 0 ? ", " : "", ending_at(plugins[p].desc, i));
        }
    }
    snprintf(file, sizeof file, "/%s_", stn_kind_name(kind));
    if (stn_plugins(context, &plugins, &all, &problems, &problem_count, NULL) == STN_OK) {
        for (int32_t i = 0; i < problem_count && refused == NULL; i++) {
            refused = strstr(problems[i], file) != NULL ? problems[i] : NULL;
        }
    }
    return stn_fail(err, STN_ERR_PLUGIN, "%s: no %s such files; endings that are known: %s%s%s", path,
                    kind == STN_KIND_SCRIPT ? "scripting language runs" : "recorder writes",
                    known[0] != '\0' ? known : "none", refused != NULL ? "; refused was " : "",
                    refused != NULL ? refused : "");
}
