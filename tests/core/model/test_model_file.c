// SPDX-License-Identifier: Apache-2.0
// Models as bytes by value: the same model bit for bit, and nothing that a damaged file could do.
#include "compile_fixture.h"

#include <stdlib.h>

#include "model/model_file.h"
#include "stn_bar_element.h"
#include "stn_random.h"
#include "stn_same_model.h"
#include "stn_seed.h"
#include "stn_setting.h"
#include "stn_tie_constraint.h"

/// The saved model; of its own size, so that reading beyond it is found.
static char *saved;
static size_t saved_size;

static void write_bytes(const char *bytes, size_t size) {
    char *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    free(saved);
    saved = copy;
    saved_size = size;
}

static char *read_bytes(size_t *size) {
    char *bytes = malloc(saved_size);
    assert_non_null(bytes);
    *size = saved_size;
    return memcpy(bytes, saved, saved_size);
}

static stn_status save_model(const stn_model *model, stn_error *err) {
    byte_stream b;
    stn_status status = model_encode(model, &b, err);
    if (status == STN_OK) {
        write_bytes((const char *)b.data, b.size);
        bytes_clear(&b);
    }
    return status;
}

static stn_status load_model(stn_context *context, stn_model **out, stn_error *err) {
    *out = NULL;
    stn_model_builder *builder = NULL;
    stn_status status = stn_builder_create(context, &builder, err);
    if (status == STN_OK) {
        status = model_decode(builder, saved, saved_size, err);
    }
    if (status == STN_OK) {
        status = stn_model_compile(builder, out, err);
    }
    stn_builder_destroy(builder);
    return status;
}

// ----------------------------------------------------------------------------------------------- a model of everything

static stn_mesh *new_hull(stn_context *context) {
    stn_mesh *mesh = new_mesh(context), *hull = NULL;
    stn_error err;
    assert_ok(stn_mesh_create_hull(mesh, &hull, &err), err);
    stn_mesh_release(mesh);
    return hull;
}

static stn_mesh *new_solid(stn_context *context) {
    static const double vertices[15] = {0.1, 0.0, 0.0, 1.0,       0.0, 0.0, 0.0, 1.0,
                                        0.3, 0.0, 0.0, 1.0 / 3.0, 0.2, 0.2, 0.1};
    static const int32_t tetrahedra[16] = {0, 1, 2, 4, 0, 1, 3, 4, 0, 2, 3, 4, 1, 2, 3, 4};
    static const double extents[5] = {0.0, 0.5, 0.0, 0.0, 1.0 / 3.0}; // one is wrong, which is a fact to keep
    stn_mesh_data data = {
        .vertex_count = 5, .tetrahedron_count = 4, .vertices = vertices, .tetrahedra = tetrahedra, .extents = extents};
    stn_error err;
    stn_mesh *mesh = NULL;
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    return mesh;
}

static stn_mesh *new_field(stn_context *context) {
    double heights[5 * 7];
    for (int32_t i = 0; i < STN_COUNT(heights); i++) {
        heights[i] = 0.1 * sin(3.7 * i);
    }
    const stn_height_field_spec spec = {5, 7, 1.0 / 3.0, 0.7, heights};
    stn_error err;
    stn_mesh *mesh = NULL;
    assert_ok(stn_mesh_create_height_field(context, &spec, &mesh, &err), err);
    return mesh;
}

static void add_meshes(stn_context *context, stn_model_builder *b, int32_t link) {
    stn_mesh *meshes[] = {new_mesh(context), new_hull(context), new_solid(context), new_field(context)};
    for (int32_t i = 0; i < STN_COUNT(meshes); i++) {
        add_mesh_shape(b, i < 3 ? link : STN_WORLD, meshes[i]);
    }
    stn_error err;
    stn_geometry_spec drawn = stn_geometry_spec_default(stn_shape_mesh(NULL)),
                      shared = stn_geometry_spec_default(stn_shape_mesh(meshes[1]));
    int32_t id = 0;
    drawn.collision = false;
    assert_ok(stn_builder_add_mesh(b, "package://a/b.obj", stn_vec3_make(1.0, -2.0, 3.0), NULL, &drawn.mesh, &err),
              err);
    assert_ok(stn_builder_add_geometry(b, link, &drawn, &id, &err), err);
    assert_ok(stn_builder_add_mesh(b, "twice.obj", stn_vec3_make(1.0, 1.0, 1.0), meshes[1], &shared.mesh, &err), err);
    assert_ok(
        stn_builder_add_mesh(b, "solid.vtk", stn_vec3_make(1.0, 1.0, 1.0), meshes[2], &shared.field.volume_mesh, &err),
        err);
    assert_ok(stn_builder_add_geometry(b, link, &shared, &id, &err), err);
    for (int32_t i = 0; i < STN_COUNT(meshes); i++) {
        stn_mesh_release(meshes[i]);
    }
}

