// SPDX-License-Identifier: Apache-2.0
// A tree of several joints: its Coriolis and centrifugal forces are taken implicitly.
#ifndef STN_INTEGRATOR_TURNING_TREE_H
#define STN_INTEGRATOR_TURNING_TREE_H

#include <stiction/integrator.h>

/// Can the tree feel Coriolis forces? Not with one velocity, not where all joints slide, and not when it is one body
/// that floats or turns about a pivot, which spinning_body.h is for.
bool turning_tree_is(const stn_model *model, const stn_tree *tree);
/// Doubles of room that such a tree takes.
size_t turning_tree_room(const stn_model *model, const stn_tree *tree);
/// The impulse (n_t) that Coriolis, centrifugal and gravity forces give to tree t in a step. `formed` holds its A.
/// STN_NOT_CONVERGED is its only failure; it names the tree.
stn_status turning_tree_impulse(const stn_integrator_view *view, int32_t t, const stn_formed *formed, double *room,
                                double *impulse, stn_error *err);

#endif
