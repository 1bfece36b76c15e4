// SPDX-License-Identifier: Apache-2.0
// `stiction info` on small robots with known figures.
#include "answer.h"

#define ROBOT  STN_BINARY_DIR "/tests/info_robot.urdf"
#define SPRUNG STN_BINARY_DIR "/tests/info_robot.sprung"
#define PADS   STN_BINARY_DIR "/tests/info_pads.xml"
#define MESH   STN_BINARY_DIR "/tests/info_mesh.obj"
#define VALUES STN_BINARY_DIR "/tests/info_values.json"
#define SOFT   STN_BINARY_DIR "/tests/info_soft.urdf"

/// Two bars of length 1 m with all their mass m at the end, hinged about y, hanging at q = 0; the second one mimics.
static const char pendulum[] =
    "<robot name='pendulum'>\n<link name='base'/>\n"
    "<link name='upper'><inertial><origin xyz='0 0 -1'/><mass value='2'/>"
    "<inertia ixx='0' iyy='0' izz='0' ixy='0' ixz='0' iyz='0'/></inertial></link>\n"
    "<link name='lower, b'><inertial><origin xyz='0 0 -1'/><mass value='3'/>"
    "<inertia ixx='0' iyy='0' izz='0' ixy='0' ixz='0' iyz='0'/></inertial>"
    "<collision><geometry><sphere radius='0.1'/></geometry></collision></link>\n"
    "<link name='tip'/>\n"
    "<joint name='j1' type='revolute'><parent link='base'/><child link='upper'/><axis xyz='0 1 0'/>"
    "<limit lower='-1' upper='3' effort='5' velocity='6'/></joint>\n"
    "<joint name='j2' type='continuous'><parent link='upper'/><child link='lower, b'/><origin xyz='0 0 -1'/>"
    "<axis xyz='0 1 0'/><mimic joint='j1' multiplier='2' offset='0.5'/></joint>\n"
    "<joint name='fix' type='fixed'><parent link='lower, b'/><child link='tip'/><origin xyz='0 0 -1'/></joint>\n"
    "<transmission name='t'><joint name='j1'/><actuator><drake:rotor_inertia value='1'/></actuator></transmission>\n"
    "</robot>\n";

static void counts_joints_and_limits_are_those_of_the_file(void **state) {
    (void)state;
    write_file(ROBOT, pendulum);
    cJSON *json = ask(ROBOT, "");
    const cJSON *joints = item(json, "joints"), *list = item(json, "joint_list");
    assert_string_equal(text_of(json, "name"), "pendulum");
    assert_string_equal(text_of(json, "root_link"), "base");
    assert_near(number(json, "links"), 4.0, 0.0);
    assert_near(number(joints, "total"), 3.0, 0.0);
    assert_near(number(joints, "fixed"), 1.0, 0.0);
    assert_near(number(joints, "revolute"), 1.0, 0.0);
    assert_near(number(joints, "continuous"), 1.0, 0.0);
    assert_near(number(joints, "planar"), 0.0, 0.0);
    assert_near(number(joints, "mimic"), 1.0, 0.0);
    assert_near(number(json, "nq"), 2.0, 0.0);
    assert_near(number(json, "nv"), 2.0, 0.0);
    assert_near(number(json, "dof_reduced"), 1.0, 0.0);
    assert_near(number(json, "mass_kg"), 5.0, 0.0);
    assert_near(number(item(json, "geometries"), "collision"), 1.0, 0.0);
    assert_near(number(item(json, "geometries"), "visual"), 0.0, 0.0);
    assert_int_equal(cJSON_GetArraySize(item(json, "warnings")), 0);
    assert_int_equal(cJSON_GetArraySize(list), 3);
    const cJSON *j1 = cJSON_GetArrayItem(list, 0), *j2 = cJSON_GetArrayItem(list, 1),
                *fix = cJSON_GetArrayItem(list, 2);
    assert_string_equal(text_of(j1, "name"), "j1");
    assert_string_equal(text_of(j1, "parent"), "base");
    assert_string_equal(text_of(j1, "child"), "upper");
    assert_near(component(j1, "limits", 0), -1.0, 0.0);
    assert_near(component(j1, "limits", 1), 3.0, 0.0);
    assert_near(number(j1, "lower"), -1.0, 0.0);
    assert_near(number(j1, "upper"), 3.0, 0.0);
    assert_near(number(j1, "line"), 6.0, 0.0);
    assert_near(number(j1, "effort"), 5.0, 0.0);
    assert_near(number(j1, "velocity"), 6.0, 0.0);
    assert_true(cJSON_IsNull(item(j1, "mimic")));
    assert_near(number(j2, "q_index"), 1.0, 0.0);
    assert_true(cJSON_IsNull(item(j2, "limits")) && cJSON_IsNull(item(j2, "lower")));
    assert_true(cJSON_IsNull(item(j2, "effort")));
    assert_string_equal(text_of(item(j2, "mimic"), "joint"), "j1");
    assert_near(number(item(j2, "mimic"), "offset"), 0.5, 0.0);
    assert_string_equal(text_of(fix, "type"), "fixed");
    assert_string_equal(text_of(fix, "child"), "tip");
    assert_true(cJSON_IsNull(item(fix, "q_index")));
    cJSON_Delete(json);
}

