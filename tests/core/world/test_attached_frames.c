// SPDX-License-Identifier: Apache-2.0
// Nodes that turn keep place and orientation on a link: in the world, on a kinematic body, on a body that forces move.
// The force on each comes with its torque.
#include "scenes.h"

#include <string.h>

static const double g = 9.81;

static stn_vec3 vec(double x, double y, double z) {
    return stn_vec3_make(x, y, z);
}

static void assert_vec(stn_vec3 a, stn_vec3 b, double tolerance) {
    assert_near(a.x, b.x, tolerance);
    assert_near(a.y, b.y, tolerance);
    assert_near(a.z, b.z, tolerance);
}

static stn_model_builder *begin(stn_world *world) {
    return stn_world_builder(world);
}

static const double node_mass = 0.2, node_inertia = 0.003;

/// Two frames at these places and orientations, each a ball of inertia, which nothing joins.
static int32_t add_pair(stn_world *world, stn_vec3 a, stn_quat turn_a, stn_vec3 b) {
    const double position[6] = {a.x, a.y, a.z, b.x, b.y, b.z}, mass[2] = {node_mass, node_mass};
    const double orientation[8] = {turn_a.w, turn_a.x, turn_a.y, turn_a.z, 1.0, 0.0, 0.0, 0.0};
    const double I = node_inertia, inertia[6] = {I, I, I, I, I, I};
    const stn_nodes_spec spec = {.name = "pair",
                                 .node_count = 2,
                                 .position = position,
                                 .mass = mass,
                                 .material = stn_material_unset(),
                                 .type = STN_NODE_FRAME,
                                 .orientation = orientation,
                                 .inertia = inertia};
    int32_t cloud = 0;
    stn_error err;
    assert_ok(stn_builder_add_nodes(begin(world), &spec, &cloud, &err), err);
    return cloud;
}

static void attach(stn_world *world, int32_t cloud, int32_t node, int32_t link) {
    stn_error err;
    assert_ok(stn_builder_attach_nodes(begin(world), cloud, 1, &node, link, &err), err);
}

static int32_t link_of(stn_world *world, int32_t group) {
    int32_t start = -1, count = 0;
    stn_builder_group_links(begin(world), group, &start, &count);
    return start;
}

static const double *q_of(const stn_world *world, int32_t node) {
    return stn_world_state(world)->q + stn_model_node_q(stn_world_model(world), node);
}

static const double *v_of(const stn_world *world, int32_t node) {
    return stn_world_state(world)->v + stn_model_node_v(stn_world_model(world), node);
}

static stn_mat3 rotation_of(const stn_world *world, int32_t node) {
    const double *q = q_of(world, node);
    return stn_quat_matrix((stn_quat){q[3], q[4], q[5], q[6]});
}

static void assert_rotation(const stn_mat3 *a, const stn_mat3 *b, double tolerance) {
    for (int32_t i = 0; i < 9; i++) {
        assert_near(a->m[i / 3][i % 3], b->m[i / 3][i % 3], tolerance);
    }
}

typedef struct wrench {
    stn_vec3 force, torque;
} wrench;

static wrench wrench_of(const stn_world *world, int32_t number) {
    double force[6];
    assert_int_equal(stn_world_attachment_force(world, number, force), 6);
    return (wrench){stn_vec3_at(force, 0), stn_vec3_at(force + 3, 0)};
}

static void step(stn_world *world) {
    stn_error err;
    const stn_status status = stn_world_step(world, &err);
    if (status < 0) {
        fail_msg("%s", err.text);
    }
}

static const stn_setting heavy[] = {{.name = "unactuated_mass_scale", .form = STN_SETTING_NUMBER, .number = 0.01}};
static const struct {
    stn_plugin_choice choice;
    bool moves_by_v;
} schemes[] = {
    {{"symplectic_euler", NULL, 0}, true}, {{"implicit_euler", NULL, 0}, true}, {{"midpoint", NULL, 0}, false},
    {{"explicit_euler", NULL, 0}, false},  {{"quasistatic", heavy, 1}, true},
};

static stn_world *world_with(stn_context *context, int32_t scheme, double gravity) {
    static const stn_setting tight[] = {{.name = "tolerance", .form = STN_SETTING_NUMBER, .number = 1e-13}};
    stn_world_options options = stn_world_options_default();
    options.solver = (stn_plugin_choice){NULL, tight, 1};
    options.integrator = schemes[scheme].choice;
    options.gravity = vec(0.0, 0.0, -gravity);
    options.dt = 1e-3;
    return scene_world(context, &options);
}

