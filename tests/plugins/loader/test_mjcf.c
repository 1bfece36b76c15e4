// SPDX-License-Identifier: Apache-2.0
// MuJoCo's XML: the root, frames and orientations, defaults, included files, names, sites, colours.
#include "mjcf_fixture.h"

#define BALL "<geom size='0.1'/>"

static stn_mat3 about(char axis, double angle) {
    return stn_mat3_from_rpy(axis == 'x' ? angle : 0.0, axis == 'y' ? angle : 0.0, axis == 'z' ? angle : 0.0);
}

static void one_body_alone_is_the_root_where_it_is_drawn(void **state) {
    fixture *f = *state;
    const stn_model *m =
        good_mjcf(f, MUJOCO(WORLD("<light/><body name='a' pos='1 2 3' euler='0 0 90'>" SOLID "</body>")));
    assert_string_equal(m->groups[0].name, "m");
    assert_int_equal(m->link_count, 1);
    assert_int_equal(m->nq, 0);
    assert_true(m->groups[0].fixed);
    expect_pose(f, "a", NULL, 1.0, 2.0, 3.0, 0.0, 0.0, 0.5 * STN_PI);
    m = good_mjcf(f, MUJOCO(WORLD("<body name='a' pos='1 2 3'><freejoint/>" SOLID "</body>")));
    assert_int_equal(m->link_count, 1);
    assert_int_equal(m->nv, 6);
    assert_false(m->groups[0].fixed);
    expect_pose(f, "a", NULL, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0);
}

static void otherwise_the_world_is_the_root(void **state) {
    static const char *const texts[] = {
        MUJOCO(
            WORLD("<geom type='plane' size='1 1 1'/><body name='a' pos='0 0 1'><freejoint name='f'/>" SOLID "</body>")),
        MUJOCO(WORLD("<site name='s'/><body name='a' pos='0 0 1'><freejoint name='f'/>" SOLID "</body>")),
        MUJOCO(
            WORLD("<body name='a' pos='0 0 1'><freejoint name='f'/>" SOLID "</body><body name='c'>" SOLID "</body>")),
        MUJOCO(WORLD("<body name='a' pos='0 0 1'><joint name='f' type='free' damping='2'/>" SOLID "</body>")),
    };
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(texts); i++) {
        const stn_model *m = good_mjcf(f, texts[i]);
        assert_string_equal(m->links[m->groups[0].root_link].name, "world");
        const stn_joint *joint = joint_of(f, "f");
        assert_int_equal(joint->type, STN_JOINT_FLOATING);
        assert_near(joint->damping, i == 3 ? 2.0 : 0.0, 0.0);
        expect_pose(f, "a", NULL, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0);
    }
    good_mjcf(f, MUJOCO(WORLD("<body name='a' pos='0 0 1'><joint name='f' type='slide'/>" SOLID "</body>")));
    assert_int_equal(joint_of(f, "f")->type, STN_JOINT_PRISMATIC);
    assert_string_equal(f->model->links[f->model->groups[0].root_link].name, "world");
}

/// The pose of body a when it is turned so.
static stn_mat3 turned(fixture *f, const char *settings, const char *turn) {
    char text[512];
    snprintf(text, sizeof text,
             "<mujoco><compiler %s/><worldbody><body name='a' %s>" SOLID "</body></worldbody></mujoco>", settings,
             turn);
    good_mjcf(f, text);
    return pose_of(f, "a", NULL).rotation;
}

static void expect_turn(fixture *f, const char *settings, const char *turn, stn_mat3 expected) {
    stn_mat3 r = turned(f, settings, turn);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(r.m[i / 3][i % 3], expected.m[i / 3][i % 3], 1e-15);
    }
}

