// SPDX-License-Identifier: Apache-2.0
// Surfaces of nodes: vertices, edges and owners, what is refused by name, whom they may touch, and materials of pairs.
#include <stdlib.h>
#include <string.h>

#include "stn_model_test.h"

/// A cube of 8 nodes and 12 triangles that look out, before a node that no triangle has.
static const double cube[27] = {9, 9, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1};
static const int32_t faces[36] = {1, 3, 2, 2, 3, 4, 5, 6, 7, 6, 8, 7, 1, 2, 5, 2, 6, 5,
                                  3, 7, 4, 4, 7, 8, 1, 5, 3, 3, 5, 7, 2, 4, 6, 4, 8, 6};

typedef struct fixture {
    stn_context *context;
    stn_model_builder *builder;
    stn_model *model;
    int32_t cloud;
    stn_surface_spec spec;
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    stn_error err;
    assert_non_null(f);
    assert_ok(stn_context_create(NULL, &f->context, &err), err);
    f->builder = new_builder(f->context);
    double mass[9];
    for (int32_t i = 0; i < 9; i++) {
        mass[i] = 0.1;
    }
    const stn_nodes_spec nodes = {
        .name = "jelly", .node_count = 9, .position = cube, .mass = mass, .material = stn_material_unset()};
    assert_ok(stn_builder_add_nodes(f->builder, &nodes, &f->cloud, &err), err);
    f->spec = stn_surface_spec_default();
    f->spec.name = "skin";
    f->spec.where = "jelly.lua:3";
    f->spec.triangle_count = 12;
    f->spec.triangles = faces;
    f->spec.solid = true;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    stn_model_destroy(f->model);
    stn_builder_destroy(f->builder);
    stn_context_destroy(f->context);
    free(f);
    return 0;
}

static int32_t add(fixture *f, const stn_surface_spec *spec) {
    int32_t geometry = -1;
    stn_error err;
    assert_ok(stn_builder_add_surface(f->builder, f->cloud, spec, &geometry, &err), err);
    return geometry;
}

static void compile(fixture *f) {
    stn_error err;
    assert_ok(stn_model_compile(f->builder, &f->model, &err), err);
}

static void every_part_has_one_owner(void **state) {
    fixture *f = *state;
    int32_t geometry = add(f, &f->spec);
    compile(f);
    assert_int_equal(f->model->surface_count, 1);
    const stn_surface *s = &f->model->surfaces[0];
    const stn_geometry *g = &f->model->geometries[geometry];
    assert_true(g->shape.type == STN_SHAPE_SURFACE && g->surface == 0 && g->body == -1 && g->link == -1);
    assert_true(s->geometry == geometry && s->tree == 0 && g->node == s->vertex[0]);
    assert_int_equal(s->vertex_count, 8);
    assert_int_equal(s->edge_count, 18); // Euler: V - E + F = 2
    for (int32_t i = 0; i < 8; i++) {
        assert_int_equal(s->vertex[i], i + 1);
        assert_near(s->rest[i].x, cube[3 * (i + 1)], 0.0);
        bool has = false; // its owner has it, and none before
        for (int32_t t = 0; t < 12; t++) {
            bool own = s->triangle[3 * t] == i || s->triangle[3 * t + 1] == i || s->triangle[3 * t + 2] == i;
            assert_true(t >= s->vertex_owner[i] || !own);
            has = has || (own && t == s->vertex_owner[i]);
        }
        assert_true(has);
    }
    int32_t sides[18] = {0};
    for (int32_t i = 0; i < 36; i++) {
        int32_t e = s->triangle_edge[i], a = s->triangle[i], b = s->triangle[i / 3 * 3 + (i + 1) % 3];
        assert_true(s->edge[2 * e] == (a < b ? a : b) && s->edge[2 * e + 1] == (a < b ? b : a));
        assert_true(s->edge_triangle[2 * e] == i / 3 || s->edge_triangle[2 * e + 1] == i / 3);
        assert_true(s->edge_triangle[2 * e] < s->edge_triangle[2 * e + 1]);
        sides[e]++;
    }
    for (int32_t e = 0; e < 18; e++) {
        assert_int_equal(sides[e], 2);
    }
}

