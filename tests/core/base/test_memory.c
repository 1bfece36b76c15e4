// SPDX-License-Identifier: Apache-2.0
#include "stn_heap.h"
#include "stn_test.h"

#include <stdlib.h>
#include <string.h>

#include <stiction/world.h>

static void assert_zero(const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(bytes[i], 0);
    }
}

static void test_memory_is_zeroed_aligned_and_counted(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    int64_t before = stn_context_allocations(context);
    unsigned char *bytes = stn_allocate(context, 100, 3);
    assert_non_null(bytes);
    assert_int_equal((uintptr_t)bytes % 16, 0);
    assert_zero(bytes, 300);
    assert_int_equal(stn_context_allocations(context), before + 1);
    stn_release(context, bytes);
    stn_release(context, NULL);
    stn_context_destroy(context);
    stn_context_destroy(NULL);
    assert_int_equal(heap.live, 0);
}

static void test_growing_keeps_the_old_and_zeroes_the_new(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    unsigned char *bytes = stn_reallocate(context, NULL, 0, 4, 1);
    memcpy(bytes, "abcd", 4);
    bytes = stn_reallocate(context, bytes, 4, 9, 1);
    assert_memory_equal(bytes, "abcd\0\0\0\0", 9);
    bytes = stn_reallocate(context, bytes, 9, 2, 1);
    assert_memory_equal(bytes, "ab", 2);
    stn_heap_arm(&heap, 1);
    assert_null(stn_reallocate(context, bytes, 2, 50, 1));
    assert_memory_equal(bytes, "ab", 2);
    stn_release(context, bytes);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static void test_sizes_that_overflow_are_refused(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    stn_arena *arena = stn_arena_create(context);
    assert_null(stn_allocate(context, SIZE_MAX / 2, 3));
    assert_null(stn_reallocate(context, NULL, 0, SIZE_MAX / 2, 3));
    assert_null(stn_arena_allocate(arena, SIZE_MAX / 2, 3));
    assert_null(stn_arena_allocate(arena, SIZE_MAX - 70, 1));
    assert_null(stn_arena_allocate(arena, SIZE_MAX, 1));
    stn_arena_destroy(arena);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static void test_a_context_needs_both_or_neither_of_the_allocator(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context_options options = stn_heap_options(&heap);
    stn_context *context = (stn_context *)&heap;
    stn_error err;
    options.release = NULL;
    assert_int_equal(stn_context_create(&options, &context, &err), STN_ERR_ARGUMENT);
    assert_null(context);
}

static void test_a_context_out_of_memory_leaves_nothing(void **state) {
    (void)state;
    for (long long n = 1; n <= 3; n++) {
        stn_heap heap = {0};
        stn_context_options options = stn_heap_options(&heap);
        options.plugin_path = "/somewhere";
        stn_context *context = (stn_context *)&heap;
        stn_error err;
        stn_heap_arm(&heap, n);
        stn_status status = stn_context_create(&options, &context, &err);
        assert_int_equal(status, n < 3 ? STN_ERR_MEMORY : STN_OK);
        assert_true((context == NULL) == (status != STN_OK));
        stn_context_destroy(context);
        assert_int_equal(heap.live, 0);
    }
}

static void keep_line(void *user, stn_log_level level, const char *text) {
    snprintf(user, 200, "%d %s", (int)level, text);
}

static void test_log_lines_reach_the_receiver(void **state) {
    (void)state;
    char line[200] = "";
    stn_context_options options = {.log = keep_line, .log_user = line};
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(&options, &context, &err), err);
    stn_log(context, STN_LOG_WARNING, "%s: %d", "parts", 3);
    assert_string_equal(line, "2 parts: 3");
    stn_context_destroy(context);
}

/// One step's worth of requests, different in size, together far beyond the first chunk.
static bool use(stn_arena *arena, bool zeroed) {
    for (size_t i = 1; i <= 300; i++) {
        size_t count = 37 * i % 1000 + 1;
        unsigned char *p = zeroed ? stn_arena_zeroed(arena, count, 8) : stn_arena_allocate(arena, count, 8);
        if (p == NULL) {
            return false;
        }
        assert_int_equal((uintptr_t)p % 64, 0);
        if (zeroed) {
            assert_zero(p, 8 * count);
        }
        memset(p, (int)i, 8 * count); // overlap would show in the next zeroed run, and under the sanitizer
    }
    return true;
}

static void test_a_warm_arena_asks_for_nothing(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    stn_arena *arena = stn_arena_create(context);
    stn_arena_reset(arena);
    assert_true(use(arena, false));
    stn_arena_reset(arena);
    int64_t before = stn_context_allocations(context);
    for (int round = 0; round < 10; round++) {
        assert_true(use(arena, round % 2 == 0));
        stn_arena_reset(arena);
    }
    assert_int_equal(stn_context_allocations(context), before);
    stn_arena_destroy(arena);
    stn_arena_destroy(NULL);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

/// An allocator that gives 64-byte aligned memory and keeps how much was asked for last.
typedef struct plain_heap {
    size_t last;
    int live;
} plain_heap;

static void *take(void *user, size_t size) {
    plain_heap *heap = user;
    void *memory = NULL;
    heap->last = size;
    heap->live++;
    return posix_memalign(&memory, 64, size) == 0 ? memory : NULL;
}

static void give(void *user, void *memory) {
    ((plain_heap *)user)->live--;
    free(memory);
}

static void test_separate_blocks_are_the_allocators_own(void **state) {
    (void)state;
    plain_heap heap = {0};
    stn_error err;
    stn_context *context = NULL;
    const stn_context_options own = {
        .allocate = take, .release = give, .allocator_user = &heap, .separate_arena_blocks = true};
    const stn_context_options plain = {.separate_arena_blocks = true};
    assert_ok(stn_context_create(&own, &context, &err), err);
    stn_arena *arena = stn_arena_create(context);
    int64_t counted = stn_context_allocations(context);
    int before = heap.live;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 1; i < 20; i++) {
            assert_non_null(STN_ARENA(arena, i, double));
            assert_int_equal(heap.last, 8 * i); // exactly
        }
        assert_true(use(arena, round == 1));
        assert_non_null(stn_arena_allocate(arena, 0, 8));
        stn_arena_reset(arena);
        assert_int_equal(heap.live, before);
    }
    assert_int_equal(stn_context_allocations(context), counted); // a steady step still allocates nothing
    stn_arena_destroy(arena);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
    assert_ok(stn_context_create(&plain, &context, &err), err); // by an aligned malloc
    arena = stn_arena_create(context);
    assert_true(use(arena, true));
    stn_arena_destroy(arena);
    stn_context_destroy(context);
}

