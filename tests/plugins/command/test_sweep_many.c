// SPDX-License-Identifier: Apache-2.0
// One sweep in several ways: a process a run, processes that make many, shards that are joined, the ranks of mpirun.
// The tables are the same to the last byte, whatever dies meanwhile.
#include "run_folder.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/// Results that not all runs have, in other orders, and runs that end in every way.
static const char mixed[] = "local stn = require 'stiction'\n"
                            "local p = stn.params { how = 'ok', seed = 5 }\n"
                            "local w = stn.world { dt = 0.005, seed = p.seed }\n"
                            "w:ground {}\n"
                            "w:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { w:random(), 1, 0.06 } }\n"
                            "for _ in w:run { steps = 5 } do end\n"
                            "if p.how == 'crash' and p.seed % 2 == 0 then os.execute 'kill -KILL $PPID' end\n"
                            "if p.how == 'error' then error 'so, \"it\" is' end\n"
                            "if p.how == 'exit' then os.exit(7) end\n"
                            "if p.how == 'hang' and p.seed == 21 then while true do end end\n"
                            "if p.seed % 4 == 3 then stn.result('late', p.seed) end\n"
                            "stn.result('x', w:random())\n"
                            "if p.seed % 5 == 2 then stn.result('other', p.seed) stn.result('late', 0) end\n";
#define GRID    "mixed.lua --vary how=ok,crash,error,exit --seeds 5 --untimed "
#define HANGING "mixed.lua --vary how=ok,crash,error,exit,hang --seeds 5 --timeout 2 --untimed "

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

/// The table of a grid in the usual way, in whole.csv.
static const char *make_whole(const char *grid) {
    static char whole[1 << 16], line[512];
    write_file("mixed.lua", mixed);
    snprintf(line, sizeof line, "sweep %s --jobs 2 --csv whole.csv " QUIET, grid);
    stn_expect(line, 1, "");
    strcpy(whole, read_text("whole.csv"));
    assert_non_null(strstr(whole, ",ended by signal 9"));
    assert_non_null(strstr(whole, ",reservations,result.x,result.other,result.late\n"));
    return whole;
}

static void test_a_process_that_makes_many_runs_makes_the_same_table(void **state) {
    (void)state;
    const char *whole = make_whole(HANGING);
    assert_non_null(strstr(whole, ",ended after its time,"));
    stn_expect("sweep " HANGING "--in-process --jobs 1 " QUIET, 1, whole);
    stn_expect("sweep " HANGING "--in-process --jobs 3 " QUIET, 1, whole);
    stn_expect("sweep " HANGING "--jobs 1 " QUIET, 1, whole); // and on every try
}

/// Run 1 leaves a program behind that kills its process while run 2 is made, once.
static const char spoiling[] =
    "local p = require 'stiction'.params { n = 0 }\n"
    "local function there(name) local f = io.open(name) if f then f:close() end return f ~= nil end\n"
    "if p.n == 1 then\n"
    "  os.execute('(while [ ! -e go ]; do sleep 0.01; done; kill -KILL ' ..\n"
    "    io.open('/proc/self/stat'):read('n') .. ') > /dev/null 2>&1 &')\n"
    "end\n"
    "if p.n == 2 and not there 'go' then io.open('go', 'w'):close() while true do end end\n"
    "if p.n == 3 then os.execute 'kill -KILL $PPID' end\n";

static void test_a_run_does_not_pay_for_the_one_before(void **state) {
    (void)state;
    write_file("spoiling.lua", spoiling);
    stn_expect_part("sweep spoiling.lua --vary n=0..5 --jobs 1 --in-process --timeout 20 --csv out.csv " ERRORS, 1,
                    "6 of 6 runs: 5 ok, 1 crashed; out.csv\n");
    const char *text = read_text("out.csv");
    assert_non_null(strstr(text, "\n2,2,"));
    assert_non_null(strstr(text, "ended by signal 9"));
}

