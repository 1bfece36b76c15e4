// SPDX-License-Identifier: Apache-2.0
#include "stn_test.h"

#include <stdlib.h>
#include <string.h>

#include <stiction/contact.h>

static const stn_geometry geometries[] = {
    {.name = "belt", .body = 0, .node = -1, .surface_velocity = {1.0, 0.0, 0.0}},
    {.name = "crate", .body = 4, .node = -1},
    {.name = NULL, .body = -1, .node = 17},
};
static const stn_model model = {.geometry_count = 3, .geometries = geometries, .body_count = 5, .node_count = 18};

static stn_contact_pair pair_of(int32_t a, int32_t b) {
    stn_contact_pair pair = {.geometry_a = a,
                             .geometry_b = b,
                             .pose_a = stn_pose_identity(),
                             .pose_b = stn_pose_identity(),
                             .material = {{.mu = 0.7, .stiffness = INFINITY, .relaxation_time = (double)NAN}, 0.25}};
    return pair;
}

static stn_contact contact_of(const stn_contact_pair *pair, uint64_t feature) {
    return stn_contact_make(&model, pair, stn_vec3_make(0.0, 0.0, 1.0), stn_vec3_make(0.0, 0.0, 0.8),
                            stn_vec3_make(0.0, 0.0, 1.0), feature);
}

typedef struct fixture {
    int32_t allocations_left;
    stn_context *context;
    stn_contact_set set;
} fixture;

static void *limited_allocate(void *user, size_t size) {
    int32_t *left = user;
    return (*left)-- > 0 ? aligned_alloc(16, (size + 15) & ~(size_t)15) : NULL;
}
static void limited_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->allocations_left = INT32_MAX;
    stn_context_options options = {
        .allocate = limited_allocate, .release = limited_release, .allocator_user = &f->allocations_left};
    stn_error err;
    assert_ok(stn_context_create(&options, &f->context, &err), err);
    f->set.arena = stn_arena_create(f->context);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    stn_arena_destroy(f->set.arena);
    stn_context_destroy(f->context);
    free(f);
    return 0;
}

static void the_record_follows_from_witness_points_and_model(void **state) {
    (void)state;
    stn_contact_pair pair = pair_of(0, 1);
    pair.pose_a.rotation = stn_mat3_from_rpy(0.0, 0.0, 0.5 * STN_PI); // the belt runs along y
    stn_contact c = contact_of(&pair, 3);
    assert_near(c.phi0, -0.2, 1e-15);
    assert_near(c.point.z, 0.25 * 1.0 + 0.75 * 0.8, 1e-15);
    assert_near(c.bias.x, 0.0, 1e-15);
    assert_near(c.bias.y, -1.0, 1e-15); // B stands, A runs
    assert_near(c.material.mu, 0.7, 0.0);
    assert_near(c.mu2, 0.7, 0.0);
    assert_near(stn_vec3_norm(c.direction), 0.0, 0.0);
    assert_int_equal(c.patch, -1);
    assert_true(c.geometry_a == 0 && c.geometry_b == 1);
    assert_true(c.a.body == 0 && c.b.body == 4 && c.b.node_count == 0);
}

/// Two plates with a friction direction each, on the faces of which friction was measured.
static const stn_geometry plates[] = {
    {.name = "a", .body = 1, .node = -1, .friction_direction = {2.0, 0.0, 0.0}, .material = {.mu = 0.8, .mu2 = 0.2}},
    {.name = "b", .body = 2, .node = -1, .friction_direction = {0.0, 0.5, 0.0}, .material = {.mu = 0.3, .mu2 = 0.6}},
    {.name = "c", .body = 3, .node = -1, .material = {.mu = 0.5, .mu2 = (double)NAN}},
    {.name = "d", .body = 4, .node = -1, .friction_direction = {1.0, 0.0, 0.0}, .material = {.mu = 0.4}},
};
static const stn_model of_plates = {.geometry_count = 4, .geometries = plates, .body_count = 5};