static void refuse(fixture *f, const stn_surface_spec *spec, const char *part) {
    int32_t geometry = -1;
    stn_error err;
    assert_int_equal(stn_builder_add_surface(f->builder, f->cloud, spec, &geometry, &err), STN_ERR_ARGUMENT);
    assert_int_equal(geometry, -1);
    if (strstr(err.text, part) == NULL || strstr(err.text, "nodes 'jelly', surface 'skin' (jelly.lua:3)") == NULL) {
        fail_msg("no \"%s\" in: %s", part, err.text);
    }
}

static void what_is_wrong_is_named(void **state) {
    fixture *f = *state;
    stn_surface_spec s = f->spec;
    int32_t triangles[36], geometry = -1;
    stn_error err;
    s.triangle_count = 11;
    refuse(f, &s, "the edge between nodes 4 and 6 has one triangle, so the surface is not closed");
    s.triangle_count = 0;
    refuse(f, &s, "triangle_count = 0 must be 1 to");
    s = f->spec;
    s.thickness = -1e-3;
    refuse(f, &s, "thickness = -0.001 m");
    s.thickness = NAN;
    refuse(f, &s, "thickness = nan m");
    s = f->spec;
    s.material.mu = -1.0;
    refuse(f, &s, "mu");
    s = f->spec;
    s.self_collision = true;
    s.category = 2;
    s.mask = 1;
    refuse(f, &s, "self_collision: its category 2 does not meet its own mask 1");
    s = f->spec;
    s.triangles = triangles;
    memcpy(triangles, faces, sizeof faces);
    triangles[4] = 9;
    refuse(f, &s, "triangle 1 names node 9 (9 nodes)");
    triangles[4] = -1;
    refuse(f, &s, "triangle 1 names node -1");
    triangles[4] = triangles[3];
    refuse(f, &s, "triangle 1 (nodes 2, 2, 4) has no area");
    memcpy(triangles, faces, sizeof faces);
    triangles[0] = faces[1];
    triangles[1] = faces[0];
    refuse(f, &s, "has two triangles that look to different sides");
    for (int32_t i = 0; i < 36; i++) {
        triangles[i] = faces[i / 3 * 3 + 2 - i % 3];
    }
    refuse(f, &s, "enclose -1 m^3");
    s.solid = false;
    memcpy(triangles, faces, sizeof faces);
    triangles[0] = 2, triangles[1] = 5, triangles[2] = 8; // a third one at the edge of 2 and 5
    memcpy(triangles + 3, faces + 12, 6 * sizeof *faces);
    s.triangle_count = 3;
    refuse(f, &s, "the edge between nodes 2 and 5 has more than two triangles");
    assert_int_equal(stn_builder_add_surface(f->builder, 1, &f->spec, &geometry, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "there is no cloud of nodes 1 (1 clouds)"));
    stn_geometry_spec shape = stn_geometry_spec_default((stn_shape){.type = STN_SHAPE_SURFACE, .radius = 0.1});
    assert_int_equal(stn_builder_add_geometry(f->builder, STN_WORLD, &shape, &geometry, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "stn_builder_add_surface"));
    stn_material material = stn_material_unset();
    assert_int_equal(stn_builder_set_contact_material(f->builder, STN_SURFACE_LINK(0), STN_ANY, &material, &err),
                     STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "there is no surface 0 (0 surfaces)"));
}

