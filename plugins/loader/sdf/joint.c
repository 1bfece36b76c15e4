// SPDX-License-Identifier: Apache-2.0
// <joint>: its frame in the first pass; when the poses of all frames are known its links, type and axes. What SDFormat
// asks of types that are not the model's own:
//   universal   about a1 fixed in the parent, then about a2, which that turned; the model's turns about x, then y of
//   its
//               frame, so the frame is turned by R = (a1, a2, a1 x a2), for which the axes must be perpendicular
//   revolute2   the same with any two axes: two hinges with a massless link between them
//   screw       screw_thread_pitch p [m a turn], or its ancestor thread_pitch = -2 pi / p [rad/m], left-handed
#include <string.h>

#include "sdf.h"

static const double PERPENDICULAR = 1e-6;

static bool is_drake(const xml_element *xml) {
    return strcmp(xml_name(xml), "drake:joint") == 0;
}

/// Name of a frame in a child element of a joint, NULL after saying that it is missing.
static const char *parse_end(robot_reader *reader, const xml_element *xml, const char *which) {
    const char *name = is_drake(xml) ? robot_text(reader, "drake:%s", which) : which;
    const xml_element *end = robot_child(reader, xml, name);
    if (end == NULL) {
        robot_error(reader, xml, "missing", "<%s> has no <%s>: add <%s>name</%s>", xml_name(xml), name, name, name);
        return NULL;
    }
    return robot_text_name(reader, end);
}

void sdf_parse_joint(robot_reader *reader, int32_t model, const xml_element *xml) {
    sdf_reader *sdf = sdf_of(reader);
    reader->label = "joint";
    int32_t frame = sdf_add_frame(reader, SDF_JOINT, model, xml, robot_name_of(reader, xml, "name"));
    if (frame < 0) {
        return;
    }
    sdf_frame *f = &sdf->frames[frame];
    reader->label = f->label;
    f->attached_to = parse_end(reader, xml, "child");
    f->given = sdf_pose(reader, xml, &f->relative_to);
    if (is_drake(xml) && robot_child(reader, xml, "pose") != NULL) {
        robot_error(reader, xml, "pose",
                    "<drake:joint> has no <pose> of its own: put its parent and child frames there");
    }
    if (f->attached_to != NULL && strcmp(f->attached_to, "world") == 0) {
        robot_error(reader, xml, "world", "the child of a joint cannot be the world: exchange parent and child");
        f->attached_to = NULL;
    }
    sdf->joints = robot_reserve(reader, sdf->joints, sdf->joint_count, &sdf->joint_capacity, sizeof *sdf->joints);
    if (sdf->joint_count < sdf->joint_capacity) {
        sdf->joints[sdf->joint_count++] = (sdf_joint){.xml = xml, .frame = frame};
    }
}

// ------------------------------------------------------------------------------------------------------------ types

typedef struct joint_kind {
    const char *name;
    stn_joint_type type;
    int32_t axes; // that it must have
    bool in_sdf, in_drake;
} joint_kind;

static const joint_kind kinds[] = {
    {"revolute", STN_JOINT_REVOLUTE, 1, true, false},
    {"continuous", STN_JOINT_CONTINUOUS, 1, true, false},
    {"prismatic", STN_JOINT_PRISMATIC, 1, true, false},
    {"fixed", STN_JOINT_FIXED, 0, true, true},
    {"ball", STN_JOINT_BALL, 0, true, true},
    {"screw", STN_JOINT_SCREW, 1, true, false},
    {"universal", STN_JOINT_UNIVERSAL, 2, true, false},
    {"revolute2", STN_JOINT_REVOLUTE, 2, true, false},
    {"planar", STN_JOINT_PLANAR, 0, false, true},
    {"gearbox", STN_JOINT_FIXED, 2, true, false},
};

