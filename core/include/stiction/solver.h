// SPDX-License-Identifier: Apache-2.0
// Solvers: contact problem -> next velocities and impulses.
#ifndef STICTION_SOLVER_H
#define STICTION_SOLVER_H

#include <stiction/delassus.h>
#include <stiction/law.h>

STN_BEGIN_C

/// What a solver solves; the certificate judges it by this.
typedef enum stn_formulation {
    STN_REGULARIZED, // the minimiser of the law's convex potential
    STN_CCP,         // convex relaxation of Coulomb friction
    STN_NCP,         // exact Coulomb-Signorini
    STN_LCP,         // polyhedral cone
    STN_QP,          // linearised, convex
    STN_MDP, // Signorini's condition with maximal dissipation: v^T W_ii^-1 v least over a contact's cone with v_n = 0
} stn_formulation;
/// "regularized", "ccp", ...; NULL outside the range.
STN_API const char *stn_formulation_name(stn_formulation formulation);

/// What a solver leaves in the solution; the core completes the other one: v by A^-1, gamma by the law and the box law.
/// Where an A of the island is singular v is the solver's, always.
typedef enum stn_yield { STN_YIELDS_VELOCITY = 1, STN_YIELDS_IMPULSE = 2, STN_YIELDS_BOTH = 3 } stn_yield;

enum {
    STN_NEEDS_DELASSUS = 1u << 0, // control.inverse and control.delassus are made for it, where A is regular
    STN_NEEDS_LAW = 1u << 1,      // control.law is there, and is evaluated
    /// R and v_hat of contacts are those of the chosen law, which must have `regularize` and not pull; without
    /// STN_NEEDS_LAW it is not evaluated. For convex solvers of impulses: rigid contacts may have no solution. Without
    /// a law, and in the local form, they are the physical ones.
    STN_REGULARIZED_BY_LAW = 1u << 2,
    STN_NEEDS_INVERSE = 1u << 3, // control.inverse is made for it, where A is regular
    /// It leaves solution.v_position beside v, and worlds take only integrators that move q by it ("v_position" among
    /// their capabilities).
    STN_NEEDS_V_POSITION = 1u << 4,
    STN_NEEDS_RIGID_CONTACTS = 1u << 5, // worlds leave rigid contacts rigid: it softens them itself
};

/// What a solver can do beyond the sets that it takes: stn_solver_ops.supports.
enum {
    /// A may be singular (positive semidefinite): velocities that A alone does not determine follow from the
    /// constraints. control.singular says where. There is no A^-1 then: control.inverse and control.delassus are NULL,
    /// and v is the solver's. It reports convergence only where A (v - v_star) = J^T gamma + free_impulse holds. One
    /// without it is refused by name where an A is singular.
    STN_SUPPORTS_SINGULAR_A = 1u << 0,
    /// The local form, without STN_NEEDS_DELASSUS: it reads W and q by stn_delassus_build itself, and yields impulses.
    STN_SUPPORTS_LOCAL_FORM = 1u << 1,
    /// It works by products with A. Worlds then leave nodal trees without a factor, v_star has about what forces make,
    /// and free_impulse the rest, where A is regular, too. Without STN_NEEDS_INVERSE and STN_NEEDS_DELASSUS.
    STN_SUPPORTS_UNFACTORED_A = 1u << 2,
    /// `solve` takes articulated matrices, and Jacobian blocks of such trees that have wrenches alone. Others are given
    /// dense ones (stn_problem_expand), which cost n^2 a step, and so is everybody where some A is singular.
    STN_SUPPORTS_ARTICULATED_A = 1u << 3,
};

/// Parts of a step that a profile tells apart within its stages.
typedef enum stn_phase {
    STN_PHASE_BROAD_PHASE,  // of the collision
    STN_PHASE_NARROW_PHASE, // of the collision, with materials and what is dropped again
    STN_PHASE_SET_UP,       // of the solve: a solver packs the problem for itself
    STN_PHASE_HESSIAN,      // of the solve: the matrix of an iteration, with its pattern
    STN_PHASE_FACTOR,       // of the solve: its factorisation
    STN_PHASE_LINE_SEARCH,  // of the solve
    STN_PHASE_DELASSUS,     // of the solve: the Delassus operator of solvers that need it, before they begin
    STN_PHASE_OBSERVERS,    // after the step: observers and recorders
    STN_PHASE_COUNT         // how many there are
} stn_phase;
/// "broad_phase", ...; NULL outside the range.
STN_API const char *stn_phase_name(stn_phase phase);

