// SPDX-License-Identifier: Apache-2.0
// The verdict on a published value.
#ifndef STICTION_COMMAND_PAPERS_JUDGE_H
#define STICTION_COMMAND_PAPERS_JUDGE_H

#include "make.h"

typedef enum paper_verdict {
    PAPER_HOLDS,
    PAPER_DIFFERS,        // and the row says why
    PAPER_UNEXPLAINED,    // differs, and nobody knows why
    PAPER_NOT_COMPARABLE, // the row says why
    PAPER_FAILED,         // the run brought no such value
    PAPER_NOT_RUN,        // left out of a quick report
    PAPER_VERDICT_COUNT,
} paper_verdict;

extern const char *const paper_verdict_words[PAPER_VERDICT_COUNT];

typedef struct paper_judgement {
    paper_verdict verdict;
    double ours;      // NaN: none
    char reason[768]; // why it differs, is not comparable or failed; ""
} paper_judgement;

paper_judgement paper_judge(const paper_report *report, int32_t paper, int32_t row);

/// "1.23e-05 m"; a bare number for unit "1".
void paper_number(double value, const char *unit, char *text, size_t size);

#endif
