// SPDX-License-Identifier: Apache-2.0
// Parts of small SDFormat files.
#ifndef SDF_FIXTURE_H
#define SDF_FIXTURE_H

#include "robot_pose.h"

#define MASS(m)                        "<inertial><mass>" m "</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
#define POSE(text)                     "<pose>" text "</pose>"
#define POSE_IN(frame, text)           "<pose relative_to='" frame "'>" text "</pose>"
#define LINK(name, more)               "<link name='" name "'>" MASS("1") more "</link>\n"
#define FRAME(name, more)              "<frame name='" name "'>" more "</frame>\n"
#define SHAPE(kind, name, more, shape) "<" kind " name='" name "'>" more "<geometry>" shape "</geometry></" kind ">"
/// A joint with room for an axis and more inside.
#define JOINT(name, type, parent, child, more) \
    "<joint name='" name "' type='" type "'><parent>" parent "</parent><child>" child "</child>" more "</joint>\n"
#define AXIS(xyz, more)    "<axis><xyz>" xyz "</xyz>" more "</axis>"
#define AXIS2(xyz, more)   "<axis2><xyz>" xyz "</xyz>" more "</axis2>"
#define SDF(version, body) "<sdf version='" version "'>\n" body "</sdf>\n"
#define MODEL(name, body)  "<model name='" name "'>\n" body "</model>\n"
/// A whole file of one model m.
#define ROBOT(body) SDF("1.9", MODEL("m", body))

static inline int set_up_sdf(void **state) {
    int result = set_up(state);
    fixture *f = *state;
    f->file = "robot.sdf";
    f->as_proposed = true;
    return result;
}

#endif
