// SPDX-License-Identifier: Apache-2.0
#include "conduct.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard.h"

/// What is printed goes into a pipe that this process reads at the end. One that is full refuses more, so that a plugin
/// that prints for ever fills nothing. -1: nowhere.
static int catch_prints(void) {
    int ends[2];
    if (pipe(ends) != 0) {
        return -1;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    return ends[0];
}

conduct conduct_begin(const validate_request *request, const char *folder) {
    const stn_plugin_info *plugin = request->plugin;
    conduct c = {.prints = catch_prints(), .guard = request->guard};
    if (c.guard != NULL) { // before the data's bytes are kept: it writes into the plugin's table of calls
        guard_begin(c.guard, request, folder);
    }
    if (plugin != NULL) {
        c.object = plugin->file;
        c.data = static_data_of(plugin->desc);
        c.before = malloc(c.data.size + 1);
    }
    if (c.before != NULL) {
        static_data_copy(&c.data, c.before);
    }
    return c;
}

void conduct_judge(const conduct *c, validate_result *result) {
    if (result->verdict != VALIDATE_FAILED) {
        ptrdiff_t at = c->before != NULL ? static_data_changed(&c->data, c->before) : -1;
        if (at >= 0) {
            *result = (validate_result){.verdict = VALIDATE_FAILED, .cause = VALIDATE_SHARED};
            snprintf(result->text, sizeof result->text, "changed static data, at %#tx of %s, expected none", at,
                     c->object);
        }
        char text[64];
        fflush(stdout);
        ssize_t got = read(c->prints, text, sizeof text - 1);
        if (got > 0) {
            text[got] = '\0';
            text[strcspn(text, "\r\n")] = '\0';
            *result = (validate_result){.verdict = VALIDATE_FAILED, .cause = VALIDATE_PRINTED};
            snprintf(result->text, sizeof result->text, "printed \"%s\", expected nothing", text);
        }
    }
    free(c->before);
    if (c->guard != NULL) {
        guard_judge(c->guard, result);
    }
}
