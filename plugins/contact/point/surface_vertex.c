// SPDX-License-Identifier: Apache-2.0
// A corner of the surface under the inside of a face of the body, its rounding, a corner: the body's point that is
// nearest to the vertex, along a direction that the vertex admits beside those of its edges and faces.
#include "surface.h"

/// How far a direction must lie within those that a vertex admits [rad]; nearer to their rim, edges and faces have it.
static const double inside = 1e-7;

/// Unit vectors along the edges that leave the vertex.
static int32_t edges_of(const surface *s, const fan *around, stn_vec3 corner, stn_vec3 edges[2 * FAN_CAPACITY]) {
    int32_t count = 0;
    for (int32_t i = 0; i < around->count; i++) {
        int32_t t = around->edge[i] / 3, k = around->edge[i] % 3;
        for (int32_t step = 1; step < 3; step++) {
            int32_t other = s->mesh->triangles[3 * (size_t)t + (size_t)((k + step) % 3)];
            stn_vec3 e = stn_vec3_sub(surface_vertex(s, other), corner);
            edges[count++] = stn_vec3_normalize_or(e, e);
        }
    }
    return count;
}

static double largest_along(const stn_vec3 *edges, int32_t count, stn_vec3 m, int32_t *which) {
    double most = -INFINITY;
    for (int32_t i = 0; i < count; i++) {
        double along = stn_vec3_dot(edges[i], m);
        if (along > most) {
            most = along;
            *which = i;
        }
    }
    return most;
}

/// Is the direction within those of the vertex, on the outer side of some of its faces?
static bool admits(const surface *s, const fan *around, const stn_vec3 *edges, int32_t count, stn_vec3 m) {
    int32_t worst = 0;
    if (!(largest_along(edges, count, m, &worst) < -inside)) {
        return false;
    }
    for (int32_t i = 0; i < around->count; i++) {
        if (stn_vec3_dot(surface_normal(s, around->edge[i] / 3), m) > 0.0) {
            return true;
        }
    }
    return false;
}

typedef struct nearest {
    double phi; // of the core
    stn_vec3 m, on_core;
} nearest;

/// Outside of the body, or inside its nearest face.
static bool find_nearest(const surface *s, stn_vec3 corner, nearest *out) {
    const stn_shape *shape = s->body.shape, point = {.type = STN_SHAPE_SPHERE};
    if (shape->type != STN_SHAPE_CONVEX && shape->type != STN_SHAPE_SPHERE) {
        stn_vec3 on_shape, outward;
        double phi = closest_point(shape, stn_pose_apply_inverse(&s->body.pose, corner), &on_shape, &outward);
        *out = (nearest){phi + s->radius, stn_vec3_neg(stn_mat3_apply(&s->body.pose.rotation, outward)),
                         stn_pose_apply(&s->body.pose, on_shape)};
        out->on_core = stn_vec3_mul_add(out->on_core, s->radius, out->m);
        return true;
    }
    convex at = {&point, stn_pose_identity()};
    separation found;
    double least;
    at.pose.position = corner;
    if (!convex_apart(&s->body, &at, s->margin + s->radius, &found, &least)) {
        return false;
    }
    *out = (nearest){found.phi, stn_vec3_neg(found.normal), found.a};
    return true;
}

/// Of the faces of the body that look into the directions of the vertex, the one it lies deepest behind the least.
typedef struct face_search {
    const surface *s;
    stn_vec3 corner;
    const fan *around;
    const stn_vec3 *edges;
    int32_t count;
    nearest best;
} face_search;

static void try_face(face_search *f, stn_vec3 outward) {
    stn_vec3 lowest, m = stn_vec3_neg(stn_mat3_apply(&f->s->body.pose.rotation, outward));
    double phi = surface_gap(f->s, m, f->corner, &lowest) + f->s->radius;
    if (phi > f->best.phi && admits(f->s, f->around, f->edges, f->count, m)) {
        f->best = (nearest){phi, m, stn_vec3_mul_add(f->corner, phi, m)};
    }
}

static void try_faces(face_search *f) {
    const stn_shape *shape = f->s->body.shape;
    bool box = shape->type == STN_SHAPE_BOX;
    if (shape->type == STN_SHAPE_CONVEX) {
        for (int32_t i = 0; i < shape->mesh->polytope->face_count; i++) {
            const double *plane = shape->mesh->polytope->planes + 4 * (size_t)i;
            try_face(f, stn_vec3_make(plane[0], plane[1], plane[2]));
        }
    }
    for (int32_t i = box ? 0 : 4; i < 6 && (box || shape->type == STN_SHAPE_CYLINDER); i++) {
        double side = i % 2 == 0 ? 1.0 : -1.0;
        try_face(f, stn_vec3_make(i / 2 == 0 ? side : 0.0, i / 2 == 1 ? side : 0.0, i / 2 == 2 ? side : 0.0));
    }
}

void surface_vertex_points(const surface *s, const facet *f, int32_t k) {
    fan around;
    stn_vec3 edges[2 * FAN_CAPACITY], corner = f->corner[k], to = stn_vec3_sub(corner, s->centre);
    double far = s->reach + s->margin;
    if (stn_vec3_dot(to, to) > far * far) {
        return;
    }
    surface_fan(s, 3 * f->id + k, &around);
    for (int32_t i = 0; i < around.count; i++) {
        if (around.edge[i] / 3 < f->id) {
            return; // the lowest triangle has it
        }
    }
    nearest found = {.phi = -INFINITY};
    bool apart = find_nearest(s, corner, &found);
    if (apart && found.phi - s->radius > s->margin) {
        return;
    }
    int32_t count = edges_of(s, &around, corner, edges);
    if (!apart || !admits(s, &around, edges, count, found.m)) {
        face_search search = {s, corner, &around, edges, count, {.phi = -INFINITY}};
        if (!apart || found.phi < 0.0) {
            try_faces(&search);
        }
        found = search.best;
    }
    double phi = found.phi - s->radius;
    if (!(phi > -(double)INFINITY) || (phi < 0.0 && surface_is_passed(s, found.m, corner, phi))) {
        return;
    }
    uint32_t code = surface_vertex_code + (uint32_t)s->mesh->triangles[3 * (size_t)f->id + (size_t)k];
    surface_add(s, stn_vec3_mul_add(found.on_core, -s->radius, found.m), corner, found.m, 0, code);
}
