// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_CONTEXT_H
#define STICTION_CORE_CONTEXT_H

#include <stdatomic.h>

#include <stiction/context.h>

/// What a context holds. The registry belongs to core/plugin, which fills it at the first question and sets how it is
/// released, so that base need not know it.
struct stn_context {
    stn_context_options options;
    char *plugin_path;
    atomic_llong allocations;
    void *registry;
    void (*release_registry)(stn_context *context, void *registry);
};

#endif
