// SPDX-License-Identifier: Apache-2.0
// Cables in a model: lines, what a cable weighs, how it is turned, what it is strained at the start and how it hangs;
// that nothing is added where something is wrong, and every failure of memory.
#include "soft_world.h"
#include "stn_heap.h"

enum { SEGMENTS = 40, NODES = SEGMENTS + 1, ARC = 400 };

static const stn_soft_selector ends[] = {{.where = STN_SOFT_IN_REGION, .region = "start"},
                                         {.where = STN_SOFT_IN_REGION, .region = "end"}};
static const double radius = 2e-4, density = 8000.0, young = 1e8;

static stn_soft_mesh *line(stn_context *context, int32_t count, const double *points, int32_t segments) {
    stn_soft_mesh *mesh = NULL;
    stn_error err;
    assert_ok(stn_soft_mesh_line(context, count, points, segments, &mesh, &err), err);
    return mesh;
}

/// Part of a circle below the ends at x = -+ width/2, from angle -half to half about its middle.
static stn_soft_mesh *arc(stn_context *context, double bend, double half, int32_t segments) {
    double points[3 * (ARC + 1)];
    for (int32_t i = 0; i <= ARC; i++) {
        const double angle = half * (2.0 * i / ARC - 1.0);
        points[3 * i] = bend * sin(angle);
        points[3 * i + 1] = 0.0;
        points[3 * i + 2] = bend * (cos(half) - cos(angle));
    }
    return line(context, ARC + 1, points, segments);
}

static stn_soft_cable_spec cable_of(const stn_soft_mesh *mesh) {
    stn_soft_cable_spec spec = {.name = "rope", .mesh = mesh, .pose = stn_pose_identity()};
    spec.radius = radius;
    spec.density = density;
    spec.mass = NAN;
    spec.geometry = stn_geometry_spec_default(stn_shape_half_space());
    return spec;
}

static void a_line_has_nodes_at_equal_distances_of_its_polygon(void **state) {
    const double corner[] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.3, 0.1, 0.0};
    stn_soft_mesh *mesh = line(*state, 4, corner, 8);
    assert_int_equal(mesh->node_count, 9);
    for (int32_t i = 0; i < 9; i++) {
        const double s = 0.05 * i;
        assert_near(mesh->nodes[3 * i], fmin(s, 0.3), 1e-15);
        assert_near(mesh->nodes[3 * i + 1], fmax(s - 0.3, 0.0), 1e-15);
    }
    assert_true(stn_soft_mesh_volume(mesh, NULL) == 0.0 && stn_soft_mesh_area(mesh) == 0.0);
    int32_t nodes[9], count = 0;
    stn_error err;
    assert_ok(stn_soft_mesh_select(mesh, 2, ends, nodes, &count, &err), err);
    assert_true(count == 2 && nodes[0] == 0 && nodes[1] == 8);
    const stn_soft_selector skin = {.where = STN_SOFT_IN_REGION, .region = "strat"};
    assert_error(stn_soft_mesh_select(mesh, 1, &skin, nodes, &count, &said), STN_ERR_ARGUMENT,
                 "there is no region 'strat', did you mean 'start'?; there are all, start, end, x_min to z_max");
    stn_soft_mesh_destroy(mesh);
}

static void bad_lines_are_refused(void **state) {
    const double same[] = {1.0, 2.0, 3.0, 1.0, 2.0, 3.0}, nan[] = {0.0, 0.0, 0.0, 0.0, NAN, 1.0};
    stn_soft_mesh *mesh = NULL;
    assert_error(stn_soft_mesh_line(*state, 1, same, 4, &mesh, &said), STN_ERR_ARGUMENT, "1 points make no line");
    assert_error(stn_soft_mesh_line(*state, 2, same, 4, &mesh, &said), STN_ERR_ARGUMENT, "are one place");
    assert_error(stn_soft_mesh_line(*state, 2, nan, 4, &mesh, &said), STN_ERR_ARGUMENT, "point 1: y = nan m");
    assert_error(stn_soft_mesh_line(*state, 2, same, 0, &mesh, &said), STN_ERR_ARGUMENT, "segments = 0 must be 1 to");
    assert_null(mesh);
}

