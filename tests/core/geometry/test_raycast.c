// SPDX-License-Identifier: Apache-2.0
// Rays against shapes. The independent method: a convex solid is where a convex function is <= 0; on a ray its least
// value is found by golden section and where it first vanishes by bisection. `--full` takes ten times as many rays.
#include "mesh_fixture.h"

#include <stiction/mesh_query.h>

static int32_t ray_count = 10000;

/// <= 0 inside, convex, zero on the surface; in the shape's frame.
static double level(const stn_shape *s, stn_vec3 p) {
    stn_vec3 h = s->half_extents;
    switch (s->type) {
    case STN_SHAPE_SPHERE:
        return stn_vec3_norm(p) - s->radius;
    case STN_SHAPE_BOX:
        return fmax(fabs(p.x) - h.x, fmax(fabs(p.y) - h.y, fabs(p.z) - h.z));
    case STN_SHAPE_CAPSULE:
        p.z -= fmin(fmax(p.z, -s->half_length), s->half_length);
        return stn_vec3_norm(p) - s->radius;
    case STN_SHAPE_CYLINDER:
        return fmax(hypot(p.x, p.y) - s->radius, fabs(p.z) - s->half_length);
    case STN_SHAPE_HALF_SPACE:
        return p.z;
    case STN_SHAPE_ELLIPSOID:
        return fmin(h.x, fmin(h.y, h.z)) * (stn_vec3_norm(stn_vec3_make(p.x / h.x, p.y / h.y, p.z / h.z)) - 1.0);
    default: {
        double most = -INFINITY;
        for (int32_t i = 0; i < s->mesh->triangle_count; i++) {
            stn_vec3 n = stn_vec3_normalize_or(mesh_normal(s->mesh, i), stn_vec3_zero());
            most = worse(most, stn_vec3_dot(n, stn_vec3_sub(p, mesh_corner(s->mesh, i, 0))));
        }
        return most;
    }
    }
}

/// In the world.
static double level_at(const stn_shape *s, const stn_pose *pose, stn_vec3 p) {
    return level(s, stn_pose_apply_inverse(pose, p));
}

/// Outward unit normal of the level set by central differences, in the world.
static stn_vec3 slope(const stn_shape *s, const stn_pose *pose, stn_vec3 p, double step) {
    stn_vec3 n = stn_vec3_zero();
    for (int32_t k = 0; k < 3; k++) {
        stn_vec3 e = {k == 0 ? step : 0.0, k == 1 ? step : 0.0, k == 2 ? step : 0.0};
        (&n.x)[k] = level_at(s, pose, stn_vec3_add(p, e)) - level_at(s, pose, stn_vec3_sub(p, e));
    }
    return stn_vec3_normalize_or(n, stn_vec3_zero());
}

/// The parameter in [0, end] where the level is least.
static double least_on_ray(const stn_shape *s, const stn_pose *pose, stn_vec3 o, stn_vec3 d, double end) {
    double low = 0.0, high = end;
    const double share = 0.6180339887498949;
    double a = high - share * (high - low), b = low + share * (high - low);
    double at_a = level_at(s, pose, stn_vec3_mul_add(o, a, d)), at_b = level_at(s, pose, stn_vec3_mul_add(o, b, d));
    for (int32_t i = 0; i < 70; i++) {
        if (at_a <= at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - share * (high - low);
            at_a = level_at(s, pose, stn_vec3_mul_add(o, a, d));
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + share * (high - low);
            at_b = level_at(s, pose, stn_vec3_mul_add(o, b, d));
        }
    }
    return 0.5 * (low + high);
}

/// Where the level becomes <= 0 between 0, where it is positive, and `inside`.
static double entry(const stn_shape *s, const stn_pose *pose, stn_vec3 o, stn_vec3 d, double inside) {
    double low = 0.0, high = inside;
    for (int32_t i = 0; i < 100; i++) {
        double middle = 0.5 * (low + high);
        *(level_at(s, pose, stn_vec3_mul_add(o, middle, d)) > 0.0 ? &low : &high) = middle;
    }
    return high;
}

