// SPDX-License-Identifier: Apache-2.0
// The points of a body on a surface, found triangle by triangle in any number: those of nearly one normal form a group,
// in which points at one place are one and only the best are kept while others come.
//
// Where the surface is convex, the way out of an overlap is the direction of the least depth, as between convex bodies:
// at the edge of a table a body that rests on the top also overlaps the side, sideways and deeply. A point is dropped
// when it lies behind the plane of another one, below which the body reaches less deeply than it does at that point.
#include "surface.h"

static const double group_cosine = 0.996; // 5 degrees

void surface_add(const surface *s, stn_vec3 on_body, stn_vec3 on_surface, stn_vec3 m, uint32_t feature_a,
                 uint32_t feature_b) {
    surface_points *p = s->points;
    stn_vec3 normal = stn_vec3_neg(m);
    witness w = {on_body,   on_surface, normal, stn_vec3_dot(normal, stn_vec3_sub(on_surface, on_body)),
                 feature_a, feature_b};
    int32_t group = -1;
    double most = -INFINITY;
    for (int32_t i = 0; i < p->group_count; i++) {
        double cosine = stn_vec3_dot(p->normal[i], normal);
        if (cosine > most) {
            most = cosine;
            group = i;
        }
    }
    if (!(most >= group_cosine) && p->group_count < SURFACE_GROUPS) {
        group = p->group_count++;
        p->normal[group] = normal;
        p->group[group].count = 0;
    }
    manifold *g = &p->group[group];
    for (int32_t i = 0; i < g->count; i++) {
        stn_vec3 apart = stn_vec3_sub(g->points[i].a, on_body);
        if (stn_vec3_dot(apart, apart) < p->near * p->near) {
            g->points[i] = w.phi < g->points[i].phi ? w : g->points[i];
            return;
        }
    }
    if (g->count == MANIFOLD_CAPACITY) {
        manifold_reduce(g, p->limit);
    }
    g->points[g->count++] = w;
}

/// A plane of contact: behind it where m . x <= height, and how deep the body is below it.
typedef struct plane {
    stn_vec3 m;
    double height, gap;
} plane;

void surface_settle(const surface *s) {
    surface_points *p = s->points;
    plane planes[SURFACE_GROUPS * MANIFOLD_CAPACITY];
    double tolerance = 1e-9 * s->size;
    int32_t plane_count = 0;
    for (int32_t k = 0; k < p->group_count; k++) { // of all points, one of each group that has but one
        const manifold *g = &p->group[k];
        int32_t first = plane_count;
        for (int32_t i = 0; i < g->count; i++) {
            stn_vec3 lowest, m = stn_vec3_neg(g->points[i].normal);
            double height = stn_vec3_dot(m, g->points[i].b);
            const plane *last = plane_count > first ? &planes[plane_count - 1] : NULL;
            if (last == NULL || stn_vec3_dot(last->m, m) < 1.0 - 1e-15 ||
                fabs(last->height - height) > 1e-12 * s->size) {
                planes[plane_count++] = (plane){m, height, surface_gap(s, m, g->points[i].b, &lowest)};
            }
        }
    }
    for (int32_t k = 0; k < p->group_count && plane_count > 1; k++) {
        manifold *g = &p->group[k];
        int32_t kept = 0;
        for (int32_t i = 0; i < g->count; i++) {
            const witness *w = &g->points[i];
            double behind = tolerance + 1e-7 * fabs(w->phi); // as far as it may lie beside its triangle
            bool drop = false;
            for (int32_t q = 0; q < plane_count && w->phi < 0.0 && !drop; q++) {
                drop =
                    planes[q].gap > w->phi + tolerance && stn_vec3_dot(planes[q].m, w->b) <= planes[q].height + behind;
            }
            if (!drop) {
                g->points[kept++] = *w;
            }
        }
        g->count = kept;
    }
}
