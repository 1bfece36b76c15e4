// SPDX-License-Identifier: Apache-2.0
// Stages of a step by themselves, on a setup, a state and a frame that are written down here: no world is made. One
// node of 2 kg lies 1 mm deep in the ground.
#include <setjmp.h> // what cmocka wants before it
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "world/world.h"

static const double mass = 2.0, dt = 0.01;

static int32_t row_start[2] = {0, 1}, column[1] = {0}, no_joint[3] = {-1, -1, -1}, first_tree[1] = {0};
static const stn_tree tree = {.name = "ball",
                              .kind = STN_TREE_NODAL,
                              .nq = 3,
                              .nv = 3,
                              .node_count = 1,
                              .row_start = row_start,
                              .column = column};
static const stn_body ground = {.name = "world", .tree = -1};
static const stn_geometry geometries[2] = {{.name = "ground", .where = "", .link = -1, .node = -1},
                                           {.name = "node", .where = "", .body = -1, .link = -1}};
static const stn_model model = {.nq = 3,
                                .nv = 3,
                                .body_count = 1,
                                .bodies = (stn_body *)(uintptr_t)&ground,
                                .tree_count = 1,
                                .trees = (stn_tree *)(uintptr_t)&tree,
                                .node_count = 1,
                                .node_tree = first_tree,
                                .node_attachment = no_joint,
                                .dof_joint = no_joint,
                                .geometry_count = 2,
                                .geometries = (stn_geometry *)(uintptr_t)geometries};

static const stn_solver_ops solver_ops = {.size = sizeof solver_ops};
static const stn_contact_ops contact_ops = {.size = sizeof contact_ops};
static const stn_plugin_desc solver_desc = {.id = "none", .ops.solver = &solver_ops};
static const stn_plugin_desc contact_desc = {.id = "none", .ops.contact = &contact_ops};

/// What a stage is given.
typedef struct stage {
    stn_context *context;
    stn_instance solver, contact;
    step_setup setup;
    stn_state state;
    step_frame frame;
    step_services services;
    double q[3], v[3], q_next[3], v_next[3], effort[3], tau[3], A_values[9], v0[3], v_star[3];
    stn_matrix A, K, D;
    stn_problem_tree problem_tree;
    stn_contact contacts[2];
} stage;

static stn_contact touch(uint64_t id) {
    stn_contact c = {.id = id,
                     .geometry_a = 0,
                     .geometry_b = 1,
                     .a = {.body = 0},
                     .b = {.body = -1, .node_count = 1, .node = {0}, .weight = {1.0}},
                     .normal = {0.0, 0.0, 1.0},
                     .phi0 = -1e-3,
                     .mu2 = 0.5,
                     .patch = -1};
    c.material = stn_material_default();
    c.material.mu = 0.5;
    c.material.relaxation_time = dt;
    return c;
}

static void begin(stage *s, stn_context *context) {
    *s = (stage){
        .context = context,
        .solver = {.desc = &solver_desc},
        .contact = {.desc = &contact_desc},
        .v = {0.3, 0.0, -0.2},
        .q_next = {0.003, 0.0, -0.001},
        .v_next = {0.3, 0.0, 0.0},
        .v_star = {0.3, 0.0, -0.2 - 9.81 * dt},
        .contacts = {touch(7), touch(8)},
    };
    for (int32_t i = 0; i < 3; i++) {
        s->A_values[4 * i] = mass;
    }
    s->setup = (step_setup){.context = context,
                            .plugin = {[STN_KIND_SOLVER] = &s->solver, [STN_KIND_CONTACT] = &s->contact},
                            .model = &model,
                            .node_tree = first_tree};
    s->state = (stn_state){.sizes = {.nq = 3, .nv = 3}, .q = s->q, .v = s->v, .effort = s->effort};
    s->A = (stn_matrix){.n = 3,
                        .form = STN_MATRIX_NODAL,
                        .node_count = 1,
                        .node_size = 3,
                        .row_start = row_start,
                        .column = column,
                        .values = s->A_values};
    s->problem_tree = (stn_problem_tree){.A = s->A};
    s->frame = (step_frame){
        .dt = dt,
        .arena = stn_arena_create(context),
        .forces = {.model = &model, .tau = s->tau, .K = &s->K, .D = &s->D},
        .contacts = {.count = 1, .contacts = s->contacts},
        .problem = {.dt = dt, .nv = 3, .tree_count = 1, .trees = &s->problem_tree, .v0 = s->v0, .v_star = s->v_star},
        .q_next = s->q_next,
        .v_next = s->v_next,
    };
    s->services = (step_services){.context = context};
    stn_error err;
    assert_int_equal(stn_inverse_create(context, &s->services.inverse, &err), STN_OK);
    assert_int_equal(stn_inverse_factor(s->services.inverse, &s->frame.problem, &err), STN_OK);
}

