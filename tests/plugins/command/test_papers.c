// SPDX-License-Identifier: Apache-2.0
// stiction papers: a verdict for every published value, whatever its run does; answers that are there are used.
#include "run_folder.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/// Results of every kind, or an end of another kind.
static const char script[] = "local stn = require 'stiction'\n"
                             "local p = stn.params { mode = 'ok', plot = '' }\n"
                             "if p.mode == 'error' then error('no luck', 0) end\n"
                             "if p.mode == 'kill' then os.execute('kill -9 $PPID') end\n"
                             "local calls = io.open('calls', 'a')\n"
                             "calls:write(p.mode, '\\n')\n"
                             "calls:close()\n"
                             "stn.result('two', 2.0, 'm')\n"
                             "stn.result('minus', -2.0, 'm')\n"
                             "stn.result('zero', 0.0, 'm')\n"
                             "stn.result('none', 0 / 0)\n"
                             "local found = os.execute('test $(command -v stiction) -ef /proc/$PPID/exe')\n"
                             "stn.result('itself', found and 1 or 0)\n"
                             "if p.mode == 'check' then stn.check('never', false) end\n"
                             "if p.plot ~= '' then\n"
                             "  local f = io.open(p.plot, 'w')\n"
                             "  f:write('<?xml version=\"1.0\"?><svg id=\"drawn\"></svg>')\n"
                             "  f:close()\n"
                             "end\n";

#define ROW(published, same, more)                                                                                   \
    "{ \"place\": \"Table I\", \"quantity\": \"q\", \"unit\": \"m\", \"published\": " published ", \"run\": \"a\", " \
    "\"result\": \"two\", \"same\": " same more " }"

static void write_paper(const char *runs, const char *rows) {
    char text[8192];
    snprintf(text, sizeof text,
             "{ \"name\": \"TEST\", \"reference\": \"lee-2023\", \"title\": \"T <&> t\", \"runs\": { %s }, \"rows\": [ "
             "%s ] }\n",
             runs, rows);
    assert_true(mkdir("p", 0777) == 0 || errno == EEXIST);
    assert_true(mkdir("p/test", 0777) == 0 || errno == EEXIST);
    write_file("p/test/s.lua", script);
    write_file("p/test/paper.json", text);
}

static const char run_a[] = "\"a\": { \"script\": \"s.lua\" }";

static void every_kind_of_same_is_judged(void **state) {
    (void)state;
    static const struct {
        const char *row;
        int status;
        const char *words;
    } cases[] = {
        {ROW("2.1", "{ \"relative\": 0.05 }", ""), 0, "holds "},
        {ROW("2.1", "{ \"relative\": 0.04 }", ""), 1, "differs, unexplained"},
        {ROW("2.1", "{ \"relative\": 0.04 }", ", \"why\": \"its mass is unknown\""), 0,
         "ours 2 m; its mass is unknown"},
        {ROW("2.25", "{ \"absolute\": 0.25 }", ""), 0, "holds "},
        {ROW("2.25", "{ \"absolute\": 0.24 }", ""), 1, "differs"},
        {ROW("4.0", "{ \"factor\": 2 }", ""), 0, "holds "},
        {ROW("1.0", "{ \"factor\": 2 }", ""), 0, "holds "},
        {ROW("4.1", "{ \"factor\": 2 }", ""), 1, "differs"},
        {ROW("-2", "{ \"factor\": 9 }", ""), 1, "differs"},
        {ROW("2", "\"at_most\"", ""), 0, "at most 2 m"},
        {ROW("1.9", "\"at_most\"", ""), 1, "differs"},
        {ROW("2", "\"at_least\"", ""), 0, "at least 2 m"},
        {ROW("2.1", "\"at_least\"", ""), 1, "differs"},
        {ROW("\"about two\"", "{ \"range\": [1.5, 2.0] }", ""), 0, "q: about two; ours 2 m"},
        {ROW("\"about two\"", "{ \"range\": [2.01, 3] }", ""), 1, "differs"},
        {ROW("2.1", "\"at_least\"", ", \"not_comparable\": \"measured\""), 0, "not comparable"},
        {ROW("-1", "{ \"relative\": 0 }", ", \"over\": \"minus\""), 0, "holds "},
        {ROW("-1", "{ \"relative\": 0 }", ", \"over\": \"zero\""), 1, "failed"},
        {ROW("-1", "{ \"relative\": 0 }", ", \"over\": \"three\""), 1, "a: has no number two over three"},
        {"{ \"place\": \"Fig. 1\", \"quantity\": \"q\", \"unit\": \"1\", \"published\": 3, \"not_comparable\": "
         "\"bought\" }",
         0, "q: 3; ours none; bought"},
    };
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        write_paper(run_a, cases[i].row);
        stn_expect_part("papers --from p -q " QUIET, cases[i].status, cases[i].words);
    }
}

