// SPDX-License-Identifier: Apache-2.0
// `stiction check`: a file with one mistake for every rule, told with its line, beside files that come near the mistake
// and are not accused.
#include <errno.h>
#include <sys/stat.h>

#include "answer.h"

#define ROBOT STN_BINARY_DIR "/tests/check_robot.urdf"
#define MESH  STN_BINARY_DIR "/tests/check_mesh.obj"

#define INERTIA(i)         "<inertia ixx='" i "' iyy='" i "' izz='" i "' ixy='0' ixz='0' iyz='0'/>"
#define MASS(m, i)         "<inertial><mass value='" m "'/>" INERTIA(i) "</inertial>"
#define BOX(element, size) "<" element "><geometry><box size='" size "'/></geometry></" element ">"
#define MESHED(element)    "<" element "><geometry><mesh filename='check_mesh.obj'/></geometry></" element ">"
#define LIMIT              "<limit lower='-1' upper='1' effort='10' velocity='3'/>"
#define JOINT(name, parent, child, inside)                                                                             \
    "<joint name='" name "' type='revolute'><parent link='" parent "'/><child link='" child "'/><origin xyz='0 0 1'/>" \
    "<axis xyz='0 0 1'/>" inside "</joint>\n"
#define SOUND              MASS("1", "0.01") BOX("collision", "0.2 0.2 0.2")
#define LINK(name, inside) "<link name='" name "'>" inside "</link>\n"

/// Lines 2 and 3: links a and b; 4: joint j. `b` and `j` are what stands inside.
#define ROBOT_OF(b, j) "<robot name='r'>\n" LINK("a", SOUND) LINK("b", b) JOINT("j", "a", "b", j) "</robot>\n"

typedef struct example {
    const char *rule; // that must speak
    int line;         // 0: none
    const char *where;
    const char *robot;
    const char *near; // a robot of which the rule says nothing; NULL: the sound one
    const char *mesh; // check_mesh.obj, NULL: none
} example;

static const char sound[] = ROBOT_OF(SOUND, LIMIT);

// a tetrahedron with corners at 0, 1, 1, 1 times `s`; the last face is left out of the open one
#define CORNERS(s) "v 0 0 0\nv " s " 0 0\nv 0 " s " 0\nv 0 0 " s "\n"
#define OPEN       "f 1 3 2\nf 1 2 4\nf 1 4 3\n"

#define SOFT_PLANE(more)                                                                                        \
    "<collision><origin xyz='0 0 -9'/><geometry><plane normal='0 0 1'/></geometry><drake:proximity_properties>" \
    "<drake:compliant_hydroelastic/><drake:hydroelastic_modulus value='1e6'/>" more                             \
    "</drake:proximity_properties></collision>"

#define GROOVED_PLANE(direction)                                                                                     \
    "<robot name='r'>\n" LINK("a", SOUND)                                                                            \
        LINK("b", SOUND "<collision><origin xyz='0 0 -9'/><geometry><plane normal='0 0 1'/></geometry></collision>") \
            JOINT("j", "a", "b", LIMIT) "<gazebo reference='b'><mu1>0.2</mu1><mu2>0.8</mu2><fdir1>" direction        \
                                        "</fdir1></gazebo></robot>\n"