/// Mass and moments of the whole are those of a cylinder, the capsules meet end to end.
static void it_weighs_what_a_cylinder_does(void **state) {
    const double points[] = {0.0, 0.0, 0.0, 0.4, 0.0, 0.0}, pi = STN_PI;
    stn_soft_mesh *mesh = line(*state, 2, points, 5);
    for (int32_t weighed = 0; weighed < 2; weighed++) {
        stn_world *world = soft_world(*state, 1e-3, NULL, stn_vec3_zero());
        stn_soft_cable_spec spec = cable_of(mesh);
        const double mass = density * pi * radius * radius * 0.4;
        spec.density = weighed ? (double)NAN : density;
        spec.mass = weighed ? mass : (double)NAN;
        spec.pose = stn_pose_make(stn_quat_exp(stn_vec3_make(0.0, 0.0, 0.5 * pi)), stn_vec3_make(1.0, 0.0, 2.0));
        stn_soft_body body;
        stn_error err;
        assert_ok(stn_soft_add_cable(stn_world_builder(world), *state, &spec, &body, &err), err);
        soft_compile(world);
        const stn_model *m = stn_world_model(world);
        double whole = 0.0, across = 0.0;
        for (int32_t i = 0; i < 6; i++) {
            const double *q = m->q0 + 7 * i, *I = m->node_inertia + 3 * i, y = q[1] - 0.2;
            whole += m->node_mass[i];
            across += I[1] + m->node_mass[i] * y * y;
            assert_near(I[0], 0.5 * m->node_mass[i] * radius * radius, 1e-20);
            assert_near(q[0], 1.0, 1e-15);
            assert_near(q[6], sqrt(0.5), 1e-15); // its x axis along y of the world
            const stn_geometry *g = &m->geometries[i];
            const double half = i == 0 || i == 5 ? 0.02 : 0.04, middle = i == 0 ? 0.02 : (i == 5 ? -0.02 : 0.0);
            assert_near(g->shape.half_length, half, 1e-15);
            assert_near(g->pose.position.x, middle, 1e-15);
            assert_near(stn_pose_apply(&g->pose, stn_vec3_make(0.0, 0.0, 1.0)).x - middle, 1.0, 1e-15);
            assert_string_equal(g->name, "rope");
        }
        assert_near(whole, mass, 1e-15 * mass);
        // n segments whose halves are lumped at the nodes: 3/n^2 of the length's part above a cylinder's
        assert_near(across, mass * (3.0 * radius * radius + 0.16 * (1.0 + 3.0 / 25.0)) / 12.0, 1e-12 * across);
        stn_world_destroy(world);
    }
    stn_soft_mesh_destroy(mesh);
}

/// An arc that is straight at rest is bent by E I times its curvature from the start, and by nothing else.
static void a_straight_cable_on_an_arc_is_bent_alone(void **state) {
    const double bend = 0.2, half = 1.2, I = 0.25 * STN_PI * pow(radius, 4.0);
    stn_soft_mesh *mesh = arc(*state, bend, half, SEGMENTS);
    for (int32_t straight = 0; straight < 2; straight++) {
        stn_world *world = soft_world(*state, 1e-3, NULL, stn_vec3_zero());
        const stn_setting settings[] = {SOFT_NUMBER("young", young)};
        stn_soft_cable_spec spec = cable_of(mesh);
        spec.straight = straight != 0;
        spec.element = (stn_plugin_choice){.settings = settings, .setting_count = 1};
        spec.pose = stn_pose_make(stn_quat_exp(stn_vec3_make(0.3, -1.1, 0.7)), stn_vec3_make(1.0, 0.0, 2.0));
        stn_soft_body body;
        stn_error err;
        double told[5 * SEGMENTS];
        assert_ok(stn_soft_add_cable(stn_world_builder(world), *state, &spec, &body, &err), err);
        soft_compile(world);
        assert_ok(stn_world_element_outputs(world, body.elements, told, &err), err);
        for (int32_t e = 0; e < SEGMENTS; e++) {
            assert_near(told[5 * e], 0.0, 2e-3); // E A times rounding of the polygon, 314 N x 4e-6
            assert_near(told[5 * e + 2], 0.0, 1e-12);
            assert_near(told[5 * e + 3], straight ? young * I / bend : 0.0, 1e-3 * young * I / bend);
        }
        stn_world_destroy(world);
    }
    stn_soft_mesh_destroy(mesh);
}

