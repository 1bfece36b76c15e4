// SPDX-License-Identifier: Apache-2.0
// Contact problems that own their memory, one arena each: deep copies, and the Delassus form of a global problem.
#include <math.h>
#include <stiction/delassus.h>
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

stn_status stn_problem_copy(stn_context *context, const stn_problem *problem, stn_problem_owner **out, stn_error *err) {
    *out = NULL;
    stn_problem_owner *owner = NULL;
    stn_status status = stn_problem_owner_create(context, &owner, err);
    if (status != STN_OK) {
        return status;
    }
    copier to = {.arena = owner->arena};
    stn_problem *copy = &owner->problem;
    if (!stn_problem_expand(problem, owner->arena, copy)) {
        stn_problem_destroy(owner);
        return stn_fail(err, STN_ERR_MEMORY, "problem: out of memory for a copy");
    }
    copy->name = copy_bytes(&to, copy->name, copy->name != NULL ? strlen(copy->name) + 1 : 0, 1);
    copy->trees = copy_bytes(&to, copy->trees, (size_t)copy->tree_count, sizeof *copy->trees);
    for (int32_t t = 0; t < copy->tree_count && !to.failed; t++) {
        stn_matrix *A = &copy->trees[t].A;
        copy->trees[t].motion = NULL; // what only helps solvers is left out
        copy->trees[t].parent = NULL;
        A->values = copy_reals(&to, A->values, (size_t)stn_matrix_value_count(A));
        if (A->form == STN_MATRIX_NODAL) {
            size_t entries = A->node_count > 0 ? (size_t)A->row_start[A->node_count] : 0;
            A->row_start = copy_bytes(&to, A->row_start, (size_t)A->node_count + 1, sizeof *A->row_start);
            A->column = copy_bytes(&to, A->column, entries, sizeof *A->column);
        }
    }
    copy->constraints = copy_bytes(&to, copy->constraints, (size_t)copy->constraint_count, sizeof *copy->constraints);
    for (int32_t i = 0; i < copy->constraint_count && !to.failed; i++) {
        stn_constraint *c = &copy->constraints[i];
        stn_jacobian *more = copy_bytes(&to, c->more, (size_t)c->more_count, sizeof *more);
        c->more = more;
        for (int32_t side = 0; side < 2; side++) {
            c->J[side].values = c->J[side].tree < 0 ? NULL : c->J[side].values;
            c->J[side].wrench = NULL;
        }
        for (int32_t side = 0; side < stn_constraint_block_count(c) && !to.failed; side++) {
            stn_jacobian *J = side < 2 ? &c->J[side] : &more[side - 2];
            J->wrench = NULL;
            J->values = copy_reals(&to, J->values, (size_t)c->rows * (size_t)stn_jacobian_columns(copy, J));
        }
    }
    size_t nv = (size_t)copy->nv, rows = (size_t)copy->row_count, bilateral = (size_t)copy->bilateral_count;
    struct {
        double **vector;
        size_t count;
    } vectors[] = {
        {&copy->v0, nv},
        {&copy->v_star, nv},
        {&copy->v_guess, nv},
        {&copy->free_impulse, nv},
        {&copy->W, rows * rows},
        {&copy->q, rows},
        {&copy->s, bilateral},
        {&copy->V, rows * bilateral},
        {&copy->bias, rows},
        {&copy->R_bilateral, bilateral * bilateral},
        {&copy->lo, rows},
        {&copy->hi, rows},
        {&copy->R, rows},
        {&copy->v_hat, rows},
        {&copy->gamma_guess, rows},
        {&copy->phi, rows},
    };
    for (int32_t k = 0; k < STN_COUNT(vectors); k++) {
        *vectors[k].vector = copy_reals(&to, *vectors[k].vector, vectors[k].count);
    }
    if (to.failed) {
        stn_problem_destroy(owner);
        return stn_fail(err, STN_ERR_MEMORY, "problem: out of memory for a copy");
    }
    *out = owner;
    return STN_OK;
}

