// SPDX-License-Identifier: Apache-2.0
// Factor back end "block": supernodal block Cholesky P A P^T = L L^T (block_factor.h), right-looking:
//     for every supernode in elimination order:
//         [L11; L21] = panel factored,   ancestors -= L21 L21^T
#include <string.h>

#include "base/context.h"
#include "factor/block_factor.h"

static stn_status symbolic(void *self, stn_context *context, const stn_block_pattern *pattern, void **factor,
                           stn_error *err) {
    (void)self;
    block_factor *f = NULL;
    stn_status status = block_factor_analyse(context, pattern, &f, err);
    *factor = f;
    return status;
}

static stn_status order_pattern(void *self, stn_context *context, const stn_block_pattern *pattern, int32_t *order,
                                stn_error *err) {
    (void)self;
    stn_arena *scratch = stn_arena_create(context);
    const bool done = scratch != NULL && block_order(pattern, scratch, order);
    stn_arena_destroy(scratch);
    return done ? STN_OK
                : stn_fail(err, STN_ERR_MEMORY, "factor block: out of memory for %d blocks", pattern->block_count);
}

static void release(void *factor) {
    block_factor_release(factor);
}

/// Entries of a matrix that change are added to what earlier supernodes left.
static void add_entry(const block_entry *e, const double *restrict from, double *restrict to) {
    const size_t ld = (size_t)e->ld, row_step = e->flipped ? ld : 1, column_step = e->flipped ? 1 : ld;
    for (int32_t r = 0; r < e->rows; r++, from += e->columns, to += row_step) {
        const int32_t end = e->diagonal ? r + 1 : e->columns;
        for (int32_t c = 0; c < end; c++) {
            to[(size_t)c * column_step] += from[c];
        }
    }
}

static int32_t eliminate(block_factor *f, const block_supernode *node) {
    return block_eliminate(f, node, f->supernode_count);
}

/// Factors a matrix of the pattern. -1, or the column in elimination order whose pivot is not > 0.
static int32_t factor_all(block_factor *f, const stn_block_matrix *matrix) {
    int32_t bad = -1;
    f->base_ready = false;
    if (block_tasks_ready(f) && block_tasks_factor(f, matrix)) {
        return -1; // else once more in order, to find the first pivot that fails
    }
    memset(f->values, 0, (size_t)f->value_count * sizeof *f->values);
    for (int32_t e = 0; e < f->entry_count; e++) {
        block_write_entry(f, matrix, e);
    }
    for (int32_t s = 0; s < f->supernode_count && bad < 0; s++) {
        bad = eliminate(f, &f->supernodes[s]);
    }
    return bad;
}

/// Copies the panels that changing blocks decide to the base, or back.
static void move_base(block_factor *f, bool back) {
    double *base = f->base;
    for (int32_t s = 0; s < f->supernode_count; s++) {
        const block_supernode *node = &f->supernodes[s];
        if (f->decided[s]) {
            const size_t count = (size_t)node->ld * (size_t)node->columns;
            double *panel = f->values + node->panel;
            memcpy(back ? panel : base, back ? base : panel, count * sizeof *base);
            base += count;
        }
    }
}

/// Marks what changing blocks decide and makes room for the base. False: out of memory.
static bool make_base(block_factor *f, const stn_block_pattern *p, const bool *changing) {
    memset(f->decided, 0, (size_t)f->supernode_count * sizeof *f->decided);
    f->changing_count = 0;
    for (int32_t j = 0; j < p->block_count; j++) {
        if (changing[j]) {
            f->decided[f->supernode_of[j]] = true;
            for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
                if (changing[p->row[e]]) {
                    f->changing[f->changing_count++] = e;
                }
            }
        }
    }
    size_t needed = 1;
    double work = 0.0, rest = 0.0;
    for (int32_t s = 0; s < f->supernode_count; s++) {
        const block_supernode *node = &f->supernodes[s];
        const double own = (double)node->columns * node->rows * node->rows;
        work += own;
        if (f->decided[s]) {
            needed += (size_t)node->ld * (size_t)node->columns;
            if (node->parent >= 0) {
                f->decided[node->parent] = true;
            }
        } else {
            rest += own;
        }
    }
    f->worth_base = rest > 0.2 * work;
    if (f->worth_base && needed > f->base_capacity) {
        stn_release(f->context, f->base);
        f->base = stn_allocate(f->context, needed, sizeof *f->base);
        f->base_capacity = f->base != NULL ? needed : 0;
    }
    return !f->worth_base || f->base != NULL;
}

