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

/// Keeps what is inside of four planes. Most polygons are outside as a whole: that is seen first.
static inline void polygon_clip_four(polygon *cut, const four_planes *f, double tolerance) {
    double height[4][POLYGON_CORNERS], lowest[4] = {0.0, 0.0, 0.0, 0.0};
    double highest[4] = {-1.0, -1.0, -1.0, -1.0};
    for (int32_t i = 0; i < cut->count; i++) {
        stn_vec3 p = cut->corner[i];
        for (int32_t k = 0; k < 4; k++) {
            double h = f->x[k] * p.x + f->y[k] * p.y + f->z[k] * p.z + f->at[k];
            height[k][i] = h;
            lowest[k] = h < lowest[k] ? h : lowest[k];
            highest[k] = i == 0 || h > highest[k] ? h : highest[k];
        }
    }
    if (highest[0] < -tolerance || highest[1] < -tolerance || highest[2] < -tolerance || highest[3] < -tolerance) {
        cut->count = 0;
        return;
    }
    bool fresh = true; // the heights are those of the corners
    for (int32_t k = 0; k < 4 && cut->count >= 3; k++) {
        if (lowest[k] >= -tolerance) {
            continue;
        }
        if (fresh) {
            polygon_clip(cut, height[k], tolerance);
        } else {
            polygon_clip_plane(cut, stn_vec3_make(f->x[k], f->y[k], f->z[k]), f->at[k], tolerance);
        }
        fresh = false;
    }
}

/// How two pressures, or a pressure and something rigid, stand on each other where a face may be.
typedef struct balance {
    stn_vec3 normal; // out of N into M
    double offset;   // height above the plane of equal pressure = normal . x + offset; of two fields [m]
    double g;        // slope of the pressure as both approach [Pa/m]
    stn_vec3 gain;   // pressure that the face gains as N moves, seen from M [Pa/m]; along the normal, into M, it is g
    double weight;   // share of the area that counts; 0: no face
} balance;

/// Of a field with a gradient of length `steep` on a rigid surface.
static inline balance balance_rigid(const pressure *p, double steep, stn_vec3 normal) {
    double slope = stn_vec3_dot(p->gradient, normal);
    balance b = {.normal = normal, .weight = steep > 0.0 ? face_weight(slope, steep) : 0.0};
    b.g = face_slope(slope, steep);
    b.gain = p->gradient;
    return b;
}

/// Of two fields, their gradients of length `steep_m`, `steep_n`.
static inline balance balance_of(const pressure *m, double steep_m, const pressure *n, double steep_n) {
    stn_vec3 excess = stn_vec3_sub(m->gradient, n->gradient);
    double steep = stn_vec3_norm(excess);
    if (!(steep > CUT_LEVEL * (steep_m + steep_n))) { // equal everywhere or nowhere
        return (balance){0};
    }
    balance b = {.normal = stn_vec3_scale(1.0 / steep, excess), .offset = (m->offset - n->offset) / steep};
    double into_m = stn_vec3_dot(m->gradient, b.normal), into_n = -stn_vec3_dot(n->gradient, b.normal);
    b.weight = face_weight(into_m, steep_m) * face_weight(into_n, steep_n);
    double gm = face_slope(into_m, steep_m), gn = face_slope(into_n, steep_n);
    b.g = gm * gn / (gm + gn);
    b.gain = stn_vec3_scale(-into_m / steep, n->gradient);
    return b;
}

/// Everything of a face but its polygon, area and centre.
static inline void face_set(face *f, const balance *b, const pressure *p, int32_t element_m, int32_t element_n) {
    f->normal = b->normal;
    f->g = b->g;
    f->gain = b->gain;
    f->weight = b->weight;
    f->p = *p;
    f->element_m = element_m;
    f->element_n = element_n;
}

#endif
