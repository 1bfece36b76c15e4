// SPDX-License-Identifier: Apache-2.0
// Constraints that read the contacts on their bodies and emit rows beside them.
#include "scenes.h"

#include <string.h>

typedef enum mistake { NO_MISTAKE, NO_SUCH_CONTACT, TOO_MANY_ROWS, SAME_BLOCK, NEGATIVE_ROWS, MISTAKE_COUNT } mistake;

/// What a constraint saw in the last step.
typedef struct seen {
    int32_t contacts, wrong;
    double force, dt;
} seen;

typedef struct config {
    int32_t mistake;
} config;

static seen last; // of the test's one constraint

static const stn_param params[] = {STN_PARAM_INT(config, mistake, "1", 0.0, 0.0, 20.0, "which mistake to make")};

static int32_t row_count(const void *self, const stn_model_constraint *described) {
    (void)self, (void)described;
    return 0;
}

static int32_t contact_rows(const void *self, const stn_model_constraint *described) {
    (void)described;
    return ((const config *)self)->mistake == NEGATIVE_ROWS ? -1 : 1;
}

/// A torsional damper beside every contact.
static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    (void)state;
    const mistake m = (mistake)((const config *)self)->mistake;
    const int32_t body = view->described->ends[0].body;
    if (view->contact_count > 0) { // a look between steps has none
        last = (seen){.contacts = view->contact_count, .dt = view->dt};
    }
    for (int32_t i = 0; i < view->contact_count; i++) {
        const stn_constraint_contact *c = &view->contacts[i];
        last.force += c->normal_force;
        last.wrong += (c->contact->a.body != body && c->contact->b.body != body) ||
                      (i > 0 && c->index <= view->contacts[i - 1].index);
        const int32_t blocks = m == TOO_MANY_ROWS || m == SAME_BLOCK ? 2 : 1;
        for (int32_t k = 0; k < blocks && (m != SAME_BLOCK || i == 0); k++) {
            stn_row_block block = stn_row_block_default(m == SAME_BLOCK ? 0 : k, 1);
            block.contact = m == NO_SUCH_CONTACT ? 1000 : c->index;
            block.stiffness = 1.0;
            block.relaxation_time = 1.0;
            stn_status status = stn_rows_begin(rows, &block, err);
            if (status != STN_OK) {
                return status;
            }
            stn_rows_add_rotation(rows, 0, c->contact->a.body, stn_vec3_neg(c->contact->normal));
            stn_rows_add_rotation(rows, 0, c->contact->b.body, c->contact->normal);
        }
    }
    return STN_OK;
}

static const stn_constraint_ops ops = {
    .size = sizeof ops, .row_count = row_count, .emit = emit, .contact_rows = contact_rows};
static const stn_plugin_desc beside = {.size = sizeof beside,
                                       .kind = STN_KIND_CONSTRAINT,
                                       .id = "beside",
                                       .version = "1",
                                       .summary = "rows beside contacts",
                                       .config_size = sizeof(config),
                                       .params = params,
                                       .param_count = STN_COUNT(params),
                                       .ops.constraint = &ops};

static int set_up(void **state) {
    stn_error err;
    last = (seen){0};
    if (scene_setup(state) != 0) {
        return -1;
    }
    assert_ok(stn_plugin_register(*state, &beside, &err), err);
    return 0;
}

/// A cube of 1 kg and a ball of 2 kg on the ground, apart; the constraint is on the cube.
static stn_world *make_world(stn_context *context, mistake m) {
    stn_world *world = scene_tight_world(context, 2e-3, 1e-10);
    stn_instance *instance = NULL;
    stn_error err;
    int32_t number = -1;
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    scene_ball(world, "ball", 2.0, 0.1, stn_vec3_make(1.0, 0.0, 0.1));
    const stn_setting setting = {.name = "mistake", .form = STN_SETTING_NUMBER, .number = m};
    assert_ok(stn_instance_create(context, STN_KIND_CONSTRAINT, "beside", &setting, 1, &instance, &err), err);
    const stn_constraint_end_spec end = {.link = 0, .pose = stn_pose_identity(), .joint = -1, .factor = 1.0};
    const stn_constraint_spec spec = {.name = "rub", .end_count = 1, .ends = &end};
    assert_ok(stn_builder_add_constraint(stn_world_builder(world), instance, &spec, &number, &err), err);
    return world;
}

static void it_sees_the_contacts_of_its_bodies_with_the_force_of_the_step_before(void **state) {
    stn_world *world = make_world(*state, NO_MISTAKE);
    stn_error err;
    scene_steps(world, 1);
    assert_int_equal(last.contacts, 4); // of five
    assert_int_equal(last.wrong, 0);
    assert_near(last.force, 0.0, 0.0);
    for (int32_t i = 0; i < 200; i++) {
        double impulse = 0.0;
        const stn_observation *o = stn_world_observation(world);
        for (int32_t k = 0; k < o->contacts->count; k++) {
            const stn_constraint *c = &o->problem->constraints[k];
            impulse += c->body[0] == 1 || c->body[1] == 1 ? o->gamma[c->row + 2] : 0.0;
        }
        scene_steps(world, 1);
        assert_near(last.force, impulse / last.dt, 1e-9);
    }
    assert_near(last.force, 9.81, 1e-8);
    assert_ok(stn_world_set_dt(world, 1e-3, &err), err); // impulses that are remembered go with dt
    scene_steps(world, 1);
    assert_near(last.dt, 1e-3, 0.0);
    assert_near(last.force, 9.81, 1e-8);
    stn_world_destroy(world);
}

static void no_contact_no_rows(void **state) {
    stn_world *world = make_world(*state, NO_MISTAKE);
    stn_error err;
    scene_steps(world, 5);
    assert_int_equal(stn_world_observation(world)->problem->constraint_count, 5 + 4);
    stn_pose up = stn_pose_identity();
    up.position = stn_vec3_make(0.0, 0.0, 5.0);
    assert_ok(stn_world_set_body_pose(world, 1, &up, &err), err);
    last = (seen){0};
    scene_steps(world, 1);
    assert_int_equal(last.contacts, 0);
    assert_int_equal(stn_world_observation(world)->problem->constraint_count, 1); // the ball's contact
    stn_world_destroy(world);
}

static void mistakes_are_named(void **state) {
    static const char *const texts[MISTAKE_COUNT] = {
        [NO_SUCH_CONTACT] = "constraint beside 'rub': contact = 1000, but the step has 5",
        [TOO_MANY_ROWS] = "constraint beside 'rub': a block of 1 rows",
        [SAME_BLOCK] = "constraint beside 'rub': it emitted two blocks with the same part",
        [NEGATIVE_ROWS] = "constraint beside 'rub': contact_rows gave -1, must be 0 to 100"};
    for (int32_t m = NO_MISTAKE + 1; m < MISTAKE_COUNT; m++) {
        stn_world *world = make_world(*state, (mistake)m);
        stn_error err = {STN_OK, ""};
        assert_true(stn_world_step(world, &err) < 0);
        if (strstr(err.text, texts[m]) == NULL) {
            fail_msg("%s", err.text);
        }
        stn_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_sees_the_contacts_of_its_bodies_with_the_force_of_the_step_before),
        cmocka_unit_test(no_contact_no_rows),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, scene_teardown);
}
