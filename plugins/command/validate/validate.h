// SPDX-License-Identifier: Apache-2.0
// Conformance batteries: what every plugin of a kind must do, whoever wrote it. A battery is a table of checks; each
// check runs in a child process, so that a plugin that crashes or hangs fails that check and no other.
#ifndef STICTION_COMMAND_VALIDATE_VALIDATE_H
#define STICTION_COMMAND_VALIDATE_VALIDATE_H

#include <stiction/plugin.h>

/// What is asked of a battery; all borrowed.
typedef struct validate_request {
    stn_context *context;
    const stn_plugin_info *plugin;
    const char *id;              // what the plugin is chosen by: its id, or the path of its file
    const stn_setting *settings; // of the plugin
    int32_t setting_count;
    const char *law; // for solvers that take one
    bool other_law; // not the one whose closed forms are known: R and v_hat of the problem need not mean anything to it
    uint64_t seed;  // of everything random
    bool full;      // long variants
    double limit_s; // for one check, then it counts as hanging
    const char *pattern; // only checks whose name contains it; NULL: all
    struct guard *guard; // that made the context: guard.h; NULL: none
    const char *save;    // folder for the problems at which checks failed; NULL: none are written
    /// Told by long checks as they go on, from the process of the check; NULL: nobody asks.
    void (*progress)(void *user, const char *check, int32_t done, int32_t count);
    void *progress_user;
} validate_request;

typedef enum validate_verdict { VALIDATE_OK, VALIDATE_FAILED, VALIDATE_SKIPPED } validate_verdict;

/// Why a check failed, where its claim is not the reason and its advice would mislead.
typedef enum validate_cause {
    VALIDATE_CLAIM,
    VALIDATE_UNSOLVED, // a solver honestly gave up on a problem of the check
    VALIDATE_PRINTED,  // something was written to stdout
    VALIDATE_SHARED,   // static data of the plugin was written
    VALIDATE_GUARDED,  // it touched what the guard watches
    VALIDATE_BROKEN,   // it crashed, hung or left
} validate_cause;

/// The outcome of one check. `text` holds the figures, or what was found and what was expected instead.
typedef struct validate_result {
    validate_verdict verdict;
    validate_cause cause;
    double seconds;
    char text[640];
} validate_result;

/// A check that runs. It ends with one of the functions below; the first call stands.
typedef struct validate_trial {
    const validate_request *request;
    const char *check;
    const char *folder; // empty, for files of the check; removed with them when it has ended, however it did
    bool decided;
    validate_result result;
} validate_trial;

void trial_ok(validate_trial *trial, const char *format, ...) STN_PRINTF(2, 3);
void trial_fail(validate_trial *trial, const char *format, ...) STN_PRINTF(2, 3);
/// trial_fail for VALIDATE_UNSOLVED.
void trial_unsolved(validate_trial *trial, const char *format, ...) STN_PRINTF(2, 3);
void trial_skip(validate_trial *trial, const char *format, ...) STN_PRINTF(2, 3);

/// `done` of `count` parts of the check have been made.
void trial_progress(validate_trial *trial, int32_t done, int32_t count);

typedef struct validate_check {
    const char *name;   // the claim, in words
    const char *advice; // what the author of a plugin that fails should do
    void (*run)(validate_trial *trial);
} validate_check;

typedef struct validate_battery {
    stn_kind kind;
    int32_t count;
    const validate_check *checks;
} validate_battery;

extern const validate_battery validate_solvers, validate_factors, validate_integrators, validate_laws,
    validate_contacts, validate_controllers, validate_elements, validate_loaders, validate_recorders, validate_commands,
    validate_meshes, validate_problem_files, validate_scripts, validate_constraints;

/// The plugin with the settings that were asked for; NULL decides the trial.
stn_instance *trial_instance(validate_trial *trial, stn_kind kind);
/// Is the word among the capabilities of the plugin under test?
bool trial_says(const validate_trial *trial, const char *word);
/// The battery of a kind; NULL: there is none.
const validate_battery *validate_battery_of(stn_kind kind);
/// Loads a shared object in a child process first. STN_ERR_PLUGIN: it crashes, hangs or leaves while it is loaded; an
/// object that is refused as usual is not told here.
stn_status validate_loading(stn_context *context, const char *path, double limit_s, stn_error *err);
/// Runs the battery; `report` gets every check as it ends. STN_ERR_FILE: no child process can be made.
stn_status validate_run(const validate_battery *battery, const validate_request *request,
                        void (*report)(void *user, const validate_check *check, const validate_result *result),
                        void *user, stn_error *err);

#endif
