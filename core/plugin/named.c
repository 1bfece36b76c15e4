// SPDX-License-Identifier: Apache-2.0
// Shared objects that a person or a script names by their path. Nothing else opens a file by its name.
#include <string.h>

#include "base/context.h"
#include "base/text.h"
#include "plugin/registry.h"

/// The only plugin of this kind in a library.
static stn_status choose_from(const stn_library *library, stn_kind kind, const stn_plugin_desc **out, stn_error *err) {
    char list[700] = "";
    int32_t count = 0;
    for (int32_t i = 0; i < library->entry->count; i++) {
        const stn_plugin_desc *desc = library->entry->plugins[i];
        if (desc->kind == kind) {
            stn_text_append(list, sizeof list, "%s%s", count > 0 ? ", " : "", desc->id);
            *out = desc;
            count++;
        }
    }
    if (count == 0) {
        return stn_fail(err, STN_ERR_PLUGIN, "holds no %s but a %s", stn_kind_name(kind),
                        stn_kind_name(library->entry->plugins[0]->kind));
    }
    if (count > 1) {
        return stn_fail(err, STN_ERR_PLUGIN,
                        "holds several plugins (%s); put its folder on STICTION_PLUGIN_PATH and "
                        "name one by id",
                        list);
    }
    return STN_OK;
}

static const stn_plugin_info *info_of(const stn_registry *registry, const stn_plugin_desc *desc) {
    for (const stn_plugin_node *node = registry->nodes; node != NULL; node = node->next) {
        if (node->info.desc == desc) {
            return &node->info;
        }
    }
    return NULL;
}

/// Keeps the library's path and its plugin, each once.
static stn_status remember(stn_registry *registry, const char *path, const stn_library *library,
                           const stn_plugin_desc *desc, stn_error *err) {
    const stn_named_library *known = registry->named;
    while (known != NULL && !(known->library == library && strcmp(known->path, path) == 0)) {
        known = known->next;
    }
    if (known == NULL) {
        stn_named_library *named = STN_ARENA(registry->arena, 1, stn_named_library);
        const char *copy = stn_registry_text(registry, "%s", path);
        if (named == NULL || copy == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
        }
        *named = (stn_named_library){copy, library, registry->named};
        registry->named = named;
    }
    if (info_of(registry, desc) != NULL) {
        return STN_OK;
    }
    stn_plugin_info info = {desc, library->file, library->entry->abi_major, library->entry->abi_minor};
    return stn_registry_add(registry, &info, true, err);
}

static stn_status load(stn_registry *registry, stn_kind kind, const char *path, stn_error *err) {
    const stn_library *library = NULL;
    const stn_plugin_desc *desc = NULL;
    stn_status status = stn_library_open(registry, path, &library, err);
    if (status == STN_OK) {
        status = choose_from(library, kind, &desc, err);
    }
    if (status != STN_OK) {
        stn_error_prefix(err, "%s", path);
        return status;
    }
    return remember(registry, path, library, desc, err);
}

stn_status stn_plugin_load(stn_context *context, stn_kind kind, const char *name, stn_error *err) {
    if (stn_kind_name(kind) == NULL || name == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "plugin: kind and name must be given");
    }
    if (strchr(name, '/') == NULL) {
        return STN_OK;
    }
    pthread_mutex_lock(&context->registry_mutex);
    stn_registry *registry = NULL;
    stn_status status = stn_registry_open(context, &registry, err);
    status = status == STN_OK ? load(registry, kind, name, err) : status;
    pthread_mutex_unlock(&context->registry_mutex);
    return status;
}

/// A library that was opened already: by this path, or by a search that found it there.
static const stn_library *opened(const stn_registry *registry, const char *path) {
    for (const stn_named_library *named = registry->named; named != NULL; named = named->next) {
        if (strcmp(named->path, path) == 0) {
            return named->library;
        }
    }
    const stn_library *library = registry->libraries;
    while (library != NULL && strcmp(library->file, path) != 0) {
        library = library->next;
    }
    return library;
}

stn_status stn_registry_find_file(const stn_registry *registry, stn_kind kind, const char *path,
                                  const stn_plugin_info **out, stn_error *err) {
    const stn_plugin_desc *desc = NULL;
    const stn_library *library = opened(registry, path);
    if (library == NULL) {
        return stn_fail(err, STN_ERR_PLUGIN,
                        "%s %s: the path of a shared object, which only the command line, the environment and scripts "
                        "may name; data names plugins by id",
                        stn_kind_name(kind), path);
    }
    stn_status status = choose_from(library, kind, &desc, err);
    *out = status == STN_OK ? info_of(registry, desc) : NULL;
    if (status == STN_OK && *out == NULL) { // hidden by another one of its id, and nobody named its file
        status = stn_fail(err, STN_ERR_PLUGIN, "hidden by another %s %s", stn_kind_name(kind), desc->id);
    }
    if (status != STN_OK) {
        stn_error_prefix(err, "%s", path);
    }
    return status;
}
