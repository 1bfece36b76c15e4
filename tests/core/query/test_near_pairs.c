// SPDX-License-Identifier: Apache-2.0
// What a controller, and who asks a world, is told of near pairs, against the distance of every pair of geometries by
// itself.
#include "scenes.h"

#include <string.h>

#include "stn_random_pose.h"

enum { BODIES = 14, MOST = 400, ROUNDS = 60 };

/// What the controller of the test was told in its last step.
static struct {
    double within;
    stn_near_pair pairs[MOST];
    int32_t count;
} heard;

/// Listens, and ends the step, which leaves the world as it was.
static stn_status listen(void *self, const stn_control_view *view, const double *reference, void *state,
                         stn_forces *forces, stn_error *err) {
    (void)self, (void)reference, (void)state, (void)forces;
    const stn_near_pair *pairs = NULL;
    stn_status status = stn_near_pairs(view, heard.within, &pairs, &heard.count, err);
    if (status != STN_OK) {
        return status;
    }
    assert_in_range(heard.count, 0, MOST);
    memcpy(heard.pairs, pairs, (size_t)heard.count * sizeof *pairs);
    stn_control_view blind = *view;
    int32_t count = 1;
    blind.surroundings = NULL;
    status = stn_near_pairs(&blind, heard.within, &pairs, &count, err);
    assert_int_equal(count, 0);
    return status == STN_OK ? stn_fail(err, STN_ERR_ARGUMENT, "heard enough") : status;
}

typedef struct config {
    double unused;
} config;

static const stn_controller_ops ops = {.size = sizeof ops, .evaluate = listen};
static const stn_plugin_desc listener = {.size = sizeof listener,
                                         .kind = STN_KIND_CONTROLLER,
                                         .id = "listener",
                                         .version = "1",
                                         .summary = "asks what is near",
                                         .config_size = sizeof(config),
                                         .ops.controller = &ops};

/// A chain of three capsules and a tool of two shapes, turning about x and z by turns.
static int32_t add_chain(stn_world *world, const char *name, double x) {
    stn_model_builder *builder = stn_world_builder(world);
    int32_t robot = 0, id = 0, parent = 0;
    stn_error err;
    assert_ok(stn_builder_begin_group(builder, name, &robot, &err), err);
    for (int32_t i = 0; i < 4; i++) {
        char link_name[16];
        snprintf(link_name, sizeof link_name, "link%d", i);
        stn_link_spec link = {.name = link_name};
        link.mass = (stn_mass){.mass = 1.0, .inertia = stn_mat3_diagonal(0.01, 0.01, 0.01)};
        int32_t child = 0;
        assert_ok(stn_builder_add_link(builder, &link, &child, &err), err);
        for (int32_t k = 0; k <= (i == 3); k++) {
            stn_geometry_spec shape = stn_geometry_spec_default(stn_shape_capsule(0.05, 0.15));
            shape.pose.position = stn_vec3_make(0.2 * k, 0.0, 0.2);
            assert_ok(stn_builder_add_geometry(builder, child, &shape, &id, &err), err);
        }
        if (i > 0) {
            stn_joint_spec joint = stn_joint_spec_default(link_name, STN_JOINT_REVOLUTE);
            joint.parent = parent;
            joint.child = child;
            joint.origin.position.z = 0.4;
            joint.axis = i % 2 == 1 ? stn_vec3_make(1.0, 0.0, 0.0) : stn_vec3_make(0.0, 0.6, 0.8);
            assert_ok(stn_builder_add_joint(builder, &joint, &id, &err), err);
        }
        parent = child;
    }
    stn_pose base = stn_pose_identity();
    base.position.x = x;
    assert_ok(stn_builder_set_base(builder, robot, &base, true, &err), err);
    return robot;
}

static stn_world *new_world(stn_context *context, bool filled) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(context, &options);
    stn_error err;
    assert_ok(stn_plugin_register(context, &listener, &err), err);
    if (filled) {
        scene_ground(world);
        for (int32_t i = 0; i < BODIES; i++) {
            char name[16];
            snprintf(name, sizeof name, "body%d", i);
            if (i % 2 == 0) {
                scene_ball(world, name, 1.0, 0.05 + 0.01 * i, stn_vec3_zero());
            } else {
                scene_cube(world, name, 1.0, stn_vec3_zero());
            }
        }
    }
    add_chain(world, "before", -0.9);
    scene_controller(world, add_chain(world, "chain", 0.0), "listener", NULL);
    return world;
}

static bool is_one(const void *user, int32_t geometry) {
    return *(const int32_t *)user == geometry;
}

static stn_world_distance_result distance(stn_world *world, int32_t a, int32_t b, double max) {
    const stn_query one = {.accepts = is_one, .user = &a}, other = {.accepts = is_one, .user = &b};
    stn_world_distance_result result;
    stn_error err;
    assert_ok(stn_world_distance(world, &one, &other, max, &result, &err), err);
    return result;
}

static int32_t tree_of(const stn_model *model, int32_t geometry) {
    int32_t link = model->geometries[geometry].link;
    return link >= 0 ? model->bodies[model->links[link].body].tree : -1;
}

/// The tree of the listener's target.
typedef struct own_tree {
    const stn_model *model;
    int32_t tree;
} own_tree;

static bool is_own(const void *user, int32_t geometry) {
    const own_tree *own = user;
    return tree_of(own->model, geometry) == own->tree;
}

static bool is_third(const void *user, int32_t geometry) {
    return geometry % 3 == *(const int32_t *)user;
}

static bool accepts(const stn_query *query, int32_t geometry) {
    return query == NULL || query->accepts(query->user, geometry);
}

