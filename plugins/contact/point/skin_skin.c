// SPDX-License-Identifier: Apache-2.0
// Two skins, or one with itself. The nearest points of two triangles are a vertex and the inside of the other one, two
// edges inside, or at corners: a vertex and an edge, two vertices. Of one cloud nothing meets what it shares a node
// with, nor what it is nearer to at rest than their thicknesses.
#include "skin.h"

#include <stiction/random.h>

typedef struct look {
    skin *a, *b;
    bool own;         // the two are one skin: each pair of features comes twice, and counts once
    bool kin;         // of one cloud
    double reach;     // of cores, with the margin
    int32_t triangle; // of A
    skin_sink *sink;
} look;

static int32_t node_of(const skin_part *part, int32_t i) {
    return part->skin->face->vertex[part->vertex[i]];
}

/// Do two parts of one cloud share a node?
static bool are_neighbours(const skin_part *a, const skin_part *b) {
    for (int32_t i = 0; i < a->count * b->count; i++) {
        if (node_of(a, i / b->count) == node_of(b, i % b->count)) {
            return true;
        }
    }
    return false;
}

static bool is_inside(double s, double t) {
    return s > skin_tiny && s < 1.0 - skin_tiny && t > skin_tiny && t < 1.0 - skin_tiny;
}

/// Weights of the nearest points of two lines p + s d, q + t e; false: they are parallel, or nearest beyond the ends.
static bool cross(const stn_vec3 p[2], const stn_vec3 q[2], double *s, double *t) {
    stn_vec3 d = stn_vec3_sub(p[1], p[0]), e = stn_vec3_sub(q[1], q[0]), r = stn_vec3_sub(q[0], p[0]);
    double dd = stn_vec3_dot(d, d), de = stn_vec3_dot(d, e), ee = stn_vec3_dot(e, e);
    stn_vec3 n = stn_vec3_cross(d, e);
    double det = stn_vec3_dot(n, n); // dd ee - de^2
    if (!(det > 1e-12 * dd * ee)) {
        return false;
    }
    double dr = stn_vec3_dot(d, r), er = stn_vec3_dot(e, r);
    *s = (dr * ee - er * de) / det;
    *t = (dr * de - er * dd) / det;
    return *s > -skin_tiny && *s<1.0 + skin_tiny && * t> - skin_tiny && *t < 1.0 + skin_tiny;
}

static double segments_apart(const stn_vec3 p[2], const stn_vec3 q[2]) {
    double s, t, least = INFINITY;
    if (cross(p, q, &s, &t) && is_inside(s, t)) {
        stn_vec3 a = stn_vec3_mul_add(p[0], s, stn_vec3_sub(p[1], p[0]));
        return stn_vec3_norm(stn_vec3_sub(stn_vec3_mul_add(q[0], t, stn_vec3_sub(q[1], q[0])), a));
    }
    for (int32_t k = 0; k < 4; k++) { // an end and the other segment, as a triangle without area
        const stn_vec3 *line = k < 2 ? q : p, end = k < 2 ? p[k] : q[k - 2];
        const stn_vec3 corner[3] = {line[0], line[1], line[1]};
        double w[3];
        skin_nearest_on(corner, end, w);
        stn_vec3 at = stn_vec3_mul_add(line[0], w[1] + w[2], stn_vec3_sub(line[1], line[0]));
        least = fmin(least, stn_vec3_norm(stn_vec3_sub(end, at)));
    }
    return least;
}

