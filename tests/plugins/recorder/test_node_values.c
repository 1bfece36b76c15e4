// SPDX-License-Identifier: Apache-2.0
// Numbers of nodes from those of elements, against sums by hand; names of outputs; ranges; the map of colours.
#include "../element/soft_world.h"
#include "common/node_values.h"

/// Two tetrahedra with a face in common, of volumes 1/6 and 1/3, stretched by 1 % along x and 2 % of the second corner
/// more; a triangle of a shell and two frames with a cable between them.
static stn_world *make(stn_context *context, bool with_sheet) {
    stn_world *world = soft_world(context, 1e-3, NULL, stn_vec3_zero());
    const double rest[15] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, -2.0, 0.0, 0.0};
    const int32_t tetrahedra[8] = {0, 1, 2, 3, 0, 2, 4, 3};
    soft_cloud solid = soft_cloud_make(5, rest);
    for (int32_t i = 0; i < 5; i++) {
        solid.start[3 * i] *= 1.01;
        solid.mass[i] = 1.0;
    }
    solid.start[3] += 0.02;
    const stn_setting young[] = {SOFT_NUMBER("young", 1e5)};
    soft_add_elements(world, soft_add_nodes(world, &solid), "fem", young, 1, 2, tetrahedra);
    soft_cloud_free(&solid);
    const double line[6] = {0.0, 0.0, 3.0, 1.0, 0.0, 3.0}, mass[2] = {1.0, 1.0};
    const double inertia[6] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    const stn_nodes_spec frames = {.name = "rope",
                                   .node_count = 2,
                                   .position = line,
                                   .mass = mass,
                                   .material = stn_material_unset(),
                                   .type = STN_NODE_FRAME,
                                   .inertia = inertia};
    int32_t cloud = 0;
    stn_error err;
    assert_ok(stn_builder_add_nodes(stn_world_builder(world), &frames, &cloud, &err), err);
    const int32_t ends[2] = {0, 1};
    soft_add_elements(world, cloud, "cable", young, 1, 1, ends);
    if (with_sheet) {
        soft_cloud sheet = soft_cloud_make(3, rest);
        sheet.name = "sheet";
        const int32_t triangle[6] = {0, 1, 2, 0, 1, 2};
        soft_add_elements(world, soft_add_nodes(world, &sheet), "shell", young, 1, 1, triangle);
        soft_cloud_free(&sheet);
    }
    soft_compile(world);
    return world;
}

static double volume(const double *x, const int32_t *n) {
    stn_vec3 a = stn_vec3_at(x, n[0]);
    return fabs(stn_vec3_dot(
               stn_vec3_cross(stn_vec3_sub(stn_vec3_at(x, n[1]), a), stn_vec3_sub(stn_vec3_at(x, n[2]), a)),
               stn_vec3_sub(stn_vec3_at(x, n[3]), a))) /
           6.0;
}

static void a_node_has_the_mean_of_its_elements_by_volume(void **state) {
    stn_world *world = make(*state, false);
    const stn_model *model = stn_world_model(world);
    node_values values;
    stn_error err;
    assert_ok(node_values_open(&values, model, "von_mises", &err), err);
    assert_string_equal(values.name, "von_mises");
    assert_string_equal(values.unit, "Pa");
    stn_observation o = *stn_world_observation(world);
    o.world = world;
    o.kinematics = stn_world_kinematics(world);
    assert_ok(node_values_take(&values, &o, &err), err);
    double told[6];
    assert_ok(stn_world_element_outputs(world, 0, told, &err), err);
    const int32_t tetrahedra[8] = {0, 1, 2, 3, 0, 2, 4, 3};
    const double *x = stn_world_state(world)->q; // clouds come as added
    const double v[2] = {volume(x, tetrahedra), volume(x, tetrahedra + 4)};
    assert_near(v[0] / v[1], 1.03 / 2.02, 1e-12);
    assert_true(told[0] > 1.5 * told[3] && told[3] > 100.0);
    const double mean = (v[0] * told[0] + v[1] * told[3]) / (v[0] + v[1]);
    const double expected[5] = {mean, told[0], mean, mean, told[3]};
    for (int32_t n = 0; n < 5; n++) {
        assert_near((double)values.value[n], expected[n], 1e-6 * expected[n]); // single precision
    }
    assert_true(isnan(values.value[5]) && isnan(values.value[6])); // nothing tells it of the cable
    double low, high;
    assert_true(node_values_range(values.value, model->node_count, &low, &high));
    assert_near(low, told[3], 1e-6 * low);
    assert_near(high, told[0], 1e-6 * high);
    o.world = NULL; // of no world
    assert_ok(node_values_take(&values, &o, &err), err);
    assert_false(node_values_range(values.value, model->node_count, &low, &high));
    node_values_close(&values);
    node_values_close(&values); // again
    stn_world_destroy(world);
}

