// SPDX-License-Identifier: Apache-2.0
// Inverse kinematics: joint positions that put a link where it is wanted.
#ifndef STICTION_PLUGINS_SCRIPT_INVERSE_KINEMATICS_H
#define STICTION_PLUGINS_SCRIPT_INVERSE_KINEMATICS_H

#include <stiction/dynamics.h>

/// What is wanted, and how long it is looked for.
typedef struct stn_ik_goal {
    int32_t group, link;        // its joints between the world and the link move; the link may be of what hangs on it
    stn_pose pose;              // of the link's frame in the world
    bool position_only;         // any orientation will do
    double position_tolerance;  // > 0 [m]
    double angle_tolerance;     // > 0 [rad]
    const double *seeds;        // (seed_count x nq) coordinates of the model to begin with, in this order
    int32_t seed_count;         // 0: begin with the present ones
    int32_t random_starts;      // after these, uniform within the limits: >= 0
    uint64_t random_seed;       // of these
    int32_t iterations_a_start; // > 0
    bool nearest; // make all starts; of what reaches the goal the one whose joints are nearest to the present ones
    /// OPTIONAL. Refuses coordinates (nq) that reach the goal: the search goes on. It must leave `present` as it is.
    bool (*accepts)(void *user, const double *q);
    void *user; // handed to accepts
} stn_ik_goal;

/// 1e-6 m, 1e-6 rad, 50 random starts, 100 iterations each; the identity of link -1 as goal.
stn_ik_goal stn_ik_goal_default(void);

/// How near the best start came.
typedef struct stn_ik_result {
    double distance, angle;     // that stay [m], [rad]
    int32_t starts, iterations; // made in all
    int32_t refused;            // reached the goal, but were not accepted
} stn_ik_result;

/// Levenberg-Marquardt on the pose error (p_goal - p, 0.2 m log(R_goal R^T)) of the joints with one velocity between
/// the world and the link: q += J^T (J J^T + mu 1)^-1 e, where joints at a limit that the step would leave stay, mu by
/// success. Joints that mimic follow, all others stay as they are in `present`. `q` (nq) gets the first start that
/// reaches the goal, within the limits, is accepted and, if asked for, nearest; else what came nearest to the goal.
/// STN_NOT_CONVERGED: none reached it; STN_ERR_ARGUMENT: no joint of the group moves the link, or more than 64 joints
/// do. Source: [levenberg-1944], [marquardt-1963]. Thread: [any], while `present` does not change; no allocation.
stn_status stn_inverse_kinematics(const stn_kinematics *present, const stn_ik_goal *goal, double *q,
                                  stn_ik_result *result, stn_error *err);

#endif
