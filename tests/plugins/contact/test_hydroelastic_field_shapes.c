// SPDX-License-Identifier: Apache-2.0
// Fields of ellipsoids, capsules, cylinders and hulls against closed forms, and what holds for every shape and size.
#include "field_fixture.h"

#include "point_hulls.h"

static const double depths = 0.05; // of contacts, of the depth of the field: where the promised error holds

/// Integral of 1 - r/R over the plane that cuts off a cap of height d: mathematics 5.2.
static double cap_force(double radius, double d) {
    double h = radius - d;
    return STN_PI * (radius * radius - h * h) - 2.0 * STN_PI * (radius * radius * radius - h * h * h) / (3.0 * radius);
}

/// Integrals over the chord at depth d of a circle: of the distance from it, and of that squared.
static void chord_integrals(double radius, double d, double *first, double *second) {
    double h = radius - d, a = sqrt(radius * radius - h * h), r = a * radius + h * h * asinh(a / h);
    *first = 2.0 * a * radius - r;
    *second = 2.0 * a * radius * radius - 2.0 * radius * r + 2.0 * (a * a * a / 3.0 + a * h * h);
}

/// Largest relative error of the force on planes at `depth` below the support height `reach` [m] of each direction.
static double worst_error(const field *f, const stn_vec3 *directions, int32_t count, double (*reach)(stn_vec3),
                          double depth, double exact) {
    double worst = 0.0;
    for (int32_t i = 0; i < count; i++) {
        stn_vec3 n = directions[i];
        worst = worse(worst, fabs(plane_integral(f, n, depth - reach(n)).force / exact - 1.0));
    }
    return worst;
}

static const double promised[] = {0.1, 0.05, 0.03, 0.01};

static void an_ellipsoid_is_a_stretched_sphere(void **state) {
    (void)state;
    stn_vec3 half = {0.3, 0.15, 0.06};
    for (int32_t k = 0; k < STN_COUNT(promised); k++) {
        field *f = field_of(stn_shape_ellipsoid(half), NAN, promised[k], 0.0);
        assert_sound(f);
        assert_true(fabs(field_volume(f) / (4.0 / 3.0 * STN_PI * half.x * half.y * half.z) - 1.0) < 1e-12);
        assert_true(f->depth == half.z);
        for (int32_t i = 0; i < 150; i++) {
            stn_vec3 n = spread_direction(i, 150);
            double reach = stn_vec3_norm(stn_vec3_make(half.x * n.x, half.y * n.y, half.z * n.z));
            double exact = cap_force(1.0, depths) * half.x * half.y * half.z / reach;
            assert_true(fabs(plane_integral(f, n, -reach * (1.0 - depths)).force / exact - 1.0) < promised[k]);
        }
        field_destroy(test_context, f);
    }
}

static double capsule_reach(stn_vec3 n) {
    return 0.2 + 0.3 * fabs(n.z);
}

static void a_capsule_errs_less_than_promised_on_its_side_and_end(void **state) {
    (void)state;
    double d = depths * 0.2, first, second;
    chord_integrals(0.2, d, &first, &second);
    for (int32_t k = 0; k < STN_COUNT(promised); k++) {
        field *f = field_of(stn_shape_capsule(0.2, 0.3), NAN, promised[k], 0.0);
        assert_sound(f);
        assert_true(fabs(field_volume(f) / (STN_PI * 0.04 * (0.6 + 0.8 / 3.0)) - 1.0) < 1e-9);
        stn_vec3 side[40], end[100];
        int32_t ends = 0;
        for (int32_t i = 0; i < 40; i++) {
            side[i] = stn_vec3_make(cos(0.1 * i), sin(0.1 * i), 0.0);
        }
        for (int32_t i = 0; i < 100; i++) {
            stn_vec3 n = spread_direction(i, 100);
            if (fabs(n.z) > 0.35) { // the patch is on the round end alone
                end[ends++] = n;
            }
        }
        assert_true(worst_error(f, end, ends, capsule_reach, d, cap_force(0.2, d)) < promised[k]);
        double exact = cap_force(0.2, d) + 2.0 * 0.3 * first / 0.2;
        assert_true(worst_error(f, side, 40, capsule_reach, d, exact) < promised[k]);
        field_destroy(test_context, f);
    }
}

static double cylinder_reach(stn_vec3 n) {
    (void)n;
    return 0.2; // sideways
}

