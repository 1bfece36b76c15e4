// SPDX-License-Identifier: Apache-2.0
// Parts of a recording that no built-in plugin makes yet, or few scenes have: patches with pressure, nodes and surfaces
// of deformables, meshes, and numbers that are none.
#include <unistd.h>

#include "html_fixture.h"

#include "stn_model_test.h"

static const double g = 9.81;

static int set_up(void **state) {
    make_folder();
    assert_int_equal(setenv("STICTION_PLUGIN_PATH", STN_FAKES_DIR, 1), 0);
    return scene_setup(state);
}

static int tear_down(void **state) {
    return remove_folder() != 0 || scene_teardown(state) != 0;
}

// ---------------------------------------------------------------------------------------------------------- patches

/// Area of a flat polygon by its corners, along z.
static double area_of(const decoded_face *face) {
    double area = 0.0;
    for (int32_t i = 0; i < face->corner_count; i++) {
        const double *a = face->corner[i], *b = face->corner[(i + 1) % face->corner_count];
        area += 0.5 * (a[0] * b[1] - a[1] * b[0]);
    }
    return fabs(area);
}

static double mean_pressure(const decoded_face *face) {
    double sum = 0.0;
    for (int32_t i = 0; i < face->corner_count; i++) {
        sum += (double)face->pressure[i];
    }
    return sum / face->corner_count;
}

/// The model's elastic foundation carries a cube of side 0.2 m: faces cover its bottom, pressure times area is its
/// weight.
static void patches_cover_the_contact_and_their_pressure_carries_the_weight(void **state) {
    stn_world_options options = defaults;
    options.contact.id = "fake_two_patches";
    options.dt = 0.005;
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    record(world, number_setting("frame_rate", 0.0));
    scene_steps(world, 200);
    const decoded *d = close_and_decode(world);
    assert_int_equal(d->frames[0].patch_count, 0); // the start has no contacts yet
    for (int32_t f = 2; f < d->frame_count; f++) {
        assert_int_equal(d->frames[f].patch_count, 2);
    }
    const decoded_frame *last = &d->frames[d->frame_count - 1];
    double area = 0.0, carried = 0.0, force = 0.0;
    for (int32_t p = 0; p < 2; p++) {
        const decoded_patch *patch = &last->patches[p];
        assert_int_equal(patch->first_contact, 16 * p);
        assert_int_equal(patch->face_count, 16);
        for (int32_t i = 0; i < patch->face_count; i++) {
            const decoded_face *face = &patch->faces[i];
            const decoded_contact *c = &last->contacts[patch->first_contact + i];
            assert_int_equal(face->corner_count, 4);
            assert_int_equal(c->state & 4, 4);
            assert_int_equal(c->geometry_a, patch->geometry_a);
            area += area_of(face);
            carried += area_of(face) * mean_pressure(face);
            force += fabs(c->force[2]);
        }
    }
    assert_near(area, 0.04, 1e-2 * 0.04); // 32 faces of 5 x 2.5 cm with corners rounded to a unit
    assert_near(carried, g, 1e-2 * g);
    assert_near(force, g, 32.0 * 0.5 * d->force + 1e-4);
    stn_world_destroy(world);
}

// ------------------------------------------------------------------------------------------------------ constraints

static void add_spring(stn_world *world, const char *name, const stn_setting *settings, int32_t setting_count) {
    stn_constraint_end_spec ends[2] = {{.link = 0, .pose = stn_pose_identity(), .joint = -1},
                                       {.link = STN_WORLD, .pose = stn_pose_identity(), .joint = -1}};
    ends[1].pose.position = stn_vec3_make(0.0, 0.3, 1.0);
    const stn_constraint_spec spec = {.name = name, .end_count = 2, .ends = ends};
    stn_instance *spring = NULL;
    int32_t number = -1;
    stn_error err;
    assert_ok(stn_instance_create(stn_world_context(world), STN_KIND_CONSTRAINT, "spring", settings, setting_count,
                                  &spring, &err),
              err);
    assert_ok(stn_builder_add_constraint(stn_world_builder(world), spring, &spec, &number, &err), err);
}

