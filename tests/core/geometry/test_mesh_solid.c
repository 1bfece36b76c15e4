// SPDX-License-Identifier: Apache-2.0
// Meshes of tetrahedra: orientation, boundary, mass.
#include "mesh_lattice.h"

static double signed_volume(const stn_mesh *mesh, int32_t tetrahedron) {
    stn_vec3 p[4];
    for (int32_t k = 0; k < 4; k++) {
        const double *v = mesh->vertices + 3 * (size_t)mesh->tetrahedra[4 * tetrahedron + k];
        p[k] = stn_vec3_make(v[0], v[1], v[2]);
    }
    return stn_vec3_dot(stn_vec3_sub(p[1], p[0]), stn_vec3_cross(stn_vec3_sub(p[2], p[0]), stn_vec3_sub(p[3], p[0]))) /
           6.0;
}

static void a_cube_of_tetrahedra_has_its_surface_as_boundary(void **state) {
    stn_random r = {7};
    lattice l;
    fill_lattice(&l, &r);
    stn_mesh *mesh = solid_mesh(*state, &l);
    assert_int_equal(mesh->vertex_count, NODES);
    assert_int_equal(mesh->tetrahedron_count, TETRAHEDRA);
    assert_int_equal(mesh->triangle_count, 6 * 2 * SIDE * SIDE);
    assert_int_equal(mesh->facts.triangle_count, mesh->triangle_count);
    assert_int_equal(mesh->facts.tetrahedron_count, TETRAHEDRA);
    assert_int_equal(mesh->facts.open_edge_count, 0);
    assert_near(mesh->facts.area, 6.0, 1e-13); // thirds are rounded
    for (int32_t i = 0; i < TETRAHEDRA; i++) {
        assert_near(signed_volume(mesh, i), 1.0 / TETRAHEDRA, 1e-16);
    }
    for (int32_t i = 0; i < mesh->triangle_count; i++) { // one coordinate 0 or 1, the normal outward along it
        stn_vec3 n = mesh_normal(mesh, i), out = stn_vec3_sub(mesh_corner(mesh, i, 0), stn_vec3_make(0.5, 0.5, 0.5));
        assert_near(stn_vec3_dot(n, out), 0.5 * stn_vec3_norm(n), 1e-15);
    }
    stn_mass expected = box_solid(stn_vec3_zero(), stn_vec3_make(1.0, 1.0, 1.0));
    assert_same_solid(&mesh->solid, &expected, 1e-14);
    assert_near(mesh->facts.volume, 1.0, 1e-14);
    stn_mesh_release(mesh);
}

static void a_mirrored_solid_is_positive_again(void **state) {
    stn_random r = {8};
    lattice l;
    fill_lattice(&l, &r);
    stn_mesh *mesh = solid_mesh(*state, &l), *scaled = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_scaled(mesh, stn_vec3_make(-2.0, 3.0, 0.5), &scaled, &err), err);
    for (int32_t i = 0; i < TETRAHEDRA; i++) {
        assert_near(signed_volume(scaled, i), 3.0 / TETRAHEDRA, 1e-15);
    }
    assert_near(mesh_cone_volume(scaled), 3.0, 1e-13);
    stn_mass expected = box_solid(stn_vec3_make(-2.0, 0.0, 0.0), stn_vec3_make(0.0, 3.0, 0.5));
    assert_same_solid(&scaled->solid, &expected, 1e-13);
    assert_near(scaled->facts.area, 2.0 * (6.0 + 1.0 + 1.5), 1e-13);
    stn_mesh_release(scaled);
    stn_mesh_release(mesh);
}

static void the_hull_of_a_solid_is_that_of_its_boundary(void **state) {
    stn_random r = {9};
    lattice l;
    fill_lattice(&l, &r);
    stn_mesh *mesh = solid_mesh(*state, &l), *hull = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    assert_int_equal(hull->vertex_count, 8);
    assert_int_equal(hull->tetrahedron_count, 0);
    assert_near(hull->solid.mass, 1.0, 1e-14);
    stn_mesh_release(hull);
    stn_mesh_release(mesh);
}

static void cells_with_vertices_of_their_own_are_joined(void **state) {
    const double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, /* the other side of the same face */
                               1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    const int32_t tetrahedra[] = {0, 1, 2, 3, 4, 5, 6, 7}, triangle[] = {0, 1, 2};
    stn_mesh_data data = {8, 1, 2, vertices, triangle, tetrahedra, NULL};
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create(*state, &data, &mesh, &err), err);
    assert_int_equal(mesh->vertex_count, 5);
    assert_int_equal(mesh->triangle_count, 6); // the given one does not count beside tetrahedra
    assert_near(mesh->solid.mass, 0.5, 1e-15);
    stn_mesh_release(mesh);
}

static void overlapping_tetrahedra_are_refused_by_number(void **state) {
    const double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.3, 0.3, 0.2, 0.1, 0.2, 0, 0.3, 0.2, -1};
    static const struct {
        int32_t count, ids[12];
        const char *word;
    } bad[] = {
        {1, {0, 1, 2, 5}, "none of its 1 tetrahedra has a volume"},
        {2, {0, 1, 2, 3, 2, 1, 0, 4}, "same side"},
        {3, {0, 1, 2, 3, 3, 0, 1, 2, 4, 1, 2, 0}, "tetrahedra 0 and 2"}, // numbers as they were given
        {3, {0, 1, 2, 3, 0, 1, 2, 6, 0, 1, 2, 4}, "same side"},
    };
    for (int32_t i = 0; i < STN_COUNT(bad); i++) {
        stn_mesh_data data = {7, 0, bad[i].count, vertices, NULL, bad[i].ids, NULL};
        stn_mesh *mesh = NULL;
        stn_error err = {STN_OK, ""};
        assert_int_equal(stn_mesh_create(*state, &data, &mesh, &err), STN_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, bad[i].word));
        assert_null(mesh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_of_tetrahedra_has_its_surface_as_boundary),
        cmocka_unit_test(a_mirrored_solid_is_positive_again),
        cmocka_unit_test(the_hull_of_a_solid_is_that_of_its_boundary),
        cmocka_unit_test(cells_with_vertices_of_their_own_are_joined),
        cmocka_unit_test(overlapping_tetrahedra_are_refused_by_number),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
