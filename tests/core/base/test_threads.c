// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // pthread_setattr_default_np
#include "stn_heap.h"
#include "stn_test.h"

#include <pthread.h>
#include <string.h>

#include <stiction/threads.h>

enum { INDICES = 1000, WORKERS = 4 };

typedef struct tally {
    atomic_int times[INDICES];
    atomic_int by_worker[WORKERS];
    atomic_int outside; // workers or indices that do not exist
} tally;

static void count(void *user, int32_t index, int32_t worker) {
    tally *t = user;
    if (index < 0 || index >= INDICES || worker < 0 || worker >= WORKERS) {
        atomic_fetch_add(&t->outside, 1);
        return;
    }
    atomic_fetch_add(&t->times[index], 1);
    atomic_fetch_add(&t->by_worker[worker], 1);
}

static void assert_each_once(const tally *t, int32_t indices) {
    for (int32_t i = 0; i < INDICES; i++) {
        assert_int_equal(t->times[i], i < indices ? 1 : 0);
    }
    assert_int_equal(t->outside, 0);
}

static void test_every_index_runs_once_for_any_count_of_workers(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    stn_error err;
    for (int32_t workers = 1; workers <= WORKERS; workers++) {
        stn_threads *threads = NULL;
        assert_ok(stn_threads_create(context, workers, &threads, &err), err);
        assert_int_equal(stn_threads_count(threads), workers);
        static const int32_t sizes[] = {0, 1, 2, 3, 17, INDICES};
        for (int32_t i = 0; i < STN_COUNT(sizes); i++) {
            static tally t;
            memset(&t, 0, sizeof t);
            stn_parallel_for(threads, sizes[i], count, &t);
            assert_each_once(&t, sizes[i]);
        }
        stn_threads_destroy(threads);
    }
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static void test_no_threads_is_a_plain_loop_on_worker_zero(void **state) {
    (void)state;
    static tally t;
    stn_parallel_for(NULL, 20, count, &t);
    assert_each_once(&t, 20);
    assert_int_equal(t.by_worker[0], 20);
    assert_int_equal(stn_threads_count(NULL), 1);
    stn_threads_destroy(NULL);
}

static void test_many_short_jobs_do_not_lose_an_index(void **state) {
    (void)state;
    stn_context *context = NULL;
    stn_threads *threads = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    assert_ok(stn_threads_create(context, 3, &threads, &err), err);
    static tally t;
    enum { ROUNDS = 3000 };
    for (int round = 0; round < ROUNDS; round++) {
        stn_parallel_for(threads, 4, count, &t);
    }
    for (int32_t i = 0; i < 4; i++) {
        assert_int_equal(t.times[i], ROUNDS);
    }
    stn_threads_destroy(threads);
    stn_context_destroy(context);
}

static void test_counts_outside_the_range_are_refused(void **state) {
    (void)state;
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_threads *threads = (stn_threads *)&err;
    assert_int_equal(stn_threads_create(context, 0, &threads, &err), STN_ERR_ARGUMENT);
    assert_null(threads);
    assert_string_equal(err.text, "threads = 0, must be 1 to 1024");
    assert_int_equal(stn_threads_create(context, 1025, &threads, &err), STN_ERR_ARGUMENT);
    stn_context_destroy(context);
}

static void test_running_out_of_memory_leaves_nothing(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    stn_error err;
    long long before = heap.live;
    for (long long n = 1; n <= 2; n++) {
        stn_threads *threads = (stn_threads *)&err;
        stn_heap_arm(&heap, n);
        assert_int_equal(stn_threads_create(context, 2, &threads, &err), STN_ERR_MEMORY);
        assert_null(threads);
        assert_int_equal(heap.live, before);
    }
    stn_context_destroy(context);
}

static void test_what_the_system_refuses_is_told_with_the_number_that_it_gives(void **state) {
    (void)state;
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    pthread_attr_t usual, huge;
    assert_int_equal(pthread_getattr_default_np(&usual), 0);
    assert_int_equal(pthread_attr_init(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 47), 0); // more than there are addresses
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
    stn_threads *threads = (stn_threads *)&err;
    stn_status status = stn_threads_create(context, 8, &threads, &err);
    assert_int_equal(pthread_setattr_default_np(&usual), 0);
    assert_int_equal(status, STN_ERR_MEMORY);
    assert_string_equal(err.text, "threads = 8: the system gives no more than 1");
    assert_null(threads);
    pthread_attr_destroy(&huge);
    pthread_attr_destroy(&usual);
    stn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_index_runs_once_for_any_count_of_workers),
        cmocka_unit_test(test_no_threads_is_a_plain_loop_on_worker_zero),
        cmocka_unit_test(test_many_short_jobs_do_not_lose_an_index),
        cmocka_unit_test(test_counts_outside_the_range_are_refused),
        cmocka_unit_test(test_running_out_of_memory_leaves_nothing),
        cmocka_unit_test(test_what_the_system_refuses_is_told_with_the_number_that_it_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
