// SPDX-License-Identifier: Apache-2.0
// One finding for every kind of mistake, with line and element; and the defects of public lists of broken robot files,
// written as SDFormat, with the severity that those ask for.
#include "errors_fixture.h"
#include "sdf_fixture.h"

#define HEAD      "<?xml version='1.0'?>\n<sdf version='1.9'><model name='bad'>\n" /* links come on lines 3 and 4 */
#define TAIL      "</model></sdf>\n"
#define AB        LINK("a", "") LINK("b", "")
#define BAD(body) HEAD body TAIL
/// A hinge on line 5.
#define HINGE(more) BAD(AB JOINT("j", "revolute", "a", "b", more))
#define IN_A(body)  BAD("<link name='a'>" MASS("1") body "</link>\n")
#define ONE_FIELD(property)                                                             \
    IN_A("<collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry>" \
         "<drake:proximity_properties>" property "</drake:proximity_properties></collision>")
#define ONE_SHAPE(shape) IN_A("<collision name='c'><geometry>" shape "</geometry></collision>")

/// The defects of malformed robots, numbered as there: p13, p18, p19 need files and come below.
static const wrong defects[] = {
    {HEAD AB "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz><limit><lo",
     "xml", 5, NULL, "file ends"},                                                                              // p01
    {BAD(LINK("a", "") "<link>" MASS("1") "</link>"), "name", 4, "link", "no name"},                            // p02
    {BAD(AB "<joint name='j'><parent>a</parent><child>b</child></joint>"), "missing", 5, "joint j", "no type"}, // p03
    {BAD(AB JOINT("j", "revolute", "nowhere", "b", AXIS("0 0 1", ""))), "unknown_frame", 5, "joint j",
     "'nowhere'"}, // p04
    {BAD(AB LINK("c", "") LINK("root", "") JOINT("j1", "fixed", "a", "b", "") JOINT("j2", "fixed", "b", "c", "")
             JOINT("j3", "fixed", "c", "a", "")),
     "cycle", 0, NULL, "a, b, c form a cycle through joints j1, j2, j3"}, // p05
    {BAD(AB LINK("c", "") JOINT("j", "fixed", "a", "c", "") JOINT("k", "fixed", "b", "c", "")), "two_parents", 7,
     "joint k", "already hangs on joint j"},                                                     // p06
    {BAD(LINK("a", "") "<link name='b'>" MASS("-1") "</link>"), "range", 4, "link b", "-1 kg"},  // p07
    {HINGE(POSE("0 nan 0 0 0 0") AXIS("0 0 1", "")), "number", 5, "joint j", "'0 nan 0 0 0 0'"}, // p08
    {HINGE(AXIS("0 0 0", "")), "axis", 5, "joint j", "length 0"},                                // p09
    {BAD(AB LINK("b", "")), "duplicate_link", 5, NULL, "line 4 has a link of the same name"},    // p10
    {BAD(LINK("a", "") "<link name='b'>" MASS("1") "<collision name='c'><geometry><mesh><uri>meshes/not_there.stl</uri>"
                                                   "</mesh></geometry></collision></link>"),
     "missing_mesh", 4, "link b", "meshes/not_there.stl"}, // p11
    {"<?xml version='1.0'?>\n<!DOCTYPE sdf [\n<!ENTITY a 'lol'>\n<!ENTITY b '&a;&a;'>\n]>\n<sdf version='&b;'/>\n",
     "xml", 2, NULL, "never expanded"}, // p14
    {"", "xml", 1, NULL, "no element"}, // p15
    {HINGE(AXIS("0 0 1", "<limit><lower>1</lower><upper>-1</upper></limit>")), "limit", 5, "joint j",
     "lower limit 1 rad is above the upper limit -1 rad"},                                          // p16
    {HINGE(AXIS("0 0 1", "<mimic joint='j'/>")), "mimic", 5, "joint j", "itself"},                  // p17
    {BAD("<link name='a'>" MASS("1.0kg") "</link>"), "number", 3, "link a", "'1.0kg'"},             // p20
    {BAD(AB "<joint name='j' type=revolute><parent>a</parent></joint>"), "xml", 5, NULL, "quotes"}, // p22
};

