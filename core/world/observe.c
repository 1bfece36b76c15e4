// SPDX-License-Identifier: Apache-2.0
// Observers and recordings: what leaves a finished step.
#include <string.h>

#include "plugin/answer.h"
#include "world/run.h"

const char *stn_stage_name(stn_stage stage) {
    static const char *const names[STN_STAGE_COUNT] = {"inputs",   "kinematics", "collision",   "form",
                                                       "assembly", "solve",      "certificate", "advance"};
    return stage >= 0 && stage < STN_STAGE_COUNT ? names[stage] : NULL;
}

const char *stn_phase_name(stn_phase phase) {
    static const char *const names[STN_PHASE_COUNT] = {"broad_phase", "narrow_phase", "set_up",   "hessian",
                                                       "factor",      "line_search",  "observers"};
    return phase >= 0 && phase < STN_PHASE_COUNT ? names[phase] : NULL;
}

double stn_world_elastic_energy(stn_world *world) {
    double elements = world->observation.problem != NULL ? world->forces.elastic_energy : 0.0;
    return elements + stn_spring_energy(stn_world_kinematics(world)) + stn_step_equality_energy(world);
}

void stn_step_energies(stn_world *world) {
    stn_step_report *r = &world->report;
    r->kinetic_J = stn_kinetic_energy(world->kinematics);
    r->potential_J = stn_gravitational_energy(world->kinematics, world->state.gravity);
    r->elastic_J =
        world->forces.elastic_energy + stn_spring_energy(world->kinematics) + stn_step_equality_energy(world);
}

void stn_step_observation(stn_world *world) {
    bool solved = world->state.step > 0 && world->problem.trees != NULL;
    world->law = stn_world_law(world);
    world->observation = (stn_observation){
        .model = world->model,
        .step = world->state.step,
        .time = world->state.time,
        .dt = world->options.dt,
        .q = world->state.q,
        .v = world->state.v,
        .kinematics = world->kinematics,
        .contacts = solved ? &world->contacts : NULL,
        .problem = solved ? &world->problem : NULL,
        .solution_v = solved ? world->solution.v : NULL,
        .gamma = solved ? world->solution.gamma : NULL,
        .certificate = solved ? &world->certificate : NULL,
        .report = &world->report,
        .signal_count = world->signal_count,
        .signals = world->signals,
        .law = solved && world->law.ops != NULL ? &world->law : NULL,
    };
}

/// A run that cannot be written down ends the recordings that were to hold it.
static stn_status observe_journal(stn_world *world, stn_error *err) {
    stn_status status = stn_journal_step(world, err);
    for (int32_t i = 0; i < world->recording_count && status != STN_OK; i++) {
        world->recordings[i].failed = world->recordings[i].failed || world->recordings[i].wants_run;
    }
    return status;
}

/// Shows a recording the step. A failure is said once; the simulation's state is not lost.
static stn_status show(stn_world *world, recording *r, stn_error *err) {
    stn_answer_begin(err);
    stn_status status = r->instance->desc->ops.recorder->observe(r->recording, &world->observation, err);
    status = stn_answer_end(status, err);
    if (status < 0) {
        r->failed = true;
        stn_error_prefix(err, "recorder %s", r->instance->desc->id);
    }
    return status;
}

stn_status stn_step_observe(stn_world *world, stn_error *err) {
    stn_status journaled = observe_journal(world, err);
    if (journaled != STN_OK) {
        return journaled;
    }
    for (int32_t i = 0; i < world->observer_count; i++) {
        stn_status status = world->observers[i].call(world->observers[i].user, &world->observation, err);
        if (status < 0) {
            return status;
        }
    }
    for (int32_t i = 0; i < world->recording_count; i++) {
        recording *r = &world->recordings[i];
        if (r->failed) {
            continue;
        }
        stn_status status = show(world, r, err);
        if (status < 0) {
            return status;
        }
    }
    return world->captures != NULL ? stn_step_capture(world, err) : STN_OK;
}

const stn_observation *stn_world_observation(const stn_world *world) {
    return &world->observation;
}

stn_status stn_world_observe(stn_world *world, stn_observer call, void *user, stn_error *err) {
    size_t count = (size_t)world->observer_count;
    observer *grown = stn_reallocate(world->context, world->observers, count, count + 1, sizeof *grown);
    if (grown == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "observer: out of memory");
    }
    grown[count] = (observer){.call = call, .user = user};
    world->observers = grown;
    world->observer_count++;
    return STN_OK;
}

static bool needs_run(const stn_recorder_ops *ops) {
    return STN_PLUGIN_HAS(ops, needs) && (ops->needs & STN_RECORDER_NEEDS_RUN) != 0;
}

