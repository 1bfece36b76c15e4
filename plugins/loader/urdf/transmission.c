// SPDX-License-Identifier: Apache-2.0
// <transmission>: which actuator drives a joint, and how. Two dialects: the type as an attribute (early ROS) or as an
// element, the reduction beside the joint or inside <actuator>. Reduction and Drake's gear ratio are one thing, turns
// of the motor per turn of the joint; drake:gear_ratio stands beside the rotor inertia that it belongs to and wins over
// mechanicalReduction, which many files leave at 1.
#include <string.h>

#include "urdf.h"

typedef struct drive {
    double rotor_inertia; // [kg m^2] or [kg] at the rotor
    double gear_ratio, reduction;
    bool has_inertia, has_ratio, has_reduction;
} drive;

/// `value` of a child. Present but bad is an error.
static bool parse_value(robot_reader *reader, const xml_element *parent, const char *name, double *value) {
    const xml_element *xml = robot_child(reader, parent, name);
    return xml != NULL && robot_required(reader, xml, "value", 1, value);
}

static void parse_reduction(robot_reader *reader, const xml_element *parent, drive *d) {
    const xml_element *xml = robot_child(reader, parent, "mechanicalReduction");
    if (xml == NULL || !robot_setting(reader, xml, STN_SEVERITY_ERROR, &d->reduction)) {
        return;
    }
    d->has_reduction = d->reduction != 0.0;
    if (!d->has_reduction) {
        robot_warn(reader, xml, "range", "mechanicalReduction = 0 is no reduction; ignored");
    }
}

/// The joint that the transmission drives, NULL when it drives none that can be driven; said.
static robot_joint *driven_joint(robot_reader *reader, const xml_element *xml) {
    const xml_element *joint = robot_child(reader, xml, "joint");
    const char *name = joint != NULL ? robot_name_of(reader, joint, "name") : NULL;
    if (name == NULL) {
        return NULL;
    }
    int32_t index = robot_names_find(&reader->joint_names, 0, name);
    if (index < 0) {
        robot_warn(reader, joint, "unknown_joint", "the joint '%s' does not exist: its motor is ignored", name);
        return NULL;
    }
    robot_joint *driven = &reader->joints[index];
    if (!stn_joint_type_is_axial(driven->spec.type)) {
        robot_note(reader, xml, "transmission", "a %s joint has no motor: the transmission is not read",
                   stn_joint_type_name(driven->spec.type));
        return NULL;
    }
    if (driven->spec.effort == 0.0) {
        robot_note(reader, xml, "transmission", "the effort limit of joint '%s' is 0: it gets no actuator", name);
        return NULL;
    }
    return driven;
}

void urdf_parse_transmission(robot_reader *reader, const xml_element *xml) {
    const char *name = xml_attribute(xml, "name");
    reader->label = name != NULL ? robot_text(reader, "transmission %s", name) : "transmission";
    const char *type = xml_attribute(xml, "type");
    const xml_element *type_xml = type == NULL ? robot_child(reader, xml, "type") : NULL;
    type = type != NULL ? type : type_xml != NULL ? xml_text(type_xml) : "";
    if (type[strspn(type, " \t\r\n")] != '\0' && strstr(type, "SimpleTransmission") == NULL) {
        robot_note(reader, xml, "transmission", "type '%.80s' is not read: only SimpleTransmission is", type);
        return;
    }
    const xml_element *actuator = robot_child(reader, xml, "actuator");
    drive d = {.gear_ratio = 1.0};
    parse_reduction(reader, xml, &d);
    if (actuator != NULL) {
        d.has_inertia = parse_value(reader, actuator, "drake:rotor_inertia", &d.rotor_inertia);
        d.has_ratio = parse_value(reader, actuator, "drake:gear_ratio", &d.gear_ratio);
        if (d.has_inertia && d.rotor_inertia < 0.0) {
            robot_error(reader, actuator, "range", "<drake:rotor_inertia> = %g kg m^2 must be >= 0", d.rotor_inertia);
        }
        if (d.has_ratio && d.gear_ratio == 0.0) {
            robot_error(reader, actuator, "range", "<drake:gear_ratio> = 0 must not be 0");
        }
        parse_reduction(reader, actuator, &d);
        if (d.has_ratio && d.has_reduction && d.reduction != d.gear_ratio && d.reduction != 1.0) {
            robot_note(reader, actuator, "transmission",
                       "mechanicalReduction %g beside <drake:gear_ratio> %g: the latter counts", d.reduction,
                       d.gear_ratio);
        }
    }
    robot_joint *joint = actuator != NULL ? driven_joint(reader, xml) : NULL;
    if (joint == NULL) {
        return;
    }
    if (joint->transmission != NULL) {
        robot_warn(reader, xml, "transmission", "%s is driven by %s already: this one is ignored", joint->label,
                   joint->transmission);
        return;
    }
    joint->transmission = reader->label;
    joint->spec.actuator = xml_attribute(actuator, "name");
    joint->spec.rotor_inertia = d.rotor_inertia;
    joint->spec.gear_ratio = d.has_ratio ? d.gear_ratio : d.has_reduction ? d.reduction : 1.0;
}
