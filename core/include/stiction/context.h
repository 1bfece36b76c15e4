// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CONTEXT_H
#define STICTION_CONTEXT_H

#include <stiction/base.h>

STN_BEGIN_C

/// Everything that would otherwise be global: allocator, log, plugin registry. The library keeps no mutable
/// global, so a process may hold several contexts. A context outlives all that was made from it.
typedef struct stn_context stn_context;

/// How much a message matters, ascending; without stn_context_options.log the first two go nowhere.
typedef enum stn_log_level { STN_LOG_DEBUG, STN_LOG_NOTE, STN_LOG_WARNING, STN_LOG_ERROR } stn_log_level;

/// How a context is made; zeros are the defaults. The path is copied; functions and their users must outlive the
/// context.
typedef struct stn_context_options {
    /// Allocator; NULL for malloc and free. `allocate` returns NULL when out of memory and gives 16-byte aligned
    /// memory of any content. Called from any thread.
    void *(*allocate)(void *user, size_t size);
    void (*release)(void *user, void *memory);
    void *allocator_user;
    /// Receives every message, one line without line end; NULL: warnings and errors to stderr. Called from any
    /// thread, from several at once when worlds step on several.
    void (*log)(void *user, stn_log_level level, const char *text);
    void *log_user;
    /// Extra plugin search path, colon separated, searched first; NULL for none. After it come the environment's
    /// STICTION_PLUGIN_PATH and the plugin folders beside the library (build tree or installed).
    const char *plugin_path;
    /// For tests: an arena asks the allocator for every block, of exactly its size, and gives all back when it is
    /// reset, so that an allocator (or a sanitizer) that looks after the ends of blocks, and after those that were
    /// given back, sees those of arenas. Such requests are not counted as allocations. `allocate` must then give
    /// 64-byte aligned memory.
    bool separate_arena_blocks;
} stn_context_options;

/// stn_context_create for options of `size` bytes, as the caller was compiled: other languages call this. A struct
/// grows at its tail, and zeros are the defaults, so an older caller's is read as it was meant.
STN_API stn_status stn_context_create_sized(const stn_context_options *options, size_t size, stn_context **out,
                                            stn_error *err);
/// Makes a context. `options` may be NULL. Plugins are found at the first question about them, not here.
static inline stn_status stn_context_create(const stn_context_options *options, stn_context **out, stn_error *err) {
    return stn_context_create_sized(options, sizeof *options, out, err);
}
STN_API void stn_context_destroy(stn_context *context); ///< accepts NULL

/// Zeroed memory from the context's allocator, 16-byte aligned; NULL when out of memory, or for count * size
/// overflow. Thread: [any], never inside a step.
STN_API void *stn_allocate(stn_context *context, size_t count, size_t size);
/// Grows or shrinks `memory` from stn_allocate (NULL: allocates); new bytes are zero. NULL when out of memory,
/// `memory` then stays valid.
STN_API void *stn_reallocate(stn_context *context, void *memory, size_t old_count, size_t count, size_t size);
STN_API void stn_release(stn_context *context, void *memory);             ///< accepts NULL
STN_API char *stn_duplicate_text(stn_context *context, const char *text); ///< NULL when out of memory

/// Requests made to the allocator since the context was created; what "no allocation in a steady step" counts.
STN_API int64_t stn_context_allocations(const stn_context *context);

/// Sends one message, cut at 2,047 bytes, to stn_context_options.log. Thread: [any].
STN_API void stn_log(stn_context *context, stn_log_level level, const char *format, ...) STN_PRINTF(3, 4);

/// Bump memory that lives until the next reset. After a step has once been as large as it gets, a reset arena serves
/// all later requests without asking the allocator.
typedef struct stn_arena stn_arena;
STN_API stn_arena *stn_arena_create(stn_context *context); ///< NULL when out of memory
STN_API void stn_arena_destroy(stn_arena *arena);          ///< accepts NULL
STN_API void stn_arena_reset(stn_arena *arena);
/// 64-byte aligned memory of any content, borrowed until the reset; NULL when out of memory or on overflow.
STN_API void *stn_arena_allocate(stn_arena *arena, size_t count, size_t size);
/// The same, zeroed.
STN_API void *stn_arena_zeroed(stn_arena *arena, size_t count, size_t size);

/// Typed shorthand: double *x = STN_ARENA(arena, n, double);
#define STN_ARENA(arena, count, type)        ((type *)stn_arena_allocate((arena), (size_t)(count), sizeof(type)))
#define STN_ARENA_ZEROED(arena, count, type) ((type *)stn_arena_zeroed((arena), (size_t)(count), sizeof(type)))

STN_END_C
#endif
