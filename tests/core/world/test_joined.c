// SPDX-License-Identifier: Apache-2.0
// Rows of weld, ball, distance and gear: the rates that J v promises against how the errors change along a motion, in
// one tree, in two and against the world; structure, impulses, saving.
#include "scenes.h"

#include <string.h>

#include "stn_joined.h"
#include "stn_random.h"

static stn_pose random_pose(stn_random *r) {
    stn_vec3 turn = stn_vec3_make(random_real(r), random_real(r), random_real(r));
    return (stn_pose){stn_quat_matrix(stn_quat_exp(turn)), {random_real(r), random_real(r), random_real(r)}};
}

/// A floating chain of `count` links with hinges and slides about random axes. Returns its last link.
static int32_t add_chain(stn_world *world, const char *name, int32_t count, stn_random *r) {
    stn_model_builder *builder = stn_world_builder(world);
    stn_error err;
    int32_t robot = 0, parent = -1, id = 0;
    assert_ok(stn_builder_begin_group(builder, name, &robot, &err), err);
    for (int32_t i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s_%d", name, i);
        int32_t link = 0;
        stn_link_spec spec = {.name = text};
        spec.mass = (stn_mass){.mass = 1.0 + i, .inertia = stn_mat3_diagonal(0.1, 0.2, 0.25)};
        assert_ok(stn_builder_add_link(builder, &spec, &link, &err), err);
        stn_joint_spec joint = stn_joint_spec_default(text, i % 3 == 2 ? STN_JOINT_PRISMATIC : STN_JOINT_CONTINUOUS);
        joint.parent = parent;
        joint.child = link;
        joint.origin = random_pose(r);
        joint.axis = stn_vec3_make(random_real(r), random_real(r), 1.0);
        if (i > 0) {
            assert_ok(stn_builder_add_joint(builder, &joint, &id, &err), err);
        }
        parent = link;
    }
    return parent;
}

/// Errors of the blocks in their order; returns how many numbers.
static int32_t error_of(stn_world *world, int32_t constraint, double *error) {
    stn_row_block blocks[2];
    stn_error err;
    int32_t count = stn_world_constraint_blocks(world, constraint, blocks, 2, &err), numbers = 0;
    assert_in_range(count, 1, 2);
    for (int32_t k = 0; k < count; k++) {
        assert_int_equal(blocks[k].part, k);
        for (int32_t r = 0; r < blocks[k].rows; r++) {
            error[numbers++] = blocks[k].phi[r];
        }
    }
    return numbers;
}

static double length(const double *x) {
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/// Of one part: J v along the error, which is the rate of its length; of one row J v itself.
static double promised_rate(const stn_problem *p, const stn_constraint *c, const double *v, const double *error) {
    double rate[STN_MAX_ROWS];
    stn_constraint_velocity(p, c, v, rate);
    if (c->rows == 1) {
        return rate[0];
    }
    return (rate[0] * error[0] + rate[1] * error[1] + rate[2] * error[2]) / length(error);
}

/// Central differences of the errors along the motion q + s v, against J v of the problem at q.
static void check_rates(stn_world *world, int32_t count) {
    const stn_model *model = stn_world_model(world);
    const stn_state *state = stn_world_state(world);
    stn_error err;
    double *q = calloc((size_t)model->nq, sizeof *q), *v = calloc((size_t)model->nv, sizeof *v),
           *moved = calloc((size_t)model->nq, sizeof *q);
    memcpy(q, state->q, (size_t)model->nq * sizeof *q);
    memcpy(v, state->v, (size_t)model->nv * sizeof *v);
    double before[8][6], after[8][6], here[8][6];
    const double s = 1e-6;
    for (int32_t e = 0; e < count; e++) {
        error_of(world, e, here[e]);
    }
    for (int32_t side = 0; side < 2; side++) {
        stn_integrate_q(model, q, v, side == 0 ? -s : s, moved);
        assert_ok(stn_world_set_q(world, moved, &err), err);
        for (int32_t e = 0; e < count; e++) {
            error_of(world, e, side == 0 ? before[e] : after[e]);
        }
    }
    assert_ok(stn_world_set_q(world, q, &err), err);
    scene_steps(world, 1);
    const stn_problem *p = stn_world_observation(world)->problem;
    int32_t at = 0;
    for (int32_t e = 0; e < count; e++) {
        const stn_model_constraint *held = &model->constraints[e];
        int32_t parts = strcmp(held->instance->desc->id, "weld") == 0 ? 2 : 1;
        for (int32_t part = 0; part < parts; part++, at++) {
            const stn_constraint *c = &p->constraints[at];
            int32_t first = 3 * part;
            double low = c->rows == 1 ? before[e][first] : length(before[e] + first);
            double high = c->rows == 1 ? after[e][first] : length(after[e] + first);
            assert_near(promised_rate(p, c, v, here[e] + first), (high - low) / (2.0 * s), 2e-8);
            bool one_tree = model->bodies[held->ends[0].body].tree == model->bodies[held->ends[1].body].tree;
            assert_true(!one_tree || c->J[1].tree == -1); // J_B - J_A in one block
            assert_true(c->J[0].tree >= 0);
        }
    }
    assert_int_equal(at, p->constraint_count);
    free(q), free(v), free(moved);
}

/// Every type between `a` and `b` with random frames, then a random state.
static void rates_between(stn_context *context, stn_world *world, const int32_t ends[2], stn_random *r) {
    static const char *const types[] = {"weld", "ball", "distance"};
    stn_error err;
    for (int32_t type = 0; type < STN_COUNT(types); type++) {
        joined_spec spec = joined(types[type], ends[0], ends[1]);
        spec.ends[0].pose = random_pose(r);
        spec.ends[1].pose = random_pose(r);
        joined_set(&spec, "stiffness", 10.0);
        if (type == 0) {
            joined_set(&spec, "angular_stiffness", 1.0);
        } else if (type == 2) {
            joined_set(&spec, "length", 0.7);
        }
        joined_add(context, stn_world_builder(world), &spec);
    }
    assert_ok(stn_world_compile(world, &err), err);
    const stn_model *model = stn_world_model(world);
    double *q = calloc((size_t)model->nq, sizeof *q), *v = calloc((size_t)model->nv, sizeof *v);
    for (int32_t k = 0; k < model->nv; k++) {
        v[k] = random_real(r);
    }
    stn_integrate_q(model, stn_world_state(world)->q, v, 0.7, q);
    assert_ok(stn_world_set_q(world, q, &err), err);
    assert_ok(stn_world_set_v(world, v, &err), err);
    free(q), free(v);
    check_rates(world, 3);
}

static void J_v_is_the_rate_of_the_error(void **state) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        stn_random r = {seed};
        stn_world *world = scene_tight_world(*state, 1e-3, 1e-9);
        int32_t last = add_chain(world, "a", 5, &r); // links 0 to 4 of one tree
        int32_t other = add_chain(world, "b", 3, &r);
        const int32_t ends[4][2] = {{1, last}, {last, other}, {2, STN_WORLD}, {STN_WORLD, other}};
        rates_between(*state, world, ends[seed % 4], &r);
        stn_world_destroy(world);
    }
}

