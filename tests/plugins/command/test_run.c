// SPDX-License-Identifier: Apache-2.0
// stiction run: exit statuses, overrides, warnings, JSON.
#include "run_folder.h"

static void test_a_run_is_summed_up_in_json(void **state) {
    (void)state;
    write_file("falling.lua", falling);
    cJSON *json = run_json("run falling.lua --json " QUIET, 0);
    assert_string_equal(item(json, "status")->valuestring, "ok");
    assert_string_equal(item(json, "scenario")->valuestring, "falling");
    assert_near(number(item(json, "parameters"), "height"), 1.0, 0.0);
    assert_true(cJSON_IsFalse(item(item(json, "parameters"), "heavy")));
    assert_string_equal(item(item(json, "versions"), "stiction")->valuestring, STN_VERSION);
    assert_string_equal(item(item(json, "versions"), "abi")->valuestring, "1.0");
    assert_string_equal(item(item(json, "plugins"), "solver")->valuestring, "sap");
    assert_near(number(item(json, "model"), "bodies"), 1.0, 0.0);
    assert_near(number(item(json, "model"), "nq"), 7.0, 0.0);
    assert_near(number(item(json, "model"), "nv"), 6.0, 0.0);
    assert_near(number(json, "steps"), 10.0, 0.0);
    assert_near(number(json, "simulated_s"), 0.1, 1e-12);
    assert_true(number(json, "wall_s") > 0.0 && number(json, "real_time_factor") > 0.0);
    assert_true(number(item(json, "step_us"), "p99") <= number(item(json, "step_us"), "max"));
    assert_near(number(json, "not_converged"), 0.0, 0.0);
    assert_near(number(item(json, "contacts"), "max"), 0.0, 0.0);
    assert_true(number(json, "peak_rss_kb") > 0.0);
    // E0 = m g h; symplectic Euler loses m g^2 dt^2 / 2 a step
    double mass = 1000.0 * 4.0 / 3.0 * 3.14159265358979323846 * 1e-3;
    assert_near(number(item(json, "energy_J"), "first"), mass * 10.0, 1e-9);
    assert_near(number(item(json, "energy_J"), "last"), mass * (10.0 - 10.0 * 0.5 * 100.0 * 1e-4), 1e-9);
    assert_near(number(item(json, "energy_J"), "max_increase"), 0.0, 1e-9);
    assert_near(number(item(json, "results"), "z"), 1.0 - 10.0 * 1e-4 * 55.0, 1e-12);
    const cJSON *check = cJSON_GetArrayItem(item(json, "checks"), 0);
    assert_string_equal(item(check, "name")->valuestring, "above");
    assert_true(cJSON_IsTrue(item(check, "ok")));
    assert_near(number(check, "limit"), 0.5, 0.0);
    assert_string_equal(item(check, "unit")->valuestring, "m");
    for (const char *const *name =
             (const char *const[]){"momentum", "complementarity", "cone", "penetration_m", "natural_ncp", "natural_ccp",
                                   "friction_work_J", "law_residual", NULL};
         *name != NULL; name++) {
        const cJSON *residual = item(item(json, "certificate"), *name);
        item(residual, "mean");
        item(residual, "p99");
        item(residual, "max");
    }
    cJSON_Delete(json);
}

static void test_the_language_may_be_told_and_the_script_be_stdin(void **state) {
    (void)state;
    write_file("falling.txt", falling);
    stn_expect_part("run falling.txt " ERRORS, 2, "endings that are known: .lua");
    stn_expect_part("run falling.txt --language lua " ERRORS, 0, "falling: ok\n");
    stn_expect_part("run - --language lua <falling.txt " ERRORS, 0, "stdin: ok\n");
    stn_expect("run - <falling.txt " ERRORS, 2,
               "stiction run: -: the language of a script on stdin has to be told: add --language ID\n");
    stn_expect_part("run falling.txt --language toy " ERRORS, 2, "stiction run: unknown script toy; there is lua");
    stn_expect("run --from a.capsule.json --language lua " ERRORS, 2,
               "stiction run: --language means nothing with --from CAPSULE\n");
}

