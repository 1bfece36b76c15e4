// SPDX-License-Identifier: Apache-2.0
// A scenario as the subcommands run it: how did it end?
#ifndef STICTION_COMMAND_COMMON_SCENARIO_H
#define STICTION_COMMAND_COMMON_SCENARIO_H

#include "common/session.h"

/// Tests of the script (stn.test) count as checks from now on.
void cli_count_tests(stn_session *session);

/// Word and exit status of an end, "ok", "check_failed", "diverged", "error", "interrupted" or "exit". A failed
/// assertion becomes a check that failed.
int cli_judge_run(stn_session *session, stn_status status, const stn_error *err, const char **word);

/// Each figure of the verdict beyond its limit becomes a check that failed, "verdict: energy"; before cli_judge_run.
void cli_judge_strictly(stn_session *session);

#endif
