// SPDX-License-Identifier: Apache-2.0
// What commands write: never over what they read, and never in place of what was there before it is whole.
#include "run_folder.h"

#include <sys/stat.h>
#include <unistd.h>

/// A step that fails at once, and a script that fails after four steps.
static const char blow[] = "local w = require 'stiction'.world { dt = 0.01 }\n"
                           "local b = w:sphere { radius = 0.1 }\n"
                           "b:apply_force { force = { 1e300, 0, 0 } }\nw:step()\n";
static const char late[] = "local w = require 'stiction'.world { dt = 0.01 }\n"
                           "w:sphere { radius = 0.1 }\n"
                           "for _ in w:run { steps = 4 } do end\nerror('late')\n";

static bool shell(const char *line) {
    return system(line) == 0;
}

static bool holds(const char *path, const char *text) {
    char line[512];
    snprintf(line, sizeof line, "test \"$(cat %s)\" = '%s'", path, text);
    return shell(line);
}

static void a_run_that_fails_at_once_leaves_what_was_there(void **state) {
    (void)state;
    static const char *const outputs[] = {"keep.csv", "keep.html"};
    write_file("blow.lua", blow);
    write_file("late.lua", late);
    for (int32_t i = 0; i < STN_COUNT(outputs); i++) {
        char words[256];
        write_file(outputs[i], "old");
        snprintf(words, sizeof words, "run blow.lua -q --record %s " ERRORS, outputs[i]);
        const stn_run *run = stn_run_to(words, 3);
        if (!holds(outputs[i], "old")) {
            fail_msg("%s is not what it was: %s", outputs[i], run->out);
        }
    }
    write_file("keep.csv.parameters", "old");
    stn_run_to("run blow.lua -q --log keep.csv " ERRORS, 3);
    assert_true(holds("keep.csv.parameters", "old"));
    assert_false(shell("ls | grep -q part"));
    stn_run_to("run late.lua -q --log keep.csv " ERRORS, 2); // what it made before it failed is a whole table
    assert_true(shell("test $(wc -l < keep.csv) = 6 && grep -q solver keep.csv.parameters"));
}

static void a_full_disk_leaves_what_was_there_and_tells_where_the_rest_is(void **state) {
    (void)state;
    write_file("falling.lua", falling);
    write_file("out.csv", "old");
    char line[1024];
    snprintf(line, sizeof line,
             "(ulimit -f 8; %s run falling.lua --set seconds=2 -q --log out.csv 2>&1 >/dev/null | cat > said)",
             COMMAND);
    assert_true(shell(line));
    assert_true(holds("out.csv", "old"));
    if (!shell("grep -q 'out.csv: cannot be written: File too large; what was there stays as it was, "
               ".*out.part.csv holds what came so far' said")) {
        fail_msg("%s", shell("cat said") ? "not told" : "");
    }
    assert_true(shell("test $(wc -l < out.part.csv) -gt 2 && test -z \"$(tail -c 1 out.part.csv | tr -d '\\n')\""));
    stn_run_to("run falling.lua -q --log out.csv " ERRORS, 0);
    assert_true(shell("test $(wc -l < out.csv) = 12 && ! test -e out.part.csv"));
}

static void a_killed_run_leaves_both(void **state) {
    (void)state;
    write_file("endless.lua", "local w = require 'stiction'.world { dt = 0.001 }\nw:sphere { radius = 1 }\n"
                              "for _ in w:run { seconds = 1e6 } do end\n");
    write_file("out.csv", "old");
    char line[1024];
    snprintf(line, sizeof line,
             "%s run endless.lua -q --log out.csv >/dev/null 2>&1 & p=$!; for i in $(seq 300); do "
             "test $(cat out.part.csv 2>/dev/null | wc -l) -gt 5 && break; sleep 0.05; done; kill -9 $p; wait $p; "
             "test $(wc -l < out.part.csv) -gt 5",
             COMMAND);
    assert_true(shell(line));
    assert_true(holds("out.csv", "old"));
}

static void nothing_is_written_over_what_is_read(void **state) {
    (void)state;
    static const char *const words[] = {
        "run x.csv --log x.csv",
        "run x.csv --log ./x.csv",
        "run x.csv --record link.csv",
        "run ok.lua --log a.csv --log a.csv",
        "run ok.lua --log a.csv --record ./a.csv",
        "run ok.lua --log a.html --record ../outputs_test/a.html",
        "test t.lua --junit t.lua",
        "test . --junit ./t.lua",
        "sweep x.csv --csv x.csv --vary seed=1,2",
        "view p.html -o p.html",
        "replay p.html --record p.html",
        "replay p.html --log hard.html",
        "convert r.urdf r.urdf",
        "solve q.json --out q.json",
        "compare q.json --csv q.json",
        "compare q.json --html a.html --csv a.html",
    };
    write_file("ok.lua", falling);
    write_file("x.csv", falling);
    write_file("t.lua", "require 'stiction'.test('t', function() end)");
    write_file("p.html", "page");
    write_file("r.urdf", "<robot name='r'><link name='a'/></robot>");
    write_file("q.json", "{}");
    assert_true(shell("ln -s x.csv link.csv && ln p.html hard.html && (ls -l && cat * | cksum) > ../outputs_before"));
    for (int32_t i = 0; i < STN_COUNT(words); i++) {
        char line[256];
        snprintf(line, sizeof line, "%s " ERRORS, words[i]);
        stn_expect_part(line, 2, "are one file; name another to write\n");
        if (!shell("(ls -l && cat * | cksum) | cmp -s - ../outputs_before")) {
            fail_msg("%s changed a file", words[i]);
        }
    }
}

