// SPDX-License-Identifier: Apache-2.0
// From the elimination tree to panels: which columns share one, where every outer product goes, and where every block
// of the matrix starts.
#include <string.h>

#include "factor/block_factor.h"

// A supernode while columns are being merged; sizes are scalar.
typedef struct merge {
    int32_t first, end; // blocks
    int32_t columns, rows;
} merge;

typedef struct analysis {
    stn_block_tree tree;
    merge *merged;
    int32_t *supernode; // of every block (by place)
    int32_t *panel_row; // first panel row of every block in the supernode at hand
    row_run *runs;      // of the group at hand
    stn_arena *scratch;
    block_factor *f;
} analysis;

// Appends to runs [begin, end) `run`, or lengthens the last one where it follows on. Returns the new end.
static int32_t append_run(row_run *runs, int32_t begin, int32_t end, row_run run) {
    row_run *last = &runs[end - (end > begin)];
    if (end > begin && last->from + last->count == run.from && last->to + last->count == run.to) {
        last->count += run.count;
        return end;
    }
    runs[end] = run;
    return end + 1;
}

// Block rows of a supernode below its own columns: those of its last column.
static void rows_below(const analysis *a, const block_supernode *node, const int32_t **rows, int32_t *count) {
    const stn_block_tree *t = &a->tree;
    int32_t last = node->block_end - 1;
    *rows = t->row + t->column_start[last];
    *count = t->column_start[last + 1] - t->column_start[last];
}

// panel_row[b] for every block b with rows in the supernode.
static void locate_rows(analysis *a, const block_supernode *node) {
    const int32_t *rows;
    int32_t count, at = 0;
    for (int32_t b = node->first_block; b < node->block_end; b++) {
        a->panel_row[b] = at;
        at += a->tree.size[b];
    }
    rows_below(a, node, &rows, &count);
    for (int32_t k = 0; k < count; k++) {
        a->panel_row[rows[k]] = at;
        at += a->tree.size[rows[k]];
    }
}

// The groups of one supernode; group_count moves on.
static bool make_groups(analysis *a, block_supernode *node, int32_t *group_count) {
    block_factor *f = a->f;
    const int32_t *rows, *size = a->tree.size;
    int32_t count, from = node->columns;
    rows_below(a, node, &rows, &count);
    node->group_start = *group_count;
    for (int32_t k = 0; k < count;) {
        const block_supernode *target = &f->supernodes[a->supernode[rows[k]]];
        locate_rows(a, target);
        int32_t end = k, last = from; // blocks [k, end) are consecutive columns of the target
        while (end < count && rows[end] == rows[k] + (end - k) && rows[end] < target->block_end) {
            last += size[rows[end++]];
        }
        block_group *g = &f->groups[(*group_count)++];
        *g = (block_group){.first = from,
                           .last = last,
                           .target_node = a->supernode[rows[k]],
                           .target_column = a->panel_row[rows[k]],
                           .target_place = rows[k],
                           .target_ld = target->ld,
                           .target = target->panel + (int64_t)target->ld * a->panel_row[rows[k]]};
        // all rows from block k on, as runs in the target
        int32_t found = 0, row = from;
        for (int32_t m = k; m < count; row += size[rows[m++]]) {
            found = append_run(a->runs, 0, found, (row_run){row, a->panel_row[rows[m]], size[rows[m]]});
        }
        row_run *runs = STN_ARENA(f->arena, found, row_run);
        if (runs == NULL) {
            return false;
        }
        memcpy(runs, a->runs, (size_t)found * sizeof *runs);
        g->runs = runs;
        g->run_count = found;
        from = last;
        k = end;
    }
    node->group_end = *group_count;
    return true;
}

static void place_entries(analysis *a, const stn_block_pattern *p) {
    block_factor *f = a->f;
    const stn_block_tree *t = &a->tree;
    int32_t located = -1;
    // by column of L, so that every supernode is located once
    for (int32_t place = 0; place < t->n; place++) {
        int32_t j = t->order[place];
        for (int32_t e = p->column_start[j]; e < p->column_start[j + 1]; e++) {
            int32_t i = p->row[e], row = t->place[i], column = place;
            bool flipped = row < column;
            if (flipped) {
                column = row;
                row = place;
            }
            const block_supernode *node = &f->supernodes[a->supernode[column]];
            if (located != a->supernode[column]) {
                located = a->supernode[column];
                locate_rows(a, node);
            }
            f->entries[e] = (block_entry){
                .target = node->panel + (int64_t)node->ld * a->panel_row[column] + a->panel_row[row],
                .rows = p->block_size[i],
                .columns = p->block_size[j],
                .ld = node->ld,
                .place = column,
                .flipped = flipped,
                .diagonal = i == j,
            };
        }
    }
}

