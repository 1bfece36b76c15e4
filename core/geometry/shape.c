// SPDX-License-Identifier: Apache-2.0
// Shapes in their own frame: makers, checks, boxes around them, support points.
//
// The side of the world box along world axis i is the support function of the posed shape, h(e_i) = max e_i . (R p), so
// with the rows R_i of the rotation (R_ij = e_i . axis j):
//   sphere r;  box sum_j |R_ij| h_j;  capsule |R_i3| l + r;  cylinder |R_i3| l + r |(R_i1, R_i2)|;
//   ellipsoid |(R_i1 h_1, R_i2 h_2, R_i3 h_3)|
// A hull has its support points, found by climbing. A surface has the box around the box in its own frame: a few
// operations each step, where going over its vertices would cost as many as there are. The price is a larger box, by at
// most sqrt(3) in a side: some more pairs to look at.
#include "geometry/mesh_object.h"

stn_shape stn_shape_sphere(double radius) {
    return (stn_shape){.type = STN_SHAPE_SPHERE, .radius = radius};
}

stn_shape stn_shape_box(stn_vec3 half_extents) {
    return (stn_shape){.type = STN_SHAPE_BOX, .half_extents = half_extents};
}

stn_shape stn_shape_capsule(double radius, double half_length) {
    return (stn_shape){.type = STN_SHAPE_CAPSULE, .radius = radius, .half_length = half_length};
}

stn_shape stn_shape_cylinder(double radius, double half_length) {
    return (stn_shape){.type = STN_SHAPE_CYLINDER, .radius = radius, .half_length = half_length};
}

stn_shape stn_shape_half_space(void) {
    return (stn_shape){.type = STN_SHAPE_HALF_SPACE};
}

stn_shape stn_shape_ellipsoid(stn_vec3 semi_axes) {
    return (stn_shape){.type = STN_SHAPE_ELLIPSOID, .half_extents = semi_axes};
}

stn_shape stn_shape_mesh(const stn_mesh *mesh) {
    stn_shape shape = {.type = STN_SHAPE_MESH, .mesh = mesh};
    if (mesh != NULL && mesh->convex) {
        shape.type = STN_SHAPE_CONVEX;
    } else if (mesh != NULL && mesh->grid.rows > 0) {
        shape.type = STN_SHAPE_HEIGHT_FIELD;
    }
    return shape;
}

const char *stn_shape_name(stn_shape_type type) {
    static const char *const names[] = {"sphere", "box",       "capsule", "cylinder",     "half_space",
                                        "mesh",   "ellipsoid", "convex",  "height_field", "surface"};
    _Static_assert(sizeof names / sizeof names[0] == STN_SHAPE_COUNT, "one name a shape");
    return (unsigned)type < STN_SHAPE_COUNT ? names[type] : NULL;
}

static stn_status check_size(const stn_shape *shape, const char *member, double value, bool may_be_zero,
                             stn_error *err) {
    if (isfinite(value) && (value > 0.0 || (may_be_zero && value == 0.0))) {
        return STN_OK;
    }
    return stn_fail(err, STN_ERR_ARGUMENT, "%s: %s = %g m must be finite and %s 0", stn_shape_name(shape->type), member,
                    value, may_be_zero ? ">=" : ">");
}

