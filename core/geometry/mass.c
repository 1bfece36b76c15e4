// SPDX-License-Identifier: Apache-2.0
// Mass properties of uniform solids, and how they move and add (parallel axis theorem).
#include <stiction/mesh.h>

#include "geometry/mesh_object.h"

double stn_shape_volume(const stn_shape *shape) {
    double r = shape->radius, l = shape->half_length;
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        return 4.0 / 3.0 * STN_PI * r * r * r;
    case STN_SHAPE_BOX:
        return 8.0 * shape->half_extents.x * shape->half_extents.y * shape->half_extents.z;
    case STN_SHAPE_CAPSULE:
        return STN_PI * r * r * (4.0 / 3.0 * r + 2.0 * l);
    case STN_SHAPE_CYLINDER:
        return STN_PI * r * r * 2.0 * l;
    case STN_SHAPE_HALF_SPACE:
    case STN_SHAPE_HEIGHT_FIELD:
        return INFINITY;
    case STN_SHAPE_ELLIPSOID:
        return 4.0 / 3.0 * STN_PI * shape->half_extents.x * shape->half_extents.y * shape->half_extents.z;
    case STN_SHAPE_MESH:
    case STN_SHAPE_CONVEX:
        return shape->mesh != NULL ? shape->mesh->solid.mass : 0.0;
    default:
        return 0.0;
    }
}

/// Of a solid whose second moments along its axes are `share` m h_i^2: 1/3 for a box, 1/5 for an ellipsoid.
static stn_mat3 axes_inertia(double m, double share, stn_vec3 h) {
    double x = share * h.x * h.x, y = share * h.y * h.y, z = share * h.z * h.z;
    return stn_mat3_diagonal(m * (y + z), m * (x + z), m * (x + y));
}

static stn_mat3 cylinder_inertia(double m, double r, double l) {
    double across = m * (0.25 * r * r + l * l / 3.0);
    return stn_mat3_diagonal(across, across, 0.5 * m * r * r);
}

/// A cylinder and two half balls; each half ball's centre of mass lies 3/8 r beyond the end of the segment.
static stn_mat3 capsule_inertia(double m, double r, double l) {
    double ends = m * 4.0 / 3.0 * r / (4.0 / 3.0 * r + 2.0 * l); // share of the volume
    stn_mat3 middle = cylinder_inertia(m - ends, r, l);
    double across = ends * (0.4 * r * r + l * l + 0.75 * r * l);
    stn_mat3 balls = stn_mat3_diagonal(across, across, 0.4 * ends * r * r);
    return stn_mat3_add(&middle, &balls);
}

/// The solid inside, given the total mass instead of unit density.
static stn_status mesh_mass(const stn_mesh *mesh, double mass, stn_mass *out, stn_error *err) {
    if (mesh == NULL) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "mesh: not loaded, so its mass properties are not known");
    }
    const stn_mass *solid = &mesh->solid;
    if (!(solid->mass > 0.0)) {
        return stn_fail(
            err, STN_ERR_UNSUPPORTED,
            "mesh: encloses no solid (%d of its edges are not shared by two triangles, volume %g m^3); give mass, "
            "centre and inertia",
            mesh->facts.open_edge_count, mesh->facts.volume);
    }
    *out = (stn_mass){.mass = mass, .com = solid->com};
    for (int32_t i = 0; i < 9; i++) {
        out->inertia.m[i / 3][i % 3] = mass * (solid->inertia.m[i / 3][i % 3] / solid->mass);
    }
    return STN_OK;
}

