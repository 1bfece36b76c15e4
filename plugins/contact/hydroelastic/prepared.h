// SPDX-License-Identifier: Apache-2.0
// The solids of a model's geometries.
#ifndef HYDROELASTIC_PREPARED_H
#define HYDROELASTIC_PREPARED_H

#include <stiction/shared.h>

#include "near.h"

/// What a shape gets that says nothing itself, and how much it may get.
typedef struct solid_limits {
    double error;           // as in field_fineness
    double margin;          // [m]
    int32_t max_tetrahedra; // of one shape; triangles of a rigid one as well
} solid_limits;

typedef struct model_solids {
    stn_context *context;
    double merge;          // bound of faces_merge, 0: none
    int32_t count;         // of geometries
    const stn_shared **of; // (count) its solid, held; NULL: none
    double *modulus;       // (count) [Pa], infinite: rigid
    near_memory *memory;   // of their pairs, for the world that they were prepared for; NULL: nothing is compliant
} model_solids;

/// NULL: there is none.
static inline const solid *prepared_solid(const model_solids *solids, int32_t geometry) {
    return solids->of[geometry] != NULL ? solids->of[geometry]->thing : NULL;
}

/// What a geometry is to be made into, from its type and material alone; SOLID_NONE: nothing can be made of it.
solid_kind solid_kind_of(const stn_geometry *geometry);

/// Holds the solids of all geometries that collide, one for equal ones of all models of the context; none when nothing
/// is compliant. A field that cannot be made is an error naming robot, link and shape. [setup]
stn_status prepared_create(const stn_model *model, const solid_limits *limits, model_solids **out, stn_error *err);
void prepared_destroy(model_solids *solids); // accepts NULL

#endif