/// What it prints on stderr alone fills a disk: ended, as a limit of the system's would.
static void test_a_run_that_prints_without_end_is_ended(void **state) {
    (void)state;
    write_file("prints.lua", "local p = require 'stiction'.params { n = 0 }\n"
                             "local text = string.rep('x', 1 << 20)\n"
                             "while p.n == 1 do io.stderr:write(text) end\n");
    stn_expect_part("sweep prints.lua --vary n=0..2 --jobs 1 --in-process --timeout 100 " ERRORS, 1,
                    "3 of 3 runs: 2 ok, 1 crashed\n");
}

/// A table, whether or not one of its runs came to no end.
static void make(const char *words) {
    static stn_run run;
    stn_run_command(&run, words);
    assert_true(run.status == 0 || run.status == 1);
}

static void make_shards(int count, const char *options) {
    for (int i = 1; i <= count; i++) {
        char line[512];
        snprintf(line, sizeof line, "sweep " GRID "--shard %d/%d --csv shards/%d.csv %s " QUIET, i, count, i, options);
        make(line);
    }
}

static void test_shards_make_the_same_table(void **state) {
    (void)state;
    const char *whole = make_whole(GRID);
    mkdir("shards", 0777);
    make_shards(3, "");
    stn_expect("sweep --join shards/3.csv shards/1.csv shards/2.csv " QUIET, 1, whole);
    stn_expect("sweep --join shards --csv out.csv " QUIET, 1, "");
    assert_string_equal(read_text("out.csv"), whole);
    stn_expect("sweep --join shards --csv out.csv " QUIET, 1, ""); // it is there already
    cJSON *json = run_json("sweep --join shards --json " QUIET, 1);
    assert_near(number(item(json, "status"), "crashed"), 3.0, 0.0);
    assert_int_equal(cJSON_GetArraySize(item(json, "rows")), 20);
    cJSON_Delete(json);
    make_shards(3, ""); // makes nothing again
    stn_expect("sweep --join shards " QUIET, 1, whole);
    stn_expect("sweep " GRID "--shard 1/1 --in-process --csv one.csv " QUIET, 1, "");
    stn_expect("sweep --join one.csv " QUIET, 1, whole);
}

static void test_there_may_be_more_shards_than_runs(void **state) {
    (void)state;
    write_file("echo.lua", "local p = require 'stiction'.params { a = 1, shard = 2, runs = 3, sweep = 4 }\n"
                           "require 'stiction'.result('sum', p.a + p.shard + p.runs + p.sweep)\n");
    static const char grid[] = "echo.lua --vary a=1,2 --set shard=5 --set runs=6 --set sweep=7 --untimed";
    static char line[512], whole[1 << 14];
    snprintf(line, sizeof line, "sweep %s " QUIET, grid);
    strcpy(whole, stn_run_to(line, 0)->out);
    assert_int_equal(strncmp(whole, "run,shard,runs,sweep,a,script,", 30), 0);
    mkdir("shards", 0777);
    for (int i = 1; i <= 3; i++) {
        snprintf(line, sizeof line, "sweep %s --shard %d/3 --csv shards/%d.csv " QUIET, grid, i, i);
        stn_expect(line, 0, "");
    }
    stn_expect("sweep --join shards " QUIET, 0, whole);
    stn_expect_part("sweep --join shards/3.csv " ERRORS, 2, "shards/3.csv: has no row, nor has any other table");
}

static void copy(const char *from, const char *to, int lines) {
    static char text[1 << 16];
    strcpy(text, read_text(from));
    char *at = text;
    for (int i = 0; i < lines && *at != '\0'; i++) {
        at = strchr(at, '\n') + 1;
    }
    *(lines > 0 ? at : strchr(text, '\0')) = '\0';
    write_file(to, text);
}

