// SPDX-License-Identifier: Apache-2.0
// Shared things of a context. The lock guards lists and counts alone; things are made and destroyed without it.
#include <string.h>

#include "base/context.h"

typedef struct shared_entry {
    stn_shared face; // first
    stn_status (*create)(stn_context *context, void *user, void **thing, size_t *bytes, stn_error *err);
    void (*destroy)(stn_context *context, void *thing);
    void *thing;
    size_t bytes; // with the entry's own; 0: it stays
    int64_t holders;
    uint64_t released; // by the store's clock, when the last holder went
    struct shared_entry *next_in_chain, *older, *newer;
    size_t key_size;
    unsigned char key[];
} shared_entry;

void shared_store_init(shared_store *store) {
    *store = (shared_store){0};
    pthread_mutex_init(&store->mutex, NULL);
}

static shared_entry **chain_of(shared_store *store, const void *key, size_t key_size) {
    return &store->chain[stn_hash(0, key, key_size) % SHARED_CHAINS];
}

static void link_out(shared_store *store, shared_entry *entry) {
    shared_entry **at = chain_of(store, entry->key, entry->key_size);
    while (*at != entry) {
        at = &(*at)->next_in_chain;
    }
    *at = entry->next_in_chain;
    if (entry->older != NULL) {
        entry->older->newer = entry->newer;
    }
    *(entry->newer != NULL ? &entry->newer->older : &store->newest) = entry->older;
}

static void destroy_entry(stn_context *context, shared_entry *entry) {
    entry->destroy(context, entry->thing);
    stn_release(context, entry);
}

void shared_store_clear(stn_context *context, shared_store *store) {
    while (store->newest != NULL) {
        shared_entry *entry = store->newest;
        link_out(store, entry);
        destroy_entry(context, entry);
    }
    pthread_mutex_destroy(&store->mutex);
}

/// One more holder of the thing of a key; NULL: there is none.
static shared_entry *hold_known(shared_store *store, const stn_shared_spec *spec) {
    shared_entry *entry = *chain_of(store, spec->key, spec->key_size);
    while (entry != NULL && !(entry->create == spec->create && entry->key_size == spec->key_size &&
                              memcmp(entry->key, spec->key, spec->key_size) == 0)) {
        entry = entry->next_in_chain;
    }
    if (entry != NULL && entry->holders++ == 0) {
        store->idle_bytes -= entry->bytes;
    }
    return entry;
}

/// An entry that is in no list, with its thing.
static stn_status create_entry(stn_context *context, const stn_shared_spec *spec, shared_entry **out, stn_error *err) {
    shared_entry *entry = stn_allocate(context, 1, sizeof *entry + spec->key_size);
    if (entry == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a shared thing");
    }
    entry->create = spec->create;
    entry->destroy = spec->destroy;
    entry->key_size = spec->key_size;
    memcpy(entry->key, spec->key, spec->key_size);
    stn_status status = spec->create(context, spec->user, &entry->thing, &entry->bytes, err);
    if (status != STN_OK) {
        stn_release(context, entry);
        return status;
    }
    entry->face.thing = entry->thing;
    entry->bytes += entry->bytes > 0 ? sizeof *entry + spec->key_size : 0;
    entry->holders = 1;
    *out = entry;
    return STN_OK;
}

stn_status stn_shared_hold(stn_context *context, const stn_shared_spec *spec, const stn_shared **out, stn_error *err) {
    shared_store *store = &context->shared;
    *out = NULL;
    pthread_mutex_lock(&store->mutex);
    shared_entry *known = hold_known(store, spec);
    pthread_mutex_unlock(&store->mutex);
    if (known == NULL) {
        shared_entry *made = NULL;
        stn_status status = create_entry(context, spec, &made, err);
        if (status != STN_OK) {
            return status;
        }
        pthread_mutex_lock(&store->mutex);
        known = hold_known(store, spec); // another thread may have been faster
        if (known == NULL) {
            shared_entry **chain = chain_of(store, made->key, made->key_size);
            made->next_in_chain = *chain;
            *chain = made;
            made->older = store->newest;
            if (store->newest != NULL) {
                store->newest->newer = made;
            }
            store->newest = made;
        }
        pthread_mutex_unlock(&store->mutex);
        if (known != NULL) {
            destroy_entry(context, made);
        } else {
            known = made;
        }
    }
    *out = &known->face;
    return STN_OK;
}

/// Takes the entry out that has been idle longest, if there is too much; NULL: there is not.
static shared_entry *take_idle(shared_store *store) {
    if (store->idle_bytes <= STN_SHARED_IDLE_BYTES) {
        return NULL;
    }
    shared_entry *first = NULL;
    for (shared_entry *entry = store->newest; entry != NULL; entry = entry->older) {
        if (entry->holders == 0 && entry->bytes > 0 && (first == NULL || entry->released < first->released)) {
            first = entry;
        }
    }
    store->idle_bytes -= first->bytes;
    link_out(store, first);
    return first;
}

void stn_shared_release(stn_context *context, const stn_shared *shared) {
    if (shared == NULL) {
        return;
    }
    shared_store *store = &context->shared;
    shared_entry *entry = (shared_entry *)(uintptr_t)shared;
    pthread_mutex_lock(&store->mutex);
    if (--entry->holders == 0) {
        entry->released = ++store->clock;
        store->idle_bytes += entry->bytes;
    }
    shared_entry *gone = take_idle(store);
    pthread_mutex_unlock(&store->mutex);
    while (gone != NULL) {
        destroy_entry(context, gone);
        pthread_mutex_lock(&store->mutex);
        gone = take_idle(store);
        pthread_mutex_unlock(&store->mutex);
    }
}
