// SPDX-License-Identifier: Apache-2.0
// Contact problems made by hand for tests and benches: trees and constraints are appended, then `scene_finish` stacks
// the rows. Everything lives in the scene's arena. Random numbers are the scene's own, so that a problem follows from
// its seed.
#ifndef STN_SCENE_H
#define STN_SCENE_H

#include <math.h>
#include <string.h>

#include <stiction/problem.h>

#include "stn_random.h"

enum { SCENE_TREES = 1024, SCENE_CONSTRAINTS = 8192 };

typedef struct scene {
    stn_arena *arena;
    stn_problem problem;
    stn_random random;
} scene;

static inline double scene_uniform(scene *s, double low, double high) {
    return low + (high - low) * 0.5 * (random_real(&s->random) + 1.0);
}

static inline double scene_normal(scene *s) {
    double r = sqrt(-2.0 * log(scene_uniform(s, 1e-300, 1.0)));
    return r * cos(2.0 * STN_PI * scene_uniform(s, 0.0, 1.0));
}

static inline int32_t scene_integer(scene *s, int32_t low, int32_t high) { // both included
    return low + (int32_t)(scene_uniform(s, 0.0, 1.0) * (double)(high - low + 1));
}

static inline double *scene_reals(scene *s, int32_t n, double value) {
    double *x = STN_ARENA(s->arena, n + 1, double);
    for (int32_t i = 0; i <= n; i++) {
        x[i] = value;
    }
    return x;
}

static inline void scene_begin(scene *s, stn_context *context, uint64_t seed) {
    *s = (scene){.arena = stn_arena_create(context), .random = {seed}};
    s->problem = (stn_problem){
        .form = STN_FORM_GLOBAL, .theta = 1.0, .dt = 0.005, .beta = NAN, .sigma = NAN, .stiction_tolerance = NAN};
    s->problem.trees = STN_ARENA_ZEROED(s->arena, SCENE_TREES, stn_problem_tree);
    s->problem.constraints = STN_ARENA(s->arena, SCENE_CONSTRAINTS, stn_constraint); // scene_constraint fills each
}

static inline void scene_end(scene *s) {
    stn_arena_destroy(s->arena);
}

/// A tree with dense A (n x n, copied); returns its index.
static inline int32_t scene_tree(scene *s, int32_t n, const double *A) {
    stn_problem *p = &s->problem;
    stn_problem_tree *tree = &p->trees[p->tree_count];
    *tree = (stn_problem_tree){.dof_start = p->nv, .source = p->tree_count};
    tree->A = (stn_matrix){.n = n, .form = STN_MATRIX_DENSE, .values = scene_reals(s, n * n, 0.0)};
    memcpy(tree->A.values, A, (size_t)(n * n) * sizeof *A);
    p->nv += n;
    return p->tree_count++;
}

/// A = Q diag(log-spaced from 1 to 1/condition) Q^T, times mass, with a random orthogonal Q.
static inline int32_t scene_random_tree(scene *s, int32_t n, double condition, double mass) {
    double *q = scene_reals(s, n * n, 0.0), *A = scene_reals(s, n * n, 0.0);
    for (int32_t i = 0; i < n; i++) { // Gram-Schmidt, twice
        double norm;
        do {
            for (int32_t k = 0; k < n; k++) {
                q[i * n + k] = scene_normal(s);
            }
            for (int32_t j = 0; j < 2 * i; j++) {
                const double *other = q + (j % i) * n;
                double dot = 0.0;
                for (int32_t k = 0; k < n; k++) {
                    dot += other[k] * q[i * n + k];
                }
                for (int32_t k = 0; k < n; k++) {
                    q[i * n + k] -= dot * other[k];
                }
            }
            norm = 0.0;
            for (int32_t k = 0; k < n; k++) {
                norm += q[i * n + k] * q[i * n + k];
            }
        } while (!(norm > 1e-6));
        for (int32_t k = 0; k < n; k++) {
            q[i * n + k] /= sqrt(norm);
        }
    }
    for (int32_t e = 0; e < n; e++) {
        double value = mass * pow(condition, n > 1 ? -(double)e / (double)(n - 1) : 0.0);
        for (int32_t i = 0; i < n; i++) {
            for (int32_t j = 0; j < n; j++) {
                A[i * n + j] += value * q[e * n + i] * q[e * n + j];
            }
        }
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < i; j++) {
            A[i * n + j] = A[j * n + i];
        }
    }
    return scene_tree(s, n, A);
}

