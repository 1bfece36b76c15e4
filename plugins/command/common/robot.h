// SPDX-License-Identifier: Apache-2.0
// A robot file as the commands see it: loaded and compiled, with what the loader had to say.
#ifndef STICTION_COMMAND_COMMON_ROBOT_H
#define STICTION_COMMAND_COMMON_ROBOT_H

#include <stiction/dynamics.h>
#include <stiction/loader.h>

/// q = scale q(master) + offset, `master` being the joint at the end of the chain, which mimics nothing (itself: 1, 0).
typedef struct cli_chain {
    int32_t master;
    double scale, offset;
} cli_chain;

typedef struct cli_robot {
    const char *path;
    stn_context *context;
    stn_diagnostics diagnostics;
    stn_model *model;  // the one robot; NULL: it did not load
    int32_t *child_of; // (joint_count) link below each moving joint
    cli_chain *chains; // (joint_count)
    double load_ms;    // from the path to the compiled model, plugins found on the way included
} cli_robot;

typedef struct cli_robot_options {
    bool fixed; // the root is welded to the world; otherwise it floats, unless the file welds it or calls it "world"
    bool visual_meshes;          // read, to look at them
    const char *const *packages; // folders, NULL-terminated, may be NULL
} cli_robot_options;

/// Loads `path`. Whatever the result, cli_robot_clear releases it.
stn_status cli_robot_load(cli_robot *robot, const char *path, const cli_robot_options *options, stn_error *err);
void cli_robot_clear(cli_robot *robot);

/// The line of a place "file:line", 0 when it is not known.
int32_t cli_line_of(const char *where);
/// "file:line: link b: text" of a finding.
void cli_finding_line(const stn_diagnostic *finding, char *text, size_t size);
const char *cli_severity_name(stn_severity severity); // "note", "warning", "error"
/// The findings from `least` on, "severity: file:line: ..." a line, on stderr.
void cli_print_findings(const stn_diagnostics *findings, stn_severity least);

/// Is the mass of a link that of a body? Moments relative to their sum: below -1e-9 is negative, and the largest may
/// exceed the sum of the others by 1e-6, as figures of files are rounded.
typedef enum cli_inertia {
    CLI_INERTIA_NONE,     // no mass
    CLI_INERTIA_OK,       // a body of some extent
    CLI_INERTIA_POINT,    // mass, but no inertia
    CLI_INERTIA_NEGATIVE, // a moment below 0
    CLI_INERTIA_TRIANGLE, // a moment above the sum of the other two
    CLI_INERTIA_COUNT
} cli_inertia;
/// `moments`: the principal moments, ascending.
cli_inertia cli_judge_inertia(const stn_mass *mass, double moments[3]);
const char *cli_inertia_name(cli_inertia inertia); // "none", "ok", ...

/// Boxes of shapes. Unbounded shapes and meshes that are not loaded have empty ones, which add nothing.
stn_aabb cli_box_empty(void);
bool cli_box_is_empty(const stn_aabb *box);
void cli_box_add(stn_aabb *box, const stn_aabb *other);
stn_aabb cli_box_of(const stn_geometry *geometry, const stn_pose *pose); // posed
double cli_box_diagonal(const stn_aabb *box);                            // 0 when empty
/// Of all shapes of a robot at the configuration of `kinematics`, of those that collide or of those that are seen.
stn_aabb cli_robot_box(const cli_robot *robot, const stn_kinematics *kinematics, bool collision);

#endif
