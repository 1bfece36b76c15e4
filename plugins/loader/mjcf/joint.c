// SPDX-License-Identifier: Apache-2.0
// The joints of a body. MuJoCo applies them one after the other to the body's frame B, each about an axis a through a
// point p of it:
//   X = X_drawn J_1(q_1) ... J_n(q_n),   hinge: J(q) = T(p) R(a, q - ref) T(-p),   slide: J(q) = T((q - ref) a).
// Here a joint moves the frame of its child link, so that between them stand links without mass whose frames lie at the
// points p; the last frame is B again.
#include <string.h>

#include "mjcf.h"

typedef enum joint_type { HINGE, SLIDE, BALL, FREE } joint_type;

static const char types[] = "hinge slide ball free";

/// One joint on its way into the robot.
typedef struct mjcf_joint {
    mjcf_item item;
    joint_type type;
    stn_vec3 point, axis; // in the body's frame
    double ref;
} mjcf_joint;

/// The end of the chain so far.
typedef struct chain {
    const char *body; // its name
    const xml_element *xml;
    const char *parent; // name of the last link
    stn_pose origin;    // of what comes next, from that link's frame as it would be at the body's
    stn_vec3 at;        // where that link's frame is in the body's
} chain;

bool mjcf_is_joint(const xml_element *xml) {
    return strcmp(xml_name(xml), "joint") == 0 || strcmp(xml_name(xml), "freejoint") == 0;
}

static bool is_freejoint(const xml_element *xml) {
    return strcmp(xml_name(xml), "freejoint") == 0;
}

bool mjcf_is_plain_free(robot_reader *reader, const mjcf_part *part) {
    if (is_freejoint(part->xml)) {
        return true;
    }
    const char *name = xml_attribute(part->xml, "class");
    int32_t known = name != NULL ? robot_names_find(&mjcf_of(reader)->class_names, 0, name) : -1;
    const mjcf_item item = {part->xml, MJCF_JOINT, known >= 0 ? known : part->class_index};
    const char *type = mjcf_word(reader, &item, "type"), *damping = mjcf_word(reader, &item, "damping");
    const char *friction = mjcf_word(reader, &item, "frictionloss");
    double zero = 0.0;
    return type != NULL && strcmp(type, "free") == 0 &&
           (damping == NULL || (stn_parse_real(damping, &zero) && zero == 0.0)) &&
           (friction == NULL || (stn_parse_real(friction, &zero) && zero == 0.0));
}

void mjcf_add_coordinates(robot_reader *reader, int32_t joint, double ref) {
    mjcf_reader *mjcf = mjcf_of(reader);
    if (mjcf->coordinates_count == mjcf->coordinates_capacity) {
        mjcf->coordinates = robot_grow(reader, mjcf->coordinates, mjcf->coordinates_count, &mjcf->coordinates_capacity,
                                       sizeof *mjcf->coordinates);
    }
    if (mjcf->coordinates_count < mjcf->coordinates_capacity) {
        mjcf->coordinates[mjcf->coordinates_count++] = (mjcf_coordinates){joint, ref};
    }
}

/// Degrees of the file in rad; lengths stay.
static double unit_of(robot_reader *reader, const mjcf_joint *j) {
    bool angle = j->type == HINGE || j->type == BALL;
    return angle && mjcf_of(reader)->compiler.degree ? 3.14159265358979323846 / 180.0 : 1.0;
}

static bool read_axis(robot_reader *reader, const mjcf_part *part, mjcf_joint *j) {
    double p[3] = {0.0}, a[3] = {0.0, 0.0, 1.0};
    mjcf_reals(reader, &j->item, "pos", 3, 3, p);
    mjcf_reals(reader, &j->item, "axis", 3, 3, a);
    stn_vec3 given = stn_vec3_make(a[0], a[1], a[2]);
    stn_vec3 unit = stn_vec3_normalize_or(given, stn_vec3_zero());
    if (j->type <= SLIDE && (!(stn_vec3_norm(given) >= 1e-14) || stn_vec3_dot(unit, unit) == 0.0)) {
        robot_error(reader, mjcf_holder(reader, &j->item, "axis"), "axis",
                    "the axis has length 0: give a direction such as axis=\"0 0 1\"");
        return false;
    }
    j->point = stn_pose_apply(&part->frame, stn_vec3_make(p[0], p[1], p[2]));
    j->axis = stn_mat3_apply(&part->frame.rotation, unit);
    return true;
}

static void read_range(robot_reader *reader, const mjcf_joint *j, stn_joint_spec *spec) {
    double range[2] = {0.0};
    if (!mjcf_is_limited(reader, &j->item, "limited", "range")) {
        return;
    }
    if (j->type == BALL) {
        robot_warn(reader, j->item.xml, "limit", "the range of a ball joint is not read: it turns freely");
    }
    if (j->type >= BALL || !mjcf_range(reader, &j->item, "range", range)) { // MuJoCo does not limit free ones
        return;
    }
    spec->lower = range[0] * unit_of(reader, j);
    spec->upper = range[1] * unit_of(reader, j);
    spec->type = j->type == HINGE ? STN_JOINT_REVOLUTE : spec->type;
}

