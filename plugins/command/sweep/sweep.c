// SPDX-License-Identifier: Apache-2.0
// stiction sweep SCRIPT: makes a scenario's runs over a grid of its parameters, in processes of their own, a row each.
// docs/sweep.md
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include <stiction/input.h>

#include "common/apart.h"
#include "common/print.h"
#include "common/progress.h"
#include "common/terminal.h"
#include "run.h"

static const char *const ends[] = {"ok", "check_failed", "diverged", "failed", "timeout", "crashed"};

typedef struct sweep {
    const cli_command *command;
    cli_sweep_plan plan;
    cli_table table;
    cli_texts columns;
    int32_t tally[STN_COUNT(ends)]; // of rows, by how their runs ended
    int32_t done;                   // rows that were there
    cli_progress progress;
    bool quiet;
    stn_error err; // of the table
} sweep;

// --------------------------------------------------------------------------------------------------------- the script

/// Hash of the script's bytes as they are now.
static stn_status hash_script(const char *path, char hash[32], stn_error *err) {
    char bytes[1 << 14];
    size_t size = 0;
    int file = stn_open_regular(path, 0, &size);
    XXH3_state_t *state = XXH3_createState();
    bool whole = file >= 0 && state != NULL && XXH3_64bits_reset(state) == XXH_OK;
    for (ssize_t got = 1; whole && got > 0;) {
        got = read(file, bytes, sizeof bytes);
        whole = got >= 0 && XXH3_64bits_update(state, bytes, (size_t)got) == XXH_OK;
    }
    const char *reason = errno == EINVAL ? "it is no regular file" : strerror(errno);
    if (whole) {
        snprintf(hash, 32, "xxh3-%016llx", (unsigned long long)XXH3_64bits_digest(state));
    }
    XXH3_freeState(state);
    if (file >= 0) {
        close(file);
    }
    return whole ? STN_OK
                 : stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s; give the path of a script", path, reason);
}

// ---------------------------------------------------------------------------------------------------------- the table

/// Counts a row that is there, when it is one of this sweep.
static stn_status accept_row(void *user, int32_t index, const cli_texts *cells, stn_error *err) {
    sweep *s = user;
    const char *path = s->table.path;
    int32_t keys = cli_sweep_key_count(&s->plan);
    cli_texts expected = {0};
    stn_status status = STN_OK;
    if (index >= s->plan.grid.run_count) {
        return stn_fail(err, STN_ERR_FILE, "%s: has more rows than the %d of this sweep; name another file", path,
                        s->plan.grid.run_count);
    }
    if (!cli_sweep_key(&s->plan, index, &expected)) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < keys && status >= 0; i++) {
        if (strcmp(cells->items[i], expected.items[i]) == 0) {
            continue;
        }
        status =
            i == keys - 1
                ? stn_fail(err, STN_ERR_FILE, "%s: was made with another version of %s; name another file", path,
                           s->plan.script)
                : stn_fail(err, STN_ERR_FILE,
                           "%s:%d: is not the table of this sweep: %s is '%s' there and '%s' here; name another file",
                           path, (int)index + 2, s->columns.items[i], cells->items[i], expected.items[i]);
    }
    for (int32_t i = 0; i < STN_COUNT(ends); i++) {
        s->tally[i] += strcmp(cells->items[keys], ends[i]) == 0;
    }
    cli_texts_clear(&expected);
    return status;
}

