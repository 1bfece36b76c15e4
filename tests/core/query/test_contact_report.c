// SPDX-License-Identifier: Apache-2.0
// What the core reports of contacts in C: against the solution itself, and at its borders. Physics:
// scenario/contact_force.lua.
#include "scenes.h"

/// A ball that slides and a cube that rests; the first contact is the ball's.
static stn_world *two_bodies(stn_context *context) {
    stn_world *world = scene_tight_world(context, 0.001, 1e-12);
    stn_error err;
    scene_ground(world);
    scene_ball(world, "ball", 2.0, 0.1, stn_vec3_make(0.0, 0.0, 0.1015)); // where it glides
    scene_cube(world, "cube", 1.0, stn_vec3_make(1.0, 0.0, 0.1));
    assert_ok(stn_world_compile(world, &err), err);
    const double v[12] = {1.2, -0.9, 0.0}; // 1.5 m/s
    assert_ok(stn_world_set_v(world, v, &err), err);
    return world;
}

static void assert_nothing(const stn_contact_report *r) {
    assert_int_equal(r->state, STN_CONTACT_OPEN);
    assert_near(stn_vec3_norm(r->normal_part) + stn_vec3_norm(r->friction_part), 0.0, 0.0);
    assert_near(r->slip_speed + r->separation_speed + r->glide_gap, 0.0, 0.0);
}

static void a_report_is_the_solution_in_world_axes(void **state) {
    stn_world *world = two_bodies(*state);
    scene_steps(world, 20);
    const stn_observation *o = stn_world_observation(world);
    assert_string_equal(o->law->id, "sap");
    assert_int_equal(o->contacts->count, 5);
    int32_t slipping = 0;
    for (int32_t i = 0; i < 5; i++) {
        stn_contact_report r;
        stn_observation_contact(o, i, &r);
        const stn_contact *c = &o->contacts->contacts[i];
        const double *gamma = &o->gamma[o->problem->constraints[i].row];
        assert_near(stn_vec3_dot(r.normal_part, c->normal), gamma[2] / o->dt, 1e-12);
        assert_near(stn_vec3_dot(r.friction_part, c->normal), 0.0, 1e-12);
        assert_near(stn_vec3_norm(r.friction_part), hypot(gamma[0], gamma[1]) / o->dt, 1e-12);
        slipping += r.state == STN_CONTACT_SLIP;
        if (r.state == STN_CONTACT_SLIP) { // friction against the velocity of the ball midway in the gap below it
            double arm = 0.1 + 0.5 * c->phi0;
            stn_vec3 v = stn_point_velocity(o->kinematics, 1, stn_vec3_make(o->q[0], o->q[1], o->q[2] - arm));
            assert_near(r.slip_speed, hypot(v.x, v.y), 1e-9);
            assert_near(stn_vec3_dot(r.friction_part, v), -stn_vec3_norm(r.friction_part) * hypot(v.x, v.y), 1e-9);
            assert_near(r.glide_gap, 0.5 * 0.002 * r.slip_speed, 1e-15); // mu (dt + tau_d) |v_t|
        }
    }
    assert_int_equal(slipping, 1);
    stn_world_destroy(world);
}

/// Operations of a plugin that was built before laws told of slip end before it.
static void a_law_that_tells_no_slip_leaves_it_to_the_cone(void **state) {
    stn_world *world = two_bodies(*state);
    scene_steps(world, 20);
    stn_observation seen = *stn_world_observation(world);
    stn_law_ops before = *seen.law->ops, without = before;
    before.size = (uint32_t)offsetof(stn_law_ops, slip);
    without.slip = NULL;
    const stn_law laws[] = {{.ops = &before, .self = seen.law->self, .id = "before"},
                            {.ops = &without, .self = seen.law->self, .id = "without"}};
    for (int32_t k = 0; k < 3; k++) {
        int32_t count[3] = {0};
        seen.law = k < 2 ? &laws[k] : NULL;
        for (int32_t i = 0; i < seen.contacts->count; i++) {
            stn_contact_report r;
            stn_observation_contact(&seen, i, &r);
            count[r.state]++;
            assert_near(r.glide_gap, 0.0, 0.0);
        }
        assert_int_equal(count[STN_CONTACT_STICK], 4);
        assert_int_equal(count[STN_CONTACT_SLIP], 1);
    }
    stn_world_destroy(world);
}

static void what_is_not_there_is_open_and_zero(void **state) {
    stn_world *world = two_bodies(*state);
    const int32_t numbers[] = {-1, 0, 5, INT32_MAX};
    for (int32_t step = 0; step < 3; step++) { // before the first step, after one, after a reset
        for (int32_t i = step == 1 ? 2 : 0; i < STN_COUNT(numbers); i++) {
            stn_contact_report r;
            stn_observation_contact(stn_world_observation(world), numbers[i], &r);
            assert_nothing(&r);
        }
        if (step == 0) {
            assert_null(stn_world_observation(world)->law);
            scene_steps(world, 1);
        } else {
            stn_world_reset(world);
        }
    }
    assert_string_equal(stn_contact_state_name(STN_CONTACT_STICK), "stick");
    assert_null(stn_contact_state_name((stn_contact_state)3));
    assert_null(stn_contact_state_name((stn_contact_state)-1));
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_is_the_solution_in_world_axes),
        cmocka_unit_test(a_law_that_tells_no_slip_leaves_it_to_the_cone),
        cmocka_unit_test(what_is_not_there_is_open_and_zero),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