static stn_mat3 rotation(double angle) {
    return stn_quat_matrix(stn_quat_exp(stn_vec3_make(angle, 0.3 * angle, 0.0)));
}

/// One link a joint type, on a chain; the second hinge follows the first one.
static int32_t add_chain(stn_model_builder *b) {
    static const char *const names[STN_JOINT_COUNT] = {"fixed", "hinge", "wheel", "slide", "free",
                                                       "plane", "ball",  "screw", "cross"};
    int32_t parent = add_link(b, "base", one_kg()), first = -1;
    stn_error err;
    for (int32_t type = 0; type < STN_JOINT_COUNT; type++) {
        int32_t child =
            add_link(b, names[type], mass_of(1.0 / 3.0 + type, stn_vec3_make(0.1, 0.0, type), 0.1, 0.1, 0.11));
        stn_joint_spec spec = stn_joint_spec_default(names[type], (stn_joint_type)type);
        spec.parent = parent;
        spec.child = child;
        spec.origin = (stn_pose){rotation(0.3 * type), {0.1 * type, 1.0 / 3.0, -0.1}};
        spec.axis = stn_vec3_make(1.0, 2.0, 3.0);
        spec.damping = 0.1 * type;
        spec.friction = 0.2;
        spec.where = type % 2 == 0 ? "chain.urdf:12" : NULL;
        spec.actuator = type % 2 == 0 ? "motor" : NULL;
        spec.lower = type == STN_JOINT_REVOLUTE ? 0.25 : -1.0;
        spec.upper = 1.5;
        spec.screw_pitch = 0.01;
        spec.rotor_inertia = 1e-3;
        spec.gear_ratio = 7.0;
        spec.stiffness = 3.0;
        spec.rest = 0.1;
        spec.servo_kp = 5.0;
        int32_t joint = add_joint_spec(b, &spec);
        first = type == STN_JOINT_REVOLUTE ? joint : first;
        if (type == STN_JOINT_CONTINUOUS) {
            assert_ok(stn_builder_set_mimic(b, first, joint, -0.7, 0.1, &err), err);
        }
        parent = child;
    }
    return parent;
}

static void add_rules(stn_model_builder *b, int32_t a, int32_t c) {
    stn_error err;
    stn_material rough = stn_material_unset();
    int32_t id = 0;
    rough.mu = 0.9;
    rough.stiffness = 1e5;
    stn_geometry_spec belt = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.1, 0.2, 0.3)));
    belt.surface_velocity = stn_vec3_make(0.5, 0.0, 0.0);
    belt.friction_direction = stn_vec3_make(0.0, 2.0, 1.0);
    belt.category = 6;
    belt.mask = 0xff;
    belt.name = "belt";
    belt.where = "belt.xml:3";
    belt.material = rough;
    belt.material.mu2 = 0.2;
    belt.field = (stn_field_spec){.resolution = 0.01, .margin = 1e-4, .thickness = 0.3, .volume_mesh = -1};
    assert_ok(stn_builder_add_geometry(b, a, &belt, &id, &err), err);
    add_shape(b, STN_WORLD, stn_shape_half_space());
    add_shape(b, c, stn_shape_capsule(0.1, 0.2));
    add_shape(b, c, stn_shape_ellipsoid(stn_vec3_make(0.1, 0.2, 0.3)));
    assert_ok(stn_builder_disable_collisions(b, a, c, &err), err);
    assert_ok(stn_builder_disable_collisions(b, STN_WORLD, c, &err), err);
    assert_ok(stn_builder_set_contact_material(b, a, STN_ANY, &rough, &err), err);
    rough.mu = 0.1;
    rough.stiffness = NAN;
    assert_ok(stn_builder_set_contact_material(b, a, STN_WORLD, &rough, &err), err);
}

