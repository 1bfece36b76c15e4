// SPDX-License-Identifier: Apache-2.0
// Names by hash with open addressing, so that a file with very many links is still read in linear time, also one whose
// names were chosen to collide.
#include <string.h>

#include "urdf.h"

bool urdf_names_init(urdf_reader *reader, urdf_names *names, int32_t capacity) {
    uint32_t size = 16;
    while (size < 2 * (uint32_t)capacity) {
        size *= 2;
    }
    *names = (urdf_names){.slots = URDF_NEW(reader, size, struct urdf_name), .mask = size - 1};
    return names->slots != NULL;
}

static struct urdf_name *slot_of(const urdf_names *names, int32_t scope, const char *name) {
    uint64_t seed =
        (uint64_t)(uintptr_t)names->slots + (uint64_t)scope; // differs from run to run: no file can aim at it
    uint32_t at = (uint32_t)stn_hash(seed, name, strlen(name)) & names->mask;
    while (names->slots[at].name != NULL &&
           (names->slots[at].scope != scope || strcmp(names->slots[at].name, name) != 0)) {
        at = (at + 1) & names->mask;
    }
    return &names->slots[at];
}

int32_t urdf_names_find(const urdf_names *names, int32_t scope, const char *name) {
    const struct urdf_name *slot = slot_of(names, scope, name);
    return slot->name != NULL ? slot->value : -1;
}

/// Twice the room; without memory the table stays as it is, and the load fails.
static bool grow(urdf_reader *reader, urdf_names *names) {
    urdf_names larger;
    if (!urdf_names_init(reader, &larger, (int32_t)names->mask + 1)) {
        return false;
    }
    for (uint32_t i = 0; i <= names->mask; i++) {
        const struct urdf_name *old = &names->slots[i];
        if (old->name != NULL) {
            *slot_of(&larger, old->scope, old->name) = *old;
        }
    }
    larger.count = names->count;
    *names = larger;
    return true;
}

void urdf_names_add(urdf_reader *reader, urdf_names *names, int32_t scope, const char *name, int32_t value) {
    if (2 * names->count > (int32_t)names->mask && !grow(reader, names)) {
        return;
    }
    struct urdf_name *slot = slot_of(names, scope, name);
    names->count += slot->name == NULL;
    *slot = (struct urdf_name){name, scope, value};
}

bool urdf_first(urdf_reader *reader, urdf_topic topic, const char *subject) {
    if (urdf_names_find(&reader->said, (int32_t)topic, subject) >= 0) {
        return false;
    }
    urdf_names_add(reader, &reader->said, (int32_t)topic, subject, 1);
    return true;
}
