// SPDX-License-Identifier: Apache-2.0
// What tests of the compiler share: a builder on a counting heap, and the log.
#ifndef COMPILE_FIXTURE_H
#define COMPILE_FIXTURE_H

#include "stn_test.h"

#include <string.h>

#include "stn_heap.h"
#include "stn_model_test.h"

typedef struct fixture {
    stn_heap heap;
    stn_context *context;
    stn_model_builder *builder;
    char log[4096];
} fixture;

static inline void keep_log(void *user, stn_log_level level, const char *text) {
    fixture *f = user;
    if (level >= STN_LOG_WARNING) {
        size_t used = strlen(f->log);
        snprintf(f->log + used, sizeof f->log - used, "%s\n", text);
    }
}

static inline int set_up(void **state) {
    static fixture f;
    memset(&f, 0, sizeof f);
    stn_context_options options = stn_heap_options(&f.heap);
    options.log = keep_log;
    options.log_user = &f;
    stn_error err;
    assert_ok(stn_context_create(&options, &f.context, &err), err);
    f.builder = new_builder(f.context);
    *state = &f;
    return 0;
}

static inline int tear_down(void **state) {
    fixture *f = *state;
    stn_builder_destroy(f->builder);
    stn_context_destroy(f->context);
    assert_int_equal(f->heap.live, 0);
    return 0;
}

static const stn_vec3 X = {1.0, 0.0, 0.0}, Z = {0.0, 0.0, 1.0};

static inline stn_mass one_kg(void) {
    return mass_of(1.0, stn_vec3_zero(), 0.1, 0.1, 0.1);
}

/// The call is refused, and its one line says all of these words.
static inline void expect_error(stn_status status, const stn_error *err, const char *const *words) {
    assert_int_equal(status, STN_ERR_ARGUMENT);
    for (; *words != NULL; words++) {
        if (strstr(err->text, *words) == NULL) {
            fail_msg("'%s' is not in: %s", *words, err->text);
        }
    }
}
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline void expect_log(const fixture *f, const char *word) {
    if (strstr(f->log, word) == NULL) {
        fail_msg("'%s' is not in the log: %s", word, f->log);
    }
}

#endif
