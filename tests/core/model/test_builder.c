// SPDX-License-Identifier: Apache-2.0
// What a builder refuses at once, and how robots are forgotten.
#include "stn_test.h"

#include <string.h>

#include <stiction/plugin.h>

#include "stn_heap.h"
#include "stn_model_test.h"

typedef struct fixture {
    stn_heap heap;
    stn_context *context;
    stn_model_builder *builder;
} fixture;

static int set_up(void **state) {
    static fixture f;
    memset(&f, 0, sizeof f);
    f.context = stn_heap_context(&f.heap);
    f.builder = new_builder(f.context);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    stn_builder_destroy(f->builder);
    stn_context_destroy(f->context);
    assert_int_equal(f->heap.live, 0);
    return 0;
}

/// The call failed with this status, and its one line says all of these words (NULL-terminated).
static void check_text(stn_status status, stn_status expected, const stn_error *err, const char *const *words) {
    assert_int_equal(status, expected);
    assert_int_equal(err->status, expected);
    assert_null(strchr(err->text, '\n'));
    for (; *words != NULL; words++) {
        if (strstr(err->text, *words) == NULL) {
            fail_msg("'%s' is not in: %s", *words, err->text);
        }
    }
}
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void link_without_a_robot_is_out_of_sequence(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_link_spec spec = {"base", {.mass = 1.0}, NULL};
    int32_t link = 7;
    check_text(stn_builder_add_link(f->builder, &spec, &link, &err), STN_ERR_SEQUENCE, &err, WORDS("base", "group"));
    assert_int_equal(link, 7);
}

static void second_robot_of_a_name_is_refused_with_a_free_one(void **state) {
    fixture *f = *state;
    stn_error err;
    int32_t robot = -1;
    begin_robot(f->builder, "arm");
    begin_robot(f->builder, "arm_2");
    check_text(stn_builder_begin_group(f->builder, "arm", &robot, &err), STN_ERR_ARGUMENT, &err,
               WORDS("'arm'", "'arm_3'"));
    check_text(stn_builder_begin_group(f->builder, "", &robot, &err), STN_ERR_ARGUMENT, &err, WORDS("empty"));
    assert_int_equal(robot, -1);
}

static void bad_masses_are_refused_with_robot_link_and_place(void **state) {
    fixture *f = *state;
    stn_error err;
    begin_robot(f->builder, "arm");
    static const struct {
        stn_mass mass;
        const char *word;
    } cases[] = {
        {{-1.0, {0, 0, 0}, {{{0}}}}, "mass = -1 kg"},
        {{(double)NAN, {0, 0, 0}, {{{0}}}}, "mass"},
        {{(double)INFINITY, {0, 0, 0}, {{{0}}}}, "mass"},
        {{1.0, {0, (double)NAN, 0}, {{{0}}}}, "centre of mass"},
        {{1.0, {0, 0, 0}, {{{1, 0, 0}, {0, (double)NAN, 0}, {0, 0, 1}}}}, "iyy"},
        {{1.0, {0, 0, 0}, {{{1, 0.5, 0}, {0.4, 1, 0}, {0, 0, 1}}}}, "must be equal"},
        {{1.0, {0, 0, 0}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, -3e-9}}}}, "principal moment"},
        {{1.0, {0, 0, 0}, {{{1, 2, 0}, {2, 1, 0}, {0, 0, 1}}}}, "-1"}, // positive diagonal, eigenvalue -1
    };
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        stn_link_spec spec = {"upper", cases[i].mass, "arm.urdf:41"};
        int32_t link = 7;
        check_text(stn_builder_add_link(f->builder, &spec, &link, &err), STN_ERR_ARGUMENT, &err,
                   WORDS("group 'arm', link 'upper' (arm.urdf:41): ", cases[i].word));
        assert_int_equal(link, 7);
    }
    add_link(f->builder, "thin", mass_of(1.0, stn_vec3_zero(), 1.0, 1.0, -1e-9)); // round-off of public files
}

