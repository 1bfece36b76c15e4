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
    const char *body;   // its name
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

/// A joint of which nothing is said yet.
static mjcf_item quiet_item(robot_reader *reader, const mjcf_part *part) {
    const char *name = xml_attribute(part->xml, "class");
    int32_t known = name != NULL ? robot_names_find(&mjcf_of(reader)->class_names, 0, name) : -1;
    return (mjcf_item){part->xml, MJCF_JOINT, known >= 0 ? known : part->class_index};
}

bool mjcf_slides(robot_reader *reader, const mjcf_part *part, stn_vec3 *axis) {
    const mjcf_item item = quiet_item(reader, part);
    const char *type = mjcf_word(reader, &item, "type"), *along = mjcf_word(reader, &item, "axis");
    double a[3] = {0.0, 0.0, 1.0};
    if (is_freejoint(part->xml) || type == NULL || strcmp(type, "slide") != 0 ||
        (along != NULL && stn_parse_reals(along, a, 3) != 3)) {
        return false;
    }
    *axis = stn_vec3_normalize_or(stn_vec3_make(a[0], a[1], a[2]), stn_vec3_zero());
    *axis = stn_mat3_apply(&part->frame.rotation, *axis);
    return stn_vec3_norm(*axis) > 0.0;
}

const char *mjcf_slide_force(robot_reader *reader, const mjcf_part *part) {
    static const char *const forces[] = {"damping", "frictionloss", "stiffness", "armature", "springdamper"};
    const mjcf_item item = quiet_item(reader, part);
    for (int32_t i = 0; i < STN_COUNT(forces); i++) {
        const char *text = mjcf_word(reader, &item, forces[i]);
        double value[2] = {0.0};
        if (text != NULL && (stn_parse_reals(text, value, 2) <= 0 || value[0] != 0.0 || value[1] != 0.0)) {
            return forces[i];
        }
    }
    const char *limited = mjcf_word(reader, &item, "limited");
    bool known = limited == NULL || robot_lists("false true auto", limited);
    return known && mjcf_is_limited(reader, &item, "limited", "range") ? "range" : NULL;
}

bool mjcf_is_plain_free(robot_reader *reader, const mjcf_part *part) {
    if (is_freejoint(part->xml)) {
        return true;
    }
    const mjcf_item item = quiet_item(reader, part);
    const char *type = mjcf_word(reader, &item, "type"), *damping = mjcf_word(reader, &item, "damping");
    const char *friction = mjcf_word(reader, &item, "frictionloss");
    double zero = 0.0;
    return type != NULL && strcmp(type, "free") == 0 &&
           (damping == NULL || (stn_parse_real(damping, &zero) && zero == 0.0)) &&
           (friction == NULL || (stn_parse_real(friction, &zero) && zero == 0.0));
}

void mjcf_add_coordinates(robot_reader *reader, int32_t joint, double ref) {
    mjcf_reader *mjcf = mjcf_of(reader);
    mjcf->coordinates = robot_reserve(reader, mjcf->coordinates, mjcf->coordinates_count, &mjcf->coordinates_capacity,
                                      sizeof *mjcf->coordinates);
    if (mjcf->coordinates_count < mjcf->coordinates_capacity) {
        mjcf->coordinates[mjcf->coordinates_count++] = (mjcf_coordinates){joint, ref, 0};
    }
}

void mjcf_add_point_coordinates(robot_reader *reader, int32_t count) {
    mjcf_reader *mjcf = mjcf_of(reader);
    int32_t last = mjcf->coordinates_count - 1;
    *(last >= 0 ? &mjcf->coordinates[last].points : &mjcf->points_ahead) += count;
}

/// Degrees of the file in rad; lengths stay.
static double unit_of(robot_reader *reader, const mjcf_joint *j) {
    bool angle = j->type == HINGE || j->type == BALL;
    return angle && mjcf_of(reader)->compiler.degree ? 3.14159265358979323846 / 180.0 : 1.0;
}

