// SPDX-License-Identifier: Apache-2.0
// Nodes that keep their place on a link: pinned in the world, carried by a kinematic body, or tied to a body that
// forces move. Every integrator and every solver gets them; what acts between node and body is read back.
#include "attached_scene.h"

#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- every integrator

/// At rest the pin carries all nodes, its own among them; it stands where it was, bit by bit.
static void a_pin_carries_the_weight_of_a_chain(void **state) {
    for (int32_t s = 0; s < STN_COUNT(schemes); s++) {
        stn_world *world = world_with(*state, &schemes[s], 1e-3, g);
        const stn_vec3 top = vec(0.3, -0.2, 1.7);
        attach(world, add_chain(world, 5, top, vec(0.0, 0.0, -0.1), 1000.0, 20.0), 0, STN_WORLD);
        for (int32_t i = 0; i < 4000; i++) {
            step(world);
            assert_vec(node_position(world, 0), top, 0.0);
            assert_vec(node_velocity(world, 0), vec(0.0, 0.0, 0.0), 0.0);
        }
        assert_vec(force_of(world, 0), vec(0.0, 0.0, 0.5 * g), 1e-6 * 0.5 * g);
        assert_vec(node_position(world, 4), vec(0.3, -0.2, 1.7 - 0.4 - 0.001 * g), 1e-7); // (4+3+2+1) 0.1 g/1000
        const stn_certificate *certificate = stn_world_observation(world)->certificate;
        assert_true(certificate->momentum < 1e-10);
        stn_world_destroy(world);
    }
}

static void nodes_stay_on_a_kinematic_body(void **state) {
    for (int32_t s = 0; s < STN_COUNT(schemes); s++) {
        const double dt = 1e-3;
        stn_world *world = world_with(*state, &schemes[s], dt, g);
        const stn_vec3 centre = vec(0.5, 0.1, 1.0);
        const int32_t hand = add_driver(world, "hand", centre);
        const int32_t cloud = add_chain(world, 4, vec(0.6, 0.1, 1.0), vec(0.1, 0.0, 0.0), 1000.0, 5.0);
        attach(world, cloud, 0, hand);
        attach(world, cloud, 1, hand);
        for (int32_t i = 0; i < 10000; i++) {
            const stn_vec3 before = i > 0 ? node_position(world, 0) : vec(0.6, 0.1, 1.0);
            if (i == 0) {
                stn_error err;
                assert_ok(stn_world_compile(world, &err), err);
            }
            const int32_t body = stn_world_model(world)->links[hand].body;
            tell(world, body, dt * (i + 1), centre);
            step(world);
            const stn_kinematics *k = stn_world_kinematics(world);
            for (int32_t n = 0; n < 2; n++) {
                const stn_vec3 place = stn_pose_apply(&k->body_pose[body], vec(0.1 + 0.1 * n, 0.0, 0.0));
                assert_vec(node_position(world, n), place, 1e-15);
            }
            const stn_vec3 now = node_position(world, 0);
            const stn_vec3 u = schemes[s].moves_by_v ? stn_vec3_scale(1.0 / dt, stn_vec3_sub(now, before))
                                                     : stn_point_velocity(k, body, now);
            // a kinematic body's twist is that of the end, taken where the node was at the start
            assert_vec(node_velocity(world, 0), u, schemes[s].moves_by_v ? 1e-12 : 3e-3);
        }
        stn_world_destroy(world);
    }
}

