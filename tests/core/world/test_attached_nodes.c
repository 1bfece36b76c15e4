// SPDX-License-Identifier: Apache-2.0
// Nodes that keep their place on a link: pinned in the world, carried by a kinematic body, or tied to a body that
// forces move. Every integrator and every solver gets them; what acts between node and body is read back.
#include "../../boundary/fake_scenes.h"

#include <stdlib.h>
#include <string.h>

#include "stn_heap.h"
#include "stn_random.h"
#include "stn_tape.h"

static const double g = 9.81;

static stn_vec3 vec(double x, double y, double z) {
    return stn_vec3_make(x, y, z);
}

/// Differs by at most so much; 0: bit by bit.
static void assert_vec(stn_vec3 a, stn_vec3 b, double tolerance) {
    assert_near(a.x, b.x, tolerance);
    assert_near(a.y, b.y, tolerance);
    assert_near(a.z, b.z, tolerance);
}

// ------------------------------------------------------------------------------------------------------------ scenes

static stn_model_builder *begin(stn_world *world) {
    return stn_world_builder(world);
}

static int32_t clouds_made; // each has a name of its own

/// `count` nodes of 0.1 kg in a row from `start`, each `step` behind the last, with springs between neighbours.
static int32_t add_chain(stn_world *world, int32_t count, stn_vec3 start, stn_vec3 step, double k, double c) {
    enum { MOST = 64 };
    double position[3 * MOST], mass[MOST];
    int32_t index[2 * MOST], cloud = 0;
    for (int32_t i = 0; i < count; i++) {
        const stn_vec3 x = stn_vec3_mul_add(start, i, step);
        position[3 * i] = x.x;
        position[3 * i + 1] = x.y;
        position[3 * i + 2] = x.z;
        mass[i] = 0.1;
        index[2 * i] = i;
        index[2 * i + 1] = i + 1;
    }
    char name[32];
    snprintf(name, sizeof name, "chain%d", clouds_made++);
    const stn_nodes_spec spec = {
        .name = name, .node_count = count, .position = position, .mass = mass, .material = stn_material_unset()};
    const stn_setting settings[] = {{.name = "k", .form = STN_SETTING_NUMBER, .number = k},
                                    {.name = "c", .form = STN_SETTING_NUMBER, .number = c}};
    stn_instance *instance = NULL;
    stn_error err;
    assert_ok(stn_builder_add_nodes(begin(world), &spec, &cloud, &err), err);
    assert_ok(
        stn_instance_create(stn_world_context(world), STN_KIND_ELEMENT, "fake_spring", settings, 2, &instance, &err),
        err);
    const stn_elements_spec elements = {.nodes = cloud, .element_count = count - 1, .index = index};
    int32_t group = 0;
    assert_ok(stn_builder_add_elements(begin(world), instance, &elements, &group, &err), err);
    return cloud;
}

/// Nodes with spheres, not joined.
static int32_t add_spheres(stn_world *world, int32_t count, const double *position, double mass, double radius) {
    double masses[16];
    int32_t cloud = 0;
    stn_error err;
    for (int32_t i = 0; i < count; i++) {
        masses[i] = mass;
    }
    char name[32];
    snprintf(name, sizeof name, "spheres%d", clouds_made++);
    const stn_nodes_spec spec = {.name = name,
                                 .node_count = count,
                                 .position = position,
                                 .mass = masses,
                                 .contact_radius = radius,
                                 .material = stn_material_unset()};
    assert_ok(stn_builder_add_nodes(begin(world), &spec, &cloud, &err), err);
    return cloud;
}

static void attach(stn_world *world, int32_t cloud, int32_t node, int32_t link) {
    stn_error err;
    assert_ok(stn_builder_attach_nodes(begin(world), cloud, 1, &node, link, &err), err);
}

/// The only link of a group.
static int32_t link_of(stn_world *world, int32_t group) {
    int32_t start = -1, count = 0;
    stn_builder_group_links(begin(world), group, &start, &count);
    return start;
}

/// A ball that moves as it is told. Returns its link.
static int32_t add_driver(stn_world *world, const char *name, stn_vec3 position) {
    stn_error err;
    const int32_t group = scene_ball(world, name, 1.0, 0.01, position);
    assert_ok(stn_builder_make_kinematic(begin(world), group, &err), err);
    return link_of(world, group);
}

static stn_vec3 node_position(const stn_world *world, int32_t node) {
    const stn_model *model = stn_world_model(world);
    return stn_vec3_at(stn_world_state(world)->q + (model->nq - 3 * model->node_count) + 3 * node, 0);
}

static stn_vec3 node_velocity(const stn_world *world, int32_t node) {
    const stn_model *model = stn_world_model(world);
    return stn_vec3_at(stn_world_state(world)->v + (model->nv - 3 * model->node_count) + 3 * node, 0);
}

