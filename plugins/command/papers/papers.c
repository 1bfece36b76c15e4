// SPDX-License-Identifier: Apache-2.0
// stiction papers: what papers publish, beside what comes out here. README.md
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/jobs.h"
#include "common/options.h"
#include "common/print.h"
#include "report.h"

/// Does the command name this paper, by name, reference or folder? None named: all.
static bool is_named(const paper_data *p, const cli_list *names) {
    const char *slash = strrchr(p->folder, '/'), *folder = slash != NULL ? slash + 1 : p->folder;
    bool named = names->count == 0;
    for (int32_t i = 0; i < names->count; i++) {
        named |= strcasecmp(names->items[i], p->name) == 0 || strcasecmp(names->items[i], p->reference) == 0 ||
                 strcasecmp(names->items[i], folder) == 0;
    }
    return named;
}

static stn_status read_papers(paper_report *r, const char *from, const cli_list *names, stn_error *err) {
    char path[STN_INPUT_PATH], pattern[STN_INPUT_PATH + 64];
    snprintf(pattern, sizeof pattern, "%s/*/paper.json",
             from != NULL ? from : stn_find_shipped("scripts/papers", path));
    glob_t found = {0};
    stn_status status =
        glob(pattern, 0, NULL, &found) == 0
            ? STN_OK
            : stn_fail(err, STN_ERR_FILE, "%s: no such file; --from FOLDER says where papers are", pattern);
    r->papers = stn_allocate(r->context, found.gl_pathc + 1, sizeof *r->papers);
    r->made = stn_allocate(r->context, found.gl_pathc + 1, sizeof *r->made);
    if (status == STN_OK && (r->papers == NULL || r->made == NULL)) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    char known[512] = "";
    for (size_t i = 0; i < found.gl_pathc && status == STN_OK; i++) {
        paper_data *p = &r->papers[r->paper_count];
        status = paper_read(r->context, found.gl_pathv[i], p, err);
        for (int32_t k = 0; k < r->paper_count && status == STN_OK; k++) {
            if (strcmp(r->papers[k].name, p->name) == 0) { // their answers would lie in the same files
                status = stn_fail(err, STN_ERR_FILE, "%s: another paper is called %s, too", found.gl_pathv[i], p->name);
            }
        }
        if (status == STN_OK) {
            const size_t length = strlen(known);
            snprintf(known + length, sizeof known - length, "%s%s", length > 0 ? ", " : "", p->name);
        }
        if (status != STN_OK || !is_named(p, names)) {
            paper_clear(r->context, p);
            continue;
        }
        r->made[r->paper_count] = stn_allocate(r->context, (size_t)p->run_count + 1, sizeof **r->made);
        r->paper_count++;
        if (r->made[r->paper_count - 1] == NULL) {
            status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
    }
    globfree(&found);
    for (int32_t i = 0; i < names->count && status == STN_OK; i++) {
        const cli_list one = {1, &names->items[i]};
        bool any = false;
        for (int32_t p = 0; p < r->paper_count; p++) {
            any |= is_named(&r->papers[p], &one);
        }
        status = any ? STN_OK : stn_fail(err, STN_ERR_ARGUMENT, "no paper %s; there are %s", names->items[i], known);
    }
    return status;
}

static void clear(paper_report *r) {
    for (int32_t p = 0; p < r->paper_count; p++) {
        for (int32_t k = 0; k < r->papers[p].run_count && r->made[p] != NULL; k++) {
            cJSON_Delete(r->made[p][k].answer);
        }
        stn_release(r->context, r->made[p]);
        paper_clear(r->context, &r->papers[p]);
    }
    stn_release(r->context, r->papers);
    stn_release(r->context, r->made);
    stn_context_destroy(r->context);
}

static int run_papers(void *self, const stn_command_call *call) {
    (void)self;
    cli_json_begin();
    const char *html = NULL, *markdown = NULL, *from = NULL;
    bool quick = false;
    paper_report r = {.keep = "papers", .jobs = cli_jobs_usual(), .timeout = 3600.0};
    const cli_option options[] = {
        {"quick", 0, CLI_FLAG, NULL, "what takes minutes alone; so it is unless --full is given", &quick},
        {"full", 0, CLI_FLAG, NULL, "everything", &r.full},
        {"html", 0, CLI_TEXT, "FILE", "a page with all rows and charts", &html},
        {"markdown", 0, CLI_TEXT, "FILE", "the same as Markdown; charts go to pictures/ beside it", &markdown},
        {"from", 0, CLI_TEXT, "FOLDER", "folders with a paper.json each; scripts/papers of Stiction", &from},
        {"keep", 0, CLI_TEXT, "FOLDER", "answers of runs and charts; those that are there are not made again; papers",
         &r.keep},
        {"fresh", 0, CLI_FLAG, NULL, "makes all runs again", &r.fresh},
        {"kept", 0, CLI_FLAG, NULL, "makes no run: judges the answers that are there", &r.kept},
        {"jobs", 'j', CLI_INT, "N", "runs at a time; as many as there are processors", &r.jobs},
        {"timeout", 0, CLI_REAL, "SECONDS", "wall time after which a run is ended, 3600", &r.timeout},
        {"quiet", 'q', CLI_FLAG, NULL, "no progress", &r.quiet},
    };
    const cli_command command = {
        "papers",
        "[NAME...]",
        "What papers publish, beside what comes out here: holds, differs, not comparable. Exit "
        "1: a run or a check of one failed, or a value differs and nobody knows why.",
        options,
        STN_COUNT(options),
        0,
        INT32_MAX};
    cli_list names;
    int exit = cli_parse(&command, call->argc, call->argv, &names);
    if (exit != CLI_PROCEED) {
        return exit;
    }
    stn_error err = {0};
    if (quick && r.full) {
        exit = cli_fail(&command, "--quick and --full: give one of the two");
    } else if (r.fresh && r.kept) {
        exit = cli_fail(&command, "--fresh and --kept: give one of the two");
    } else if (r.jobs < 1) {
        exit = cli_fail(&command, "--jobs %d: must be at least 1", r.jobs);
    } else if (!(r.timeout > 0.0)) {
        exit = cli_fail(&command, "--timeout %g: must be > 0 s", r.timeout);
    } else {
        exit = html != NULL ? cli_probe_output(&command, html) : CLI_PROCEED;
        exit = exit == CLI_PROCEED && markdown != NULL ? cli_probe_output(&command, markdown) : exit;
    }
    if (exit == CLI_PROCEED) {
        stn_status status = stn_context_create(NULL, &r.context, &err);
        status = status == STN_OK ? read_papers(&r, from, &names, &err) : status;
        status = status == STN_OK ? paper_make(&r, &err) : status;
        int32_t counts[PAPER_VERDICT_COUNT] = {0}, failures = 0;
        if (status == STN_OK) {
            failures = paper_table(&r, counts);
            status = html != NULL ? paper_page(&r, html, &err) : STN_OK;
            status = status == STN_OK && markdown != NULL ? paper_document(&r, markdown, &err) : status;
        }
        exit = counts[PAPER_FAILED] + counts[PAPER_UNEXPLAINED] + failures > 0 ? STN_EXIT_CHECK_FAILED : STN_EXIT_DONE;
        if (status != STN_OK) {
            exit = cli_fail_status(&command, &err);
        }
        clear(&r);
    }
    cli_list_clear(&names);
    return exit;
}

CLI_WORD(papers, "what papers publish, beside what comes out here", run_papers)
