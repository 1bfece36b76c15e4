// SPDX-License-Identifier: Apache-2.0
// Random robots as URDF text: every joint type, any origins, axes and inertial frames, links without mass between
// others, mimic joints, motors, branches; elements in any order. What was written is kept as numbers beside the text.
//
// Where a robot's mass matrix must be regular, mass has to be where it is needed: a link without mass hangs on a joint
// of one dof or none, and carries at least one link with mass by such a joint, so that nothing can move by itself
// without moving a mass.
#ifndef RANDOM_URDF_H
#define RANDOM_URDF_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/model.h>

#include "stn_random_pose.h"

enum { WRITTEN_LINKS = 60, WRITTEN_DOFS = 6 * WRITTEN_LINKS, WRITTEN_COORDINATES = 7 * WRITTEN_LINKS };

typedef struct written_origin {
    double xyz[3], rpy[3];
} written_origin;

/// A link and the joint above it.
typedef struct written_link {
    int32_t parent; // smaller than the link's own number; -1: the world
    stn_joint_type type;
    written_origin origin;
    double axis[3]; // not of unit length
    bool axis_given;
    double pitch;              // screw [m/turn]
    double rotor, ratio;       // of its motor; 0: none
    int32_t mimic;             // link whose joint this one follows, -1
    double multiplier, offset; // of the mimic
    bool massive;
    double mass, inertia[3][3]; // in the inertial frame
    written_origin inertial;
    char name[24], joint[24];
    int32_t q, v, nv; // where the model put the joint
} written_link;

/// How the first link stands in the world.
typedef enum written_root { WRITTEN_WELDED, WRITTEN_FREE, WRITTEN_JOINED } written_root;

typedef struct written_robot {
    int32_t count;
    written_root root;
    written_origin base; // of the robot in the world
    written_link links[WRITTEN_LINKS];
    char *text; // from malloc
} written_robot;

// ------------------------------------------------------------------------------------------------------ generation

static inline void random_triple(stn_random *r, double half, double *out) {
    for (int32_t k = 0; k < 3; k++) {
        out[k] = random_between(r, -half, half);
    }
}

/// `plain`: may also be absent or turned by quarters, as in most files.
static inline written_origin random_origin(stn_random *r, bool plain) {
    written_origin o = {{0.0}, {0.0}};
    int32_t kind = plain ? random_below(r, 5) : 4;
    random_triple(r, kind == 0 ? 0.0 : 0.5, o.xyz);
    for (int32_t k = 0; k < 3; k++) {
        double quarters = 0.5 * STN_PI * (random_below(r, 5) - 2);
        o.rpy[k] = kind <= 1 ? 0.0 : kind == 2 ? quarters : random_between(r, -STN_PI, STN_PI);
    }
    return o;
}

static inline void random_axis(stn_random *r, bool plain, written_link *link) {
    link->axis_given = !plain || random_below(r, 4) > 0;
    stn_vec3 axis = stn_vec3_scale(random_size(r, 0.1, 10.0), random_unit(r));
    if (plain && random_below(r, 2) == 0) {
        double along[3] = {0.0, 0.0, 0.0};
        along[random_below(r, 3)] = random_below(r, 2) == 0 ? 1.0 : -1.0;
        axis = stn_vec3_make(along[0], along[1], along[2]);
    }
    if (!link->axis_given) {
        axis = stn_vec3_make(1.0, 0.0, 0.0);
    }
    link->axis[0] = axis.x;
    link->axis[1] = axis.y;
    link->axis[2] = axis.z;
}

/// A solid box of any shape whose axes lie anywhere in the inertial frame, itself anywhere in the link.
static inline void random_inertia(stn_random *r, written_link *link) {
    stn_mat3 turn = stn_quat_matrix(random_rotation(r));
    double m = random_size(r, 0.1, 10.0), x = random_size(r, 1e-3, 0.2), y = random_size(r, 1e-3, 0.2);
    double z = random_size(r, 1e-3, 0.2);
    stn_mat3 principal = stn_mat3_diagonal(m * (y + z), m * (x + z), m * (x + y));
    stn_mat3 inertia = stn_mat3_rotate_tensor(&turn, &principal);
    link->mass = m;
    for (int32_t k = 0; k < 9; k++) { // symmetric to the last bit: six figures are written
        link->inertia[k / 3][k % 3] = inertia.m[k / 3 < k % 3 ? k / 3 : k % 3][k / 3 < k % 3 ? k % 3 : k / 3];
    }
    link->inertial = random_origin(r, true);
}