/// x of a mass on a spring and damper whose other end moves as Y sin(w t), in the steady state, from a start in it.
static double driven_error(stn_context *context, const scheme *s, double dt) {
    const double k = 40.0, c = 0.2, m = 0.1, w = 15.0, Y = 0.01, end = 0.6;
    stn_world *world = world_with(context, s, dt, 0.0);
    const int32_t hand = add_driver(world, "hand", vec(0.0, 0.0, 0.0));
    attach(world, add_chain(world, 2, vec(0.0, 0.0, 0.0), vec(0.5, 0.0, 0.0), k, c), 0, hand);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    const int32_t body = stn_world_model(world)->links[hand].body;
    // H = (k + i c w)/(k - m w^2 + i c w), x = Y |H| sin(w t + phase)
    const double re = k - m * w * w, im = c * w, size = sqrt((k * k + im * im) / (re * re + im * im));
    const double phase = atan2(im, k) - atan2(im, re);
    double q[64], v[64];
    memcpy(q, stn_world_state(world)->q, (size_t)stn_world_model(world)->nq * sizeof *q);
    memcpy(v, stn_world_state(world)->v, (size_t)stn_world_model(world)->nv * sizeof *v);
    const int32_t x = stn_world_model(world)->nq - 3, u = stn_world_model(world)->nv - 3;
    q[x] += Y * size * sin(phase);
    v[u] = Y * size * w * cos(phase);
    v[u - 3] = Y * w;
    assert_ok(stn_world_set_q(world, q, &err), err);
    assert_ok(stn_world_set_v(world, v, &err), err);
    const int32_t steps = (int32_t)lround(end / dt);
    for (int32_t i = 1; i <= steps; i++) {
        stn_pose pose = stn_pose_identity();
        pose.position.x = Y * sin(w * dt * i);
        const stn_vec3 linear = vec(Y * w * cos(w * dt * i), 0.0, 0.0), none = {0.0, 0.0, 0.0};
        assert_ok(stn_world_set_kinematic(world, body, &pose, &linear, &none, &err), err);
        step(world);
    }
    const double exact = 0.5 + Y * size * sin(w * end + phase);
    const double error = fabs(stn_world_state(world)->q[x] - exact) / (Y * size);
    stn_world_destroy(world);
    return error;
}

static void a_driven_mass_follows_the_closed_form(void **state) {
    for (int32_t s = 0; s < STN_COUNT(schemes); s++) {
        if (schemes[s].order == 0.0) { // without inertia there is no such motion
            continue;
        }
        const double coarse = driven_error(*state, &schemes[s], 1e-3), fine = driven_error(*state, &schemes[s], 5e-4);
        const double order = log2(coarse / fine);
        print_message("%s: %.3g and %.3g, order %.2f\n", schemes[s].choice.id, coarse, fine, order);
        assert_true(fine < (schemes[s].order == 1.0 ? 0.05 : 1e-4));
        assert_near(order, schemes[s].order, 0.15);
    }
}

/// Of a chain of `count` nodes and nothing else, as the state is.
static double energy_of(const stn_world *world, int32_t count, double k, double rest) {
    double energy = 0.0;
    for (int32_t n = 0; n < count; n++) {
        const stn_vec3 x = node_position(world, n), v = node_velocity(world, n);
        energy += 0.1 * (0.5 * stn_vec3_dot(v, v) + g * x.z);
        if (n > 0) {
            const double stretch = stn_vec3_norm(stn_vec3_sub(x, node_position(world, n - 1))) - rest;
            energy += 0.5 * k * stretch * stretch;
        }
    }
    return energy;
}

/// What the hand does to the chain is in the account: work = change of energy + what the dampers took (none).
static void the_work_of_a_driven_node_is_accounted_for(void **state) {
    double gap[2];
    for (int32_t halved = 0; halved < 2; halved++) {
        const double dt = halved ? 5e-4 : 1e-3;
        stn_world *world = world_with(*state, &schemes[2], dt, g); // midpoint keeps energy
        const int32_t hand = add_driver(world, "hand", vec(0.0, 0.0, 0.0));
        attach(world, add_chain(world, 3, vec(0.0, 0.0, 0.0), vec(0.0, 0.0, -0.2), 400.0, 0.0), 0, hand);
        stn_error err;
        assert_ok(stn_world_compile(world, &err), err);
        const int32_t body = stn_world_model(world)->links[hand].body;
        const double first = energy_of(world, 3, 400.0, 0.2);
        double work = 0.0, most = 0.0;
        for (int32_t i = 1; i * dt <= 0.5 + 1e-9; i++) {
            stn_pose pose = stn_pose_identity();
            const double w = 20.0, t = dt * i;
            pose.position.z = 0.05 * (1.0 - cos(w * t));
            const stn_vec3 linear = vec(0.0, 0.0, 0.05 * w * sin(w * t)), none = {0.0, 0.0, 0.0};
            assert_ok(stn_world_set_kinematic(world, body, &pose, &linear, &none, &err), err);
            step(world);
            work += stn_world_observation(world)->report->input_work_J;
            most = worse(most, fabs(work));
        }
        gap[halved] = fabs(energy_of(world, 3, 400.0, 0.2) - first - work) / most;
        stn_world_destroy(world);
    }
    print_message("energy that is not accounted for: %.3g and %.3g of the work\n", gap[0], gap[1]);
    assert_true(gap[0] < 1e-3 && gap[1] < 0.3 * gap[0]);
}

