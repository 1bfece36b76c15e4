// SPDX-License-Identifier: Apache-2.0
// A robot as MJCF: bodies inside bodies. A body stands where its joint has its frame, so joints have no `pos`. What
// MJCF has no joint for is several of one body: planar is slide, slide, hinge, universal is hinge, hinge; when such a
// file is read there are links without mass between them, which are left out here again.
#include <string.h>

#include "save.h"

/// Beyond what any joint reaches, and the least room that it needs: MJCF wants two limits, the first one smaller.
static const double FAR = 1e9, ROOM = 1e-9;

const char *mjcf_save_label(mjcf_saver *s, const char *what, const char *name) {
    return robot_part_text(&s->parts, "%s %s", what, name);
}

static void put_pose(xml_writer *w, const stn_pose *pose) {
    const double pos[3] = {pose->position.x, pose->position.y, pose->position.z};
    double quat[4];
    robot_settle_quaternion(&pose->rotation, quat);
    if (pos[0] != 0.0 || pos[1] != 0.0 || pos[2] != 0.0) {
        xml_put_reals(w, "pos", pos, 3);
    }
    if (quat[1] != 0.0 || quat[2] != 0.0 || quat[3] != 0.0) {
        xml_put_reals(w, "quat", quat, 4);
    }
}

// ---------------------------------------------------------------------------------------------------------- shapes

/// Numbers of `size`.
static int32_t size_of(const stn_shape *shape, double size[3]) {
    const double half[3] = {shape->half_extents.x, shape->half_extents.y, shape->half_extents.z};
    const double round[3] = {shape->radius, shape->half_length, 0.0}, plane[3] = {0.0, 0.0, 1.0};
    bool box = shape->type == STN_SHAPE_BOX || shape->type == STN_SHAPE_ELLIPSOID;
    bool flat = shape->type == STN_SHAPE_HALF_SPACE;
    memcpy(size, box ? half : flat ? plane : round, sizeof half);
    bool ball = shape->type == STN_SHAPE_SPHERE || (shape->type == STN_SHAPE_CAPSULE && shape->half_length == 0.0);
    return box || flat ? 3 : ball ? 1 : 2;
}

static void put_geoms(mjcf_saver *s, const robot_part *part) {
    xml_writer *w = &s->xml;
    for (int32_t i = part->shape_start; i < part->shape_start + part->shape_count; i++) {
        const stn_geometry *g = s->parts.shapes[i].geometry;
        const stn_shape *shape = &g->shape;
        const stn_material *m = &g->material;
        const stn_field_spec *field = &g->field;
        const stn_geometry_spec plain = stn_geometry_spec_default(*shape);
        bool ball = shape->type == STN_SHAPE_CAPSULE && shape->half_length == 0.0;
        double size[3], rgba[4];
        xml_begin(w, "geom");
        if (s->shape_names[i] != NULL) {
            xml_put_text(w, "name", s->shape_names[i]);
        }
        if (s->shape_mesh[i] >= 0) {
            xml_put_text(w, "type", "mesh");
            xml_put_text(w, "mesh", s->mesh_names[s->shape_mesh[i]]);
        } else {
            bool plane = shape->type == STN_SHAPE_HALF_SPACE;
            xml_put_text(w, "type", plane ? "plane" : ball ? "sphere" : stn_shape_name(shape->type));
            xml_put_reals(w, "size", size, size_of(shape, size));
        }
        put_pose(w, &g->in_link); // MuJoCo turns no mesh
        if (!g->collision) {
            xml_put_text(w, "contype", "0");
            xml_put_text(w, "conaffinity", "0");
        } else { // one friction coefficient; MuJoCo's default is another one than ours
            xml_put_real(w, "friction", isnan(m->mu) ? stn_material_default().mu : m->mu);
            robot_lose_static_friction(&s->parts, part->name, m);
            double mu, mu2, direction[3];
            if (robot_save_friction(g, &mu, &mu2, direction)) {
                robot_lose(
                    &s->parts, "friction", mjcf_save_label(s, "link", part->name),
                    "mu2 = %g across the friction direction: a geom in MJCF has one friction, mu = %g is written", mu2,
                    mu);
            }
        }
        if (g->collision && (isfinite(m->stiffness) || isfinite(m->relaxation_time) || isfinite(m->dissipation) ||
                             !isnan(m->modulus) || isfinite(m->restitution) || isfinite(field->resolution) ||
                             isfinite(field->margin) || isfinite(field->thickness))) {
            robot_lose(&s->parts, "surface", mjcf_save_label(s, "link", part->name),
                       "of a surface MJCF holds the friction alone: stiffness, dissipation, restitution, hydroelastic "
                       "modulus and what belongs to it are left out");
        }
        if (part->link->mass.mass == 0.0) {
            xml_put_text(w, "mass", "0"); // without <inertial> a body weighs what its geoms do
        }
        if (g->collision != g->visual) {
            xml_put_text(w, "group", g->collision ? "3" : "2"); // viewers show groups 0 to 2
        }
        if (g->visual && memcmp(plain.rgba, g->rgba, sizeof plain.rgba) != 0) {
            robot_settle_colour(g->rgba, rgba);
            xml_put_reals(w, "rgba", rgba, 4);
        }
        xml_end(w);
    }
}

