// SPDX-License-Identifier: Apache-2.0
// Meshes in the context, by key, with the folder behind them. The cache holds one reference to each mesh; those that
// nobody else holds any more stay as long as they are small enough together, the last used ones longest.
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include <stiction/input.h>
#include <stiction/worker.h>

#include "base/code_hash.h"
#include "base/context.h"
#include "geometry/mesh_cache.h"

enum { IDLE_BYTES_MAX = 256 << 20 }; // of meshes that only the cache holds

typedef struct cached_mesh {
    mesh_key key;
    const stn_mesh *mesh;
    mesh_further_list further;
    uint64_t used; // by the clock of the cache: how long ago
    struct cached_mesh *next;
} cached_mesh;

/// A plugin that was asked for before.
typedef struct known_plugin {
    const stn_plugin_desc *desc;
    uint64_t hash;
    struct known_plugin *next;
} known_plugin;

typedef struct mesh_cache {
    stn_context_part part;
    pthread_mutex_t mutex;  // entries, plugins, clock
    pthread_mutex_t writer; // store
    cached_mesh *entries;
    known_plugin *plugins;
    uint64_t clock;
    mesh_store store;
} mesh_cache;

void mesh_further_clear(mesh_further_list *list) {
    for (int32_t i = 0; i < list->count; i++) {
        stn_release(list->context, list->files[i].name);
    }
    if (list->files != NULL) {
        stn_release(list->context, list->files);
    }
    *list = (mesh_further_list){0};
}

stn_status mesh_further_add(mesh_further_list *list, const char *name, size_t length, const uint64_t hash[2],
                            uint64_t size, stn_error *err) {
    if (length == 0 || length >= STN_MESH_PATH_MAX || name[0] == '/' || memchr(name, '\0', length) != NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "a further file has a bad name of %zu bytes", length);
    }
    if (list->count == STN_MESH_FURTHER_MAX) {
        return stn_fail(err, STN_ERR_ARGUMENT, "more than %d further files", STN_MESH_FURTHER_MAX);
    }
    if (list->files == NULL) {
        list->files = stn_allocate(list->context, STN_MESH_FURTHER_MAX, sizeof *list->files);
    }
    char *copy = list->files != NULL ? stn_allocate(list->context, length + 1, 1) : NULL;
    if (copy == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    memcpy(copy, name, length);
    list->files[list->count++] = (stn_mesh_further){copy, {hash[0], hash[1]}, size};
    return STN_OK;
}

static void release_entry(stn_context *context, cached_mesh *entry) {
    mesh_further_clear(&entry->further);
    stn_mesh_release(entry->mesh);
    stn_release(context, entry);
}

static void release_cache(stn_context *context, stn_context_part *part) {
    mesh_cache *cache = (mesh_cache *)(void *)part;
    while (cache->entries != NULL) {
        cached_mesh *entry = cache->entries;
        cache->entries = entry->next;
        release_entry(context, entry);
    }
    while (cache->plugins != NULL) {
        known_plugin *plugin = cache->plugins;
        cache->plugins = plugin->next;
        stn_release(context, plugin);
    }
    pthread_mutex_destroy(&cache->mutex);
    pthread_mutex_destroy(&cache->writer);
    stn_release(context, cache);
}

/// The cache of the context, made at the first question; NULL when out of memory.
static mesh_cache *open_cache(stn_context *context) {
    stn_context_part *part = atomic_load(&context->mesh_cache);
    if (part == NULL) {
        mesh_cache *cache = stn_allocate(context, 1, sizeof *cache);
        if (cache == NULL) {
            return NULL;
        }
        cache->part.release = release_cache;
        pthread_mutex_init(&cache->mutex, NULL);
        pthread_mutex_init(&cache->writer, NULL);
        mesh_store_init(&cache->store);
        if (atomic_compare_exchange_strong(&context->mesh_cache, &part, &cache->part)) {
            return cache;
        }
        release_cache(context, &cache->part); // another thread was faster
    }
    return (mesh_cache *)(void *)part;
}

