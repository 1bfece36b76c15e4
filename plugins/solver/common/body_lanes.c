// SPDX-License-Identifier: Apache-2.0
// See body_lanes.h.
#include "common/body_lanes.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    TRIANGLE = BODY_DOFS * (BODY_DOFS + 1) / 2, // of L^-1, rows one after the other
    TRIANGLE_ROOM = TRIANGLE + 3,
    BLOCK = BODY_ROWS * BODY_DOFS,
    BODY_ROOM = 8 // of six numbers
};

// Two and four numbers that need not be aligned.
typedef double loose_v2 __attribute__((vector_size(16), aligned(8), may_alias));
typedef double packed_v2 __attribute__((vector_size(16), may_alias));

bool body_lanes_fit(const stn_problem *problem) {
    bool fits = problem->form == STN_FORM_GLOBAL;
    for (int32_t t = 0; t < problem->tree_count && fits; t++) {
        const stn_matrix *A = &problem->trees[t].A;
        fits = A->n <= BODY_DOFS && (A->form == STN_MATRIX_DENSE || A->form == STN_MATRIX_DIAGONAL);
    }
    for (int32_t i = 0; i < problem->constraint_count && fits; i++) {
        const stn_constraint *c = &problem->constraints[i];
        fits = c->rows <= BODY_ROWS && c->more_count == 0 && c->J[0].tree >= 0 && c->J[0].node_count == 0 &&
               (c->J[1].tree < 0 || c->J[1].node_count == 0);
    }
    return fits;
}

// ------------------------------------------------------------------------------------------------ lanes of four
// records

STN_KERNEL_INLINE packed_v2 two(const double *x) {
    return *(const loose_v2 *)x;
}

STN_KERNEL_INLINE packed_v4 joined(packed_v2 a, packed_v2 b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3);
}

/// Numbers e and e + 1 of four records, each as a vector.
STN_KERNEL_INLINE void gather_two(const double *const from[4], int32_t e, packed_v4 out[2]) {
    const packed_v4 even = joined(two(from[0] + e), two(from[2] + e)), odd = joined(two(from[1] + e), two(from[3] + e));
    out[0] = __builtin_shuffle(even, odd, (lane_mask){0, 4, 2, 6});
    out[1] = __builtin_shuffle(even, odd, (lane_mask){1, 5, 3, 7});
}

/// One of each.
STN_KERNEL_INLINE packed_v4 gather(const double *const from[4], int32_t e) {
    return (packed_v4){from[0][e], from[1][e], from[2][e], from[3][e]};
}

/// And back: numbers e and e + 1 of four records.
STN_KERNEL_INLINE void scatter_two(packed_v4 a, packed_v4 b, double *const to[4], int32_t e) {
    const packed_v4 even = __builtin_shuffle(a, b, (lane_mask){0, 4, 2, 6}),
                    odd = __builtin_shuffle(a, b, (lane_mask){1, 5, 3, 7});
    *(packed_v2 *)(to[0] + e) = __builtin_shufflevector(even, even, 0, 1);
    *(packed_v2 *)(to[1] + e) = __builtin_shufflevector(odd, odd, 0, 1);
    *(packed_v2 *)(to[2] + e) = __builtin_shufflevector(even, even, 2, 3);
    *(packed_v2 *)(to[3] + e) = __builtin_shufflevector(odd, odd, 2, 3);
}

/// The same, added; two records may be one.
STN_KERNEL_INLINE void add_two(packed_v4 a, packed_v4 b, double *const to[4], int32_t e) {
    const packed_v4 even = __builtin_shuffle(a, b, (lane_mask){0, 4, 2, 6}),
                    odd = __builtin_shuffle(a, b, (lane_mask){1, 5, 3, 7});
    *(packed_v2 *)(to[0] + e) += __builtin_shufflevector(even, even, 0, 1);
    *(packed_v2 *)(to[1] + e) += __builtin_shufflevector(odd, odd, 0, 1);
    *(packed_v2 *)(to[2] + e) += __builtin_shufflevector(even, even, 2, 3);
    *(packed_v2 *)(to[3] + e) += __builtin_shufflevector(odd, odd, 2, 3);
}

