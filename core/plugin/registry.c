// SPDX-License-Identifier: Apache-2.0
// Which plugins there are. Folders are read at the first question, files opened when they are needed; kept with the
// context.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "plugin/registry.h"

enum { IDS_SHOWN = 128 };

static void release(stn_context *context, void *memory) {
    stn_registry *registry = memory;
    stn_arena_destroy(registry->arena);
    stn_release(context, registry);
}

stn_status stn_registry_open(stn_context *context, stn_registry **out, stn_error *err) {
    if (context->registry == NULL) {
        stn_registry *registry = stn_allocate(context, 1, sizeof *registry);
        stn_arena *arena = registry != NULL ? stn_arena_create(context) : NULL;
        if (arena == NULL) {
            stn_release(context, registry);
            return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
        }
        registry->context = context;
        registry->arena = arena;
        context->registry = registry;
        context->release_registry = release;
    }
    *out = context->registry;
    return STN_OK;
}

/// The registry after the search. A search that ran out of memory leaves nothing behind and is made again.
static stn_status searched_registry(stn_context *context, stn_registry **out, stn_error *err) {
    stn_status status = stn_registry_open(context, out, err);
    stn_registry *registry = *out;
    if (status != STN_OK || registry->searched) {
        return status;
    }
    stn_registry before = *registry;
    status = stn_registry_search(registry, err);
    if (status != STN_OK) {
        *registry = before;
        return status;
    }
    registry->searched = true;
    return STN_OK;
}

