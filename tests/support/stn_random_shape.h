// SPDX-License-Identifier: Apache-2.0
// Shapes by type, for property tests and benchmarks.
#ifndef STN_RANDOM_SHAPE_H
#define STN_RANDOM_SHAPE_H

#include <stiction/geometry.h>

/// A shape of this type and of these sizes [m], as many as it needs; a half space for types that are no such shape.
static inline stn_shape shape_of_sizes(stn_shape_type type, double s, double t, double u) {
    switch (type) {
    case STN_SHAPE_SPHERE:
        return stn_shape_sphere(s);
    case STN_SHAPE_BOX:
        return stn_shape_box(stn_vec3_make(s, t, u));
    case STN_SHAPE_CAPSULE:
        return stn_shape_capsule(s, t);
    case STN_SHAPE_CYLINDER:
        return stn_shape_cylinder(s, t);
    case STN_SHAPE_ELLIPSOID:
        return stn_shape_ellipsoid(stn_vec3_make(s, t, u));
    default:
        return stn_shape_half_space();
    }
}

#endif
