// SPDX-License-Identifier: Apache-2.0
// Clouds of nodes on lattices of tetrahedra for tests and benches of problems: A = M + dt^2 K with K of springs along
// the edges, and contacts on their triangles. Cells are cut in six tetrahedra about the diagonal (1, 1, 1).
#ifndef STN_CLOUD_H
#define STN_CLOUD_H

#include <stiction/factor.h>

#include "stn_scene.h"

typedef struct cloud {
    int32_t tree;
    int32_t side[3]; // nodes along x, y, z: number of (i, j, k) is i + side[0] (j + side[1] k)
} cloud;

static inline int32_t cloud_nodes(const cloud *c) {
    return c->side[0] * c->side[1] * c->side[2];
}

/// The node a step of (dx, dy, dz) from `node`, -1: none.
static inline int32_t cloud_neighbour(const cloud *c, int32_t node, const int32_t *step) {
    const int32_t at[3] = {node % c->side[0], node / c->side[0] % c->side[1], node / c->side[0] / c->side[1]};
    int32_t to = 0;
    for (int32_t k = 2; k >= 0; k--) {
        const int32_t x = at[k] + step[k];
        if (x < 0 || x >= c->side[k]) {
            return -1;
        }
        to = to * c->side[k] + x;
    }
    return to;
}

/// A lattice of cells of 10 mm: nodes of 1 g that fall at 0.1 m/s, springs of about `stiffness` [N/m] along the edges,
/// a tenth of it across them.
static inline cloud scene_cloud(scene *s, int32_t nx, int32_t ny, int32_t nz, double stiffness) {
    static const int32_t steps[14][3] = {{-1, -1, -1}, {0, -1, -1}, {-1, 0, -1}, {0, 0, -1}, {-1, -1, 0},
                                         {0, -1, 0},   {-1, 0, 0},  {1, 0, 0},   {0, 1, 0},  {1, 1, 0},
                                         {0, 0, 1},    {1, 0, 1},   {0, 1, 1},   {1, 1, 1}}; // ascending numbers
    stn_problem *p = &s->problem;
    cloud c = {p->tree_count, {nx + 1, ny + 1, nz + 1}};
    const int32_t n = cloud_nodes(&c);
    int32_t *row_start = STN_ARENA(s->arena, n + 1, int32_t), *column = STN_ARENA(s->arena, 15 * n, int32_t);
    double *values = scene_reals(s, 9 * 15 * n, 0.0);
    int32_t e = 0;
    for (int32_t i = 0; i < n; i++) {
        row_start[i] = e;
        for (int32_t k = 0; k < 15; k++) {
            const int32_t j = k == 7 ? i : cloud_neighbour(&c, i, steps[k - (k > 7)]);
            if (j >= 0) {
                column[e++] = j;
            }
        }
    }
    row_start[n] = e;
    for (int32_t i = 0; i < n; i++) { // every edge once, from its lower node
        int32_t own = row_start[i];
        while (column[own] != i) {
            own++;
        }
        for (int32_t r = 0; r < 3; r++) {
            values[9 * own + 4 * r] += 1e-3;
        }
        for (int32_t k = 7; k < 14; k++) {
            const int32_t j = cloud_neighbour(&c, i, steps[k]);
            if (j < 0) {
                continue;
            }
            int32_t back = row_start[j], there = own + 1, other = row_start[j];
            while (column[there] != j) {
                there++;
            }
            while (column[back] != i) {
                back++;
            }
            while (column[other] != j) {
                other++;
            }
            const double length = sqrt((double)(abs(steps[k][0]) + abs(steps[k][1]) + abs(steps[k][2])));
            const double along = p->dt * p->dt * stiffness * scene_uniform(s, 0.8, 1.2);
            for (int32_t x = 0; x < 9; x++) {
                const double d = (double)(steps[k][x / 3] * steps[k][x % 3]) / (length * length);
                const double spring = along * (0.9 * d + (x % 4 == 0 ? 0.1 : 0.0));
                values[9 * own + x] += spring;
                values[9 * other + x] += spring;
                values[9 * there + x] -= spring;
                values[9 * back + x] -= spring;
            }
        }
    }
    p->trees[p->tree_count++] = (stn_problem_tree){.dof_start = p->nv,
                                                   .source = c.tree,
                                                   .A = {.n = 3 * n,
                                                         .form = STN_MATRIX_NODAL,
                                                         .values = values,
                                                         .node_count = n,
                                                         .node_size = 3,
                                                         .row_start = row_start,
                                                         .column = column}};
    p->nv += 3 * n;
    return c;
}

