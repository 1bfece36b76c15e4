// SPDX-License-Identifier: Apache-2.0
#include "stn_heap.h"
#include "stn_test.h"

#include <string.h>

#include <stiction/params.h>

typedef struct sample {
    double stiffness;
    double slope;
    int32_t rounds;
    bool quick;
    int32_t shape;
    const char *title;
} sample;

static const char *const shapes[] = {"manifold", "spheres26", NULL};

static const stn_param params[] = {
    STN_PARAM_REAL(sample, stiffness, "N/m", 1e-6, 0.0, 1e9, "of the spring"),
    STN_PARAM_REAL(sample, slope, "1", -2.0, -(double)INFINITY, 0.0, "of the line"),
    STN_PARAM_INT(sample, rounds, "1", 5.0, 1.0, (double)INT32_MAX, "to run"),
    STN_PARAM_BOOL(sample, quick, 1.0, "or slow"),
    STN_PARAM_CHOICE(sample, shape, shapes, 1.0, "of a box"),
    STN_PARAM_TEXT(sample, title, "untitled", "of the page"),
};

static stn_context *context;

static int set_up(void **state) {
    (void)state;
    return stn_context_create(NULL, &context, NULL);
}

static int tear_down(void **state) {
    (void)state;
    stn_context_destroy(context);
    return 0;
}

static stn_setting number(const char *name, double value) {
    return (stn_setting){.name = name, .form = STN_SETTING_NUMBER, .number = value, .where = "a.lua:12"};
}

static stn_setting text(const char *name, const char *value) {
    return (stn_setting){.name = name, .form = STN_SETTING_TEXT, .text = value, .where = "--set"};
}

static stn_status make(const stn_setting *settings, int32_t count, sample **out, stn_error *err) {
    void *config = NULL;
    stn_status status = stn_config_create(context, "loader toy", params, STN_COUNT(params), sizeof(sample), settings,
                                          count, &config, err);
    *out = config;
    return status;
}

static void drop(sample *config) {
    stn_config_destroy(context, params, STN_COUNT(params), config);
}

static void assert_refused(stn_setting setting, const char *line) {
    stn_error err = {STN_OK, ""};
    sample *config = (sample *)&err;
    assert_int_equal(make(&setting, 1, &config, &err), STN_ERR_PARAMETER);
    assert_null(config);
    assert_string_equal(err.text, line);
}

static void test_defaults_fill_a_config_without_settings(void **state) {
    (void)state;
    stn_error err;
    sample *config = NULL;
    assert_ok(make(NULL, 0, &config, &err), err);
    assert_near(config->stiffness, 1e-6, 0.0);
    assert_near(config->slope, -2.0, 0.0);
    assert_int_equal(config->rounds, 5);
    assert_true(config->quick);
    assert_int_equal(config->shape, 1);
    assert_string_equal(config->title, "untitled");
    drop(config);
}

static void test_settings_apply_in_order_so_the_last_one_wins(void **state) {
    (void)state;
    stn_error err;
    sample *config = NULL;
    stn_setting settings[] = {number("stiffness", 3.0), text("title", "one"), number("stiffness", 4.5),
                              text("title", "two")};
    assert_ok(make(settings, 4, &config, &err), err);
    assert_near(config->stiffness, 4.5, 0.0);
    assert_string_equal(config->title, "two");
    drop(config);
}

static void test_a_text_that_spells_the_declared_type_is_accepted(void **state) {
    (void)state;
    stn_error err;
    sample *config = NULL;
    stn_setting settings[] = {text("stiffness", " 2.5e3 "), text("rounds", "7"), text("quick", "false"),
                              text("shape", "manifold"), text("title", "12")};
    assert_ok(make(settings, 5, &config, &err), err);
    assert_near(config->stiffness, 2500.0, 0.0);
    assert_int_equal(config->rounds, 7);
    assert_false(config->quick);
    assert_int_equal(config->shape, 0);
    assert_string_equal(config->title, "12");
    drop(config);
}

static void test_the_config_owns_its_texts(void **state) {
    (void)state;
    stn_error err;
    sample *config = NULL;
    char title[] = "mine";
    stn_setting setting = text("title", title);
    assert_ok(make(&setting, 1, &config, &err), err);
    title[0] = 'f';
    assert_string_equal(config->title, "mine");
    drop(config);
}

static void test_an_unknown_name_gets_the_nearest_or_the_list(void **state) {
    (void)state;
    assert_refused(number("stifness", 1.0),
                   "a.lua:12: loader toy: unknown parameter stifness; did you mean stiffness?");
    assert_refused(text("colour", "red"), "--set: loader toy: unknown parameter colour; there are stiffness, slope, "
                                          "rounds, quick, shape, title");
}

static void test_a_plugin_without_parameters_says_so(void **state) {
    (void)state;
    stn_error err = {STN_OK, ""};
    void *config = &err;
    stn_setting setting = number("x", 1.0);
    assert_int_equal(stn_config_create(context, "law bare", NULL, 0, 0, NULL, 0, &config, &err), STN_OK);
    assert_null(config);
    assert_int_equal(stn_config_create(context, "law bare", NULL, 0, 0, &setting, 1, &config, &err), STN_ERR_PARAMETER);
    assert_string_equal(err.text, "a.lua:12: law bare: unknown parameter x; there are none to set");
}

