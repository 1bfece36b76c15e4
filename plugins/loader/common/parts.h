// SPDX-License-Identifier: Apache-2.0
// One robot of a compiled model as what a robot file is made of: named links with joints above them, shapes on links,
// pairs that never collide. What every saving loader starts from.
#ifndef LOADER_COMMON_PARTS_H
#define LOADER_COMMON_PARTS_H

#include "robot.h"
#include "xml_writer.h"

/// A shape as a file names it.
typedef struct robot_shape {
    const stn_geometry *geometry;
    stn_pose pose;    // link frame -> shape frame; of a glTF mesh as files mean it, with y up
    const char *mesh; // name of the mesh file as seen from the robot file, NULL: the shape has none
    stn_vec3 scale;   // of the mesh, along the axes of `pose`
} robot_shape;

typedef struct robot_part {
    const stn_link *link;
    const char *name;
    int32_t parent;         // part; -1: a root, or on the world
    bool on_world;          // a joint hangs it on the world
    const char *joint_name; // NULL: no joint above it
    stn_joint_type type;    // of that joint
    stn_pose origin;        // parent's frame -> joint frame
    const stn_joint *joint; // as compiled, NULL: fixed or none
    int32_t master;         // part whose joint this one's follows, -1
    int32_t shape_start, shape_count;
    int32_t first_child, next_sibling; // parts in the order of their joints, -1: none
} robot_part;

/// Two parts, -1: the world; the first has the smaller number.
typedef struct robot_pair {
    int32_t a, b;
} robot_pair;

/// Everything lives in the arena.
typedef struct robot_parts {
    stn_arena *arena;
    const stn_save_request *request;
    stn_diagnostics *diagnostics;
    int32_t findings_before; // of the diagnostics
    const stn_model *model;
    const stn_group *robot;
    const char *name;                  // of the robot in the file
    const char *folder, *folder_above; // of the file, without symbolic links; NULL: there is none such
    int32_t count;
    robot_part *parts;  // in the order of the links
    int32_t root;       // part that nothing hangs on the world; -1: joints do
    bool root_is_world; // the root link is the world itself
    bool fixed;         // the root is welded to the world
    int32_t joint_count;
    int32_t *joints;     // (joint_count) parts with a joint above them, in the order in which joints were added
    robot_shape *shapes; // by parts, then as added
    int32_t pair_count;
    robot_pair *pairs; // that never collide, ascending, each once
    bool out_of_memory;
    robot_reader tables; // only its memory, for tables of names
} robot_parts;

/// Takes the robot apart. Names that XML cannot hold are refused. Whatever the result, robot_parts_clear releases it.
stn_status robot_parts_init(robot_parts *parts, const stn_save_request *request, stn_diagnostics *diagnostics,
                            stn_error *err);
void robot_parts_clear(robot_parts *parts);

/// A shape's pose as URDF and SDFormat have it: a plane with the normal z, by which robot_set_plane turns it.
stn_pose robot_save_pose(const robot_shape *shape);

/// Does friction differ by direction? Gives mu, mu2 and the direction, settled, in the axes of robot_save_pose.
bool robot_save_friction(const stn_geometry *geometry, double *mu, double *mu2, double direction[3]);

/// A warning about what the format cannot hold, once for every code.
void robot_lose(robot_parts *parts, const char *code, const char *element, const char *format, ...) STN_PRINTF(4, 5);
/// Text of the arena; "" without memory.
const char *robot_part_text(robot_parts *parts, const char *format, ...) STN_PRINTF(2, 3);
void *robot_part_allocate(robot_parts *parts, size_t count, size_t size);
/// What was out of memory, else xml_finish with the file's name in front.
stn_status robot_parts_finish(robot_parts *parts, xml_writer *writer, char **text, size_t *length, stn_error *err);

/// An empty table of names. false: no memory.
bool robot_part_names(robot_parts *parts, robot_names *names);
/// `name`, with "_2", "_3" behind it where the table has it; the table keeps it.
const char *robot_part_unique(robot_parts *parts, robot_names *taken, const char *name);
/// Of two robot_pair, for qsort.
int robot_compare_pairs(const void *a, const void *b);

/// "weld grasp", for messages.
const char *robot_constraint_label(robot_parts *parts, const stn_model_constraint *constraint);
/// The number that its plugin has for a parameter; `missing` where there is no such parameter.
double robot_constraint_number(const stn_model_constraint *constraint, const char *name, double missing);
/// The constraints of the robot with itself or the world into `list` (room for all of the model); those with another
/// robot are lost.
int32_t robot_take_constraints(robot_parts *parts, const stn_model_constraint **list);
/// All of them are lost: the format has none.
void robot_lose_constraints(robot_parts *parts, const char *format);

// --------------------------------------------------------------------------------------------------- save_drake.c

/// Contact parameters of a collision and how its field is made, when it has any; values as attributes or as texts.
void robot_save_proximity(xml_writer *writer, const stn_material *material, const stn_field_spec *field, bool as_text);
/// Must a collision mesh be declared convex, lest it be read as a rigid surface or as tetrahedra?
bool robot_save_is_convex(const stn_geometry *geometry);
/// A friction at rest of its own is lost: drake:mu_static is in files, but nobody reads it beside mu_dynamic.
void robot_lose_static_friction(robot_parts *parts, const char *link, const stn_material *material);
/// The pairs, as one group for every link that has any, with that link alone in it. In SDFormat (as text) the world is
/// no link.
void robot_save_filters(robot_parts *parts, xml_writer *writer, bool as_text);

// ------------------------------------------------------------------------------------------------------ settled.c
// Numbers of a rotation or a direction that do not move when a file is read and saved again, and the shortest such.

/// Fixed-axis roll, pitch, yaw [rad].
void robot_settle_rpy(const stn_mat3 *rotation, double rpy[3]);
/// Quaternion (w, x, y, z) whose largest number is 1 or -1, for formats that normalise.
void robot_settle_quaternion(const stn_mat3 *rotation, double wxyz[4]);
/// A direction that is scaled to unit length when it is read and once more when the model is compiled.
void robot_settle_axis(stn_vec3 axis, double xyz[3]);
/// The shortest decimals of single precision.
void robot_settle_colour(const float rgba[4], double out[4]);

#endif
