// SPDX-License-Identifier: Apache-2.0
// Small robots in MuJoCo's XML, whose root stands as the file says.
#ifndef MJCF_FIXTURE_H
#define MJCF_FIXTURE_H

#include "robot_pose.h"

static inline void load_mjcf(fixture *f, const char *text) {
    f->as_proposed = true;
    load_bytes(f, "robot.xml", text, strlen(text));
}

/// The file must load and compile.
static inline const stn_model *good_mjcf(fixture *f, const char *text) {
    load_mjcf(f, text);
    if (f->status != STN_OK) {
        print_findings(f);
        fail_msg("%s", f->err.text);
    }
    return f->model;
}

#define MUJOCO(body) "<mujoco model='m'>\n" body "</mujoco>\n"
#define WORLD(body)  "<worldbody>" body "</worldbody>\n"
/// Two bodies, the second on a hinge, with room for more inside each.
#define SOLID     "<inertial mass='1' pos='0 0 0' diaginertia='1 1 1'/>"
#define ARM(more) WORLD("<body name='a'>" SOLID "\n<body name='b'>" SOLID "\n<joint name='j'/>" more "</body></body>")

#endif