/// Forces that act along one coordinate: spring, rotor.
static void read_axial(robot_reader *reader, const mjcf_joint *j, stn_joint_spec *spec) {
    const stn_joint_units *units = stn_joint_type_units(spec->type);
    double stiffness = 0.0, armature = 0.0, rest = 0.0;
    mjcf_not_negative(reader, &j->item, "stiffness", units->stiffness, &stiffness);
    mjcf_not_negative(reader, &j->item, "armature", units->inertia, &armature);
    mjcf_real(reader, &j->item, "springref", &rest);
    if (stn_joint_type_is_axial(spec->type)) {
        spec->stiffness = stiffness;
        spec->rest = rest * unit_of(reader, j);
        spec->rotor_inertia = armature;
        spec->gear_ratio = armature > 0.0 ? 1.0 : spec->gear_ratio;
        return;
    }
    if (stiffness > 0.0) {
        robot_warn(reader, j->item.xml, "spring", "the spring of a %s joint is not read",
                   stn_joint_type_name(spec->type));
    }
    if (armature > 0.0) {
        robot_warn(reader, j->item.xml, "armature", "armature of a %s joint is not read",
                   stn_joint_type_name(spec->type));
    }
}

static void read_effort(robot_reader *reader, const mjcf_joint *j, stn_joint_spec *spec) {
    double range[2] = {0.0};
    if (mjcf_is_limited(reader, &j->item, "actuatorfrclimited", "actuatorfrcrange") &&
        mjcf_range(reader, &j->item, "actuatorfrcrange", range)) {
        spec->effort = fmax(fabs(range[0]), fabs(range[1]));
    }
}

static stn_joint_type type_of(joint_type type) {
    static const stn_joint_type ours[] = {STN_JOINT_CONTINUOUS, STN_JOINT_PRISMATIC, STN_JOINT_BALL,
                                          STN_JOINT_FLOATING};
    return ours[type];
}

static void read_forces(robot_reader *reader, const mjcf_joint *j, stn_joint_spec *spec) {
    const stn_joint_units *units = stn_joint_type_units(spec->type);
    read_range(reader, j, spec);
    mjcf_not_negative(reader, &j->item, "damping", units->damping, &spec->damping);
    mjcf_not_negative(reader, &j->item, "frictionloss", units->effort, &spec->friction);
    read_axial(reader, j, spec);
    read_effort(reader, j, spec);
}

void mjcf_note_free(robot_reader *reader, const mjcf_part *part) {
    if (is_freejoint(part->xml)) {
        return;
    }
    const char *name = xml_attribute(part->xml, "name");
    reader->label = name != NULL ? robot_text(reader, "joint %s", name) : "joint";
    const mjcf_joint joint = {.item = mjcf_item_of(reader, part->xml, MJCF_JOINT, part->class_index), .type = FREE};
    stn_joint_spec none = stn_joint_spec_default(NULL, STN_JOINT_FLOATING);
    read_forces(reader, &joint, &none);
}

/// A joint from the end of the chain to a link that is there.
static int32_t link_up(robot_reader *reader, chain *c, const char *name, const char *child, stn_joint_type type,
                       const xml_element *xml) {
    int32_t index = robot_add_joint(reader, name, type, xml);
    if (index >= 0) {
        robot_joint *joint = &reader->joints[index];
        joint->spec.origin = c->origin;
        joint->parent = c->parent;
        joint->child = child;
    }
    c->parent = child;
    c->origin = stn_pose_identity();
    return index;
}

static const char *name_joint(robot_reader *reader, const chain *c, const xml_element *xml, const char *kind) {
    const char *given = xml != NULL ? xml_attribute(xml, "name") : NULL;
    return given != NULL && given[0] != '\0'
               ? given
               : robot_names_unique(reader, &mjcf_of(reader)->joints_taken, robot_text(reader, "%s_%s", c->body, kind));
}

/// Puts the next frame to a point of the body's frame.
static void move_to(chain *c, stn_vec3 point) {
    stn_pose shift = {stn_mat3_identity(), stn_vec3_sub(point, c->at)};
    c->origin = stn_pose_mul(&c->origin, &shift);
    c->at = point;
}

/// The coordinate is `ref` as drawn, so the joint's own frame is turned or shifted back.
static void apply_ref(chain *c, const mjcf_joint *j) {
    stn_pose back = stn_pose_identity();
    if (j->type == HINGE) {
        back.rotation = stn_quat_matrix(stn_quat_exp(stn_vec3_scale(-j->ref, j->axis)));
    } else {
        back.position = stn_vec3_scale(-j->ref, j->axis);
    }
    c->origin = stn_pose_mul(&c->origin, &back);
}