static void a_script_that_calls_stiction_calls_the_program_that_runs_it(void **state) {
    (void)state;
    write_paper(run_a, "{ \"place\": \"x\", \"quantity\": \"q\", \"unit\": \"1\", \"published\": 1, \"run\": \"a\", "
                       "\"result\": \"itself\", \"same\": { \"absolute\": 0 } }");
    stn_expect_part("papers --from p -q " QUIET, 0, "holds ");
}

static int calls(void) {
    char text[4096] = "";
    FILE *file = fopen("calls", "r");
    int lines = 0;
    while (file != NULL && fgets(text, sizeof text, file) != NULL) {
        lines++;
    }
    if (file != NULL) {
        fclose(file);
    }
    return lines;
}

static void a_run_that_fails_is_a_row_and_the_others_go_on(void **state) {
    (void)state;
    write_paper("\"a\": { \"script\": \"s.lua\" }, \"e\": { \"script\": \"s.lua\", \"set\": [\"mode=error\"] },"
                "\"k\": { \"script\": \"s.lua\", \"set\": [\"mode=kill\"] }, \"n\": { \"script\": \"none.lua\" }",
                ROW("2", "\"at_most\"", ""));
    const char *all = stn_run_to("papers --from p -q " QUIET, 1)->out; // no row looks at those that fail
    assert_non_null(strstr(all, "holds 1"));
    assert_non_null(strstr(all, "run failed            e: p/test/s.lua:3: no luck"));
    assert_non_null(strstr(all, "run failed            k: crashed by signal 9"));
    assert_non_null(strstr(all, "run failed            n: "));
    const char *const runs =
        "\"a\": { \"script\": \"s.lua\" }, \"e\": { \"script\": \"s.lua\", \"set\": [\"mode=error\"] },"
        "\"k\": { \"script\": \"s.lua\", \"set\": [\"mode=kill\"] }, \"f\": { \"script\": \"s.lua\", \"full\": true }";
#define OF(run, result)                                                                                 \
    "{ \"place\": \"-\", \"quantity\": \"" run "\", \"unit\": \"1\", \"published\": 2, \"run\": \"" run \
    "\", \"result\": \"" result "\", \"same\": \"at_most\" }"
    write_paper(runs, OF("e", "two") "," OF("k", "two") "," OF("a", "none") "," OF("a", "three") "," OF(
                          "f", "two") "," OF("a", "two"));
    const char *out = stn_run_to("papers --from p -q " QUIET, 1)->out;
    assert_non_null(strstr(out, "ours none; e: p/test/s.lua:3: no luck"));
    assert_non_null(strstr(out, "k: crashed by signal 9"));
    assert_non_null(strstr(out, "a: has no number none"));
    assert_non_null(strstr(out, "a: has no number three"));
    assert_non_null(strstr(out, "--full runs it"));
    assert_non_null(strstr(out, "holds 1; failed 4; not run 1"));
    stn_expect_part("papers --from p -q --full " QUIET, 1, "holds 2; failed 4\n");
    assert_int_equal(calls(),
                     3); // a twice, as its script was written anew, and f
    write_paper("\"e\": { \"script\": \"s.lua\", \"set\": [\"mode=error\"] }", OF("e", "two"));
    stn_expect_part("papers --from p -q 2>&1", 1, "failed 1");
    write_file("p/test/s.lua", "local stn = require 'stiction'\nstn.params { mode = '' }\nstn.result('two', 2)\n");
    stn_expect_part("papers --from p -q 2>&1", 0, "holds 1");
}

