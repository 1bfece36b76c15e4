// SPDX-License-Identifier: Apache-2.0
// stiction run SCRIPT: runs a scenario and says how it went.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/apart.h"
#include "common/options.h"
#include "common/print.h"
#include "common/progress.h"
#include "common/run_report.h"
#include "common/scenario.h"
#include "common/terminal.h"
#include "signals.h"
#include "warnings.h"

/// The words of the command line.
typedef struct run_options {
    const char *script, *capsule; // one of the two
    const char *language;
    const char *solver, *law, *integrator, *contact, *factor;
    double dt, seconds;
    const char *capture, *form;
    int32_t seed, threads, every;
    bool json, profile, quiet, stiction, strict;
    cli_list sets, records;
} run_options;

/// One run of the command.
typedef struct run {
    const cli_command *command;
    const run_options *o;
    stn_session session;
    cli_run_end end;
    stn_error err;
    char failure_path[512];
} run;

// -------------------------------------------------------------------------------------------------------------- run

static stn_status fill_session(run *r) {
    static const char ending[] = ".capsule.json";
    const run_options *o = r->o;
    stn_session *session = &r->session;
    session->language = o->language;
    session->plugin[STN_KIND_SOLVER] = o->solver;
    session->plugin[STN_KIND_LAW] = o->law;
    session->plugin[STN_KIND_INTEGRATOR] = o->integrator;
    session->plugin[STN_KIND_CONTACT] = o->contact;
    session->plugin[STN_KIND_FACTOR] = o->factor;
    session->host.dt = o->dt;
    session->host.seconds = o->seconds;
    session->host.seed = o->seed != CLI_UNSET ? o->seed : -1;
    session->host.threads = o->threads != CLI_UNSET ? o->threads : 0;
    session->host.profile = o->profile;
    session->host.stiction = o->stiction;
    session->capture_file = o->capture;
    session->capture_every = o->every != CLI_UNSET ? o->every : 1;
    session->capture_local = o->form != NULL && strcmp(o->form, "local") == 0;
    session->record_paths = o->records.items;
    session->record_count = o->records.count;
    session->failure_path = r->failure_path;
    // "scripts/clutter.lua": "clutter.capsule.json" in the current folder; "a.capsule.json": "a.again.capsule.json"
    const char *from = o->script != NULL ? o->script : o->capsule, *slash = strrchr(from, '/');
    const char *name = slash != NULL ? slash + 1 : from, *dot = strrchr(name, '.');
    size_t length = strlen(name), tail = strlen(ending);
    bool again = o->script == NULL && length > tail && strcmp(name + length - tail, ending) == 0;
    size_t stem = again ? length - tail : dot != NULL ? (size_t)(dot - name) : length;
    snprintf(r->failure_path, sizeof r->failure_path, "%.*s%s%s", (int)stem, name, o->script == NULL ? ".again" : "",
             ending);
    for (int32_t i = 0; i < o->sets.count; i++) {
        stn_status status = stn_session_set(session, o->sets.items[i], &r->err);
        if (status < 0) {
            return status;
        }
    }
    return STN_OK;
}

static int report(run *r, int exit) {
    const stn_session *session = &r->session;
    const stn_failure *f = &session->failure;
    if (session->exit_status != 0) {
        cli_fail(r->command, "%s", session->exit_text);
    } else if (exit == STN_EXIT_BAD_INPUT) {
        cli_fail(r->command, "%s", r->err.text);
        if (session->statistics.samples.steps == 0) {
            return exit;
        }
    } else if (exit == STN_EXIT_SOLVER_FAILED) {
        cli_fail(r->command, "%s", r->err.text);
        if (f->saved[0] != '\0') {
            fprintf(stderr,
                    "  that step is kept in %s: stiction run --from makes it again, stiction solve its problem\n",
                    f->saved);
        }
    }
    if (!r->o->quiet || exit != STN_EXIT_DONE) {
        cli_run_print_summary(session, &r->end);
    } else if (cli_run_is_reserved(session)) {
        cli_run_print_headline(session, &r->end);
    } else if (session->capture_file != NULL && session->statistics.captured == 0) {
        cli_run_tell_no_capture(session, "warning: ");
    }
    if (r->o->json && !cli_json_print(cli_run_json(session, &r->end), true)) {
        return STN_EXIT_BAD_INPUT;
    }
    return exit;
}

