// SPDX-License-Identifier: Apache-2.0
// How deep two shapes overlap, by the core's own measure: no contact model is asked.
#ifndef STICTION_CORE_GEOMETRY_OVERLAP_H
#define STICTION_CORE_GEOMETRY_OVERLAP_H

#include <stiction/mesh_query.h>

/// A shape in the world.
typedef struct posed_shape {
    const stn_shape *shape;
    const stn_pose *pose; // X_WS
} posed_shape;

/// What is known of a pair: an overlap (0: none) and directions along which moving B is said to undo it.
typedef struct overlap_claim {
    double depth;   // [m]
    bool compliant; // of faces of patches, which press without parting the shapes: the search is a short one
    int32_t count;
    const stn_vec3 *normal; // (count) unit, from A into B, world
} overlap_claim;

/// The depth of the pair [m]: what is claimed when the shapes do come apart along a claimed normal by that much, or are
/// apart; else more, an upper bound of two convex shapes found by a search over directions. Against a mesh or height
/// field every triangle that meets the other shape counts by itself, whichever side it is met from: a lower bound; a
/// shape whose middle is inside of a closed mesh or below a height field, and of which nothing is claimed, counts by
/// the distance of its middle from the surface. What is claimed where two surfaces, or half spaces, meet. Allocates
/// nothing.
double shapes_overlap(posed_shape a, posed_shape b, const overlap_claim *claim);

#endif
