// SPDX-License-Identifier: Apache-2.0
// Many worlds of one description, stepped side by side: Monte Carlo, tuning, learning, sampling planners.
#ifndef STICTION_BATCH_H
#define STICTION_BATCH_H

#include <stiction/world.h>

STN_BEGIN_C

/// Every field of a batch: name, text, meaning. A field has the same number of columns for every world; arrays are
/// (worlds x columns), row by row. Those of the state can be set; the others are of the last step and are kept where
/// the options ask for them.
#define STN_BATCH_FIELDS(X)                                                                                        \
    X(Q, "q", "(nq) generalised positions [m, rad]; can be set")                                                   \
    X(V, "v", "(nv) generalised velocities [m/s, rad/s]; can be set")                                              \
    X(EFFORT, "effort", "(nv) applied joint efforts [N m, N], until changed; can be set")                          \
    X(REFERENCE, "reference",                                                                                      \
      "references of constraints, elements and controllers, as the state has them; can be set")                    \
    X(WRENCH, "wrench",                                                                                            \
      "(6 body_count) applied to each body: torque about its origin [N m], force [N], world axes, until changed; " \
      "can be set")                                                                                                \
    X(MASS_FACTOR, "mass_factor",                                                                                  \
      "(body_count) times which masses and inertias are the model's, > 0, of varied worlds; can be set")           \
    X(FRICTION_FACTOR, "friction_factor",                                                                          \
      "(geometry_count) likewise friction coefficients of surfaces, >= 0; can be set")                             \
    X(TIME, "time", "(1) simulated time [s]")                                                                      \
    X(BODY_POSE, "body_pose", "(7 body_count) position [m] and unit quaternion (w, x, y, z) of each body, world")  \
    X(CONTACT_FORCE, "contact_force",                                                                              \
      "(6 body_count) by all contacts of each body in the last step: torque about its origin as it is now "        \
      "[N m], force [N], world axes")                                                                              \
    X(ENERGY, "energy", "(3) kinetic, potential, elastic [J]")                                                     \
    X(REPORT, "report", "(4) status, iterations, contacts, deepest overlap [m] of the last step")                  \
    X(CERTIFICATE, "certificate",                                                                                  \
      "one column a residual of stn_certificate, in the order of its list; NaN: does not apply")

/// A field. The list above has what each is.
typedef enum stn_batch_field {
#define STN_BATCH_ENUM(name, text, meaning) STN_BATCH_##name,
    STN_BATCH_FIELDS(STN_BATCH_ENUM)
#undef STN_BATCH_ENUM
        STN_BATCH_FIELD_COUNT // how many there are
} stn_batch_field;
/// "q", "v", ...; NULL outside the range. Thread: [any].
STN_API const char *stn_batch_field_name(stn_batch_field field);

/// How a batch is made. Start from stn_batch_options_default. Grows at its tail, where zeros are the defaults.
typedef struct stn_batch_options {
    uint32_t size;   // sizeof of the struct as the caller was compiled
    int32_t count;   // worlds, 1 to 2^24
    int32_t threads; // that step them; 1
    /// Fields of the last step that are kept, a bit each: 1u << STN_BATCH_CONTACT_FORCE. Those of the state always are.
    uint32_t outputs;
} stn_batch_options;

/// One world, one thread, no outputs.
static inline stn_batch_options stn_batch_options_default(void) {
    stn_batch_options options;
    memset(&options, 0, sizeof options);
    options.size = (uint32_t)sizeof options;
    options.count = options.threads = 1;
    return options;
}

/// States of many worlds over one setup. A world costs its state and the outputs that are kept; what a step works with
/// is there once a thread. Every world steps with the same bits as a clone would that is alone, whatever the number of
/// worlds, the threads and the other worlds do. One thread at a time calls.
typedef struct stn_batch stn_batch;

/// Worlds in the present state of a compiled world, whose setup they share; it may be destroyed before the batch, and
/// what happens to it later does not change the batch. Observers and recordings are not copied. STN_ERR_SEQUENCE: it is
/// not compiled; STN_ERR_ARGUMENT: options out of range. [setup]
STN_API stn_status stn_batch_create(const stn_world *world, const stn_batch_options *options, stn_batch **out,
                                    stn_error *err);
