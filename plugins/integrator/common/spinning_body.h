// SPDX-License-Identifier: Apache-2.0
// A body that turns freely, in flight or about a pivot, or a cloud of frames: gyroscopic torques are taken implicitly.
#ifndef STN_INTEGRATOR_SPINNING_BODY_H
#define STN_INTEGRATOR_SPINNING_BODY_H

#include <stiction/integrator.h>

/// What a tree of one body that floats or turns on a ball joint feels of its motion.
typedef enum lone_body {
    LONE_BODY_NONE,  // it is none, or turns on a ball joint and feels nothing
    LONE_BODY_SPINS, // a gyroscopic torque when it spins
    LONE_BODY_FALLS, // it floats and feels nothing but gravity
} lone_body;
lone_body lone_body_of(const stn_model *model, const stn_tree *tree);
/// The impulse (6, on a ball joint 3) that gyroscopic, centrifugal and gravity forces give to the body in a step.
void spinning_body_impulse(const stn_integrator_view *view, const stn_tree *tree, double *impulse);
/// The same (6 node_count) of every node of a cloud of frames.
void spinning_nodes_impulse(const stn_integrator_view *view, const stn_tree *tree, double *impulse);

#endif
