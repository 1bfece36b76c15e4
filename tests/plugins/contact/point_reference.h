// SPDX-License-Identifier: Apache-2.0
// The best normal near a given one, by a search that knows nothing but the reaches of the two shapes: nested golden
// sections over a small square of directions n_0 + x t_1 + y t_2, in extended precision. The separation
//     s(n) = n . w_0 - excess_A(n) - excess_B(n)
// is written with w_0, the difference of the two support points along n_0, and by how much each shape reaches further
// along n than its own support point of n_0 does. Both excesses are small and free of cancellation, so that the place
// of a smooth maximum is told to about 1e-9 rad also of bodies nearly in touch.
//
// How far rounding in the poses can turn that normal is measured: B is moved by a few units in the last place of the
// largest coordinate. A normal that this turns is not unique.
#ifndef STN_POINT_REFERENCE_H
#define STN_POINT_REFERENCE_H

#include <stiction/mesh.h>

#include "point_probe.h"
#include "stn_random_pose.h"

typedef struct long_vec3 {
    long double x, y, z;
} long_vec3;

static inline long_vec3 long_of(stn_vec3 v) {
    return (long_vec3){v.x, v.y, v.z};
}
static inline long double long_dot(long_vec3 a, long_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline long_vec3 long_add(long_vec3 a, long double t, long_vec3 b) {
    return (long_vec3){a.x + t * b.x, a.y + t * b.y, a.z + t * b.z};
}
static inline long_vec3 long_cross(long_vec3 a, long_vec3 b) {
    return (long_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/// Into the axes of a rotation's columns.
static inline long_vec3 long_into(const stn_mat3 *r, long_vec3 v) {
    return (long_vec3){r->m[0][0] * v.x + r->m[1][0] * v.y + r->m[2][0] * v.z,
                       r->m[0][1] * v.x + r->m[1][1] * v.y + r->m[2][1] * v.z,
                       r->m[0][2] * v.x + r->m[1][2] * v.y + r->m[2][2] * v.z};
}
static inline long_vec3 long_out_of(const stn_mat3 *r, long_vec3 v) {
    return (long_vec3){r->m[0][0] * v.x + r->m[0][1] * v.y + r->m[0][2] * v.z,
                       r->m[1][0] * v.x + r->m[1][1] * v.y + r->m[1][2] * v.z,
                       r->m[2][0] * v.x + r->m[2][1] * v.y + r->m[2][2] * v.z};
}

enum { REFERENCE_CORNERS = 128 };
static const double reference_window = 1e-4; // rad

/// A shape seen from its support point along a direction, all in its own axes.
typedef struct reference_body {
    const placed *p;
    long_vec3 support;             // [m]
    long_vec3 scale, radial;       // of a curved one: h(d) = |scale d| + l |d_z|, radial = scale d_0 / |scale d_0|
    long double half_length, side; // and of its ends
    int32_t corner_count;          // of a polytope: corners that a turn within the window may reach,
    long_vec3 corners[REFERENCE_CORNERS]; // from the support point
} reference_body;

/// |u| - u . e for a unit e, without cancellation.
static inline long double reference_bulge(long_vec3 u, long_vec3 e) {
    long double length = sqrtl(long_dot(u, u)), along = long_dot(u, e);
    long_vec3 across = long_cross(u, e);
    return along > 0.0L ? long_dot(across, across) / (length + along) : length - along;
}

static inline void reference_add_corner(reference_body *b, long_vec3 corner, long_vec3 d, long double reach,
                                        long double nearly) {
    if (reach - long_dot(corner, d) <= nearly) {
        assert_true(b->corner_count < REFERENCE_CORNERS);
        b->corners[b->corner_count++] = long_add(corner, -1.0L, b->support);
    }
}

static inline void reference_corners(reference_body *b, long_vec3 d) {
    const stn_mesh *mesh = b->p->shape.mesh;
    stn_vec3 h = b->p->shape.half_extents;
    long double reach = -HUGE_VALL, size = 0.0L;
    int32_t count = mesh != NULL ? mesh->vertex_count : 8;
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < count; i++) {
            const double box[3] = {i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z};
            const double *x = mesh != NULL ? mesh->vertices + 3 * (size_t)i : box;
            long_vec3 corner = {x[0], x[1], x[2]};
            long double along = long_dot(corner, d);
            size = fmaxl(size, fabsl(corner.x) + fabsl(corner.y) + fabsl(corner.z));
            if (pass == 0 && along > reach) {
                reach = along;
                b->support = corner;
            } else if (pass == 1) {
                reference_add_corner(b, corner, d, reach, 8.0L * (long double)reference_window * size);
            }
        }
    }
}

static inline void reference_body_make(const placed *p, long_vec3 n, reference_body *b) {
    const stn_shape *s = &p->shape;
    long_vec3 d = long_into(&p->pose.rotation, n);
    *b = (reference_body){.p = p};
    if (s->type == STN_SHAPE_BOX || s->type == STN_SHAPE_CONVEX) {
        reference_corners(b, d);
        return;
    }
    long double r = s->radius;
    b->scale = s->type == STN_SHAPE_ELLIPSOID ? long_of(s->half_extents) : (long_vec3){r, r, r};
    b->scale.z = s->type == STN_SHAPE_CYLINDER ? 0.0L : b->scale.z;
    b->half_length = s->half_length;
    b->side = d.z < 0.0L ? -1.0L : 1.0L;
    long_vec3 u = {b->scale.x * d.x, b->scale.y * d.y, b->scale.z * d.z};
    long double length = sqrtl(long_dot(u, u));
    b->radial = length > 0.0L ? (long_vec3){u.x / length, u.y / length, u.z / length} : (long_vec3){0.0L, 0.0L, 0.0L};
    b->support = (long_vec3){b->scale.x * b->radial.x, b->scale.y * b->radial.y,
                             b->scale.z * b->radial.z + b->side * b->half_length};
}

/// By how much the shape reaches further along n, of any length, than its support point of n_0 does.
static inline long double reference_excess(const reference_body *b, long_vec3 n) {
    long_vec3 d = long_into(&b->p->pose.rotation, n);
    long double most = 0.0L;
    for (int32_t i = 0; i < b->corner_count; i++) {
        most = fmaxl(most, long_dot(b->corners[i], d));
    }
    if (b->corner_count == 0) {
        long_vec3 u = {b->scale.x * d.x, b->scale.y * d.y, b->scale.z * d.z};
        most = reference_bulge(u, b->radial);
        most += b->side * d.z < 0.0L ? 2.0L * b->half_length * fabsl(d.z) : 0.0L;
    }
    return most;
}

typedef struct reference_search {
    reference_body a, b;
    long_vec3 w, n, t[2];
    int32_t sections[2]; // along y, within each along x
} reference_search;

static inline long double reference_at(const reference_search *g, long double x, long double y) {
    long_vec3 n = long_add(long_add(g->n, x, g->t[0]), y, g->t[1]), back = {-n.x, -n.y, -n.z};
    long double s = long_dot(n, g->w) - reference_excess(&g->a, n) - reference_excess(&g->b, back);
    return s / sqrtl(1.0L + x * x + y * y);
}

/// The largest along y at this x; or, with `inner` NULL, along x at this y.
static inline long double reference_section(const reference_search *g, const long double *x, long double *best) {
    const long double golden = 0.61803398874989484820L;
    long double low = -reference_window, high = reference_window, at[2], value[2], other;
    for (int32_t k = 0; k < 2; k++) {
        at[k] = k == 0 ? high - golden * (high - low) : low + golden * (high - low);
        value[k] = x != NULL ? reference_at(g, *x, at[k]) : reference_section(g, &at[k], &other);
    }
    for (int32_t i = 0; i < g->sections[x == NULL]; i++) {
        int32_t k = value[0] < value[1];
        *(k == 0 ? &high : &low) = at[1 - k];
        at[1 - k] = at[k];
        value[1 - k] = value[k];
        at[k] = k == 0 ? high - golden * (high - low) : low + golden * (high - low);
        value[k] = x != NULL ? reference_at(g, *x, at[k]) : reference_section(g, &at[k], &other);
    }
    int32_t k = value[0] < value[1];
    *best = at[k];
    return value[k];
}

/// Where, within the window, the best normal is from n [rad], and how much more it separates. Fine: the ridges, where s
/// has a kink, are told to 1e-14 rad instead of 4e-9, which along a sharp ridge the place along it may hang on.
static inline stn_vec3 reference_turn(const placed *a, const placed *b, stn_vec3 normal, bool fine, double *gain) {
    reference_search g;
    g.sections[0] = fine ? 48 : 21;
    g.sections[1] = fine ? 32 : 21;
    long_vec3 unit = long_of(normal);
    long double length = sqrtl(long_dot(unit, unit)), x = 0.0L, y = 0.0L;
    unit = (long_vec3){unit.x / length, unit.y / length, unit.z / length};
    stn_mat3 frame = stn_contact_frame(normal);
    g.n = unit;
    g.t[0] = long_of(stn_mat3_column(&frame, 0));
    g.t[1] = long_cross(unit, g.t[0]);
    reference_body_make(a, unit, &g.a);
    reference_body_make(b, (long_vec3){-unit.x, -unit.y, -unit.z}, &g.b);
    long_vec3 apart = long_add(long_of(b->pose.position), -1.0L, long_of(a->pose.position));
    apart = long_add(apart, 1.0L, long_out_of(&b->pose.rotation, g.b.support));
    g.w = long_add(apart, -1.0L, long_out_of(&a->pose.rotation, g.a.support));
    long double here = reference_at(&g, 0.0L, 0.0L), there = reference_section(&g, NULL, &x);
    reference_section(&g, &x, &y);
    *gain = (double)(there - here);
    return there > here ? stn_vec3_make((double)x, (double)y, 0.0) : stn_vec3_zero();
}

/// How far the poses' rounding turns the best normal [rad]: the most of a few moves of B by `ulps` units of rounding of
/// the largest length.
static inline double reference_doubt(const placed *a, const placed *b, stn_vec3 normal, double reach) {
    stn_random r = {7};
    double unit = 1.1e-16, doubt = 0.0, gain;
    enum { MOVES = 8, ULPS = 8 };
    stn_vec3 here = reference_turn(a, b, normal, true, &gain);
    for (int32_t i = 0; i < MOVES; i++) {
        placed moved = *b;
        stn_vec3 turn = stn_vec3_scale(ULPS * unit, random_unit(&r));
        stn_pose nudge = stn_pose_make(stn_quat_exp(turn), stn_vec3_scale(ULPS * unit * reach, random_unit(&r)));
        moved.pose.rotation = stn_mat3_mul(&nudge.rotation, &b->pose.rotation);
        moved.pose.position = stn_vec3_add(b->pose.position, nudge.position);
        doubt = worse(doubt, stn_vec3_norm(stn_vec3_sub(reference_turn(a, &moved, normal, true, &gain), here)));
    }
    return doubt;
}

/// Whether n is across a face of a box or hull or along a cylinder's axis.
static inline bool reference_is_flat(const placed *p, stn_vec3 n) {
    const stn_mesh *mesh = p->shape.mesh;
    stn_vec3 d = stn_mat3_apply_transposed(&p->pose.rotation, n);
    double most = p->shape.type == STN_SHAPE_BOX        ? fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)))
                  : p->shape.type == STN_SHAPE_CYLINDER ? fabs(d.z)
                                                        : 0.0;
    for (int32_t i = 0; mesh != NULL && i < mesh->polytope->face_count; i++) {
        const double *plane = mesh->polytope->planes + 4 * (size_t)i;
        most = worse(most, plane[0] * d.x + plane[1] * d.y + plane[2] * d.z);
    }
    return most > 1.0 - 1e-15;
}

#endif
