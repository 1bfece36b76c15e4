// SPDX-License-Identifier: Apache-2.0
// One factorisation by several threads. The elimination tree is cut in ranges, each a few whole subtrees that lie side
// by side in the order of elimination, and the supernodes above them, the top. Tasks are listed so that each comes
// after those that it needs, are taken in the order of the list, and wait for those that others are still at:
//
//     range     everything of its supernodes, but what they subtract from the top
//     chain     all of some small supernodes of the top, one after the other
//     update    some columns of a supernode of the top: the matrix, minus what all below subtract, in their order
//     square    of some of its columns, a stage, the rows that are these columns, factored
//     rows      some of the rows below
//
// Every entry is the same sum in the same order as on one thread, so that no bit depends on who does what.
#include <stdatomic.h>
#include <string.h>

#include "base/wait.h"
#include "factor/block_factor.h"

typedef enum task_kind { TASK_RANGE, TASK_CHAIN, TASK_UPDATE, TASK_SQUARE, TASK_ROWS } task_kind;

typedef struct task {
    task_kind kind;
    int32_t node;                     // of the top
    int32_t stage;                    // of square and rows
    int32_t begin, end; // range: supernodes; chain: of `top`; update: block columns by place; others: panel rows
    int32_t first_column, column_end; // of the stage
} task;

/// What is left to be done of some columns of a supernode of the top.
typedef struct stage {
    int32_t rows; // tasks
    atomic_int square_left, rows_left;
} stage;

/// What is left to be done before a supernode of the top can go on.
typedef struct progress {
    int32_t children, updates; // children in the tree, tasks
    int32_t stage_start, stage_end;
    atomic_int children_left, updates_left;
    atomic_int factor_left;                 // 0: it is factored
    atomic_int forward_left, backward_left; // 0: x of the substitution is there; forward: of roots
} progress;

/// Group `group` of supernode `node` is to be subtracted from a supernode of the top; range: that of `node`, -1: the
/// top.
typedef struct pull {
    int32_t node, group, range;
} pull;

typedef struct block_tasks {
    bool worth;
    int32_t workers;
    int32_t range_count, top_count, task_count;
    int32_t *range_start;            // (2 x range_count) first supernode and end of each
    int32_t *owner;                  // (range_count) the worker that takes it unless another one has nothing to do
    atomic_bool *taken, *taken_back; // (range_count) by somebody; in backward substitution
    atomic_int *range_left;          // (range_count) 0: it is factored
    atomic_int next;                 // of the other tasks, which are taken in their order
    int32_t *top;                    // (top_count) supernodes, ascending
    int32_t begun_count;
    int32_t *begun; // (begun_count) the top, and roots of ranges: those that have progress
    bool *is_top;   // (supernode_count)
    task *tasks;
    progress *nodes;       // (supernode_count), used of the top and of roots of the tree
    int32_t *pull_start;   // (supernode_count + 1)
    pull *pulls;           // by supernode of the top that is subtracted from, ascending
    double *pulled;        // (block_count) multiplications of what is subtracted from a block column, by place
    int32_t stage_count;
    stage *stages;
    int32_t *entry_start, *entry;   // (block_count + 1) entries of the matrix by block column of L
    double *update;                 // (workers x update_size) work space
    size_t update_size;             // [doubles]
    double *below;                  // what forward substitution leaves for the rows below, of every supernode
    int64_t *below_start;           // (supernode_count)
    const stn_block_matrix *matrix; // of the factorisation at hand
    double *x;                      // of the solve at hand
    atomic_bool failed;
} block_tasks;

/// Multiplications of the panel of a supernode and of what it subtracts.
static double work_of(const block_supernode *node) {
    const double n = node->columns, m = node->rows;
    return n * (m * m - n * m + n * n / 3.0);
}

// ----------------------------------------------------------------------------------------------------- the list

