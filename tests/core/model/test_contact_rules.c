// SPDX-License-Identifier: Apache-2.0
// Which geometries may touch, and what their contact is made of.
#include "stn_test.h"

#include <string.h>

#include "stn_model_test.h"
#include "stn_random.h"

static const stn_vec3 Z = {0.0, 0.0, 1.0};

typedef struct scene {
    stn_context *context;
    stn_model_builder *builder;
    stn_model *model;
} scene;

static int set_up(void **state) {
    static scene s;
    stn_error err;
    memset(&s, 0, sizeof s);
    assert_ok(stn_context_create(NULL, &s.context, &err), err);
    s.builder = new_builder(s.context);
    *state = &s;
    return 0;
}

static int tear_down(void **state) {
    scene *s = *state;
    stn_model_destroy(s->model);
    stn_builder_destroy(s->builder);
    stn_context_destroy(s->context);
    return 0;
}

static bool may_collide(const scene *s, int32_t a, int32_t b) {
    bool forward = stn_model_may_collide(s->model, a, b);
    assert_int_equal(forward, stn_model_may_collide(s->model, b, a));
    return forward;
}

/// base -> (fixed) pedestal -> (revolute) arm -> (fixed) tool -> (revolute) finger; every link a sphere.
typedef struct arm_shapes {
    int32_t link[5], shape[5], ground;
} arm_shapes;

static arm_shapes build_arm(scene *s, const char *root, bool fixed) {
    static const char *const names[5] = {NULL, "pedestal", "arm", "tool", "finger"};
    arm_shapes a;
    int32_t robot = begin_robot(s->builder, "robot");
    set_base(s->builder, robot, stn_pose_identity(), fixed);
    for (int32_t i = 0; i < 5; i++) {
        a.link[i] = add_link(s->builder, i == 0 ? root : names[i], mass_of(1.0, stn_vec3_zero(), 1.0, 1.0, 1.0));
        a.shape[i] = add_shape(s->builder, a.link[i], stn_shape_sphere(0.1));
        if (i > 0) {
            add_joint(s->builder, names[i], i % 2 == 1 ? STN_JOINT_FIXED : STN_JOINT_REVOLUTE, a.link[i - 1], a.link[i],
                      stn_pose_identity(), Z);
        }
    }
    a.ground = add_shape(s->builder, STN_WORLD, stn_shape_half_space());
    return a;
}

static void neighbours_over_merged_bodies_do_not_collide(void **state) {
    scene *s = *state;
    arm_shapes a = build_arm(s, "base", false);
    s->model = compile_model(s->builder);
    assert_false(may_collide(s, a.shape[0], a.shape[1])); // welded
    assert_false(may_collide(s, a.shape[0], a.shape[2])); // base carries arm, through the pedestal
    assert_false(may_collide(s, a.shape[0], a.shape[3]));
    assert_false(may_collide(s, a.shape[3], a.shape[4]));
    assert_false(may_collide(s, a.shape[2], a.shape[4]));
    assert_true(may_collide(s, a.shape[0], a.shape[4]));
    assert_true(may_collide(s, a.shape[1], a.ground)); // a floating base stands on the ground
    assert_true(may_collide(s, a.shape[4], a.ground));
}

static void parent_that_is_the_world_does_collide(void **state) {
    scene *s = *state;
    arm_shapes a = build_arm(s, "base", true);
    s->model = compile_model(s->builder);
    assert_true(may_collide(s, a.shape[2], a.ground));
    assert_true(may_collide(s, a.shape[2], a.shape[0])); // welded to the world: an obstacle
    assert_false(may_collide(s, a.shape[0], a.ground));  // both on the world
    assert_false(may_collide(s, a.shape[2], a.shape[4]));
}

