// SPDX-License-Identifier: Apache-2.0
#include "stn_random.h"
#include "stn_test.h"

#include <float.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void test_decimal_numbers_are_read_exactly(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"0", 0.0},
        {"-0.5", -0.5},
        {"+3", 3.0},
        {".25", 0.25},
        {"7.", 7.0},
        {" 1e-3 ", 1e-3},
        {"\t2E+2\n", 200.0},
        {"0.1", 0.1},
        {"4.9e-324", 4.9e-324},
        {"1.7976931348623157e308", DBL_MAX},
    };
    for (int32_t i = 0; i < STN_COUNT(good); i++) {
        double value = 99.0;
        assert_true(stn_parse_real(good[i].text, &value));
        assert_near(value, good[i].value, 0.0);
    }
}

static void assert_reads_like_the_library(const char *text) {
    double value = 99.0, expected = strtod(text, NULL);
    if (!stn_parse_real(text, &value) || memcmp(&value, &expected, sizeof value) != 0) {
        fail_msg("%s became %.17g instead of %.17g", text, value, expected);
    }
}

/// The C library rounds correctly, so that every bit must agree, on both sides of where the short way ends.
static void test_every_bit_is_that_of_the_correctly_rounded_number(void **state) {
    (void)state;
    static const char *const edges[] = {"9007199254740992",
                                        "9007199254740993",
                                        "-9007199254740993e22",
                                        "9007199254740992e-22",
                                        "9007199254740993e-22",
                                        "1e22",
                                        "1e23",
                                        "-0",
                                        "-0.0e-400",
                                        "0e999999999999999999",
                                        "2.2250738585072011e-308",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "99999999999999999999",
                                        "0.1000000000000000055511151231257827",
                                        "000000000000000000001.5",
                                        "1.50000000000000000000",
                                        "123456789012345678901234567890e-25"};
    for (int32_t i = 0; i < STN_COUNT(edges); i++) {
        assert_reads_like_the_library(edges[i]);
    }
    stn_random random = {5};
    for (int32_t i = 0; i < 20000; i++) {
        char text[60];
        double x = random_real(&random) * pow(10.0, floor(30.0 * random_real(&random)));
        snprintf(text, sizeof text, i % 2 == 0 ? "%.*e" : "%.*g", 1 + i % 20, x);
        assert_reads_like_the_library(text);
    }
}

static void test_a_number_at_the_start_of_other_bytes_ends_where_they_begin(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size, length;
        double value;
    } cases[] = {{"1.25/7", 6, 4, 1.25},
                 {"1.25", 3, 3, 1.2},
                 {"-5,3", 4, 2, -5.0},
                 {"1e5", 3, 3, 1e5},
                 {"1e55", 3, 3, 1e5},
                 {"12x", 3, 2, 12.0},
                 {"1e5", 2, 0, 99.0},
                 {"1.5", 0, 0, 99.0},
                 {"-", 1, 0, 99.0},
                 {"+.", 2, 0, 99.0},
                 {"1e999", 5, 0, 99.0},
                 {" 1", 2, 0, 99.0},
                 {"5\0"
                  "6",
                  3, 1, 5.0}};
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        double value = 99.0;
        assert_int_equal(stn_scan_real(cases[i].bytes, cases[i].size, &value), cases[i].length);
        assert_near(value, cases[i].value, 0.0);
    }
}

static void test_what_is_no_finite_decimal_number_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",   " ", "1,5", "1.5x", "0x10", "nan", "inf", "-infinity", "1e400", "1e",
                                      "e5", ".", "-",   "+-1",  "1 2",  "--1", "1e+", "1.2.3",     "1_0",   "one"};
    for (int32_t i = 0; i < STN_COUNT(bad); i++) {
        double value = 99.0;
        if (stn_parse_real(bad[i], &value)) {
            fail_msg("accepted \"%s\"", bad[i]);
        }
        assert_near(value, 99.0, 0.0);
    }
    double value = 0.0;
    assert_false(stn_parse_real(NULL, &value));
}

