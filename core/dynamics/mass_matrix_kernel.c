// SPDX-License-Identifier: Apache-2.0
// Joint-space mass matrix by composite bodies: M_kl = S_l . (I^c_i S_k) for every dof k of joint i and every dof l of
// the joints from i down to the root, I^c_i the inertia of body i with all that it carries. All at the tree's reference
// point, so composites add without being moved. The dofs k that a dof l moves are neighbours, so that row l right of
// the diagonal is a product of S_l with six rows that hold the forces I^c S of all dofs; four rows l are made together.
// Cost: 13 additions a body to gather, 24 multiplications and 18 additions a dof k, 6 and 5 an entry M_kl.
#include <string.h>

#include "dynamics/spatial_lanes.h"
#include "dynamics/tree_kernels.h"

ALWAYS void add_inertia(inertia *sum, const inertia *a) {
    UNROLL
    for (int32_t j = 0; j < 3; j++) {
        store4(sum->turning[j], load4(sum->turning[j]) + load4(a->turning[j]));
    }
    store4(sum->moment, load4(sum->moment) + load4(a->moment));
}

/// Column of I S, in the rows that hold angular and linear parts one below the other.
ALWAYS void store_force(const inertia *I, const stn_spatial *S, double *rows, size_t stride) {
    const double *s = (const double *)S;
    pair motion = load_spatial(S);
    part4 h = load4(I->moment);
    part4 moment = load4(I->turning[0]) * s[0] + load4(I->turning[1]) * s[1] + load4(I->turning[2]) * s[2];
    moment += cross(h, motion.linear);
    part4 force = motion.linear * I->moment[3] - cross(h, motion.angular);
    UNROLL
    for (size_t r = 0; r < 3; r++) {
        rows[r * stride] = moment[r];
        rows[(3 + r) * stride] = force[r];
    }
}

/// Entries of `count` rows of M in four columns, whose forces stand in `rows`.
ALWAYS void multiply(int32_t count, const stn_spatial *S, const double *rows, size_t stride, part4 entry[MASS_BLOCK]) {
    part4 F[6];
    UNROLL
    for (size_t r = 0; r < 6; r++) {
        F[r] = load4(rows + r * stride);
    }
    UNROLL
    for (int32_t a = 0; a < count; a++) {
        const double *s = (const double *)&S[a];
        entry[a] = F[0] * s[0] + F[1] * s[1] + F[2] * s[2] + F[3] * s[3] + F[4] * s[4] + F[5] * s[5];
    }
}

/// The first lanes.
ALWAYS void store_some(int32_t count, double *x, part4 v) {
    switch (count) {
    case 1:
        x[0] = v[0];
        break;
    case 2:
        *(part2 *)x = __builtin_shufflevector(v, v, 0, 1);
        break;
    case 3:
        store3(x, v);
        break;
    default:
        store4(x, v);
        break;
    }
}

ALWAYS void transpose(const part4 e[MASS_BLOCK], part4 t[MASS_BLOCK]) {
    part4 a0 = __builtin_shufflevector(e[0], e[1], 0, 4, 2, 6), a1 = __builtin_shufflevector(e[0], e[1], 1, 5, 3, 7);
    part4 b0 = __builtin_shufflevector(e[2], e[3], 0, 4, 2, 6), b1 = __builtin_shufflevector(e[2], e[3], 1, 5, 3, 7);
    t[0] = __builtin_shufflevector(a0, b0, 0, 1, 4, 5);
    t[1] = __builtin_shufflevector(a1, b1, 0, 1, 4, 5);
    t[2] = __builtin_shufflevector(a0, b0, 2, 3, 6, 7);
    t[3] = __builtin_shufflevector(a1, b1, 2, 3, 6, 7);
}

/// The square on the diagonal: what is left of it is the mirror image of what is right of it.
ALWAYS void store_diagonal(int32_t count, const part4 e[MASS_BLOCK], size_t n, double *M) {
    part4 t[MASS_BLOCK], rows[MASS_BLOCK];
    transpose(e, t);
    rows[0] = e[0];
    rows[1] = __builtin_shufflevector(t[1], e[1], 0, 5, 6, 7);
    rows[2] = __builtin_shufflevector(t[2], e[2], 0, 1, 6, 7);
    rows[3] = __builtin_shufflevector(t[3], e[3], 0, 1, 2, 7);
    UNROLL
    for (int32_t a = 0; a < count; a++) {
        store_some(count, M + (size_t)a * n, rows[a]);
    }
}

/// Some columns right of the diagonal, and their mirror image.
ALWAYS void store_columns(int32_t count, const part4 e[MASS_BLOCK], int32_t columns, size_t n, double *right,
                          double *below) {
    part4 t[MASS_BLOCK];
    transpose(e, t);
    UNROLL
    for (int32_t a = 0; a < count; a++) {
        store_some(columns, right + (size_t)a * n, e[a]);
    }
    UNROLL
    for (int32_t b = 0; b < MASS_BLOCK; b++) {
        if (b < columns) {
            store_some(count, below + (size_t)b * n, t[b]);
        }
    }
}

