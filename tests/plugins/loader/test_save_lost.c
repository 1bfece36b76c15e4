// SPDX-License-Identifier: Apache-2.0
// What the formats cannot hold: a warning, once a kind, or a refusal of one line; what they do hold beside the
// mechanics (keyframes, servos, bases, names); and that saving survives running out of memory at any request.
#include "save_fixture.h"

/// A robot to fill; the root is link 0.
typedef struct workbench {
    fixture *f;
    stn_model_builder *builder;
    int32_t robot, links[8], count;
} workbench;

static int32_t add_link(workbench *w, const char *name) {
    stn_link_spec spec = {.name = name, .mass = {1.0, {0.0, 0.0, 0.1}, stn_mat3_diagonal(0.1, 0.1, 0.1)}};
    assert_ok(stn_builder_add_link(w->builder, &spec, &w->links[w->count], &w->f->err), w->f->err);
    return w->count++;
}

static workbench begin(fixture *f) {
    workbench w = {.f = f};
    assert_ok(stn_builder_create(f->context, &w.builder, &f->err), f->err);
    assert_ok(stn_builder_begin_group(w.builder, "r", &w.robot, &f->err), f->err);
    add_link(&w, "base");
    return w;
}

/// A joint from the root to a new link.
static stn_joint_spec joint_to(workbench *w, const char *name, stn_joint_type type) {
    char link[64];
    snprintf(link, sizeof link, "link of %s", name);
    stn_joint_spec spec = stn_joint_spec_default(name, type);
    spec.parent = w->links[0];
    spec.child = w->links[add_link(w, link)];
    spec.axis = stn_vec3_make(0.0, 0.0, 1.0);
    return spec;
}

static int32_t add_joint(workbench *w, const stn_joint_spec *spec) {
    int32_t joint = -1;
    assert_ok(stn_builder_add_joint(w->builder, spec, &joint, &w->f->err), w->f->err);
    return joint;
}

static void add_shape(workbench *w, const stn_geometry_spec *spec) {
    int32_t index = 0;
    assert_ok(stn_builder_add_geometry(w->builder, w->links[0], spec, &index, &w->f->err), w->f->err);
}

/// Every kind of thing twice that some format lacks.
static stn_model *make_lossy(fixture *f) {
    workbench w = begin(f);
    const double q[2] = {0.1, 0.2};
    const stn_keyframe_spec key = {.name = "home", .q_count = 2, .q = q};
    stn_pose base = stn_pose_identity();
    for (int32_t i = 0; i < 2; i++) {
        stn_joint_spec spec = joint_to(&w, i == 0 ? "first" : "second", STN_JOINT_REVOLUTE);
        spec.upper = 1.0; // on one side only
        spec.velocity = 3.0;
        spec.stiffness = 5.0;
        spec.servo_kp = 100.0;
        spec.actuator = i == 0 ? "motor 1" : "motor 2";
        add_joint(&w, &spec);
        stn_geometry_spec shape = stn_geometry_spec_default(stn_shape_sphere(0.1));
        shape.surface_velocity.x = 1.0;
        shape.category = shape.mask = 2;
        shape.material.stiffness = 1e5;
        shape.material.restitution = 0.1 * i;
        add_shape(&w, &shape);
        assert_ok(stn_builder_disable_collisions(w.builder, w.links[1 + i], STN_WORLD, &f->err), f->err);
    }
    assert_ok(stn_builder_add_keyframe(w.builder, w.robot, &key, &f->err), f->err);
    assert_ok(stn_builder_set_base(w.builder, w.robot, &base, true, &f->err), f->err);
    return save_compile(f, w.builder);
}

static int32_t count_code(const fixture *f, const char *code) {
    int32_t count = 0;
    for (int32_t i = 0; i < f->list.count; i++) {
        count += f->list.items[i].severity == STN_SEVERITY_WARNING && strcmp(f->list.items[i].code, code) == 0;
    }
    return count;
}

static stn_status save_as(fixture *f, const stn_model *model, const char *format) {
    stn_save_request request = {.model = model, .path = f->path};
    snprintf(f->path, sizeof f->path, "%s/out.txt", f->folder);
    stn_diagnostics_clear(&f->list);
    stn_diagnostics_init(&f->list, f->context);
    f->err = (stn_error){0};
    return stn_save_robot(f->context, &request, format, &f->list, &f->err);
}