/// Factors what no changing block decides, and keeps as base what the others start from. -1, or a column.
static int32_t factor_rest(block_factor *f, const stn_block_matrix *matrix) {
    int32_t bad = -1, next = 0;
    memset(f->values, 0, (size_t)f->value_count * sizeof *f->values);
    for (int32_t e = 0; e < f->entry_count; e++) {
        if (next < f->changing_count && f->changing[next] == e) {
            next++;
        } else {
            block_write_entry(f, matrix, e);
        }
    }
    for (int32_t s = 0; s < f->supernode_count && bad < 0; s++) {
        bad = f->decided[s] ? -1 : eliminate(f, &f->supernodes[s]);
    }
    if (bad < 0) {
        move_base(f, false);
    }
    return bad;
}

static stn_status report(block_factor *f, int32_t column, stn_error *err) {
    int32_t place = 0;
    f->failed = column;
    if (column < 0) {
        return STN_OK;
    }
    while (f->start[place + 1] <= column) {
        place++;
    }
    return stn_fail(err, STN_ERR_NUMERIC,
                    "factor block: pivot %d of block %d is not > 0: the matrix is not positive definite",
                    column - f->start[place], f->order[place]);
}

static stn_status numeric(void *factor, const stn_block_matrix *matrix, stn_error *err) {
    return report(factor, factor_all(factor, matrix), err);
}

static stn_status refactor(void *factor, const stn_block_matrix *matrix, const bool *changing, bool again,
                           stn_error *err) {
    block_factor *f = factor;
    int32_t bad = -1;
    if (again && f->base_ready) {
        move_base(f, true);
    } else {
        f->base_ready = false;
        if (!make_base(f, &matrix->pattern, changing)) {
            return stn_fail(err, STN_ERR_MEMORY, "factor block: out of memory for %d blocks", f->block_count);
        }
        if (!f->worth_base) {
            return numeric(factor, matrix, err);
        }
        bad = factor_rest(f, matrix);
        f->base_ready = bad < 0;
    }
    for (int32_t k = 0; k < f->changing_count && bad < 0; k++) {
        const int32_t e = f->changing[k];
        add_entry(&f->entries[e], matrix->values + matrix->offset[e], f->values + f->entries[e].target);
    }
    for (int32_t s = 0; s < f->supernode_count && bad < 0; s++) {
        bad = f->decided[s] ? eliminate(f, &f->supernodes[s]) : -1;
    }
    return report(f, bad, err);
}

static int32_t weak_pivot(void *factor, const double *least) {
    const block_factor *f = factor;
    for (int32_t place = 0; place < f->block_count; place++) {
        const int32_t original = f->original_start[f->order[place]];
        for (int32_t column = f->start[place]; column < f->start[place + 1]; column++) {
            const int32_t row = original + column - f->start[place];
            const double root = f->scale[column]; // unset from the failed column on
            if (column == f->failed || !(1.0 / (root * root) > least[row])) {
                return row;
            }
        }
    }
    return -1;
}

static void permute(const block_factor *f, bool back, double *x) {
    for (int32_t b = 0; b < f->block_count; b++) {
        double *permuted = f->x + f->start[b], *original = x + f->original_start[f->order[b]];
        size_t size = (size_t)(f->start[b + 1] - f->start[b]) * sizeof *x;
        memcpy(back ? original : permuted, back ? permuted : original, size);
    }
}

/// x (n) in elimination order becomes (L L^T)^-1 x.
static void solve_all(const block_factor *f, double *x) {
    for (int32_t s = 0; s < f->supernode_count; s++) {
        const block_supernode *node = &f->supernodes[s];
        block_forward(f, node, x, f->t);
        f->kernels->add_runs(f->gather_runs + node->gather_start, node->gather_end - node->gather_start, f->t, x);
    }
    for (int32_t s = f->supernode_count - 1; s >= 0; s--) {
        block_backward(f, &f->supernodes[s], x, f->t);
    }
}

static void solve(void *factor, int32_t columns, double *x) {
    block_factor *f = factor;
    const bool threads = block_tasks_worth_solving(f) && block_tasks_ready(f);
    for (int32_t c = 0; c < columns; c++, x += f->n) {
        permute(f, false, x);
        if (threads) {
            block_tasks_solve(f, f->x);
        } else {
            solve_all(f, f->x);
        }
        permute(f, true, x);
    }
}

static void use_threads(void *factor, stn_threads *threads) {
    block_factor *f = factor;
    f->threads = threads;
}

static size_t memory(const void *factor) {
    const block_factor *f = factor;
    return arena_bytes(f->arena) + f->base_capacity * sizeof *f->values;
}

const stn_factor_ops *stn_factor_block(void) {
    static const stn_factor_ops ops = {.size = sizeof ops,
                                       .symbolic = symbolic,
                                       .release = release,
                                       .numeric = numeric,
                                       .solve = solve,
                                       .refactor = refactor,
                                       .weak_pivot = weak_pivot,
                                       .order = order_pattern,
                                       .memory = memory,
                                       .use_threads = use_threads};
    return &ops;
}
