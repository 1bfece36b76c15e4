// SPDX-License-Identifier: Apache-2.0
// Engines that run one scene beside each other, in turns of a few steps, so that all see the same load of the machine.
// Times are wall times; where steps take longer than a turn of the clock matters, those of the thread alone. An engine
// that has taken its time is stopped: what it says then is of the beginning of the scene.
#ifndef BENCH_PEERS_RACE_H
#define BENCH_PEERS_RACE_H

#include "scene.h"

enum { RACE_TURN = 20 }; // steps

/// One engine in one scene.
typedef struct race_run {
    const peer_engine *engine;
    const char *name;
    peer_scene own; // of another solver of ours; else empty
    void *self;
    double *us; // (made) of each step
    int32_t made, steps;
    double spent, longest;                 // [us], and what it may take
    double iterations, contacts, momentum; // sums, momentum: largest
    bool over;
    double *error; // (error_count) of the last step of each turn, where it is watched
    int32_t error_count;
    double *q, *q_before, *v; // (nq), (nq), (nv) of the energy
    double least, rise;       // of the energy: smallest so far, largest rise above that [J]
} race_run;

/// A run of `steps` by an engine; `setting`: see peer_engine, NULL: its defaults. `watched`: errors of steps are taken.
/// False: it cannot hold the scene.
bool race_begin(race_run *run, const peer_scene *scene, const peer_engine *engine, const char *setting, int32_t steps,
                double longest_us, bool watched);
/// Runs all to their ends, or until the clock says `end_us` (now_us of bench_time.h; may be infinite).
void race(const peer_scene *scene, race_run *runs, int32_t count, double end_us);
void race_end(race_run *run);

#endif