// Point masses m1 = 2, m2 = 3 on bars of 1 m, q2 relative to bar 1:
//   M11 = m1 + m2 (2 + 2 cos q2), M12 = m2 (1 + cos q2), M22 = m2
//   g1 = 9.81 ((m1 + m2) sin q1 + m2 sin(q1 + q2)), g2 = 9.81 m2 sin(q1 + q2)       (G = (1, 2)^T)
static void figures_are_those_of_a_double_pendulum(void **state) {
    (void)state;
    double q1 = 0.3, q2 = 2.0 * q1 + 0.5;
    double m11 = 2.0 + 3.0 * (2.0 + 2.0 * cos(q2)), m12 = 3.0 * (1.0 + cos(q2)), m22 = 3.0;
    double g2 = 9.81 * 3.0 * sin(q1 + q2), g1 = 9.81 * 5.0 * sin(q1) + g2;
    write_file(ROBOT, pendulum);
    write_file(VALUES, "{ \"j1\": 0.3 }");
    cJSON *json = ask(ROBOT, "--q " VALUES " --fk tip --fk 'lower, b,0.5,0,-2' --fk tip,1,0,0");
    const cJSON *at = item(json, "at_q"), *fk = item(at, "fk");
    assert_near(component(at, "q", 1), q2, 1e-15);
    assert_near(number(at, "mass_matrix_trace_full"), m11 + m22, 1e-13);
    assert_near(number(at, "gravity_norm_full"), hypot(g1, g2), 1e-12);
    assert_near(number(at, "mass_matrix_trace_reduced"), m11 + 4.0 * m12 + 4.0 * m22, 1e-13);
    assert_near(number(at, "gravity_norm_reduced"), fabs(g1 + 2.0 * g2), 1e-12);
    double mean = 0.5 * (m11 + m22), half = hypot(0.5 * (m11 - m22), m12); // eigenvalues mean -+ half
    assert_near(number(at, "mass_matrix_condition_full"), (mean + half) / (mean - half), 1e-12);
    assert_near(number(at, "mass_matrix_condition_reduced"), 1.0, 0.0);
    assert_near(component(item(at, "gravity_full"), "j1", 0), g1, 1e-12);
    assert_near(component(item(at, "gravity_full"), "j2", 0), g2, 1e-12);
    assert_near(component(item(at, "gravity_reduced"), "j1", 0), g1 + 2.0 * g2, 1e-12);
    assert_null(cJSON_GetObjectItemCaseSensitive(item(at, "gravity_reduced"), "j2"));
    assert_true(cJSON_IsNull(item(at, "note")));
    // R = Ry(q): the point (x, 0, z) goes to (c x + s z, 0, -s x + c z)
    double a = q1 + q2, ex = -sin(q1), ez = -cos(q1);
    const cJSON *tip = item(fk, "tip"), *lower = item(fk, "lower, b");
    assert_near(component(tip, "xyz", 0), ex - sin(a), 1e-15);
    assert_near(component(tip, "xyz", 2), ez - cos(a), 1e-15);
    assert_near(component(tip, "point_xyz", 0), ex - sin(a), 1e-15);
    assert_near(component(tip, "quat_wxyz", 0), cos(0.5 * a), 1e-15);
    assert_near(component(tip, "quat_wxyz", 2), sin(0.5 * a), 1e-15);
    assert_near(component(lower, "point_xyz", 0), ex + 0.5 * cos(a) - 2.0 * sin(a), 1e-15);
    assert_near(component(lower, "point_xyz", 2), ez - 0.5 * sin(a) - 2.0 * cos(a), 1e-15);
    assert_near(component(item(fk, "tip,1,0,0"), "point_xyz", 0), ex - sin(a) + cos(a), 1e-15);
    cJSON_Delete(json);
}

static void rules_a_and_b_choose_configurations(void **state) {
    (void)state;
    write_file(ROBOT, pendulum);
    cJSON *z = ask(ROBOT, "--q Z"), *a = ask(ROBOT, "--q A"), *b = ask(ROBOT, "--q B");
    assert_near(component(item(z, "at_q"), "q", 0), 0.0, 0.0);
    assert_near(component(item(z, "at_q"), "q", 1), 0.5, 0.0);
    assert_near(component(item(a, "at_q"), "q", 0), -1.0 + 0.3 * 4.0, 1e-15);
    assert_near(component(item(a, "at_q"), "q", 1), 2.0 * 0.2 + 0.5, 1e-15);
    assert_near(component(item(b, "at_q"), "q", 0), 0.3 * sin(1.0), 1e-15);
    cJSON_Delete(z);
    cJSON_Delete(a);
    cJSON_Delete(b);
}

