// SPDX-License-Identifier: Apache-2.0
// Recordings of a world: recorder plugins that see every step, and the run that some of them write down. A world knows
// of none of it: recording listens at its input hook, and is its first and its last observer. The first ends the
// journal's record of the step, because callers' observers may give inputs of the next one; the last shows the step to
// the recorders, with what the observers have plotted.
#include "record/recordings.h"
#include "record/run.h"

// ------------------------------------------------------------------------------------------------------------- a step

/// A run that cannot be written down ends the recordings that were to hold it.
static stn_status note_step(void *user, const stn_observation *o, stn_error *err) {
    (void)o;
    world_record *record = user;
    stn_status status = journal_step(&record->journal, err);
    for (int32_t i = 0; i < record->recording_count && status != STN_OK; i++) {
        record->recordings[i].failed = record->recordings[i].failed || record->recordings[i].wants_run;
    }
    return status;
}

/// Shows a recording the step. A failure is said once; the simulation's state is not lost.
static stn_status show(recording *r, const stn_observation *o, stn_error *err) {
    stn_answer_begin(err);
    stn_status status = r->instance->desc->ops.recorder->observe(r->recording, o, err);
    status = stn_answer_end(status, err);
    if (status < 0) {
        r->failed = true;
        stn_error_prefix(err, "recorder %s", r->instance->desc->id);
    }
    return status;
}

static stn_status show_step(void *user, const stn_observation *o, stn_error *err) {
    world_record *record = user;
    stn_status first = STN_OK;
    stn_error later = {0};
    for (int32_t i = 0; i < record->recording_count; i++) {
        recording *r = &record->recordings[i];
        stn_status status = r->failed ? STN_OK : show(r, o, first == STN_OK ? err : &later);
        first = first == STN_OK && status < 0 ? status : first;
    }
    stn_status captured = record_capture(record, o, first == STN_OK ? err : &later);
    return first == STN_OK ? captured : first;
}

// ----------------------------------------------------------------------------------------------------- with its world

static stn_status close_all(world_record *record, stn_error *err) {
    stn_status first = STN_OK;
    for (int32_t i = 0; i < record->recording_count; i++) {
        recording *r = &record->recordings[i];
        stn_status status = r->instance->desc->ops.recorder->close(r->recording, first == STN_OK ? err : NULL);
        first = first == STN_OK ? status : first;
        stn_instance_destroy(r->instance);
    }
    record->recording_count = 0;
    journal_clear(&record->journal);
    return first;
}

static void release_record(stn_world *world, void *data) {
    world_record *record = data;
    (void)close_all(record, NULL);
    record_release_captures(record);
    stn_release(world->services.context, record->recordings);
    stn_release(world->services.context, record);
}

world_record *record_find(const stn_world *world) {
    return stn_world_attached(world, release_record);
}

stn_status record_of(stn_world *world, world_record **out, stn_error *err) {
    *out = record_find(world);
    if (*out != NULL) {
        return STN_OK;
    }
    world_record *record = stn_allocate(world->services.context, 1, sizeof *record);
    if (record == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "recording: out of memory");
    }
    record->world = record->journal.world = world;
    stn_status status = stn_world_observe_at(world, OBSERVER_FIRST, note_step, record, err);
    if (status == STN_OK) {
        status = stn_world_observe_at(world, OBSERVER_LAST, show_step, record, err);
    }
    if (status == STN_OK) {
        status = stn_world_attach(world, release_record, record, err);
    }
    if (status != STN_OK) {
        stn_world_forget_observers(world, record);
        stn_release(world->services.context, record);
        return status;
    }
    *out = record;
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------- opening and closing

static stn_status open_recording(world_record *record, stn_instance *instance, const char *path, stn_error *err) {
    stn_world *world = record->world;
    size_t count = (size_t)record->recording_count;
    recording *grown = stn_reallocate(world->services.context, record->recordings, count, count + 1, sizeof *grown);
    if (grown == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "recording: out of memory");
    }
    record->recordings = grown;
    recording *r = &grown[count];
    *r = (recording){.instance = instance};
    const stn_recorder_ops *ops = instance->desc->ops.recorder;
    byte_stream run = bytes_writer(world->services.context);
    stn_status status = STN_OK;
    if (STN_PLUGIN_HAS(ops, needs) && (ops->needs & STN_RECORDER_NEEDS_RUN) != 0) {
        status = run_encode(world, record->journal.pending.size, &run, err);
        r->wants_run = true;
    }
    const stn_record_header header = {.model = world->setup->model,
                                      .path = path,
                                      .parameters = stn_world_parameters(world),
                                      .run = run.data,
                                      .run_size = run.size};
    if (status == STN_OK) {
        stn_answer_begin(err);
        status = stn_answer_end(ops->open(instance->self, &header, &r->recording, err), err);
    }
    bytes_clear(&run);
    if (status != STN_OK) {
        stn_error_prefix(err, "recorder %s", instance->desc->id);
        return status;
    }
    record->recording_count++;
    if (r->wants_run) {
        journal_begin(&record->journal);
    }
    if (world->state.step == 0) {
        stn_world_show_state(world);
        status = show(r, &world->observation, err);
    }
    return status;
}

stn_status stn_world_record(stn_world *world, stn_instance *recorder, const char *path, stn_error *err) {
    world_record *record = NULL;
    stn_status status = STN_OK;
    if (recorder->desc->kind != STN_KIND_RECORDER) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "%s is a %s, not a recorder", recorder->desc->id,
                          stn_kind_name(recorder->desc->kind));
    } else if (world->setup->model == NULL) {
        status = stn_world_compile(world, err);
    }
    if (status == STN_OK) {
        status = record_of(world, &record, err);
    }
    int32_t before = record != NULL ? record->recording_count : 0;
    if (status == STN_OK) {
        (void)stn_world_kinematics(world); // the energies of the start
        status = open_recording(record, recorder, path, err);
    }
    if (record == NULL || record->recording_count == before) {
        stn_instance_destroy(recorder);
    }
    return status;
}

stn_status stn_world_close_recordings(stn_world *world, stn_error *err) {
    world_record *record = record_find(world);
    return record != NULL ? close_all(record, err) : STN_OK;
}
