// SPDX-License-Identifier: Apache-2.0
// Heap sort.
#include "base/sort.h"

/// Moves keys[at] down until both children, 2 at + 1 and 2 at + 2, are smaller.
static void sink(uint64_t *keys, int64_t at, int64_t count) {
    uint64_t key = keys[at];
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && keys[child + 1] > keys[child];
        if (keys[child] <= key) {
            break;
        }
        keys[at] = keys[child];
        at = child;
    }
    keys[at] = key;
}

void sort_keys(uint64_t *keys, int32_t count) {
    for (int32_t i = count / 2 - 1; i >= 0; i--) {
        sink(keys, i, count);
    }
    for (int32_t last = count - 1; last > 0; last--) {
        uint64_t largest = keys[0];
        keys[0] = keys[last];
        keys[last] = largest;
        sink(keys, 0, last);
    }
}
