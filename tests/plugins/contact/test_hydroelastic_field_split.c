// SPDX-License-Identifier: Apache-2.0
// Given tetrahedra that are split so that a field is positive inside each.
#include <stiction/mesh_query.h>

#include "field_build.h"
#include "mesh_lattice.h"
#include "stn_heap.h"

/// What a mesh is split into.
typedef struct parts {
    surface_build s;
    tetrahedra_build t;
} parts;

static stn_mesh *make(stn_context *context, const stn_mesh_data *data) {
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create(context, data, &mesh, &err), err);
    return mesh;
}

static void release(parts *p) {
    surface_build_clear(&p->s);
    stn_release(p->t.context, p->t.corners);
}

static stn_status try_split(stn_context *context, const stn_mesh *mesh, parts *out, stn_error *err) {
    *out = (parts){surface_build_empty(context), {.context = context}};
    return field_split(mesh, &out->s, &out->t, err);
}

static double volume(const parts *p, int32_t t) {
    const int32_t *v = p->t.corners + 4 * (size_t)t;
    stn_vec3 o = stn_vec3_at(p->s.vertices, v[0]), e[3];
    for (int32_t k = 0; k < 3; k++) {
        e[k] = stn_vec3_sub(stn_vec3_at(p->s.vertices, v[k + 1]), o);
    }
    return stn_vec3_dot(e[0], stn_vec3_cross(e[1], e[2])) / 6.0;
}

/// Conforming: made a mesh from its numbers it is the same solid with the same boundary, so that every face inside is
/// shared by two. Every edge and face inside, and every tetrahedron, has a vertex where the field is positive.
static void assert_ready(stn_context *context, const stn_mesh *mesh, const parts *p) {
    assert_true(p->t.count <= 9 * mesh->tetrahedron_count);
    assert_memory_equal(p->s.vertices, mesh->vertices, 24 * (size_t)mesh->vertex_count);
    double sum = 0.0;
    for (int32_t t = 0; t < p->t.count; t++) {
        const int32_t *v = p->t.corners + 4 * (size_t)t;
        const double *e = p->s.extents;
        assert_true(volume(p, t) > 0.0);
        sum += volume(p, t);
        assert_true(fmax(fmax(e[v[0]], e[v[1]]), fmax(e[v[2]], e[v[3]])) > 0.0);
    }
    assert_near(sum, mesh->solid.mass, 1e-13 * mesh->solid.mass);
    stn_mesh_data data = {.vertex_count = p->s.vertex_count,
                          .tetrahedron_count = p->t.count,
                          .vertices = p->s.vertices,
                          .tetrahedra = p->t.corners};
    stn_mesh *again = make(context, &data);
    assert_int_equal(again->triangle_count, mesh->triangle_count);
    assert_int_equal(again->vertex_count, p->s.vertex_count);
    assert_int_equal(again->facts.solid.flat_count, 0);
    assert_int_equal(again->tetrahedron_count, p->t.count);
    assert_memory_equal(again->tetrahedra, p->t.corners, 16 * (size_t)p->t.count);
    const int32_t *across = stn_mesh_across_faces(again);
    for (int32_t i = 0; i < 4 * p->t.count; i++) {
        double most = 0.0;
        for (int32_t k = 0; k < 4; k++) {
            most = k != i % 4 ? fmax(most, p->s.extents[p->t.corners[4 * (i / 4) + k]]) : most;
        }
        assert_true((across[i] < 0) == (most == 0.0));
    }
    stn_mesh_release(again);
}

static parts parts_of(stn_context *context, const stn_mesh *mesh) {
    parts p, again;
    stn_error err = {STN_OK, ""};
    assert_ok(try_split(context, mesh, &p, &err), err);
    assert_ready(context, mesh, &p);
    assert_ok(try_split(context, mesh, &again, &err), err);
    assert_memory_equal(p.t.corners, again.t.corners, 16 * (size_t)p.t.count);
    assert_memory_equal(p.s.extents, again.s.extents, 8 * (size_t)p.s.vertex_count);
    release(&again);
    return p;
}

