// SPDX-License-Identifier: Apache-2.0
// The program `stiction`: finds the plugin of kind "command" that the first word names, and hands it the words from
// there on. It knows no word itself.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include <stiction/plugin.h>

#include "common/crash.h"
#include "crash.h"

enum { MOST_WORDS = 256 };

/// The list of words: id and summary of their descriptors, which is reading data; no code of theirs runs.
static int print_usage(stn_context *context, FILE *out) {
    stn_error err = {STN_OK, ""};
    const stn_plugin_info *words = NULL;
    int32_t count = 0;
    int widest = 9;
    if (stn_plugins_of_kind(context, STN_KIND_COMMAND, &words, &count, &err) != STN_OK) {
        fprintf(stderr, "stiction: %s\n", err.text);
        return STN_EXIT_BAD_INPUT;
    }
    for (int32_t i = 0; i < count; i++) {
        int width = (int)strlen(words[i].desc->id);
        widest = width > widest ? width : widest;
    }
    fputs("usage: stiction COMMAND [words] [options]\n\n", out);
    for (int32_t i = 0; i < count; i++) {
        fprintf(out, "  %-*s  %s\n", widest, words[i].desc->id, words[i].desc->summary);
    }
    fputs(count > 0 ? "\n" : "  no command is installed; they are plugins, see STICTION_PLUGIN_PATH\n\n", out);
    fputs("stiction COMMAND --help says what a command takes; stiction --version which version this is.\n", out);
    return STN_EXIT_DONE;
}

