// SPDX-License-Identifier: Apache-2.0
// stiction run: exit statuses, overrides, JSON, logs, interrupts.
#include "stn_command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <cjson/cJSON.h>

#define QUIET  "2>/dev/null"
#define ERRORS "2>&1 >/dev/null"

static const char falling[] = "local stn = require 'stiction'\n"
                              "local p = stn.params { height = 1.0, seconds = 0.1, seed = 4, heavy = false }\n"
                              "local w = stn.world { dt = 0.01, gravity = { 0, 0, -10 }, seed = p.seed }\n"
                              "local b = w:sphere { name = 'ball', radius = 0.1, xyz = { 0, 0, p.height } }\n"
                              "for step in w:run { seconds = p.seconds } do end\n"
                              "stn.result('z', b:position()[3], 'm')\n"
                              "stn.check('above', { value = b:position()[3], least = 0.5, unit = 'm' })\n";

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/// Every test runs in an empty folder of its own.
static int enter_folder(void **state) {
    char name[] = "/tmp/stiction_run_XXXXXX";
    if (mkdtemp(name) == NULL || chdir(name) != 0) {
        return -1;
    }
    *state = strdup(name);
    return *state == NULL;
}

static int leave_folder(void **state) {
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", (char *)*state);
    free(*state);
    return chdir("/") != 0 || system(line) != 0;
}

static cJSON *run_json(const char *words, int status) {
    cJSON *json = cJSON_Parse(stn_run_to(words, status)->out);
    assert_non_null(json);
    return json;
}

static const cJSON *member(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (item == NULL) {
        fail_msg("no \"%s\"", name);
    }
    return item;
}

