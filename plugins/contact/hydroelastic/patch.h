// SPDX-License-Identifier: Apache-2.0
// The patch of one pair.
#ifndef HYDROELASTIC_PATCH_H
#define HYDROELASTIC_PATCH_H

#include <stiction/contact.h>

#include "face.h"
#include "prepared.h"

/// Have these two a patch when they touch, in either order?
bool patch_exists(const stn_geometry *a, const stn_geometry *b);
/// Adds the patch of a pair for which there is one. `sink`: with an arena, zero otherwise before the first pair; the
/// next one uses its room again.
stn_status patch_add(const stn_contact_scene *scene, const model_solids *solids, const stn_contact_pair *pair,
                     face_sink *sink, stn_contact_set *set, stn_error *err);

#endif
