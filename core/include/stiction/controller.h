// SPDX-License-Identifier: Apache-2.0
// Controllers: references and state -> forces with their stiffness and damping, or servos.
#ifndef STICTION_CONTROLLER_H
#define STICTION_CONTROLLER_H

#include <stiction/forces.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A named reference vector that scripts write and recorders store. size 0: one value per velocity of the target.
typedef struct stn_channel {
    const char *name, *unit, *summary;
    int32_t size;
} stn_channel;

/// What it controls: moving joints of one robot, ascending. Arrays live as long as the binding.
typedef struct stn_control_target {
    const stn_model *model;
    int32_t robot;
    int32_t joint_count;
    const int32_t *joint;
    int32_t dof_count; // velocities of these joints, in the joints' order
    const int32_t *dof;
} stn_control_target;

typedef struct stn_control_view {
    const stn_control_target *target;
    double time, dt;
    stn_vec3 gravity;
    const double *q, *v;
    const stn_kinematics *kinematics;
    stn_arena *arena;
} stn_control_view;

typedef struct stn_controller_ops {
    uint32_t size;
    int32_t channel_count;
    const stn_channel *channels;
    /// OPTIONAL. Checks the target once (joint types, dof count). `config` texts were validated before. [setup]
    stn_status (*bind)(void *self, const stn_control_target *target, stn_error *err);
    /// OPTIONAL (absent: 0). Bytes of state kept across steps. [setup]
    size_t (*state_size)(const void *self, const stn_control_target *target);
    /// OPTIONAL (absent: zeros). References before a script sets any; channels stacked in order. [setup]
    void (*initial_reference)(const void *self, const stn_control_target *target, const double *q, double *reference);
    /// REQUIRED. Adds its forces. A failure ends the step with the controller's name. [step]
    stn_status (*evaluate)(void *self, const stn_control_view *view, const double *reference, void *state, stn_forces *forces,
                           stn_error *err);
} stn_controller_ops;

#ifdef __cplusplus
}
#endif
#endif
