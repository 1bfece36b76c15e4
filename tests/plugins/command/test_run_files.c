// SPDX-License-Identifier: Apache-2.0
// stiction run: logs and recordings, also when a full disk, an interrupt or the script ends the run.
#include "run_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

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
    stn_expect_part("run falling.lua --log out.csv --record page.csv " ERRORS, 0,
                    "  recorded out.csv\n  recorded page.csv\n");
    stn_expect("run falling.lua -q --log out.csv " ERRORS, 0, "");
    stn_expect_part("run falling.lua --log out.xyz " ERRORS, 2, ".csv");
    stn_expect_part("run falling.lua --log nowhere/out.csv " ERRORS, 2, "nowhere/out.csv");
    write_file("caught.lua", "local w = require 'stiction'.world {}\n"
                             "assert(not pcall(w.step, w) and not pcall(w.step, w) and w.steps == 0)\n");
    stn_expect_part("run caught.lua --log nowhere/out.csv " ERRORS, 2, "nowhere/out.csv");
    write_file("again.lua", "local w = require 'stiction'.world {}\n"
                            "assert(not pcall(w.record, w, 'nowhere/out.csv'))\n"
                            "w:log { 'z', values = function() return w.time end }\n" // no table is open
                            "w:record 'again.csv'\nw:step()\n");
    stn_run_to("run again.lua " QUIET, 0);
    assert_int_equal(count_lines("again.csv", &whole), 3);
}

/// The step stands, and so does its row; the values of the step before are not in it.
static void test_a_step_whose_values_fail_has_a_row_without_them(void **state) {
    (void)state;
    char text[200] = "";
    write_file("gap.lua", "local w = require 'stiction'.world {}\nlocal n = 0\n"
                          "w:log { 'n', values = function() n = n + 1 assert(n ~= 3) return n end }\n"
                          "for i = 1, 3 do assert(pcall(w.step, w) == (i ~= 2)) end\n");
    stn_run_to("run gap.lua --log gap.csv " QUIET, 0);
    FILE *file = fopen("gap.csv", "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "step,n\n0,1\n1,2\n2,\n3,4\n");
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
               "stiction run: one.csv and one.csv are one file; name another to write\n");
    stn_expect_part("run falling.lua --record one.csv --log ./one.csv " ERRORS, 2,
                    "one.csv and ./one.csv are one file; name another to write\n");
}

