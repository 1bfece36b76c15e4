// SPDX-License-Identifier: Apache-2.0
// Inside of the solver sap: one contact problem packed for Newton's method.
//
// Block    an articulated tree, or one node of a nodal tree: the block unit of H. Vectors over velocities are "padded":
//          every block starts at a multiple of 4 doubles and ends in zeros, so that loops run over whole vectors.
// Cluster  the constraints on the same blocks. Their rows are stacked, 3 per cone first, then box and equality rows
//          ("lines"), then zero rows up to a multiple of 4. One Jacobian panel (rows x padded block) for each block.
// Lane     a cone, in the order of the clusters and the structure-of-arrays form that laws evaluate.
#ifndef SAP_SYSTEM_H
#define SAP_SYSTEM_H

#include <stiction/kernel.h>
#include <stiction/plugin.h>

// Loops over vectors that shall stay in registers must disappear.
#define SAP_UNROLL _Pragma("GCC unroll 8")

// Four doubles; lowered to what the target has. Passed by value only between inlined functions, so no ABI is at stake.
#pragma GCC diagnostic ignored "-Wpsabi"
typedef double sap_v4 __attribute__((vector_size(32), may_alias));

typedef double sap_v4u __attribute__((vector_size(32), aligned(8), may_alias));
typedef double sap_v2u __attribute__((vector_size(16), aligned(8), may_alias));

STN_KERNEL_INLINE sap_v4 sap_load(const double *x) {
    return *(const sap_v4 *)x;
}

STN_KERNEL_INLINE void sap_store(double *x, sap_v4 a) {
    *(sap_v4 *)x = a;
}

/// rows x n values into rows x ld, filled up with zeros.
STN_KERNEL_INLINE void sap_copy_padded(int64_t rows, int64_t n, int64_t ld, const double *values, double *out) {
    for (int64_t r = 0; r < rows; r++, values += n, out += ld) {
        for (int64_t i = 0; i < n; i++) {
            out[i] = values[i];
        }
        for (int64_t i = n; i < ld; i++) {
            out[i] = 0.0;
        }
    }
}

/// The same for 6 values a row.
STN_KERNEL_INLINE void sap_copy_padded_6(int64_t rows, const double *values, double *out) {
    for (int64_t r = 0; r < rows; r++, values += 6, out += 8) {
        sap_v2u rest = *(const sap_v2u *)(values + 4);
        *(sap_v4 *)out = (sap_v4) * (const sap_v4u *)values;
        *(sap_v4 *)(out + 4) = (sap_v4){rest[0], rest[1], 0.0, 0.0};
    }
}

typedef struct sap_config {
    int32_t line_search, factorization;
    double line_search_tolerance;
} sap_config;

enum { SAP_EXACT, SAP_ARMIJO };
enum { SAP_AUTO, SAP_DENSE, SAP_BLOCK };

typedef struct sap_block {
    int32_t n, ld;   // size, and size rounded up to 4
    int32_t tree;    // of the problem
    int32_t dof;     // first dof in the problem
    int32_t start;   // in padded vectors
    int32_t compact; // among the unknowns of H: blocks one after the other
    int64_t A;       // its diagonal block of A (n x ld)
} sap_block;

/// One block of a cluster: its Jacobian panel, and where the products J_p^T G J_q with the blocks q <= p of the cluster
/// begin (n_p x ld_q each).
typedef struct sap_part {
    int32_t block;
    int64_t panel, product;
} sap_part;

typedef struct sap_cluster {
    int32_t part_start, part_count; // blocks, ascending
    int32_t constraint_count;
    int32_t lane_start, lane_count;
    int32_t line_start, line_count;
    int32_t row_start, rows; // a multiple of 4
    bool changed;            // some G differs from that in H
} sap_cluster;

/// Constraints at one velocity: cones by lanes, scalar rows by lines.
typedef struct sap_point {
    double *v, *gamma, *G;                // velocity and impulse (3 x stride), Hessian of the potential (6 x stride)
    double *line_v, *line_gamma, *line_G; // (line_stride)
    double cost;                          // sum of the potentials [J]
} sap_point;

/// Term of a block of H: a product J_p^T G J_q of a cluster, or (cluster -1) block `product` of a nodal A.
typedef struct sap_term {
    int32_t row, cluster;
    int64_t product;
} sap_term;

/// Block of H in the lower triangle, by block column: A + sum of its terms.
typedef struct sap_entry {
    int32_t row, column; // blocks
    int32_t term_start, term_count;
    const double *A; // n_row x n_column at distance A_ld; NULL: zero
    int32_t A_ld;
    int32_t stride; // of `values`
    double *values;
} sap_entry;

typedef struct sap_hessian {
    bool ready; // pattern and memory are there
    bool fresh; // nothing is in it yet
    bool dense;
    int32_t entry_count;
    sap_entry *entries;
    sap_term *terms;
    double *product;
    double *scratch;  // G J of one cluster
    int32_t *active;  // its rows with G != 0
    int64_t *changed; // by lanes: the model's G differs from that in H
    stn_block_matrix matrix;
    const stn_factor_ops *ops;
    void *factor;   // borrowed from the workspace
    double *values; // dense: unknowns x stride
    double *lower;  // dense: L
    int32_t stride;
} sap_hessian;

