// SPDX-License-Identifier: Apache-2.0
// What compiling refuses, and what it does without memory.
#include "compile_fixture.h"

/// Compiling fails with a line that says all these words, and again: the builder is unchanged.
static void expect_refusal(fixture *f, const char *const *words) {
    for (int32_t round = 0; round < 2; round++) {
        stn_error err;
        stn_model *model = NULL;
        expect_error(stn_model_compile(f->builder, &model, &err), &err, words);
        assert_null(model);
    }
}

// ------------------------------------------------------------------------------------------------------- refusals

static void loops_name_their_joints(void **state) {
    fixture *f = *state;
    begin_robot(f->builder, "r");
    add_link(f->builder, "root", one_kg());
    int32_t l[4];
    for (int32_t i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "l%d", i);
        l[i] = add_link(f->builder, name, one_kg());
    }
    add_joint(f->builder, "tail", STN_JOINT_REVOLUTE, l[0], l[3], stn_pose_identity(), Z);
    for (int32_t i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "loop%d", i);
        add_joint(f->builder, name, STN_JOINT_REVOLUTE, l[i], l[(i + 1) % 3], stn_pose_identity(), Z);
    }
    expect_refusal(f, WORDS("group 'r'", "'loop0'", "'loop1'", "'loop2'", "loop"));
    stn_error err;
    stn_model *model = NULL;
    stn_model_compile(f->builder, &model, &err);
    assert_null(strstr(err.text, "tail"));
}

static void two_parents_are_refused(void **state) {
    fixture *f = *state;
    begin_robot(f->builder, "r");
    int32_t a = add_link(f->builder, "a", one_kg()), b = add_link(f->builder, "b", one_kg());
    add_joint(f->builder, "j1", STN_JOINT_REVOLUTE, a, b, stn_pose_identity(), Z);
    add_joint(f->builder, "j2", STN_JOINT_REVOLUTE, a, b, stn_pose_identity(), Z);
    expect_refusal(f, WORDS("group 'r', link 'b'", "'j1'", "'j2'"));
}

static void two_roots_are_refused_by_name(void **state) {
    fixture *f = *state;
    begin_robot(f->builder, "r");
    add_link(f->builder, "a", one_kg());
    int32_t b = add_link(f->builder, "b", one_kg());
    expect_refusal(f, WORDS("group 'r'", "2 root links", "'a'", "'b'"));
    add_joint(f->builder, "j", STN_JOINT_REVOLUTE, STN_WORLD, b, stn_pose_identity(), Z);
    expect_refusal(f, WORDS("2 root links", "'a'", "'b'"));
}

static void robot_without_links_is_refused(void **state) {
    fixture *f = *state;
    begin_robot(f->builder, "ghost");
    expect_refusal(f, WORDS("group 'ghost'", "no links"));
}

static void a_height_field_may_stand_but_not_move(void **state) {
    fixture *f = *state;
    const double heights[4] = {0.0, 0.1, 0.2, 0.0};
    const stn_height_field_spec field = {2, 2, 1.0, 1.0, heights};
    stn_mesh *mesh = NULL;
    stn_model *model = NULL;
    stn_error err;
    assert_ok(stn_mesh_create_height_field(f->context, &field, &mesh, &err), err);
    stn_geometry_spec spec = stn_geometry_spec_default(stn_shape_mesh(mesh));
    int32_t robot = begin_robot(f->builder, "hill"), link = add_link(f->builder, "top", one_kg()), geometry;
    assert_int_equal(stn_builder_add_geometry(f->builder, link, &spec, &geometry, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "no mesh"));
    assert_ok(stn_builder_add_mesh(f->builder, NULL, stn_vec3_make(1.0, 1.0, 1.0), mesh, &spec.mesh, &err), err);
    stn_mesh_release(mesh);
    spec.where = "hill.lua:3";
    assert_ok(stn_builder_add_geometry(f->builder, link, &spec, &geometry, &err), err);
    expect_refusal(f, WORDS("hill.lua:3", "group 'hill'", "link 'top'", "height field", "cannot move"));
    stn_pose here = stn_pose_identity();
    assert_ok(stn_builder_set_base(f->builder, robot, &here, true, &err), err);
    assert_ok(stn_model_compile(f->builder, &model, &err), err);
    assert_true(model->geometries[0].shape.type == STN_SHAPE_HEIGHT_FIELD && model->geometries[0].body == 0);
    stn_model_destroy(model);
}

static void duplicate_names_are_refused_with_a_proposal(void **state) {
    fixture *f = *state;
    begin_robot(f->builder, "r");
    int32_t a = add_link(f->builder, "a", one_kg());
    stn_error err;
    stn_link_spec spec = {"a", one_kg(), "r.urdf:9"};
    int32_t b = -1;
    assert_ok(stn_builder_add_link(f->builder, &spec, &b, &err), err);
    add_joint(f->builder, "j", STN_JOINT_REVOLUTE, a, b, stn_pose_identity(), Z);
    expect_refusal(f, WORDS("link 'a' (r.urdf:9)", "unique", "'a_2'"));
}