static void bad_joints_are_refused_with_robot_joint_and_place(void **state) {
    fixture *f = *state;
    stn_error err;
    begin_robot(f->builder, "arm");
    int32_t a = add_link(f->builder, "a", (stn_mass){.mass = 1.0}),
            b = add_link(f->builder, "b", (stn_mass){.mass = 1.0});
    enum { CASES = 24 };
    stn_joint_spec specs[CASES];
    const char *words[CASES];
    for (int32_t i = 0; i < CASES; i++) {
        specs[i] = stn_joint_spec_default("elbow", STN_JOINT_REVOLUTE);
        specs[i].where = "arm.urdf:7";
        specs[i].parent = a;
        specs[i].child = b;
    }
    int32_t n = 0;
#define CASE(assignment, word) specs[n].assignment, words[n++] = word
    CASE(axis = stn_vec3_zero(), "axis (0, 0, 0)");
    CASE(axis.x = (double)NAN, "axis");
    CASE(lower = 0.2, "lower limit 0.2 rad must not be above the upper limit 0.1 rad"), specs[n - 1].upper = 0.1;
    CASE(lower = (double)NAN, "lower limit");
    CASE(upper = -(double)INFINITY, "upper limit");
    CASE(effort = -1.0, "effort limit = -1 N m");
    CASE(velocity = (double)NAN, "velocity limit");
    CASE(damping = -0.5, "damping = -0.5 N m s/rad");
    CASE(friction = (double)INFINITY, "friction");
    CASE(rotor_inertia = -1.0, "rotor inertia");
    CASE(stiffness = -2.0, "stiffness = -2 N m/rad");
    CASE(stiffness = (double)INFINITY, "stiffness");
    CASE(rest = (double)NAN, "rest position of the spring");
    CASE(servo_kp = -1.0, "servo gain kp = -1 N m/rad");
    CASE(servo_kd = (double)NAN, "servo gain kd");
    CASE(gear_ratio = (double)NAN, "gear ratio");
    CASE(origin.position.z = (double)NAN, "origin");
    CASE(origin.rotation.m[0][0] = 1.1, "orthonormal");
    CASE(origin.rotation = stn_mat3_diagonal(1.0, 1.0, -1.0), "right-handed");
    CASE(parent = 9, "parent link 9");
    CASE(child = -1, "child link -1");
    CASE(child = a, "joins link 'a' to itself");
    CASE(type = STN_JOINT_COUNT, "unknown joint type");
    CASE(mimic = 0, "multiplier"), specs[n - 1].mimic_multiplier = (double)NAN;
#undef CASE
    assert_int_equal(n, CASES);
    for (int32_t i = 0; i < n; i++) {
        int32_t joint = 7;
        check_text(stn_builder_add_joint(f->builder, &specs[i], &joint, &err), STN_ERR_ARGUMENT, &err,
                   WORDS("group 'arm', joint 'elbow' (arm.urdf:7): ", words[i]));
        assert_int_equal(joint, 7);
    }
    stn_joint_spec floats = stn_joint_spec_default("free", STN_JOINT_FLOATING);
    floats.parent = a, floats.child = b, floats.mimic = 0;
    int32_t joint = 7;
    check_text(stn_builder_add_joint(f->builder, &floats, &joint, &err), STN_ERR_ARGUMENT, &err, WORDS("mimic"));
}