static const example examples[] = {
    {"friction_direction", 3, "link b", GROOVED_PLANE("0 0 2"), GROOVED_PLANE("1 0 2"), NULL},
    {"slab_thickness", 3, "link b", ROBOT_OF(SOUND SOFT_PLANE(""), LIMIT),
     ROBOT_OF(SOUND SOFT_PLANE("<drake:slab_thickness value='0.1'/>"), LIMIT), NULL},
    {"inertia_placeholder", 3, "link b", ROBOT_OF(MASS("1", "1") BOX("collision", "0.2 0.2 0.2"), LIMIT),
     ROBOT_OF(MASS("1", "1") BOX("collision", "2 2 2"), LIMIT), NULL}, // k = 1 m fits two metres
    {"inertia_large", 3, "link b", ROBOT_OF(MASS("1", "0.2") BOX("collision", "0.2 0.2 0.2"), LIMIT),
     ROBOT_OF(MASS("1", "0.1") BOX("collision", "0.2 0.2 0.2"), LIMIT), NULL},
    {"inertia_small", 3, "link b", ROBOT_OF(MASS("1", "1e-6") BOX("collision", "0.2 0.2 0.2"), LIMIT),
     ROBOT_OF(MASS("1", "1e-4") BOX("collision", "0.2 0.2 0.2"), LIMIT), NULL},
    {"inertia_point", 3, "link b", ROBOT_OF(MASS("1", "0") BOX("collision", "0.2 0.2 0.2"), LIMIT), NULL, NULL},
    {"com_outside", 3, "link b",
     ROBOT_OF("<inertial><origin xyz='0 0 0.5'/><mass value='1'/>" INERTIA("0.01") "</inertial>" BOX("collision",
                                                                                                     "0.2 0.2 0.2"),
              LIMIT),
     ROBOT_OF("<inertial><origin xyz='0 0 0.2'/><mass value='1'/>" INERTIA("0.01") "</inertial>" BOX("collision",
                                                                                                     "0.2 0.2 0.2"),
              LIMIT),
     NULL},
    {"density", 3, "link b", ROBOT_OF(MASS("1000", "10") BOX("collision", "0.2 0.2 0.2"), LIMIT),
     ROBOT_OF(MASS("100", "1") BOX("collision", "0.2 0.2 0.2"), LIMIT), NULL},
    {"mass_zero", 3, "link b",
     "<robot name='r'>\n" LINK("a", SOUND) LINK("b", BOX("collision", "0.2 0.2 0.2")) LINK("c", SOUND)
         JOINT("j", "a", "b", LIMIT) JOINT("k", "b", "c", LIMIT) "</robot>\n",
     "<robot name='r'>\n" LINK("a", SOUND) LINK("b", "") LINK("c", SOUND) JOINT("j", "a", "b", LIMIT)
         JOINT("k", "b", "c", LIMIT) "</robot>\n", // a step between two joints
     NULL},
    {"limit_large", 4, "joint j", ROBOT_OF(SOUND, "<limit lower='-180' upper='180' effort='10' velocity='3'/>"),
     ROBOT_OF(SOUND, "<limit lower='-6.3' upper='12.6' effort='10' velocity='3'/>"), NULL},
    {"effort_zero", 4, "joint j", ROBOT_OF(SOUND, "<limit lower='-1' upper='1' effort='0' velocity='3'/>"), NULL, NULL},
    {"velocity_zero", 4, "joint j", ROBOT_OF(SOUND, "<limit lower='-1' upper='1' effort='10' velocity='0'/>"), NULL,
     NULL},
    {"mimic_limits", 6, "joint k",
     "<robot name='r'>\n" LINK("a", SOUND) LINK("b", SOUND) LINK("c", SOUND) JOINT("j", "a", "b", LIMIT)
         JOINT("k", "b", "c", LIMIT "<mimic joint='j' multiplier='-2' offset='0.5'/>") "</robot>\n",
     "<robot name='r'>\n" LINK("a", SOUND) LINK("b", SOUND) LINK("c", SOUND) JOINT("j", "a", "b", LIMIT)
         JOINT("k", "b", "c", LIMIT "<mimic joint='j' multiplier='-0.5' offset='0.5'/>") "</robot>\n",
     NULL},
    {"number_extreme", 4, "joint j", ROBOT_OF(SOUND, "<limit lower='-1' upper='1' effort='1e9' velocity='3'/>"), NULL,
     NULL},
    {"name_shared", 4, "joint b",
     "<robot name='r'>\n" LINK("a", SOUND) LINK("b", SOUND) JOINT("b", "a", "b", LIMIT) "</robot>\n", NULL, NULL},
    {"collision_missing", 3, "link b", ROBOT_OF(MASS("1", "0.01") BOX("visual", "0.2 0.2 0.2"), LIMIT), NULL, NULL},
    {"scale_robot", 0, "robot",
     "<robot name='r'>\n" LINK("a", SOUND) LINK("b", SOUND) "<joint name='j' type='revolute'><parent link='a'/><child "
                                                            "link='b'/><origin xyz='0 0 350'/><axis xyz='0 0 1'/>" LIMIT
                                                            "</joint>\n</robot>\n",
     NULL, NULL},
    {"scale_link", 3, "link b",
     ROBOT_OF(MASS("1", "0.01") BOX("collision", "0.2 0.2 0.2") BOX("visual", "20 20 20"), LIMIT),
     ROBOT_OF(MASS("1", "0.01") BOX("collision", "0.2 0.2 0.2") BOX("visual", "0.3 0.3 2"), LIMIT), NULL},
    {"scale_mesh", 3, "link b", ROBOT_OF(SOUND MESHED("visual"), LIMIT), ROBOT_OF(SOUND, LIMIT),
     CORNERS("1000") OPEN "f 2 3 4\n"},
    {"scale_mesh", 3, "link b", ROBOT_OF(MASS("1", "0.01") MESHED("collision"), LIMIT), NULL,
     CORNERS("300") OPEN "f 2 3 4\n"},
    {"density", 3, "link b", ROBOT_OF(MASS("1e4", "1e3") MESHED("collision"), LIMIT), // 0.036 m^3
     ROBOT_OF(MASS("1e3", "1e2") MESHED("collision"), LIMIT), CORNERS("0.6") OPEN "f 2 3 4\n"},
    {"self_collision", 4, "link c", // a and c, two joints apart, overlap by 0.05 m
     "<robot name='r'>\n" LINK("a", SOUND) LINK("b", MASS("1", "0.01")) LINK("c", SOUND)
         JOINT("j", "a", "b", LIMIT) "<joint name='k' type='revolute'><parent link='b'/><child link='c'/><origin "
                                     "xyz='0.15 0 -1'/><axis xyz='0 0 1'/>" LIMIT "</joint>\n</robot>\n",
     "<robot name='r'>\n" LINK("a", SOUND) LINK("b", MASS("1", "0.01")) LINK("c", SOUND)
         JOINT("j", "a", "b", LIMIT) "<joint name='k' type='revolute'><parent link='b'/><child link='c'/><origin "
                                     "xyz='0.2001 0 -1'/><axis xyz='0 0 1'/>" LIMIT "</joint>\n</robot>\n",
     NULL},
};