static stn_contact plates_touch(const stn_contact_pair *pair, stn_vec3 normal) {
    return stn_contact_make(&of_plates, pair, stn_vec3_zero(), stn_vec3_zero(), normal, 0);
}

static void the_direction_is_that_of_the_geometry_that_has_one(void **state) {
    (void)state;
    for (int32_t side = 0; side < 2; side++) {
        stn_contact_pair pair = pair_of(side == 0 ? 0 : 2, side == 0 ? 2 : 0);
        pair.material.value.mu2 = 0.25;
        stn_mat3 turn = stn_mat3_from_rpy(0.1, -0.2, 0.7);
        *(side == 0 ? &pair.pose_a.rotation : &pair.pose_b.rotation) = turn;
        stn_contact c = plates_touch(&pair, stn_vec3_make(0.0, 0.0, 1.0));
        assert_near(c.material.mu, 0.7, 0.0);
        assert_near(c.mu2, 0.25, 0.0);
        assert_near(stn_vec3_norm(stn_vec3_sub(c.direction, stn_vec3_scale(2.0, stn_mat3_column(&turn, 0)))), 0.0,
                    1e-15);
        pair.material.value.mu2 = (double)NAN; // an override of the pair states mu
        c = plates_touch(&pair, stn_vec3_make(0.0, 0.0, 1.0));
        assert_true(c.mu2 == c.material.mu && stn_vec3_norm(c.direction) == 0.0);
    }
}

/// P of a plate, by its definition, along the contact plane's x and y.
static void tensor(const stn_geometry *g, double angle, double P[4]) {
    double own = g->friction_direction.x > 0.0 ? 0.0 : 0.5 * STN_PI, c = cos(own + angle), s = sin(own + angle);
    double mu = g->material.mu, mu2 = g->material.mu2;
    P[0] = mu * c * c + mu2 * s * s;
    P[1] = P[2] = (mu - mu2) * c * s;
    P[3] = mu * s * s + mu2 * c * c;
}

static void invert(double P[4]) {
    double det = P[0] * P[3] - P[1] * P[2], first = P[0];
    P[0] = P[3] / det;
    P[3] = first / det;
    P[1] /= -det;
    P[2] /= -det;
}

static void two_directions_make_the_harmonic_mean_of_their_tensors(void **state) {
    (void)state;
    for (int32_t i = 0; i <= 36; i++) {
        stn_contact_pair pair = pair_of(0, 1);
        double angle = i * STN_PI / 18.0, A[4], B[4];
        pair.pose_b.rotation = stn_mat3_from_rpy(0.0, 0.0, angle);
        pair.material.value.mu2 = 0.1;
        pair.material.value.mu_static = (double)NAN;
        stn_contact c = plates_touch(&pair, stn_vec3_make(0.0, 0.0, 1.0));
        tensor(&plates[0], 0.0, A);
        tensor(&plates[1], angle, B);
        invert(A);
        invert(B);
        for (int32_t k = 0; k < 4; k++) {
            A[k] = 0.5 * (A[k] + B[k]);
        }
        invert(A);
        double x = c.direction.x, y = c.direction.y;
        assert_near(hypot(x, y), 1.0, 1e-15);
        assert_near(A[0] * x + A[1] * y, c.material.mu * x, 1e-14);
        assert_near(A[2] * x + A[3] * y, c.material.mu * y, 1e-14);
        assert_near(A[0] + A[3], c.material.mu + c.mu2, 1e-14);
        assert_true(isnan(c.material.mu_static));
        stn_contact_pair other = pair; // the same the other way round
        other.geometry_a = 1;
        other.geometry_b = 0;
        other.pose_a = pair.pose_b;
        other.pose_b = pair.pose_a;
        stn_contact back = plates_touch(&other, stn_vec3_make(0.0, 0.0, -1.0));
        assert_near(back.material.mu, c.material.mu, 1e-15);
        assert_near(back.mu2, c.mu2, 1e-15);
        assert_near(fabs(stn_vec3_dot(back.direction, c.direction)), 1.0, 1e-14);
    }
}