/// e = (distance from the nearest face) / H: of a long one, one as long as wide, a short one and a coin.
static void a_cylinder_errs_less_than_promised_on_its_side_and_nothing_on_its_end(void **state) {
    (void)state;
    const double halves[] = {0.5, 0.2, 0.08, 0.05};
    for (int32_t k = 0; k < STN_COUNT(promised) * STN_COUNT(halves); k++) {
        double half = halves[k / STN_COUNT(promised)], error = promised[k % STN_COUNT(promised)];
        field *f = field_of(stn_shape_cylinder(0.2, half), NAN, error, 0.0);
        assert_sound(f);
        assert_true(fabs(field_volume(f) / (2.0 * STN_PI * 0.04 * half) - 1.0) < 1e-11);
        assert_true(fabs(f->depth - fmin(0.2, half)) < 1e-15);
        double d = depths * f->depth, first, second;
        chord_integrals(0.2, d, &first, &second);
        stn_vec3 side[40];
        for (int32_t i = 0; i < 40; i++) {
            side[i] = stn_vec3_make(cos(0.1 * i), sin(0.1 * i), 0.0);
        }
        double exact = (2.0 * half * first - second) / f->depth;
        assert_true(worst_error(f, side, 40, cylinder_reach, d, exact) < error);
        double below = STN_PI * d * (3.0 * 0.04 - 3.0 * 0.2 * d + d * d) / 3.0 / f->depth; // of min(d, R - r)
        for (int32_t sign = -1; sign <= 1; sign += 2) {
            plane_sum sum = plane_integral(f, stn_vec3_make(0.0, 0.0, sign), d - half);
            assert_true(fabs(sum.force / below - 1.0) < 1e-3);
            assert_true(fabs(sum.moment.x) + fabs(sum.moment.y) < 1e-12 * sum.force);
        }
        field_destroy(test_context, f);
    }
}

/// e = 1 - max over the faces of n . (x - centroid) / (distance of the face), everywhere.
static void a_hull_has_the_gauge_of_its_faces_as_extent(void **state) {
    (void)state;
    stn_mesh *meshes[] = {hull_prism(test_context, 5, stn_vec3_make(0.3, 0.2, 0.1)),
                          hull_box(test_context, stn_vec3_make(0.5, 0.2, 0.01)),
                          hull_prism(test_context, 24, stn_vec3_make(0.1, 0.1, 0.3))};
    for (int32_t k = 0; k < STN_COUNT(meshes); k++) {
        const stn_polytope *p = meshes[k]->polytope;
        field *f = field_of(stn_shape_mesh(meshes[k]), NAN, 0.1, 0.0);
        assert_sound(f);
        assert_true(fabs(field_volume(f) / meshes[k]->solid.mass - 1.0) < 1e-12);
        for (int32_t t = 0; t < f->tetrahedron_count; t++) {
            stn_vec3 x = stn_vec3_zero();
            double gauge = 0.0;
            for (int32_t c = 0; c < 4; c++) {
                x = stn_vec3_mul_add(x, 0.1 * (c + 1), stn_vec3_at(f->vertices, f->tetrahedra[4 * t + c]));
            }
            x = stn_vec3_sub(x, meshes[k]->solid.com);
            for (int32_t i = 0; i < p->face_count; i++) {
                stn_vec3 n = {p->planes[4 * i], p->planes[4 * i + 1], p->planes[4 * i + 2]};
                gauge =
                    fmax(gauge, stn_vec3_dot(n, x) / (p->planes[4 * i + 3] - stn_vec3_dot(n, meshes[k]->solid.com)));
            }
            assert_true(fabs(extent_in(f, t, stn_vec3_add(x, meshes[k]->solid.com)) - 1.0 + gauge) < 1e-9);
        }
        field_destroy(test_context, f);
        stn_mesh_release(meshes[k]);
    }
}

