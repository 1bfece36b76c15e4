// SPDX-License-Identifier: Apache-2.0
// stiction test PATH...: runs scripted tests, each in a process of its own: a crash is a failed test like any other.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/apart.h"
#include "common/progress.h"
#include "test.h"

static int run(const cli_test_files *files, const cli_test_options *o) {
    cli_test_results all = {0};
    stn_error err = {0};
    double start = cli_seconds_now();
    if (o->tap) {
        puts("TAP version 14");
    }
    stn_status status = cli_test_run(files, o, &all, &err);
    bool interrupted = status == STN_ERR_INTERRUPTED;
    int exit = status < 0 ? cli_fail_status(o->command, &err) : STN_EXIT_DONE;
    if (status >= 0 && o->pattern != NULL && all.count == 0 && !o->list) {
        exit = cli_fail(o->command, "-k \"%s\": no test's name contains it; --list tells the names", o->pattern);
    }
    if (status >= 0 || status == STN_ERR_PARAMETER || interrupted) {
        if (o->junit != NULL && cli_test_write_junit(&all, cli_seconds_now() - start, o->junit, &err) < 0) {
            exit = cli_fail_status(o->command, &err);
        }
        if (!o->list) {
            if (o->tap && interrupted) {
                puts("Bail out! interrupted");
            } else if (o->tap) {
                printf("1..%zu\n", all.count);
            }
            const int32_t *of = all.of; // in TAP a comment, behind the plan
            printf("%s%d passed, %d failed", o->tap ? "# " : "", of[STN_TEST_PASSED], of[STN_TEST_FAILED]);
            if (of[STN_TEST_SKIPPED] > 0) {
                printf(", %d skipped", of[STN_TEST_SKIPPED]);
            }
            putchar('\n');
        }
    }
    if (exit == STN_EXIT_DONE && (files->broken || all.out_of_memory || fflush(stdout) != 0)) {
        exit = STN_EXIT_BAD_INPUT;
    } else if (exit == STN_EXIT_DONE && all.of[STN_TEST_FAILED] > 0) {
        exit = STN_EXIT_CHECK_FAILED;
    }
    cli_test_results_clear(&all);
    return exit;
}

/// All that can be told before the work.
static int check_options(const cli_test_options *o, const cli_test_files *files) {
    if (o->workers < 1) {
        return cli_fail(o->command, "--jobs %d: must be at least 1", o->workers);
    }
    if (!(o->limit > 0.0) || o->limit > 1e7) {
        return cli_fail(o->command, "--limit %g: must be > 0 s and at most 1e7 s", o->limit);
    }
    if (o->list && (o->tap || o->junit != NULL || o->approve)) {
        return cli_fail(o->command, "--list runs no test; leave out %s",
                        o->tap     ? "--tap"
                        : o->junit ? "--junit"
                                   : "--approve");
    }
    if (o->quick && o->full) {
        return cli_fail(o->command, "--quick and --full are two tiers; choose one");
    }
    for (int32_t i = 0; i < o->sets.count; i++) {
        if (strchr(o->sets.items[i], '=') == NULL || o->sets.items[i][0] == '=') {
            return cli_fail(o->command, "--set %s: write name=value", o->sets.items[i]);
        }
    }
    int status = cli_keep_apart(o->command, (const char *const *)files->paths, (int32_t)files->count, &o->junit, 1);
    return status == CLI_PROCEED && o->junit != NULL ? cli_probe_output(o->command, o->junit) : status;
}

static int run_test(void *self, const stn_command_call *call) {
    (void)self;
    cli_test_options o = {.workers = 1, .limit = 300.0, .artifacts = "stiction-test"};
    const cli_option options[] = {
        {"pattern", 'k', CLI_TEXT, "TEXT", "only tests whose \"file: group: test\" contains it", &o.pattern},
        {"jobs", 'j', CLI_INT, "N", "files at a time; with fewer files, tests of a group; 1", &o.workers},
        {"set", 0, CLI_TEXTS, "NAME=VALUE", "a parameter of the scripts, or solver.tolerance and the like", &o.sets},
        {"limit", 0, CLI_REAL, "SECONDS", "wall time of a test that has no limit_s of its own; 300", &o.limit},
        {"list", 0, CLI_FLAG, NULL, "names of the tests, none is run", &o.list},
        {"tap", 0, CLI_FLAG, NULL, "TAP 14 on stdout, what tests print on stderr", &o.tap},
        {"junit", 0, CLI_TEXT, "FILE", "results as JUnit XML", &o.junit},
        {"artifacts", 0, CLI_TEXT, "DIR", "recordings and capsules of failed tests; stiction-test; \"\": none",
         &o.artifacts},
        {"approve", 0, CLI_FLAG, NULL, "stn.reference stores what the tests give now", &o.approve},
        {"quick", 0, CLI_FLAG, NULL, "tests that ask for the tier leave out what takes long", &o.quick},
        {"full", 0, CLI_FLAG, NULL, "and these make all of it", &o.full},
        {"strict", 0, CLI_FLAG, NULL, "a test whose worlds end with reservations of the verdict has failed", &o.strict},
    };
    const cli_command command = {
        "test",
        "PATH...",
        "Runs scripted tests: files, or all scripts below folders but those in lib/. The last line counts "
        "them.",
        options,
        STN_COUNT(options),
        1,
        1 << 20};
    o.command = &command;
    cli_list words;
    int status = cli_parse(&command, call->argc, call->argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    cli_test_files files = {.command = &command, .context = call->context};
    for (int32_t i = 0; i < words.count; i++) {
        cli_test_files_add(&files, words.items[i]);
    }
    o.artifacts = o.artifacts[0] != '\0' ? o.artifacts : NULL;
    status = check_options(&o, &files);
    if (status == CLI_PROCEED && (o.quick || o.full)) {
        setenv("STICTION_TEST_TIER", o.full ? "full" : "quick", 1); // for scripts, and commands that they start
    }
    if (status == CLI_PROCEED) {
        status = run(&files, &o);
    }
    cli_test_files_clear(&files);
    cli_list_clear(&o.sets);
    cli_list_clear(&words);
    return status;
}

CLI_WORD(test, "runs scripted tests", run_test)
