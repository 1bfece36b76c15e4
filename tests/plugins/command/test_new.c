// SPDX-License-Identifier: Apache-2.0
// stiction new: what it writes and says, and what it refuses without leaving anything behind. That what it writes
// builds and passes, for every kind, is tests/install/test_new.sh.
#include <unistd.h>

#include "run_folder.h"

static bool has_line(const char *path, const char *part) {
    char line[512];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    bool found = false;
    while (fgets(line, sizeof line, file) != NULL) {
        found = found || strstr(line, part) != NULL;
    }
    fclose(file);
    return found;
}

/// The whole current folder, hidden files too, as one text.
static const char *listing(void) {
    static char text[1024];
    FILE *pipe = popen("find . -mindepth 1 | sort | tr '\\n' ' '", "r");
    assert_non_null(pipe);
    text[fread(text, 1, sizeof text - 1, pipe)] = '\0';
    pclose(pipe);
    return text;
}

static void a_plugin_has_its_name_everywhere(void **state) {
    (void)state;
    stn_expect_part("new solver jacobi_2 --folder .", 0, "stiction validate build/solver_jacobi_2.so\n");
    assert_string_equal(listing(), "./jacobi_2 ./jacobi_2/CMakeLists.txt ./jacobi_2/README.md ./jacobi_2/jacobi_2.c "
                                   "./jacobi_2/jacobi_2.lua ");
    assert_true(has_line("jacobi_2/jacobi_2.c", ".id = \"jacobi_2\""));
    assert_true(has_line("jacobi_2/CMakeLists.txt", "stn_add_plugin(solver jacobi_2 SOURCES jacobi_2.c)"));
    assert_int_equal(system("! grep -rE 'my_plugin|my_kind' jacobi_2"), 0);
}

static void it_goes_where_it_is_told_to(void **state) {
    (void)state;
    assert_int_equal(system("mkdir here"), 0);
    stn_expect_part("new loader boxes --folder here/", 0, "here/boxes: CMakeLists.txt README.md boxes.c");
    assert_int_equal(access("here/boxes/sample.boxes", R_OK), 0);
    stn_expect_part("new element two --folder=here", 0, "cd here/two && cmake -B build");
    assert_null(strstr(stn_run_to("new element three", 0)->out, "stiction run")); // scripts have no elements
}

static void a_scenario_runs_and_passes_its_tests(void **state) {
    (void)state;
    stn_expect_part("new scenario drop", 0, "\n  cd drop\n  stiction run drop.lua\n  stiction test test_drop.lua\n");
    stn_expect_part("run drop/drop.lua 2>&1", 0, "ok     the ball rests: ");
    stn_expect_part("test drop/test_drop.lua", 0, "2 passed, 0 failed\n");
}

static void what_is_wrong_is_one_line_and_nothing_is_made(void **state) {
    (void)state;
    static const struct {
        const char *words, *part;
    } wrong[] = {
        {"", "needs KIND NAME"},
        {"solver", "needs KIND NAME"},
        {"solver a b", "b"},
        {"solvr a", "unknown kind solvr; did you mean solver? there are loader, contact, law, "},
        {"robot a", "unknown kind robot; there are loader, "},
        {"'' a", "unknown kind ; there are loader, "},
        {"solver ''", "the name \"\" must begin with a small letter"},
        {"solver Jacobi", "the name \"Jacobi\" must begin with a small letter and hold only a to z, 0 to 9 and _"},
        {"solver 2d", "the name \"2d\" must begin with a small letter"},
        {"solver ../a", "the name \"../a\" must"},
        {"law a-b", "the name \"a-b\" must"},
        {"law \xc3\xa4h", "must begin with a small letter"},
        {"law a23456789_a23456789_a23456789_a23456789_a", "has 41 letters, at most 40"},
        {"solver sap", "there is a solver sap already, in "},
        {"law a --folder none", "none/a cannot be made: No such file or directory"},
        {"law a --folder ''", "--folder"},
        {"law a --folder /proc", "/proc/a cannot be made: "},
        {"law a --folder /dev/null", "/dev/null/a cannot be made: Not a directory"},
        {"law a --what", "--what"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char words[256];
        snprintf(words, sizeof words, "new %s 2>&1", wrong[i].words);
        const stn_run *run = stn_run_to(words, 2);
        if (strncmp(run->out, "stiction new: ", 14) != 0 || strstr(run->out, wrong[i].part) == NULL ||
            strchr(run->out, '\n') != run->out + strlen(run->out) - 1) {
            fail_msg("stiction %s: no one line with \"%s\": %s", words, wrong[i].part, run->out);
        }
        assert_string_equal(listing(), "");
    }
}

static void what_is_there_stays_as_it_is(void **state) {
    (void)state;
    assert_int_equal(system("mkdir folder && touch folder/mine file && ln -s nowhere link"), 0);
    static const char *const names[] = {"folder", "file", "link"};
    for (int i = 0; i < 3; i++) {
        char words[64], part[64];
        snprintf(words, sizeof words, "new law %s 2>&1", names[i]);
        snprintf(part, sizeof part, "%s is there already; choose another name, or another --folder\n", names[i]);
        stn_expect_part(words, 2, part);
    }
    assert_string_equal(listing(), "./file ./folder ./folder/mine ./link ");
}

/// A limit on the size of files takes the place of a full disk.
static void nothing_half_written_stays_on_a_full_disk(void **state) {
    (void)state;
    assert_int_equal(system("(ulimit -f 1; " COMMAND " new solver a >out 2>err)") >> 8, 2);
    assert_true(has_line("err", "cannot be written: File too large"));
    assert_string_equal(listing(), "./err ./out ");
}

static int begin(void **state) {
    unsetenv("STICTION_PLUGIN_PATH");
    return enter_folder(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, leave_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_plugin_has_its_name_everywhere),     TEST(it_goes_where_it_is_told_to),
        TEST(a_scenario_runs_and_passes_its_tests), TEST(what_is_wrong_is_one_line_and_nothing_is_made),
        TEST(what_is_there_stays_as_it_is),         TEST(nothing_half_written_stays_on_a_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