static double number(const cJSON *object, const char *name) {
    const cJSON *item = member(object, name);
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

static void test_a_run_is_summed_up_in_json(void **state) {
    (void)state;
    write_file("falling.lua", falling);
    cJSON *json = run_json("run falling.lua --json " QUIET, 0);
    assert_string_equal(member(json, "status")->valuestring, "ok");
    assert_string_equal(member(json, "scenario")->valuestring, "falling");
    assert_near(number(member(json, "parameters"), "height"), 1.0, 0.0);
    assert_true(cJSON_IsFalse(member(member(json, "parameters"), "heavy")));
    assert_string_equal(member(member(json, "versions"), "stiction")->valuestring, STN_VERSION);
    assert_string_equal(member(member(json, "versions"), "abi")->valuestring, "1.0");
    assert_string_equal(member(member(json, "plugins"), "solver")->valuestring, "sap");
    assert_near(number(member(json, "model"), "bodies"), 1.0, 0.0);
    assert_near(number(member(json, "model"), "nq"), 7.0, 0.0);
    assert_near(number(member(json, "model"), "nv"), 6.0, 0.0);
    assert_near(number(json, "steps"), 10.0, 0.0);
    assert_near(number(json, "simulated_s"), 0.1, 1e-12);
    assert_true(number(json, "wall_s") > 0.0 && number(json, "real_time_factor") > 0.0);
    assert_true(number(member(json, "step_us"), "p99") <= number(member(json, "step_us"), "max"));
    assert_near(number(json, "not_converged"), 0.0, 0.0);
    assert_near(number(member(json, "contacts"), "max"), 0.0, 0.0);
    assert_true(number(json, "peak_rss_kb") > 0.0);
    // E0 = m g h; symplectic Euler loses m g^2 dt^2 / 2 a step
    double mass = 1000.0 * 4.0 / 3.0 * 3.14159265358979323846 * 1e-3;
    assert_near(number(member(json, "energy_J"), "first"), mass * 10.0, 1e-9);
    assert_near(number(member(json, "energy_J"), "last"), mass * (10.0 - 10.0 * 0.5 * 100.0 * 1e-4), 1e-9);
    assert_near(number(member(json, "energy_J"), "max_increase"), 0.0, 1e-9);
    assert_near(number(member(json, "results"), "z"), 1.0 - 10.0 * 1e-4 * 55.0, 1e-12);
    const cJSON *check = cJSON_GetArrayItem(member(json, "checks"), 0);
    assert_string_equal(member(check, "name")->valuestring, "above");
    assert_true(cJSON_IsTrue(member(check, "ok")));
    assert_near(number(check, "limit"), 0.5, 0.0);
    assert_string_equal(member(check, "unit")->valuestring, "m");
    for (const char *const *name =
             (const char *const[]){"momentum", "complementarity", "cone", "penetration_m", "natural_ncp", "natural_ccp",
                                   "friction_work_J", "law_residual", NULL};
         *name != NULL; name++) {
        const cJSON *residual = member(member(json, "certificate"), *name);
        member(residual, "mean");
        member(residual, "p99");
        member(residual, "max");
    }
    cJSON_Delete(json);
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
    const cJSON *last = member(json, "contacts_last");
    assert_near(number(last, "open"), 0.0, 0.0);
    assert_near(number(last, "stick"), 4.0, 0.0);
    assert_near(number(last, "slip"), 4.0, 0.0);
    double speed = 0.5 - 5.0 * 0.01 * 0.5 * 9.81; // mu g
    assert_near(number(last, "slip_m_per_s"), speed, 0.02);
    assert_near(number(last, "glide_gap_m"), 0.5 * 0.02 * number(last, "slip_m_per_s"), 1e-12); // mu (dt + tau_d)
    cJSON_Delete(json);
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
        const cJSON *summary = member(member(json, "certificate"), names[i]);
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
    write_file("bouncy.lua",
               "local stn = require 'stiction'\n"
               "local w = stn.world {}\n"
               "w:ground { restitution = 0, dissipation = 0, modulus = math.huge, relaxation_time = 0.01 }\n"
               "w:sphere { radius = 0.1, restitution = 0.5, xyz = { 0, 0, 1 } }\n"
               "w:sphere { radius = 0.1, restitution = 0.5, xyz = { 0, 1, 1 } }\n"
               "w:contact_material { dissipation = 2 }\n"
               "w:step()\n");
    stn_expect(
        "run -q bouncy.lua " ERRORS, 0,
        "warning: bouncy.lua:6: world:contact_material: dissipation has no effect: neither law sap nor solver sap "
        "nor contact point uses it\n"
        "warning: bouncy.lua:4: sphere2: restitution = 0.5 has no effect: neither law sap nor solver sap nor contact "
        "point uses it; a stiffness, with relaxation_time or dissipation for what is lost, makes a contact bounce\n");
}

/// A robot file's too, with its file and line, and once for all worlds of a run.
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
    stn_expect(
        "run -q bouncy.lua " ERRORS, 0,
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
    stn_expect("run -q pair.lua " ERRORS, 0, // 2 0.3 0.7/(0.3 + 0.7)
               "warning: the contact of floor and box: mu_static = 0.2 has no effect below mu = 0.42: state mu beside "
               "it\n");
    stn_expect("run -q pair.lua --set mu_static=0.43 " ERRORS, 0, "");
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
    stn_expect("run inside.lua --quiet --set depth=0.0019 2>&1", 0, ""); // 0.475 m/s
    stn_expect("run inside.lua --quiet --set tau=0.05 2>&1", 0, "");
    stn_expect("run inside.lua --quiet --set stiffness=1e4 2>&1", 0, "");
    write_file("outside.lua", "local w = require('stiction').world { dt = 0.002 }\n"
                              "w:load { 'models/panda/panda.urdf', fixed = true, joints = { panda_joint4 = 0.9302 } }\n"
                              "w:step()\n");
    // (0.9302 + 0.0698)/(2 dt) = 250
    stn_expect_part(
        "run outside.lua " ERRORS, 0,
        "warning: the first step begins with joint panda_joint4 at 0.9302, outside its limits -3.072 to -0.0698; "
        "they drive it back at 250 a second: ");
}

static void test_options_override_the_script(void **state) {
    (void)state;
    write_file("falling.lua", falling);
    cJSON *json = run_json("run falling.lua --set height=2 --set heavy=true --dt 0.001 --seconds 0.02 --seed 9 "
                           "--set solver.max_iterations=7 --json " QUIET,
                           0);
    const cJSON *parameters = member(json, "parameters");
    assert_near(number(parameters, "height"), 2.0, 0.0);
    assert_near(number(parameters, "seconds"), 0.02, 0.0);
    assert_near(number(parameters, "seed"), 9.0, 0.0);
    assert_true(cJSON_IsTrue(member(parameters, "heavy")));
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
    assert_string_equal(member(json, "status")->valuestring, "check_failed");
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
               "stiction run: arm.xml: this is XML, not a Lua script; a script loads robots by world:load\n");
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
    assert_string_equal(member(json, "status")->valuestring, "diverged");
    assert_near(number(member(json, "failure"), "step"), 1.0, 0.0);
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
    stn_expect_part("run --from blow.lua " ERRORS, 2, "blow.lua: line 1: not JSON");
    stn_expect_part("run --from nowhere.json " ERRORS, 2, "nowhere.json");
    stn_expect_part("run blow.lua --from x.json " ERRORS, 2, "give SCRIPT or --from, not both");
}

