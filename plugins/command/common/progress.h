// SPDX-License-Identifier: Apache-2.0
// The progress line of a run: only on a terminal, at most ten times a second, on stderr.
#ifndef STICTION_COMMAND_COMMON_PROGRESS_H
#define STICTION_COMMAND_COMMON_PROGRESS_H

#include <stiction/recorder.h>

typedef struct cli_progress {
    double begun, shown; // [s], monotonic clock
    double begun_at;     // simulated time when the present run began [s]
    double end_time;     // [s], NaN when there is none
    bool visible;
} cli_progress;

double cli_seconds_now(void); ///< monotonic [s]
/// Receives every step (stn_session's progress).
void cli_progress_step(void *user, const stn_observation *observation, double end_time);
/// The line of a piece of work that counts: "[####....] 12 of 40 solves, 3 s left"; what is left is judged by what was
/// done.
void cli_progress_count(cli_progress *progress, int32_t done, int32_t total, const char *what);
/// Removes the line.
void cli_progress_end(cli_progress *progress);

#endif
