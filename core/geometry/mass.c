// SPDX-License-Identifier: Apache-2.0
// Mass properties of uniform solids, and how they move and add (parallel axis theorem).
#include <stiction/mesh.h>

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
    stn_mass result = {mass->mass, stn_pose_apply(ab, mass->com),
                       stn_mat3_rotate_tensor(&ab->rotation, &mass->inertia)};
    return result;
}

/// Inertia of a point mass at `d`, m (|d|^2 1 - d d^T).
static stn_mat3 point_inertia(double m, stn_vec3 d) {
    stn_mat3 r = {{{m * (d.y * d.y + d.z * d.z), -m * d.x * d.y, -m * d.x * d.z},
                   {-m * d.x * d.y, m * (d.x * d.x + d.z * d.z), -m * d.y * d.z},
                   {-m * d.x * d.z, -m * d.y * d.z, m * (d.x * d.x + d.y * d.y)}}};
    return r;
}

/// About the common centre both parts together weigh, for rotation, as their reduced mass at their distance.
stn_mass stn_mass_add(const stn_mass *a, const stn_mass *b) {
    double total = a->mass + b->mass;
    stn_mass result = {.mass = total, .inertia = stn_mat3_add(&a->inertia, &b->inertia)};
    if (total > 0.0) {
        double share = b->mass / total;
        stn_vec3 d = stn_vec3_sub(b->com, a->com);
        stn_mat3 apart = point_inertia(a->mass * share, d);
        result.com = stn_vec3_mul_add(a->com, share, d);
        result.inertia = stn_mat3_add(&result.inertia, &apart);
    }
    return result;
}
