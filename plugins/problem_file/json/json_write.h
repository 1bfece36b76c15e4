// SPDX-License-Identifier: Apache-2.0
// Writing JSON piece by piece.
#ifndef STICTION_PLUGINS_PROBLEM_FILE_JSON_WRITE_H
#define STICTION_PLUGINS_PROBLEM_FILE_JSON_WRITE_H

#include <stiction/problem_file.h>

typedef struct json_writer {
    const stn_problem_sink *sink;
    const char *indent; // of keys
    bool first;         // no key yet in the present object
} json_writer;

void json_put(json_writer *w, const char *text);      // as it is
void json_put_text(json_writer *w, const char *text); // quoted and escaped; null for NULL
void json_put_real(json_writer *w, double value);
void json_put_integer(json_writer *w, int64_t value);
void json_put_reals(json_writer *w, const double *values, size_t count); // null for NULL
/// The next key of an object, on a line of its own, with the comma that belongs before it.
void json_put_key(json_writer *w, const char *key);
void json_put_named_reals(json_writer *w, const char *key, const double *values, size_t count);

/// The whole object, with a line's end.
void json_put_problem_2(json_writer *w, const stn_problem *p);

/// STN_ERR_UNSUPPORTED naming the first thing that "contact-problem-1" cannot hold.
stn_status json_check_problem_1(const stn_problem *p, stn_error *err);
/// False when out of memory; then the text must not be kept.
bool json_put_problem_1(json_writer *w, const stn_problem *p);

#endif
