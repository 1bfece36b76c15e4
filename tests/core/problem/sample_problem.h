// SPDX-License-Identifier: Apache-2.0
// Random contact problems with trees of every form, built by hand, and their dense counterparts.
#ifndef STN_SAMPLE_PROBLEM_H
#define STN_SAMPLE_PROBLEM_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/problem.h>

#include "stn_random.h"

enum { SAMPLE_TREES = 16, SAMPLE_CONSTRAINTS = 64, SAMPLE_NODES = 24, SAMPLE_MORE = 8 };

// A path of nodes: every node is coupled to its neighbours.
typedef struct sample_nodal {
    int32_t row_start[SAMPLE_NODES + 1], column[3 * SAMPLE_NODES];
} sample_nodal;

typedef struct sample {
    stn_problem problem;
    stn_problem_tree trees[SAMPLE_TREES];
    stn_constraint constraints[SAMPLE_CONSTRAINTS];
    sample_nodal nodal[SAMPLE_TREES];
    stn_jacobian more[SAMPLE_CONSTRAINTS][SAMPLE_MORE]; // trees beyond two
    int32_t node_size;                                  // of nodal trees that are added from now on
    double *owned[512];
    int32_t owned_count;
} sample;

static inline double *sample_doubles(sample *s, size_t count, double value) {
    double *x = malloc((count + 1) * sizeof *x);
    for (size_t i = 0; i < count; i++) {
        x[i] = value;
    }
    s->owned[s->owned_count++] = x;
    return x;
}

static inline double *sample_random_doubles(sample *s, stn_random *r, size_t count) {
    double *x = sample_doubles(s, count, 0.0);
    for (size_t i = 0; i < count; i++) {
        x[i] = random_real(r);
    }
    return x;
}

static inline void sample_clear(sample *s) {
    for (int32_t i = 0; i < s->owned_count; i++) {
        free(s->owned[i]);
    }
    free(s);
}

static inline sample *sample_create(void) {
    sample *s = calloc(1, sizeof *s);
    s->problem.trees = s->trees;
    s->problem.constraints = s->constraints;
    s->problem.dt = 0.01;
    s->node_size = 3;
    s->problem.theta = 1.0;
    s->problem.beta = s->problem.sigma = s->problem.stiction_tolerance = NAN;
    return s;
}

static inline void sample_nodal_matrix(sample *s, stn_random *r, int32_t nodes, stn_matrix *a, sample_nodal *pattern) {
    const int32_t m = s->node_size;
    int32_t e = 0;
    for (int32_t i = 0; i < nodes; i++) {
        pattern->row_start[i] = e;
        for (int32_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < nodes; j++) {
            pattern->column[e++] = j;
        }
    }
    pattern->row_start[nodes] = e;
    a->node_count = nodes;
    a->node_size = m;
    a->row_start = pattern->row_start;
    a->column = pattern->column;
    a->values = sample_random_doubles(s, r, (size_t)(m * m) * (size_t)e);
    for (int32_t i = 0; i < nodes; i++) {
        for (int32_t k = pattern->row_start[i]; k < pattern->row_start[i + 1]; k++) {
            int32_t j = pattern->column[k];
            for (int32_t l = pattern->row_start[j]; l < pattern->row_start[j + 1]; l++) {
                for (int32_t q = 0; q < m * m && pattern->column[l] == i && j < i; q++) {
                    a->values[m * m * k + q] = a->values[m * m * l + m * (q % m) + q / m]; // symmetric
                }
            }
            for (int32_t q = 0; q < m * m && j == i; q++) {
                double *b = a->values + m * m * k;
                b[q] = q / m < q % m ? b[m * (q % m) + q / m] : b[q];
                b[q] += q / m == q % m ? 8.0 * m / 3.0 : 0.0; // dominant
            }
        }
    }
}

// Appends a tree with a random positive definite matrix; nodal: n is a multiple of s->node_size.
static inline int32_t sample_tree(sample *s, stn_random *r, stn_matrix_form form, int32_t n) {
    int32_t t = s->problem.tree_count++;
    stn_problem_tree *tree = &s->trees[t];
    tree->dof_start = s->problem.nv;
    tree->source = 100 + t;
    tree->A.n = n;
    tree->A.form = form;
    size_t m = (size_t)n;
    if (form == STN_MATRIX_DENSE) {
        tree->A.values = sample_doubles(s, m * m, 0.0);
        random_spd(r, n, 0.5, tree->A.values);
    } else if (form == STN_MATRIX_DIAGONAL) {
        tree->A.values = sample_random_doubles(s, r, m);
        for (int32_t i = 0; i < n; i++) {
            tree->A.values[i] = 1.5 + tree->A.values[i];
        }
    } else if (form == STN_MATRIX_NODAL) {
        sample_nodal_matrix(s, r, n / s->node_size, &tree->A, &s->nodal[t]);
    }
    s->problem.nv += n;
    return t;
}

