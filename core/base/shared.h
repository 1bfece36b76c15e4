// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_SHARED_H
#define STICTION_CORE_BASE_SHARED_H

#include <pthread.h>

#include <stiction/shared.h>

enum { SHARED_CHAINS = 256 };

/// The shared things of a context: chains by hash, for finding, and all of them by age, for the end.
typedef struct shared_store {
    pthread_mutex_t mutex;
    struct shared_entry *chain[SHARED_CHAINS];
    struct shared_entry *newest;
    size_t idle_bytes; // of entries without a holder
    uint64_t clock;    // counts releases
} shared_store;

void shared_store_init(shared_store *store);
/// Destroys all that is left, the newest first: what a thing holds is older than the thing.
void shared_store_clear(stn_context *context, shared_store *store);

#endif
