// SPDX-License-Identifier: Apache-2.0
// What the URDF loader reads, element by element.
#include <stiction/plugin.h>

#include "urdf_fixture.h"

static void expect_pose(const stn_pose *pose, stn_vec3 position, const stn_mat3 *rotation) {
    assert_near(pose->position.x, position.x, 1e-15);
    assert_near(pose->position.y, position.y, 1e-15);
    assert_near(pose->position.z, position.z, 1e-15);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(pose->rotation.m[i / 3][i % 3], rotation->m[i / 3][i % 3], 1e-15);
    }
}

static void one_link_is_a_robot(void **state) {
    fixture *f = *state;
    const stn_model *m = good_model(f, ROBOT(LINK("only")));
    assert_int_equal(m->group_count, 1);
    assert_string_equal(m->groups[0].name, "r");
    assert_int_equal(m->link_count, 1);
    assert_int_equal(m->nv, 0);
    assert_int_equal(f->list.count, 0);
    assert_string_equal(m->links[m->groups[0].root_link].name, "only");
}

// R = Rz(90 deg): I' = R diag(1, 2, 3) R^T = diag(2, 1, 3).
static void inertial_frame_may_be_turned_and_shifted(void **state) {
    fixture *f = *state;
    good_model(
        f, ROBOT("<link name='a'><inertial><origin xyz='1 2 3' rpy='0 0 1.5707963267948966'/>"
                 "<inertia ixx='1' iyy='2' izz='2.5' ixy='0' ixz='0' iyz='0'/><mass value='4'/></inertial></link>"));
    const stn_mass *mass = &link_of(f, "a")->mass;
    assert_near(mass->mass, 4.0, 0.0);
    assert_near(mass->com.x, 1.0, 0.0);
    assert_near(mass->com.z, 3.0, 0.0);
    assert_near(mass->inertia.m[0][0], 2.0, 1e-15);
    assert_near(mass->inertia.m[1][1], 1.0, 1e-15);
    assert_near(mass->inertia.m[2][2], 2.5, 1e-15);
    assert_near(mass->inertia.m[0][1], 0.0, 1e-15);
}

static void joint_has_its_type_limits_and_damping(void **state) {
    fixture *f = *state;
    good_model(f,
               ROBOT(LINK("a") LINK("b") LINK("c") LINK("d") LINK(
                   "e") "<joint name='p' type='prismatic'><parent link='a'/><child link='b'/><origin xyz='1 2 3' "
                        "rpy='0.1 0.2 0.3'/>"
                        "<axis xyz='1 2 2'/><limit lower='-0.5' upper='0.25' effort='7' velocity='8'/>"
                        "<dynamics damping='0.5' friction='0.125'/></joint>"
                        "<joint name='c' type='continuous'><parent link='b'/><child link='c'/><limit effort='1' "
                        "velocity='2'/></joint>"
                        "<joint name='f' type='floating'><parent link='c'/><child link='d'/></joint>"
                        "<joint name='x' type='fixed'><parent link='d'/><child link='e'/><axis xyz='0 0 0'/></joint>"));
    const stn_joint *p = joint_of(f, "p");
    stn_mat3 r = stn_mat3_from_rpy(0.1, 0.2, 0.3);
    assert_int_equal(p->type, STN_JOINT_PRISMATIC);
    expect_pose(&p->origin, stn_vec3_make(1.0, 2.0, 3.0), &r);
    assert_near(p->axis.x, 1.0 / 3.0, 1e-15);
    assert_near(p->axis.z, 2.0 / 3.0, 1e-15);
    assert_near(p->lower, -0.5, 0.0);
    assert_near(p->upper, 0.25, 0.0);
    assert_near(p->effort, 7.0, 0.0);
    assert_near(p->velocity, 8.0, 0.0);
    assert_near(p->damping, 0.5, 0.0);
    assert_near(p->friction, 0.125, 0.0);
    const stn_joint *c = joint_of(f, "c");
    assert_int_equal(c->type, STN_JOINT_CONTINUOUS);
    assert_near(c->axis.x, 1.0, 0.0);
    assert_true(c->lower == -(double)INFINITY && c->upper == (double)INFINITY);
    assert_int_equal(joint_of(f, "f")->type, STN_JOINT_FLOATING);
    assert_int_equal(f->model->nv, 8);
    assert_int_equal(f->model->joint_count, 3);
    assert_string_equal(link_of(f, "e")->joint_name, "x");
    expect_finding(f, STN_SEVERITY_NOTE, "axis", 0, "joint p", "length 3");
    expect_finding(f, STN_SEVERITY_NOTE, "default", 0, "joint c", "1 0 0");
    assert_int_equal(f->list.warning_count, 0);
}