/// A contact without data; J are rows x n_t, copied; b = -1: against the world.
static inline stn_constraint *scene_constraint(scene *s, int32_t rows, int32_t a, const double *J_a, int32_t b,
                                               const double *J_b) {
    stn_problem *p = &s->problem;
    stn_constraint *c = &p->constraints[p->constraint_count];
    *c = (stn_constraint){.id = (uint64_t)p->constraint_count + 1,
                          .kind = STN_CONSTRAINT_CONTACT,
                          .set = STN_SET_CONE,
                          .row = p->row_count,
                          .rows = rows,
                          .phi0 = 0.0,
                          .stiffness = INFINITY,
                          .relaxation_time = 0.0,
                          .dissipation = 0.0,
                          .mu1 = 0.5,
                          .mu2 = 0.5,
                          .restitution = 0.0,
                          .w = NAN,
                          .w_trace = NAN,
                          .gamma_n0 = NAN,
                          .vn0 = NAN,
                          .memory = -1,
                          .body = {-1, -1},
                          .contact = -1,
                          .patch = -1};
    c->frame = stn_mat3_identity();
    const double *J[2] = {J_a, J_b};
    int32_t tree[2] = {a, b};
    for (int32_t k = 0; k < 2; k++) {
        c->J[k].tree = tree[k];
        if (tree[k] >= 0) {
            int32_t n = rows * p->trees[tree[k]].A.n;
            double *copy = scene_reals(s, n, 0.0);
            memcpy(copy, J[k], (size_t)n * sizeof *copy);
            c->J[k].values = copy;
        }
    }
    p->row_count += rows;
    p->constraint_count++;
    return c;
}

/// Allocates and clears all vectors; call after the last constraint.
static inline stn_problem *scene_finish(scene *s) {
    stn_problem *p = &s->problem;
    p->v0 = scene_reals(s, p->nv, 0.0);
    p->v_star = scene_reals(s, p->nv, 0.0);
    p->v_guess = scene_reals(s, p->nv, 0.0);
    p->bias = scene_reals(s, p->row_count, 0.0);
    p->lo = scene_reals(s, p->row_count, -INFINITY);
    p->hi = scene_reals(s, p->row_count, INFINITY);
    p->R = scene_reals(s, p->row_count, 0.0);
    p->v_hat = scene_reals(s, p->row_count, 0.0);
    p->gamma_guess = scene_reals(s, p->row_count, 0.0);
    return p;
}

/// Rows of a contact at `r` from the centre of a free body with normal n: v_c = frame^T (v + omega x r), times sign.
static inline void scene_body_rows(stn_vec3 r, const stn_mat3 *frame, double sign, double J[18]) {
    for (int32_t a = 0; a < 3; a++) {
        stn_vec3 e = stn_mat3_column(frame, a), m = stn_vec3_cross(r, e);
        double row[6] = {e.x, e.y, e.z, m.x, m.y, m.z};
        for (int32_t k = 0; k < 6; k++) {
            J[6 * a + k] = sign * row[k];
        }
    }
}

/// Random trees and contacts: trees of 1 to 9 dofs of the given condition, contacts with random rows; k, tau_d, mu and
/// phi0 over wide ranges; some contacts twice. mu up to mu_max, one in eight 0.
static inline void scene_random(scene *s, int32_t contacts, double condition, double mu_max) {
    int32_t trees = scene_integer(s, 1, 1 + contacts / 2);
    for (int32_t t = 0; t < trees; t++) {
        scene_random_tree(s, scene_integer(s, 1, 9), condition, pow(10.0, scene_uniform(s, -2.0, 2.0)));
    }
    double J[2][27];
    int32_t a = 0, b = -1;
    for (int32_t i = 0; i < contacts; i++) {
        bool twice = i > 0 && scene_integer(s, 0, 9) == 0;
        if (!twice) {
            a = scene_integer(s, 0, trees - 1);
            b = trees > 1 && scene_integer(s, 0, 2) > 0 ? (a + scene_integer(s, 1, trees - 1)) % trees : -1;
            for (int32_t k = 0; k < 27; k++) {
                J[0][k] = scene_normal(s);
                J[1][k] = scene_normal(s);
            }
        }
        stn_constraint *c = scene_constraint(s, 3, a, J[0], b, J[1]);
        c->phi0 = scene_uniform(s, -1e-3, 5e-4);
        c->stiffness = scene_integer(s, 0, 3) == 0 ? (double)INFINITY : pow(10.0, scene_uniform(s, 2.0, 10.0));
        c->relaxation_time = scene_uniform(s, 0.0, 0.01);
        c->mu1 = c->mu2 = scene_integer(s, 0, 7) == 0 ? 0.0 : scene_uniform(s, 0.0, mu_max);
    }
    stn_problem *p = scene_finish(s);
    for (int32_t i = 0; i < p->nv; i++) {
        p->v0[i] = scene_normal(s);
        p->v_star[i] = p->v0[i] + 0.1 * scene_normal(s);
        p->v_guess[i] = p->v0[i];
    }
    for (int32_t i = 0; i < p->row_count; i++) {
        p->bias[i] = scene_integer(s, 0, 5) == 0 ? 0.3 * scene_normal(s) : 0.0;
    }
}

