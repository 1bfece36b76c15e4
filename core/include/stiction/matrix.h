// SPDX-License-Identifier: Apache-2.0
// The symmetric matrix of one tree: M, A, K, D. The block unit of all sparse structure.
#ifndef STICTION_MATRIX_H
#define STICTION_MATRIX_H

#include <stiction/context.h>

STN_BEGIN_C

/// How a matrix is stored, from the least room to the most.
typedef enum stn_matrix_form {
    STN_MATRIX_ZERO,        // no values
    STN_MATRIX_DIAGONAL,    // n values
    STN_MATRIX_DENSE,       // n x n values, row-major, both triangles
    STN_MATRIX_NODAL,       // node_size x node_size blocks on a fixed pattern over nodes, both triangles
    STN_MATRIX_ARTICULATED, // of a large articulated tree: 50 n values, by the inertias of its bodies
} stn_matrix_form;

/// Velocities of one node of a nodal matrix, at most.
#define STN_MAX_NODE_SIZE 12

/// Symmetric n x n matrix of one tree. The struct is a view: who fills it owns the arrays and says how long they live.
/// Nodal: n = m node_count with m = node_size (1 to STN_MAX_NODE_SIZE, required); block r of row i is values + m^2
/// (row_start[i] + r), row-major, its column node column[row_start[i] + r]; columns ascend within a row; the diagonal
/// block is always in the pattern.
/// Articulated: the matrix of stn_articulated (factor.h). values hold the inertias (n x 6 x 8), what is added to the
/// diagonal (n), and the whole diagonal (n), which follows from both. Products with it use the room of `bodies`, so
/// that two threads must not make them at the same time. stn_matrix_expand makes it dense.
typedef struct stn_matrix {
    int32_t n;                            // rows
    stn_matrix_form form;                 // says what values holds
    double *values;                       // (stn_matrix_value_count)
    int32_t node_count;                   // nodal only
    int32_t node_size;                    // nodal only: rows of one node
    const int32_t *row_start;             // nodal only (node_count + 1)
    const int32_t *column;                // nodal only (row_start[node_count])
    const struct stn_articulated *bodies; // articulated only: n, parents, motion, and room; not a factor
} stn_matrix;

/// Number of block (row, column) in a nodal pattern, whose columns ascend in every row; -1: it is not in it. Thread:
/// [any].
static inline int32_t stn_nodal_entry(const int32_t *row_start, const int32_t *column, int32_t row, int32_t wanted) {
    int32_t low = row_start[row], high = row_start[row + 1];
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (column[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < row_start[row + 1] && column[low] == wanted ? low : -1;
}

/// How many doubles `values` holds.
STN_API int64_t stn_matrix_value_count(const stn_matrix *a);
/// y += s A x, lengths n. Thread: [any]; one at a time where A is articulated.
STN_API void stn_matrix_mul_add(const stn_matrix *a, double s, const double *x, double *y);
/// The diagonal, n values.
STN_API void stn_matrix_diagonal(const stn_matrix *a, double *diagonal);
/// out (n x n, row-major, both triangles) = A, of any form but nodal. Thread: as stn_matrix_mul_add.
STN_API void stn_matrix_expand(const stn_matrix *a, double *out);
/// a += s b. The form of `a` must be able to hold b (dense holds zero, diagonal and dense; nodal holds zero, diagonal
/// and a nodal matrix whose pattern is contained in its own; articulated holds zero, diagonal and one of the same
/// `bodies`); otherwise STN_ERR_ARGUMENT and `a` is untouched.
STN_API stn_status stn_matrix_add_scaled(stn_matrix *a, double s, const stn_matrix *b);

/// X (n x columns) = R^-1 X by Gaussian elimination with partial pivoting; R (n x n) is overwritten; both row-major.
/// False when R is singular, X is then of any content. Thread: [any].
STN_API bool stn_matrix_eliminate(int32_t n, int32_t columns, double *R, double *X);

STN_END_C
#endif
