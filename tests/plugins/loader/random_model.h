// SPDX-License-Identifier: Apache-2.0
// Random robots made with the model builder: every joint type, springs, servos, mimic joints, motors, links without
// mass, inertias of any axes, every shape and surface, pairs that never collide, keyframes; links and joints are added
// in any order.
#ifndef RANDOM_MODEL_H
#define RANDOM_MODEL_H

#include <stdio.h>
#include <string.h>

#include <stiction/model.h>

#include "stn_random_pose.h"
#include "stn_test.h"

enum { MODEL_LINKS = 24 };

typedef struct random_model {
    stn_random r;
    stn_model_builder *builder;
    int32_t robot, count;
    bool plain;                  // only what every format holds
    const char *without;         // names of joint types that the format does not have, NULL: it has all
    bool bound_planar;           // planar joints move in the x y plane of their parent link
    int32_t parent[MODEL_LINKS]; // smaller, -1
    int32_t link[MODEL_LINKS], joint[MODEL_LINKS]; // in the builder; joint -1: none
    stn_joint_type type[MODEL_LINKS];
    const char *mesh; // file, NULL: none
    int32_t mesh_id[2];
    const stn_mesh *mesh_data[2]; // as hull, as surface
} random_model;

/// A pose as people write it, or any.
static inline stn_pose model_pose(stn_random *r) {
    stn_pose pose = random_pose(r, 0.4);
    int32_t kind = random_below(r, 5);
    if (kind == 0) {
        pose = stn_pose_identity();
    } else if (kind == 1) {
        double turn[3];
        for (int32_t k = 0; k < 3; k++) {
            turn[k] = 0.5 * STN_PI * (random_below(r, 5) - 2);
        }
        pose = (stn_pose){stn_mat3_from_rpy(turn[0], turn[1], turn[2]), {0.1, -0.25, 0.333}};
    } else if (kind == 2) { // where roll and yaw are all but one
        double pitch = 0.5 * STN_PI - random_size(r, 1e-16, 1e-2);
        pose.rotation = stn_mat3_from_rpy(random_between(r, -3.0, 3.0), pitch, random_between(r, -3.0, 3.0));
    }
    return pose;
}

static inline stn_mass model_mass(stn_random *r) {
    stn_mat3 turn = stn_quat_matrix(random_rotation(r));
    double m = random_size(r, 0.1, 10.0), x = random_size(r, 1e-3, 0.2), y = random_size(r, 1e-3, 0.2);
    double z = random_size(r, 1e-3, 0.2);
    stn_mat3 principal = stn_mat3_diagonal(m * (y + z), m * (x + z), m * (x + y));
    stn_mass mass = {m, random_vec3(r, 0.2), stn_mat3_rotate_tensor(&turn, &principal)};
    for (int32_t k = 0; k < 9; k++) {
        mass.inertia.m[k / 3][k % 3] = mass.inertia.m[k / 3 < k % 3 ? k / 3 : k % 3][k / 3 < k % 3 ? k % 3 : k / 3];
    }
    return mass;
}

static inline stn_shape model_shape(stn_random *r, int32_t kind) {
    double a = random_size(r, 0.01, 0.3), b = random_size(r, 0.01, 0.3), c = random_size(r, 0.01, 0.3);
    switch (kind) {
    case 0:
        return stn_shape_sphere(a);
    case 1:
        return stn_shape_box(stn_vec3_make(a, b, c));
    case 2:
        return stn_shape_capsule(a, b);
    case 3:
        return stn_shape_cylinder(a, b);
    case 4:
        return stn_shape_half_space();
    default:
        return stn_shape_ellipsoid(stn_vec3_make(a, b, c));
    }
}

static inline bool sometimes(stn_random *r, int32_t one_of) {
    return random_below(r, one_of) == 0;
}

