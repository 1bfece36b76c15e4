// SPDX-License-Identifier: Apache-2.0
// What a paper publishes and what makes ours, as written in scripts/papers/FOLDER/paper.json: README.md.
#ifndef STICTION_COMMAND_PAPERS_DATA_H
#define STICTION_COMMAND_PAPERS_DATA_H

#include <cjson/cJSON.h>

#include <stiction/input.h>

/// What counts as the same as the published value p.
typedef enum paper_same {
    PAPER_RELATIVE, // |ours - p| <= bound |p|
    PAPER_ABSOLUTE, // |ours - p| <= bound
    PAPER_FACTOR,   // ours and p of one sign, and within this factor of each other
    PAPER_AT_MOST,  // ours <= p
    PAPER_AT_LEAST, // ours >= p
    PAPER_RANGE,    // bound <= ours <= upper
    PAPER_SAME_COUNT,
} paper_same;

/// One run of a script, whose results rows look at.
typedef struct paper_run {
    const char *id, *script; // script: beside the file
    const cJSON *set;        // "name=value", ...; NULL: none
    const cJSON *options;    // further words for `stiction run`; NULL: none
    const char *plot;        // the parameter that names a chart (.svg); NULL: none
    const char *caption;     // of the chart, with what the published figure shows
    bool full;               // takes too long for a quick report
} paper_run;

/// One published value.
typedef struct paper_row {
    const char *place, *quantity, *unit; // "Table I", ...; unit "1" for numbers
    double published;                    // NaN: none that is a number
    const char *text;                    // what is published in words, in place of a number; NULL
    int32_t run;                         // of `runs`, -1: nothing makes it here
    const char *result;                  // name of stn.result in it; NULL without run
    const char *over;                    // another result that it is divided by; NULL: none
    paper_same same;
    double bound, upper;
    const char *why;            // the reason where ours differs; NULL: none is known
    const char *not_comparable; // the reason; NULL: it is
} paper_row;

/// A paper. Texts are of `json`.
typedef struct paper_data {
    cJSON *json;
    char folder[STN_INPUT_PATH];          // of its file and scripts
    uint64_t stamp;                       // of what its answers depend on besides their words; make.c
    const char *name, *reference, *title; // "COND", "lee-2023", its title
    paper_run *runs;
    paper_row *rows;
    int32_t run_count, row_count;
} paper_data;

/// Reads a paper's file. STN_ERR_FILE names file, row and what to do. Released by paper_clear, also after an error.
stn_status paper_read(stn_context *context, const char *path, paper_data *out, stn_error *err);
void paper_clear(stn_context *context, paper_data *p);

#endif