static void test_a_wrong_type_is_named_with_the_value_and_what_is_wanted(void **state) {
    (void)state;
    assert_refused(text("stiffness", "soft"), "--set: loader toy: stiffness = \"soft\", must be a finite number [N/m]");
    assert_refused(text("stiffness", "1e400"),
                   "--set: loader toy: stiffness = \"1e400\", must be a finite number [N/m]");
    assert_refused(number("rounds", 2.5), "a.lua:12: loader toy: rounds = 2.5, must be a whole number");
    assert_refused(text("quick", "1"), "--set: loader toy: quick = \"1\", must be true or false");
    assert_refused(number("quick", 1.0), "a.lua:12: loader toy: quick = 1, must be true or false");
    assert_refused(number("title", 4.0), "a.lua:12: loader toy: title = 4, must be a text");
    stn_setting flag = {.name = "stiffness", .form = STN_SETTING_BOOL, .number = 1.0};
    assert_refused(flag, "loader toy: stiffness = true, must be a finite number [N/m]");
}

static void test_a_number_that_is_not_finite_is_refused(void **state) {
    (void)state;
    assert_refused(number("stiffness", (double)NAN),
                   "a.lua:12: loader toy: stiffness = nan, must be a finite number [N/m]");
    assert_refused(number("slope", -(double)INFINITY), "a.lua:12: loader toy: slope = -inf, must be a finite number");
    assert_refused(number("rounds", (double)NAN), "a.lua:12: loader toy: rounds = nan, must be a whole number");
}

static void test_out_of_range_tells_range_and_unit(void **state) {
    (void)state;
    assert_refused(number("stiffness", -1.0), "a.lua:12: loader toy: stiffness = -1, must be 0 to 1000000000 [N/m]");
    assert_refused(number("slope", 0.5), "a.lua:12: loader toy: slope = 0.5, must be <= 0");
    assert_refused(number("rounds", 0.0), "a.lua:12: loader toy: rounds = 0, must be 1 to 2147483647");
    assert_refused(number("rounds", 3e9), "a.lua:12: loader toy: rounds = 3000000000, must be 1 to 2147483647");
}

static void test_an_unknown_choice_gets_the_list_and_the_nearest(void **state) {
    (void)state;
    assert_refused(text("shape", "manifolds"), "--set: loader toy: shape = \"manifolds\", must be one of manifold, "
                                               "spheres26; did you mean manifold?");
    assert_refused(number("shape", 1.0), "a.lua:12: loader toy: shape = 1, must be one of manifold, spheres26");
}

static void test_an_infinite_limit_is_left_out_of_the_message(void **state) {
    (void)state;
    static const stn_param open_end[] = {
        STN_PARAM_REAL(sample, stiffness, "N/m", 1.0, 0.0, (double)INFINITY, "of the spring")};
    stn_error err;
    void *config = NULL;
    stn_setting setting = number("stiffness", -2.0);
    assert_int_equal(stn_config_create(context, "x", open_end, 1, sizeof(sample), &setting, 1, &config, &err),
                     STN_ERR_PARAMETER);
    assert_string_equal(err.text, "a.lua:12: x: stiffness = -2, must be >= 0 [N/m]");
}

static void test_values_print_as_they_are_written(void **state) {
    (void)state;
    static const char *const expected[] = {"1e-06", "-2", "5", "true", "spheres26", "untitled"};
    stn_error err;
    sample *config = NULL;
    assert_ok(make(NULL, 0, &config, &err), err);
    for (int32_t i = 0; i < STN_COUNT(params); i++) {
        char shown[40];
        assert_int_equal(stn_config_print(&params[i], config, shown, sizeof shown), strlen(expected[i]));
        assert_string_equal(shown, expected[i]);
    }
    char small[4];
    assert_int_equal(stn_config_print(&params[5], config, small, sizeof small), 3);
    assert_string_equal(small, "unt");
    drop(config);
}

static void test_running_out_of_memory_anywhere_leaves_nothing_behind(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_error err;
    stn_context *starved = stn_heap_context(&heap);
    long long before = heap.live;
    stn_setting settings[] = {text("title", "one"), text("title", "two")};
    for (long long n = 1;; n++) {
        void *config = &err;
        stn_heap_arm(&heap, n);
        stn_status status =
            stn_config_create(starved, "x", params, STN_COUNT(params), sizeof(sample), settings, 2, &config, &err);
        if (status == STN_OK) {
            assert_int_equal(n, 5); // the struct, the default text and two copies were refused before
            stn_config_destroy(starved, params, STN_COUNT(params), config);
            break;
        }
        assert_int_equal(status, STN_ERR_MEMORY);
        assert_null(config);
        assert_int_equal(heap.live, before);
    }
    assert_int_equal(heap.live, before);
    stn_context_destroy(starved);
    assert_int_equal(heap.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_fill_a_config_without_settings),
        cmocka_unit_test(test_settings_apply_in_order_so_the_last_one_wins),
        cmocka_unit_test(test_a_text_that_spells_the_declared_type_is_accepted),
        cmocka_unit_test(test_the_config_owns_its_texts),
        cmocka_unit_test(test_an_unknown_name_gets_the_nearest_or_the_list),
        cmocka_unit_test(test_a_plugin_without_parameters_says_so),
        cmocka_unit_test(test_a_wrong_type_is_named_with_the_value_and_what_is_wanted),
        cmocka_unit_test(test_a_number_that_is_not_finite_is_refused),
        cmocka_unit_test(test_out_of_range_tells_range_and_unit),
        cmocka_unit_test(test_an_unknown_choice_gets_the_list_and_the_nearest),
        cmocka_unit_test(test_an_infinite_limit_is_left_out_of_the_message),
        cmocka_unit_test(test_values_print_as_they_are_written),
        cmocka_unit_test(test_running_out_of_memory_anywhere_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