static int run_once(const cli_command *command, const run_options *o) {
    run r = {.command = command, .o = o, .end = {.script = o->script != NULL ? o->script : o->capsule}};
    stn_context *context = NULL;
    cli_warnings warnings = {.quiet = o->quiet, .mutex = PTHREAD_MUTEX_INITIALIZER};
    const stn_context_options logs = {.log = cli_warnings_log, .log_user = &warnings};
    if (stn_context_create(&logs, &context, &r.err) < 0) {
        return cli_fail_status(command, &r.err);
    }
    stn_session_init(&r.session, context);
    stn_status status = fill_session(&r);
    cli_count_tests(&r.session);
    cli_progress progress = {0};
    if (cli_stderr_redraws() && !o->quiet) {
        r.session.progress = cli_progress_step;
        r.session.progress_user = &progress;
    }
    r.end.profile = o->profile;
    double start = cli_seconds_now();
    fflush(stdout);
    int report_to = o->json ? dup(STDOUT_FILENO) : -1; // the report's alone: what the script prints goes to stderr
    if (status >= 0 && o->json && (report_to < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)) {
        status = stn_fail(&r.err, STN_ERR_FILE, "--json: stdout cannot be set aside for it: %s", strerror(errno));
    }
    if (status >= 0) {
        run_signals_begin(&r.session);
        status = o->script != NULL ? stn_session_run(&r.session, o->script, &r.err)
                                   : stn_session_run_capsule(&r.session, o->capsule, &r.err);
        run_signals_end();
    }
    if (report_to >= 0) {
        fflush(stdout);
        dup2(report_to, STDOUT_FILENO);
        close(report_to);
    }
    r.end.wall = cli_seconds_now() - start;
    cli_progress_end(&progress);
    if (o->strict && status >= 0) {
        cli_judge_strictly(&r.session);
    }
    int exit = cli_judge_run(&r.session, status, &r.err, &r.end.status);
    cli_warnings_end(&warnings, exit != STN_EXIT_DONE);
    exit = report(&r, exit);
    stn_session_clear(&r.session);
    stn_context_destroy(context);
    return exit;
}

static int check_options(const cli_command *command, const run_options *o) {
    if ((o->script != NULL) == (o->capsule != NULL)) {
        return cli_fail(command,
                        o->script == NULL ? "needs SCRIPT, or --from CAPSULE" : "give SCRIPT or --from, not both");
    }
    if (o->language != NULL && o->script == NULL) {
        return cli_fail(command, "--language means nothing with --from CAPSULE");
    }
    if (!isnan(o->dt) && !(o->dt > 0.0)) {
        return cli_fail(command, "--dt %g: must be > 0 s", o->dt);
    }
    if (!isnan(o->seconds) && !(o->seconds >= 0.0)) {
        return cli_fail(command, "--seconds %g: must be >= 0 s", o->seconds);
    }
    if (o->threads != CLI_UNSET && (o->threads < 1 || o->threads > 1024)) {
        return cli_fail(command, "--threads %d: must be from 1 to 1024", o->threads);
    }
    if (o->seed != CLI_UNSET && o->seed < 0) {
        return cli_fail(command, "--seed %d: must be >= 0", o->seed);
    }
    if (o->capture == NULL && (o->every != CLI_UNSET || o->form != NULL)) {
        return cli_fail(command, "--%s means nothing without --capture FILE", o->form != NULL ? "form" : "every");
    }
    if (o->every != CLI_UNSET && o->every < 1) {
        return cli_fail(command, "--every %d: must be >= 1", o->every);
    }
    if (o->form != NULL && strcmp(o->form, "global") != 0 && strcmp(o->form, "local") != 0) {
        return cli_fail(command, "--form %s: must be global or local", o->form);
    }
    const char *input = o->script != NULL ? o->script : o->capsule;
    return cli_keep_apart(command, &input, 1, o->records.items, o->records.count);
}

