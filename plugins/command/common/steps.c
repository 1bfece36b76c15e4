// SPDX-License-Identifier: Apache-2.0
// The worlds of a script: what happens around each of their steps.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/solve.h>

#include "common/host.h"

/// A world that steps.
struct stn_followed {
    stn_session *session;
    stn_world *world;
    stn_followed *next;
    stn_host_opens opens; // NULL: nobody asks
    void *user;
    int32_t number;            // 1-based order in which it first stepped
    int64_t made;              // steps, whatever reset or restore did to the state's number
    bool keeps;                // a recording for session->keep is open
    bool refused;              // it cannot be opened, or those of the command line cannot: session->unopened
    stn_world_account account; // of the session's statistics
};

/// The entry of a world, moved to the front; NULL: it has not begun.
static stn_followed *find(stn_session *session, const stn_world *world) {
    for (stn_followed **place = &session->followed; *place != NULL; place = &(*place)->next) {
        stn_followed *found = *place;
        if (found->world == world) {
            *place = found->next;
            found->next = session->followed;
            session->followed = found;
            return found;
        }
    }
    return NULL;
}

// -------------------------------------------------------------------------------------------------------------- begin

/// Sizes and plugins for the summary.
static void describe(stn_session *session, const stn_world *world) {
    const stn_model *model = stn_world_model(world);
    session->described = true;
    session->body_count = model->body_count - 1;
    session->nq = model->nq;
    session->nv = model->nv;
    for (stn_kind kind = 0; kind < STN_KIND_COUNT; kind++) {
        const stn_instance *plugin = stn_world_plugin(world, kind);
        session->plugin_used[kind] = plugin != NULL ? plugin->desc->id : NULL;
    }
    // the momentum of what a solver of impulses leaves is balanced whatever the impulses are, since the core completes
    // v
    const stn_instance *solver = stn_world_plugin(world, STN_KIND_SOLVER);
    session->judged = STN_SAMPLE_momentum;
    if (solver->desc->ops.solver->yields == STN_YIELDS_IMPULSE) {
        stn_formulation formulation = stn_solver_formulation(solver);
        bool convex = formulation == STN_CCP || formulation == STN_REGULARIZED || formulation == STN_QP;
        session->judged = convex ? STN_SAMPLE_natural_ccp : STN_SAMPLE_natural_ncp;
    }
}

static stn_status observe(void *user, const stn_observation *o, stn_error *err) {
    stn_followed *f = user;
    stn_session *session = f->session;
    if (o->report == NULL || !stn_account_begun(&f->account)) {
        return STN_OK; // not a step of the script's
    }
    stn_status status = stn_account_observe(&f->account, session->host.context, o, err);
    if (status == STN_OK && session->progress != NULL) {
        session->progress(session->progress_user, o, session->end_time);
    }
    return status;
}

static stn_status open_recorder(const stn_followed *f, const char *path, stn_error *err) {
    stn_context *context = f->session->host.context;
    stn_plugin_choice choice = {0};
    stn_instance *recorder = NULL;
    stn_status status = stn_plugin_for_file(context, STN_KIND_RECORDER, path, &choice.id, err);
    if (status >= 0 && f->opens != NULL) {
        status = f->opens(f->user, f->world, &choice, err);
    }
    if (status >= 0) {
        status = stn_instance_create(context, STN_KIND_RECORDER, choice.id, choice.settings, choice.setting_count,
                                     &recorder, err);
    }
    return status >= 0 ? stn_world_record(f->world, recorder, path, err) : status;
}

/// A world whose recordings cannot be opened makes no step, whatever the script does about the error.
static stn_status refuse_unopened(stn_followed *f, stn_status status, const stn_error *err) {
    stn_error *unopened = &f->session->unopened;
    if (status < 0) {
        f->refused = true;
        if (err != NULL) {
            *unopened = *err;
        } else {
            stn_fail(unopened, status, "a recording cannot be opened: %s", stn_status_text(status));
        }
        unopened->status = status;
    }
    return status;
}

/// The first world that steps is the one that the run is about: the summary describes it, and it gets what the command
/// line asked for.
static stn_status begin_first(stn_followed *f, stn_error *err) {
    stn_session *session = f->session;
    session->stepped = true;
    f->account.first = true;
    describe(session, f->world);
    stn_status status = STN_OK;
    for (int32_t i = 0; i < session->record_count && status >= 0; i++) {
        status = open_recorder(f, session->record_paths[i], err);
    }
    stn_capture_options capture = {.file = session->capture_file,
                                   .every = session->capture_every,
                                   .form = session->capture_local ? STN_FORM_LOCAL : STN_FORM_GLOBAL};
    char title[256]; // "scripts/clutter.lua": "clutter"
    const char *path = session->host.path;
    if (path != NULL) {
        const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path, *dot = strrchr(name, '.');
        snprintf(title, sizeof title, "%.*s", (int)(dot != NULL ? (size_t)(dot - name) : strlen(name)), name);
        capture.title = title;
    }
    if (status >= 0 && capture.file != NULL) {
        status = stn_world_capture(f->world, &capture, err);
    }
    if (status >= 0 && session->begins != NULL) {
        session->begins(session->begins_user, f->world);
    }
    return status;
}

static stn_status check_stop(const stn_session *session, stn_error *err) {
    return session->stopped == 0 ? STN_OK : stn_fail(err, STN_ERR_INTERRUPTED, "interrupted");
}

