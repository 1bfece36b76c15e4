// SPDX-License-Identifier: Apache-2.0
// The session: what one Lua state's scenario is given (overrides from the command line) and what it leaves behind
// (parameters, checks, results, statistics, how it failed). The command fills one before it runs a script; a stock
// lua5.4 gets a default one.
#ifndef STICTION_CORE_LUA_SESSION_H
#define STICTION_CORE_LUA_SESSION_H

#include <signal.h>

#include <stiction/stiction.h>

#include "lua/samples.h"

struct lua_State;

/// `--set name=text`. "solver.tolerance" and the like go to the plugin of that kind, other names to stn.params.
typedef struct stn_override {
    char *name;       // owned
    const char *text; // borrowed from the caller of stn_session_set
    bool used;
} stn_override;

typedef enum stn_parameter_type {
    STN_PARAMETER_NUMBER,
    STN_PARAMETER_BOOL,
    STN_PARAMETER_TEXT,
    STN_PARAMETER_CHOICE,
} stn_parameter_type;

/// A declared scenario parameter with its value. Texts owned by the session.
typedef struct stn_parameter {
    char *name;
    stn_parameter_type type;
    double number; // number, bool (0 or 1)
    char *text;    // text, choice
} stn_parameter;

typedef struct stn_check {
    char *name;
    bool ok;
    double value, limit; // NaN: not given
    bool least;          // limit is a lower one
    char *unit;          // may be NULL
} stn_check;

typedef struct stn_result {
    char *name;
    double value;
    char *unit; // may be NULL
} stn_result;

/// What is sampled at every step: counters, then the residuals in the order of STN_CERTIFICATE_FIELDS.
typedef enum stn_sample {
    STN_SAMPLE_STEP_US,
    STN_SAMPLE_ITERATIONS,
    STN_SAMPLE_CONTACTS,
    STN_SAMPLE_OVERLAP,
    STN_SAMPLE_ALLOCATIONS, // of all steps until then, this one included
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
} stn_profile;

/// The contacts of one step.
typedef struct stn_contact_tally {
    int32_t open, sticking, slipping;
    double slip_speed, glide_gap; // the largest of those with force [m/s], [m]
} stn_contact_tally;

/// Of some momentum errors.
typedef struct stn_momentum_bin {
    double sum, max;
} stn_momentum_bin;

/// Every step of every world of the session.
typedef struct stn_statistics {
    stn_samples samples;              // columns: stn_sample
    stn_momentum_bin *momentum;       // errors by their size in absolute terms: statistics.c
    stn_profile profile;              // when one was asked for
    double simulated;                 // [s]
    int64_t not_converged;            // steps
    int64_t not_finite;               // steps with NaN in the certificate's inputs
    int64_t captured;                 // contact problems that were saved
    double energy_first, energy_last; // of the first world that steps, NaN without steps [J]
    stn_contact_tally contacts_last;  // of that world, when it was closed
    double energy_rise;               // largest rise of mechanical energy minus work above its running minimum [J]
} stn_statistics;

typedef struct stn_summary {
    double mean, median, p99, max; // NaN when no sample applies
} stn_summary;

/// The step that ended the run.
typedef struct stn_failure {
    stn_status status; // STN_OK: none
    int64_t step;
    double time;
    char text[1024];
    char saved[512]; // its capsule, "" when there is none
} stn_failure;