static void answers_that_are_there_are_used(void **state) {
    (void)state;
    write_paper(run_a, ROW("2", "\"at_most\"", ""));
    stn_expect_part("papers --from p -q " QUIET, 0, "holds 1");
    stn_expect_part("papers --from p -q " QUIET, 0, "holds 1");
    assert_int_equal(calls(), 1);
    write_file(
        "p/test/paper.json",
        "{ \"name\": \"TEST\", \"reference\": \"r\", \"title\": \"t\", \"runs\": { \"a\": { \"script\": \"s.lua\" } },"
        "\"rows\": [" ROW("1", "\"at_most\"", "") "] }\n");
    stn_expect_part("papers --from p -q " QUIET, 1, "differs, unexplained 1"); // judged anew, not run anew
    assert_int_equal(calls(), 1);
    stn_expect_part("papers --from p -q --fresh " QUIET, 1, "differs");
    assert_int_equal(calls(), 2);
    write_paper(run_a, ROW("2", "\"at_most\"", ""));
    stn_expect_part("papers --from p -q --keep other " QUIET, 0, "holds 1");
    assert_int_equal(calls(), 3);
    write_paper("\"a\": { \"script\": \"s.lua\", \"set\": [\"mode=check\"] }",
                ROW("2", "\"at_most\"", "")); // other settings
    stn_expect_part("papers --from p -q " QUIET, 1, "check failed          a: never");
    assert_int_equal(calls(), 4);
    write_file("papers/TEST.a.json", "half of an ans");
    stn_expect_part("papers --from p -q " QUIET, 1, "holds 1");
    assert_int_equal(calls(), 5);
    stn_expect_part("papers --from p -q " QUIET, 1, "holds 1");
    assert_int_equal(calls(), 5);
    stn_expect_part("papers --from p -q --kept " QUIET, 1, "holds 1");
    assert_int_equal(calls(), 5);
    stn_expect_part("papers --from p -q --kept --keep nowhere " QUIET, 0, "not run 1");
    assert_int_not_equal(access("nowhere", F_OK), 0);
    write_file("p/test/help.lua", "return 1\n"); // a script may read it
    stn_expect_part("papers --from p -q " QUIET, 1, "holds 1");
    assert_int_equal(calls(), 6);
    assert_int_equal(mkdir("p/second", 0777), 0); // another paper changes nothing
    write_file("p/second/paper.json",
               "{ \"name\": \"SECOND\", \"reference\": \"r\", \"title\": \"t\", \"runs\": {}, \"rows\": [] }\n");
    stn_expect_part("papers --from p -q " QUIET, 1, "holds 1");
    stn_expect_part("papers --from p -q test " QUIET, 1, "holds 1");
    assert_int_equal(calls(), 6);
}

