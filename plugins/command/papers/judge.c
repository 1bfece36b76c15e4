// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const paper_verdict_words[PAPER_VERDICT_COUNT] = {
    [PAPER_HOLDS] = "holds",
    [PAPER_DIFFERS] = "differs",
    [PAPER_UNEXPLAINED] = "differs, unexplained",
    [PAPER_NOT_COMPARABLE] = "not comparable",
    [PAPER_FAILED] = "failed",
    [PAPER_NOT_RUN] = "not run",
};

void paper_number(double value, const char *unit, char *text, size_t size) {
    const bool bare = strcmp(unit, "1") == 0;
    snprintf(text, size, "%.4g%s%s", value, bare ? "" : " ", bare ? "" : unit);
}

/// Is ours the same as what is published, as the row takes it? Not for NaN.
static bool is_same(const paper_row *row, double ours) {
    const double p = row->published, off = fabs(ours - p);
    switch (row->same) {
    case PAPER_RELATIVE:
        return off <= row->bound * fabs(p);
    case PAPER_ABSOLUTE:
        return off <= row->bound;
    case PAPER_FACTOR:
        return ours * p > 0.0 && fabs(ours) <= row->bound * fabs(p) && fabs(p) <= row->bound * fabs(ours);
    case PAPER_AT_MOST:
        return ours <= p;
    case PAPER_AT_LEAST:
        return ours >= p;
    case PAPER_RANGE:
        return ours >= row->bound && ours <= row->upper;
    case PAPER_SAME_COUNT:
        break;
    }
    return false;
}

/// A result of a script; NaN: there is no such number.
static double number_of(const cJSON *results, const char *name) {
    const cJSON *value = name != NULL ? cJSON_GetObjectItemCaseSensitive(results, name) : NULL;
    return cJSON_IsNumber(value) ? value->valuedouble : (double)NAN;
}

paper_judgement paper_judge(const paper_report *report, int32_t paper, int32_t number) {
    const paper_data *p = &report->papers[paper];
    const paper_row *row = &p->rows[number];
    paper_judgement out = {.verdict = PAPER_NOT_COMPARABLE, .ours = (double)NAN};
    const paper_made *made = row->run >= 0 ? &report->made[paper][row->run] : NULL;
    const cJSON *run = made != NULL ? cJSON_GetObjectItemCaseSensitive(made->answer, "run") : NULL;
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(run, "results");
    const char *error =
        made != NULL ? cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(made->answer, "error")) : NULL;
    out.ours = number_of(results, row->result);
    if (row->over != NULL) {
        out.ours /= number_of(results, row->over);
    }
    if (row->not_comparable != NULL) {
        snprintf(out.reason, sizeof out.reason, "%s", row->not_comparable);
    } else if (made->answer == NULL) {
        out.verdict = PAPER_NOT_RUN;
        snprintf(out.reason, sizeof out.reason, report->kept ? "no answer is kept" : "--full runs it");
    } else if (error != NULL || !isfinite(out.ours)) {
        out.verdict = PAPER_FAILED;
        out.ours = (double)NAN;
        snprintf(out.reason, sizeof out.reason, "%s: %s%s%s%s", p->runs[row->run].id,
                 error != NULL ? error : "has no number ", error != NULL ? "" : row->result,
                 error == NULL && row->over != NULL ? " over " : "",
                 error == NULL && row->over != NULL ? row->over : "");
    } else if (is_same(row, out.ours)) {
        out.verdict = PAPER_HOLDS;
    } else {
        out.verdict = row->why != NULL ? PAPER_DIFFERS : PAPER_UNEXPLAINED;
        snprintf(out.reason, sizeof out.reason, "%s", row->why != NULL ? row->why : "");
    }
    return out;
}
