// SPDX-License-Identifier: Apache-2.0
// What MJCF has beside the bodies: meshes, pairs that never collide, joints that follow others, actuators, keyframes.
#include <stdlib.h>
#include <string.h>

#include <stiction/dynamics.h>
#include <stiction/plugin.h>

#include "save.h"

// ---------------------------------------------------------------------------------------------------------- meshes

/// A mesh in one scale is one asset.
static void put_mesh(mjcf_saver *s, int32_t index) {
    robot_parts *p = &s->parts;
    const robot_shape *shape = &p->shapes[index];
    const stn_vec3 scale = p->model->meshes[shape->geometry->mesh].scale; // MuJoCo turns no mesh
    const double factors[3] = {scale.x, scale.y, scale.z};
    const char *key = robot_part_text(p, "%s\n%a %a %a", shape->mesh, scale.x, scale.y, scale.z);
    s->shape_mesh[index] = robot_names_find(&s->mesh_keys, 0, key);
    if (s->shape_mesh[index] >= 0) {
        return;
    }
    robot_names_add(&p->tables, &s->mesh_keys, 0, key, s->mesh_count);
    const char *slash = strrchr(shape->mesh, '/'), *stem = slash != NULL ? slash + 1 : shape->mesh;
    const char *dot = strrchr(stem, '.');
    int length = (int)(dot != NULL ? dot - stem : (ptrdiff_t)strlen(stem));
    s->mesh_names[s->mesh_count] = robot_part_unique(p, &s->mesh_taken, robot_part_text(p, "%.*s", length, stem));
    if (s->mesh_count == 0) {
        xml_begin(&s->xml, "asset");
    }
    xml_begin(&s->xml, "mesh");
    xml_put_text(&s->xml, "name", s->mesh_names[s->mesh_count]);
    xml_put_text(&s->xml, "file", shape->mesh);
    if (factors[0] != 1.0 || factors[1] != 1.0 || factors[2] != 1.0) {
        xml_put_reals(&s->xml, "scale", factors, 3);
    }
    xml_end(&s->xml);
    s->shape_mesh[index] = s->mesh_count++;
}

void mjcf_save_assets(mjcf_saver *s) {
    robot_parts *p = &s->parts;
    int32_t total = p->count > 0 ? p->parts[p->count - 1].shape_start + p->parts[p->count - 1].shape_count : 0;
    s->shape_names = robot_part_allocate(p, (size_t)total, sizeof *s->shape_names);
    s->mesh_names = robot_part_allocate(p, (size_t)total, sizeof *s->mesh_names);
    bool made = robot_part_names(p, &s->mesh_keys) && robot_part_names(p, &s->mesh_taken);
    s->shape_mesh = robot_part_allocate(p, (size_t)total, sizeof *s->shape_mesh);
    robot_names given;
    bool named = !p->out_of_memory && robot_part_names(p, &given);
    for (int32_t i = 0; i < total && named; i++) {
        const stn_geometry *g = p->shapes[i].geometry;
        if (g != NULL && g->name != NULL && g->name[0] != '\0' && !xml_cannot_hold(g->name)) {
            s->shape_names[i] = robot_part_unique(p, &given, g->name);
        }
    }
    for (int32_t i = 0; i < total && made && !p->out_of_memory; i++) {
        const stn_geometry *g = p->shapes[i].geometry;
        s->shape_mesh[i] = -1;
        if (g == NULL || p->shapes[i].mesh == NULL) {
            continue;
        }
        put_mesh(s, i);
        if (g->collision && g->shape.type == STN_SHAPE_MESH) {
            robot_lose(p, "convex", "robot", "a colliding mesh is its convex hull in MJCF");
        }
    }
    if (s->mesh_count > 0) {
        xml_end(&s->xml);
    }
}

// ---------------------------------------------------------------------------------------------------------- contact

/// Several joints of one body: what they connect is filtered without saying so.
static bool is_filtered(const mjcf_saver *s, int32_t above, int32_t below) {
    const robot_parts *p = &s->parts;
    const robot_part *a = &p->parts[above], *b = &p->parts[below];
    if (a->shape_count == 0 || b->shape_count == 0 || b->link->body <= 0) {
        return false;
    }
    const stn_model *m = p->model;
    int32_t joint = m->bodies[b->link->body].joint, end = below; // down to up: the part that this joint carries
    while (end >= 0 && !(p->parts[end].joint != NULL && p->parts[end].joint == &m->joints[joint])) {
        end = p->parts[end].parent;
    }
    if (end < 0) {
        return false;
    }
    int32_t motions = mjcf_save_motions(p->parts[end].type), top = end;
    for (int32_t up = p->parts[end].parent; up >= 0 && s->between[up]; up = p->parts[up].parent) {
        motions += mjcf_save_motions(p->parts[up].type);
        top = up;
    }
    int32_t parent = p->parts[top].parent;
    return motions > 1 && parent >= 0 && p->parts[parent].link->body > 0 &&
           p->parts[parent].link->body == a->link->body;
}

