// SPDX-License-Identifier: Apache-2.0
// The contacts that our own engine found last, for the scenes.
#ifndef BENCH_COLLISION_OURS_H
#define BENCH_COLLISION_OURS_H

#include <stiction/contact.h>

/// Geometry 0 is the ground, geometry i + 1 body i.
const stn_contact_set *our_contacts(void *self);

#endif
