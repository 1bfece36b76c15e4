// SPDX-License-Identifier: Apache-2.0
// Worlds with clouds of nodes that are attached to links, for the tests of attached nodes.
#ifndef ATTACHED_SCENE_H
#define ATTACHED_SCENE_H

#include "../../boundary/fake_scenes.h"

static const double g = 9.81;

static inline stn_vec3 vec(double x, double y, double z) {
    return stn_vec3_make(x, y, z);
}

/// Differs by at most so much; 0: bit by bit.
static inline void assert_vec(stn_vec3 a, stn_vec3 b, double tolerance) {
    assert_near(a.x, b.x, tolerance);
    assert_near(a.y, b.y, tolerance);
    assert_near(a.z, b.z, tolerance);
}

// ------------------------------------------------------------------------------------------------------------ scenes

static inline stn_model_builder *begin(stn_world *world) {
    return stn_world_builder(world);
}

static int32_t clouds_made; // each has a name of its own

/// `count` nodes of 0.1 kg in a row from `start`, each `step` behind the last, with springs between neighbours.
static inline int32_t add_chain(stn_world *world, int32_t count, stn_vec3 start, stn_vec3 step, double k, double c) {
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
static inline int32_t add_spheres(stn_world *world, int32_t count, const double *position, double mass, double radius) {
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

static inline void attach(stn_world *world, int32_t cloud, int32_t node, int32_t link) {
    stn_error err;
    assert_ok(stn_builder_attach_nodes(begin(world), cloud, 1, &node, link, &err), err);
}

/// The only link of a group.
static inline int32_t link_of(stn_world *world, int32_t group) {
    int32_t start = -1, count = 0;
    stn_builder_group_links(begin(world), group, &start, &count);
    return start;
}

/// A ball that moves as it is told. Returns its link.
static inline int32_t add_driver(stn_world *world, const char *name, stn_vec3 position) {
    stn_error err;
    const int32_t group = scene_ball(world, name, 1.0, 0.01, position);
    assert_ok(stn_builder_make_kinematic(begin(world), group, &err), err);
    return link_of(world, group);
}

static inline stn_vec3 node_position(const stn_world *world, int32_t node) {
    const stn_model *model = stn_world_model(world);
    return stn_vec3_at(stn_world_state(world)->q + (model->nq - 3 * model->node_count) + 3 * node, 0);
}

static inline stn_vec3 node_velocity(const stn_world *world, int32_t node) {
    const stn_model *model = stn_world_model(world);
    return stn_vec3_at(stn_world_state(world)->v + (model->nv - 3 * model->node_count) + 3 * node, 0);
}

static inline stn_vec3 force_of(const stn_world *world, int32_t attachment) {
    double force[6];
    assert_int_equal(stn_world_attachment_force(world, attachment, force), 3);
    return stn_vec3_at(force, 0);
}

/// Made, in whatever accuracy.
static inline void step(stn_world *world) {
    stn_error err;
    const stn_status status = stn_world_step(world, &err);
    if (status < 0) {
        fail_msg("%s", err.text);
    }
}

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

static inline stn_world *world_with(stn_context *context, const scheme *s, double dt, double gravity) {
    stn_world_options options = stn_world_options_default();
    options.gravity = vec(0.0, 0.0, -gravity);
    options.integrator = s->choice;
    options.dt = dt;
    return scene_world(context, &options);
}

/// Turns about z and goes along x, by closed forms of time.
static inline void tell(stn_world *world, int32_t body, double t, stn_vec3 centre) {
    const double angle = 0.8 * sin(3.0 * t), rate = 2.4 * cos(3.0 * t);
    stn_pose pose = {stn_quat_matrix(stn_quat_exp(vec(0.0, 0.0, angle))), centre};
    pose.position.x += 0.1 * sin(2.0 * t);
    const stn_vec3 linear = vec(0.2 * cos(2.0 * t), 0.0, 0.0), angular = vec(0.0, 0.0, rate);
    stn_error err;
    assert_ok(stn_world_set_kinematic(world, body, &pose, &linear, &angular, &err), err);
}

#endif