void mjcf_save_contact(mjcf_saver *s) {
    robot_parts *p = &s->parts;
    robot_pair *list = robot_part_allocate(p, (size_t)p->pair_count, sizeof *list); // by places in the file, ascending
    int32_t count = 0;
    for (int32_t i = 0; i < p->pair_count && list != NULL; i++) {
        const robot_pair *pair = &p->pairs[i];
        if (pair->a < 0) {
            robot_lose(p, "exclude", mjcf_save_label(s, "link", p->parts[pair->b].name),
                       "that it never collides with the world cannot be said of a robot with a root of its own: left "
                       "out");
            continue;
        }
        if (!s->between[pair->a] && !s->between[pair->b] && !is_filtered(s, pair->a, pair->b) &&
            !is_filtered(s, pair->b, pair->a)) {
            int32_t a = s->number[pair->a], b = s->number[pair->b];
            list[count++] = (robot_pair){a < b ? a : b, a < b ? b : a};
        }
    }
    if (count == 0) {
        return;
    }
    qsort(list, (size_t)count, sizeof *list, robot_compare_pairs);
    xml_begin(&s->xml, "contact");
    for (int32_t i = 0; i < count; i++) {
        xml_begin(&s->xml, "exclude");
        xml_put_text(&s->xml, "body1", p->parts[s->listed[list[i].a]].name);
        xml_put_text(&s->xml, "body2", p->parts[s->listed[list[i].b]].name);
        xml_end(&s->xml);
    }
    xml_end(&s->xml);
}

// --------------------------------------------------------------------------------------------------------- equality

/// Begins the section before its first element.
static void begin_equality(mjcf_saver *s, const char *element) {
    if (!s->has_equality) {
        xml_begin(&s->xml, "equality");
    }
    s->has_equality = true;
    xml_begin(&s->xml, element);
}

/// q = line[0] + line[1] q(master).
static void put_linear(mjcf_saver *s, const char *joint, const char *master, const double line[2]) {
    const double polynomial[5] = {line[0], line[1], 0.0, 0.0, 0.0};
    begin_equality(s, "joint");
    xml_put_text(&s->xml, "joint1", joint);
    xml_put_text(&s->xml, "joint2", master);
    xml_put_reals(&s->xml, "polycoef", polynomial, 5);
    xml_end(&s->xml);
}

/// The body that a link is in the file, NULL: the world, or `lost` when it is none.
static const char *body_name(const mjcf_saver *s, int32_t link, bool *lost) {
    const robot_parts *p = &s->parts;
    int32_t part = link - p->robot->link_start;
    if (link == STN_WORLD || (p->root_is_world && part == p->root)) {
        return NULL;
    }
    *lost = *lost || s->between[part];
    return p->parts[part].name;
}

/// Poses of all bodies at the coordinates as drawn; NULL: no memory.
static stn_kinematics *draw(mjcf_saver *s) {
    const stn_model *m = s->parts.model;
    stn_kinematics *kinematics = NULL;
    double *q = robot_part_allocate(&s->parts, (size_t)m->nq, sizeof *q);
    double *v = robot_part_allocate(&s->parts, (size_t)m->nv, sizeof *v);
    if (q == NULL || v == NULL || stn_kinematics_create(m, &kinematics, NULL) != STN_OK) {
        s->parts.out_of_memory = true;
        return NULL;
    }
    memcpy(q, m->q0, (size_t)m->nq * sizeof *q);
    for (int32_t j = 0; j < m->joint_count; j++) {
        if (&m->joints[j] != mjcf_save_free_root(s) && m->joints[j].type < STN_JOINT_COUNT) {
            stn_joint_type_rest(m->joints[j].type, q + m->joints[j].q_start);
        }
    }
    stn_kinematics_update(kinematics, q, v);
    return kinematics;
}

