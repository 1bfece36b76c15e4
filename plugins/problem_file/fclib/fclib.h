// SPDX-License-Identifier: Apache-2.0
// Problems in the layout of FCLIB (Acary et al., An open question: how to solve efficiently 3D frictional contact
// problem, inria-00599616, and the library's own header): HDF5 with a group fclib_local or fclib_global,
//     local    u = W r + V l + q,   0 = V^T r + R l + s
//     global   M v = H r + G l + f,   u = H^T v + w,   0 = G^T v + b
// A contact has the rows normal, tangent 1, tangent 2 there, and tangent 1, tangent 2, normal here.
#ifndef STICTION_PLUGINS_PROBLEM_FILE_FCLIB_H
#define STICTION_PLUGINS_PROBLEM_FILE_FCLIB_H

#include <stiction/problem_file.h>

#include "array_file.h"

/// Most numbers of one dense matrix that is made of a file: 8192 rows.
#define FCLIB_MAX_NUMBERS ((int64_t)1 << 26)

/// A sparse matrix of a file, as entries in any order; equal places add up.
typedef struct fclib_matrix {
    int32_t m, n; // rows, columns
    int64_t count;
    int32_t *row, *column; // (count)
    double *x;             // (count)
} fclib_matrix;

/// Keeps the first failure; after it every get returns an empty value.
typedef struct fclib_reader {
    stn_context *context;
    stn_arena *arena; // of the problem
    const char *path;
    const char *group; // "fclib_local"
    const array_file *file;
    stn_status status;
    stn_error *err;
} fclib_reader;

/// "path: group/name: ..." unless an earlier failure is there already.
void fclib_fail(fclib_reader *r, const char *name, const char *format, ...) STN_PRINTF(3, 4);
void *fclib_allocate(fclib_reader *r, int64_t count, size_t size); ///< zeroed, in the arena; NULL and a failure without
/// `count` finite numbers of vectors/name; `why` says where the count comes from.
double *fclib_vector(fclib_reader *r, const char *name, int64_t count, const char *why);
/// A whole number, within [low, high].
int32_t fclib_integer(fclib_reader *r, const char *name, int64_t low, int64_t high);
/// Checked entries; false when the file has no such matrix, a failure unless `optional`.
bool fclib_read_matrix(fclib_reader *r, const char *name, bool optional, fclib_matrix *out);
/// Largest |A_ij - A_ji| by the largest |A_ij| of a square matrix; 0 of an empty one.
double fclib_asymmetry(fclib_reader *r, const fclib_matrix *A);
/// Literature problems have operators that are not quite semidefinite: told, and kept as they are (general_W).
void fclib_judge_definite(fclib_reader *r, const char *name, stn_problem *p);
/// Where row f of a file stands here.
static inline int32_t fclib_row(int32_t f) {
    return f % 3 == 0 ? f + 2 : f - 1;
}

/// fclib_global.c: fills the problem from M, H, f, w and perhaps G, b; `p` has its constraints and rows.
void fclib_read_global(fclib_reader *r, stn_problem *p);
/// Reads an HDF5 file. Warnings go to the log: what is not symmetric.
stn_status fclib_read(const stn_problem_source *source, stn_problem *problem, stn_error *err);
/// The same of arrays that are unpacked already.
stn_status fclib_read_arrays(stn_context *context, stn_arena *arena, const char *path, const array_file *file,
                             stn_problem *problem, stn_error *err);

/// Writes a problem, or a solution; STN_ERR_UNSUPPORTED names what would be lost.
stn_status fclib_write(const stn_problem_sink *sink, const stn_problem *problem, stn_error *err);
stn_status fclib_write_solution(const stn_problem_sink *sink, const stn_problem_result *result, stn_error *err);

#endif
