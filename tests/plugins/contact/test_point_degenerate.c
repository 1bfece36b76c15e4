// SPDX-License-Identifier: Apache-2.0
// Every pair of types where geometry degenerates: coincident centres, equal poses, parallel edges and faces, one body
// inside another, bodies that just touch, needles and plates of 1 : 1e6, sizes from 1e-4 to 1e4 m in one pair, hulls of
// thousands of faces. A finite answer, unit normals and ids of their own are asked of all; distances and points that
// are right, of shapes of like size that are no needles: to 1e-8 of the size, to 1e-4 of it where a hull of thousands
// of faces, nearly round, may hold the other one.
#include "point_oracle.h"
#include "point_random.h"
#include "point_scene.h"

enum { SHAPES_MAX = 64, POSES = 12, POINTS_MAX = 8 };

typedef struct shapes {
    int32_t count, plain_count, thick_count; // simple ones come first, needles and plates last
    stn_shape all[SHAPES_MAX];
} shapes;

static void add(shapes *s, stn_shape shape) {
    assert_true(s->count < SHAPES_MAX);
    s->all[s->count++] = shape;
}

static void add_sizes(shapes *s, stn_context *context, stn_random *r) {
    const double sizes[] = {1e-4, 1.0, 1e4};
    for (int32_t i = 0; i < STN_COUNT(sizes); i++) {
        double t = sizes[i];
        stn_vec3 e = {t, t, t};
        add(s, stn_shape_sphere(t));
        add(s, stn_shape_box(e));
        add(s, stn_shape_capsule(t, t));
        add(s, stn_shape_cylinder(t, t));
        add(s, stn_shape_ellipsoid(e));
        add(s, stn_shape_mesh(hull_box(context, e)));
        add(s, stn_shape_mesh(hull_blob(r, context, 30, e, stn_vec3_zero())));
    }
}

/// 1 : 1e6 and beyond, in one direction or two.
static void add_needles_and_plates(shapes *s, stn_context *context, stn_random *r) {
    const stn_vec3 extents[] = {{1.0, 1e-6, 1e-6}, {1.0, 1.0, 1e-6}, {1e4, 1e-2, 1e-2},
                                {1e4, 1e-4, 1.0},  {1.0, 1.0, 1e-9}, {1.0, 1e-9, 1e-9}};
    for (int32_t i = 0; i < STN_COUNT(extents); i++) {
        add(s, stn_shape_box(extents[i]));
        add(s, stn_shape_ellipsoid(extents[i]));
        add(s, stn_shape_mesh(hull_box(context, extents[i])));
        add(s, stn_shape_mesh(hull_blob(r, context, 30, extents[i], stn_vec3_zero())));
    }
    add(s, stn_shape_capsule(1e-6, 1.0));
    add(s, stn_shape_capsule(1e-4, 1e4));
    add(s, stn_shape_cylinder(1e-6, 1.0));
    add(s, stn_shape_cylinder(1.0, 1e-6));
}

static void add_large_hulls(shapes *s, stn_context *context, stn_random *r) {
    const stn_vec3 unit = {1.0, 1.0, 1.0}, flat = {1.0, 0.7, 1e-3};
    add(s, stn_shape_mesh(hull_blob(r, context, 3000, unit, stn_vec3_zero())));
    add(s, stn_shape_mesh(hull_blob(r, context, 2000, flat, stn_vec3_zero())));
    add(s, stn_shape_mesh(hull_prism(context, 1000, unit)));
    add(s, stn_shape_mesh(hull_blob(r, context, 20, unit, stn_vec3_make(1e3, -1e3, 0.0)))); // far from its frame
}