// ---------------------------------------------------------------------------------------------------------------
// bodies

/// A (i, j) of a tree, unit beyond its rows.
STN_KERNEL_INLINE double entry(const stn_matrix *A, int32_t i, int32_t j) {
    if (i < A->n && A->form == STN_MATRIX_DENSE) {
        return A->values[i * A->n + j];
    }
    return i != j ? 0.0 : i < A->n ? A->values[i] : 1.0;
}

/// L^-1 of four trees, one a lane.
STN_KERNEL_INLINE void invert(const stn_matrix *const A[4], double *const out[4]) {
    packed_v4 L[BODY_DOFS][BODY_DOFS], C[TRIANGLE + 1], inverse[BODY_DOFS]; // inverse: of L's diagonal
    bool free_bodies = true;
    for (int32_t k = 0; k < 4; k++) {
        free_bodies = free_bodies && A[k]->n == BODY_DOFS && A[k]->form == STN_MATRIX_DENSE;
    }
    if (free_bodies) {
        const double *const values[4] = {A[0]->values, A[1]->values, A[2]->values, A[3]->values};
#pragma GCC unroll 6
        for (int32_t i = 0; i < BODY_DOFS; i++) {
#pragma GCC unroll 6
            for (int32_t j = 0; j <= i; j += 2) {
                gather_two(values, i * BODY_DOFS + j, &L[i][j]); // one beside the diagonal is written over, or not read
            }
        }
    } else {
        for (int32_t i = 0; i < BODY_DOFS; i++) {
            for (int32_t j = 0; j <= i; j++) {
                L[i][j] = (packed_v4){entry(A[0], i, j), entry(A[1], i, j), entry(A[2], i, j), entry(A[3], i, j)};
            }
        }
    }
#pragma GCC unroll 6
    for (int32_t j = 0; j < BODY_DOFS; j++) {
#pragma GCC unroll 6
        for (int32_t i = j; i < BODY_DOFS; i++) {
            packed_v4 sum = L[i][j];
#pragma GCC unroll 6
            for (int32_t k = 0; k < j; k++) {
                sum -= L[i][k] * L[j][k];
            }
            if (i == j) {
                inverse[j] = 1.0 / lanes_root(sum);
            }
            L[i][j] = sum * inverse[j];
        }
    }
#pragma GCC unroll 6
    for (int32_t j = 0; j < BODY_DOFS; j++) { // L^-1 e_j
        C[j * (j + 1) / 2 + j] = inverse[j];
#pragma GCC unroll 6
        for (int32_t i = j + 1; i < BODY_DOFS; i++) {
            packed_v4 sum = {0.0};
#pragma GCC unroll 6
            for (int32_t k = j; k < i; k++) {
                sum += L[i][k] * C[k * (k + 1) / 2 + j];
            }
            C[i * (i + 1) / 2 + j] = -sum * inverse[i];
        }
    }
    C[TRIANGLE] = (packed_v4){0.0};
#pragma GCC unroll 11
    for (int32_t e = 0; e < TRIANGLE; e += 2) {
        scatter_two(C[e], C[e + 1], out, e);
    }
}

STN_KERNEL static void prepare_bodies(const stn_problem *problem, double *triangles) {
    const int32_t count = problem->tree_count;
    double none[TRIANGLE_ROOM] __attribute__((aligned(64))); // lanes beyond the last tree
    for (int32_t t = 0; t < count; t += 4) {
        const stn_matrix *A[4];
        double *out[4];
        for (int32_t k = 0; k < 4; k++) {
            A[k] = &problem->trees[t + k < count ? t + k : t].A;
            out[k] = t + k < count ? triangles + (size_t)TRIANGLE_ROOM * (size_t)(t + k) : none;
        }
        invert(A, out);
    }
    memset(triangles + (size_t)TRIANGLE_ROOM * (size_t)count, 0, TRIANGLE_ROOM * sizeof *triangles); // none
}