/// Multiplications: what is worth threads, what a task should have at least, and one of dense columns; rows of a panel;
/// columns of a stage, and of a supernode that has several; ranges; parts of a supernode that a worker updates.
enum { LEAST = 700000, TASK = 80000, DENSE_TASK = 100000, ROWS_STEP = 32, STAGE = 48, STAGED = 120 };
enum { RANGES = 12, PARTS = 3 };
/// The share of the work that must be done one after the other, where threads are worth it.
#define MOST_SPAN 0.6

/// The work of every subtree (supernode_count). Returns that of all.
static double sum_subtrees(const block_factor *f, double *subtree) {
    double total = 0.0;
    for (int32_t s = 0; s < f->supernode_count; s++) {
        subtree[s] = 0.0;
    }
    for (int32_t s = 0; s < f->supernode_count; s++) {
        const block_supernode *node = &f->supernodes[s];
        subtree[s] += work_of(node);
        total += work_of(node);
        if (node->parent >= 0) {
            subtree[node->parent] += subtree[s];
        }
    }
    return total;
}

/// The top: supernodes whose subtree has more work than `limit`.
static void find_top(const block_factor *f, block_tasks *t, const double *subtree, double limit) {
    for (int32_t s = 0; s < f->supernode_count; s++) {
        t->is_top[s] = subtree[s] > limit;
        if (t->is_top[s]) {
            t->top[t->top_count++] = s;
        }
    }
}

/// Ranges: subtrees beside each other, up to `limit` together.
static void cut_ranges(const block_factor *f, block_tasks *t, const double *subtree, double limit) {
    double sum = 0.0;
    int32_t begin = 0;
    for (int32_t s = 0; s < f->supernode_count; s++) {
        const int32_t parent = f->supernodes[s].parent;
        const bool root = !t->is_top[s] && (parent < 0 || t->is_top[parent]);
        sum += root ? subtree[s] : 0.0;
        const bool last = s + 1 == f->supernode_count || t->is_top[s + 1];
        if (!t->is_top[s] && root && (last || sum > limit)) {
            t->range_start[2 * t->range_count] = begin;
            t->range_start[2 * t->range_count + 1] = s + 1;
            t->range_count++;
            begin = s + 1;
            sum = 0.0;
        }
        begin = t->is_top[s] ? s + 1 : begin;
    }
}

/// Owners: the next range to the worker that has least so far. Ranges then stay in the caches of their owners.
static void give_owners(const block_factor *f, block_tasks *t, double *sum) {
    for (int32_t w = 0; w < t->workers; w++) {
        sum[w] = 0.0;
    }
    for (int32_t r = 0; r < t->range_count; r++) {
        int32_t least = 0;
        for (int32_t w = 1; w < t->workers; w++) {
            least = sum[w] < sum[least] ? w : least;
        }
        t->owner[r] = least;
        for (int32_t s = t->range_start[2 * r]; s < t->range_start[2 * r + 1]; s++) {
            sum[least] += work_of(&f->supernodes[s]);
        }
    }
}

static int32_t parts_of(double work, double least) {
    return work > 64.0 * least ? 64 : work > least ? (int32_t)(work / least) + 1 : 1;
}

/// Appends a task to the list.
static void append(block_tasks *t, task next) {
    if (t->tasks != NULL) {
        t->tasks[t->task_count] = next;
    }
    t->task_count++;
}