// ------------------------------------------------------------------------------------------------------- answers

/// The answer to `stiction check ROBOT --json OPTIONS`; owned by the caller.
static cJSON *check_file(const char *file, const char *options, int status) {
    char words[2048];
    snprintf(words, sizeof words, "check '%s' --json %s 2>/dev/null", file, options);
    cJSON *json = cJSON_Parse(stn_run_to(words, status)->out);
    assert_non_null(json);
    return json;
}

/// The first finding of a rule, NULL: none. `*severity` is its list.
static const cJSON *find(const cJSON *json, const char *rule, const char **severity) {
    static const char *const lists[] = {"errors", "warnings", "notes"};
    for (int i = 0; i < STN_COUNT(lists); i++) {
        const cJSON *finding = NULL;
        cJSON_ArrayForEach(finding, item(json, lists[i])) {
            if (strcmp(text_of(finding, "rule"), rule) == 0) {
                *severity = lists[i];
                return finding;
            }
        }
    }
    return NULL;
}

static const char *severity_of(const cJSON *rules, const char *name) {
    const cJSON *rule = NULL;
    cJSON_ArrayForEach(rule, rules) {
        if (strcmp(text_of(rule, "name"), name) == 0) {
            return text_of(rule, "severity");
        }
    }
    fail_msg("no rule %s", name);
    return "";
}

static cJSON *rules_of_the_table(void) {
    cJSON *rules = cJSON_Parse(stn_run_to("check --list --json", 0)->out);
    assert_non_null(rules);
    return rules;
}

static void expect_example(const cJSON *rules, const example *e) {
    const char *severity = "";
    write_file(ROBOT, e->robot);
    write_file(MESH, e->mesh != NULL ? e->mesh : "");
    cJSON *json = check_file(ROBOT, "", 0);
    const cJSON *finding = find(json, e->rule, &severity);
    if (finding == NULL) {
        fail_msg("%s says nothing", e->rule);
        return;
    }
    if (e->line != 0) {
        assert_near(number(finding, "line"), e->line, 0.0);
    } else {
        assert_true(cJSON_IsNull(item(finding, "line")));
    }
    assert_string_equal(text_of(finding, "where"), e->where);
    assert_string_equal(text_of(finding, "file"), ROBOT);
    assert_int_equal(strncmp(severity, severity_of(rules, e->rule), strlen(severity) - 1), 0); // "warnings", "warning"
    cJSON_Delete(json);
    write_file(ROBOT, e->near != NULL ? e->near : sound);
    json = check_file(ROBOT, "", 0);
    if (find(json, e->rule, &severity) != NULL) {
        fail_msg("%s accuses a sound robot: %s", e->rule, text_of(find(json, e->rule, &severity), "text"));
    }
    cJSON_Delete(json);
}

// --------------------------------------------------------------------------------------------------------- tests

