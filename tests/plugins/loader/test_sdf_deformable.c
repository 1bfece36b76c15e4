// SPDX-License-Identifier: Apache-2.0
// Drake's deformable links in SDFormat files, and PyBullet's deformables in URDF.
#include <stiction/soft.h>

#include "errors_fixture.h"
#include "sdf_fixture.h"

/// Two tetrahedra that share a face.
static const char vtk[] = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n"
                          "0 0 0  1 0 0  0 1 0  0 0 1  1 1 1\nCELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\nCELL_TYPES 2\n10\n10\n";

#define PROPERTIES                                                                                     \
    "<drake:youngs_modulus>3e4</drake:youngs_modulus><drake:poissons_ratio>0.4</drake:poissons_ratio>" \
    "<drake:mass_density>500</drake:mass_density>"
#define MESH "<mesh><uri>two.vtk</uri></mesh>"
#define BODY(shape, properties, more)                                                                        \
    "<collision name='c'><geometry>" shape "</geometry></collision><drake:deformable_properties>" properties \
    "</drake:deformable_properties>" more
#define SOFT(name, more) "<link name='" name "'>" more "</link>\n"

static const double *node(const stn_model *m, int32_t i) {
    for (int32_t t = 0; t < m->tree_count; t++) {
        if (m->trees[t].kind == STN_TREE_NODAL) {
            return &m->q0[m->trees[t].q_start + 3 * i];
        }
    }
    fail_msg("no nodes");
    return NULL;
}

static void expect_node(const fixture *f, int32_t i, double x, double y, double z) {
    const double *p = node(f->model, i);
    assert_near(p[0], x, 1e-15);
    assert_near(p[1], y, 1e-15);
    assert_near(p[2], z, 1e-15);
}

