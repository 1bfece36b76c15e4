// SPDX-License-Identifier: Apache-2.0
// Contact parameters: Drake's proximity properties, Bullet's <contact>, Gazebo's reference blocks, and which one wins.
#include "urdf_fixture.h"

#define BALL(name, more) SHAPE("collision", name, more, "<sphere radius='1'/>")
#define PROXIMITY(text)  "<drake:proximity_properties>" text "</drake:proximity_properties>"

static const stn_material *surface_of(const fixture *f, const char *name) {
    return &geometry_of(f, name)->material;
}

static void proximity_properties_become_the_surface(void **state) {
    fixture *f = *state;
    good_model(f,
               ROBOT("<link name='a'>" BALL(
                   "all", PROXIMITY("<drake:mu_dynamic value='0.4'/><drake:mu_static value='0.4'/>"
                                    "<drake:point_contact_stiffness value='1e5'/><drake:relaxation_time value='0.1'/>"
                                    "<drake:hunt_crossley_dissipation value='1.25'/>"
                                    "<drake:hydroelastic_modulus value='5.0e7'/><drake:compliant_hydroelastic/>"))
                         BALL("static", PROXIMITY("<drake:mu_static value='0.9'/>")) "</link>"));
    const stn_material *m = surface_of(f, "all");
    assert_near(m->mu, 0.4, 0.0);
    assert_near(m->stiffness, 1e5, 0.0);
    assert_near(m->relaxation_time, 0.1, 0.0);
    assert_near(m->dissipation, 1.25, 0.0);
    assert_near(m->modulus, 5e7, 0.0);
    assert_true(isnan(m->restitution));
    assert_near(surface_of(f, "static")->mu, 0.9, 0.0);
    assert_true(isnan(surface_of(f, "static")->stiffness));
    assert_int_equal(f->list.count, 0);
}

static void sliding_friction_counts_beside_a_static_one(void **state) {
    fixture *f = *state;
    const char *text =
        ROBOT("<link name='a'>" BALL("s", PROXIMITY("<drake:mu_static value='0.9'/><drake:mu_dynamic value='0.4'/>"))
                  BALL("t", PROXIMITY("<drake:mu_static value='0.8'/><drake:mu_dynamic value='0.7'/>")) "</link>");
    good_model(f, text);
    assert_near(surface_of(f, "s")->mu, 0.4, 0.0);
    assert_near(surface_of(f, "t")->mu, 0.7, 0.0);
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 2, "link a", "mu_static = 0.9");
    assert_int_equal(f->list.count, 1); // once a file
}

static void rigid_surface_has_an_infinite_modulus(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<link name='a'>" BALL("r", PROXIMITY("<drake:rigid_hydroelastic/>")) "</link>"));
    assert_true(surface_of(f, "r")->modulus == (double)INFINITY);
    assert_int_equal(f->list.count, 0);
    good_model(f, ROBOT("<link name='a'>" BALL("r", PROXIMITY("<drake:rigid_hydroelastic/>"
                                                              "<drake:hydroelastic_modulus value='1e6'/>")) "</link>"));
    assert_true(surface_of(f, "r")->modulus == (double)INFINITY);
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 2, "link a", "hydroelastic_modulus");
}

static void compliant_surface_without_a_modulus_is_a_warning(void **state) {
    static const char *const words[] = {"compliant_hydroelastic", "soft_hydroelastic"};
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(words); i++) {
        char text[1024];
        snprintf(text, sizeof text, ROBOT("<link name='a'>" BALL("c", PROXIMITY("<drake:%s/>")) "</link>"), words[i]);
        good_model(f, text);
        assert_true(isnan(surface_of(f, "c")->modulus));
        expect_finding(f, STN_SEVERITY_WARNING, "default", 2, "link a", words[i]);
        assert_int_equal(f->list.count, 1);
    }
}