static void a_direction_along_the_normal_leaves_the_second_coefficient(void **state) {
    (void)state;
    stn_contact_pair pair = pair_of(0, 3);
    pair.material.value.mu2 = 0.0;
    stn_contact c = plates_touch(&pair, stn_vec3_make(1.0, 0.0, 0.0)); // d has no friction across either
    assert_near(c.material.mu, 0.0, 1e-15);
    assert_near(c.mu2, 0.0, 1e-15);
    pair.pose_b.rotation = stn_mat3_from_rpy(0.0, 0.0, 0.5 * STN_PI); // along y it has 0.4, a has 0.2 in all directions
    c = plates_touch(&pair, stn_vec3_make(1.0, 0.0, 0.0));
    assert_near(c.material.mu, 2.0 * 0.4 * 0.2 / 0.6, 1e-15);
    assert_near(c.mu2, 0.0, 1e-15);
    assert_near(fabs(c.direction.y), 1.0, 1e-15);
}

static void a_node_rides_with_weight_one(void **state) {
    (void)state;
    stn_contact_pair pair = pair_of(1, 2);
    stn_contact c = contact_of(&pair, 0);
    assert_true(c.b.body == -1 && c.b.node_count == 1 && c.b.node[0] == 17);
    assert_near(c.b.weight[0], 1.0, 0.0);
}

