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

/// Is it whole? A browser would show an empty page of what is not.
static stn_status look_through(stn_context *context, const char *path, stn_error *err) {
    cli_recording *recording = NULL;
    stn_status status = cli_recording_open(context, path, &recording, err);
    cli_block block = {.kind = "?"};
    while (status == STN_OK && block.kind[0] != '\0') {
        status = cli_recording_next(recording, &block, err);
    }
    if (status == STN_OK && cli_recording_is_cut(recording)) {
        stn_log(context, STN_LOG_WARNING, "%s ends in the middle of a block; what is before it is shown", path);
    }
    cli_recording_close(recording);
    return status;
}

static int view(const cli_command *command, stn_context *context, const cli_list *files, const char *out) {
    stn_error err = {STN_OK, ""};
    char path[PATH_SIZE];
    if (cli_keep_apart(command, files->items, files->count, &out, 1) != CLI_PROCEED) {
        return STN_EXIT_BAD_INPUT;
    }
    stn_status status = STN_OK;
    if (files->count == 1 && out == NULL) {
        status = look_through(context, files->items[0], &err);
        snprintf(path, sizeof path, "%s", files->items[0]);
    } else {
        status = cli_recording_merge(context, files->items, files->count, out, path, sizeof path, &err);
    }
    return status == STN_OK ? show(command, path) : cli_fail_status(command, &err);
}

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
        status = view(&command, call->context, &words, out);
    }
    cli_list_clear(&words);
    return status;
}

CLI_WORD(view, "shows recordings in the browser, several beside each other", run_view)
