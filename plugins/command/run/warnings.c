// SPDX-License-Identifier: Apache-2.0
#include "warnings.h"

#include <string.h>

enum { ALIKE = 24 }; // letters by which two warnings are of one kind: names and figures come later

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Are the first letters the same?
static bool is_alike(const char *a, const char *b) {
    for (int32_t letters = 0; letters < ALIKE; letters++, a++, b++) {
        while (is_digit(*a)) {
            a++;
        }
        while (is_digit(*b)) {
            b++;
        }
        if (*a != *b || *a == '\0') {
            return *a == *b;
        }
    }
    return true;
}

/// False: there was one of its kind, which is counted.
static bool is_new(cli_warnings *w, const char *text) {
    const char *colon = strchr(text, ':');
    size_t digits = colon != NULL ? strspn(colon + 1, "0123456789") : 0;
    if (digits > 0 && colon[1 + digits] == ':') {
        return true; // "file:line: " tells such apart, and scripts say what they say
    }
    for (int32_t i = 0; i < w->kind_count; i++) {
        if (is_alike(w->kinds[i].text, text)) {
            w->kinds[i].more++;
            return false;
        }
    }
    if (w->kind_count < CLI_WARNING_KINDS) {
        snprintf(w->kinds[w->kind_count++].text, sizeof w->kinds[0].text, "%.127s", text);
    }
    return true;
}

void cli_warnings_log(void *user, stn_log_level level, const char *text) {
    cli_warnings *w = user;
    if (level >= STN_LOG_ERROR) {
        fprintf(stderr, "error: %s\n", text);
        return;
    }
    if (level < STN_LOG_WARNING) {
        return;
    }
    pthread_mutex_lock(&w->mutex);
    if (is_new(w, text)) {
        if (w->quiet && w->kept == NULL) {
            w->kept = tmpfile();
        }
        fprintf(w->kept != NULL ? w->kept : stderr, "warning: %s\n", text);
    }
    pthread_mutex_unlock(&w->mutex);
}

void cli_warnings_end(cli_warnings *w, bool failed) {
    char line[4096];
    if (w->kept != NULL) {
        rewind(w->kept);
        while (failed && fgets(line, sizeof line, w->kept) != NULL) {
            fputs(line, stderr);
        }
        fclose(w->kept);
        w->kept = NULL;
    }
    for (int32_t i = 0; i < w->kind_count && (failed || !w->quiet); i++) {
        if (w->kinds[i].more > 0) {
            fprintf(stderr, "warning: and %lld more like \"%.60s...\"\n", (long long)w->kinds[i].more,
                    w->kinds[i].text);
        }
    }
    w->kind_count = 0;
}