static void bad_shapes_and_materials_are_refused(void **state) {
    fixture *f = *state;
    stn_error err;
    begin_robot(f->builder, "box");
    int32_t link = add_link(f->builder, "box", (stn_mass){.mass = 1.0}), geometry = 7, mesh = 7;
    stn_geometry_spec good = stn_geometry_spec_default(stn_shape_sphere(0.1)), bad = good;
    bad.name = "ball";
    bad.shape.radius = -1.0;
    check_text(stn_builder_add_geometry(f->builder, link, &bad, &geometry, &err), STN_ERR_ARGUMENT, &err,
               WORDS("link 'box', geometry 'ball'", "radius"));
    bad = good;
    bad.material.mu = -0.1;
    check_text(stn_builder_add_geometry(f->builder, link, &bad, &geometry, &err), STN_ERR_ARGUMENT, &err, WORDS("mu"));
    bad = good;
    bad.material.restitution = 1.5;
    check_text(stn_builder_add_geometry(f->builder, STN_WORLD, &bad, &geometry, &err), STN_ERR_ARGUMENT, &err,
               WORDS("link 'world'", "restitution"));
    bad = good;
    bad.surface_velocity.x = (double)NAN;
    check_text(stn_builder_add_geometry(f->builder, link, &bad, &geometry, &err), STN_ERR_ARGUMENT, &err,
               WORDS("surface velocity"));
    bad = good;
    bad.shape = (stn_shape){
        .type = STN_SHAPE_MESH,
    };
    bad.mesh = 0;
    check_text(stn_builder_add_geometry(f->builder, link, &bad, &geometry, &err), STN_ERR_ARGUMENT, &err,
               WORDS("mesh 0"));
    check_text(stn_builder_add_geometry(f->builder, 5, &good, &geometry, &err), STN_ERR_ARGUMENT, &err,
               WORDS("link 5"));
    check_text(stn_builder_add_mesh(f->builder, "a.stl", stn_vec3_zero(), NULL, &mesh, &err), STN_ERR_ARGUMENT, &err,
               WORDS("a.stl", "scale"));
    check_text(stn_builder_disable_collisions(f->builder, link, STN_ANY, &err), STN_ERR_ARGUMENT, &err,
               WORDS("link -2"));
    stn_material m = stn_material_unset();
    check_text(stn_builder_set_contact_material(f->builder, link, 3, &m, &err), STN_ERR_ARGUMENT, &err,
               WORDS("link 3"));
    m.stiffness = -1.0;
    check_text(stn_builder_set_contact_material(f->builder, link, STN_ANY, &m, &err), STN_ERR_ARGUMENT, &err,
               WORDS("stiffness"));
    assert_int_equal(geometry, 7);
    assert_int_equal(mesh, 7);
}

static void bad_fields_are_refused(void **state) {
    fixture *f = *state;
    const double inf = (double)INFINITY, nan = (double)NAN;
    const struct {
        stn_field_spec field;
        const char *text;
    } cases[] = {
        {{0.0, nan, nan, -1}, "resolution = 0 m must be > 0"},
        {{inf, nan, nan, -1}, "resolution = inf m must be > 0 and finite"},
        {{nan, -1e-4, nan, -1}, "field margin = -0.0001 m must be >= 0"},
        {{nan, inf, nan, -1}, "field margin = inf m must be >= 0 and finite"},
        {{nan, nan, -0.1, -1}, "slab thickness = -0.1 m must be > 0"},
        {{nan, nan, nan, 3}, "no volume mesh 3 (1 meshes)"},
        {{nan, nan, nan, -2}, "no volume mesh -2"},
        {{nan, nan, nan, 0}, "volume mesh 0 'sheet.stl' has no tetrahedra"},
    };
    stn_error err;
    begin_robot(f->builder, "box");
    int32_t link = add_link(f->builder, "box", (stn_mass){.mass = 1.0}), geometry = 7, mesh = -1;
    assert_ok(stn_builder_add_mesh(f->builder, "sheet.stl", stn_vec3_make(1.0, 1.0, 1.0), NULL, &mesh, &err), err);
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        stn_geometry_spec spec = stn_geometry_spec_default(stn_shape_sphere(0.1));
        spec.field = cases[i].field;
        spec.name = "pad";
        check_text(stn_builder_add_geometry(f->builder, link, &spec, &geometry, &err), STN_ERR_ARGUMENT, &err,
                   WORDS("link 'box', geometry 'pad'", cases[i].text));
    }
    assert_int_equal(geometry, 7);
}

static void bad_base_is_refused(void **state) {
    fixture *f = *state;
    stn_error err;
    int32_t robot = begin_robot(f->builder, "box");
    stn_pose base = shift(0.0, (double)NAN, 0.0);
    check_text(stn_builder_set_base(f->builder, robot, &base, true, &err), STN_ERR_ARGUMENT, &err,
               WORDS("group 'box'", "base"));
    check_text(stn_builder_set_base(f->builder, 4, &base, true, &err), STN_ERR_ARGUMENT, &err, WORDS("group 4"));
}

