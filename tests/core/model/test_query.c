// SPDX-License-Identifier: Apache-2.0
// What a builder answers, and lets be changed, before the model is compiled.
#include <math.h>
#include <string.h>

#include "stn_model_test.h"

/// Robots "a" (links p, q) and "b" (link p), each link with one sphere.
static stn_model_builder *two_robots(stn_context *context) {
    stn_model_builder *builder = new_builder(context);
    const char *const robots[] = {"a", "b"};
    for (int32_t r = 0; r < 2; r++) {
        begin_robot(builder, robots[r]);
        for (int32_t i = 0; i < 2 - r; i++) {
            int32_t link = add_link(builder, i == 0 ? "p" : "q", mass_of(1.0, stn_vec3_zero(), 1.0, 1.0, 1.0));
            add_shape(builder, link, stn_shape_sphere(0.1));
        }
        if (r == 0) {
            add_joint(builder, "j", STN_JOINT_FLOATING, 0, 1, stn_pose_identity(), stn_vec3_make(0.0, 0.0, 1.0));
        }
    }
    return builder;
}

static stn_context *new_context(void) {
    stn_error err = {0};
    stn_context *context = NULL;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    return context;
}

static void test_links_are_counted_and_found_within_their_robot(void **state) {
    (void)state;
    stn_context *context = new_context();
    stn_model_builder *builder = two_robots(context);
    int32_t start = -1, count = -1;
    stn_builder_group_links(builder, 0, &start, &count);
    assert_int_equal(start, 0);
    assert_int_equal(count, 2);
    stn_builder_group_links(builder, 1, &start, &count);
    assert_int_equal(start, 2);
    assert_int_equal(count, 1);
    stn_builder_group_links(builder, 2, &start, &count);
    assert_int_equal(count, 0);
    assert_int_equal(stn_builder_find_link(builder, 0, "q"), 1);
    assert_int_equal(stn_builder_find_link(builder, 1, "p"), 2);
    assert_int_equal(stn_builder_find_link(builder, 1, "q"), -1);
    assert_int_equal(stn_builder_find_link(builder, 7, "p"), -1);
    assert_int_equal(stn_builder_find_link(builder, -1, "q"), 1);
    assert_int_equal(stn_builder_find_link(builder, -1, "p"), -1);
    assert_int_equal(stn_builder_find_link(builder, -1, "b/p"), 2);
    assert_int_equal(stn_builder_group_count(builder), 2);
    assert_string_equal(stn_builder_group_name(builder, 1), "b");
    assert_string_equal(stn_builder_link_name(builder, 1), "q");
    assert_string_equal(stn_builder_group_name(builder, 2), "");
    assert_string_equal(stn_builder_link_name(builder, 3), "");
    stn_builder_destroy(builder);
    stn_context_destroy(context);
}

static void test_a_material_reaches_the_shapes_of_one_robot_and_only_its_set_members(void **state) {
    (void)state;
    stn_error err = {0};
    stn_context *context = new_context();
    stn_model_builder *builder = two_robots(context);
    stn_material first = stn_material_unset(), second = stn_material_unset();
    first.mu = 0.25;
    first.stiffness = 1e4;
    second.mu = 0.75;
    assert_ok(stn_builder_set_material(builder, 0, &first, &err), err);
    assert_ok(stn_builder_set_material(builder, 0, &second, &err), err);
    stn_model *model = NULL;
    assert_ok(stn_model_compile(builder, &model, &err), err);
    for (int32_t g = 0; g < 2; g++) {
        assert_near(model->geometries[g].material.mu, 0.75, 0.0);
        assert_near(model->geometries[g].material.stiffness, 1e4, 0.0);
        assert_true(isnan(model->geometries[g].material.dissipation));
    }
    assert_true(isnan(model->geometries[2].material.mu));
    stn_model_destroy(model);
    stn_builder_destroy(builder);
    stn_context_destroy(context);
}

