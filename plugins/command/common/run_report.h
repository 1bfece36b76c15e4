// SPDX-License-Identifier: Apache-2.0
// The end of a run in two forms: JSON for machines (docs say which keys), a summary for people.
#ifndef STICTION_COMMAND_COMMON_RUN_REPORT_H
#define STICTION_COMMAND_COMMON_RUN_REPORT_H

#include <cjson/cJSON.h>

#include "common/session.h"

/// How a run ended.
typedef struct cli_run_end {
    const char *script;
    const char *status; // "ok", "check_failed", "diverged", "error", "interrupted", "exit"
    double wall;        // [s]
    bool profile;       // with the time of every stage
} cli_run_end;

/// Why a run that was to save contact problems saved none, as one line. Said by the summary, and without one too.
void cli_run_tell_no_capture(const stn_session *session, const char *begin);

/// One JSON object, owned by the caller.
cJSON *cli_run_json(const stn_session *session, const cli_run_end *end);
/// The summary on stderr, and its first line alone: "scene: ok, but energy rose by 29 J at t = 3.1 s".
void cli_run_print_summary(const stn_session *session, const cli_run_end *end);
void cli_run_print_headline(const stn_session *session, const cli_run_end *end);
/// Has the verdict anything to say against the run?
bool cli_run_is_reserved(const stn_session *session);

#endif