static void categories_must_meet_masks_both_ways(void **state) {
    scene *s = *state;
    stn_error err;
    int32_t g[3];
    static const uint32_t category[3] = {1, 2, 2}, mask[3] = {2, 1, 4};
    for (int32_t i = 0; i < 3; i++) {
        const char *names[3] = {"a", "b", "c"};
        begin_robot(s->builder, names[i]);
        int32_t link = add_link(s->builder, "ball", mass_of(1.0, stn_vec3_zero(), 1.0, 1.0, 1.0));
        stn_geometry_spec spec = stn_geometry_spec_default(stn_shape_sphere(0.1));
        spec.category = category[i], spec.mask = mask[i];
        assert_ok(stn_builder_add_geometry(s->builder, link, &spec, &g[i], &err), err);
    }
    stn_geometry_spec picture = stn_geometry_spec_default(stn_shape_sphere(1.0));
    picture.collision = false;
    int32_t visual = -1;
    assert_ok(stn_builder_add_geometry(s->builder, STN_WORLD, &picture, &visual, &err), err);
    s->model = compile_model(s->builder);
    assert_true(may_collide(s, g[0], g[1]));
    assert_false(may_collide(s, g[0], g[2])); // c does not look for a
    assert_false(may_collide(s, g[1], g[2]));
    assert_false(may_collide(s, g[0], visual));
}

static void excluded_links_do_not_collide(void **state) {
    scene *s = *state;
    stn_error err;
    arm_shapes a = build_arm(s, "base", false);
    assert_ok(stn_builder_disable_collisions(s->builder, a.link[4], a.link[0], &err), err);
    assert_ok(stn_builder_disable_collisions(s->builder, STN_WORLD, a.link[2], &err), err);
    s->model = compile_model(s->builder);
    assert_false(may_collide(s, a.shape[0], a.shape[4]));
    assert_true(may_collide(s, a.shape[1], a.shape[4])); // same body, another link
    assert_false(may_collide(s, a.shape[2], a.ground));
    assert_true(may_collide(s, a.shape[3], a.ground));
    assert_true(may_collide(s, a.shape[4], a.ground)); // both are on the list, but not with each other
    assert_int_equal(s->model->exclude_count, 2);
    assert_int_equal(s->model->excludes[0].link_a, a.link[4]);
    assert_int_equal(s->model->excludes[0].link_b, a.link[0]);
    assert_int_equal(s->model->excludes[1].link_a, STN_WORLD);
    assert_int_equal(s->model->excludes[1].link_b, a.link[2]);
}

static void excluding_the_world_covers_a_root_link_of_that_name(void **state) {
    scene *s = *state;
    stn_error err;
    arm_shapes a = build_arm(s, "world", false);
    assert_ok(stn_builder_disable_collisions(s->builder, STN_WORLD, a.link[4], &err), err);
    s->model = compile_model(s->builder);
    assert_false(may_collide(s, a.shape[4], a.shape[0]));
    assert_false(may_collide(s, a.shape[4], a.ground));
    assert_true(may_collide(s, a.shape[4], a.shape[1])); // the pedestal is welded to it, but a link of its own
}

static void many_excludes_are_all_found(void **state) {
    scene *s = *state;
    stn_error err;
    enum { BALLS = 40 };
    int32_t link[BALLS], shape[BALLS];
    char name[16];
    for (int32_t i = 0; i < BALLS; i++) {
        snprintf(name, sizeof name, "ball%d", i);
        begin_robot(s->builder, name);
        link[i] = add_link(s->builder, "ball", mass_of(1.0, stn_vec3_zero(), 1.0, 1.0, 1.0));
        shape[i] = add_shape(s->builder, link[i], stn_shape_sphere(0.1));
    }
    for (int32_t i = BALLS - 1; i >= 0; i--) {
        for (int32_t j = 0; j < i; j++) {
            if ((i * j) % 7 == 3) {
                assert_ok(stn_builder_disable_collisions(s->builder, (i + j) % 2 == 0 ? link[i] : link[j],
                                                         (i + j) % 2 == 0 ? link[j] : link[i], &err),
                          err);
            }
        }
    }
    s->model = compile_model(s->builder);
    for (int32_t i = 0; i < BALLS; i++) {
        for (int32_t j = 0; j < i; j++) {
            assert_int_equal(may_collide(s, shape[i], shape[j]), (i * j) % 7 != 3);
        }
    }
}

static void nodes_of_one_cloud_do_not_collide_but_two_clouds_do(void **state) {
    scene *s = *state;
    stn_error err;
    const double x[6] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0}, m[2] = {1.0, 1.0};
    stn_nodes_spec spec = {.name = "cloth",
                           .node_count = 2,
                           .position = x,
                           .mass = m,
                           .contact_radius = 0.1,
                           .material = stn_material_unset()};
    int32_t nodes = -1, ground = add_shape(s->builder, STN_WORLD, stn_shape_half_space());
    assert_ok(stn_builder_add_nodes(s->builder, &spec, &nodes, &err), err);
    spec.name = "curtain";
    assert_ok(stn_builder_add_nodes(s->builder, &spec, &nodes, &err), err);
    s->model = compile_model(s->builder);
    assert_false(may_collide(s, 1, 2));
    assert_true(may_collide(s, 1, 3));
    assert_true(may_collide(s, 1, ground));
}

