// SPDX-License-Identifier: Apache-2.0
// Which elements of two solids are near each other. Trees tell; what they told for one place of the two is remembered
// with a slack, and asked instead of the trees while they have moved by less. Only pairs of elements whose boxes meet
// now are ever handed out, in the order of the trees: what is remembered saves time and changes nothing else.
#ifndef HYDROELASTIC_NEAR_H
#define HYDROELASTIC_NEAR_H

#include "solid.h"

/// What is remembered of the pairs of a world: as much as was allocated for it, the pairs that were used last.
typedef struct near_memory near_memory;

/// For solids of so many elements together. STN_ERR_MEMORY alone. [setup]
stn_status near_memory_create(stn_context *context, int64_t element_count, near_memory **out, stn_error *err);
void near_memory_destroy(near_memory *memory); // accepts NULL

/// What is asked: elements of M and N up to a level each, N at X_MN.
typedef struct near_question {
    uint64_t pair; // of the two geometries, in their order
    const solid *m, *n;
    tree_part part_m, part_n;
    stn_pose mn;
} near_question;

struct near_slot;
struct near_row;

/// One search; begun, asked for the elements of N in turn, ended.
typedef struct near_search {
    const near_question *question;
    stn_arena *arena;
    near_memory *memory;
    struct near_slot *slot; // of the pair; NULL: trees alone
    bool reuses, notes;     // asks the slot; fills it, for which every element of N is asked for
    double slack;           // with which elements of N were found [m]
    stn_aabb whole_m;       // all of M, seen from N
    int32_t *found_n;       // elements that may be near M, unless they come from the slot
    int32_t count;          // of elements of N to ask for
    struct near_row *rows;  // noted so far, one an element of N
    tree_four *fours;
    int32_t four_count, four_capacity;
} near_search;

/// Given are question, arena, memory, which may be NULL, and in `found_n` room for all elements of N; the rest is zero.
void near_begin(near_search *s);
/// The k-th element of N, -1: there is nothing near it and nothing to note.
int32_t near_element(const near_search *s, int32_t k);
/// The elements of M near it. `at` is the box of the k-th element up to its level, seen from M, with its plane if it
/// has one. `found`: room for all elements of M and one more.
int32_t near_elements_of_m(near_search *s, int32_t k, const tree_probe *at, int32_t *found);
/// After all elements of N, or without notes earlier.
void near_end(near_search *s);

#endif