/// Between two ends it hangs as a catenary of its length and weight.
static void it_hangs_as_a_catenary(void **state) {
    const double bend = 0.3, half = 1.2, g = 9.81, length = 2.0 * bend * half, width = 2.0 * bend * sin(half);
    double u = 3.0;
    for (int32_t i = 0; i < 60; i++) { // sinh(u)/u = length/width
        u -= (sinh(u) - length / width * u) / (cosh(u) - length / width);
    }
    const double a = 0.5 * width / u;
    const double sag = a * (cosh(0.5 * width / a) - 1.0), weight = density * STN_PI * radius * radius * g;
    stn_soft_mesh *mesh = arc(*state, bend, half, SEGMENTS);
    stn_world *world = soft_world(*state, 0.02, NULL, stn_vec3_make(0.0, 0.0, -g));
    const stn_setting settings[] = {SOFT_NUMBER("young", young), SOFT_NUMBER("rayleigh_stiffness", 0.1)};
    const stn_soft_attachment held = {STN_WORLD, 2, ends};
    stn_soft_cable_spec spec = cable_of(mesh);
    spec.straight = true;
    spec.element = (stn_plugin_choice){.settings = settings, .setting_count = 2};
    spec.attachment_count = 1;
    spec.attachments = &held;
    stn_soft_body body;
    stn_error err;
    assert_ok(stn_soft_add_cable(stn_world_builder(world), *state, &spec, &body, &err), err);
    soft_compile(world);
    for (int32_t i = 0; i < 3000; i++) {
        assert_true(stn_world_step(world, &err) >= 0);
    }
    const double *q = stn_world_state(world)->q;
    double up = 0.0, force[6], told[5 * SEGMENTS], mass = 0.0;
    for (int32_t i = 0; i < NODES; i++) {
        mass += stn_world_model(world)->node_mass[i];
    }
    for (int32_t i = 0; i < 2; i++) {
        assert_int_equal(stn_world_attachment_force(world, i, force), 6);
        up += force[2];
        assert_near(force[2], 0.5 * mass * g, 1e-6 * mass * g);
        assert_near(fabs(force[0]), weight * a,
                    0.01 * weight * a); // 0.84 %, in proportion to the radius: the ends are clamped
    }
    for (int32_t i = 0; i < NODES; i++) {
        const double s = length * (2.0 * i / SEGMENTS - 1.0) / 2.0, x = a * asinh(s / a);
        assert_near(q[7 * i], x, 0.01 * sag);
        assert_near(q[7 * i + 2], sqrt(a * a + s * s) - a - sag, 0.01 * sag);
    }
    assert_near(up, mass * g, 1e-6 * mass * g);
    assert_ok(stn_world_element_outputs(world, body.elements, told, &err), err);
    for (int32_t e = 2; e < SEGMENTS - 2; e++) { // tension: weight below the directrix
        const double s = length * ((e + 0.5) / SEGMENTS - 0.5);
        assert_near(told[5 * e], weight * sqrt(a * a + s * s), 0.01 * weight * a);
    }
    stn_world_destroy(world);
    stn_soft_mesh_destroy(mesh);
}

