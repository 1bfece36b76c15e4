// SPDX-License-Identifier: Apache-2.0
// H = A + J^T G J over the velocities of a global problem, G block diagonal over constraints: its pattern, its sum and
// its factor, for all methods that keep the velocities.
//
// Block    an articulated tree, or one node of a nodal tree: the block unit of H. Vectors over velocities may be
//          "padded": every block starts at a multiple of 4 doubles and ends in zeros, so that loops run over whole
//          vectors; or "compact", blocks one after the other, which is the order of the dofs.
// Cluster  the constraints on the same blocks. Their rows are stacked, 3 per cone first, then box and equality rows
//          ("lines"), then zero rows up to a multiple of 4. One Jacobian panel (rows x padded block) for each block.
//          Contacts of a large tree with what has no dofs are a cluster of their own, whose panel holds their wrenches
//          (rows x 8): augmented_motion.h. So are rows of one dof of such a tree, whose panel holds that number (rows).
// Lane     a cone, in the order of the clusters and the structure-of-arrays form that laws evaluate.
#ifndef SOLVER_COMMON_AUGMENTED_H
#define SOLVER_COMMON_AUGMENTED_H

#include <stiction/plugin.h>

#include "common/augmented_motion.h"
#include "common/incomplete.h"
#include "common/symbolic_cache.h"

typedef struct augmented_block {
    int32_t n, ld;   // size, and size rounded up to 4
    int32_t tree;    // of the problem
    int32_t dof;     // first dof in the problem
    int32_t start;   // in padded vectors
    int32_t compact; // in compact vectors
    int64_t A;       // its diagonal block of A (n x ld); -1 in a tree of `bodies`: own_A
} augmented_block;

/// One block of a cluster: its Jacobian panel, and where the products J_p^T G J_q with the blocks q <= p of the cluster
/// begin (n_p x ld_q each).
typedef struct augmented_part {
    int32_t block;
    int64_t panel, product;
} augmented_part;

typedef struct augmented_cluster {
    int32_t part_start, part_count; // blocks, ascending
    int32_t constraint_count;
    int32_t lane_start, lane_count;
    int32_t line_start, line_count;
    int32_t row_start, rows; // a multiple of 4
    int32_t motion;          // of `motions`, whose wrenches it holds; -1: Jacobian panels
    bool unit;               // lines of one dof each, `line_dof`, of an articulated tree
    bool changed;            // some G differs from that in H
} augmented_cluster;

/// A cluster acts on a block by this part.
typedef struct augmented_touch {
    int32_t cluster, part;
} augmented_touch;

/// Term of a block of H: a product J_p^T G J_q of a cluster, or (cluster -1) block `product` of a nodal A.
typedef struct augmented_term {
    int32_t row, cluster;
    int64_t product;
} augmented_term;

/// Block of H in the lower triangle, by block column: A + sum of its terms.
typedef struct augmented_entry {
    int32_t row, column; // blocks
    int32_t term_start, term_count;
    const double *A; // n_row x n_column at distance A_ld; NULL: zero
    int32_t A_ld;
    int32_t stride; // of `values`
    double *values;
} augmented_entry;

/// A row of a cluster that has a part in H: where it is in the panel, and in G J, which holds such rows alone.
typedef struct augmented_row {
    int32_t panel, product;
} augmented_row;

typedef struct augmented {
    const stn_problem *problem;
    const stn_solve_control *control;

    // packed
    int32_t block_count, nv, nx; // nx: length of padded vectors, a multiple of 8
    augmented_block *blocks;
    bool nodal;              // some A is
    int32_t *tree_block;     // first block of each tree
    stn_articulated *bodies; // (tree_count) of trees whose A is articulated, room for such an H; n is 0 of others
    double **own_A;          // (tree_count) of those, from augmented_analyse_entries on
    int64_t A_size;
    double *A; // diagonal blocks, zeros beyond
    int32_t cluster_count, row_count;
    augmented_cluster *clusters;
    augmented_part *parts;
    int64_t panel_size;
    double *panels;
    double *stacked;      // (row_count) between lanes and panels
    int32_t *touch_start; // (block_count + 1) parts of clusters by block, for several threads; NULL: for one
    augmented_touch *touches;
    int32_t motion_count; // large trees that have wrenches
    augmented_motion *motions;
    int32_t *lane_tip;               // (lane_count) of those
    int32_t lane_count, lane_stride; // lane_stride: a multiple of STN_LANES
    int32_t *lane_constraint;        // the problem's constraint of each lane
    int32_t line_count, line_stride; // line_stride: a multiple of 8
    int32_t *line_row;               // the problem's row of each line
    int32_t *line_dof;               // (line_count) of lines of one dof: that dof, in the block
    double *proximal;                // (nv) compact, added to the diagonal of H; NULL: every A is regular

    // analysed
    bool ready; // pattern and memory are there
    bool fresh; // nothing is in it that may stay
    bool dense;
    int32_t entry_count;
    augmented_entry *entries;
    augmented_term *terms;
    double *product;
    size_t scratch_size; // of one worker
    double *scratch;     // (workers x scratch_size) G J of one cluster
    int32_t active_size;
    augmented_row *active; // (workers x 2 active_size) its rows with G != 0, and those that reach a tile
    double *line_G;        // those in H
    stn_block_matrix matrix;
    bool *changing; // (block_count) blocks that constraints act on; NULL: all is factored each time
    bool factored;  // with the damping below
    double damping;
    const stn_factor_ops *ops;
    void *factor;   // borrowed from the workspace
    double *values; // dense: unknowns x stride
    double *lower;  // dense: L, or the values of `ltl`
    int32_t stride;
    bool branched; // dense, of one tree whose branches do not meet in H, or that is small: its factor is `ltl`
    stn_ltl ltl;

    /// One tree whose A is articulated, with wrenches and rows of single dofs alone: H is such a matrix
    /// too, with the stiffness of contacts in the inertias. A dense H is made only where its diagonal is scaled.
    bool articulated;
    double *inertia, *extra;              // (n x 6 x 8), (n) of H
    const double *given_G, *given_line_G; // as augmented_assemble was given them
    bool entries_made;                    // entries and memory of the dense H
    bool by_bodies;                       // the factor is that of its `bodies`

    bool iterative; // H has an incomplete factor, for conjugate gradients
    incomplete incomplete;
} augmented;