static void a_frame_stays_on_a_kinematic_body(void **state) {
    const stn_quat tilted = stn_quat_exp(vec(0.3, -0.2, 1.1));
    for (int32_t s = 0; s < STN_COUNT(schemes); s++) {
        const double dt = 1e-3;
        stn_world *world = world_with(*state, s, g);
        stn_error err;
        const int32_t group = scene_ball(world, "hand", 1.0, 0.01, vec(0.0, 0.0, 1.0)), hand = link_of(world, group);
        assert_ok(stn_builder_make_kinematic(begin(world), group, &err), err);
        attach(world, add_pair(world, vec(0.2, 0.1, 1.0), tilted, vec(9.0, 0.0, 1.0)), 0, hand);
        assert_ok(stn_world_compile(world, &err), err);
        const int32_t body = stn_world_model(world)->links[hand].body;
        const stn_mat3 start = stn_quat_matrix(tilted);
        for (int32_t i = 1; i <= 3000; i++) { // through more than a turn
            const double t = dt * i;
            stn_pose pose = {stn_quat_matrix(stn_quat_exp(vec(0.0, 0.0, 4.0 * t))), {0.1 * sin(2.0 * t), 0.0, 1.0}};
            const stn_vec3 linear = vec(0.2 * cos(2.0 * t), 0.0, 0.0), angular = vec(0.0, 0.0, 4.0);
            assert_ok(stn_world_set_kinematic(world, body, &pose, &linear, &angular, &err), err);
            step(world);
            const stn_mat3 there = stn_mat3_mul(&pose.rotation, &start), now = rotation_of(world, 0);
            assert_vec(stn_vec3_at(q_of(world, 0), 0), stn_pose_apply(&pose, vec(0.2, 0.1, 0.0)), 1e-15);
            assert_rotation(&now, &there, 1e-14);
            assert_vec(stn_vec3_at(v_of(world, 0) + 3, 0), angular, 1e-10); // the rate of the poses is the twist
        }
        stn_world_destroy(world);
    }
}

/// A tilted cube and a frame on its side turn and fly on together.
static void a_frame_and_its_body_push_each_other_alike(void **state) {
    const stn_quat tilted = stn_quat_exp(vec(0.3, -0.2, 1.1));
    for (int32_t s = 0; s < 4; s++) {
        stn_world *world = world_with(*state, s, 0.0);
        stn_error err;
        const int32_t group = scene_cube(world, "cube", 2.0, vec(0.0, 0.0, 0.0));
        const stn_pose base = {stn_quat_matrix(stn_quat_exp(vec(0.5, 0.1, -0.4))), {0.0, 0.0, 0.0}};
        assert_ok(stn_builder_set_base(begin(world), group, &base, false, &err), err);
        const stn_vec3 arm = vec(0.15, 0.1, 0.05), spin = vec(0.5, 0.2, 3.0);
        attach(world, add_pair(world, arm, tilted, vec(9.0, 0.0, 1.0)), 0, link_of(world, group));
        assert_ok(stn_world_compile(world, &err), err);
        const stn_model *model = stn_world_model(world);
        double v[64] = {0};
        const stn_vec3 u = stn_vec3_cross(spin, arm);
        const double both[6] = {u.x, u.y, u.z, spin.x, spin.y, spin.z}, turning[3] = {spin.x, spin.y, spin.z};
        memcpy(v + stn_model_node_v(model, 0), both, sizeof both);
        memcpy(v + model->joints[0].v_start + 3, turning, sizeof turning);
        assert_ok(stn_world_set_v(world, v, &err), err);
        const double cube_inertia = 2.0 * 0.04 / 6.0;
        stn_vec3 expected = stn_vec3_scale(cube_inertia + node_inertia, spin), angular = {0};
        expected = stn_vec3_mul_add(expected, node_mass, stn_vec3_cross(arm, u));
        const stn_mat3 first = rotation_of(world, 0), inverse = stn_mat3_transpose(&base.rotation);
        const stn_mat3 relative = stn_mat3_mul(&inverse, &first);
        for (int32_t i = 0; i < 500; i++) {
            const stn_spatial before = stn_world_kinematics(world)->body_velocity[1];
            step(world);
            const stn_kinematics *k = stn_world_kinematics(world);
            const stn_spatial w = k->body_velocity[1];
            const wrench on_node = wrench_of(world, 0);
            const stn_vec3 gained = stn_vec3_scale(2.0 / 1e-3, stn_vec3_sub(w.linear, before.linear));
            assert_vec(stn_vec3_add(gained, on_node.force), vec(0.0, 0.0, 0.0), 1e-9);
            const stn_mat3 there = stn_mat3_mul(&k->body_pose[1].rotation, &relative), now = rotation_of(world, 0);
            assert_rotation(&now, &there, 1e-4);
            const stn_vec3 own = stn_pose_apply_inverse(&base, arm);
            assert_vec(stn_vec3_at(q_of(world, 0), 0), stn_pose_apply(&k->body_pose[1], own), 1e-4);
            const stn_vec3 p = stn_vec3_scale(2.0, w.linear),
                           n = stn_vec3_scale(node_mass, stn_vec3_at(v_of(world, 0), 0));
            angular = stn_vec3_add(stn_vec3_cross(k->body_pose[1].position, p),
                                   stn_vec3_cross(stn_vec3_at(q_of(world, 0), 0), n));
            angular = stn_vec3_mul_add(angular, cube_inertia, w.angular);
            angular = stn_vec3_mul_add(angular, node_inertia, stn_vec3_at(v_of(world, 0) + 3, 0));
            assert_vec(stn_vec3_add(p, n), stn_vec3_scale(node_mass, u), 1e-12);
        }
        print_message("%s: angular momentum off by %.3g\n", schemes[s].choice.id,
                      stn_vec3_norm(stn_vec3_sub(angular, expected)) / stn_vec3_norm(expected));
        assert_vec(angular, expected, schemes[s].moves_by_v ? 1e-12 : 2e-3 * stn_vec3_norm(expected));
        stn_world_destroy(world);
    }
}

