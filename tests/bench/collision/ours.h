// SPDX-License-Identifier: Apache-2.0
// The contacts that our own engine found last, for the scenes; the shape of a body.
#ifndef BENCH_COLLISION_OURS_H
#define BENCH_COLLISION_OURS_H

#include <stiction/contact.h>

#include "scene.h"

/// Geometry 0 is the ground, geometry i + 1 body i.
const stn_contact_set *our_contacts(void *self);
/// The caller releases the shape's mesh, if it has one.
stn_status our_shape(stn_context *context, const scene_body *b, stn_shape *out, stn_error *err);

#endif