/// Exactly these codes (between spaces), each once.
static void expect_codes(fixture *f, const stn_model *model, const char *format, const char *codes) {
    char words[400];
    int32_t count = 0;
    assert_ok(save_as(f, model, format), f->err);
    snprintf(words, sizeof words, "%s", codes);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        if (count_code(f, word) != 1) {
            print_findings(f);
            fail_msg("%s: %d warnings %s", format, (int)count_code(f, word), word);
        }
        count++;
    }
    if (f->list.count != count) {
        print_findings(f);
        fail_msg("%s: %d findings, expected %d", format, (int)f->list.count, (int)count);
    }
}

static void what_a_format_lacks_is_a_warning_once_a_kind(void **state) {
    fixture *f = *state;
    stn_model *model = make_lossy(f);
    expect_codes(f, model, "urdf", "surface_velocity collision_mask limit spring servo keyframe restitution exclude");
    expect_codes(f, model, "sdf", "surface_velocity collision_mask actuator keyframe exclude");
    expect_codes(f, model, "mjcf", "surface_velocity collision_mask limit velocity surface exclude");
    stn_model_destroy(model);
}

/// One friction direction on all collisions of a link is kept by SDFormat and URDF, two by SDFormat alone.
static void a_friction_direction_is_kept_where_the_format_has_one(void **state) {
    fixture *f = *state;
    for (int32_t different = 0; different < 2; different++) {
        workbench w = begin(f);
        stn_joint_spec joint = joint_to(&w, "j", STN_JOINT_CONTINUOUS);
        joint.axis = stn_vec3_make(0.0, 0.0, 1.0);
        add_joint(&w, &joint);
        for (int32_t i = 0; i < 2; i++) {
            stn_geometry_spec shape = stn_geometry_spec_default(stn_shape_sphere(0.1));
            shape.pose.position.x = i;
            shape.visual = false;
            shape.material.mu = 0.8;
            shape.material.mu2 = 0.3;
            shape.friction_direction = stn_vec3_make(3.0, 4.0, different == 1 ? i : 0.0);
            add_shape(&w, &shape);
        }
        stn_model *model = save_compile(f, w.builder);
        expect_codes(f, model, "mjcf", "friction");
        expect_codes(f, model, "sdf", "");
        expect_codes(f, model, "urdf", different == 1 ? "friction" : "");
        for (int32_t k = 0; k < 2 - different; k++) { // SDFormat comes second
            save_deviation d = {0};
            stn_model *copy = save_round_trip(f, model, &save_formats[1 - k], false, &d);
            for (int32_t i = 0; i < 2; i++) {
                const stn_geometry *g = &copy->geometries[i];
                stn_vec3 unit = stn_vec3_normalize_or(model->geometries[i].friction_direction, stn_vec3_zero());
                assert_near(g->material.mu, 0.8, 0.0);
                assert_near(g->material.mu2, 0.3, 0.0);
                assert_near(stn_vec3_norm(stn_vec3_sub(g->friction_direction, unit)), 0.0, 1e-15);
            }
            stn_model_destroy(copy);
        }
        stn_model_destroy(model);
    }
}

/// Tetrahedra of another source than the file of the shape's mesh have no place in a file.
static void tetrahedra_from_elsewhere_are_lost(void **state) {
    fixture *f = *state;
    const double corners[12] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    const int32_t cell[4] = {0, 1, 2, 3};
    const stn_mesh_data data = {.vertex_count = 4, .tetrahedron_count = 1, .vertices = corners, .tetrahedra = cell};
    const stn_vec3 one = {1.0, 1.0, 1.0};
    stn_mesh *mesh = NULL;
    workbench w = begin(f);
    stn_geometry_spec shape = stn_geometry_spec_default(stn_shape_sphere(0.1));
    assert_ok(stn_mesh_create(f->context, &data, &mesh, &f->err), f->err);
    assert_ok(stn_builder_add_mesh(w.builder, "", one, mesh, &shape.field.volume_mesh, &f->err), f->err);
    add_shape(&w, &shape);
    stn_mesh_release(mesh);
    stn_model *model = save_compile(f, w.builder);
    expect_codes(f, model, "urdf", "volume_mesh");
    expect_codes(f, model, "sdf", "volume_mesh");
    expect_codes(f, model, "mjcf", "volume_mesh");
    stn_model_destroy(model);
}

static void refuse(fixture *f, stn_model *model, const char *format, const char *part) {
    if (save_as(f, model, format) != STN_ERR_UNSUPPORTED || strstr(f->err.text, part) == NULL ||
        strchr(f->err.text, '\n') != NULL) {
        fail_msg("%s: '%s' must be one line with '%s'", format, f->err.text, part);
    }
    assert_int_not_equal(access(f->path, F_OK), 0);
}