/// How far two parts of one cloud are apart at rest.
static double apart_at_rest(const skin_part *a, const skin_part *b) {
    stn_vec3 p[3], q[3];
    for (int32_t i = 0; i < 3; i++) {
        p[i] = a->skin->face->rest[a->vertex[i < a->count ? i : a->count - 1]];
        q[i] = b->skin->face->rest[b->vertex[i < b->count ? i : b->count - 1]];
    }
    if (a->count == 2 && b->count == 2) {
        return segments_apart(p, q);
    }
    const stn_vec3 *corner = a->count == 1 ? q : p, end = a->count == 1 ? p[0] : q[0];
    double w[3];
    skin_nearest_on(corner, end, w);
    stn_vec3 at = stn_vec3_zero();
    for (int32_t i = 0; i < 3; i++) {
        at = stn_vec3_mul_add(at, w[i], corner[i]);
    }
    return stn_vec3_norm(stn_vec3_sub(end, at));
}

static bool may_meet(const look *s, const skin_part *a, const skin_part *b) {
    return !s->kin ||
           (!are_neighbours(a, b) && apart_at_rest(a, b) >= a->skin->face->thickness + b->skin->face->thickness);
}

/// Adds a contact of parts that are apart along m, from A to B. `turned`: the parts are given as those of B and A.
static void add(const look *s, const skin_part *a, const skin_part *b, stn_vec3 m, bool turned) {
    if (!may_meet(s, a, b)) {
        return;
    }
    const skin_part *first = turned ? b : a, *second = turned ? a : b;
    skin_add(s->sink, first, second, stn_vec3_zero(), turned ? stn_vec3_neg(m) : m,
             stn_random_mix(second->name + 2 * STN_RANDOM_STEP));
}

/// The unit vector from one part to another; false: they touch, or are too far apart.
static bool towards(const look *s, const skin_part *a, const skin_part *b, stn_vec3 *m) {
    stn_vec3 d = stn_vec3_sub(skin_part_point(b), skin_part_point(a));
    double length = stn_vec3_norm(d);
    if (!(length <= s->reach && length > 1e-12 * (a->skin->size + b->skin->size))) {
        return false;
    }
    *m = stn_vec3_scale(1.0 / length, d);
    return true;
}

/// May a point be within reach of a part of these corners? By boxes: most are further away, above all of one skin.
static bool is_near(const look *s, stn_vec3 p, const stn_vec3 *corner, int32_t count) {
    stn_aabb box = skin_box_of(corner, count, s->reach);
    return p.x >= box.lower.x && p.x <= box.upper.x && p.y >= box.lower.y && p.y <= box.upper.y && p.z >= box.lower.z &&
           p.z <= box.upper.z;
}

/// What a part of a skin may come out of a solid by.
typedef struct ways {
    const skin *skin;
    int32_t id;    // of a vertex or an edge
    double t;      // along the edge
    double length; // a way along the edge that is no shorter counts for none
    double slack;  // of the vertex
} ways;

static bool vertex_leaves_over(const void *user, const skin_facet *f) {
    const ways *w = user;
    return skin_vertex_admits(w->skin, w->id, stn_vec3_neg(f->normal), w->slack);
}

/// Does another edge go on at the end of one, in about its direction?
static bool goes_on(const skin *s, int32_t from, int32_t end) {
    const stn_vec3 d = stn_vec3_sub(s->at[end], s->at[from]);
    for (int32_t i = s->beside_start[end]; i < s->beside_start[end + 1]; i++) {
        const stn_vec3 next = stn_vec3_sub(s->at[s->beside[i]], s->at[end]);
        if (stn_vec3_dot(d, next) > 0.9 * stn_vec3_norm(d) * stn_vec3_norm(next)) {
            return true;
        }
    }
    return false;
}

/// Over a triangle that the edge lies along, or that it runs through, where it ends soon behind.
static bool edge_leaves_over(const void *user, const skin_facet *f) {
    const ways *w = user;
    const skin *s = w->skin;
    const int32_t *v = s->face->edge + 2 * (size_t)w->id,
                  back = stn_vec3_dot(f->normal, stn_vec3_sub(s->at[v[1]], s->at[v[0]])) > 0.0 ? 0 : 1;
    const stn_vec3 out = stn_vec3_sub(s->at[v[1 - back]], s->at[v[back]]); // from its end behind the triangle
    const double along = stn_vec3_dot(f->normal, out);
    if (along * (back == 0 ? w->t : 1.0 - w->t) >= w->length ||
        (along > 0.1 * stn_vec3_norm(out) && goes_on(s, v[1 - back], v[back]))) {
        return false;
    }
    return along >= 0.5 * stn_vec3_norm(out) || skin_edge_admits(s, w->id, stn_vec3_neg(f->normal), skin_slack);
}