static void names_are_those_of_the_elements(void **state) {
    stn_world *world = make(*state, true);
    const stn_model *model = stn_world_model(world);
    node_values values;
    stn_error err;
    assert_int_equal(node_values_open(&values, model, "stress_", &err), STN_ERR_PARAMETER);
    assert_non_null(strstr(err.text, "color_by = \"stress_\": no element tells this; there are fem.von_mises [Pa], "
                                     "fem.pressure [Pa], fem.volume_ratio [1], cable.tension [N]"));
    assert_int_equal(node_values_open(&values, model, "tension", &err), STN_ERR_PARAMETER);
    assert_string_equal(err.text,
                        "color_by = \"tension\": cable tells it in N and shell in Pa; take \"cable.tension\" or "
                        "\"shell.tension\"");
    assert_int_equal(node_values_open(&values, model, "shell.volume_ratio", &err), STN_ERR_PARAMETER);
    assert_ok(node_values_open(&values, model, "cable.tension", &err), err);
    assert_string_equal(values.unit, "N");
    node_values_close(&values);
    stn_world_destroy(world);
    world = soft_world(*state, 1e-3, NULL, stn_vec3_zero());
    soft_compile(world);
    assert_int_equal(node_values_open(&values, stn_world_model(world), "von_mises", &err), STN_ERR_PARAMETER);
    assert_non_null(strstr(err.text, "nothing in this world has elements"));
    stn_world_destroy(world);
}

static void ranges_are_two_numbers_in_order(void **state) {
    (void)state;
    double range[2];
    bool given = true;
    stn_error err;
    assert_ok(node_values_read_range("", "", range, &given, &err), err);
    assert_false(given);
    assert_ok(node_values_read_range("-1e3 2.5", "von_mises", range, &given, &err), err);
    assert_true(given && range[0] == -1e3 && range[1] == 2.5);
    static const char *const wrong[] = {"1", "2 1", "1 1", "0 x", "0 1 2", "nan 1", "0 inf"};
    for (int32_t i = 0; i < STN_COUNT(wrong); i++) {
        assert_int_equal(node_values_read_range(wrong[i], "von_mises", range, &given, &err), STN_ERR_PARAMETER);
        assert_non_null(strstr(err.text, wrong[i]));
    }
    assert_int_equal(node_values_read_range("0 1", "", range, &given, &err), STN_ERR_PARAMETER);
    assert_string_equal(err.text, "color_range = \"0 1\": there are no colours without color_by");
}

/// Relative luminance rises with the number, and what lies outside has the colour of the end.
static void colours_become_lighter(void **state) {
    (void)state;
    double before = -1.0;
    float end[3], beyond[3];
    for (int32_t i = 0; i <= 100; i++) {
        float c[3];
        viridis(i / 100.0, c);
        double luminance = 0.0;
        const double weight[3] = {0.2126, 0.7152, 0.0722};
        for (int32_t k = 0; k < 3; k++) {
            assert_true(c[k] >= 0.0f && c[k] <= 1.0f);
            luminance += weight[k] * pow((double)c[k], 2.2);
        }
        assert_true(luminance > before);
        before = luminance;
    }
    viridis(1.0, end);
    viridis(7.0, beyond);
    assert_memory_equal(end, beyond, sizeof end);
    viridis(0.0, end);
    viridis(-7.0, beyond);
    assert_memory_equal(end, beyond, sizeof end);
    viridis((double)NAN, beyond);
    assert_memory_equal(end, beyond, sizeof end);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_has_the_mean_of_its_elements_by_volume),
        cmocka_unit_test(names_are_those_of_the_elements),
        cmocka_unit_test(ranges_are_two_numbers_in_order),
        cmocka_unit_test(colours_become_lighter),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