static void what_is_wrong_is_refused_and_nothing_added(void **state) {
    const double points[] = {0.0, 0.0, 0.0, 0.4, 0.0, 0.0}, back[] = {0.0, 0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0};
    stn_soft_mesh *mesh = line(*state, 2, points, 4), *folded = line(*state, 3, back, 4);
    stn_soft_mesh *box = soft_box(*state, stn_vec3_make(1.0, 1.0, 1.0), 1, 1, 1);
    stn_model_builder *builder = NULL;
    stn_soft_body body;
    stn_error err;
    assert_ok(stn_builder_create(*state, &builder, &err), err);
    const stn_soft_cable_spec good = cable_of(mesh);
    stn_soft_cable_spec spec = good;
#define refused(text) assert_error(stn_soft_add_cable(builder, *state, &spec, &body, &said), STN_ERR_ARGUMENT, text)
    static const double radii[] = {0.0, -1.0, NAN, INFINITY};
    for (int32_t i = 0; i < 4; i++) {
        spec.radius = radii[i];
        refused("cable 'rope': radius = ");
        spec.radius = radius;
        spec.density = radii[i];
        refused("density = ");
        spec.density = density;
    }
    spec.mass = 1.0;
    refused("density = 8000 kg/m^3 and mass = 1 kg say the same; give one of them");
    spec = good;
    spec.mesh = box;
    refused("its mesh has 12 triangles; a cable needs a line of nodes");
    spec.mesh = folded;
    refused("the line turns back on itself at node 2");
    spec = good;
    spec.pose.position.x = NAN;
    refused("node 0 would be at (nan, 0, 0) m; its pose must be finite");
    spec = good;
    spec.element.id = "fem";
    assert_error(stn_soft_add_cable(builder, *state, &spec, &body, &said), STN_ERR_PARAMETER,
                 "element fem: unknown parameter radius");
    spec = good;
    spec.geometry.material.mu = -1.0;
    refused("mu = -1");
    const stn_soft_attachment absent = {7, 1, ends}, twice[] = {{STN_WORLD, 1, ends}, {STN_WORLD, 2, ends}};
    spec = good;
    spec.attachment_count = 1;
    spec.attachments = &absent;
    refused("attachment 1: there is no link 7");
    spec.attachment_count = 2;
    spec.attachments = twice;
    refused("node 0 (counted from 0) at (0, 0, 0) m of the mesh belongs to attachment 1 (pinned");
#undef refused
    const stn_soft_spec solid = {.name = "solid", .mesh = mesh, .surface = stn_surface_spec_default()};
    assert_error(stn_soft_add(builder, *state, &solid, &body, &said), STN_ERR_ARGUMENT,
                 "its mesh is a line of 5 nodes, which stn_soft_add_cable takes");
    stn_model *model = NULL;
    assert_ok(stn_model_compile(builder, &model, &err), err);
    assert_true(model->node_count == 0 && model->geometry_count == 0);
    stn_model_destroy(model);
    stn_builder_destroy(builder);
    stn_soft_mesh_destroy(mesh);
    stn_soft_mesh_destroy(folded);
    stn_soft_mesh_destroy(box);
}

static void every_request_for_memory_may_fail(void **state) {
    (void)state;
    const double points[] = {0.0, 0.0, 0.0, 0.4, 0.0, 0.0};
    const stn_soft_attachment held = {STN_WORLD, 2, ends};
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    long long n = 1;
    for (stn_status status = STN_ERR_MEMORY; status != STN_OK; n++) {
        stn_model_builder *builder = NULL;
        stn_soft_mesh *mesh = NULL;
        stn_soft_body body;
        stn_error err = {0};
        assert_ok(stn_builder_create(context, &builder, &err), err);
        stn_heap_arm(&heap, n);
        status = stn_soft_mesh_line(context, 2, points, 4, &mesh, &err);
        if (status == STN_OK) {
            stn_soft_cable_spec spec = cable_of(mesh);
            spec.attachment_count = 1;
            spec.attachments = &held;
            status = stn_soft_add_cable(builder, context, &spec, &body, &err);
        }
        assert_true(status == STN_OK || status == STN_ERR_MEMORY);
        stn_heap_arm(&heap, 0);
        stn_soft_mesh_destroy(mesh);
        stn_builder_destroy(builder);
    }
    assert_true(n > 15);
    stn_context_destroy(context);
    assert_true(heap.live == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_nodes_at_equal_distances_of_its_polygon),
        cmocka_unit_test(bad_lines_are_refused),
        cmocka_unit_test(it_weighs_what_a_cylinder_does),
        cmocka_unit_test(a_straight_cable_on_an_arc_is_bent_alone),
        cmocka_unit_test(it_hangs_as_a_catenary),
        cmocka_unit_test(what_is_wrong_is_refused_and_nothing_added),
        cmocka_unit_test(every_request_for_memory_may_fail),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
