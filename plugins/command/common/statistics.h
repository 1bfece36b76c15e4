// SPDX-License-Identifier: Apache-2.0
// What the summary of a run says about its steps: all steps of all its worlds in one place, and an account of each
// world.
#ifndef STICTION_COMMAND_STATISTICS_H
#define STICTION_COMMAND_STATISTICS_H

#include <stiction/record.h>

#include "common/samples.h"
#include "common/verdict.h"

/// What is sampled at every step: counters, then the residuals in the order of STN_CERTIFICATE_FIELDS.
typedef enum stn_sample {
    STN_SAMPLE_STEP_US,
    STN_SAMPLE_ITERATIONS,
    STN_SAMPLE_CONTACTS,
    STN_SAMPLE_OVERLAP,
    STN_SAMPLE_BARE_OVERLAP, // of pairs without a contact
    STN_SAMPLE_ALLOCATIONS,  // of all steps until then, this one included
#define STN_SAMPLE_FIELD(member, name, unit, text) STN_SAMPLE_##member,
    STN_CERTIFICATE_FIELDS(STN_SAMPLE_FIELD)
#undef STN_SAMPLE_FIELD
        STN_SAMPLE_MOMENTUM_SIZE, // what the momentum error is relative to [sqrt(J)]
    STN_SAMPLE_COUNT
} stn_sample;

/// Sums over the steps in which nothing interrupted the thread: other work on the machine is not part of a profile.
typedef struct stn_profile {
    int64_t steps;
    double step_us, script_us; // steps; what passes between them, without observers
    double stage_us[STN_STAGE_COUNT], phase_us[STN_PHASE_COUNT];
    double last;        // when the step before was observed [us], 0: there is none
    long interruptions; // of the thread until then
    bool disturbed;     // that step was interrupted, or is the first
} stn_profile;

/// The contacts of one step.
typedef struct stn_contact_tally {
    int32_t open, sticking, slipping;
    double slip_speed, glide_gap; // the largest of those with force [m/s], [m]
} stn_contact_tally;

/// A constraint of a plugin in one step.
typedef struct stn_constraint_tally {
    char *name, *plugin; // owned
    double length;       // of its line [m], NaN without one
    bool slack;          // carries nothing because it only pulls or only pushes, or acts on nothing
    int32_t rows;        // that it emitted
    double *force, *phi; // (rows) [N, N m], [m, rad]; owned
} stn_constraint_tally;

/// Of some momentum errors.
typedef struct stn_momentum_bin {
    double sum, max;
} stn_momentum_bin;

/// Every step of every world of a run.
typedef struct stn_statistics {
    stn_samples samples;                    // columns: stn_sample
    stn_momentum_bin *momentum;             // errors by their size in absolute terms: statistics.c
    stn_profile profile;                    // when one was asked for
    double simulated;                       // [s]
    int64_t not_converged;                  // steps
    int64_t contradicted;                   // of these, in which the solver says otherwise of an island
    int64_t fallbacks;                      // steps in which a solver took up another method for want of progress
    int64_t approximate;                    // steps of a solver that says it is: none converged, none a failure
    int64_t not_finite;                     // steps with NaN in the certificate's inputs
    int64_t inverted;                       // steps that left elements inside out
    int64_t captured;                       // contact problems that were saved
    double energy_first, energy_last;       // of the first world that steps, NaN without steps [J]
    stn_contact_tally contacts_last;        // of that world, when it was closed
    int32_t constraint_count;               // of plugins in that world
    stn_constraint_tally *constraints_last; // (constraint_count) when it was closed
    double energy_rise;                  // largest rise of mechanical energy minus work above its running minimum [J]
    double total_first, total_last;      // as energy_first and energy_last, with what contacts store [J]
    double total_rise;                   // as energy_rise, of that sum [J]
    int64_t quasistatic;                 // steps by integrators that say so
    struct stn_world_account *open;      // worlds that step
    stn_figure closed[STN_FIGURE_COUNT]; // of worlds that are gone
} stn_statistics;

typedef struct stn_summary {
    double mean, median, p99, max; // NaN when no sample applies
} stn_summary;

/// An energy E less the work of the inputs [J].
typedef struct stn_balance {
    double energy, balance, low; // E; E - work; its running minimum
    double rise, time;           // largest rise above that, and when [s]
} stn_balance;

/// The book-keeping of one world. Zeroed but for `statistics` and a mechanical energy of NaN before its first step.
typedef struct stn_world_account {
    stn_statistics *statistics;
    bool profiled;                 // the run wants a profile
    bool first;                    // of the run's worlds to step
    bool touched;                  // state or gravity was changed by hand since the last step
    bool quasistatic;              // steps were made by an integrator that says so: energy is not judged
    bool rests;                    // the integrator of the step that is made says so
    bool restarts;                 // the step that is made begins with a state that no step left
    stn_balance mechanical, total; // without and with what contacts store
    double kinetic_most;           // [J]
    double stored_low, stored_most, work, work_low, work_most; // [J] without kinetic; of the inputs
    stn_vec3 gravity;                                          // of the step
    int64_t allocations;                                       // of the context when the step was called
    stn_scene *scene;                                          // NULL before the first step
    stn_figure figures[STN_FIGURE_COUNT];                      // but that of the energy
    struct stn_world_account *next, **place;                   // in the list of the statistics; NULL: not in it
} stn_world_account;

/// Before each step. The account stays where it is until stn_account_end or stn_account_drop. STN_ERR_MEMORY.
stn_status stn_account_before(stn_world_account *account, stn_world *world, stn_error *err);
/// After it, in an observer of the world, when the account has begun.
stn_status stn_account_observe(stn_world_account *account, stn_context *context, const stn_observation *observation,
                               stn_error *err);
static inline bool stn_account_begun(const stn_world_account *account) {
    return !isnan(account->mechanical.energy);
}
/// Before the world goes: what contacts did in its last step, when the run is about it, and what the verdict keeps.
void stn_account_end(stn_world_account *account, const stn_world *world);
/// Leaves the statistics without a word: of a copy in a process that did not make the world.
void stn_account_drop(stn_world_account *account, stn_context *context);

/// The worst of every kind, over all worlds so far.
void stn_statistics_figures(const stn_statistics *statistics, stn_figure figures[STN_FIGURE_COUNT]);

/// Mean and maximum of the samples that are no NaN, exactly; median and 99th percentile as exactly as samples.h says.
/// False: out of memory.
bool stn_statistics_summary(stn_context *context, const stn_statistics *statistics, stn_sample which, stn_summary *out);
/// The same of the momentum error, with 0 where the residual is rounding beside the largest momentum of the run:
/// relative to itself that of a body at rest says nothing.
bool stn_statistics_momentum(stn_context *context, const stn_statistics *statistics, stn_summary *out);
/// Allocations a step after the first `steps`, NaN when there are no more; of runs that samples.h thins out after a few
/// more.
double stn_statistics_allocations(const stn_statistics *statistics, int64_t steps);
void stn_statistics_clear(stn_context *context, stn_statistics *statistics);

#endif
