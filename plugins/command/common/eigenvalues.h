// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_COMMAND_EIGENVALUES_H
#define STICTION_COMMAND_EIGENVALUES_H

#include <stiction/base.h>

/// Eigenvalues, ascending, of a dense symmetric matrix; each is off by a few n times the round-off of the largest. `a`
/// (n x n, both triangles) is destroyed. STN_ERR_NUMERIC: an entry is not finite.
stn_status symmetric_eigenvalues(int32_t n, double *a, double *eigenvalues, stn_error *err);

#endif
