// SPDX-License-Identifier: Apache-2.0
// `stiction info`: on small robots with known figures, and on public robots against figures that two other programs
// confirm (counts and mass, forward kinematics 1e-9 m, mass matrix and gravity 1e-9 relative).
#include "stn_command.h"

#include <cjson/cJSON.h>

#define MODELS STN_SHARED_DIR "/models"
#define ROBOT  STN_BINARY_DIR "/tests/info_robot.urdf"
#define VALUES STN_BINARY_DIR "/tests/info_values.json"

/// Two bars of length 1 m with all their mass m at the end, hinged about y, hanging at q = 0; the second one mimics.
static const char pendulum[] =
    "<robot name='pendulum'>\n<link name='base'/>\n"
    "<link name='upper'><inertial><origin xyz='0 0 -1'/><mass value='2'/>"
    "<inertia ixx='0' iyy='0' izz='0' ixy='0' ixz='0' iyz='0'/></inertial></link>\n"
    "<link name='lower, b'><inertial><origin xyz='0 0 -1'/><mass value='3'/>"
    "<inertia ixx='0' iyy='0' izz='0' ixy='0' ixz='0' iyz='0'/></inertial>"
    "<collision><geometry><sphere radius='0.1'/></geometry></collision></link>\n"
    "<link name='tip'/>\n"
    "<joint name='j1' type='revolute'><parent link='base'/><child link='upper'/><axis xyz='0 1 0'/>"
    "<limit lower='-1' upper='3' effort='5' velocity='6'/></joint>\n"
    "<joint name='j2' type='continuous'><parent link='upper'/><child link='lower, b'/><origin xyz='0 0 -1'/>"
    "<axis xyz='0 1 0'/><mimic joint='j1' multiplier='2' offset='0.5'/></joint>\n"
    "<joint name='fix' type='fixed'><parent link='lower, b'/><child link='tip'/><origin xyz='0 0 -1'/></joint>\n"
    "<transmission name='t'><joint name='j1'/><actuator><drake:rotor_inertia value='1'/></actuator></transmission>\n"
    "</robot>\n";

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/// The answer of `stiction info FILE --json OPTIONS`.
static cJSON *ask(const char *file, const char *options) {
    char words[2048];
    snprintf(words, sizeof words, "info '%s' --json %s 2>/dev/null", file, options);
    cJSON *json = cJSON_Parse(stn_run_to(words, 0)->out);
    assert_non_null(json);
    return json;
}

static const cJSON *item(const cJSON *json, const char *name) {
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(json, name);
    if (found == NULL) {
        fail_msg("no \"%s\" in the JSON", name);
    }
    return found;
}

static double number(const cJSON *json, const char *name) {
    const cJSON *found = item(json, name);
    assert_true(cJSON_IsNumber(found));
    return found->valuedouble;
}

static const char *text_of(const cJSON *json, const char *name) {
    const cJSON *found = item(json, name);
    assert_true(cJSON_IsString(found));
    return found->valuestring;
}

static double component(const cJSON *json, const char *name, int index) {
    const cJSON *found = cJSON_GetArrayItem(item(json, name), index);
    assert_true(cJSON_IsNumber(found));
    return found->valuedouble;
}

