// SPDX-License-Identifier: Apache-2.0
// Islands: connected components of the graph whose nodes are trees and whose edges are constraints. The world is no
// node. Sets of trees are merged under their smallest member, so that islands come out ordered by smallest tree.
#include <string.h>

#include <stiction/union_find.h>

#include "problem/local_islands.h"

/// parent[t]: smallest tree of t's component, or -1 for a tree without constraint.
static void merge_trees(const stn_problem *problem, int32_t *parent) {
    for (int32_t t = 0; t < problem->tree_count; t++) {
        parent[t] = -1;
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_jacobian *J = problem->constraints[i].J;
        int32_t a = J[0].tree, b = J[1].tree < 0 ? J[0].tree : J[1].tree;
        parent[a] = parent[a] < 0 ? a : parent[a];
        parent[b] = parent[b] < 0 ? b : parent[b];
        if (a != b) {
            stn_union_join(parent, a, b);
        }
    }
    for (int32_t t = 0; t < problem->tree_count; t++) {
        if (parent[t] >= 0) {
            parent[t] = stn_union_root(parent, t);
        }
    }
}

/// Turns counts at start[i + 1] into starts.
static void accumulate(int32_t count, int32_t *start) {
    for (int32_t i = 0; i < count; i++) {
        start[i + 1] += start[i];
    }
}

stn_status stn_problem_islands(const stn_problem *problem, stn_arena *arena, stn_islands *out, stn_error *err) {
    if (problem->form == STN_FORM_LOCAL) {
        return local_islands(problem, arena, out, err);
    }
    int32_t tree_count = problem->tree_count, constraint_count = problem->constraint_count;
    size_t size = 4 * (size_t)tree_count + 2 + 2 * (size_t)constraint_count;
    int32_t *island_of = STN_ARENA(arena, size + (size_t)tree_count, int32_t);
    if (island_of == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "islands: out of memory for %d trees", tree_count);
    }
    int32_t *position = island_of + tree_count, *tree = position + tree_count, *constraint = tree + tree_count;
    int32_t *tree_start = constraint + constraint_count, *constraint_start = tree_start + tree_count + 1;
    memset(tree_start, 0, 2 * ((size_t)tree_count + 1) * sizeof(int32_t));

    merge_trees(problem, island_of);
    int32_t count = 0;
    for (int32_t t = 0; t < tree_count; t++) { // a root is met before its members: number islands in passing
        int32_t root = island_of[t];
        if (root >= 0) {
            island_of[t] = root == t ? count++ : island_of[root];
            tree_start[island_of[t] + 1]++;
        }
    }
    for (int32_t i = 0; i < constraint_count; i++) {
        constraint_start[island_of[problem->constraints[i].J[0].tree] + 1]++;
    }
    accumulate(count, tree_start);
    accumulate(count, constraint_start);
    for (int32_t t = 0; t < tree_count; t++) { // tree_start[i] runs ahead while island i fills, and is set back below
        position[t] = island_of[t] < 0 ? -1 : tree_start[island_of[t]]++;
        if (position[t] >= 0) {
            tree[position[t]] = t;
        }
    }
    for (int32_t i = 0; i < constraint_count; i++) {
        constraint[constraint_start[island_of[problem->constraints[i].J[0].tree]]++] = i;
    }
    memmove(tree_start + 1, tree_start, (size_t)count * sizeof(int32_t));
    memmove(constraint_start + 1, constraint_start, (size_t)count * sizeof(int32_t));
    tree_start[0] = constraint_start[0] = 0;
    for (int32_t t = 0; t < tree_count; t++) {
        position[t] -= position[t] < 0 ? 0 : tree_start[island_of[t]];
    }
    *out = (stn_islands){
        .count = count,
        .tree_start = tree_start,
        .tree = tree,
        .tree_position = position,
        .constraint_start = constraint_start,
        .constraint = constraint,
    };
    return STN_OK;
}

/// Trees of the island, dofs counted anew. Returns nv.
static int32_t take_trees(const stn_problem *problem, const int32_t *tree, int32_t count, stn_problem_tree *trees) {
    int32_t nv = 0;
    for (int32_t t = 0; t < count; t++) {
        trees[t] = problem->trees[tree[t]];
        trees[t].dof_start = nv;
        nv += trees[t].A.n;
    }
    return nv;
}

