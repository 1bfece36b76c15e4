// SPDX-License-Identifier: Apache-2.0
// A convex body against a mesh or height field: the triangles within the margin, what each of them has in contact, and
// bodies that have sunk in.
//
// The mesh stands still and the body is carried into its frame. Each triangle whose plane or corners are not further
// away than the margin gives the points of its face, and of those of its edges and corners that no lower triangle has.
#include "surface.h"

stn_vec3 surface_vertex(const surface *s, int32_t id) {
    const double *p = s->mesh->vertices + 3 * (size_t)id;
    return stn_vec3_make(p[0], p[1], p[2]);
}

static void corners_of(const surface *s, int32_t triangle, stn_vec3 corner[3]) {
    for (int32_t k = 0; k < 3; k++) {
        corner[k] = surface_vertex(s, s->mesh->triangles[3 * (size_t)triangle + (size_t)k]);
    }
}

/// The normal of a needle is rounding; it takes that of its neighbour across its longest side.
stn_vec3 surface_normal(const surface *s, int32_t triangle) {
    enum { MOST_HOPS = 8 };
    stn_vec3 first = stn_vec3_make(0.0, 0.0, 1.0);
    for (int32_t hop = 0; hop < MOST_HOPS; hop++) {
        stn_vec3 corner[3];
        corners_of(s, triangle, corner);
        stn_vec3 a = stn_vec3_sub(corner[1], corner[0]), b = stn_vec3_sub(corner[2], corner[0]);
        stn_vec3 n = stn_vec3_cross(a, b);
        double area = stn_vec3_norm(n);
        if (area > 1e-6 * (stn_vec3_dot(a, a) + stn_vec3_dot(b, b))) {
            return stn_vec3_scale(1.0 / area, n);
        }
        first = hop == 0 ? stn_vec3_normalize_or(n, first) : first;
        double longest2 = 0.0;
        int32_t longest = 0;
        for (int32_t k = 0; k < 3; k++) {
            stn_vec3 side = stn_vec3_sub(corner[(k + 1) % 3], corner[k]);
            double length2 = stn_vec3_dot(side, side);
            if (length2 > longest2) {
                longest2 = length2;
                longest = k;
            }
        }
        int32_t other = s->across[3 * (size_t)triangle + (size_t)longest];
        if (other < 0) {
            break;
        }
        triangle = other / 3;
    }
    return first;
}

void surface_fan(const surface *s, int32_t edge, fan *out) {
    int32_t at = edge;
    out->count = 0;
    do { // to the edge that comes in behind this one, and across it
        out->edge[out->count++] = at;
        at = s->across[at / 3 * 3 + (at + 2) % 3];
    } while (at >= 0 && at != edge && out->count < FAN_CAPACITY);
    at = at < 0 ? s->across[edge] : -1; // a border: on the other side of the first triangle
    while (at >= 0 && out->count < FAN_CAPACITY) {
        at = at / 3 * 3 + (at + 1) % 3;
        out->edge[out->count++] = at;
        at = s->across[at];
    }
}

double surface_gap(const surface *s, stn_vec3 m, stn_vec3 p, stn_vec3 *lowest) {
    *lowest = convex_support(&s->body, stn_vec3_neg(m));
    return stn_vec3_dot(m, stn_vec3_sub(*lowest, p)) - s->radius;
}

bool surface_is_line(const surface *s) {
    return s->body.shape->type == STN_SHAPE_CAPSULE && s->radius == 0.0;
}

bool surface_is_passed(const surface *s, stn_vec3 m, stn_vec3 p) {
    stn_vec3 lowest;
    double gap = surface_gap(s, m, p, &lowest);
    if (s->filled || gap >= 0.0 || surface_is_line(s)) {
        return false;
    }
    double top = stn_vec3_dot(m, stn_vec3_sub(convex_support(&s->body, m), p)) + s->radius;
    return top + gap < -0.5 * (top - gap);
}

