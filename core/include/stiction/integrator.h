// SPDX-License-Identifier: Apache-2.0
// Integrators: how a step is composed. Collision, problem, solve and certificate lie between form and advance.
#ifndef STICTION_INTEGRATOR_H
#define STICTION_INTEGRATOR_H

#include <stiction/forces.h>
#include <stiction/solver.h>

STN_BEGIN_C

/// What the elements of one group read beside their nodes, as stn_element_batch has it, of all of the group.
typedef struct stn_element_inputs {
    const double *channels; // stacked in their order; NULL: it has none
    const double *state;    // (element_count x state_count) as the step before left it; NULL: it has none
} stn_element_inputs;

/// What an integrator sees: the state at the step's start and the sampled forces. Read only, borrowed for the call.
typedef struct stn_integrator_view {
    stn_context *context;               // for allocation in set-up and messages
    const stn_model *model;             // compiled
    double time, dt;                    // [s]
    stn_vec3 gravity;                   // [m/s^2], world
    const double *q, *v;                // (nq), (nv)
    const stn_kinematics *kinematics;   // at (q, v)
    stn_kinematics *scratch_kinematics; // free for use at other (q, v)
    const stn_forces *forces;           // controllers, applied forces, joint damping, elements
    const stn_matrix *M;                // (tree_count) mass matrices at q
    stn_arena *arena;                   // lives until the step ends
    /// (nv) in `advance`, with a solver of STN_NEEDS_V_POSITION: q moves by dt N v_position, and v_next follows from v
    /// as ever. NULL otherwise. An integrator that does so has "v_position" among its capabilities; others are refused
    /// beside such a solver.
    const double *v_position;
    // in `solve`, for integrators that evaluate elements themselves; NULL otherwise
    const stn_element_inputs *elements; // (element_group_count)
    const double *effort;               // (nv) what is applied to dofs from outside, a part of forces->tau [N], [N m]
    /// (tree_count) of trees that sleep, v = 0: `form` leaves out what it would write for them, A among it, which is
    /// still there. NULL: none. An integrator that does so has "sleep" among its capabilities; others are refused in
    /// worlds whose trees may sleep.
    const bool *asleep;
} stn_integrator_view;

/// The velocities of a tree's Coriolis and centrifugal forces c(q0, v), a quadratic form in v.
typedef enum stn_bias_rule {
    STN_BIAS_START, // c(v0)
    STN_BIAS_MEAN,  // c(v_m), v_m = (v0 + v_star)/2
    STN_BIAS_POLAR, // C(v0, v_star) = 2 c(v_m) - (c(v0) + c(v_star))/2, the symmetric bilinear form of c
} stn_bias_rule;

/// What is linear in accelerations and quadratic in velocities, as a rule takes it: the sum, times the weights, of what
/// it is at v0 + part (v_star - v0).
typedef struct stn_bias_look {
    double part;   // of the way from v0 to v_star
    double weight; // of what it is there
} stn_bias_look;
enum { STN_BIAS_LOOKS = 3 }; // most that a rule has

/// The looks of a rule; returns how many. [any]
static inline int32_t stn_bias_looks(stn_bias_rule rule, stn_bias_look looks[STN_BIAS_LOOKS]) {
    const bool polar = rule == STN_BIAS_POLAR;
    looks[0].part = rule == STN_BIAS_START ? 0.0 : 0.5;
    looks[0].weight = polar ? 2.0 : 1.0;
    looks[1].part = 0.0;
    looks[2].part = 1.0;
    looks[1].weight = looks[2].weight = -0.5;
    return polar ? 3 : 1;
}

