// SPDX-License-Identifier: Apache-2.0
// stn.reference and stiction test --approve: what is stored, what differs, and files that are none.
#include "stn_command.h"
#include "stn_folder.h"

#include <sys/stat.h>

#define FILE_HEAD      "{ \"format\": \"stiction-reference-1\", \"values\": "
#define FAILED(reason) "FAIL a.lua: t\n     a.lua:" reason "\n0 passed, 1 failed\n"
#define WITHOUT_TIMES  " | sed 's/ ([0-9]* ms)$//'"

static void write_script(const char *value) {
    char text[1024];
    snprintf(text, sizeof text,
             "local stn = require 'stiction'\nstn.test('t', function()\n  stn.reference('r', %s)\nend)\n", value);
    write_file("a.lua", text);
}

static void expect_test(const char *options, const char *text) {
    char words[256];
    snprintf(words, sizeof words, "test a.lua --artifacts '' %s" WITHOUT_TIMES, options);
    stn_expect(words, 0, text); // the status is that of sed
}

static void test_what_is_missing_is_approved_and_holds(void **state) {
    (void)state;
    write_script("1.5, { tolerance = 0.01, unit = 'N' }");
    expect_test("", FAILED("3: reference 't: r' is missing in a.reference.json: look at the value, then store it with "
                           "stiction test --approve"));
    expect_test("--approve", "approved: t: r in a.reference.json (new)\nok   a.lua: t\n1 passed, 0 failed\n");
    expect_test("", "ok   a.lua: t\n1 passed, 0 failed\n");
    stn_run_to("run a.lua 2>&1", 0);
}

static void test_numbers_differ_with_their_unit(void **state) {
    (void)state;
    write_file("a.reference.json", FILE_HEAD "{ \"t: r\": 1.5 } }");
    write_script("1.7, { tolerance = 0.01, unit = 'N' }");
    expect_test("", FAILED("3: r = 1.7 N, reference 1.5 N: off by 0.2 N, allowed 0.01 N"));
    write_script("1.5 * (1 + 2e-6)"); // the usual relative tolerance is 1e-6
    expect_test("", FAILED("3: r = 1.500003, reference 1.5: off by 3e-06, allowed 1.501e-06"));
    write_script("1.505, { tolerance = 0.01 }");
    expect_test("--approve", "ok   a.lua: t\n1 passed, 0 failed\n"); // within: stays as it was
    write_script("1.505, { tolerance = 0.004 }");
    expect_test("--approve", "approved: t: r in a.reference.json (changed)\nok   a.lua: t\n1 passed, 0 failed\n");
    expect_test("", "ok   a.lua: t\n1 passed, 0 failed\n");
}

static void test_tables_name_the_member_that_differs(void **state) {
    (void)state;
    write_script("{ name = 'lid', open = true, at = { 1, 2, { x = 3 } } }");
    expect_test("--approve", "approved: t: r in a.reference.json (new)\nok   a.lua: t\n1 passed, 0 failed\n");
    static const char *const cases[][2] = {
        {"{ name = 'lid', open = true, at = { 1, 2, { x = 4 } } }",
         FAILED("3: r.at[3].x = 4, reference 3: off by 1, allowed 3.001e-06")},
        {"{ name = 'lid', open = false, at = { 1, 2, { x = 3 } } }", FAILED("3: r.open = false, reference true")},
        {"{ name = 'pot', open = true, at = { 1, 2, { x = 3 } } }", FAILED("3: r.name = pot, reference lid")},
        {"{ name = 'lid', open = true, at = { 1, 2 } }", FAILED("3: r.at has 2 entries, the reference 3")},
        {"{ name = 'lid', at = { 1, 2, { x = 3 } } }", FAILED("3: r has no 'open', the reference has")},
        {"{ name = 'lid', open = true, shut = 1, at = {} }", FAILED("3: r.at is a table, the reference a list")},
        {"{ name = 0 / 0 }", FAILED("3: reference r.name is nan; a reference needs finite numbers")},
        {"print",
         FAILED("3: reference r is a function; numbers, texts, booleans, tables of them and worlds can be stored")},
    };
    for (int i = 0; i < STN_COUNT(cases); i++) {
        write_script(cases[i][0]);
        expect_test("", cases[i][1]);
    }
}

static void test_worlds_are_stored_by_joint(void **state) {
    (void)state;
    static const char scene[] = "local stn = require 'stiction'\n"
                                "local p = stn.params { g = 10 }\n"
                                "stn.test('t', function()\n"
                                "  local world = stn.world { dt = 0.1, gravity = { 0, 0, -p.g } }\n"
                                "  world:sphere { name = 'ball', radius = 0.1 }\n"
                                "  world:step()\n"
                                "  stn.reference('r', world, { tolerance = 1e-9 })\n"
                                "end)\n";
    write_file("a.lua", scene);
    expect_test("--approve", "approved: t: r in a.reference.json (new)\nok   a.lua: t\n1 passed, 0 failed\n");
    expect_test("", "ok   a.lua: t\n1 passed, 0 failed\n");
    // v = -g dt, z = v dt (symplectic Euler)
    expect_test("--set g=11", FAILED("7: r.ball/ball_floating.q_z = -0.11 m, reference -0.1 m: off by -0.01 m, "
                                     "allowed 1e-09 m"));
}

static void test_files_that_are_none_are_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", FAILED("3: a.reference.json:1: this is no JSON; correct it, or remove the file and approve anew")},
        {FILE_HEAD "\n{ \"t: r\": NaN } }",
         FAILED("3: a.reference.json:2: this is no JSON; correct it, or remove the file and approve anew")},
        {FILE_HEAD "{ \"t: r\": 1e999 } }", FAILED("3: a.reference.json: 't: r' holds what is no finite number")},
        {FILE_HEAD "{ \"t: r\": [1, null] } }", FAILED("3: a.reference.json: 't: r' holds what is no finite number")},
        {"{ \"format\": \"other\" }",
         FAILED("3: a.reference.json: needs \"format\": \"stiction-reference-1\" and a table "
                "\"values\"")},
        {"[1]", FAILED("3: a.reference.json: needs \"format\": \"stiction-reference-1\" and a table \"values\"")},
    };
    write_script("1");
    for (int i = 0; i < STN_COUNT(cases); i++) {
        write_file("a.reference.json", cases[i][0]);
        expect_test("", cases[i][1]);
        expect_test("--approve", cases[i][1]); // what cannot be read is not overwritten
    }
    assert_int_equal(remove("a.reference.json") + mkdir("a.reference.json", 0777), 0);
    expect_test("--approve", FAILED("3: a.reference.json: cannot be read: Is a directory"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_missing_is_approved_and_holds, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_numbers_differ_with_their_unit, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_tables_name_the_member_that_differs, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_worlds_are_stored_by_joint, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_files_that_are_none_are_refused, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