/// Put elsewhere by hand, a frame on a free cube is back on it within a few steps, and stays.
static void a_frame_that_was_turned_away_comes_back(void **state) {
    for (int32_t s = 0; s < 4; s++) {
        stn_world *world = world_with(*state, s, 0.0);
        const int32_t cube = link_of(world, scene_cube(world, "cube", 2.0, vec(0.0, 0.0, 0.0)));
        attach(world, add_pair(world, vec(0.1, 0.0, 0.0), stn_quat_identity(), vec(9.0, 0.0, 1.0)), 0, cube);
        stn_error err;
        assert_ok(stn_world_compile(world, &err), err);
        const stn_model *model = stn_world_model(world);
        double q[64];
        memcpy(q, stn_world_state(world)->q, (size_t)model->nq * sizeof *q);
        const stn_quat turned = stn_quat_exp(vec(0.05, -0.03, 0.02));
        const double away[7] = {0.103, 0.002, -0.001, turned.w, turned.x, turned.y, turned.z};
        memcpy(q + stn_model_node_q(model, 0), away, sizeof away);
        assert_ok(stn_world_set_q(world, q, &err), err);
        for (int32_t i = 0; i < 100; i++) {
            step(world);
        }
        const stn_pose *pose = &stn_world_kinematics(world)->body_pose[1];
        const stn_mat3 now = rotation_of(world, 0);
        assert_rotation(&now, &pose->rotation, 1e-6);
        assert_vec(stn_vec3_at(q_of(world, 0), 0), stn_pose_apply(pose, vec(0.1, 0.0, 0.0)), 1e-6);
        stn_world_destroy(world);
    }
}

/// A table on a pinned frame carries a cube beside its middle: weight and moment are those of statics.
static void a_pinned_frame_feels_the_moment_of_a_load(void **state) {
    static const char *const solvers[] = {"sap", "nsgs", "newton_ncp"};
    for (int32_t s = 0; s < STN_COUNT(solvers); s++) {
        stn_world_options options = stn_world_options_default();
        options.solver.id = solvers[s];
        options.dt = 1e-3;
        stn_world *world = scene_world(*state, &options);
        stn_error err;
        const int32_t cloud = add_pair(world, vec(0.0, 0.0, 0.5), stn_quat_identity(), vec(9.0, 0.0, 1.0));
        const stn_geometry_spec table = stn_geometry_spec_default(stn_shape_box(vec(0.5, 0.3, 0.02)));
        assert_ok(stn_builder_add_node_geometry(begin(world), cloud, 0, &table, &err), err);
        attach(world, cloud, 0, STN_WORLD);
        scene_cube(world, "cube", 1.5, vec(0.3, -0.1, 0.62));
        for (int32_t i = 0; i < 1000; i++) {
            step(world);
            assert_vec(stn_vec3_at(v_of(world, 0), 0), vec(0.0, 0.0, 0.0), 0.0);
            assert_vec(stn_vec3_at(v_of(world, 0) + 3, 0), vec(0.0, 0.0, 0.0), 0.0);
        }
        const wrench w = wrench_of(world, 0);
        const double W = 1.5 * g; // moment about the node that the load has: (0.3, -0.1, 0) x (0, 0, -W)
        assert_vec(w.force, vec(0.0, 0.0, W + node_mass * g), 1e-5 * W);
        assert_vec(w.torque, vec(-0.1 * W, -0.3 * W, 0.0), 1e-4 * W);
        stn_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_stays_on_a_kinematic_body),
        cmocka_unit_test(a_frame_and_its_body_push_each_other_alike),
        cmocka_unit_test(a_frame_that_was_turned_away_comes_back),
        cmocka_unit_test(a_pinned_frame_feels_the_moment_of_a_load),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