static void test_energy_beyond_the_range_of_numbers_is_a_step_that_failed(void **state) {
    (void)state;
    write_file("high.lua", "local w = require 'stiction'.world { dt = 0.001 }\n"
                           "w:sphere { radius = 0.1, mass = 1, xyz = { 0, 0, 1e308 } }\nw:step()\n");
    stn_expect_part("run high.lua " ERRORS, 3, "high.lua:3: step 0, t = 0 s: the potential energy became inf J");
    cJSON *json = run_json("run high.lua --json " QUIET, 3);
    assert_string_equal(member(json, "status")->valuestring, "diverged");
    cJSON_Delete(json);
}

static int count_lines(const char *path, bool *whole) {
    FILE *file = fopen(path, "r");
    int lines = 0, last = '\n';
    // a log that grows while it is read would never end: no test has more lines than this
    for (int c = file != NULL ? fgetc(file) : EOF; c != EOF && lines < 1000; c = fgetc(file)) {
        lines += c == '\n';
        last = c;
    }
    if (file != NULL) {
        fclose(file);
    }
    *whole = last == '\n';
    return lines;
}

static void test_log_writes_every_step_of_the_first_world(void **state) {
    (void)state;
    bool whole = false;
    write_file("falling.lua", falling);
    stn_run_to("run falling.lua --log out.csv " QUIET, 0);
    assert_int_equal(count_lines("out.csv", &whole), 12); // header, start, ten steps
    assert_true(whole);
    stn_expect_part("run falling.lua --log out.xyz " ERRORS, 2, ".csv");
    stn_expect_part("run falling.lua --log nowhere/out.csv " ERRORS, 2, "nowhere/out.csv");
}

static void test_recordings_of_several_kinds_are_made_at_once(void **state) {
    (void)state;
    bool whole = false;
    write_file("falling.lua", falling);
    stn_run_to("run falling.lua --record one.csv --log two.csv --record three.csv " QUIET, 0);
    assert_int_equal(count_lines("one.csv", &whole), 12);
    assert_int_equal(count_lines("two.csv", &whole), 12);
    assert_int_equal(count_lines("three.csv", &whole), 12);
    stn_expect("run falling.lua --record one.csv --log one.csv " ERRORS, 2,
               "stiction run: --record one.csv: is given twice; name another file\n");
    stn_expect_part("run falling.lua --record one.csv --log ./one.csv " ERRORS, 2,
                    "recorder csv: ./one.csv: another recording is being written to it; name another file\n");
}

