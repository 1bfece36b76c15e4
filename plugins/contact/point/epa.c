// SPDX-License-Identifier: Apache-2.0
// Depth of two overlapping convex bodies: the face of the Minkowski difference C = B - A nearest to the origin. A
// polytope inside C grows by the support point beyond its nearest face until that face lies on the boundary of C
// [van-den-bergen-2001]. It need not hold the origin at first: a face that has the origin outside counts as nearer than
// all others, so that the polytope grows towards it.
#include "gjk.h"

enum { MOST_VERTICES = 192, MOST_FACES = 2 * MOST_VERTICES };

/// Corners counter-clockwise seen from outside; neighbour k lies across the edge from corner k to corner k + 1.
typedef struct face {
    int32_t corner[3], neighbour[3];
    stn_vec3 normal; // unit, outward
    double distance; // of its plane from the origin; infinite for a sliver, which is never expanded
    bool alive, visible;
} face;

typedef struct polytope {
    int32_t vertex_count, face_count; // faces used, dead ones included
    vertex vertices[MOST_VERTICES];
    face faces[MOST_FACES];
    int32_t free_count, free_faces[MOST_FACES];
    int32_t start[MOST_VERTICES]; // new face whose first corner this vertex is; -1: none
} polytope;

/// The normal is taken from the two shorter sides: of a sliver, as a small body beside a large one makes them, the two
/// longer ones are nearly along each other, and their product is rounding.
static void set_plane(polytope *p, face *f) {
    stn_vec3 side[3], n;
    double length2[3], area, longest2;
    for (int32_t k = 0; k < 3; k++) {
        side[k] = stn_vec3_sub(p->vertices[f->corner[(k + 1) % 3]].w, p->vertices[f->corner[k]].w);
        length2[k] = stn_vec3_dot(side[k], side[k]);
    }
    int32_t longest = length2[0] >= length2[1] && length2[0] >= length2[2] ? 0 : length2[1] >= length2[2] ? 1 : 2;
    n = stn_vec3_cross(side[(longest + 1) % 3], side[(longest + 2) % 3]);
    area = stn_vec3_norm(n);
    longest2 = length2[longest];
    bool flat = !(area > 1e-13 * longest2);
    f->normal = flat ? stn_vec3_zero() : stn_vec3_scale(1.0 / area, n);
    f->distance = flat ? HUGE_VAL : stn_vec3_dot(f->normal, p->vertices[f->corner[0]].w);
    f->alive = true;
    f->visible = false;
}

/// The better of the two support points along a line, measured from `from`.
static vertex furthest(const convex *a, const convex *b, stn_vec3 direction, stn_vec3 from) {
    vertex up = difference_support(a, b, direction), down = difference_support(a, b, stn_vec3_neg(direction));
    double high = stn_vec3_dot(direction, stn_vec3_sub(up.w, from));
    double low = stn_vec3_dot(direction, stn_vec3_sub(from, down.w));
    return high >= low ? up : down;
}