static inline stn_joint_type random_type(stn_random *r) {
    static const stn_joint_type types[] = {
        STN_JOINT_REVOLUTE,  STN_JOINT_REVOLUTE, STN_JOINT_REVOLUTE, STN_JOINT_REVOLUTE, STN_JOINT_CONTINUOUS,
        STN_JOINT_PRISMATIC, STN_JOINT_FIXED,    STN_JOINT_FIXED,    STN_JOINT_FLOATING, STN_JOINT_PLANAR,
        STN_JOINT_BALL,      STN_JOINT_SCREW,    STN_JOINT_UNIVERSAL};
    return types[random_below(r, STN_COUNT(types))];
}

static inline void choose_masses(stn_random *r, written_robot *robot) {
    bool carries[WRITTEN_LINKS] = {false}, carries_any[WRITTEN_LINKS] = {false};
    for (int32_t i = robot->count - 1; i >= 0; i--) {
        written_link *link = &robot->links[i];
        bool simple = link->type == STN_JOINT_FIXED || stn_joint_type_is_axial(link->type);
        bool tool = link->type == STN_JOINT_FIXED && !carries_any[i] && link->parent >= 0;
        link->massive = !(simple && (carries[i] || tool)) || random_below(r, 3) > 0;
        if (link->parent >= 0) {
            carries[link->parent] |= simple && link->massive;
            carries_any[link->parent] = true;
        }
        if (link->massive) {
            random_inertia(r, link);
        }
    }
}

/// Follows a joint of one coordinate that was made before, which may follow another.
static inline void random_mimic(stn_random *r, written_robot *robot, int32_t i) {
    written_link *link = &robot->links[i];
    int32_t master = i > 0 ? random_below(r, i) : -1;
    link->mimic = -1;
    if (master >= 0 && random_below(r, 4) == 0 && stn_joint_type_is_axial(link->type) &&
        stn_joint_type_is_axial(robot->links[master].type)) {
        link->mimic = master;
        link->multiplier = random_between(r, -2.0, 2.0);
        link->offset = random_between(r, -0.5, 0.5);
    }
}

static inline void random_joint_numbers(stn_random *r, written_robot *robot, int32_t i) {
    written_link *link = &robot->links[i];
    bool plain = link->massive && (link->parent < 0 || robot->links[link->parent].massive);
    link->origin = random_origin(r, plain);
    random_axis(r, plain, link);
    link->pitch = random_between(r, -0.3, 0.3);
    if (stn_joint_type_is_axial(link->type) && random_below(r, 3) == 0) {
        link->rotor = random_size(r, 1e-6, 1e-3);
        link->ratio = random_size(r, 1.0, 100.0);
    }
    random_mimic(r, robot, i);
}

// --------------------------------------------------------------------------------------------------------- writing

static inline void write_origin(FILE *file, const written_origin *o) {
    fprintf(file, "<origin");
    if (o->xyz[0] != 0.0 || o->xyz[1] != 0.0 || o->xyz[2] != 0.0) {
        fprintf(file, " xyz=\"%.17g %.17g %.17g\"", o->xyz[0], o->xyz[1], o->xyz[2]);
    }
    if (o->rpy[0] != 0.0 || o->rpy[1] != 0.0 || o->rpy[2] != 0.0) {
        fprintf(file, " rpy=\"%.17g %.17g %.17g\"", o->rpy[0], o->rpy[1], o->rpy[2]);
    }
    fprintf(file, "/>");
}

static inline void write_link(FILE *file, const written_link *link) {
    fprintf(file, "<link name=\"%s\">", link->name);
    if (link->massive) {
        const double(*I)[3] = link->inertia;
        fprintf(file, "<inertial>");
        write_origin(file, &link->inertial);
        fprintf(file, "<mass value=\"%.17g\"/><inertia ixx=\"%.17g\" ixy=\"%.17g\" ixz=\"%.17g\" ", link->mass, I[0][0],
                I[0][1], I[0][2]);
        fprintf(file, "iyy=\"%.17g\" iyz=\"%.17g\" izz=\"%.17g\"/></inertial>", I[1][1], I[1][2], I[2][2]);
    }
    fprintf(file, "</link>\n");
}

