// SPDX-License-Identifier: Apache-2.0
// Failing allocations, shared references, stored parts.
#include "mesh_fixture.h"

#include <stiction/mesh_query.h>

#include <pthread.h>

#include <stiction/mesh_query.h>

#include "mesh_maker/raw_mesh.h"
#include "stn_heap.h"

/// Every request of the call fails once; a failed call leaves nothing behind and gives NULL.
static void fail_each(stn_status (*call)(stn_context *context, const stn_mesh *given, stn_mesh **out, stn_error *err),
                      const soup *given) {
    stn_heap heap = {0};
    stn_error err = {STN_OK, ""};
    stn_context *context = stn_heap_context(&heap);
    soup s = *given;
    s.corner = malloc(3 * (size_t)s.triangle_count * sizeof *s.corner);
    memcpy(s.corner, given->corner, 3 * (size_t)s.triangle_count * sizeof *s.corner);
    stn_mesh *source = soup_mesh(&s, context);
    long long live = heap.live;
    stn_status status = STN_ERR_MEMORY;
    long long n = 1;
    for (; status != STN_OK; n++) {
        stn_mesh *mesh = source;
        stn_heap_arm(&heap, n);
        status = call(context, source, &mesh, &err);
        stn_heap_arm(&heap, 0);
        if (status == STN_OK) {
            stn_mesh_release(mesh);
        } else {
            assert_int_equal(status, STN_ERR_MEMORY);
            assert_null(mesh);
        }
        assert_int_equal(heap.live, live);
    }
    assert_true(n > 4); // three requests at least
    stn_mesh_release(source);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static stn_status create_anew(stn_context *context, const stn_mesh *given, stn_mesh **out, stn_error *err) {
    stn_mesh_data data = {given->vertex_count, given->triangle_count, 0, given->vertices, given->triangles, NULL, NULL};
    return stn_mesh_create(context, &data, out, err);
}

static stn_status create_solid(stn_context *context, const stn_mesh *given, stn_mesh **out, stn_error *err) {
    static const int32_t corners[] = {0, 1, 2, 3};
    stn_mesh_data data = {given->vertex_count, 0, 1, given->vertices, NULL, corners, NULL};
    return stn_mesh_create(context, &data, out, err);
}

static stn_status create_scaled(stn_context *context, const stn_mesh *given, stn_mesh **out, stn_error *err) {
    (void)context;
    return stn_mesh_create_scaled(given, stn_vec3_make(-1.0, 2.0, 3.0), out, err);
}

static stn_status create_hull(stn_context *context, const stn_mesh *given, stn_mesh **out, stn_error *err) {
    (void)context;
    return stn_mesh_create_hull(given, out, err);
}

static void every_failed_allocation_is_reported_and_leaves_nothing(void **state) {
    (void)state;
    soup s = {0};
    soup_add_l_solid(&s);
    fail_each(create_anew, &s);
    fail_each(create_scaled, &s);
    fail_each(create_hull, &s);
    fail_each(stn_mesh_create_finished, &s);
    free(s.corner);
    s = (soup){0};
    soup_add(&s, stn_vec3_make(0.0, 0.0, 0.0), stn_vec3_make(1.0, 0.0, 0.0), stn_vec3_make(0.0, 1.0, 0.0));
    soup_add(&s, stn_vec3_make(0.0, 0.0, 1.0), stn_vec3_make(1.0, 0.0, 0.0), stn_vec3_make(0.0, 1.0, 0.0));
    fail_each(create_solid, &s);
    free(s.corner);
}

/// `what` holds the blocks and bytes that the allocator gave since it had `before`.
static void assert_holds(const stn_mesh *what, const stn_heap *heap, const long long before[2]) {
    long long blocks = heap->live - before[0], bytes = heap->bytes - before[1];
    size_t said = stn_mesh_use_of(what).bytes;
    if (said > (size_t)bytes || said + 32 * (size_t)blocks < (size_t)bytes) {
        fail_msg("%zu bytes, the allocator gave %lld in %lld blocks", said, bytes, blocks);
    }
}

/// The cache of a context bounds what idle meshes hold by this figure.
static void a_mesh_knows_the_memory_it_holds(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_error err = {STN_OK, ""};
    stn_context *context = stn_heap_context(&heap);
    soup s = {0};
    soup_add_sphere(&s, 3);
    long long before[2] = {heap.live, heap.bytes};
    stn_mesh *mesh = soup_mesh(&s, context), *hull = NULL, *solid = NULL;
    assert_holds(mesh, &heap, before);
    assert_ok(stn_mesh_prepare(mesh, &err), err);
    assert_holds(mesh, &heap, before);
    size_t surface = stn_mesh_use_of(mesh).bytes;
    assert_non_null(stn_mesh_across(mesh));
    assert_holds(mesh, &heap, before);
    assert_non_null(stn_mesh_bends(mesh));
    assert_holds(mesh, &heap, before);
    before[0] = heap.live, before[1] = heap.bytes;
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    assert_holds(hull, &heap, before);
    assert_true(stn_mesh_use_of(hull).bytes >
                24 * (size_t)hull->vertex_count + 12 * (size_t)hull->triangle_count + surface / 4);
    before[0] = heap.live, before[1] = heap.bytes;
    assert_ok(create_solid(context, hull, &solid, &err), err);
    assert_holds(solid, &heap, before);
    assert_non_null(stn_mesh_across_faces(solid));
    assert_holds(solid, &heap, before);
    stn_mesh_release(solid);
    stn_mesh_release(hull);
    stn_mesh_release(mesh);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
    assert_int_equal(heap.bytes, 0);
}

static void *keep_and_release(void *user) {
    const stn_mesh *mesh = user;
    for (int32_t i = 0; i < 20000; i++) {
        const stn_mesh *kept = stn_mesh_keep(mesh);
        stn_mesh_release(kept);
    }
    stn_mesh_release(mesh);
    return NULL;
}

static void threads_share_a_mesh_and_the_last_one_frees_it(void **state) {
    (void)state;
    enum { THREADS = 4 };
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    long long live = heap.live;
    soup s = {0};
    soup_add_cube(&s, 1.0);
    stn_mesh *mesh = soup_mesh(&s, context);
    pthread_t thread[THREADS];
    for (int32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, keep_and_release, (void *)stn_mesh_keep(mesh)), 0);
    }
    stn_mesh_release(mesh);
    for (int32_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    assert_int_equal(heap.live, live);
    stn_context_destroy(context);
}

