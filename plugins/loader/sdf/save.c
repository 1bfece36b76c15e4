// SPDX-License-Identifier: Apache-2.0
// A robot as SDFormat. Poses chain along the tree, as the robot was described: a joint stands relative to its parent
// link, the link that it carries at the joint, shapes in their link; so no rounding comes in. Drake's extensions say
// planar joints, rotors, gains of servos, contact properties and pairs of links that never collide.
#include <string.h>

#include "sdf.h"

typedef struct saver {
    xml_writer xml;
    robot_parts parts;
    const char **joint_names; // by parts: they must differ from those of links
} saver;

/// x y z roll pitch yaw, relative to a frame; nothing for none and the frame around it.
static void put_pose(xml_writer *w, const char *relative_to, const stn_pose *pose) {
    double v[6] = {pose->position.x, pose->position.y, pose->position.z};
    bool placed = false;
    robot_settle_rpy(&pose->rotation, v + 3);
    for (int32_t i = 0; i < 6; i++) {
        placed |= v[i] != 0.0;
    }
    if (!placed && relative_to == NULL) {
        return;
    }
    xml_begin(w, "pose");
    if (relative_to != NULL) {
        xml_put_text(w, "relative_to", relative_to);
    }
    if (placed) {
        xml_inside_reals(w, v, 6);
    }
    xml_end(w);
}

static const char *label(saver *s, const char *what, const char *name) {
    return robot_part_text(&s->parts, "%s %s", what, name);
}

// ---------------------------------------------------------------------------------------------------------- shapes

static void put_shape(saver *s, const robot_part *part, const robot_shape *shape) {
    xml_writer *w = &s->xml;
    const stn_geometry *geometry = shape->geometry;
    const stn_shape *g = &geometry->shape;
    const double radii[3] = {g->half_extents.x, g->half_extents.y, g->half_extents.z}, up[3] = {0.0, 0.0, 1.0};
    const double size[3] = {2.0 * radii[0], 2.0 * radii[1], 2.0 * radii[2]};
    const double scale[3] = {shape->scale.x, shape->scale.y, shape->scale.z};
    if (g->type == STN_SHAPE_MESH || g->type == STN_SHAPE_CONVEX) {
        xml_begin(w, "mesh");
        xml_text_element(w, "uri", shape->mesh);
        if (scale[0] != 1.0 || scale[1] != 1.0 || scale[2] != 1.0) {
            xml_reals_element(w, "scale", scale, 3);
        }
        if (robot_save_is_convex(geometry)) {
            xml_begin(w, "drake:declare_convex");
            xml_end(w);
        }
        xml_end(w);
        if (geometry->collision && g->type == STN_SHAPE_MESH && !isinf(geometry->material.modulus)) {
            robot_lose(&s->parts, "surface", label(s, "link", part->name),
                       "a colliding mesh that is not rigid is read as its convex hull");
        }
        return;
    }
    xml_begin(w, g->type == STN_SHAPE_HALF_SPACE ? "plane" : stn_shape_name(g->type));
    if (g->type == STN_SHAPE_HALF_SPACE) {
        xml_reals_element(w, "normal", up, 3);
    } else if (g->type == STN_SHAPE_BOX) {
        xml_reals_element(w, "size", size, 3);
    } else if (g->type == STN_SHAPE_ELLIPSOID) {
        xml_reals_element(w, "radii", radii, 3);
    } else {
        xml_real_element(w, "radius", g->radius);
    }
    if (g->type == STN_SHAPE_CAPSULE || g->type == STN_SHAPE_CYLINDER) {
        xml_real_element(w, "length", 2.0 * g->half_length);
    }
    xml_end(w);
}

/// Contact parameters of a collision: friction and restitution in SDFormat's own words, which every program reads, the
/// others in Drake's.
static void put_surface(saver *s, const robot_part *part, const stn_geometry *g) {
    xml_writer *w = &s->xml;
    stn_material m = g->material;
    double mu, mu2, direction[3];
    bool directed = robot_save_friction(g, &mu, &mu2, direction);
    if (directed || !isnan(m.mu) || !isnan(m.restitution)) {
        xml_begin(w, "surface");
        if (directed || !isnan(m.mu)) {
            xml_begin(w, "friction");
            xml_begin(w, "ode");
            xml_real_element(w, "mu", mu);
            xml_real_element(w, "mu2", directed ? mu2 : mu);
            if (directed) {
                xml_reals_element(w, "fdir1", direction, 3);
            }
            xml_end(w);
            xml_end(w);
        }
        if (!isnan(m.restitution)) {
            xml_begin(w, "bounce");
            xml_real_element(w, "restitution_coefficient", m.restitution);
            xml_end(w);
        }
        xml_end(w);
    }
    m.mu = (double)NAN;
    robot_save_proximity(w, &m, &g->field, true);
    robot_lose_static_friction(&s->parts, part->name, &g->material);
}