static void test_the_summary_tells_what_contacts_did_at_the_end(void **state) {
    (void)state;
    write_file("two.lua", "local stn = require 'stiction'\n"
                          "local world = stn.world { dt = 0.01 }\n"
                          "world:ground {}\n"
                          "world:box { size = { 0.2, 0.2, 0.1 }, xyz = { 0, 0, 0.05 } }\n"
                          "world:box { size = { 0.2, 0.2, 0.1 }, xyz = { 0, 1, 0.0525 }, velocity = { 0.5, 0, 0 } }\n"
                          "for _ in world:run { steps = 5 } do end\n");
    cJSON *json = run_json("run two.lua --json " QUIET, 0);
    const cJSON *last = item(json, "contacts_last");
    assert_near(number(last, "open"), 0.0, 0.0);
    assert_near(number(last, "stick"), 4.0, 0.0);
    assert_near(number(last, "slip"), 4.0, 0.0);
    double speed = 0.5 - 5.0 * 0.01 * 0.5 * 9.81; // mu g
    assert_near(number(last, "slip_speed_m_per_s"), speed, 0.02);
    assert_near(number(last, "glide_gap_m"), 0.5 * 0.02 * number(last, "slip_speed_m_per_s"), 1e-12); // mu (dt + tau_d)
    cJSON_Delete(json);
}

static void test_the_summary_tells_what_constraints_did_at_the_end(void **state) {
    (void)state;
    write_file("hung.lua", "local stn = require 'stiction'\n"
                           "local world = stn.world { dt = 0.01, gravity = { 0, 0, -10 } }\n"
                           "local box = world:box { size = { 0.2, 0.2, 0.1 }, mass = 2 }\n"
                           "world:constraint { 'spring', name = 'holds', a = box, b_point = { 0, 0, 3 },\n"
                           "  stiffness = 1000, damping = 80 }\n"
                           "world:constraint { 'spring', a = box, b_point = { 0, 4, 3 }, stiffness = 10, length = 9,\n"
                           "  tension_only = true }\n"
                           "for _ in world:run { steps = 500 } do end\n");
    cJSON *json = run_json("run hung.lua --json " QUIET, 0);
    const cJSON *last = item(json, "constraints_last"), *holds = cJSON_GetArrayItem(last, 0);
    assert_int_equal(cJSON_GetArraySize(last), 2);
    assert_string_equal(item(holds, "name")->valuestring, "holds");
    assert_string_equal(item(holds, "plugin")->valuestring, "spring");
    assert_true(cJSON_IsFalse(item(holds, "slack")));
    assert_near(number(holds, "length_m"), 3.0 + 2.0 * 10.0 / 1000.0, 1e-6);
    assert_near(cJSON_GetArrayItem(item(holds, "force"), 0)->valuedouble, -20.0, 1e-3);
    assert_near(cJSON_GetArrayItem(item(holds, "phi"), 0)->valuedouble, 0.02, 1e-6);
    const cJSON *loose = cJSON_GetArrayItem(last, 1);
    assert_true(cJSON_IsTrue(item(loose, "slack")));
    assert_near(cJSON_GetArrayItem(item(loose, "force"), 0)->valuedouble, 0.0, 0.0);
    cJSON_Delete(json);
    stn_expect_part("run hung.lua " ERRORS, 0, "at the end 1 of 2 constraints slack");
}

