// SPDX-License-Identifier: Apache-2.0
// Scripting languages: a plugin of kind "script" runs the scenarios that are written in its language. Its host, a
// command such as `stiction run`, gives it what the command line says and receives what the script does.
//
// The least that an interpreter does for one world:
//
//     parameter     a parameter of the script with its default -> its value
//     options       stn_world_options_default, completed by the command line; then stn_world_create
//     step          in place of stn_world_step; a loop of steps takes host->seconds where the command line gives it
//     check         a claim of the script, and whether it holds
//     end           in place of stn_world_destroy
//
// Statistics, recordings (--log, --record), captures, --profile, capsules of failed steps, interrupts, the summary and
// the exit status are then the host's.
#ifndef STICTION_SCRIPT_H
#define STICTION_SCRIPT_H

#include <stiction/context.h>
#include <stiction/params.h>

STN_BEGIN_C

struct stn_world;                               // world.h
struct stn_world_options;                       // world.h
typedef struct stn_script_host stn_script_host; // below

/// Type of a script's parameter.
typedef enum stn_script_type {
    STN_SCRIPT_NUMBER, // may be infinite
    STN_SCRIPT_BOOL,   // number is 0 or 1
    STN_SCRIPT_TEXT,   // any text
    STN_SCRIPT_CHOICE, // a text of a list
} stn_script_type;

/// A parameter of a script. Zeroed members are absent; all texts are borrowed for the call that gets it.
typedef struct stn_script_parameter {
    const char *name;           // as on the command line
    stn_script_type type;       // of its value
    double number;              // in: the default; out: the value
    const char *text;           // likewise, of a text or choice; the value is borrowed from the host until the
                                // parameter is declared again, or the script ends
    bool bounded;               // a number lies within min and max
    double min, max;            // both included; infinite: no bound on that side
    const char *unit;           // of the number, for messages
    const char *const *choices; // (choice_count) that a choice may take
    int32_t choice_count;       // > 0 for a choice
} stn_script_parameter;

/// A claim of a script. Texts are borrowed for the call.
typedef struct stn_script_check {
    const char *name;    // what should hold: "lid is off"
    bool ok;             // it holds: the script decides, the host compares nothing; a NaN does not hold
    bool measured;       // value and limit count: it is about value <= limit, or value >= limit
    bool least;          // value >= limit
    double value, limit; // in the unit
    const char *unit;    // of both; may be NULL
} stn_script_check;

/// How a test ended.
typedef enum stn_test_outcome { STN_TEST_PASSED, STN_TEST_FAILED, STN_TEST_SKIPPED } stn_test_outcome;

/// What a script says of one of its tests. A check that failed in it is the host's to count.
typedef struct stn_test_verdict {
    stn_test_outcome outcome; // passed unless it says otherwise
    char text[4096];          // why it failed or was skipped
} stn_test_verdict;

/// One test. Borrowed for the call that gets it.
typedef struct stn_test {
    const char *name; // "group: test"
    double limit_s;   // wall time that its script allows it [s]; NaN: the host's limit
} stn_test;

/// Tests that do not depend on each other.
typedef struct stn_test_batch {
    const stn_test *tests; // (count)
    int32_t count;         // > 0
    /// Runs test `index` with its fixtures; `verdict` comes as one that passed. May be called in a copy of the process
    /// (fork), for each test at most once in one process.
    void (*perform)(void *user, int32_t index, stn_test_verdict *verdict);
    void *user; // handed to perform
} stn_test_batch;

/// Tests that share a fixture.
typedef struct stn_test_group {
    const char *name;         // of the group
    const char *const *tests; // (count) names of those that will run, in order
    int32_t count;            // > 0
    void (*run)(void *user);  // makes the fixture, hands over the tests by stn_script_host_ops.tests, ends the fixture
    void *user;               // handed to run
} stn_test_group;

