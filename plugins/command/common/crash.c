// SPDX-License-Identifier: Apache-2.0
#include "common/crash.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define HAS_BACKTRACE 1
#else
#define HAS_BACKTRACE 0
#endif

enum { STACK = 1 << 16 };

const cli_crash_signal cli_crash_signals[CLI_CRASH_SIGNALS] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};

// A signal handler can reach nothing else than file-scope data.
static const char *plugin_path; // STICTION_PLUGIN_PATH, NULL: not set

// ------------------------------------------------------------------------------------------------------------ signals

void cli_crash_begin(cli_crash_handler handler, struct sigaction before[CLI_CRASH_SIGNALS]) {
    static char stack[STACK];
    cli_crash_stack first;
    stack_t now;
    if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE) != 0) {
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    }
    cli_crash_take_stack(&first); // loads what it needs
    plugin_path = getenv("STICTION_PLUGIN_PATH");
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CLI_CRASH_SIGNALS; i++) {
        sigaction(cli_crash_signals[i].number, &action, before != NULL ? &before[i] : NULL);
    }
}

int cli_crash_index(int number) {
    int index = 0;
    while (cli_crash_signals[index].number != number) {
        index++;
    }
    return index;
}

bool cli_crash_is_own(const siginfo_t *info) {
    return info->si_code > 0 || info->si_pid == getpid();
}

void cli_crash_pass(int number, const siginfo_t *info, const struct sigaction *next) {
    sigaction(number, next != NULL ? next : &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    if (info->si_code <= 0) {
        raise(number); // somebody sent it: it would not come again by itself
    }
}

// --------------------------------------------------------------------------------------------------------------- file

void cli_crash_take_stack(cli_crash_stack *stack) {
#if HAS_BACKTRACE
    stack->count = backtrace(stack->addresses, CLI_CRASH_FRAMES);
#else
    stack->count = 0;
#endif
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// The first of `count` frames that lies in the addresses at the beginning of a line of /proc/self/maps, "7f00-7f10
/// r-xp 0000 08:01 42   /path"; else `count`.
static int first_within(const char *text, const cli_crash_stack *stack, int count) {
    uintptr_t ends[2] = {0, 0};
    for (int i = 0; i < 2; i++, text++) {
        for (; hex_digit(*text) >= 0; text++) {
            ends[i] = 16 * ends[i] + (uintptr_t)hex_digit(*text);
        }
    }
    int first = 0;
    while (first < count &&
           ((uintptr_t)stack->addresses[first] < ends[0] || (uintptr_t)stack->addresses[first] >= ends[1])) {
        first++;
    }
    return first;
}

/// The path in a line of /proc/self/maps, NULL: none. A file that was replaced since it was loaded keeps its name.
static const char *path_in(char *text) {
    static const char gone[] = " (deleted)";
    char *path = strchr(text, '/');
    size_t length = path != NULL ? strlen(path) : 0;
    if (length >= sizeof gone && strcmp(path + length - (sizeof gone - 1), gone) == 0) {
        path[length - (sizeof gone - 1)] = '\0';
    }
    return path != NULL && strlen(path) < PATH_MAX ? path : NULL;
}

bool cli_crash_find_file(const cli_crash_stack *stack, cli_crash_wanted wanted, const void *user, char file[PATH_MAX]) {
    char part[4096], text[PATH_MAX + 128];
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), innermost = stack->count;
    ssize_t length = 0;
    size_t used = 0;
    file[0] = '\0';
    while (maps >= 0 && (length = read(maps, part, sizeof part)) > 0) {
        for (ssize_t i = 0; i < length; i++) {
            if (part[i] != '\n') {
                text[used] = part[i];
                used += used < sizeof text - 1;
                continue;
            }
            text[used] = '\0';
            used = 0;
            int frame = first_within(text, stack, innermost);
            const char *path = frame < innermost ? path_in(text) : NULL;
            if (path != NULL && wanted(user, path)) {
                innermost = frame;
                strcpy(file, path);
            }
        }
    }
    if (maps >= 0) {
        close(maps);
    }
    return innermost < stack->count;
}

bool cli_crash_is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return strcmp(a, b) == 0 || (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

static const char *name_of(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}

bool cli_crash_is_host(const char *file) {
    const char *name = name_of(file);
    return strncmp(name, "command_", 8) == 0 || strncmp(name, "script_", 7) == 0;
}

bool cli_crash_is_plugin(const void *user, const char *file) {
    (void)user;
    const char *name = name_of(file);
    bool found = strstr(file, "/stiction/plugins/") != NULL;
    for (const char *folder = plugin_path; folder != NULL && *folder != '\0' && !found;) {
        char path[PATH_MAX];
        size_t length = strcspn(folder, ":");
        if (length > 0 && length + 1 + strlen(name) < sizeof path) {
            memcpy(path, folder, length);
            path[length] = '/';
            strcpy(path + length + 1, name);
            found = cli_crash_is_same_file(path, file);
        }
        folder += length + (folder[length] == ':');
    }
    return found && !cli_crash_is_host(file);
}

// --------------------------------------------------------------------------------------------------------------- line

void cli_crash_add(cli_crash_line *line, const char *text) {
    for (; *text != '\0' && line->used < sizeof line->text - 1; text++) {
        line->text[line->used++] = *text;
    }
}

void cli_crash_add_number(cli_crash_line *line, int64_t number) {
    char digits[24];
    size_t at = sizeof digits;
    uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
    digits[--at] = '\0';
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    cli_crash_add(line, number < 0 ? "-" : "");
    cli_crash_add(line, digits + at);
}

void cli_crash_say(cli_crash_line *line) {
    line->text[line->used++] = '\n'; // cli_crash_add leaves room
    if (write(STDERR_FILENO, line->text, line->used) < 0) {
        return; // there is nobody to tell
    }
}