// ------------------------------------------------------------------------------------------------------ materials

static int32_t add_ball(scene *s, const char *name, stn_material material, int32_t *link) {
    stn_error err;
    begin_robot(s->builder, name);
    *link = add_link(s->builder, "ball", mass_of(1.0, stn_vec3_zero(), 1.0, 1.0, 1.0));
    stn_geometry_spec spec = stn_geometry_spec_default(stn_shape_sphere(0.1));
    spec.material = material;
    int32_t geometry = -1;
    assert_ok(stn_builder_add_geometry(s->builder, *link, &spec, &geometry, &err), err);
    return geometry;
}

static void assert_same(const stn_material *a, const stn_material *b) {
    assert_near(a->mu, b->mu, 1e-15);
    assert_near(a->dissipation, b->dissipation, 1e-13);
    assert_near(a->restitution, b->restitution, 0.0);
    assert_true(a->stiffness == b->stiffness || fabs(a->stiffness - b->stiffness) < 1e-9 * b->stiffness);
    assert_true(a->modulus == b->modulus || fabs(a->modulus - b->modulus) < 1e-9 * b->modulus);
    assert_true((isnan(a->relaxation_time) && isnan(b->relaxation_time)) ||
                fabs(a->relaxation_time - b->relaxation_time) < 1e-15);
    assert_true((isnan(a->mu_static) && isnan(b->mu_static)) || fabs(a->mu_static - b->mu_static) < 1e-15);
}

/// One row of the table of docs/lua.md, "Bodies and their contact".
typedef struct rule {
    stn_material a, b, expected;
    double weight_a;
} rule;

static void surfaces_combine_by_the_documented_rules(void **state) {
    scene *s = *state;
    const double inf = (double)INFINITY, nan = (double)NAN;
    const stn_material unset = stn_material_unset();
    const rule rules[] = {
        {unset, unset, {0.5, inf, nan, 0.0, 0.0, inf, nan, nan}, 0.5},
        {{0.2, 1e4, 0.01, 10.0, 0.3, 1e6, nan, nan},
         {0.6, 3e4, 0.02, 20.0, 0.1, 3e6, nan, nan},
         {0.3, 7.5e3, 0.03, 12.5, 0.3, 7.5e5, nan, nan},
         0.25},
        {{0.2, 1e4, nan, 10.0, nan, nan, nan, nan}, unset, {2.0 * 0.1 / 0.7, 1e4, nan, 10.0, 0.0, inf, nan, nan}, 0.0},
        {unset, {0.5, 1e4, 0.02, 7.0, nan, 1e6, nan, nan}, {0.5, 1e4, 0.02, 7.0, 0.0, 1e6, nan, nan}, 1.0},
        {{0.0, 0.0, nan, 5.0, nan, nan, nan, nan},
         {0.0, 0.0, nan, 5.0, nan, nan, nan, nan},
         {0.0, 0.0, nan, 0.0, 0.0, inf, nan, nan},
         0.5},
        {{0.0, 0.0, nan, 5.0, nan, nan, nan, nan},
         {0.5, 1e4, nan, 7.0, nan, nan, nan, nan},
         {0.0, 0.0, nan, 5.0, 0.0, inf, nan, nan},
         0.0},
        {{0.5, 1e300, nan, nan, nan, nan, nan, nan},
         {0.5, 1e300, nan, nan, nan, nan, nan, nan},
         {0.5, 5e299, nan, 0.0, 0.0, inf, nan, nan},
         0.5},
        // static friction combines as mu does; a side without one has its mu there
        {{0.2, inf, nan, nan, nan, nan, 0.4, nan},
         {0.6, inf, nan, nan, nan, nan, 1.2, nan},
         {0.3, inf, nan, 0.0, 0.0, inf, 0.6, nan},
         0.5},
        {{0.2, inf, nan, nan, nan, nan, 0.4, nan},
         unset,
         {2.0 * 0.1 / 0.7, inf, nan, 0.0, 0.0, inf, 0.4 / 0.9, nan},
         0.5},
        {{0.0, inf, nan, nan, nan, nan, 0.0, nan}, unset, {0.0, inf, nan, 0.0, 0.0, inf, 0.0, nan}, 0.5},
    };
    int32_t geometry[2 * STN_COUNT(rules)], link = -1;
    char name[16];
    for (int32_t i = 0; i < 2 * STN_COUNT(rules); i++) {
        snprintf(name, sizeof name, "ball%d", i);
        geometry[i] = add_ball(s, name, i % 2 == 0 ? rules[i / 2].a : rules[i / 2].b, &link);
    }
    s->model = compile_model(s->builder);
    for (int32_t i = 0; i < STN_COUNT(rules); i++) {
        stn_pair_material forward = stn_model_pair_material(s->model, geometry[2 * i], geometry[2 * i + 1]);
        stn_pair_material backward = stn_model_pair_material(s->model, geometry[2 * i + 1], geometry[2 * i]);
        assert_same(&forward.value, &rules[i].expected);
        assert_same(&backward.value, &rules[i].expected);
        assert_near(forward.weight_a, rules[i].weight_a, 1e-15);
        assert_near(backward.weight_a, 1.0 - rules[i].weight_a, 1e-15);
    }
}