// ---------------------------------------------------------------------------------------------------------- joints

int32_t mjcf_save_motions(stn_joint_type type) {
    return type == STN_JOINT_PLANAR ? 3 : type == STN_JOINT_UNIVERSAL ? 2 : type == STN_JOINT_FIXED ? 0 : 1;
}

const char *mjcf_save_motion_name(mjcf_saver *s, const robot_part *part, int32_t k) {
    bool several = mjcf_save_motions(part->type) > 1;
    return several ? robot_part_text(&s->parts, "%s_%s", part->joint_name, stn_joint_coordinate_name(part->type, k))
                   : part->joint_name;
}

/// `axis` NULL: a ball or free joint.
static void put_motion(mjcf_saver *s, const robot_part *part, int32_t k, const char *type, const stn_vec3 *axis) {
    xml_writer *w = &s->xml;
    const stn_joint *j = part->joint;
    double xyz[3];
    xml_begin(w, "joint");
    xml_put_text(w, "name", mjcf_save_motion_name(s, part, k));
    xml_put_text(w, "type", type);
    if (axis != NULL) {
        robot_settle_axis(*axis, xyz);
        xml_put_reals(w, "axis", xyz, 3);
    }
    bool axial = stn_joint_type_is_axial(j->type), limited = axial && (isfinite(j->lower) || isfinite(j->upper));
    double range[2] = {isfinite(j->lower) ? j->lower : -FAR, isfinite(j->upper) ? j->upper : FAR};
    if (limited && (!isfinite(j->lower) || !isfinite(j->upper))) {
        robot_lose(&s->parts, "limit", mjcf_save_label(s, "joint", part->joint_name),
                   "a range needs two numbers in MJCF: %g stands for infinity", FAR);
    }
    if (limited && !(range[0] < range[1])) {
        range[1] = range[0] + ROOM * fmax(1.0, fabs(range[0]));
        robot_lose(&s->parts, "locked", mjcf_save_label(s, "joint", part->joint_name),
                   "it is locked, for which MJCF has no range: it gets one of %g", ROOM);
    }
    if (limited) {
        xml_put_reals(w, "range", range, 2);
    }
    if (axial && j->reflected_inertia != 0.0) {
        xml_put_real(w, "armature", j->reflected_inertia);
    }
    if (axial && j->stiffness != 0.0) {
        xml_put_real(w, "stiffness", j->stiffness);
        xml_put_real(w, "springref", j->rest);
    }
    if (j->damping != 0.0) {
        xml_put_real(w, "damping", j->damping);
    }
    if (j->friction != 0.0) {
        xml_put_real(w, "frictionloss", j->friction);
    }
    xml_end(w);
}

