// SPDX-License-Identifier: Apache-2.0
// What reached a world from outside between its steps, and what each step made of it: the bytes that a recorder writes
// down and stn_replay plays again (docs/replay.md).
#ifndef STICTION_CORE_WORLD_JOURNAL_H
#define STICTION_CORE_WORLD_JOURNAL_H

#include "base/bytes.h"

struct stn_world;
struct controller;

/// Arrays of the state that are set from outside; the numbers are those of files.
typedef enum journal_field {
    JOURNAL_Q,
    JOURNAL_V,
    JOURNAL_REFERENCE,
    JOURNAL_EFFORT,
    JOURNAL_WRENCH,
    JOURNAL_PRESCRIBED,
    JOURNAL_SURFACE,
    JOURNAL_ACTIVATION,
    JOURNAL_FIELD_COUNT
} journal_field;

typedef struct step_journal {
    int32_t readers;     // recordings that want it; nothing is written without
    byte_stream pending; // inputs since the last step
    byte_stream step;    // record of the last step: inputs, results
} step_journal;

// What was set, after it was: written as it stands in the world.
void stn_journal_assign(struct stn_world *world, journal_field field, size_t start, size_t count);
void stn_journal_dt(struct stn_world *world);
void stn_journal_gravity(struct stn_world *world);
void stn_journal_state(struct stn_world *world); // all of it, by reset or restore
void stn_journal_controller(struct stn_world *world, const struct controller *added);
void stn_journal_signal(struct stn_world *world, int32_t signal);
void stn_journal_clear(struct stn_world *world);

/// The record of the step just made becomes part of the observation. STN_ERR_MEMORY: it cannot be recorded.
stn_status stn_journal_step(struct stn_world *world, stn_error *err);

/// What a step made, to be compared.
typedef struct step_result {
    int64_t step;
    int32_t contacts, iterations, status;
    uint32_t q, v; // hashes of all coordinates and velocities
    double kinetic_J, potential_J;
} step_result;
/// `trees` (tree_count) gets a hash of each one's coordinates and velocities.
step_result stn_journal_result(const struct stn_world *world, uint16_t *trees);

/// One record: where its inputs lie, and the result. False when it is damaged.
bool stn_journal_read(byte_stream *b, int32_t tree_count, byte_stream *inputs, step_result *result,
                      const unsigned char **trees);
/// Does to the world what the inputs say. `adapt`: other plugins than when they were recorded.
stn_status stn_journal_apply(struct stn_world *world, byte_stream *inputs, bool adapt, stn_error *err);

#endif
