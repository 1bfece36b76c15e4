// SPDX-License-Identifier: Apache-2.0
// Every error of the URDF loader: line, element, and words that say what is wrong. Nothing stays of a bad file.
#include "errors_fixture.h"
#include "urdf_fixture.h"

#define INERTIAL(mass, inertia) "<link name='a'><inertial>" mass inertia "</inertial></link>"
#define GOOD_INERTIA            "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
#define JOINT(attributes, body) ROBOT(LINK("a") LINK("b") "<joint " attributes ">" body "</joint>\n")
#define ENDS                    "<parent link='a'/><child link='b'/>"
#define COLLISION(shape)        ROBOT("<link name='a'>\n<collision>" shape "</collision></link>")
#define SURFACE(name, value)                                                                            \
    COLLISION("<geometry><sphere radius='1'/></geometry><drake:proximity_properties><drake:" name value \
              "/></drake:proximity_properties>")
#define MIMIC(more) ROBOT(LINK("a") LINK("b") LINK("c") HINGE("j", "a", "b", more) HINGE("k", "b", "c", ""))

static const wrong files[] = {
    // XML
    {"", "xml", 1, "", "no element"},
    {"text", "xml", 1, "", ""},
    {"<robot name='r'>\n<link name='a'>\n</robot>", "xml", 2, "", "not closed"},
    {"<robot name='r'>\n<link name=a/>\n</robot>", "xml", 2, "", "quotes"},
    {"<robot name='r'>\n<link name='a' name='b'/>\n</robot>", "xml", 2, "", "once"},
    {"<robot name='r'><link name='a'/></robot>\n<robot name='s'/>", "xml", 2, "", "second root"},
    {"<robot name='r'><link name='a'/></robot>\nrest <!-- -->", "xml", 0, "", "outside"},
    {"<!DOCTYPE robot [\n<!ENTITY e 'x'>\n]>\n<robot name='&e;'><link name='a'/></robot>", "xml", 1, "",
     "never expanded"},
    {"<mujoco/>", "root", 1, "robot", "MJCF"},
    {"<sdf/>", "root", 1, "robot", "SDF"},
    {"<robot name='r'/>", "no_link", 1, "robot", "no <link>"},
    {"<robot name='\xff'><link name='a'/></robot>", "name", 1, "robot", "UTF-8"},
    // xacro
    {"<robot name='r'>\n<xacro:include filename='x'/></robot>", "xacro", 2, "robot", "expand"},
    {"<robot name='r'>\n<link name='a'><visual><xacro:x/></visual></link></robot>", "xacro", 2, "robot", "expand"},
    {ROBOT(INERTIAL("<mass value='${m}'/>", GOOD_INERTIA)), "xacro", 2, "link a", "'${m}'"},
    {JOINT("name='j' type='fixed'", ENDS "<origin xyz='$(arg x) 0 0'/>"), "xacro", 4, "joint j", "expand"},
    // links
    {ROBOT(LINK("a") "<link/>\n"), "name", 3, "link", "no name"},
    {ROBOT(LINK("a") "<link name=''/>\n"), "name", 3, "link", "no name"},
    {ROBOT(LINK("a") LINK("a")), "duplicate_link", 3, "link a", "line 2"},
    {ROBOT(INERTIAL("", GOOD_INERTIA)), "missing", 2, "link a", "no <mass>"},
    {ROBOT(INERTIAL("<mass/>", GOOD_INERTIA)), "missing", 2, "link a", "no value"},
    {ROBOT(INERTIAL("<mass value='1'/>", "")), "missing", 2, "link a", "no <inertia>"},
    {ROBOT(INERTIAL("<mass value='1'/>", "<inertia ixx='1' iyy='1'/>")), "missing", 2, "link a", "no izz"},
    {ROBOT(INERTIAL("<mass value='-1'/>", GOOD_INERTIA)), "range", 2, "link a", "mass = -1 kg"},
    {ROBOT(INERTIAL("<mass value='1.0kg'/>", GOOD_INERTIA)), "number", 2, "link a", "'1.0kg'"},
    {ROBOT(INERTIAL("<mass value='1'/>", "<inertia ixx='1' iyy='1' izz='1' ixy='2' ixz='0' iyz='0'/>")), "inertia", 2,
     "link a", "-1 kg m^2"},
    // numbers
    {JOINT("name='j' type='fixed'", ENDS "<origin xyz='0 nan 0'/>"), "number", 4, "joint j",
     "xyz of <origin>: '0 nan 0'"},
    {JOINT("name='j' type='fixed'", ENDS "<origin xyz='0 inf 0'/>"), "number", 4, "joint j", "three finite"},
    {JOINT("name='j' type='fixed'", ENDS "<origin xyz='0 1e999 0'/>"), "number", 4, "joint j", "three finite"},
    {JOINT("name='j' type='fixed'", ENDS "<origin xyz='0 0x10 0'/>"), "number", 4, "joint j", "three finite"},
    {JOINT("name='j' type='fixed'", ENDS "<origin xyz='0 0'/>"), "number", 4, "joint j", "three finite"},
    {JOINT("name='j' type='fixed'", ENDS "<origin xyz='0 0 0 0'/>"), "number", 4, "joint j", "three finite"},
    {JOINT("name='j' type='fixed'", ENDS "<origin xyz='0, 0, 0'/>"), "number", 4, "joint j", "separated by spaces"},
    {JOINT("name='j' type='fixed'", ENDS "<origin rpy=''/>"), "number", 4, "joint j", "rpy"},
    // joints
    {JOINT("type='fixed'", ENDS), "name", 4, "joint", "no name"},
    {JOINT("name='j'", ENDS), "missing", 4, "joint j", "no type"},
    {JOINT("name='j' type='curvilinear'", ENDS), "joint_type", 4, "joint j", "'curvilinear' is not supported"},
    {JOINT("name='j' type='revolut'", ENDS), "joint_type", 4, "joint j", "did you mean 'revolute'?"},
    {ROBOT(LINK("a") LINK("b") "<drake:joint name='j' type='curvilinear'>" ENDS "</drake:joint>"), "joint_type", 4,
     "joint j", "'curvilinear'"},
    {JOINT("name='j' type='screw'", ENDS), "missing", 4, "joint j", "drake:screw_thread_pitch"},
    {JOINT("name='j' type='screw'", ENDS "<drake:screw_thread_pitch/>"), "missing", 4, "joint j", "no value"},
    {JOINT("name='j' type='screw'", ENDS "<drake:screw_thread_pitch value='inf'/>"), "number", 4, "joint j", "'inf'"},
    {JOINT("name='j' type='planar'", ENDS "<axis xyz='0 0 0'/>"), "axis", 4, "joint j", "length 0"},
    {JOINT("name='j' type='planar'", ENDS "<dynamics damping='1 2'/>"), "number", 4, "joint j", "'1 2'"},
    {JOINT("name='j' type='planar'", ENDS "<dynamics damping='1 2 -3'/>"), "range", 4, "joint j", "1 2 -3"},
    {JOINT("name='j' type='continuous'", ENDS "<limit effort='1' velocity='1' drake:acceleration='-1'/>"), "range", 4,
     "joint j", "drake:acceleration of <limit> = -1 rad/s^2"},
    {JOINT("name='j' type='fixed'", "<child link='b'/>"), "missing", 4, "joint j", "no <parent>"},
    {JOINT("name='j' type='fixed'", "<parent link='a'/>"), "missing", 4, "joint j", "no <child>"},
    {JOINT("name='j' type='fixed'", "<parent/><child link='b'/>"), "name", 4, "joint j", "<parent> has no link"},
    {JOINT("name='j' type='continuous'", ENDS "<axis xyz='0 0 0'/>"), "axis", 4, "joint j", "length 0"},
    {JOINT("name='j' type='continuous'", ENDS "<axis/>"), "missing", 4, "joint j", "<axis> has no xyz"},
    {JOINT("name='j' type='prismatic'", ENDS "<limit lower='2' upper='1' effort='1' velocity='1'/>"), "limit", 4,
     "joint j", "lower limit 2 m is above the upper limit 1 m"},
    {JOINT("name='j' type='revolute'", ENDS "<limit lower='0' upper='1' effort='-1' velocity='1'/>"), "range", 4,
     "joint j", "effort of <limit> = -1 N m"},
    {JOINT("name='j' type='continuous'", ENDS "<dynamics damping='-1'/>"), "range", 4, "joint j", "-1 N m s/rad"},
    {ROBOT(LINK("a") LINK("b") LINK("c") HINGE("j", "a", "b", "") HINGE("j", "b", "c", "")), "duplicate_joint", 6,
     "joint j", "line 5"},
    // tree
    {ROBOT(LINK("arm") LINK("b") HINGE("j", "amr", "b", "")), "unknown_link", 4, "joint j", "did you mean 'arm'?"},
    {ROBOT(LINK("a") HINGE("j", "a", "nothing", "")), "unknown_link", 3, "joint j", "child link 'nothing'"},
    {ROBOT(LINK("a") HINGE("j", "a", "world", "")), "unknown_link", 3, "joint j", "child link 'world'"},
    {ROBOT(LINK("a") LINK("b") LINK("alone")), "two_roots", 3, "robot", "a, b, alone"},
    {ROBOT(LINK("a") LINK("b") LINK("c") HINGE("j", "a", "c", "") HINGE("k", "b", "c", "")), "two_parents", 6,
     "joint k", "joint j (line 5)"},
    {ROBOT(LINK("a") HINGE("j", "a", "a", "")), "cycle", 2, "link a", "links a form a cycle through joints j:"},
    {ROBOT(LINK("r") LINK("a") LINK("b") HINGE("j", "a", "b", "") HINGE("k", "b", "a", "")), "cycle", 3, "link a",
     "links a, b form a cycle through joints j, k:"},
    // mimic
    {MIMIC("<mimic joint='j'/>"), "mimic", 5, "joint j", "itself"},
    {MIMIC("<mimic joint='l'/>"), "mimic", 5, "joint j", "'l', which does not exist"},
    {MIMIC("<mimic/>"), "name", 5, "joint j", "no joint"},
    {ROBOT(LINK("a") LINK("b") LINK("c") HINGE("j", "a", "b", "<mimic joint='k'/>")
               HINGE("k", "b", "c", "<mimic joint='j'/>")),
     "mimic", 5, "joint j", "circle"},
    {ROBOT(LINK("a") LINK("b") LINK("c")
               HINGE("j", "a", "b",
                     "<mimic joint='k'/>") "<joint name='k' type='fixed'><parent link='b'/><child link='c'/></joint>"),
     "mimic", 5, "joint j", "that is fixed"},
    // shapes
    {COLLISION(""), "shape", 3, "link a", "no shape"},
    {COLLISION("<geometry/>"), "shape", 3, "link a", "no shape"},
    {COLLISION("<geometry><teapot/></geometry>"), "shape", 3, "link a", "no shape"},
    {COLLISION("<geometry><sphere/></geometry>"), "missing", 3, "link a", "<sphere> has no radius"},
    {COLLISION("<geometry><sphere radius='0'/></geometry>"), "size_of_shape", 3, "link a",
     "radius of <sphere> = 0 m: a sphere of radius 0, a single point, cannot be loaded yet; give it a small radius "
     "such as 0.001 m, or take this shape out of the file"},
    {COLLISION("<geometry><box size='1 -1 1'/></geometry>"), "size_of_shape", 3, "link a", "-1 m must be > 0"},
    {COLLISION("<geometry><capsule radius='1' length='-1'/></geometry>"), "size_of_shape", 3, "link a", ">= 0"},
    {COLLISION("<geometry><plane normal='0 0 0'/></geometry>"), "axis", 3, "link a", "normal"},
    {COLLISION("<geometry><mesh/></geometry>"), "name", 3, "link a", "no filename"},
    {COLLISION("<geometry><mesh filename='robot.urdf' scale='1 0 1'/></geometry>"), "size_of_shape", 3, "link a",
     "no factor may be 0"},
    {COLLISION("<geometry><mesh filename='robot.urdf' scale='1'/></geometry>"), "number", 3, "link a", "scale"},
    {SURFACE("mu_dynamic", ""), "missing", 3, "link a", "no value"},
    {SURFACE("mu_dynamic", " value='-1'"), "range", 3, "link a", "-1"},
    {SURFACE("point_contact_stiffness", " value='0'"), "range", 3, "link a", "> 0"},
    {SURFACE("hydroelastic_modulus", " value='0'"), "range", 3, "link a", "> 0"},
    {SURFACE("mesh_resolution_hint", " value='0'"), "range", 3, "link a",
     "<drake:mesh_resolution_hint> = 0 m must be > 0"},
    {SURFACE("mesh_resolution_hint", " value='fine'"), "number", 3, "link a", "fine"},
    {SURFACE("mesh_resolution_hint", ""), "missing", 3, "link a", "value"},
    {SURFACE("hydroelastic_margin", " value='-1e-4'"), "range", 3, "link a", "= -0.0001 m must be >= 0"},
    {SURFACE("hydroelastic_margin", " value='inf'"), "number", 3, "link a", "inf"},
    {SURFACE("slab_thickness", " value='-1'"), "range", 3, "link a", "<drake:slab_thickness> = -1 m must be > 0"},
    {COLLISION("<geometry><sphere radius='1'/></geometry><drake:proximity_properties><drake:rigid_hydroelastic/>"
               "<drake:soft_hydroelastic/></drake:proximity_properties>"),
     "conflict", 3, "link a", "<drake:soft_hydroelastic> beside"},
    {COLLISION("<geometry><drake:ellipsoid a='1' b='0' c='1'/></geometry>"), "size_of_shape", 3, "link a",
     "b of <drake:ellipsoid> = 0 m"},
    {COLLISION("<geometry><drake:ellipsoid a='1' c='1'/></geometry>"), "missing", 3, "link a", "has no b"},
    {ROBOT("<link name='a'><visual><geometry><sphere radius='1'/></geometry><material><color rgba='1 1 1'/></material>"
           "</visual></link>"),
     "number", 2, "link a", "rgba of <color>: '1 1 1' must be four"},
    // motors, filters
    {ROBOT(LINK("a") "<transmission name='t'><joint name='j'/><actuator><drake:rotor_inertia value='-1'/></actuator>"
                     "</transmission>"),
     "range", 3, "transmission t", "-1 kg m^2"},
    {ROBOT(LINK("a") "<transmission name='t'><joint name='j'/><actuator><drake:gear_ratio value='0'/></actuator>"
                     "</transmission>"),
     "range", 3, "transmission t", "must not be 0"},
    {ROBOT(LINK("a") "<transmission name='t'><joint name='j'/><actuator><mechanicalReduction>50:1</mechanicalReduction>"
                     "</actuator></transmission>"),
     "number", 3, "transmission t", "'50:1'"},
    {ROBOT(LINK("a") "<drake:collision_filter_group name='g'><drake:member link='b'/></drake:collision_filter_group>"),
     "unknown_link", 3, "collision_filter_group g", "'b'"},
    {ROBOT(LINK("a") "<drake:collision_filter_group name='g'><drake:ignored_collision_filter_group name='h'/>"
                     "</drake:collision_filter_group>"),
     "unknown_group", 3, "collision_filter_group g", "'h'"},
    {ROBOT(LINK("a") "<drake:collision_filter_group name='g'/>\n<drake:collision_filter_group name='g'/>"),
     "duplicate_group", 4, "collision_filter_group g", "rename"},
};