/// Does a vertex below a triangle of a solid come out over it? It is inside, and of all triangles that its own surface
/// can face this is the nearest one. On an edge or a vertex of it, too, where meshes stand on each other node by node;
/// of several triangles there the one that is found counts.
static bool leaves_over(const skin *a, int32_t id, const skin *b, int32_t triangle, double height) {
    const double tolerance = 1e-9 * b->size, within = 2.0 * fabs(height) + tolerance;
    const ways w = {.skin = a, .id = id, .slack = skin_slack_at(a, -fabs(height))};
    double distance;
    return skin_has(b, a->at[id], fabs(height), tolerance) &&
           skin_nearest_of(b, a->at[id], within, vertex_leaves_over, &w, &distance) == triangle &&
           fabs(fabs(height) - distance) <= 1e-6 * fabs(height) + tolerance;
}

/// Does an edge that lies `depth` below one of another body come out across it? Both points are inside of the other
/// body, where that is solid, and no way out over a triangle is much shorter.
static bool leaves_across(const skin_part *a, int32_t edge, double t, const skin *b, double depth) {
    const double tolerance = 1e-9 * b->size;
    const ways w = {.skin = a->skin, .id = edge, .t = t, .length = 0.85 * depth};
    const double length = stn_vec3_norm(stn_vec3_sub(a->skin->at[a->vertex[1]], a->skin->at[a->vertex[0]]));
    double distance;
    if (depth > 0.5 * length) {
        return false; // through the body, not across an edge of it
    }
    return !b->face->solid ||
           (skin_has(b, skin_part_point(a), depth, tolerance + 0.1 * depth) && // or on a side, nearly
            skin_nearest_of(b, skin_part_point(a), fmax(w.length - tolerance, 0.0), edge_leaves_over, &w, &distance) <
                0);
}

/// A vertex of `a` over the inside of a triangle of `b`.
static void vertex_face(const look *s, const skin *a, int32_t id, const skin *b, int32_t triangle, bool turned) {
    const int32_t *v = b->face->triangle + 3 * (size_t)triangle;
    const stn_vec3 p = a->at[id], corner[3] = {b->at[v[0]], b->at[v[1]], b->at[v[2]]};
    skin_facet f;
    double weight[3];
    if (!is_near(s, p, corner, 3)) {
        return;
    }
    skin_facet_of(b, triangle, &f);
    double height = stn_vec3_dot(f.normal, stn_vec3_sub(p, f.corner[0]));
    if (!(stn_vec3_dot(f.normal, f.normal) > 0.5) || fabs(height) > s->reach) {
        return;
    }
    skin_nearest_on(f.corner, p, weight);
    const bool within = weight[0] > skin_tiny && weight[1] > skin_tiny && weight[2] > skin_tiny;
    if (b->face->solid && height < 0.0 ? s->kin || !leaves_over(a, id, b, triangle, height) : !within) {
        return;
    }
    stn_vec3 m = stn_vec3_scale(height >= 0.0 || b->face->solid ? -1.0 : 1.0, f.normal);
    const skin_part part = skin_vertex_part(a, id), other = skin_face_part(b, triangle, weight);
    const double distance =
        fabs(height) * (height < 0.0 && b->face->solid ? -1.0 : 1.0) - a->face->thickness - b->face->thickness;
    if (skin_vertex_admits(a, id, m, s->kin ? 1.0 : skin_slack_at(a, distance))) {
        add(s, &part, &other, m, turned);
    }
}

