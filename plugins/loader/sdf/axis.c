// SPDX-License-Identifier: Apache-2.0
// <axis> and <axis2> of a joint: direction, limits, damping, friction, spring, what it mimics.
#include <string.h>

#include "sdf.h"

bool sdf_axis_direction(robot_reader *reader, const xml_element *axis, int32_t frame, stn_vec3 *direction) {
    const xml_element *xyz = robot_child(reader, axis, "xyz");
    double v[3] = {0.0, 0.0, 1.0};
    // The frame whose axes it is given in: until 1.4 the model's, until 1.6 a flag says, from then on a name.
    const sdf_reader *sdf = sdf_of(reader);
    const sdf_model *model = &sdf->models[sdf->frames[frame].model];
    const char *name = xyz != NULL ? xml_attribute(xyz, "expressed_in") : NULL;
    int32_t axes = frame;
    if (name != NULL && name[0] != '\0') {
        axes = sdf_need_frame(reader, sdf->frames[frame].model, xyz, "expressed_in", name);
    } else if (model->version < SDF_FRAMES &&
               sdf_flag(reader, axis, "use_parent_model_frame", model->version <= SDF_OLDEST)) {
        axes = model->frame;
    }
    if (xyz == NULL) {
        robot_note(reader, axis, "default", "<%s> has no <xyz>: taken as 0 0 1", xml_name(axis));
    }
    if (axes < 0 || (xyz != NULL && !robot_text_reals(reader, xyz, 3, v))) {
        return false;
    }
    stn_vec3 unit;
    if (!robot_direction(reader, axis, v, &unit)) {
        return false;
    }
    stn_pose turn = sdf_pose_between(reader, frame, axes);
    *direction = stn_mat3_apply(&turn.rotation, unit);
    return true;
}

static void parse_range(robot_reader *reader, const xml_element *limit, stn_joint_spec *spec) {
    double lower = -(double)INFINITY, upper = (double)INFINITY;
    sdf_limit(reader, limit, "lower", &lower);
    sdf_limit(reader, limit, "upper", &upper);
    if (!stn_joint_type_is_limited(spec->type)) {
        if (isfinite(lower) || isfinite(upper)) {
            robot_say(reader, spec->type == STN_JOINT_CONTINUOUS ? STN_SEVERITY_NOTE : STN_SEVERITY_WARNING, "skipped",
                      robot_at(limit), "lower and upper of a %s joint are not read: it is not limited",
                      stn_joint_type_name(spec->type));
        }
        return;
    }
    const char *unit = stn_joint_type_units(spec->type)->position;
    if (lower > upper || lower == (double)INFINITY || upper == -(double)INFINITY) {
        robot_error(reader, limit, "limit", "lower limit %g %s is above the upper limit %g %s: swap or correct them",
                    lower, unit, upper, unit);
        return;
    }
    if (lower == upper) {
        robot_warn(reader, limit, "limit", "lower and upper limit are both %g %s, so the joint is locked there", lower,
                   unit);
    }
    spec->lower = lower;
    spec->upper = upper;
}

/// A bound that is negative is none.
static void parse_bound(robot_reader *reader, const xml_element *limit, const char *name, double *value) {
    double read = (double)INFINITY;
    if (sdf_limit(reader, limit, name, &read)) {
        *value = read < 0.0 ? (double)INFINITY : read;
    }
}

void sdf_parse_axis(robot_reader *reader, const xml_element *axis, int32_t frame, robot_joint *joint) {
    const sdf_reader *sdf = sdf_of(reader);
    stn_joint_spec *spec = &joint->spec;
    const stn_joint_units *units = stn_joint_type_units(spec->type);
    const xml_element *limit = robot_child(reader, axis, "limit"), *dynamics = robot_child(reader, axis, "dynamics");
    if (limit != NULL) {
        parse_range(reader, limit, spec);
        parse_bound(reader, limit, "effort", &spec->effort);
        parse_bound(reader, limit, "velocity", &spec->velocity);
        parse_bound(reader, limit, "drake:acceleration", &spec->acceleration);
    }
    if (dynamics != NULL) {
        double stiffness = 0.0, rest = 0.0;
        sdf_not_negative(reader, dynamics, "damping", units->damping, &spec->damping);
        sdf_not_negative(reader, dynamics, "friction", units->effort, &spec->friction);
        sdf_not_negative(reader, dynamics, "spring_stiffness", units->stiffness, &stiffness);
        sdf_number(reader, dynamics, "spring_reference", &rest);
        if (stiffness > 0.0 && !stn_joint_type_is_axial(spec->type)) {
            robot_warn(reader, dynamics, "skipped", "<spring_stiffness> of a %s joint is not read: it has no spring",
                       stn_joint_type_name(spec->type));
        } else if (stiffness > 0.0) {
            spec->stiffness = stiffness;
            spec->rest = rest;
        }
    }
    // follower = multiplier (leader - reference) + offset.
    const xml_element *mimic = robot_child(reader, axis, "mimic");
    const char *name = mimic != NULL ? robot_name_of(reader, mimic, "joint") : NULL;
    if (name == NULL) {
        return;
    }
    double multiplier = 1.0, offset = 0.0, reference = 0.0;
    sdf_number(reader, mimic, "multiplier", &multiplier);
    sdf_number(reader, mimic, "offset", &offset);
    sdf_number(reader, mimic, "reference", &reference);
    const char *which = xml_attribute(mimic, "axis");
    int32_t model = sdf->frames[frame].model, leader = sdf_find_frame(reader, model, name);
    const char *full = leader >= 0 && sdf->frames[leader].kind == SDF_JOINT
                           ? sdf->frames[leader].name
                           : robot_text(reader, "%s%s", sdf->models[model].prefix, name);
    bool second = which != NULL && strcmp(which, "axis2") == 0;
    joint->mimic = second ? sdf_second_name(reader, full) : full;
    spec->mimic_multiplier = multiplier;
    spec->mimic_offset = offset - multiplier * reference;
}
