// SPDX-License-Identifier: Apache-2.0
// Queries of worlds of hundreds of bodies give what asking every geometry by itself gives, whatever changed the state
// in between, and allocate nothing when they are asked again.
#include "scenes.h"

#include "stn_heap.h"
#include "stn_random_pose.h"

enum { BODIES = 300 };

static stn_world *make_world(stn_context *context) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(context, &options);
    stn_random r = {61};
    stn_error err;
    scene_ground(world);
    for (int32_t i = 0; i < BODIES; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", (int)i);
        double size = random_size(&r, 0.02, 0.3);
        const stn_shape shapes[] = {stn_shape_sphere(size), stn_shape_box(stn_vec3_make(size, 0.05, 0.1)),
                                    stn_shape_capsule(0.05, size), stn_shape_cylinder(size, 0.05)};
        stn_geometry_spec spec = stn_geometry_spec_default(shapes[i % 4]);
        stn_vec3 at = random_vec3(&r, 1.5);
        at.z += 3.0;
        scene_body(world, name, 1.0, &spec, at);
    }
    assert_ok(stn_world_compile(world, &err), err);
    return world;
}

static bool is_one(const void *user, int32_t geometry) {
    return geometry == *(const int32_t *)user;
}

static bool is_third(const void *user, int32_t geometry) {
    return geometry % 3 == *(const int32_t *)user;
}

static void assert_ray(stn_world *world, stn_vec3 o, stn_vec3 d, double max) {
    stn_world_hit hit, one, best = {.geometry = -1};
    stn_error err;
    for (int32_t g = 0; g < stn_world_model(world)->geometry_count; g++) {
        const stn_query query = {.accepts = is_one, .user = &g};
        assert_ok(stn_world_raycast(world, &query, o, d, max, &one, &err), err);
        best = one.geometry >= 0 && (best.geometry < 0 || one.ray.distance < best.ray.distance) ? one : best;
    }
    assert_ok(stn_world_raycast(world, NULL, o, d, max, &hit, &err), err);
    assert_int_equal(hit.geometry, best.geometry);
    assert_true(hit.geometry < 0 || hit.ray.distance == best.ray.distance);
}

static void assert_nearest(stn_world *world, stn_vec3 p) {
    stn_world_distance_result near, one;
    stn_error err;
    double least = INFINITY;
    for (int32_t g = 0; g < stn_world_model(world)->geometry_count; g++) {
        const stn_query query = {.accepts = is_one, .user = &g};
        assert_ok(stn_world_nearest(world, &query, p, INFINITY, &one, &err), err);
        least = fmin(least, one.distance);
    }
    assert_ok(stn_world_nearest(world, NULL, p, INFINITY, &near, &err), err);
    assert_near(near.distance, least, 1e-13);
}

static void assert_overlap(stn_world *world, const stn_pose *pose) {
    const stn_shape box = stn_shape_box(stn_vec3_make(0.3, 0.4, 0.2));
    const stn_world_overlap_result *found = NULL;
    stn_world_overlap_result all[BODIES + 1];
    stn_error err;
    int32_t count = 0, many = 0;
    for (int32_t g = 0; g < stn_world_model(world)->geometry_count; g++) {
        const stn_query query = {.accepts = is_one, .user = &g};
        assert_ok(stn_world_overlap(world, &query, &box, pose, 0.05, &found, &count, &err), err);
        if (count > 0) {
            all[many++] = found[0];
        }
    }
    assert_ok(stn_world_overlap(world, NULL, &box, pose, 0.05, &found, &count, &err), err);
    assert_int_equal(count, many);
    for (int32_t i = 0; i < many; i++) {
        assert_int_equal(found[i].geometry, all[i].geometry);
        assert_true(found[i].distance == all[i].distance);
    }
}

/// A body against a third of the others, and two thirds against each other.
static void assert_distance(stn_world *world, int32_t body, int32_t rest) {
    const stn_query a = {.accepts = is_one, .user = &body}, b = {.accepts = is_third, .user = &rest};
    const int32_t next = (rest + 1) % 3;
    const stn_query c = {.accepts = is_third, .user = &next};
    stn_world_distance_result whole, one;
    stn_error err;
    double least = INFINITY;
    for (int32_t g = rest; g < stn_world_model(world)->geometry_count; g += 3) {
        const stn_query query = {.accepts = is_one, .user = &g};
        if (g != body) {
            assert_ok(stn_world_distance(world, &a, &query, INFINITY, &one, &err), err);
            least = fmin(least, one.distance);
        }
    }
    assert_ok(stn_world_distance(world, &a, &b, INFINITY, &whole, &err), err);
    assert_near(whole.distance, least, 1e-12);
    least = INFINITY;
    for (int32_t g = next; g < stn_world_model(world)->geometry_count; g += 3) {
        const stn_query query = {.accepts = is_one, .user = &g};
        assert_ok(stn_world_distance(world, &b, &query, INFINITY, &one, &err), err);
        least = fmin(least, one.distance);
    }
    assert_ok(stn_world_distance(world, &b, &c, INFINITY, &whole, &err), err);
    assert_near(whole.distance, least, 1e-12);
}

