// SPDX-License-Identifier: Apache-2.0
// The report as a page for a browser, and as a table on stdout.
#ifndef STICTION_COMMAND_PAPERS_PAGE_H
#define STICTION_COMMAND_PAPERS_PAGE_H

#include "judge.h"

/// One page with every row and chart, which needs no other file. STN_ERR_FILE.
stn_status paper_page(const paper_report *report, const char *path, stn_error *err);

/// A line on stdout for each row, failed run and failed check, then how many rows have which verdict, which are added
/// to `counts`. Returns how many runs and checks failed.
int32_t paper_table(const paper_report *report, int32_t counts[PAPER_VERDICT_COUNT]);

#endif
