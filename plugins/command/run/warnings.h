// SPDX-License-Identifier: Apache-2.0
// Warnings of a run on stderr: one of a kind, then how many more there were; none of a quiet run unless it fails.
#ifndef STICTION_COMMAND_RUN_WARNINGS_H
#define STICTION_COMMAND_RUN_WARNINGS_H

#include <pthread.h>
#include <stdio.h>

#include <stiction/context.h>

enum { CLI_WARNING_KINDS = 64 };

/// Zeroed but for `quiet` and `mutex`, which begins as PTHREAD_MUTEX_INITIALIZER.
typedef struct cli_warnings {
    bool quiet;
    pthread_mutex_t mutex; // of all that follows
    FILE *kept;            // those of a quiet run; NULL: none
    struct {
        char text[128]; // the beginning of the first of the kind
        int64_t more;
    } kinds[CLI_WARNING_KINDS];
    int32_t kind_count;
} cli_warnings;

/// The log of a context whose log_user is a cli_warnings. Thread: [any]: worlds may step on several at once.
void cli_warnings_log(void *user, stn_log_level level, const char *text);
/// Tells how many more there were of each kind, and what a quiet run kept, when it failed. No other thread logs any
/// more.
void cli_warnings_end(cli_warnings *warnings, bool failed);

#endif
