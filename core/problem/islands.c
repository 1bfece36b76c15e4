// SPDX-License-Identifier: Apache-2.0
// Islands: connected components of the graph whose nodes are trees and whose edges are constraints. The world is no
// node. Sets of trees are merged under their smallest member, so that islands come out ordered by smallest tree.
#include <stiction/islands.h>
#include <stiction/union_find.h>
#include <string.h>

#include "problem/local_form.h"

// --------------------------------------------------------------------------------------------- of local problems
// Islands of a local problem: components of its constraints that no block of W couples. Bilateral rows couple all that
// they act on, as R^-1 is dense.

static bool any(const double *values, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (values[i] != 0.0) { // NaN is not zero
            return true;
        }
    }
    return false;
}

/// stn_problem_islands of a local problem: no trees, islands by their smallest constraint.
static stn_status local_islands(const stn_problem *p, stn_arena *arena, stn_islands *out, stn_error *err) {
    int32_t n = p->constraint_count, count = 0;
    int32_t *parent = STN_ARENA(arena, n, int32_t), *island_of = STN_ARENA(arena, n, int32_t);
    int32_t *constraint = STN_ARENA(arena, n, int32_t), *start = STN_ARENA_ZEROED(arena, n + 2, int32_t);
    int32_t *tree_start = STN_ARENA_ZEROED(arena, n + 1, int32_t);
    bool *present = STN_ARENA(arena, n, bool);
    if (parent == NULL || island_of == NULL || constraint == NULL || start == NULL || tree_start == NULL ||
        present == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "islands: out of memory for %d constraints", n);
    }
    stn_union_begin(parent, n);
    int32_t pulled = -1, sets = n; // pulled: the first constraint that bilateral rows act on
    for (int32_t i = 0; i < n && p->bilateral_count > 0; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (any(p->V + (size_t)c->row * (size_t)p->bilateral_count, c->rows * p->bilateral_count)) {
            pulled = pulled < 0 ? i : pulled;
            sets -= stn_union_join(parent, pulled, i);
        }
    }
    for (int32_t i = 0; i < n && sets > 1; i++) { // W is not read on once all constraints are in one set
        local_form_block_row(p, p->W, i, present);
        for (int32_t j = 0; j < n; j++) {
            sets -= present[j] && stn_union_join(parent, i, j);
        }
    }
    for (int32_t i = 0; i < n; i++) { // a root is met before its members
        int32_t root = stn_union_root(parent, i);
        island_of[i] = root == i ? count++ : island_of[root];
        start[island_of[i] + 2]++;
    }
    for (int32_t k = 0; k < count; k++) {
        start[k + 2] += start[k + 1];
    }
    for (int32_t i = 0; i < n; i++) { // start[k + 1] runs ahead while island k fills, up to where the next one begins
        constraint[start[island_of[i] + 1]++] = i;
    }
    *out = (stn_islands){
        .count = count,
        .tree_start = tree_start,
        .tree = tree_start,
        .tree_position = tree_start,
        .constraint_start = start,
        .constraint = constraint,
    };
    return STN_OK;
}

/// First row in the problem, and rows, of every piece that the island's constraints make: neighbours have theirs in
/// one.
typedef struct piece {
    int32_t row, rows;
} piece;

/// The pieces of a row of W, one after the other. Returns the end.
static double *gather(const double *from, const piece *pieces, int32_t count, double *to) {
    for (int32_t k = 0; k < count; k++) {
        memcpy(to, from + pieces[k].row, (size_t)pieces[k].rows * sizeof *to);
        to += pieces[k].rows;
    }
    return to;
}

/// W, q, and where bilateral rows act on it V, of an island whose constraints and rows are counted already. False: out
/// of memory.
static bool local_island_operator(const stn_problem *p, const int32_t *index, stn_arena *arena, stn_problem *island) {
    size_t n = (size_t)island->row_count, bilateral = (size_t)p->bilateral_count;
    piece *pieces = STN_ARENA(arena, island->constraint_count, piece);
    island->W = STN_ARENA(arena, n * n, double);
    island->q = STN_ARENA(arena, n, double);
    island->V = STN_ARENA(arena, n * bilateral, double);
    if (pieces == NULL || island->W == NULL || island->q == NULL || island->V == NULL) {
        return false;
    }
    int32_t count = 0;
    for (int32_t i = 0; i < island->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[index[i]];
        if (count > 0 && pieces[count - 1].row + pieces[count - 1].rows == c->row) {
            pieces[count - 1].rows += c->rows;
        } else {
            pieces[count++] = (piece){c->row, c->rows};
        }
    }
    double *W = island->W, *V = island->V;
    for (int32_t k = 0; k < count; k++) {
        for (int32_t r = pieces[k].row; r < pieces[k].row + pieces[k].rows; r++) {
            W = gather(p->W + (size_t)r * (size_t)p->row_count, pieces, count, W);
        }
        size_t values = (size_t)pieces[k].rows * bilateral;
        if (values > 0) {
            memcpy(V, p->V + (size_t)pieces[k].row * bilateral, values * sizeof *V);
            V += values;
        }
    }
    gather(p->q, pieces, count, island->q);
    if (!any(island->V, (int32_t)(n * bilateral))) {
        island->bilateral_count = 0;
    }
    return true;
}

