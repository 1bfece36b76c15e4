// SPDX-License-Identifier: Apache-2.0
// Every compilation of the dense kernels that this processor can run, against the plain formulas.
#include "stn_test.h"

#include <string.h>

#include "base/kernels.h"
#include "stn_random.h"

typedef struct tables {
    const char *name;
    const panel_kernels *panel;
    const row_kernels *row;
    const body_kernels *body;
    const angle_kernels *angle;
} tables;

/// Those that this processor can run; every test is run with each.
static int32_t all_tables(tables *out) {
    int32_t count = 0;
    out[count++] =
        (tables){"plain", &panel_kernels_plain, &row_kernels_plain, &body_kernels_plain, &angle_kernels_plain};
#ifdef STN_KERNELS_X86
    if (kernels_have_avx2()) {
        out[count++] =
            (tables){"avx2", &panel_kernels_avx2, &row_kernels_avx2, &body_kernels_avx2, &angle_kernels_avx2};
    }
#endif
    return count;
}

// A panel: the first n columns of a random positive definite m x m matrix; NaN above the diagonal.
typedef struct sample {
    int32_t n, m, ld;
    double *a, *panel, *scale;
} sample;

static sample make(int32_t n, int32_t m, stn_random *r) {
    sample s = {n, m, (m + KERNEL_ROWS - 1) / KERNEL_ROWS * KERNEL_ROWS, NULL, NULL, NULL};
    size_t bytes = (size_t)s.ld * (size_t)n * sizeof(double);
    s.a = malloc((size_t)(m * m) * sizeof(double));
    s.panel = aligned_alloc(64, bytes);
    s.scale = malloc((size_t)n * sizeof(double));
    random_spd(r, m, 1.0, s.a);
    memset(s.panel, 0, bytes);
    for (int32_t j = 0; j < n; j++) {
        for (int32_t i = 0; i < m; i++) {
            s.panel[i + s.ld * j] = i < j ? (double)NAN : s.a[i * m + j];
        }
    }
    return s;
}

static void clear(sample *s) {
    free(s->a);
    free(s->panel);
    free(s->scale);
}

// L(i, j) from the panel's form.
static double entry(const sample *s, int32_t i, int32_t j) {
    double value = s->panel[i + s->ld * j];
    return i == j ? 1.0 / s->scale[j] : i / KERNEL_CHUNK == j / KERNEL_CHUNK && i < s->n ? value / s->scale[j] : value;
}

static void a_panel_becomes_the_columns_of_the_factor(void **state) {
    const tables *table = *state;
    stn_random r = {1};
    for (int32_t n = 1; n <= 31; n++) {
        for (int32_t below = 0; below <= 20; below += 1 + n % 3) {
            sample s = make(n, n + below, &r);
            assert_int_equal(table->panel->panel_factor(0, n, s.m, s.ld, s.panel, s.scale), -1);
            for (int32_t i = 0; i < s.m; i++) {
                for (int32_t j = 0; j <= i && j < n; j++) {
                    double sum = 0.0;
                    for (int32_t k = 0; k <= j; k++) {
                        sum += entry(&s, i, k) * entry(&s, j, k);
                    }
                    assert_near(sum, s.a[i * s.m + j], 1e-13 * s.m);
                }
            }
            clear(&s);
        }
    }
}

/// In stages of columns, and rows below the square in parts: not a bit differs from all at once.
static void a_panel_in_parts_is_the_panel_at_once(void **state) {
    const tables *table = *state;
    enum { STAGE = 2 * KERNEL_CHUNK };
    stn_random r = {6};
    const panel_kernels *k = table->panel;
    for (int32_t n = 1; n <= 31; n++) {
        for (int32_t below = 0; below <= 40; below += 1 + n % 5) {
            stn_random same = r;
            sample s = make(n, n + below, &r), whole = make(n, n + below, &same);
            assert_int_equal(k->panel_factor(0, n, whole.m, whole.ld, whole.panel, whole.scale), -1);
            for (int32_t c = 0; c < n; c += STAGE) {
                const int32_t end = c + STAGE < n ? c + STAGE : n;
                int32_t row = (end + KERNEL_ROWS - 1) / KERNEL_ROWS * KERNEL_ROWS;
                row = row < s.m ? row : s.m;
                assert_int_equal(k->panel_factor(c, end, row, s.ld, s.panel, s.scale), -1);
                for (; row < s.m; row += 2 * KERNEL_ROWS) {
                    const int32_t last = row + 2 * KERNEL_ROWS < s.m ? row + 2 * KERNEL_ROWS : s.m;
                    k->panel_rows(c, end, row, last, s.ld, s.panel, s.scale);
                }
            }
            for (int32_t j = 0; j < n; j++) {
                for (int32_t i = j; i < s.m; i++) {
                    assert_true(entry(&s, i, j) == entry(&whole, i, j));
                }
            }
            clear(&s);
            clear(&whole);
        }
    }
}

