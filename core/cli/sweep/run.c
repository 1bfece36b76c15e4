// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // strsignal
#include "cli/sweep/run.h"

#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/print.h"
#include "cli/progress.h"
#include "cli/run_report.h"
#include "cli/scenario.h"

// -------------------------------------------------------------------------------------------------------- assignments

/// The kind of plugin that `stiction run` has an option of this name for; STN_KIND_COUNT: none.
static stn_kind kind_of(const char *name, size_t length) {
    static const stn_kind kinds[] = {STN_KIND_SOLVER, STN_KIND_LAW, STN_KIND_INTEGRATOR, STN_KIND_CONTACT,
                                     STN_KIND_FACTOR};
    for (int32_t i = 0; i < STN_COUNT(kinds); i++) {
        const char *known = stn_kind_name(kinds[i]);
        if (strlen(known) == length && strncmp(known, name, length) == 0) {
            return kinds[i];
        }
    }
    return STN_KIND_COUNT;
}

/// Its options with numbers.
static const struct {
    const char *name;
    double least, most;
    bool whole;
    const char *range;
} numbers[] = {
    {"dt", DBL_TRUE_MIN, INFINITY, false, "a number > 0 [s]"},
    {"seconds", 0.0, INFINITY, false, "a number >= 0 [s]"},
    {"seed", 0.0, INT32_MAX, true, "a whole number from 0 to 2147483647"},
    {"threads", 1.0, 1024.0, true, "a whole number from 1 to 1024"},
};

static void assign_number(stn_session *session, int32_t which, double value) {
    switch (which) {
    case 0:
        session->dt = value;
        return;
    case 1:
        session->seconds = value;
        return;
    case 2:
        session->seed = (int64_t)value;
        return;
    default:
        session->threads = (int32_t)value;
    }
}

/// "name=value", as the option of that name of `stiction run`, else as --set.
static stn_status assign(stn_session *session, const char *assignment, stn_error *err) {
    size_t length = strcspn(assignment, "=");
    const char *text = assignment + length + 1;
    stn_kind kind = kind_of(assignment, length);
    if (kind != STN_KIND_COUNT) {
        const stn_plugin_info *info = NULL;
        session->plugin[kind] = text;
        return stn_plugin_find(session->context, kind, text, &info, err);
    }
    for (int32_t i = 0; i < STN_COUNT(numbers); i++) {
        double value;
        if (strlen(numbers[i].name) != length || strncmp(numbers[i].name, assignment, length) != 0) {
            continue;
        }
        if (!stn_parse_real(text, &value) || !(value >= numbers[i].least && value <= numbers[i].most) ||
            (numbers[i].whole && value != floor(value))) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: must be %s", assignment, numbers[i].range);
        }
        assign_number(session, i, value);
        return STN_OK;
    }
    if (strncmp(assignment, "stiction=", 9) == 0) {
        session->stiction = strcmp(text, "true") == 0;
        return session->stiction || strcmp(text, "false") == 0
                   ? STN_OK
                   : stn_fail(err, STN_ERR_ARGUMENT, "%s: must be true or false", assignment);
    }
    return stn_session_set(session, assignment, err);
}

static stn_status assign_all(stn_session *session, const cli_sweep_plan *plan, int32_t run, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < plan->grid.axis_count && status >= 0; i++) {
        status = assign(session, cli_grid_assignment(&plan->grid, run, i), err);
    }
    if (plan->grid.repeats > 0) {
        session->seed = plan->grid.first_seed + run;
    }
    return status;
}

// -------------------------------------------------------------------------------------------------------- in the child

/// What was stdout, for the report alone; the script's own output is nobody's. NULL when the system cannot do that.
static FILE *divert_output(void) {
    int report = dup(STDOUT_FILENO), nothing = open("/dev/null", O_WRONLY);
    return report >= 0 && nothing >= 0 && dup2(nothing, STDOUT_FILENO) >= 0 ? fdopen(report, "w") : NULL;
}

/// What a row says beside its figures.
static const char *reason_of(const stn_session *session, const char *word, const stn_error *err, char *text,
                             size_t size) {
    if (session->skipped != NULL) {
        snprintf(text, size, "skipped: %s", session->skipped);
        return text;
    }
    if (strcmp(word, "exit") == 0) {
        return session->exit_text;
    }
    bool checked = strcmp(word, "check_failed") == 0 && !session->asserted;
    return checked ? stn_session_failed_check(session, 0, text, size) : err->text;
}

