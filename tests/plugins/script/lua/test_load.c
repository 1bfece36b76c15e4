// SPDX-License-Identifier: Apache-2.0
// What a file may propose and name (the loader of tests/support/sprung_loader.c), and how world:load and robots take it
// up. A file that begins with "w" welds its root 0.5 m up, with "f" it floats there, with "n" it says nothing.
#include <stdlib.h>
#include <unistd.h>

#include "stn_test.h"

#include "common/session.h"

static char folder[] = "/tmp/stiction_lua_load_XXXXXX";

static void write_file(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void silent(void *user, stn_log_level level, const char *text) {
    (void)user, (void)level, (void)text;
}

static int set_up(void **state) {
    (void)state;
    assert_non_null(mkdtemp(folder));
    write_file("w.sprung", "w");
    write_file("f.sprung", "f");
    write_file("n.sprung", "n");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    static const char *const names[] = {"w.sprung", "f.sprung", "n.sprung", "test.lua"};
    for (int32_t i = 0; i < STN_COUNT(names); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

/// Runs `text` beside the robot files; errors and failed checks of the script are those of the test.
static void run(const char *text) {
    char path[128], script[8192];
    snprintf(path, sizeof path, "%s/test.lua", folder);
    snprintf(script, sizeof script,
             "local stn = require 'stiction'\n"
             "local function refused(call, ...)\n"
             "  local ok, err = pcall(call)\n"
             "  assert(not ok, 'accepted')\n"
             "  for _, word in ipairs { ... } do assert(tostring(err):find(word, 1, true), err) end\n"
             "end\n%s",
             text);
    write_file("test.lua", script);
    stn_context_options options = {.log = silent, .plugin_path = SPRUNG_FOLDER};
    stn_context *context = NULL;
    stn_session session;
    stn_error err = {0};
    assert_ok(stn_context_create(&options, &context, &err), err);
    stn_session_init(&session, context);
    stn_status status = stn_session_run(&session, path, &err);
    stn_session_clear(&session);
    stn_context_destroy(context);
    assert_ok(status, err);
}

static void what_the_script_does_not_say_of_the_base_is_as_the_file_proposes(void **state) {
    (void)state;
    run("local cases = {\n"
        "  { 'w', nil, nil, 0.5, true }, { 'w', 3, nil, 3, true }, { 'w', nil, false, 0.5, false }, { 'w', 3, false, "
        "3, false },\n"
        "  { 'f', nil, nil, 0.5, false }, { 'f', 3, nil, 3, false }, { 'f', nil, true, 0.5, true }, { 'f', 3, true, 3, "
        "true },\n"
        "  { 'n', nil, nil, 0, false }, { 'n', 3, nil, 3, false }, { 'n', nil, true, 0, true }, { 'n', 3, true, 3, "
        "true },\n"
        "}\n"
        "for i, case in ipairs(cases) do\n"
        "  local world = stn.world {}\n"
        "  local robot = world:load { case[1] .. '.sprung', base = case[2] and { xyz = { 0, 0, case[2] } }, fixed = "
        "case[3] }\n"
        "  stn.near(robot:position()[3], case[4], 0, 'height of case ' .. i)\n"
        "  assert(world.nv == (case[5] and 3 or 9), 'case ' .. i)\n"
        "end\n");
}

static void a_robot_whose_file_proposes_a_base_can_be_attached(void **state) {
    (void)state;
    run("local world = stn.world {}\n"
        "local arm, hand = world:load { 'w.sprung', name = 'arm' }, world:load { 'w.sprung', name = 'hand' }\n"
        "arm:attach(hand, 'arm', { xyz = { 0, 0.2, 0 } })\n"
        "stn.near(hand:position()[2], 0.2, 1e-15, 'y')\n"
        "stn.near(hand:position()[3], 0.5, 1e-15, 'z')\n"
        "assert(world.nv == 6)\n");
}

static void keyframes_are_listed_and_set_at_rest(void **state) {
    (void)state;
    run("local world = stn.world {}\n"
        "local robot, ball = world:load { 'f.sprung' }, world:sphere { radius = 1 }\n"
        "assert(table.concat(robot:keyframes(), ' ') == 'home folded')\n"
        "assert(#ball:keyframes() == 0)\n");
    run("local world = stn.world {}\n"
        "local robot, other = world:load { 'f.sprung' }, world:load { 'f.sprung', name = 'other' }\n"
        "other:set_v { slide = 0.7 }\n"
        "robot:set_v { slide = 1, swing = 2 }\n"
        "robot:set_velocity { linear = { 1, 2, 3 } }\n"
        "robot:set_keyframe 'home'\n"
        "local q = robot:positions()\n"
        "stn.near({ q.slide, q.follow, q.swing }, { 0.1, 0.2, 0.3 }, 1e-15, 'home')\n"
        "stn.near(robot:position(), { 0, 0, 2 }, 0, 'base')\n"
        "for _, v in ipairs(robot:v()) do assert(v == 0) end\n"
        "stn.near(other:joint('slide'):velocity(), 0.7, 0, 'of the other')\n"
        "stn.near(other:position(), { 0, 0, 0.5 }, 0, 'place of the other')\n"
        "robot:set_keyframe 'folded'\n"
        "stn.near(robot:joint('swing'):position(), 1.5, 0, 'folded')\n"
        "stn.near(robot:position(), { 0, 0, 2 }, 0, 'it stays')\n"
        "refused(function() robot:set_keyframe 'hoem' end, 'test.lua', 'set_keyframe', \"group 'sprung'\", \"did you "
        "mean 'home'\")\n"
        "refused(function() robot:set_keyframe 'xyzzy' end, 'home, folded')\n"
        "refused(function() robot:set_keyframe() end, 'string expected')\n");
}

static void a_keyframe_is_a_start_under_base_and_joints(void **state) {
    (void)state;
    run("local world = stn.world {}\n"
        "local robot = world:load { 'f.sprung', keyframe = 'home', joints = { swing = -1 } }\n"
        "local placed = world:load { 'f.sprung', name = 'placed', keyframe = 'home', base = { xyz = { 5, 0, 1 } } }\n"
        "local welded = world:load { 'w.sprung', name = 'welded', keyframe = 'home' }\n"
        "local function check()\n"
        "  stn.near(robot:joint('slide'):position(), 0.1, 0, 'slide')\n"
        "  stn.near(robot:joint('follow'):position(), 0.2, 0, 'follow')\n"
        "  stn.near(robot:joint('swing'):position(), -1, 0, 'swing')\n"
        "  stn.near(robot:position(), { 0, 0, 2 }, 0, 'base')\n"
        "  stn.near(placed:position(), { 5, 0, 1 }, 0, 'a base that is given stands')\n"
        "  stn.near(placed:joint('swing'):position(), 0.3, 0, 'swing of placed')\n"
        "  stn.near(welded:position(), { 0, 0, 0.5 }, 0, 'welded')\n"
        "  stn.near(welded:joint('swing'):position(), 0.3, 0, 'swing of welded')\n"
        "end\n"
        "check()\n"
        "for _ in world:run { steps = 5 } do end\n"
        "world:reset()\n"
        "check()\n");
    run("refused(function()\n"
        "  local world = stn.world {}\n"
        "  world:load { 'f.sprung', keyframe = 'hmoe' }\n"
        "  world:step()\n"
        "end, 'world:load at', 'test.lua:9', \"did you mean 'home'\")\n"
        "refused(function() stn.world {}:load { 'f.sprung', keyframe = 3 } end, 'keyframe')\n");
}

static void scripts_see_springs_gains_and_stored_energy(void **state) {
    (void)state;
    run("local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }\n"
        "local robot = world:load { 'w.sprung', keyframe = 'home' }\n"
        "local d = robot:joint('slide'):dynamics()\n"
        "stn.near({ d.stiffness, d.rest, d.servo_kp, d.servo_kd }, { 200, 0.25, 50, 5 }, 0, 'slide')\n"
        "d = robot:joint('swing'):dynamics()\n"
        "stn.near({ d.stiffness, d.rest, d.servo_kp, d.servo_kd }, { 0, 0, 0, 0 }, 0, 'swing')\n"
        "local stored = 0.5 * 200 * 0.15 ^ 2\n"
        "stn.near(world:energy().elastic, stored, 1e-15, 'before the first step')\n"
        "local step = world:step()\n"
        "stn.near(world:energy().elastic, step.elastic_J, 1e-15, 'after it')\n"
        "assert(step.elastic_J < stored)\n"
        "robot:set_q { slide = 0.25 }\n"
        "stn.near(world:energy().elastic, 0, 0, 'of the present place')\n"
        "local driven = stn.world {}\n"
        "local target = driven:load { 'w.sprung' }\n"
        "refused(function() driven:controller { 'joint_pd', target = target, gains = 'robto' } end, 'robot')\n"
        "driven:controller { 'joint_pd', target = target, gains = 'robot', kp = 0, kd = 0 }\n"
        "driven:step()\n"
        "assert(driven.parameters:find('controller.1.gains = robot', 1, true), driven.parameters)\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_script_does_not_say_of_the_base_is_as_the_file_proposes),
        cmocka_unit_test(a_robot_whose_file_proposes_a_base_can_be_attached),
        cmocka_unit_test(keyframes_are_listed_and_set_at_rest),
        cmocka_unit_test(a_keyframe_is_a_start_under_base_and_joints),
        cmocka_unit_test(scripts_see_springs_gains_and_stored_energy),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
