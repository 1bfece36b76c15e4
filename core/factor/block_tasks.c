// SPDX-License-Identifier: Apache-2.0
// One factorisation by several threads. The elimination tree is cut in ranges, each a few whole subtrees that lie side
// by side in the order of elimination, and the supernodes above them, the top. Tasks are listed so that each comes
// after those that it needs:
//
//     range     everything of its supernodes, but what they subtract from the top
//     chain     all of some small supernodes of the top, one after the other
//     update    some columns of a supernode of the top: the matrix, minus what some of those below subtract
//     square    of some of its columns, a stage, the rows that are these columns, factored
//     rows      some of the rows below
//
// What one processor wrote costs another one more to read than to subtract. So every supernode has a home, a worker:
// neighbouring ranges have the same one, and a supernode of the top that of what lies below it. What is subtracted from
// columns of the top is cut by the home of the supernodes that it comes from, and done there: columns go from worker to
// worker, not the panels below them. A worker takes its own tasks in their order, and those of others when it has none,
// or cannot go on as nobody has taken what it needs.
//
// Every entry is the same sum in the same order as on one thread, so that no bit depends on who does what.
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/wait.h"
#include "factor/block_factor.h"

typedef enum task_kind { TASK_RANGE, TASK_CHAIN, TASK_UPDATE, TASK_SQUARE, TASK_ROWS } task_kind;

typedef struct task {
    task_kind kind;
    int32_t home;       // the worker that takes it unless it is late
    int32_t node;       // of the top
    int32_t stage;      // of square and rows
    int32_t begin, end; // range: supernodes; chain: of `top`; update: block columns by place; others: panel rows
    int32_t first_column, column_end; // of the stage
    // update: of `pulls`; the columns, number of `columns_left`, how often they are updated before, the task before
    int32_t pull_begin, pull_end, columns, step, before;
} task;

/// What is left to be done of some columns of a supernode of the top.
typedef struct stage {
    int32_t rows; // tasks
    atomic_int square_left, rows_left;
} stage;