static const wrong files[] = {
    // the file and its root
    {"<model name='m'>" LINK("a", "") "</model>", "root", 1, "sdf", "put <model> inside"},
    {"<robot name='r'/>", "root", 1, "sdf", "this is URDF"},
    {"<mujoco/>", "root", 1, "sdf", "this is MJCF"},
    {"<sdf/>", "version", 1, "sdf", "no version"},
    {"<sdf version='1.3'/>", "version", 1, "sdf", "too old"},
    {"<sdf version='1.7.2'/>", "version", 1, "sdf", "'1.7.2'"},
    {"<sdf version='seven'/>", "version", 1, "sdf", "'seven'"},
    {"<sdf version='1.7'/>", "no_link", 1, "sdf", "no <model>"},
    {"<sdf version='1.7'><world name='w'/></sdf>", "no_link", 1, "sdf", "<world> holds no"},
    {"<sdf version='1.7'><model name='m'/></sdf>", "no_link", 1, "sdf", "no model has a <link>"},
    {"<sdf version='1.7'><world name='w'/>\n<world name='v'/></sdf>", "two_worlds", 2, "sdf", "line 1"},
    {"<sdf version='1.7'><world name='w'/><model name='m'/></sdf>", "two_worlds", 1, "sdf", "put it inside"},
    // frames
    {BAD(LINK("world", "")), "name", 3, NULL, "'world' is reserved"},
    {BAD(LINK("a", "") FRAME("__model__", "")), "name", 4, NULL, "reserved"},
    {BAD("<model name='n'/>" LINK("a", "")), "no_link", 3, "model n", "moves with nothing"},
    {BAD(LINK("a", "") FRAME("a", "")), "duplicate_name", 4, NULL, "link of line 3"},
    {BAD(LINK("a", "") FRAME("f", "") FRAME("f", "")), "duplicate_frame", 5, NULL, "line 4"},
    {BAD(LINK("arm", "") FRAME("f", POSE_IN("amr", "0 0 0 0 0 0"))), "unknown_frame", 4, "frame f",
     "no link, joint, frame or model 'amr' here: did you mean 'arm'?"},
    {BAD(LINK("a", "") "<frame name='f' attached_to='g'/>"), "unknown_frame", 4, "frame f", "attached_to"},
    {BAD(LINK("a", POSE_IN("world", "0 0 0 0 0 0"))), "unknown_frame", 3, "link a", "'world'"},
    {BAD(LINK("a", POSE_IN("b", "")) LINK("b", POSE_IN("a", ""))), "frame_cycle", 3, "link a",
     "relative_to leads in a circle through a, b"},
    {BAD(LINK("a", POSE_IN("a", ""))), "frame_cycle", 3, "link a", "in a circle through a:"},
    {BAD(LINK("a", "") "<frame name='f' attached_to='g'/><frame name='g' attached_to='f'/>"), "frame_cycle", 4,
     "frame f", "attached_to leads in a circle through f, g"},
    {BAD(LINK("a", "") JOINT("j", "fixed", "a", "j", "")), "frame_cycle", 4, "joint j", "circle"},
    {"<sdf version='1.9'>\n<model name='m' canonical_link='x'>" LINK("a", "") "</model></sdf>", "unknown_frame", 2,
     "model m", "canonical_link"},
    {"<sdf version='1.9'>\n<model name='m' canonical_link='f'>" LINK("a", "") FRAME("f", "") "</model></sdf>",
     "canonical_link", 2, "model m", "is a frame: name a link"},
    {"<sdf version='1.9'>\n<model name='m' placement_frame='x'>" LINK("a", "") "</model></sdf>", "unknown_frame", 2,
     "model m", "placement_frame"},
    {IN_A(POSE("0 0 0")), "number", 3, "link a", "<pose>: '0 0 0' must be six"},
    {IN_A("<pose rotation_format='quat_xyzw'>0 0 0 0 0 0 0</pose>"), "pose", 3, "link a", "length 0"},
    {IN_A("<pose rotation_format='quat_xyzw'>0 0 0 0 0 0</pose>"), "number", 3, "link a", "must be 7"},
    {IN_A("<pose rotation_format='axis'>0 0 0 0 0 0</pose>"), "pose", 3, "link a", "'axis'"},
    {IN_A("<pose degrees='yes'>0 0 0 0 0 0</pose>"), "flag", 3, "link a", "degrees of <pose>: 'yes'"},
    {BAD("<static>maybe</static>" LINK("a", "")), "flag", 3, "model bad", "<static>: 'maybe'"},
    {BAD(LINK("a", "<collision name='c'><pose relative_to='x'/><geometry><sphere><radius>1</radius></sphere></geometry>"
                   "</collision>")),
     "unknown_frame", 3, "link a", "'x'"},
    // includes
    {BAD("<include/>"), "missing", 3, "include", "no <uri>"},
    {BAD("<include><uri> </uri></include>"), "name", 3, "include", "<uri> is empty"},
    {BAD("<include><uri>gone.sdf</uri></include>"), "include", 3, "include gone.sdf", "there is no file"},
    {BAD("<include><uri>model://gone</uri></include>"), "include", 3, "include model://gone",
     "model 'gone' is not found"},
    {BAD("<include><uri>../../../../etc/passwd.sdf</uri></include>"), "include", 3, NULL, "it leaves"},
    {BAD("<include><uri>file:///etc/x.sdf</uri></include>"), "include", 3, NULL, "absolute names are not read"},
    {BAD("<include><uri>https://fuel.gazebosim.org/x</uri></include>"), "include", 3, NULL, "unknown kind of address"},
    // links and shapes
    {BAD("<link name='b'><inertial><pose relative_to='a'/><mass>0</mass></inertial></link>" LINK("a", "")), "pose", 3,
     "link b", "not in 'a'"},
    {BAD("<link name='a'><inertial auto='true'/></link>"), "inertia", 3, "link a", "no <collision> that weighs"},
    {BAD("<link "
         "name='a'><inertial><mass>1</mass><inertia><ixx>-1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>"),
     "inertia", 3, "link a", "negative principal moment"},
    {BAD("<link name='a'><inertial auto='1'/><collision name='c'><geometry><plane/></geometry></collision></link>"),
     "inertia", 3, "link a", "a half_space has no volume"},
    {BAD("<link name='a'><inertial auto='1'><density>0</density></inertial><collision name='c'><geometry><sphere>"
         "<radius>1</radius></sphere></geometry></collision></link>"),
     "range", 3, "link a", "<density> = 0"},
    {ONE_SHAPE(""), "shape", 3, "link a", "no shape"},
    {ONE_SHAPE("<cone><radius>1</radius><length>1</length></cone>"), "shape", 3, "link a", "a <cone> cannot collide"},
    {ONE_SHAPE("<box/>"), "missing", 3, "link a", "<box> has no <size>"},
    {ONE_SHAPE("<box><size>1 1</size></box>"), "number", 3, "link a", "<size>: '1 1' must be three"},
    {ONE_SHAPE("<sphere><radius>0</radius></sphere>"), "size_of_shape", 3, "link a",
     "radius of <sphere> = 0 m: a sphere of radius 0, a single point, cannot be loaded yet; give it a small radius"},
    {ONE_SHAPE("<sphere><radius>-1</radius></sphere>"), "size_of_shape", 3, "link a", "-1 m must be > 0"},
    {ONE_FIELD("<drake:mesh_resolution_hint>0</drake:mesh_resolution_hint>"), "range", 3, "link a",
     "= 0 m must be > 0"},
    {ONE_FIELD("<drake:hydroelastic_margin>-1</drake:hydroelastic_margin>"), "range", 3, "link a",
     "= -1 m must be >= 0"},
    {ONE_FIELD("<drake:slab_thickness>thick</drake:slab_thickness>"), "number", 3, "link a", "thick"},
    {ONE_SHAPE("<plane><normal>0 0 0</normal></plane>"), "axis", 3, "link a", "normal of <plane>"},
    {ONE_SHAPE("<mesh/>"), "missing", 3, "link a", "no <uri>"},
    {ONE_SHAPE("<mesh><uri>model://x/../y.stl</uri></mesh>"), "unknown_package", 3, "link a", "model 'x'"},
    // joints
    {BAD(AB "<joint name='j' type='revolute'><child>b</child></joint>"), "missing", 5, "joint j", "no <parent>"},
    {BAD(AB "<joint name='j' type='revolute'><parent>a</parent></joint>"), "missing", 5, "joint j", "no <child>"},
    {BAD(AB JOINT("j", "revolut", "a", "b", "")), "joint_type", 5, "joint j", "did you mean 'revolute'?"},
    {BAD(AB JOINT("j", "fixed", "a", "world", "")), "world", 5, "joint j", "exchange parent and child"},
    {BAD(AB JOINT("j", "fixed", "a", "b", "") JOINT("j", "fixed", "a", "b", "")), "duplicate_joint", 6, NULL, "line 5"},
    {HINGE(""), "missing", 5, "joint j", "has no <axis>"},
    {HINGE(AXIS("1 0", "")), "number", 5, "joint j", "<xyz>: '1 0'"},
    {HINGE("<axis><xyz expressed_in='x'>1 0 0</xyz></axis>"), "unknown_frame", 5, "joint j", "expressed_in"},
    {HINGE(AXIS("0 0 1", "<dynamics><damping>-1</damping></dynamics>")), "range", 5, "joint j", "-1 N m s/rad"},
    {HINGE(AXIS("0 0 1", "<dynamics><spring_stiffness>-1</spring_stiffness></dynamics>")), "range", 5, "joint j",
     "-1 N m/rad"},
    {HINGE(AXIS("0 0 1", "<limit><lower>low</lower></limit>")), "number", 5, "joint j", "'low'"},
    {HINGE(AXIS("0 0 1", "<limit><lower>inf</lower></limit>")), "limit", 5, "joint j", "lower limit inf"},
    {HINGE(AXIS("0 0 1", "<mimic joint='k'/>")), "mimic", 5, "joint j", "'k', which does not exist"},
    {HINGE(AXIS("0 0 1", "") "<drake:gear_ratio>0</drake:gear_ratio>"), "range", 5, "joint j", "must not be 0"},
    {BAD(AB JOINT("j", "screw", "a", "b", AXIS("0 0 1", ""))), "missing", 5, "joint j", "screw_thread_pitch"},
    {BAD(AB JOINT("j", "screw", "a", "b", AXIS("0 0 1", "") "<thread_pitch>0</thread_pitch>")), "range", 5, "joint j",
     "must not be 0"},
    {BAD(AB JOINT("j", "universal", "a", "b", AXIS("0 0 1", ""))), "missing", 5, "joint j", "has no <axis2>"},
    {BAD(AB "<drake:joint name='j' type='curvilinear'><drake:parent>a</drake:parent><drake:child>b</drake:child>"
            "</drake:joint>"),
     "joint_type", 5, "joint j", "'curvilinear'"},
    {BAD(AB "<drake:joint name='j' type='planar'><parent>a</parent><drake:child>b</drake:child></drake:joint>"),
     "missing", 5, "joint j", "no <drake:parent>"},
    {BAD(LINK("a", "") "<drake:collision_filter_group name='g'><drake:member>x</drake:member>"
                       "</drake:collision_filter_group>"),
     "unknown_link", 4, NULL, "'x'"},
};

