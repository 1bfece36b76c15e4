// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "common/print.h"
#include "common/progress.h"
#include "common/run_report.h"
#include "common/scenario.h"

// -------------------------------------------------------------------------------------------------------- assignments

/// The kinds of plugins that `stiction run` has an option for.
static const stn_kind kinds[] = {STN_KIND_SOLVER, STN_KIND_LAW, STN_KIND_INTEGRATOR, STN_KIND_CONTACT, STN_KIND_FACTOR};

/// Its options with numbers.
enum { DT, SECONDS, SEED, THREADS };
static const struct {
    const char *name;
    double least, most;
    bool whole;
    const char *range;
} numbers[] = {
    [DT] = {"dt", DBL_TRUE_MIN, INFINITY, false, "a number > 0 [s]"},
    [SECONDS] = {"seconds", 0.0, INFINITY, false, "a number >= 0 [s]"},
    [SEED] = {"seed", 0.0, INT32_MAX, true, "a whole number from 0 to 2147483647"},
    [THREADS] = {"threads", 1.0, 1024.0, true, "a whole number from 1 to 1024"},
};

/// "name=value", as the option of that name of `stiction run`, else as --set.
static stn_status assign(stn_session *session, const char *assignment, stn_error *err) {
    size_t length = strcspn(assignment, "=");
    const char *text = assignment + length + 1;
    for (int32_t i = 0; i < STN_COUNT(kinds); i++) {
        const char *known = stn_kind_name(kinds[i]);
        if (strlen(known) == length && strncmp(known, assignment, length) == 0) {
            const stn_plugin_info *info = NULL;
            session->plugin[kinds[i]] = text;
            stn_status status = stn_plugin_load(session->host.context, kinds[i], text, err);
            return status == STN_OK ? stn_plugin_find(session->host.context, kinds[i], text, &info, err) : status;
        }
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
        if (i == DT) {
            session->host.dt = value;
        } else if (i == SECONDS) {
            session->host.seconds = value;
        } else if (i == SEED) {
            session->host.seed = (int64_t)value;
        } else {
            session->host.threads = (int32_t)value;
        }
        return STN_OK;
    }
    if (strncmp(assignment, "stiction=", 9) == 0) {
        session->host.stiction = strcmp(text, "true") == 0;
        return session->host.stiction || strcmp(text, "false") == 0
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
        session->host.seed = plan->grid.first_seed + run;
    }
    return status;
}

// -------------------------------------------------------------------------------------------------------- in the child

/// What was stdout, for the report alone; the script's own output is nobody's. NULL when the system cannot do that.
static FILE *divert_output(void) {
    int report = dup(STDOUT_FILENO), nothing = open("/dev/null", O_WRONLY);
    return report >= 0 && nothing >= 0 && dup2(nothing, STDOUT_FILENO) >= 0 ? fdopen(report, "w") : NULL;
}

static void replace_infinite(cJSON *object, const char *name, double value) {
    if (isinf(value)) {
        cJSON_ReplaceItemInObjectCaseSensitive(object, name, cJSON_CreateRaw(value > 0.0 ? "1e999" : "-1e999"));
    }
}

int cli_sweep_run(const cli_sweep_plan *plan, int32_t run, FILE *report) {
    stn_error err = {0};
    stn_session session;
    cli_run_end end = {.script = plan->script};
    char text[1024];
    stn_session_init(&session, plan->context);
    stn_status status = plan->context == NULL ? stn_context_create(NULL, &session.host.context, &err) : STN_OK;
    if (status < 0) {
        return STN_EXIT_BAD_INPUT;
    }
    cli_count_tests(&session);
    double start = cli_seconds_now();
    status = assign_all(&session, plan, run, &err);
    if (status >= 0) {
        status = stn_session_run(&session, plan->script, &err);
    }
    end.wall = cli_seconds_now() - start;
    if (plan->strict && status >= 0) {
        cli_judge_strictly(&session);
    }
    cli_judge_run(&session, status, &err, &end.status);
    cJSON *json = cli_run_json(&session, &end);
    // JSON has no infinity, a table does: numbers too large for a double, which the parent reads as infinite.
    cJSON *results = cJSON_GetObjectItemCaseSensitive(json, "results");
    cJSON *check = cJSON_GetObjectItemCaseSensitive(json, "checks")->child;
    for (int32_t i = 0; i < session.result_count; i++) {
        replace_infinite(results, session.results[i].name, session.results[i].value);
    }
    for (int32_t i = 0; i < session.check_count; i++, check = check->next) {
        replace_infinite(check, "value", session.checks[i].value);
    }
    const char *reason = err.text;
    if (session.skipped != NULL) {
        snprintf(text, sizeof text, "skipped: %s", session.skipped);
        reason = text;
    } else if (strcmp(end.status, "exit") == 0) {
        reason = session.exit_text;
    } else if (strcmp(end.status, "check_failed") == 0 && !session.asserted) {
        reason = stn_session_failed_check(&session, 0, text, sizeof text);
    }
    cli_json_add_text(json, "reason", reason);
    char *printed = cJSON_PrintUnformatted(json);
    bool written = fputs(printed, report) >= 0;
    cJSON_free(printed);
    cJSON_Delete(json);
    stn_context *context = plan->context == NULL ? session.host.context : NULL;
    stn_session_clear(&session);
    stn_context_destroy(context);
    return written ? STN_EXIT_DONE : STN_EXIT_BAD_INPUT;
}