/// Tasks of columns [first, end) of a supernode of the top.
static void list_stage(const block_factor *f, block_tasks *t, int32_t s, int32_t first, int32_t end) {
    const block_supernode *node = &f->supernodes[s];
    const int32_t after = (end + KERNEL_ROWS - 1) / KERNEL_ROWS * KERNEL_ROWS; // the square
    const int32_t below = node->rows > after ? node->rows - after : 0;
    const int32_t parts = parts_of((double)(end - first) * (0.5 * (first + end)) * below, DENSE_TASK);
    const int32_t step = (below / parts + ROWS_STEP) / ROWS_STEP * ROWS_STEP;
    const int32_t rows = parts > 1 && below > step ? (below + step - 1) / step : 0, number = t->stage_count++;
    if (t->stages != NULL) {
        t->stages[number].rows = rows;
    }
    append(t, (task){TASK_SQUARE, s, number, 0, rows > 0 ? after : node->rows, first, end});
    for (int32_t k = 0; k < rows; k++) {
        const int32_t begin = after + step * k, last = begin + step < node->rows ? begin + step : node->rows;
        append(t, (task){TASK_ROWS, s, number, begin, last, first, end});
    }
}

/// The work of what is subtracted from a supernode of the top.
static double pulled_of(const block_tasks *t, const block_supernode *node) {
    double sum = 0.0;
    for (int32_t place = node->first_block; place < node->block_end; place++) {
        sum += t->pulled[place];
    }
    return sum;
}

/// Tasks of a large supernode of the top.
static void list_node(const block_factor *f, block_tasks *t, int32_t s) {
    const block_supernode *node = &f->supernodes[s];
    progress *p = &t->nodes[s];
    double sum = 0.0;
    const double pulled = pulled_of(t, node);
    const int32_t parts = parts_of(pulled, TASK), most = PARTS * t->workers;
    const double share = pulled / (parts < most ? parts : most);
    p->updates = 0;
    for (int32_t place = node->first_block, begin = place; place < node->block_end; place++) {
        sum += t->pulled[place];
        if (place + 1 == node->block_end || sum >= share * (p->updates + 1)) {
            append(t, (task){TASK_UPDATE, s, -1, begin, place + 1, 0, 0});
            p->updates++;
            begin = place + 1;
        }
    }
    p->stage_start = t->stage_count;
    for (int32_t c = 0; c < node->columns;) {
        const int32_t end = node->columns > STAGED && node->columns - c > STAGE + STAGE / 2 ? c + STAGE : node->columns;
        list_stage(f, t, s, c, end);
        c = end;
    }
    p->stage_end = t->stage_count;
}

/// How much of a supernode's own work is its panel.
static double panel_work(const block_supernode *node) {
    const double n = node->columns;
    return n * n * (0.5 * node->rows - n / 6.0);
}

static bool is_small(const block_tasks *t, const block_supernode *node) {
    return pulled_of(t, node) < TASK && panel_work(node) < DENSE_TASK;
}

/// Tasks of the top: small supernodes together as long as each is the parent of the one before, or they are little.
static void list_top(const block_factor *f, block_tasks *t) {
    for (int32_t k = 0; k < t->top_count;) {
        const int32_t first = k;
        double sum = 0.0;
        for (; k < t->top_count; k++) {
            const block_supernode *node = &f->supernodes[t->top[k]];
            const bool parent = k > first && f->supernodes[t->top[k - 1]].parent == t->top[k];
            sum += pulled_of(t, node) + panel_work(node);
            if (!is_small(t, node) || (k > first && !parent && sum > TASK)) {
                break;
            }
        }
        if (k > first) {
            append(t, (task){TASK_CHAIN, -1, -1, first, k, 0, 0});
        } else {
            list_node(f, t, t->top[k++]);
        }
    }
}

static void list_tasks(const block_factor *f, block_tasks *t) {
    t->task_count = t->stage_count = 0;
    for (int32_t r = 0; r < t->range_count; r++) {
        append(t, (task){TASK_RANGE, -1, -1, t->range_start[2 * r], t->range_start[2 * r + 1], 0, 0});
    }
    list_top(f, t);
}

