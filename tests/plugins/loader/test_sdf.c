// SPDX-License-Identifier: Apache-2.0
// What SDFormat files say beside frames and joints: links and their masses, shapes, surfaces, versions, and what is not
// read.
#include "sdf_fixture.h"

#define HALF_PI             "1.5707963267948966"
#define BITS(n)             "<surface><contact><collide_bitmask>" n "</collide_bitmask></contact></surface>"
#define LINK_OF(name, more) "<link name='" name "'>" more "</link>\n"
#define BALL                "<sphere><radius>1</radius></sphere>"

static void model_of_two_links_is_a_robot(void **state) {
    fixture *f = *state;
    const stn_model *m = good_model(f, ROBOT(LINK("a", "") LINK("b", POSE("0 0 0.5 0 0 0"))
                                                 JOINT("j", "revolute", "a", "b",
                                                       AXIS("0 1 0", "<limit><lower>-1</lower><upper>2</upper>"
                                                                     "<effort>3</effort><velocity>4</velocity></limit>"
                                                                     "<dynamics><damping>0.5</damping>"
                                                                     "<friction>0.25</friction></dynamics>"))));
    const stn_joint *j = joint_of(f, "j");
    assert_string_equal(m->groups[0].name, "m");
    assert_int_equal(m->link_count, 2);
    assert_int_equal(j->type, STN_JOINT_REVOLUTE);
    assert_near(j->axis.y, 1.0, 0.0);
    assert_near(j->lower, -1.0, 0.0);
    assert_near(j->upper, 2.0, 0.0);
    assert_near(j->effort, 3.0, 0.0);
    assert_near(j->velocity, 4.0, 0.0);
    assert_near(j->damping, 0.5, 0.0);
    assert_near(j->friction, 0.25, 0.0);
    assert_int_equal(f->list.count, 0);
}

static void inertia_is_turned_and_shifted_by_its_pose(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<link name='a'><inertial>" POSE(
                      "1 2 3 0 0 " HALF_PI) "<mass>2</mass><inertia><ixx>3</ixx>"
                                            "<iyy>4</iyy><izz>5</izz><ixy>0.1</ixy><ixz>0.2</ixz><iyz>0.3</iyz></"
                                            "inertia></inertial></link>"));
    const stn_mass *mass = &link_of(f, "a")->mass;
    assert_near(mass->mass, 2.0, 0.0);
    assert_near(mass->com.y, 2.0, 0.0);
    assert_near(mass->inertia.m[0][0], 4.0, 1e-15); // x of the link is -y of the inertial frame, its y that one's x
    assert_near(mass->inertia.m[1][1], 3.0, 1e-15);
    assert_near(mass->inertia.m[0][1], -0.1, 1e-15);
    assert_near(mass->inertia.m[0][2], -0.3, 1e-15);
    assert_near(mass->inertia.m[1][2], 0.2, 1e-15);
}

static void mass_that_is_not_given_is_one_with_a_warning(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<link name='a'/>"));
    assert_near(link_of(f, "a")->mass.mass, 1.0, 0.0);
    assert_near(link_of(f, "a")->mass.inertia.m[2][2], 1.0, 0.0);
    expect_finding(f, STN_SEVERITY_WARNING, "default", 3, "link a", "no <inertial>: taken as 1 kg");
    good_model(f, ROBOT("<link name='a'><inertial><mass>3</mass></inertial></link>"));
    assert_near(link_of(f, "a")->mass.mass, 3.0, 0.0);
    assert_near(link_of(f, "a")->mass.inertia.m[0][0], 1.0, 0.0);
    expect_finding(f, STN_SEVERITY_WARNING, "default", 3, "link a", "no <inertia>");
    good_model(f, ROBOT("<link name='a'><inertial><inertia><ixx>2</ixx><iyy>2</iyy></inertia></inertial></link>"));
    assert_near(link_of(f, "a")->mass.inertia.m[0][0], 2.0, 0.0);
    assert_near(link_of(f, "a")->mass.inertia.m[2][2], 1.0, 0.0);
    expect_finding(f, STN_SEVERITY_WARNING, "default", 3, "link a", "no <mass>");
    expect_finding(f, STN_SEVERITY_WARNING, "default", 3, "link a", "no izz");
    good_model(f, ROBOT("<static>true</static><link name='a'/>")); // cannot move
    assert_int_equal(f->list.warning_count, 0);
    good_model(f, ROBOT("<link name='a'><inertial><mass>0</mass></inertial></link>" LINK("b", "")));
    assert_near(link_of(f, "a")->mass.inertia.m[0][0], 0.0, 0.0);
}

