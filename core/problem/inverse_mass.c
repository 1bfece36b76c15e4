// SPDX-License-Identifier: Apache-2.0
// Inverse mass of every constraint: W_ii = sum over its trees of J P^-1 J^T, P the scale of the tree,
//     w = |W_ii|_F / rows,   w_trace = trace(W_ii)                                    [castro-2022] S V-C
#include <math.h>
#include <string.h>

#include "problem/inverse.h"
#include "problem/local_form.h"

/// What masses are made with.
typedef struct mass_job {
    const stn_inverse *inverse, *scale; // scale: that of `inverse`
    stn_problem *problem;
    stn_arena *arena;
    double *scratch;
    kept_half *kept; // (2 constraint_count), zeroed: receives the halves of contacts on branched trees; NULL: none
    bool all;        // also of constraints that have a w
    int32_t waiting; // contacts that are made together
    int32_t waits[4];
} mass_job;

// W (rows x rows) += J P^-1 J^T of one block of constraint c. False: out of memory.
static bool add_block(const mass_job *m, int32_t c, int32_t side, double *W) {
    const stn_constraint *constraint = &m->problem->constraints[c];
    const stn_jacobian *J = stn_constraint_block(constraint, side);
    const double *factor;
    const body_kernels *body = inverse_body(m->scale, J->tree, &factor);
    const bool lanes = inverse_fits_lanes(constraint, J);
    if (body != NULL && lanes) {
        body->half(factor, J->values, m->scratch);
        body->pair_add(m->scratch, m->scratch, W);
        return true;
    }
    const int32_t rows = constraint->rows, n = m->problem->trees[J->tree].A.n;
    const bool branched = inverse_branched(m->scale, J->tree);
    const double *response = inverse_response(m->scale, J->tree);
    const bool keeps = m->kept != NULL && side < 2 && inverse_shares_scale(m->inverse, J->tree);
    double *X = m->scratch;
    if (response != NULL && J->node_count == 1 && J->node_size == 1 && rows == 1) { // of one dof
        W[0] += J->values[0] * J->values[0] * inverse_mobility(m->scale, J->tree, J->node[0]);
    } else if (response != NULL && J->wrench != NULL && rows == 3 && !keeps) {
        articulated_kernels_choose()->mass(response + 48 * (size_t)J->tip, J->wrench, W);
    } else if (branched && lanes) {
        X = keeps ? STN_ARENA(m->arena, BRANCHED_HALF(n), double) : X;
        if (X == NULL) {
            return false;
        }
        inverse_branched_half(m->scale, J->tree, J, X);
        const int32_t *dofs = inverse_half_dofs(n, X);
        ltl_kernels_choose()->pair_add(dofs[n], dofs, X, X, W);
        if (keeps) {
            m->kept[2 * (size_t)c + (size_t)side] = (kept_half){kept_half_key(J), X};
        }
    } else if (J->node_count > 0 && !inverse_has_half(m->scale, J->tree)) {
        inverse_nodes_add(m->scale, rows, J, W);
    } else {
        inverse_half(m->scale, J->tree, J, rows, X);
        inverse_add_square(rows, n, X, W);
    }
    return true;
}

static void set_masses(stn_constraint *constraint, const double *W) {
    int32_t rows = constraint->rows;
    double square = 0.0, trace = 0.0;
    for (int32_t i = 0; i < rows * rows; i++) {
        square += W[i] * W[i];
    }
    for (int32_t i = 0; i < rows; i++) {
        trace += W[i * (rows + 1)];
    }
    constraint->w = sqrt(square) / rows;
    constraint->w_trace = trace;
}

/// Of a contact that free bodies alone take part in, without W. False: others do.
static bool set_free_masses(const mass_job *m, stn_constraint *constraint) {
    const double *factor[2], *J[2];
    const int32_t count = stn_constraint_block_count(constraint);
    const body_kernels *kernels = NULL;
    if (constraint->rows != 3 || count < 1 || count > 2) {
        return false;
    }
    for (int32_t side = 0; side < count; side++) {
        const stn_jacobian *block = &constraint->J[side];
        kernels = block->node_count == 0 ? inverse_body(m->scale, block->tree, &factor[side]) : NULL;
        if (kernels == NULL) {
            return false;
        }
        J[side] = block->values;
    }
    constraint->w = kernels->norm(count, factor, J, &constraint->w_trace) / 3;
    return true;
}

/// Is it a contact of one small branched tree with what has no dofs? Four of the same tree are made together.
static bool may_wait(const mass_job *m, const stn_constraint *constraint) {
    return m->kept == NULL && constraint->more_count == 0 && constraint->J[0].tree >= 0 && constraint->J[1].tree < 0 &&
           inverse_fits_lanes(constraint, &constraint->J[0]) && constraint->J[0].values != NULL &&
           inverse_has_squares(m->scale, constraint->J[0].tree);
}

