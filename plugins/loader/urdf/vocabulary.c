// SPDX-License-Identifier: Apache-2.0
// The vocabulary of a robot file: every element that is read, with its attributes and its children. Whatever else
// stands in a file is skipped, and said once for each name, so that nothing is missing silently.
#include <string.h>

#include "urdf.h"

/// Lists are names between spaces. A child that is listed here but has no entry of its own is skipped without a note.
typedef struct word {
    const char *parent; // NULL: anywhere
    const char *name;
    const char *attributes;
    const char *children;
} word;

#define VALUE(parent, name) \
    { parent, name, "value", "" }
#define JOINT                                                                                                    \
    "parent child origin axis limit dynamics joint_properties mimic drake:screw_thread_pitch safety_controller " \
    "calibration"
#define UNSEEN "drake:illustration_properties drake:perception_properties drake:accepting_renderer"

static const word words[] = {
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
     "drake:compliant_hydroelastic drake:soft_hydroelastic"},
    VALUE(NULL, "drake:mu_static"),
    VALUE(NULL, "drake:mu_dynamic"),
    VALUE(NULL, "drake:point_contact_stiffness"),
    VALUE(NULL, "drake:relaxation_time"),
    VALUE(NULL, "drake:hunt_crossley_dissipation"),
    VALUE(NULL, "drake:hydroelastic_modulus"),
    {"link", "contact", "", "lateral_friction stiffness damping restitution"},
    VALUE("contact", "lateral_friction"),
    VALUE("contact", "stiffness"),
    VALUE("contact", "damping"),
    VALUE("contact", "restitution"),
    {NULL, "gazebo", "reference", "mu1 mu2 kp kd"},
    VALUE("gazebo", "mu1"),
    VALUE("gazebo", "mu2"),
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

static bool lists(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length) {
        bool whole = (at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0');
        if (whole) {
            return true;
        }
    }
    return false;
}

static const word *find_word(const char *parent, const char *name) {
    for (int32_t i = 0; i < STN_COUNT(words); i++) {
        const word *w = &words[i];
        if (strcmp(w->name, name) == 0 && (w->parent == NULL || strcmp(w->parent, parent) == 0)) {
            return w;
        }
    }
    return NULL;
}

/// "link a", "collision_filter_group g", "gazebo a": the child of <robot> that a finding is about.
static void label_top(urdf_reader *reader, const xml_element *top) {
    if (top == NULL || !lists(words[0].children, xml_name(top))) {
        reader->label = "robot";
        return;
    }
    const char *kind = xml_name(top), *name = xml_attribute(top, "name");
    name = name == NULL ? xml_attribute(top, "reference") : name;
    kind += strncmp(kind, "drake:", 6) == 0 ? 6 : 0;
    reader->label = name != NULL ? urdf_format(reader, "%s %s", kind, name) : kind;
}

static void visit_attributes(urdf_reader *reader, const xml_element *top, const xml_element *xml, const word *w) {
    for (const xml_attribute_entry *a = xml_first_attribute(xml); a != NULL; a = xml_next_attribute(a)) {
        const char *name = xml_attribute_name(a);
        if (!lists(w->attributes, name) && strncmp(name, "xmlns", 5) != 0 &&
            urdf_first(reader, URDF_SKIPPED_ATTRIBUTE, name)) {
            label_top(reader, top);
            urdf_note(reader, xml, "skipped", "the attribute '%.80s' of <%.80s> is not read", name, xml_name(xml));
        }
    }
}

static void say_skipped(urdf_reader *reader, const xml_element *top, const xml_element *xml) {
    const char *name = xml_name(xml);
    if (!urdf_first(reader, URDF_SKIPPED_ELEMENT, name)) {
        return;
    }
    label_top(reader, top);
    if (lists(forces, name)) {
        urdf_warn(reader, xml, "skipped", "<%s> is not read: the robot moves as if it were not there", name);
    } else {
        urdf_note(reader, xml, "skipped", "<%.80s> is not read", name);
    }
}

/// As deep as the table goes.
static void visit(urdf_reader *reader, const xml_element *top, const xml_element *xml, const word *w) {
    visit_attributes(reader, top, xml, w);
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        const xml_element *owner = top != NULL ? top : e;
        const word *inner = find_word(w->name, xml_name(e));
        if (!lists(w->children, xml_name(e))) {
            say_skipped(reader, owner, e);
        } else if (inner != NULL) {
            visit(reader, owner, e, inner);
        }
    }
}

void urdf_note_skipped(urdf_reader *reader, const xml_element *root) {
    visit(reader, NULL, root, &words[0]);
}