static stn_vec3 force_of(const stn_world *world, int32_t attachment) {
    double force[6];
    assert_int_equal(stn_world_attachment_force(world, attachment, force), 3);
    return stn_vec3_at(force, 0);
}

/// Made, in whatever accuracy.
static void step(stn_world *world) {
    stn_error err;
    const stn_status status = stn_world_step(world, &err);
    if (status < 0) {
        fail_msg("%s", err.text);
    }
}

// ------------------------------------------------------------------------------------------------- every integrator

static const stn_setting heavy[] = {{.name = "unactuated_mass_scale", .form = STN_SETTING_NUMBER, .number = 0.01}};
static const stn_setting custom[] = {{.name = "scheme", .form = STN_SETTING_TEXT, .text = "custom"},
                                     {.name = "theta", .form = STN_SETTING_NUMBER, .number = 0.7},
                                     {.name = "theta_vq", .form = STN_SETTING_NUMBER, .number = 0.6}};

typedef struct scheme {
    stn_plugin_choice choice;
    bool moves_by_v; // q moves by the v of the step's end
    double order;    // of convergence
} scheme;
static const scheme schemes[] = {
    {{"symplectic_euler", NULL, 0}, true, 1.0}, {{"implicit_euler", NULL, 0}, true, 1.0},
    {{"midpoint", NULL, 0}, false, 2.0},        {{"theta", custom, 3}, false, 1.0},
    {{"explicit_euler", NULL, 0}, false, 1.0},  {{"quasistatic", heavy, 1}, true, 0.0},
};

static stn_world *world_with(stn_context *context, const scheme *s, double dt, double gravity) {
    stn_world_options options = stn_world_options_default();
    options.gravity = vec(0.0, 0.0, -gravity);
    options.integrator = s->choice;
    options.dt = dt;
    return scene_world(context, &options);
}

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