static inline stn_jacobian sample_jacobian(sample *s, stn_random *r, int32_t tree, int32_t rows, int32_t nodes) {
    stn_jacobian J = {.tree = tree};
    if (tree < 0) {
        return J;
    }
    const stn_matrix *A = &s->trees[tree].A;
    int32_t n = A->n;
    J.node_size = A->form == STN_MATRIX_NODAL ? A->node_size : 3;
    J.node_count = nodes = nodes < n / J.node_size ? nodes : n / J.node_size;
    for (int32_t b = 0; b < nodes; b++) {
        J.node[b] = random_below(r, n / J.node_size);
    }
    J.values = sample_random_doubles(s, r, (size_t)rows * (size_t)(nodes > 0 ? J.node_size * nodes : n));
    return J;
}

// Appends a constraint on one or two trees (b = -1: the world); nodes = 0: dense columns.
static inline stn_constraint *sample_constraint(sample *s, stn_random *r, stn_constraint_set set, int32_t rows,
                                                int32_t a, int32_t nodes_a, int32_t b, int32_t nodes_b) {
    stn_constraint *c = &s->constraints[s->problem.constraint_count];
    c->id = 1000 + (uint64_t)s->problem.constraint_count++;
    c->set = set;
    c->kind = set == STN_SET_BOX        ? STN_CONSTRAINT_JOINT_LIMIT
              : set == STN_SET_EQUALITY ? STN_CONSTRAINT_WELD
                                        : STN_CONSTRAINT_CONTACT;
    c->row = s->problem.row_count;
    c->rows = rows;
    c->J[0] = sample_jacobian(s, r, a, rows, nodes_a);
    c->J[1] = sample_jacobian(s, r, b, rows, nodes_b);
    c->phi0 = c->relaxation_time = c->dissipation = c->gamma_n0 = c->vn0 = NAN;
    c->stiffness = INFINITY;
    c->restitution = 0.0;
    c->mu1 = c->mu2 = 0.5;
    c->memory = c->contact = c->patch = c->body[0] = c->body[1] = -1;
    s->problem.row_count += rows;
    return c;
}

// Lets the constraint that was added last act on one tree more.
static inline void sample_more(sample *s, stn_random *r, int32_t tree, int32_t nodes) {
    int32_t i = s->problem.constraint_count - 1;
    stn_constraint *c = &s->constraints[i];
    s->more[i][c->more_count++] = sample_jacobian(s, r, tree, c->rows, nodes);
    c->more = s->more[i];
}

// Gives the vectors their lengths; call after the last tree and constraint.
static inline void sample_finish(sample *s, stn_random *r) {
    size_t nv = (size_t)s->problem.nv, rows = (size_t)s->problem.row_count;
    s->problem.v0 = sample_random_doubles(s, r, nv);
    s->problem.v_star = sample_random_doubles(s, r, nv);
    s->problem.v_guess = sample_random_doubles(s, r, nv);
    s->problem.bias = sample_random_doubles(s, r, rows);
    s->problem.lo = sample_doubles(s, rows, -INFINITY);
    s->problem.hi = sample_doubles(s, rows, INFINITY);
    s->problem.R = sample_doubles(s, rows, 0.0);
    s->problem.v_hat = sample_doubles(s, rows, 0.0);
    s->problem.gamma_guess = sample_doubles(s, rows, 0.0);
    for (int32_t c = 0; c < s->problem.constraint_count; c++) {
        for (int32_t k = 0; k < s->constraints[c].rows && s->constraints[c].set == STN_SET_BOX; k++) {
            s->problem.lo[s->constraints[c].row + k] = 0.0;
        }
    }
}

