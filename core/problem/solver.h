// SPDX-License-Identifier: Apache-2.0
// Inside of the problem solver: what its files share.
#ifndef STICTION_CORE_PROBLEM_SOLVER_H
#define STICTION_CORE_PROBLEM_SOLVER_H

#include <stiction/islands.h>
#include <stiction/solve.h>

/// What the islands of one chunk share: scratch of the island at hand, the solver's cache, and the first failure in
/// island order. It belongs to the chunk, not to the thread that happens to run it: which memory grows, and when, then
/// follows from the problems alone, and a steady step allocates nothing however the threads are scheduled.
typedef struct worker_slot {
    stn_arena *arena;
    void *workspace;
    stn_threads *threads;  // for the island at hand; NULL: they are busy with chunks
    int32_t failed_island; // -1: none
    stn_error error;
    double phase_us[STN_PHASE_COUNT]; // of this call, when a profile is asked for
} worker_slot;

struct stn_problem_solver {
    stn_context *context;
    stn_problem_solver_options options;
    bool approximate;     // the solver says so: no answer of it counts as converged, and none as a failure
    stn_solver_ops ops;   // of this library's size: operations that the plugin does not know are zero
    stn_law law;          // ops NULL when the solver needs none
    stn_law regularizer;  // whose R and v_hat contacts get; ops NULL: the physical ones
    stn_inverse *inverse; // for requests that bring none
    stn_arena *arena;     // of one call: islands, staged results
    int32_t slot_count;   // chunks at most; several for each worker, so that they even out
    worker_slot *slots;
};

/// How one island ended.
typedef struct island_outcome {
    stn_status status;
    stn_solve_info info;
    stn_unheld unheld; // in the island
} island_outcome;

/// One call, shared by the threads. Islands write to disjoint parts of v, gamma and outcomes.
typedef struct solve_job {
    stn_problem_solver *solver;
    stn_problem *problem;
    const stn_solve_request *request;
    const stn_solution *out;    // of the caller
    const stn_inverse *inverse; // of the whole problem; NULL in a local one
    stn_islands islands;
    bool whole; // one island that is the problem itself
    int32_t chunk_count;
    int32_t largest; // chunk of the island that has more than half of the constraints, solved by all threads; -1: none
    int32_t *chunk_start; // (chunk_count + 1) islands that a worker takes at a time; chunk i is run in worker slot i
    double *v, *gamma, *v_position; // the last: NULL when the solver leaves none, or nobody asks
    island_outcome *outcomes;       // (islands.count)
    stn_unheld unheld;              // what a failure is about
} solve_job;

// ------------------------------------------------------------------------------------------------ the solver's word

/// What stn_certify is asked.
typedef struct certificate_question {
    const stn_problem *problem;
    const double *v, *gamma;
    const stn_law *law;
    const void *law_memory;
    const stn_inverse *inverse;
    uint32_t flags;
    stn_arena *scratch;
} certificate_question;

/// What is smaller has a square without digits, so that norms tell nothing: groups that come to rest get there.
static const double no_digits = 1e-150;

/// What a certificate consists of, in the question's scratch: claims are those of islands.
typedef struct certificate_parts {
    stn_formulation formulation; // in: whose natural map `map` is
    const double *v_c;           // (row_count)
    const double *D2;            // (nv) diag(A)^-1 as the certificate has it; NULL of a local problem
    double *momentum; // (tree_count x 3) |D A v|^2, |D J^T gamma|^2, |D residual|^2; unset of a local problem
    double *map;      // (constraint_count) squares of natural maps [m^2/s^2]; NULL: STN_CERTIFICATE_LIGHT
    double *law;      // (constraint_count x 2) |gamma_i - law(v)_i|^2, max(|gamma_i|^2, |law(v)_i|^2); NULL: no law
} certificate_parts;

/// [J] that constraint i, a contact, stores at a gap; by the law that was asked for impulses, NULL: as a spring.
static inline double contact_stored(const stn_law *law, const stn_problem *p, int32_t i, double gap) {
    if (law != NULL && STN_PLUGIN_HAS(law->ops, stored)) {
        return law->ops->stored(law->self, p, i, gap);
    }
    const stn_constraint *c = &p->constraints[i];
    const double depth = gap < 0.0 ? gap : 0.0;
    const double compliance = p->R[c->row + 2] * p->dt * (p->dt + c->relaxation_time);
    return compliance > 0.0 ? 0.5 / compliance * depth * depth : 0.0;
}

/// stn_certify; `parts` may be NULL.
stn_status certify_in_parts(const certificate_question *q, certificate_parts *parts, stn_certificate *out,
                            stn_error *err);
/// Islands of the job that claim a solution, against the certificate (docs/certificate.md): a contradicted one ends as
/// STN_NOT_CONVERGED. STN_ERR_MEMORY, or what the problem's local form fails with.
stn_status judge_claims(const solve_job *job, const certificate_parts *parts, stn_contradiction *out, stn_error *err);

/// Checks the problem, factors A unless the request brings that, fills R and v_hat.
stn_status prepare_problem(solve_job *job, stn_error *err);

/// What a law is asked about.
typedef struct law_question {
    const stn_problem *problem;
    const stn_law *law;
    const void *law_memory;
    stn_arena *scratch;
    double *G; // (constraint_count x 6): receives the Hessians -dgamma/dv_c, of a cone or an ellipse 11, 12, 22, 13,
               // 23, 33, of other sets the diagonal; NULL: not wanted
} law_question;

/// gamma from v by the law, for solvers that yield velocities alone; box and equality rows by clamping.
stn_status complete_impulses(const law_question *q, const double *v, double *gamma, stn_error *err);
/// The same from the velocities v_c = J v + bias of the rows.
stn_status complete_impulses_at(const law_question *q, const double *v_c, double *gamma, stn_error *err);

#endif