static void every_way_to_say_how_something_is_turned_is_read(void **state) {
    fixture *f = *state;
    double s = sqrt(0.5), d = 30.0 * STN_PI / 180.0;
    expect_turn(f, "", "", stn_mat3_identity());
    expect_turn(f, "", "quat='2 0 0 2'", about('z', 0.5 * STN_PI));
    expect_turn(f, "", "axisangle='0 0 5 30'", about('z', d));
    expect_turn(f, "angle='radian'", "axisangle='0 -3 0 0.4'", about('y', -0.4));
    expect_turn(f, "", "xyaxes='0 2 0 -1 5 0'", about('z', 0.5 * STN_PI)); // y is made square to x
    expect_turn(f, "", "zaxis='0 3 0'", about('x', -0.5 * STN_PI));
    expect_turn(f, "", "zaxis='0 0 -1'", about('x', STN_PI));
    expect_turn(f, "", "zaxis='1 0 1'", (stn_mat3){{{s, 0.0, s}, {0.0, 1.0, 0.0}, {-s, 0.0, s}}});
    expect_turn(f, "angle='radian' eulerseq='XYZ'", "euler='0.3 -0.2 0.5'", stn_mat3_from_rpy(0.3, -0.2, 0.5));
}

static void euler_angles_follow_every_sequence(void **state) {
    static const char letters[] = "xyzXYZ";
    static const double angles[3] = {0.3, -0.7, 1.1};
    fixture *f = *state;
    for (int32_t k = 0; k < 216; k++) {
        char settings[64], sequence[4] = {letters[k % 6], letters[k / 6 % 6], letters[k / 36], '\0'};
        snprintf(settings, sizeof settings, "angle='radian' eulerseq='%s'", sequence);
        stn_mat3 r = stn_mat3_identity();
        for (int32_t i = 0; i < 3; i++) {
            stn_mat3 turn = about((char)(sequence[i] | 0x20), angles[i]);
            r = sequence[i] >= 'x' ? stn_mat3_mul(&r, &turn) : stn_mat3_mul(&turn, &r);
        }
        expect_turn(f, settings, "euler='0.3 -0.7 1.1'", r);
    }
}

static void several_compilers_are_one(void **state) {
    fixture *f = *state;
    good_mjcf(f, MUJOCO("<compiler angle='radian'/><compiler eulerseq='ZYX'/>" WORLD(
                     "<body name='a' euler='0.5 0 0'>" SOLID "</body>")));
    expect_pose(f, "a", NULL, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5);
}

static void frames_move_what_stands_in_them(void **state) {
    fixture *f = *state;
    const stn_model *m = good_mjcf(
        f, MUJOCO("<default><default class='c'><geom size='0.3'/></default></default>" WORLD(
               "<geom size='1'/><frame pos='1 0 0' euler='0 0 90'><frame pos='1 0 0' childclass='c'>"
               "<body name='a' pos='0 1 0'><frame pos='0 0 1' euler='0 90 0'>" SOLID "<joint name='j' axis='0 0 1'/>"
               "<geom name='g'/><site name='s' pos='0 0 2'/></frame></body></frame></frame>")));
    expect_pose(f, "a", NULL, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5 * STN_PI);
    stn_pose site = pose_of(f, "s", NULL);
    assert_near(site.position.z, 1.0, 1e-15); // (2, 0, 1) in the body
    assert_near(site.position.y, 3.0, 1e-15);
    const stn_joint *joint = joint_of(f, "j");
    assert_near(joint->axis.x, 1.0, 1e-15);
    assert_near(geometry_of(f, "g")->shape.radius, 0.3, 0.0);
    assert_near(link_of(f, "a")->mass.com.z, 1.0, 0.0);
    assert_int_equal(m->nv, 1);
}

#define CLASSES                                                                      \
    "<default><geom size='1 2 3' type='box' group='1'/><joint damping='1'/>"         \
    "<default class='in'><geom size='0.5' density='1'/><default class='deep'><geom " \
    "type='sphere'/></default></default>"                                            \
    "<default class='out'><geom type='ellipsoid'/></default></default>"

