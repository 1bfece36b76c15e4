// SPDX-License-Identifier: Apache-2.0
// Faces where they act, and the parts of large ones.
//
// A face acts at its centre of pressure, so that force and torque of a linear pressure are exact however large it is.
// What a large one lacks is friction's torque about the normal, for all of it acts at one point. So a flat face that is
// much of its patch becomes a fan of triangles about its centre, each in rows^2 smaller ones. And the points where they
// act are moved away from the centre of pressure of the whole by one factor for all, which changes neither force nor
// torque of the pressure: by as much as makes their second moment, which holds a body against tilting within a step,
// that of the whole face under an even pressure. What is divided and what stays whole differ in friction's torque and
// in how a part of it that is not under pressure counts: a face that crosses the limit changes these at once.
#ifndef HYDROELASTIC_FACE_PARTS_H
#define HYDROELASTIC_FACE_PARTS_H

#include <stiction/base.h>

#include "polygon.h"

/// A face or a part of it in the world.
typedef struct face_part {
    int32_t count;
    stn_vec3 corner[POLYGON_CORNERS];
    double pressure[POLYGON_CORNERS]; // at the corners, linear between them [Pa]
    stn_vec3 centre;                  // of its area
    double level;                     // pressure there [Pa]
    double area;                      // that counts [m^2]
    stn_vec3 point;                   // where its force acts
} face_part;

/// How large the parts of a face may be.
typedef struct part_rule {
    double rows;  // of triangles in each of a face that is the whole patch, not rounded
    double area;  // of the patch, where it pushes [m^2]
    double share; // of the face in the force of the patch
    double edge;  // wanted length [m]; infinite: any
} part_rule;

/// Rows for a relative error of friction.
double part_rows(double error);

/// The centre of pressure. Of a pressure that is below 0 somewhere as if it were 0 there: the point stays in the
/// polygon, and nothing jumps.
stn_vec3 part_centre_of_pressure(const face_part *p);

/// Is it too much of its patch, or longer than wanted?
bool part_is_large(const part_rule *rule, const face_part *p);

/// Visits its parts until a visit fails, numbered by side, column and place, so that more of them change no others'
/// number; areas and forces sum to those of the whole, forces at their points to its torque.
typedef stn_status part_visit(void *to, const face_part *part, int64_t number, stn_error *err);
stn_status part_divide(const part_rule *rule, const face_part *whole, part_visit *visit, void *to, stn_error *err);

#endif
