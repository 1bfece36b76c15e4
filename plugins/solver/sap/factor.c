// SPDX-License-Identifier: Apache-2.0
// H = L L^T by the dense kernel for small problems, by a factor plugin otherwise; the Newton direction.
//
// Symbolic factors of the last few patterns are kept in the workspace. The order of elimination follows from the
// pattern alone, so that finding one there or not makes no difference to the result.
#include <string.h>

#include "sap.h"

enum { CACHE_SIZE = 32, DENSE_LIMIT = 40 };

typedef struct symbolic {
    const stn_factor_ops *ops; // NULL: empty
    void *self, *factor;
    uint64_t used; // time of the last use
    size_t size, capacity;
    int32_t *pattern; // block sizes, column starts, rows, one after the other
} symbolic;

typedef struct workspace {
    stn_context *context;
    uint64_t clock;
    symbolic cache[CACHE_SIZE];
} workspace;

stn_status sap_workspace_create(void *self, stn_context *context, void **out, stn_error *err) {
    (void)self;
    workspace *w = stn_allocate(context, 1, sizeof *w);
    *out = w;
    if (w == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    w->context = context;
    return STN_OK;
}

static void empty(symbolic *slot) {
    if (slot->ops != NULL) {
        slot->ops->release(slot->factor);
        slot->ops = NULL;
    }
}

void sap_workspace_destroy(void *memory) {
    workspace *w = memory;
    if (w == NULL) {
        return;
    }
    for (int32_t i = 0; i < CACHE_SIZE; i++) {
        empty(&w->cache[i]);
        stn_release(w->context, w->cache[i].pattern);
    }
    stn_release(w->context, w);
}

/// The three arrays of a pattern and their sizes in bytes.
typedef struct pattern_view {
    const int32_t *array[3];
    size_t count[3];
    size_t size;
} pattern_view;

static pattern_view view_pattern(const stn_block_pattern *p) {
    size_t n = (size_t)p->block_count, m = (size_t)p->column_start[p->block_count];
    return (pattern_view){{p->block_size, p->column_start, p->row}, {n, n + 1, m}, 2 * n + 1 + m};
}

static bool same_pattern(const symbolic *slot, const pattern_view *view) {
    bool same = slot->size == view->size;
    const int32_t *kept = slot->pattern;
    for (int32_t i = 0; i < 3 && same; i++) {
        same = memcmp(kept, view->array[i], view->count[i] * sizeof *kept) == 0;
        kept += view->count[i];
    }
    return same;
}

static bool keep_pattern(stn_context *context, symbolic *slot, const pattern_view *view) {
    if (slot->capacity < view->size) {
        stn_release(context, slot->pattern);
        slot->capacity = 0;
        slot->pattern = stn_allocate(context, view->size + view->size / 2, sizeof *slot->pattern);
        if (slot->pattern == NULL) {
            return false;
        }
        slot->capacity = view->size + view->size / 2;
    }
    int32_t *kept = slot->pattern;
    for (int32_t i = 0; i < 3; i++) {
        memcpy(kept, view->array[i], view->count[i] * sizeof *kept);
        kept += view->count[i];
    }
    slot->size = view->size;
    return true;
}

/// The symbolic factor of H's pattern: one that is there, or a new one in the place of the one longest unused.
static stn_status find_symbolic(sap_system *s, const stn_factor_ops *ops, void *self, stn_error *err) {
    workspace *w = s->control->workspace;
    pattern_view view = view_pattern(&s->H.matrix.pattern);
    symbolic *oldest = &w->cache[0];
    w->clock++;
    for (int32_t i = 0; i < CACHE_SIZE; i++) {
        symbolic *slot = &w->cache[i];
        if (slot->ops == ops && slot->self == self && same_pattern(slot, &view)) {
            slot->used = w->clock;
            s->H.ops = ops;
            s->H.factor = slot->factor;
            return STN_OK;
        }
        oldest = slot->used < oldest->used ? slot : oldest;
    }
    empty(oldest);
    if (!keep_pattern(w->context, oldest, &view)) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    stn_status status = ops->symbolic(self, w->context, &s->H.matrix.pattern, &oldest->factor, err);
    if (status == STN_OK) {
        oldest->ops = s->H.ops = ops;
        oldest->self = self;
        oldest->used = w->clock;
        s->H.factor = oldest->factor;
    }
    return status;
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