/// Turns about z and goes along x, by closed forms of time.
static void tell(stn_world *world, int32_t body, double t, stn_vec3 centre) {
    const double angle = 0.8 * sin(3.0 * t), rate = 2.4 * cos(3.0 * t);
    stn_pose pose = {stn_quat_matrix(stn_quat_exp(vec(0.0, 0.0, angle))), centre};
    pose.position.x += 0.1 * sin(2.0 * t);
    const stn_vec3 linear = vec(0.2 * cos(2.0 * t), 0.0, 0.0), angular = vec(0.0, 0.0, rate);
    stn_error err;
    assert_ok(stn_world_set_kinematic(world, body, &pose, &linear, &angular, &err), err);
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
            most = fmax(most, fabs(work));
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

// ----------------------------------------------------------------------------------------------------------- contact

/// Pinned spheres in the ground, in each other, and one on the body that carries it: nothing to solve, no overlap told.
static void contacts_without_a_free_dof_are_left_out(void **state) {
    for (int32_t second = 0; second < 2; second++) { // on the cube, in another sphere
        stn_world_options options = stn_world_options_default();
        stn_world *world = scene_world(*state, &options);
        scene_ground(world);
        const double low[] = {0.0, 0.0, 0.01, 0.0, 0.0, 0.02}, high[] = {0.0, 0.01, 0.02};
        const int32_t both[] = {0, 1};
        stn_error err;
        const int32_t cloud = add_spheres(world, 2, low, 0.1, 0.03);
        assert_ok(stn_builder_attach_nodes(begin(world), cloud, 2, both, STN_WORLD, &err), err);
        attach(world, add_spheres(world, 1, high, 0.1, 0.03), 0, STN_WORLD);
        const int32_t cube = link_of(world, scene_cube(world, "cube", 1.0, vec(1.0, 0.0, 0.5)));
        const double on_top[] = {1.0, 0.0, 0.6}, other[] = {1.0, 0.02, 0.6};
        attach(world, add_spheres(world, 1, on_top, 0.1, 0.03), 0, cube);
        if (second == 1) {
            attach(world, add_spheres(world, 1, other, 0.1, 0.03), 0, cube);
        }
        for (int32_t i = 0; i < 20; i++) {
            scene_steps(world, 1);
            const stn_observation *o = stn_world_observation(world);
            assert_int_equal(o->contacts->count, 0);
            assert_near(o->report->overlap_without_contact_m, 0.0, 0.0);
            assert_near(o->report->overlap_m, second == 1 ? 0.04 : 0.0, second == 1 ? 1e-5 : 0.0);
        }
        assert_near(node_velocity(world, 3).z, -g * 20.0 * 0.002, 1e-12); // cube and nodes fall together
        stn_world_destroy(world);
    }
}

/// A sphere that a kinematic body carries pushes a cube over the ground: the hand feels friction and weight.
static void a_driven_sphere_pushes_a_cube(void **state) {
    stn_world *world = scene_tight_world(*state, 1e-3, 1e-10);
    scene_ground(world);
    scene_cube(world, "cube", 2.0, vec(0.0, 0.0, 0.1));
    const int32_t hand = add_driver(world, "hand", vec(-0.3, 0.0, 0.1));
    const double x[] = {-0.131, 0.0, 0.1};
    attach(world, add_spheres(world, 1, x, 0.1, 0.03), 0, hand);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    const int32_t body = stn_world_model(world)->links[hand].body;
    double work = 0.0;
    for (int32_t i = 1; i <= 1000; i++) {
        stn_pose pose = stn_pose_identity();
        pose.position = vec(-0.3 + 2e-4 * i, 0.0, 0.1);
        assert_ok(stn_world_set_kinematic(world, body, &pose, NULL, NULL, &err), err);
        step(world);
        work += i > 500 ? stn_world_observation(world)->report->input_work_J : 0.0;
    }
    const stn_vec3 force = force_of(world, 0);
    assert_near(force.x, 0.5 * 2.0 * g, 1e-3 * g);       // mu m g
    assert_near(work, 0.5 * 2.0 * g * 0.1, 1e-4 * work); // along 0.1 m
    stn_world_destroy(world);
}

/// A sphere on a hand runs along a free cube whose surface moves by itself. What the two do is what the cube gains
/// and the contact takes: change of energy - gamma . (mean relative velocity).
static void a_driven_sphere_on_a_belt_is_accounted_for(void **state) {
    stn_world_options options = stn_world_options_default();
    options.gravity = vec(0.0, 0.0, 0.0);
    options.dt = 1e-3;
    static const stn_setting tight[] = {{.name = "tolerance", .form = STN_SETTING_NUMBER, .number = 1e-13}};
    options.solver = (stn_plugin_choice){NULL, tight, 1};
    stn_world *world = scene_world(*state, &options);
    stn_geometry_spec box = stn_geometry_spec_default(stn_shape_box(vec(0.1, 0.1, 0.1)));
    box.surface_velocity = vec(0.3, 0.0, 0.0);
    scene_body(world, "cube", 2.0, &box, vec(0.0, 0.0, 0.0));
    const int32_t hand = add_driver(world, "hand", vec(0.0, 0.0, 0.3));
    const double x[] = {0.0, 0.02, 0.1308}; // they meet when the sphere is at its speed
    attach(world, add_spheres(world, 1, x, 0.1, 0.03), 0, hand);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    const int32_t body = stn_world_model(world)->links[hand].body;
    double work = 0.0, taken = 0.0, change = 0.0, before = 0.0;
    for (int32_t i = 1; i <= 100; i++) {
        stn_pose pose = stn_pose_identity();
        pose.position = vec(0.0, 1e-4 * i, 0.3 - 2e-4 * i);
        const stn_vec3 linear = vec(0.0, 0.1, -0.2), none = {0.0, 0.0, 0.0};
        assert_ok(stn_world_set_kinematic(world, body, &pose, &linear, &none, &err), err);
        double v0[16];
        memcpy(v0, stn_world_state(world)->v, (size_t)stn_world_model(world)->nv * sizeof *v0);
        step(world);
        const stn_observation *o = stn_world_observation(world);
        work += o->report->input_work_J;
        change += o->report->kinetic_J - before;
        before = o->report->kinetic_J;
        for (int32_t c = 0; c < o->problem->constraint_count; c++) {
            const stn_constraint *contact = &o->problem->constraints[c];
            double start[3], end[3];
            stn_constraint_velocity(o->problem, contact, v0, start);
            stn_constraint_velocity(o->problem, contact, o->v, end);
            for (int32_t r = 0; r < 3; r++) {
                taken -= o->gamma[contact->row + r] * (0.5 * (start[r] + end[r]) + o->problem->bias[contact->row + r]);
            }
        }
        if (i == 1) { // the node's own mass is brought up to speed
            assert_near(work, 0.5 * 0.1 * 0.05, 1e-15);
            assert_near(change, work, 1e-15);
        }
    }
    assert_true(taken > 1e-3 && change > 1e-3);
    assert_near(work, change + taken, 1e-12);
    stn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------------------- surfaces

static void add_surface(stn_world *world, int32_t cloud, int32_t count, const int32_t *triangles, bool solid) {
    stn_surface_spec spec = stn_surface_spec_default();
    int32_t geometry = 0;
    stn_error err;
    spec.triangle_count = count;
    spec.triangles = triangles;
    spec.thickness = 0.005;
    spec.solid = solid;
    assert_ok(stn_builder_add_surface(begin(world), cloud, &spec, &geometry, &err), err);
}

/// A net whose border is pinned, and a ball that lies in it beside the middle, on triangles some of whose corners are
/// pinned. In each step the pins give what momentum gains beside the weight; at rest they carry it, also by moments.
static void a_net_carries_a_ball(void **state) {
    static const char *const solvers[] = {"sap", "nsgs"};
    for (int32_t s = 0; s < 2; s++) {
        enum { N = 4, TRIANGLES = 2 * (N - 1) * (N - 1) };
        stn_world_options options = stn_world_options_default();
        static const stn_setting tight[] = {{.name = "tolerance", .form = STN_SETTING_NUMBER, .number = 1e-12}};
        options.solver = (stn_plugin_choice){solvers[s], tight, 1};
        options.dt = 1e-3;
        stn_world *world = scene_world(*state, &options);
        double x[3 * N * N], mass[N * N];
        int32_t triangles[3 * TRIANGLES], springs[2 * 3 * N * N], border[4 * (N - 1)];
        int32_t spring_count = 0, triangle_count = 0, border_count = 0, cloud = 0;
        for (int32_t i = 0; i < N * N; i++) {
            const int32_t a = i % N, b = i / N;
            x[3 * i] = 0.1 * a - 0.15;
            x[3 * i + 1] = 0.1 * b - 0.15;
            x[3 * i + 2] = 1.0;
            mass[i] = 0.01;
            if (a == 0 || b == 0 || a == N - 1 || b == N - 1) {
                border[border_count++] = i;
            }
            const int32_t to[3] = {a < N - 1 ? i + 1 : -1, b < N - 1 ? i + N : -1,
                                   a < N - 1 && b < N - 1 ? i + N + 1 : -1};
            for (int32_t k = 0; k < 3; k++) {
                springs[2 * spring_count] = i;
                springs[2 * spring_count + 1] = to[k];
                spring_count += to[k] >= 0;
            }
            if (to[2] >= 0) {
                const int32_t two[6] = {i, i + 1, i + N + 1, i, i + N + 1, i + N};
                memcpy(triangles + 3 * triangle_count, two, sizeof two);
                triangle_count += 2;
            }
        }
        const stn_nodes_spec spec = {
            .name = "net", .node_count = N * N, .position = x, .mass = mass, .material = stn_material_unset()};
        const stn_setting settings[] = {{.name = "k", .form = STN_SETTING_NUMBER, .number = 2000.0},
                                        {.name = "c", .form = STN_SETTING_NUMBER, .number = 20.0}};
        stn_instance *instance = NULL;
        stn_error err;
        assert_ok(stn_builder_add_nodes(begin(world), &spec, &cloud, &err), err);
        assert_ok(stn_instance_create(*state, STN_KIND_ELEMENT, "fake_spring", settings, 2, &instance, &err), err);
        const stn_elements_spec elements = {.nodes = cloud, .element_count = spring_count, .index = springs};
        int32_t part = 0;
        assert_ok(stn_builder_add_elements(begin(world), instance, &elements, &part, &err), err);
        assert_ok(stn_builder_attach_nodes(begin(world), cloud, border_count, border, STN_WORLD, &err), err);
        add_surface(world, cloud, TRIANGLES, triangles, false);
        scene_ball(world, "ball", 0.5, 0.08, vec(-0.07, 0.02, 1.1));
        stn_vec3 momentum = {0};
        for (int32_t i = 0; i < 6000; i++) {
            step(world);
            stn_vec3 before = momentum, total = vec(0.0, 0.0, -0.66 * g);
            momentum = stn_vec3_scale(0.5, stn_world_kinematics(world)->body_velocity[1].linear);
            for (int32_t n = 0; n < N * N; n++) {
                momentum = stn_vec3_mul_add(momentum, 0.01, node_velocity(world, n));
            }
            for (int32_t n = 0; n < border_count; n++) {
                total = stn_vec3_add(total, force_of(world, n));
            }
            assert_vec(stn_vec3_scale(1e3, stn_vec3_sub(momentum, before)), total, 1e-8);
        }
        const stn_vec3 ball = stn_world_kinematics(world)->body_pose[1].position;
        stn_vec3 sum = {0}, moment = {0};
        for (int32_t i = 0; i < border_count; i++) {
            sum = stn_vec3_add(sum, force_of(world, i));
            moment = stn_vec3_add(moment, stn_vec3_cross(node_position(world, border[i]), force_of(world, i)));
        }
        for (int32_t i = 0; i < N * N; i++) { // of the weights
            moment = stn_vec3_add(moment, stn_vec3_cross(node_position(world, i), vec(0.0, 0.0, -0.01 * g)));
        }
        moment = stn_vec3_add(moment, stn_vec3_cross(ball, vec(0.0, 0.0, -0.5 * g)));
        print_message("%s: forces %.9g, %.3g, %.3g, moments %.3g, %.3g\n", solvers[s], sum.z, sum.x, sum.y, moment.x,
                      moment.y);
        assert_true(ball.z > 1.0 && ball.x < 0.0);
        if (s == 0) { // friction that creeps has brought the ball to rest; with the other it still rolls to and fro
            assert_vec(sum, vec(0.0, 0.0, 0.66 * g), 1e-4 * 0.66 * g);
            assert_vec(moment, vec(0.0, 0.0, 0.0), 1e-4 * 0.66 * g);
        }
        stn_world_destroy(world);
    }
}

/// A soft block whose lower face is attached to the cube that it stands on: the two do not touch, they fall as one.
static void a_pad_does_not_touch_the_body_that_holds_it(void **state) {
    for (int32_t kinematic = 0; kinematic < 2; kinematic++) {
        stn_world *world = world_with(*state, &schemes[0], 1e-3, g);
        const int32_t group = scene_cube(world, "cube", 2.0, vec(0.0, 0.0, 0.0));
        stn_error err;
        if (kinematic == 1) {
            assert_ok(stn_builder_make_kinematic(begin(world), group, &err), err);
        }
        const double x[] = {-0.05, -0.05, 0.1, 0.05, -0.05, 0.1, -0.05, 0.05, 0.1, 0.05, 0.05, 0.1,
                            -0.06, -0.05, 0.2, 0.05, -0.05, 0.2, -0.05, 0.05, 0.2, 0.05, 0.05, 0.2};
        static const int32_t triangles[] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                            2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
        const int32_t lower[] = {0, 1, 2, 3}, tets[] = {0, 1, 2, 4, 1, 3, 2, 7, 1, 4, 5, 7, 2, 4, 7, 6, 1, 2, 4, 7};
        const int32_t cloud = add_spheres(world, 8, x, 0.05, 0.0);
        const stn_setting settings[] = {{.name = "k", .form = STN_SETTING_NUMBER, .number = 500.0},
                                        {.name = "c", .form = STN_SETTING_NUMBER, .number = 10.0}};
        stn_instance *instance = NULL;
        assert_ok(stn_instance_create(*state, STN_KIND_ELEMENT, "fake_tet", settings, 2, &instance, &err), err);
        const stn_elements_spec elements = {.nodes = cloud, .element_count = 5, .index = tets};
        int32_t part = 0;
        assert_ok(stn_builder_add_elements(begin(world), instance, &elements, &part, &err), err);
        assert_ok(stn_builder_attach_nodes(begin(world), cloud, 4, lower, link_of(world, group), &err), err);
        add_surface(world, cloud, 12, triangles, true);
        for (int32_t i = 0; i < 1000; i++) {
            step(world);
            assert_int_equal(stn_world_observation(world)->contacts->count, 0);
        }
        double weight = 0.0;
        for (int32_t i = 0; i < 4; i++) {
            weight += force_of(world, i).z;
        }
        assert_near(weight, kinematic == 1 ? 8.0 * 0.05 * g : 0.0, 1e-6);
        stn_world_destroy(world);
    }
}

/// Finite elements with lumped and with consistent mass, which joins nodes in M too, on a base that shakes: in each
/// step the base gives what momentum gains beside the weight, with every implicit scheme.
static void a_block_of_finite_elements_stands_on_a_shaken_base(void **state) {
    for (int32_t s = 0; s < 8; s++) {
        const scheme *with = &schemes[s / 2]; // implicit and with inertia
        const double dt = 1e-3, mass = 1000.0 * 0.1 * 0.1 * 0.1;
        stn_world *world = world_with(*state, with, dt, g);
        const int32_t base = add_driver(world, "base", vec(0.0, 0.0, -0.1));
        const double x[] = {0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.1, 0.0, 0.1, 0.1, 0.0,
                            0.0, 0.0, 0.1, 0.1, 0.0, 0.1, 0.0, 0.1, 0.1, 0.1, 0.1, 0.1};
        const int32_t lower[] = {0, 1, 2, 3}, tets[] = {0, 1, 2, 4, 1, 3, 2, 7, 1, 4, 5, 7, 2, 4, 7, 6, 1, 2, 4, 7};
        const stn_nodes_spec spec = {.name = "block", .node_count = 8, .position = x, .material = stn_material_unset()};
        const stn_setting settings[] = {
            {.name = "young", .form = STN_SETTING_NUMBER, .number = 5e3},
            {.name = "mass", .form = STN_SETTING_TEXT, .text = s % 2 == 0 ? "lumped" : "consistent"},
            {.name = "rayleigh_stiffness", .form = STN_SETTING_NUMBER, .number = 0.04}};
        stn_instance *instance = NULL;
        int32_t cloud = 0, part = 0;
        stn_error err;
        assert_ok(stn_builder_add_nodes(begin(world), &spec, &cloud, &err), err);
        assert_ok(stn_instance_create(*state, STN_KIND_ELEMENT, "fem", settings, 3, &instance, &err), err);
        const stn_elements_spec elements = {.nodes = cloud, .element_count = 5, .index = tets};
        assert_ok(stn_builder_add_elements(begin(world), instance, &elements, &part, &err), err);
        assert_ok(stn_builder_attach_nodes(begin(world), cloud, 4, lower, base, &err), err);
        assert_ok(stn_world_compile(world, &err), err);
        const int32_t body = stn_world_model(world)->links[base].body;
        stn_vec3 momentum = {0};
        for (int32_t i = 1; i <= 4000; i++) {
            const double w = i <= 500 ? 30.0 : 0.0;
            stn_pose pose = stn_pose_identity();
            pose.position = vec(0.01 * sin(w * dt * i), 0.0, -0.1);
            const stn_vec3 linear = vec(0.01 * w * cos(w * dt * i), 0.0, 0.0), none = {0.0, 0.0, 0.0};
            assert_ok(stn_world_set_kinematic(world, body, &pose, &linear, &none, &err), err);
            step(world);
            const stn_vec3 before = momentum;
            stn_vec3 sum = vec(0.0, 0.0, -mass * g);
            momentum = stn_momentum(stn_world_kinematics(world)).linear;
            for (int32_t n = 0; n < 4; n++) {
                sum = stn_vec3_add(sum, force_of(world, n));
                assert_vec(node_position(world, n), vec(x[3 * n] + pose.position.x, x[3 * n + 1], 0.0), 1e-15);
            }
            assert_vec(stn_vec3_scale(1.0 / dt, stn_vec3_sub(momentum, before)), sum, 1e-9);
        }
        stn_vec3 sum = {0};
        for (int32_t n = 0; n < 4; n++) {
            sum = stn_vec3_add(sum, force_of(world, n));
        }
        assert_vec(sum, vec(0.0, 0.0, mass * g), 1e-6 * mass * g);
        stn_world_destroy(world);
    }
}

// ------------------------------------------------------------------------------------------------------------- state

static const stn_vec3 middle = {0.25, 0.0, 1.0};

/// A chain between a hand that moves and a free ball, and a pinned chain beside it.
static stn_world *busy_world(stn_context *context, int32_t *body) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(context, &options);
    const int32_t hand = add_driver(world, "hand", middle);
    const int32_t ball = link_of(world, scene_ball(world, "ball", 0.3, 0.02, vec(0.25, 0.0, 0.6)));
    const int32_t rope = add_chain(world, 5, middle, vec(0.0, 0.0, -0.1), 300.0, 1.0);
    attach(world, rope, 0, hand);
    attach(world, rope, 4, ball);
    attach(world, add_chain(world, 3, vec(1.0, 0.0, 1.0), vec(0.1, 0.0, 0.0), 300.0, 1.0), 1, STN_WORLD);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    *body = stn_world_model(world)->links[hand].body;
    return world;
}

static void drive(stn_world *world, int32_t body, int32_t from, int32_t count) {
    for (int32_t i = from; i < from + count; i++) {
        tell(world, body, 0.002 * (i + 1), middle);
        step(world);
    }
}

static void reset_clone_and_snapshot_step_alike(void **state) {
    int32_t body = -1;
    stn_world *world = busy_world(*state, &body), *twin = NULL;
    stn_snapshot *kept = NULL;
    stn_error err;
    drive(world, body, 0, 100);
    assert_ok(stn_world_snapshot(world, &kept, &err), err);
    assert_ok(stn_world_clone(world, &twin, &err), err);
    double force[6];
    assert_int_equal(stn_world_attachment_force(twin, 0, force), 0); // it has not made a step
    drive(world, body, 100, 100);
    const uint64_t end = stn_world_hash(world);
    drive(twin, body, 100, 100);
    assert_true(stn_world_hash(twin) == end);
    assert_vec(force_of(twin, 1), force_of(world, 1), 0.0);
    assert_ok(stn_world_restore(world, kept, &err), err);
    drive(world, body, 100, 100);
    assert_true(stn_world_hash(world) == end);
    stn_world_reset(world);
    assert_int_equal(stn_world_attachment_force(world, 0, force), 0);
    drive(world, body, 0, 200);
    assert_true(stn_world_hash(world) == end);
    stn_snapshot_destroy(kept);
    stn_world_destroy(twin);
    stn_world_destroy(world);
}

static void a_run_is_played_again(void **state) {
    int32_t body = -1;
    stn_world *world = busy_world(*state, &body);
    tape *t = tape_record(world);
    drive(world, body, 0, 100);
    const uint64_t end = stn_world_hash(world);
    stn_world_destroy(world);
    assert_true(tape_play(*state, t) == end);
    tape_drop(t);
}

static void steady_steps_take_no_memory(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context_options options = stn_heap_options(&heap);
    options.plugin_path = STN_FAKES_DIR;
    stn_context *context = NULL;
    stn_error err;
    int32_t body = -1;
    assert_ok(stn_context_create(&options, &context, &err), err);
    stn_world *world = busy_world(context, &body);
    drive(world, body, 0, 20);
    const long long before = heap.requests;
    drive(world, body, 20, 50);
    assert_int_equal(heap.requests - before, 0);
    stn_world_destroy(world);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

/// Pinned, compiled and stepped with one request for memory failing: nothing stays, and no half attachment.
static void a_lack_of_memory_is_an_error(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    stn_error err = {0};
    const double x[] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0}, mass[] = {0.1, 0.1};
    const stn_nodes_spec spec = {
        .name = "pair", .node_count = 2, .position = x, .mass = mass, .material = stn_material_unset()};
    int32_t cloud = 0, failed = 0;
    const int32_t node = 1;
    for (long long n = 1; n < 200; n++) {
        stn_model_builder *builder = NULL;
        stn_model *model = NULL;
        assert_ok(stn_builder_create(context, &builder, &err), err);
        assert_ok(stn_builder_add_nodes(builder, &spec, &cloud, &err), err);
        stn_heap_arm(&heap, n);
        stn_status status = stn_builder_attach_nodes(builder, cloud, 1, &node, STN_WORLD, &err);
        failed += status == STN_ERR_MEMORY;
        if (status == STN_OK) {
            status = stn_model_compile(builder, &model, &err);
        }
        heap.fail_at = 0;
        if (status != STN_OK) {
            assert_int_equal(status, STN_ERR_MEMORY);
        } else {
            assert_int_equal(model->attachment_count, 1);
        }
        stn_model_destroy(model);
        stn_builder_destroy(builder);
    }
    assert_true(failed > 0);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static void integrators_change_between_steps(void **state) {
    int32_t body = -1;
    stn_world *world = busy_world(*state, &body);
    const stn_pose *pose = stn_world_kinematics(world)->body_pose;
    stn_error err;
    for (int32_t i = 0; i < 60; i++) {
        assert_ok(stn_world_set_integrator(world, &schemes[i / 10].choice, &err), err);
        drive(world, body, i, 1);
        pose = stn_world_kinematics(world)->body_pose;
        assert_vec(node_position(world, 0), pose[body].position, 1e-15);
        assert_vec(node_position(world, 6), vec(1.1, 0.0, 1.0), 0.0);
        assert_vec(node_velocity(world, 6), vec(0.0, 0.0, 0.0), 0.0);
    }
    stn_world_destroy(world);
}

/// Quasistatic steps without any mass: A of a free chain is singular; across itself that of a hanging one is, too.
static void a_singular_A_keeps_its_pins(void **state) {
    static const char *const solvers[] = {"qp", "sap", "ipm"};
    for (int32_t i = 0; i < STN_COUNT(solvers); i++) {
        stn_world_options options = stn_world_options_default();
        options.solver.id = solvers[i];
        options.integrator.id = "quasistatic";
        options.dt = 0.01;
        stn_world *world = scene_world(*state, &options);
        const int32_t hand = add_driver(world, "hand", vec(0.0, 0.0, 1.0));
        attach(world, add_chain(world, 5, vec(0.0, 0.0, 1.0), vec(0.0, 0.0, -0.1), 1000.0, 0.0), 0, hand);
        stn_error err;
        assert_ok(stn_world_compile(world, &err), err);
        const int32_t body = stn_world_model(world)->links[hand].body;
        for (int32_t k = 1; k <= 100; k++) {
            stn_pose pose = stn_pose_identity();
            pose.position = vec(0.0, 0.0, 1.0 + 0.001 * k * k * 0.01); // faster and faster: balance at each end
            assert_ok(stn_world_set_kinematic(world, body, &pose, NULL, NULL, &err), err);
            step(world);
            const double z = 1.0 + 0.001 * k * k * 0.01;
            assert_vec(node_position(world, 0), vec(0.0, 0.0, z), 0.0);
            assert_vec(node_position(world, 4), vec(0.0, 0.0, z - 0.4 - 0.001 * g), 1e-9);
            assert_vec(force_of(world, 0), vec(0.0, 0.0, 0.5 * g), 1e-6 * 0.5 * g);
        }
        stn_world_destroy(world);
    }
}

/// Random clouds of 1 to 8 nodes, springs between some, each node free, pinned, on a hand or on a cube: the places are
/// kept, and what holds them is what momentum gains beside the weight.
static void random_clouds_keep_places_and_momentum(void **state) {
    stn_random r = {20261128};
    static const stn_setting tight[] = {{.name = "tolerance", .form = STN_SETTING_NUMBER, .number = 1e-12}};
    for (int32_t trial = 0; trial < 150; trial++) {
        const scheme *with = &schemes[random_below(&r, 4)]; // implicit and with inertia
        stn_world_options options = stn_world_options_default();
        options.integrator = with->choice;
        options.solver = (stn_plugin_choice){NULL, tight, 1};
        options.dt = 1e-3;
        options.stiction = random_below(&r, 2) == 1;
        stn_world *world = scene_world(*state, &options);
        const int32_t hand = add_driver(world, "hand", vec(0.0, 0.0, 0.0));
        const int32_t cube = link_of(world, scene_cube(world, "cube", 2.0, vec(0.0, 0.0, 5.0)));
        const int32_t count = 1 + random_below(&r, 8), links[3] = {STN_WORLD, hand, cube};
        double x[24], mass[8];
        int32_t cloud = 0, springs[64], spring_count = 0, moving = -1, driven = -1, pinned[8], pinned_count = 0;
        for (int32_t i = 0; i < count; i++) {
            for (int32_t k = 0; k < 3; k++) {
                x[3 * i + k] = random_real(&r);
            }
            mass[i] = 0.05 * (1.1 + random_real(&r));
            for (int32_t k = 0; k < i; k++) {
                springs[2 * spring_count] = k;
                springs[2 * spring_count + 1] = i;
                spring_count += random_below(&r, 2) == 1;
            }
        }
        const stn_nodes_spec spec = {.name = "random",
                                     .node_count = count,
                                     .position = x,
                                     .mass = mass,
                                     .contact_radius = random_below(&r, 2) == 1 ? 0.05 : 0.0,
                                     .material = stn_material_unset()};
        const stn_setting settings[] = {{.name = "k", .form = STN_SETTING_NUMBER, .number = 100.0},
                                        {.name = "c", .form = STN_SETTING_NUMBER, .number = 1.0}};
        stn_instance *instance = NULL;
        stn_error err;
        int32_t part = 0;
        assert_ok(stn_builder_add_nodes(begin(world), &spec, &cloud, &err), err);
        assert_ok(stn_instance_create(*state, STN_KIND_ELEMENT, "fake_spring", settings, 2, &instance, &err), err);
        const stn_elements_spec elements = {.nodes = cloud, .element_count = spring_count, .index = springs};
        assert_ok(stn_builder_add_elements(begin(world), instance, &elements, &part, &err), err);
        int32_t attached = 0;
        for (int32_t i = 0; i < count; i++) {
            const int32_t to = random_below(&r, 4);
            if (to < 3) {
                attach(world, cloud, i, links[to]);
                moving = to == 2 ? i : moving;
                driven = to == 1 ? i : driven;
                pinned[pinned_count] = attached++;
                pinned_count += to < 2;
            }
        }
        assert_ok(stn_world_compile(world, &err), err);
        const stn_model *model = stn_world_model(world);
        const int32_t body = model->links[hand].body, other = model->links[cube].body;
        stn_vec3 momentum = {0};
        for (int32_t i = 1; i <= 40; i++) {
            const double t = 1e-3 * i;
            tell(world, body, t, vec(0.0, 0.0, 0.0));
            step(world);
            const stn_kinematics *k = stn_world_kinematics(world);
            const stn_vec3 before = momentum;
            momentum = stn_momentum(k).linear;
            stn_vec3 sum = vec(0.0, 0.0, -2.0 * g);
            for (int32_t n = 0; n < count; n++) {
                sum.z -= mass[n] * g;
            }
            for (int32_t n = 0; n < pinned_count; n++) {
                sum = stn_vec3_add(sum, force_of(world, pinned[n]));
            }
            const stn_vec3 gained = stn_vec3_scale(1e3, stn_vec3_sub(momentum, before));
            assert_vec(gained, sum, 1e-6 * (20.0 + stn_vec3_norm(gained)));
            for (int32_t n = 0; n < 3; n++) {
                const int32_t node = n == 0 ? moving : driven, on = n == 0 ? other : body;
                if (node >= 0) {
                    const stn_vec3 own = stn_vec3_sub(stn_vec3_at(x + 3 * node, 0), vec(0.0, 0.0, n == 0 ? 5.0 : 0.0));
                    assert_vec(node_position(world, node), stn_pose_apply(&k->body_pose[on], own),
                               n == 0 ? 1e-2 : 1e-14);
                }
            }
        }
        stn_world_destroy(world);
    }
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
        cmocka_unit_test(contacts_without_a_free_dof_are_left_out),
        cmocka_unit_test(a_driven_sphere_pushes_a_cube),
        cmocka_unit_test(a_driven_sphere_on_a_belt_is_accounted_for),
        cmocka_unit_test(a_net_carries_a_ball),
        cmocka_unit_test(a_pad_does_not_touch_the_body_that_holds_it),
        cmocka_unit_test(a_block_of_finite_elements_stands_on_a_shaken_base),
        cmocka_unit_test(reset_clone_and_snapshot_step_alike),
        cmocka_unit_test(a_run_is_played_again),
        cmocka_unit_test(steady_steps_take_no_memory),
        cmocka_unit_test(a_lack_of_memory_is_an_error),
        cmocka_unit_test(integrators_change_between_steps),
        cmocka_unit_test(a_singular_A_keeps_its_pins),
        cmocka_unit_test(random_clouds_keep_places_and_momentum),
        cmocka_unit_test(wrong_attachments_are_refused),
    };
    return cmocka_run_group_tests(tests, fakes_setup, scene_teardown);
}
