// SPDX-License-Identifier: Apache-2.0
// A convex face against a polygon: the polygon is cut by the face's sides in turn [sutherland-hodgman-1974], in the
// coordinates (x, y) of the face, after projection along n.
//
// Every corner of the result is a corner of one piece inside the other, or a crossing of two edges. Its codes name that
// corner or those edges, on either side, whichever piece was called first: so they persist when the roles change.
#include "clip.h"

/// A face in its plane, which cuts the polygon `q`: inside where a x + b y <= c, or beyond by no more than the
/// tolerance, of every side. Corner k lies between sides k and k + 1.
typedef struct outline {
    const polygon *q;
    double tolerance;
    stn_vec3 centre, u, v, normal;
    int32_t sides;
    double a[POLYGON_CAPACITY], b[POLYGON_CAPACITY], c[POLYGON_CAPACITY], size;
    uint32_t corner_code[POLYGON_CAPACITY], edge_code[POLYGON_CAPACITY], face_code;
} outline;

/// `edge` names the edge that leaves the corner: a side of the face, or SECOND_EDGE + the edge's number.
enum { SECOND_EDGE = POLYGON_CAPACITY, CUT_CAPACITY = 2 * POLYGON_CAPACITY + 8 };
typedef struct cut_corner {
    double x, y, h;
    uint32_t first, second, edge;
} cut_corner;

typedef struct cut {
    int32_t count;
    cut_corner corners[CUT_CAPACITY];
} cut;

double overlap_depth(const overlap *o) {
    double depth = INFINITY;
    for (int32_t i = 0; i < o->count; i++) {
        depth = o->points[i].h < depth ? o->points[i].h : depth;
    }
    return depth;
}

/// How far beyond a side; positive: outside.
static inline double beyond(const outline *r, uint32_t side, double x, double y) {
    return r->a[side] * x + r->b[side] * y - r->c[side];
}

/// Where the edge from a to b meets the side; d_a, d_b: how far they lie beyond it.
static cut_corner meet(const outline *r, const cut_corner *a, const cut_corner *b, double d_a, double d_b,
                       uint32_t side) {
    double t = clamp(d_a / (d_a - d_b), 0.0, 1.0);
    cut_corner c = {a->x + t * (b->x - a->x), a->y + t * (b->y - a->y), a->h + t * (b->h - a->h), 0, 0, 0};
    if (a->edge >= SECOND_EDGE) {
        c.first = r->edge_code[side];
        c.second = r->q->edge_code[a->edge - SECOND_EDGE];
    } else {
        c.first = r->corner_code[(a->edge + 1) % (uint32_t)r->sides == side ? a->edge : side];
        c.second = r->q->face_code;
    }
    return c;
}

/// Cuts `from` into `to`; false when nothing lies beyond the side and `to` is not written.
static bool cut_side(const outline *r, uint32_t side, const cut *from, cut *to) {
    double d[CUT_CAPACITY], tolerance = r->tolerance;
    bool any = false;
    for (int32_t i = 0; i < from->count; i++) {
        d[i] = beyond(r, side, from->corners[i].x, from->corners[i].y);
        any = any || d[i] > tolerance;
    }
    if (!any) {
        return false;
    }
    to->count = 0;
    for (int32_t i = 0; i < from->count; i++) {
        int32_t j = i + 1 < from->count ? i + 1 : 0;
        bool inside = d[i] <= tolerance, next_inside = d[j] <= tolerance;
        if (inside && to->count < CUT_CAPACITY) {
            to->corners[to->count++] = from->corners[i];
        }
        if (inside != next_inside && to->count < CUT_CAPACITY) {
            cut_corner *m = &to->corners[to->count++];
            *m = meet(r, &from->corners[i], &from->corners[j], d[i], d[j], side);
            m->edge = inside ? side : from->corners[i].edge;
        }
    }
    return true;
}

/// The polygon, seen along n in the face's plane.
static void project(const outline *r, stn_vec3 n, cut *c) {
    const polygon *q = r->q;
    c->count = q->count;
    double along = 1.0 / stn_vec3_dot(n, r->normal), n_u = stn_vec3_dot(n, r->u), n_v = stn_vec3_dot(n, r->v);
    for (int32_t i = 0; i < q->count; i++) {
        stn_vec3 w = stn_vec3_sub(q->corner[i], r->centre);
        double h = along * stn_vec3_dot(w, r->normal);
        c->corners[i] = (cut_corner){
            stn_vec3_dot(w, r->u) - h * n_u, stn_vec3_dot(w, r->v) - h * n_v, h, r->face_code, q->corner_code[i],
            SECOND_EDGE + (uint32_t)i};
    }
}

