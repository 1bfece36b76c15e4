// SPDX-License-Identifier: Apache-2.0
// Meshes in the context, by key, with the folder behind them. The cache holds one reference to each mesh; those that
// nobody else holds any more stay as long as they are small enough together, the last used ones longest.
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/below.h"
#include "base/context.h"
#include "mesh_files/cache.h"

enum { IDLE_BYTES_MAX = 256 << 20 }; // of meshes that only the cache holds

typedef struct cached_mesh {
    mesh_key key;
    const stn_mesh *mesh;
    mesh_further_list further;
    uint64_t used; // by the clock of the cache: how long ago
    struct cached_mesh *next;
} cached_mesh;

typedef struct mesh_cache {
    stn_context_part part;
    pthread_mutex_t mutex;  // entries, clock
    pthread_mutex_t writer; // store
    cached_mesh *entries;
    uint64_t clock;
    mesh_store store;
} mesh_cache;

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

/// Are all further files as they were when the mesh was made?
static bool further_agree(const mesh_further_list *list, const mesh_place *place) {
    for (int32_t i = 0; i < list->count; i++) {
        const mesh_further *f = &list->files[i];
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
    if (before != NULL && further->count == 0) {
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
