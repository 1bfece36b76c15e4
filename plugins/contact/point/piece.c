// SPDX-License-Identifier: Apache-2.0
// Pieces of the surface of a box or a cylinder: face, cap, side line; and where two that look at each other overlap.
#include "piece.h"

void piece_towards(const convex *c, stn_vec3 direction, piece *out) {
    if (c->shape->type == STN_SHAPE_BOX) {
        out->kind = PIECE_FACE;
        box_face(c->shape->half_extents, &c->pose, direction, &out->face);
        return;
    }
    double along = stn_vec3_dot(direction, stn_mat3_column(&c->pose.rotation, 2));
    if (2.0 * along * along >= 1.0) {
        out->kind = PIECE_CAP;
        cylinder_cap(c->shape, &c->pose, along > 0.0, &out->cap);
    } else {
        out->kind = PIECE_LINE;
        side_line(c->shape, &c->pose, direction, &out->line);
    }
}

double piece_clearance(const piece *p, stn_vec3 point) {
    if (p->kind == PIECE_FACE) {
        stn_vec3 w = stn_vec3_sub(point, p->face.centre);
        return fmin(p->face.hu - fabs(stn_vec3_dot(w, p->face.u)), p->face.hv - fabs(stn_vec3_dot(w, p->face.v)));
    }
    stn_vec3 w = stn_vec3_sub(point, p->cap.centre);
    double x = stn_vec3_dot(w, p->cap.u), y = stn_vec3_dot(w, p->cap.v);
    return p->cap.radius - sqrt(x * x + y * y);
}

/// Overlap of the two pieces; true when its points lie on B instead of A.
static bool overlap_pieces(const piece *a, const piece *b, stn_vec3 n, double tolerance, overlap *out) {
    stn_vec3 back = stn_vec3_neg(n);
    if (a->kind == PIECE_FACE && b->kind == PIECE_CAP) {
        polygon q;
        polygon_of(&a->face, &q);
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

void face_along(const convex *a, const convex *b, stn_vec3 n, double tolerance, facing *out) {
    piece_towards(a, n, &out->a);
    piece_towards(b, stn_vec3_neg(n), &out->b);
    out->on_b = overlap_pieces(&out->a, &out->b, n, tolerance, &out->points);
}