static void early_spelling_of_dynamics_is_read(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a") LINK("b") HINGE("j", "a", "b", "<joint_properties damping='3' friction='4'/>")));
    assert_near(joint_of(f, "j")->damping, 3.0, 0.0);
    assert_near(joint_of(f, "j")->friction, 4.0, 0.0);
}

// Joints before links, the leaf first, a mimic joint before its master.
static void elements_come_in_any_order(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(HINGE("j3", "c", "d", "<mimic joint='j2' multiplier='2' offset='0.5'/>")
                            HINGE("j2", "b", "c", "<mimic joint='j1'/>") LINK("d") HINGE("j1", "a", "b", "") LINK("c")
                                LINK("a") LINK("b")));
    const stn_model *m = f->model;
    assert_string_equal(m->links[m->groups[0].root_link].name, "a");
    assert_string_equal(m->joints[0].name, "j3"); // the file's order stays
    assert_string_equal(m->joints[joint_of(f, "j3")->mimic].name, "j2");
    assert_string_equal(m->joints[joint_of(f, "j2")->mimic].name, "j1");
    assert_near(joint_of(f, "j3")->mimic_multiplier, 2.0, 0.0);
    assert_near(joint_of(f, "j3")->mimic_offset, 0.5, 0.0);
    assert_near(joint_of(f, "j2")->mimic_multiplier, 1.0, 0.0);
    assert_int_equal(joint_of(f, "j1")->mimic, -1);
}

// Joint numbers of a second robot do not start at 0; its first joint mimics a later one.
static void two_robots_share_a_builder(void **state) {
    fixture *f = *state;
    stn_model_builder *builder = NULL;
    const char *text = ROBOT(LINK("a") LINK("b") LINK("c") HINGE("j1", "a", "b", "<mimic joint='j2' multiplier='3'/>")
                                 HINGE("j2", "b", "c", ""));
    write_text(f, "robot.urdf", text);
    snprintf(f->path, sizeof f->path, "%s/robot.urdf", f->folder);
    assert_ok(stn_builder_create(f->context, &builder, &f->err), f->err);
    for (int32_t k = 0; k < 2; k++) {
        stn_load_request request = {.path = f->path, .robot_name = k == 0 ? NULL : "second"};
        int32_t robot = -1;
        assert_ok(stn_load_robot(f->context, &request, builder, &robot, &f->list, &f->err), f->err);
        assert_int_equal(robot, k);
    }
    // a third whose given name is taken fails and leaves the first two; the name in the file would get a number
    stn_load_request request = {.path = f->path, .robot_name = "second"};
    int32_t robot = -1;
    assert_true(stn_load_robot(f->context, &request, builder, &robot, &f->list, &f->err) < 0);
    assert_int_equal(robot, -1);
    assert_ok(stn_model_compile(builder, &f->model, &f->err), f->err);
    stn_builder_destroy(builder);
    assert_int_equal(f->model->group_count, 2);
    assert_string_equal(f->model->groups[1].name, "second");
    for (int32_t k = 0; k < 2; k++) {
        const stn_joint *j1 = &f->model->joints[stn_model_find_joint(f->model, k, "j1")];
        assert_int_equal(j1->mimic, stn_model_find_joint(f->model, k, "j2"));
        assert_near(j1->mimic_multiplier, 3.0, 0.0);
    }
}

// ------------------------------------------------------------------------------------------------------- shapes