/// What must be done one after the other, at least: the heaviest path from a range to a root; span (supernode_count) is
/// work space.
static double find_span(const block_factor *f, const block_tasks *t, const double *subtree, double *span) {
    double most = 0.0;
    for (int32_t s = 0; s < f->supernode_count; s++) {
        span[s] = 0.0;
    }
    for (int32_t s = 0; s < f->supernode_count; s++) {
        const block_supernode *node = &f->supernodes[s];
        const double own = pulled_of(t, node) + panel_work(node);
        span[s] = !t->is_top[s] ? subtree[s] : span[s] + (is_small(t, node) ? own : own / t->workers);
        most = span[s] > most ? span[s] : most;
        if (node->parent >= 0 && span[s] > span[node->parent]) {
            span[node->parent] = span[s];
        }
    }
    return most;
}

/// The work of what is subtracted from every block column of the top.
static void weigh_columns(const block_factor *f, block_tasks *t) {
    for (int32_t k = 0; k < t->pull_start[f->supernode_count]; k++) {
        const block_group *g = &f->groups[t->pulls[k].group];
        const block_supernode *from = &f->supernodes[t->pulls[k].node];
        for (int32_t row = g->first, place = g->target_place; row < g->last; place++) {
            const int32_t count = f->start[place + 1] - f->start[place];
            t->pulled[place] += (double)from->columns * count * (from->rows - row);
            row += count;
        }
    }
}

/// Who subtracts from the top, and which entries of the matrix belong to which block column of L.
static bool list_sources(const block_factor *f, block_tasks *t, stn_arena *arena) {
    const int32_t nodes = f->supernode_count;
    const int32_t groups = nodes > 0 ? f->supernodes[nodes - 1].group_end : 0;
    t->pull_start = STN_ARENA_ZEROED(arena, nodes + 2, int32_t);
    t->pulls = STN_ARENA(arena, groups + 1, pull);
    t->entry_start = STN_ARENA_ZEROED(arena, f->block_count + 2, int32_t);
    t->entry = STN_ARENA(arena, f->entry_count + 1, int32_t);
    if (t->pull_start == NULL || t->pulls == NULL || t->entry_start == NULL || t->entry == NULL) {
        return false;
    }
    for (int32_t k = 0; k < groups; k++) {
        t->pull_start[f->groups[k].target_node + 2] += t->is_top[f->groups[k].target_node];
    }
    for (int32_t s = 0; s < nodes; s++) {
        t->pull_start[s + 2] += t->pull_start[s + 1];
    }
    for (int32_t s = 0, range = 0; s < nodes; s++) {
        while (range < t->range_count && t->range_start[2 * range + 1] <= s) {
            range++;
        }
        for (int32_t k = f->supernodes[s].group_start; k < f->supernodes[s].group_end; k++) {
            if (t->is_top[f->groups[k].target_node]) {
                t->pulls[t->pull_start[f->groups[k].target_node + 1]++] = (pull){s, k, t->is_top[s] ? -1 : range};
            }
        }
    }
    for (int32_t e = 0; e < f->entry_count; e++) {
        t->entry_start[f->entries[e].place + 2]++;
    }
    for (int32_t b = 0; b < f->block_count; b++) {
        t->entry_start[b + 2] += t->entry_start[b + 1];
    }
    for (int32_t e = 0; e < f->entry_count; e++) {
        t->entry[t->entry_start[f->entries[e].place + 1]++] = e;
    }
    return true;
}