// ----------------------------------------------------------------------------------------------------------
// constraints

/// What constraints are made with.
typedef struct maker {
    const stn_problem *problem;
    const double *v;         // (nv) v_star + A^-1 free_impulse
    const double *triangles; // (tree_count + 1), the last one zeros
    const double *shared;    // (tree_count + 1) how many constraints a body has
    body_lanes *out;
    packed_v4 speed, rounding;
} maker;

/// Records of four constraints, as they lie in the problem or in `room`.
typedef struct records {
    const double *J[BODY_SIDES][4]; // (3 x 6)
    const double *v[BODY_SIDES][4], *v_star[BODY_SIDES][4];
    const double *triangle[BODY_SIDES][4];
    const double *bias[4], *v_hat[4], *R[4];
    packed_v4 S[2], shared, rows, trace; // trace: w_trace, NaN where the problem does not know it
    double room[4][BODY_SIDES * (BLOCK + 2 * BODY_DOFS) + 3 * BODY_ROWS];
} records;

static const double zeros[BLOCK] = {0.0};

/// `count` numbers from x, then zeros up to `all`, at *room, which goes on behind them.
static const double *padded(const double *x, int32_t count, int32_t all, double **room) {
    double *out = *room;
    for (int32_t k = 0; k < all; k++) {
        out[k] = k < count ? x[k] : 0.0;
    }
    *room += all;
    return out;
}

/// Side k of a constraint that has a body there.
STN_KERNEL_INLINE void read_side(const maker *m, const stn_constraint *c, int32_t k, int32_t lane, records *to,
                                 double **room) {
    const stn_problem_tree *tree = &m->problem->trees[c->J[k].tree];
    const int32_t n = tree->A.n;
    to->v[k][lane] = m->v + tree->dof_start;
    to->v_star[k][lane] = m->problem->v_star + tree->dof_start;
    to->J[k][lane] = c->J[k].values;
    to->triangle[k][lane] = m->triangles + (size_t)TRIANGLE_ROOM * (size_t)c->J[k].tree;
    if (n == BODY_DOFS && c->rows == BODY_ROWS) {
        return;
    }
    to->v[k][lane] = padded(to->v[k][lane], n, BODY_DOFS, room);
    to->v_star[k][lane] = padded(to->v_star[k][lane], n, BODY_DOFS, room);
    to->J[k][lane] = *room;
    for (int32_t r = 0; r < BODY_ROWS; r++) {
        padded(c->J[k].values + r * n, r < c->rows ? n : 0, BODY_DOFS, room);
    }
}