static void counts_joints_and_limits_are_those_of_the_file(void **state) {
    (void)state;
    write_file(ROBOT, pendulum);
    cJSON *json = ask(ROBOT, "");
    const cJSON *joints = item(json, "joints"), *list = item(json, "joint_list");
    assert_string_equal(text_of(json, "name"), "pendulum");
    assert_string_equal(text_of(json, "root_link"), "base");
    assert_near(number(json, "links"), 4.0, 0.0);
    assert_near(number(joints, "total"), 3.0, 0.0);
    assert_near(number(joints, "fixed"), 1.0, 0.0);
    assert_near(number(joints, "revolute"), 1.0, 0.0);
    assert_near(number(joints, "continuous"), 1.0, 0.0);
    assert_near(number(joints, "planar"), 0.0, 0.0);
    assert_near(number(joints, "mimic"), 1.0, 0.0);
    assert_near(number(json, "nq"), 2.0, 0.0);
    assert_near(number(json, "nv"), 2.0, 0.0);
    assert_near(number(json, "dof_reduced"), 1.0, 0.0);
    assert_near(number(json, "mass_kg"), 5.0, 0.0);
    assert_near(number(item(json, "geometries"), "collision"), 1.0, 0.0);
    assert_near(number(item(json, "geometries"), "visual"), 0.0, 0.0);
    assert_int_equal(cJSON_GetArraySize(item(json, "warnings")), 0);
    assert_int_equal(cJSON_GetArraySize(list), 3);
    const cJSON *j1 = cJSON_GetArrayItem(list, 0), *j2 = cJSON_GetArrayItem(list, 1),
                *fix = cJSON_GetArrayItem(list, 2);
    assert_string_equal(text_of(j1, "name"), "j1");
    assert_string_equal(text_of(j1, "parent"), "base");
    assert_string_equal(text_of(j1, "child"), "upper");
    assert_near(component(j1, "limits", 0), -1.0, 0.0);
    assert_near(number(j1, "effort"), 5.0, 0.0);
    assert_near(number(j1, "velocity"), 6.0, 0.0);
    assert_true(cJSON_IsNull(item(j1, "mimic")));
    assert_near(number(j2, "q_index"), 1.0, 0.0);
    assert_true(cJSON_IsNull(item(j2, "limits")));
    assert_true(cJSON_IsNull(item(j2, "effort")));
    assert_string_equal(text_of(item(j2, "mimic"), "joint"), "j1");
    assert_near(number(item(j2, "mimic"), "offset"), 0.5, 0.0);
    assert_string_equal(text_of(fix, "type"), "fixed");
    assert_string_equal(text_of(fix, "child"), "tip");
    assert_true(cJSON_IsNull(item(fix, "q_index")));
    cJSON_Delete(json);
}

// Point masses m1 = 2, m2 = 3 on bars of 1 m, q2 relative to bar 1:
//   M11 = m1 + m2 (2 + 2 cos q2), M12 = m2 (1 + cos q2), M22 = m2
//   g1 = 9.81 ((m1 + m2) sin q1 + m2 sin(q1 + q2)), g2 = 9.81 m2 sin(q1 + q2)       (G = (1, 2)^T)
static void figures_are_those_of_a_double_pendulum(void **state) {
    (void)state;
    double q1 = 0.3, q2 = 2.0 * q1 + 0.5;
    double m11 = 2.0 + 3.0 * (2.0 + 2.0 * cos(q2)), m12 = 3.0 * (1.0 + cos(q2)), m22 = 3.0;
    double g2 = 9.81 * 3.0 * sin(q1 + q2), g1 = 9.81 * 5.0 * sin(q1) + g2;
    write_file(ROBOT, pendulum);
    write_file(VALUES, "{ \"j1\": 0.3 }");
    cJSON *json = ask(ROBOT, "--q " VALUES " --fk tip --fk 'lower, b,0.5,0,-2' --fk tip,1,0,0");
    const cJSON *at = item(json, "at_q"), *fk = item(at, "fk");
    assert_near(component(at, "q", 1), q2, 1e-15);
    assert_near(number(at, "mass_matrix_trace_full"), m11 + m22, 1e-13);
    assert_near(number(at, "gravity_norm_full"), hypot(g1, g2), 1e-12);
    assert_near(number(at, "mass_matrix_trace_reduced"), m11 + 4.0 * m12 + 4.0 * m22, 1e-13);
    assert_near(number(at, "gravity_norm_reduced"), fabs(g1 + 2.0 * g2), 1e-12);
    // R = Ry(q): the point (x, 0, z) goes to (c x + s z, 0, -s x + c z)
    double a = q1 + q2, ex = -sin(q1), ez = -cos(q1);
    const cJSON *tip = item(fk, "tip"), *lower = item(fk, "lower, b");
    assert_near(component(tip, "xyz", 0), ex - sin(a), 1e-15);
    assert_near(component(tip, "xyz", 2), ez - cos(a), 1e-15);
    assert_near(component(tip, "point_xyz", 0), ex - sin(a), 1e-15);
    assert_near(component(tip, "quat_wxyz", 0), cos(0.5 * a), 1e-15);
    assert_near(component(tip, "quat_wxyz", 2), sin(0.5 * a), 1e-15);
    assert_near(component(lower, "point_xyz", 0), ex + 0.5 * cos(a) - 2.0 * sin(a), 1e-15);
    assert_near(component(lower, "point_xyz", 2), ez - 0.5 * sin(a) - 2.0 * cos(a), 1e-15);
    assert_near(component(item(fk, "tip,1,0,0"), "point_xyz", 0), ex - sin(a) + cos(a), 1e-15);
    cJSON_Delete(json);
}

