// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_PLUGIN_REGISTRY_H
#define STICTION_CORE_PLUGIN_REGISTRY_H

#include <stiction/plugin.h>

/// A shared object that passed its checks. Stays mapped until the process ends, so that its texts and stacks stay
/// readable.
typedef struct stn_library {
    const char *file;
    void *handle;
    const stn_plugin_entry *entry;
    const stn_plugin_info *infos; // (entry->count)
    struct stn_library *next;
} stn_library;

/// A path that stn_plugin_load was given.
typedef struct stn_named_library {
    const char *path;
    const stn_library *library;
    struct stn_named_library *next;
} stn_named_library;

/// A plugin that stn_plugin_register was given.
typedef struct stn_own_plugin {
    stn_plugin_info info;
    struct stn_own_plugin *next;
} stn_own_plugin;

/// A folder of the search path, in the order of precedence.
typedef struct stn_plugin_folder {
    const char *path;
    const char *problem;  // line for the user when it cannot be read; NULL: it can
    bool beside_library;  // the last one: its files hold what their names say
    int32_t start, count; // of its files
    struct stn_plugin_folder *next;
} stn_plugin_folder;

/// A shared object of a folder, opened when it may hold what is asked for.
typedef struct stn_plugin_file {
    const char *path, *name;    // name: the last part of path
    bool beside_library;        // in the folder beside the library
    stn_kind kind;              // whose word the name begins with; STN_KIND_COUNT: with none
    const stn_library *library; // NULL: not opened yet, or refused
    const char *problem;        // line for the user when it was refused
    bool told;                  // that it was refused, by a warning
} stn_plugin_file;

/// A plugin beside the library that another one hides, which was warned of.
typedef struct stn_hidden_plugin {
    const stn_plugin_desc *desc;
    struct stn_hidden_plugin *next;
} stn_hidden_plugin;

/// A list that was given out.
typedef struct stn_plugin_list {
    const stn_plugin_info *plugins;
    int32_t count;
    bool made; // and still true
} stn_plugin_list;

/// All memory comes from the arena, which is never reset: what the registry once gave out stays valid. The context's
/// registry_mutex guards all of it.
typedef struct stn_registry {
    stn_context *context;
    stn_arena *arena;
    stn_own_plugin *own;
    stn_library *libraries;
    stn_named_library *named;
    bool searched; // folders and files below are known
    stn_plugin_folder *folders;
    stn_plugin_file *files; // (file_count) folder by folder, sorted by name in each
    int32_t file_count, file_capacity;
    stn_plugin_list lists[STN_KIND_COUNT + 1]; // of each kind; the last: of all
    stn_hidden_plugin *hidden;                 // those beside the library that were asked for by their ids
    const stn_plugin_info *hidden_list;        // made with the list of all
    int32_t hidden_count;
    const char **problem_list; // likewise
    int32_t problem_count;
} stn_registry;

/// The context's registry, made at the first call. The caller holds the context's registry_mutex, as for all below.
stn_status stn_registry_open(stn_context *context, stn_registry **out, stn_error *err);
/// Text in the registry's arena; NULL when out of memory.
const char *stn_registry_text(stn_registry *registry, const char *format, ...) STN_PRINTF(2, 3);
/// The only plugin of a kind in a shared object that stn_plugin_load named, or that a folder of the search path holds;
/// opens no other. STN_ERR_PLUGIN: it is neither.
stn_status stn_registry_find_file(stn_registry *registry, stn_kind kind, const char *path, const stn_plugin_info **out,
                                  stn_error *err);
/// The plugin of this id in a shared object, or NULL; NULL library accepted.
const stn_plugin_info *stn_library_plugin(const stn_library *library, stn_kind kind, const char *id);

/// STN_ERR_PLUGIN when the file is shorter than its own headers say; whatever else is wrong is left to the loader.
stn_status stn_library_whole(const char *path, stn_error *err);
/// Opens `file` and checks everything in it. STN_ERR_PLUGIN: refused, err says why (without the file's name).
/// `*library` is shared with earlier calls for the same file. `complete`: every function that it calls must be there
/// now, which looks them all up; else each is looked up at its first call.
stn_status stn_library_open(stn_registry *registry, const char *file, bool complete, const stn_library **library,
                            stn_error *err);
/// Reads the names in all folders of the search path; opens no file.
stn_status stn_registry_search(stn_registry *registry, stn_error *err);
/// Opens a file unless that was done or tried before. A refused one gets its line for the user; only running out of
/// memory is an error.
stn_status stn_registry_open_file(stn_registry *registry, stn_plugin_file *file, stn_error *err);

/// Is a descriptor one that this library can use? STN_ERR_PLUGIN with the reason otherwise.
stn_status stn_plugin_check(const stn_plugin_desc *desc, stn_error *err);
/// Checks an operation table against the marks in the header of its kind.
stn_status stn_ops_check(const stn_plugin_desc *desc, stn_error *err);

#endif
