// SPDX-License-Identifier: Apache-2.0
// Plugins that answer badly: one line that names them, and the state of before the step.
#include "scenes.h"

#include <string.h>

typedef enum mistake {
    NO_MISTAKE,
    EQUAL_IDS,
    NO_SUCH_BODY,
    NEGATIVE_FRICTION,
    NO_TEXT,
    NO_SUCH_STATUS,
    BAD_GAIN,
    NAN_GAIN,
    NAN_FORCE,
    NAN_MATRIX,
    NAN_VELOCITY,
    NAN_DAMPING,
    FAILING_ELEMENT,
    NAN_SOLUTION,
    NAN_MOTION,
    SILENT_FAILURE,
} mistake;

typedef struct config {
    int32_t mistake;
} config;

static const stn_param params[] = {STN_PARAM_INT(config, mistake, "1", 0.0, 0.0, 30.0, "which mistake to make")};

static bool handles(const void *self, const stn_geometry *a, const stn_geometry *b) {
    (void)self, (void)a, (void)b;
    return true;
}

/// Two points under every body.
static stn_status collide(void *self, const stn_contact_scene *scene, const stn_contact_pair *pairs, int32_t pair_count,
                          stn_contact_set *set, stn_error *err) {
    const config *c = self;
    const stn_model *model = scene->model;
    stn_status status = STN_OK;
    for (int32_t i = 0; i < 2 * pair_count && status == STN_OK; i++) {
        const stn_contact_pair *pair = &pairs[i / 2];
        stn_vec3 p = pair->pose_b.position;
        p.x += i % 2 == 0 ? 0.05 : -0.05;
        stn_contact contact = stn_contact_make(model, pair, p, p, stn_vec3_make(0.0, 0.0, 1.0),
                                               c->mistake == EQUAL_IDS ? 7 : (uint64_t)(i % 2));
        contact.b.body = c->mistake == NO_SUCH_BODY ? 99 : contact.b.body;
        contact.material.mu = c->mistake == NEGATIVE_FRICTION ? -1.0 : contact.material.mu;
        status = stn_contact_set_add(model, set, &contact, err);
    }
    return status;
}

static stn_status evaluate(void *self, const stn_control_view *view, const double *reference, void *state,
                           stn_forces *forces, stn_error *err) {
    const config *c = self;
    (void)reference, (void)state, (void)err;
    if (view->time < 0.005) {
        return STN_OK;
    }
    switch (c->mistake) {
    case NO_TEXT:
        return STN_ERR_NUMERIC;
    case NO_SUCH_STATUS:
        return (stn_status)-77;
    default:
        stn_forces_add_gain(forces, view->target->dof[0], c->mistake == BAD_GAIN ? -1e9 : (double)NAN, 0.0, 0.0);
        return STN_OK;
    }
}

/// Normal force k max(-phi, 0), without friction; knows no R.
static stn_status prepare(const void *self, const stn_problem *problem, const stn_law_batch *batch, const void *memory,
                          stn_error *err) {
    (void)self, (void)memory, (void)err;
    for (int32_t i = 0; i < batch->stride; i++) {
        batch->coefficients[i] = i < batch->count ? problem->constraints[batch->constraint[i]].phi0 : 1.0;
        batch->coefficients[batch->stride + i] = i < batch->count ? problem->dt : 0.0;
    }
    return STN_OK;
}

static const double spring = 1e4;

static void press(const void *self, const stn_law_batch *batch, const double *v_c, double *cost, double *gamma,
                  double *G) {
    (void)self;
    int32_t n = batch->stride;
    memset(gamma, 0, 3 * (size_t)n * sizeof *gamma);
    if (G != NULL) {
        memset(G, 0, 6 * (size_t)n * sizeof *G);
    }
    for (int32_t i = 0; i < n; i++) {
        double dt = batch->coefficients[n + i], depth = fmax(-(batch->coefficients[i] + dt * v_c[2 * n + i]), 0.0);
        cost[i] = 0.5 * spring * depth * depth;
        gamma[2 * n + i] = dt * spring * depth;
        if (G != NULL) {
            G[5 * n + i] = depth > 0.0 ? dt * dt * spring : 0.0;
        }
    }
}

