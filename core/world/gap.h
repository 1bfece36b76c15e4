// SPDX-License-Identifier: Apache-2.0
// Signed distances between geometries, as a contact model tells them that has distances.
#ifndef STICTION_CORE_WORLD_GAP_H
#define STICTION_CORE_WORLD_GAP_H

#include "world/world.h"

/// Chooses the contact model that is asked for distances (services.distances), at the first call: the world's own, or a
/// standard one where that tells none (stn_contact_ops.no_distances).
stn_status stn_world_choose_distances(stn_world *world, stn_error *err);
void stn_world_release_distances(stn_world *world);

/// [m] between two geometries at the poses of the step at hand, negative in overlap; NaN: it is more than `within` [m],
/// or cannot be told.
double stn_step_gap(stn_world *world, int32_t a, int32_t b, double within);

#endif
