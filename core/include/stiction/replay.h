// SPDX-License-Identifier: Apache-2.0
// Recorded runs, played again without whoever drove them: docs/replay.md.
#ifndef STICTION_REPLAY_H
#define STICTION_REPLAY_H

#include <stiction/batch.h>

STN_BEGIN_C

/// A recorded run at one of its steps, with a world of its own.
typedef struct stn_replay stn_replay;

/// What to use instead of what was recorded, for solver, law, contact, integrator and factor. id NULL is the recorded
/// plugin, and its settings come on top of the recorded ones; another plugin has its default parameters otherwise. A
/// choice that differs starts without the memory of the plugin before.
typedef struct stn_replay_options {
    int32_t threads;                          // 0: as recorded
    stn_plugin_choice plugin[STN_KIND_COUNT]; // by kind; kinds are added at the end
} stn_replay_options;

/// Where a step departs from the recorded one.
typedef struct stn_replay_difference {
    bool differs;         // false: the bytes are equal, and nothing below counts
    const char *quantity; // "step", "q", "v", "q and v", "contacts", "iterations" or "status"; static
    int32_t tree;         // of the model: the first that differs, -1: not one tree's
    const char *measure;  // of which there are numbers: the quantity; of q and v, of which a recording keeps hashes,
                          // "kinetic energy" or, where it is equal, "potential energy" of all; static
    const char *unit;     // of the measure, "" or "J"; static
    double recorded, replayed; // the measure
} stn_replay_difference;

/// stn_replay_create for options of `options_size` bytes; context.h.
STN_API stn_status stn_replay_create_sized(stn_context *context, const void *run, size_t size,
                                           const stn_replay_options *options, size_t options_size, stn_replay **out,
                                           stn_error *err);
/// The world that stn_record_header.run describes, in the state in which recording began. `options` may be NULL.
/// STN_ERR_PARSE for bytes that are none, damaged or of another version, STN_ERR_PLUGIN when a plugin is missing. A
/// plugin of another version than the recorded one is a warning in the log.
static inline stn_status stn_replay_create(stn_context *context, const void *run, size_t size,
                                           const stn_replay_options *options, stn_replay **out, stn_error *err) {
    return stn_replay_create_sized(context, run, size, options, sizeof *options, out, err);
}
/// How the build that recorded differs from this one (version, compiler, kernels, machine code): a line without its
/// end, which lives as long as the replay; NULL: they are the same.
STN_API const char *stn_replay_other_build(const stn_replay *replay);
STN_API void stn_replay_destroy(stn_replay *replay); ///< accepts NULL
/// Its world, borrowed: to be observed, recorded and asked, not to be driven.
STN_API stn_world *stn_replay_world(stn_replay *replay);
/// Reads one stn_observation.journal from the start of `journal`, gives the world the inputs, makes the step and
/// compares.
/// `*used` is the length of the record; positive statuses are those of the step. STN_ERR_PARSE: damaged; nothing was
/// done when `*used` is 0. Other failures are those of the step.
STN_API stn_status stn_replay_step(stn_replay *replay, const void *journal, size_t size, size_t *used,
                                   stn_replay_difference *difference, stn_error *err);

// ------------------------------------------------------------------------------------------------- failure capsules

/// Right after a step that failed: all that the step was made of (options, plugins, model, controllers, the state
/// before it and its inputs) and its contact problem, when it came that far, in one JSON file that appears whole or not
/// at all (docs/capsule.md). `why` is the error of the step.
STN_API stn_status stn_world_save_capsule(const stn_world *world, const stn_error *why, const char *path,
                                          stn_error *err);
/// The same of a world of a batch that stands still because its step failed: a clone makes that step again.
/// STN_ERR_ARGUMENT: there is no such world; STN_ERR_SEQUENCE: it steps, or an observer stopped it.
STN_API stn_status stn_batch_save_capsule(stn_batch *batch, int32_t world, const char *path, stn_error *err);
/// stn_capsule_load for options of `options_size` bytes; context.h.
STN_API stn_status stn_capsule_load_sized(stn_context *context, const char *path, const stn_replay_options *options,
                                          size_t options_size, stn_world **out, stn_error *err);
/// The world of a capsule in the state before the step that failed, the caller's to destroy. `options` may be NULL.
/// Errors are those of stn_replay_create, with the file's name.
static inline stn_status stn_capsule_load(stn_context *context, const char *path, const stn_replay_options *options,
                                          stn_world **out, stn_error *err) {
    return stn_capsule_load_sized(context, path, options, sizeof *options, out, err);
}

STN_END_C
#endif