/// A weld or ball; body 1 is the one that is not the world.
static void put_joined(mjcf_saver *s, const stn_model_constraint *c, const stn_kinematics *drawn) {
    const stn_constraint_end *a = &c->ends[0], *b = &c->ends[1];
    robot_parts *p = &s->parts;
    // <connect> has the point of body 1 alone: both must be one as the bodies are drawn.
    stn_vec3 drawn_a = stn_pose_apply(&drawn->body_pose[a->body], a->frame.position);
    stn_vec3 drawn_b = stn_pose_apply(&drawn->body_pose[b->body], b->frame.position);
    bool meet = stn_vec3_norm(stn_vec3_sub(drawn_b, drawn_a)) < 1e-9;
    bool weld = strcmp(c->instance->desc->id, "weld") == 0, lost = !weld && !meet;
    const char *name_a = body_name(s, a->link, &lost), *name_b = body_name(s, b->link, &lost);
    bool swap = name_a == NULL;
    const stn_pose *at_1 = swap ? &b->pose : &a->pose, *at_2 = swap ? &a->pose : &b->pose;
    if (lost) {
        robot_lose(
            p, "constraint", robot_constraint_label(p, c),
            weld ? "an end is a link without mass between two joints, which MJCF does not have: left out"
                 : "its points do not meet where the robot is drawn, or one is on a link between two joints: left "
                   "out");
        return;
    }
    begin_equality(s, weld ? "weld" : "connect");
    if (c->name[0] != '\0' && !xml_cannot_hold(c->name)) {
        xml_put_text(&s->xml, "name", c->name);
    }
    xml_put_text(&s->xml, "body1", swap ? name_b : name_a);
    if (name_a != NULL && name_b != NULL) {
        xml_put_text(&s->xml, "body2", name_b);
    }
    stn_vec3 anchor = weld ? at_2->position : at_1->position;
    const double xyz[3] = {anchor.x, anchor.y, anchor.z};
    xml_put_reals(&s->xml, "anchor", xyz, 3);
    if (weld) {
        stn_pose back = stn_pose_inverse(at_2), relative = stn_pose_mul(at_1, &back);
        double numbers[7] = {relative.position.x, relative.position.y, relative.position.z};
        robot_settle_quaternion(&relative.rotation, numbers + 3);
        xml_put_reals(&s->xml, "relpose", numbers, 7);
    }
    xml_end(&s->xml);
}

static void put_constraint(mjcf_saver *s, const stn_model_constraint *c, const stn_kinematics *drawn) {
    robot_parts *p = &s->parts;
    const stn_joint *joints = p->model->joints;
    const char *type = c->instance->desc->id;
    bool gear = strcmp(type, "gear") == 0;
    if (strcmp(type, "distance") == 0) {
        robot_lose(p, "constraint_distance", robot_constraint_label(p, c),
                   "MJCF holds no two points at a distance: left out");
        return;
    }
    if (!gear && strcmp(type, "weld") != 0 && strcmp(type, "ball") != 0) {
        robot_lose(p, "constraint_kind", robot_constraint_label(p, c), "MJCF files do not hold it: left out");
        return;
    }
    const double rigid = (double)INFINITY;
    if (isfinite(robot_constraint_number(c, "stiffness", rigid)) ||
        isfinite(robot_constraint_number(c, "angular_stiffness", rigid))) {
        robot_lose(p, "constraint_stiffness", robot_constraint_label(p, c),
                   "its stiffness is left out: it is rigid in the file");
    }
    if (gear) {
        const double line[2] = {robot_constraint_number(c, "offset", 0.0), robot_constraint_number(c, "ratio", 1.0)};
        put_linear(s, joints[c->ends[0].joint].name, joints[c->ends[1].joint].name, line);
    } else {
        put_joined(s, c, drawn);
    }
}

void mjcf_save_equality(mjcf_saver *s) {
    robot_parts *p = &s->parts;
    for (int32_t i = 0; i < s->listed_count; i++) {
        const robot_part *part = &p->parts[s->listed[i]];
        if (part->master >= 0) {
            const double line[2] = {part->joint->mimic_offset, part->joint->mimic_multiplier};
            put_linear(s, part->joint_name, p->parts[part->master].joint_name, line);
        }
    }
    const stn_model_constraint **list = robot_part_allocate(p, (size_t)p->model->constraint_count, sizeof *list);
    int32_t count = list != NULL ? robot_take_constraints(p, list) : 0;
    stn_kinematics *drawn = count > 0 ? draw(s) : NULL;
    for (int32_t i = 0; i < count && drawn != NULL; i++) {
        put_constraint(s, list[i], drawn);
    }
    stn_kinematics_destroy(drawn);
    if (s->has_equality) {
        xml_end(&s->xml);
    }
}

// -------------------------------------------------------------------------------------------------------- actuators