/// Every shape, from 0.1 mm to 1 km, slender and flat, with and without margin: sound; the margin leaves the force of a
/// plane alone and moves every face by at least itself.
static void every_size_is_sound_and_a_margin_changes_no_force(void **state) {
    (void)state;
    stn_mesh *prism = hull_prism(test_context, 7, stn_vec3_make(1.0, 0.7, 0.4));
    const stn_shape shapes[] = {
        stn_shape_sphere(1.0),
        stn_shape_box(stn_vec3_make(1.0, 1.0, 1e-3)),
        stn_shape_capsule(1.0, 0.0),
        stn_shape_capsule(0.01, 1.0),
        stn_shape_cylinder(1.0, 1.0),
        stn_shape_cylinder(1.0, 0.25),
        stn_shape_cylinder(0.01, 1.0),
        stn_shape_ellipsoid(stn_vec3_make(1.0, 0.1, 0.01)),
        stn_shape_box(stn_vec3_make(1.0, 1.0 + 1e-7, 1.0 + 1e-12)),
        stn_shape_capsule(1.0, 1e-7),
        stn_shape_cylinder(1.0, 1.0 + 1e-7),
        stn_shape_mesh(prism),
    };
    const double scales[] = {1e-4, 1.0, 1e3};
    for (int32_t k = 0; k < STN_COUNT(shapes) * STN_COUNT(scales); k++) {
        double scale = scales[k % STN_COUNT(scales)];
        stn_shape shape = shapes[k / STN_COUNT(scales)];
        stn_mesh *scaled = NULL;
        shape.radius *= scale;
        shape.half_length *= scale;
        shape.half_extents = stn_vec3_scale(scale, shape.half_extents);
        if (shape.mesh != NULL) {
            assert_int_equal(stn_mesh_create_scaled(shape.mesh, stn_vec3_make(scale, scale, scale), &scaled, NULL),
                             STN_OK);
            shape.mesh = scaled;
        }
        field *plain = field_of(shape, NAN, 0.1, 0.0);
        double margin = 0.02 * plain->depth;
        field *inflated = field_of(shape, NAN, 0.1, margin);
        assert_sound(plain);
        assert_sound(inflated);
        assert_true(plain->tetrahedron_count == inflated->tetrahedron_count);
        assert_true(field_inspect(plain).outer_extent == 0.0);
        for (int32_t i = 0; i < 20; i++) {
            stn_vec3 n = spread_direction(i, 20);
            double low = support_height(plain, n), height = low + 0.1 * plain->depth;
            assert_true(support_height(inflated, n) <= low - 0.99 * margin);
            double force = plane_integral(plain, n, height).force;
            assert_true(fabs(plane_integral(inflated, n, height).force / force - 1.0) < 2e-3);
        }
        field_destroy(test_context, plain);
        field_destroy(test_context, inflated);
        stn_mesh_release(scaled);
    }
    stn_mesh_release(prism);
}

/// Plates and coins of 1000 : 1 and needles.
static void extreme_shapes_are_sound(void **state) {
    (void)state;
    const stn_shape shapes[] = {
        stn_shape_cylinder(1.0, 1e-3),
        stn_shape_cylinder(1e-3, 1.0),
        stn_shape_capsule(1e-3, 1.0),
        stn_shape_box(stn_vec3_make(1e-3, 1.0, 1e-3)),
        stn_shape_ellipsoid(stn_vec3_make(1.0, 1.0, 1e-3)),
    };
    for (int32_t k = 0; k < 2 * STN_COUNT(shapes); k++) {
        field *f = field_of(shapes[k / 2], NAN, 0.03, k % 2 == 0 ? 0.0 : 1e-4);
        assert_sound(f);
        assert_true(f->tetrahedron_count < 4000);
        field_destroy(test_context, f);
    }
}

/// Sizes over seven decades and proportions over four, margins up to the depth, lengths of edges: sound, and without
/// margin of the true volume.
static void random_shapes_are_sound(void **state) {
    (void)state;
    stn_random r = {7};
    for (int32_t i = 0; i < 150; i++) {
        double size = pow(10.0, random_between(&r, -4.0, 3.0)), p = pow(10.0, random_between(&r, -4.0, 0.0));
        double q = random_below(&r, 3) == 0 ? p * (1.0 + pow(10.0, random_between(&r, -14.0, -2.0)))
                                            : pow(10.0, random_between(&r, -4.0, 0.0));
        stn_mesh *hull = NULL;
        stn_shape shape = stn_shape_sphere(size);
        switch (random_below(&r, 6)) {
        case 0:
            shape = stn_shape_box(stn_vec3_make(size, p * size, q * size));
            break;
        case 1:
            shape = stn_shape_cylinder(size * p, size * q);
            break;
        case 2:
            shape = stn_shape_capsule(size * p, size * q);
            break;
        case 3:
            shape = stn_shape_ellipsoid(stn_vec3_make(size * q, size, size * p));
            break;
        case 4:
            hull = hull_blob(&r, test_context, 4 + random_below(&r, 40),
                             stn_vec3_make(size, size * fmax(p, 1e-3), size * fmax(q, 1e-3)), random_vec3(&r, size));
            shape = stn_shape_mesh(hull);
            break;
        default:
            break;
        }
        field_fineness fineness = {NAN, random_below(&r, 2) == 0 ? 0.1 : 0.02, 0.0};
        field *f = field_made(shape, NULL, fineness);
        assert_sound(f);
        assert_true(fabs(field_volume(f) / stn_shape_volume(&shape) - 1.0) < 1e-6);
        fineness.margin = f->depth * random_between(&r, 0.0, 1.0);
        fineness.resolution = random_below(&r, 2) == 0 ? (double)NAN : size * random_between(&r, 0.1, 3.0);
        field_destroy(test_context, f);
        f = field_made(shape, NULL, fineness);
        assert_sound(f);
        field_destroy(test_context, f);
        stn_mesh_release(hull);
    }
}