static bool plan(block_factor *f, block_tasks *t) {
    stn_arena *arena = f->arena;
    const size_t nodes = (size_t)f->supernode_count;
    double *subtree = STN_ARENA(arena, nodes + 1, double);
    int64_t below = 0;
    int32_t ld = KERNEL_ROWS;
    t->workers = stn_threads_count(f->threads);
    if (subtree == NULL) {
        return false;
    }
    const double total = sum_subtrees(f, subtree), limit = total / RANGES > TASK ? total / RANGES : TASK;
    t->worth = total > LEAST;
    if (!t->worth) {
        return true;
    }
    t->is_top = STN_ARENA(arena, nodes + 1, bool);
    t->top = STN_ARENA(arena, nodes + 1, int32_t);
    t->range_start = STN_ARENA(arena, 2 * nodes + 2, int32_t);
    t->begun = STN_ARENA(arena, nodes + 1, int32_t);
    t->nodes = STN_ARENA_ZEROED(arena, nodes + 1, progress);
    t->below_start = STN_ARENA(arena, nodes + 1, int64_t);
    if (t->is_top == NULL || t->top == NULL || t->range_start == NULL || t->begun == NULL || t->nodes == NULL ||
        t->below_start == NULL) {
        return false;
    }
    find_top(f, t, subtree, limit);
    cut_ranges(f, t, subtree, limit);
    t->pulled = STN_ARENA_ZEROED(arena, f->block_count + 1, double);
    if (t->pulled == NULL || !list_sources(f, t, arena)) {
        return false;
    }
    weigh_columns(f, t);
    double *span = STN_ARENA(arena, nodes + 1, double);
    if (span == NULL) {
        return false;
    }
    t->worth = find_span(f, t, subtree, span) < MOST_SPAN * total;
    if (!t->worth) {
        return true;
    }
    for (int32_t s = 0; s < f->supernode_count; s++) {
        const block_supernode *node = &f->supernodes[s];
        if (t->is_top[s] || node->parent < 0) {
            t->begun[t->begun_count++] = s;
        }
        if (node->parent >= 0) {
            t->nodes[node->parent].children++;
        }
        t->below_start[s] = below;
        below += node->ld;
        ld = node->ld > ld ? node->ld : ld;
    }
    t->owner = STN_ARENA(arena, t->range_count + 1, int32_t);
    t->taken = STN_ARENA(arena, t->range_count + 1, atomic_bool);
    t->taken_back = STN_ARENA(arena, t->range_count + 1, atomic_bool);
    double *sum = STN_ARENA(arena, t->workers, double);
    t->range_left = STN_ARENA(arena, t->range_count + 1, atomic_int);
    if (t->owner == NULL || t->taken == NULL || t->taken_back == NULL || t->range_left == NULL || sum == NULL) {
        return false;
    }
    give_owners(f, t, sum);
    t->update_size = (size_t)ld * KERNEL_CHUNK + KERNEL_ROWS; // no two workers write into one cache line
    list_tasks(f, t);                                         // counts
    t->tasks = STN_ARENA(arena, t->task_count + 1, task);
    t->stages = STN_ARENA_ZEROED(arena, t->stage_count + 1, stage);
    t->update = STN_ARENA_ZEROED(arena, (size_t)t->workers * t->update_size, double);
    t->below = STN_ARENA_ZEROED(arena, below, double);
    if (t->tasks == NULL || t->stages == NULL || t->update == NULL || t->below == NULL) {
        return false;
    }
    list_tasks(f, t);
    return true;
}

bool block_tasks_ready(block_factor *f) {
    if (stn_threads_count(f->threads) <= 1) {
        return false;
    }
    if (f->tasks == NULL || f->tasks->workers < stn_threads_count(f->threads)) {
        f->tasks = STN_ARENA_ZEROED(f->arena, 1, block_tasks);
        if (f->tasks == NULL || !plan(f, f->tasks)) {
            f->tasks = NULL; // no memory: no threads
            return false;
        }
    }
    return f->tasks->worth;
}

bool block_tasks_worth_solving(const block_factor *f) {
    enum { LEAST_VALUES = 60000 }; // what passes from cache to cache costs more below
    return f->value_count > LEAST_VALUES;
}

// ---------------------------------------------------------------------------------------------------- factoring

static void await(const block_factor *f, atomic_int *left) {
    stn_wait wait = {0};
    while (atomic_load_explicit(left, memory_order_acquire) > 0) {
        if (!stn_wait_more(&wait)) {
            stn_threads_waited_long(f->threads);
            wait = (stn_wait){0};
        }
    }
}