static void edge_edge(const look *s, int32_t edge_a, int32_t edge_b) {
    const int32_t *v = s->a->face->edge + 2 * (size_t)edge_a, *w = s->b->face->edge + 2 * (size_t)edge_b;
    const stn_vec3 p[2] = {s->a->at[v[0]], s->a->at[v[1]]}, q[2] = {s->b->at[w[0]], s->b->at[w[1]]};
    stn_aabb one = skin_box_of(p, 2, s->reach), two = skin_box_of(q, 2, 0.0);
    double t, u;
    if (!skin_boxes_meet(&one, &two) || !cross(p, q, &t, &u)) {
        return;
    }
    const skin_part a = skin_edge_part(s->a, edge_a, t), b = skin_edge_part(s->b, edge_b, u);
    const stn_vec3 off = stn_vec3_sub(skin_part_point(&b), skin_part_point(&a));
    const stn_vec3 n = stn_vec3_normalize_or(stn_vec3_cross(stn_vec3_sub(p[1], p[0]), stn_vec3_sub(q[1], q[0])), off);
    const double apart = stn_vec3_dot(n, off);
    const bool sided = !s->kin && (s->a->face->solid || s->b->face->solid); // tells on which side the other one is
    if (fabs(apart) > s->reach || (!sided && fabs(apart) <= 1e-12 * (s->a->size + s->b->size))) {
        return;
    }
    for (int32_t k = 0; k < 2; k++) { // as they are apart; else as they overlap
        const stn_vec3 m = (apart >= 0.0) == (k == 0) ? n : stn_vec3_neg(n);
        // cores that touch or overlap come out where they are rims; else contacts would come and go at rest
        const double slack = k == 0 && (s->kin || fabs(apart) > skin_touch * s->a->size) ? skin_slack : skin_rim;
        const bool admitted =
            skin_edge_admits(s->a, edge_a, m, slack) && skin_edge_admits(s->b, edge_b, stn_vec3_neg(m), slack);
        // apart, a vertex has the contact at an end; in overlap it may face no triangle, as on two ridges
        if (admitted && (k == 0 ? is_inside(t, u)
                                : (sided && leaves_across(&a, edge_a, t, s->b, fabs(apart)) &&
                                   leaves_across(&b, edge_b, u, s->a, fabs(apart))))) {
            add(s, &a, &b, m, false);
            return;
        }
    }
}

/// A vertex of `a` beside an edge of `b`, where no triangle of the edge is nearer.
static void vertex_edge(const look *s, const skin *a, int32_t id, const skin *b, int32_t edge, bool turned) {
    const int32_t *v = b->face->edge + 2 * (size_t)edge;
    const stn_vec3 corner[3] = {b->at[v[0]], b->at[v[1]], b->at[v[1]]};
    double weight[3];
    if (!is_near(s, a->at[id], corner, 2)) {
        return;
    }
    skin_nearest_on(corner, a->at[id], weight);
    double t = weight[1] + weight[2];
    if (!(t > skin_tiny && t < 1.0 - skin_tiny)) {
        return;
    }
    const skin_part part = skin_vertex_part(a, id), other = skin_edge_part(b, edge, t);
    stn_vec3 m;
    if (towards(s, &part, &other, &m) && skin_vertex_admits(a, id, m, s->kin ? 1.0 : skin_slack) &&
        skin_edge_admits(b, edge, stn_vec3_neg(m), skin_rim)) {
        add(s, &part, &other, m, turned);
    }
}

static void vertex_vertex(const look *s, int32_t vertex_a, int32_t vertex_b) {
    const skin_part a = skin_vertex_part(s->a, vertex_a), b = skin_vertex_part(s->b, vertex_b);
    stn_vec3 m;
    const double slack = s->kin ? 1.0 : skin_slack;
    if (towards(s, &a, &b, &m) && skin_vertex_admits(s->a, vertex_a, m, slack) &&
        skin_vertex_admits(s->b, vertex_b, stn_vec3_neg(m), slack)) {
        add(s, &a, &b, m, false);
    }
}