static void put_joint(mjcf_saver *s, const robot_part *part) {
    const stn_vec3 x = {1.0, 0.0, 0.0}, y = {0.0, 1.0, 0.0};
    const stn_joint *j = part->joint;
    stn_vec3 along, across;
    if (isfinite(j->velocity) || isfinite(j->acceleration)) {
        robot_lose(&s->parts, "velocity", mjcf_save_label(s, "joint", part->joint_name),
                   "MJCF has no limits of velocity and acceleration: left out");
    }
    switch (j->type) {
    case STN_JOINT_PRISMATIC:
        put_motion(s, part, 0, "slide", &j->axis);
        break;
    case STN_JOINT_PLANAR:
        stn_plane_axes(j->axis, &along, &across);
        put_motion(s, part, 0, "slide", &along);
        put_motion(s, part, 1, "slide", &across);
        put_motion(s, part, 2, "hinge", &j->axis);
        break;
    case STN_JOINT_UNIVERSAL:
        put_motion(s, part, 0, "hinge", &x);
        put_motion(s, part, 1, "hinge", &y);
        break;
    case STN_JOINT_BALL:
        put_motion(s, part, 0, "ball", NULL);
        break;
    case STN_JOINT_FLOATING:
        put_motion(s, part, 0, "free", NULL);
        break;
    default:
        put_motion(s, part, 0, "hinge", &j->axis);
        break;
    }
}

static bool on_world(const robot_parts *p, const robot_part *part) {
    return part->on_world || (p->root_is_world && part->parent == p->root && part->joint_name != NULL);
}

// ---------------------------------------------------------------------------------------------------------- bodies

const stn_joint *mjcf_save_free_root(const mjcf_saver *s) {
    const robot_parts *p = &s->parts;
    const stn_link *link = p->root >= 0 ? p->parts[p->root].link : NULL;
    bool free = link != NULL && link->joint_name == NULL && link->parent == STN_WORLD && link->joint >= 0;
    return free ? &p->model->joints[link->joint] : NULL;
}

static void put_inertial(xml_writer *w, const stn_mass *mass) {
    const double(*I)[3] = mass->inertia.m;
    const double com[3] = {mass->com.x, mass->com.y, mass->com.z};
    const double full[6] = {I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]};
    if (!(mass->mass > 0.0)) {
        return;
    }
    xml_begin(w, "inertial");
    xml_put_reals(w, "pos", com, 3);
    xml_put_real(w, "mass", mass->mass);
    bool diagonal = full[3] == 0.0 && full[4] == 0.0 && full[5] == 0.0;
    xml_put_reals(w, diagonal ? "diaginertia" : "fullinertia", full, diagonal ? 3 : 6);
    xml_end(w);
}

/// Does a link stand between two joints of body `end`, with the name that the loader gives such links?
static bool is_between(const robot_parts *p, const robot_part *part, const robot_part *end) {
    const robot_part *child = part->first_child >= 0 ? &p->parts[part->first_child] : NULL;
    size_t length = strlen(end->name);
    if (child == NULL || child->next_sibling >= 0 || part->joint == NULL || child->joint == NULL ||
        part->link->mass.mass != 0.0 || part->shape_count > 0) {
        return false;
    }
    if (strncmp(part->name, end->name, length) != 0 || strncmp(part->name + length, "_part", 5) != 0) {
        return false;
    }
    const stn_pose *step = &child->origin;
    double quat[4];
    robot_settle_quaternion(&step->rotation, quat);
    return step->position.x == 0.0 && step->position.y == 0.0 && step->position.z == 0.0 && quat[1] == 0.0 &&
           quat[2] == 0.0 && quat[3] == 0.0;
}

/// The tables follow the order of the bodies, which is that of the links when the file is read.
static void list_part(mjcf_saver *s, int32_t index) {
    s->number[index] = s->listed_count;
    s->listed[s->listed_count++] = index;
}

static void begin_body(mjcf_saver *s, const robot_part *part, const stn_pose *pose) {
    xml_begin(&s->xml, "body");
    xml_put_text(&s->xml, "name", part->name);
    put_pose(&s->xml, pose);
}

static void put_body(mjcf_saver *s, int32_t index);

static void put_children(mjcf_saver *s, const robot_part *part) {
    for (int32_t i = part->first_child; i >= 0; i = s->parts.parts[i].next_sibling) {
        put_body(s, i);
    }
}

