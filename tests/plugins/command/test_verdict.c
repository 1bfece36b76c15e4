// SPDX-License-Identifier: Apache-2.0
// What `stiction run` says against a run that came to its end: each figure at both sides of its limit, what a script
// does by hand, --strict, --quiet; warnings of a kind, what a script prints beside --json, recordings of clones.
#include <math.h>

#include "run_folder.h"

#define BOTH "2>&1"

/// The figure of `kind` of a run of verdict.lua with these words.
static cJSON *figures_of(const char *script, const char *words) {
    char line[512];
    write_file("verdict.lua", script);
    snprintf(line, sizeof line, "run verdict.lua --json %s " QUIET, words);
    return run_json(line, 0);
}

static void expect_figure(const char *script, const char *words, const char *kind, double ratio, double tolerance) {
    cJSON *json = figures_of(script, words);
    const cJSON *verdict = item(json, "verdict"), *figure = item(verdict, kind);
    if (!(fabs(number(figure, "ratio") - ratio) <= tolerance)) {
        fail_msg("%s: ratio %.6g, expected %.6g", words, number(figure, "ratio"), ratio);
    }
    bool beyond = ratio > number(figure, "limit");
    assert_int_equal(cJSON_IsTrue(item(figure, "reserved")), beyond);
    assert_int_equal(cJSON_GetArraySize(item(verdict, "reservations")), beyond);
    assert_string_equal(item(json, "status")->valuestring, "ok");
    cJSON_Delete(json);
}

// A mass on a spring, w = sqrt(10)/s, which explicit Euler gives the factor 1 + (w dt)^2 = 1.001 of energy at every
// step of 0.01 s. It begins where the spring rests.
static const char spring[] =
    "local stn = require 'stiction'\n"
    "local p = stn.params { steps = 100 }\n"
    "local w = stn.world { dt = 0.01, gravity = { 0, 0, 0 }, integrator = 'explicit_euler' }\n"
    "local load = require 'robot_text'\n"
    "local r = load(w, '.xml', [[<mujoco><worldbody><body><inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/>"
    "<joint name='x' type='slide' axis='1 0 0' stiffness='20'/></body></worldbody></mujoco>]], { fixed = true })\n"
    "r:set_v { 0.01 }\n"
    "for _ in w:run { steps = p.steps } do end\n";

static void test_energy_that_rises_is_told_from_a_tenth_of_what_moved_on(void **state) {
    (void)state;
    for (int steps = 200; steps <= 300; steps += 100) { // a half period has 99.3: fastest 2 steps ago, slowest 51
        char words[64];
        double f = 1.001;
        snprintf(words, sizeof words, "--set steps=%d", steps);
        expect_figure(spring, words, "energy", (pow(f, steps) - 1.0) / (pow(f, steps - 2) + pow(f, steps - 51)), 1e-3);
    }
}

/// No energy is judged of a world that made a step without inertia, whichever it was.
static void test_a_world_that_was_quasistatic_for_a_step_has_no_figure_of_energy(void **state) {
    (void)state;
    static const char *const when[] = {"1", "150", "300", "0"};
    for (int i = 0; i < 4; i++) {
        char script[2048];
        snprintf(script, sizeof script,
                 "%s for k = 1, 300 do w.integrator = k == %s and 'quasistatic' or 'explicit_euler' w:step() end\n",
                 spring, when[i]);
        cJSON *json = figures_of(script, "--set steps=2");
        bool none = cJSON_IsTrue(cJSON_GetObjectItem(json, "quasistatic"));
        assert_int_equal(none, i < 3);
        assert_true(!none || number(json, "quasistatic_steps") == 1.0);
        double ratio = number(item(item(json, "verdict"), "energy"), "ratio");
        assert_true(none ? ratio == 0.0 : ratio > 0.1);
        cJSON_Delete(json);
        if (none) {
            stn_expect_part("run verdict.lua --set steps=2 " ERRORS, 0,
                            "  1 of 302 steps quasistatic: energy and momentum of motion are not judged\n");
        }
    }
}

static const char sunk[] = "local stn = require 'stiction'\n"
                           "local p = stn.params { depth = 0.01, k = math.huge }\n"
                           "local w = stn.world { dt = 0.01, gravity = { 0, 0, 0 } }\n"
                           "w:ground { stiffness = p.k }\n"
                           "w:box { name = 'plate', size = { 1, 1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 - p.depth } }\n"
                           "for _ in w:run { steps = 1 } do end\n";