static void end(stage *s) {
    stn_inverse_destroy(s->services.inverse);
    stn_arena_destroy(s->frame.arena);
    stn_release(s->context, s->services.cache_index.slot);
    stn_release(s->context, s->state.cache);
    stn_release(s->context, s->state.cache_memory);
}

static stn_status make_inputs(stage *s, stn_error *err) {
    const state_view state = state_view_of(&s->state);
    return stn_step_inputs(&s->setup, &state, &s->frame, &s->services, err);
}

static stn_status assemble(stage *s, stn_error *err) {
    const state_view state = state_view_of(&s->state);
    return stn_step_assemble(&s->setup, &state, &s->frame, &s->services, err);
}

/// By type: what a stage but commit reads of the state are arrays of constants.
#define ASSERT_CONSTANT(name, type, count, unit, text) \
    _Static_assert(_Generic(((state_view *)NULL)->name, const type * : true, default : false), "a stage could write " #name);
STN_STATE_FIELDS(ASSERT_CONSTANT)
ASSERT_CONSTANT(cache, stn_cache_entry, cache_count, "", "")
ASSERT_CONSTANT(cache_memory, unsigned char, cache_count, "", "")

static void inputs_add_up_efforts(void **state) {
    stage s;
    stn_error err;
    begin(&s, *state);
    s.effort[2] = 5.0;
    s.tau[0] = 99.0; // of the step before
    assert_int_equal(make_inputs(&s, &err), STN_OK);
    assert_true(s.tau[0] == 0.0 && s.tau[1] == 0.0 && s.tau[2] == 5.0);
    s.effort[1] = NAN;
    assert_int_equal(make_inputs(&s, &err), STN_ERR_NUMERIC);
    assert_non_null(strstr(err.text, "generalised force on node 0 (counted from 0) of 'ball' is nan"));
    end(&s);
}

static void assembly_makes_a_row_of_a_contact(void **state) {
    stage s;
    stn_error err;
    begin(&s, *state);
    assert_int_equal(assemble(&s, &err), STN_OK);
    const stn_problem *p = &s.frame.problem;
    assert_int_equal(p->constraint_count, 1);
    assert_int_equal(p->row_count, 3);
    const stn_constraint *c = &p->constraints[0];
    assert_true(c->kind == STN_CONSTRAINT_CONTACT && c->set == STN_SET_CONE && c->id == 7 && c->phi0 == -1e-3);
    assert_int_equal(c->J[0].tree, 0);
    assert_int_equal(c->J[1].tree, -1); // the ground has no velocity
    double v_c[3];
    stn_constraint_velocity(p, c, s.v, v_c); // tangents are of any direction
    assert_true(fabs(v_c[2] + 0.2) < 1e-15 && fabs(hypot(v_c[0], v_c[1]) - 0.3) < 1e-15);
    assert_true(fabs(c->w - sqrt(3.0) / mass / 3.0) < 1e-15); // |W|_F/3, W = 1/m
    assert_true(p->gamma_guess[2] == 0.0 && s.frame.assembled);
    end(&s);
}

static void equal_ids_fail_and_nothing_is_assembled(void **state) {
    stage s;
    stn_error err;
    begin(&s, *state);
    s.contacts[1].id = 7;
    s.frame.contacts.count = 2;
    assert_int_equal(assemble(&s, &err), STN_ERR_PLUGIN);
    assert_non_null(strstr(err.text, "two constraints share the id 7"));
    assert_false(s.frame.assembled);
    end(&s);
}

static void commit_makes_the_frame_the_state(void **state) {
    stage s;
    stn_error err;
    double gamma[3] = {0.1, 0.0, 0.4};
    begin(&s, *state);
    assert_int_equal(assemble(&s, &err), STN_OK);
    s.frame.solution = (stn_solution){.v = s.v_next, .gamma = gamma};
    assert_int_equal(stn_step_commit(&s.setup, &s.state, &s.frame, &s.services, &err), STN_OK);
    assert_true(s.state.q == s.q_next && s.frame.q_next == s.q && s.state.v == s.v_next);
    assert_true(s.state.step == 1 && s.state.time == dt);
    assert_int_equal(s.state.cache_count, 1);
    assert_true(s.state.cache[0].id == 7 && s.state.cache[0].gamma[2] == 0.4 && s.state.cache[0].touching != 0);
    // the next step begins with what this one found
    stn_problem *p = &s.frame.problem;
    p->constraint_count = p->row_count = 0;
    assert_int_equal(assemble(&s, &err), STN_OK);
    assert_memory_equal(p->gamma_guess, gamma, sizeof gamma);
    end(&s);
}

/// The least component of a normal chooses its tangents: a quarter turn here. Impulses of the step before stay what
/// they are in the world.
static void warm_starts_turn_with_the_tangents(void **state) {
    stage s;
    stn_error err;
    double gamma[3] = {0.1, -0.3, 0.4};
    begin(&s, *state);
    assert_int_equal(assemble(&s, &err), STN_OK);
    stn_problem *p = &s.frame.problem;
    const stn_vec3 before = stn_mat3_apply(&p->constraints[0].frame, stn_vec3_make(gamma[0], gamma[1], gamma[2]));
    s.frame.solution = (stn_solution){.v = s.v_next, .gamma = gamma};
    assert_int_equal(stn_step_commit(&s.setup, &s.state, &s.frame, &s.services, &err), STN_OK);
    for (int32_t again = 0; again < 2; again++) {
        const stn_mat3 frame = p->constraints[0].frame;
        s.contacts[0].normal = stn_vec3_make(again == 0 ? 1e-12 : 0.0, again == 0 ? 0.0 : 1e-12, 1.0);
        p->constraint_count = p->row_count = 0;
        assert_int_equal(assemble(&s, &err), STN_OK);
        assert_true(again == 1 || fabs(stn_vec3_dot(stn_mat3_column(&frame, 0),
                                                    stn_mat3_column(&p->constraints[0].frame, 0))) < 1e-9);
        const stn_vec3 guess = {p->gamma_guess[0], p->gamma_guess[1], p->gamma_guess[2]};
        const stn_vec3 after = stn_mat3_apply(&p->constraints[0].frame, guess);
        assert_true(stn_vec3_norm(stn_vec3_sub(after, before)) < 1e-11);
        stn_cache_rescale(&s.state, 2.0); // of a step of another length
        p->constraint_count = p->row_count = 0;
        assert_int_equal(assemble(&s, &err), STN_OK);
        const stn_vec3 twice = {p->gamma_guess[0], p->gamma_guess[1], p->gamma_guess[2]};
        assert_true(stn_vec3_norm(stn_vec3_sub(twice, stn_vec3_scale(2.0, guess))) < 1e-15);
        stn_cache_rescale(&s.state, 0.5);
    }
    end(&s);
}

static int set_up(void **state) {
    return stn_context_create(NULL, (stn_context **)state, NULL) == STN_OK ? 0 : -1;
}

static int tear_down(void **state) {
    stn_context_destroy(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_add_up_efforts),
        cmocka_unit_test(assembly_makes_a_row_of_a_contact),
        cmocka_unit_test(equal_ids_fail_and_nothing_is_assembled),
        cmocka_unit_test(commit_makes_the_frame_the_state),
        cmocka_unit_test(warm_starts_turn_with_the_tangents),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
