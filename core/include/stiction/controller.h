// SPDX-License-Identifier: Apache-2.0
// Controllers: references and state -> forces with their stiffness and damping, or servos.
#ifndef STICTION_CONTROLLER_H
#define STICTION_CONTROLLER_H

#include <stiction/forces.h>

STN_BEGIN_C

/// A named reference that scripts write and recorders store: a vector, or a series of vectors (channel_rows).
typedef struct stn_channel {
    const char *name, *unit, *summary; // name as in Lua tables, "position"; unit, "rad, m"; one line of help
    int32_t size;                      // numbers in a vector; 0: one per velocity of the target
} stn_channel;
enum { STN_CHANNEL_MOST = 4096 }; ///< size of a channel and rows in it at most

/// What it controls: moving joints of one group, ascending. Arrays live as long as the binding.
typedef struct stn_control_target {
    const stn_model *model; // compiled
    int32_t group;          // of the model
    int32_t joint_count;    // > 0
    const int32_t *joint;   // (joint_count) of the model
    int32_t dof_count;      // velocities of these joints, in the joints' order
    const int32_t *dof;     // (dof_count) of the model
} stn_control_target;

/// What a controller may ask about the bodies around it, by the functions below; opaque.
typedef struct stn_surroundings stn_surroundings;

/// What a controller sees: the state at the step's start. Read only, borrowed for the call.
typedef struct stn_control_view {
    const stn_control_target *target; // as bound
    double time, dt;                  // [s]
    stn_vec3 gravity;                 // [m/s^2], world
    const double *q, *v;              // (nq), (nv) of the whole model
    const stn_kinematics *kinematics; // at (q, v)
    stn_arena *arena;                 // scratch, until the step ends
    stn_surroundings *surroundings;   // for stn_near_pairs; NULL: nothing is near
    bool quasistatic; // M a and C v are no part of the step: a controller that would feed them forward leaves them out
} stn_control_view;

/// Two shapes that may collide and are near each other at the step's start.
typedef struct stn_near_pair {
    int32_t geometry_a, geometry_b; // of the model: A on the tree that the controller moves, B on anything, also on it
    double distance;                // signed, negative in overlap [m]
    stn_vec3 point, normal;         // where they are nearest, on A or B or between them; unit, from A to B; world
} stn_near_pair;

/// The pairs of the controller's first dof's tree, tools on it included, at a signed distance <= `within` [m], each
/// with the place where it is nearest: those that the collision filter lets collide and whose shapes the contact model
/// (of queries) handles. By geometry A, then B; of a pair within the tree A is the smaller one. Borrowed until the next
/// query of the world. No allocation in a steady step. [step]
STN_API stn_status stn_near_pairs(const stn_control_view *view, double within, const stn_near_pair **pairs,
                                  int32_t *count, stn_error *err);

/// What a controller does; plugin kind "controller". It acts as if it were alone: of its forces, gains and limits the
/// step takes the share that its weight and priority leave it (stn_world_activate_controller), and adds up what all do.
typedef struct stn_controller_ops {
    uint32_t size;               // sizeof of the struct as the plugin was compiled
    int32_t channel_count;       // references that it takes
    const stn_channel *channels; // (channel_count), constant; their numbers are stacked in this order
    /// OPTIONAL. Checks the target once (joint types, dof count). `config` texts were validated before. The last that
    /// may write to `self`: clones of the world share it. [setup]
    stn_status (*bind)(void *self, const stn_control_target *target, stn_error *err);
    /// OPTIONAL (absent: 0). Bytes of state kept across steps. [setup]
    size_t (*state_size)(const void *self, const stn_control_target *target);
    /// OPTIONAL (absent: zeros). References before a script sets any; channels stacked in order. [setup]
    void (*initial_reference)(const void *self, const stn_control_target *target, const double *q, double *reference);
    /// REQUIRED. Adds its forces. A failure ends the step with the controller's name. [step]
    stn_status (*evaluate)(void *self, const stn_control_view *view, const double *reference, void *state,
                           stn_forces *forces, stn_error *err);
    /// OPTIONAL (absent: vectors). (channel_count) rows of each channel, constant; more than 1: a series, row after
    /// row, of which scripts may give fewer rows: the last is repeated then.
    const int32_t *channel_rows;
} stn_controller_ops;

/// Rows of a channel, 1: a vector.
static inline int32_t stn_channel_rows(const stn_controller_ops *ops, int32_t channel) {
    bool told = ops->size >= offsetof(stn_controller_ops, channel_rows) + sizeof ops->channel_rows;
    return told && ops->channel_rows != NULL && ops->channel_rows[channel] > 1 ? ops->channel_rows[channel] : 1;
}

/// Numbers in a channel of a controller of so many velocities.
static inline int32_t stn_channel_count(const stn_controller_ops *ops, int32_t channel, int32_t dof_count) {
    int32_t size = ops->channels[channel].size;
    return (size > 0 ? size : dof_count) * stn_channel_rows(ops, channel);
}

STN_END_C
#endif