// ----------------------------------------------------------------------------- Delassus form of a global problem
// A global problem in its Delassus form, v_c = W gamma + q: for methods and files that know contacts alone.

static const int64_t most_numbers = (int64_t)1 << 26; // of W, as readers of files allow

/// `to` from the operator of `from`, in the arena that the caller throws away after copying. W is symmetric but for the
/// round-off of its blocks, half of which each side takes. False: out of memory.
static bool reduce(const stn_problem *from, const stn_delassus *d, stn_arena *arena, stn_problem *to) {
    size_t rows = (size_t)from->row_count, count = (size_t)from->constraint_count;
    *to = *from;
    to->form = STN_FORM_LOCAL;
    to->nv = to->tree_count = 0;
    to->trees = NULL;
    to->v0 = to->v_star = to->v_guess = to->free_impulse = NULL;
    to->W = STN_ARENA_ZEROED(arena, rows * rows, double);
    to->q = STN_ARENA(arena, rows, double);
    to->bias = STN_ARENA_ZEROED(arena, rows, double); // q has it
    to->constraints = STN_ARENA(arena, count, stn_constraint);
    if (to->W == NULL || to->q == NULL || to->bias == NULL || to->constraints == NULL) {
        return false;
    }
    memcpy(to->q, d->b, rows * sizeof *to->q);
    memcpy(to->constraints, from->constraints, count * sizeof *to->constraints);
    for (int32_t i = 0; i < d->n; i++) {
        const stn_constraint *row = &from->constraints[i];
        for (int32_t e = d->row_start[i]; e < d->row_start[i + 1]; e++) {
            const stn_constraint *column = &from->constraints[d->column[e]];
            const double *block = d->values + d->offset[e];
            for (int32_t k = 0; k < row->rows * column->rows; k++) {
                size_t r = (size_t)(row->row + k / column->rows), c = (size_t)(column->row + k % column->rows);
                to->W[r * rows + c] += 0.5 * block[k];
                to->W[c * rows + r] += 0.5 * block[k];
            }
        }
        stn_constraint *c = &to->constraints[i];
        if (stn_constraint_has_cone(c) && isnan(c->vn0)) { // without dofs all it knows of its velocity before the step
            double v_c[STN_MAX_ROWS];
            stn_constraint_velocity(from, c, from->v0, v_c);
            c->vn0 = v_c[2] + from->bias[c->row + 2];
        }
        c->J[0] = c->J[1] = (stn_jacobian){.tree = -1};
        c->more_count = 0;
        c->more = NULL;
    }
    return true;
}

stn_status stn_problem_local(stn_context *context, const stn_problem *problem, stn_problem_owner **out,
                             stn_error *err) {
    *out = NULL;
    int64_t rows = problem->row_count;
    if (problem->form == STN_FORM_LOCAL) {
        return stn_problem_copy(context, problem, out, err);
    }
    if (rows * rows > most_numbers) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "local form: %lld rows are too many, at most 8192", (long long)rows);
    }
    stn_inverse *inverse = NULL;
    stn_arena *arena = stn_arena_create(context);
    stn_status status = arena != NULL ? stn_inverse_create(context, &inverse, err)
                                      : stn_fail(err, STN_ERR_MEMORY, "local form: out of memory");
    stn_delassus delassus;
    stn_problem local;
    if (status == STN_OK) {
        status = stn_inverse_factor(inverse, problem, err);
    }
    if (status == STN_OK) {
        status = stn_delassus_build(inverse, problem, arena, &delassus, err);
    }
    if (status == STN_OK && !reduce(problem, &delassus, arena, &local)) {
        status = stn_fail(err, STN_ERR_MEMORY, "local form of %d rows: out of memory", problem->row_count);
    }
    if (status == STN_OK) {
        status = stn_problem_copy(context, &local, out, err);
    }
    stn_inverse_destroy(inverse);
    stn_arena_destroy(arena);
    return status;
}