/// AUTO: the factor plugin of `control` where there is one, else dense up to 40 dofs or one block, else by blocks.
/// ITERATIVE: an incomplete factor, for who solves by conjugate gradients. LARGE: that where a whole factor would take
/// more time than a few iterations, else AUTO.
typedef enum augmented_form {
    AUGMENTED_AUTO,
    AUGMENTED_DENSE,
    AUGMENTED_BLOCK,
    AUGMENTED_ITERATIVE,
    AUGMENTED_LARGE
} augmented_form;

/// Blocks, A and the panels of all constraints. The workspace of `control` is a symbolic_cache; everything else lives
/// in its arena. Numbers that are not finite stay what they are.
stn_status augmented_pack(augmented *h, const stn_problem *problem, const stn_solve_control *control, stn_error *err);
/// delta.
#define AUGMENTED_SHARE 1e-8

/// `proximal` by proximal_weights. Whoever takes it holds the velocities that it leaves open to where they are: a
/// solution must not depend on it.
stn_status augmented_hold(augmented *h, stn_error *err);
/// Pattern, memory and symbolic factor, once for what was packed.
stn_status augmented_analyse(augmented *h, augmented_form form, stn_error *err);
/// Gives an iterative one a whole factor, of the H that it has the incomplete one of.
stn_status augmented_complete(augmented *h, stn_error *err);
/// An order of elimination for H with its pattern key->pattern, by the `order` of the factor: see augmented_order.c.
stn_status augmented_order(const augmented *h, const symbolic_key *key, int32_t *order, stn_error *err);
/// Own A, memory and entries of a dense H or one by blocks, for what augmented_analyse found articulated.
stn_status augmented_analyse_entries(augmented *h, augmented_form form, stn_error *err);
/// Sums H. G and line_G stay the caller's until the factor is made. G: of the lanes, symmetric 3 x 3 each, stored as
/// 11, 12, 22, 13, 23, 33 (6 x lane_stride). line_G: of the lines (line_stride). Only blocks whose G changed are
/// written. `changed` (lane_stride): 0 where a lane's G is that of the last call; NULL: nothing is known of lanes.
void augmented_assemble(augmented *h, const double *G, const double *line_G, const int64_t *changed);
/// Factors H + proximal, the diagonal of H times 1 + damping. STN_ERR_NUMERIC: not positive definite.
stn_status augmented_factor(augmented *h, double damping, stn_error *err);
/// x = H^-1 x, compact. Not of an iterative one.
void augmented_solve(const augmented *h, double *x);

/// Calls run(user, begin, end, worker) for parts of [0, count) that cover it, by the threads of `control` in pieces of
/// `piece`: about 2 us of work. What is computed must not depend on where parts begin.
void augmented_parallel(const augmented *h, int32_t count, int32_t piece,
                        void (*run)(void *user, int32_t begin, int32_t end, int32_t worker), void *user);

/// A vector of the problem's dofs into a padded one, and back.
void augmented_pad(const augmented *h, const double *x, double *padded);
void augmented_unpad(const augmented *h, const double *padded, double *x);
/// D = diag(A)^-1/2, padded; where a dof has no inertia of its own the largest of its tree stands in, or 1.
void augmented_scale(const augmented *h, double *D);
/// y = A x, padded.
void augmented_mass_times(const augmented *h, const double *x, double *y);
/// J x of a padded x, by lanes (3 x lane_stride) and lines.
void augmented_jacobian_times(const augmented *h, const double *x, double *v, double *line_v);
/// y = J^T gamma, padded.
void augmented_jacobian_transposed(const augmented *h, const double *gamma, const double *line_gamma, double *y);

/// Of padded vectors: their lengths are multiples of 8.
double padded_dot(int32_t n, const double *x, const double *y);
double padded_scaled_norm(int32_t n, const double *d, const double *x); // |D x|
bool padded_finite(int64_t n, const double *x);

/// What a cluster with `motion` >= 0 holds.
static inline augmented_wrenches augmented_wrenches_of(const augmented *h, const augmented_cluster *cluster) {
    return (augmented_wrenches){cluster->lane_count, h->panels + h->parts[cluster->part_start].panel,
                                h->lane_tip + cluster->lane_start};
}

/// The diagonal block of A (n x ld).
static inline const double *augmented_A(const augmented *h, const augmented_block *block) {
    return block->A < 0 ? h->own_A[block->tree] : h->A + block->A;
}

/// The clock, while somebody asks for a profile.
static inline double phase_mark(const stn_solve_control *control) {
    return control->phase_us != NULL ? stn_clock_us() : 0.0;
}

/// Adds what passed since `mark` to a phase.
static inline void phase_note(const stn_solve_control *control, stn_phase phase, double mark) {
    if (control->phase_us != NULL) {
        control->phase_us[phase] += stn_clock_us() - mark;
    }
}

#endif