static const stn_model *good(fixture *f, const char *text) {
    write_text(f, "two.vtk", vtk);
    load_text(f, text);
    if (f->status != STN_OK) {
        print_findings(f);
        fail_msg("%s", f->err.text);
    }
    return f->model;
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

static void a_deformable_alone(void **state) {
    fixture *f = *state;
    const stn_model *m = good(
        f, ROBOT(SOFT(
               "pad",
               POSE("0 0 1 0 0 0") "<visual name='v'><geometry><empty/></geometry><material><diffuse>1 0 0 "
                                   "1</diffuse></material></visual>"
                                   "<collision name='c'><geometry><mesh><uri>two.vtk</uri><scale>2 1 "
                                   "1</scale></mesh></geometry><drake:proximity_properties>"
                                   "<drake:mu_dynamic>0.7</drake:mu_dynamic>"
                                   "<drake:hunt_crossley_dissipation>10</drake:hunt_crossley_dissipation>"
                                   "</drake:proximity_properties></collision><drake:deformable_properties>" PROPERTIES
                                   "<drake:mass_damping>2</drake:mass_damping><drake:stiffness_damping>0.01</"
                                   "drake:stiffness_damping>"
                                   "<drake:material_model>linear_corotated</drake:material_model></"
                                   "drake:deformable_properties>")));
    assert_int_equal(m->link_count, 1);
    assert_string_equal(m->links[0].name, "world");
    assert_int_equal(m->node_count, 5);
    assert_string_equal(m->element_groups[0].instance->desc->id, "fem");
    assert_near(parameter(m, "young"), 3e4, 0.0);
    assert_near(parameter(m, "poisson"), 0.4, 0.0);
    assert_near(parameter(m, "density"), 500.0, 0.0);
    assert_near(parameter(m, "rayleigh_mass"), 2.0, 0.0);
    assert_near(parameter(m, "rayleigh_stiffness"), 0.01, 0.0);
    expect_node(f, 1, 2.0, 0.0, 1.0);
    const stn_geometry *g = &m->geometries[m->surfaces[0].geometry];
    assert_string_equal(g->name, "m/pad");
    assert_near(g->material.mu, 0.7, 0.0);
    assert_near(g->material.dissipation, 10.0, 0.0);
    assert_near(g->rgba[0], 1.0, 0.0);
    assert_near(g->rgba[1], 0.0, 0.0);
    assert_int_equal(m->attachment_count, 0);
    assert_int_equal(f->list.count, 0);
}

/// Poses lead through other links and frames; the body stands on the root of the robot, wherever that is put.
static void beside_links(void **state) {
    fixture *f = *state;
    const char *text =
        ROBOT(LINK("base", POSE("0 0 1 0 0 0")) LINK("arm", POSE("1 0 1 0 0 0"))
                  JOINT("j", "revolute", "base", "arm", AXIS("0 0 1", ""))
                      SOFT("pad", POSE_IN("arm", "0 0 0.5 0 0 1.5707963267948966") BODY(MESH, PROPERTIES, "")));
    good(f, text);
    expect_node(f, 0, 1.0, 0.0, 1.5);
    expect_node(f, 1, 1.0, 1.0, 1.5);
    f->as_proposed = false;
    f->base = (stn_pose){stn_mat3_identity(), {0.0, 3.0, 0.0}};
    load_request(f);
    assert_int_equal(f->status, STN_OK);
    expect_node(f, 0, 1.0, 3.0, 0.5);
}

/// (x - point) . normal < 0 is held, in the world.
static void walls_hold_nodes(void **state) {
    fixture *f = *state;
    const stn_model *m =
        good(f, ROBOT(SOFT("pad", POSE("0 0 1 0 0 0") BODY(
                                      MESH, PROPERTIES,
                                      "<drake:wall_boundary_condition><drake:point_on_plane>0 0 "
                                      "1.5</drake:point_on_plane><drake:outward_normal>0 0 2</drake:outward_normal>"
                                      "</drake:wall_boundary_condition>"))));
    assert_int_equal(m->attachment_count, 3);
    for (int32_t i = 0; i < 5; i++) {
        assert_int_equal(m->node_attachment[i] >= 0, i < 3); // z of nodes 3 and 4 is 2
    }
}

static void what_is_not_quite_the_same_is_told(void **state) {
    fixture *f = *state;
    good(f, ROBOT(SOFT("pad", BODY(MESH, "\n<drake:material_model>neohookean</drake:material_model>", ""))));
    expect_finding(f, STN_SEVERITY_WARNING, "material", 4, "link pad", "neohookean is read as neo_hookean");
    expect_finding(f, STN_SEVERITY_WARNING, "default", 3, "link pad", "no <drake:youngs_modulus>: taken as 1e+08 Pa");
    expect_finding(f, STN_SEVERITY_WARNING, "default", 3, "link pad", "no <drake:poissons_ratio>: taken as 0.49");
    expect_finding(f, STN_SEVERITY_WARNING, "default", 3, "link pad", "no <drake:mass_density>: taken as 1500 kg/m^3");
    assert_int_equal(f->list.count, 4);
    assert_near(parameter(f->model, "young"), 1e8, 0.0);
}

#define E(body, code, part) \
    { ROBOT(SOFT("pad", body)), code, 3, "link pad", part }
#define P(property) BODY(MESH, PROPERTIES property, "")
#define WALL(point, normal)                                       \
    "<drake:wall_boundary_condition><drake:point_on_plane>" point \
    "</drake:point_on_plane><drake:outward_normal>" normal "</drake:outward_normal></drake:wall_boundary_condition>"
static const wrong refused[] = {
    E(BODY("<sphere><radius>1</radius></sphere>", PROPERTIES, ""), "unsupported",
      "Drake cuts a <sphere> into tetrahedra"),
    E(BODY("<box><size>1 1 1</size></box>", PROPERTIES, ""), "unsupported", "a <mesh> with the <uri> of a .vtk file"),
    E(BODY("<mesh><uri>nowhere.vtk</uri></mesh>", PROPERTIES, ""), "missing_mesh", "nowhere.vtk"),
    E(BODY("<mesh><uri>sheet.obj</uri></mesh>", PROPERTIES, ""), "mesh", "'sheet.obj' holds no tetrahedra"),
    E(BODY("<mesh><uri>two.vtk</uri><scale>1 0 1</scale></mesh>", PROPERTIES, ""), "size_of_shape",
      "no factor may be 0"),
    E("<drake:deformable_properties>" PROPERTIES "</drake:deformable_properties>", "shape", "one <collision>, not 0"),
    E(BODY(MESH, PROPERTIES, SHAPE("collision", "d", "", MESH)), "shape", "one <collision>, not 2"),
    E(SHAPE("collision", "d", POSE("1 0 0 0 0 0"), MESH) "<drake:deformable_properties>" PROPERTIES
                                                         "</drake:deformable_properties>",
      "unsupported", "give it to the link"),
    E(BODY(MESH, PROPERTIES, MASS("1")), "unsupported", "<inertial> of a deformable link has no meaning"),
    E(BODY(MESH,
           "<drake:youngs_modulus>0</drake:youngs_modulus><drake:poissons_ratio>0.4</drake:poissons_ratio>"
           "<drake:mass_density>5</drake:mass_density>",
           ""),
      "range", "<drake:youngs_modulus> = 0 Pa must be above 0"),
    E(BODY(MESH,
           "<drake:youngs_modulus>1</drake:youngs_modulus><drake:poissons_ratio>0.5</drake:poissons_ratio>"
           "<drake:mass_density>5</drake:mass_density>",
           ""),
      "range", "<drake:poissons_ratio> = 0.5"),
    E(BODY(MESH,
           "<drake:youngs_modulus>1</drake:youngs_modulus><drake:poissons_ratio>nan</drake:poissons_ratio>"
           "<drake:mass_density>5</drake:mass_density>",
           ""),
      "number", "drake:poissons_ratio"),
    E(P("<drake:mass_damping>-1</drake:mass_damping>"), "range", "drake:mass_damping"),
    E(P("<drake:material_model>linear</drake:material_model>"), "unsupported", "use linear_corotated"),
    E(P("<drake:material_model>mooney</drake:material_model>"), "word", "'mooney' is not read"),
    E(BODY(MESH, PROPERTIES, WALL("0 0 0", "0 0 0")), "axis", "has length 0"),
    E(BODY(MESH, PROPERTIES, WALL("0 0", "0 0 1")), "number", "drake:point_on_plane"),
    E(BODY(MESH, PROPERTIES, WALL("0 0 9", "0 0 1")), "unsupported", "all nodes of the deformable link are beyond"),
    E(BODY(MESH, PROPERTIES, "<drake:wall_boundary_condition/>"), "missing", "needs <drake:point_on_plane>"),
    E("<collision name='c'><geometry>" MESH "</geometry><drake:proximity_properties><drake:hydroelastic_modulus>1e5"
      "</drake:hydroelastic_modulus></drake:proximity_properties></collision><drake:deformable_properties>" PROPERTIES
      "</drake:deformable_properties>",
      "unsupported", "hydroelastic properties of a deformable link"),
    {ROBOT("<static>true</static>" SOFT("pad", P(""))), "unsupported", 3, "link pad", "in a <static> model"},
    {ROBOT(LINK("a", "")
               SOFT("pad", P("")) "<joint name='j' type='fixed'><parent>a</parent><child>pad</child></joint>\n"),
     "unsupported", 5, "joint j", "a joint to a deformable link"},
    {ROBOT(LINK("a", "")
               SOFT("pad", P("")) "<joint name='j' type='fixed'><parent>pad</parent><child>a</child></joint>\n"),
     "unsupported", 5, "joint j", "a joint to a deformable link"},
    {ROBOT(LINK("a", "") SOFT("pad", P("")) "<frame name='f' attached_to='pad'/>\n"), "unsupported", 5, "frame f",
     "moves with deformable link 'pad'"},
    {ROBOT(SOFT("pad", P("")) SOFT("pad", P(""))), "duplicate_link", 4, "link", "same name"},
};

static void what_is_not_the_same_is_refused(void **state) {
    fixture *f = *state;
    write_text(f, "two.vtk", vtk);
    write_text(f, "sheet.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    for (int32_t i = 0; i < STN_COUNT(refused); i++) {
        expect_one_error(f, &refused[i]);
    }
}

static void pybullet_deformables_are_refused(void **state) {
    fixture *f = *state;
    static const wrong alone = {
        "<robot name='r'>\n<deformable name='torus'><inertial><mass value='1'/></inertial><neohookean mu='60' "
        "lambda='200' damping='0.01'/><visual filename='two.vtk'/></deformable></robot>",
        "unsupported", 2, "deformable torus", "PyBullet"};
    f->file = "robot.urdf";
    expect_one_error(f, &alone);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_deformable_alone, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(beside_links, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(walls_hold_nodes, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_quite_the_same_is_told, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_the_same_is_refused, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(pybullet_deformables_are_refused, set_up_sdf, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
