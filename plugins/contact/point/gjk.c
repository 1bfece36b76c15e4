// SPDX-License-Identifier: Apache-2.0
// Distance of two convex bodies: the point v of the Minkowski difference C = B - A nearest to the origin, by a simplex
// of support points that is replaced step by step [gilbert-1988]. For every direction, d(A, B) >= v . w / |v| with the
// support point w opposite to v: the search ends when this bound meets |v|, or when rounding lets v shrink no more.
#include "gjk.h"

enum { MOST_STEPS = 128 };

stn_vec3 convex_support(const convex *c, stn_vec3 direction) {
    stn_vec3 d = stn_mat3_apply_transposed(&c->pose.rotation, direction), p;
    switch (c->shape->type) {
    case STN_SHAPE_BOX:
        p = stn_vec3_make(copysign(c->shape->half_extents.x, d.x), copysign(c->shape->half_extents.y, d.y),
                          copysign(c->shape->half_extents.z, d.z));
        break;
    case STN_SHAPE_CYLINDER: {
        double rho = sqrt(d.x * d.x + d.y * d.y), s = rho > 0.0 ? c->shape->radius / rho : 0.0;
        p = stn_vec3_make(s * d.x, s * d.y, copysign(c->shape->half_length, d.z));
        break;
    }
    default:
        p = stn_vec3_make(0.0, 0.0, copysign(c->shape->half_length, d.z));
    }
    return stn_pose_apply(&c->pose, p);
}

vertex difference_support(const convex *a, const convex *b, stn_vec3 direction) {
    vertex s = {.a = convex_support(a, stn_vec3_neg(direction)), .b = convex_support(b, direction)};
    s.w = stn_vec3_sub(s.b, s.a);
    return s;
}

static double shape_size(const stn_shape *s) {
    return s->radius + s->half_length + s->half_extents.x + s->half_extents.y + s->half_extents.z;
}

double convex_scale(const convex *a, const convex *b) {
    return shape_size(a->shape) + shape_size(b->shape);
}

/// A simplex, the weights of its point nearest to the origin, and that point.
typedef struct simplex {
    int32_t count;
    vertex vertices[4];
    double weight[4];
    stn_vec3 v;
} simplex;

static void keep(simplex *s, int32_t count, const int32_t *which, const double *weight) {
    simplex old = *s;
    s->count = count;
    s->v = stn_vec3_zero();
    for (int32_t i = 0; i < count; i++) {
        s->vertices[i] = old.vertices[which[i]];
        s->weight[i] = weight[i];
        s->v = stn_vec3_mul_add(s->v, weight[i], s->vertices[i].w);
    }
}

static void nearest_on_line(simplex *s, int32_t i, int32_t j) {
    stn_vec3 p = s->vertices[i].w, d = stn_vec3_sub(s->vertices[j].w, p);
    double along = -stn_vec3_dot(p, d), length2 = stn_vec3_dot(d, d);
    double t = length2 > 0.0 ? along / length2 : 0.0;
    if (t <= 0.0) {
        keep(s, 1, &i, (double[]){1.0});
    } else if (t >= 1.0) {
        keep(s, 1, &j, (double[]){1.0});
    } else {
        keep(s, 2, (int32_t[]){i, j}, (double[]){1.0 - t, t});
    }
}

/// Of several candidates the nearest wins.
static void keep_nearer(simplex *best, const simplex *other) {
    if (stn_vec3_dot(other->v, other->v) < stn_vec3_dot(best->v, best->v)) {
        *best = *other;
    }
}

/// Inside the triangle when the origin's foot lies within all three edges, else on the nearest edge.
static void nearest_on_triangle(simplex *s, int32_t i, int32_t j, int32_t k) {
    stn_vec3 a = s->vertices[i].w, ab = stn_vec3_sub(s->vertices[j].w, a), ac = stn_vec3_sub(s->vertices[k].w, a);
    stn_vec3 n = stn_vec3_cross(ab, ac);
    double area2 = stn_vec3_dot(n, n);
    double wj = -stn_vec3_dot(stn_vec3_cross(a, ac), n), wk = -stn_vec3_dot(stn_vec3_cross(ab, a), n);
    if (area2 > 0.0 && wj > 0.0 && wk > 0.0 && wj + wk < area2) {
        double tj = wj / area2, tk = wk / area2;
        keep(s, 3, (int32_t[]){i, j, k}, (double[]){1.0 - tj - tk, tj, tk});
        s->v = stn_vec3_scale(stn_vec3_dot(a, n) / area2, n); // the foot itself, free of cancellation
        return;
    }
    simplex first = *s, second = *s;
    nearest_on_line(&first, i, j);
    nearest_on_line(&second, j, k);
    keep_nearer(&first, &second);
    second = *s;
    nearest_on_line(&second, k, i);
    keep_nearer(&first, &second);
    *s = first;
}

