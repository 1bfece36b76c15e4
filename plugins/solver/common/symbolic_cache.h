// SPDX-License-Identifier: Apache-2.0
// Symbolic factors of the last few patterns, in a solver's workspace. The order of elimination follows from the pattern
// alone, so that finding one there or not makes no difference to the result. Beside them what proximal_dual.h works in.
#ifndef SOLVER_COMMON_SYMBOLIC_CACHE_H
#define SOLVER_COMMON_SYMBOLIC_CACHE_H

#include <stiction/solver.h>

typedef struct symbolic_cache symbolic_cache;

/// The two functions of a solver whose workspace is a cache and nothing else.
stn_status symbolic_cache_create(void *self, stn_context *context, void **out, stn_error *err);
void symbolic_cache_destroy(void *cache);
/// A pattern, and by what it is factored.
typedef struct symbolic_key {
    const stn_factor_ops *ops;
    void *self;
    const stn_block_pattern *pattern;
} symbolic_key;

/// The symbolic factor of a pattern: one that is there, or a new one in the place of the one longest unused. Borrowed
/// until the next call.
stn_status symbolic_cache_find(symbolic_cache *cache, const symbolic_key *key, void **factor, stn_error *err);

/// How a pattern that stays is eliminated, (n) each, both by place: the block, and the place of its parent in the
/// elimination tree, -1: none. Children come before their parents.
typedef struct symbolic_order {
    const int32_t *order, *parent;
} symbolic_order;

/// By the factor's `order`, which must be there; made once for each pattern. Borrowed until the next call.
stn_status symbolic_cache_order(symbolic_cache *cache, const symbolic_key *key, symbolic_order *out, stn_error *err);

/// Made when it is first asked for; its memory serves from call to call.
typedef struct symbolic_cache_room {
    stn_inverse *inverse; // keeps symbolic factors, too
    stn_arena *arena;
} symbolic_cache_room;
stn_status symbolic_cache_take(symbolic_cache *cache, symbolic_cache_room *out, stn_error *err);

#endif
