// SPDX-License-Identifier: Apache-2.0
// stiction sweep: the grid, a row for whatever becomes of a run, the same table from any number of processes, and going
// on after an end.
#include "run_folder.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LINES = 64, MOST_CELLS = 64 };

/// Cells, with the quotes of those that have some.
typedef struct table {
    char text[1 << 16];
    int rows, columns; // rows without the header
    const char *cell[MOST_LINES][MOST_CELLS];
} table;

static const table *split(const char *text) {
    static table t;
    t.rows = -1;
    assert_true(strlen(text) < sizeof t.text);
    strcpy(t.text, text);
    for (char *line = t.text, *end = strchr(line, '\n'); end != NULL; line = end + 1, end = strchr(line, '\n')) {
        *end = '\0';
        int count = 0;
        for (char *at = line; at != NULL && count < MOST_CELLS; count++) {
            t.cell[t.rows + 1][count] = at;
            for (bool quoted = false; *at != '\0' && (quoted || *at != ','); at++) {
                quoted = quoted != (*at == '"');
            }
            if (*at == '\0') {
                at = NULL;
            } else {
                *at++ = '\0';
            }
        }
        t.columns = t.rows < 0 ? count : t.columns;
        assert_int_equal(count, t.columns);
        t.rows++;
        assert_true(t.rows < MOST_LINES - 1);
    }
    return &t;
}

static const char *cell(const table *t, int row, const char *column) {
    for (int i = 0; i < t->columns; i++) {
        if (strcmp(t->cell[0][i], column) == 0) {
            return t->cell[row + 1][i];
        }
    }
    fail_msg("no column %s", column);
    return NULL;
}

static double real(const table *t, int row, const char *column) {
    const char *text = cell(t, row, column);
    assert_true(text[0] != '\0');
    return strtod(text, NULL);
}

static void expect_cells(const table *t, const char *column, const char *const *texts) {
    for (int i = 0; texts[i] != NULL; i++) {
        assert_true(i < t->rows);
        assert_string_equal(cell(t, i, column), texts[i]);
    }
}

static const char *read_text(const char *path) {
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    text[0] = '\0';
    if (file != NULL) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    return text;
}

static const table *sweep(const char *words, int status) {
    char line[1024];
    snprintf(line, sizeof line, "sweep %s " QUIET, words);
    return split(stn_run_to(line, status)->out);
}

static void test_rows_say_what_the_runs_do(void **state) {
    (void)state;
    write_file("falling.lua", falling);
    const table *t = sweep("falling.lua --vary height=0.4,1 --vary dt=0.01:0.02:2 --set seconds=0.2", 0);
    assert_int_equal(t->rows, 4);
    expect_cells(t, "run", (const char *const[]){"0", "1", "2", "3", NULL});
    expect_cells(t, "seconds", (const char *const[]){"0.2", "0.2", "0.2", "0.2", NULL});
    expect_cells(t, "height", (const char *const[]){"0.4", "0.4", "1", "1", NULL});
    expect_cells(t, "dt", (const char *const[]){"0.01", "0.02", "0.01", "0.02", NULL});
    expect_cells(t, "status", (const char *const[]){"check_failed", "check_failed", "ok", "ok", NULL});
    expect_cells(t, "checks_failed", (const char *const[]){"1", "1", "0", "0", NULL});
    expect_cells(t, "reason",
                 (const char *const[]){"check failed: above: 0.19 is not at least 0.5 m",
                                       "check failed: above: 0.18 is not at least 0.5 m", "", "", NULL});
    for (int i = 0; i < 4; i++) { // symplectic Euler falls by g dt^2 n (n + 1)/2
        double dt = i % 2 == 0 ? 0.01 : 0.02, n = 0.2 / dt, height = i < 2 ? 0.4 : 1.0;
        assert_near(real(t, i, "steps"), n, 1e-9);
        assert_near(real(t, i, "simulated_s"), 0.2, 1e-12);
        assert_near(real(t, i, "result.z"), height - 10.0 * dt * dt * n * (n + 1.0) / 2.0, 1e-12);
        assert_near(real(t, i, "check.above"), real(t, i, "result.z"), 0.0);
        assert_near(real(t, i, "momentum_max"), 0.0, 1e-12);
        assert_near(real(t, i, "contacts_max"), 0.0, 0.0);
        assert_true(real(t, i, "wall_s") > 0.0 && real(t, i, "real_time_factor") > 0.0);
    }
    sweep("falling.lua --vary height=0.4,1 --check", 1);
    sweep("falling.lua --vary height=1,2 --check", 0);
}