/// What is left to be done before a supernode of the top can go on.
typedef struct progress {
    int32_t children, updates; // children in the tree, tasks
    int32_t steps;             // updates of the same columns
    int32_t task_start, task_end;
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
    int32_t *range_start;    // (2 x range_count) first supernode and end of each
    int32_t *home;           // (supernode_count)
    atomic_bool *taken;      // (task_count) by somebody
    atomic_bool *taken_back; // (range_count) in backward substitution
    atomic_int *range_left;  // (range_count) 0: it is factored
    atomic_int next;         // of the top in substitution
    int32_t *top;            // (top_count) supernodes, ascending
    int32_t begun_count;
    int32_t *begun; // (begun_count) the top, and roots of ranges: those that have progress
    bool *is_top;   // (supernode_count)
    task *tasks;
    progress *nodes;     // (supernode_count), used of the top and of roots of the tree
    int32_t *pull_start; // (supernode_count + 1)
    pull *pulls;         // by supernode of the top that is subtracted from, ascending
    double *pulled;      // (block_count) multiplications of what is subtracted from a block column, by place
    int32_t stage_count;
    stage *stages;
    int32_t columns_count;
    atomic_int *columns_left;       // (columns_count) updates of columns of the top that are not done
    int32_t *entry_start, *entry;   // (block_count + 1) entries of the matrix by block column of L
    double *work;                   // (workers x work_size) work space of solve
    size_t work_size;               // [doubles]
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
enum { LEAST = 700000, TASK = 80000, DENSE_TASK = 400000, ROWS_STEP = 32, STAGE = 48, STAGED = 240 };
enum { RANGES = 12, PARTS = 2 };
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

/// Homes: the ranges by their work, in their order, and supernodes of the top where the last one below is.
static void give_homes(const block_factor *f, block_tasks *t) {
    double sum = 0.0, so_far = 0.0;
    for (int32_t s = 0; s < f->supernode_count; s++) {
        sum += t->is_top[s] ? 0.0 : work_of(&f->supernodes[s]);
    }
    for (int32_t r = 0; r < t->range_count; r++) {
        double own = 0.0;
        for (int32_t s = t->range_start[2 * r]; s < t->range_start[2 * r + 1]; s++) {
            own += work_of(&f->supernodes[s]);
        }
        const int32_t home = (int32_t)((so_far + 0.5 * own) / sum * t->workers);
        for (int32_t s = t->range_start[2 * r]; s < t->range_start[2 * r + 1]; s++) {
            t->home[s] = home < t->workers ? home : t->workers - 1;
        }
        so_far += own;
    }
    for (int32_t k = 0; k < t->top_count; k++) {
        const int32_t s = t->top[k], last = t->pull_start[s + 1] - 1;
        t->home[s] = last >= t->pull_start[s] ? t->home[t->pulls[last].node] : 0;
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
    append(t, (task){.kind = TASK_SQUARE,
                     .home = t->home[s],
                     .node = s,
                     .stage = number,
                     .end = rows > 0 ? after : node->rows,
                     .first_column = first,
                     .column_end = end});
    for (int32_t k = 0; k < rows; k++) {
        const int32_t begin = after + step * k, last = begin + step < node->rows ? begin + step : node->rows;
        append(t, (task){.kind = TASK_ROWS,
                         .home = (t->home[s] + k) % t->workers,
                         .node = s,
                         .stage = number,
                         .begin = begin,
                         .end = last,
                         .first_column = first,
                         .column_end = end});
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

/// Where the pulls that begin with `begin` and come from the same home end.
static int32_t home_end(const block_tasks *t, int32_t begin, int32_t end) {
    int32_t k = begin;
    while (k < end && t->home[t->pulls[k].node] == t->home[t->pulls[begin].node]) {
        k++;
    }
    return k;
}

/// Tasks of columns of a supernode of the top that pulls [begin, end) make, after `step` others. Returns how many.
static int32_t list_updates(const block_factor *f, block_tasks *t, int32_t s, int32_t begin, int32_t end, int32_t step,
                            int32_t before) {
    const block_supernode *node = &f->supernodes[s];
    const double pulled = pulled_of(t, node);
    const int32_t parts = parts_of(pulled, TASK), most = PARTS * t->workers;
    const double share = pulled / (parts < most ? parts : most);
    double sum = 0.0;
    int32_t count = 0;
    for (int32_t place = node->first_block, first = place; place < node->block_end; place++) {
        sum += t->pulled[place];
        if (place + 1 == node->block_end || sum >= share * (count + 1)) {
            append(t, (task){.kind = TASK_UPDATE,
                             .home = begin < end ? t->home[t->pulls[begin].node] : t->home[s],
                             .node = s,
                             .begin = first,
                             .end = place + 1,
                             .pull_begin = begin,
                             .pull_end = end,
                             .columns = t->columns_count + count,
                             .step = step,
                             .before = before + count});
            count++;
            first = place + 1;
        }
    }
    return count;
}

/// Tasks of a supernode of the top.
static void list_node(const block_factor *f, block_tasks *t, int32_t s) {
    const block_supernode *node = &f->supernodes[s];
    progress *p = &t->nodes[s];
    int32_t begin = t->pull_start[s], step = 0, count = 0, before = -1;
    p->task_start = t->task_count;
    do {
        const int32_t end = home_end(t, begin, t->pull_start[s + 1]), own = t->task_count;
        count = list_updates(f, t, s, begin, end, step++, before);
        before = own;
        begin = end;
    } while (begin < t->pull_start[s + 1]);
    t->columns_count += count;
    p->updates = step * count;
    p->steps = step;
    p->stage_start = t->stage_count;
    for (int32_t c = 0; c < node->columns;) {
        const int32_t end = node->columns > STAGED && node->columns - c > STAGE + STAGE / 2 ? c + STAGE : node->columns;
        list_stage(f, t, s, c, end);
        c = end;
    }
    p->stage_end = t->stage_count;
    p->task_end = t->task_count;
}

/// How much of a supernode's own work is its panel.
static double panel_work(const block_supernode *node) {
    const double n = node->columns;
    return n * n * (0.5 * node->rows - n / 6.0);
}

static bool is_small(const block_tasks *t, const block_supernode *node) {
    return pulled_of(t, node) < TASK && panel_work(node) < DENSE_TASK;
}

/// Tasks of the top: small supernodes that have one home, with all below them, together as long as each is the parent
/// of the one before, or they are little.
static void list_top(const block_factor *f, block_tasks *t) {
    for (int32_t k = 0; k < t->top_count;) {
        const int32_t first = k, home = t->home[t->top[k]];
        double sum = 0.0;
        for (; k < t->top_count; k++) {
            const int32_t s = t->top[k], start = t->pull_start[s], end = t->pull_start[s + 1];
            const block_supernode *node = &f->supernodes[s];
            const bool parent = k > first && f->supernodes[t->top[k - 1]].parent == s;
            sum += pulled_of(t, node) + panel_work(node);
            if (!is_small(t, node) || t->home[s] != home || home_end(t, start, end) < end ||
                (k > first && !parent && sum > TASK)) {
                break;
            }
        }
        if (k > first) {
            for (int32_t i = first; i < k; i++) {
                t->nodes[t->top[i]].task_start = t->task_count;
                t->nodes[t->top[i]].task_end = t->task_count + 1;
            }
            append(t, (task){.kind = TASK_CHAIN, .home = home, .begin = first, .end = k});
        } else {
            list_node(f, t, t->top[k++]);
        }
    }
}

static void list_tasks(const block_factor *f, block_tasks *t) {
    t->task_count = t->stage_count = t->columns_count = 0;
    for (int32_t r = 0; r < t->range_count; r++) {
        append(t, (task){.kind = TASK_RANGE,
                         .home = t->home[t->range_start[2 * r]],
                         .begin = t->range_start[2 * r],
                         .end = t->range_start[2 * r + 1]});
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
    t->home = STN_ARENA_ZEROED(arena, nodes + 1, int32_t);
    t->taken_back = STN_ARENA(arena, t->range_count + 1, atomic_bool);
    t->range_left = STN_ARENA(arena, t->range_count + 1, atomic_int);
    if (t->home == NULL || t->taken_back == NULL || t->range_left == NULL) {
        return false;
    }
    give_homes(f, t);
    t->work_size = (size_t)ld + KERNEL_ROWS; // no two workers write into one cache line
    list_tasks(f, t);                        // counts
    t->tasks = STN_ARENA(arena, t->task_count + 1, task);
    t->stages = STN_ARENA_ZEROED(arena, t->stage_count + 1, stage);
    t->taken = STN_ARENA(arena, t->task_count + 1, atomic_bool);
    t->columns_left = STN_ARENA(arena, t->columns_count + 1, atomic_int);
    t->work = STN_ARENA_ZEROED(arena, (size_t)t->workers * t->work_size, double);
    t->below = STN_ARENA_ZEROED(arena, below, double);
    if (t->tasks == NULL || t->stages == NULL || t->taken == NULL || t->columns_left == NULL || t->work == NULL ||
        t->below == NULL) {
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

/// Waits until no more than `most` are left.
static void await_most(const block_factor *f, atomic_int *left, int32_t most) {
    stn_wait wait = {0};
    bool more = true;
    while (atomic_load_explicit(left, memory_order_acquire) > most) {
        more = more && stn_wait_more(&wait);
        if (!more) {
            sched_yield();
        }
    }
    if (!more) {
        stn_threads_waited_long(f->threads, stn_wait_time(&wait));
    }
}

static void await(const block_factor *f, atomic_int *left) {
    await_most(f, left, 0);
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

/// Block columns of supernode `node` of the top, minus what pulls [begin, end) subtract, as soon as it is there.
static void subtract_pulls(const block_factor *f, const block_supernode *node, int32_t begin_block, int32_t end_block,
                           int32_t begin_pull, int32_t end_pull) {
    block_tasks *t = f->tasks;
    const int32_t first = f->start[begin_block] - node->first_column, last = f->start[end_block] - node->first_column;
    for (int32_t k = begin_pull; k < end_pull; k++) {
        const pull *source = &t->pulls[k];
        const block_group *g = &f->groups[source->group];
        await(f, source->range >= 0 ? &t->range_left[source->range] : &t->nodes[source->node].factor_left);
        const int32_t row = g->first - g->target_column; // minus that of the first column
        const int32_t begin = row + first > g->first ? row + first : g->first;
        const int32_t end = row + last < g->last ? row + last : g->last;
        block_subtract(f, &f->supernodes[source->node], g, begin, end);
    }
}

/// The matrix in block columns of a supernode.
static void begin_columns(const block_factor *f, const block_supernode *node, int32_t begin, int32_t end) {
    const int32_t first = f->start[begin] - node->first_column, last = f->start[end] - node->first_column;
    write_columns(f, begin, end, f->values + node->panel + (int64_t)first * node->ld,
                  (size_t)(last - first) * (size_t)node->ld);
}

static void run_range(block_factor *f, const task *todo) {
    const block_supernode *first = &f->supernodes[todo->begin], *last = &f->supernodes[todo->end - 1];
    const int64_t end = last->panel + (int64_t)last->ld * last->columns;
    write_columns(f, first->first_block, last->block_end, f->values + first->panel, (size_t)(end - first->panel));
    for (int32_t s = todo->begin; s < todo->end; s++) {
        if (block_eliminate(f, &f->supernodes[s], todo->end) >= 0) {
            atomic_store(&f->tasks->failed, true);
            break;
        }
    }
    atomic_store(&f->tasks->range_left[todo - f->tasks->tasks], 0);
}

static void run_chain(block_factor *f, const task *todo) {
    block_tasks *t = f->tasks;
    for (int32_t k = todo->begin; k < todo->end; k++) {
        const block_supernode *node = &f->supernodes[t->top[k]];
        begin_columns(f, node, node->first_block, node->block_end);
        subtract_pulls(f, node, node->first_block, node->block_end, t->pull_start[t->top[k]],
                       t->pull_start[t->top[k] + 1]);
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

static void run_task(block_factor *f, const task *todo) {
    block_tasks *t = f->tasks;
    if (todo->kind == TASK_RANGE) {
        run_range(f, todo);
        return;
    }
    if (todo->kind == TASK_CHAIN) {
        run_chain(f, todo);
        return;
    }
    const block_supernode *node = &f->supernodes[todo->node];
    double *panel = f->values + node->panel, *scale = f->scale + node->first_column;
    progress *p = &t->nodes[todo->node];
    if (todo->kind == TASK_UPDATE) {
        if (todo->step == 0) {
            begin_columns(f, node, todo->begin, todo->end);
        } else {
            await_most(f, &t->columns_left[todo->columns], p->steps - todo->step);
        }
        subtract_pulls(f, node, todo->begin, todo->end, todo->pull_begin, todo->pull_end);
        atomic_fetch_sub(&t->columns_left[todo->columns], 1);
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
            if ((turn == 1 || t->tasks[r].home == crew) && !atomic_load(&taken[r]) &&
                !atomic_exchange(&taken[r], true)) {
                what(f, &t->tasks[r], work);
            }
        }
    }
}

static void begin(block_tasks *t) {
    for (int32_t k = 0; k < t->task_count; k++) {
        atomic_store_explicit(&t->taken[k], false, memory_order_relaxed);
        if (t->tasks[k].kind == TASK_UPDATE) {
            atomic_store_explicit(&t->columns_left[t->tasks[k].columns], t->nodes[t->tasks[k].node].steps,
                                  memory_order_relaxed);
        }
    }
    for (int32_t r = 0; r < t->range_count; r++) {
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

static bool all_taken(const block_tasks *t, int32_t begin, int32_t end) {
    for (int32_t k = begin; k < end; k++) {
        if (!atomic_load_explicit(&t->taken[k], memory_order_relaxed)) {
            return false;
        }
    }
    return true;
}

/// Has everything that a task needs been taken? Then it can wait for that. What a worker's own tasks need of its own
/// ranges and chains it has taken before.
static bool may_begin(const block_tasks *t, int32_t k) {
    const task *todo = &t->tasks[k];
    bool may = true;
    if (todo->kind == TASK_UPDATE) {
        may = todo->step == 0 || all_taken(t, todo->before, todo->before + 1);
        for (int32_t i = todo->pull_begin; i < todo->pull_end && may; i++) {
            const progress *source = &t->nodes[t->pulls[i].node];
            may = t->pulls[i].range >= 0 || all_taken(t, source->task_start, source->task_end);
        }
    } else if (todo->kind == TASK_SQUARE || todo->kind == TASK_ROWS) {
        may = all_taken(t, t->nodes[todo->node].task_start, k);
    }
    return may;
}

/// Takes a task unless somebody has it.
static bool take(block_factor *f, int32_t k) {
    block_tasks *t = f->tasks;
    if (atomic_load_explicit(&t->taken[k], memory_order_relaxed) || atomic_exchange(&t->taken[k], true)) {
        return false;
    }
    run_task(f, &t->tasks[k]);
    return true;
}

/// Own tasks, then those of others. The first task that nobody has needs nothing that nobody has.
static void factor_crew(void *user, int32_t index, int32_t worker) {
    (void)worker;
    enum { TURNS = 100 };
    int32_t patience = TURNS; // until somebody is late
    block_factor *f = user;
    block_tasks *t = f->tasks;
    int32_t first = 0; // all before it are taken
    for (int32_t k = 0; k < t->task_count; k++) {
        if (t->tasks[k].home != index) {
            continue;
        }
        stn_wait wait = {0};
        while (!may_begin(t, k)) {
            if (wait.turns < patience) {
                stn_wait_more(&wait);
                continue;
            }
            patience = 0;
            while (first < k && !take(f, first)) {
                first++;
            }
        }
        take(f, k);
    }
    for (int32_t k = 0; k < t->task_count; k++) {
        take(f, k);
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
    double *work = t->work + (size_t)worker * t->work_size;
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