static void gears_couple_joints_of_one_tree_and_of_two(void **state) {
    for (int32_t pass = 0; pass < 2; pass++) {
        stn_random r = {9};
        stn_world *world = scene_tight_world(*state, 1e-3, 1e-9);
        add_chain(world, "a", 4, &r);
        add_chain(world, "b", 3, &r);
        const stn_model_builder *b = stn_world_builder(world);
        joined_spec gear = joined("gear", stn_builder_find_joint(b, 0, "a_1"),
                                  stn_builder_find_joint(b, pass, pass == 0 ? "a_3" : "b_1"));
        joined_set(&gear, "ratio", -2.5);
        joined_set(&gear, "offset", 0.3);
        joined_add(*state, stn_world_builder(world), &gear);
        stn_error err;
        assert_ok(stn_world_compile(world, &err), err);
        const stn_model *model = stn_world_model(world);
        const stn_constraint_end *ends = model->constraints[0].ends;
        double v[32] = {0.0};
        v[model->joints[ends[0].joint].v_start] = 0.7;
        v[model->joints[ends[1].joint].v_start] = 0.2;
        assert_ok(stn_world_set_v(world, v, &err), err);
        check_rates(world, 1);
        stn_world_destroy(world);
    }
}

/// A weld's impulses are found again after a step, and by a world that was restored; after a reset they are zero.
static void impulses_belong_to_the_state(void **state) {
    stn_world *world = scene_tight_world(*state, 2e-3, 1e-11);
    scene_cube(world, "cube", 1.5, stn_vec3_make(0.0, 0.0, 1.0));
    joined_spec weld = joined("weld", STN_WORLD, 0);
    weld.ends[0].pose.position = stn_vec3_make(0.4, 0.0, 1.0);
    weld.ends[1].pose.position = stn_vec3_make(0.4, 0.0, 0.0);
    joined_add(*state, stn_world_builder(world), &weld);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    scene_steps(world, 50);
    double impulse[STN_MAX_ROWS], force[STN_MAX_ROWS];
    const double expected[6] = {0.0, 0.0, 1.5 * 9.81 * 2e-3, 0.0, 0.4 * 1.5 * 9.81 * 2e-3, 0.0}; // held 0.4 m aside
    for (int32_t k = 0; k < 6; k++) {
        assert_true(stn_world_constraint_impulse(world, 0, k / 3, impulse));
        assert_near(impulse[k % 3], expected[k], 1e-8);
        assert_int_equal(stn_world_constraint_force(world, 0, k / 3, force), 3);
        assert_near(force[k % 3], expected[k] / 2e-3, 1e-9);
    }
    assert_false(stn_world_constraint_impulse(world, 0, 2, impulse)); // there is no such part
    assert_near(impulse[0], 0.0, 0.0);
    stn_snapshot *snapshot = NULL;
    assert_ok(stn_world_snapshot(world, &snapshot, &err), err);
    scene_steps(world, 10);
    stn_world_reset(world);
    assert_false(stn_world_constraint_impulse(world, 0, 0, impulse));
    assert_near(impulse[2], 0.0, 0.0);
    assert_ok(stn_world_restore(world, snapshot, &err), err);
    assert_true(stn_world_constraint_impulse(world, 0, 0, impulse));
    assert_near(impulse[2], expected[2], 1e-8);
    stn_snapshot_destroy(snapshot);
    stn_world_destroy(world);
}

