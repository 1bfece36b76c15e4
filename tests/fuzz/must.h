// SPDX-License-Identifier: Apache-2.0
// What holds for every input: where it does not, it is said, and the fuzzer keeps the input.
#ifndef STN_FUZZ_MUST_H
#define STN_FUZZ_MUST_H

#include <stdio.h>
#include <stdlib.h>

#define must(condition)                                                           \
    do {                                                                          \
        if (!(condition)) {                                                       \
            fprintf(stderr, "%s:%d: must: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                              \
        }                                                                         \
    } while (0)

/// Says what an input came to, "accepted" or a part of its format; counts where seeds are tested (seeds.c).
#ifdef STN_FUZZ_SEEDS
void reached(const char *part);
#else
static inline void reached(const char *part) {
    (void)part;
}
#endif

#endif
