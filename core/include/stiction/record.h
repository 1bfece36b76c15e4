// SPDX-License-Identifier: Apache-2.0
// What is kept of a world: recordings of its steps, contact problems of them as files, and states by value. Runs played
// again and failure capsules: replay.h.
#ifndef STICTION_RECORD_H
#define STICTION_RECORD_H

#include <stiction/world.h>

STN_BEGIN_C

// ------------------------------------------------------------------------------------------------ recordings

/// Opens a recorder plugin on `path`; the world takes the instance over, also on failure. Compiles first when needed.
STN_API stn_status stn_world_record(stn_world *world, stn_instance *recorder, const char *path, stn_error *err);
/// Which contact problems of a run are saved, and where.
typedef struct stn_capture_options {
    /// Where files go; the ending chooses JSON (.json) or FCLIB's HDF5 (.hdf5, .h5). The step's number takes the place
    /// of %d or %06d in it, else "-000120" comes before the ending; with `most` 1 the name stays as it is.
    const char *file;
    const char *title;     // starts the name of each problem: "title, step 120 to t = 0.24 s"; may be NULL
    int64_t every;         // steps whose number it divides; 0: every step
    int64_t most;          // files; 0: no limit
    stn_problem_form form; // local: the Delassus form, see stn_problem_local
    /// Is this step one of them? NULL: yes. A negative status ends the step call.
    stn_status (*when)(void *user, const stn_observation *observation, bool *take, stn_error *err);
    void *user; // handed to when
} stn_capture_options;
/// stn_world_capture for options of `size` bytes; context.h.
STN_API stn_status stn_world_capture_sized(stn_world *world, const stn_capture_options *options, size_t size,
                                           stn_error *err);
/// Saves problems of the steps to come, each as it was given to the solver, warm start included; steps without contacts
/// are passed over. Files of an earlier run are replaced; where the world goes back in time, names of its later steps
/// end in "-2", "-3". What a file cannot hold ends the step call, see stn_problem_save. STN_ERR_ARGUMENT: another
/// ending, a negative number, no such folder.
static inline stn_status stn_world_capture(stn_world *world, const stn_capture_options *options, stn_error *err) {
    return stn_world_capture_sized(world, options, sizeof *options, err);
}
/// Problems that were saved since the world was made.
STN_API int64_t stn_world_captured(const stn_world *world);
/// Finishes all recordings; the first failure is reported, all are closed.
STN_API stn_status stn_world_close_recordings(stn_world *world, stn_error *err);

// ---------------------------------------------------------------------------------------------------- states

/// A state by value. Restoring and going on gives bitwise the same steps.
typedef struct stn_snapshot stn_snapshot;
STN_API stn_status stn_world_snapshot(const stn_world *world, stn_snapshot **out, stn_error *err);
STN_API void stn_snapshot_destroy(stn_snapshot *snapshot); ///< accepts NULL
/// The world goes back to the integrator of the snapshot (of STN_ERR_MEMORY perhaps to that alone); one from a file is
/// refused unless the world has that integrator. STN_ERR_ARGUMENT when it belongs to a model of other sizes or names,
/// or has a node elsewhere than the world or a kinematic body holds it here.
STN_API stn_status stn_world_restore(stn_world *world, const stn_snapshot *snapshot, stn_error *err);
/// To and from a file; it appears whole or not at all; damage is found by a checksum.
STN_API stn_status stn_snapshot_save(const stn_snapshot *snapshot, const char *path, stn_error *err);
STN_API stn_status stn_snapshot_load(stn_context *context, const char *path, stn_snapshot **out, stn_error *err);

STN_END_C
#endif
