// SPDX-License-Identifier: Apache-2.0
// From a polygon of a contact surface to one contact of a patch.
#ifndef HYDROELASTIC_FACE_H
#define HYDROELASTIC_FACE_H

#include <stiction/contact.h>

#include "polygon.h"
#include "solid.h"

/// Where the faces of a pair go. Everything is cut in the frame of one of the two shapes; M is the compliant one (the
/// first of two), N the other.
typedef struct face_sink {
    const stn_model *model;
    const stn_contact_pair *pair;
    stn_contact_set *set;
    stn_error *err;
    stn_pose frame; // X_WF of the shape whose frame it is cut in
    bool m_is_a;    // M is geometry a of the pair
    double margin;  // faces with phi0 beyond are left out [m]
    bool begun;     // there is a patch
} face_sink;

/// A linear pressure p(x) = offset + gradient . x [Pa].
typedef struct pressure {
    stn_vec3 gradient; // [Pa/m]
    double offset;     // [Pa]
} pressure;

static inline double pressure_at(const pressure *p, stn_vec3 x) {
    return stn_vec3_dot(p->gradient, x) + p->offset;
}

/// How much of a face counts and how stiff it is, from the slope of a field along the normal into it.
///
/// A field whose slope is `slope` [Pa/m] of at most `steepest` (the norm of its gradient): 1 as long as the pressure
/// grows inwards, then less, 0 from 22.5 degrees on: there it is the far side of something thin.
double face_weight(double slope, double steepest);
/// What is nearly along the field's levels still needs a stiffness > 0 [Pa/m].
double face_slope(double slope, double steepest);

/// Adds the face of polygon `cut` as a contact: `normal` out of N into M, `p` the pressure on it, `g` how steeply the
/// pressure grows as the two approach [Pa/m], `weight` the share of the area that counts, `size` the length [m] that
/// tolerances are measured by, elements of M and N.
stn_status face_add(face_sink *sink, polygon *cut, stn_vec3 normal, const pressure *p, double g, double weight,
                    double size, int32_t element_m, int32_t element_n);

#endif
