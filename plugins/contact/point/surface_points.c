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

// ------------------------------------------------------------------------------------------------- the last look
// The last look at a surface: does every triangle that meets the body come out of it along the normal of some point, by
// the depth of the deepest? Nearly always it does, and a few products tell. Deep in a valley, or over a border that the
// body hangs across, it may not: then the triangle is held against the body as a convex shape of its own, and what it
// overlaps by becomes a point. A triangle that most of the body has passed is not felt.

enum { NORMALS = 32, FIRST_NORMALS = 4 };     // that are kept; that parts are tried along
static const uint32_t caught_code = 1U << 28; // feature of the body

typedef struct caught {
    const surface *s;
    int32_t count;
    surface_direction along[NORMALS];
    double depth; // that is covered
} caught;

static void take(caught *c, stn_vec3 m, double phi) {
    stn_vec3 lowest;
    c->depth = fmax(c->depth, -phi);
    for (int32_t i = 0; i < c->count; i++) {
        if (stn_vec3_dot(c->along[i].m, m) > 1.0 - 1e-12) {
            return;
        }
    }
    if (c->count < NORMALS) {
        surface_note(c->along, &c->count, NORMALS, m, surface_gap(c->s, m, stn_vec3_zero(), &lowest));
    }
}

static double tolerance_of(const caught *c) {
    return 1e-8 * c->s->size + 1e-6 * c->depth;
}

separation surface_part(const surface *s, const stn_vec3 corner[3]) {
    static const int32_t starts[4] = {0, 2, 4, 6}, neighbours[6] = {1, 2, 0, 2, 0, 1};
    static const stn_polytope no_faces = {.neighbour_start = starts, .neighbours = neighbours};
    const stn_mesh mesh = {.vertex_count = 3,
                           .polytope = &no_faces,
                           .vertices = &corner[0].x,
                           .bounds = {{fmin(corner[0].x, fmin(corner[1].x, corner[2].x)),
                                       fmin(corner[0].y, fmin(corner[1].y, corner[2].y)),
                                       fmin(corner[0].z, fmin(corner[1].z, corner[2].z))},
                                      {fmax(corner[0].x, fmax(corner[1].x, corner[2].x)),
                                       fmax(corner[0].y, fmax(corner[1].y, corner[2].y)),
                                       fmax(corner[0].z, fmax(corner[1].z, corner[2].z))}}};
    const stn_shape shape = {.type = STN_SHAPE_CONVEX, .mesh = &mesh};
    const convex triangle = {&shape, stn_pose_identity()};
    return convex_separation(&s->body, &triangle, s->radius);
}

/// Does the whole part of the surface come out of the body along one direction?
static bool comes_out(void *user, const stn_mesh_part *part) {
    caught *c = user;
    double covered = c->depth + tolerance_of(c);
    stn_vec3 m, lowest;
    for (int32_t i = 0; i < c->count && i < FIRST_NORMALS; i++) {
        m = c->along[i].m;
        if (stn_vec3_dot(m, part->centre) + stn_mesh_part_reach(part, m) - c->along[i].low <= covered) {
            surface_prefer(c->along, i);
            return true;
        }
    }
    if (!surface_towards_body(c->s, part->centre, 0.0, &m)) {
        return false;
    }
    double low = surface_gap(c->s, m, stn_vec3_zero(), &lowest);
    if (!(stn_vec3_dot(m, part->centre) + stn_mesh_part_reach(part, m) - low <= covered)) {
        return false;
    }
    surface_note(c->along, &c->count, NORMALS, m, low);
    return true;
}

static bool visit(void *user, int32_t id) {
    caught *c = user;
    const surface *s = c->s;
    stn_vec3 corner[3];
    for (int32_t k = 0; k < 3; k++) {
        corner[k] = surface_vertex(s, s->mesh->triangles[3 * (size_t)id + (size_t)k]);
    }
    double covered = c->depth + tolerance_of(c);
    for (int32_t i = 0; i < c->count; i++) {
        if (surface_highest(c->along[i].m, corner) - c->along[i].low <= covered) {
            surface_prefer(c->along, i);
            return true;
        }
    }
    stn_vec3 n = surface_normal(s, id), lowest;
    double gap = surface_gap(s, n, corner[0], &lowest);
    if (gap >= -c->depth - tolerance_of(c) || surface_is_passed(s, n, corner[0])) {
        return true;
    }
    separation found = surface_part(s, corner);
    double phi = found.phi - s->radius;
    if (phi >= -c->depth - tolerance_of(c)) {
        return true;
    }
    stn_vec3 m = stn_vec3_neg(found.normal), on_body = stn_vec3_mul_add(found.a, -s->radius, m);
    if (stn_vec3_dot(m, n) < 0.0) { // never out of the back
        m = n;
        phi = gap;
        on_body = stn_vec3_mul_add(lowest, -s->radius, n);
    }
    surface_add(s, on_body, stn_vec3_mul_add(on_body, -phi, m), m, caught_code, (uint32_t)id);
    take(c, m, phi);
    return true;
}

void surface_catch(const surface *s) {
    caught c = {.s = s};
    for (int32_t g = 0; g < s->points->group_count; g++) {
        const manifold *points = &s->points->group[g];
        for (int32_t i = 0; i < points->count; i++) {
            take(&c, stn_vec3_neg(points->points[i].normal), points->points[i].phi);
        }
    }
    for (int32_t k = 0; k < 6; k++) { // along its axes the body may be apart
        take(&c, stn_vec3_scale(k % 2 == 0 ? 1.0 : -1.0, stn_mat3_column(&s->body.pose.rotation, k / 2)), 0.0);
    }
    stn_aabb box = stn_shape_aabb(s->body.shape, &s->body.pose, 0.0);
    stn_mesh_visit_parts(s->mesh, &box, comes_out, visit, &c);
}
