// SPDX-License-Identifier: Apache-2.0
// Context: allocator, log.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/options.h"

static void *allocate_default(void *user, size_t size) {
    (void)user;
    return malloc(size);
}

/// The same for separate_arena_blocks.
static void *allocate_aligned(void *user, size_t size) {
    (void)user;
    void *memory = NULL;
    return posix_memalign(&memory, 64, size) == 0 ? memory : NULL;
}

static void release_default(void *user, void *memory) {
    (void)user;
    free(memory);
}

static void log_default(void *user, stn_log_level level, const char *text) {
    (void)user;
    if (level >= STN_LOG_WARNING) {
        fprintf(stderr, "%s: %s\n", level == STN_LOG_ERROR ? "error" : "warning", text);
    }
}

stn_status stn_context_create_sized(const stn_context_options *options, size_t size, stn_context **out,
                                    stn_error *err) {
    *out = NULL;
    stn_context_options o = {0};
    if (options != NULL && stn_options_take("context", &o, sizeof o, options, size, err) != STN_OK) {
        return STN_ERR_ARGUMENT;
    }
    if ((o.allocate == NULL) != (o.release == NULL)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "context: give both allocate and release, or neither");
    }
    if (o.allocate == NULL) {
        o.allocate = o.separate_arena_blocks ? allocate_aligned : allocate_default;
        o.release = release_default;
    }
    if (o.log == NULL) {
        o.log = log_default;
    }
    stn_context *context = o.allocate(o.allocator_user, sizeof *context);
    if (context == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "context: out of memory");
    }
    *context = (stn_context){.options = o};
    atomic_init(&context->allocations, 1);
    atomic_init(&context->said, 0);
    pthread_mutex_init(&context->registry_mutex, NULL);
    shared_store_init(&context->shared);
    if (o.plugin_path != NULL) {
        context->plugin_path = stn_duplicate_text(context, o.plugin_path);
        if (context->plugin_path == NULL) {
            stn_context_destroy(context);
            return stn_fail(err, STN_ERR_MEMORY, "context: out of memory");
        }
    }
    *out = context;
    return STN_OK;
}

void stn_context_destroy(stn_context *context) {
    if (context == NULL) {
        return;
    }
    shared_store_clear(context, &context->shared); // by code of plugins, which the registry knows
    if (context->registry != NULL) {
        context->release_registry(context, context->registry);
    }
    pthread_mutex_destroy(&context->registry_mutex);
    stn_release(context, context->plugin_path);
    context->options.release(context->options.allocator_user, context);
}

bool stn_context_has_malloc(const stn_context *context) {
    return context->options.allocate == allocate_default;
}

void stn_context_count_allocation(stn_context *context) {
    atomic_fetch_add_explicit(&context->allocations, 1, memory_order_relaxed);
}

void *stn_context_allocate_raw(stn_context *context, size_t bytes) {
    stn_context_count_allocation(context);
    return context->options.allocate(context->options.allocator_user, bytes > 0 ? bytes : 1);
}

void *stn_allocate(stn_context *context, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    size_t bytes = count * size;
    void *memory = stn_context_allocate_raw(context, bytes);
    if (memory != NULL) {
        memset(memory, 0, bytes);
    }
    return memory;
}

void *stn_reallocate(stn_context *context, void *memory, size_t old_count, size_t count, size_t size) {
    void *grown = stn_allocate(context, count, size);
    if (grown != NULL && memory != NULL) {
        memcpy(grown, memory, (old_count < count ? old_count : count) * size);
        stn_release(context, memory);
    }
    return grown;
}

void stn_release(stn_context *context, void *memory) {
    if (memory != NULL) {
        context->options.release(context->options.allocator_user, memory);
    }
}

char *stn_duplicate_text(stn_context *context, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = stn_allocate(context, size, 1);
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}

int64_t stn_context_allocations(const stn_context *context) {
    return (int64_t)atomic_load_explicit(&((stn_context *)(uintptr_t)context)->allocations, memory_order_relaxed);
}

bool stn_context_first_time(stn_context *context, unsigned said) {
    return (atomic_fetch_or(&context->said, said) & said) == 0;
}

void stn_log(stn_context *context, stn_log_level level, const char *format, ...) {
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    // Messages hold names out of files, whose control characters would steer the terminal that shows them: those of one
    // byte, and U+0080 to U+009F.
    for (unsigned char *at = (unsigned char *)text; *at != '\0'; at++) {
        if ((at[0] < 0x20 && at[0] != '\t' && at[0] != '\n') || at[0] == 0x7f) {
            at[0] = '?';
        } else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0) {
            at[0] = at[1] = '?';
        }
    }
    context->options.log(context->options.log_user, level, text);
}