static bool owns_vertex(const skin *s, int32_t triangle, int32_t k, int32_t *id) {
    *id = s->face->triangle[3 * (size_t)triangle + (size_t)k];
    return s->face->vertex_owner[*id] == triangle;
}

static bool owns_edge(const skin *s, int32_t triangle, int32_t k, int32_t *edge) {
    *edge = s->face->triangle_edge[3 * (size_t)triangle + (size_t)k];
    return s->face->edge_triangle[2 * (size_t)*edge] == triangle;
}

/// Two triangles: what each of them owns. Of one skin the other order of the two comes, too.
static void meet_triangle(void *user, int32_t tb) {
    const look *s = user;
    int32_t ta = s->triangle, x, y;
    for (int32_t i = 0; i < 3 && s->sink->status == STN_OK; i++) {
        if (owns_vertex(s->a, ta, i, &x)) {
            vertex_face(s, s->a, x, s->b, tb, false);
            for (int32_t k = 0; k < 3; k++) {
                if (owns_edge(s->b, tb, k, &y)) {
                    vertex_edge(s, s->a, x, s->b, y, false);
                }
                if (owns_vertex(s->b, tb, k, &y) && (!s->own || x < y)) {
                    vertex_vertex(s, x, y);
                }
            }
        }
        if (!s->own && owns_vertex(s->b, tb, i, &y)) {
            vertex_face(s, s->b, y, s->a, ta, true);
            for (int32_t k = 0; k < 3; k++) {
                if (owns_edge(s->a, ta, k, &x)) {
                    vertex_edge(s, s->b, y, s->a, x, true);
                }
            }
        }
        for (int32_t k = 0; k < 3 && owns_edge(s->a, ta, i, &x); k++) {
            if (owns_edge(s->b, tb, k, &y) && (!s->own || x < y)) {
                edge_edge(s, x, y);
            }
        }
    }
}

static void meet_a(void *user, int32_t triangle) {
    look *s = user;
    const int32_t *v = s->a->face->triangle + 3 * (size_t)triangle;
    const stn_vec3 p[3] = {s->a->at[v[0]], s->a->at[v[1]], s->a->at[v[2]]};
    stn_aabb box = skin_box_of(p, 3, s->reach);
    s->triangle = triangle;
    if (s->sink->status == STN_OK) {
        skin_visit(s->b, &box, meet_triangle, s);
    }
}

void skin_against_skin(skin *a, skin *b, skin_sink *sink) {
    double thick = a->face->thickness + b->face->thickness;
    look s = {.a = a, .b = b, .own = a == b, .kin = a->face->tree == b->face->tree, .sink = sink};
    if (sink->margin > fmin(a->size, b->size)) { // asked from far away: what is nearest is enough
        double least = sink->margin + thick;
        for (int32_t i = 0; i < a->face->vertex_count && !s.own; i++) {
            least = skin_distance(b, a->at[i], least);
        }
        sink->margin = fmin(sink->margin, fmax(least - thick + 1e-6 * a->size, fmin(a->size, b->size)));
    }
    s.reach = sink->margin + thick;
    stn_aabb box = b->node[0].box;
    stn_vec3 all = {s.reach, s.reach, s.reach};
    box.lower = stn_vec3_sub(box.lower, all);
    box.upper = stn_vec3_add(box.upper, all);
    skin_visit(a, &box, meet_a, &s);
    for (int32_t k = 0; k < 2 && !s.kin && sink->deepest >= 0.0 && sink->status == STN_OK; k++) {
        skin_encloses_skin(k == 0 ? a : b, k == 0 ? b : a, k == 1, sink);
    }
}
