// SPDX-License-Identifier: Apache-2.0
// A robot as URDF, with Drake's extensions where URDF lacks words: ball, planar, screw and universal joints, rotor
// inertia, contact properties, ellipsoids and capsules, pairs of links that never collide. Every link is followed by
// the joints whose links are all written.
#include <string.h>

#include "urdf.h"

/// Beyond what any joint reaches: for a limit that exists on one side only, as URDF needs two numbers.
static const double FAR = 1e9;

typedef struct saver {
    xml_writer xml; // first
    robot_parts parts;
    robot_names colours; // of the materials -> their numbers, in the order of their first use
    int32_t colour_count;
} saver;

static void put_value(xml_writer *w, const char *element, const char *attribute, double value) {
    xml_begin(w, element);
    xml_put_real(w, attribute, value);
    xml_end(w);
}

static void put_name(xml_writer *w, const char *element, const char *attribute, const char *name) {
    xml_begin(w, element);
    xml_put_text(w, attribute, name);
    xml_end(w);
}

static void put_origin(xml_writer *w, const stn_pose *pose) {
    const double xyz[3] = {pose->position.x, pose->position.y, pose->position.z};
    double rpy[3];
    robot_settle_rpy(&pose->rotation, rpy);
    bool moved = xyz[0] != 0.0 || xyz[1] != 0.0 || xyz[2] != 0.0;
    bool turned = rpy[0] != 0.0 || rpy[1] != 0.0 || rpy[2] != 0.0;
    if (!moved && !turned) {
        return;
    }
    xml_begin(w, "origin");
    if (moved) {
        xml_put_reals(w, "xyz", xyz, 3);
    }
    if (turned) {
        xml_put_reals(w, "rpy", rpy, 3);
    }
    xml_end(w);
}

// ---------------------------------------------------------------------------------------------------------- shapes

static void put_shape(saver *s, const robot_shape *shape) {
    xml_writer *w = &s->xml;
    const stn_shape *g = &shape->geometry->shape;
    const double half[3] = {g->half_extents.x, g->half_extents.y, g->half_extents.z};
    const double size[3] = {2.0 * half[0], 2.0 * half[1], 2.0 * half[2]};
    const double scale[3] = {shape->scale.x, shape->scale.y, shape->scale.z};
    switch (g->type) {
    case STN_SHAPE_SPHERE:
        put_value(w, "sphere", "radius", g->radius);
        break;
    case STN_SHAPE_BOX:
        xml_begin(w, "box");
        xml_put_reals(w, "size", size, 3);
        xml_end(w);
        break;
    case STN_SHAPE_CAPSULE:
    case STN_SHAPE_CYLINDER:
        xml_begin(w, g->type == STN_SHAPE_CYLINDER ? "cylinder" : "drake:capsule");
        xml_put_real(w, "radius", g->radius);
        xml_put_real(w, "length", 2.0 * g->half_length);
        xml_end(w);
        break;
    case STN_SHAPE_HALF_SPACE:
        xml_begin(w, "plane");
        xml_put_text(w, "normal", "0 0 1");
        xml_end(w);
        break;
    case STN_SHAPE_ELLIPSOID:
        xml_begin(w, "drake:ellipsoid");
        xml_put_real(w, "a", half[0]);
        xml_put_real(w, "b", half[1]);
        xml_put_real(w, "c", half[2]);
        xml_end(w);
        break;
    case STN_SHAPE_MESH:
    case STN_SHAPE_CONVEX:
        xml_begin(w, "mesh");
        xml_put_text(w, "filename", shape->mesh);
        if (scale[0] != 1.0 || scale[1] != 1.0 || scale[2] != 1.0) {
            xml_put_reals(w, "scale", scale, 3);
        }
        if (robot_save_is_convex(shape->geometry)) {
            xml_begin(w, "drake:declare_convex");
            xml_end(w);
        }
        xml_end(w);
        if (shape->geometry->collision && g->type == STN_SHAPE_MESH && !isinf(shape->geometry->material.modulus)) {
            robot_lose(&s->parts, "surface", robot_part_text(&s->parts, "link %s", s->parts.parts[0].name),
                       "a colliding mesh that is not rigid is read as its convex hull");
        }
        break;
    case STN_SHAPE_HEIGHT_FIELD: // made from numbers: left out when the parts were taken
    case STN_SHAPE_SURFACE:      // of no link
    case STN_SHAPE_COUNT:
        break;
    }
}

