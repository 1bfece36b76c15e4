// SPDX-License-Identifier: Apache-2.0
// For cmocka_run_group_tests: *state is a context with default options.
#ifndef STN_TEST_CONTEXT_H
#define STN_TEST_CONTEXT_H

#include <stiction/context.h>

static inline int make_context(void **state) {
    stn_error err;
    return stn_context_create(NULL, (stn_context **)state, &err) == STN_OK ? 0 : -1;
}

static inline int drop_context(void **state) {
    stn_context_destroy(*state);
    return 0;
}

#endif
