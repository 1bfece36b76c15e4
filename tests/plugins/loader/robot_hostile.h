// SPDX-License-Identifier: Apache-2.0
// Valid robot files made into broken ones, memory that runs out, and texts of any length: an error or a robot, never a
// crash, a leak or a hang.
#ifndef ROBOT_HOSTILE_H
#define ROBOT_HOSTILE_H

#include "robot_fixture.h"
#include "stn_random.h"

static inline void load_length(fixture *f, const char *bytes, size_t length) {
    load_bytes(f, f->file != NULL ? f->file : "robot.urdf", bytes, length);
}

/// A file that ends too early is one error, wherever it does; `most` bytes are kept at most.
static inline void expect_cuts_refused(fixture *f, const char *valid, size_t most) {
    for (size_t length = 0; length < most; length++) {
        load_length(f, valid, length);
        if (f->status != STN_ERR_PARSE) {
            fail_msg("the first %d bytes: %s", (int)length, f->err.text);
        }
        assert_int_equal(f->list.error_count, 1);
        assert_true(f->list.items[0].line >= 1);
    }
}

/// A few random edits: another byte, bytes taken away, a piece put elsewhere.
static inline size_t mutate(stn_random *r, char *text, size_t length) {
    static const char interesting[] = "<>/\"'=&;:-!?[]{}$#0123456789.eEnaif \n\t\\%\x01\x7f\x80\xc3\xff";
    for (int32_t edits = 1 + random_below(r, 2); edits > 0 && length > 0; edits--) {
        size_t at = (size_t)random_below(r, (int32_t)length);
        size_t span = (size_t)random_below(r, 12);
        span = at + span > length ? length - at : span;
        size_t to = (size_t)random_below(r, (int32_t)(length - span) + 1);
        switch (random_below(r, 4)) {
        case 0:
            text[at] = interesting[random_below(r, (int32_t)sizeof interesting)]; // the zero at the end included
            break;
        case 1:
            memmove(text + at, text + at + span, length - at - span);
            length -= span;
            break;
        case 2:
            memmove(text + to, text + at, span);
            break;
        default:
            text[at] = (char)(text[at] ^ (1 << random_below(r, 8)));
            break;
        }
    }
    return length;
}

/// Edited files load or say why not.
static inline void expect_mutants_judged(fixture *f, const char *valid, int32_t count) {
    stn_random r = {20240607};
    int32_t loaded = 0, refused = 0;
    size_t size = strlen(valid) + 1;
    char *text = malloc(size);
    assert_non_null(text);
    for (int32_t i = 0; i < count; i++) {
        memcpy(text, valid, size);
        size_t length = mutate(&r, text, size - 1);
        load_length(f, text, length);
        if (f->status == STN_OK) {
            loaded++;
        } else {
            refused++;
            if (f->err.text[0] == '\0' || (f->list.error_count == 0 && f->status == STN_ERR_PARSE)) {
                fail_msg("case %d: status %d without a reason", (int)i, (int)f->status);
            }
            assert_true(f->list.error_count > 0); // what the loader lets through compiles
        }
    }
    free(text);
    print_message("%d of %d loaded, %d refused\n", (int)loaded, (int)count, (int)refused);
    assert_true(loaded > count / 20 && refused > count / 20);
}

/// The file is loaded again with the n-th request for memory failing, for n = 1, 2, ... until none does.
static inline void expect_no_leaks_without_memory(fixture *f, const char *valid) {
    load_text(f, valid); // plugins are found now
    assert_int_equal(f->status, STN_OK);
    stn_model_destroy(f->model);
    f->model = NULL;
    stn_diagnostics_clear(&f->list);
    long long live = f->heap.live;
    int32_t failures = 0;
    for (long long n = 1;; n++) {
        stn_heap_arm(&f->heap, n);
        load_text(f, valid);
        bool reached = f->heap.requests >= n;
        stn_heap_arm(&f->heap, 0);
        stn_status status = f->status;
        stn_model_destroy(f->model);
        f->model = NULL;
        stn_diagnostics_clear(&f->list);
        assert_int_equal(f->heap.live, live);
        if (!reached) {
            assert_int_equal(status, STN_OK);
            break;
        }
        if (status != STN_OK) { // a finding whose text found no room is not fatal
            assert_int_equal(status, STN_ERR_MEMORY);
            failures++;
        }
    }
    print_message("%d allocations failed\n", (int)failures);
    assert_true(failures > 5);
}

typedef struct text {
    char *bytes;
    size_t length, capacity;
} text;

static inline void append(text *t, const char *format, ...) STN_PRINTF(2, 3);
static inline void append(text *t, const char *format, ...) {
    if (t->capacity < t->length + 1000) {
        t->capacity = 2 * t->capacity + 1000;
        t->bytes = realloc(t->bytes, t->capacity);
        assert_non_null(t->bytes);
    }
    va_list arguments;
    va_start(arguments, format);
    t->length += (size_t)vsnprintf(t->bytes + t->length, 1000, format, arguments);
    va_end(arguments);
}

static inline void load_and_free(fixture *f, text *t) {
    load_length(f, t->bytes, t->length);
    free(t->bytes);
    *t = (text){0};
}

#endif