bool surface_holds(const surface *s, stn_vec3 point, double tolerance) {
    const stn_shape *shape = s->body.shape;
    stn_vec3 q = stn_pose_apply_inverse(&s->body.pose, point), on_shape, outward;
    if (shape->type == STN_SHAPE_SPHERE) {
        return stn_vec3_norm(q) <= shape->radius + tolerance;
    }
    if (shape->type != STN_SHAPE_CONVEX) {
        return closest_point(shape, q, &on_shape, &outward) <= tolerance;
    }
    for (int32_t i = 0; i < shape->mesh->polytope->face_count; i++) {
        const double *plane = shape->mesh->polytope->planes + 4 * (size_t)i;
        if (plane[0] * q.x + plane[1] * q.y + plane[2] * q.z > plane[3] + tolerance) {
            return false;
        }
    }
    return true;
}

/// Mean normal at a point of a triangle, over the triangles that it belongs to, weighted by their angles there, which
/// tells inside from outside [baerentzen-2005]. `border`: is the point on the border of an open surface?
static stn_vec3 mean_normal(const surface *s, const stn_mesh_point *at, bool *border) {
    stn_vec3 corner[3], n = surface_normal(s, at->triangle);
    corners_of(s, at->triangle, corner);
    *border = false;
    for (int32_t k = 0; k < 3; k++) {
        stn_vec3 side = stn_vec3_sub(corner[(k + 1) % 3], corner[k]), w = stn_vec3_sub(at->point, corner[k]);
        double length = stn_vec3_norm(side), tiny = 1e-9 * length;
        if (stn_vec3_norm(w) <= tiny) {
            fan around;
            stn_vec3 sum = stn_vec3_zero();
            surface_fan(s, 3 * at->triangle + k, &around);
            for (int32_t i = 0; i < around.count; i++) {
                int32_t t = around.edge[i] / 3, c = around.edge[i] % 3;
                stn_vec3 p[3];
                corners_of(s, t, p);
                stn_vec3 a = stn_vec3_sub(p[(c + 1) % 3], p[c]), b = stn_vec3_sub(p[(c + 2) % 3], p[c]);
                double angle = atan2(stn_vec3_norm(stn_vec3_cross(a, b)), stn_vec3_dot(a, b));
                sum = stn_vec3_mul_add(sum, angle, surface_normal(s, t));
                *border = *border || s->across[around.edge[i]] < 0 || s->across[3 * t + (c + 2) % 3] < 0;
            }
            return sum;
        }
        bool on_side = stn_vec3_norm(stn_vec3_cross(side, w)) <= tiny * length;
        int32_t other = s->across[3 * (size_t)at->triangle + (size_t)k];
        if (on_side && stn_vec3_norm(stn_vec3_sub(at->point, corner[(k + 1) % 3])) > tiny) {
            *border = other < 0;
            return other < 0 ? n : stn_vec3_add(n, surface_normal(s, other / 3));
        }
    }
    return n;
}

/// Is a point under a height field, and not nearer to its border than to its top? The ground has no side walls: what
/// comes in there is beside it.
static bool is_under(const surface *s, stn_vec3 p, double tolerance) {
    const stn_vec3 low = s->mesh->bounds.lower, high = s->mesh->bounds.upper;
    const double below = stn_grid_height(s->mesh, p.x, p.y) - p.z; // NaN beyond the border
    const double side = fmin(fmin(p.x - low.x, high.x - p.x), fmin(p.y - low.y, high.y - p.y));
    return below >= -tolerance && below <= side + tolerance;
}

bool surface_is_behind(const surface *s, stn_vec3 p, double within, stn_mesh_point *at, bool *below) {
    if (!stn_mesh_nearest(s->mesh, p, within, at)) {
        return false;
    }
    if (s->filled && !is_under(s, p, 0.0)) {
        return false;
    }
    const stn_vec3 off = stn_vec3_sub(p, at->point);
    bool border;
    const stn_vec3 n = mean_normal(s, at, &border);
    *below = fabs(stn_vec3_dot(off, surface_normal(s, at->triangle))) >= 0.999 * at->distance;
    return (*below || !border) && stn_vec3_dot(off, n) < 0.0; // else beside the border
}

