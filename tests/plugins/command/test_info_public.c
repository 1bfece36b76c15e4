// SPDX-License-Identifier: Apache-2.0
// `stiction info` on public robots and meshes, against figures that other programs confirm: counts and mass, forward
// kinematics 1e-9 m, mass matrix and gravity 1e-9 relative; counts, size, area and volume of meshes.
#include "answer.h"

#define MODELS STN_SHARED_DIR "/models"

enum { COLUMNS = 100, ROW = 8192 };

typedef struct row {
    char line[ROW];
    const char *fields[COLUMNS];
    int count;
} row;

static void split(row *r) {
    r->count = 0;
    r->line[strcspn(r->line, "\r\n")] = '\0';
    for (char *p = r->line; p != NULL && r->count < COLUMNS;) {
        r->fields[r->count++] = p;
        p = strchr(p, ',');
        if (p != NULL) {
            *p++ = '\0';
        }
    }
}

static const char *field(const row *names, const row *values, const char *name) {
    for (int i = 0; i < names->count && i < values->count; i++) {
        if (strcmp(names->fields[i], name) == 0) {
            return values->fields[i];
        }
    }
    fail_msg("no column %s", name);
    return "";
}

static double real_field(const row *names, const row *values, const char *configuration, const char *name) {
    char column[64];
    double value = 0.0;
    snprintf(column, sizeof column, "%s%s", configuration, name);
    assert_true(stn_parse_real(field(names, values, column), &value));
    return value;
}

/// Largest deviation over its tolerance.
static void worst(double *most, double got, double expected, double tolerance) {
    double ratio = fabs(got - expected) / tolerance;
    *most = !(ratio <= *most) ? ratio : *most;
}

static double compare_counts(const cJSON *json, const row *names, const row *values) {
    static const char *const types[] = {"fixed", "revolute", "continuous", "prismatic", "planar", "floating", "mimic"};
    const cJSON *joints = item(json, "joints");
    double most = 0.0, mass = real_field(names, values, "", "total_mass");
    assert_string_equal(text_of(json, "root_link"), field(names, values, "root_link"));
    worst(&most, number(json, "links"), real_field(names, values, "n_", "links"), 0.5);
    worst(&most, number(joints, "total"), real_field(names, values, "n_", "joints"), 0.5);
    for (int i = 0; i < STN_COUNT(types); i++) {
        worst(&most, number(joints, types[i]), real_field(names, values, "n_", types[i]), 0.5);
    }
    worst(&most, number(json, "nv"), real_field(names, values, "", "dof_full"), 0.5);
    worst(&most, number(json, "dof_reduced"), real_field(names, values, "", "dof_red"), 0.5);
    worst(&most, number(json, "mass_kg"), mass, 1e-9 * fmax(mass, 1e-12));
    return most;
}

static double compare_figures(const cJSON *at, const row *names, const row *values, const char *configuration) {
    static const char *const keys[][2] = {{"mass_matrix_trace_full", "_mass_trace_full"},
                                          {"gravity_norm_full", "_gravity_norm_full"},
                                          {"mass_matrix_trace_reduced", "_mass_trace_red"},
                                          {"gravity_norm_reduced", "_gravity_norm_red"}};
    static const char *const axes[] = {"x", "y", "z"};
    double most = 0.0;
    for (int i = 0; i < STN_COUNT(keys); i++) {
        double expected = real_field(names, values, configuration, keys[i][1]);
        // a norm of gravity that is round-off of a balanced pose has no relative accuracy
        worst(&most, number(at, keys[i][0]), expected, fmax(1e-9 * fabs(expected), 1e-12));
    }
    for (int k = 1; k <= 3; k++) {
        char link[16], column[32];
        snprintf(link, sizeof link, "link%d", k);
        const cJSON *frame = item(item(at, "fk"), field(names, values, link));
        for (int i = 0; i < 3; i++) {
            snprintf(column, sizeof column, "_%s_%s", link, axes[i]);
            worst(&most, component(frame, "xyz", i), real_field(names, values, configuration, column), 1e-9);
            snprintf(column, sizeof column, "_%s_p%s", link, axes[i]);
            worst(&most, component(frame, "point_xyz", i), real_field(names, values, configuration, column), 1e-9);
        }
    }
    return most;
}

