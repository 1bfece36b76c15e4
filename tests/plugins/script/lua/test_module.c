// SPDX-License-Identifier: Apache-2.0
// The module in a stock interpreter: LUA is its path, MODULE_FOLDER holds stiction.so.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "stn_test.h"

/// Runs a script with the interpreter; its exit status, and what it prints.
static int run_lua(const char *script, char *out, size_t size) {
    char path[] = "/tmp/stiction_module_XXXXXX", line[4096];
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, script, strlen(script)), (ssize_t)strlen(script));
    close(file);
    snprintf(line, sizeof line, "%s LUA_CPATH='%s/?.so' %s %s 2>&1", PRELOAD, MODULE_FOLDER, LUA, path);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t used = fread(out, 1, size - 1, pipe);
    out[used] = '\0';
    int status = pclose(pipe);
    unlink(path);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect(const char *script, int status, const char *part) {
    char out[4096];
    int got = run_lua(script, out, sizeof out);
    if (got != status || strstr(out, part) == NULL) {
        fail_msg("exit %d, expected %d with \"%s\": %s", got, status, part, out);
    }
}

static void test_a_stock_interpreter_simulates(void **state) {
    (void)state;
    expect("local stn = require 'stiction'\n"
           "local w = stn.world { dt = 0.01 }\n"
           "w:ground {}\n"
           "local b = w:box { size = { 0.1, 0.1, 0.1 }, xyz = { 0, 0, 0.05 } }\n"
           "for step in w:run { seconds = 0.5 } do assert(step.certificate.momentum < 1e-5) end\n"
           "print(('%.3f'):format(b:position()[3]))\n",
           0, "0.050");
}

static void test_nothing_global_is_added(void **state) {
    (void)state;
    expect("local before = {}\nfor k in pairs(_G) do before[k] = true end\nrequire 'stiction'\n"
           "for k in pairs(_G) do assert(before[k], k) end\nassert(stiction == nil)\nprint 'clean'\n",
           0, "clean");
}

static void test_errors_carry_the_line_and_objects_may_outlive_their_world(void **state) {
    (void)state;
    expect("local stn = require 'stiction'\nstn.world { dtt = 1 }\n", 1,
           ":2: stn.world: unknown key 'dtt', did you mean 'dt'?");
    expect("local stn = require 'stiction'\n"
           "local ball do local w = stn.world {}\n ball = w:sphere { radius = 1 } w:step() end\n"
           "collectgarbage() collectgarbage()\nprint(ball:position()[3] < 0)\n",
           0, "true");
    expect("local stn = require 'stiction'\n"
           "kept = stn.world {} other = kept:sphere { radius = 1 } shot = kept:snapshot()\n"
           "setmetatable({}, { __gc = function() print(pcall(kept.step, kept)) end })\n",
           0, "");
    expect("local stn = require 'stiction'\nstn.test('t', function() error 'inside' end)\n", 1, "inside");
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stock_interpreter_simulates),
        cmocka_unit_test(test_nothing_global_is_added),
        cmocka_unit_test(test_errors_carry_the_line_and_objects_may_outlive_their_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
