// SPDX-License-Identifier: Apache-2.0
// The rules of `stiction check`, in the order of the documentation. A new rule is a function (in one of the
// files beside) and a row here; tests/plugins/command/test_check.c asks for an example of each.
#include "check.h"

/// Not all shapes of the link are there.
#define NO_MESH "missing_mesh mesh path"

#define NOTE    STN_SEVERITY_NOTE
#define WARNING STN_SEVERITY_WARNING

/// The members that every rule has; its function is check_<name>.
#define RULE(word, level, what) .name = #word, .severity = level, .text = what, .run = check_##word

const check_rule check_rules[] = {
    // masses
    {RULE(inertia_triangle, WARNING,
          "principal moments that no rigid body has: the largest exceeds the sum of the others"),
     .said_as = "inertia"},
    {RULE(inertia_placeholder, WARNING, "an inertia of 1, 1, 1 that does not belong to the shapes")},
    {RULE(inertia_large, WARNING, "a radius of gyration beyond the shapes: wrong unit or wrong frame"),
     .unless = NO_MESH},
    {RULE(inertia_small, WARNING, "a radius of gyration of less than 1 % of the shapes: wrong unit"),
     .unless = NO_MESH},
    {RULE(inertia_point, NOTE, "a mass without inertia")},
    {RULE(com_outside, WARNING, "a centre of mass far outside the shapes"), .unless = NO_MESH},
    {RULE(density, WARNING, "a mass that makes the shapes denser than any metal or lighter than any foam")},
    {RULE(mass_zero, WARNING, "a moving link without mass in a robot that has masses"), .said_as = "massless"},
    // joints
    {RULE(joint_locked, WARNING, "equal lower and upper limits"), .said_as = "limit default"},
    {RULE(limit_large, WARNING, "limits of many turns or tens of metres: degrees or millimetres")},
    {RULE(effort_zero, WARNING, "an effort limit of 0")},
    {RULE(velocity_zero, WARNING, "a velocity limit of 0")},
    {RULE(mimic_limits, WARNING, "a mimic joint that its master drives beyond its own limits")},
    {RULE(number_extreme, WARNING, "masses, efforts or damping of an extreme size")},
    {RULE(name_shared, NOTE, "a link and a joint of the same name")},
    // shapes
    {RULE(collision_missing, WARNING,
          "a moving link that is seen but touches nothing, or a robot without any collision shape")},
    {RULE(scale_robot, WARNING, "a robot of more than 50 m or less than 5 mm")},
    {RULE(scale_mesh, WARNING, "a mesh a hundred times larger than the robot")},
    {RULE(scale_link, WARNING, "collision and visual shapes of a link that differ by a factor above 50"),
     .unless = NO_MESH},
    {RULE(slab_thickness, WARNING,
          "a compliant plane without the thickness of its layer, which hydroelastic contact refuses")},
    {RULE(friction_direction, WARNING,
          "a plane whose friction direction is its normal, so that the second coefficient acts in all directions")},
    {RULE(self_collision, WARNING, "shapes that may collide and overlap where the robot starts")},
    {RULE(package_unused, NOTE, "a folder given by --package that neither a mesh nor an included model comes from")},
};
const int32_t check_rule_count = STN_COUNT(check_rules);
