// SPDX-License-Identifier: Apache-2.0
// What runs in a signal handler here calls nothing but functions that POSIX allows there, and backtrace, which was
// called before: the lines are put together by hand, the files of the stack are read from /proc/self/maps.
#include "signals.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
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

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

enum { FRAMES = 64, STACK = 1 << 16 };

static const struct {
    int number;
    const char *name;
} crashes[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};

// A signal handler can reach nothing else than file-scope data.
static stn_session *volatile running;
static volatile sig_atomic_t told;
static struct sigaction before[STN_COUNT(crashes)];
static const char *plugin_path; // STICTION_PLUGIN_PATH, NULL: not set

// --------------------------------------------------------------------------------------------------------------- text

typedef struct line {
    char text[1024];
    size_t used;
} line;

static void add(line *l, const char *text) {
    for (; *text != '\0' && l->used < sizeof l->text - 1; text++) {
        l->text[l->used++] = *text;
    }
}

static void add_number(line *l, int64_t number) {
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    add(l, digits + at);
}

static void say(line *l) {
    add(l, "\n");
    if (write(STDERR_FILENO, l->text, l->used) < 0) {
        return; // there is nobody to tell
    }
}

static void add_plugin(line *l, const stn_instance *plugin) {
    add(l, stn_kind_name(plugin->desc->kind));
    add(l, " ");
    add(l, plugin->desc->id);
}

static void add_file(line *l, const stn_instance *plugin) {
    if (plugin != NULL) {
        add(l, "; its file: ");
        add(l, plugin->file);
    }
}

/// "in stage solve of step 12", with the number that a failure of the step has.
static void add_place(line *l, const stn_step_place *place) {
    const char *stage = stn_stage_name(place->stage);
    add(l, "in stage ");
    add(l, stage != NULL ? stage : "observers");
    add(l, " of step ");
    add_number(l, place->step);
}

// -------------------------------------------------------------------------------------------------------------- stack

/// A frame of the stack and the file that holds its code; "" as long as that is unknown.
typedef struct frame {
    uintptr_t address;
    char file[PATH_MAX];
} frame;

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// A line of /proc/self/maps, "7f00-7f10 r-xp 0000 08:01 42   /path": fills the file of every frame within.
static void read_map(const char *text, frame *frames, int count) {
    uintptr_t ends[2] = {0, 0};
    for (int i = 0; i < 2; i++, text++) {
        for (; hex_digit(*text) >= 0; text++) {
            ends[i] = 16 * ends[i] + (uintptr_t)hex_digit(*text);
        }
    }
    const char *file = strchr(text, '/');
    for (int i = 0; i < count && file != NULL; i++) {
        if (frames[i].address >= ends[0] && frames[i].address < ends[1]) {
            strncpy(frames[i].file, file, sizeof frames[i].file - 1);
        }
    }
}

static void read_maps(frame *frames, int count) {
    static char text[PATH_MAX + 128];
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    char c;
    while (file >= 0 && read(file, &c, 1) == 1) {
        if (c == '\n') {
            text[used] = '\0';
            read_map(text, frames, count);
            used = 0;
        } else if (used < sizeof text - 1) {
            text[used++] = c;
        }
    }
    if (file >= 0) {
        close(file);
    }
}

static bool is_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/// Does it lie in a folder of plugins, and is no command and no script, which call all others?
static bool is_plugin(const char *file) {
    const char *name = strrchr(file, '/') + 1;
    bool host = strncmp(name, "command_", 8) == 0 || strncmp(name, "script_", 7) == 0;
    bool found = strstr(file, "/stiction/plugins/") != NULL;
    for (const char *folder = plugin_path; folder != NULL && *folder != '\0';) {
        size_t length = strcspn(folder, ":"), deep = (size_t)(name - 1 - file);
        found = found || (length == deep && strncmp(folder, file, deep) == 0);
        folder += length + (folder[length] == ':');
    }
    return found && !host;
}