/// Nothing couples the rows of a block with the dofs behind its end.
ALWAYS void clear_behind(int32_t count, const mass_block *block, size_t n, double *M) {
    const part4 none = {0.0};
    const size_t row = (size_t)block->row;
    size_t column = (size_t)block->end;
    double *right = M + row * n + column, *below = M + column * n + row;
    for (; column + MASS_BLOCK <= n; column += MASS_BLOCK, right += MASS_BLOCK, below += MASS_BLOCK * n) {
        UNROLL
        for (int32_t a = 0; a < count; a++) {
            store4(right + (size_t)a * n, none);
        }
        UNROLL
        for (int32_t b = 0; b < MASS_BLOCK; b++) {
            store_some(count, below + (size_t)b * n, none);
        }
    }
    for (; column < n; column++, right++, below += n) {
        UNROLL
        for (int32_t a = 0; a < count; a++) {
            right[(size_t)a * n] = 0.0;
        }
        store_some(count, below, none);
    }
}

ALWAYS void fill_block(int32_t count, const mass_block *block, const stn_spatial *S, const double *rows, size_t stride,
                       size_t n, bool cleared, double *M) {
    part4 entry[MASS_BLOCK] = {{0.0}, {0.0}, {0.0}, {0.0}};
    size_t row = (size_t)block->row, column = row + (size_t)count, end = (size_t)block->end;
    multiply(count, S + row, rows + row, stride, entry);
    store_diagonal(count, entry, n, M + row * n + row);
    for (; column + MASS_BLOCK <= end; column += MASS_BLOCK) {
        multiply(count, S + row, rows + column, stride, entry);
        store_columns(count, entry, MASS_BLOCK, n, M + row * n + column, M + column * n + row);
    }
    if (column < end) {
        multiply(count, S + row, rows + column, stride, entry);
        store_columns(count, entry, (int32_t)(end - column), n, M + row * n + column, M + column * n + row);
    }
    if (!cleared) {
        clear_behind(count, block, n, M);
    }
}

/// One sweep is the fastest way to clear a matrix that is zero for the most part.
static bool clear_most(const mass_block *begin, const mass_block *end, size_t n, double *M) {
    size_t zeros = 0;
    for (const mass_block *block = begin; block < end; block++) {
        zeros += 2 * (size_t)block->count * (n - (size_t)block->end);
    }
    const bool most = 2 * zeros > n * n;
    if (most) {
        memset(M, 0, n * n * sizeof *M);
    }
    return most;
}

/// I^c of every body and with it the forces of its joint. I^c of a body alone is its inertia.
static void store_forces(const kinematics_object *k, const stn_tree *tree, double *rows, size_t stride) {
    const int32_t begin = tree->body_start;
    const bool alone = tree->body_count == 1;
    inertia *composite = alone ? k->inertia : k->composite;
    if (!alone) {
        memcpy(composite + begin, k->inertia + begin, (size_t)tree->body_count * sizeof *composite);
    }
    for (int32_t i = begin + tree->body_count - 1; i >= begin; i--) {
        const body_plan *plan = &k->plan[i];
        if (plan->parent > 0) {
            add_inertia(&composite[plan->parent], &composite[i]);
        }
        for (int32_t j = 0; j < plan->nv; j++) {
            store_force(&composite[i], &k->face.motion[plan->v + j], rows + plan->dof + j, stride);
        }
    }
}

void KERNEL_NAME(mass_matrix)(const kinematics_object *k, int32_t tree, double *M) {
    const stn_tree *t = &k->face.model->trees[tree];
    const stn_spatial *S = k->face.motion + t->v_start;
    double own[6 * (6 + MASS_BLOCK)]; // of a body alone
    size_t stride, n = (size_t)t->nv;
    double *rows = force_rows_of(k, tree, &stride);
    rows = t->body_count == 1 ? own : rows;
    store_forces(k, t, rows, stride);
    const bool cleared = clear_most(k->blocks + k->block_start[tree], k->blocks + k->block_start[tree + 1], n, M);
    for (int32_t b = k->block_start[tree + 1] - 1; b >= k->block_start[tree]; b--) { // last written first read
        const mass_block *block = &k->blocks[b];
        switch (block->count) {
        case 1:
            fill_block(1, block, S, rows, stride, n, cleared, M);
            break;
        case 2:
            fill_block(2, block, S, rows, stride, n, cleared, M);
            break;
        case 3:
            fill_block(3, block, S, rows, stride, n, cleared, M);
            break;
        default:
            fill_block(4, block, S, rows, stride, n, cleared, M);
            break;
        }
    }
    for (size_t d = 0; d < n; d++) {
        M[d * (n + 1)] += k->rotor[(size_t)t->v_start + d];
    }
}

void KERNEL_NAME(mass_diagonal)(const kinematics_object *k, int32_t tree, double *diagonal) {
    const stn_tree *t = &k->face.model->trees[tree];
    size_t stride;
    double *rows = force_rows_of(k, tree, &stride);
    store_forces(k, t, rows, stride);
    for (int32_t d = 0; d < t->nv; d++) {
        const double *s = (const double *)&k->face.motion[t->v_start + d], *F = rows + d;
        double sum = k->rotor[t->v_start + d];
        for (int32_t r = 0; r < 6; r++, F += stride) {
            sum += *F * s[r];
        }
        diagonal[d] = sum;
    }
}