static void every_primitive_is_read_with_its_size_and_pose(void **state) {
    fixture *f = *state;
    good_model(
        f, ROBOT("<link name='a'>" SHAPE("collision", "box", "<origin xyz='1 0 0' rpy='0 0 0.5'/>",
                                         "<box size='2 4 6'/>") SHAPE("collision", "ball", "", "<sphere radius='0.5'/>")
                     SHAPE("collision", "rod", "", "<cylinder radius='0.1' length='3'/>")
                         SHAPE("collision", "cap", "", "<capsule radius='0.2' length='1'/>")
                             SHAPE("visual", "cap2", "", "<drake:capsule radius='0.2' length='0'/>")
                                 SHAPE("collision", "floor", "", "<plane normal='0 2 0'/>")
                                     SHAPE("collision", "egg", "", "<drake:ellipsoid a='1' b='2' c='3'/>") "</link>"));
    const stn_geometry *box = geometry_of(f, "box");
    stn_mat3 r = stn_mat3_from_rpy(0.0, 0.0, 0.5);
    assert_int_equal(box->shape.type, STN_SHAPE_BOX);
    assert_near(box->shape.half_extents.y, 2.0, 0.0);
    expect_pose(&box->pose, stn_vec3_make(1.0, 0.0, 0.0), &r);
    assert_true(box->collision && !box->visual);
    assert_near(geometry_of(f, "ball")->shape.radius, 0.5, 0.0);
    assert_int_equal(geometry_of(f, "rod")->shape.type, STN_SHAPE_CYLINDER);
    assert_near(geometry_of(f, "rod")->shape.half_length, 1.5, 0.0);
    assert_int_equal(geometry_of(f, "cap")->shape.type, STN_SHAPE_CAPSULE);
    assert_near(geometry_of(f, "cap")->shape.half_length, 0.5, 0.0);
    assert_int_equal(geometry_of(f, "cap2")->shape.type, STN_SHAPE_CAPSULE);
    assert_true(geometry_of(f, "cap2")->visual && !geometry_of(f, "cap2")->collision);
    const stn_geometry *egg = geometry_of(f, "egg");
    assert_int_equal(egg->shape.type, STN_SHAPE_ELLIPSOID);
    assert_near(egg->shape.half_extents.x, 1.0, 0.0);
    assert_near(egg->shape.half_extents.z, 3.0, 0.0);
    const stn_geometry *plane = geometry_of(f, "floor");
    assert_int_equal(plane->shape.type, STN_SHAPE_HALF_SPACE);
    assert_near(stn_mat3_column(&plane->pose.rotation, 2).y, 1.0, 1e-15);
    assert_int_equal(f->list.count, 0);
}

static void equal_shape_names_are_renamed(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<link name='a'>" SHAPE("collision", "c_2", "", "<sphere radius='1'/>") SHAPE(
                      "collision", "c", "", "<sphere radius='2'/>") SHAPE("collision", "c", "", "<sphere radius='3'/>")
                            SHAPE("visual", "c", "", "<sphere radius='4'/>") "</link>"));
    assert_int_equal(f->model->geometry_count, 4);
    assert_near(geometry_of(f, "c_3")->shape.radius, 3.0, 0.0);
    assert_int_equal(f->list.warning_count, 1); // a visual may be called like a collision
    expect_finding(f, STN_SEVERITY_WARNING, "duplicate_name", 2, "link a", "'c_3'");
}

static void fault_of_a_visual_leaves_it_out(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<link name='a'>" SHAPE("visual", "v", "", "<sphere radius='0'/>") SHAPE(
                      "visual", "w", "", "<teapot/>") SHAPE("visual", "x", "", "<sphere radius='1'/>") "</link>"));
    assert_int_equal(f->model->geometry_count, 1);
    assert_int_equal(f->list.warning_count, 2);
    assert_near(geometry_of(f, "x")->shape.radius, 1.0, 0.0);
}