static int compare_ids(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void ids_differ_between_pairs_and_features_and_persist(void **state) {
    (void)state;
    enum { FEATURES = 2000 };
    uint64_t ids[6 * FEATURES];
    int32_t count = 0;
    for (int32_t a = 0; a < 3; a++) {
        for (int32_t b = 0; b < 3; b++) {
            stn_contact_pair pair = pair_of(a, b);
            for (uint64_t k = 0; k < FEATURES && a != b; k++) {
                uint64_t feature = k << (k % 2 == 0 ? 0 : 32);
                ids[count++] = contact_of(&pair, feature).id;
                assert_true(ids[count - 1] == contact_of(&pair, feature).id);
            }
        }
    }
    qsort(ids, (size_t)count, sizeof ids[0], compare_ids);
    for (int32_t i = 1; i < count; i++) {
        assert_true(ids[i - 1] != ids[i]);
    }
}

static void thousands_of_contacts_keep_their_order(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_contact_pair pair = pair_of(0, 1);
    for (int32_t i = 0; i < 5000; i++) {
        stn_contact c = contact_of(&pair, (uint64_t)i);
        c.phi0 = -i;
        assert_ok(stn_contact_set_add(&model, &f->set, &c, &err), err);
    }
    assert_int_equal(f->set.count, 5000);
    for (int32_t i = 0; i < 5000; i++) {
        assert_near(f->set.contacts[i].phi0, -i, 0.0);
    }
}

static void what_is_not_finite_is_refused_by_the_names_of_the_geometries(void **state) {
    fixture *f = *state;
    stn_contact_pair pair = pair_of(0, 1);
    const double bad[] = {(double)NAN, (double)NAN, (double)NAN, 0.99, (double)NAN, (double)NAN};
    for (int32_t i = 0; i < STN_COUNT(bad); i++) {
        stn_contact c = contact_of(&pair, 0);
        double *member[] = {&c.point.x, &c.phi0, &c.normal.x, &c.normal.z, &c.bias.y, &c.material.mu};
        *member[i] = bad[i];
        stn_error err = {0};
        assert_int_equal(stn_contact_set_add(&model, &f->set, &c, &err), STN_ERR_NUMERIC);
        assert_non_null(strstr(err.text, "'belt'"));
        assert_non_null(strstr(err.text, "'crate'"));
    }
    assert_int_equal(f->set.count, 0);
}

static void faces_belong_to_the_patch_begun_last(void **state) {
    fixture *f = *state;
    stn_error err;
    const stn_vec3 triangle[3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    const double pressure[3] = {1.0, 2.0, 3.0};
    stn_contact_pair first = pair_of(0, 1), second = pair_of(0, 2);
    for (int32_t i = 0; i < 200; i++) {
        if (i == 0 || i == 150) {
            assert_ok(stn_contact_set_begin_patch(&f->set, i == 0 ? &first : &second, &err), err);
        }
        stn_contact c = contact_of(i < 150 ? &first : &second, (uint64_t)i);
        assert_ok(stn_contact_set_add_face(&model, &f->set, &c, triangle, pressure, 3, &err), err);
    }
    assert_int_equal(f->set.patch_count, 2);
    assert_int_equal(f->set.patches[0].contact_count, 150);
    assert_int_equal(f->set.patches[1].contact_start, 150);
    assert_int_equal(f->set.patches[1].contact_count, 50);
    assert_true(f->set.patches[0].id != f->set.patches[1].id);
    const stn_contact *c = &f->set.contacts[170];
    assert_int_equal(c->patch, 1);
    assert_int_equal(c->vertex_start, 3 * 170);
    assert_int_equal(c->vertex_count, 3);
    assert_near(f->set.vertices[c->vertex_start + 2].y, 1.0, 0.0);
    assert_near(f->set.vertex_pressure[c->vertex_start + 2], 3.0, 0.0);
}

static void a_face_needs_an_open_patch_and_a_finite_polygon(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_vec3 triangle[3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    const double pressure[3] = {1.0, 2.0, 3.0};
    stn_contact_pair pair = pair_of(0, 1);
    stn_contact c = contact_of(&pair, 0);
    assert_int_equal(stn_contact_set_add_face(&model, &f->set, &c, triangle, pressure, 3, &err), STN_ERR_SEQUENCE);
    assert_ok(stn_contact_set_begin_patch(&f->set, &pair, &err), err);
    assert_int_equal(stn_contact_set_add_face(&model, &f->set, &c, triangle, pressure, 2, &err), STN_ERR_ARGUMENT);
    triangle[1].z = INFINITY;
    assert_int_equal(stn_contact_set_add_face(&model, &f->set, &c, triangle, pressure, 3, &err), STN_ERR_NUMERIC);
    assert_int_equal(f->set.count, 0);
    assert_ok(stn_contact_set_add(&model, &f->set, &c, &err), err); // a point contact closes the patch
    triangle[1].z = 0.0;
    assert_int_equal(stn_contact_set_add_face(&model, &f->set, &c, triangle, pressure, 3, &err), STN_ERR_SEQUENCE);
    assert_true(f->set.vertex_count == 0 && f->set.count == 1);
}

static void running_out_of_memory_leaves_the_set_as_it_was(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_contact_pair pair = pair_of(0, 1);
    stn_contact c = contact_of(&pair, 0);
    f->allocations_left = 1; // one chunk of the arena
    stn_status status = STN_OK;
    int32_t added = 0;
    while (status == STN_OK && added < 100000) {
        status = stn_contact_set_add(&model, &f->set, &c, &err);
        added += status == STN_OK;
    }
    assert_int_equal(status, STN_ERR_MEMORY);
    assert_int_equal(f->set.count, added);
    assert_true(f->set.contacts[added - 1].id == c.id);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_record_follows_from_witness_points_and_model),
        cmocka_unit_test(the_direction_is_that_of_the_geometry_that_has_one),
        cmocka_unit_test(two_directions_make_the_harmonic_mean_of_their_tensors),
        cmocka_unit_test(a_direction_along_the_normal_leaves_the_second_coefficient),
        cmocka_unit_test(a_node_rides_with_weight_one),
        cmocka_unit_test(ids_differ_between_pairs_and_features_and_persist),
        cmocka_unit_test_setup_teardown(thousands_of_contacts_keep_their_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_finite_is_refused_by_the_names_of_the_geometries, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(faces_belong_to_the_patch_begun_last, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_face_needs_an_open_patch_and_a_finite_polygon, set_up, tear_down),
        cmocka_unit_test_setup_teardown(running_out_of_memory_leaves_the_set_as_it_was, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
