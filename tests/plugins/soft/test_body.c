// SPDX-License-Identifier: Apache-2.0
// Soft bodies in a model: what is added, that nothing is where something is wrong, and every failure of memory.
#include "stn_heap.h"
#include "stn_test.h"

#include <stiction/soft.h>

typedef struct fixture {
    stn_heap heap;
    stn_context *context;
    stn_model_builder *builder;
    stn_soft_mesh *mesh;
    stn_soft_spec spec;
} fixture;

static const stn_soft_selector low = {.where = STN_SOFT_IN_REGION, .region = "x_min"};
static const stn_soft_selector high = {.where = STN_SOFT_IN_REGION, .region = "x_max"};

static void begin(fixture *f, stn_soft_shape_type type) {
    const stn_soft_shape shape = {.type = type,
                                  .size = {0.06, 0.02, 0.02},
                                  .cells = {6, 2, 2},
                                  .chambers = 2,
                                  .rows = 1,
                                  .wall = 0.004,
                                  .floor = 0.004};
    stn_error err = {0};
    *f = (fixture){.context = NULL};
    f->context = stn_heap_context(&f->heap);
    assert_ok(stn_builder_create(f->context, &f->builder, &err), err);
    assert_ok(stn_soft_mesh_generate(f->context, &shape, &f->mesh, &err), err);
    f->spec = (stn_soft_spec){.name = "body", .mesh = f->mesh, .surface = stn_surface_spec_default()};
    f->spec.pose = stn_pose_make(stn_quat_exp(stn_vec3_make(0.1, 0.2, 0.3)), stn_vec3_make(1.0, 2.0, 3.0));
}

static void end(fixture *f) {
    stn_builder_destroy(f->builder);
    stn_soft_mesh_destroy(f->mesh);
    stn_context_destroy(f->context);
    assert_true(f->heap.live == 0);
}

static void a_body_has_nodes_elements_chambers_surfaces_and_attachments(void **state) {
    (void)state;
    fixture f;
    begin(&f, STN_SOFT_FINGER);
    const stn_soft_attachment pin = {.link = STN_WORLD, .selector_count = 1, .selectors = &low};
    stn_soft_patch tip = {.name = "tip", .selector_count = 1, .selectors = &high, .material = stn_material_unset()};
    tip.material.mu = 2.0;
    f.spec.attachment_count = f.spec.patch_count = 1;
    f.spec.attachments = &pin;
    f.spec.patches = &tip;
    f.spec.surface.thickness = 1e-3;
    f.spec.surface.material.mu = 0.3;
    stn_soft_body body;
    stn_model *model = NULL;
    stn_error err = {0};
    assert_ok(stn_soft_add(f.builder, f.context, &f.spec, &body, &err), err);
    assert_ok(stn_model_compile(f.builder, &model, &err), err);
    assert_int_equal(body.cloud, 0);
    assert_int_equal(model->node_count, f.mesh->node_count);
    assert_int_equal(model->element_group_count, 3);
    assert_int_equal(model->element_groups[body.elements].element_count, f.mesh->tetrahedron_count);
    assert_string_equal(model->element_groups[body.chambers + 1].name, "chamber2");
    // where the nodes start, and what they weigh
    double mass = 0.0;
    for (int32_t i = 0; i < model->node_count; i++) {
        const double *x = &f.mesh->nodes[3 * i];
        stn_vec3 at = stn_pose_apply(&f.spec.pose, stn_vec3_make(x[0], x[1], x[2]));
        assert_near(model->q0[3 * i], at.x, 1e-15);
        assert_near(model->q0[3 * i + 2], at.z, 1e-15);
        mass += model->node_mass[i];
    }
    assert_near(mass, 1000.0 * stn_soft_mesh_volume(f.mesh, NULL), 1e-15);
    // every triangle of the skin is in one of the two surfaces
    assert_int_equal(model->surface_count, 2);
    assert_int_equal(model->geometry_count, 2);
    assert_int_equal(model->surfaces[0].triangle_count + model->surfaces[1].triangle_count, f.mesh->chamber_start[0]);
    assert_string_equal(model->geometries[0].name, "body");
    assert_string_equal(model->geometries[1].name, "body/tip");
    assert_near(model->geometries[0].material.mu, 0.3, 0.0);
    assert_near(model->geometries[1].material.mu, 2.0, 0.0);
    int32_t held = 0;
    for (int32_t i = 0; i < model->node_count; i++) {
        bool base = fabs(f.mesh->nodes[3 * i] + 0.03) < 1e-12;
        assert_true((model->node_attachment[i] >= 0) == base);
        held += base;
    }
    assert_int_equal(model->attachment_count, held);
    stn_model_destroy(model);
    end(&f);
}

static void a_sheet_bends_with_its_neighbours(void **state) {
    (void)state;
    fixture f;
    begin(&f, STN_SOFT_SHEET);
    stn_soft_body body;
    stn_model *model = NULL;
    stn_error err = {0};
    assert_ok(stn_soft_add(f.builder, f.context, &f.spec, &body, &err), err);
    assert_ok(stn_model_compile(f.builder, &model, &err), err);
    const stn_element_group *group = &model->element_groups[body.elements];
    assert_string_equal(group->instance->desc->id, "shell");
    assert_int_equal(group->element_count, f.mesh->triangle_count);
    for (int32_t e = 0; e < group->element_count; e++) {
        for (int k = 0; k < 3; k++) {
            assert_int_equal(group->index[6 * e + k], f.mesh->triangles[3 * e + k]);
            assert_int_equal(group->index[6 * e + 3 + k], f.mesh->across[3 * e + k]);
        }
    }
    assert_int_equal(body.chambers, -1);
    stn_model_destroy(model);
    end(&f);
}

