// SPDX-License-Identifier: Apache-2.0
// Which plugins there are. Found at the first question, kept with the context.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/text.h"
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

stn_status stn_registry_add(stn_registry *registry, const stn_plugin_info *info, bool by_path, stn_error *err) {
    stn_plugin_node *node = STN_ARENA(registry->arena, 1, stn_plugin_node);
    if (node == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
    }
    *node = (stn_plugin_node){*info, by_path, registry->nodes};
    registry->nodes = node;
    registry->listed = false;
    return STN_OK;
}

stn_status stn_registry_add_problem(stn_registry *registry, const char *file, const char *text, stn_error *err) {
    stn_problem_line *line = STN_ARENA(registry->arena, 1, stn_problem_line);
    const char *copy = stn_registry_text(registry, "%s: %s", file, text);
    if (line == NULL || copy == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
    }
    *line = (stn_problem_line){copy, registry->problems};
    registry->problems = line;
    registry->listed = false;
    return STN_OK;
}

const stn_plugin_info *stn_registry_lookup(const stn_registry *registry, stn_kind kind, const char *id) {
    for (const stn_plugin_node *node = registry->nodes; node != NULL; node = node->next) {
        if (!node->by_path && node->info.desc->kind == kind && strcmp(node->info.desc->id, id) == 0) {
            return &node->info;
        }
    }
    return NULL;
}

/// One that stn_plugin_load brought and that has an id of its own, or NULL.
static const stn_plugin_info *named_by_path(const stn_registry *registry, stn_kind kind, const char *id) {
    for (const stn_plugin_node *node = registry->nodes; node != NULL; node = node->next) {
        if (node->by_path && node->info.desc->kind == kind && strcmp(node->info.desc->id, id) == 0) {
            return &node->info;
        }
    }
    return NULL;
}

static int compare_plugins(const void *a, const void *b) {
    const stn_plugin_desc *x = ((const stn_plugin_info *)a)->desc, *y = ((const stn_plugin_info *)b)->desc;
    return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind) : strcmp(x->id, y->id);
}

/// Writes the two lists anew; earlier ones stay in the arena for those who hold them.
static stn_status make_lists(stn_registry *registry, stn_error *err) {
    int32_t count = 0, problem_count = 0;
    for (const stn_plugin_node *node = registry->nodes; node != NULL; node = node->next) {
        count += !node->by_path;
    }
    for (const stn_problem_line *line = registry->problems; line != NULL; line = line->next) {
        problem_count++;
    }
    stn_plugin_info *list = STN_ARENA(registry->arena, count, stn_plugin_info);
    const char **problems = STN_ARENA(registry->arena, problem_count, const char *);
    if (list == NULL || problems == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "plugins: out of memory");
    }
    int32_t i = 0;
    for (const stn_plugin_node *node = registry->nodes; node != NULL; node = node->next) {
        if (!node->by_path) {
            list[i++] = node->info;
        }
    }
    qsort(list, (size_t)count, sizeof *list, compare_plugins);
    i = problem_count;
    for (const stn_problem_line *line = registry->problems; line != NULL; line = line->next) {
        problems[--i] = line->text; // newest first in the chain
    }
    registry->list = list;
    registry->list_count = count;
    registry->problem_list = problems;
    registry->problem_count = problem_count;
    registry->listed = true;
    return STN_OK;
}