// Two boxes of 1 x 1 x 1 m: 2000 kg at (1, 0, 0) by its own density and 1000 kg at (0, 0, 1). About their common centre
// (2/3, 0, 1/3) the parallel axes add 2000 r1^2 + 1000 r2^2 with r1 = (1/3, 0, -1/3), r2 = (-2/3, 0, 2/3).
static void inertia_follows_from_shapes_where_it_is_asked_for(void **state) {
#define UNIT_BOX "<box><size>1 1 1</size></box>"
#define WEIGHED(more)                                                                                               \
    ROBOT(LINK_OF("a", "<inertial auto='true'>" more                                                                \
                       "</inertial>" SHAPE("collision", "c", POSE_IN("f", "1 0 0 0 0 0") "<density>2000</density>", \
                                           UNIT_BOX) SHAPE("collision", "d", POSE("0 0 1 0 0 0"), UNIT_BOX)         \
                           SHAPE("visual", "v", "", UNIT_BOX)) FRAME("f", ""))
    fixture *f = *state;
    good_model(f, WEIGHED(""));
    const stn_mass *mass = &link_of(f, "a")->mass;
    double shift_x = 2000.0 / 9.0 + 1000.0 * 4.0 / 9.0; // sum of m x^2, which is that of m z^2 and minus that of m x z
    assert_near(mass->mass, 3000.0, 1e-9);
    assert_near(mass->com.x, 2.0 / 3.0, 1e-15);
    assert_near(mass->com.z, 1.0 / 3.0, 1e-15);
    assert_near(mass->inertia.m[0][0], 3000.0 / 6.0 + shift_x, 1e-9);
    assert_near(mass->inertia.m[1][1], 3000.0 / 6.0 + 2.0 * shift_x, 1e-9);
    assert_near(mass->inertia.m[0][2], shift_x, 1e-9);
    assert_int_equal(f->list.count, 0);
    good_model(f, WEIGHED("<density>2000</density>"));
    assert_near(link_of(f, "a")->mass.mass, 4000.0, 1e-9);
    assert_near(link_of(f, "a")->mass.com.x, 0.5, 1e-15);
    good_model(f, WEIGHED("<mass>3</mass>"));
    assert_near(link_of(f, "a")->mass.mass, 3.0, 1e-12);
    assert_near(link_of(f, "a")->mass.inertia.m[0][2], 1e-3 * shift_x, 1e-12);
}

static void single_root_is_proposed_where_it_stands(void **state) {
    fixture *f = *state;
    const stn_model *m = good_model(f, ROBOT(POSE("1 0 0 0 0 " HALF_PI) LINK("a", POSE("1 0 0 0 0 0"))));
    assert_false(m->groups[0].fixed);
    expect_pose(f, "a", NULL, 1.0, 1.0, 0.0, 0.0, 0.0, STN_PI / 2.0);
    m = good_model(f, ROBOT(POSE("1 0 0 0 0 0") "<static>1</static>" LINK("a", "")));
    assert_true(m->groups[0].fixed);
    assert_int_equal(m->nv, 0);
    expect_pose(f, "a", NULL, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0);
}

static void every_shape_is_read(void **state) {
    static const struct {
        const char *text;
        stn_shape_type type;
    } cases[] = {{"<box><size>1 2 3</size></box>", STN_SHAPE_BOX},
                 {"<sphere><radius>1</radius></sphere>", STN_SHAPE_SPHERE},
                 {"<cylinder><radius>1</radius><length>2</length></cylinder>", STN_SHAPE_CYLINDER},
                 {"<capsule><radius>1</radius><length>0</length></capsule>", STN_SHAPE_CAPSULE},
                 {"<drake:capsule><radius>1</radius><length>2</length></drake:capsule>", STN_SHAPE_CAPSULE},
                 {"<ellipsoid><radii>1 2 3</radii></ellipsoid>", STN_SHAPE_ELLIPSOID},
                 {"<drake:ellipsoid><a>1</a><b>2</b><c>3</c></drake:ellipsoid>", STN_SHAPE_ELLIPSOID},
                 {"<plane><normal>1 0 0</normal><size>9 9</size></plane>", STN_SHAPE_HALF_SPACE}};
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        char text[2048];
        snprintf(text, sizeof text, ROBOT(LINK("a", SHAPE("collision", "c", "", "%s") SHAPE("visual", "v", "", "%s"))),
                 cases[i].text, cases[i].text);
        good_model(f, text);
        assert_int_equal(geometry_of(f, "c")->shape.type, cases[i].type);
        assert_int_equal(geometry_of(f, "v")->shape.type, cases[i].type);
        assert_true(geometry_of(f, "c")->collision);
        assert_true(geometry_of(f, "v")->visual);
        assert_int_equal(f->list.count, 0);
    }
    assert_near(geometry_of(f, "c")->pose.rotation.m[0][2], 1.0, 1e-15); // z along the normal
}

