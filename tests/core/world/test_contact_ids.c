// SPDX-License-Identifier: Apache-2.0
// Ids of contacts: one each in a step, the same for the same features whatever happened to the world before.
#include "scenes.h"

#include <stdlib.h>

#include "stn_random_pose.h"

enum { BODIES = 30, CONTACTS = 4096 };

typedef struct id_list {
    uint64_t ids[CONTACTS];
    int32_t count;
} id_list;

static int compare_ids(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/// Ids of the last step's contacts, ascending.
static id_list *ids_of(const stn_world *world, id_list *list) {
    const stn_problem *p = stn_world_observation(world)->problem;
    list->count = 0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        if (p->constraints[i].kind == STN_CONSTRAINT_CONTACT) {
            assert_true(list->count < CONTACTS);
            list->ids[list->count++] = p->constraints[i].id;
        }
    }
    qsort(list->ids, (size_t)list->count, sizeof *list->ids, compare_ids);
    return list;
}

static void assert_same(const id_list *a, const id_list *b) {
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->ids, b->ids, (size_t)a->count * sizeof *a->ids);
}

/// A hull of random points on a ball.
static stn_mesh *random_hull(stn_context *context, stn_random *r) {
    double vertices[3 * 20];
    int32_t triangles[3 * 18];
    for (int32_t i = 0; i < 20; i++) {
        stn_vec3 p = stn_vec3_scale(0.12, random_unit(r));
        vertices[3 * i] = p.x, vertices[3 * i + 1] = p.y, vertices[3 * i + 2] = p.z;
    }
    for (int32_t i = 0; i < 18; i++) {
        triangles[3 * i] = i, triangles[3 * i + 1] = i + 1, triangles[3 * i + 2] = i + 2;
    }
    stn_mesh_data data = {20, 18, 0, vertices, triangles, NULL, NULL};
    stn_mesh *surface = NULL, *hull = NULL;
    stn_error err;
    assert_ok(stn_mesh_create(context, &data, &surface, &err), err);
    assert_ok(stn_mesh_create_hull(surface, &hull, &err), err);
    stn_mesh_release(surface);
    return hull;
}

/// Bodies of every shape, crowded over the ground and through each other.
static stn_world *crowd(stn_context *context, uint64_t seed) {
    stn_world_options options = stn_world_options_default();
    options.dt = 0.005;
    stn_world *world = scene_world(context, &options);
    stn_random r = {seed};
    stn_error err;
    scene_ground(world);
    stn_mesh *hull = random_hull(context, &r);
    for (int32_t i = 0; i < BODIES; i++) {
        const stn_shape shapes[] = {stn_shape_sphere(0.1),
                                    stn_shape_box(stn_vec3_make(0.1, 0.08, 0.12)),
                                    stn_shape_capsule(0.06, 0.1),
                                    stn_shape_cylinder(0.09, 0.1),
                                    stn_shape_ellipsoid(stn_vec3_make(0.06, 0.09, 0.12)),
                                    stn_shape_mesh(hull)};
        stn_geometry_spec shape = stn_geometry_spec_default(shapes[i % STN_COUNT(shapes)]);
        if (shape.shape.mesh != NULL) {
            assert_ok(stn_builder_add_mesh(stn_world_builder(world), "", stn_vec3_make(1.0, 1.0, 1.0), hull,
                                           &shape.mesh, &err),
                      err);
        }
        shape.pose = i % 2 == 0 ? random_pose(&r, 0.0) : stn_pose_identity();
        char name[16];
        snprintf(name, sizeof name, "body%d", (int)i);
        stn_vec3 place = random_vec3(&r, 0.35);
        scene_body(world, name, 1.0, &shape, stn_vec3_make(place.x, place.y, place.z + 0.4));
    }
    stn_mesh_release(hull);
    stn_material slow = stn_material_unset();
    slow.relaxation_time = 0.2; // so that overlaps last
    assert_ok(stn_builder_set_contact_material(stn_world_builder(world), STN_ANY, STN_ANY, &slow, &err), err);
    assert_ok(stn_world_compile(world, &err), err);
    return world;
}

