// SPDX-License-Identifier: Apache-2.0
// Robots written in every format that saves, and read again: names, order, figures, shapes and mechanics stay, and what
// was written is written the same again.
#include "random_model.h"
#include "save_fixture.h"

static void expect_small(const char *robot, const save_format *format, const save_deviation *d) {
    print_message("  %-24s %-4s  FK %.1e  M %.1e  bias %.1e\n", robot, format->id, d->pose, d->mass, d->bias);
    assert_true(d->pose <= 1e-9 && d->mass <= 1e-9 && d->bias <= 1e-9);
}

static void check_own_robot(fixture *f, const char *path, void *unused) {
    (void)unused;
    for (int32_t k = 0; k < STN_COUNT(save_formats); k++) {
        for (int32_t fixed = 0; fixed <= 1; fixed++) {
            save_deviation d = {0.0, 0.0, 0.0};
            stn_model *model = save_load(f, path, fixed == 1 ? SAVE_WELDED : SAVE_FREE);
            stn_model_destroy(save_round_trip(f, model, &save_formats[k], fixed == 1, &d));
            stn_model_destroy(model);
            expect_small(strrchr(path, '/') + 1, &save_formats[k], &d);
        }
    }
}

static void own_robots_stay_what_they_are(void **state) {
    assert_true(save_each_own(*state, check_own_robot, NULL) >= 11);
}

/// Robots that stand on the floor or lie about; the others are bolted down.
static bool moves_freely(const char *path) {
    return strstr(path, "/anymal/") != NULL || strstr(path, "/humanoid/") != NULL ||
           strstr(path, "/vessels/") != NULL || strstr(path, "/spatula/") != NULL;
}

static stn_model *load_for_export(fixture *f, const char *path, bool welded) {
    stn_model_builder *builder = NULL;
    stn_pose base = stn_pose_identity();
    int32_t robot = 0;
    stn_load_request request = {.path = path};
    assert_ok(stn_builder_create(f->context, &builder, &f->err), f->err);
    assert_ok(stn_load_robot(f->context, &request, builder, &robot, &f->list, &f->err), f->err);
    assert_ok(stn_builder_set_base(builder, robot, &base, welded, &f->err), f->err);
    return save_compile(f, builder);
}

/// The committed file beside a URDF: what is written now, and the same robot.
static void check_export(fixture *f, const char *urdf, const char *extension, bool welded) {
    char beside[1024], now[128];
    save_deviation d = {0.0, 0.0, 0.0};
    snprintf(beside, sizeof beside, "%.*s.%s", (int)(strrchr(urdf, '.') - urdf), urdf, extension);
    snprintf(now, sizeof now, "%s/now.%s", f->folder, extension);
    if (access(beside, R_OK) != 0) {
        fail_msg("there is no %s: write it with stiction convert%s %s %s", beside, welded ? " --fixed" : "", urdf,
                 beside);
    }
    stn_model *model = load_for_export(f, urdf, welded), *copy = save_load(f, beside, SAVE_AS_PROPOSED);
    stn_save_request request = {.model = model, .path = now};
    assert_ok(stn_save_robot(f->context, &request, NULL, &f->list, &f->err), f->err);
    char *text = save_read(now), *committed = save_read(beside);
    if (strcmp(text, committed) != 0) {
        fail_msg("%s is older than its URDF: write it again with stiction convert%s", beside, welded ? " --fixed" : "");
    }
    save_compare_links(model, copy);
    save_compare_motion(f, model, copy, &d);
    print_message("  %-24s FK %.1e  M %.1e  bias %.1e\n", strrchr(beside, '/') + 1, d.pose, d.mass, d.bias);
    assert_true(d.pose <= 1e-9 && d.mass <= 1e-9 && d.bias <= 1e-9);
    free(text);
    free(committed);
    stn_model_destroy(model);
    stn_model_destroy(copy);
}

static void check_exports(fixture *f, const char *path, void *unused) {
    (void)unused;
    check_export(f, path, "sdf", false); // where an SDF stands is its user's, as with URDF
    check_export(f, path, "xml", !moves_freely(path));
}

static void committed_files_are_what_is_written_now(void **state) {
    assert_true(save_each_own(*state, check_exports, NULL) >= 11);
}

/// One file as a hull and as a surface.
static void add_meshes(fixture *f, random_model *m, const char *path) {
    stn_vec3 scale = {0.1, -0.2, 0.3};
    m->mesh = path;
    for (int32_t k = 0; k < 2; k++) {
        stn_mesh_request request = {.path = path, .scale = scale, .convex = k == 0};
        assert_ok(stn_mesh_load(f->context, &request, &m->mesh_data[k], &f->err), f->err);
        assert_ok(stn_builder_add_mesh(m->builder, path, scale, m->mesh_data[k], &m->mesh_id[k], &f->err), f->err);
    }
}

