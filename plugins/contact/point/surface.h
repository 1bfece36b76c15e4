// SPDX-License-Identifier: Apache-2.0
// A convex body against a surface of triangles: what the files surface*.c share. Everything in the mesh's frame.
//
// The surface is one-sided: outside is where its triangles look. Along a unit direction m the body is
// s(m) = min over the body of m . (x - p) away from a point p of the surface. At every face, edge and corner the
// surface admits some directions: a face its normal n; an edge that is convex those between the normals of its two
// faces, a border those between the normal of its face and the plane of it; a corner m with m . e <= 0 along all of its
// edges. Contacts are where s is largest, within the directions of a face, edge or corner, while the nearest point of
// the body lies over it: of bodies apart these are the nearest points. Flat and concave edges admit no direction of
// their own and cannot be felt.
#ifndef STN_PLUGIN_CONTACT_POINT_SURFACE_H
#define STN_PLUGIN_CONTACT_POINT_SURFACE_H

#include <stiction/mesh_query.h>

#include "gjk.h"

/// Points in groups of nearly one normal, each reduced by itself.
enum { SURFACE_GROUPS = 12 };
typedef struct surface_points {
    int32_t group_count, limit; // most points of a group
    double wide;                // margins beyond this are cut to what is nearest [m]; infinite in a step
    double near;                // points closer than this, of one group, are one [m]
    stn_vec3 normal[SURFACE_GROUPS];
    manifold group[SURFACE_GROUPS];
} surface_points;

/// What the body would have on a half space: kept, as the next triangle often lies in the same plane.
typedef struct plane_points {
    stn_vec3 normal;
    double height;
    manifold points;
} plane_points;

/// A unit direction towards the body, and how low the body reaches along it.
typedef struct surface_direction {
    stn_vec3 m;
    double low;
} surface_direction;

/// Direction i to the front: what comes next often comes out the same way.
static inline void surface_prefer(surface_direction *list, int32_t i) {
    const surface_direction chosen = list[i];
    list[i] = list[0];
    list[0] = chosen;
}

/// Behind the others, or in the place of the last of `most`.
static inline void surface_note(surface_direction *list, int32_t *count, int32_t most, stn_vec3 m, double low) {
    list[*count < most ? (*count)++ : most - 1] = (surface_direction){m, low};
}

/// Of a triangle along m.
static inline double surface_highest(stn_vec3 m, const stn_vec3 corner[3]) {
    double a = stn_vec3_dot(m, corner[0]), b = stn_vec3_dot(m, corner[1]), c = stn_vec3_dot(m, corner[2]);
    double top = a > b ? a : b;
    return c > top ? c : top;
}

/// Directions along which triangles of this surface were further below the body than the margin. Triangles beside each
/// other mostly are so along the same.
enum { AWAY_MAX = 8, AWAY_FIRST = 4 }; // that are kept; that are tried
typedef struct away_list {
    int32_t count;
    bool fine;     // are triangles small beside the body?
    double beyond; // how far below is far enough [m]
    surface_direction along[AWAY_MAX];
} away_list;

typedef struct surface {
    const stn_mesh *mesh;
    const int32_t *across;
    const uint8_t *bends; // stn_mesh_bends
    bool filled;          // without bottom: a height field
    convex body;          // of a sphere or capsule its core
    double radius;        // of the body around its core
    double margin;
    double size;     // that tolerances are measured by
    stn_vec3 centre; // of the body, no point of which is further from it than `reach`
    double reach;
    surface_points *points;
    plane_points *plane;
    away_list *away;
} surface;

typedef struct facet {
    int32_t id;
    stn_vec3 corner[3], normal;
    stn_vec3 outward[3]; // unit, in its plane across the edge from corner k to the next
    stn_vec3 lowest;     // of the body's core along the normal
    bool settled;        // the same is lowest along all directions within surface_settled of the normal
} facet;

static const double surface_settled = 0.1; // [rad]

// Feature codes of the mesh: a triangle's number, a vertex's, or an edge's.
static const uint32_t surface_vertex_code = 1U << 30, surface_edge_code = 1U << 31;

/// Directions this close to parallel [rad] share a stretch of an edge.
static const double surface_slack = 0.04;

/// Most triangles around a vertex that are looked at.
enum { FAN_CAPACITY = 64 };
/// The triangles around a vertex, each as the edge that leaves it, reached from one of them across shared edges.
typedef struct fan {
    int32_t count, edge[FAN_CAPACITY];
} fan;

stn_vec3 surface_vertex(const surface *s, int32_t id);
stn_vec3 surface_normal(const surface *s, int32_t triangle);
void surface_fan(const surface *s, int32_t edge, fan *out);
/// Is a point behind the surface: inside of a closed one, below an open one, but not beyond its border? Not further
/// away than `within` from it. The nearest point; `below`: the point lies straight below that one's triangle, not at a
/// concave edge or corner.
bool surface_is_behind(const surface *s, stn_vec3 p, double within, stn_mesh_point *nearest, bool *below);
/// s(m) from p, and where the body's core is lowest.
double surface_gap(const surface *s, stn_vec3 m, stn_vec3 p, stn_vec3 *lowest);
/// A direction from a point to what is nearest of the body, or to its middle where that is not easily told. False: the
/// body is not further away than `beyond`.
bool surface_towards_body(const surface *s, stn_vec3 point, double beyond, stn_vec3 *m);
/// Is the body a line, as an edge of something larger, the rest of which nobody knows here?
bool surface_is_line(const surface *s);
/// Is too much of the body behind the plane across m through p for a contact along m?
bool surface_is_passed(const surface *s, stn_vec3 m, stn_vec3 p);
/// The core of the body against a triangle alone.
separation surface_part(const surface *s, const stn_vec3 corner[3]);
/// Does the body hold the point, but for a tolerance?
bool surface_holds(const surface *s, stn_vec3 point, double tolerance);
/// Adds a point: A is the body, B the surface.
void surface_add(const surface *s, stn_vec3 on_body, stn_vec3 on_surface, stn_vec3 m, uint32_t feature_a,
                 uint32_t feature_b);

/// Drops overlaps along directions that are not the way out: see there.
void surface_settle(const surface *s);

/// Adds points for triangles that overlap the body by more than the points tell.
void surface_catch(const surface *s);

void surface_edge_points(const surface *s, const facet *f, int32_t k);
void surface_vertex_points(const surface *s, const facet *f, int32_t k);

/// Normals from A, the convex body, into B, a mesh or height field; in the world. `limit` and `wide` of `out` are
/// given, the latter increased to 4 times the body's size.
void collide_surface(posed a, posed b, double margin, surface_points *out);

#endif