static void constraints_are_listed(void **state) {
    (void)state;
    static const char *const path = STN_BINARY_DIR "/tests/info_loop.xml";
    write_file(
        path,
        "<mujoco model='m'><worldbody><body name='a'><joint name='j'/><geom size='1' mass='1'/></body>"
        "<body name='c'><joint name='l'/><geom size='1' mass='1'/></body></worldbody>"
        "<equality><connect name='loop' body1='a' body2='c' anchor='1 0 0'/><weld body1='c'/></equality></mujoco>");
    cJSON *json = ask(path, "");
    const cJSON *list = item(json, "constraints");
    assert_int_equal(cJSON_GetArraySize(list), 2);
    assert_string_equal(item(cJSON_GetArrayItem(list, 0), "name")->valuestring, "loop");
    assert_string_equal(item(cJSON_GetArrayItem(list, 0), "type")->valuestring, "ball");
    assert_string_equal(item(cJSON_GetArrayItem(list, 0), "b")->valuestring, "c");
    assert_string_equal(item(cJSON_GetArrayItem(list, 1), "b")->valuestring, "world");
    cJSON_Delete(json);
    char words[300];
    snprintf(words, sizeof words, "info %s 2>/dev/null", path);
    stn_expect_part(words, 0, "\n  ball      loop: a, c\n  weld      c, world\n");
}

/// The loader of tests/support/sprung_loader.c.
static void springs_gains_keyframes_and_the_proposed_base_are_shown(void **state) {
    (void)state;
    assert_int_equal(setenv("STICTION_PLUGIN_PATH", SPRUNG_FOLDER, 1), 0);
    write_file(SPRUNG, "w");
    cJSON *json = ask(SPRUNG, "--fk base");
    const cJSON *list = item(json, "joint_list"), *names = item(json, "keyframes"), *motors = item(json, "actuators");
    const cJSON *slide = cJSON_GetArrayItem(list, 0), *swing = cJSON_GetArrayItem(list, 2);
    assert_near(number(slide, "stiffness"), 200.0, 0.0);
    assert_near(number(slide, "rest"), 0.25, 0.0);
    assert_near(number(slide, "servo_kp"), 50.0, 0.0);
    assert_near(number(slide, "servo_kd"), 5.0, 0.0);
    assert_near(number(swing, "stiffness"), 0.0, 0.0);
    assert_true(cJSON_IsNull(item(swing, "rest")) && cJSON_IsNull(item(swing, "servo_kp")));
    assert_int_equal(cJSON_GetArraySize(names), 2);
    assert_string_equal(cJSON_GetArrayItem(names, 0)->valuestring, "home");
    assert_string_equal(cJSON_GetArrayItem(names, 1)->valuestring, "folded");
    assert_int_equal(cJSON_GetArraySize(motors), 1);
    assert_near(number(cJSON_GetArrayItem(motors, 0), "servo_kp"), 50.0, 0.0);
    assert_near(component(item(item(item(json, "at_q"), "fk"), "base"), "xyz", 2), 0.5, 0.0);
    cJSON_Delete(json);
    json = ask(SPRUNG, "--q home"); // slide, follow = 2 slide, swing
    assert_near(component(item(json, "at_q"), "q", 0), 0.1, 0.0);
    assert_near(component(item(json, "at_q"), "q", 1), 0.2, 0.0);
    assert_near(component(item(json, "at_q"), "q", 2), 0.3, 0.0);
    cJSON_Delete(json);
    stn_expect_part("info " SPRUNG " --q hom 2>&1", 2,
                    "--q hom: No such file or directory; give Z, A, B, a keyframe of the robot");
    write_file(SPRUNG, "f"); // a root that floats is welded where the file puts it
    json = ask(SPRUNG, "--fk base");
    assert_near(number(json, "nv"), 3.0, 0.0);
    assert_near(component(item(item(item(json, "at_q"), "fk"), "base"), "xyz", 2), 0.5, 0.0);
    stn_expect_part("info " SPRUNG " 2>/dev/null", 0, "\n  keyframes home, folded\n");
    stn_expect_part("info " SPRUNG " 2>/dev/null", 0, "  servo     kp 50, kd 5  spring 200 N/m, slack at 0.25\n");
    assert_true(cJSON_GetArraySize(item(json, "clouds")) == 0);
    write_file(SPRUNG, "a"); // nodes, one on the finger and two in the world
    cJSON_Delete(json);
    json = ask(SPRUNG, "--q home");
    const cJSON *cloud = cJSON_GetArrayItem(item(json, "clouds"), 0), *held = item(cloud, "attached");
    assert_near(number(cloud, "nodes"), 3.0, 0.0);
    assert_string_equal(text_of(cloud, "name"), "pad");
    assert_near(number(cloud, "mass_kg"), 0.3, 1e-15);
    assert_int_equal(cJSON_GetArraySize(held), 2);
    assert_string_equal(item(cJSON_GetArrayItem(held, 0), "link")->valuestring, "world");
    assert_near(number(cJSON_GetArrayItem(held, 0), "nodes"), 2.0, 0.0);
    assert_string_equal(item(cJSON_GetArrayItem(held, 1), "link")->valuestring, "finger");
    assert_near(number(cJSON_GetArrayItem(held, 1), "nodes"), 1.0, 0.0);
    const cJSON *skin = cJSON_GetArrayItem(item(cloud, "surfaces"), 0);
    assert_string_equal(item(skin, "name")->valuestring, "skin");
    assert_near(number(skin, "triangles"), 1.0, 0.0);
    assert_near(number(skin, "thickness_m"), 0.01, 0.0);
    assert_true(cJSON_IsFalse(item(skin, "solid")) && cJSON_IsFalse(item(skin, "self_collision")));
    cJSON_Delete(json);
    stn_expect_part("info " SPRUNG " 2>/dev/null", 0,
                    "\n  nodes     3 of pad, 0.3 kg, 2 attached to world, 1 to finger; surface skin of 1 triangles\n");
    stn_expect_part("check " SPRUNG " 2>&1", 0, "");
    assert_int_equal(unsetenv("STICTION_PLUGIN_PATH"), 0);
    write_file(ROBOT, pendulum);
    json = ask(ROBOT, "");
    assert_int_equal(cJSON_GetArraySize(item(json, "keyframes")), 0);
    cJSON_Delete(json);
}

