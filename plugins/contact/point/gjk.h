// SPDX-License-Identifier: Apache-2.0
// Signed distance of two convex bodies by their support points alone.
#ifndef STN_PLUGIN_CONTACT_POINT_GJK_H
#define STN_PLUGIN_CONTACT_POINT_GJK_H

#include "pair.h"

/// A body in the common frame. A capsule stands for its segment: its radius is the caller's. A shape of type surface
/// stands for one triangle, whose corners are the columns of the rotation; half_extents: its size.
typedef struct convex {
    const stn_shape *shape;
    stn_pose pose;
} convex;

/// A vertex of the Minkowski difference B - A and the points that it comes from.
typedef struct vertex {
    stn_vec3 w, a, b; // w = b - a
} vertex;

/// The nearest points of A and B, negative distance in overlap: phi = n . (b - a), n unit from A into B. In overlap n
/// is the direction of the smallest translation that separates.
typedef struct separation {
    double phi;
    stn_vec3 normal, a, b;
} separation;

stn_vec3 convex_support(const convex *c, stn_vec3 direction);
/// Furthest vertex of B - A in a direction.
vertex difference_support(const convex *a, const convex *b, stn_vec3 direction);

/// The signed distance. Beyond the margin the search ends when that is certain: phi is then an upper bound, > margin.
separation convex_separation(const convex *a, const convex *b, double margin);
/// Turns the normal of a nearly found separation, of which one body is curved, to the best one nearby; the other
/// members follow from it. phi comes in as an upper bound of what any normal separates.
void separation_refine(const convex *a, const convex *b, separation *found);
static inline bool is_ellipsoid(const convex *c) {
    return c->shape->type == STN_SHAPE_ELLIPSOID;
}
/// The smallest radius that an ellipsoid is curved with: everywhere a ball of it touches from inside. Of others 0.
static inline double smallest_radius(const convex *c) {
    stn_vec3 e = c->shape->half_extents;
    double least = fmin(e.x, fmin(e.y, e.z));
    return is_ellipsoid(c) ? least * (least / fmax(e.x, fmax(e.y, e.z))) : 0.0;
}
/// Curved: other than corners, edges and faces.
static inline bool is_round(const convex *c) {
    return c->shape->type == STN_SHAPE_CYLINDER || is_ellipsoid(c);
}
/// Corners of B - A around the origin, found of bodies that overlap; count 4, or 0 when there are none.
typedef struct simplex {
    int32_t count;
    vertex corner[4];
} simplex;
/// The same for bodies that are apart; false when they overlap or touch. `least`: lower bound of the distance. `around`
/// (NULL: not wanted) is written when they overlap.
bool convex_apart_or_around(const convex *a, const convex *b, double margin, separation *out, double *least,
                            simplex *around);
/// The same without corners.
bool convex_apart(const convex *a, const convex *b, double margin, separation *out, double *least);
/// The better one of what was found of bodies that are apart and the next.
separation convex_best(const convex *a, const convex *b, const separation *found);
/// The same for bodies that overlap or touch (expanding polytope), begun with the corners of `around` where it has
/// some.
separation convex_penetration(const convex *a, const convex *b, const simplex *around);
/// The signed distance of polyhedra that are apart or overlap by little, where that can be proved without the polytope;
/// false: it is not known. Beyond the margin phi is an upper bound, > margin.
bool shallow_separation(const convex *a, const convex *b, double margin, separation *out);
/// No direction separates bodies better that overlap by d > 0 along n (unit, from A into B): n is the normal of a flat
/// side of B - A, and the foot of the origin lies inside of its outline by the clearance rho. `from_a_to_b`: from a
/// point of A, around which it holds a ball, to one of B; `balls`: the two radii, which may be 0.
/// The second one: what is left to show when no direction is better that makes an angle with -n whose cosine is at
/// least `cosine`, <= 0.
bool flat_side_is_nearest(stn_vec3 n, stn_vec3 from_a_to_b, double balls, double d, double rho);
bool nearest_with_beyond(stn_vec3 n, stn_vec3 from_a_to_b, double balls, double d, double cosine);
/// The signed distance of a cylinder in its own axes (A) and a hull that are apart or overlap by little, where it can
/// be proved; false: it is not known. Beyond the margin phi is an upper bound, > margin.
bool cylinder_hull_separation(const convex *a, const convex *b, double margin, separation *out);

#endif
