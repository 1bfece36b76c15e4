// SPDX-License-Identifier: Apache-2.0
// Tetrahedra that are split so that a field is positive inside each, and what is said of repairs.
#include <stiction/mesh_query.h>

#include "mesh_lattice.h"

static stn_mesh *make(stn_context *context, const stn_mesh_data *data) {
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create(context, data, &mesh, &err), err);
    return mesh;
}

static double volume(const stn_mesh *mesh, int32_t t) {
    const int32_t *v = mesh->tetrahedra + 4 * (size_t)t;
    stn_vec3 o = mesh_vertex_at(mesh, v[0]), e[3];
    for (int32_t k = 0; k < 3; k++) {
        e[k] = stn_vec3_sub(mesh_vertex_at(mesh, v[k + 1]), o);
    }
    return stn_vec3_dot(e[0], stn_vec3_cross(e[1], e[2])) / 6.0;
}

/// Conforming: made anew from its numbers it is the same solid with the same boundary, so that every face inside is
/// shared by two. Every edge and face inside, and every tetrahedron, has a vertex where the field is positive.
static void assert_ready(stn_context *context, const stn_mesh *mesh, const stn_mesh *ready) {
    assert_non_null(ready->extents);
    assert_true(ready->tetrahedron_count <= 9 * mesh->tetrahedron_count);
    assert_int_equal(ready->triangle_count, mesh->triangle_count);
    assert_memory_equal(ready->triangles, mesh->triangles, 12 * (size_t)mesh->triangle_count);
    assert_memory_equal(ready->vertices, mesh->vertices, 24 * (size_t)mesh->vertex_count);
    double sum = 0.0;
    for (int32_t t = 0; t < ready->tetrahedron_count; t++) {
        const int32_t *v = ready->tetrahedra + 4 * (size_t)t;
        assert_true(volume(ready, t) > 0.0);
        sum += volume(ready, t);
        assert_true(fmax(fmax(ready->extents[v[0]], ready->extents[v[1]]),
                         fmax(ready->extents[v[2]], ready->extents[v[3]])) > 0.0);
    }
    assert_near(sum, mesh->solid.mass, 1e-13 * mesh->solid.mass);
    const int32_t *across = stn_mesh_across_faces(ready);
    for (int32_t i = 0; i < 4 * ready->tetrahedron_count; i++) {
        double most = 0.0;
        for (int32_t k = 0; k < 4; k++) {
            most = k != i % 4 ? fmax(most, ready->extents[ready->tetrahedra[4 * (i / 4) + k]]) : most;
        }
        assert_true((across[i] < 0) == (most == 0.0));
    }
    stn_mesh_data data = {.vertex_count = ready->vertex_count,
                          .tetrahedron_count = ready->tetrahedron_count,
                          .vertices = ready->vertices,
                          .tetrahedra = ready->tetrahedra};
    stn_mesh *again = make(context, &data);
    assert_int_equal(again->triangle_count, mesh->triangle_count);
    assert_int_equal(again->vertex_count, ready->vertex_count);
    assert_int_equal(again->facts.solid.flat_count, 0);
    stn_mesh_release(again);
}

static stn_mesh *ready_of(stn_context *context, const stn_mesh *mesh) {
    stn_mesh *ready = NULL, *again = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_field_ready(mesh, &ready, &err), err);
    assert_ready(context, mesh, ready);
    assert_ok(stn_mesh_create_field_ready(mesh, &again, &err), err);
    assert_memory_equal(ready->tetrahedra, again->tetrahedra, 16 * (size_t)ready->tetrahedron_count);
    assert_memory_equal(ready->extents, again->extents, 8 * (size_t)ready->vertex_count);
    stn_mesh_release(again);
    return ready;
}

