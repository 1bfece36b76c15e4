// SPDX-License-Identifier: Apache-2.0
// What `stiction info` knows about a robot, between loading it and printing it.
#ifndef STICTION_CLI_INFO_H
#define STICTION_CLI_INFO_H

#include <stiction/dynamics.h>
#include <stiction/loader.h>

#include "cli/options.h"

/// A link whose pose was asked for, and a point of it.
typedef struct info_frame {
    const char *key; // in the JSON: the link's name, or the whole word when a link is asked for again
    int32_t link;
    stn_vec3 point; // link frame
} info_frame;

/// Of one configuration, with mimic joints as coordinates of their own and eliminated (M_red = G^T M G, g_red = G^T g).
/// Rotor inertia is left out: the figures are those of the bodies.
typedef struct info_dynamics {
    double mass_trace_full, gravity_norm_full;
    double mass_trace_reduced, gravity_norm_reduced;
} info_dynamics;

typedef struct info_counts {
    int32_t joints, of_type[STN_JOINT_COUNT], mimic;
    int32_t dof_reduced;
    int32_t collision, visual;
    double mass; // [kg]
} info_counts;

typedef struct info {
    const char *path;
    stn_context *context;
    stn_diagnostics diagnostics;
    stn_model *model; // the one robot, its root welded to the world
    stn_kinematics *kinematics;
    double *q, *v;     // v = 0
    int32_t *child_of; // (joint_count) link below each moving joint
    info_frame *frames;
    int32_t frame_count;
    info_counts counts;
    info_dynamics dynamics;
} info;

/// info_configuration.c: fills q. NULL and "Z": zero; "A", "B": the rules of the reference tables; else a JSON file
/// { "joint": value | [values] }. Mimic joints follow.
stn_status info_configure(info *robot, const char *choice, stn_error *err);
/// info_numbers.c
void info_count(info *robot);
stn_status info_compute(info *robot, stn_error *err);
stn_pose info_link_pose(const info *robot, int32_t link);
/// info_json.c; false: stdout cannot be written.
bool info_print_json(const info *robot);
/// info_text.c
bool info_print_text(const info *robot);
/// "file:line: link b: text" of a finding.
void info_finding_line(const stn_diagnostic *finding, char *text, size_t size);

#endif