static int unknown(stn_context *context, const char *word) {
    const char *names[MOST_WORDS] = {"--help", "--version"};
    const stn_plugin_info *plugins = NULL;
    const char *const *problems = NULL;
    int32_t count = 0, problem_count = 0, name_count = 2;
    char file[128];
    stn_error err = {STN_OK, ""};
    if (stn_plugins(context, &plugins, &count, &problems, &problem_count, &err) != STN_OK) {
        fprintf(stderr, "stiction: %s\n", err.text);
        return STN_EXIT_BAD_INPUT;
    }
    snprintf(file, sizeof file, "/command_%.64s.so: ", word);
    for (int32_t i = 0; i < problem_count; i++) {
        if (strstr(problems[i], file) != NULL) { // it is there, and was refused
            fprintf(stderr, "stiction: %s: %s\n", word, problems[i]);
            return STN_EXIT_BAD_INPUT;
        }
    }
    for (int32_t i = 0; i < count && name_count < MOST_WORDS; i++) {
        if (plugins[i].desc->kind == STN_KIND_COMMAND) {
            names[name_count++] = plugins[i].desc->id;
        }
    }
    const char *near = stn_suggest(word, names, name_count);
    fprintf(stderr, "stiction: unknown %s %s;%s%s%s see stiction --help\n", word[0] == '-' ? "option" : "command", word,
            near != NULL ? " did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    return STN_EXIT_BAD_INPUT;
}

static int run(stn_context *context, int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : NULL;
    if (word == NULL) {
        print_usage(context, stderr);
        return STN_EXIT_BAD_INPUT;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        return print_usage(context, stdout);
    }
    if (strcmp(word, "--version") == 0) {
        printf("stiction %s, plugin ABI %d.%d\n", STN_VERSION, STN_ABI_MAJOR, STN_ABI_MINOR);
        return STN_EXIT_DONE;
    }
    // a word is an id, never a path: no file elsewhere is opened for it
    bool is_word =
        word[0] >= 'a' && word[0] <= 'z' && strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(word);
    stn_error err = {STN_OK, ""};
    stn_instance *command = NULL;
    const stn_plugin_info *found = NULL;
    if (!is_word || stn_plugin_find(context, STN_KIND_COMMAND, word, &found, NULL) != STN_OK) {
        return unknown(context, word);
    }
    if (stn_instance_create(context, STN_KIND_COMMAND, word, NULL, 0, &command, &err) != STN_OK) {
        fprintf(stderr, "stiction %s: %s\n", word, err.text);
        return STN_EXIT_BAD_INPUT;
    }
    stn_command_call call = {
        .size = sizeof call, .context = context, .program = "stiction", .argc = argc - 1, .argv = argv + 1};
    crash_lines_begin(command->desc->id);
    int status = command->desc->ops.command->run(command->self, &call);
    stn_instance_destroy(command);
    return status;
}

static pid_t in_command; // this process, while it is inside of a command

/// exit is called by plugins and libraries only, and would say with its status what this command never said.
static void refuse_exit(void) {
    if (in_command == getpid()) {
        fflush(NULL);
        fputs("stiction: a plugin, or a library that it uses, called exit, which ends the command before its end; "
              "stiction validate finds the plugin\n",
              stderr);
        _exit(STN_EXIT_BAD_INPUT);
    }
}

#if defined(__linux__)
/// Not the program, and no command and no script.
static bool is_called(const void *none, const char *file) {
    (void)none;
    const char *slash = strrchr(file, '/');
    return strstr(slash, ".so") != NULL && !cli_crash_is_host(file);
}

/// Ends the process as _Exit does, after a line when another shared object than a command or a script asked for it:
/// `caller` is an address in its code. Async-signal-safe, as _exit is.
static _Noreturn void end_process(int status, void *caller) {
    cli_crash_stack stack = {.addresses = {caller}, .count = 1};
    char file[PATH_MAX];
    if (in_command == getpid() && cli_crash_find_file(&stack, is_called, NULL, file)) {
        cli_crash_line line = {.used = 0};
        cli_crash_add(&line, "stiction: ");
        cli_crash_add(&line, file);
        cli_crash_add(&line, " called _Exit(");
        cli_crash_add_number(&line, status);
        cli_crash_add(&line, "), which ends the command before its end; stiction validate finds the plugin");
        cli_crash_say(&line);
        status = STN_EXIT_BAD_INPUT;
    }
    for (;;) {
        syscall(SYS_exit_group, status);
    }
}

// Those of the program come before the C library's, for all shared objects that call them by these names. What calls
// them inside of the C library, or ends the process by a system call of its own, is not seen.
__attribute__((visibility("default"))) void _Exit(int status) {
    end_process(status, __builtin_return_address(0));
}

__attribute__((visibility("default"), alias("_Exit"))) void _exit(int status);
#endif

/// Relative folders of STICTION_PLUGIN_PATH are those of now, also for the contexts and the programs of a command that
/// has gone to another folder.
static void keep_plugin_folders(void) {
    const char *path = getenv("STICTION_PLUGIN_PATH");
    char *here = path != NULL ? getcwd(NULL, 0) : NULL, *whole = NULL;
    size_t size = 0;
    FILE *text = here != NULL ? open_memstream(&whole, &size) : NULL;
    for (const char *at = path; text != NULL && *at != '\0';) {
        size_t length = strcspn(at, ":");
        bool relative = length > 0 && at[0] != '/';
        fprintf(text, "%s%s%.*s%s", relative ? here : "", relative ? "/" : "", (int)length, at,
                at[length] == ':' ? ":" : "");
        at += length + (at[length] == ':');
    }
    if (text != NULL && fclose(text) == 0) {
        setenv("STICTION_PLUGIN_PATH", whole, 1);
    }
    free(whole);
    free(here);
}

/// Whatever the command: output that was lost is an error.
int main(int argc, char **argv) {
    // A closed stdin, stdout or stderr would give its number to the next file that is opened, and what is printed would
    // land in a recording. Nothing comes from what takes its place, and writing to it fails as before.
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != i) {
            _exit(STN_EXIT_BAD_INPUT);
        }
    }
    signal(SIGXFSZ, SIG_IGN); // a write beyond ulimit -f is then a failed write: the cache does without, others say it
    keep_plugin_folders();
    stn_error err = {STN_OK, ""};
    stn_context *context = NULL;
    if (stn_context_create(NULL, &context, &err) != STN_OK) {
        fprintf(stderr, "stiction: %s\n", err.text);
        return STN_EXIT_BAD_INPUT;
    }
    in_command = getpid();
    atexit(refuse_exit);
    int status = run(context, argc, argv);
    in_command = 0;
    stn_context_destroy(context);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        fputs("stiction: stdout cannot be written, part of the output is lost; is it closed, or its disk full?\n",
              stderr);
        return status != STN_EXIT_DONE ? status : STN_EXIT_BAD_INPUT;
    }
    return status;
}
