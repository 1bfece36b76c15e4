// SPDX-License-Identifier: Apache-2.0
// The random robots of random_urdf.h written as SDFormat, so that both files mean the same mechanism. A URDF link's
// frame is its joint's; here a link lies anywhere, X_JC from its joint's frame, and says so in one of the ways that
// SDFormat has: poses in the parent, in the model, in a frame; joints placed in the child or elsewhere; axes in any
// frame.
#ifndef RANDOM_SDF_H
#define RANDOM_SDF_H

#include "random_urdf.h"

typedef struct sdf_link {
    stn_pose at_joint; // X_JC
    stn_pose model;    // X_MC, all joints at zero
} sdf_link;

typedef struct sdf_robot {
    const written_robot *robot;
    sdf_link links[WRITTEN_LINKS];
    char *text;
} sdf_robot;

static inline stn_pose pose_from(const written_origin *o) {
    return (stn_pose){stn_mat3_from_rpy(o->rpy[0], o->rpy[1], o->rpy[2]),
                      stn_vec3_make(o->xyz[0], o->xyz[1], o->xyz[2])};
}

static inline void write_pose(FILE *file, const char *relative_to, const stn_pose *pose) {
    stn_quat q = stn_quat_from_matrix(&pose->rotation);
    fprintf(file, "<pose rotation_format='quat_xyzw'");
    if (relative_to != NULL) {
        fprintf(file, " relative_to='%s'", relative_to);
    }
    fprintf(file, ">%.17g %.17g %.17g %.17g %.17g %.17g %.17g</pose>", pose->position.x, pose->position.y,
            pose->position.z, q.x, q.y, q.z, q.w);
}

static inline void write_sdf_link(FILE *file, stn_random *r, const sdf_robot *s, int32_t i) {
    const written_link *link = &s->robot->links[i];
    const sdf_link *place = &s->links[i];
    fprintf(file, "<link name='%s'>", link->name);
    if (link->parent >= 0 && random_below(r, 2) == 0) {
        stn_pose origin = pose_from(&link->origin), in_joint = stn_pose_mul(&origin, &place->at_joint);
        stn_pose parent = stn_pose_inverse(&s->links[link->parent].at_joint), pose = stn_pose_mul(&parent, &in_joint);
        write_pose(file, s->robot->links[link->parent].name, &pose);
    } else {
        write_pose(file, random_below(r, 2) == 0 ? "__model__" : NULL, &place->model);
    }
    if (link->massive) {
        const double(*I)[3] = link->inertia;
        stn_pose inertial = pose_from(&link->inertial), back = stn_pose_inverse(&place->at_joint);
        stn_pose pose = stn_pose_mul(&back, &inertial);
        fprintf(file, "<inertial>");
        write_pose(file, NULL, &pose);
        fprintf(file, "<mass>%.17g</mass><inertia><ixx>%.17g</ixx><ixy>%.17g</ixy><ixz>%.17g</ixz>", link->mass,
                I[0][0], I[0][1], I[0][2]);
        fprintf(file, "<iyy>%.17g</iyy><iyz>%.17g</iyz><izz>%.17g</izz></inertia></inertial>", I[1][1], I[1][2],
                I[2][2]);
    } else {
        fprintf(file, "<inertial><mass>0</mass></inertial>");
    }
    fprintf(file, "</link>\n");
}

/// Where the joint is: in its child, in the parent, or in the model.
static inline void write_joint_pose(FILE *file, stn_random *r, const sdf_robot *s, int32_t i) {
    const written_link *link = &s->robot->links[i];
    stn_pose in_child = stn_pose_inverse(&s->links[i].at_joint);
    int32_t kind = random_below(r, link->parent >= 0 ? 3 : 2);
    if (kind == 0) {
        write_pose(file, NULL, &in_child);
    } else if (kind == 1) {
        stn_pose in_model = stn_pose_mul(&s->links[i].model, &in_child);
        write_pose(file, "__model__", &in_model);
    } else {
        stn_pose parent = stn_pose_inverse(&s->links[link->parent].at_joint), origin = pose_from(&link->origin);
        stn_pose in_parent = stn_pose_mul(&parent, &origin);
        write_pose(file, s->robot->links[link->parent].name, &in_parent);
    }
}

/// A direction given in axes of the joint, written in those or in the child's.
static inline void write_axis(FILE *file, stn_random *r, const sdf_robot *s, int32_t i, const char *element,
                              stn_vec3 axis) {
    const char *in = random_below(r, 2) == 0 ? s->robot->links[i].name : NULL;
    if (in != NULL) {
        axis = stn_mat3_apply_transposed(&s->links[i].at_joint.rotation, axis);
    }
    fprintf(file, "<%s><xyz%s%s%s>%.17g %.17g %.17g</xyz>", element, in != NULL ? " expressed_in='" : "",
            in != NULL ? in : "", in != NULL ? "'" : "", axis.x, axis.y, axis.z);
}

