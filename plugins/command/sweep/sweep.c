// SPDX-License-Identifier: Apache-2.0
// stiction sweep SCRIPT: makes a scenario's runs over a grid of its parameters, a row each; on one machine, a part of
// them, or by the ranks of mpirun. docs/sweep.md, docs/cluster.md
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
#include "join.h"
#include "ranks.h"
#include "runs.h"

static const char *const ends[] = {"ok", "check_failed", "diverged", "failed", "timeout", "crashed"};

typedef struct sweep {
    const cli_command *command;
    cli_sweep_plan plan;
    cli_table table;
    cli_texts columns;
    int32_t tally[STN_COUNT(ends)]; // of rows, by how their runs ended
    int32_t count, done;            // rows of the table when it is whole, rows that were there
    cli_ranks ranks;
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

/// Hash of what decides about rows beside the script: names and values in their order, seeds, what a check is.
static void hash_sweep(cli_sweep_plan *plan) {
    const cli_grid *grid = &plan->grid;
    int32_t figures[] = {grid->axis_count, grid->repeats, grid->repeats > 0 ? grid->first_seed : 0, plan->strict};
    XXH64_hash_t hash = XXH3_64bits(figures, sizeof figures);
    for (int32_t i = 0; i < grid->axis_count; i++) {
        for (int32_t k = 0; k < grid->axes[i].count; k++) {
            const char *text = grid->axes[i].assignments[k];
            hash = XXH3_64bits_withSeed(text, strlen(text) + 1, hash);
        }
    }
    snprintf(plan->sweep, sizeof plan->sweep, "xxh3-%016llx", (unsigned long long)hash);
}

// ---------------------------------------------------------------------------------------------------------- the table

static void count_end(sweep *s, const char *end) {
    for (int32_t i = 0; i < STN_COUNT(ends); i++) {
        s->tally[i] += strcmp(end, ends[i]) == 0;
    }
}

/// Counts a row that is there, when it is one of this sweep.
static stn_status accept_row(void *user, int32_t index, const cli_texts *cells, stn_error *err) {
    sweep *s = user;
    const char *path = s->table.path;
    int32_t keys = cli_sweep_key_count(&s->plan);
    cli_texts expected = {0};
    stn_status status = STN_OK;
    if (index >= s->count) {
        return stn_fail(err, STN_ERR_FILE, "%s: has more rows than the %d of this sweep; name another file", path,
                        (int)s->count);
    }
    if (!cli_sweep_key(&s->plan, cli_sweep_run_at(&s->plan, index), &expected)) {
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
    count_end(s, cells->items[keys]);
    cli_texts_clear(&expected);
    return status;
}

/// Receives a run's end, in the order of the runs.
static bool add_row(void *user, const cli_pool_end *end) {
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
        status = cli_sweep_row(&s->plan, end, &row) ? cli_table_add(&s->table, &row, &s->err)
                                                    : stn_fail(&s->err, STN_ERR_MEMORY, "out of memory");
    }
    if (status >= 0) {
        count_end(s, row.fixed.items[cli_sweep_key_count(&s->plan)]);
    }
    cli_table_cells_clear(&row);
    return status >= 0;
}

static void show_progress(void *user, int32_t ended) {
    sweep *s = user;
    if (!s->quiet) {
        cli_progress_count(&s->progress, ended, s->count - s->done, "runs");
    }
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
    const char *csv, *shard;
    cli_list sets, varied;
    int32_t seeds, seed, jobs;
    double timeout;
    bool json, check, in_process, join;
} sweep_options;

/// One run up to its first step tells which names the script takes.
static stn_status probe_script(sweep *s, double timeout, stn_error *err) {
    probe p = {s, err, STN_OK};
    cli_jobs jobs = {.count = 1,
                     .at_once = 1,
                     .limit_s = timeout,
                     .work = make_probe,
                     .done = judge_probe,
                     .survives = true,
                     .user = &p};
    cli_sweep_folder_make(&s->plan.folder);
    stn_status status = cli_jobs_run(&jobs, err);
    if (status >= 0) {
        status = p.status;
    }
    s->plan.context = status >= 0 ? cli_sweep_fields(&s->plan.folder) : NULL;
    cli_sweep_folder_remove(&s->plan.folder);
    return status;
}

static stn_status prepare(sweep *s, const sweep_options *o, stn_error *err) {
    int32_t seeds = o->seeds == CLI_UNSET ? 0 : o->seeds;
    stn_status status = cli_grid_read(&o->sets, &o->varied, seeds, o->seed, &s->plan.grid, err);
    for (int32_t i = 0; i < s->plan.grid.axis_count && status >= 0; i++) {
        if (o->seeds > 0 && strcmp(s->plan.grid.axes[i].name, "seed") == 0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "--seeds %d: seed is given already; leave one of the two", o->seeds);
        }
    }
    if (status >= 0) {
        s->count = cli_sweep_row_count(&s->plan);
        hash_sweep(&s->plan);
        status = hash_script(s->plan.script, s->plan.hash, err);
    }
    if (status >= 0 && !cli_sweep_columns(&s->plan, &s->columns)) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    return status >= 0 ? probe_script(s, o->timeout, err) : status;
}

