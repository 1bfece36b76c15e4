// SPDX-License-Identifier: Apache-2.0
// Bad meshes of tetrahedra: what is repaired and counted, what is refused, and what is said of it.
#include <stiction/mesh_query.h>

#include "mesh_lattice.h"

static stn_mesh *make(stn_context *context, const stn_mesh_data *data) {
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create(context, data, &mesh, &err), err);
    return mesh;
}

static void refuse(stn_context *context, const stn_mesh_data *data, const char *word) {
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_int_equal(stn_mesh_create(context, data, &mesh, &err), STN_ERR_ARGUMENT);
    assert_null(mesh);
    if (strstr(err.text, word) == NULL) {
        fail_msg("\"%s\" instead of \"%s\"", err.text, word);
    }
}

/// Six times the signed volume.
static double determinant(const double *vertices, const int32_t corner[4]) {
    stn_vec3 p[4];
    for (int32_t k = 0; k < 4; k++) {
        const double *v = vertices + 3 * (size_t)corner[k];
        p[k] = stn_vec3_make(v[0], v[1], v[2]);
    }
    return stn_vec3_dot(stn_vec3_sub(p[1], p[0]), stn_vec3_cross(stn_vec3_sub(p[2], p[0]), stn_vec3_sub(p[3], p[0])));
}

/// Corners of a Kuhn tetrahedron of edge 1: edges 1, 1, 1, sqrt 2, sqrt 2, sqrt 3, volume 1/6.
static void turned_tetrahedra_are_counted_and_the_least_quality_is_known(void **state) {
    stn_random r = {3};
    lattice l;
    fill_lattice(&l, &r);
    int32_t negative = 0;
    for (int32_t i = 0; i < TETRAHEDRA; i++) {
        negative += determinant(l.vertices, l.tetrahedra + 4 * i) < 0.0;
    }
    assert_true(negative > 10);
    stn_mesh *mesh = solid_mesh(*state, &l);
    const stn_solid_facts *f = &mesh->facts.solid;
    assert_int_equal(f->inverted_count, negative);
    assert_near(f->least_quality, 12.0 * pow(0.5, 2.0 / 3.0) / 10.0, 1e-14);
    assert_int_equal(f->part_count, 1);
    assert_int_equal(f->flat_count + f->duplicate_count + f->unused_count + f->touching_count + f->raised_count, 0);
    stn_mesh_release(mesh);
}

/// A flat tetrahedron over the square of a cell on the surface, both ways round, as meshers leave them.
static void flat_tetrahedra_on_the_surface_are_dropped(void **state) {
    stn_random r = {4};
    lattice l;
    fill_lattice(&l, &r);
    int32_t ids[4 * (TETRAHEDRA + 3)];
    memcpy(ids, l.tetrahedra, sizeof l.tetrahedra);
    const int32_t more[12] = {0, 1, SIDE + 1, SIDE + 2, 2, 1, SIDE + 2, SIDE + 3, 2, 2, 1, SIDE + 3};
    memcpy(ids + 4 * TETRAHEDRA, more, sizeof more);
    stn_mesh_data data = {NODES, 0, TETRAHEDRA + 3, l.vertices, NULL, ids, NULL};
    stn_mesh *mesh = make(*state, &data);
    assert_int_equal(mesh->facts.solid.flat_count, 3);
    assert_int_equal(mesh->tetrahedron_count, TETRAHEDRA);
    assert_int_equal(mesh->facts.tetrahedron_count, TETRAHEDRA + 3);
    assert_int_equal(mesh->facts.open_edge_count, 0);
    assert_near(mesh->facts.area, 6.0, 1e-13);
    assert_near(mesh->solid.mass, 1.0, 1e-14);
    stn_mesh_release(mesh);
}

/// Two roofs over a square, joined below and above along different diagonals, with a flat tetrahedron between.
static void a_flat_tetrahedron_between_two_others_is_refused(void **state) {
    const double v[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 0.5, 1, 0.5, 0.5, -1};
    const int32_t ids[] = {0, 1, 2, 4, 0, 2, 3, 4, 0, 1, 3, 5, 1, 2, 3, 5, 0, 1, 2, 3};
    stn_mesh_data data = {6, 0, 5, v, NULL, ids, NULL};
    refuse(*state, &data, "tetrahedron 4 (counted from 0) has no volume, and dropping it would tear");
    data.tetrahedron_count = 4; // without it the two halves touch in a square only: two solids
    stn_mesh *mesh = make(*state, &data);
    assert_int_equal(mesh->facts.solid.part_count, 2);
    stn_mesh_release(mesh);
}