stn_status stn_plugins(stn_context *context, const stn_plugin_info **plugins, int32_t *count,
                       const char *const **problems, int32_t *problem_count, stn_error *err) {
    *plugins = NULL;
    *count = 0;
    pthread_mutex_lock(&context->registry_mutex);
    stn_registry *registry = NULL;
    stn_status status = searched_registry(context, &registry, err);
    if (status == STN_OK && !registry->listed) {
        status = make_lists(registry, err);
    }
    if (status == STN_OK) {
        *plugins = registry->list;
        *count = registry->list_count;
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

/// The line about a refused file named <kind>_<id>.so, which explains better than "unknown"; NULL without.
static const char *find_refusal(const stn_registry *registry, stn_kind kind, const char *id) {
    char name[256];
    snprintf(name, sizeof name, "/%s_%.100s.so: ", stn_kind_name(kind), id);
    for (const stn_problem_line *line = registry->problems; line != NULL; line = line->next) {
        if (strstr(line->text, name) != NULL) {
            return line->text;
        }
    }
    return NULL;
}

static stn_status unknown_id(const stn_registry *registry, stn_kind kind, const char *id, stn_error *err) {
    const char *refusal = find_refusal(registry, kind, id);
    if (refusal != NULL) {
        return stn_fail(err, STN_ERR_PLUGIN, "%s %s: %s", stn_kind_name(kind), id, refusal);
    }
    const char *ids[IDS_SHOWN] = {NULL};
    char list[700] = "";
    int32_t count = 0;
    for (int32_t i = 0; i < registry->list_count && count < IDS_SHOWN; i++) {
        if (registry->list[i].desc->kind == kind) {
            stn_text_append(list, sizeof list, "%s%s", count > 0 ? ", " : "", registry->list[i].desc->id);
            ids[count++] = registry->list[i].desc->id;
        }
    }
    if (count == 0) {
        return stn_fail(err, STN_ERR_PLUGIN, "unknown %s %s; no %s is installed, see 'stiction plugins'",
                        stn_kind_name(kind), id, stn_kind_name(kind));
    }
    const char *near = stn_suggest(id, ids, count);
    const char *hint = registry->problems != NULL ? "; files or folders were refused, see 'stiction plugins'"
                       : near == NULL             ? "; others are found by STICTION_PLUGIN_PATH"
                                                  : "";
    return stn_fail(err, STN_ERR_PLUGIN, "unknown %s %s;%s%s%s there %s %s%s", stn_kind_name(kind), id,
                    near != NULL ? " did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "",
                    count == 1 ? "is" : "are", list, hint);
}

static stn_status find_by_id(stn_registry *registry, stn_kind kind, const char *id, const stn_plugin_info **out,
                             stn_error *err) {
    *out = stn_registry_lookup(registry, kind, id);
    if (*out == NULL) {
        *out = named_by_path(registry, kind, id);
    }
    if (*out == NULL) {
        stn_status status = registry->listed ? STN_OK : make_lists(registry, err);
        return status == STN_OK ? unknown_id(registry, kind, id, err) : status;
    }
    return STN_OK;
}

stn_status stn_plugin_find(stn_context *context, stn_kind kind, const char *id, const stn_plugin_info **out,
                           stn_error *err) {
    *out = NULL;
    if (stn_kind_name(kind) == NULL || id == NULL || id[0] == '\0') {
        return stn_fail(err, STN_ERR_ARGUMENT, "plugin: kind and id must be given");
    }
    pthread_mutex_lock(&context->registry_mutex);
    stn_registry *registry = NULL;
    stn_status status = STN_OK;
    if (strchr(id, '/') != NULL) {
        status = stn_registry_open(context, &registry, err);
        status = status == STN_OK ? stn_registry_find_file(registry, kind, id, out, err) : status;
    } else {
        status = searched_registry(context, &registry, err);
        status = status == STN_OK ? find_by_id(registry, kind, id, out, err) : status;
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
    const stn_plugin_info *before = stn_registry_lookup(registry, desc->kind, desc->id);
    if (before != NULL) {
        return stn_fail(err, STN_ERR_PLUGIN, "%s %s is there already, from %s; give it another id",
                        stn_kind_name(desc->kind), desc->id, before->file);
    }
    stn_plugin_info info = {desc, "built in", STN_ABI_MAJOR, STN_ABI_MINOR};
    return stn_registry_add(registry, &info, false, err);
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
