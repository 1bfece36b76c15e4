// SPDX-License-Identifier: Apache-2.0
// stiction compare: every problem through every solver, each pair in a process of its own, judged by the core alone.
#ifndef STICTION_COMMAND_COMPARE_COMPARE_H
#define STICTION_COMMAND_COMPARE_COMPARE_H

#include <cjson/cJSON.h>

#include "common/solve_problem.h"

enum { COMPARE_MOST_POINTS = 64, COMPARE_TARGETS = 3, COMPARE_NOTE = 1024 };

typedef enum compare_status {
    COMPARE_CONVERGED, // by its own account
    COMPARE_NOT_CONVERGED,
    COMPARE_FAILED, // an error, a crash, or a problem that cannot be read
    COMPARE_TIMEOUT,
    COMPARE_REFUSED, // the solver does not treat such problems
    COMPARE_STATUS_COUNT
} compare_status;

/// What is written into one field of a row's JSON and of the CSV: a solve with an iteration limit, judged.
typedef struct compare_point {
    int32_t iterations;
    double time_ms;        // median of the repeats
    double residual;       // by the solver's own formulation
    double natural_scaled; // by Coulomb's law
} compare_point;

/// One problem with one solver. Lies in memory shared with the process that solves.
typedef struct compare_row {
    bool done;   // the solve has ended, and what follows is valid
    bool traced; // the curve came to its end
    bool bent;   // with a smaller limit of iterations it converged sooner: the curve is not that of one solve
    compare_status status;
    int32_t iterations, islands, repeats;
    double time_ms, residual;
    stn_certificate certificate;
    char note[COMPARE_NOTE];
    int32_t point_count;
    compare_point points[COMPARE_MOST_POINTS]; // by growing limits, then the row itself, and what it came to when it
                                               // stopped short
} compare_row;

typedef struct compare_problem {
    const char *path;
    const char *name; // as short as can be told apart
    bool read;
    int32_t contacts, constraints, nv;
    char unreadable[COMPARE_NOTE]; // why
    char note[COMPARE_NOTE];       // what reading it warned of
} compare_problem;

/// A solver as it is named: "bisection:local=golden".
typedef struct compare_solver {
    const char *label;
    char *words; // what `choice` borrows from
    cli_settings settings[3];
    cli_solver_choice choice;
    cli_solver solver;
    stn_formulation formulation;
} compare_solver;

typedef struct compare_options {
    const char *solvers, *law, *csv, *html;
    double tolerance, timeout_s;
    int32_t max_iterations; // CLI_UNSET: each solver's own
    int32_t jobs;
    cli_list set;
    bool json, curves, cold;
} compare_options;

typedef struct comparison {
    const cli_command *command;
    compare_options options;
    stn_context *context;
    compare_problem *reading; // whose warnings come in; NULL: nobody's, or they are known
    int32_t problem_count, solver_count;
    compare_problem *problems;
    compare_solver *solvers;
    compare_row *rows; // problem by problem
} comparison;

static const double compare_targets[COMPARE_TARGETS] = {1e-3, 1e-6, 1e-9}; // of relative residuals

static inline const compare_row *compare_row_of(const comparison *c, int32_t problem, int32_t solver) {
    return &c->rows[problem * c->solver_count + solver];
}

/// The solvers that --solvers names, or all that are installed, made ready. CLI_PROCEED, or the exit status after one
/// line.
int compare_choose_solvers(comparison *c);
void compare_clear_solvers(comparison *c);

/// The name of the certificate's figure by which a formulation is judged, and the figure.
const char *compare_measure(stn_formulation formulation);
double compare_residual(stn_formulation formulation, const stn_certificate *certificate);
/// Does the solver solve Coulomb's law itself, so that natural_scaled can become 0?
bool compare_is_coulomb(stn_formulation formulation);

// child.c: in the process of a row. What is found out lies in the row.
void compare_solve_row(comparison *c, cli_problem *problem, int32_t index);
/// The solver again with growing limits, up to what it needed.
void compare_trace_row(comparison *c, cli_problem *problem, int32_t index);
/// The row itself is a point of its curve.
void compare_close_curve(compare_row *row);

/// Fills the rows.
stn_status compare_solve(comparison *c, stn_error *err);
/// Then their curves.
stn_status compare_trace(comparison *c, stn_error *err);

/// Where a curve first comes to `target`: between two points on the straight line through their logarithms. False: it
/// does not. `coulomb`: by natural_scaled instead of the own residual.
bool compare_reach(const compare_row *row, double target, bool coulomb, double *iterations, double *time_ms);

void compare_print_table(const comparison *c);
cJSON *compare_json(const comparison *c);
/// Files that appear whole or not at all. CLI_PROCEED, or the exit status after one line.
int compare_write_csv(const comparison *c, const char *path);
int compare_write_page(const comparison *c, const char *path);

#endif