int cli_sweep_run(const cli_sweep_plan *plan, int32_t run) {
    FILE *report = divert_output();
    stn_error err = {0};
    stn_session session;
    cli_run_end end = {.script = plan->script};
    char text[1024];
    stn_session_init(&session, NULL);
    stn_status status = stn_context_create(NULL, &session.context, &err);
    if (report == NULL || status < 0) {
        return CLI_BAD_INPUT;
    }
    cli_count_tests(&session);
    double start = cli_seconds_now();
    status = assign_all(&session, plan, run, &err);
    if (status >= 0) {
        status = stn_session_run(&session, plan->script, &err);
    }
    end.wall = cli_seconds_now() - start;
    cli_judge_run(&session, status, &err, &end.status);
    cJSON *json = cli_run_json(&session, &end);
    cli_json_add_text(json, "reason", reason_of(&session, end.status, &err, text, sizeof text));
    char *printed = cJSON_PrintUnformatted(json);
    bool written = fputs(printed, report) >= 0 && fclose(report) == 0;
    cJSON_free(printed);
    cJSON_Delete(json);
    stn_context *context = session.context;
    stn_session_clear(&session);
    stn_context_destroy(context);
    return written ? CLI_DONE : CLI_BAD_INPUT;
}

/// May a declared parameter have all values of its axis?
static stn_status check_values(const stn_session *session, const cli_axis *axis, stn_error *err) {
    const stn_parameter *p = NULL;
    for (int32_t i = 0; i < session->parameter_count; i++) {
        p = strcmp(session->parameters[i].name, axis->name) == 0 ? &session->parameters[i] : p;
    }
    for (int32_t i = 0; i < axis->count && p != NULL; i++) {
        const char *text = strchr(axis->assignments[i], '=') + 1;
        double value;
        if (p->type == STN_PARAMETER_NUMBER && !stn_parse_real(text, &value) && strcmp(text, "inf") != 0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: must be a number", axis->assignments[i]);
        }
        if (p->type == STN_PARAMETER_BOOL && strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: must be true or false", axis->assignments[i]);
        }
    }
    return STN_OK;
}

/// Every value of every option, whatever the combination.
static stn_status check_options(stn_session *session, const cli_grid *grid, stn_error *err) {
    stn_session trial;
    stn_session_init(&trial, session->context);
    stn_status status = STN_OK;
    for (int32_t i = 0; i < grid->axis_count; i++) {
        for (int32_t k = 0; k < grid->axes[i].count && status >= 0; k++) {
            status = assign(&trial, grid->axes[i].assignments[k], err);
        }
    }
    stn_session_clear(&trial);
    return status;
}

static void stop_at_first_step(void *user, stn_world *world) {
    (void)world;
    stn_session_stop(user);
}

/// The session's overrides are all taken when the first step is made: a name that is none is found by then.
static stn_status check_names(stn_session *session, const cli_sweep_plan *plan, stn_error *err) {
    stn_error script = {0}, unused = {0};
    session->begins = stop_at_first_step;
    session->begins_user = session;
    stn_status status = assign_all(session, plan, 0, err);
    if (status < 0) {
        return status;
    }
    status = stn_session_run(session, plan->script, &script);
    bool failed = status < 0 && session->stopped == 0;
    const char *refused = failed ? strstr(script.text, "--set") : NULL; // or given by --vary: "--set mu: ", "--set: "
    if (refused != NULL) {
        return stn_fail(err, status, "%s", refused + strcspn(refused, " ") + 1);
    }
    if (failed &&
        (status == STN_ERR_FILE || status == STN_ERR_PARSE || stn_session_check_overrides(session, &unused) < 0)) {
        return stn_fail(err, status, "%s", script.text);
    }
    status = STN_OK; // stopped, or what the runs will meet too
    for (int32_t i = 0; i < plan->grid.axis_count && status >= 0; i++) {
        status = check_values(session, &plan->grid.axes[i], err);
    }
    return status;
}

int cli_sweep_probe(const cli_sweep_plan *plan) {
    FILE *report = divert_output();
    stn_error err = {0};
    stn_session session;
    stn_session_init(&session, NULL);
    if (report == NULL) {
        return CLI_BAD_INPUT;
    }
    stn_status status = stn_context_create(NULL, &session.context, &err);
    if (status < 0) {
        fputs(err.text, report);
        fclose(report);
        return CLI_BAD_INPUT;
    }
    status = check_options(&session, &plan->grid, &err);
    if (status >= 0) {
        status = check_names(&session, plan, &err);
    }
    fputs(err.text, report);
    fclose(report);
    stn_context *context = session.context;
    stn_session_clear(&session);
    stn_context_destroy(context);
    return status >= 0 ? CLI_DONE : CLI_BAD_INPUT;
}