typedef struct stn_session {
    stn_context *context;
    bool owns_context;

    // given: NULL, NaN, -1 and 0 mean "as the script says"
    const char *plugin[STN_KIND_COUNT]; // id by kind
    double dt, seconds;                 // [s]
    int64_t seed;
    int32_t threads;
    bool stiction; // worlds have true stiction, whatever the script says
    bool profile;  // worlds time the phases of their steps
    stn_override *overrides;
    int32_t override_count;
    const char *const *record_paths; // recorders by extension, for the first world that steps
    int32_t record_count;
    const char *capture_file;        // where contact problems of that world go, NULL: nowhere; stn_world_capture
    int64_t capture_every;           // steps
    bool capture_local;              // in the Delassus form
    const char *failure_path; // where a step that fails is kept as a capsule; NULL: nowhere
    void (*progress)(void *user, const stn_observation *observation, double end_time);
    void *progress_user;
    void (*begins)(void *user, stn_world *world); // before the first step of the first world that steps
    void *begins_user;

    // left behind
    stn_parameter *parameters;
    stn_check *checks;
    stn_result *results;
    int32_t parameter_count, check_count, result_count;
    stn_statistics statistics;
    stn_failure failure;
    char *assertion;                         // text of the last failed assert(), as raised
    bool asserted;                           // the script ended by it
    double end_time;                         // of the present world:run [s], NaN when it has none
    const char *plugin_used[STN_KIND_COUNT]; // ids of the first world that steps, NULL: none
    stn_sample judged;                       // the residual by which that world's solver is judged, docs/certificate.md
    int32_t body_count, nq, nv;
    bool stepped;  // some world made a step
    char *skipped; // why the script skipped itself, NULL: it did not
    bool exited;   // it left by os.exit
    int exit_status;
    char exit_text[256]; // "file:line: os.exit: ..."
    stn_error unwritten; // the first failure of recordings that were closed with their world, when the script had ended

    // while a script runs
    const char *script; // its path
    struct lua_State *volatile state;
    volatile sig_atomic_t stopped;

    // stn.test: filter and receiver; without a receiver a failing test raises its error
    const char *pattern;
    void (*tested)(void *user, const char *name, const char *failure, const char *skipped, double seconds);
    void *tested_user;
    int32_t test_count; // stn.test calls met, also those that the filter left out
} stn_session;

/// Empty session over a context, which is borrowed; nothing overridden.
void stn_session_init(stn_session *session, stn_context *context);
void stn_session_clear(stn_session *session);
/// Adds "name=value", borrowed; STN_ERR_ARGUMENT when there is no '='.
stn_status stn_session_set(stn_session *session, const char *assignment, stn_error *err);
/// Makes a Lua state use this session: before `stiction` is first required. The session must outlive the state.
void stn_session_install(struct lua_State *L, stn_session *session);
/// The overrides that no parameter and no plugin took: STN_ERR_PARAMETER with the nearest name.
stn_status stn_session_check_overrides(stn_session *session, stn_error *err);
int32_t stn_session_failed_checks(const stn_session *session);
bool stn_session_add_check(stn_session *session, const char *name, bool ok, double value, double limit,
                           const char *unit);
/// A line about the first check from `first` on that failed, in `text`; NULL when none did.
const char *stn_session_failed_check(const stn_session *session, int32_t first, char *text, size_t size);

/// Mean and maximum of the samples that are no NaN, exactly; median and 99th percentile as exactly as samples.h says.
/// False: out of memory.
bool stn_statistics_summary(const stn_session *session, stn_sample which, stn_summary *out);
/// The same of the momentum error, with 0 where the residual is rounding beside the largest momentum of the run:
/// relative to itself that of a body at rest says nothing.
bool stn_statistics_momentum(const stn_session *session, stn_summary *out);
/// Allocations a step after the first `steps`, NaN when there are no more; of runs that samples.h thins out after a few more.
double stn_statistics_allocations(const stn_session *session, int64_t steps);
void stn_statistics_clear(stn_session *session);

/// Runs a file in a fresh state with the module, search paths beside the script, and an assert that says where; the
/// state is closed afterwards, and with it every world and recording. STN_ERR_FILE and STN_ERR_PARSE: it cannot be read
/// or is no Lua; STN_ERR_INTERRUPTED, STN_ERR_ARGUMENT (script error), or the status of the step that failed. A script
/// that called stn.skip leaves its reason in `skipped`, and STN_OK; one that called os.exit its status in
/// `exit_status`, and STN_OK.
stn_status stn_session_run(stn_session *session, const char *script, stn_error *err);
/// The same for the world of a failure capsule: the step that failed, or the session's `seconds`, with its overrides.
stn_status stn_session_run_capsule(stn_session *session, const char *path, stn_error *err);
/// Asks the running script to stop: the step in progress ends, then the script. May be called from a signal handler.
void stn_session_stop(stn_session *session);

/// The recorder plugin whose files end like `path`; STN_ERR_PLUGIN lists the endings that exist.
stn_status stn_recorder_for(stn_context *context, const char *path, const char **id, stn_error *err);

#endif
