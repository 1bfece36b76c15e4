// SPDX-License-Identifier: Apache-2.0
// How fast force, torque and area of a patch come to those of the exact pressure field as the mesh gets finer: three
// levels of edges, each half of the one before.
#include "patch_probe.h"

static const double E = 1e6, R = 0.05, rigid = (double)INFINITY;

/// The exact extent at a point of the shape's frame.
static double extent_at(const stn_shape *s, stn_vec3 p) {
    double radius = s->radius, half = s->half_length, around = sqrt(p.x * p.x + p.y * p.y);
    switch (s->type) {
    case STN_SHAPE_ELLIPSOID:
        return 1.0 -
               stn_vec3_norm(stn_vec3_make(p.x / s->half_extents.x, p.y / s->half_extents.y, p.z / s->half_extents.z));
    case STN_SHAPE_CAPSULE: {
        double beyond = fmax(0.0, fabs(p.z) - half);
        return 1.0 - sqrt(around * around + beyond * beyond) / radius;
    }
    case STN_SHAPE_CYLINDER:
        return fmin(radius - around, half - fabs(p.z)) / fmin(radius, half);
    default:
        return 1.0 - stn_vec3_norm(p) / radius;
    }
}

/// On the plane z = 0, by the midpoint rule over a square of half side `reach` around `x`: force along z, torque about
/// the origin.
static patch_sum exact_on_plane(const stn_shape *s, const stn_pose *pose, double reach) {
    enum { STEPS = 1200 };
    patch_sum sum = {0};
    double h = 2.0 * reach / STEPS;
    for (int32_t i = 0; i < STEPS * STEPS; i++) {
        stn_vec3 x = {pose->position.x - reach + (i % STEPS + 0.5) * h, -reach + (i / STEPS + 0.5) * h, 0.0};
        double p = E * extent_at(s, stn_pose_apply_inverse(pose, x));
        if (p > 0.0) {
            stn_vec3 f = {0.0, 0.0, p * h * h};
            sum.area += h * h;
            sum.force = stn_vec3_add(sum.force, f);
            sum.torque = stn_vec3_add(sum.torque, stn_vec3_cross(x, f));
        }
    }
    return sum;
}

/// Errors of force, of torque over force and size, and of the area, relative.
typedef struct errors {
    double force, torque, area;
} errors;

static errors errors_at(const stn_shape *shape, const stn_pose *pose, double edge, const patch_sum *exact) {
    patch_probe p;
    patch_probe_open(&p, patch_geometry(stn_shape_half_space(), rigid, (double)NAN), patch_geometry(*shape, E, edge));
    patch_sum s = patch_between(&p, *pose);
    patch_probe_close(&p);
    double force = stn_vec3_norm(exact->force);
    return (errors){stn_vec3_norm(stn_vec3_sub(s.force, exact->force)) / force,
                    stn_vec3_norm(stn_vec3_sub(s.torque, exact->torque)) / (force * R),
                    fabs(s.area / exact->area - 1.0)};
}

/// Between the first and the last of three levels.
static double order_of(double first, double last) {
    return 0.5 * log2(first / last);
}

/// `least`: order of the force. The area is as exact as the squares that it is compared with.
static void check(const char *name, stn_shape shape, double tilt, double height, double least) {
    enum { LEVELS = 3 };
    stn_pose pose = {stn_mat3_identity(), stn_vec3_make(0.01, 0.0, height)};
    pose.rotation = stn_quat_matrix(stn_quat_exp(stn_vec3_make(0.0, tilt, 0.0)));
    const patch_sum exact = exact_on_plane(&shape, &pose, 2.0 * R);
    errors at[LEVELS];
    for (int32_t i = 0; i < LEVELS; i++) {
        at[i] = errors_at(&shape, &pose, 0.4 * R / (1 << i), &exact);
        print_message("%s, edge %4.1f mm: force off by %.1e, torque by %.1e, area by %.1e\n", name,
                      1e3 * 0.4 * R / (1 << i), at[i].force, at[i].torque, at[i].area);
    }
    double force = order_of(at[0].force, at[2].force), torque = order_of(at[0].torque, at[2].torque);
    print_message("%s: order of force %.1f, of torque %.1f\n", name, force, torque);
    assert_true(force > least && torque > least);
    assert_true(at[2].force < 3e-4 && at[2].torque < 3e-4 && at[2].area < 3e-3);
}

static void finer_meshes_come_nearer(void **state) {
    (void)state;
    check("sphere", stn_shape_sphere(R), 0.3, 0.85 * R, 2.5);
    check("ellipsoid", stn_shape_ellipsoid(stn_vec3_make(1.2 * R, R, 0.6 * R)), 0.5, 0.65 * R, 2.5);
    check("capsule", stn_shape_capsule(0.6 * R, 0.6 * R), 1.3, 0.6 * R, 2.5);
    check("cylinder on its side", stn_shape_cylinder(0.8 * R, R), 0.5 * STN_PI, 0.7 * R, 2.5);
    check("cylinder on its rim", stn_shape_cylinder(0.8 * R, R), 0.7, 1.1 * R, 1.8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finer_meshes_come_nearer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
