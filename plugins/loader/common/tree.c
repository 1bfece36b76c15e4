// SPDX-License-Identifier: Apache-2.0
// Joints connect links to one tree: every name found, every link one parent, one root, no cycle. A parent "world" that
// no <link> declares is the world.
#include <stdio.h>
#include <string.h>

#include "robot.h"

enum { NAMES_LISTED = 5, CANDIDATES = 500 };

void robot_list_name(char *text, size_t size, int32_t position, const char *name) {
    size_t used = strlen(text);
    if (position < NAMES_LISTED) {
        snprintf(text + used, size - used, "%s%.60s", position > 0 ? ", " : "", name);
    } else if (position == NAMES_LISTED) {
        snprintf(text + used, size - used, ", ...");
    }
}

static void say_unknown(robot_reader *reader, const robot_joint *joint, const char *which, const char *name) {
    const char *candidates[CANDIDATES];
    int32_t count = reader->link_count < CANDIDATES ? reader->link_count : CANDIDATES;
    for (int32_t i = 0; i < count; i++) {
        candidates[i] = reader->links[i].name;
    }
    const char *near = robot_suggest(reader, name, candidates, count);
    robot_error(reader, joint->xml, "unknown_link", "its %s link '%.80s' does not exist%s%.80s%s", which, name,
                near != NULL ? ": did you mean '" : ": declare it", near != NULL ? near : "", near != NULL ? "'?" : "");
}

/// Fills the joint's parent and child, and the child's joint. false: said.
static bool connect_joint(robot_reader *reader, int32_t index) {
    robot_joint *joint = &reader->joints[index];
    reader->label = joint->label;
    joint->spec.parent = joint->spec.child = STN_WORLD;
    if (joint->parent == NULL || joint->child == NULL) {
        return false; // said when it was read
    }
    int32_t parent = robot_names_find(&reader->link_names, 0, joint->parent);
    int32_t child = robot_names_find(&reader->link_names, 0, joint->child);
    if (parent < 0 && strcmp(joint->parent, "world") == 0) {
        parent = robot_add_link(reader, "world", NULL);
    }
    if (parent < 0) {
        say_unknown(reader, joint, "parent", joint->parent);
    }
    if (child < 0) {
        say_unknown(reader, joint, "child", joint->child);
    }
    if (parent < 0 || child < 0) {
        return false;
    }
    robot_link *link = &reader->links[child];
    if (link->joint >= 0) {
        robot_error(reader, joint->xml, "two_parents",
                    "link %.80s already hangs on %.80s (line %d): a link has one joint "
                    "above it, remove one",
                    link->name, reader->joints[link->joint].label, (int)reader->joints[link->joint].place.line);
        return false;
    }
    joint->spec.parent = parent;
    joint->spec.child = child;
    link->joint = index;
    return true;
}

/// Children of each link as linked lists, and the links in breadth-first order from the root. Returns how many it
/// reaches.
static int32_t order_links(robot_reader *reader, int32_t *order) {
    int32_t *first = ROBOT_NEW(reader, reader->link_count, int32_t);
    int32_t *next = ROBOT_NEW(reader, reader->link_count, int32_t);
    if (first == NULL || next == NULL) {
        return 0;
    }
    memset(first, 0xff, (size_t)reader->link_count * sizeof *first); // -1: none
    for (int32_t i = reader->link_count - 1; i >= 0; i--) {
        if (reader->links[i].joint >= 0) {
            int32_t parent = reader->joints[reader->links[i].joint].spec.parent;
            next[i] = first[parent];
            first[parent] = i;
        }
    }
    int32_t count = 0;
    order[count++] = reader->root;
    for (int32_t done = 0; done < count; done++) {
        for (int32_t child = first[order[done]]; child >= 0; child = next[child]) {
            order[count++] = child;
        }
    }
    return count;
}

/// Says every cycle, from parents to children.
static void say_cycles(robot_reader *reader) {
    int32_t *visit = ROBOT_NEW(reader, reader->link_count, int32_t);
    int32_t *chain = ROBOT_NEW(reader, reader->link_count, int32_t);
    for (int32_t start = 0; visit != NULL && chain != NULL && start < reader->link_count; start++) {
        int32_t met = start; // upwards to a root, or to a link that was met before
        while (met >= 0 && visit[met] == 0) {
            visit[met] = start + 1;
            int32_t joint = reader->links[met].joint;
            met = joint >= 0 ? reader->joints[joint].spec.parent : -1;
        }
        if (met < 0 || visit[met] != start + 1) {
            continue;
        }
        char links[400] = "", joints[400] = "";
        int32_t count = 0, at = met;
        do { // upwards
            chain[count++] = at;
            at = reader->joints[reader->links[at].joint].spec.parent;
        } while (at != met);
        for (int32_t k = 0; k < count; k++) {
            int32_t parent = chain[(count - k) % count], child = chain[count - 1 - k];
            const char *joint = reader->joints[reader->links[child].joint].spec.name;
            robot_list_name(links, sizeof links, k, reader->links[parent].name);
            robot_list_name(joints, sizeof joints, k, joint != NULL ? joint : "?");
        }
        reader->label = reader->links[met].label;
        robot_say(reader, STN_SEVERITY_ERROR, "cycle", reader->links[met].place,
                  "links %s form a cycle through joints %s: a robot is a tree, remove one of these joints", links,
                  joints);
    }
}

bool robot_connect(robot_reader *reader) {
    bool good = true;
    for (int32_t i = 0; i < reader->joint_count; i++) {
        good = connect_joint(reader, i) && good;
    }
    if (!good || reader->out_of_memory) {
        return !reader->out_of_memory; // what is missing would show as further roots: the cause is said already
    }
    int32_t *order = ROBOT_NEW(reader, reader->link_count, int32_t);
    if (order == NULL) {
        return false;
    }
    // The root is the one link without a joint above it.
    char names[400] = "";
    int32_t root_count = 0;
    robot_place second = {reader->request->path, 0};
    reader->root = -1;
    for (int32_t i = 0; i < reader->link_count; i++) {
        if (reader->links[i].joint < 0) {
            second = root_count == 1 ? reader->links[i].place : second;
            robot_list_name(names, sizeof names, root_count++, reader->links[i].name);
            reader->root = reader->root < 0 ? i : reader->root;
        }
    }
    if (root_count > 1) {
        reader->label = "robot";
        robot_say(reader, STN_SEVERITY_ERROR, "two_roots", second,
                  "links %s have no joint above them: connect all but one by joints, or split the file", names);
        reader->root = -1;
    }
    if (reader->root < 0 || order_links(reader, order) < reader->link_count) {
        say_cycles(reader);
        return !reader->out_of_memory;
    }
    robot_link *root = &reader->links[reader->root];
    if (strcmp(root->name, "world") == 0 && root->mass.mass > 0.0) {
        reader->label = root->label;
        robot_say(reader, STN_SEVERITY_WARNING, "world", root->place,
                  "the root link 'world' is the world itself: its <inertial> is ignored");
        root->mass = (stn_mass){0};
    }
    robot_warn_massless(reader, order);
    return !reader->out_of_memory;
}
