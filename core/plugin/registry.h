// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_PLUGIN_REGISTRY_H
#define STICTION_CORE_PLUGIN_REGISTRY_H

#include <stiction/plugin.h>

/// One plugin, in the order found.
typedef struct stn_plugin_node {
    stn_plugin_info info;
    bool by_path; // loaded by naming its file: not found by id
    struct stn_plugin_node *next;
} stn_plugin_node;

/// A shared object that passed its checks. Stays mapped until the process ends, so that its texts and stacks stay
/// readable.
typedef struct stn_library {
    const char *file;
    void *handle;
    const stn_plugin_entry *entry;
    struct stn_library *next;
} stn_library;

/// A path that stn_plugin_load was given.
typedef struct stn_named_library {
    const char *path;
    const stn_library *library;
    struct stn_named_library *next;
} stn_named_library;

typedef struct stn_problem_line {
    const char *text;
    struct stn_problem_line *next;
} stn_problem_line;

/// All memory comes from the arena, which is never reset: what the registry once gave out stays valid. The context's
/// registry_mutex guards all of it.
typedef struct stn_registry {
    stn_context *context;
    stn_arena *arena;
    stn_plugin_node *nodes;
    stn_library *libraries;
    stn_named_library *named;
    stn_problem_line *problems;
    bool searched;
    bool listed; // the two lists below are up to date
    stn_plugin_info *list;
    int32_t list_count;
    const char **problem_list;
    int32_t problem_count;
} stn_registry;

/// The context's registry, made at the first call. The caller holds the context's registry_mutex, as for all below.
stn_status stn_registry_open(stn_context *context, stn_registry **out, stn_error *err);
/// Text in the registry's arena; NULL when out of memory.
const char *stn_registry_text(stn_registry *registry, const char *format, ...) STN_PRINTF(2, 3);
/// Adds a plugin behind the others.
stn_status stn_registry_add(stn_registry *registry, const stn_plugin_info *info, bool by_path, stn_error *err);
stn_status stn_registry_add_problem(stn_registry *registry, const char *file, const char *text, stn_error *err);
/// The plugin of this name that is found by id, or NULL.
const stn_plugin_info *stn_registry_lookup(const stn_registry *registry, stn_kind kind, const char *id);

/// The only plugin of a kind in a shared object that is open already; opens none. STN_ERR_PLUGIN: it is not.
stn_status stn_registry_find_file(const stn_registry *registry, stn_kind kind, const char *path,
                                  const stn_plugin_info **out, stn_error *err);

/// STN_ERR_PLUGIN when the file is shorter than its own headers say; whatever else is wrong is left to the loader.
stn_status stn_library_whole(const char *path, stn_error *err);
/// Opens `file` and checks everything in it. STN_ERR_PLUGIN: refused, err says why (without the file's name).
/// `*library` is shared with earlier calls for the same file.
stn_status stn_library_open(stn_registry *registry, const char *file, const stn_library **library, stn_error *err);
/// Looks through all folders once.
stn_status stn_registry_search(stn_registry *registry, stn_error *err);

/// Is a descriptor one that this library can use? STN_ERR_PLUGIN with the reason otherwise.
stn_status stn_plugin_check(const stn_plugin_desc *desc, stn_error *err);
/// Checks an operation table against the marks in the header of its kind.
stn_status stn_ops_check(const stn_plugin_desc *desc, stn_error *err);

#endif