stn_status stn_shape_check(const stn_shape *shape, stn_error *err) {
    const double h[3] = {shape->half_extents.x, shape->half_extents.y, shape->half_extents.z};
    static const char *const member[3] = {"half_extents.x", "half_extents.y", "half_extents.z"};
    stn_status status = STN_OK;
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        return check_size(shape, "radius", shape->radius, false, err);
    case STN_SHAPE_BOX:
    case STN_SHAPE_ELLIPSOID:
        for (int32_t i = 0; i < 3 && status == STN_OK; i++) {
            status = check_size(shape, member[i], h[i], false, err);
        }
        return status;
    case STN_SHAPE_CAPSULE:
    case STN_SHAPE_CYLINDER:
        status = check_size(shape, "radius", shape->radius, false, err);
        if (status == STN_OK) {
            status = check_size(shape, "half_length", shape->half_length, shape->type == STN_SHAPE_CAPSULE, err);
        }
        return status;
    case STN_SHAPE_HALF_SPACE:
        return STN_OK;
    case STN_SHAPE_MESH:
        return STN_OK;
    case STN_SHAPE_CONVEX:
        if (shape->mesh == NULL || !shape->mesh->convex) {
            return stn_fail(err, STN_ERR_ARGUMENT, "convex: needs a mesh that is a convex hull");
        }
        return STN_OK;
    case STN_SHAPE_HEIGHT_FIELD:
        if (shape->mesh == NULL || shape->mesh->grid.rows == 0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "height_field: needs a mesh made by stn_mesh_create_height_field");
        }
        return STN_OK;
    case STN_SHAPE_SURFACE:
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "surface: its triangles are of nodes, so it is no shape by itself: add it with "
                        "stn_builder_add_surface");
    case STN_SHAPE_COUNT:
        break;
    }
    return stn_fail(err, STN_ERR_ARGUMENT, "shape: type %d is not one of the %d types", (int)shape->type,
                    (int)STN_SHAPE_COUNT);
}

static double box_reach(stn_vec3 half_extents, const double row[3]) {
    return fabs(row[0]) * half_extents.x + fabs(row[1]) * half_extents.y + fabs(row[2]) * half_extents.z;
}

/// Half the side of the box around a shape whose z axis and other axes have the components `row` along a world axis.
static double reach(const stn_shape *shape, const double row[3]) {
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        return shape->radius;
    case STN_SHAPE_BOX:
        return box_reach(shape->half_extents, row);
    case STN_SHAPE_ELLIPSOID:
        return stn_vec3_norm(stn_vec3_make(row[0] * shape->half_extents.x, row[1] * shape->half_extents.y,
                                           row[2] * shape->half_extents.z));
    case STN_SHAPE_CAPSULE:
        return fabs(row[2]) * shape->half_length + shape->radius;
    case STN_SHAPE_CYLINDER:
        return fabs(row[2]) * shape->half_length + shape->radius * sqrt(row[0] * row[0] + row[1] * row[1]);
    default:
        return -INFINITY; // nothing known of its extent: an empty box
    }
}

/// Bounded only on the side that an axis-aligned normal points to.
static stn_aabb half_space_box(const stn_pose *pose, double margin) {
    double lower[3] = {-INFINITY, -INFINITY, -INFINITY}, upper[3] = {INFINITY, INFINITY, INFINITY};
    const double position[3] = {pose->position.x, pose->position.y, pose->position.z};
    for (int32_t i = 0; i < 3; i++) {
        double n = pose->rotation.m[i][2];
        double across = fabs(pose->rotation.m[(i + 1) % 3][2]) + fabs(pose->rotation.m[(i + 2) % 3][2]);
        if (across == 0.0 && n > 0.0) {
            upper[i] = position[i] + margin;
        } else if (across == 0.0 && n < 0.0) {
            lower[i] = position[i] - margin;
        }
    }
    return (stn_aabb){{lower[0], lower[1], lower[2]}, {upper[0], upper[1], upper[2]}};
}

static stn_aabb mesh_box(const stn_mesh *mesh, const stn_pose *pose, double margin) {
    stn_vec3 lower = mesh->bounds.lower, upper = mesh->bounds.upper,
             size = stn_vec3_scale(0.5, stn_vec3_sub(upper, lower));
    stn_vec3 centre = stn_pose_apply(pose, stn_vec3_mul_add(lower, 1.0, size));
    stn_vec3 half = {box_reach(size, pose->rotation.m[0]) + margin, box_reach(size, pose->rotation.m[1]) + margin,
                     box_reach(size, pose->rotation.m[2]) + margin};
    return (stn_aabb){stn_vec3_sub(centre, half), stn_vec3_add(centre, half)};
}

