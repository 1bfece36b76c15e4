// SPDX-License-Identifier: Apache-2.0
// The command "stiction": finds the subcommand and hands it the words that follow.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/// A closed stdin, stdout or stderr would give its number to the next file that is opened, and what is printed would
/// land in a recording. Nothing comes from what takes its place, and writing to it fails as before.
static void keep_standard_files(void) {
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != i) {
            _exit(CLI_BAD_INPUT);
        }
    }
}

static pid_t in_command; // this process, while it is inside of a command

/// exit is called by plugins and libraries only, and would say with its status what this command never said.
static void refuse_exit(void) {
    if (in_command == getpid()) {
        fflush(NULL);
        fputs("stiction: a plugin, or a library that it uses, called exit, which ends the command before its end; "
              "stiction validate finds the plugin\n",
              stderr);
        _exit(CLI_BAD_INPUT);
    }
}

/// Whatever the command: output that was lost is an error.
int main(int argc, char **argv) {
    keep_standard_files();
    signal(SIGXFSZ, SIG_IGN); // a write beyond ulimit -f is then a failed write: the cache does without, others say it
    cli_json_begin();
    in_command = getpid();
    atexit(refuse_exit);
    int status = dispatch(argc, argv);
    in_command = 0;
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        fputs("stiction: stdout cannot be written, part of the output is lost; is it closed, or its disk full?\n",
              stderr);
        return status != CLI_DONE ? status : CLI_BAD_INPUT;
    }
    return status;
}