static void colour_is_found_by_name_before_and_after_its_definition(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<material name='early'><color rgba='1 0 0 1'/></material>"
                        "<link name='a'>" SHAPE("visual", "v0", "<material name='early'/>", "<sphere radius='1'/>")
                            SHAPE("visual", "v1", "<material name='late'/>", "<sphere radius='1'/>")
                                SHAPE("visual", "v2", "<material name='inline'><color rgba='0 0 1 0.5'/></material>",
                                      "<sphere radius='1'/>") SHAPE("visual", "v3", "<material name='inline'/>",
                                                                    "<sphere radius='1'/>")
                                    SHAPE("visual", "v4", "<material name='nowhere'/>", "<sphere radius='1'/>")
                                        SHAPE("visual", "v5", "<material><color rgba='0 2 0 1'/></material>",
                                              "<sphere radius='1'/>") "</link>"
                                                                      "<material name='late'><color rgba='0 1 0 "
                                                                      "1'/><texture filename='x.png'/></material>"));
    assert_near(geometry_of(f, "v0")->rgba[0], 1.0, 0.0);
    assert_near(geometry_of(f, "v1")->rgba[1], 1.0, 0.0);
    assert_near(geometry_of(f, "v2")->rgba[3], 0.5, 0.0);
    assert_near(geometry_of(f, "v3")->rgba[2], 1.0, 0.0);
    assert_near(geometry_of(f, "v4")->rgba[0], geometry_of(f, "v4")->rgba[1], 0.0); // grey
    assert_near(geometry_of(f, "v5")->rgba[1], 1.0, 0.0);
    expect_finding(f, STN_SEVERITY_NOTE, "material", 0, "link a", "nowhere");
    expect_finding(f, STN_SEVERITY_WARNING, "range", 0, "link a", "clamped");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 0, "material late", "<texture>");
    assert_int_equal(f->list.count, 3);
}

static void colours_that_no_visual_uses_are_noted_together(void **state) {
    fixture *f = *state;
    good_model(
        f,
        "<robot name='r'>\n<material name='used'><color rgba='1 0 0 1'/></material>\n"
        "<material name='idle'><color rgba='0 1 0 1'/></material>\n<material name='bare'/>\n<link name='a'>" SHAPE(
            "visual", "v", "<material name='used'/>", "<sphere radius='1'/>")
            SHAPE("visual", "w", "<material name='missing'/>",
                  "<mesh filename='none.obj'/>") "</link>\n"
                                                 "<material name='missing'><color rgba='0 0 1 1'/></material></robot>");
    expect_finding(f, STN_SEVERITY_NOTE, "material_unused", 3, "robot", "no visual uses material idle, bare");
}

static void first_of_two_colours_of_one_name_counts(void **state) {
    fixture *f = *state;
    good_model(f,
               ROBOT("<material name='m'><color rgba='1 0 0 1'/></material><material name='m'><color rgba='1 0 0 1'/>"
                     "</material><link name='a'>" SHAPE("visual", "v", "<material name='m'/>",
                                                        "<sphere radius='1'/>") "</link>"));
    assert_int_equal(f->list.count, 0);
    good_model(f,
               ROBOT("<material name='m'><color rgba='1 0 0 1'/></material><material name='m'><color rgba='0 1 0 1'/>"
                     "</material><link name='a'>" SHAPE("visual", "v", "<material name='m'/>",
                                                        "<sphere radius='1'/>") "</link>"));
    assert_near(geometry_of(f, "v")->rgba[0], 1.0, 0.0);
    expect_finding(f, STN_SEVERITY_WARNING, "duplicate_material", 0, "material m", "first counts");
}

// ------------------------------------------------------------------------------------------------------- filters

static bool collide(const fixture *f, const char *a, const char *b) {
    return stn_model_may_collide(f->model, (int32_t)(geometry_of(f, a) - f->model->geometries),
                                 (int32_t)(geometry_of(f, b) - f->model->geometries));
}

#define BALL(name) "<link name='" name "'>" MASS("1") SHAPE("collision", name, "", "<sphere radius='1'/>") "</link>"
#define FREE(name, child) \
    "<joint name='" name "' type='floating'><parent link='root'/><child link='" child "'/></joint>"