stn_aabb stn_shape_aabb(const stn_shape *shape, const stn_pose *pose, double margin) {
    if (shape->type == STN_SHAPE_HALF_SPACE) {
        return half_space_box(pose, margin);
    }
    if (shape->type == STN_SHAPE_CONVEX && shape->mesh != NULL) {
        double lower[3], upper[3];
        const double position[3] = {pose->position.x, pose->position.y, pose->position.z};
        mesh_range(shape->mesh, &pose->rotation, lower, upper);
        for (int32_t i = 0; i < 3; i++) {
            upper[i] = position[i] + upper[i] + margin;
            lower[i] = position[i] + lower[i] - margin;
        }
        return (stn_aabb){{lower[0], lower[1], lower[2]}, {upper[0], upper[1], upper[2]}};
    }
    if (shape->type == STN_SHAPE_HEIGHT_FIELD) {
        // that of its surface, without end in the direction in which it is filled
        const stn_mesh *mesh = shape->mesh;
        stn_aabb box = mesh_box(mesh, pose, margin);
        double *lower[3] = {&box.lower.x, &box.lower.y, &box.lower.z},
               *upper[3] = {&box.upper.x, &box.upper.y, &box.upper.z};
        for (int32_t i = 0; i < 3; i++) {
            double up = pose->rotation.m[i][2];
            *lower[i] = up > 0.0 ? -(double)INFINITY : *lower[i];
            *upper[i] = up < 0.0 ? (double)INFINITY : *upper[i];
        }
        return box;
    }
    if (shape->mesh != NULL) {
        return mesh_box(shape->mesh, pose, margin);
    }
    stn_vec3 half = {reach(shape, pose->rotation.m[0]) + margin, reach(shape, pose->rotation.m[1]) + margin,
                     reach(shape, pose->rotation.m[2]) + margin};
    return (stn_aabb){stn_vec3_sub(pose->position, half), stn_vec3_add(pose->position, half)};
}

/// Where the normal of an ellipsoid with the semi-axes h points along d: h_i (h_i d_i) / |(h_j d_j)|.
static stn_vec3 ellipsoid_support(stn_vec3 h, stn_vec3 d) {
    d = stn_vec3_normalize_or(d, stn_vec3_make(0.0, 0.0, 1.0));
    stn_vec3 u = stn_vec3_normalize_or(stn_vec3_make(h.x * d.x, h.y * d.y, h.z * d.z), stn_vec3_make(0.0, 0.0, 1.0));
    return stn_vec3_make(h.x * u.x, h.y * u.y, h.z * u.z);
}

stn_vec3 stn_shape_support(const stn_shape *shape, stn_vec3 d) {
    switch (shape->type) {
    case STN_SHAPE_BOX:
        return stn_vec3_make(copysign(shape->half_extents.x, d.x), copysign(shape->half_extents.y, d.y),
                             copysign(shape->half_extents.z, d.z));
    case STN_SHAPE_CYLINDER: {
        stn_vec3 radial = stn_vec3_normalize_or(stn_vec3_make(d.x, d.y, 0.0), stn_vec3_make(1.0, 0.0, 0.0));
        return stn_vec3_make(shape->radius * radial.x, shape->radius * radial.y, copysign(shape->half_length, d.z));
    }
    case STN_SHAPE_SPHERE:
    case STN_SHAPE_CAPSULE: {
        stn_vec3 ball = stn_vec3_scale(shape->radius, stn_vec3_normalize_or(d, stn_vec3_make(0.0, 0.0, 1.0)));
        ball.z += copysign(shape->half_length, d.z); // 0 for a sphere
        return ball;
    }
    case STN_SHAPE_ELLIPSOID:
        return ellipsoid_support(shape->half_extents, d);
    case STN_SHAPE_MESH:
    case STN_SHAPE_CONVEX:
        return shape->mesh != NULL ? stn_vec3_at(shape->mesh->vertices, stn_mesh_support(shape->mesh, d))
                                   : stn_vec3_zero();
    default:
        return stn_vec3_zero();
    }
}