typedef struct tally {
    int32_t hits, misses, inside, undecided;
    double distance, normal; // worst errors
} tally;

/// One ray from far or near, at the shape or past it, against the independent method.
static void check_ray(const stn_shape *s, double size, stn_random *r, tally *t) {
    stn_pose pose = random_pose(r, size);
    stn_vec3 from = stn_vec3_scale(random_size(r, 0.01, 20.0) * size, random_unit(r));
    stn_vec3 o = stn_vec3_add(pose.position, from);
    stn_vec3 at = stn_vec3_add(pose.position, random_vec3(r, 0.8 * size));
    stn_vec3 d = stn_vec3_normalize_or(stn_vec3_sub(at, o), stn_vec3_make(1.0, 0.0, 0.0));
    double end = 60.0 * size, slack = 1e-9 * size;
    stn_ray_hit hit;
    bool met = stn_shape_raycast(s, &pose, o, stn_vec3_scale(random_size(r, 1e-3, 1e3), d), end, &hit);
    double start_level = level_at(s, &pose, o);
    double bottom = least_on_ray(s, &pose, o, d, end), deepest = level_at(s, &pose, stn_vec3_mul_add(o, bottom, d));
    if (fabs(start_level) < slack || fabs(deepest) < slack) {
        t->undecided++; // begins on the surface, or only just touches it
        return;
    }
    assert_int_equal(met, deepest < 0.0);
    if (!met) {
        t->misses++;
        return;
    }
    assert_int_equal(hit.inside, start_level < 0.0);
    assert_near(stn_vec3_norm(hit.normal), 1.0, 1e-14);
    assert_near(stn_vec3_norm(stn_vec3_sub(hit.point, stn_vec3_mul_add(o, hit.distance, d))), 0.0, 1e-13 * size);
    if (hit.inside) {
        assert_near(hit.distance, 0.0, 0.0);
        assert_near(stn_vec3_dot(hit.normal, d), -1.0, 1e-14);
        t->inside++;
        return;
    }
    t->hits++;
    double expected = entry(s, &pose, o, d, bottom);
    // a grazing ray crosses the surface slowly: rounding along it grows with 1 / |n . d|
    stn_vec3 n = slope(s, &pose, hit.point, 1e-6 * size);
    double steep = fmax(-stn_vec3_dot(hit.normal, d), 1e-6);
    t->distance = worse(t->distance, fabs(hit.distance - expected) / size * steep);
    double off = stn_vec3_norm(stn_vec3_sub(n, hit.normal));
    bool flat = s->type != STN_SHAPE_SPHERE && s->type != STN_SHAPE_ELLIPSOID;
    if (!flat || off < 1e-3) { // at an edge the differences see two faces
        t->normal = worse(t->normal, off);
    } else {
        t->undecided++;
    }
}

static void check_rays(const stn_shape *s, double size, int32_t count, uint64_t seed) {
    stn_random r = {seed};
    tally t = {0};
    for (int32_t i = 0; i < count; i++) {
        check_ray(s, size, &r, &t);
    }
    print_message(
        "%-11s %d rays: %d hits, %d misses, %d inside, %d undecided; worst errors %.1e of the size, %.1e rad\n",
        stn_shape_name(s->type), count, t.hits, t.misses, t.inside, t.undecided, t.distance, t.normal);
    assert_true(t.hits > count / 10 && t.misses > count / 50 && t.undecided < count / 50);
    assert_true(t.inside > count / 100);
    assert_near(t.distance, 0.0, 1e-12);
    assert_near(t.normal, 0.0, 1e-6);
}