static void hang_joint(robot_reader *reader, chain *c, const mjcf_joint *j, const char *child) {
    const xml_element *xml = j->item.xml;
    const char *name = name_joint(reader, c, xml, j->type == FREE ? "free" : "joint");
    if (j->type == HINGE || j->type == BALL) {
        move_to(c, j->point);
    }
    if (j->type <= SLIDE) {
        apply_ref(c, j);
    }
    int32_t index = link_up(reader, c, name, child, type_of(j->type), xml);
    if (index < 0) {
        return;
    }
    stn_joint_spec *spec = &reader->joints[index].spec;
    spec->axis = j->axis;
    reader->label = reader->joints[index].label;
    if (!is_freejoint(xml)) {
        read_forces(reader, j, spec);
    }
    mjcf_add_coordinates(reader, index, j->ref);
}

/// What is wrong with a joint where it stands; false: said.
static bool check_place(robot_reader *reader, const mjcf_joint *j, int32_t count, bool top) {
    if (j->type == FREE && (!top || count > 1)) {
        robot_error(reader, j->item.xml, "joint_type",
                    "a free joint must be the only joint of a body that stands in "
                    "<worldbody>: free bodies move in the world");
        return false;
    }
    return true;
}

static bool read_joint(robot_reader *reader, const mjcf_part *part, int32_t count, bool top, mjcf_joint *j) {
    const char *name = xml_attribute(part->xml, "name");
    reader->label = name != NULL ? robot_text(reader, "joint %s", name) : "joint";
    *j = (mjcf_joint){.item = {part->xml, MJCF_JOINT, part->class_index}, .type = FREE};
    if (!is_freejoint(part->xml)) {
        j->item = mjcf_item_of(reader, part->xml, MJCF_JOINT, part->class_index);
        j->type = (joint_type)mjcf_choice(reader, &j->item, "type", types, HINGE);
    }
    if (!check_place(reader, j, count, top)) {
        return false;
    }
    if (j->type == FREE) {
        return true;
    }
    if (j->type <= SLIDE) {
        mjcf_real(reader, &j->item, "ref", &j->ref);
        j->ref *= unit_of(reader, j);
    }
    return read_axis(reader, part, j);
}

int32_t mjcf_count_joints(const mjcf_parts *parts) {
    int32_t count = 0;
    for (int32_t i = 0; i < parts->count; i++) {
        count += mjcf_is_joint(parts->items[i].xml);
    }
    return count;
}

/// All joints of a body, read; false: one is bad, said.
static bool read_joints(robot_reader *reader, const mjcf_parts *parts, int32_t count, bool top, mjcf_joint *joints) {
    bool good = joints != NULL;
    int32_t k = 0;
    for (int32_t i = 0; good && i < parts->count; i++) {
        if (mjcf_is_joint(parts->items[i].xml)) {
            good = read_joint(reader, &parts->items[i], count, top, &joints[k++]);
        }
    }
    return good;
}

/// A link without mass between two joints.
static const char *add_between(robot_reader *reader, const chain *c, int32_t number) {
    const char *wanted = robot_text(reader, "%s_part%d", c->body, (int)number + 1);
    const char *name = robot_names_unique(reader, &mjcf_of(reader)->links_taken, wanted);
    mjcf_add_link(reader, name, c->xml);
    return name;
}

int32_t mjcf_hang(robot_reader *reader, int32_t body, const xml_element *xml, int32_t parent_link, const stn_pose *pose,
                  const mjcf_parts *parts) {
    const mjcf_body *own = &mjcf_of(reader)->bodies[body];
    int32_t count = mjcf_count_joints(parts);
    mjcf_joint *joints = ROBOT_NEW(reader, count, mjcf_joint);
    chain c = {.body = own->name, .xml = xml, .parent = reader->links[parent_link].name, .origin = *pose};
    if (!read_joints(reader, parts, count, own->parent == 0, joints)) {
        count = 0; // the error is said; what hangs on the body is still read
    }
    for (int32_t k = 0; k < count; k++) {
        bool centred = k + 1 == count; // is the next frame the body's?
        stn_vec3 at = joints[k].type == HINGE || joints[k].type == BALL ? joints[k].point : c.at;
        centred = centred && stn_vec3_dot(at, at) == 0.0;
        hang_joint(reader, &c, &joints[k], centred ? own->name : add_between(reader, &c, k));
    }
    if (count == 0 || stn_vec3_dot(c.at, c.at) != 0.0) {
        move_to(&c, stn_vec3_zero());
        link_up(reader, &c, name_joint(reader, &c, NULL, "fixed"), own->name, STN_JOINT_FIXED, xml);
    }
    return mjcf_add_link(reader, own->name, xml);
}
