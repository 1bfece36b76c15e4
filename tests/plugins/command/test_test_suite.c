// SPDX-License-Identifier: Apache-2.0
// stiction test on a suite with a pass, a failure, a time-out, a crash and a skip: as text, TAP and JUnit, and what the
// failures leave. Groups and fixtures, and what ends their processes.
#include "stn_command.h"
#include "stn_folder.h"

#include <cjson/cJSON.h>
#include <sys/stat.h>

static const char suite[] = "local stn = require 'stiction'\n"
                            "stn.describe('box', function()\n"
                            "  stn.before_each(function()\n"
                            "    local world = stn.world { dt = 1e-3 }\n"
                            "    return world, world:box { size = { 0.1, 0.1, 0.1 }, mass = 1 }\n"
                            "  end)\n"
                            "  stn.it('falls', function(world, box)\n"
                            "    for _ in world:run { steps = 100 } do end\n"
                            "    stn.near(box:velocity().linear[3], -0.981, 1e-9, 'speed')\n"
                            "  end)\n"
                            "  stn.it('floats', function(world, box)\n"
                            "    print 'a < b & \"c\" \\1\\xff'\n"
                            "    for _ in world:run { steps = 100 } do end\n"
                            "    stn.near(box:velocity().linear[3], 0, { tolerance = 1e-9, unit = 'm/s' }, 'speed')\n"
                            "  end)\n"
                            "  stn.it('hangs', { limit_s = 0.1 }, function(world)\n"
                            "    world:step()\n"
                            "    while true do end\n"
                            "  end)\n"
                            "  stn.it('crashes', function(world)\n"
                            "    world:step()\n"
                            "    os.execute 'kill -ABRT $PPID'\n"
                            "    os.execute 'sleep 100'\n"
                            "  end)\n"
                            "  stn.it('is #seen', function() stn.skip 'no camera' end)\n"
                            "end)\n";