/// A free body of `mass` [kg], 50 mm wide.
static inline int32_t scene_free_body(scene *s, double mass) {
    double A[36] = {0.0};
    for (int32_t i = 0; i < 6; i++) {
        A[7 * i] = i < 3 ? mass : 4e-4 * mass;
    }
    return scene_tree(s, 6, A);
}

/// Rows of `count` nodes that share a contact by weights, times sign. Nodes ascend.
static inline stn_jacobian scene_support(scene *s, int32_t tree, int32_t count, const int32_t *node,
                                         const double *weight, double sign) {
    stn_jacobian J = {.tree = tree, .node_count = count, .node_size = 3};
    double *values = scene_reals(s, 9 * count, 0.0);
    for (int32_t k = 0; k < count; k++) {
        J.node[k] = node[k];
        for (int32_t r = 0; r < 3; r++) {
            values[9 * k + 4 * r] = sign * weight[k];
        }
    }
    J.values = values;
    return J;
}

/// The triangle from a node along two axes, ascending; false: it sticks out.
static inline bool cloud_triangle(const cloud *c, int32_t node, int32_t first, int32_t second, int32_t *triangle) {
    int32_t one[3] = {0}, two[3] = {0};
    one[first] = 1;
    two[first] = two[second] = 1;
    triangle[0] = node;
    triangle[1] = cloud_neighbour(c, node, one);
    triangle[2] = cloud_neighbour(c, node, two);
    return triangle[1] >= 0 && triangle[2] >= 0;
}

/// A contact on a triangle of a cloud from below: against the world (other = -1) or a dense tree, whose rows J_other
/// (3 x n) are then given.
static inline stn_constraint *scene_cloud_contact(scene *s, const cloud *c, const int32_t *triangle, int32_t other,
                                                  const double *J_other) {
    const double weight[3] = {0.5, 0.3, 0.2};
    stn_constraint *contact = scene_constraint(s, 3, other, J_other, -1, NULL);
    contact->J[other >= 0] = scene_support(s, c->tree, 3, triangle, weight, 1.0);
    return contact;
}

/// A contact between triangles of two clouds. Of one cloud they are one block, of the nodes of both.
static inline stn_constraint *scene_cloud_pair(scene *s, const cloud *a, const int32_t *first, const cloud *b,
                                               const int32_t *second) {
    const double weight[6] = {-0.5, -0.3, -0.2, 0.2, 0.3, 0.5};
    stn_constraint *contact = scene_constraint(s, 3, -1, NULL, -1, NULL);
    if (a->tree != b->tree) {
        contact->J[0] = scene_support(s, a->tree, 3, first, weight, 1.0);
        contact->J[1] = scene_support(s, b->tree, 3, second, weight + 3, 1.0);
        return contact;
    }
    int32_t node[6];
    double weights[6];
    int32_t count = 0;
    for (int32_t i = 0, j = 0; i < 3 || j < 3;) { // merged; a node of both has both weights
        const int32_t least = j == 3 || (i < 3 && first[i] <= second[j]) ? first[i] : second[j];
        node[count] = least;
        weights[count] = 0.0;
        if (i < 3 && first[i] == least) {
            weights[count] += weight[i++];
        }
        if (j < 3 && second[j] == least) {
            weights[count] += weight[3 + j++];
        }
        count++;
    }
    contact->J[0] = scene_support(s, a->tree, count, node, weights, 1.0);
    return contact;
}

/// A of a cloud as factors want it.
static inline stn_block_matrix cloud_lower(scene *s, int32_t tree) {
    const stn_matrix *A = &s->problem.trees[tree].A;
    const int32_t n = A->node_count, most = A->row_start[n];
    int32_t *size = STN_ARENA(s->arena, n + 1, int32_t), *start = STN_ARENA(s->arena, n + 1, int32_t);
    int32_t *row = STN_ARENA(s->arena, most, int32_t), e = 0;
    int64_t *offset = STN_ARENA(s->arena, most + 1, int64_t);
    double *values = scene_reals(s, 9 * most, 0.0);
    for (int32_t i = 0; i < n; i++) {
        size[i] = 3;
        start[i] = e;
        for (int32_t k = A->row_start[i]; k < A->row_start[i + 1]; k++) {
            if (A->column[k] >= i) {
                row[e] = A->column[k];
                offset[e] = 9 * (int64_t)e;
                for (int32_t x = 0; x < 9; x++) {
                    values[9 * e + x] = A->values[9 * k + 3 * (x % 3) + x / 3];
                }
                e++;
            }
        }
    }
    start[n] = e;
    offset[e] = 9 * (int64_t)e;
    return (stn_block_matrix){{n, size, start, row, NULL}, offset, values};
}

#endif