static void add_deformable(stn_context *context, stn_model_builder *b) {
    static const double x[9] = {0.0, 0.0, 1.0, 1.0 / 3.0, 0.0, 1.0, 0.7, 0.2, 1.0}, mass[3] = {1.0, 0.1, 0.3};
    static const int32_t index[4] = {0, 1, 1, 2};
    const stn_nodes_spec nodes = {.name = "rope",
                                  .node_count = 3,
                                  .position = x,
                                  .mass = mass,
                                  .contact_radius = 0.01,
                                  .material = stn_material_unset()};
    const stn_setting settings[] = {{.name = "k", .form = STN_SETTING_NUMBER, .number = 1.0 / 7.0},
                                    {.name = "label", .form = STN_SETTING_TEXT, .text = "a \"rope\""}};
    stn_instance *instance = NULL;
    stn_error err;
    int32_t cloud = 0;
    assert_ok(stn_builder_add_nodes(b, &nodes, &cloud, &err), err);
    assert_ok(stn_instance_create(context, STN_KIND_ELEMENT, "test_bar", settings, 2, &instance, &err), err);
    const stn_elements_spec elements = {.name = "bars", .nodes = cloud, .element_count = 2, .index = index};
    int32_t group = 0;
    assert_ok(stn_builder_add_elements(b, instance, &elements, &group, &err), err);
    stn_surface_spec skin = stn_surface_spec_default();
    static const int32_t triangle[] = {0, 1, 2};
    skin.name = "skin";
    skin.where = "chain.xml:9";
    skin.triangle_count = 1;
    skin.triangles = triangle;
    skin.thickness = 0.02;
    skin.self_collision = true;
    skin.material.mu = 0.9;
    skin.category = 6;
    skin.mask = 4;
    skin.rgba[0] = 0.25f;
    assert_ok(stn_builder_add_surface(b, cloud, &skin, &group, &err), err);
    stn_material override = stn_material_unset();
    override.mu = 0.125;
    assert_ok(stn_builder_set_contact_material(b, STN_SURFACE_LINK(0), STN_WORLD, &override, &err), err);
    assert_ok(stn_builder_attach_nodes(b, cloud, 1, &index[3], 1, &err), err);
    assert_ok(stn_builder_attach_nodes(b, cloud, 2, index, STN_WORLD, &err), err);
}

static void add_frames(stn_model_builder *b) {
    static const double x[9] = {0.0, 3.0, 1.0, 1.0 / 3.0, 3.0, 1.0, 0.7, 3.2, 1.0}, mass[3] = {1.0, 0.1, 0.3};
    static const double turn[12] = {1.0, 0.0, 0.0, 0.0, 0.6, 0.0, 0.8, 0.0, 0.0, 0.6, 0.0, -0.8};
    static const double inertia[9] = {0.1, 0.2, 0.25, 1.0 / 7.0, 0.2, 0.1, 1e-5, 1e-5, 2e-5};
    const stn_nodes_spec nodes = {.name = "cable",
                                  .node_count = 3,
                                  .position = x,
                                  .mass = mass,
                                  .material = stn_material_unset(),
                                  .rest = x,
                                  .type = STN_NODE_FRAME,
                                  .orientation = turn,
                                  .rest_orientation = turn,
                                  .inertia = inertia,
                                  .self_collision_skip = 1};
    stn_geometry_spec capsule = stn_geometry_spec_default(stn_shape_capsule(0.01, 0.1));
    capsule.name = "link";
    capsule.pose.position.x = 1.0 / 3.0;
    int32_t cloud = 0;
    stn_error err;
    assert_ok(stn_builder_add_nodes(b, &nodes, &cloud, &err), err);
    assert_ok(stn_builder_place_nodes(b, cloud, 1, &err), err);
    assert_ok(stn_builder_add_node_geometry(b, cloud, 2, &capsule, &err), err);
    assert_ok(stn_builder_add_node_geometry(b, cloud, 0, &capsule, &err), err);
}