static void the_first_bad_column_is_told(void **state) {
    const tables *table = *state;
    static const double bad[] = {0.0, -1.0, NAN, INFINITY};
    stn_random r = {2};
    for (int32_t n = 1; n <= 20; n++) {
        for (int32_t column = 0; column < n; column++) {
            for (int32_t b = 0; b < STN_COUNT(bad); b++) {
                sample s = make(n, n + 5, &r);
                for (int32_t j = 0; j < n; j++) { // diagonal, so that the pivot is the entry
                    memset(s.panel + s.ld * j, 0, (size_t)s.ld * sizeof(double));
                    s.panel[j * (s.ld + 1)] = j == column ? bad[b] : 1.0;
                }
                assert_int_equal(table->panel->panel_factor(0, n, s.m, s.ld, s.panel, s.scale), column);
                clear(&s);
            }
        }
    }
}

/// Rows below the columns of a panel go to other rows of another one, in runs; nothing else there changes.
static void outer_products_go_where_their_runs_say(void **state) {
    const tables *table = *state;
    enum { ROWS = 64, COLUMNS = 16 };
    stn_random r = {3};
    for (int32_t n = 1; n <= 14; n++) {
        for (int32_t length = 1; length <= 22; length++) { // of the first run
            const int32_t skipped = n % length, columns = n % 2 == 0 && length - skipped > 6 ? 7 : 1;
            const row_run runs[] = {{n, 2, length}, {n + length, 30, 1 + n % 9}, {n + length + 9, 41, length}};
            sample s = make(n, n + 2 * length + 9, &r);
            double to[ROWS * COLUMNS], expected[ROWS * COLUMNS];
            table->panel->panel_factor(0, n, s.m, s.ld, s.panel, s.scale);
            for (int32_t i = 0; i < ROWS * COLUMNS; i++) {
                to[i] = expected[i] = random_real(&r);
            }
            for (int32_t run = 0; run < STN_COUNT(runs); run++) {
                for (int32_t i = run == 0 ? skipped : 0; i < runs[run].count; i++) {
                    for (int32_t j = 0; j < columns; j++) {
                        for (int32_t k = 0; k < n; k++) {
                            expected[runs[run].to + i + ROWS * j] -=
                                entry(&s, runs[run].from + i, k) * entry(&s, n + skipped + j, k);
                        }
                    }
                }
            }
            table->panel->panel_subtract(n, s.ld, s.panel, runs, STN_COUNT(runs), skipped, columns, to, ROWS);
            for (int32_t i = 0; i < ROWS; i++) {
                for (int32_t j = 0; j < COLUMNS; j++) {
                    const bool above = i >= runs->to + skipped && i < runs->to + skipped + j; // undefined
                    if (!above) {
                        assert_near(to[i + ROWS * j], expected[i + ROWS * j], 1e-13);
                    }
                }
            }
            clear(&s);
        }
    }
}