STN_API void stn_batch_destroy(stn_batch *batch);                 ///< accepts NULL
STN_API int32_t stn_batch_count(const stn_batch *batch);          ///< worlds
STN_API const stn_model *stn_batch_model(const stn_batch *batch); ///< of all worlds; borrowed
/// Columns of a field; 0 for one that is not kept.
STN_API int32_t stn_batch_columns(const stn_batch *batch, stn_batch_field field);

/// `steps` steps of every world that has not failed. STN_OK, or the largest of STN_NOT_CONVERGED and STN_STALLED of any
/// step. Negative: worlds failed, the first of which, by number, and how many the text tells; the others made all of
/// their steps. A world that failed stays in the state before that step, with its report's status and zeros as outputs
/// of the step, and is left out, here and in every later call, until it is reset, copied to or set. [step]
STN_API stn_status stn_batch_step(stn_batch *batch, int32_t steps, stn_error *err);
/// What stopped world `world`: NULL while it steps. Borrowed until something changes the world.
STN_API const stn_error *stn_batch_error(const stn_batch *batch, int32_t world);
/// What came of all steps since the batch was created.
typedef struct stn_batch_tally {
    int64_t steps;         // made, of all worlds
    int64_t not_converged; // of them, by their status
    int64_t stalled;       // likewise
    int32_t failed;        // worlds that stand still now
} stn_batch_tally;
STN_API stn_batch_tally stn_batch_count_steps(const stn_batch *batch); ///< sums over all worlds

/// Called after every step of a world, by the thread that makes it, several at once for different worlds: what it
/// writes is best indexed by `world`. `stepped` is the world for the time of the call: what sensors and queries say,
/// stn_world_observation. A negative status stops the world as a failed step does, which stands.
typedef stn_status (*stn_batch_observer)(void *user, int32_t world, stn_world *stepped, stn_error *err);
/// In place of the one before; NULL: none.
STN_API void stn_batch_observe(stn_batch *batch, stn_batch_observer observer, void *user);

/// Rows of a field into `values` (count x columns): of the worlds in `worlds` (count), NULL: of the first `count`.
/// Outputs of a world that has made no step since it was created or reset are zeros, its poses and energies those of
/// its state. STN_ERR_ARGUMENT: a number that no world has; a field that is not kept.
STN_API stn_status stn_batch_get(const stn_batch *batch, stn_batch_field field, const int32_t *worlds, int32_t count,
                                 double *values, stn_error *err);
/// The same into the worlds, as stn_world_set_q, stn_world_set_v and the others do. STN_ERR_NUMERIC names world and
/// joint of what is not finite. On failure worlds before the one that is named have their new values, the others keep
/// theirs.
STN_API stn_status stn_batch_set(stn_batch *batch, stn_batch_field field, const int32_t *worlds, int32_t count,
                                 const double *values, stn_error *err);
/// Back to the start of the world that the batch was made from, with the integrator that it had. Needs no memory.
STN_API stn_status stn_batch_reset(stn_batch *batch, const int32_t *worlds, int32_t count, stn_error *err);
/// Branches: world to[i] goes on as world from[i], whose state, outputs and failure it gets. In order of i, so that one
/// that was copied to may be copied on. STN_ERR_MEMORY: for more contacts than it ever had; then it keeps its own.
STN_API stn_status stn_batch_copy(stn_batch *batch, const int32_t *from, const int32_t *to, int32_t count,
                                  stn_error *err);
/// Hash of every byte of a world's state, as stn_world_hash; 0 for a number that no world has.
STN_API uint64_t stn_batch_hash(const stn_batch *batch, int32_t world);

/// What is done to one world between its steps with the functions of world.h. What all share must stay: step length,
/// integrator, controllers, observers; the functions that change them say STN_ERR_SEQUENCE.
typedef stn_status (*stn_batch_visitor)(void *user, stn_world *world, stn_error *err);
/// Calls `visit` with world `world`, which is there for the time of the call alone. Returns its status. A world that
/// had failed steps again when this changed its state. STN_ERR_ARGUMENT: there is no such world.
STN_API stn_status stn_batch_visit(stn_batch *batch, int32_t world, stn_batch_visitor visit, void *user,
                                   stn_error *err);

STN_END_C
#endif
