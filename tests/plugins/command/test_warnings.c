// SPDX-License-Identifier: Apache-2.0
// Warnings of worlds that step on several threads: all are counted.
#include "stn_test.h"

#include <stiction/threads.h>

#include "run/warnings.h"

enum { WARNINGS = 20000, THREADS = 4 };

static void warn(void *user, int32_t index, int32_t worker) {
    char text[64];
    snprintf(text, sizeof text, "%s of warning at step %d of %d", index % 2 == 0 ? "the even kind" : "the odd kind",
             index, worker);
    cli_warnings_log(user, STN_LOG_WARNING, text);
}

static void test_none_is_lost_between_threads(void **state) {
    (void)state;
    cli_warnings warnings = {.quiet = true, .mutex = PTHREAD_MUTEX_INITIALIZER};
    stn_error err = {0};
    stn_context *context = NULL;
    stn_threads *threads = NULL;
    assert_int_equal(stn_context_create(NULL, &context, &err), STN_OK);
    assert_int_equal(stn_threads_create(context, THREADS, &threads, &err), STN_OK);
    stn_parallel_for(threads, WARNINGS, warn, &warnings);
    assert_int_equal(warnings.kind_count, 2);
    assert_int_equal(warnings.kinds[0].more, WARNINGS / 2 - 1);
    assert_int_equal(warnings.kinds[1].more, WARNINGS / 2 - 1);
    cli_warnings_end(&warnings, false);
    stn_threads_destroy(threads);
    stn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_none_is_lost_between_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