static void test_what_does_not_belong_together_is_not_joined(void **state) {
    (void)state;
    make_whole(GRID);
    mkdir("shards", 0777);
    make_shards(3, "--in-process");
    static const struct {
        const char *words, *text;
    } cases[] = {
        {"shards/1.csv shards/3.csv", "run 1 is missing: no table of shard 2/3 has a row"},
        {"shards", "run 18 is missing: shards/1.csv ends before it; the command that made the table goes on with it"},
        {"shards twice.csv", "twice.csv: is of shard 2/3, as is shards/2.csv; leave one of them out"},
        {"whole.csv", "whole.csv: is not the table of a shard, which stiction sweep --shard writes"},
        {"shards notes.txt", "notes.txt: is not the table of a shard"},
        {"shards none.csv", "none.csv: cannot be read: No such file"},
        {"empty", "empty: there is no .csv file in it"},
        {"shards/1.csv grid.csv", "grid.csv:2: is of another sweep than shards/1.csv: its values, seeds or"},
        {"shards/1.csv count.csv", "count.csv: is of shard 2/4 and shards/1.csv of shard 1/3"},
        {"shards/1.csv script.csv", "script.csv:2: is of another version of the script than shards/1.csv"},
        {"shards/1.csv column.csv", "column.csv: is of another sweep than shards/1.csv: column 5 is"},
        {"shards/1.csv shards/3.csv hole.csv", "hole.csv:3: is run 7 of shard 2/3 where run 4 of shard 2/3 belongs"},
        {"first.csv shards/2.csv shards/3.csv --csv whole.csv", "whole.csv: is there already and is another table"},
        {"shards --csv shards/1.csv", "shards/1.csv: is there already"},
        {"shards/1.csv --csv shards/1.csv", "are one file"},
    };
    static char kept[1 << 16], line[512];
    mkdir("empty", 0777);
    copy("shards/1.csv", "first.csv", 0);
    copy("shards/2.csv", "twice.csv", 0);
    copy("shards/1.csv", "short.csv", 7);
    write_file("notes.txt", "milk and bread");
    make("sweep mixed.lua --vary how=ok,crash,error,leave --seeds 5 --shard 2/3 --csv grid.csv " QUIET);
    make("sweep " GRID "--shard 2/4 --csv count.csv " QUIET);
    make("sweep mixed.lua --seeds 5 --shard 2/3 --csv column.csv " QUIET);
    strcpy(kept, read_text("shards/2.csv"));
    char *third = strchr(strchr(kept, '\n') + 1, '\n') + 1, *fourth = strchr(third, '\n') + 1;
    memmove(third, fourth, strlen(fourth) + 1);
    write_file("hole.csv", kept);
    write_file("mixed2.lua", "local p = require 'stiction'.params { how = 'ok' }\n");
    make("sweep mixed2.lua --vary how=ok,crash,error,exit --seeds 5 --untimed --shard 2/3 --csv script.csv " QUIET);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (i == 1) {
            rename("short.csv", "shards/1.csv");
        } else if (i == 2) {
            copy("first.csv", "shards/1.csv", 0);
        } else if (i == 12) {
            write_file("whole.csv", "milk and bread");
        }
        snprintf(line, sizeof line, "sweep --join %s " ERRORS, cases[i].words);
        stn_expect_part(line, 2, cases[i].text);
    }
    assert_string_equal(read_text("whole.csv"), "milk and bread");
    assert_string_equal(read_text("shards/1.csv"), read_text("first.csv"));
    // another shard's table is not gone on with
    stn_expect_part("sweep " GRID "--shard 1/3 --csv shards/2.csv " ERRORS, 2,
                    "shards/2.csv:2: is not the table of this sweep: run is '1' there and '0' here");
    stn_expect_part("sweep " GRID "--csv shards/1.csv " ERRORS, 2, "shards/1.csv: is not the table of this sweep");
}

