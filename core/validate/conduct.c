// SPDX-License-Identifier: Apache-2.0
#include "validate/conduct.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// What is printed goes into a file without a name; -1: nowhere.
static int catch_prints(const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/printed", folder);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    unlink(path);
    dup2(file, STDOUT_FILENO);
    return file;
}

conduct conduct_begin(const validate_request *request, const char *folder) {
    const stn_plugin_info *plugin = request->plugin;
    conduct c = {.prints = catch_prints(folder)};
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

static void judge_prints(int file, validate_result *result) {
    char text[64];
    fflush(stdout);
    off_t size = lseek(file, 0, SEEK_END);
    ssize_t got = pread(file, text, sizeof text - 1, 0);
    if (size > 0 && got > 0) {
        text[got] = '\0';
        text[strcspn(text, "\r\n")] = '\0';
        *result = (validate_result){.verdict = VALIDATE_FAILED, .cause = VALIDATE_PRINTED};
        snprintf(result->text, sizeof result->text, "printed %lld bytes, \"%s\" first, expected none", (long long)size,
                 text);
    }
}

static void judge_data(const conduct *c, validate_result *result) {
    ptrdiff_t at = c->before != NULL ? static_data_changed(&c->data, c->before) : -1;
    if (at >= 0) {
        *result = (validate_result){.verdict = VALIDATE_FAILED, .cause = VALIDATE_SHARED};
        snprintf(result->text, sizeof result->text, "changed static data, at %#tx of %s, expected none", at, c->object);
    }
}

void conduct_judge(const conduct *c, validate_result *result) {
    if (result->verdict != VALIDATE_FAILED) {
        judge_data(c, result);
        judge_prints(c->prints, result);
    }
    free(c->before);
}