static int enter_suite(void **state) {
    if (enter_folder(state) != 0) {
        return -1;
    }
    write_file("suite.lua", suite);
    return 0;
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

static void expect_part_of(const char *text, const char *part) {
    if (strstr(text, part) == NULL) {
        fail_msg("no \"%s\" in: %s", part, text);
    }
}

static void test_people_read_what_failed_and_where_it_is_kept(void **state) {
    (void)state;
    const stn_run *run = stn_run_to("test suite.lua", 1);
    expect_part_of(run->out, "ok   suite.lua: box: falls (");
    expect_part_of(run->out, "FAIL suite.lua: box: floats (");
    expect_part_of(run->out, "     suite.lua:14: speed = -0.981");
    expect_part_of(run->out, "     recording: stiction-test/suite.lua/2-box-floats.html\n"
                             "     capsule: stiction-test/suite.lua/2-box-floats.capsule.json\n");
    expect_part_of(run->out, "FAIL suite.lua: box: hangs (");
    expect_part_of(run->out, "     timed out: ended after 0.1 s, its limit\n");
    expect_part_of(run->out, "FAIL suite.lua: box: crashes (");
    expect_part_of(run->out, "     ended by signal 6 (Aborted)\n");
    expect_part_of(run->out, "skip suite.lua: box: is #seen (");
    expect_part_of(run->out, "     no camera\n1 passed, 3 failed, 1 skipped\n");
}

static void test_what_failures_leave_opens(void **state) {
    (void)state;
    static const char *const kept[] = {"2-box-floats", "4-box-crashes"}; // a slow machine hangs before the step
    static const int steps[] = {100, 1};
    stn_run_to("test suite.lua --artifacts a/b 2>&1", 1);
    for (int i = 0; i < STN_COUNT(kept); i++) {
        char words[256], path[128];
        snprintf(words, sizeof words, "replay a/b/suite.lua/%s.html --check 2>&1", kept[i]);
        stn_run_to(words, 0);
        snprintf(words, sizeof words, "run --from a/b/suite.lua/%s.capsule.json 2>&1", kept[i]);
        stn_run_to(words, 0);
        snprintf(path, sizeof path, "a/b/suite.lua/%s.capsule.json", kept[i]);
        char *text = read_text(path);
        cJSON *capsule = cJSON_Parse(text);
        const cJSON *failure = cJSON_GetObjectItem(capsule, "failure");
        assert_int_equal(cJSON_GetObjectItem(failure, "step")->valueint, steps[i]);
        cJSON_Delete(capsule);
        free(text);
    }
    struct stat what;
    stn_run_to("test suite.lua -k falls --artifacts none", 0);
    assert_int_equal(stat("none", &what), -1);
}

static bool is_there(const char *path) {
    struct stat what;
    return stat(path, &what) == 0;
}

#define LEFT "stiction-test/b.lua/"

/// A test that passes now, or is gone, leaves nothing; a file of the user's stays, also where its name is like ours.
static void test_what_a_former_run_left_goes(void **state) {
    (void)state;
    write_file("b.lua", "local stn = require 'stiction'\n"
                        "for _, name in ipairs { 'one', 'two', 'three' } do\n"
                        "  stn.test(name, function()\n"
                        "    stn.world { dt = 1e-3 }:step()\n"
                        "    assert(not os.getenv('BAD'):find(name, 1, true))\n"
                        "  end)\n"
                        "end\n");
    setenv("BAD", "0", 1);
    stn_run_to("test b.lua", 0);
    assert_false(is_there("stiction-test"));
    setenv("BAD", "one two three", 1);
    stn_run_to("test b.lua", 1);
    assert_true(is_there(LEFT "1-one.html") && is_there(LEFT "2-two.html") && is_there(LEFT "3-three.capsule.json"));
    write_file(LEFT "2-mine.html", "mine");
    setenv("BAD", "one three", 1);
    stn_run_to("test b.lua --list", 0);
    assert_true(is_there(LEFT "2-two.html"));
    stn_run_to("test b.lua -k two", 0); // looks at no other test
    assert_true(is_there(LEFT "1-one.html") && !is_there(LEFT "2-two.html") && !is_there(LEFT "2-two.capsule.json"));
    write_file("b.lua", "require('stiction').test('new', function() end)\n"); // all of them are gone
    stn_run_to("test b.lua", 0);
    assert_false(is_there(LEFT "1-one.html") || is_there(LEFT "3-three.capsule.json"));
    assert_true(is_there(LEFT "2-mine.html"));
    write_file(LEFT ".kept-by-stiction-test",
               "2-mine.html\tother.lua: x\n../../b.lua\tb.lua: x\n../b.html\tb.lua: y\n");
    write_file("stiction-test/b.html", "mine");
    stn_run_to("test b.lua", 0); // a list that someone made names nothing outside, and nothing of another script
    assert_true(is_there("b.lua") && is_there("stiction-test/b.html") && is_there(LEFT "2-mine.html"));
    unsetenv("BAD");
}

/// Recording it takes longer than the test was given.
static void test_what_steps_until_its_limit_is_kept(void **state) {
    (void)state;
    write_file("a.lua", "local stn = require 'stiction'\n"
                        "local world = stn.world { dt = 1e-3 }\nworld:ground {}\n"
                        "for i = 1, 10 do world:sphere { radius = 0.1, xyz = { i, 0, 0.1 } } end\n"
                        "stn.test('a', { limit_s = 2 }, function() while true do world:step() end end)\n");
    const stn_run *run = stn_run_to("test a.lua", 1);
    expect_part_of(run->out, "timed out: ended after 2 s, its limit\n     recording: stiction-test/a.lua/1-a.html\n"
                             "     capsule: stiction-test/a.lua/1-a.capsule.json\n");
}

static void test_the_last_five_seconds_and_a_step_that_failed_are_kept(void **state) {
    (void)state;
    write_file("long.lua", "local stn = require 'stiction'\n"
                           "stn.test('long', function()\n"
                           "  local world = stn.world { dt = 0.0625 }\n"
                           "  world:sphere { radius = 0.1 }\n"
                           "  for _ in world:run { seconds = 8 } do end\n"
                           "  stn.check('no', false)\n"
                           "end)\n"
                           "stn.test('first', function()\n"
                           "  local world = stn.world { dt = 1 }\n"
                           "  world:sphere { radius = 0.1, velocity = { linear = { 1e200, 0, 0 } } }\n"
                           "  world:step()\n"
                           "end)\n");
    stn_run_to("test long.lua", 1);
    stn_expect_part("replay stiction-test/long.lua/1-long.html --check 2>&1", 0, "80 steps, 5 s simulated");
    stn_run_to("run --from stiction-test/long.lua/2-first.capsule.json 2>&1", 3); // fails again
}

/// Without the times, which vary.
static void drop_times(char *text) {
    for (char *at = strstr(text, "duration_ms: "); at != NULL; at = strstr(at, "duration_ms: ")) {
        at += strlen("duration_ms: ");
        memmove(at, at + strspn(at, "0123456789."), strlen(at + strspn(at, "0123456789.")) + 1);
    }
}

static void test_tap(void **state) {
    (void)state;
    stn_run *run = malloc(sizeof *run);
    stn_run_command(run, "test suite.lua --tap --artifacts '' 2>/dev/null");
    drop_times(run->out);
    assert_string_equal(
        run->out,
        "TAP version 14\n"
        "ok 1 - suite.lua: box: falls\n"
        "not ok 2 - suite.lua: box: floats\n"
        "  ---\n"
        "  message: \"suite.lua:14: speed = -0.981 m/s, expected 0 m/s: off by -0.981 m/s, allowed 1e-09 m/s\"\n"
        "  severity: \"fail\"\n"
        "  duration_ms: \n"
        "  ...\n"
        "not ok 3 - suite.lua: box: hangs\n"
        "  ---\n"
        "  message: \"timed out: ended after 0.1 s, its limit\"\n"
        "  severity: \"error\"\n"
        "  duration_ms: \n"
        "  ...\n"
        "not ok 4 - suite.lua: box: crashes\n"
        "  ---\n"
        "  message: \"ended by signal 6 (Aborted)\"\n"
        "  severity: \"error\"\n"
        "  duration_ms: \n"
        "  ...\n"
        "ok 5 - suite.lua: box: is \\#seen # SKIP no camera\n"
        "1..5\n"
        "# 1 passed, 3 failed, 1 skipped\n");
    assert_int_equal(run->status, 1);
    free(run);
}

static void test_junit_is_xml_that_a_parser_reads(void **state) {
    (void)state;
    write_file("other.lua", "error 'outside'\n");
    stn_run_to("test suite.lua other.lua --junit out.xml --jobs 2 2>&1", 1);
    char *text = read_text("out.xml");
    expect_part_of(text, "<testsuites name=\"stiction test\" tests=\"6\" failures=\"1\" errors=\"3\" time=\"");
    expect_part_of(text,
                   "  <testsuite name=\"suite.lua\" tests=\"5\" failures=\"1\" errors=\"2\" skipped=\"1\" time=\"");
    expect_part_of(text, "<testcase name=\"box: floats\" classname=\"suite\" time=\"");
    expect_part_of(text, "<failure message=\"suite.lua:14: speed = ");
    expect_part_of(text, "\nrecording: stiction-test/suite.lua/2-box-floats.html\ncapsule: ");
    expect_part_of(text, "<system-out>a &lt; b &amp; &quot;c&quot; \xef\xbf\xbd\xef\xbf\xbd\n</system-out>");
    expect_part_of(text, "<error message=\"ended by signal 6 (Aborted)\" type=\"error\">");
    expect_part_of(text, "<skipped message=\"no camera\"/>");
    expect_part_of(text, "<testcase name=\"other.lua\" classname=\"other\"");
    free(text);
    if (system("python3 -c 'import xml.dom.minidom' 2>/dev/null") == 0) {
        assert_int_equal(system("python3 -c 'import xml.dom.minidom as m; m.parse(\"out.xml\")'"), 0);
    }
}

static void test_order_does_not_depend_on_jobs(void **state) {
    (void)state;
    static const char order[] = "local stn = require 'stiction'\n"
                                "stn.describe('g', function()\n"
                                "  for i = 1, 6 do stn.it('t' .. i, function()\n"
                                "    if i == 1 then os.execute 'sleep 0.2' end\n"
                                "    assert(i > 0)\n"
                                "  end) end\n"
                                "end)\n";
    write_file("order.lua", order);
    stn_expect("test order.lua order.lua --jobs 4 | sed 's/ (.*//'", 0,
               "ok   order.lua: g: t1\nok   order.lua: g: t2\nok   order.lua: g: t3\nok   order.lua: g: t4\n"
               "ok   order.lua: g: t5\nok   order.lua: g: t6\n6 passed, 0 failed\n");
}

static void test_names_are_listed_and_chosen_whole(void **state) {
    (void)state;
    write_file("plain.lua", "require 'stiction'.check('c', true)\n");
    stn_expect("test suite.lua plain.lua --list", 0,
               "suite.lua: box: falls\nsuite.lua: box: floats\nsuite.lua: box: hangs\nsuite.lua: box: crashes\n"
               "suite.lua: box: is #seen\nplain.lua\n");
    stn_expect("test suite.lua plain.lua --list -k 'suite.lua: box: f'", 0,
               "suite.lua: box: falls\nsuite.lua: box: floats\n");
    stn_expect_part("test suite.lua -k 'box: falls'", 0, "\n1 passed, 0 failed\n");
}

static void test_fixtures_pass_what_they_make(void **state) {
    (void)state;
    static const char fixtures[] =
        "local stn = require 'stiction'\n"
        "stn.describe('out', function()\n"
        "  stn.before_all(function() print 'all' return { n = 0 } end)\n"
        "  stn.before_each(function(shared) print('each', shared.n) return 'e' end)\n"
        "  stn.after_each(function(shared, e) print('after', shared.n, e) end)\n"
        "  stn.after_all(function(shared) print('end', shared.n) end)\n"
        "  stn.it('one', function(shared, e) shared.n = 7 print('one', e) end)\n"
        "  stn.describe('in', function()\n"
        "    stn.before_each(function(shared, e) return e .. 'f' end)\n"
        "    stn.after_each(function(shared, e, f) print('inner', f) end)\n"
        "    stn.it('two', function(shared, e, f) print('two', shared.n, e, f) error('x', 0) end)\n"
        "  end)\n"
        "end)\n";
    write_file("fixtures.lua", fixtures);
    const stn_run *run = stn_run_to("test fixtures.lua | sed 's/ (.*//; s/\\t/ /g'", 0); // that of sed
    assert_string_equal(
        run->out, "all\nend 0\n"
                  "each 0\none e\nafter 7 e\nok   fixtures.lua: out: one\n"
                  "each 0\ntwo 0 e ef\ninner ef\nafter 0 e\nFAIL fixtures.lua: out: in: two\n     fixtures.lua:11: x\n"
                  "1 passed, 1 failed\n");
}

/// A group whose fixture of all fails, hangs or crashes fails as its tests; what comes after runs.
static void test_what_ends_a_group_is_told_of_its_tests(void **state) {
    (void)state;
    static const struct {
        const char *body, *reason;
    } cases[] = {
        {"error('no robot', 0)", "no robot"},
        {"while true do end", "a fixture of all of group \"g\" timed out: ended after 1 s, its limit"},
        {"os.execute 'kill -ABRT $PPID; sleep 100'", "a fixture of all of group \"g\" ended by signal 6 (Aborted)"},
    };
    for (int i = 0; i < STN_COUNT(cases); i++) {
        char text[1024], expected[1024];
        snprintf(text, sizeof text,
                 "local stn = require 'stiction'\n"
                 "stn.describe('g', function()\n"
                 "  stn.before_all(function() %s end)\n"
                 "  stn.it('a', function() end)\n  stn.it('b', function() end)\n"
                 "end)\nstn.test('c', function() end)\n",
                 cases[i].body);
        write_file("group.lua", text);
        snprintf(
            expected, sizeof expected,
            "FAIL group.lua: g: a\n     %s\nFAIL group.lua: g: b\n     %s\nok   group.lua: c\n1 passed, 2 failed\n",
            cases[i].reason, cases[i].reason);
        char words[128]; // a limit where it is to be reached alone: what else runs may be slow
        snprintf(words, sizeof words,
                 "test group.lua %s 2>/dev/null | sed 's/ ([0-9]* ms)$//; s/group.lua:[0-9]*: no/no/'",
                 i == 1 ? "--limit 1" : "");
        stn_expect(words, 0, expected);
    }
}

static void test_lines_outside_of_tests_have_the_limit_too(void **state) {
    (void)state;
    write_file("a.lua", "require 'stiction'.test('t', function() end)\nwhile true do end\n");
    stn_expect("test a.lua --limit 1 | sed 's/ ([0-9]* ms)$//'", 0,
               "ok   a.lua: t\nFAIL a.lua\n     timed out: ended after 1 s, its limit\n1 passed, 1 failed\n");
}

static void test_parameters_are_set_for_those_that_have_them(void **state) {
    (void)state;
    write_file("a.lua", "local p = require 'stiction'.params { mu = 0.5 }\nassert(p.mu == 0.25)\n");
    write_file("b.lua", "assert(true)\n");
    stn_expect_part("test a.lua b.lua --set mu=0.25", 0, "\n2 passed, 0 failed\n");
    stn_expect("test a.lua b.lua --set mu=0.25 --set nu=1 2>&1 >/dev/null", 2,
               "stiction test: --set nu=1: no script that ran declares such a parameter\n");
    stn_expect("test a.lua --set mu 2>&1", 2, "stiction test: --set mu: write name=value\n");
}

static void test_bad_words_are_told_before_the_work(void **state) {
    (void)state;
    stn_expect("test suite.lua --junit no/where.xml 2>&1", 2,
               "stiction test: no/where.xml: cannot be written: No such file or directory\n");
    stn_expect("test suite.lua --junit /dev/null 2>&1", 2,
               "stiction test: /dev/null: cannot be written: it is not a regular file; name another\n");
    stn_expect("test suite.lua --limit 0 2>&1", 2, "stiction test: --limit 0: must be > 0 s and at most 1e7 s\n");
    stn_expect("test suite.lua --list --tap 2>&1", 2, "stiction test: --list runs no test; leave out --tap\n");
    write_file("a.lua", "local stn = require 'stiction'\nstn.test('a', { limit_s = 0 }, function() end)\n");
    stn_expect_part("test a.lua", 1, "a.lua:2: stn.test: limit_s");
    write_file("b.lua", "local stn = require 'stiction'\nstn.before_each(function() end)\n");
    stn_expect_part("test b.lua", 1, "b.lua:2: stn.before_each: stands in the function of a stn.describe");
    write_file("c.lua", "local stn = require 'stiction'\nstn.test('a', function() stn.test('b', print) end)\n");
    stn_expect_part("test c.lua", 1, "c.lua:2: stn.test \"b\": inside of a test or a fixture; declare it outside");
    write_file("d.lua", "\n");
    stn_expect_part("test d.lua", 0,
                    "no test in it: no stn.test, check, assert or step\n0 passed, 0 failed, 1 skipped");
}

/// The workers of a world that was made before belong to another process.
static void test_worlds_with_threads_are_stepped_in_tests(void **state) {
    (void)state;
    write_file("a.lua", "local stn = require 'stiction'\n"
                        "local world = stn.world { dt = 1e-3, threads = 2 }\n"
                        "world:ground {}\n"
                        "for i = 1, 4 do world:sphere { radius = 0.1, pose = { xyz = { i, 0, 0.09 } } } end\n"
                        "world:step()\n"
                        "stn.test('a', function() for _ in world:run { steps = 3 } do end end)\n"
                        "stn.test('b', function() assert(world.time < 0.002) world:record 'b.html' world:step() end)\n"
                        "world:record 'c.html'\n"
                        "stn.test('c', function() world:step() end)\n");
    const stn_run *run = stn_run_to("test a.lua --limit 20", 1);
    expect_part_of(run->out, "opened outside of the test; open it inside");
    expect_part_of(run->out, "\n2 passed, 2 failed\n"); // and the file: nothing is in its recording
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_people_read_what_failed_and_where_it_is_kept, enter_suite, leave_folder),
        cmocka_unit_test_setup_teardown(test_what_failures_leave_opens, enter_suite, leave_folder),
        cmocka_unit_test_setup_teardown(test_what_a_former_run_left_goes, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_what_steps_until_its_limit_is_kept, enter_suite, leave_folder),
        cmocka_unit_test_setup_teardown(test_the_last_five_seconds_and_a_step_that_failed_are_kept, enter_suite,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_tap, enter_suite, leave_folder),
        cmocka_unit_test_setup_teardown(test_junit_is_xml_that_a_parser_reads, enter_suite, leave_folder),
        cmocka_unit_test_setup_teardown(test_order_does_not_depend_on_jobs, enter_suite, leave_folder),
        cmocka_unit_test_setup_teardown(test_names_are_listed_and_chosen_whole, enter_suite, leave_folder),
        cmocka_unit_test_setup_teardown(test_fixtures_pass_what_they_make, enter_suite, leave_folder),
        cmocka_unit_test_setup_teardown(test_what_ends_a_group_is_told_of_its_tests, enter_suite, leave_folder),
        cmocka_unit_test_setup_teardown(test_lines_outside_of_tests_have_the_limit_too, enter_suite, leave_folder),
        cmocka_unit_test_setup_teardown(test_parameters_are_set_for_those_that_have_them, enter_suite, leave_folder),
        cmocka_unit_test_setup_teardown(test_bad_words_are_told_before_the_work, enter_suite, leave_folder),
        cmocka_unit_test_setup_teardown(test_worlds_with_threads_are_stepped_in_tests, enter_suite, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