// --------------------------------------------------------------------------------------------------------- faces
// The face of a triangle: the points that the body would have on its plane, as far as they lie over the triangle.
//
// That is the prism over the triangle, on both sides. Behind a concave edge the prisms leave a gap, which neighbours
// share by the plane that halves the angle at their edge: a point of the body that has sunk in there comes out of the
// face that it is nearest to.

/// Does the body's point belong to the triangle? Behind a concave edge to that which the edge is bent towards, unless
/// something else of the surface is nearer to the point than the edge.
static bool is_over(const surface *s, const facet *f, const witness *w) {
    double tolerance = 1e-9 * s->size + 1e-7 * fabs(w->phi);
    for (int32_t k = 0; k < 3; k++) {
        double beyond = stn_vec3_dot(f->outward[k], stn_vec3_sub(w->b, f->corner[k])) - tolerance;
        int32_t other = s->across[3 * (size_t)f->id + (size_t)k];
        if (!(beyond > 0.0)) {
            continue;
        }
        bool gentle = (s->bends[f->id] & STN_BEND_GENTLE) != 0; // then half the angle is at most 7.5 degrees
        if (!(w->phi < 0.0) || other < 0 || (gentle && beyond > -0.14 * w->phi)) {
            return false;
        }
        stn_vec3 n = surface_normal(s, other / 3);
        double cosine = stn_vec3_dot(n, f->normal), bend = 0.0; // tangent of half the angle by which it bends up
        if (cosine > -0.999) {
            bend = fmax(-stn_vec3_dot(n, f->outward[k]) / (1.0 + cosine), 0.0);
        }
        if (!(beyond <= -w->phi * bend)) {
            return false;
        }
        stn_vec3 along = stn_vec3_sub(f->corner[(k + 1) % 3], f->corner[k]), from = stn_vec3_sub(w->a, f->corner[k]);
        double t = clamp(stn_vec3_dot(from, along) / stn_vec3_dot(along, along), 0.0, 1.0);
        double distance = stn_vec3_norm(stn_vec3_mul_add(from, -t, along));
        stn_mesh_point nearer;
        if (stn_mesh_nearest(s->mesh, w->a, (1.0 - 1e-6) * distance, &nearer)) {
            return false;
        }
    }
    return true;
}

/// Is the body's point behind the plane of a triangle, but outside, and the body apart from the triangle? So is what
/// stands before a peak, behind the planes of its far side.
static bool is_before(const surface *s, const facet *f, const witness *w) {
    if (!(w->phi < -1e-4 * s->size)) {
        return false;
    }
    if (s->filled) {
        return !is_under(s, w->a, 1e-9 * s->size);
    }
    // mostly the body holds a point of the triangle, a little further in than the corner or rim that is lowest
    stn_vec3 in = stn_vec3_sub(s->centre, w->b), q;
    in = stn_vec3_mul_add(in, -stn_vec3_dot(in, f->normal), f->normal);
    q = stn_vec3_mul_add(w->b, 1e-4 * s->size, stn_vec3_normalize_or(in, stn_vec3_zero()));
    bool over = true;
    for (int32_t k = 0; k < 3; k++) {
        over = over && stn_vec3_dot(f->outward[k], stn_vec3_sub(q, f->corner[k])) <= 0.0;
    }
    if (over && surface_holds(s, q, -1e-6 * s->size)) {
        return false;
    }
    stn_mesh_point at;
    bool below;
    return surface_part(s, f->corner).phi > s->radius && !surface_is_behind(s, w->a, -1.001 * w->phi, &at, &below);
}

