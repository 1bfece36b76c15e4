// SPDX-License-Identifier: Apache-2.0
// Names by hash with open addressing, so that a file with very many links is still read in linear time, also one whose
// names were chosen to collide.
#include <string.h>

#include "robot.h"

bool robot_names_init(robot_reader *reader, robot_names *names, int32_t capacity) {
    uint32_t size = 16;
    while (size < 2 * (uint32_t)capacity) {
        size *= 2;
    }
    *names = (robot_names){.slots = ROBOT_NEW(reader, size, struct robot_name), .mask = size - 1};
    return names->slots != NULL;
}

static struct robot_name *slot_of(const robot_names *names, int32_t scope, const char *name, size_t length) {
    uint64_t seed =
        (uint64_t)(uintptr_t)names->slots + (uint64_t)scope; // differs from run to run: no file can aim at it
    uint32_t at = (uint32_t)stn_hash(seed, name, length) & names->mask;
    while (names->slots[at].name != NULL &&
           (names->slots[at].scope != scope || strncmp(names->slots[at].name, name, length) != 0 ||
            names->slots[at].name[length] != '\0')) {
        at = (at + 1) & names->mask;
    }
    return &names->slots[at];
}

int32_t robot_names_find_part(const robot_names *names, int32_t scope, const char *name, size_t length) {
    const struct robot_name *slot = slot_of(names, scope, name, length);
    return slot->name != NULL ? slot->value : -1;
}

int32_t robot_names_find(const robot_names *names, int32_t scope, const char *name) {
    return robot_names_find_part(names, scope, name, strlen(name));
}

void robot_names_add(robot_reader *reader, robot_names *names, int32_t scope, const char *name, int32_t value) {
    if (2 * names->count > (int32_t)names->mask) { // twice the room; without memory the load fails
        robot_names larger;
        if (!robot_names_init(reader, &larger, (int32_t)names->mask + 1)) {
            return;
        }
        for (uint32_t i = 0; i <= names->mask; i++) {
            const struct robot_name *old = &names->slots[i];
            if (old->name != NULL) {
                *slot_of(&larger, old->scope, old->name, strlen(old->name)) = *old;
            }
        }
        larger.count = names->count;
        *names = larger;
    }
    struct robot_name *slot = slot_of(names, scope, name, strlen(name));
    names->count += slot->name == NULL;
    *slot = (struct robot_name){name, scope, value};
}

const char *robot_names_unique(robot_reader *reader, robot_names *taken, const char *wanted) {
    const char *name = wanted;
    int32_t copies = robot_names_find(taken, 0, wanted); // how often it was wanted
    if (copies > 0) {
        do {
            name = robot_text(reader, "%s_%d", wanted, (int)++copies);
        } while (robot_names_find(taken, 0, name) > 0 && !reader->out_of_memory);
        robot_names_add(reader, taken, 0, wanted, copies);
    }
    robot_names_add(reader, taken, 0, name, 1);
    return name;
}

bool robot_first(robot_reader *reader, robot_topic topic, const char *subject) {
    if (robot_names_find(&reader->said, (int32_t)topic, subject) >= 0) {
        return false;
    }
    robot_names_add(reader, &reader->said, (int32_t)topic, subject, 1);
    return true;
}