static void filter_groups_keep_links_apart(void **state) {
    fixture *f = *state;
    good_model(
        f,
        ROBOT("<link name='root'/>" BALL("a") BALL("b") BALL("c") BALL("d") FREE("ja", "a") FREE("jb", "b") FREE("jc",
                                                                                                                 "c")
                  FREE("jd",
                       "d") "<drake:collision_filter_group name='outer'><drake:member_group name='pair'/>"
                            "<drake:ignored_collision_filter_group name='single'/></drake:collision_filter_group>"
                            "<drake:collision_filter_group name='pair'><drake:member link='a'/><drake:member link='b'/>"
                            "<drake:ignored_collision_filter_group name='pair'/></drake:collision_filter_group>"
                            "<drake:collision_filter_group name='single'><drake:member "
                            "link='c'/></drake:collision_filter_group>"
                            "<drake:collision_filter_group name='off' ignore='true'><drake:member "
                            "link='nobody'/></drake:collision_filter_group>"));
    assert_false(collide(f, "a", "b"));
    assert_false(collide(f, "a", "c"));
    assert_false(collide(f, "b", "c"));
    assert_true(collide(f, "a", "d"));
    assert_true(collide(f, "c", "d"));
    assert_int_equal(f->list.count, 0);
}

// -------------------------------------------------------------------------------------------------------- world

static void undeclared_parent_world_is_one_more_link(void **state) {
    fixture *f = *state;
    const stn_model *m = good_model(f, ROBOT(LINK("a") HINGE("j", "world", "a", "")));
    assert_int_equal(m->link_count, 2);
    assert_string_equal(m->links[m->groups[0].root_link].name, "world");
    assert_int_equal(m->links[m->groups[0].root_link].body, 0);
    assert_int_equal(f->list.count, 0);
}

static void mass_of_a_root_called_world_is_ignored(void **state) {
    fixture *f = *state;
    const stn_model *m = good_model(f, ROBOT(LINK("world") LINK("a") HINGE("j", "world", "a", "")));
    assert_int_equal(m->link_count, 2);
    assert_near(link_of(f, "world")->mass.mass, 0.0, 0.0);
    expect_finding(f, STN_SEVERITY_WARNING, "world", 2, "link world", "ignored");
}

// ----------------------------------------------------------------------------------------------- defaults reported

static void every_default_that_changes_physics_is_reported(void **state) {
    fixture *f = *state;
    good_model(
        f,
        "<robot>\n" LINK("a") LINK("b") LINK("c") LINK("d") LINK(
            "e") "<joint name='none' type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/></joint>\n"
                 "<joint name='lower' type='prismatic'><parent link='b'/><child link='c'/><axis xyz='0 0 1'/>"
                 "<limit upper='1' effort='1' velocity='1'/></joint>\n"
                 "<joint name='locked' type='revolute'><parent link='c'/><child link='d'/><axis xyz='0 0 1'/>"
                 "<limit lower='2' upper='2'/></joint>\n"
                 "<joint name='zero' type='revolute'><parent link='d'/><child link='e'/><axis xyz='0 0 1'/>"
                 "<limit effort='0' velocity='1'/></joint>\n"
                 "</robot>");
    assert_string_equal(f->model->groups[0].name, "robot"); // of robot.urdf
    expect_finding(f, STN_SEVERITY_WARNING, "name", 1, "robot", "'robot'");
    expect_finding(f, STN_SEVERITY_WARNING, "default", 7, "joint none", "unlimited");
    expect_finding(f, STN_SEVERITY_WARNING, "default", 8, "joint lower", "no lower: taken as 0 m");
    expect_finding(f, STN_SEVERITY_WARNING, "limit", 9, "joint locked", "locked");
    expect_finding(f, STN_SEVERITY_WARNING, "default", 9, "joint locked", "no effort and no velocity");
    expect_finding(f, STN_SEVERITY_WARNING, "default", 10, "joint zero", "locked");
    assert_int_equal(f->list.warning_count, 6);
    assert_true(joint_of(f, "none")->upper == (double)INFINITY && joint_of(f, "none")->effort == (double)INFINITY);
    assert_near(joint_of(f, "lower")->lower, 0.0, 0.0);
    assert_near(joint_of(f, "locked")->lower, 2.0, 0.0);
    assert_true(joint_of(f, "locked")->velocity == (double)INFINITY);
    assert_near(joint_of(f, "zero")->upper, 0.0, 0.0);
    assert_near(joint_of(f, "zero")->effort, 0.0, 0.0);
}

