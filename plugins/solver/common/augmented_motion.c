// SPDX-License-Identifier: Apache-2.0
// See augmented_motion.h.
#include "common/augmented_motion.h"

#include <string.h>

#include "common/vectors.h"

enum { BLOCK = 48 }; // doubles of a K

bool augmented_motion_build(const stn_problem_tree *tree, stn_arena *arena, augmented_motion *out) {
    const int32_t n = tree->A.n, ld = (n + 3) / 4 * 4;
    *out = (augmented_motion){.n = n, .ld = ld, .parent = tree->parent, .columns = tree->motion};
    out->run = STN_ARENA(arena, n, int32_t);
    out->rows = STN_ARENA_ZEROED(arena, 6 * ld + 8, double);
    out->sums = STN_ARENA(arena, 8 * n, double);
    out->stiffness = STN_ARENA(arena, BLOCK * n, double);
    if (out->run == NULL || out->rows == NULL || out->sums == NULL || out->stiffness == NULL) {
        return false;
    }
    for (int32_t j = 0; j < n; j++) {
        out->run[j] = j > 0 && tree->parent[j] == j - 1 ? out->run[j - 1] : j;
        for (int32_t k = 0; k < 6; k++) {
            out->rows[k * ld + j] = tree->motion[8 * j + k];
        }
    }
    return true;
}

/// Of the problem's own arrays, which lie anywhere.
STN_KERNEL_INLINE v4 load_loose(const double *x) {
    return (v4) * (const v4u *)x;
}

STN_KERNEL_INLINE double dot8(const double *x, const double *loose) {
    return sum4(v4_load(x) * load_loose(loose) + v4_load(x + 4) * load_loose(loose + 4));
}

STN_KERNEL void augmented_motion_times(const augmented_motion *m, const augmented_wrenches *w, const double *x,
                                       double *rows) {
    for (int32_t j = 0; j < m->n; j++) {
        const double *S = m->columns + 8 * j, *above = m->sums + 8 * m->parent[j];
        v4 front = load_loose(S) * x[j], back = load_loose(S + 4) * x[j];
        if (m->parent[j] >= 0) {
            front += v4_load(above);
            back += v4_load(above + 4);
        }
        v4_store(m->sums + 8 * j, front);
        v4_store(m->sums + 8 * j + 4, back);
    }
    for (int32_t i = 0; i < w->count; i++) {
        for (int32_t r = 0; r < 3; r++) {
            rows[3 * i + r] = dot8(w->E + 8 * (3 * i + r), m->sums + 8 * w->tip[i]);
        }
    }
}

STN_KERNEL void augmented_motion_transposed(const augmented_motion *m, const augmented_wrenches *w, const double *gamma,
                                            double *y) {
    memset(m->sums, 0, 8 * (size_t)m->n * sizeof *m->sums);
    for (int32_t i = 0; i < w->count; i++) {
        double *F = m->sums + 8 * w->tip[i];
        v4 front = v4_load(F), back = v4_load(F + 4);
        for (int32_t r = 0; r < 3; r++) {
            const double *E = w->E + 8 * (3 * i + r);
            front += v4_load(E) * gamma[3 * i + r];
            back += v4_load(E + 4) * gamma[3 * i + r];
        }
        v4_store(F, front);
        v4_store(F + 4, back);
    }
    for (int32_t j = m->n - 1; j >= 0; j--) {
        const double *F = m->sums + 8 * j;
        y[j] += dot8(F, m->columns + 8 * j);
        if (m->parent[j] >= 0) {
            double *above = m->sums + 8 * m->parent[j];
            v4_store(above, v4_load(above) + v4_load(F));
            v4_store(above + 4, v4_load(above + 4) + v4_load(F + 4));
        }
    }
}

/// K += E^T G E of one contact.
STN_KERNEL_INLINE void add_stiffness(const double *E, size_t stride, const double *G, double *K) {
    const double g11 = G[0], g12 = G[stride], g22 = G[2 * stride];
    const double g13 = G[3 * stride], g23 = G[4 * stride], g33 = G[5 * stride];
    for (int32_t c = 0; c < 8; c += 4) {
        const v4 a = v4_load(E + c), b = v4_load(E + 8 + c), n = v4_load(E + 16 + c);
        const v4 t1 = g11 * a + g12 * b + g13 * n, t2 = g12 * a + g22 * b + g23 * n, t3 = g13 * a + g23 * b + g33 * n;
        for (int32_t k = 0; k < 6; k++) {
            double *row = K + 8 * k + c;
            v4_store(row, v4_load(row) + E[k] * t1 + E[8 + k] * t2 + E[16 + k] * t3);
        }
    }
}

/// C_ji = u . S_i for the dofs i from `first` to `last`, in row j.
STN_KERNEL_INLINE void put_run(const augmented_motion *m, const double u[6], int32_t first, int32_t last, double *row) {
    for (int32_t i = first; i <= last; i++) {
        double sum = 0.0;
        for (int32_t k = 0; k < 6; k++) {
            sum += u[k] * m->rows[k * m->ld + i];
        }
        row[i] = sum;
    }
}

STN_KERNEL void augmented_motion_stiffen(const augmented_wrenches *w, size_t stride, const double *G, double *inertia) {
    for (int32_t i = 0; i < w->count; i++) {
        if (G[5 * stride + (size_t)i] != 0.0 || G[i] != 0.0 || G[2 * stride + (size_t)i] != 0.0) { // closed
            add_stiffness(w->E + 24 * i, stride, G + i, inertia + BLOCK * w->tip[i]);
        }
    }
}

STN_KERNEL void augmented_motion_product(const augmented_motion *m, const augmented_wrenches *w, size_t stride,
                                         const double *G, double *C) {
    memset(m->stiffness, 0, BLOCK * (size_t)m->n * sizeof *m->stiffness);
    augmented_motion_stiffen(w, stride, G, m->stiffness);
    for (int32_t j = m->n - 1; j >= 0; j--) {
        const double *K = m->stiffness + BLOCK * j, *S = m->columns + 8 * j;
        double u[6];
        for (int32_t k = 0; k < 6; k++) {
            u[k] = dot8(K + 8 * k, S);
        }
        for (int32_t last = j; last >= 0; last = m->parent[m->run[last]]) {
            put_run(m, u, m->run[last], last, C + (int64_t)j * m->ld);
        }
        if (m->parent[j] >= 0) {
            double *above = m->stiffness + BLOCK * m->parent[j];
            for (int32_t k = 0; k < BLOCK; k += 4) {
                v4_store(above + k, v4_load(above + k) + v4_load(K + k));
            }
        }
    }
}