STN_KERNEL_INLINE void read_lane(const maker *m, int32_t i, int32_t lane, records *to, body_four *own) {
    const stn_problem *p = m->problem;
    const int32_t none = p->tree_count;
    const bool there = i < p->constraint_count;
    const stn_constraint *c = &p->constraints[there ? i : 0];
    double *room = to->room[lane];
    own->row[lane] = c->row;
    own->rows[lane] = there ? c->rows : 0;
    own->cone[lane] = !there || stn_constraint_has_cone(c);
    own->cones = own->cones && own->cone[lane];
    own->mu[lane] = there ? c->mu1 : 0.0;
    to->trace[lane] = there ? c->w_trace : 0.0;
    to->rows[lane] = there ? c->rows : BODY_ROWS;
    to->S[0][lane] = to->S[1][lane] = 1.0;
    if (there && c->set == STN_SET_ELLIPSE && c->mu1 != c->mu2) {
        own->mu[lane] = fmax(c->mu1, c->mu2);
        to->S[0][lane] = c->mu1 / own->mu[lane];
        to->S[1][lane] = c->mu2 / own->mu[lane];
    }
    for (int32_t k = 0; k < BODY_SIDES; k++) {
        const int32_t t = there ? c->J[k].tree : -1;
        own->body[k][lane] = t < 0 ? none : t;
        if (t >= 0) {
            own->sides = k + 1 > own->sides ? k + 1 : own->sides;
            read_side(m, c, k, lane, to, &room);
            continue;
        }
        to->J[k][lane] = to->v[k][lane] = to->v_star[k][lane] = zeros;
        to->triangle[k][lane] = m->triangles + (size_t)TRIANGLE_ROOM * (size_t)none;
    }
    const int32_t first = own->body[0][lane], last = own->body[1][lane] == none ? first : own->body[1][lane];
    to->shared[lane] = 0.5 * (m->shared[first] + m->shared[last]);
    to->bias[lane] = p->bias + c->row;
    to->v_hat[lane] = p->v_hat + c->row;
    to->R[lane] = p->R + c->row;
    if (own->rows[lane] != BODY_ROWS) {
        to->bias[lane] = padded(to->bias[lane], own->rows[lane], BODY_ROWS, &room);
        to->v_hat[lane] = padded(to->v_hat[lane], own->rows[lane], BODY_ROWS, &room);
        to->R[lane] = padded(to->R[lane], own->rows[lane], BODY_ROWS, &room);
    }
}

/// D of one side without scales, b and sizes, the sum of |J| |v_star|. Returns the trace of D D^T.
STN_KERNEL_INLINE packed_v4 fill_side(const records *from, int32_t k, bool same, body_four *own, packed_v4 b[BODY_ROWS],
                                      packed_v4 sizes[BODY_ROWS]) {
    packed_v4 J[BODY_ROWS][BODY_DOFS], star[BODY_DOFS], trace = {0.0};
#pragma GCC unroll 3
    for (int32_t e = 0; e < BODY_DOFS; e += 2) {
        gather_two(from->v_star[k], e, star + e);
    }
#pragma GCC unroll 3
    for (int32_t r = 0; r < BODY_ROWS; r++) {
#pragma GCC unroll 3
        for (int32_t e = 0; e < BODY_DOFS; e += 2) {
            gather_two(from->J[k], r * BODY_DOFS + e, J[r] + e);
        }
#pragma GCC unroll 6
        for (int32_t e = 0; e < BODY_DOFS; e++) {
            const packed_v4 product = J[r][e] * star[e];
            sizes[r] += lanes_absolute(product);
            if (same) {
                b[r] += product;
            }
        }
    }
    for (int32_t e = 0; e < BODY_DOFS && !same; e++) {
        const packed_v4 at = gather(from->v[k], e);
        for (int32_t r = 0; r < BODY_ROWS; r++) {
            b[r] += J[r][e] * at;
        }
    }
    packed_v4 C[TRIANGLE + 1];
#pragma GCC unroll 11
    for (int32_t e = 0; e < TRIANGLE; e += 2) {
        gather_two(from->triangle[k], e, C + e);
    }
#pragma GCC unroll 6
    for (int32_t i = 0; i < BODY_DOFS; i++) {
#pragma GCC unroll 3
        for (int32_t r = 0; r < BODY_ROWS; r++) {
            packed_v4 sum = {0.0};
#pragma GCC unroll 6
            for (int32_t j = 0; j <= i; j++) {
                sum += C[i * (i + 1) / 2 + j] * J[r][j];
            }
            own->D[k][i][r] = sum;
            trace += sum * sum;
        }
    }
    return trace;
}

