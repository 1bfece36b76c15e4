// SPDX-License-Identifier: Apache-2.0
// H = L L^T by the dense kernel for small problems, by a factor plugin otherwise; the Newton direction.
#include <string.h>

#include "common/symbolic_cache.h"
#include "system.h"

enum { DENSE_LIMIT = 40 };

/// The symbolic factor of H's pattern.
static stn_status find_symbolic(sap_system *s, const stn_factor_ops *ops, void *self, stn_error *err) {
    s->H.ops = ops;
    return symbolic_cache_find(s->control->workspace, ops, self, &s->H.matrix.pattern, &s->H.factor, err);
}

/// Dense for small problems and for one tree, unless the user chose.
static bool choose_dense(const sap_system *s) {
    int32_t choice = s->config->factorization;
    if (choice == SAP_AUTO) {
        return s->control->factor == NULL && (s->nv <= DENSE_LIMIT || s->block_count == 1);
    }
    return choice == SAP_DENSE;
}

stn_status sap_factor_create(sap_system *s, stn_error *err) {
    s->H.dense = choose_dense(s);
    stn_status status = sap_hessian_create(s, err);
    if (status != STN_OK || s->H.dense) {
        return status;
    }
    if (s->control->factor != NULL && s->config->factorization == SAP_AUTO) {
        return find_symbolic(s, s->control->factor, s->control->factor_self, err);
    }
    return find_symbolic(s, stn_factor_block(), NULL, err);
}

static void add_damping(sap_hessian *H, const sap_block *blocks) {
    for (int32_t e = 0; e < H->entry_count; e++) {
        const sap_entry *entry = &H->entries[e];
        for (int64_t i = 0; entry->row == entry->column && i < blocks[entry->row].n; i++) {
            entry->values[i * (entry->stride + 1)] *= 1.0 + 1e-12;
        }
    }
    H->fresh = true; // what is in it now must not serve the next step
}

static stn_status factor_dense(sap_system *s, stn_error *err) {
    sap_hessian *H = &s->H;
    memcpy(H->lower, H->values, (size_t)s->nv * (size_t)H->stride * sizeof *H->lower);
    int32_t pivot = stn_cholesky(s->nv, H->lower, H->stride);
    if (pivot < 0) {
        return STN_OK;
    }
    const sap_block *block = s->blocks;
    while (block->compact + block->n <= pivot) {
        block++;
    }
    return stn_fail(err, STN_ERR_NUMERIC, "tree %d (source %d): pivot of dof %d is not > 0", block->tree,
                    s->problem->trees[block->tree].source, block->dof + pivot - block->compact);
}

stn_status sap_factor(sap_system *s, bool damped, stn_error *err) {
    sap_hessian *H = &s->H;
    double mark = sap_mark(s);
    stn_status status = H->ready ? STN_OK : sap_factor_create(s, err);
    if (status != STN_OK) {
        return status;
    }
    sap_hessian_assemble(s);
    sap_note(s, STN_PHASE_HESSIAN, mark);
    if (damped) {
        add_damping(H, s->blocks);
    }
    s->factorizations++;
    mark = sap_mark(s);
    status = H->dense ? factor_dense(s, err) : H->ops->numeric(H->factor, &H->matrix, err);
    sap_note(s, STN_PHASE_FACTOR, mark);
    return status;
}

double sap_direction(sap_system *s) {
    for (int32_t b = 0; b < s->block_count; b++) {
        const sap_block *block = &s->blocks[b];
        for (int32_t i = 0; i < block->n; i++) {
            s->compact[block->compact + i] = -s->gradient[block->start + i];
        }
    }
    if (s->H.dense) {
        stn_cholesky_forward(s->nv, s->H.lower, s->H.stride, 1, s->compact, s->nv);
        stn_cholesky_backward(s->nv, s->H.lower, s->H.stride, 1, s->compact, s->nv);
    } else {
        s->H.ops->solve(s->H.factor, 1, s->compact);
    }
    for (int32_t b = 0; b < s->block_count; b++) {
        const sap_block *block = &s->blocks[b];
        memcpy(s->dv + block->start, s->compact + block->compact, (size_t)block->n * sizeof *s->dv);
    }
    sap_mass_times(s, s->dv, s->dp);
    sap_jacobian_times(s, s->dv, s->dv_c, s->line_dv);
    sap_predict(s);
    return sap_dot(s->nx, s->gradient, s->dv);
}
