// SPDX-License-Identifier: Apache-2.0
// What a field's tetrahedra are like: for tests and for messages.
#ifndef HYDROELASTIC_FIELD_QUALITY_H
#define HYDROELASTIC_FIELD_QUALITY_H

#include "field.h"

typedef struct field_quality {
    double volume;          // of all tetrahedra [m^3]
    double smallest_volume; // of one; > 0 when none is turned or flat [m^3]
    double worst_aspect;    // longest edge over smallest height; 1.22 for a regular one, long ones are no defect [1]
    double lowest, highest; // extents [1]
    double steepest;        // longest gradient times the depth: 1 where e is the distance over the depth [1]
    int32_t outer_faces;    // that no neighbour shares
    double outer_extent;    // largest |e - lowest| at a vertex of those [1]
} field_quality;

field_quality field_inspect(const field *field);

#endif
