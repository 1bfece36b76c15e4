// SPDX-License-Identifier: Apache-2.0
// What recording keeps with a world: its open recordings, the journal that they need, and what is captured.
#ifndef STICTION_CORE_RECORD_RECORDINGS_H
#define STICTION_CORE_RECORD_RECORDINGS_H

#include <stiction/record.h>

#include "record/journal.h"
#include "world/world.h"

typedef struct recording {
    stn_instance *instance;
    void *recording;
    bool failed;
    bool wants_run; // it writes what replay needs
} recording;

typedef struct problem_capture problem_capture; // capture.c

typedef struct world_record {
    stn_world *world;
    step_journal journal;
    recording *recordings;
    int32_t recording_count;
    problem_capture *captures; // in the order of adding, NULL: none
} world_record;

/// That of a world, NULL: nothing of it was recorded yet.
world_record *record_find(const stn_world *world);
/// That of a world, made when there is none; it then sees every step, and inputs while a recording needs the run.
stn_status record_of(stn_world *world, world_record **out, stn_error *err);

// capture.c
stn_status record_capture(const world_record *record, const stn_observation *o,
                          stn_error *err); // of the step just made
void record_release_captures(world_record *record);

#endif
