// SPDX-License-Identifier: Apache-2.0
// What `stiction solve` and `stiction compare` share: a solver with its law, chosen by words, and a problem from a
// file.
#ifndef STICTION_COMMAND_COMMON_SOLVE_PROBLEM_H
#define STICTION_COMMAND_COMMON_SOLVE_PROBLEM_H

#include <stiction/solve.h>

#include "common/options.h"

enum { CLI_MOST_SETTINGS = 64, CLI_SETTING_NAME = 64 };

/// Settings of one plugin, with room for their names.
typedef struct cli_settings {
    const char *prefix; // "solver"
    int32_t count;
    stn_setting items[CLI_MOST_SETTINGS];
    char names[CLI_MOST_SETTINGS][CLI_SETTING_NAME];
} cli_settings;

/// "PREFIX.NAME=VALUE" into the list of its prefix. CLI_PROCEED, or the exit status after one line.
int cli_settings_add(const cli_command *command, cli_settings *lists, int32_t list_count, const char *text);
/// `name` is borrowed. False when there is no room.
bool cli_settings_number(cli_settings *settings, const char *name, const char *where, double value);
bool cli_settings_text(cli_settings *settings, const char *name, const char *where, const char *value);

/// Which plugins, by id. Borrowed.
typedef struct cli_solver_choice {
    const char *solver;
    const char *law;    // NULL: sap for solvers that take one; "none": none, for solvers that can do without
    const char *factor; // NULL: the solver's own
    int32_t threads;
    const cli_settings *settings; // (3) of the solver, the law, the factor
} cli_solver_choice;

/// A solver that is ready, with what it works with.
typedef struct cli_solver {
    stn_context *context; // borrowed
    stn_threads *threads;
    stn_instance *solver, *law, *factor; // law and factor may be NULL
    stn_problem_solver *problem_solver;
} cli_solver;

/// On an error `solver` still is to be cleared. STN_ERR_PARAMETER: a law or a setting that means nothing for this
/// solver.
stn_status cli_solver_init(cli_solver *solver, stn_context *context, const cli_solver_choice *choice, stn_error *err);
void cli_solver_clear(cli_solver *solver); ///< accepts one of zeros

/// A problem with room for its solution.
typedef struct cli_problem {
    stn_context *context; // borrowed
    stn_problem_owner *owner;
    stn_problem problem; // writes go to the owner's arrays
    stn_solution solution;
    void *law_memory, *solver_memory;
} cli_problem;

/// Reads a file. On an error `problem` still is to be cleared.
stn_status cli_problem_load(cli_problem *problem, stn_context *context, const char *path, stn_error *err);
/// Zeroed memories for this solver, and room for the solution.
stn_status cli_problem_make_room(cli_problem *problem, const cli_solver *solver, stn_error *err);
/// A file may state parameters of the law (stiction_tolerance, sigma, beta), which stand before the law's own. One that
/// the user sets stands before the file's: takes it out of the problem. `told` (NULL: nobody) gets a sentence, or "".
void cli_problem_prefer(cli_problem *problem, const cli_settings *law, char *told, size_t size);
void cli_problem_clear(cli_problem *problem); ///< accepts one of zeros
int32_t cli_problem_contacts(const cli_problem *problem);

/// "converged", "not_converged", "failed".
const char *cli_solve_word(stn_status status);
void cli_certificate_unknown(stn_certificate *certificate); ///< NaN everywhere

#endif
