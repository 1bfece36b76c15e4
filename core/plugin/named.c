// SPDX-License-Identifier: Apache-2.0
// Shared objects that a person or a script names by their path. Nothing else opens a file by its name.
#include <string.h>

#include "base/context.h"
#include "plugin/registry.h"

/// The only plugin of this kind in a library.
static stn_status choose_from(const stn_library *library, stn_kind kind, const stn_plugin_info **out, stn_error *err) {
    char list[700] = "";
    int32_t count = 0;
    for (int32_t i = 0; i < library->entry->count; i++) {
        const stn_plugin_desc *desc = library->entry->plugins[i];
        if (desc->kind == kind) {
            stn_text_append(list, sizeof list, "%s%s", count > 0 ? ", " : "", desc->id);
            *out = &library->infos[i];
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

static stn_status load(stn_registry *registry, stn_kind kind, const char *path, stn_error *err) {
    const stn_library *library = NULL;
    const stn_plugin_info *info = NULL;
    stn_status status = stn_library_open(registry, path, true, &library, err);
    if (status == STN_OK) {
        status = choose_from(library, kind, &info, err);
    }
    if (status != STN_OK) {
        stn_error_prefix(err, "%s", path);
        return status;
    }
    // The path is kept once.
    const stn_named_library *known = registry->named;
    while (known != NULL && !(known->library == library && strcmp(known->path, path) == 0)) {
        known = known->next;
    }
    if (known != NULL) {
        return STN_OK;
    }
    stn_named_library *named = STN_ARENA(registry->arena, 1, stn_named_library);
    const char *copy = stn_registry_text(registry, "%s", path);
    if (named == NULL || copy == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
    }
    *named = (stn_named_library){copy, library, registry->named};
    registry->named = named;
    return STN_OK;
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
    if (status == STN_OK) {
        status = load(registry, kind, name, err);
    }
    pthread_mutex_unlock(&context->registry_mutex);
    return status;
}

stn_status stn_registry_find_file(stn_registry *registry, stn_kind kind, const char *path, const stn_plugin_info **out,
                                  stn_error *err) {
    const stn_named_library *named = registry->named;
    while (named != NULL && strcmp(named->path, path) != 0) {
        named = named->next;
    }
    const stn_library *library = named != NULL ? named->library : NULL;
    for (int32_t i = 0; i < registry->file_count && library == NULL; i++) {
        stn_plugin_file *file = &registry->files[i];
        if (strcmp(file->path, path) == 0) {
            stn_status status = stn_registry_open_file(registry, file, err);
            if (status != STN_OK) {
                return status;
            }
            if (file->problem != NULL) {
                return stn_fail(err, STN_ERR_PLUGIN, "%s", file->problem);
            }
            library = file->library;
        }
    }
    if (library == NULL) {
        return stn_fail(err, STN_ERR_PLUGIN,
                        "%s %s: the path of a shared object, which only the command line, the environment and scripts "
                        "may name; data names plugins by id",
                        stn_kind_name(kind), path);
    }
    stn_status status = choose_from(library, kind, out, err);
    if (status != STN_OK) {
        *out = NULL;
        stn_error_prefix(err, "%s", path);
    }
    return status;
}