/// A dof of a tree of the problem.
typedef struct stn_unheld {
    int32_t tree, dof; // -1: none
} stn_unheld;

/// Stopping rules common to all solvers; a plugin adds none of its own with these meanings.
typedef struct stn_solve_control {
    double tolerance;             // relative [1]: of natural maps (stn_delassus_residual) to the largest speed, |b| or
                                  // |v_hat| of a row; of momentum to the larger of |D A v| and |D J^T gamma|
    double absolute_tolerance;    // [sqrt(J)] of momentum, or of a contact velocity over sqrt(w): done whatever the
                                  // scale; a solver of impulses may leave it out
    int32_t max_iterations;       // then it ends with STN_NOT_CONVERGED
    stn_context *context;         // for allocation in the workspace and messages
    stn_arena *arena;             // scratch, reset by the caller afterwards
    stn_threads *threads;         // to be used within the call; NULL where islands are solved side by side
    const stn_law *law;           // NULL unless STN_NEEDS_LAW
    const void *law_memory;       // memory_per_constraint bytes per slot, read only; NULL without
    void *memory;                 // the solver's own memory_per_constraint bytes per slot, in and out; NULL without
    const stn_inverse *inverse;   // A^-1; NULL unless STN_NEEDS_INVERSE or _DELASSUS, and where an A is singular
    const stn_delassus *delassus; // NULL unless STN_NEEDS_DELASSUS, and where an A is singular
    const stn_factor_ops *factor; // factorisation chosen by the user for systems of the solver's own; NULL: its default
    void *factor_self;            // of that factorisation, for its symbolic
    /// The cache across calls (symbolic factors), made by create_workspace; no two calls at a time share one.
    void *workspace;
    /// (STN_PHASE_COUNT) [us]: a solver adds what its parts take, by stn_clock_us. NULL: nobody asks, read no clock.
    double *phase_us;
    const bool *singular; // (tree_count) whose A is singular; NULL: none is
    stn_unheld *unheld;   // out, where it is not NULL: what stn_fail_unheld names
} stn_solve_control;

/// Fails with STN_ERR_NUMERIC, because A is singular at a dof and no constraint resists the free impulse on it; the
/// text names it, and `told` (may be NULL) gets it. [step]
STN_API stn_status stn_fail_unheld(const stn_problem *problem, stn_unheld where, stn_unheld *told, stn_error *err);

/// v in: warm start; out: best iterate. gamma likewise. What a solver does not yield it leaves alone. Owned by the
/// caller.
typedef struct stn_solution {
    double *v;     // (nv)
    double *gamma; // (row_count)
    /// (nv) the mean velocity of the step that moves q, where that is not v: what undoes an overlap need not stay as a
    /// speed. A velocity of bodies, whatever the problem's velocity_kind. NULL unless STN_NEEDS_V_POSITION, and where
    /// the caller has no use for it; out only.
    double *v_position;
} stn_solution;

/// Why it stopped, for people and logs; accuracy is never read from here.
typedef struct stn_solve_info {
    int32_t iterations;                              // 0: the start was a solution
    double cost;                                     // objective where there is one, else NaN
    const char *reason;                              // static text in the solver's own words: "residual", "iterations"
    int32_t factorizations, line_search_evaluations; // 0 where a solver has none
    int32_t fallbacks; // how often it took up another method for want of progress; what it solves stays the same
} stn_solve_info;

/// How a solution moves with its problem, to first order. Column k adds impulse_k to the momentum and velocity_k to the
/// velocities of the rows:
///
///     A (v + dv_k - v_star) = J^T (gamma + dgamma_k) + free_impulse + impulse_k,
///     v_c = J (v + dv_k) + bias + velocity_k
///
/// Arrays hold the columns one after the other.
typedef struct stn_sensitivity {
    int32_t columns;        // > 0
    const double *impulse;  // (columns x nv) [N s]
    const double *velocity; // (columns x row_count) [m/s]
    double *dv;             // out: (columns x nv)
    double *dgamma;         // out: (columns x row_count)
    bool *unique;           // out, OPTIONAL. false: v is one of many (A is singular); dv is how the one found moves
                            // while Jacobians stay
} stn_sensitivity;

