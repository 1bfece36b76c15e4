// SPDX-License-Identifier: Apache-2.0
// The command "stiction": finds the subcommand and hands it the words that follow.
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <stiction/plugin.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/print.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"run", cmd_run, "runs a scenario"},
    {"replay", cmd_replay, "makes a recorded run again, and compares"},
    {"sweep", cmd_sweep, "runs a scenario over a grid of its parameters"},
    {"test", cmd_test, "runs scripted tests"},
    {"view", cmd_view, "shows recordings in the browser, several beside each other"},
    {"info", cmd_info, "shows what a robot file holds, and kinematics and dynamics figures of it"},
    {"check", cmd_check, "looks for mistakes in a robot file"},
    {"convert", cmd_convert, "writes a robot file in another format"},
    {"new", cmd_new, "makes a folder with a plugin or a scenario that works, to start from"},
    {"plugins", cmd_plugins, "lists the plugins, with parameters, units and defaults"},
    {"solve", cmd_solve, "solves one saved contact problem and certifies the result"},
    {"compare", cmd_compare, "runs many solvers on the same saved problems, judged alike"},
    {"validate", cmd_validate, "runs the conformance battery of a plugin"},
};

static void print_usage(FILE *out) {
    fputs("usage: stiction COMMAND [words] [options]\n\n", out);
    for (int32_t i = 0; i < STN_COUNT(commands); i++) {
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\nstiction COMMAND --help says what a command takes; stiction --version which version this is.\n", out);
}

static int unknown(const char *word) {
    const char *names[STN_COUNT(commands) + 2] = {"--help", "--version"};
    for (int32_t i = 0; i < STN_COUNT(commands); i++) {
        names[i + 2] = commands[i].name;
    }
    const char *near = stn_suggest(word, names, STN_COUNT(names));
    fprintf(stderr, "stiction: unknown %s %s;%s%s%s see stiction --help\n", word[0] == '-' ? "option" : "command", word,
            near != NULL ? " did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    return CLI_BAD_INPUT;
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) {
        print_usage(stderr);
        return CLI_BAD_INPUT;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        print_usage(stdout);
        return CLI_DONE;
    }
    if (strcmp(word, "--version") == 0) {
        printf("stiction %s, plugin ABI %d.%d\n", STN_VERSION, STN_ABI_MAJOR, STN_ABI_MINOR);
        return CLI_DONE;
    }
    for (int32_t i = 0; i < STN_COUNT(commands); i++) {
        if (strcmp(word, commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return unknown(word);
}

/// Whatever the command: output that was lost is an error.
int main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN); // a write beyond ulimit -f is then a failed write: the cache does without, others say it
    cli_json_begin();
    int status = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        fputs("stiction: stdout cannot be written, part of the output is lost; is it closed, or its disk full?\n",
              stderr);
        return status != CLI_DONE ? status : CLI_BAD_INPUT;
    }
    return status;
}
