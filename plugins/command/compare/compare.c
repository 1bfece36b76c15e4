// SPDX-License-Identifier: Apache-2.0
// stiction compare PROBLEM...: many solvers on the same problems, one judge. Method: docs/laboratory.md.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/apart.h"
#include "common/jobs.h"
#include "common/print.h"
#include "compare.h"

/// Warnings about a problem are shown, and belong to its result, which names the file already.
static void log_message(void *user, stn_log_level level, const char *text) {
    const comparison *c = user;
    compare_problem *p = c->reading;
    if (level < STN_LOG_WARNING || (level == STN_LOG_WARNING && p == NULL)) {
        return;
    }
    fprintf(stderr, "%s: %s\n", level == STN_LOG_WARNING ? "warning" : "error", text);
    if (p != NULL) {
        size_t path = strlen(p->path), used = strlen(p->note);
        bool named = strncmp(text, p->path, path) == 0 && strncmp(text + path, ": ", 2) == 0;
        snprintf(p->note + used, sizeof p->note - used, "%s%s", used > 0 ? "; " : "", named ? text + path + 2 : text);
    }
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int compare(comparison *c) {
    const compare_options *o = &c->options;
    stn_error err = {0};
    if (compare_solve(c, &err) != STN_OK) {
        return cli_fail_status(c->command, &err);
    }
    bool read = false;
    for (int32_t i = 0; i < c->problem_count; i++) {
        read = read || c->problems[i].read;
    }
    for (int32_t i = 0; i < c->problem_count && !read; i++) {
        cli_fail(c->command, "%s", c->problems[i].unreadable);
    }
    if (!read) {
        return STN_EXIT_BAD_INPUT; // nothing was compared: a mistake in the words
    }
    if (!o->json) {
        compare_print_table(c);
        fflush(stdout);
    }
    if (o->curves && compare_trace(c, &err) != STN_OK) {
        return cli_fail_status(c->command, &err);
    }
    int status = o->csv != NULL ? compare_write_csv(c, o->csv) : CLI_PROCEED;
    if (status == CLI_PROCEED && o->html != NULL) {
        status = compare_write_page(c, o->html);
    }
    if (status == CLI_PROCEED && o->json && !cli_json_print(compare_json(c), true)) {
        status = STN_EXIT_BAD_INPUT;
    }
    if (status != CLI_PROCEED) {
        return status;
    }
    for (int32_t i = 0; i < 2; i++) {
        const char *path = i == 0 ? o->csv : o->html;
        if (path != NULL) {
            fprintf(stderr, "written: %s\n", path);
        }
    }
    return STN_EXIT_DONE;
}

static int run(comparison *c, const cli_list *paths) {
    stn_error err = {0};
    const stn_context_options options = {.log = log_message, .log_user = c};
    if (stn_context_create(&options, &c->context, &err) != STN_OK) {
        return cli_fail_status(c->command, &err);
    }
    int status = compare_choose_solvers(c);
    size_t size = (size_t)paths->count * (size_t)c->solver_count * sizeof *c->rows;
    if (status == CLI_PROCEED) { // rows lie in memory that the children share
        void *rows = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        c->rows = rows != MAP_FAILED ? rows : NULL;
        c->problem_count = paths->count;
        c->problems = calloc((size_t)paths->count, sizeof *c->problems);
    }
    bool room = c->problems != NULL && c->rows != NULL, different = true;
    for (int32_t i = 0; i < paths->count && room; i++) {
        for (int32_t k = 0; k < i && different; k++) {
            different = strcmp(last_part(paths->items[i]), last_part(paths->items[k])) != 0;
        }
    }
    for (int32_t i = 0; i < paths->count && room; i++) { // without folders where that tells all of them apart
        c->problems[i].path = paths->items[i];
        c->problems[i].name = different ? last_part(paths->items[i]) : paths->items[i];
    }
    if (status == CLI_PROCEED) {
        status = room ? compare(c) : cli_fail(c->command, "out of memory");
    }
    if (c->rows != NULL) {
        munmap(c->rows, size);
    }
    free(c->problems);
    compare_clear_solvers(c);
    stn_context_destroy(c->context);
    return status;
}

static int run_compare(void *self, const stn_command_call *call) {
    (void)self;
    cli_json_begin();
    comparison c = {.options = {.tolerance = 1e-9, .timeout_s = 60.0, .max_iterations = CLI_UNSET}};
    compare_options *o = &c.options;
    int32_t processors = cli_jobs_usual();
    o->jobs = processors >= 4 ? processors / 2 : 1; // two solves on the threads of one core would disturb each other
    const cli_option options[] = {
        {"solvers", 0, CLI_TEXT, "A,B:NAME=VALUE", "which solvers, with settings of each; default: all installed",
         &o->solvers},
        {"law", 0, CLI_TEXT, "ID", "the contact law of convex solvers; default sap. none: where they can do without",
         &o->law},
        {"tolerance", 0, CLI_REAL, "E", "relative residual at which a solve is done; default 1e-9", &o->tolerance},
        {"max-iterations", 0, CLI_INT, "N", "iterations before giving up; default: each solver's own",
         &o->max_iterations},
        {"timeout", 0, CLI_REAL, "SECONDS", "wall time of a solve [s]; default 60", &o->timeout_s},
        {"jobs", 'j', CLI_INT, "N", "solves at a time; default: half of the processors", &o->jobs},
        {"set", 0, CLI_TEXTS, "P.NAME=VALUE", "a parameter; P is a solver, all of them (solver) or their law", &o->set},
        {"cold", 0, CLI_FLAG, NULL, "starts from no impulses instead of the start that a file gives", &o->cold},
        {"curves", 0, CLI_FLAG, NULL, "residual by iterations and time, too: 3 times the work; with --csv and --html",
         &o->curves},
        {"json", 0, CLI_FLAG, NULL, "the rows as JSON on stdout", &o->json},
        {"csv", 0, CLI_TEXT, "FILE", "writes the rows there", &o->csv},
        {"html", 0, CLI_TEXT, "FILE", "writes one page with performance profiles and curves", &o->html},
    };
    const cli_command command = {
        "compare",
        "PROBLEM...",
        "Solves saved contact problems with several solvers, each solve in a process of its own, and judges them all "
        "alike.",
        options,
        STN_COUNT(options),
        1,
        1 << 20};
    cli_list words;
    int status = cli_parse(&command, call->argc, call->argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    c.command = &command;
    o->curves = o->curves || o->csv != NULL || o->html != NULL;
    const char *const outputs[] = {o->csv, o->html};
    if (!(o->timeout_s > 0.0)) {
        status = cli_fail(&command, "--timeout %g: must be > 0 s", o->timeout_s);
    } else if (o->jobs < 1) {
        status = cli_fail(&command, "--jobs %d: must be at least 1", o->jobs);
    } else {
        status = cli_keep_apart(&command, words.items, words.count, outputs, STN_COUNT(outputs));
    }
    for (int32_t i = 0; i < STN_COUNT(outputs) && status == CLI_PROCEED; i++) {
        status = outputs[i] != NULL ? cli_probe_output(&command, outputs[i]) : CLI_PROCEED;
    }
    if (status == CLI_PROCEED) {
        status = run(&c, &words);
    }
    cli_list_clear(&o->set);
    cli_list_clear(&words);
    return status;
}

CLI_WORD(compare, "runs many solvers on the same saved problems, judged alike", run_compare)
