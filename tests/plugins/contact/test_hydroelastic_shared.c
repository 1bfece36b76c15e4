// SPDX-License-Identifier: Apache-2.0
// Fields that models of one context have in common: found again by everything that decides what they are, and by
// nothing else; what is cut from them is the same to the last bit as from a field of one's own.
#include <string.h>

#include <stiction/mesh.h>
#include <stiction/threads.h>

#include "patch_probe.h"
#include "stn_heap.h"

/// A compliant or rigid shape above or below a probing ball.
typedef struct variant {
    const char *name;
    stn_geometry geometry;
    stn_pose pose; // of the ball
    stn_setting setting;
} variant;

static const double tetrahedron[] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.2, 0.2, 0.2};
static const int32_t with_middle[] = {4, 1, 2, 3, 0, 4, 2, 3, 0, 1, 4, 3, 0, 1, 2, 4};

/// A tetrahedron of edges `size` with a vertex inside, anew each time.
static stn_mesh *solid_mesh(stn_context *context, double size, double inner_extent) {
    double vertices[15], extents[5] = {0.0, 0.0, 0.0, 0.0, inner_extent};
    stn_mesh *mesh = NULL;
    stn_error err;
    for (int32_t i = 0; i < 15; i++) {
        vertices[i] = size * tetrahedron[i];
    }
    stn_mesh_data data = {.vertex_count = 5,
                          .vertices = vertices,
                          .tetrahedron_count = 4,
                          .tetrahedra = with_middle,
                          .extents = inner_extent > 0.0 ? extents : NULL};
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    return mesh;
}

static stn_mesh *hull_mesh(stn_context *context, double size) {
    stn_mesh *solid = solid_mesh(context, size, 0.0), *hull = NULL;
    stn_error err;
    assert_ok(stn_mesh_create_hull(solid, &hull, &err), err);
    stn_mesh_release(solid);
    return hull;
}

static variant with(const char *name, stn_shape shape, double modulus, double resolution) {
    return (variant){name,
                     patch_geometry(shape, modulus, resolution),
                     patch_at(0.02, 0.03, 0.12),
                     {.name = "margin", .form = STN_SETTING_NUMBER, .where = ""}};
}

static variant with_setting(variant v, const char *name, double value) {
    v.setting.name = name;
    v.setting.number = value;
    return v;
}

enum { VARIANTS = 21, MESHES = 5 };

/// `meshes` are the caller's to release.
static void make_variants(stn_context *context, variant v[VARIANTS], stn_mesh *meshes[MESHES]) {
    const double rigid = (double)INFINITY, none = (double)NAN;
    const stn_shape ball = stn_shape_sphere(0.1), layer = stn_shape_half_space();
    meshes[0] = solid_mesh(context, 0.2, 0.0);
    meshes[1] = solid_mesh(context, 0.2, 0.7);
    meshes[2] = solid_mesh(context, 0.21, 0.0);
    meshes[3] = hull_mesh(context, 0.2);
    meshes[4] = hull_mesh(context, 0.21);
    int32_t n = 0;
    v[n++] = with("ball", ball, 1e6, none);
    v[n++] = with("larger ball", stn_shape_sphere(0.101), 1e6, none);
    v[n++] = with("ball with a resolution", ball, 1e6, 0.05);
    v[n++] = with("ball with a finer one", ball, 1e6, 0.04);
    v[n++] = with("rigid ball", ball, rigid, none);
    v[n++] = with_setting(with("ball with a margin", ball, 1e6, none), "margin", 0.005);
    v[n] = with("ball with its own margin", ball, 1e6, none);
    v[n++].geometry.field.margin = 0.004;
    v[n++] = with("ellipsoid", stn_shape_ellipsoid(stn_vec3_make(0.1, 0.11, 0.1)), 1e6, none);
    v[n++] = with("box", stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)), 1e6, none);
    v[n++] = with("another box", stn_shape_box(stn_vec3_make(0.1, 0.1, 0.101)), 1e6, none);
    v[n++] = with("cylinder", stn_shape_cylinder(0.1, 0.1), 1e6, none);
    v[n++] = with("capsule", stn_shape_capsule(0.1, 0.1), 1e6, none);
    v[n++] = with("capsule lying lower", stn_shape_capsule(0.1, 0.05), 1e6, none);
    v[n++] = with("rigid half space", layer, rigid, none);
    v[n] = with("layer", layer, 1e6, none);
    v[n++].geometry.field.thickness = 0.05;
    v[n] = with("thicker layer", layer, 1e6, none);
    v[n++].geometry.field.thickness = 0.06;
    for (int32_t i = 0; i < 3; i++) {
        v[n] = with("tetrahedra", stn_shape_mesh(meshes[i]), 1e6, none);
        v[n++].geometry.field.volume_mesh = 0;
    }
    v[n++] = with("hull", stn_shape_mesh(meshes[3]), 1e6, none);
    v[n++] = with("larger hull", stn_shape_mesh(meshes[4]), 1e6, none);
    assert_int_equal(n, VARIANTS);
    for (int32_t i = 13; i < VARIANTS; i++) {
        v[i].pose.position = stn_vec3_make(0.03, 0.03, i < 16 ? 0.04 : 0.02); // above a plane, inside of a mesh
    }
}

