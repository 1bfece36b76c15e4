// SPDX-License-Identifier: Apache-2.0
// Mimic joints: q = multiplier q(master) + offset, chains allowed, circles not.
#include "robot.h"

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
