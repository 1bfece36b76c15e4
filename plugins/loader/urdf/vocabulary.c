// SPDX-License-Identifier: Apache-2.0
// The vocabulary of a robot file: every element that is read, with its attributes and its children. Whatever else
// stands in a file is skipped, and said once for each name, so that nothing is missing silently.
#include "urdf.h"

#define VALUE(parent, name) \
    { parent, name, "value", "" }
#define JOINT                                                                                                    \
    "parent child origin axis limit dynamics joint_properties mimic drake:screw_thread_pitch safety_controller " \
    "calibration"
#define UNSEEN "drake:illustration_properties drake:perception_properties drake:accepting_renderer"

static const robot_word words[] = {
    {NULL, "robot", "name version", "link joint drake:joint material transmission drake:collision_filter_group gazebo"},
    {NULL, "link", "name", "inertial visual collision contact"},
    {NULL, "inertial", "", "mass inertia origin"},
    {NULL, "origin", "xyz rpy", ""},
    VALUE("inertial", "mass"),
    {NULL, "inertia", "ixx iyy izz ixy ixz iyz", ""},
    {NULL, "visual", "name", "origin geometry material " UNSEEN},
    {NULL, "collision", "name", "origin geometry drake:proximity_properties " UNSEEN},
    {NULL, "geometry", "", "box sphere cylinder capsule drake:capsule drake:ellipsoid plane mesh"},
    {NULL, "box", "size", ""},
    {NULL, "sphere", "radius", ""},
    {NULL, "cylinder", "radius length", ""},
    {NULL, "capsule", "radius length", ""},
    {NULL, "drake:capsule", "radius length", ""},
    {NULL, "drake:ellipsoid", "a b c", ""},
    {NULL, "plane", "normal", ""},
    {NULL, "mesh", "filename scale", "drake:declare_convex"},
    {NULL, "material", "name", "color"},
    {NULL, "color", "rgba", ""},
    {NULL, "drake:proximity_properties", "",
     "drake:mu_static drake:mu_dynamic drake:point_contact_stiffness drake:relaxation_time "
     "drake:hunt_crossley_dissipation drake:hydroelastic_modulus drake:rigid_hydroelastic "
     "drake:compliant_hydroelastic drake:soft_hydroelastic drake:mesh_resolution_hint drake:hydroelastic_margin "
     "drake:slab_thickness"},
    VALUE(NULL, "drake:mu_static"),
    VALUE(NULL, "drake:mu_dynamic"),
    VALUE(NULL, "drake:point_contact_stiffness"),
    VALUE(NULL, "drake:relaxation_time"),
    VALUE(NULL, "drake:hunt_crossley_dissipation"),
    VALUE(NULL, "drake:hydroelastic_modulus"),
    VALUE(NULL, "drake:mesh_resolution_hint"),
    VALUE(NULL, "drake:hydroelastic_margin"),
    VALUE(NULL, "drake:slab_thickness"),
    {"link", "contact", "", "lateral_friction stiffness damping restitution"},
    VALUE("contact", "lateral_friction"),
    VALUE("contact", "stiffness"),
    VALUE("contact", "damping"),
    VALUE("contact", "restitution"),
    {NULL, "gazebo", "reference", "mu1 mu2 fdir1 kp kd"},
    VALUE("gazebo", "mu1"),
    VALUE("gazebo", "mu2"),
    {"gazebo", "fdir1", "value", ""},
    VALUE("gazebo", "kp"),
    VALUE("gazebo", "kd"),
    {"robot", "joint", "name type", JOINT},
    {NULL, "drake:joint", "name type", JOINT},
    {NULL, "parent", "link", ""},
    {NULL, "child", "link", ""},
    {NULL, "axis", "xyz", ""},
    {NULL, "limit", "lower upper effort velocity drake:acceleration", ""},
    {NULL, "dynamics", "damping friction", ""},
    {NULL, "joint_properties", "damping friction", ""},
    {NULL, "mimic", "joint multiplier offset", ""},
    VALUE(NULL, "drake:screw_thread_pitch"),
    {NULL, "transmission", "name type", "type joint actuator mechanicalReduction"},
    {"transmission", "joint", "name", "hardwareInterface"},
    {NULL, "actuator", "name", "mechanicalReduction drake:rotor_inertia drake:gear_ratio hardwareInterface"},
    VALUE(NULL, "drake:rotor_inertia"),
    VALUE(NULL, "drake:gear_ratio"),
    {NULL, "drake:collision_filter_group", "name ignore",
     "drake:member drake:member_group drake:ignored_collision_filter_group"},
    {NULL, "drake:member", "link", ""},
    {NULL, "drake:member_group", "name", ""},
    {NULL, "drake:ignored_collision_filter_group", "name", ""},
};

/// Without these the mechanism is another one, so that skipping them is a warning.
static const char forces[] = "drake:linear_bushing_rpy drake:linear_spring_damper drake:ball_constraint "
                             "drake:distance_constraint drake:tendon_constraint drake:weld_constraint loop_joint "
                             "force_element";

void urdf_note_skipped(robot_reader *reader, const xml_element *root) {
    static const robot_vocabulary vocabulary = {
        .words = words,
        .count = STN_COUNT(words),
        .labels = "link joint drake:joint material transmission drake:collision_filter_group gazebo",
        .severity = STN_SEVERITY_NOTE,
        .exceptions = forces,
    };
    robot_note_skipped(reader, &vocabulary, root);
}