static void panel_solves_follow_the_factor(void **state) {
    const tables *table = *state;
    stn_random r = {4};
    for (int32_t n = 1; n <= 31; n++) {
        sample s = make(n, n + n % 11, &r);
        double x[48], expected[48];
        double *v = aligned_alloc(64, (size_t)s.ld * sizeof(double));
        memset(v, 0, (size_t)s.ld * sizeof(double));
        table->panel->panel_factor(0, n, s.m, s.ld, s.panel, s.scale);
        for (int32_t i = 0; i < s.m; i++) {
            v[i] = x[i] = expected[i] = random_real(&r);
        }
        table->panel->panel_forward(n, s.m, s.ld, s.panel, s.scale, v);
        for (int32_t j = 0; j < n; j++) {
            expected[j] /= entry(&s, j, j);
            for (int32_t i = j + 1; i < s.m; i++) {
                expected[i] -= entry(&s, i, j) * expected[j];
            }
        }
        for (int32_t i = 0; i < s.m; i++) {
            assert_near(v[i], expected[i], 1e-11);
            v[i] = x[i];
        }
        table->panel->panel_backward(n, s.m, s.ld, s.panel, s.scale, v);
        for (int32_t j = n - 1; j >= 0; j--) {
            for (int32_t i = j + 1; i < s.m; i++) {
                x[j] -= entry(&s, i, j) * x[i];
            }
            x[j] /= entry(&s, j, j);
        }
        for (int32_t i = 0; i < s.m; i++) {
            assert_near(v[i], x[i], 1e-11);
        }
        free(v);
        clear(&s);
    }
}

static void runs_are_added_where_they_belong_and_nowhere_else(void **state) {
    const tables *table = *state;
    enum { ROWS = 40 };
    static const row_run runs[] = {{1, 2, 9}, {11, 15, 1}, {14, 17, 6}, {22, 30, 3}};
    double from[ROWS], to[ROWS] = {0.0}, expected[ROWS] = {0.0};
    for (int32_t i = 0; i < ROWS; i++) {
        from[i] = 1.0 + i;
    }
    for (int32_t k = 0; k < STN_COUNT(runs); k++) {
        for (int32_t i = 0; i < runs[k].count; i++) {
            expected[runs[k].to + i] += from[runs[k].from + i];
        }
    }
    table->panel->add_runs(runs, STN_COUNT(runs), from, to);
    assert_memory_equal(to, expected, sizeof to);
}

static void blocks_are_written_to_columns_or_rows_of_a_panel(void **state) {
    const tables *table = *state;
    enum { LD = 8, MOST = 8 };
    for (int32_t rows = 1; rows <= MOST; rows++) {
        for (int32_t columns = 1; columns <= MOST; columns++) {
            for (int32_t flipped = 0; flipped < 2; flipped++) {
                double from[MOST * MOST], to[LD * MOST] = {0.0}, expected[LD * MOST] = {0.0};
                for (int32_t i = 0; i < rows * columns; i++) {
                    from[i] = 1.0 + i;
                    const int32_t row = i / columns, column = i % columns;
                    expected[flipped != 0 ? row * LD + column : column * LD + row] = from[i];
                }
                table->panel->write_block(rows, columns, flipped != 0, from, to, LD);
                assert_memory_equal(to, expected, sizeof to);
            }
        }
    }
}

static void row_kernels_give_the_factor_and_solve_with_it(void **state) {
    const tables *table = *state;
    stn_random r = {6};
    for (int32_t n = 1; n <= 90; n += n < 20 ? 1 : 13) {
        double *a = malloc((size_t)(n * n) * sizeof *a), *l = malloc((size_t)(n * n) * sizeof *l);
        double x[5 * 90], y[5 * 90];
        random_spd(&r, n, 1.0, a);
        memcpy(l, a, (size_t)(n * n) * sizeof *a);
        for (int32_t i = 0; i < 5 * n; i++) {
            x[i] = y[i] = random_real(&r);
        }
        assert_int_equal(table->row->cholesky(n, l, n), -1);
        table->row->forward(n, l, n, 5, x, n);
        table->row->backward(n, l, n, 5, x, n);
        for (int32_t c = 0; c < 5; c++) {
            plain_solve(n, a, y + c * n);
        }
        for (int32_t i = 0; i < 5 * n; i++) {
            assert_near(x[i], y[i], 1e-10);
        }
        a[0] = -1.0;
        assert_int_equal(table->row->cholesky(n, a, n), 0);
        free(a);
        free(l);
    }
}