static void what_is_wrong_is_refused_and_nothing_added(void **state) {
    (void)state;
    fixture f;
    begin(&f, STN_SOFT_BOX);
    static const int32_t first[] = {0};
    static const stn_soft_selector corner = {.where = STN_SOFT_LISTED, .node_count = 1, .listed = first};
    static const stn_soft_selector nowhere = {.where = STN_SOFT_IN_REGION, .region = "chamber1"};
    const stn_soft_attachment twice[] = {{STN_WORLD, 1, &low}, {STN_WORLD, 1, &corner}};
    const stn_soft_attachment none[] = {{STN_WORLD, 1, &nowhere}};
    const stn_soft_patch point = {
        .name = "p", .selector_count = 1, .selectors = &corner, .material = stn_material_unset()};
    const stn_setting poisson = {.name = "poisson", .form = STN_SETTING_NUMBER, .number = 0.5, .where = "a.lua:1"};
    stn_soft_body body;
    stn_soft_spec spec = f.spec;
    spec.attachment_count = 2;
    spec.attachments = twice;
    assert_error(
        stn_soft_add(f.builder, f.context, &spec, &body, &said), STN_ERR_ARGUMENT,
        "soft body 'body': node 0 (counted from 0) at (-0.03, -0.01, -0.01) m of the mesh belongs to attachment 1 "
        "(pinned to the world) and to attachment 2");
    spec.attachment_count = 1;
    spec.attachments = none;
    assert_error(stn_soft_add(f.builder, f.context, &spec, &body, &said), STN_ERR_ARGUMENT,
                 "attachment 1 (pinned to the world): there is no region 'chamber1'");
    spec = f.spec;
    spec.patch_count = 1;
    spec.patches = &point;
    assert_error(stn_soft_add(f.builder, f.context, &spec, &body, &said), STN_ERR_ARGUMENT,
                 "need a thickness of contact");
    spec.surface.thickness = 1e-3;
    assert_error(stn_soft_add(f.builder, f.context, &spec, &body, &said), STN_ERR_ARGUMENT,
                 "patch 'p': no triangle of the skin has all three corners in it");
    static const double thickness[] = {-1e-3, NAN, INFINITY};
    for (int i = 0; i < 3; i++) {
        spec = f.spec;
        spec.surface.thickness = thickness[i];
        assert_error(stn_soft_add(f.builder, f.context, &spec, &body, &said), STN_ERR_ARGUMENT, "thickness = ");
    }
    const stn_soft_attachment absent[] = {{7, 1, &low}};
    spec = f.spec;
    spec.attachment_count = 1;
    spec.attachments = absent;
    assert_error(stn_soft_add(f.builder, f.context, &spec, &body, &said), STN_ERR_ARGUMENT, "there is no link 7");
    spec = f.spec;
    spec.surface.material.mu = -1.0;
    assert_error(stn_soft_add(f.builder, f.context, &spec, &body, &said), STN_ERR_ARGUMENT, "mu = -1");
    spec = f.spec;
    spec.pose.position.x = NAN;
    assert_error(stn_soft_add(f.builder, f.context, &spec, &body, &said), STN_ERR_ARGUMENT, "nan");
    spec = f.spec;
    spec.element = (stn_plugin_choice){.settings = &poisson, .setting_count = 1};
    stn_error err = {0};
    assert_true(stn_soft_add(f.builder, f.context, &spec, &body, &err) < 0);
    assert_non_null(strstr(err.text, "poisson = 0.5"));
    spec.element = (stn_plugin_choice){.id = "shell"};
    assert_error(stn_soft_add(f.builder, f.context, &spec, &body, &said), STN_ERR_ARGUMENT,
                 "element 'shell' joins 6 nodes, a mesh of tetrahedra needs one of 4");
    spec.element.id = "rubber";
    assert_error(stn_soft_add(f.builder, f.context, &spec, &body, &said), STN_ERR_PLUGIN, "rubber");
    stn_model *model = NULL;
    assert_ok(stn_model_compile(f.builder, &model, &err), err);
    assert_int_equal(model->node_count, 0);
    assert_int_equal(model->geometry_count, 0);
    stn_model_destroy(model);
    end(&f);
}

static void every_request_for_memory_may_fail(void **state) {
    (void)state;
    fixture f;
    begin(&f, STN_SOFT_FINGER);
    const stn_soft_attachment pin = {.link = STN_WORLD, .selector_count = 1, .selectors = &low};
    f.spec.attachment_count = 1;
    f.spec.attachments = &pin;
    long long n = 1;
    for (stn_status status = STN_ERR_MEMORY; status != STN_OK; n++) {
        stn_model_builder *builder = NULL;
        stn_soft_body body;
        stn_error err = {0};
        assert_ok(stn_builder_create(f.context, &builder, &err), err);
        stn_heap_arm(&f.heap, n);
        status = stn_soft_add(builder, f.context, &f.spec, &body, &err);
        assert_true(status == STN_OK || status == STN_ERR_MEMORY);
        stn_heap_arm(&f.heap, 0);
        stn_builder_destroy(builder);
    }
    assert_true(n > 10);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_has_nodes_elements_chambers_surfaces_and_attachments),
        cmocka_unit_test(a_sheet_bends_with_its_neighbours),
        cmocka_unit_test(what_is_wrong_is_refused_and_nothing_added),
        cmocka_unit_test(every_request_for_memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