/// What a script asks of its host. All functions: main thread, between the begin and the end of stn_script_ops.run;
/// texts are copied; an error names its object in one line without the script's position, which the language adds.
typedef struct stn_script_host_ops {
    uint32_t size; // sizeof of the struct as the host was compiled

    /// Declares a parameter and replaces its default by the value of the command line (--set name=value; also --dt,
    /// --seconds, --seed, --threads, --solver and the like for a parameter of that name). A second declaration of a
    /// name replaces the first. STN_ERR_ARGUMENT: a value of another type, out of its bounds or choices; NaN; no name.
    stn_status (*parameter)(stn_script_host *host, stn_script_parameter *parameter, stn_error *err);
    /// Puts what the command line says over the options of a world that will be made: plugins and their settings, dt,
    /// seed, threads, profile, stiction. The settings are borrowed until the next call of options or choose.
    /// STN_ERR_PARAMETER: a --set that no parameter and no plugin took, with the nearest name: parameters are declared
    /// before the first world. STN_ERR_PLUGIN: the file of a plugin was refused. Never positive.
    stn_status (*options)(stn_script_host *host, struct stn_world_options *options, stn_error *err);
    /// The same for one choice of a plugin: `kind` is its word, "loader". The settings that the command line adds are
    /// borrowed until the next call of options or choose for that kind.
    stn_status (*choose)(stn_script_host *host, const char *kind, stn_plugin_choice *choice, stn_error *err);

    /// Makes a step: stn_world_step with the book-keeping of the run. The first world that steps is the one that the
    /// run is about. A positive status is a step of less accuracy: go on. STN_ERR_INTERRUPTED: the script must end,
    /// whether or not a step was made; otherwise as stn_world_step.
    stn_status (*step)(stn_script_host *host, struct stn_world *world, stn_error *err);
    /// In place of stn_world_destroy, for every world: closes its recordings and destroys it. NULL is accepted. A
    /// failure is that of stn_world_close_recordings; the world is gone all the same.
    stn_status (*end)(stn_script_host *host, struct stn_world *world, stn_error *err);
    /// OPTIONAL for a script: announces the first step of a world, whose recordings are opened now rather than by that
    /// step. `opens` (may be NULL) is called before each recorder that the host opens for this world, now or later: it
    /// may set signals of the first row, and add settings, which it keeps until the next call. `user` and `opens` are
    /// kept until `end`. Errors are those of the recorders, and of `opens`.
    stn_status (*begin)(stn_script_host *host, struct stn_world *world,
                        stn_status (*opens)(void *user, struct stn_world *world, stn_plugin_choice *recorder,
                                            stn_error *err),
                        void *user, stn_error *err);
    /// The state or gravity of the world was changed by hand since its last step: what that adds to the energy counts
    /// as work, and the speeds as given. Without effect before the first step.
    void (*touched)(stn_script_host *host, struct stn_world *world);
    /// The simulated time at which the present loop of steps will end, for the progress line [s]; NaN: unknown.
    void (*until)(stn_script_host *host, double time);
    /// Is the script to end soon (an interrupt)? `step` says so by itself; for a language without stn_script_ops.stop.
    bool (*stopped)(const stn_script_host *host);

    /// A claim with its outcome; one that failed fails the run. STN_ERR_MEMORY.
    stn_status (*check)(stn_script_host *host, const stn_script_check *check, stn_error *err);
    /// A number that the script reports; the last value of a name counts. `unit` may be NULL. STN_ERR_MEMORY.
    stn_status (*result)(stn_script_host *host, const char *name, double value, const char *unit, stn_error *err);
    /// An assertion was met (NULL), or the script ends by one that failed, with this text: run then returns
    /// STN_ERR_ARGUMENT with the same text, and the host counts a failed check, not an error. A script without any
    /// check, claim, step or test is no test.
    void (*claim)(stn_script_host *host, const char *failed);
    /// The script ends without a verdict, and why; run then returns STN_OK. STN_ERR_MEMORY.
    stn_status (*skip)(stn_script_host *host, const char *reason, stn_error *err);
    /// The script asked to end with this exit status, 0 to 255; `text` says where. Run then returns STN_OK.
    void (*leave)(stn_script_host *host, int status, const char *text);

    /// Counts a test that the script declares, "group: test"; false: the command line leaves it out.
    bool (*declare_test)(stn_script_host *host, const char *name);
    /// Runs tests, here or each in a process of its own. STN_ERR_INTERRUPTED: the script must end.
    stn_status (*tests)(stn_script_host *host, const stn_test_batch *batch, stn_error *err);
    /// Runs a group with its fixture, here or in a process of its own. Without a fixture of the group itself `tests` is
    /// enough.
    void (*group)(stn_script_host *host, const stn_test_group *group);
} stn_script_host_ops;

/// What the command gives. Read only for the script; grows at the tail.
struct stn_script_host {
    uint32_t size;                  // sizeof of the struct as the host was compiled
    const stn_script_host_ops *ops; // what a script may ask of the host
    stn_context *context;           // borrowed until run returns
    const char *path;               // the script's file as it was named

    // the command line, for what a script does not leave to parameter and options; NaN, -1 and 0 where it says nothing
    double dt;              // step size [s]; options has put it into the options of a world
    double seconds;         // simulated time [s] that every loop of steps of the script takes in place of its own,
                            // unless the script declares a parameter of that name
    int64_t seed;           // of worlds
    int32_t threads;        // of worlds
    bool stiction, profile; // worlds have true stiction; they time the phases of their steps
    const char *output;     // the first file that is written of the first world that steps; NULL: none
    bool approve;           // values that the script compares with stored ones are stored anew
    bool lists_tests;       // tests are listed, none is performed: no fixtures
    bool isolates_tests;    // each test is performed in a process of its own
};

/// What a language does; plugin kind "script".
typedef struct stn_script_ops {
    uint32_t size; // sizeof of the struct as the plugin was compiled
    /// Lower case, without the dot, NULL-terminated: "lua". REQUIRED.
    const char *const *extensions;
    /// REQUIRED. Runs the file host->path to its end, and ends every world that it made. A negative status ends the run
    /// with one line, "file:line: why": STN_ERR_FILE and STN_ERR_PARSE where the file cannot be read or is no script,
    /// STN_ERR_ARGUMENT for an error of the script, STN_ERR_INTERRUPTED, or the status of the step that failed. After
    /// steps were made, the summary of the run follows that line: look for errors of syntax before the first step.
    /// Once it has returned it may be called again, for this or another host; nothing is left of the run before.
    /// [main thread]
    stn_status (*run)(void *self, stn_script_host *host, stn_error *err);
    /// OPTIONAL. Asks the script that runs to end soon, with STN_ERR_INTERRUPTED. Called from a signal handler on the
    /// main thread: only what is async-signal-safe. Absent: the script ends at its next step, or asks `stopped`.
    void (*stop)(void *self);
    /// OPTIONAL. A scenario in this language, for the battery of `stiction validate`: it declares a parameter "height"
    /// [m], default 0.2; lets a box of 0.1 m fall from there onto the ground for 1 s; checks that it lies still, and
    /// reports a result "z", the height of its centre at the end [m].
    const char *example;
} stn_script_ops;

STN_END_C
#endif
