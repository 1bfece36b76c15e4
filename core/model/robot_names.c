// SPDX-License-Identifier: Apache-2.0
// The robots of a builder by name: open addressing with linear probes, so that a world of many bodies is described in
// linear time.
#include <stdio.h>
#include <string.h>

#include "model/builder.h"

/// Where the name stands, or the free slot where it belongs.
static int32_t *slot_of(const stn_model_builder *b, const char *name) {
    uint32_t last = (uint32_t)b->robot_slot_count - 1;
    uint32_t s = (uint32_t)stn_hash(0, name, strlen(name)) & last;
    while (b->robot_slots[s] != 0 && strcmp(robot_at(b, b->robot_slots[s] - 1)->name, name) != 0) {
        s = (s + 1) & last;
    }
    return &b->robot_slots[s];
}

int32_t builder_find_robot(const stn_model_builder *b, const char *name) {
    return b->robot_slot_count > 0 ? *slot_of(b, name) - 1 : -1;
}

bool builder_index_robot(stn_model_builder *b, int32_t robot) {
    if (b->robot_slot_count > 2 * robot) {
        *slot_of(b, robot_at(b, robot)->name) = robot + 1;
        return true;
    }
    if (robot > INT32_MAX / 8) {
        return false;
    }
    int32_t count = 16;
    while (count <= 2 * robot) {
        count *= 2;
    }
    int32_t *slots = stn_allocate(b->context, (size_t)count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    stn_release(b->context, b->robot_slots);
    b->robot_slots = slots;
    b->robot_slot_count = count;
    for (int32_t i = 0; i <= robot; i++) {
        *slot_of(b, robot_at(b, i)->name) = i + 1;
    }
    return true;
}

void builder_forget_robots(stn_model_builder *b, int32_t robot) {
    b->robots.count = robot;
    if (b->robot_slot_count > 0) {
        memset(b->robot_slots, 0, (size_t)b->robot_slot_count * sizeof *b->robot_slots);
    }
    for (int32_t i = 0; i < robot; i++) {
        *slot_of(b, robot_at(b, i)->name) = i + 1;
        robot_at(b, i)->next_number = 0; // lower ones may be free again
    }
}

void builder_free_name(const stn_model_builder *b, const char *name, char *text, size_t size) {
    built_robot *holder = robot_at(b, builder_find_robot(b, name));
    for (int32_t number = holder->next_number > 2 ? holder->next_number : 2;;
         number++) { // ends: n robots, n + 1 numbers
        snprintf(text, size, "%.200s_%d", name, number);
        if (builder_find_robot(b, text) < 0) {
            holder->next_number = number;
            return;
        }
    }
}