static void defaults_come_from_the_class_and_those_around_it(void **state) {
    fixture *f = *state;
    good_mjcf(f, MUJOCO(CLASSES WORLD("<geom name='main'/><geom name='in' class='in'/><geom name='deep' class='deep'/>"
                                      "<geom name='out' class='out' size='9'/><body childclass='in'>" SOLID
                                      "<geom name='child'/><geom name='own' class='main'/><body>" SOLID
                                      "<geom name='grandchild'/></body><body childclass='out'>" SOLID
                                      "<geom name='other'/></body></body>")));
    static const struct {
        const char *name;
        stn_shape_type type;
        double x, y, z;
    } wanted[] = {{"main", STN_SHAPE_BOX, 1.0, 2.0, 3.0},       {"in", STN_SHAPE_BOX, 0.5, 2.0, 3.0},
                  {"deep", STN_SHAPE_SPHERE, 0.5, 0.0, 0.0},    {"out", STN_SHAPE_ELLIPSOID, 9.0, 2.0, 3.0},
                  {"child", STN_SHAPE_BOX, 0.5, 2.0, 3.0},      {"own", STN_SHAPE_BOX, 1.0, 2.0, 3.0},
                  {"grandchild", STN_SHAPE_BOX, 0.5, 2.0, 3.0}, {"other", STN_SHAPE_ELLIPSOID, 1.0, 2.0, 3.0}};
    for (int32_t i = 0; i < STN_COUNT(wanted); i++) {
        const stn_shape *shape = &geometry_of(f, wanted[i].name)->shape;
        assert_int_equal(shape->type, wanted[i].type);
        bool ball = shape->type == STN_SHAPE_SPHERE;
        assert_near(ball ? shape->radius : shape->half_extents.x, wanted[i].x, 0.0);
        assert_near(ball ? 0.0 : shape->half_extents.y, wanted[i].y, 0.0);
        assert_near(ball ? 0.0 : shape->half_extents.z, wanted[i].z, 0.0);
    }
}

/// A class holds what the one around it held when it began; plain defaults of one element come before its classes.
static void a_class_takes_what_stands_before_it(void **state) {
    fixture *f = *state;
    good_mjcf(f,
              MUJOCO("<default><default class='c'/><geom size='1'/></default><default><geom size='2'/></default>" WORLD(
                  "<geom name='old' class='c'/><geom name='new'/>")));
    assert_near(geometry_of(f, "old")->shape.radius, 1.0, 0.0);
    assert_near(geometry_of(f, "new")->shape.radius, 2.0, 0.0);
}

static void the_innermost_way_to_turn_counts_before_any_quat(void **state) {
    fixture *f = *state;
    good_mjcf(f, MUJOCO("<default><geom size='1 2 3' type='box' euler='0 0 90'/></default>" WORLD(
                     "<geom name='q' quat='1 1 0 0'/><geom name='e' euler='90 0 0'/>")));
    const stn_mat3 *q = &geometry_of(f, "q")->pose.rotation, *e = &geometry_of(f, "e")->pose.rotation;
    assert_near(q->m[1][0], 1.0, 1e-15);
    assert_near(e->m[2][1], 1.0, 1e-15);
}

static void included_files_stand_in_their_places(void **state) {
    fixture *f = *state;
    write_text(f, "parts/arm.xml",
               "<mujocoinclude>\n<body name='b' pos='1 0 0'>" SOLID "<joint name='j'/>\n"
               "<include file='parts/hand.xml'/></body></mujocoinclude>");
    write_text(f, "parts/hand.xml",
               "<mujocoinclude><geom name='g' size='0.2'/><body name='c'>" SOLID "</body></mujocoinclude>");
    write_text(f, "empty.xml", "<mujocoinclude/>");
    write_text(f, "more.xml",
               "<mujoco><default><geom density='5'/></default><actuator><motor joint='j'/></actuator></mujoco>");
    const stn_model *m = good_mjcf(f, MUJOCO("<include file='more.xml'/>" WORLD(
                                          "<include file='empty.xml'/><body name='a'>" SOLID
                                          "<include file='parts/arm.xml'/><body name='d'>" SOLID "</body></body>")));
    assert_int_equal(m->link_count, 4);
    assert_string_equal(joint_of(f, "j")->actuator, "j");
    assert_string_equal(m->bodies[geometry_of(f, "g")->body].name, "b");
    assert_non_null(strstr(link_of(f, "b")->where, "parts/arm.xml:2"));
    write_text(f, "parts/hand.xml", "<mujocoinclude>\n<geom size='x'/></mujocoinclude>");
    load_mjcf(f, MUJOCO(WORLD("<include file='parts/hand.xml'/>")));
    assert_non_null(strstr(f->err.text, "parts/hand.xml:2: geom: size of <geom>"));
    write_text(f, "self.xml", "<mujocoinclude><include file='self.xml'/></mujocoinclude>");
    load_mjcf(f, MUJOCO("<include file='self.xml'/>"));
    expect_finding(f, STN_SEVERITY_ERROR, "include", 1, "include", "already");
}