static void row_kernels_give_sums(void **state) {
    const tables *table = *state;
    stn_random r = {8};
    for (int32_t n = 0; n <= 21; n++) {
        double a[21 * 21], x[21], x0[21], y[22], z[22];
        random_spd(&r, n, 1.0, a);
        for (int32_t i = 0; i < n; i++) {
            x[i] = random_real(&r);
            x0[i] = random_real(&r);
            y[i] = z[i] = random_real(&r);
        }
        y[n] = z[n] = 7.0; // not theirs
        table->row->mul_add(n, a, -0.5, x, NULL, y);
        table->row->mul_add(n, a, 2.0, x, x0, y);
        table->row->add_scaled(n, 3.0, x0, y);
        for (int32_t i = 0; i < n; i++) {
            for (int32_t j = 0; j < n; j++) {
                z[i] += a[n * i + j] * (-0.5 * x[j] + 2.0 * (x[j] - x0[j]));
            }
            z[i] += 3.0 * x0[i];
        }
        for (int32_t i = 0; i <= n; i++) {
            assert_near(y[i], z[i], 1e-12);
        }
    }
}

static void body_kernels_give_the_blocks_of_two_contacts(void **state) {
    const tables *table = *state;
    stn_random r = {7};
    const body_kernels *body = table->body;
    double a[36], l[BODY_FACTOR], J[2][18], expected[9], W[10];
    _Alignas(32) double X[BODY_HALF], Y[BODY_HALF];
    random_spd(&r, 6, 1.0, a);
    for (int32_t i = 0; i < 36; i++) {
        J[i / 18][i % 18] = random_real(&r);
    }
    assert_int_equal(body->factor(a, 1e-13, l), -1);
    for (int32_t i = 0; i < 36; i++) {
        double sum = 0.0;
        for (int32_t k = 0; k <= i % 6 && k <= i / 6; k++) {
            sum += l[6 * (i / 6) + k] * l[6 * (i % 6) + k];
        }
        assert_near(sum, a[i], 1e-14);
        assert_near(l[36 + i % 6] * l[7 * (i % 6)], 1.0, 1e-15);
    }
    body->half(l, J[0], X);
    body->half(l, J[1], Y);
    for (int32_t k = 0; k < 6; k++) {
        assert_near(X[4 * k + 3], 0.0, 0.0);
    }
    for (int32_t i = 0; i < 10; i++) {
        W[i] = i;
    }
    body->pair_add(X, Y, W);
    for (int32_t i = 0; i < 9; i++) {
        double x[6];
        memcpy(x, J[1] + 6 * (i % 3), sizeof x);
        plain_solve(6, a, x);
        expected[i] = i;
        for (int32_t k = 0; k < 6; k++) {
            expected[i] += J[0][6 * (i / 3) + k] * x[k];
        }
        assert_near(W[i], expected[i], 1e-13);
    }
    assert_near(W[9], 9.0, 0.0);
    // the size of J A^-1 J^T of one contact, and of the sum of both, without them
    const double *const factors[2] = {l, l}, *const rows[2] = {J[0], J[1]};
    double sum[9] = {0.0};
    for (int32_t count = 1; count <= 2; count++) {
        double square = 0.0, trace;
        for (int32_t i = 0; i < 9; i++) {
            double x[6];
            memcpy(x, J[count - 1] + 6 * (i % 3), sizeof x);
            plain_solve(6, a, x);
            for (int32_t k = 0; k < 6; k++) {
                sum[i] += J[count - 1][6 * (i / 3) + k] * x[k];
            }
            square += sum[i] * sum[i];
        }
        assert_near(body->norm(count, factors, rows, &trace), sqrt(square), 1e-13 * sqrt(square));
        assert_near(trace, sum[0] + sum[4] + sum[8], 1e-13 * trace);
    }
}

static void a_singular_body_is_told_by_its_row(void **state) {
    const tables *table = *state;
    static const double bad[] = {0.0, -1.0, NAN, INFINITY, 1e-14};
    for (int32_t row = 0; row < 6; row++) {
        for (int32_t b = 0; b < STN_COUNT(bad); b++) {
            double a[36] = {0.0}, l[BODY_FACTOR];
            for (int32_t i = 0; i < 6; i++) {
                a[7 * i] = i == row ? bad[b] : 2.0;
            }
            if (bad[b] == 1e-14) { // a pivot of 1e-14 where 1 stood: one row is almost another
                int32_t other = row == 0 ? 1 : 0, later = row == 0 ? 1 : row;
                a[7 * row] = a[7 * other] = a[6 * row + other] = a[6 * other + row] = 1.0;
                a[7 * later] += 1e-14;
                assert_int_equal(table->body->factor(a, 1e-13, l), later);
            } else {
                assert_int_equal(table->body->factor(a, 1e-13, l), row);
            }
        }
    }
}

