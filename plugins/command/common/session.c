// SPDX-License-Identifier: Apache-2.0
// The session's life, and how it runs a script or a capsule.
#include "common/session.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <sys/stat.h>

#include "common/host.h"

static const stn_script_host_ops host_ops = {
    .size = sizeof host_ops,
    .parameter = stn_host_parameter,
    .options = stn_host_options,
    .choose = stn_host_choose,
    .step = stn_host_step,
    .end = stn_host_end,
    .begin = stn_host_begin,
    .touched = stn_host_touched,
    .until = stn_host_until,
    .stopped = stn_host_stopped,
    .check = stn_host_check,
    .result = stn_host_result,
    .claim = stn_host_claim,
    .skip = stn_host_skip,
    .leave = stn_host_leave,
    .declare_test = stn_host_declare_test,
    .tests = stn_host_tests,
    .group = stn_host_group,
};

void stn_session_init(stn_session *session, stn_context *context) {
    *session = (stn_session){.end_time = NAN};
    session->host = (stn_script_host){
        .size = sizeof session->host, .ops = &host_ops, .context = context, .dt = NAN, .seconds = NAN, .seed = -1};
    session->statistics.energy_first = NAN;
    session->statistics.total_first = session->statistics.total_last = NAN;
    session->statistics.energy_last = NAN;
}

void stn_session_clear(stn_session *session) {
    stn_context *context = session->host.context;
    stn_session_drop_worlds(session);
    stn_session_drop_choices(session);
    for (int32_t i = 0; i < session->parameter_count; i++) {
        stn_release(context, session->parameters[i].name);
        stn_release(context, session->parameters[i].text);
    }
    for (int32_t i = 0; i < session->check_count; i++) {
        stn_release(context, session->checks[i].name);
        stn_release(context, session->checks[i].unit);
    }
    for (int32_t i = 0; i < session->result_count; i++) {
        stn_release(context, session->results[i].name);
        stn_release(context, session->results[i].unit);
    }
    for (int32_t i = 0; i < session->override_count; i++) {
        stn_release(context, session->overrides[i].name);
    }
    stn_release(context, session->parameters);
    stn_release(context, session->checks);
    stn_release(context, session->results);
    stn_release(context, session->result_places);
    stn_release(context, session->overrides);
    stn_release(context, session->skipped);
    stn_statistics_clear(context, &session->statistics);
    *session = (stn_session){0};
}

// --------------------------------------------------------------------------------------------------------------- run

stn_status stn_session_run_by(stn_session *session, stn_instance *language, const char *script, stn_error *err) {
    stn_script_host *host = &session->host;
    host->path = script;
    host->output = session->record_count > 0 ? session->record_paths[0] : session->capture_file;
    host->lists_tests = session->runner.lists;
    host->isolates_tests = session->runner.tests != NULL && !session->runner.lists;
    session->running = language;
    stn_status status = language->desc->ops.script->run(language->self, host, err);
    session->running = NULL;
    stn_session_drop_worlds(session);
    host->path = NULL;
    // A script that skipped itself, or left with a status of its own, may not have come to its parameters. One that
    // caught the error of a recording has not written what the command line asked for.
    bool whole = status == STN_OK && session->skipped == NULL && !(session->exited && session->exit_status != 0);
    if (whole && session->unopened.status < 0) {
        return stn_fail(err, session->unopened.status, "%s", session->unopened.text);
    }
    return whole ? stn_session_check_overrides(session, err) : status;
}

stn_status stn_session_run(stn_session *session, const char *script, stn_error *err) {
    stn_context *context = session->host.context;
    const char *id = NULL, *dot = strrchr(script, '.');
    stn_instance *language = NULL;
    snprintf(session->ending, sizeof session->ending, "%s", dot != NULL ? dot : "");
    struct stat file;
    stn_status status;
    if (session->language != NULL) {
        id = session->language;
        status = stn_plugin_load(context, STN_KIND_SCRIPT, id, err);
    } else {
        status = stn_plugin_for_file(context, STN_KIND_SCRIPT, script, &id, err);
    }
    bool unknown = status == STN_ERR_PLUGIN && session->language == NULL;
    if (unknown && stat(script, &file) != 0) { // of a wrong path its ending says nothing
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s; give the path of a script", script,
                        strerror(errno));
    }
    if (unknown && S_ISDIR(file.st_mode)) {
        return stn_fail(err, STN_ERR_FILE, "%s: is a folder; give the path of a script", script);
    }
    if (status == STN_OK) {
        status = stn_instance_create(context, STN_KIND_SCRIPT, id, NULL, 0, &language, err);
    }
    if (status == STN_OK) {
        status = stn_session_run_by(session, language, script, err);
    }
    stn_instance_destroy(language);
    return status;
}

void stn_session_stop(stn_session *session) {
    session->stopped = 1;
    const stn_instance *language = session->running;
    if (language != NULL && STN_PLUGIN_HAS(language->desc->ops.script, stop)) {
        language->desc->ops.script->stop(language->self);
    }
}

/// Makes the step that failed, or the session's seconds, and ends the world.
stn_status stn_session_run_capsule(stn_session *session, const char *path, stn_error *err) {
    static const stn_kind kinds[] = {STN_KIND_SOLVER, STN_KIND_LAW, STN_KIND_CONTACT, STN_KIND_INTEGRATOR,
                                     STN_KIND_FACTOR};
    stn_script_host *host = &session->host;
    stn_replay_options options = {.threads = host->threads};
    stn_world *world = NULL;
    stn_status status = STN_OK;
    for (int i = 0; i < STN_COUNT(kinds) && status == STN_OK; i++) {
        status = stn_host_choose(host, stn_kind_name(kinds[i]), &options.plugin[kinds[i]], err);
    }
    if (status == STN_OK) {
        status = stn_session_check_overrides(session, err);
    }
    if (status == STN_OK) {
        status = stn_capsule_load(host->context, path, &options, &world, err);
    }
    if (status < 0) {
        return status;
    }
    status = isnan(host->dt) ? STN_OK : stn_world_set_dt(world, host->dt, err);
    double made = 0.0, seconds = isnan(host->seconds) ? stn_world_dt(world) : host->seconds;
    session->end_time = stn_world_state(world)->time + seconds;
    // half a millionth of a step forgives the rounding of a sum of many dt
    while (status >= 0 && made < seconds - 5e-7 * stn_world_dt(world)) {
        double dt = stn_world_dt(world);
        status = stn_host_step(host, world, err);
        made += dt;
    }
    session->end_time = NAN;
    stn_error closing = {STN_OK, ""};
    stn_status closed = stn_host_end(host, world, &closing);
    return status >= 0 && closed < 0 ? stn_fail(err, closed, "%s", closing.text) : status;
}