static void names_that_are_missing_are_made_and_those_given_stay(void **state) {
    fixture *f = *state;
    const stn_model *m =
        good_mjcf(f, MUJOCO(WORLD("<body name='body2'>" SOLID "<joint name='body3_joint'/></body><body>" SOLID
                                  "</body><body>" SOLID "<joint/><joint axis='1 0 0'/></body>")));
    static const char *const links[] = {"world", "body2", "body2_2", "body3"};
    for (int32_t i = 0; i < STN_COUNT(links); i++) {
        assert_true(stn_model_find_link(m, 0, links[i]) >= 0);
    }
    assert_true(stn_model_find_joint(m, 0, "body3_joint") >= 0);
    assert_true(stn_model_find_joint(m, 0, "body3_joint_2") >= 0);
    assert_true(stn_model_find_joint(m, 0, "body3_joint_3") >= 0);
}

static void named_sites_are_links(void **state) {
    fixture *f = *state;
    const stn_model *m =
        good_mjcf(f, MUJOCO(ARM("<site name='tip' pos='0 0 2' euler='0 0 90'/><site name='a'/><site pos='0 0 1'/>"
                                "<site name='tip'/><site name='line' fromto='0 0 0 0 0 4'/>")));
    expect_pose(f, "tip", NULL, 0.0, 0.0, 2.0, 0.0, 0.0, 0.5 * STN_PI);
    expect_pose(f, "line", NULL, 0.0, 0.0, 2.0, STN_PI, 0.0, 0.0);
    assert_near(link_of(f, "tip")->mass.mass, 0.0, 0.0);
    assert_int_equal(m->links[link_of(f, "tip")->parent].body, link_of(f, "b")->body);
    assert_int_equal(m->link_count, 4);
    expect_finding(f, STN_SEVERITY_NOTE, "site", 4, "site a", "that name already");
    expect_finding(f, STN_SEVERITY_NOTE, "site", 4, "site tip", "that name already");
}

static void shapes_have_colours_surfaces_and_groups(void **state) {
    fixture *f = *state;
    good_mjcf(f, MUJOCO("<default><default class='r'><material rgba='1 0 0 1'/></default></default>"
                        "<asset><material name='red' class='r'/></asset>" WORLD(
                            "<geom name='plain' size='1'/><geom name='red' size='1' material='red' group='3'/>"
                            "<geom name='blue' size='1' material='red' rgba='0 0 1 0.5' friction='0.3 0.1' condim='1'/>"
                            "<geom name='rough' size='1' friction='0.3' contype='0' conaffinity='0'/>")));
    const stn_geometry *plain = geometry_of(f, "plain"), *red = geometry_of(f, "red");
    const stn_geometry *blue = geometry_of(f, "blue"), *rough = geometry_of(f, "rough");
    assert_near((double)plain->rgba[0], 0.5, 0.0);
    assert_near(plain->material.mu, 1.0, 0.0);
    assert_true(plain->collision && plain->visual);
    assert_near((double)red->rgba[0], 1.0, 0.0);
    assert_near((double)red->rgba[1], 0.0, 0.0);
    assert_true(red->collision && !red->visual);
    assert_near((double)blue->rgba[2], 1.0, 0.0);
    assert_near((double)blue->rgba[3], 0.5, 0.0);
    assert_near(blue->material.mu, 0.0, 0.0);
    assert_near(rough->material.mu, 0.3, 0.0);
    assert_true(!rough->collision && rough->visual);
}

static void shapes_between_two_points_lie_along_them(void **state) {
    fixture *f = *state;
    good_mjcf(f, MUJOCO(WORLD("<geom name='c' type='capsule' size='0.1' fromto='1 0 0 1 0 4'/>"
                              "<geom name='b' type='box' size='0.1' fromto='0 0 0 2 0 0'/>")));
    const stn_geometry *c = geometry_of(f, "c"), *b = geometry_of(f, "b");
    assert_near(c->shape.half_length, 2.0, 0.0);
    assert_near(c->pose.position.x, 1.0, 0.0);
    assert_near(c->pose.position.z, 2.0, 0.0);
    assert_near(c->pose.rotation.m[2][2], -1.0, 1e-15);
    assert_near(b->shape.half_extents.x, 0.1, 0.0);
    assert_near(b->shape.half_extents.y, 0.1, 0.0);
    assert_near(b->shape.half_extents.z, 1.0, 0.0);
    assert_near(b->pose.rotation.m[0][2], -1.0, 1e-15);
}