static cli_runs list_runs(sweep *s, const sweep_options *o) {
    int32_t usual = s->ranks.count > 1 ? 1 : cli_jobs_usual(); // mpirun starts as many ranks as are to be busy
    return (cli_runs){.plan = &s->plan,
                      .first = s->done,
                      .count = s->count - s->done,
                      .workers = o->jobs == CLI_UNSET ? usual : o->jobs,
                      .in_process = o->in_process,
                      .limit_s = o->timeout,
                      .ranks = s->ranks.socket,
                      .rank_count = s->ranks.count,
                      .done = add_row,
                      .progress = show_progress,
                      .user = s};
}

/// "40 of 40 runs, 12 of them there before: 38 ok, 2 timeout; out.csv", or how far it came.
static void print_summary(const sweep *s) {
    const char *separator = ": ";
    fprintf(stderr, "%d of %d runs", (int)s->table.rows, (int)s->count);
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
        fputs(s->table.rows < s->count ? ", which the same command goes on with" : "", stderr);
    }
    fputc('\n', stderr);
}

/// Says what came of it, and prints the table where it is wanted on stdout.
static int finish(sweep *s, const sweep_options *o, stn_status status, stn_error *err) {
    int32_t passed = s->tally[0] + (o->check ? 0 : s->tally[1]); // ok, check_failed
    int exit = passed == s->count ? STN_EXIT_DONE : STN_EXIT_CHECK_FAILED;
    if (status < 0) {
        exit = cli_fail_status(s->command, err);
    }
    if (!s->quiet || status < 0) {
        print_summary(s);
    }
    if (o->json && print_json(s, err) < 0) {
        exit = cli_fail_status(s->command, err);
    } else if (!o->json && o->csv == NULL) {
        cli_table_copy(&s->table, stdout); // main tells when that fails
    }
    return exit;
}

static int run(sweep *s, const sweep_options *o) {
    stn_error err = {0};
    stn_status status = prepare(s, o, &err);
    if (status >= 0) {
        status = cli_table_open(&s->table, o->csv, &s->columns, accept_row, s, &err);
    }
    if (status < 0) {
        return cli_fail_status(s->command, &err);
    }
    s->done = s->table.rows;
    cli_runs runs = list_runs(s, o);
    status = runs.count > 0 ? cli_runs_make(&runs, &err) : STN_OK;
    cli_progress_end(&s->progress);
    if (status >= 0 && s->err.status < 0) {
        err = s->err;
        status = s->err.status;
    }
    return finish(s, o, status, &err);
}

/// On another rank than the first one, which writes the table.
static int serve(sweep *s, const sweep_options *o) {
    stn_error err = {0};
    s->quiet = true;
    stn_status status = prepare(s, o, &err);
    cli_runs runs = list_runs(s, o);
    if (status >= 0) {
        status = cli_runs_serve(&runs, &err);
    }
    if (status < 0) {
        cli_runs_refuse(&runs, err.text);
    }
    return STN_EXIT_DONE;
}