/// What a solver does; plugin kind "solver".
typedef struct stn_solver_ops {
    uint32_t size;               // sizeof of the struct as the plugin was compiled
    stn_formulation formulation; // what it solves
    stn_yield yields;            // what it leaves
    uint32_t needs;              // STN_NEEDS_...
    uint32_t sets;               // 1u << STN_SET_CONE | ...; a problem with others is refused, naming the rows
    /// OPTIONAL. A cache (factors, packed arrays) for calls one after the other; may allocate whenever sizes grow,
    /// nothing in it may change the result. [setup]
    stn_status (*create_workspace)(void *self, stn_context *context, void **workspace, stn_error *err);
    void (*destroy_workspace)(void *workspace); // REQUIRED with create_workspace
    /// REQUIRED. Solves one island: `problem`, inverse and delassus are of it alone, islands may run at the same time
    /// on other workers. STN_OK: to the tolerance; STN_STALLED: as near as digits allow; STN_NOT_CONVERGED: given up.
    /// All three leave the best iterate in `solution`; negative: untouched. [step]
    stn_status (*solve)(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err);
    int32_t max_iterations; // default of the shared parameter; 0: that of the kind. First-order methods take thousands
    /// OPTIONAL. What it solves as it is configured, where parameters change that; absent: `formulation`. Thread:
    /// [any].
    stn_formulation (*configured)(const void *self);
    /// OPTIONAL. One contact by itself, for solvers that go from contact to contact: v = c + W gamma, |gamma_t| <= mu
    /// gamma_n, rows tangent 1, tangent 2, normal; W (3 x 3) symmetric positive definite [1/kg]; gamma (3) to
    /// `precision` [N s]. Thread: [any].
    void (*solve_contact)(const void *self, double mu, const double *W, const double *c, double precision,
                          double *gamma);
    uint32_t supports; // OPTIONAL. STN_SUPPORTS_..., 0: nothing of it
    /// OPTIONAL. Implicit differentiation at a solution that `solve` found for the same problem and control. Where a
    /// contact is at the border of two modes (it touches without force, or sticks at the limit of friction) the result
    /// is the derivative to one side of it. STN_ERR_NUMERIC: the solution does not determine it. One island, as for
    /// `solve`, or a tree without constraints; memory is zeroed. [step]
    stn_status (*differentiate)(void *self, const stn_problem *problem, const stn_solve_control *control,
                                const stn_solution *solution, const stn_sensitivity *sensitivity, stn_error *err);
} stn_solver_ops;

/// Does it need a contact law: because it evaluates one, or because the core does to find the impulses that belong to
/// its velocities? Thread: [any].
static inline bool stn_solver_needs_law(const stn_solver_ops *ops) {
    return (ops->needs & STN_NEEDS_LAW) != 0 || ops->yields == STN_YIELDS_VELOCITY;
}
/// Does it need none, but takes R and v_hat from a law when there is one? Thread: [any].
static inline bool stn_solver_may_have_law(const stn_solver_ops *ops) {
    return !stn_solver_needs_law(ops) && (ops->needs & STN_REGULARIZED_BY_LAW) != 0;
}
/// Does it take problems with a singular A? Thread: [any].
static inline bool stn_solver_takes_singular(const stn_solver_ops *ops) {
    const size_t end = (size_t)((const char *)(&ops->supports + 1) - (const char *)ops);
    return end <= ops->size && (ops->supports & STN_SUPPORTS_SINGULAR_A) != 0;
}
/// Does it leave the A of nodal trees without a factor? Thread: [any].
static inline bool stn_solver_takes_unfactored(const stn_solver_ops *ops) {
    const size_t end = (size_t)((const char *)(&ops->supports + 1) - (const char *)ops);
    return (ops->needs & (STN_NEEDS_INVERSE | STN_NEEDS_DELASSUS)) == 0 && end <= ops->size &&
           (ops->supports & STN_SUPPORTS_UNFACTORED_A) != 0;
}
/// Does it take articulated matrices? Thread: [any].
static inline bool stn_solver_takes_articulated(const stn_solver_ops *ops) {
    const size_t end = (size_t)((const char *)(&ops->supports + 1) - (const char *)ops);
    return end <= ops->size && (ops->supports & STN_SUPPORTS_ARTICULATED_A) != 0;
}
/// Does it take problems in the local form? Thread: [any].
static inline bool stn_solver_takes_local(const stn_solver_ops *ops) {
    const size_t end = (size_t)((const char *)(&ops->supports + 1) - (const char *)ops);
    return ops->yields != STN_YIELDS_VELOCITY && ((ops->needs & STN_NEEDS_DELASSUS) != 0 ||
                                                  (end <= ops->size && (ops->supports & STN_SUPPORTS_LOCAL_FORM) != 0));
}
/// Has it any use for a contact law? Thread: [any].
static inline bool stn_solver_takes_law(const stn_solver_ops *ops) {
    return stn_solver_needs_law(ops) || stn_solver_may_have_law(ops);
}

STN_END_C
#endif
