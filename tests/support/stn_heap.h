// SPDX-License-Identifier: Apache-2.0
// An allocator for tests: counts what is alive, in blocks and bytes, and fails the n-th request.
// Use: stn_heap_arm(&heap, n); call; a failed call must leave heap.live as it was. Repeat with n + 1 until the call
// succeeds.
#ifndef STN_HEAP_H
#define STN_HEAP_H

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <stiction/context.h>

typedef struct stn_heap {
    atomic_llong requests, live;
    atomic_llong bytes; // of what is alive, as much as malloc gave: a few more than were asked for
    long long fail_at;  // 1 is the first request; 0: never
} stn_heap;

static inline void *stn_heap_allocate(void *user, size_t size) {
    stn_heap *heap = (stn_heap *)user;
    long long request = atomic_fetch_add(&heap->requests, 1) + 1;
    void *memory = request == heap->fail_at ? NULL : malloc(size);
    if (memory != NULL) {
        atomic_fetch_add(&heap->live, 1);
        atomic_fetch_add(&heap->bytes, (long long)malloc_usable_size(memory));
    }
    return memory;
}

static inline void stn_heap_release(void *user, void *memory) {
    stn_heap *heap = (stn_heap *)user;
    if (memory != NULL) {
        atomic_fetch_sub(&heap->live, 1);
        atomic_fetch_sub(&heap->bytes, (long long)malloc_usable_size(memory));
    }
    free(memory);
}

/// Options of a context that lives on `heap`.
static inline stn_context_options stn_heap_options(stn_heap *heap) {
    stn_context_options options = {0};
    options.allocate = stn_heap_allocate;
    options.release = stn_heap_release;
    options.allocator_user = heap;
    return options;
}

/// A context that lives on `heap`, which nothing fails yet.
static inline stn_context *stn_heap_context(stn_heap *heap) {
    stn_context_options options = stn_heap_options(heap);
    stn_context *context = NULL;
    stn_error err;
    if (stn_context_create(&options, &context, &err) != STN_OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    return context;
}

/// Starts counting anew and fails the n-th request from here on.
static inline void stn_heap_arm(stn_heap *heap, long long fail_at) {
    atomic_store(&heap->requests, 0);
    heap->fail_at = fail_at;
}

#endif