/// Between two tetrahedra that share a face, one that is collapsed onto the face: two of its faces are that one.
static void a_collapsed_tetrahedron_inside_leaves_its_neighbours_joined(void **state) {
    const double v[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    const int32_t ids[] = {0, 1, 2, 3, 1, 1, 2, 3, 1, 2, 3, 4};
    stn_mesh_data data = {5, 0, 3, v, NULL, ids, NULL};
    stn_mesh *mesh = make(*state, &data);
    assert_int_equal(mesh->facts.solid.flat_count, 1);
    assert_int_equal(mesh->triangle_count, 6);
    assert_near(mesh->solid.mass, 0.5, 1e-15);
    stn_mesh_release(mesh);
}

/// Slivers are measured in the box of the mesh, so that a thin plate is not made of them.
static void slivers_go_but_thin_plates_stay(void **state) {
    stn_random r = {5};
    lattice l;
    fill_lattice(&l, &r);
    double vertices[3 * NODES + 3];
    memcpy(vertices, l.vertices, sizeof l.vertices);
    const double lifted[3] = {0.5 / SIDE, 0.5 / SIDE, -1e-11}; // below a triangle of the surface
    memcpy(vertices + 3 * NODES, lifted, sizeof lifted);
    int32_t ids[4 * (TETRAHEDRA + 1)];
    memcpy(ids, l.tetrahedra, sizeof l.tetrahedra);
    const int32_t more[4] = {0, 1, SIDE + 2, NODES};
    memcpy(ids + 4 * TETRAHEDRA, more, sizeof more);
    stn_mesh_data data = {NODES + 1, 0, TETRAHEDRA + 1, vertices, NULL, ids, NULL};
    stn_mesh *mesh = make(*state, &data), *thin = NULL;
    assert_int_equal(mesh->facts.solid.flat_count, 1);
    assert_int_equal(mesh->facts.solid.unused_count, 1);
    assert_int_equal(mesh->vertex_count, NODES);
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_scaled(mesh, stn_vec3_make(1.0, 1.0, 1e-9), &thin, &err), err);
    assert_int_equal(thin->tetrahedron_count, TETRAHEDRA);
    assert_int_equal(thin->facts.solid.flat_count, 1); // of the source
    assert_near(thin->solid.mass, 1e-9, 1e-22);
    assert_true(thin->facts.solid.least_quality < 1e-5);
    stn_mesh_release(thin);
    stn_mesh_release(mesh);
}

static void repeated_and_unused_ones_are_dropped_and_counted(void **state) {
    const double v[] = {9, 9, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 7, 7, 7};
    const int32_t ids[] = {1, 2, 3, 4, 4, 1, 2, 3, 2, 1, 3, 4};
    stn_mesh_data data = {6, 0, 3, v, NULL, ids, NULL};
    stn_mesh *mesh = make(*state, &data);
    assert_int_equal(mesh->facts.solid.duplicate_count, 2);
    assert_int_equal(mesh->facts.solid.unused_count, 2);
    assert_int_equal(mesh->tetrahedron_count, 1);
    assert_int_equal(mesh->vertex_count, 4);
    assert_near(mesh->solid.mass, 1.0 / 6.0, 1e-16);
    stn_mesh_release(mesh);
}

