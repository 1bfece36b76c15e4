// SPDX-License-Identifier: Apache-2.0
// <composite type="cable"> in MuJoCo's XML: nodes, masses, moduli, what holds it, and what is refused.
#include <stiction/soft.h>

#include "errors_fixture.h"
#include "mjcf_fixture.h"

#define PLUGIN                                                                                                     \
    "<plugin plugin='mujoco.elasticity.cable'><config key='twist' value='1e7'/><config key='bend' value='2.4e7'/>" \
    "<config key='vmax' value='1'/></plugin>"
#define GEOM      "<geom type='capsule' size='.01' rgba='1 0 0 1' friction='.7'/>"
#define CABLE(at) "\n<composite type='cable' " at "</composite>"
#define MAKE(at)  MUJOCO(WORLD(CABLE(at)))
#define STRAIGHT  "curve='s' count='5' size='2' "

static const stn_tree *cloud(const stn_model *m) {
    for (int32_t t = 0; t < m->tree_count; t++) {
        if (m->trees[t].kind == STN_TREE_NODAL) {
            return &m->trees[t];
        }
    }
    fail_msg("no nodes");
    return NULL;
}

static void expect_node(const fixture *f, int32_t i, double x, double y, double z) {
    const double *p = &f->model->q0[cloud(f->model)->q_start + 7 * i];
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

static double total_mass(const stn_model *m) {
    double sum = 0.0;
    for (int32_t i = 0; i < m->node_count; i++) {
        sum += m->node_mass[i];
    }
    return sum;
}

static void a_straight_cable(void **state) {
    fixture *f = *state;
    const stn_model *m =
        good_mjcf(f, MAKE(STRAIGHT "offset='0 0 1' initial='free'>" PLUGIN GEOM "<joint kind='main' damping='.1'/>"));
    assert_int_equal(m->node_count, 5);
    assert_string_equal(m->element_groups[0].instance->desc->id, "cable");
    assert_int_equal(m->element_groups[0].element_count, 4);
    assert_int_equal(m->attachment_count, 0);
    expect_node(f, 0, 0.0, 0.0, 1.0);
    expect_node(f, 1, 0.5, 0.0, 1.0);
    expect_node(f, 4, 2.0, 0.0, 1.0);
    // four capsules of density 1000, each with two half spheres
    assert_near(total_mass(m), 1000.0 * (STN_PI * 1e-4 * 2.0 + 4.0 * 4.0 / 3.0 * STN_PI * 1e-6), 1e-14);
    assert_near(parameter(m, "young"), 2.4e7, 0.0);
    assert_near(parameter(m, "poisson"), 0.2, 1e-15); // so that G = 1e7
    assert_near(parameter(m, "radius"), 0.01, 0.0);
    const double bending = 2.4e7 * STN_PI * 1e-8 / 4.0;
    assert_near(parameter(m, "rayleigh_stiffness") * bending / 0.5, 0.1, 1e-15);
    const stn_geometry *g = &m->geometries[0];
    assert_int_equal(m->geometry_count, 5);
    assert_near(g->material.mu, 0.7, 0.0);
    assert_near(g->rgba[0], 1.0, 0.0);
    assert_near(g->rgba[1], 0.0, 0.0);
    expect_finding(f, STN_SEVERITY_WARNING, "cable", 3, "composite cable", "stretches by 1 % under 75.4 N");
    expect_finding(f, STN_SEVERITY_WARNING, "cable", 3, "composite cable", "twist 0.833 times as much");
    assert_int_equal(f->list.count, 2);
}

/// A circle, turned by quat, in a frame, held by its first vertex.
static void a_curve_in_a_body(void **state) {
    fixture *f = *state;
    const stn_model *m = good_mjcf(
        f, MUJOCO(WORLD("<body name='a' pos='0 0 1'>" SOLID "<freejoint/><frame pos='0 0 1'>" CABLE(
               "curve='cos(s) sin(s) 0' count='3' size='1 2 1' quat='.5 .5 .5 .5' offset='1 0 0' prefix='C' "
               "initial='none'>" PLUGIN
               "<geom type='cylinder' size='.01' mass='3' contype='0' conaffinity='0'/>") "</frame></body>")));
    expect_node(f, 0, 1.0, 2.0, 2.0); // (2, 0, 0) is turned to y
    expect_node(f, 1, 1.0, 0.0, 4.0); // (0, 2, 0) to z
    expect_node(f, 2, 1.0, -2.0, 2.0);
    assert_string_equal(cloud(m)->name, "m/C");
    assert_near(total_mass(m), 6.0, 1e-14);
    assert_int_equal(m->attachment_count, 1);
    assert_true(m->node_attachment[0] >= 0);
    assert_string_equal(m->links[m->attachments[0].link].name, "a");
    assert_false(m->geometries[0].collision);
    expect_finding(f, STN_SEVERITY_WARNING, "cable", 3, "composite C", "collides as capsules do");
}

/// The vertices of the file are the nodes, also where they are unequally far apart.
static void listed_vertices(void **state) {
    fixture *f = *state;
    good_mjcf(f, MAKE("vertex='0 0 0  1 0 0  1 .5 0  1 .5 .25' initial='none'>" PLUGIN GEOM));
    expect_node(f, 1, 1.0, 0.0, 0.0);
    expect_node(f, 2, 1.0, 0.5, 0.0);
    expect_node(f, 3, 1.0, 0.5, 0.25);
    expect_finding(f, STN_SEVERITY_WARNING, "cable", 3, "composite cable", "differ in length by a factor of 4");
    assert_int_equal(f->model->attachments[0].link, STN_WORLD);
}

static void keyframes_step_over_cables(void **state) {
    fixture *f = *state;
    good_mjcf(f, MUJOCO(WORLD(CABLE(
                     STRAIGHT
                     "initial='none'>" PLUGIN GEOM) "<body name='a'>" SOLID
                                                    "<joint name='j'/></body>") "<keyframe><key name='k' qpos='1 0 0 0 "
                                                                                "1 0 0 0 1 0 0 0 5'/></keyframe>"));
    assert_near(f->model->keyframes[0].q[0], 5.0, 0.0);
}

#define E(at, code, part) \
    { MAKE(at), code, 3, "composite cable", part }
#define FREE "initial='free' "
static const wrong refused[] = {
    E(STRAIGHT ">" PLUGIN GEOM, "unsupported", "initial=\"ball\" of <composite>, which it is when absent"),
    E(STRAIGHT "initial='fixed'>" PLUGIN GEOM, "word", "must be one of: free ball none"),
    E(FREE "curve='s' count='2' size='1'>" PLUGIN GEOM, "range", "count of <composite> = 2 1 1"),
    E(FREE "curve='s' count='5 5' size='1'>" PLUGIN GEOM, "range", "count of <composite> = 5 5 1"),
    E(FREE "curve='s' count='1e9' size='1'>" PLUGIN GEOM, "range", "whole number from 3 to 100000"),
    E(FREE "curve='t' count='5' size='1'>" PLUGIN GEOM, "word", "curve of <composite> = 't'"),
    E(FREE "curve='s s s s' count='5' size='1'>" PLUGIN GEOM, "word", "up to three of"),
    E(FREE "curve='0' count='5' size='1'>" PLUGIN GEOM, "range", "vertices 0 and 1 of <composite> are 0 m apart"),
    E(FREE "curve='s' count='5' size='1e60'>" PLUGIN GEOM, "range", "must be > 0 and finite"),
    E(FREE "curve='s' count='5' size='nan'>" PLUGIN GEOM, "number", "size of <composite>"),
    E(FREE "vertex='0 0 0 1 0 0'>" PLUGIN GEOM, "number", "at least 9, not 6"),
    E(FREE "vertex='0 0 0 1 0 0 2 0 0' count='3'>" PLUGIN GEOM, "conflict", "vertex and count"),
    E(FREE "vertex='0 0 0 1 0 0 0 0 0'>" PLUGIN GEOM, "soft", "turns back on itself at node 1"),
    E(FREE STRAIGHT ">" GEOM, "unsupported", "a cable without <plugin plugin=\"mujoco.elasticity.cable\">"),
    E(FREE STRAIGHT "><plugin plugin='mujoco.elasticity.cable'><config key='bend' value='1'/></plugin>" GEOM,
      "elasticity", "twist = 0 Pa of <plugin> must be > 0"),
    E(FREE STRAIGHT "><plugin plugin='mujoco.elasticity.cable'><config key='bend' value='4'/><config key='twist' "
                    "value='1'/></plugin>" GEOM,
      "unsupported", "bend = 4 Pa of <plugin> is more than three times twist = 1 Pa"),
    E(FREE STRAIGHT "><plugin plugin='mujoco.elasticity.cable'><config key='bent' value='1'/></plugin>" GEOM, "word",
      "'bent' must be one of: bend twist flat vmax"),
    E(FREE STRAIGHT ">" PLUGIN, "missing", "a cable needs <geom"),
    E(FREE STRAIGHT ">" PLUGIN "<geom type='box' size='.1 .1 .1'/>", "unsupported", "a cable of boxes"),
    E(FREE STRAIGHT ">" PLUGIN "<geom type='capsule' size='0'/>", "range", "size of <geom> = 0 m"),
    E(FREE STRAIGHT ">" PLUGIN "<geom type='capsule' size='.1' mass='-1'/>", "range", "the mass of the cable, -4 kg"),
    E(FREE STRAIGHT ">" PLUGIN "<geom type='capsule' size='1e60'/>", "range",
      "size of <geom> = 1e+60 m must be > 0 and at most 1e+50"),
    E(FREE STRAIGHT ">" PLUGIN GEOM "<joint kind='main' stiffness='1'/>", "unsupported", "stiffness of <joint>"),
    E(FREE STRAIGHT ">" PLUGIN GEOM "<joint kind='main' armature='1'/>", "unsupported", "armature of <joint>"),
    E(FREE STRAIGHT ">" PLUGIN GEOM "<joint kind='main' range='0 1'/>", "unsupported", "range of <joint>"),
    E(FREE STRAIGHT ">" PLUGIN GEOM "<joint kind='main' damping='-1'/>", "range", "damping"),
    {MUJOCO(WORLD("<body name='a'>" SOLID CABLE(FREE STRAIGHT ">" PLUGIN GEOM) "</body>")), "joint_type", 3,
     "composite cable", "free bodies stand in <worldbody>"},
    {MUJOCO(
         WORLD(CABLE(FREE STRAIGHT ">" PLUGIN GEOM)) "<actuator><motor site='S_last' gear='0 0 0 1 0 0'/></actuator>"),
     "unsupported", 3, "composite cable", "'S_last' of this cable is named by"},
    {MUJOCO(WORLD("<body name='a'>" SOLID "\n<composite type='grid' count='3 3 1'/></body>")), "unsupported", 3,
     "mujoco", "<composite> is not read"},
    {MUJOCO(WORLD(CABLE(FREE STRAIGHT ">" PLUGIN GEOM) CABLE(FREE STRAIGHT ">" PLUGIN GEOM))), "duplicate_soft", 4,
     "composite cable", "same name"},
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
        cmocka_unit_test_setup_teardown(a_straight_cable, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_curve_in_a_body, set_up, tear_down),
        cmocka_unit_test_setup_teardown(listed_vertices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keyframes_step_over_cables, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_the_same_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
