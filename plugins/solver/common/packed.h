// SPDX-License-Identifier: Apache-2.0
// A Delassus form packed for sweeps and products.
//
//     g = W gamma + q,    W = S (J A^-1 J^T + R) S,    q = S (b - v_hat),    gamma of the problem = S gamma
//
// S turns ellipses into circular cones (S = diag(mu1/mu, mu2/mu, 1), mu = max(mu1, mu2)) and is 1 for everything else.
// A direction without friction beside one with it has S = 0: its impulse stays 0, and its diagonal is W_nn so that no
// block is singular by it. Vectors are padded: a constraint begins at a multiple of 4 doubles and ends in zeros.
//
// W is held in blocks, one for every two constraints that share a tree. Between single bodies solvers
// that multiply by W and never read its entries need no blocks: body_lanes.h.
#ifndef SOLVER_COMMON_PACKED_H
#define SOLVER_COMMON_PACKED_H

#include <stiction/kernel.h>
#include <stiction/plugin.h>

// Passed by value only between inlined functions, so no ABI is at stake.
#pragma GCC diagnostic ignored "-Wpsabi"
typedef double packed_v4 __attribute__((vector_size(32), aligned(16), may_alias));

/// A constraint.
typedef struct packed_row {
    double mu;       // of the circular cone
    double omega;    // trace(W_ii)/rows, 1 where that is 0: the natural map's omega, without R and S as the core has it
    double diagonal; // trace of the diagonal block, R and S in it
    double scale[2]; // S of the tangents
    const double *own;   // W_ii, its columns one after the other, each `width` long
    int32_t start, end;  // blocks of the row, the diagonal one not among them
    int32_t place;       // first double in padded vectors
    int32_t row;         // first row in the problem
    int32_t rows, width; // width: rows rounded up to a multiple of 4
    bool cone;           // else rows with bounds
} packed_row;

/// Block beside the diagonal, stored like `own`.
typedef struct packed_block {
    const double *W;
    int32_t place, columns; // of the other constraint
} packed_block;

typedef struct packed {
    int32_t n;    // constraints
    int32_t size; // of padded vectors
    packed_row *rows;
    const packed_block *blocks;
    double *q, *lo, *hi; // (size) lo and hi of rows with bounds
    /// What a relative tolerance is relative to: the largest |b|, |v_hat|, and |W gamma| of the least impulses that
    /// bounds allow [m/s].
    double speed;
    double rounding; // of b: bodies that move together leave nothing else of their speeds [m/s]
} packed;

/// Everything lives in `arena`; begins of vectors are aligned to 16 bytes. False: out of memory. Numbers that are not
/// finite stay what they are: `speed` is then NaN or infinite.
bool packed_build(const stn_delassus *delassus, stn_arena *arena, packed *out);
/// A zeroed padded vector with room for whole vectors at its end, NULL: out of memory.
static inline double *packed_vector(const packed *p, stn_arena *arena) {
    return STN_ARENA_ZEROED(arena, p->size + 8, double);
}

/// The natural map at which a solve is done [m/s]: relative to the problem's speeds, unless they are all rounding.
static inline double packed_allowed(const packed *p, double tolerance) {
    return p->speed <= p->rounding ? p->rounding : tolerance * p->speed;
}

/// From gamma to x = gamma/s, s (size) > 0 and equal within a constraint: W, q, bounds and omega are those of x from
/// now on, natural maps those of s g. `speed` stays.
void packed_scale(packed *p, const double *s);

/// The constraint whose padded vectors begin at `place`, which some do.
int32_t packed_at(const packed *p, int32_t place);

/// Impulses from the order of the problem into padded variables (0 where S is 0), and back.
void packed_impulses(const packed *p, const double *gamma, double *out);
void packed_unpack(const packed *p, const double *gamma, double *out);

/// g (size) = W gamma + q.
void packed_product(const packed *p, const double *gamma, double *g);
/// Largest natural map over all constraints [m/s], g = W gamma + q as the caller has it: what stn_delassus_residual
/// gives. NaN when an input is.
double packed_residual(const packed *p, bool convex, const double *gamma, const double *g);

/// Square of the natural map of a constraint; gamma, g, lo, hi are its own.
STN_KERNEL_INLINE double packed_map(const packed_row *row, bool convex, const double *lo, const double *hi,
                                    const double *gamma, const double *g) {
    if (!row->cone) {
        return stn_natural_map_box(row->rows, row->omega, lo, hi, gamma, g);
    }
    double shifted = convex ? g[2] : g[2] + row->mu * sqrt(g[0] * g[0] + g[1] * g[1]);
    return stn_natural_map_cone(row->mu, row->omega, shifted, gamma, g);
}

/// y (4) = q_i + sum over j != i of W_ij gamma_j of a constraint of up to four rows. Column sums run apart and are
/// added at the end.
STN_KERNEL_INLINE void packed_others(const packed *p, const packed_row *row, const double *gamma, double *y) {
    packed_v4 a = *(const packed_v4 *)(p->q + row->place), b = {0.0}, c = {0.0};
    for (const packed_block *e = p->blocks + row->start; e < p->blocks + row->end; e++) {
        const double *W = e->W, *x = gamma + e->place;
        if (e->columns == 3) {
            a += *(const packed_v4 *)W * x[0];
            b += *(const packed_v4 *)(W + 4) * x[1];
            c += *(const packed_v4 *)(W + 8) * x[2];
            continue;
        }
        for (int32_t k = 0; k < e->columns; k++) {
            a += *(const packed_v4 *)(W + 4 * k) * x[k];
        }
    }
    *(packed_v4 *)y = a + (b + c);
}

/// The same of any number of rows; y holds row->width entries.
STN_KERNEL_INLINE void packed_others_any(const packed *p, const packed_row *row, const double *gamma, double *y) {
    if (row->width == 4) {
        packed_others(p, row, gamma, y);
        return;
    }
    packed_v4 low = *(const packed_v4 *)(p->q + row->place), high = *(const packed_v4 *)(p->q + row->place + 4);
    for (const packed_block *e = p->blocks + row->start; e < p->blocks + row->end; e++) {
        for (int32_t k = 0; k < e->columns; k++) {
            low += *(const packed_v4 *)(e->W + 8 * k) * gamma[e->place + k];
            high += *(const packed_v4 *)(e->W + 8 * k + 4) * gamma[e->place + k];
        }
    }
    *(packed_v4 *)y = low;
    *(packed_v4 *)(y + 4) = high;
}

/// y = x + W_ii gamma_i; gamma, x and y (width each) are the constraint's own, x may be y.
STN_KERNEL_INLINE void packed_own_add(const packed_row *row, const double *gamma, const double *x, double *y) {
    for (int32_t r = 0; r < row->width; r += 4) {
        packed_v4 sum = *(const packed_v4 *)(x + r);
        for (int32_t k = 0; k < row->rows; k++) {
            sum += *(const packed_v4 *)(row->own + k * row->width + r) * gamma[k];
        }
        *(packed_v4 *)(y + r) = sum;
    }
}

#endif