static void same_mesh_is_referred_to_once(void **state) {
    fixture *f = *state;
    stn_error err;
    int32_t a = -1, b = -1, c = -1;
    stn_vec3 one = {1.0, 1.0, 1.0}, mirrored = {-1.0, 1.0, 1.0};
    assert_ok(stn_builder_add_mesh(f->builder, "a.stl", one, NULL, &a, &err), err);
    assert_ok(stn_builder_add_mesh(f->builder, "a.stl", mirrored, NULL, &b, &err), err);
    assert_ok(stn_builder_add_mesh(f->builder, "a.stl", one, NULL, &c, &err), err);
    assert_int_equal(a, c);
    assert_int_not_equal(a, b);
}

static void add_meshed_link(fixture *f, const char *name, const stn_mesh *mesh) {
    int32_t link = add_link(f->builder, name, (stn_mass){.mass = 1.0});
    add_shape(f->builder, link, stn_shape_sphere(0.1));
    add_mesh_shape(f->builder, link, mesh);
}

static void meshes_live_as_long_as_the_builder_or_the_model_that_names_them(void **state) {
    fixture *f = *state;
    stn_mesh *kept = new_mesh(f->context), *forgotten = new_mesh(f->context);
    begin_robot(f->builder, "kept");
    add_meshed_link(f, "a", kept);
    int32_t robot = begin_robot(f->builder, "forgotten");
    add_meshed_link(f, "b", forgotten);
    add_meshed_link(f, "c", kept); // one more shape of it: the same mesh of the builder
    long long before = f->heap.live;
    stn_mesh_release(forgotten);
    assert_int_equal(f->heap.live, before); // the builder has it
    stn_builder_discard(f->builder, robot);
    assert_true(f->heap.live < before);
    stn_mesh_release(kept);
    stn_model *model = compile_model(f->builder);
    assert_int_equal(model->mesh_count, 1);
    assert_int_equal(model->geometries[0].mesh, -1);
    assert_int_equal(model->geometries[1].mesh, 0);
    assert_ptr_equal(model->geometries[1].shape.mesh, model->meshes[0].data);
    assert_int_equal(model->meshes[0].data->triangle_count, 4);
    stn_model_destroy(model); // tear_down counts what is left
    stn_mesh *unused = new_mesh(f->context);
    begin_robot(f->builder, "left behind");
    add_meshed_link(f, "d", unused);
    stn_mesh_release(unused);
}

static void shape_whose_mesh_nobody_keeps_is_refused(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_mesh *mesh = new_mesh(f->context), *other = new_mesh(f->context);
    int32_t geometry = 7, robot = begin_robot(f->builder, "r");
    int32_t link = add_link(f->builder, "a", (stn_mass){.mass = 1.0});
    add_mesh_shape(f->builder, link, mesh);
    stn_geometry_spec spec = stn_geometry_spec_default(stn_shape_mesh(other));
    spec.mesh = 0;
    check_text(stn_builder_add_geometry(f->builder, link, &spec, &geometry, &err), STN_ERR_ARGUMENT, &err,
               WORDS("geometry", "data of mesh 0"));
    spec.shape.mesh = NULL;
    check_text(stn_builder_add_geometry(f->builder, link, &spec, &geometry, &err), STN_ERR_ARGUMENT, &err,
               WORDS("geometry", "data of mesh 0"));
    assert_ok(stn_builder_add_mesh(f->builder, "named.stl", stn_vec3_make(1.0, 1.0, 1.0), NULL, &spec.mesh, &err), err);
    check_text(stn_builder_add_geometry(f->builder, link, &spec, &geometry, &err), STN_ERR_ARGUMENT, &err,
               WORDS("geometry", "collides", "needs the data of mesh 1 'named.stl'"));
    assert_int_equal(geometry, 7);
    spec.collision = false; // a viewer will load it
    assert_ok(stn_builder_add_geometry(f->builder, link, &spec, &geometry, &err), err);
    assert_int_equal(robot, 0);
    stn_mesh_release(mesh);
    stn_mesh_release(other);
}