static void stored_parts_give_the_same_mesh(void **state) {
    soup s = {0};
    soup_add_l_solid(&s);
    stn_mesh *mesh = soup_mesh(&s, *state), *hull = NULL, *copy = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    assert_ok(stn_mesh_create_finished(*state, hull, &copy, &err), err);
    assert_true(copy->convex && copy->vertices != hull->vertices);
    assert_memory_equal(copy->vertices, hull->vertices, 3 * (size_t)hull->vertex_count * sizeof(double));
    assert_memory_equal(copy->triangles, hull->triangles, 3 * (size_t)hull->triangle_count * sizeof(int32_t));
    assert_memory_equal(&copy->bounds, &hull->bounds, sizeof hull->bounds);
    assert_memory_equal(&copy->solid, &hull->solid, sizeof hull->solid);
    assert_memory_equal(&copy->facts, &hull->facts, sizeof hull->facts);
    stn_mesh_release(copy);
    stn_mesh_release(hull);
    stn_mesh_release(mesh);
}

static void damaged_parts_are_refused(void **state) {
    soup s = {0};
    soup_add_cube(&s, 1.0);
    stn_mesh *mesh = soup_mesh(&s, *state);
    double vertices[24];
    int32_t triangles[36];
    stn_mesh bad[12];
    for (int32_t i = 0; i < STN_COUNT(bad); i++) {
        bad[i] = *mesh;
    }
    memcpy(vertices, mesh->vertices, sizeof vertices);
    memcpy(triangles, mesh->triangles, sizeof triangles);
    vertices[23] = INFINITY;
    triangles[35] = 8;
    bad[0].vertices = vertices;
    bad[1].triangles = triangles;
    bad[2].vertex_count = 7;
    bad[3].triangle_count = -1;
    bad[4].triangle_count = 0;
    bad[5].facts.area = NAN;
    bad[6].facts.up_axis = '\0';
    bad[7].facts.unit = 0.0;
    bad[8].facts.instance_count = 0;
    bad[9].solid.mass = -1.0;
    bad[10].solid.inertia.m[2][1] = INFINITY;
    bad[11].tetrahedron_count = 1;
    for (int32_t i = 0; i < STN_COUNT(bad); i++) {
        stn_mesh *out = mesh;
        stn_error err = {STN_OK, ""};
        assert_int_equal(stn_mesh_create_finished(*state, &bad[i], &out, &err), STN_ERR_ARGUMENT);
        assert_null(out);
    }
    stn_mesh_release(mesh);
}

static void what_a_reader_found_gets_its_unit_and_axis(void **state) {
    double vertices[] = {0.0, 0.0, 0.0, 10.0, 0.0, 0.0, 0.0, 10.0, 0.0};
    int32_t triangles[] = {0, 1, 2};
    raw_mesh raw = {.vertex_count = 3, .triangle_count = 1, .vertices = vertices, .triangles = triangles};
    raw.unit = 0.0254;
    raw.up_axis = 'y';
    raw.instance_count = 4;
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(mesh_from_raw(*state, &raw, &mesh, &err), err);
    assert_near(mesh->bounds.upper.x, 0.254, 1e-16);
    assert_near(mesh->facts.area, 0.5 * 0.254 * 0.254, 1e-16);
    assert_true(mesh->facts.unit == 0.0254 && mesh->facts.up_axis == 'y' && mesh->facts.instance_count == 4);
    stn_mesh_release(mesh);
    static const double bad[] = {-1.0, NAN, INFINITY, 1e50};
    for (int32_t i = 0; i < STN_COUNT(bad); i++) {
        raw.unit = bad[i];
        assert_int_equal(mesh_from_raw(*state, &raw, &mesh, &err), STN_ERR_ARGUMENT);
        assert_null(mesh);
    }
    raw_mesh empty = {0};
    raw_mesh_clear(&empty);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaves_nothing),
        cmocka_unit_test(a_mesh_knows_the_memory_it_holds),
        cmocka_unit_test(threads_share_a_mesh_and_the_last_one_frees_it),
        cmocka_unit_test(stored_parts_give_the_same_mesh),
        cmocka_unit_test(damaged_parts_are_refused),
        cmocka_unit_test(what_a_reader_found_gets_its_unit_and_axis),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