static void test_a_field_reaches_the_shapes_of_one_robot_and_only_its_set_members(void **state) {
    (void)state;
    stn_error err = {0};
    stn_context *context = new_context();
    stn_model_builder *builder = two_robots(context);
    stn_field_spec first = stn_field_spec_unset(), second = first, bad = first, meshed = first;
    first.resolution = 0.01, first.margin = 1e-4;
    second.resolution = 0.02, second.thickness = 0.3;
    bad.resolution = -1.0;
    meshed.volume_mesh = 0;
    assert_ok(stn_builder_set_field(builder, 0, &first, &err), err);
    assert_ok(stn_builder_set_field(builder, 0, &second, &err), err);
    assert_int_equal(stn_builder_set_field(builder, 0, &bad, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "group 'a': resolution = -1 m must be > 0"));
    assert_int_equal(stn_builder_set_field(builder, 0, &meshed, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "a mesh is of one geometry"));
    assert_int_equal(stn_builder_set_field(builder, 5, &first, &err), STN_ERR_ARGUMENT);
    stn_model *model = NULL;
    assert_ok(stn_model_compile(builder, &model, &err), err);
    for (int32_t g = 0; g < 2; g++) {
        assert_near(model->geometries[g].field.resolution, 0.02, 0.0);
        assert_near(model->geometries[g].field.margin, 1e-4, 0.0);
        assert_near(model->geometries[g].field.thickness, 0.3, 0.0);
        assert_int_equal(model->geometries[g].field.volume_mesh, -1);
    }
    assert_true(isnan(model->geometries[2].field.resolution));
    stn_model_destroy(model);
    stn_builder_destroy(builder);
    stn_context_destroy(context);
}

static void test_a_bad_material_is_refused_and_changes_nothing(void **state) {
    (void)state;
    stn_error err = {0};
    stn_context *context = new_context();
    stn_model_builder *builder = two_robots(context);
    stn_material bad = stn_material_unset();
    bad.mu = -0.5;
    assert_true(stn_builder_set_material(builder, 0, &bad, &err) < 0);
    assert_non_null(strstr(err.text, "group 'a'"));
    assert_true(stn_builder_set_material(builder, 5, &bad, &err) < 0);
    stn_model *model = NULL;
    assert_ok(stn_model_compile(builder, &model, &err), err);
    assert_true(isnan(model->geometries[0].material.mu));
    stn_model_destroy(model);
    stn_builder_destroy(builder);
    stn_context_destroy(context);
}

static void test_places_of_the_description_reach_the_model(void **state) {
    (void)state;
    stn_error err = {0};
    stn_context *context = new_context();
    stn_model_builder *builder = new_builder(context);
    begin_robot(builder, "r");
    stn_mass mass = mass_of(1.0, stn_vec3_zero(), 1.0, 1.0, 1.0);
    stn_link_spec links[] = {{"root", mass, "r.urdf:2"}, {"welded", mass, "r.urdf:3"}, {"moved", mass, NULL}};
    int32_t index[3], joint = 0, shape = 0;
    for (int32_t i = 0; i < 3; i++) {
        assert_ok(stn_builder_add_link(builder, &links[i], &index[i], &err), err);
    }
    stn_joint_spec fixed = stn_joint_spec_default("f", STN_JOINT_FIXED),
                   moving = stn_joint_spec_default("j", STN_JOINT_BALL);
    char actuator[] = "motor", place[] = "r.urdf:7";
    fixed.parent = index[0], fixed.child = index[1], fixed.where = "r.urdf:5";
    moving.parent = index[0], moving.child = index[2], moving.where = "r.urdf:6", moving.actuator = actuator;
    assert_ok(stn_builder_add_joint(builder, &fixed, &joint, &err), err);
    assert_ok(stn_builder_add_joint(builder, &moving, &joint, &err), err);
    stn_geometry_spec ball = stn_geometry_spec_default(stn_shape_sphere(0.1));
    ball.where = place;
    assert_ok(stn_builder_add_geometry(builder, index[2], &ball, &shape, &err), err);
    memset(place, '?', sizeof place - 1); // texts are copied
    memset(actuator, '?', sizeof actuator - 1);
    stn_model *model = NULL;
    assert_ok(stn_model_compile(builder, &model, &err), err);
    assert_string_equal(model->links[index[0]].where, "r.urdf:2");
    assert_string_equal(model->links[index[0]].joint_where, "");
    assert_string_equal(model->links[index[1]].joint_where, "r.urdf:5");
    assert_string_equal(model->links[index[2]].where, "");
    assert_string_equal(model->links[index[2]].joint_where, "r.urdf:6");
    const stn_joint *found = &model->joints[stn_model_find_joint(model, 0, "j")];
    assert_string_equal(found->where, "r.urdf:6");
    assert_string_equal(found->actuator, "motor");
    assert_string_equal(model->geometries[shape].where, "r.urdf:7");
    stn_model_destroy(model);
    stn_builder_destroy(builder);
    stn_context_destroy(context);
}