static void test_overlap_is_told_from_a_quarter_of_the_thinner_shape_on(void **state) {
    (void)state;
    expect_figure(sunk, "--set depth=0.024", "overlap", 0.24, 1e-12);
    expect_figure(sunk, "--set depth=0.026", "overlap", 0.26, 1e-12);
    expect_figure(sunk, "--set depth=0.048 --set k=1", "overlap", 0.24, 1e-12); // soft: half of it
    expect_figure(sunk, "--set depth=0.052 --set k=1", "overlap", 0.26, 1e-12);
}

static const char fast[] = "local stn = require 'stiction'\n"
                           "local p = stn.params { v = 1 }\n"
                           "local w = stn.world { dt = 0.01, gravity = { 0, 0, 0 } }\n"
                           "local d = w:box { name = 'dart', size = { 0.3, 0.04, 0.12 }, mass = 1 }\n"
                           "w:sphere { radius = 0.1, xyz = { 0, 2, 0 } }\n"
                           "d:set_velocity { linear = { p.v, 0, 0 } }\n"
                           "for _ in w:run { steps = 3 } do end\n";

static void test_a_body_that_goes_farther_in_a_step_than_it_is_long_is_told(void **state) {
    (void)state;
    double size = sqrt(0.3 * 0.3 + 0.04 * 0.04 + 0.12 * 0.12);
    expect_figure(fast, "--set v=32", "move", 0.32 / size, 1e-12);
    expect_figure(fast, "--set v=33", "move", 0.33 / size, 1e-12);
}

// A ball that begins beside a table of 1 x 1 x 0.1 m: the scene is 1.5 x 1 x 0.2 m, but no larger than ten times the
// ball, whose box has a diagonal of 0.1 sqrt(3) m.
static const char lost[] = "local stn = require 'stiction'\n"
                           "local p = stn.params { seconds = 5, floor = false, hand = false }\n"
                           "local w = stn.world { dt = 0.002, gravity = { 0, 0, -10 } }\n"
                           "w:box { name = 'table', fixed = true, size = { 1, 1, 0.1 }, xyz = { 0, 0, 0 } }\n"
                           "if p.floor then w:ground { xyz = { 0, 0, -1000 } } end\n"
                           "local b = w:sphere { name = 'ball', radius = 0.05, mass = 1, xyz = { 0.95, 0, 0.1 } }\n"
                           "for _ in w:run { seconds = p.seconds } do end\n";

static void test_what_fell_far_below_the_scene_is_told_unless_there_is_ground(void **state) {
    (void)state;
    double size = sqrt(3.0);
    for (int seconds = 5; seconds <= 7; seconds += 2) {
        char words[64];
        // symplectic Euler falls g t (t + dt)/2; the scene ends 0.15 m below the ball's start
        double beyond = 5.0 * seconds * (seconds + 0.002) - 0.15;
        snprintf(words, sizeof words, "--set seconds=%d", seconds);
        expect_figure(lost, words, "distance", beyond / size, 1e-9 * beyond);
    }
    cJSON *json = figures_of(lost, "--set seconds=7 --set floor=true");
    assert_near(number(item(item(json, "verdict"), "distance"), "ratio"), 0.0, 0.0);
    cJSON_Delete(json);
}

// Energy, speed and place given by the script, and work by forces and kinematic motion, are no rise.
static const char by_hand[] =
    "local stn = require 'stiction'\n"
    "local w = stn.world { dt = 0.002, varied = true }\n"
    "w:ground { stiffness = 1e4 }\n"
    "local lift = w:box { name = 'lift', size = { 1, 1, 0.1 } }\n"
    "local from\n"
    "lift:kinematic(function(t) return { xyz = { 3, 0, 0.5 + 0.5 * (from and math.max(0, t - from) or 0) } } end)\n"
    "local load = w:box { name = 'load', size = { 0.2, 0.2, 0.2 }, mass = 5, xyz = { 3, 0, 0.65 } }\n"
    "local b = w:box { name = 'box', size = { 0.2, 0.2, 0.2 }, mass = 1, xyz = { 0, 0, 0.1 } }\n"
    "local function go(t) for _ in w:run { seconds = t } do end end\n"
    "go(0.3)\n"
    "b:set_velocity { linear = { 5, 0, 3 } } go(0.4)\n"
    "b:set_pose { xyz = { -2, 0, 5 } } go(1.5)\n"
    "b:set_pose { xyz = { -2, 0, 0.08 } } go(0.5)\n" // pressed into the soft ground by hand
    "b:apply_force { force = { 0, 0, 40 } } go(1)\n"
    "b:set_mass_factor(10) go(0.1) b:set_mass_factor(1) go(0.1)\n" // in the air
    "from = w.time go(1)\n"
    "w:set_gravity { 0, 0, 2 } go(0.2)\n";

