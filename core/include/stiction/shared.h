// SPDX-License-Identifier: Apache-2.0
// What is dear to make, never changes, and is the same for several worlds of a context: made once, had in common.
#ifndef STICTION_SHARED_H
#define STICTION_SHARED_H

#include <stiction/context.h>

STN_BEGIN_C

/// A thing that the context keeps for all who hold it.
typedef struct stn_shared {
    const void *thing; // as `create` made it
} stn_shared;

/// What is wanted: a thing is known by who makes it and by its key. Borrowed for the call.
typedef struct stn_shared_spec {
    const void *key; // bytes that decide what is made, all of them: set padding to zero
    size_t key_size; // bytes, >= 0
    /// REQUIRED. Makes the thing of the key, `*bytes` of memory large; 0: the context keeps it to its end. Called with
    /// no lock held, so it may hold further shared things; two threads that want a new key at once both make it, and
    /// one is destroyed. What comes of a failure is not kept: the next who asks tries again.
    stn_status (*create)(stn_context *context, void *user, void **thing, size_t *bytes, stn_error *err);
    void *user; // of create alone: says nothing that the key does not
    /// REQUIRED. Called with no lock held, from any thread, by the context's destruction at the latest; may release
    /// what the thing holds.
    void (*destroy)(stn_context *context, void *thing);
} stn_shared_spec;

/// Bytes of things that nobody holds any more and that are kept for who may come. Beyond it the ones released first go.
#define STN_SHARED_IDLE_BYTES ((size_t)64 << 20)

/// The thing of a key, made when the context has none; held until stn_shared_release. Fails as `create` does, or with
/// STN_ERR_MEMORY. Thread: [any], never inside a step.
STN_API stn_status stn_shared_hold(stn_context *context, const stn_shared_spec *spec, const stn_shared **out,
                                   stn_error *err);
/// Accepts NULL. Everything is released before the context is destroyed. Thread: as above.
STN_API void stn_shared_release(stn_context *context, const stn_shared *shared);

STN_END_C
#endif
