// SPDX-License-Identifier: Apache-2.0
// Two skins, or one with itself. The nearest points of two triangles are a vertex and the inside of the other one, two
// edges inside, or at corners: a vertex and an edge, two vertices. Of one cloud nothing meets what it shares a node
// with, nor what it is nearer to at rest than their thicknesses. Which triangles are compared: skin_near.c.
#include "skin.h"

#include <stiction/random.h>

typedef struct look {
    skin *a, *b;
    bool own;                      // the two are one skin: each pair of features comes twice, and counts once
    bool kin;                      // of one cloud
    double reach;                  // of the cores of the two triangles that are looked at
    const stn_aabb *box_a, *box_b; // (edge_count) of edges
    const skin_sunk *sunk[2];      // (vertex_count) of A, of B: find_sunk
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

static double segments_apart(const stn_vec3 p[2], const stn_vec3 q[2]) {
    double s, t, least = INFINITY;
    if (skin_lines_cross(p, q, &s, &t) && is_inside(s, t)) {
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
    const stn_aabb box = skin_box_of(corner, count, s->reach), point = {p, p};
    return skin_boxes_meet(&point, &box);
}

/// Is a vertex, of A or where `turned` of B, inside of the other skin?
static bool is_inside_other(const look *s, int32_t id, bool turned) {
    return s->sunk[turned] != NULL && s->sunk[turned][id].depth >= 0.0;
}

/// A vertex of `a` over the inside of a triangle of `b`, from outside where that is solid.
static void vertex_face(const look *s, const skin *a, int32_t id, const skin *b, int32_t triangle, bool turned) {
    const int32_t *v = b->face->triangle + 3 * (size_t)triangle;
    const stn_vec3 n = b->normal[triangle];
    const double height = stn_vec3_dot(n, stn_vec3_sub(a->at[id], b->at[v[0]]));
    if (fabs(height) > s->reach || (b->face->solid && height < 0.0) || is_inside_other(s, id, turned) ||
        (s->own && (v[0] == id || v[1] == id || v[2] == id)) || !(stn_vec3_dot(n, n) > 0.5)) {
        return;
    }
    const stn_vec3 m = stn_vec3_scale(height >= 0.0 ? -1.0 : 1.0, n),
                   corner[3] = {b->at[v[0]], b->at[v[1]], b->at[v[2]]};
    const double distance = fabs(height) - a->face->thickness - b->face->thickness,
                 slack = s->kin ? 1.0 : skin_slack_at(a, distance);
    if (!skin_vertex_is_outside(a, id, m, slack) || !is_near(s, a->at[id], corner, 3)) {
        return;
    }
    double weight[3];
    skin_nearest_on(corner, a->at[id], weight);
    if (weight[0] > skin_tiny && weight[1] > skin_tiny && weight[2] > skin_tiny &&
        skin_vertex_admits(a, id, m, slack)) {
        const skin_part part = skin_vertex_part(a, id), other = skin_face_part(b, triangle, weight);
        add(s, &part, &other, m, turned);
    }
}

/// What vertices of `a` are inside of a solid `b`; of others the depth is -1. NULL: none is, or out of memory, as the
/// sink says.
static const skin_sunk *find_sunk(const skin *a, const skin *b, skin_sink *sink) {
    skin_sunk *sunk = NULL;
    for (int32_t i = 0; i < a->face->vertex_count; i++) {
        skin_sunk one;
        if (!skin_sinks(b, a->at[i], skin_far * a->size, &one)) {
            continue;
        }
        if (sunk == NULL) {
            sunk = STN_ARENA(sink->scene->arena, a->face->vertex_count, skin_sunk);
            if (sunk == NULL) {
                sink->status =
                    stn_fail(sink->err, STN_ERR_MEMORY, "out of memory for the vertices inside of a surface");
                return NULL;
            }
            for (int32_t k = 0; k < a->face->vertex_count; k++) {
                sunk[k].depth = -1.0;
            }
        }
        sunk[i] = one;
    }
    return sunk;
}

/// A vertex of `a` inside of a solid `b` comes out over the nearest of the triangles that it lies below and that its
/// own surface can face: on an edge or a vertex of `b`, too, where meshes stand on each other node by node; of several
/// triangles there the one that is found counts.
static void vertex_inside(const look *s, const skin *a, int32_t id, const skin *b, const skin_sunk *sunk, bool turned) {
    const skin_vertex_way w = {a, id, 1e-9 * b->size, skin_slack_at(a, -sunk->depth)};
    const skin_part part = skin_vertex_part(a, id);
    skin_part other;
    stn_vec3 normal;
    if (skin_way_out(b, a->at[id], sunk->within, skin_vertex_leaves_over, &w, &other, &normal)) {
        add(s, &part, &other, stn_vec3_neg(normal), turned);
    }
}

/// Do two edges that lie `depth` below each other come out of the two bodies across each other?
static bool leave_across(const look *s, int32_t edge_a, double t, int32_t edge_b, double u, double depth) {
    skin_edge a, b;
    skin_edge_of(s->a, edge_a, &a);
    skin_edge_of(s->b, edge_b, &b);
    return skin_leaves_across(&(skin_edge_way){&a, t, skin_much * depth}, s->b) &&
           skin_leaves_across(&(skin_edge_way){&b, u, skin_much * depth}, s->a);
}

static void edge_edge(const look *s, int32_t edge_a, int32_t edge_b) {
    const bool sided = !s->kin && (s->a->face->solid || s->b->face->solid); // tells on which side the other one is
    const int32_t *v = s->a->face->edge + 2 * (size_t)edge_a, *w = s->b->face->edge + 2 * (size_t)edge_b;
    double deepest = 0.0, t, u;
    if (sided) { // deeper they run through a body, not across an edge of it
        const double length_a = stn_vec3_norm(stn_vec3_sub(s->a->at[v[1]], s->a->at[v[0]])),
                     length_b = stn_vec3_norm(stn_vec3_sub(s->b->at[w[1]], s->b->at[w[0]]));
        deepest = 0.5 * (length_a < length_b ? length_a : length_b);
    }
    const stn_aabb box = skin_box_grown(s->box_a[edge_a], s->reach > deepest ? s->reach : deepest);
    if (!skin_boxes_meet(&box, &s->box_b[edge_b]) ||
        (s->own && (v[0] == w[0] || v[0] == w[1] || v[1] == w[0] || v[1] == w[1]))) {
        return;
    }
    const stn_vec3 p[2] = {s->a->at[v[0]], s->a->at[v[1]]}, q[2] = {s->b->at[w[0]], s->b->at[w[1]]};
    if (!skin_lines_cross(p, q, &t, &u) || (!sided && !is_inside(t, u))) {
        return;
    }
    const skin_part a = skin_edge_part(s->a, edge_a, t), b = skin_edge_part(s->b, edge_b, u);
    const stn_vec3 off = stn_vec3_sub(skin_part_point(&b), skin_part_point(&a));
    const stn_vec3 n = stn_vec3_normalize_or(stn_vec3_cross(stn_vec3_sub(p[1], p[0]), stn_vec3_sub(q[1], q[0])), off);
    const double apart = stn_vec3_dot(n, off);
    if (!sided && (fabs(apart) <= 1e-12 * (s->a->size + s->b->size) || fabs(apart) > s->reach)) {
        return;
    }
    for (int32_t k = 0; k < (sided ? 2 : 1); k++) { // as they are apart; else as they overlap
        const stn_vec3 m = (apart >= 0.0) == (k == 0) ? n : stn_vec3_neg(n);
        // cores that touch or overlap come out where they are rims; else contacts would come and go at rest
        const double slack = k == 0 && (s->kin || fabs(apart) > skin_touch * s->a->size) ? skin_slack : skin_rim;
        const bool admitted =
            skin_edge_admits(s->a, edge_a, m, slack) && skin_edge_admits(s->b, edge_b, stn_vec3_neg(m), slack);
        // apart, a vertex has the contact at an end; in overlap it may face no triangle, as on two ridges
        if (admitted && (k == 0 ? is_inside(t, u) && fabs(apart) <= s->reach
                                : (fabs(apart) <= deepest && leave_across(s, edge_a, t, edge_b, u, fabs(apart))))) {
            add(s, &a, &b, m, false);
            return;
        }
    }
}

/// A vertex of `a` beside an edge of `b`, where no triangle of the edge is nearer.
static void vertex_edge(const look *s, const skin *a, int32_t id, const skin *b, int32_t edge, bool turned) {
    const stn_aabb *box = &(turned ? s->box_a : s->box_b)[edge],
                   point = skin_box_grown((stn_aabb){a->at[id], a->at[id]}, s->reach);
    if (!skin_boxes_meet(&point, box)) {
        return;
    }
    const int32_t *v = b->face->edge + 2 * (size_t)edge;
    const stn_vec3 corner[3] = {b->at[v[0]], b->at[v[1]], b->at[v[1]]}, along = stn_vec3_sub(corner[1], corner[0]);
    const double part_way = stn_vec3_dot(stn_vec3_sub(a->at[id], corner[0]), along), whole = stn_vec3_dot(along, along);
    if ((s->own && (v[0] == id || v[1] == id)) || part_way < -1e-3 * whole || part_way > 1.001 * whole) {
        return; // its own, or beyond an end
    }
    double weight[3];
    skin_nearest_on(corner, a->at[id], weight);
    double t = weight[1] + weight[2];
    if (!(t > skin_tiny && t < 1.0 - skin_tiny)) {
        return;
    }
    const skin_part part = skin_vertex_part(a, id), other = skin_edge_part(b, edge, t);
    stn_vec3 m;
    if (towards(s, &part, &other, &m) && skin_vertex_admits(a, id, m, s->kin ? 1.0 : skin_slack) &&
        skin_edge_admits(b, edge, stn_vec3_neg(m), skin_nearly)) {
        add(s, &part, &other, m, turned);
    }
}

static void vertex_vertex(const look *s, int32_t vertex_a, int32_t vertex_b) {
    const stn_vec3 d = stn_vec3_sub(s->b->at[vertex_b], s->a->at[vertex_a]);
    if (stn_vec3_dot(d, d) > 1.001 * s->reach * s->reach) {
        return;
    }
    const skin_part a = skin_vertex_part(s->a, vertex_a), b = skin_vertex_part(s->b, vertex_b);
    stn_vec3 m;
    const double slack = s->kin ? 1.0 : skin_slack;
    if (towards(s, &a, &b, &m) && skin_vertex_admits(s->a, vertex_a, m, slack) &&
        skin_vertex_admits(s->b, vertex_b, stn_vec3_neg(m), slack)) {
        add(s, &a, &b, m, false);
    }
}

/// The first of the corners in a set of bits, which it leaves.
static int32_t next_of(uint32_t *corners) {
    const int32_t k = __builtin_ctz(*corners);
    *corners &= *corners - 1;
    return k;
}

/// Two triangles: what each of them owns. Of one skin the other order of the two comes, too.
static void meet_triangles(void *user, int32_t ta, int32_t tb, double reach, bool level) {
    look *s = user;
    s->reach = reach;
    const int32_t *vertex_a = s->a->face->triangle + 3 * (size_t)ta,
                  *edge_a = s->a->face->triangle_edge + 3 * (size_t)ta,
                  *vertex_b = s->b->face->triangle + 3 * (size_t)tb,
                  *edge_b = s->b->face->triangle_edge + 3 * (size_t)tb;
    const uint32_t own_a = s->a->owned[ta], own_b = s->b->owned[tb];
    for (int32_t i = 0; i < 3; i++) {
        if (own_a >> i & 1) {
            if (!level) {
                vertex_face(s, s->a, vertex_a[i], s->b, tb, false);
            }
            for (uint32_t left = level ? own_b & 7 : (own_b | own_b >> 3) & 7; left != 0;) {
                const int32_t k = next_of(&left);
                if (!level && (own_b >> (3 + k) & 1)) {
                    vertex_edge(s, s->a, vertex_a[i], s->b, edge_b[k], false);
                }
                if ((own_b >> k & 1) && (!s->own || vertex_a[i] < vertex_b[k])) {
                    vertex_vertex(s, vertex_a[i], vertex_b[k]);
                }
            }
        }
        if (level) {
            continue;
        }
        if (!s->own && (own_b >> i & 1)) {
            vertex_face(s, s->b, vertex_b[i], s->a, ta, true);
            for (uint32_t left = own_a >> 3; left != 0;) {
                vertex_edge(s, s->b, vertex_b[i], s->a, edge_a[next_of(&left)], true);
            }
        }
        for (uint32_t left = own_a >> (3 + i) & 1 ? own_b >> 3 : 0; left != 0;) {
            const int32_t k = next_of(&left);
            if (!s->own || edge_a[i] < edge_b[k]) {
                edge_edge(s, edge_a[i], edge_b[k]);
            }
        }
    }
}

/// In the scene's arena. NULL: out of memory.
static const stn_aabb *find_edge_boxes(const skin *s, const stn_contact_scene *scene) {
    stn_aabb *box = STN_ARENA(scene->arena, s->face->edge_count, stn_aabb);
    for (int32_t i = 0; i < s->face->edge_count && box != NULL; i++) {
        const int32_t *v = s->face->edge + 2 * (size_t)i;
        const stn_vec3 end[2] = {s->at[v[0]], s->at[v[1]]};
        box[i] = skin_box_of(end, 2, 0.0);
    }
    return box;
}

void skin_against_skin(skin *a, skin *b, skin_sink *sink) {
    const double thick = a->face->thickness + b->face->thickness;
    look s = {.a = a, .b = b, .own = a == b, .kin = skin_are_kin(a, b), .sink = sink};
    if (!skin_is_step(sink) &&
        sink->margin > fmin(a->size, b->size)) { // asked from far away: what is nearest is enough
        double least = sink->margin + thick;
        for (int32_t i = 0; i < a->face->vertex_count && !s.own; i++) {
            least = skin_distance(b, a->at[i], least);
        }
        sink->margin = fmin(sink->margin, fmax(least - thick + 1e-6 * a->size, fmin(a->size, b->size)));
    }
    s.box_a = find_edge_boxes(a, sink->scene);
    s.box_b = s.own ? s.box_a : find_edge_boxes(b, sink->scene);
    if (s.box_a == NULL || s.box_b == NULL) {
        sink->status = stn_fail(sink->err, STN_ERR_MEMORY, "out of memory for the edges of a surface");
        return;
    }
    if (!s.kin) {
        s.sunk[0] = find_sunk(a, b, sink);
        s.sunk[1] = find_sunk(b, a, sink);
    }
    for (int32_t k = 0; k < 2; k++) {
        const skin *one = k == 0 ? a : b;
        for (int32_t i = 0; i < one->face->vertex_count && s.sunk[k] != NULL && sink->status == STN_OK; i++) {
            if (s.sunk[k][i].depth >= 0.0) {
                vertex_inside(&s, one, i, k == 0 ? b : a, &s.sunk[k][i], k == 1);
            }
        }
    }
    skin_visit_near(a, b, sink, meet_triangles, &s);
    for (int32_t k = 0; k < 2 && !s.kin && sink->deepest >= 0.0 && sink->status == STN_OK; k++) {
        skin_encloses_skin(k == 0 ? a : b, k == 0 ? b : a, k == 1, sink);
    }
}
