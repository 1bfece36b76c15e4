// SPDX-License-Identifier: Apache-2.0
// The session: what one Lua state's scenario is given (overrides from the command line) and what it leaves behind
// (parameters, checks, results, statistics, how it failed). The command fills one before it runs a script; a stock
// lua5.4 gets a default one.
#ifndef STICTION_CORE_LUA_SESSION_H
#define STICTION_CORE_LUA_SESSION_H

#include <signal.h>

#include <stiction/stiction.h>

#include "statistics/statistics.h"

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

/// The step that ended the run.
typedef struct stn_failure {
    stn_status status; // STN_OK: none
    int64_t step;
    double time;
    char text[1024];
    char saved[512]; // its capsule, "" when there is none
} stn_failure;

typedef enum stn_test_outcome { STN_TEST_PASSED, STN_TEST_FAILED, STN_TEST_SKIPPED } stn_test_outcome;

/// How a test ended.
typedef struct stn_verdict {
    stn_test_outcome outcome;
    bool raised, diverged; // by an error, rather than by a failed check; a step of it failed
    double seconds;        // wall time
    char text[4096];       // why it failed or was skipped
} stn_verdict;

/// One test. Borrowed for the call that gets it.
typedef struct stn_test {
    const char *name; // "group: test"
    double limit_s;   // wall time that its script allows it [s]; NaN: says nothing
} stn_test;

/// Tests that do not depend on each other.
typedef struct stn_test_batch {
    const stn_test *tests;
    int32_t count;
    void (*perform)(void *of, int32_t index, stn_verdict *verdict); // does test `index`, with its fixtures
    void *of;
} stn_test_batch;

/// A group with a fixture for all of it.
typedef struct stn_test_group {
    const char *name;
    const char *const *tests; // names of those that will run, in order
    int32_t count;
    void (*work)(void *of); // makes the fixture, hands over the tests in batches, ends the fixture
    void *of;
} stn_test_group;

/// Where the last step of a session was made.
typedef struct stn_step_mark {
    int32_t world; // the how-manieth that steps, from 1; 0: no step was made
    int64_t made;  // steps of that world
    double dt;     // [s]
} stn_step_mark;

/// What is kept of a test that is done once more: a recording of the last steps up to a mark, and the state there as a
/// capsule. Borrowed texts.
typedef struct stn_keepsake {
    stn_step_mark until;
    int64_t from; // steps made when the recording begins
    const char *recording, *capsule, *reason;
    bool goes_on; // the step after the mark fails: the session's failure_path gets that one
} stn_keepsake;

/// Who runs the tests of a script, if not the script's own process.
typedef struct stn_test_runner {
    void (*tests)(void *user, const stn_test_batch *batch);
    void (*group)(void *user, const stn_test_group *group);
    void *user;
    bool lists; // it wants to know the tests, and performs none: no fixtures
} stn_test_runner;

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
    bool approve;                    // stn.reference stores what it is given
    bool overrides_shared;           // with other scripts: one that takes none of them is no error
    const char *const *record_paths; // recorders by extension, for the first world that steps
    int32_t record_count;
    const char *capture_file; // where contact problems of that world go, NULL: nowhere; stn_world_capture
    int64_t capture_every;    // steps
    bool capture_local;       // in the Delassus form
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

    // stn.test: filter of "file: group: test"; who runs them; else who hears of them: without a receiver a failing test
    // raises its error
    const char *pattern;
    stn_test_runner runner; // all NULL: nobody else
    void (*tested)(void *user, const char *name, const char *failure, const char *skipped, double seconds);
    void *tested_user;
    int32_t test_count;       // stn.test calls met, also those that the filter left out
    int32_t claim_count;      // what may have failed: calls of assert, stn.near, stn.fails
    bool testing;             // a test or a fixture runs
    const char *test_name;    // of the test that runs, else NULL
    stn_step_mark *mark;      // told of every step; NULL: nobody asks
    const stn_keepsake *keep; // the script is stopped at its mark; NULL: nothing is kept
    int32_t world_count;      // worlds that stepped
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