static void mesh_that_finds_no_memory_is_not_kept(void **state) {
    fixture *f = *state;
    stn_status status = STN_ERR_MEMORY;
    char path[40000]; // larger than what an arena's chunk has left
    memset(path, 'a', sizeof path);
    path[sizeof path - 1] = '\0';
    for (long long n = 1; status != STN_OK; n++) {
        stn_error err;
        int32_t index = -1;
        stn_mesh *mesh = new_mesh(f->context);
        stn_heap_arm(&f->heap, n);
        status = stn_builder_add_mesh(f->builder, path, stn_vec3_make(1.0, 1.0, 1.0), mesh, &index, &err);
        stn_heap_arm(&f->heap, 0);
        stn_mesh_release(mesh);
        assert_true(status == STN_OK || status == STN_ERR_MEMORY);
        assert_true(status == STN_OK || index == -1);
    }
    // tear_down counts those that were kept without being in the list
}

static void units_are_those_of_the_joint_type(void **state) {
    fixture *f = *state;
    stn_error err;
    begin_robot(f->builder, "arm");
    int32_t a = add_link(f->builder, "a", (stn_mass){.mass = 1.0}),
            b = add_link(f->builder, "b", (stn_mass){.mass = 1.0});
    static const struct {
        stn_joint_type type;
        const char *damping, *velocity;
    } cases[] = {
        {STN_JOINT_PRISMATIC, "= -1 N s/m must", "= -2 m/s must"},
        {STN_JOINT_SCREW, "= -1 N m s/rad must", "= -2 rad/s must"},
        {STN_JOINT_PLANAR, "= -1 N s/m, N m s/rad must", "= -2 m/s, rad/s must"},
        {STN_JOINT_BALL, "= -1 N m s/rad must", "= -2 rad/s must"},
        {STN_JOINT_UNIVERSAL, "= -1 N m s/rad must", "= -2 rad/s must"},
        {STN_JOINT_FLOATING, "= -1 N s/m, N m s/rad must", "= -2 m/s, rad/s must"},
    };
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        stn_joint_spec spec = stn_joint_spec_default("j", cases[i].type);
        int32_t joint = -1;
        spec.parent = a, spec.child = b, spec.damping = -1.0;
        check_text(stn_builder_add_joint(f->builder, &spec, &joint, &err), STN_ERR_ARGUMENT, &err,
                   WORDS(cases[i].damping));
        spec.damping = 0.0, spec.velocity = -2.0;
        check_text(stn_builder_add_joint(f->builder, &spec, &joint, &err), STN_ERR_ARGUMENT, &err,
                   WORDS(cases[i].velocity));
    }
    stn_joint_spec screw = stn_joint_spec_default("j", STN_JOINT_SCREW);
    int32_t joint = -1;
    screw.parent = a, screw.child = b, screw.lower = 1.0, screw.upper = 0.5; // angles, not lengths
    check_text(stn_builder_add_joint(f->builder, &screw, &joint, &err), STN_ERR_ARGUMENT, &err,
               WORDS("lower limit 1 rad", "upper limit 0.5 rad"));
    screw.lower = -(double)INFINITY, screw.screw_pitch = (double)INFINITY;
    check_text(stn_builder_add_joint(f->builder, &screw, &joint, &err), STN_ERR_ARGUMENT, &err,
               WORDS("screw pitch = inf m"));
}