/// The innermost of the world's plugins on the stack, else the one that the step has marked. `file` receives the
/// innermost file of another plugin, one that is no command and no script.
static const stn_instance *find_plugin(const stn_world *world, const char **file) {
    static frame frames[FRAMES];
    int count = 0;
#if HAS_BACKTRACE
    void *addresses[FRAMES];
    count = backtrace(addresses, FRAMES);
    for (int i = 0; i < count; i++) {
        frames[i].address = (uintptr_t)addresses[i];
    }
#endif
    read_maps(frames, count);
    const stn_instance *marked = world != NULL ? stn_world_place(world)->plugin : NULL;
    for (int i = 0; i < count; i++) {
        if (frames[i].file[0] == '\0') {
            continue;
        }
        if (marked != NULL && is_file(frames[i].file, marked->file)) {
            return marked;
        }
        for (int kind = 0; kind < STN_KIND_COUNT && world != NULL; kind++) {
            const stn_instance *plugin = stn_world_plugin(world, (stn_kind)kind);
            if (plugin != NULL && is_file(frames[i].file, plugin->file)) {
                return plugin;
            }
        }
        *file = *file == NULL && is_plugin(frames[i].file) ? frames[i].file : *file;
    }
    return *file == NULL ? marked : NULL;
}

// ------------------------------------------------------------------------------------------------------------ signals

static void on_crash(int number, siginfo_t *info, void *machine) {
    (void)machine;
    int which = 0;
    while (crashes[which].number != number) {
        which++;
    }
    const stn_session *session = running;
    if (session != NULL && told == 0) {
        told = 1;
        const stn_world *world = session->stepping;
        const char *file = NULL;
        const stn_instance *plugin = find_plugin(world, &file);
        line l = {.used = 0};
        add(&l, "stiction run: ");
        if (plugin != NULL) {
            add_plugin(&l, plugin);
        } else {
            add(&l, file != NULL ? file : "the program, or a library,");
        }
        add(&l, " crashed with ");
        add(&l, crashes[which].name);
        add(&l, " ");
        if (world != NULL) {
            add_place(&l, stn_world_place(world));
        } else {
            add(&l, "outside of a step");
        }
        add_file(&l, plugin);
        add(&l, "; stiction validate tests a plugin");
        say(&l);
        if (!SANITIZED) { // the driver's handler would tell it again
            before[which] = (struct sigaction){.sa_handler = SIG_DFL};
        }
    }
    sigaction(number, &before[which], NULL);
    if (number != SIGABRT && info->si_code <= 0) {
        raise(number); // somebody sent it: it would not come again by itself
    }
}

static void on_interrupt(int number) {
    (void)number;
    stn_session *session = running;
    if (session == NULL || session->stopped != 0) {
        _exit(STN_EXIT_INTERRUPTED);
    }
    stn_session_stop(session);
    alarm(RUN_GRACE);
}

static void on_alarm(int number) {
    (void)number;
    const stn_session *session = running;
    const stn_world *world = session != NULL ? session->stepping : NULL;
    if (session == NULL || (world == NULL && session->running == NULL)) {
        return; // the script has ended, and files are being closed
    }
    const char *file = NULL;
    const stn_instance *plugin = find_plugin(world, &file);
    line l = {.used = 0};
    add(&l, "stiction run: interrupted, and ended after ");
    add_number(&l, RUN_GRACE);
    add(&l, " s: ");
    if (plugin != NULL) {
        add_plugin(&l, plugin);
    } else {
        add(&l, file != NULL ? file : world != NULL ? "the step" : "the script, or a function that it calls,");
    }
    add(&l, " has not returned");
    if (world != NULL) {
        add(&l, ", ");
        add_place(&l, stn_world_place(world));
    }
    add_file(&l, plugin);
    say(&l);
    _exit(STN_EXIT_INTERRUPTED);
}

void run_signals_begin(stn_session *session) {
    static char stack[STACK]; // of the handler, where the program's own is used up
    const int interrupts[] = {SIGINT, SIGTERM};
    stack_t now;
    if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE) != 0) {
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    }
#if HAS_BACKTRACE
    void *addresses[4];
    (void)backtrace(addresses, STN_COUNT(addresses)); // loads what it needs
#endif
    running = session;
    plugin_path = getenv("STICTION_PLUGIN_PATH");
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < STN_COUNT(interrupts); i++) {
        sigaction(interrupts[i], &action, NULL);
    }
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    action = (struct sigaction){.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < STN_COUNT(crashes); i++) {
        sigaction(crashes[i].number, &action, &before[i]);
    }
}

void run_signals_end(void) {
    alarm(0);
    for (int i = 0; i < STN_COUNT(crashes); i++) {
        sigaction(crashes[i].number, &before[i], NULL);
    }
    running = NULL;
}
