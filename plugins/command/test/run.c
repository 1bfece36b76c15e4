// SPDX-License-Identifier: Apache-2.0
// The processes of `stiction test`. The one of a file runs its lines outside of tests under an alarm and forks one for
// each test, and one for each group that has a fixture for all its tests; those fork theirs in turn. So a test sees
// what was made before it, and what it does to that is seen by nobody.
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "common/jobs.h"
#include "common/progress.h"
#include "common/terminal.h"
#include "test.h"

enum { MOST_SETS = 256 };

/// What the processes of a file share, and the command reads.
typedef struct file_share {
    int32_t told; // results
    bool done;    // the script came to its end
    bool used[MOST_SETS];
} file_share;

/// The run of all files, in the command.
typedef struct test_run {
    const cli_test_files *files;
    const cli_test_options *options;
    cli_test_results *all;
    file_share *shares; // (files)
    FILE **records;     // (files), open from a file's start to its end
} test_run;

/// In the process of a file, and in those of its groups.
typedef struct file_run {
    const cli_test_options *options;
    stn_session *session;
    file_share *share;
    FILE *records;
    int32_t at_once; // tests of a group
} file_run;

/// What the process of a test leaves to the one that began it.
typedef struct test_slot {
    stn_verdict verdict;
    stn_step_mark mark;
    bool told;
} test_slot;

typedef struct batch_run {
    file_run *run;
    const stn_test_batch *batch;
    test_slot *slots; // (batch->count), shared
} batch_run;

typedef struct group_run {
    file_run *run;
    const stn_test_group *group;
    int32_t told; // results before it
} group_run;