static void tell_parent(const block_factor *f, int32_t s) {
    const int32_t parent = f->supernodes[s].parent;
    if (parent >= 0) {
        atomic_fetch_sub(&f->tasks->nodes[parent].children_left, 1);
    }
}

/// Roots of a range tell their parents.
static void tell_parents(const block_factor *f, const task *range) {
    for (int32_t s = range->begin; s < range->end; s++) {
        if (f->supernodes[s].parent >= range->end) {
            tell_parent(f, s);
        }
    }
}

/// Supernode s may begin its backward substitution: its parent has, or it is a root.
static void await_parent(const block_factor *f, int32_t s) {
    const int32_t parent = f->supernodes[s].parent;
    await(f, parent >= 0 ? &f->tasks->nodes[parent].backward_left : &f->tasks->nodes[s].forward_left);
}

/// Zeros and the matrix in the panels of block columns [begin, end), all of one supernode or of several whole ones;
/// first (count): their numbers.
static void write_columns(const block_factor *f, int32_t begin, int32_t end, double *first, size_t count) {
    const block_tasks *t = f->tasks;
    memset(first, 0, count * sizeof *first);
    for (int32_t k = t->entry_start[begin]; k < t->entry_start[end]; k++) {
        block_write_entry(f, t->matrix, t->entry[k]);
    }
}

/// Block columns [begin, end) of supernode s of the top: the matrix, minus what all below subtract, as soon as it is
/// there.
static void update_columns(const block_factor *f, int32_t s, int32_t begin_block, int32_t end_block, double *update) {
    block_tasks *t = f->tasks;
    const block_supernode *node = &f->supernodes[s];
    const int32_t first = f->start[begin_block] - node->first_column, last = f->start[end_block] - node->first_column;
    write_columns(f, begin_block, end_block, f->values + node->panel + (int64_t)first * node->ld,
                  (size_t)(last - first) * (size_t)node->ld);
    for (int32_t k = t->pull_start[s]; k < t->pull_start[s + 1]; k++) {
        const pull *source = &t->pulls[k];
        const block_group *g = &f->groups[source->group];
        await(f, source->range >= 0 ? &t->range_left[source->range] : &t->nodes[source->node].factor_left);
        const int32_t row = g->first - g->target_column; // minus that of the first column
        const int32_t begin = row + first > g->first ? row + first : g->first;
        const int32_t end = row + last < g->last ? row + last : g->last;
        block_subtract(f, &f->supernodes[source->node], g, begin, end, update);
    }
}

static void run_range(block_factor *f, const task *todo, double *update) {
    const block_supernode *first = &f->supernodes[todo->begin], *last = &f->supernodes[todo->end - 1];
    const int64_t end = last->panel + (int64_t)last->ld * last->columns;
    write_columns(f, first->first_block, last->block_end, f->values + first->panel, (size_t)(end - first->panel));
    for (int32_t s = todo->begin; s < todo->end; s++) {
        if (block_eliminate(f, &f->supernodes[s], todo->end, update) >= 0) {
            atomic_store(&f->tasks->failed, true);
            break;
        }
    }
    atomic_store(&f->tasks->range_left[todo - f->tasks->tasks], 0);
}

static void run_chain(block_factor *f, const task *todo, double *update) {
    block_tasks *t = f->tasks;
    for (int32_t k = todo->begin; k < todo->end; k++) {
        const block_supernode *node = &f->supernodes[t->top[k]];
        update_columns(f, t->top[k], node->first_block, node->block_end, update);
        if (f->kernels->panel_factor(0, node->columns, node->rows, node->ld, f->values + node->panel,
                                     f->scale + node->first_column) >= 0) {
            atomic_store(&t->failed, true);
        }
        atomic_store(&t->nodes[t->top[k]].factor_left, 0);
    }
}