/// A servo of the position or the velocity, or a motor, with the effort that it leaves to the joint.
void mjcf_save_actuators(mjcf_saver *s) {
    xml_writer *w = &s->xml;
    robot_parts *p = &s->parts;
    robot_names taken;
    bool made = robot_part_names(p, &taken);
    int32_t count = 0;
    for (int32_t i = 0; i < s->listed_count && made; i++) {
        const robot_part *part = &p->parts[s->listed[i]];
        const stn_joint *j = part->joint;
        if (j == NULL || !(j->actuator[0] != '\0' || j->servo_kp != 0.0 || j->servo_kd != 0.0 || isfinite(j->effort))) {
            continue;
        }
        bool axial = stn_joint_type_is_axial(j->type), still = j->effort == 0.0;
        bool position = j->servo_kp != 0.0, velocity = !position && j->servo_kd != 0.0;
        if (!axial || still) {
            robot_lose(p, "effort", mjcf_save_label(s, "joint", part->joint_name),
                       "the effort limit %g of a %s joint cannot be said in MJCF: left out", j->effort,
                       stn_joint_type_name(j->type));
        }
        if (!axial || (still && !position && !velocity)) {
            continue;
        }
        if (count++ == 0) {
            xml_begin(w, "actuator");
        }
        xml_begin(w, position ? "position" : velocity ? "velocity" : "motor");
        const char *name = j->actuator[0] != '\0' ? j->actuator : part->joint_name;
        xml_put_text(w, "name", robot_part_unique(p, &taken, name));
        xml_put_text(w, "joint", part->joint_name);
        if (position) {
            xml_put_real(w, "kp", j->servo_kp);
        }
        if (j->servo_kd != 0.0) {
            xml_put_real(w, "kv", j->servo_kd);
        }
        if (isfinite(j->effort) && j->effort > 0.0) {
            const double range[2] = {-j->effort, j->effort};
            xml_put_reals(w, position || velocity ? "forcerange" : "ctrlrange", range, 2);
        }
        xml_end(w);
    }
    if (count > 0) {
        xml_end(w);
    }
}

// -------------------------------------------------------------------------------------------------------- keyframes

static int compare_starts(const void *a, const void *b) {
    const stn_joint *const *x = a, *const *y = b;
    return ((*x)->q_start > (*y)->q_start) - ((*x)->q_start < (*y)->q_start);
}

/// qpos: the joints depth first, as they stand in the file, which is the order of their coordinates. A body that floats
/// on the world by a joint of its own is placed in the world.
static void put_key(mjcf_saver *s, const stn_keyframe *key, const stn_joint **ordered, const int32_t *starts) {
    const stn_group *robot = s->parts.robot;
    const stn_joint *first = s->parts.model->joints + robot->joint_start;
    double *qpos = robot_part_allocate(&s->parts, (size_t)key->q_count, sizeof *qpos);
    int32_t count = 0;
    for (int32_t i = 0; i < robot->joint_count && qpos != NULL; i++) {
        const stn_joint *joint = ordered[i];
        double *q = qpos + count;
        memcpy(q, key->q + starts[joint - first], (size_t)joint->nq * sizeof *q);
        count += joint->nq;
        int32_t turn = stn_joint_type_quaternion(joint->type);
        if (turn < 0) {
            continue;
        }
        stn_vec3 at = turn == 3 ? stn_vec3_make(q[0], q[1], q[2]) : stn_vec3_zero();
        stn_quat given = {q[turn], q[turn + 1], q[turn + 2], q[turn + 3]};
        stn_pose pose = stn_pose_make(stn_quat_normalize(given), at);
        if (turn == 3 && joint != mjcf_save_free_root(s)) {
            pose = stn_pose_mul(&joint->origin, &pose);
        }
        if (turn == 3) {
            const double xyz[3] = {pose.position.x, pose.position.y, pose.position.z};
            memcpy(q, xyz, sizeof xyz);
        }
        robot_settle_quaternion(&pose.rotation, q + turn);
    }
    if (qpos != NULL) {
        xml_begin(&s->xml, "key");
        xml_put_text(&s->xml, "name", key->name);
        xml_put_reals(&s->xml, "qpos", qpos, count);
        xml_end(&s->xml);
    }
}

void mjcf_save_keyframes(mjcf_saver *s) {
    robot_parts *p = &s->parts;
    const stn_group *robot = p->robot;
    const stn_joint **ordered = robot_part_allocate(p, (size_t)robot->joint_count, sizeof *ordered);
    int32_t *starts = robot_part_allocate(p, (size_t)robot->joint_count, sizeof *starts); // in the keyframes' q
    if (robot->keyframe_count == 0 || ordered == NULL || starts == NULL) {
        return;
    }
    for (int32_t i = 0, start = 0; i < robot->joint_count; i++) {
        ordered[i] = &p->model->joints[robot->joint_start + i];
        starts[i] = start;
        start += ordered[i]->nq;
    }
    qsort(ordered, (size_t)robot->joint_count, sizeof *ordered, compare_starts);
    xml_begin(&s->xml, "keyframe");
    for (int32_t i = 0; i < robot->keyframe_count; i++) {
        const stn_keyframe *key = &p->model->keyframes[robot->keyframe_start + i];
        if (!xml_cannot_hold(key->name)) {
            put_key(s, key, ordered, starts);
        }
    }
    xml_end(&s->xml);
}