static void test_what_a_script_does_by_hand_and_work_are_no_rise(void **state) {
    (void)state;
    cJSON *json = figures_of(by_hand, "");
    const cJSON *verdict = item(json, "verdict");
    assert_int_equal(cJSON_GetArraySize(item(verdict, "reservations")), 0);
    assert_true(number(item(verdict, "energy"), "ratio") < 1e-3);
    double with = number(item(json, "total_energy_J"), "max_increase");
    double without = number(item(json, "energy_J"), "max_increase");
    assert_near(number(item(verdict, "energy"), "value"), fmin(with, without), 0.0);
    assert_true(without > 1.0 && with < 1.0); // the soft ground gave back what it held
    cJSON_Delete(json);
}

// A soft box on the ground: its weight is nothing to it, or five times its modulus.
static const char soft[] = "local stn = require 'stiction'\n"
                           "local p = stn.params { young = 1e5 }\n"
                           "local w = stn.world { dt = 2e-3 }\n"
                           "w:ground {}\n"
                           "w:soft { box = { 0.1, 0.1, 0.1 }, cells = 4, xyz = { 0, 0, 0.05 }, young = p.young, "
                           "density = 1000, damping = 0.01, name = 'pad' }\n"
                           "for _ in w:run { seconds = 0.2 } do end\n";

static void test_elements_inside_out_are_told(void **state) {
    (void)state;
    expect_figure(soft, "", "inverted", 0.0, 0.0);
    cJSON *json = figures_of(soft, "--set young=200");
    const cJSON *figure = item(item(json, "verdict"), "inverted");
    assert_true(cJSON_IsTrue(item(figure, "reserved")));
    assert_true(number(figure, "value") >= 1.0);
    assert_non_null(strstr(item(figure, "what")->valuestring, "(counted from 0) of 'pad'"));
    assert_true(number(json, "inverted") >= 1.0);
    cJSON_Delete(json);
    stn_expect_part("run -q --strict verdict.lua --set young=200 " BOTH, 1, "of 'pad' among them");
    stn_expect_part("run verdict.lua --set young=200 " BOTH, 0, "warning: element fem: element ");
    stn_expect_part("run verdict.lua --set young=200 " BOTH, 0, "left elements inside out");
}

/// Its observers end the first step of the world, which is made all the same.
static void test_a_step_that_an_observer_ends_is_no_rise(void **state) {
    (void)state;
    cJSON *json = figures_of("local stn = require 'stiction'\n"
                             "local w = stn.world {}\n"
                             "w:sphere { radius = 0.1, xyz = { 0, 0, 2 } }\n"
                             "local bad = true\n"
                             "w:log { 'x', values = function() if bad then error 'no' end return 1 end }\n"
                             "assert(not pcall(w.step, w))\n"
                             "bad = false\n"
                             "for _ in w:run { steps = 5 } do end\n",
                             "");
    assert_near(number(item(item(json, "verdict"), "energy"), "value"), 0.0, 1e-12);
    cJSON_Delete(json);
}

static void test_strict_makes_a_reservation_fail(void **state) {
    (void)state;
    write_file("lost.lua", lost);
    stn_expect("run -q lost.lua " BOTH, 0, "");
    stn_expect_part("run -q lost.lua --set seconds=7 " BOTH, 0, "lost: ok, but ball was 244.9");
    stn_expect("run -q --strict lost.lua " BOTH, 0, "");
    stn_expect_part("run -q --strict lost.lua --set seconds=7 " BOTH, 1, "lost: a check failed; ball was 244.9");
    stn_expect_part("run -q --strict lost.lua --set seconds=7 " BOTH, 1, "FAILED verdict: distance: 141.4");
    stn_expect_part("sweep lost.lua --vary seconds=5,7 " QUIET, 0, ",distance\n");
    stn_expect_part("sweep lost.lua --check --strict --vary seconds=5,7 " ERRORS, 1, "1 ok, 1 check_failed");
    stn_expect_part("test lost.lua --set seconds=5 --strict " QUIET, 0, "1 passed, 0 failed");
    stn_expect_part("test lost.lua --set seconds=7 --artifacts '' " QUIET, 0, "1 passed, 0 failed");
    stn_expect_part("test lost.lua --set seconds=7 --artifacts '' --strict " BOTH, 1, "--strict: ball was 244.9");
    write_file("each.lua", "local stn = require 'stiction'\n"
                           "stn.test('still', function() local w = stn.world {} w:sphere { radius = 1 }\n"
                           "  for _ in w:run { steps = 3 } do end end)\n"
                           "stn.test('sunk', function() local w = stn.world {} w:ground {}\n"
                           "  w:sphere { radius = 1 } for _ in w:run { steps = 1 } do end end)\n");
    stn_expect_part("test each.lua --artifacts '' --strict " BOTH, 1, "1 passed, 1 failed");
    stn_expect_part("test each.lua --artifacts '' " QUIET, 0, "2 passed, 0 failed");
}

