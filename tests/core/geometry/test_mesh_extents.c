// SPDX-License-Identifier: Apache-2.0
// Pressure fields of solids as they are given.
#include "mesh_lattice.h"

/// Distance from a point of the unit cube to its surface.
static double depth(const double *v) {
    double d = 0.5;
    for (int32_t k = 0; k < 3; k++) {
        d = fmin(d, fmin(v[k], 1.0 - v[k]));
    }
    return d;
}

static void fill(lattice *l, double extents[NODES]) {
    stn_random r = {11};
    fill_lattice(l, &r);
    for (int32_t i = 0; i < NODES; i++) {
        extents[i] = depth(l->vertices + 3 * i) * SIDE; // the deepest vertices are 1 / SIDE below
    }
}

static stn_mesh *with_extents(stn_context *context, const lattice *l, const double *extents) {
    stn_mesh_data data = {NODES, 0, TETRAHEDRA, l->vertices, NULL, l->tetrahedra, extents};
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    return mesh;
}

static void refuse(stn_context *context, const lattice *l, const double *extents, const char *word) {
    stn_mesh_data data = {NODES, 0, TETRAHEDRA, l->vertices, NULL, l->tetrahedra, extents};
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_int_equal(stn_mesh_create(context, &data, &mesh, &err), STN_ERR_ARGUMENT);
    assert_null(mesh);
    if (strstr(err.text, word) == NULL) {
        fail_msg("\"%s\" instead of \"%s\"", err.text, word);
    }
}

static void given_extents_are_carried_through_joining_and_scaling(void **state) {
    lattice l;
    double extents[NODES];
    fill(&l, extents);
    stn_mesh *mesh = with_extents(*state, &l, extents), *scaled = NULL;
    for (int32_t i = 0; i < NODES; i++) {
        assert_near(mesh->extents[i], extents[i], 1e-15);
    }
    assert_int_equal(mesh->facts.solid.raised_count, 0);
    stn_error err = {STN_OK, ""};
    assert_ok(stn_mesh_create_scaled(mesh, stn_vec3_make(-2.0, 3.0, 0.1), &scaled, &err), err);
    assert_memory_equal(scaled->extents, mesh->extents, NODES * sizeof(double));
    stn_mesh_release(scaled);
    stn_mesh_release(mesh);
}

static void cells_of_their_own_must_agree_where_they_meet(void **state) {
    const double v[] = {0,   0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.2, 0.2, 0.2, 0.2, 0.2,
                        0.2, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,   5,   5,   5};
    const int32_t ids[] = {0, 1, 2, 4, 6, 7, 8, 5, 0, 1, 3, 4, 9, 7, 8, 5};
    double extents[] = {0, 0, 0, 0, NAN, 1, 0, 0, 0, 0, NAN};
    stn_mesh_data data = {11, 0, 4, v, NULL, ids, extents};
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_int_equal(stn_mesh_create(*state, &data, &mesh, &err), STN_ERR_ARGUMENT); // a corner without
    extents[4] = 1.0;
    assert_ok(stn_mesh_create(*state, &data, &mesh, &err), err);
    assert_int_equal(mesh->vertex_count, 5);
    assert_int_equal(mesh->facts.solid.unused_count, 1); // whose extent does not matter
    assert_near(mesh->extents[4], 1.0, 0.0);
    stn_mesh_release(mesh);
    extents[5] = 0.5;
    assert_int_equal(stn_mesh_create(*state, &data, &mesh, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "vertices 4 and 5 (counted from 0) lie at one place, but have the extents 1 and"));
}

static void a_field_that_does_not_vanish_on_the_surface_is_repaired(void **state) {
    lattice l;
    double extents[NODES];
    fill(&l, extents);
    extents[0] = 0.3;
    extents[NODES - 1] = 1.0;
    extents[1] = 1e-8; // rounding
    stn_mesh *mesh = with_extents(*state, &l, extents);
    assert_int_equal(mesh->facts.solid.raised_count, 2);
    assert_near(mesh->extents[0], 0.0, 0.0);
    assert_near(mesh->extents[1], 0.0, 0.0);
    assert_near(mesh->extents[NODES - 1], 0.0, 0.0);
    stn_mesh_release(mesh);
}

static void fields_that_are_none_are_refused(void **state) {
    lattice l;
    double extents[NODES];
    fill(&l, extents);
    extents[7] = NAN;
    refuse(*state, &l, extents, "extent nan at vertex 7 (counted from 0)");
    extents[7] = INFINITY;
    refuse(*state, &l, extents, "extent inf at vertex 7");
    extents[7] = 1.5;
    refuse(*state, &l, extents, "extent 1.5 at vertex 7 (counted from 0) of tetrahedron");
    extents[7] = -0.25;
    refuse(*state, &l, extents, "extent -0.25 at vertex 7");
    for (int32_t i = 0; i < NODES; i++) {
        extents[i] = i == 0 ? 1.0 : 0.0;
    }
    refuse(*state, &l, extents, "its field is 0 at all vertices inside");
    const int32_t triangle[3] = {0, 1, 2};
    stn_mesh_data data = {3, 1, 0, l.vertices, triangle, NULL, extents};
    stn_mesh *mesh = NULL;
    stn_error err = {STN_OK, ""};
    assert_int_equal(stn_mesh_create(*state, &data, &mesh, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "extents of a surface"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_extents_are_carried_through_joining_and_scaling),
        cmocka_unit_test(cells_of_their_own_must_agree_where_they_meet),
        cmocka_unit_test(a_field_that_does_not_vanish_on_the_surface_is_repaired),
        cmocka_unit_test(fields_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