static void *share_memory(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

/// The process is ended after so many seconds; 0: never.
static void set_alarm(double seconds) {
    double whole = floor(seconds);
    struct itimerval timer = {.it_value = {(time_t)whole, (suseconds_t)(1e6 * (seconds - whole))}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

// ------------------------------------------------------------------------------------------------------------- results

static void tell(file_run *run, cli_test_result *r) {
    cli_test_result_write(r, run->records);
    run->share->told++;
    cli_test_result_clear(r);
}

static void set_text(cli_test_result *r, cli_test_text which, const char *text) {
    cli_test_result_set(r, which, text, strlen(text));
}

static void tell_broken(file_run *run, const char *name, const char *reason) {
    cli_test_result r = {.outcome = STN_TEST_FAILED, .broken = true};
    set_text(&r, CLI_TEST_REASON, reason);
    if (name != NULL) {
        set_text(&r, CLI_TEST_NAME, name);
    }
    tell(run, &r);
}

/// Why a process that left no verdict ended; "" when it came to its end.
static void say_end(const cli_job_end *end, double limit, bool done, char *text, size_t size) {
    text[0] = '\0';
    if (end->outcome == CLI_JOB_TIMEOUT || (end->outcome == CLI_JOB_CRASHED && end->code == SIGALRM)) {
        snprintf(text, size, "timed out: ended after %g s, its limit", limit);
    } else if (end->outcome == CLI_JOB_CRASHED && end->code == SIGXFSZ) {
        snprintf(text, size, "ended: it printed more than 64 MiB, or wrote a file beyond the system's limit");
    } else if (end->outcome == CLI_JOB_CRASHED) {
        snprintf(text, size, "ended by signal %d (%s)", end->code, strsignal(end->code));
    } else if (end->code != 0 || !done) {
        snprintf(text, size, "ended with exit status %d before the end of the script", end->code);
    }
}

// --------------------------------------------------------------------------------------------------------------- tests

static double limit_of(void *user, int32_t index) {
    const batch_run *b = user;
    double limit = b->batch->tests[index].limit_s;
    return isnan(limit) ? b->run->options->limit : limit;
}

/// The first thing that the verdict has to say against the worlds of the session; false: nothing.
static bool say_reservation(const stn_session *session, char *text, size_t size) {
    stn_figure figures[STN_FIGURE_COUNT];
    stn_statistics_figures(&session->statistics, figures);
    for (stn_figure_kind i = 0; i < STN_FIGURE_COUNT && session->stepped; i++) {
        if (stn_figure_reserved(figures, i)) {
            char what[512];
            stn_figure_describe(&figures[i], i, what, sizeof what);
            snprintf(text, size, "--strict: %s", what);
            return true;
        }
    }
    return false;
}

/// In the process of the test.
static int do_test(void *user, int32_t index) {
    batch_run *b = user;
    stn_session *session = b->run->session;
    session->mark = &b->slots[index].mark;
    stn_verdict *verdict = &b->slots[index].verdict;
    stn_session_perform(session, b->batch, index, verdict);
    if (b->run->options->strict && verdict->by.outcome == STN_TEST_PASSED &&
        say_reservation(session, verdict->by.text, sizeof verdict->by.text)) {
        verdict->by.outcome = STN_TEST_FAILED;
    }
    for (int32_t i = 0; i < session->override_count && i < MOST_SETS; i++) {
        b->run->share->used[i] |= session->overrides[i].used;
    }
    b->slots[index].told = true;
    return 0;
}

static bool end_test(void *user, const cli_job_end *end) {
    batch_run *b = user;
    test_slot *slot = &b->slots[end->index];
    cli_test_result r = {.outcome = slot->verdict.by.outcome, .seconds = slot->verdict.seconds};
    char reason[sizeof slot->verdict.by.text] = "";
    say_end(end, limit_of(b, end->index), slot->told, reason, sizeof reason);
    if (reason[0] != '\0') {
        r.outcome = slot->verdict.by.outcome = STN_TEST_FAILED;
        r.broken = true;
        r.seconds = end->seconds;
        slot->verdict.diverged = false;
        memcpy(slot->verdict.by.text, reason, sizeof reason);
    }
    set_text(&r, CLI_TEST_NAME, b->batch->tests[end->index].name);
    if (r.outcome != STN_TEST_PASSED) {
        set_text(&r, CLI_TEST_REASON, slot->verdict.by.text);
    }
    cli_test_result_set_file(&r, CLI_TEST_OUTPUT, end->output);
    cli_test_result_set_file(&r, CLI_TEST_ERRORS, end->error);
    if (r.outcome == STN_TEST_FAILED && b->run->options->artifacts != NULL) {
        const cli_test_failure failure = {b->batch, end->index, b->run->share->told + 1, &slot->verdict, &slot->mark};
        cli_test_keep(b->run->options, b->run->session, &failure, &r);
    }
    tell(b->run, &r);
    return true;
}

static void run_tests(void *user, const stn_test_batch *batch) {
    file_run *run = user;
    set_alarm(0.0);
    size_t size = sizeof(test_slot) * (size_t)batch->count;
    batch_run b = {run, batch, share_memory(size)};
    cli_jobs jobs = {.count = batch->count,
                     .at_once = run->at_once,
                     .limit_of = limit_of,
                     .work = do_test,
                     .done = end_test,
                     .user = &b};
    stn_error err = {0};
    if (b.slots == NULL || cli_jobs_run(&jobs, &err) != STN_OK) {
        tell_broken(run, NULL, b.slots == NULL ? "out of memory" : err.text);
    }
    if (b.slots != NULL) {
        munmap(b.slots, size);
    }
    set_alarm(run->options->limit);
}

// -------------------------------------------------------------------------------------------------------------- groups

static int do_group(void *user, int32_t index) {
    (void)index;
    group_run *g = user;
    set_alarm(g->run->options->limit);
    g->group->run(g->group->user);
    return 0;
}

/// What ended the group's process is the reason of every test that it did not come to.
static bool end_group(void *user, const cli_job_end *end) {
    group_run *g = user;
    const stn_test_group *group = g->group;
    char end_text[200], reason[512];
    cli_job_print(end->error, stderr);
    cli_job_print(end->output, stdout);
    say_end(end, g->run->options->limit, true, end_text, sizeof end_text);
    if (end_text[0] == '\0') {
        return true;
    }
    int32_t told = g->run->share->told - g->told;
    snprintf(reason, sizeof reason, "a fixture of all of group \"%.200s\" %s", group->name, end_text);
    if (told >= group->count) {
        snprintf(end_text, sizeof end_text, "%.150s: after_all", group->name);
        tell_broken(g->run, end_text, reason);
    }
    for (int32_t i = told; i < group->count; i++) {
        tell_broken(g->run, group->tests[i], reason);
    }
    return true;
}

static void run_group(void *user, const stn_test_group *group) {
    file_run *run = user;
    set_alarm(0.0);
    group_run g = {run, group, run->share->told};
    cli_jobs jobs = {
        .count = 1, .at_once = 1, .limit_s = (double)INFINITY, .work = do_group, .done = end_group, .user = &g};
    stn_error err = {0};
    if (cli_jobs_run(&jobs, &err) != STN_OK) {
        tell_broken(run, group->name, err.text);
    }
    set_alarm(run->options->limit);
}

static void list_tests(void *user, const stn_test_batch *batch) {
    const file_run *run = user;
    for (int32_t i = 0; i < batch->count; i++) {
        printf("%s: ", run->session->host.path);
        cli_print_name(batch->tests[i].name);
        putchar('\n');
    }
}

// --------------------------------------------------------------------------------------------------------------- files

/// Does a script without tests say anything that could have failed?
static bool claims(const stn_session *session) {
    return session->check_count > 0 || session->claim_count > 0 || session->stepped;
}

static void run_script(file_run *run, stn_context *context, const char *path) {
    stn_session session;
    stn_error err = {0};
    const cli_test_options *o = run->options;
    stn_session_init(&session, context);
    session.pattern = o->pattern;
    session.host.approve = o->approve;
    session.runner = (stn_test_runner){o->list ? list_tests : run_tests, run_group, run, o->list};
    run->session = &session;
    stn_status status = STN_OK;
    for (int32_t i = 0; i < o->sets.count && status >= 0; i++) {
        status = stn_session_set(&session, o->sets.items[i], &err);
    }
    session.overrides_shared = true;
    if (o->artifacts != NULL && !o->list) {
        char folder[1024];
        cli_test_folder(o, path, folder, sizeof folder);
        cli_test_kept_remove(context, folder, path, o->pattern);
    }
    double start = cli_seconds_now();
    set_alarm(o->limit);
    if (status >= 0) {
        status = stn_session_run(&session, path, &err);
    }
    set_alarm(0.0);
    for (int32_t i = 0; i < session.override_count && i < MOST_SETS; i++) {
        run->share->used[i] |= session.overrides[i].used;
    }
    bool whole = session.test_count == 0; // a file that has no test is one test
    bool named = !whole || o->pattern == NULL || strstr(path, o->pattern) != NULL;
    if (o->list && status >= 0 && whole && named && claims(&session)) {
        printf("%s\n", path);
    }
    if (named && (!o->list || status < 0)) {
        cli_test_result r = {.outcome = STN_TEST_FAILED, .seconds = cli_seconds_now() - start};
        const char *reason = NULL;
        char check[512];
        if (status < 0) { // outside of the tests
            reason = err.text;
            r.broken = !session.asserted;
        } else if (session.exited) {
            reason = session.exit_text;
        } else if (session.skipped != NULL) {
            r.outcome = STN_TEST_SKIPPED;
            reason = session.skipped;
        } else if ((reason = stn_session_failed_check(&session, 0, check, sizeof check)) == NULL) {
            r.outcome = !whole || claims(&session) ? STN_TEST_PASSED : STN_TEST_SKIPPED;
            reason = r.outcome == STN_TEST_SKIPPED ? "no test in it: no stn.test, check, assert or step" : NULL;
            if (o->strict && whole && say_reservation(&session, check, sizeof check)) {
                r.outcome = STN_TEST_FAILED;
                reason = check;
            }
        }
        if (reason != NULL) {
            set_text(&r, CLI_TEST_REASON, reason);
        }
        if (whole || r.outcome != STN_TEST_PASSED) {
            tell(run, &r);
        }
    }
    stn_session_clear(&session);
}

/// In the process of a file.
static int do_file(void *user, int32_t index) {
    test_run *all = user;
    const cli_test_options *o = all->options;
    int32_t share = o->workers / (int32_t)all->files->count;
    file_run run = {.options = o,
                    .share = &all->shares[index],
                    .records = all->records[index],
                    .at_once = share > 1 && !o->approve ? share : 1};
    stn_context *context = NULL;
    stn_error err = {0};
    if (stn_context_create(NULL, &context, &err) < 0) {
        tell_broken(&run, NULL, err.text);
    } else {
        run_script(&run, context, all->files->paths[index]);
    }
    stn_context_destroy(context);
    run.share->done = true;
    return 0;
}

static void open_records(void *user, int32_t index) {
    test_run *all = user;
    all->records[index] = tmpfile();
}

/// Prints a result and keeps it.
static void take(test_run *all, cli_test_result *r, int32_t file) {
    r->file = all->files->paths[file];
    if (all->options->list) {
        cli_fail(all->options->command, "%s: %s", r->file, r->text[CLI_TEST_REASON]);
    } else if (all->options->tap) {
        cli_test_print_tap(r, all->all->count + 1);
    } else {
        cli_test_print_line(r);
    }
    cli_test_results_add(all->all, r);
}

/// What the tests of a file have told.
static void take_records(test_run *all, int32_t file) {
    cli_test_result r;
    FILE *records = all->records[file];
    if (records != NULL) {
        for (rewind(records); cli_test_result_read(&r, records);) {
            take(all, &r, file);
        }
        fclose(records);
        all->records[file] = NULL;
    }
}

static bool end_file(void *user, const cli_job_end *end) {
    test_run *all = user;
    char reason[200];
    cli_job_print(end->error, stderr);
    cli_job_print(end->output, all->options->tap ? stderr : stdout);
    take_records(all, end->index);
    say_end(end, all->options->limit, all->shares[end->index].done, reason, sizeof reason);
    if (reason[0] != '\0') {
        cli_test_result r = {.outcome = STN_TEST_FAILED, .broken = true, .seconds = end->seconds};
        set_text(&r, CLI_TEST_REASON, reason);
        take(all, &r, end->index);
    }
    return true;
}

stn_status cli_test_run(const cli_test_files *files, const cli_test_options *options, cli_test_results *all,
                        stn_error *err) {
    size_t size = (files->count + 1) * sizeof(file_share);
    test_run run = {files, options, all, share_memory(size), calloc(files->count + 1, sizeof(FILE *))};
    cli_jobs jobs = {.count = (int32_t)files->count,
                     .at_once = options->workers,
                     .limit_s = (double)INFINITY,
                     .work = do_file,
                     .done = end_file,
                     .prepare = open_records,
                     .survives = true,
                     .user = &run};
    stn_status status = STN_ERR_MEMORY;
    if (run.shares == NULL || run.records == NULL) {
        stn_fail(err, STN_ERR_MEMORY, "out of memory");
    } else if (options->sets.count > MOST_SETS) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "--set: at most %d", MOST_SETS);
    } else {
        status = cli_jobs_run(&jobs, err);
        for (int32_t i = 0; i < jobs.count; i++) { // of files that an interrupt ended
            take_records(&run, i);
        }
        for (int32_t i = 0; i < options->sets.count && status >= 0; i++) {
            bool used = false;
            for (size_t k = 0; k < files->count; k++) {
                used |= run.shares[k].used[i];
            }
            if (!used) { // a mistake in its name
                status = stn_fail(err, STN_ERR_PARAMETER, "--set %s: no script that ran declares such a parameter",
                                  options->sets.items[i]);
            }
        }
    }
    if (run.shares != NULL) {
        munmap(run.shares, size);
    }
    free(run.records);
    return status;
}