static void set_waiting(mass_job *m) {
    const int32_t count = m->waiting;
    const double *J[4];
    double squares[9 * 4];
    m->waiting = 0;
    if (count == 0) {
        return;
    }
    for (int32_t i = 0; i < 4; i++) {
        J[i] = m->problem->constraints[m->waits[i < count ? i : 0]].J[0].values;
    }
    inverse_four_squares(m->scale, m->problem->constraints[m->waits[0]].J[0].tree, J, m->scratch, squares);
    for (int32_t i = 0; i < count; i++) {
        double W[9];
        for (int32_t e = 0; e < 9; e++) {
            W[e] = squares[4 * e + i];
        }
        set_masses(&m->problem->constraints[m->waits[i]], W);
    }
}

static stn_status out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "inverse masses: out of memory");
}

static stn_status global_masses(mass_job *m, stn_error *err) {
    const stn_problem *problem = m->problem;
    int32_t largest = 0;
    m->scale = inverse_scale(m->inverse);
    for (int32_t t = 0; t < problem->tree_count; t++) {
        largest = problem->trees[t].A.n > largest ? problem->trees[t].A.n : largest;
    }
    m->scratch = STN_ARENA(m->arena, 12 * (size_t)largest + BODY_HALF, double); // BRANCHED_HALF and STN_MAX_ROWS fit
    if (m->scratch == NULL) {
        return out_of_memory(err);
    }
    for (int32_t c = 0; c < problem->constraint_count; c++) {
        stn_constraint *constraint = &problem->constraints[c];
        if (!m->all && isfinite(constraint->w)) {
            continue;
        }
        if (set_free_masses(m, constraint)) {
            continue;
        }
        if (may_wait(m, constraint)) {
            const int32_t tree = constraint->J[0].tree;
            if (m->waiting == 4 || (m->waiting > 0 && problem->constraints[m->waits[0]].J[0].tree != tree)) {
                set_waiting(m);
            }
            m->waits[m->waiting++] = c;
            continue;
        }
        double W[STN_MAX_ROWS * STN_MAX_ROWS] = {0.0};
        for (int32_t side = 0; side < stn_constraint_block_count(constraint); side++) {
            if (!add_block(m, c, side, W)) {
                return out_of_memory(err);
            }
        }
        set_masses(constraint, W);
    }
    set_waiting(m);
    for (int32_t c = 0; c < problem->constraint_count; c++) {
        const stn_constraint *constraint = &problem->constraints[c];
        if (!isfinite(constraint->w)) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "constraint %d: its inverse mass is %g; look for masses near 0, a NaN or what is beyond "
                            "range in its Jacobian",
                            c, constraint->w);
        }
    }
    return STN_OK;
}

stn_status stn_inverse_masses(const stn_inverse *inverse, stn_problem *problem, stn_arena *scratch, stn_error *err) {
    if (problem->form == STN_FORM_GLOBAL) {
        return global_masses(&(mass_job){.inverse = inverse, .problem = problem, .arena = scratch, .all = true}, err);
    }
    local_form form; // gives W itself
    stn_status status = local_form_reduce(problem, scratch, &form, err);
    for (int32_t c = 0; c < problem->constraint_count && status == STN_OK; c++) {
        stn_constraint *constraint = &problem->constraints[c];
        double W[STN_MAX_ROWS * STN_MAX_ROWS];
        for (int32_t r = 0; r < constraint->rows; r++) {
            size_t row = (size_t)(constraint->row + r) * (size_t)problem->row_count;
            memcpy(W + r * constraint->rows, form.W + row + constraint->row, (size_t)constraint->rows * sizeof *W);
        }
        set_masses(constraint, W);
    }
    return status;
}

stn_status inverse_masses_missing(const stn_inverse *inverse, stn_problem *problem, stn_arena *scratch,
                                  stn_error *err) {
    return global_masses(&(mass_job){.inverse = inverse, .problem = problem, .arena = scratch}, err);
}

stn_status inverse_masses_keeping(stn_inverse *inverse, stn_problem *problem, stn_arena *arena, stn_error *err) {
    bool branches = false;
    for (int32_t t = 0; t < problem->tree_count && problem->form == STN_FORM_GLOBAL && !branches; t++) {
        branches = inverse_branched(inverse, t);
    }
    if (!branches) {
        return stn_inverse_masses(inverse, problem, arena, err);
    }
    mass_job m = {.inverse = inverse, .problem = problem, .arena = arena, .all = true};
    m.kept = STN_ARENA_ZEROED(arena, 2 * (size_t)problem->constraint_count, kept_half);
    if (m.kept == NULL) {
        return out_of_memory(err);
    }
    stn_status status = global_masses(&m, err);
    if (status == STN_OK) {
        inverse_keep_halves(inverse, m.kept, problem->constraint_count);
    }
    return status;
}