/// Bounds of rows of four constraints of which some are no cones, and the largest speeds that each asks for. Vectors by
/// address: how they are passed by value differs between the compilations of a kernel and this.
static void fill_bounds(const maker *m, int32_t four, const body_four *own, const packed_v4 *omega,
                        const packed_v4 v_hat[BODY_ROWS], packed_v4 *most) {
    const body_lanes *p = m->out;
    for (int32_t lane = 0; lane < 4; lane++) {
        double largest = 0.0;
        for (int32_t r = 0; r < own->rows[lane]; r++) {
            double asked = fabs(v_hat[r][lane]);
            if (!own->cone[lane]) {
                const double lo = m->problem->lo[own->row[lane] + r], hi = m->problem->hi[own->row[lane] + r];
                const int32_t at = body_place(4 * four + lane, r);
                p->lo[at] = lo * own->unit[lane];
                p->hi[at] = hi * own->unit[lane];
                // beyond what impulses within bounds change a target asks for nothing: the natural map is never as
                // large
                asked = isnan(asked) ? asked : fmin(asked, (*omega)[lane] * (hi - lo));
            }
            largest = isnan(asked) || asked > largest ? asked : largest;
        }
        (*most)[lane] = largest;
    }
}

/// Constraints [4 four, 4 four + 4).
STN_KERNEL_INLINE void fill(maker *m, int32_t four) {
    body_four *own = &m->out->fours[four];
    records from;
    own->sides = 1;
    own->cones = true;
    for (int32_t lane = 0; lane < 4; lane++) {
        read_lane(m, 4 * four + lane, lane, &from, own);
    }
    const packed_v4 one = {1.0, 1.0, 1.0, 1.0}, zero = {0.0};
    const bool same = m->v == m->problem->v_star;
    packed_v4 b[BODY_ROWS] = {zero, zero, zero}, sizes[BODY_ROWS] = {zero, zero, zero};
    packed_v4 v_hat[BODY_ROWS], trace = fill_side(&from, 0, same, own, b, sizes);
    if (own->sides > 1) {
        trace += fill_side(&from, 1, same, own, b, sizes);
    }
    trace = lanes_choose((lane_mask)(from.trace == from.trace), from.trace, trace);
    const packed_v4 omega = lanes_choose((lane_mask)(trace == zero), one, trace / from.rows);
    packed_v4 sum = zero;
#pragma GCC unroll 3
    for (int32_t r = 0; r < BODY_ROWS; r++) {
        const packed_v4 bias = gather(from.bias, r);
        v_hat[r] = gather(from.v_hat, r);
        b[r] += bias;
        own->d[r] = gather(from.R, r);
        if (r < 2) { // and what stands for directions without friction
            own->d[r] = lanes_choose((lane_mask)(from.S[r] == zero), omega, own->d[r] * from.S[r] * from.S[r]);
        }
        sum += own->d[r];
        m->speed = lanes_larger(m->speed, lanes_absolute(b[r]));
        m->rounding = lanes_larger(m->rounding, lanes_absolute(bias) + sizes[r]);
        if (own->cones) {
            m->speed = lanes_larger(m->speed, lanes_absolute(v_hat[r]));
        }
    }
    const packed_v4 diagonal = lanes_root(from.shared) * trace + sum;
    const packed_v4 s = lanes_choose((lane_mask)(diagonal > zero), lanes_root(from.rows / diagonal), one);
    own->scale[0] = s * from.S[0];
    own->scale[1] = s * from.S[1];
    own->scale[2] = s;
    own->unit = one / s;
    own->omega = omega * s * s;
    double *q = m->out->q + BODY_FOUR * four;
#pragma GCC unroll 3
    for (int32_t r = 0; r < BODY_ROWS; r++) {
        own->d[r] *= s * s;
        *(packed_v4 *)(q + 4 * r) = own->scale[r] * (b[r] - v_hat[r]);
    }
    for (int32_t k = 0; k < own->sides; k++) {
#pragma GCC unroll 6
        for (int32_t e = 0; e < BODY_DOFS; e++) {
#pragma GCC unroll 3
            for (int32_t r = 0; r < BODY_ROWS; r++) {
                own->D[k][e][r] *= own->scale[r];
            }
        }
    }
    if (!own->cones) {
        packed_v4 asked;
        fill_bounds(m, four, own, &omega, v_hat, &asked);
        m->speed = lanes_larger(m->speed, asked);
    }
}

