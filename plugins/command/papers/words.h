// SPDX-License-Identifier: Apache-2.0
// What all forms of a report say in the same words.
#ifndef STICTION_COMMAND_PAPERS_WORDS_H
#define STICTION_COMMAND_PAPERS_WORDS_H

#include <stdio.h>

#include "judge.h"

/// The published value as text: "at most 0.012 m".
void paper_published(const paper_row *row, char *text, size_t size);
/// Ours as text; "" without one.
void paper_ours(const paper_row *row, const paper_judgement *j, char *text, size_t size);

/// Adds a paper's verdicts to the counts.
void paper_count(const paper_report *r, int32_t paper, int32_t counts[PAPER_VERDICT_COUNT]);
/// "holds 12; differs 3": those that are.
void paper_put_counts(FILE *file, const int32_t counts[PAPER_VERDICT_COUNT]);

/// Wall time of a paper's runs [s].
double paper_seconds(const paper_report *r, int32_t paper);
/// Version, commit, machine, and the wall time of all runs, without a line end.
void paper_put_machine(FILE *file, const paper_report *r);

/// Calls `tell` for every run that failed, whether or not a row looks at it, and every check of a script that failed.
/// Returns how many.
int32_t paper_find_failures(const paper_report *r, int32_t paper, FILE *file,
                            void (*tell)(FILE *file, const char *what, const char *run, const char *text));

#endif
