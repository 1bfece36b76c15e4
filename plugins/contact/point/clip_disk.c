// SPDX-License-Identifier: Apache-2.0
// A disk against a polygon or a disk, in the disk's plane after projection along n, where the second piece is an affine
// image: (x, y, h) = c + alpha E + beta F, of a polygon or of the unit circle alpha^2 + beta^2 = 1 (ellipse). Points:
// four rim points fixed to each disk, so that they persist while it stands, corners, and crossings with the rim.
#include "clip.h"

enum { RIM_POINTS = 4 };
static const double rim_direction[RIM_POINTS][2] = {{1.0, 0.0}, {0.0, 1.0}, {-1.0, 0.0}, {0.0, -1.0}};

/// In the disk's plane, with the height over it.
typedef struct flat_point {
    double x, y, h;
} flat_point;

typedef struct affine {
    flat_point c, e, f;
    double inverse; // 1 / (E x F)
} affine;

static flat_point project(const disk *d, stn_vec3 q, stn_vec3 n) {
    stn_vec3 w = stn_vec3_sub(q, d->centre);
    double h = stn_vec3_dot(w, d->normal) / stn_vec3_dot(n, d->normal);
    w = stn_vec3_mul_add(w, -h, n);
    flat_point p = {stn_vec3_dot(w, d->u), stn_vec3_dot(w, d->v), h};
    return p;
}

static void set_inverse(affine *m) {
    double area = m->e.x * m->f.y - m->e.y * m->f.x;
    m->inverse = area != 0.0 ? 1.0 / area : 0.0;
}

/// Alpha and beta of a point.
typedef struct place {
    double alpha, beta;
} place;

static place coordinates(const affine *m, double x, double y) {
    x -= m->c.x;
    y -= m->c.y;
    place at = {m->inverse * (x * m->f.y - y * m->f.x), m->inverse * (y * m->e.x - x * m->e.y)};
    return at;
}

static flat_point image(const affine *m, double alpha, double beta) {
    flat_point p = {m->c.x + alpha * m->e.x + beta * m->f.x, m->c.y + alpha * m->e.y + beta * m->f.y,
                    m->c.h + alpha * m->e.h + beta * m->f.h};
    return p;
}

static void start(const disk *d, double other_size, overlap *out) {
    out->count = 0;
    out->lines = false;
    out->near = 1e-6 * fmin(d->radius, other_size);
}

/// Appends unless a point stands there already.
static void add(const disk *d, flat_point p, uint32_t first, uint32_t second, overlap *out) {
    stn_vec3 q = stn_vec3_mul_add(stn_vec3_mul_add(d->centre, p.x, d->u), p.y, d->v);
    for (int32_t i = 0; i < out->count; i++) {
        stn_vec3 apart = stn_vec3_sub(out->points[i].p, q);
        if (stn_vec3_dot(apart, apart) < out->near * out->near) {
            return;
        }
    }
    if (out->count < OVERLAP_CAPACITY) {
        out->points[out->count++] = (overlap_point){q, p.h, first, second};
    }
}

/// The two crossings of the line p + t (q - p), 0 < t < 1, with the rim.
static void add_rim_crossings(const disk *d, flat_point p, flat_point q, uint32_t edge, overlap *out) {
    double x = q.x - p.x, y = q.y - p.y, a = x * x + y * y, b = p.x * x + p.y * y;
    double c = p.x * p.x + p.y * p.y - d->radius * d->radius, root2 = b * b - a * c;
    if (!(root2 > 0.0) || !(a > 0.0)) {
        return;
    }
    double far = -(b + copysign(sqrt(root2), b)); // the root without cancellation, then the other by their product
    const double t[2] = {far / a, c / far};
    for (uint32_t k = 0; k < 2; k++) {
        if (t[k] > 0.0 && t[k] < 1.0) {
            flat_point on = {p.x + t[k] * x, p.y + t[k] * y, p.h + t[k] * (q.h - p.h)};
            add(d, on, d->code + CODE_RIM_CROSSING + (t[k] > t[1 - k]), edge, out);
        }
    }
}

/// Inside the projected polygon, whichever way round its corners stand.
static bool is_inside(const flat_point *corner, int32_t count, double x, double y, double tolerance) {
    bool left = true, right = true;
    for (int32_t i = 0; i < count; i++) {
        const flat_point *p = &corner[i], *q = &corner[i + 1 < count ? i + 1 : 0];
        double e_x = q->x - p->x, e_y = q->y - p->y, side = e_x * (y - p->y) - e_y * (x - p->x);
        double tiny = tolerance * sqrt(e_x * e_x + e_y * e_y);
        left = left && side >= -tiny;
        right = right && side <= tiny;
    }
    return left || right;
}

