// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_CONTEXT_H
#define STICTION_CORE_BASE_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include <stiction/context.h>

#include "base/shared.h"

/// What is worth saying once, however many worlds it is true of.
enum { STN_SAID_RESTITUTION = 1, STN_SAID_HOP = 1 << 8 };
/// Has nobody asked with this bit before? Thread: [any].
bool stn_context_first_time(stn_context *context, unsigned said);

/// stn_allocate of so many bytes, of any content: for large pieces that are used bit by bit.
void *stn_context_allocate_raw(stn_context *context, size_t bytes);

/// Does it take memory from malloc, and arenas large pieces from the system, which it counts?
bool stn_context_has_malloc(const stn_context *context);
void stn_context_count_allocation(stn_context *context);

/// What an arena holds, in use or not [bytes].
size_t arena_bytes(const stn_arena *arena);

/// What a context holds. The registry belongs to core/plugin, which fills it at the first question and sets how it is
/// released, so that base need not know it.
struct stn_context {
    stn_context_options options;
    char *plugin_path;
    atomic_llong allocations;
    atomic_uint said;
    pthread_mutex_t registry_mutex; // guards the registry, and that it is made once
    void *registry;
    void (*release_registry)(stn_context *context, void *registry);
    shared_store shared;
};

#endif