static void add_keyframes(stn_model_builder *b, int32_t robot, int32_t q_count) {
    double q[32] = {0.0};
    for (int32_t i = 0; i < q_count; i++) {
        q[i] = 0.1 + 0.3 * i;
    }
    const stn_pose base = {rotation(0.2), {1.0, 2.0, 3.0}};
    stn_error err;
    const stn_keyframe_spec away = {"away", q_count, q, &base, "chain.xml:7"}, home = {"home", q_count, q, NULL, NULL};
    assert_ok(stn_builder_add_keyframe(b, robot, &away, &err), err);
    assert_ok(stn_builder_add_keyframe(b, robot, &home, &err), err);
}

static void add_constraint(fixture *f, const stn_constraint_spec *spec, double stiffness) {
    const stn_setting settings[] = {number_setting("stiffness", stiffness), text_setting("note", "from a test")};
    stn_instance *instance = NULL;
    stn_error err;
    int32_t id = 0;
    assert_ok(stn_instance_create(f->context, STN_KIND_CONSTRAINT, "test_tie", settings, 2, &instance, &err), err);
    assert_ok(stn_builder_add_constraint(f->builder, instance, spec, &id, &err), err);
}

/// On a link and the world, on two links, on two joints.
static void add_constraints(fixture *f, const int32_t links[2], const int32_t joints[2]) {
    const stn_constraint_end_spec plain = {.link = STN_WORLD, .pose = stn_pose_identity(), .joint = -1, .factor = 1.0};
    stn_constraint_end_spec hold[2] = {plain, plain}, rod[2] = {plain, plain}, gear[3] = {plain, plain, plain};
    hold[0].link = rod[0].link = links[0];
    hold[0].pose = (stn_pose){rotation(0.7), {0.1, 0.2, 1.0 / 3.0}};
    rod[1].link = links[1];
    for (int32_t i = 0; i < 2; i++) {
        gear[i].joint = joints[i];
        gear[i].factor = -3.0 + i / 7.0;
    }
    add_constraint(f, &(stn_constraint_spec){"hold", 2, hold, "chain.xml:9"}, 1.0 / 7.0);
    add_constraint(f, &(stn_constraint_spec){NULL, 2, rod, NULL}, (double)INFINITY);
    add_constraint(f, &(stn_constraint_spec){"", 3, gear, NULL}, 1e4);
}

/// Three robots: a chain, one that hangs on it by an attachment, one on a proposed base with a joint on the chain's
/// link.
static stn_model *everything(fixture *f) {
    stn_model_builder *b = f->builder;
    stn_error err;
    if (stn_plugin_find(f->context, STN_KIND_ELEMENT, "test_bar", &(const stn_plugin_info *){NULL}, NULL) != STN_OK) {
        assert_ok(stn_plugin_register(f->context, &bar_plugin, &err), err);
        assert_ok(stn_plugin_register(f->context, &tie_plugin, &err), err);
    }
    int32_t chain = begin_robot(b, "chain");
    int32_t tip = add_chain(b);
    set_base(b, chain, shift(0.0, 1.0 / 3.0, 2.0), false);
    int32_t hand = begin_robot(b, "hand");
    int32_t palm = add_link(b, "palm", one_kg());
    add_joint(b, "finger", STN_JOINT_REVOLUTE, palm, add_link(b, "finger", one_kg()), shift(0.1, 0.0, 0.0), Z);
    const stn_pose at = {rotation(1.0), {0.0, 0.0, 0.1}};
    int32_t box = begin_robot(b, "box");
    int32_t lid = add_link(b, "lid", one_kg());
    assert_ok(stn_builder_propose_base(b, box, &at, true, &err), err);
    assert_ok(stn_builder_attach(b, hand, tip, &at, &err), err);
    add_meshes(f->context, b, tip);
    add_rules(b, palm, lid);
    add_deformable(f->context, b);
    add_frames(b);
    add_keyframes(b, chain, 20);
    add_constraints(
        f, (const int32_t[2]){tip, lid},
        (const int32_t[2]){stn_builder_find_joint(b, hand, "finger"), stn_builder_find_joint(b, chain, "slide")});
    assert_ok(stn_builder_set_velocity_limits(b, hand, true, &err), err);
    return compile_model(b);
}

// --------------------------------------------------------------------------------------------------------------- tests