static void duplicate_joint_names_are_refused_within_one_robot_only(void **state) {
    fixture *f = *state;
    for (int32_t r = 0; r < 2; r++) {
        begin_robot(f->builder, r == 0 ? "one" : "two");
        int32_t a = add_link(f->builder, "a", one_kg()), b = add_link(f->builder, "b", one_kg());
        add_joint(f->builder, "j", STN_JOINT_REVOLUTE, a, b, stn_pose_identity(), Z);
    }
    stn_model *model = compile_model(f->builder);
    stn_model_destroy(model);
    begin_robot(f->builder, "three");
    int32_t a = add_link(f->builder, "a", one_kg()), b = add_link(f->builder, "b", one_kg());
    int32_t c = add_link(f->builder, "c", one_kg());
    add_joint(f->builder, "j", STN_JOINT_REVOLUTE, a, b, stn_pose_identity(), Z);
    add_joint(f->builder, "j", STN_JOINT_REVOLUTE, b, c, stn_pose_identity(), Z);
    expect_refusal(f, WORDS("group 'three', joint 'j'", "unique"));
}

/// Robot with joints 0 .. n - 1 in a chain, joint i mimics targets[i].
static void build_mimics(fixture *f, const int32_t *targets, int32_t n, stn_joint_type first_type) {
    int32_t previous = -1;
    char name[16];
    stn_builder_discard(f->builder, 0);
    begin_robot(f->builder, "r");
    for (int32_t i = 0; i <= n; i++) {
        snprintf(name, sizeof name, "l%d", i);
        int32_t link = add_link(f->builder, name, one_kg());
        if (i > 0) {
            snprintf(name, sizeof name, "j%d", i - 1);
            stn_joint_spec spec = stn_joint_spec_default(name, i == 1 ? first_type : STN_JOINT_REVOLUTE);
            spec.parent = previous, spec.child = link, spec.mimic = targets[i - 1];
            add_joint_spec(f->builder, &spec);
        }
        previous = link;
    }
}

static void bad_mimics_are_refused(void **state) {
    fixture *f = *state;
    build_mimics(f, (const int32_t[]){-1, 1}, 2, STN_JOINT_REVOLUTE);
    expect_refusal(f, WORDS("joint 'j1'", "itself"));
    build_mimics(f, (const int32_t[]){-1, 7}, 2, STN_JOINT_REVOLUTE);
    expect_refusal(f, WORDS("joint 'j1'", "joint 7"));
    build_mimics(f, (const int32_t[]){1, 2, 0}, 3, STN_JOINT_REVOLUTE);
    expect_refusal(f, WORDS("joint 'j0'", "cycle"));
    build_mimics(f, (const int32_t[]){1, 2, 1}, 3, STN_JOINT_REVOLUTE); // j0 leads into a cycle
    expect_refusal(f, WORDS("cycle"));
    build_mimics(f, (const int32_t[]){-1, 0, 1, 2}, 4, STN_JOINT_REVOLUTE);
    for (int32_t i = 1; i < 4; i++) { // 1e20, 1e40, 1e60
        assert_int_equal(stn_builder_set_mimic(f->builder, i, i - 1, 1e20, 0.0, NULL), STN_OK);
    }
    expect_refusal(f, WORDS("joint 'j3'", "multiplier is 1e+60", "1e+50"));
    build_mimics(f, (const int32_t[]){-1, 0}, 2, STN_JOINT_FLOATING);
    expect_refusal(f, WORDS("joint 'j1'", "floating"));
    build_mimics(f, (const int32_t[]){-1, 0}, 2, STN_JOINT_FIXED);
    expect_refusal(f, WORDS("joint 'j1'", "fixed"));
    build_mimics(f, (const int32_t[]){1, -1}, 2, STN_JOINT_FIXED); // a fixed joint that mimics: harmless
    stn_model *model = compile_model(f->builder);
    expect_log(f, "joint 'j0': is fixed");
    stn_model_destroy(model);
}

static void base_of_an_attached_robot_is_refused(void **state) {
    fixture *f = *state;
    begin_robot(f->builder, "arm");
    int32_t flange = add_link(f->builder, "flange", one_kg());
    int32_t hand = begin_robot(f->builder, "hand"), palm = add_link(f->builder, "palm", one_kg());
    add_joint(f->builder, "mount", STN_JOINT_FIXED, flange, palm, stn_pose_identity(), Z);
    set_base(f->builder, hand, shift(1.0, 0.0, 0.0), true);
    expect_refusal(f, WORDS("group 'hand'", "'palm'", "'mount'"));
}

// --------------------------------------------------------------------------------------------------------- memory