/// Shapes of one kind; in SDFormat each has a name.
static void put_shapes(saver *s, const robot_part *part, bool collision) {
    xml_writer *w = &s->xml;
    const char *kind = collision ? "collision" : "visual";
    robot_names taken;
    bool made = robot_part_names(&s->parts, &taken);
    for (int32_t i = 0; i < part->shape_count && made; i++) {
        const robot_shape *shape = &s->parts.shapes[part->shape_start + i];
        const stn_geometry *g = shape->geometry;
        if (!(collision ? g->collision : g->visual)) {
            continue;
        }
        bool named = g->name != NULL && g->name[0] != '\0' && !xml_cannot_hold(g->name);
        const char *name = named ? g->name : robot_part_text(&s->parts, "%s_%s", part->name, kind);
        stn_pose pose = robot_save_pose(shape);
        xml_begin(w, kind);
        xml_put_text(w, "name", robot_part_unique(&s->parts, &taken, name));
        put_pose(w, NULL, &pose);
        xml_begin(w, "geometry");
        put_shape(s, part, shape);
        xml_end(w);
        const stn_geometry_spec plain = stn_geometry_spec_default(g->shape);
        if (collision) {
            put_surface(s, part, g);
        } else if (memcmp(plain.rgba, g->rgba, sizeof plain.rgba) != 0) {
            double rgba[4];
            robot_settle_colour(g->rgba, rgba);
            xml_begin(w, "material");
            xml_reals_element(w, "ambient", rgba, 4);
            xml_reals_element(w, "diffuse", rgba, 4);
            xml_end(w);
        }
        xml_end(w);
    }
}

// ----------------------------------------------------------------------------------------------------------- links

static bool is_floating(const robot_part *part) {
    return part->joint_name != NULL && part->type == STN_JOINT_FLOATING;
}

/// The frame of a joint's parent side; the model's own for the world.
static const char *parent_frame(const saver *s, const robot_part *part) {
    bool world = part->parent < 0 || (s->parts.root_is_world && part->parent == s->parts.root);
    return world ? "__model__" : s->parts.parts[part->parent].name;
}

static const char *parent_link(const saver *s, const robot_part *part) {
    bool world = part->parent < 0 || (s->parts.root_is_world && part->parent == s->parts.root);
    return world ? "world" : s->parts.parts[part->parent].name;
}

/// The fixed joint by which a welded root hangs on the world.
static const char *base_joint(saver *s) {
    return robot_part_text(&s->parts, "%s_fixed", s->parts.parts[s->parts.root].name);
}

static void put_link(saver *s, int32_t index) {
    static const struct {
        const char *name;
        int32_t i, j;
    } entries[] = {{"ixx", 0, 0}, {"ixy", 0, 1}, {"ixz", 0, 2}, {"iyy", 1, 1}, {"iyz", 1, 2}, {"izz", 2, 2}};
    xml_writer *w = &s->xml;
    const robot_part *part = &s->parts.parts[index];
    const stn_mass *mass = &part->link->mass;
    const stn_pose none = stn_pose_identity(), at_com = {stn_mat3_identity(), mass->com};
    bool jointed = part->joint_name != NULL && !is_floating(part), planar = jointed && part->type == STN_JOINT_PLANAR;
    xml_begin(w, "link");
    xml_put_text(w, "name", part->name);
    if (planar) { // such a joint has no pose of its own
        put_pose(w, parent_frame(s, part), &part->origin);
    } else if (jointed) {
        put_pose(w, s->joint_names[index], &none);
    } else if (s->parts.fixed && index == s->parts.root) {
        put_pose(w, base_joint(s), &none);
    } else {
        put_pose(w, NULL, &part->origin);
    }
    xml_begin(w, "inertial");
    put_pose(w, NULL, &at_com);
    xml_real_element(w, "mass", mass->mass); // an absent one would be 1 kg
    if (mass->mass > 0.0) {
        xml_begin(w, "inertia");
        for (int32_t k = 0; k < STN_COUNT(entries); k++) {
            xml_real_element(w, entries[k].name, mass->inertia.m[entries[k].i][entries[k].j]);
        }
        xml_end(w);
    }
    xml_end(w);
    put_shapes(s, part, false);
    put_shapes(s, part, true);
    xml_end(w);
}

