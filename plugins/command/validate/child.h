// SPDX-License-Identifier: Apache-2.0
// Runs a check in a child process with a time limit.
#ifndef STICTION_COMMAND_VALIDATE_CHILD_H
#define STICTION_COMMAND_VALIDATE_CHILD_H

#include "validate.h"

/// A check that crashes, exits or exceeds the limit has failed, and the text says how. What it started ends with it,
/// and its folder is removed, also before an interrupt (SIGINT, SIGTERM) has its effect. STN_ERR_FILE: no pipe or
/// process.
stn_status check_run_apart(const validate_check *check, const validate_request *request, validate_result *out,
                           stn_error *err);

#endif