/// A pressure field is 0 wherever a solid touches itself, so touching is allowed; a face of three is not.
static void touching_parts_are_counted_and_overlapping_ones_refused(void **state) {
    const double v[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, 0, -1, 1, 1, 1, 0.3, 0.3, 0.1};
    const int32_t at_a_vertex[] = {0, 1, 2, 3, 0, 4, 5, 6}, at_an_edge[] = {0, 1, 2, 3, 0, 3, 4, 5},
                  three[] = {1, 2, 3, 0, 1, 2, 3, 7, 1, 2, 3, 8};
    stn_mesh_data data = {9, 0, 2, v, NULL, at_a_vertex, NULL};
    stn_mesh *mesh = make(*state, &data);
    assert_int_equal(mesh->facts.solid.part_count, 2);
    assert_int_equal(mesh->facts.solid.touching_count, 1);
    assert_int_equal(mesh->facts.open_edge_count, 0);
    assert_near(mesh->solid.mass, 1.0 / 3.0, 1e-15);
    stn_mesh_release(mesh);
    data.tetrahedra = at_an_edge;
    mesh = make(*state, &data);
    assert_int_equal(mesh->facts.solid.part_count, 2);
    assert_int_equal(mesh->facts.solid.touching_count, 2);
    assert_int_equal(mesh->facts.open_edge_count, 1); // four triangles share it
    assert_near(mesh->solid.mass, 1.0 / 3.0, 1e-15);
    stn_mesh_release(mesh);
    data.tetrahedra = three;
    data.tetrahedron_count = 3;
    refuse(*state, &data, "lie on the same side of a face that they share");
}

static bool has(const int32_t corner[4], int32_t vertex) {
    return corner[0] == vertex || corner[1] == vertex || corner[2] == vertex || corner[3] == vertex;
}

static void neighbours_across_faces_are_those_of_a_search(void **state) {
    stn_random r = {6};
    lattice l;
    fill_lattice(&l, &r);
    stn_mesh *mesh = solid_mesh(*state, &l);
    const int32_t *across = stn_mesh_across_faces(mesh);
    assert_non_null(across);
    assert_ptr_equal(across, stn_mesh_across_faces(mesh));
    int32_t boundary = 0;
    for (int32_t t = 0; t < mesh->tetrahedron_count; t++) {
        const int32_t *corner = mesh->tetrahedra + 4 * t;
        for (int32_t k = 0; k < 4; k++) {
            int32_t expected = -1;
            for (int32_t u = 0; u < mesh->tetrahedron_count; u++) {
                const int32_t *other = mesh->tetrahedra + 4 * u;
                int32_t shared = 0;
                for (int32_t i = 0; i < 4; i++) {
                    shared += i != k && has(other, corner[i]);
                }
                expected = u != t && shared == 3 ? u : expected;
            }
            assert_int_equal(across[4 * t + k], expected);
            boundary += expected < 0;
        }
    }
    assert_int_equal(boundary, mesh->triangle_count);
    stn_mesh_release(mesh);
}

static void tetrahedra_of_no_mesh_are_paired_and_three_at_a_face_refused(void **state) {
    const int32_t two[] = {0, 1, 2, 3, 1, 0, 2, 4}, three[] = {0, 1, 2, 3, 1, 0, 2, 4, 2, 5, 1, 0};
    const int32_t expected[] = {-1, -1, -1, 1, -1, -1, -1, 0};
    int32_t across[12];
    stn_error err = {STN_OK, ""};
    assert_ok(stn_tetrahedra_across(*state, two, 2, 5, across, &err), err);
    assert_memory_equal(across, expected, sizeof expected);
    assert_int_equal(stn_tetrahedra_across(*state, three, 3, 6, across, &err), STN_ERR_ARGUMENT);
    assert_string_equal(err.text, "3 tetrahedra share the face of vertices 0, 1, 2");
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
    assert_null(stn_mesh_across_faces(hull));
    stn_mesh_release(hull);
    stn_mesh_release(mesh);
    data.extents = extents; // no vertex is inside
    assert_int_equal(stn_mesh_create(*state, &data, &mesh, &err), STN_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turned_tetrahedra_are_counted_and_the_least_quality_is_known),
        cmocka_unit_test(flat_tetrahedra_on_the_surface_are_dropped),
        cmocka_unit_test(a_flat_tetrahedron_between_two_others_is_refused),
        cmocka_unit_test(a_collapsed_tetrahedron_inside_leaves_its_neighbours_joined),
        cmocka_unit_test(slivers_go_but_thin_plates_stay),
        cmocka_unit_test(repeated_and_unused_ones_are_dropped_and_counted),
        cmocka_unit_test(touching_parts_are_counted_and_overlapping_ones_refused),
        cmocka_unit_test(neighbours_across_faces_are_those_of_a_search),
        cmocka_unit_test(tetrahedra_of_no_mesh_are_paired_and_three_at_a_face_refused),
        cmocka_unit_test(findings_come_in_words_with_their_counts),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