static const char worlds[] = "local stn = require 'stiction'\n"
                             "local p = stn.params { good = true }\n"
                             "for i = 1, 12 do\n"
                             "  local w = stn.world {}\n"
                             "  w:ground {}\n"
                             "  w:sphere { name = 'ball' .. i, radius = 0.1, xyz = { 0, 0, 0.09 + 1e-4 * i } }\n"
                             "  for _ in w:run { steps = 1 } do end\n"
                             "  stn.warn('world %d', i)\n"
                             "end\n"
                             "stn.check('good', p.good)\n";

static int count(const char *text, const char *part) {
    int found = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        found++;
    }
    return found;
}

static void test_warnings_of_a_kind_are_said_once_and_counted(void **state) {
    (void)state;
    write_file("worlds.lua", worlds);
    const stn_run *run = stn_run_to("run worlds.lua " ERRORS, 0);
    assert_int_equal(count(run->out, "warning: the first step begins with"), 1);
    assert_int_equal(count(run->out, "warning: and 11 more like \"the first step begins with"), 1);
    assert_int_equal(count(run->out, ": world "), 12); // what a script says is said
}

static void test_a_quiet_run_says_nothing_unless_it_fails(void **state) {
    (void)state;
    write_file("worlds.lua", worlds);
    stn_expect("run -q worlds.lua " BOTH, 0, "");
    const stn_run *run = stn_run_to("run -q worlds.lua --set good=false " ERRORS, 1);
    assert_int_equal(count(run->out, "warning: the first step begins with"), 1);
    assert_int_equal(count(run->out, "warning: and 11 more like"), 1);
    assert_int_equal(count(run->out, "worlds: a check failed"), 1);
}

static void test_with_json_a_script_prints_to_stderr(void **state) {
    (void)state;
    write_file("story.lua", "local stn = require 'stiction'\n"
                            "print('once upon') io.write('a time')\n"
                            "local w = stn.world {} w:sphere { radius = 1 } w:step()\n");
    assert_memory_equal(stn_run_to("run story.lua --json " QUIET, 0)->out, "{", 1);
    stn_expect_part("run story.lua --json " ERRORS, 0, "once upon\na time");
    stn_expect("run -q story.lua " QUIET, 0, "once upon\na time");
}

static void test_a_recording_that_follows_a_clone_is_told(void **state) {
    (void)state;
    static const char part[] = "clone.lua:4: out.csv follows this clone";
    write_file("clone.lua", "local stn = require 'stiction'\n"
                            "local w = stn.world {} w:sphere { radius = 1 }\n"
                            "local plan = w:clone()\n"
                            "plan:step()\n"
                            "plan:step() w:step()\n");
    stn_expect_part("run clone.lua --log out.csv " ERRORS, 0, part);
    assert_int_equal(count(stn_run_to("run clone.lua --log out.csv " ERRORS, 0)->out, "follows this clone"), 1);
    assert_null(strstr(stn_run_to("run clone.lua " ERRORS, 0)->out, "follows this clone"));
    write_file("clone.lua", "local stn = require 'stiction'\n"
                            "local w = stn.world {} w:sphere { radius = 1 }\n"
                            "local plan = w:clone()\n"
                            "w:step() plan:step()\n");
    assert_null(strstr(stn_run_to("run clone.lua --log out.csv " ERRORS, 0)->out, "follows this clone"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_energy_that_rises_is_told_from_a_tenth_of_what_moved_on, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_a_world_that_was_quasistatic_for_a_step_has_no_figure_of_energy,
                                        enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_overlap_is_told_from_a_quarter_of_the_thinner_shape_on, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_a_body_that_goes_farther_in_a_step_than_it_is_long_is_told, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_what_fell_far_below_the_scene_is_told_unless_there_is_ground, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_what_a_script_does_by_hand_and_work_are_no_rise, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_elements_inside_out_are_told, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_step_that_an_observer_ends_is_no_rise, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_strict_makes_a_reservation_fail, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_warnings_of_a_kind_are_said_once_and_counted, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_quiet_run_says_nothing_unless_it_fails, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_with_json_a_script_prints_to_stderr, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_recording_that_follows_a_clone_is_told, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
