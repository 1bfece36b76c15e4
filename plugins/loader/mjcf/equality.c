// SPDX-License-Identifier: Apache-2.0
// <equality>: a joint that follows another linearly, q1 - ref1 = c0 + c1 (q2 - ref2), becomes a mimic joint. Whatever
// else holds parts of the robot together is said: the mechanism is another one without it.
#include <string.h>

#include "mjcf.h"

/// The coordinate as drawn of a joint of the robot; the joints of coordinates are in rising order.
static double ref_of(robot_reader *reader, int32_t joint) {
    const mjcf_reader *mjcf = mjcf_of(reader);
    int32_t low = 0, high = mjcf->coordinates_count; // it lies in [low, high) if at all
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (mjcf->coordinates[middle].joint < joint) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < mjcf->coordinates_count && mjcf->coordinates[low].joint == joint;
    return found ? mjcf->coordinates[low].ref : 0.0;
}

static int32_t joint_of(robot_reader *reader, const xml_element *xml, const char *attribute) {
    const char *name = robot_name_of(reader, xml, attribute);
    int32_t joint = name != NULL ? robot_names_find(&reader->joint_names, 0, name) : -1;
    if (name != NULL && joint < 0) {
        robot_error(reader, xml, "unknown_joint", "%s of <joint>: there is no joint '%.80s'%s", attribute, name,
                    robot_names_hint(reader, &reader->joint_names, 0, name));
    }
    return joint;
}

static void follow(robot_reader *reader, const xml_element *xml, int32_t own, int32_t master, const double *c) {
    robot_joint *joint = &reader->joints[own];
    if (joint->mimic != NULL) {
        robot_warn(reader, xml, "equality", "%s follows '%.80s' already: this one is ignored", joint->label,
                   joint->mimic);
        return;
    }
    joint->mimic = reader->joints[master].spec.name;
    joint->spec.mimic_multiplier = c[1];
    joint->spec.mimic_offset = c[0] + ref_of(reader, own) - c[1] * ref_of(reader, master);
}

static void read_joint(robot_reader *reader, const xml_element *xml) {
    double c[5] = {0.0, 1.0, 0.0, 0.0, 0.0};
    const char *text = xml_attribute(xml, "polycoef");
    int32_t own = joint_of(reader, xml, "joint1");
    if (text != NULL && robot_parse_reals(reader, xml, "polycoef of <joint>", text, 1, 5, c) == 0) {
        return;
    }
    if (own < 0) {
        return;
    }
    if (xml_attribute(xml, "joint2") == NULL) {
        robot_warn(reader, xml, "equality", "%s is held at one place, which is not read: use fixed bodies",
                   reader->joints[own].label);
        return;
    }
    int32_t master = joint_of(reader, xml, "joint2");
    if (master < 0) {
        return;
    }
    if (c[2] != 0.0 || c[3] != 0.0 || c[4] != 0.0) {
        robot_warn(reader, xml, "equality",
                   "a joint that follows another by a polynomial beyond the first degree is not "
                   "read: %s moves by itself",
                   reader->joints[own].label);
        return;
    }
    follow(reader, xml, own, master, c);
}

void mjcf_read_equality(robot_reader *reader, const xml_element *root) {
    const xml_element *section = NULL;
    while ((section = mjcf_next(root, "equality", section)) != NULL) {
        for (const xml_element *e = xml_first_child(section); e != NULL; e = xml_next_sibling(e)) {
            if (strcmp(xml_name(e), "joint") != 0) {
                continue;
            }
            const char *name = xml_attribute(e, "name");
            reader->label = name != NULL ? robot_text(reader, "equality %s", name) : "equality";
            if (mjcf_plain_choice(reader, e, "active", "false true", 1) == 1) {
                read_joint(reader, e);
            } else {
                robot_note(reader, e, "equality", "it is not active, and not read");
            }
        }
    }
}
