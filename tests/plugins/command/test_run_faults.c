// SPDX-License-Identifier: Apache-2.0
// stiction run with plugins that crash, loop for ever or fail: one line names plugin, stage, step and file.
#include "run_folder.h"

// A sanitizer has signals and the stack to itself: what it makes of a crash is its own report.
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

static const char ball[] = "local stn = require 'stiction'\n"
                           "local w = stn.world { dt = 0.002 }\n"
                           "w:ground {}\n"
                           "w:sphere { radius = 0.1, mass = 1, xyz = { 0, 0, 0.0999 } }\n"
                           "for _ in w:run { steps = 5 } do end\n";
static void a_crash_is_told_in_one_line(void **state) {
    (void)state;
    static const struct {
        const char *kind, *stage;
    } kinds[] = {{"solver", "solve"}, {"law", "solve"}, {"integrator", "form"}, {"contact", "collision"}};
    static const struct {
        const char *word, *signal;
    } ways[] = {{"aborts", "SIGABRT"}, {"segfaults", "SIGSEGV"}, {"divides", "SIGFPE"}, {"recurses", "SIGSEGV"}};
    write_file("ball.lua", ball);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (size_t i = 0; i < (SANITIZED ? 1 : sizeof ways / sizeof *ways); i++) {
            char words[256], line[512];
            snprintf(words, sizeof words, "run ball.lua -q --%s wrong_%s 2>&1; true", kinds[k].kind, ways[i].word);
            snprintf(line, sizeof line,
                     "stiction run: %s wrong_%s crashed with %s in stage %s of step 0; its file: " WRONG_DIR
                     "/wrong_%ss.so; stiction validate tests a plugin\n",
                     kinds[k].kind, ways[i].word, ways[i].signal, kinds[k].stage, kinds[k].kind);
            stn_expect_part(words, 0, line);
        }
    }
}

/// The process still ends by the signal, as a debugger, a core file and a sweep want it.
static void a_crash_keeps_its_signal(void **state) {
    (void)state;
    write_file("ball.lua", ball);
    stn_expect_part("run ball.lua -q --solver wrong_aborts 2>/dev/null; echo \"status $?\"", 0, "status 134\n");
    if (SANITIZED) {
        return;
    }
    stn_expect_part("run ball.lua -q --solver wrong_segfaults --threads 2 2>/dev/null; echo \"status $?\"", 0,
                    "status 139\n");
}

/// _Exit runs no exit handlers; its status is that of the plugin, which would pass for the run's.
static void a_plugin_that_leaves_is_told(void **state) {
    (void)state;
    static const char *const kinds[] = {"solver", "law", "integrator", "contact"};
    write_file("ball.lua", ball);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char words[256], line[512];
        snprintf(words, sizeof words, "run ball.lua -q --%s wrong_leaves 2>&1; echo \"status $?\"", kinds[k]);
        snprintf(line, sizeof line,
                 "stiction: " WRONG_DIR
                 "/wrong_%ss.so called _Exit(0), which ends the command before its end; stiction "
                 "validate finds the plugin\nstatus 2\n",
                 kinds[k]);
        stn_expect_part(words, 0, line);
    }
}

/// Other words have no step to tell, and name the file.
static void other_words_tell_a_crash(void **state) {
    (void)state;
    if (SANITIZED) {
        skip(); // its report names the file
    }
    write_file("ball.lua", ball);
    write_file("hurt.lua", "local stn = require 'stiction'\n"
                           "stn.test('hurts', function()\n"
                           "  local w = stn.world { solver = 'wrong_segfaults' }\n"
                           "  w:ground {}\n"
                           "  w:sphere { radius = 0.1, mass = 1, xyz = { 0, 0, 0.0999 } }\n"
                           "  w:step()\n"
                           "end)\n");
    stn_expect("run ball.lua -q --capture p.json 2>/dev/null", 0, "");
    stn_expect_part("solve p-000001.json --solver wrong_segfaults 2>&1; true", 0,
                    "stiction solve: " WRONG_DIR "/wrong_solvers.so crashed with SIGSEGV; stiction validate tests a "
                    "plugin\n");
    stn_expect_part("test hurt.lua 2>&1; true", 0,
                    "stiction test: " WRONG_DIR "/wrong_solvers.so crashed with SIGSEGV; stiction validate tests a "
                    "plugin\n");
    stn_expect_part("solve p-000001.json --solver wrong_aborts 2>/dev/null; echo \"status $?\"", 0, "status 134\n");
}

/// The kernel's names of files are those without links; the folder of the plugins, or a plugin in it, may be one.
static void a_plugin_behind_a_link_is_told(void **state) {
    (void)state;
    static const char *const folders[] = {"$PWD/folder", "$PWD/none:$PWD/folder/", "$PWD/links", "folder"};
    write_file("ball.lua", ball);
    write_file("load.lua", "local stn = require 'stiction'\n"
                           "stn.world {}:load { 'empty.lines', loader = 'wrong_crash' }\n");
    write_file("empty.lines", "");
    stn_expect("run ball.lua -q --capture p.json 2>/dev/null && ln -s " WRONG_DIR " folder && mkdir links && "
               "ln -s " WRONG_DIR "/*.so links",
               0, "");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char words[512];
        const char *begin = "--version >/dev/null; export STICTION_PLUGIN_PATH=";
        snprintf(words, sizeof words, "%s%s; " PROGRAM " run load.lua -q 2>&1; true", begin, folders[i]);
        stn_expect_part(words, 0,
                        "stiction run: " WRONG_DIR "/wrong_loaders.so crashed with SIGABRT outside of a step; ");
        snprintf(words, sizeof words, "%s%s; " PROGRAM " run ball.lua -q --solver wrong_leaves 2>&1; echo $?", begin,
                 folders[i]);
        stn_expect_part(words, 0, "stiction: " WRONG_DIR "/wrong_solvers.so called _Exit(0), ");
        snprintf(words, sizeof words, "%s%s; " PROGRAM " solve p-000001.json --solver wrong_aborts 2>&1; true", begin,
                 folders[i]);
        if (!SANITIZED) {
            stn_expect_part(words, 0, "stiction solve: " WRONG_DIR "/wrong_solvers.so crashed with SIGABRT; ");
        }
    }
}