/// A link with the joints of those between, which are written as one body. MJCF nests as deep as the tree, and the
/// writer refuses more levels than are read.
static void put_body(mjcf_saver *s, int32_t index) {
    const robot_parts *p = &s->parts;
    int32_t end = index;
    if (s->xml.depth >= XML_DEEPEST) {
        s->xml.too_deep = true;
        return;
    }
    while (s->between[end]) {
        end = p->parts[end].first_child;
    }
    const robot_part *body = &p->parts[end];
    begin_body(s, body, &p->parts[index].origin);
    put_inertial(&s->xml, &body->link->mass);
    for (int32_t i = index;; i = p->parts[i].first_child) {
        list_part(s, i);
        if (p->parts[i].joint != NULL) {
            put_joint(s, &p->parts[i]);
        }
        if (i == end) {
            break;
        }
    }
    put_geoms(s, body);
    put_children(s, body);
    xml_end(&s->xml);
}

static void put_world(mjcf_saver *s) {
    const robot_parts *p = &s->parts;
    xml_begin(&s->xml, "worldbody");
    const robot_part *root = p->root >= 0 ? &p->parts[p->root] : NULL;
    if (root != NULL) {
        list_part(s, p->root);
    }
    if (root != NULL && !p->root_is_world) {
        const stn_joint *free = mjcf_save_free_root(s);
        begin_body(s, root, &p->robot->base);
        if (free != NULL) {
            xml_begin(&s->xml, "freejoint");
            xml_put_text(&s->xml, "name", free->name);
            xml_end(&s->xml);
        }
        put_inertial(&s->xml, &root->link->mass);
    }
    if (root != NULL) {
        put_geoms(s, root);
        put_children(s, root);
    }
    if (root != NULL && !p->root_is_world) {
        xml_end(&s->xml);
    }
    for (int32_t i = 0; i < p->joint_count; i++) {
        if (p->parts[p->joints[i]].on_world) {
            put_body(s, p->joints[i]);
        }
    }
    xml_end(&s->xml);
}

stn_status mjcf_save(void *self, const stn_save_request *request, char **text, size_t *length,
                     stn_diagnostics *diagnostics, stn_error *err) {
    (void)self;
    mjcf_saver s = {.xml = {.context = request->model->context}};
    robot_parts *p = &s.parts;
    stn_status status = robot_parts_init(p, request, diagnostics, err);
    for (int32_t i = 0; i < p->count && status == STN_OK; i++) {
        const robot_part *part = &p->parts[i];
        bool bound = part->joint_name != NULL && part->type == STN_JOINT_FLOATING && !on_world(p, part);
        if (bound || (part->joint_name != NULL && part->type == STN_JOINT_SCREW)) {
            status = stn_fail(err, STN_ERR_UNSUPPORTED, "%s: joint %s: MJCF has no %s", request->path, part->joint_name,
                              bound ? "floating joints between bodies" : "screw joints");
        }
    }
    if (status != STN_OK) {
        robot_parts_clear(p);
        return status;
    }
    s.between = robot_part_allocate(p, (size_t)p->count, sizeof *s.between);
    s.listed = robot_part_allocate(p, (size_t)p->count, sizeof *s.listed);
    s.number = robot_part_allocate(p, (size_t)p->count, sizeof *s.number);
    for (int32_t i = 0; i < p->count && s.between != NULL; i++) {
        int32_t above = p->parts[i].parent;
        while (above >= 0 && is_between(p, &p->parts[above], &p->parts[i])) {
            s.between[above] = true;
            above = p->parts[above].parent;
        }
    }
    if (!p->out_of_memory) {
        xml_begin(&s.xml, "mujoco");
        xml_put_text(&s.xml, "model", p->name);
        xml_begin(&s.xml, "compiler");
        xml_put_text(&s.xml, "angle", "radian");
        xml_put_text(&s.xml, "autolimits", "true");
        xml_end(&s.xml);
        mjcf_save_assets(&s);
        put_world(&s);
        mjcf_save_contact(&s);
        mjcf_save_equality(&s);
        mjcf_save_actuators(&s);
        mjcf_save_keyframes(&s);
        xml_end(&s.xml);
    }
    status = robot_parts_finish(p, &s.xml, text, length, err);
    robot_parts_clear(p);
    return status;
}
