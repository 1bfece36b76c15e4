// SPDX-License-Identifier: Apache-2.0
// Recorded runs: four bytes say how long the run is, records follow it. Blocks are sealed so that checksums do not keep
// all of them out. Whatever they hold, a replay is refused, fails with a line, or goes on.
#include <stdlib.h>
#include <string.h>

#include <stiction/replay.h>

#include "must.h"

static void seal(uint8_t *block, size_t size) {
    if (size >= 24) {
        uint64_t checksum = stn_hash(0, block, size - 8);
        memcpy(block + size - 8, &checksum, 8);
    }
}

/// The block in a run that begins with these letters; its length is the varint before them.
static void seal_part(uint8_t *run, size_t size, const char letters[8]) {
    for (size_t at = 1; at + 8 <= size; at++) {
        if (memcmp(run + at, letters, 8) != 0 || run[at - 1] >= 0x80) {
            continue;
        }
        size_t begin = at - 1, length = 0;
        while (begin > 0 && at - begin < 5 && run[begin - 1] >= 0x80) {
            begin--;
        }
        for (size_t k = at; k > begin; k--) {
            length = length << 7 | (run[k - 1] & 0x7f);
        }
        seal(run + at, length <= size - at ? length : 0);
        return;
    }
}

static void tell(const char *what, const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (values[i] != 0.0) {
            reached(what);
            return;
        }
    }
}

/// Inputs of the kinds that a journal has, as far as they show after a step.
static void tell_inputs(const stn_world *world, double dt, double gravity, double time) {
    const stn_state *s = stn_world_state(world);
    tell("reference", s->reference, s->sizes.reference_count);
    tell("effort", s->effort, s->sizes.nv);
    tell("wrench", s->wrench, s->sizes.wrench_count);
    if (s->sizes.kinematic_count > 0) { // what is told for a step is gone after it
        reached("kinematic");
    }
    tell("surface velocity", s->surface_velocity, s->sizes.surface_count);
    if (stn_world_dt(world) != dt) {
        reached("dt");
    }
    if (s->gravity.x != gravity) {
        reached("gravity");
    }
    if (s->time <= time) {
        reached("state");
    }
    if (strcmp(stn_world_plugin(world, STN_KIND_INTEGRATOR)->desc->id, "quasistatic") == 0) {
        reached("integrator");
    }
    for (int32_t i = 0; i < stn_world_controller_count(world); i++) {
        reached(stn_world_controller_weight(world, i) < 1.0 ? "activation" : "controller");
    }
}

static void play(stn_replay *replay, const uint8_t *records, size_t size) {
    stn_error err = {STN_OK, ""};
    size_t used = 0;
    const stn_world *world = stn_replay_world(replay);
    const double dt = stn_world_dt(world), gravity = stn_world_state(world)->gravity.x;
    for (int32_t i = 0; i < 20 && size > 0; i++) {
        stn_replay_difference difference;
        double time = stn_world_state(world)->time;
        stn_status status = stn_replay_step(replay, records, size, &used, &difference, &err);
        must(used <= size && (status >= 0 || err.text[0] != '\0') && (status < 0 || used > 0));
        if (status < 0) {
            return;
        }
        tell_inputs(world, dt, gravity, time);
        records += used;
        size -= used;
    }
    if (size == 0) {
        reached("accepted");
    }
}

static void ignore(void *user, stn_log_level level, const char *text) {
    (void)user, (void)level, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const stn_context_options options = {.log = ignore};
    uint32_t run_size = 0;
    if (size < sizeof run_size) {
        return 0;
    }
    memcpy(&run_size, data, sizeof run_size);
    data += sizeof run_size;
    size -= sizeof run_size;
    size_t split = run_size < size ? run_size : size;
    uint8_t *run = malloc(split + 1);
    must(run != NULL);
    memcpy(run, data, split);
    seal_part(run, split, "STNMODEL");
    seal_part(run, split, "STNSTATE");
    seal(run, split);
    stn_context *context = NULL;
    stn_replay *replay = NULL;
    stn_error err = {STN_OK, ""};
    must(stn_context_create(&options, &context, NULL) == STN_OK);
    stn_status status = stn_replay_create(context, run, split, NULL, &replay, &err);
    must((status == STN_OK) == (replay != NULL) && (status == STN_OK || err.text[0] != '\0'));
    if (replay != NULL) {
        play(replay, data + split, size - split);
    }
    stn_replay_destroy(replay);
    free(run);
    stn_context_destroy(context);
    return 0;
}