/// Of one variant below a ball that is always the same: in a context that others have used, or in one of its own.
typedef struct probe {
    patch_probe patch;
    stn_mesh_reference mesh;
} probe;

static void open_probe(probe *p, stn_context *context, const variant *v) {
    stn_error err;
    *p = (probe){.patch = {.model = {.geometry_count = 2, .body_count = 3, .context = context}, .context = context}};
    assert_ok(stn_instance_create(context, STN_KIND_CONTACT, "hydroelastic", &v->setting, 1, &p->patch.instance, &err),
              err);
    p->patch.arena = stn_arena_create(context);
    p->patch.geometries[0] = v->geometry;
    p->patch.geometries[1] = patch_geometry(stn_shape_sphere(0.05), 2e6, 0.02);
    p->patch.geometries[1].body = 2;
    p->patch.model.geometries = p->patch.geometries;
    if (v->geometry.field.volume_mesh >= 0) {
        p->mesh.data = v->geometry.shape.mesh;
        p->patch.model.mesh_count = 1;
        p->patch.model.meshes = &p->mesh;
    }
    const stn_contact_ops *ops = p->patch.instance->desc->ops.contact;
    assert_ok(ops->prepare(p->patch.instance->self, &p->patch.model, &p->patch.prepared, &err), err);
}

static void close_probe(probe *p) {
    p->patch.instance->desc->ops.contact->release(p->patch.prepared);
    stn_arena_destroy(p->patch.arena);
    stn_instance_destroy(p->patch.instance);
}

static const stn_contact_set *collide(probe *p, const variant *v) {
    stn_pose origin = stn_pose_identity();
    return patch_collide(&p->patch, &origin, &v->pose, 0.0);
}

static void assert_same_contacts(const stn_contact_set *a, const stn_contact_set *b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->vertex_count, b->vertex_count);
    for (int32_t i = 0; i < a->count; i++) {
        const stn_contact *c = &a->contacts[i], *d = &b->contacts[i];
        assert_true(c->id == d->id && c->phi0 == d->phi0 && c->pressure == d->pressure && c->area == d->area);
        assert_memory_equal(&c->point, &d->point, sizeof c->point);
        assert_memory_equal(&c->normal, &d->normal, sizeof c->normal);
        assert_true(c->material.stiffness == d->material.stiffness);
    }
    if (a->vertex_count > 0) {
        assert_memory_equal(a->vertices, b->vertices, sizeof *a->vertices * (size_t)a->vertex_count);
    }
}