STN_KERNEL static void fill_fours(maker *m) {
    for (int32_t k = 0; k < m->out->size / BODY_FOUR; k++) {
        fill(m, k);
    }
}

/// The larger one, or NaN when either is: fmax would drop it.
static double larger(double a, double b) {
    return isnan(a) || a > b ? a : b;
}

/// `speed` holds what bounds that leave no row at rest force on the others: |W gamma| with the smallest gamma within
/// them. A motor may act where nothing moves yet. False: out of memory.
static bool add_forced_speed(body_lanes *p, stn_arena *arena) {
    double *x = STN_ARENA_ZEROED(arena, 2 * (int64_t)p->size, double), *g = x + p->size;
    bool forced = false;
    if (x == NULL) {
        return false;
    }
    for (int32_t at = 0; at < p->size; at++) {
        x[at] = p->lo[at] > 0.0 ? p->lo[at] : (p->hi[at] < 0.0 ? p->hi[at] : 0.0);
        forced = forced || x[at] != 0.0;
    }
    if (forced) {
        body_lanes_gradient(p, x, g);
    }
    for (int32_t at = 0; at < p->size && forced; at++) {
        p->speed = larger(p->speed, fabs(g[at] - p->q[at]) * p->fours[at / BODY_FOUR].unit[at % 4]);
    }
    return true;
}

bool body_lanes_build(const stn_problem *problem, const stn_inverse *inverse, stn_arena *arena, body_lanes *out) {
    const int32_t bodies = problem->tree_count, fours = (problem->constraint_count + 3) / 4;
    bool bounds = false;
    *out = (body_lanes){.n = problem->constraint_count, .count = bodies, .size = BODY_FOUR * fours};
    out->fours = STN_ARENA(arena, fours + 1, body_four);
    out->q = STN_ARENA(arena, out->size + 4, double);
    out->u = STN_ARENA(arena, BODY_ROOM * ((int64_t)bodies + 1), double);
    double *triangles = STN_ARENA(arena, TRIANGLE_ROOM * ((int64_t)bodies + 1), double);
    double *shared = STN_ARENA_ZEROED(arena, bodies + 1, double);
    const double *v = problem->v_star;
    if (problem->free_impulse != NULL) {
        double *free = STN_ARENA(arena, problem->nv + 1, double);
        double *none = STN_ARENA_ZEROED(arena, problem->row_count + 1, double);
        if (free == NULL || none == NULL) {
            return false;
        }
        stn_inverse_velocity(inverse, problem, none, free);
        v = free;
    }
    if (out->fours == NULL || out->q == NULL || out->u == NULL || triangles == NULL || shared == NULL) {
        return false;
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        shared[c->J[0].tree] += 1.0;
        shared[c->J[1].tree < 0 ? bodies : c->J[1].tree] += 1.0;
        bounds = bounds || !stn_constraint_has_cone(c);
    }
    if (bounds) {
        out->lo = STN_ARENA_ZEROED(arena, 2 * (int64_t)out->size, double);
        out->hi = out->lo + out->size;
        if (out->lo == NULL) {
            return false;
        }
    }
    prepare_bodies(problem, triangles);
    maker m = {.problem = problem, .v = v, .triangles = triangles, .shared = shared, .out = out};
    fill_fours(&m);
    for (int32_t k = 0; k < 4; k++) {
        out->speed = larger(out->speed, m.speed[k]);
        out->rounding = larger(out->rounding, 16.0 * DBL_EPSILON * m.rounding[k]);
    }
    return !bounds || add_forced_speed(out, arena);
}

// --------------------------------------------------------------------------------------------------------------
// vectors