/// A cube hangs on a spring and has a rope beside it that is too long: lines from the cube to their hook, in every
/// frame.
static void constraints_have_a_line_with_its_force(void **state) {
    stn_world_options options = defaults;
    options.dt = 0.005;
    stn_world *world = scene_world(*state, &options);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.3, 0.6));
    const stn_setting taut[] = {number_setting("stiffness", 100.0), number_setting("damping", 20.0)};
    const stn_setting loose[] = {number_setting("stiffness", 100.0),
                                 number_setting("length", 3.0),
                                 {.name = "tension_only", .form = STN_SETTING_BOOL, .number = 1.0, .where = "test"}};
    add_spring(world, "holds", taut, 2);
    add_spring(world, "", loose, 3);
    record(world, number_setting("frame_rate", 0.0));
    scene_steps(world, 1000);
    const decoded *d = close_and_decode(world);
    assert_int_equal(d->constraint_count, 2);
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(d->scene, "constraints"), 0);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(first, "name")->valuestring, "holds");
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(first, "plugin")->valuestring, "spring");
    for (int32_t f = 0; f < d->frame_count; f++) {
        for (int32_t i = 0; i < 2; i++) {
            const decoded_line *line = &d->frames[f].lines[i];
            assert_int_equal(line->point_count, 2);
            near3(line->point[0], stn_vec3_make(0.0, 0.3, d->frames[f].body[2]), 1.01 * d->length);
            near3(line->point[1], stn_vec3_make(0.0, 0.3, 1.0), 0.501 * d->length);
            assert_int_equal(line->slack, i == 1 && f > 0);
        }
    }
    const decoded_line *last = d->frames[d->frame_count - 1].lines;
    assert_near(last[0].force, -g, 0.501 * d->force + 1e-5);
    assert_near(last[1].force, 0.0, 0.0);
    const decoded_series *force = find_series(d, "constraint[holds].force");
    assert_non_null(force);
    assert_near((double)force->values[d->point_count - 1], -g, 1e-4);
    assert_non_null(find_series(d, "constraint[2].force"));
    stn_world_destroy(world);
}

// ------------------------------------------------------------------------------------------------------ deformables

/// The eight corners of a cube of side 0.1 m as five tetrahedra.
static void add_soft_cube(stn_world *world) {
    double position[24], mass[8];
    for (int32_t i = 0; i < 8; i++) {
        position[3 * i] = 0.1 * (i % 2);
        position[3 * i + 1] = 0.1 * (i / 2 % 2);
        position[3 * i + 2] = 0.5 + 0.1 * (i / 4);
        mass[i] = 0.05;
    }
    stn_nodes_spec spec = {.name = "cube",
                           .node_count = 8,
                           .position = position,
                           .mass = mass,
                           .contact_radius = 0.01,
                           .material = stn_material_unset()};
    const int32_t index[] = {0, 1, 2, 4, 1, 3, 2, 7, 1, 4, 5, 7, 2, 4, 7, 6, 1, 2, 4, 7};
    stn_setting stiff = number_setting("k", 500.0);
    stn_instance *instance = NULL;
    int32_t nodes = -1;
    stn_error err;
    assert_ok(stn_builder_add_nodes(stn_world_builder(world), &spec, &nodes, &err), err);
    assert_ok(stn_instance_create(stn_world_context(world), STN_KIND_ELEMENT, "fake_tet", &stiff, 1, &instance, &err),
              err);
    const stn_elements_spec elements = {.nodes = nodes, .element_count = 5, .index = index};
    int32_t group = -1;
    assert_ok(stn_builder_add_elements(stn_world_builder(world), instance, &elements, &group, &err), err);
}

