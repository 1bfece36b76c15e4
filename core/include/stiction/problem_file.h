// SPDX-License-Identifier: Apache-2.0
// Formats of contact problem files: a plugin of kind "problem_file" reads and writes contact problems. Which plugin,
// the checks of what was read, and files that appear whole or not at all are the core's: stn_problem_load in problem.h.
#ifndef STICTION_PROBLEM_FILE_H
#define STICTION_PROBLEM_FILE_H

#include <stiction/problem.h>

STN_BEGIN_C

/// A file that is to be read; all borrowed for the call.
typedef struct stn_problem_source {
    stn_context *context; // for scratch memory and warnings (stn_log)
    stn_arena *arena;     // of the problem: what `out` points at is allocated here
    const char *path;     // as the user gave it, for messages
    const char *bytes;    // (size) of any content; a zero byte follows
    size_t size;          // at most 2 GiB
} stn_problem_source;

/// Where what is written goes. Failures of the file are kept by the core.
typedef struct stn_problem_sink {
    stn_context *context; // for scratch memory
    const char *path;     // of the file, for messages; NULL where the text becomes part of another file
    const char *format;   // one of the plugin's `formats`
    /// Takes the next bytes.
    void (*put)(const struct stn_problem_sink *sink, const void *bytes, size_t size);
    void *user; // for `put`
} stn_problem_sink;

/// A solution to be written; all borrowed for the call.
typedef struct stn_problem_result {
    const stn_problem *problem; // that was solved
    const double *v;            // (nv); NULL of a local problem
    const double *gamma;        // (row_count) impulses
    const double *v_c;          // (row_count) contact velocities: J v + bias, or W gamma + q
} stn_problem_result;

/// What a format does; plugin kind "problem_file".
typedef struct stn_problem_file_ops {
    uint32_t size; // sizeof of the struct as the plugin was compiled
    /// Lower case, without the dot, NULL-terminated: "json". REQUIRED.
    const char *const *extensions;
    /// REQUIRED. Could these bytes, a whole file, be of this format? [any]
    bool (*recognises)(const char *bytes, size_t size);
    /// REQUIRED. Reads a file of any content; `out` is zeroed. STN_ERR_PARSE "path: what is wrong" for a bad file.
    /// Every member of `out` is set; w and w_trace may be NaN, the core computes them. The core then checks all of
    /// stn_problem_check. [setup]
    stn_status (*read)(void *self, const stn_problem_source *source, stn_problem *out, stn_error *err);
    /// REQUIRED with write or write_solution. Names of what is written, NULL-terminated; the first is what a file whose
    /// name ends in one of `extensions` gets: "contact-problem-2".
    const char *const *formats;
    /// OPTIONAL. Writes a problem that stn_problem_check accepts. STN_ERR_UNSUPPORTED names what the format cannot
    /// hold, before anything is put. [setup]
    stn_status (*write)(void *self, const stn_problem_sink *sink, const stn_problem *problem, stn_error *err);
    /// OPTIONAL. Writes impulses and contact velocities of a solution. STN_ERR_UNSUPPORTED as above. [setup]
    stn_status (*write_solution)(void *self, const stn_problem_sink *sink, const stn_problem_result *result,
                                 stn_error *err);
    /// OPTIONAL. A small file of a format that is not written, for `stiction validate`: (example_size) bytes.
    const char *example;
    size_t example_size; // [bytes] of it
} stn_problem_file_ops;

STN_END_C
#endif