static void discarding_a_robot_leaves_what_was_there_before(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_material soft = stn_material_unset();
    soft.mu = 0.1;
    begin_robot(f->builder, "kept");
    int32_t kept = add_link(f->builder, "base", (stn_mass){.mass = 2.0});
    add_shape(f->builder, kept, stn_shape_sphere(0.1));
    int32_t robot = begin_robot(f->builder, "half");
    int32_t a = add_link(f->builder, "a", (stn_mass){.mass = 1.0}),
            b = add_link(f->builder, "b", (stn_mass){.mass = 1.0});
    add_joint(f->builder, "j", STN_JOINT_REVOLUTE, a, b, stn_pose_identity(), stn_vec3_make(1.0, 0.0, 0.0));
    add_shape(f->builder, b, stn_shape_sphere(0.2));
    assert_ok(stn_builder_disable_collisions(f->builder, kept, b, &err), err);
    assert_ok(stn_builder_set_contact_material(f->builder, kept, b, &soft, &err), err);
    stn_builder_discard(f->builder, robot);
    begin_robot(f->builder, "half"); // the name is free again, and so are the numbers
    int32_t c = add_link(f->builder, "c", (stn_mass){.mass = 1.0}),
            d = add_link(f->builder, "d", (stn_mass){.mass = 1.0});
    add_joint(f->builder, "j", STN_JOINT_REVOLUTE, c, d, stn_pose_identity(), stn_vec3_make(1.0, 0.0, 0.0));
    int32_t shape = add_shape(f->builder, d, stn_shape_sphere(0.2));
    stn_model *model = compile_model(f->builder);
    assert_int_equal(model->group_count, 2);
    assert_int_equal(model->link_count, 3);
    assert_int_equal(model->geometry_count, 2);
    assert_string_equal(model->links[1].name, "c");
    assert_true(stn_model_may_collide(model, 0, shape));
    assert_near(stn_model_pair_material(model, 0, shape).value.mu, 0.5, 0.0);
    assert_int_equal(stn_model_find_link(model, -1, "half/a"), -1);
    stn_model_destroy(model);
    stn_builder_discard(f->builder, 99); // nothing there: nothing happens
}

// ------------------------------------------------------------------------------------------------- nodes, elements

static stn_status spring_prepare(const void *self, const double *x, const double *parameters, double *constants,
                                 stn_error *err) {
    (void)self, (void)parameters;
    constants[0] = sqrt((x[3] - x[0]) * (x[3] - x[0]) + (x[4] - x[1]) * (x[4] - x[1]) + (x[5] - x[2]) * (x[5] - x[2]));
    return constants[0] > 0.0 ? STN_OK : stn_fail(err, STN_ERR_ARGUMENT, "length = 0 m must be > 0");
}
static stn_status spring_evaluate(const void *self, stn_element_batch *batch, stn_error *err) {
    (void)self, (void)batch, (void)err;
    return STN_OK;
}
static const stn_element_ops spring_ops = {.size = sizeof spring_ops,
                                           .nodes_per_element = 2,
                                           .constant_count = 1,
                                           .prepare = spring_prepare,
                                           .evaluate = spring_evaluate};
static const stn_plugin_desc spring = {.size = sizeof spring,
                                       .kind = STN_KIND_ELEMENT,
                                       .id = "test_spring",
                                       .version = "1",
                                       .summary = "two nodes",
                                       .ops.element = &spring_ops};

static stn_instance *new_spring(stn_context *context) {
    stn_error err;
    stn_instance *instance = NULL;
    const stn_plugin_info *info = NULL;
    if (stn_plugin_find(context, STN_KIND_ELEMENT, "test_spring", &info, NULL) != STN_OK) {
        assert_ok(stn_plugin_register(context, &spring, &err), err);
    }
    assert_ok(stn_instance_create(context, STN_KIND_ELEMENT, "test_spring", NULL, 0, &instance, &err), err);
    return instance;
}

static stn_status add_springs(fixture *f, int32_t nodes, int32_t count, const int32_t *index, stn_error *err) {
    const stn_elements_spec spec = {.name = "springs", .nodes = nodes, .element_count = count, .index = index};
    int32_t group = -1;
    return stn_builder_add_elements(f->builder, new_spring(f->context), &spec, &group, err);
}

static const double TRIANGLE[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0}, MASSES[3] = {1.0, 2.0, 3.0};