static void people_get_a_table_and_a_tree(void **state) {
    (void)state;
    write_file(ROBOT, pendulum);
    stn_expect_part("info " ROBOT " 2>/dev/null", 0, "pendulum  (" ROBOT ")\n");
    stn_expect_part("info " ROBOT " 2>/dev/null", 0, "joints    3, 1 fixed, 1 revolute, 1 continuous\n");
    stn_expect_part("info " ROBOT " 2>/dev/null", 0, "nq 2, nv 2, 1 without the 1 mimic joint\n");
    stn_expect_part("info " ROBOT " 2>/dev/null", 0,
                    "inertia   2 links with mass, 2 of them point masses, all physical\n");
    stn_expect_part("info " ROBOT " 2>/dev/null", 0, "shapes    1 for collision (1 sphere), 0 visual\n");
    stn_expect_part("info " ROBOT " 2>/dev/null", 0, "size      0.2 x 0.2 x 0.2 m at zero");
    stn_expect_part("info " ROBOT " 2>/dev/null", 0,
                    "  base\n  `-- upper  (j1, revolute)  2 kg\n"
                    "      `-- lower, b  (j2, continuous)  3 kg\n          `-- tip  (fix, fixed)\n");
    write_file(SOFT, "<robot name='soft'><link name='a'><collision><geometry><sphere radius='1'/></geometry>"
                     "<drake:proximity_properties><drake:hydroelastic_modulus value='1e6'/>"
                     "</drake:proximity_properties></collision><collision><geometry><sphere radius='1'/></geometry>"
                     "</collision></link></robot>");
    stn_expect_part("info " SOFT " 2>/dev/null", 0,
                    "shapes    2 for collision (2 sphere) of which 1 is compliant, 0 visual\n");
    stn_expect_part("info " SOFT " --json 2>/dev/null", 0, "\"compliant\":\t1");
    stn_expect_part("info " SOFT " 2>/dev/null", 0, "patches   sphere of a: its flat pieces stand up to 0.0");
    stn_expect_part("info " SOFT " --json 2>/dev/null", 0, "\"outward_m\":\t0.0");
    stn_expect_part("info " ROBOT " --q Z 2>/dev/null", 0,
                    "    j1          14.1095       42.3285\n    j2          14.1095\n");
    stn_expect_part("info " ROBOT " 2>&1 >/dev/null", 0, "loaded in ");
}

/// What `stiction info` draws on a terminal of so many columns.
static const char *on_terminal(const char *locale, int columns) {
    static char out[1 << 16];
    char line[2048];
    snprintf(line, sizeof line, "script -qec 'stty cols %d; LC_ALL=%s %s info %s 2>/dev/null' /dev/null", columns,
             locale, COMMAND, ROBOT);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    out[fread(out, 1, sizeof out - 1, pipe)] = '\0';
    assert_int_equal(pclose(pipe), 0);
    return out;
}