static void test_words_that_make_no_sense_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *words, *text;
    } cases[] = {
        {"mixed.lua --shard 0/3", "--shard 0/3: write I/N"},   {"mixed.lua --shard 4/3", "--shard 4/3: write I/N"},
        {"mixed.lua --shard 1", "--shard 1: write I/N"},       {"mixed.lua --shard 1/2/3", "--shard 1/2/3: write"},
        {"mixed.lua --shard 1.5/3", "--shard 1.5/3: write"},   {"mixed.lua --shard nan/3", "--shard nan/3: write"},
        {"mixed.lua --shard 1/1e7", "--shard 1/1e7: write"},   {"mixed.lua --shard /3", "--shard /3: write"},
        {"mixed.lua mixed.lua", "expected one SCRIPT"},        {"--join a.csv --vary a=1", "--join makes no runs"},
        {"--join a.csv --in-process", "--join makes no runs"}, {"--join a.csv --shard 1/2", "--join makes no runs"},
    };
    write_file("mixed.lua", mixed);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line, "sweep %s " ERRORS, cases[i].words);
        stn_expect_part(line, 2, cases[i].text);
    }
}

/// Starts the sweep, waits for its second row, sends SIGINT; the exit status.
static int interrupt(void) {
    pid_t process = fork();
    if (process == 0) {
        freopen("said", "w", stderr);
        execl(COMMAND, COMMAND, "sweep", "waiting.lua", "--vary", "n=1..6", "--csv", "out.csv", "--jobs", "2",
              "--in-process", (char *)NULL);
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
                              "while p.n == 3 and not io.open 'go' do end\n");
    assert_int_equal(interrupt(), 130);
    assert_non_null(strstr(read_text("said"), "2 of 6 runs: 2 ok; out.csv, which the same command goes on with"));
    write_file("go", "");
    stn_expect_part("sweep waiting.lua --vary n=1..6 --csv out.csv --in-process " ERRORS, 0,
                    "6 of 6 runs, 2 of them there before: 6 ok; out.csv\n");
}

// ----------------------------------------------------------------------------------------------------------------
// ranks

// Open MPI does not give back all of its memory: in a build with sanitizers nobody looks for leaks.
#define MPIRUN                                                                               \
    "ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " \
    "OMPI_MCA_rmaps_base_oversubscribe=1 mpirun "

static bool has_mpi(void) {
    const char *name = HAS_MPI ? "mpirun" : "libopenmpi-dev";
    if (HAS_MPI && system("command -v mpirun >/dev/null 2>&1") == 0) {
        return true;
    }
    print_message("skipped: %s is not installed\n", name);
    return false;
}

