// SPDX-License-Identifier: Apache-2.0
// Cuts through the tetrahedra of a field.
#ifndef HYDROELASTIC_CUT_H
#define HYDROELASTIC_CUT_H

#include "meet.h"

/// Lengths below this share of an element's size are none.
#define CUT_LEVEL 1e-12

static inline stn_vec3 cell_corner(const cell *c, int32_t k) {
    return stn_vec3_make(c->x[k], c->y[k], c->z[k]);
}

static inline pressure cell_pressure(const cell *c, double modulus) {
    pressure p = {stn_vec3_scale(modulus, c->gradient), modulus * c->offset};
    return p;
}

/// A pressure in B's frame, seen from A.
static inline pressure pressure_seen(const pressure *p, const stn_pose *ab) {
    stn_vec3 gradient = stn_mat3_apply(&ab->rotation, p->gradient);
    pressure seen = {gradient, p->offset - stn_vec3_dot(gradient, ab->position)};
    return seen;
}

/// Pose of B seen from A.
static inline stn_pose pose_between(const stn_pose *a, const stn_pose *b) {
    stn_mat3 back = stn_mat3_transpose(&a->rotation);
    stn_pose r = {stn_mat3_mul(&back, &b->rotation), stn_mat3_apply(&back, stn_vec3_sub(b->position, a->position))};
    return r;
}

/// Does a plane pass between the corners, whose heights above it these are? What lies on it counts as above, so that of
/// two neighbours whose common face lies on the plane one is cut.
static inline bool passes_between(const double height[4], double tolerance) {
    int32_t above =
        (height[0] >= -tolerance) + (height[1] >= -tolerance) + (height[2] >= -tolerance) + (height[3] >= -tolerance);
    return above != 0 && above != 4;
}

/// The slice of a tetrahedron where the height, given at its corners, is 0; some above, some below (passes_between).
static inline void cell_slice(const cell *c, const double height[4], double tolerance, polygon *out) {
    int32_t up[4], down[4], ups = 0, downs = 0;
    for (int32_t k = 0; k < 4; k++) {
        if (height[k] >= -tolerance) {
            up[ups++] = k;
        } else {
            down[downs++] = k;
        }
    }
    // around the slice: each edge that is crossed shares a face with the next
    int32_t edges = ups == 2 ? 4 : 3;
    for (int32_t i = 0; i < edges; i++) {
        int32_t u = ups == 1 ? up[0] : ups == 3 ? up[i] : up[i / 2];
        int32_t d = ups == 3 ? down[0] : ups == 1 ? down[i] : down[(i + 1) / 2 % 2];
        out->corner[i] = polygon_crossing(cell_corner(c, d), height[d], cell_corner(c, u), height[u]);
    }
    out->count = edges;
}

/// Keeps what is inside a tetrahedron of B, seen from A.
static inline void polygon_clip_cell(polygon *cut, const cell *c, const stn_pose *ab, double tolerance) {
    for (int32_t k = 0; k < 4 && cut->count >= 3; k++) {
        stn_vec3 face = stn_mat3_apply(&ab->rotation, stn_vec3_make(c->face_x[k], c->face_y[k], c->face_z[k]));
        polygon_clip_plane(cut, face, c->face_at[k] - stn_vec3_dot(face, ab->position), tolerance);
    }
}

#endif
