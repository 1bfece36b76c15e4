// SPDX-License-Identifier: Apache-2.0
// A body that turns freely, in flight or about a pivot, or a cloud of frames: gyroscopic torques are taken implicitly.
#ifndef STN_INTEGRATOR_SPINNING_BODY_H
#define STN_INTEGRATOR_SPINNING_BODY_H

#include <stiction/integrator.h>

/// Is the tree one body, floating or on a ball joint, that feels a gyroscopic torque when it spins?
bool spinning_body_is(const stn_model *model, const stn_tree *tree);
/// The impulse (6, on a ball joint 3) that gyroscopic, centrifugal and gravity forces give to the body in a step.
void spinning_body_impulse(const stn_integrator_view *view, const stn_tree *tree, double *impulse);
/// The same (6 node_count) of every node of a cloud of frames.
void spinning_nodes_impulse(const stn_integrator_view *view, const stn_tree *tree, double *impulse);

#endif