static void nodes_move_and_their_surface_encloses_the_volume(void **state) {
    stn_world *world = scene_world(*state, &defaults);
    stn_error err;
    int32_t ball_link = scene_ball(world, "ball", 1.0, 0.05, stn_vec3_make(1.0, 0.0, 1.0));
    add_soft_cube(world);
    assert_ok(stn_world_compile(world, &err), err);
    record(world, number_setting("frame_rate", 0.0));
    scene_steps(world, 20);
    const decoded *d = close_and_decode(world);
    assert_int_equal(d->node_count, 8);
    const stn_kinematics *k = stn_world_kinematics(world);
    const double *end = d->frames[20].node, *start = d->frames[0].node;
    for (int32_t n = 0; n < 8; n++) {
        near3(end + 3 * n, k->node[n], 0.5001 * d->length);
        near3(start + 3 * n, stn_vec3_make(0.1 * (n % 2), 0.1 * (n / 2 % 2), 0.5 + 0.1 * (n / 4)), 0.5001 * d->length);
    }
    const cJSON *surfaces = cJSON_GetObjectItem(d->scene, "surfaces"), *surface = cJSON_GetArrayItem(surfaces, 0);
    assert_int_equal(cJSON_GetArraySize(surfaces), 1);
    assert_int_equal(cJSON_GetObjectItem(surface, "first_node")->valueint, 0);
    assert_int_equal(cJSON_GetObjectItem(surface, "node_count")->valueint, 8);
    const cJSON *triangles = cJSON_GetObjectItem(surface, "triangles");
    assert_int_equal(cJSON_GetArraySize(triangles), 36); // two triangles a side
    double volume = 0.0;
    for (int32_t t = 0; t < 12; t++) {
        stn_vec3 corner[3];
        for (int32_t c = 0; c < 3; c++) {
            const double *p = start + 3 * cJSON_GetArrayItem(triangles, 3 * t + c)->valueint;
            corner[c] = stn_vec3_make(p[0], p[1], p[2]);
        }
        volume += stn_vec3_dot(corner[0], stn_vec3_cross(corner[1], corner[2])) / 6.0; // outward corners: > 0
    }
    assert_near(volume, 1e-3, 1e-3 * 1e-3);
    int32_t spheres = 0;
    const cJSON *geometry;
    cJSON_ArrayForEach(geometry, cJSON_GetObjectItem(d->scene, "geometries")) {
        const cJSON *node = cJSON_GetObjectItem(geometry, "node");
        spheres += node != NULL && cJSON_GetObjectItem(geometry, "body") == NULL;
        assert_true(node == NULL || node->valueint < 8);
        const cJSON *link = cJSON_GetObjectItem(geometry, "link"), *body = cJSON_GetObjectItem(geometry, "body");
        bool of_ball = body != NULL && body->valueint > 0;
        assert_int_equal(link != NULL ? link->valueint : -1, of_ball ? ball_link : -1);
    }
    assert_int_equal(spheres, 8);
    stn_world_destroy(world);
}

// ------------------------------------------------------------------------------------------------------------ meshes

static const char tetrahedron[] = "v 0 0 0\nv 0.3 0 0\nv 0 0.2 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// A ball with a visual mesh that the model only names.
static stn_world *world_with_named_mesh(stn_context *context, const char *mesh_path) {
    stn_world *world = scene_world(context, &defaults);
    stn_error err;
    scene_ball(world, "ball", 1.0, 0.1, stn_vec3_make(0.0, 0.0, 1.0));
    stn_geometry_spec spec = stn_geometry_spec_default(stn_shape_mesh(NULL));
    spec.collision = false;
    int32_t geometry = -1;
    stn_model_builder *builder = stn_world_builder(world);
    assert_ok(stn_builder_add_mesh(builder, mesh_path, stn_vec3_make(2.0, 1.0, 1.0), NULL, &spec.mesh, &err), err);
    assert_ok(stn_builder_add_geometry(builder, 0, &spec, &geometry, &err), err);
    return world;
}

static void a_mesh_that_the_model_names_is_held_with_its_scale(void **state) {
    char file[80];
    snprintf(file, sizeof file, "%s/part.obj", folder);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(tetrahedron, out);
    fclose(out);
    stn_world *world = world_with_named_mesh(*state, file);
    record(world, number_setting("frame_rate", 60.0));
    scene_steps(world, 1);
    const decoded *d = close_and_decode(world);
    assert_int_equal(d->mesh_count, 1);
    assert_int_equal(cJSON_GetObjectItem(d->scene, "mesh_count")->valueint, 1);
    const decoded_mesh *m = &d->meshes[0];
    assert_int_equal(m->vertex_count, 4);
    assert_int_equal(m->triangle_count, 4);
    double volume = 0.0;
    for (int32_t t = 0; t < 4; t++) {
        stn_vec3 corner[3];
        for (int32_t c = 0; c < 3; c++) {
            const double *p = m->vertices + 3 * m->triangles[3 * t + c];
            corner[c] = stn_vec3_make(p[0], p[1], p[2]);
        }
        volume += stn_vec3_dot(corner[0], stn_vec3_cross(corner[1], corner[2])) / 6.0;
    }
    assert_near(volume, 0.6 * 0.2 * 0.1 / 6.0, 1e-9); // corners of the bounds are exact
    const cJSON *shape = cJSON_GetArrayItem(cJSON_GetObjectItem(d->scene, "geometries"), 1);
    assert_string_equal(cJSON_GetObjectItem(shape, "type")->valuestring, "mesh");
    assert_int_equal(cJSON_GetObjectItem(shape, "mesh")->valueint, 0);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(shape, "collision")));
    stn_world_destroy(world);
}

