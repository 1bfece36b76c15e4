// SPDX-License-Identifier: Apache-2.0
// Shared things of a context: made once, destroyed once, in an order in which nothing misses what it holds.
#include "stn_heap.h"
#include "stn_test.h"

#include <string.h>

#include <stiction/shared.h>
#include <stiction/threads.h>

/// What happened to the things of a test.
typedef struct record {
    atomic_int created, destroyed, failures_left;
    size_t bytes; // that each thing says it takes
} record;

typedef struct number {
    record *record;
    int32_t value;
    const stn_shared *held; // number value - 1, of towers
} number;

static stn_status create_number(stn_context *context, void *user, void **thing, size_t *bytes, stn_error *err) {
    const number *wanted = user;
    if (atomic_load(&wanted->record->failures_left) > 0) {
        atomic_fetch_sub(&wanted->record->failures_left, 1);
        return stn_fail(err, STN_ERR_NUMERIC, "number %d: not now", (int)wanted->value);
    }
    number *made = stn_allocate(context, 1, sizeof *made);
    if (made == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a number");
    }
    *made = *wanted;
    atomic_fetch_add(&made->record->created, 1);
    *thing = made;
    *bytes = made->record->bytes;
    return STN_OK;
}

static void destroy_number(stn_context *context, void *thing) {
    number *n = thing;
    atomic_fetch_add(&n->record->destroyed, 1);
    stn_shared_release(context, n->held);
    stn_release(context, n);
}

static stn_status hold_number(stn_context *context, record *r, int32_t value, const stn_shared **out, stn_error *err) {
    number wanted = {.record = r, .value = value};
    stn_shared_spec spec = {&value, sizeof value, create_number, &wanted, destroy_number};
    return stn_shared_hold(context, &spec, out, err);
}

static int32_t value_of(const stn_shared *shared) {
    const number *n = shared->thing;
    return n->value;
}

static void test_equal_keys_have_one_thing_others_their_own(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    record r = {.bytes = 100};
    stn_error err;
    enum { NUMBERS = 1000 }; // several a chain
    static const stn_shared *first[NUMBERS], *second[NUMBERS];
    for (int32_t i = 0; i < NUMBERS; i++) {
        assert_ok(hold_number(context, &r, i, &first[i], &err), err);
    }
    for (int32_t i = NUMBERS - 1; i >= 0; i--) {
        assert_ok(hold_number(context, &r, i, &second[i], &err), err);
        assert_ptr_equal(first[i], second[i]);
        assert_int_equal(value_of(first[i]), i);
    }
    assert_int_equal(r.created, NUMBERS);
    for (int32_t i = 0; i < NUMBERS; i++) {
        stn_shared_release(context, first[i]);
        stn_shared_release(context, second[NUMBERS - 1 - i]);
    }
    stn_shared_release(context, NULL);
    assert_int_equal(r.destroyed, 0); // small enough to be kept
    assert_ok(hold_number(context, &r, 7, &first[7], &err), err);
    assert_int_equal(r.created, NUMBERS);
    stn_shared_release(context, first[7]);
    stn_context_destroy(context);
    assert_int_equal(r.destroyed, NUMBERS);
    assert_int_equal(heap.live, 0);
}

static stn_status create_other(stn_context *context, void *user, void **thing, size_t *bytes, stn_error *err) {
    number wanted = *(const number *)user;
    wanted.value += 1000;
    return create_number(context, &wanted, thing, bytes, err);
}