static void rules_a_and_b_choose_configurations(void **state) {
    (void)state;
    write_file(ROBOT, pendulum);
    cJSON *z = ask(ROBOT, "--q Z"), *a = ask(ROBOT, "--q A"), *b = ask(ROBOT, "--q B");
    assert_near(component(item(z, "at_q"), "q", 0), 0.0, 0.0);
    assert_near(component(item(z, "at_q"), "q", 1), 0.5, 0.0);
    assert_near(component(item(a, "at_q"), "q", 0), -1.0 + 0.3 * 4.0, 1e-15);
    assert_near(component(item(a, "at_q"), "q", 1), 2.0 * 0.2 + 0.5, 1e-15);
    assert_near(component(item(b, "at_q"), "q", 0), 0.3 * sin(1.0), 1e-15);
    cJSON_Delete(z);
    cJSON_Delete(a);
    cJSON_Delete(b);
}

static void people_get_a_table_and_a_tree(void **state) {
    (void)state;
    write_file(ROBOT, pendulum);
    stn_expect_part("info " ROBOT " 2>/dev/null", 0, "pendulum  (" ROBOT ")\n");
    stn_expect_part("info " ROBOT " 2>/dev/null", 0, "joints    3, 1 fixed, 1 revolute, 1 continuous\n");
    stn_expect_part("info " ROBOT " 2>/dev/null", 0, "nq 2, nv 2, 1 without the 1 mimic joint\n");
    stn_expect_part("info " ROBOT " 2>/dev/null", 0,
                    "  base\n  \u2514\u2500 upper  (j1, revolute)  2 kg\n"
                    "     \u2514\u2500 lower, b  (j2, continuous)  3 kg\n        \u2514\u2500 tip  (fix, fixed)\n");
    stn_expect("info " ROBOT " 2>&1 >/dev/null", 0, "");
}

