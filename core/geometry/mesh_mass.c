// SPDX-License-Identifier: Apache-2.0
// Area, volume and mass properties of what a mesh encloses, exact up to rounding.
//
// A solid is a sum of tetrahedra: its own, or by the divergence theorem those between every triangle and one common
// point, counted negative where the triangle faces that point. A tetrahedron p_0 .. p_3 of signed volume V has
//   integral of x      V/4 s,                                     s = p_0 + .. + p_3
//   integral of x x^T  V/20 (p_0 p_0^T + .. + p_3 p_3^T + s s^T)
// The common point and origin of all sums is the centre of the box, so that nothing is lost far from the frame's
// origin.
#include "geometry/mesh_build.h"

typedef struct sums {
    double volume;
    stn_vec3 first;      // integral of x
    double second[3][3]; // integral of x x^T, upper triangle
} sums;

static void add_tetrahedron(sums *s, const stn_vec3 p[4]) {
    stn_vec3 a = stn_vec3_sub(p[1], p[0]), b = stn_vec3_sub(p[2], p[0]), c = stn_vec3_sub(p[3], p[0]);
    double volume = stn_vec3_dot(a, stn_vec3_cross(b, c)) / 6.0;
    stn_vec3 sum = stn_vec3_add(stn_vec3_add(p[0], p[1]), stn_vec3_add(p[2], p[3]));
    const double x[5][3] = {{p[0].x, p[0].y, p[0].z},
                            {p[1].x, p[1].y, p[1].z},
                            {p[2].x, p[2].y, p[2].z},
                            {p[3].x, p[3].y, p[3].z},
                            {sum.x, sum.y, sum.z}};
    s->volume += volume;
    s->first = stn_vec3_mul_add(s->first, volume / 4.0, sum);
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = i; j < 3; j++) {
            double product = 0.0;
            for (int32_t k = 0; k < 5; k++) {
                product += x[k][i] * x[k][j];
            }
            s->second[i][j] += volume / 20.0 * product;
        }
    }
}

static stn_vec3 corner_from(const raw_mesh *mesh, const int32_t *ids, int32_t k, stn_vec3 centre) {
    return stn_vec3_sub(mesh_vertex(mesh->vertices, ids[k]), centre);
}

/// Has a body these second moments? Then none is negative, but for rounding.
static bool is_body(const stn_mat3 *covariance) {
    double lambda[3];
    stn_mat3_eigenvalues(covariance, lambda);
    return lambda[2] > 0.0 && lambda[0] >= -1e-12 * lambda[2];
}

/// Zero when no volume is left beside rounding (a folded sheet), or when the second moments are those of no body (parts
/// of different signs).
static stn_mass solid_from(const sums *s, stn_vec3 centre, double least_volume) {
    stn_mass none = {0};
    if (!(fabs(s->volume) > least_volume)) {
        return none;
    }
    double mass = fabs(s->volume), sign = s->volume > 0.0 ? 1.0 : -1.0;
    stn_vec3 com = stn_vec3_scale(1.0 / s->volume, s->first);
    const double d[3] = {com.x, com.y, com.z};
    stn_mat3 c;
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = i; j < 3; j++) {
            c.m[i][j] = c.m[j][i] = sign * s->second[i][j] - mass * d[i] * d[j];
        }
    }
    if (!is_body(&c)) {
        return none;
    }
    stn_mass solid = {.mass = mass, .com = stn_vec3_add(centre, com)};
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            int32_t a = (i + 1) % 3, b = (i + 2) % 3;
            solid.inertia.m[i][j] = i == j ? c.m[a][a] + c.m[b][b] : -c.m[i][j];
        }
    }
    return solid;
}

stn_aabb mesh_bounds(const raw_mesh *mesh) {
    stn_aabb box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        stn_vec3 p = mesh_vertex(mesh->vertices, i);
        box.lower = stn_vec3_make(fmin(box.lower.x, p.x), fmin(box.lower.y, p.y), fmin(box.lower.z, p.z));
        box.upper = stn_vec3_make(fmax(box.upper.x, p.x), fmax(box.upper.y, p.y), fmax(box.upper.z, p.z));
    }
    return box;
}

mesh_integrals mesh_integrate(const raw_mesh *mesh, const stn_aabb *bounds, bool closed) {
    stn_vec3 centre = stn_vec3_scale(0.5, stn_vec3_add(bounds->lower, bounds->upper)), normals = stn_vec3_zero();
    mesh_integrals result = {0};
    sums s = {0};
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        const int32_t *ids = mesh->triangles + 3 * (size_t)i;
        stn_vec3 p[4] = {stn_vec3_zero()};
        for (int32_t k = 0; k < 3; k++) {
            p[k + 1] = corner_from(mesh, ids, k, centre);
        }
        stn_vec3 normal = stn_vec3_cross(stn_vec3_sub(p[2], p[1]), stn_vec3_sub(p[3], p[1]));
        result.area += 0.5 * stn_vec3_norm(normal);
        normals = stn_vec3_mul_add(normals, 0.5, normal);
        if (mesh->tetrahedron_count == 0) {
            add_tetrahedron(&s, p);
        }
    }
    for (int32_t i = 0; i < mesh->tetrahedron_count; i++) {
        const int32_t *ids = mesh->tetrahedra + 4 * (size_t)i;
        stn_vec3 p[4];
        for (int32_t k = 0; k < 4; k++) {
            p[k] = corner_from(mesh, ids, k, centre);
        }
        add_tetrahedron(&s, p);
    }
    double diagonal = stn_vec3_norm(stn_vec3_sub(bounds->upper, bounds->lower));
    if (closed) {
        result.solid = solid_from(&s, centre, 1e-13 * result.area * diagonal);
    }
    // an open surface has no volume of its own: the figure is that of the cone over it from the frame's origin
    result.volume = closed ? s.volume : s.volume + stn_vec3_dot(centre, normals) / 3.0;
    return result;
}
