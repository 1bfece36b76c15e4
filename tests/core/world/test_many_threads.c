// SPDX-License-Identifier: Apache-2.0
// Worlds of one context in several threads: made, stepped, recorded, cloned and destroyed at once, each as if it were
// alone.
#define _GNU_SOURCE // mkstemps
#include "scenes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stiction/mesh.h>

enum { THREADS = 8, CONTEXTS = 60, STEPS = 5 };

static char mesh_path[] = "/tmp/stn_threads_XXXXXX.obj";

typedef struct worker {
    stn_context *context;
    pthread_barrier_t *start;
    const stn_mesh *mesh;
    uint64_t hash;
    char error[2048];
} worker;

/// No assertion may leave a thread that is not the test's own: the error is told.
static bool failed(worker *w, stn_status status, const stn_error *err) {
    if (status < 0 && w->error[0] == '\0') {
        snprintf(w->error, sizeof w->error, "%s", err->text);
    }
    return status < 0;
}

static bool add_body(worker *w, stn_model_builder *b, const stn_shape *shape, double height) {
    int32_t robot = 0, link = 0, geometry = 0;
    stn_error err;
    stn_link_spec spec = {.name = "body", .mass = {.mass = 1.0, .inertia = stn_mat3_diagonal(0.01, 0.01, 0.01)}};
    stn_geometry_spec g = stn_geometry_spec_default(*shape);
    char name[32];
    snprintf(name, sizeof name, "body %g", height);
    if (shape->mesh != NULL &&
        failed(w, stn_builder_add_mesh(b, "hull", stn_vec3_make(1.0, 1.0, 1.0), shape->mesh, &g.mesh, &err), &err)) {
        return false;
    }
    stn_pose pose = {stn_mat3_identity(), {0.0, 0.0, height}};
    return !failed(w, stn_builder_begin_group(b, name, &robot, &err), &err) &&
           !failed(w, stn_builder_add_link(b, &spec, &link, &err), &err) &&
           !failed(w, stn_builder_add_geometry(b, link, &g, &geometry, &err), &err) &&
           !failed(w, stn_builder_set_base(b, robot, &pose, false, &err), &err);
}

static void make_and_step(worker *w, stn_world *world) {
    stn_model_builder *b = stn_world_builder(world);
    stn_error err;
    int32_t ground = 0;
    stn_geometry_spec floor = stn_geometry_spec_default(stn_shape_half_space());
    stn_shape box = stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)), hull = stn_shape_mesh(w->mesh);
    stn_world *clone = NULL;
    if (failed(w, stn_builder_add_geometry(b, STN_WORLD, &floor, &ground, &err), &err) || !add_body(w, b, &box, 0.12) ||
        !add_body(w, b, &hull, 0.5) || failed(w, stn_world_compile(world, &err), &err)) {
        return;
    }
    for (int32_t i = 0; i < STEPS; i++) {
        if (failed(w, stn_world_step(world, &err), &err)) {
            return;
        }
    }
    w->hash = stn_world_hash(world);
    if (!failed(w, stn_world_clone(world, &clone, &err), &err) && stn_world_hash(clone) != w->hash) {
        snprintf(w->error, sizeof w->error, "the clone differs");
    }
    stn_world_destroy(clone);
}

/// Of a file that other threads read at the same time.
static void load_mesh(worker *w) {
    const stn_mesh_request request = {.path = mesh_path, .scale = {1.0, 1.0, 1.0}, .convex = true};
    const stn_mesh *mesh = NULL;
    stn_error err;
    if (!failed(w, stn_mesh_load(w->context, &request, &mesh, &err), &err)) {
        stn_mesh_release(mesh);
    }
}

static void *work(void *user) {
    worker *w = user;
    stn_world_options options = stn_world_options_default();
    stn_world *world = NULL;
    stn_error err;
    pthread_barrier_wait(w->start);
    load_mesh(w);
    if (!failed(w, stn_world_create(w->context, &options, &world, &err), &err)) {
        make_and_step(w, world);
    }
    stn_world_destroy(world);
    return NULL;
}