/// Receives a run's end, in the order of the runs.
static bool add_row(void *user, const cli_job_end *end) {
    sweep *s = user;
    cli_table_cells row = {0};
    char now[sizeof s->plan.hash];
    stn_status status = hash_script(s->plan.script, now, &s->err);
    if (status >= 0 && strcmp(now, s->plan.hash) != 0) {
        // every run loads the script anew: a row of another one must not stand among those of this one
        status = stn_fail(&s->err, STN_ERR_FILE,
                          "%s: was changed while its runs were made; the rows that are there are of what it was, name "
                          "another file for what it is",
                          s->plan.script);
    }
    if (status >= 0) {
        status = cli_sweep_row(&s->plan, s->done + end->index, end, &row)
                     ? cli_table_add(&s->table, &row, &s->err)
                     : stn_fail(&s->err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < STN_COUNT(ends) && status >= 0; i++) {
        s->tally[i] += strcmp(row.fixed.items[cli_sweep_key_count(&s->plan)], ends[i]) == 0;
    }
    cli_table_cells_clear(&row);
    return status >= 0;
}

// -------------------------------------------------------------------------------------------------------------- runs

static int make_run(void *user, int32_t index) {
    const sweep *s = user;
    return cli_sweep_run(&s->plan, s->done + index);
}

static void show_progress(void *user, int32_t ended) {
    sweep *s = user;
    if (!s->quiet) {
        cli_progress_count(&s->progress, ended, s->plan.grid.run_count - s->done, "runs");
    }
}

static stn_status run_jobs(sweep *s, const cli_jobs *jobs, stn_error *err) {
    stn_status status = cli_jobs_run(jobs, err);
    cli_progress_end(&s->progress);
    if (status >= 0 && s->err.status < 0) {
        *err = s->err;
        status = s->err.status;
    }
    return status;
}

// ------------------------------------------------------------------------------------------------------------- probe

typedef struct probe {
    const sweep *sweep;
    stn_error *err;
    stn_status status;
} probe;

static int make_probe(void *user, int32_t index) {
    (void)index;
    return cli_sweep_probe(&((probe *)user)->sweep->plan);
}

/// A probe that crashes, takes too long or ends without a word says nothing about names: the runs will.
static bool judge_probe(void *user, const cli_job_end *end) {
    probe *p = user;
    char text[sizeof p->err->text];
    if (!p->sweep->quiet) {
        cli_job_print(end->error, stderr); // warnings, once for all runs
    }
    text[fread(text, 1, sizeof text - 1, end->output)] = '\0';
    if (end->outcome == CLI_JOB_EXITED && end->code != STN_EXIT_DONE && text[0] != '\0') {
        p->status = stn_fail(p->err, STN_ERR_ARGUMENT, "%s", text);
    }
    return true;
}

// ------------------------------------------------------------------------------------------------------------ output

/// One line a row.
static stn_status print_row(void *user, int32_t index, const cli_texts *cells, stn_error *err) {
    (void)err;
    const cli_texts *columns = user;
    cJSON *row = cJSON_CreateObject();
    for (int32_t i = 0; i < columns->count; i++) {
        const char *cell = cells->items[i];
        double value;
        // null for what the row does not have and for what JSON cannot say
        bool none =
            cell[0] == '\0' || strcmp(cell, "nan") == 0 || strcmp(cell, "inf") == 0 || strcmp(cell, "-inf") == 0;
        cJSON *item = none                           ? cJSON_CreateNull()
                      : stn_parse_real(cell, &value) ? cli_json_real(value)
                                                     : cJSON_CreateString(cell);
        cJSON_AddItemToObject(row, columns->items[i], item);
    }
    char *text = cJSON_PrintUnformatted(row);
    printf("%s\n    %s", index > 0 ? "," : "", text);
    cJSON_free(text);
    cJSON_Delete(row);
    return STN_OK;
}

static stn_status print_json(sweep *s, stn_error *err) {
    cJSON *head = cJSON_CreateObject(), *counts = cJSON_CreateObject();
    cli_json_add_text(head, "script", s->plan.script);
    cli_json_add_real(head, "runs", s->plan.grid.run_count);
    for (int32_t i = 0; i < STN_COUNT(ends); i++) {
        cli_json_add_real(counts, ends[i], s->tally[i]);
    }
    cJSON_AddItemToObject(head, "status", counts);
    char *text = cJSON_PrintUnformatted(head);
    printf("%.*s,\n  \"rows\": [", (int)strlen(text) - 1, text);
    cJSON_free(text);
    cJSON_Delete(head);
    stn_status status = cli_table_read(&s->table, print_row, &s->table.columns, err);
    puts("\n  ]}");
    return status;
}

// ----------------------------------------------------------------------------------------------------------- command

typedef struct sweep_options {
    const char *csv;
    cli_list sets, varied;
    int32_t seeds, seed, jobs;
    double timeout;
    bool json, check;
} sweep_options;

static stn_status prepare(sweep *s, const sweep_options *o, stn_error *err) {
    int32_t seeds = o->seeds == CLI_UNSET ? 0 : o->seeds;
    stn_status status = cli_grid_read(&o->sets, &o->varied, seeds, o->seed, &s->plan.grid, err);
    for (int32_t i = 0; i < s->plan.grid.axis_count && status >= 0; i++) {
        if (o->seeds > 0 && strcmp(s->plan.grid.axes[i].name, "seed") == 0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "--seeds %d: seed is given already; leave one of the two", o->seeds);
        }
    }
    if (status >= 0) {
        status = hash_script(s->plan.script, s->plan.hash, err);
    }
    if (status >= 0 && !cli_sweep_columns(&s->plan, &s->columns)) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    if (status >= 0) {
        // one run up to its first step tells which names the script takes
        probe p = {s, err, STN_OK};
        cli_jobs jobs = {.count = 1,
                         .at_once = 1,
                         .limit_s = o->timeout,
                         .work = make_probe,
                         .done = judge_probe,
                         .survives = true,
                         .user = &p};
        cli_sweep_folder_make(&s->plan.folder);
        status = run_jobs(s, &jobs, err);
        if (status >= 0) {
            status = p.status;
        }
        s->plan.context = status >= 0 ? cli_sweep_fields(&s->plan.folder) : NULL;
        cli_sweep_folder_remove(&s->plan.folder);
    }
    return status >= 0 ? cli_table_open(&s->table, o->csv, &s->columns, accept_row, s, err) : status;
}