static void what_is_not_read_is_said_once_for_each_name(void **state) {
    fixture *f = *state;
    good_mjcf(f, MUJOCO("<visual/><statistic/><size/><custom/><sensor/><option timestep='0.1' gravity='0 0 -1'/>\n"
                        "<tendon/><tendon/>" ARM("<geom size='1' solref='1 1' margin='1'/><camera/><light/><odd/>")));
    static const char *const notes[] = {"<visual>", "<statistic>", "<size>",   "<custom>", "<sensor>",
                                        "'solref'", "'margin'",    "<camera>", "<light>"};
    for (int32_t i = 0; i < STN_COUNT(notes); i++) {
        expect_finding(f, STN_SEVERITY_NOTE, "skipped", 0, NULL, notes[i]);
    }
    expect_finding(f, STN_SEVERITY_NOTE, "option", 2, "option", "gravity 0 0 -1");
    expect_finding(f, STN_SEVERITY_NOTE, "option", 2, "option", "timestep");
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 3, NULL, "<tendon> is not read: the robot moves as if");
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 5, "body b", "<odd>");
    assert_int_equal(f->list.warning_count, 2);
    assert_int_equal(f->list.count, 2 + 2 + STN_COUNT(notes));
}

static void an_xml_file_is_told_by_its_root(void **state) {
    fixture *f = *state;
    load_mjcf(f, "<?xml version='1.0'?>\n<!-- <mujoco> --><robot name='r'><mujoco/><link name='a'/></robot>");
    assert_int_equal(f->status, STN_OK);
    assert_string_equal(f->model->links[0].name, "a");
    load_mjcf(f, "<!-- <robot> -->\n<mujoco model='r'><worldbody><body name='b'>" SOLID "</body></worldbody></mujoco>");
    assert_int_equal(f->status, STN_OK);
    assert_string_equal(f->model->links[0].name, "b");
    f->request.loader.id = "mjcf";
    load_mjcf(f, "<robot name='r'><link name='a'/></robot>");
    f->request.loader.id = NULL;
    expect_finding(f, STN_SEVERITY_ERROR, "root", 1, "mujoco", "this is URDF");
}

static void the_shared_files_load(void **state) {
    static const struct {
        const char *name;
        int32_t nv, joints, warnings;
    } wanted[] = {{"humanoid27", 27, 22, 0},
                  {"quadruped", 18, 13, 0},
                  {"dualarm", 160, 65, 0},
                  {"clutter40_walls", 240, 40, 0},
                  {"soft6", 648, 0, 0}}; // 6 x 6 x 6 points
    fixture *f = *state;
    skip_without(STN_SHARED_DIR "/peers/models/quadruped.xml");
    f->as_proposed = true;
    for (int32_t i = 0; i < STN_COUNT(wanted); i++) {
        snprintf(f->path, sizeof f->path, STN_SHARED_DIR "/peers/models/%s.xml", wanted[i].name);
        f->request.path = f->path;
        load_request(f);
        assert_int_equal(f->status, STN_OK);
        assert_int_equal(f->list.warning_count, wanted[i].warnings);
        assert_int_equal(f->model->nv, wanted[i].nv);
        assert_int_equal(f->model->joint_count, wanted[i].joints);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_body_alone_is_the_root_where_it_is_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(otherwise_the_world_is_the_root, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_way_to_say_how_something_is_turned_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(euler_angles_follow_every_sequence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(several_compilers_are_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(frames_move_what_stands_in_them, set_up, tear_down),
        cmocka_unit_test_setup_teardown(defaults_come_from_the_class_and_those_around_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_class_takes_what_stands_before_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_innermost_way_to_turn_counts_before_any_quat, set_up, tear_down),
        cmocka_unit_test_setup_teardown(included_files_stand_in_their_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_that_are_missing_are_made_and_those_given_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(named_sites_are_links, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shapes_have_colours_surfaces_and_groups, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shapes_between_two_points_lie_along_them, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_read_is_said_once_for_each_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_xml_file_is_told_by_its_root, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_shared_files_load, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