static int run_run(void *self, const stn_command_call *call) {
    (void)self;
    cli_json_begin();
    run_options o = {.dt = NAN, .seconds = NAN, .seed = CLI_UNSET, .threads = CLI_UNSET, .every = CLI_UNSET};
    const cli_option options[] = {
        {"set", 0, CLI_TEXTS, "NAME=VALUE", "a parameter of the scenario, or solver.tolerance and the like", &o.sets},
        {"language", 0, CLI_TEXT, "ID", "of the script, whatever its name ends with; SCRIPT may be -, stdin",
         &o.language},
        {"solver", 0, CLI_TEXT, "ID", "another solver than the script's", &o.solver},
        {"law", 0, CLI_TEXT, "ID", "another contact law (convex solvers)", &o.law},
        {"integrator", 0, CLI_TEXT, "ID", "another integrator", &o.integrator},
        {"contact", 0, CLI_TEXT, "ID", "another contact model", &o.contact},
        {"factor", 0, CLI_TEXT, "ID", "another factorisation", &o.factor},
        {"dt", 0, CLI_REAL, "SECONDS", "another step size", &o.dt},
        {"seconds", 0, CLI_REAL, "SECONDS", "another simulated time", &o.seconds},
        {"seed", 0, CLI_INT, "N", "another seed of the random stream", &o.seed},
        {"threads", 0, CLI_INT, "N", "threads; the result is the same", &o.threads},
        {"stiction", 0, CLI_FLAG, NULL, "what sticks holds its place, in every world of the script", &o.stiction},
        {"from", 0, CLI_TEXT, "CAPSULE", "instead of a script: makes a step again that failed", &o.capsule},
        {"log", 0, CLI_TEXTS, "FILE", "records the run; the ending chooses the recorder: .csv, .png", &o.records},
        {"record", 0, CLI_TEXTS, "FILE", "records the run as a page to look at: .html; stiction view opens it",
         &o.records},
        {"capture", 0, CLI_TEXT, "FILE", "saves contact problems, FILE-000120.json; .json, .hdf5 (FCLIB)", &o.capture},
        {"every", 0, CLI_INT, "N", "with --capture: of every N-th step alone", &o.every},
        {"form", 0, CLI_TEXT, "WORD", "with --capture: global, or local (Delassus)", &o.form},
        {"profile", 0, CLI_FLAG, NULL, "time of every stage of a step and its parts", &o.profile},
        {"json", 0, CLI_FLAG, NULL, "everything, as JSON on stdout", &o.json},
        {"quiet", 'q', CLI_FLAG, NULL, "no progress; summary and warnings only when something failed", &o.quiet},
        {"strict", 0, CLI_FLAG, NULL, "what the verdict has to say against the run is a check that failed", &o.strict},
    };
    const cli_command command = {
        "run",   "SCRIPT",           "Runs a scenario; exit 1 when a check fails, 3 when the simulation diverges.",
        options, STN_COUNT(options), 0,
        1};
    cli_list words;
    int status = cli_parse(&command, call->argc, call->argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    o.script = words.count > 0 ? words.items[0] : NULL;
    bool from_stdin = o.script != NULL && strcmp(o.script, "-") == 0;
    if (from_stdin && o.language == NULL) {
        status = cli_fail(&command, "-: the language of a script on stdin has to be told: add --language ID");
    } else {
        o.script = from_stdin ? "/dev/stdin" : o.script;
        status = check_options(&command, &o);
    }
    if (status == CLI_PROCEED) {
        status = run_once(&command, &o);
    }
    cli_list_clear(&o.sets);
    cli_list_clear(&o.records);
    cli_list_clear(&words);
    return status;
}

CLI_WORD(run, "runs a scenario", run_run)
