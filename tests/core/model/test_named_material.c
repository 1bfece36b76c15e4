// SPDX-License-Identifier: Apache-2.0
// Materials by name: the data, the table in docs/materials.md, and the pairs that its sources measured.
#include <stdio.h>
#include <string.h>

#include <stiction/model.h>

#include "stn_test.h"

typedef struct row {
    char name[32], measured[64];
    double density, mu, mu_static, modulus;
} row;

/// "-" is NaN.
static double number(const char *text) {
    double value = (double)NAN;
    assert_true(strcmp(text, "-") == 0 || sscanf(text, "%lf", &value) == 1);
    return value;
}

static bool read_row(const char *line, row *out) {
    char at_rest[32];
    int fields = sscanf(line, "| `%31[a-z]` | %lf | %lf | %31s | %lf | %63[^|] |", out->name, &out->density, &out->mu,
                        at_rest, &out->modulus, out->measured);
    if (fields == 6) {
        out->mu_static = number(at_rest);
    }
    return fields == 6;
}

static FILE *open_page(void) {
    FILE *page = fopen(STN_SOURCE_DIR "/docs/materials.md", "r");
    assert_non_null(page);
    return page;
}

static void the_page_lists_the_data_in_their_order(void **state) {
    (void)state;
    int32_t count = 0, found = 0;
    const stn_named_material *all = stn_named_materials(&count);
    FILE *page = open_page();
    char line[1024];
    row r;
    while (fgets(line, sizeof line, page) != NULL) {
        if (!read_row(line, &r)) {
            continue;
        }
        assert_true(found < count);
        const stn_named_material *m = &all[found++];
        assert_string_equal(r.name, m->name);
        assert_ptr_equal(stn_named_material_find(r.name), m);
        assert_true(r.density == m->density && r.mu == m->surface.mu && r.modulus == m->surface.modulus);
        assert_true(r.mu_static == m->surface.mu_static || (isnan(r.mu_static) && isnan(m->surface.mu_static)));
        assert_true(isnan(m->surface.stiffness) && isnan(m->surface.relaxation_time) && isnan(m->surface.dissipation) &&
                    isnan(m->surface.restitution));
        assert_true(isnan(m->surface.mu_static) || m->surface.mu_static > m->surface.mu);
    }
    fclose(page);
    assert_int_equal(found, count);
    assert_null(stn_named_material_find("unobtainium"));
}

static double at_rest(const stn_named_material *m) {
    return isnan(m->surface.mu_static) ? m->surface.mu : m->surface.mu_static;
}

/// The combination rule, written again.
static double combined(double a, double b) {
    return 2.0 / (1.0 / a + 1.0 / b);
}

static void measured_pairs_come_out_as_measured(void **state) {
    (void)state;
    int32_t pairs = 0;
    FILE *page = open_page();
    char line[1024], with[32], sliding[32], resting[32];
    row r;
    while (fgets(line, sizeof line, page) != NULL) {
        if (!read_row(line, &r) || sscanf(r.measured, "`%31[a-z]` %31[^,], %31s", with, sliding, resting) != 3) {
            continue;
        }
        const stn_named_material *a = stn_named_material_find(r.name), *b = stn_named_material_find(with);
        assert_non_null(b);
        assert_near(combined(a->surface.mu, b->surface.mu), number(sliding), 0.005); // sources have two digits
        if (strcmp(resting, "-") != 0) {
            assert_near(combined(at_rest(a), at_rest(b)), number(resting), 0.005);
        }
        pairs++;
    }
    fclose(page);
    assert_int_equal(pairs, 15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_lists_the_data_in_their_order),
        cmocka_unit_test(measured_pairs_come_out_as_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
