// SPDX-License-Identifier: Apache-2.0
// The rules of `stiction check`, in the order of the documentation. A new rule is a function (one of the files
// check_*.c) and a row here; tests/core/cli/test_check.c asks for an example of each.
#include "cli/check.h"

#define NOTE    STN_SEVERITY_NOTE
#define WARNING STN_SEVERITY_WARNING
#define ERROR   STN_SEVERITY_ERROR

const check_rule check_rules[] = {
    // masses
    {"inertia_triangle", WARNING, "principal moments that no rigid body has: the largest exceeds the sum of the others",
     "inertia", check_inertia_triangle},
    {"inertia_placeholder", WARNING, "an inertia of 1, 1, 1 that does not belong to the shapes", NULL,
     check_inertia_placeholder},
    {"inertia_large", WARNING, "a radius of gyration beyond the shapes: wrong unit or wrong frame", NULL,
     check_inertia_large},
    {"inertia_small", WARNING, "a radius of gyration of less than 1 % of the shapes: wrong unit", NULL,
     check_inertia_small},
    {"inertia_point", NOTE, "a mass without inertia", NULL, check_inertia_point},
    {"com_outside", WARNING, "a centre of mass far outside the shapes", NULL, check_com_outside},
    {"density", WARNING, "a mass that makes the shapes denser than any metal or lighter than any foam", NULL,
     check_density},
    {"mass_zero", WARNING, "a moving link without mass in a robot that has masses", "massless", check_mass_zero},
    // joints
    {"joint_locked", WARNING, "equal lower and upper limits", "limit default", check_joint_locked},
    {"limit_large", WARNING, "limits of many turns or tens of metres: degrees or millimetres", NULL, check_limit_large},
    {"effort_zero", WARNING, "an effort limit of 0", NULL, check_effort_zero},
    {"velocity_zero", WARNING, "a velocity limit of 0", NULL, check_velocity_zero},
    {"mimic_limits", WARNING, "a mimic joint that its master drives beyond its own limits", NULL, check_mimic_limits},
    {"number_extreme", WARNING, "masses, efforts or damping of an extreme size", NULL, check_number_extreme},
    {"name_shared", NOTE, "a link and a joint of the same name", NULL, check_name_shared},
    // shapes
    {"collision_missing", WARNING,
     "a moving link that is seen but touches nothing, or a robot without any collision shape", NULL,
     check_collision_missing},
    {"mesh_open", WARNING, "a collision mesh that is not closed", NULL, check_mesh_open},
    {"mesh_inside_out", WARNING, "a closed collision mesh whose triangles face inwards", NULL, check_mesh_inside_out},
    {"mesh_degenerate", NOTE, "a mesh with triangles without area", "mesh_degenerate", check_mesh_degenerate},
    {"scale_robot", WARNING, "a robot of more than 50 m or less than 5 mm", NULL, check_scale_robot},
    {"scale_mesh", WARNING, "a mesh a hundred times larger than the robot", NULL, check_scale_mesh},
    {"scale_link", WARNING, "collision and visual shapes of a link that differ by a factor above 50", NULL,
     check_scale_link},
    {"self_collision", WARNING, "shapes that may collide and overlap where the robot starts", NULL,
     check_self_collision},
    {"package_unused", NOTE, "a folder given by --package that no mesh comes from", NULL, check_package_unused},
};
const int32_t check_rule_count = STN_COUNT(check_rules);
