// SPDX-License-Identifier: Apache-2.0
// For handlers of signals that tell which plugin crashed: the signals, the plugin's file, one line of text. Its
// library, stiction_command_crash, is also the program's, which links nothing else of this folder. All but
// cli_crash_begin is async-signal-safe: POSIX allows its calls in a handler, and backtrace was called before. It reads
// the files of the stack from /proc/self/maps, as dladdr may wait for a lock that the interrupted thread or another one
// has.
#ifndef STICTION_COMMAND_COMMON_CRASH_H
#define STICTION_COMMAND_COMMON_CRASH_H

#include <limits.h>
#include <signal.h>

#include <stiction/base.h>

/// A sanitizer's report says more than a line: its handlers stay.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CLI_CRASH_SANITIZED true
#else
#define CLI_CRASH_SANITIZED false
#endif

enum { CLI_CRASH_SIGNALS = 5, CLI_CRASH_FRAMES = 64 };

typedef struct cli_crash_signal {
    int number;
    const char *name; // "SIGSEGV"
} cli_crash_signal;

/// The signals of a crash: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT.
extern const cli_crash_signal cli_crash_signals[CLI_CRASH_SIGNALS];

typedef void (*cli_crash_handler)(int number, siginfo_t *info, void *machine);

/// Calls `handler` from here on for the signals of a crash, on a stack of its own, where the program's is used up.
/// `before` (NULL accepted) receives the actions that they had. STICTION_PLUGIN_PATH is that of now.
void cli_crash_begin(cli_crash_handler handler, struct sigaction before[CLI_CRASH_SIGNALS]);

/// The place of a signal of a crash in cli_crash_signals.
int cli_crash_index(int number);

/// Did this process crash or abort, where the signal might come from another one?
bool cli_crash_is_own(const siginfo_t *info);

/// At the end of a handler: `next` (NULL: ends the process) has the signal from here on, and receives it.
void cli_crash_pass(int number, const siginfo_t *info, const struct sigaction *next);

// --------------------------------------------------------------------------------------------------------------- file

/// Addresses of code, innermost first.
typedef struct cli_crash_stack {
    void *addresses[CLI_CRASH_FRAMES];
    int count;
} cli_crash_stack;

/// The stack of the caller; count = 0 where the C library has no backtrace.
void cli_crash_take_stack(cli_crash_stack *stack);

typedef bool (*cli_crash_wanted)(const void *user, const char *file);

/// The innermost of the files that hold the code of the stack for which `wanted` holds. False, and "": there is none,
/// or /proc/self/maps cannot be read.
bool cli_crash_find_file(const cli_crash_stack *stack, cli_crash_wanted wanted, const void *user, char file[PATH_MAX]);

/// Do two names stand for one file? Equal names do, also of a file that is no longer there.
bool cli_crash_is_same_file(const char *a, const char *b);

/// A command or a script, as its name says: they call all other plugins, and so stand on the stack of each.
bool cli_crash_is_host(const char *file);

/// A cli_crash_wanted, `user` is not read. Does it stand in a folder of plugins, directly or as a link of its name, and
/// is no host?
bool cli_crash_is_plugin(const void *user, const char *file);

// --------------------------------------------------------------------------------------------------------------- line

/// A line of text that is put together; begins as {.used = 0}. What has no room is left out.
typedef struct cli_crash_line {
    char text[PATH_MAX + 512];
    size_t used;
} cli_crash_line;

void cli_crash_add(cli_crash_line *line, const char *text);
void cli_crash_add_number(cli_crash_line *line, int64_t number);
/// Writes it and a line end to stderr, in one call.
void cli_crash_say(cli_crash_line *line);

#endif