static void build_everything(stn_context *context, stn_model_builder *b) {
    stn_error err;
    int32_t mesh = -1;
    stn_material rough = stn_material_unset();
    rough.mu = 1.0;
    begin_robot(b, "r");
    int32_t root = add_link(b, "root", one_kg()), arm = add_link(b, "arm", one_kg()),
            tool = add_link(b, "tool", one_kg());
    add_joint(b, "j", STN_JOINT_REVOLUTE, root, arm, stn_pose_identity(), Z);
    add_joint(b, "w", STN_JOINT_FIXED, arm, tool, stn_pose_identity(), Z);
    add_shape(b, tool, stn_shape_sphere(0.1));
    add_shape(b, STN_WORLD, stn_shape_half_space());
    assert_ok(stn_builder_add_mesh(b, "tool.stl", stn_vec3_make(1.0, 1.0, 1.0), NULL, &mesh, &err), err);
    stn_mesh *solid = new_mesh(context);
    add_mesh_shape(b, tool, solid);
    stn_mesh_release(solid);
    assert_ok(stn_builder_disable_collisions(b, tool, STN_WORLD, &err), err);
    assert_ok(stn_builder_set_contact_material(b, tool, STN_ANY, &rough, &err), err);
    const double x[6] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0}, m[2] = {1.0, 1.0};
    stn_nodes_spec nodes = {
        .name = "cloud", .node_count = 2, .position = x, .mass = m, .contact_radius = 0.1, .material = rough};
    int32_t cloud = -1;
    assert_ok(stn_builder_add_nodes(b, &nodes, &cloud, &err), err);
}

static void running_out_of_memory_anywhere_leaks_nothing_and_leaves_the_builder(void **state) {
    fixture *f = *state;
    build_everything(f->context, f->builder);
    long long before = f->heap.live;
    stn_model *model = NULL;
    int32_t failures = 0;
    for (long long n = 1; model == NULL; n++) {
        stn_error err;
        stn_heap_arm(&f->heap, n);
        stn_status status = stn_model_compile(f->builder, &model, &err);
        stn_heap_arm(&f->heap, 0);
        if (status != STN_OK) {
            assert_int_equal(status, STN_ERR_MEMORY);
            assert_null(model);
            assert_int_equal(f->heap.live, before);
            failures++;
        }
    }
    assert_true(failures >= 5); // three arenas and two first chunks at least
    assert_int_equal(model->geometry_count, 5);
    stn_model_destroy(model);
}

static void running_out_of_memory_while_adding_adds_nothing(void **state) {
    fixture *f = *state;
    stn_error err;
    int32_t out = -1;
    char name[40000]; // larger than what an arena's chunk has left
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    begin_robot(f->builder, "r");
    for (int32_t i = 0; i < 8; i++) { // fills lists, so that they must grow
        name[0] = (char)('b' + i);
        add_link(f->builder, name, one_kg());
    }
    stn_link_spec spec = {name, one_kg(), name};
    int32_t failures = 0;
    stn_status status = STN_ERR_MEMORY;
    for (long long n = 1; status != STN_OK; n++) {
        name[0] = 'z';
        stn_heap_arm(&f->heap, n);
        status = stn_builder_add_link(f->builder, &spec, &out, &err);
        stn_heap_arm(&f->heap, 0);
        failures += status == STN_ERR_MEMORY;
    }
    assert_true(failures >= 2);
    assert_int_equal(out, 8);
    stn_heap_arm(&f->heap, 1);
    stn_model_builder *builder = NULL;
    assert_int_equal(stn_builder_create(f->context, &builder, &err), STN_ERR_MEMORY);
    assert_null(builder);
    stn_heap_arm(&f->heap, 0);
}

static void chain_of_many_links_compiles_quickly_and_without_recursion(void **state) {
    fixture *f = *state;
    enum { LINKS = 20000 };
    char name[32];
    begin_robot(f->builder, "chain");
    for (int32_t i = 0; i < LINKS; i++) {
        snprintf(name, sizeof name, "link%d", i);
        add_link(f->builder, name, one_kg());
    }
    for (int32_t i = LINKS - 1; i > 0; i--) {
        snprintf(name, sizeof name, "joint%d", i);
        add_joint(f->builder, name, STN_JOINT_REVOLUTE, i - 1, i, shift(0.0, 0.0, 0.1), X);
    }
    stn_model *model = compile_model(f->builder);
    assert_int_equal(model->nv, LINKS + 5);
    assert_int_equal(model->tree_count, 1);
    assert_int_equal(model->bodies[LINKS].parent, LINKS - 1);
    stn_model_destroy(model);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(loops_name_their_joints),
        TEST(two_parents_are_refused),
        TEST(two_roots_are_refused_by_name),
        TEST(robot_without_links_is_refused),
        TEST(a_height_field_may_stand_but_not_move),
        TEST(duplicate_names_are_refused_with_a_proposal),
        TEST(duplicate_joint_names_are_refused_within_one_robot_only),
        TEST(bad_mimics_are_refused),
        TEST(base_of_an_attached_robot_is_refused),
        TEST(running_out_of_memory_anywhere_leaks_nothing_and_leaves_the_builder),
        TEST(running_out_of_memory_while_adding_adds_nothing),
        TEST(chain_of_many_links_compiles_quickly_and_without_recursion),
    };
    return cmocka_run_group_tests_name("model compiler, errors", tests, NULL, NULL);
}