void clip_disk_polygon(const disk *d, const polygon *q, stn_vec3 n, overlap *out) {
    flat_point corner[POLYGON_CAPACITY];
    if (q->count == 0) {
        out->count = 0;
        return;
    }
    double r = d->radius, inside = r * r * (1.0 + 1e-9);
    double size = stn_vec3_norm(stn_vec3_sub(q->corner[q->count / 2], q->corner[0]));
    start(d, size, out);
    for (int32_t i = 0; i < q->count; i++) {
        corner[i] = project(d, q->corner[i], n);
        if (corner[i].x * corner[i].x + corner[i].y * corner[i].y <= inside) {
            add(d, corner[i], d->code + CODE_CAP, q->corner_code[i], out);
        }
    }
    if (q->count > 2) { // rim points fixed to the disk that lie in the polygon, whose plane three of its corners span
        const flat_point *c = &corner[0], *e = &corner[q->count / 3], *f = &corner[2 * q->count / 3];
        affine m = {*c, {e->x - c->x, e->y - c->y, e->h - c->h}, {f->x - c->x, f->y - c->y, f->h - c->h}, 0.0};
        set_inverse(&m);
        for (uint32_t k = 0; k < RIM_POINTS; k++) {
            double x = r * rim_direction[k][0], y = r * rim_direction[k][1];
            if (is_inside(corner, q->count, x, y, 1e-9 * size)) {
                place at = coordinates(&m, x, y);
                add(d, image(&m, at.alpha, at.beta), d->code + k, q->face_code, out);
            }
        }
    }
    for (int32_t i = 0; i < (q->count > 2 ? q->count : q->count / 2); i++) {
        add_rim_crossings(d, corner[i], corner[(i + 1) % q->count], q->edge_code[i], out);
    }
}

/// Angle on the first rim that lies on the second one, by Newton's method from the crossing of two circles.
static bool crossing_angle(const affine *m, double r, double *angle) {
    for (int32_t step = 0; step < 8; step++) {
        double c = r * cos(*angle), s = r * sin(*angle);
        place at = coordinates(m, c, s);
        double value = at.alpha * at.alpha + at.beta * at.beta - 1.0;
        if (fabs(value) < 1e-12) {
            return true;
        }
        double d_alpha = m->inverse * (-s * m->f.y - c * m->f.x), d_beta = m->inverse * (c * m->e.x + s * m->e.y);
        double slope = 2.0 * (at.alpha * d_alpha + at.beta * d_beta);
        if (!(fabs(slope) > 1e-6)) {
            return false;
        }
        *angle -= clamp(value / slope, -0.5, 0.5);
    }
    return false;
}

void clip_disk_disk(const disk *first, const disk *second, stn_vec3 n, overlap *out) {
    double r = first->radius, s = second->radius;
    flat_point c = project(first, second->centre, n);
    flat_point e = project(first, stn_vec3_mul_add(second->centre, s, second->u), n);
    flat_point f = project(first, stn_vec3_mul_add(second->centre, s, second->v), n);
    affine m = {c, {e.x - c.x, e.y - c.y, e.h - c.h}, {f.x - c.x, f.y - c.y, f.h - c.h}, 0.0};
    set_inverse(&m);
    int32_t inside_second = 0, inside_first = 0;
    start(first, s, out);
    for (uint32_t k = 0; k < RIM_POINTS; k++) {
        place at = coordinates(&m, r * rim_direction[k][0], r * rim_direction[k][1]);
        if (at.alpha * at.alpha + at.beta * at.beta <= 1.0 + 1e-9) {
            add(first, image(&m, at.alpha, at.beta), first->code + k, second->code + CODE_CAP, out);
            inside_second++;
        }
        flat_point p = image(&m, rim_direction[k][0], rim_direction[k][1]);
        if (p.x * p.x + p.y * p.y <= r * r * (1.0 + 1e-9)) {
            add(first, p, first->code + CODE_CAP, second->code + k, out);
            inside_first++;
        }
    }
    if (inside_second == RIM_POINTS || inside_first == RIM_POINTS) {
        return;
    }
    double apart = sqrt(c.x * c.x + c.y * c.y), cosine = (apart * apart + r * r - s * s) / (2.0 * apart * r);
    for (uint32_t k = 0; k < 2 && fabs(cosine) < 1.0; k++) { // the circles cross
        double angle = atan2(c.y, c.x) + (k == 0 ? 1.0 : -1.0) * acos(cosine);
        if (crossing_angle(&m, r, &angle)) {
            place at = coordinates(&m, r * cos(angle), r * sin(angle));
            uint32_t code = CODE_RIM_CROSSING + k;
            add(first, image(&m, at.alpha, at.beta), first->code + code, second->code + code, out);
        }
    }
}
