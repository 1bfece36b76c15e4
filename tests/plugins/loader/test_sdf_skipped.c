// SPDX-License-Identifier: Apache-2.0
// What stands in SDFormat files and is not read, row by row of the table in the loader's README: said with its
// severity, or nothing to say.
#include "sdf_fixture.h"

enum { SILENT = -1 };

typedef struct row {
    const char *place; // in which it stands
    const char *text;
    int severity; // SILENT, or of the one finding
    const char *name;
} row;

static const row rows[] = {
    {"sdf", "<light name='l' type='point'/>", STN_SEVERITY_NOTE, "<light>"},
    {"sdf", "<actor name='a'/>", STN_SEVERITY_NOTE, "<actor>"},
    {"world", "<physics name='p' type='ode'><max_step_size>1</max_step_size></physics>", STN_SEVERITY_NOTE,
     "<physics>"},
    {"world", "<scene/>", STN_SEVERITY_NOTE, "<scene>"},
    {"world", "<gui/>", STN_SEVERITY_NOTE, "<gui>"},
    {"world", "<light name='l'/>", STN_SEVERITY_NOTE, "<light>"},
    {"world", "<plugin name='p' filename='f'/>", STN_SEVERITY_NOTE, "<plugin>"},
    {"world", "<audio/>", STN_SEVERITY_NOTE, "<audio>"},
    {"world", "<atmosphere type='adiabatic'/>", STN_SEVERITY_NOTE, "<atmosphere>"},
    {"world", "<magnetic_field>0 0 0</magnetic_field>", STN_SEVERITY_NOTE, "<magnetic_field>"},
    {"world", "<spherical_coordinates/>", STN_SEVERITY_NOTE, "<spherical_coordinates>"},
    {"world", "<wind><linear_velocity>1 0 0</linear_velocity></wind>", STN_SEVERITY_NOTE, "<wind>"},
    {"world", "<road name='r'/>", STN_SEVERITY_NOTE, "<road>"},
    {"world", "<state world_name='w'/>", STN_SEVERITY_WARNING, "<state>"},
    {"world", "<population name='p'/>", STN_SEVERITY_WARNING, "<population>"},
    {"world", "<gravity>0 0 -9.81</gravity>", SILENT, NULL},
    {"world", "<gravity>0 0 0</gravity>", STN_SEVERITY_WARNING, "<gravity>"},
    {"model", "<allow_auto_disable>0</allow_auto_disable>", SILENT, NULL},
    {"model", "<self_collide>true</self_collide>", SILENT, NULL},
    {"model", "<self_collide>false</self_collide>", STN_SEVERITY_NOTE, "<self_collide>"},
    {"model", "<enable_wind>0</enable_wind>", SILENT, NULL},
    {"model", "<enable_wind>1</enable_wind>", STN_SEVERITY_WARNING, "<enable_wind>"},
    {"model", "<gripper name='g'/>", STN_SEVERITY_WARNING, "<gripper>"},
    {"model", "<drake:linear_bushing_rpy/>", STN_SEVERITY_WARNING, "<drake:linear_bushing_rpy>"},
    {"model", "<drake:ball_constraint/>", STN_SEVERITY_WARNING, "<drake:ball_constraint>"},
    {"link", "<gravity>1</gravity>", SILENT, NULL},
    {"link", "<kinematic>true</kinematic>", STN_SEVERITY_WARNING, "<kinematic>"},
    {"link", "<must_be_base_link>1</must_be_base_link>", STN_SEVERITY_WARNING, "<must_be_base_link>"},
    {"link", "<velocity_decay/>", SILENT, NULL},
    {"link", "<velocity_decay><linear>0.1</linear></velocity_decay>", STN_SEVERITY_WARNING, "<linear>"},
    {"link", "<sensor name='s' type='imu'/>", STN_SEVERITY_NOTE, "<sensor>"},
    {"link", "<projector name='p'/>", STN_SEVERITY_NOTE, "<projector>"},
    {"link", "<battery name='b'/>", STN_SEVERITY_NOTE, "<battery>"},
    {"link", "<audio_sink/>", STN_SEVERITY_NOTE, "<audio_sink>"},
    {"link", "<audio_source/>", STN_SEVERITY_NOTE, "<audio_source>"},
    {"link", "<particle_emitter name='p'/>", STN_SEVERITY_NOTE, "<particle_emitter>"},
    {"inertial", "<fluid_added_mass/>", STN_SEVERITY_WARNING, "<fluid_added_mass>"},
    {"inertial", "<auto_inertia_params/>", STN_SEVERITY_WARNING, "<auto_inertia_params>"},
    {"collision", "<laser_retro>0</laser_retro>", STN_SEVERITY_NOTE, "<laser_retro>"},
    {"collision", "<max_contacts>9</max_contacts>", SILENT, NULL},
    {"collision", "<drake:illustration_properties/>", SILENT, NULL},
    {"visual", "<cast_shadows>0</cast_shadows>", SILENT, NULL},
    {"visual", "<visibility_flags>1</visibility_flags>", STN_SEVERITY_NOTE, "<visibility_flags>"},
    {"visual", "<meta/>", STN_SEVERITY_NOTE, "<meta>"},
    {"visual", "<material><script/></material>", STN_SEVERITY_NOTE, "<script>"},
    {"visual", "<material><specular>1 1 1 1</specular></material>", STN_SEVERITY_NOTE, "<specular>"},
    {"surface", "<friction><ode><fdir1>1 0 0</fdir1></ode></friction>", SILENT, NULL},
    {"surface", "<friction><ode><slip1>1</slip1></ode></friction>", STN_SEVERITY_WARNING, "<slip1>"},
    {"surface",
     "<friction><torsional><coefficient>1</coefficient><patch_radius>0</patch_radius></torsional></friction>", SILENT,
     NULL},
    {"surface", "<friction><torsional><patch_radius>0.1</patch_radius></torsional></friction>", STN_SEVERITY_WARNING,
     "<patch_radius>"},
    {"surface", "<friction><bullet/></friction>", STN_SEVERITY_NOTE, "<bullet>"},
    {"surface", "<contact><ode><soft_erp>0.2</soft_erp></ode></contact>", SILENT, NULL},
    {"surface", "<contact><ode><soft_erp>0.9</soft_erp></ode></contact>", STN_SEVERITY_NOTE, "<soft_erp>"},
    {"surface", "<contact><collide_without_contact>1</collide_without_contact></contact>", STN_SEVERITY_WARNING,
     "<collide_without_contact>"},
    {"surface", "<contact><elastic_modulus>1e9</elastic_modulus></contact>", STN_SEVERITY_WARNING, "<elastic_modulus>"},
    {"surface", "<contact><collide_bitmask>3</collide_bitmask><category_bitmask>1</category_bitmask></contact>",
     STN_SEVERITY_WARNING, "category_bitmask and collide_bitmask differ"},
    {"surface", "<bounce><restitution_coefficient>1</restitution_coefficient><threshold>2</threshold></bounce>",
     STN_SEVERITY_WARNING, "<threshold>"},
    {"surface", "<soft_contact/>", STN_SEVERITY_WARNING, "<soft_contact>"},
    {"joint", "<sensor name='s' type='force_torque'/>", STN_SEVERITY_NOTE, "<sensor>"},
    {"joint", "<physics><ode><cfm>1</cfm></ode></physics>", STN_SEVERITY_NOTE, "<physics>"},
    {"axis", "<initial_position>0</initial_position>", SILENT, NULL},
    {"axis", "<initial_position>1</initial_position>", STN_SEVERITY_WARNING, "<initial_position>"},
    {"axis", "<limit><dissipation>5</dissipation></limit>", STN_SEVERITY_WARNING, "<dissipation>"},
};