static stn_model *with_joint(fixture *f, stn_joint_type type) {
    workbench w = begin(f);
    stn_joint_spec spec = joint_to(&w, "j", type);
    spec.screw_pitch = 0.1;
    add_joint(&w, &spec);
    return save_compile(f, w.builder);
}

static void joints_that_a_format_lacks_are_refused(void **state) {
    fixture *f = *state;
    stn_model *screw = with_joint(f, STN_JOINT_SCREW), *floating = with_joint(f, STN_JOINT_FLOATING);
    refuse(f, screw, "mjcf", "joint j: MJCF has no screw joints");
    refuse(f, floating, "mjcf", "joint j: MJCF has no floating joints between bodies");
    refuse(f, floating, "sdf", "joint j: SDFormat has no floating joints between links");
    stn_model_destroy(screw);
    stn_model_destroy(floating);
}

static stn_model *with_name(fixture *f, const char *name) {
    workbench w = begin(f);
    stn_joint_spec spec = stn_joint_spec_default("j", STN_JOINT_CONTINUOUS);
    spec.parent = w.links[0];
    spec.child = w.links[add_link(&w, name)];
    spec.axis = stn_vec3_make(0.0, 0.0, 1.0);
    add_joint(&w, &spec);
    return save_compile(f, w.builder);
}

static void names_that_a_file_cannot_hold_are_refused(void **state) {
    static const char *const formats[] = {"urdf", "sdf", "mjcf"};
    fixture *f = *state;
    stn_model *control = with_name(f, "bell\a"), *world = with_name(f, "world");
    for (int32_t i = 0; i < STN_COUNT(formats); i++) {
        refuse(f, control, formats[i], "the name of a link holds a control character");
        refuse(f, world, formats[i], "link 'world' is not the root");
    }
    char name[1002];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    stn_model *long_one = with_name(f, name);
    refuse(f, long_one, "sdf", "the name of a link has 1001 bytes");
    stn_model_destroy(long_one);
    stn_model_destroy(control);
    stn_model_destroy(world);
}

static void any_other_name_comes_back(void **state) {
    fixture *f = *state;
    stn_model *model = with_name(f, "<a & \"b\">\t'c'\n\xc3\xa4 \xe6\x89\x8b");
    for (int32_t k = 0; k < STN_COUNT(save_formats); k++) {
        if (strcmp(save_formats[k].id, "sdf") != 0) { // names as text lose their blanks
            save_deviation d = {0.0, 0.0, 0.0};
            stn_model_destroy(save_round_trip(f, model, &save_formats[k], false, &d));
        }
    }
    stn_model_destroy(model);
}

static void joint_that_is_called_like_a_link_is_renamed_in_sdf(void **state) {
    fixture *f = *state;
    char path[sizeof f->path];
    stn_model *model = with_name(f, "j");
    expect_codes(f, model, "sdf", "name");
    snprintf(path, sizeof path, "%s", f->path);
    stn_model *copy = save_load(f, path, SAVE_AS_PROPOSED);
    assert_true(stn_model_find_link(copy, 0, "j") >= 0);
    assert_true(stn_model_find_joint(copy, 0, "j_joint") >= 0);
    stn_model_destroy(copy);
    stn_model_destroy(model);
}

static void mjcf_nests_as_deep_as_it_is_read(void **state) {
    fixture *f = *state;
    for (int32_t depth = 95; depth <= 96; depth++) { // below <mujoco> and <worldbody>, with a joint inside
        stn_model_builder *builder = NULL;
        int32_t robot = 0, above = -1, link = 0, joint = 0;
        assert_ok(stn_builder_create(f->context, &builder, &f->err), f->err);
        assert_ok(stn_builder_begin_group(builder, "chain", &robot, &f->err), f->err);
        for (int32_t i = 0; i < depth; i++, above = link) {
            char name[32];
            snprintf(name, sizeof name, "l%d", (int)i);
            stn_link_spec spec = {.name = name, .mass = {1.0, {0.0, 0.0, 0.1}, stn_mat3_diagonal(0.1, 0.1, 0.1)}};
            assert_ok(stn_builder_add_link(builder, &spec, &link, &f->err), f->err);
            snprintf(name, sizeof name, "j%d", (int)i);
            stn_joint_spec hinge = stn_joint_spec_default(name, STN_JOINT_CONTINUOUS);
            hinge.parent = above;
            hinge.child = link;
            hinge.axis = stn_vec3_make(1.0, 0.0, 0.0);
            if (above >= 0) {
                assert_ok(stn_builder_add_joint(builder, &hinge, &joint, &f->err), f->err);
            }
        }
        stn_model *model = save_compile(f, builder);
        save_deviation d = {0.0, 0.0, 0.0};
        if (depth == 95) {
            stn_model_destroy(save_round_trip(f, model, &save_formats[2], false, &d));
        } else {
            refuse(f, model, "mjcf", "nest deeper than the 98 levels");
        }
        stn_model_destroy(model);
    }
}