// -------------------------------------------------------------------------------------------------------------- rows

/// Columns that come from the report of a run: column, member, member of that.
static const struct {
    const char *column, *member, *part;
} figures[] = {
    {"real_time_factor", "real_time_factor", NULL}, {"steps", "steps", NULL},
    {"simulated_s", "simulated_s", NULL},           {"iterations_mean", "iterations", "mean"},
    {"iterations_max", "iterations", "max"},        {"not_converged", "not_converged", NULL},
    {"contacts_mean", "contacts", "mean"},          {"contacts_max", "contacts", "max"},
};

static const char *const residuals[] = {
#define RESIDUAL_NAME(member, name, unit, text) name,
    STN_CERTIFICATE_FIELDS(RESIDUAL_NAME)
#undef RESIDUAL_NAME
};

int32_t cli_sweep_key_count(const cli_sweep_plan *plan) {
    return 1 + plan->grid.axis_count + (plan->grid.repeats > 0) + 1;
}

static bool add_own_columns(cli_texts *columns) {
    static const char *const first[] = {"status", "wall_s"}, *const last[] = {"checks_failed", "reason"};
    bool added = true;
    for (int32_t i = 0; i < STN_COUNT(first); i++) {
        added = added && cli_texts_add(columns, first[i]);
    }
    for (int32_t i = 0; i < STN_COUNT(figures); i++) {
        added = added && cli_texts_add(columns, figures[i].column);
    }
    for (int32_t i = 0; i < STN_COUNT(residuals); i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_max", residuals[i]);
        added = added && cli_texts_add(columns, name);
    }
    for (int32_t i = 0; i < STN_COUNT(last); i++) {
        added = added && cli_texts_add(columns, last[i]);
    }
    return added;
}

/// A parameter that is named like a column of ours has one that begins with "set.".
static bool add_axis_column(cli_texts *columns, const cli_texts *own, const char *name) {
    char prefixed[256];
    bool taken = strcmp(name, "run") == 0 || strcmp(name, "script") == 0 || cli_texts_find(own, 0, name) >= 0;
    snprintf(prefixed, sizeof prefixed, "set.%s", name);
    return cli_texts_add(columns, taken ? prefixed : name);
}

bool cli_sweep_columns(const cli_sweep_plan *plan, cli_texts *columns) {
    cli_texts own = {0};
    bool added = add_own_columns(&own) && cli_texts_add(columns, "run");
    for (int32_t i = 0; i < plan->grid.axis_count && added; i++) {
        added = add_axis_column(columns, &own, plan->grid.axes[i].name);
    }
    if (plan->grid.repeats > 0) {
        added = added && cli_texts_add(columns, "seed");
    }
    added = added && cli_texts_add(columns, "script") && add_own_columns(columns);
    cli_texts_clear(&own);
    return added;
}

static bool add_whole(cli_texts *cells, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return cli_texts_add(cells, text);
}

static bool add_real(cli_texts *cells, double value) {
    char text[40];
    stn_print_real(text, sizeof text, value);
    return cli_texts_add(cells, text);
}

bool cli_sweep_key(const cli_sweep_plan *plan, int32_t run, cli_texts *cells) {
    bool added = add_whole(cells, run);
    for (int32_t i = 0; i < plan->grid.axis_count; i++) {
        added = added && cli_texts_add(cells, cli_grid_value(&plan->grid, run, i));
    }
    if (plan->grid.repeats > 0) {
        added = added && add_whole(cells, plan->grid.first_seed + run);
    }
    return added && cli_texts_add(cells, plan->hash);
}

/// A number; nothing where there is none.
static bool add_figure(cli_texts *cells, const cJSON *item) {
    return cJSON_IsNumber(item) ? add_real(cells, item->valuedouble) : cli_texts_add(cells, "");
}

static const cJSON *member(const cJSON *json, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(json, name);
}

static bool add_results(const cJSON *json, cli_texts *names, cli_texts *values) {
    bool added = true;
    const cJSON *item;
    cJSON_ArrayForEach(item, member(json, "results")) {
        char name[512];
        snprintf(name, sizeof name, "result.%s", item->string);
        added = added && cli_texts_add(names, name) &&
                add_real(values, cJSON_IsNumber(item) ? item->valuedouble : (double)NAN);
    }
    return added;
}