static void no_two_contacts_of_a_step_share_an_id(void **state) {
    static id_list list;
    int64_t total = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        stn_world *world = crowd(*state, seed);
        for (int32_t step = 0; step < 60; step++) {
            stn_error err;
            assert_true(stn_world_step(world, &err) >= 0); // a deep start need not converge
            ids_of(world, &list);
            for (int32_t i = 1; i < list.count; i++) {
                assert_true(list.ids[i - 1] != list.ids[i]);
            }
            total += list.count;
        }
        stn_world_destroy(world);
    }
    assert_true(total > 30000);
}

/// A clone has a broad phase that saw none of the motion, and a world that is put into the state no contact memory
/// either: pairs come in another order.
static void ids_follow_from_the_state_alone(void **state) {
    static id_list expected, list;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        stn_world *world = crowd(*state, seed), *clone = NULL, *fresh = crowd(*state, seed);
        stn_snapshot *snapshot = NULL;
        stn_error err;
        for (int32_t step = 0; step < 40; step++) {
            assert_true(stn_world_step(world, &err) >= 0);
        }
        assert_ok(stn_world_snapshot(world, &snapshot, &err), err);
        assert_ok(stn_world_clone(world, &clone, &err), err);
        assert_ok(stn_world_set_q(fresh, stn_world_state(world)->q, &err), err);
        assert_ok(stn_world_set_v(fresh, stn_world_state(world)->v, &err), err);
        assert_true(stn_world_step(world, &err) >= 0);
        ids_of(world, &expected);
        assert_true(expected.count > 50);
        assert_true(stn_world_step(clone, &err) >= 0);
        assert_same(ids_of(clone, &list), &expected);
        assert_true(stn_world_step(fresh, &err) >= 0);
        assert_same(ids_of(fresh, &list), &expected);
        for (int32_t step = 0; step < 10; step++) {
            assert_true(stn_world_step(world, &err) >= 0);
        }
        assert_ok(stn_world_restore(world, snapshot, &err), err);
        assert_true(stn_world_step(world, &err) >= 0);
        assert_same(ids_of(world, &list), &expected);
        stn_snapshot_destroy(snapshot);
        stn_world_destroy(fresh);
        stn_world_destroy(clone);
        stn_world_destroy(world);
    }
}

/// A cube that is thrown along the ground: the same four corners all the way, and again after it was lifted.
static void a_sliding_cube_keeps_the_ids_of_its_corners(void **state) {
    static id_list expected, list;
    stn_world *world = scene_tight_world(*state, 0.002, 1e-10);
    stn_error err;
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    assert_ok(stn_world_compile(world, &err), err);
    const double v[6] = {0.1, 0.03}, q[7] = {5.0, -2.0, 0.1, 1.0};
    scene_steps(world, 20);
    ids_of(world, &expected);
    assert_int_equal(expected.count, 4);
    assert_ok(stn_world_set_v(world, v, &err), err);
    for (int32_t step = 0; step < 60; step++) {
        scene_steps(world, 1);
        assert_same(ids_of(world, &list), &expected);
    }
    const double up[7] = {0.0, 0.0, 3.0, 1.0};
    assert_ok(stn_world_set_q(world, up, &err), err);
    scene_steps(world, 1);
    assert_int_equal(ids_of(world, &list)->count, 0);
    assert_ok(stn_world_set_q(world, q, &err), err);
    scene_steps(world, 1);
    assert_same(ids_of(world, &list), &expected);
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_contacts_of_a_step_share_an_id),
        cmocka_unit_test(ids_follow_from_the_state_alone),
        cmocka_unit_test(a_sliding_cube_keeps_the_ids_of_its_corners),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
