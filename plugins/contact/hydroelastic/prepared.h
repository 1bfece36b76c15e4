// SPDX-License-Identifier: Apache-2.0
// The solids of a model's geometries.
#ifndef HYDROELASTIC_PREPARED_H
#define HYDROELASTIC_PREPARED_H

#include "solid.h"

/// What a shape gets that says nothing itself, and how much it may get.
typedef struct solid_limits {
    double error;           // as in field_fineness
    double margin;          // [m]
    int32_t max_tetrahedra; // of one shape; triangles of a rigid one as well
} solid_limits;

typedef struct model_solids {
    stn_context *context;
    double merge; // bound of faces_merge, 0: none
    int32_t solid_count;
    solid *solids;   // (solid_count) one for all equal shapes
    int32_t *of;     // (geometries) its solid, -1: none
    double *modulus; // (geometries) [Pa], infinite: rigid
} model_solids;

/// What a geometry is to be made into, from its type and material alone; SOLID_NONE: nothing can be made of it.
solid_kind solid_kind_of(const stn_geometry *geometry);

/// Makes the solids of all geometries that collide, once for equal ones; none when nothing is compliant. A field that
/// cannot be made is an error naming robot, link and shape. [setup]
stn_status prepared_create(const stn_model *model, const solid_limits *limits, model_solids **out, stn_error *err);
void prepared_destroy(model_solids *solids); // accepts NULL

#endif