/// A key with and without a base that floats, and gains of servos.
static void mjcf_holds_keyframes_and_servos(void **state) {
    fixture *f = *state;
    workbench w = begin(f);
    stn_joint_spec late = joint_to(&w, "late", STN_JOINT_PRISMATIC), early = joint_to(&w, "early", STN_JOINT_BALL);
    late.servo_kp = 50.0;
    late.servo_kd = 2.0;
    late.effort = 7.0;
    add_joint(&w, &late);
    add_joint(&w, &early);
    const double q[5] = {0.25, 0.5, -0.5, 0.5, 0.5};
    const stn_pose base = {stn_mat3_from_rpy(0.0, 0.0, 0.5 * STN_PI), {1.0, 2.0, 3.0}};
    const stn_keyframe_spec keys[] = {{.name = "home", .q_count = 5, .q = q},
                                      {.name = "away", .q_count = 5, .q = q, .base = &base}};
    for (int32_t i = 0; i < STN_COUNT(keys); i++) {
        assert_ok(stn_builder_add_keyframe(w.builder, w.robot, &keys[i], &f->err), f->err);
    }
    stn_model *model = save_compile(f, w.builder);
    save_deviation d = {0.0, 0.0, 0.0};
    stn_model *copy = save_round_trip(f, model, &save_formats[2], false, &d);
    assert_int_equal(copy->keyframe_count, 2);
    for (int32_t i = 0; i < 2; i++) {
        double mine[12], other[12];
        memcpy(mine, model->q0, sizeof mine);
        memcpy(other, copy->q0, sizeof other);
        stn_model_keyframe_apply(model, stn_model_find_keyframe(model, 0, keys[i].name), mine);
        stn_model_keyframe_apply(copy, stn_model_find_keyframe(copy, 0, keys[i].name), other);
        for (int32_t k = 0; k < 12; k++) {
            assert_near(other[k], mine[k], 1e-15);
        }
    }
    assert_near(copy->joints[stn_model_find_joint(copy, 0, "late")].servo_kd, 2.0, 0.0);
    stn_model_destroy(copy);
    stn_model_destroy(model);
}

static void saving_survives_any_request_for_memory_that_fails(void **state) {
    static const char *const formats[] = {"urdf", "sdf", "mjcf"};
    fixture *f = *state;
    stn_model *model = make_lossy(f);
    for (int32_t i = 0; i < STN_COUNT(formats); i++) {
        assert_ok(save_as(f, model, formats[i]), f->err); // once, so that plugins are there
        stn_save_request request = {.model = model, .path = f->path};
        stn_status status = STN_ERR_MEMORY;
        long long failures = 0;
        for (long long n = 1; status != STN_OK; n++) {
            stn_diagnostics_clear(&f->list);
            stn_diagnostics_init(&f->list, f->context);
            long long live = f->heap.live;
            stn_heap_arm(&f->heap, n);
            status = stn_save_robot(f->context, &request, formats[i], &f->list, &f->err);
            bool all = f->heap.requests < n; // a warning that found no memory is missing, nothing else
            stn_heap_arm(&f->heap, 0);
            stn_diagnostics_clear(&f->list);
            stn_diagnostics_init(&f->list, f->context);
            assert_int_equal(f->heap.live, live);
            failures += status != STN_OK;
            assert_true(status == STN_OK || status == STN_ERR_MEMORY);
            status = status == STN_OK && !all ? STN_ERR_MEMORY : status;
        }
        assert_true(failures >= 3);
    }
    stn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_a_format_lacks_is_a_warning_once_a_kind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_friction_direction_is_kept_where_the_format_has_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tetrahedra_from_elsewhere_are_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(joints_that_a_format_lacks_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_that_a_file_cannot_hold_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_other_name_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(joint_that_is_called_like_a_link_is_renamed_in_sdf, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mjcf_nests_as_deep_as_it_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mjcf_holds_keyframes_and_servos, set_up, tear_down),
        cmocka_unit_test_setup_teardown(saving_survives_any_request_for_memory_that_fails, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
