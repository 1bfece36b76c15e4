// SPDX-License-Identifier: Apache-2.0
// Joint velocities that lead a link to where it is wanted, within what the joints and the bodies around allow.
#ifndef STICTION_DIFFERENTIAL_IK_REACH_H
#define STICTION_DIFFERENTIAL_IK_REACH_H

#include "common/link.h"

enum { METHOD_QP, METHOD_DLS };
enum { AVOID_NONE, AVOID_FIXED, AVOID_ROBOTS, AVOID_ALL };

/// Parameters, see README.
typedef struct reach_options {
    const char *frame;
    int32_t method, avoid;
    double gain, speed, angular_speed;     // of the link: [1/s], [m/s], [rad/s]
    double damping, posture_gain;          // [m/rad], [1/s]
    double posture_weight;                 // [m/rad]
    double velocity_scale, velocity_limit; // [1], [rad/s, m/s]
    double acceleration, joint_margin;     // [rad/s^2, m/s^2], [rad, m]
    double distance, self_distance;        // [m]
    double influence, yield;               // [m], [1/s]
    double kp, kd;
    bool effort_limits;
    int32_t link, tree; // of the model, found by bind
} reach_options;

/// What a step begins with.
typedef struct reach_goal {
    stn_vec3 position, rotation;         // of the link's frame: place, rotation vector
    stn_vec3 velocity, angular_velocity; // fed forward
    const double *posture;               // (dof_count)
    const double *command, *rate;        // (dof_count) positions commanded until now, and the velocities before
} reach_goal;

/// Velocities of the target's dofs, (dof_count), from the arena. STN_ERR_NUMERIC names what is not finite.
stn_status reach_velocities(const reach_options *options, const stn_control_view *view, const reach_goal *goal,
                            double **velocity, stn_error *err);

#endif
