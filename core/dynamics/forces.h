// SPDX-License-Identifier: Apache-2.0
// Forces of one controller alone, and their weighted sum: how controllers share joints.
#ifndef STICTION_CORE_DYNAMICS_FORCES_H
#define STICTION_CORE_DYNAMICS_FORCES_H

#include <stiction/forces.h>

/// Empty forces of the same model, in the arena. STN_ERR_MEMORY is the only failure.
stn_status stn_forces_begin_part(const stn_forces *whole, stn_arena *arena, stn_forces *part, stn_error *err);
/// whole += S part with S = diag(share) (nv, 0 to 1): S tau, sqrt(S) K sqrt(S), sqrt(S) D sqrt(S), and servos with S
/// times their gains, feed-forward and limit, which is S times their clamped effort.
stn_status stn_forces_add_part(stn_forces *whole, const stn_forces *part, const double *share, stn_error *err);

#endif