static inline void add_shape(random_model *m, int32_t link, int32_t number, double restitution) {
    stn_random *r = &m->r;
    int32_t kind = random_below(r, m->mesh != NULL ? 8 : 6), index = 0;
    stn_geometry_spec spec = stn_geometry_spec_default(model_shape(r, kind));
    char name[40];
    snprintf(name, sizeof name, "shape %d & <%d>", (int)link, (int)number);
    spec.name = sometimes(r, 2) ? name : NULL;
    spec.pose = model_pose(r);
    spec.collision = sometimes(r, 2);
    spec.visual = !spec.collision;
    for (int32_t k = 0; k < 4 && spec.visual; k++) {
        spec.rgba[k] = (float)random_below(r, 11) / 10.0f;
    }
    if (spec.collision && !m->plain) {
        spec.material.mu = sometimes(r, 2) ? random_between(r, 0.0, 1.0) : (double)NAN;
        spec.material.stiffness = sometimes(r, 3) ? random_size(r, 1e3, 1e6) : (double)NAN;
        spec.material.relaxation_time = sometimes(r, 3) ? 0.01 : (double)NAN;
        spec.material.dissipation = sometimes(r, 3) ? 0.0 : (double)NAN;
        spec.material.modulus = sometimes(r, 4) ? 1e7 : (double)NAN;
        spec.material.restitution = restitution;
        spec.field.resolution = sometimes(r, 4) ? random_size(r, 1e-3, 1.0) : (double)NAN;
        spec.field.margin = sometimes(r, 4) ? 1e-4 : (double)NAN;
        spec.field.thickness = sometimes(r, 4) ? 0.3 : (double)NAN;
    }
    if (kind >= 6) {
        spec.mesh = m->mesh_id[kind - 6];
        spec.shape = stn_shape_mesh(spec.collision ? m->mesh_data[kind - 6] : m->mesh_data[0]);
        spec.mesh = m->mesh_id[spec.collision ? kind - 6 : 0];
        if (spec.collision && kind == 7) {
            spec.material.modulus = (double)INFINITY; // a surface that is no hull is rigid
        }
    }
    assert_int_equal(stn_builder_add_geometry(m->builder, m->link[link], &spec, &index, NULL), STN_OK);
}

static inline void add_model_link(random_model *m, int32_t i) {
    stn_random *r = &m->r;
    char name[32];
    snprintf(name, sizeof name, "link \"%d\"", (int)i);
    stn_link_spec spec = {.name = name};
    if (i == 0 || m->type[i] != STN_JOINT_FIXED || sometimes(r, 2)) {
        spec.mass = model_mass(r);
    }
    assert_int_equal(stn_builder_add_link(m->builder, &spec, &m->link[i], NULL), STN_OK);
}

static inline void set_figures(random_model *m, stn_joint_spec *spec) {
    stn_random *r = &m->r;
    bool axial = stn_joint_type_is_axial(spec->type);
    if (spec->type == STN_JOINT_REVOLUTE || spec->type == STN_JOINT_PRISMATIC) {
        spec->lower = random_between(r, -3.0, 0.0);
        spec->upper = random_between(r, 0.1, 3.0);
    }
    spec->effort = sometimes(r, 3) ? (double)INFINITY : random_size(r, 1.0, 100.0);
    spec->damping = sometimes(r, 2) ? random_size(r, 0.01, 1.0) : 0.0;
    spec->friction = sometimes(r, 2) ? random_size(r, 0.01, 1.0) : 0.0;
    spec->screw_pitch = spec->type == STN_JOINT_SCREW ? random_between(r, -0.3, 0.3) : 0.0;
    if (axial && sometimes(r, 2)) {
        spec->rotor_inertia = random_size(r, 1e-6, 1e-3);
        spec->gear_ratio = random_size(r, 1.0, 100.0);
    }
    if (m->plain) {
        return;
    }
    spec->velocity = sometimes(r, 3) ? (double)INFINITY : random_size(r, 1.0, 100.0);
    spec->acceleration = sometimes(r, 3) ? random_size(r, 1.0, 100.0) : (double)INFINITY;
    spec->actuator = axial && sometimes(r, 2) ? "motor 'x'" : NULL;
    if (axial && sometimes(r, 3)) {
        spec->stiffness = random_size(r, 1.0, 100.0);
        spec->rest = random_between(r, -1.0, 1.0);
    }
    if (axial && sometimes(r, 3)) {
        spec->servo_kp = random_size(r, 10.0, 1000.0);
        spec->servo_kd = sometimes(r, 2) ? random_size(r, 1.0, 10.0) : 0.0;
    }
}

