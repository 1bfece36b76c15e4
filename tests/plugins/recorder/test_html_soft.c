// SPDX-License-Identifier: Apache-2.0
// Soft bodies and cables in recordings: which clouds there are, how their frames turn, and the numbers that colours of
// nodes stand for, beside what recorder/common tells of the same states.
#include "html_fixture.h"

#include "../element/soft_world.h"
#include "common/node_values.h"

enum { STEPS = 150, NODES = 8, SOLID = 5 };

/// What an observer of the same world saw.
typedef struct watch {
    node_values values;
    stn_pose pose[STEPS + 1][NODES];
    float value[STEPS + 1][NODES];
    int32_t count;
} watch;

static stn_status look(void *user, const stn_observation *o, stn_error *err) {
    watch *w = user;
    assert_true(w->count <= STEPS);
    memcpy(w->pose[w->count], o->kinematics->node_pose, sizeof w->pose[0]);
    if (w->values.model != NULL) {
        assert_ok(node_values_take(&w->values, o, err), *err);
        memcpy(w->value[w->count], w->values.value, sizeof w->value[0]);
    }
    w->count++;
    return STN_OK;
}

static int set_up(void **state) {
    make_folder();
    return scene_setup(state);
}

static int tear_down(void **state) {
    return remove_folder() != 0 || scene_teardown(state) != 0;
}

/// Two tetrahedra with a face in common that swing, held at a node and stretched by 10 %; three frames of a cable that
/// falls over, held at the first.
static stn_world *make(stn_context *context) {
    stn_world *world = soft_world(context, 0.01, NULL, stn_vec3_make(0.0, 0.0, -9.81));
    const double rest[15] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, -2.0, 0.0, 0.0};
    const int32_t tetrahedra[8] = {0, 1, 2, 3, 0, 2, 4, 3};
    const stn_setting young[] = {SOFT_NUMBER("young", 1e5)};
    soft_cloud solid = soft_cloud_make(SOLID, rest);
    for (int32_t i = 0; i < SOLID; i++) {
        solid.start[3 * i] *= 1.1;
        solid.mass[i] = 1.0;
    }
    solid.held[1] = 1;
    soft_add_elements(world, soft_add_nodes(world, &solid), "fem", young, 1, 2, tetrahedra);
    soft_cloud_free(&solid);
    const double line[9] = {0.0, 0.0, 3.0, 0.5, 0.0, 3.0, 1.0, 0.0, 3.0}, mass[3] = {1.0, 1.0, 1.0};
    const double inertia[9] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    const stn_nodes_spec frames = {.name = "rope",
                                   .node_count = 3,
                                   .position = line,
                                   .mass = mass,
                                   .material = stn_material_unset(),
                                   .type = STN_NODE_FRAME,
                                   .inertia = inertia};
    int32_t cloud = 0;
    stn_error err;
    assert_ok(stn_builder_add_nodes(stn_world_builder(world), &frames, &cloud, &err), err);
    const int32_t links[4] = {0, 1, 1, 2}, first = 0;
    const stn_setting soft[] = {SOFT_NUMBER("young", 3e2), SOFT_NUMBER("radius", 0.2)};
    soft_add_elements(world, cloud, "cable", soft, 2, 2, links);
    assert_ok(stn_builder_attach_nodes(stn_world_builder(world), cloud, 1, &first, STN_WORLD, &err), err);
    soft_compile(world);
    return world;
}

static stn_status try_settings(stn_world *world, const stn_setting *settings, int32_t count, stn_error *err) {
    stn_instance *recorder = NULL;
    assert_ok(stn_instance_create(stn_world_context(world), STN_KIND_RECORDER, "html", settings, count, &recorder, err),
              *err);
    return stn_world_record(world, recorder, path, err);
}

/// Runs with every step as a frame, and in `w` what was seen; `output` NULL: no colours.
static const decoded *run(stn_world *world, const char *output, const char *range, watch *w) {
    stn_error err;
    const stn_setting settings[] = {SOFT_NUMBER("frame_rate", 0.0), SOFT_WORD("color_by", output != NULL ? output : ""),
                                    SOFT_WORD("color_range", range)};
    *w = (watch){0};
    if (output != NULL) {
        assert_ok(node_values_open(&w->values, stn_world_model(world), output, &err), err);
    }
    assert_ok(try_settings(world, settings, STN_COUNT(settings), &err), err);
    assert_ok(stn_world_observe(world, look, w, &err), err);
    scene_steps(world, STEPS);
    node_values_close(&w->values);
    const decoded *d = close_and_decode(world);
    assert_int_equal(d->frame_count, STEPS + 1);
    return d;
}

/// Frames that an observer saw too: those behind the start.
static const decoded_frame *frame_of(const decoded *d, const watch *w, int32_t i) {
    return &d->frames[d->frame_count - w->count + i];
}

