// SPDX-License-Identifier: Apache-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // dladdr
#endif
#include "crash.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if __has_include(<execinfo.h>) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <execinfo.h>

#include <stiction/base.h>

enum { FRAMES = 64, STACK = 1 << 16 };

static const struct {
    int number;
    const char *name;
} crashes[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};

// A signal handler can reach nothing else than file-scope data.
static const char *command, *plugin_path;

/// Does it lie in a folder of plugins, and is no command and no script, which call all others?
static bool is_plugin(const char *file) {
    const char *slash = strrchr(file, '/'), *name = slash != NULL ? slash + 1 : file;
    bool found = strstr(file, "/stiction/plugins/") != NULL;
    for (const char *folder = plugin_path; folder != NULL && *folder != '\0' && slash != NULL;) {
        size_t length = strcspn(folder, ":");
        found = found || (length == (size_t)(slash - file) && strncmp(folder, file, length) == 0);
        folder += length + (folder[length] == ':');
    }
    return found && strncmp(name, "command_", 8) != 0 && strncmp(name, "script_", 7) != 0;
}

static void say(const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0) {
        return; // there is nobody to tell
    }
}

static void on_crash(int number, siginfo_t *info, void *machine) {
    (void)machine;
    bool sent = info->si_code <= 0;
    if (!sent || info->si_pid == getpid()) {
        void *addresses[FRAMES];
        int count = backtrace(addresses, FRAMES);
        const char *file = NULL;
        for (int i = 0; i < count && file == NULL; i++) {
            Dl_info place;
            bool known = dladdr(addresses[i], &place) != 0 && place.dli_fname != NULL;
            file = known && is_plugin(place.dli_fname) ? place.dli_fname : NULL;
        }
        const char *name = "";
        for (int i = 0; i < STN_COUNT(crashes); i++) {
            name = crashes[i].number == number ? crashes[i].name : name;
        }
        const char *const words[] = {"stiction ",
                                     command,
                                     ": ",
                                     file != NULL ? file : "the program, or a library,",
                                     " crashed with ",
                                     name,
                                     "; stiction validate tests a plugin\n"};
        for (int i = 0; i < STN_COUNT(words); i++) {
            say(words[i]);
        }
    }
    signal(number, SIG_DFL);
    if (sent) {
        raise(number); // it would not come again by itself
    }
}

void crash_lines_begin(const char *word) {
    static char stack[STACK]; // of the handler, where the program's own is used up
    void *addresses[4];
    command = word;
    plugin_path = getenv("STICTION_PLUGIN_PATH");
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    (void)backtrace(addresses, STN_COUNT(addresses)); // loads what it needs
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < STN_COUNT(crashes); i++) {
        sigaction(crashes[i].number, &action, NULL);
    }
}
#else
void crash_lines_begin(const char *word) {
    (void)word;
}
#endif