/// The run that is looked at, and where its world is kept.
typedef struct first_run {
    stn_session *session;
    const cli_sweep_folder *folder;
} first_run;

static void stop_at_first_step(void *user, stn_world *world) {
    const first_run *first = user;
    cli_sweep_keep_world(first->folder, world);
    stn_session_stop(first->session);
}

/// The session's overrides are all taken when the first step is made: a name that is none is found by then.
static stn_status check_names(stn_session *session, const cli_sweep_plan *plan, stn_error *err) {
    stn_error script = {0}, unused = {0};
    first_run first = {session, &plan->folder};
    session->begins = stop_at_first_step;
    session->begins_user = &first;
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
    if (failed && (status == STN_ERR_FILE || status == STN_ERR_PARSE || status == STN_ERR_PLUGIN ||
                   stn_session_check_overrides(session, &unused) < 0)) {
        return stn_fail(err, status, "%s", script.text);
    }
    // stopped, or what the runs will meet too
    for (int32_t i = 0; i < plan->grid.axis_count; i++) {
        const cli_axis *axis = &plan->grid.axes[i];
        const stn_parameter *p = NULL;
        for (int32_t k = 0; k < session->parameter_count; k++) {
            p = strcmp(session->parameters[k].name, axis->name) == 0 ? &session->parameters[k] : p;
        }
        for (int32_t k = 0; k < axis->count && p != NULL;
             k++) { // may a declared parameter have all values of its axis?
            const char *text = strchr(axis->assignments[k], '=') + 1;
            double value;
            if (p->type == STN_SCRIPT_NUMBER && !stn_parse_real(text, &value) && strcmp(text, "inf") != 0) {
                return stn_fail(err, STN_ERR_ARGUMENT, "%s: must be a number", axis->assignments[k]);
            }
            if (p->type == STN_SCRIPT_BOOL && strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
                return stn_fail(err, STN_ERR_ARGUMENT, "%s: must be true or false", axis->assignments[k]);
            }
        }
    }
    return STN_OK;
}

int cli_sweep_probe(const cli_sweep_plan *plan) {
    FILE *report = divert_output();
    stn_error err = {0};
    stn_session session;
    stn_session_init(&session, NULL);
    if (report == NULL) {
        return STN_EXIT_BAD_INPUT;
    }
    stn_status status = stn_context_create(NULL, &session.host.context, &err);
    if (status < 0) {
        fputs(err.text, report);
        fclose(report);
        return STN_EXIT_BAD_INPUT;
    }
    // Every value of every option, whatever the combination.
    stn_session trial;
    stn_session_init(&trial, session.host.context);
    for (int32_t i = 0; i < plan->grid.axis_count; i++) {
        for (int32_t k = 0; k < plan->grid.axes[i].count && status >= 0; k++) {
            status = assign(&trial, plan->grid.axes[i].assignments[k], &err);
        }
    }
    stn_session_clear(&trial);
    if (status >= 0) {
        status = check_names(&session, plan, &err);
    }
    fputs(err.text, report);
    fclose(report);
    stn_context *context = session.host.context;
    stn_session_clear(&session);
    stn_context_destroy(context);
    return status >= 0 ? STN_EXIT_DONE : STN_EXIT_BAD_INPUT;
}
