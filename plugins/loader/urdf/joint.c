// SPDX-License-Identifier: Apache-2.0
// <joint> and <drake:joint>: type, links, axis, limits, damping and friction. Links and mimic masters are looked up
// when the whole file is read.
#include <string.h>

#include "urdf.h"

/// false: no such type, said.
static bool parse_type(robot_reader *reader, const xml_element *xml, stn_joint_type *type) {
    static const char wanted[] = "fixed, revolute, continuous, prismatic, floating, planar, ball, screw or universal";
    const char *names[STN_JOINT_COUNT];
    const char *text = xml_attribute(xml, "type");
    if (text == NULL || text[0] == '\0') {
        robot_error(reader, xml, "missing", "<joint> has no type: add type=\"revolute\" or another");
        return false;
    }
    text = strcmp(text, "spherical") == 0 ? "ball" : text; // MuJoCo's and Bullet's word
    for (int32_t i = 0; i < STN_JOINT_COUNT; i++) {
        names[i] = stn_joint_type_name((stn_joint_type)i);
        if (strcmp(text, names[i]) == 0) {
            *type = (stn_joint_type)i;
            return true;
        }
    }
    if (strcmp(text, "curvilinear") == 0) {
        robot_error(reader, xml, "joint_type", "type 'curvilinear' is not supported: use %s", wanted);
        return false;
    }
    const char *near = robot_suggest(reader, text, names, STN_JOINT_COUNT);
    robot_error(reader, xml, "joint_type", "unknown type '%.80s'%s%s%s: use %s", text,
                near != NULL ? ", did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "", wanted);
    return false;
}

static void parse_range(robot_reader *reader, const xml_element *limit, stn_joint_spec *spec) {
    const char *unit = stn_joint_type_units(spec->type)->position;
    bool no_lower = xml_attribute(limit, "lower") == NULL, no_upper = xml_attribute(limit, "upper") == NULL;
    double lower = 0.0, upper = 0.0;
    bool good = robot_real(reader, limit, "lower", &lower) || no_lower;
    good = (robot_real(reader, limit, "upper", &upper) || no_upper) && good;
    if (!good) {
        return;
    }
    if (lower > upper && !((const urdf_config *)reader->config)->bullet_limits) {
        robot_error(reader, limit, "limit", "lower limit %g %s is above the upper limit %g %s: swap or correct them",
                    lower, unit, upper, unit);
        return;
    }
    if (lower > upper) {
        robot_warn(reader, limit, "limit", "lower limit %g %s above the upper limit %g %s: unlimited", lower, unit,
                   upper, unit);
        return;
    }
    spec->lower = lower;
    spec->upper = upper;
    const char *locked = lower == upper ? ", so the joint is locked there" : "";
    if (no_lower || no_upper) {
        robot_warn(reader, limit, "default", "<limit> has no %s: taken as 0 %s%s",
                   no_lower && no_upper ? "lower and no upper" : (no_lower ? "lower" : "upper"), unit, locked);
    } else if (lower == upper) {
        robot_warn(reader, limit, "limit", "lower and upper limit are both %g %s%s", lower, unit, locked);
    }
}

/// Axis, limits, damping, friction and pitch.
static void parse_motion(robot_reader *reader, const xml_element *xml, stn_joint_spec *spec) {
    const stn_joint_units *units = stn_joint_type_units(spec->type);
    const xml_element *axis = robot_child(reader, xml, "axis");
    double xyz[3] = {1.0, 0.0, 0.0}, three[3] = {0.0};
    spec->axis = stn_vec3_make(1.0, 0.0, 0.0);
    if (stn_joint_type_has_axis(spec->type) && axis == NULL) {
        robot_note(reader, xml, "default", "no <axis>: taken as 1 0 0");
    } else if (stn_joint_type_has_axis(spec->type) && robot_required(reader, axis, "xyz", 3, xyz)) {
        robot_direction(reader, axis, xyz, &spec->axis);
    }
    const char *type = stn_joint_type_name(spec->type);
    const xml_element *limit = robot_child(reader, xml, "limit");
    bool ranged = spec->type == STN_JOINT_REVOLUTE || spec->type == STN_JOINT_PRISMATIC;
    if (limit == NULL && ranged) {
        robot_warn(reader, xml, "default", "a %s joint without <limit>: taken as unlimited", type);
    }
    if (limit != NULL && spec->type != STN_JOINT_FIXED) {
        bool given = xml_attribute(limit, "lower") != NULL || xml_attribute(limit, "upper") != NULL;
        if (ranged || (given && stn_joint_type_is_limited(spec->type))) { // a screw need not be limited, as in Drake
            parse_range(reader, limit, spec);
        } else if (given) {
            robot_note(reader, limit, "skipped", "lower and upper of a %s joint are not read", type);
        }
        robot_not_negative(reader, limit, "effort", units->effort, &spec->effort);
        robot_not_negative(reader, limit, "velocity", units->velocity, &spec->velocity);
        robot_not_negative(reader, limit, "drake:acceleration", units->acceleration, &spec->acceleration);
        bool no_effort = xml_attribute(limit, "effort") == NULL, no_velocity = xml_attribute(limit, "velocity") == NULL;
        if (no_effort || no_velocity) {
            robot_warn(reader, limit, "default", "<limit> has no %s: taken as unlimited",
                       no_effort && no_velocity ? "effort and no velocity" : (no_effort ? "effort" : "velocity"));
        }
    }
    const xml_element *dynamics = robot_child(reader, xml, "dynamics");
    const xml_element *old = robot_child(reader, xml, "joint_properties"); // spelling of early files
    dynamics = dynamics != NULL ? dynamics : old;
    if (dynamics != NULL && spec->type != STN_JOINT_FIXED) {
        // Drake gives a planar joint three figures, along x, along y and about the axis; the model has one for all.
        const char *damping = xml_attribute(dynamics, "damping");
        if (spec->type == STN_JOINT_PLANAR && damping != NULL && stn_parse_reals(damping, three, 3) == 3) {
            robot_set_damping(reader, dynamics, three, 3, spec);
        } else {
            robot_not_negative(reader, dynamics, "damping", units->damping, &spec->damping);
        }
        robot_not_negative(reader, dynamics, "friction", units->effort, &spec->friction);
    }
    const xml_element *pitch = robot_child(reader, xml, "drake:screw_thread_pitch");
    if (spec->type == STN_JOINT_SCREW && pitch == NULL) {
        robot_error(reader, xml, "missing",
                    "a screw joint without <drake:screw_thread_pitch value=\"...\"/> [m per turn]: add it");
    } else if (spec->type == STN_JOINT_SCREW) {
        robot_required(reader, pitch, "value", 1, &spec->screw_pitch);
    }
}

static const char *parse_end(robot_reader *reader, const xml_element *xml, const char *which) {
    const xml_element *end = robot_child(reader, xml, which);
    if (end == NULL) {
        robot_error(reader, xml, "missing", "<joint> has no <%s>: add <%s link=\"...\"/>", which, which);
        return NULL;
    }
    return robot_name_of(reader, end, "link");
}

void urdf_parse_joint(robot_reader *reader, const xml_element *xml) {
    reader->label = "joint";
    const char *name = robot_name_of(reader, xml, "name");
    reader->label = name != NULL ? robot_text(reader, "joint %s", name) : reader->label;
    int32_t other = name != NULL ? robot_names_find(&reader->joint_names, 0, name) : -1;
    if (other >= 0) {
        robot_error(reader, xml, "duplicate_joint", "line %d has a joint of the same name: rename one",
                    (int)reader->joints[other].place.line);
    }
    stn_joint_type type = STN_JOINT_FIXED;
    bool good = parse_type(reader, xml, &type);
    int32_t index = robot_add_joint(reader, name, type, xml);
    if (index < 0) {
        return;
    }
    robot_joint *joint = &reader->joints[index];
    joint->untyped = !good;
    joint->parent = parse_end(reader, xml, "parent");
    joint->child = parse_end(reader, xml, "child");
    joint->spec.origin = urdf_origin(reader, xml);
    if (good) {
        parse_motion(reader, xml, &joint->spec);
    }
    const xml_element *mimic = good ? robot_child(reader, xml, "mimic") : NULL;
    if (mimic != NULL) {
        joint->mimic = robot_name_of(reader, mimic, "joint");
        robot_real(reader, mimic, "multiplier", &joint->spec.mimic_multiplier);
        robot_real(reader, mimic, "offset", &joint->spec.mimic_offset);
    }
}