/// Faces of patches: moduli weigh where stiffnesses do for points; a rigid side adds nothing but its relaxation time.
static void patches_weigh_by_moduli(void **state) {
    scene *s = *state;
    const double inf = (double)INFINITY, nan = (double)NAN;
    const struct {
        double modulus[2], dissipation[2], tau[2];
        double expected, sum; // dissipation, relaxation time
    } cases[] = {
        {{1e6, 3e6}, {10.0, 20.0}, {0.01, 0.02}, 12.5, 0.03}, // (3 10 + 1 20) / 4
        {{1e6, inf}, {10.0, 20.0}, {0.01, 0.02}, 10.0, 0.03}, {{1e6, nan}, {10.0, nan}, {0.01, nan}, 10.0, 0.01},
        {{nan, 2e5}, {nan, 7.0}, {nan, nan}, 7.0, nan},       {{nan, nan}, {10.0, 20.0}, {0.01, 0.02}, 15.0, 0.03},
    };
    int32_t geometry[2 * STN_COUNT(cases)], link = -1;
    for (int32_t i = 0; i < 2 * STN_COUNT(cases); i++) {
        char name[16];
        stn_material m = stn_material_unset();
        m.modulus = cases[i / 2].modulus[i % 2], m.dissipation = cases[i / 2].dissipation[i % 2];
        m.relaxation_time = cases[i / 2].tau[i % 2];
        m.stiffness = i % 2 == 0 ? 1e4 : 1e7; // which are for points
        snprintf(name, sizeof name, "ball%d", i);
        geometry[i] = add_ball(s, name, m, &link);
    }
    s->model = compile_model(s->builder);
    for (int32_t i = 0; i < 2 * STN_COUNT(cases); i++) {
        int32_t a = geometry[i], b = geometry[i ^ 1];
        stn_pair_material m = stn_model_pair_material(s->model, a, b);
        assert_near(m.patch_dissipation, cases[i / 2].expected, 1e-13);
        assert_true(isnan(cases[i / 2].sum) ? isnan(m.patch_relaxation_time)
                                            : fabs(m.patch_relaxation_time - cases[i / 2].sum) < 1e-16);
    }
    assert_true(stn_geometry_is_compliant(&s->model->geometries[geometry[0]]));
    assert_false(stn_geometry_is_compliant(&s->model->geometries[geometry[3]])); // infinite
    assert_false(stn_geometry_is_compliant(&s->model->geometries[geometry[5]])); // not given
}