/// The faces of the first four vertices.
static void turn_out(polytope *p) {
    vertex *v = p->vertices;
    stn_vec3 n = stn_vec3_cross(stn_vec3_sub(v[1].w, v[0].w), stn_vec3_sub(v[2].w, v[0].w));
    if (stn_vec3_dot(n, stn_vec3_sub(v[3].w, v[0].w)) > 0.0) { // corners 0, 1, 2 must be seen from outside
        vertex t = v[1];
        v[1] = v[2];
        v[2] = t;
    }
    static const int32_t corner[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    static const int32_t neighbour[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
    p->vertex_count = p->face_count = 4;
    p->free_count = 0;
    for (int32_t i = 0; i < 4; i++) {
        for (int32_t k = 0; k < 3; k++) {
            p->faces[i].corner[k] = corner[i][k];
            p->faces[i].neighbour[k] = neighbour[i][k];
        }
        set_plane(p, &p->faces[i]);
    }
}

/// Corners around the origin that do not lie nearly in one plane.
static bool is_round_about(const simplex *s) {
    if (s == NULL || s->count != 4) {
        return false;
    }
    stn_vec3 at = s->corner[0].w, u = stn_vec3_sub(s->corner[1].w, at), v = stn_vec3_sub(s->corner[2].w, at),
             w = stn_vec3_sub(s->corner[3].w, at);
    double size = stn_vec3_norm(u) + stn_vec3_norm(v) + stn_vec3_norm(w);
    return fabs(stn_vec3_dot(stn_vec3_cross(u, v), w)) > 1e-4 * size * size * size;
}

/// The corners that are given, or a large tetrahedron: extremes along x, then off their line, then off their plane.
static void first_tetrahedron(polytope *p, const convex *a, const convex *b, const simplex *around) {
    vertex *v = p->vertices;
    if (is_round_about(around)) {
        for (int32_t i = 0; i < 4; i++) {
            v[i] = around->corner[i];
        }
        turn_out(p);
        return;
    }
    v[0] = difference_support(a, b, stn_vec3_make(1.0, 0.0, 0.0));
    v[1] = difference_support(a, b, stn_vec3_make(-1.0, 0.0, 0.0));
    stn_vec3 line = stn_vec3_normalize_or(stn_vec3_sub(v[1].w, v[0].w), stn_vec3_make(1.0, 0.0, 0.0));
    stn_mat3 frame = stn_contact_frame(line);
    v[2] = furthest(a, b, stn_mat3_column(&frame, 0), v[0].w);
    stn_vec3 n = stn_vec3_cross(line, stn_vec3_sub(v[2].w, v[0].w));
    v[3] = furthest(a, b, stn_vec3_normalize_or(n, stn_mat3_column(&frame, 1)), v[0].w);
    turn_out(p);
}

/// Replaces the faces that see the newest vertex by a cone from it over their horizon. False: the polytope is spoilt,
/// or there is no room.
static bool expand(polytope *p, int32_t first, double tiny) {
    int32_t list[MOST_FACES], fresh[MOST_FACES], count = 1, fresh_count = 0, newest = p->vertex_count - 1;
    stn_vec3 w = p->vertices[newest].w;
    list[0] = first;
    p->faces[first].visible = true;
    for (int32_t i = 0; i < count; i++) { // the connected faces that see it
        for (int32_t k = 0; k < 3; k++) {
            int32_t id = p->faces[list[i]].neighbour[k];
            face *f = &p->faces[id];
            bool flat = isinf(f->distance) != 0;
            if (!f->visible && (flat || stn_vec3_dot(f->normal, w) - f->distance > tiny)) {
                f->visible = true;
                list[count++] = id;
            }
        }
    }
    for (int32_t i = 0; i < p->vertex_count; i++) {
        p->start[i] = -1;
    }
    for (int32_t i = 0; i < 3 * count; i++) { // a face from each edge of the horizon to the new vertex
        const face *seen = &p->faces[list[i / 3]];
        int32_t from = seen->corner[i % 3], to = seen->corner[(i % 3 + 1) % 3], beyond = seen->neighbour[i % 3];
        face *outer = &p->faces[beyond];
        if (outer->visible) {
            continue;
        }
        if (p->start[from] >= 0 || (p->free_count == 0 && p->face_count == MOST_FACES)) {
            return false; // the horizon crosses itself, or there is no room
        }
        int32_t id = p->free_count > 0 ? p->free_faces[--p->free_count] : p->face_count++;
        face *f = &p->faces[id];
        *f = (face){.corner = {from, to, newest}, .neighbour = {beyond, -1, -1}};
        set_plane(p, f);
        outer->neighbour[outer->neighbour[0] == list[i / 3] ? 0 : outer->neighbour[1] == list[i / 3] ? 1 : 2] = id;
        p->start[from] = id;
        fresh[fresh_count++] = id;
    }
    for (int32_t i = 0; i < fresh_count; i++) {
        face *f = &p->faces[fresh[i]];
        int32_t next = p->start[f->corner[1]];
        if (next < 0) {
            return false;
        }
        f->neighbour[1] = next;
        p->faces[next].neighbour[2] = fresh[i];
    }
    for (int32_t i = 0; i < count; i++) {
        p->faces[list[i]].alive = false;
        p->free_faces[p->free_count++] = list[i];
    }
    return fresh_count >= 3;
}

/// The nearest points once B has been moved out of the overlap along the normal.
static void points_apart(const convex *a, const convex *b, separation *r) {
    double move = 1e-2 * pair_size(a->shape, b->shape) - r->phi, least;
    convex moved = *b;
    moved.pose.position = stn_vec3_mul_add(b->pose.position, move, r->normal);
    separation apart;
    r->a = stn_vec3_zero();
    r->b = stn_vec3_scale(r->phi, r->normal);
    if (convex_apart(a, &moved, INFINITY, &apart, &least)) {
        r->a = apart.a;
        r->b = stn_vec3_mul_add(apart.b, -move, r->normal);
    }
}

/// The points of A and B over the origin's foot on a face. A flat side of C is covered by several faces, or by none
/// under the foot; then they are found apart.
static separation separation_on(const convex *a, const convex *b, const polytope *p, const face *f) {
    const vertex *s = &p->vertices[f->corner[0]], *t = &p->vertices[f->corner[1]], *u = &p->vertices[f->corner[2]];
    stn_vec3 st = stn_vec3_sub(t->w, s->w), su = stn_vec3_sub(u->w, s->w), n = stn_vec3_cross(st, su);
    double area2 = stn_vec3_dot(n, n), tt = -stn_vec3_dot(stn_vec3_cross(s->w, su), n) / area2;
    double tu = -stn_vec3_dot(stn_vec3_cross(st, s->w), n) / area2, ts = 1.0 - tt - tu;
    separation r = {.phi = -f->distance, .normal = stn_vec3_neg(f->normal)};
    if (ts >= 0.0 && tt >= 0.0 && tu >= 0.0) {
        r.a = stn_vec3_mul_add(stn_vec3_mul_add(stn_vec3_scale(ts, s->a), tt, t->a), tu, u->a);
        r.b = stn_vec3_mul_add(stn_vec3_mul_add(stn_vec3_scale(ts, s->b), tt, t->b), tu, u->b);
    } else {
        points_apart(a, b, &r);
    }
    return r;
}

/// Depth along one direction: the reach of C against the normal.
static double depth_along(const convex *a, const convex *b, stn_vec3 normal) {
    stn_vec3 outward = stn_vec3_neg(normal);
    return stn_vec3_dot(outward, difference_support(a, b, outward).w);
}

/// The direction of smallest depth around a cylinder's axis, unless `normal` is better: a small body near the axis of a
/// large one has nearly the same depth along all of them. The best of many, then halving steps beside it.
static stn_vec3 best_around_axis(const convex *a, const convex *b, const convex *cylinder, stn_vec3 normal) {
    enum { DIRECTIONS = 256, HALVINGS = 40 };
    double best = depth_along(a, b, normal), spacing = 2.0 * STN_PI / DIRECTIONS, middle = 0.0;
    if (cylinder->shape->type != STN_SHAPE_CYLINDER) {
        return normal;
    }
    for (int32_t k = 0; k < DIRECTIONS + 2 * HALVINGS; k++) {
        double step = ldexp(k % 2 == 0 ? spacing : -spacing, -(k - DIRECTIONS) / 2);
        double angle = k < DIRECTIONS ? k * spacing : middle + step;
        stn_vec3 side = {cos(angle), sin(angle), 0.0}, n = stn_mat3_apply(&cylinder->pose.rotation, side);
        double depth = depth_along(a, b, n);
        if (depth < best) {
            best = depth;
            middle = angle;
            normal = n;
        }
    }
    return normal;
}

/// The normal of a face or cap along which the depth is smallest, unless `normal` is better: a small body deep inside a
/// hull of thousands of faces leaves it through one of them. `side`: 1 for A, whose faces look along the normal, -1 for
/// B.
static stn_vec3 best_of_flats(const convex *a, const convex *b, double side, stn_vec3 normal) {
    const convex *c = side > 0.0 ? a : b;
    const stn_polytope *hull = c->shape->type == STN_SHAPE_CONVEX ? c->shape->mesh->polytope : NULL;
    int32_t others = c->shape->type == STN_SHAPE_BOX ? 6 : c->shape->type == STN_SHAPE_CYLINDER ? 2 : 0;
    double best = depth_along(a, b, normal);
    for (int32_t i = 0; i < (hull != NULL ? hull->face_count : others); i++) {
        stn_vec3 outward;
        if (hull != NULL) {
            const double *plane = hull->planes + 4 * (size_t)i;
            outward = stn_mat3_apply(&c->pose.rotation, stn_vec3_make(plane[0], plane[1], plane[2]));
        } else {
            outward = stn_vec3_scale(i % 2 == 0 ? 1.0 : -1.0, stn_mat3_column(&c->pose.rotation, 2 - i / 2));
        }
        stn_vec3 n = stn_vec3_scale(side, outward);
        double depth = depth_along(a, b, n);
        if (depth < best) {
            best = depth;
            normal = n;
        }
    }
    return normal;
}

/// Turns the normal to where the depth along it is smallest, by a star of directions that shrinks. For what the
/// polytope cannot resolve, such as one cylinder in the axis of another, where every radial direction is as good.
static separation turn_normal(const convex *a, const convex *b, stn_vec3 normal) {
    static const double star[6][2] = {{1.0, 0.0}, {0.5, 0.9}, {-0.5, 0.9}, {-1.0, 0.0}, {-0.5, -0.9}, {0.5, -0.9}};
    double best = depth_along(a, b, normal);
    for (double step = 0.05; step > 1e-9; step *= 0.6) {
        stn_mat3 frame = stn_contact_frame(normal);
        for (int32_t k = 0; k < 6; k++) {
            stn_vec3 turned = stn_vec3_mul_add(normal, step * star[k][0], stn_mat3_column(&frame, 0));
            turned = stn_vec3_mul_add(turned, step * star[k][1], stn_mat3_column(&frame, 1));
            turned = stn_vec3_normalize_or(turned, normal);
            double depth = depth_along(a, b, turned);
            if (depth < best) {
                best = depth;
                normal = turned;
            }
        }
    }
    separation r = {.phi = -best, .normal = normal};
    points_apart(a, b, &r);
    return r;
}

/// The depth lies between the nearest face's distance and the reach of C along its normal; the search ends when these
/// meet, of an ellipsoid when they are so near that the normal can be refined. Where rounding spoils the polytope
/// before (then the nearest face comes nearer again), or there are too many corners, the face where they met best so
/// far is the answer, or the start of a search of its own.
separation convex_penetration(const convex *a, const convex *b, const simplex *around) {
    polytope p;
    double size = pair_size(a->shape, b->shape), rounding = 1e-15 * (shape_size(a->shape) + shape_size(b->shape));
    bool round = is_round(a) || is_round(b), ellipsoid = is_ellipsoid(a) || is_ellipsoid(b);
    bool rim = a->shape->type == STN_SHAPE_CYLINDER || b->shape->type == STN_SHAPE_CYLINDER;
    double smallest = INFINITY, before = 0.0, goal = ellipsoid && !rim ? 1e-8 * size : 1e-13 * size;
    face best = {.normal = {0.0, 0.0, 1.0}};
    first_tetrahedron(&p, a, b, around);
    while (p.vertex_count < MOST_VERTICES && smallest > goal + rounding) {
        int32_t nearest = -1;
        for (int32_t i = 0; i < p.face_count; i++) {
            if (p.faces[i].alive && (nearest < 0 || p.faces[i].distance < p.faces[nearest].distance)) {
                nearest = i;
            }
        }
        if (nearest < 0 || isinf(p.faces[nearest].distance)) {
            break;
        }
        const face *f = &p.faces[nearest];
        p.vertices[p.vertex_count] = difference_support(a, b, f->normal);
        double gap = stn_vec3_dot(f->normal, p.vertices[p.vertex_count].w) - f->distance;
        if (gap < smallest) {
            smallest = gap;
            best = *f;
        }
        bool receding = before > 0.0 && f->distance < before - 1e-12 * size - rounding;
        before = fmax(f->distance, 0.0); // from where it holds the origin on, the polytope recedes from it on all sides
        p.vertex_count++;
        if (receding || !expand(&p, nearest, rounding)) {
            break;
        }
    }
    separation found = {.phi = -best.distance, .normal = stn_vec3_neg(best.normal)};
    if (smallest > fmax(10.0 * goal, 1e-9 * size)) {
        stn_vec3 start = best_around_axis(a, b, b, best_around_axis(a, b, a, found.normal));
        found = turn_normal(a, b, best_of_flats(a, b, -1.0, best_of_flats(a, b, 1.0, start)));
        found.phi = round ? -best.distance : found.phi;
    } else if (!ellipsoid) { // whose own point of contact follows from the normal
        found = separation_on(a, b, &p, &best);
    }
    if (round) {
        separation_refine(a, b, &found);
    }
    return found;
}
