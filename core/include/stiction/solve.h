// SPDX-License-Identifier: Apache-2.0
// One contact problem through a chosen solver: what a world does every step and `stiction solve` does once.
//
//     capabilities -> inverse masses w -> regularisation R, v_hat -> islands -> solve each -> complete v or gamma
//     -> certificate
#ifndef STICTION_SOLVE_H
#define STICTION_SOLVE_H

#include <stiction/plugin.h>

STN_BEGIN_C

/// A solver with its law, ready for one problem after the other. Owns scratch memory and solver workspaces for every
/// worker, so that a problem no larger than those before it allocates nothing. One call at a time.
typedef struct stn_problem_solver stn_problem_solver;

/// Chosen plugins; all borrowed, and must outlive the problem solver.
typedef struct stn_problem_solver_options {
    const stn_instance *solver; // kind solver; its shared parameters are the tolerances
    const stn_instance *law;    // kind law; NULL: only for solvers that need none
    const stn_instance *factor; // kind factor, for systems of the solver's own; NULL: the solver's default
    stn_threads *threads;       // islands run on these workers; NULL: the calling thread alone
} stn_problem_solver_options;

/// stn_problem_solver_create for options of `size` bytes; context.h.
STN_API stn_status stn_problem_solver_create_sized(stn_context *context, const stn_problem_solver_options *options,
                                                   size_t size, stn_problem_solver **out, stn_error *err);
/// STN_ERR_ARGUMENT: an instance of the wrong kind, or a solver that needs a law and has none. [setup]
static inline stn_status stn_problem_solver_create(stn_context *context, const stn_problem_solver_options *options,
                                                   stn_problem_solver **out, stn_error *err) {
    return stn_problem_solver_create_sized(context, options, sizeof *options, out, err);
}
STN_API void stn_problem_solver_destroy(stn_problem_solver *solver); ///< accepts NULL

/// What a problem is solved with, beyond the problem. Zero is a valid request: w as it stands, no memories.
typedef struct stn_solve_request {
    bool masses;                // compute w and w_trace of all constraints first; otherwise they are used as they stand
    const stn_inverse *inverse; // A^-1, factored already for exactly these trees; NULL: computed here when it is needed
    const void *law_memory;     // the law's memory_per_constraint bytes per slot (stn_constraint.memory); NULL without
    void *solver_memory;        // the solver's, in and out; NULL without
    uint32_t certificate_flags; // STN_CERTIFICATE_...
    /// (STN_PHASE_COUNT) [us]: what the solver's parts take over all islands is added; NULL: no profile.
    double *phase_us;
    /// Not NULL: the solution is an input, made by a method that does not solve the problem; this tells its iterations,
    /// cost and reason, and nothing else of it is read. No solver runs, and the certificate judges the solution as it
    /// is. The status is STN_NOT_CONVERGED with `not_converged` 0, as of an approximate solver. NULL: the solver
    /// solves.
    const stn_solve_info *given;
} stn_solve_request;

/// How it went. `iterations` is the largest over the islands, counts and cost are sums over them.
typedef struct stn_solve_report {
    stn_status status; // the worst of the islands: STN_OK, STN_STALLED, STN_NOT_CONVERGED
    /// not_converged: islands that ended as STN_NOT_CONVERGED; 0 of an approximate solver, whose status says so always
    int32_t iterations, island_count, not_converged;
    int32_t factorizations, line_search_evaluations; // sums over the islands
    int32_t fallbacks;                               // the same of those of the solver, stn_solve_info
    double cost;                                     // NaN when the solver has no objective; 0 without islands
    const char *reason; // why the worst island stopped, static text; "no constraints" without islands
    int32_t worst;      // the first island of that status, -1 without islands
    double prepare_us, solve_us, certificate_us; // masses and regularisation; islands and completion; certificate
    /// Islands whose solver says that it is done and is not: they are among `not_converged`.
    stn_contradiction contradiction;
    /// After a failure, too: what nothing holds, or where the solver that needs A^-1 first meets a singular A.
    stn_unheld unheld;
} stn_solve_report;

/// Can this solver (and law) treat the problem's sets and form? STN_ERR_UNSUPPORTED names the first constraints that it
/// cannot treat and the solvers that can. stn_problem_solve asks first, and then, with A factored, whether a singular A
/// is within STN_SUPPORTS_SINGULAR_A; no need to call both. Thread: [any].
STN_API stn_status stn_problem_solver_accepts(const stn_problem_solver *solver, const stn_problem *problem,
                                              stn_error *err);

/// What the solver solves as it is configured. Thread: [any].
STN_API stn_formulation stn_solver_formulation(const stn_instance *solver);

/// Solves `problem`, whose w, w_trace (on request), R and v_hat (unless explicit_R) are written; warm starts are its
/// v_guess and gamma_guess. Trees in no island get v = v_star + A^-1 free_impulse; where A is singular some v for which
/// A (v - v_star) = free_impulse, and STN_ERR_NUMERIC naming tree and dof where there is none: nothing holds the tree.
/// The result does not depend on the number of workers. `solution`: arrays v (nv) and gamma (row_count) of the caller;
/// out only. v is left alone for a local problem. `report` and `certificate` may be NULL; the certificate is made all
/// the same: an island whose claim it contradicts is STN_NOT_CONVERGED (stn_contradiction). STN_OK, STN_STALLED,
/// STN_NOT_CONVERGED: all outputs filled. Negative: outputs untouched but for report->unheld; the text names the plugin
/// and the island. [step]
STN_API stn_status stn_problem_solve(stn_problem_solver *solver, stn_problem *problem, const stn_solve_request *request,
                                     stn_solution *solution, stn_solve_report *report, stn_certificate *certificate,
                                     stn_error *err);

STN_END_C
#endif
