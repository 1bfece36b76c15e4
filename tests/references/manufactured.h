// SPDX-License-Identifier: Apache-2.0
// Contact problems whose solution is known because it was chosen first. With a velocity v and impulses gamma that
// satisfy the law of every contact, the problem whose free motion is
//
//     v_star = v - A^-1 J^T gamma
//
// has them as its solution. No solver and no formula of the library is used: A^-1 is Gaussian elimination, everything
// is in extended precision, and only the finished numbers are rounded. README.md
#ifndef MANUFACTURED_H
#define MANUFACTURED_H

#include "stn_scene.h"
#include "stn_test.h"

typedef long double real;

enum { MADE_DOFS = 96, MADE_ROWS = 96, TREE_DOFS = 6 };

/// A problem with its solution.
typedef struct made {
    scene scene;
    real v[MADE_DOFS], gamma[MADE_ROWS]; // (nv), (row_count)
} made;

static inline real made_uniform(made *m, double low, double high) {
    return (real)scene_uniform(&m->scene, low, high);
}

/// Solves M x = b by elimination with pivoting, in place: b becomes x. M (n x n, row-major) is destroyed.
static inline void made_eliminate(int32_t n, real *M, real *b) {
    for (int32_t k = 0; k < n; k++) {
        int32_t pivot = k;
        for (int32_t i = k + 1; i < n; i++) {
            pivot = fabsl(M[i * n + k]) > fabsl(M[pivot * n + k]) ? i : pivot;
        }
        assert_true(fabsl(M[pivot * n + k]) > 0.0L);
        for (int32_t j = 0; j < n; j++) {
            real x = M[k * n + j];
            M[k * n + j] = M[pivot * n + j];
            M[pivot * n + j] = x;
        }
        real x = b[k];
        b[k] = b[pivot];
        b[pivot] = x;
        for (int32_t i = k + 1; i < n; i++) {
            real factor = M[i * n + k] / M[k * n + k];
            for (int32_t j = k; j < n; j++) {
                M[i * n + j] -= factor * M[k * n + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for (int32_t k = n - 1; k >= 0; k--) {
        for (int32_t j = k + 1; j < n; j++) {
            b[k] -= M[k * n + j] * b[j];
        }
        b[k] /= M[k * n + k];
    }
}

/// x (nv) becomes A^-1 x.
static inline void made_divide(const stn_problem *p, real *x) {
    for (int32_t t = 0; t < p->tree_count; t++) {
        const int32_t n = p->trees[t].A.n;
        real M[TREE_DOFS * TREE_DOFS];
        for (int32_t i = 0; i < n * n; i++) {
            M[i] = (real)p->trees[t].A.values[i];
        }
        made_eliminate(n, M, x + p->trees[t].dof_start);
    }
}

/// One row of J, written out over all dofs.
static inline void made_row(const stn_problem *p, const stn_constraint *c, int32_t row, real *out) {
    for (int32_t i = 0; i < p->nv; i++) {
        out[i] = 0.0L;
    }
    for (int32_t side = 0; side < 2; side++) {
        const stn_jacobian *J = &c->J[side];
        for (int32_t i = 0; J->tree >= 0 && i < p->trees[J->tree].A.n; i++) {
            out[p->trees[J->tree].dof_start + i] += (real)J->values[row * p->trees[J->tree].A.n + i];
        }
    }
}

static inline real made_dot(int32_t n, const real *x, const real *y) {
    real sum = 0.0L;
    for (int32_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/// The contact's own W = J A^-1 J^T (3 x 3).
static inline void made_own_block(const stn_problem *p, const stn_constraint *c, real W[9]) {
    real J[3][MADE_DOFS], X[MADE_DOFS];
    for (int32_t r = 0; r < 3; r++) {
        made_row(p, c, r, J[r]);
    }
    for (int32_t r = 0; r < 3; r++) {
        memcpy(X, J[r], sizeof X);
        made_divide(p, X);
        for (int32_t k = 0; k < 3; k++) {
            W[3 * r + k] = made_dot(p->nv, J[k], X);
        }
    }
}

/// w = |W|_F/3.
static inline real made_inverse_mass(const stn_problem *p, const stn_constraint *c) {
    real W[9];
    made_own_block(p, c, W);
    return sqrtl(made_dot(9, W, W)) / 3.0L;
}

/// Bodies of 6 dofs and contacts between them and with the world, Jacobians at random. Contacts are still without data.
static inline void made_begin(made *m, stn_context *context, uint64_t seed, int32_t bodies, int32_t contacts) {
    scene_begin(&m->scene, context, seed);
    for (int32_t i = 0; i < bodies; i++) {
        scene_random_tree(&m->scene, TREE_DOFS, 30.0, scene_uniform(&m->scene, 1.0, 5.0));
    }
    for (int32_t i = 0; i < contacts; i++) {
        double J[2][3 * TREE_DOFS];
        for (int32_t k = 0; k < 3 * TREE_DOFS; k++) {
            J[0][k] = 0.5 * scene_normal(&m->scene);
            J[1][k] = 0.5 * scene_normal(&m->scene);
        }
        bool ground = bodies == 1 || scene_integer(&m->scene, 0, 2) == 0;
        scene_constraint(&m->scene, 3, i % bodies, J[0], ground ? -1 : (i + 1) % bodies, J[1]);
    }
    scene_finish(&m->scene);
}

/// v_star of the v and gamma that were chosen.
static inline void made_end(made *m) {
    stn_problem *p = &m->scene.problem;
    real x[MADE_DOFS] = {0.0L}, row[MADE_DOFS];
    for (int32_t i = 0; i < p->constraint_count; i++) {
        for (int32_t r = 0; r < 3; r++) {
            made_row(p, &p->constraints[i], r, row);
            for (int32_t k = 0; k < p->nv; k++) {
                x[k] += row[k] * m->gamma[3 * i + r];
            }
        }
    }
    made_divide(p, x);
    for (int32_t k = 0; k < p->nv; k++) {
        p->v_star[k] = (double)(m->v[k] - x[k]);
    }
}

/// |D^-1 (v - known)| over the larger of |D^-1 known| and |D^-1 v_star|, D = diag(A)^-1/2.
static inline double made_error_of_v(const made *m, const double *v) {
    double known[MADE_DOFS];
    for (int32_t k = 0; k < m->scene.problem.nv; k++) {
        known[k] = (double)m->v[k];
    }
    const stn_problem *p = &m->scene.problem;
    return scene_distance(p, v, known) / fmax(scene_distance(p, known, NULL), scene_distance(p, p->v_star, NULL));
}

/// The largest difference of an impulse, over the largest impulse; where all are 0 in N s.
static inline double made_error_of_gamma(const made *m, const double *gamma) {
    double off = 0.0, largest = 0.0;
    for (int32_t r = 0; r < m->scene.problem.row_count; r++) {
        double d = fabs(gamma[r] - (double)m->gamma[r]);
        off = worse(off, d);
        largest = worse(largest, fabs((double)m->gamma[r]));
    }
    return largest > 0.0 ? off / largest : off;
}

#endif
