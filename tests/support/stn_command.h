// SPDX-License-Identifier: Apache-2.0
// Runs the command "stiction" of this build and keeps what it says. COMMAND is given by
// tests/plugins/command/CMakeLists.txt.
#ifndef STN_COMMAND_H
#define STN_COMMAND_H

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "stn_test.h"

typedef struct stn_run {
    int status; // exit status; -1 when it was killed
    char out[1 << 18];
} stn_run;

/// `words` follow the command as in a shell: "plugins --json 2>/dev/null".
static inline void stn_run_command(stn_run *run, const char *words) {
    char line[4096];
    snprintf(line, sizeof line, "%s %s", COMMAND, words);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t used = fread(run->out, 1, sizeof run->out - 1, pipe);
    run->out[used] = '\0';
    int status = pclose(pipe);
    run->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline const stn_run *stn_run_to(const char *words, int status) {
    static stn_run run;
    stn_run_command(&run, words);
    if (run.status != status) {
        fail_msg("stiction %s: exit %d, expected %d: %s", words, run.status, status, run.out);
    }
    return &run;
}

/// The command must exit with `status` and print exactly `text`.
static inline void stn_expect(const char *words, int status, const char *text) {
    assert_string_equal(stn_run_to(words, status)->out, text);
}

/// The command must exit with `status` and print `part` somewhere.
static inline void stn_expect_part(const char *words, int status, const char *part) {
    const stn_run *run = stn_run_to(words, status);
    if (strstr(run->out, part) == NULL) {
        fail_msg("stiction %s: no \"%s\" in: %s", words, part, run->out);
    }
}

#endif
