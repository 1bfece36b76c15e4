// SPDX-License-Identifier: Apache-2.0
// Factoring and solving, supernode by supernode: what a factorisation in order and one by tasks both consist of.
#include <string.h>

#include "factor/block_factor.h"

static void write_entry(const block_entry *e, const double *restrict from, double *restrict to) {
    for (int32_t r = 0; r < e->rows; r++) {
        int32_t end = e->diagonal ? r + 1 : e->columns;
        if (e->column_step == 1) {
            for (int32_t c = 0; c < end; c++) {
                to[c] = from[c];
            }
        } else {
            for (int32_t c = 0; c < end; c++) {
                to[(size_t)c * (size_t)e->column_step] = from[c];
            }
        }
        from += e->columns;
        to += e->row_step;
    }
}

void block_write_entry(const block_factor *f, const stn_block_matrix *matrix, int32_t e) {
    write_entry(&f->entries[e], matrix->values + matrix->offset[e], f->values + f->entries[e].target);
}

void block_subtract(const block_factor *f, const block_supernode *node, const block_group *g, int32_t first,
                    int32_t end, double *update) {
    for (int32_t q = first; q < end; q += KERNEL_CHUNK) {
        const int32_t count = end - q < KERNEL_CHUNK ? end - q : KERNEL_CHUNK;
        f->kernels->panel_update(node->columns, node->rows, node->ld, f->values + node->panel, q, count, update);
        f->kernels->scatter(g->runs, g->run_count, q - g->first, count, update, node->ld,
                            f->values + g->target + (int64_t)(q - g->first) * g->target_ld, g->target_ld);
    }
}

int32_t block_eliminate(block_factor *f, const block_supernode *node, int32_t end, double *update) {
    int32_t bad = f->kernels->panel_factor(0, node->columns, node->rows, node->ld, f->values + node->panel,
                                           f->scale + node->first_column);
    if (bad >= 0) {
        return node->first_column + bad;
    }
    for (int32_t k = node->group_start; k < node->group_end && f->groups[k].target_node < end; k++) {
        block_subtract(f, node, &f->groups[k], f->groups[k].first, f->groups[k].last, update);
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
