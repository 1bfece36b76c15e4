// SPDX-License-Identifier: Apache-2.0
// Pieces of the surface of a body, and where two of them overlap.
#ifndef STN_PLUGIN_CONTACT_POINT_PIECE_H
#define STN_PLUGIN_CONTACT_POINT_PIECE_H

#include "clip.h"
#include "gjk.h"

typedef enum piece_kind { PIECE_FACE, PIECE_CAP, PIECE_LINE, PIECE_POLYGON } piece_kind;

typedef struct piece {
    piece_kind kind;
    rectangle face;
    disk cap;
    polygon line;   // or the polygon
    int32_t corner; // of a hull: the furthest along the direction
    bool alone;     // of a hull: no other face is beside it (hull_face)
} piece;

/// The piece of surface that looks along `direction`: of a box or hull a face, of a cylinder the cap up to 45 degrees,
/// then the side line, of a capsule the side line.
void piece_towards(const convex *c, stn_vec3 direction, piece *out);
/// How far inside the outline of a face or cap a point lies, seen along its normal; negative: outside.
double piece_clearance(const piece *p, stn_vec3 point);

/// The two pieces that look at each other along n, and where they overlap.
typedef struct facing {
    double size, margin; // of the pair: the length that tolerances are measured by, and how far points may be apart
    piece a, b;
    overlap points;
    bool on_b; // the points lie on B instead of A
} facing;
/// Finds them; size and margin are given.
void face_along(const convex *a, const convex *b, stn_vec3 n, facing *f);
/// Where the two pieces of `f` overlap.
void facing_overlap(facing *f, stn_vec3 n);
/// Adds the points of `more` within the margin that `f` does not have yet, as their codes tell.
void facing_join(facing *f, const facing *more, stn_vec3 n);
/// Adds the points of the overlap, and the deepest one unless one of these is as deep; in A's axes, A first.
///
/// The deepest point of a cap's rim goes round it with the direction of a tilt, however small. Alone it would shift the
/// middle of the points from one side to the other while the tilt passes through zero, and a body at rest would be
/// kicked to and fro for ever. So its counterweight comes with it, the point across the middle of the others, and which
/// of those stay does not hang on the tilt.
enum { CODE_DEEPEST = 1 << 29, CODE_ACROSS };
void add_facing(posed a, const facing *f, const separation *deepest, manifold *out);

/// The face of a hull (posed in the common frame) at its furthest corner that looks most along `direction`; returns
/// that corner. `alone`: no edge from there and no other face there lies nearly across the direction, so that this face
/// alone may carry.
int32_t hull_face(const stn_shape *hull, const stn_pose *pose, stn_vec3 direction, bool *alone, polygon *out);

#endif