/// A plugin that is being worked on: its file was replaced by that of the next build since it was loaded.
static void a_plugin_whose_file_is_gone_is_told(void **state) {
    (void)state;
    if (SANITIZED) {
        skip(); // its report names the file
    }
    write_file("gone.lua", "local stn = require 'stiction'\n"
                           "stn.test('hurts', function()\n"
                           "  local w = stn.world { solver = 'wrong_aborts' }\n"
                           "  w:ground {}\n"
                           "  w:sphere { radius = 0.1, mass = 1, xyz = { 0, 0, 0.2 } }\n"
                           "  w:step()\n"
                           "  os.remove 'own/wrong_solvers.so'\n"
                           "  for _ in w:run { seconds = 1 } do end\n"
                           "end)\n");
    stn_expect_part("--version >/dev/null; mkdir own; cp " WRONG_DIR "/wrong_solvers.so own; "
                    "STICTION_PLUGIN_PATH=own " PROGRAM " test gone.lua 2>&1; true",
                    0, "/own/wrong_solvers.so crashed with SIGABRT; stiction validate tests a plugin\n");
}

/// What another process sends is no crash; it ends the run all the same.
static void a_signal_from_outside_is_no_crash(void **state) {
    (void)state;
    write_file("sent.lua", "require 'stiction'\n"
                           "os.execute 'kill -ABRT $PPID'\n"
                           "print 'lives'\n");
    stn_expect("run sent.lua -q >said 2>&1; echo \"status $?\"; grep -E 'crashed|lives' said; true", 0, "status 134\n");
}

static void a_crash_outside_of_a_step_names_the_file(void **state) {
    (void)state;
    write_file("load.lua", "local stn = require 'stiction'\n"
                           "stn.world {}:load { 'empty.lines', loader = 'wrong_crash' }\n");
    write_file("empty.lines", "");
    stn_expect_part("run load.lua -q 2>&1; true", 0,
                    "stiction run: " WRONG_DIR "/wrong_loaders.so crashed with SIGABRT outside of a step; ");
}

static void one_signal_ends_an_endless_loop(void **state) {
    (void)state;
    static const char *const kinds[] = {"solver", "law", "integrator", "contact"};
    write_file("ball.lua", ball);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char words[512], line[512];
        // the plugin says "loops" when it begins to, and is told to end after that
        snprintf(words, sizeof words,
                 "run ball.lua -q --%s wrong_loops 2>said & until grep -q loops said 2>&1; do sleep 0.02; done; "
                 "kill -%s $!; wait $!; echo \"status $?\"; cat said; rm said",
                 kinds[k], k % 2 == 0 ? "TERM" : "INT");
        snprintf(
            line, sizeof line,
            "status 130\nloops\nstiction run: interrupted, and ended after 3 s: %s wrong_loops has not returned, in "
            "stage %s of step 0; its file: " WRONG_DIR "/wrong_%ss.so\n",
            kinds[k],
            k == 2   ? "form"
            : k == 3 ? "collision"
                     : "solve",
            kinds[k]);
        stn_expect_part(words, 0, line);
    }
}

static void a_failure_names_the_file_of_the_plugin(void **state) {
    (void)state;
    write_file("ball.lua", ball);
    write_file("balls.lua", "local stn = require 'stiction'\n"
                            "local w = stn.world { dt = 0.002 }\n"
                            "w:ground {}\n"
                            "for i = 1, 6 do w:sphere { radius = 0.1, mass = 1, xyz = { 0, 0.19 * i, 0.0999 } } end\n"
                            "for _ in w:run { steps = 5 } do end\n");
    stn_expect_part("run balls.lua -q --solver wrong_not_finite " ERRORS, 3,
                    " (plugin " WRONG_DIR "/wrong_solvers.so)\n");
    stn_expect_part("run ball.lua -q --contact wrong_fails " ERRORS, 2,
                    "step 0, t = 0 s: contact model wrong_fails: on purpose (plugin " WRONG_DIR
                    "/wrong_contacts.so)\n");
    stn_expect_part("run ball.lua -q --law wrong_fails " ERRORS, 2,
                    "step 0, t = 0 s: solver sap: law wrong_fails: on purpose (plugin " WRONG_DIR "/wrong_laws.so)\n");
    stn_expect_part("run ball.lua -q --integrator wrong_fails " ERRORS, 2,
                    "step 0, t = 0 s: integrator wrong_fails: on purpose (plugin " WRONG_DIR
                    "/wrong_integrators.so)\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_crash_is_told_in_one_line, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_crash_keeps_its_signal, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_plugin_that_leaves_is_told, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(other_words_tell_a_crash, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_crash_outside_of_a_step_names_the_file, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_plugin_behind_a_link_is_told, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_plugin_whose_file_is_gone_is_told, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_signal_from_outside_is_no_crash, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(one_signal_ends_an_endless_loop, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_failure_names_the_file_of_the_plugin, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