static void box_and_ellipsoid_keep_their_sizes(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a", SHAPE("collision", "c", POSE("1 2 3 0 0 0"), "<box><size>1 2 3</size></box>")
                                      SHAPE("collision", "d", "", "<ellipsoid><radii>4 5 6</radii></ellipsoid>"))));
    assert_near(geometry_of(f, "c")->shape.half_extents.z, 1.5, 0.0);
    assert_near(geometry_of(f, "c")->pose.position.y, 2.0, 0.0);
    assert_near(geometry_of(f, "d")->shape.half_extents.y, 5.0, 0.0);
}

static void shape_may_stand_in_another_frame(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a", POSE("1 0 0 0 0 " HALF_PI) SHAPE("collision", "c", POSE_IN("f", "0 0 1 0 0 0"),
                                                                   "<box><size>1 1 1</size></box>"))
                            FRAME("f", POSE("1 2 0 0 0 0"))));
    const stn_pose *pose = &geometry_of(f, "c")->pose; // f is 2 along the model's y, which is the link's x
    assert_near(pose->position.x, 2.0, 1e-15);
    assert_near(pose->position.y, 0.0, 1e-15);
    assert_near(pose->position.z, 1.0, 1e-15);
    assert_near(pose->rotation.m[0][1], 1.0, 1e-15);
}

static void shapes_that_are_not_known_stop_a_collision_only(void **state) {
    fixture *f = *state;
    load_text(f, ROBOT(LINK("a", SHAPE("collision", "c", "", "<heightmap><uri>x</uri></heightmap>"))));
    expect_finding(f, STN_SEVERITY_ERROR, "shape", 3, "link a", "a <heightmap> cannot collide here");
    const stn_model *m = good_model(f, ROBOT(LINK("a", SHAPE("visual", "v", "", "<cone><radius>1</radius></cone>"))));
    expect_finding(f, STN_SEVERITY_WARNING, "shape", 3, "link a", "left out");
    assert_int_equal(f->list.count, 1);
    assert_int_equal(m->geometry_count, 0);
    m = good_model(f, ROBOT(LINK("a", SHAPE("collision", "c", "", "<empty/>"))));
    assert_int_equal(m->geometry_count + f->list.count, 0);
}

static void surface_is_read_as_gazebo_means_it(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a", SHAPE("collision", "c",
                                        "<surface><friction><ode><mu>0.7</mu><mu2>0.4</mu2></ode></friction>"
                                        "<bounce><restitution_coefficient>0.5</restitution_coefficient></bounce>"
                                        "<contact><ode><kp>1e5</kp><kd>100</kd></ode></contact></surface>"
                                        "<drake:proximity_properties><drake:point_contact_stiffness>2e5"
                                        "</drake:point_contact_stiffness><drake:mesh_resolution_hint>0.01"
                                        "</drake:mesh_resolution_hint></drake:proximity_properties>",
                                        "<sphere><radius>1</radius></sphere>"))));
    const stn_material *m = &geometry_of(f, "c")->material;
    assert_near(m->mu, 0.4, 0.0);
    assert_near(m->restitution, 0.5, 0.0);
    assert_near(m->stiffness, 2e5, 0.0); // Drake's value counts
    assert_near(geometry_of(f, "c")->field.resolution, 0.01, 0.0);
    assert_near(m->relaxation_time, 1e-3, 1e-18);
    expect_finding(f, STN_SEVERITY_WARNING, "friction", 3, "link a", "0.4 counts");
    assert_int_equal(f->list.count, 1);
}

#define SLIDING(more) "<surface><friction><ode><mu>0.7</mu><mu2>0.4</mu2>" more "</ode></friction></surface>"