static void a_tree_suits_the_terminal(void **state) {
    (void)state;
    skip_without("/usr/bin/script");
    write_file(ROBOT, pendulum);
    assert_non_null(strstr(on_terminal("C.UTF-8", 100),
                           "  base\r\n  \u2514\u2500\u2500 upper  (j1, revolute)  2 kg\r\n"
                           "      \u2514\u2500\u2500 lower, b  (j2, continuous)  3 kg\r\n"));
    assert_non_null(strstr(on_terminal("C", 100), "  base\r\n  `-- upper  (j1, revolute)  2 kg\r\n"));
    // too narrow for four columns a level; what still does not fit is cut
    assert_non_null(strstr(on_terminal("C.UTF-8", 30), "  \u2514\u2500upper  (j1, revolute)  2 \u2026\r\n"
                                                       "    \u2514\u2500lower, b  (j2, continuo\u2026\r\n"
                                                       "      \u2514\u2500tip  (fix, fixed)\r\n"));
    assert_non_null(strstr(on_terminal("C", 30), "  `-upper  (j1, revolute)  2 >\r\n"));
}

/// Names come from strangers: none may steer the terminal.
static void control_characters_of_names_are_not_printed(void **state) {
    (void)state;
    write_file(
        ROBOT,
        "<robot name='r&#27;[2J'><link name='a&#27;[31m'/><link name='b&#7;'/><joint name='j&#27;' type='continuous'>"
        "<parent link='a&#27;[31m'/><child link='b&#7;'/><axis xyz='0 0 1'/></joint></robot>");
    stn_run run;
    stn_run_command(&run, "info " ROBOT " 2>&1");
    for (const char *c = run.out; *c != '\0'; c++) {
        assert_true(*c == '\n' || (unsigned char)*c >= 0x20);
    }
    stn_run_command(&run, "check " ROBOT " 2>&1");
    for (const char *c = run.out; *c != '\0'; c++) {
        assert_true(*c == '\n' || (unsigned char)*c >= 0x20);
    }
}

// Every type that has more than one coordinate, in a row, each moving the next by its q:
//   planar (x, y, angle), ball, floating, universal, screw.
static const char all_types[] =
    "<robot name='types'><link name='l0'/>\n"
    "<link name='l1'/><link name='l2'/><link name='l3'/><link name='l4'/><link name='l5'/>\n"
    "<joint name='plane' type='planar'><parent link='l0'/><child link='l1'/><axis xyz='0 0 1'/></joint>\n"
    "<joint name='ball' type='ball'><parent link='l1'/><child link='l2'/></joint>\n"
    "<joint name='free' type='floating'><parent link='l2'/><child link='l3'/></joint>\n"
    "<joint name='cross' type='universal'><parent link='l3'/><child link='l4'/></joint>\n"
    "<joint name='thread' type='continuous'><parent link='l4'/><child link='l5'/><axis xyz='0 0 1'/></joint>\n"
    "</robot>\n";

static void a_file_sets_every_type_of_joint(void **state) {
    (void)state;
    double s = sqrt(0.5);
    write_file(ROBOT, all_types);
    // a quarter turn about z in the plane, half a turn about x by the ball, then a step along the turned y
    write_file(VALUES, "{ \"plane\": [1, 2, 1.5707963267948966], \"ball\": [0, 1.0000001, 0, 0],"
                       "  \"free\": [0, 3, 0, 0.7071067811865476, 0, 0, 0.7071067811865476], \"cross\": [0.25, -0.5],"
                       "  \"thread\": 0.5 }");
    cJSON *json = ask(ROBOT, "--q " VALUES " --fk l1 --fk l3");
    const cJSON *joints = item(json, "joints"), *at = item(json, "at_q"), *fk = item(at, "fk");
    static const char *const types[] = {"planar", "ball", "floating", "universal", "continuous"};
    for (int i = 0; i < STN_COUNT(types); i++) {
        assert_near(number(joints, types[i]), 1.0, 0.0);
    }
    assert_near(number(json, "nq"), 3 + 4 + 7 + 2 + 1, 0.0);
    assert_near(number(json, "nv"), 3 + 3 + 6 + 2 + 1, 0.0);
    assert_near(component(at, "q", 4), 1.0, 1e-16); // the ball's x, made a unit quaternion
    assert_near(component(item(fk, "l1"), "xyz", 0), 1.0, 0.0);
    assert_near(component(item(fk, "l1"), "quat_wxyz", 3), s, 1e-15);
    // Rz(90) Rx(180) (0, 3, 0) = Rz(90) (0, -3, 0) = (3, 0, 0)
    assert_near(component(item(fk, "l3"), "xyz", 0), 4.0, 1e-15);
    assert_near(component(item(fk, "l3"), "xyz", 1), 2.0, 1e-15);
    cJSON_Delete(json);
    write_file(VALUES, "{ \"ball\": [0.5, 0, 0, 0] }");
    stn_expect("info " ROBOT " --q " VALUES " 2>&1", 2,
               "stiction info: " VALUES
               ": joint 'ball': the quaternion (w x y z, numbers 1 to 4) has length 0.5, not 1\n");
}