static void moving_subtree_without_mass_is_one_warning(void **state) {
    fixture *f = *state;
    good_model(f,
               ROBOT(LINK("a") "<link name='b'/><link name='c'/>\n" HINGE("j", "a", "b", "") HINGE("k", "b", "c", "")));
    assert_int_equal(f->list.warning_count, 1);
    expect_finding(f, STN_SEVERITY_WARNING, "massless", 3, "link b", "singular");
}

static void massless_links_that_carry_mass_or_do_not_move_are_fine(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<link name='root'/><link name='a'/>" LINK("b") "<link name='tip'/>" HINGE("j", "root", "a", "")
                            HINGE("k", "a", "b",
                                  "") "<joint name='t' type='fixed'><parent link='b'/><child link='tip'/></joint>"));
    assert_int_equal(f->list.count, 0);
}

static void robot_without_any_mass_loads_for_kinematics(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<link name='a'/><link name='b'/>" HINGE("j", "a", "b", "")));
    assert_int_equal(f->list.warning_count, 1);
    expect_finding(f, STN_SEVERITY_WARNING, "massless", 0, "robot", "kinematics only");
    assert_true(stn_model_massless_link(f->model, 0) >= 0); // what dynamics ask before they refuse
}

static void round_off_in_an_inertia_is_no_error_and_a_broken_triangle_a_warning(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<link name='a'><inertial><mass value='1'/><inertia ixx='3e-3' iyy='3e-3' izz='-8e-19' ixy='0' "
                        "ixz='0' iyz='0'/></inertial></link>"));
    assert_int_equal(f->list.count, 0);
    good_model(f, ROBOT("<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='3' ixy='0' ixz='0'/>"
                        "</inertial></link>"));
    expect_finding(f, STN_SEVERITY_WARNING, "inertia", 2, "link a", "3 kg m^2 is larger than the sum 2");
    expect_finding(f, STN_SEVERITY_WARNING, "default", 2, "link a", "no iyz");
}

// ---------------------------------------------------------------------------------------------------------- text

static void byte_order_mark_line_ends_comments_and_entities_are_xml(void **state) {
    fixture *f = *state;
    good_model(f, "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<!-- c -->\r\n<!DOCTYPE robot>\r\n"
                  "<robot name='&lt;r&amp;&quot;&apos;&gt;&#x43b;&#1080;>'>\r\n<link name=\"a b\"/><!-- <link "
                  "name='no'/> -->\r\n</robot>\r\n");
    assert_string_equal(f->model->groups[0].name, "<r&\"'>\xd0\xbb\xd0\xb8>");
    assert_string_equal(f->model->links[0].name, "a b");
    assert_int_equal(f->model->link_count, 1);
}

static void late_xml_declaration_is_forgiven(void **state) {
    fixture *f = *state;
    good_model(f, "<!-- a\n -->\n<!-- b -->\n<?xml version='1.0'\n?>\n<robot name='r'><link name='a'/></robot>");
    expect_finding(f, STN_SEVERITY_WARNING, "declaration", 4, NULL, "first line");
}

static void numbers_are_read_in_every_decimal_form(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a") LINK("b") "<joint name='j' type='fixed'><parent link='a'/><child link='b'/>"
                                            "<origin xyz='\n +.5\t-5.\r\n 1.25E+2 '/></joint>"));
    stn_mat3 identity = stn_mat3_identity();
    expect_pose(&link_of(f, "b")->pose, stn_vec3_make(0.5, -5.0, 125.0), &identity);
}