void body_lanes_enter(const body_lanes *p, const double *gamma, double *x) {
    for (int32_t k = 0; k < p->size / BODY_FOUR; k++) {
        const body_four *own = &p->fours[k];
        for (int32_t lane = 0; lane < 4; lane++) {
            for (int32_t r = 0; r < BODY_ROWS; r++) {
                const double scale = own->scale[r][lane];
                x[BODY_FOUR * k + 4 * r + lane] =
                    r < own->rows[lane] && scale > 0.0 ? gamma[own->row[lane] + r] / scale : 0.0;
            }
        }
    }
}

void body_lanes_leave(const body_lanes *p, const double *x, double *gamma) {
    for (int32_t k = 0; k < p->size / BODY_FOUR; k++) {
        const body_four *own = &p->fours[k];
        for (int32_t lane = 0; lane < 4; lane++) {
            for (int32_t r = 0; r < own->rows[lane]; r++) {
                gamma[own->row[lane] + r] = own->scale[r][lane] * x[BODY_FOUR * k + 4 * r + lane];
            }
        }
    }
}

/// u += D^T x of side k.
STN_KERNEL_INLINE void add_impulses(const body_lanes *p, const body_four *own, int32_t k, cone_lanes x) {
    double *const to[4] = {
        p->u + BODY_ROOM * own->body[k][0],
        p->u + BODY_ROOM * own->body[k][1],
        p->u + BODY_ROOM * own->body[k][2],
        p->u + BODY_ROOM * own->body[k][3],
    };
    packed_v4 f[BODY_DOFS];
#pragma GCC unroll 6
    for (int32_t e = 0; e < BODY_DOFS; e++) {
        const packed_v4 *D = own->D[k][e];
        f[e] = D[0] * x.t1 + (D[1] * x.t2 + D[2] * x.n);
    }
#pragma GCC unroll 3
    for (int32_t e = 0; e < BODY_DOFS; e += 2) {
        add_two(f[e], f[e + 1], to, e);
    }
}

/// y += D u of side k.
STN_KERNEL_INLINE void add_speeds(const body_lanes *p, const body_four *own, int32_t k, cone_lanes *y) {
    const double *const from[4] = {
        p->u + BODY_ROOM * own->body[k][0],
        p->u + BODY_ROOM * own->body[k][1],
        p->u + BODY_ROOM * own->body[k][2],
        p->u + BODY_ROOM * own->body[k][3],
    };
    packed_v4 u[BODY_DOFS];
#pragma GCC unroll 3
    for (int32_t e = 0; e < BODY_DOFS; e += 2) {
        gather_two(from, e, u + e);
    }
#pragma GCC unroll 6
    for (int32_t e = 0; e < BODY_DOFS; e++) {
        const packed_v4 *D = own->D[k][e];
        y->t1 += D[0] * u[e];
        y->t2 += D[1] * u[e];
        y->n += D[2] * u[e];
    }
}

STN_KERNEL void body_lanes_gradient(const body_lanes *p, const double *x, double *g) {
    const int32_t fours = p->size / BODY_FOUR;
    const packed_v4 zero = {0.0};
    for (int32_t e = 0; e < BODY_ROOM * (p->count + 1); e += 4) {
        *(packed_v4 *)(p->u + e) = zero;
    }
    for (int32_t k = 0; k < fours; k++) {
        const body_four *own = &p->fours[k];
        const cone_lanes impulse = body_read(x + BODY_FOUR * k);
        add_impulses(p, own, 0, impulse);
        if (own->sides > 1) {
            add_impulses(p, own, 1, impulse);
        }
    }
    for (int32_t k = 0; k < fours; k++) {
        const body_four *own = &p->fours[k];
        const cone_lanes impulse = body_read(x + BODY_FOUR * k);
        cone_lanes y = body_read(p->q + BODY_FOUR * k);
        y.t1 += own->d[0] * impulse.t1;
        y.t2 += own->d[1] * impulse.t2;
        y.n += own->d[2] * impulse.n;
        add_speeds(p, own, 0, &y);
        if (own->sides > 1) {
            add_speeds(p, own, 1, &y);
        }
        body_write(y, g + BODY_FOUR * k);
    }
}
