// SPDX-License-Identifier: Apache-2.0
// The progress line of stiction run on terminals of several widths, and where it stays away.
#define _GNU_SOURCE // pseudo-terminals
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "stn_command.h"
#include "stn_folder.h"

static const char working[] = "local stn = require 'stiction'\n"
                              "local w = stn.world { dt = 0.002 }\n"
                              "w:ground { mu = 0.5 }\n"
                              "w:box { name = 'cube', size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 } }\n"
                              "for step in w:run { seconds = 1000 } do\n"
                              "  if os.clock() > 0.35 then break end\n"
                              "end\n";

static int enter(void **state) {
    if (enter_folder(state) != 0) {
        return -1;
    }
    write_file("working.lua", working);
    return 0;
}

/// Runs the scenario with stderr on a terminal of this width; everything that it shows goes to `text`.
static void run_on_terminal(int width, const char *option, char *text, size_t size) {
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    struct winsize window = {.ws_row = 24, .ws_col = (unsigned short)width};
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &window), 0);
    char line[1024];
    snprintf(line, sizeof line, "exec %s run working.lua %s 2>%s", COMMAND, option, ptsname(terminal));
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    int held = open(ptsname(terminal), O_RDWR | O_NOCTTY); // keeps the terminal while the child has not opened it
    assert_true(child > 0 && held >= 0);
    size_t used = 0;
    int status = 0;
    fcntl(terminal, F_SETFL, O_NONBLOCK);
    for (bool ended = false; used + 1 < size;) {
        ssize_t got = read(terminal, text + used, size - 1 - used);
        used += got > 0 ? (size_t)got : 0;
        if (got <= 0 && ended) {
            break;
        }
        if (got <= 0) {
            ended = waitpid(child, &status, WNOHANG) == child;
            usleep(ended ? 0 : 5000);
        }
    }
    text[used] = '\0';
    close(held);
    close(terminal);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/// The longest line of progress: what stands between two returns of the carriage that clear the line.
static size_t longest_progress(const char *text) {
    static const char clear[] = "\r\033[K";
    size_t longest = 0;
    for (const char *at = strstr(text, clear); at != NULL; at = strstr(at, clear)) {
        at += strlen(clear);
        const char *end = strstr(at, clear);
        size_t length = end != NULL ? (size_t)(end - at) : 0;
        longest = length > longest ? length : longest;
    }
    return longest;
}

static char text[1 << 16];

static void a_wide_terminal_shows_a_bar_and_all_figures(void **state) {
    (void)state;
    run_on_terminal(160, "", text, sizeof text);
    assert_non_null(strstr(text, "\r\033[K[#"));
    assert_non_null(strstr(text, " of 1000 s, "));
    assert_non_null(strstr(text, " x real time, "));
    assert_non_null(strstr(text, " left, "));
    assert_non_null(strstr(text, " contacts, "));
    assert_non_null(strstr(text, " iterations"));
    assert_non_null(strstr(text, "times real time")); // the summary follows
}

static void a_narrow_terminal_shows_what_fits(void **state) {
    (void)state;
    for (int width = 20; width <= 80; width += 30) {
        run_on_terminal(width, "", text, sizeof text);
        size_t longest = longest_progress(text);
        assert_true(longest > 0 && longest < (size_t)width);
        assert_non_null(strstr(text, " of 1000 s"));
    }
}

static void quiet_runs_and_files_get_none(void **state) {
    (void)state;
    run_on_terminal(80, "--quiet", text, sizeof text);
    assert_string_equal(text, "");
    run_on_terminal(80, "-q", text, sizeof text);
    assert_string_equal(text, "");
    const stn_run *run = stn_run_to("run working.lua 2>&1", 0);
    assert_null(strchr(run->out, '\r'));
    assert_non_null(strstr(run->out, "times real time"));
}

/// A terminal that cannot clear a line would fill with control characters; the narrowest one shows nothing.
static void dumb_and_very_narrow_terminals_get_no_figures(void **state) {
    (void)state;
    setenv("TERM", "dumb", 1);
    run_on_terminal(80, "", text, sizeof text);
    setenv("TERM", "xterm", 1);
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "times real time"));
    run_on_terminal(1, "", text, sizeof text);
    assert_int_equal(longest_progress(text), 0);
    assert_non_null(strstr(text, "times real time"));
}

int main(void) {
    setenv("TERM", "xterm", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_wide_terminal_shows_a_bar_and_all_figures, enter, leave_folder),
        cmocka_unit_test_setup_teardown(a_narrow_terminal_shows_what_fits, enter, leave_folder),
        cmocka_unit_test_setup_teardown(dumb_and_very_narrow_terminals_get_no_figures, enter, leave_folder),
        cmocka_unit_test_setup_teardown(quiet_runs_and_files_get_none, enter, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