/// Explicit Euler of bodies without springs: A = M, v_star = v0.
static stn_status form(void *self, const stn_integrator_view *view, void *state, stn_formed *formed, stn_error *err) {
    (void)state, (void)err;
    const config *c = self;
    for (int32_t t = 0; t < view->model->tree_count; t++) {
        stn_status status = stn_matrix_add_scaled(&formed->A[t], 1.0, &view->M[t]);
        if (status != STN_OK) {
            return status;
        }
    }
    memcpy(formed->v_star, view->v, (size_t)view->model->nv * sizeof *view->v);
    if (view->time > 0.005 && c->mistake == NAN_MATRIX) {
        formed->A[0].values[0] = NAN;
    }
    if (view->time > 0.005 && c->mistake == NAN_VELOCITY) {
        formed->v_star[0] = NAN;
    }
    return STN_OK;
}

static stn_status advance(void *self, const stn_integrator_view *view, void *state, const stn_problem *problem,
                          const double *v, const double *gamma, double *q_next, double *v_next, stn_error *err) {
    (void)self, (void)state, (void)problem, (void)gamma, (void)err;
    memcpy(v_next, v, (size_t)view->model->nv * sizeof *v);
    stn_integrate_q(view->model, view->q, v, view->dt, q_next);
    return STN_OK;
}

/// The step by itself, wrong.
static stn_status solve(void *self, const stn_integrator_view *view, void *state, const stn_problem *problem,
                        stn_solution *solution, double *reaction, stn_solve_info *info, stn_error *err) {
    (void)state, (void)problem, (void)reaction, (void)info, (void)err;
    const config *c = self;
    memcpy(solution->v, view->v, (size_t)view->model->nv * sizeof(double));
    memcpy(solution->v_position, view->v, (size_t)view->model->nv * sizeof(double));
    solution->v[0] = c->mistake == NAN_SOLUTION ? (double)NAN : 0.0;
    solution->v_position[0] = c->mistake == NAN_MOTION ? (double)NAN : 0.0;
    return c->mistake == SILENT_FAILURE ? STN_ERR_DIVERGED : STN_OK;
}

/// No force between two nodes but a wrong one.
static stn_status pull(const void *self, stn_element_batch *batch, stn_error *err) {
    const config *c = self;
    const size_t count = (size_t)batch->count;
    memset(batch->force, 0, 6 * count * sizeof(double));
    memset(batch->energy, 0, count * sizeof(double));
    if (batch->K == NULL) { // asked for its energy
        return STN_OK;
    }
    memset(batch->K, 0, 36 * count * sizeof(double));
    memset(batch->D, 0, 36 * count * sizeof(double));
    batch->force[6] = c->mistake == NAN_FORCE ? (double)NAN : 0.0;
    batch->D[36 + 35] = c->mistake == NAN_DAMPING ? (double)INFINITY : 0.0;
    batch->wrong = 1;
    return c->mistake == FAILING_ELEMENT ? stn_fail(err, STN_ERR_DIVERGED, "torn") : STN_OK;
}

static stn_status create(stn_context *context, const void *settings, void **self, stn_error *err) {
    (void)context, (void)settings, (void)self, (void)err;
    return STN_ERR_FILE;
}

static void destroy(void *self) {
    (void)self;
}

static const stn_contact_ops contact_ops = {.size = sizeof contact_ops, .handles = handles, .collide = collide};
static const stn_integrator_ops integrator_ops = {.size = sizeof integrator_ops, .form = form, .advance = advance};
static const stn_integrator_ops solving_ops = {
    .size = sizeof solving_ops, .form = form, .advance = advance, .solve = solve};
static const stn_element_ops element_ops = {.size = sizeof element_ops, .nodes_per_element = 2, .evaluate = pull};
static const stn_controller_ops controller_ops = {.size = sizeof controller_ops, .evaluate = evaluate};
static const stn_law_ops law_ops = {
    .size = sizeof law_ops, .coefficient_count = 2, .sets = 1u << STN_SET_CONE, .prepare = prepare, .evaluate = press};

#define WRONG(name, ...)                                                   \
    static const stn_plugin_desc name = {.size = sizeof name,              \
                                         .id = #name,                      \
                                         .version = "1",                   \
                                         .summary = "wrong",               \
                                         .config_size = sizeof(config),    \
                                         .params = params,                 \
                                         .param_count = STN_COUNT(params), \
                                         __VA_ARGS__}
WRONG(wrong_contact, .kind = STN_KIND_CONTACT, .ops.contact = &contact_ops);
WRONG(wrong_controller, .kind = STN_KIND_CONTROLLER, .ops.controller = &controller_ops);
WRONG(wrong_integrator, .kind = STN_KIND_INTEGRATOR, .ops.integrator = &integrator_ops);
WRONG(wrong_solving, .kind = STN_KIND_INTEGRATOR, .ops.integrator = &solving_ops);
WRONG(wrong_element, .kind = STN_KIND_ELEMENT, .ops.element = &element_ops);
WRONG(wrong_birth, .kind = STN_KIND_CONTROLLER, .create = create, .destroy = destroy,
      .ops.controller = &controller_ops);
