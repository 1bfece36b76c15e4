// SPDX-License-Identifier: Apache-2.0
// What every unit test includes: cmocka in the order it wants, and comparisons of reals.
#ifndef STN_TEST_H
#define STN_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <stiction/base.h>

/// The larger one, or what is no number: fmax leaves NaN out, and a test of the result would pass.
static inline double worse(double a, double b) {
    return b <= a || isnan(a) ? a : b;
}

/// |a - b| <= tolerance; a NaN on either side fails, and the figures are printed.
#define assert_near(a, b, tolerance)                                                             \
    do {                                                                                         \
        double near_a = (a), near_b = (b), near_t = (tolerance);                                 \
        if (!(fabs(near_a - near_b) <= near_t)) {                                                \
            print_message("%s = %.17g, expected %.17g within %g\n", #a, near_a, near_b, near_t); \
            fail();                                                                              \
        }                                                                                        \
    } while (0)

/// The call must give STN_OK; prints the error text when it does not. `error` is a stn_error.
#define assert_ok(call, error)                                                               \
    do {                                                                                     \
        stn_status ok_status = (call);                                                       \
        if (ok_status != STN_OK) {                                                           \
            print_message("%s: %s (%s)\n", #call, (error).text, stn_status_text(ok_status)); \
            fail();                                                                          \
        }                                                                                    \
    } while (0)

/// The call, which takes `&said` for its error, must give `expected` and a text with `part` in it.
#define assert_error(call, expected, part)                       \
    do {                                                         \
        stn_error said = {0};                                    \
        assert_int_equal((call), expected);                      \
        if (strstr(said.text, part) == NULL) {                   \
            fail_msg("'%s' does not say '%s'", said.text, part); \
        }                                                        \
    } while (0)

/// Skips the test when a file or folder is absent: tests against shared reference data say "skipped" without it.
#define skip_without(path)                           \
    do {                                             \
        if (access((path), R_OK) != 0) {             \
            print_message("skipped: no %s\n", path); \
            skip();                                  \
        }                                            \
    } while (0)

#endif