/// Largest deviation over its tolerance in counts and the three configurations.
static double compare_robot(const char *file, const row *names, const row *values) {
    static const char *const configurations[] = {"Z", "A", "B"};
    char options[1024];
    double most = 0.0;
    for (int c = 0; c < 3; c++) {
        snprintf(options, sizeof options, "--q %s --fk '%s,0.1,0.2,0.3' --fk '%s,0.1,0.2,0.3' --fk '%s,0.1,0.2,0.3'",
                 configurations[c], field(names, values, "link1"), field(names, values, "link2"),
                 field(names, values, "link3"));
        cJSON *json = ask(file, options);
        if (c == 0) {
            worst(&most, compare_counts(json, names, values), 0.0, 1.0);
        }
        worst(&most, compare_figures(item(json, "at_q"), names, values, configurations[c]), 0.0, 1.0);
        cJSON_Delete(json);
    }
    return most;
}

static void public_robots_agree_with_the_reference(void **state) {
    (void)state;
    row names, values;
    int robots = 0, wrong = 0;
    skip_without(MODELS "/expected.csv");
    FILE *table = fopen(MODELS "/expected.csv", "r");
    assert_non_null(table);
    assert_non_null(fgets(names.line, sizeof names.line, table));
    split(&names);
    while (fgets(values.line, sizeof values.line, table) != NULL) {
        char file[512];
        split(&values);
        snprintf(file, sizeof file, MODELS "/%s", field(&names, &values, "file"));
        robots++;
        double most = compare_robot(file, &names, &values);
        print_message("%-16s loads, worst deviation %.2g of its tolerance: %s\n", values.fields[0], most,
                      values.fields[1]);
        wrong += !(most <= 1.0);
    }
    fclose(table);
    print_message("%d robots, %d wrong\n", robots, wrong);
    assert_int_equal(wrong, 0);
    assert_true(robots >= 19);
}

// ------------------------------------------------------------------------------------------------ public meshes

/// Largest deviation over its tolerance. The table holds lengths of COLLADA files in the file's unit.
static double compare_mesh(const cJSON *json, const row *names, const row *values) {
    static const char *const axes[] = {"x", "y", "z"};
    const cJSON *bounds = item(json, "bounds");
    double most = 0.0, unit = number(json, "unit_m"), area = real_field(names, values, "", "area");
    double volume = real_field(names, values, "", "signed_volume");
    worst(&most, number(json, "triangles"), real_field(names, values, "", "triangles"), 0.5);
    worst(&most, number(json, "degenerate_triangles"), real_field(names, values, "", "zero_area_triangles"), 0.5);
    worst(&most, number(json, "open_edges"), real_field(names, values, "", "edges_not_shared_by_two"), 0.5);
    worst(&most, number(json, "area_m2"), unit * unit * area, 1e-6 * unit * unit * area);
    worst(&most, number(json, "volume_m3"), pow(unit, 3.0) * volume, 1e-6 * fmax(pow(unit, 3.0) * fabs(volume), 1e-3));
    for (int i = 0; i < 3; i++) {
        double lower = unit * real_field(names, values, "min_", axes[i]),
               upper = unit * real_field(names, values, "max_", axes[i]);
        worst(&most, component(bounds, "lower", i), lower, 1e-6 * (upper - lower));
        worst(&most, component(bounds, "upper", i), upper, 1e-6 * (upper - lower));
    }
    return most;
}

/// Every fifth file of the table: all formats are among them.
static void facts_of_public_meshes_agree_with_the_reference(void **state) {
    (void)state;
    row names, values;
    int rows = 0, files = 0, wrong = 0;
    skip_without(MODELS "/expected_meshes.csv");
    FILE *table = fopen(MODELS "/expected_meshes.csv", "r");
    assert_non_null(table);
    assert_non_null(fgets(names.line, sizeof names.line, table));
    split(&names);
    while (fgets(values.line, sizeof values.line, table) != NULL) {
        char file[512];
        split(&values);
        if (rows++ % 5 != 0) {
            continue;
        }
        snprintf(file, sizeof file, MODELS "/%s", field(&names, &values, "file"));
        cJSON *json = ask(file, "");
        double most = compare_mesh(json, &names, &values);
        print_message("worst deviation %.2g of its tolerance: %s\n", most, values.fields[0]);
        wrong += !(most <= 1.0);
        files++;
        cJSON_Delete(json);
    }
    fclose(table);
    assert_true(files >= 20);
    assert_int_equal(wrong, 0);
}

int main(void) {
    unsetenv("ROS_PACKAGE_PATH");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_robots_agree_with_the_reference),
        cmocka_unit_test(facts_of_public_meshes_agree_with_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