static void overrides_hold_for_patches_too(void **state) {
    scene *s = *state;
    stn_error err;
    int32_t link[3], g[3];
    stn_material soft = stn_material_unset(), both = soft, one = soft;
    soft.modulus = 1e6, soft.dissipation = 10.0, soft.relaxation_time = 0.01;
    both.dissipation = 3.0, both.relaxation_time = 0.5;
    one.modulus = 5.0, one.dissipation = 4.0;
    for (int32_t i = 0; i < 3; i++) {
        g[i] = add_ball(s, (const char *[]){"a", "b", "c"}[i], soft, &link[i]);
    }
    assert_ok(stn_builder_set_contact_material(s->builder, link[0], link[1], &both, &err), err);
    assert_ok(stn_builder_set_contact_material(s->builder, link[0], link[2], &one, &err), err);
    s->model = compile_model(s->builder);
    stn_pair_material m = stn_model_pair_material(s->model, g[0], g[1]);
    assert_near(m.patch_dissipation, 3.0, 0.0);
    assert_near(m.patch_relaxation_time, 0.5, 0.0);
    m = stn_model_pair_material(s->model, g[0], g[2]);
    assert_near(m.value.modulus, 5.0, 0.0);
    assert_near(m.patch_dissipation, 4.0, 0.0);
    assert_near(m.patch_relaxation_time, 0.02, 1e-16);
    assert_near(stn_model_pair_material(s->model, g[1], g[2]).patch_dissipation, 10.0, 1e-14);
}

static void later_overrides_win_and_unset_members_fall_through(void **state) {
    scene *s = *state;
    stn_error err;
    int32_t link[3], g[3];
    g[0] = add_ball(s, "a", stn_material_unset(), &link[0]);
    g[1] = add_ball(s, "b", stn_material_unset(), &link[1]);
    g[2] = add_ball(s, "c", stn_material_unset(), &link[2]);
    int32_t ground = add_shape(s->builder, STN_WORLD, stn_shape_half_space());
    stn_material all = stn_material_unset(), one = all, pair = all, floor = all;
    all.mu = 0.1, all.stiffness = 1e5, all.relaxation_time = 0.01;
    one.mu = 0.2;
    pair.mu = 0.3, pair.restitution = 0.9;
    floor.mu = 0.4;
    assert_ok(stn_builder_set_contact_material(s->builder, STN_ANY, STN_ANY, &all, &err), err);
    assert_ok(stn_builder_set_contact_material(s->builder, link[0], STN_ANY, &one, &err), err);
    assert_ok(stn_builder_set_contact_material(s->builder, link[1], link[0], &pair, &err), err);
    assert_ok(stn_builder_set_contact_material(s->builder, STN_WORLD, link[2], &floor, &err), err);
    s->model = compile_model(s->builder);
    stn_pair_material m = stn_model_pair_material(s->model, g[0], g[1]);
    assert_near(m.value.mu, 0.3, 0.0);
    assert_near(m.value.restitution, 0.9, 0.0);
    assert_near(m.value.stiffness, 1e5, 0.0);
    assert_near(m.value.relaxation_time, 0.01, 0.0);
    assert_near(m.weight_a, 0.5, 0.0);
    assert_near(stn_model_pair_material(s->model, g[2], g[0]).value.mu, 0.2, 0.0);
    assert_near(stn_model_pair_material(s->model, g[1], g[2]).value.mu, 0.1, 0.0);
    assert_near(stn_model_pair_material(s->model, g[2], ground).value.mu, 0.4, 0.0);
    assert_near(stn_model_pair_material(s->model, g[1], ground).value.mu, 0.1, 0.0);
}

typedef struct call {
    int32_t a, b;
    stn_material material;
} call;

/// The rule as it is stated: one call after the other, each replacing what it gives where it covers the pair.
static stn_material one_by_one(const call *calls, int32_t count, int32_t link_a, int32_t link_b) {
    stn_material m = stn_material_default();
    for (int32_t i = 0; i < count; i++) {
        const call *c = &calls[i];
        bool forward = (c->a == STN_ANY || c->a == link_a) && (c->b == STN_ANY || c->b == link_b);
        bool backward = (c->a == STN_ANY || c->a == link_b) && (c->b == STN_ANY || c->b == link_a);
        const double given[] = {c->material.mu, c->material.stiffness, c->material.restitution};
        double *const members[] = {&m.mu, &m.stiffness, &m.restitution};
        for (int32_t k = 0; k < 3 && (forward || backward); k++) {
            *members[k] = isnan(given[k]) ? *members[k] : given[k];
        }
        if ((forward || backward) && !(isnan(c->material.mu) && isnan(c->material.mu_static))) { // mu alone is both
            m.mu_static = isnan(c->material.mu_static) ? c->material.mu : c->material.mu_static;
        }
    }
    return m;
}