/// Waits until all of the stage is done.
static void await_stage(const block_factor *f, stage *before) {
    if (before->rows > 0) {
        await(f, &before->rows_left);
    } else {
        await(f, &before->square_left);
    }
}

static void run_task(block_factor *f, const task *todo, double *update) {
    block_tasks *t = f->tasks;
    if (todo->kind == TASK_CHAIN) {
        run_chain(f, todo, update);
        return;
    }
    const block_supernode *node = &f->supernodes[todo->node];
    double *panel = f->values + node->panel, *scale = f->scale + node->first_column;
    progress *p = &t->nodes[todo->node];
    if (todo->kind == TASK_UPDATE) {
        update_columns(f, todo->node, todo->begin, todo->end, update);
        atomic_fetch_sub(&p->updates_left, 1);
        return;
    }
    stage *own = &t->stages[todo->stage];
    bool over = false; // is this the last task of the stage?
    if (todo->kind == TASK_SQUARE) {
        if (todo->stage == p->stage_start) {
            await(f, &p->updates_left);
        } else {
            await_stage(f, own - 1);
        }
        if (f->kernels->panel_factor(todo->first_column, todo->column_end, todo->end, node->ld, panel, scale) >= 0) {
            atomic_store(&t->failed, true);
        }
        atomic_store(&own->square_left, 0);
        over = own->rows == 0;
    } else {
        await(f, &own->square_left);
        f->kernels->panel_rows(todo->first_column, todo->column_end, todo->begin, todo->end, node->ld, panel, scale);
        over = atomic_fetch_sub(&own->rows_left, 1) == 1;
    }
    if (over && todo->stage == p->stage_end - 1) {
        atomic_store(&p->factor_left, 0);
    }
}

/// Ranges, own ones first. `what` is done with each by whoever takes it.
static void take_ranges(block_factor *f, int32_t crew, atomic_bool *taken, double *work,
                        void (*what)(block_factor *f, const task *range, double *work)) {
    const block_tasks *t = f->tasks;
    for (int32_t turn = 0; turn < 2; turn++) {
        for (int32_t r = 0; r < t->range_count; r++) {
            if ((turn == 1 || t->owner[r] == crew) && !atomic_load(&taken[r]) && !atomic_exchange(&taken[r], true)) {
                what(f, &t->tasks[r], work);
            }
        }
    }
}

static void begin(block_tasks *t) {
    for (int32_t r = 0; r < t->range_count; r++) {
        atomic_store_explicit(&t->taken[r], false, memory_order_relaxed);
        atomic_store_explicit(&t->taken_back[r], false, memory_order_relaxed);
        atomic_store_explicit(&t->range_left[r], 1, memory_order_relaxed);
    }
    atomic_store_explicit(&t->next, 0, memory_order_relaxed);
    for (int32_t k = 0; k < t->begun_count; k++) {
        progress *p = &t->nodes[t->begun[k]];
        atomic_store_explicit(&p->children_left, p->children, memory_order_relaxed);
        atomic_store_explicit(&p->updates_left, p->updates, memory_order_relaxed);
        atomic_store_explicit(&p->factor_left, 1, memory_order_relaxed);
        atomic_store_explicit(&p->forward_left, 1, memory_order_relaxed);
        atomic_store_explicit(&p->backward_left, 1, memory_order_relaxed);
    }
    for (int32_t k = 0; k < t->stage_count; k++) {
        atomic_store_explicit(&t->stages[k].rows_left, t->stages[k].rows, memory_order_relaxed);
        atomic_store_explicit(&t->stages[k].square_left, 1, memory_order_relaxed);
    }
}

static void factor_crew(void *user, int32_t index, int32_t worker) {
    block_factor *f = user;
    block_tasks *t = f->tasks;
    double *update = t->update + (size_t)worker * t->update_size;
    const int32_t others = t->task_count - t->range_count;
    take_ranges(f, index, t->taken, update, run_range);
    for (int32_t k = atomic_fetch_add(&t->next, 1); k < others; k = atomic_fetch_add(&t->next, 1)) {
        run_task(f, &t->tasks[t->range_count + k], update);
    }
}