static void a_loaded_model_is_the_saved_one_bit_for_bit(void **state) {
    fixture *f = *state;
    stn_model *model = everything(f), *loaded = NULL;
    stn_error err;
    assert_ok(save_model(model, &err), err);
    assert_ok(load_model(f->context, &loaded, &err), err);
    same_model(model, loaded);
    stn_model_destroy(model);
    assert_ok(save_model(loaded, &err), err); // what was loaded can be saved as well
    assert_ok(load_model(f->context, &model, &err), err);
    same_model(model, loaded);
    stn_model_destroy(loaded);
    stn_model_destroy(model);
}

static int32_t one_row(const void *self, const stn_model_constraint *described) {
    (void)self, (void)described;
    return 1;
}

static stn_status no_rows(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows,
                          stn_error *err) {
    (void)self, (void)view, (void)state, (void)rows, (void)err;
    return STN_OK;
}

static const stn_constraint_ops cable_ops = {.size = sizeof cable_ops, .row_count = one_row, .emit = no_rows};
static const char *const wraps[] = {"wraps", NULL};
static const stn_plugin_desc cable = {.size = sizeof cable,
                                      .kind = STN_KIND_CONSTRAINT,
                                      .id = "test_cable",
                                      .version = "1",
                                      .summary = "a cable",
                                      .capabilities = wraps,
                                      .ops.constraint = &cable_ops};

static void round_ends_of_a_constraint_are_saved(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_instance *instance = NULL;
    int32_t index = -1;
    assert_ok(stn_plugin_register(f->context, &cable, &err), err);
    assert_ok(stn_instance_create(f->context, STN_KIND_CONSTRAINT, "test_cable", NULL, 0, &instance, &err), err);
    begin_robot(f->builder, "one");
    int32_t link = add_link(f->builder, "link", one_kg());
    const stn_constraint_end_spec ends[] = {
        {.link = link, .pose = shift(0.0, 0.0, 0.1), .joint = -1, .factor = 1.0},
        {.link = STN_WORLD,
         .shape = STN_END_CYLINDER,
         .pose = shift(0.1, 0.2, 0.3),
         .joint = -1,
         .radius = 0.05,
         .side = {0.0, 0.07, 3.0}},
        {.link = link, .shape = STN_END_SPHERE, .pose = shift(0.4, 0.0, 0.0), .joint = -1, .radius = 0.02}};
    const stn_constraint_spec spec = {.name = "rope", .end_count = STN_COUNT(ends), .ends = ends, .where = "here:1"};
    assert_ok(stn_builder_add_constraint(f->builder, instance, &spec, &index, &err), err);
    stn_model *model = compile_model(f->builder), *loaded = NULL;
    assert_ok(save_model(model, &err), err);
    assert_ok(load_model(f->context, &loaded, &err), err);
    assert_int_equal(loaded->constraint_count, 1);
    const stn_model_constraint *c = &loaded->constraints[0];
    assert_string_equal(c->name, "rope");
    assert_int_equal(c->end_count, STN_COUNT(ends));
    for (int32_t i = 0; i < STN_COUNT(ends); i++) {
        const stn_constraint_end *a = &c->ends[i], *b = &model->constraints[0].ends[i];
        assert_int_equal(a->shape, ends[i].shape);
        assert_true(a->radius == ends[i].radius && a->radius == b->radius);
        assert_memory_equal(&a->side, &ends[i].side, sizeof a->side);
        assert_memory_equal(&a->frame, &b->frame, sizeof a->frame);
    }
    stn_model_destroy(loaded);
    stn_model_destroy(model);
}