/// A surface never meets spheres of its own nodes, itself and others of its cloud only where both say so, the world and
/// other clouds always.
static void whom_it_may_touch(void **state) {
    fixture *f = *state;
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    stn_error err;
    int32_t world = -1, other_cloud = -1;
    assert_ok(stn_builder_add_geometry(f->builder, STN_WORLD, &ground, &world, &err), err);
    const double mass[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const stn_nodes_spec nodes = {.name = "balls",
                                  .node_count = 9,
                                  .position = cube,
                                  .mass = mass,
                                  .contact_radius = 0.01,
                                  .material = stn_material_unset()};
    assert_ok(stn_builder_add_nodes(f->builder, &nodes, &other_cloud, &err), err);
    int32_t plain = add(f, &f->spec);
    f->spec.self_collision = true;
    int32_t own = add(f, &f->spec), another = add(f, &f->spec), on_balls = -1;
    assert_ok(stn_builder_add_surface(f->builder, other_cloud, &f->spec, &on_balls, &err), err);
    compile(f);
    const stn_model *m = f->model;
    int32_t ball = m->geometry_count - 1;
    assert_true(m->geometries[ball].node == 17 && m->geometries[ball].shape.type == STN_SHAPE_SPHERE);
    assert_true(stn_model_may_collide(m, world, plain) && stn_model_may_collide(m, world, own));
    assert_true(stn_model_may_collide(m, own, own) && stn_model_may_collide(m, own, another));
    assert_false(stn_model_may_collide(m, plain, plain) || stn_model_may_collide(m, plain, own));
    assert_true(stn_model_may_collide(m, own, on_balls) && stn_model_may_collide(m, plain, on_balls));
    assert_true(stn_model_may_collide(m, own, ball));
    assert_false(stn_model_may_collide(m, on_balls, ball));
    assert_false(stn_model_may_collide(m, world, world) || stn_model_may_collide(m, ball, ball));
}

static void regions_have_materials_of_their_own_and_pairs_override_them(void **state) {
    fixture *f = *state;
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    ground.material.mu = 0.5;
    stn_error err;
    int32_t world = -1;
    assert_ok(stn_builder_add_geometry(f->builder, STN_WORLD, &ground, &world, &err), err);
    f->spec.material.mu = 0.5;
    int32_t first = add(f, &f->spec);
    f->spec.material.mu = 1.5;
    int32_t second = add(f, &f->spec);
    stn_material pair = stn_material_unset();
    pair.mu = 0.125;
    assert_ok(stn_builder_set_contact_material(f->builder, STN_WORLD, STN_SURFACE_LINK(1), &pair, &err), err);
    pair = stn_material_unset();
    pair.stiffness = 1e4;
    assert_ok(stn_builder_set_contact_material(f->builder, STN_SURFACE_LINK(0), STN_ANY, &pair, &err), err);
    compile(f);
    assert_near(stn_model_pair_material(f->model, world, first).value.mu, 0.5, 1e-15);
    assert_near(stn_model_pair_material(f->model, world, second).value.mu, 0.125, 0.0);
    assert_near(stn_model_pair_material(f->model, first, second).value.mu, 0.75, 1e-15);
    assert_near(stn_model_pair_material(f->model, world, first).value.stiffness, 1e4, 0.0);
    assert_near(stn_model_pair_material(f->model, first, second).value.stiffness, 1e4, 0.0);
    assert_true(isinf(stn_model_pair_material(f->model, world, second).value.stiffness));
}

/// A group that is discarded takes its surfaces along.
static void discarding_a_group_discards_its_surfaces(void **state) {
    fixture *f = *state;
    int32_t kept = add(f, &f->spec), group = begin_robot(f->builder, "bad"), gone = add(f, &f->spec);
    assert_int_equal(gone, kept + 1);
    stn_builder_discard(f->builder, group);
    f->spec.name = "second";
    assert_int_equal(add(f, &f->spec), gone);
    compile(f);
    assert_int_equal(f->model->surface_count, 2);
    assert_string_equal(f->model->geometries[f->model->surfaces[1].geometry].name, "second");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_part_has_one_owner, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(whom_it_may_touch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(regions_have_materials_of_their_own_and_pairs_override_them, set_up, tear_down),
        cmocka_unit_test_setup_teardown(discarding_a_group_discards_its_surfaces, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