static const char echo[] = "local stn = require 'stiction'\n"
                           "local p = stn.params { a = 1, b = 2.5, c = true, d = 'x', steps = 3 }\n"
                           "stn.result('a', p.a)\n"
                           "stn.result('b', p.b)\n"
                           "print(p.a, p.b)\n"; // which no table holds

static void test_values_are_ranges_and_lists(void **state) {
    (void)state;
    write_file("echo.lua", echo);
    static const struct {
        const char *vary, *values[8];
    } cases[] = {
        {"b=0.1:0.5:5", {"0.1", "0.2", "0.3", "0.4", "0.5"}},
        {"b=1:-1:3", {"1", "0", "-1"}},
        {"b=1e-8:1e-2:4:log", {"1e-08", "1e-06", "0.0001", "0.01"}},
        {"b=7:9:1", {"7"}},
        {"a=3..6", {"3", "4", "5", "6"}},
        {"a=-2..7..4", {"-2", "2", "6"}},
        {"a=5,1e300,-0.25", {"5", "1e300", "-0.25"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[128], result[] = "result.?", name[] = "?";
        name[0] = result[7] = cases[i].vary[0];
        snprintf(words, sizeof words, "echo.lua --vary %s", cases[i].vary);
        const table *t = sweep(words, 0);
        int count = 0;
        for (; cases[i].values[count] != NULL; count++) {
            assert_string_equal(cell(t, count, name), cases[i].values[count]);
            assert_true(real(t, count, result) == strtod(cases[i].values[count], NULL));
        }
        assert_int_equal(t->rows, count);
    }
    // names that columns have already
    const table *t = sweep("echo.lua --vary steps=1..2 --vary d=x,../y.urdf --vary c=true,false", 0);
    assert_int_equal(t->rows, 8);
    expect_cells(t, "set.steps", (const char *const[]){"1", "1", "1", "1", "2", NULL});
    expect_cells(t, "d", (const char *const[]){"x", "x", "../y.urdf", "../y.urdf", "x", NULL});
    expect_cells(t, "c", (const char *const[]){"true", "false", "true", "false", "true", NULL});
}

static void test_what_makes_no_sense_is_refused_before_any_run(void **state) {
    (void)state;
    static const struct {
        const char *words, *text;
    } cases[] = {
        {"--vary hight=1,2", "hight: the script declares no such parameter, did you mean 'height'?"},
        {"--set hight=1", "hight: the script declares no such parameter, did you mean 'height'?"},
        {"--vary solver=sap,bisectio", "unknown solver bisectio; did you mean bisection?"},
        {"--vary solver.tolerance=1 --vary solver.omega=1", "solver sap: unknown parameter omega; there are"},
        {"--vary height=1,high", "height=high: must be a number"},
        {"--vary height=high,1", "height=high: must be a number"},
        {"--vary heavy=true,2", "heavy=2: must be true or false"},
        {"--vary dt=0.01,-1", "dt=-1: must be a number > 0 [s]"},
        {"--vary seed=1,0.5", "seed=0.5: must be a whole number from 0"},
        {"--vary stiction=yes", "stiction=yes: must be true or false"},
        {"--vary height=1 --seeds 0", "--seeds 0: must be at least 1"},
        {"--vary height", "--vary height: write name=values"},
        {"--vary height=", "--vary height=: there is an empty value"},
        {"--vary height=1:2", "--vary height=1:2: a range is first:last:count or first:last:count:log"},
        {"--vary height=1:2:2.5", "the count must be a whole number"},
        {"--vary height=0:2:3:log", "both ends of a logarithmic range must be > 0"},
        {"--vary height=1:2:3:lin", "a range is first:last:count or first:last:count:log"},
        {"--vary height=1..2.5", "a range of whole numbers is first..last or first..last..step"},
        {"--vary height=3..1", "a range of whole numbers is first..last or first..last..step"},
        {"--vary height=1..9..0", "a range of whole numbers is first..last or first..last..step"},
        {"--vary height=1..2000000000", "more than 10000000 values"},
        {"--vary height=1:2:10000 --vary seconds=1:2:10000", "100000000 runs are asked for; there may be 10000000"},
        {"--vary height=1 --vary height=2", "--vary height=2: the name is given twice"},
        {"--set height=1 --vary height=2", "--vary height=2: the name is given twice"},
        {"--vary seed=1,2 --seeds 2", "--seeds 2: seed is given already"},
        {"--seeds 3 --seed 2147483646", "--seed 2147483646: must be less"},
        {"--jobs 0", "--jobs 0: must be at least 1"},
        {"--timeout 0", "--timeout 0: must be > 0 s"},
    };
    write_file("falling.lua", falling);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[256];
        snprintf(words, sizeof words, "sweep falling.lua --csv out.csv %s " ERRORS, cases[i].words);
        stn_expect_part(words, 2, cases[i].text);
        const char *end = strchr(stn_run_to(words, 2)->out, '\n');
        assert_true(end != NULL && end[1] == '\0'); // one line
        assert_int_equal(access("out.csv", F_OK), -1);
    }
    stn_expect_part("sweep none.lua " ERRORS, 2, "none.lua: cannot be read: No such file or directory");
    write_file("syntax.lua", "local x = = 2\n");
    stn_expect_part("sweep syntax.lua --vary x=1 " ERRORS, 2, "syntax.lua:1: unexpected symbol near '='");
    write_file("early.lua", "local x\nprint(x.y)\n");
    stn_expect_part("sweep early.lua --vary x=1 " ERRORS, 2, "early.lua:2: attempt to index a nil value");
}

static void test_whatever_becomes_of_a_run_is_a_row(void **state) {
    (void)state;
    write_file("bad.lua", "local stn = require 'stiction'\n"
                          "local p = stn.params { how = 'ok' }\n"
                          "local w = stn.world { dt = 1, gravity = { 0, 0, 0 } }\n"
                          "local b = w:sphere { radius = 0.1, mass = 1 }\n"
                          "w:step()\n"
                          "if p.how == 'crash' then os.execute 'kill -KILL $PPID' end\n"
                          "if p.how == 'hang' then while true do end end\n"
                          "if p.how == 'error' then error 'so it is' end\n"
                          "if p.how == 'exit' then os.exit(7) end\n"
                          "if p.how == 'leave' then os.exit(0) end\n"
                          "if p.how == 'assert' then assert(false, 'it must not') end\n"
                          "if p.how == 'check' then stn.check('holds', false) end\n"
                          "if p.how == 'skip' then stn.skip 'not today' end\n"
                          "if p.how == 'blow' then b:apply_force { force = { 1e154, 0, 0 } } end\n"
                          "w:step()\nw:step()\n");
    const table *t = sweep("bad.lua --vary how=ok,crash,error,exit,leave,assert,check,skip,blow -j 2", 1);
    assert_int_equal(t->rows, 9);
    expect_cells(t, "status",
                 (const char *const[]){"ok", "crashed", "failed", "failed", "ok", "check_failed", "check_failed", "ok",
                                       "diverged", NULL});
    expect_cells(t, "steps", (const char *const[]){"3", "", "1", "1", "1", "1", "3", "1", "2", NULL});
    expect_cells(t, "check.holds", (const char *const[]){"", "", "", "", "", "", "0", "", "", NULL});
    assert_string_equal(cell(t, 0, "reason"), "");
    assert_non_null(strstr(cell(t, 1, "reason"), "ended by signal 9"));
    assert_string_equal(cell(t, 2, "reason"), "bad.lua:8: so it is");
    assert_non_null(strstr(cell(t, 3, "reason"), "bad.lua:9: os.exit"));
    assert_string_equal(cell(t, 5, "reason"), "bad.lua:11: it must not");
    assert_string_equal(cell(t, 6, "reason"), "check failed: holds");
    assert_string_equal(cell(t, 7, "reason"), "skipped: not today");
    assert_non_null(strstr(cell(t, 8, "reason"), "t = 2 s"));
    t = sweep("bad.lua --set how=hang --timeout 0.3", 1);
    expect_cells(t, "status", (const char *const[]){"timeout", NULL});
    expect_cells(t, "reason", (const char *const[]){"ended after its time", NULL});
    assert_true(real(t, 0, "wall_s") >= 0.3);
    assert_int_equal(access("bad.capsule.json", F_OK), -1);
}

/// A table without the columns of wall time.
static void keep_figures(const char *text, char *kept, size_t size) {
    const table *t = split(text);
    size_t used = 0;
    for (int i = 0; i <= t->rows; i++) {
        for (int k = 0; k < t->columns; k++) {
            bool timed = strcmp(t->cell[0][k], "wall_s") == 0 || strcmp(t->cell[0][k], "real_time_factor") == 0;
            used += (size_t)snprintf(kept + used, size - used, "%s%c", timed && i > 0 ? "" : t->cell[i][k],
                                     k + 1 < t->columns ? ',' : '\n');
            assert_true(used < size);
        }
    }
}

static const char tumbling[] = "local stn = require 'stiction'\n"
                               "local p = stn.params { n = 1, seed = 5 }\n"
                               "local w = stn.world { dt = 0.005, seed = p.seed }\n"
                               "w:ground {}\n"
                               "for i = 1, p.n do\n"
                               "  w:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { w:random(), i, 0.06 } }\n"
                               "end\n"
                               "for _ in w:run { steps = 20 } do end\n"
                               "stn.result('x', w:random())\n"
                               "if p.n > 2 then stn.result('many', p.n) end\n"
                               "stn.check('seed ' .. p.n, p.seed > 0)\n";

static void test_the_table_does_not_depend_on_the_number_of_jobs(void **state) {
    (void)state;
    static char one[1 << 16], other[1 << 16];
    write_file("tumbling.lua", tumbling);
    keep_figures(stn_run_to("sweep tumbling.lua --vary n=1..4 --seeds 3 --jobs 1 " QUIET, 0)->out, one, sizeof one);
    keep_figures(stn_run_to("sweep tumbling.lua --vary n=1..4 --seeds 3 --jobs 3 " QUIET, 0)->out, other, sizeof other);
    assert_string_equal(one, other);
    const table *t = split(one);
    assert_int_equal(t->rows, 12);
    expect_cells(t, "seed", (const char *const[]){"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", NULL});
    // columns in the order in which the runs bring them
    static const char *const last[] = {"result.x",    "check.seed 1", "check.seed 2",
                                       "result.many", "check.seed 3", "check.seed 4"};
    for (int i = 0; i < 6; i++) {
        assert_string_equal(t->cell[0][t->columns - 6 + i], last[i]);
    }
    expect_cells(t, "result.many", (const char *const[]){"", "", "", "", "", "", "3", "3", "3", "4", "4", "4", NULL});
    for (int i = 0; i < t->rows; i++) { // the same alone
        char words[128];
        snprintf(words, sizeof words, "run tumbling.lua --set n=%d --seed %d --json " QUIET, 1 + i / 3, 1 + i);
        cJSON *json = run_json(words, 0);
        assert_near(number(item(json, "results"), "x"), real(t, i, "result.x"), 0.0);
        assert_near(number(item(item(json, "certificate"), "momentum"), "max"), real(t, i, "momentum_max"), 0.0);
        cJSON_Delete(json);
    }
    t = sweep("tumbling.lua --vary n=2 --seeds 2 --seed 100", 0);
    expect_cells(t, "seed", (const char *const[]){"100", "101", NULL});
}

static void test_a_table_is_continued_wherever_it_ends(void **state) {
    (void)state;
    static char whole[1 << 16], text[1 << 16], figures[1 << 16], again[1 << 16];
    static const char command[] = "sweep tumbling.lua --vary n=1..3 --seeds 2 --csv out.csv --jobs 2 " QUIET;
    write_file("tumbling.lua", tumbling);
    stn_expect(command, 0, "");
    strcpy(whole, read_text("out.csv"));
    stn_expect(command, 0, "");
    assert_string_equal(read_text("out.csv"), whole); // nothing is missing
    keep_figures(whole, figures, sizeof figures);
    size_t size = strlen(whole), header = strcspn(whole, "\n");
    for (size_t cut = 0; cut < size; cut += cut < header ? 200 : 331) {
        memcpy(text, whole, cut);
        text[cut] = '\0';
        write_file("out.csv", text);
        stn_expect(command, 0, "");
        keep_figures(read_text("out.csv"), again, sizeof again);
        assert_string_equal(again, figures);
        char *last = strrchr(text, '\n'); // what was whole is as it was
        assert_true(last == NULL || strncmp(read_text("out.csv"), whole, (size_t)(last - text)) == 0);
    }
    // further values behind the last ones of the first axis
    stn_expect_part("sweep tumbling.lua --vary n=1..4 --seeds 2 --csv out.csv " ERRORS, 0,
                    "8 of 8 runs, 6 of them there before: ");
    const table *t = split(read_text("out.csv"));
    assert_int_equal(t->rows, 8);
    expect_cells(t, "n", (const char *const[]){"1", "1", "2", "2", "3", "3", "4", "4", NULL});
}

static void test_another_table_stays_as_it_is(void **state) {
    (void)state;
    static char whole[1 << 16];
    write_file("falling.lua", falling);
    stn_expect("sweep falling.lua --vary height=1,2 --csv out.csv " QUIET, 0, "");
    strcpy(whole, read_text("out.csv"));
    stn_expect_part("sweep falling.lua --vary height=1,3 --csv out.csv " ERRORS, 2,
                    "out.csv:3: is not the table of this sweep: height is '2' there and '3' here; name another file");
    stn_expect_part("sweep falling.lua --vary height=1 --csv out.csv " ERRORS, 2, "out.csv: has more rows than the 1");
    stn_expect_part("sweep falling.lua --vary seconds=1 --csv out.csv " ERRORS, 2,
                    "out.csv: is not the table of this sweep: column 2 is 'height' there and 'seconds' here");
    stn_expect_part("sweep falling.lua --vary height=1,2 --seeds 1 --csv out.csv " ERRORS, 2,
                    "out.csv: is not the table of this sweep: column 3 is 'script' there and 'seed' here");
    FILE *script = fopen("falling.lua", "a");
    fputs("-- another\n", script);
    fclose(script);
    stn_expect_part("sweep falling.lua --vary height=1,2 --csv out.csv " ERRORS, 2,
                    "out.csv: was made with another version of falling.lua; name another file");
    assert_string_equal(read_text("out.csv"), whole);
    write_file("notes.txt", "milk and bread");
    stn_expect_part("sweep falling.lua --csv notes.txt " ERRORS, 2, "notes.txt: is not the table of a sweep");
    assert_string_equal(read_text("notes.txt"), "milk and bread");
    stn_expect_part("sweep falling.lua --csv . " ERRORS, 2, ".: cannot be written");
    stn_expect_part("sweep falling.lua --csv none/out.csv " ERRORS, 2, "none/out.csv: cannot be written");
}

static const char changing[] = "local p = require 'stiction'.params { a = 1 }\n"
                               "if p.a == 3 then\n"
                               "  local file = io.open('changing.lua', 'a')\n"
                               "  file:write('-- another\\n')\n"
                               "  file:close()\n"
                               "end\n";

/// By another editor than the script itself, mostly.
static void test_rows_of_a_script_that_changes_are_not_mixed(void **state) {
    (void)state;
    write_file("changing.lua", changing);
    stn_expect_part("sweep changing.lua --vary a=1..9 --jobs 1 --csv out.csv " ERRORS, 2,
                    "changing.lua: was changed while its runs were made;");
    const table *t = split(read_text("out.csv"));
    assert_int_equal(t->rows, 2);
    expect_cells(t, "a", (const char *const[]){"1", "2", NULL});
    stn_expect_part("sweep changing.lua --vary a=1..9 --csv out.csv " ERRORS, 2, "another version of changing.lua");
    mkfifo("pipe.lua", 0666);
    stn_expect_part("sweep pipe.lua --vary a=1..9 " ERRORS, 2, "pipe.lua: cannot be read: it is no regular file");
}

static void test_a_table_that_is_taken_away_is_told(void **state) {
    (void)state;
    write_file("removes.lua", "local p = require 'stiction'.params { a = 1 }\n"
                              "if p.a == 3 then os.remove('out.csv') end\n");
    stn_expect_part("sweep removes.lua --vary a=1..9 --jobs 1 --csv out.csv " ERRORS, 2,
                    "out.csv: was removed or replaced while it was written");
    assert_int_equal(access("out.csv", F_OK), -1);
}

static void test_json_has_a_row_of_each_run(void **state) {
    (void)state;
    write_file("echo.lua", echo);
    cJSON *json = run_json("sweep echo.lua --vary b=0.5,1 --vary d=x,y --json " QUIET, 0);
    assert_string_equal(text_of(json, "script"), "echo.lua");
    assert_near(number(json, "runs"), 4.0, 0.0);
    assert_near(number(item(json, "status"), "ok"), 4.0, 0.0);
    assert_near(number(item(json, "status"), "crashed"), 0.0, 0.0);
    assert_int_equal(cJSON_GetArraySize(item(json, "rows")), 4);
    const cJSON *row = cJSON_GetArrayItem(item(json, "rows"), 3);
    assert_near(number(row, "run"), 3.0, 0.0);
    assert_near(number(row, "b"), 1.0, 0.0);
    assert_string_equal(text_of(row, "d"), "y");
    assert_near(number(row, "result.b"), 1.0, 0.0);
    assert_true(cJSON_IsNull(item(row, "reason")));
    assert_true(cJSON_IsNull(item(row, "momentum_max"))); // no step was made
    cJSON_Delete(json);
}

static void test_an_infinite_result_is_not_nan(void **state) {
    (void)state;
    write_file("wide.lua", "local stn = require 'stiction'\n"
                           "stn.result('up', 1 / 0)\nstn.result('down', -1 / 0)\nstn.result('none', 0 / 0)\n"
                           "stn.check('small', { value = 1 / 0, limit = 1 })\n");
    const table *t = sweep("wide.lua", 0);
    expect_cells(t, "result.up", (const char *const[]){"inf", NULL});
    expect_cells(t, "result.down", (const char *const[]){"-inf", NULL});
    expect_cells(t, "result.none", (const char *const[]){"nan", NULL});
    expect_cells(t, "check.small", (const char *const[]){"inf", NULL});
    cJSON *json = run_json("sweep wide.lua --json " QUIET, 0);
    assert_true(cJSON_IsNull(item(cJSON_GetArrayItem(item(json, "rows"), 0), "result.up")));
    cJSON_Delete(json);
}

/// Starts the sweep, waits for its second row, sends SIGINT; the exit status.
static int interrupt(void) {
    pid_t process = fork();
    if (process == 0) {
        int sink = open("/dev/null", O_WRONLY);
        dup2(sink, STDERR_FILENO);
        execl(COMMAND, COMMAND, "sweep", "waiting.lua", "--vary", "n=1..4", "--csv", "out.csv", "--jobs", "2",
              (char *)NULL);
        _exit(99);
    }
    int lines = 0;
    for (int i = 0; i < 3000 && lines < 3; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
        lines = 0;
        for (const char *c = read_text("out.csv"); *c != '\0'; c++) {
            lines += *c == '\n';
        }
    }
    int status = 0;
    kill(process, SIGINT);
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_an_interrupt_leaves_whole_rows(void **state) {
    (void)state;
    write_file("waiting.lua", "local p = require 'stiction'.params { n = 1 }\n"
                              "while p.n > 2 and not io.open 'go' do end\n");
    assert_int_equal(interrupt(), 130);
    const table *t = split(read_text("out.csv"));
    assert_int_equal(t->rows, 2);
    expect_cells(t, "status", (const char *const[]){"ok", "ok", NULL});
    write_file("go", "");
    stn_expect_part("sweep waiting.lua --vary n=1..4 --csv out.csv " ERRORS, 0,
                    "4 of 4 runs, 2 of them there before: 4 ok; out.csv\n");
    t = split(read_text("out.csv"));
    assert_int_equal(t->rows, 4);
    expect_cells(t, "n", (const char *const[]){"1", "2", "3", "4", NULL});
}

/// The fields of compliant shapes, which the processes of the runs inherit: the look at the script and the command
/// itself make them, of every shape once, and runs only what differs from the first one.
static void test_runs_share_what_compliant_shapes_need(void **state) {
    (void)state;
    static const char soft[] = "local stn = require 'stiction'\n"
                               "local p = stn.params { mu = 0.5, radius = 0.1, soft = true }\n"
                               "local w = stn.world { dt = 0.01, contact = 'fake_made_fields' }\n"
                               "w:sphere { radius = 0.2, modulus = 1e6, xyz = { 1, 0, 0 } }\n"
                               "w:sphere { radius = p.radius, modulus = p.soft and 1e6 or nil, mu = p.mu }\n"
                               "for _ in w:run { steps = 2 } do end\n"
                               "stn.result('mu', p.mu)\n";
    static const struct {
        const char *vary;
        int rows, made;
    } cases[] = {
        {"mu=0.1:0.6:6", 6, 2 + 2},
        {"radius=0.1:0.6:6", 6, 2 + 2 + 4}, // one of them is as large as the other sphere
        {"soft=true,false", 2, 2 + 2},
    };
    setenv("STICTION_PLUGIN_PATH", FAKES, 1);
    write_file("soft.lua", soft);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[128];
        snprintf(words, sizeof words, "soft.lua --jobs 2 --vary %s", cases[i].vary);
        const table *t = sweep(words, 0);
        assert_int_equal(t->rows, cases[i].rows);
        for (int k = 0; k < t->rows; k++) {
            assert_string_equal(cell(t, k, "status"), "ok");
        }
        int made = 0;
        for (const char *c = read_text("made"); *c != '\0'; c++) {
            made += *c == '\n';
        }
        assert_int_equal(made, cases[i].made);
        remove("made");
    }
    unsetenv("STICTION_PLUGIN_PATH");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows_say_what_the_runs_do, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_values_are_ranges_and_lists, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_what_makes_no_sense_is_refused_before_any_run, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_whatever_becomes_of_a_run_is_a_row, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_the_table_does_not_depend_on_the_number_of_jobs, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_a_table_is_continued_wherever_it_ends, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_another_table_stays_as_it_is, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_rows_of_a_script_that_changes_are_not_mixed, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_table_that_is_taken_away_is_told, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_json_has_a_row_of_each_run, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_an_infinite_result_is_not_nan, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_runs_share_what_compliant_shapes_need, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_an_interrupt_leaves_whole_rows, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