static void pressure_fields_are_made_as_told(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<link name='a'>" BALL("c", PROXIMITY("<drake:mesh_resolution_hint value='0.01'/>"
                                                              "<drake:hydroelastic_margin value='1e-4'/>"))
                            BALL("d", PROXIMITY("<drake:mesh_resolution_hint value='0.02'/>"))
                                SHAPE("collision", "p",
                                      PROXIMITY("<drake:slab_thickness value='0.3'/><drake:compliant_hydroelastic/>"
                                                "<drake:hydroelastic_modulus value='1e6'/>"),
                                      "<plane normal='0 0 1'/>") "</link>"));
    const stn_field_spec *c = &geometry_of(f, "c")->field, *d = &geometry_of(f, "d")->field;
    assert_near(c->resolution, 0.01, 0.0);
    assert_near(c->margin, 1e-4, 0.0);
    assert_true(isnan(c->thickness) && c->volume_mesh == -1);
    assert_near(d->resolution, 0.02, 0.0);
    assert_true(isnan(d->margin));
    assert_near(geometry_of(f, "p")->field.thickness, 0.3, 0.0);
    assert_true(stn_geometry_is_compliant(geometry_of(f, "p")));
    assert_false(stn_geometry_is_compliant(geometry_of(f, "c")));
    assert_int_equal(f->list.count, 0);
}

// ------------------------------------------------------------------------------------------------ other programs

#define CONTACT                                                                         \
    "<contact><lateral_friction value='0.8'/><stiffness value='30000'/>"                \
    "<damping value='1000'/><restitution value='0.25'/><rolling_friction value='0.1'/>" \
    "<spinning_friction value='.1'/><friction_anchor/></contact>"

static void bullet_contact_becomes_the_surface_of_every_collision_of_the_link(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<link name='a'>" MASS("1") CONTACT BALL("x", "") BALL("y", "") SHAPE(
                      "visual", "v", "",
                      "<sphere radius='1'/>") "</link>"
                                              "<link name='b'>" BALL("z", "") "</link>"
                                                                              "<joint name='j' type='fixed'><parent "
                                                                              "link='a'/><child link='b'/></joint>"));
    for (int32_t i = 0; i < 2; i++) {
        const stn_material *m = surface_of(f, i == 0 ? "x" : "y");
        assert_near(m->mu, 0.8, 0.0);
        assert_near(m->stiffness, 3e4, 0.0);
        assert_near(m->relaxation_time, 1.0 / 30.0, 1e-17); // c / k
        assert_near(m->restitution, 0.25, 0.0);
        assert_true(isnan(m->dissipation));
    }
    assert_true(isnan(surface_of(f, "z")->mu) && isnan(surface_of(f, "v")->mu));
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 2, "link a", "<rolling_friction>");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 2, "link a", "<spinning_friction>");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 2, "link a", "<friction_anchor>");
    assert_int_equal(f->list.count, 3);
}

static void gazebo_block_becomes_the_surface_of_its_link(void **state) {
    fixture *f = *state;
    good_model(
        f, ROBOT("<gazebo reference='a'><mu1>0.7</mu1><mu2> 0.7 </mu2><kp>1e6</kp><kd value='100.0'/>"
                 "<selfCollide>true</selfCollide></gazebo>"
                 "<link name='a'>" BALL(
                     "x",
                     "") "</link>\n"
                         "<gazebo reference='a'><mu1>0.1</mu1></gazebo><gazebo><plugin name='p' filename='q'/></gazebo>"
                         "<gazebo reference='some joint'><mu1>0.1</mu1></gazebo>"));
    const stn_material *m = surface_of(f, "x");
    assert_near(m->mu, 0.7, 0.0); // the first block counts
    assert_near(m->stiffness, 1e6, 0.0);
    assert_near(m->relaxation_time, 1e-4, 0.0);
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 2, "gazebo a", "<selfCollide>");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 3, "gazebo", "<plugin>");
    assert_int_equal(f->list.count, 2);
}

static void smaller_of_two_unequal_frictions_counts_with_a_warning(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<link name='a'>" BALL("x", "") "</link>"
                                                        "<gazebo reference='a'><mu1>0.9</mu1><mu2>0.3</mu2></gazebo>"));
    assert_near(surface_of(f, "x")->mu, 0.3, 0.0);
    expect_finding(f, STN_SEVERITY_WARNING, "friction", 2, "gazebo a", "0.3 counts");
    good_model(f, ROBOT("<link name='a'>" BALL("x", "") "</link><gazebo reference='a'><mu2>0.3</mu2></gazebo>"));
    assert_near(surface_of(f, "x")->mu, 0.3, 0.0);
    assert_int_equal(f->list.count, 0);
}

