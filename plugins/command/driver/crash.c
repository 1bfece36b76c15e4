// SPDX-License-Identifier: Apache-2.0
#include "crash.h"

#include "common/crash.h"

// A signal handler can reach nothing else than file-scope data.
static const char *command;

static void on_crash(int number, siginfo_t *info, void *machine) {
    (void)machine;
    if (cli_crash_is_own(info)) {
        cli_crash_stack stack;
        char file[PATH_MAX];
        cli_crash_take_stack(&stack);
        bool found = cli_crash_find_file(&stack, cli_crash_is_plugin, NULL, file);
        cli_crash_line line = {.used = 0};
        cli_crash_add(&line, "stiction ");
        cli_crash_add(&line, command);
        cli_crash_add(&line, ": ");
        cli_crash_add(&line, found ? file : "the program, or a library,");
        cli_crash_add(&line, " crashed with ");
        cli_crash_add(&line, cli_crash_signals[cli_crash_index(number)].name);
        cli_crash_add(&line, "; stiction validate tests a plugin");
        cli_crash_say(&line);
    }
    cli_crash_pass(number, info, NULL);
}

void crash_lines_begin(const char *word) {
    command = word;
    if (!CLI_CRASH_SANITIZED) {
        cli_crash_begin(on_crash, NULL);
    }
}
