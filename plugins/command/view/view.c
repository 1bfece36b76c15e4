// SPDX-License-Identifier: Apache-2.0
// stiction view A [B ...]: shows recordings in the user's browser; several of them in one page.
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/apart.h"
#include "common/options.h"
#include "recording_page.h"

extern char **environ;

enum { PATH_SIZE = 4096 };

// ---------------------------------------------------------------------------------------------------------- browser

/// Hands a URL to the desktop's browser. False when there is no desktop, or it does not take it.
static bool open_browser(char *url) {
    if (getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL) {
        return false;
    }
    char program[] = "xdg-open";
    char *const words[] = {program, url, NULL};
    pid_t child = 0;
    int status = 0;
    return posix_spawnp(&child, program, NULL, NULL, words, environ) == 0 && waitpid(child, &status, 0) == child &&
           WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// In the browser, by "file:///home/a%20b.html".
static int show(const cli_command *command, const char *path) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    char url[3 * PATH_SIZE + 16], *whole = realpath(path, NULL);
    if (whole == NULL) {
        return cli_fail(command, "%s: the file has gone", path);
    }
    size_t used = (size_t)snprintf(url, sizeof url, "file://");
    for (const char *c = whole; *c != '\0' && used + 4 < sizeof url; c++) {
        const char *form = strchr(plain, *c) != NULL ? "%c" : "%%%02X";
        used += (size_t)snprintf(url + used, sizeof url - used, form, (unsigned char)*c);
    }
    free(whole);
    if (!open_browser(url)) {
        printf("%s\n", url);
    }
    return STN_EXIT_DONE;
}

// -------------------------------------------------------------------------------------------------------------- view

static int run_view(void *self, const stn_command_call *call) {
    (void)self;
    const char *out = NULL;
    cli_list words = {0};
    const cli_option options[] = {
        {"out", 'o', CLI_TEXT, "FILE", "the page with all of them; without it a temporary file, named by its content",
         &out},
    };
    const cli_command command = {"view",
                                 "FILE...",
                                 "Shows recordings (run --record FILE.html) in the browser; several in one page, to "
                                 "compare them. Where there is no "
                                 "desktop the page's address is printed.",
                                 options,
                                 STN_COUNT(options),
                                 1,
                                 64};
    int status = cli_parse(&command, call->argc, call->argv, &words);
    if (status == CLI_PROCEED) {
        status = cli_keep_apart(&command, words.items, words.count, &out, 1);
    }
    stn_error err = {STN_OK, ""};
    stn_status looked = STN_OK;
    char path[PATH_SIZE];
    if (status == CLI_PROCEED && words.count == 1 && out == NULL) {
        // is it whole? A browser would show an empty page of what is not
        cli_recording *recording = NULL;
        cli_block block = {.kind = "?"};
        snprintf(path, sizeof path, "%s", words.items[0]);
        looked = cli_recording_open(call->context, words.items[0], &recording, &err);
        while (looked == STN_OK && block.kind[0] != '\0') {
            looked = cli_recording_next(recording, &block, &err);
        }
        if (looked == STN_OK && cli_recording_is_cut(recording)) {
            stn_log(call->context, STN_LOG_WARNING, "%s ends in the middle of a block; what is before it is shown",
                    words.items[0]);
        }
        cli_recording_close(recording);
    } else if (status == CLI_PROCEED) {
        looked = cli_recording_merge(call->context, words.items, words.count, out, path, sizeof path, &err);
    }
    if (status == CLI_PROCEED) {
        status = looked == STN_OK ? show(&command, path) : cli_fail_status(&command, &err);
    }
    cli_list_clear(&words);
    return status;
}

CLI_WORD(view, "shows recordings in the browser, several beside each other", run_view)
