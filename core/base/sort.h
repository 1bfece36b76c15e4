// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_SORT_H
#define STICTION_CORE_BASE_SORT_H

#include <stdint.h>

/// Ascending, in place and without memory of its own, which qsort may allocate.
void sort_keys(uint64_t *keys, int32_t count);

/// For qsort: keys, ascending.
static inline int compare_keys(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

#endif