static int run(sweep *s, const sweep_options *o) {
    stn_error err = {0};
    stn_status status = prepare(s, o, &err);
    if (status < 0) {
        return cli_fail_status(s->command, &err);
    }
    s->done = s->table.rows;
    cli_jobs jobs = {.count = s->plan.grid.run_count - s->done,
                     .at_once = o->jobs,
                     .limit_s = o->timeout,
                     .work = make_run,
                     .done = add_row,
                     .progress = show_progress,
                     .survives = true,
                     .user = s};
    status = run_jobs(s, &jobs, &err);
    int32_t passed = s->tally[0] + (o->check ? 0 : s->tally[1]); // ok, check_failed
    int exit = passed == s->plan.grid.run_count ? STN_EXIT_DONE : STN_EXIT_CHECK_FAILED;
    if (status < 0) {
        exit = cli_fail_status(s->command, &err);
    }
    if (!s->quiet || status < 0) {
        // "40 of 40 runs, 12 of them there before: 38 ok, 2 timeout; out.csv", or how far it came.
        const char *separator = ": ";
        fprintf(stderr, "%d of %d runs", (int)s->table.rows, (int)s->plan.grid.run_count);
        if (s->done > 0) {
            fprintf(stderr, ", %d of them there before", (int)s->done);
        }
        for (int32_t i = 0; i < STN_COUNT(ends); i++) {
            if (s->tally[i] > 0) {
                fprintf(stderr, "%s%d %s", separator, (int)s->tally[i], ends[i]);
                separator = ", ";
            }
        }
        if (s->table.path != NULL) {
            fputs("; ", stderr);
            cli_print_message(s->table.path);
            fputs(s->table.rows < s->plan.grid.run_count ? ", which the same command goes on with" : "", stderr);
        }
        fputc('\n', stderr);
    }
    if (o->json && print_json(s, &err) < 0) {
        exit = cli_fail_status(s->command, &err);
    } else if (!o->json && o->csv == NULL) {
        cli_table_copy(&s->table, stdout); // main tells when that fails
    }
    return exit;
}

static int run_sweep(void *self, const stn_command_call *call) {
    (void)self;
    cli_json_begin();
    sweep_options o = {.seeds = CLI_UNSET, .seed = 1, .jobs = cli_jobs_usual(), .timeout = INFINITY};
    sweep s = {0};
    const cli_option options[] = {
        {"vary", 0, CLI_TEXTS, "NAME=VALUES", "first:last:count[:log], first..last[..step] or a,b,c", &o.varied},
        {"set", 0, CLI_TEXTS, "NAME=VALUE", "the same in every run", &o.sets},
        {"seeds", 0, CLI_INT, "N", "runs of each combination, each with a seed of its own", &o.seeds},
        {"seed", 0, CLI_INT, "N", "of the first run, 1; the next ones count on", &o.seed},
        {"jobs", 'j', CLI_INT, "N", "runs at a time; as many as there are processors", &o.jobs},
        {"timeout", 0, CLI_REAL, "SECONDS", "wall time after which a run is ended", &o.timeout},
        {"csv", 0, CLI_TEXT, "FILE", "the table; if it is there, what is missing is added", &o.csv},
        {"json", 0, CLI_FLAG, NULL, "the table as JSON on stdout", &o.json},
        {"check", 0, CLI_FLAG, NULL, "exit 1 also when a check failed in some run", &o.check},
        {"strict", 0, CLI_FLAG, NULL, "what the verdict has to say against a run is a check that failed",
         &s.plan.strict},
        {"quiet", 'q', CLI_FLAG, NULL, "no progress, no warnings, no summary", &s.quiet},
    };
    const cli_command command = {"sweep",
                                 "SCRIPT",
                                 "Runs a scenario over a grid of its parameters and of the options of stiction run; a "
                                 "row each, as CSV on stdout.",
                                 options,
                                 STN_COUNT(options),
                                 1,
                                 1};
    cli_list words;
    int status = cli_parse(&command, call->argc, call->argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    s.command = &command;
    s.plan.script = words.items[0];
    if (o.seeds < 1 && o.seeds != CLI_UNSET) {
        status = cli_fail(&command, "--seeds %d: must be at least 1", o.seeds);
    } else if (o.seed < 0) {
        status = cli_fail(&command, "--seed %d: must be >= 0", o.seed);
    } else if (o.jobs < 1) {
        status = cli_fail(&command, "--jobs %d: must be at least 1", o.jobs);
    } else if (!(o.timeout > 0.0)) {
        status = cli_fail(&command, "--timeout %g: must be > 0 s", o.timeout);
    } else {
        status = cli_keep_apart(&command, words.items, 1, &o.csv, 1);
    }
    if (status == CLI_PROCEED) {
        status = run(&s, &o);
    }
    cli_table_close(&s.table);
    stn_context_destroy(s.plan.context);
    cli_texts_clear(&s.columns);
    cli_grid_clear(&s.plan.grid);
    cli_list_clear(&o.sets);
    cli_list_clear(&o.varied);
    cli_list_clear(&words);
    return status;
}

CLI_WORD(sweep, "runs a scenario over a grid of its parameters", run_sweep)
