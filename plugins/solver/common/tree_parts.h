// SPDX-License-Identifier: Apache-2.0
// An elimination tree cut in parts for several threads. What a place needs of others lies below it in the tree, so that
// parts of one level need nothing of each other:
//
//     level 0   whole subtrees, side by side
//     level k   the places above, chain by chain: a chain goes up as long as no other one joins it
//
// What comes to a place of level 0 from below comes from its own part; to others it may come from any part. The order
// of elimination is that of the parts, which does not depend on the number of threads; so every sum has an order of its
// own.
#ifndef SOLVER_COMMON_TREE_PARTS_H
#define SOLVER_COMMON_TREE_PARTS_H

#include <stiction/plugin.h>

typedef struct tree_parts {
    int32_t count, level_count;
    int32_t *level_start; // (level_count + 1) parts, upwards
    int32_t *start;       // (count + 1) ...
    int32_t *place;       // ... of the places of every part, ascending
    int32_t *part;        // (n) of every place
} tree_parts;

/// parent, work (n): of every place the place above it, -1: none, and what it costs. One thread has one part, of all
/// places in the order that they have for several. All in `arena`. False: out of memory.
bool tree_parts_cut(int32_t n, const int32_t *parent, const double *work, const stn_threads *threads, stn_arena *arena,
                    tree_parts *out);

/// Calls run(user, part, worker) for all parts, those of lower levels first. Before those of a level above the lowest
/// it calls gather(user, place, worker) for all their places, when all lower levels are done.
void tree_parts_up(const tree_parts *parts, stn_threads *threads,
                   void (*gather)(void *user, int32_t place, int32_t worker),
                   void (*run)(void *user, int32_t part, int32_t worker), void *user);
/// Calls run for all parts, those of higher levels first.
void tree_parts_down(const tree_parts *parts, stn_threads *threads,
                     void (*run)(void *user, int32_t part, int32_t worker), void *user);

/// Is the part a whole number of subtrees?
static inline bool tree_part_is_lowest(const tree_parts *parts, int32_t part) {
    return part < parts->level_start[1];
}

/// The first part of the level of a part.
static inline int32_t tree_part_level_begin(const tree_parts *parts, int32_t part) {
    int32_t level = 0;
    while (parts->level_start[level + 1] <= part) {
        level++;
    }
    return parts->level_start[level];
}

#endif
