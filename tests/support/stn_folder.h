// SPDX-License-Identifier: Apache-2.0
// For cmocka's set-up and teardown: every test runs in an empty folder of its own, the working folder, whose name
// *state is.
#ifndef STN_TEST_FOLDER_H
#define STN_TEST_FOLDER_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stn_test.h"

static inline int enter_folder(void **state) {
    char name[] = "/tmp/stiction_test_XXXXXX";
    if (mkdtemp(name) == NULL || chdir(name) != 0) {
        return -1;
    }
    *state = strdup(name);
    return *state == NULL;
}

static inline int leave_folder(void **state) {
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", (char *)*state);
    free(*state);
    return chdir("/") != 0 || system(line) != 0;
}

static inline void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

#endif