/// The number of a shape's material, from 1; 0: the one that shapes without any have.
static int32_t find_colour(saver *s, const stn_geometry *g) {
    stn_geometry_spec plain = stn_geometry_spec_default(g->shape);
    if (memcmp(plain.rgba, g->rgba, sizeof plain.rgba) == 0) {
        return 0;
    }
    const char *key = robot_part_text(&s->parts, "%a %a %a %a", (double)g->rgba[0], (double)g->rgba[1],
                                      (double)g->rgba[2], (double)g->rgba[3]);
    int32_t number = robot_names_find(&s->colours, 0, key);
    if (number < 0) {
        number = ++s->colour_count;
        robot_names_add(&s->parts.tables, &s->colours, 0, key, number);
    }
    return number;
}

static void put_materials(saver *s) {
    const robot_parts *p = &s->parts;
    int32_t total = p->count > 0 ? p->parts[p->count - 1].shape_start + p->parts[p->count - 1].shape_count : 0;
    if (!robot_part_names(&s->parts, &s->colours)) {
        return;
    }
    for (int32_t i = 0; i < total; i++) {
        const stn_geometry *g = p->shapes[i].geometry;
        int32_t known = s->colour_count, colour = g != NULL && g->visual ? find_colour(s, g) : 0;
        double rgba[4];
        if (colour <= known) {
            continue;
        }
        robot_settle_colour(g->rgba, rgba);
        xml_begin(&s->xml, "material");
        xml_put_text(&s->xml, "name", robot_part_text(&s->parts, "colour_%d", (int)colour));
        xml_begin(&s->xml, "color");
        xml_put_reals(&s->xml, "rgba", rgba, 4);
        xml_end(&s->xml);
        xml_end(&s->xml);
    }
}

// ----------------------------------------------------------------------------------------------------------- links

/// Bullet's word, as Drake has none: one restitution for all collisions of a link.
static void put_restitution(saver *s, const robot_part *part) {
    double common = (double)NAN;
    bool first = true, same = true;
    for (int32_t i = part->shape_start; i < part->shape_start + part->shape_count; i++) {
        const stn_geometry *g = s->parts.shapes[i].geometry;
        double value = g->material.restitution;
        if (g->collision) {
            same = same && (first || value == common || (isnan(value) && isnan(common)));
            common = first ? value : common;
            first = false;
        }
    }
    if (!same) {
        robot_lose(&s->parts, "restitution", robot_part_text(&s->parts, "link %s", part->name),
                   "its shapes have several restitutions, a link in URDF has one: left out");
    } else if (!isnan(common)) {
        xml_begin(&s->xml, "contact");
        put_value(&s->xml, "restitution", "value", common);
        xml_end(&s->xml);
    }
}

/// Does friction of a link differ by direction, in the same way on all of its collisions? Gazebo's words, as Drake has
/// none, say it of a link.
static bool has_one_friction(saver *s, const robot_part *part) {
    double first[5] = {0.0, 0.0, 0.0, 0.0, 0.0};
    int32_t count = 0, directed = 0, same = 0;
    for (int32_t i = part->shape_start; i < part->shape_start + part->shape_count; i++) {
        const stn_geometry *g = s->parts.shapes[i].geometry;
        double f[5];
        if (!g->collision) {
            continue;
        }
        directed += robot_save_friction(g, &f[0], &f[1], f + 2);
        if (count++ == 0) {
            memcpy(first, f, sizeof first);
        }
        same += memcmp(first, f, sizeof first) == 0;
    }
    if (directed > 0 && same < count) {
        robot_lose(&s->parts, "friction", robot_part_text(&s->parts, "link %s", part->name),
                   "its shapes have several frictions of which some have a direction, a link in URDF has one: mu alone "
                   "is written");
    }
    return directed > 0 && same == count;
}