static void friction_by_direction_is_read_in_either_spelling(void **state) {
    static const char *const words[] = {"<fdir1>0 0 2</fdir1>", "<fdir1 value='0 0 1'/>"};
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(words); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 ROBOT("<link name='a'>" BALL("x", "") "</link>"
                                                       "<gazebo reference='a'><mu1>0.9</mu1><mu2>0.3</mu2>%s</gazebo>"),
                 words[i]);
        good_model(f, text);
        assert_near(surface_of(f, "x")->mu, 0.9, 0.0);
        assert_near(surface_of(f, "x")->mu2, 0.3, 0.0);
        assert_near(geometry_of(f, "x")->friction_direction.z, 1.0, 0.0);
        assert_int_equal(f->list.count, 0);
    }
}

static void drake_wins_over_bullet_and_bullet_over_gazebo(void **state) {
    fixture *f = *state;
    good_model(f,
               ROBOT("<gazebo reference='a'><mu1>0.1</mu1><kp>10</kp></gazebo>"
                     "<link name='a'><contact><lateral_friction value='0.2'/><restitution value='0.5'/></contact>" BALL(
                         "x", PROXIMITY("<drake:mu_dynamic value='0.3'/>")) BALL("y", "") "</link>"));
    assert_near(surface_of(f, "x")->mu, 0.3, 0.0);
    assert_near(surface_of(f, "y")->mu, 0.2, 0.0);
    assert_near(surface_of(f, "x")->restitution, 0.5, 0.0);
    assert_near(surface_of(f, "x")->stiffness, 10.0, 0.0);
    assert_true(isnan(surface_of(f, "x")->relaxation_time));
    assert_int_equal(f->list.count, 0);
}

static void damping_without_stiffness_says_nothing_about_time(void **state) {
    fixture *f = *state;
    good_model(f, ROBOT("<link name='a'><contact><damping value='5'/></contact>" BALL(
                      "x", "") "</link>"
                               "<gazebo reference='a'><kp>0</kp><kd>5</kd></gazebo>"));
    assert_true(isnan(surface_of(f, "x")->stiffness) && isnan(surface_of(f, "x")->relaxation_time));
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 2, "link a", "<damping> without a <stiffness> > 0");
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 2, "gazebo a", "<kd> without a <kp> > 0");
}

static void senseless_value_for_another_program_is_a_warning(void **state) {
    static const struct {
        const char *text, *code, *part;
    } cases[] = {
        {"<contact><lateral_friction value='-1'/></contact>", "range", "<lateral_friction> = -1 must be >= 0"},
        {"<contact><lateral_friction value='high'/></contact>", "number", "'high'"},
        {"<contact><restitution value='1.5'/></contact>", "range", "<restitution> = 1.5 must be <= 1"},
        {"<contact><stiffness value='1e400'/></contact>", "number", "'1e400'"},
    };
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, ROBOT("<link name='a'>%s" BALL("x", "") "</link>"), cases[i].text);
        good_model(f, text);
        const stn_material *m = surface_of(f, "x");
        assert_true(isnan(m->mu) && isnan(m->stiffness) && isnan(m->restitution));
        expect_finding(f, STN_SEVERITY_WARNING, cases[i].code, 2, "link a", cases[i].part);
        assert_int_equal(f->list.count, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(proximity_properties_become_the_surface, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sliding_friction_counts_beside_a_static_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rigid_surface_has_an_infinite_modulus, set_up, tear_down),
        cmocka_unit_test_setup_teardown(compliant_surface_without_a_modulus_is_a_warning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pressure_fields_are_made_as_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bullet_contact_becomes_the_surface_of_every_collision_of_the_link, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(gazebo_block_becomes_the_surface_of_its_link, set_up, tear_down),
        cmocka_unit_test_setup_teardown(smaller_of_two_unequal_frictions_counts_with_a_warning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(friction_by_direction_is_read_in_either_spelling, set_up, tear_down),
        cmocka_unit_test_setup_teardown(drake_wins_over_bullet_and_bullet_over_gazebo, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damping_without_stiffness_says_nothing_about_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(senseless_value_for_another_program_is_a_warning, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