/// At the centroid, the only vertex inside.
static void one_tetrahedron_becomes_four(void **state) {
    const double v[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int32_t ids[] = {0, 1, 2, 3};
    stn_mesh_data data = {4, 0, 1, v, NULL, ids, NULL};
    stn_mesh *mesh = make(*state, &data);
    parts p = parts_of(*state, mesh);
    assert_int_equal(p.t.count, 4);
    assert_int_equal(p.s.vertex_count, 5);
    for (int32_t k = 0; k < 3; k++) {
        assert_near(p.s.vertices[12 + k], 0.25, 1e-16);
    }
    assert_near(p.s.extents[4], 1.0, 0.0);
    release(&p);
    stn_mesh_release(mesh);
}

/// Two that share a face: the face gets a vertex, and each becomes three.
static void a_face_between_two_gets_a_vertex(void **state) {
    const double v[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    const int32_t ids[] = {0, 1, 2, 3, 1, 2, 3, 4};
    stn_mesh_data data = {5, 0, 2, v, NULL, ids, NULL};
    stn_mesh *mesh = make(*state, &data);
    parts p = parts_of(*state, mesh);
    assert_int_equal(p.t.count, 6);
    assert_int_equal(p.s.vertex_count, 6);
    for (int32_t k = 0; k < 3; k++) {
        assert_near(p.s.vertices[15 + k], 1.0 / 3.0, 1e-16);
    }
    release(&p);
    stn_mesh_release(mesh);
}

/// Kuhn's six around the diagonal of a cube: the diagonal is split, and each becomes two.
static void an_edge_inside_gets_a_vertex(void **state) {
    double v[24];
    int32_t ids[24];
    static const int32_t order[6][3] = {{1, 2, 4}, {1, 4, 2}, {2, 1, 4}, {2, 4, 1}, {4, 1, 2}, {4, 2, 1}};
    for (int32_t i = 0; i < 24; i++) {
        v[i] = (i / 3) >> (i % 3) & 1;
        ids[i] = 0;
    }
    for (int32_t t = 0; t < 6; t++) {
        for (int32_t k = 0; k < 3; k++) {
            ids[4 * t + k + 1] = ids[4 * t + k] + order[t][k];
        }
    }
    stn_mesh_data data = {8, 0, 6, v, NULL, ids, NULL};
    stn_mesh *mesh = make(*state, &data);
    parts p = parts_of(*state, mesh);
    assert_int_equal(p.t.count, 12);
    assert_int_equal(p.s.vertex_count, 9);
    assert_near(p.s.extents[8], 1.0, 0.0);
    release(&p);
    stn_mesh_release(mesh);
}

/// Plates one cell thick have no vertex inside; cubes have some.
static void plates_and_cubes_of_cells_are_ready_afterwards(void **state) {
    for (uint64_t seed = 1; seed < 6; seed++) {
        stn_random r = {seed};
        lattice l;
        fill_lattice(&l, &r);
        int32_t count = seed < 4 ? 6 * SIDE * SIDE : TETRAHEDRA; // the first layer
        stn_mesh_data data = {NODES, 0, count, l.vertices, NULL, l.tetrahedra, NULL};
        stn_mesh *mesh = make(*state, &data);
        parts p = parts_of(*state, mesh);
        assert_true(p.t.count > count);
        release(&p);
        stn_mesh_release(mesh);
    }
}

static void given_extents_stay_and_a_ready_mesh_is_not_split(void **state) {
    const double v[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.2, 0.2, 0.2}, extents[] = {0, 0, 0, 0, 0.75};
    const int32_t ids[] = {0, 1, 2, 4, 0, 1, 3, 4, 0, 2, 3, 4, 1, 2, 3, 4};
    stn_mesh_data data = {5, 0, 4, v, NULL, ids, extents};
    stn_mesh *mesh = make(*state, &data), *hull = NULL;
    parts p = parts_of(*state, mesh), none;
    assert_int_equal(p.t.count, 4);
    assert_near(p.s.extents[4], 0.75, 0.0);
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    assert_int_equal(try_split(*state, hull, &none, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "no tetrahedra"));
    release(&none);
    stn_mesh_release(hull);
    release(&p);
    stn_mesh_release(mesh);
}

/// Distance from a point of the unit cube to its surface.
static double depth(const double *v) {
    double d = 0.5;
    for (int32_t k = 0; k < 3; k++) {
        d = fmin(d, fmin(v[k], 1.0 - v[k]));
    }
    return d;
}

static void extents_of_a_cube_are_its_depth(void **state) {
    stn_random r = {11};
    lattice l;
    fill_lattice(&l, &r);
    for (int32_t i = 0; i < NODES; i++) { // inner vertices anywhere: depths differ
        double *v = l.vertices + 3 * i;
        bool inside = depth(v) > 0.1;
        v[0] += inside ? 0.01 * (i % 7) : 0.0;
        v[1] -= inside ? 0.01 * (i % 5) : 0.0;
    }
    stn_mesh *mesh = solid_mesh(*state, &l);
    assert_null(mesh->extents);
    parts p = parts_of(*state, mesh);
    double largest = 0.0;
    for (int32_t i = 0; i < p.s.vertex_count; i++) {
        largest = worse(largest, depth(p.s.vertices + 3 * i));
    }
    for (int32_t i = 0; i < p.s.vertex_count; i++) {
        assert_near(p.s.extents[i], depth(p.s.vertices + 3 * i) / largest, 1e-14);
    }
    release(&p);
    stn_mesh_release(mesh);
}

enum { APART = 110 }; // tetrahedra, so many that their middles, too, ask for memory

/// Every request fails once: it is told, ends, and leaves nothing.
static void failed_requests_for_memory_are_told(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    stn_error err = {STN_OK, ""};
    static double v[12 * APART];
    static int32_t ids[4 * APART];
    for (int32_t i = 0; i < 4 * APART; i++) {
        v[3 * i] = (i % 4 == 1) + 2.0 * (i / 4);
        v[3 * i + 1] = i % 4 == 2;
        v[3 * i + 2] = i % 4 == 3;
        ids[i] = i;
    }
    const stn_mesh_data data = {4 * APART, 0, APART, v, NULL, ids, NULL};
    bool met = true; // the request that is to fail
    int32_t n = 0, told = 0;
    while (met) {
        stn_mesh *mesh = make(context, &data); // anew, as it keeps what is made for it
        parts p;
        stn_heap_arm(&heap, ++n);
        stn_status status = try_split(context, mesh, &p, &err);
        met = heap.requests >= n;
        stn_heap_arm(&heap, 0);
        assert_true(status == STN_ERR_MEMORY || status == STN_OK);
        assert_true(met || status == STN_OK);
        told += status == STN_ERR_MEMORY;
        release(&p);
        stn_mesh_release(mesh);
    }
    assert_true(told > 12 && told >= n - 2); // a tree may stay larger than it need be
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_tetrahedron_becomes_four),
        cmocka_unit_test(a_face_between_two_gets_a_vertex),
        cmocka_unit_test(an_edge_inside_gets_a_vertex),
        cmocka_unit_test(plates_and_cubes_of_cells_are_ready_afterwards),
        cmocka_unit_test(given_extents_stay_and_a_ready_mesh_is_not_split),
        cmocka_unit_test(extents_of_a_cube_are_its_depth),
        cmocka_unit_test(failed_requests_for_memory_are_told),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