static void test_a_number_of_many_digits_is_refused_rather_than_cut(void **state) {
    (void)state;
    char text[600];
    double value = 99.0;
    memset(text, '1', sizeof text);
    text[300] = '\0';
    assert_true(stn_parse_real(text, &value));
    memset(text, '0', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_false(stn_parse_real(text, &value));
}

static void test_lists_are_counted_and_bounded(void **state) {
    (void)state;
    double v[3] = {0.0, 0.0, 0.0};
    assert_int_equal(stn_parse_reals(" 1 -2.5\n3e0 ", v, 3), 3);
    assert_near(v[0], 1.0, 0.0);
    assert_near(v[1], -2.5, 0.0);
    assert_near(v[2], 3.0, 0.0);
    assert_int_equal(stn_parse_reals("", v, 3), 0);
    assert_int_equal(stn_parse_reals("1 2 3 4", v, 3), -1);
    assert_int_equal(stn_parse_reals("1 2 x", v, 3), -1);
    assert_int_equal(stn_parse_reals("1,2", v, 3), -1);
}

static void test_printed_numbers_read_back_to_the_same_bits(void **state) {
    (void)state;
    static const double values[] = {
        0.0, -0.0, 1.0, 0.1, 0.1 + 0.2, 1.0 / 3.0, 1e-6, 9007199254740993.0, DBL_MAX, DBL_MIN, 4.9e-324, -123456.789};
    for (int32_t i = 0; i < STN_COUNT(values); i++) {
        char text[40];
        double back = 99.0;
        size_t length = stn_print_real(text, sizeof text, values[i]);
        assert_int_equal(length, strlen(text));
        assert_true(stn_parse_real(text, &back));
        assert_memory_equal(&back, &values[i], sizeof back);
    }
}

static void test_printed_numbers_are_as_short_as_can_be(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {1e-6, "1e-06"},
                 {100.0, "100"},
                 {(double)NAN, "nan"},
                 {(double)INFINITY, "inf"},
                 {-(double)INFINITY, "-inf"}};
    char text[40];
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        assert_int_equal(stn_print_real(text, sizeof text, cases[i].value), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
    assert_int_equal(stn_print_real(text, 4, 0.125), 0);
    assert_int_equal(stn_print_real(text, 3, (double)NAN), 0);
    assert_int_equal(stn_print_real(text, 0, 1.0), 0);
}

/// What the C library needs: the least of 15, 16 and 17 digits that reads back.
static void print_by_trials(char text[40], double value) {
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, 40, "%.*g", precision, value);
        if (strtod(text, NULL) == value) {
            return;
        }
    }
}

static void test_printed_numbers_are_those_of_the_c_library(void **state) {
    (void)state;
    uint64_t random = 1;
    int32_t other = 0; // of 16 digits where those of %.16g, which are nearer, need a 17th
    for (int32_t i = 0; i < 300000; i++) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        double value = 0.0, scale = pow(10.0, (double)(i % 60 - 30)), back = 0.0;
        if (i % 3 == 0) {
            uint64_t bits = random;
            memcpy(&value, &bits, sizeof value); // any number
        } else if (i % 3 == 1) {
            value = (double)((int64_t)random >> 11) * scale; // of any size that occurs
        } else {
            value = round((double)((int64_t)random >> 40)) / 1000.0 * scale; // of few digits
        }
        char text[40], expected[40], rounded[40];
        if (!isfinite(value)) {
            continue;
        }
        const size_t length = stn_print_real(text, sizeof text, value);
        print_by_trials(expected, value);
        assert_int_equal(length, strlen(text));
        assert_true(stn_parse_real(text, &back));
        assert_memory_equal(&back, &value, sizeof back);
        assert_true(length <= strlen(expected));
        other += strcmp(text, expected) != 0;
        const int32_t digits = i % 17 + 1;
        snprintf(expected, sizeof expected, "%.*g", digits, value);
        assert_int_equal(stn_print_rounded(rounded, sizeof rounded, value, digits), strlen(expected));
        assert_string_equal(rounded, expected);
    }
    assert_true(other < 300);
}

static void test_numbers_at_the_edge_of_exponents_are_printed_as_by_the_c_library(void **state) {
    (void)state;
    static const double edges[] = {1e-5,
                                   1e-4,
                                   1e14,
                                   1e15,
                                   1e16,
                                   1e17,
                                   1e18,
                                   9007199254740992.0,
                                   1234567890123456.0,
                                   12345678901234568.0,
                                   1e22,
                                   1e23,
                                   2.2250738585072014e-308};
    for (int32_t i = 0; i < STN_COUNT(edges); i++) {
        const double near[] = {edges[i], nextafter(edges[i], 0.0), nextafter(edges[i], DBL_MAX), -edges[i]};
        for (int32_t k = 0; k < STN_COUNT(near); k++) {
            char text[40], expected[40];
            stn_print_real(text, sizeof text, near[k]);
            print_by_trials(expected, near[k]);
            assert_string_equal(text, expected);
        }
    }
}