static stn_status open_recording(stn_world *world, stn_instance *instance, const char *path, stn_error *err) {
    size_t count = (size_t)world->recording_count;
    recording *grown = stn_reallocate(world->context, world->recordings, count, count + 1, sizeof *grown);
    if (grown == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "recording: out of memory");
    }
    world->recordings = grown;
    recording *r = &grown[count];
    *r = (recording){.instance = instance};
    byte_stream run = bytes_writer(world->context);
    stn_status status = STN_OK;
    if (needs_run(instance->desc->ops.recorder)) {
        status = stn_run_encode(world, &run, err);
        r->wants_run = true;
    }
    const stn_record_header header = {
        .model = world->model, .path = path, .parameters = world->parameters, .run = run.data, .run_size = run.size};
    const stn_recorder_ops *ops = instance->desc->ops.recorder;
    if (status == STN_OK) {
        stn_answer_begin(err);
        status = stn_answer_end(ops->open(instance->self, &header, &r->recording, err), err);
    }
    bytes_clear(&run);
    if (status != STN_OK) {
        stn_error_prefix(err, "recorder %s", instance->desc->id);
        return status;
    }
    world->recording_count++;
    if (r->wants_run && world->journal.readers++ == 0) {
        bytes_empty(&world->journal.pending);
    }
    if (world->state.step == 0) {
        stn_step_energies(world);
        stn_step_observation(world);
        status = show(world, r, err);
    }
    return status;
}

stn_status stn_world_record(stn_world *world, stn_instance *recorder, const char *path, stn_error *err) {
    stn_status status = STN_OK;
    if (recorder->desc->kind != STN_KIND_RECORDER) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "%s is a %s, not a recorder", recorder->desc->id,
                          stn_kind_name(recorder->desc->kind));
    } else if (world->model == NULL) {
        status = stn_world_compile(world, err);
    }
    if (status == STN_OK && world->kinematics_stale) {
        (void)stn_world_kinematics(world);
    }
    int32_t before = world->recording_count;
    if (status == STN_OK) {
        status = open_recording(world, recorder, path, err);
    }
    if (world->recording_count == before) {
        stn_instance_destroy(recorder);
    }
    return status;
}

stn_status stn_world_close_recordings(stn_world *world, stn_error *err) {
    stn_status first = STN_OK;
    for (int32_t i = 0; i < world->recording_count; i++) {
        recording *r = &world->recordings[i];
        stn_status status = r->instance->desc->ops.recorder->close(r->recording, first == STN_OK ? err : NULL);
        first = first == STN_OK ? status : first;
        stn_instance_destroy(r->instance);
    }
    world->recording_count = 0;
    stn_journal_clear(world);
    return first;
}

/// Number of the signal of that name, -1: none. They are plotted in the same order in every step, so the search begins
/// behind the last one.
static int32_t find_signal(const stn_world *world, const char *name) {
    for (int32_t i = 0; i < world->signal_count; i++) {
        int32_t k = (world->signal_next + i) % world->signal_count;
        if (strcmp(world->signals[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}

stn_status stn_world_plot(stn_world *world, const char *name, double value, stn_error *err) {
    int32_t known = find_signal(world, name);
    if (known >= 0) {
        world->signals[known].value = value;
        world->signal_next = known + 1;
        stn_journal_signal(world, known);
        return STN_OK;
    }
    size_t count = (size_t)world->signal_count;
    stn_signal *grown = stn_reallocate(world->context, world->signals, count, count + 1, sizeof *grown);
    char *copy = stn_duplicate_text(world->context, name);
    if (grown != NULL) {
        world->signals = grown;
    }
    if (grown == NULL || copy == NULL) {
        stn_release(world->context, copy);
        return stn_fail(err, STN_ERR_MEMORY, "signal %s: out of memory", name);
    }
    grown[count] = (stn_signal){.name = copy, .value = value};
    world->signal_count++;
    world->observation.signals = world->signals;
    world->observation.signal_count = world->signal_count;
    stn_journal_signal(world, (int32_t)count);
    return STN_OK;
}

stn_status stn_world_condition_number(stn_world *world, double *out, stn_error *err) {
    stn_law law = stn_world_law(world);
    *out = (double)NAN;
    if (world->observation.problem == NULL || law.ops == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "condition number: needs a step made, with a contact law");
    }
    stn_arena *scratch = stn_arena_create(world->context);
    if (scratch == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "condition number: out of memory");
    }
    stn_status status =
        stn_condition_number(&world->problem, world->solution.v, &law, world->law_memory, scratch, out, err);
    stn_arena_destroy(scratch);
    return status;
}
