// SPDX-License-Identifier: Apache-2.0
// Dense kernels of the factorisations, compiled once for every vector width and chosen by what the processor has.
//
// Panels are column-major with leading dimension ld, a multiple of 8, 64-byte aligned: vectors run down the rows, so a
// panel of 6-row blocks wastes nothing. A panel of n columns and m >= n rows holds, after panel_factor, the columns of
// L (A = L L^T) in this form: within every chunk of KERNEL_CHUNK columns the square on the diagonal holds the strictly
// lower part of L' with L = L' diag(1/scale), L' unit; below it stand the entries of L. What stands above the diagonal
// is undefined.
#ifndef STICTION_CORE_BASE_KERNELS_H
#define STICTION_CORE_BASE_KERNELS_H

#include <stiction/factor.h>

enum { KERNEL_CHUNK = 6, KERNEL_ROWS = 8 };

/// `count` rows from `from` belong to rows from `to`.
typedef struct row_run {
    int32_t from, to, count;
} row_run;

typedef struct panel_kernels {
    /// Factors columns [begin, n) of the panel in place, all before being done; scale (n) receives 1/l_jj. Returns -1
    /// or the first column whose pivot is not > 0 (NaN and infinity included). begin is a multiple of KERNEL_CHUNK.
    int32_t (*panel_factor)(int32_t begin, int32_t n, int32_t m, int32_t ld, double *panel, double *scale);
    /// What panel_factor does to rows [first, m) once it has been through the rows above: first is a multiple of
    /// KERNEL_ROWS and >= n.
    void (*panel_rows)(int32_t begin, int32_t n, int32_t first, int32_t m, int32_t ld, double *panel,
                       const double *scale);
    /// Subtracts `columns` columns of L2 L2^T, whose rows go to another panel as `runs` say, from those columns there
    /// (to, to_ld): to[run.to + i + to_ld j] -= sum_k panel[run.from + i + ld k] panel[q + j + ld k], q = runs->from +
    /// skipped >= n, in the first run for i >= skipped + j and maybe some more rows >= skipped.
    void (*panel_subtract)(int32_t n, int32_t ld, const double *panel, const row_run *runs, int32_t run_count,
                           int32_t skipped, int32_t columns, double *to, int32_t to_ld);
    /// t (ld, rows of the panel): t_1 = L1^-1 t_1, t_2 -= L2 t_1.
    void (*panel_forward)(int32_t n, int32_t m, int32_t ld, const double *panel, const double *scale, double *t);
    /// t_1 = L1^-T (t_1 - L2^T t_2); rows of t from m up to the next multiple of 8 must be finite.
    void (*panel_backward)(int32_t n, int32_t m, int32_t ld, const double *panel, const double *scale, double *t);
    /// to += from, run by run.
    void (*add_runs)(const row_run *runs, int32_t count, const double *from, double *to);
    /// A block (rows x columns, row-major) to its place in a panel; flipped: its transpose.
    void (*write_block)(int32_t rows, int32_t columns, bool flipped, const double *from, double *to, int32_t ld);
} panel_kernels;

/// Row-major counterparts for one dense matrix; arguments as in <stiction/factor.h>.
typedef struct row_kernels {
    int32_t (*cholesky)(int32_t n, double *a, int32_t stride);
    void (*forward)(int32_t n, const double *l, int32_t stride, int32_t columns, double *x, int32_t stride_x);
    void (*backward)(int32_t n, const double *l, int32_t stride, int32_t columns, double *x, int32_t stride_x);
    /// y += s A (x - x0) of a symmetric A (n x n); x0 NULL: 0.
    void (*mul_add)(int32_t n, const double *a, double s, const double *x, const double *x0, double *y);
    /// y (count) += s x.
    void (*add_scaled)(int64_t count, double s, const double *x, double *y);
} row_kernels;

/// Free bodies and their contacts.
enum { BODY_FACTOR = 42, BODY_HALF = 24 };
typedef struct body_kernels {
    /// l (BODY_FACTOR): L (6 x 6, row-major, lower) of a, then 1/l_ii. Returns -1 or the first row whose pivot is not >
    /// max(0, singular a_ii) or not finite.
    int32_t (*factor)(const double *a, double singular, double *l);
    /// X (BODY_HALF, 32-byte aligned) = L^-1 J^T for J (3 x 6, row-major): four lanes a dof, t1, t2, n, 0.
    void (*half)(const double *l, const double *J, double *X);
    /// out (3 x 3, row-major) += X^T Y.
    void (*pair_add)(const double *X, const double *Y, double *out);
    /// |W|_F, and trace W, of W = sum over `count` bodies of J A^-1 J^T.
    double (*norm)(int32_t count, const double *const *l, const double *const *J, double *trace);
    /// x (6 each) = A^-1 x for `columns` vectors, one after the other.
    void (*solve)(const double *l, int32_t columns, double *x);
} body_kernels;

