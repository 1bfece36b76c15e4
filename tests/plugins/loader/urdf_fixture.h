// SPDX-License-Identifier: Apache-2.0
// Parts of small URDF files.
#ifndef URDF_FIXTURE_H
#define URDF_FIXTURE_H

#include "robot_fixture.h"

#define MASS(m)    "<inertial><mass value='" m "'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
#define LINK(name) "<link name='" name "'>" MASS("1") "</link>\n"
/// A revolute joint with limits, and room for more inside.
#define HINGE(name, parent, child, more)                                                                             \
    "<joint name='" name "' type='revolute'><parent link='" parent "'/><child link='" child "'/><axis xyz='0 0 1'/>" \
    "<limit lower='-1' upper='1' effort='2' velocity='3'/>" more "</joint>\n"
#define SHAPE(kind, name, more, shape) "<" kind " name='" name "'>" more "<geometry>" shape "</geometry></" kind ">"
#define ROBOT(body)                    "<robot name='r'>\n" body "</robot>\n"

#endif
