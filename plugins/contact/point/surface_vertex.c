// SPDX-License-Identifier: Apache-2.0
// A corner of the surface under the inside of a face of the body, its rounding, a corner: the body's point that is
// nearest to the vertex, along a direction that the vertex admits beside those of its edges and faces.
#include "piece.h"
#include "surface.h"

/// How far a direction must lie within those that a vertex admits [rad]; nearer to their rim, edges and faces have it.
static const double inside = 1e-7;

/// Does the direction fall along both of the triangle's sides that leave its corner?
static bool falls(const surface *s, int32_t edge, stn_vec3 corner, stn_vec3 m) {
    const int32_t *ids = s->mesh->triangles + edge / 3 * 3;
    for (int32_t step = 1; step < 3; step++) {
        stn_vec3 side = stn_vec3_sub(surface_vertex(s, ids[(edge + step) % 3]), corner);
        double along = stn_vec3_dot(side, m);
        if (!(along < 0.0) || along * along <= inside * inside * stn_vec3_dot(side, side)) {
            return false;
        }
    }
    return true;
}

/// Is the direction within those of the vertex, on the outer side of some of its faces?
static bool admits(const surface *s, const fan *around, stn_vec3 corner, stn_vec3 m) {
    for (int32_t i = 0; i < around->count; i++) {
        if (!falls(s, around->edge[i], corner, m)) {
            return false;
        }
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
    nearest best;
} face_search;

static void try_face(face_search *f, stn_vec3 outward) {
    stn_vec3 lowest, m = stn_vec3_neg(stn_mat3_apply(&f->s->body.pose.rotation, outward));
    if (!admits(f->s, f->around, f->corner, m)) {
        return;
    }
    double phi = surface_gap(f->s, m, f->corner, &lowest) + f->s->radius;
    if (phi > f->best.phi) {
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
    stn_vec3 corner = f->corner[k], to = stn_vec3_sub(corner, s->centre);
    double far = s->reach + s->margin;
    if (stn_vec3_dot(to, to) > far * far) {
        return;
    }
    const int32_t *across = s->across + 3 * (size_t)f->id;
    int32_t next = across[k], before = across[(k + 2) % 3];
    if ((next >= 0 && next / 3 < f->id) || (before >= 0 && before / 3 < f->id)) {
        return; // a lower triangle has it
    }
    nearest found = {.phi = -INFINITY};
    bool apart = find_nearest(s, corner, &found), within = apart && falls(s, 3 * f->id + k, corner, found.m);
    if (apart && (found.phi - s->radius > s->margin || (found.phi >= 0.0 && !within))) {
        return;
    }
    surface_fan(s, 3 * f->id + k, &around);
    for (int32_t i = 0; i < around.count; i++) {
        if (around.edge[i] / 3 < f->id) {
            return;
        }
    }
    if (!within || !admits(s, &around, corner, found.m)) {
        face_search search = {s, corner, &around, {.phi = -INFINITY}};
        if (!apart || found.phi < 0.0) {
            try_faces(&search);
        }
        found = search.best;
    }
    if (isinf(found.phi) || surface_is_passed(s, found.m, corner)) {
        return;
    }
    uint32_t code = surface_vertex_code + (uint32_t)s->mesh->triangles[3 * (size_t)f->id + (size_t)k];
    surface_add(s, stn_vec3_mul_add(found.on_core, -s->radius, found.m), corner, found.m, CODE_DEEPEST, code);
}