static void every_error_names_line_and_element(void **state) {
    for (int32_t i = 0; i < STN_COUNT(files); i++) {
        expect_one_error(*state, &files[i]);
    }
}

static void all_errors_of_a_file_are_collected(void **state) {
    fixture *f = *state;
    load_text(f, ROBOT("<link name='a'><inertial><mass value='x'/></inertial></link>\n<link/>\n"
                       "<link name='b'><collision><geometry><box size='1 1'/></geometry></collision></link>\n"
                       "<joint name='j' type='hinge'><parent link='a'/><child link='c'/></joint>\n"));
    assert_int_equal(f->status, STN_ERR_PARSE);
    assert_int_equal(f->list.error_count, 6); // mass, inertia, name, size, type, child
    assert_non_null(strstr(f->err.text, "robot.urdf:2: link a: value of <mass>: 'x'"));
    assert_non_null(strstr(f->err.text, "(and 5 more)"));
}

static void thousand_errors_are_counted_and_a_hundred_kept(void **state) {
    fixture *f = *state;
    size_t size = 64, capacity = 40000;
    char *text = malloc(capacity);
    size = (size_t)snprintf(text, capacity, "<robot name='r'>");
    for (int32_t i = 0; i < 1000; i++) {
        size += (size_t)snprintf(text + size, capacity - size, "<link name='a'/>\n");
    }
    snprintf(text + size, capacity - size, "</robot>");
    load_text(f, text);
    free(text);
    assert_int_equal(f->list.error_count, 999);
    assert_int_equal(f->list.count, 100);
    assert_non_null(strstr(f->err.text, "(and 998 more)"));
}

static void nothing_stays_of_a_bad_file(void **state) {
    expect_nothing_stays(*state, "good.urdf", ROBOT(LINK("a")), "bad.urdf", ROBOT(LINK("a") LINK("b")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_error_names_line_and_element, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_errors_of_a_file_are_collected, set_up, tear_down),
        cmocka_unit_test_setup_teardown(thousand_errors_are_counted_and_a_hundred_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_stays_of_a_bad_file, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
