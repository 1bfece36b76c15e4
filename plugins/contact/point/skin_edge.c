// SPDX-License-Identifier: Apache-2.0
// Edges, of a skin or of a mesh, with the triangles beside them: in which directions one is nearer than what is around
// it, and which triangles of another body it may come out over.
#include "skin.h"

bool skin_lines_cross(const stn_vec3 p[2], const stn_vec3 q[2], double *s, double *t) {
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

/// Does another edge go on at end k, in about the direction of this one?
static bool goes_on(const skin *s, const int32_t *v, int32_t k) {
    const stn_vec3 d = stn_vec3_sub(s->at[v[k]], s->at[v[1 - k]]);
    for (int32_t i = s->beside_start[v[k]]; i < s->beside_start[v[k] + 1]; i++) {
        if (skin_edge_is_ahead(d, stn_vec3_sub(s->at[s->beside[i]], s->at[v[k]]))) {
            return true;
        }
    }
    return false;
}

bool skin_edge_is_ahead(stn_vec3 along, stn_vec3 next) {
    return stn_vec3_dot(along, next) > 0.9 * stn_vec3_norm(along) * stn_vec3_norm(next);
}

void skin_edge_add_side(skin_edge *e, const skin_facet *f, stn_vec3 across) {
    const stn_vec3 u = stn_vec3_sub(e->end[1], e->end[0]);
    stn_vec3 away = stn_vec3_sub(e->end[0], across);
    away = stn_vec3_mul_add(away, -stn_vec3_dot(away, u) / fmax(stn_vec3_dot(u, u), 1e-300), u);
    e->away[e->side_count++] = stn_vec3_normalize_or(away, stn_vec3_zero());
    e->mean = stn_vec3_add(e->mean, f->normal);
}

static void edge_of(const skin *s, int32_t edge, skin_edge *out) {
    const int32_t *v = s->face->edge + 2 * (size_t)edge, *sides = s->face->edge_triangle + 2 * (size_t)edge;
    *out = (skin_edge){.end = {s->at[v[0]], s->at[v[1]]}, .solid = s->face->solid};
    for (int32_t k = 0; k < 2 && sides[k] >= 0; k++) {
        const int32_t *corner = s->face->triangle + 3 * (size_t)sides[k];
        skin_facet f;
        skin_facet_of(s, sides[k], &f);
        for (int32_t i = 0; i < 3; i++) {
            if (corner[i] != v[0] && corner[i] != v[1]) {
                skin_edge_add_side(out, &f, s->at[corner[i]]);
            }
        }
    }
}

void skin_edge_of(const skin *s, int32_t edge, skin_edge *out) {
    const int32_t *v = s->face->edge + 2 * (size_t)edge;
    edge_of(s, edge, out);
    out->goes_on[0] = goes_on(s, v, 0);
    out->goes_on[1] = goes_on(s, v, 1);
}

bool skin_edge_faces(const skin_edge *e, stn_vec3 m, double slack) {
    for (int32_t k = 0; k < e->side_count; k++) {
        if (stn_vec3_dot(m, e->away[k]) < -slack) {
            return false;
        }
    }
    return !e->solid || stn_vec3_dot(m, e->mean) >= 0.0;
}

bool skin_edge_admits(const skin *s, int32_t edge, stn_vec3 m, double slack) {
    skin_edge e;
    edge_of(s, edge, &e);
    return skin_edge_faces(&e, m, slack);
}

bool skin_edge_leaves_over(const void *user, const skin_facet *f) {
    const skin_edge_way *w = user;
    const skin_edge *e = w->edge;
    const int32_t back = stn_vec3_dot(f->normal, stn_vec3_sub(e->end[1], e->end[0])) > 0.0 ? 0 : 1;
    const stn_vec3 out = stn_vec3_sub(e->end[1 - back], e->end[back]); // from its end behind the triangle
    const double along = stn_vec3_dot(f->normal, out);
    if (along * (back == 0 ? w->t : 1.0 - w->t) >= w->length ||
        (along > 0.1 * stn_vec3_norm(out) && e->goes_on[back])) {
        return false;
    }
    return along >= 0.5 * stn_vec3_norm(out) || skin_edge_faces(e, stn_vec3_neg(f->normal), skin_slack);
}

bool skin_leaves_across(const skin_edge_way *way, const skin *b) {
    const skin_edge *e = way->edge;
    const stn_vec3 p = skin_edge_point(e, way->t);
    const double tolerance = 1e-9 * b->size, depth = way->length / skin_much;
    double distance;
    return !b->face->solid ||
           (skin_has(b, p, depth, tolerance + 0.1 * depth) && // or on a side, nearly
            skin_nearest_of(b, p, fmax(way->length - tolerance, 0.0), skin_edge_leaves_over, way, &distance) < 0);
}