static inline void write_sdf_mimic(FILE *file, stn_random *r, const sdf_robot *s, const written_link *link) {
    double reference = random_between(r, -1.0, 1.0);
    fprintf(
        file,
        "<mimic joint='%s'><multiplier>%.17g</multiplier><offset>%.17g</offset><reference>%.17g</reference></mimic>",
        s->robot->links[link->mimic].joint, link->multiplier, link->offset + link->multiplier * reference, reference);
}

static inline void write_sdf_joint(FILE *file, stn_random *r, const sdf_robot *s, int32_t i) {
    const written_link *link = &s->robot->links[i];
    fprintf(file, "<joint name='%s' type='%s'><child>%s</child><parent>%s</parent>", link->joint,
            stn_joint_type_name(link->type), link->name,
            link->parent < 0 ? "world" : s->robot->links[link->parent].name);
    write_joint_pose(file, r, s, i);
    if (link->type == STN_JOINT_UNIVERSAL) {
        write_axis(file, r, s, i, "axis", stn_vec3_make(1.0, 0.0, 0.0));
        fprintf(file, "</axis>");
        write_axis(file, r, s, i, "axis2", stn_vec3_make(0.0, 1.0, 0.0));
        fprintf(file, "</axis2>");
    } else if (stn_joint_type_is_axial(link->type)) {
        write_axis(file, r, s, i, "axis", stn_vec3_make(link->axis[0], link->axis[1], link->axis[2]));
        if (link->mimic >= 0) {
            write_sdf_mimic(file, r, s, link);
        }
        fprintf(file, "</axis>");
    }
    if (link->type == STN_JOINT_SCREW && random_below(r, 2) == 0) {
        fprintf(file, "<thread_pitch>%.17g</thread_pitch>", -2.0 * STN_PI / link->pitch);
    } else if (link->type == STN_JOINT_SCREW) {
        fprintf(file, "<screw_thread_pitch>%.17g</screw_thread_pitch>", link->pitch);
    }
    if (link->rotor > 0.0) {
        fprintf(file, "<drake:rotor_inertia>%.17g</drake:rotor_inertia><drake:gear_ratio>%.17g</drake:gear_ratio>",
                link->rotor, link->ratio);
    }
    fprintf(file, "</joint>\n");
}

/// A third of the links lie at their joints, as in most files.
static inline void place_links(stn_random *r, sdf_robot *s) {
    for (int32_t i = 0; i < s->robot->count; i++) {
        const written_link *link = &s->robot->links[i];
        written_origin away = random_origin(r, false);
        stn_pose origin = pose_from(&link->origin), parent = stn_pose_identity();
        bool moved = (i > 0 || s->robot->root == WRITTEN_JOINED) && random_below(r, 3) > 0;
        s->links[i].at_joint = moved ? pose_from(&away) : stn_pose_identity();
        if (link->parent >= 0) {
            stn_pose back = stn_pose_inverse(&s->links[link->parent].at_joint);
            parent = stn_pose_mul(&s->links[link->parent].model, &back);
        }
        stn_pose joint = stn_pose_mul(&parent, &origin);
        s->links[i].model = stn_pose_mul(&joint, &s->links[i].at_joint);
    }
}

/// SDFormat has no floating and, outside of Drake's extension, no planar joint: they become other ones of several
/// motions.
static inline void choose_sdf_types(written_robot *robot) {
    for (int32_t i = 0; i < robot->count; i++) {
        bool root = i == 0 && robot->root == WRITTEN_FREE;
        if (robot->links[i].type == STN_JOINT_FLOATING && !root) {
            robot->links[i].type = STN_JOINT_BALL;
        } else if (robot->links[i].type == STN_JOINT_PLANAR) {
            robot->links[i].type = STN_JOINT_UNIVERSAL;
        }
    }
}

/// A robot and both of its files. Free `robot->text` and `s->text`.
static inline void random_twins(written_robot *robot, sdf_robot *s, uint64_t seed, int32_t count) {
    stn_random r = {seed ^ 0x5df};
    size_t size = 0;
    written_robot_init(robot, seed, count);
    free(robot->text);
    choose_sdf_types(robot);
    write_robot(&r, robot);
    s->robot = robot;
    place_links(&r, s);
    FILE *file = open_memstream(&s->text, &size);
    fprintf(file, "<sdf version='1.11'><model name='random'>\n");
    stn_pose base = pose_from(&robot->base);
    if (robot->root == WRITTEN_FREE) {
        write_pose(file, NULL, &base);
    }
    for (int32_t i = 0; i < 2 * count; i++) {
        int32_t link = i % count;
        if (i < count) {
            write_sdf_link(file, &r, s, link);
        } else if (link > 0 || robot->root == WRITTEN_JOINED) {
            write_sdf_joint(file, &r, s, link);
        } else if (robot->root == WRITTEN_WELDED) {
            fprintf(file, "<joint name='weld' type='fixed'><parent>world</parent><child>%s</child></joint>",
                    robot->links[0].name);
        }
    }
    fprintf(file, "</model></sdf>\n");
    fclose(file);
}

#endif