static void without_meshes_the_shape_has_none(void **state) {
    stn_world *world = world_with_named_mesh(*state, "nowhere.obj");
    record(world, text_setting("meshes", "false"));
    scene_steps(world, 1);
    const decoded *d = close_and_decode(world);
    assert_int_equal(d->mesh_count, 0);
    assert_null(cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(d->scene, "geometries"), 1), "mesh"));
    stn_world_destroy(world);
}

static void keep_log(void *user, stn_log_level level, const char *text) {
    assert_int_equal(level, STN_LOG_WARNING);
    strncat(user, text, 1000 - strlen(user));
}

static void a_mesh_that_cannot_be_read_is_said_and_left_out(void **state) {
    (void)state;
    char said[1024] = "";
    stn_context_options options = {.log = keep_log, .log_user = said};
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(&options, &context, &err), err);
    stn_world *world = world_with_named_mesh(context, "nowhere.obj");
    record(world, number_setting("frame_rate", 60.0));
    scene_steps(world, 1);
    const decoded *d = close_and_decode(world);
    assert_int_equal(d->mesh_count, 0);
    assert_non_null(strstr(said, "nowhere.obj"));
    stn_world_destroy(world);
    stn_context_destroy(context);
}

// ------------------------------------------------------------------------------------------------- hand-built frames

typedef struct hand {
    stn_model *model;
    stn_kinematics *kinematics;
    stn_instance *recorder;
    void *recording;
    stn_step_report report;
} hand;

static hand open_by_hand(stn_context *context) {
    hand h = {0};
    unlink(path);
    stn_error err;
    stn_model_builder *builder = new_builder(context);
    int32_t robot = begin_robot(builder, "ball");
    add_shape(builder, add_link(builder, "ball", mass_of(1.0, stn_vec3_zero(), 0.1, 0.1, 0.1)), stn_shape_sphere(0.1));
    set_base(builder, robot, stn_pose_identity(), false);
    h.model = compile_model(builder);
    stn_builder_destroy(builder);
    double v[6] = {0};
    assert_ok(stn_kinematics_create(h.model, &h.kinematics, &err), err);
    stn_kinematics_update(h.kinematics, h.model->q0, v);
    stn_setting every = number_setting("frame_rate", 0.0);
    assert_ok(stn_instance_create(context, STN_KIND_RECORDER, "html", &every, 1, &h.recorder, &err), err);
    stn_record_header header = {.model = h.model, .path = path, .parameters = "a = \"</script><!--\"\nb = \xc3\xa4\n"};
    assert_ok(h.recorder->desc->ops.recorder->open(h.recorder->self, &header, &h.recording, &err), err);
    return h;
}

static void observe_by_hand(hand *h, int64_t step) {
    stn_error err;
    stn_observation o = {.model = h->model,
                         .step = step,
                         .time = 0.1 * (double)step,
                         .dt = 0.1,
                         .q = h->model->q0,
                         .v = h->kinematics->v,
                         .kinematics = h->kinematics,
                         .report = &h->report};
    assert_ok(h->recorder->desc->ops.recorder->observe(h->recording, &o, &err), err);
}

static const decoded *close_by_hand(hand *h) {
    stn_error err;
    assert_ok(h->recorder->desc->ops.recorder->close(h->recording, &err), err);
    stn_instance_destroy(h->recorder);
    stn_kinematics_destroy(h->kinematics);
    stn_model_destroy(h->model);
    return decode_recording(path);
}

static void numbers_that_are_none_repeat_the_frame_before(void **state) {
    hand h = open_by_hand(*state);
    const double x[] = {1.0, 2.0, (double)NAN, 3.0, (double)INFINITY, -1e300, 4.0, 1e9};
    for (int32_t i = 0; i < STN_COUNT(x); i++) {
        h.kinematics->body_pose[1].position.x = x[i];
        h.report.kinetic_J = x[i];
        observe_by_hand(&h, i);
    }
    const decoded *d = close_by_hand(&h);
    const double kept[] = {1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 1e9};
    for (int32_t i = 0; i < STN_COUNT(kept); i++) {
        assert_near(d->frames[i].body[0], kept[i], d->length + 1e-15 * kept[i]);
    }
    const float *energy = find_series(d, "kinetic_J")->values; // series keep what is no number
    assert_true(isnan(energy[2]) && energy[4] == (float)INFINITY && energy[5] == -(float)INFINITY);
}

