// SPDX-License-Identifier: Apache-2.0
// Which files `stiction test` made: a list in the folder of a script's artifacts, a line for each file,
//
//     2-box-floats.html<TAB>suite.lua: box: floats
//
// so that the next run takes away what a former one left, and nothing else: not what someone put there.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <stiction/input.h>
#include <stiction/output.h>

#include "test.h"

static const char list_name[] = ".kept-by-stiction-test";

enum { MOST_BYTES = 1 << 24, NAME_MOST = 512 };

void cli_test_kept_add(const char *folder, const char *script, const char *test, const char *file) {
    char path[1400], name[NAME_MOST], line[2 * NAME_MOST];
    snprintf(path, sizeof path, "%s/%s", folder, list_name);
    snprintf(name, sizeof name, "%s: %s", script, test);
    for (char *at = name; *at != '\0'; at++) { // one line
        if (*at == '\n' || *at == '\t') {
            *at = ' ';
        }
    }
    int length = snprintf(line, sizeof line, "%s\t%s\n", file, name);
    int list = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    bool written = list >= 0 && length > 0 && write(list, line, (size_t)length) == length;
    if (list >= 0) {
        close(list);
    }
    if (!written) {
        fprintf(stderr, "warning: %s: cannot be written: %s\n", path, strerror(errno));
    }
}

/// Removes the files of the lines that are due; the other lines move to the front of `text`. Returns their bytes.
static size_t remove_due(const char *folder, char *text, const char *script, const char *pattern) {
    char *to = text, *at = text;
    while (*at != '\0') {
        char *end = strchr(at, '\n'), *next = end != NULL ? end + 1 : at + strlen(at), path[1800];
        size_t length = (size_t)(next - at);
        char *tab = memchr(at, '\t', length);
        if (end == NULL || tab == NULL) {
            at = next; // half a line
            continue;
        }
        *tab = *end = '\0';
        // a name that only this program gives, whatever a list says
        bool own = at[0] >= '0' && at[0] <= '9' && strchr(at, '/') == NULL &&
                   (cli_ends_with(at, ".html") || cli_ends_with(at, ".capsule.json"));
        // of this script, and of a test that the pattern does not leave out
        const char *test = tab + 1;
        bool due = strncmp(test, script, strlen(script)) == 0 && strncmp(test + strlen(script), ": ", 2) == 0 &&
                   (pattern == NULL || strstr(test, pattern) != NULL);
        if (own && due) {
            snprintf(path, sizeof path, "%s/%s", folder, at);
            if (unlink(path) != 0 && errno != ENOENT) {
                fprintf(stderr, "warning: %s: cannot be removed: %s\n", path, strerror(errno));
            }
        } else {
            *tab = '\t';
            *end = '\n';
            memmove(to, at, length);
            to += length;
        }
        at = next;
    }
    return (size_t)(to - text);
}

void cli_test_kept_remove(stn_context *context, const char *folder, const char *script, const char *pattern) {
    char path[1400], *text = NULL;
    size_t size = 0;
    stn_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, list_name);
    if (access(path, F_OK) != 0) {
        return; // nothing was kept
    }
    stn_status status = stn_read_regular(context, path, O_NOFOLLOW, MOST_BYTES, &text, &size, &err);
    size_t left = status == STN_OK ? remove_due(folder, text, script, pattern) : 0;
    if (status == STN_OK && left > 0) {
        status = stn_output_write(path, text, left, &err);
    } else if (status == STN_OK) {
        unlink(path);
        rmdir(folder); // where nothing else is in it
    }
    stn_release(context, text);
    if (status != STN_OK) {
        fprintf(stderr, "warning: %s\n", err.text);
    }
}