// Distance to the exact value in units of the last place of 1 (`ulps` of one) and of the value itself.
static void worsen(double value, long double exact, double *of_one, double *of_value) {
    double error = (double)fabsl(exact - (long double)value);
    int exponent = 0;
    frexp((double)exact, &exponent);
    *of_one = worse(*of_one, error / 0x1p-53);
    *of_value = worse(*of_value, error / ldexp(1.0, exponent - 53));
}

static void angle_kernels_are_as_good_as_the_c_library(void **state) {
    const tables *table = *state;
    const double range[] = {1e-8, 0.9, 7.0, 1e3, 9.9e5};
    stn_random r = {5};
    double of_one = 0.0, of_value = 0.0, angle[8], cosine[8], sine[8];
    for (int32_t k = 0; k < 400000; k++) {
        for (int32_t i = 0; i < 8; i++) {
            double n = (double)random_below(&r, 1000000), x = range[k % STN_COUNT(range)] * random_real(&r);
            angle[i] = k % 2 == 0 ? x : n * 1.57079632679489661923 * random_below(&r, 2) + 1e-3 * x;
            angle[i] = fabs(angle[i]) < 1e6 ? angle[i] : x;
        }
        table->angle->cosines_and_sines(8, angle, cosine, sine);
        for (int32_t i = 0; i < 8; i++) {
            worsen(cosine[i], cosl((long double)angle[i]), &of_one, &of_value);
            worsen(sine[i], sinl((long double)angle[i]), &of_one, &of_value);
        }
    }
    print_message("  cosines and sines: %.3f and %.3f ulp\n", of_one, of_value);
    assert_true(of_value < 1.0);
}

static void angles_beyond_all_turns_are_left_to_the_c_library(void **state) {
    const tables *table = *state;
    const double angle[8] = {1e6, -1e300, 0.5, 3e7, (double)INFINITY, (double)NAN, -0.0, 1.0};
    double cosine[8], sine[8];
    table->angle->cosines_and_sines(8, angle, cosine, sine);
    for (int32_t i = 0; i < 8; i++) {
        if (isfinite(angle[i])) {
            assert_near(cosine[i], cos(angle[i]), 2e-16);
            assert_near(sine[i], sin(angle[i]), 2e-16);
        } else {
            assert_true(isnan(cosine[i]) && isnan(sine[i]));
        }
    }
}

int main(void) {
    tables table[2];
    int failed = 0;
    for (int32_t t = all_tables(table) - 1; t >= 0; t--) {
        const struct CMUnitTest tests[] = {
            cmocka_unit_test_prestate(a_panel_becomes_the_columns_of_the_factor, &table[t]),
            cmocka_unit_test_prestate(a_panel_in_parts_is_the_panel_at_once, &table[t]),
            cmocka_unit_test_prestate(the_first_bad_column_is_told, &table[t]),
            cmocka_unit_test_prestate(outer_products_go_where_their_runs_say, &table[t]),
            cmocka_unit_test_prestate(panel_solves_follow_the_factor, &table[t]),
            cmocka_unit_test_prestate(runs_are_added_where_they_belong_and_nowhere_else, &table[t]),
            cmocka_unit_test_prestate(blocks_are_written_to_columns_or_rows_of_a_panel, &table[t]),
            cmocka_unit_test_prestate(row_kernels_give_the_factor_and_solve_with_it, &table[t]),
            cmocka_unit_test_prestate(row_kernels_give_sums, &table[t]),
            cmocka_unit_test_prestate(body_kernels_give_the_blocks_of_two_contacts, &table[t]),
            cmocka_unit_test_prestate(a_singular_body_is_told_by_its_row, &table[t]),
            cmocka_unit_test_prestate(angle_kernels_are_as_good_as_the_c_library, &table[t]),
            cmocka_unit_test_prestate(angles_beyond_all_turns_are_left_to_the_c_library, &table[t]),
        };
        failed += cmocka_run_group_tests_name(table[t].name, tests, NULL, NULL);
    }
    return failed;
}