static void face_points(const surface *s, const facet *f) {
    static const stn_shape half_space = {.type = STN_SHAPE_HALF_SPACE};
    static collide_pair *const on_plane[STN_SHAPE_COUNT] = {
        [STN_SHAPE_SPHERE] = sphere_half_space,       [STN_SHAPE_BOX] = box_half_space,
        [STN_SHAPE_CAPSULE] = capsule_half_space,     [STN_SHAPE_CYLINDER] = cylinder_half_space,
        [STN_SHAPE_ELLIPSOID] = ellipsoid_half_space, [STN_SHAPE_CONVEX] = hull_half_space};
    plane_points *plane = s->plane;
    manifold *points = &plane->points;
    double height = stn_vec3_dot(f->normal, f->corner[0]);
    stn_vec3 turned = stn_vec3_sub(f->normal, plane->normal);
    if (!(fabs(height - plane->height) <= 1e-15 * s->size && stn_vec3_dot(turned, turned) <= 1e-30)) {
        plane->height = height;
        plane->normal = f->normal;
        stn_pose pose = stn_pose_identity();
        pose.rotation.m[0][2] = f->normal.x; // of which only the normal counts
        pose.rotation.m[1][2] = f->normal.y;
        pose.rotation.m[2][2] = f->normal.z;
        pose.position = f->corner[0];
        posed a = {s->body.shape, &s->body.pose}, b = {&half_space, &pose};
        points->count = 0;
        on_plane[s->body.shape->type](a, b, s->margin, points);
    }
    bool checked = false;
    for (int32_t i = 0; i < points->count; i++) {
        const witness *w = &points->points[i];
        if (!is_over(s, f, w) || is_before(s, f, w)) {
            continue;
        }
        if (!checked && surface_is_passed(s, f->normal, f->corner[0])) {
            return;
        }
        checked = true;
        surface_add(s, w->a, w->b, f->normal, w->feature_a, (uint32_t)f->id);
    }
}

// ---------------------------------------------------------------------------------------------------- candidates

bool surface_towards_body(const surface *s, stn_vec3 point, double beyond, stn_vec3 *m) {
    const stn_shape *shape = s->body.shape;
    if (shape->type == STN_SHAPE_BOX || shape->type == STN_SHAPE_CAPSULE || shape->type == STN_SHAPE_CYLINDER) {
        stn_vec3 at, out;
        double distance = closest_point(shape, stn_pose_apply_inverse(&s->body.pose, point), &at, &out);
        *m = stn_vec3_neg(stn_mat3_apply(&s->body.pose.rotation, out));
        return distance > beyond;
    }
    stn_vec3 to = stn_vec3_sub(s->centre, point);
    *m = stn_vec3_normalize_or(to, to);
    return stn_vec3_dot(to, to) > beyond * beyond;
}

/// The same as is_away of all triangles of a part.
static bool part_is_away(void *user, const stn_mesh_part *part) {
    const surface *s = user;
    away_list *away = s->away;
    stn_vec3 m, lowest;
    away->fine = true;
    if (part->cosine > 1.0) {
        return false;
    }
    for (int32_t i = 0; i < away->count && i < AWAY_FIRST; i++) {
        m = away->along[i].m;
        if (away->along[i].low - stn_vec3_dot(m, part->centre) - stn_mesh_part_reach(part, m) > away->beyond &&
            stn_vec3_dot(m, part->look) >= part->cosine) {
            surface_prefer(away->along, i);
            return true;
        }
    }
    if (!surface_towards_body(s, part->centre, away->beyond, &m) || stn_vec3_dot(m, part->look) < part->cosine) {
        return false;
    }
    double low = surface_gap(s, m, stn_vec3_zero(), &lowest);
    if (!(low - stn_vec3_dot(m, part->centre) - stn_mesh_part_reach(part, m) > away->beyond)) {
        return false;
    }
    surface_note(away->along, &away->count, AWAY_MAX, m, low);
    return true;
}

