// SPDX-License-Identifier: Apache-2.0
// Broken, mutilated and oversized SDFormat files, and memory that runs out: an error or a robot, never a crash, a leak
// or a hang.
#include "robot_hostile.h"
#include "sdf_fixture.h"

static const char valid[] =
    "<?xml version='1.0'?>\n<sdf version='1.11'><world name='w'>\n"
    "<model name='m' placement_frame='f' canonical_link='b'><pose degrees='true'>1 2 3 4 5 6</pose>\n"
    "<frame name='f' attached_to='b'><pose relative_to='j'>0 0 1 0 0 0</pose></frame>\n"
    "<link name='a'><inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
    "<visual name='v'><geometry><mesh><uri>m.stl</uri><scale>1 1 -1</scale></mesh></geometry>"
    "<material><diffuse>1 0 0 1</diffuse></material></visual></link>\n"
    "<link name='b'><pose relative_to='a'>1 0 0 0 0 0</pose><inertial><pose>0 0 1 0 1 0</pose><mass>2</mass>"
    "<inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz><ixy>0.1</ixy></inertia></inertial><odd/>"
    "<collision name='c'><pose relative_to='f'>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry>"
    "<surface><friction><ode><mu>0.5</mu></ode></friction><contact><collide_bitmask>3</collide_bitmask></contact>"
    "</surface></collision></link>\n"
    "<joint name='j' type='revolute2'><parent>a</parent><child>b</child><pose>0 1 0 0 0 0</pose>"
    "<axis><xyz expressed_in='a'>0 0 2</xyz><limit><lower>-1</lower><upper>inf</upper></limit>"
    "<mimic joint='k'><multiplier>2</multiplier></mimic></axis><axis2><xyz>1 0 0</xyz></axis2></joint>\n"
    "<model name='in'><link name='c'/></model><joint name='k' type='screw'><parent>f</parent><child>in::c</child>"
    "<axis><xyz>1 0 0</xyz></axis><thread_pitch>2</thread_pitch></joint>\n"
    "<drake:collision_filter_group name='g'><drake:member>a</drake:member><drake:member>in::c</drake:member>"
    "<drake:ignored_collision_filter_group>g</drake:ignored_collision_filter_group></drake:collision_filter_group>\n"
    "</model><include merge='true'><uri>part.sdf</uri><name>n</name></include></world></sdf>";

static void write_parts(fixture *f) {
    write_mesh(f, "m.stl");
    write_text(f, "part.sdf", SDF("1.6", MODEL("p", "<static>1</static><link name='d'/>")));
}

static void valid_file_loads(void **state) {
    fixture *f = *state;
    write_parts(f);
    good_model(f, valid);
    assert_int_equal(f->model->link_count, 1 + 4 + 1 + 2); // the world, links, the frame, links of joint j
    assert_int_equal(f->model->geometry_count, 2);
}

static void file_cut_at_any_byte_is_an_error(void **state) {
    fixture *f = *state;
    write_parts(f);
    expect_cuts_refused(f, valid, sizeof valid - 1);
}

static void mutated_file_is_an_error_or_a_robot(void **state) {
    fixture *f = *state;
    write_parts(f);
    expect_mutants_judged(f, valid, 2000);
}

static void every_failed_allocation_is_said_and_leaks_nothing(void **state) {
    fixture *f = *state;
    write_parts(f);
    expect_no_leaks_without_memory(f, valid);
}

static void long_names_do_not_multiply(void **state) {
    fixture *f = *state;
    text t = {0};
    append(&t, "<sdf version='1.9'>");
    for (int32_t i = 0; i < 90; i++) {
        append(&t, "<model name='%0700d'>", (int)i);
    }
    for (int32_t i = 0; i < 10000; i++) {
        append(&t, "<link name='%d'/>", (int)i);
    }
    for (int32_t i = 0; i < 90; i++) {
        append(&t, "</model>");
    }
    append(&t, "</sdf>");
    load_and_free(f, &t);
    expect_finding(f, STN_SEVERITY_ERROR, "size", 1, NULL, "at most 1000 bytes");
}

// Each of these would take minutes if the work grew with the square of the file; the test has a time limit.

static void long_chains_of_frames_are_resolved_quickly(void **state) {
    fixture *f = *state;
    for (int32_t closed = 0; closed < 2; closed++) {
        text t = {0};
        append(&t, "<sdf version='1.9'><model name='m'>" LINK("a", ""));
        for (int32_t i = 0; i < 50000; i++) {
            append(&t, "<frame name='%d' attached_to='%d'/>", (int)i, (int)i + 1);
        }
        append(&t, "<frame name='50000' attached_to='%s'/></model></sdf>", closed ? "0" : "a");
        load_and_free(f, &t);
        assert_int_equal(f->list.error_count, closed);
    }
    expect_finding(f, STN_SEVERITY_ERROR, "frame_cycle", 0, NULL, "attached_to leads in a circle");
}

