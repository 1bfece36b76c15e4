// SPDX-License-Identifier: Apache-2.0
// Signed distances between geometries, as a contact model tells them that has distances.
#ifndef STICTION_CORE_WORLD_GAP_H
#define STICTION_CORE_WORLD_GAP_H

#include "world/world.h"

/// Chooses the contact model that is asked for distances (services.distances), at the first call: the world's own, or a
/// standard one where that tells none (stn_contact_ops.no_distances).
stn_status stn_step_choose_distances(const step_setup *setup, step_services *services, stn_error *err);
void stn_step_release_distances(step_services *services);

/// [m] between two geometries at the poses of the step at hand, negative in overlap; NaN: it is more than `within` [m],
/// or cannot be told.
double stn_step_gap(const step_setup *setup, const state_view *state, const step_frame *frame, step_services *services,
                    int32_t a, int32_t b, double within);

#endif