static stn_mesh *new_mesh(stn_context *context) {
    static const double vertices[12] = {-0.1, -0.1, -0.1, 0.2, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.2};
    static const int32_t triangles[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    const stn_mesh_data data = {.vertex_count = 4, .triangle_count = 4, .vertices = vertices, .triangles = triangles};
    stn_mesh *mesh = NULL, *hull = NULL;
    stn_error err;
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    stn_mesh_release(mesh);
    return hull;
}

/// All threads ask a new context at once: nothing in it has been made before.
static uint64_t at_once(void) {
    worker workers[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_mesh *mesh = new_mesh(context);
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int32_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.context = context, .start = &start, .mesh = mesh};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int32_t i = 0; i < THREADS; i++) {
        assert_string_equal(workers[i].error, "");
        assert_true(workers[i].hash == workers[0].hash);
    }
    pthread_barrier_destroy(&start);
    stn_mesh_release(mesh);
    stn_context_destroy(context);
    return workers[0].hash;
}

static void worlds_of_one_context_may_be_made_in_several_threads(void **state) {
    (void)state;
    static const char mesh[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    int file = mkstemps(mesh_path, 4);
    assert_true(file >= 0 && write(file, mesh, sizeof mesh - 1) == (ssize_t)sizeof mesh - 1 && close(file) == 0);
    uint64_t first = at_once();
    for (int32_t i = 1; i < CONTEXTS; i++) {
        assert_true(at_once() == first);
    }
    unlink(mesh_path);
}

enum { ROUNDS = 20, MORE_STEPS = 40 };

typedef struct stepper {
    stn_world *world;
    pthread_barrier_t *start;
    stn_status status;
} stepper;

static void *make_steps(void *user) {
    stepper *s = user;
    stn_error err;
    pthread_barrier_wait(s->start);
    for (int32_t i = 0; i < MORE_STEPS && s->status >= 0; i++) {
        s->status = stn_world_step(s->world, &err);
    }
    return NULL;
}

/// A clone has the setup of its world, which goes before it; both make their steps at once.
static void clones_step_in_threads_of_their_own(void **state) {
    (void)state;
    stn_context *context = NULL;
    stn_world *world = NULL, *twins[2] = {NULL, NULL};
    stn_world_options options = stn_world_options_default();
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_mesh *mesh = new_mesh(context);
    worker w = {.context = context, .mesh = mesh};
    assert_ok(stn_world_create(context, &options, &world, &err), err);
    make_and_step(&w, world);
    assert_string_equal(w.error, "");
    for (int32_t round = 0; round < ROUNDS; round++) {
        stepper steppers[2];
        pthread_t threads[2];
        pthread_barrier_t start;
        assert_int_equal(pthread_barrier_init(&start, NULL, 2), 0);
        for (int32_t i = 0; i < 2; i++) {
            assert_ok(stn_world_clone(world, &twins[i], &err), err);
            steppers[i] = (stepper){.world = twins[i], .start = &start};
        }
        if (round == ROUNDS - 1) {
            stn_world_destroy(world);
        }
        for (int32_t i = 0; i < 2; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, make_steps, &steppers[i]), 0);
        }
        for (int32_t i = 0; i < 2; i++) {
            pthread_join(threads[i], NULL);
            assert_true(steppers[i].status >= 0);
        }
        pthread_barrier_destroy(&start);
        assert_true(stn_world_hash(twins[0]) != w.hash && stn_world_hash(twins[0]) == stn_world_hash(twins[1]));
        stn_world_destroy(twins[0]);
        stn_world_destroy(twins[1]);
    }
    stn_mesh_release(mesh);
    stn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worlds_of_one_context_may_be_made_in_several_threads),
        cmocka_unit_test(clones_step_in_threads_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