/// Limits, and forces that act along one coordinate: damping, friction, spring, rotor.
static void read_forces(robot_reader *reader, const mjcf_joint *j, stn_joint_spec *spec) {
    const mjcf_item *item = &j->item;
    const stn_joint_units *units = stn_joint_type_units(spec->type);
    double range[2] = {0.0}, stiffness = 0.0, armature = 0.0, rest = 0.0;
    bool limited = mjcf_is_limited(reader, item, "limited", "range");
    if (limited && j->type == BALL) {
        robot_warn(reader, item->xml, "limit", "the range of a ball joint is not read: it turns freely");
    }
    if (limited && j->type < BALL && mjcf_range(reader, item, "range", range)) { // MuJoCo does not limit free ones
        spec->lower = range[0] * unit_of(reader, j);
        spec->upper = range[1] * unit_of(reader, j);
        spec->type = j->type == HINGE ? STN_JOINT_REVOLUTE : spec->type;
    }
    mjcf_not_negative(reader, item, "damping", units->damping, &spec->damping);
    mjcf_not_negative(reader, item, "frictionloss", units->effort, &spec->friction);
    units = stn_joint_type_units(spec->type);
    mjcf_not_negative(reader, item, "stiffness", units->stiffness, &stiffness);
    mjcf_not_negative(reader, item, "armature", units->inertia, &armature);
    mjcf_real(reader, item, "springref", &rest);
    const char *type = stn_joint_type_name(spec->type);
    if (stn_joint_type_is_axial(spec->type)) {
        spec->stiffness = stiffness;
        spec->rest = rest * unit_of(reader, j);
        spec->rotor_inertia = armature;
        spec->gear_ratio = armature > 0.0 ? 1.0 : spec->gear_ratio;
    } else if (stiffness > 0.0) {
        robot_warn(reader, item->xml, "spring", "the spring of a %s joint is not read", type);
    }
    if (!stn_joint_type_is_axial(spec->type) && armature > 0.0) {
        robot_warn(reader, item->xml, "armature", "armature of a %s joint is not read", type);
    }
    if (mjcf_is_limited(reader, item, "actuatorfrclimited", "actuatorfrcrange") &&
        mjcf_range(reader, item, "actuatorfrcrange", range)) {
        spec->effort = fmax(fabs(range[0]), fabs(range[1]));
    }
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

/// `only`: the only joint of a body in the world. false: it is bad, said.
static bool read_joint(robot_reader *reader, const mjcf_part *part, bool only, mjcf_joint *j) {
    const char *name = xml_attribute(part->xml, "name");
    reader->label = name != NULL ? robot_text(reader, "joint %s", name) : "joint";
    *j = (mjcf_joint){.item = {part->xml, MJCF_JOINT, part->class_index}, .type = FREE};
    if (!is_freejoint(part->xml)) {
        j->item = mjcf_item_of(reader, part->xml, MJCF_JOINT, part->class_index);
        j->type = (joint_type)mjcf_choice(reader, &j->item, "type", types, HINGE);
    }
    if (j->type == FREE && !only) {
        robot_error(reader, part->xml, "joint_type",
                    "a free joint must be the only joint of a body that stands in "
                    "<worldbody>: free bodies move in the world");
        return false;
    }
    if (j->type == FREE) {
        return true;
    }
    if (j->type <= SLIDE) {
        mjcf_real(reader, &j->item, "ref", &j->ref);
        j->ref *= unit_of(reader, j);
    }
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

int32_t mjcf_count_joints(const mjcf_parts *parts) {
    int32_t count = 0;
    for (int32_t i = 0; i < parts->count; i++) {
        count += mjcf_is_joint(parts->items[i].xml);
    }
    return count;
}

int32_t mjcf_hang(robot_reader *reader, int32_t body, const mjcf_part *part, const mjcf_parts *inside) {
    static const stn_joint_type ours[] = {STN_JOINT_CONTINUOUS, STN_JOINT_PRISMATIC, STN_JOINT_BALL,
                                          STN_JOINT_FLOATING};
    mjcf_reader *mjcf = mjcf_of(reader);
    mjcf_body *own = &mjcf->bodies[body];
    const mjcf_body *above = &mjcf->bodies[own->parent];
    stn_pose pose = mjcf_plain_pose(reader, part->xml);
    pose = stn_pose_mul(&part->frame, &pose);
    own->drawn = stn_pose_mul(&above->drawn, &pose);
    int32_t count = mjcf_count_joints(inside), read = 0;
    mjcf_joint *joints = ROBOT_NEW(reader, count, mjcf_joint);
    bool good = joints != NULL, only = own->parent == 0 && count == 1;
    chain c = {.body = own->name, .parent = reader->links[above->link].name, .origin = pose};
    for (int32_t i = 0; good && i < inside->count; i++) {
        const mjcf_part *item = &inside->items[i];
        good = !mjcf_is_joint(item->xml) || read_joint(reader, item, only, &joints[read++]);
    }
    count = good ? count : 0; // the error is said; what hangs on the body is still read
    for (int32_t k = 0; k < count; k++) {
        const mjcf_joint *j = &joints[k];
        const xml_element *from = j->item.xml;
        bool anchored = j->type == HINGE || j->type == BALL;
        stn_vec3 at = anchored ? j->point : c.at;
        const char *child = own->name;
        if (k + 1 < count || stn_vec3_dot(at, at) != 0.0) { // the next frame is not the body's: a link without mass
            child = robot_names_unique(reader, &mjcf->links_taken, robot_text(reader, "%s_part%d", c.body, (int)k + 1));
            mjcf_add_link(reader, child, part->xml);
        }
        const char *name = name_joint(reader, &c, from, j->type == FREE ? "free" : "joint");
        if (anchored) {
            move_to(&c, j->point);
        }
        // The coordinate is `ref` as drawn, so the joint's own frame is turned or shifted back.
        stn_pose back = stn_pose_identity();
        if (j->type == HINGE) {
            back.rotation = stn_quat_matrix(stn_quat_exp(stn_vec3_scale(-j->ref, j->axis)));
        } else if (j->type == SLIDE) {
            back.position = stn_vec3_scale(-j->ref, j->axis);
        }
        if (j->type <= SLIDE) {
            c.origin = stn_pose_mul(&c.origin, &back);
        }
        int32_t index = link_up(reader, &c, name, child, ours[j->type], from);
        if (index < 0) {
            continue;
        }
        stn_joint_spec *spec = &reader->joints[index].spec;
        spec->axis = j->axis;
        reader->label = reader->joints[index].label;
        if (!is_freejoint(from)) {
            read_forces(reader, j, spec);
        }
        mjcf_add_coordinates(reader, index, j->ref);
    }
    if (count == 0 || stn_vec3_dot(c.at, c.at) != 0.0) {
        move_to(&c, stn_vec3_zero());
        link_up(reader, &c, name_joint(reader, &c, NULL, "fixed"), own->name, STN_JOINT_FIXED, part->xml);
    }
    return mjcf_add_link(reader, own->name, part->xml);
}