static void inertia_and_size_are_judged(void **state) {
    (void)state;
    write_file(
        ROBOT,
        "<robot name='r'><link name='a'><inertial><mass value='3'/><inertia ixx='1' iyy='1' izz='3' ixy='0' "
        "ixz='0' iyz='0'/></inertial><visual><geometry><box size='1 2 4'/></geometry></visual></link>\n"
        "<link name='b'><inertial><origin xyz='1 0 0'/><mass value='2'/><inertia ixx='2' iyy='2' izz='2' ixy='1' "
        "ixz='0' iyz='0'/></inertial><visual><geometry><sphere radius='0.5'/></geometry></visual></link>\n"
        "<joint name='j' type='prismatic'><origin xyz='3 0 0'/><parent link='a'/><child link='b'/>"
        "<limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>");
    cJSON *json = ask(ROBOT, "");
    const cJSON *inertia = item(json, "inertia"), *size = item(json, "size"), *links = item(json, "link_list");
    const cJSON *a = cJSON_GetArrayItem(links, 0), *b = cJSON_GetArrayItem(links, 1);
    assert_true(cJSON_IsFalse(item(inertia, "physical")));
    assert_near(number(inertia, "triangle"), 1.0, 0.0);
    assert_near(number(inertia, "ok"), 1.0, 0.0);
    assert_string_equal(text_of(a, "inertia"), "triangle");
    assert_near(number(a, "line"), 1.0, 0.0);
    assert_string_equal(text_of(b, "inertia"), "ok");
    assert_near(number(b, "line"), 2.0, 0.0);
    for (int i = 0; i < 3; i++) { // 2 + 1, 2 - 1, 2
        assert_near(component(b, "principal_moments", i), 1.0 + i, 1e-15);
    }
    assert_near(component(b, "com", 0), 1.0, 0.0);
    assert_string_equal(text_of(size, "of"), "visual");
    assert_near(component(size, "lower", 0), -0.5, 0.0);
    assert_near(component(size, "extent", 0), 4.0, 1e-15); // to 3 + 0.5
    assert_near(component(size, "extent", 2), 4.0, 0.0);
    assert_near(number(item(item(json, "geometries"), "visual_shapes"), "box"), 1.0, 0.0);
    assert_true(number(json, "load_ms") > 0.0);
    cJSON_Delete(json);
    stn_expect_part("info " ROBOT " 2>/dev/null", 0,
                    "inertia   2 links with mass, 1 that no rigid body has:\n"
                    "            a: principal moments 1, 1, 3 kg m^2 (the largest exceeds the sum of the others)\n");
}

static void bad_input_is_one_line_and_status_2(void **state) {
    (void)state;
    write_file(ROBOT, pendulum);
    stn_expect("info /nonexistent.urdf 2>&1", 2, "stiction info: /nonexistent.urdf: No such file or directory\n");
    stn_expect("info 2>&1", 2, "stiction info: needs MODEL; see stiction info --help\n");
    stn_expect("info " ROBOT " --fk tipp 2>&1", 2, "stiction info: --fk tipp: no such link; did you mean 'tip'?\n");
    write_file(VALUES, "{ \"j3\": 0.3 }");
    stn_expect("info " ROBOT " --q " VALUES " 2>&1", 2,
               "stiction info: " VALUES ": the robot has no moving joint 'j3'; did you mean 'j1'?\n");
    write_file(VALUES, "{ \"j1\": [0.3, 1] }");
    stn_expect("info " ROBOT " --q " VALUES " 2>&1", 2,
               "stiction info: " VALUES ": joint 'j1' is revolute: give 1 finite number\n");
    write_file(VALUES, "{ \"j1\": 0.3 ");
    stn_expect("info " ROBOT " --q " VALUES " 2>&1", 2,
               "stiction info: " VALUES ": must be one JSON object { \"joint\": value }\n");
    stn_expect(
        "info " ROBOT " --q C 2>&1", 2,
        "stiction info: --q C: No such file or directory; give Z, A, B, a keyframe of the robot or a JSON file\n");
    write_file(ROBOT, "<robot name='r'>\n<link name='a'>\n</robot>");
    stn_expect("info " ROBOT " 2>&1", 2,
               "stiction info: " ROBOT ":2: the element that opens here is not closed by its own end tag\n");
    write_file(ROBOT, "<robot name='r'>\n<link/>\n<link name='a'/><link name='a'/></robot>");
    stn_expect("info " ROBOT " 2>&1", 2,
               "error: " ROBOT ":2: link: <link> has no name: add name=\"...\"\n"
               "error: " ROBOT ":3: link a: line 3 has a link of the same name: rename one\n"
               "stiction info: " ROBOT ":2: link: <link> has no name: add name=\"...\" (and 1 more)\n");
}