/// Constraints of the island, rows and trees counted anew. Returns the rows.
static int32_t take_constraints(const stn_problem *problem, const stn_islands *islands, int32_t island,
                                stn_constraint *constraints) {
    const int32_t *index = islands->constraint + islands->constraint_start[island];
    int32_t count = islands->constraint_start[island + 1] - islands->constraint_start[island];
    int32_t rows = 0;
    for (int32_t i = 0; i < count; i++) {
        stn_constraint *c = &constraints[i];
        *c = problem->constraints[index[i]];
        c->row = rows;
        rows += c->rows;
        for (int32_t side = 0; side < 2; side++) {
            if (c->J[side].tree >= 0) {
                c->J[side].tree = islands->tree_position[c->J[side].tree];
            }
        }
    }
    return rows;
}

static double *gather_dofs(const stn_problem *problem, const int32_t *tree, int32_t count, const double *from,
                           double **to) {
    double *start = *to;
    for (int32_t t = 0; t < count; t++) {
        const stn_problem_tree *source = &problem->trees[tree[t]];
        memcpy(*to, from + source->dof_start, (size_t)source->A.n * sizeof(double));
        *to += source->A.n;
    }
    return start;
}

/// Constraints that are neighbours in the problem have their rows in one piece.
static void gather_rows(const stn_problem *problem, const int32_t *index, stn_problem *island, double *to) {
    double *const from[] = {problem->bias,  problem->lo,          problem->hi, problem->R,
                            problem->v_hat, problem->gamma_guess, problem->phi};
    double **const member[] = {&island->bias,  &island->lo,          &island->hi, &island->R,
                               &island->v_hat, &island->gamma_guess, &island->phi};
    int32_t count = problem->phi != NULL ? STN_COUNT(from) : STN_COUNT(from) - 1; // phi may be missing
    for (int32_t a = 0; a < count; a++) {
        *member[a] = to + (size_t)a * (size_t)island->row_count;
    }
    for (int32_t i = 0, end = 0, at = 0; i < island->constraint_count; i = end) {
        for (end = i + 1; end < island->constraint_count && index[end] == index[end - 1] + 1;) {
            end++;
        }
        const stn_constraint *last = &problem->constraints[index[end - 1]];
        int32_t row = problem->constraints[index[i]].row, rows = last->row + last->rows - row;
        for (int32_t a = 0; a < count; a++) {
            memcpy(*member[a] + at, from[a] + row, (size_t)rows * sizeof(double));
        }
        at += rows;
    }
}

stn_status stn_problem_island(const stn_problem *problem, const stn_islands *islands, int32_t i, stn_arena *arena,
                              stn_problem *out, stn_error *err) {
    const int32_t *tree = islands->tree + islands->tree_start[i];
    int32_t tree_count = islands->tree_start[i + 1] - islands->tree_start[i];
    int32_t constraint_count = islands->constraint_start[i + 1] - islands->constraint_start[i];
    stn_problem island = *problem;
    island.tree_count = tree_count;
    island.constraint_count = constraint_count;
    island.trees = STN_ARENA(arena, tree_count, stn_problem_tree);
    island.constraints = STN_ARENA(arena, constraint_count, stn_constraint);
    if (island.trees == NULL || island.constraints == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "island %d: out of memory", i);
    }
    island.nv = take_trees(problem, tree, tree_count, island.trees);
    island.row_count = take_constraints(problem, islands, i, island.constraints);

    if (problem->form == STN_FORM_LOCAL) {
        const int32_t *index = islands->constraint + islands->constraint_start[i];
        stn_status status = local_island_operator(problem, index, arena, &island, err);
        if (status != STN_OK) {
            return status;
        }
    }
    double *memory = STN_ARENA(arena, 4 * (size_t)island.nv + 7 * (size_t)island.row_count, double);
    if (memory == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "island %d: out of memory", i);
    }
    island.v0 = gather_dofs(problem, tree, tree_count, problem->v0, &memory);
    island.v_star = gather_dofs(problem, tree, tree_count, problem->v_star, &memory);
    island.v_guess = gather_dofs(problem, tree, tree_count, problem->v_guess, &memory);
    if (problem->free_impulse != NULL) {
        island.free_impulse = gather_dofs(problem, tree, tree_count, problem->free_impulse, &memory);
    }
    gather_rows(problem, islands->constraint + islands->constraint_start[i], &island, memory);
    *out = island;
    return STN_OK;
}
