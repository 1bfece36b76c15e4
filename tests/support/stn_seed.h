// SPDX-License-Identifier: Apache-2.0
// Seeds of fuzz targets, written by the tests that make such bytes anyway: ./dev fuzz --seeds.
#ifndef STN_SEED_H
#define STN_SEED_H

#include <stdio.h>
#include <stdlib.h>

#include "stn_test.h"

/// Writes corpus/NAME from two pieces, when the environment variable STICTION_FUZZ_SEEDS names the folder corpus.
static inline void seed_write(const char *name, const void *first, size_t first_size, const void *second,
                              size_t second_size) {
    const char *folder = getenv("STICTION_FUZZ_SEEDS");
    if (folder == NULL) {
        return;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(first, 1, first_size, file), first_size);
    assert_int_equal(second_size > 0 ? fwrite(second, 1, second_size, file) : 0, second_size);
    assert_int_equal(fclose(file), 0);
}

#endif
