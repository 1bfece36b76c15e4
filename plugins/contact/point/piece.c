// SPDX-License-Identifier: Apache-2.0
// Pieces of the surface of a body: face, cap, side line; and where two that look at each other overlap.
#include "piece.h"

void piece_towards(const convex *c, stn_vec3 direction, piece *out) {
    if (c->shape->type == STN_SHAPE_BOX) {
        out->kind = PIECE_FACE;
        box_face(c->shape->half_extents, &c->pose, direction, &out->face);
        return;
    }
    if (c->shape->type == STN_SHAPE_CONVEX) {
        out->kind = PIECE_POLYGON;
        out->corner = hull_face(c->shape, &c->pose, direction, &out->alone, &out->line);
        return;
    }
    double along = stn_vec3_dot(direction, stn_mat3_column(&c->pose.rotation, 2));
    if (c->shape->type == STN_SHAPE_CYLINDER && 2.0 * along * along >= 1.0) {
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

/// The part of the way that is inside, from a point at a distance >= 0 inside a straight side, `towards` of which the
/// whole way covers.
static double until_side(double inside, double towards) {
    return towards > inside ? fmax(inside, 0.0) / towards : 1.0;
}

/// The part of the way from `point`, inside the outline of a face, cap or polygon, along `step` that is inside, at
/// most 1.
static double piece_stretch(const piece *p, stn_vec3 point, stn_vec3 step) {
    double least = 1.0;
    if (p->kind == PIECE_FACE) {
        stn_vec3 w = stn_vec3_sub(point, p->face.centre);
        double x = stn_vec3_dot(w, p->face.u), y = stn_vec3_dot(w, p->face.v);
        double dx = stn_vec3_dot(step, p->face.u), dy = stn_vec3_dot(step, p->face.v);
        return fmin(until_side(p->face.hu - copysign(1.0, dx) * x, fabs(dx)),
                    until_side(p->face.hv - copysign(1.0, dy) * y, fabs(dy)));
    }
    if (p->kind == PIECE_CAP) {
        stn_vec3 w = stn_vec3_sub(point, p->cap.centre);
        double x = stn_vec3_dot(w, p->cap.u), y = stn_vec3_dot(w, p->cap.v);
        double dx = stn_vec3_dot(step, p->cap.u), dy = stn_vec3_dot(step, p->cap.v);
        double a = dx * dx + dy * dy, b = x * dx + y * dy, c = p->cap.radius * p->cap.radius - x * x - y * y;
        double root = sqrt(fmax(b * b + a * c, 0.0)); // the rim is met at t = (root - b) / a
        return a + b > root ? fmax(b > 0.0 ? c / (root + b) : (root - b) / a, 0.0) : 1.0;
    }
    for (int32_t i = 0; i < p->line.count; i++) {
        stn_vec3 from = p->line.corner[i], edge = stn_vec3_sub(p->line.corner[(i + 1) % p->line.count], from);
        stn_vec3 outward = stn_vec3_cross(edge, p->line.normal); // of a hull, whose corners stand counter-clockwise
        least = fmin(least, until_side(stn_vec3_dot(outward, stn_vec3_sub(from, point)), stn_vec3_dot(outward, step)));
    }
    return least;
}

/// A hull's face (of B) against any piece of A; true when the points lie on B. Of two faces the one that looks more
/// along n is the plane that heights are measured from; one that n runs nearly along is none.
static bool overlap_polygon(facing *f, stn_vec3 n, double tolerance) {
    enum { STEEPEST = 20 };
    const piece *a = &f->a;
    stn_vec3 back = stn_vec3_neg(n);
    polygon box;
    const polygon *p = &a->line, *q = &f->b.line;
    double on_b = stn_vec3_dot(back, q->normal), on_a = -INFINITY;
    f->points.count = 0;
    if (a->kind == PIECE_CAP) {
        clip_disk_polygon(&a->cap, q, n, &f->points);
        return false;
    }
    if (a->kind == PIECE_FACE) {
        polygon_of(&a->face, &box);
        p = &box;
    }
    if (a->kind != PIECE_LINE && p->count > 0) {
        on_a = stn_vec3_dot(n, p->normal);
    }
    if (p->count == 0 || q->count == 0 || STEEPEST * fmax(on_a, on_b) < 1.0) {
        return false;
    }
    if (on_a >= on_b) {
        clip_polygon(p, q, n, tolerance, f->margin, &f->points);
    } else {
        clip_polygon(q, p, back, tolerance, f->margin, &f->points);
    }
    return on_a < on_b;
}

void face_along(const convex *a, const convex *b, stn_vec3 n, facing *f) {
    piece_towards(a, n, &f->a);
    piece_towards(b, stn_vec3_neg(n), &f->b);
    facing_overlap(f, n);
}

void facing_overlap(facing *f, stn_vec3 n) {
    double tolerance = 1e-11 * f->size;
    const piece *a = &f->a, *b = &f->b;
    f->on_b = false;
    if (b->kind == PIECE_POLYGON) {
        f->on_b = overlap_polygon(f, n, tolerance);
    } else if (a->kind == PIECE_FACE && b->kind == PIECE_LINE) {
        clip_rectangle(&a->face, &b->line, n, tolerance, &f->points);
    } else if (a->kind == PIECE_LINE && b->kind == PIECE_LINE) {
        clip_lines(&a->line, &b->line, n, &f->points);
    } else if (b->kind == PIECE_LINE) {
        clip_disk_polygon(&a->cap, &b->line, n, &f->points);
    } else if (a->kind == PIECE_CAP) {
        clip_disk_disk(&a->cap, &b->cap, n, &f->points);
    } else {
        polygon q;
        if (a->kind == PIECE_FACE) {
            polygon_of(&a->face, &q);
        }
        f->on_b = true;
        clip_disk_polygon(&b->cap, a->kind == PIECE_FACE ? &q : &a->line, stn_vec3_neg(n), &f->points);
    }
}

void facing_join(facing *f, const facing *more, stn_vec3 n) {
    for (int32_t i = 0; i < more->points.count; i++) {
        overlap_point p = more->points.points[i];
        bool known = p.h > f->margin;
        if (more->on_b != f->on_b) {
            p = (overlap_point){stn_vec3_mul_add(p.p, f->on_b ? p.h : -p.h, n), p.h, p.second, p.first};
        }
        for (int32_t k = 0; k < f->points.count && !known; k++) {
            known = f->points.points[k].first == p.first && f->points.points[k].second == p.second;
        }
        if (!known && f->points.count < OVERLAP_CAPACITY) {
            f->points.points[f->points.count++] = p;
        }
    }
}

/// Of a tilted cap: which points stay does not hang on the tilt, but for the deepest and its counterweight. Between two
/// caps they are there even where the deepest is one of the others, which it comes upon going round.
static void balance(posed a, const facing *f, const witness *deepest, manifold *out) {
    bool caps = f->a.kind == PIECE_CAP && f->b.kind == PIECE_CAP;
    manifold_thin(out, out->limit - 2);
    for (int32_t i = 0; i < out->count && !caps; i++) {
        witness *w = &out->points[i];
        if (stn_vec3_norm(stn_vec3_sub(w->a, deepest->a)) < 1e-6 * f->size) { // one point, where it is deepest
            *w = (witness){deepest->a, deepest->b, deepest->normal, deepest->phi, w->feature_a, w->feature_b};
            return;
        }
    }
    // across the middle of those there are from the deepest, as far as the pieces reach
    stn_vec3 on_a = stn_vec3_zero(), on_b = stn_vec3_zero();
    double share = 1.0 / out->count;
    for (int32_t i = 0; i < out->count; i++) {
        on_a = stn_vec3_mul_add(on_a, share, out->points[i].a);
        on_b = stn_vec3_mul_add(on_b, share, out->points[i].b);
    }
    stn_vec3 along_a = stn_vec3_sub(on_a, deepest->a), along_b = stn_vec3_sub(on_b, deepest->b);
    const stn_pose *frame = a.pose;
    double part = fmin(
        piece_stretch(&f->a, stn_pose_apply_inverse(frame, on_a), stn_mat3_apply_transposed(&frame->rotation, along_a)),
        piece_stretch(&f->b, stn_pose_apply_inverse(frame, on_b),
                      stn_mat3_apply_transposed(&frame->rotation, along_b)));
    on_a = stn_vec3_mul_add(on_a, part, along_a);
    on_b = stn_vec3_mul_add(on_b, part, along_b);
    if (!(stn_vec3_dot(deepest->normal, stn_vec3_sub(on_b, on_a)) > f->margin)) {
        manifold_add_both(out, on_a, on_b, deepest->normal, CODE_ACROSS, CODE_ACROSS);
    }
    manifold_add_both(out, deepest->a, deepest->b, deepest->normal, CODE_DEEPEST, CODE_DEEPEST);
}

/// How far from the plane of a flat piece.
static double from_plane(const piece *p, stn_vec3 point) {
    stn_vec3 centre = p->kind == PIECE_CAP ? p->cap.centre : p->kind == PIECE_FACE ? p->face.centre : p->line.corner[0];
    stn_vec3 normal = p->kind == PIECE_CAP ? p->cap.normal : p->kind == PIECE_FACE ? p->face.normal : p->line.normal;
    return fabs(stn_vec3_dot(stn_vec3_sub(point, centre), normal));
}

static double highest(const overlap *o) {
    double height = -INFINITY;
    for (int32_t i = 0; i < o->count; i++) {
        height = fmax(height, o->points[i].h);
    }
    return height;
}

void add_facing(posed a, const facing *f, const separation *deepest, manifold *out) {
    double size = f->size;
    enum { LIMIT_BALANCED = 6 }; // with fewer points there is none to spare for a counterweight
    stn_vec3 normal = stn_mat3_apply(&a.pose->rotation, deepest->normal);
    witness w = {stn_pose_apply(a.pose, deepest->a),
                 stn_pose_apply(a.pose, deepest->b),
                 normal,
                 deepest->phi,
                 CODE_DEEPEST,
                 CODE_DEEPEST};
    double depth = overlap_depth(&f->points), level = 1e-10 * size;
    bool missing = !(depth <= deepest->phi + level);
    // no two points are nearer along the normal than the deepest; where they seem to be, the corners of a hull's face
    // are not quite in its plane, which the points lie on: they step back from it
    for (int32_t i = 0; i < f->points.count; i++) {
        const overlap_point *p = &f->points.points[i];
        if (p->h > f->margin) {
            continue;
        }
        double h = fmax(p->h, deepest->phi), back = h - p->h;
        stn_vec3 world = stn_vec3_mul_add(stn_pose_apply(a.pose, p->p), f->on_b ? back : -back, normal);
        if (f->points.lines) {
            manifold_add_both(out, world, stn_pose_apply(a.pose, f->points.other[i]), normal, p->first, p->second);
        } else if (f->on_b) {
            manifold_add(out, stn_vec3_mul_add(world, -h, normal), normal, h, p->second, p->first);
        } else {
            manifold_add(out, world, normal, h, p->first, p->second);
        }
    }
    bool cap = (f->a.kind == PIECE_CAP || f->b.kind == PIECE_CAP) && f->a.kind != PIECE_LINE &&
               f->b.kind != PIECE_LINE && f->points.count > 2; // and something flat
    if (out->limit >= LIMIT_BALANCED && out->count > 0 && cap && highest(&f->points) > depth + level) {
        double tiny = 1e-9 * size; // the deepest points may lie on the two pieces' planes
        bool between =
            depth > deepest->phi && from_plane(&f->a, deepest->a) < tiny && from_plane(&f->b, deepest->b) < tiny;
        if (between || !missing) {
            w = between ? w : *manifold_deepest(out);
            balance(a, f, &w, out);
            return;
        }
    }
    if (missing) {
        manifold_add_both(out, w.a, w.b, normal, CODE_DEEPEST, CODE_DEEPEST);
    }
}