/// A jump of 0.1 m in one step, without a velocity for it; then the body stands.
static void nodes_follow_a_body_that_jumps(void **state) {
    for (int32_t s = 0; s < STN_COUNT(schemes); s++) {
        stn_world *world = world_with(*state, &schemes[s], 1e-3, g);
        const int32_t hand = add_driver(world, "hand", vec(0.0, 0.0, 1.0));
        attach(world, add_chain(world, 4, vec(0.0, 0.0, 1.0), vec(0.0, 0.0, -0.1), 1000.0, 5.0), 0, hand);
        stn_error err;
        assert_ok(stn_world_compile(world, &err), err);
        const int32_t body = stn_world_model(world)->links[hand].body;
        stn_pose pose = stn_pose_identity();
        pose.position = vec(0.1, 0.0, 1.0);
        assert_ok(stn_world_set_kinematic(world, body, &pose, NULL, NULL, &err), err);
        step(world);
        assert_vec(node_position(world, 0), vec(0.1, 0.0, 1.0), 0.0);
        pose.position = vec(0.1, 0.2, 1.0); // by hand, between steps
        assert_ok(stn_world_set_body_pose(world, body, &pose, &err), err);
        for (int32_t i = 0; i < 2000; i++) {
            step(world);
            assert_vec(node_position(world, 0), vec(0.1, 0.2, 1.0), 0.0);
        }
        assert_vec(node_velocity(world, 0), vec(0.0, 0.0, 0.0), 0.0);
        assert_true(isfinite(node_position(world, 3).z));
        pose.position.x = 1e308;
        if (schemes[s].moves_by_v) {
            assert_ok(stn_world_set_kinematic(world, body, &pose, NULL, NULL, &err), err);
            assert_error(stn_world_step(world, &said), STN_ERR_NUMERIC,
                         "node 0, which link hand carries, is at (1e+308");
        }
        stn_world_destroy(world);
    }
}

// ------------------------------------------------------------------------------------------------------ every solver

/// A chain pinned at one end lies with its last node's weight on the pin; a cube rests on two pinned spheres and on one
/// that hangs on a spring.
static void every_solver_takes_attached_nodes(void **state) {
    const stn_plugin_info *solvers = NULL;
    int32_t count = 0, tried = 0;
    stn_error err;
    assert_ok(stn_plugins_of_kind(*state, STN_KIND_SOLVER, &solvers, &count, &err), err);
    for (int32_t i = 0; i < count; i++) {
        if (strncmp(solvers[i].desc->id, "fake_", 5) == 0) {
            continue;
        }
        stn_world_options options = stn_world_options_default();
        options.solver.id = solvers[i].desc->id;
        options.dt = 1e-3;
        stn_world *world = scene_world(*state, &options);
        attach(world, add_chain(world, 5, vec(5.0, 0.0, 1.7), vec(0.0, 0.0, -0.1), 1000.0, 20.0), 0, STN_WORLD);
        const double table[] = {-0.08, -0.08, 0.0, 0.08, -0.08, 0.0, 0.0, 0.08, 0.0};
        const int32_t cloud = add_spheres(world, 3, table, 0.2, 0.05), nodes[] = {0, 1, 2};
        assert_ok(stn_builder_attach_nodes(begin(world), cloud, 3, nodes, STN_WORLD, &err), err);
        const int32_t hung = link_of(world, scene_cube(world, "cube", 3.0, vec(0.0, 0.0, 0.15)));
        const int32_t ball = link_of(world, scene_ball(world, "ball", 0.5, 0.05, vec(0.0, 0.0, 3.0)));
        attach(world, add_chain(world, 2, vec(0.0, 0.0, 3.5), vec(0.0, 0.0, -0.5), 1000.0, 20.0), 0, STN_WORLD);
        attach(world, 2, 1, ball);
        (void)hung;
        for (int32_t k = 0; k < 3000; k++) {
            step(world);
            for (int32_t n = 0; n < 3; n++) { // of the chain 5, then the table
                assert_vec(node_velocity(world, n == 0 ? 0 : 4 + n), vec(0.0, 0.0, 0.0), 0.0);
            }
        }
        const double chain = force_of(world, 0).z, ball_up = force_of(world, 5).z, pin = force_of(world, 4).z;
        const double carried = force_of(world, 1).z + force_of(world, 2).z + force_of(world, 3).z;
        print_message("%s: chain %.9g, table %.9g, ball %.9g, its pin %.9g\n", solvers[i].desc->id, chain, carried,
                      -ball_up, pin);
        assert_near(chain, 0.5 * g, 1e-6 * 0.5 * g);
        assert_near(carried, 3.6 * g, 1e-4 * 3.6 * g);
        assert_near(-ball_up, 0.5 * g, 1e-5 * 0.5 * g);
        assert_near(pin, 0.7 * g, 1e-5 * 0.7 * g);
        stn_world_destroy(world);
        tried++;
    }
    assert_true(tried >= 10);
}