/// At rest a joint's child frame is the joint frame; where a type says that its quaternion is, a unit one starts.
static void test_joint_types_say_how_they_rest(void **state) {
    (void)state;
    for (int32_t t = 0; t < STN_JOINT_COUNT; t++) {
        stn_joint_type type = (stn_joint_type)t;
        double q[8] = {7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0};
        int32_t nq = stn_joint_type_nq(type), quaternion = stn_joint_type_quaternion(type);
        bool turns = type == STN_JOINT_FLOATING || type == STN_JOINT_BALL;
        assert_int_equal(quaternion, !turns ? -1 : type == STN_JOINT_FLOATING ? 3 : 0);
        assert_int_equal(stn_joint_type_is_axial(type), nq == 1);
        for (int32_t i = 0; i < nq; i++) { // one coordinate needs no name
            assert_int_equal(stn_joint_coordinate_name(type, i)[0] == '\0', nq == 1);
        }
        assert_null(stn_joint_coordinate_name(type, nq));
        assert_null(stn_joint_velocity_name(type, stn_joint_type_nv(type)));
        assert_null(stn_joint_coordinate_name(type, -1));
        assert_true(quaternion < 0 || strcmp(stn_joint_coordinate_name(type, quaternion), "qw") == 0);
        assert_non_null(stn_joint_type_units(type));
        stn_joint_type_rest(type, q);
        for (int32_t i = 0; i < 8; i++) {
            assert_near(q[i], i >= nq ? 7.0 : i == quaternion ? 1.0 : 0.0, 0.0);
        }
    }
    assert_true(stn_joint_type_is_limited(STN_JOINT_SCREW) && !stn_joint_type_is_limited(STN_JOINT_CONTINUOUS));
    assert_true(stn_joint_type_has_axis(STN_JOINT_PLANAR) && !stn_joint_type_has_axis(STN_JOINT_UNIVERSAL));
    assert_int_equal(stn_joint_type_quaternion(STN_JOINT_COUNT), -1);
    assert_null(stn_joint_type_units(STN_JOINT_COUNT));
    assert_string_equal(stn_joint_velocity_name(STN_JOINT_PLANAR, 2), "rate");
    assert_string_equal(stn_joint_type_units(STN_JOINT_SCREW)->position, "rad");
    assert_string_equal(stn_joint_type_units(STN_JOINT_PRISMATIC)->effort, "N");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links_are_counted_and_found_within_their_robot),
        cmocka_unit_test(test_a_material_reaches_the_shapes_of_one_robot_and_only_its_set_members),
        cmocka_unit_test(test_a_field_reaches_the_shapes_of_one_robot_and_only_its_set_members),
        cmocka_unit_test(test_a_bad_material_is_refused_and_changes_nothing),
        cmocka_unit_test(test_places_of_the_description_reach_the_model),
        cmocka_unit_test(test_joint_types_say_how_they_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
