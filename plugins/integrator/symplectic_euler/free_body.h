// SPDX-License-Identifier: Apache-2.0
// A body that flies freely: its gyroscopic torque is taken implicitly.
#ifndef STN_SYMPLECTIC_EULER_FREE_BODY_H
#define STN_SYMPLECTIC_EULER_FREE_BODY_H

#include <stiction/integrator.h>

/// Is the tree one body that floats in the world and feels a gyroscopic torque when it spins?
bool free_body_is(const stn_model *model, const stn_tree *tree);
/// The impulse (6) that gyroscopic, centrifugal and gravity forces give to the body in a step.
void free_body_impulse(const stn_integrator_view *view, const stn_tree *tree, double *impulse);

#endif