// ---------------------------------------------------------------------------------------------------------- joints

static void put_axis(saver *s, const robot_part *part, const char *name, stn_vec3 axis) {
    xml_writer *w = &s->xml;
    const stn_joint *j = part->joint;
    const struct {
        const char *name;
        double value;
    } limits[] = {{"lower", j->lower},
                  {"upper", j->upper},
                  {"effort", j->effort},
                  {"velocity", j->velocity},
                  {"drake:acceleration", j->acceleration}};
    double xyz[3];
    robot_settle_axis(axis, xyz);
    xml_begin(w, name);
    xml_reals_element(w, "xyz", xyz, 3);
    bool limited = false;
    for (int32_t i = 0; i < STN_COUNT(limits); i++) {
        if (isfinite(limits[i].value)) {
            if (!limited) {
                xml_begin(w, "limit");
            }
            limited = true;
            xml_real_element(w, limits[i].name, limits[i].value);
        }
    }
    if (limited) {
        xml_end(w);
    }
    if (j->damping != 0.0 || j->friction != 0.0 || j->stiffness != 0.0) {
        xml_begin(w, "dynamics");
        xml_real_element(w, "damping", j->damping);
        xml_real_element(w, "friction", j->friction);
        if (j->stiffness != 0.0) {
            xml_real_element(w, "spring_reference", j->rest);
            xml_real_element(w, "spring_stiffness", j->stiffness);
        }
        xml_end(w);
    }
    if (part->master >= 0) {
        xml_begin(w, "mimic");
        xml_put_text(w, "joint", s->joint_names[part->master]);
        xml_real_element(w, "multiplier", j->mimic_multiplier);
        xml_real_element(w, "offset", j->mimic_offset);
        xml_real_element(w, "reference", 0.0);
        xml_end(w);
    }
    xml_end(w);
}

/// A frame that a planar joint needs; where it would be that of the link itself, the link's name.
static const char *put_frame(saver *s, const robot_part *part, const char *end, const char *link,
                             const stn_pose *pose) {
    double rpy[3];
    robot_settle_rpy(&pose->rotation, rpy);
    bool same = rpy[0] == 0.0 && rpy[1] == 0.0 && rpy[2] == 0.0 && pose->position.x == 0.0 && pose->position.y == 0.0 &&
                pose->position.z == 0.0;
    if (same) {
        return link;
    }
    const char *name = robot_part_text(&s->parts, "%s_%s", part->joint_name, end);
    xml_begin(&s->xml, "frame");
    xml_put_text(&s->xml, "name", name);
    if (strcmp(link, "world") != 0) {
        xml_put_text(&s->xml, "attached_to", link);
    }
    put_pose(&s->xml, NULL, pose);
    xml_end(&s->xml);
    robot_lose(&s->parts, "planar", label(s, "joint", part->joint_name),
               "its frames beside those of the links are links without mass when the file is read");
    return name;
}

/// Drake's planar joint moves in the x y plane of two frames: here those of the joint, turned so that z is the axis.
static void put_planar(saver *s, int32_t index) {
    const robot_part *part = &s->parts.parts[index];
    const stn_joint *j = part->joint;
    const double damping[3] = {j->damping, j->damping, j->damping};
    stn_vec3 x, y;
    stn_plane_axes(j->axis, &x, &y);
    const stn_pose turn = {stn_mat3_columns(x, y, j->axis), stn_vec3_zero()};
    const stn_pose origin = stn_pose_mul(&part->origin, &turn);
    const char *parent = put_frame(s, part, "parent", parent_link(s, part), &origin);
    const char *child = put_frame(s, part, "child", part->name, &turn);
    xml_begin(&s->xml, "drake:joint");
    xml_put_text(&s->xml, "name", s->joint_names[index]);
    xml_put_text(&s->xml, "type", "planar");
    xml_text_element(&s->xml, "drake:parent", parent);
    xml_text_element(&s->xml, "drake:child", child);
    if (j->damping != 0.0) {
        xml_reals_element(&s->xml, "drake:damping", damping, 3);
    }
    xml_end(&s->xml);
    if (isfinite(j->effort) || isfinite(j->velocity) || isfinite(j->acceleration) || j->friction != 0.0) {
        robot_lose(
            &s->parts, "planar_limit", label(s, "joint", part->joint_name),
            "a planar joint has no limits of effort, velocity and acceleration and no friction in SDFormat: left "
            "out");
    }
}

