// SPDX-License-Identifier: Apache-2.0
// What runs in a signal handler here calls nothing but functions that POSIX allows there, and those of common/crash.h.
#include "signals.h"

#include <unistd.h>

#include "common/crash.h"

// A signal handler can reach nothing else than file-scope data.
static stn_session *volatile running;
static volatile sig_atomic_t told;
static struct sigaction before[CLI_CRASH_SIGNALS];

// --------------------------------------------------------------------------------------------------------------- text

static void add_plugin(cli_crash_line *l, const stn_instance *plugin) {
    cli_crash_add(l, stn_kind_name(plugin->desc->kind));
    cli_crash_add(l, " ");
    cli_crash_add(l, plugin->desc->id);
}

static void add_file(cli_crash_line *l, const stn_instance *plugin) {
    if (plugin != NULL) {
        cli_crash_add(l, "; its file: ");
        cli_crash_add(l, plugin->file);
    }
}

/// "in stage solve of step 12", with the number that a failure of the step has.
static void add_place(cli_crash_line *l, const stn_step_place *place) {
    const char *stage = stn_stage_name(place->stage);
    cli_crash_add(l, "in stage ");
    cli_crash_add(l, stage != NULL ? stage : "observers");
    cli_crash_add(l, " of step ");
    cli_crash_add_number(l, place->step);
}

// -------------------------------------------------------------------------------------------------------------- stack

/// The plugin of the world that a file holds, first of all the one that the step has marked; NULL: none.
static const stn_instance *plugin_in(const stn_world *world, const char *file) {
    const stn_instance *marked = stn_world_place(world)->plugin;
    if (marked != NULL && cli_crash_is_same_file(file, marked->file)) {
        return marked;
    }
    for (int kind = 0; kind < STN_KIND_COUNT; kind++) {
        const stn_instance *plugin = stn_world_plugin(world, (stn_kind)kind);
        if (plugin != NULL && cli_crash_is_same_file(file, plugin->file)) {
            return plugin;
        }
    }
    return NULL;
}

static bool is_of_world(const void *world, const char *file) {
    return plugin_in(world, file) != NULL;
}

/// The innermost of the world's plugins on the stack, else the one that the step has marked. Where another plugin is on
/// the stack, and none of the world: NULL, and the innermost one's `file`, else "".
static const stn_instance *find_plugin(const stn_world *world, char file[PATH_MAX]) {
    cli_crash_stack stack;
    cli_crash_take_stack(&stack);
    if (world != NULL && cli_crash_find_file(&stack, is_of_world, world, file)) {
        return plugin_in(world, file);
    }
    bool other = cli_crash_find_file(&stack, cli_crash_is_plugin, NULL, file);
    return world != NULL && !other ? stn_world_place(world)->plugin : NULL;
}

// ------------------------------------------------------------------------------------------------------------ signals

static void on_crash(int number, siginfo_t *info, void *machine) {
    (void)machine;
    int which = cli_crash_index(number);
    const stn_session *session = running;
    if (session != NULL && told == 0 && cli_crash_is_own(info)) {
        told = 1;
        const stn_world *world = session->stepping;
        char file[PATH_MAX];
        const stn_instance *plugin = find_plugin(world, file);
        cli_crash_line l = {.used = 0};
        cli_crash_add(&l, "stiction run: ");
        if (plugin != NULL) {
            add_plugin(&l, plugin);
        } else {
            cli_crash_add(&l, file[0] != '\0' ? file : "the program, or a library,");
        }
        cli_crash_add(&l, " crashed with ");
        cli_crash_add(&l, cli_crash_signals[which].name);
        cli_crash_add(&l, " ");
        if (world != NULL) {
            add_place(&l, stn_world_place(world));
        } else {
            cli_crash_add(&l, "outside of a step");
        }
        add_file(&l, plugin);
        cli_crash_add(&l, "; stiction validate tests a plugin");
        cli_crash_say(&l);
    }
    cli_crash_pass(number, info, CLI_CRASH_SANITIZED ? &before[which] : NULL); // the driver's would tell it again
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
    char file[PATH_MAX];
    const stn_instance *plugin = find_plugin(world, file);
    cli_crash_line l = {.used = 0};
    cli_crash_add(&l, "stiction run: interrupted, and ended after ");
    cli_crash_add_number(&l, RUN_GRACE);
    cli_crash_add(&l, " s: ");
    if (plugin != NULL) {
        add_plugin(&l, plugin);
    } else {
        cli_crash_add(&l, file[0] != '\0' ? file
                          : world != NULL ? "the step"
                                          : "the script, or a function that it calls,");
    }
    cli_crash_add(&l, " has not returned");
    if (world != NULL) {
        cli_crash_add(&l, ", ");
        add_place(&l, stn_world_place(world));
    }
    add_file(&l, plugin);
    cli_crash_say(&l);
    _exit(STN_EXIT_INTERRUPTED);
}

void run_signals_begin(stn_session *session) {
    const int interrupts[] = {SIGINT, SIGTERM};
    running = session;
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < STN_COUNT(interrupts); i++) {
        sigaction(interrupts[i], &action, NULL);
    }
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    cli_crash_begin(on_crash, before);
}

void run_signals_end(void) {
    alarm(0);
    for (int i = 0; i < CLI_CRASH_SIGNALS; i++) {
        sigaction(cli_crash_signals[i].number, &before[i], NULL);
    }
    running = NULL;
}
