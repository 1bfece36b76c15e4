// SPDX-License-Identifier: Apache-2.0
// Files in MuJoCo's XML that are good, though not what most look like: what they say must come out as MuJoCo reads it.
#include "mjcf_fixture.h"

static const stn_joint *joint_named(const stn_model *m, const char *name) {
    for (int32_t i = 0; i < m->joint_count; i++) {
        if (strcmp(m->joints[i].name, name) == 0) {
            return &m->joints[i];
        }
    }
    fail_msg("no joint '%s'", name);
    return NULL;
}

static void a_range_of_zeros_takes_back_that_of_a_default(void **state) {
    fixture *f = *state;
    const stn_model *m =
        good_mjcf(f, MUJOCO("<compiler angle='radian'/><default><joint range='-1 1' actuatorfrcrange='-2 2'/><motor "
                            "ctrlrange='-3 3'/></default>" WORLD(
                                "<body>" SOLID "<joint name='j'/><joint name='k' range='0 0' actuatorfrcrange='0 "
                                "0.0'/></body>") "<actuator><motor joint='k' ctrlrange='0 0'/></actuator>"));
    assert_float_equal(joint_named(m, "j")->upper, 1.0, 0.0);
    assert_float_equal(joint_named(m, "j")->effort, 2.0, 0.0);
    assert_true(isinf(joint_named(m, "k")->upper));
    assert_true(isinf(joint_named(m, "k")->effort));
    assert_int_equal(f->list.warning_count, 0);
}

/// A link of that name would be the world itself to whoever names it.
static void a_site_called_world_is_no_link(void **state) {
    fixture *f = *state;
    const stn_model *m = good_mjcf(f, MUJOCO(WORLD("<body name='a'>" SOLID "\n<site name='world'/></body>")));
    expect_finding(f, STN_SEVERITY_NOTE, "site", 3, "site world", "no link");
    assert_int_equal(m->link_count, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_range_of_zeros_takes_back_that_of_a_default, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_site_called_world_is_no_link, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