/// Bytes between the members of a struct are no part of a model: the same model is the same file.
static void gaps_are_not_saved(void **state) {
    fixture *f = *state;
    stn_error err;
    char *first = NULL;
    size_t first_size = 0;
    assert_ok(stn_plugin_register(f->context, &cable, &err), err);
    for (int32_t k = 0; k < 2; k++) {
        stn_model_builder *builder = NULL;
        stn_instance *instance = NULL;
        stn_constraint_end_spec end;
        int32_t index = -1;
        memset(&end, k == 0 ? 0 : 0xa5, sizeof end);
        end.shape = STN_END_POINT;
        end.pose = shift(0.0, 0.0, 0.1);
        end.joint = -1;
        end.factor = 1.0;
        end.radius = 0.0;
        end.side = stn_vec3_zero();
        assert_ok(stn_builder_create(f->context, &builder, &err), err);
        assert_ok(stn_instance_create(f->context, STN_KIND_CONSTRAINT, "test_cable", NULL, 0, &instance, &err), err);
        begin_robot(builder, "one");
        end.link = add_link(builder, "link", one_kg());
        const stn_constraint_spec spec = {.name = "rope", .end_count = 1, .ends = &end};
        assert_ok(stn_builder_add_constraint(builder, instance, &spec, &index, &err), err);
        stn_model *model = compile_model(builder);
        assert_ok(save_model(model, &err), err);
        stn_model_destroy(model);
        stn_builder_destroy(builder);
        if (k == 0) {
            first = read_bytes(&first_size);
        }
    }
    assert_int_equal(saved_size, first_size);
    assert_memory_equal(saved, first, first_size);
    free(first);
}

static void the_smallest_model_is_a_file_too(void **state) {
    fixture *f = *state;
    stn_error err;
    size_t size = 0;
    begin_robot(f->builder, "one");
    add_shape(f->builder, add_link(f->builder, "link", one_kg()), stn_shape_sphere(0.1));
    stn_model *model = compile_model(f->builder), *loaded = NULL;
    assert_ok(save_model(model, &err), err);
    assert_ok(load_model(f->context, &loaded, &err), err);
    same_model(model, loaded);
    char *bytes = read_bytes(&size);
    seed_write("model/small", bytes, size, NULL, 0);
    free(bytes);
    stn_model_destroy(loaded);
    stn_model_destroy(model);
}

static void a_damaged_file_is_refused(void **state) {
    fixture *f = *state;
    stn_model *model = everything(f), *loaded = NULL;
    stn_error err;
    size_t size = 0;
    assert_ok(save_model(model, &err), err);
    stn_model_destroy(model);
    char *bytes = read_bytes(&size);
    seed_write("model/everything", bytes, size, NULL, 0);
    for (size_t cut = 0; cut < size; cut += 1 + size / 50) {
        write_bytes(bytes, cut);
        assert_int_equal(load_model(f->context, &loaded, &err), STN_ERR_PARSE);
        assert_non_null(strstr(err.text, "a saved model"));
    }
    bytes[size / 2] ^= 1;
    write_bytes(bytes, size);
    assert_int_equal(load_model(f->context, &loaded, &err), STN_ERR_PARSE);
    assert_non_null(strstr(err.text, "checksum"));
    free(bytes);
    assert_null(loaded);
}

/// A file with a true checksum may hold anything: it is refused, or gives a model.
static void forged_bytes_do_no_harm(void **state) {
    fixture *f = *state;
    stn_model *model = everything(f), *loaded = NULL;
    stn_error err;
    stn_random random = {7};
    size_t size = 0;
    assert_ok(save_model(model, &err), err);
    stn_model_destroy(model);
    char *bytes = read_bytes(&size);
    for (int32_t i = 0; i < 400; i++) {
        size_t at = 16 + (size_t)random_below(&random, (int32_t)size - 24);
        char before = bytes[at];
        bytes[at] = (char)(i % 3 == 0 ? 0xff : i % 3 == 1 ? 0 : random_bits(&random));
        uint64_t checksum = stn_hash(0, bytes, size - 8);
        memcpy(bytes + size - 8, &checksum, 8);
        write_bytes(bytes, size);
        stn_status status = load_model(f->context, &loaded, &err);
        assert_true((status == STN_OK) == (loaded != NULL));
        stn_model_destroy(loaded);
        bytes[at] = before;
    }
    free(bytes);
}

