// SPDX-License-Identifier: Apache-2.0
// A global problem in its Delassus form, v_c = W gamma + q: for methods and files that know contacts alone.
#include <math.h>
#include <string.h>

#include <stiction/delassus.h>

#include "problem/cone.h"
#include "problem/owner.h"

static const int64_t most_numbers = (int64_t)1 << 26; // of W, as readers of files allow

/// W is symmetric but for the round-off of its blocks, half of which each side takes.
static void expand(const stn_delassus *d, double *W) {
    const stn_constraint *constraints = d->problem->constraints;
    size_t rows = (size_t)d->rows;
    for (int32_t i = 0; i < d->n; i++) {
        const stn_constraint *c = &constraints[i];
        for (int32_t e = d->row_start[i]; e < d->row_start[i + 1]; e++) {
            const stn_constraint *other = &constraints[d->column[e]];
            const double *block = d->values + d->offset[e];
            for (int32_t r = 0; r < c->rows; r++) {
                for (int32_t k = 0; k < other->rows; k++) {
                    size_t at = (size_t)(c->row + r), to = (size_t)(other->row + k);
                    W[at * rows + to] += 0.5 * block[r * other->rows + k];
                    W[to * rows + at] += 0.5 * block[r * other->rows + k];
                }
            }
        }
    }
}

/// Without dofs a contact knows its velocity before the step as vn0 alone.
static void keep_constraint(const stn_problem *from, stn_constraint *c) {
    bool contact = has_cone(c);
    if (contact && isnan(c->vn0)) {
        double v_c[STN_MAX_ROWS];
        stn_constraint_velocity(from, c, from->v0, v_c);
        c->vn0 = v_c[2] + from->bias[c->row + 2];
    }
    c->J[0] = c->J[1] = (stn_jacobian){.tree = -1};
}

/// Everything but W and q, which are filled, in the arena that the caller throws away after copying.
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
    expand(d, to->W);
    memcpy(to->q, d->b, rows * sizeof *to->q);
    memcpy(to->constraints, from->constraints, count * sizeof *to->constraints);
    for (int32_t i = 0; i < from->constraint_count; i++) {
        keep_constraint(from, &to->constraints[i]);
    }
    return true;
}

static stn_status make(stn_context *context, const stn_problem *problem, stn_inverse *inverse, stn_arena *arena,
                       stn_problem_owner **out, stn_error *err) {
    stn_delassus delassus;
    stn_problem local;
    stn_status status = stn_inverse_factor(inverse, problem, NULL, err);
    status = status == STN_OK ? stn_delassus_build(inverse, problem, arena, &delassus, err) : status;
    if (status == STN_OK && !reduce(problem, &delassus, arena, &local)) {
        status = stn_fail(err, STN_ERR_MEMORY, "local form of %d rows: out of memory", problem->row_count);
    }
    return status == STN_OK ? stn_problem_copy(context, &local, out, err) : status;
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
    status = status == STN_OK ? make(context, problem, inverse, arena, out, err) : status;
    stn_inverse_destroy(inverse);
    stn_arena_destroy(arena);
    return status;
}