static void bad_input_is_one_line_and_status_2(void **state) {
    (void)state;
    write_file(ROBOT, pendulum);
    stn_expect("info /nonexistent.urdf 2>&1", 2, "stiction info: /nonexistent.urdf: No such file or directory\n");
    stn_expect("info 2>&1", 2, "stiction info: needs MODEL; see stiction info --help\n");
    stn_expect("info " ROBOT " --fk tipp 2>&1", 2, "stiction info: --fk tipp: no such link; did you mean 'tip'?\n");
    write_file(VALUES, "{ \"j3\": 0.3 }");
    stn_expect("info " ROBOT " --q " VALUES " 2>&1", 2,
               "stiction info: " VALUES ": the robot has no moving joint 'j3'; did you mean 'j1'?\n");
    write_file(VALUES, "{ \"j1\": [0.3, 1] }");
    stn_expect("info " ROBOT " --q " VALUES " 2>&1", 2,
               "stiction info: " VALUES ": joint 'j1' is revolute: give 1 finite number\n");
    write_file(VALUES, "{ \"j1\": 0.3 ");
    stn_expect("info " ROBOT " --q " VALUES " 2>&1", 2,
               "stiction info: " VALUES ": must be one JSON object { \"joint\": value }\n");
    stn_expect("info " ROBOT " --q C 2>&1", 2,
               "stiction info: --q C: No such file or directory; give Z, A, B or a JSON file\n");
    write_file(ROBOT, "<robot name='r'>\n<link name='a'>\n</robot>");
    stn_expect("info " ROBOT " 2>&1", 2,
               "stiction info: " ROBOT ":2: the element that opens here is not closed by its own end tag\n");
    write_file(ROBOT, "<robot name='r'>\n<link/>\n<link name='a'/><link name='a'/></robot>");
    stn_expect("info " ROBOT " 2>&1", 2,
               "error: " ROBOT ":2: link: <link> has no name: add name=\"...\"\n"
               "error: " ROBOT ":3: link a: line 3 has a link of the same name: rename one\n"
               "stiction info: " ROBOT ":2: link: <link> has no name: add name=\"...\" (and 1 more)\n");
}

static void warnings_of_the_file_are_passed_on(void **state) {
    (void)state;
    write_file(ROBOT, "<robot name='r'>\n<link name='a'/><link name='b'/>\n<joint name='j' type='revolute'>"
                      "<parent link='a'/><child link='b'/><axis xyz='0 0 1'/></joint></robot>");
    cJSON *json = ask(ROBOT, "");
    const cJSON *warnings = item(json, "warnings");
    assert_int_equal(cJSON_GetArraySize(warnings), 2);
    assert_string_equal(cJSON_GetArrayItem(warnings, 0)->valuestring,
                        ROBOT ":3: joint j: a revolute joint without <limit>: taken as unlimited");
    assert_near(number(item(json, "at_q"), "mass_matrix_trace_full"), 0.0, 0.0);
    cJSON_Delete(json);
    stn_expect_part("info " ROBOT " 2>&1 >/dev/null", 0, "warning: " ROBOT ":3: joint j: a revolute joint without");
}

// ------------------------------------------------------------------------------------------------ public robots

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

/// Whether the file holds a joint type that the model does not have yet.
static bool is_refused_for_its_joints(const char *file) {
    char words[1024];
    stn_run run;
    snprintf(words, sizeof words, "info '%s' 2>&1", file);
    stn_run_command(&run, words);
    return run.status == 2 && strstr(run.out, "is not supported: fixed, revolute") != NULL;
}

static void public_robots_agree_with_the_reference(void **state) {
    (void)state;
    row names, values;
    int robots = 0, refused = 0, wrong = 0;
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
        if (is_refused_for_its_joints(file)) {
            print_message("%-16s does not load yet: %s\n", values.fields[0], values.fields[1]);
            refused++;
            continue;
        }
        double most = compare_robot(file, &names, &values);
        print_message("%-16s loads, worst deviation %.2g of its tolerance: %s\n", values.fields[0], most,
                      values.fields[1]);
        wrong += !(most <= 1.0);
    }
    fclose(table);
    print_message("%d robots, %d refused for their joints, %d wrong\n", robots, refused, wrong);
    assert_int_equal(wrong, 0);
    assert_true(robots - refused >= 19);
}

int main(void) {
    unsetenv("ROS_PACKAGE_PATH");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_joints_and_limits_are_those_of_the_file),
        cmocka_unit_test(figures_are_those_of_a_double_pendulum),
        cmocka_unit_test(rules_a_and_b_choose_configurations),
        cmocka_unit_test(people_get_a_table_and_a_tree),
        cmocka_unit_test(bad_input_is_one_line_and_status_2),
        cmocka_unit_test(warnings_of_the_file_are_passed_on),
        cmocka_unit_test(public_robots_agree_with_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