static void a_text_that_is_no_table_is_not_continued(void **state) {
    (void)state;
    write_file("falling.lua", falling);
    write_file("note.csv", "run the long ones tonight");
    stn_expect_part("sweep falling.lua --vary height=1,2 --csv note.csv " ERRORS, 2,
                    "note.csv: is not the table of a sweep; name another file\n");
    assert_true(holds("note.csv", "run the long ones tonight"));
}

static void pipes_and_devices_are_written_as_they_are(void **state) {
    (void)state;
    char line[1024];
    write_file("falling.lua", falling);
    assert_true(symlink("/dev/stdout", "out.csv") == 0 && symlink("/dev/null", "null.csv") == 0);
    snprintf(line, sizeof line,
             "echo first > all; %s run falling.lua -q --log out.csv --record null.csv 2>/dev/null >> all", COMMAND);
    assert_true(shell(line));
    assert_true(shell("test $(wc -l < all) = 13 && test \"$(head -n 1 all)\" = first && test -c /dev/null"));
    snprintf(line, sizeof line, "test $(%s run falling.lua -q --log out.csv 2>/dev/null | wc -l) = 12", COMMAND);
    assert_true(shell(line));
}

static void links_stay_links(void **state) {
    (void)state;
    write_file("falling.lua", falling);
    write_file("real.csv", "old");
    write_file("real.xml", "old");
    assert_true(symlink("real.csv", "link.csv") == 0 && symlink("real.xml", "link.xml") == 0);
    assert_true(shell("chmod 600 real.csv real.xml"));
    write_file("t.lua", "require 'stiction'.test('t', function() end)");
    stn_run_to("run falling.lua -q --log link.csv " ERRORS, 0);
    stn_run_to("test t.lua --junit link.xml " QUIET, 0);
    assert_true(shell("test -L link.csv && test -L link.xml && test $(wc -l < real.csv) = 12"));
    assert_true(shell("grep -q testsuite real.xml && test \"$(stat -c %a real.csv real.xml)\" = \"$(printf "
                      "'600\\n600')\""));
}

/// Names out of scripts and files reach the terminal without what would steer it; in UTF-8 they stay as they are.
static void names_do_not_steer_the_terminal(void **state) {
    (void)state;
    write_file("names.lua",
               "local stn = require 'stiction'\n"
               "local w = stn.world {}\n"
               "w:step()\n"
               "stn.check('\\27]0;owned\\7 b\\u{e4}r \\u{9b}31m', { value = 1, limit = 2, unit = '\\27[2J' })\n"
               "stn.result('\\27[31mr', 1, '\\27[2J')\n"
               "stn.warn('\\27[31m warned')\n");
    write_file("names_test.lua", "require 'stiction'.test('\\27[31m t', function() error('\\27[2J why') end)\n");
    const stn_run *run = stn_run_to("run names.lua 2>&1", 0);
    assert_null(strchr(run->out, 27));
    assert_null(strchr(run->out, 7));
    assert_null(strstr(run->out, "\xc2\x9b"));
    assert_non_null(strstr(run->out, "?]0;owned? b\xc3\xa4r"));
    run = stn_run_to("test names_test.lua 2>&1", 1);
    assert_null(strchr(run->out, 27));
    assert_non_null(strstr(run->out, "?[2J why"));
}

static int enter(void **state) {
    (void)state;
    return shell("rm -rf outputs_test && mkdir outputs_test") && chdir("outputs_test") == 0 ? 0 : -1;
}

static int leave(void **state) {
    (void)state;
    return chdir("..") == 0 && shell("rm -rf outputs_test outputs_before") ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_that_fails_at_once_leaves_what_was_there, enter, leave),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_what_was_there_and_tells_where_the_rest_is, enter, leave),
        cmocka_unit_test_setup_teardown(a_killed_run_leaves_both, enter, leave),
        cmocka_unit_test_setup_teardown(nothing_is_written_over_what_is_read, enter, leave),
        cmocka_unit_test_setup_teardown(a_text_that_is_no_table_is_not_continued, enter, leave),
        cmocka_unit_test_setup_teardown(pipes_and_devices_are_written_as_they_are, enter, leave),
        cmocka_unit_test_setup_teardown(links_stay_links, enter, leave),
        cmocka_unit_test_setup_teardown(names_do_not_steer_the_terminal, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