/// What form fills. Arrays exist already; A[t] comes dense (articulated) or nodal with the tree's pattern, zeroed. To
/// an integrator that has "writes_A" among its capabilities it comes with any values, all of which it writes. For one
/// that has "articulated" M[t] and A[t] of a large tree are articulated, too, unless K or D couples its dofs; it is
/// given problems whose Jacobian blocks may have wrenches alone.
typedef struct stn_formed {
    stn_matrix *A;   // (tree_count), impulse scaling: A (v - v_star) = J^T gamma [N s]
    double *v_star;  // (nv)
    double *v0;      // (nv) previous velocity for the problem; preset to v
    double *v_guess; // (nv) warm start; preset to v
    double *v_told;  // (nv) where motors that are rows are told to go: what is in reach follows; preset to zero
    /// (nv) preset to zero [N s]. What form leaves here the core moves into v_star (v_star += A^-1 free_impulse), with
    /// the factors of A that it needs anyway; where A is singular it stays in the problem as it is. A must be positive
    /// semidefinite: an indefinite one is an error that names group and joint. Singular ones need a solver that says
    /// STN_SUPPORTS_SINGULAR_A.
    double *free_impulse;
    stn_velocity_kind velocity_kind; // preset to end
    double theta;                    // preset to 1
    /// Where the affine forces act, for the account of the inputs' work: at q0 + force_theta dt N v_vq, v_vq =
    /// force_theta_vq v
    /// + (1 - force_theta_vq) v0, and at v0 + force_theta (v - v0). Preset to 1.
    double force_theta, force_theta_vq;
    stn_bias_rule
        *bias_rule; // (tree_count) how Coriolis and centrifugal forces are taken, for sensors; preset to start
    /// Contacts act where they are at q0 + contact_theta dt N v0, and their rows hold the velocities of the step's end
    /// at the place of the step's end. Elements that say "load" act there, too. Preset to 0: where they are at q0, and
    /// there.
    double contact_theta;
    /// (tree_count) matrices that inverse masses are taken from in place of A, positive definite, the view's arena
    /// holds them; n = 0: none for that tree. Preset to NULL: A itself, and M where A is singular.
    const stn_matrix *scale;
    /// [s] tau_d of contacts whose surfaces set none. Preset to dt.
    double relaxation_time;
    /// [m] Pairs nearer than this are in the problem, whatever speeds promise. Preset to 0.
    double reach;
    /// What moves may carry everything else along within the step: the reach of all pairs follows from the fastest
    /// speed of any. Preset to false: from the speeds of the pair.
    bool carries;
    /// Rigid contacts stay rigid with solvers of exact friction, too, as the option exact_contacts has it. Preset to
    /// false.
    bool exact_contacts;
    /// The setting that makes A singular. The refusal by a solver begins with this static text. Preset to NULL.
    const char *singular_by;
    /// solve(core, t, x): x (n_t) = A_t^-1 x of an articulated tree whose A is complete. The step keeps the factor that
    /// the first call makes: A_t must not change from then on. False: A_t has no inverse; the core says so after form.
    bool (*solve)(void *core, int32_t tree, double *x);
    void *core;
} stn_formed;

/// What an integrator does; plugin kind "integrator".
typedef struct stn_integrator_ops {
    uint32_t size; // sizeof of the struct as the plugin was compiled
    /// OPTIONAL (absent: 0). Bytes of state kept across steps, asked once at compile time. [setup]
    size_t (*state_size)(const void *self, const stn_model *model);
    /// REQUIRED. [step] no allocation but from the view's arena. STN_NOT_CONVERGED: all is filled, but less exact than
    /// the scheme promises, as the text says: the step counts as not converged and the first such text is a warning.
    stn_status (*form)(void *self, const stn_integrator_view *view, void *state, stn_formed *formed, stn_error *err);
    /// REQUIRED. The problem's v and gamma -> next (q, v). gamma is stacked as the problem's rows. [step]
    stn_status (*advance)(void *self, const stn_integrator_view *view, void *state, const stn_problem *problem,
                          const double *v, const double *gamma, double *q_next, double *v_next, stn_error *err);
    /// OPTIONAL (absent: the world's solver finds v and gamma). The integrator makes the step itself, from the
    /// assembled problem and the model, by a method that does not solve the problem: the world's solver is not used.
    /// Fills v (nv), gamma (row_count) and v_position (nv) of `solution`, and `info`. `reaction` (nv) [N s], [N m s],
    /// zero on entry: the impulses that hold nodes whose motion is known (stn_model_node_moves is false), without those
    /// that balance contacts; other entries are ignored. The certificate judges v and gamma as those of a solver. With
    /// a status >= 0 the step counts as approximate: STN_NOT_CONVERGED, and not as a failure. w of the problem is set,
    /// R and v_hat are not. A of clouds is not factored: the free velocity is v_star + A^-1 free_impulse. [step]
    stn_status (*solve)(void *self, const stn_integrator_view *view, void *state, const stn_problem *problem,
                        stn_solution *solution, double *reaction, stn_solve_info *info, stn_error *err);
} stn_integrator_ops;

/// Does it make the step itself, in place of a solver? Thread: [any].
static inline bool stn_integrator_solves(const stn_integrator_ops *ops) {
    const size_t end = (size_t)((const char *)(&ops->solve + 1) - (const char *)ops);
    return end <= ops->size && ops->solve != NULL;
}

STN_END_C
#endif