// -------------------------------------------------------------------------------------------------------- two ends

/// Without gravity a body and a chain on it turn about each other: what one side gets the other loses.
static void action_is_reaction_on_a_body_that_moves(void **state) {
    for (int32_t s = 0; s < 5; s++) {
        const double dt = 1e-3;
        stn_world *world = world_with(*state, &schemes[s], dt, 0.0);
        const int32_t group = scene_cube(world, "cube", 2.0, vec(0.0, 0.0, 0.0)), cube = link_of(world, group);
        const int32_t cloud = add_chain(world, 4, vec(0.1, 0.05, 0.0), vec(0.1, 0.0, 0.0), 500.0, 1.0);
        attach(world, cloud, 0, cube);
        stn_error err;
        assert_ok(stn_world_compile(world, &err), err);
        const stn_model *model = stn_world_model(world);
        double v[64] = {0};
        v[model->nv - 2] = 1.0; // the last node, across
        v[model->nv - 3] = 0.5;
        assert_ok(stn_world_set_v(world, v, &err), err);
        stn_vec3 momentum = {0}, turning = {0}, last = {0};
        for (int32_t i = 0; i < 500; i++) {
            const stn_vec3 before = i == 0 ? vec(0.0, 0.0, 0.0) : stn_world_kinematics(world)->body_velocity[1].linear;
            step(world);
            const stn_kinematics *k = stn_world_kinematics(world);
            const stn_spatial u = k->body_velocity[1];
            const stn_vec3 x = k->body_pose[1].position;
            const stn_vec3 force = force_of(world, 0);
            last = stn_vec3_scale(2.0 / dt, stn_vec3_sub(u.linear, before)); // on the body
            assert_vec(stn_vec3_add(last, force), vec(0.0, 0.0, 0.0), 1e-12 * (2.0 / dt));
            momentum = stn_vec3_scale(2.0, u.linear);
            turning = stn_vec3_cross(x, momentum);
            turning = stn_vec3_mul_add(turning, 2.0 * 0.04 / 6.0, u.angular);
            for (int32_t n = 0; n < 4; n++) {
                const stn_vec3 p = stn_vec3_scale(0.1, node_velocity(world, n));
                momentum = stn_vec3_add(momentum, p);
                turning = stn_vec3_add(turning, stn_vec3_cross(node_position(world, n), p));
            }
            assert_vec(momentum, vec(0.05, 0.1, 0.0), 1e-12);
            const stn_vec3 place = stn_pose_apply(&k->body_pose[1], vec(0.1, 0.05, 0.0));
            assert_vec(node_position(world, 0), place, 2e-5);
        }
        print_message("%s: angular momentum %.6g of %.6g\n", schemes[s].choice.id, turning.z, 0.4 * 0.1 - 0.05 * 0.05);
        // forces along the line between two nodes, where they are as they act; else to the order of the scheme
        assert_near(turning.z, 0.0375, schemes[s].moves_by_v ? 1e-12 : 3e-4);
        stn_world_destroy(world);
    }
}

/// A cloud between a pin and a ball that hangs on it, and a second cloud on the same ball.
static void a_cloud_has_two_ends_and_a_body_two_clouds(void **state) {
    stn_world_options options = stn_world_options_default();
    options.dt = 1e-3;
    stn_world *world = scene_world(*state, &options);
    const int32_t ball = link_of(world, scene_ball(world, "ball", 1.5, 0.05, vec(0.0, 0.0, 0.5)));
    const int32_t rope = add_chain(world, 6, vec(0.0, 0.0, 1.0), vec(0.0, 0.0, -0.1), 3000.0, 150.0);
    const int32_t tail = add_chain(world, 3, vec(0.0, 0.0, 0.5), vec(0.0, 0.0, -0.1), 3000.0, 150.0);
    attach(world, rope, 0, STN_WORLD);
    attach(world, rope, 5, ball);
    attach(world, tail, 0, ball);
    for (int32_t i = 0; i < 6000; i++) {
        step(world);
    }
    assert_vec(force_of(world, 0), vec(0.0, 0.0, (1.5 + 0.9) * g), 1e-6 * 2.4 * g);
    assert_vec(force_of(world, 1), vec(0.0, 0.0, -(1.5 + 0.3) * g), 1e-6 * 2.4 * g);
    assert_vec(force_of(world, 2), vec(0.0, 0.0, 0.3 * g), 1e-6 * 2.4 * g);
    double force[6];
    assert_int_equal(stn_world_attachment_force(world, 3, force), 0);
    assert_int_equal(stn_world_attachment_force(world, -1, force), 0);
    stn_world_destroy(world);
}