static void put(const outline *r, const cut_corner *k, overlap *out) {
    stn_vec3 p = stn_vec3_mul_add(stn_vec3_mul_add(r->centre, k->x, r->u), k->y, r->v);
    out->points[out->count++] = (overlap_point){p, k->h, k->first, k->second};
}

/// Cuts the projected polygon.
static void clip_outline(const outline *r, cut *projected, overlap *out) {
    const polygon *q = r->q;
    cut second, *c = projected, *spare = &second;
    const cut_corner *from = &c->corners[0], *to = &c->corners[q->count / 2];
    double extent = q->count > 0 ? fabs(to->x - from->x) + fabs(to->y - from->y) : 0.0;
    for (uint32_t side = 0; q->count != 2 && side < (uint32_t)r->sides; side++) {
        if (cut_side(r, side, c, spare)) {
            cut *t = c;
            c = spare;
            spare = t;
        }
    }
    // a line has two ends; each side moves the end that lies beyond it
    for (uint32_t side = 0; q->count == 2 && side < (uint32_t)r->sides && c->count > 0; side++) {
        cut_corner *a = &c->corners[0], *b = &c->corners[1];
        double d_a = beyond(r, side, a->x, a->y), d_b = beyond(r, side, b->x, b->y);
        if (d_a > r->tolerance && d_b > r->tolerance) {
            c->count = 0;
        } else if (d_a > r->tolerance) {
            *a = meet(r, a, b, d_a, d_b, side);
            a->edge = SECOND_EDGE;
        } else if (d_b > r->tolerance) {
            *b = meet(r, a, b, d_a, d_b, side);
            b->edge = SECOND_EDGE;
        }
    }
    // corners that rounding has doubled become one, the deeper
    double near = 1e-6 * fmin(r->size, extent);
    int32_t count = 0;
    for (int32_t i = 0; i < c->count; i++) {
        const cut_corner *here = &c->corners[i], *last = count > 0 ? &c->corners[count - 1] : NULL;
        if (last != NULL && fabs(here->x - last->x) < near && fabs(here->y - last->y) < near) {
            c->corners[count - 1] = here->h < last->h ? *here : *last;
        } else {
            c->corners[count++] = *here;
        }
    }
    if (count > 1 && fabs(c->corners[0].x - c->corners[count - 1].x) < near &&
        fabs(c->corners[0].y - c->corners[count - 1].y) < near) {
        count--;
        c->corners[0] = c->corners[count].h < c->corners[0].h ? c->corners[count] : c->corners[0];
    }
    out->count = 0;
    out->lines = false;
    for (int32_t i = 0; i < count; i++) {
        put(r, &c->corners[i], out);
    }
}

void clip_rectangle(const rectangle *r, const polygon *q, stn_vec3 n, double tolerance, overlap *out) {
    outline o;
    o.q = q;
    o.tolerance = tolerance;
    o.centre = r->centre;
    o.u = r->u;
    o.v = r->v;
    o.normal = r->normal;
    o.sides = 4;
    o.size = r->hu + r->hv;
    o.face_code = r->face_code;
    for (int32_t i = 0; i < 4; i++) {
        static const double a[4] = {1.0, 0.0, -1.0, 0.0}, b[4] = {0.0, 1.0, 0.0, -1.0};
        o.a[i] = a[i];
        o.b[i] = b[i];
        o.c[i] = i % 2 == 0 ? r->hu : r->hv;
        o.corner_code[i] = r->corner_code[i];
        o.edge_code[i] = r->edge_code[i];
    }
    cut projected;
    project(&o, n, &projected);
    clip_outline(&o, &projected, out);
}

/// Of the projected polygon the part that is not higher than the margin: its outline's points; 0 when there is none.
static int32_t low_part(const cut *c, double margin, double (*place)[2]) {
    int32_t count = 0;
    for (int32_t i = 0; i < c->count; i++) {
        const cut_corner *k = &c->corners[i], *next = &c->corners[i + 1 < c->count ? i + 1 : 0];
        if (k->h <= margin) {
            place[count][0] = k->x;
            place[count++][1] = k->y;
        }
        if ((k->h <= margin) != (next->h <= margin)) {
            const double t = (margin - k->h) / (next->h - k->h);
            place[count][0] = k->x + t * (next->x - k->x);
            place[count++][1] = k->y + t * (next->y - k->y);
        }
    }
    return count;
}

