// SPDX-License-Identifier: Apache-2.0
// A cylinder against a box or a cylinder, in A's axes: the signed distance and its normal, from a flat piece's normal
// when that can be shown to be exact (cylinder_axis.c) and else from the general convex method (gjk.c, epa.c); then the
// points where the two pieces of surface that look along the normal overlap: a face, a cap, or a side line. A cap rests
// on its rim, a side on the ends of its line; the exact deepest point is added unless one of these is as deep.
#include "piece.h"

static void convex_cylinder(posed a, posed b, double margin, manifold *out) {
    convex first = {a.shape, stn_pose_identity()}, second = {b.shape, relative_pose(a.pose, b.pose)};
    axis_candidate axis = best_axis(&first, &second, margin);
    if (axis.separation > margin) {
        return;
    }
    double size = pair_size(a.shape, b.shape);
    facing f;
    separation s;
    face_along(&first, &second, axis.n, 1e-11 * size, &f);
    if (!axis_is_exact(&first, &second, &axis, &f, &s)) {
        if (!rim_is_exact(&first, &second, axis.n, &s)) {
            s = convex_separation(&first, &second, margin);
        }
        if (s.phi > margin) {
            return;
        }
        face_along(&first, &second, s.normal, 1e-11 * size, &f);
    }
    add_facing(a, &f, &s, margin, size, out);
}

void box_cylinder(posed a, posed b, double margin, manifold *out) {
    convex_cylinder(a, b, margin, out);
}

void cylinder_cylinder(posed a, posed b, double margin, manifold *out) {
    convex_cylinder(a, b, margin, out);
}