static void the_page_has_rows_charts_and_failed_checks(void **state) {
    (void)state;
    write_paper(
        "\"a\": { \"script\": \"s.lua\", \"set\": [\"mode=check\"], \"plot\": \"plot\", \"caption\": \"a < b\" }",
        ROW("2", "\"at_most\"", ""));
    stn_expect_part("papers --from p -q --html page.html " QUIET, 1, "holds 1");
    stn_expect_part("papers --from p -q --html no/page.html 2>&1", 2, "no/");
    char page[1 << 16];
    FILE *file = fopen("page.html", "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(page, "T &lt;&amp;&gt; t"));
    assert_non_null(strstr(page, "<svg id=\"drawn\"></svg><figcaption>a &lt; b</figcaption>"));
    assert_null(strstr(page, "<?xml"));
    assert_non_null(strstr(page, "wall time of all runs, one after the other: 0 s"));
    assert_non_null(strstr(page, "<p class=failed>check failed: a: never</p>"));
    assert_non_null(strstr(page, "at most 2 m"));
}

static void the_document_is_text_with_its_charts_beside_it(void **state) {
    (void)state;
    write_paper("\"a\": { \"script\": \"s.lua\", \"plot\": \"plot\", \"caption\": \"a | b\" }",
                ROW("2.1", "{ \"relative\": 0 }", ", \"why\": \"x | *y*\""));
    assert_int_equal(mkdir("text", 0777), 0);
    for (int32_t i = 0; i < 2; i++) { // also over what is there
        stn_expect_part("papers --from p -q --markdown text/papers.md " QUIET, 0, "differs 1");
    }
    char text[1 << 14];
    FILE *file = fopen("text/papers.md", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(text, "## TEST: T \\<&> t (lee-2023)"));
    assert_non_null(strstr(text, "[Scripts, commands and explanations](../p/test/README.md)"));
    assert_non_null(strstr(text, "| Table I | q | 2.1 m | 2 m | differs: x \\| \\*y\\* |\n"));
    assert_non_null(strstr(text, "![a](pictures/paper_TEST_a.svg)\n\na \\| b\n"));
    assert_int_equal(access("text/pictures/paper_TEST_a.svg", R_OK), 0);
    stn_expect_part("papers --from p -q --markdown none/papers.md 2>&1", 2, "none/");
}

static void wrong_papers_are_one_clear_line(void **state) {
    (void)state;
    static const struct {
        const char *runs, *rows, *text;
    } cases[] = {
        {run_a, ROW("2", "{ \"relative\": -1 }", ""), "paper.json: row 1: 'same' must be one of"},
        {run_a, ROW("2", "{ \"factor\": 0.5 }", ""), "'same' must be one of"},
        {run_a, ROW("2", "{ \"range\": [2, 1] }", ""), "'same' must be one of"},
        {run_a, ROW("2", "{ \"at_most\": 1 }", ""), "'same' must be one of"},
        {run_a, ROW("2", "\"relative\"", ""), "'same' must be one of"},
        {run_a, ROW("2", "{ \"relative\": 1, \"absolute\": 1 }", ""), "'same' must be one of"},
        {run_a, ROW("\"two\"", "\"at_most\"", ""), "row 1: 'published' must be a number where 'same' is no range"},
        {run_a, ROW("true", "\"at_most\"", ""), "'published' must be a number, or a text"},
        {run_a, ROW("2", "\"at_most\"", ", \"whi\": \"x\""), "row 1: 'whi' is no name that is known here"},
        {run_a, ROW("2", "\"at_most\"", ", \"why\": 3"), "row 1: 'why' must be a text"},
        {"\"a/b\": { \"script\": \"s.lua\" }", "", "'a/b' must be a name of up to 60 letters"},
        {"\"..\": { \"script\": \"s.lua\" }", "", "'..' must be a name"},
        {"\"a\": { \"script\": \"s.lua\" }, \"a\": { \"script\": \"s.lua\" }", "", "run 'a': 'a' is there twice"},
        {run_a, ROW("1e999", "\"at_most\"", ""), "'published' must be a number"},
        {"\"b\": { \"script\": \"s.lua\" }", ROW("2", "\"at_most\"", ""), "row 1: 'a' is none of the runs"},
        {"\"a\": { }", "", "run 'a': 'script' is missing"},
        {"\"a\": 3", "", "run 'a' must be an object"},
        {"\"a\": { \"script\": \"s.lua\", \"set\": [\"mode\"] }", "", "run 'a': 'set' must be a list of texts"},
        {"\"a\": { \"script\": \"s.lua\", \"options\": [\"profile\"] }", "",
         "run 'a': 'options' must be a list of texts"},
        {"\"a\": { \"script\": \"s.lua\", \"full\": 1 }", "", "run 'a': 'full' must be true or false"},
        {"\"a\": { \"script\": \"s.lua\", \"plot\": \"plot\" }", "", "run 'a': 'caption' is missing"},
        {run_a, "3", "row 1 must be an object"},
        {run_a, "{ ] }", "paper.json:1: is no JSON from here on"},
    };
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        write_paper(cases[i].runs, cases[i].rows);
        stn_expect_part("papers --from p -q 2>&1", 2, cases[i].text);
    }
    write_paper(run_a, ROW("2", "\"at_most\"", ""));
    stn_expect_part("papers --from p -q none 2>&1", 2, "no paper none; there are TEST");
    stn_expect_part("papers --from q -q 2>&1", 2, "q/*/paper.json: no such file");
    stn_expect_part("papers --from p --quick --full 2>&1", 2, "give one of the two");
    stn_expect_part("papers --from p --fresh --kept 2>&1", 2, "give one of the two");
    stn_expect_part("papers --from p -q --timeout 0 2>&1", 2, "--timeout 0: must be > 0 s");
    stn_expect_part("papers --from p -q --jobs 0 2>&1", 2, "--jobs 0: must be at least 1");
    write_file("papers", "");
    stn_expect_part("papers --from p -q 2>&1", 2, "papers");
    assert_int_equal(mkdir("p/other", 0777), 0);
    write_file("p/other/paper.json",
               "{ \"name\": \"TEST\", \"reference\": \"r\", \"title\": \"t\", \"runs\": {}, \"rows\": [] }\n");
    stn_expect_part("papers --from p --keep k -q 2>&1", 2, "another paper is called TEST, too");
    write_file("p/other/paper.json",
               "{ \"name\": \"../x\", \"reference\": \"r\", \"title\": \"t\", \"runs\": {}, \"rows\": [] }\n");
    stn_expect_part("papers --from p --keep k -q 2>&1", 2, "'../x' must be a name of up to 60 letters");
    assert_int_equal(unlink("p/other/paper.json"), 0);
    static const char *const names[] = {"test", "LEE-2023", "TEST"};
    for (int32_t i = 0; i < STN_COUNT(names); i++) {
        char line[128];
        snprintf(line, sizeof line, "papers --from p --keep k -q %s " QUIET, names[i]);
        stn_expect_part(line, 0, "holds 1");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_kind_of_same_is_judged, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_script_that_calls_stiction_calls_the_program_that_runs_it, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(a_run_that_fails_is_a_row_and_the_others_go_on, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(answers_that_are_there_are_used, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(the_page_has_rows_charts_and_failed_checks, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(the_document_is_text_with_its_charts_beside_it, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(wrong_papers_are_one_clear_line, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
