// SPDX-License-Identifier: Apache-2.0
// Disjoint sets of numbers, joined one by one; each is named by its smallest member i, which has parent[i] == i.
//
// The array is the caller's. O(log n) a call on average: every way to a root is halved for the next time.
#ifndef STICTION_UNION_FIND_H
#define STICTION_UNION_FIND_H

#include <stiction/base.h>

STN_BEGIN_C

/// Everything a set of its own: parent (count). Thread: [any], as all of this file.
static inline void stn_union_begin(int32_t *parent, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        parent[i] = i;
    }
}

/// The name of the set that has i.
static inline int32_t stn_union_root(int32_t *parent, int32_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/// Makes one of the sets of a and b. True: they were two.
static inline bool stn_union_join(int32_t *parent, int32_t a, int32_t b) {
    a = stn_union_root(parent, a);
    b = stn_union_root(parent, b);
    parent[a > b ? a : b] = a < b ? a : b;
    return a != b;
}

STN_END_C
#endif