/// Where the part of the polygon that is not higher than the margin lies inside of the face as a whole, its corners are
/// all that the cut would leave there: nothing is cut then.
static bool lies_inside(const outline *r, const cut *projected, double margin) {
    double place[2 * POLYGON_CAPACITY][2];
    const int32_t count = low_part(projected, margin, place);
    for (int32_t k = 0; k < count; k++) {
        for (uint32_t side = 0; side < (uint32_t)r->sides; side++) {
            if (!(beyond(r, side, place[k][0], place[k][1]) <= 0.0)) {
                return false;
            }
        }
    }
    return count > 0;
}

/// The outward side of an edge e = (x, y) is (y, -x), as corners stand counter-clockwise about u x v. A box names its
/// corners the other way round on half of its faces.
static void set_sides(const polygon *p, outline *o) {
    double x[POLYGON_CAPACITY], y[POLYGON_CAPACITY], area = 0.0;
    for (int32_t i = 0; i < p->count; i++) {
        stn_vec3 from = stn_vec3_sub(p->corner[i], o->centre);
        x[i] = stn_vec3_dot(from, o->u);
        y[i] = stn_vec3_dot(from, o->v);
    }
    o->sides = p->count;
    for (int32_t i = 0; i < p->count; i++) {
        int32_t next = i + 1 < p->count ? i + 1 : 0;
        area += x[i] * y[next] - x[next] * y[i];
        double a = y[next] - y[i], b = x[i] - x[next], length = sqrt(a * a + b * b);
        double part = length > 0.0 ? 1.0 / length : 0.0;
        o->a[i] = part * a;
        o->b[i] = part * b;
        o->c[i] = o->a[i] * x[i] + o->b[i] * y[i];
        o->corner_code[i] = p->corner_code[next];
        o->edge_code[i] = p->edge_code[i];
    }
    for (int32_t i = 0; i < p->count && area < 0.0; i++) {
        o->a[i] = -o->a[i];
        o->b[i] = -o->b[i];
        o->c[i] = -o->c[i];
    }
}

void clip_polygon(const polygon *p, const polygon *q, stn_vec3 n, double tolerance, double margin, overlap *out) {
    outline o;
    cut projected;
    o.q = q;
    o.tolerance = tolerance;
    int32_t middle = p->count / 2;
    stn_vec3 across = stn_vec3_sub(p->corner[middle], p->corner[0]);
    o.normal = p->normal;
    o.u = stn_vec3_mul_add(across, -stn_vec3_dot(across, p->normal), p->normal);
    o.u = stn_vec3_normalize_or(o.u, stn_vec3_zero());
    if (stn_vec3_dot(o.u, o.u) == 0.0) {
        stn_mat3 frame = stn_contact_frame(p->normal);
        o.u = stn_mat3_column(&frame, 0);
    }
    o.v = stn_vec3_cross(p->normal, o.u);
    o.centre = stn_vec3_scale(0.5, stn_vec3_add(p->corner[middle], p->corner[0]));
    o.size = 0.5 * stn_vec3_norm(across);
    o.face_code = p->face_code;
    set_sides(p, &o);
    project(&o, n, &projected);
    if (lies_inside(&o, &projected, margin)) {
        out->count = 0;
        out->lines = false;
        for (int32_t i = 0; i < q->count; i++) {
            if (projected.corners[i].h <= margin) {
                put(&o, &projected.corners[i], out);
            }
        }
        return;
    }
    clip_outline(&o, &projected, out);
}

void polygon_of(const rectangle *r, polygon *out) {
    stn_vec3 u = stn_vec3_scale(r->hu, r->u), v = stn_vec3_scale(r->hv, r->v);
    stn_vec3 right = stn_vec3_add(r->centre, u), left = stn_vec3_sub(r->centre, u);
    out->count = 4;
    out->normal = r->normal;
    out->face_code = r->face_code;
    out->corner[0] = stn_vec3_add(right, v);
    out->corner[1] = stn_vec3_add(left, v);
    out->corner[2] = stn_vec3_sub(left, v);
    out->corner[3] = stn_vec3_sub(right, v);
    for (int32_t i = 0; i < 4; i++) {
        out->corner_code[i] = r->corner_code[i];
        out->edge_code[i] = r->edge_code[(i + 1) % 4]; // side i + 1 leaves corner i
    }
}

// Codes of a box, the same whichever face they are met on: corner k is on the positive side of axis i when bit i of k
// is set; an edge is 8 + 8 axis + its corner on the axis' negative side; a face 32 + 2 axis + (1 on the positive side).
enum { CODE_EDGE = 8, CODE_FACE = 32 };

