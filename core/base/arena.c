// SPDX-License-Identifier: Apache-2.0
// Bump allocator in chunks. A reset that finds several chunks replaces them by one that holds them all, so that the
// same load later fits without asking the allocator. Where the context wants separate blocks, each block is a chunk of
// its own, which is full: so a request that finds room does not ask what the context wants. Large chunks are pages of
// the system, unless the caller has an allocator of its own: what is not touched takes no memory, and what is given
// back does not stay with malloc, whose heap a pile of thousands of bodies leaves in pieces.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include <string.h>
#include <sys/mman.h>

#include "base/context.h"

enum { ALIGNMENT = 64, FIRST_CHUNK = 1 << 16, LARGE_CHUNK = 1 << 20 };

typedef struct chunk {
    struct chunk *next;  // older
    size_t size;         // bytes behind the header
    unsigned char *base; // aligned start
    bool separate;       // base is memory of its own, of one block
    bool pages;          // it is pages
} chunk;

struct stn_arena {
    stn_context *context;
    chunk *newest;
    unsigned char *next; // free memory of the newest chunk,
    size_t left;         // so many bytes
};

/// Takes from the newest chunk, which may be NULL, all of which is free.
static void start_chunk(stn_arena *arena) {
    const chunk *c = arena->newest;
    arena->next = c != NULL ? c->base : NULL;
    arena->left = c != NULL ? c->size : 0;
}

static chunk *chunk_create(stn_context *context, size_t size) {
    if (size > SIZE_MAX - sizeof(chunk) - ALIGNMENT) {
        return NULL;
    }
    const size_t bytes = sizeof(chunk) + ALIGNMENT + size;
    const bool pages = size >= LARGE_CHUNK && stn_context_has_malloc(context);
    chunk *c = NULL;
    if (pages) {
        stn_context_count_allocation(context);
        c = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        c = c != MAP_FAILED ? c : NULL;
    } else {
        c = stn_context_allocate_raw(context, bytes); // most of it is not touched soon
    }
    if (c != NULL) {
        c->next = NULL;
        c->separate = false;
        c->pages = pages;
        uintptr_t start = (uintptr_t)(c + 1);
        c->base = (unsigned char *)((start + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
        c->size = size;
    }
    return c;
}

static void release_chunk(stn_context *context, chunk *c) {
    if (c->pages) {
        munmap(c, sizeof *c + ALIGNMENT + c->size);
        return;
    }
    if (c->separate) {
        stn_release(context, c->base);
    }
    stn_release(context, c);
}

static size_t release_chunks(stn_arena *arena) {
    size_t total = 0;
    while (arena->newest != NULL) {
        chunk *next = arena->newest->next;
        total += arena->newest->size;
        release_chunk(arena->context, arena->newest);
        arena->newest = next;
    }
    start_chunk(arena);
    return total;
}

stn_arena *stn_arena_create(stn_context *context) {
    stn_arena *arena = stn_allocate(context, 1, sizeof *arena);
    if (arena != NULL) {
        arena->context = context;
    }
    return arena;
}

void stn_arena_destroy(stn_arena *arena) {
    if (arena != NULL) {
        release_chunks(arena);
        stn_release(arena->context, arena);
    }
}

void stn_arena_reset(stn_arena *arena) {
    if (arena->newest == NULL) {
        return;
    }
    if (arena->newest->separate) {
        release_chunks(arena);
        return;
    }
    if (arena->newest->next != NULL) {
        size_t total = release_chunks(arena);
        arena->newest = chunk_create(arena->context, total + total / 2); // NULL: the next request tries again
    }
    start_chunk(arena);
}

size_t arena_bytes(const stn_arena *arena) {
    size_t total = 0;
    for (const chunk *c = arena->newest; c != NULL; c = c->next) {
        total += c->size;
    }
    return total;
}

/// A chunk for one block of `exact` bytes, of memory that is not counted; it has no room beyond.
static chunk *chunk_of_block(stn_context *context, size_t bytes, size_t exact) {
    const stn_context_options *o = &context->options;
    chunk *c = o->allocate(o->allocator_user, sizeof *c);
    unsigned char *base = c != NULL ? o->allocate(o->allocator_user, exact > 0 ? exact : 1) : NULL;
    if (base == NULL) {
        stn_release(context, c);
        return NULL;
    }
    *c = (chunk){.size = bytes, .base = base, .separate = true};
    return c;
}

/// Memory from a new newest chunk for what does not fit. Out of line: who finds room saves no registers.
__attribute__((noinline)) static void *allocate_beyond(stn_arena *arena, size_t count, size_t size) {
    size_t exact;
    if (__builtin_mul_overflow(count, size, &exact) || exact > SIZE_MAX - ALIGNMENT) { // a division would cost more
        return NULL;
    }
    const size_t bytes = (exact + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    const size_t wanted = arena->newest == NULL ? FIRST_CHUNK : 2 * arena->newest->size;
    chunk *c = arena->context->options.separate_arena_blocks
                   ? chunk_of_block(arena->context, bytes, exact)
                   : chunk_create(arena->context, wanted > bytes ? wanted : bytes);
    if (c == NULL) {
        return NULL;
    }
    c->next = arena->newest;
    arena->newest = c;
    start_chunk(arena);
    arena->next += bytes;
    arena->left -= bytes;
    return c->base;
}

void *stn_arena_allocate(stn_arena *arena, size_t count, size_t size) {
    size_t exact;
    const bool over = __builtin_mul_overflow(count, size, &exact);
    const size_t bytes = (exact + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1); // less than `exact` where it overflows
    if (over || bytes < exact || bytes > arena->left || arena->next == NULL) {
        return allocate_beyond(arena, count, size);
    }
    void *memory = arena->next;
    arena->next += bytes;
    arena->left -= bytes;
    return memory;
}

void *stn_arena_zeroed(stn_arena *arena, size_t count, size_t size) {
    void *memory = stn_arena_allocate(arena, count, size);
    if (memory != NULL) {
        memset(memory, 0, count * size);
    }
    return memory;
}
