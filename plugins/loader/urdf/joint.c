// SPDX-License-Identifier: Apache-2.0
// <joint>: type, links, axis, limits, damping and friction. Links and mimic masters are looked up when the whole file
// is read.
#include <string.h>

#include "urdf.h"

/// false: no such type, said.
static bool parse_type(urdf_reader *reader, const xml_element *xml, stn_joint_type *type) {
    static const char *const other[] = {"spherical", "curvilinear"};
    const char *names[STN_JOINT_COUNT];
    const char *text = xml_attribute(xml, "type");
    if (text == NULL || text[0] == '\0') {
        urdf_error(reader, xml, "missing", "<joint> has no type: add type=\"revolute\" or another");
        return false;
    }
    for (int32_t i = 0; i < STN_JOINT_COUNT; i++) {
        names[i] = stn_joint_type_name((stn_joint_type)i);
        if (strcmp(text, names[i]) == 0) {
            *type = (stn_joint_type)i;
            return true;
        }
    }
    for (int32_t i = 0; i < STN_COUNT(other); i++) {
        if (strcmp(text, other[i]) == 0) {
            urdf_error(reader, xml, "joint_type",
                       "type '%s' is not supported: fixed, revolute, continuous, prismatic and floating are", text);
            return false;
        }
    }
    const char *near = stn_suggest(text, names, STN_JOINT_COUNT);
    urdf_error(reader, xml, "joint_type",
               "unknown type '%.80s'%s%s%s: use fixed, revolute, continuous, prismatic or "
               "floating",
               text, near != NULL ? ", did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
    return false;
}

static void parse_axis(urdf_reader *reader, const xml_element *xml, stn_joint_spec *spec) {
    const xml_element *axis = urdf_child(reader, xml, "axis");
    double xyz[3] = {1.0, 0.0, 0.0};
    spec->axis = stn_vec3_make(1.0, 0.0, 0.0);
    if (!stn_joint_type_has_axis(spec->type)) {
        return;
    }
    if (axis == NULL) {
        urdf_note(reader, xml, "default", "no <axis>: taken as 1 0 0");
        return;
    }
    if (!urdf_required(reader, axis, "xyz", 3, xyz)) {
        return;
    }
    stn_vec3 given = stn_vec3_make(xyz[0], xyz[1], xyz[2]);
    stn_vec3 unit = stn_vec3_normalize_or(given, stn_vec3_zero());
    if (stn_vec3_dot(unit, unit) == 0.0) {
        urdf_error(reader, axis, "axis", "the axis has length 0: give a direction such as xyz=\"0 0 1\"");
        return;
    }
    double length = stn_vec3_norm(given);
    if (!(fabs(length - 1.0) <= 1e-3)) {
        urdf_note(reader, axis, "axis", "the axis has length %g: scaled to 1", length);
    }
    spec->axis = unit;
}

static void parse_range(urdf_reader *reader, const xml_element *limit, stn_joint_spec *spec) {
    const char *unit = spec->type == STN_JOINT_PRISMATIC ? "m" : "rad";
    bool no_lower = xml_attribute(limit, "lower") == NULL, no_upper = xml_attribute(limit, "upper") == NULL;
    double lower = 0.0, upper = 0.0;
    bool good = urdf_real(reader, limit, "lower", &lower) || no_lower;
    good = (urdf_real(reader, limit, "upper", &upper) || no_upper) && good;
    if (!good) {
        return;
    }
    if (lower > upper && !reader->config->bullet_limits) {
        urdf_error(reader, limit, "limit", "lower limit %g %s is above the upper limit %g %s: swap or correct them",
                   lower, unit, upper, unit);
        return;
    }
    if (lower > upper) {
        urdf_warn(reader, limit, "limit", "lower limit %g %s above the upper limit %g %s: unlimited", lower, unit,
                  upper, unit);
        return;
    }
    spec->lower = lower;
    spec->upper = upper;
    const char *locked = lower == upper ? ", so the joint is locked there" : "";
    if (no_lower || no_upper) {
        urdf_warn(reader, limit, "default", "<limit> has no %s: taken as 0 %s%s",
                  no_lower && no_upper ? "lower and no upper" : (no_lower ? "lower" : "upper"), unit, locked);
    } else if (lower == upper) {
        urdf_warn(reader, limit, "limit", "lower and upper limit are both %g %s%s", lower, unit, locked);
    }
}

static void parse_limit(urdf_reader *reader, const xml_element *xml, stn_joint_spec *spec) {
    const xml_element *limit = urdf_child(reader, xml, "limit");
    bool ranged = spec->type == STN_JOINT_REVOLUTE || spec->type == STN_JOINT_PRISMATIC;
    if (limit == NULL) {
        if (ranged) {
            urdf_warn(reader, xml, "default", "a %s joint without <limit>: taken as unlimited",
                      stn_joint_type_name(spec->type));
        }
        return;
    }
    if (!stn_joint_type_has_axis(spec->type)) {
        return;
    }
    if (ranged) {
        parse_range(reader, limit, spec);
    }
    bool slides = spec->type == STN_JOINT_PRISMATIC;
    urdf_not_negative(reader, limit, "effort", slides ? "N" : "N m", &spec->effort);
    urdf_not_negative(reader, limit, "velocity", slides ? "m/s" : "rad/s", &spec->velocity);
    bool no_effort = xml_attribute(limit, "effort") == NULL, no_velocity = xml_attribute(limit, "velocity") == NULL;
    if (no_effort || no_velocity) {
        urdf_warn(reader, limit, "default", "<limit> has no %s: taken as unlimited",
                  no_effort && no_velocity ? "effort and no velocity" : (no_effort ? "effort" : "velocity"));
    }
}

static void parse_dynamics(urdf_reader *reader, const xml_element *xml, stn_joint_spec *spec) {
    const xml_element *dynamics = urdf_child(reader, xml, "dynamics");
    const xml_element *old = urdf_child(reader, xml, "joint_properties"); // spelling of early files
    dynamics = dynamics != NULL ? dynamics : old;
    if (dynamics == NULL || !stn_joint_type_has_axis(spec->type)) {
        return;
    }
    bool slides = spec->type == STN_JOINT_PRISMATIC;
    urdf_not_negative(reader, dynamics, "damping", slides ? "N s/m" : "N m s/rad", &spec->damping);
    urdf_not_negative(reader, dynamics, "friction", slides ? "N" : "N m", &spec->friction);
}

static void parse_mimic(urdf_reader *reader, const xml_element *xml, urdf_joint *joint) {
    const xml_element *mimic = urdf_child(reader, xml, "mimic");
    if (mimic == NULL) {
        return;
    }
    joint->mimic = urdf_name_of(reader, mimic, "joint");
    urdf_real(reader, mimic, "multiplier", &joint->spec.mimic_multiplier);
    urdf_real(reader, mimic, "offset", &joint->spec.mimic_offset);
}

static const char *parse_end(urdf_reader *reader, const xml_element *xml, const char *which) {
    const xml_element *end = urdf_child(reader, xml, which);
    if (end == NULL) {
        urdf_error(reader, xml, "missing", "<joint> has no <%s>: add <%s link=\"...\"/>", which, which);
        return NULL;
    }
    return urdf_name_of(reader, end, "link");
}

void urdf_parse_joint(urdf_reader *reader, const xml_element *xml) {
    static const char *const known[] = {
        "parent",      "child", "origin", "axis", "limit", "dynamics", "joint_properties", "mimic", "safety_controller",
        "calibration", NULL};
    reader->label = "joint";
    const char *name = urdf_name_of(reader, xml, "name");
    reader->label = name != NULL ? urdf_format(reader, "joint %s", name) : reader->label;
    int32_t other = name != NULL ? urdf_names_find(&reader->joint_names, 0, name) : -1;
    if (other >= 0) {
        urdf_error(reader, xml, "duplicate_joint", "line %d has a joint of the same name: rename one",
                   (int)reader->joints[other].line);
    }
    stn_joint_type type = STN_JOINT_FIXED;
    bool good = parse_type(reader, xml, &type);
    int32_t index = reader->joint_count++;
    urdf_joint *joint = &reader->joints[index];
    *joint = (urdf_joint){.label = reader->label, .xml = xml, .line = xml_line(xml)};
    joint->spec = stn_joint_spec_default(name, type);
    if (name != NULL && other < 0) {
        urdf_names_add(&reader->joint_names, 0, name, index);
    }
    urdf_skip_others(reader, xml, known);
    joint->parent = parse_end(reader, xml, "parent");
    joint->child = parse_end(reader, xml, "child");
    joint->spec.origin = urdf_origin(reader, xml);
    if (good) {
        parse_axis(reader, xml, &joint->spec);
        parse_limit(reader, xml, &joint->spec);
        parse_dynamics(reader, xml, &joint->spec);
        parse_mimic(reader, xml, joint);
    }
}
