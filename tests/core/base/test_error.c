// SPDX-License-Identifier: Apache-2.0
#include "stn_test.h"

#include <string.h>

static void test_every_status_has_a_text_of_its_own(void **state) {
    (void)state;
    static const stn_status all[] = {
#define STATUS_ITEM(name, value, text) name,
        STN_STATUSES(STATUS_ITEM)
#undef STATUS_ITEM
    };
    for (int32_t i = 0; i < STN_COUNT(all); i++) {
        for (int32_t j = 0; j < i; j++) {
            assert_string_not_equal(stn_status_text(all[i]), stn_status_text(all[j]));
        }
    }
    assert_string_equal(stn_status_text(STN_NOT_CONVERGED), "not converged");
    assert_string_equal(stn_status_text((stn_status)1234), "unknown status");
}

static void test_failing_fills_the_error_and_returns_the_status(void **state) {
    (void)state;
    stn_error err;
    assert_int_equal(stn_fail(&err, STN_ERR_ARGUMENT, "mass = %g kg must be > %d", -1.5, 0), STN_ERR_ARGUMENT);
    assert_int_equal(err.status, STN_ERR_ARGUMENT);
    assert_string_equal(err.text, "mass = -1.5 kg must be > 0");
    assert_int_equal(stn_fail(NULL, STN_ERR_FILE, "unheard"), STN_ERR_FILE);
}

static void test_prefixes_go_in_front_and_keep_the_status(void **state) {
    (void)state;
    stn_error err;
    stn_fail(&err, STN_ERR_PARSE, "no number");
    assert_int_equal(stn_error_prefix(&err, "%s:%d", "arm.urdf", 41), STN_ERR_PARSE);
    stn_error_prefix(&err, "loading");
    assert_string_equal(err.text, "loading: arm.urdf:41: no number");
    assert_int_equal(stn_error_prefix(NULL, "x"), STN_OK);
}

static void test_a_text_that_is_too_long_is_cut_and_terminated(void **state) {
    (void)state;
    char longer[3000];
    stn_error err;
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    stn_fail(&err, STN_ERR_FILE, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    stn_error_prefix(&err, "where");
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_memory_equal(err.text, "where: xxx", 10);
    stn_error_prefix(&err, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_status_has_a_text_of_its_own),
        cmocka_unit_test(test_failing_fills_the_error_and_returns_the_status),
        cmocka_unit_test(test_prefixes_go_in_front_and_keep_the_status),
        cmocka_unit_test(test_a_text_that_is_too_long_is_cut_and_terminated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