/// Operations that factor a panel and make its outer product, about.
static double panel_work(const merge *m) {
    const double columns = m->columns, below = m->rows - m->columns;
    return columns * columns * (below + columns * 2.0 / 3.0) + columns * below * below;
}

static int32_t chunks_of(const merge *m) {
    return (m->columns + KERNEL_CHUNK - 1) / KERNEL_CHUNK;
}

/// Is one panel of both faster than two? It holds zeros, which are multiplied. It saves calls and chunks that are not
/// full, and the product of the child need not be added to the parent's panel; what that is worth, in operations, was
/// measured.
static bool worth_merging(const merge *child, const merge *parent, const merge *both) {
    enum { CALL = 250, CHUNK = 800, ENTRY = 4 };
    const double below = child->rows - child->columns;
    const int32_t chunks = chunks_of(child) + chunks_of(parent) - chunks_of(both);
    return panel_work(both) - panel_work(child) - panel_work(parent) <= CALL + CHUNK * chunks + ENTRY * below * below;
}

static bool make_supernodes(analysis *a, const stn_block_pattern *p) {
    block_factor *f = a->f;
    size_t blocks = (size_t)p->block_count + 1;
    a->merged = STN_ARENA(a->scratch, blocks, merge);
    a->supernode = STN_ARENA(a->scratch, blocks, int32_t);
    a->panel_row = STN_ARENA(a->scratch, blocks, int32_t);
    if (a->merged == NULL || a->supernode == NULL || a->panel_row == NULL) {
        return false;
    }
    const stn_block_tree *t = &a->tree;
    int32_t count = 0;
    for (int32_t j = 0; j < t->n; j++) {
        merge now = {j, j + 1, t->size[j], t->size[j]};
        for (int32_t e = t->column_start[j]; e < t->column_start[j + 1]; e++) {
            now.rows += t->size[t->row[e]];
        }
        while (count > 0 && t->parent[j - 1] >= 0) { // the supernode on top ends with block now.first - 1
            const merge *child = &a->merged[count - 1];
            const merge both = {child->first, now.end, child->columns + now.columns, child->columns + now.rows};
            if (t->parent[child->end - 1] != j || !worth_merging(child, &now, &both)) {
                break;
            }
            now = both;
            count--;
        }
        a->merged[count++] = now;
    }
    f->supernode_count = count;
    f->supernodes = STN_ARENA(f->arena, f->supernode_count, block_supernode);
    if (f->supernodes == NULL) {
        return false;
    }
    for (int32_t s = 0; s < count; s++) {
        const merge *m = &a->merged[s];
        block_supernode *node = &f->supernodes[s];
        node->first_block = m->first;
        node->block_end = m->end;
        node->first_column = f->start[m->first];
        node->columns = m->columns;
        node->rows = m->rows;
        node->ld = (m->rows + KERNEL_ROWS - 1) / KERNEL_ROWS * KERNEL_ROWS;
        node->panel = f->value_count;
        f->value_count += (int64_t)node->ld * node->columns;
        for (int32_t b = m->first; b < m->end; b++) {
            a->supernode[b] = f->supernode_of[f->order[b]] = s;
        }
    }
    return true;
}

