// SPDX-License-Identifier: Apache-2.0
// Random shapes to put into contact, and their sizes.
#ifndef STN_POINT_RANDOM_H
#define STN_POINT_RANDOM_H

#include "point_hulls.h"
#include "point_probe.h"
#include "stn_random_shape.h"

static inline stn_shape random_shape(stn_random *r, stn_context *context, stn_shape_type type) {
    double s = random_size(r, 0.2, 2.0), t = random_size(r, 0.2, 2.0), u = random_size(r, 0.2, 2.0);
    return type == STN_SHAPE_CONVEX ? stn_shape_mesh(hull_random(r, context, stn_vec3_make(s, t, u)))
                                    : shape_of_sizes(type, s, t, u);
}

static inline double size_of(const placed *p) {
    const stn_mesh *mesh = p->shape.mesh;
    stn_vec3 half = mesh != NULL ? stn_vec3_scale(0.5, stn_vec3_sub(mesh->bounds.upper, mesh->bounds.lower))
                                 : p->shape.half_extents;
    return p->shape.radius + p->shape.half_length + half.x + half.y + half.z;
}

/// What errors are measured by: the size of the smaller body, and what rounding in the larger one's coordinates allows.
static inline double size_of_pair(const placed *a, const placed *b) {
    double s = size_of(a), t = size_of(b);
    bool plane = b->shape.type == STN_SHAPE_HALF_SPACE;
    return plane ? s : fmin(s, t) + 1e-4 * fmax(s, t);
}

#endif