static void test_a_signal_that_comes_too_late_for_a_table_is_told(void **state) {
    (void)state;
    write_file("late_signal.lua", "local w = require 'stiction'.world {}\n"
                                  "w:plot('early', 1)\n"
                                  "for _ = 1, 3 do w:step() w:plot('early', 2) w:plot('late', 3) end\n");
    expect_warnings(
        "run late_signal.lua --log late.csv --record late.html",
        "warning: late_signal.lua:3: world:plot: 'late' comes after a table's first row and is not in it: declare "
        "it by world:log, or plot it before world:record and the first step\n");
    expect_warnings("run late_signal.lua --record late.html", "");
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

/// The numbers of stdin, stdout and stderr would go to the files that are opened next.
static void test_closed_outputs_do_not_print_into_a_log(void **state) {
    (void)state;
    bool whole = false;
    write_file("speaks.lua", "local stn = require 'stiction'\n"
                             "local w = stn.world {}\n"
                             "w:record('out.csv')\n"
                             "for i = 1, 3 do\n"
                             "  print('to', 'stdout')\n"
                             "  stn.warn('to stderr')\n"
                             "  w:step()\n"
                             "end\n");
    stn_expect("run speaks.lua <&- >&- 2>&-", 2, "");
    assert_int_equal(count_lines("out.csv", &whole), 5);
    assert_true(whole);
    assert_int_not_equal(system("grep -q '^to' out.csv"), 0);
    assert_int_not_equal(system("grep -q 'std' out.csv out.csv.parameters"), 0);
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
/// status. What it told is in the file `told`.
static int interrupt_times(const char *script, const char *ready, int times) {
    pid_t process = fork();
    if (process == 0) {
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        dup2(open("told", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
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

static void test_an_interrupt_ends_a_batch_of_predictions_also_on_threads(void **state) {
    (void)state;
    for (int32_t threads = 1; threads <= 2; threads++) { // a batch of half a minute: 3 s after the interrupt all ends
        char text[2048];
        snprintf(text, sizeof text,
                 "local w = require 'stiction'.world { dt = 0.01, integrator = { 'quasistatic', "
                 "unactuated_mass_scale = 1 } }\n"
                 "w:ground {}\n"
                 "local r = require 'robot_text'(w, '.xml', [[<mujoco><worldbody><body><inertial pos='0 0 0' mass='2' "
                 "diaginertia='1 1 1'/><joint name='x' type='slide' axis='1 0 0'/></body></worldbody></mujoco>]], "
                 "{ fixed = true })\n"
                 "for i = 1, 30 do w:box { size = { 0.1, 0.1, 0.1 }, xyz = { i, 0, 0.049 } } end\n"
                 "w:controller { 'joint_pd', target = r, kp = 100 }\n"
                 "local commands = {}\n"
                 "for i = 1, 100000 do commands[i] = { 0.001 } end\n"
                 "assert(w:predict().status == 'ok')\n"
                 "local f = io.open('ready', 'w') f:write '1\\n2\\n3\\n4\\n5\\n' f:close()\n"
                 "pcall(w.predict_batch, w, nil, commands, { contacts = false, threads = %d })\n",
                 threads);
        write_file("batch.lua", text);
        remove("ready");
        assert_int_equal(interrupt("batch.lua", "ready"), 130);
        assert_int_equal(system("grep -q interrupted told"), 0);
        assert_int_not_equal(system("grep -q 'has not returned' told"), 0);
    }
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
    assert_string_equal(item(json, "status")->valuestring, "exit");
    assert_near(number(json, "steps"), 3.0, 0.0);
    cJSON_Delete(json);
    assert_int_equal(count_lines("out.csv", &whole), 5);
    assert_true(whole);
    stn_expect_part("run leaves.lua " ERRORS, 5,
                    "leaves.lua:6: os.exit: ended with exit status 5 before the end of the script");
    json = run_json("run leaves.lua --set status=0 --json " QUIET, 0);
    assert_string_equal(item(json, "status")->valuestring, "ok");
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

static void test_a_saved_state_does_not_replace_a_pipe(void **state) {
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    write_file("save.lua", "local w = require 'stiction'.world {}\nw:save_state 'pipe'\n");
    stn_expect_part("run save.lua " ERRORS, 2, "save.lua:2: pipe: cannot be written: it is not a regular file");
    struct stat what;
    assert_int_equal(stat("pipe", &what), 0);
    assert_true(S_ISFIFO(what.st_mode));
}

static void test_problems_of_a_run_are_captured(void **state) {
    (void)state;
    write_file("rest.lua", "local stn = require 'stiction'\nlocal p = stn.params { k = math.huge, z = 0.1 }\n"
                           "local w = stn.world { dt = 0.01 }\nw:ground {}\n"
                           "w:sphere { radius = 0.1, mass = 1, xyz = { 0, 0, p.z }, stiffness = p.k }\n"
                           "for _ in w:run { steps = 10 } do end\n");
    stn_expect_part("run rest.lua --capture p.json --every 4 2>&1", 0, "  2 contact problems saved\n");
    assert_int_equal(access("p-000004.json", F_OK), 0);
    assert_int_equal(access("p-000008.json", F_OK), 0);
    stn_expect_part("solve p-000008.json " QUIET, 0, "converged");
    cJSON *json = run_json("run rest.lua --capture l.json --form local --json " QUIET, 0);
    assert_near(cJSON_GetNumberValue(cJSON_GetObjectItem(json, "captured")), 10.0, 0.0);
    cJSON_Delete(json);
    stn_expect_part("solve l-000010.json --solver bisection " QUIET, 0, "nv 0, contacts 1");
    stn_expect_part(
        "run rest.lua --capture n.json --every 11 2>&1", 0,
        "  no contact problems saved: the run ended after 10 steps and --every 11 asks for step 11 first\n");
    stn_expect_part("run rest.lua --set z=1 --capture n.json --every 5 2>&1", 0,
                    "  no contact problems saved: none of the steps asked for had contacts\n");
    stn_expect_part("run rest.lua -q --capture n.json --every 11 2>&1", 0, "warning: no contact problems saved");
    stn_expect_part("run rest.lua --capture o.json --every 10 2>&1", 0, "  1 contact problem saved\n");
    stn_expect_part("run rest.lua 2>&1", 0, "  momentum error ");
    stn_expect_part("run rest.lua 2>&1", 0, "  at the end 1 contact sticks, 0 slip");
    stn_expect_part("run rest.lua --solver pgs 2>&1", 0, "  natural_ncp m/s ");
    stn_expect_part("run rest.lua --solver apgd 2>&1", 0, "  natural_ccp m/s ");
    const char *const wrong[][2] = {
        {"--every 4", "--every means nothing without --capture FILE\n"},
        {"--form local", "--form means nothing without --capture FILE\n"},
        {"--capture p.json --every 0", "--every 0: must be >= 1\n"},
        {"--capture p.json --form dense", "--form dense: must be global or local\n"},
        {"--capture p.txt", "must end in .hdf5, .h5 or .json"},
        {"--capture nowhere/p.json", "there is no folder nowhere/"},
        {"--set k=1e5 --capture p.hdf5", "p-000001.hdf5: FCLIB's layout cannot hold constraint 0"},
    };
    const char *refused = stn_run_to("run rest.lua --set k=1e5 --capture p.hdf5 2>&1", 2)->out;
    assert_non_null(strstr(refused, "a stiffness; write JSON"));
    assert_null(strstr(refused, "no contact problems saved")); // the sentence of the runs above
    for (int32_t i = 0; i < STN_COUNT(wrong); i++) {
        char words[256];
        snprintf(words, sizeof words, "run rest.lua %s " ERRORS, wrong[i][0]);
        stn_expect_part(words, 2, wrong[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_step_whose_values_fail_has_a_row_without_them, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_recordings_of_several_kinds_are_made_at_once, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_signal_that_comes_too_late_for_a_table_is_told, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_what_fails_when_a_recording_is_closed_gives_status_2, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_a_log_that_cannot_be_written_is_said_once, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_closed_outputs_do_not_print_into_a_log, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_names_in_a_log_are_quoted_where_they_separate_columns, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_a_full_disk_ends_the_run_and_leaves_whole_rows, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_log_writes_every_step_of_the_first_world, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_an_interrupt_closes_the_log_and_gives_status_130, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_an_interrupt_ends_a_batch_of_predictions_also_on_threads, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_a_second_interrupt_ends_a_script_that_is_inside_a_long_call, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_os_exit_ends_the_script_and_closes_the_log, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_an_interrupt_reaches_coroutines_and_passes_every_pcall, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_problems_of_a_run_are_captured, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_a_saved_state_does_not_replace_a_pipe, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
