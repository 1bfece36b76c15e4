// SPDX-License-Identifier: Apache-2.0
// Disjoint sets of indices, each named by its smallest member: parent[i] == i at the root.
#ifndef STICTION_CORE_PROBLEM_UNION_FIND_H
#define STICTION_CORE_PROBLEM_UNION_FIND_H

#include <stdbool.h>
#include <stdint.h>

static inline int32_t union_root(int32_t *parent, int32_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]]; // halves the path
        i = parent[i];
    }
    return i;
}

/// True: they were in two sets.
static inline bool union_join(int32_t *parent, int32_t a, int32_t b) {
    a = union_root(parent, a);
    b = union_root(parent, b);
    parent[a > b ? a : b] = a < b ? a : b;
    return a != b;
}

#endif