/// At the centroid, the only vertex inside.
static void one_tetrahedron_becomes_four(void **state) {
    const double v[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int32_t ids[] = {0, 1, 2, 3};
    stn_mesh_data data = {4, 0, 1, v, NULL, ids, NULL};
    stn_mesh *mesh = make(*state, &data), *ready = ready_of(*state, mesh);
    assert_int_equal(ready->tetrahedron_count, 4);
    assert_int_equal(ready->vertex_count, 5);
    for (int32_t k = 0; k < 3; k++) {
        assert_near(ready->vertices[12 + k], 0.25, 1e-16);
    }
    assert_near(ready->extents[4], 1.0, 0.0);
    stn_mesh_release(ready);
    stn_mesh_release(mesh);
}

/// Two that share a face: the face gets a vertex, and each becomes three.
static void a_face_between_two_gets_a_vertex(void **state) {
    const double v[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    const int32_t ids[] = {0, 1, 2, 3, 1, 2, 3, 4};
    stn_mesh_data data = {5, 0, 2, v, NULL, ids, NULL};
    stn_mesh *mesh = make(*state, &data), *ready = ready_of(*state, mesh);
    assert_int_equal(ready->tetrahedron_count, 6);
    assert_int_equal(ready->vertex_count, 6);
    for (int32_t k = 0; k < 3; k++) {
        assert_near(ready->vertices[15 + k], 1.0 / 3.0, 1e-16);
    }
    stn_mesh_release(ready);
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
    stn_mesh *mesh = make(*state, &data), *ready = ready_of(*state, mesh);
    assert_int_equal(ready->tetrahedron_count, 12);
    assert_int_equal(ready->vertex_count, 9);
    assert_near(ready->extents[8], 1.0, 0.0);
    stn_mesh_release(ready);
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
        stn_mesh *mesh = make(*state, &data), *ready = ready_of(*state, mesh);
        assert_true(ready->tetrahedron_count > count);
        stn_mesh_release(ready);
        stn_mesh_release(mesh);
    }
}

static void given_extents_stay_and_a_ready_mesh_is_not_split(void **state) {
    const double v[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.2, 0.2, 0.2}, extents[] = {0, 0, 0, 0, 0.75};
    const int32_t ids[] = {0, 1, 2, 4, 0, 1, 3, 4, 0, 2, 3, 4, 1, 2, 3, 4};
    stn_mesh_data data = {5, 0, 4, v, NULL, ids, extents};
    stn_mesh *mesh = make(*state, &data), *ready = ready_of(*state, mesh), *hull = NULL, *none = NULL;
    assert_int_equal(ready->tetrahedron_count, 4);
    assert_near(ready->extents[4], 0.75, 0.0);
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    assert_int_equal(stn_mesh_create_field_ready(hull, &none, &err), STN_ERR_ARGUMENT);
    assert_null(none);
    stn_mesh_release(hull);
    stn_mesh_release(ready);
    stn_mesh_release(mesh);
}

static void findings_come_in_words_with_their_counts(void **state) {
    const double v[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, 0, -1, 9, 9, 9},
                 extents[] = {0.5, 0, 0, 0, 0, 0, 0, 0};
    const int32_t ids[] = {0, 1, 2, 3, 0, 4, 5, 6, 1, 0, 3, 2, 0, 1, 2, 2};
    stn_mesh_data data = {8, 0, 4, v, NULL, ids, NULL};
    static const struct {
        bool warning;
        const char *code, *part;
    } expected[] = {{true, "inverted_tetrahedra", "1 of 4 tetrahedra are inverted: turned round"},
                    {true, "flat_tetrahedra", "1 of 4 tetrahedra have no volume"},
                    {true, "repeated_tetrahedra", "1 of 4 tetrahedra repeat"},
                    {false, "touching_surface", "touches itself at 1 vertices"},
                    {false, "parts", "2 parts"},
                    {false, "unused_vertices", "1 vertices"}};
    stn_mesh *mesh = make(*state, &data), *hull = NULL;
    stn_error err = {STN_OK, ""};
    stn_mesh_finding found;
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    for (int32_t i = 0; i < STN_COUNT(expected); i++) {
        assert_true(stn_mesh_finding_of(i % 2 == 0 ? mesh : hull, i, &found));
        assert_string_equal(found.code, expected[i].code);
        assert_int_equal(found.warning, expected[i].warning);
        assert_non_null(strstr(found.text, expected[i].part));
    }
    assert_false(stn_mesh_finding_of(mesh, STN_COUNT(expected), &found));
    assert_false(stn_mesh_finding_of(mesh, -1, &found));
    stn_mesh_release(hull);
    stn_mesh_release(mesh);
    data.extents = extents; // no vertex is inside
    assert_int_equal(stn_mesh_create(*state, &data, &mesh, &err), STN_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_tetrahedron_becomes_four),
        cmocka_unit_test(a_face_between_two_gets_a_vertex),
        cmocka_unit_test(an_edge_inside_gets_a_vertex),
        cmocka_unit_test(plates_and_cubes_of_cells_are_ready_afterwards),
        cmocka_unit_test(given_extents_stay_and_a_ready_mesh_is_not_split),
        cmocka_unit_test(findings_come_in_words_with_their_counts),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