/// Is the triangle further below the body than the margin, where the surface bends so gently that it can have no point
/// then? Along a direction m within 75 degrees of where it looks, and 90 of where its neighbours look: a point of the
/// body that it, an edge of it or the wedge behind a concave edge has in contact lies against m of a point of the
/// triangle, or within the margin of one.
static bool is_away(const surface *s, int32_t triangle, const stn_vec3 corner[3]) {
    const double cosine2 = 0.07; // a little less than 75 degrees
    away_list *away = s->away;
    if (!away->fine || !(s->bends[triangle] & STN_BEND_GENTLE)) {
        return false;
    }
    stn_vec3 n = stn_vec3_cross(stn_vec3_sub(corner[1], corner[0]), stn_vec3_sub(corner[2], corner[0])), m, lowest;
    double n2 = cosine2 * stn_vec3_dot(n, n);
    for (int32_t i = 0; i < away->count && i < AWAY_FIRST; i++) {
        m = away->along[i].m;
        double along = stn_vec3_dot(m, n), low = away->along[i].low;
        if (low - surface_highest(m, corner) > away->beyond && along > 0.0 && along * along >= n2) {
            surface_prefer(away->along, i);
            return true;
        }
    }
    stn_vec3 middle = stn_vec3_scale(1.0 / 3.0, stn_vec3_add(corner[0], stn_vec3_add(corner[1], corner[2])));
    if (!surface_towards_body(s, middle, away->beyond, &m)) {
        return false;
    }
    double along = stn_vec3_dot(m, n);
    if (!(along > 0.0 && along * along >= n2)) {
        return false;
    }
    double low = surface_gap(s, m, stn_vec3_zero(), &lowest);
    if (!(low - surface_highest(m, corner) > away->beyond)) {
        return false;
    }
    surface_note(away->along, &away->count, AWAY_MAX, m, low);
    return true;
}

/// Is one point lowest along all directions near m: the corner of a box, the end of a line, a point?
static bool is_settled(const surface *s, stn_vec3 m) {
    stn_vec3 d = stn_mat3_apply_transposed(&s->body.pose.rotation, m);
    switch (s->body.shape->type) {
    case STN_SHAPE_SPHERE:
        return true;
    case STN_SHAPE_CAPSULE:
        return fabs(d.z) > surface_settled;
    case STN_SHAPE_BOX:
        return fabs(d.x) > surface_settled && fabs(d.y) > surface_settled && fabs(d.z) > surface_settled;
    default:
        return false;
    }
}

static bool visit(void *user, int32_t triangle) {
    const surface *s = user;
    facet f = {.id = triangle};
    corners_of(s, triangle, f.corner);
    if (is_away(s, triangle, f.corner)) {
        return true;
    }
    f.normal = surface_normal(s, triangle);
    double height = stn_vec3_dot(f.normal, stn_vec3_sub(s->centre, f.corner[0]));
    if (height > s->reach + s->margin || surface_gap(s, f.normal, f.corner[0], &f.lowest) > s->margin) {
        return true;
    }
    // a direction from the triangle to the middle of the body may show that they are further apart than the margin
    stn_vec3 middle = stn_vec3_scale(1.0 / 3.0, stn_vec3_add(f.corner[0], stn_vec3_add(f.corner[1], f.corner[2])));
    stn_vec3 d = stn_vec3_normalize_or(stn_vec3_sub(s->centre, middle), f.normal);
    double top = 0.0;
    for (int32_t k = 0; k < 3; k++) {
        double along = stn_vec3_dot(d, stn_vec3_sub(f.corner[k], middle));
        top = along > top ? along : top;
    }
    stn_vec3 lowest;
    if (surface_gap(s, d, middle, &lowest) > s->margin + top) {
        return true;
    }
    f.settled = is_settled(s, f.normal);
    for (int32_t k = 0; k < 3; k++) {
        stn_vec3 outward = stn_vec3_cross(stn_vec3_sub(f.corner[(k + 1) % 3], f.corner[k]), f.normal);
        f.outward[k] = stn_vec3_normalize_or(outward, outward);
    }
    if (s->filled || height >= -s->reach) {
        face_points(s, &f);
    }
    for (int32_t k = 0; k < 3; k++) {
        if (s->bends[triangle] & STN_BEND_RIDGE << k) {
            surface_edge_points(s, &f, k);
        }
        if (s->bends[triangle] & STN_BEND_PEAK << k) {
            surface_vertex_points(s, &f, k);
        }
    }
    return true;
}

