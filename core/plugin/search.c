// SPDX-License-Identifier: Apache-2.0
// Where plugins are looked for: the context's path, STICTION_PLUGIN_PATH, the folder beside the library. Names are read
// at once, files are opened when they may hold what is asked for.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "base/library_folder.h"
#include "plugin/registry.h"

static int compare_names(const void *a, const void *b) {
    return strcmp(((const stn_plugin_file *)a)->name, ((const stn_plugin_file *)b)->name);
}

stn_status stn_registry_open_file(stn_registry *registry, stn_plugin_file *file, stn_error *err) {
    if (file->library != NULL || file->problem != NULL) {
        return STN_OK;
    }
    stn_error refusal = {STN_OK, ""};
    // Every start opens a command and a language, which call hundreds of functions of their libraries and few of them
    // in one run: beside the library, where files were linked with it, they are bound as they are called. All others
    // are bound at once, so that a missing function is told before a run begins.
    bool starts = file->beside_library && (file->kind == STN_KIND_COMMAND || file->kind == STN_KIND_SCRIPT);
    stn_status status = stn_library_open(registry, file->path, !starts, &file->library, &refusal);
    if (status == STN_ERR_PLUGIN) {
        file->problem = stn_registry_text(registry, "%s: %s", file->path, refusal.text);
        return file->problem != NULL ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
    }
    return status == STN_OK ? STN_OK : stn_fail(err, status, "%s", refusal.text);
}

/// The kind whose word and '_' a file's name begins with; STN_KIND_COUNT: none.
static stn_kind kind_of_name(const char *name) {
#define KIND_OF_WORD(kind, word)                               \
    if (strncmp(name, #word "_", sizeof #word "_" - 1) == 0) { \
        return kind;                                           \
    }
    STN_KINDS(KIND_OF_WORD)
#undef KIND_OF_WORD
    return STN_KIND_COUNT;
}

static stn_status add_file(stn_registry *registry, const stn_plugin_folder *folder, const char *name, stn_error *err) {
    if (registry->file_count == registry->file_capacity) {
        int32_t capacity = registry->file_capacity == 0 ? 128 : 2 * registry->file_capacity;
        stn_plugin_file *more = STN_ARENA(registry->arena, capacity, stn_plugin_file);
        if (more == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
        }
        if (registry->file_count > 0) {
            memcpy(more, registry->files, (size_t)registry->file_count * sizeof *more);
        }
        registry->files = more;
        registry->file_capacity = capacity;
    }
    size_t head = strlen(folder->path), size = strlen(name) + 1;
    char *path = STN_ARENA(registry->arena, head + 1 + size, char);
    if (path == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
    }
    memcpy(path, folder->path, head);
    path[head] = '/';
    memcpy(path + head + 1, name, size);
    registry->files[registry->file_count++] = (stn_plugin_file){
        .path = path, .name = path + head + 1, .beside_library = folder->beside_library, .kind = kind_of_name(name)};
    return STN_OK;
}

/// `named_by` says who asked for the folder; NULL for the library's own, which may be absent.
static stn_status search_folder(stn_registry *registry, const char *path, const char *named_by, stn_error *err) {
    stn_plugin_folder *folder =
        path != NULL ? STN_ARENA_ZEROED(registry->arena, 1, stn_plugin_folder) : NULL; // NULL: no memory for the path
    if (folder == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
    }
    DIR *stream = opendir(path);
    folder->path = path;
    folder->beside_library = named_by == NULL;
    if (stream == NULL && named_by != NULL) {
        folder->problem =
            stn_registry_text(registry, "%s: folder cannot be read (%s); correct %s", path, strerror(errno), named_by);
        if (folder->problem == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
        }
    }
    stn_status status = STN_OK;
    folder->start = registry->file_count;
    if (stream != NULL) {
        for (struct dirent *item = readdir(stream); item != NULL && status == STN_OK; item = readdir(stream)) {
            size_t length = strlen(item->d_name);
            if (length > 3 && strcmp(item->d_name + length - 3, ".so") == 0) {
                status = add_file(registry, folder, item->d_name, err);
            }
        }
        closedir(stream);
    }
    folder->count = registry->file_count - folder->start;
    if (folder->count > 0) {
        qsort(registry->files + folder->start, (size_t)folder->count, sizeof *registry->files, compare_names);
    }
    stn_plugin_folder **last = &registry->folders;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = folder;
    return status;
}

/// Colon separated folders; empty places are skipped. A relative one is that of now, wherever the process goes before
/// its files are opened.
static stn_status search_path(stn_registry *registry, const char *path, const char *named_by, stn_error *err) {
    char here[PATH_MAX];
    bool known = path != NULL && getcwd(here, sizeof here) != NULL;
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        size_t shown = length;
        while (shown > 1 && path[shown - 1] == '/') {
            shown--;
        }
        if (shown > 0) {
            bool relative = path[0] != '/' && known;
            const char *folder =
                stn_registry_text(registry, "%s%s%.*s", relative ? here : "", relative ? "/" : "", (int)shown, path);
            stn_status status = search_folder(registry, folder, named_by, err);
            if (status != STN_OK) {
                return status;
            }
        }
        path += length + (path[length] == ':');
    }
    return STN_OK;
}

stn_status stn_registry_search(stn_registry *registry, stn_error *err) {
    stn_status status = search_path(registry, registry->context->plugin_path, "plugin_path", err);
    if (status != STN_OK) {
        return status;
    }
    status = search_path(registry, getenv("STICTION_PLUGIN_PATH"), "STICTION_PLUGIN_PATH", err);
    // <folder of this library>/stiction/plugins: the same in the build tree and installed.
    char library[PATH_MAX];
    if (status != STN_OK || !stn_library_folder(library)) {
        return status;
    }
    return search_folder(registry, stn_registry_text(registry, "%s/stiction/plugins", library), NULL, err);
}
