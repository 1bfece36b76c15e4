// SPDX-License-Identifier: Apache-2.0
// The contact problem: one time step as pure data,
//
//     A (v - v_star) = J^T gamma + free_impulse,   every gamma in its set,
//
// with A symmetric positive (semi)definite and block diagonal over trees. A value: it can be saved, loaded and solved
// with no world around. Impulses [N s] always, whatever the time-stepping scheme.
#ifndef STICTION_PROBLEM_H
#define STICTION_PROBLEM_H

#include <stiction/math.h>
#include <stiction/matrix.h>
#include <stiction/threads.h>

STN_BEGIN_C

/// What a constraint stands for: decides how R and v_hat of its rows are derived, and the words of reports.
typedef enum stn_constraint_kind {
    STN_CONSTRAINT_CONTACT,        // point or face of a patch
    STN_CONSTRAINT_JOINT_LIMIT,    // joint limit
    STN_CONSTRAINT_COUPLER,        // mimic, gear
    STN_CONSTRAINT_SERVO,          // PD with effort limit
    STN_CONSTRAINT_DRY_FRICTION,   // joint friction
    STN_CONSTRAINT_WELD,           // rotation or translation of two frames
    STN_CONSTRAINT_BALL,           // origins of two frames meet
    STN_CONSTRAINT_DISTANCE,       // of two origins
    STN_CONSTRAINT_VELOCITY_LIMIT, // of a joint
    STN_CONSTRAINT_PLUGIN,         // rows of a plugin of kind constraint
    STN_CONSTRAINT_KIND_COUNT      // how many there are
} stn_constraint_kind;

/// Where the impulses of a constraint may lie.
typedef enum stn_constraint_set {
    STN_SET_CONE,     // |gamma_t| <= mu1 gamma_n; 3 rows t1, t2, n
    STN_SET_ELLIPSE,  // (gamma_1/mu1)^2 + (gamma_2/mu2)^2 <= gamma_n^2; 3 rows
    STN_SET_BOX,      // lo <= gamma <= hi, row by row
    STN_SET_EQUALITY, // gamma free, row by row
    STN_SET_COUNT     // how many there are
} stn_constraint_set;

/// Names as in JSON ("contact", "joint_limit", ...; "cone", "ellipse", "box", "equality"); NULL outside the range.
STN_API const char *stn_constraint_kind_name(stn_constraint_kind kind);
STN_API const char *stn_constraint_set_name(stn_constraint_set set);

/// Rows of one constraint, and nodes that may support one side of it, at most.
#define STN_MAX_ROWS  6
#define STN_MAX_NODES 8

/// Columns of a constraint's Jacobian that belong to one tree. Dense: values are rows x n_t, row-major. By node
/// (node_count > 0): with m = node_size, block b is rows x m, row-major, at values + m rows b, for the m dofs of the
/// tree's node node[b], which begin at dof m node[b]. m is that of A where A is nodal.
typedef struct stn_jacobian {
    int32_t tree;                // -1: the world, no block
    int32_t node_count;          // 0: dense
    int32_t node_size;           // dofs of a node, 1 to STN_MAX_NODE_SIZE; no matter where dense
    int32_t node[STN_MAX_NODES]; // ascending, within the tree
    const double *values;        // [1] where the row slides, [m] where it turns
    /// OPTIONAL, of a tree with `motion`: values = wrench S on the way from dof `tip` to the root, 0 elsewhere. NULL:
    /// not told. Where the tree's A is articulated `values` may be NULL, for the wrench says it all.
    const double *wrench; // (rows x 8) moment and force on the tree, about the point of S, two zeros
    int32_t tip;          // a dof of the tree
} stn_jacobian;