/// The problem of a step with a weld says the same when it was saved and read again.
static void the_problem_of_a_weld_survives_its_file(void **state) {
    static const char *const path = STN_BINARY_DIR "/test_joined.json";
    stn_random r = {3};
    stn_world *world = scene_tight_world(*state, 1e-3, 1e-9);
    int32_t last = add_chain(world, "a", 4, &r);
    joined_spec weld = joined("weld", 0, last);
    weld.ends[0].pose = random_pose(&r);
    joined_set(&weld, "stiffness", 100.0);
    joined_set(&weld, "angular_stiffness", 100.0);
    joined_add(*state, stn_world_builder(world), &weld);
    scene_steps(world, 1);
    const stn_problem *p = stn_world_observation(world)->problem;
    stn_problem_owner *owner = NULL;
    stn_error err;
    assert_ok(stn_problem_save(*state, p, "contact-problem-2", path, &err), err);
    assert_ok(stn_problem_load(*state, path, &owner, &err), err);
    const stn_problem *q = stn_problem_of(owner);
    assert_int_equal(q->row_count, 6);
    assert_memory_equal(q->phi, p->phi, 6 * sizeof(double));
    assert_int_equal(q->constraints[0].kind, STN_CONSTRAINT_WELD);
    stn_problem copy = *q;
    memset(copy.v_hat, 0, 6 * sizeof(double));
    stn_problem_regularize(&copy);
    assert_memory_equal(copy.v_hat, p->v_hat, 6 * sizeof(double));
    assert_memory_equal(copy.R, p->R, 6 * sizeof(double));
    stn_problem_destroy(owner);
    stn_world_destroy(world);
}

/// What the plugins refuse when a model is compiled, with type, name and place in front.
static void what_holds_nothing_is_named(void **state) {
    const struct {
        const char *type;
        int32_t a, b;
        const char *setting;
        double value;
        const char *text;
    } wrong[] = {
        {"weld", 0, 0, NULL, 0.0, "both ends are link 'cube'; it needs two"},
        {"ball", STN_WORLD, STN_WORLD, NULL, 0.0, "both ends are the world; it needs two"},
        {"ball", 0, 1, "stiffness", 0.0, "stiffness = 0 N/m must be > 0"},
        {"weld", 0, 1, "angular_stiffness", 0.0, "angular_stiffness = 0 N m/rad must be > 0"},
        {"distance", 0, 1, NULL, 0.0, "length is missing"},
        {"distance", 0, 1, "length", 0.0, "length = 0 m must be > 0; a ball holds two points together at length 0"},
        {"gear", 0, 0, NULL, 0.0, "both ends are joint 'slide' of 'slider'; it needs two"},
        {"gear", 0, 1, "ratio", 0.0, "ratio = 0 couples nothing"},
    };
    for (int32_t i = 0; i < STN_COUNT(wrong); i++) {
        stn_world *world = scene_tight_world(*state, 1e-3, 1e-9);
        scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 1.0));
        scene_cube(world, "other", 1.0, stn_vec3_make(1.0, 0.0, 1.0));
        scene_slider(world, "slider", NULL);
        scene_slider(world, "second", NULL);
        joined_spec spec = joined(wrong[i].type, wrong[i].a, wrong[i].b);
        spec.name = "held";
        spec.where = "scene.lua:7";
        if (wrong[i].setting != NULL) {
            joined_set(&spec, wrong[i].setting, wrong[i].value);
        }
        joined_add(*state, stn_world_builder(world), &spec);
        stn_error err;
        char text[1024];
        snprintf(text, sizeof text, "%s 'held' (scene.lua:7): %s", wrong[i].type, wrong[i].text);
        assert_int_equal(stn_world_compile(world, &err), STN_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, text));
        stn_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(J_v_is_the_rate_of_the_error), cmocka_unit_test(gears_couple_joints_of_one_tree_and_of_two),
        cmocka_unit_test(impulses_belong_to_the_state), cmocka_unit_test(the_problem_of_a_weld_survives_its_file),
        cmocka_unit_test(what_holds_nothing_is_named),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