static stn_mesh *make_hull(stn_context *context, int32_t points, uint64_t seed) {
    stn_random r = {seed};
    stn_vec3 *p = malloc((size_t)points * sizeof *p);
    for (int32_t i = 0; i < points; i++) {
        p[i] = random_unit(&r);
        p[i].z *= 0.6;
    }
    stn_mesh *cloud = mesh_of_points(context, p, points), *hull = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_hull(cloud, &hull, &err), err);
    stn_mesh_release(cloud);
    free(p);
    return hull;
}

static void rays_meet_convex_solids_where_bisection_does(void **state) {
    stn_mesh *hull = make_hull(*state, 30, 9);
    const stn_shape shapes[] = {stn_shape_sphere(0.7),
                                stn_shape_box(stn_vec3_make(0.5, 0.3, 0.7)),
                                stn_shape_capsule(0.3, 0.6),
                                stn_shape_capsule(0.5, 0.0),
                                stn_shape_cylinder(0.5, 0.4),
                                stn_shape_half_space(),
                                stn_shape_ellipsoid(stn_vec3_make(0.9, 0.3, 0.5)),
                                stn_shape_mesh(hull)};
    for (int32_t i = 0; i < STN_COUNT(shapes); i++) {
        check_rays(&shapes[i], 1.0, ray_count, 100 + (uint64_t)i);
    }
    const stn_shape small[] = {stn_shape_sphere(1e-4), stn_shape_cylinder(1e-4, 0.5e-4)},
                    large[] = {stn_shape_box(stn_vec3_make(1e4, 0.5e4, 0.7e4)), stn_shape_capsule(0.5e4, 0.5e4)};
    for (int32_t i = 0; i < 2; i++) {
        check_rays(&small[i], 1.5e-4, ray_count / 10, 200 + (uint64_t)i);
        check_rays(&large[i], 1e4, ray_count / 10, 300 + (uint64_t)i);
    }
    stn_mesh_release(hull);
}

// ---------------------------------------------------------------------------------------------- surfaces, heights

static void a_surface_is_met_from_both_sides_and_never_from_within(void **state) {
    stn_random r = {12};
    soup s = {0};
    soup_add_sphere(&s, 4);
    stn_mesh *mesh = soup_mesh(&s, *state);
    stn_shape surface = {.type = STN_SHAPE_MESH, .mesh = mesh};
    for (int32_t i = 0; i < ray_count; i++) {
        stn_pose pose = random_pose(&r, 1.0);
        stn_vec3 o = stn_vec3_add(pose.position, random_vec3(&r, 0.55)), d = random_unit(&r);
        stn_ray_hit hit;
        assert_true(stn_shape_raycast(&surface, &pose, o, d, INFINITY, &hit));
        assert_true(!hit.inside && stn_vec3_dot(hit.normal, d) < 0.0 && hit.triangle >= 0);
        double level = 0.0; // the polyhedron lies between spheres
        level = stn_vec3_norm(stn_vec3_sub(hit.point, pose.position));
        assert_true(level <= 1.0 + 1e-12 && level >= 0.99);
        assert_false(stn_shape_raycast(&surface, &pose, o, d, 0.9 * hit.distance, &hit));
    }
    stn_shape missing = stn_shape_mesh(NULL);
    stn_pose here = stn_pose_identity();
    stn_ray_hit hit;
    assert_false(stn_shape_raycast(&missing, &here, stn_vec3_zero(), stn_vec3_make(0.0, 0.0, 1.0), 1.0, &hit));
    stn_mesh_release(mesh);
}

static stn_mesh *make_terrain(stn_context *context, stn_random *r) {
    double heights[11 * 8];
    for (int32_t i = 0; i < STN_COUNT(heights); i++) {
        heights[i] = random_between(r, -0.3, 0.3);
    }
    stn_height_field_spec spec = {11, 8, 3.0, 2.0, heights};
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_height_field(context, &spec, &mesh, &err), err);
    return mesh;
}