static void second_element_of_a_kind_is_ignored_with_a_warning(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a") LINK("b") HINGE("j", "a", "b", "<limit effort='100' velocity='100'/>")));
    assert_near(joint_of(f, "j")->effort, 2.0, 0.0);
    assert_int_equal(f->list.warning_count, 1);
    expect_finding(f, STN_SEVERITY_WARNING, "repeated", 0, "joint j", "second <limit>");
}

// ------------------------------------------------------------------------------------------------------ the plugin

static void bullet_reads_swapped_limits_as_unlimited(void **state) {
    fixture *f = *state;
    const stn_setting setting = {.name = "bullet_limits", .form = STN_SETTING_BOOL, .number = 1.0, .where = "test"};
    stn_instance *loader = NULL;
    stn_model_builder *builder = NULL;
    int32_t robot = -1;
    write_text(f, "robot.urdf",
               ROBOT(LINK("a")
                         LINK("b") "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
                                   "<axis xyz='0 0 1'/><limit lower='1' upper='-1' effort='1' velocity='1'/></joint>"));
    snprintf(f->path, sizeof f->path, "%s/robot.urdf", f->folder);
    f->request.path = f->path;
    assert_ok(stn_instance_create(f->context, STN_KIND_LOADER, "urdf", &setting, 1, &loader, &f->err), f->err);
    assert_ok(stn_builder_create(f->context, &builder, &f->err), f->err);
    assert_ok(loader->desc->ops.loader->load(loader->self, &f->request, builder, &robot, &f->list, &f->err), f->err);
    assert_ok(stn_model_compile(builder, &f->model, &f->err), f->err);
    assert_true(joint_of(f, "j")->lower == -(double)INFINITY && joint_of(f, "j")->upper == (double)INFINITY);
    expect_finding(f, STN_SEVERITY_WARNING, "limit", 0, "joint j", "unlimited");
    stn_builder_destroy(builder);
    stn_instance_destroy(loader);
}

static void robot_is_recognised_under_other_names(void **state) {
    fixture *f = *state;
    const char *text = ROBOT(LINK("a"));
    load_bytes(f, "robot.xml", text, strlen(text));
    assert_int_equal(f->status, STN_OK);
    load_bytes(f, "robot.model", text, strlen(text));
    assert_int_equal(f->status, STN_OK);
    load_bytes(f, "robot.urdf.xacro", text, strlen(text));
    assert_int_equal(f->status, STN_OK);
    load_bytes(f, "robot.model", "<robots/>", 9);
    assert_int_equal(f->status, STN_ERR_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_link_is_a_robot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(inertial_frame_may_be_turned_and_shifted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(joint_has_its_type_limits_and_damping, set_up, tear_down),
        cmocka_unit_test_setup_teardown(early_spelling_of_dynamics_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(elements_come_in_any_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_robots_share_a_builder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_primitive_is_read_with_its_size_and_pose, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equal_shape_names_are_renamed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fault_of_a_visual_leaves_it_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(colour_is_found_by_name_before_and_after_its_definition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(colours_that_no_visual_uses_are_noted_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(first_of_two_colours_of_one_name_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(filter_groups_keep_links_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(undeclared_parent_world_is_one_more_link, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mass_of_a_root_called_world_is_ignored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_default_that_changes_physics_is_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(moving_subtree_without_mass_is_one_warning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(massless_links_that_carry_mass_or_do_not_move_are_fine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(robot_without_any_mass_loads_for_kinematics, set_up, tear_down),
        cmocka_unit_test_setup_teardown(round_off_in_an_inertia_is_no_error_and_a_broken_triangle_a_warning, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(byte_order_mark_line_ends_comments_and_entities_are_xml, set_up, tear_down),
        cmocka_unit_test_setup_teardown(late_xml_declaration_is_forgiven, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_are_read_in_every_decimal_form, set_up, tear_down),
        cmocka_unit_test_setup_teardown(second_element_of_a_kind_is_ignored_with_a_warning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bullet_reads_swapped_limits_as_unlimited, set_up, tear_down),
        cmocka_unit_test_setup_teardown(robot_is_recognised_under_other_names, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