static void friction_by_direction_is_read(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a", SHAPE("collision", "c", "<pose>0 0 1 0 0 1.2</pose>" SLIDING("<fdir1>0 3 0</fdir1>"),
                                        "<box><size>1 1 1</size></box>"))));
    const stn_geometry *g = geometry_of(f, "c");
    assert_near(g->material.mu, 0.7, 0.0);
    assert_near(g->material.mu2, 0.4, 0.0);
    assert_near(g->friction_direction.y, 1.0, 0.0); // in the collision's frame
    assert_int_equal(f->list.count, 0);
    // the normal turns the axes of a plane, not those of its collision
    good_model(
        f, ROBOT(LINK("a", SHAPE("collision", "c", "<pose>0 0 1 0.1 0.2 1.2</pose>" SLIDING("<fdir1>0.6 0.8 0</fdir1>"),
                                 "<plane><normal>0 0 1</normal></plane>"))));
    g = geometry_of(f, "c");
    stn_mat3 pose = stn_mat3_from_rpy(0.1, 0.2, 1.2);
    stn_vec3 expected = stn_mat3_apply(&pose, stn_vec3_make(0.6, 0.8, 0.0));
    stn_vec3 found = stn_mat3_apply(&g->in_link.rotation, g->friction_direction);
    assert_near(stn_vec3_norm(stn_vec3_sub(expected, found)), 0.0, 1e-15);
    assert_int_equal(f->list.count, 0);
}

static void friction_without_a_direction_that_can_be_read_is_the_smaller_one(void **state) {
    static const char *const words[] = {"", "<fdir1>0 0 0</fdir1>", "<fdir1 gz:expressed_in='__model__'>1 0 0</fdir1>",
                                        "<fdir1 ignition:expressed_in='a'>1 0 0</fdir1>"};
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(words); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 ROBOT(LINK("a", SHAPE("collision", "c", SLIDING("%s"), "<sphere><radius>1</radius></sphere>"))),
                 words[i]);
        good_model(f, text);
        assert_near(geometry_of(f, "c")->material.mu, 0.4, 0.0);
        assert_near(stn_vec3_norm(geometry_of(f, "c")->friction_direction), 0.0, 0.0);
        expect_finding(f, STN_SEVERITY_WARNING, "friction", 3, "link a", i < 2 ? "no <fdir1>" : "another frame");
    }
    good_model(
        f, ROBOT(LINK("a", SHAPE("collision", "c",
                                 SLIDING("<fdir1>1 0 0</fdir1>") "<drake:proximity_properties><drake:mu_dynamic>"
                                                                 "0.2</drake:mu_dynamic></drake:proximity_properties>",
                                 "<sphere><radius>1</radius></sphere>"))));
    assert_near(geometry_of(f, "c")->material.mu, 0.2, 0.0); // Drake's, which has no direction
    assert_near(stn_vec3_norm(geometry_of(f, "c")->friction_direction), 0.0, 0.0);
}

static void bit_masks_say_who_collides(void **state) {
    fixture *f = *state;
    const stn_model *m = good_model(
        f, ROBOT(LINK("a", SHAPE("collision", "a", BITS("2"), BALL)) LINK("b", SHAPE("collision", "b", BITS("4"), BALL))
                     LINK("c", SHAPE("collision", "c", "", BALL)) LINK("d", SHAPE("collision", "d", BITS("6"), BALL))));
    static const bool meets[4][4] = {
        {false, false, true, true}, {false, false, true, true}, {true, true, false, true}, {true, true, true, false}};
    for (int32_t i = 0; i < 16; i++) {
        assert_int_equal(stn_model_may_collide(m, i / 4, i % 4), meets[i / 4][i % 4]);
    }
    load_text(f, ROBOT(LINK("a", SHAPE("collision", "c", BITS("65536"), BALL))));
    expect_finding(f, STN_SEVERITY_ERROR, "range", 3, "link a", "65536");
}

static void colour_is_the_diffuse_one_else_the_ambient_one(void **state) {
    fixture *f = *state;
    good_model(
        f, ROBOT(LINK("a", SHAPE("visual", "v",
                                 "<material><ambient>1 1 1 1</ambient><diffuse>0.25 0.5 0.75 1"
                                 "</diffuse></material><transparency>0.5</transparency>",
                                 BALL) SHAPE("visual", "w", "<material><ambient>0 1 0</ambient></material>", BALL))));
    assert_near((double)geometry_of(f, "v")->rgba[0], 0.25, 0.0);
    assert_near((double)geometry_of(f, "v")->rgba[3], 0.5, 0.0);
    assert_near((double)geometry_of(f, "w")->rgba[1], 1.0, 0.0);
    assert_near((double)geometry_of(f, "w")->rgba[3], 1.0, 0.0);
}