static bool under(const stn_mesh *mesh, stn_vec3 p) {
    return p.z < stn_grid_height(mesh, p.x, p.y); // false outside, where the height is NaN
}

/// Samples close together, then bisection. Returns the first parameter inside, infinite when no sample is.
static double march(const stn_mesh *mesh, const stn_pose *pose, stn_vec3 o, stn_vec3 d, double end, double step) {
    for (double t = step; t < end; t += step) {
        if (under(mesh, stn_pose_apply_inverse(pose, stn_vec3_mul_add(o, t, d)))) {
            double low = t - step, high = t;
            for (int32_t i = 0; i < 60; i++) {
                double middle = 0.5 * (low + high);
                bool in = under(mesh, stn_pose_apply_inverse(pose, stn_vec3_mul_add(o, middle, d)));
                *(in ? &high : &low) = middle;
            }
            return high;
        }
    }
    return INFINITY;
}

/// Marching may step over a peak that the ray just cuts, so it may find less, never more.
static void rays_meet_height_fields_where_marching_does(void **state) {
    stn_random r = {13};
    stn_mesh *mesh = make_terrain(*state, &r);
    stn_shape terrain = stn_shape_mesh(mesh);
    int32_t hits = 0, inside = 0, sides = 0, stepped_over = 0;
    double worst = 0.0;
    for (int32_t i = 0; i < ray_count; i++) {
        stn_pose pose = random_pose(&r, 1.0);
        stn_vec3 local = {random_between(&r, -2.5, 2.5), random_between(&r, -2.0, 2.0), random_between(&r, -1.0, 1.5)};
        stn_vec3 at = {random_between(&r, -1.5, 1.5), random_between(&r, -1.0, 1.0), random_between(&r, -0.6, 0.3)};
        stn_vec3 o = stn_pose_apply(&pose, local), d = stn_pose_apply(&pose, at);
        d = stn_vec3_normalize_or(stn_vec3_sub(d, o), random_unit(&r));
        d = i % 6 == 0 ? stn_vec3_scale(i % 12 == 0 ? 1.0 : -1.0, stn_mat3_column(&pose.rotation, i % 18 / 6)) : d;
        stn_ray_hit hit = {0};
        bool met = stn_shape_raycast(&terrain, &pose, o, d, 4.0, &hit);
        if (under(mesh, local)) {
            assert_true(met && hit.inside && hit.distance == 0.0);
            inside++;
            continue;
        }
        double expected = march(mesh, &pose, o, d, 4.0, 0.01);
        if (!met) {
            assert_true(isinf(expected));
            continue;
        }
        assert_true(!hit.inside && hit.distance <= expected + 1e-9 && stn_vec3_dot(hit.normal, d) <= 0.0);
        hits++;
        sides += hit.triangle < 0;
        if (hit.distance < expected - 1e-9 || isinf(expected)) {
            stepped_over++; // then the hit itself must hold: just behind it lies solid, just before it none
            stn_vec3 behind = stn_pose_apply_inverse(&pose, stn_vec3_mul_add(o, hit.distance + 1e-9, d));
            stn_vec3 before = stn_pose_apply_inverse(&pose, stn_vec3_mul_add(o, hit.distance - 1e-9, d));
            assert_true(under(mesh, behind) && !under(mesh, before));
        } else {
            worst = worse(worst, fabs(hit.distance - expected) * fmax(-stn_vec3_dot(hit.normal, d), 1e-6));
        }
    }
    print_message(
        "height_field %d rays: %d hits, %d of them at the sides, %d inside, %d that marching stepped over; worst "
        "error %.1e m\n",
        ray_count, hits, sides, inside, stepped_over, worst);
    assert_true(hits > ray_count / 4 && sides > ray_count / 50 && inside > ray_count / 10 &&
                stepped_over < ray_count / 100);
    assert_near(worst, 0.0, 1e-12);
    stn_mesh_release(mesh);
}

