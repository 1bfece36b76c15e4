// SPDX-License-Identifier: Apache-2.0
// Where plugins are looked for: the context's path, STICTION_PLUGIN_PATH, the folder beside the library. First found
// wins.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/library_folder.h"
#include "plugin/registry.h"

static bool is_shared_object(const char *name) {
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".so") == 0;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/// Adds what a library offers, except ids that were found earlier.
static stn_status add_plugins(stn_registry *registry, const stn_library *library, stn_error *err) {
    for (int32_t i = 0; i < library->entry->count; i++) {
        const stn_plugin_desc *desc = library->entry->plugins[i];
        const stn_plugin_info *before = stn_registry_lookup(registry, desc->kind, desc->id);
        if (before != NULL) {
            if (before->desc != desc) {
                stn_log(registry->context, STN_LOG_NOTE, "%s: %s %s is hidden by that of %s", library->file,
                        stn_kind_name(desc->kind), desc->id, before->file);
            }
            continue;
        }
        stn_plugin_info info = {desc, library->file, library->entry->abi_major, library->entry->abi_minor};
        stn_status status = stn_registry_add(registry, &info, false, err);
        if (status != STN_OK) {
            return status;
        }
    }
    return STN_OK;
}

/// A refused file becomes a line for the user; only running out of memory ends the search.
static stn_status search_file(stn_registry *registry, const char *file, stn_error *err) {
    stn_error refusal = {STN_OK, ""};
    const stn_library *library = NULL;
    stn_status status = stn_library_open(registry, file, &library, &refusal);
    if (status == STN_OK) {
        return add_plugins(registry, library, err);
    }
    if (status == STN_ERR_PLUGIN) {
        return stn_registry_add_problem(registry, file, refusal.text, err);
    }
    return stn_fail(err, status, "%s", refusal.text);
}

/// The names of the shared objects in a folder, sorted. `names` (NULL when there are none) lives in the registry.
static stn_status list_folder(stn_registry *registry, DIR *folder, const char ***names, int32_t *count,
                              stn_error *err) {
    int32_t capacity = 0;
    *names = NULL;
    *count = 0;
    for (struct dirent *item = readdir(folder); item != NULL; item = readdir(folder)) {
        if (!is_shared_object(item->d_name)) {
            continue;
        }
        if (*count == capacity) {
            int32_t grown = capacity == 0 ? 64 : 2 * capacity;
            const char **more = STN_ARENA(registry->arena, grown, const char *);
            if (more == NULL) {
                return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
            }
            if (*count > 0) {
                memcpy(more, *names, (size_t)*count * sizeof *more);
            }
            *names = more;
            capacity = grown;
        }
        (*names)[*count] = stn_registry_text(registry, "%s", item->d_name);
        if ((*names)[*count] == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
        }
        (*count)++;
    }
    if (*count > 0) {
        qsort(*names, (size_t)*count, sizeof **names, compare_names);
    }
    return STN_OK;
}

/// `named_by` says who asked for the folder; NULL for the library's own, which may be absent.
static stn_status search_folder(stn_registry *registry, const char *path, const char *named_by, stn_error *err) {
    DIR *folder = opendir(path);
    if (folder == NULL) {
        if (named_by == NULL) {
            return STN_OK;
        }
        const char *text =
            stn_registry_text(registry, "folder cannot be read (%s); correct %s", strerror(errno), named_by);
        return text == NULL ? stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory")
                            : stn_registry_add_problem(registry, path, text, err);
    }
    const char **names = NULL;
    int32_t count = 0;
    stn_status status = list_folder(registry, folder, &names, &count, err);
    closedir(folder);
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        const char *file = stn_registry_text(registry, "%s/%s", path, names[i]);
        status =
            file == NULL ? stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory") : search_file(registry, file, err);
    }
    return status;
}

/// Colon separated folders; empty places are skipped.
static stn_status search_path(stn_registry *registry, const char *path, const char *named_by, stn_error *err) {
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        size_t shown = length;
        while (shown > 1 && path[shown - 1] == '/') {
            shown--;
        }
        if (shown > 0) {
            const char *folder = stn_registry_text(registry, "%.*s", (int)shown, path);
            stn_status status = folder == NULL ? stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory")
                                               : search_folder(registry, folder, named_by, err);
            if (status != STN_OK) {
                return status;
            }
        }
        path += length + (path[length] == ':');
    }
    return STN_OK;
}

/// <folder of this library>/stiction/plugins: the same in the build tree and installed.
static stn_status search_beside_library(stn_registry *registry, stn_error *err) {
    char library[PATH_MAX];
    if (!stn_library_folder(library)) {
        return STN_OK;
    }
    const char *folder = stn_registry_text(registry, "%s/stiction/plugins", library);
    return folder == NULL ? stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory")
                          : search_folder(registry, folder, NULL, err);
}

stn_status stn_registry_search(stn_registry *registry, stn_error *err) {
    stn_status status = search_path(registry, registry->context->plugin_path, "plugin_path", err);
    if (status == STN_OK) {
        status = search_path(registry, getenv("STICTION_PLUGIN_PATH"), "STICTION_PLUGIN_PATH", err);
    }
    return status == STN_OK ? search_beside_library(registry, err) : status;
}