static void every_error_names_line_and_element(void **state) {
    for (int32_t i = 0; i < STN_COUNT(files); i++) {
        expect_one_error(*state, &files[i]);
    }
}

static void defects_of_malformed_robots_are_errors_here_too(void **state) {
    for (int32_t i = 0; i < STN_COUNT(defects); i++) {
        expect_one_error(*state, &defects[i]);
    }
}

#define MESH_B(kind, uri)                                                                        \
    BAD(LINK("a", "") "<link name='b'>" MASS("1") "<" kind " name='c'><geometry><mesh><uri>" uri \
                                                  "</uri></mesh></geometry></" kind              \
                                                  "></link>" JOINT("j", "fixed", "a", "b", ""))

/// What the list asks to be warnings: a visual mesh that is missing (p12), triangles without area (p18), what SDFormat
/// has a default for (p21, p23); an absent limit is none by the standard (p24).
static void defects_that_leave_a_robot_are_warnings(void **state) {
    fixture *f = *state;
    good_model(f, MESH_B("visual", "meshes/not_there.stl"));
    expect_finding(f, STN_SEVERITY_WARNING, "missing_mesh", 4, "link b", "meshes/not_there.stl");
    char mesh[2048];
    snprintf(mesh, sizeof mesh,
             "%.*sfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 0\nvertex 1 0 0\nendloop\n"
             "endfacet\nendsolid t\n",
             (int)(strstr(tetrahedron, "endsolid") - tetrahedron), tetrahedron);
    write_text(f, "d.stl", mesh);
    good_model(f, MESH_B("collision", "d.stl"));
    expect_finding(f, STN_SEVERITY_WARNING, "degenerate_triangles", 4, "link b", "1 triangle without area");
    good_model(
        f, BAD("<link name='a'><inertial><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>"));
    expect_finding(f, STN_SEVERITY_WARNING, "default", 3, "link a", "no <mass>");
    good_model(f, BAD(LINK("a", "") "<link name='b'><inertial><mass>0</mass></inertial></link>\n" JOINT(
                      "j", "revolute", "a", "b", AXIS("0 0 1", ""))));
    expect_finding(f, STN_SEVERITY_WARNING, "massless", 4, "link b", "singular");
    assert_int_equal(f->list.count, 1);
    good_model(f, HINGE(AXIS("0 0 1", "")));
    assert_int_equal(f->list.count, 0);
}

