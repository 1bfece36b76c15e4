// SPDX-License-Identifier: Apache-2.0
// `stiction check`: a rule is one small function and one row of the table in rules.c. A rule sees the compiled
// model and what was measured once for all rules; it says what it finds with the line of a link, joint or shape.
#ifndef STICTION_COMMAND_CHECK_CHECK_H
#define STICTION_COMMAND_CHECK_CHECK_H

#include "common/options.h"
#include "common/robot.h"

typedef struct check check;

typedef struct check_rule {
    const char *name; // a stable word, for --rule, --ignore and the JSON
    stn_severity severity;
    const char *text; // what it finds, for --list and the documentation
    void (*run)(check *c);
    // Words of loaders, with spaces between. The rule is silent about an element of which a loader has said
    const char *said_as; // the same
    const char *unless;  // that what the rule would measure is not there
} check_rule;

/// The shapes of a link or of a body, in its frame.
typedef struct check_shapes {
    stn_aabb collision, visual; // boxes
    int32_t collisions, visuals;
    int32_t unknown; // meshes that are not loaded
    double volume;   // of the collision shapes; NaN when one has none that is known
    int32_t link;    // of a body: its heaviest link
} check_shapes;

struct check {
    const cli_robot *robot;
    const stn_model *model;
    const char *const *packages; // folders of the command line, NULL-terminated, may be NULL
    stn_arena *arena;
    stn_kinematics *kinematics; // at the start: joints at zero, or at the limit nearest to it
    double *v;                  // zero
    check_shapes *links, *bodies;
    stn_aabb origins; // box around the origins of the links
    stn_diagnostics findings;
    const check_rule *rule; // that runs
    bool repeats;           // also what a loader has said
    bool out_of_memory;
};

/// The table of rules.
extern const check_rule check_rules[];
extern const int32_t check_rule_count;

/// Fills what rules read. check_clear releases it, also after a failure.
stn_status check_prepare(check *c, const cli_robot *robot, stn_error *err);
void check_clear(check *c);
/// Runs one rule; what a loader has said of the same element is not said again, unless `repeats`.
void check_run(check *c, const check_rule *rule);

/// A finding of the rule that runs, about an element and with its line.
void check_say_robot(check *c, const char *format, ...) STN_PRINTF(2, 3);
void check_note(check *c, const char *format, ...) STN_PRINTF(2, 3); // about the robot, whatever the rule's severity
void check_say_link(check *c, int32_t link, const char *format, ...) STN_PRINTF(3, 4);
void check_say_joint(check *c, int32_t joint, const char *format, ...) STN_PRINTF(3, 4);      // a moving one
void check_say_joint_above(check *c, int32_t link, const char *format, ...) STN_PRINTF(3, 4); // also a fixed one
void check_say_shape(check *c, int32_t geometry, const char *format, ...) STN_PRINTF(3, 4);

/// Does the joint stand in the file? A robot that floats has one more.
bool check_is_own_joint(const check *c, int32_t joint);
/// "m" or "rad"; "N" or "N m".
const char *check_unit(const stn_joint *joint);
const char *check_effort_unit(const stn_joint *joint);
/// The box of a link's shapes in its own frame, or without any that of its body's; empty when some are not known.
stn_aabb check_box_of_link(const check *c, int32_t link);

// mass.c
void check_inertia_triangle(check *c);
void check_inertia_point(check *c);
void check_inertia_placeholder(check *c);
void check_inertia_large(check *c);
void check_inertia_small(check *c);
void check_com_outside(check *c);
void check_density(check *c);
void check_mass_zero(check *c);
// joint.c
void check_joint_locked(check *c);
void check_limit_large(check *c);
void check_effort_zero(check *c);
void check_velocity_zero(check *c);
void check_mimic_limits(check *c);
void check_number_extreme(check *c);
void check_name_shared(check *c);
// shape.c
void check_collision_missing(check *c);
void check_scale_robot(check *c);
void check_scale_mesh(check *c);
void check_scale_link(check *c);
void check_slab_thickness(check *c);
void check_friction_direction(check *c);
void check_package_unused(check *c);
// collision.c
void check_self_collision(check *c);

#endif