void box_face(stn_vec3 half, const stn_pose *pose, stn_vec3 direction, rectangle *r) {
    const double h[3] = {half.x, half.y, half.z};
    stn_vec3 d = stn_mat3_apply_transposed(&pose->rotation, direction);
    double ax = fabs(d.x), ay = fabs(d.y), az = fabs(d.z);
    int32_t i = ax >= ay && ax >= az ? 0 : ay >= az ? 1 : 2, j = (i + 1) % 3, k = (i + 2) % 3;
    bool positive = (i == 0 ? d.x : i == 1 ? d.y : d.z) >= 0.0;
    stn_vec3 axis = stn_mat3_column(&pose->rotation, i);
    r->u = stn_mat3_column(&pose->rotation, j);
    r->v = stn_mat3_column(&pose->rotation, k);
    r->hu = h[j];
    r->hv = h[k];
    r->normal = positive ? axis : stn_vec3_neg(axis);
    r->centre = stn_vec3_mul_add(pose->position, h[i], r->normal);
    uint32_t side = positive ? 1U << i : 0, bit_j = 1U << j, bit_k = 1U << k;
    r->face_code = CODE_FACE + 2 * (uint32_t)i + positive;
    r->corner_code[0] = side | bit_j | bit_k;
    r->corner_code[1] = side | bit_k;
    r->corner_code[2] = side;
    r->corner_code[3] = side | bit_j;
    r->edge_code[0] = CODE_EDGE + 8 * (uint32_t)k + (side | bit_j);
    r->edge_code[1] = CODE_EDGE + 8 * (uint32_t)j + (side | bit_k);
    r->edge_code[2] = CODE_EDGE + 8 * (uint32_t)k + side;
    r->edge_code[3] = CODE_EDGE + 8 * (uint32_t)j + side;
}

void cylinder_cap(const stn_shape *cylinder, const stn_pose *pose, bool positive, disk *out) {
    stn_vec3 axis = stn_mat3_column(&pose->rotation, 2);
    out->u = stn_mat3_column(&pose->rotation, 0);
    out->v = stn_mat3_column(&pose->rotation, 1);
    out->normal = positive ? axis : stn_vec3_neg(axis);
    out->centre = stn_vec3_mul_add(pose->position, cylinder->half_length, out->normal);
    out->radius = cylinder->radius;
    out->code = positive ? DISK_CODES : 0;
}

void side_line(const stn_shape *shape, const stn_pose *pose, stn_vec3 direction, polygon *out) {
    stn_vec3 axis = stn_mat3_column(&pose->rotation, 2);
    stn_vec3 across = stn_vec3_mul_add(direction, -stn_vec3_dot(direction, axis), axis);
    double length = stn_vec3_norm(across);
    out->count = 0;
    for (uint32_t end = 0; end < 2; end++) {
        out->corner_code[end] = CODE_LINE_END + end;
        out->edge_code[end] = CODE_LINE;
    }
    out->face_code = CODE_LINE;
    if (length > 1e-6) {
        stn_vec3 middle = stn_vec3_mul_add(pose->position, shape->radius / length, across);
        out->count = 2;
        out->corner[0] = stn_vec3_mul_add(middle, -shape->half_length, axis);
        out->corner[1] = stn_vec3_mul_add(middle, shape->half_length, axis);
    }
}

void clip_lines(const polygon *first, const polygon *second, stn_vec3 n, overlap *out) {
    out->count = 0;
    out->lines = true;
    if (first->count != 2 || second->count != 2) {
        return;
    }
    stn_vec3 along = stn_vec3_sub(first->corner[1], first->corner[0]);
    stn_vec3 other = stn_vec3_sub(second->corner[1], second->corner[0]);
    double length = stn_vec3_norm(along), length_b = stn_vec3_norm(other), product = stn_vec3_dot(along, other);
    if (!(fabs(product) >= 0.999 * length * length_b) || product == 0.0) {
        return;
    }
    stn_vec3 u = stn_vec3_scale(1.0 / length, along);
    double start = stn_vec3_dot(u, stn_vec3_sub(second->corner[0], first->corner[0])), end = start + product / length;
    double low = fmax(0.0, fmin(start, end)), high = fmin(length, fmax(start, end));
    if (!(high - low > 1e-6 * fmin(length, length_b))) {
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        double s = i == 0 ? low : high, t = (s - start) / (end - start);
        stn_vec3 p = stn_vec3_mul_add(first->corner[0], s, u), q = stn_vec3_mul_add(second->corner[0], t, other);
        out->other[i] = q;
        out->points[out->count++] = (overlap_point){p, stn_vec3_dot(n, stn_vec3_sub(q, p)), CODE_LINE_END + i,
                                                    CODE_LINE_END + (product > 0.0 ? i : 1 - i)};
    }
}