// Trees of every form and size, nodes of every size, constraints of every set, dense and by node.
static inline sample *sample_mixed(uint64_t seed) {
    static const int32_t node_sizes[8] = {3, 1, 2, 3, 4, 6, 12, 3};
    stn_random r = {seed};
    sample *s = sample_create();
    s->node_size = node_sizes[seed % 8];
    int32_t body = sample_tree(s, &r, STN_MATRIX_DENSE, 6), other = sample_tree(s, &r, STN_MATRIX_DENSE, 6);
    int32_t robot = sample_tree(s, &r, STN_MATRIX_DENSE, 23), hinge = sample_tree(s, &r, STN_MATRIX_DENSE, 1);
    int32_t ball = sample_tree(s, &r, STN_MATRIX_DIAGONAL, 6), soft = sample_tree(s, &r, STN_MATRIX_NODAL, 24);
    int32_t rod = sample_tree(s, &r, STN_MATRIX_NODAL, 12);
    sample_constraint(s, &r, STN_SET_CONE, 3, body, 0, -1, 0);
    sample_constraint(s, &r, STN_SET_CONE, 3, body, 0, other, 0);
    sample_constraint(s, &r, STN_SET_ELLIPSE, 3, other, 0, robot, 0)->mu2 = 0.25;
    sample_constraint(s, &r, STN_SET_BOX, 1, hinge, 0, -1, 0);
    sample_constraint(s, &r, STN_SET_EQUALITY, 6, robot, 0, ball, 0);
    sample_constraint(s, &r, STN_SET_BOX, 2, robot, 0, hinge, 0);
    sample_constraint(s, &r, STN_SET_CONE, 3, soft, 4, body, 0);
    sample_constraint(s, &r, STN_SET_CONE, 3, soft, 3, rod, 2);
    sample_constraint(s, &r, STN_SET_CONE, 3, ball, 2, soft, 0);
    sample_constraint(s, &r, STN_SET_CONE, 3, body, 0, other, 0);
    sample_constraint(s, &r, STN_SET_EQUALITY, 1, hinge, 0, robot, 0); // cables
    sample_more(s, &r, body, 0);
    sample_more(s, &r, rod, 2);
    sample_constraint(s, &r, STN_SET_BOX, 3, rod, 1, ball, 0);
    sample_more(s, &r, other, 0);
    sample_more(s, &r, hinge, 0);
    sample_more(s, &r, body, 0);
    sample_finish(s, &r);
    return s;
}

// Dense A (nv x nv), row-major; caller frees.
static inline double *sample_dense_A(const stn_problem *p) {
    size_t nv = (size_t)p->nv;
    double *A = calloc(nv * nv + 1, sizeof *A);
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_matrix *a = &p->trees[t].A;
        size_t d = (size_t)p->trees[t].dof_start, n = (size_t)a->n;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n && a->form == STN_MATRIX_DENSE; j++) {
                A[(d + i) * nv + d + j] = a->values[i * n + j];
            }
            if (a->form == STN_MATRIX_DIAGONAL) {
                A[(d + i) * nv + d + i] = a->values[i];
            }
        }
        for (int32_t i = 0; i < a->node_count && a->form == STN_MATRIX_NODAL; i++) {
            for (int32_t e = a->row_start[i]; e < a->row_start[i + 1]; e++) {
                for (size_t m = (size_t)a->node_size, q = 0; q < m * m; q++) {
                    A[(d + m * (size_t)i + q / m) * nv + d + m * (size_t)a->column[e] + q % m] =
                        a->values[m * m * (size_t)e + q];
                }
            }
        }
    }
    return A;
}

// Dense J (rows x nv), row-major; caller frees.
static inline double *sample_dense_J(const stn_problem *p) {
    size_t nv = (size_t)p->nv;
    double *out = calloc((size_t)p->row_count * nv + 1, sizeof *out);
    for (int32_t c = 0; c < p->constraint_count; c++) {
        const stn_constraint *k = &p->constraints[c];
        for (int32_t side = 0; side < stn_constraint_block_count(k); side++) {
            const stn_jacobian *J = stn_constraint_block(k, side);
            for (int32_t row = 0; row < k->rows && J->tree >= 0; row++) {
                double *to = out + (size_t)(k->row + row) * nv + p->trees[J->tree].dof_start;
                int32_t n = p->trees[J->tree].A.n;
                for (int32_t j = 0; j < n && J->node_count == 0; j++) {
                    to[j] = J->values[row * n + j];
                }
                for (int32_t b = 0; b < J->node_count; b++) {
                    for (int32_t m = J->node_size, j = 0; j < m; j++) {
                        to[m * J->node[b] + j] += J->values[m * k->rows * b + m * row + j];
                    }
                }
            }
        }
    }
    return out;
}

// W = J A^-1 J^T (rows x rows) the plain way; caller frees.
static inline double *sample_dense_W(const stn_problem *p) {
    size_t nv = (size_t)p->nv, rows = (size_t)p->row_count;
    double *A = sample_dense_A(p), *J = sample_dense_J(p);
    double *W = calloc(rows * rows + 1, sizeof *W), *x = calloc(nv + 1, sizeof *x);
    for (size_t i = 0; i < rows; i++) {
        memcpy(x, J + i * nv, nv * sizeof *x);
        plain_solve(p->nv, A, x);
        for (size_t j = 0; j < rows; j++) {
            for (size_t k = 0; k < nv; k++) {
                W[i * rows + j] += J[j * nv + k] * x[k];
            }
        }
    }
    free(A);
    free(J);
    free(x);
    return W;
}

#endif