static void test_what_fails_when_a_recording_is_closed_gives_status_2(void **state) {
    (void)state;
    write_file("late.lua", "local w = require 'stiction'.world {}\n"
                           "w:step()\nw:record('late.png')\n");
    stn_expect_part("run late.lua -q " ERRORS, 2,
                    "stiction run: late.png: no step was made while it was open: make one\n");
    write_file("left.lua", "local w = require 'stiction'.world {}\n"
                           "w:step()\nw:record('late.png')\nos.exit(7)\n");
    stn_expect_part("run left.lua -q " ERRORS, 7, "error: late.png: no step was made while it was open: make one\n");
}

static void test_a_log_that_cannot_be_written_is_said_once(void **state) {
    (void)state;
    write_file("falling.lua", falling);
    assert_int_equal(symlink("/dev/full", "full.csv"), 0);
    stn_expect("run falling.lua --log full.csv " ERRORS, 2,
               "stiction run: falling.lua:5: recorder csv: full.csv: cannot be written: No space left on device\n");
}

static void test_names_in_a_log_are_quoted_where_they_separate_columns(void **state) {
    (void)state;
    write_file("names.lua", "local w = require 'stiction'.world {}\n"
                            "w:sphere { name = 'a,\"b', radius = 0.1, mass = 1 }\n"
                            "w:plot('up, down', 1)\nw:record('names.csv')\nw:step()\n");
    stn_run_to("run names.lua " QUIET, 0);
    FILE *file = fopen("names.csv", "r");
    char header[2048];
    assert_non_null(file);
    assert_non_null(fgets(header, sizeof header, file));
    fclose(file);
    assert_non_null(strstr(header, ",\"q[a,\"\"b_floating].x\",\"q[a,\"\"b_floating].y\","));
    assert_non_null(strstr(header, ",step_us,\"up, down\"\n"));
}