static void test_who_makes_a_thing_and_all_bytes_of_its_key_count(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    record r = {.bytes = 1};
    stn_error err;
    int32_t key[2] = {3, 0};
    number wanted = {.record = &r, .value = 3};
    const stn_shared_spec specs[] = {{key, sizeof key[0], create_number, &wanted, destroy_number},
                                     {key, sizeof key, create_number, &wanted, destroy_number},
                                     {key, 0, create_number, &wanted, destroy_number},
                                     {key, sizeof key[0], create_other, &wanted, destroy_number}};
    const stn_shared *held[STN_COUNT(specs)];
    for (int32_t i = 0; i < STN_COUNT(specs); i++) {
        assert_ok(stn_shared_hold(context, &specs[i], &held[i], &err), err);
        assert_int_equal(r.created, i + 1);
    }
    assert_int_equal(value_of(held[0]), 3);
    assert_int_equal(value_of(held[3]), 1003);
    for (int32_t i = 0; i < STN_COUNT(specs); i++) {
        stn_shared_release(context, held[i]);
    }
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static void test_what_failed_is_not_kept_and_tried_again(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    record r = {.bytes = 1, .failures_left = 2};
    const stn_shared *held = NULL;
    stn_error err;
    for (int32_t i = 0; i < 2; i++) {
        long long live = heap.live;
        assert_int_equal(hold_number(context, &r, 5, &held, &err), STN_ERR_NUMERIC);
        assert_string_equal(err.text, "number 5: not now");
        assert_null(held);
        assert_int_equal(heap.live, live);
    }
    assert_ok(hold_number(context, &r, 5, &held, &err), err);
    stn_shared_release(context, held);
    stn_context_destroy(context);
    assert_int_equal(r.destroyed, 1);
    assert_int_equal(heap.live, 0);
}

static void test_out_of_memory_leaves_nothing(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    record r = {.bytes = 1};
    const stn_shared *held = NULL;
    stn_error err;
    long long live = heap.live;
    stn_status status = STN_ERR_MEMORY;
    int32_t refused = 0;
    while (status != STN_OK) {
        stn_heap_arm(&heap, refused + 1);
        status = hold_number(context, &r, 5, &held, &err);
        if (status != STN_OK) {
            assert_int_equal(status, STN_ERR_MEMORY);
            assert_int_equal(heap.live, live);
            refused++;
        }
    }
    assert_int_equal(refused, 2); // the entry, the number
    stn_heap_arm(&heap, 0);
    stn_shared_release(context, held);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static void test_idle_things_go_in_the_order_of_release_beyond_the_bound(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    record r = {.bytes = STN_SHARED_IDLE_BYTES / 4}; // three fit, with their entries
    const stn_shared *held[5];
    stn_error err;
    for (int32_t i = 0; i < 5; i++) {
        assert_ok(hold_number(context, &r, i, &held[i], &err), err);
    }
    assert_int_equal(r.destroyed, 0); // what is held is not bounded
    static const int32_t order[] = {2, 0, 4};
    for (int32_t i = 0; i < 3; i++) {
        stn_shared_release(context, held[order[i]]);
    }
    assert_int_equal(r.destroyed, 0);
    stn_shared_release(context, held[1]); // 2 goes
    assert_int_equal(r.destroyed, 1);
    assert_ok(hold_number(context, &r, 0, &held[0], &err), err);
    assert_ok(hold_number(context, &r, 2, &held[2], &err), err);
    assert_int_equal(r.created, 6); // 2 again
    stn_shared_release(context, held[2]);
    stn_shared_release(context, held[0]); // idle 4, 1, 2, 0: 4 goes
    assert_int_equal(r.destroyed, 2);
    assert_ok(hold_number(context, &r, 1, &held[1], &err), err);
    assert_int_equal(r.created, 6);
    r.bytes = 2 * STN_SHARED_IDLE_BYTES; // larger than everything: takes the others with it
    const stn_shared *large = NULL;
    assert_ok(hold_number(context, &r, 99, &large, &err), err);
    stn_shared_release(context, large);
    assert_int_equal(r.destroyed, 5);
    stn_shared_release(context, held[1]);
    stn_shared_release(context, held[3]);
    stn_context_destroy(context);
    assert_int_equal(r.destroyed, r.created);
    assert_int_equal(heap.live, 0);
}

/// A number that holds the one below it, down to 0.
static stn_status create_tower(stn_context *context, void *user, void **thing, size_t *bytes, stn_error *err) {
    number wanted = *(const number *)user;
    if (wanted.value > 0) {
        number below = {.record = wanted.record, .value = wanted.value - 1};
        stn_shared_spec spec = {&below.value, sizeof below.value, create_tower, &below, destroy_number};
        stn_status status = stn_shared_hold(context, &spec, &wanted.held, err);
        if (status != STN_OK) {
            return status;
        }
    }
    stn_status status = create_number(context, &wanted, thing, bytes, err);
    if (status != STN_OK) {
        stn_shared_release(context, wanted.held);
    }
    return status;
}

static void test_a_thing_of_no_bytes_stays(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    record lasting = {.bytes = 0}, large = {.bytes = 2 * STN_SHARED_IDLE_BYTES};
    const stn_shared *held = NULL;
    stn_error err;
    assert_ok(hold_number(context, &lasting, 1, &held, &err), err);
    stn_shared_release(context, held);
    for (int32_t i = 2; i < 5; i++) { // each too large to be kept once it is idle
        assert_ok(hold_number(context, &large, i, &held, &err), err);
        stn_shared_release(context, held);
    }
    assert_int_equal(large.destroyed, 3);
    assert_int_equal(lasting.destroyed, 0);
    for (int32_t i = 0; i < 2; i++) { // its comings and goings count no bytes
        assert_ok(hold_number(context, &lasting, 1, &held, &err), err);
        stn_shared_release(context, held);
    }
    assert_int_equal(lasting.created, 1);
    stn_context_destroy(context);
    assert_int_equal(lasting.destroyed, 1);
    assert_int_equal(heap.live, 0);
}

static void test_things_that_hold_things_are_made_and_destroyed_in_order(void **state) {
    (void)state;
    for (int32_t left = 0; left < 2; left++) { // destroyed with the context, or by the bound
        stn_heap heap = {0};
        stn_context *context = stn_heap_context(&heap);
        record r = {.bytes = left == 0 ? 1 : 2 * STN_SHARED_IDLE_BYTES};
        number top = {.record = &r, .value = 9};
        stn_shared_spec spec = {&top.value, sizeof top.value, create_tower, &top, destroy_number};
        const stn_shared *held = NULL;
        stn_error err;
        atomic_store(&r.failures_left, 1);
        assert_int_equal(stn_shared_hold(context, &spec, &held, &err), STN_ERR_NUMERIC);
        assert_ok(stn_shared_hold(context, &spec, &held, &err), err);
        assert_int_equal(r.created, 10);
        stn_shared_release(context, held);
        assert_int_equal(r.destroyed, left == 0 ? 0 : 10);
        stn_context_destroy(context);
        assert_int_equal(r.destroyed, 10);
        assert_int_equal(heap.live, 0);
    }
}

typedef struct crowd {
    stn_context *context;
    record record;
    atomic_int wrong;
} crowd;

static void hold_and_release(void *user, int32_t index, int32_t worker) {
    crowd *c = user;
    (void)worker;
    const stn_shared *a = NULL, *b = NULL;
    bool right = hold_number(c->context, &c->record, index % 7, &a, NULL) == STN_OK &&
                 hold_number(c->context, &c->record, index % 5, &b, NULL) == STN_OK && value_of(a) == index % 7 &&
                 value_of(b) == index % 5 && (index % 7 != index % 5 || a == b);
    atomic_fetch_add(&c->wrong, right ? 0 : 1);
    stn_shared_release(c->context, a);
    stn_shared_release(c->context, b);
}

static void test_threads_may_hold_and_release_at_once(void **state) {
    (void)state;
    stn_heap heap = {0};
    crowd c = {.context = stn_heap_context(&heap)};
    c.record.bytes = STN_SHARED_IDLE_BYTES / 3; // they come and go
    stn_threads *threads = NULL;
    stn_error err;
    assert_ok(stn_threads_create(c.context, 4, &threads, &err), err);
    stn_parallel_for(threads, 20000, hold_and_release, &c);
    stn_threads_destroy(threads);
    assert_int_equal(c.wrong, 0);
    stn_context_destroy(c.context);
    assert_int_equal(c.record.created, c.record.destroyed);
    assert_int_equal(heap.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_keys_have_one_thing_others_their_own),
        cmocka_unit_test(test_who_makes_a_thing_and_all_bytes_of_its_key_count),
        cmocka_unit_test(test_what_failed_is_not_kept_and_tried_again),
        cmocka_unit_test(test_out_of_memory_leaves_nothing),
        cmocka_unit_test(test_idle_things_go_in_the_order_of_release_beyond_the_bound),
        cmocka_unit_test(test_a_thing_of_no_bytes_stays),
        cmocka_unit_test(test_things_that_hold_things_are_made_and_destroyed_in_order),
        cmocka_unit_test(test_threads_may_hold_and_release_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
