// SPDX-License-Identifier: Apache-2.0
// Cuts through the cells of a field.
#ifndef HYDROELASTIC_CUT_H
#define HYDROELASTIC_CUT_H

#include "meet.h"

/// Lengths below this share of an element's size are none.
#define CUT_LEVEL 1e-12

static inline pressure cell_pressure(const cell *c, double modulus) {
    pressure p = {stn_vec3_scale(modulus, c->gradient), modulus * c->offset};
    return p;
}

static inline bool cell_holds(const cell *c, stn_vec3 p) {
    bool inside = true;
    for (int32_t k = 0; k < c->face_count; k++) {
        const four_planes *f = &c->faces[k / 4];
        double height = f->x[k % 4] * p.x + f->y[k % 4] * p.y + f->z[k % 4] * p.z + f->at[k % 4];
        inside = inside && height >= -CUT_LEVEL * c->size;
    }
    return inside;
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

static inline void heights_of_four(const four_points *p, stn_vec3 normal, double offset, double *height) {
    for (int32_t k = 0; k < 4; k++) {
        height[k] = normal.x * p->x[k] + normal.y * p->y[k] + normal.z * p->z[k] + offset;
    }
}

/// Heights of the corners of a cell above a plane normal . x + offset. Most cells are tetrahedra.
static inline void heights_of(const four_points *p, int32_t groups, stn_vec3 normal, double offset, double *height) {
    heights_of_four(p, normal, offset, height);
    if (groups > 1) {
        heights_of_four(p + 1, normal, offset, height + 4);
    }
}

static inline int32_t above_of_four(const double *height, double tolerance) {
    return (height[0] >= -tolerance) + (height[1] >= -tolerance) + (height[2] >= -tolerance) +
           (height[3] >= -tolerance);
}

/// Does a plane pass between the corners, whose heights above it these are? What lies on it counts as above, so that of
/// two neighbours whose common face lies on the plane one is cut.
static inline bool passes_between(const double *height, int32_t groups, double tolerance) {
    int32_t above = above_of_four(height, tolerance);
    if (groups > 1) {
        above += above_of_four(height + 4, tolerance);
    }
    return above != 0 && above != 4 * groups;
}

/// The slice of a cell where the height, given at its corners, is 0; some above, some below (passes_between). Around
/// it: every edge that is crossed, seen from above to below, is left through the face on its right, which the next one
/// has on its left.
static inline void cell_slice(const cell *c, const double *height, double tolerance, polygon *out) {
    int8_t entered[CELL_FACES] = {-1, -1, -1, -1, -1, -1, -1, -1};
    int32_t first = -1, turned[CELL_EDGES];
    for (int32_t e = 0; e < c->edge_count; e++) {
        const uint8_t *corner = c->edges[e].corner;
        bool up = height[corner[0]] >= -tolerance;
        turned[e] = up ? 0 : 1;
        if (up != (height[corner[1]] >= -tolerance)) {
            entered[c->edges[e].face[turned[e]]] = (int8_t)e;
            first = e;
        }
    }
    out->count = 0;
    for (int32_t e = first; e >= 0 && out->count < CELL_FACES;) {
        int32_t u = c->edges[e].corner[turned[e]], d = c->edges[e].corner[1 - turned[e]];
        out->corner[out->count++] = polygon_crossing(cell_corner(c, d), height[d], cell_corner(c, u), height[u]);
        e = entered[c->edges[e].face[1 - turned[e]]];
        e = e == first ? -1 : e;
    }
}

/// Keeps what is inside of a cell. Most polygons are outside of its first four planes as a whole: that is seen first.
static inline void polygon_clip_faces(polygon *cut, const four_planes *f, int32_t count, double tolerance) {
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
    for (int32_t k = 4; k < count && cut->count >= 3; k++) {
        const four_planes *g = &f[k / 4];
        polygon_clip_plane(cut, stn_vec3_make(g->x[k % 4], g->y[k % 4], g->z[k % 4]), g->at[k % 4], tolerance);
    }
}

/// How two pressures, or a pressure and something rigid, stand on each other where a face may be.
typedef struct balance {
    stn_vec3 normal; // out of N into M
    double offset;   // height above the plane of equal pressure = normal . x + offset; of two fields [m]
    double g;        // slope of the pressure as both approach [Pa/m]
    double rise;     // the same of the fields themselves, 0 to g [Pa/m]
    stn_vec3 gain;   // pressure that the face gains as N moves, seen from M [Pa/m]; along the normal, into M, it is g
    double weight;   // share of the area that counts; 0: no face
} balance;

/// Of a field with a gradient of length `steep` on a rigid surface.
static inline balance balance_rigid(const pressure *p, double steep, stn_vec3 normal) {
    double slope = stn_vec3_dot(p->gradient, normal);
    balance b = {.normal = normal, .weight = steep > 0.0 ? face_weight(slope, steep) : 0.0};
    b.g = face_slope(slope, steep);
    b.rise = fmax(0.0, slope);
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
    b.rise = into_m > 0.0 && into_n > 0.0 ? into_m * into_n / (into_m + into_n) : 0.0;
    // of a point that goes half of N's way: along the surface, too
    stn_vec3 along = stn_vec3_mul_add(m->gradient, -into_m, b.normal);
    b.gain = stn_vec3_mul_add(stn_vec3_scale(-into_m / steep, n->gradient), 0.5, along);
    return b;
}

/// Everything of a face but its polygon, area and centre.
static inline void face_set(face *f, const balance *b, const pressure *p, bool flat, int32_t element_m,
                            int32_t element_n) {
    f->normal = b->normal;
    f->g = b->g;
    f->rise = b->rise;
    f->gain = b->gain;
    f->weight = b->weight;
    f->p = *p;
    f->flat = flat;
    f->element_m = element_m;
    f->element_n = element_n;
}

#endif
