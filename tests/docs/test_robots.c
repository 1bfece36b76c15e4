// SPDX-License-Identifier: Apache-2.0
// docs/robots.md shows what the command prints: the robots of the page are written to files, every block that begins
// with
// "$ stiction" is run beside them, and what follows must be its output, byte for byte.
#include "page.h"
#include "stn_command.h"

#define FOLDER STN_BINARY_DIR "/tests/docs_robots"

/// The robots of the page in their order.
static void write_robots(void) {
    static const char *const names[] = {"arm.urdf", "bad.urdf"};
    char *page = read_page(STN_SOURCE_DIR "/docs/robots.md"), *rest = page;
    for (int32_t i = 0; i < STN_COUNT(names); i++) {
        char *robot = next_block(&rest, "xml");
        assert_non_null(robot);
        FILE *file = fopen(names[i], "w");
        assert_non_null(file);
        fputs(robot, file);
        fclose(file);
    }
    free(page);
}

static void the_page_shows_what_the_command_prints(void **state) {
    (void)state;
    static const char prompt[] = "$ stiction ";
    write_robots();
    char *page = read_page(STN_SOURCE_DIR "/docs/robots.md"), *rest = page;
    int32_t blocks = 0;
    for (char *block = next_block(&rest, "console"); block != NULL; block = next_block(&rest, "console")) {
        char *end = strchr(block, '\n');
        assert_non_null(end);
        assert_int_equal(strncmp(block, prompt, sizeof prompt - 1), 0);
        *end = '\0';
        stn_run run;
        stn_run_command(&run, block + sizeof prompt - 1);
        assert_string_equal(run.out, end + 1);
        blocks++;
    }
    assert_true(blocks >= 3);
    free(page);
}

int main(void) {
    unsetenv("ROS_PACKAGE_PATH");
    if (system("mkdir -p '" FOLDER "'") != 0 || chdir(FOLDER) != 0) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_shows_what_the_command_prints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