static void put_joint(saver *s, int32_t index) {
    xml_writer *w = &s->xml;
    const robot_part *part = &s->parts.parts[index];
    const stn_joint *j = part->joint;
    if (is_floating(part)) {
        return;
    }
    if (part->type == STN_JOINT_PLANAR) {
        put_planar(s, index);
        return;
    }
    xml_begin(w, "joint");
    xml_put_text(w, "name", s->joint_names[index]);
    xml_put_text(w, "type", stn_joint_type_name(part->type));
    put_pose(w, parent_frame(s, part), &part->origin);
    xml_text_element(w, "parent", parent_link(s, part));
    xml_text_element(w, "child", part->name);
    if (j == NULL) {
        xml_end(w);
        return;
    }
    bool said = isfinite(j->effort) || isfinite(j->velocity) || isfinite(j->acceleration) || j->damping != 0.0 ||
                j->friction != 0.0;
    if (j->type == STN_JOINT_UNIVERSAL) {
        put_axis(s, part, "axis", stn_vec3_make(1.0, 0.0, 0.0));
        put_axis(s, part, "axis2", stn_vec3_make(0.0, 1.0, 0.0));
    } else if (j->type == STN_JOINT_BALL && said) {
        put_axis(s, part, "axis", stn_vec3_make(0.0, 0.0, 1.0)); // its direction means nothing
    } else if (j->type != STN_JOINT_BALL) {
        put_axis(s, part, "axis", j->axis);
    }
    if (j->type == STN_JOINT_SCREW) {
        xml_real_element(w, "screw_thread_pitch", j->screw_pitch);
    }
    if (j->reflected_inertia != 0.0) {
        xml_real_element(w, "drake:rotor_inertia", j->reflected_inertia);
        xml_real_element(w, "drake:gear_ratio", 1.0);
    }
    if (j->servo_kp != 0.0 || j->servo_kd != 0.0) {
        xml_begin(w, "drake:controller_gains");
        xml_put_real(w, "p", j->servo_kp);
        xml_put_real(w, "d", j->servo_kd);
        xml_end(w);
    }
    if (j->actuator[0] != '\0') {
        robot_lose(&s->parts, "actuator", label(s, "joint", part->joint_name),
                   "SDFormat has no names of motors: '%.80s' is left out", j->actuator);
    }
    xml_end(w);
}

// ------------------------------------------------------------------------------------------------------------- all

/// Links and joints share one set of names: a joint with a link's name gets another.
static void name_joints(saver *s) {
    robot_parts *p = &s->parts;
    robot_names taken;
    s->joint_names = robot_part_allocate(p, (size_t)p->count, sizeof *s->joint_names);
    if (!robot_part_names(p, &taken)) {
        return;
    }
    for (int32_t i = 0; i < p->count && !p->out_of_memory; i++) {
        robot_names_add(&p->tables, &taken, 0, p->parts[i].name, 1);
    }
    for (int32_t i = 0; i < p->joint_count && !p->out_of_memory; i++) {
        const robot_part *part = &p->parts[p->joints[i]];
        const char *wanted = part->joint_name, *name = wanted;
        if (robot_names_find(&taken, 0, wanted) > 0) {
            name = robot_part_unique(p, &taken, robot_part_text(p, "%s_joint", wanted));
            robot_lose(p, "name", label(s, "joint", wanted),
                       "a link has its name, which SDFormat does not allow: it is called '%.80s' there", name);
        }
        robot_names_add(&p->tables, &taken, 0, name, 1);
        s->joint_names[p->joints[i]] = name;
    }
}