static void a_sound_robot_has_no_findings(void **state) {
    (void)state;
    write_file(ROBOT, sound);
    stn_expect("check " ROBOT " 2>&1", 0, ROBOT ": 0 errors, 0 warnings, 0 notes\n");
    cJSON *json = check_file(ROBOT, "", 0);
    assert_int_equal(cJSON_GetArraySize(item(json, "errors")), 0);
    assert_int_equal(cJSON_GetArraySize(item(json, "warnings")), 0);
    assert_int_equal(cJSON_GetArraySize(item(json, "notes")), 0);
    cJSON_Delete(json);
}

static void every_rule_tells_its_mistake_with_the_line(void **state) {
    (void)state;
    cJSON *rules = rules_of_the_table();
    for (int32_t i = 0; i < STN_COUNT(examples); i++) {
        expect_example(rules, &examples[i]);
    }
    cJSON_Delete(rules);
}

static void an_overlap_is_named_with_its_depth(void **state) {
    (void)state;
    const example *e = &examples[STN_COUNT(examples) - 1];
    assert_string_equal(e->rule, "self_collision");
    write_file(ROBOT, e->robot);
    stn_expect_part("check " ROBOT " --rule self_collision 2>&1", 0,
                    ROBOT
                    ":4: warning: link c: overlaps link a (line 2) by 0.05 m where the robot starts, 2 joints apart: ");
    stn_expect_part("check " ROBOT " --ignore self_collision 2>&1", 0, ": 0 errors, 0 warnings, 0 notes\n");
}

/// What a loader has said of an element is not said again, and stays where the loader put it.
static void a_loader_is_not_repeated(void **state) {
    (void)state;
    const char *severity = "";
    write_file(ROBOT, ROBOT_OF("<inertial><mass value='1'/><inertia ixx='0.01' iyy='0.01' izz='0.03' ixy='0' ixz='0' "
                               "iyz='0'/></inertial>" BOX("collision", "0.2 0.2 0.2"),
                               "<limit lower='1' upper='1' effort='10' velocity='3'/>"));
    cJSON *json = check_file(ROBOT, "", 0);
    assert_int_equal(cJSON_GetArraySize(item(json, "warnings")), 2);
    const cJSON *inertia = find(json, "inertia", &severity), *limit = find(json, "limit", &severity);
    assert_non_null(inertia);
    assert_non_null(limit);
    assert_near(number(inertia, "line"), 3.0, 0.0);
    assert_near(number(limit, "line"), 4.0, 0.0);
    assert_null(find(json, "inertia_triangle", &severity));
    assert_null(find(json, "joint_locked", &severity));
    cJSON_Delete(json);
    json = check_file(ROBOT, "--rule joint_locked", 0); // asked for, it speaks for itself
    assert_int_equal(cJSON_GetArraySize(item(json, "warnings")), 1);
    assert_near(number(find(json, "joint_locked", &severity), "line"), 4.0, 0.0);
    cJSON_Delete(json);
    json = check_file(ROBOT, "--rule inertia_triangle", 0);
    assert_near(number(find(json, "inertia_triangle", &severity), "line"), 3.0, 0.0);
    cJSON_Delete(json);
}

static void errors_give_status_2_and_all_their_lines(void **state) {
    (void)state;
    const char *severity = "";
    write_file(ROBOT, "<robot name='r'>\n<link name='a'/>\n<link name='b'/>\n<link name='b'/>\n"
                      "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
                      "<limit lower='1' upper='-1' effort='1' velocity='1'/></joint>\n</robot>\n");
    cJSON *json = check_file(ROBOT, "--rule density", 2); // errors are told whatever was asked for
    assert_int_equal(cJSON_GetArraySize(item(json, "errors")), 2);
    const cJSON *first = cJSON_GetArrayItem(item(json, "errors"), 0),
                *second = cJSON_GetArrayItem(item(json, "errors"), 1);
    assert_near(number(first, "line"), 4.0, 0.0);
    assert_string_equal(text_of(first, "where"), "link b");
    assert_near(number(second, "line"), 5.0, 0.0);
    assert_null(find(json, "density", &severity));
    cJSON_Delete(json);
    stn_expect_part("check " ROBOT " 2>&1", 2,
                    ROBOT ":4: error: link b: line 3 has a link of the same name: rename one [");
    stn_expect_part("check " ROBOT " 2>&1", 2, ": 2 errors, 1 warning, 1 note\n");
}