static bool analyse(analysis *a, const stn_block_pattern *p) {
    block_factor *f = a->f;
    stn_arena *arena = f->arena;
    const size_t blocks = (size_t)p->block_count;
    f->block_count = p->block_count;
    f->entry_count = p->column_start[blocks];
    f->order = STN_ARENA(arena, blocks + 1, int32_t);
    f->supernode_of = STN_ARENA(arena, blocks + 1, int32_t);
    f->original_start = STN_ARENA(arena, blocks + 1, int32_t);
    f->start = STN_ARENA(arena, blocks + 1, int32_t);
    if (f->order == NULL || f->supernode_of == NULL || f->original_start == NULL || f->start == NULL ||
        !stn_block_tree_build(p, a->scratch, &a->tree)) {
        return false;
    }
    f->original_start[0] = f->start[0] = 0;
    for (size_t b = 0; b < blocks; b++) {
        f->order[b] = a->tree.order[b];
        f->original_start[b + 1] = f->original_start[b] + p->block_size[b];
        f->start[b + 1] = f->start[b] + a->tree.size[b];
    }
    f->n = f->start[blocks];
    if (!make_supernodes(a, p)) {
        return false;
    }

    // a run to gather ends where rows below a supernode are not neighbours, a group also where their supernodes differ
    const int32_t *rows;
    int32_t count, ld = KERNEL_ROWS, groups = 0, gathered = 0;
    size_t group_room = 0, run_room = 0;
    for (int32_t s = 0; s < f->supernode_count; s++) {
        rows_below(a, &f->supernodes[s], &rows, &count);
        for (int32_t k = 0; k < count; k++) {
            const bool neighbours = k > 0 && rows[k] == rows[k - 1] + 1;
            run_room += !neighbours;
            group_room += !neighbours || a->supernode[rows[k]] != a->supernode[rows[k - 1]];
        }
        ld = f->supernodes[s].ld > ld ? f->supernodes[s].ld : ld;
    }
    f->groups = STN_ARENA(arena, group_room, block_group);
    f->gather_runs = STN_ARENA(arena, run_room, row_run);
    f->entries = STN_ARENA(arena, f->entry_count, block_entry);
    a->runs = STN_ARENA(a->scratch, f->block_count, row_run);
    f->decided = STN_ARENA(arena, f->supernode_count, bool);
    f->changing = STN_ARENA(arena, f->entry_count, int32_t);
    f->scale = STN_ARENA_ZEROED(arena, f->n, double);
    f->x = STN_ARENA_ZEROED(arena, f->n, double);
    f->t = STN_ARENA_ZEROED(arena, ld, double);
    if (f->decided == NULL || f->changing == NULL || f->groups == NULL || f->gather_runs == NULL ||
        f->entries == NULL || a->runs == NULL || f->scale == NULL || f->x == NULL || f->t == NULL) {
        return false;
    }
    for (int32_t s = 0; s < f->supernode_count; s++) {
        block_supernode *node = &f->supernodes[s];
        if (!make_groups(a, node, &groups)) {
            return false;
        }
        int32_t from = node->columns;
        rows_below(a, node, &rows, &count);
        node->parent = count > 0 ? a->supernode[rows[0]] : -1;
        node->gather_start = gathered;
        for (int32_t k = 0; k < count; from += a->tree.size[rows[k++]]) {
            row_run run = {from, f->start[rows[k]], a->tree.size[rows[k]]};
            gathered = append_run(f->gather_runs, node->gather_start, gathered, run);
        }
        node->gather_end = gathered;
    }
    place_entries(a, p);
    f->values = STN_ARENA(arena, f->value_count, double); // last: what follows a large block gets twice its room
    return f->values != NULL;
}

void block_factor_release(block_factor *f) {
    if (f != NULL) {
        stn_arena_destroy(f->arena);
        stn_release(f->context, f->base);
        stn_release(f->context, f);
    }
}

stn_status block_factor_analyse(stn_context *context, const stn_block_pattern *pattern, block_factor **out,
                                stn_error *err) {
    *out = NULL;
    analysis a = {.f = stn_allocate(context, 1, sizeof *a.f), .scratch = stn_arena_create(context)};
    bool done = false;
    if (a.f != NULL) {
        a.f->context = context; // what release needs, whatever fails from here on
    }
    if (a.f != NULL && a.scratch != NULL) {
        a.f->kernels = panel_kernels_choose();
        a.f->arena = stn_arena_create(context);
        done = a.f->arena != NULL && analyse(&a, pattern);
    }
    stn_arena_destroy(a.scratch);
    if (!done) {
        if (a.f != NULL) {
            block_factor_release(a.f);
        }
        return stn_fail(err, STN_ERR_MEMORY, "factor block: out of memory for %d blocks", pattern->block_count);
    }
    *out = a.f;
    return STN_OK;
}
