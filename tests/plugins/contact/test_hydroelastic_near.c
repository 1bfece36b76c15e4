// SPDX-License-Identifier: Apache-2.0
// What is remembered of near elements changes no patch: to the last bit the same as without, along random motions of
// many pairs that rest, creep, run, jump, come and go.
#include <string.h>

#include <stiction/mesh.h>

#include "patch.h"
#include "patch_probe.h"
#include "stn_heap.h"
#include "stn_random.h"
#include "stn_random_pose.h"

enum { SHAPES = 8 };

typedef struct troupe {
    stn_heap heap;
    stn_context *context;
    stn_mesh *mesh;
    stn_arena *arena[2];
    int32_t count;
    stn_geometry geometries[24];
    stn_pose poses[24];
    stn_model model;
    model_solids *solids;
    stn_random random;
    int64_t recalled, faces, searches;
} troupe;

static stn_mesh *dented_mesh(stn_context *context) {
    static const double vertices[] = {-0.1,  -0.1, 0.0,  0.1,  -0.1, 0.0,  0.1,  0.1, 0.0, -0.1, 0.1,  0.0, 0.0, 0.0,
                                      -0.03, -0.1, -0.1, -0.1, 0.1,  -0.1, -0.1, 0.1, 0.1, -0.1, -0.1, 0.1, -0.1};
    static const int32_t triangles[] = {0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4, 5, 7, 6, 5, 8, 7, 0, 5, 1,
                                        1, 5, 6, 1, 6, 2, 2, 6, 7, 2, 7, 3, 3, 7, 8, 3, 8, 0, 0, 8, 5};
    stn_mesh_data data = {.vertex_count = 9, .vertices = vertices, .triangle_count = 14, .triangles = triangles};
    stn_mesh *mesh = NULL;
    stn_error err;
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    return mesh;
}

static void open_troupe(troupe *t, int32_t count, uint64_t seed) {
    const double rigid = (double)INFINITY, none = (double)NAN;
    stn_error err;
    *t = (troupe){.count = count, .random = {seed}};
    t->context = stn_heap_context(&t->heap);
    t->mesh = dented_mesh(t->context);
    const stn_geometry of[SHAPES] = {
        patch_geometry(stn_shape_sphere(0.05), 1e6, none),
        patch_geometry(stn_shape_sphere(0.05), 3e6, 0.015),
        patch_geometry(stn_shape_mesh(t->mesh), rigid, none),
        patch_geometry(stn_shape_ellipsoid(stn_vec3_make(0.06, 0.05, 0.04)), 1e6, none),
        patch_geometry(stn_shape_box(stn_vec3_make(0.2, 0.2, 0.03)), rigid, none),
        patch_geometry(stn_shape_capsule(0.04, 0.05), 2e6, none),
        patch_geometry(stn_shape_cylinder(0.04, 0.05), 1e6, none),
        patch_geometry(stn_shape_box(stn_vec3_make(0.05, 0.04, 0.03)), 1e6, none),
    };
    for (int32_t i = 0; i < count; i++) {
        t->geometries[i] = of[i % SHAPES];
        t->geometries[i].body = i + 1;
        t->geometries[i].field.margin = i % 3 == 1 ? 0.002 : none;
        t->poses[i] = stn_pose_identity();
    }
    t->model = (stn_model){
        .geometry_count = count, .body_count = count + 1, .geometries = t->geometries, .context = t->context};
    const solid_limits limits = {.error = 0.05, .max_tetrahedra = 100000};
    assert_ok(prepared_create(&t->model, &limits, &t->solids, &err), err);
    t->arena[0] = stn_arena_create(t->context);
    t->arena[1] = stn_arena_create(t->context);
}

static void close_troupe(troupe *t) {
    stn_arena_destroy(t->arena[0]);
    stn_arena_destroy(t->arena[1]);
    prepared_destroy(t->solids);
    stn_mesh_release(t->mesh);
    stn_context_destroy(t->context);
    assert_int_equal(t->heap.live, 0);
}

static bool same_vectors(const stn_vec3 *a, const stn_vec3 *b, int32_t count) {
    return count == 0 || memcmp(a, b, sizeof *a * (size_t)count) == 0;
}

static void assert_same_sets(const stn_contact_set *a, const stn_contact_set *b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_true(same_vectors(a->vertices, b->vertices, a->vertex_count));
    for (int32_t i = 0; i < a->count; i++) {
        const stn_contact *c = &a->contacts[i], *d = &b->contacts[i];
        assert_true(c->id == d->id && c->phi0 == d->phi0 && c->area == d->area && c->pressure == d->pressure);
        assert_true(c->material.stiffness == d->material.stiffness && same_vectors(&c->point, &d->point, 1));
        assert_true(same_vectors(&c->normal, &d->normal, 1));
    }
}

static stn_vec3 direction(stn_random *r) {
    return stn_vec3_make(random_between(r, -1.0, 1.0), random_between(r, -1.0, 1.0), random_between(r, -1.0, 1.0));
}

