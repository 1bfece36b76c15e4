// SPDX-License-Identifier: Apache-2.0
// A recorder that keeps a run in memory, and playing it again.
#ifndef STN_TAPE_H
#define STN_TAPE_H

#include "stn_test.h"

#include <stdlib.h>
#include <string.h>

#include <stiction/record.h>
#include <stiction/replay.h>

typedef struct tape {
    unsigned char *run, *steps;
    size_t run_size, steps_size;
    int32_t count;
    size_t start[4096]; // of each step's record
    double signal;      // the first, as the last step shown had it
} tape;

static inline stn_status tape_open(void *self, const stn_record_header *header, void **recording, stn_error *err) {
    (void)self, (void)err;
    tape *t = NULL;
    assert_int_equal(sscanf(header->path, "%p", (void **)&t), 1);
    t->run = malloc(header->run_size);
    memcpy(t->run, header->run, header->run_size);
    t->run_size = header->run_size;
    *recording = t;
    return STN_OK;
}

static inline stn_status tape_observe(void *recording, const stn_observation *o, stn_error *err) {
    (void)err;
    tape *t = recording;
    t->signal = o->signal_count > 0 ? o->signals[0].value : 0.0;
    if (o->journal != NULL) {
        t->steps = realloc(t->steps, t->steps_size + o->journal_size);
        memcpy(t->steps + t->steps_size, o->journal, o->journal_size);
        t->start[t->count++] = t->steps_size;
        t->steps_size += o->journal_size;
    }
    return STN_OK;
}

static inline stn_status tape_close(void *recording, stn_error *err) {
    (void)recording, (void)err;
    return STN_OK;
}

static const stn_recorder_ops tape_ops = {.size = sizeof tape_ops,
                                          .extension = "tape",
                                          .open = tape_open,
                                          .observe = tape_observe,
                                          .close = tape_close,
                                          .needs = STN_RECORDER_NEEDS_RUN};
static const stn_plugin_desc tape_plugin = {.size = sizeof tape_plugin,
                                            .kind = STN_KIND_RECORDER,
                                            .id = "test_tape",
                                            .version = "1",
                                            .summary = "keeps a run in memory",
                                            .ops.recorder = &tape_ops};

static inline tape *tape_record(stn_world *world) {
    stn_context *context = stn_world_context(world);
    stn_instance *recorder = NULL;
    const stn_plugin_info *info = NULL;
    stn_error err;
    if (stn_plugin_find(context, STN_KIND_RECORDER, "test_tape", &info, NULL) != STN_OK) {
        assert_ok(stn_plugin_register(context, &tape_plugin, &err), err);
    }
    tape *t = calloc(1, sizeof *t);
    char path[64];
    snprintf(path, sizeof path, "%p", (void *)t);
    assert_ok(stn_instance_create(context, STN_KIND_RECORDER, "test_tape", NULL, 0, &recorder, &err), err);
    assert_ok(stn_world_record(world, recorder, path, &err), err);
    return t;
}

static inline void tape_drop(tape *t) {
    free(t->run);
    free(t->steps);
    free(t);
}

static inline stn_replay *tape_replay(stn_context *context, const tape *t, const stn_replay_options *options) {
    stn_replay *replay = NULL;
    stn_error err;
    assert_ok(stn_replay_create(context, t->run, t->run_size, options, &replay, &err), err);
    return replay;
}

/// Plays all steps; every one must be the same. Returns the hash of the state at the end.
static inline uint64_t tape_play(stn_context *context, const tape *t) {
    stn_replay *replay = tape_replay(context, t, NULL);
    stn_error err = {0};
    size_t at = 0;
    int32_t count = 0;
    while (at < t->steps_size) {
        size_t used = 0;
        stn_replay_difference d;
        stn_status status = stn_replay_step(replay, t->steps + at, t->steps_size - at, &used, &d, &err);
        if (status < 0 || d.differs) {
            fail_msg("step %d: %s %s (%g, %g)", count + 1, err.text, d.differs ? d.quantity : "", d.recorded,
                     d.replayed);
        }
        at += used;
        count++;
    }
    assert_int_equal(count, t->count);
    uint64_t hash = stn_world_hash(stn_replay_world(replay));
    stn_replay_destroy(replay);
    return hash;
}

#endif