bool block_tasks_factor(block_factor *f, const stn_block_matrix *matrix) {
    block_tasks *t = f->tasks;
    t->matrix = matrix;
    atomic_store(&t->failed, false);
    begin(t);
    stn_parallel_for(f->threads, t->workers, factor_crew, f);
    return !atomic_load(&t->failed);
}

// ------------------------------------------------------------------------------------------------------ solving

/// What supernode `node` leaves for rows before `end`, its own or those of others, is added to x.
static void add_below(const block_factor *f, const block_supernode *node, int32_t end, const double *t, double *x) {
    for (int32_t k = node->gather_start; k < node->gather_end; k++) {
        row_run run = f->gather_runs[k];
        if (run.to >= end) {
            return;
        }
        run.count = end - run.to < run.count ? end - run.to : run.count;
        f->kernels->add_runs(&run, 1, t, x);
    }
}

static void forward_range(block_factor *f, const task *todo, double *work) {
    (void)work;
    block_tasks *t = f->tasks;
    const int32_t end = f->start[f->supernodes[todo->end - 1].block_end];
    for (int32_t s = todo->begin; s < todo->end; s++) {
        const block_supernode *node = &f->supernodes[s];
        double *below = t->below + t->below_start[s];
        block_forward(f, node, t->x, below);
        add_below(f, node, end, below, t->x);
        if (node->parent < 0) {
            atomic_store(&t->nodes[s].forward_left, 0);
        }
    }
    tell_parents(f, todo);
}

static void forward_node(const block_factor *f, int32_t s) {
    block_tasks *t = f->tasks;
    const block_supernode *node = &f->supernodes[s];
    await(f, &t->nodes[s].children_left);
    for (int32_t k = t->pull_start[s]; k < t->pull_start[s + 1]; k++) {
        const block_group *g = &f->groups[t->pulls[k].group];
        const row_run run = {g->first, node->first_column + g->target_column, g->last - g->first};
        f->kernels->add_runs(&run, 1, t->below + t->below_start[t->pulls[k].node], t->x);
    }
    block_forward(f, node, t->x, t->below + t->below_start[s]);
    atomic_store(&t->nodes[s].forward_left, 0);
    tell_parent(f, s);
}

static void backward_range(block_factor *f, const task *range, double *work) {
    for (int32_t s = range->end - 1; s >= range->begin; s--) {
        if (f->supernodes[s].parent < 0 || f->supernodes[s].parent >= range->end) {
            await_parent(f, s);
        }
        block_backward(f, &f->supernodes[s], f->tasks->x, work);
    }
}

/// Forward: ranges, then the top; backward: the top from its end, then ranges.
static void solve_crew(void *user, int32_t index, int32_t worker) {
    block_factor *f = user;
    block_tasks *t = f->tasks;
    double *work = t->update + (size_t)worker * t->update_size;
    take_ranges(f, index, t->taken, work, forward_range);
    for (int32_t k = atomic_fetch_add(&t->next, 1); k < 2 * t->top_count; k = atomic_fetch_add(&t->next, 1)) {
        if (k < t->top_count) {
            forward_node(f, t->top[k]);
        } else {
            const int32_t s = t->top[2 * t->top_count - 1 - k];
            await_parent(f, s);
            block_backward(f, &f->supernodes[s], t->x, work);
            atomic_store(&t->nodes[s].backward_left, 0);
        }
    }
    take_ranges(f, index, t->taken_back, work, backward_range);
}

void block_tasks_solve(block_factor *f, double *x) {
    block_tasks *t = f->tasks;
    t->x = x;
    begin(t);
    stn_parallel_for(f->threads, t->workers, solve_crew, f);
}
