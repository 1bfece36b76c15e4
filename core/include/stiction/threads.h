// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_THREADS_H
#define STICTION_THREADS_H

#include <stiction/context.h>

STN_BEGIN_C

/// A fixed set of workers. Results must not depend on their number: split work by index, reduce in index order.
typedef struct stn_threads stn_threads;

/// `count` workers including the caller; 1 starts no thread.
STN_API stn_status stn_threads_create(stn_context *context, int32_t count, stn_threads **out, stn_error *err);
STN_API void stn_threads_destroy(stn_threads *threads);        ///< accepts NULL
STN_API int32_t stn_threads_count(const stn_threads *threads); ///< 1 for NULL

/// Calls run(user, index, worker) for every index in [0, count), each once, in any order; worker in
/// [0, stn_threads_count). Returns when all are done. NULL threads: plain loop. Not reentrant from inside `run`.
/// A call costs about 1 us, and worker w mostly gets the w-th of equal shares of the indices: what jobs of the same
/// count work with stays in its processor's cache. Two workers should not write into one cache line.
STN_API void stn_parallel_for(stn_threads *threads, int32_t count,
                              void (*run)(void *user, int32_t index, int32_t worker), void *user);

STN_END_C
#endif