static void matrices_that_cannot_be_inverted_are_noted(void **state) {
    (void)state;
    static const char *const masses[][2] = {{"0", "the mass matrix is singular"},
                                            {"1e308", "the mass matrix overflows"}};
    for (int i = 0; i < STN_COUNT(masses); i++) {
        char robot[1024];
        snprintf(
            robot, sizeof robot,
            "<robot name='r'><link name='a'/><link name='b'><inertial><origin xyz='0 0 0'/><mass value='1'/><inertia "
            "ixx='0' iyy='0' izz='%s' ixy='0' ixz='0' iyz='0'/></inertial></link><link name='c'><inertial><origin "
            "xyz='9 0 0'/><mass value='1'/><inertia ixx='0' iyy='0' izz='%s' ixy='0' ixz='0' "
            "iyz='0'/></inertial></link>"
            "<joint name='j' type='continuous'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/></joint>"
            "<joint name='k' type='continuous'><parent link='b'/><child link='c'/><axis xyz='0 0 1'/></joint></robot>",
            masses[i][0], masses[i][0]);
        write_file(ROBOT, robot);
        cJSON *json = ask(ROBOT, "");
        const cJSON *at = item(json, "at_q");
        assert_true(cJSON_IsNull(item(at, "mass_matrix_condition_full")));
        assert_non_null(strstr(text_of(at, "note"), masses[i][1]));
        cJSON_Delete(json);
    }
}

static void soft_bodies_alone_have_a_mass(void **state) {
    (void)state;
    write_file(PADS, "<mujoco model='m'><worldbody><flexcomp name='pad' dim='3' count='3 3 3' mass='0.27'>"
                     "<elasticity young='1e5'/></flexcomp></worldbody></mujoco>");
    cJSON *json = ask(PADS, "");
    assert_string_equal(text_of(item(json, "at_q"), "note"),
                        "no link has a mass, soft bodies have: their figures stand with their nodes");
    const cJSON *cloud = cJSON_GetArrayItem(item(json, "clouds"), 0);
    assert_string_equal(text_of(cloud, "name"), "m/pad");
    assert_near(number(cloud, "mass_kg"), 0.27, 1e-15);
    cJSON_Delete(json);
    stn_expect_part("info " PADS, 0, "\n  nodes     27 of m/pad, 0.27 kg; surface m/pad of 48 triangles\n");
    stn_expect_part("info " PADS, 0, "\n  world\n\n  note: no link has a mass, soft bodies have");
}

static void warnings_of_the_file_are_passed_on(void **state) {
    (void)state;
    write_file(ROBOT, "<robot name='r'>\n<link name='a'/><link name='b'/>\n<joint name='j' type='revolute'>"
                      "<parent link='a'/><child link='b'/><axis xyz='0 0 1'/></joint></robot>");
    cJSON *json = ask(ROBOT, "");
    const cJSON *warnings = item(json, "warnings");
    assert_int_equal(cJSON_GetArraySize(warnings), 2);
    assert_string_equal(cJSON_GetArrayItem(warnings, 0)->valuestring,
                        ROBOT ":3: joint j: a revolute joint without <limit>: taken as unlimited");
    const cJSON *at = item(json, "at_q"); // sums over no mass are 0, what needs some is null
    assert_near(number(at, "mass_matrix_trace_full"), 0.0, 0.0);
    assert_true(cJSON_IsNull(item(at, "mass_matrix_condition_full")) && cJSON_IsNull(item(at, "gravity_full")));
    assert_string_equal(text_of(at, "note"), "no link has a mass: good for kinematics only");
    assert_true(cJSON_IsNull(item(json, "size")));
    cJSON_Delete(json);
    stn_expect_part("info " ROBOT " 2>&1 >/dev/null", 0, "warning: " ROBOT ":3: joint j: a revolute joint without");
}

// A cube of side 2 m off the origin, with a thirteenth triangle that has no area.
static const char cube[] = "v 1 0 0\nv 3 0 0\nv 3 2 0\nv 1 2 0\nv 1 0 2\nv 3 0 2\nv 3 2 2\nv 1 2 2\n"
                           "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\nf 1 1 2\n";

