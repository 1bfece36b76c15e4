// SPDX-License-Identifier: Apache-2.0
// Invariants of the parts of a contact problem, shared by stn_problem_check and the readers.
#ifndef STICTION_CORE_PROBLEM_CHECK_H
#define STICTION_CORE_PROBLEM_CHECK_H

#include <stiction/problem.h>

/// Finite, symmetric to 1e-9 of the diagonal, positive semidefinite to round-off, with a well-formed pattern. `label`
/// names the matrix in the text ("tree 0: A"); memory for the semidefinite test comes from `context`.
stn_status stn_check_matrix(stn_context *context, const char *label, const stn_matrix *a, stn_error *err);

#endif