WRONG(plain_law, .kind = STN_KIND_LAW, .ops.law = &law_ops);

static int set_up(void **state) {
    static const stn_plugin_desc *const all[] = {&wrong_contact, &wrong_controller, &wrong_integrator, &wrong_solving,
                                                 &wrong_element, &wrong_birth,      &plain_law};
    stn_error err;
    if (scene_setup(state) != 0) {
        return -1;
    }
    for (int32_t i = 0; i < STN_COUNT(all); i++) {
        assert_ok(stn_plugin_register(*state, all[i], &err), err);
    }
    return 0;
}

/// Steps until one fails, which must be within 100, keep the state and say `text`.
static void assert_fails_saying(stn_world *world, const char *text) {
    for (int32_t i = 0; i < 100; i++) {
        stn_error err = {STN_OK, "an older text"};
        uint64_t hash = stn_world_hash(world);
        double time = stn_world_state(world)->time;
        if (stn_world_step(world, &err) < 0) {
            if (strstr(err.text, text) == NULL) {
                fail_msg("%s", err.text);
            }
            assert_true(stn_world_hash(world) == hash && stn_world_state(world)->time == time);
            return;
        }
    }
    fail_msg("no step failed");
}

static void a_contact_model_that_answers_wrongly_is_named_and_leaves_the_state(void **state) {
    static const struct {
        mistake mistake;
        const char *text;
    } cases[] = {{EQUAL_IDS, "contact model wrong_contact: two constraints share the id"},
                 {NO_SUCH_BODY, "its support is a body or node that the model does not have"},
                 {NEGATIVE_FRICTION, "friction mu and mu2 must be >= 0"}};
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        stn_setting setting = {.name = "mistake", .form = STN_SETTING_NUMBER, .number = cases[i].mistake};
        stn_world_options options = stn_world_options_default();
        options.contact = (stn_plugin_choice){"wrong_contact", &setting, 1};
        stn_world *world = scene_world(*state, &options);
        scene_ground(world);
        scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.102));
        stn_error err;
        assert_ok(stn_world_compile(world, &err), err);
        assert_fails_saying(world, cases[i].text);
        stn_world_destroy(world);
    }
}

static void a_controller_that_answers_wrongly_is_named_and_leaves_the_state(void **state) {
    static const struct {
        mistake mistake;
        const char *text;
    } cases[] = {{NO_TEXT, "controller wrong_controller of cart: failed without saying why"},
                 {NO_SUCH_STATUS, "controller wrong_controller of cart: answered with status -77"},
                 {BAD_GAIN, "is -1e+09, must be finite and >= 0; driven by controller wrong_controller"},
                 {NAN_GAIN, "is nan, must be finite and >= 0; driven by controller wrong_controller"}};
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        stn_world_options options = stn_world_options_default();
        stn_world *world = scene_world(*state, &options);
        int32_t cart = scene_slider(world, "cart", NULL);
        scene_controller(world, cart, "wrong_controller", "mistake", (double)cases[i].mistake, NULL);
        assert_fails_saying(world, cases[i].text);
        stn_world_destroy(world);
    }
}

static void an_integrator_that_answers_wrongly_is_named(void **state) {
    static const struct {
        const char *id;
        mistake mistake;
        const char *text;
    } cases[] = {
        {"wrong_integrator", NAN_MATRIX, "integrator wrong_integrator: A of tree 0: value 0 is nan"},
        {"wrong_integrator", NAN_VELOCITY, "integrator wrong_integrator: free velocity of joint "},
        {"wrong_solving", NAN_SOLUTION, "integrator wrong_solving: v of tree (source 0), dof 0, came out as nan"},
        {"wrong_solving", NAN_MOTION, "integrator wrong_solving: v of tree (source 0), dof 0, came out as nan"},
        {"wrong_solving", SILENT_FAILURE, "integrator wrong_solving: "}};
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        stn_setting setting = {.name = "mistake", .form = STN_SETTING_NUMBER, .number = cases[i].mistake};
        stn_world_options options = stn_world_options_default();
        options.integrator = (stn_plugin_choice){cases[i].id, &setting, 1};
        stn_world *world = scene_world(*state, &options);
        stn_error err;
        scene_slider(world, "cart", NULL);
        assert_ok(stn_world_compile(world, &err), err);
        assert_fails_saying(world, cases[i].text);
        stn_world_destroy(world);
    }
}