/// Free bodies stand where they start; a floating joint between links cannot be said.
static stn_status check_floating(saver *s, stn_error *err) {
    robot_parts *p = &s->parts;
    for (int32_t i = 0; i < p->count; i++) {
        const robot_part *part = &p->parts[i];
        bool on_world = part->on_world || (p->root_is_world && part->parent == p->root);
        if (is_floating(part) && !on_world) {
            return stn_fail(err, STN_ERR_UNSUPPORTED,
                            "%s: joint %s: SDFormat has no floating joints between links, only free bodies",
                            p->request->path, part->joint_name);
        }
        if (is_floating(part)) {
            robot_lose(p, "floating", label(s, "joint", part->joint_name),
                       "SDFormat has no floating joints: the link is a free body, and the joint gets another name");
        }
    }
    return STN_OK;
}

static void put_model(saver *s) {
    const robot_parts *p = &s->parts;
    xml_writer *w = &s->xml;
    bool free = p->root >= 0 && !p->root_is_world && !p->fixed && p->parts[p->root].link->parent == STN_WORLD;
    xml_begin(w, "model");
    xml_put_text(w, "name", p->name);
    if (free) {
        put_pose(w, NULL, &p->robot->base);
    }
    for (int32_t i = 0, joint = 0; i < p->count; i++) {
        if (p->root_is_world && i == p->root) {
            if (p->parts[i].shape_count > 0) {
                robot_lose(&s->parts, "world", "link world", "shapes of the world cannot stand in a model: left out");
            }
        } else {
            put_link(s, i);
        }
        if (i == p->root && p->fixed) {
            xml_begin(w, "joint");
            xml_put_text(w, "name", base_joint(s));
            xml_put_text(w, "type", "fixed");
            put_pose(w, "__model__", &p->robot->base);
            xml_text_element(w, "parent", "world");
            xml_text_element(w, "child", p->parts[p->root].name);
            xml_end(w);
        }
        for (; joint < p->joint_count && p->joints[joint] <= i; joint++) {
            put_joint(s, p->joints[joint]);
        }
    }
    robot_save_filters(&s->parts, w, true);
    robot_lose_constraints(&s->parts, "SDFormat");
    xml_end(w);
    if (p->robot->keyframe_count > 0) {
        robot_lose(&s->parts, "keyframe", "robot", "SDFormat has no keyframes: %d left out",
                   (int)p->robot->keyframe_count);
    }
}

/// Longer names are not read again.
static stn_status check_length(const saver *s, const char *what, const char *name, stn_error *err) {
    return name == NULL || strlen(name) <= SDF_LONGEST_NAME
               ? STN_OK
               : stn_fail(err, STN_ERR_UNSUPPORTED,
                          "%s: the name of a %s has %zu bytes, of which at most %d are read: give it a shorter one",
                          s->parts.request->path, what, strlen(name), (int)SDF_LONGEST_NAME);
}

stn_status sdf_save(void *self, const stn_save_request *request, char **text, size_t *length,
                    stn_diagnostics *diagnostics, stn_error *err) {
    (void)self;
    saver s = {.xml = {.context = request->model->context}};
    robot_parts *p = &s.parts;
    bool mimics = false;
    stn_status status = robot_parts_init(p, request, diagnostics, err);
    if (status == STN_OK) {
        name_joints(&s);
        status = check_floating(&s, err);
    }
    if (status == STN_OK) {
        status = check_length(&s, "robot", p->name, err);
    }
    for (int32_t i = 0; i < p->count && status == STN_OK; i++) {
        status = check_length(&s, "link", p->parts[i].name, err);
        if (status == STN_OK) {
            status = check_length(&s, "joint", p->parts[i].joint_name, err);
        }
        mimics |= p->parts[i].master >= 0;
    }
    if (status == STN_OK && !p->out_of_memory) {
        xml_begin(&s.xml, "sdf");
        // <mimic> came with 1.11; everything else is older, and older versions are read by more programs.
        xml_put_text(&s.xml, "version", mimics ? "1.11" : "1.9");
        xml_put_text(&s.xml, "xmlns:drake", "http://drake.mit.edu");
        put_model(&s);
        xml_end(&s.xml);
    }
    if (status == STN_OK) {
        status = robot_parts_finish(p, &s.xml, text, length, err);
    }
    robot_parts_clear(p);
    return status;
}