static inline void add_model_joint(random_model *m, int32_t i) {
    char name[32];
    snprintf(name, sizeof name, "joint %d", (int)i);
    stn_joint_spec spec = stn_joint_spec_default(name, m->type[i]);
    spec.parent = m->link[m->parent[i]];
    spec.child = m->link[i];
    spec.origin = model_pose(&m->r);
    spec.axis = sometimes(&m->r, 2) ? random_unit(&m->r) : stn_vec3_make(0.0, -1.0, 0.0);
    if (m->type[i] != STN_JOINT_FIXED) {
        set_figures(m, &spec);
    }
    if (m->type[i] == STN_JOINT_PLANAR && m->bound_planar) {
        spec.origin = stn_pose_identity();
        spec.axis = stn_vec3_make(0.0, 0.0, 1.0);
        spec.friction = 0.0;
        spec.effort = spec.velocity = spec.acceleration = (double)INFINITY;
    }
    assert_int_equal(stn_builder_add_joint(m->builder, &spec, &m->joint[i], NULL), STN_OK);
}

static inline void add_mimics(random_model *m) {
    for (int32_t i = 2; i < m->count; i++) {
        int32_t master = 1 + random_below(&m->r, i - 1);
        if (stn_joint_type_is_axial(m->type[i]) && stn_joint_type_is_axial(m->type[master]) && sometimes(&m->r, 4)) {
            double offset = sometimes(&m->r, 2) ? 0.0 : random_between(&m->r, -0.5, 0.5);
            assert_int_equal(stn_builder_set_mimic(m->builder, m->joint[i], m->joint[master],
                                                   random_between(&m->r, -2.0, 2.0), offset, NULL),
                             STN_OK);
        }
    }
}

static inline void shuffle_numbers(stn_random *r, int32_t *numbers, int32_t from, int32_t count) {
    for (int32_t i = from; i < count; i++) {
        numbers[i] = i;
    }
    for (int32_t i = count - 1; i > from; i--) {
        int32_t j = from + random_below(r, i + 1 - from), kept = numbers[i];
        numbers[i] = numbers[j];
        numbers[j] = kept;
    }
}

static inline stn_joint_type model_type(random_model *m) {
    static const stn_joint_type common[] = {STN_JOINT_REVOLUTE, STN_JOINT_CONTINUOUS, STN_JOINT_PRISMATIC,
                                            STN_JOINT_FIXED, STN_JOINT_BALL};
    if (m->plain) {
        return common[random_below(&m->r, STN_COUNT(common))];
    }
    stn_joint_type type = (stn_joint_type)random_below(&m->r, STN_JOINT_COUNT);
    bool has = m->without == NULL || strstr(m->without, stn_joint_type_name(type)) == NULL;
    return has ? type : STN_JOINT_REVOLUTE;
}

/// A robot "random" of `count` links in the builder.
static inline void random_model_add(random_model *m, uint64_t seed, int32_t count) {
    int32_t order[MODEL_LINKS];
    m->r = (stn_random){seed};
    m->count = count;
    assert_int_equal(stn_builder_begin_group(m->builder, "random", &m->robot, NULL), STN_OK);
    for (int32_t i = 0; i < count; i++) {
        m->parent[i] = i - 1 - (i > 0 ? random_below(&m->r, i < 4 ? i : 4) : 0);
        m->type[i] = model_type(m);
    }
    shuffle_numbers(&m->r, order, 0, count);
    for (int32_t i = 0; i < count; i++) {
        add_model_link(m, order[i]);
    }
    shuffle_numbers(&m->r, order, 1, count);
    for (int32_t i = 1; i < count; i++) {
        add_model_joint(m, order[i]);
    }
    add_mimics(m);
    for (int32_t i = 0; i < count; i++) {
        double restitution = sometimes(&m->r, 2) ? 0.25 : (double)NAN;
        for (int32_t k = random_below(&m->r, 4); k > 0; k--) {
            add_shape(m, i, k, restitution);
        }
    }
    for (int32_t k = 0; k < count / 2; k++) {
        int32_t a = random_below(&m->r, count), b = random_below(&m->r, count);
        if (a != b) {
            assert_int_equal(stn_builder_disable_collisions(m->builder, m->link[a], m->link[b], NULL), STN_OK);
        }
    }
}

#endif
