// SPDX-License-Identifier: Apache-2.0
// <include> of SDFormat: which file an address means, and what it may change of the model that it brings.
#include "sdf_fixture.h"

#define TURN               "0 0 1.5707963267948966"
#define INCLUDE(uri, more) "<include><uri>" uri "</uri>" more "</include>"
#define PART               MODEL("part", POSE("0 0 1 0 0 0") LINK("l", POSE("1 0 0 0 0 0")))

static void file_beside_is_a_model_inside(void **state) {
    fixture *f = *state;
    write_text(f, "parts/part.sdf", SDF("1.6", PART));
    good_model(f, ROBOT(LINK("a", "") INCLUDE("parts/part.sdf", "") JOINT("j", "fixed", "a", "part::l", "")));
    expect_pose(f, "part::l", NULL, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0); // its own pose counts
    assert_int_equal(f->list.count, 0);
    good_model(f, ROBOT(LINK("a", "") INCLUDE("parts/part.sdf", "<name>hand</name>" POSE("5 0 0 " TURN))
                            INCLUDE("parts/part.sdf", "<name>foot</name>" POSE_IN("hand", "0 0 2 0 0 0"))
                                JOINT("j", "fixed", "a", "hand::l", "") JOINT("k", "fixed", "a", "foot::l", "")));
    expect_pose(f, "hand::l", NULL, 5.0, 1.0, 0.0, 0.0, 0.0, STN_PI / 2.0);
    expect_pose(f, "foot::l", NULL, 5.0, 1.0, 2.0, 0.0, 0.0, STN_PI / 2.0);
}

static void folder_names_its_newest_known_file(void **state) {
    fixture *f = *state;
    write_text(f, "models/part/model.config",
               "<model><name>Part</name><sdf version='1.4'>old.sdf</sdf>"
               "<sdf version='1.10'> new.sdf </sdf><sdf version='1.2'>older.sdf</sdf>"
               "<sdf version='2.0'>future.sdf</sdf></model>");
    write_text(f, "models/part/new.sdf", SDF("1.10", PART));
    write_text(f, "package.xml", "<package><name>pkg</name></package>");
    const char *const addresses[] = {"model://part", "models/part", "models/part/", "package://pkg/models/part",
                                     "model://part/new.sdf"};
    for (int32_t i = 0; i < STN_COUNT(addresses); i++) {
        char text[512];
        snprintf(text, sizeof text, "<sdf version='1.9'><world name='w'><include><uri>%s</uri></include></world></sdf>",
                 addresses[i]);
        const stn_model *m = good_model(f, text);
        expect_pose(f, "l", NULL, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0);
        assert_string_equal(m->groups[0].name, "part");
    }
}

static void folders_of_gazebos_environment_are_searched(void **state) {
    static const char *const names[] = {"GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH", "SDF_PATH"};
    fixture *f = *state;
    const char *text = SDF("1.9", "<world name='w'>" INCLUDE("model://part_elsewhere", "") "</world>");
    char place[128];
    write_text(f, "far/away/part_elsewhere/model.config", "<model><sdf version='1.6'>p.sdf</sdf></model>");
    write_text(f, "far/away/part_elsewhere/p.sdf", SDF("1.6", PART));
    snprintf(place, sizeof place, "/nonexistent:%s/far/away", f->folder);
    f->file = "a/b/c/robot.sdf";
    load_text(f, text);
    expect_finding(f, STN_SEVERITY_ERROR, "include", 2, "include model://part_elsewhere", "GZ_SIM_RESOURCE_PATH");
    for (int32_t i = 0; i < STN_COUNT(names); i++) {
        setenv(names[i], place, 1);
        good_model(f, text);
        unsetenv(names[i]);
    }
}

static void names_in_an_included_file_start_from_it(void **state) {
    fixture *f = *state;
    write_text(f, "inner/deep/part.sdf",
               SDF("1.9", MODEL("part", LINK("l", SHAPE("collision", "c", "", "<mesh><uri>m.stl</uri></mesh>"))
                                            INCLUDE("../other.sdf", "") JOINT("j", "fixed", "l", "other::l", ""))));
    write_mesh(f, "inner/deep/m.stl");
    write_text(f, "inner/other.sdf", SDF("1.9", MODEL("other", LINK("l", ""))));
    good_model(f, ROBOT(INCLUDE("inner/deep/part.sdf", "")
                            LINK("a", SHAPE("visual", "v", "", "<mesh><uri>inner/deep/m.stl</uri></mesh>"))
                                JOINT("j", "fixed", "a", "part::l", "")));
    assert_non_null(geometry_of(f, "c")->shape.mesh);
    assert_string_equal(link_of(f, "part::other::l")->name, "part::other::l");
    assert_int_equal(f->list.count, 0);
}

static void static_of_the_include_wins(void **state) {
    fixture *f = *state;
    write_text(f, "part.sdf", SDF("1.9", MODEL("part", "<static>1</static>" LINK("l", ""))));
    const char *text = SDF("1.9", "<world name='w'>" INCLUDE("part.sdf", "<static>0</static>") "</world>");
    assert_int_equal(good_model(f, text)->nv, 6);
    text = SDF("1.9", "<world name='w'>" INCLUDE("part.sdf", "") "</world>");
    assert_int_equal(good_model(f, text)->nv, 0);
}