// -------------------------------------------------------------------------------------------- of global problems

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

    // first the smallest tree of each one's component, -1 for a tree without constraint
    for (int32_t t = 0; t < tree_count; t++) {
        island_of[t] = -1;
    }
    for (int32_t i = 0; i < constraint_count; i++) {
        const stn_jacobian *J = problem->constraints[i].J;
        int32_t a = J[0].tree, b = J[1].tree < 0 ? J[0].tree : J[1].tree;
        island_of[a] = island_of[a] < 0 ? a : island_of[a];
        island_of[b] = island_of[b] < 0 ? b : island_of[b];
        if (a != b) {
            stn_union_join(island_of, a, b);
        }
        for (int32_t k = 0; k < problem->constraints[i].more_count; k++) {
            int32_t tree_k = problem->constraints[i].more[k].tree;
            island_of[tree_k] = island_of[tree_k] < 0 ? tree_k : island_of[tree_k];
            stn_union_join(island_of, a, tree_k);
        }
    }
    for (int32_t t = 0; t < tree_count; t++) {
        island_of[t] = island_of[t] >= 0 ? stn_union_root(island_of, t) : -1;
    }
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

/// Few numbers, as of a body or a contact: a call takes longer than the loop. Returns the end.
static inline double *copy_numbers(const double *from, int32_t count, double *to) {
    enum { FEW = 24 };
    if (count == 6) { // a length that the compiler knows
        memcpy(to, from, 6 * sizeof *to);
    } else if (count > FEW) {
        memcpy(to, from, (size_t)count * sizeof *to);
    } else {
        for (int32_t i = 0; i < count; i++) {
            to[i] = from[i];
        }
    }
    return to + count;
}

stn_status stn_problem_island(const stn_problem *problem, const stn_islands *islands, int32_t i, stn_arena *arena,
                              stn_problem *out, stn_error *err) {
    const int32_t *tree = islands->tree + islands->tree_start[i];
    const int32_t *index = islands->constraint + islands->constraint_start[i];
    stn_problem island = *problem;
    island.tree_count = islands->tree_start[i + 1] - islands->tree_start[i];
    island.constraint_count = islands->constraint_start[i + 1] - islands->constraint_start[i];
    island.trees = STN_ARENA(arena, island.tree_count, stn_problem_tree);
    island.constraints = STN_ARENA(arena, island.constraint_count, stn_constraint);
    if (island.trees == NULL || island.constraints == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "island %d: out of memory", i);
    }
    island.nv = island.row_count = 0; // dofs, rows and trees are counted anew
    for (int32_t t = 0; t < island.tree_count; t++) {
        island.trees[t] = problem->trees[tree[t]];
        island.trees[t].dof_start = island.nv;
        island.nv += island.trees[t].A.n;
    }
    for (int32_t k = 0; k < island.constraint_count; k++) {
        stn_constraint *c = &island.constraints[k];
        *c = problem->constraints[index[k]];
        c->row = island.row_count;
        island.row_count += c->rows;
        for (int32_t side = 0; side < 2; side++) {
            if (c->J[side].tree >= 0) {
                c->J[side].tree = islands->tree_position[c->J[side].tree];
            }
        }
        if (c->more_count == 0) {
            continue;
        }
        stn_jacobian *more = STN_ARENA(arena, c->more_count, stn_jacobian);
        if (more == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "island %d: out of memory", i);
        }
        for (int32_t side = 0; side < c->more_count; side++) {
            more[side] = c->more[side];
            more[side].tree = islands->tree_position[more[side].tree];
        }
        c->more = more;
    }
    if (problem->form == STN_FORM_LOCAL && !local_island_operator(problem, index, arena, &island)) {
        return stn_fail(err, STN_ERR_MEMORY, "island of %d rows: out of memory", island.row_count);
    }
    double *memory = STN_ARENA(arena, 4 * (size_t)island.nv + 7 * (size_t)island.row_count, double);
    if (memory == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "island %d: out of memory", i);
    }
    double **const vectors[] = {&island.v0, &island.v_star, &island.v_guess, &island.free_impulse};
    int32_t vector_count = problem->free_impulse != NULL ? 4 : 3;
    for (int32_t k = 0; k < vector_count; k++) { // they point at those of the problem
        const double *from = *vectors[k];
        *vectors[k] = memory;
        for (int32_t t = 0; t < island.tree_count; t++) {
            const stn_problem_tree *source = &problem->trees[tree[t]];
            memory = copy_numbers(from + source->dof_start, source->A.n, memory);
        }
    }
    // constraints that are neighbours in the problem have their rows in one piece
    double *const rows_from[] = {problem->bias,  problem->lo,          problem->hi, problem->R,
                                 problem->v_hat, problem->gamma_guess, problem->phi};
    double **const rows_of[] = {&island.bias,  &island.lo,          &island.hi, &island.R,
                                &island.v_hat, &island.gamma_guess, &island.phi};
    int32_t count = problem->phi != NULL ? STN_COUNT(rows_from) : STN_COUNT(rows_from) - 1; // phi may be missing
    for (int32_t a = 0; a < count; a++) {
        *rows_of[a] = memory + (size_t)a * (size_t)island.row_count;
    }
    for (int32_t k = 0, end = 0, at = 0; k < island.constraint_count; k = end) {
        for (end = k + 1; end < island.constraint_count && index[end] == index[end - 1] + 1;) {
            end++;
        }
        const stn_constraint *last = &problem->constraints[index[end - 1]];
        int32_t row = problem->constraints[index[k]].row, rows = last->row + last->rows - row;
        for (int32_t a = 0; a < count; a++) {
            copy_numbers(rows_from[a] + row, rows, *rows_of[a] + at);
        }
        at += rows;
    }
    *out = island;
    return STN_OK;
}