static void test_an_arena_survives_every_failed_request(void **state) {
    (void)state;
    bool finished = false;
    for (long long n = 1; !finished; n++) {
        stn_heap heap = {0};
        stn_context *context = stn_heap_context(&heap);
        stn_heap_arm(&heap, n);
        stn_arena *arena = stn_arena_create(context);
        finished = arena != NULL && use(arena, false);
        if (arena != NULL && !finished) {
            assert_true(use(arena, false)); // only the n-th request failed
            stn_arena_reset(arena);
            assert_true(use(arena, false));
        }
        stn_arena_destroy(arena);
        stn_context_destroy(context);
        assert_int_equal(heap.live, 0);
        assert_true(n < 100);
    }
}

/// Options that are shorter or longer than ours, as of headers of another day.
static void options_of_other_headers_are_read_as_they_were_meant(void **state) {
    (void)state;
    struct {
        stn_context_options known;
        void *later;
    } longer = {{.plugin_path = "/nowhere"}, NULL};
    struct {
        stn_context_options options;
    } room;
    stn_context *context = NULL;
    stn_error err;
    memset(&room, 0xff, sizeof room); // beyond the older struct's end lies what is not its own
    memset(&room, 0, offsetof(stn_context_options, plugin_path));
    assert_ok(stn_context_create_sized(&room.options, offsetof(stn_context_options, plugin_path), &context, &err), err);
    stn_context_destroy(context);
    assert_ok(stn_context_create_sized(&longer.known, sizeof longer, &context, &err), err);
    stn_context_destroy(context);
    longer.later = &longer;
    assert_int_equal(stn_context_create_sized(&longer.known, sizeof longer, &context, &err), STN_ERR_ARGUMENT);
    assert_string_equal(err.text,
                        "context: its options are those of a newer Stiction, and set what this one does not know");
    assert_null(context);
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_world *world = NULL;
    stn_world_options options = stn_world_options_default();
    assert_int_equal(options.size, sizeof options);
    options.size = 0;
    assert_int_equal(stn_world_create(context, &options, &world, &err), STN_ERR_ARGUMENT);
    assert_string_equal(err.text, "world: its options do not say their size; start from stn_world_options_default()");
    stn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_other_headers_are_read_as_they_were_meant),
        cmocka_unit_test(test_memory_is_zeroed_aligned_and_counted),
        cmocka_unit_test(test_growing_keeps_the_old_and_zeroes_the_new),
        cmocka_unit_test(test_sizes_that_overflow_are_refused),
        cmocka_unit_test(test_a_context_needs_both_or_neither_of_the_allocator),
        cmocka_unit_test(test_a_context_out_of_memory_leaves_nothing),
        cmocka_unit_test(test_log_lines_reach_the_receiver),
        cmocka_unit_test(test_a_warm_arena_asks_for_nothing),
        cmocka_unit_test(test_separate_blocks_are_the_allocators_own),
        cmocka_unit_test(test_an_arena_survives_every_failed_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
