// SPDX-License-Identifier: Apache-2.0
// Convex hulls: the signed distance by their corners alone, then the points where the two faces, caps or side lines
// that look along the normal overlap.
#include "piece.h"

void hull_face(const stn_shape *hull, const stn_pose *pose, stn_vec3 direction, polygon *out) {
    enum { CODE_EDGE = 1 << 30 };
    const uint32_t code_face = 2U << 30;
    const stn_mesh *mesh = hull->mesh;
    const stn_polytope *p = mesh->polytope;
    stn_vec3 d = stn_mat3_apply_transposed(&pose->rotation, direction);
    int32_t corner = stn_mesh_support(mesh, d), face = -1;
    double most = -INFINITY;
    for (int32_t i = p->vertex_face_start[corner]; i < p->vertex_face_start[corner + 1]; i++) {
        const double *plane = p->planes + 4 * (size_t)p->vertex_faces[i];
        double along = d.x * plane[0] + d.y * plane[1] + d.z * plane[2];
        if (along > most) {
            most = along;
            face = p->vertex_faces[i];
        }
    }
    out->count = 0;
    if (face < 0) {
        return;
    }
    const double *plane = p->planes + 4 * (size_t)face;
    out->normal = stn_mat3_apply(&pose->rotation, stn_vec3_make(plane[0], plane[1], plane[2]));
    out->face_code = code_face + (uint32_t)face;
    for (int32_t i = p->outline_start[face]; i < p->outline_start[face + 1]; i++) {
        int32_t v = p->face_vertices[p->outline[i]];
        const double *x = mesh->vertices + 3 * (size_t)v;
        out->corner[out->count] = stn_pose_apply(pose, stn_vec3_make(x[0], x[1], x[2]));
        out->corner_code[out->count] = (uint32_t)v;
        out->edge_code[out->count] = CODE_EDGE + (uint32_t)p->face_edges[p->outline[i]];
        out->count++;
    }
}

/// The plane of the hull furthest below the point: of a point inside that is the nearest one.
static double nearest_plane(const stn_mesh *mesh, stn_vec3 p, stn_vec3 *normal) {
    double most = -INFINITY;
    for (int32_t i = 0; i < mesh->polytope->face_count; i++) {
        const double *plane = mesh->polytope->planes + 4 * (size_t)i;
        double height = plane[0] * p.x + plane[1] * p.y + plane[2] * p.z - plane[3];
        if (height > most) {
            most = height;
            *normal = stn_vec3_make(plane[0], plane[1], plane[2]);
        }
    }
    return stn_vec3_dot(
        *normal, stn_vec3_sub(p, stn_shape_support(&(stn_shape){.type = STN_SHAPE_CONVEX, .mesh = mesh}, *normal)));
}

void sphere_hull(posed a, posed b, double margin, manifold *out) {
    convex hull = {b.shape, stn_pose_identity()}, point = {a.shape, stn_pose_identity()};
    double r = a.shape->radius, least;
    separation s;
    point.pose.position = stn_pose_apply_inverse(b.pose, a.pose->position);
    if (!convex_apart(&point, &hull, margin + r, &s, &least)) {
        s.phi = nearest_plane(b.shape->mesh, point.pose.position, &s.normal);
        s.b = stn_vec3_mul_add(point.pose.position, -s.phi, s.normal);
        s.normal = stn_vec3_neg(s.normal);
    } else if (!(least > margin + r) && s.phi - least > 1e-11 * shape_size(b.shape)) {
        s = convex_best(&point, &hull, &s);
    }
    if (!(s.phi - r > margin)) {
        stn_vec3 normal = stn_mat3_apply(&b.pose->rotation, s.normal);
        stn_vec3 on_a = stn_vec3_mul_add(a.pose->position, r, normal);
        manifold_add_both(out, on_a, stn_pose_apply(b.pose, s.b), normal, 0, 0);
    }
}

/// The corners of the lowest face, and the lowest one when it is none of them.
void hull_half_space(posed a, posed b, double margin, manifold *out) {
    stn_vec3 m = stn_mat3_column(&b.pose->rotation, 2), normal = stn_vec3_neg(m);
    stn_vec3 down = stn_mat3_apply_transposed(&a.pose->rotation, normal);
    const double *v = a.shape->mesh->vertices + 3 * (size_t)stn_mesh_support(a.shape->mesh, down);
    stn_vec3 lowest = stn_pose_apply(a.pose, stn_vec3_make(v[0], v[1], v[2]));
    double phi = stn_vec3_dot(m, stn_vec3_sub(lowest, b.pose->position)), depth = INFINITY;
    if (phi > margin) {
        return;
    }
    polygon face;
    hull_face(a.shape, a.pose, normal, &face);
    for (int32_t i = 0; i < face.count; i++) {
        double height = stn_vec3_dot(m, stn_vec3_sub(face.corner[i], b.pose->position));
        depth = fmin(depth, height);
        if (!(height > margin)) {
            manifold_add(out, face.corner[i], normal, height, face.corner_code[i], 0);
        }
    }
    if (!(depth <= phi + 1e-10 * shape_size(a.shape))) {
        manifold_add(out, lowest, normal, phi, CODE_DEEPEST, 0);
    }
}

/// A capsule is its segment, and its radius is taken off in the end.
void convex_hull(posed a, posed b, double margin, manifold *out) {
    convex first = {a.shape, stn_pose_identity()}, second = {b.shape, relative_pose(a.pose, b.pose)};
    double size = pair_size(a.shape, b.shape), radius = a.shape->type == STN_SHAPE_CAPSULE ? a.shape->radius : 0.0;
    separation s = convex_separation(&first, &second, margin + radius);
    s.phi -= radius;
    if (s.phi > margin) {
        return;
    }
    s.a = stn_vec3_mul_add(s.a, radius, s.normal);
    facing f;
    face_along(&first, &second, s.normal, 1e-11 * size, &f);
    add_facing(a, &f, &s, margin, size, out);
}