/// NULL: said.
static const joint_kind *parse_kind(robot_reader *reader, const xml_element *xml) {
    const char *names[STN_COUNT(kinds)];
    const char *text = xml_attribute(xml, "type");
    int32_t count = 0;
    bool drake = is_drake(xml);
    const char *wanted = drake ? "planar, ball or fixed"
                               : "revolute, continuous, prismatic, fixed, ball, screw, universal, revolute2 or gearbox";
    if (text == NULL || text[0] == '\0') {
        robot_error(reader, xml, "missing", "<%s> has no type: add type=\"%s\" or another", xml_name(xml),
                    drake ? "planar" : "revolute");
        return NULL;
    }
    for (int32_t i = 0; i < STN_COUNT(kinds); i++) {
        if (!(drake ? kinds[i].in_drake : kinds[i].in_sdf)) {
            continue;
        }
        if (strcmp(text, kinds[i].name) == 0) {
            return &kinds[i];
        }
        names[count++] = kinds[i].name;
    }
    const char *near = robot_suggest(reader, text, names, count);
    robot_error(reader, xml, "joint_type", "unknown type '%.80s'%s%s%s: use %s", text,
                near != NULL ? ", did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "", wanted);
    return NULL;
}

// ------------------------------------------------------------------------------------------------------------ ends

/// Links and the joint's frame in both. A joint of Drake's has a frame on either side instead of one of its own.
bool sdf_find_ends(robot_reader *reader, const sdf_joint *joint, sdf_hinge *hinge) {
    const sdf_reader *sdf = sdf_of(reader);
    const sdf_frame *f = &sdf->frames[joint->frame];
    const char *name = parse_end(reader, joint->xml, "parent");
    bool to_world = name != NULL && strcmp(name, "world") == 0;
    int32_t parent = to_world ? 0 : name != NULL ? sdf_need_frame(reader, f->model, joint->xml, "parent", name) : -1;
    if (parent < 0) {
        return false;
    }
    const int32_t ends[2] = {parent, joint->frame};
    for (int32_t i = 0; i < 2; i++) {
        if (sdf_stands_on_deformable(sdf, ends[i])) {
            robot_error(reader, joint->xml, "unsupported",
                        "a joint to a deformable link, whose nodes move by themselves: hold nodes with "
                        "<drake:wall_boundary_condition>, or attach them in a script");
            return false;
        }
    }
    hinge->xml = joint->xml;
    hinge->name = f->name;
    hinge->parent = sdf->frames[parent].link;
    hinge->child = f->link;
    if (hinge->child < 0) {
        robot_error(reader, joint->xml, "world", "its child '%.80s' is part of the world and cannot move",
                    sdf->frames[f->attached].name);
        return false;
    }
    int32_t parent_frame = hinge->parent >= 0 ? sdf->link_frames[hinge->parent] : 0;
    int32_t child_frame = sdf->link_frames[hinge->child];
    bool drake = is_drake(joint->xml);
    hinge->in_parent = sdf_pose_between(reader, parent_frame, drake ? parent : joint->frame);
    hinge->in_child = sdf_pose_between(reader, child_frame, drake ? f->attached : joint->frame);
    return true;
}

// ------------------------------------------------------------------------------------------------------------ details

static const xml_element *need_axis(robot_reader *reader, const xml_element *xml, const char *name) {
    const xml_element *axis = robot_child(reader, xml, name);
    if (axis == NULL) {
        robot_error(reader, xml, "missing", "<joint> of type %s has no <%s>: add it with <xyz>",
                    xml_attribute(xml, "type"), name);
    }
    return axis;
}

/// Pitch in m a turn, right-handed.
static void parse_screw(robot_reader *reader, const xml_element *xml, stn_joint_spec *spec) {
    double radians = 0.0;
    if (sdf_number(reader, xml, "screw_thread_pitch", &spec->screw_pitch)) {
        return;
    }
    if (sdf_number(reader, xml, "thread_pitch", &radians)) {
        if (radians == 0.0) {
            robot_error(reader, xml, "range", "<thread_pitch> = 0 rad/m must not be 0");
            return;
        }
        spec->screw_pitch = -2.0 * STN_PI / radians;
        robot_note(reader, xml, "thread_pitch",
                   "<thread_pitch> %g rad/m, left-handed, is <screw_thread_pitch> %g m a turn, right-handed", radians,
                   spec->screw_pitch);
    } else if (robot_child(reader, xml, "screw_thread_pitch") == NULL &&
               robot_child(reader, xml, "thread_pitch") == NULL) {
        robot_error(reader, xml, "missing", "a screw joint without <screw_thread_pitch> [m a turn]: add it");
    }
}

const char *sdf_second_name(robot_reader *reader, const char *name) {
    return robot_text(reader, "%s_axis2", name);
}

/// Turns the joint's frame so that its x and y are the two axes. false: said.
static bool turn_to_axes(robot_reader *reader, const xml_element *xml, int32_t frame, sdf_hinge *hinge) {
    const xml_element *first = need_axis(reader, xml, "axis"), *second = need_axis(reader, xml, "axis2");
    stn_vec3 x, y;
    if (first == NULL || second == NULL || !sdf_axis_direction(reader, first, frame, &x) ||
        !sdf_axis_direction(reader, second, frame, &y)) {
        return false;
    }
    double cosine = stn_vec3_dot(x, y);
    if (!(fabs(cosine) <= PERPENDICULAR)) {
        robot_error(reader, second, "axis",
                    "the axes of a universal joint must be perpendicular, their cosine is %g: type revolute2 takes any",
                    cosine);
        return false;
    }
    y = stn_vec3_normalize_or(stn_vec3_mul_add(y, -cosine, x), y);
    stn_pose turn = {stn_mat3_columns(x, y, stn_vec3_cross(x, y)), stn_vec3_zero()};
    hinge->in_parent = stn_pose_mul(&hinge->in_parent, &turn);
    hinge->in_child = stn_pose_mul(&hinge->in_child, &turn);
    return true;
}

// ----------------------------------------------------------------------------------------------------------- joints

/// The two hinges of a revolute2 joint, with a link between them that the first one carries.
static void build_two(robot_reader *reader, const sdf_joint *joint, const sdf_hinge *whole) {
    int32_t between = sdf_add_massless(reader, robot_text(reader, "%s_between", whole->name), joint->xml);
    const xml_element *axis = need_axis(reader, joint->xml, "axis");
    if (between < 0) {
        return;
    }
    sdf_hinge first = *whole, second = *whole;
    first.child = second.parent = between;
    first.in_child = second.in_parent = stn_pose_identity();
    int32_t index = sdf_add_hinge(reader, &first, STN_JOINT_REVOLUTE);
    if (index >= 0 && axis != NULL &&
        sdf_axis_direction(reader, axis, joint->frame, &reader->joints[index].spec.axis)) {
        sdf_parse_axis(reader, axis, joint->frame, &reader->joints[index]);
    }
    axis = need_axis(reader, joint->xml, "axis2");
    second.name = sdf_unique_joint(reader, sdf_second_name(reader, whole->name));
    index = axis != NULL ? sdf_add_hinge(reader, &second, STN_JOINT_REVOLUTE) : -1;
    if (index >= 0 && sdf_axis_direction(reader, axis, joint->frame, &reader->joints[index].spec.axis)) {
        sdf_parse_axis(reader, axis, joint->frame, &reader->joints[index]);
    }
}

static void build_one(robot_reader *reader, const sdf_joint *joint, const joint_kind *kind, sdf_hinge *hinge) {
    const sdf_reader *sdf = sdf_of(reader);
    const xml_element *xml = joint->xml;
    if (kind->type == STN_JOINT_UNIVERSAL && !turn_to_axes(reader, xml, joint->frame, hinge)) {
        return;
    }
    int32_t index = sdf_add_hinge(reader, hinge, kind->type);
    if (index < 0 || kind->type == STN_JOINT_FIXED) {
        return;
    }
    robot_joint *built = &reader->joints[index];
    stn_joint_spec *spec = &built->spec;
    spec->axis = stn_vec3_make(0.0, 0.0, 1.0);
    const xml_element *axis = kind->axes > 0 ? need_axis(reader, xml, "axis") : robot_child(reader, xml, "axis");
    if (axis != NULL && !is_drake(xml)) {
        if (kind->axes == 1) {
            sdf_axis_direction(reader, axis, joint->frame, &spec->axis);
        }
        sdf_parse_axis(reader, axis, joint->frame, built);
    }
    if (kind->axes == 2) { // one figure of damping holds for all motions of a joint
        const xml_element *second = robot_child(reader, xml, "axis2");
        robot_joint other = *built;
        other.spec = stn_joint_spec_default(spec->name, spec->type);
        sdf_parse_axis(reader, second, joint->frame, &other);
        if (other.spec.damping != spec->damping || other.spec.friction != spec->friction) {
            robot_warn(
                reader, second, "damping",
                "damping and friction differ between the axes: one figure holds for both, those of <axis> count");
        }
    }
    if (kind->type == STN_JOINT_SCREW) {
        parse_screw(reader, xml, spec);
    }
    const xml_element *damping = is_drake(xml) ? robot_child(reader, xml, "drake:damping") : NULL;
    if (damping != NULL) { // three figures of a planar joint, along x, along y and about the axis
        int32_t count = spec->type == STN_JOINT_PLANAR ? 3 : 1;
        double three[3] = {0.0};
        if (robot_text_reals(reader, damping, count, three)) {
            robot_set_damping(reader, damping, three, count, spec);
        }
    }
    // Rotors and gains that Drake's extensions give a joint with one motion.
    const xml_element *ratio = robot_child(reader, xml, "drake:gear_ratio");
    const xml_element *gains = robot_child(reader, xml, "drake:controller_gains");
    if (stn_joint_type_is_axial(spec->type)) {
        const stn_joint_units *units = stn_joint_type_units(spec->type);
        sdf_not_negative(reader, xml, "drake:rotor_inertia", "kg m^2", &spec->rotor_inertia);
        if (sdf_number(reader, xml, "drake:gear_ratio", &spec->gear_ratio) && spec->gear_ratio == 0.0) {
            robot_error(reader, ratio, "range", "<drake:gear_ratio> = 0 must not be 0");
        }
        if (gains != NULL) {
            robot_not_negative(reader, gains, "p", units->stiffness, &spec->servo_kp);
            robot_not_negative(reader, gains, "d", units->damping, &spec->servo_kd);
        }
    }
    const xml_element *mimic = robot_child(reader, xml, "drake:mimic");
    if (mimic != NULL && built->mimic == NULL) { // where no <mimic> of an axis stands
        const char *name = robot_name_of(reader, mimic, "joint");
        const char *prefix = sdf->models[sdf->frames[joint->frame].model].prefix;
        built->mimic = name != NULL ? robot_text(reader, "%s%s", prefix, name) : NULL;
        robot_real(reader, mimic, "multiplier", &spec->mimic_multiplier);
        robot_real(reader, mimic, "offset", &spec->mimic_offset);
    }
}

// ------------------------------------------------------------------------------------------------------------ loops

static bool add_ball(robot_reader *reader, const sdf_hinge *hinge, const char *name, stn_vec3 at) {
    robot_constraint *ball = robot_add_constraint(reader, "ball", name, hinge->xml);
    if (ball != NULL) {
        ball->ends[0].link = hinge->parent >= 0 ? hinge->parent : STN_WORLD;
        ball->ends[1].link = hinge->child;
        ball->ends[0].pose.position = stn_pose_apply(&hinge->in_parent, at);
        ball->ends[1].pose.position = stn_pose_apply(&hinge->in_child, at);
    }
    return ball != NULL;
}

/// A ball or hinge above a link that another joint carries closes a loop: a ball holds it, or two on the hinge's axis,
/// 0.1 m apart. false: it is none of these.
static bool close_loop(robot_reader *reader, const sdf_joint *joint, const joint_kind *kind, const sdf_hinge *hinge) {
    bool turns = kind->type == STN_JOINT_REVOLUTE || kind->type == STN_JOINT_CONTINUOUS;
    if ((!turns && kind->type != STN_JOINT_BALL) || kind->axes > 1) {
        return false;
    }
    const xml_element *axis = turns ? need_axis(reader, joint->xml, "axis") : NULL;
    stn_vec3 along = stn_vec3_zero();
    if (turns && (axis == NULL || !sdf_axis_direction(reader, axis, joint->frame, &along))) {
        return true;
    }
    robot_warn(
        reader, joint->xml, "loop",
        "it closes a loop, which %s: it has no coordinate, and limits, damping, friction and motors of it are not "
        "read; swap it with another joint of the loop that has none",
        turns ? "two balls on its axis hold" : "a ball holds");
    if (add_ball(reader, hinge, hinge->name, stn_vec3_scale(turns ? 0.05 : 0.0, along)) && turns) {
        add_ball(reader, hinge, robot_text(reader, "%s_2", hinge->name), stn_vec3_scale(-0.05, along));
    }
    return true;
}

void sdf_build_joint(robot_reader *reader, sdf_joint *joint) {
    const sdf_reader *sdf = sdf_of(reader);
    const sdf_frame *f = &sdf->frames[joint->frame];
    reader->label = f->label;
    const joint_kind *kind = parse_kind(reader, joint->xml);
    sdf_hinge hinge;
    joint->gearbox = kind != NULL && strcmp(kind->name, "gearbox") == 0;
    if (kind == NULL || joint->gearbox || !sdf_find_ends(reader, joint, &hinge)) {
        return;
    }
    bool taken = sdf->carried != NULL && sdf->carried[hinge.child]; // by another joint already
    if (sdf->carried != NULL) {
        sdf->carried[hinge.child] = true;
    }
    if (taken && !sdf->models[f->model].is_static && close_loop(reader, joint, kind, &hinge)) {
        return;
    }
    if (sdf->models[f->model].is_static && kind->type != STN_JOINT_FIXED) {
        robot_note(reader, joint->xml, "static", "the model is static: the joint is fixed at zero");
        sdf_add_hinge(reader, &hinge, STN_JOINT_FIXED);
    } else if (strcmp(kind->name, "revolute2") == 0) {
        build_two(reader, joint, &hinge);
    } else {
        build_one(reader, joint, kind, &hinge);
    }
}
