// SPDX-License-Identifier: Apache-2.0
// `stiction check` on public robots, which load and must not be accused of errors, and on broken files, which must.
#include "answer.h"

#define MODELS STN_SHARED_DIR "/models"

enum { FIELDS = 16, LINE = 1024 };

/// The next row of a table without quoted commas before the field that is read; false at its end.
static bool next_row(FILE *table, char line[LINE], const char *fields[FIELDS]) {
    if (fgets(line, LINE, table) == NULL) {
        return false;
    }
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *p = line; p != NULL && count < FIELDS;) {
        fields[count++] = p;
        p = strchr(p, ',');
        if (p != NULL) {
            *p++ = '\0';
        }
    }
    return count >= 3;
}

/// The findings of a file, with the exit status that belongs to them; owned by the caller.
static cJSON *check_file(const char *file) {
    static stn_run run;
    char words[2048];
    snprintf(words, sizeof words, "check '%s' --json 2>/dev/null", file);
    stn_run_command(&run, words);
    cJSON *json = cJSON_Parse(run.out);
    if (json == NULL) {
        fail_msg("%s: no JSON: %s", file, run.out);
    }
    assert_int_equal(run.status, cJSON_GetArraySize(item(json, "errors")) > 0 ? 2 : 0);
    return json;
}

static void public_robots_are_not_accused_of_errors(void **state) {
    (void)state;
    char line[LINE], file[2 * LINE];
    const char *fields[FIELDS];
    int robots = 0, accused = 0;
    skip_without(MODELS "/index.csv");
    FILE *table = fopen(MODELS "/index.csv", "r");
    assert_non_null(table);
    assert_true(next_row(table, line, fields));
    while (next_row(table, line, fields)) {
        bool read = strcmp(fields[2], "urdf") == 0 || strcmp(fields[2], "sdf") == 0;
        snprintf(file, sizeof file, MODELS "/%s", fields[1]);
        cJSON *json = check_file(file);
        int errors = cJSON_GetArraySize(item(json, "errors"));
        print_message("%d errors, %d warnings, %d notes: %s\n", errors, cJSON_GetArraySize(item(json, "warnings")),
                      cJSON_GetArraySize(item(json, "notes")), fields[1]);
        robots++;
        accused += read ? errors > 0 : errors != 1; // a file of another format is one error
        cJSON_Delete(json);
    }
    fclose(table);
    assert_true(robots >= 20);
    assert_int_equal(accused, 0);
}

/// What the rules must find in them, judged by hand: true mistakes of published files.
static void known_mistakes_of_public_robots_are_found(void **state) {
    (void)state;
    static const struct {
        const char *file, *where, *rule;
        int line;
    } known[] = {
        {"wsg_50/wsg_50_simulation/urdf/wsg_50.urdf", "link finger_left", "inertia_placeholder", 118},
        {"panda/drake_models/franka_description/urdf/hand.urdf", "link panda_rightfinger", "self_collision", 81},
        {"anymal_b/anymal_b_simple_description/urdf/anymal.urdf", "link LF_THIGH", "self_collision", 148},
        {"anymal_c/anymal_c_simple_description/urdf/anymal.urdf", "link hatch", "inertia", 1596},
        {"iiwa14/drake_models/iiwa_description/urdf/iiwa14_polytope_collision.urdf", "link iiwa_link_3",
         "collision_missing", 129},
        {"ur5/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf", "link wrist_3_link", "inertia_large", 209},
        {"wsg_50/wsg_50_simulation/urdf/wsg_50.urdf", "link gripper_left", "com_outside", 72},
        {"tricky_syntax/robot.urdf", "joint mimic_chain", "mimic_limits", 13},
    };
    skip_without(MODELS "/index.csv");
    for (int32_t i = 0; i < STN_COUNT(known); i++) {
        char file[LINE];
        snprintf(file, sizeof file, MODELS "/%s", known[i].file);
        cJSON *json = check_file(file);
        const cJSON *finding = NULL;
        bool found = false;
        cJSON_ArrayForEach(finding, item(json, "warnings")) {
            found = found || (strcmp(text_of(finding, "rule"), known[i].rule) == 0 &&
                              strcmp(text_of(finding, "where"), known[i].where) == 0 &&
                              (int)number(finding, "line") == known[i].line);
        }
        if (!found) {
            fail_msg("%s: no %s about %s in line %d", known[i].file, known[i].rule, known[i].where, known[i].line);
        }
        cJSON_Delete(json);
    }
}

static void broken_files_get_the_findings_that_they_are_made_for(void **state) {
    (void)state;
    char line[LINE], file[2 * LINE];
    const char *fields[FIELDS];
    int files = 0, wrong = 0;
    skip_without(MODELS "/malformed/index.csv");
    FILE *table = fopen(MODELS "/malformed/index.csv", "r");
    assert_non_null(table);
    assert_true(next_row(table, line, fields));
    while (next_row(table, line, fields)) {
        snprintf(file, sizeof file, MODELS "/malformed/%s", fields[0]);
        cJSON *json = check_file(file);
        bool error = cJSON_GetArraySize(item(json, "errors")) > 0,
             warning = cJSON_GetArraySize(item(json, "warnings")) > 0;
        bool right = strcmp(fields[2], "error") == 0     ? error
                     : strcmp(fields[2], "warning") == 0 ? !error && warning
                                                         : error || warning;
        if (!right) {
            print_message("%s: %s is expected\n", fields[0], fields[2]);
        }
        files++;
        wrong += !right;
        cJSON_Delete(json);
    }
    fclose(table);
    assert_true(files >= 20);
    assert_int_equal(wrong, 0);
}

int main(void) {
    unsetenv("ROS_PACKAGE_PATH");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_robots_are_not_accused_of_errors),
        cmocka_unit_test(known_mistakes_of_public_robots_are_found),
        cmocka_unit_test(broken_files_get_the_findings_that_they_are_made_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