/// A mesh without triangles (p19), and one that a package's address climbs out to (p13).
static void defects_of_mesh_files_are_errors(void **state) {
    static const char zero[84] = {0};
    fixture *f = *state;
    write_bytes(f, "zero.stl", zero, sizeof zero);
    load_text(f, MESH_B("collision", "zero.stl"));
    expect_finding(f, STN_SEVERITY_ERROR, "mesh", 4, "link b", "no triangles");
    write_mesh(f, "target.stl");
    write_text(f, "pkg/package.xml", "<package><name>pkg</name></package>");
    f->file = "pkg/robot.sdf";
    load_text(f, MESH_B("collision", "package://pkg/../target.stl"));
    expect_finding(f, STN_SEVERITY_ERROR, "path", 4, "link b", "it leaves");
    load_text(f, MESH_B("collision", "model://pkg/../target.stl"));
    expect_finding(f, STN_SEVERITY_ERROR, "path", 4, "link b", "it leaves");
    assert_int_equal(f->list.error_count, 1);
}

static void all_errors_of_a_file_are_collected(void **state) {
    fixture *f = *state;
    load_text(
        f,
        BAD("<link name='a'><inertial><mass>x</mass></inertial></link>\n<link/>\n"
            "<link name='b'><collision name='c'><geometry><box><size>1 1</size></box></geometry></collision></link>\n"
            "<joint name='j' type='revolute'><parent>a</parent><child>c</child></joint>\n"));
    assert_int_equal(f->list.error_count, 4); // mass, name, size, child
    assert_non_null(strstr(f->err.text, "robot.sdf:3: link a: <mass>: 'x'"));
    assert_non_null(strstr(f->err.text, "(and 3 more)"));
}

static void nothing_stays_of_a_bad_file(void **state) {
    expect_nothing_stays(*state, "good.sdf", BAD(LINK("a", "")), "bad.sdf", HINGE(AXIS("0 0 0", "")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_error_names_line_and_element, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(defects_of_malformed_robots_are_errors_here_too, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(defects_that_leave_a_robot_are_warnings, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(defects_of_mesh_files_are_errors, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(all_errors_of_a_file_are_collected, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(nothing_stays_of_a_bad_file, set_up_sdf, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