/// Where B stands to A; 0: the same pose.
static stn_pose pose_of(stn_random *r, int32_t kind, double size_a, double size_b) {
    stn_pose x = stn_pose_identity();
    double quarter = 0.5 * STN_PI, offset = random_size(r, 1e-5, 1e4);
    if (kind % 4 == 1) {
        x.rotation = stn_mat3_from_rpy(quarter, 0.0, quarter);
    } else if (kind % 4 == 2) {
        x.rotation = stn_mat3_from_rpy(1e-9, -1e-9, 1e-9);
    } else if (kind % 4 == 3) {
        x.rotation = stn_mat3_from_rpy(0.5 * quarter, 0.0, 0.5 * quarter);
    }
    double along[3] = {0.0, 0.0, 0.0};
    if (kind >= 4) { // beyond, or inside of the larger one
        along[kind % 3] = kind < 8 ? 0.3 * fmax(size_a, size_b) : offset;
    }
    x.position = stn_vec3_make(along[0], along[1], along[2]);
    return x;
}

static int32_t failures;

/// Counts a broken claim, and prints the first few.
static void claim(bool holds, const char *text, double value, const placed *a, const placed *b) {
    if (!holds && failures++ < 5) {
        print_message("%s (size %g), %s (size %g) at %g %g %g: %s %.3g\n", stn_shape_name(a->shape.type), size_of(a),
                      stn_shape_name(b->shape.type), size_of(b), b->pose.position.x, b->pose.position.y,
                      b->pose.position.z, text, value);
    }
}

/// Finite, unit, distinct; to the tolerance on both surfaces, and the deepest is what the reaches along its normal say.
static double check_points(void **state, const placed *a, const placed *b, double tolerance) {
    double deepest = INFINITY, larger = fmax(size_of(a), b->shape.type == STN_SHAPE_HALF_SPACE ? 0.0 : size_of(b));
    double size = size_of_pair(a, b) + 1e-6 * (larger + stn_vec3_norm(b->pose.position));
    stn_vec3 on_a[POINTS_MAX], normal = stn_vec3_zero();
    const stn_contact_set *set;
    stn_error err;
    probe *p = *state;
    for (int32_t side = 0; side < 2; side++) {
        assert_ok(probe_collide(p, a, b, 1e9, side == 0 ? 1.0 : 0.0, &err), err);
        set = &p->set;
        assert_true(set->count > 0 && set->count <= POINTS_MAX);
        for (int32_t i = 0; i < set->count; i++) {
            const stn_contact *c = &set->contacts[i];
            double off = fabs(oracle_surface(side == 0 ? a : b, c->point)) / size;
            claim(isfinite(c->phi0) && stn_vec3_finite(c->point), "no number", c->phi0, a, b);
            claim(fabs(stn_vec3_norm(c->normal) - 1.0) <= 1e-12, "normal's length", stn_vec3_norm(c->normal), a, b);
            claim(off <= tolerance, "off the surface by", off, a, b);
            for (int32_t k = 0; k < i; k++) {
                claim(c->id != set->contacts[k].id, "two points with one id", i, a, b);
            }
            if (side == 0) {
                on_a[i] = c->point;
                normal = c->phi0 < deepest ? c->normal : normal;
                deepest = fmin(deepest, c->phi0);
            } else {
                double along = stn_vec3_dot(c->normal, stn_vec3_sub(c->point, on_a[i]));
                claim(fabs(along - c->phi0) <= 1e-9 * size, "points apart by another phi", along - c->phi0, a, b);
            }
        }
    }
    if (a->shape.type != STN_SHAPE_HALF_SPACE && b->shape.type != STN_SHAPE_HALF_SPACE) {
        double error = fabs(oracle_along(a, b, normal) - deepest) / size;
        claim(error <= tolerance, "phi is not what the reaches say", error, a, b);
    }
    return deepest;
}

static void check_pair(void **state, stn_random *r, stn_shape first, stn_shape second, double tolerance) {
    for (int32_t kind = 0; kind < POSES; kind++) {
        placed a = at(first, 0.0, 0.0, 0.0), b = at(second, 0.0, 0.0, 0.0);
        b.pose = pose_of(r, kind, size_of(&a), second.type == STN_SHAPE_HALF_SPACE ? 1.0 : size_of(&b));
        double ratio = second.type == STN_SHAPE_HALF_SPACE ? 1.0 : size_of(&a) / size_of(&b);
        bool of_like_size = ratio < 100.0 && ratio > 0.01;
        double phi = check_points(state, &a, &b, of_like_size ? tolerance : HUGE_VAL);
        probe *p = *state;
        stn_vec3 normal = p->set.contacts[0].normal; // moved out until they touch
        b.pose.position = stn_vec3_mul_add(b.pose.position, -phi, normal);
        check_points(state, &a, &b, of_like_size ? tolerance : HUGE_VAL);
    }
}