/// What a full disk does: writing beyond 4096 bytes of a file fails. The exit status.
static int run_on_small_disk(const char *script) {
    pid_t process = fork();
    if (process == 0) {
        int sink = open("/dev/null", O_WRONLY);
        dup2(sink, STDERR_FILENO);
        dup2(sink, STDOUT_FILENO);
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
        execl(COMMAND, COMMAND, "run", script, "--set", "seconds=1", "--log", "out.csv", (char *)NULL);
        _exit(99);
    }
    int status = 0;
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_a_full_disk_ends_the_run_and_leaves_whole_rows(void **state) {
    (void)state;
    bool whole = false;
    write_file("falling.lua", falling);
    assert_int_equal(run_on_small_disk("falling.lua"), 2);
    int lines = count_lines("out.csv", &whole);
    assert_true(lines > 2 && lines < 102);
    assert_true(whole);
}

static void pause_10ms(void) {
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
}

/// Starts the command, waits for `ready` to have lines, sends SIGINT up to so often while it runs; the exit
/// status.
static int interrupt_times(const char *script, const char *ready, int times) {
    pid_t process = fork();
    if (process == 0) {
        int sink = open("/dev/null", O_WRONLY);
        dup2(sink, STDERR_FILENO);
        dup2(sink, STDOUT_FILENO);
        execl(COMMAND, COMMAND, "run", script, "--log", "out.csv", (char *)NULL);
        _exit(99);
    }
    bool whole = false;
    for (int i = 0; i < 3000 && count_lines(ready, &whole) < 5; i++) {
        pause_10ms();
    }
    int status = 0;
    bool over = false;
    for (int i = 0; i < times && !over; i++) { // signals that come before the process runs again are one
        kill(process, SIGINT);
        pause_10ms();
        over = waitpid(process, &status, WNOHANG) == process;
    }
    if (!over) {
        waitpid(process, &status, 0);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int interrupt(const char *script, const char *ready) {
    return interrupt_times(script, ready, 1);
}

static void test_an_interrupt_closes_the_log_and_gives_status_130(void **state) {
    (void)state;
    bool whole = false;
    write_file("endless.lua", "local w = require 'stiction'.world { dt = 0.001 }\nw:sphere { radius = 1 }\n"
                              "for _ in w:run { seconds = 1e6 } do end\n");
    assert_int_equal(interrupt("endless.lua", "out.csv"), 130);
    assert_true(count_lines("out.csv", &whole) >= 5);
    assert_true(whole);
    write_file("busy.lua",
               "local f = io.open('ready', 'w') f:write '1\\n2\\n3\\n4\\n5\\n' f:close()\nwhile true do end\n");
    assert_int_equal(interrupt("busy.lua", "ready"), 130);
}

static void test_a_second_interrupt_ends_a_script_that_is_inside_a_long_call(void **state) {
    (void)state;
    bool whole = false;
    write_file("pattern.lua", "local w = require 'stiction'.world { dt = 0.001 }\nw:sphere { radius = 1 }\n"
                              "for _ in w:run { steps = 10 } do end\n"
                              "local f = io.open('ready', 'w') f:write '1\\n2\\n3\\n4\\n5\\n' f:close()\n"
                              "string.find(('a'):rep(300), ('a*'):rep(20) .. 'b')\n");
    assert_int_equal(interrupt_times("pattern.lua", "ready", 3000), 130);
    assert_int_equal(count_lines("out.csv", &whole), 12);
    assert_true(whole);
}

static void test_os_exit_ends_the_script_and_closes_the_log(void **state) {
    (void)state;
    bool whole = false;
    write_file("leaves.lua",
               "local stn = require 'stiction'\n"
               "local p = stn.params { status = 5, ok = true }\n"
               "local w = stn.world { dt = 0.01 }\nw:sphere { radius = 1 }\n"
               "for step in w:run { steps = 10 } do\n"
               "  if step.index == 3 then pcall(os.exit, math.tointeger(p.status)) print 'not reached' end\n"
               "end\n");
    cJSON *json = run_json("run leaves.lua --log out.csv --json " QUIET, 5);
    assert_string_equal(member(json, "status")->valuestring, "exit");
    assert_near(number(json, "steps"), 3.0, 0.0);
    cJSON_Delete(json);
    assert_int_equal(count_lines("out.csv", &whole), 5);
    assert_true(whole);
    stn_expect_part("run leaves.lua " ERRORS, 5,
                    "leaves.lua:6: os.exit: ended with exit status 5 before the end of the script");
    json = run_json("run leaves.lua --set status=0 --json " QUIET, 0);
    assert_string_equal(member(json, "status")->valuestring, "ok");
    cJSON_Delete(json);
    write_file("fails.lua",
               "require 'stiction'.check('wrong', false)\ncoroutine.wrap(function() os.exit(true) end)()\n");
    stn_expect_part("run fails.lua " ERRORS, 1, "FAILED wrong");
    stn_expect_part("run fails.lua --set status=1 " ERRORS, 2, "--set status");
    write_file("no.lua", "os.exit(false)\n");
    stn_expect_part("run no.lua " ERRORS, 1, "no.lua:1: os.exit: ended with exit status 1");
}

static void test_an_interrupt_reaches_coroutines_and_passes_every_pcall(void **state) {
    (void)state;
    static const char *const loops[] = {
        "coroutine.wrap(function() while true do end end)()",
        "coroutine.resume(coroutine.create(function() coroutine.wrap(function() while true do end end)() end)) while "
        "true do end",
        "while true do pcall(function() while true do end end) end",
        "local t <close> = setmetatable({}, { __close = function() while true do end end }) while true do end",
        "require 'stiction'.test('endless', function() while true do end end) while true do end",
    };
    for (int32_t i = 0; i < STN_COUNT(loops); i++) {
        char text[512];
        snprintf(text, sizeof text, "local f = io.open('ready', 'w') f:write '1\\n2\\n3\\n4\\n5\\n' f:close()\n%s\n",
                 loops[i]);
        remove("ready");
        write_file("busy.lua", text);
        assert_int_equal(interrupt("busy.lua", "ready"), 130);
    }
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

static void test_a_saved_state_does_not_replace_a_pipe(void **state) {
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    write_file("save.lua", "local w = require 'stiction'.world {}\nw:save 'pipe'\n");
    stn_expect_part("run save.lua " ERRORS, 2, "save.lua:2: pipe: cannot be written: it is not a regular file");
    struct stat what;
    assert_int_equal(stat("pipe", &what), 0);
    assert_true(S_ISFIFO(what.st_mode));
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
    assert_int_equal(cJSON_GetArraySize(member(json, "parameters")), 0);
    cJSON_Delete(json);
}

static void test_a_steady_step_allocates_nothing(void **state) {
    (void)state;
    write_file("rest.lua", "local w = require 'stiction'.world { dt = 0.002 }\nw:ground {}\n"
                           "for i = 1, 3 do w:box { size = { 0.1, 0.1, 0.1 }, xyz = { 0, 0, 0.1 * i - 0.05 } } end\n"
                           "for _ in w:run { steps = 300 } do end\n");
    cJSON *json = run_json("run rest.lua --json " QUIET, 0);
    assert_near(number(json, "allocations_per_step"), 0.0, 0.0);
    assert_true(number(member(json, "contacts"), "mean") >= 9.0);
    cJSON_Delete(json);
}

static void test_profile_tells_the_stages(void **state) {
    (void)state;
    write_file("falling.lua", falling);
    stn_expect_part("run falling.lua --profile " ERRORS, 0, "stages of the ");
    cJSON *json = run_json("run falling.lua --profile --json " QUIET, 0);
    const cJSON *stages = member(json, "stage_us"), *phases = member(json, "phase_us");
    if (number(json, "profiled_steps") > 0.0) { // else the machine left none alone
        double solve = number(stages, "solve"), collision = number(stages, "collision");
        double parts = number(phases, "set_up") + number(phases, "hessian") + number(phases, "factor") +
                       number(phases, "line_search");
        assert_true(parts >= 0.0 && parts <= solve); // their clock runs inside of the stage's
        assert_true(number(phases, "broad_phase") + number(phases, "narrow_phase") <= collision);
    }
    cJSON_Delete(json);
    json = run_json("run falling.lua --json " QUIET, 0);
    assert_null(cJSON_GetObjectItem(json, "phase_us"));
    cJSON_Delete(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_run_is_summed_up_in_json, enter_folder, leave_folder),
        cmocka_unit_test(test_the_summary_tells_what_contacts_did_at_the_end),
        cmocka_unit_test_setup_teardown(test_the_certificate_in_json_sums_up_the_log, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_material_that_nothing_uses_is_a_warning, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_restitution_in_a_robot_file_is_a_warning, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_static_coefficient_below_that_of_sliding_is_a_warning, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_a_bad_start_is_a_warning, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_options_override_the_script, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_seconds_replace_a_duration_that_is_no_parameter, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_failed_checks_and_assertions_give_status_1, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_bad_scripts_are_one_line_and_status_2, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_step_that_fails_is_kept_and_gives_status_3, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_capsule_is_refused_by_name, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_recordings_of_several_kinds_are_made_at_once, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_what_fails_when_a_recording_is_closed_gives_status_2, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_a_log_that_cannot_be_written_is_said_once, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_names_in_a_log_are_quoted_where_they_separate_columns, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_a_full_disk_ends_the_run_and_leaves_whole_rows, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_energy_beyond_the_range_of_numbers_is_a_step_that_failed, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_log_writes_every_step_of_the_first_world, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_an_interrupt_closes_the_log_and_gives_status_130, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_a_second_interrupt_ends_a_script_that_is_inside_a_long_call, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_os_exit_ends_the_script_and_closes_the_log, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_an_interrupt_reaches_coroutines_and_passes_every_pcall, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_coroutines_work_as_in_lua, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_errors_that_are_no_text_are_one_line, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_saved_state_does_not_replace_a_pipe, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_seeds_and_threads_out_of_range_are_status_2, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_run_without_parameters_has_none_in_json, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_steady_step_allocates_nothing, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_profile_tells_the_stages, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
