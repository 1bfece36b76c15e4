// SPDX-License-Identifier: Apache-2.0
// Flat pieces of two surfaces that face each other, and the points where they overlap.
//
// Every piece lives in the common frame. All of them are seen along the contact normal n (unit): a point q of the
// second piece lies over the point q - h n of the first one's plane, at height h = n . (q - q'), which is the
// separation there.
#ifndef STN_PLUGIN_CONTACT_POINT_CLIP_H
#define STN_PLUGIN_CONTACT_POINT_CLIP_H

#include "pair.h"

/// Corners in order around a convex face, or the two ends of a line. Codes name corners and the edges behind them.
enum { POLYGON_CAPACITY = STN_OUTLINE_MAX };
typedef struct polygon {
    int32_t count;   // 3 or more, 2, or 0: nothing
    stn_vec3 normal; // outward, of a face
    stn_vec3 corner[POLYGON_CAPACITY];
    uint32_t corner_code[POLYGON_CAPACITY], edge_code[POLYGON_CAPACITY];
    uint32_t face_code;
} polygon;

/// A rectangle centre + x u + y v, |x| <= hu, |y| <= hv; normal outward, across u and v. Side 0: x = hu,
/// 1: y = hv, 2: x = -hu, 3: y = -hv; corner k lies between sides k and k + 1.
typedef struct rectangle {
    stn_vec3 centre, u, v, normal;
    double hu, hv;
    uint32_t corner_code[4], edge_code[4]; // edge k is side k
    uint32_t face_code;
} rectangle;

/// A disk centre + radius (cos s u + sin s v); normal outward, across u and v. Codes, counted from `code`: 0..3 its
/// fixed rim points, then where its rim crosses something, and its flat.
enum { CODE_RIM_CROSSING = 4, CODE_CAP = 6, DISK_CODES = 8 };
typedef struct disk {
    stn_vec3 centre, u, v, normal;
    double radius;
    uint32_t code;
} disk;

/// A point of the overlap: on the first piece's plane, and its height over it.
typedef struct overlap_point {
    stn_vec3 p;
    double h;
    uint32_t first, second; // feature codes
} overlap_point;

enum { OVERLAP_CAPACITY = 40 };
typedef struct overlap {
    int32_t count;
    overlap_point points[OVERLAP_CAPACITY];
    double near;       // points closer than this are one [m]
    bool lines;        // two lines: their points do not lie straight over each other
    stn_vec3 other[2]; // then the points on the second one
} overlap;

/// Corners of the overlap of a rectangle (first) with a polygon (second), n from first to second. `tolerance` [m]
/// widens the rectangle, so that pieces that share an edge do not miss each other.
void clip_rectangle(const rectangle *r, const polygon *q, stn_vec3 n, double tolerance, overlap *out);
/// The same with any face as the first piece. Corners that are higher than the margin may be missing; there is none
/// only where the pieces do not overlap.
void clip_polygon(const polygon *p, const polygon *q, stn_vec3 n, double tolerance, double margin, overlap *out);
/// Rim points, corners and crossings in the overlap of a disk (first) with a polygon or a disk (second).
void clip_disk_polygon(const disk *d, const polygon *q, stn_vec3 n, overlap *out);
void clip_disk_disk(const disk *first, const disk *second, stn_vec3 n, overlap *out);
/// Both ends of the stretch that two nearly parallel lines share; nothing when they are 2.5 degrees apart or more.
void clip_lines(const polygon *first, const polygon *second, stn_vec3 n, overlap *out);
/// The rectangle's outline as a polygon.
void polygon_of(const rectangle *r, polygon *out);
/// Smallest height; infinite without points.
double overlap_depth(const overlap *o);

/// The cap of a cylinder on the positive or negative side of its axis.
void cylinder_cap(const stn_shape *cylinder, const stn_pose *pose, bool positive, disk *out);
/// The line on the side of a cylinder or capsule that lies furthest along `direction`; no corners when the direction
/// runs along a capsule's axis.
enum { CODE_BETWEEN = 2 * DISK_CODES, CODE_LINE_END, CODE_LINE = CODE_LINE_END + 2 };
void side_line(const stn_shape *shape, const stn_pose *pose, stn_vec3 direction, polygon *out);
/// The face of a box (posed in the common frame) that looks most along `direction`.
void box_face(stn_vec3 half_extents, const stn_pose *pose, stn_vec3 direction, rectangle *out);

#endif