/// A contact of the pair of two shapes as a step would ask for it, with the memory and without.
static void compare(troupe *t, int32_t a, int32_t b, stn_vec3 velocity) {
    const stn_contact_pair pair = {.geometry_a = a,
                                   .geometry_b = b,
                                   .pose_a = t->poses[a],
                                   .pose_b = t->poses[b],
                                   .material = {.value = {.mu = 0.5}, .weight_a = 0.5},
                                   .velocity = {.linear = velocity},
                                   .free_velocity = {.linear = velocity}};
    stn_contact_set set[2];
    int64_t near[2];
    stn_error err;
    for (int32_t i = 0; i < 2; i++) {
        stn_arena_reset(t->arena[i]);
        set[i] = (stn_contact_set){.arena = t->arena[i]};
        face_sink sink = {.arena = t->arena[i], .memory = i == 0 ? t->solids->memory : NULL};
        const stn_contact_scene scene = {.model = &t->model, .arena = t->arena[i], .dt = 0.002};
        assert_ok(patch_add(&scene, t->solids, &pair, &sink, &set[i], &err), err);
        t->recalled += sink.recalled;
        near[i] = sink.near;
    }
    assert_true(near[0] == near[1]); // the same pairs of elements, not only the same faces
    assert_same_sets(&set[0], &set[1]);
    t->faces += set[0].count;
    t->searches++;
}

/// A small motion: a shift, and a turn about some axis.
static stn_pose moved(const stn_pose *pose, stn_vec3 shift, stn_vec3 turn) {
    stn_pose m = *pose;
    stn_mat3 r = stn_mat3_from_rpy(turn.x, turn.y, turn.z);
    m.rotation = stn_mat3_mul(&r, &pose->rotation);
    m.position = stn_vec3_add(pose->position, shift);
    return m;
}

/// Two shapes, one that wanders: at rest, slowly, fast, with a jump now and then.
static void wander(troupe *t, int32_t a, int32_t b, int32_t steps) {
    stn_random *r = &t->random;
    static const double speed[] = {0.0, 1e-7, 1e-5, 1e-4, 1e-3};
    for (int32_t i = 0; i < steps; i++) {
        if (i % 40 == 0) { // another place, turned anyhow, at a depth that takes one level or several
            t->poses[a] = random_pose(r, 0.5);
            t->poses[b] = random_pose(r, 0.5);
            t->poses[b].position = stn_vec3_mul_add(t->poses[a].position, 0.08, direction(r));
        }
        double s = speed[i / 8 % 5];
        stn_vec3 shift = stn_vec3_scale(s, direction(r)), turn = stn_vec3_scale(10.0 * s, direction(r));
        t->poses[b] = moved(&t->poses[b], shift, turn);
        compare(t, a, b, stn_vec3_scale(i % 3 == 0 ? 0.0 : 100.0 * s, direction(r)));
    }
}

static void a_pair_that_wanders_has_the_same_faces_with_memory(void **state) {
    (void)state;
    troupe t;
    open_troupe(&t, SHAPES, 11);
    for (int32_t a = 0; a < SHAPES; a++) {
        for (int32_t b = a; b < SHAPES; b++) { // a is b: a shape with another one of its kind
            if (a != b && patch_exists(&t.geometries[a], &t.geometries[b])) {
                wander(&t, a, b, 80);
            }
        }
    }
    assert_true(t.faces > 10 * t.searches);
    assert_true(t.recalled > t.searches / 3); // the memory was asked
    close_troupe(&t);
}

/// All pairs of some shapes, each there for three steps and away for two.
static void all_pairs(troupe *t, int32_t step) {
    for (int32_t a = 0; a < t->count; a++) {
        for (int32_t b = a + 1; b < t->count; b++) {
            bool here = (a + b + step) % 5 < 3;
            if (here && patch_exists(&t->geometries[a], &t->geometries[b])) {
                compare(t, a, b, stn_vec3_zero());
            }
        }
    }
}

static void pairs_that_come_and_go_beyond_all_room_have_the_same_faces(void **state) {
    (void)state;
    troupe t;
    open_troupe(&t, 24, 5);
    stn_random *r = &t.random;
    for (int32_t i = 0; i < t.count; i++) {
        t.poses[i] = random_pose(r, 0.15);
    }
    for (int32_t step = 0; step < 6; step++) {
        for (int32_t i = 0; i < t.count; i++) {
            t.poses[i] = moved(&t.poses[i], stn_vec3_scale(1e-5, direction(r)), stn_vec3_scale(1e-4, direction(r)));
        }
        all_pairs(&t, step);
    }
    assert_true(t.faces > t.searches);
    close_troupe(&t);
}

static void pairs_in_the_same_place_are_not_taken_for_each_other(void **state) {
    (void)state;
    troupe t;
    open_troupe(&t, 16, 6);
    for (int32_t step = 0; step < 12; step++) {
        for (int32_t i = 0; i < t.count; i++) { // two places, so that all pairs stand alike
            t.poses[i].position = stn_vec3_make(0.0, 0.0, i % 2 == 0 ? 0.0 : 0.085 + 1e-6 * step);
        }
        all_pairs(&t, step);
    }
    assert_true(t.faces > t.searches);
    assert_true(t.recalled > t.searches / 10);
    close_troupe(&t);
}

static void looking_again_allocates_nothing(void **state) {
    (void)state;
    troupe t;
    open_troupe(&t, SHAPES, 3);
    t.poses[1].position = stn_vec3_make(0.0, 0.0, 0.09);
    int64_t before = 0;
    for (int32_t i = 0; i < 300; i++) {
        before = i == 20 ? stn_context_allocations(t.context) : before;
        t.poses[1].position.x += 1e-4; // listed anew from time to time
        compare(&t, 0, 1, stn_vec3_zero());
    }
    assert_int_equal(stn_context_allocations(t.context), before);
    assert_true(t.recalled > 150);
    close_troupe(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_that_wanders_has_the_same_faces_with_memory),
        cmocka_unit_test(pairs_that_come_and_go_beyond_all_room_have_the_same_faces),
        cmocka_unit_test(pairs_in_the_same_place_are_not_taken_for_each_other),
        cmocka_unit_test(looking_again_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