static void check_random_robots(fixture *f, const save_format *format, bool plain) {
    save_deviation d = {0.0, 0.0, 0.0};
    char path[160];
    write_mesh(f, "meshes/a solid.stl");
    snprintf(path, sizeof path, "%s/meshes/a solid.stl", f->folder);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        bool fixed = seed % 2 == 0;
        random_model m = {.plain = plain, .without = format->without, .bound_planar = format->bound_planar};
        assert_ok(stn_builder_create(f->context, &m.builder, &f->err), f->err);
        add_meshes(f, &m, path);
        random_model_add(&m, seed, 2 + (int32_t)(seed % (MODEL_LINKS - 2)));
        stn_pose base = save_base_pose();
        assert_ok(stn_builder_set_base(m.builder, m.robot, &base, fixed, &f->err), f->err);
        stn_model *model = save_compile(f, m.builder);
        stn_mesh_release(m.mesh_data[0]);
        stn_mesh_release(m.mesh_data[1]);
        stn_model_destroy(save_round_trip(f, model, format, fixed, &d));
        stn_model_destroy(model);
    }
    expect_small(plain ? "40 plain random robots" : "40 random robots", format, &d);
}

static void random_robots_stay_what_they_are(void **state) {
    for (int32_t k = 0; k < STN_COUNT(save_formats); k++) {
        check_random_robots(*state, &save_formats[k], true);
        check_random_robots(*state, &save_formats[k], false);
    }
}

/// One body with shapes of their own colours.
static void load_shapes(fixture *f, int32_t count) {
    char *text = malloc((size_t)count * 64 + 200);
    assert_non_null(text);
    int used = sprintf(text, "<mujoco><worldbody><body>");
    for (int32_t i = 0; i < count; i++) {
        used += sprintf(text + used, "<geom size='1' rgba='%.4f %.4f 0 1'/>", (i % 1000) * 1e-3, (i / 1000) * 1e-3);
    }
    sprintf(text + used, "</body></worldbody></mujoco>");
    load_bytes(f, "robot.xml", text, strlen(text));
    assert_ok(f->status, f->err);
    free(text);
}

/// Names and colours are looked up, not searched for: the cube of so many shapes would take very long.
static void very_many_shapes_without_names_get_names_of_their_own(void **state) {
    fixture *f = *state;
    char path[160];
    load_shapes(f, 10000);
    for (int32_t k = 0; k < STN_COUNT(save_formats); k++) {
        snprintf(path, sizeof path, "%s/robot.%s", f->folder, save_formats[k].extension);
        save_write(f, f->model, &save_formats[k], path);
        stn_model *again = save_load(f, path, SAVE_WELDED);
        assert_int_equal(f->list.warning_count, 0); // such as of equal names
        stn_model_destroy(again);
    }
}

static void a_robot_that_could_not_be_read_again_is_not_written(void **state) {
    fixture *f = *state;
    char path[160];
    load_shapes(f, 30000);
    snprintf(path, sizeof path, "%s/robot.urdf", f->folder);
    const stn_save_request request = {.model = f->model, .path = path};
    assert_int_equal(stn_save_robot(f->context, &request, NULL, &f->list, &f->err), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(f->err.text, "too large for one file"));
    assert_int_not_equal(access(path, F_OK), 0);
}

/// A compliant solid keeps its tetrahedra, one that is declared convex has none, and both say so in the file.
static void tetrahedra_stay_what_they_are(void **state) {
    fixture *f = *state;
    char path[160];
    write_text(f, "solid.vtk",
               "# vtk DataFile Version 3.0\none\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n"
               "0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n");
    write_text(f, "solid.urdf",
               "<robot name='r'><link name='a'>"
               "<collision><geometry><mesh filename='solid.vtk' scale='1 -2 1'/></geometry>"
               "<drake:proximity_properties><drake:compliant_hydroelastic/><drake:hydroelastic_modulus value='1e6'/>"
               "</drake:proximity_properties></collision>"
               "<collision><geometry><mesh filename='solid.vtk'><drake:declare_convex/></mesh></geometry></collision>"
               "<collision><geometry><mesh filename='solid.vtk'/></geometry></collision></link></robot>");
    snprintf(path, sizeof path, "%s/solid.urdf", f->folder);
    stn_model *model = save_load(f, path, SAVE_FREE);
    assert_true(model->geometries[0].field.volume_mesh >= 0);
    assert_int_equal(model->geometries[1].field.volume_mesh, -1);
    assert_true(model->geometries[2].field.volume_mesh >= 0);
    for (int32_t k = 0; k < STN_COUNT(save_formats); k++) {
        if (save_formats[k].surfaces) {
            save_deviation d = {0.0, 0.0, 0.0};
            stn_model_destroy(save_round_trip(f, model, &save_formats[k], false, &d));
        }
    }
    stn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(own_robots_stay_what_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tetrahedra_stay_what_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(committed_files_are_what_is_written_now, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_robots_stay_what_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(very_many_shapes_without_names_get_names_of_their_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_robot_that_could_not_be_read_again_is_not_written, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
