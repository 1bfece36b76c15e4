// SPDX-License-Identifier: Apache-2.0
// What `stiction info` knows about a robot, between loading it and printing it.
#ifndef STICTION_COMMAND_INFO_INFO_H
#define STICTION_COMMAND_INFO_INFO_H

#include <stiction/contact.h>

#include "common/options.h"
#include "common/robot.h"
#include "common/terminal.h"

/// A link whose pose was asked for, and a point of it.
typedef struct info_frame {
    const char *key; // in the JSON: the link's name, or the whole word when a link is asked for again
    int32_t link;
    stn_vec3 point; // link frame
} info_frame;

/// Mass matrix and gravity of one choice of coordinates. Rotor inertia is left out: the figures are those of the
/// bodies.
typedef struct info_figures {
    double mass_trace, gravity_norm; // 0 without masses
    double condition; // of the mass matrix, largest over smallest eigenvalue; NaN: see info_dynamics.note
    double *gravity;  // (nv) forces that hold the robot still; 0 where a joint is no coordinate
} info_figures;

/// Of one configuration, with mimic joints as coordinates of their own, and eliminated (M_red = G^T M G, g_red = G^T
/// g).
typedef struct info_dynamics {
    info_figures full, reduced;
    const char *note; // why figures are missing; NULL: none is
} info_dynamics;

typedef struct info_counts {
    int32_t joints, of_type[STN_JOINT_COUNT], mimic;
    int32_t dof_reduced;
    int32_t compliant, tetrahedra; // of those that collide: with a modulus, and with a volume mesh besides
    int32_t friction_directions;   // of those that collide: friction differs by direction
    int32_t collision, visual, collision_shapes[STN_SHAPE_COUNT], visual_shapes[STN_SHAPE_COUNT];
    int32_t inertias[CLI_INERTIA_COUNT]; // links
    int32_t actuators;
    double mass; // [kg]
} info_counts;

/// The box of the robot at zero.
typedef struct info_size {
    stn_aabb box;    // world axes, empty when nothing is known
    bool collision;  // of the shapes that collide, otherwise of those that are seen
    int32_t missing; // meshes among these shapes that are not loaded
} info_size;

/// Flat pieces in place of a round shape, where contact is one over areas.
typedef struct info_surface {
    int32_t geometry;
    stn_surface_error error;
} info_surface;

typedef struct info_report {
    cli_robot robot; // its root welded to the world
    stn_kinematics *kinematics;
    stn_arena *arena;
    double *q, *v; // v = 0
    info_frame *frames;
    int32_t frame_count;
    bool configured; // --q was given
    info_counts counts;
    info_size size;
    info_surface *surfaces; // (surface_count) of robots with compliant shapes
    int32_t surface_count;
    info_dynamics dynamics;
} info_report;

/// configuration.c: fills q. NULL and "Z": zero; "A", "B": the rules of the reference tables; else a JSON file
/// { "joint": value | [values] }. Mimic joints follow.
stn_status info_configure(info_report *r, const char *choice, stn_error *err);
/// numbers.c: counts and size, q being zero.
void info_count(info_report *r);
/// After counting: how far the flat pieces that contact over areas acts on lie beside round shapes, as the contact
/// model has it that makes them; nothing where no contact model can be asked.
void info_measure_surfaces(info_report *r);
/// Does the file name what drives it, or give it a rotor?
bool info_is_driven(const stn_joint *joint);
/// Does the robot give the joint gains of its own?
bool info_has_servo(const stn_joint *joint);
stn_pose info_link_pose(const info_report *r, int32_t link);
/// dynamics.c
stn_status info_compute(info_report *r, stn_error *err);
/// json.c; false: stdout cannot be written.
bool info_print_json(const info_report *r);
/// text.c, tree.c
bool info_print_text(const info_report *r);
void info_print_tree(const info_report *r, const cli_terminal *terminal);
/// mesh.c: does the name end like that of a mesh file? Then what `stiction info FILE` answers, and its exit
/// status.
bool info_is_mesh(const char *path);
int info_mesh(const cli_command *command, const char *path, bool json);

/// How many nodes of a cloud are attached to a link (STN_WORLD: to the world).
int32_t info_attached(const stn_model *model, const stn_tree *cloud, int32_t link);
double info_cloud_mass(const stn_model *model, const stn_tree *cloud); // json.c: of all nodes [kg]
/// The link or joint at one end of a constraint, "world".
const char *info_constraint_end(const stn_model *model, const stn_constraint_end *end);

#endif
