// SPDX-License-Identifier: Apache-2.0
// Signals while a script runs: interrupts stop it, and of a crash one line tells the plugin.
#ifndef STICTION_COMMAND_RUN_SIGNALS_H
#define STICTION_COMMAND_RUN_SIGNALS_H

#include "common/session.h"

/// From here on:
/// - The first SIGINT or SIGTERM stops the script. When it has not come to its end after RUN_GRACE seconds, because a
///   plugin or a long call of the script does not return, one line tells where it is and the process ends with
///   STN_EXIT_INTERRUPTED. A second signal ends it at once. Recorders write whole rows at every step, so that their
///   files are whole in either case.
/// - SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT write one line with plugin, stage, step and file, unless another
///   process sent them; then the signal ends the process, or makes a sanitizer's report.
/// One session at a time, until run_signals_end.
void run_signals_begin(stn_session *session);
void run_signals_end(void);

enum { RUN_GRACE = 3 }; // [s]

#endif