/// Newton's state.
typedef struct sap_system {
    const stn_problem *problem;
    const stn_solve_control *control;
    const sap_config *config;

    int32_t block_count, nv, nx; // nx: length of padded vectors, a multiple of 8
    sap_block *blocks;
    int32_t *tree_block; // first block of each tree
    double *A;
    double *v, *v_star, *force, *D; // force: free impulse; D = diag(A)^-1/2
    double *p, *A_v_star, *Av;      // p = A (v - v_star)
    double *j, *gradient;           // j = J^T gamma; gradient = p - j - force
    double *dv, *dp, *compact;

    int32_t cluster_count, row_count;
    sap_cluster *clusters;
    sap_part *parts;
    double *panels;
    double *rows; // (row_count) between lanes and panels

    stn_law_batch batch;
    int32_t line_count, line_stride;
    int32_t *line_row; // the problem's row of each line
    double *bias, *line_bias;
    double *line_R, *line_v_hat, *line_lo, *line_hi;
    double *lane_cost;
    double *dv_c, *line_dv; // J dv
    double *H_G, *H_line_G; // those in H
    double *predicted;      // impulses that the model gives the full step (3 x stride); at first the warm start's
    sap_point now, trial;

    double cost; // (v - v_star)^T A (v - v_star)/2 - force.v + potentials [J]
    sap_hessian H;
    int32_t factorizations, evaluations;
} sap_system;

/// The clock, while somebody asks for a profile.
static inline double sap_mark(const sap_system *s) {
    return s->control->phase_us != NULL ? stn_clock_us() : 0.0;
}

/// Adds what passed since `mark` to a phase.
static inline void sap_note(const sap_system *s, stn_phase phase, double mark) {
    if (s->control->phase_us != NULL) {
        s->control->phase_us[phase] += stn_clock_us() - mark;
    }
}

/// workspace.c: packs the problem with v as warm start. STN_ERR_NUMERIC names what is not finite. Everything lives in
/// the arena of `control`.
stn_status sap_pack(sap_system *s, const double *v, stn_error *err);
/// Doubles of the solve's arena: the last 8 and 8 beyond are zero, or all. Whole vectors may be read from the end.
bool sap_allocate(sap_system *s, int64_t n, double **out);
/// Several of them at once, in one piece.
typedef struct sap_array {
    double **out;
    int64_t n;
} sap_array;
bool sap_allocate_all(sap_system *s, int32_t count, const sap_array *arrays);
bool sap_allocate_zeroed(sap_system *s, int64_t n, double **out);
/// Something is not finite: says what.
stn_status sap_name_fault(const sap_system *s, const double *v, stn_error *err);
/// clusters.c: the part of packing that concerns constraints.
stn_status sap_pack_constraints(sap_system *s, const double *v, stn_error *err);
/// Back into the problem's order.
void sap_unpack(const sap_system *s, stn_solution *solution);

/// pattern.c: pattern and memory of H, once a solve and only when a step is needed.
stn_status sap_hessian_create(sap_system *s, stn_error *err);
/// hessian.c: H = A + J^T G J at the present point, G that of the model; only blocks whose G changed are written.
void sap_hessian_assemble(sap_system *s);

/// anticipate.c: G of Newton's model at the present point into H_G: that of the potential, and more for contacts that
/// are predicted to stick. Marks the lanes where it was another.
void sap_anticipate(sap_system *s);
/// The impulses that the model gives the full step dv.
void sap_predict(const sap_system *s);

/// factor.c: H's pattern, memory and symbolic factor.
stn_status sap_factor_create(sap_system *s, stn_error *err);
/// Assembles and factors H at the present point, or H + 1e-12 diag(H) when `damped`. Creates what is not there yet.
stn_status sap_factor(sap_system *s, bool damped, stn_error *err);
/// dv = -H^-1 gradient, dp = A dv, dv_c = J dv. Returns the slope gradient.dv.
double sap_direction(sap_system *s);

/// linesearch.c: moves along dv, leaving all of the state at the new point. Returns the step.
double sap_line_search(sap_system *s, double slope);

/// kernels.c. Lengths are multiples of 8.
double sap_dot(int32_t n, const double *x, const double *y);
double sap_scaled_norm(int32_t n, const double *d, const double *x); // |D x|
bool sap_finite(int64_t n, const double *x);
/// y = A x
void sap_mass_times(const sap_system *s, const double *x, double *y);
/// J x, by lanes and lines.
void sap_jacobian_times(const sap_system *s, const double *x, double *v, double *line_v);
/// j = J^T gamma of the present point.
void sap_jacobian_transposed(sap_system *s);
/// gamma, G and cost at the velocities of `at`.
void sap_evaluate(sap_system *s, sap_point *at);
/// The whole state from v alone.
void sap_refresh(sap_system *s);
/// gradient, j and Av at the present point.
void sap_gradient(sap_system *s);
#endif