// ------------------------------------------------------------------------------------------------------ special rays

/// Leaving rays that begin on the surface are free, entering ones are stopped at once.
static void a_ray_from_the_surface_meets_what_it_enters_only(void **state) {
    (void)state;
    const stn_shape shapes[] = {stn_shape_sphere(0.5), stn_shape_box(stn_vec3_make(0.5, 0.5, 0.5)),
                                stn_shape_capsule(0.25, 0.25), stn_shape_cylinder(0.5, 0.5),
                                stn_shape_ellipsoid(stn_vec3_make(0.5, 0.5, 0.5))};
    stn_pose here = stn_pose_identity();
    stn_vec3 top = {0.0, 0.0, 0.5}, up = {0.0, 0.0, 2.0}, down = {0.0, 0.0, -3.0};
    for (int32_t i = 0; i < STN_COUNT(shapes); i++) {
        stn_ray_hit hit;
        assert_false(stn_shape_raycast(&shapes[i], &here, top, up, INFINITY, &hit));
        assert_true(stn_shape_raycast(&shapes[i], &here, top, down, INFINITY, &hit));
        assert_true(hit.distance == 0.0 && !hit.inside);
        assert_near(hit.normal.z, 1.0, 1e-15);
        assert_true(stn_shape_raycast(&shapes[i], &here, stn_vec3_scale(3.0, top), down, 1.0, &hit)); // 1 m is enough
        assert_false(stn_shape_raycast(&shapes[i], &here, stn_vec3_scale(3.0, top), down, 0.999, &hit));
    }
}

static void rays_that_are_none_meet_nothing(void **state) {
    stn_random r = {14};
    stn_mesh *hull = make_hull(*state, 30, 9), *terrain = make_terrain(*state, &r);
    const stn_shape shapes[] = {stn_shape_sphere(0.5), stn_shape_mesh(hull), stn_shape_mesh(terrain),
                                stn_shape_half_space()};
    stn_pose here = stn_pose_identity();
    stn_vec3 o = {0.0, 0.0, -0.35}, x = {1.0, 0.0, 0.0}, none = stn_vec3_zero(), nan = {NAN, 0.0, 0.0};
    stn_ray_hit hit;
    for (int32_t i = 0; i < STN_COUNT(shapes); i++) {
        assert_false(stn_shape_raycast(&shapes[i], &here, o, none, 1.0, &hit));
        assert_false(stn_shape_raycast(&shapes[i], &here, o, nan, 1.0, &hit));
        assert_false(stn_shape_raycast(&shapes[i], &here, nan, x, 1.0, &hit));
        assert_false(stn_shape_raycast(&shapes[i], &here, o, x, NAN, &hit));
        assert_false(stn_shape_raycast(&shapes[i], &here, o, x, -1.0, &hit));
        assert_false(stn_shape_raycast(&shapes[i], &here, o, stn_vec3_make(INFINITY, 0.0, 0.0), 1.0, &hit));
        assert_true(stn_shape_raycast(&shapes[i], &here, o, stn_vec3_make(1e-300, 0.0, 0.0), 1.0, &hit));
        assert_true(stn_shape_raycast(&shapes[i], &here, o, stn_vec3_make(0.0, 1e300, 0.0), 1.0, &hit));
    }
    stn_mesh_release(terrain);
    stn_mesh_release(hull);
}

int main(int argc, char **argv) {
    ray_count *= argc > 1 && strcmp(argv[1], "--full") == 0 ? 10 : 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_meet_convex_solids_where_bisection_does),
        cmocka_unit_test(a_surface_is_met_from_both_sides_and_never_from_within),
        cmocka_unit_test(rays_meet_height_fields_where_marching_does),
        cmocka_unit_test(a_ray_from_the_surface_meets_what_it_enters_only),
        cmocka_unit_test(rays_that_are_none_meet_nothing),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
