// SPDX-License-Identifier: Apache-2.0
// <flex> of <deformable> in MuJoCo's XML: elements over points that bodies of the file are.
#include <stiction/soft.h>

#include "errors_fixture.h"
#include "mjcf_fixture.h"

#define SLIDES       "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><joint type='slide'/>"
#define MASS(m)      "<inertial pos='0 0 0' mass='" m "' diaginertia='1 1 1'/>"
#define POINT(n, at) "<body name='" n "' pos='" at "'>" MASS("0.25") SLIDES "</body>"
#define SOFT         "<elasticity young='1e4' poisson='0.25' damping='0.01'/>"
#define SHEET        "<elasticity young='1e4' thickness='0.001' elastic2d='both'/>"
#define FLEX(at)     "<deformable>\n<flex name='f' " at "</flex></deformable>"
#define SQUARE       POINT("p", "0 0 1") POINT("q", "1 0 1") POINT("r", "0 1 1") POINT("s", "1 1 1")
#define PAIR         "element='0 1 2 1 3 2'"

static int32_t cloud_of(const stn_model *m) {
    for (int32_t t = 0; t < m->tree_count; t++) {
        if (m->trees[t].kind == STN_TREE_NODAL) {
            return t;
        }
    }
    fail_msg("no nodes");
    return -1;
}

static void expect_node(const fixture *f, int32_t i, double x, double y, double z) {
    const stn_model *m = f->model;
    const double *p = &m->q0[m->trees[cloud_of(m)].q_start + 3 * i];
    assert_near(p[0], x, 1e-15);
    assert_near(p[1], y, 1e-15);
    assert_near(p[2], z, 1e-15);
}

static double parameter(const stn_model *m, const char *name) {
    const stn_instance *element = m->element_groups[0].instance;
    for (int32_t i = 0; i < element->desc->param_count; i++) {
        if (strcmp(element->desc->params[i].name, name) == 0) {
            double value;
            memcpy(&value, (const char *)element->config + element->desc->params[i].offset, sizeof value);
            return value;
        }
    }
    fail_msg("no parameter %s", name);
    return 0.0;
}

/// A sheet over four bodies, none of which is a link.
static void bodies_that_slide_are_points(void **state) {
    fixture *f = *state;
    const stn_model *m =
        good_mjcf(f, MUJOCO(WORLD(SQUARE) FLEX("body='p q r s' " PAIR " radius='0.004' rgba='1 0 0 1'>" SHEET
                                               "<contact friction='0.7' selfcollide='none'/>")));
    assert_int_equal(m->node_count, 4);
    assert_int_equal(m->link_count, 1); // the world
    assert_int_equal(m->joint_count, 0);
    assert_string_equal(m->element_groups[0].instance->desc->id, "shell");
    assert_int_equal(m->element_groups[0].element_count, 2);
    expect_node(f, 0, 0.0, 0.0, 1.0);
    expect_node(f, 3, 1.0, 1.0, 1.0);
    assert_near(m->node_mass[2], 0.25, 0.0);
    assert_near(parameter(m, "young"), 1e4, 0.0);
    assert_near(parameter(m, "thickness"), 0.001, 0.0);
    assert_near(m->surfaces[0].thickness, 0.004, 0.0);
    assert_near(m->geometries[m->surfaces[0].geometry].material.mu, 0.7, 0.0);
    assert_int_equal(f->list.count, 0);
}

/// As MuJoCo saves a flexcomp with a pinned point: the others are bodies inside the one that holds it.
static void points_on_a_moving_body(void **state) {
    fixture *f = *state;
    const stn_model *m = good_mjcf(
        f,
        MUJOCO(WORLD("<body name='a' pos='0 0 1'>" SOLID "<freejoint/><body name='b' pos='1 0 0' euler='0 0 90'>" SOLID
                     "<joint name='j'/>" POINT("p", "1 0 0") POINT("q", "0 1 0") POINT("r", "0 0 1") "</body></body>")
                   FLEX("dim='3' body='b p q r' vertex='0 0 0  .5 0 0  0 0 0  0 0 0' element='0 1 2 3'>" SOFT)));
    assert_int_equal(m->node_count, 4);
    expect_node(f, 0, 1.0, 0.0, 1.0);
    expect_node(f, 1, 1.0, 1.5, 1.0); // half a metre further along x of b, which is y here
    expect_node(f, 2, 0.0, 0.0, 1.0);
    expect_node(f, 3, 1.0, 0.0, 2.0);
    assert_int_equal(m->attachment_count, 1);
    assert_string_equal(m->links[m->attachments[0].link].name, "b");
    assert_near(m->node_mass[0], 0.25, 0.0); // the mean of the others
    expect_finding(f, STN_SEVERITY_WARNING, "pinned_mass", 4, "flex f", "1 pinned points weigh 0.25 kg each");
    assert_int_equal(f->list.count, 1);
}