static void ask_all(stn_world *world, stn_random *r) {
    for (int32_t i = 0; i < 6; i++) {
        stn_vec3 o = random_vec3(r, 3.0), p = random_vec3(r, 2.0);
        o.z += 3.0;
        p.z += 3.0;
        stn_vec3 d = i % 3 == 0 ? stn_vec3_make(0.0, 0.0, -1.0) : stn_vec3_sub(p, o);
        assert_ray(world, o, d, i % 2 == 0 ? (double)INFINITY : 2.0);
        assert_nearest(world, p);
        stn_pose pose = random_pose(r, 1.5);
        pose.position.z += 3.0;
        assert_overlap(world, &pose);
    }
    assert_distance(world, 1 + random_below(r, BODIES), random_below(r, 3));
}

static void queries_agree_with_a_look_at_every_geometry(void **state) {
    stn_world *world = make_world(*state), *other = NULL;
    stn_random r = {62};
    stn_error err;
    ask_all(world, &r); // before the first step
    scene_steps(world, 5);
    ask_all(world, &r);
    for (int32_t round = 0; round < 3; round++) { // some bodies moved, then all
        for (int32_t i = round < 2 ? BODIES - 20 : 0; i < BODIES; i++) {
            stn_pose pose = random_pose(&r, round == 1 ? 50.0 : 1.5);
            pose.position.z += 3.0;
            assert_ok(stn_world_set_body_pose(world, i + 1, &pose, &err), err);
        }
        ask_all(world, &r);
    }
    stn_snapshot *kept = NULL;
    assert_ok(stn_world_snapshot(world, &kept, &err), err);
    assert_ok(stn_world_clone(world, &other, &err), err);
    ask_all(other, &r);
    stn_world_reset(world);
    ask_all(world, &r);
    assert_ok(stn_world_restore(world, kept, &err), err);
    ask_all(world, &r);
    stn_snapshot_destroy(kept);
    stn_world_destroy(other);
    stn_world_destroy(world);
}

static void ask_again(stn_world *world, int32_t round) {
    const int32_t body = 7, rest = 1;
    const stn_query a = {.accepts = is_one, .user = &body}, b = {.accepts = is_third, .user = &rest};
    const stn_shape box = stn_shape_box(stn_vec3_make(0.4, 0.4, 0.4));
    const stn_world_overlap_result *found = NULL;
    stn_world_distance_result d;
    stn_world_hit hit;
    stn_error err;
    stn_pose pose = {stn_mat3_identity(), {0.01 * round, 0.0, 3.0}};
    int32_t count = 0;
    assert_ok(stn_world_raycast(world, NULL, pose.position, stn_vec3_make(0.0, 1.0, 0.0), INFINITY, &hit, &err), err);
    assert_ok(stn_world_nearest(world, NULL, pose.position, INFINITY, &d, &err), err);
    assert_ok(stn_world_overlap(world, NULL, &box, &pose, 0.0, &found, &count, &err), err);
    assert_ok(stn_world_distance(world, &a, &b, INFINITY, &d, &err), err);
}

static void asking_again_allocates_nothing(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    stn_error err;
    stn_world *world = make_world(context);
    stn_random r = {63};
    long long before = 0;
    for (int32_t round = 0; round < 40; round++) {
        if (round == 20) {
            before = atomic_load(&heap.requests);
        }
        for (int32_t i = 0; i < BODIES; i++) {
            stn_pose pose = random_pose(&r, 1.5);
            pose.position.z += 3.0;
            assert_ok(stn_world_set_body_pose(world, i + 1, &pose, &err), err);
        }
        ask_again(world, round);
    }
    assert_int_equal(atomic_load(&heap.requests), before);
    stn_world_destroy(world);
    stn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_agree_with_a_look_at_every_geometry),
        cmocka_unit_test(asking_again_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