static int compare_reals(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// The column of a log, without the start's row.
static int read_column(const char *path, const char *name, double *values, int most) {
    static char line[1 << 16];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    int column = -1, count = 0, at = 0;
    for (char *word = strtok(line, ",\n"); word != NULL; word = strtok(NULL, ",\n"), at++) {
        column = strcmp(word, name) == 0 ? at : column;
    }
    assert_true(column >= 0);
    assert_non_null(fgets(line, sizeof line, file));
    for (; count < most && fgets(line, sizeof line, file) != NULL; count++) {
        const char *field = line;
        for (int k = 0; k < column; k++) {
            field = strchr(field, ',') + 1;
        }
        values[count] = strtod(field, NULL);
    }
    fclose(file);
    return count;
}

/// eps_m, eps_gamma and others over the run: mean, largest, and the least that 99 % of the steps do not exceed.
static void test_the_certificate_in_json_sums_up_the_log(void **state) {
    (void)state;
    static const char *const names[] = {"complementarity", "cone", "penetration_m", "momentum"};
    write_file("sliding.lua",
               "local stn = require 'stiction'\n"
               "local w = stn.world { dt = 0.002, solver = { 'sap', tolerance = 1e-4 } }\n"
               "w:ground { mu = 0.5 }\n"
               "local b = w:box { size = { 0.1, 0.1, 0.1 }, mass = 1, mu = 0.5, xyz = { 0, 0, 0.0499 } }\n"
               "b:set_velocity { linear = { 1, 0.3, 0 }, angular = { 0, 0, 3 } }\n"
               "for step in w:run { steps = 130 } do end\n");
    cJSON *json = run_json("run sliding.lua --json --log sliding.csv " QUIET, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double values[200], sum = 0.0;
        int count = read_column("sliding.csv", names[i], values, 200);
        assert_int_equal(count, 130);
        qsort(values, (size_t)count, sizeof *values, compare_reals);
        for (int k = 0; k < count; k++) {
            sum += values[k];
        }
        const cJSON *summary = item(item(json, "certificate"), names[i]);
        assert_near(number(summary, "max"), values[129], 0.0);
        assert_near(number(summary, "p99"), values[128], 0.0); // 129 of 130 are the first 99 % and more
        assert_near(number(summary, "mean"), sum / 130.0, 1e-12 * values[129]);
        assert_true(values[129] > 0.0);
    }
    cJSON_Delete(json);
}

/// Once for each parameter, where it is first given; what means "none of it" is no setting.
static void test_a_material_that_nothing_uses_is_a_warning(void **state) {
    (void)state;
    write_file(
        "bouncy.lua",
        "local stn = require 'stiction'\n"
        "local w = stn.world {}\n"
        "w:ground { restitution = 0, dissipation = 0, modulus = math.huge, relaxation_time = 0.01 }\n"
        "w:sphere { radius = 0.1, restitution = 0.5, xyz = { 0, 0, 1 } }\n"
        "w:sphere { radius = 0.1, restitution = 0.5, xyz = { 0, 1, 1 } }\n"
        "w:contact_material { dissipation = 2, modulus = 1e6 }\n"
        "w:box { size = { 1, 1, 1 }, xyz = { 0, 0, 9 }, resolution = 0.1, field_margin = 0, material = 'rubber' }\n"
        "w:box { size = { 1, 1, 1 }, xyz = { 0, 3, 9 }, resolution = 0.1, modulus = 1e6 }\n"
        "w:step()\n");
    expect_warnings(
        "run bouncy.lua",
        "warning: bouncy.lua:6: world:contact_material: dissipation has no effect: neither law sap nor solver sap "
        "nor contact point uses it\n"
        "warning: bouncy.lua:6: world:contact_material: modulus has no effect on a pair: give it to the body that is "
        "to "
        "be compliant\n"
        "warning: bouncy.lua:7: world:box: resolution has no effect: neither law sap nor solver sap nor contact point "
        "uses it\n"
        "warning: bouncy.lua:8: world:box: modulus has no effect: neither law sap nor solver sap nor contact point "
        "uses it\n"
        "warning: bouncy.lua:4: sphere2: restitution = 0.5 has no effect: neither law sap nor solver sap nor contact "
        "point uses it; a stiffness, with relaxation_time or dissipation for what is lost, makes a contact bounce\n");
}

/// A robot file's too, with its file and line, and once for all worlds of a run.
static void test_a_move_that_passes_a_velocity_limit_is_a_warning(void **state) {
    (void)state;
    write_file("arm.urdf", "<robot name='arm'><link name='world'/><link name='a'><inertial><mass value='1'/>"
                           "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>\n"
                           "<joint name='j' type='revolute'><parent link='world'/><child link='a'/><axis xyz='0 0 1'/>"
                           "<limit lower='-2' upper='2' effort='90' velocity='1'/></joint></robot>\n");
    write_file("move.lua", "local stn = require 'stiction'\n"
                           "local w = stn.world {}\n"
                           "local arm = w:load { 'arm.urdf' }\n"
                           "w:controller { 'inverse_dynamics', target = arm }\n"
                           "w:task(function()\n"
                           "  arm:move_to({ j = 1 }, { seconds = 2, timeout = 9 })\n" // 15/8 of the mean is 0.9375
                           "  arm:move_to({ j = 0 }, { seconds = 1.5, timeout = 9 })\n"
                           "end)\n"
                           "for _ in w:run { seconds = 6 } do end\n");
    expect_warnings("run move.lua",
                    "warning: move.lua:7: move_to: joint 'j' of group 'arm' has to go at up to 1.25 rad/s, "
                    "its limit is 1; allow 1.25 times as long\n");
}

static void test_a_restitution_in_a_robot_file_is_a_warning(void **state) {
    (void)state;
    write_file("ball.urdf",
               "<robot name='ball'>\n"
               "<link name='ball'>\n"
               "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>\n"
               "<collision><geometry><sphere radius='0.1'/></geometry></collision>\n"
               "<contact><restitution value='0.8'/></contact>\n"
               "</link></robot>\n");
    write_file("bouncy.lua", "local stn = require 'stiction'\n"
                             "for i = 1, 3 do\n"
                             "  local w = stn.world {}\n"
                             "  w:load { 'ball.urdf', base = { xyz = { 0, 0, 1 } } }\n"
                             "  w:step()\n"
                             "end\n");
    expect_warnings(
        "run bouncy.lua",
        "warning: ball.urdf:4: ball: restitution = 0.8 has no effect: neither law sap nor solver sap nor contact point "
        "uses it; a stiffness, with relaxation_time or dissipation for what is lost, makes a contact bounce\n");
}

/// What no call could know alone: the mu of the surfaces, and the mu_static of their pair.
static void test_a_static_coefficient_below_that_of_sliding_is_a_warning(void **state) {
    (void)state;
    write_file("pair.lua", "local stn = require 'stiction'\n"
                           "local p = stn.params { mu_static = 0.2 }\n"
                           "local w = stn.world {}\n"
                           "w:ground { name = 'floor', mu = 0.3 }\n"
                           "w:box { name = 'box', mu = 0.7, size = { 0.1, 0.1, 0.1 }, xyz = { 0, 0, 0.05 } }\n"
                           "w:contact_material { mu_static = p.mu_static }\n"
                           "w:step()\n"
                           "w:step()\n");
    expect_warnings(
        "run pair.lua", // 2 0.3 0.7/(0.3 + 0.7)
        "warning: the contact of floor and box: mu_static = 0.2 has no effect below mu = 0.42: state mu beside "
        "it\n");
    expect_warnings("run pair.lua --set mu_static=0.43", "");
}

static void test_a_bad_start_is_a_warning(void **state) {
    (void)state;
    write_file("inside.lua", "local stn = require 'stiction'\n"
                             "local p = stn.params { depth = 0.01, tau = 0.002, stiffness = math.huge }\n"
                             "local w = stn.world { dt = 0.002 }\n"
                             "w:ground { name = 'floor' }\n"
                             "w:sphere { name = 'ball', radius = 0.1, xyz = { 0, 0, 0.1 - p.depth } }\n"
                             "w:contact_material { relaxation_time = p.tau, stiffness = p.stiffness }\n"
                             "w:step()\n");
    // 0.01 m / (dt + tau) = 2.5 m/s
    stn_expect_part(
        "run inside.lua " ERRORS, 0,
        "warning: the first step begins with floor and ball 0.01 m inside each other; rigid contact drives them "
        "apart at 2.5 m/s: ");
    expect_warnings("run inside.lua --set depth=0.0019", ""); // 0.475 m/s
    expect_warnings("run inside.lua --set tau=0.05", "");
    expect_warnings("run inside.lua --set stiffness=1e4", "");
    write_file("outside.lua", "local w = require('stiction').world { dt = 0.002 }\n"
                              "w:load { 'models/panda/panda.urdf', fixed = true, joints = { panda_joint4 = 0.9302 } }\n"
                              "w:step()\n");
    // (0.9302 + 0.0698)/(2 dt) = 250
    stn_expect_part(
        "run outside.lua " ERRORS, 0,
        "warning: the first step begins with joint panda_joint4 at 0.9302, outside its limits -3.072 to -0.0698; "
        "they drive it back at 250 a second: ");
}

/// Where a plain number would reach whatever function uses it first.
static void test_a_parameter_beyond_its_range_is_named_with_value_and_bound(void **state) {
    (void)state;
    write_file("ranges.lua",
               "local stn = require 'stiction'\n"
               "local p = stn.params { gap = stn.number { 0.1, min = 0, unit = 'm' },\n"
               "  mu = stn.number { 0.5, min = 0, max = 2 }, low = stn.number { -1, max = 0, unit = 'm' },\n"
               "  dt = stn.number { 0.1, min = 0.01, max = 1, unit = 's' } }\n"
               "stn.result('gap', p.gap) stn.result('dt', p.dt)\n");
    static const char *const ranges[][2] = {
        {"--set gap=-1", "stiction run: ranges.lua:2: parameter gap = -1 m must be >= 0 m\n"},
        {"--set mu=2.5", "stiction run: ranges.lua:2: parameter mu = 2.5 must be 0 to 2\n"},
        {"--set low=inf", "stiction run: ranges.lua:2: parameter low = inf m must be <= 0 m\n"},
        {"--set mu=inf", "stiction run: ranges.lua:2: parameter mu = inf must be 0 to 2\n"},
        {"--set gap=wide", "--set gap=wide: must be a number"},
        {"--dt 5", "stiction run: ranges.lua:2: parameter dt = 5 s must be 0.01 to 1 s\n"},
    };
    for (int i = 0; i < STN_COUNT(ranges); i++) {
        char words[128];
        snprintf(words, sizeof words, "run ranges.lua %s " ERRORS, ranges[i][0]);
        stn_expect_part(words, 2, ranges[i][1]);
    }
    stn_expect_part("run ranges.lua --set gap=0 --dt 1 " ERRORS, 0, "");
}

static void test_options_override_the_script(void **state) {
    (void)state;
    write_file("falling.lua", falling);
    cJSON *json = run_json("run falling.lua --set height=2 --set heavy=true --dt 0.001 --seconds 0.02 --seed 9 "
                           "--set solver.max_iterations=7 --json " QUIET,
                           0);
    const cJSON *parameters = item(json, "parameters");
    assert_near(number(parameters, "height"), 2.0, 0.0);
    assert_near(number(parameters, "seconds"), 0.02, 0.0);
    assert_near(number(parameters, "seed"), 9.0, 0.0);
    assert_true(cJSON_IsTrue(item(parameters, "heavy")));
    assert_near(number(json, "steps"), 20.0, 0.0);
    cJSON_Delete(json);
    stn_expect_part("run falling.lua --set hight=2 " ERRORS, 2,
                    "falling.lua:3: --set hight: the script declares no such parameter, did you mean 'height'?");
    stn_expect_part("run falling.lua --set dt=0.001 " ERRORS, 2,
                    "falling.lua:3: --set dt: the script declares no such parameter; --dt sets it for every world");
    stn_expect_part("run falling.lua --set stiction=true " ERRORS, 2, "--stiction sets it for every world");
    stn_expect_part("run falling.lua --set qqqqqqqq=1 " ERRORS, 2, "it declares: heavy, height, seconds, seed");
    stn_expect_part("run falling.lua --set height=tall " ERRORS, 2, "must be a number");
    stn_expect_part("run falling.lua --set heavy=1 " ERRORS, 2, "must be true or false");
    stn_expect_part("run falling.lua --set height " ERRORS, 2, "write name=value");
    stn_expect_part("run falling.lua --set solver.tolerence=1 " ERRORS, 2, "did you mean tolerance?");
    stn_expect_part("run falling.lua --solver sapp " ERRORS, 2, "sapp");
    stn_expect_part("run falling.lua --dt 0 " ERRORS, 2, "--dt 0: must be > 0 s");
    stn_expect_part("run falling.lua --dt nan " ERRORS, 2, "--dt nan: must be a finite number");
}

static void test_seconds_replace_a_duration_that_is_no_parameter(void **state) {
    (void)state;
    write_file("plain.lua", "local w = require 'stiction'.world { dt = 0.01 }\n"
                            "w:sphere { radius = 1 }\nfor _ in w:run { steps = 500 } do end\n");
    cJSON *json = run_json("run plain.lua --seconds 0.05 --json " QUIET, 0);
    assert_near(number(json, "steps"), 5.0, 0.0);
    cJSON_Delete(json);
}

static void test_failed_checks_and_assertions_give_status_1(void **state) {
    (void)state;
    write_file("falling.lua", falling);
    stn_expect_part("run falling.lua --set height=0.1 " ERRORS, 1, "FAILED above");
    cJSON *json = run_json("run falling.lua --set height=0.1 --json " QUIET, 1);
    assert_string_equal(item(json, "status")->valuestring, "check_failed");
    cJSON_Delete(json);
    write_file("claim.lua", "local x = 1\nassert(x == 2, 'x is not two')\n");
    stn_expect_part("run claim.lua " ERRORS, 1, "claim.lua:2: x is not two");
    write_file("tests.lua",
               "local stn = require 'stiction'\nstn.test('adds', function() stn.near(1 + 1, 3, 0.5) end)\n");
    stn_expect_part("run tests.lua " ERRORS, 1, "FAILED adds");
}

static void test_bad_scripts_are_one_line_and_status_2(void **state) {
    (void)state;
    stn_expect("run nothere.lua " ERRORS, 2,
               "stiction run: nothere.lua: cannot be read: No such file or directory; give the path of a Lua script\n");
    write_file("arm.xml", "<mujoco model='m'/>\n");
    stn_expect("run arm.xml 2>&1", 2,
               "stiction run: arm.xml: no scripting language runs such files; endings that are known: .lua\n");
    write_file("syntax.lua", "local x = = 2\n");
    stn_expect("run syntax.lua " ERRORS, 2, "stiction run: syntax.lua:1: unexpected symbol near '='\n");
    write_file("index.lua", "local x\n\nprint(x.y)\n");
    stn_expect("run index.lua " ERRORS, 2, "stiction run: index.lua:3: attempt to index a nil value (local 'x')\n");
    write_file("compare.lua", "\nmath.max(1, nil)\n");
    stn_expect("run compare.lua " ERRORS, 2, "stiction run: compare.lua:2: attempt to compare number with nil\n");
    stn_expect_part("run " ERRORS, 2, "needs SCRIPT");
}

static void test_a_step_that_fails_is_kept_and_gives_status_3(void **state) {
    (void)state;
    write_file("blow.lua", "local w = require 'stiction'.world { dt = 1, gravity = { 0, 0, 0 } }\n"
                           "local b = w:sphere { name = 'ball', radius = 0.1, mass = 1 }\n"
                           "b:apply_force { force = { 1e154, 0, 0 } }\n"
                           "w:step()\nw:step()\nprint 'not reached'\n");
    stn_expect_part("run blow.lua " ERRORS, 3, "blow.lua:5: step 1, t = 1 s");
    stn_expect_part("run blow.lua " ERRORS, 3, "kept in blow.capsule.json");
    cJSON *json = run_json("run blow.lua --json " QUIET, 3);
    assert_string_equal(item(json, "status")->valuestring, "diverged");
    assert_near(number(item(json, "failure"), "step"), 1.0, 0.0);
    cJSON_Delete(json);
    stn_expect_part("run --from blow.capsule.json " ERRORS, 3, "stiction run: step 1, t = 1 s: ");
    stn_expect_part("run --from blow.capsule.json " ERRORS, 3, "kept in blow.again.capsule.json");
    stn_expect_part("run --from blow.again.capsule.json --dt 1e-9 --quiet " ERRORS, 0, "");
    stn_expect_part("solve blow.capsule.json " QUIET, 0, "converged");
}

static void test_a_capsule_is_refused_by_name(void **state) {
    (void)state;
    write_file("none.capsule.json", "{ \"format\": \"stiction-capsule-1\", \"run\": \"AAAA\", \"problem\": null }");
    stn_expect_part("run --from none.capsule.json " ERRORS, 2, "none.capsule.json: not a recorded run");
    stn_expect_part("solve none.capsule.json " ERRORS, 2, "none.capsule.json: this capsule holds no contact problem");
    write_file("odd.capsule.json", "{ \"format\": \"stiction-capsule-1\", \"run\": \"A=\" }");
    stn_expect_part("run --from odd.capsule.json " ERRORS, 2, "odd.capsule.json: key 'run': is no base64");
    write_file("blow.lua", "print 'not run'\n");
    stn_expect_part("run --from blow.lua " ERRORS, 2, "blow.lua: no failure capsule: expected the format");
    stn_expect_part("run --from nowhere.json " ERRORS, 2, "nowhere.json");
    stn_expect_part("run blow.lua --from x.json " ERRORS, 2, "give SCRIPT or --from, not both");
}

static void test_energy_beyond_the_range_of_numbers_is_a_step_that_failed(void **state) {
    (void)state;
    write_file("high.lua", "local w = require 'stiction'.world { dt = 0.001 }\n"
                           "w:sphere { radius = 0.1, mass = 1, xyz = { 0, 0, 1e308 } }\nw:step()\n");
    stn_expect_part("run high.lua " ERRORS, 3, "high.lua:3: step 0, t = 0 s: the potential energy became inf J");
    cJSON *json = run_json("run high.lua --json " QUIET, 3);
    assert_string_equal(item(json, "status")->valuestring, "diverged");
    cJSON_Delete(json);
}

static void test_coroutines_work_as_in_lua(void **state) {
    (void)state;
    write_file("co.lua", "local f = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b, 'end' end)\n"
                         "assert(f(1) == 2)\nlocal b, last = f(7)\nassert(b == 7 and last == 'end')\n"
                         "local co = coroutine.create(function(...) coroutine.yield(...) error('deep') end)\n"
                         "assert(select('#', coroutine.resume(co, 1, nil, nil)) == 4)\n"
                         "local ok, text = coroutine.resume(co)\nassert(not ok and text == 'co.lua:5: deep', text)\n"
                         "assert(not coroutine.resume(co) and not pcall(f) and not pcall(coroutine.resume, 3))\n"
                         "coroutine.wrap(function() error 'said once' end)()\n");
    stn_expect("run co.lua " ERRORS, 2, "stiction run: co.lua:10: said once\n");
}

static void test_errors_that_are_no_text_are_one_line(void **state) {
    (void)state;
    write_file("table.lua", "error({})\n");
    stn_expect_part("run table.lua " ERRORS, 2, "table.lua:1: the script raised a table value");
    write_file("nil.lua", "\nerror(nil)\n");
    stn_expect_part("run nil.lua " ERRORS, 2, "nil.lua:2: the script raised a nil value");
    write_file("worse.lua", "error(setmetatable({}, { __tostring = function() error 'no' end }))\n");
    stn_expect_part("run worse.lua " ERRORS, 2, "worse.lua:1: the script raised a table value");
    write_file("shown.lua", "error(setmetatable({}, { __tostring = function() return 'as told' end }))\n");
    stn_expect_part("run shown.lua " ERRORS, 2, "shown.lua:1: as told");
}

static void test_seeds_and_threads_out_of_range_are_status_2(void **state) {
    (void)state;
    write_file("falling.lua", falling);
    stn_expect("run falling.lua --seed -1 " ERRORS, 2, "stiction run: --seed -1: must be >= 0\n");
    stn_expect("run falling.lua --threads 0 " ERRORS, 2, "stiction run: --threads 0: must be from 1 to 1024\n");
}

static void test_a_run_without_parameters_has_none_in_json(void **state) {
    (void)state;
    write_file("none.lua", "require 'stiction'.world {}:step()\n");
    cJSON *json = run_json("run none.lua --json " QUIET, 0);
    assert_int_equal(cJSON_GetArraySize(item(json, "parameters")), 0);
    cJSON_Delete(json);
}

static void test_a_steady_step_allocates_nothing(void **state) {
    (void)state;
    write_file("rest.lua", "local w = require 'stiction'.world { dt = 0.002 }\nw:ground {}\n"
                           "for i = 1, 3 do w:box { size = { 0.1, 0.1, 0.1 }, xyz = { 0, 0, 0.1 * i - 0.05 } } end\n"
                           "for _ in w:run { steps = 300 } do end\n");
    cJSON *json = run_json("run rest.lua --json " QUIET, 0);
    assert_near(number(json, "allocations_per_step"), 0.0, 0.0);
    assert_true(number(item(json, "contacts"), "mean") >= 9.0);
    cJSON_Delete(json);
}

static void test_profile_tells_the_stages(void **state) {
    (void)state;
    write_file("falling.lua", falling);
    stn_expect_part("run falling.lua --profile " ERRORS, 0, "stages of the ");
    cJSON *json = run_json("run falling.lua --profile --json " QUIET, 0);
    const cJSON *stages = item(json, "stage_us"), *phases = item(json, "phase_us");
    static const char *const names[] = {"kinematics", "inputs",      "form",    "collision", "assembly",
                                        "solve",      "certificate", "advance", "commit"};
    const cJSON *stage = stages->child; // in the order of a step
    for (int32_t i = 0; i < STN_COUNT(names); i++, stage = stage->next) {
        assert_non_null(stage);
        assert_string_equal(stage->string, names[i]);
    }
    if (number(json, "profiled_steps") > 0.0) { // else the machine left none alone
        double solve = number(stages, "solve"), collision = number(stages, "collision");
        double parts = number(phases, "set_up") + number(phases, "hessian") + number(phases, "factor") +
                       number(phases, "line_search") + number(phases, "delassus");
        assert_true(parts >= 0.0 && parts <= solve); // their clock runs inside of the stage's
        assert_true(number(phases, "broad_phase") + number(phases, "narrow_phase") <= collision);
    }
    cJSON_Delete(json);
    json = run_json("run falling.lua --json " QUIET, 0);
    assert_null(cJSON_GetObjectItem(json, "phase_us"));
    cJSON_Delete(json);
}

/// A round peg in the middle of a square hole whose walls are `gap` away from it, turned so that boxes of the broad
/// phase meet. Patches act on flat pieces, here of 24 sectors: corners stand r (sqrt(t / sin t) - 1) out, t = 2 pi/24,
/// so that the prism has the cylinder's volume; 57 um. `above`: it begins above the hole and moves in.
static void write_peg(const char *gap, const char *resolution, const char *above) {
    char text[1600];
    snprintf(
        text, sizeof text,
        "local stn = require 'stiction'\n"
        "local gap, resolution, above = %s, %s, %s\n"
        "local w = stn.world { dt = 1e-3, contact = 'hydroelastic', gravity = { 0, 0, 0 } }\n"
        "for i = 1, 4 do\n"
        "  local yaw = (2 * i + 1) * math.pi / 4\n"
        "  w:box { name = 'wall' .. i, fixed = true, size = { 0.02, 0.1, 0.02 }, modulus = 1e6, rpy = { 0, 0, yaw },\n"
        "    xyz = { (0.02 + gap) * math.cos(yaw), (0.02 + gap) * math.sin(yaw), 0 } }\n"
        "end\n"
        "w:cylinder { name = 'peg', radius = 0.01, length = 0.06, mass = 0.05, resolution = resolution,\n"
        "  xyz = { 0, 0, above and 0.045 or 0 }, velocity = { 0, 0, above and -0.1 or 0 } }\n"
        "for _ in w:run { steps = above and 300 or 3 } do end\n",
        gap, resolution, above);
    write_file("peg.lua", text);
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        count++;
    }
    return count;
}

