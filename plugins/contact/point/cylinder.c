// SPDX-License-Identifier: Apache-2.0
// A cylinder against a box or a cylinder, in A's axes: the signed distance and its normal from the general convex
// method (gjk.c, epa.c), then the points where the two pieces of surface that look along the normal overlap: a face, a
// cap, or a side line. A cap rests on its rim, a side on the ends of its line; the exact deepest point is added unless
// one of these is as deep.
#include "clip.h"
#include "gjk.h"

typedef enum piece_kind { PIECE_FACE, PIECE_CAP, PIECE_LINE } piece_kind;

typedef struct piece {
    piece_kind kind;
    rectangle face;
    disk cap;
    polygon line;
} piece;

enum { CODE_DEEPEST = 64 };

/// The piece of surface that looks along `direction`: of a cylinder the cap up to 45 degrees, then the side.
static piece piece_towards(const convex *c, stn_vec3 direction) {
    piece p = {.kind = PIECE_FACE};
    if (c->shape->type == STN_SHAPE_BOX) {
        p.face = box_face(c->shape->half_extents, &c->pose, direction);
        return p;
    }
    stn_vec3 d = stn_mat3_apply_transposed(&c->pose.rotation, direction);
    if (2.0 * d.z * d.z >= 1.0) {
        p.kind = PIECE_CAP;
        p.cap = cylinder_cap(c->shape, &c->pose, d.z > 0.0);
    } else {
        p.kind = PIECE_LINE;
        p.line = side_line(c->shape, &c->pose, direction);
    }
    return p;
}

/// Overlap of the two pieces; true when its points lie on B instead of A.
static bool overlap_pieces(const piece *a, const piece *b, stn_vec3 n, double tolerance, overlap *out) {
    stn_vec3 back = stn_vec3_neg(n);
    if (a->kind == PIECE_FACE && b->kind == PIECE_CAP) {
        polygon q = polygon_of(&a->face);
        clip_disk_polygon(&b->cap, &q, back, out);
        return true;
    }
    if (a->kind == PIECE_FACE) {
        clip_rectangle(&a->face, &b->line, n, tolerance, out);
        return false;
    }
    if (a->kind == PIECE_LINE && b->kind == PIECE_CAP) {
        clip_disk_polygon(&b->cap, &a->line, back, out);
        return true;
    }
    if (a->kind == PIECE_LINE) {
        clip_lines(&a->line, &b->line, n, out);
    } else if (b->kind == PIECE_CAP) {
        clip_disk_disk(&a->cap, &b->cap, n, out);
    } else {
        clip_disk_polygon(&a->cap, &b->line, n, out);
    }
    return false;
}

static void add_points(posed a, const overlap *points, bool on_b, stn_vec3 normal, double margin, manifold *out) {
    for (int32_t i = 0; i < points->count; i++) {
        const overlap_point *p = &points->points[i];
        if (p->h > margin) {
            continue;
        }
        stn_vec3 world = stn_pose_apply(a.pose, p->p);
        if (on_b) {
            manifold_add(out, stn_vec3_mul_add(world, -p->h, normal), normal, p->h, p->second, p->first);
        } else {
            manifold_add(out, world, normal, p->h, p->first, p->second);
        }
    }
}

static void convex_cylinder(posed a, posed b, double margin, manifold *out) {
    convex first = {a.shape, stn_pose_identity()}, second = {b.shape, relative_pose(a.pose, b.pose)};
    separation s = convex_separation(&first, &second);
    if (s.phi > margin) {
        return;
    }
    double size = convex_scale(&first, &second);
    stn_vec3 normal = stn_mat3_apply(&a.pose->rotation, s.normal);
    piece on_a = piece_towards(&first, s.normal), on_b = piece_towards(&second, stn_vec3_neg(s.normal));
    overlap points;
    bool points_on_b = overlap_pieces(&on_a, &on_b, s.normal, 1e-9 * size, &points);
    add_points(a, &points, points_on_b, normal, margin, out);
    if (!(overlap_depth(&points) <= s.phi + 1e-10 * size)) {
        manifold_add_both(out, stn_pose_apply(a.pose, s.a), stn_pose_apply(a.pose, s.b), normal, CODE_DEEPEST,
                          CODE_DEEPEST);
    }
}

void box_cylinder(posed a, posed b, double margin, manifold *out) {
    convex_cylinder(a, b, margin, out);
}

void cylinder_cylinder(posed a, posed b, double margin, manifold *out) {
    convex_cylinder(a, b, margin, out);
}