static void errors_beyond_those_kept_are_counted(void **state) {
    (void)state;
    FILE *file = fopen(ROBOT, "w");
    assert_non_null(file);
    fputs("<robot name='r'><link name='a'/>", file);
    for (int i = 0; i < 150; i++) {
        fputs("<link name='a'/>", file);
    }
    fputs("</robot>", file);
    fclose(file);
    stn_expect_part("check " ROBOT " 2>&1", 2,
                    ": 100 errors, 0 warnings, 0 notes; 50 more errors and warnings are not listed\n");
}

static void a_limit_of_file_sizes_only_leaves_the_cache_out(void **state) {
    (void)state;
    write_file(STN_BINARY_DIR "/tests/check_limit.obj",
               "v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    write_file(ROBOT,
               "<robot name='r'><link name='a'><collision><geometry><mesh filename='check_limit.obj'/></geometry>"
               "</collision></link></robot>");
    stn_expect_part("--help >/dev/null 2>&1; ulimit -f 0; STICTION_CACHE=" STN_BINARY_DIR
                    "/tests/check_limit_cache " COMMAND " check " ROBOT " 2>&1",
                    0, ": 0 errors, ");
}

static void control_characters_of_an_argument_do_not_reach_the_terminal(void **state) {
    (void)state;
    stn_expect_part("info $(printf 'a\\033[31m\\302\\2331m.urdf') 2>&1", 2,
                    "stiction info: a?[31m?1m.urdf: No such file");
}

static void what_is_no_robot_file_is_one_line(void **state) {
    (void)state;
    stn_expect("check /nonexistent.urdf 2>&1", 2, "/nonexistent.urdf: error: No such file or directory [file]\n");
    stn_expect("check /dev/null 2>&1", 2,
               "/dev/null: error: not a file; give a robot file such as robot.urdf [file]\n");
    cJSON *json = check_file("/nonexistent.urdf", "", 2);
    assert_true(cJSON_IsNull(item(cJSON_GetArrayItem(item(json, "errors"), 0), "line")));
    cJSON_Delete(json);
    write_file(STN_BINARY_DIR "/tests/check.usda", "#usda 1.0\n");
    stn_expect_part("check " STN_BINARY_DIR "/tests/check.usda 2>&1", 2, "this is USD; loaders: ");
    write_file(STN_BINARY_DIR "/tests/check.xml", "<mujoco model='m'/>\n");
    stn_expect_part("check " STN_BINARY_DIR "/tests/check.xml 2>&1", 2,
                    "check.xml:1: error: worldbody: there is no <worldbody>");
    write_file(ROBOT, "<robot name='r' xmlns:xacro='x'>\n<xacro:property name='p' value='1'/></robot>");
    stn_expect_part("check " ROBOT " 2>&1", 2,
                    ":2: error: robot: <xacro:property> is xacro, not URDF: expand the file first");
    stn_expect("check 2>&1", 2, "stiction check: needs MODEL; see stiction check --help\n");
    stn_expect("check x --ignore densty 2>&1", 2,
               "stiction check: --ignore densty: there is no such rule; did you mean density?\n");
}

static void packages_that_serve_no_mesh_are_told(void **state) {
    (void)state;
    const char *severity = "";
    write_file(ROBOT, sound);
    cJSON *json = check_file(ROBOT, "--package /usr/bin --package /nonexistent", 0);
    assert_int_equal(cJSON_GetArraySize(item(json, "notes")), 2);
    const cJSON *note = find(json, "package_unused", &severity);
    assert_non_null(note);
    assert_string_equal(text_of(note, "text"),
                        "no mesh and no included model comes from the folder /usr/bin of --package");
    cJSON_Delete(json);
    write_file(MESH, CORNERS("1") OPEN);
    write_file(ROBOT, ROBOT_OF(SOUND MESHED("visual"), LIMIT));
    json = check_file(ROBOT, "--package " STN_BINARY_DIR, 0);
    assert_null(find(json, "package_unused", &severity));
    cJSON_Delete(json);
}

static void a_link_at_the_end_without_mass_is_no_step_between_joints(void **state) {
    (void)state;
    const char *severity = "";
    write_file(ROBOT, ROBOT_OF("", LIMIT));
    cJSON *json = check_file(ROBOT, "--rule mass_zero", 0);
    assert_non_null(find(json, "mass_zero", &severity));
    cJSON_Delete(json);
}