/// Each pair that is near is told once, in order, and no other. Returns how many.
static int32_t compare(stn_world *world, const stn_query *mine, const stn_query *others) {
    const stn_model *model = stn_world_model(world);
    int32_t found = 0;
    for (int32_t a = 0; a < model->geometry_count; a++) {
        for (int32_t b = 0; b < model->geometry_count && accepts(mine, a); b++) {
            bool again = a >= b && accepts(mine, b);
            if (again || !accepts(others, b) || !stn_model_may_collide(model, a, b)) {
                continue;
            }
            stn_world_distance_result d = distance(world, a, b, heard.within);
            if (d.geometry_a < 0) {
                continue;
            }
            assert_true(found < heard.count);
            const stn_near_pair *pair = &heard.pairs[found++];
            assert_int_equal(pair->geometry_a, a);
            assert_int_equal(pair->geometry_b, b);
            assert_near(pair->distance, d.distance, 1e-12);
            assert_near(stn_vec3_norm(stn_vec3_sub(pair->normal, d.normal)), 0.0, 1e-12);
            stn_vec3 from_a = stn_vec3_sub(pair->point, d.point_a); // on A, on B or between them
            double along = stn_vec3_dot(from_a, d.normal);
            assert_near(stn_vec3_norm(stn_vec3_mul_add(from_a, -along, d.normal)), 0.0, 1e-9);
        }
    }
    assert_int_equal(found, heard.count);
    return found;
}

static int32_t compare_heard(stn_world *world) {
    const stn_control_target *target = stn_world_controller_target(world, 0);
    const own_tree own = {target->model, target->model->dof_tree[target->dof[0]]};
    return compare(world, &(stn_query){.accepts = is_own, .user = &own}, NULL);
}

static void shuffle(stn_world *world, stn_random *r) {
    const stn_model *model = stn_world_model(world);
    stn_error err;
    double q[256];
    assert_true(model->nq <= STN_COUNT(q));
    memcpy(q, stn_world_state(world)->q, (size_t)model->nq * sizeof *q);
    for (int32_t j = 0; j < model->joint_count; j++) {
        if (model->joints[j].nq == 1) {
            q[model->joints[j].q_start] = random_between(r, -2.5, 2.5);
        }
    }
    assert_ok(stn_world_set_q(world, q, &err), err);
    for (int32_t b = 1; b < model->body_count; b++) {
        if (model->joints[model->bodies[b].joint].type == STN_JOINT_FLOATING) {
            stn_pose pose = random_pose(r, 0.7);
            pose.position.z += 0.7;
            assert_ok(stn_world_set_body_pose(world, b, &pose, &err), err);
        }
    }
}

static void expect_heard(stn_world *world) {
    stn_error err;
    assert_int_equal(stn_world_step(world, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "heard enough"));
}

static void near_pairs_are_those_of_all_pairs(void **state) {
    stn_world *world = new_world(*state, true);
    stn_random r = {5};
    int32_t told = 0;
    for (int32_t i = 0; i < ROUNDS; i++) {
        shuffle(world, &r);
        heard.within = i % 3 == 0 ? 0.0 : random_between(&r, 0.0, 0.4);
        expect_heard(world);
        told += compare_heard(world);
    }
    assert_true(told > 4 * ROUNDS);
    stn_world_destroy(world);
}

static void a_chain_alone_is_near_itself_only(void **state) {
    stn_world *world = new_world(*state, false);
    heard.within = 0.3;
    expect_heard(world);
    compare_heard(world);
    stn_world_destroy(world);
}

/// Asked from outside: sides that are all, a part, apart from each other, and overlap in a part.
static void a_world_tells_pairs_of_two_sides(void **state) {
    stn_world *world = new_world(*state, true);
    const int32_t rest[3] = {0, 1, 2};
    const stn_query third = {.accepts = is_third, .user = &rest[0]}, other = {.accepts = is_third, .user = &rest[1]};
    const stn_query *sides[][2] = {{NULL, NULL}, {&third, NULL}, {NULL, &third}, {&third, &third}, {&third, &other}};
    stn_random r = {7};
    int32_t told[STN_COUNT(sides)] = {0};
    for (int32_t i = 0; i < ROUNDS; i++) {
        shuffle(world, &r);
        heard.within = random_between(&r, 0.0, 0.2);
        for (int32_t k = 0; k < STN_COUNT(sides); k++) {
            const stn_near_pair *pairs = NULL;
            stn_error err;
            assert_ok(stn_world_near_pairs(world, sides[k][0], sides[k][1], heard.within, &pairs, &heard.count, &err),
                      err);
            assert_in_range(heard.count, 0, MOST);
            memcpy(heard.pairs, pairs, (size_t)heard.count * sizeof *pairs);
            told[k] += compare(world, sides[k][0], sides[k][1]);
        }
    }
    for (int32_t k = 0; k < STN_COUNT(sides); k++) {
        assert_true(told[k] > ROUNDS);
    }
    stn_world_destroy(world);
}

static void an_endless_reach_is_refused(void **state) {
    stn_world *world = new_world(*state, true);
    stn_error err;
    heard.within = INFINITY;
    assert_int_equal(stn_world_step(world, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "controller listener of chain: near pairs: within = inf m must be finite"));
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(near_pairs_are_those_of_all_pairs, scene_setup, scene_teardown),
        cmocka_unit_test_setup_teardown(a_chain_alone_is_near_itself_only, scene_setup, scene_teardown),
        cmocka_unit_test_setup_teardown(a_world_tells_pairs_of_two_sides, scene_setup, scene_teardown),
        cmocka_unit_test_setup_teardown(an_endless_reach_is_refused, scene_setup, scene_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
