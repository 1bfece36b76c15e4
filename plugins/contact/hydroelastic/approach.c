// SPDX-License-Identifier: Apache-2.0
// See approach.h.
#include "approach.h"

/// Ways below this share of the depth are none.
static const double negligible = 1e-6;
/// Share of the depth that a step may close.
static const double most_of_depth = 0.5;

stn_pose approach_moved(const approach *m, const stn_pose *b) {
    stn_mat3 turn = stn_quat_matrix(stn_quat_exp(m->turn));
    stn_vec3 arm = stn_mat3_apply(&turn, stn_vec3_sub(b->position, m->centre));
    stn_pose moved = {stn_mat3_mul(&turn, &b->rotation), stn_vec3_add(stn_vec3_add(m->centre, m->shift), arm)};
    return moved;
}

static double lesser_depth(const posed *a, const posed *b) {
    double l = isfinite(a->modulus) ? a->solid->depth : (double)INFINITY;
    double r = isfinite(b->modulus) ? b->solid->depth : (double)INFINITY;
    return fmin(l, r);
}

static double bearable(const posed *a, const posed *b) {
    return fmax(a->solid->fineness.margin + b->solid->fineness.margin, negligible * lesser_depth(a, b));
}

/// Less what turns a shape about an axis of its symmetry: a ball or a wheel that rolls closes nothing by that, and cut
/// closed up its patch would lie ahead of it, which brakes.
static stn_vec3 without_spin(stn_vec3 turn, const posed *p) {
    bool round = !p->solid->given;
    if (round && p->solid->shape.type == STN_SHAPE_SPHERE) {
        return stn_vec3_zero();
    }
    if (round && (p->solid->shape.type == STN_SHAPE_CYLINDER || p->solid->shape.type == STN_SHAPE_CAPSULE)) {
        stn_vec3 axis = stn_mat3_column(&p->pose->rotation, 2);
        return stn_vec3_mul_add(turn, -stn_vec3_dot(turn, axis), axis);
    }
    return turn;
}

/// What rests presses by the faces that it has, and its velocity says what it closes; what has none falls freely.
static approach motion_about(const stn_contact_pair *pair, bool touch, stn_vec3 centre) {
    const stn_spatial *v = touch ? &pair->velocity : &pair->free_velocity;
    stn_vec3 middle = stn_vec3_scale(0.5, stn_vec3_add(pair->pose_a.position, pair->pose_b.position));
    stn_vec3 velocity = stn_vec3_add(v->linear, stn_vec3_cross(v->angular, stn_vec3_sub(centre, middle)));
    approach m = {centre, stn_vec3_scale(pair->dt, velocity), stn_vec3_scale(pair->dt, v->angular)};
    return m;
}

/// What both could be in touch at.
static const posed *bounded_of(const posed *a, const posed *b) {
    return b->solid->kind == SOLID_HALF_SPACE ? a : b;
}

/// The most that closes along `n` anywhere on the bounded one, whether faces are there or not: a box on its edge that
/// falls has none yet where it will touch.
static double most_closing(const approach *m, const posed *a, const posed *b, stn_vec3 n) {
    const posed *bounded = bounded_of(a, b);
    const stn_vec3 lower = bounded->solid->bounds.lower, upper = bounded->solid->bounds.upper;
    double furthest = 0.0;
    for (int32_t k = 0; k < 8; k++) {
        stn_vec3 corner =
            stn_vec3_make(k & 1 ? upper.x : lower.x, k & 2 ? upper.y : lower.y, k & 4 ? upper.z : lower.z);
        stn_vec3 way = approach_of(m, stn_pose_apply(bounded->pose, corner));
        furthest = fmax(furthest, -stn_vec3_dot(way, n));
    }
    return furthest;
}

bool approach_whole(const stn_contact_pair *pair, bool touch, const posed *a, const posed *b, approach *out) {
    const posed *bounded = bounded_of(a, b);
    const stn_aabb *box = &bounded->solid->bounds;
    stn_vec3 middle = stn_vec3_scale(0.5, stn_vec3_add(box->lower, box->upper));
    double radius = 0.5 * stn_vec3_norm(stn_vec3_sub(box->upper, box->lower));
    *out = motion_about(pair, touch, stn_pose_apply(bounded->pose, middle));
    return stn_vec3_norm(out->shift) + stn_vec3_norm(out->turn) * radius > bearable(a, b);
}

bool approach_closing(const stn_contact_pair *pair, bool touch, const posed *a, const posed *b, const face_sink *faces,
                      bool m_is_a, approach *out) {
    stn_vec3 sum = stn_vec3_zero(), middle = stn_vec3_zero();
    double area = 0.0, furthest = 0.0, opening = 0.0, sign = m_is_a ? -1.0 : 1.0;
    for (int32_t i = 0; i < faces->count; i++) {
        const face *f = &faces->faces[i];
        sum = stn_vec3_mul_add(sum, sign * f->area, f->normal);
        middle = stn_vec3_mul_add(middle, f->area, f->centre);
        area += f->area;
    }
    double size = stn_vec3_norm(sum);
    if (!(size > 0.1 * area)) { // all around: no direction to close in
        return false;
    }
    stn_vec3 n = stn_mat3_apply(&faces->frame.rotation, stn_vec3_scale(1.0 / size, sum));
    *out = motion_about(pair, touch, stn_pose_apply(&faces->frame, stn_vec3_scale(1.0 / area, middle)));
    out->shift = stn_vec3_scale(stn_vec3_dot(out->shift, n), n);
    out->turn = stn_vec3_mul_add(out->turn, -stn_vec3_dot(out->turn, n), n);
    out->turn = without_spin(without_spin(out->turn, a), b);
    // the way along n is linear in x: of a corner in the frame of the faces it is rate . x + start
    stn_mat3 back = stn_mat3_transpose(&faces->frame.rotation);
    stn_vec3 rate = stn_mat3_apply(&back, stn_vec3_cross(n, out->turn));
    double start = stn_vec3_dot(approach_of(out, faces->frame.position), n);
    for (int32_t i = 0; i < faces->count; i++) {
        const polygon *cut = &faces->faces[i].cut;
        for (int32_t k = 0; k < cut->count; k++) {
            double along = stn_vec3_dot(rate, cut->corner[k]) + start;
            furthest = fmax(furthest, -along);
            opening = fmax(opening, along);
        }
    }
    opening = touch ? opening : 0.0;
    // what touches stays in touch: it must push when the step does not open it after all
    out->shift = stn_vec3_mul_add(out->shift, -opening, n);
    furthest += opening;
    double limit = most_of_depth * lesser_depth(a, b), share = furthest > limit ? limit / furthest : 1.0;
    out->shift = stn_vec3_scale(share, out->shift);
    out->turn = stn_vec3_scale(share, out->turn);
    return fmax(furthest, most_closing(out, a, b, n)) > bearable(a, b);
}