static void a_folder_serves_by_a_model_that_is_included(void **state) {
    (void)state;
    const char *severity = "", *folder = STN_BINARY_DIR "/tests/check_models";
    assert_true(mkdir(folder, 0777) == 0 || errno == EEXIST);
    assert_true(mkdir(STN_BINARY_DIR "/tests/check_models/cup", 0777) == 0 || errno == EEXIST);
    write_file(STN_BINARY_DIR "/tests/check_models/cup/model.sdf",
               "<sdf version='1.9'><model name='cup'><link name='l'/></model></sdf>\n");
    write_file(STN_BINARY_DIR "/tests/check_models/cup/model.config",
               "<model><name>cup</name><sdf version='1.9'>model.sdf</sdf></model>\n");
    const char *world = STN_BINARY_DIR "/tests/check_world.sdf";
    write_file(world, "<sdf version='1.9'><world name='w'><include><uri>model://cup</uri></include></world></sdf>\n");
    cJSON *json = check_file(world, "--package " STN_BINARY_DIR "/tests/check_models --package /usr/bin", 0);
    const cJSON *note = find(json, "package_unused", &severity);
    assert_non_null(note); // of the other folder, which holds nothing of it
    assert_non_null(strstr(text_of(note, "text"), "/usr/bin"));
    cJSON_Delete(json);
    json = check_file(world, "--package " STN_BINARY_DIR "/tests/check_models", 0);
    assert_null(find(json, "package_unused", &severity));
    cJSON_Delete(json);
}

static void the_made_up_inertia_of_what_never_moves_is_no_mistake(void **state) {
    (void)state;
    const char *severity = "", *world = STN_BINARY_DIR "/tests/check_static.sdf";
    const char *text = "<sdf version='1.9'><model name='m'><static>%s</static><link name='l'><collision name='c'>"
                       "<geometry><box><size>0.1 0.1 0.1</size></box></geometry></collision></link></model></sdf>\n";
    for (int moves = 0; moves < 2; moves++) {
        char file[400];
        snprintf(file, sizeof file, text, moves ? "false" : "true");
        write_file(world, file);
        cJSON *json = check_file(world, "--rule inertia_placeholder", 0);
        assert_int_equal(find(json, "inertia_placeholder", &severity) != NULL, moves);
        cJSON_Delete(json);
    }
}

/// Rules that no file of this test breaks: what loaders say first, and what needs an option.
static bool is_tested_elsewhere(const char *rule) {
    static const char *const others[] = {"inertia_triangle", "joint_locked", "package_unused"};
    for (int32_t i = 0; i < STN_COUNT(others); i++) {
        if (strcmp(rule, others[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void every_rule_has_an_example_and_a_row_in_the_documentation(void **state) {
    (void)state;
    static char page[1 << 17];
    FILE *file = fopen(STN_SOURCE_DIR "/docs/robots.md", "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    cJSON *rules = rules_of_the_table();
    const cJSON *rule = NULL;
    assert_true(cJSON_GetArraySize(rules) > 20);
    cJSON_ArrayForEach(rule, rules) {
        char row[400];
        const char *name = text_of(rule, "name");
        bool found = is_tested_elsewhere(name);
        for (int32_t i = 0; i < STN_COUNT(examples) && !found; i++) {
            found = strcmp(examples[i].rule, name) == 0;
        }
        snprintf(row, sizeof row, "| `%s` | %s | %s |\n", name, text_of(rule, "severity"), text_of(rule, "text"));
        if (!found || strstr(page, row) == NULL) {
            fail_msg("rule %s: %s", name, found ? "docs/robots.md has no such row" : "no example");
        }
    }
    cJSON_Delete(rules);
}

int main(void) {
    unsetenv("ROS_PACKAGE_PATH");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_robot_has_no_findings),
        cmocka_unit_test(every_rule_tells_its_mistake_with_the_line),
        cmocka_unit_test(an_overlap_is_named_with_its_depth),
        cmocka_unit_test(a_loader_is_not_repeated),
        cmocka_unit_test(errors_give_status_2_and_all_their_lines),
        cmocka_unit_test(what_is_no_robot_file_is_one_line),
        cmocka_unit_test(errors_beyond_those_kept_are_counted),
        cmocka_unit_test(a_limit_of_file_sizes_only_leaves_the_cache_out),
        cmocka_unit_test(control_characters_of_an_argument_do_not_reach_the_terminal),
        cmocka_unit_test(packages_that_serve_no_mesh_are_told),
        cmocka_unit_test(a_link_at_the_end_without_mass_is_no_step_between_joints),
        cmocka_unit_test(a_folder_serves_by_a_model_that_is_included),
        cmocka_unit_test(the_made_up_inertia_of_what_never_moves_is_no_mistake),
        cmocka_unit_test(every_rule_has_an_example_and_a_row_in_the_documentation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