static void an_element_that_breaks_numbers_is_named(void **state) {
    static const struct {
        mistake mistake;
        const char *text;
    } cases[] = {
        {NAN_FORCE,
         "element wrong_element: element 1 (counted from 0) of 'string/bars', nodes 1, 2: its force is not finite"},
        {NAN_DAMPING, "element wrong_element: element 1 (counted from 0) of 'string/bars', nodes 1, 2: its damping"},
        {FAILING_ELEMENT, "element wrong_element: element 1 (counted from 0) of 'string/bars', nodes 1, 2: torn"}};
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        stn_world_options options = stn_world_options_default();
        stn_setting setting = {.name = "mistake", .form = STN_SETTING_NUMBER, .number = cases[i].mistake};
        stn_error err;
        int32_t nodes = 0;
        stn_instance *element = NULL;
        stn_world *world = scene_world(*state, &options);
        static const double x[] = {0.0, 0.0, 1.0, 0.1, 0.0, 1.0, 0.2, 0.0, 1.0}, mass[] = {1.0, 1.0, 1.0};
        static const int32_t index[] = {0, 1, 1, 2};
        stn_nodes_spec spec = {
            .name = "string", .node_count = 3, .position = x, .mass = mass, .material = stn_material_unset()};
        assert_ok(stn_builder_add_nodes(stn_world_builder(world), &spec, &nodes, &err), err);
        assert_ok(stn_instance_create(*state, STN_KIND_ELEMENT, "wrong_element", &setting, 1, &element, &err), err);
        const stn_elements_spec bars = {.name = "bars", .nodes = nodes, .element_count = 2, .index = index};
        int32_t group = 0;
        assert_ok(stn_builder_add_elements(stn_world_builder(world), element, &bars, &group, &err), err);
        assert_ok(stn_world_compile(world, &err), err);
        assert_fails_saying(world, cases[i].text);
        stn_world_destroy(world);
    }
}

static void a_create_that_fails_silently_gets_a_text(void **state) {
    stn_instance *instance = NULL;
    stn_error err = {STN_OK, "an older text"};
    assert_int_equal(stn_instance_create(*state, STN_KIND_CONTROLLER, "wrong_birth", NULL, 0, &instance, &err),
                     STN_ERR_FILE);
    assert_non_null(strstr(err.text, "controller wrong_birth: failed without saying why"));
    assert_null(instance);
}

static void a_law_without_regularize_carries_rigid_contacts(void **state) {
    stn_world_options options = stn_world_options_default();
    options.law = (stn_plugin_choice){.id = "plain_law"};
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1 - 9.81 / (4.0 * spring))); // four springs carry m g
    scene_steps(world, 100);
    assert_near(scene_normal_impulse(stn_world_observation(world)), 9.81 * 0.002, 1e-8);
    assert_near(stn_world_state(world)->q[2], 0.1 - 9.81 / (4.0 * spring), 1e-9);
    stn_world_destroy(world);
}

/// sap, which does not say that it needs a law: its velocities do, as impulses follow from them by a law alone.
static void a_solver_of_velocities_alone_gets_the_law(void **state) {
    stn_error err;
    const stn_plugin_info *sap = NULL;
    assert_ok(stn_plugin_find(*state, STN_KIND_SOLVER, "sap", &sap, &err), err);
    stn_solver_ops ops = *sap->desc->ops.solver;
    stn_plugin_desc desc = *sap->desc;
    ops.needs &= ~(uint32_t)STN_NEEDS_LAW;
    ops.yields = STN_YIELDS_VELOCITY;
    desc.id = "taciturn";
    desc.ops.solver = &ops;
    assert_ok(stn_plugin_register(*state, &desc, &err), err);
    stn_world_options options = stn_world_options_default();
    options.solver.id = "taciturn";
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    assert_string_equal(stn_world_plugin(world, STN_KIND_LAW)->desc->id, "sap");
    scene_steps(world, 500);
    assert_near(scene_normal_impulse(stn_world_observation(world)), 9.81 * 0.002, 1e-6);
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_contact_model_that_answers_wrongly_is_named_and_leaves_the_state),
        cmocka_unit_test(a_controller_that_answers_wrongly_is_named_and_leaves_the_state),
        cmocka_unit_test(an_integrator_that_answers_wrongly_is_named),
        cmocka_unit_test(an_element_that_breaks_numbers_is_named),
        cmocka_unit_test(a_create_that_fails_silently_gets_a_text),
        cmocka_unit_test(a_law_without_regularize_carries_rigid_contacts),
        cmocka_unit_test(a_solver_of_velocities_alone_gets_the_law),
    };
    return cmocka_run_group_tests(tests, set_up, scene_teardown);
}