/// A cubic pile of free bodies, side x side x height, near-rigid; part of it slides and rattles. Boxes: four contacts
/// with the one below (or the ground), two with each neighbour. Spheres: one with each.
static inline void scene_pile(scene *s, int32_t side, int32_t height, bool spheres, double rattle) {
    const double half = 0.05, mass = 1.0, inertia = mass * 4.0 * half * half / 6.0;
    double A[36] = {0.0};
    for (int32_t k = 0; k < 6; k++) {
        A[7 * k] = k < 3 ? mass : inertia;
    }
    for (int32_t i = 0; i < side * side * height; i++) {
        scene_tree(s, 6, A);
    }
    for (int32_t z = 0; z < height; z++) {
        for (int32_t y = 0; y < side; y++) {
            for (int32_t x = 0; x < side; x++) {
                int32_t body = (z * side + y) * side + x;
                int32_t other[3] = {z > 0 ? body - side * side : -1, y > 0 ? body - side : -1, x > 0 ? body - 1 : -1};
                stn_vec3 axis[3] = {{0.0, 0.0, 1.0}, {0.0, 1.0, 0.0}, {1.0, 0.0, 0.0}};
                for (int32_t k = 0; k < 3; k++) {
                    if (k > 0 && other[k] < 0) {
                        continue;
                    }
                    stn_mat3 frame = stn_contact_frame(axis[k]);
                    stn_vec3 t1 = stn_mat3_column(&frame, 0), t2 = stn_mat3_column(&frame, 1);
                    for (int32_t corner = 0; corner < (spheres ? 1 : k == 0 ? 4 : 2); corner++) {
                        double u = corner & 1 ? half : -half, w = corner & 2 ? half : -half;
                        stn_vec3 point = stn_vec3_mul_add(stn_vec3_scale(u, t1), k == 0 ? w : u, t2);
                        point = spheres ? stn_vec3_zero() : point;
                        double J[2][18];
                        scene_body_rows(stn_vec3_mul_add(point, -half, axis[k]), &frame, 1.0, J[0]);
                        scene_body_rows(stn_vec3_mul_add(point, half, axis[k]), &frame, -1.0, J[1]);
                        stn_constraint *c = scene_constraint(s, 3, body, J[0], other[k], J[1]);
                        c->relaxation_time = 0.002;
                        c->mu1 = c->mu2 = 1.0;
                        c->phi0 = scene_uniform(s, -2e-6, k == 0 ? 1e-7 : 2e-6);
                    }
                }
            }
        }
    }
    stn_problem *p = scene_finish(s);
    p->dt = 0.002;
    for (int32_t i = 0; i < p->nv; i++) {
        p->v0[i] = rattle * scene_normal(s);
        p->v_star[i] = p->v0[i] - (i % 6 == 2 ? 9.81 * p->dt : 0.0);
        p->v_guess[i] = p->v0[i];
    }
}

/// |D^-1 (x - y)|, D = diag(A)^-1/2, of velocities; y NULL: of x.
static inline double scene_distance(const stn_problem *p, const double *x, const double *y) {
    double sum = 0.0;
    for (int32_t t = 0; t < p->tree_count; t++) {
        double diagonal[256]; // of trees of tests
        stn_matrix_diagonal(&p->trees[t].A, diagonal);
        for (int32_t i = 0; i < p->trees[t].A.n; i++) {
            double d = x[p->trees[t].dof_start + i] - (y == NULL ? 0.0 : y[p->trees[t].dof_start + i]);
            sum += diagonal[i] * d * d;
        }
    }
    return sqrt(sum);
}

#endif