/// A whole file with the text where it belongs.
static void write_row(const row *r, char *text, size_t size) {
#define HERE(name) (strcmp(r->place, name) == 0 ? r->text : "")
    snprintf(text, size,
             "<sdf version='1.9'>%s<world name='w'>%s<model name='m'>%s\n"
             "<link "
             "name='a'>%s<inertial>%s<mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>\n"
             "<collision "
             "name='c'><geometry><sphere><radius>1</radius></sphere></geometry>%s<surface>%s</surface></collision>\n"
             "<visual name='v'><geometry><sphere><radius>1</radius></sphere></geometry>%s</visual></link>\n" LINK(
                 "b", "") "<joint name='j' type='revolute'>%s<parent>a</parent><child>b</child><axis><xyz>0 0 "
                          "1</xyz>%s</axis></joint>\n"
                          "</model></world></sdf>\n",
             HERE("sdf"), HERE("world"), HERE("model"), HERE("link"), HERE("inertial"), HERE("collision"),
             HERE("surface"), HERE("visual"), HERE("joint"), HERE("axis"));
}

static void what_is_not_read_is_said_as_the_table_says(void **state) {
    fixture *f = *state;
    for (int32_t i = 0; i < STN_COUNT(rows); i++) {
        char text[4096];
        write_row(&rows[i], text, sizeof text);
        good_model(f, text);
        int32_t count = rows[i].severity == SILENT ? 0 : 1;
        if (f->list.count != count ||
            (count == 1 && (f->list.items[0].severity != (stn_severity)rows[i].severity ||
                            strstr(f->list.items[0].text, rows[i].name) == NULL || f->list.items[0].line == 0))) {
            print_findings(f);
            fail_msg("%s", rows[i].text);
        }
    }
}

static void other_parts_of_includes_and_meshes_are_said(void **state) {
    fixture *f = *state;
    write_text(f, "part.sdf", SDF("1.9", MODEL("p", LINK("l", ""))));
    good_model(f, SDF("1.9", "<world name='w'><include><uri>part.sdf</uri><plugin name='p' filename='f'/>"
                             "<experimental:params/></include></world>"));
    expect_finding(f, STN_SEVERITY_NOTE, "skipped", 2, NULL, "<plugin>");
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 2, NULL, "<experimental:params>");
    assert_int_equal(f->list.count, 2);
    write_mesh(f, "m.stl");
    good_model(f, ROBOT(LINK("a", SHAPE("collision", "c", "",
                                        "<mesh optimization='convex_hull'><uri>m.stl</uri><submesh>"
                                        "<name>x</name></submesh></mesh>"))));
    expect_finding(f, STN_SEVERITY_WARNING, "skipped", 3, "link a", "<submesh>");
    assert_int_equal(f->list.count, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_not_read_is_said_as_the_table_says, set_up_sdf, tear_down),
        cmocka_unit_test_setup_teardown(other_parts_of_includes_and_meshes_are_said, set_up_sdf, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