static void many_names_that_exist_nowhere_are_said_quickly(void **state) {
    fixture *f = *state;
    text t = {0};
    append(&t, "<sdf version='1.9'><model name='m'><link name='a'/>");
    for (int32_t i = 0; i < 15000; i++) {
        append(&t, "<joint name='j%d' type='x'><parent>x%d</parent><child>y::%d</child></joint>", (int)i, (int)i,
               (int)i);
        append(&t, "<frame name='f%d'><pose relative_to='z%d'/></frame>", (int)i, (int)i);
    }
    append(&t, "</model></sdf>");
    load_and_free(f, &t);
    assert_int_equal(f->list.error_count, 30000);
}

static void many_gearboxes_are_read_quickly(void **state) {
    fixture *f = *state;
    text t = {0};
    append(&t, "<sdf version='1.9'><model name='m'><link name='0'/>");
    for (int32_t i = 1; i < 14000; i++) {
        append(&t, "<link name='%d'/><joint name='j%d' type='continuous'><parent>0</parent><child>%d</child>", (int)i,
               (int)i, (int)i);
        append(&t, "<axis><xyz>1 0 0</xyz></axis></joint><joint name='g%d' type='gearbox'><parent>1</parent>", (int)i);
        append(&t, "<child>%d</child><gearbox_reference_body>0</gearbox_reference_body></joint>", (int)i);
    }
    append(&t, "</model></sdf>");
    load_and_free(f, &t);
    assert_int_equal(f->list.error_count, 0);
}

static void many_names_through_many_models_are_found_quickly(void **state) {
    fixture *f = *state;
    text t = {0};
    append(&t, "<sdf version='1.9'><model name='m'>");
    for (int32_t i = 0; i < 80; i++) {
        append(&t, "<model name='a'><link name='l'/>");
    }
    for (int32_t i = 0; i < 80; i++) {
        append(&t, "</model>");
    }
    for (int32_t i = 0; i < 20000; i++) {
        append(&t, "<frame name='%d' attached_to='", (int)i);
        for (int32_t k = 0; k < 80; k++) {
            append(&t, "a::");
        }
        append(&t, "l'/>");
    }
    append(&t, "</model></sdf>");
    load_and_free(f, &t);
    assert_int_equal(f->list.error_count, 0);
}

static void poses_that_no_number_holds_are_errors_with_their_line(void **state) {
    fixture *f = *state;
    static const char *const bodies[] = {
        LINK("a", POSE("1e308 0 0 0 0 0")) LINK("b", POSE_IN("a", "1e308 0 0 1 1 1")),
        LINK("a", POSE("1e200 0 0 0 0 0")),
        LINK("a", "") FRAME("f", POSE("0 -1e308 0 0 0 0")) FRAME("g", POSE_IN("f", "0 -1e308 0 0 0 0")),
    };
    static const int32_t lines[] = {3, 3, 4};
    for (int32_t i = 0; i < STN_COUNT(bodies); i++) {
        text t = {0};
        append(&t, "<sdf version='1.9'>\n<model name='m'>\n%s</model></sdf>", bodies[i]);
        load_and_free(f, &t);
        expect_finding(f, STN_SEVERITY_ERROR, "pose", lines[i], NULL, "write smaller numbers");
    }
}

static void files_together_are_bounded(void **state) {
    fixture *f = *state;
    size_t size = 5 << 20;
    char *part = malloc(size + 200);
    assert_non_null(part);
    memset(part, ' ', size);
    strcpy(part + size, SDF("1.9", MODEL("p", "<link name='d'/>")));
    write_text(f, "part.sdf", part);
    free(part);
    text t = {0};
    append(&t, "<sdf version='1.9'><world name='w'>");
    for (int32_t i = 0; i < 20; i++) {
        append(&t, "<include><uri>part.sdf</uri><name>n%d</name></include>", (int)i);
    }
    append(&t, "</world></sdf>");
    load_and_free(f, &t);
    expect_finding(f, STN_SEVERITY_ERROR, "size", 0, NULL, "bytes together");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(valid_file_loads, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(file_cut_at_any_byte_is_an_error, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(mutated_file_is_an_error_or_a_robot, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(every_failed_allocation_is_said_and_leaks_nothing, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(long_names_do_not_multiply, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(long_chains_of_frames_are_resolved_quickly, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(many_names_that_exist_nowhere_are_said_quickly, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(many_gearboxes_are_read_quickly, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(many_names_through_many_models_are_found_quickly, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(poses_that_no_number_holds_are_errors_with_their_line, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(files_together_are_bounded, set_up_sdf, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