/// A constraint of 1 to 6 rows. Contact frame: normal from A into B, v_c = R^T (v_B - v_A) + bias, v_n > 0 separates,
/// gamma acts on B; rows tangent 1, tangent 2, normal. If both bodies belong to one tree, J[0] holds J_B - J_A and
/// J[1].tree is -1. A constraint that moves more than two trees (a tendon) has the blocks of the others in `more`:
/// every tree has one block. stn_constraint_block reads them all.
typedef struct stn_constraint {
    uint64_t id;              // persists from step to step; unique in a problem
    stn_constraint_kind kind; // what it stands for
    stn_constraint_set set;   // where its impulses may lie
    int32_t row, rows;        // its rows are [row, row + rows)
    stn_jacobian J[2];        // J[0].tree >= 0 always
    // physical data; NaN where it does not apply
    double phi0;            // signed distance now [m]; rad where the row turns; of several box or equality rows see phi
    double stiffness;       // k [N/m], infinite = rigid
    double relaxation_time; // tau_d [s]
    double dissipation;     // Hunt-Crossley d [s/m]
    double mu1, mu2;        // friction along t1, t2 (equal unless the set is an ellipse)
    double restitution;
    double w;        // inverse mass |J P^-1 J^T|_F / rows [1/kg], P the scale of A (stn_inverse)
    double w_trace;  // trace of J P^-1 J^T of this constraint [1/kg]
    double gamma_n0; // normal impulse of the step before, for lagged laws; NaN: the law guesses it from phi0 and v0
    double vn0;      // previous normal velocity; NaN: from v0
    int32_t memory;  // slot in the memory blocks of the law and the solver, -1: none
    // for reporting only
    double anchor[2]; // of a contact that stiction holds: displacement along t1, t2 [m], of a joint in the first [m,
                      // rad]; `bias` has anchor/dt of it, which is no slip of the bodies. 0: none
    int32_t body[2];  // A, B as the world numbers them, -1: none (a node, or no world)
    int32_t contact;  // index into the contact set, -1
    int32_t patch;    // -1
    stn_vec3 point;   // world [m]
    stn_mat3 frame;   // columns t1, t2, n in world axes
    // trees beyond two
    int32_t more_count;       // 0 unless J[1].tree >= 0
    const stn_jacobian *more; // (more_count) of trees that differ from those of J and from each other; NULL: none
} stn_constraint;

/// How many trees a constraint moves: it has a Jacobian block of each. 0 in a local problem.
static inline int32_t stn_constraint_block_count(const stn_constraint *constraint) {
    return (constraint->J[0].tree >= 0) + (constraint->J[1].tree >= 0) + constraint->more_count;
}

/// Block k of [0, stn_constraint_block_count); its tree is >= 0. Thread: [any].
static inline const stn_jacobian *stn_constraint_block(const stn_constraint *constraint, int32_t k) {
    return k < 2 ? &constraint->J[k] : &constraint->more[k - 2];
}

/// Three rows in a friction cone, circular or elliptic; rows of all other constraints have bounds. Thread: [any].
static inline bool stn_constraint_has_cone(const stn_constraint *constraint) {
    return constraint->set == STN_SET_CONE || constraint->set == STN_SET_ELLIPSE;
}

/// Dofs of one tree within the problem.
typedef struct stn_problem_tree {
    int32_t dof_start; // its velocities are [dof_start, dof_start + A.n) of v
    int32_t source;    // tree id in the world, or in the file
    stn_matrix A;      // symmetric >= 0, n > 0
    /// OPTIONAL, of an articulated tree: how bodies move, for solvers that use it. NULL: not told; files do not hold
    /// it.
    const double *motion; // S (n x 8), angular and linear velocity of each dof, about a point that all share, two zeros
    const int32_t *parent; // (n) the dof before it on the way to the root, < its own number; -1: none
} stn_problem_tree;

/// Global: A, v_star and Jacobians. Local: W and q, no velocities.
typedef enum stn_problem_form { STN_FORM_GLOBAL, STN_FORM_LOCAL } stn_problem_form;
/// What v is: the velocity at the step's end, or (1 - theta) v0 + theta times it.
typedef enum stn_velocity_kind { STN_VELOCITY_END, STN_VELOCITY_MID } stn_velocity_kind;

/// Everything is borrowed by the struct; the owner is who made it: the step's arena, or stn_problem_load.
typedef struct stn_problem {
    const char *name;                // may be NULL
    stn_problem_form form;           // says which of the members below are there
    stn_velocity_kind velocity_kind; // what v is
    double theta;                    // weight of the next velocity in v when the kind is mid; 1 for end
    double dt;                       // [s]
    int32_t nv, tree_count, constraint_count, row_count; // nv and tree_count are 0 in the local form
    stn_problem_tree *trees;                             // (tree_count), by dof_start
    stn_constraint *constraints;                         // rows are stacked in this order

    // global form, lengths nv
    double *v0;           // velocity before the step: physical data
    double *v_star;       // velocity without constraints
    double *v_guess;      // where a solver may start; no influence on the solution
    double *free_impulse; // [N s], NULL = zero; what v_star does not hold: where A is singular or not factored

    // local form: velocities v_c = W gamma + q. W is row_count x row_count, row-major; V, R_bilateral, s as in FCLIB
    // (u = W r + V l + q, 0 = V^T r + R l + s), bilateral_count = 0 when absent.
    double *W, *q, *V, *R_bilateral, *s;
    int32_t bilateral_count;
    bool general_W; // W need be neither symmetric nor semidefinite, as those of literature problems are; a solver that
                    // needs an energy takes its symmetric part, the certificate W as it is

    // per row, lengths row_count
    double *bias;    // v_c = J v + bias
    double *lo, *hi; // box sets: impulse bounds [N s]; else -inf, inf
    double *R;       // regularisation [1/kg]: v_c + R gamma is what the set's law acts on, see v_hat
    double *v_hat;   // target velocity
    double *phi;     // errors of the rows of box and equality sets with several [m, rad]; NaN, and NULL for all: phi0's
    double *gamma_guess; // warm start [N s]
    bool explicit_R;     // R and v_hat came from a file and must not be derived again

    /// NaN unless a file states them: parameters of the contact law, which stand before its own where it has those of
    /// these names. No world states them.
    double beta, sigma, stiction_tolerance;
} stn_problem;