static bool hash_file(int file, size_t size, uint64_t hash[2]) {
    XXH3_state_t *state = XXH3_createState();
    char bytes[1 << 14];
    bool good = state != NULL && XXH3_128bits_reset(state) == XXH_OK;
    while (good && size > 0) {
        ssize_t n = read(file, bytes, size < sizeof bytes ? size : sizeof bytes);
        if (n > 0) {
            XXH3_128bits_update(state, bytes, (size_t)n);
            size -= (size_t)n;
        } else {
            good = n < 0 && errno == EINTR;
        }
    }
    if (good) {
        XXH128_hash_t sum = XXH3_128bits_digest(state);
        hash[0] = sum.low64;
        hash[1] = sum.high64;
    }
    XXH3_freeState(state);
    return good;
}

static uint64_t hash_text(uint64_t hash, const char *text) {
    return text != NULL ? stn_hash(hash, text, strlen(text) + 1) : stn_hash(hash, "", 1);
}

/// The code in memory and the file: where a file was replaced under a running program, no other process has both.
static uint64_t hash_plugin(const stn_plugin_info *plugin) {
    const stn_mesh_ops *ops = plugin->desc->ops.mesh;
    uint64_t code = stn_code_hash(plugin->desc), content[2] = {0, 0};
    size_t size = 0;
    int file = stn_open_regular(plugin->file, 0, &size);
    if (file >= 0) {
        hash_file(file, size, content);
        close(file);
    }
    uint64_t hash = hash_text(hash_text(0, plugin->desc->id), plugin->desc->version);
    hash = hash_text(hash, STN_PLUGIN_HAS(ops, build) ? ops->build : NULL);
    hash = stn_hash(hash, &code, sizeof code);
    return stn_hash(hash, content, sizeof content);
}

uint64_t mesh_plugin_hash(stn_context *context, const stn_plugin_info *plugin) {
    mesh_cache *cache = open_cache(context);
    if (cache == NULL) {
        return hash_plugin(plugin);
    }
    pthread_mutex_lock(&cache->mutex);
    known_plugin *known = cache->plugins;
    while (known != NULL && known->desc != plugin->desc) {
        known = known->next;
    }
    if (known == NULL) {
        known = stn_allocate(context, 1, sizeof *known);
        if (known != NULL) {
            *known = (known_plugin){plugin->desc, hash_plugin(plugin), cache->plugins};
            cache->plugins = known;
        }
    }
    uint64_t hash = known != NULL ? known->hash : hash_plugin(plugin);
    pthread_mutex_unlock(&cache->mutex);
    return hash;
}

/// Are all further files as they were when the mesh was made?
static bool further_agree(const mesh_further_list *list, const mesh_place *place) {
    for (int32_t i = 0; i < list->count; i++) {
        const stn_mesh_further *f = &list->files[i];
        size_t size = 0;
        uint64_t hash[2] = {0, 0};
        int file = stn_open_below(place->root, place->folder, f->name, &size);
        if (file < 0) {
            return false;
        }
        bool same = size == f->size && hash_file(file, size, hash) && hash[0] == f->hash[0] && hash[1] == f->hash[1];
        close(file);
        if (!same) {
            return false;
        }
    }
    return true;
}

static bool is_idle(const cached_mesh *entry) {
    const mesh_object *object = (const mesh_object *)(const void *)entry->mesh;
    return atomic_load(&object->references) == 1;
}

/// Drops the longest unused of the meshes that nobody holds until the rest is small enough.
static void drop_idle(stn_context *context, mesh_cache *cache) {
    for (;;) {
        size_t idle = 0;
        cached_mesh **oldest = NULL;
        for (cached_mesh **at = &cache->entries; *at != NULL; at = &(*at)->next) {
            if (is_idle(*at)) {
                idle += mesh_bytes((*at)->mesh);
                oldest = oldest == NULL || (*at)->used < (*oldest)->used ? at : oldest;
            }
        }
        if (idle <= IDLE_BYTES_MAX) {
            return;
        }
        cached_mesh *entry = *oldest;
        *oldest = entry->next;
        release_entry(context, entry);
    }
}