// --------------------------------------------------------------------------------------------------------- bad input

static void wrong_attachments_are_refused(void **state) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(*state, &options);
    const double x[] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0};
    const int32_t cloud = add_spheres(world, 2, x, 0.1, 0.0);
    const int32_t link = link_of(world, scene_cube(world, "cube", 1.0, vec(0.0, 0.0, 1.0)));
    const int32_t wrong[] = {0, 2}, negative[] = {-1}, twice[] = {1, 1}, good[] = {1}, all[] = {0, 1};
    stn_model_builder *b = begin(world);
    assert_error(stn_builder_attach_nodes(b, cloud, 2, wrong, link, &said), STN_ERR_ARGUMENT,
                 "': attached nodes: there is no node 2 (2 nodes, counted from 0)");
    assert_error(stn_builder_attach_nodes(b, cloud, 1, negative, link, &said), STN_ERR_ARGUMENT, "there is no node -1");
    assert_error(stn_builder_attach_nodes(b, cloud, 2, twice, link, &said), STN_ERR_ARGUMENT,
                 "node 1 is attached already");
    assert_error(stn_builder_attach_nodes(b, cloud, 1, good, link + 1, &said), STN_ERR_ARGUMENT,
                 "': attached nodes: there is no link 1 (1 links, or STN_WORLD)");
    assert_error(stn_builder_attach_nodes(b, cloud, 1, good, STN_ANY, &said), STN_ERR_ARGUMENT, "there is no link -2");
    assert_error(stn_builder_attach_nodes(b, cloud, -1, good, link, &said), STN_ERR_ARGUMENT, "count = -1");
    assert_error(stn_builder_attach_nodes(b, 1, 1, good, link, &said), STN_ERR_ARGUMENT,
                 "there is no cloud of nodes 1 (1 clouds)");
    assert_error(stn_builder_attach_nodes(b, -1, 1, good, link, &said), STN_ERR_ARGUMENT, "no cloud of nodes -1");
    stn_error err;
    assert_ok(stn_builder_attach_nodes(b, cloud, 0, NULL, link, &err), err);
    assert_ok(stn_builder_attach_nodes(b, cloud, 1, good, link, &err), err);
    assert_error(stn_builder_attach_nodes(b, cloud, 2, all, STN_WORLD, &said), STN_ERR_ARGUMENT,
                 "node 1 is attached already");
    // a file that turns out bad takes what was attached to it along
    const int32_t second = link_of(world, scene_cube(world, "bad", 1.0, vec(0.0, 0.0, 2.0)));
    attach(world, cloud, 0, second);
    stn_builder_discard(b, 1);
    attach(world, cloud, 0, STN_WORLD);
    scene_steps(world, 1);
    const stn_model *model = stn_world_model(world);
    assert_int_equal(model->attachment_count, 2);
    assert_int_equal(model->attachments[0].node, 1);
    assert_int_equal(model->attachments[0].body, 1);
    assert_vec(model->attachments[0].point, vec(1.0, 0.0, -1.0), 1e-15);
    assert_int_equal(model->attachments[1].link, STN_WORLD);
    assert_int_equal(model->node_attachment[0], 1);
    assert_int_equal(model->node_attachment[1], 0);
    assert_false(stn_model_node_moves(model, 0));
    assert_true(stn_model_node_moves(model, 1));
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pin_carries_the_weight_of_a_chain),
        cmocka_unit_test(nodes_stay_on_a_kinematic_body),
        cmocka_unit_test(a_driven_mass_follows_the_closed_form),
        cmocka_unit_test(the_work_of_a_driven_node_is_accounted_for),
        cmocka_unit_test(nodes_follow_a_body_that_jumps),
        cmocka_unit_test(every_solver_takes_attached_nodes),
        cmocka_unit_test(action_is_reaction_on_a_body_that_moves),
        cmocka_unit_test(a_cloud_has_two_ends_and_a_body_two_clouds),
        cmocka_unit_test(wrong_attachments_are_refused),
    };
    return cmocka_run_group_tests(tests, fakes_setup, scene_teardown);
}