static void a_rotation_does_not_jump_to_its_other_quaternion(void **state) {
    hand h = open_by_hand(*state);
    for (int32_t i = 0; i < 200; i++) { // three turns about an axis, also over the ends of blocks
        stn_vec3 axis = stn_vec3_make(0.6 * 0.1 * i, 0.0, 0.8 * 0.1 * i);
        h.kinematics->body_pose[1].rotation = stn_quat_matrix(stn_quat_exp(axis));
        observe_by_hand(&h, i);
    }
    const decoded *d = close_by_hand(&h);
    for (int32_t i = 0; i < 200; i++) {
        const double *body = d->frames[i].body;
        const double half = 0.05 * i, expected[4] = {cos(half), 0.6 * sin(half), 0.0, 0.8 * sin(half)};
        for (int32_t k = 0; k < 4; k++) { // followed through, it is minus one after a full turn
            assert_near(body[3 + k], expected[k], d->rotation);
        }
    }
}

/// Of many nodes a block holds few frames, and all of them come back.
static void frames_of_many_nodes_are_in_smaller_blocks(void **state) {
    enum { NODES = 20000 };
    stn_world *world = scene_world(*state, &defaults);
    double *position = calloc(3 * NODES, sizeof *position), *mass = calloc(NODES, sizeof *mass);
    assert_true(position != NULL && mass != NULL);
    for (int32_t i = 0; i < NODES; i++) {
        position[3 * i] = 0.1 * i;
        mass[i] = 0.05;
    }
    stn_nodes_spec spec = {.name = "row",
                           .node_count = NODES,
                           .position = position,
                           .mass = mass,
                           .contact_radius = 0.01,
                           .material = stn_material_unset()};
    int32_t nodes = -1;
    stn_error err;
    assert_ok(stn_builder_add_nodes(stn_world_builder(world), &spec, &nodes, &err), err);
    record(world, number_setting("frame_rate", 0.0));
    scene_steps(world, 40);
    const decoded *d = close_and_decode(world);
    assert_int_equal(d->frame_count, 41);
    assert_true(d->frame_blocks >= 2); // 2^21 / 60000 = 34 frames, then 7; on a slow machine also after each second
    const stn_kinematics *k = stn_world_kinematics(world);
    for (int32_t n = 0; n < NODES; n += 999) {
        near3(d->frames[40].node + 3 * n, k->node[n], 0.5001 * d->length);
    }
    free(position);
    free(mass);
    stn_world_destroy(world);
}

static void texts_of_any_characters_come_back(void **state) {
    hand h = open_by_hand(*state);
    observe_by_hand(&h, 0);
    const decoded *d = close_by_hand(&h);
    assert_string_equal(cJSON_GetObjectItem(d->scene, "parameters")->valuestring,
                        "a = \"</script><!--\"\nb = \xc3\xa4\n");
    assert_string_equal(cJSON_GetObjectItem(d->scene, "title")->valuestring, "out");
    assert_int_equal(d->frame_count, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(patches_cover_the_contact_and_their_pressure_carries_the_weight, forget),
        cmocka_unit_test_teardown(constraints_have_a_line_with_its_force, forget),
        cmocka_unit_test_teardown(nodes_move_and_their_surface_encloses_the_volume, forget),
        cmocka_unit_test_teardown(a_mesh_that_the_model_names_is_held_with_its_scale, forget),
        cmocka_unit_test_teardown(without_meshes_the_shape_has_none, forget),
        cmocka_unit_test_teardown(a_mesh_that_cannot_be_read_is_said_and_left_out, forget),
        cmocka_unit_test_teardown(numbers_that_are_none_repeat_the_frame_before, forget),
        cmocka_unit_test_teardown(a_rotation_does_not_jump_to_its_other_quaternion, forget),
        cmocka_unit_test_teardown(frames_of_many_nodes_are_in_smaller_blocks, forget),
        cmocka_unit_test_teardown(texts_of_any_characters_come_back, forget),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
