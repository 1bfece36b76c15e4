// SPDX-License-Identifier: Apache-2.0
// Which unknowns press at a solution: those that some impulses with the same motion lie strictly inside of. Nearby
// solutions keep these at rest.
#ifndef QP_PRESSING_H
#define QP_PRESSING_H

#include "rays.h"

/// Marks the unknowns (n) that gamma (row_count) is strictly inside of: all rays inside of a pyramid, the two of a
/// face, the one of an edge, rows between their bounds.
void pressing_mark(const rays *r, const active_set *set, const double *gamma, bool *marks);
/// signs (n): of what is not marked and rests at its bound that of the impulses that it may have, 1 or -1, 0 elsewhere.
void pressing_find_resting(rays *r, const active_set *set, const stn_solution *solution, const bool *marks,
                           int32_t *signs);
/// Marks also what presses with other impulses that give the same motion: a table stands on two legs as well as on the
/// other two. What depends on the marked ones alone rests with them and stays unmarked. There is no such thing where
/// some velocity keeps the marked ones at rest and opens all that rest [stiemke-1915]; else the active set contradicts
/// itself and tells a dependence. STN_ERR_MEMORY; STN_NOT_CONVERGED: too many moves.
stn_status pressing_complete(rays *r, const active_set *set, const int32_t *signs, bool *marks);

#endif