static void every_degenerate_pair_gives_a_finite_answer(void **state) {
    probe *p = *state;
    stn_random r = {41};
    shapes s = {0};
    add_sizes(&s, p->context, &r);
    add(&s, stn_shape_half_space());
    s.plain_count = s.count;
    add_large_hulls(&s, p->context, &r);
    s.thick_count = s.count;
    add_needles_and_plates(&s, p->context, &r);
    for (int32_t i = 0; i < s.count; i++) {
        for (int32_t j = 0; j < s.count; j++) {
            int32_t worse = i > j ? i : j;
            if (s.all[i].type != STN_SHAPE_HALF_SPACE || s.all[j].type != STN_SHAPE_HALF_SPACE) {
                check_pair(state, &r, s.all[i], s.all[j],
                           worse < s.plain_count   ? 1e-8
                           : worse < s.thick_count ? 1e-4
                                                   : HUGE_VAL);
            }
        }
    }
    for (int32_t i = 0; i < s.count; i++) {
        stn_mesh_release(s.all[i].mesh);
    }
    assert_int_equal(failures, 0);
}

/// Which is the distance to its nearest face, cap or side: against brute force over directions.
static void a_small_body_deep_inside_a_large_one_gets_its_distance(void **state) {
    probe *p = *state;
    stn_random r = {43};
    const stn_vec3 unit = {1.0, 1.0, 1.0};
    const stn_shape large[] = {stn_shape_mesh(hull_blob(&r, p->context, 1000, unit, stn_vec3_zero())),
                               stn_shape_cylinder(1.0, 1.0), stn_shape_box(unit)};
    const stn_shape small[] = {stn_shape_box(stn_vec3_make(1e-8, 1e-8, 1e-8)), stn_shape_capsule(1e-8, 1e-8),
                               stn_shape_cylinder(1e-8, 1e-8)};
    stn_error err;
    for (int32_t i = 0; i < STN_COUNT(large) * STN_COUNT(small); i++) {
        for (int32_t k = 0; k < 3; k++) { // 5e-4 beyond the middle: a cylinder's cap is nearer than its side
            placed a = at(large[i / 3], 0.0, 0.0, 0.0), b = at(small[i % 3], 0.0, 0.0, 5e-4 * k);
            b.pose.rotation = random_pose(&r, 0.0).rotation;
            assert_ok(probe_collide(p, &a, &b, 1e9, 1.0, &err), err);
            double phi = INFINITY;
            for (int32_t j = 0; j < p->set.count; j++) {
                phi = fmin(phi, p->set.contacts[j].phi0);
            }
            assert_true(fabs(oracle_distance(&a, &b) - phi) <= 1e-6);
        }
    }
    stn_mesh_release(large[0].mesh);
}

/// A mesh without thickness has no hull; the maker says so.
static void a_flat_hull_is_refused(void **state) {
    probe *p = *state;
    const double square[] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0};
    const int32_t ids[] = {0, 1, 2, 0, 2, 3};
    const stn_mesh_data data = {4, 2, 0, square, ids, NULL, NULL};
    stn_mesh *mesh, *hull = NULL;
    stn_error err;
    assert_ok(stn_mesh_create(p->context, &data, &mesh, &err), err);
    assert_int_equal(stn_mesh_create_hull(mesh, &hull, &err), STN_ERR_ARGUMENT);
    assert_null(hull);
    stn_mesh_release(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_degenerate_pair_gives_a_finite_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_small_body_deep_inside_a_large_one_gets_its_distance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_flat_hull_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