static cached_mesh **find_entry(mesh_cache *cache, const mesh_key *key) {
    cached_mesh **at = &cache->entries;
    while (*at != NULL && memcmp(&(*at)->key, key, sizeof *key) != 0) {
        at = &(*at)->next;
    }
    return at;
}

/// Puts a mesh into the context. Both the entry and the caller hold it.
static const stn_mesh *insert(stn_context *context, mesh_cache *cache, const mesh_key *key, const stn_mesh *mesh,
                              mesh_further_list *further) {
    cached_mesh *entry = stn_allocate(context, 1, sizeof *entry);
    if (entry == NULL) {
        mesh_further_clear(further);
        return mesh;
    }
    pthread_mutex_lock(&cache->mutex);
    cached_mesh **at = find_entry(cache, key);
    cached_mesh *before = *at;
    if (before != NULL && further->count == 0 && before->further.count == 0) {
        // two threads made the same mesh: the first is the one that is shared
        const stn_mesh *first = stn_mesh_keep(before->mesh);
        pthread_mutex_unlock(&cache->mutex);
        stn_release(context, entry);
        stn_mesh_release(mesh);
        return first;
    }
    *entry = (cached_mesh){*key, stn_mesh_keep(mesh), *further, ++cache->clock, cache->entries};
    *further = (mesh_further_list){0};
    if (before != NULL) { // of further files that have changed
        *at = before->next;
        entry->next = cache->entries;
    }
    cache->entries = entry;
    drop_idle(context, cache);
    pthread_mutex_unlock(&cache->mutex);
    if (before != NULL) {
        release_entry(context, before);
    }
    return mesh;
}

static const stn_mesh *find_in_context(mesh_cache *cache, const mesh_key *key, const mesh_place *place) {
    pthread_mutex_lock(&cache->mutex);
    cached_mesh *entry = *find_entry(cache, key);
    const stn_mesh *found = NULL;
    if (entry != NULL && further_agree(&entry->further, place)) {
        entry->used = ++cache->clock;
        found = stn_mesh_keep(entry->mesh);
    }
    pthread_mutex_unlock(&cache->mutex);
    return found;
}

const stn_mesh *mesh_cache_find(stn_context *context, const mesh_key *key, const mesh_place *place) {
    mesh_cache *cache = open_cache(context);
    const stn_mesh *found = cache != NULL ? find_in_context(cache, key, place) : NULL;
    if (cache == NULL || found != NULL) {
        return found;
    }
    stn_mesh *stored = NULL;
    mesh_further_list further = {0};
    stn_error why = {STN_OK, ""};
    stn_status status = mesh_store_read(&cache->store, context, key, &stored, &further, &why);
    if (status != STN_OK) {
        if (status != STN_ERR_FILE) {
            stn_log(context, STN_LOG_DEBUG, "mesh cache: %s", why.text);
        }
        return NULL;
    }
    if (!further_agree(&further, place)) {
        mesh_further_clear(&further);
        stn_mesh_release(stored);
        return NULL;
    }
    return insert(context, cache, key, stored, &further);
}

const stn_mesh *mesh_cache_add(stn_context *context, const mesh_key *key, const stn_mesh *mesh,
                               mesh_further_list *further) {
    mesh_cache *cache = open_cache(context);
    if (cache == NULL) {
        mesh_further_clear(further);
        return mesh;
    }
    pthread_mutex_lock(&cache->writer);
    mesh_store_write(&cache->store, context, key, mesh, further);
    pthread_mutex_unlock(&cache->writer);
    return insert(context, cache, key, mesh, further);
}