/// True when the tetrahedron holds the origin.
static bool nearest_on_tetrahedron(simplex *s) {
    static const int32_t face[4][4] = {
        {0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}}; // and the opposite corner
    simplex best = *s;
    bool found = false;
    for (int32_t f = 0; f < 4; f++) {
        stn_vec3 a = s->vertices[face[f][0]].w;
        stn_vec3 n =
            stn_vec3_cross(stn_vec3_sub(s->vertices[face[f][1]].w, a), stn_vec3_sub(s->vertices[face[f][2]].w, a));
        double inside = stn_vec3_dot(n, stn_vec3_sub(s->vertices[face[f][3]].w, a)), origin = -stn_vec3_dot(n, a);
        if (origin * inside > 0.0) {
            continue; // the origin lies on the corner's side
        }
        simplex side = *s;
        nearest_on_triangle(&side, face[f][0], face[f][1], face[f][2]);
        if (!found) {
            best = side;
            found = true;
        } else {
            keep_nearer(&best, &side);
        }
    }
    *s = best;
    return !found;
}

/// Replaces the simplex by its face nearest to the origin; true when it holds the origin.
static bool reduce(simplex *s) {
    switch (s->count) {
    case 1:
        keep(s, 1, (int32_t[]){0}, (double[]){1.0});
        return false;
    case 2:
        nearest_on_line(s, 0, 1);
        return false;
    case 3:
        nearest_on_triangle(s, 0, 1, 2);
        return false;
    default:
        return nearest_on_tetrahedron(s);
    }
}

static bool contains(const simplex *s, stn_vec3 w) {
    for (int32_t i = 0; i < s->count; i++) {
        stn_vec3 u = s->vertices[i].w;
        if (u.x == w.x && u.y == w.y && u.z == w.z) {
            return true;
        }
    }
    return false;
}

/// The direction of v: of a triangle it is the normal, which its edges give more exactly than its small v.
static stn_vec3 direction_of(const simplex *s) {
    if (s->count == 3) {
        stn_vec3 a = s->vertices[0].w;
        stn_vec3 n = stn_vec3_cross(stn_vec3_sub(s->vertices[1].w, a), stn_vec3_sub(s->vertices[2].w, a));
        return stn_vec3_normalize_or(stn_vec3_dot(n, a) < 0.0 ? stn_vec3_neg(n) : n, s->v);
    }
    return stn_vec3_normalize_or(s->v, s->v);
}

static separation separation_of(const simplex *s) {
    separation r = {.normal = direction_of(s)};
    for (int32_t i = 0; i < s->count; i++) {
        r.a = stn_vec3_mul_add(r.a, s->weight[i], s->vertices[i].a);
        r.b = stn_vec3_mul_add(r.b, s->weight[i], s->vertices[i].b);
    }
    r.phi = stn_vec3_dot(r.normal, s->vertices[0].w);
    return r;
}

separation convex_separation(const convex *a, const convex *b) {
    double touching = 1e-9 * convex_scale(a, b);
    simplex s = {.count = 1};
    s.vertices[0] = difference_support(a, b, stn_vec3_sub(a->pose.position, b->pose.position));
    reduce(&s);
    for (int32_t step = 0; step < MOST_STEPS; step++) {
        double length2 = stn_vec3_dot(s.v, s.v);
        if (length2 <= touching * touching) {
            return convex_penetration(a, b);
        }
        vertex next = difference_support(a, b, stn_vec3_neg(s.v));
        if (length2 - stn_vec3_dot(s.v, next.w) <= 1e-15 * length2 || contains(&s, next.w)) {
            break;
        }
        simplex larger = s;
        larger.vertices[larger.count++] = next;
        if (reduce(&larger)) {
            return convex_penetration(a, b);
        }
        if (!(stn_vec3_dot(larger.v, larger.v) < length2)) {
            break; // rounding: no nearer point can be told
        }
        s = larger;
    }
    return separation_of(&s);
}