/// out (rows x n, row-major) = a block of a constraint of `rows` rows, however it is stored, n dofs of its tree.
/// Thread: [any].
STN_API void stn_jacobian_expand(const stn_problem *problem, const stn_jacobian *J, int32_t rows, double *out);
/// A shallow copy in which no A is articulated and every Jacobian block has values, for who does not know these forms:
/// what differs lies in `arena`. False: out of memory. Thread: as stn_matrix_mul_add.
STN_API bool stn_problem_expand(const stn_problem *problem, stn_arena *arena, stn_problem *out);

/// How many numbers a row of a Jacobian block has: all n of its tree, or those of its nodes. Thread: [any].
static inline int32_t stn_jacobian_columns(const stn_problem *problem, const stn_jacobian *J) {
    return J->node_count > 0 ? J->node_size * J->node_count : problem->trees[J->tree].A.n;
}

/// A problem owned by the caller (file, test): release with stn_problem_destroy.
typedef struct stn_problem_owner stn_problem_owner;

/// Reads a file with the plugin of kind problem_file that recognises its content, or whose ending it has: JSON
/// ("contact-problem-1" and "-2"), or HDF5 in the local or global form of FCLIB (a global one with bilateral rows or an
/// M that is not symmetric becomes local). Errors name file, line or key, what is wrong and what to do: missing key,
/// wrong length, NaN, A not symmetric (relative 1e-9) or not positive semidefinite, mu < 0, unknown format, unknown
/// kind. Missing w and w_trace are computed where A is regular; R and v_hat in the file make explicit_R true. A
/// "solution" object in a JSON file is ignored. Schema: docs/contact-problem.md.
STN_API stn_status stn_problem_load(stn_context *context, const char *path, stn_problem_owner **out, stn_error *err);
/// Lives as long as the owner. A shallow copy of it may be solved: w, R and v_hat are then written into the owner's
/// arrays.
STN_API const stn_problem *stn_problem_of(const stn_problem_owner *owner);
STN_API void stn_problem_destroy(stn_problem_owner *owner); ///< accepts NULL
/// The format that holds everything: of capsules, and of files whose ending no plugin lists.
#define STN_PROBLEM_FORMAT "contact-problem-2"
/// Writes a problem in a format by its name ("contact-problem-2", "contact-problem-1", "fclib"); NULL: by the path's
/// ending, else STN_PROBLEM_FORMAT. STN_ERR_UNSUPPORTED names what the format would lose, STN_ERR_ARGUMENT a format
/// that no plugin writes. The file appears whole or not at all.
STN_API stn_status stn_problem_save(stn_context *context, const stn_problem *problem, const char *format,
                                    const char *path, stn_error *err);
/// Writes the impulses and contact velocities of a solution, in the format that the path's ending asks for: .hdf5 for
/// FCLIB's tools (group `solution`: r, u). `v` (nv) may be NULL of a local problem. STN_ERR_UNSUPPORTED: no plugin
/// writes solutions under such a name, or for other sets than cones.
STN_API stn_status stn_solution_save(stn_context *context, const stn_problem *problem, const double *v,
                                     const double *gamma, const char *path, stn_error *err);
/// Does a plugin write problems (`solution`: solutions) into files whose names end like this one? STN_ERR_UNSUPPORTED
/// lists the endings that are known.
STN_API stn_status stn_problem_file_named(stn_context *context, const char *path, bool solution, stn_error *err);
/// Deep copy, for capturing one step.
STN_API stn_status stn_problem_copy(stn_context *context, const stn_problem *problem, stn_problem_owner **out,
                                    stn_error *err);
/// The problem in its local form: W = J A^-1 J^T and q = J (v_star + A^-1 free_impulse) + bias by dense blocks; a
/// contact's vn0 is stated. A local problem is copied. STN_ERR_NUMERIC where A is singular, STN_ERR_UNSUPPORTED above
/// 8192 rows.
STN_API stn_status stn_problem_local(stn_context *context, const stn_problem *problem, stn_problem_owner **out,
                                     stn_error *err);
