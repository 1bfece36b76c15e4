// SPDX-License-Identifier: Apache-2.0
// Names: unique within a group, and found again in the builder and in the compiled model.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/built.h"
#include "model/compiler.h"

// ------------------------------------------------------------------------------------------- groups of a builder
// The groups of a builder by name: open addressing with linear probes, so that a world of many bodies is described in
// linear time.

/// Where the name stands, or the free slot where it belongs.
static int32_t *slot_of(const stn_model_builder *b, const char *name) {
    uint32_t last = (uint32_t)b->group_slot_count - 1;
    uint32_t s = (uint32_t)stn_hash(0, name, strlen(name)) & last;
    while (b->group_slots[s] != 0 && strcmp(group_at(b, b->group_slots[s] - 1)->name, name) != 0) {
        s = (s + 1) & last;
    }
    return &b->group_slots[s];
}

int32_t builder_find_group(const stn_model_builder *b, const char *name) {
    return b->group_slot_count > 0 ? *slot_of(b, name) - 1 : -1;
}

bool builder_index_group(stn_model_builder *b, int32_t group) {
    if (b->group_slot_count > 2 * group) {
        *slot_of(b, group_at(b, group)->name) = group + 1;
        return true;
    }
    if (group > INT32_MAX / 8) {
        return false;
    }
    int32_t count = 16;
    while (count <= 2 * group) {
        count *= 2;
    }
    int32_t *slots = stn_allocate(b->context, (size_t)count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    stn_release(b->context, b->group_slots);
    b->group_slots = slots;
    b->group_slot_count = count;
    for (int32_t i = 0; i <= group; i++) {
        *slot_of(b, group_at(b, i)->name) = i + 1;
    }
    return true;
}

void builder_forget_groups(stn_model_builder *b, int32_t group) {
    b->groups.count = group;
    if (b->group_slot_count > 0) {
        memset(b->group_slots, 0, (size_t)b->group_slot_count * sizeof *b->group_slots);
    }
    for (int32_t i = 0; i < group; i++) {
        *slot_of(b, group_at(b, i)->name) = i + 1;
        group_at(b, i)->next_number = 0; // lower ones may be free again
    }
}

bool builder_is_taken(const stn_model_builder *b, const char *name) {
    bool taken = builder_find_group(b, name) >= 0;
    for (int32_t i = 0; i < b->clouds.count && !taken; i++) {
        taken = strcmp(cloud_at(b, i)->name, name) == 0;
    }
    return taken;
}

void builder_free_name(const stn_model_builder *b, const char *name, char *text, size_t size) {
    const int32_t group = builder_find_group(b, name); // -1: a cloud has the name
    int32_t number = group >= 0 && group_at(b, group)->next_number > 2 ? group_at(b, group)->next_number : 2;
    do { // ends: n names, n + 1 numbers
        snprintf(text, size, "%.200s_%d", name, number++);
    } while (builder_is_taken(b, text));
    if (group >= 0) {
        group_at(b, group)->next_number = number - 1;
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
                    "%s: the name is taken; names are unique within a group, call it '%s_2', say", described, name);
}

stn_status check_names(compiler *c, stn_error *err) {
    const stn_model_builder *b = c->builder;
    int32_t most = b->links.count > b->joints.count ? b->links.count : b->joints.count;
    named *items = STN_ARENA(c->scratch, most, named);
    if (items == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t r = 0; r < b->groups.count; r++) {
        char text[400];
        int32_t count = 0;
        for (int32_t i = group_at(b, r)->start.links; i < group_link_end(b, r); i++) {
            items[count++] = (named){link_at(b, i)->spec.name, i};
        }
        int32_t twice = find_duplicate(items, count);
        if (twice >= 0) {
            describe_link(b, twice, text, sizeof text);
            return fail_duplicate(text, link_at(b, twice)->spec.name, err);
        }
        count = 0;
        for (int32_t i = group_at(b, r)->start.joints; i < group_joint_end(b, r); i++) {
            items[count++] = (named){joint_at(b, i)->spec.name, i};
        }
        twice = find_duplicate(items, count);
        if (twice >= 0) {
            describe_joint(b, twice, text, sizeof text);
            return fail_duplicate(text, joint_at(b, twice)->spec.name, err);
        }
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------- lookups

/// One member of the structs of an array.
typedef struct column {
    const void *items;
    size_t size, offset;
} column;

#define COLUMN(items, type, member) \
    { items, sizeof(type), offsetof(type, member) }

/// One kind of named things: those of group r begin at start[r] and end where those of the next group begin.
typedef struct name_space {
    int32_t group_count, count;
    column groups, start, names;
} name_space;

static const void *entry(const column *c, int32_t i) {
    return (const unsigned char *)c->items + (size_t)i * c->size + c->offset;
}

static const char *name_at(const column *names, int32_t i) {
    return *(const char *const *)entry(names, i);
}

static int32_t start_of(const name_space *space, int32_t group) {
    return group < space->group_count ? *(const int32_t *)entry(&space->start, group) : space->count;
}

static int32_t find_in_group(const name_space *space, int32_t group, const char *name) {
    for (int32_t i = start_of(space, group); i < start_of(space, group + 1); i++) {
        if (strcmp(name_at(&space->names, i), name) == 0) {
            return i;
        }
    }
    return -1;
}

static int32_t find(const name_space *space, int32_t group, const char *name) {
    if (group >= 0) {
        return group < space->group_count ? find_in_group(space, group, name) : -1;
    }
    int32_t found = -1, times = 0;
    for (int32_t r = 0; r < space->group_count && times < 2; r++) {
        int32_t here = find_in_group(space, r, name);
        found = here >= 0 ? here : found;
        times += here >= 0;
    }
    if (times == 1) {
        return found;
    }
    found = -1;
    // "group/name". Groups' names may hold slashes, so every group whose name and a slash begin the text is tried.
    for (int32_t r = 0; r < space->group_count && found < 0; r++) {
        const char *qualifier = name_at(&space->groups, r);
        size_t length = strlen(qualifier);
        if (strncmp(name, qualifier, length) == 0 && name[length] == '/') {
            found = find_in_group(space, r, name + length + 1);
        }
    }
    return found;
}

int32_t stn_model_find_group(const stn_model *model, const char *name) {
    for (int32_t i = 0; i < model->group_count; i++) {
        if (strcmp(model->groups[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int32_t stn_model_find_link(const stn_model *model, int32_t group, const char *name) {
    const name_space links = {model->group_count, model->link_count, COLUMN(model->groups, stn_group, name),
                              COLUMN(model->groups, stn_group, link_start), COLUMN(model->links, stn_link, name)};
    return find(&links, group, name);
}

int32_t stn_model_find_joint(const stn_model *model, int32_t group, const char *name) {
    const name_space joints = {model->group_count, model->joint_count, COLUMN(model->groups, stn_group, name),
                               COLUMN(model->groups, stn_group, joint_start), COLUMN(model->joints, stn_joint, name)};
    return find(&joints, group, name);
}

int32_t stn_model_find_keyframe(const stn_model *model, int32_t group, const char *name) {
    const name_space keyframes = {model->group_count, model->keyframe_count, COLUMN(model->groups, stn_group, name),
                                  COLUMN(model->groups, stn_group, keyframe_start),
                                  COLUMN(model->keyframes, stn_keyframe, name)};
    return find(&keyframes, group, name);
}

int32_t stn_builder_find_link(const stn_model_builder *builder, int32_t group, const char *name) {
    const void *groups = builder->groups.items;
    const name_space links = {builder->groups.count, builder->links.count, COLUMN(groups, built_group, name),
                              COLUMN(groups, built_group, start.links),
                              COLUMN(builder->links.items, built_link, spec.name)};
    return find(&links, group, name);
}

int32_t stn_builder_find_joint(const stn_model_builder *builder, int32_t group, const char *name) {
    const void *groups = builder->groups.items;
    const name_space joints = {builder->groups.count, builder->joints.count, COLUMN(groups, built_group, name),
                               COLUMN(groups, built_group, start.joints),
                               COLUMN(builder->joints.items, built_joint, spec.name)};
    return find(&joints, group, name);
}