/// Bodies with more on them, or named elsewhere, stay links that hold their point.
static void other_bodies_hold_their_points(void **state) {
    static const char *const others[] = {
        "<body name='s' pos='1 1 1'>" MASS("2") SLIDES "<site name='eye'/></body>",
        "<body name='s' pos='1 1 1'>" MASS("2") "<freejoint/></body>",
        "<body name='s' pos='1 1 1'>" MASS("2") SLIDES "</body><body name='t'>" SOLID "<joint/></body>",
        "<body name='s' pos='1 1 1'>" MASS(
            "2") "<joint name='x' type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 "
                 "0'/><joint type='slide'/></body>",
        "<body name='s' pos='1 1 1'>" MASS("2") "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='1 1 0'/>"
                                                "<joint type='slide'/></body>",
    };
    static const char *const more[] = {"", "", "<equality><connect body1='t' body2='s' anchor='0 0 0'/></equality>",
                                       "<actuator><motor joint='x'/></actuator>", ""};
    fixture *f = *state;
    char text[4000];
    for (int32_t i = 0; i < STN_COUNT(others); i++) {
        snprintf(text, sizeof text,
                 "<mujoco model='m'><worldbody>" POINT("p", "0 0 1") POINT("q", "1 0 1")
                     POINT("r", "0 1 1") "%s</worldbody>" FLEX("body='p q r s' " PAIR ">" SHEET) "%s</mujoco>",
                 others[i], more[i]);
        const stn_model *m = good_mjcf(f, text);
        assert_int_equal(m->node_count, 4);
        expect_node(f, 3, 1.0, 1.0, 1.0);
        assert_int_equal(m->attachment_count, 1);
        assert_string_equal(m->links[m->attachments[0].link].name, "s");
        expect_finding(f, STN_SEVERITY_WARNING, "pinned_mass", 2, "flex f", "which body 's' carries");
    }
}

/// The order of the file's coordinates holds points, too.
static void keyframes_step_over_points(void **state) {
    fixture *f = *state;
    const stn_model *m =
        good_mjcf(f, MUJOCO(WORLD(POINT("p", "0 0 1") "<body name='a'>" SOLID "<joint name='j'/>" POINT(
                         "q", "1 0 1") "</body>" POINT("r", "0 1 1") "<body name='b'>" SOLID "<joint name='k'/></body>")
                                FLEX("body='p q r' element='0 1 2'>" SHEET) "<keyframe><key name='key' qpos='0 0 0 1 0 "
                                                                            "0 0 0 0 0 2'/></keyframe>"));
    assert_near(m->keyframes[0].q[0], 1.0, 0.0);
    assert_near(m->keyframes[0].q[1], 2.0, 0.0);
    expect_node(f, 1, 1.0, 0.0, 1.0); // points of several bodies are placed as they are drawn
}

static void the_total_mass_counts_points(void **state) {
    fixture *f = *state;
    const stn_model *m =
        good_mjcf(f, MUJOCO("<compiler settotalmass='4'/>" WORLD(SQUARE "<body name='a'>" SOLID "</body>")
                                FLEX("body='p q r s' " PAIR ">" SHEET)));
    assert_near(m->node_mass[0], 0.5, 1e-15);
    assert_near(m->links[1].mass.mass, 2.0, 1e-15);
}

static void skins_are_left_out(void **state) {
    fixture *f = *state;
    good_mjcf(f, MUJOCO(WORLD("<body name='a'>" SOLID
                              "</body>") "<deformable>\n<skin name='k' vertex='0 0 0'/></deformable>"));
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 4, "mujoco", "<skin> is not read");
    assert_int_equal(f->list.count, 1);
}

#define E(at, code, part) \
    { MUJOCO(WORLD(SQUARE) FLEX(at)), code, 4, "flex f", part }
#define B(body, code, element, part)                                                                                  \
    {                                                                                                                 \
        MUJOCO(WORLD(POINT("q", "1 0 1") POINT("r", "0 1 1") "\n" body) FLEX("body='q r p' element='0 1 2'>" SHEET)), \
            code, 3, element, part                                                                                    \
    }