static void what_changes_nothing_at_its_usual_value_is_said_at_others(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT(LINK("a", "<gravity>true</gravity><kinematic>0</kinematic><velocity_decay><linear>0.0</linear>"
                                  "</velocity_decay>")));
    assert_int_equal(f->list.count, 0);
    good_model(f, ROBOT(LINK("a", "<gravity>0</gravity><velocity_decay><angular>0.1</angular></velocity_decay>")));
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 3, "link a", "<gravity> 0 is not read");
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 3, "link a", "<angular> 0.1 is not read");
    assert_int_equal(f->list.count, 2);
}

static void what_is_not_known_is_a_warning_and_what_nobody_feels_a_note(void **state) {
    fixture *f = *state;
    good_model(f,
               ROBOT(LINK("a", "<sensor name='s' type='imu'><pose>0 0 0 0 0 0</pose></sensor><wings/>"
                               "<light name='l'/>") LINK("b", "<wings/>") "<plugin name='p' filename='q'><x/></plugin>"
                                                                          "<drake:linear_bushing_rpy/>"));
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 3, "link a", "<sensor> is not read");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 3, "link a", "<light> is not read");
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 3, "link a", "<wings> is not read: the robot moves");
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 5, NULL, "<drake:linear_bushing_rpy>");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 5, NULL, "<plugin>");
    assert_int_equal(f->list.count, 5);
}

static void gravity_of_a_world_is_said_unless_it_is_the_usual(void **state) {
    fixture *f = *state;
    good_model(f, SDF("1.9", "<world name='w'><gravity>0 0 -9.8</gravity>" MODEL("m", LINK("a", "")) "</world>"));
    assert_int_equal(f->list.count, 0);
    good_model(f, SDF("1.9", "<world name='w'><gravity>0 0 -1.62</gravity>" MODEL("m", LINK("a", "")) "</world>"));
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 2, NULL, "-1.62");
}

static void groups_never_collide_also_inside_models(void **state) {
    fixture *f = *state;
    const stn_model *m = good_model(
        f,
        ROBOT(MODEL(
            "in", LINK("a", SHAPE("collision", "a", "", BALL)) LINK(
                      "b", SHAPE("collision", "b", "",
                                 BALL)) "<drake:collision_filter_group name='g'><drake:member>a</drake:member>"
                                        "<drake:member_group>h</drake:member_group>"
                                        "<drake:ignored_collision_filter_group>g</drake:ignored_collision_filter_group>"
                                        "</drake:collision_filter_group><drake:collision_filter_group name='h'>"
                                        "<drake:member>b</drake:member></drake:collision_filter_group>")
                  LINK("c", SHAPE("collision", "c", "", BALL))));
    int32_t a = (int32_t)(geometry_of(f, "a") - m->geometries), b = (int32_t)(geometry_of(f, "b") - m->geometries);
    int32_t c = (int32_t)(geometry_of(f, "c") - m->geometries);
    assert_false(stn_model_may_collide(m, a, b));
    assert_true(stn_model_may_collide(m, a, c));
    assert_int_equal(f->list.count, 0);
}

static void versions_of_the_standard_are_told_apart(void **state) {
    fixture *f = *state;
    good_model(f, SDF("1.4", MODEL("m", LINK("a", ""))));
    good_model(f, SDF("1.11", MODEL("m", LINK("a", ""))));
    assert_int_equal(f->list.count, 0);
    good_model(f, SDF("1.99", MODEL("m", LINK("a", ""))));
    expect_finding(f, STN_SEVERITY_WARNING, "version", 1, "sdf", "1.99");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(model_of_two_links_is_a_robot, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(inertia_is_turned_and_shifted_by_its_pose, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(mass_that_is_not_given_is_one_with_a_warning, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(inertia_follows_from_shapes_where_it_is_asked_for, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(single_root_is_proposed_where_it_stands, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(every_shape_is_read, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(box_and_ellipsoid_keep_their_sizes, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(shape_may_stand_in_another_frame, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(shapes_that_are_not_known_stop_a_collision_only, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(surface_is_read_as_gazebo_means_it, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(friction_by_direction_is_read, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(friction_without_a_direction_that_can_be_read_is_the_smaller_one, set_up_sdf,
                                        tear_down),
        cmocka_unit_test_setup_teardown(bit_masks_say_who_collides, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(colour_is_the_diffuse_one_else_the_ambient_one, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(what_changes_nothing_at_its_usual_value_is_said_at_others, set_up_sdf,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_known_is_a_warning_and_what_nobody_feels_a_note, set_up_sdf,
                                        tear_down),
        cmocka_unit_test_setup_teardown(gravity_of_a_world_is_said_unless_it_is_the_usual, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(groups_never_collide_also_inside_models, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(versions_of_the_standard_are_told_apart, set_up_sdf, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