/// The most that a triangle's points lie above a sphere, and below it, by looking at many.
static void look_over(const rigid_surface *s, double radius, double *above, double *below) {
    enum { PARTS = 12 };
    *above = *below = 0.0;
    for (int32_t t = 0; t < s->triangle_count; t++) {
        for (int32_t i = 0; i <= PARTS; i++) {
            for (int32_t j = 0; i + j <= PARTS; j++) {
                double weight[3] = {(double)i / PARTS, (double)j / PARTS, (double)(PARTS - i - j) / PARTS};
                stn_vec3 p = stn_vec3_zero();
                for (int32_t k = 0; k < 3; k++) {
                    const double *v = s->vertices + 3 * (size_t)s->triangles[3 * t + k];
                    p = stn_vec3_mul_add(p, weight[k], stn_vec3_make(v[0], v[1], v[2]));
                }
                *above = worse(*above, stn_vec3_norm(p) - radius);
                *below = worse(*below, radius - stn_vec3_norm(p));
            }
        }
    }
}

/// A prism of the cylinder's volume stands out by r (f - 1) and lies inside by r (1 - f cos(t/2)), f^2 = t/sin t with t
/// the angle of a sector; an ellipsoid that is a sphere is as the sphere, whose triangles are looked over.
static void flat_pieces_say_how_they_lie_beside_a_round_shape(void **state) {
    (void)state;
    const double r = 0.03;
    for (int32_t sectors = 8; sectors <= 512; sectors *= 2) {
        const double t = 2.0 * STN_PI / sectors, f = sqrt(t / sin(t));
        const field_fineness fineness = {.resolution = r * t};
        const stn_shape shapes[] = {stn_shape_cylinder(r, 0.05), stn_shape_sphere(r),
                                    stn_shape_ellipsoid(stn_vec3_make(r, r, r)), stn_shape_capsule(r, 0.05),
                                    stn_shape_box(stn_vec3_make(r, r, r))};
        rigid_surface *s[STN_COUNT(shapes)];
        stn_error err;
        for (int32_t i = 0; i < STN_COUNT(shapes); i++) {
            assert_ok(rigid_surface_create(test_context, &shapes[i], &fineness, 10000000, &s[i], &err), err);
        }
        assert_near(s[0]->error.outward, r * (f - 1.0), 1e-12 * r);
        assert_near(s[0]->error.inward, r * (1.0 - f * cos(0.5 * t)), 1e-12 * r);
        assert_near(s[0]->error.resolution, r * t, 1e-12 * r);
        double above, below;
        look_over(s[1], r, &above, &below);
        assert_near(s[1]->error.outward, above, 1e-12 * r);
        assert_near(s[1]->error.inward, below, 0.05 * below);
        assert_true(s[1]->error.resolution <= fineness.resolution && s[1]->error.resolution > 0.0);
        assert_near(s[2]->error.outward, above, 1e-6 * r);
        assert_near(s[2]->error.inward, s[1]->error.inward, 1e-6 * r);
        assert_true(s[3]->error.outward > 0.0 && s[3]->error.outward < 3.0 * r * t * t);
        assert_true(s[4]->error.outward == 0.0 && s[4]->error.inward == 0.0 && s[4]->error.resolution == 0.0);
        for (int32_t i = 0; i < STN_COUNT(shapes); i++) {
            rigid_surface_destroy(test_context, s[i]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ellipsoid_is_a_stretched_sphere),
        cmocka_unit_test(a_capsule_errs_less_than_promised_on_its_side_and_end),
        cmocka_unit_test(a_cylinder_errs_less_than_promised_on_its_side_and_nothing_on_its_end),
        cmocka_unit_test(a_hull_has_the_gauge_of_its_faces_as_extent),
        cmocka_unit_test(flat_pieces_say_how_they_lie_beside_a_round_shape),
        cmocka_unit_test(extreme_shapes_are_sound),
        cmocka_unit_test(random_shapes_are_sound),
        cmocka_unit_test(every_size_is_sound_and_a_margin_changes_no_force),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
