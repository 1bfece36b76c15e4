// SPDX-License-Identifier: Apache-2.0
// The session: the host of one script (stiction/script.h). It holds what the command line says, and what the script
// leaves behind: parameters, checks, results, statistics, how it failed.
#ifndef STICTION_COMMAND_SESSION_H
#define STICTION_COMMAND_SESSION_H

#include <signal.h>

#include <stiction/replay.h>
#include <stiction/script.h>
#include <stiction/world.h>

#include "common/statistics.h"

/// `--set name=text`. "solver.tolerance" and the like go to the plugin of that kind, other names to parameters.
typedef struct stn_override {
    char *name;       // owned
    const char *text; // borrowed from the caller of stn_session_set
    bool used;
} stn_override;

/// A declared parameter with its value. Texts owned by the session.
typedef struct stn_parameter {
    char *name;
    stn_script_type type;
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

/// How a test ended, as the command tells it.
typedef struct stn_verdict {
    stn_test_verdict by; // of the script, with checks that failed
    bool diverged;       // a step of it failed
    double seconds;      // wall time
} stn_verdict;

/// Where the last step of a session was made.
typedef struct stn_step_mark {
    int32_t world; // 1-based order in which that world first stepped; 0: no step was made
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
    bool lists; // it wants to know the tests, and performs none
} stn_test_runner;

typedef struct stn_followed stn_followed; // a world that steps: steps.c

typedef struct stn_session {
    stn_script_host
        host; // what the script sees; the command fills dt, seconds, seed, threads, stiction, profile, approve

    // given; NULL: as the script says
    const char *plugin[STN_KIND_COUNT]; // id by kind
    const char *language; // id of the script plugin, or the path of its file; NULL: by the script's ending
    stn_override *overrides;
    int32_t override_count;
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
    int32_t *result_places; // hash table of results by their names: index + 1, 0: free
    int32_t result_room;    // its size, a power of two or 0
    stn_statistics statistics;
    stn_failure failure;
    stn_error unopened;                      // why a recording was not begun, whose world makes no step; STN_OK: none
    bool asserted;                           // the script ended by a failed assertion
    double end_time;                         // of the present loop of steps [s], NaN when it has none
    const char *plugin_used[STN_KIND_COUNT]; // ids of the first world that steps, NULL: none
    stn_sample judged;                       // the residual by which that world's solver is judged, docs/certificate.md
    int32_t body_count, nq, nv;
    bool described; // these three are known
    bool stepped;   // some world made a step
    char *skipped;  // why the script skipped itself, NULL: it did not
    bool exited;    // it left by its language's exit
    int exit_status;
    char exit_text[256]; // "file:line: os.exit: ..."
    char ending[32];     // of the script's name, ".lua"; "" without a script

    // while a script runs
    stn_followed *followed;              // worlds that step, the one that stepped last first
    stn_setting *chosen[STN_KIND_COUNT]; // settings of the last choice of each kind
    stn_instance *volatile running;
    const stn_world *volatile stepping; // the world that makes a step; NULL: none
    volatile sig_atomic_t stopped;

    // tests: filter of "file: group: test"; who runs them; else who hears of them
    const char *pattern;
    stn_test_runner runner; // all NULL: nobody else
    void (*tested)(void *user, const char *name, const char *failure, const char *skipped, double seconds);
    void *tested_user;
    int32_t test_count;       // tests that were declared, also those that the filter leaves out
    int32_t claim_count;      // assertions that were met
    stn_step_mark *mark;      // told of every step; NULL: nobody asks
    const stn_keepsake *keep; // the script is stopped at its mark; NULL: nothing is kept
    int32_t world_count;      // worlds that stepped
    int32_t left_count;       // of these, worlds that a script left without `end`
} stn_session;

/// Empty session over a context, which is borrowed; nothing overridden.
void stn_session_init(stn_session *session, stn_context *context);
void stn_session_clear(stn_session *session);
/// Adds "name=value", borrowed; STN_ERR_ARGUMENT when there is no '='.
stn_status stn_session_set(stn_session *session, const char *assignment, stn_error *err);
/// The overrides that no parameter and no plugin took: STN_ERR_PARAMETER with the nearest name.
stn_status stn_session_check_overrides(stn_session *session, stn_error *err);
int32_t stn_session_failed_checks(const stn_session *session);
/// False: out of memory.
bool stn_session_add_check(stn_session *session, const char *name, bool ok, double value, double limit,
                           const char *unit);
/// A line about the first check from `first` on that failed, in `text`; NULL when none did.
const char *stn_session_failed_check(const stn_session *session, int32_t first, char *text, size_t size);

/// Runs a file by the chosen language, else by the script plugin of its ending, and ends all of its worlds.
/// STN_ERR_PLUGIN: there is none; otherwise as stn_script_ops.run. A script that skipped itself leaves its reason in
/// `skipped`, and STN_OK; one that called exit its status in `exit_status`, and STN_OK.
stn_status stn_session_run(stn_session *session, const char *script, stn_error *err);
/// The same by a script plugin that the caller chose, whatever the ending.
stn_status stn_session_run_by(stn_session *session, stn_instance *language, const char *script, stn_error *err);
/// Makes the step that failed from its capsule, or the session's `seconds`, with its overrides.
stn_status stn_session_run_capsule(stn_session *session, const char *path, stn_error *err);
/// Asks the running script to stop: the step in progress ends, then the script. May be called from a signal handler.
void stn_session_stop(stn_session *session);
/// Runs test `index` of a batch here.
void stn_session_perform(stn_session *session, const stn_test_batch *batch, int32_t index, stn_verdict *verdict);

#endif