static void what_others_of_a_context_have_changes_no_patch(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    variant v[VARIANTS];
    stn_mesh *meshes[MESHES];
    static probe shared[VARIANTS];
    make_variants(context, v, meshes);
    for (int32_t i = 0; i < VARIANTS; i++) {
        open_probe(&shared[i], context, &v[i]);
    }
    for (int32_t i = 0; i < VARIANTS; i++) {
        stn_heap own_heap = {0};
        probe own;
        open_probe(&own, stn_heap_context(&own_heap), &v[i]);
        const stn_contact_set *set = collide(&own, &v[i]);
        if (set->count == 0) {
            fail_msg("%s: no patch", v[i].name);
        }
        assert_same_contacts(collide(&shared[i], &v[i]), set);
        close_probe(&own);
        stn_context_destroy(own.patch.context);
        assert_int_equal(own_heap.live, 0);
    }
    for (int32_t i = 0; i < VARIANTS; i++) {
        close_probe(&shared[i]);
    }
    for (int32_t i = 0; i < MESHES; i++) {
        stn_mesh_release(meshes[i]);
    }
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

/// Requests to the allocator that preparing takes.
static int64_t requests_of(probe *p, stn_context *context, const variant *v) {
    stn_error err;
    const stn_contact_ops *ops = NULL;
    open_probe(p, context, v);
    ops = p->patch.instance->desc->ops.contact;
    void *again = NULL;
    int64_t before = stn_context_allocations(context);
    assert_ok(ops->prepare(p->patch.instance->self, &p->patch.model, &again, &err), err);
    int64_t requests = stn_context_allocations(context) - before;
    ops->release(again);
    return requests;
}

static void an_equal_shape_is_not_made_again(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    variant v[2][VARIANTS];
    stn_mesh *meshes[2][MESHES];
    static probe p[VARIANTS];
    make_variants(context, v[0], meshes[0]);
    for (int32_t i = 0; i < VARIANTS; i++) { // in use or not, with another copy of a mesh, by another instance
        int64_t known = requests_of(&p[i], context, &v[0][i]);
        assert_in_range(known, 1, 9); // what a model has for itself
        if (i % 2 == 0) {
            close_probe(&p[i]);
        }
    }
    make_variants(context, v[1], meshes[1]);
    for (int32_t i = 0; i < MESHES; i++) {
        stn_mesh_release(meshes[0][i]); // nothing that is shared needs them
    }
    for (int32_t i = 0; i < VARIANTS; i++) {
        probe other, empty;
        variant bare = v[1][i];
        bare.geometry.collision = false;
        int64_t before = stn_context_allocations(context);
        open_probe(&empty, context, &bare); // the ball alone
        int64_t without = stn_context_allocations(context) - before;
        before = stn_context_allocations(context);
        open_probe(&other, context, &v[1][i]);
        assert_int_equal(stn_context_allocations(context) - before, without);
        assert_true(collide(&other, &v[1][i])->count > 0);
        close_probe(&other);
        close_probe(&empty);
        if (i % 2 == 1) {
            close_probe(&p[i]);
        }
    }
    for (int32_t i = 0; i < MESHES; i++) {
        stn_mesh_release(meshes[1][i]);
    }
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

typedef struct crowd {
    stn_context *context;
    const variant *variants;
    const stn_instance *instance;
    atomic_int wrong;
} crowd;

static void prepare_and_release(void *user, int32_t index, int32_t worker) {
    crowd *c = user;
    (void)worker;
    const stn_contact_ops *ops = c->instance->desc->ops.contact;
    stn_model model = {.geometry_count = 1, .body_count = 3, .context = c->context};
    model.geometries = &c->variants[index % 12].geometry;
    void *prepared = NULL;
    if (ops->prepare(c->instance->self, &model, &prepared, NULL) != STN_OK) {
        atomic_fetch_add(&c->wrong, 1);
    }
    ops->release(prepared);
}

static void threads_may_prepare_at_once(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    variant v[VARIANTS];
    stn_mesh *meshes[MESHES];
    probe p;
    stn_threads *threads = NULL;
    stn_error err;
    make_variants(context, v, meshes);
    open_probe(&p, context, &v[0]);
    crowd c = {.context = context, .variants = v, .instance = p.patch.instance};
    assert_ok(stn_threads_create(context, 4, &threads, &err), err);
    stn_parallel_for(threads, 400, prepare_and_release, &c);
    stn_threads_destroy(threads);
    assert_int_equal(c.wrong, 0);
    close_probe(&p);
    for (int32_t i = 0; i < MESHES; i++) {
        stn_mesh_release(meshes[i]);
    }
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static void running_out_of_memory_keeps_what_is_whole(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    variant bare = with("ball", stn_shape_sphere(0.1), 1e6, (double)NAN);
    probe p;
    stn_error err;
    open_probe(&p, context, &bare);
    stn_geometry other[2] = {patch_geometry(stn_shape_sphere(0.2), 1e6, 0.2),
                             patch_geometry(stn_shape_capsule(0.2, 0.1), 1e6, 0.2)};
    stn_model model = {.geometry_count = 2, .body_count = 3, .context = context, .geometries = other};
    const stn_contact_ops *ops = p.patch.instance->desc->ops.contact;
    void *prepared = NULL;
    stn_status status = STN_ERR_MEMORY;
    for (long long fail_at = 1; status != STN_OK; fail_at++) {
        stn_heap_arm(&heap, fail_at);
        status = ops->prepare(p.patch.instance->self, &model, &prepared, &err);
        assert_true(status == STN_OK || status == STN_ERR_MEMORY);
    }
    stn_heap_arm(&heap, 0);
    ops->release(prepared);
    close_probe(&p);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static void memory_of_fields_that_nobody_uses_is_bounded(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    const long long most = (long long)STN_SHARED_IDLE_BYTES;
    long long largest = 0;
    for (int32_t i = 0; i < 80; i++) { // over 1 MB each
        variant v = with("ball", stn_shape_sphere(0.05 + 1e-5 * i), 1e6, 0.005);
        probe p;
        open_probe(&p, context, &v);
        close_probe(&p);
        largest = heap.bytes > largest ? heap.bytes : largest;
    }
    assert_true(largest < most + most / 8 && largest > most / 2); // what fields say of their size is right
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_others_of_a_context_have_changes_no_patch),
        cmocka_unit_test(an_equal_shape_is_not_made_again),
        cmocka_unit_test(threads_may_prepare_at_once),
        cmocka_unit_test(running_out_of_memory_keeps_what_is_whole),
        cmocka_unit_test(memory_of_fields_that_nobody_uses_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
