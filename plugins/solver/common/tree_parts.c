// SPDX-License-Identifier: Apache-2.0
// See tree_parts.h.
#include "common/tree_parts.h"

#include <string.h>

// Of the work: a subtree that is a part has no more. Heaps of 1,000 bodies have 12 such parts and 4 levels above, of
// which the last one, the separator of all, has 8 % of the work.
#define SHARE 0.1

/// A part while the tree is being cut.
typedef struct piece {
    int32_t level, size;
    double work;
} piece;

typedef struct cutting {
    int32_t n;
    const int32_t *parent;
    double *subtree; // work of every subtree
    int32_t *part;   // of every place, -1: not yet
    int32_t *inner;  // children of every place that are above level 0
    piece *pieces;
    int32_t count;
} cutting;

static int32_t add_piece(cutting *c, int32_t level) {
    c->pieces[c->count] = (piece){.level = level};
    return c->count++;
}

/// Above level 0: those whose subtree is more than a part.
static void cut_chains(cutting *c, double limit) {
    for (int32_t k = 0; k < c->n; k++) {
        if (c->subtree[k] > limit && c->parent[k] >= 0) {
            c->inner[c->parent[k]]++;
        }
    }
    for (int32_t k = 0; k < c->n; k++) { // children come first, and tell their parent which chain it is of
        if (c->subtree[k] <= limit) {
            continue;
        }
        c->part[k] = c->inner[k] == 1 ? c->part[k] : add_piece(c, 1);
        const int32_t above = c->parent[k];
        if (above >= 0) {
            c->part[above] = c->part[k];
        }
    }
    for (int32_t k = 0; k < c->n; k++) { // a chain is above all that join it
        const int32_t above = c->parent[k];
        if (c->subtree[k] > limit && above >= 0 && c->part[above] != c->part[k]) {
            piece *upper = &c->pieces[c->part[above]];
            const int32_t level = c->pieces[c->part[k]].level + 1;
            upper->level = level > upper->level ? level : upper->level;
        }
    }
}

/// Level 0: subtrees beside each other, together up to `limit`.
static void cut_subtrees(cutting *c, double limit) {
    int32_t open = -1;
    for (int32_t k = 0; k < c->n; k++) {
        const int32_t above = c->parent[k];
        if (c->subtree[k] > limit || (above >= 0 && c->subtree[above] <= limit)) {
            continue;
        }
        if (open < 0 || c->pieces[open].work + c->subtree[k] > limit) {
            open = add_piece(c, 0);
        }
        c->pieces[open].work += c->subtree[k];
        c->part[k] = open;
    }
    for (int32_t k = c->n - 1; k >= 0; k--) {
        const int32_t above = c->parent[k];
        if (c->subtree[k] <= limit && above >= 0 && c->subtree[above] <= limit) {
            c->part[k] = c->part[above];
        }
    }
}

/// Numbers parts by level and lists their places; number (count) is work space.
static void list_parts(const cutting *c, int32_t *number, tree_parts *out) {
    for (int32_t k = 0; k < c->n; k++) {
        c->pieces[c->part[k]].size++;
    }
    int32_t next = 0, end = 0;
    for (int32_t level = 0; next < c->count; level++) {
        out->level_start[level] = next;
        for (int32_t i = 0; i < c->count; i++) {
            if (c->pieces[i].level == level) {
                out->start[next] = end;
                number[i] = next++;
                end += c->pieces[i].size;
            }
        }
        out->level_count = level + 1;
    }
    out->level_start[out->level_count] = out->count = next;
    out->start[next] = end;
    for (int32_t i = 0; i < c->count; i++) {
        c->pieces[i].size = 0;
    }
    for (int32_t k = 0; k < c->n; k++) {
        const int32_t i = c->part[k];
        out->place[out->start[number[i]] + c->pieces[i].size++] = k;
        out->part[k] = number[i];
    }
}

bool tree_parts_cut(int32_t n, const int32_t *parent, const double *work, const stn_threads *threads, stn_arena *arena,
                    tree_parts *out) {
    const size_t room = (size_t)n + 2;
    int32_t *memory = STN_ARENA(arena, 6 * room, int32_t);
    cutting c = {.n = n,
                 .parent = parent,
                 .subtree = STN_ARENA(arena, room, double),
                 .part = memory,
                 .inner = STN_ARENA_ZEROED(arena, room, int32_t),
                 .pieces = STN_ARENA(arena, room, piece)};
    if (memory == NULL || c.subtree == NULL || c.inner == NULL || c.pieces == NULL) {
        return false;
    }
    *out = (tree_parts){.level_start = memory + 2 * room,
                        .start = memory + 3 * room,
                        .place = memory + 4 * room,
                        .part = memory + 5 * room};
    double total = 0.0;
    for (int32_t k = 0; k < n; k++) {
        c.subtree[k] = 0.0;
    }
    for (int32_t k = 0; k < n; k++) {
        c.subtree[k] += work[k];
        total += work[k];
        if (parent[k] >= 0) {
            c.subtree[parent[k]] += c.subtree[k];
        }
    }
    const double limit = SHARE * total;
    cut_chains(&c, limit);
    cut_subtrees(&c, limit);
    list_parts(&c, memory + room, out);
    if (stn_threads_count(threads) == 1) {
        out->count = out->level_count = out->level_start[1] = 1;
        out->start[1] = n;
        memset(out->part, 0, (size_t)n * sizeof *out->part);
    }
    return true;
}

/// A level at hand.
typedef struct level_run {
    int32_t first;
    void (*run)(void *user, int32_t part, int32_t worker);
    void *user;
} level_run;

static void run_part(void *user, int32_t index, int32_t worker) {
    const level_run *level = user;
    level->run(level->user, level->first + index, worker);
}

static void run_level(const tree_parts *parts, int32_t level, stn_threads *threads,
                      void (*run)(void *user, int32_t part, int32_t worker), void *user) {
    level_run job = {parts->level_start[level], run, user};
    stn_parallel_for(threads, parts->level_start[level + 1] - job.first, run_part, &job);
}

/// The places of a level at hand.
typedef struct level_gather {
    const int32_t *place;
    int32_t count;
    void (*gather)(void *user, int32_t place, int32_t worker);
    void *user;
} level_gather;

enum { TOGETHER = 4 }; // places

static void gather_some(void *user, int32_t index, int32_t worker) {
    const level_gather *level = user;
    const int32_t end = TOGETHER * (index + 1) < level->count ? TOGETHER * (index + 1) : level->count;
    for (int32_t i = TOGETHER * index; i < end; i++) {
        level->gather(level->user, level->place[i], worker);
    }
}

void tree_parts_up(const tree_parts *parts, stn_threads *threads,
                   void (*gather)(void *user, int32_t place, int32_t worker),
                   void (*run)(void *user, int32_t part, int32_t worker), void *user) {
    for (int32_t level = 0; level < parts->level_count; level++) {
        if (level > 0) {
            const int32_t first = parts->start[parts->level_start[level]];
            const int32_t count = parts->start[parts->level_start[level + 1]] - first;
            level_gather job = {parts->place + first, count, gather, user};
            stn_parallel_for(threads, (count + TOGETHER - 1) / TOGETHER, gather_some, &job);
        }
        run_level(parts, level, threads, run, user);
    }
}

void tree_parts_down(const tree_parts *parts, stn_threads *threads,
                     void (*run)(void *user, int32_t part, int32_t worker), void *user) {
    for (int32_t level = parts->level_count - 1; level >= 0; level--) {
        run_level(parts, level, threads, run, user);
    }
}