static void a_mesh_file_has_facts_of_its_own(void **state) {
    (void)state;
    write_file(MESH, cube);
    cJSON *json = ask(MESH, "");
    const cJSON *solid = item(json, "unit_density"), *hull = item(json, "hull");
    assert_string_equal(text_of(json, "format"), "obj");
    assert_near(number(json, "vertices"), 8.0, 0.0);
    assert_near(number(json, "triangles"), 13.0, 0.0);
    assert_near(number(json, "degenerate_triangles"), 1.0, 0.0);
    assert_near(number(json, "area_m2"), 24.0, 1e-12);
    assert_near(number(json, "volume_m3"), 8.0, 1e-12);
    assert_near(component(item(json, "bounds"), "upper", 0), 3.0, 0.0);
    assert_near(component(item(json, "bounds"), "extent", 2), 2.0, 0.0);
    assert_near(number(solid, "mass_kg"), 8.0, 1e-12);
    assert_near(component(solid, "com", 0), 2.0, 1e-12);
    assert_near(component(solid, "principal_moments", 0), 8.0 * 8.0 / 12.0, 1e-12); // m (2^2 + 2^2) / 12
    assert_near(number(hull, "vertices"), 8.0, 0.0);
    assert_near(number(hull, "volume_m3"), 8.0, 1e-12);
    cJSON_Delete(json);
    stn_expect_part("info " MESH " 2>/dev/null", 0, "  surface   13 triangles, 1 without area; ");
    stn_expect_part("info " MESH " 2>/dev/null", 0, "  hull      8 vertices, 12 triangles, 8 m^3\n");
}

/// VTK by its content: two tetrahedra, one of them inverted, and a field that is not 0 on the surface.
static void tetrahedra_tell_their_findings(void **state) {
    (void)state;
    write_file(MESH, "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n"
                     "0 0 0 1 0 0 0 1 0 0 0 1 .2 .2 .2\nCELLS 4 20\n4 0 1 2 4\n4 0 3 1 4\n4 0 2 3 4\n4 1 2 3 4\n"
                     "CELL_TYPES 4\n10 10 10 10\nPOINT_DATA 5\nSCALARS extent double\nLOOKUP_TABLE t\n0.5 0 0 0 1\n");
    cJSON *json = ask(MESH, "");
    const cJSON *findings = item(json, "findings");
    assert_true(cJSON_IsTrue(item(json, "pressure_field")));
    assert_near(number(json, "tetrahedra"), 4.0, 0.0);
    assert_int_equal(cJSON_GetArraySize(findings), 2);
    cJSON_Delete(json);
    stn_expect_part("info " MESH " 2>/dev/null", 0,
                    "  warning   1 of 4 tetrahedra are inverted: turned round\n"
                    "  warning   its field extent is not 0 at 1 vertices of the surface: it is taken as 0 there\n");
    stn_expect_part("info " MESH " 2>/dev/null", 0, "; with a pressure field\n");
}

/// Part of a cube: open, so without mass properties. A flat mesh has no hull either.
static void open_and_flat_meshes_say_what_they_lack(void **state) {
    (void)state;
    write_file(MESH, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    cJSON *json = ask(MESH, "");
    assert_true(cJSON_IsNull(item(json, "unit_density")) && cJSON_IsNull(item(json, "hull")));
    assert_true(cJSON_IsFalse(item(json, "closed")));
    assert_near(number(json, "open_edges"), 3.0, 0.0);
    cJSON_Delete(json);
    stn_expect_part("info " MESH " 2>/dev/null", 0,
                    "  solid     none: the surface is not closed, or inside out\n  hull      none: ");
}

static void a_mesh_file_that_cannot_be_read_is_one_line(void **state) {
    (void)state;
    stn_expect("info /nonexistent.STL 2>&1", 2,
               "stiction info: /nonexistent.STL: cannot be read: No such file or directory\n");
    write_file(MESH, "v 0 0 0\nv 1 0 0\nv 0 1 nan\nf 1 2 3\n");
    stn_expect_part("info " MESH " 2>&1", 2, "stiction info: " MESH ":3: ");
}

int main(void) {
    unsetenv("ROS_PACKAGE_PATH");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_joints_and_limits_are_those_of_the_file),
        cmocka_unit_test(figures_are_those_of_a_double_pendulum),
        cmocka_unit_test(rules_a_and_b_choose_configurations),
        cmocka_unit_test(constraints_are_listed),
        cmocka_unit_test(springs_gains_keyframes_and_the_proposed_base_are_shown),
        cmocka_unit_test(people_get_a_table_and_a_tree),
        cmocka_unit_test(a_tree_suits_the_terminal),
        cmocka_unit_test(control_characters_of_names_are_not_printed),
        cmocka_unit_test(a_file_sets_every_type_of_joint),
        cmocka_unit_test(inertia_and_size_are_judged),
        cmocka_unit_test(bad_input_is_one_line_and_status_2),
        cmocka_unit_test(matrices_that_cannot_be_inverted_are_noted),
        cmocka_unit_test(soft_bodies_alone_have_a_mass),
        cmocka_unit_test(warnings_of_the_file_are_passed_on),
        cmocka_unit_test(a_mesh_file_has_facts_of_its_own),
        cmocka_unit_test(tetrahedra_tell_their_findings),
        cmocka_unit_test(open_and_flat_meshes_say_what_they_lack),
        cmocka_unit_test(a_mesh_file_that_cannot_be_read_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