/// A = L^T L of base/ltl.h: v_ki = l_ki sqrt(v_kk) in rows of length n at distance `stride` >= n + 3, 1/v_kk and its
/// root (n each). Rows hold numbers without a meaning where L has no entries. Dofs are numbered depth first (n each):
/// parent: the last dof before it that carries it, -1; run: the first of the neighbours that carry one another up to
/// it. Neither is read up to STN_LTL_WHOLE rows.
typedef struct ltl_parts {
    int32_t n, stride;
    double *v, *inverse, *root;
    int32_t *parent, *run;
} ltl_parts;
#define BRANCHED_HALF(n) ((5 * (n) + 4) / 4 * 4) // doubles for the lanes of half, then the dofs and their number
typedef struct ltl_kernels {
    /// Returns -1 or the row whose pivot is not > max(0, singular a_kk) or not finite.
    int32_t (*factor)(const ltl_parts *f, const double *a, int32_t stride_a, double singular);
    void (*forward)(const ltl_parts *f, int32_t columns, double *x, int32_t stride_x);
    void (*backward)(const ltl_parts *f, int32_t columns, double *x, int32_t stride_x);
    /// X (4 n) = L^-T J^T for J (3 x n, row-major): four lanes a dof, t1, t2, n, 0. dofs (n) receives those that J
    /// moves, the last one first; returns their number.
    int32_t (*half)(const ltl_parts *f, const double *J, double *X, int32_t *dofs);
    /// W (3 x 3, row-major) += X^T Y over these dofs.
    void (*pair_add)(int32_t count, const int32_t *dofs, const double *X, const double *Y, double *W);
    /// W (3 x 3 x 4) = J A^-1 J^T of four J (3 x n) side by side: what half and pair_add make of each of them. Up to
    /// STN_LTL_WHOLE rows; X (12 n) is scratch.
    void (*four_squares)(const ltl_parts *f, const double *const J[4], double *X, double *W);
} ltl_kernels;

/// A = sum of S^T I S over dofs on their way to the root + diag(extra), stn_articulated; WIDE numbers a spatial vector.
enum { ARTICULATED_WIDE = 8 };
typedef struct articulated_parts {
    int32_t n;
    const int32_t *parent;  // (n)
    const double *S;        // (n x WIDE)
    double *F;              // (n x WIDE) articulated force of each dof
    double *inverse, *root; // (n) 1/D, its root
    double *block;          // (n x 6 x WIDE) articulated inertias, then responses
    double *work;           // (n x WIDE)
    double *passed;         // (n x 24)
} articulated_parts;
typedef struct articulated_kernels {
    /// Returns -1 or the row whose pivot D is not > max(0, singular diagonal) or not finite.
    int32_t (*factor)(const articulated_parts *f, const double *inertia, const double *extra, const double *diagonal,
                      double singular);
    void (*forward)(const articulated_parts *f, int32_t columns, double *x, int32_t stride_x);
    void (*backward)(const articulated_parts *f, int32_t columns, double *x, int32_t stride_x);
    /// X (4 n) = L^-T J^T of three rows J = E S on the way from `tip` to the root, E (3 x WIDE): four lanes a dof, t1,
    /// t2, n, 0. dofs (n) receives those, the tip first; returns their number.
    int32_t (*half)(const articulated_parts *f, const double *E, int32_t tip, double *X, int32_t *dofs);
    /// J (3 x n) = E S on that way; other entries stay. No factor.
    void (*rows)(const articulated_parts *f, const double *E, int32_t tip, double *J);
    /// X of any rows J (3 x n); dofs are those that are pushed, from the last one down.
    int32_t (*half_of_rows)(const articulated_parts *f, const double *J, double *X, int32_t *dofs);
    /// block of dof j = S_path A^-1 S_path^T of the way from j to the root.
    void (*response)(const articulated_parts *f);
    /// y += A x, without a factor.
    void (*times)(const articulated_parts *f, const double *inertia, const double *extra, const double *x, double *y);
    /// work = V (n x WIDE), V(j) = V(parent) + S_j x_j.
    void (*velocities)(const articulated_parts *f, const double *x);
    /// y_j += S_j . F(j), where work holds forces and F(j) is the sum of those at j or beyond.
    void (*gather)(const articulated_parts *f, double *y);
    /// W (3 x 3) += E G E^T, G (6 x WIDE) the block of a dof after `response`, E (3 x WIDE).
    void (*mass)(const double *G, const double *E, double *W);
    /// (A^-1)_jj of a dof, after `response`.
    double (*mobility)(const articulated_parts *f, int32_t j);
    /// A (n x n, both triangles), by the room of block.
    void (*expand)(const articulated_parts *f, const double *inertia, const double *extra, double *a);
} articulated_kernels;

typedef struct angle_kernels {
    /// cosine and sine (n) of angles (n) [rad]. Whole vectors of 4 are read and written: the arrays have room up to the
    /// next multiple of 4.
    void (*cosines_and_sines)(int32_t n, const double *angle, double *cosine, double *sine);
} angle_kernels;

#ifdef STN_KERNELS_X86
/// Has this processor AVX2 and fused multiply-add? Thread: [any].
bool kernels_have_avx2(void);
#endif
/// The tables for this processor. Thread: [any].
const panel_kernels *panel_kernels_choose(void);
const row_kernels *row_kernels_choose(void);
const body_kernels *body_kernels_choose(void);
const angle_kernels *angle_kernels_choose(void);
const ltl_kernels *ltl_kernels_choose(void);
const articulated_kernels *articulated_kernels_choose(void);

extern const panel_kernels panel_kernels_plain;
extern const row_kernels row_kernels_plain;
extern const body_kernels body_kernels_plain;
extern const angle_kernels angle_kernels_plain;
extern const ltl_kernels ltl_kernels_plain;
extern const articulated_kernels articulated_kernels_plain;
#ifdef STN_KERNELS_X86
extern const panel_kernels panel_kernels_avx2;
extern const row_kernels row_kernels_avx2;
extern const body_kernels body_kernels_avx2;
extern const angle_kernels angle_kernels_avx2;
extern const ltl_kernels ltl_kernels_avx2;
extern const articulated_kernels articulated_kernels_avx2;
#endif

#endif