static inline void write_joint(FILE *file, const written_robot *robot, const written_link *link) {
    const char *parent = link->parent < 0 ? "world" : robot->links[link->parent].name;
    bool drake = link->type == STN_JOINT_BALL || link->type == STN_JOINT_SCREW || link->type == STN_JOINT_UNIVERSAL;
    fprintf(file, "<%sjoint name=\"%s\" type=\"%s\"><child link=\"%s\"/><parent link=\"%s\"/>", drake ? "drake:" : "",
            link->joint, stn_joint_type_name(link->type), link->name, parent);
    write_origin(file, &link->origin);
    if (link->axis_given && (stn_joint_type_is_axial(link->type) || link->type == STN_JOINT_PLANAR)) {
        fprintf(file, "<axis xyz=\"%.17g %.17g %.17g\"/>", link->axis[0], link->axis[1], link->axis[2]);
    }
    if (link->type == STN_JOINT_REVOLUTE || link->type == STN_JOINT_PRISMATIC) {
        fprintf(file, "<limit lower=\"-1\" upper=\"1\" effort=\"10\" velocity=\"10\"/>");
    }
    if (link->type == STN_JOINT_SCREW) {
        fprintf(file, "<drake:screw_thread_pitch value=\"%.17g\"/>", link->pitch);
    }
    if (link->mimic >= 0) {
        fprintf(file, "<mimic joint=\"%s\" multiplier=\"%.17g\" offset=\"%.17g\"/>", robot->links[link->mimic].joint,
                link->multiplier, link->offset);
    }
    fprintf(file, "</%sjoint>\n", drake ? "drake:" : "");
}

static inline void write_motor(FILE *file, const written_link *link) {
    fprintf(file, "<transmission name=\"of %s\"><joint name=\"%s\"/><actuator name=\"motor\">", link->joint,
            link->joint);
    fprintf(file,
            "<drake:rotor_inertia value=\"%.17g\"/><drake:gear_ratio value=\"%.17g\"/></actuator></transmission>\n",
            link->rotor, link->ratio);
}

static inline void shuffle(stn_random *r, int32_t *items, int32_t count) {
    for (int32_t i = count - 1; i > 0; i--) {
        int32_t j = random_below(r, i + 1), item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

/// Links, joints and motors of all numbers, in any order.
static inline void write_robot(stn_random *r, written_robot *robot) {
    int32_t elements[3 * WRITTEN_LINKS], count = 3 * robot->count;
    size_t size = 0;
    FILE *file = open_memstream(&robot->text, &size);
    for (int32_t i = 0; i < count; i++) {
        elements[i] = i;
    }
    shuffle(r, elements, count);
    fprintf(file, "<?xml version=\"1.0\"?>\n<robot name=\"random\" xmlns:drake=\"http://drake.mit.edu\">\n");
    for (int32_t i = 0; i < count; i++) {
        const written_link *link = &robot->links[elements[i] / 3];
        bool jointed = link != robot->links || robot->root == WRITTEN_JOINED;
        if (elements[i] % 3 == 0) {
            write_link(file, link);
        } else if (elements[i] % 3 == 1 && jointed) {
            write_joint(file, robot, link);
        } else if (elements[i] % 3 == 2 && jointed && link->rotor > 0.0) {
            write_motor(file, link);
        }
    }
    fprintf(file, "</robot>\n");
    fclose(file);
}

/// `count` links, from chains to bushes.
static inline void written_robot_init(written_robot *robot, uint64_t seed, int32_t count) {
    stn_random r = {seed};
    int32_t numbers[WRITTEN_LINKS], reach = 1 + random_below(&r, 8);
    memset(robot, 0, sizeof *robot);
    robot->count = count;
    robot->root = (written_root)random_below(&r, 3);
    robot->base = random_origin(&r, true);
    for (int32_t i = 0; i < count; i++) {
        numbers[i] = i;
    }
    shuffle(&r, numbers, count);
    for (int32_t i = 0; i < count; i++) {
        written_link *link = &robot->links[i];
        link->parent = i == 0 ? -1 : i - 1 - random_below(&r, i < reach ? i : reach);
        link->type = random_type(&r);
        snprintf(link->name, sizeof link->name, "link %d", numbers[i]);
        snprintf(link->joint, sizeof link->joint, "joint %d", numbers[count - 1 - i]);
    }
    robot->links[0].type = robot->root == WRITTEN_WELDED ? STN_JOINT_FIXED
                           : robot->root == WRITTEN_FREE ? STN_JOINT_FLOATING
                                                         : robot->links[0].type;
    choose_masses(&r, robot);
    for (int32_t i = 0; i < count; i++) {
        random_joint_numbers(&r, robot, i);
    }
    if (robot->root != WRITTEN_JOINED) { // no joint is written
        robot->links[0].origin = (written_origin){{0.0}, {0.0}};
        robot->links[0].rotor = 0.0;
    }
    write_robot(&r, robot);
}

#endif
