// SPDX-License-Identifier: Apache-2.0
// The warnings that a context logs whose text has a given part.
#ifndef STN_TEST_HEARD_H
#define STN_TEST_HEARD_H

#include <stdio.h>
#include <string.h>

#include <stiction/base.h>

typedef struct heard {
    const char *part;
    int32_t count;
    char text[1024]; // of the last one
} heard;

/// stn_context_options.log; user: a heard.
static inline void heard_listen(void *user, stn_log_level level, const char *text) {
    heard *h = user;
    if (level == STN_LOG_WARNING && strstr(text, h->part) != NULL) {
        h->count++;
        snprintf(h->text, sizeof h->text, "%s", text);
    }
}

#endif
