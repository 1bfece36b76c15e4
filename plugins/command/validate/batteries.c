// SPDX-License-Identifier: Apache-2.0
#include "validate.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "child.h"

/// A kind gets its battery here.
static const validate_battery *const batteries[] = {
    &validate_solvers,     &validate_factors,       &validate_integrators, &validate_laws,       &validate_contacts,
    &validate_controllers, &validate_elements,      &validate_loaders,     &validate_recorders,  &validate_commands,
    &validate_meshes,      &validate_problem_files, &validate_scripts,     &validate_constraints};

const validate_battery *validate_battery_of(stn_kind kind) {
    for (int32_t i = 0; i < STN_COUNT(batteries); i++) {
        if (batteries[i]->kind == kind) {
            return batteries[i];
        }
    }
    return NULL;
}

static void decide(validate_trial *trial, validate_verdict verdict, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

static void decide(validate_trial *trial, validate_verdict verdict, const char *format, va_list arguments) {
    if (trial->decided) {
        return;
    }
    trial->decided = true;
    trial->result.verdict = verdict;
    vsnprintf(trial->result.text, sizeof trial->result.text, format, arguments);
}

void trial_ok(validate_trial *trial, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    decide(trial, VALIDATE_OK, format, arguments);
    va_end(arguments);
}

void trial_fail(validate_trial *trial, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    decide(trial, VALIDATE_FAILED, format, arguments);
    va_end(arguments);
}

void trial_unsolved(validate_trial *trial, const char *format, ...) {
    va_list arguments;
    if (!trial->decided) {
        trial->result.cause = VALIDATE_UNSOLVED;
    }
    va_start(arguments, format);
    decide(trial, VALIDATE_FAILED, format, arguments);
    va_end(arguments);
}

void trial_skip(validate_trial *trial, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    decide(trial, VALIDATE_SKIPPED, format, arguments);
    va_end(arguments);
}

void trial_progress(validate_trial *trial, int32_t done, int32_t count) {
    const validate_request *r = trial->request;
    if (r->progress != NULL) {
        r->progress(r->progress_user, trial->check, done, count);
    }
}

bool trial_says(const validate_trial *trial, const char *word) {
    return stn_plugin_says(&(const stn_instance){.desc = trial->request->plugin->desc}, word);
}

stn_instance *trial_instance(validate_trial *trial, stn_kind kind) {
    const validate_request *r = trial->request;
    stn_instance *instance = NULL;
    stn_error err = {STN_OK, ""};
    if (stn_instance_create(r->context, kind, r->id, r->settings, r->setting_count, &instance, &err) != STN_OK) {
        trial_fail(trial, "cannot be made: %s", err.text);
        return NULL;
    }
    return instance;
}

static void load(validate_trial *trial) {
    stn_error refused = {STN_OK, ""};
    for (int kind = 0; kind < STN_KIND_COUNT; kind++) {
        (void)stn_plugin_load(trial->request->context, (stn_kind)kind, trial->request->id, &refused);
    }
    trial_ok(trial, "was loaded or refused");
}

stn_status validate_loading(stn_context *context, const char *path, double limit_s, stn_error *err) {
    static const validate_check check = {.name = "loading", .run = load};
    validate_request request = {.context = context, .id = path, .limit_s = limit_s};
    validate_result result;
    stn_status status = check_run_apart(&check, &request, &result, err);
    if (status == STN_OK && result.cause == VALIDATE_BROKEN) {
        return stn_fail(err, STN_ERR_PLUGIN, "%s: while it is loaded: %s", path, result.text);
    }
    return status;
}

stn_status validate_run(const validate_battery *battery, const validate_request *request,
                        void (*report)(void *user, const validate_check *check, const validate_result *result),
                        void *user, stn_error *err) {
    for (int32_t i = 0; i < battery->count; i++) {
        const validate_check *check = &battery->checks[i];
        if (request->pattern != NULL && strstr(check->name, request->pattern) == NULL) {
            continue;
        }
        validate_result result;
        stn_status status = check_run_apart(check, request, &result, err);
        if (status != STN_OK) {
            return status;
        }
        report(user, check, &result);
    }
    return STN_OK;
}