static void test_a_clearance_that_flat_pieces_eat_is_told_once(void **state) {
    (void)state;
    static const struct {
        const char *gap, *resolution, *above, *said; // NULL: nothing
    } cases[] = {
        {"2e-5", "nil", "false", "press on each other at t = 0 s, though they are 2e-05 m apart"},
        {"5e-5", "nil", "false", "corners stand 5.74e-05 m out of peg (its resolution is 0.00262 m; 0.0017 m leaves"},
        {"1e-4", "nil", "false", NULL},                            // more than they stand out
        {"-1e-5", "nil", "false", NULL},                           // presses by itself
        {"2e-5", "0.0011", "false", NULL},                         // as the warning says
        {"2e-5", "nil", "true", "press on each other at t = 0.1"}, // while it slides through the hole
        {"-1e-5", "nil", "true", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_peg(cases[i].gap, cases[i].resolution, cases[i].above);
        const char *errors = stn_run_to("run peg.lua " ERRORS, 0)->out;
        assert_int_equal(count_of(errors, "press on each other"), cases[i].said != NULL);
        assert_true(cases[i].said == NULL || strstr(errors, cases[i].said) != NULL);
    }
}

/// What lands passes through a state in which flat pieces touch and the shape does not yet, and what is stiff stays on
/// a corner: nothing to be told.
static void test_a_ball_that_lands_is_no_clearance(void **state) {
    (void)state;
    write_file("lands.lua", "local stn = require 'stiction'\n"
                            "local w = stn.world { dt = 1e-4, contact = 'hydroelastic' }\n"
                            "w:ground {}\n"
                            "w:sphere { radius = 0.05, mass = 0.5, modulus = 1e5, xyz = { 0, 0, 0.051 } }\n"
                            "for _ in w:run { seconds = 0.3 } do end\n");
    assert_int_equal(count_of(stn_run_to("run lands.lua " ERRORS, 0)->out, "press on"), 0);
    write_file("rests.lua", "local stn = require 'stiction'\n"
                            "local w = stn.world { dt = 1e-3, contact = 'hydroelastic' }\n"
                            "w:ground {}\n"
                            "w:sphere { radius = 0.05, mass = 0.5, modulus = 1e9, xyz = { 0, 0, 0.051 } }\n"
                            "for _ in w:run { seconds = 0.6 } do end\n");
    assert_int_equal(count_of(stn_run_to("run rests.lua " ERRORS, 0)->out, "press on"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_run_is_summed_up_in_json, enter_folder, leave_folder),
        cmocka_unit_test(test_the_language_may_be_told_and_the_script_be_stdin),
        cmocka_unit_test(test_the_summary_tells_what_contacts_did_at_the_end),
        cmocka_unit_test(test_the_summary_tells_what_constraints_did_at_the_end),
        cmocka_unit_test_setup_teardown(test_the_certificate_in_json_sums_up_the_log, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_material_that_nothing_uses_is_a_warning, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_move_that_passes_a_velocity_limit_is_a_warning, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_a_restitution_in_a_robot_file_is_a_warning, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_static_coefficient_below_that_of_sliding_is_a_warning, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_a_bad_start_is_a_warning, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_options_override_the_script, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_parameter_beyond_its_range_is_named_with_value_and_bound, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_seconds_replace_a_duration_that_is_no_parameter, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_failed_checks_and_assertions_give_status_1, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_bad_scripts_are_one_line_and_status_2, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_step_that_fails_is_kept_and_gives_status_3, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_capsule_is_refused_by_name, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_energy_beyond_the_range_of_numbers_is_a_step_that_failed, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_coroutines_work_as_in_lua, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_errors_that_are_no_text_are_one_line, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_seeds_and_threads_out_of_range_are_status_2, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_run_without_parameters_has_none_in_json, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_steady_step_allocates_nothing, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_profile_tells_the_stages, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_clearance_that_flat_pieces_eat_is_told_once, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_ball_that_lands_is_no_clearance, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
