// SPDX-License-Identifier: Apache-2.0
// What predictions of a world (predict.c) and their derivatives (derivative.c) share. Nothing here knows Lua.
#ifndef STICTION_SCRIPT_LUA_PREDICT_H
#define STICTION_SCRIPT_LUA_PREDICT_H

#include <stiction/stiction.h>

/// The position references of one controller within a command.
typedef struct stn_command_part {
    int32_t controller, start, count; // of the world; place in the command; one for each velocity of the target
} stn_command_part;

/// What a world keeps from one prediction to the next: clones that make the steps, and memory.
typedef struct stn_predictor {
    stn_context *context;
    stn_world *world;     // makes the predicted step; NULL: there is none yet
    stn_world *nearby;    // makes those at places nearby for derivatives; NULL: none was asked for
    stn_threads *threads; // of batches; NULL: none was asked for
    stn_world **more;     // (more_count) clones for all of them but the first; NULL likewise
    int32_t more_count;
    stn_snapshot *snapshot;                           // of the world that is predicted, at the time of the call
    stn_arena *arena;                                 // of one prediction
    stn_arena *island;                                // for derivatives, of one island
    stn_inverse *inverse;                             // for derivatives; NULL likewise
    void *workspace;                                  // of the solver, likewise
    void *memory;                                     // of the solver, zeros in `arena`; NULL: it has none
    int32_t part_count, part_capacity, command_count; // command_count: references of all parts
    stn_command_part *parts;                          // (part_count) by controller
} stn_predictor;

/// Where a predicted step starts; NULL: as the snapshot has it.
typedef struct stn_predict_input {
    const double *q;       // (nq)
    const double *v;       // (nv)
    const double *command; // (command_count)
} stn_predict_input;

/// Puts `world`, a clone, there.
stn_status stn_predict_place(const stn_predictor *predictor, stn_world *world, const stn_predict_input *input,
                             stn_error *err);
/// One step of `world`, a clone, from there. `start` (nq) receives the coordinates that it started from. As
/// stn_world_step.
stn_status stn_predict_step(const stn_predictor *predictor, stn_world *world, const stn_predict_input *input,
                            double *start, stn_error *err);

/// Gives up the snapshot; the next call takes one anew.
void stn_predict_release(stn_predictor *predictor);

/// How the next coordinates move with the commands and with those of the start, in velocity coordinates: column k
/// belongs to command k, and behind them, `by_q`, column command_count + i to velocity i.
typedef struct stn_predict_derivative {
    int32_t columns;
    double *dq; // (columns x nv) column after column, of the predictor's arena
} stn_predict_derivative;

/// At the step that predictor->world has just made from `input`, which states the command, with `start` as it was
/// received. Negative: there is none, and the text says why.
stn_status stn_predict_differentiate(stn_predictor *predictor, const stn_predict_input *input, const double *start,
                                     bool by_q, stn_predict_derivative *out, stn_error *err);
/// Fills columns->dv and ->unique of the step that predictor->world has just made, island by island; dgamma is not
/// asked for. An island that a column leaves as it is does not move. Negative: there is no derivative, and the text
/// says why.
stn_status stn_predict_sensitivity(stn_predictor *predictor, const stn_sensitivity *columns, stn_error *err);
/// Does the solver differentiate its solutions, and does what it solves move as differences of its data say? The text
/// names the plugin that does not.
stn_status stn_predict_can_differentiate(const stn_world *world, stn_error *err);
/// Gives up what belongs to the solver of predictor->world; before that is destroyed.
void stn_predict_forget(stn_predictor *predictor);

#endif