static void clouds_are_named_and_frames_turn(void **state) {
    stn_world *world = make(*state);
    static watch w;
    const decoded *d = run(world, NULL, "", &w);
    const cJSON *clouds = cJSON_GetObjectItem(d->scene, "clouds");
    assert_int_equal(cJSON_GetArraySize(clouds), 2);
    const char *const names[] = {"soft", "rope"};
    const int32_t first[] = {0, SOLID}, count[] = {SOLID, NODES - SOLID};
    for (int32_t i = 0; i < 2; i++) {
        const cJSON *cloud = cJSON_GetArrayItem(clouds, i);
        assert_string_equal(cJSON_GetObjectItem(cloud, "name")->valuestring, names[i]);
        assert_int_equal(cJSON_GetObjectItem(cloud, "first_node")->valueint, first[i]);
        assert_int_equal(cJSON_GetObjectItem(cloud, "node_count")->valueint, count[i]);
        assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItem(cloud, "turns")), i);
    }
    assert_null(cJSON_GetObjectItem(d->scene, "colors"));
    assert_true(d->turning_count == NODES - SOLID && d->colored_count == 0 && d->frame_blocks >= 2);
    double most = 0.0;
    for (int32_t i = 0; i < w.count; i++) {
        for (int32_t n = SOLID; n < NODES; n++) {
            const double *q = frame_of(d, &w, i)->turn + 4 * (n - SOLID);
            const stn_quat e = stn_quat_from_matrix(&w.pose[i][n].rotation);
            const double expected[4] = {e.w, e.x, e.y, e.z};
            const double sign = q[0] * e.w + q[1] * e.x + q[2] * e.y + q[3] * e.z < 0.0 ? -1.0 : 1.0;
            for (int32_t k = 0; k < 4; k++) {
                assert_near(q[k], sign * expected[k], 0.501 * d->rotation);
            }
            most = worse(most, fabs(q[2]));
            if (i > 0) {
                const double *before = frame_of(d, &w, i - 1)->turn + 4 * (n - SOLID);
                assert_true(before[0] * q[0] + before[1] * q[1] + before[2] * q[2] + before[3] * q[3] > 0.0);
            }
        }
    }
    assert_true(most > 0.3); // the cable fell over: by some 35 degrees about y at least
    stn_world_destroy(world);
}

/// Nodes of `told` from `first` on have the numbers, and no others.
static void check_values(const decoded *d, const watch *w, int32_t first, int32_t count) {
    const cJSON *nodes = cJSON_GetObjectItem(cJSON_GetObjectItem(d->scene, "colors"), "nodes");
    assert_int_equal(d->colored_count, count);
    for (int32_t k = 0; k < count; k++) {
        assert_int_equal(cJSON_GetArrayItem(nodes, k)->valueint, first + k);
    }
    double most = 0.0;
    for (int32_t i = 0; i < w->count; i++) {
        for (int32_t k = 0; k < count; k++) {
            most = worse(most, fabs((double)w->value[i][first + k]));
        }
    }
    for (int32_t i = 0; i < w->count; i++) {
        for (int32_t k = 0; k < count; k++) { // a step is a 2000th of the largest of a block
            assert_near(frame_of(d, w, i)->value[k], (double)w->value[i][first + k], 0.501 / 2000.0 * most);
        }
    }
}

static void colours_are_what_elements_tell_at_nodes(void **state) {
    static watch w;
    stn_world *world = make(*state);
    const decoded *d = run(world, "von_mises", "", &w);
    const cJSON *colors = cJSON_GetObjectItem(d->scene, "colors");
    assert_string_equal(cJSON_GetObjectItem(colors, "name")->valuestring, "von_mises");
    assert_string_equal(cJSON_GetObjectItem(colors, "unit")->valuestring, "Pa");
    assert_null(cJSON_GetObjectItem(colors, "range"));
    check_values(d, &w, 0, SOLID);
    stn_world_destroy(world);

    world = make(*state); // of the cable, negative ones among them
    d = run(world, "cable.tension", "-5 20", &w);
    colors = cJSON_GetObjectItem(d->scene, "colors");
    assert_string_equal(cJSON_GetObjectItem(colors, "name")->valuestring, "tension");
    assert_string_equal(cJSON_GetObjectItem(colors, "unit")->valuestring, "N");
    const cJSON *range = cJSON_GetObjectItem(colors, "range");
    assert_near(cJSON_GetArrayItem(range, 0)->valuedouble, -5.0, 0.0);
    assert_near(cJSON_GetArrayItem(range, 1)->valuedouble, 20.0, 0.0);
    check_values(d, &w, SOLID, NODES - SOLID);
    stn_world_destroy(world);
}

static void what_no_element_tells_is_refused_and_leaves_no_page(void **state) {
    stn_world *world = make(*state);
    stn_error err;
    (void)remove(path); // of the test before
    const stn_setting unknown[] = {SOFT_WORD("color_by", "warmth")};
    assert_int_equal(try_settings(world, unknown, 1, &err), STN_ERR_PARAMETER);
    assert_non_null(strstr(err.text, "color_by = \"warmth\": no element tells this; there are fem.von_mises [Pa]"));
    const stn_setting range[] = {SOFT_WORD("color_by", "von_mises"), SOFT_WORD("color_range", "3 1")};
    assert_int_equal(try_settings(world, range, 2, &err), STN_ERR_PARAMETER);
    assert_non_null(strstr(err.text, "3 1"));
    const stn_setting alone[] = {SOFT_WORD("color_range", "1 3")};
    assert_int_equal(try_settings(world, alone, 1, &err), STN_ERR_PARAMETER);
    assert_non_null(strstr(err.text, "color_range = \"1 3\": there are no colours without color_by"));
    assert_null(fopen(path, "rb"));
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(clouds_are_named_and_frames_turn, forget),
        cmocka_unit_test_teardown(colours_are_what_elements_tell_at_nodes, forget),
        cmocka_unit_test_teardown(what_no_element_tells_is_refused_and_leaves_no_page, forget),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