const char *stn_registry_text(stn_registry *registry, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : STN_ARENA(registry->arena, length + 1, char);
    if (text != NULL) {
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    return text;
}

// ------------------------------------------------------------------------------------------------------------- lookup

/// How near a file's name is to a plugin's kind and id: within one folder the smaller wins.
enum { NAMED_SO, NAMED_FOR_KIND, NAMED_FREELY, NAMED_FOR_OTHER, NEARNESS_COUNT };

static int nearness(const stn_plugin_file *file, stn_kind kind, const char *id) {
    if (file->kind != kind) {
        return file->kind == STN_KIND_COUNT ? NAMED_FREELY : NAMED_FOR_OTHER;
    }
    const char *rest = file->name + strlen(stn_kind_name(kind)) + 1;
    size_t length = strlen(id);
    return strncmp(rest, id, length) == 0 && strcmp(rest + length, ".so") == 0 ? NAMED_SO : NAMED_FOR_KIND;
}

static const stn_plugin_info *lookup_own(const stn_registry *registry, stn_kind kind, const char *id) {
    for (const stn_own_plugin *own = registry->own; own != NULL; own = own->next) {
        if (own->info.desc->kind == kind && strcmp(own->info.desc->id, id) == 0) {
            return &own->info;
        }
    }
    return NULL;
}

/// Warns once when `found`, of a folder that a person named, has the id of a plugin beside the library: who asks for it
/// by its id may mean that one. Opens the files there that are named for the kind.
static stn_status warn_of_hidden(stn_registry *registry, const stn_plugin_info *found, stn_error *err) {
    const stn_kind kind = found->desc->kind;
    for (int32_t i = 0; i < registry->file_count; i++) {
        stn_plugin_file *file = &registry->files[i];
        if (!file->beside_library || file->kind != kind) {
            continue;
        }
        stn_status status = stn_registry_open_file(registry, file, err);
        if (status != STN_OK) {
            return status;
        }
        const stn_plugin_info *other = stn_library_plugin(file->library, kind, found->desc->id);
        const stn_hidden_plugin *told = registry->hidden;
        while (other != NULL && told != NULL && told->desc != other->desc) {
            told = told->next;
        }
        if (other == NULL || other->desc == found->desc || told != NULL) {
            continue;
        }
        stn_hidden_plugin *now = STN_ARENA(registry->arena, 1, stn_hidden_plugin);
        if (now == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
        }
        *now = (stn_hidden_plugin){other->desc, registry->hidden};
        registry->hidden = now;
        stn_log(registry->context, STN_LOG_WARNING,
                "%s %s is that of %s, which hides Stiction's own, %s; give it another id unless that is meant",
                stn_kind_name(kind), found->desc->id, found->file, other->file);
    }
    return STN_OK;
}

// -------------------------------------------------------------------------------------------------------------- lists

/// A plugin that may be listed, and what decides between two of one id.
typedef struct candidate {
    const stn_plugin_info *info;
    int32_t folder; // -1: registered
    int near;
    int32_t file;
} candidate;

static int compare_candidates(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    const stn_plugin_desc *p = x->info->desc, *q = y->info->desc;
    if (p->kind != q->kind) {
        return (p->kind > q->kind) - (p->kind < q->kind);
    }
    int order = strcmp(p->id, q->id);
    order = order != 0 ? order : (x->folder > y->folder) - (x->folder < y->folder);
    order = order != 0 ? order : (x->near > y->near) - (x->near < y->near);
    return order != 0 ? order : (x->file > y->file) - (x->file < y->file);
}

/// May a file hold plugins of this kind? In a folder that a person named any may; those beside the library hold what
/// their names say.
static bool may_hold(const stn_plugin_folder *folder, const stn_plugin_file *file, stn_kind kind) {
    return kind == STN_KIND_COUNT || !folder->beside_library || file->kind == kind || file->kind == STN_KIND_COUNT;
}

/// The list of a kind (STN_KIND_COUNT: of all), sorted; the nearest one of each id. Earlier lists stay in the arena for
/// those who hold them.
static stn_status make_list(stn_registry *registry, stn_kind kind, stn_error *err) {
    stn_plugin_list *list = &registry->lists[kind];
    if (list->made) {
        return STN_OK;
    }
    int32_t most = 0; // plugins in files that may hold some of the kind, and registered ones
    for (const stn_plugin_folder *folder = registry->folders; folder != NULL; folder = folder->next) {
        for (int32_t i = folder->start; i < folder->start + folder->count; i++) {
            stn_plugin_file *file = &registry->files[i];
            stn_status status = may_hold(folder, file, kind) ? stn_registry_open_file(registry, file, err) : STN_OK;
            if (status != STN_OK) {
                return status;
            }
            most += file->library != NULL ? file->library->entry->count : 0;
        }
    }
    for (const stn_own_plugin *own = registry->own; own != NULL; own = own->next) {
        most++;
    }
    candidate *found = STN_ARENA(registry->arena, most, candidate);
    stn_plugin_info *plugins = STN_ARENA(registry->arena, most, stn_plugin_info);
    stn_plugin_info *hidden_ones = STN_ARENA(registry->arena, most, stn_plugin_info);
    if (most > 0 && (found == NULL || plugins == NULL || hidden_ones == NULL)) {
        return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
    }
    int32_t found_count = 0, count = 0, rank = 0, hidden_count = 0;
    for (const stn_own_plugin *own = registry->own; own != NULL; own = own->next) {
        if (kind == STN_KIND_COUNT || own->info.desc->kind == kind) {
            found[found_count++] = (candidate){&own->info, -1, 0, 0};
        }
    }
    for (const stn_plugin_folder *folder = registry->folders; folder != NULL; folder = folder->next, rank++) {
        for (int32_t i = folder->start; i < folder->start + folder->count; i++) {
            const stn_plugin_file *file = &registry->files[i];
            int32_t in_file = file->library != NULL && may_hold(folder, file, kind) ? file->library->entry->count : 0;
            for (int32_t k = 0; k < in_file; k++) {
                const stn_plugin_info *info = &file->library->infos[k];
                if (kind == STN_KIND_COUNT || info->desc->kind == kind) {
                    found[found_count++] = (candidate){info, rank, nearness(file, info->desc->kind, info->desc->id), i};
                }
            }
        }
    }
    if (found_count > 0) {
        qsort(found, (size_t)found_count, sizeof *found, compare_candidates);
    }
    for (int32_t i = 0; i < found_count; i++) {
        const stn_plugin_info *info = found[i].info, *before = count > 0 ? &plugins[count - 1] : NULL;
        bool hidden =
            before != NULL && before->desc->kind == info->desc->kind && strcmp(before->desc->id, info->desc->id) == 0;
        if (!hidden) {
            plugins[count++] = *info;
        } else if (info->desc != before->desc) {
            hidden_ones[hidden_count++] = *info;
        }
    }
    if (kind == STN_KIND_COUNT) {
        registry->hidden_list = hidden_ones;
        registry->hidden_count = hidden_count;
    }
    *list = (stn_plugin_list){plugins, count, true};
    return STN_OK;
}

/// The list of all, and the lines about folders and files that were refused.
static stn_status list_all(stn_registry *registry, stn_error *err) {
    stn_status status = make_list(registry, STN_KIND_COUNT, err);
    if (status != STN_OK || registry->problem_list != NULL) {
        return status;
    }
    int32_t most = registry->file_count, count = 0;
    for (const stn_plugin_folder *folder = registry->folders; folder != NULL; folder = folder->next) {
        most++;
    }
    const char **lines = STN_ARENA(registry->arena, most, const char *);
    if (most > 0 && lines == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
    }
    for (const stn_plugin_folder *folder = registry->folders; folder != NULL; folder = folder->next) {
        if (folder->problem != NULL) {
            lines[count++] = folder->problem;
        }
        for (int32_t i = folder->start; i < folder->start + folder->count; i++) {
            if (registry->files[i].problem != NULL) {
                lines[count++] = registry->files[i].problem;
            }
        }
    }
    registry->problem_list = lines;
    registry->problem_count = count;
    return STN_OK;
}

stn_status stn_plugins(stn_context *context, const stn_plugin_info **plugins, int32_t *count,
                       const char *const **problems, int32_t *problem_count, stn_error *err) {
    *plugins = NULL;
    *count = 0;
    pthread_mutex_lock(&context->registry_mutex);
    stn_registry *registry = NULL;
    stn_status status = searched_registry(context, &registry, err);
    if (status == STN_OK) {
        status = list_all(registry, err);
    }
    if (status == STN_OK) {
        *plugins = registry->lists[STN_KIND_COUNT].plugins;
        *count = registry->lists[STN_KIND_COUNT].count;
    }
    if (status == STN_OK && problems != NULL) {
        *problems = registry->problem_list;
    }
    if (status == STN_OK && problem_count != NULL) {
        *problem_count = registry->problem_count;
    }
    pthread_mutex_unlock(&context->registry_mutex);
    return status;
}

stn_status stn_plugins_hidden(stn_context *context, const stn_plugin_info **plugins, int32_t *count, stn_error *err) {
    *plugins = NULL;
    *count = 0;
    pthread_mutex_lock(&context->registry_mutex);
    stn_registry *registry = NULL;
    stn_status status = searched_registry(context, &registry, err);
    if (status == STN_OK) {
        status = list_all(registry, err);
    }
    if (status == STN_OK) {
        *plugins = registry->hidden_list;
        *count = registry->hidden_count;
    }
    pthread_mutex_unlock(&context->registry_mutex);
    return status;
}

/// A file that was refused, once.
static void warn_of_refused(stn_registry *registry, stn_plugin_file *file, const char *instead) {
    if (file->problem != NULL && !file->told) {
        file->told = true;
        stn_log(registry->context, STN_LOG_WARNING, "%s%s", file->problem, instead);
    }
}

stn_status stn_plugins_of_kind(stn_context *context, stn_kind kind, const stn_plugin_info **plugins, int32_t *count,
                               stn_error *err) {
    *plugins = NULL;
    *count = 0;
    if (stn_kind_name(kind) == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "plugins: kind %d does not exist", (int)kind);
    }
    pthread_mutex_lock(&context->registry_mutex);
    stn_registry *registry = NULL;
    stn_status status = searched_registry(context, &registry, err);
    if (status == STN_OK) {
        status = make_list(registry, kind, err);
    }
    if (status == STN_OK) {
        *plugins = registry->lists[kind].plugins;
        *count = registry->lists[kind].count;
    }
    for (int32_t i = 0; status == STN_OK && i < registry->file_count; i++) {
        if (registry->files[i].kind == kind) {
            warn_of_refused(registry, &registry->files[i], "");
        }
    }
    pthread_mutex_unlock(&context->registry_mutex);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------- ids

static stn_status unknown_id(const stn_registry *registry, stn_kind kind, const char *id, stn_error *err) {
    // The line about a refused file named <kind>_<id>.so explains better than "unknown".
    char name[256];
    snprintf(name, sizeof name, "/%s_%.100s.so: ", stn_kind_name(kind), id);
    for (int32_t i = 0; i < registry->problem_count; i++) {
        if (strstr(registry->problem_list[i], name) != NULL) {
            return stn_fail(err, STN_ERR_PLUGIN, "%s %s: %s", stn_kind_name(kind), id, registry->problem_list[i]);
        }
    }
    const char *ids[IDS_SHOWN] = {NULL};
    char list[700] = "";
    int32_t count = 0;
    const stn_plugin_list *all = &registry->lists[STN_KIND_COUNT];
    for (int32_t i = 0; i < all->count && count < IDS_SHOWN; i++) {
        if (all->plugins[i].desc->kind == kind) {
            stn_text_append(list, sizeof list, "%s%s", count > 0 ? ", " : "", all->plugins[i].desc->id);
            ids[count++] = all->plugins[i].desc->id;
        }
    }
    if (count == 0) {
        return stn_fail(err, STN_ERR_PLUGIN, "unknown %s %s; no %s is installed, see 'stiction plugins'",
                        stn_kind_name(kind), id, stn_kind_name(kind));
    }
    const char *near = stn_suggest(id, ids, count);
    char elsewhere[160];
    for (int32_t i = 0; i < all->count && near != elsewhere; i++) { // the id of another kind
        if (strcmp(all->plugins[i].desc->id, id) == 0) {
            snprintf(elsewhere, sizeof elsewhere, "%s %s", stn_kind_name(all->plugins[i].desc->kind), id);
            near = elsewhere;
        }
    }
    const char *hint = registry->problem_count > 0 ? "; files or folders were refused, see 'stiction plugins'"
                       : near == NULL              ? "; others are found by STICTION_PLUGIN_PATH"
                                                   : "";
    return stn_fail(err, STN_ERR_PLUGIN, "unknown %s %s;%s%s%s there %s %s%s", stn_kind_name(kind), id,
                    near != NULL ? " did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "",
                    count == 1 ? "is" : "are", list, hint);
}

/// The files <kind>_<id>.so that were refused, when the plugin is taken from `found`.
static void warn_of_replaced(stn_registry *registry, const stn_plugin_info *found) {
    const stn_kind kind = found->desc->kind;
    for (int32_t i = 0; i < registry->file_count; i++) {
        if (nearness(&registry->files[i], kind, found->desc->id) == NAMED_SO) {
            char instead[1024];
            snprintf(instead, sizeof instead, "; %s %s is that of %s", stn_kind_name(kind), found->desc->id,
                     found->file);
            warn_of_refused(registry, &registry->files[i], instead);
        }
    }
}

static stn_status find_by_id(stn_registry *registry, stn_kind kind, const char *id, const stn_plugin_info **out,
                             stn_error *err) {
    *out = lookup_own(registry, kind, id);
    if (*out != NULL) {
        return STN_OK;
    }
    // Opens one file after the other until one holds the plugin: folder by folder, in each the nearest name first.
    // Files that are named for the plugin and were refused on the way are told: another one takes their place.
    for (const stn_plugin_folder *folder = registry->folders; folder != NULL; folder = folder->next) {
        for (int near = 0; near < NEARNESS_COUNT; near++) {
            for (int32_t i = folder->start; i < folder->start + folder->count; i++) {
                stn_plugin_file *file = &registry->files[i];
                if (nearness(file, kind, id) != near) {
                    continue;
                }
                stn_status status = stn_registry_open_file(registry, file, err);
                *out = status == STN_OK ? stn_library_plugin(file->library, kind, id) : NULL;
                if (*out != NULL) {
                    warn_of_replaced(registry, *out);
                }
                if (status == STN_OK && *out != NULL && !folder->beside_library) {
                    return warn_of_hidden(registry, *out, err);
                }
                if (status != STN_OK || *out != NULL) {
                    return status;
                }
            }
        }
    }
    for (const stn_named_library *named = registry->named; named != NULL && *out == NULL; named = named->next) {
        *out = stn_library_plugin(named->library, kind, id); // that stn_plugin_load brought
    }
    if (*out != NULL) {
        warn_of_replaced(registry, *out);
        return STN_OK;
    }
    stn_status status = list_all(registry, err);
    return status == STN_OK ? unknown_id(registry, kind, id, err) : status;
}

stn_status stn_plugin_find(stn_context *context, stn_kind kind, const char *id, const stn_plugin_info **out,
                           stn_error *err) {
    *out = NULL;
    if (stn_kind_name(kind) == NULL || id == NULL || id[0] == '\0') {
        return stn_fail(err, STN_ERR_ARGUMENT, "plugin: kind and id must be given");
    }
    pthread_mutex_lock(&context->registry_mutex);
    stn_registry *registry = NULL;
    stn_status status = searched_registry(context, &registry, err);
    if (status == STN_OK) {
        status = strchr(id, '/') != NULL ? stn_registry_find_file(registry, kind, id, out, err)
                                         : find_by_id(registry, kind, id, out, err);
    }
    pthread_mutex_unlock(&context->registry_mutex);
    return status;
}

static stn_status add_own(stn_context *context, const stn_plugin_desc *desc, stn_error *err) {
    stn_registry *registry = NULL;
    stn_status status = stn_registry_open(context, &registry, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_plugin_info *before = lookup_own(registry, desc->kind, desc->id);
    for (int32_t i = 0; i < registry->file_count && before == NULL; i++) {
        before = stn_library_plugin(registry->files[i].library, desc->kind, desc->id);
    }
    if (before != NULL) {
        return stn_fail(err, STN_ERR_PLUGIN, "%s %s is there already, from %s; give it another id",
                        stn_kind_name(desc->kind), desc->id, before->file);
    }
    stn_own_plugin *own = STN_ARENA(registry->arena, 1, stn_own_plugin);
    if (own == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
    }
    *own = (stn_own_plugin){{desc, "built in", STN_ABI_MAJOR, STN_ABI_MINOR}, registry->own};
    registry->own = own;
    registry->lists[desc->kind].made = registry->lists[STN_KIND_COUNT].made = false;
    return STN_OK;
}

stn_status stn_plugin_register(stn_context *context, const stn_plugin_desc *desc, stn_error *err) {
    stn_status status = stn_plugin_check(desc, err);
    if (status == STN_OK) {
        pthread_mutex_lock(&context->registry_mutex);
        status = add_own(context, desc, err);
        pthread_mutex_unlock(&context->registry_mutex);
    }
    return status;
}