/// Exit status of a line of the shell.
static int run_shell(const char *line) {
    int status = system(line);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_ranks_make_the_same_table(void **state) {
    (void)state;
    if (!has_mpi()) {
        skip();
    }
    const char *whole = make_whole(GRID);
    assert_int_equal(run_shell(MPIRUN "-n 3 " COMMAND " sweep " GRID "--csv ranks.csv 2>/dev/null"), 1);
    assert_string_equal(read_text("ranks.csv"), whole);
    assert_int_equal(run_shell(MPIRUN "-n 2 " COMMAND " sweep " GRID "--in-process --jobs 2 >stdout.csv 2>/dev/null"),
                     1);
    assert_string_equal(read_text("stdout.csv"), whole);
    assert_int_equal(run_shell(MPIRUN "-n 1 " COMMAND " sweep " GRID "--csv alone.csv 2>/dev/null"), 1);
    assert_string_equal(read_text("alone.csv"), whole);
    assert_int_equal(run_shell(MPIRUN "-n 3 " COMMAND " sweep none.lua --csv none.csv 2>said"), 2);
    assert_non_null(strstr(read_text("said"), "stiction sweep: none.lua: cannot be read"));
    assert_int_equal(access("none.csv", F_OK), -1);
}

/// Kills, once and on another rank than the first one, a process above the one that makes the run.
#define KILLING(above)                                                                                \
    "local stn = require 'stiction'\n"                                                                \
    "local p = stn.params { n = 0, kills = false }\n"                                                 \
    "stn.world { dt = 1 }:step()\n" /* the look at the script goes as far */                          \
    "local function parent(pid)\n"                                                                    \
    "  return (io.open('/proc/' .. pid .. '/stat'):read('a'):match('%) %a (%d+)'))\n"                 \
    "end\n"                                                                                           \
    "if p.kills and os.getenv 'OMPI_COMM_WORLD_RANK' ~= '0' and os.execute 'mkdir once 2>/dev/null' " \
    "then\n"                                                                                          \
    "  local pid = 'self'\n"                                                                          \
    "  for _ = 1, " above " do pid = parent(pid) end\n"                                               \
    "  os.execute('kill -KILL ' .. pid)\n"                                                            \
    "  while true do end\n"                                                                           \
    "end\n"                                                                                           \
    "local start = os.clock()\n"                                                                      \
    "while os.clock() < start + 0.005 do end\n"                                                       \
    "stn.result('n', p.n)\n"

static void expect_whole_after_a_kill(const char *script, bool torn) {
    static char line[512], whole[1 << 16];
    static const char grid[] = "killing.lua --vary n=1..40 --untimed --in-process";
    write_file("killing.lua", script);
    snprintf(line, sizeof line, "sweep %s --set kills=true " QUIET, grid);
    mkdir("once", 0777);
    strcpy(whole, stn_run_to(line, 0)->out);
    rmdir("once");
    snprintf(line, sizeof line, MPIRUN "-n 3 " COMMAND " sweep %s --set kills=true --csv out.csv 2>said", grid);
    int status = run_shell(line);
    assert_int_equal(access("once", F_OK), 0); // it did kill
    if (torn) {
        assert_int_not_equal(status, 0);
        assert_true(strlen(read_text("out.csv")) < strlen(whole));
        assert_int_equal(run_shell(line), 0); // the same command again
    } else {
        assert_int_equal(status, 0);
        assert_non_null(strstr(read_text("said"), "is gone; others make its runs"));
    }
    assert_string_equal(read_text("out.csv"), whole);
}

static void test_a_rank_whose_process_is_killed_costs_no_row(void **state) {
    (void)state;
    if (!has_mpi()) {
        skip();
    }
    expect_whole_after_a_kill(KILLING("1"), false);
}

static void test_what_mpirun_tears_down_is_gone_on_with(void **state) {
    (void)state;
    if (!has_mpi()) {
        skip();
    }
    expect_whole_after_a_kill(KILLING("2"), true);
}

static void test_ranks_without_mpi_are_refused(void **state) {
    (void)state;
    if (HAS_MPI) {
        stn_expect_part("sweep_mpi " ERRORS, 2, "is called by stiction sweep: mpirun -n 4 stiction sweep SCRIPT");
        stn_expect_part("sweep_mpi --socket 77 " ERRORS, 2, "is called by stiction sweep");
        return;
    }
    write_file("mixed.lua", mixed);
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    stn_expect_part("sweep mixed.lua " ERRORS, 2, "this build has no MPI: install libopenmpi-dev and openmpi-bin");
    unsetenv("OMPI_COMM_WORLD_SIZE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_process_that_makes_many_runs_makes_the_same_table, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_a_run_does_not_pay_for_the_one_before, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_run_that_prints_without_end_is_ended, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_shards_make_the_same_table, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_there_may_be_more_shards_than_runs, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_what_does_not_belong_together_is_not_joined, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_words_that_make_no_sense_are_refused, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_an_interrupt_leaves_whole_rows, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_ranks_make_the_same_table, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_rank_whose_process_is_killed_costs_no_row, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_what_mpirun_tears_down_is_gone_on_with, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_ranks_without_mpi_are_refused, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
