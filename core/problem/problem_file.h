// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_PROBLEM_PROBLEM_FILE_H
#define STICTION_CORE_PROBLEM_PROBLEM_FILE_H

#include <stiction/problem_file.h>

/// Receives the next bytes; `sink->user` is what the caller gave.
typedef void problem_file_take(const stn_problem_sink *sink, const void *bytes, size_t size);

/// A problem, which is not checked, as a JSON object in STN_PROBLEM_FORMAT, to become part of another file.
/// STN_ERR_UNSUPPORTED: no plugin writes it, nothing was put.
stn_status problem_file_put(stn_context *context, const stn_problem *problem, problem_file_take *take, void *user,
                            stn_error *err);

#endif