static stn_status count_joined(void *user, int32_t index, const cli_texts *cells, stn_error *err) {
    (void)index, (void)err;
    sweep *s = user;
    count_end(s, cells->items[cli_texts_find(&s->table.columns, 0, "status")]);
    return STN_OK;
}

/// --join TABLE...
static int join(sweep *s, const cli_list *tables, const sweep_options *o) {
    if (o->varied.count + o->sets.count > 0 || o->seeds != CLI_UNSET || o->shard != NULL || o->in_process ||
        s->plan.strict || s->plan.untimed) {
        return cli_fail(s->command,
                        "--join makes no runs: leave --vary, --set, --seeds, --shard, --in-process, --strict "
                        "and --untimed");
    }
    stn_error err = {0};
    stn_status status = cli_join(tables, &s->table, &err);
    if (status >= 0) {
        s->count = s->table.rows;
        status = cli_table_read(&s->table, count_joined, s, &err);
    }
    if (status >= 0 && o->csv != NULL) {
        status = cli_join_write(&s->table, o->csv, &err);
        s->table.path = o->csv;
    }
    return status < 0 ? cli_fail_status(s->command, &err) : finish(s, o, status, &err);
}

static int check_options(sweep *s, const sweep_options *o, const cli_list *words) {
    const cli_command *command = s->command;
    if (words->count != 1 && !o->join) {
        return cli_fail(command, "expected one SCRIPT; several files are for --join");
    }
    if (o->shard != NULL && !cli_sweep_read_shard(o->shard, &s->plan.shard, &s->plan.shards)) {
        return cli_fail(command, "--shard %s: write I/N, one of 1/N, 2/N, ... N/N with N up to %d", o->shard,
                        CLI_SWEEP_MOST_SHARDS);
    }
    if (o->seeds < 1 && o->seeds != CLI_UNSET) {
        return cli_fail(command, "--seeds %d: must be at least 1", o->seeds);
    }
    if (o->seed < 0) {
        return cli_fail(command, "--seed %d: must be >= 0", o->seed);
    }
    if (o->jobs < 1 && o->jobs != CLI_UNSET) {
        return cli_fail(command, "--jobs %d: must be at least 1", o->jobs);
    }
    if (!(o->timeout > 0.0)) {
        return cli_fail(command, "--timeout %g: must be > 0 s", o->timeout);
    }
    return cli_keep_apart(command, words->items, words->count, &o->csv, 1);
}

static int run_sweep(void *self, const stn_command_call *call) {
    (void)self;
    cli_json_begin();
    sweep_options o = {.seeds = CLI_UNSET, .seed = 1, .jobs = CLI_UNSET, .timeout = INFINITY};
    sweep s = {.ranks = {.socket = -1, .count = 1}};
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
        {"in-process", 0, CLI_FLAG, NULL, "processes that make many runs each, not one", &o.in_process},
        {"untimed", 0, CLI_FLAG, NULL, "no wall times: the table is the same to the last byte on every try",
         &s.plan.untimed},
        {"shard", 0, CLI_TEXT, "I/N", "one of N parts: runs I - 1, I - 1 + N, ...", &o.shard},
        {"join", 0, CLI_FLAG, NULL, "the words are tables of all shards, or folders of them: makes the whole table",
         &o.join},
        {"quiet", 'q', CLI_FLAG, NULL, "no progress, no warnings, no summary", &s.quiet},
    };
    const cli_command command = {"sweep",
                                 "SCRIPT | TABLE...",
                                 "Runs a scenario over a grid of its parameters and of the options of stiction run; a "
                                 "row each, as CSV on stdout.",
                                 options,
                                 STN_COUNT(options),
                                 1,
                                 INT32_MAX};
    cli_list words;
    int status = cli_parse(&command, call->argc, call->argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    s.command = &command;
    s.plan.script = o.join ? NULL : words.items[0];
    status = check_options(&s, &o, &words);
    if (status == CLI_PROCEED && o.join) {
        status = join(&s, &words, &o);
    }
    if (status == CLI_PROCEED) {
        status = cli_ranks_begin(&command, call, &s.ranks);
    }
    if (status == CLI_PROCEED) {
        status = s.ranks.rank == 0 ? run(&s, &o) : serve(&s, &o);
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