/// A check that failed before one that did not.
static const cJSON *worst_of(const cJSON *checks, const char *name) {
    const cJSON *item, *found = NULL;
    cJSON_ArrayForEach(item, checks) {
        bool same = strcmp(member(item, "name")->valuestring, name) == 0;
        if (same && (found == NULL || (cJSON_IsTrue(member(found, "ok")) && cJSON_IsFalse(member(item, "ok"))))) {
            found = item;
        }
    }
    return found;
}

/// The value that was checked, 1 or 0 for a check of true or false. A failed assertion, which is the reason, is no
/// column.
static bool add_checks(const cJSON *json, cli_texts *names, cli_texts *values) {
    const cJSON *item, *checks = member(json, "checks"), *reason = member(json, "reason");
    bool added = true;
    cJSON_ArrayForEach(item, checks) {
        const char *check = member(item, "name")->valuestring;
        char name[512];
        snprintf(name, sizeof name, "check.%s", check);
        if (cli_texts_find(names, 0, name) >= 0 ||
            (cJSON_IsString(reason) && strcmp(reason->valuestring, check) == 0)) {
            continue;
        }
        const cJSON *worst = worst_of(checks, check), *value = member(worst, "value");
        double truth = cJSON_IsTrue(member(worst, "ok")) ? 1.0 : 0.0;
        bool has_value = cJSON_IsNumber(member(worst, "limit"));
        added = added && cli_texts_add(names, name) &&
                add_real(values, !has_value              ? truth
                                 : cJSON_IsNumber(value) ? value->valuedouble
                                                         : (double)NAN);
    }
    return added;
}

static int32_t count_failed(const cJSON *json) {
    const cJSON *item;
    int32_t failed = 0;
    cJSON_ArrayForEach(item, member(json, "checks")) {
        failed += cJSON_IsFalse(member(item, "ok"));
    }
    return failed;
}

/// The cells of a run that left a report.
static bool add_report(const cJSON *json, cli_texts *cells, cli_texts *names, cli_texts *values) {
    const char *word = member(json, "status")->valuestring;
    const cJSON *reason = member(json, "reason"), *certificate = member(json, "certificate");
    bool ended = strcmp(word, "error") != 0 && strcmp(word, "exit") != 0;
    bool added = cli_texts_add(cells, ended ? word : "failed") && add_figure(cells, member(json, "wall_s"));
    for (int32_t i = 0; i < STN_COUNT(figures); i++) {
        const cJSON *item = member(json, figures[i].member);
        added = added && add_figure(cells, figures[i].part != NULL ? member(item, figures[i].part) : item);
    }
    for (int32_t i = 0; i < STN_COUNT(residuals); i++) {
        added = added && add_figure(cells, member(member(certificate, residuals[i]), "max"));
    }
    added = added && add_whole(cells, count_failed(json));
    added = added && cli_texts_add(cells, cJSON_IsString(reason) ? reason->valuestring : "");
    return added && add_results(json, names, values) && add_checks(json, names, values);
}

/// The cells of one that did not.
static bool add_end(const cli_job_end *end, cli_texts *cells) {
    char reason[96];
    if (end->outcome == CLI_JOB_TIMEOUT) {
        snprintf(reason, sizeof reason, "ended after its time");
    } else if (end->outcome == CLI_JOB_CRASHED) {
        snprintf(reason, sizeof reason, "ended by signal %d (%s)", end->code, strsignal(end->code));
    } else {
        snprintf(reason, sizeof reason, "ended with exit status %d and no report", end->code);
    }
    bool added = cli_texts_add(cells, end->outcome == CLI_JOB_TIMEOUT ? "timeout" : "crashed");
    added = added && add_real(cells, end->seconds);
    for (int32_t i = 0; i < STN_COUNT(figures) + STN_COUNT(residuals) + 1 && added; i++) {
        added = cli_texts_add(cells, "");
    }
    return added && cli_texts_add(cells, reason);
}

/// All that the file holds; NULL: out of memory.
static char *read_all(FILE *file) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory != NULL) {
        cli_job_print(file, memory);
        fclose(memory);
    }
    return text;
}

bool cli_sweep_row(const cli_sweep_plan *plan, int32_t run, const cli_job_end *end, cli_texts *cells, cli_texts *names,
                   cli_texts *values) {
    char *text = read_all(end->output);
    cJSON *json = text != NULL && end->outcome == CLI_JOB_EXITED ? cJSON_Parse(text) : NULL;
    bool added = text != NULL && cli_sweep_key(plan, run, cells) &&
                 (json != NULL ? add_report(json, cells, names, values) : add_end(end, cells));
    cJSON_Delete(json);
    free(text);
    return added;
}
