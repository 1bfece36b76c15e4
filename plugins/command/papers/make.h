// SPDX-License-Identifier: Apache-2.0
// Makes the runs of papers, each in a process of its own, and keeps what they said: what is there is not made again.
#ifndef STICTION_COMMAND_PAPERS_MAKE_H
#define STICTION_COMMAND_PAPERS_MAKE_H

#include "common/progress.h"
#include "data.h"

/// What a run came to.
typedef struct paper_made {
    cJSON *answer; // {"key", "wall_s", "error", "run": what `stiction run --json` said, or null}; NULL: was not run
    char chart[STN_INPUT_PATH]; // file of its chart; "": none
} paper_made;

/// Everything about a report.
typedef struct paper_report {
    stn_context *context;
    paper_data *papers;
    paper_made **made; // (paper_count) of (run_count)
    int32_t paper_count;
    const char *keep; // folder of answers and charts
    char commit[64];  // of the source tree, "": unknown
    bool full, fresh, quiet;
    bool kept; // makes nothing
    int32_t jobs;
    double timeout; // of a run [s]
    cli_progress progress;
} paper_report;

/// Finds the answers that are there, and makes the others. An answer that cannot be had says why: rows then say so.
/// STN_ERR_FILE: the folder cannot be written; STN_ERR_INTERRUPTED: what was made is kept.
stn_status paper_make(paper_report *report, stn_error *err);

#endif