/// Every whole number of a file is made another one: an index of nothing, of the thing itself, of a later or an earlier
/// one of another kind, a count too large. Whatever the checksum says, the file is refused with a line, or is a model.
static void forged_numbers_do_no_harm(void **state) {
    static const int32_t forged[] = {-2, 0, 4, 255, INT32_MAX};
    fixture *f = *state;
    stn_model *model = everything(f), *loaded = NULL;
    stn_error err;
    size_t size = 0;
    int32_t accepted = 0, refused = 0;
    assert_ok(save_model(model, &err), err);
    stn_model_destroy(model);
    char *bytes = read_bytes(&size);
    for (size_t at = 16; at + 4 <= size - 8; at++) {
        int32_t before = 0;
        memcpy(&before, bytes + at, 4);
        if (before < -1 || before > 1000 || (before == 0 && at % 4 != 0)) {
            continue; // part of a real number or of a text
        }
        for (int32_t i = 0; i < STN_COUNT(forged); i++) {
            memcpy(bytes + at, &forged[i], 4);
            uint64_t checksum = stn_hash(0, bytes, size - 8);
            memcpy(bytes + size - 8, &checksum, 8);
            write_bytes(bytes, size);
            err = (stn_error){STN_OK, ""};
            stn_status status = load_model(f->context, &loaded, &err);
            assert_true((status == STN_OK) == (loaded != NULL));
            assert_true(status == STN_OK || err.text[0] != '\0');
            accepted += status == STN_OK;
            refused += status != STN_OK;
            stn_model_destroy(loaded);
        }
        memcpy(bytes + at, &before, 4);
    }
    free(bytes);
    assert_true(accepted > 100 && refused > 1000);
}

/// The second of two meshes has the data of the first, which has none.
static void a_mesh_cannot_have_the_data_of_one_without(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_model *loaded = NULL;
    size_t size = 0;
    int32_t index = 0;
    assert_ok(stn_builder_add_mesh(f->builder, "drawn.obj", stn_vec3_make(1.0, 1.0, 1.0), NULL, &index, &err), err);
    assert_ok(stn_builder_add_mesh(f->builder, "other.obj", stn_vec3_make(1.0, 1.0, 1.0), NULL, &index, &err), err);
    stn_model *model = compile_model(f->builder);
    assert_ok(save_model(model, &err), err);
    stn_model_destroy(model);
    char *bytes = read_bytes(&size), *name = NULL;
    for (char *at = bytes; at + 10 < bytes + size && name == NULL; at++) {
        name = memcmp(at, "other.obj", 10) == 0 ? at : NULL;
    }
    assert_non_null(name);
    memset(name + 10 + 3 * sizeof(double), 0, sizeof(int32_t)); // behind the scale: whose data
    uint64_t checksum = stn_hash(0, bytes, size - 8);
    memcpy(bytes + size - 8, &checksum, 8);
    write_bytes(bytes, size);
    free(bytes);
    assert_int_equal(load_model(f->context, &loaded, &err), STN_ERR_PARSE);
    assert_null(loaded);
}

static void a_missing_element_plugin_is_named(void **state) {
    fixture *f = *state;
    stn_context *other = NULL;
    stn_model *model = everything(f), *loaded = NULL;
    stn_error err;
    assert_ok(save_model(model, &err), err);
    stn_model_destroy(model);
    assert_ok(stn_context_create(NULL, &other, &err), err);
    assert_int_equal(load_model(other, &loaded, &err), STN_ERR_PLUGIN);
    assert_non_null(strstr(err.text, "test_bar"));
    stn_context_destroy(other);
}

static void running_out_of_memory_leaks_nothing(void **state) {
    fixture *f = *state;
    stn_model *model = everything(f), *loaded = NULL;
    stn_error err;
    assert_ok(save_model(model, &err), err);
    stn_status status = STN_ERR_MEMORY;
    for (int64_t n = 1; status == STN_ERR_MEMORY; n++) {
        stn_heap_arm(&f->heap, n);
        status = save_model(model, &err);
    }
    assert_int_equal(status, STN_OK);
    status = STN_ERR_MEMORY;
    for (int64_t n = 1; status == STN_ERR_MEMORY; n++) {
        stn_heap_arm(&f->heap, n);
        status = load_model(f->context, &loaded, &err);
        assert_true((status == STN_OK) == (loaded != NULL));
    }
    stn_heap_arm(&f->heap, 0);
    assert_ok(status, err);
    stn_model_destroy(loaded);
    stn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_loaded_model_is_the_saved_one_bit_for_bit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(round_ends_of_a_constraint_are_saved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gaps_are_not_saved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_smallest_model_is_a_file_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_file_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forged_bytes_do_no_harm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forged_numbers_do_no_harm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_mesh_cannot_have_the_data_of_one_without, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_element_plugin_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(running_out_of_memory_leaks_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
