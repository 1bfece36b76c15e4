// SPDX-License-Identifier: Apache-2.0
// The contact class of a geometry: all that a contact model's answer about it may depend on; and the question itself.
#ifndef STICTION_CORE_WORLD_CONTACT_CLASS_H
#define STICTION_CORE_WORLD_CONTACT_CLASS_H

#include "world/world.h"

/// All of a geometry that a contact model's answer may depend on; compared byte by byte.
typedef struct contact_class {
    int64_t type, mesh, volume_mesh, compliant;
    int64_t place; // -1: on a node, 0: in the world, 1: on a body that moves
} contact_class;

static inline contact_class contact_class_of(const stn_geometry *g) {
    return (contact_class){.type = (int64_t)g->shape.type,
                           .mesh = g->mesh,
                           .volume_mesh = g->field.volume_mesh,
                           .compliant = stn_geometry_is_compliant(g),
                           .place = (g->body > 0) - (g->body < 0)};
}

/// Does the contact model handle the two, in this order?
static inline bool collider_handles(const stn_instance *contact, const stn_geometry *a, const stn_geometry *b) {
    return contact->desc->ops.contact->handles(contact->self, a, b);
}

#endif
