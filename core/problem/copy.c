// SPDX-License-Identifier: Apache-2.0
// Deep copy of a contact problem into one arena.
#include <string.h>

#include "problem/owner.h"

stn_status stn_problem_owner_create(stn_context *context, stn_problem_owner **out, stn_error *err) {
    *out = NULL;
    stn_problem_owner *owner = stn_allocate(context, 1, sizeof *owner);
    stn_arena *arena = stn_arena_create(context);
    if (owner == NULL || arena == NULL) {
        stn_arena_destroy(arena);
        stn_release(context, owner);
        return stn_fail(err, STN_ERR_MEMORY, "problem: out of memory");
    }
    owner->context = context;
    owner->arena = arena;
    *out = owner;
    return STN_OK;
}

const stn_problem *stn_problem_of(const stn_problem_owner *owner) {
    return &owner->problem;
}

void stn_problem_destroy(stn_problem_owner *owner) {
    if (owner != NULL) {
        stn_arena_destroy(owner->arena);
        stn_release(owner->context, owner);
    }
}

/// Where copies go; remembers the first failure, so that a copy of many parts is checked once.
typedef struct copier {
    stn_arena *arena;
    bool failed;
} copier;

static void *copy_bytes(copier *to, const void *from, size_t count, size_t size) {
    if (from == NULL || to->failed) {
        return NULL;
    }
    void *memory = stn_arena_allocate(to->arena, count, size);
    if (memory == NULL) {
        to->failed = true;
        return NULL;
    }
    if (count > 0) {
        memcpy(memory, from, count * size);
    }
    return memory;
}

static double *copy_reals(copier *to, const double *from, size_t count) {
    return copy_bytes(to, from, count, sizeof *from);
}

static int32_t *copy_indices(copier *to, const int32_t *from, size_t count) {
    return copy_bytes(to, from, count, sizeof *from);
}

static void copy_trees(copier *to, stn_problem *p) {
    p->trees = copy_bytes(to, p->trees, (size_t)p->tree_count, sizeof *p->trees);
    for (int32_t t = 0; t < p->tree_count && !to->failed; t++) {
        stn_matrix *A = &p->trees[t].A;
        A->values = copy_reals(to, A->values, (size_t)stn_matrix_value_count(A));
        if (A->form == STN_MATRIX_NODAL) {
            size_t entries = A->node_count > 0 ? (size_t)A->row_start[A->node_count] : 0;
            A->row_start = copy_indices(to, A->row_start, (size_t)A->node_count + 1);
            A->column = copy_indices(to, A->column, entries);
        }
    }
}

static void copy_constraints(copier *to, stn_problem *p) {
    p->constraints = copy_bytes(to, p->constraints, (size_t)p->constraint_count, sizeof *p->constraints);
    for (int32_t i = 0; i < p->constraint_count && !to->failed; i++) {
        stn_constraint *c = &p->constraints[i];
        for (int32_t side = 0; side < 2; side++) {
            stn_jacobian *J = &c->J[side];
            if (J->tree >= 0) {
                int32_t columns = J->node_count > 0 ? 3 * J->node_count : p->trees[J->tree].A.n;
                J->values = copy_reals(to, J->values, (size_t)c->rows * (size_t)columns);
            } else {
                J->values = NULL;
            }
        }
    }
}

static void copy_vectors(copier *to, stn_problem *p) {
    size_t nv = (size_t)p->nv, rows = (size_t)p->row_count, bilateral = (size_t)p->bilateral_count;
    struct {
        double **vector;
        size_t count;
    } vectors[] = {
        {&p->v0, nv},
        {&p->v_star, nv},
        {&p->v_guess, nv},
        {&p->free_impulse, nv},
        {&p->W, rows * rows},
        {&p->q, rows},
        {&p->s, bilateral},
        {&p->V, rows * bilateral},
        {&p->bias, rows},
        {&p->R_bilateral, bilateral * bilateral},
        {&p->lo, rows},
        {&p->hi, rows},
        {&p->R, rows},
        {&p->v_hat, rows},
        {&p->gamma_guess, rows},
        {&p->phi, rows},
    };
    for (int32_t k = 0; k < STN_COUNT(vectors); k++) {
        *vectors[k].vector = copy_reals(to, *vectors[k].vector, vectors[k].count);
    }
}

stn_status stn_problem_copy(stn_context *context, const stn_problem *problem, stn_problem_owner **out, stn_error *err) {
    *out = NULL;
    stn_problem_owner *owner = NULL;
    stn_status status = stn_problem_owner_create(context, &owner, err);
    if (status != STN_OK) {
        return status;
    }
    copier to = {.arena = owner->arena};
    stn_problem *copy = &owner->problem;
    *copy = *problem;
    copy->name = copy_bytes(&to, copy->name, copy->name != NULL ? strlen(copy->name) + 1 : 0, 1);
    copy_trees(&to, copy);
    copy_constraints(&to, copy);
    copy_vectors(&to, copy);
    if (to.failed) {
        stn_problem_destroy(owner);
        return stn_fail(err, STN_ERR_MEMORY, "problem: out of memory for a copy");
    }
    *out = owner;
    return STN_OK;
}
