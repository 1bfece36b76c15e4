// SPDX-License-Identifier: Apache-2.0
// Clearances between shapes that a contact model eats which acts on flat pieces in their place: clearance.c.
#ifndef STICTION_CORE_WORLD_CLEARANCE_H
#define STICTION_CORE_WORLD_CLEARANCE_H

#include "world/world.h"

/// After the contact model has prepared the model: world->services.clearances, NULL where every surface is as its
/// shape. For stn_release.
stn_status stn_clearance_prepare(stn_world *world, stn_error *err);
/// A clone does not say again what its world has said.
void stn_clearance_inherit(const step_services *from, step_services *to);
/// After collision, the state being that of the step's start: warns. Nothing of a state or a result depends on it.
void stn_clearance_look(const step_setup *setup, const state_view *state, step_frame *frame, step_services *services);

#endif