stn_status stn_host_begin(stn_script_host *host, stn_world *world, stn_host_opens opens, void *user, stn_error *err) {
    stn_session *session = session_of(host);
    stn_status status = world != NULL ? check_stop(session, err) : stn_fail(err, STN_ERR_ARGUMENT, "there is no world");
    stn_followed *f = status >= 0 ? find(session, world) : NULL;
    if (f != NULL && f->refused) {
        return stn_fail(err, session->unopened.status, "%s", session->unopened.text);
    }
    if (status < 0 || f != NULL) {
        return status;
    }
    status = stn_world_compile(world, err);
    f = status >= 0 ? stn_allocate(host->context, 1, sizeof *f) : NULL;
    if (f == NULL) {
        return status < 0 ? status : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    *f = (stn_followed){
        .session = session,
        .world = world,
        .opens = opens,
        .user = user,
        .number = ++session->world_count,
        .account = {.statistics = &session->statistics, .profiled = host->profile, .mechanical.energy = NAN}};
    status = stn_world_observe(world, observe, f, err);
    if (status < 0) {
        stn_release(host->context, f);
        return status;
    }
    f->next = session->followed;
    session->followed = f;
    return session->stepped ? STN_OK : refuse_unopened(f, begin_first(f, err), err);
}

// --------------------------------------------------------------------------------------------------------------- step

/// Does the session keep the last steps of this world?
static bool is_kept(const stn_followed *f) {
    return f->session->keep != NULL && f->session->keep->until.world == f->number;
}

/// At the mark the recording ends, and with it the script, unless the step after it is wanted.
static stn_status keep_after(stn_followed *f, stn_error *err) {
    stn_session *session = f->session;
    const stn_keepsake *keep = session->keep;
    if (session->mark != NULL) {
        *session->mark = (stn_step_mark){f->number, f->made, stn_world_dt(f->world)};
    }
    if (!is_kept(f) || f->made != keep->until.made) {
        return STN_OK;
    }
    stn_error why = {.status = STN_ERR_ARGUMENT};
    snprintf(why.text, sizeof why.text, "%s", keep->reason);
    stn_status status = stn_world_close_recordings(f->world, err);
    if (status < 0 || keep->goes_on) {
        return status;
    }
    status = stn_world_save_capsule(f->world, &why, keep->capsule, err);
    stn_session_stop(session);
    return status < 0 ? status : stn_fail(err, STN_ERR_INTERRUPTED, "kept");
}

stn_status stn_host_step(stn_script_host *host, stn_world *world, stn_error *err) {
    stn_session *session = session_of(host);
    stn_status status = stn_host_begin(host, world, NULL, NULL, err);
    if (status >= 0) {
        status = check_stop(session, err); // the command's begins may have asked for it
    }
    if (status < 0) {
        return status;
    }
    stn_followed *f = session->followed;
    const stn_keepsake *keep = session->keep;
    if (is_kept(f) && !f->keeps && f->made >= keep->from) {
        f->keeps = true;
        status = refuse_unopened(f, open_recorder(f, keep->recording, err), err);
    }
    if (status >= 0) {
        status = stn_account_before(&f->account, world, err);
    }
    if (status < 0) {
        return status;
    }
    int64_t before = stn_world_state(world)->step;
    session->stepping = world;
    status = stn_world_step(world, err);
    session->stepping = NULL;
    f->made += stn_world_state(world)->step != before; // a step stands whose observer failed
    if (status == STN_ERR_DIVERGED || status == STN_ERR_NUMERIC) {
        stn_failure *failure = &session->failure; // a capsule keeps what the step was made of
        const stn_state *state = stn_world_state(world);
        stn_error unsaved = {0};
        err->status = status;
        *failure = (stn_failure){.status = status, .step = state->step, .time = state->time};
        memcpy(failure->text, err->text, sizeof failure->text);
        if (session->failure_path != NULL) {
            if (stn_world_save_capsule(world, err, session->failure_path, &unsaved) >= 0) {
                snprintf(failure->saved, sizeof failure->saved, "%s", session->failure_path);
            } else {
                stn_log(host->context, STN_LOG_ERROR, "the failed step could not be kept: %s", unsaved.text);
            }
        }
    }
    if (status < 0) {
        return status;
    }
    stn_status kept = keep_after(f, err);
    return kept < 0 ? kept : status;
}

// ---------------------------------------------------------------------------------------------------------------- end

stn_status stn_host_end(stn_script_host *host, stn_world *world, stn_error *err) {
    stn_session *session = session_of(host);
    if (world == NULL) {
        return STN_OK;
    }
    stn_followed *f = find(session, world);
    if (f != NULL) {
        session->followed = f->next;
        stn_account_end(&f->account, world);
    } else if (!session->described && stn_world_model(world) != NULL) {
        describe(session, world); // a run without a step is about the first world that ends
    }
    stn_status status = stn_world_close_recordings(world, err);
    stn_world_destroy(world);
    stn_release(host->context, f);
    return status;
}

void stn_session_drop_worlds(stn_session *session) {
    while (session->followed != NULL) {
        stn_followed *f = session->followed;
        session->followed = f->next;
        session->left_count++;
        stn_account_drop(&f->account, session->host.context);
        stn_release(session->host.context, f);
    }
}

void stn_host_touched(stn_script_host *host, stn_world *world) {
    stn_followed *f = find(session_of(host), world);
    if (f != NULL) {
        f->account.touched = true;
    }
}

void stn_host_until(stn_script_host *host, double time) {
    session_of(host)->end_time = time;
}

bool stn_host_stopped(const stn_script_host *host) {
    return ((const stn_session *)host)->stopped != 0;
}