/// A body whose middle lies inside comes out at the nearest point.
static void add_sunk(const surface *s) {
    stn_mesh_point at;
    stn_vec3 p = s->centre, low = s->mesh->bounds.lower, high = s->mesh->bounds.upper;
    const bool may_hold = s->filled || (s->mesh->solid.mass > 0.0 && p.x > low.x && p.y > low.y && p.z > low.z &&
                                        p.x < high.x && p.y < high.y && p.z < high.z);
    bool below;
    if (!may_hold || !surface_is_behind(s, p, (double)INFINITY, &at, &below)) {
        return;
    }
    stn_vec3 lowest, out = stn_vec3_sub(at.point, p), m = stn_vec3_normalize_or(out, surface_normal(s, at.triangle));
    double phi = surface_gap(s, m, at.point, &lowest);
    stn_vec3 on_body = stn_vec3_mul_add(lowest, -s->radius, m);
    surface_add(s, on_body, stn_vec3_mul_add(on_body, -phi, m), m, 0, (uint32_t)at.triangle);
}

void collide_surface(posed a, posed b, double margin, surface_points *out) {
    const stn_shape *shape = a.shape;
    bool core = shape->type == STN_SHAPE_SPHERE || shape->type == STN_SHAPE_CAPSULE;
    plane_points plane;
    away_list away;
    surface s = {.mesh = b.shape->mesh,
                 .across = stn_mesh_across(b.shape->mesh),
                 .bends = stn_mesh_bends(b.shape->mesh),
                 .filled = b.shape->type == STN_SHAPE_HEIGHT_FIELD,
                 .body = {shape, relative_pose(b.pose, a.pose)},
                 .radius = core ? shape->radius : 0.0,
                 .margin = margin,
                 .points = out,
                 .plane = &plane,
                 .away = &away};
    plane.height = (double)NAN; // none yet
    away.count = 0;
    away.fine = false;
    stn_vec3 middle = stn_vec3_zero(), h = shape->half_extents;
    switch (shape->type) {
    case STN_SHAPE_CYLINDER:
        s.reach = hypot(shape->radius, shape->half_length);
        break;
    case STN_SHAPE_CONVEX:
        middle = stn_vec3_scale(0.5, stn_vec3_add(shape->mesh->bounds.lower, shape->mesh->bounds.upper));
        s.reach = 0.5 * stn_vec3_norm(stn_vec3_sub(shape->mesh->bounds.upper, shape->mesh->bounds.lower));
        break;
    case STN_SHAPE_BOX:
        s.reach = stn_vec3_norm(h);
        break;
    default:
        s.reach = shape->radius + shape->half_length + fmax(h.x, fmax(h.y, h.z));
    }
    s.centre = stn_pose_apply(&s.body.pose, middle);
    s.size = s.reach + 1e-4 * stn_vec3_norm(s.centre);
    out->group_count = 0;
    out->near = 1e-6 * s.reach;
    // beyond its own size, a body that is asked about with a wide margin needs only what is nearest: that is no further
    // away than the point of the surface nearest to its middle
    stn_mesh_point at;
    const double wide = fmax(out->wide, 4.0 * s.reach);
    away.beyond = 1.01 * margin + 1e-6 * s.size; // so that no rounding counts
    if (margin <= wide || !stn_mesh_nearest(s.mesh, s.centre, margin + s.reach, &at)) {
        stn_aabb box = stn_shape_aabb(shape, &s.body.pose, margin);
        stn_mesh_visit_parts(s.mesh, &box, part_is_away, visit, &s);
    } else {
        s.margin = fmin(margin, fmax(wide, at.distance));
        stn_mesh_visit_ball(s.mesh, s.centre, s.margin + s.reach, visit, &s);
    }
    if (out->group_count == 0) {
        add_sunk(&s);
    }
    surface_settle(&s);
    surface_catch(&s);
    for (int32_t g = 0; g < out->group_count; g++) {
        manifold *m = &out->group[g];
        manifold_reduce(m, out->limit);
        for (int32_t i = 0; i < m->count; i++) {
            witness *w = &m->points[i];
            w->a = stn_pose_apply(b.pose, w->a);
            w->b = stn_pose_apply(b.pose, w->b);
            w->normal = stn_mat3_apply(&b.pose->rotation, w->normal);
        }
    }
}
