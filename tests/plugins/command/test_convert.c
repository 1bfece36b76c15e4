// SPDX-License-Identifier: Apache-2.0
// stiction convert: what it writes, what it says, and what it refuses.
#include <stdlib.h>
#include <sys/stat.h>

#include "answer.h"

#define IIWA   STN_SOURCE_DIR "/models/iiwa14/iiwa14.urdf"
#define FOLDER "convert_test"

static const char robot[] = "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='continuous'>"
                            "<parent link='a'/><child link='b'/></joint></robot>";

/// Runs the command with these words; everything it says is in `out`.
static const stn_run *convert(const char *words, int status) {
    char line[1024];
    snprintf(line, sizeof line, "convert %s 2>&1", words);
    return stn_run_to(line, status);
}

static bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

static void robot_is_written_in_the_format_of_the_extension(void **state) {
    (void)state;
    assert_string_equal(convert(IIWA " " FOLDER "/a.urdf", 0)->out, "");
    cJSON *json = ask(FOLDER "/a.urdf", "");
    assert_string_equal(text_of(json, "name"), "iiwa14");
    assert_int_equal((int)number(json, "nv"), 7);
    cJSON_Delete(json);
    assert_string_equal(convert(FOLDER "/a.urdf " FOLDER "/b.urdf", 0)->out, "");
    assert_int_equal(system("cmp " FOLDER "/a.urdf " FOLDER "/b.urdf"), 0);
}

static void format_and_name_are_those_asked_for(void **state) {
    (void)state;
    assert_string_equal(convert(IIWA " " FOLDER "/a.robot --format urdf --name 'my <arm>'", 0)->out, "");
    cJSON *json = ask(FOLDER "/a.robot", "");
    assert_string_equal(text_of(json, "name"), "my <arm>");
    cJSON_Delete(json);
}

static void what_is_wrong_with_the_words_is_one_line(void **state) {
    (void)state;
    static const struct {
        const char *words, *part;
    } wrong[] = {
        {"", "needs IN OUT"},
        {IIWA, "needs IN OUT"},
        {IIWA " " FOLDER "/c.urdf more", "more"},
        {IIWA " " FOLDER "/c.urdf --format nothing", "nothing"},
        {IIWA " " FOLDER "/c.what", "no format is known by the extension 'what'"},
        {IIWA " " FOLDER "/c.urdf --name ''", "must not be empty"},
        {IIWA " " FOLDER "/none/c.urdf", FOLDER "/none/c.urdf: cannot be written: No such file or directory"},
        {IIWA " /dev/full --format urdf", "/dev/full: cannot be written: it is not a regular file"},
        {IIWA " " FOLDER " --format urdf", "it is not a regular file"},
        {FOLDER "/none.urdf " FOLDER "/c.urdf", "none.urdf: No such file"},
        {FOLDER "/bad.urdf " FOLDER "/c.urdf", "bad.urdf:1"},
    };
    write_file(FOLDER "/bad.urdf", "<robot name='r'><link/></robot>");
    for (int32_t i = 0; i < STN_COUNT(wrong); i++) {
        const char *said = convert(wrong[i].words, 2)->out;
        const char *end = strchr(said, '\n');
        if (strstr(said, wrong[i].part) == NULL || end == NULL || end[1] != '\0') {
            fail_msg("'%s' must be one line with '%s'", said, wrong[i].part);
        }
    }
    assert_false(exists(FOLDER "/c.urdf"));
}

static void file_is_not_replaced_by_itself(void **state) {
    (void)state;
    write_file(FOLDER "/r.urdf", robot);
    assert_int_equal(system("ln -sf r.urdf " FOLDER "/link.urdf && ln -f " FOLDER "/r.urdf " FOLDER "/hard.urdf"), 0);
    static const char *const others[] = {FOLDER "/r.urdf", FOLDER "/../" FOLDER "/r.urdf", FOLDER "/link.urdf",
                                         FOLDER "/hard.urdf"};
    for (int32_t i = 0; i < STN_COUNT(others); i++) {
        char words[256];
        snprintf(words, sizeof words, FOLDER "/r.urdf %s", others[i]);
        assert_non_null(strstr(convert(words, 2)->out, "are one file"));
    }
}

static void full_disk_leaves_the_old_file(void **state) {
    (void)state;
    char line[1024];
    write_file(FOLDER "/d.urdf", "old");
    snprintf(line, sizeof line, "(ulimit -f 1; %s convert " IIWA " " FOLDER "/d.urdf 2>&1 | cat >" FOLDER "/said)",
             COMMAND);
    assert_int_equal(system(line), 0);
    assert_int_equal(system("grep -q 'd.urdf: cannot be written: File too large' " FOLDER "/said"), 0);
    assert_int_equal(
        system("test \"$(cat " FOLDER "/d.urdf)\" = old && test -z \"$(ls " FOLDER "/*.part 2>/dev/null)\""), 0);
}

static void findings_of_reading_and_writing_are_printed(void **state) {
    (void)state;
    write_file(FOLDER "/w.urdf", "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='revolute'>"
                                 "<parent link='a'/><child link='b'/></joint></robot>");
    const char *said = convert(FOLDER "/w.urdf " FOLDER "/v.urdf", 0)->out;
    assert_non_null(strstr(said, "warning: " FOLDER "/w.urdf:1: joint j: a revolute joint without <limit>"));
}

static int enter(void **state) {
    return enter_folder(state) != 0 || mkdir(FOLDER, 0777) != 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robot_is_written_in_the_format_of_the_extension),
        cmocka_unit_test(format_and_name_are_those_asked_for),
        cmocka_unit_test(what_is_wrong_with_the_words_is_one_line),
        cmocka_unit_test(file_is_not_replaced_by_itself),
        cmocka_unit_test(full_disk_leaves_the_old_file),
        cmocka_unit_test(findings_of_reading_and_writing_are_printed),
    };
    return cmocka_run_group_tests(tests, enter, leave_folder);
}