static int32_t add_triangle(stn_model_builder *builder, double radius) {
    stn_error err;
    stn_nodes_spec spec = {.name = "cloth",
                           .node_count = 3,
                           .position = TRIANGLE,
                           .mass = MASSES,
                           .contact_radius = radius,
                           .material = stn_material_unset()};
    int32_t nodes = -1;
    assert_ok(stn_builder_add_nodes(builder, &spec, &nodes, &err), err);
    return nodes;
}

static void bad_nodes_and_elements_are_refused(void **state) {
    fixture *f = *state;
    stn_error err;
    const double positions[6] = {0.0, 0.0, 0.0, 1.0, (double)NAN, 0.0}, masses[2] = {1.0, -1.0};
    int32_t nodes = 7, group = 0, outside[2] = {0, 3}, twice[2] = {1, 1};
    stn_nodes_spec spec = {
        .name = "cloth", .node_count = 2, .position = positions, .mass = MASSES, .material = stn_material_unset()};
    check_text(stn_builder_add_nodes(f->builder, &spec, &nodes, &err), STN_ERR_ARGUMENT, &err,
               WORDS("nodes 'cloth'", "node 1", "position"));
    spec.position = TRIANGLE, spec.rest = positions;
    check_text(stn_builder_add_nodes(f->builder, &spec, &nodes, &err), STN_ERR_ARGUMENT, &err,
               WORDS("node 1", "rest position"));
    spec.rest = NULL, spec.mass = masses;
    check_text(stn_builder_add_nodes(f->builder, &spec, &nodes, &err), STN_ERR_ARGUMENT, &err,
               WORDS("node 1", "mass = -1 kg"));
    spec.mass = MASSES, spec.node_count = 0;
    check_text(stn_builder_add_nodes(f->builder, &spec, &nodes, &err), STN_ERR_ARGUMENT, &err, WORDS("node_count = 0"));
    spec.node_count = 2, spec.contact_radius = -1.0;
    check_text(stn_builder_add_nodes(f->builder, &spec, &nodes, &err), STN_ERR_ARGUMENT, &err, WORDS("contact_radius"));
    nodes = add_triangle(f->builder, 0.0);
    spec.contact_radius = 0.0;
    check_text(stn_builder_add_nodes(f->builder, &spec, &nodes, &err), STN_ERR_ARGUMENT, &err,
               WORDS("nodes 'cloth'", "have that name already", "'cloth_2'"));
    check_text(stn_builder_begin_group(f->builder, "cloth", &group, &err), STN_ERR_ARGUMENT, &err,
               WORDS("group 'cloth'", "a soft body of that name", "'cloth_2'"));
    group = 0;
    check_text(add_springs(f, nodes, 1, outside, &err), STN_ERR_ARGUMENT, &err,
               WORDS("'cloth'", "element 0 names node 3"));
    check_text(add_springs(f, nodes, 1, twice, &err), STN_ERR_ARGUMENT, &err,
               WORDS("'cloth'", "element 0 names node 1 twice"));
    check_text(add_springs(f, 4, 1, outside, &err), STN_ERR_ARGUMENT, &err, WORDS("cloud of nodes 4"));
    const stn_elements_spec none = {.nodes = nodes, .element_count = 1, .index = outside};
    check_text(stn_builder_add_elements(f->builder, NULL, &none, &group, &err), STN_ERR_ARGUMENT, &err,
               WORDS("element plugin"));
}