/// There the next number below is half as far away as the one above, and the one of fewest digits need not be the
/// nearest of so many.
static void test_powers_of_two_and_their_neighbours_are_printed_with_the_fewest_digits(void **state) {
    (void)state;
    for (int32_t e = -1074; e < 1024; e++) {
        const double power = ldexp(1.0, e);
        const double near[] = {power, nextafter(power, 0.0), nextafter(power, DBL_MAX), 3.0 * power, -power};
        for (int32_t k = 0; k < STN_COUNT(near); k++) {
            char text[40], expected[40];
            double back = 0.0;
            if (near[k] == 0.0 || !isfinite(near[k])) {
                continue;
            }
            stn_print_real(text, sizeof text, near[k]);
            print_by_trials(expected, near[k]);
            assert_true(stn_parse_real(text, &back));
            assert_memory_equal(&back, &near[k], sizeof back);
            assert_true(strlen(text) <= strlen(expected));
        }
    }
}

static void test_a_comma_locale_changes_neither_reading_nor_printing(void **state) {
    (void)state;
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL) {
        print_message("skipped: no locale de_DE.UTF-8\n");
        skip();
    }
    double value = 0.0, tiny = 0.0; // the second is beyond what one multiplication converts
    char text[40];
    bool point = stn_parse_real("1.5", &value) && stn_parse_real("2.5e-300", &tiny);
    bool comma = stn_parse_real("1,5", &value) || stn_parse_real("2,5e-300", &tiny);
    stn_print_real(text, sizeof text, 0.25);
    setlocale(LC_NUMERIC, "C");
    assert_true(point);
    assert_false(comma);
    assert_near(value, 1.5, 0.0);
    assert_near(tiny, 2.5e-300, 0.0);
    assert_string_equal(text, "0.25");
}

static void test_typing_errors_find_their_word_and_other_words_do_not(void **state) {
    (void)state;
    static const char *const words[] = {"tolerance", "max_iterations", "mu", "dt"};
    assert_string_equal(stn_suggest("tolerence", words, 4), "tolerance");
    assert_string_equal(stn_suggest("tolreance", words, 4), "tolerance");
    assert_string_equal(stn_suggest("max_iteration", words, 4), "max_iterations");
    assert_string_equal(stn_suggest("my", words, 4), "mu");
    assert_string_equal(stn_suggest("dt", words, 4), "dt");
    assert_null(stn_suggest("stiffness", words, 4));
    assert_null(stn_suggest("mu", words, 0));
    assert_null(stn_suggest("a_word_that_is_longer_than_any_word_that_a_user_would_type_into_a_file", words, 4));
}

static void test_the_hash_is_that_of_fnv_1a(void **state) {
    (void)state;
    assert_true(stn_hash(0, "", 0) == 0xcbf29ce484222325u);
    assert_true(stn_hash(0, "a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(stn_hash(0, "foobar", 6) == 0x85944171f73967e8u);
    assert_true(stn_hash(1, "a", 1) != stn_hash(0, "a", 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decimal_numbers_are_read_exactly),
        cmocka_unit_test(test_every_bit_is_that_of_the_correctly_rounded_number),
        cmocka_unit_test(test_a_number_at_the_start_of_other_bytes_ends_where_they_begin),
        cmocka_unit_test(test_what_is_no_finite_decimal_number_is_refused),
        cmocka_unit_test(test_a_number_of_many_digits_is_refused_rather_than_cut),
        cmocka_unit_test(test_lists_are_counted_and_bounded),
        cmocka_unit_test(test_printed_numbers_read_back_to_the_same_bits),
        cmocka_unit_test(test_printed_numbers_are_as_short_as_can_be),
        cmocka_unit_test(test_printed_numbers_are_those_of_the_c_library),
        cmocka_unit_test(test_numbers_at_the_edge_of_exponents_are_printed_as_by_the_c_library),
        cmocka_unit_test(test_powers_of_two_and_their_neighbours_are_printed_with_the_fewest_digits),
        cmocka_unit_test(test_a_comma_locale_changes_neither_reading_nor_printing),
        cmocka_unit_test(test_typing_errors_find_their_word_and_other_words_do_not),
        cmocka_unit_test(test_the_hash_is_that_of_fnv_1a),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
