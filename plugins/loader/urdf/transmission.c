// SPDX-License-Identifier: Apache-2.0
// <transmission>: the motor's rotor inertia and gear ratio (Drake's tags inside <actuator>) go to the joint it drives.
#include <string.h>

#include "urdf.h"

static urdf_joint *driven_joint(urdf_reader *reader, const xml_element *xml) {
    const xml_element *joint = urdf_child(reader, xml, "joint");
    const char *name = joint != NULL ? urdf_name_of(reader, joint, "name") : NULL;
    if (name == NULL) {
        return NULL;
    }
    int32_t index = urdf_names_find(&reader->joint_names, 0, name);
    if (index < 0) {
        urdf_warn(reader, joint, "unknown_joint", "the joint '%s' does not exist: its motor is ignored", name);
        return NULL;
    }
    return &reader->joints[index];
}

static bool parse_value(urdf_reader *reader, const xml_element *actuator, const char *name, const char *unit,
                        double *value) {
    const xml_element *xml = urdf_child(reader, actuator, name);
    if (xml == NULL) {
        return false;
    }
    if (xml_attribute(xml, "value") == NULL) {
        urdf_error(reader, xml, "missing", "<%s> has no value: add it", name);
        return false;
    }
    return urdf_not_negative(reader, xml, "value", unit, value);
}

static void parse_actuator(urdf_reader *reader, const xml_element *transmission, const xml_element *actuator) {
    double inertia = 0.0, ratio = 1.0;
    bool given = parse_value(reader, actuator, "drake:rotor_inertia", "kg m^2", &inertia);
    given = parse_value(reader, actuator, "drake:gear_ratio", "1", &ratio) || given;
    urdf_joint *joint = given ? driven_joint(reader, transmission) : NULL;
    if (joint != NULL) {
        joint->spec.rotor_inertia = inertia;
        joint->spec.gear_ratio = ratio;
    }
}

void urdf_parse_transmission(urdf_reader *reader, const xml_element *xml) {
    const char *name = xml_attribute(xml, "name");
    reader->label = name != NULL ? urdf_format(reader, "transmission %s", name) : "transmission";
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "actuator") == 0) {
            parse_actuator(reader, xml, e);
        }
    }
}
