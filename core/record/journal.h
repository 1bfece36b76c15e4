// SPDX-License-Identifier: Apache-2.0
// What reached a world from outside between its steps, and what each step made of it: the bytes that a recorder writes
// down and stn_replay plays again (docs/replay.md).
#ifndef STICTION_CORE_RECORD_JOURNAL_H
#define STICTION_CORE_RECORD_JOURNAL_H

#include "base/bytes.h"
#include "world/world.h"

typedef struct step_journal {
    stn_world *world;
    int32_t readers;     // recordings that want it; nothing is written without
    byte_stream pending; // inputs since the last step
    byte_stream step;    // record of the last step: inputs, results
} step_journal;

/// One reader more: from the first one on the journal listens at the world's input hook.
void journal_begin(step_journal *journal);
/// No readers any more.
void journal_clear(step_journal *journal);
/// The record of the step just made becomes part of the observation. STN_ERR_MEMORY: it cannot be recorded.
stn_status journal_step(step_journal *journal, stn_error *err);

/// What a step made, to be compared.
typedef struct step_result {
    int64_t step;
    int32_t contacts, iterations, status;
    uint32_t q, v; // hashes of all coordinates and velocities
    double kinetic_J, potential_J;
} step_result;
/// How many hashes tell whose coordinates and velocities differ. Up to 64 trees have one each. Of more, the trees stand
/// row by row in a square of the least size, and every row, every column and every diagonal (row + column modulo the
/// size) has one: 300 of 10,000 trees.
int32_t journal_hash_count(int32_t tree_count);
/// `hashes` (journal_hash_count of the model's trees) gets these.
step_result journal_result(const stn_world *world, uint16_t *hashes);
/// The first tree whose hashes differ, -1: none. In a square it is certain while one tree differs; where many do it may
/// be one that does not.
int32_t journal_differing_tree(int32_t tree_count, const unsigned char *recorded, const uint16_t *made);

/// One record: where its inputs lie, and the result. False when it is damaged.
bool journal_read(byte_stream *b, int32_t tree_count, byte_stream *inputs, step_result *result,
                  const unsigned char **hashes);
/// Does to the world what the inputs say. `adapt`: other plugins than when they were recorded.
stn_status journal_apply(stn_world *world, byte_stream *inputs, bool adapt, stn_error *err);

#endif