stn_status stn_shape_mass(const stn_shape *shape, double mass, stn_mass *out, stn_error *err) {
    stn_status status = stn_shape_check(shape, err);
    if (status != STN_OK) {
        return status;
    }
    if (!(mass >= 0.0) || !isfinite(mass)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: mass = %g kg must be finite and >= 0", stn_shape_name(shape->type),
                        mass);
    }
    stn_mass result = {.mass = mass};
    switch (shape->type) {
    case STN_SHAPE_SPHERE: {
        double i = 0.4 * mass * shape->radius * shape->radius;
        result.inertia = stn_mat3_diagonal(i, i, i);
        break;
    }
    case STN_SHAPE_BOX:
        result.inertia = axes_inertia(mass, 1.0 / 3.0, shape->half_extents);
        break;
    case STN_SHAPE_ELLIPSOID:
        result.inertia = axes_inertia(mass, 1.0 / 5.0, shape->half_extents);
        break;
    case STN_SHAPE_CAPSULE:
        result.inertia = capsule_inertia(mass, shape->radius, shape->half_length);
        break;
    case STN_SHAPE_CYLINDER:
        result.inertia = cylinder_inertia(mass, shape->radius, shape->half_length);
        break;
    case STN_SHAPE_MESH:
    case STN_SHAPE_CONVEX:
        return mesh_mass(shape->mesh, mass, out, err);
    default:
        return stn_fail(err, STN_ERR_UNSUPPORTED, "%s: mass properties are not known; give mass, centre and inertia",
                        stn_shape_name(shape->type));
    }
    *out = result;
    return STN_OK;
}

stn_mass stn_mass_transform(const stn_pose *ab, const stn_mass *mass) {
    return (stn_mass){mass->mass, stn_pose_apply(ab, mass->com), stn_mat3_rotate_tensor(&ab->rotation, &mass->inertia)};
}

/// About the common centre both parts together weigh, for rotation, as their reduced mass at their distance.
stn_mass stn_mass_add(const stn_mass *a, const stn_mass *b) {
    double total = a->mass + b->mass;
    stn_mass result = {.mass = total, .inertia = stn_mat3_add(&a->inertia, &b->inertia)};
    if (total > 0.0) {
        double share = b->mass / total;
        stn_vec3 d = stn_vec3_sub(b->com, a->com);
        double m = a->mass * share; // a point mass at d: m (|d|^2 1 - d d^T)
        stn_mat3 apart = {{{m * (d.y * d.y + d.z * d.z), -m * d.x * d.y, -m * d.x * d.z},
                           {-m * d.x * d.y, m * (d.x * d.x + d.z * d.z), -m * d.y * d.z},
                           {-m * d.x * d.z, -m * d.y * d.z, m * (d.x * d.x + d.y * d.y)}}};
        result.com = stn_vec3_mul_add(a->com, share, d);
        result.inertia = stn_mat3_add(&result.inertia, &apart);
    }
    return result;
}

// ------------------------------------------------------------------------------------------ what a mesh encloses
// Area, volume and mass properties of what a mesh encloses, exact up to rounding.
//
// A solid is a sum of tetrahedra: its own, or by the divergence theorem those between every triangle and one common
// point, counted negative where the triangle faces that point. A tetrahedron p_0 .. p_3 of signed volume V has
//   integral of x      V/4 s,                                     s = p_0 + .. + p_3
//   integral of x x^T  V/20 (p_0 p_0^T + .. + p_3 p_3^T + s s^T)
// The common point and origin of all sums is the centre of the box, so that nothing is lost far from the frame's
// origin.

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

static stn_vec3 corner_from(const stn_mesh_data *mesh, const int32_t *ids, int32_t k, stn_vec3 centre) {
    return stn_vec3_sub(stn_vec3_at(mesh->vertices, ids[k]), centre);
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
    double lambda[3];
    stn_mat3_eigenvalues(&c, lambda);
    if (!(lambda[2] > 0.0 && lambda[0] >= -1e-12 * lambda[2])) { // but for rounding
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

stn_mesh_integrals stn_mesh_integrate(const stn_mesh_data *mesh, bool closed) {
    const stn_aabb bounds = stn_points_box(mesh->vertices, mesh->vertex_count);
    stn_vec3 centre = stn_vec3_scale(0.5, stn_vec3_add(bounds.lower, bounds.upper)), normals = stn_vec3_zero();
    stn_mesh_integrals result = {0};
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
    double diagonal = stn_vec3_norm(stn_vec3_sub(bounds.upper, bounds.lower));
    if (closed) {
        result.solid = solid_from(&s, centre, 1e-13 * result.area * diagonal);
    }
    // an open surface has no volume of its own: the figure is that of the cone over it from the frame's origin
    result.volume = closed ? s.volume : s.volume + stn_vec3_dot(centre, normals) / 3.0;
    return result;
}
