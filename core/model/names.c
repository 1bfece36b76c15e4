// SPDX-License-Identifier: Apache-2.0
// Names: unique within a robot, and found again in the builder and in the compiled model.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/built.h"
#include "model/compiler.h"

// ------------------------------------------------------------------------------------------- robots of a builder
// The robots of a builder by name: open addressing with linear probes, so that a world of many bodies is described in
// linear time.

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

// -------------------------------------------------------------------------------------------------------- unique

static int compare_named(const void *a, const void *b) {
    const named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

int32_t find_duplicate(named *items, int32_t count) {
    qsort(items, (size_t)count, sizeof *items, compare_named);
    for (int32_t i = 1; i < count; i++) {
        if (strcmp(items[i - 1].name, items[i].name) == 0) {
            return items[i].index;
        }
    }
    return -1;
}

stn_status fail_duplicate(const char *described, const char *name, stn_error *err) {
    return stn_fail(err, STN_ERR_ARGUMENT,
                    "%s: the name is taken; names are unique within a robot, call it '%s_2', say", described, name);
}

static stn_status check_robot_names(compiler *c, int32_t robot, named *items, stn_error *err) {
    const stn_model_builder *b = c->builder;
    char text[400];
    int32_t count = 0;
    for (int32_t i = robot_at(b, robot)->start.links; i < robot_link_end(b, robot); i++) {
        items[count++] = (named){link_at(b, i)->spec.name, i};
    }
    int32_t twice = find_duplicate(items, count);
    if (twice >= 0) {
        describe_link(b, twice, text, sizeof text);
        return fail_duplicate(text, link_at(b, twice)->spec.name, err);
    }
    count = 0;
    for (int32_t i = robot_at(b, robot)->start.joints; i < robot_joint_end(b, robot); i++) {
        items[count++] = (named){joint_at(b, i)->spec.name, i};
    }
    twice = find_duplicate(items, count);
    if (twice >= 0) {
        describe_joint(b, twice, text, sizeof text);
        return fail_duplicate(text, joint_at(b, twice)->spec.name, err);
    }
    return STN_OK;
}

stn_status check_names(compiler *c, stn_error *err) {
    const stn_model_builder *b = c->builder;
    int32_t most = b->links.count > b->joints.count ? b->links.count : b->joints.count;
    named *items = STN_ARENA(c->scratch, most, named);
    if (items == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t r = 0; r < b->robots.count; r++) {
        stn_status status = check_robot_names(c, r, items, err);
        if (status != STN_OK) {
            return status;
        }
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------- lookups

int32_t stn_model_find_robot(const stn_model *model, const char *name) {
    for (int32_t i = 0; i < model->robot_count; i++) {
        if (strcmp(model->robots[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/// One member of the structs of an array.
typedef struct column {
    const void *items;
    size_t size, offset;
} column;

#define COLUMN(items, type, member) \
    { items, sizeof(type), offsetof(type, member) }

/// One kind of named things: those of robot r begin at start[r] and end where those of the next robot begin.
typedef struct name_space {
    int32_t robot_count, count;
    column robots, start, names;
} name_space;

static const void *entry(const column *c, int32_t i) {
    return (const unsigned char *)c->items + (size_t)i * c->size + c->offset;
}

static const char *name_at(const column *names, int32_t i) {
    return *(const char *const *)entry(names, i);
}

static int32_t start_of(const name_space *space, int32_t robot) {
    return robot < space->robot_count ? *(const int32_t *)entry(&space->start, robot) : space->count;
}

static int32_t find_in_robot(const name_space *space, int32_t robot, const char *name) {
    for (int32_t i = start_of(space, robot); i < start_of(space, robot + 1); i++) {
        if (strcmp(name_at(&space->names, i), name) == 0) {
            return i;
        }
    }
    return -1;
}

/// Robots' names may hold slashes, so every robot whose name and a slash begin the text is tried.
static int32_t find_qualified(const name_space *space, const char *name) {
    for (int32_t r = 0; r < space->robot_count; r++) {
        const char *robot = name_at(&space->robots, r);
        size_t length = strlen(robot);
        if (strncmp(name, robot, length) == 0 && name[length] == '/') {
            int32_t found = find_in_robot(space, r, name + length + 1);
            if (found >= 0) {
                return found;
            }
        }
    }
    return -1;
}

static int32_t find(const name_space *space, int32_t robot, const char *name) {
    if (robot >= 0) {
        return robot < space->robot_count ? find_in_robot(space, robot, name) : -1;
    }
    int32_t found = -1, times = 0;
    for (int32_t r = 0; r < space->robot_count && times < 2; r++) {
        int32_t here = find_in_robot(space, r, name);
        found = here >= 0 ? here : found;
        times += here >= 0;
    }
    return times == 1 ? found : find_qualified(space, name);
}

int32_t stn_model_find_link(const stn_model *model, int32_t robot, const char *name) {
    const name_space links = {model->robot_count, model->link_count, COLUMN(model->robots, stn_robot, name),
                              COLUMN(model->robots, stn_robot, link_start), COLUMN(model->links, stn_link, name)};
    return find(&links, robot, name);
}

int32_t stn_model_find_joint(const stn_model *model, int32_t robot, const char *name) {
    const name_space joints = {model->robot_count, model->joint_count, COLUMN(model->robots, stn_robot, name),
                               COLUMN(model->robots, stn_robot, joint_start), COLUMN(model->joints, stn_joint, name)};
    return find(&joints, robot, name);
}

int32_t stn_model_find_keyframe(const stn_model *model, int32_t robot, const char *name) {
    const name_space keyframes = {model->robot_count, model->keyframe_count, COLUMN(model->robots, stn_robot, name),
                                  COLUMN(model->robots, stn_robot, keyframe_start),
                                  COLUMN(model->keyframes, stn_keyframe, name)};
    return find(&keyframes, robot, name);
}

int32_t stn_builder_find_link(const stn_model_builder *builder, int32_t robot, const char *name) {
    const void *robots = builder->robots.items;
    const name_space links = {builder->robots.count, builder->links.count, COLUMN(robots, built_robot, name),
                              COLUMN(robots, built_robot, start.links),
                              COLUMN(builder->links.items, built_link, spec.name)};
    return find(&links, robot, name);
}

int32_t stn_builder_find_joint(const stn_model_builder *builder, int32_t robot, const char *name) {
    const void *robots = builder->robots.items;
    const name_space joints = {builder->robots.count, builder->joints.count, COLUMN(robots, built_robot, name),
                               COLUMN(robots, built_robot, start.joints),
                               COLUMN(builder->joints.items, built_joint, spec.name)};
    return find(&joints, robot, name);
}