static void put_link(saver *s, const robot_part *part) {
    static const struct {
        const char *name;
        int32_t i, j;
    } entries[] = {{"ixx", 0, 0}, {"ixy", 0, 1}, {"ixz", 0, 2}, {"iyy", 1, 1}, {"iyz", 1, 2}, {"izz", 2, 2}};
    xml_writer *w = &s->xml;
    const stn_mass *mass = &part->link->mass;
    xml_begin(w, "link");
    xml_put_text(w, "name", part->name);
    if (mass->mass > 0.0) {
        const stn_pose at_com = {stn_mat3_identity(), mass->com};
        xml_begin(w, "inertial");
        put_origin(w, &at_com);
        put_value(w, "mass", "value", mass->mass);
        xml_begin(w, "inertia");
        for (int32_t k = 0; k < STN_COUNT(entries); k++) {
            xml_put_real(w, entries[k].name, mass->inertia.m[entries[k].i][entries[k].j]);
        }
        xml_end(w);
        xml_end(w);
    }
    bool directed = has_one_friction(s, part);
    for (int32_t k = 0; k < 2 * part->shape_count; k++) { // visuals, then collisions
        bool collision = k >= part->shape_count;
        const robot_shape *shape = &s->parts.shapes[part->shape_start + k % part->shape_count];
        const stn_geometry *g = shape->geometry;
        if (!(collision ? g->collision : g->visual)) {
            continue;
        }
        int32_t colour = collision ? 0 : find_colour(s, g);
        stn_pose pose = robot_save_pose(shape);
        xml_begin(w, collision ? "collision" : "visual");
        if (g->name != NULL && g->name[0] != '\0' && !xml_cannot_hold(g->name)) {
            xml_put_text(w, "name", g->name);
        }
        put_origin(w, &pose);
        xml_begin(w, "geometry");
        put_shape(s, shape);
        xml_end(w);
        if (colour > 0) {
            put_name(w, "material", "name", robot_part_text(&s->parts, "colour_%d", (int)colour));
        }
        if (collision) {
            stn_material m = g->material;
            m.mu = directed ? (double)NAN : m.mu; // Gazebo's friction is read where Drake's does not stand
            robot_save_proximity(w, &m, &g->field, false);
            robot_lose_static_friction(&s->parts, part->name, &g->material);
        }
        xml_end(w);
    }
    put_restitution(s, part);
    xml_end(w);
    double mu, mu2, direction[3];
    for (int32_t i = part->shape_start; directed && i < part->shape_start + part->shape_count; i++) {
        if (robot_save_friction(s->parts.shapes[i].geometry, &mu, &mu2, direction) &&
            s->parts.shapes[i].geometry->collision) {
            xml_begin(w, "gazebo");
            xml_put_text(w, "reference", part->name);
            xml_real_element(w, "mu1", mu);
            xml_real_element(w, "mu2", mu2);
            xml_reals_element(w, "fdir1", direction, 3);
            xml_end(w);
            break;
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- joints

static void put_limit(saver *s, const robot_part *part) {
    const stn_joint *j = part->joint;
    const struct {
        const char *name;
        double value;
    } rates[] = {{"effort", j->effort}, {"velocity", j->velocity}, {"drake:acceleration", j->acceleration}};
    bool rated = isfinite(j->effort) || isfinite(j->velocity) || isfinite(j->acceleration);
    bool lower = isfinite(j->lower), upper = isfinite(j->upper);
    bool needed = lower || upper || (rated && j->type == STN_JOINT_PRISMATIC);
    bool ranged = needed && stn_joint_type_is_limited(j->type);
    if (needed && !(lower && upper)) {
        robot_lose(&s->parts, "limit", robot_part_text(&s->parts, "joint %s", part->joint_name),
                   "a limit needs two numbers in URDF: %g stands for infinity", FAR);
    }
    if (!ranged && !rated) {
        return;
    }
    xml_begin(&s->xml, "limit");
    if (ranged) {
        xml_put_real(&s->xml, "lower", lower ? j->lower : -FAR);
        xml_put_real(&s->xml, "upper", upper ? j->upper : FAR);
    }
    for (int32_t i = 0; i < STN_COUNT(rates); i++) {
        if (isfinite(rates[i].value)) {
            xml_put_real(&s->xml, rates[i].name, rates[i].value);
        }
    }
    xml_end(&s->xml);
}

static void put_joint(saver *s, const robot_part *part) {
    xml_writer *w = &s->xml;
    const stn_joint *j = part->joint;
    stn_joint_type type = part->type;
    // A revolute joint without limits is what URDF calls continuous.
    bool unlimited = j != NULL && j->type == STN_JOINT_REVOLUTE && isinf(j->lower) && isinf(j->upper);
    bool drake = type == STN_JOINT_BALL || type == STN_JOINT_SCREW || type == STN_JOINT_UNIVERSAL;
    xml_begin(w, drake ? "drake:joint" : "joint");
    xml_put_text(w, "name", part->joint_name);
    xml_put_text(w, "type", stn_joint_type_name(unlimited ? STN_JOINT_CONTINUOUS : type));
    put_name(w, "parent", "link", part->parent >= 0 ? s->parts.parts[part->parent].name : "world");
    put_name(w, "child", "link", part->name);
    put_origin(w, &part->origin);
    if (j == NULL) {
        xml_end(w);
        return;
    }
    if (stn_joint_type_has_axis(j->type)) {
        double axis[3];
        robot_settle_axis(j->axis, axis);
        xml_begin(w, "axis");
        xml_put_reals(w, "xyz", axis, 3);
        xml_end(w);
    }
    put_limit(s, part);
    if (j->damping != 0.0 || j->friction != 0.0) {
        xml_begin(w, "dynamics");
        xml_put_real(w, "damping", j->damping);
        xml_put_real(w, "friction", j->friction);
        xml_end(w);
    }
    if (j->type == STN_JOINT_SCREW) {
        put_value(w, "drake:screw_thread_pitch", "value", j->screw_pitch);
    }
    if (part->master >= 0) {
        xml_begin(w, "mimic");
        xml_put_text(w, "joint", s->parts.parts[part->master].joint_name);
        xml_put_real(w, "multiplier", j->mimic_multiplier);
        xml_put_real(w, "offset", j->mimic_offset);
        xml_end(w);
    }
    if (j->stiffness != 0.0) {
        robot_lose(&s->parts, "spring", robot_part_text(&s->parts, "joint %s", part->joint_name),
                   "URDF has no joint springs: left out");
    }
    if (j->servo_kp != 0.0 || j->servo_kd != 0.0) {
        robot_lose(&s->parts, "servo", robot_part_text(&s->parts, "joint %s", part->joint_name),
                   "URDF has no gains of servos: left out");
    }
    xml_end(w);
}

// ------------------------------------------------------------------------------------------------------------ motors

static void put_transmission(saver *s, const robot_part *part) {
    xml_writer *w = &s->xml;
    const stn_joint *j = part->joint;
    if (j == NULL || (j->actuator[0] == '\0' && j->reflected_inertia == 0.0)) {
        return;
    }
    if (!stn_joint_type_is_axial(j->type) || j->effort == 0.0) {
        robot_lose(&s->parts, "actuator", robot_part_text(&s->parts, "joint %s", part->joint_name),
                   "a motor of a %s joint with effort limit %g cannot be said in URDF: left out",
                   stn_joint_type_name(j->type), j->effort);
        return;
    }
    xml_begin(w, "transmission");
    xml_put_text(w, "name", robot_part_text(&s->parts, "%s_transmission", part->joint_name));
    xml_text_element(w, "type", "transmission_interface/SimpleTransmission");
    put_name(w, "joint", "name", part->joint_name);
    xml_begin(w, "actuator");
    if (j->actuator[0] != '\0') {
        xml_put_text(w, "name", j->actuator);
    }
    if (j->reflected_inertia != 0.0) {
        put_value(w, "drake:rotor_inertia", "value", j->reflected_inertia);
        put_value(w, "drake:gear_ratio", "value", 1.0);
    }
    xml_end(w);
    xml_end(w);
}

// ------------------------------------------------------------------------------------------------------------- all

stn_status urdf_save(void *self, const stn_save_request *request, char **text, size_t *length,
                     stn_diagnostics *diagnostics, stn_error *err) {
    (void)self;
    saver s = {.xml = {.context = request->model->context}};
    robot_parts *p = &s.parts;
    xml_writer *w = &s.xml;
    stn_status status = robot_parts_init(p, request, diagnostics, err);
    if (status != STN_OK) {
        robot_parts_clear(p);
        return status;
    }
    xml_begin(w, "robot");
    xml_put_text(w, "name", p->name);
    xml_put_text(w, "xmlns:drake", "http://drake.mit.edu");
    put_materials(&s);
    if (p->root < 0) { // joints hang on the world
        put_name(w, "link", "name", "world");
    }
    for (int32_t i = 0, joint = 0; i < p->count; i++) {
        put_link(&s, &p->parts[i]);
        for (; joint < p->joint_count && p->joints[joint] <= i && p->parts[p->joints[joint]].parent <= i; joint++) {
            put_joint(&s, &p->parts[p->joints[joint]]);
        }
    }
    for (int32_t i = 0; i < p->joint_count; i++) {
        put_transmission(&s, &p->parts[p->joints[i]]);
    }
    robot_save_filters(p, w, false);
    robot_lose_constraints(p, "URDF");
    if (p->robot->keyframe_count > 0) {
        robot_lose(p, "keyframe", "robot", "URDF has no keyframes: %d left out", (int)p->robot->keyframe_count);
    }
    xml_end(w);
    status = robot_parts_finish(p, w, text, length, err);
    robot_parts_clear(p);
    return status;
}
