// SPDX-License-Identifier: Apache-2.0
// See approach.h.
#include "approach.h"

#include "cut.h"

/// Ways below this share of the depth are none: what rests is cut once.
static const double negligible = 1e-6;
/// Share of the depth that a step may close.
static const double most_of_depth = 0.5;

stn_pose approach_moved(const approach *m, const stn_pose *b) {
    stn_mat3 turn = stn_quat_matrix(stn_quat_exp(m->turn));
    stn_vec3 arm = stn_mat3_apply(&turn, stn_vec3_sub(b->position, m->centre));
    stn_pose moved = {stn_mat3_mul(&turn, &b->rotation), stn_vec3_add(stn_vec3_add(m->centre, m->shift), arm)};
    return moved;
}

static double depth_of(const posed *s) {
    return isfinite(s->modulus) ? s->solid->depth : (double)INFINITY;
}

static double lesser_depth(const approaching *s) {
    return fmin(depth_of(s->still), depth_of(s->moving));
}

static double radius_of(const posed *s) {
    return 0.5 * stn_vec3_norm(stn_vec3_sub(s->solid->bounds.upper, s->solid->bounds.lower));
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

static stn_vec3 between_poses(const approaching *s) { // where the velocities of the pair are told
    return stn_vec3_scale(0.5, stn_vec3_add(s->pair->pose_a.position, s->pair->pose_b.position));
}

/// What rests presses by the faces that it has, and its velocity says what it closes; what has none falls freely.
static approach motion_about(const approaching *s, stn_vec3 centre) {
    const stn_spatial *v = s->touch ? &s->pair->velocity : &s->pair->free_velocity;
    stn_vec3 arm = stn_vec3_sub(centre, between_poses(s));
    stn_vec3 velocity = stn_vec3_add(v->linear, stn_vec3_cross(v->angular, arm));
    approach m = {centre, stn_vec3_scale(s->dt, velocity), stn_vec3_scale(s->dt, v->angular)};
    return m;
}

/// The smaller one, which may tip on the other; of equals M, so that the names of the two do not matter.
static const posed *smaller_of(const approaching *s) {
    if (s->still->solid->kind == SOLID_HALF_SPACE || s->moving->solid->kind == SOLID_HALF_SPACE) {
        return s->moving->solid->kind == SOLID_HALF_SPACE ? s->still : s->moving;
    }
    double a = radius_of(s->still), b = radius_of(s->moving);
    return a < b || (a == b && s->m_is_still) ? s->still : s->moving;
}

static stn_vec3 middle_of(const posed *s) {
    return stn_pose_apply(s->pose, stn_vec3_scale(0.5, stn_vec3_add(s->solid->bounds.lower, s->solid->bounds.upper)));
}

static stn_vec3 corner_of(const posed *s, int32_t k) {
    const stn_vec3 lower = s->solid->bounds.lower, upper = s->solid->bounds.upper;
    stn_vec3 corner = {k & 1 ? upper.x : lower.x, k & 2 ? upper.y : lower.y, k & 4 ? upper.z : lower.z};
    return stn_pose_apply(s->pose, corner);
}

/// What touches on one side tips: forces that are not the patch's, weight above all, take its middle along while the
/// patch holds it where it is. The turn of a solid that is held in one point, its radius of gyration reckoned from its
/// size.
static stn_vec3 tipping(const approaching *s, const approach *m, stn_vec3 n) {
    const posed *smaller = smaller_of(s);
    const stn_spatial *free = &s->pair->free_velocity, *now = &s->pair->velocity;
    stn_vec3 middle = middle_of(smaller), arm = stn_vec3_sub(middle, m->centre);
    stn_vec3 spin = stn_vec3_sub(free->angular, now->angular);
    stn_vec3 pushed = stn_vec3_add(stn_vec3_sub(free->linear, now->linear),
                                   stn_vec3_cross(spin, stn_vec3_sub(middle, between_poses(s))));
    double radius = radius_of(smaller), inertia = stn_vec3_dot(arm, arm) + radius * radius / 3.0;
    return stn_vec3_scale(s->dt * stn_vec3_dot(pushed, n) / inertia, stn_vec3_cross(arm, n));
}

/// Height of a corner of the smaller one above the patch's plane, the other one below.
static double height_of(const approaching *s, stn_vec3 centre, stn_vec3 corner, stn_vec3 n) {
    double height = stn_vec3_dot(n, stn_vec3_sub(corner, centre));
    return smaller_of(s) == s->moving ? height : -height;
}

/// Share of the tip from `m` to `tipped` that takes a corner which stands above the patch further than down to it. What
/// lies flat does not tip.
static double share_down(const approaching *s, const approach *m, const approach *tipped, stn_vec3 n) {
    const posed *smaller = smaller_of(s);
    double share = 0.0;
    for (int32_t k = 0; k < 8; k++) {
        stn_vec3 corner = corner_of(smaller, k);
        double height = height_of(s, m->centre, corner, n);
        double before = -stn_vec3_dot(approach_of(m, corner), n), after = -stn_vec3_dot(approach_of(tipped, corner), n);
        if (height > 0.0 && after > height && after > before) {
            share = fmax(share, fmin(1.0, (after - height) / (after - before)));
        }
    }
    return share;
}

bool approach_whole(const approaching *s, approach *out) {
    const posed *smaller = smaller_of(s);
    *out = motion_about(s, middle_of(smaller));
    double reach = stn_vec3_norm(out->shift) + stn_vec3_norm(out->turn) * radius_of(smaller);
    return reach > negligible * lesser_depth(s);
}

/// Not one of a margin's skirt.
static bool presses(const face *f) {
    return pressure_at(&f->p, f->centre) > 0.0;
}

bool approach_touches(const face_sink *faces) {
    bool any = false;
    for (int32_t i = 0; i < faces->count && !any; i++) {
        any = presses(&faces->faces[i]);
    }
    return any;
}

/// Mean normal of the faces with pressure, from the one that stays into the other, in the world, and the point in their
/// middle; false: all around.
static bool mean_face(const approaching *s, const face_sink *faces, stn_vec3 *normal, stn_vec3 *centre) {
    stn_vec3 sum = stn_vec3_zero(), middle = stn_vec3_zero();
    double area = 0.0;
    for (int32_t i = 0; i < faces->count; i++) {
        const face *f = &faces->faces[i];
        if (presses(f)) {
            sum = stn_vec3_mul_add(sum, s->m_is_still ? -f->area : f->area, f->normal);
            middle = stn_vec3_mul_add(middle, f->area, f->centre);
            area += f->area;
        }
    }
    double size = stn_vec3_norm(sum);
    if (!(size > 0.1 * area)) {
        return false;
    }
    *normal = stn_mat3_apply(&faces->frame.rotation, stn_vec3_scale(1.0 / size, sum));
    *centre = stn_pose_apply(&faces->frame, stn_vec3_scale(1.0 / area, middle));
    return true;
}

bool approach_closing(const approaching *s, const face_sink *faces, approach *out) {
    stn_vec3 n, centre;
    if (!mean_face(s, faces, &n, &centre)) {
        return false;
    }
    *out = motion_about(s, centre);
    out->shift = stn_vec3_scale(stn_vec3_dot(out->shift, n), n);
    out->turn = stn_vec3_mul_add(out->turn, -stn_vec3_dot(out->turn, n), n);
    bool tips = false;
    if (s->touch) {
        approach tipped = *out;
        tipped.turn = stn_vec3_add(out->turn, tipping(s, out, n));
        double share = share_down(s, out, &tipped, n);
        out->turn = stn_vec3_mul_add(out->turn, share, stn_vec3_sub(tipped.turn, out->turn));
        tips = share > 0.0;
    }
    out->turn = without_spin(without_spin(out->turn, s->still), s->moving);
    const posed *smaller = smaller_of(s);
    double furthest = 0.0, opening = 0.0;
    for (int32_t k = 0; k < 8 && tips; k++) { // how deep the tip takes what stands above the patch
        stn_vec3 corner = corner_of(smaller, k);
        double height = height_of(s, centre, corner, n);
        furthest = height > 0.0 ? fmax(furthest, -stn_vec3_dot(approach_of(out, corner), n) - height) : furthest;
    }
    // the way along n is linear in x: of a corner in the frame of the faces it is rate . x + start
    stn_mat3 back = stn_mat3_transpose(&faces->frame.rotation);
    stn_vec3 rate = stn_mat3_apply(&back, stn_vec3_cross(n, out->turn));
    double start = stn_vec3_dot(approach_of(out, faces->frame.position), n);
    for (int32_t i = 0; i < faces->count; i++) {
        const face *f = &faces->faces[i];
        for (int32_t k = 0; k < f->cut.count && presses(f); k++) {
            double along = stn_vec3_dot(rate, f->cut.corner[k]) + start;
            furthest = fmax(furthest, -along);
            opening = fmax(opening, along);
        }
    }
    opening = s->touch ? opening : 0.0;
    // what touches stays in touch: it must push when the step does not open it after all
    out->shift = stn_vec3_mul_add(out->shift, -opening, n);
    furthest += opening;
    double limit = most_of_depth * lesser_depth(s), share = furthest > limit ? limit / furthest : 1.0;
    out->shift = stn_vec3_scale(share, out->shift);
    out->turn = stn_vec3_scale(share, out->turn);
    // anywhere on the smaller one, whether faces are there or not: a box on its edge that falls has none yet where it
    // will touch
    for (int32_t k = 0; k < 8; k++) {
        furthest = fmax(furthest, -stn_vec3_dot(approach_of(out, corner_of(smaller, k)), n));
    }
    return furthest > negligible * lesser_depth(s);
}

/// Pressure of one of the two at a point of the world: 0 outside of a field, infinite where it is rigid.
static double pressure_in(face_sink *sink, const posed *s, stn_vec3 x) {
    stn_vec3 p = stn_pose_apply_inverse(s->pose, x);
    if (!isfinite(s->modulus)) {
        return (double)INFINITY;
    }
    if (s->solid->kind == SOLID_HALF_SPACE) {
        return -s->modulus * p.z / s->solid->depth;
    }
    int32_t *near = face_nearby(sink, 0, s->solid->tree.item_count);
    const tree_probe here = {.box = {p, p}};
    int32_t count = near != NULL ? tree_near((tree_part){&s->solid->tree, (double)INFINITY}, &here, 0.0, near) : 0;
    for (int32_t i = 0; i < count; i++) {
        const cell *c = &s->solid->cells[near[i]];
        if (cell_holds(c, p)) {
            return s->modulus * (stn_vec3_dot(c->gradient, p) + c->offset);
        }
    }
    return 0.0;
}

void approach_settle(const approaching *s, face_sink *sink, const approach *ahead) {
    double sign = s->m_is_still ? 1.0 : -1.0;
    // a surface goes with what is rigid, and between two fields it goes half of the way
    double share = isfinite(s->still->modulus) && isfinite(s->moving->modulus) ? 0.5 : 1.0;
    for (int32_t i = 0; i < sink->count; i++) {
        face *f = &sink->faces[i];
        double p = pressure_at(&f->p, f->centre);
        if (stn_vec3_dot(f->gain, f->normal) >= 0.999 * f->g || p <= 0.0) {
            continue;
        }
        stn_vec3 x = stn_pose_apply(&sink->frame, f->centre), displacement = approach_of(ahead, x);
        stn_vec3 own_displacement =
            stn_vec3_scale(sign, stn_mat3_apply_transposed(&sink->frame.rotation, displacement));
        // the least of what the fields have at the step's start where this point of the face was then
        double before = fmax(0.0, fmin(pressure_in(sink, s->still, stn_vec3_mul_add(x, -share, displacement)),
                                       pressure_in(sink, s->moving, stn_vec3_mul_add(x, share - 1.0, displacement))));
        double gained = p - before, length = stn_vec3_norm(displacement);
        // no field is steeper than its gradient: more is what rounding loses between two cells
        double more = fmin(gained - stn_vec3_dot(f->gain, own_displacement), stn_vec3_norm(f->p.gradient) * length);
        if (length > 0.0 && more > 0.0) {
            f->gain = stn_vec3_mul_add(f->gain, more / (length * length), own_displacement);
            f->rise = fmax(f->rise, stn_vec3_dot(f->gain, f->normal));
            f->g = fmax(f->g, f->rise);
        }
    }
}