static const wrong refused[] = {
    {MUJOCO(WORLD(SQUARE) "<deformable>\n<flex body='p q r s' " PAIR ">" SHEET "</flex></deformable>"), "name", 4,
     "flex", "has no name"},
    E(PAIR ">" SHEET, "missing", "needs body"),
    E("body='p q r s'>" SHEET, "missing", "needs element"),
    E("body='p q r ss' " PAIR ">" SHEET, "unknown_link", "there is no body 'ss'"),
    E("body='p q r s' element='0 1 2 3'>" SHEET, "number", "not 3 for each element"),
    E("body='p q r s' element='0 1 4'>" SHEET, "number", "names point 4, there are 4"),
    E("body='p q r s' vertex='0 0 0' " PAIR ">" SHEET, "number", "3 numbers, not three for each of its 4 bodies"),
    E("body='p q r s' vertex='0 0 0 0 0 0 0 0 0 0 0 x' " PAIR ">" SHEET, "number", "finite"),
    E("dim='1' body='p q r s' element='0 1'>" SOFT, "unsupported", "composite type=\"cable\""),
    E("dim='4' body='p q r s' element='0 1 2 3'>" SOFT, "range", "dim of <flex> = 4 must be 2 or 3"),
    E("dim='3' body='p q r s' element='0 1 2 3'>" SOFT, "soft", "volume"),
    E("dof='trilinear' body='p q r s' " PAIR ">" SHEET, "unsupported", "dof=\"trilinear\" of <flex>"),
    E("node='p q' body='p q r s' " PAIR ">" SHEET, "unsupported", "node of <flex>"),
    E("body='p' vertex='0 0 0 1 0 0 0 1 0' element='0 1 2'>" SHEET, "unsupported", "is rigid"),
    E("body='world world world' vertex='0 0 0 1 0 0 0 1 0' element='0 1 2'>" SHEET, "unsupported", "is rigid"),
    E("body='p q r s' " PAIR ">", "elasticity", "young of <elasticity> = 0 Pa must be > 0"),
    E("body='p q r s' " PAIR ">" SHEET "<edge stiffness='1'/>", "unsupported", "stiffness of <edge>"),
    E("body='p q r s' radius='0' " PAIR ">" SHEET, "range", "radius of <flex> = 0 m"),
    {MUJOCO(WORLD("<body name='a'>" SOLID "</body><body name='b'>" SOLID "</body>")
                FLEX("body='a b a' vertex='0 0 0 1 0 "
                     "0 0 1 0' element='0 1 2'>" SHEET)),
     "unsupported", 4, "flex f", "three slide joints along x, y, z"},
    B("<body name='p'>" MASS("1") "<joint type='slide' axis='1 0 0' damping='.1'/><joint type='slide' axis='0 1 0' "
                                  "damping='.1'/><joint type='slide'/></body>",
      "unsupported", "body p", "give damping of <elasticity>"),
    B("<body name='p'>" MASS("1") "<joint type='slide' axis='1 0 0' range='0 1'/><joint type='slide' axis='0 1 0'/>"
                                  "<joint type='slide'/></body>",
      "unsupported", "body p", "range of <joint>: the body is a point of a flex"),
    B("<body name='p'>" MASS("1") "<joint type='slide' axis='1 0 0' stiffness='1'/><joint type='slide' axis='0 1 0'/>"
                                  "<joint type='slide'/></body>",
      "unsupported", "body p", "stiffness of <joint>"),
    B("<body name='p'>" MASS("0") SLIDES "</body>", "range", "body p", "mass of <inertial> = 0 kg must be > 0"),
    B("<body name='p'><inertial pos='0 0 0' diaginertia='1 1 1'/>" SLIDES "</body>", "missing", "body p", "mass"),
    {MUJOCO(WORLD(SQUARE) FLEX("body='p q r s' " PAIR ">" SHEET) "<equality>\n<flex flex='f'/></equality>"),
     "unsupported", 5, "equality", "<flex> keeps the lengths of a flex by constraints"},
};

static void what_is_not_the_same_is_refused(void **state) {
    fixture *f = *state;
    f->file = "robot.xml";
    f->as_proposed = true;
    for (int32_t i = 0; i < STN_COUNT(refused); i++) {
        expect_one_error(f, &refused[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bodies_that_slide_are_points, set_up, tear_down),
        cmocka_unit_test_setup_teardown(points_on_a_moving_body, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_bodies_hold_their_points, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keyframes_step_over_points, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_total_mass_counts_points, set_up, tear_down),
        cmocka_unit_test_setup_teardown(skins_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_the_same_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