static void many_overrides_act_as_if_looked_at_one_by_one(void **state) {
    scene *s = *state;
    enum { BALLS = 12, CALLS = 80 };
    stn_random r = {9};
    int32_t link[BALLS + 1], g[BALLS + 1];
    call calls[CALLS];
    for (int32_t i = 0; i < BALLS; i++) {
        char name[16];
        snprintf(name, sizeof name, "ball%d", i);
        g[i] = add_ball(s, name, stn_material_unset(), &link[i]);
    }
    link[BALLS] = STN_WORLD;
    g[BALLS] = add_shape(s->builder, STN_WORLD, stn_shape_half_space());
    for (int32_t i = 0; i < CALLS; i++) {
        const double choice[] = {(double)NAN, (double)NAN, 0.01 * i, 0.5};
        int32_t one = random_below(&r, BALLS + 2), two = random_below(&r, BALLS + 2);
        calls[i] = (call){one > BALLS || random_below(&r, 8) == 0 ? STN_ANY : link[one],
                          two > BALLS ? STN_ANY : link[two], stn_material_unset()};
        calls[i].material.mu = choice[random_below(&r, 4)];
        calls[i].material.stiffness = 1e5 * choice[random_below(&r, 4)];
        calls[i].material.restitution = choice[random_below(&r, 4)];
        double more = choice[random_below(&r, 4)];
        calls[i].material.mu_static = isnan(calls[i].material.mu) ? more : calls[i].material.mu + more;
        stn_error err;
        assert_ok(stn_builder_set_contact_material(s->builder, calls[i].a, calls[i].b, &calls[i].material, &err), err);
    }
    s->model = compile_model(s->builder);
    int32_t changed = 0;
    for (int32_t i = 0; i <= BALLS; i++) {
        for (int32_t k = 0; k <= BALLS; k++) {
            stn_material expected = one_by_one(calls, CALLS, link[i], link[k]);
            stn_material found = stn_model_pair_material(s->model, g[i], g[k]).value;
            assert_same(&found, &expected);
            changed += expected.mu != one_by_one(calls, CALLS, STN_ANY, STN_ANY).mu;
        }
    }
    assert_true(changed > BALLS * BALLS / 4);
}

static void material_of_a_robot_goes_to_its_own_shapes_alone(void **state) {
    scene *s = *state;
    stn_error err;
    stn_material own = stn_material_unset(), rough = own;
    own.restitution = 0.4;
    rough.mu = 0.9;
    int32_t link[2], ball = add_ball(s, "ball", own, &link[0]);
    int32_t ground = add_shape(s->builder, STN_WORLD, stn_shape_half_space()),
            other = add_ball(s, "other", own, &link[1]);
    int32_t late = add_shape(s->builder, link[0], stn_shape_sphere(0.2));
    assert_ok(stn_builder_set_material(s->builder, 0, &rough, &err), err);
    rough.mu = -1.0;
    assert_int_equal(stn_builder_set_material(s->builder, 0, &rough, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_builder_set_material(s->builder, 2, &rough, &err), STN_ERR_ARGUMENT);
    s->model = compile_model(s->builder);
    assert_near(s->model->geometries[ball].material.mu, 0.9, 0.0);
    assert_near(s->model->geometries[ball].material.restitution, 0.4, 0.0);
    assert_near(s->model->geometries[late].material.mu, 0.9, 0.0);
    assert_true(isnan(s->model->geometries[ground].material.mu));
    assert_true(isnan(s->model->geometries[other].material.mu));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(neighbours_over_merged_bodies_do_not_collide),
        TEST(parent_that_is_the_world_does_collide),
        TEST(categories_must_meet_masks_both_ways),
        TEST(excluded_links_do_not_collide),
        TEST(excluding_the_world_covers_a_root_link_of_that_name),
        TEST(many_excludes_are_all_found),
        TEST(nodes_of_one_cloud_do_not_collide_but_two_clouds_do),
        TEST(surfaces_combine_by_the_documented_rules),
        TEST(patches_weigh_by_moduli),
        TEST(overrides_hold_for_patches_too),
        TEST(later_overrides_win_and_unset_members_fall_through),
        TEST(many_overrides_act_as_if_looked_at_one_by_one),
        TEST(material_of_a_robot_goes_to_its_own_shapes_alone),
    };
    return cmocka_run_group_tests_name("collision filter and pair materials", tests, NULL, NULL);
}
