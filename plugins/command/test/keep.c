// SPDX-License-Identifier: Apache-2.0
// What is kept of a failed test. Nothing is recorded while tests pass: a failed one is done once more, up to its last
// step, from the same state of its file's process, which its own process never touched.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/jobs.h"
#include "test.h"

static const double recorded_s = 5.0; // simulated seconds before the end

typedef struct keep_run {
    stn_session *session;
    const cli_test_failure *failure;
    stn_keepsake keep;
} keep_run;

/// A name as part of a path: letters, digits, '.', '_', with one '-' for what else there is; cut.
static void add_name(char *path, size_t size, const char *name) {
    size_t used = strlen(path), most = used + 80;
    for (; *name != '\0' && used + 1 < size && used < most; name++) {
        bool plain = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.", *name) != NULL;
        bool first = path[used - 1] == '/' || path[used - 1] == '-';
        if (plain && (*name != '.' || !first)) {
            path[used++] = *name;
        } else if (!first) {
            path[used++] = '-';
        }
        path[used] = '\0';
    }
}

/// Makes the folders of a path, all but its last part.
static bool make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) {
            return false;
        }
    }
    return true;
}

static int do_again(void *user, int32_t index) {
    (void)index;
    keep_run *k = user;
    stn_verdict unused = {0};
    k->session->keep = &k->keep;
    k->session->failure_path = k->keep.capsule;
    k->session->host.approve = false;
    stn_session_perform(k->session, k->failure->batch, k->failure->index, &unused);
    return 0;
}

static bool ignore_end(void *user, const cli_job_end *end) {
    (void)user;
    (void)end;
    return true;
}

static void note_file(cli_test_result *r, cli_test_text which, const char *path) {
    if (access(path, R_OK) == 0) {
        cli_test_result_set(r, which, path, strlen(path));
    }
}

void cli_test_folder(const cli_test_options *options, const char *script, char *folder, size_t size) {
    snprintf(folder, size, "%.800s/", options->artifacts);
    add_name(folder, size, script);
}

void cli_test_keep(const cli_test_options *options, stn_session *session, const cli_test_failure *failure,
                   cli_test_result *r) {
    const stn_test *test = &failure->batch->tests[failure->index];
    const stn_verdict *verdict = failure->verdict;
    const stn_step_mark *mark = failure->mark;
    if (mark->made == 0 && !verdict->diverged) {
        return;
    }
    const char *name = test->name;
    char folder[1024], path[1100], recording[1200], capsule[1200];
    cli_test_folder(options, session->host.path, folder, sizeof folder);
    snprintf(path, sizeof path, "%s/%d-", folder, failure->number);
    add_name(path, sizeof path, name);
    snprintf(recording, sizeof recording, "%s.html", path);
    snprintf(capsule, sizeof capsule, "%s.capsule.json", path);
    if (!make_folders(path)) {
        fprintf(stderr, "warning: %s: cannot be made: %s\n", folder, strerror(errno));
        return;
    }
    size_t in_folder = strlen(folder) + 1;
    cli_test_kept_add(folder, session->host.path, name, recording + in_folder);
    cli_test_kept_add(folder, session->host.path, name, capsule + in_folder);
    remove(recording); // of a run that noted nothing
    remove(capsule);
    keep_run k = {session, failure, {*mark, 0, recording, capsule, verdict->by.text, verdict->diverged}};
    double steps = recorded_s / mark->dt; // infinite without a step
    k.keep.from = steps < (double)mark->made ? mark->made - (int64_t)steps : 0;
    double limit = isnan(test->limit_s) ? options->limit : test->limit_s;
    cli_jobs jobs = {.count = 1,
                     .at_once = 1,
                     .limit_s = 10.0 + 10.0 * limit, // it ends by itself, after its last step, but records on the way
                     .work = do_again,
                     .done = ignore_end,
                     .user = &k};
    stn_error err = {0};
    cli_jobs_run(&jobs, &err);
    note_file(r, CLI_TEST_RECORDING, recording);
    note_file(r, CLI_TEST_CAPSULE, capsule);
}
