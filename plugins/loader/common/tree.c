// SPDX-License-Identifier: Apache-2.0
// Joints connect links to one tree: every name found, every link one parent, one root, no cycle. A parent "world" that
// no <link> declares is the world. Masses that no body has, and joints that mimic each other in a circle.
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

// ------------------------------------------------------------------------------------------------------------ inertia
// Is a mass physical? With the eigenvalues I1 <= I2 <= I3 of the inertia about the centre of mass:
//   I1 >= 0 (round-off of published files allows -1e-9 of the trace), and I1 + I2 >= I3 for any rigid body.
// Moving subtrees without any mass make the mass matrix singular.

void robot_check_mass(robot_reader *reader, const xml_element *inertial, double mass, const stn_mat3 *inertia) {
    double trace = inertia->m[0][0] + inertia->m[1][1] + inertia->m[2][2], lambda[3];
    stn_mat3_eigenvalues(inertia, lambda);
    if (lambda[0] == 0.0 && lambda[2] == 0.0) {
        return;
    }
    if (mass == 0.0) {
        robot_warn(reader, inertial, "inertia", "an inertia without mass: give a mass or remove <inertial>");
    }
    if (!(lambda[0] >= -1e-9 * fabs(trace))) {
        robot_error(reader, inertial, "inertia",
                    "the inertia has the negative principal moment %g kg m^2: no body has one, correct the six figures",
                    lambda[0]);
    } else if (lambda[0] + lambda[1] < lambda[2] - 1e-6 * trace) {
        robot_warn(reader, inertial, "inertia",
                   "the principal moment %g kg m^2 is larger than the sum %g of the other two: no rigid body has that",
                   lambda[2], lambda[0] + lambda[1]);
    }
}

void robot_warn_massless(robot_reader *reader, const int32_t *order) {
    bool *carries = ROBOT_NEW(reader, reader->link_count, bool); // some mass in the subtree from this link on
    if (carries == NULL) {
        return;
    }
    for (int32_t i = reader->link_count - 1; i >= 0; i--) { // children before parents
        const robot_link *link = &reader->links[order[i]];
        const stn_mat3 *inertia = &link->mass.inertia;
        carries[order[i]] |=
            link->mass.mass != 0.0 || inertia->m[0][0] != 0.0 || inertia->m[1][1] != 0.0 || inertia->m[2][2] != 0.0;
        if (link->joint >= 0) {
            carries[reader->joints[link->joint].spec.parent] |= carries[order[i]];
        }
    }
    if (!carries[reader->root]) {
        reader->label = "robot";
        if (reader->joint_count > 0) {
            robot_say(reader, STN_SEVERITY_WARNING, "massless", reader->links[reader->root].place,
                      "no link has a mass: the robot is good for kinematics only");
        }
        return;
    }
    for (int32_t i = 0; i < reader->link_count; i++) {
        const robot_link *link = &reader->links[order[i]];
        const stn_joint_spec *spec = link->joint >= 0 ? &reader->joints[link->joint].spec : NULL;
        bool moves = spec != NULL && spec->type != STN_JOINT_FIXED;
        if (moves && !carries[order[i]] && carries[spec->parent] && !(spec->rotor_inertia > 0.0)) {
            reader->label = link->label;
            robot_say(reader, STN_SEVERITY_WARNING, "massless", link->place,
                      "it moves and neither it nor anything behind it has a mass, so the mass matrix is singular: add "
                      "<inertial>");
        }
    }
}

// ------------------------------------------------------------------------------------------------------- mimic joints
// q = multiplier q(master) + offset, chains allowed, circles not.

enum { LONGEST_CHAIN = 100 }; // what follows a chain from each of its joints takes the square of its length

static void find_master(robot_reader *reader, int32_t index) {
    robot_joint *joint = &reader->joints[index];
    reader->label = joint->label;
    if (joint->untyped) {
        return;
    }
    if (joint->spec.type == STN_JOINT_FIXED) {
        robot_warn(reader, joint->xml, "mimic", "a fixed joint does not move: its <mimic> is ignored");
        return;
    }
    int32_t master = robot_names_find(&reader->joint_names, 0, joint->mimic);
    if (master < 0) {
        robot_error(reader, joint->xml, "mimic", "it mimics joint '%.80s', which does not exist", joint->mimic);
    } else if (master == index) {
        robot_error(reader, joint->xml, "mimic", "it mimics itself: name the joint that it follows");
    } else if (reader->joints[master].untyped) {
        return;
    } else if (!stn_joint_type_is_axial(joint->spec.type) ||
               !stn_joint_type_is_axial(reader->joints[master].spec.type)) {
        bool own = !stn_joint_type_is_axial(joint->spec.type);
        robot_error(reader, joint->xml, "mimic",
                    "it mimics joint '%.80s', but %s %s: only revolute, continuous, "
                    "prismatic and screw joints mimic each other",
                    joint->mimic, own ? "it is itself" : "that is",
                    stn_joint_type_name(own ? joint->spec.type : reader->joints[master].spec.type));
    } else {
        joint->spec.mimic = master;
    }
}

void robot_resolve_mimic(robot_reader *reader) {
    for (int32_t i = 0; i < reader->joint_count; i++) {
        if (reader->joints[i].mimic != NULL) {
            find_master(reader, i);
        }
    }
    // Masters are followed from each joint; a circle that was not met before is said and cut.
    int32_t *visit = ROBOT_NEW(reader, reader->joint_count, int32_t);
    for (int32_t i = 0; visit != NULL && i < reader->joint_count; i++) {
        int32_t stamp = i + 1, at = i;
        while (at >= 0 && visit[at] == 0) {
            visit[at] = stamp;
            at = reader->joints[at].spec.mimic;
        }
        if (at >= 0 && visit[at] == stamp) {
            robot_joint *joint = &reader->joints[at];
            reader->label = joint->label;
            robot_error(reader, joint->xml, "mimic", "following '%.80s', it comes to mimic itself: break the circle",
                        joint->mimic);
            joint->spec.mimic = -1;
        }
    }
    // A chain that is too long is said and cut where it becomes so.
    for (int32_t i = 0; i < reader->joint_count; i++) {
        int32_t length = 0;
        for (int32_t at = i; at >= 0 && length <= LONGEST_CHAIN; at = reader->joints[at].spec.mimic) {
            length++;
        }
        if (length > LONGEST_CHAIN) {
            robot_joint *joint = &reader->joints[i];
            reader->label = joint->label;
            robot_error(reader, joint->xml, "mimic", "it follows a chain of more than %d joints: name the first one",
                        (int)LONGEST_CHAIN);
            joint->spec.mimic = -1;
        }
    }
}