/// Every invariant above; STN_ERR_NUMERIC or STN_ERR_ARGUMENT naming the first offender. NaN is named by tree and dof
/// or by constraint and member. Allocates scratch from `context`.
STN_API stn_status stn_problem_check(stn_context *context, const stn_problem *problem, stn_error *err);

/// What stn_problem_check asks of a matrix: finite, symmetric to 1e-9 of the diagonal, positive semidefinite to
/// round-off, with a well-formed pattern. `label` names it in the text ("tree 0: A"). Allocates scratch from `context`.
STN_API stn_status stn_matrix_check(stn_context *context, const char *label, const stn_matrix *a, stn_error *err);

/// y += s J_c^T gamma_c over all constraints (global form); gamma has row_count, y nv entries. Thread: [any]; this and
/// the next one at a time where some A is articulated.
STN_API void stn_problem_jacobian_transposed_add(const stn_problem *problem, double s, const double *gamma, double *y);
/// y (nv) = sum over rows of |J_r| |gamma_r|: how large the impulses are that cancel where forces balance and nothing
/// has momentum. An impulse (v_hat - v_c)/R is itself a difference: of springs (box and equality rows of finite
/// stiffness) it counts as at least what they give where nothing moves, of all rows as 1e-9 |v_hat - bias|/R, within
/// their bounds. After regularisation. Thread: [any].
STN_API void stn_problem_impulse_sizes(const stn_problem *problem, const double *gamma, double *y);
/// The worst of the trees that are `singular` (tree_count) and loaded (f is not 0): |A (v - v_star) - J^T gamma - f|
/// over the largest of |A v|, the sizes above and |f|, each of the tree alone, so that a strong motor elsewhere does
/// not hide that a light object is not carried. `work` holds 3 nv. NaN where something is. Thread: [any].
STN_API double stn_problem_imbalance(const stn_problem *problem, const bool *singular, const double *v,
                                     const double *gamma, double *work);
/// v_c = J v (+ bias when `with_bias`), row_count entries.
STN_API void stn_problem_contact_velocity(const stn_problem *problem, const double *v, bool with_bias, double *v_c);
/// The same of one constraint, without bias: gamma and v_c hold its `rows` entries, y and v all nv. Thread: [any].
STN_API void stn_constraint_transposed_add(const stn_problem *problem, const stn_constraint *constraint, double s,
                                           const double *gamma, double *y);
STN_API void stn_constraint_velocity(const stn_problem *problem, const stn_constraint *constraint, const double *v,
                                     double *v_c);
/// y = A (x - x0) over all trees; x0 may be NULL.
STN_API void stn_problem_mass_times(const stn_problem *problem, const double *x, const double *x0, double *y);

/// Fills R and v_hat from phi0, stiffness k, relaxation_time tau_d, w and dt. With c = 1/(dt k (dt + tau_d)), 0 when k
/// is infinite or NaN, and the near-rigid floor R_nr = 0.01/(4 pi^2) w:
///   box, equality  R = max(R_nr, c), v_hat = -phi/(dt + tau_d); phi of the row, else phi0; without both v_hat = 0.
///                  Where the floor wins tau_d is dt for rigid rows, max(tau_d, dt) for others: what a damper holds
///                  still creeps at -phi/tau_d; min(tau_d, dt) for joint limits. Rows that nothing moves (w = 0, c = 0)
///                  get R = 1e100: no impulse
///   servo          the same with k = kp, tau_d = kd/kp kept where the floor wins (both gains shrink)
///   dry friction   R = 1e-3 w, v_hat = 0
///   cone, ellipse  physical compliance alone: R_n = c, R_t = 0, v_hat_n = -phi0/(dt + tau_d) (0 for a local
///                  problem without phi0). A rigid contact of the global form with restitution e that closes faster
///                  than the forces of two steps make: v_hat_n = max(-e v_n0, that) when it is closed by the step,
///                  -phi0/dt before
/// A convex law then replaces its own rows (law.h). Does nothing when explicit_R.
STN_API void stn_problem_regularize(stn_problem *problem);
/// R of the rows of one box or equality set [1/kg], and the tau_d of their v_hat [s]. Thread: [any].
STN_API double stn_constraint_regularize(const stn_constraint *constraint, double dt, double *relaxation_time);

/// Box law of one row: y = (v_hat - v_c)/R, gamma = clamp(y, lo, hi). Returns the cost [J].
static inline double stn_box_law(double v_c, double R, double v_hat, double lo, double hi, double *gamma, double *G) {
    double y = (v_hat - v_c) / R;
    bool inside = y > lo && y < hi;
    double g = y < lo ? lo : (y > hi ? hi : y);
    *gamma = g;
    *G = inside ? 1.0 / R : 0.0;
    return R * g * (y - 0.5 * g);
}

STN_END_C
#endif
