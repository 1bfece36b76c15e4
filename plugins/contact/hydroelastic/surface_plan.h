// SPDX-License-Identifier: Apache-2.0
// How finely the surface of a shape is divided: from a wanted edge length, or from an estimate of what is lost
// (README).
#ifndef HYDROELASTIC_SURFACE_PLAN_H
#define HYDROELASTIC_SURFACE_PLAN_H

#include "field.h"

/// Bytes of a tetrahedron with its share of vertices and of a search tree.
static const double surface_plan_bytes = 450.0;

typedef struct surface_plan {
    int32_t steps;                // sphere, ellipsoid, box, capsule: parts of a side of the coarsest surface
    int32_t around, rings, bands; // cylinder: sectors (a multiple of 8), rings of a cap, bands of the side (even);
                                  // capsule: the last two alone count, rings is 0
    double edge;                  // hull: no side is longer [m]
    double triangles;             // of the surface; of a hull about
    double joins;                 // tetrahedra of a field that have no triangle on the surface, at most
} surface_plan;

/// STN_ERR_ARGUMENT names the number that is not finite or not in its range.
stn_status surface_plan_check(const field_fineness *fineness, stn_error *err);
/// As many as the fineness asks, for a field (of which max_count tetrahedra are allowed) or a rigid surface
/// (triangles). STN_ERR_ARGUMENT when that is too many: how many, how much memory, and which resolution fits.
stn_status surface_plan_make(const stn_shape *shape, const field_fineness *fineness, bool solid, int32_t max_count,
                             surface_plan *plan, stn_error *err);
/// Length of edges along what is round [m]: the resolution that gives this plan.
double surface_plan_length(const stn_shape *shape, const surface_plan *plan);

#endif
