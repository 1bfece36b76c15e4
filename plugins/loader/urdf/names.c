// SPDX-License-Identifier: Apache-2.0
// Names by hash with open addressing, so that a file with very many links is still read in linear time.
#include <string.h>

#include "urdf.h"

bool urdf_names_init(urdf_reader *reader, urdf_names *names, int32_t capacity) {
    uint32_t size = 16;
    while (size < 2 * (uint32_t)capacity) {
        size *= 2;
    }
    names->slots = URDF_NEW(reader, size, struct urdf_name);
    names->mask = size - 1;
    return names->slots != NULL;
}

static struct urdf_name *slot_of(const urdf_names *names, int32_t scope, const char *name) {
    uint32_t at = (uint32_t)stn_hash((uint64_t)scope, name, strlen(name)) & names->mask;
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

void urdf_names_add(urdf_names *names, int32_t scope, const char *name, int32_t value) {
    *slot_of(names, scope, name) = (struct urdf_name){name, scope, value};
}
