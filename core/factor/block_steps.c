// SPDX-License-Identifier: Apache-2.0
// Factoring and solving, supernode by supernode: what a factorisation in order and one by tasks both consist of.
#include <string.h>

#include "factor/block_factor.h"

void block_write_entry(const block_factor *f, const stn_block_matrix *matrix, int32_t e) {
    const block_entry *entry = &f->entries[e];
    f->kernels->write_block(entry->rows, entry->columns, entry->flipped, matrix->values + matrix->offset[e],
                            f->values + entry->target, entry->ld);
}

void block_subtract(const block_factor *f, const block_supernode *node, const block_group *g, int32_t first,
                    int32_t end) {
    const int32_t skipped = first - g->first;
    f->kernels->panel_subtract(node->columns, node->ld, f->values + node->panel, g->runs, g->run_count, skipped,
                               end - first, f->values + g->target + (int64_t)skipped * g->target_ld, g->target_ld);
}

int32_t block_eliminate(block_factor *f, const block_supernode *node, int32_t end) {
    int32_t bad = f->kernels->panel_factor(0, node->columns, node->rows, node->ld, f->values + node->panel,
                                           f->scale + node->first_column);
    if (bad >= 0) {
        return node->first_column + bad;
    }
    for (int32_t k = node->group_start; k < node->group_end && f->groups[k].target_node < end; k++) {
        block_subtract(f, node, &f->groups[k], f->groups[k].first, f->groups[k].last);
    }
    return -1;
}

void block_forward(const block_factor *f, const block_supernode *node, double *x, double *t) {
    const size_t columns = (size_t)node->columns;
    double *own = x + node->first_column;
    memcpy(t, own, columns * sizeof *own);
    memset(t + columns, 0, ((size_t)node->ld - columns) * sizeof *own);
    f->kernels->panel_forward(node->columns, node->rows, node->ld, f->values + node->panel,
                              f->scale + node->first_column, t);
    memcpy(own, t, columns * sizeof *own);
}

void block_backward(const block_factor *f, const block_supernode *node, double *x, double *t) {
    double *own = x + node->first_column;
    memcpy(t, own, (size_t)node->columns * sizeof *own);
    for (int32_t k = node->gather_start; k < node->gather_end; k++) {
        const row_run *run = &f->gather_runs[k];
        memcpy(t + run->from, x + run->to, (size_t)run->count * sizeof *own);
    }
    memset(t + node->rows, 0, (size_t)(node->ld - node->rows) * sizeof *own);
    f->kernels->panel_backward(node->columns, node->rows, node->ld, f->values + node->panel,
                               f->scale + node->first_column, t);
    memcpy(own, t, (size_t)node->columns * sizeof *own);
}
