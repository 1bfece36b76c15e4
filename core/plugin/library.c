// SPDX-License-Identifier: Apache-2.0
// One shared object: open it, check what it exports, never run its code.
#include <dlfcn.h>
#include <string.h>

#include "plugin/registry.h"

enum { MOST_PLUGINS = 1024 };

static stn_status check_entry(const stn_plugin_entry *entry, stn_error *err) {
    if (entry->abi_major != STN_ABI_MAJOR) {
        return stn_fail(err, STN_ERR_PLUGIN, "built for plugin ABI %u.%u, this library has %d.%d; rebuild the plugin",
                        entry->abi_major, entry->abi_minor, STN_ABI_MAJOR, STN_ABI_MINOR);
    }
    if (entry->abi_minor > STN_ABI_MINOR) {
        return stn_fail(err, STN_ERR_PLUGIN,
                        "built for the newer plugin ABI %u.%u, this library has %d.%d; update Stiction or rebuild the "
                        "plugin",
                        entry->abi_major, entry->abi_minor, STN_ABI_MAJOR, STN_ABI_MINOR);
    }
    if (entry->count < 1 || entry->count > MOST_PLUGINS || entry->plugins == NULL) {
        return stn_fail(err, STN_ERR_PLUGIN, "count = %d plugins, must be 1 to %d with a list; use STN_PLUGIN_LIBRARY",
                        entry->count, MOST_PLUGINS);
    }
    for (int32_t i = 0; i < entry->count; i++) {
        const stn_plugin_desc *desc = entry->plugins[i];
        stn_status status = stn_plugin_check(desc, err);
        if (status != STN_OK) {
            return status;
        }
        for (int32_t j = 0; j < i; j++) {
            if (entry->plugins[j]->kind == desc->kind && strcmp(entry->plugins[j]->id, desc->id) == 0) {
                return stn_fail(err, STN_ERR_PLUGIN, "%s %s is in the list twice", stn_kind_name(desc->kind), desc->id);
            }
        }
    }
    return STN_OK;
}

stn_status stn_library_open(stn_registry *registry, const char *file, bool complete, const stn_library **out,
                            stn_error *err) {
    *out = NULL;
    stn_status whole = stn_library_whole(file, err);
    if (whole != STN_OK) {
        return whole;
    }
    void *handle = dlopen(file, (complete ? RTLD_NOW : RTLD_LAZY) | RTLD_LOCAL);
    if (handle == NULL) {
        // The loader's own text without the file's name, which the caller puts in front.
        const char *text = dlerror();
        text = text != NULL ? text : "unknown reason";
        size_t length = strlen(file);
        bool named = strncmp(text, file, length) == 0 && strncmp(text + length, ": ", 2) == 0;
        return stn_fail(err, STN_ERR_PLUGIN, "cannot be loaded: %s", named ? text + length + 2 : text);
    }
    const stn_library *before = registry->libraries; // the loader gives one handle per file
    while (before != NULL && before->handle != handle) {
        before = before->next;
    }
    if (before != NULL) {
        *out = before;
        return STN_OK;
    }
    const stn_plugin_entry *entry = dlsym(handle, "stn_plugin");
    if (entry == NULL) {
        return stn_fail(err, STN_ERR_PLUGIN,
                        "no symbol stn_plugin; a plugin ends with STN_PLUGIN_LIBRARY(&descriptor)");
    }
    stn_status status = check_entry(entry, err);
    if (status != STN_OK) {
        return status;
    }
    stn_library *library = STN_ARENA(registry->arena, 1, stn_library);
    stn_plugin_info *infos = STN_ARENA(registry->arena, entry->count, stn_plugin_info);
    const char *name = stn_registry_text(registry, "%s", file);
    if (library == NULL || infos == NULL || name == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < entry->count; i++) {
        infos[i] = (stn_plugin_info){entry->plugins[i], name, entry->abi_major, entry->abi_minor};
    }
    *library = (stn_library){name, handle, entry, infos, registry->libraries};
    registry->libraries = library;
    *out = library;
    return STN_OK;
}

const stn_plugin_info *stn_library_plugin(const stn_library *library, stn_kind kind, const char *id) {
    for (int32_t i = 0; library != NULL && i < library->entry->count; i++) {
        const stn_plugin_desc *desc = library->infos[i].desc;
        if (desc->kind == kind && strcmp(desc->id, id) == 0) {
            return &library->infos[i];
        }
    }
    return NULL;
}