static void placement_frame_of_the_include_is_placed(void **state) {
    fixture *f = *state;
    write_text(f, "part.sdf", SDF("1.9", PART));
    good_model(f, SDF("1.9", "<world name='w'>" INCLUDE(
                                 "part.sdf", POSE("7 0 0 0 0 0") "<placement_frame>l</placement_frame>") "</world>"));
    expect_pose(f, "l", NULL, 7.0, 0.0, 0.0, 0.0, 0.0, 0.0);
}

static void merged_model_stands_in_its_parent(void **state) {
    fixture *f = *state;
    write_text(f, "part.sdf",
               SDF("1.9", MODEL("part", POSE("1 0 0 0 0 0") LINK("l", POSE("1 0 0 0 0 0"))
                                            LINK("k", POSE_IN("__model__", "0 1 0 0 0 0"))
                                                JOINT("lk", "revolute", "l", "k", AXIS("0 0 1", "")) FRAME("f", ""))));
    good_model(f, ROBOT(LINK("a", "") "<include merge='true'><uri>part.sdf</uri>" POSE(
                      "0 0 3 " TURN) "</include>" JOINT("j", "fixed", "a", "l", "")));
    expect_pose(f, "l", NULL, 0.0, 1.0, 3.0, 0.0, 0.0, STN_PI / 2.0);
    expect_pose(f, "k", NULL, -1.0, 0.0, 3.0, 0.0, 0.0, STN_PI / 2.0);
    expect_pose(f, "f", NULL, 0.0, 0.0, 3.0, 0.0, 0.0, STN_PI / 2.0);
    assert_int_equal(joint_of(f, "lk")->type, STN_JOINT_REVOLUTE);
    assert_int_equal(f->list.count, 0);
    load_text(f, ROBOT(LINK("l", "") "<include merge='true'><uri>part.sdf</uri></include>"));
    expect_finding(f, STN_SEVERITY_ERROR, "duplicate_link", 0, NULL, "line 3 has a link of the same name");
}

/// The error has the file and line of where it stands.
static void faults_of_an_included_file_are_said_there(void **state) {
    fixture *f = *state;
    write_text(f, "part.sdf", SDF("1.9", MODEL("part", "\n\n" LINK("l", POSE("1 2")))));
    load_text(f, SDF("1.9", "<world name='w'>" INCLUDE("part.sdf", "") "</world>"));
    const stn_diagnostic *d = find_finding(f, STN_SEVERITY_ERROR, "number", 5, "link l", "'1 2'");
    assert_non_null(d);
    assert_non_null(strstr(d->file, "part.sdf"));
    assert_int_equal(f->list.error_count, 1);
}

static void file_that_brings_no_model_is_refused(void **state) {
    static const struct {
        const char *file, *text, *part;
    } cases[] = {{"x.sdf", "<sdf version='1.9'/>", "has no <model>"},
                 {"x.sdf", SDF("1.9", PART MODEL("two", "")), "a second <model>"},
                 {"x.urdf", "<robot name='r'/>", "root element <robot>"},
                 {"x/model.config", "<model/>", "no <sdf version"},
                 {"x/model.config", "<model><sdf version='1.9'>../../../etc/passwd</sdf></model>", "it leaves"},
                 {"x/model.config", "<model><sdf version='1.9'>gone.sdf</sdf></model>", "there is no file"},
                 {"x/other", "", "there is no file"}};
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        char text[512], command[256];
        write_text(f, cases[i].file, cases[i].text);
        snprintf(text, sizeof text,
                 "<sdf version='1.9'><world name='w'>\n<include><uri>%s</uri></include></world></sdf>",
                 strchr(cases[i].file, '/') != NULL ? "x" : cases[i].file);
        load_text(f, text);
        expect_finding(f, STN_SEVERITY_ERROR, "include", 0, NULL, cases[i].part);
        assert_int_equal(f->list.error_count, 1);
        snprintf(command, sizeof command, "rm -rf '%s/x' '%s/x.sdf'", f->folder, f->folder);
        assert_int_equal(system(command), 0);
    }
}

static void circles_and_towers_of_files_end(void **state) {
    fixture *f = *state;
    write_text(f, "p.sdf", SDF("1.9", MODEL("p", LINK("l", "") INCLUDE("q.sdf", ""))));
    write_text(f, "q.sdf", SDF("1.9", MODEL("q", LINK("l", "") INCLUDE("p.sdf", ""))));
    load_text(f, ROBOT(LINK("a", "") INCLUDE("p.sdf", "")));
    expect_finding(f, STN_SEVERITY_ERROR, "include", 4, "include p.sdf", "includes itself, by way of");
    assert_int_equal(f->list.error_count, 1);
    for (int32_t i = 0; i < 20; i++) {
        char name[32], text[512];
        snprintf(name, sizeof name, "t%d.sdf", (int)i);
        snprintf(text, sizeof text,
                 "<sdf version='1.9'><model name='m'><include><uri>t%d.sdf</uri></include></model></sdf>", (int)i + 1);
        write_text(f, name, text);
    }
    load_text(f, ROBOT(LINK("a", "") INCLUDE("t0.sdf", "")));
    expect_finding(f, STN_SEVERITY_ERROR, "include", 0, NULL, "more than 16 deep");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(file_beside_is_a_model_inside, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(folder_names_its_newest_known_file, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(folders_of_gazebos_environment_are_searched, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(names_in_an_included_file_start_from_it, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(static_of_the_include_wins, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(placement_frame_of_the_include_is_placed, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(merged_model_stands_in_its_parent, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(faults_of_an_included_file_are_said_there, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(file_that_brings_no_model_is_refused, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(circles_and_towers_of_files_end, set_up_sdf, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
