// SPDX-License-Identifier: Apache-2.0
// Names: unique within a robot, and found again in the compiled model.
#include <stdlib.h>
#include <string.h>

#include "model/compiler.h"

stn_status compile_out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "model: out of memory");
}

// ------------------------------------------------------------------------------------------------------- unique

typedef struct named {
    const char *name;
    int32_t index;
} named;

static int compare_named(const void *a, const void *b) {
    const named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

/// Index of an item whose name an earlier one has, -1 when all differ.
static int32_t find_duplicate(named *items, int32_t count) {
    qsort(items, (size_t)count, sizeof *items, compare_named);
    for (int32_t i = 1; i < count; i++) {
        if (strcmp(items[i - 1].name, items[i].name) == 0) {
            return items[i].index;
        }
    }
    return -1;
}

static stn_status fail_duplicate(const char *described, const char *name, stn_error *err) {
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
        return compile_out_of_memory(err);
    }
    for (int32_t r = 0; r < b->robots.count; r++) {
        stn_status status = check_robot_names(c, r, items, err);
        if (status != STN_OK) {
            return status;
        }
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------ lookups

int32_t stn_model_find_robot(const stn_model *model, const char *name) {
    for (int32_t i = 0; i < model->robot_count; i++) {
        if (strcmp(model->robots[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static const char *link_name(const stn_model *model, int32_t i) {
    return model->links[i].name;
}

static const char *joint_name(const stn_model *model, int32_t i) {
    return model->joints[i].name;
}

/// One kind of named thing: where each robot's begin, and their names.
typedef struct name_space {
    const char *(*name)(const stn_model *model, int32_t i);
    bool links;
} name_space;

static const name_space LINKS = {link_name, true}, JOINTS = {joint_name, false};

static int32_t find_in_robot(const stn_model *model, const name_space *space, int32_t robot, const char *name) {
    const stn_robot *r = &model->robots[robot];
    int32_t start = space->links ? r->link_start : r->joint_start;
    int32_t count = space->links ? r->link_count : r->joint_count;
    for (int32_t i = start; i < start + count; i++) {
        if (strcmp(space->name(model, i), name) == 0) {
            return i;
        }
    }
    return -1;
}

/// Robots' names may hold slashes, so every robot whose name and a slash begin the text is tried.
static int32_t find_qualified(const stn_model *model, const name_space *space, const char *name) {
    for (int32_t r = 0; r < model->robot_count; r++) {
        size_t length = strlen(model->robots[r].name);
        if (strncmp(name, model->robots[r].name, length) == 0 && name[length] == '/') {
            int32_t found = find_in_robot(model, space, r, name + length + 1);
            if (found >= 0) {
                return found;
            }
        }
    }
    return -1;
}

static int32_t find(const stn_model *model, const name_space *space, int32_t robot, const char *name) {
    if (robot >= 0) {
        return robot < model->robot_count ? find_in_robot(model, space, robot, name) : -1;
    }
    int32_t found = -1, times = 0;
    for (int32_t r = 0; r < model->robot_count && times < 2; r++) {
        int32_t here = find_in_robot(model, space, r, name);
        found = here >= 0 ? here : found;
        times += here >= 0;
    }
    return times == 1 ? found : find_qualified(model, space, name);
}

int32_t stn_model_find_link(const stn_model *model, int32_t robot, const char *name) {
    return find(model, &LINKS, robot, name);
}

int32_t stn_model_find_joint(const stn_model *model, int32_t robot, const char *name) {
    return find(model, &JOINTS, robot, name);
}
