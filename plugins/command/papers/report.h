// SPDX-License-Identifier: Apache-2.0
// A report in three forms: table, page, document.
#ifndef STICTION_COMMAND_PAPERS_REPORT_H
#define STICTION_COMMAND_PAPERS_REPORT_H

#include "judge.h"

/// Prints a line a row on stdout and adds to the numbers of verdicts. Returns how many runs and checks failed.
int32_t paper_table(const paper_report *report, int32_t counts[PAPER_VERDICT_COUNT]);

/// Writes one HTML file: rows, charts, failures. STN_ERR_FILE: it cannot be written; nothing is half-written.
stn_status paper_page(const paper_report *report, const char *path, stn_error *err);

/// Writes a Markdown file, and the charts beside it as pictures/paper_PAPER_RUN.svg. Charts of runs that were not made
/// stay as they are there. Links lead to the README.md beside each paper.json. STN_ERR_FILE: a file cannot be written.
stn_status paper_document(const paper_report *report, const char *path, stn_error *err);

#endif