static void cloud_becomes_a_tree_with_the_pattern_of_its_elements(void **state) {
    fixture *f = *state;
    stn_error err;
    begin_robot(f->builder, "box");
    add_link(f->builder, "box", mass_of(1.0, stn_vec3_zero(), 1.0, 1.0, 1.0));
    int32_t nodes = add_triangle(f->builder, 0.1);
    const int32_t index[4] = {2, 0, 0, 1};
    assert_ok(add_springs(f, nodes, 2, index, &err), err);
    stn_model *model = compile_model(f->builder);
    assert_int_equal(model->tree_count, 2);
    const stn_tree *tree = &model->trees[1];
    assert_int_equal(tree->kind, STN_TREE_NODAL);
    assert_int_equal(tree->node_count, 3);
    assert_int_equal(tree->q_start, 7);
    assert_int_equal(tree->v_start, 6);
    assert_int_equal(model->nq, 16);
    assert_int_equal(model->nv, 15);
    static const int32_t rows[4] = {0, 3, 5, 7}, columns[7] = {0, 1, 2, 0, 1, 0, 2};
    assert_memory_equal(tree->row_start, rows, sizeof rows);
    assert_memory_equal(tree->column, columns, sizeof columns);
    assert_memory_equal(model->q0 + 7, TRIANGLE, sizeof TRIANGLE);
    assert_memory_equal(model->node_mass, MASSES, sizeof MASSES);
    assert_int_equal(model->dof_joint[6], -1);
    assert_int_equal(model->dof_tree[14], 1);
    assert_int_equal(model->element_group_count, 1);
    assert_int_equal(model->element_groups[0].tree, 1);
    assert_near(model->element_groups[0].constants[0], 2.0, 0.0);
    assert_near(model->element_groups[0].constants[1], 1.0, 0.0);
    assert_int_equal(model->geometry_count, 3);
    assert_int_equal(model->geometries[2].node, 2);
    assert_int_equal(model->geometries[2].body, -1);
    assert_near(model->geometries[2].shape.radius, 0.1, 0.0);
    assert_int_equal(stn_model_massless_link(model, 1), -1);
    stn_model_destroy(model);
}

static void degenerate_element_is_named_and_the_builder_stays_whole(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_model *model = NULL;
    const double folded[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0};
    const stn_nodes_spec spec = {.name = "cloth",
                                 .node_count = 3,
                                 .position = TRIANGLE,
                                 .mass = MASSES,
                                 .material = stn_material_unset(),
                                 .rest = folded};
    const int32_t index[4] = {0, 1, 1, 2};
    int32_t nodes = -1;
    assert_ok(stn_builder_add_nodes(f->builder, &spec, &nodes, &err), err);
    assert_ok(add_springs(f, nodes, 2, index, &err), err);
    check_text(stn_model_compile(f->builder, &model, &err), STN_ERR_ARGUMENT, &err,
               WORDS("'test_spring'", "'cloth'", "element 1 (nodes 1, 2; ", "length = 0 m"));
    assert_null(model);
    check_text(stn_model_compile(f->builder, &model, &err), STN_ERR_ARGUMENT, &err, WORDS("element 1")); // still there
}

static void elements_of_a_forgotten_robot_are_destroyed(void **state) {
    fixture *f = *state;
    stn_error err;
    int32_t robot = begin_robot(f->builder, "soft"), nodes = add_triangle(f->builder, 0.0);
    const int32_t index[2] = {0, 1};
    assert_ok(add_springs(f, nodes, 1, index, &err), err);
    stn_builder_discard(f->builder, robot);
    stn_model *model = compile_model(f->builder);
    assert_int_equal(model->tree_count, 0);
    stn_model_destroy(model);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(link_without_a_robot_is_out_of_sequence),
        TEST(second_robot_of_a_name_is_refused_with_a_free_one),
        TEST(bad_masses_are_refused_with_robot_link_and_place),
        TEST(bad_joints_are_refused_with_robot_joint_and_place),
        TEST(bad_shapes_and_materials_are_refused),
        TEST(bad_fields_are_refused),
        TEST(bad_base_is_refused),
        TEST(same_mesh_is_referred_to_once),
        TEST(meshes_live_as_long_as_the_builder_or_the_model_that_names_them),
        TEST(shape_whose_mesh_nobody_keeps_is_refused),
        TEST(mesh_that_finds_no_memory_is_not_kept),
        TEST(units_are_those_of_the_joint_type),
        TEST(discarding_a_robot_leaves_what_was_there_before),
        TEST(bad_nodes_and_elements_are_refused),
        TEST(cloud_becomes_a_tree_with_the_pattern_of_its_elements),
        TEST(degenerate_element_is_named_and_the_builder_stays_whole),
        TEST(elements_of_a_forgotten_robot_are_destroyed),
    };
    return cmocka_run_group_tests_name("model builder", tests, NULL, NULL);
}
