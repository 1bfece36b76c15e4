// SPDX-License-Identifier: Apache-2.0
// Where a root stands: what a file proposes, what is set over it, and what an attachment makes of it.
#include "compile_fixture.h"

static void propose(fixture *f, int32_t robot, stn_pose base, bool fixed) {
    stn_error err;
    assert_ok(stn_builder_propose_base(f->builder, robot, &base, fixed, &err), err);
}

static void expect_base(const fixture *f, int32_t robot, double x, bool fixed) {
    stn_pose base;
    bool welded = !fixed;
    stn_builder_get_base(f->builder, robot, &base, &welded);
    assert_near(base.position.x, x, 0.0);
    assert_int_equal(welded, fixed);
}

static int32_t add_body(fixture *f, const char *name) {
    int32_t robot = begin_robot(f->builder, name);
    add_link(f->builder, "body", one_kg());
    return robot;
}

static void a_base_that_is_set_wins_whenever_the_file_proposes_one(void **state) {
    fixture *f = *state;
    int32_t plain = add_body(f, "plain"), proposed = add_body(f, "proposed");
    int32_t before = add_body(f, "before"), after = add_body(f, "after");
    expect_base(f, plain, 0.0, false);
    propose(f, proposed, shift(1.0, 0.0, 0.0), true);
    propose(f, proposed, shift(2.0, 0.0, 0.0), true); // the last one counts
    expect_base(f, proposed, 2.0, true);
    set_base(f->builder, before, shift(3.0, 0.0, 0.0), false);
    propose(f, before, shift(4.0, 0.0, 0.0), true);
    expect_base(f, before, 3.0, false);
    propose(f, after, shift(5.0, 0.0, 0.0), true);
    set_base(f->builder, after, shift(6.0, 0.0, 0.0), false);
    expect_base(f, after, 6.0, false);
    expect_base(f, 4, 0.0, false);
    expect_base(f, -1, 0.0, false);
    stn_model *m = compile_model(f->builder);
    assert_true(m->groups[proposed].fixed && !m->groups[plain].fixed && !m->groups[before].fixed);
    assert_near(m->links[m->groups[proposed].root_link].pose.position.x, 2.0, 0.0);
    assert_int_equal(m->nv, 18);
    assert_near(m->q0[0], 0.0, 0.0);
    assert_near(m->q0[7], 3.0, 0.0);
    assert_near(m->q0[14], 6.0, 0.0);
    stn_model_destroy(m);
}

static void a_floating_root_starts_at_the_proposed_pose(void **state) {
    fixture *f = *state;
    int32_t robot = add_body(f, "drone");
    propose(f, robot, shift(0.0, 0.0, 2.5), false);
    stn_model *m = compile_model(f->builder);
    assert_near(m->q0[2], 2.5, 0.0);
    assert_near(m->groups[robot].base.position.z, 2.5, 0.0);
    stn_model_destroy(m);
}

/// Without its carrier the proposal would weld the hand 9 m away.
static void an_attached_robot_ignores_what_its_file_proposed(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_pose mount = shift(0.0, 0.5, 0.0), elsewhere = shift(1.0, 0.0, 0.0);
    int32_t arm = add_body(f, "arm"), hand = add_body(f, "hand"), late = add_body(f, "late"), joined;
    propose(f, hand, shift(9.0, 0.0, 0.0), true);
    assert_ok(stn_builder_attach(f->builder, hand, 0, &mount, &err), err);
    assert_ok(stn_builder_attach(f->builder, late, 0, &mount, &err), err);
    propose(f, late, shift(9.0, 0.0, 0.0), true); // not refused either
    expect_error(stn_builder_set_base(f->builder, hand, &elsewhere, true, &err), &err,
                 WORDS("'hand'", "no base of its own"));
    expect_base(f, hand, 0.0, false);
    joined = begin_robot(f->builder, "joined"); // hangs on the arm by a joint
    int32_t palm = add_link(f->builder, "palm", one_kg());
    add_joint(f->builder, "wrist", STN_JOINT_REVOLUTE, 0, palm, mount, Z);
    propose(f, joined, shift(9.0, 0.0, 0.0), true);
    stn_model *m = compile_model(f->builder);
    assert_int_equal(m->nv, 7);
    const int32_t hung[] = {hand, late, joined};
    for (int32_t i = 0; i < STN_COUNT(hung); i++) {
        assert_near(m->groups[hung[i]].base.position.x, 0.0, 0.0);
        assert_false(m->groups[hung[i]].fixed);
    }
    assert_int_equal(m->links[1].body, m->links[0].body);
    assert_near(m->links[1].pose.position.y, 0.5, 0.0);
    assert_false(m->groups[arm].fixed);
    stn_model_destroy(m);
}

static void bad_proposals_are_refused(void **state) {
    fixture *f = *state;
    stn_error err;
    int32_t robot = add_body(f, "arm");
    stn_pose bad = shift((double)NAN, 0.0, 0.0);
    expect_error(stn_builder_propose_base(f->builder, robot, &bad, true, &err), &err,
                 WORDS("group 'arm'", "base", "finite"));
    expect_error(stn_builder_propose_base(f->builder, 1, &bad, true, &err), &err, WORDS("no group 1"));
    expect_base(f, robot, 0.0, false);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_base_that_is_set_wins_whenever_the_file_proposes_one),
        TEST(a_floating_root_starts_at_the_proposed_pose),
        TEST(an_attached_robot_ignores_what_its_file_proposed),
        TEST(bad_proposals_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
